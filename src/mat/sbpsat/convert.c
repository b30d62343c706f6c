/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A MATSBPSAT as a stored matrix, from products of one-dimensional matrices. The file shares tables but no code with
   the products of the class: each can be checked against the other.
*/

#include "sbpsatimpl.h"

#define SBP_ROW_MOST 361 /* entries: (2 reach + 1)^2 of order 6 */

/* Q_ik and H_ii of n + 1 nodes */
static double SBPEntryQ(const SBPTable *t, PetscInt n, PetscInt i, PetscInt k)
{
  const PetscInt d = k - i;

  if (i < t->norms) return k < t->columns ? t->Q[i][k] : 0;
  if (n - i < t->norms) return n - k < t->columns ? -t->Q[n - i][n - k] : 0;
  if (d < -t->half || d > t->half) return 0;
  return d < 0 ? -t->q[-d] : t->q[d];
}

static double SBPEntryH(const SBPTable *t, PetscInt n, PetscInt i)
{
  const PetscInt distance = PetscMin(i, n - i);

  return distance < t->norms ? t->norm[distance] : 1;
}

/* M(b)_ik: l runs over the coefficients that either stencil may read */
static double SBPEntryM(const SBPTable *t, PetscInt n, PetscInt i, PetscInt k, const PetscReal *b, PetscInt stride)
{
  const PetscInt distance = PetscMin(i, n - i), width = t->rows + t->half;
  double         sum = 0;

  if (distance < t->rows) {
    const PetscInt row = distance, column = i == distance ? k : n - k;

    if (column < 0 || column >= width) return 0;
    for (PetscInt l = 0; l < width; l++) {
      if (t->M[row][column][l] != 0) sum += t->M[row][column][l] * (double)b[(i == distance ? l : n - l) * stride];
    }
    return sum;
  }
  if (k > i + t->half || k < i - t->half) return 0;
  for (PetscInt l = -t->half; l <= t->half; l++) {
    const double weight = t->m[k < i ? i - k : k - i][t->half + (k < i ? -l : l)];

    if (weight != 0) sum += weight * (double)b[(i + l) * stride];
  }
  return sum;
}

/* d0 (end 0) or dN, times h, at node k */
static double SBPEntryNormal(const SBPTable *t, PetscInt n, int end, PetscInt k)
{
  const PetscInt distance = end ? n - k : k;

  return distance < t->normals ? (end ? -t->normal[distance] : t->normal[distance]) : 0;
}

/*
   G_(i,j),(k,l) of a face: the row of node (i, j) of the face, +-H (c_nn d0 + c_rs D L), with the derivative d0 along
   the normal. Indices are (along the normal, along the face)
*/
static double SBPEntryG(const SBPOperator *op, const SBPTable *t, int face, PetscInt at, PetscInt k, PetscInt l, double normal, double mixed)
{
  const SBPGrid *g = &op->grid;
  const int      d = face / 2, e = 1 - d, end = face % 2;
  double         sum = 0;

  if (l == at) sum += SBPEntryH(t, g->n[e], at) * (double)(g->h[e] / g->h[d]) * normal * SBPEntryNormal(t, g->n[d], end, k);
  if (k == (end ? g->n[d] : 0)) sum += mixed * SBPEntryQ(t, g->n[e], at, l);
  return end ? sum : -sum;
}

