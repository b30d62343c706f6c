/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of KSPBCGSM: blocks of right-hand sides, and the comparison of each column with a solve of its own */

#include <lithe/private/petsccompat.h>
#include <tests/cbgmres/ksptest.h>

/* Rounding errors of another order of sums, amplified by the iterations of this test */
#define TINY ((PetscReal)64.0 * PetscSqrtReal(PETSC_MACHINE_EPSILON))

typedef enum {
  SOLVE,
  TRANSPOSE
} How;

/* ---- Right-hand sides ---- */

/* A dense matrix with n columns in the vector type of A; the leading dimension exceeds the number of rows */
static inline PetscErrorCode CreateBlock(Mat A, PetscInt n, Mat *B)
{
  PetscInt m, M;
  VecType  type;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatCreateDenseFromVecType(PetscObjectComm((PetscObject)A), type, m, PETSC_DECIDE, M, n, m + 3, NULL, B));
  PetscCall(MatZeroEntries(*B));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of very different sizes; the second column is zero */
static inline PetscErrorCode FillBlock(Mat B, int seed)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(B, NULL, &n));
  for (PetscInt j = 0; j < n; j++) {
    PetscReal norm;
    Vec       b;

    PetscCall(MatDenseGetColumnVecWrite(B, j, &b));
    PetscCall(TestFillVec(b, seed + (int)j));
    PetscCall(VecScale(b, j == 1 ? 0.0 : PetscPowReal((PetscReal)10.0, (PetscReal)(3 * (j % 4) - 4))));
    PetscCall(VecNorm(b, NORM_2, &norm)); /* waits: columns share an array of the host, from which a device copies */
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The comparison ---- */

typedef struct {
  PetscInt           its;
  KSPConvergedReason reason;
} Expected;

/* Column by column with KSPBCGS; X is the guess, too */
static inline PetscErrorCode SolveAlone(Mat A, const char options[], How how, Mat B, Mat X, Expected expected[])
{
  KSP      ksp;
  PetscInt n;
  char     all[512];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type bcgs %s", options));
  PetscCall(TestCreateKSP(A, all, &ksp));
  PetscCall(MatGetSize(B, NULL, &n));
  for (PetscInt j = 0; j < n; j++) {
    Vec b, x;

    PetscCall(MatDenseGetColumnVec(B, j, &b)); /* which PCEISENSTAT changes for the time of a solve */
    PetscCall(MatDenseGetColumnVec(X, j, &x));
    PetscCall((*(how == SOLVE ? KSPSolve : KSPSolveTranspose))(ksp, b, x));
    PetscCall(MatDenseRestoreColumnVec(X, j, &x));
    PetscCall(MatDenseRestoreColumnVec(B, j, &b));
    PetscCall(KSPGetIterationNumber(ksp, &expected[j].its));
    PetscCall(KSPGetConvergedReason(ksp, &expected[j].reason));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the solver's reports on its columns, and the solutions. With few iterations left, another order of sums may
   need one more or one less */
static inline PetscErrorCode CompareColumns(KSP ksp, const char where[], Mat Y, Mat X, const Expected expected[])
{
  const PetscInt           *its;
  const KSPConvergedReason *reasons;
  KSPConvergedReason        reason, worst = KSP_CONVERGED_ITERATING;
  PetscInt                  n, told, most = 0, iterations;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(X, NULL, &n));
  PetscCall(KSPBCGSMGetColumns(ksp, &told, &its, &reasons, NULL));
  if (WRONG(told != n)) {
    FAIL("%s: %" PetscInt_FMT " columns of %" PetscInt_FMT, where, told, n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < n; j++) {
    const PetscBool number = (PetscBool)(expected[j].reason != KSP_DIVERGED_NANORINF && expected[j].reason != KSP_DIVERGED_PC_FAILED);
    PetscReal       norm, difference;
    Vec             x, y;

    if (WRONG((number && its[j] != expected[j].its) || reasons[j] != expected[j].reason))
      FAIL("%s: column %" PetscInt_FMT " has %s after %" PetscInt_FMT " iterations, alone %s after %" PetscInt_FMT, where, j, KSPConvergedReasons[reasons[j]],
           its[j], KSPConvergedReasons[expected[j].reason], expected[j].its);
    most  = PetscMax(most, its[j]);
    worst = PetscMin(worst, reasons[j]);
    if (!number) continue; /* KSPBCGS reports the iterations of the previous solve, and no solution */
    PetscCall(MatDenseGetColumnVecRead(Y, j, &y));
    PetscCall(MatDenseGetColumnVec(X, j, &x));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecAXPY(x, -1.0, y));
    PetscCall(VecNorm(x, NORM_2, &difference));
    PetscCall(MatDenseRestoreColumnVec(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(Y, j, &y));
    if (WRONG(!(difference <= TINY * norm)))
      FAIL("%s: column %" PetscInt_FMT " differs by %g of %g from that alone", where, j, (double)difference, (double)norm);
  }
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  if (WRONG(worst < 0 ? reason != worst : reason <= 0)) FAIL("%s: the solver has %s", where, KSPConvergedReasons[reason]);
  if (WRONG(iterations != most)) FAIL("%s: the solver has %" PetscInt_FMT " iterations, its columns at most %" PetscInt_FMT, where, iterations, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SolveAtOnce(KSP ksp, How how, Mat B, Mat X)
{
  PetscFunctionBeginUser;
  PetscCall((*(how == SOLVE ? KSPMatSolve : KSPMatSolveTranspose))(ksp, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* G: the guesses, or NULL. The solver is used three times: with all columns, with the first columns, and with all
   columns again */
static inline PetscErrorCode Compare(Mat A, const char options[], How how, Mat B, Mat G, const char name[])
{
  Expected expected[32];
  char     all[512], where[600];
  PetscInt n;
  KSP      ksp;
  Mat      X, Y;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(B, NULL, &n));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type bcgsm %s", options));
  PetscCall(PetscSNPrintf(where, sizeof(where), "%s%s, %s", name, how == SOLVE ? "" : " transposed", options));
  PetscCall(TestCreateKSP(A, all, &ksp));
  PetscCall(CreateBlock(A, n, &X));
  PetscCall(CreateBlock(A, n, &Y));
  if (G) PetscCall(MatCopy(G, Y, SAME_NONZERO_PATTERN));
  PetscCall(SolveAlone(A, options, how, B, Y, expected));
  for (int round = 0; round < 3; round++) {
    Mat b, x, y;

    if (G) PetscCall(MatCopy(G, X, SAME_NONZERO_PATTERN));
    if (round == 1) {
      const PetscInt few = PetscMax(1, n / 3);

      PetscCall(MatDenseGetSubMatrix(B, PETSC_DECIDE, PETSC_DECIDE, 0, few, &b));
      PetscCall(MatDenseGetSubMatrix(X, PETSC_DECIDE, PETSC_DECIDE, 0, few, &x));
      PetscCall(SolveAtOnce(ksp, how, b, x));
      PetscCall(MatDenseGetSubMatrix(Y, PETSC_DECIDE, PETSC_DECIDE, 0, few, &y));
      PetscCall(CompareColumns(ksp, where, y, x, expected));
      PetscCall(MatDenseRestoreSubMatrix(Y, &y));
      PetscCall(MatDenseRestoreSubMatrix(X, &x));
      PetscCall(MatDenseRestoreSubMatrix(B, &b));
    } else {
      PetscCall(SolveAtOnce(ksp, how, B, X));
      PetscCall(CompareColumns(ksp, where, Y, X, expected));
      if (!round) {
        PetscCall(KSPReset(ksp));
        PetscCall(KSPSetOperators(ksp, A, A));
      }
    }
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
