/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products on the host with vectors in single precision, y = A x or y += A x, for a KSP that iterates with them. A
   complex number is two. Sums are in double precision: with sums in single precision conjugate gradients need up to a
   tenth more iterations.

   Runs of rows with one index set are shifted pieces of x, as in sets.c. Slices of L3 go lane by lane.
*/

#include "runs.h"

#define ROWS  512 /* longest run of L0 processed at once */
#define PARTS VCRS_COMPONENTS

/* The entries of rows in a run: the same for all rows, or by lanes, entry k of row r at 32 k + r */
typedef enum {
  ENTRIES_SAME,  /* PetscScalar */
  ENTRIES_WHOLE, /* by lanes, PetscScalar */
  ENTRIES_SINGLE /* by lanes, single precision */
} Entries;

#if defined(__has_builtin) && PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_COMPLEX)
  #if __has_builtin(__builtin_convertvector)
    #define LANES 8

/* Eight lanes at any address, as the columns of a run have */
typedef float  Lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef double Sums __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

    #define Load(x) __builtin_convertvector(*(const Lanes *)(x), Sums)

/*
   y[r] += sum_{k<nk} a_k (x[r + offset[k]] - ref[r]) for r < count, 8 <= count <= 32. blocks = ceil(count / 8), kind,
   and whether ref is NULL must be constants. The last block may overlap the one before; only its new part is kept
*/
static LITHE_ALWAYS_INLINE void AddBlocks(const int blocks, const Entries kind, PetscInt nk, PetscInt count, const void *a, const float *x,
                                          const PetscInt offset[], const float *ref, float *y)
{
  const PetscInt last = count - LANES, before = LANES * (blocks - 1);
  Sums           sum[4] = {{0}, {0}, {0}, {0}}, from[4] = {{0}, {0}, {0}, {0}};
  Lanes          rounded;

  if (ref) {
    LITHE_UNROLL
    for (int b = 0; b < blocks; b++) from[b] = Load(ref + (b < blocks - 1 ? LANES * b : last));
  }
  for (PetscInt k = 0; k < nk; k++) {
    const float *xk = x + offset[k];

    LITHE_UNROLL
    for (int b = 0; b < blocks; b++) {
      const PetscInt r = b < blocks - 1 ? LANES * b : last;
      Sums           d = Load(xk + r);

      if (ref) d -= from[b];
      if (kind == ENTRIES_SAME) sum[b] += ((const double *)a)[k] * d;
      else if (kind == ENTRIES_WHOLE) sum[b] += *(const Sums *)((const double *)a + VCRS_SLICE * k + r) * d;
      else sum[b] += Load((const float *)a + VCRS_SLICE * k + r) * d;
    }
  }
  LITHE_UNROLL
  for (int b = 0; b < blocks; b++) {
    if (b == blocks - 1 && last != before) break;
    rounded                   = __builtin_convertvector(Load(y + LANES * b) + sum[b], Lanes);
    *(Lanes *)(y + LANES * b) = rounded;
  }
  if (last != before) {
    for (PetscInt r = before; r < count; r++) y[r] = (float)((double)y[r] + sum[blocks - 1][r - last]);
  }
}
  #endif
#endif

/* sum[] += a (x - ref) of numbers in double precision */
static LITHE_ALWAYS_INLINE void AddProduct(const double a[], const float *x, const float *ref, double sum[])
{
#if PetscDefined(USE_COMPLEX)
  const double xr = (double)x[0] - (ref ? (double)ref[0] : 0), xi = (double)x[1] - (ref ? (double)ref[1] : 0);

  sum[0] += a[0] * xr - a[1] * xi;
  sum[1] += a[0] * xi + a[1] * xr;
#else
  sum[0] += a[0] * ((double)x[0] - (ref ? (double)ref[0] : 0));
#endif
}

/* The same for one row, in four independent partial sums */
static LITHE_ALWAYS_INLINE void AddRow(const Entries kind, PetscInt nk, const void *a, const float *x, const PetscInt offset[], const float *ref, double sum[])
{
  const PetscInt stride         = PARTS * (kind == ENTRIES_SAME ? 1 : VCRS_SLICE);
  double         part[4][PARTS] = {{0}};

  for (PetscInt k = 0; k < nk; k += 4) {
    LITHE_UNROLL
    for (int u = 0; u < 4; u++) {
      double ak[PARTS];

      if (k + u >= nk) break;
      for (int c = 0; c < PARTS; c++)
        ak[c] = kind == ENTRIES_SINGLE ? (double)((const float *)a)[stride * (k + u) + c] : (double)((const PetscReal *)a)[stride * (k + u) + c];
      AddProduct(ak, x + PARTS * offset[k + u], ref, part[u]);
    }
  }
  for (int c = 0; c < PARTS; c++) sum[c] += (part[0][c] + part[1][c]) + (part[2][c] + part[3][c]);
}

