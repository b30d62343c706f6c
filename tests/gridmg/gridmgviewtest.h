/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of PCGRIDMG: the view of a preconditioner, and its comparison with a new preconditioner */

#include "gridmgtest.h"
#include <tests/viewtest.h>

#define VIEW_HAS(pc, text)                                                     \
  do {                                                                         \
    PetscBool has_;                                                            \
    PetscCall(ViewHas(pc, text, &has_));                                       \
    if (WRONG(!has_)) FAIL("line %d: the view has no \"%s\"", __LINE__, text); \
  } while (0)

static inline PetscErrorCode CreatePlainPC(Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCGRIDMG));
  PetscCall(PCSetErrorIfFailure(*pc, PETSC_FALSE));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries at random places: no grid */
static inline PetscErrorCode CreateGridless(PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 12, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatSetValue(*A, i, i, 10.0, INSERT_VALUES));
    for (uint64_t k = 0; k < 4; k++) PetscCall(MatSetValue(*A, i, (PetscInt)(TestRandom((uint64_t)i, k, 1) * n), -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the values of a round to a matrix of zeros */
typedef PetscErrorCode (*FillRound)(const void *problem, PetscInt round, Mat);

/* A bad value of entry (i, j) makes the preconditioner fail, with a reason in its view; a good matrix works again */
static inline PetscErrorCode TestBadEntry(Mat A, PC pc, FillRound fill, const void *problem, PetscInt i, PetscInt j, PetscScalar value, const char text[])
{
  PCFailedReason reason;

  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, i, j, value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  if (WRONG(!reason)) FAIL("%s: no failure", text);
  VIEW_HAS(pc, text);
  PetscCall(MatZeroEntries(A));
  PetscCall((*fill)(problem, 0, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  if (WRONG(reason)) FAIL("%s: still failed with a good matrix", text);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares Mx after several set-ups with Mx of a new preconditioner */
static inline PetscErrorCode CompareWithNew(const char what[], Mat A, PC pc)
{
  PetscReal difference;
  PC        other;
  Vec       x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreatePlainPC(A, &other));
  PetscCall(PCSetUp(other));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestFillVec(x, 4));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PCApply(other, x, z));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  if (WRONG(difference != 0)) FAIL("%s: differs from a new preconditioner by %g", what, (double)difference);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A set-up preconditioner of A whose values change: the same bits as a new preconditioner, and no more memory from the
   third set-up on. Destroys A
*/
static inline PetscErrorCode TestNewValues(const char what[], Mat A, FillRound fill, const void *problem)
{
  PetscLogDouble before = 0, after;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetUp(pc));
  for (PetscInt round = 1; round < 6; round++) {
    PetscCall(MatZeroEntries(A));
    PetscCall((*fill)(problem, round, A));
    PetscCall(PCSetUp(pc));
    PetscCall(PetscMallocGetCurrentUsage(&after));
    if (WRONG(round > 2 && after > before)) FAIL("%s: set-up %d takes %g bytes more", what, (int)round, after - before);
    PetscCall(CompareWithNew(what, A, pc));
    PetscCall(PetscMallocGetCurrentUsage(&before));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
