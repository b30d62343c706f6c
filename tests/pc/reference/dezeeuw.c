/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrix-dependent prolongation for stencils of 9 and 27 points, and the Galerkin product with it.

   Points with even numbers in all directions, or the last ones, are those of the coarse grid. Others take their value from
   the 2, 4 or 8 coarse points round them, point by point:

     one odd number     weights d_w/(d_w + d_e) and d_e/(d_w + d_e) for the coarse points on both sides,
                        d the modulus of the sum of the matrix entries on that side, or of the largest
                        of them off the line if that is more
     two, three         the average of the neighbours in the plane (in space) of the odd directions,
                        which have their weights already, by the moduli of the matrix entries, those
                        of the even direction summed

   This is de Zeeuw's, reference 1, for matrices whose off-diagonal entries have one sign and whose
   antisymmetric part is small; moduli are for complex ones. Weights are real and not negative, and their
   sum is one. The last point belongs to the coarse grid also if its number is odd (an even number of points).

   The product takes the rows of A one by one: t = (row of A) P, then P^T t, which is added to stencils of
   the coarse grid. No matrix product is formed on the way.

   Reference:
   1. P. M. de Zeeuw, Matrix-dependent prolongations and restrictions in a blackbox multigrid solver, J. Comput. Appl. Math. 33, 1990.
*/

#include "referencepc.h"

/* How far neighbour s is in direction d */
static inline PetscInt Offset(PetscInt s, PetscInt d)
{
  if (d == 0) return s % 3 - 1;
  return (d == 1 ? s / 3 : s / 9) % 3 - 1;
}

/* Bit d is set where the number in direction d is odd, but for a last point, which the coarse grid has */
static inline PetscInt OddDirections(const Grid *grid, const PetscInt at[3])
{
  PetscInt odd = 0;

  for (PetscInt d = 0; d < 3; d++) odd |= (at[d] < grid->n[d] - 1 ? at[d] & 1 : 0) << d;
  return odd;
}

/* Bit d is set for a last point with an odd number: the coarse point is the higher one of the two beside it */
static inline PetscInt LastDirections(const Grid *grid, const PetscInt at[3])
{
  PetscInt last = 0;

  for (PetscInt d = 0; d < 3; d++) last |= (at[d] == grid->n[d] - 1 ? at[d] & 1 : 0) << d;
  return last;
}

static inline PetscInt CountBits(PetscInt bits)
{
  return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
}

/* One odd number. In a stencil of two dimensions s starts in the middle plane of three */
static void LineWeights(const Grid *grid, PetscInt odd, PetscInt last, const PetscScalar stencil[], PetscScalar weight[])
{
  const PetscInt d = odd / 2, shift = grid->dim == 2 ? 9 : 0; /* bit d of odd is set */
  PetscReal      side[2] = {0., 0.};

  for (PetscInt high = 0; high < 2; high++) {
    PetscScalar sum = 0.;

    for (PetscInt s = 0; s < grid->points; s++) {
      if (Offset(s + shift, d) != 2 * high - 1) continue;
      sum += stencil[s];
      /* off the line through the point */
      for (PetscInt e = 0; e < grid->dim; e++) {
        if (e != d && Offset(s + shift, e)) side[high] = PetscMax(side[high], PetscAbsScalar(stencil[s]));
      }
    }
    side[high] = PetscMax(side[high], PetscAbsScalar(sum));
  }
  if (side[0] + side[1] > 0.) {
    weight[last]            = side[0] / (side[0] + side[1]);
    weight[last | (1 << d)] = side[1] / (side[0] + side[1]);
  }
}

