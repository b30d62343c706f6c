/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Numbers on regular grids and files: gridfile.h */

#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "gridfile.h"
#include "gridhdf5.h"
#include "segy.h"

#define CHUNK (1 << 20) /* numbers per read */

const char *const GridFileFormats[] = {"raw", "petsc", "segy", "hdf5", "GridFileFormat", "GRIDFILE_", NULL};

/* ------------------------------------------------------------ axes */

/* Maps each axis of the file to a dimension, the fastest axis first. y may be left out if it has one node */
static PetscErrorCode GetAxes(MPI_Comm comm, const char axes[], const PetscInt n[3], int order[3])
{
  int    found[3] = {0, 0, 0}, count = 0;
  size_t length;

  PetscFunctionBegin;
  PetscCall(PetscStrlen(axes, &length));
  for (size_t k = 0; k < length && length <= 3; k++) {
    if (axes[k] < 'x' || axes[k] > 'z') break;
    order[count++] = axes[k] - 'x';
    found[axes[k] - 'x']++;
  }
  for (int d = 0; d < 3; d++) {
    if (found[d] || n[d] > 1 || count == 3) continue;
    order[count++] = d;
    found[d]       = 1;
  }
  PetscCheck(count == 3 && found[0] == 1 && found[1] == 1 && found[2] == 1, comm, PETSC_ERR_USER_INPUT,
             "Axes %s: name x, y and z once each, the fastest first; y can be left out for a single node along y", axes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSize(MPI_Comm comm, const char path[], const PetscInt n[3], PetscInt *N)
{
  const PetscInt64 all = (PetscInt64)n[0] * n[1] * n[2];

  PetscFunctionBegin;
  PetscCheck(n[0] > 0 && n[1] > 0 && n[2] > 0, comm, PETSC_ERR_USER_INPUT, "%s: its grid has %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes",
             path, n[0], n[1], n[2]);
  PetscCheck((double)n[0] * (double)n[1] * (double)n[2] <= (double)PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s: the nodes do not fit into PetscInt",
             path);
  *N = (PetscInt)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridFileCheck(MPI_Comm comm, GridFileFormat format)
{
  PetscFunctionBegin;
  PetscCheck(format != GRIDFILE_HDF5 || PetscDefined(HAVE_HDF5), comm, PETSC_ERR_SUP,
             "Format hdf5: this PETSc has no HDF5. Configure PETSc with HDF5, take the PETSc of ./quickstart build --fortran, or use raw floats");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ reading */

static PetscErrorCode ReadRaw(MPI_Comm comm, const char path[], const PetscInt n[3], const int order[3], Vec natural)
{
  PetscInt     begin, end, *place;
  float       *number;
  PetscScalar *value;
  FILE        *file   = fopen(path, "rb");
  PetscMPIInt  bad[2] = {!file, 0};

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INT, MPI_MAX, comm));
  if (bad[0] && file) (void)fclose(file);
  PetscCheck(!bad[0], comm, PETSC_ERR_FILE_OPEN, "%s cannot be opened", path);
  PetscCall(VecGetOwnershipRange(natural, &begin, &end));
  PetscCall(PetscMalloc3(CHUNK, &place, CHUNK, &number, CHUNK, &value));
  bad[1] = fseeko(file, 0, SEEK_END) || ftello(file) != (off_t)4 * n[0] * n[1] * n[2] || fseeko(file, (off_t)4 * begin, SEEK_SET);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bad[1], 1, MPI_INT, MPI_MAX, comm));
  if (bad[1]) (void)fclose(file);
  PetscCheck(!bad[1], comm, PETSC_ERR_FILE_UNEXPECTED, "%s does not have 4 bytes for each of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes",
             path, n[0], n[1], n[2]);
  for (PetscInt at = begin; at < end; at += CHUNK) {
    const PetscInt m = PetscMin(CHUNK, end - at);

    PetscCheck(fread(number, 4, (size_t)m, file) == (size_t)m, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s cannot be read", path);
    for (PetscInt i = 0; i < m; i++) {
      place[i] = GridNaturalOf(at + i, n, order);
      value[i] = (PetscReal)number[i];
    }
    PetscCall(VecSetValues(natural, m, place, value, INSERT_VALUES));
  }
  (void)fclose(file);
  PetscCall(PetscFree3(place, number, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadSegy(MPI_Comm comm, const char path[], const PetscInt n[3], Vec natural)
{
  PetscMPIInt  rank;
  PetscReal   *number;
  PetscInt    *place;
  PetscScalar *value;
  Segy         segy;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SegyOpen(path, &segy));
  PetscCheck(segy.samples == n[2] && segy.traces == (PetscInt64)n[0] * n[1], PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s has %" PetscInt64_FMT " traces of %" PetscInt_FMT " samples, not %" PetscInt_FMT " x %" PetscInt_FMT " of %" PetscInt_FMT, path, segy.traces,
             segy.samples, n[0], n[1], n[2]);
  PetscCall(PetscMalloc3(n[2], &number, n[2], &place, n[2], &value));
  for (PetscInt t = 0; t < n[0] * n[1]; t++) {
    SegyTrace trace;

    PetscCall(SegyRead(&segy, &trace, number));
    for (PetscInt k = 0; k < n[2]; k++) {
      place[k] = t + n[0] * n[1] * k;
      value[k] = number[k];
    }
    PetscCall(VecSetValues(natural, n[2], place, value, INSERT_VALUES));
  }
  PetscCall(PetscFree3(number, place, value));
  PetscCall(SegyClose(&segy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridFileRead(MPI_Comm comm, GridFileFormat format, const char path[], const PetscInt n[3], const char axes[], const char dataset[], Vec *natural)
{
  int      order[3];
  PetscInt N;

  PetscFunctionBegin;
  PetscCall(GridFileCheck(comm, format));
  PetscCall(CheckSize(comm, path, n, &N));
  PetscCall(GetAxes(comm, axes, n, order));
  PetscCall(VecCreate(comm, natural));
  PetscCall(VecSetSizes(*natural, PETSC_DECIDE, N));
  PetscCall(VecSetType(*natural, VECSTANDARD));
  PetscCall(PetscObjectSetName((PetscObject)*natural, "grid"));
  if (format == GRIDFILE_PETSC) {
    PetscViewer viewer;

    PetscCall(PetscViewerBinaryOpen(comm, path, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(*natural, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    if (format == GRIDFILE_RAW) PetscCall(ReadRaw(comm, path, n, order, *natural));
    else if (format == GRIDFILE_HDF5) PetscCall(GridHDF5Read(comm, path, dataset, n, order, *natural));
    else PetscCall(ReadSegy(comm, path, n, *natural));
    PetscCall(VecAssemblyBegin(*natural));
    PetscCall(VecAssemblyEnd(*natural));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ writing */

static PetscErrorCode WriteRaw(const char path[], const PetscInt n[3], const int order[3], const PetscScalar *value)
{
  FILE *file = fopen(path, "wb");

  PetscFunctionBegin;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", path);
  for (PetscInt64 i = 0; i < (PetscInt64)n[0] * n[1] * n[2]; i++) {
    const float number = (float)PetscRealPart(value[GridNaturalOf(i, n, order)]);

    PetscCheck(fwrite(&number, 4, 1, file) == 1, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written: is the disk full?", path);
  }
  PetscCheck(!fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written: is the disk full?", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteSegy(const char path[], const PetscInt n[3], PetscReal h, const PetscScalar *value)
{
  PetscReal *number;
  Segy       segy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n[2], &number));
  PetscCall(
    SegyCreate(path, "Values on a grid, a trace per vertical line, depth in km", SEGY_IEEE, n[2], h / 1000, h * (PetscReal)PetscMax(n[0], n[1]), &segy));
  for (PetscInt t = 0; t < n[0] * n[1]; t++) {
    SegyTrace trace = {.record = 1 + t / n[0], .trace = 1 + t % n[0], .line = 1 + t / n[0], .crossline = 1 + t % n[0]};

    trace.source[0] = trace.receiver[0] = h * (PetscReal)(t % n[0]);
    trace.source[1] = trace.receiver[1] = h * (PetscReal)(t / n[0]);
    for (PetscInt k = 0; k < n[2]; k++) number[k] = PetscRealPart(value[t + n[0] * n[1] * k]);
    PetscCall(SegyWrite(&segy, &trace, number));
  }
  PetscCall(SegyClose(&segy));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridFileWrite(GridFileFormat format, const char path[], const PetscInt n[3], PetscReal h, const char axes[], Vec natural)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)natural);
  PetscMPIInt rank;
  int         order[3];
  Vec         all;
  VecScatter  scatter;

  PetscFunctionBegin;
  PetscCall(GridFileCheck(comm, format));
  PetscCall(GetAxes(comm, axes, n, order));
  if (format == GRIDFILE_PETSC) {
    PetscViewer viewer;

    PetscCall(PetscViewerBinaryOpen(comm, path, FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(natural, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(VecScatterCreateToZero(natural, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  if (!rank) {
    const PetscScalar *value;

    PetscCall(VecGetArrayRead(all, &value));
    if (format == GRIDFILE_RAW) PetscCall(WriteRaw(path, n, order, value));
    else if (format == GRIDFILE_HDF5) PetscCall(GridHDF5Write(path, GRIDFILE_DATASET, n, order, h, value));
    else PetscCall(WriteSegy(path, n, h, value));
    PetscCall(VecRestoreArrayRead(all, &value));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ DMDA */

PetscErrorCode GridToDM(Vec natural, const PetscInt n[3], const PetscInt pad[3], DM da, Vec x)
{
  PetscInt   dim, start[3], count[3], *place, l = 0, all;
  IS         is;
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(da, &dim));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(PetscMalloc1(count[0] * count[1] * count[2], &place));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
        PetscInt at[3] = {i, dim == 2 ? 0 : j, dim == 2 ? j : k};

        for (int d = 0; d < 3; d++) at[d] = PetscMin(n[d] - 1, PetscMax(0, at[d] - (dim == 2 && d == 1 ? 0 : pad[d])));
        place[l++] = at[0] + n[0] * (at[1] + n[1] * at[2]);
      }
    }
  }
  PetscCall(VecGetLocalSize(x, &all));
  PetscCheck(all == l, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The vector is not one of the DMDA");
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)da), l, place, PETSC_OWN_POINTER, &is));
  PetscCall(VecScatterCreate(natural, is, x, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, natural, x, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, x, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridGather(DM da, Vec x, Vec *all)
{
  Vec        natural;
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(DMDAGlobalToNaturalBegin(da, x, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(da, x, INSERT_VALUES, natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, all));
  PetscCall(VecScatterBegin(scatter, natural, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, *all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridScatter(DM da, Vec all, Vec x)
{
  Vec        natural, unused;
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, &unused));
  PetscCall(VecScatterBegin(scatter, all, natural, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, all, natural, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, x));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, x));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&unused));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}