/* The same for at most 32 rows; kind and whether ref is NULL must be constants */
static LITHE_ALWAYS_INLINE void AddPiece(const Entries kind, PetscInt nk, PetscInt count, const void *a, const float *x, const PetscInt offset[],
                                         const float *ref, float *y)
{
  const size_t width = kind == ENTRIES_SINGLE ? sizeof(float) : sizeof(PetscReal);

#if defined(LANES)
  #define BLOCKS_CASE(blocks)                                 \
  case blocks:                                                \
    AddBlocks(blocks, kind, nk, count, a, x, offset, ref, y); \
    return
  if (count >= LANES) {
    switch ((count + LANES - 1) / LANES) {
      BLOCKS_CASE(1);
      BLOCKS_CASE(2);
      BLOCKS_CASE(3);
      BLOCKS_CASE(4);
    }
  }
  #undef BLOCKS_CASE
#endif
  for (PetscInt r = 0; r < count; r++) {
    double sum[PARTS] = {0};

    AddRow(kind, nk, kind == ENTRIES_SAME ? a : (const char *)a + PARTS * (size_t)r * width, x + PARTS * r, offset, ref ? ref + PARTS * r : NULL, sum);
    for (int c = 0; c < PARTS; c++) y[PARTS * r + c] = (float)((double)y[PARTS * r + c] + sum[c]);
  }
}

/* y[] = y[] + sigma ref + sum[] */
static LITHE_ALWAYS_INLINE void EndRow(PetscScalar sigma, const float *ref, double sum[], float *y)
{
  const double s[2] = {(double)PetscRealPart(sigma), (double)PetscImaginaryPart(sigma)};

  if (ref) AddProduct(s, ref, NULL, sum);
  for (int c = 0; c < PARTS; c++) y[c] = (float)((double)y[c] + sum[c]);
}

/* y[r] += sigma[r] ref[r] */
static LITHE_ALWAYS_INLINE void AddSigma(PetscInt count, const PetscScalar sigma[], const float *ref, float *y)
{
  for (PetscInt r = 0; r < count; r++) {
    double sum[PARTS] = {0};

    EndRow(sigma[r], ref + PARTS * r, sum, y + PARTS * r);
  }
}

/* L0. y already has the initial values of sums if they are to be added */
static LITHE_TARGET_CLONES void MultPairs(const VCRSPlan *plan, const PetscBool add, const float *x, float *y)
{
  const PetscInt first = plan->difference ? 1 : 0;
  PetscScalar    sigma[ROWS];

  for (PetscInt r = 0, end; r < plan->m; r = end) {
    const PetscInt     set = VCRSGetId(plan, r), nk = plan->sets.ptr[set + 1] - plan->sets.ptr[set] - first;
    const PetscInt    *offset = plan->sets.offset + plan->sets.ptr[set];
    const PetscScalar *a      = plan->sets.value + plan->sets.ptr[set] + first;
    const float       *xr = x + PARTS * r, *ref = NULL;
    float             *yr = y + PARTS * r;

    end = VCRSRunEnd(plan, r, PetscMin(plan->m, r + ROWS));
    if (!add) memset(yr, 0, (size_t)(PARTS * (end - r)) * sizeof(*yr));
    if (nk < 0) continue;
    if (plan->difference) ref = xr + PARTS * offset[0];
    if (ref && VCRSGetSigma(plan, r, end - r, sigma)) AddSigma(end - r, sigma, ref, yr);
    for (PetscInt q = 0, n; q < end - r; q += n) {
      n = PetscMin(VCRS_SLICE, end - r - q);
      if (ref) AddPiece(ENTRIES_SAME, nk, n, a, xr + PARTS * q, offset + 1, ref + PARTS * q, yr + PARTS * q);
      else AddPiece(ENTRIES_SAME, nk, n, a, xr + PARTS * q, offset, NULL, yr + PARTS * q);
    }
  }
}

/* A run of a slice, if only this once */
static LITHE_ALWAYS_INLINE void AddLanes(const PetscBool single, PetscInt nk, PetscInt count, const void *a, const float *x, const PetscInt offset[],
                                         const float *ref, float *y)
{
  if (single && ref) AddPiece(ENTRIES_SINGLE, nk, count, a, x, offset, ref, y);
  else if (single) AddPiece(ENTRIES_SINGLE, nk, count, a, x, offset, NULL, y);
  else if (ref) AddPiece(ENTRIES_WHOLE, nk, count, a, x, offset, ref, y);
  else AddPiece(ENTRIES_WHOLE, nk, count, a, x, offset, NULL, y);
}

