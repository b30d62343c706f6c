/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Loops of host.c over vectors of type NUMBER, with the component type REAL; FN() adds a suffix to names */

/* y[0..n-1] = A x for n rows from the given row on */
static void FN(Product)(const CAMGOperator *op, PetscInt row, PetscInt n, const NUMBER x[], NUMBER y[])
{
  const int *i = op->i + row, *j = op->j;

#define PRODUCT(type, decode) \
  do { \
    const type *code = (const type *)op->code; \
    for (PetscInt r = 0; r < n; r++) { \
      NUMBER sum = 0; \
      for (int k = i[r]; k < i[r + 1]; k++) sum += ENTRY(code, k, decode) * x[j[k]]; \
      y[r] = sum; \
    } \
  } while (0)
  if (op->bits == 8) PRODUCT(uint8_t, Decode8);
  else if (op->bits == 16) PRODUCT(uint16_t, CAMGDecode16);
  else PRODUCT(float, );
#undef PRODUCT
  for (PetscInt r = 0; r < n; r++) y[r] += DIAGONAL(op, row + r) * x[row + r];
}

static void FN(Step)(const CAMGOperator *op, REAL c1, REAL c2, const NUMBER b[], const NUMBER x[], const NUMBER old[], NUMBER out[])
{
  const float *minv = op->minv;
  NUMBER       y[HOST_ROWS];

  if (!x) {
    for (PetscInt r = 0; r < op->n; r++) out[r] = c2 * (REAL)minv[r] * b[r];
    return;
  }
  for (PetscInt row = 0; row < op->n; row += HOST_ROWS) {
    const PetscInt n = PetscMin(HOST_ROWS, op->n - row);

    FN(Product)(op, row, n, x, y);
    if (old) {
      for (PetscInt r = 0; r < n; r++) out[row + r] = x[row + r] + c1 * (x[row + r] - old[row + r]) + c2 * (REAL)minv[row + r] * (b[row + r] - y[r]);
    } else {
      for (PetscInt r = 0; r < n; r++) out[row + r] = x[row + r] + c2 * (REAL)minv[row + r] * (b[row + r] - y[r]);
    }
  }
}

static void FN(Residual)(const CAMGOperator *op, const NUMBER b[], const NUMBER x[], NUMBER out[])
{
  NUMBER y[HOST_ROWS];

  for (PetscInt row = 0; row < op->n; row += HOST_ROWS) {
    const PetscInt n = PetscMin(HOST_ROWS, op->n - row);

    FN(Product)(op, row, n, x, y);
    for (PetscInt r = 0; r < n; r++) out[row + r] = b[row + r] - y[r];
  }
}

static void FN(Transfer)(const CAMGTransfer *P, PetscBool add, const NUMBER x[], NUMBER y[])
{
  const int   *i = P->i, *j = P->j;
  const float *a = (const float *)P->a;

  for (PetscInt r = 0; r < P->m; r++) {
    NUMBER sum = add ? y[r] : 0;

    for (int k = i[r]; k < i[r + 1]; k++) sum += ENTRY(a, k, ) * x[j[k]];
    y[r] = sum;
  }
}

static void FN(Dense)(const LitheMGCoarsest *c, const NUMBER b[], NUMBER x[])
{
  const size_t  n = (size_t)c->n;
  const NUMBER *L = (const NUMBER *)c->L;
  NUMBER       *w = c->factored ? (NUMBER *)c->work : x;

  for (size_t r = 0; r < n; r++) {
    NUMBER sum = 0;

    for (size_t k = 0; k < n; k++) sum += L[r * n + k] * b[k];
    w[r] = sum;
  }
  if (!c->factored) return;
  for (size_t k = 0; k < n; k++) x[k] = 0;
  for (size_t r = 0; r < n; r++) {
    for (size_t k = 0; k < n; k++) x[k] += CONJ(L[r * n + k]) * w[r];
  }
}

static void FN(Enter)(PetscInt n, double scale, const double outer[], const PetscScalar x[], NUMBER b[])
{
  for (PetscInt r = 0; r < n; r++) b[r] = (NUMBER)(x[r] * (PetscReal)(outer[r] * scale));
}

static void FN(Leave)(PetscInt n, double factor, const double outer[], const NUMBER x[], PetscScalar y[])
{
  for (PetscInt r = 0; r < n; r++) y[r] = (PetscScalar)x[r] * (PetscReal)(outer[r] * factor);
}
