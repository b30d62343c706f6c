/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the tests of KSPCBGMRES share: the matrices of tests/vcrs, solvers made from a line of options, and a line per
   failure */

#include <lithe.h>
#include <tests/failures.h>
#include <tests/vcrs/vcrstest.h>

/* The storages of all tests, and the least gain of a cycle with each storage */
static const struct {
  const char *name;
  double      unit;
} storages[] = {{"double", (double)PETSC_MACHINE_EPSILON},
                {"single", 6e-8},
                {"half", 5e-4},
                {"bfloat16", 4e-3},
#if defined(PETSC_USE_REAL_DOUBLE)
                {"frsz2_53", 5e-16},
                {"frsz2_32", 2e-9},
                {"frsz2_40", 1e-11},
#endif
                {"frsz2_21", 4e-6},
                {"frsz2_16", 1.2e-4},
                {"frsz2_8", 3e-2}};
#define NSTORAGES ((int)PETSC_STATIC_ARRAY_LENGTH(storages))

/* KSPGMRES, kept orthogonal: the option's name is new in PETSc 3.26 */
#if PETSC_VERSION_LT(3, 26, 0)
  #define TEST_GMRES_REFINED "-ksp_type gmres -ksp_gmres_cgs_refinement_type refine_always"
#else
  #define TEST_GMRES_REFINED "-ksp_type gmres -ksp_orthogonalization_cgs_refinement_type refine_always"
#endif

/* Converts a matrix to the types in -operator_types, one after another: aijcusparse,vcrs gives a MATVCRS with CUDA
   vectors */
static inline PetscErrorCode TestConvertOperator(Mat *A)
{
  char    *type[4];
  PetscInt n = 4;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-operator_types", type, &n, NULL));
  for (PetscInt t = 0; t < n; t++) {
    PetscCall(MatConvert(*A, type[t], MAT_INPLACE_MATRIX, A));
    PetscCall(PetscFree(type[t]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The test matrix of a kind, converted */
static inline PetscErrorCode TestCreateOperator(MPI_Comm comm, TestKind kind, int round, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(TestCreateMatrix(comm, kind, round, A));
  PetscCall(TestConvertOperator(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestSetOptions(KSP ksp, const char options[])
{
  PetscOptions database;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver from options such as "-ksp_type cbgmres -pc_type jacobi" */
static inline PetscErrorCode TestCreateKSP(Mat A, const char options[], KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(TestSetOptions(*ksp, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* || b - A x || / || b || */
static inline PetscErrorCode TestResidual(Mat A, Vec x, Vec b, PetscReal *residual)
{
  PetscReal norm;
  Vec       r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do all numbers of two vectors have the same bits? */
static inline PetscErrorCode TestSameBits(Vec x, Vec y, PetscBool *same)
{
  const PetscScalar *xx, *yy;
  PetscInt           n;
  PetscBool          here;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayRead(y, &yy));
  here = (PetscBool)(!n || !memcmp(xx, yy, (size_t)n * sizeof(PetscScalar)));
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCallMPI(MPIU_Allreduce(&here, same, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
