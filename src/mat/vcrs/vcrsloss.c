/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The lossy half of a compression: every entry is replaced by a nearby value of which there are few.

   Each entry is rounded on its own, to a grid that does not depend on the order of the rows. Rows that
   come out equal are then found by exact comparison (vcrsbuild.c). All grids but the logarithmic one
   have a power of two as their step, so 0, and on most grids 1 and -1, are hit exactly, and sums of
   rounded entries are exact as long as they fit the mantissa.

   What would harm a preconditioner is guarded: zeros stay zero, signs stay, the diagonal does not
   vanish, a symmetric matrix stays symmetric, and the row sums are kept by storing them in place of
   one entry of each row, its reference (vcrsplan.h: the difference form).
*/

#include "vcrsbuildimpl.h"
#include <lithe/private/lithecompiler.h>

typedef enum {
  VCRS_GRID_STEP,   /* one step for the matrix */
  VCRS_GRID_ROW,    /* a step for each row, relative to its largest entry */
  VCRS_GRID_FIXED,  /* the same, and at most 127 or 32767 of them */
  VCRS_GRID_ENTRY,  /* a step for each power of two */
  VCRS_GRID_LOG,    /* LitheLogScale */
  VCRS_GRID_SINGLE, /* float */
  VCRS_GRID_EXACT
} VCRSGridKind;

typedef struct {
  VCRSGridKind kind;
  int          bits;     /* FIXED */
  int          exponent; /* STEP: log2 of the step; ROW and ENTRY: what to add to log2 of the largest entry */
  double       bound;    /* of the mode, in its unit */
} VCRSGrid;

/* sqrt(number of components): what bounds both components by h bounds the modulus by h times this */
#if defined(PETSC_USE_COMPLEX)
  #define VCRS_COMPONENT_FACTOR 1.41421356237309504880
#else
  #define VCRS_COMPONENT_FACTOR 1.
#endif

/* |v| without overflow on the way, and without the cost of hypot() where that cannot happen */
static inline double VCRSModulus(PetscScalar v)
{
#if defined(PETSC_USE_COMPLEX)
  const double re = fabs((double)PetscRealPart(v)), im = fabs((double)PetscImaginaryPart(v)), max = PetscMax(re, im);

  return im == 0. ? re : (max > 1e-140 && max < 1e140 ? sqrt(re * re + im * im) : hypot(re, im));
#else
  return fabs((double)v);
#endif
}

/* A sum with the error of each addition carried along */
typedef struct {
  PetscReal sum[2], error[2];
} VCRSExactSum;

static inline void VCRSExactSumAdd(VCRSExactSum *s, PetscScalar v)
{
  const PetscReal *x = (const PetscReal *)&v;

  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    const PetscReal old = s->sum[c], now = old + x[c], back = now - old;

    s->sum[c] = now;
    s->error[c] += (old - (now - back)) + (x[c] - back);
  }
}

static inline PetscScalar VCRSExactSumGet(const VCRSExactSum *s)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(s->sum[0] + s->error[0], s->sum[1] + s->error[1]);
#else
  return s->sum[0] + s->error[0];
#endif
}

/* What a survey of the entries finds, before any of them is rounded */
typedef struct {
  double min, max;                 /* of all components */
  double smallest, largest;        /* nonzero moduli of components of stored entries */
  int    haspositive, hasnegative; /* among those */
} VCRSSurvey;

/* Names the first entry of a row that is NaN or Inf */
static PetscErrorCode VCRSLossNotFinite(const VCRSBuild *b, PetscInt row, PetscInt len, const PetscInt cols[], const PetscScalar a[])
{
  PetscInt k = 0;

  PetscFunctionBegin;
  while (k < len - 1 && PetscAbsReal(PetscRealPart(a[k])) <= PETSC_MAX_REAL && PetscAbsReal(PetscImaginaryPart(a[k])) <= PETSC_MAX_REAL) k++;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_FP, "The matrix has a NaN or Inf in local row %" PetscInt_FMT ", local column %" PetscInt_FMT ", which -mat_vcrs_loss %s cannot compress: correct the entry, or use -mat_vcrs_loss none", row, cols[k], MatVCRSLosses[b->opt->loss]);
}

