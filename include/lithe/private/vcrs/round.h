/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The lossy half of a compression, row by row, for host loops (loss/loss.c) and for kernels (cuda/vcrs/build/loss.cu):
   a row is rounded with the steps of steps.h, its sum is kept, and the effect is measured.
*/

#include <lithe/private/vcrs/steps.h>

/*
   Largest change of the reference of a row by a loss, relative to its modulus, if the reference takes the rounding of
   all other entries (row sums kept). Beyond this change the row sum is not kept. The same share of the diagonal entry
   limits rounding with a step per row or per matrix: beyond this share the row counts as coarse, see VCRSLossRefine().
*/
#define VCRS_REFERENCE_SHARE .125

/*
   The share for fixed point numbers of 16 bits: rows above this share have entries in different units. Operators with
   two fields, three decades apart, took twice the iterations at .125. With 8 bits, anisotropic rows with entries below
   a step reach .06 and take no more iterations.
*/
#define VCRS_FIXED_SHARE .03125

/* A sum with the error of each addition carried along */
typedef struct {
  PetscReal sum[2], error[2];
} VCRSExactSum;

LITHE_HD static inline void VCRSExactSumAdd(VCRSExactSum *s, PetscScalar v)
{
  const PetscReal *x = (const PetscReal *)&v;

  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    const PetscReal old = s->sum[c], now = old + x[c], back = now - old;

    s->sum[c] = now;
    s->error[c] += (old - (now - back)) + (x[c] - back);
  }
}

#if !defined(__CUDA_ARCH__)
/*
   Adds n entries a[k] to s, and n entries w[k] to rest; both components at once if the compiler supports pairs of
   numbers
*/
static LITHE_ALWAYS_INLINE void VCRSExactSumAddMany(VCRSExactSum *s, PetscScalar *rest, PetscInt n, const PetscScalar a[], const PetscScalar w[])
{
  #if defined(PETSC_USE_COMPLEX) && defined(__GNUC__) && !defined(__CUDACC__)
  typedef PetscReal Pair __attribute__((vector_size(2 * sizeof(PetscReal))));
  Pair              sum, error, plain;

  memcpy(&sum, s->sum, sizeof(sum));
  memcpy(&error, s->error, sizeof(error));
  memcpy(&plain, rest, sizeof(plain));
  for (PetscInt k = 0; k < n; k++) {
    Pair x, y, now, back;

    memcpy(&x, &a[k], sizeof(x));
    memcpy(&y, &w[k], sizeof(y));
    now  = sum + x;
    back = now - sum;
    error += (sum - (now - back)) + (x - back);
    sum = now;
    plain += y;
  }
  memcpy(s->sum, &sum, sizeof(sum));
  memcpy(s->error, &error, sizeof(error));
  memcpy(rest, &plain, sizeof(plain));
  #else
  for (PetscInt k = 0; k < n; k++) {
    VCRSExactSumAdd(s, a[k]);
    *rest += w[k];
  }
  #endif
}
#endif

LITHE_HD static inline PetscScalar VCRSExactSumGet(const VCRSExactSum *s)
{
  PetscScalar sum = 0.;
  PetscReal  *x   = (PetscReal *)&sum;

  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) x[c] = s->sum[c] + s->error[c];
  return sum;
}

/* Whether the reference with the implied value has vanished, appeared, or changed its sign */
LITHE_HD static inline PetscBool VCRSReferenceHarmed(PetscScalar implied, PetscScalar exact)
{
  if (exact == (PetscScalar)0.) return (PetscBool)(implied != (PetscScalar)0.);
  if (implied == (PetscScalar)0.) return PETSC_TRUE;
#if defined(PETSC_USE_COMPLEX)
  return (PetscBool)(VCRSModulus(implied - exact) > VCRSModulus(exact));
#else
  return (PetscBool)((implied > 0.) != (exact > 0.));
#endif
}

