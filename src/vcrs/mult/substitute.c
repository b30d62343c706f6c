/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Substitution with a compressed triangular matrix, on the host: x = (I - op(T))^-1 x, T without a
   diagonal.

   A row of T is a sum of unknowns that are known by then. A row of T^T, a column of T, is passed on to unknowns that
   are not known yet. Both therefore read T by rows, ascending or descending:

     lower      x_i += sum_k t_ik x_k          rows ascending
     upper      the same                       rows descending
     lower^T    x_k += t_ik x_i for all k      rows descending
     upper^T    the same                       rows ascending

   lithe/private/vcrs/plan.h describes the arrays of a plan. Slices are decoded as a whole, which vectorises, into
   buffers that stay in the cache; only the sums are serial. In L3, whose lanes may be sorted inside of windows, a
   window is decoded at once, since its rows depend on one another in their natural order.

   Several right-hand sides stand side by side, VCRS_TRI_COLUMNS for each row. An entry is decoded once for all of them.
   Its products are one or two vector operations.
*/

#include "host.h"

/* Least length of a run of equal index sets that is added as a whole, and its largest number of columns */
#define VCRS_RUN_LEAST   4
#define VCRS_RUN_COLUMNS 64

/*
   The entries of a row: a[k stride], k < n, in the columns base + col[k colstride]; sigma and ref: of the difference
   form
*/
typedef struct {
  PetscInt           n;
  const PetscScalar *a;
  PetscInt           stride;
  const PetscInt    *col;
  PetscInt           colstride;
  PetscInt           base;
  PetscInt           ref; /* the column of the reference, -1: not in the difference form */
  PetscScalar        sigma;
} VCRSTriRow;

static LITHE_ALWAYS_INLINE void Gather(const VCRSTriRow *e, PetscInt row, PetscBool descending, PetscScalar x[])
{
  const PetscScalar ref = e->ref >= 0 ? x[e->ref] : 0;
  PetscScalar       sum = x[row];

  if (e->ref >= 0) sum = VCRSAddProduct(sum, e->sigma, ref, 0);
  /* the newest unknown comes last: the other products need not wait for it */
  if (descending) {
    for (PetscInt k = e->n - 1; k >= 0; k--) sum = VCRSAddProduct(sum, e->a[k * e->stride], x[e->base + e->col[k * e->colstride]], ref);
  } else {
    for (PetscInt k = 0; k < e->n; k++) sum = VCRSAddProduct(sum, e->a[k * e->stride], x[e->base + e->col[k * e->colstride]], ref);
  }
  x[row] = sum;
}

static LITHE_ALWAYS_INLINE void Scatter(const VCRSTriRow *e, PetscInt row, PetscScalar x[])
{
  const PetscScalar xr   = x[row];
  PetscScalar       rest = e->sigma;

  for (PetscInt k = 0; k < e->n; k++) {
    PetscScalar *to = x + e->base + e->col[k * e->colstride];

    *to = VCRSAddProduct(*to, e->a[k * e->stride], xr, 0);
    rest -= e->a[k * e->stride];
  }
  if (e->ref >= 0) x[e->ref] = VCRSAddProduct(x[e->ref], rest, xr, 0);
}

/* The same for VCRS_TRI_COLUMNS right-hand sides, in the same order */
static LITHE_ALWAYS_INLINE void GatherColumns(const VCRSTriRow *e, PetscInt row, PetscBool descending, PetscScalar x[])
{
  PetscScalar  sum[VCRS_TRI_COLUMNS], ref[VCRS_TRI_COLUMNS] = {0};
  PetscScalar *to = x + (size_t)row * VCRS_TRI_COLUMNS;

  for (int c = 0; c < VCRS_TRI_COLUMNS; c++) sum[c] = to[c];
  if (e->ref >= 0) {
    for (int c = 0; c < VCRS_TRI_COLUMNS; c++) {
      ref[c] = x[(size_t)e->ref * VCRS_TRI_COLUMNS + (size_t)c];
      sum[c] = VCRSAddProduct(sum[c], e->sigma, ref[c], 0);
    }
  }
  for (PetscInt u = 0; u < e->n; u++) {
    const PetscInt     k    = descending ? e->n - 1 - u : u;
    const PetscScalar  a    = e->a[k * e->stride];
    const PetscScalar *from = x + (size_t)(e->base + e->col[k * e->colstride]) * VCRS_TRI_COLUMNS;

    LITHE_UNROLL
    for (int c = 0; c < VCRS_TRI_COLUMNS; c++) sum[c] = VCRSAddProduct(sum[c], a, from[c], ref[c]);
  }
  for (int c = 0; c < VCRS_TRI_COLUMNS; c++) to[c] = sum[c];
}

