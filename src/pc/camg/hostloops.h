/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Loops of host.c over vectors of type NUMBER, with the component type REAL; FN() adds a suffix to names */

/*
   Rows of blocks of b x c numbers, in the order of decoded entries a; b and c are known to the compiler where it pays
*/
static inline void FN(Rows)(int b, int c, int nodes, const int i[], const int j[], const float a[], const NUMBER x[], NUMBER y[])
{
  const int first = i[0];

  for (int v = 0; v < nodes; v++) {
    for (int p = 0; p < b; p++) y[v * b + p] = 0;
    for (int k = i[v]; k < i[v + 1]; k++) {
      const float  *block = a + (size_t)PARTS * (size_t)((k - first) * b * c);
      const NUMBER *from  = x + (size_t)j[k] * (size_t)c;

      for (int p = 0; p < b; p++) {
        for (int q = 0; q < c; q++) y[v * b + p] += ENTRY(block, p * c + q) * from[q];
      }
    }
  }
}

/* The same for a row of one number, with four sums */
static inline void FN(RowsOfOne)(int nodes, const int i[], const int j[], const float a[], const NUMBER x[], NUMBER y[])
{
  const int first = i[0];

  for (int v = 0; v < nodes; v++) {
    NUMBER sum[4] = {0, 0, 0, 0};
    int    k      = i[v];

    for (; k + 4 <= i[v + 1]; k += 4) {
      for (int p = 0; p < 4; p++) sum[p] += ENTRY(a, k - first + p) * x[j[k + p]];
    }
    for (; k < i[v + 1]; k++) sum[0] += ENTRY(a, k - first) * x[j[k]];
    y[v] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

/* The same for a slice of 32 rows. Loops have a vector's work each */
LITHE_TARGET_CLONES static void FN(Slice)(const CAMGOperator *op, int slice, const NUMBER *restrict x, NUMBER *restrict y)
{
  NUMBER sum[64] = {0};

  for (int step = op->i[slice]; step < op->i[slice + 1]; step++) {
    const size_t at = (size_t)step * 64;
    float        a[64 * PARTS];
    NUMBER       from[64];

    if (op->bits == 8) {
      for (int k = 0; k < 64 * PARTS; k++) a[k] = CAMGDecode8(((const uint8_t *)op->code)[at * PARTS + (size_t)k]);
    } else if (op->bits == 16) {
      for (int k = 0; k < 64 * PARTS; k++) a[k] = CAMGDecode16(((const uint16_t *)op->code)[at * PARTS + (size_t)k]);
    } else {
      for (int k = 0; k < 64 * PARTS; k++) a[k] = ((const float *)op->code)[at * PARTS + (size_t)k];
    }
    if (op->narrow) {
      const uint16_t *restrict c  = (const uint16_t *)op->j + at;
      const NUMBER *restrict near = x + op->base[step];

      for (int k = 0; k < 64; k++) from[k] = near[c[k]];
    } else {
      for (int k = 0; k < 64; k++) from[k] = x[op->j[at + (size_t)k]];
    }
    for (int k = 0; k < 64; k++) sum[k] += ENTRY(a, k) * from[k];
  }
  for (int r = 0; r < 32; r++) y[r] = sum[2 * r] + sum[2 * r + 1];
}

/* y = the product of `nodes` rows of blocks, without the diagonal. buffer: room for their entries */
LITHE_TARGET_CLONES_NARROW static void FN(Product)(const CAMGOperator *op, int node, int nodes, float buffer[], const NUMBER x[], NUMBER y[])
{
  const int   *i = op->i + node, *j = op->j, size = op->rb * op->cb;
  const size_t from = (size_t)i[0] * (size_t)size * PARTS, n = (size_t)(i[nodes] - i[0]) * (size_t)size * PARTS;
  const float *a = buffer;

  if (op->bits == 8) {
    for (size_t k = 0; k < n; k++) buffer[k] = CAMGDecode8(((const uint8_t *)op->code)[from + k]);
  } else if (op->bits == 16) {
    for (size_t k = 0; k < n; k++) buffer[k] = CAMGDecode16(((const uint16_t *)op->code)[from + k]);
  } else a = (const float *)op->code + from;
  if (size == 1) FN(RowsOfOne)(nodes, i, j, a, x, y);
  else if (op->rb == 3 && op->cb == 3) FN(Rows)(3, 3, nodes, i, j, a, x, y);
  else if (op->rb == 6 && op->cb == 6) FN(Rows)(6, 6, nodes, i, j, a, x, y);
  else if (op->rb == 3 && op->cb == 6) FN(Rows)(3, 6, nodes, i, j, a, x, y);
  else if (op->rb == 6 && op->cb == 3) FN(Rows)(6, 3, nodes, i, j, a, x, y);
  else FN(Rows)(op->rb, op->cb, nodes, i, j, a, x, y);
}

/* What is done with the products of rows: see the functions of CAMGKernels */
static void FN(Finish)(const CAMGOperator *op, const HostResult *to, int row, int n, const NUMBER x[], NUMBER y[])
{
  const NUMBER *b = (const NUMBER *)to->b, *old = (const NUMBER *)to->old;
  NUMBER       *out = (NUMBER *)to->out;
  const REAL    c1 = (REAL)to->c1, c2 = (REAL)to->c2;

  if (op->d) {
    for (int r = 0; r < n; r++) y[r] += ENTRY((const float *)op->d, row + r) * x[row + r];
  }
  switch (to->what) {
  case HOST_STEP:
    for (int r = 0; r < n; r++) y[r] = x[row + r] + c2 * (REAL)op->minv[row + r] * (b[row + r] - y[r]);
    for (int r = 0; r < n && old; r++) y[r] += c1 * (x[row + r] - old[row + r]);
    for (int r = 0; r < n && !old; r++) y[r] += c1 * x[row + r];
    for (int r = 0; r < n; r++) out[row + r] = y[r];
    break;
  case HOST_RESIDUAL:
    for (int r = 0; r < n; r++) out[row + r] = b[row + r] - y[r];
    break;
  case HOST_ADD:
    for (int r = 0; r < n; r++) out[row + r] += y[r];
    break;
  default:
    for (int r = 0; r < n; r++) out[row + r] = y[r];
  }
}

static PetscErrorCode FN(Run)(const CAMGOperator *op, const NUMBER x[], const HostResult *to)
{
  NUMBER y[HOST_ROWS * HOST_BLOCK] = {0};
  float *buffer;
  int    most = 0;

  PetscFunctionBegin;
  for (int v = 0; v < op->m && op->group; v += 32) {
    FN(Slice)(op, v / 32, x, y);
    FN(Finish)(op, to, v, PetscMin(32, op->m - v), x, y);
  }
  if (op->group) PetscFunctionReturn(PETSC_SUCCESS);
  for (int v = 0; v < op->m; v += HOST_ROWS) most = PetscMax(most, op->i[PetscMin(v + HOST_ROWS, op->m)] - op->i[v]);
  PetscCall(PetscMalloc1(op->bits == 32 ? 0 : (size_t)most * (size_t)(op->rb * op->cb) * PARTS, &buffer));
  for (int v = 0; v < op->m; v += HOST_ROWS) {
    const int nodes = PetscMin(HOST_ROWS, op->m - v);

    FN(Product)(op, v, nodes, buffer, x, y);
    FN(Finish)(op, to, v * op->rb, nodes * op->rb, x, y);
  }
  PetscCall(PetscFree(buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void FN(Start)(const CAMGOperator *op, REAL c2, const NUMBER b[], NUMBER out[])
{
  for (int r = 0; r < op->m * op->rb; r++) out[r] = c2 * (REAL)op->minv[r] * b[r];
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
