/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with index sets on the host, y = A x (+ add): layouts L0, L1 and L2.

   Consecutive rows with the same index set have neighbouring columns, too: entry k of rows r, r+1, ... multiplies x[r
   + offset_k], x[r+1 + offset_k], ... L0, L1 and L2 therefore treat such a run as the sum of a few shifted pieces of
   x. The loop vectorises and needs no index.
*/

#include "runs.h"

#define STREAM_GROUP 8   /* entries of a run summed in registers before y is accessed */
#define STREAM_ROWS  512 /* longest run processed at once: its piece of y stays in the first-level cache */
#define STREAM_SHORT 4   /* runs of fewer rows are treated row by row */
#define STREAM_RUNS  16  /* runs of a slice; with more runs the slice may be summed lane by lane */

/*
   y[r] = base[r] + sum_{k<nk} a_k (x[r + offset[k]] - ref[r]) for rows r < count of a run. a_k is a[k], or with lanes
   a[32 k + r]. base may be y, or NULL for zero; ref is NULL unless in the difference form. nk, lanes, and the choice of
   NULL pointers must be constants in each call: the function becomes one loop.
*/
static LITHE_ALWAYS_INLINE void StreamGroup(const int nk, const PetscBool lanes, PetscInt count, const PetscScalar a[], const PetscScalar *x,
                                            const PetscInt offset[], const PetscScalar *ref, const PetscScalar *base, PetscScalar *y)
{
#if PetscDefined(USE_COMPLEX)
  const PetscReal *xk[STREAM_GROUP], *ak[STREAM_GROUP];
  const PetscReal *xref = (const PetscReal *)ref, *from = (const PetscReal *)base;
  PetscReal       *to = (PetscReal *)y;

  LITHE_UNROLL
  for (int k = 0; k < nk; k++) {
    xk[k] = (const PetscReal *)(x + offset[k]);
    ak[k] = (const PetscReal *)(a + (lanes ? VCRS_SLICE * k : k));
  }
  LITHE_INDEPENDENT
  for (PetscInt r = 0; r < count; r++) {
    PetscReal sr = from ? from[2 * r] : 0, si = from ? from[2 * r + 1] : 0;

    LITHE_UNROLL
    for (int k = 0; k < nk; k++) {
      const PetscReal ar = ak[k][lanes ? 2 * r : 0], ai = ak[k][lanes ? 2 * r + 1 : 1];
      const PetscReal xr = xk[k][2 * r] - (ref ? xref[2 * r] : 0), xi = xk[k][2 * r + 1] - (ref ? xref[2 * r + 1] : 0);

      sr += ar * xr - ai * xi;
      si += ar * xi + ai * xr;
    }
    to[2 * r]     = sr;
    to[2 * r + 1] = si;
  }
#else
  const PetscScalar *xk[STREAM_GROUP], *ak[STREAM_GROUP];

  LITHE_UNROLL
  for (int k = 0; k < nk; k++) {
    xk[k] = x + offset[k];
    ak[k] = a + (lanes ? VCRS_SLICE * k : k);
  }
  LITHE_INDEPENDENT
  for (PetscInt r = 0; r < count; r++) {
    PetscScalar s = base ? base[r] : 0;

    LITHE_UNROLL
    for (int k = 0; k < nk; k++) s += ak[k][lanes ? r : 0] * (xk[k][r] - (ref ? ref[r] : 0));
    y[r] = s;
  }
#endif
}

/* The same for any nk > 0, in groups, of a run of L0. base may be NULL only without ref */
static LITHE_ALWAYS_INLINE void Stream(PetscInt nk, PetscInt count, const PetscScalar a[], const PetscScalar *x, const PetscInt offset[],
                                       const PetscScalar *ref, const PetscScalar *base, PetscScalar *y)
{
  for (PetscInt k = 0; k < nk; k += STREAM_GROUP, base = y) {
    const PetscScalar *ak    = a + k;
    const PetscInt    *ok    = offset + k;
    const int          group = (int)PetscMin(nk - k, STREAM_GROUP);

#define STREAM_CASE(g)                                                           \
  case g:                                                                        \
    if (ref) StreamGroup(g, PETSC_FALSE, count, ak, x, ok, ref, base, y);        \
    else if (base) StreamGroup(g, PETSC_FALSE, count, ak, x, ok, NULL, base, y); \
    else StreamGroup(g, PETSC_FALSE, count, ak, x, ok, NULL, NULL, y);           \
    break
    switch (group) {
      STREAM_CASE(1);
      STREAM_CASE(2);
      STREAM_CASE(3);
      STREAM_CASE(4);
      STREAM_CASE(5);
      STREAM_CASE(6);
      STREAM_CASE(7);
      STREAM_CASE(8);
    }
#undef STREAM_CASE
  }
}

