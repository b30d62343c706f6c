/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Velocities of sound, generated or from a file.

   A file has a grid of its own. Each process reads the part of the file near its points, and interpolates (bi-, tri-)
   linearly between the points of the file.
*/

#include "problem.h"
#include <petscviewer.h>

/* ------------------------------------------------------------ of a file */

/* The numbers of a file, distributed over the processes */
static PetscErrorCode FileLoad_Private(MPI_Comm comm, const Helmholtz *problem, Vec *all)
{
  const PetscInt64 N = (PetscInt64)problem->filen[0] * problem->filen[1] * problem->filen[2];

  PetscFunctionBegin;
  PetscCheck(N <= PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "-velocity_grid has %" PetscInt64_FMT " points, which do not fit into PetscInt", N);
  PetscCall(VecCreate(comm, all));
  PetscCall(VecSetSizes(*all, PETSC_DECIDE, (PetscInt)N));
  PetscCall(VecSetType(*all, VECSTANDARD));
  if (problem->format == HELMHOLTZ_PETSC) {
    PetscViewer viewer;

    PetscCall(PetscViewerBinaryOpen(comm, problem->file, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(*all, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    PetscInt     begin, end;
    PetscScalar *value;
    float       *number;
    MPI_File     file;
    MPI_Offset   bytes;

    PetscCall(VecGetOwnershipRange(*all, &begin, &end));
    PetscCall(PetscMalloc1(end - begin, &number));
    PetscCheck(MPI_File_open(comm, problem->file, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS, comm, PETSC_ERR_FILE_OPEN,
               "-velocity_file %s cannot be read", problem->file);
    PetscCallMPI(MPI_File_get_size(file, &bytes));
    PetscCheck((PetscInt64)bytes == 4 * N, comm, PETSC_ERR_FILE_UNEXPECTED,
               "%s has %" PetscInt64_FMT " bytes, not 4 for each of %" PetscInt64_FMT " points: is -velocity_grid right, or does -velocity_format petsc help?",
               problem->file, (PetscInt64)bytes, N);
    PetscCallMPI(MPI_File_read_at_all(file, (MPI_Offset)4 * begin, number, (PetscMPIInt)(end - begin), MPI_FLOAT, MPI_STATUS_IGNORE));
    PetscCallMPI(MPI_File_close(&file));
    PetscCall(VecGetArrayWrite(*all, &value));
    for (PetscInt i = 0; i < end - begin; i++) value[i] = (PetscReal)number[i];
    PetscCall(VecRestoreArrayWrite(*all, &value));
    PetscCall(PetscFree(number));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A box of the numbers of a file on each process; collective */
static PetscErrorCode FileGetBox_Private(const Helmholtz *problem, Vec all, const PetscInt start[3], const PetscInt count[3], Vec *box)
{
  const PetscInt m = count[0] * count[1] * count[2];
  PetscInt      *number;
  IS             is;
  VecScatter     scatter;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m, &number));
  for (PetscInt p = 0; p < m; p++)
    number[p] = ((start[2] + p / count[0] / count[1]) * problem->filen[1] + start[1] + p / count[0] % count[1]) * problem->filen[0] + start[0] + p % count[0];
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, m, number, PETSC_OWN_POINTER, &is));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, m, box));
  PetscCall(VecScatterCreate(all, is, *box, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, all, *box, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, all, *box, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The interval of the file which holds a grid point, and the place in the interval; points outside of the file move to
   the file's boundary */
static void FileFind_Private(const Helmholtz *problem, PetscInt d, PetscInt i, PetscInt *cell, PetscReal *fraction)
{
  const PetscReal at = HelmholtzCoordinate(problem, i) / problem->fileh, most = (PetscReal)(problem->filen[d] - 1), inside = PetscMin(PetscMax(at, 0.), most);

  *cell     = PetscMin((PetscInt)inside, problem->filen[d] - 2);
  *fraction = inside - (PetscReal)*cell;
}

static PetscErrorCode FileSetSpeed_Private(Helmholtz *problem, const Grid *grid, PetscScalar speed[])
{
  PetscInt           start[3] = {0, 0, 0}, count[3] = {1, 1, 1}, at[3] = {grid->start[0], grid->start[1], grid->start[2]};
  PetscReal          unused;
  const PetscScalar *value;
  Vec                all, box;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < problem->dim; d++) {
    PetscInt last;

    FileFind_Private(problem, d, grid->start[d], &start[d], &unused);
    FileFind_Private(problem, d, grid->start[d] + grid->count[d] - 1, &last, &unused);
    count[d] = last + 2 - start[d];
  }
  PetscCall(FileLoad_Private(PetscObjectComm((PetscObject)problem->da), problem, &all));
  PetscCall(FileGetBox_Private(problem, all, start, count, &box));
  PetscCall(VecGetArrayRead(box, &value));
  for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
    PetscInt  cell[3] = {0, 0, 0};
    PetscReal f[3] = {0., 0., 0.}, sum = 0.;

    for (PetscInt d = 0; d < problem->dim; d++) FileFind_Private(problem, d, at[d], &cell[d], &f[d]);
    for (PetscInt c = 0; c < grid->corners; c++) {
      PetscInt  p      = 0;
      PetscReal weight = 1.;

      for (PetscInt d = 2; d >= 0; d--) {
        p = p * count[d] + cell[d] - start[d] + (c >> d & 1);
        weight *= c >> d & 1 ? f[d] : 1. - f[d];
      }
      sum += weight * PetscRealPart(value[p]);
    }
    speed[row] = sum;
  }
  PetscCall(VecRestoreArrayRead(box, &value));
  PetscCall(VecDestroy(&box));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FileGetSlowest_Private(MPI_Comm comm, Helmholtz *problem)
{
  const PetscScalar *value;
  PetscReal          least = PETSC_MAX_REAL;
  PetscInt           m;
  Vec                all;

  PetscFunctionBegin;
  PetscCall(FileLoad_Private(comm, problem, &all));
  PetscCall(VecGetLocalSize(all, &m));
  PetscCall(VecGetArrayRead(all, &value));
  for (PetscInt i = 0; i < m; i++) {
    const PetscReal v = PetscRealPart(value[i]);

    least = PetscMin(least, v <= PETSC_MAX_REAL ? v : 0); /* neither infinity nor NaN */
  }
  PetscCall(VecRestoreArrayRead(all, &value));
  PetscCall(VecDestroy(&all));
  PetscCallMPI(MPIU_Allreduce(&least, &problem->slowest, 1, MPIU_REAL, MPIU_MIN, comm));
  PetscCheck(problem->slowest > 0., comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s has a velocity of %g m/s, or one that is not finite: velocities must be positive; is -velocity_format right?", problem->file,
             (double)problem->slowest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ both */

PetscErrorCode HelmholtzGetSlowest(MPI_Comm comm, Helmholtz *problem)
{
  PetscFunctionBegin;
  if (problem->model == HELMHOLTZ_FILE) PetscCall(FileGetSlowest_Private(comm, problem));
  else problem->slowest = problem->model == HELMHOLTZ_HOMOGENEOUS ? problem->velocity : HELMHOLTZ_WATER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetSpeed(Helmholtz *problem)
{
  const HelmholtzForm form = HelmholtzGetForm(problem);
  PetscScalar        *speed;
  PetscBool           device;
  Grid                grid;
  PetscInt            at[3];

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(problem->da, &problem->speed));
  PetscCall(PetscObjectSetName((PetscObject)problem->speed, "velocity"));
  PetscCall(HelmholtzIsOnDevice(problem, NULL, &device));
  if (device && problem->model != HELMHOLTZ_FILE) {
    PetscCall(HelmholtzSetSpeedDevice(problem, &form));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GridCreate(problem->da, &grid));
  PetscCall(VecGetArrayWrite(problem->speed, &speed));
  if (problem->model == HELMHOLTZ_FILE) PetscCall(FileSetSpeed_Private(problem, &grid, speed));
  else {
    PetscCall(PetscArraycpy(at, grid.start, 3));
    for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) speed[row] = HelmholtzSpeedAt(&form, at);
  }
  PetscCall(VecRestoreArrayWrite(problem->speed, &speed));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
