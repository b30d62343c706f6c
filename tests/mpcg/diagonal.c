/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   KSPMPCG with PCJACOBI and PCNONE: products in single precision of all layouts and losses of MATVCRS against MatMult(),
   and solves with MATAIJ and MATVCRS against KSPCG.
*/

static char help[] = "KSPMPCG with PCJACOBI and PCNONE, and products of MATVCRS in single precision\n\n";

#include <lithe.h>
#include <lithe/private/lithesingle.h>
#include <tests/failures.h>
#include <tests/camg/camgtest.h>

#define PARTS ((PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)))

static PetscBool device = PETSC_FALSE;

/* The type and, with -device, vectors of a device */
static PetscErrorCode ToType(Mat *A, const char type[])
{
  MatNullSpace space;

  PetscFunctionBeginUser;
  PetscCall(MatGetNullSpace(*A, &space));
  PetscCall(PetscObjectReference((PetscObject)space));
  if (device) PetscCall(MatSetVecType(*A, VECCUDA));
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscCall(MatSetNullSpace(*A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Random(Vec x, PetscInt stream)
{
  PetscScalar *a;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = begin; k < end; k++) a[k - begin] = PetscCMPLX(CAMGRandom(k, stream), CAMGRandom(k, stream + 20));
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With complex scalars D^H A D, which is Hermitian, for numbers D of modulus 1 */
static PetscErrorCode Create(CAMGKind kind, PetscInt n, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(kind, n, A));
#if PetscDefined(USE_COMPLEX)
  if (kind != CAMG_NEUMANN) {
    PetscInt     begin, end;
    PetscScalar *a;
    Vec          l, r;

    PetscCall(MatCreateVecs(*A, &r, &l));
    PetscCall(VecGetOwnershipRange(r, &begin, &end));
    PetscCall(VecGetArray(r, &a));
    for (PetscInt k = begin; k < end; k++) a[k - begin] = PetscExpComplex(PETSC_i * 3 * CAMGRandom(k, 6));
    PetscCall(VecRestoreArray(r, &a));
    PetscCall(VecCopy(r, l));
    PetscCall(VecConjugate(l));
    PetscCall(MatDiagonalScale(*A, l, r));
    PetscCall(VecDestroy(&l));
    PetscCall(VecDestroy(&r));
    PetscCall(MatCreateVecs(*A, &l, NULL));
    PetscCall(MatGetDiagonal(*A, l));
    PetscCall(VecRealPart(l));
    PetscCall(MatDiagonalSet(*A, l, INSERT_VALUES));
    PetscCall(VecDestroy(&l));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

/* Errors against the product of moduli of entries and numbers, which are at most 1 */
static PetscErrorCode Product(const char what[], Mat A, PetscBool offered)
{
  LitheMatGetSingleFn  *get;
  LitheMatMultSingleFn *multiply;
  PetscBool             better;
  PetscReal             error, norm;
  PetscScalar          *a;
  PetscInt              n;
  Vec                   x, y;
  float                *p, *q;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, LITHE_MAT_SINGLE, &get));
  PetscCheck(get, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A MATVCRS has no %s", LITHE_MAT_SINGLE);
  PetscCall((*get)(A, PETSC_FALSE, &better, &multiply));
  if (WRONG(offered != (PetscBool)(multiply != NULL))) FAIL("%s: a product is %s", what, multiply ? "offered" : "missing");
  if (!multiply) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(Random(x, 8));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(PetscMalloc2(PARTS * n, &p, PARTS * n, &q));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = 0; k < PARTS * n; k++) {
    p[k]                = (float)((PetscReal *)a)[k];
    q[k]                = NAN; /* is overwritten */
    ((PetscReal *)a)[k] = (PetscReal)p[k];
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(MatMult(A, x, y));
  for (int time = 0; time < 2; time++) PetscCall((*multiply)(A, p, q));
  PetscCall(VecGetArray(y, &a));
  for (PetscInt k = 0; k < PARTS * n; k++) ((PetscReal *)a)[k] -= (PetscReal)q[k];
  PetscCall(VecRestoreArray(y, &a));
  PetscCall(VecNorm(y, NORM_INFINITY, &error));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  if (WRONG(!(error <= (PetscReal)3e-7 * norm))) FAIL("%s: error %g of norm %g", what, (double)error, (double)norm);
  PetscCall(PetscFree2(p, q));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProducts(void)
{
  const CAMGKind      kinds[]   = {CAMG_FLUXES, CAMG_JUMPS, CAMG_WELLS, CAMG_ELEMENTS, CAMG_INACTIVE, CAMG_HUBS, CAMG_ELASTIC};
  const MatVCRSLayout layouts[] = {MATVCRS_LAYOUT_AUTO, MATVCRS_LAYOUT_LITERAL, MATVCRS_LAYOUT_L0, MATVCRS_LAYOUT_L1, MATVCRS_LAYOUT_L2, MATVCRS_LAYOUT_L3};
  const MatVCRSLoss   losses[]  = {MATVCRS_LOSS_NONE, MATVCRS_LOSS_SINGLE, MATVCRS_LOSS_LOG, MATVCRS_LOSS_FIXED};
  Mat                 A, B;

  PetscFunctionBeginUser;
  for (size_t kind = 0; kind < PETSC_STATIC_ARRAY_LENGTH(kinds); kind++) {
    PetscCall(Create(kinds[kind], 10, &A));
    for (size_t layout = 0; layout < PETSC_STATIC_ARRAY_LENGTH(layouts); layout++) {
      for (size_t loss = 0; loss < PETSC_STATIC_ARRAY_LENGTH(losses); loss++) {
        const MatVCRSLayout l = layouts[layout];
        char                what[128];

        /* L0 and LITERAL are for whole entries, L2 for fixed point */
        if (loss && (l == MATVCRS_LAYOUT_LITERAL || l == MATVCRS_LAYOUT_L0)) continue;
        if ((l == MATVCRS_LAYOUT_L2) != (losses[loss] == MATVCRS_LOSS_FIXED) && l != MATVCRS_LAYOUT_L3 && l != MATVCRS_LAYOUT_AUTO) continue;
        PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
        PetscCall(MatVCRSSetLayout(B, l));
        PetscCall(MatVCRSSetLoss(B, losses[loss]));
        PetscCall(MatVCRSSetBits(B, 16));
        PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, layout %d, loss %d", CAMGKindNames[kinds[kind]], (int)l, (int)losses[loss]));
        PetscCall(Product(what, B, (PetscBool)(l != MATVCRS_LAYOUT_LITERAL)));
        PetscCall(MatDestroy(&B));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ solves */

typedef struct {
  PetscInt           its;
  PetscReal          residual, norm;
  KSPConvergedReason reason;
  PetscBool          single;
} Result;

/* power: of the right-hand side, whose solution is random but for a constant null vector */
static PetscErrorCode Solve(Mat A, const char type[], const char pctype[], PetscReal power, Result *result)
{
  char        view[64];
  char       *found;
  PetscReal   most, b1;
  KSP         ksp;
  PC          pc;
  Vec         x, b, r;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(Random(x, 8));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecScale(b, power));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-8, 0, 1e30, 2000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetFromOptions(ksp));
  for (int time = 0; time < 2; time++) { /* the second solve uses the copy of the first one */
    PetscCall(VecSet(x, 0));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(KSPGetIterationNumber(ksp, &result->its));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(PetscViewerStringOpen(PETSC_COMM_WORLD, view, sizeof(view), &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscStrstr(view, "single", &found));
  result->single = (PetscBool)(found != NULL);
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_INFINITY, &most));
  if (most > 0) PetscCall(VecScale(r, 1 / most));
  if (most > 0) PetscCall(VecScale(b, 1 / most));
  PetscCall(VecNorm(r, NORM_2, &result->residual));
  PetscCall(VecNorm(b, NORM_2, &b1));
  result->residual /= b1;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char what[], Mat A, const char pctype[], PetscBool single)
{
  Result r, cg;

  PetscFunctionBeginUser;
  PetscCall(Solve(A, KSPCG, pctype, 1, &cg));
  PetscCall(Solve(A, KSPMPCG, pctype, 1, &r));
  PetscCall(PetscInfo(NULL, "%s, %s: %" PetscInt_FMT " iterations, CG %" PetscInt_FMT ", residual %g\n", what, pctype, r.its, cg.its, (double)r.residual));
  if (WRONG(r.reason != cg.reason)) FAIL("%s, %s: %s, CG %s", what, pctype, KSPConvergedReasons[r.reason], KSPConvergedReasons[cg.reason]);
  if (WRONG(!(r.residual <= (PetscReal)1.001e-8))) FAIL("%s, %s: residual %g", what, pctype, (double)r.residual);
  if (WRONG(PetscAbsInt(r.its - cg.its) > PetscMax(1, cg.its / 50)))
    FAIL("%s, %s: %" PetscInt_FMT " iterations, CG %" PetscInt_FMT, what, pctype, r.its, cg.its);
  if (WRONG(r.single != single)) FAIL("%s, %s: vectors are in %s precision", what, pctype, r.single ? "single" : "double");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lossless, lossy and without AIJ arrays; several kinds of Jacobi */
static PetscErrorCode TestSolves(void)
{
  const CAMGKind kinds[] = {CAMG_FLUXES, CAMG_JUMPS, CAMG_UNITS, CAMG_NEUMANN, CAMG_ELASTIC};
  const PetscInt n       = size == 1 ? 12 : 8;

  PetscFunctionBeginUser;
  for (size_t kind = 0; kind < PETSC_STATIC_ARRAY_LENGTH(kinds); kind++) {
    Mat A;

    PetscCall(Create(kinds[kind], n, &A));
    if (device) PetscCall(ToType(&A, MATAIJCUSPARSE));
    if (kinds[kind] == CAMG_FLUXES || kinds[kind] == CAMG_NEUMANN) PetscCall(Compare(CAMGKindNames[kinds[kind]], A, PCNONE, PETSC_TRUE));
    for (int way = 0; way < 3; way++) {
      Mat B;

      PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
      if (device) PetscCall(MatSetVecType(B, VECCUDA));
      if (kinds[kind] == CAMG_NEUMANN) {
        MatNullSpace space;

        PetscCall(MatGetNullSpace(A, &space));
        PetscCall(MatSetNullSpace(B, space));
      }
      if (way == 1) PetscCall(MatVCRSDropAIJ(B));
      if (way == 2) {
        PetscCall(MatVCRSSetLoss(B, MATVCRS_LOSS_LOG));
        PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
      }
      PetscCall(Compare(CAMGKindNames[kinds[kind]], B, PCJACOBI, PETSC_TRUE));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Units of the matrix and of right-hand sides */
static PetscErrorCode TestUnits(void)
{
  const PetscReal power[] = {1e-200, 1e200};
  const char     *types[] = {PCNONE, PCJACOBI};
  Result          first, r;

  PetscFunctionBeginUser;
  for (int p = 0; p < 2; p++) {
    for (int t = 0; t < 2; t++) {
      Mat A;

      PetscCall(Create(CAMG_FLUXES, 8, &A));
      PetscCall(ToType(&A, MATVCRS));
      PetscCall(Solve(A, KSPMPCG, types[t], 1, &first));
      PetscCall(Solve(A, KSPMPCG, types[t], power[p], &r));
      if (WRONG(r.reason <= 0 || !r.single || PetscAbsInt(r.its - first.its) > 1 || !(r.residual <= 1.001e-8)))
        FAIL("right-hand side times %g, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT, (double)power[p], types[t], r.its, first.its);
      PetscCall(MatScale(A, power[p]));
      PetscCall(Solve(A, KSPMPCG, types[t], 1 / power[p], &r));
      if (WRONG(r.reason <= 0 || !r.single || PetscAbsInt(r.its - first.its) > 1 || !(r.residual <= 1.001e-8)))
        FAIL("matrix times %g, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT, (double)power[p], types[t], r.its, first.its);
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The copy follows the matrix; what vectors in single precision cannot hold stays in double precision */
static PetscErrorCode TestChanges(void)
{
  PetscReal residual, norm;
  KSP       ksp;
  PC        pc;
  Mat       A;
  Vec       x, b, r;
  Result    own;

  PetscFunctionBeginUser;
  PetscCall(Create(CAMG_JUMPS, 8, &A));
  if (device) PetscCall(ToType(&A, MATAIJCUSPARSE));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(Random(b, 8));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPMPCG));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-8, 0, 1e30, 2000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  for (int time = 0; time < 3; time++) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    if (WRONG(!(residual <= 1.001e-8 * norm))) FAIL("change %d: residual %g", time, (double)(residual / norm));
    PetscCall(MatShift(A, 100));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));

  /* a row by itself, in units of 1e-40 */
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 20, 20, 1, NULL, 0, NULL, &A));
  for (PetscInt k = 0; k < 20; k++) PetscCall(MatSetValue(A, k, k, k == 3 ? 1e-40 : 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Solve(A, KSPMPCG, PCJACOBI, 1, &own));
  if (WRONG(own.reason <= 0 || own.single)) FAIL("units that differ by 1e40: %s, %s", KSPConvergedReasons[own.reason], own.single ? "single" : "double");
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  if (!device) PetscCall(CheckProducts()); /* products of devices are MatMult()'s */
  PetscCall(TestSolves());
  PetscCall(TestUnits());
  PetscCall(TestChanges());
  return TestEnd(device ? 60 : 100, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    requires: !single
    test:
    test:
      suffix: 2
      nsize: 2
    test:
      suffix: cuda
      requires: cuda
      args: -device
    test:
      suffix: cuda_2
      requires: cuda
      nsize: 2
      args: -device

TEST*/
