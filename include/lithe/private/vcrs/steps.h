/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What a loss makes of an entry, for host loops (loss/loss.c) and for kernels (cuda/vcrs/build/loss.cu): the survey of
   the entries, from which the steps follow, and the rounding with these steps. round.h rounds a row.
*/

#include <lithe/private/vcrs/build.h>
#include <lithe/private/lithecompiler.h>

typedef enum {
  VCRS_STEP_MATRIX, /* one step for the matrix */
  VCRS_STEP_ROW,    /* a step per row, relative to the largest entry of the row */
  VCRS_STEP_FIXED,  /* the same, with at most 127 or 32767 steps */
  VCRS_STEP_ENTRY,  /* a step for each power of two */
  VCRS_STEP_LOG,    /* LitheLogScale */
  VCRS_STEP_SINGLE, /* float */
  VCRS_STEP_EXACT
} VCRSStepKind;

/* All kinds: the code for the entries of a row is compiled for each kind */
#define VCRS_ALL_STEPS(X) X(MATRIX) X(ROW) X(FIXED) X(ENTRY) X(LOG) X(SINGLE) X(EXACT)

/* Whether each row has a separate step */
LITHE_HD static inline PetscBool VCRSStepIsByRow(VCRSStepKind kind)
{
  return (PetscBool)(kind == VCRS_STEP_ROW || kind == VCRS_STEP_FIXED);
}

typedef struct {
  VCRSStepKind kind;
  int          bits;                   /* FIXED */
  int          exponent;               /* STEP: log2 of the step; ROW and ENTRY: added to log2 of the largest entry */
  int          floor;                  /* ROW and ENTRY: log2 of the finest step, LITHE_MIN_EXPONENT if any step will do */
  PetscBool    symmetric;              /* the matrix must stay symmetric */
  PetscBool    hermitian, offdiagonal; /* as in VCRSOptions */
  double       bound;                  /* of the mode, in the mode's unit */
  PetscBool    absolute;               /* the bound is absolute */
  PetscBool    inrange;                /* no entry is out of the range of LitheRoundManyToGrid(), LitheRoundManyMantissas() */
  double       unit;                   /* a power of two near the inverse of the largest entry: squares of entries times unit are in range */
} VCRSStep;

/* sqrt(number of components): if h bounds both components, h times this factor bounds the modulus */
#if defined(PETSC_USE_COMPLEX)
  #define VCRS_COMPONENT_FACTOR 1.41421356237309504880
#else
  #define VCRS_COMPONENT_FACTOR 1.
#endif

/* |v| without intermediate overflow, and without hypot() if overflow is impossible */
LITHE_HD static inline double VCRSModulus(PetscScalar v)
{
#if defined(PETSC_USE_COMPLEX)
  const double re = fabs((double)PetscRealPart(v)), im = fabs((double)PetscImaginaryPart(v)), max = PetscMax(re, im);

  return im == 0. ? re : (max > 1e-140 && max < 1e140 ? sqrt(LitheTimesPlus(re, re, im * im)) : hypot(re, im));
#else
  return fabs((double)v);
#endif
}

/* ------------------------------------------------------------------ survey */

LITHE_HD static inline void VCRSSurveyStart(VCRSSurvey *s)
{
  s->min = s->lowest = s->smallest = PETSC_MAX_REAL;
  s->max = s->highest = -PETSC_MAX_REAL;
}

LITHE_HD static inline void VCRSSurveyJoin(VCRSSurvey *s, const VCRSSurvey *t)
{
  s->min      = PetscMin(s->min, t->min);
  s->max      = PetscMax(s->max, t->max);
  s->lowest   = PetscMin(s->lowest, t->lowest);
  s->highest  = PetscMax(s->highest, t->highest);
  s->smallest = PetscMin(s->smallest, t->smallest);
}