static LITHE_ALWAYS_INLINE void ScatterColumns(const VCRSTriRow *e, PetscInt row, PetscScalar x[])
{
  PetscScalar xr[VCRS_TRI_COLUMNS], rest = e->sigma;

  for (int c = 0; c < VCRS_TRI_COLUMNS; c++) xr[c] = x[(size_t)row * VCRS_TRI_COLUMNS + (size_t)c];
  for (PetscInt k = 0; k < e->n; k++) {
    const PetscScalar a  = e->a[k * e->stride];
    PetscScalar      *to = x + (size_t)(e->base + e->col[k * e->colstride]) * VCRS_TRI_COLUMNS;

    LITHE_UNROLL
    for (int c = 0; c < VCRS_TRI_COLUMNS; c++) to[c] = VCRSAddProduct(to[c], a, xr[c], 0);
    rest -= a;
  }
  if (e->ref >= 0) {
    PetscScalar *to = x + (size_t)e->ref * VCRS_TRI_COLUMNS;

    for (int c = 0; c < VCRS_TRI_COLUMNS; c++) to[c] = VCRSAddProduct(to[c], rest, xr[c], 0);
  }
}

/* nc, 1 or VCRS_TRI_COLUMNS, must be a constant in each call */
static LITHE_ALWAYS_INLINE void Pass(const int nc, const VCRSTriRow *e, PetscInt row, PetscBool descending, PetscBool transpose, PetscScalar x[])
{
  if (nc > 1) {
    if (transpose) ScatterColumns(e, row, x);
    else GatherColumns(e, row, descending, x);
  } else if (transpose) Scatter(e, row, x);
  else Gather(e, row, descending, x);
}

static LITHE_ALWAYS_INLINE void Substitute_Literal(const int nc, const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar x[])
{
  for (PetscInt t = 0; t < plan->m; t++) {
    const PetscInt   row = descending ? plan->m - 1 - t : t;
    const VCRSTriRow e   = {.n         = plan->literal.length[row],
                            .a         = plan->literal.data + plan->literal.dataptr[row],
                            .stride    = 1,
                            .col       = plan->literal.idx + plan->literal.idxptr[row],
                            .colstride = 1,
                            .base      = plan->literal.first[row],
                            .ref       = -1};

    Pass(nc, &e, row, descending, transpose, x);
  }
}

/* The slot of the reference holds minus the sum of the other entries: the whole set is summed, and sigma is added */
static LITHE_ALWAYS_INLINE void Substitute_L0(const int nc, const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar x[])
{
  for (PetscInt t = 0; t < plan->m; t++) {
    const PetscInt   row = descending ? plan->m - 1 - t : t, set = VCRSGetId(plan, row), p = plan->sets.ptr[set];
    const VCRSTriRow e =
      {.n = plan->sets.ptr[set + 1] - p, .a = plan->sets.value + p, .stride = 1, .col = plan->sets.offset + p, .colstride = 1, .base = row, .ref = -1};
    PetscScalar sigma = 0;

    if (!e.n) continue;
    if (plan->difference) (void)VCRSGetSigma(plan, row, 1, &sigma);
    if (sigma != (PetscScalar)0) {
      PetscScalar *own = x + (size_t)row * (size_t)nc, *ref = x + (size_t)(row + e.col[0]) * (size_t)nc;

      for (int c = 0; c < nc; c++) {
        if (transpose) ref[c] = VCRSAddProduct(ref[c], sigma, own[c], 0);
        else own[c] = VCRSAddProduct(own[c], sigma, ref[c], 0);
      }
    }
    Pass(nc, &e, row, descending, transpose, x);
  }
}