/* Row (i, j): its entries in the surrounding box of nodes inside the grid, r fastest */
static void SBPAssembleRow(const SBPOperator *op, const PetscInt at[2], const PetscInt low[2], const PetscInt high[2], double *entries)
{
  const SBPGrid   *g          = &op->grid;
  const SBPTable  *t          = SBPTableOf(g->order);
  const PetscInt   strides[2] = {1, g->coefficientpitch};
  const PetscInt64 origin     = -((PetscInt64)g->ghosted.start[1] * g->coefficientpitch + g->ghosted.start[0]); /* of node (0, 0) */
  const PetscReal *mixed      = (const PetscReal *)op->coefficient[2] + origin;
  const PetscInt   width      = high[0] - low[0] + 1;

#define Entry(k, l) entries[((l)-low[1]) * width + (k)-low[0]]
  for (PetscInt k = 0; k < width * (high[1] - low[1] + 1); k++) entries[k] = 0;

  /* H_s M(c_rr) + H_r M(c_ss) */
  for (int d = 0; d < 2; d++) {
    const int        e = 1 - d;
    const PetscReal *c = (const PetscReal *)op->coefficient[d] + origin + at[e] * strides[e];

    for (PetscInt k = low[d]; k <= high[d]; k++) {
      const double value = SBPEntryH(t, g->n[e], at[e]) * (double)(g->h[e] / g->h[d]) * SBPEntryM(t, g->n[d], at[d], k, c, strides[d]);

      if (d == 0) Entry(k, at[1]) += value;
      else Entry(at[0], k) += value;
    }
  }

  /* (Q_r^T x I) C_rs (I x Q_s) + (I x Q_s^T) C_rs (Q_r x I) */
  for (PetscInt k = low[0]; k <= high[0]; k++) {
    for (PetscInt l = low[1]; l <= high[1]; l++) {
      Entry(k, l) += SBPEntryQ(t, g->n[0], k, at[0]) * (double)mixed[k + at[1] * strides[1]] * SBPEntryQ(t, g->n[1], at[1], l);
      Entry(k, l) += SBPEntryQ(t, g->n[1], l, at[1]) * (double)mixed[at[0] + l * strides[1]] * SBPEntryQ(t, g->n[0], at[0], k);
    }
  }

  /* -L^T G - G^T L + L^T H c_nn Gamma L */
  for (int face = 0; face < SBP_FACES; face++) {
    const int        d = face / 2, e = 1 - d;
    const PetscInt   wall = face % 2 ? g->n[d] : 0;
    const PetscReal *c    = (const PetscReal *)op->coefficient[d] + origin;

    if (!g->dirichlet[face] || wall < low[d] || wall > high[d]) continue;
    for (PetscInt k = low[d]; k <= high[d]; k++) {
      for (PetscInt l = low[e]; l <= high[e]; l++) {
        double *entry = d == 0 ? &Entry(k, l) : &Entry(l, k);

        if (at[d] == wall) {
          const PetscInt64 node = wall * strides[d] + (PetscInt64)at[e] * strides[e];

          *entry -= SBPEntryG(op, t, face, at[e], k, l, (double)c[node], (double)mixed[node]);
          if (k == wall && l == at[e])
            *entry += SBPEntryH(t, g->n[e], l) * (double)g->h[e] * (double)((const PetscReal *)op->penalty[face])[l - g->ghosted.start[e]];
        }
        if (k == wall) {
          const PetscInt64 node = wall * strides[d] + (PetscInt64)l * strides[e];

          *entry -= SBPEntryG(op, t, face, l, at[d], at[e], (double)c[node], (double)mixed[node]);
        }
      }
    }
  }
#undef Entry
}

/* Data of MatSBPSATRow_Private() on the host: coefficients, and the right scale with ghosts. Collective the first
   time */
