/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with plain rows on the host: y = A x (+ add), also with A^T and A^H. These are matrices that a cache holds, so that what counts is
   how few loads and mistaken branches an entry takes, and not its bytes.

   Long rows of real entries are summed four entries at a time, others in two sums that do not wait for one another. Rows
   that have the same columns read them, and x, together.
*/

#include "vcrshost.h"

#define ROWS_LONG    8 /* entries of a row that is summed four at a time */
#define ROWS_COLUMNS 4 /* columns of x that are served together */

#if defined(VCRS_QUADS) && !PetscDefined(USE_COMPLEX)
  #define ROWS_QUADS
#endif
#if VCRS_ALIKE != 5
  #error "MultTogether() has a case for each number of rows"
#endif

/* sum[r] = sum_k a[r n + k] x[col[k]] for r < nrows, which must be a constant where this is called */
static LITHE_ALWAYS_INLINE void SumTogether(const int nrows, PetscInt n, const PetscScalar a[], const PetscInt col[], const PetscScalar *x, PetscScalar sum[])
{
  PetscInt k = 0;

  for (int r = 0; r < nrows; r++) sum[r] = 0;
#if defined(ROWS_QUADS)
  VCRSQuad four[VCRS_ALIKE];

  LITHE_UNROLL
  for (int r = 0; r < nrows; r++) four[r] = (VCRSQuad){0};
  for (; k + VCRS_QUAD <= n; k += VCRS_QUAD) {
    const VCRSQuad xk = {x[col[k]], x[col[k + 1]], x[col[k + 2]], x[col[k + 3]]};

    LITHE_UNROLL
    for (int r = 0; r < nrows; r++) four[r] += *(const VCRSQuad *)(a + r * n + k) * xk;
  }
#endif
  for (; k < n; k++) {
    const PetscScalar xk = x[col[k]];

    LITHE_UNROLL
    for (int r = 0; r < nrows; r++) sum[r] = VCRSAddProduct(sum[r], a[r * n + k], xk, 0);
  }
#if defined(ROWS_QUADS)
  LITHE_UNROLL
  for (int r = 0; r < nrows; r++) sum[r] += (four[r][0] + four[r][1]) + (four[r][2] + four[r][3]);
#endif
}

/* sum_k a[k] x[col[k]] */
static LITHE_ALWAYS_INLINE PetscScalar SumRow(PetscInt n, const PetscScalar a[], const PetscInt col[], const PetscScalar *x)
{
  PetscScalar sum[2] = {0, 0};
  PetscInt    k      = 0;

#if defined(ROWS_QUADS)
  if (n >= ROWS_LONG) {
    SumTogether(1, n, a, col, x, sum);
    return sum[0];
  }
#endif
  for (; k + 2 <= n; k += 2) {
    sum[0] = VCRSAddProduct(sum[0], a[k], x[col[k]], 0);
    sum[1] = VCRSAddProduct(sum[1], a[k + 1], x[col[k + 1]], 0);
  }
  if (k < n) sum[0] = VCRSAddProduct(sum[0], a[k], x[col[k]], 0);
  return sum[0] + sum[1];
}

/* sum[c] = sum_k a[k] x[c ldx + col[k]] for c < nc, which must be a constant where this is called */
static LITHE_ALWAYS_INLINE void SumColumns(const int nc, PetscInt n, const PetscScalar a[], const PetscInt col[], const PetscScalar *x, size_t ldx, PetscScalar sum[])
{
  for (int c = 0; c < nc; c++) sum[c] = 0;
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *xk = x + col[k], ak = a[k];

    LITHE_UNROLL
    for (int c = 0; c < nc; c++) sum[c] = VCRSAddProduct(sum[c], ak, xk[c * ldx], 0);
  }
}

/* y = A x (+ add) for one column of x, where rows of the same columns are few */
static LITHE_ALWAYS_INLINE void MultApart(const VCRSPlan *plan, const PetscBool empty, const PetscScalar *x, const PetscScalar *add, PetscScalar *y)
{
  const PetscInt    *row = plan->longrow, *col = plan->longcol, nlong = plan->nlong;
  const PetscInt64  *ptr = plan->longptr;
  const PetscScalar *a   = (const PetscScalar *)plan->value;

  for (PetscInt q = 0; q < nlong; q++) {
    const PetscInt    n = (PetscInt)(ptr[q + 1] - ptr[q]), r = empty ? row[q] : q;
    const PetscScalar sum = SumRow(n, a, col, x);

    y[r] = add ? add[r] + sum : sum;
    a += n;
    col += n;
  }
}