/* All entries of slice s and, unless col is NULL, its columns; row[]: the rows of the lanes */
static LITHE_TARGET_CLONES const PetscScalar *DecodeSlice(const VCRSPlan *plan, PetscInt s, const PetscInt row[], PetscScalar buffer[], PetscInt col[])
{
  const PetscInt count = (PetscInt)(plan->slices.ptr[s + 1] - plan->slices.ptr[s]);
  PetscReal      scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscBool      normal = PETSC_TRUE;

  if (plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16) normal = VCRSScale(plan, row, scale);
  if (col) VCRSDecodeColumns(plan, s, 0, (PetscInt)(VCRSColumnBase(plan, s + 1) - VCRSColumnBase(plan, s)), col);
  return VCRSDecode(plan, plan->slices.ptr[s], count, row, scale, normal, buffer);
}

/* A column of a run: the entry of row i of the run is a[i], in the column offset columns behind row i */
typedef struct {
  const PetscScalar *a;
  PetscInt           offset;
} VCRSTriColumn;

/*
   Consecutive rows of a run, x[0 .. len-1], with the same index set. Products with rows outside of the run are known,
   and are added to all rows together, which vectorises. Products inside the run come last, row by row.
*/
static LITHE_ALWAYS_INLINE void GatherRun(PetscInt n, const VCRSTriColumn column[], PetscInt len, PetscBool descending, PetscScalar x[])
{
  VCRSTriColumn inside[2 * VCRS_SLICE + 1];
  PetscScalar   sum[VCRS_SLICE];
  PetscInt      ninside = 0;

  for (PetscInt i = 0; i < len; i++) sum[i] = x[i];
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *a = column[k].a, *from = x + column[k].offset;

    if (descending ? column[k].offset < len : -column[k].offset < len) inside[ninside++] = column[k];
    else {
      for (PetscInt i = 0; i < len; i++) sum[i] = VCRSAddProduct(sum[i], a[i], from[i], 0);
    }
  }
  if (!ninside) {
    for (PetscInt i = 0; i < len; i++) x[i] = sum[i];
  } else if (ninside == 1 && inside[0].offset == (descending ? 1 : -1)) {
    PetscScalar last = x[descending ? len : -1]; /* a register: storing and loading again takes as long as the product */

    for (PetscInt u = 0; u < len; u++) {
      const PetscInt i = descending ? len - 1 - u : u;

      x[i] = last = VCRSAddProduct(sum[i], inside[0].a[i], last, 0);
    }
  } else {
    for (PetscInt u = 0; u < len; u++) {
      const PetscInt i     = descending ? len - 1 - u : u;
      PetscScalar    total = sum[i];

      for (PetscInt k = 0; k < ninside; k++) total = VCRSAddProduct(total, inside[k].a[i], x[i + inside[k].offset], 0);
      x[i] = total;
    }
  }
}

/* The same, as functions that vectorise */
static LITHE_TARGET_CLONES void GatherRunUp(PetscInt n, const VCRSTriColumn column[], PetscInt len, PetscScalar x[])
{
  GatherRun(n, column, len, PETSC_TRUE, x);
}

static LITHE_TARGET_CLONES void GatherRunDown(PetscInt n, const VCRSTriColumn column[], PetscInt len, PetscScalar x[])
{
  GatherRun(n, column, len, PETSC_FALSE, x);
}

/* Rows row .. row + len - 1 of a slice, whose entries begin at a, by the index set at p; sigma: of the same rows, or
   NULL */
static void SubstituteRun(const VCRSPlan *plan, PetscInt row, PetscInt len, PetscInt p, PetscInt n, const PetscScalar a[], const PetscScalar sigma[],
                          PetscBool descending, PetscScalar x[])
{
  const PetscInt first = plan->difference ? 1 : 0;
  VCRSTriColumn  column[VCRS_RUN_COLUMNS];
  PetscScalar    rest[VCRS_SLICE];

  for (PetscInt k = first; k < n; k++) column[k] = (VCRSTriColumn){a + VCRS_SLICE * (k - first), plan->sets.offset[p + k]};
  if (first) {
    /* The reference's own entry: the rest of the row sum */
    for (PetscInt i = 0; i < len; i++) rest[i] = sigma ? sigma[i] : 0;
    for (PetscInt k = first; k < n; k++) {
      for (PetscInt i = 0; i < len; i++) rest[i] -= column[k].a[i];
    }
    column[0] = (VCRSTriColumn){rest, plan->sets.offset[p]};
  }
  if (descending) GatherRunUp(n, column, len, x + row);
  else GatherRunDown(n, column, len, x + row);
}