/* The place of the reference of a row: the diagonal entry, else the largest entry; -1 in an empty row */
LITHE_HD static inline PetscInt VCRSFindReference(PetscInt row, PetscInt len, const PetscInt cols[], const PetscScalar a[])
{
  double   largest = -1.;
  PetscInt ref     = -1;

  for (PetscInt k = 0; k < len && cols[k] <= row; k++) {
    if (cols[k] == row) ref = k;
  }
  for (PetscInt k = 0; k < len && (ref < 0 || largest >= 0.); k++) {
    const double modulus = VCRSModulus(a[k]);

    if (modulus > largest) {
      largest = modulus;
      ref     = k;
    }
  }
  return ref;
}

/* One row with its reference at ref (-1: none), and its largest component, over all entries and over stored entries.
   False if a component is infinite or not a number */
LITHE_HD static LITHE_ALWAYS_INLINE PetscBool VCRSSurveyRow(VCRSSurvey *s, PetscInt len, PetscInt ref, const PetscScalar a[], PetscReal *largest,
                                                            PetscReal *stored)
{
  const PetscInt   nc    = VCRS_COMPONENTS;
  const PetscReal  limit = PETSC_MAX_REAL;
  const PetscReal *v     = (const PetscReal *)a;
  PetscReal        lows[2], highs[2], smallests[2], low, high, rest;
  PetscBool        taken = PETSC_TRUE;

  /* two independent minima and maxima */
  for (PetscInt c = 0; c < 2; c++) {
    lows[c]      = PETSC_MAX_REAL;
    highs[c]     = -PETSC_MAX_REAL;
    smallests[c] = s->smallest;
  }
  for (PetscInt part = 0; part < 2; part++) {
    const PetscInt from = part && ref >= 0 ? (ref + 1) * nc : 0, to = part ? (ref >= 0 ? len * nc : 0) : (ref >= 0 ? ref : len) * nc;

    for (PetscInt k = from; k < to; k += 2) {
      for (PetscInt c = 0; c < 2; c++) {
        const PetscReal x = v[c && k + 1 < to ? k + 1 : k], modulus = PetscAbsReal(x), nonzero = modulus > 0. ? modulus : PETSC_MAX_REAL;

        if (!(modulus <= limit)) taken = PETSC_FALSE;
        lows[c]      = x < lows[c] ? x : lows[c];
        highs[c]     = x > highs[c] ? x : highs[c];
        smallests[c] = nonzero < smallests[c] ? nonzero : smallests[c];
      }
    }
  }
  low         = PetscMin(lows[0], lows[1]);
  high        = PetscMax(highs[0], highs[1]);
  rest        = low <= high ? PetscMax(PetscAbsReal(low), PetscAbsReal(high)) : 0.;
  s->smallest = PetscMin(smallests[0], smallests[1]);
  s->lowest   = PetscMin(s->lowest, low);
  s->highest  = PetscMax(s->highest, high);
  *stored     = rest;
  for (PetscInt k = ref * nc; ref >= 0 && k < (ref + 1) * nc; k++) {
    const PetscReal x = v[k];

    if (!(PetscAbsReal(x) <= limit)) taken = PETSC_FALSE;
    rest = PetscMax(rest, PetscAbsReal(x));
    low  = PetscMin(low, x);
    high = PetscMax(high, x);
  }
  *largest = rest;
  s->min   = PetscMin(s->min, low);
  s->max   = PetscMax(s->max, high);
  return taken;
}

/* ------------------------------------------------------------------ steps */

/* log2 of a row's own step, where rows have steps */
LITHE_HD static inline int VCRSStepRowExponent(const VCRSStep *step, PetscReal largest, PetscReal stored)
{
  if (step->kind == VCRS_STEP_FIXED) return LitheFixedExponent((double)stored, step->bits);
  return largest > 0. ? PetscMax(LitheClampExponent(LitheFloorLog2((double)largest) + step->exponent), step->floor) : LITHE_MAX_EXPONENT;
}