/* Finds the reference of each row, and the largest component: of the whole row (largest[]) and without the reference (stored[]) */
static PetscErrorCode VCRSLossSurvey(VCRSBuild *b, const VCRSCSR *csr, VCRSSurvey *s, PetscReal largest[], PetscReal stored[])
{
  const PetscInt nc       = VCRS_COMPONENTS;
  PetscReal      smallest = PETSC_MAX_REAL, lowest = PETSC_MAX_REAL, highest = -PETSC_MAX_REAL; /* smallest: moduli of all, lowest and highest: of stored entries */
  PetscReal      min = PETSC_MAX_REAL, max = -PETSC_MAX_REAL, all = 0.;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < csr->m; row++) {
    const PetscInt     len = csr->i[row + 1] - csr->i[row], *cols = csr->j + csr->i[row];
    const PetscScalar *a   = csr->a + csr->i[row];
    const PetscReal   *v   = (const PetscReal *)a;
    PetscReal          low = PETSC_MAX_REAL, high = -PETSC_MAX_REAL, rest = 0.;
    PetscInt           ref = -1;
    PetscBool          finite = PETSC_TRUE;

    /* the reference: the diagonal entry, else the largest */
    if (b->ref) {
      for (PetscInt k = 0; k < len && cols[k] <= row; k++) {
        if (cols[k] == row) ref = k;
      }
      if (ref < 0 && len) {
        double modulus = -1.;

        for (PetscInt k = 0; k < len; k++) {
          const double t = VCRSModulus(a[k]);

          if (t > modulus) {
            modulus = t;
            ref     = k;
          }
        }
      }
      b->ref[row] = ref;
    }

    for (PetscInt part = 0; part < 2; part++) {
      const PetscInt from = part && ref >= 0 ? (ref + 1) * nc : 0, to = part ? (ref >= 0 ? len * nc : 0) : (ref >= 0 ? ref : len) * nc;

      for (PetscInt k = from; k < to; k++) {
        const PetscReal x = v[k], modulus = PetscAbsReal(x);

        if (!(modulus <= PETSC_MAX_REAL)) finite = PETSC_FALSE;
        low      = x < low ? x : low;
        high     = x > high ? x : high;
        smallest = modulus < smallest && x != 0. ? modulus : smallest;
      }
    }
    rest    = low <= high ? PetscMax(PetscAbsReal(low), PetscAbsReal(high)) : 0.;
    lowest  = PetscMin(lowest, low);
    highest = PetscMax(highest, high);
    if (stored) stored[row] = rest;
    for (PetscInt k = ref * nc; ref >= 0 && k < (ref + 1) * nc; k++) {
      const PetscReal x = v[k];

      if (!(PetscAbsReal(x) <= PETSC_MAX_REAL)) finite = PETSC_FALSE;
      rest = PetscMax(rest, PetscAbsReal(x));
      low  = PetscMin(low, x);
      high = PetscMax(high, x);
    }
    if (largest) largest[row] = rest;
    min = PetscMin(min, low);
    max = PetscMax(max, high);
    if (!finite) PetscCall(VCRSLossNotFinite(b, row, len, cols, a));
  }
  if (lowest <= highest) all = PetscMax(PetscAbsReal(lowest), PetscAbsReal(highest));
  s->largest     = (double)all;
  s->smallest    = all > 0. ? (double)smallest : 0.;
  s->haspositive = lowest <= highest && highest > 0.;
  s->hasnegative = lowest <= highest && lowest < 0.;
  s->min         = min <= max ? (double)min : 0.;
  s->max         = min <= max ? (double)max : 0.;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of the loss mode; a row's own exponent goes to rowexp[] */
