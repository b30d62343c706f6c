/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with plain rows on the host: y = A x (+ add), also with A^T and A^H. The cost is the number of loads and
   mistaken branches per entry and, if no cache holds the matrix, the number of bytes.

   Long rows of real entries are summed four at a time. In large matrices the rest is masked, so no branch depends on
   it. In a small matrix a processor remembers how rows end. Other rows are summed in two sums that do not wait for one
   another. Rows with the same columns read columns and x together.

   The kind of storage, and of row ends, must be a constant in each call.
*/

#include "host.h"

#define ROWS_LONG    8   /* rows with at least this many entries are summed four at a time */
#define ROWS_COLUMNS 4   /* columns of x per pass */
#define ROWS_AHEAD   256 /* distance in entries of prefetching in a large matrix: processors see the order of reads, but stop at a page */

#if defined(VCRS_QUADS) && !PetscDefined(USE_COMPLEX)
  #define ROWS_QUADS
  #if VCRS_ROWS_PAD < VCRS_QUAD
    #error "Entries are read four at a time"
  #endif
#endif
#if VCRS_ALIKE != 5
  #error "MultTogether() has a case for each number of rows"
#endif

typedef enum {
  ROWS_SMALL, /* of a small matrix */
  ROWS_WHOLE, /* of a large matrix */
  ROWS_SHORT  /* of a large matrix, with columns of two bytes from a base on */
} Rows;

#define COLUMN(col, k) (rows == ROWS_SHORT ? (PetscInt)((const uint16_t *)(col))[k] : ((const PetscInt *)(col))[k])
#define COLUMN_BYTES   (rows == ROWS_SHORT ? sizeof(uint16_t) : sizeof(PetscInt))
#define FROM_COLUMN(p) (rows == ROWS_SHORT ? (const void *)(plan->longrows.shortcol + (p)) : (const void *)(plan->longrows.col + (p)))
#define BASE(q)        (rows == ROWS_SHORT ? plan->longrows.shortbase[(size_t)(q) / VCRS_SLICE] : 0)
#define FOR_ROWS(f, ...)                                                             \
  do {                                                                               \
    if (plan->longrows.shortcol) f(ROWS_SHORT, __VA_ARGS__);                         \
    else if (plan->longrows.nentries >= VCRS_ROWS_LARGE) f(ROWS_WHOLE, __VA_ARGS__); \
    else f(ROWS_SMALL, __VA_ARGS__);                                                 \
  } while (0)

/* Fetches n values or columns of this size, ROWS_AHEAD further on */
static LITHE_ALWAYS_INLINE void FetchAhead(const Rows rows, size_t n, size_t bytes, const void *from)
{
  for (size_t k = 0; k < n * bytes && rows != ROWS_SMALL; k += CACHE_LINE) LITHE_PREFETCH((const char *)from + ROWS_AHEAD * bytes + k);
}

#if defined(ROWS_QUADS)
typedef VCRSMaskInt RowMask __attribute__((vector_size(VCRS_QUAD * sizeof(VCRSMaskInt)), aligned(sizeof(VCRSMaskInt)), may_alias));

/* From ROWS_TAIL(n) on: the first n % 4 are set */
static const VCRSMaskInt tails[2 * VCRS_QUAD - 1] = {-1, -1, -1, 0, 0, 0, 0};
  #define ROWS_TAIL(n) ((const RowMask *)(tails + VCRS_QUAD - 1 - (unsigned int)(n) % VCRS_QUAD))

/* x at four columns */
static LITHE_ALWAYS_INLINE void GatherFour(const Rows rows, const void *col, PetscInt k, const PetscScalar *x, VCRSQuad *out)
{
  *out = (VCRSQuad){x[COLUMN(col, k)], x[COLUMN(col, k + 1)], x[COLUMN(col, k + 2)], x[COLUMN(col, k + 3)]};
}

/*
   The same at n % 4 places; the rest reads the following data, which may have another base, and must not be used as a
   number
*/
static LITHE_ALWAYS_INLINE void GatherRest(const Rows rows, const void *col, PetscInt k, PetscInt n, const PetscScalar *x, VCRSQuad *out)
{
  if (rows == ROWS_SHORT) {
    const unsigned int left = (unsigned int)n % VCRS_QUAD;
    uint64_t           word;

    memcpy(&word, (const uint16_t *)col + k, sizeof(word));
    word &= (UINT64_C(1) << 16 * left) - 1;
    *out = (VCRSQuad){x[(uint16_t)word], x[(uint16_t)(word >> 16)], x[(uint16_t)(word >> 32)], x[0]};
  } else GatherFour(rows, col, k, x, out);
  *out = (VCRSQuad)((RowMask)*out & *ROWS_TAIL(n));
}
#endif

