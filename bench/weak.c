/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The weak case of bench/gridmg */

#include "weak.h"
#include <lithemat.h>

static PetscErrorCode FillRows(const GridBox *box, const GridBoxRows *rows)
{
  const PetscInt64 cells = GridBoxPoints(box);

  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (rows->device) {
    PetscCall(WeakLaunchRows(box, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (PetscInt64 k = 0; k <= cells; k++) {
    rows->i[k] = (PetscInt)GridBoxRowStart(box, 1, k);
    if (k < cells) WeakMakeRow(box, k, rows->j, (PetscReal *)rows->a);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WeakCreate(const Bench *bench, PetscBool device, PetscInt grid[3], Mat *A)
{
  const PetscInt n = PetscMax(4, 4 * (PetscInt)(cbrt(2. * (double)(bench->size ? bench->size : 8388608)) / 4. + .5)), m = n * n * (n / 2);
  PetscMPIInt    rank, size;
  GridBoxRows    rows;
  GridBox        box;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(bench->comm, &rank));
  PetscCallMPI(MPI_Comm_size(bench->comm, &size));
  grid[0] = n;
  grid[1] = n;
  grid[2] = n / 2 * size;
  box     = (GridBox){.dim = 3, .n = {n, n, grid[2]}, .start = {0, 0, rank * (n / 2)}, .count = {n, n, n / 2}};
  PetscCall(GridBoxRowsCreate(&box, GridBoxRowStart(&box, 1, m), device, &rows));
  PetscCall(FillRows(&box, &rows));
  if (device) PetscCall(MatCreateVCRSFromCSR(bench->comm, m, m, PETSC_DETERMINE, PETSC_DETERMINE, rows.i, rows.j, rows.a, A));
  else {
    PetscCall(MatCreate(bench->comm, A));
    PetscCall(MatSetSizes(*A, m, m, PETSC_DETERMINE, PETSC_DETERMINE));
    PetscCall(MatSetType(*A, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocationCSR(*A, rows.i, rows.j, rows.a));
    PetscCall(MatMPIAIJSetPreallocationCSR(*A, rows.i, rows.j, rows.a));
  }
  PetscCall(GridBoxRowsDestroy(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