static PetscErrorCode VCRSGridSetUp(VCRSBuild *b, const VCRSSurvey *s, const PetscReal largest[], const PetscReal stored[], VCRSGrid *g)
{
  const VCRSOptions *opt = b->opt;
  double             range, lambda;

  PetscFunctionBegin;
  g->kind     = VCRS_GRID_EXACT;
  g->bits     = (int)opt->bits;
  g->exponent = 0;
  g->bound    = 0.;
  switch (opt->loss) {
  case MATVCRS_LOSS_BINS:
    /* halves, because max - min may overflow */
    range    = s->max / (2. * (double)opt->bins) - s->min / (2. * (double)opt->bins);
    g->bound = range;
    if (range > 0.) {
      g->kind     = VCRS_GRID_STEP;
      g->exponent = LitheClampExponent(LitheFloorLog2(range / VCRS_COMPONENT_FACTOR) + 1);
    }
    break;
  case MATVCRS_LOSS_CLASSES:
    lambda      = 2. * (double)opt->lambda / VCRS_COMPONENT_FACTOR;
    g->bound    = (double)opt->lambda;
    g->exponent = LitheFloorLog2(lambda);
    if (opt->unit == MATVCRS_UNIT_ABSOLUTE) {
      g->kind     = VCRS_GRID_STEP;
      g->exponent = LitheClampExponent(g->exponent);
    } else if (opt->unit == MATVCRS_UNIT_ENTRY) {
      /* components are relative to themselves, so the modulus needs no factor; a step beyond the entry itself would lose it */
      g->kind     = VCRS_GRID_ENTRY;
      g->exponent = PetscMin(LitheFloorLog2(2. * (double)opt->lambda), 0);
    } else {
      g->kind = VCRS_GRID_ROW;
      for (PetscInt row = 0; row < b->m; row++) b->rowexp[row] = (int16_t)(largest[row] > 0. ? LitheClampExponent(LitheFloorLog2((double)largest[row]) + g->exponent) : LITHE_MAX_EXPONENT);
    }
    break;
  case MATVCRS_LOSS_LOG:
    g->kind = VCRS_GRID_LOG;
    PetscCall(PetscNew(&b->log));
    LitheLogScaleSetUp(b->log, g->bits, s->smallest, s->largest, s->haspositive, s->hasnegative);
    g->bound = LitheLogScaleBound(b->log);
    break;
  case MATVCRS_LOSS_FIXED:
    g->kind = VCRS_GRID_FIXED;
    for (PetscInt row = 0; row < b->m; row++) b->rowexp[row] = (int16_t)LitheFixedExponent((double)stored[row], g->bits);
    break;
  default: /* MATVCRS_LOSS_SINGLE */
    g->kind  = VCRS_GRID_SINGLE;
    g->bound = .5 * (double)FLT_EPSILON;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   log2 of the step for entry (row, col) on the grids that have one by row. In a symmetric matrix both rows must come to the
   same value: fixed point rows share the coarser step, of which both hold every multiple, while row classes can take the
   finer one and keep the bound in both. *limit is log2 of the finest step that has to hold the value.
   stored: whether row itself stores it; a reference is not stored. False where nobody does.
*/
static inline PetscBool VCRSGridExponent(const VCRSBuild *b, const VCRSCSR *csr, const VCRSGrid *g, PetscInt row, PetscInt col, PetscBool stored, int *exponent, int *limit)
{
  const int own = b->rowexp[row];

  *exponent = *limit = own;
  if (b->opt->symmetric && col != row && col < csr->m) {
    const int other = b->rowexp[col];

    if (g->kind == VCRS_GRID_ROW) *exponent = PetscMin(own, other);
    else {
      const PetscBool otherstored = b->ref && b->ref[col] >= 0 && csr->j[csr->i[col] + b->ref[col]] == row ? PETSC_FALSE : PETSC_TRUE;

      if (!stored && !otherstored) return PETSC_FALSE;
      if (otherstored) {
        *exponent = stored ? PetscMax(own, other) : other;
        *limit    = stored ? PetscMin(own, other) : other;
      }
    }
  }
  return PETSC_TRUE;
}

static LITHE_ALWAYS_INLINE double VCRSGridRound(VCRSGridKind kind, const VCRSGrid *g, double v, int exponent, int limit)
{
  double r;

  switch (kind) {
  case VCRS_GRID_STEP:
    return LitheRoundToGrid(v, g->exponent);
  case VCRS_GRID_ROW:
    return LitheRoundToGrid(v, exponent);
  case VCRS_GRID_FIXED:
    r = LitheRoundToGrid(v, exponent);
    if (fabs(r) > (g->bits == 8 ? 127. : 32767.) * LithePow2(limit)) r -= r > 0. ? LithePow2(exponent) : -LithePow2(exponent);
    return r;
  case VCRS_GRID_ENTRY:
    return v == 0. ? 0. : LitheRoundToGrid(v, LitheClampExponent(LitheFloorLog2(v) + g->exponent));
  case VCRS_GRID_SINGLE:
    return (double)(float)v + 0.;
  default:
    return v;
  }
}

/* Rounds one entry; codes gets those of its components on a logarithmic scale, if it is not NULL */
static LITHE_ALWAYS_INLINE PetscScalar VCRSGridRoundScalar(VCRSGridKind kind, const VCRSBuild *b, const VCRSGrid *g, PetscScalar v, int exponent, int limit, uint16_t codes[])
{
  PetscScalar      r = v;
  const PetscReal *x = (const PetscReal *)&v;
  PetscReal       *y = (PetscReal *)&r;

  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    if (kind == VCRS_GRID_LOG) {
      const uint16_t code = LitheLogScaleEncode(b->log, (double)x[c]);

      y[c] = LitheLogScaleDecode(b->log, code);
      if (codes) codes[c] = code;
    } else y[c] = (PetscReal)VCRSGridRound(kind, g, (double)x[c], exponent, limit);
  }
  return r;
}

/* Rounds entries from .. to-1 of a row to w[] */
static LITHE_ALWAYS_INLINE void VCRSGridRoundEntries(VCRSGridKind kind, const VCRSBuild *b, const VCRSCSR *csr, const VCRSGrid *g, PetscInt row, PetscInt from, PetscInt to, PetscScalar w[], uint16_t codes[])
{
  const PetscBool    byrow     = kind == VCRS_GRID_ROW || kind == VCRS_GRID_FIXED ? PETSC_TRUE : PETSC_FALSE;
  const PetscBool    symmetric = byrow && b->opt->symmetric ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt    *cols      = csr->j + csr->i[row];
  const PetscScalar *a         = csr->a + csr->i[row];
  int                exponent = byrow ? b->rowexp[row] : 0, limit = exponent;

  for (PetscInt k = from; k < to; k++) {
    if (symmetric) (void)VCRSGridExponent(b, csr, g, row, cols[k], PETSC_TRUE, &exponent, &limit);
    w[k] = VCRSGridRoundScalar(kind, b, g, a[k], exponent, limit, codes ? codes + (size_t)k * VCRS_COMPONENTS : NULL);
  }
}

static void VCRSGridRoundRow(const VCRSBuild *b, const VCRSCSR *csr, const VCRSGrid *g, PetscInt row, PetscInt from, PetscInt to, PetscScalar w[], uint16_t codes[])
{
  switch (g->kind) {
  case VCRS_GRID_STEP:
    VCRSGridRoundEntries(VCRS_GRID_STEP, b, csr, g, row, from, to, w, codes);
    break;
  case VCRS_GRID_ROW:
    VCRSGridRoundEntries(VCRS_GRID_ROW, b, csr, g, row, from, to, w, codes);
    break;
  case VCRS_GRID_FIXED:
    VCRSGridRoundEntries(VCRS_GRID_FIXED, b, csr, g, row, from, to, w, codes);
    break;
  case VCRS_GRID_ENTRY:
    VCRSGridRoundEntries(VCRS_GRID_ENTRY, b, csr, g, row, from, to, w, codes);
    break;
  case VCRS_GRID_LOG:
    VCRSGridRoundEntries(VCRS_GRID_LOG, b, csr, g, row, from, to, w, codes);
    break;
  case VCRS_GRID_SINGLE:
    VCRSGridRoundEntries(VCRS_GRID_SINGLE, b, csr, g, row, from, to, w, codes);
    break;
  default:
    VCRSGridRoundEntries(VCRS_GRID_EXACT, b, csr, g, row, from, to, w, codes);
  }
}

/* The smallest value of the grid towards v, whose components would all become zero */
static inline PetscScalar VCRSGridSmallest(const VCRSGrid *g, PetscScalar v, int exponent)
{
  const PetscReal h    = (PetscReal)LithePow2(g->kind == VCRS_GRID_STEP ? g->exponent : (g->kind == VCRS_GRID_SINGLE ? -149 : exponent));
  PetscScalar     r    = 0.;
  const PetscReal *x   = (const PetscReal *)&v;
  PetscReal       *y   = (PetscReal *)&r;
  PetscInt         most = 0;

  for (PetscInt c = 1; c < VCRS_COMPONENTS; c++) {
    if (PetscAbsReal(x[c]) > PetscAbsReal(x[most])) most = c;
  }
  y[most] = x[most] < 0. ? -h : h;
  return r;
}

/* Is a reference with the value implied no longer what it was: vanished, appeared, or of the other sign? */
static inline PetscBool VCRSReferenceHarmed(PetscScalar implied, PetscScalar exact)
{
  if (exact == (PetscScalar)0.) return implied != (PetscScalar)0. ? PETSC_TRUE : PETSC_FALSE;
  if (implied == (PetscScalar)0.) return PETSC_TRUE;
#if defined(PETSC_USE_COMPLEX)
  return VCRSModulus(implied - exact) > VCRSModulus(exact) ? PETSC_TRUE : PETSC_FALSE;
#else
  return (implied > 0.) != (exact > 0.) ? PETSC_TRUE : PETSC_FALSE;
#endif
}

/* The row sum for which a reference beside others that sum to rest comes out as value, or next to it where value is lost beside rest */
static inline PetscScalar VCRSSigmaFor(PetscScalar value, PetscScalar rest)
{
  PetscScalar      sigma = value + rest;
  const PetscReal *x     = (const PetscReal *)&value, *r = (const PetscReal *)&rest;
  PetscReal       *s     = (PetscReal *)&sigma;
  PetscInt         most  = 0;

  if (!VCRSReferenceHarmed(sigma - rest, value)) return sigma;
  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    s[c] = r[c];
    if (PetscAbsReal(x[c]) > PetscAbsReal(x[most])) most = c;
  }
  s[most] += (x[most] > 0. ? PETSC_MACHINE_EPSILON : -PETSC_MACHINE_EPSILON) * PetscAbsReal(r[most]);
  return sigma;
}

