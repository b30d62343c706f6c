/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with slices on the host, y = A x (+ add): slices of layout L3, and slices of L1 and L2 whose index sets
   change from row to row.

   The lanes of a slice are summed in registers, group by group, over the entries common to all lanes of a group.
   Further entries of longer lanes are masked. With one column of x, stored entries and stored places in x are read
   directly. Several columns share a decoded batch.

   x and tables are read by single loads, which are combined in registers. Compilers would use gather instructions,
   which are slower on most processors. Data of rows other than entries are prepared for a window of rows, where they
   are contiguous.
*/

#include "quads.h"

#define SLICE_COLUMNS 4 /* columns of x in one pass over a decoded slice */

static LITHE_ALWAYS_INLINE void BeginWindow(const VCRSPlan *plan, PetscInt w, VCRSHostWindow *window)
{
  const PetscInt first = VCRS_WINDOW * w, n = PetscMin(VCRS_WINDOW, plan->m - first);

  window->first  = first;
  window->whole  = (PetscBool)(n == VCRS_WINDOW);
  window->normal = plan->decoding.exponent ? VCRSPowersOfTwo(n, plan->decoding.exponent + first, window->power) : PETSC_TRUE;
  for (PetscInt r = n; r < VCRS_WINDOW; r++) window->power[r] = 1; /* of padding lanes */
  window->sigma = NULL;
  if (!plan->difference) return;
  if (plan->sums.kind == VCRS_SIGMA_FULL && window->whole) {
    window->sigma = plan->sums.value + first;

    /* lanes read x in permuted order: no processor can predict the start of the next window's x */
    for (PetscInt r = VCRS_WINDOW; r < 2 * VCRS_WINDOW; r += CACHE_LINE / (PetscInt)sizeof(PetscScalar)) LITHE_PREFETCH(window->sigma + r);
  } else if (VCRSGetSigma(plan, first, n, window->room)) {
    for (PetscInt r = n; r < VCRS_WINDOW; r++) window->room[r] = 0;
    window->sigma = window->room;
  }
}

/* natural[]: 0, 1, ... as far as a window goes */
static LITHE_ALWAYS_INLINE void BeginSlice(const VCRSPlan *plan, PetscInt s, const VCRSHostWindow *window, const uint8_t natural[], VCRSHostSlice *slice)
{
  slice->number = s;
  slice->sorted = plan->lanes.perm ? PETSC_TRUE : PETSC_FALSE;
  slice->length = plan->lanes.length + VCRS_SLICE * s;
  MeasureLanes(slice->sorted, VCRS_SLICE, slice->length, &slice->shortest, &slice->longest);
  slice->row = plan->lanes.perm ? plan->lanes.perm + VCRS_SLICE * s : natural + VCRS_SLICE * (s % VCRS_WINDOW_SLICES);
}

/* The references of the lanes, whose places are given, and the initial values of their sums */
static LITHE_ALWAYS_INLINE void BeginSums(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const PetscInt place[],
                                          const PetscScalar *x, PetscScalar ref[], PetscScalar sum[])
{
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscBool in = (PetscBool)(plan->difference && slice->length[l]);

    ref[l] = in ? x[place[l]] : 0;
    sum[l] = in && window->sigma ? VCRSAddProduct(0, window->sigma[slice->row[l]], ref[l], 0) : 0;
  }
}

/* The same for nc columns of x, batch by batch */
static LITHE_ALWAYS_INLINE void SumBatches(const VCRSPlan *plan, const PetscBool quads, const VCRSHostWindow *window, const VCRSHostSlice *slice, PetscInt nc,
                                           const PetscScalar *x, size_t ldx, PetscScalar sum[][VCRS_SLICE])
{
  const PetscInt first = plan->difference ? 1 : 0;
  PetscScalar    buffer[VCRS_BATCH * VCRS_SLICE], ref[SLICE_COLUMNS][VCRS_SLICE];
  PetscReal      scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscInt       place[VCRS_BATCH * VCRS_SLICE], row[VCRS_SLICE];

  VCRSLaneRows(plan, slice->number, row);
  for (PetscInt l = 0; plan->decoding.exponent && l < VCRS_COMPONENTS * VCRS_SLICE; l++) scale[l] = window->power[slice->row[l / VCRS_COMPONENTS]];
  if (plan->difference && slice->longest) VCRSDecodePlaces(plan, slice->number, 0, 1, place);
  for (PetscInt c = 0; c < nc; c++) BeginSums(plan, window, slice, place, x + c * ldx, ref[c], sum[c]);
  for (PetscInt k = first, n; k < slice->longest; k += n) {
    const PetscScalar *a;

    n = PetscMin(VCRS_BATCH, slice->longest - k);
    a = VCRSDecode(plan, plan->slices.ptr[slice->number] + VCRS_SLICE * (k - first), VCRS_SLICE * n, row, scale, window->normal, buffer);
    VCRSDecodePlaces(plan, slice->number, k, n, place);
    for (PetscInt c = 0; c < nc; c++) {
#if defined(VCRS_QUADS)
      if (quads) {
        const VCRSHostSteps steps = {.first = k, .n = n, .value = a, .place = place};

        for (int q = 0; q < NQUADS; q += NSUMS(VCRS_VALUES_FULL))
          AddGroup(plan, VCRS_VALUES_FULL, PLACES_DECODED, window, slice, &steps, q, x + c * ldx, ref[c], sum[c]);
        continue;
      }
#endif
      for (PetscInt p = 0; p < VCRS_SLICE * n; p++) {
        const PetscInt l = p % VCRS_SLICE;

        if (k + p / VCRS_SLICE < slice->length[l]) sum[c][l] = VCRSAddProduct(sum[c][l], a[p], x[c * ldx + place[p]], ref[c][l]);
      }
    }
  }
}

