/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS besides compression: freed memory, single precision, hooks, and inner solvers which keep their state.\n\n";

#include <tests/pcvcrs/reservoirtest.h>

/* Freed exact matrices: the same results with less memory, also after a second set-up and with changed options */
static PetscErrorCode TestDrop(DM da, PetscBool verbose)
{
  static const char *const inner[] = {"-@pc_type gamg -@pc_gamg_reuse_interpolation 0 -@mg_levels_ksp_type richardson -@mg_levels_pc_type jacobi",
                                      "-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_coarse_pc_type redundant",
                                      "-@pc_type bjacobi -@pc_bjacobi_blocks 4 -@sub_pc_type ilu", "-@pc_type asm -@sub_pc_type icc"};
  Mat                      A;
  Vec                      x;

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 1, MATAIJ, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(TestFillVec(x, 5));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    KSP            keep, drop;
    PC             pc[2];
    PetscLogDouble usage[3], bytes[2];
    PetscReal      difference;

    /* on several processes the aggregates differ each time */
    if (!k && size > 1) continue;

    PetscCall(PetscMallocGetCurrentUsage(&usage[0]));
    PetscCall(CreateSolver(da, A, KSPBCGS, "-@pc_type vcrs", inner[k], &keep));
    PetscCall(PetscMallocGetCurrentUsage(&usage[1]));
    PetscCall(CreateSolver(da, A, KSPBCGS, "-@pc_type vcrs -@pc_vcrs_drop_exact", inner[k], &drop));
    PetscCall(PetscMallocGetCurrentUsage(&usage[2]));
    for (int i = 0; i < 2; i++) bytes[i] = usage[i + 1] - usage[i];
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    /* Memory is known only if PETSc tracks allocations */
    if (verbose) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %g bytes with the exact matrices, %g without\n", inner[k], bytes[0], bytes[1]));
    if (WRONG(bytes[0] > 0.0 && !(bytes[1] < 0.85 * bytes[0]))) FAIL("%s: %g bytes with the exact matrices, %g without", inner[k], bytes[0], bytes[1]);
    PetscCall(KSPGetPC(keep, &pc[0]));
    PetscCall(KSPGetPC(drop, &pc[1]));
    for (PetscInt round = 0; round < 2; round++) {
      PetscInt its[2];

      PetscCall(Difference(pc[0], pc[1], APPLY, x, &difference));
      if (WRONG(!(difference <= TINY)))
        FAIL("%s, round %" PetscInt_FMT ": without the exact matrices the results are %g apart", inner[k], round, (double)difference);
      PetscCall(Iterations(keep, &its[0]));
      PetscCall(Iterations(drop, &its[1]));
      if (WRONG(its[0] < 0 || PetscAbsInt(its[0] - its[1]) > 1))
        FAIL("%s, round %" PetscInt_FMT ": %" PetscInt_FMT " iterations, %" PetscInt_FMT " without the exact matrices", inner[k], round, its[0], its[1]);
      PetscCall(Assemble(da, 2 - round, A));
      PetscCall(KSPSetUp(keep));
      PetscCall(KSPSetUp(drop));
    }
    PetscCall(PCVCRSSetLoss(pc[0], MATVCRS_LOSS_NONE));
    PetscCall(PCVCRSSetLoss(pc[1], MATVCRS_LOSS_NONE));
    PetscCall(Difference(pc[0], pc[1], APPLY, x, &difference));
    if (WRONG(!(difference <= TINY))) FAIL("%s: with other options the results are %g apart without the exact matrices", inner[k], (double)difference);
    PetscCall(KSPDestroy(&keep));
    PetscCall(KSPDestroy(&drop));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   For a flexible method the output is in single precision, and the input is rounded to single precision at any scale.
   BiCGSTAB gets an operator that is linear, and ends with the true residual
*/
static PetscErrorCode TestSingle(DM da)
{
  KSPConvergedReason reason;
  PetscReal          norm;

  Mat                A;
  KSP                ksp[2];
  PC                 pc;
  Vec                x, y, z, w;
  const PetscScalar *a;
  PetscScalar       *b;
  PetscReal          difference;
  PetscInt           n, its[2], bad = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 3, MATAIJ, &A));
  PetscCall(CreateSolver(da, A, KSPFGMRES, "-@pc_type vcrs", "-@pc_type gamg", &ksp[0]));
  PetscCall(CreateSolver(da, A, KSPFGMRES, "-@pc_type vcrs -@pc_vcrs_precision single", "-@pc_type gamg", &ksp[1]));
  for (int k = 0; k < 2; k++) PetscCall(Iterations(ksp[k], &its[k]));
  if (WRONG(its[0] < 0 || its[1] < 0 || its[1] > its[0] + 1)) FAIL("%" PetscInt_FMT " iterations, %" PetscInt_FMT " in single precision", its[0], its[1]);
  PetscCall(KSPGetPC(ksp[1], &pc));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(TestFillVec(x, 5));
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArray(x, &b));
  for (PetscInt i = 0; i < n; i++) b[i] = (PetscReal)(float)PetscRealPart(b[i]);
  PetscCall(VecRestoreArray(x, &b));
  PetscCall(PCApply(pc, x, y));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = 0; i < n; i++) {
    if (PetscRealPart(a[i]) != (PetscReal)(float)PetscRealPart(a[i]) || PetscImaginaryPart(a[i]) != (PetscReal)(float)PetscImaginaryPart(a[i])) bad++;
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  if (WRONG(bad)) FAIL("%" PetscInt_FMT " numbers are not of single precision", bad);

  /* the vector times 2^-100, and a factor near 1 whose change is less than half a unit in the last place of single
     precision */
  for (int k = 0; k < 2; k++) {
    const PetscReal factor = k ? (PetscReal)(1.0 + 2e-8) : PetscPowReal(2.0, -100.0);

    PetscCall(VecCopy(x, z));
    PetscCall(VecScale(z, factor));
    PetscCall(PCApply(pc, z, w));
    if (!k) PetscCall(VecScale(w, 1.0 / factor));
    PetscCall(VecAXPY(w, -1.0, y));
    PetscCall(VecNorm(w, NORM_INFINITY, &difference));
    if (WRONG(difference != 0.0)) FAIL("a right-hand side times %g makes a difference of %g", (double)factor, (double)difference);
  }
  PetscCall(KSPDestroy(&ksp[1]));
  PetscCall(CreateSolver(da, A, KSPBCGS, "-@pc_type vcrs -@pc_vcrs_precision single", "-@pc_type gamg", &ksp[1]));
  PetscCall(KSPSolve(ksp[1], x, y));
  PetscCall(KSPGetConvergedReason(ksp[1], &reason));
  PetscCall(MatMult(A, y, w));
  PetscCall(VecAXPY(w, -1.0, x));
  PetscCall(VecNorm(w, NORM_2, &difference));
  PetscCall(VecNorm(x, NORM_2, &norm));
  if (WRONG(reason < 0 || !(difference <= 10 * PetscMax(1e-8, 100 * PETSC_MACHINE_EPSILON) * norm)))
    FAIL("BiCGSTAB in single precision: %s with the residual %g", KSPConvergedReasons[reason], (double)(difference / norm));
  PetscCall(VecDestroy(&w));
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A user's preconditioner y = R x + (x - P R x)/10, which declares its matrices and records them when applied */
typedef struct {
  Mat       R, P, none;
  PetscBool compressed;
} Own;

static PetscErrorCode OwnApply(PC pc, Vec x, Vec y)
{
  Own      *own;
  PetscBool compressed[2];
  Vec       z;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &own));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)own->R, &compressed[0], MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)own->P, &compressed[1], MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  own->compressed = (PetscBool)(compressed[0] && compressed[1]);
  PetscCall(VecDuplicate(x, &z));
  PetscCall(MatMult(own->R, x, y));
  PetscCall(MatMult(own->P, y, z));
  PetscCall(VecAYPX(z, -1.0, x));
  PetscCall(VecAXPY(y, (PetscScalar)0.1, z));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnExchange(PC pc, PCVCRSExchangeFn *exchange, void *ctx)
{
  Own *own;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &own));
  PetscCall((*exchange)(&own->R, ctx));
  PetscCall((*exchange)(&own->none, ctx));
  PetscCall((*exchange)(&own->P, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner unknown to PCVCRS is compressed by its own function, and gets its exact matrices back afterwards */
static PetscErrorCode TestHook(DM da)
{
  Own       own = {NULL, NULL, NULL, PETSC_FALSE};
  Mat       A, exact[2];
  PC        pc, inner;
  Vec       x, y[3];
  PetscReal norm, difference[2];

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 4, MATAIJ, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &own.R));
  PetscCall(PetscObjectReference((PetscObject)A));
  own.P    = A;
  exact[0] = own.R;
  exact[1] = own.P;
  PetscCall(MatCreateVecs(A, &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  PetscCall(VecDuplicate(y[0], &y[2]));
  PetscCall(TestFillVec(x, 5));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVCRS));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCVCRSGetPC(pc, &inner));
  PetscCall(PCSetType(inner, PCSHELL));
  PetscCall(PCShellSetContext(inner, &own));
  PetscCall(PCShellSetApply(inner, OwnApply));
  PetscCall(PetscObjectComposeFunction((PetscObject)inner, "PCVCRSCompress_C", OwnExchange));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, x, y[0]));
  if (WRONG(!own.compressed)) FAIL("a preconditioner that tells of its matrices is not applied from compressed ones");
  PetscCall(PCVCRSSetLoss(pc, MATVCRS_LOSS_NONE));
  PetscCall(PCApply(pc, x, y[1]));
  if (WRONG(!own.compressed)) FAIL("with other options, a preconditioner that tells of its matrices is not applied from compressed ones");
  if (WRONG(own.R != exact[0] || own.P != exact[1] || own.none)) FAIL("a preconditioner that tells of its matrices does not get them back");
  PetscCall(OwnApply(inner, x, y[2]));
  PetscCall(VecNorm(y[2], NORM_2, &norm));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecAXPY(y[k], -1.0, y[2]));
    PetscCall(VecNorm(y[k], NORM_2, &difference[k]));
  }
  if (WRONG(!(difference[0] > TINY * norm && difference[0] < 0.1 * norm))) FAIL("with loss its results are %g apart", (double)(difference[0] / norm));
  if (WRONG(!(difference[1] <= TINY * norm))) FAIL("without loss its results are %g apart", (double)(difference[1] / norm));
  PetscCall(PetscObjectComposeFunction((PetscObject)inner, "PCVCRSCompress_C", NULL));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&own.R));
  PetscCall(MatDestroy(&own.P));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&y[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products and relaxations in an application, from the log */
static PetscErrorCode CountProducts(PC pc, Vec x, Vec y, PetscInt *count)
{
  PetscEventPerfInfo info[2];
  PetscLogEvent      event;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("MatMult", &event));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info[0]));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info[1]));
  *count = (PetscInt)(info[1].count - info[0].count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inner solvers must not take copies for new matrices: Chebyshev's method would estimate eigenvalues again in each
   application */
static PetscErrorCode TestState(DM da)
{
  const char inner[] = "-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_levels_pc_type jacobi -@mg_coarse_pc_type redundant";
  KSP        ksp[2];
  PC         pc[2];
  Mat        A;
  Vec        x, y;
  PetscInt   count[2];

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 6, MATAIJ, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestFillVec(x, 5));
  PetscCall(CreateSolver(da, A, KSPCG, inner, NULL, &ksp[0]));
  PetscCall(CreateSolver(da, A, KSPCG, "-@pc_type vcrs", inner, &ksp[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPGetPC(ksp[k], &pc[k]));
    /* the exact preconditioner sets up the smoothers in the first application, the compressed preconditioner may not */
    if (!k) PetscCall(PCApply(pc[k], x, y));
    for (PetscInt round = 0; round < 3; round++) {
      PetscInt n = 0;

      PetscCall(CountProducts(pc[k], x, y, &n));
      if (WRONG(round && n != count[k])) FAIL("%" PetscInt_FMT " products in an application, %" PetscInt_FMT " in the next one", count[k], n);
      count[k] = n;
    }
  }
  /* residuals of MATAIJ are logged as another event, once per level */
  if (WRONG(count[0] < 1 || count[1] > count[0] + 3))
    FAIL("%" PetscInt_FMT " products in an application of the exact preconditioner, %" PetscInt_FMT " of the compressed one", count[0], count[1]);
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        da;
  PetscInt  n       = 13;
  PetscBool verbose = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  PetscCall(CreateGrid(n, 1, &da));
  PetscCall(TestDrop(da, verbose));
  PetscCall(TestSingle(da));
  PetscCall(TestHook(da));
  PetscCall(TestState(da));
  PetscCall(DMDestroy(&da));
  return TestEnd(25, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  test:
    suffix: 2
    nsize: 2
    args: -n 9
    output_file: output/right.out

  test:
    suffix: 3
    nsize: 3
    args: -n 9
    output_file: output/right.out

TEST*/