/* What the entries of one row come to */
typedef struct {
  VCRSExactSum exact;          /* of the original entries */
  PetscScalar  rest;           /* sum of the rounded ones, without the reference, in the order in which decoding adds them */
  double       sum, largest;   /* of moduli */
  double       square, error2; /* sums of squares */
  double       error;          /* largest |w - a| */
} VCRSRowSums;

/* Adds entries a[k], and w[k] that they became */
static LITHE_ALWAYS_INLINE void VCRSRowSumsAdd(VCRSRowSums *sums, PetscInt n, const PetscScalar a[], const PetscScalar w[])
{
  VCRSRowSums s = *sums;

  for (PetscInt k = 0; k < n; k++) {
    const double modulus = VCRSModulus(a[k]), error = VCRSModulus(w[k] - a[k]);

    VCRSExactSumAdd(&s.exact, a[k]);
    s.rest += w[k];
    s.sum += modulus;
    s.square += modulus * modulus;
    s.largest = modulus > s.largest ? modulus : s.largest;
    s.error2 += error * error;
    s.error = error > s.error ? error : s.error;
  }
  *sums = s;
}

/* Where the diagonal entry would vanish, it becomes the smallest value of the grid */
static PetscBool VCRSGuardDiagonal(const VCRSBuild *b, const VCRSGrid *g, PetscInt row, PetscInt len, const PetscInt cols[], const PetscScalar a[], PetscScalar w[])
{
  PetscInt k = 0;

  while (k < len && cols[k] < row) k++;
  if (k == len || cols[k] != row || w[k] != (PetscScalar)0. || a[k] == (PetscScalar)0.) return PETSC_FALSE;
  w[k] = VCRSGridSmallest(g, a[k], b->rowexp[row]);
  return PETSC_TRUE;
}