/*
   The row sum that gives the reference this value, if other entries sum to rest. If value is lost beside rest, the
   result is near value
*/
LITHE_HD static inline PetscScalar VCRSSigmaFor(PetscScalar value, PetscScalar rest)
{
  PetscScalar      sigma = value + rest;
  const PetscReal *x = (const PetscReal *)&value, *r = (const PetscReal *)&rest;
  PetscReal       *s    = (PetscReal *)&sigma;
  PetscInt         most = 0;

  if (!VCRSReferenceHarmed(sigma - rest, value)) return sigma;
  for (PetscInt c = 0; c < VCRS_COMPONENTS; c++) {
    s[c] = r[c];
    if (PetscAbsReal(x[c]) > PetscAbsReal(x[most])) most = c;
  }
  s[most] += (x[most] > 0. ? PETSC_MACHINE_EPSILON : -PETSC_MACHINE_EPSILON) * PetscAbsReal(r[most]);
  return sigma;
}

/* The result of rounding the entries of one row */
typedef struct {
  VCRSExactSum exact;          /* of the original entries */
  PetscScalar  rest;           /* sum of the rounded entries without the reference, in the order of additions in decoding */
  double       sum, largest;   /* of moduli */
  double       square, error2; /* sums of squares, in units of VCRSStep.unit */
  double       error;          /* largest |w - a| */
} VCRSRowSums;

#if !defined(__CUDA_ARCH__)
  #define VCRS_MODULI 32

/*
   VCRSModulus() of a[k] and of w[k] - a[k], k < n <= VCRS_MODULI: in a vector loop where no square can overflow or
   vanish
*/
static LITHE_ALWAYS_INLINE void VCRSModuli(PetscInt n, const PetscScalar a[], const PetscScalar w[], double modulus[], double error[])
{
  #if defined(PETSC_USE_COMPLEX)
  const PetscReal *x = (const PetscReal *)a, *y = (const PetscReal *)w;
  const uint64_t   least = LitheBits(2e-140), most = LitheBits(1e140);
  uint64_t         outside = 0;

  for (PetscInt k = 0; k < n; k++) {
    const double re = (double)x[2 * k], im = (double)x[2 * k + 1], dre = (double)(y[2 * k] - x[2 * k]), dim = (double)(y[2 * k + 1] - x[2 * k + 1]);

    modulus[k] = sqrt(re * re + im * im);
    error[k]   = sqrt(dre * dre + dim * dim);
    outside |= LitheOutside(LitheBits(fabs(re) + fabs(im)), least, most) | LitheOutside(LitheBits(fabs(dre) + fabs(dim)), least, most);
  }
  if (!(outside >> 63)) return;
  #endif
  for (PetscInt k = 0; k < n; k++) {
    modulus[k] = VCRSModulus(a[k]);
    error[k]   = VCRSModulus(w[k] - a[k]);
  }
}
#endif

/* Adds entries a[k], and their rounded values w[k] */
LITHE_HD static LITHE_ALWAYS_INLINE void VCRSRowSumsAdd(VCRSRowSums *sums, double unit, PetscInt n, const PetscScalar a[], const PetscScalar w[])
{
  VCRSRowSums s = *sums;

#if defined(__CUDA_ARCH__)
  for (PetscInt k = 0; k < n; k++) {
    const double modulus = VCRSModulus(a[k]), error = VCRSModulus(w[k] - a[k]);

    VCRSExactSumAdd(&s.exact, a[k]);
    s.rest += w[k];
    s.sum += modulus;
    s.square += (modulus * unit) * (modulus * unit);
    s.largest = modulus > s.largest ? modulus : s.largest;
    s.error2 += (error * unit) * (error * unit);
    s.error = error > s.error ? error : s.error;
  }
#else
  /* the same sums in three loops, each of which fits into registers */
  for (PetscInt from = 0; from < n; from += VCRS_MODULI) {
    const PetscInt     count = PetscMin(VCRS_MODULI, n - from);
    const PetscScalar *af = a + from, *wf = w + from;
    double             modulus[VCRS_MODULI], error[VCRS_MODULI];

    VCRSModuli(count, af, wf, modulus, error);
    for (PetscInt k = 0; k < count; k++) {
      s.sum += modulus[k];
      s.square += (modulus[k] * unit) * (modulus[k] * unit);
      s.largest = modulus[k] > s.largest ? modulus[k] : s.largest;
      s.error2 += (error[k] * unit) * (error[k] * unit);
      s.error = error[k] > s.error ? error[k] : s.error;
    }
    VCRSExactSumAddMany(&s.exact, &s.rest, count, af, wf);
  }
#endif
  *sums = s;
}

