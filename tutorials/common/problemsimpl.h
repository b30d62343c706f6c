/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the generators share; problemsparts.c holds the functions which are not inline */

#include "formula.h"
#include "problems.h"
#include <math.h>
#include <stdint.h>

/* ------------------------------------------------------------ random numbers */

/* A hash of a cell's number: white noise independent of the process which computes the hash */
FORMULA uint64_t Hash(uint64_t x, uint64_t seed)
{
  x += (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

FORMULA double HashUniform(uint64_t x, uint64_t seed)
{
  return ((double)(Hash(x, seed) >> 11) + .5) / 9007199254740992.;
}

FORMULA double HashNormal(uint64_t x, uint64_t seed)
{
  return sqrt(-2. * log(HashUniform(2 * x, seed))) * cos(2. * PETSC_PI * HashUniform(2 * x + 1, seed));
}

/* From a PetscRandom: uniform in [0,1), and normal */
PETSC_INTERN PetscErrorCode RandomUniform(PetscRandom, double *);
PETSC_INTERN PetscErrorCode RandomNormal(PetscRandom, double *);

/* ------------------------------------------------------------ a correlated Gaussian field */

#define FIELD_MODES 96

/* Cosine waves with random wave vectors and phases: mean 0, variance 1 */
typedef struct {
  double kx[FIELD_MODES], ky[FIELD_MODES], kz[FIELD_MODES], phase[FIELD_MODES];
} Field;

PETSC_INTERN PetscErrorCode FieldSetUp(Field *, const PetscReal correlation[3], PetscInt seed);
FORMULA double              FieldAt(const Field *field, double x, double y, double z)
{
  double sum = 0.;

  for (int m = 0; m < FIELD_MODES; m++) sum += cos(field->kx[m] * x + field->ky[m] * y + field->kz[m] * z + field->phase[m]);
  return sqrt(2. / FIELD_MODES) * sum;
}
/* The same at points (0 .. n-1, y, z), faster; other rounding */
PETSC_INTERN void FieldLine(const Field *, PetscInt n, double y, double z, double value[]);

/* ------------------------------------------------------------ rows under construction */

typedef struct {
  MPI_Comm     comm;
  PetscInt     N, n, rstart, rend;
  PetscInt     row; /* the next row, counted from rstart */
  PetscInt    *i, *j;
  PetscScalar *a, *b; /* b: right-hand side */
} Rows;

/* block: rows that stay on a process; extra: entries of the last process beyond perrow a row */
PETSC_INTERN PetscErrorCode RowsCreate(MPI_Comm, PetscInt N, PetscInt block, PetscInt perrow, PetscInt extra, Rows *);
PETSC_INTERN PetscErrorCode RowsFinish(Rows *, Mat *, Vec *);
/* The number of grid points; an error if the number exceeds a PetscInt */
PETSC_INTERN PetscErrorCode GridRows(MPI_Comm, const Problem *, PetscInt *N);

static inline void RowsBegin(Rows *rows)
{
  rows->i[rows->row + 1] = rows->i[rows->row];
}

static inline void RowsAdd(Rows *rows, PetscInt column, PetscScalar value)
{
  const PetscInt p = rows->i[rows->row + 1]++;

  rows->j[p] = column;
  rows->a[p] = value;
}

static inline void RowsEnd(Rows *rows, PetscScalar rhs)
{
  rows->b[rows->row++] = rhs;
}

/* ------------------------------------------------------------ the generators */

/* problemsreservoir.c */
PETSC_INTERN PetscErrorCode ProblemCreateReservoir(MPI_Comm, const Problem *, Mat *, Vec *);

/* problemsstencil.c */
PETSC_INTERN PetscErrorCode ProblemCreateLaplace(MPI_Comm, const Problem *, Mat *, Vec *);
PETSC_INTERN PetscErrorCode ProblemCreateConvectionDiffusion(MPI_Comm, const Problem *, Mat *, Vec *);
PETSC_INTERN PetscErrorCode ProblemCreateHelmholtz(MPI_Comm, const Problem *, Mat *, Vec *);

/* problemsfem.c */
PETSC_INTERN PetscErrorCode ProblemCreateFEM(MPI_Comm, const Problem *, Mat *, Vec *);