/* L1 and L2: rows in their natural order, columns by index set */
static LITHE_ALWAYS_INLINE void Substitute_Sets(const int nc, const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar buffer[],
                                                PetscScalar x[])
{
  const PetscInt  first = plan->difference ? 1 : 0;
  const PetscBool fixed = (PetscBool)(plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16);
  PetscScalar     sigma[VCRS_SLICE];
  PetscInt        lane[VCRS_SLICE], nruns;
  VCRSRun         run[VCRS_SLICE];

  for (PetscInt t = 0; t < plan->slices.n; t++) {
    const PetscInt     s = descending ? plan->slices.n - 1 - t : t, begin = VCRS_SLICE * s, rows = PetscMin(VCRS_SLICE, plan->m - begin);
    const PetscScalar *a;
    PetscBool          sums = PETSC_FALSE;

    for (PetscInt l = 0; l < VCRS_SLICE && fixed; l++) lane[l] = PetscMin(begin + l, plan->m);
    a = DecodeSlice(plan, s, lane, buffer, NULL);
    if (plan->difference) sums = VCRSGetSigma(plan, begin, rows, sigma);
    nruns = VCRSFindRuns(plan, begin, rows, run);
    for (PetscInt v = 0; v < nruns; v++) {
      const VCRSRun  r = run[descending ? nruns - 1 - v : v];
      const PetscInt p = plan->sets.ptr[r.set], n = plan->sets.ptr[r.set + 1] - p;

      if (!n) continue;
      if (nc == 1 && !transpose && r.count >= VCRS_RUN_LEAST && n <= VCRS_RUN_COLUMNS) {
        SubstituteRun(plan, begin + r.first, r.count, p, n, a + r.first, sums ? sigma + r.first : NULL, descending, x);
        continue;
      }
      for (PetscInt u = 0; u < r.count; u++) {
        const PetscInt   l = r.first + (descending ? r.count - 1 - u : u), row = begin + l;
        const VCRSTriRow e = {.n         = n - first,
                              .a         = a + l,
                              .stride    = VCRS_SLICE,
                              .col       = plan->sets.offset + p + first,
                              .colstride = 1,
                              .base      = row,
                              .ref       = first ? row + plan->sets.offset[p] : -1,
                              .sigma     = sums ? sigma[l] : 0};

        Pass(nc, &e, row, descending, transpose, x);
      }
    }
  }
}

/* The beginning of a window of L3 in the buffers of its entries and of its columns, slice by slice */
typedef struct {
  const PetscScalar *a[VCRS_WINDOW_SLICES];
  const PetscInt    *col[VCRS_WINDOW_SLICES];
  PetscInt           lane[VCRS_WINDOW]; /* of each row of the window */
} VCRSTriWindow;

static void DecodeWindow(const VCRSPlan *plan, PetscInt w, PetscScalar buffer[], PetscInt columns[], VCRSTriWindow *window)
{
  const PetscInt nslices = VCRS_WINDOW_SLICES, begin = w * nslices;
  PetscInt       row[VCRS_SLICE];

  for (PetscInt s = begin; s < PetscMin(begin + nslices, plan->slices.n); s++) {
    VCRSLaneRows(plan, s, row);
    window->a[s - begin]   = DecodeSlice(plan, s, row, buffer, columns);
    window->col[s - begin] = columns;
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      if (row[l] < plan->m) window->lane[row[l] - w * VCRS_WINDOW] = VCRS_SLICE * s + l;
    }
    buffer += plan->slices.ptr[s + 1] - plan->slices.ptr[s];
    columns += VCRS_SLICE * (VCRSColumnBase(plan, s + 1) - VCRSColumnBase(plan, s));
  }
}