#if defined(__GNUC__) && !PetscDefined(USE_COMPLEX) && (PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_REAL_SINGLE))
  #define VECTOR_LANES 8

/* Eight lanes at any address, as the columns of a run have */
typedef PetscReal Vector __attribute__((vector_size(VECTOR_LANES * sizeof(PetscReal)), aligned(sizeof(PetscReal)), may_alias));

/*
   y[r] += sum_{k<nk} a[32 k + r] (x[r + offset[k]] - ref[r]) for r < count, 8 <= count <= 32. The sums stay in
   registers, and a is read in the order of storage. nblocks = ceil(count/8) and whether ref is NULL must be constants.
   The last block may overlap the block before; only its new part is kept.
*/
static LITHE_ALWAYS_INLINE void StreamSlice(const int nblocks, PetscInt nk, PetscInt count, const PetscScalar a[], const PetscScalar *x,
                                            const PetscInt offset[], const PetscScalar *ref, PetscScalar *y)
{
  const PetscInt last = count - VECTOR_LANES, before = VECTOR_LANES * (nblocks - 1);
  Vector         sum[4] = {{0}, {0}, {0}, {0}}, from[4] = {{0}, {0}, {0}, {0}};
  PetscScalar    tail[VECTOR_LANES];

  if (ref) {
    LITHE_UNROLL
    for (int b = 0; b < nblocks; b++) from[b] = *(const Vector *)(ref + (b < nblocks - 1 ? VECTOR_LANES * b : last));
  }
  for (PetscInt k = 0; k < nk; k++) {
    const PetscScalar *ak = a + VCRS_SLICE * k, *xk = x + offset[k];

    LITHE_UNROLL
    for (int b = 0; b < nblocks; b++) {
      const PetscInt r = b < nblocks - 1 ? VECTOR_LANES * b : last;

      if (ref) sum[b] += *(const Vector *)(ak + r) * (*(const Vector *)(xk + r) - from[b]);
      else sum[b] += *(const Vector *)(ak + r) * *(const Vector *)(xk + r);
    }
  }
  LITHE_UNROLL
  for (int b = 0; b < nblocks - 1; b++) *(Vector *)(y + VECTOR_LANES * b) += sum[b];
  if (last == before) *(Vector *)(y + last) += sum[nblocks - 1];
  else {
    memcpy(tail, &sum[nblocks - 1], sizeof(tail));
    for (PetscInt r = before; r < count; r++) y[r] += tail[r - last];
  }
}
#endif

/*
   y[r] += sum_{k<nk} a[32 k + r] (x[r + offset[k]] - ref[r]) for a run of a slice; ref is NULL unless in the difference
   form
*/
static LITHE_ALWAYS_INLINE void StreamLanes(PetscInt nk, PetscInt count, const PetscScalar a[], const PetscScalar *x, const PetscInt offset[],
                                            const PetscScalar *ref, PetscScalar *y)
{
#if defined(VECTOR_LANES)
  #define STREAM_CASE(nblocks)                                      \
  case nblocks:                                                     \
    if (ref) StreamSlice(nblocks, nk, count, a, x, offset, ref, y); \
    else StreamSlice(nblocks, nk, count, a, x, offset, NULL, y);    \
    return
  if (count >= VECTOR_LANES) {
    switch ((count + VECTOR_LANES - 1) / VECTOR_LANES) {
      STREAM_CASE(1);
      STREAM_CASE(2);
      STREAM_CASE(3);
      STREAM_CASE(4);
    }
  }
  #undef STREAM_CASE
#else
  if (count >= STREAM_SHORT) {
    for (PetscInt k = 0; k < nk; k++) {
      if (ref) StreamGroup(1, PETSC_TRUE, count, a + VCRS_SLICE * k, x, offset + k, ref, y, y);
      else StreamGroup(1, PETSC_TRUE, count, a + VCRS_SLICE * k, x, offset + k, NULL, y, y);
    }
    return;
  }
#endif
  for (PetscInt r = 0; r < count; r++) y[r] += VCRSDot(nk, a + r, VCRS_SLICE, offset, 1, x + r, ref ? ref[r] : 0);
}

/* y[r] += sigma[r] ref[r] */
static LITHE_ALWAYS_INLINE void AddSigma(PetscInt count, const PetscScalar sigma[], const PetscScalar *ref, PetscScalar *y)
{
  for (PetscInt r = 0; r < count; r++) y[r] = VCRSAddProduct(y[r], sigma[r], ref[r], 0);
}

