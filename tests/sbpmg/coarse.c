/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The coarse operators of PCSBPMG against products of assembled matrices with the interpolation of a DMDA, and "
                     "against MATSBPSAT on the coarse grid.\n\n";

#include <tests/sbpmg/sbpmgtest.h>

#define VECTORS 3

/* x' A y for all pairs of a few vectors. The vectors depend only on the indices of nodes, not on their owners */
static PetscErrorCode Invariants(DM da, Mat A, PetscScalar value[VECTORS][VECTORS])
{
  Vec x, y, Ay;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &y, &Ay));
  PetscCall(VecDuplicate(y, &x));
  for (PetscInt k = 0; k < VECTORS; k++) {
    PetscCall(FillNoise(da, k, y));
    PetscCall(MatMult(A, y, Ay));
    for (PetscInt l = 0; l < VECTORS; l++) {
      PetscCall(FillNoise(da, l, x));
      PetscCall(VecDot(Ay, x, &value[k][l]));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&Ay));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareOperators(const char what[], DM da, Mat A, DM db, Mat B)
{
  PetscScalar a[VECTORS][VECTORS], b[VECTORS][VECTORS];
  PetscReal   error = 0, most = 0;

  PetscFunctionBeginUser;
  PetscCall(Invariants(da, A, a));
  PetscCall(Invariants(db, B, b));
  for (PetscInt k = 0; k < VECTORS; k++) {
    for (PetscInt l = 0; l < VECTORS; l++) {
      error = PetscMax(error, PetscAbsScalar(a[k][l] - b[k][l]));
      most  = PetscMax(most, PetscAbsScalar(a[k][l]));
    }
  }
  if (WRONG(!(error <= 1000 * PETSC_MACHINE_EPSILON * most))) FAIL("%s: differs by %g of %g", what, (double)error, (double)most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A finest operator of higher order is replaced by the operator of second order */
static PetscErrorCode TestCoarse(PetscInt nr, PetscInt ns, PetscInt order, PetscInt levels, PetscBool galerkin)
{
  System s, second;
  char   options[160], what[160];
  Mat    coarse;
  DM     da, db;
  KSP    ksp, coarseksp;
  PC     pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_sbpmg_levels %" PetscInt_FMT " -pc_sbpmg_dense 0 -pc_sbpmg_coarse %s", levels,
                          galerkin ? "galerkin" : "rediscretized"));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " x %" PetscInt_FMT ", order %" PetscInt_FMT " %s", nr, ns, order, options));
  PetscCall(SystemCreate(PETSC_COMM_WORLD, nr, ns, order, &s));
  PetscCall(SolverCreate(s.A, KSPCG, (PetscReal)1e-6, options, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSBPMGGetCoarseSolve(pc, &coarseksp));
  PetscCall(KSPGetOperators(coarseksp, &coarse, NULL));
  PetscCall(MatGetDM(coarse, &da));
  if (galerkin) {
    Mat A;

    PetscCall(SystemCreate(PETSC_COMM_WORLD, nr, ns, 2, &second));
    PetscCall(MatConvert(second.A, MATAIJ, MAT_INITIAL_MATRIX, &A));
    db = second.da;
    PetscCall(PetscObjectReference((PetscObject)db));
    for (PetscInt k = 1; k < levels; k++) {
      Mat P, C;
      DM  dc;

      PetscCall(DMSetMatType(db, MATAIJ));
      PetscCall(DMCoarsen(db, PETSC_COMM_WORLD, &dc));
      PetscCall(DMCreateInterpolation(dc, db, &P, NULL));
      PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_CURRENT, &C));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&P));
      PetscCall(DMDestroy(&db));
      A  = C;
      db = dc;
    }
    PetscCall(CompareOperators(what, da, coarse, db, A));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&db));
  } else {
    const PetscInt down = PetscPowInt(2, levels - 1);

    PetscCall(SystemCreate(PETSC_COMM_WORLD, nr / down, ns / down, order, &second));
    PetscCall(CompareOperators(what, da, coarse, second.da, second.A));
  }
  PetscCall(SystemDestroy(&second));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestCoarse(16, 16, 2, 2, PETSC_TRUE));
  PetscCall(TestCoarse(24, 36, 2, 3, PETSC_TRUE));
  PetscCall(TestCoarse(26, 34, 4, 2, PETSC_TRUE));
  PetscCall(TestCoarse(40, 40, 6, 3, PETSC_TRUE));
  PetscCall(TestCoarse(40, 48, 2, 3, PETSC_FALSE));
  PetscCall(TestCoarse(96, 88, 4, 3, PETSC_FALSE));
  PetscCall(TestCoarse(80, 96, 6, 2, PETSC_FALSE));
  return TestEnd(5, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2 3 4}}

  test:
    suffix: cuda
    requires: cuda
    args: -dm_vec_type cuda
    output_file: output/right.out

TEST*/