#if defined(VCRS_QUADS)
/* The sums of a slice for one column of x, if a loop exists for the storage of its entries and places */
static LITHE_ALWAYS_INLINE PetscBool SumEntries(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const PetscScalar *x,
                                                PetscScalar sum[])
{
  const PetscInt   s = slice->number, width = plan->grouped ? (PetscInt)sizeof(uint16_t) : plan->columns.width[s], first = plan->difference ? 1 : 0;
  const PetscInt64 column = VCRSColumnBase(plan, s);
  VCRSHostSteps    steps  = {.first = first, .n = UINT8_MAX};

  if (width > (PetscInt)sizeof(uint32_t) || !window->normal) return PETSC_FALSE;
  steps.value = (const char *)plan->slices.value + (size_t)plan->slices.ptr[s] * VCRSValueBytes(plan->values);
  steps.place = (const char *)plan->columns.offset + (plan->grouped ? VCRS_SLICE * width * column : plan->columns.begin[s]);
  steps.base  = plan->grouped ? NULL : plan->columns.base + column;
  steps.ahead = (PetscInt)PetscMin(X_AHEAD, VCRSColumnBase(plan, plan->slices.n) - 1 - column - slice->longest);
  if (VCRSSumAVX512_Private(plan, window, slice, &steps, width, x, sum)) return PETSC_TRUE;
  if (width == 1) AddStored(plan, PLACES_8, window, slice, &steps, x, sum);
  else if (width == 2) AddStored(plan, PLACES_16, window, slice, &steps, x, sum);
  else AddStored(plan, PLACES_32, window, slice, &steps, x, sum);
  return PETSC_TRUE;
}
#endif

/* y = add + sum for the rows of a slice */
static LITHE_ALWAYS_INLINE void EndSums(const VCRSPlan *plan, const VCRSHostWindow *window, const VCRSHostSlice *slice, const PetscScalar sum[],
                                        const PetscScalar *add, PetscScalar *y)
{
  const uint8_t *row = slice->row;

  y += window->first;
  if (add) add += window->first;
  if (window->whole && !add) {
    for (PetscInt l = 0; l < VCRS_SLICE; l += 8) {
      LITHE_UNROLL
      for (PetscInt u = 0; u < 8; u++) y[row[l + u]] = sum[l + u];
    }
  } else {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      if (window->first + row[l] < plan->m) y[row[l]] = (add ? add[row[l]] : 0) + sum[l];
    }
  }
}

/* Fetches a part of the x of window w: one part with each slice of the window before */
static LITHE_ALWAYS_INLINE void FetchWindow(const VCRSPlan *plan, PetscInt w, PetscInt part, const PetscScalar *x)
{
  const uint16_t    *group = plan->groups.group + plan->groups.ptr[w];
  const PetscScalar *from  = x + VCRS_GROUP * (size_t)plan->groups.first[w];
  const PetscInt     n = plan->groups.ptr[w + 1] - plan->groups.ptr[w], first = n * part / VCRS_WINDOW_SLICES, end = n * (part + 1) / VCRS_WINDOW_SLICES;

  for (PetscInt k = first; k < end; k++) LITHE_PREFETCH(from + VCRS_GROUP * (PetscInt)group[k]);
}

/* quads: sums of quads in registers; a constant */
static LITHE_ALWAYS_INLINE void MultSlices(const VCRSPlan *plan, const PetscBool quads, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
  const PetscScalar *xs  = xwindow ? xwindow : v->x;
  const size_t       ldx = xwindow ? ldxwindow : v->ldx;
  PetscScalar        sum[SLICE_COLUMNS][VCRS_SLICE];
  uint8_t            natural[VCRS_WINDOW];
  VCRSHostWindow     window;
  VCRSHostSlice      slice;

  for (PetscInt r = 0; r < VCRS_WINDOW; r++) natural[r] = (uint8_t)r;
  for (PetscInt s = 0; s < plan->slices.n; s++) {
    if (s % VCRS_WINDOW_SLICES == 0) {
      BeginWindow(plan, s / VCRS_WINDOW_SLICES, &window);
      if (xwindow) VCRSGatherWindow(plan, s / VCRS_WINDOW_SLICES, v->nrhs, v->x, v->ldx, xwindow, ldxwindow);
    }
    if (xwindow && s / VCRS_WINDOW_SLICES + 1 < VCRSWindows(plan)) FetchWindow(plan, s / VCRS_WINDOW_SLICES + 1, s % VCRS_WINDOW_SLICES, v->x);
    BeginSlice(plan, s, &window, natural, &slice);
    for (PetscInt c0 = 0; c0 < v->nrhs; c0 += SLICE_COLUMNS) {
      const PetscInt     nc   = PetscMin(SLICE_COLUMNS, v->nrhs - c0);
      const PetscScalar *x    = xs + c0 * ldx;
      PetscBool          done = PETSC_FALSE;

#if defined(VCRS_QUADS)
      if (quads && v->nrhs == 1) done = SumEntries(plan, &window, &slice, x, sum[0]);
#endif
      if (!done) SumBatches(plan, quads, &window, &slice, nc, x, ldx, sum);
      for (PetscInt c = 0; c < nc; c++) EndSums(plan, &window, &slice, sum[c], v->add ? v->add + (c0 + c) * v->ldadd : NULL, v->y + (c0 + c) * v->ldy);
    }
  }
}

