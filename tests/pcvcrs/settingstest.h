/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* For tests of settings: matrices with two fields, and what a program tells a preconditioner */

#include <tests/pcvcrs/fieldstest.h>

static inline PetscScalar Entry(const void *ctx, PETSC_UNUSED const DMDALocalInfo *info, PetscInt i, PetscInt j, PETSC_UNUSED PetscInt c, int k)
{
  const PetscInt round = *(const PetscInt *)ctx;

  if (k == FIELDS_OTHER) return -0.2;
  if (k == FIELDS_ROW) return (PetscScalar)(4.3 + 0.7 * (double)round + 0.1 * (double)((i + 2 * j) % 3));
  return (PetscScalar)(-1.0 - 0.3 * (double)round * (k < 2));
}

/* Two coupled Laplacians on a square, two unknowns per point; round: selects other values */
static inline PetscErrorCode FillGrid(DM da, PetscInt round, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(FillFields(da, Entry, &round, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fields of unlike sizes: the first third of each process's unknowns, and the rest */
static inline PetscErrorCode CreateFields(Mat A, IS is[2])
{
  PetscInt start, end, third;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  third = (end - start) / 3;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, third, start, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - start - third, start + third, 1, &is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator, or with nest the blocks; preconditioners use a separate matrix */
static inline PetscErrorCode CreateMatrices(DM da, PetscBool nest, Mat *A, Mat *P)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, P));
  PetscCall(FillGrid(da, 0, *P));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(FillGrid(da, 1, *A));
  if (nest) {
    Mat block[4];
    IS  is[2];

    PetscCall(CreateFields(*P, is));
    for (int k = 0; k < 4; k++) PetscCall(MatCreateSubMatrix(*P, is[k / 2], is[k % 2], MAT_INITIAL_MATRIX, &block[k]));
    PetscCall(MatDestroy(P));
    PetscCall(MatDestroy(A));
    PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, block, P));
    PetscCall(PetscObjectReference((PetscObject)*P));
    *A = *P;
    for (int k = 0; k < 4; k++) PetscCall(MatDestroy(&block[k]));
    for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other values in the same matrices */
static inline PetscErrorCode Change(DM da, PetscBool nest, PetscInt round, Mat A, Mat P)
{
  PetscFunctionBeginUser;
  if (nest) {
    PetscCall(MatScale(P, 1.5));
    PetscCall(MatShift(P, 0.5));
  } else {
    PetscCall(FillGrid(da, round, P));
    PetscCall(FillGrid(da, round + 1, A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What is told. To the plain preconditioner, to the inner or to the outer one ---- */

typedef enum {
  PLAIN,
  INSIDE,
  OUTSIDE
} Listener;

static inline PetscErrorCode TellFields(PC pc, PETSC_UNUSED DM da, Mat A)
{
  IS is[2];

  PetscFunctionBeginUser;
  PetscCall(CreateFields(A, is));
  PetscCall(PCFieldSplitSetIS(pc, "a", is[0]));
  PetscCall(PCFieldSplitSetIS(pc, "b", is[1]));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A nested matrix defines fields and blocks; the program sets a preconditioner for the Schur complement */
static inline PetscErrorCode TellSchur(PC pc, PETSC_UNUSED DM da, Mat A)
{
  IS  is[2];
  Mat S;

  PetscFunctionBeginUser;
  PetscCall(CreateFields(A, is));
  PetscCall(PCFieldSplitSetType(pc, PC_COMPOSITE_SCHUR));
  PetscCall(TellFields(pc, da, A));
  PetscCall(MatCreateSubMatrix(A, is[1], is[1], MAT_INITIAL_MATRIX, &S));
  PetscCall(MatShift(S, 1.0));
  PetscCall(PCFieldSplitSetSchurPre(pc, PC_FIELDSPLIT_SCHUR_PRE_USER, S));
  PetscCall(MatDestroy(&S));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellNest(PC pc, PETSC_UNUSED DM da, Mat A)
{
  IS is[2];

  PetscFunctionBeginUser;
  PetscCall(MatNestGetISs(A, is, NULL));
  PetscCall(PCFieldSplitSetIS(pc, "a", is[0]));
  PetscCall(PCFieldSplitSetIS(pc, "b", is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three subdomains per process; the second subdomain overlaps with both others */
static inline PetscErrorCode TellSubdomains(PC pc, PETSC_UNUSED DM da, Mat A)
{
  PetscInt start, end, n;
  IS       is[3];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  n = (end - start) / 4;
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, start, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, 2 * n, start + n / 2, 1, &is[1]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, end - start - 2 * n, start + 2 * n, 1, &is[2]));
  PetscCall(PCASMSetLocalSubdomains(pc, 3, is, NULL));
  PetscCall(PCASMSetOverlap(pc, 0));
  PetscCall(PCASMSetType(pc, PC_ASM_BASIC));
  for (int k = 0; k < 3; k++) PetscCall(ISDestroy(&is[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellBlocks(PC pc, PETSC_UNUSED DM da, Mat A)
{
  PetscInt lens[3], n;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  lens[0] = 4;
  lens[1] = n / 4 * 2;
  lens[2] = n - 4 - n / 4 * 2;
  PetscCall(PCBJacobiSetLocalBlocks(pc, 3, lens));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Subproblems are changed before factorization */
static inline PetscErrorCode Modify(PETSC_UNUSED PC pc, PetscInt n, PETSC_UNUSED const IS row[], PETSC_UNUSED const IS col[], Mat submat[], void *ctx)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) PetscCall(MatShift(submat[k], *(PetscScalar *)ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellModify(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  static PetscScalar shift = 2.5;

  PetscFunctionBeginUser;
  PetscCall(PCSetModifySubMatrices(pc, Modify, &shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellCoordinates(PC pc, DM da, PETSC_UNUSED Mat A)
{
  DMDALocalInfo info;
  PetscReal    *x;
  PetscInt      n = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(PetscMalloc1(2 * info.xm * info.ym, &x));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      x[n++] = (PetscReal)i;
      x[n++] = (PetscReal)0.5 * (PetscReal)j;
    }
  }
  PetscCall(PCSetCoordinates(pc, 2, n / 2, x));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellDM(PC pc, DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetDM(pc, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An interpolation which no grid makes */
static inline PetscErrorCode CreateInterpolation(DM da, Mat *P)
{
  DM coarse;

  PetscFunctionBeginUser;
  PetscCall(DMCoarsen(da, PETSC_COMM_WORLD, &coarse));
  PetscCall(DMCreateInterpolation(coarse, da, P, NULL));
  PetscCall(MatConvert(*P, MATAIJ, MAT_INPLACE_MATRIX, P));
  PetscCall(MatScale(*P, 0.75));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellInterpolation(PC pc, DM da, PETSC_UNUSED Mat A)
{
  Mat P;

  PetscFunctionBeginUser;
  PetscCall(CreateInterpolation(da, &P));
  PetscCall(PCMGSetLevels(pc, 2, NULL));
  PetscCall(PCMGSetInterpolation(pc, 1, P));
  PetscCall(PCSetDM(pc, da));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellParts(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCCompositeSetType(pc, PC_COMPOSITE_MULTIPLICATIVE));
  PetscCall(PCCompositeAddPCType(pc, PCSOR));
  PetscCall(PCCompositeAddPCType(pc, PCJACOBI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellSOR(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSORSetOmega(pc, 1.4));
  PetscCall(PCSORSetIterations(pc, 1, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TellUseAmat(PC pc, PETSC_UNUSED DM da, PETSC_UNUSED Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetUseAmat(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