static LITHE_TARGET_CLONES void Mult_L0(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt first = plan->difference ? 1 : 0;
  PetscScalar    sigma[STREAM_ROWS];

  for (PetscInt r = 0, end; r < plan->m; r = end) {
    const PetscInt     set    = VCRSGetId(plan, r);
    const PetscInt     length = plan->sets.ptr[set + 1] - plan->sets.ptr[set], nk = length - first;
    const PetscInt    *offset = plan->sets.offset + plan->sets.ptr[set];
    const PetscScalar *a      = plan->sets.value + plan->sets.ptr[set] + first;
    PetscBool          sums   = PETSC_FALSE;
    PetscInt           count;

    end   = VCRSRunEnd(plan, r, PetscMin(plan->m, r + STREAM_ROWS));
    count = end - r;
    if (plan->difference && length > 0) sums = VCRSGetSigma(plan, r, count, sigma);
    for (PetscInt c = 0; c < v->nrhs; c++) {
      const PetscScalar *x = v->x + c * v->ldx + r, *add = v->add ? v->add + c * v->ldadd + r : NULL;
      PetscScalar       *y = v->y + c * v->ldy + r;

      if (plan->difference || nk <= 0) {
        VCRSBegin(count, add, y);
        if (sums) AddSigma(count, sigma, x + offset[0], y);
        if (nk > 0) Stream(nk, count, a, x, offset + 1, x + offset[0], y, y);
      } else if (count >= STREAM_SHORT) {
        Stream(nk, count, a, x, offset, NULL, add, y);
      } else {
        for (PetscInt l = 0; l < count; l++) y[l] = (add ? add[l] : 0) + VCRSDot(nk, a, 1, offset, 1, x + l, 0);
      }
    }
  }
}

/* Whether the rows of a slice whose longest has width entries are better summed lane by lane: the slice has many runs,
   and rows are not much shorter than width */
static LITHE_ALWAYS_INLINE PetscBool RunsAreShort(const VCRSPlan *plan, PetscInt width, const SliceRuns *runs)
{
  PetscInt entries = 0;

  if (runs->nruns <= STREAM_RUNS) return PETSC_FALSE;
  for (PetscInt i = 0; i < runs->nruns; i++) entries += runs->run[i].count * (plan->sets.ptr[runs->run[i].set + 1] - plan->sets.ptr[runs->run[i].set]);
  return (PetscBool)(entries > 20 * width + 64);
}

/* y = (add +) a x, entry by entry; a of single or of full precision */
static LITHE_TARGET_CLONES void ScaleEntries(PetscInt n, PetscBool single, const void *values, const PetscScalar x[], const PetscScalar *add, PetscScalar y[])
{
  const float       *f = (const float *)values;
  const PetscScalar *a = (const PetscScalar *)values;

  if (single && add) {
    for (PetscInt r = 0; r < n; r++) y[r] = add[r] + (PetscScalar)f[r] * x[r];
  } else if (single) {
    for (PetscInt r = 0; r < n; r++) y[r] = (PetscScalar)f[r] * x[r];
  } else if (add) {
    for (PetscInt r = 0; r < n; r++) y[r] = add[r] + a[r] * x[r];
  } else {
    for (PetscInt r = 0; r < n; r++) y[r] = a[r] * x[r];
  }
}

/*
   Real diagonal matrices, such as the pivots of factors: entries are contiguous. PETSC_FALSE: the matrix is not
   diagonal
*/
static PetscBool Mult_Diagonal(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscBool single = (PetscBool)(plan->values == VCRS_VALUES_SINGLE);

  if (PetscDefined(USE_COMPLEX) || plan->difference || plan->sets.n != 1 || plan->sets.ptr[1] != 1 || plan->sets.offset[0]) return PETSC_FALSE;
  if (!single && plan->values != VCRS_VALUES_FULL) return PETSC_FALSE;
  for (PetscInt c = 0; c < v->nrhs; c++)
    ScaleEntries(plan->m, single, plan->slices.value, v->x + c * v->ldx, v->add ? v->add + c * v->ldadd : NULL, v->y + c * v->ldy);
  return PETSC_TRUE;
}