#if defined(VCRS_QUADS)
static QUADS_TARGET void MultSlicesQuads(const VCRSPlan *plan, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
  MultSlices(plan, PETSC_TRUE, v, xwindow, ldxwindow);
}

/* The rows of slice s of L1 or L2, lane by lane; PETSC_FALSE if no loop exists for them */
static QUADS_TARGET PetscBool MultSetSlice(const VCRSPlan *plan, const VCRSOperands *v, PetscInt s)
{
  const PetscInt  row = VCRS_SLICE * s, rows = PetscMin(VCRS_SLICE, plan->m - row);
  const PetscInt *lane[VCRS_SLICE];
  PetscInt        none[VCRS_SLICE]; /* the offsets read by lanes without entries: the offset of x[0] */
  uint8_t         natural[VCRS_SLICE], length[VCRS_SLICE];
  PetscScalar     sum[VCRS_SLICE];
  VCRSHostWindow  window;
  VCRSHostSlice   slice = {.number = s, .sorted = PETSC_FALSE, .length = length, .row = natural};
  VCRSHostSteps   steps = {.first = plan->difference ? 1 : 0, .n = UINT8_MAX, .place = lane};

  window.first  = row;
  window.whole  = (PetscBool)(rows == VCRS_SLICE);
  window.normal = plan->decoding.exponent ? VCRSPowersOfTwo(rows, plan->decoding.exponent + row, window.power) : PETSC_TRUE;
  window.sigma  = plan->difference && VCRSGetSigma(plan, row, rows, window.room) ? window.room : NULL;
  if (!window.normal) return PETSC_FALSE;
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    PetscInt n = 0;

    if (l < rows) {
      const PetscInt set = VCRSGetId(plan, row + l);

      lane[l] = plan->sets.offset + plan->sets.ptr[set];
      n       = plan->sets.ptr[set + 1] - plan->sets.ptr[set];
      if (n > UINT8_MAX) return PETSC_FALSE;
    } else {
      window.power[l] = 1;
      window.room[l]  = 0;
    }
    if (!n) {
      none[l] = -(row + l);
      lane[l] = &none[l];
    }
    length[l]  = (uint8_t)n;
    natural[l] = (uint8_t)l;
  }
  MeasureLanes(slice.sorted, VCRS_SLICE, length, &slice.shortest, &slice.longest);
  steps.value = (const char *)plan->slices.value + (size_t)plan->slices.ptr[s] * VCRSValueBytes(plan->values);
  for (PetscInt c = 0; c < v->nrhs; c++) {
    AddStored(plan, PLACES_SETS, &window, &slice, &steps, v->x + c * v->ldx + row, sum);
    EndSums(plan, &window, &slice, sum, v->add ? v->add + c * v->ldadd : NULL, v->y + c * v->ldy);
  }
  return PETSC_TRUE;
}
#endif

/*
   y = A x (+ add) for the rows of slice s of L1 or L2, whose index sets change from row to row; PETSC_FALSE, with
   nothing done, if no loop exists
*/
PetscBool VCRSPlanMultSetSlice_Private(const VCRSPlan *plan, const VCRSOperands *v, PetscInt s)
{
#if defined(VCRS_QUADS)
  return HAS_QUADS() ? MultSetSlice(plan, v, s) : PETSC_FALSE;
#else
  (void)plan;
  (void)v;
  (void)s;
  return PETSC_FALSE;
#endif
}

/* y = A x (+ add) for the rows in slices of L3. xwindow: room for the x of a window if columns are grouped, with
   ldxwindow numbers per column of x */
void VCRSPlanMultSlices_Private(const VCRSPlan *plan, const VCRSOperands *v, PetscScalar *xwindow, size_t ldxwindow)
{
#if defined(VCRS_QUADS)
  if (HAS_QUADS()) {
    MultSlicesQuads(plan, v, xwindow, ldxwindow);
    return;
  }
#endif
  MultSlices(plan, PETSC_FALSE, v, xwindow, ldxwindow);
}