/*
   log2 of the step for entry (row, col), if rows have steps. In a symmetric matrix both rows must round to the same
   value. Fixed point rows share the coarser step, whose multiples both rows hold. Row classes take the finer step,
   which keeps the bound in both. *limit: log2 of the finest step that must hold the value. stored: whether `row` stores
   the entry, which is false for a reference. Returns false if no row stores the entry.
*/
LITHE_HD static inline PetscBool VCRSStepExponent(const VCRSBuild *b, const VCRSCSR *csr, const VCRSStep *step, PetscInt row, PetscInt col, PetscBool stored,
                                                  int *exponent, int *limit)
{
  const int own = b->rounded.rowexp[row];

  *exponent = *limit = own;
  if (step->symmetric && (b->rounded.columnexp || (col != row && col < csr->m))) {
    const int other = b->rounded.columnexp ? b->rounded.columnexp[col] : b->rounded.rowexp[col];

    /* the exponent of another process can be below the floor of the whole matrix */
    if (step->kind == VCRS_STEP_ROW) *exponent = PetscMax(PetscMin(own, other), step->floor);
    else {
      const PetscBool otherstored = !b->rounded.columnexp && b->ref && b->ref[col] >= 0 && csr->j[csr->i[col] + b->ref[col]] == row ? PETSC_FALSE : PETSC_TRUE;

      if (!stored && !otherstored) return PETSC_FALSE;
      if (otherstored) {
        *exponent = stored ? PetscMax(own, other) : other;
        *limit    = stored ? PetscMin(own, other) : other;
      }
    }
  }
  return PETSC_TRUE;
}

LITHE_HD static LITHE_ALWAYS_INLINE double VCRSStepRound(VCRSStepKind kind, const VCRSStep *step, double v, int exponent, int limit)
{
  double r;

  switch (kind) {
  case VCRS_STEP_MATRIX:
    return LitheRoundToGrid(v, step->exponent);
  case VCRS_STEP_ROW:
    return LitheRoundToGrid(v, exponent);
  case VCRS_STEP_FIXED:
    r = LitheRoundToGrid(v, exponent);
    if (fabs(r) > (step->bits == 8 ? 127. : 32767.) * LithePow2(limit)) r -= r > 0. ? LithePow2(exponent) : -LithePow2(exponent);
    return r;
  case VCRS_STEP_ENTRY:
    return v == 0. ? 0. : LitheRoundToGrid(v, PetscMax(LitheClampExponent(LitheFloorLog2(v) + step->exponent), step->floor));
  case VCRS_STEP_SINGLE:
    return LitheRoundToSingle(v);
  default:
    return v;
  }
}

/* Rounds one entry; codes, if not NULL, gets the codes of its components on a logarithmic scale */
LITHE_HD static LITHE_ALWAYS_INLINE PetscScalar VCRSStepRoundScalar(VCRSStepKind kind, const VCRSBuild *b, const VCRSStep *step, PetscScalar v, int exponent,
                                                                    int limit, uint16_t codes[])
{
  PetscScalar      r = v;
  const PetscReal *x = (const PetscReal *)&v;
  PetscReal       *y = (PetscReal *)&r;

  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    if (kind == VCRS_STEP_LOG) {
      const uint16_t code = LitheLogScaleEncode(b->rounded.log, (double)x[c]);

      y[c] = LitheLogScaleDecode(b->rounded.log, code);
      if (codes) codes[c] = code;
    } else y[c] = (PetscReal)VCRSStepRound(kind, step, (double)x[c], exponent, limit);
  }
  return r;
}