/* Row q of the long rows, with the entries from begin on: decoded one by one, unless they are whole entries */
static LITHE_ALWAYS_INLINE void SubstituteLong(const int nc, const VCRSPlan *plan, PetscInt q, PetscInt64 begin, PetscBool descending, PetscBool transpose,
                                               PetscScalar buffer[], PetscInt columns[], PetscScalar x[])
{
  const PetscBool    whole = (PetscBool)(plan->values == VCRS_VALUES_FULL);
  const PetscInt     row = VCRSLongRow(plan, q), first = plan->difference ? 1 : 0, n = VCRSLongLength(plan, q);
  const PetscInt    *col   = plan->longrows.shortcol ? columns : plan->longrows.col + begin;
  const PetscScalar *a     = whole ? (const PetscScalar *)plan->slices.value + plan->longrows.value + begin + first : buffer;
  PetscScalar        sigma = 0;
  const VCRSTriRow   e     = {.n         = n - first,
                              .a         = a,
                              .stride    = 1,
                              .col       = col + first,
                              .colstride = 1,
                              .base      = 0,
                              .ref       = first ? col[0] : -1,
                              .sigma     = (first && VCRSGetSigma(plan, row, 1, &sigma)) ? sigma : 0};

  for (PetscInt k = 0; k < n && plan->longrows.shortcol; k++) columns[k] = VCRSLongColumn(plan, q, begin + k);
  for (PetscInt k = first; k < n && !whole; k++) buffer[k - first] = VCRSDecodeEntry(plan, plan->longrows.value + begin + k, row);
  Pass(nc, &e, row, descending, transpose, x);
}

static LITHE_ALWAYS_INLINE void Substitute_Rows(const int nc, const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar buffer[],
                                                PetscInt columns[], PetscScalar x[])
{
  PetscInt64 begin = descending ? plan->longrows.nentries : 0;

  for (PetscInt t = 0; t < plan->longrows.n; t++) {
    const PetscInt q = descending ? plan->longrows.n - 1 - t : t, n = VCRSLongLength(plan, q);

    if (descending) begin -= n;
    SubstituteLong(nc, plan, q, begin, descending, transpose, buffer, columns, x);
    if (!descending) begin += n;
  }
}

static LITHE_ALWAYS_INLINE void Substitute_L3(const int nc, const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar buffer[],
                                              PetscInt columns[], PetscScalar x[])
{
  const PetscInt first = plan->difference ? 1 : 0, nwindows = (plan->m + VCRS_WINDOW - 1) / VCRS_WINDOW;
  PetscInt       next = descending ? plan->longrows.n - 1 : 0; /* of the long rows */
  PetscScalar    sigma[VCRS_WINDOW];
  VCRSTriWindow  window;

  for (PetscInt t = 0; t < nwindows; t++) {
    const PetscInt w = descending ? nwindows - 1 - t : t, begin = w * VCRS_WINDOW, rows = PetscMin(VCRS_WINDOW, plan->m - begin);
    PetscBool      sums = PETSC_FALSE;

    DecodeWindow(plan, w, buffer, columns, &window);
    if (plan->difference) sums = VCRSGetSigma(plan, begin, rows, sigma);
    for (PetscInt u = 0; u < rows; u++) {
      /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): DecodeWindow() sets the lanes of all rows */
      const PetscInt r = descending ? rows - 1 - u : u, row = begin + r, lane = window.lane[r], s = lane / VCRS_SLICE - begin / VCRS_SLICE,
                     l = lane % VCRS_SLICE, n = plan->lanes.length[lane];
      const VCRSTriRow e = {.n         = n - first,
                            .a         = window.a[s] + l,
                            .stride    = VCRS_SLICE,
                            .col       = window.col[s] + VCRS_SLICE * first + l,
                            .colstride = VCRS_SLICE,
                            .base      = 0,
                            .ref       = first && n ? window.col[s][l] : -1,
                            .sigma     = sums ? sigma[r] : 0};

      if (n) Pass(nc, &e, row, descending, transpose, x);
      else if (next >= 0 && next < plan->longrows.n && plan->longrows.row[next] == row) {
        SubstituteLong(nc, plan, next, plan->longrows.ptr[next], descending, transpose,
                       buffer + (plan->slices.ptr[PetscMin(plan->slices.n, (w + 1) * VCRS_WINDOW_SLICES)] - plan->slices.ptr[w * VCRS_WINDOW_SLICES]), columns,
                       x);
        next += descending ? -1 : 1;
      }
    }
  }
}