/* A vanishing diagonal entry becomes the smallest value */
LITHE_HD static inline PetscBool VCRSGuardDiagonal(const VCRSBuild *b, const VCRSStep *step, PetscInt row, PetscInt len, const PetscInt cols[],
                                                   const PetscScalar a[], PetscScalar w[])
{
  PetscInt k = 0;

  if (step->offdiagonal) return PETSC_FALSE;
  while (k < len && cols[k] < row) k++;
  if (k == len || cols[k] != row || w[k] != (PetscScalar)0. || a[k] == (PetscScalar)0.) return PETSC_FALSE;
  w[k] = VCRSStepSmallest(step, a[k], b->rounded.rowexp[row]);
  return PETSC_TRUE;
}

/*
   The error bound of one row of fixed point numbers; in a symmetric matrix the steps of the row's neighbours count as
   well
*/
LITHE_HD static inline double VCRSFixedBound(const VCRSBuild *b, const VCRSCSR *csr, const VCRSStep *step, PetscInt row, PetscInt ref, double error)
{
  int exponent = b->rounded.rowexp[row], limit, coarsest = exponent;

  if (step->symmetric) {
    for (PetscInt k = 0; k < csr->i[row + 1] - csr->i[row]; k++) {
      if (k == ref) continue;
      (void)VCRSStepExponent(b, csr, step, row, csr->j[csr->i[row] + k], PETSC_TRUE, &exponent, &limit);
      coarsest = PetscMax(coarsest, exponent);
    }
  }
  /* beyond half a step where the nearest multiple was too large */
  return LithePow2(coarsest) * VCRS_COMPONENT_FACTOR * (error > .5 * VCRS_COMPONENT_FACTOR * LithePow2(coarsest) ? 1. : .5);
}

/* The effect of rounding many rows: sums, and maxima. error2, norm2: in units of VCRSStep.unit */
typedef struct {
  double     maxabs, maxrow, error2, norm2, sumerror, bound;
  PetscInt64 guarded, coarse, lost;
} VCRSLossTotals;

LITHE_HD static inline void VCRSLossTotalsJoin(VCRSLossTotals *t, const VCRSLossTotals *u)
{
  t->maxabs   = PetscMax(t->maxabs, u->maxabs);
  t->maxrow   = PetscMax(t->maxrow, u->maxrow);
  t->sumerror = PetscMax(t->sumerror, u->sumerror);
  t->bound    = PetscMax(t->bound, u->bound);
  t->error2 += u->error2;
  t->norm2 += u->norm2;
  t->guarded += u->guarded;
  t->coarse += u->coarse;
  t->lost += u->lost;
}

/* The modulus of the diagonal entry; of the largest entry if the diagonal entry is missing or zero */
LITHE_HD static inline double VCRSRowSize(const VCRSStep *step, PetscInt row, PetscInt len, const PetscInt cols[], const PetscScalar a[], double largest)
{
  for (PetscInt k = 0; k < len && cols[k] <= row && !step->offdiagonal; k++) {
    if (cols[k] == row && a[k] != (PetscScalar)0.) return VCRSModulus(a[k]);
  }
  return largest;
}

/* The error of an implied reference, in the unit of the bound of entries */
LITHE_HD static inline double VCRSReferenceBound(const VCRSStep *step, PetscScalar implied, PetscScalar exact, double error, double largest)
{
  const double modulus = VCRSModulus(exact), became = VCRSModulus(implied);

  if (error == 0.) return 0.;
  if (step->absolute) return error;
  switch (step->kind) {
  case VCRS_STEP_ROW:
  case VCRS_STEP_FIXED:
    return error / largest;
  case VCRS_STEP_LOG:
    /* a factor, as for other entries */
    return modulus > 0. && became > 0. ? PetscMax(error / modulus, error / became) : 0.;
  default:
    return modulus > 0. ? error / modulus : 0.;
  }
}