#if !defined(__CUDA_ARCH__)
/* Rounds the n entries of a row with this exponent together; false if entries must be rounded one by one */
static LITHE_ALWAYS_INLINE PetscBool VCRSStepRoundMany(VCRSStepKind kind, const VCRSBuild *b, const VCRSStep *step, PetscInt n, const PetscScalar a[],
                                                       int exponent, PetscScalar w[], uint16_t codes[])
{
  const size_t     nv = (size_t)n * VCRS_COMPONENTS;
  const PetscReal *v  = (const PetscReal *)a;
  PetscReal       *r  = (PetscReal *)w;

  if (kind == VCRS_STEP_LOG) {
    uint16_t own[64], *code = codes ? codes : own;

    for (size_t from = 0; from < nv; from += PETSC_STATIC_ARRAY_LENGTH(own)) {
      const size_t count = PetscMin(PETSC_STATIC_ARRAY_LENGTH(own), nv - from);

      LitheLogScaleEncodeMany(b->rounded.log, count, v + from, code);
      for (size_t k = 0; k < count; k++) r[from + k] = LitheLogScaleDecode(b->rounded.log, code[k]);
      if (codes) code += count;
    }
    return PETSC_TRUE;
  }
  #if defined(PETSC_USE_REAL_DOUBLE)
  if (!step->inrange) return PETSC_FALSE;
  switch (kind) {
  case VCRS_STEP_MATRIX:
    LitheRoundManyToGrid(nv, v, step->exponent, r);
    return PETSC_TRUE;
  case VCRS_STEP_ROW:
  case VCRS_STEP_FIXED:
    /* only rows of zeros have other exponents */
    if (exponent < -1000 || exponent > 950) return PETSC_FALSE;
    LitheRoundManyToGrid(nv, v, exponent, r);
    return PETSC_TRUE;
  case VCRS_STEP_ENTRY:
    LitheRoundManyMantissas(nv, v, 52 + step->exponent, r);
    return PETSC_TRUE;
  case VCRS_STEP_SINGLE:
    LitheRoundManyMantissas(nv, v, 52 - 23, r);
    return PETSC_TRUE;
  default:
    return PETSC_FALSE;
  }
  #else
  return PETSC_FALSE;
  #endif
}
#endif

/* Rounds entries from .. to-1 of a row to w[] */
LITHE_HD static LITHE_ALWAYS_INLINE void VCRSStepRoundEntries(VCRSStepKind kind, const VCRSBuild *b, const VCRSCSR *csr, const VCRSStep *step, PetscInt row,
                                                              PetscInt from, PetscInt to, PetscScalar w[], uint16_t codes[])
{
  const PetscBool    byrow     = VCRSStepIsByRow(kind);
  const PetscBool    symmetric = (PetscBool)(byrow && step->symmetric);
  const PetscInt    *cols      = csr->j + csr->i[row];
  const PetscScalar *a         = csr->a + csr->i[row];
  int                exponent = byrow ? b->rounded.rowexp[row] : 0, limit = exponent;

#if !defined(__CUDA_ARCH__)
  if (!symmetric && VCRSStepRoundMany(kind, b, step, to - from, a + from, exponent, w + from, codes ? codes + (size_t)from * VCRS_COMPONENTS : NULL)) return;
#endif
  for (PetscInt k = from; k < to; k++) {
    if (symmetric) (void)VCRSStepExponent(b, csr, step, row, cols[k], PETSC_TRUE, &exponent, &limit);
    w[k] = VCRSStepRoundScalar(kind, b, step, a[k], exponent, limit, codes ? codes + (size_t)k * VCRS_COMPONENTS : NULL);
  }
}

LITHE_HD static inline void VCRSStepRoundRow(const VCRSBuild *b, const VCRSCSR *csr, const VCRSStep *step, PetscInt row, PetscInt from, PetscInt to,
                                             PetscScalar w[], uint16_t codes[])
{
#define VCRSStepCase(name)                                                         \
  case VCRS_STEP_##name:                                                           \
    VCRSStepRoundEntries(VCRS_STEP_##name, b, csr, step, row, from, to, w, codes); \
    break;
  switch (step->kind) {
    VCRS_ALL_STEPS(VCRSStepCase)
  }
#undef VCRSStepCase
}

/* The smallest value, in steps, towards v, whose components would all become zero. rowexponent: of a row with a step */
LITHE_HD static inline PetscScalar VCRSStepSmallest(const VCRSStep *step, PetscScalar v, int rowexponent)
{
  const int        exponent = step->kind == VCRS_STEP_MATRIX ? step->exponent : (step->kind == VCRS_STEP_ENTRY ? step->floor : rowexponent);
  const PetscReal  h        = (PetscReal)LithePow2(step->kind == VCRS_STEP_SINGLE ? -149 : exponent);
  PetscScalar      r        = 0.;
  const PetscReal *x        = (const PetscReal *)&v;
  PetscReal       *y        = (PetscReal *)&r;
  PetscInt         most     = 0;

  for (PetscInt c = 1; c < VCRS_COMPONENTS; c++) {
    if (PetscAbsReal(x[c]) > PetscAbsReal(x[most])) most = c;
  }
  y[most] = x[most] < 0. ? -h : h;
  return r;
}