PetscErrorCode MatSBPSATRowBegin_Private(Mat A)
{
  Mat_SBPSAT        *ctx = (Mat_SBPSAT *)A->data;
  const SBPOperator *op;
  const PetscScalar *right;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetPlain(A, SBP_SCALAR, PETSC_FALSE, &op));
  if (!ctx->change.right || ctx->rows.rights) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(op->grid.ghosted.count[0] * op->grid.ghosted.count[1], &ctx->rows.rights));
  PetscCall(VecGetArrayRead(ctx->change.right, &right));
  PetscCall(SBPGridGhosts_Private(ctx->built.halo, &op->grid, SBP_SCALAR, PETSC_FALSE, right, ctx->rows.rights));
  PetscCall(VecRestoreArrayRead(ctx->change.right, &right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (2 reach + 1)^2 */
PetscInt MatSBPSATRowSize_Private(Mat A)
{
  const PetscInt side = 2 * ((Mat_SBPSAT *)A->data)->built.op[SBP_SCALAR][0].grid.reach + 1;

  return side * side;
}

/* Arrays for a row of MatGetRow() */
PetscErrorCode MatSBPSATRowRoom_Private(Mat A, PetscInt *columns[], PetscScalar *entries[])
{
  SBPRows       *rows = &((Mat_SBPSAT *)A->data)->rows;
  const PetscInt size = MatSBPSATRowSize_Private(A);

  PetscFunctionBegin;
  if (!rows->columns) PetscCall(PetscMalloc2(size, &rows->columns, size, &rows->entries));
  *columns = rows->columns;
  *entries = rows->entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Global columns and entries of the row of an owned node, and their number; arrays have the size of
   MatSBPSATRowSize_Private()
*/
PetscErrorCode MatSBPSATRow_Private(Mat A, PetscInt i, PetscInt j, PetscInt *n, PetscInt columns[], PetscScalar values[])
{
  Mat_SBPSAT        *ctx = (Mat_SBPSAT *)A->data;
  const SBPChange   *c   = &ctx->change;
  const SBPOperator *op  = &ctx->built.op[SBP_SCALAR][0];
  const SBPGrid     *g   = &op->grid;
  const SBPTable    *t   = SBPTableOf(g->order);
  /* nodes that no closure reads or writes have the interior stencil */
  const PetscInt     closure = PetscMax(PetscMax(t->rows + t->half, t->columns), t->normals);
  const PetscInt     at[2] = {i, j}, own = (j - g->own.start[1]) * g->own.count[0] + i - g->own.start[0];
  PetscInt           low[2], high[2], count = 0;
  double             entries[SBP_ROW_MOST];
  PetscScalar        diagonal = 0, left = 1;
  const PetscScalar *array;

  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    const PetscInt reach = PetscMin(at[d], g->n[d] - at[d]) < closure ? g->reach : t->half;

    low[d]  = PetscMax(0, at[d] - reach);
    high[d] = PetscMin(g->n[d], at[d] + reach);
  }
  PetscAssert(MatSBPSATRowSize_Private(A) <= SBP_ROW_MOST, PETSC_COMM_SELF, PETSC_ERR_PLIB,
              "A row of order %d has up to %" PetscInt_FMT " entries, there is place for %d", g->order, MatSBPSATRowSize_Private(A), SBP_ROW_MOST);
  SBPAssembleRow(op, at, low, high, entries);
  if (c->diagonal) {
    PetscCall(VecGetArrayRead(c->diagonal, &array));
    diagonal = array[own];
    PetscCall(VecRestoreArrayRead(c->diagonal, &array));
  }
  if (c->left) {
    PetscCall(VecGetArrayRead(c->left, &array));
    left = array[own];
    PetscCall(VecRestoreArrayRead(c->left, &array));
  }
  for (PetscInt l = low[1]; l <= high[1]; l++) {
    for (PetscInt k = low[0]; k <= high[0]; k++) {
      const PetscInt  ghost = (l - g->ghosted.start[1]) * g->ghosted.count[0] + k - g->ghosted.start[0];
      const PetscBool here  = (PetscBool)(k == i && l == j);
      const double    entry = entries[(l - low[1]) * (high[0] - low[0] + 1) + k - low[0]];
      PetscScalar     value = (PetscReal)entry;

      if (entry == 0 && !here) continue;
      if (c->scale != (PetscScalar)1) value *= c->scale;
      if (here) value += diagonal;
      if (c->left) value *= left;
      if (c->right) value *= ctx->rows.rights[ghost];
      columns[count]  = SBPPartsExist(&ctx->built.parts) ? SBPPartsNumber(&ctx->built.parts, k, l) : ghost;
      values[count++] = value;
    }
  }
  *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows are computed twice: PETSc's table for entries of unknown number takes longer */
static PetscErrorCode Preallocate_Private(Mat A, Mat B, PetscInt columns[], PetscScalar values[])
{
  const SBPGrid *g   = &((Mat_SBPSAT *)A->data)->built.op[SBP_SCALAR][0].grid;
  PetscInt       row = 0, *inside, *outside;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(A->rmap->n, &inside, A->rmap->n, &outside));
  for (PetscInt j = g->own.start[1]; j < g->own.start[1] + g->own.count[1]; j++) {
    for (PetscInt i = g->own.start[0]; i < g->own.start[0] + g->own.count[0]; i++, row++) {
      PetscInt count;

      PetscCall(MatSBPSATRow_Private(A, i, j, &count, columns, values));
      for (PetscInt e = 0; e < count; e++) inside[row] += columns[e] >= A->cmap->rstart && columns[e] < A->cmap->rend;
      outside[row] = count - inside[row];
    }
  }
  PetscCall(MatXAIJSetPreallocation(B, 1, inside, outside, NULL, NULL));
  PetscCall(PetscFree2(inside, outside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_SBPSAT_AIJ(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  Mat            B;
  DM             da;
  const SBPGrid *g;
  PetscInt       row, *columns;
  PetscScalar   *values;

  PetscFunctionBegin;
  PetscCall(MatSBPSATRowBegin_Private(A));
  g = &ctx->built.op[SBP_SCALAR][0].grid;
  PetscCall(PetscMalloc2(MatSBPSATRowSize_Private(A), &columns, MatSBPSATRowSize_Private(A), &values));
  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatZeroEntries(B));
  } else {
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
    PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
    PetscCall(MatSetType(B, type));
    PetscCall(Preallocate_Private(A, B, columns, values));
    PetscCall(MatSetUp(B));
    PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE)); /* other coefficients may have more nonzeros */
    PetscCall(MatGetDM(A, &da));
    PetscCall(MatSetDM(B, da));
  }
  row = A->rmap->rstart;
  for (PetscInt j = g->own.start[1]; j < g->own.start[1] + g->own.count[1]; j++) {
    for (PetscInt i = g->own.start[0]; i < g->own.start[0] + g->own.count[0]; i++, row++) {
      PetscInt count;

      PetscCall(MatSBPSATRow_Private(A, i, j, &count, columns, values));
      PetscCall(MatSetValues(B, 1, &row, count, columns, values, INSERT_VALUES));
    }
  }
  PetscCall(PetscFree2(columns, values));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatHeaderReplace(A, &B));
  else *newmat = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