/* sum[r] = sum_k a[r n + k] x[col[k]] for r < nrows, a constant in each call */
static LITHE_ALWAYS_INLINE void SumTogether(const Rows rows, const int nrows, PetscInt n, const PetscScalar a[], const void *col, const PetscScalar *x,
                                            PetscScalar sum[])
{
  PetscInt k = 0;

  for (int r = 0; r < nrows; r++) sum[r] = 0;
#if defined(ROWS_QUADS)
  VCRSQuad four[VCRS_ALIKE], x4;

  LITHE_UNROLL
  for (int r = 0; r < nrows; r++) four[r] = (VCRSQuad){0};
  for (; k + VCRS_QUAD <= n; k += VCRS_QUAD) {
    GatherFour(rows, col, k, x, &x4);
    LITHE_UNROLL
    for (int r = 0; r < nrows; r++) four[r] += *(const VCRSQuad *)(a + r * n + k) * x4;
  }

  /* of a single row as often nothing is left as anything else; rows of the same columns are of few lengths */
  if (rows != ROWS_SMALL && (nrows == 1 || k < n)) {
    GatherRest(rows, col, k, n, x, &x4);
    LITHE_UNROLL
    for (int r = 0; r < nrows; r++) four[r] += (VCRSQuad)(*(const RowMask *)(a + r * n + k) & *ROWS_TAIL(n)) * x4;
    k = n;
  }
#endif
  for (; k < n; k++) {
    const PetscScalar xk = x[COLUMN(col, k)];

    LITHE_UNROLL
    for (int r = 0; r < nrows; r++) sum[r] = VCRSAddProduct(sum[r], a[r * n + k], xk, 0);
  }
#if defined(ROWS_QUADS)
  LITHE_UNROLL
  for (int r = 0; r < nrows; r++) sum[r] += (four[r][0] + four[r][1]) + (four[r][2] + four[r][3]);
#endif
}

/* sum_k a[k] x[col[k]] */
static LITHE_ALWAYS_INLINE PetscScalar SumRow(const Rows rows, PetscInt n, const PetscScalar a[], const void *col, const PetscScalar *x)
{
  PetscScalar sum[2] = {0, 0};
  PetscInt    k      = 0;

#if defined(ROWS_QUADS)
  if (n >= ROWS_LONG) {
    SumTogether(rows, 1, n, a, col, x, sum);
    return sum[0];
  }
#endif
  for (; k + 2 <= n; k += 2) {
    sum[0] = VCRSAddProduct(sum[0], a[k], x[COLUMN(col, k)], 0);
    sum[1] = VCRSAddProduct(sum[1], a[k + 1], x[COLUMN(col, k + 1)], 0);
  }
  if (k < n) sum[0] = VCRSAddProduct(sum[0], a[k], x[COLUMN(col, k)], 0);
  return sum[0] + sum[1];
}

/* sum[c] = sum_k a[k] x[c ldx + col[k]] for c < nc, a constant in each call */
static LITHE_ALWAYS_INLINE void SumColumns(const Rows rows, const int nc, PetscInt n, const PetscScalar a[], const void *col, const PetscScalar *x, size_t ldx,
                                           PetscScalar sum[])
{
  for (int c = 0; c < nc; c++) sum[c] = 0;
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *xk = x + COLUMN(col, k), ak = a[k];

    LITHE_UNROLL
    for (int c = 0; c < nc; c++) sum[c] = VCRSAddProduct(sum[c], ak, xk[c * ldx], 0);
  }
}

/* y = A x (+ add) for one column of x, if rows of equal columns are few */
static LITHE_ALWAYS_INLINE void MultApart(const Rows rows, const PetscBool empty, const VCRSPlan *plan, const PetscScalar *x, const PetscScalar *add,
                                          PetscScalar *y)
{
  const PetscInt    *row = plan->longrows.row, nlong = plan->longrows.n;
  const PetscScalar *a   = (const PetscScalar *)plan->slices.value;
  const char        *col = (const char *)FROM_COLUMN(0);

  for (PetscInt q = 0; q < nlong; q++) {
    const PetscInt    n = VCRSLongLength(plan, q), r = empty ? row[q] : q;
    const PetscScalar sum = SumRow(rows, n, a, col, x + BASE(q));

    FetchAhead(rows, (size_t)n, sizeof(*a), a);
    FetchAhead(rows, (size_t)n, COLUMN_BYTES, col);
    y[r] = add ? add[r] + sum : sum;
    a += n;
    col += (size_t)n * COLUMN_BYTES;
  }
}