/* L1 and L2: single: entries are stored in single precision, and a batch is a whole slice; a constant */
static LITHE_ALWAYS_INLINE void MultSlices(const PetscBool single, const VCRSPlan *plan, const PetscBool add, const float *x, float *y)
{
  const PetscInt  first = plan->difference ? 1 : 0;
  const PetscBool fixed = (PetscBool)(plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16);
  PetscReal       scale[PARTS * VCRS_SLICE];
  PetscScalar     buffer[VCRS_BATCH * VCRS_SLICE], sigma[VCRS_SLICE];
  double          own[VCRS_SLICE][PARTS] = {{0}}; /* sums of runs from nside on */
  CommonSet       common                 = {.set = -1};
  SliceRuns       runs;

  for (PetscInt s = 0; s < plan->slices.n; s++) {
    const PetscInt row = VCRS_SLICE * s, rows = PetscMin(VCRS_SLICE, plan->m - row);
    const PetscInt width = (PetscInt)((plan->slices.ptr[s + 1] - plan->slices.ptr[s]) / VCRS_SLICE), step = single ? width : VCRS_BATCH;
    const float   *xs     = x + PARTS * row;
    float         *ys     = y + PARTS * row;
    PetscBool      normal = PETSC_TRUE, sums = PETSC_FALSE;
    PetscInt       lane[VCRS_SLICE];

    if (rows < VCRS_SLICE || !FindCommonSet(plan, row, &common, &runs)) FindRuns(plan, row, rows, &runs);
    if (fixed) {
      int16_t exponent[VCRS_SLICE] = {0};

      memcpy(exponent, plan->decoding.exponent + row, (size_t)rows * sizeof(*exponent));
      normal = VCRSScaleExponents(exponent, scale);
      for (PetscInt l = 0; l < VCRS_SLICE; l++) lane[l] = row + l;
    }
    if (!add) memset(ys, 0, (size_t)(PARTS * rows) * sizeof(*ys));
    if (plan->difference) sums = VCRSGetSigma(plan, row, rows, sigma);
    for (PetscInt i = runs.nside; i < runs.nruns; i++) {
      for (int c = 0; c < PARTS; c++) own[i][c] = (double)ys[PARTS * runs.run[i].first + c];
    }
    for (PetscInt i = 0; sums && i < runs.nruns; i++) {
      const VCRSRun  run  = runs.run[i];
      const PetscInt p    = plan->sets.ptr[run.set];
      const double   t[2] = {(double)PetscRealPart(sigma[run.first]), (double)PetscImaginaryPart(sigma[run.first])};

      if (plan->sets.ptr[run.set + 1] == p) continue;
      if (i < runs.nside) AddSigma(run.count, sigma + run.first, xs + PARTS * (run.first + plan->sets.offset[p]), ys + PARTS * run.first);
      else AddProduct(t, xs + PARTS * (run.first + plan->sets.offset[p]), NULL, own[i]);
    }
    for (PetscInt k = 0; k < width; k += step) {
      const PetscInt   batch    = PetscMin(step, width - k);
      const PetscInt64 position = plan->slices.ptr[s] + VCRS_SLICE * k;
      const size_t     bytes    = PARTS * (single ? sizeof(float) : sizeof(PetscReal));
      const char      *a;

      if (single) a = (const char *)plan->slices.value + (size_t)position * bytes;
      else a = (const char *)VCRSDecode(plan, position, VCRS_SLICE * batch, lane, scale, normal, buffer);
      for (PetscInt i = 0; i < runs.nruns; i++) {
        const PetscInt  l = runs.run[i].first, set = runs.run[i].set;
        const PetscInt  nk     = PetscMin(batch, plan->sets.ptr[set + 1] - plan->sets.ptr[set] - first - k);
        const PetscInt *offset = plan->sets.offset + plan->sets.ptr[set], *ok = offset + first + k;
        const float    *xl = xs + PARTS * l, *ref = NULL;
        const char     *al = a + (size_t)l * bytes;

        if (nk <= 0) continue;
        if (plan->difference) ref = xl + PARTS * offset[0];
        if (i < runs.nside) AddLanes(single, nk, runs.run[i].count, al, xl, ok, ref, ys + PARTS * l);
        else AddRow(single ? ENTRIES_SINGLE : ENTRIES_WHOLE, nk, al, xl, ok, ref, own[i]);
      }
    }
    for (PetscInt i = runs.nside; i < runs.nruns; i++) {
      for (int c = 0; c < PARTS; c++) ys[PARTS * runs.run[i].first + c] = (float)own[i][c];
    }
  }
}

static LITHE_TARGET_CLONES void MultSets(const VCRSPlan *plan, PetscBool add, const float *x, float *y)
{
  if (plan->values == VCRS_VALUES_SINGLE) MultSlices(PETSC_TRUE, plan, add, x, y);
  else MultSlices(PETSC_FALSE, plan, add, x, y);
}