/* L1 and L2: the rows of a slice in runs of one index set */
static LITHE_TARGET_CLONES void Mult_Sets(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt  first = plan->difference ? 1 : 0;
  const PetscBool fixed = (PetscBool)(plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16);
  PetscReal       scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscScalar     buffer[VCRS_BATCH * VCRS_SLICE], sigma[VCRS_SLICE], own[VCRS_SLICE] = {0}; /* own: sums of runs from nside on */
  CommonSet       common = {.set = -1};
  SliceRuns       runs;

  for (PetscInt s = 0; s < plan->slices.n; s++) {
    const PetscInt row = VCRS_SLICE * s, rows = PetscMin(VCRS_SLICE, plan->m - row);
    const PetscInt width  = (PetscInt)((plan->slices.ptr[s + 1] - plan->slices.ptr[s]) / VCRS_SLICE);
    PetscBool      normal = PETSC_TRUE, sums = PETSC_FALSE;
    PetscInt       lane[VCRS_SLICE];

    /* Data common to the whole slice */
    if (rows < VCRS_SLICE || v->nrhs > 1 || !FindCommonSet(plan, row, &common, &runs)) {
      FindRuns(plan, row, rows, &runs);
      if (RunsAreShort(plan, width, &runs) && VCRSPlanMultSetSlice_Private(plan, v, s)) continue;
    }
    if (fixed) {
      int16_t exponent[VCRS_SLICE] = {0};

      memcpy(exponent, plan->decoding.exponent + row, (size_t)rows * sizeof(*exponent));
      normal = VCRSScaleExponents(exponent, scale);
      for (PetscInt l = 0; l < VCRS_SLICE; l++) lane[l] = row + l;
    }
    if (plan->difference) sums = VCRSGetSigma(plan, row, rows, sigma);

    /* The initial values of the sums */
    for (PetscInt c = 0; c < v->nrhs; c++) {
      const PetscScalar *x = v->x + c * v->ldx + row;
      PetscScalar       *y = v->y + c * v->ldy + row;

      VCRSBegin(rows, v->add ? v->add + c * v->ldadd + row : NULL, y);
      for (PetscInt i = runs.nside; i < runs.nruns; i++) own[i] = y[runs.run[i].first];
      for (PetscInt i = 0; sums && i < runs.nruns; i++) {
        const VCRSRun  run = runs.run[i];
        const PetscInt p   = plan->sets.ptr[run.set];

        if (plan->sets.ptr[run.set + 1] > p)
          AddSigma(run.count, sigma + run.first, x + run.first + plan->sets.offset[p], i < runs.nside ? y + run.first : &own[i]);
      }
    }

    /* The entries, batch by batch */
    for (PetscInt k = 0; k < width; k += VCRS_BATCH) {
      const PetscInt     batch = PetscMin(VCRS_BATCH, width - k);
      const PetscScalar *a     = VCRSDecode(plan, plan->slices.ptr[s] + VCRS_SLICE * k, VCRS_SLICE * batch, lane, scale, normal, buffer);

      for (PetscInt i = 0; i < runs.nruns; i++) {
        const PetscInt  l = runs.run[i].first, count = runs.run[i].count;
        const PetscInt  nk     = PetscMin(batch, plan->sets.ptr[runs.run[i].set + 1] - plan->sets.ptr[runs.run[i].set] - first - k);
        const PetscInt *offset = plan->sets.offset + plan->sets.ptr[runs.run[i].set];
        const PetscInt *ok     = offset + first + k;

        if (nk <= 0) continue;
        for (PetscInt c = 0; c < v->nrhs; c++) {
          const PetscScalar *x = v->x + c * v->ldx + row + l;
          PetscScalar       *y = v->y + c * v->ldy + row + l;

          if (i < runs.nside) StreamLanes(nk, count, a + l, x, ok, plan->difference ? x + offset[0] : NULL, y);
          else own[i] += VCRSDot(nk, a + l, VCRS_SLICE, ok, 1, x, plan->difference ? x[offset[0]] : 0);
        }
      }
    }
    for (PetscInt i = runs.nside; i < runs.nruns; i++) v->y[row + runs.run[i].first] = own[i];
  }
}

/* y = A x (+ add) of L0, L1 and L2 */
void VCRSPlanMultSets_Private(const VCRSPlan *plan, const VCRSOperands *v)
{
  if (plan->layout == MATVCRS_LAYOUT_L0) Mult_L0(plan, v);
  else if (!Mult_Diagonal(plan, v)) Mult_Sets(plan, v);
}

/* The runs of L0, L1 and L2, for VCRSPlanHostCost(); none are counted where the ids are not on the host */
VCRSRunCounts VCRSPlanCountRuns_Private(const VCRSPlan *plan)
{
  CommonSet     common = {.set = -1};
  VCRSRunCounts counts = {0, 0, 0};
  SliceRuns     runs;

  if (!plan->sets.id) return counts;
  if (plan->layout == MATVCRS_LAYOUT_L0) {
    for (PetscInt r = 0, end; r < plan->m; r = end) {
      end = VCRSRunEnd(plan, r, PetscMin(plan->m, r + STREAM_ROWS));
      counts.n++;
      if (end - r < STREAM_SHORT) counts.nshort += end - r;
    }
    return counts;
  }
  for (PetscInt r = 0; r < plan->m; r += VCRS_SLICE) {
    if (r + VCRS_SLICE > plan->m || !FindCommonSet(plan, r, &common, &runs)) {
      FindRuns(plan, r, PetscMin(VCRS_SLICE, plan->m - r), &runs);
      counts.n += runs.nruns;
    } else counts.nside += runs.nruns - runs.nside;
  }
  return counts;
}
