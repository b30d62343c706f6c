/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids in files of HDF5: gridhdf5.h */

#include "gridhdf5.h"
#include <petscviewerhdf5.h>

#if defined(PETSC_HAVE_HDF5)

  #define CHUNK (1 << 20)    /* numbers that are read at a time, if a plane has no more */
  #define MOST  H5S_MAX_RANK /* dimensions of a data set */

/* Why a data set cannot be used; the largest one of all processes is told */
enum {
  FINE,
  NO_FILE,
  NO_HDF5,
  NO_DATASET,
  NO_NUMBERS,
  NO_FIT,
  NO_READ
};

typedef struct {
  hid_t   file, set, space;
  int     rank;
  hsize_t size[MOST];  /* of the data set, the slowest dimension first */
  hsize_t count[MOST]; /* what is read: as size, but 1 of the two parts of a complex number */
  int     slowest;     /* the first dimension with more than one node */
} Dataset;

/* HDF5 prints no errors between these two: Lithe does */
typedef struct {
  H5E_auto2_t print;
  void       *data;
} Printing;

static void PrintingStop(Printing *p)
{
  (void)H5Eget_auto2(H5E_DEFAULT, &p->print, &p->data);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static void PrintingStart(const Printing *p)
{
  (void)H5Eset_auto2(H5E_DEFAULT, p->print, p->data);
}

/* Whether the dimensions are those of the grid, where dimensions of one node may be left out, or all nodes are in one dimension */
static PetscBool Fits(Dataset *d, const PetscInt n[3], const int order[3])
{
  hsize_t want[3], has[3];
  int     wanted = 0, found = 0;

  for (int k = 2; k >= 0; k--) {
    if (n[order[k]] > 1) want[wanted++] = (hsize_t)n[order[k]];
  }
  d->slowest = 0;
  for (int k = 0; k < d->rank; k++) {
    if (d->count[k] == 1) continue;
    if (found == 3) return PETSC_FALSE;
    if (!found) d->slowest = k;
    has[found++] = d->count[k];
  }
  if (found == 1 && has[0] == (hsize_t)n[0] * (hsize_t)n[1] * (hsize_t)n[2]) return PETSC_TRUE;
  if (found != wanted) return PETSC_FALSE;
  for (int k = 0; k < found; k++) {
    if (has[k] != want[k]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static int DatasetOpen(const char path[], const char name[], const PetscInt n[3], const int order[3], Dataset *d)
{
  FILE       *file = fopen(path, "rb");
  hid_t       type;
  H5T_class_t kind;

  d->file = d->set = d->space = -1;
  d->rank                     = 0;
  if (!file) return NO_FILE;
  (void)fclose(file);
  if (H5Fis_hdf5(path) <= 0) return NO_HDF5;
  d->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (d->file < 0) return NO_HDF5;
  d->set = H5Dopen2(d->file, name, H5P_DEFAULT);
  if (d->set < 0) return NO_DATASET;
  type = H5Dget_type(d->set);
  if (type < 0) return NO_NUMBERS;
  kind = H5Tget_class(type);
  (void)H5Tclose(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) return NO_NUMBERS;
  d->space = H5Dget_space(d->set);
  if (d->space < 0 || H5Sget_simple_extent_type(d->space) != H5S_SIMPLE) return NO_FIT;
  d->rank = H5Sget_simple_extent_dims(d->space, d->size, NULL);
  if (d->rank < 1) return NO_FIT;
  for (int k = 0; k < d->rank; k++) d->count[k] = d->size[k];
  /* what VecView() has written with complex scalars */
  if (d->rank > 1 && d->size[d->rank - 1] == 2 && H5Aexists(d->set, "complex") > 0) d->count[d->rank - 1] = 1;
  return Fits(d, n, order) ? FINE : NO_FIT;
}

static void DatasetClose(Dataset *d)
{
  if (d->space >= 0) (void)H5Sclose(d->space);
  if (d->set >= 0) (void)H5Dclose(d->set);
  if (d->file >= 0) (void)H5Fclose(d->file);
}

/* Some planes of the slowest dimension */
static int DatasetRead(const Dataset *d, hsize_t first, hsize_t planes, hsize_t numbers, double number[])
{
  hsize_t start[MOST], count[MOST];
  hid_t   memory = H5Screate_simple(1, &numbers, NULL);
  herr_t  error  = memory < 0 ? -1 : 0;

  for (int k = 0; k < d->rank; k++) {
    start[k] = k == d->slowest ? first : 0;
    count[k] = k == d->slowest ? planes : d->count[k];
  }
  if (error >= 0) error = H5Sselect_hyperslab(d->space, H5S_SELECT_SET, start, NULL, count, NULL);
  if (error >= 0) error = H5Dread(d->set, H5T_NATIVE_DOUBLE, memory, d->space, H5P_DEFAULT, number);
  if (memory >= 0) (void)H5Sclose(memory);
  return error < 0 ? NO_READ : FINE;
}

/* "2 x 3 x 4", for an error */
static PetscErrorCode DatasetDescribe(const Dataset *d, char text[], size_t length)
{
  PetscFunctionBegin;
  text[0] = 0;
  for (int k = 0; k < d->rank; k++) {
    char one[32];

    PetscCall(PetscSNPrintf(one, sizeof(one), "%s%" PetscInt64_FMT, k ? " x " : "", (PetscInt64)d->size[k]));
    PetscCall(PetscStrlcat(text, one, length));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(MPI_Comm comm, int why, const char path[], const char dataset[], const PetscInt n[3], const int order[3], const Dataset *d)
{
  char shape[128];

  PetscFunctionBegin;
  PetscCheck(why != NO_FILE, comm, PETSC_ERR_FILE_OPEN, "%s cannot be opened", path);
  PetscCheck(why != NO_HDF5, comm, PETSC_ERR_FILE_UNEXPECTED, "%s is not a file of HDF5", path);
  PetscCheck(why != NO_DATASET, comm, PETSC_ERR_FILE_UNEXPECTED, "%s has no data set %s; h5ls -r %s lists those that it has", path, dataset, path);
  PetscCheck(why != NO_NUMBERS, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the data set %s has no real numbers and no integers", path, dataset);
  PetscCall(DatasetDescribe(d, shape, sizeof(shape)));
  PetscCheck(why != NO_FIT, comm, PETSC_ERR_FILE_UNEXPECTED,
             "%s: the data set %s has %s numbers, not %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", the slowest axis first (axes %c%c%c)", path,
             dataset, shape[0] ? shape : "no", n[order[2]], n[order[1]], n[order[0]], "xyz"[order[0]], "xyz"[order[1]], "xyz"[order[2]]);
  PetscCheck(why != NO_READ, comm, PETSC_ERR_FILE_READ, "%s: the data set %s cannot be read", path, dataset);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridHDF5Read(MPI_Comm comm, const char path[], const char dataset[], const PetscInt n[3], const int order[3], Vec natural)
{
  PetscInt64   begin = 0, end = 0, plane = 0, most = 1;
  PetscMPIInt  size, rank, why, worst;
  PetscInt    *place;
  PetscScalar *value;
  double      *number;
  Dataset      d;
  Printing     printing;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PrintingStop(&printing);
  why = DatasetOpen(path, dataset, n, order, &d);
  PetscCallMPI(MPIU_Allreduce(&why, &worst, 1, MPI_INT, MPI_MAX, comm));
  if (worst == FINE) {
    const PetscInt64 planes = (PetscInt64)d.count[d.slowest];

    begin = planes * rank / size;
    end   = planes * (rank + 1) / size;
    plane = (PetscInt64)n[0] * n[1] * n[2] / planes;
    most  = PetscMax(1, CHUNK / plane);
  }
  PetscCall(PetscMalloc3(most * plane, &place, most * plane, &number, most * plane, &value));
  for (PetscInt64 at = begin; at < end && why == FINE; at += most) {
    const PetscInt64 planes = PetscMin(most, end - at);
    const PetscInt   m      = (PetscInt)(planes * plane);

    why = DatasetRead(&d, (hsize_t)at, (hsize_t)planes, (hsize_t)m, number);
    for (PetscInt i = 0; i < m && why == FINE; i++) {
      place[i] = GridNaturalOf(at * plane + i, n, order);
      value[i] = (PetscReal)number[i];
    }
    if (why == FINE) PetscCall(VecSetValues(natural, m, place, value, INSERT_VALUES));
  }
  PetscCall(PetscFree3(place, number, value));
  DatasetClose(&d);
  PrintingStart(&printing);
  PetscCallMPI(MPIU_Allreduce(&why, &worst, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(Check(comm, worst, path, dataset, n, order, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridHDF5Write(const char path[], const char dataset[], const PetscInt n[3], const int order[3], PetscReal h, const PetscScalar *value)
{
  const PetscInt64 all  = (PetscInt64)n[0] * n[1] * n[2];
  const hid_t      type = PetscDefined(USE_REAL_SINGLE) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  hsize_t          size[3];
  int              rank = 0;
  PetscReal       *number;
  hid_t            file, space = -1, set = -1, scalar = -1, spacing = -1;
  PetscBool        written = PETSC_FALSE;
  Printing         printing;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &number));
  for (PetscInt64 i = 0; i < all; i++) number[i] = PetscRealPart(value[GridNaturalOf(i, n, order)]);
  /* a plane of x and z has two dimensions */
  for (int k = 2; k >= 0; k--) {
    if (order[k] != 1 || n[1] > 1) size[rank++] = (hsize_t)n[order[k]];
  }
  PrintingStop(&printing);
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file >= 0) space = H5Screate_simple(rank, size, NULL);
  if (space >= 0) set = H5Dcreate2(file, dataset, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (set >= 0) scalar = H5Screate(H5S_SCALAR);
  if (scalar >= 0) spacing = H5Acreate2(set, "spacing", type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  if (spacing >= 0) written = (PetscBool)(H5Awrite(spacing, type, &h) >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, number) >= 0);
  if (spacing >= 0) (void)H5Aclose(spacing);
  if (scalar >= 0) (void)H5Sclose(scalar);
  if (set >= 0) (void)H5Dclose(set);
  if (space >= 0) (void)H5Sclose(space);
  /* the file is on the disk only now */
  if (file >= 0 && H5Fclose(file) < 0) written = PETSC_FALSE;
  PrintingStart(&printing);
  PetscCall(PetscFree(number));
  PetscCheck(file >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", path);
  PetscCheck(written, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written: is the disk full?", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else

/* GridFileCheck() has refused the format before */
PetscErrorCode GridHDF5Read(MPI_Comm comm, const char path[], const char dataset[], const PetscInt n[3], const int order[3], Vec natural)
{
  (void)comm;
  (void)path;
  (void)dataset;
  (void)n;
  (void)order;
  (void)natural;
  return PETSC_ERR_SUP;
}

PetscErrorCode GridHDF5Write(const char path[], const char dataset[], const PetscInt n[3], const int order[3], PetscReal h, const PetscScalar *value)
{
  (void)path;
  (void)dataset;
  (void)n;
  (void)order;
  (void)h;
  (void)value;
  return PETSC_ERR_SUP;
}
#endif
