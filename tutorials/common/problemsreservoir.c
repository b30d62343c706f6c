/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The pressure equation of a reservoir, with wells, as a matrix.

   Reference:
   D. W. Peaceman, Interpretation of well-block pressures in numerical reservoir simulation, SPE Journal 18(3), 1978.
*/

#include "permeability.h"

PetscErrorCode ProblemCreateReservoir(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  Permeability perm;
  Rows         rows;
  PetscInt     nx, ny, nz, nxy, N, k0, k1, (*well)[2];
  double      *k[3];

  PetscFunctionBegin;
  PetscCall(PermeabilityCreate(comm, problem, &perm));
  nx = perm.nx;
  ny = perm.ny;
  nz = perm.nz;
  PetscCheck((PetscInt64)nx * ny * nz < PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells do not fit into PetscInt", nx, ny, nz);
  nxy = nx * ny;
  N   = nxy * nz;
  PetscCall(PetscMalloc1(problem->wells + 1, &well));
  PetscCall(PermeabilityWells(&perm, well));
  PetscCall(RowsCreate(comm, problem->wellrows ? N + 1 : N, 1, 8, nz, &rows));

  /* permeabilities of all layers with owned rows or their neighbours */
  k0 = PetscMax(0, rows.rstart / nxy - 1);
  k1 = PetscMin(nz, (PetscMax(rows.rend, 1) - 1) / nxy + 2);
  k1 = PetscMax(k0, k1);
  for (int d = 0; d < 3; d++) PetscCall(PetscMalloc1((size_t)(k1 - k0) * nxy, &k[d]));
  for (PetscInt l = k0; l < k1; l++) {
    for (PetscInt j = 0; j < ny; j++) {
      const size_t p = (size_t)(l - k0) * nxy + (size_t)j * nx;

      PetscCall(PermeabilityLine(&perm, j, l, k[0] + p, k[1] + p, k[2] + p));
    }
  }

  /* one row per cell: -T for the neighbours; on the diagonal the sum of T, storage and production */
  for (PetscInt row = rows.rstart; row < PetscMin(rows.rend, N); row++) {
    const PetscInt i = row % nx, j = row / nx % ny, l = row / nxy, at[3] = {i, j, l}, size[3] = {nx, ny, nz}, stride[3] = {1, nx, nxy};
    const size_t   p            = (size_t)(row - k0 * nxy);
    const double   accumulation = Accumulation(perm.cell, (double)problem->timestep);
    double         t[6], diagonal = accumulation, source = accumulation * RESERVOIR_INITIALP, injector = 0.;

    for (int d = 0; d < 3; d++) {
      const size_t s = (size_t)stride[d];

      t[d]     = at[d] > 0 ? Transmissibility(perm.cell, d, k[d][p], k[d][p - s]) : 0.;
      t[3 + d] = at[d] < size[d] - 1 ? Transmissibility(perm.cell, d, k[d][p], k[d][p + s]) : 0.;
      diagonal += t[d] + t[3 + d];
    }
    for (PetscInt w = 0; w <= problem->wells; w++) {
      if (well[w][0] == i && well[w][1] == j) {
        const double index = WellIndex(perm.cell, k[0][p], k[1][p]);

        diagonal += index;
        if (w == 0 && problem->wellrows) injector = index;
        else source += index * (w == 0 ? RESERVOIR_INJECTORBHP : RESERVOIR_PRODUCERBHP);
      }
    }
    RowsBegin(&rows);
    for (int d = 2; d >= 0; d--) {
      if (at[d] > 0) RowsAdd(&rows, row - stride[d], (PetscScalar)-t[d]);
    }
    RowsAdd(&rows, row, (PetscScalar)diagonal);
    for (int d = 0; d < 3; d++) {
      if (at[d] < size[d] - 1) RowsAdd(&rows, row + stride[d], (PetscScalar)-t[3 + d]);
    }
    if (injector > 0.) RowsAdd(&rows, N, (PetscScalar)-injector);
    RowsEnd(&rows, (PetscScalar)source);
  }

  /* the injector's row: the flow into the cells is the given rate */
  if (problem->wellrows && rows.rend == N + 1) {
    double *line[3], sum = 0.;

    PetscCall(PetscMalloc3(nx, &line[0], nx, &line[1], nx, &line[2]));
    RowsBegin(&rows);
    for (PetscInt l = 0; l < nz; l++) {
      double index;

      PetscCall(PermeabilityLine(&perm, well[0][1], l, line[0], line[1], line[2]));
      index = WellIndex(perm.cell, line[0][well[0][0]], line[1][well[0][0]]);
      RowsAdd(&rows, l * nxy + well[0][1] * nx + well[0][0], (PetscScalar)-index);
      sum += index;
    }
    RowsAdd(&rows, N, (PetscScalar)sum);
    RowsEnd(&rows, (PetscScalar)RESERVOIR_RATE);
    PetscCall(PetscFree3(line[0], line[1], line[2]));
  }
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(k[d]));
  PetscCall(PetscFree(well));
  PetscCall(PermeabilityDestroy(&perm));
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