/* The same if rows of equal columns are many */
static LITHE_ALWAYS_INLINE void MultTogether(const Rows rows, const VCRSPlan *plan, const PetscScalar *x, const PetscScalar *add, PetscScalar *y)
{
  const PetscScalar *value = (const PetscScalar *)plan->slices.value;
  PetscInt64         p     = 0;

#define MULT_TOGETHER(nrows)                                                             \
  case nrows:                                                                            \
    SumTogether(rows, nrows, n, value + p, FROM_COLUMN(p), x + BASE(q), sum);            \
    LITHE_UNROLL                                                                         \
    for (int r = 0; r < (nrows); r++) y[row + r] = add ? add[row + r] + sum[r] : sum[r]; \
    break
  for (PetscInt q = 0; q < plan->longrows.n; q += plan->longrows.alike[q]) {
    const PetscInt together = plan->longrows.alike[q], row = VCRSLongRow(plan, q), n = VCRSLongLength(plan, q);
    PetscScalar    sum[VCRS_ALIKE];

    FetchAhead(rows, (size_t)together * (size_t)n, sizeof(*value), value + p);
    switch (together) {
      MULT_TOGETHER(1);
      MULT_TOGETHER(2);
      MULT_TOGETHER(3);
      MULT_TOGETHER(4);
      MULT_TOGETHER(5);
    }
    p += (PetscInt64)together * n;
  }
#undef MULT_TOGETHER
}

/* y = A x (+ add) for all columns of x */
static LITHE_ALWAYS_INLINE void MultColumns(const Rows rows, const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscScalar *value = (const PetscScalar *)plan->slices.value;
  PetscInt           c     = 0;

  for (; c + ROWS_COLUMNS <= v->nrhs; c += ROWS_COLUMNS) {
    PetscInt64 p = 0;

    for (PetscInt q = 0; q < plan->longrows.n; q++) {
      const PetscInt     row = VCRSLongRow(plan, q), n = VCRSLongLength(plan, q);
      const PetscScalar *add = v->add ? v->add + c * v->ldadd + row : NULL;
      PetscScalar        sum[ROWS_COLUMNS], *y = v->y + c * v->ldy + row;

      SumColumns(rows, ROWS_COLUMNS, n, value + p, FROM_COLUMN(p), v->x + c * v->ldx + BASE(q), v->ldx, sum);
      for (int u = 0; u < ROWS_COLUMNS; u++) y[u * v->ldy] = (add ? add[u * v->ldadd] : 0) + sum[u];
      p += n;
    }
  }
  for (; c < v->nrhs; c++) {
    const PetscScalar *x = v->x + c * v->ldx, *add = v->add ? v->add + c * v->ldadd : NULL;
    PetscScalar       *y = v->y + c * v->ldy;

    if (plan->longrows.alike) {
      if (add) MultTogether(rows, plan, x, add, y);
      else MultTogether(rows, plan, x, NULL, y);
    } else if (plan->longrows.row) MultApart(rows, PETSC_TRUE, plan, x, add, y);
    else if (add) MultApart(rows, PETSC_FALSE, plan, x, add, y);
    else MultApart(rows, PETSC_FALSE, plan, x, NULL, y);
  }
}

static LITHE_TARGET_CLONES_NARROW void MultRows(const VCRSPlan *plan, const VCRSOperands *v)
{
  FOR_ROWS(MultColumns, plan, v);
}

/* y = A x (+ add) for plain rows; VCRSPlanMult() calls it */
void VCRSPlanMultRows_Private(const VCRSPlan *plan, const VCRSOperands *v)
{
  /* some rows are empty */
  for (PetscInt c = 0; c < v->nrhs && plan->longrows.row; c++) VCRSBegin(plan->m, v->add ? v->add + c * v->ldadd : NULL, v->y + c * v->ldy);
  MultRows(plan, v);
}

/* y += A^T x, or A^H x */
static LITHE_ALWAYS_INLINE void MultTransposeColumns(const Rows rows, const VCRSPlan *plan, const VCRSOperands *v)
{
  for (PetscInt c = 0; c < v->nrhs; c++) {
    const PetscScalar *x = v->x + c * v->ldx, *a = (const PetscScalar *)plan->slices.value;
    PetscInt64         p = 0;

    for (PetscInt q = 0; q < plan->longrows.n; q++) {
      const PetscInt    n   = VCRSLongLength(plan, q);
      const void       *col = FROM_COLUMN(p);
      const PetscScalar xr  = x[VCRSLongRow(plan, q)];
      PetscScalar      *y   = v->y + c * v->ldy + BASE(q);

      for (PetscInt k = 0; k < n; k++) y[COLUMN(col, k)] = VCRSAddProduct(y[COLUMN(col, k)], VCRSConjugateIf(a[k], v->sign), xr, 0);
      a += n;
      p += n;
    }
  }
}

static LITHE_TARGET_CLONES_NARROW void MultTransposeRows(const VCRSPlan *plan, const VCRSOperands *v)
{
  FOR_ROWS(MultTransposeColumns, plan, v);
}

/* y += A^T x, or A^H x; VCRSPlanMultTranspose_Private() calls it */
void VCRSPlanMultTransposeRows_Private(const VCRSPlan *plan, const VCRSOperands *v)
{
  MultTransposeRows(plan, v);
}