/* L3: the lanes of slices; y already has the initial values of sums */
static LITHE_TARGET_CLONES_NARROW void AddSlices(const VCRSPlan *plan, const float *x, float *y)
{
  const PetscInt first = plan->difference ? 1 : 0;
  PetscReal      scale[PARTS * VCRS_SLICE];
  PetscScalar    buffer[VCRS_BATCH * VCRS_SLICE];
  PetscInt       row[VCRS_SLICE], column[VCRS_BATCH * VCRS_SLICE];

  for (PetscInt s = 0; s < plan->slices.n; s++) {
    const uint8_t *length                 = plan->lanes.length + VCRS_SLICE * s;
    double         sum[VCRS_SLICE][PARTS] = {{0}};
    float          ref[VCRS_SLICE][PARTS] = {{0}};
    PetscInt       longest                = 0;
    PetscBool      normal                 = PETSC_TRUE;

    VCRSLaneRows(plan, s, row);
    for (PetscInt l = 0; l < VCRS_SLICE; l++) longest = PetscMax(longest, (PetscInt)length[l]);
    if (plan->decoding.exponent) normal = VCRSScale(plan, row, scale);
    if (plan->difference && longest) {
      VCRSDecodeColumns(plan, s, 0, 1, column);
      for (PetscInt l = 0; l < VCRS_SLICE; l++) {
        if (length[l]) memcpy(ref[l], x + PARTS * column[l], sizeof(ref[l]));
      }
    }
    for (PetscInt k = first, n; k < longest; k += n) {
      const PetscScalar *a;

      n = PetscMin(VCRS_BATCH, longest - k);
      a = VCRSDecode(plan, plan->slices.ptr[s] + VCRS_SLICE * (k - first), VCRS_SLICE * n, row, scale, normal, buffer);
      VCRSDecodeColumns(plan, s, k, n, column);
      for (PetscInt p = 0; p < VCRS_SLICE * n; p++) {
        const PetscInt l     = p % VCRS_SLICE;
        const double   ap[2] = {(double)PetscRealPart(a[p]), (double)PetscImaginaryPart(a[p])};

        if (k + p / VCRS_SLICE < length[l]) AddProduct(ap, x + PARTS * column[p], ref[l], sum[l]);
      }
    }
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      PetscScalar sigma = 0;

      if (row[l] >= plan->m || !length[l]) continue;
      if (plan->difference) (void)VCRSGetSigma(plan, row[l], 1, &sigma);
      EndRow(sigma, plan->difference ? ref[l] : NULL, sum[l], y + PARTS * row[l]);
    }
  }
}

/* L3: rows that are too long for a slice, and plain rows */
static void AddLong(const VCRSPlan *plan, const float *x, float *y)
{
  const PetscInt first = plan->difference ? 1 : 0;

  for (PetscInt q = 0; q < plan->longrows.n; q++) {
    const PetscInt   row = VCRSLongRow(plan, q), n = VCRSLongLength(plan, q);
    const PetscInt64 begin      = VCRSLongBegin(plan, q);
    double           sum[PARTS] = {0};
    const float     *ref        = NULL;
    PetscScalar      sigma      = 0;

    if (!n) continue;
    if (plan->difference) ref = x + PARTS * VCRSLongColumn(plan, q, begin);
    for (PetscInt64 p = begin + first; p < begin + n; p++) {
      const PetscScalar a     = VCRSDecodeEntry(plan, plan->longrows.value + p, row);
      const double      ap[2] = {(double)PetscRealPart(a), (double)PetscImaginaryPart(a)};

      AddProduct(ap, x + PARTS * VCRSLongColumn(plan, q, p), ref, sum);
    }
    if (ref) (void)VCRSGetSigma(plan, row, 1, &sigma);
    EndRow(sigma, ref, sum, y + PARTS * row);
  }
}

PetscBool VCRSPlanHasSingle(const VCRSPlan *plan)
{
  return (PetscBool)(plan->layout != MATVCRS_LAYOUT_LITERAL);
}

PetscErrorCode VCRSPlanMultSingle(const VCRSPlan *plan, PetscBool add, const float x[], float y[])
{
  PetscFunctionBegin;
  PetscAssert(VCRSPlanHasSingle(plan), PETSC_COMM_SELF, PETSC_ERR_PLIB, "There is no product in single precision for layout %d", (int)plan->layout);
  if (plan->layout == MATVCRS_LAYOUT_L0) MultPairs(plan, add, x, y);
  else if (plan->layout != MATVCRS_LAYOUT_L3) MultSets(plan, add, x, y);
  else {
    if (!add) PetscCall(PetscArrayzero(y, PARTS * plan->m));
    if (!plan->plainrows) AddSlices(plan, x, y);
    AddLong(plan, x, y);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