/* Error that the grid allows in one row of fixed point numbers; the steps of a symmetric matrix are those of its neighbours, too */
static double VCRSFixedBound(const VCRSBuild *b, const VCRSCSR *csr, const VCRSGrid *g, PetscInt row, PetscInt ref, double error)
{
  int exponent = b->rowexp[row], limit, coarsest = exponent;

  if (b->opt->symmetric) {
    for (PetscInt k = 0; k < csr->i[row + 1] - csr->i[row]; k++) {
      if (k == ref) continue;
      (void)VCRSGridExponent(b, csr, g, row, csr->j[csr->i[row] + k], PETSC_TRUE, &exponent, &limit);
      coarsest = PetscMax(coarsest, exponent);
    }
  }
  /* beyond half a step where the nearest multiple was too large */
  return LithePow2(coarsest) * VCRS_COMPONENT_FACTOR * (error > .5 * VCRS_COMPONENT_FACTOR * LithePow2(coarsest) ? 1. : .5);
}

/* Rounds all entries into owna (and ownj, logcode), in the order of storage, and compares them with the original */
static PetscErrorCode VCRSLossRound(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSGrid *g, VCRSReport *report)
{
  const PetscBool byrow  = g->kind == VCRS_GRID_ROW || g->kind == VCRS_GRID_FIXED ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt  nc     = VCRS_COMPONENTS;
  double          maxabs = 0., maxrow = 0., error2 = 0., norm2 = 0., sumerror = 0., bound = g->bound;
  PetscInt64      guarded = 0;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < csr->m; row++) {
    const PetscInt     p = csr->i[row], len = csr->i[row + 1] - p, ref = b->ref ? b->ref[row] : -1;
    const PetscInt    *cols  = csr->j + p;
    const PetscScalar *a     = csr->a + p;
    const PetscInt     ahead = b->difference && ref >= 0 ? 1 : 0; /* the reference goes to the front, those before it move by one */
    const PetscInt     split = ref >= 0 ? ref : len;
    PetscScalar       *w     = b->owna + p;
    uint16_t          *codes = b->logcode ? b->logcode + (size_t)p * nc : NULL;
    VCRSRowSums        sums;
    double             lost;
    PetscBool          guard = PETSC_FALSE;

    memset(&sums, 0, sizeof(sums));
    VCRSGridRoundRow(b, csr, g, row, 0, split, w + ahead, codes ? codes + ahead * nc : NULL);
    if (split + 1 < len) VCRSGridRoundRow(b, csr, g, row, split + 1, len, w, codes);
    if (ref < 0) guard = VCRSGuardDiagonal(b, g, row, len, cols, a, w);
    VCRSRowSumsAdd(&sums, split, a, w + ahead);
    if (split + 1 < len) VCRSRowSumsAdd(&sums, len - split - 1, a + split + 1, w + split + 1);
    if (b->ownj) {
      for (PetscInt k = 0; k < split; k++) b->ownj[p + ahead + k] = cols[k];
      for (PetscInt k = split + 1; k < len; k++) b->ownj[p + k] = cols[k];
    }
    if (g->kind == VCRS_GRID_SINGLE && !(sums.error <= (double)PETSC_MAX_REAL)) {
      for (PetscInt k = 0; k < len; k++) PetscCheck(k == ref || (PetscAbsReal(PetscRealPart(a[k])) <= (PetscReal)FLT_MAX && PetscAbsReal(PetscImaginaryPart(a[k])) <= (PetscReal)FLT_MAX), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The entry in local row %" PetscInt_FMT ", local column %" PetscInt_FMT " of the matrix, of modulus %g, is beyond the range of single precision: scale the matrix, or use -mat_vcrs_loss log or fixed in place of single", row, cols[k], VCRSModulus(a[k]));
    }
    if (g->kind == VCRS_GRID_FIXED && sums.largest > 0.) {
      const double most = ref >= 0 ? PetscMax(sums.largest, VCRSModulus(a[ref])) : sums.largest;

      bound = PetscMax(bound, VCRSFixedBound(b, csr, g, row, ref, sums.error) / most);
    }

    /* the row sum, and what it makes of the reference */
    if (ref >= 0) {
      const double modulus = VCRSModulus(a[ref]);
      PetscScalar  kept, sigma, implied;
      double       error, rounding;

      VCRSExactSumAdd(&sums.exact, a[ref]);
      sums.sum += modulus;
      sums.square += modulus * modulus;
      sums.largest = PetscMax(sums.largest, modulus);
      rounding     = (double)len * (double)PETSC_MACHINE_EPSILON * sums.sum;
      if (extra) VCRSExactSumAdd(&sums.exact, extra[row]);
      kept  = VCRSExactSumGet(&sums.exact);
      sigma = VCRSModulus(kept) <= rounding ? 0. : kept;

      /* without a diagonal entry the reference has a partner across the diagonal, which symmetry puts first */
      if (b->opt->symmetric && cols[ref] != row) {
        PetscScalar value    = a[ref];
        int         exponent = 0, limit = 0;

        if (!byrow || VCRSGridExponent(b, csr, g, row, cols[ref], PETSC_FALSE, &exponent, &limit)) value = VCRSGridRoundScalar(g->kind, b, g, value, exponent, limit, NULL);
        sigma = VCRSSigmaFor(value, sums.rest);
      } else if (VCRSReferenceHarmed(sigma - sums.rest, a[ref])) sigma = VCRSSigmaFor(a[ref], sums.rest);
      implied = sigma - sums.rest;
      PetscCheck(VCRSModulus(implied) <= (double)PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_FP, "The sum of local row %" PetscInt_FMT " of the matrix overflows, so it cannot be kept: scale the matrix, or use -mat_vcrs_preserve_row_sums 0", row);
      lost = VCRSModulus(sigma - kept);
      if (lost > rounding) guard = PETSC_TRUE;
      error = VCRSModulus(implied - a[ref]);
      sums.error2 += error * error;
      sums.error            = PetscMax(sums.error, error);
      w[ahead ? 0 : ref]    = implied;
      if (b->ownj) b->ownj[p] = cols[ref];
      if (b->sigma) b->sigma[row] = sigma;
    } else {
      lost = VCRSModulus(sums.rest - VCRSExactSumGet(&sums.exact));
      if (b->sigma) b->sigma[row] = 0.;
    }
    error2 += sums.error2;
    norm2 += sums.square;
    if (guard) guarded++;
    if (sums.error > maxabs) maxabs = sums.error;
    if (sums.largest > 0.) {
      maxrow   = PetscMax(maxrow, sums.error / sums.largest);
      sumerror = PetscMax(sumerror, lost / sums.sum);
    }
  }
  report->maxabserror = (PetscReal)maxabs;
  report->maxrowerror = (PetscReal)maxrow;
  report->bound       = (PetscReal)bound;
  report->froberror2  = (PetscReal)error2;
  report->frobnorm2   = (PetscReal)norm2;
  report->rowsumerror = (PetscReal)sumerror;
  report->guardrows   = guarded;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the first part of a VCRSBuild: the matrix as the layouts are to store it */
PetscErrorCode VCRSLossApply(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSReport *report)
{
  const VCRSOptions *opt     = b->opt;
  const PetscInt     nz      = csr->i[csr->m];
  const PetscBool    literal = opt->layout == MATVCRS_LAYOUT_LITERAL ? PETSC_TRUE : PETSC_FALSE;
  PetscReal         *largest = NULL, *stored = NULL;
  VCRSSurvey         survey;
  VCRSGrid           grid;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  b->i        = csr->i;
  b->lossless = PETSC_FALSE;
  if (opt->loss == MATVCRS_LOSS_NONE || (opt->loss == MATVCRS_LOSS_CLASSES && opt->lambda == 0.) || (opt->loss == MATVCRS_LOSS_SINGLE && sizeof(PetscReal) <= sizeof(float))) b->lossless = PETSC_TRUE;
  if (b->lossless) {
    double norm2 = 0.;

    for (PetscInt k = 0; k < nz * VCRS_COMPONENTS; k++) {
      const double x = (double)((const PetscReal *)csr->a)[k];

      norm2 += x * x;
    }
    report->frobnorm2 = (PetscReal)norm2;
    b->j              = csr->j;
    b->a              = csr->a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* literal stores all entries in column order, the reference with the value that the row sum implies */
  b->difference = opt->rowsums && !literal ? PETSC_TRUE : PETSC_FALSE;
  if (opt->rowsums) PetscCall(PetscMalloc1(csr->m, &b->ref));
  if (b->difference) {
    PetscCall(PetscMalloc1(csr->m, &b->sigma));
    PetscCall(PetscMalloc1(nz, &b->ownj));
  }
  PetscCall(PetscMalloc1(nz, &b->owna));
  PetscCall(PetscMalloc1(csr->m, &b->rowexp));
  PetscCall(PetscMemzero(&survey, sizeof(survey)));
  ierr = PetscMalloc2(csr->m, &largest, csr->m, &stored);
  if (!ierr) ierr = VCRSLossSurvey(b, csr, &survey, largest, stored);
  if (!ierr) ierr = VCRSGridSetUp(b, &survey, largest, stored, &grid);
  PetscCall(PetscFree2(largest, stored));
  PetscCall(ierr);
  if (grid.kind == VCRS_GRID_LOG && !literal) PetscCall(PetscCalloc1((size_t)nz * VCRS_COMPONENTS, &b->logcode));
  PetscCall(VCRSLossRound(b, csr, extra, &grid, report));
  b->j = b->ownj ? b->ownj : csr->j;
  b->a = b->owna;
  PetscFunctionReturn(PETSC_SUCCESS);
}
