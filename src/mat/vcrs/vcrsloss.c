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

/* Finds the reference of each row, and the largest component: of the whole row (largest[]) and without the reference (stored[]) */
static PetscErrorCode VCRSLossSurvey(VCRSBuild *b, const VCRSCSR *csr, VCRSSurvey *s, PetscReal largest[], PetscReal stored[])
{
  const PetscInt nc = VCRS_COMPONENTS;

  PetscFunctionBegin;
  s->min         = PETSC_MAX_REAL;
  s->max         = PETSC_MIN_REAL;
  s->smallest    = PETSC_MAX_REAL;
  s->largest     = 0.;
  s->haspositive = s->hasnegative = 0;
  for (PetscInt row = 0; row < csr->m; row++) {
    const PetscInt     len = csr->i[row + 1] - csr->i[row], *cols = csr->j + csr->i[row];
    const PetscScalar *a   = csr->a + csr->i[row];
    const PetscReal   *v   = (const PetscReal *)a;
    PetscReal          max = 0., rest = 0.;
    PetscInt           ref = -1;

    for (PetscInt k = 0; k < len * nc; k++) {
      const PetscReal x = v[k], ax = PetscAbsReal(x);

      PetscCheck(ax <= PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_FP, "The matrix has a NaN or Inf in local row %" PetscInt_FMT ", local column %" PetscInt_FMT ", which -mat_vcrs_loss %s cannot compress: correct the entry, or use -mat_vcrs_loss none", row, cols[k / nc], MatVCRSLosses[b->opt->loss]);
      if (x < s->min) s->min = x;
      if (x > s->max) s->max = x;
      if (ax > max) max = ax;
    }

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
    for (PetscInt k = 0; k < len * nc; k++) {
      const PetscReal x = v[k], ax = PetscAbsReal(x);

      if (x == 0. || k / nc == ref) continue;
      if (ax > rest) rest = ax;
      if (ax < s->smallest) s->smallest = ax;
      if (x > 0.) s->haspositive = 1;
      else s->hasnegative = 1;
    }
    if (rest > s->largest) s->largest = rest;
    if (largest) largest[row] = max;
    if (stored) stored[row] = rest;
  }
  if (s->largest == 0.) s->smallest = 0.;
  if (s->max < s->min) s->max = s->min = 0.;
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

static inline double VCRSGridRound(const VCRSGrid *g, double v, int exponent, int limit)
{
  double r, h;

  if (v == 0.) return 0.;
  switch (g->kind) {
  case VCRS_GRID_STEP:
    return LitheRoundToStep(v, LithePow2(g->exponent));
  case VCRS_GRID_ROW:
    return LitheRoundToStep(v, LithePow2(exponent));
  case VCRS_GRID_FIXED:
    h = LithePow2(exponent);
    r = LitheRoundToStep(v, h);
    if (fabs(r) > (g->bits == 8 ? 127. : 32767.) * LithePow2(limit)) r -= r > 0. ? h : -h;
    return r;
  case VCRS_GRID_ENTRY:
    return LitheRoundToStep(v, LithePow2(LitheClampExponent(LitheFloorLog2(v) + g->exponent)));
  case VCRS_GRID_SINGLE:
    r = (double)(float)v;
    return r == 0. ? 0. : r;
  default:
    return v;
  }
}

/* Rounds one entry; codes gets those of its components on a logarithmic scale, if it is not NULL */
static inline PetscScalar VCRSGridRoundScalar(const VCRSBuild *b, const VCRSGrid *g, PetscScalar v, int exponent, int limit, uint16_t codes[])
{
  PetscScalar      r = v;
  const PetscReal *x = (const PetscReal *)&v;
  PetscReal       *y = (PetscReal *)&r;

  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    if (g->kind == VCRS_GRID_LOG) {
      const uint16_t code = LitheLogScaleEncode(b->log, (double)x[c]);

      y[c] = LitheLogScaleDecode(b->log, code);
      if (codes) codes[c] = code;
    } else y[c] = (PetscReal)VCRSGridRound(g, (double)x[c], exponent, limit);
  }
  return r;
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

/* Rounds all entries into owna (and ownj, logcode), in the order of storage, and compares them with the original */
static PetscErrorCode VCRSLossRound(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSGrid *g, VCRSReport *report)
{
  const PetscBool byrow    = g->kind == VCRS_GRID_ROW || g->kind == VCRS_GRID_FIXED ? PETSC_TRUE : PETSC_FALSE;
  double          maxabs   = 0., maxrow = 0., error2 = 0., norm2 = 0., sumerror = 0., bound = g->bound;
  PetscInt64      guarded  = 0;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < csr->m; row++) {
    const PetscInt     p = csr->i[row], len = csr->i[row + 1] - p, ref = b->ref ? b->ref[row] : -1;
    const PetscInt    *cols   = csr->j + p;
    const PetscScalar *a      = csr->a + p;
    const PetscBool    ahead  = b->difference && ref >= 0 ? PETSC_TRUE : PETSC_FALSE; /* the reference goes to the front */
    VCRSExactSum       change = {{0., 0.}, {0., 0.}}, exact = {{0., 0.}, {0., 0.}};
    PetscScalar        rest   = 0.;
    double             rowmax = 0., rowerror = 0., rowsum = 0., rowbound = 0., lost = 0.;
    PetscBool          guard  = PETSC_FALSE;
    int                exponent = byrow ? b->rowexp[row] : 0, limit = exponent;

    for (PetscInt k = 0; k < len; k++) {
      const PetscScalar v       = a[k];
      const double      modulus = VCRSModulus(v);
      const PetscInt    to      = p + (ahead && k < ref ? k + 1 : k);
      PetscScalar       w;
      double            error;

      norm2 += modulus * modulus;
      rowsum += modulus;
      rowmax = PetscMax(rowmax, modulus);
      if (ref >= 0) VCRSExactSumAdd(&exact, v);
      if (k == ref) continue;
      if (byrow && b->opt->symmetric) (void)VCRSGridExponent(b, csr, g, row, cols[k], PETSC_TRUE, &exponent, &limit);
      w = VCRSGridRoundScalar(b, g, v, exponent, limit, b->logcode ? b->logcode + (size_t)to * VCRS_COMPONENTS : NULL);

      /* the diagonal does not vanish */
      if (cols[k] == row && w == (PetscScalar)0. && v != (PetscScalar)0.) {
        w     = VCRSGridSmallest(g, v, exponent);
        guard = PETSC_TRUE;
      }
      if (g->kind == VCRS_GRID_SINGLE) PetscCheck(PetscAbsReal(PetscRealPart(w)) <= PETSC_MAX_REAL && PetscAbsReal(PetscImaginaryPart(w)) <= PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "The entry in local row %" PetscInt_FMT ", local column %" PetscInt_FMT " of the matrix, of modulus %g, is beyond the range of single precision: scale the matrix, or use -mat_vcrs_loss log or fixed in place of single", row, cols[k], modulus);
      error    = VCRSModulus(w - v);
      error2  += error * error;
      rowerror = PetscMax(rowerror, error);
      if (g->kind == VCRS_GRID_FIXED) {
        const double h = LithePow2(exponent) * VCRS_COMPONENT_FACTOR;

        rowbound = PetscMax(rowbound, error > .5 * h ? h : .5 * h);
      }
      if (ref < 0) VCRSExactSumAdd(&change, w - v);
      rest += w;
      b->owna[to] = w;
      if (b->ownj) b->ownj[to] = cols[k];
    }

    /* the row sum, and what it makes of the reference */
    if (ref >= 0) {
      const double rounding = (double)len * (double)PETSC_MACHINE_EPSILON * rowsum;
      PetscScalar  kept, sigma, implied;
      double       error;

      if (extra) VCRSExactSumAdd(&exact, extra[row]);
      kept  = VCRSExactSumGet(&exact);
      sigma = VCRSModulus(kept) <= rounding ? 0. : kept;

      /* without a diagonal entry the reference has a partner across the diagonal, which symmetry puts first */
      if (b->opt->symmetric && cols[ref] != row) {
        PetscScalar w = a[ref];

        if (!byrow || VCRSGridExponent(b, csr, g, row, cols[ref], PETSC_FALSE, &exponent, &limit)) w = VCRSGridRoundScalar(b, g, w, exponent, limit, NULL);
        sigma = VCRSSigmaFor(w, rest);
      } else if (VCRSReferenceHarmed(sigma - rest, a[ref])) sigma = VCRSSigmaFor(a[ref], rest);
      implied = sigma - rest;
      PetscCheck(VCRSModulus(implied) <= (double)PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_FP, "The sum of local row %" PetscInt_FMT " of the matrix overflows, so it cannot be kept: scale the matrix, or use -mat_vcrs_preserve_row_sums 0", row);
      lost = VCRSModulus(sigma - kept);
      if (lost > rounding) guard = PETSC_TRUE;
      error    = VCRSModulus(implied - a[ref]);
      error2  += error * error;
      rowerror = PetscMax(rowerror, error);
      b->owna[ahead ? p : p + ref] = implied;
      if (b->ownj) b->ownj[p] = cols[ref];
      if (b->sigma) b->sigma[row] = sigma;
    } else {
      lost = VCRSModulus(VCRSExactSumGet(&change));
      if (b->sigma) b->sigma[row] = 0.;
    }
    if (guard) guarded++;
    if (rowerror > maxabs) maxabs = rowerror;
    if (rowmax > 0.) {
      maxrow   = PetscMax(maxrow, rowerror / rowmax);
      bound    = PetscMax(bound, rowbound / rowmax);
      sumerror = PetscMax(sumerror, lost / rowsum);
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
