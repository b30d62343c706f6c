/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Smoothed aggregation (P. Vanek, J. Mandel, M. Brezina, Algebraic multigrid by smoothed aggregation for second and
   fourth order elliptic problems, Computing 56, 1996). The tentative interpolation T is the near null space, cut into
   aggregates. P = T - 4/3 M^-1 F T, with F the filtered matrix and M >= F a diagonal.
*/

#include "camgimpl.h"

/* ------------------------------------------------------------ tentative */

/* Nodes sorted by aggregate: those of aggregate a are node[start[a]] to node[start[a + 1] - 1] */
static PetscErrorCode Group_Private(PetscInt nodes, const PetscInt agg[], PetscInt aggregates, PetscInt start[], PetscInt node[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(start, aggregates + 2));
  for (PetscInt v = 0; v < nodes; v++) {
    if (agg[v] >= 0) start[agg[v] + 2]++;
  }
  for (PetscInt a = 0; a < aggregates; a++) start[a + 2] += start[a + 1];
  for (PetscInt v = 0; v < nodes; v++) {
    if (agg[v] >= 0) node[start[agg[v] + 1]++] = v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Q R = B for m x k numbers by rows, twice modified Gram-Schmidt; dependent columns of Q, and their rows of R, are 0 */
static void Orthonormalise(PetscInt m, PetscInt k, PetscScalar B[], PetscScalar R[])
{
  for (PetscInt c = 0; c < k; c++) {
    PetscReal before = 0, after = 0;

    for (PetscInt r = 0; r < m; r++) before += PetscRealPart(B[r * k + c] * PetscConj(B[r * k + c]));
    for (PetscInt q = 0; q < k; q++) R[q * k + c] = 0;
    for (int pass = 0; pass < 2; pass++) {
      for (PetscInt q = 0; q < c; q++) {
        PetscScalar dot = 0;

        for (PetscInt r = 0; r < m; r++) dot += PetscConj(B[r * k + q]) * B[r * k + c];
        for (PetscInt r = 0; r < m; r++) B[r * k + c] -= dot * B[r * k + q];
        R[q * k + c] += dot;
      }
    }
    for (PetscInt r = 0; r < m; r++) after += PetscRealPart(B[r * k + c] * PetscConj(B[r * k + c]));
    before       = PetscSqrtReal(before);
    after        = PetscSqrtReal(after);
    R[c * k + c] = after > (PetscReal)CAMG_DROP * before ? after : 0;
    for (PetscInt r = 0; r < m; r++) B[r * k + c] = R[c * k + c] == (PetscScalar)0. ? (PetscScalar)0. : B[r * k + c] / after;
  }
}

/* The rows of T become those of the tentative interpolation, 0 for nodes without an aggregate */
PetscErrorCode PCCAMGTentative_Private(CAMGSpace *space, PetscInt nodes, const PetscInt agg[], PetscInt aggregates, CAMGSpace *coarse)
{
  const PetscInt k = space->columns, row = space->block * k;
  PetscInt      *start, *node, most = 0;
  PetscScalar   *B;

  PetscFunctionBegin;
  *coarse = (CAMGSpace){.block = k, .columns = k, .vectors = space->vectors};
  if (!space->T) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)(aggregates * k * k), &coarse->T));
  PetscCall(PetscMalloc2(aggregates + 2, &start, nodes, &node));
  PetscCall(Group_Private(nodes, agg, aggregates, start, node));
  for (PetscInt a = 0; a < aggregates; a++) most = PetscMax(most, start[a + 1] - start[a]);
  PetscCall(PetscMalloc1((size_t)(most * row), &B));
  for (PetscInt a = 0; a < aggregates; a++) {
    const PetscInt size = start[a + 1] - start[a];

    for (PetscInt q = 0; q < size; q++) PetscCall(PetscArraycpy(B + q * row, space->T + node[start[a] + q] * row, row));
    Orthonormalise(size * space->block, k, B, coarse->T + a * k * k);
    for (PetscInt q = 0; q < size; q++) PetscCall(PetscArraycpy(space->T + node[start[a] + q] * row, B + q * row, row));
  }
  for (PetscInt v = 0; v < nodes; v++) {
    if (agg[v] < 0) PetscCall(PetscArrayzero(space->T + v * row, row));
  }
  PetscCall(PetscFree(B));
  PetscCall(PetscFree2(start, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ smoothing */

/*
   damping = 4/3 M^-1 of rows with a positive diagonal, else 0; bound: of the eigenvalues of M^-1 A over the sums of
   moduli
*/
PetscErrorCode PCCAMGDamping_Private(const CAMGGraph *g, PetscReal bound, PetscReal damping[])
{
  const CAMGMatrix *F  = &g->strong;
  const PetscInt    rb = F->rb, cb = F->cb;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < F->m * rb; r++) {
    const PetscInt v = r / rb, p = r % rb;
    PetscScalar    diag = g->d ? g->d[r] : (PetscScalar)0.;
    PetscReal      sum  = PetscAbsScalar(diag);

    for (PetscInt k = F->i[v]; k < F->i[v + 1]; k++) {
      const PetscScalar *a = F->a + (size_t)((k * rb + p) * cb);

      for (PetscInt q = 0; q < cb; q++) sum += PetscAbsScalar(a[q]);
      if (!g->d && F->j[k] == v) diag = a[p];
    }
    damping[r] = PetscRealPart(diag) > 0 ? (PetscReal)CAMG_WEIGHT / sum / bound : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of P: of each aggregate a block of b x k numbers */
typedef struct {
  PetscInt     b, k, n;
  PetscInt    *at;        /* per aggregate: its place in the row, else -1 */
  PetscInt    *aggregate; /* [n] */
  PetscScalar *value;     /* [n][b][k] */
} Row;

/* The block of an aggregate, 0 at first */
static inline PetscScalar *BlockOf(Row *row, PetscInt aggregate)
{
  const PetscInt size = row->b * row->k;

  if (row->at[aggregate] < 0) {
    row->at[aggregate]       = row->n;
    row->aggregate[row->n++] = aggregate;
    for (PetscInt c = 0; c < size; c++) row->value[row->at[aggregate] * size + c] = 0;
  }
  return row->value + row->at[aggregate] * size;
}

/* Adds -damping a T of a neighbour, with damping [b], a [b][cb], T [cb][k] */
static inline void AddBlock(Row *row, PetscInt aggregate, const PetscReal damping[], PetscInt cb, const PetscScalar a[], const PetscScalar T[])
{
  PetscScalar *to = BlockOf(row, aggregate);

  for (PetscInt p = 0; p < row->b; p++) {
    for (PetscInt q = 0; q < cb; q++) {
      const PetscScalar factor = -damping[p] * a[p * cb + q];

      for (PetscInt c = 0; c < row->k; c++) to[p * row->k + c] += factor * T[q * row->k + c];
    }
  }
}

/*
   The largest entries stay; they are multiplied to the sum of all, unless that would change them tenfold. Ties keep the
   first
*/
static void Truncate(Row *row, PetscInt most)
{
  PetscScalar all = 0, kept = 0;

  for (PetscInt q = 0; q < row->n; q++) all += row->value[q];
  for (; row->n > most; row->n--) {
    PetscInt least = 0;

    for (PetscInt q = 1; q < row->n; q++) {
      if (PetscAbsScalar(row->value[q]) <= PetscAbsScalar(row->value[least])) least = q;
    }
    row->at[row->aggregate[least]] = -1;
    for (PetscInt q = least; q + 1 < row->n; q++) {
      row->aggregate[q] = row->aggregate[q + 1];
      row->value[q]     = row->value[q + 1];
    }
  }
  for (PetscInt q = 0; q < row->n; q++) kept += row->value[q];
  if (!(PetscAbsScalar(kept) > (PetscReal)0.1 * PetscAbsScalar(all))) return;
  for (PetscInt q = 0; q < row->n; q++) row->value[q] *= all / kept;
}

/* Appends the row by ascending columns */
static PetscErrorCode Append_Private(Row *row, PetscInt *used, CAMGMatrix *P)
{
  const size_t size = (size_t)row->b * (size_t)row->k;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < row->n; q++) row->at[row->aggregate[q]] = q;
  PetscCall(PetscSortInt(row->n, row->aggregate));
  for (PetscInt q = 0; q < row->n; q++) {
    const PetscInt a = row->aggregate[q];

    P->j[*used] = a;
    for (size_t c = 0; c < size; c++) P->a[(size_t)*used * size + c] = row->value[(size_t)row->at[a] * size + c];
    (*used)++;
    row->at[a] = -1;
  }
  row->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smoothed row of node v */
static void SmoothRow(const CAMGGraph *g, const PetscReal damping[], const CAMGSpace *space, const PetscInt agg[], PetscInt v, Row *row)
{
  const CAMGMatrix *F    = &g->strong;
  const PetscInt    size = space->block * space->columns;
  const PetscScalar one  = 1;

  if (agg[v] >= 0) {
    PetscScalar *to = BlockOf(row, agg[v]);

    for (PetscInt c = 0; c < size; c++) to[c] += space->T ? space->T[v * size + c] : (PetscScalar)1.;
    if (damping && g->d) AddBlock(row, agg[v], damping + v, 1, g->d + v, space->T ? space->T + v * size : &one);
  }
  for (PetscInt k = F->i[v]; k < F->i[v + 1] && damping; k++) {
    const PetscInt c = F->j[k];

    if (agg[c] < 0) continue;
    AddBlock(row, agg[c], damping + v * space->block, F->cb, F->a + (size_t)(k * F->rb * F->cb), space->T ? space->T + c * size : &one);
  }
}

/* P = T - damping F T; damping NULL: P = T. truncate: entries of a row of P with one column per aggregate, 0: all */
PetscErrorCode PCCAMGSmooth_Private(const CAMGGraph *g, const PetscReal damping[], const CAMGSpace *space, const PetscInt agg[], PetscInt aggregates,
                                    PetscInt truncate, CAMGMatrix *P)
{
  const CAMGMatrix *F       = &g->strong;
  const PetscBool   cut     = (PetscBool)(damping && truncate && space->columns == 1 && space->block == 1);
  Row               row     = {.b = space->block, .k = space->columns};
  PetscInt          longest = 1, used = 0, room = damping ? F->nz + F->m : F->m;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < F->m && damping; r++) longest = PetscMax(longest, F->i[r + 1] - F->i[r] + 1);
  if (cut) room = PetscMin(room, truncate * F->m);
  PetscCall(PCCAMGMatrixCreate_Private(F->m, aggregates, room, space->block, space->columns, P));
  PetscCall(PetscMalloc3(aggregates, &row.at, longest, &row.aggregate, (size_t)longest * (size_t)(row.b * row.k), &row.value));
  for (PetscInt a = 0; a < aggregates; a++) row.at[a] = -1;
  for (PetscInt v = 0; v < F->m; v++) {
    const PetscBool plain = (PetscBool)(damping && F->rb == 1 && damping[v] == 0);

    SmoothRow(g, plain ? NULL : damping, space, agg, v, &row);
    if (cut) Truncate(&row, truncate);
    PetscCall(Append_Private(&row, &used, P));
    P->i[v + 1] = used;
  }
  P->nz = used;
  PetscCall(PetscFree3(row.at, row.aggregate, row.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