/* Rounds a row into w[] (and ownj, code, single), in the order of storage, and compares it with the original. extra:
   additions to row sums, or NULL */
LITHE_HD static LITHE_ALWAYS_INLINE void VCRSRoundRow(const VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], const VCRSStep *step, PetscInt row,
                                                      PetscScalar w[], VCRSLossTotals *totals)
{
  const PetscBool byrow = VCRSStepIsByRow(step->kind);
  /* a step may be larger than an entry */
  const PetscBool    wide  = (PetscBool)(byrow || step->kind == VCRS_STEP_MATRIX || step->floor > LITHE_MIN_EXPONENT);
  const double       share = step->kind == VCRS_STEP_FIXED && step->bits > 8 ? VCRS_FIXED_SHARE : VCRS_REFERENCE_SHARE; /* beyond, a row is coarse */
  const PetscInt     nc    = VCRS_COMPONENTS;
  const PetscInt     p = csr->i[row], len = csr->i[row + 1] - p, ref = b->ref ? b->ref[row] : -1;
  const PetscInt    *cols  = csr->j + p;
  const PetscScalar *a     = csr->a + p;
  const PetscInt     ahead = b->difference && ref >= 0 ? 1 : 0; /* the reference comes first; entries before it move by one */
  const PetscInt     split = ref >= 0 ? ref : len;
  uint16_t          *codes = b->rounded.code && b->rounded.log ? b->rounded.code + (size_t)p * nc : NULL;
  VCRSRowSums        sums;
  double             lost, change = 0.; /* change: the effect of the row sum on the reference */
  PetscBool          guard = PETSC_FALSE, coarse = PETSC_FALSE;

  memset((void *)&sums, 0, sizeof(sums));
  VCRSStepRoundRow(b, csr, step, row, 0, split, w + ahead, codes ? codes + ahead * nc : NULL);
  if (split + 1 < len) VCRSStepRoundRow(b, csr, step, row, split + 1, len, w, codes);
  if (ref < 0) guard = VCRSGuardDiagonal(b, step, row, len, cols, a, w);
#if !defined(__CUDA_ARCH__)
  if (b->rounded.code && !b->rounded.log) {
    const PetscReal *steps = (const PetscReal *)w;
    uint16_t        *code  = b->rounded.code + (size_t)p * nc;
    double           per[2];

    LitheFixedReciprocal(b->rounded.rowexp[row], per);
    for (PetscInt k = ahead * nc; k < len * nc; k++) code[k] = (uint16_t)(int16_t)((double)steps[k] * per[0] * per[1]);
  } else if (b->rounded.single) {
    const PetscReal *v = (const PetscReal *)w;
    float           *s = b->rounded.single + (size_t)p * nc;

    for (PetscInt k = ahead * nc; k < len * nc; k++) s[k] = (float)v[k];
  }
#endif
  VCRSRowSumsAdd(&sums, step->unit, split, a, w + ahead);
  if (split + 1 < len) VCRSRowSumsAdd(&sums, step->unit, len - split - 1, a + split + 1, w + split + 1);
  if (b->ownj) {
    for (PetscInt k = 0; k < split; k++) b->ownj[p + ahead + k] = cols[k];
    for (PetscInt k = split + 1; k < len; k++) b->ownj[p + k] = cols[k];
  }
  if (step->kind == VCRS_STEP_FIXED && sums.largest > 0.) {
    const double most = ref >= 0 ? PetscMax(sums.largest, VCRSModulus(a[ref])) : sums.largest;

    totals->bound = PetscMax(totals->bound, VCRSFixedBound(b, csr, step, row, ref, sums.error) / most);
  }

  /* the row sum, and the resulting reference */
  if (ref >= 0) {
    const double modulus = VCRSModulus(a[ref]);
    PetscScalar  kept, sigma, implied;
    double       error, rounding;

    VCRSExactSumAdd(&sums.exact, a[ref]);
    sums.sum += modulus;
    sums.square += (modulus * step->unit) * (modulus * step->unit);
    sums.largest = PetscMax(sums.largest, modulus);
    rounding     = (double)len * (double)PETSC_MACHINE_EPSILON * sums.sum;
    if (extra) VCRSExactSumAdd(&sums.exact, extra[row]);
    kept  = VCRSExactSumGet(&sums.exact);
    sigma = VCRSModulus(kept) <= rounding ? 0. : kept;
#if defined(PETSC_USE_COMPLEX)
    /* the diagonal of a Hermitian matrix stays real, at the expense of the imaginary part of the row sum */
    if (step->hermitian && cols[ref] == row) ((PetscReal *)&sigma)[1] = PetscImaginaryPart(sums.rest);
#endif

    /* without a diagonal entry the reference has a partner across the diagonal, which symmetry puts first */
    if (step->symmetric && cols[ref] != row) {
      PetscScalar value    = a[ref];
      int         exponent = 0, limit = 0;

      if (!byrow || VCRSStepExponent(b, csr, step, row, cols[ref], PETSC_FALSE, &exponent, &limit))
        value = VCRSStepRoundScalar(step->kind, b, step, value, exponent, limit, NULL);
      sigma = VCRSSigmaFor(value, sums.rest);
    } else {
      change = VCRSModulus((sigma - sums.rest) - a[ref]);
      if (!(change <= VCRS_REFERENCE_SHARE * modulus) || VCRSReferenceHarmed(sigma - sums.rest, a[ref])) sigma = VCRSSigmaFor(a[ref], sums.rest);
    }
    implied = sigma - sums.rest;
    lost    = VCRSModulus(sigma - kept);
    if (!(lost <= rounding)) guard = PETSC_TRUE;
    error = VCRSModulus(implied - a[ref]);
    /* the row sum overflows, or the reference is lost beside other entries */
    if (!(VCRSModulus(implied) <= (double)PETSC_MAX_REAL) || (modulus > 0. && error > VCRS_REFERENCE_SHARE * modulus)) totals->lost++;
    if (modulus > 0. && !(change <= share * modulus)) coarse = PETSC_TRUE;
    totals->bound = PetscMax(totals->bound, VCRSReferenceBound(step, implied, a[ref], error, sums.largest));
    sums.error2 += (error * step->unit) * (error * step->unit);
    if (wide) coarse = (PetscBool)(coarse || sums.error > share * VCRSRowSize(step, row, len, cols, a, sums.largest));
    sums.error         = PetscMax(sums.error, error);
    w[ahead ? 0 : ref] = implied;
    if (b->ownj) b->ownj[p] = cols[ref];
    if (b->sigma) b->sigma[row] = sigma;
  } else {
    lost = VCRSModulus(sums.rest - VCRSExactSumGet(&sums.exact));
    if (wide) coarse = (PetscBool)(sums.error > share * VCRSRowSize(step, row, len, cols, a, sums.largest));
    if (b->sigma) b->sigma[row] = 0.;
  }
  totals->error2 += sums.error2;
  totals->norm2 += sums.square;
  if (guard) totals->guarded++;
  if (coarse) totals->coarse++;
  if (sums.error > totals->maxabs) totals->maxabs = sums.error;
  if (sums.largest > 0.) {
    totals->maxrow   = PetscMax(totals->maxrow, sums.error / sums.largest);
    totals->sumerror = PetscMax(totals->sumerror, lost / sums.sum);
  }
}

/* ------------------------------------------------------------------ loss.c */

PETSC_INTERN PetscErrorCode VCRSStepSetUp(const VCRSOptions *, const VCRSSurvey *, LitheLogScale **, VCRSStep *);
PETSC_INTERN void           VCRSLossReport(const VCRSStep *, const VCRSLossTotals *, VCRSReport *);