/* Directions are constants in each call: each direction is compiled to separate loops */
static LITHE_ALWAYS_INLINE void Substitute(const int nc, const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar buffer[],
                                           PetscInt columns[], PetscScalar x[])
{
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) Substitute_Literal(nc, plan, descending, transpose, x);
  else if (plan->layout == MATVCRS_LAYOUT_L0) Substitute_L0(nc, plan, descending, transpose, x);
  else if (plan->plainrows) Substitute_Rows(nc, plan, descending, transpose, buffer, columns, x);
  else if (plan->layout == MATVCRS_LAYOUT_L3) Substitute_L3(nc, plan, descending, transpose, buffer, columns, x);
  else Substitute_Sets(nc, plan, descending, transpose, buffer, x);
}

/* The sizes of the buffers of entries and of columns */
static void BufferSizes(const VCRSPlan *plan, PetscInt64 *nvalues, PetscInt64 *ncolumns)
{
  const PetscInt step    = plan->layout == MATVCRS_LAYOUT_L3 ? VCRS_WINDOW_SLICES : 1;
  PetscInt64     longest = 0;

  *nvalues = *ncolumns = 0;
  for (PetscInt s = 0; s < plan->slices.n; s += step) {
    const PetscInt end = PetscMin(plan->slices.n, s + step);

    *nvalues = PetscMax(*nvalues, plan->slices.ptr[end] - plan->slices.ptr[s]);
    if (plan->layout == MATVCRS_LAYOUT_L3) *ncolumns = PetscMax(*ncolumns, VCRS_SLICE * (VCRSColumnBase(plan, end) - VCRSColumnBase(plan, s)));
  }
  for (PetscInt q = 0; q < plan->longrows.n; q++) longest = PetscMax(longest, VCRSLongLength(plan, q));
  *nvalues += longest;
  if (plan->longrows.shortcol) *ncolumns = PetscMax(*ncolumns, longest); /* plain rows, which have no columns in slices */
}

/* Each direction, for one right-hand side and for several */
static void SubstituteOne(const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar buffer[], PetscInt columns[], PetscScalar x[])
{
  if (transpose) {
    if (descending) Substitute(1, plan, PETSC_TRUE, PETSC_TRUE, buffer, columns, x);
    else Substitute(1, plan, PETSC_FALSE, PETSC_TRUE, buffer, columns, x);
  } else {
    if (descending) Substitute(1, plan, PETSC_TRUE, PETSC_FALSE, buffer, columns, x);
    else Substitute(1, plan, PETSC_FALSE, PETSC_FALSE, buffer, columns, x);
  }
}

static LITHE_TARGET_CLONES void SubstituteSeveral(const VCRSPlan *plan, PetscBool descending, PetscBool transpose, PetscScalar buffer[], PetscInt columns[],
                                                  PetscScalar x[])
{
  if (transpose) Substitute(VCRS_TRI_COLUMNS, plan, descending, PETSC_TRUE, buffer, columns, x);
  else Substitute(VCRS_TRI_COLUMNS, plan, descending, PETSC_FALSE, buffer, columns, x);
}

static PetscErrorCode SubstituteWith(const VCRSPlan *plan, PetscBool upper, PetscBool transpose, PetscInt n,
                                     void (*substitute)(const VCRSPlan *, PetscBool, PetscBool, PetscScalar[], PetscInt[], PetscScalar[]), PetscScalar x[])
{
  PetscInt64   nvalues, ncolumns;
  PetscScalar *buffer;
  PetscInt    *columns;

  PetscFunctionBegin;
  PetscAssert(plan->m == plan->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Substitution with a matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns",
              plan->m, plan->n);
  if (!plan->nz) PetscFunctionReturn(PETSC_SUCCESS);
  BufferSizes(plan, &nvalues, &ncolumns);
  PetscCall(PetscMalloc2(nvalues, &buffer, ncolumns, &columns));
  (*substitute)(plan, (PetscBool)(upper != transpose), transpose, buffer, columns, x);
  PetscCall(PetscFree2(buffer, columns));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)n * (PetscLogDouble)plan->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanSubstitute(const VCRSPlan *plan, PetscBool upper, PetscBool transpose, PetscScalar x[])
{
  PetscFunctionBegin;
  PetscCall(SubstituteWith(plan, upper, transpose, 1, SubstituteOne, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanSubstituteColumns(const VCRSPlan *plan, PetscBool upper, PetscBool transpose, PetscScalar x[])
{
  PetscFunctionBegin;
  PetscCall(SubstituteWith(plan, upper, transpose, VCRS_TRI_COLUMNS, SubstituteSeveral, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
