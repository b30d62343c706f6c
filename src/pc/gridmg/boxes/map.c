/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* GridMGHostMap: rows and vectors of all processes in the order of the whole grid, on the host */

#include <lithe/private/gridmg/redundant.h>

static PetscErrorCode Lengths_Host(PetscInt m, const GridMGCSR *rows, const GridMGMapOutside *outside, PetscInt length[])
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < m; row++) length[row] = GridMGMapLength(rows, outside, row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rows_Host(const GridMGMap *map, PetscInt begin, PetscInt m, const GridMGCSR *rows, const GridMGMapOutside *outside,
                                const PetscInt length[], PetscInt j[], PetscScalar a[])
{
  PetscInt first = 0;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < m; first += length[row++]) GridMGMapRow(map, begin, rows, outside, row, j + first, a + first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Order_Host(const GridMGMap *map, PetscInt N, const PetscInt length[], const PetscInt j[], const PetscScalar a[], PetscInt newi[],
                                 PetscInt newj[], PetscScalar newa[])
{
  PetscInt from = 0;

  PetscFunctionBegin;
  newi[0] = 0;
  for (PetscInt row = 0; row < N; row++) newi[GridMGMapOf(map, row) + 1] = length[row];
  for (PetscInt row = 0; row < N; row++) newi[row + 1] += newi[row];
  for (PetscInt row = 0; row < N; from += length[row++]) {
    const PetscInt to = newi[GridMGMapOf(map, row)];

    PetscCall(PetscArraycpy(newj + to, j + from, length[row]));
    PetscCall(PetscArraycpy(newa + to, a + from, length[row]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Enter_Host(const GridMGMap *map, PetscInt N, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < N; row++) y[GridMGMapOf(map, row)] = x[row];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Leave_Host(const GridMGMap *map, PetscInt begin, PetscInt m, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < m; row++) y[row] = x[GridMGMapOf(map, begin + row)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GridMGMapKernels GridMGHostMap = {
  .memory  = &LitheHostMemory,
  .lengths = Lengths_Host,
  .rows    = Rows_Host,
  .order   = Order_Host,
  .enter   = Enter_Host,
  .leave   = Leave_Host,
};