/* Two or three: from the weights of the neighbours, which are those of their own coarse points */
static void AverageWeights(const Grid *grid, PetscInt odd, PetscInt last, const PetscInt at[3], const PetscScalar stencil[], const PetscScalar weights[],
                           PetscScalar weight[])
{
  const PetscInt shift = grid->dim == 2 ? 9 : 0;
  PetscScalar    along[GRID_MAX_POINTS];
  PetscReal      all = 0.;

  /* the even direction is summed */
  for (PetscInt s = 0; s < grid->points; s++) along[s] = 0.;
  for (PetscInt s = 0; s < grid->points; s++) {
    PetscInt to = s;

    if (grid->dim == 3) {
      if (!(odd & 1)) to -= Offset(s, 0);
      if (!(odd & 2)) to -= 3 * Offset(s, 1);
      if (!(odd & 4)) to -= 9 * Offset(s, 2);
    }
    along[to] += stencil[s]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): all points are set above */
  }
  for (PetscInt s = 0; s < grid->points; s++) {
    const PetscReal    modulus = PetscAbsScalar(along[s]);
    const PetscScalar *there;
    PetscInt           to[3], own = 0, between = 0;

    if (s == GridCentre(grid) || modulus == 0. || !GridNeighbour(grid, at, s, to)) continue;
    all += modulus;
    there = weights + (size_t)GridGhosted(grid, to) * grid->corners;
    /* where the neighbour lies between coarse points this point does, too; elsewhere it lies on one of them */
    for (PetscInt d = 0; d < grid->dim; d++) {
      if (!(odd >> d & 1)) continue;
      if (Offset(s + shift, d) == 0) between |= 1 << d;
      else if (Offset(s + shift, d) > 0) own |= 1 << d;
    }
    for (PetscInt c = 0; c < grid->corners; c++) {
      if ((c & (between | last)) == c) weight[own | c] += modulus * there[c];
    }
  }
  for (PetscInt c = 0; c < grid->corners && all > 0.; c++) weight[c] /= all;
}

