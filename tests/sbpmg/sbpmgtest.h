/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the tests of PCSBPMG share: the manufactured problem on a grid, vectors independent of the distribution, and
   failures */

#include <lithe.h>
#include <petscksp.h>
#include <tests/failures.h>
#include <tutorials/common/sbpsatproblem.h>

typedef struct {
  DM  da;
  Mat A;
  Vec u, b, x;
} System;

/* exact: with exact metric terms */
static inline PetscErrorCode SystemCreateWith(MPI_Comm comm, const PetscInt n[2], PetscInt order, PetscBool exact, System *s)
{
  PetscFunctionBeginUser;
  PetscCall(ProblemCreateDM(comm, n, &s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(MatSBPSATSetOrder(s->A, order));
  PetscCall(ProblemSetOperator(s->da, exact, s->A));
  PetscCall(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMCreateGlobalVector(s->da, &s->u));
  PetscCall(VecDuplicate(s->u, &s->b));
  PetscCall(VecDuplicate(s->u, &s->x));
  PetscCall(ProblemGetSolution(s->da, s->u));
  PetscCall(ProblemAddRightSide(s->da, s->A, s->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SystemCreate(MPI_Comm comm, PetscInt nr, PetscInt ns, PetscInt order, System *s)
{
  const PetscInt n[2] = {nr, ns};

  PetscFunctionBeginUser;
  PetscCall(SystemCreateWith(comm, n, order, PETSC_TRUE, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SystemDestroy(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&s->u));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(MatDestroy(&s->A));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The H-norm of x - u */
static inline PetscErrorCode SystemError(System *s, Vec x, PetscReal *error)
{
  Vec e;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &e));
  PetscCall(VecWAXPY(e, -1., s->u, x));
  PetscCall(MatSBPSATNorm(s->A, e, error));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* White noise by a hash of the indices of a node */
static inline PetscErrorCode FillNoise(DM da, PetscInt seed, Vec v)
{
  PetscScalar **a;
  PetscInt      start[2], count[2];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(da, v, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscReal x = (PetscReal)((i * 7919 + j * 104729 + seed * 1299709) % 10007) / 5003;

      a[j][i] = PetscSinReal(1000 * x) - (PetscReal)0.1 * x;
      if (PetscDefined(USE_COMPLEX)) a[j][i] += PETSC_i * PetscCosReal(777 * x);
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(da, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with separate options */
static inline PetscErrorCode SolverCreate(Mat A, const char ksptype[], PetscReal rtol, const char options[], KSP *ksp)
{
  PC           pc;
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, ksptype));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, rtol, PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(PetscObjectSetOptions((PetscObject)*ksp, database));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, database));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)*ksp, NULL));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}
