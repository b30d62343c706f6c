/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Parts of the generators of matrices: random numbers, a random field, rows under construction */

#include "problemsimpl.h"

const char *const ProblemKinds[] = {"reservoir", "spe10",   "laplace7",    "laplace27", "helmholtz27", "convdiff7",
                                    "fem",       "elastic", "ProblemKind", "PROBLEM_",  NULL};

/* ------------------------------------------------------------ random numbers */

PetscErrorCode RandomUniform(PetscRandom random, double *value)
{
  PetscReal v;

  PetscFunctionBegin;
  PetscCall(PetscRandomGetValueReal(random, &v));
  *value = (double)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RandomNormal(PetscRandom random, double *value)
{
  double u = 0., v = 0.;

  PetscFunctionBegin;
  PetscCall(RandomUniform(random, &u));
  PetscCall(RandomUniform(random, &v));
  *value = sqrt(-2. * log(1. - u)) * cos(2. * PETSC_PI * v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a correlated Gaussian field */

PetscErrorCode FieldSetUp(Field *field, const PetscReal correlation[3], PetscInt seed)
{
  PetscRandom random;
  double      k[3] = {0.}, spread = 0., u = 0.;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)seed));
  PetscCall(PetscRandomSeed(random));
  for (int m = 0; m < FIELD_MODES; m++) {
    PetscCall(RandomNormal(random, &spread)); /* several scales */
    for (int d = 0; d < 3; d++) {
      PetscCall(RandomNormal(random, &k[d]));
      k[d] *= exp(.5 * spread) / (double)correlation[d];
    }
    PetscCall(RandomUniform(random, &u));
    field->kx[m]    = k[0];
    field->ky[m]    = k[1];
    field->kz[m]    = k[2];
    field->phase[m] = 2. * PETSC_PI * u;
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The field at points (0 .. n-1, y, z). Waves are rotated from point to point, always from the first, so a value
   depends on its place alone */
void FieldLine(const Field *field, PetscInt n, double y, double z, double value[])
{
  double c[FIELD_MODES], s[FIELD_MODES], dc[FIELD_MODES], ds[FIELD_MODES];

  for (int m = 0; m < FIELD_MODES; m++) {
    const double p = field->ky[m] * y + field->kz[m] * z + field->phase[m];

    c[m]  = cos(p);
    s[m]  = sin(p);
    dc[m] = cos(field->kx[m]);
    ds[m] = sin(field->kx[m]);
  }
  for (PetscInt i = 0; i < n; i++) {
    double sum[8] = {0.};

    for (int m = 0; m < FIELD_MODES; m += 8) {
      for (int l = 0; l < 8; l++) {
        const double t = c[m + l];

        sum[l] += t;
        c[m + l] = t * dc[m + l] - s[m + l] * ds[m + l];
        s[m + l] = t * ds[m + l] + s[m + l] * dc[m + l];
      }
    }
    value[i] = sqrt(2. / FIELD_MODES) * (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
  }
}

/* ------------------------------------------------------------ rows under construction */

/* Allocates perrow entries per row, and "extra" entries for the last row */
PetscErrorCode RowsCreate(MPI_Comm comm, PetscInt N, PetscInt block, PetscInt perrow, PetscInt extra, Rows *rows)
{
  PetscInt64 room;

  PetscFunctionBegin;
  rows->comm = comm;
  rows->N    = N;
  rows->n    = PETSC_DECIDE;
  PetscCall(PetscSplitOwnershipBlock(comm, block, &rows->n, &rows->N));
  PetscCallMPI(MPI_Scan(&rows->n, &rows->rend, 1, MPIU_INT, MPI_SUM, comm));
  rows->rstart = rows->rend - rows->n;
  rows->row    = 0;
  room         = (PetscInt64)rows->n * perrow + (rows->rend == N ? extra : 0);
  PetscCheck(room <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " rows of up to %" PetscInt_FMT
             " nonzeros on a process do not fit into PetscInt: use more processes or a PETSc with 64-bit indices",
             rows->n, perrow);
  PetscCall(PetscMalloc4(rows->n + 1, &rows->i, (size_t)room, &rows->j, (size_t)room, &rows->a, rows->n, &rows->b));
  PetscCall(PetscArrayzero(rows->b, rows->n));
  rows->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the matrix and, where rhs is asked for, the vector, and frees the rows */
PetscErrorCode RowsFinish(Rows *rows, Mat *A, Vec *rhs)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(rows->comm, A));
  PetscCall(MatSetSizes(*A, rows->n, rows->n, rows->N, rows->N));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, rows->i, rows->j, rows->a));
  PetscCall(MatMPIAIJSetPreallocationCSR(*A, rows->i, rows->j, rows->a));
  if (rhs) {
    PetscScalar *b;

    PetscCall(MatCreateVecs(*A, NULL, rhs));
    PetscCall(VecGetArrayWrite(*rhs, &b));
    PetscCall(PetscArraycpy(b, rows->b, rows->n));
    PetscCall(VecRestoreArrayWrite(*rhs, &b));
  }
  PetscCall(PetscFree4(rows->i, rows->j, rows->a, rows->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridRows(MPI_Comm comm, const Problem *problem, PetscInt *N)
{
  const PetscInt64 n = (PetscInt64)problem->nx * problem->ny * problem->nz;

  PetscFunctionBegin;
  PetscCheck(n < PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points do not fit into PetscInt",
             problem->nx, problem->ny, problem->nz);
  *N = (PetscInt)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}