/* The same where there are many of them */
static LITHE_ALWAYS_INLINE void MultTogether(const VCRSPlan *plan, const PetscScalar *x, const PetscScalar *add, PetscScalar *y)
{
  const PetscScalar *value = (const PetscScalar *)plan->value;

#define MULT_TOGETHER(nrows)                                                             \
  case nrows:                                                                            \
    SumTogether(nrows, n, value + p, col, x, sum);                                       \
    LITHE_UNROLL                                                                         \
    for (int r = 0; r < (nrows); r++) y[row + r] = add ? add[row + r] + sum[r] : sum[r]; \
    break
  for (PetscInt q = 0; q < plan->nlong; q += plan->longalike[q]) {
    const PetscInt64 p   = plan->longptr[q];
    const PetscInt   row = plan->longrow[q], n = (PetscInt)(plan->longptr[q + 1] - p), *col = plan->longcol + p;
    PetscScalar      sum[VCRS_ALIKE];

    switch (plan->longalike[q]) {
      MULT_TOGETHER(1);
      MULT_TOGETHER(2);
      MULT_TOGETHER(3);
      MULT_TOGETHER(4);
      MULT_TOGETHER(5);
    }
  }
#undef MULT_TOGETHER
}

static LITHE_TARGET_CLONES_NARROW void MultRows(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscScalar *value = (const PetscScalar *)plan->value;
  PetscInt           c     = 0;

  for (; c + ROWS_COLUMNS <= v->nrhs; c += ROWS_COLUMNS) {
    for (PetscInt q = 0; q < plan->nlong; q++) {
      const PetscInt64   p   = plan->longptr[q];
      const PetscInt     row = plan->longrow[q];
      const PetscScalar *add = v->add ? v->add + c * v->ldadd + row : NULL;
      PetscScalar        sum[ROWS_COLUMNS], *y = v->y + c * v->ldy + row;

      SumColumns(ROWS_COLUMNS, (PetscInt)(plan->longptr[q + 1] - p), value + p, plan->longcol + p, v->x + c * v->ldx, v->ldx, sum);
      for (int u = 0; u < ROWS_COLUMNS; u++) y[u * v->ldy] = (add ? add[u * v->ldadd] : 0) + sum[u];
    }
  }
  for (; c < v->nrhs; c++) {
    const PetscScalar *x = v->x + c * v->ldx, *add = v->add ? v->add + c * v->ldadd : NULL;
    PetscScalar       *y = v->y + c * v->ldy;

    if (plan->longalike) {
      if (add) MultTogether(plan, x, add, y);
      else MultTogether(plan, x, NULL, y);
    } else if (plan->nlong < plan->m) MultApart(plan, PETSC_TRUE, x, add, y);
    else if (add) MultApart(plan, PETSC_FALSE, x, add, y);
    else MultApart(plan, PETSC_FALSE, x, NULL, y);
  }
}

/* y = A x (+ add) for plain rows; VCRSPlanMult() calls it */
void VCRSPlanMultRows_Private(const VCRSPlan *plan, const VCRSOperands *v)
{
  /* there are empty rows */
  for (PetscInt c = 0; c < v->nrhs && plan->nlong < plan->m; c++) VCRSBegin(plan->m, v->add ? v->add + c * v->ldadd : NULL, v->y + c * v->ldy);
  MultRows(plan, v);
}

static LITHE_TARGET_CLONES_NARROW void MultTransposeRows(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt64 *ptr = plan->longptr;

  for (PetscInt c = 0; c < v->nrhs; c++) {
    const PetscScalar *x = v->x + c * v->ldx, *a = (const PetscScalar *)plan->value;
    const PetscInt    *col = plan->longcol;
    PetscScalar       *y   = v->y + c * v->ldy;

    for (PetscInt q = 0; q < plan->nlong; q++) {
      const PetscInt    n  = (PetscInt)(ptr[q + 1] - ptr[q]);
      const PetscScalar xr = x[plan->longrow[q]];

      for (PetscInt k = 0; k < n; k++) y[col[k]] = VCRSAddProduct(y[col[k]], VCRSConjugateIf(a[k], v->sign), xr, 0);
      a += n;
      col += n;
    }
  }
}

/* y += A^T x, or A^H x; VCRSPlanMultTranspose_Private() calls it */
void VCRSPlanMultTransposeRows_Private(const VCRSPlan *plan, const VCRSOperands *v)
{
  MultTransposeRows(plan, v);
}