/* Weights of all points, in a local vector with 4 or 8 for a point: bit d of a number says on which side the coarse point is */
static PetscErrorCode GetWeights(const Grid *grid, Mat A, DM da, Vec local)
{
  Vec          global;
  PetscScalar *weights, *owned;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(da, &global));
  PetscCall(VecZeroEntries(global));
  for (PetscInt stage = 0; stage <= grid->dim; stage++) {
    PetscInt at[3] = {grid->start[0], grid->start[1], grid->start[2]};

    PetscCall(VecGetArray(local, &weights));
    PetscCall(VecGetArray(global, &owned));
    for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
      const PetscInt odd = OddDirections(grid, at), last = LastDirections(grid, at);
      PetscScalar   *weight = owned + (size_t)row * grid->corners, stencil[GRID_MAX_POINTS];

      if (CountBits(odd) != stage) continue;
      if (stage == 0) {
        weight[last] = 1.;
        continue;
      }
      PetscCall(GridGetStencil(grid, A, at, stencil));
      if (stage == 1) LineWeights(grid, odd, last, stencil, weight);
      else AverageWeights(grid, odd, last, at, stencil, weights, weight);
    }
    PetscCall(VecRestoreArray(global, &owned));
    PetscCall(VecRestoreArray(local, &weights));
    PetscCall(DMGlobalToLocal(da, global, INSERT_VALUES, local));
  }
  PetscCall(DMRestoreGlobalVector(da, &global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateInterpolation(const Grid *grid, const Grid *coarse, Mat A, const PetscScalar weights[], Mat *P)
{
  PetscInt at[3] = {grid->start[0], grid->start[1], grid->start[2]};
  CSR      csr;

  PetscFunctionBegin;
  PetscCall(CSRCreate(grid->rows, (PetscInt64)grid->rows * grid->corners, &csr));
  for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
    const PetscScalar *weight = weights + (size_t)GridGhosted(grid, at) * grid->corners;

    for (PetscInt c = 0; c < grid->corners; c++) {
      const PetscInt to[3] = {at[0] / 2 + (c & 1), at[1] / 2 + (c >> 1 & 1), at[2] / 2 + (c >> 2)};

      if (weight[c] != (PetscScalar)0.) CSRAdd(&csr, coarse->global[GridGhosted(coarse, to)], weight[c]);
    }
    CSRNextRow(&csr);
  }
  PetscCall(MatCreateLike(A, P));
  PetscCall(CSRFinish(&csr, coarse->rows, *P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the row of a point adds to the stencils of the coarse points round it, in stencils[] with those next to this process' */
static void AddProduct(const Grid *grid, const Grid *coarse, const PetscInt at[3], const PetscScalar stencil[], const PetscScalar weights[],
                       PetscScalar stencils[])
{
  const PetscScalar *weight                   = weights + (size_t)GridGhosted(grid, at) * grid->corners;
  PetscScalar        product[GRID_MAX_POINTS] = {0.};

  /* the row times P: entry t belongs to the coarse point at offset t from at/2 */
  for (PetscInt s = 0; s < grid->points; s++) {
    const PetscScalar *there;
    PetscInt           to[3], t;

    if (stencil[s] == (PetscScalar)0. || !GridNeighbour(grid, at, s, to)) continue;
    there = weights + (size_t)GridGhosted(grid, to) * grid->corners;
    t     = GridCentre(grid) + to[0] / 2 - at[0] / 2 + 3 * (to[1] / 2 - at[1] / 2) + 9 * (to[2] / 2 - at[2] / 2);
    for (PetscInt c = 0; c < grid->corners; c++) {
      if (there[c] != (PetscScalar)0.) product[t + (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2)] += stencil[s] * PetscRealPart(there[c]);
    }
  }
  for (PetscInt c = 0; c < grid->corners; c++) {
    const PetscInt to[3] = {at[0] / 2 + (c & 1), at[1] / 2 + (c >> 1 & 1), at[2] / 2 + (c >> 2)}, shift = (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2);
    PetscScalar   *sum;

    if (weight[c] == (PetscScalar)0.) continue;
    sum = stencils + (size_t)GridGhosted(coarse, to) * grid->points;
    for (PetscInt t = 0; t < grid->points; t++) {
      if (product[t] != (PetscScalar)0.) sum[t - shift] += PetscRealPart(weight[c]) * product[t];
    }
  }
}

static PetscErrorCode CreateProduct(const Grid *grid, const Grid *coarse, Mat A, const PetscScalar weights[], Mat *product)
{
  PetscInt           at[3] = {grid->start[0], grid->start[1], grid->start[2]}, to[3] = {coarse->start[0], coarse->start[1], coarse->start[2]};
  PetscScalar       *sums, stencil[GRID_MAX_POINTS];
  const PetscScalar *stencils;
  PetscBool          known, symmetric;
  Vec                local, global;
  CSR                csr;
  DM                 da;

  PetscFunctionBegin;
  PetscCall(GridCreateDM(coarse, coarse->points, &da));
  PetscCall(DMCreateLocalVector(da, &local));
  PetscCall(VecGetArray(local, &sums));
  for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
    PetscCall(GridGetStencil(grid, A, at, stencil));
    AddProduct(grid, coarse, at, stencil, weights, sums);
  }
  PetscCall(VecRestoreArray(local, &sums));
  PetscCall(DMCreateGlobalVector(da, &global));
  PetscCall(DMLocalToGlobal(da, local, ADD_VALUES, global));
  PetscCall(VecDestroy(&local));

  PetscCall(CSRCreate(coarse->rows, (PetscInt64)coarse->rows * coarse->points, &csr));
  PetscCall(VecGetArrayRead(global, &stencils));
  for (PetscInt row = 0; row < coarse->rows; row++, GridNext(coarse, to)) CSRAddStencil(&csr, coarse, to, stencils + (size_t)row * coarse->points);
  PetscCall(VecRestoreArrayRead(global, &stencils));
  PetscCall(VecDestroy(&global));
  PetscCall(DMDestroy(&da));
  PetscCall(MatCreateLike(A, product));
  PetscCall(CSRFinish(&csr, coarse->rows, *product));
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  if (known && symmetric) PetscCall(MatSetOption(*product, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeZeeuwCoarsen(Mat A, DM fine, DM coarse, Mat *P, Mat *coarseA)
{
  const PetscScalar *weights;
  Grid               own, grid, coarsegrid;
  DM                 da;
  Vec                local;

  PetscFunctionBegin;
  PetscCall(GridCreate(fine, &own));
  PetscCall(GridCreateDM(&own, own.corners, &da));
  PetscCall(GridDestroy(&own));
  PetscCall(GridCreate(da, &grid));
  PetscCall(GridCreate(coarse, &coarsegrid));
  PetscCall(DMCreateLocalVector(da, &local));
  PetscCall(GetWeights(&grid, A, da, local));
  PetscCall(VecGetArrayRead(local, &weights));
  PetscCall(CreateInterpolation(&grid, &coarsegrid, A, weights, P));
  PetscCall(CreateProduct(&grid, &coarsegrid, A, weights, coarseA));
  PetscCall(VecRestoreArrayRead(local, &weights));
  PetscCall(VecDestroy(&local));
  PetscCall(GridDestroy(&coarsegrid));
  PetscCall(GridDestroy(&grid));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}
