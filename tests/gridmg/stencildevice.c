/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG, zeeuw, set up in the matrix's memory: the host's levels to the last bit, applications up to rounding; several columns\n\
at once equal each column alone.\n\n";

#include "gridmgstencils.h"
#include <lithe/private/gridmg/levels.h>

#define ZEEUW "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 10 "

static const struct {
  const char *name, *options;
  PetscReal   tolerance; /* of an application */
} variants[] = {{"as by default", "", (PetscReal)2e-5},
                {"V, jacobi", "-@pc_gridmg_cycle v -@pc_gridmg_smoother jacobi", (PetscReal)2e-5},
                {"damped", "-@pc_gridmg_cycle v -@pc_gridmg_smoother damped", (PetscReal)2e-5},
                {"damped, two steps", "-@pc_gridmg_smoother damped -@pc_gridmg_smooths 2", (PetscReal)2e-5},
                {"damped, one step after", "-@pc_gridmg_smoother damped -@pc_gridmg_smooths 0,1", (PetscReal)2e-5},
                {"redblack, one step before", "-@pc_gridmg_smoother redblack -@pc_gridmg_smooths 1,0", (PetscReal)2e-5},
                {"16 bits", "-@pc_gridmg_bits 16 -@pc_gridmg_overcorrection 1.25", (PetscReal)2e-5},
                {"8 bits everywhere", "-@pc_gridmg_coarse_bits 8 -@pc_gridmg_smoother damped", (PetscReal)2e-5},
                {"double", "-@pc_gridmg_precision double -@pc_gridmg_bits 32", (PetscReal)1e-11},
                {"double, damped, 8 bits", "-@pc_gridmg_cycle v -@pc_gridmg_precision double -@pc_gridmg_smoother damped", (PetscReal)1e-11}};

/* Compares n columns at once with each column alone. The second column is zero, an entry of the third column is NaN,
   and columns have gaps between them */
static PetscErrorCode CompareColumns(const StencilProblem *p, const char name[], PC pc, PetscInt n, PetscReal tolerance)
{
  VecType  type;
  PetscInt m;
  Mat      A, X, Y;
  Vec      x, y, z;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatCreateVecs(A, &z, NULL));
  PetscCall(MatCreateDenseFromVecType(PETSC_COMM_SELF, type, m, PETSC_DECIDE, m, n, m + 3, NULL, &X));
  PetscCall(MatCreateDenseFromVecType(PETSC_COMM_SELF, type, m, PETSC_DECIDE, m, n, m + 1, NULL, &Y));
  for (PetscInt j = 0; j < n; j++) {
    PetscReal norm;

    PetscCall(TestFillVec(z, 7 + (int)j));
    if (j == 2) {
      PetscCall(VecSetValue(z, m / 2, NAN, INSERT_VALUES));
      PetscCall(VecAssemblyBegin(z));
      PetscCall(VecAssemblyEnd(z));
    }
    PetscCall(VecScale(z, j == 1 ? 0 : PetscPowReal(10, (PetscReal)(5 * (j % 5) - 9))));
    PetscCall(MatDenseGetColumnVecWrite(X, j, &x));
    PetscCall(VecCopy(z, x));
    PetscCall(VecNorm(x, NORM_2, &norm)); /* waits: a device copies from the array of z */
    PetscCall(MatDenseRestoreColumnVecWrite(X, j, &x));
  }
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(Y, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Y, MAT_FINAL_ASSEMBLY));
  for (int round = 0; round < 2; round++) PetscCall(PCMatApply(pc, X, Y));
  for (PetscInt j = 0; j < n; j++) {
    PetscReal norm, difference;

    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(PCApply(pc, x, z));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    if (WRONG(PetscIsInfOrNanReal(norm) != (j == 2))) FAIL("%s, %s: right-hand side %d of %d is not what it should be", p->name, name, (int)j, (int)n);
    PetscCall(VecNorm(z, NORM_2, &norm));
    PetscCall(MatDenseGetColumnVecRead(Y, j, &y));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_2, &difference));
    PetscCall(MatDenseRestoreColumnVecRead(Y, j, &y));
    if (j == 2) {
      if (WRONG(!PetscIsInfOrNanReal(norm) || !PetscIsInfOrNanReal(difference))) FAIL("%s, %s: an entry that is no number has gone", p->name, name);
    } else if (WRONG(!(difference <= tolerance * norm)))
      FAIL("%s, %s: column %d of %d differs by %g of %g", p->name, name, (int)j, (int)n, (double)difference, (double)norm);
  }
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const StencilProblem *p, const char name[], PC host, PC device, PetscReal tolerance)
{
  PetscInt  levels, other;
  PetscReal difference, norm;
  PetscBool same;
  Mat       A, B, *P, *Q;
  Vec       x, y[3];

  PetscFunctionBeginUser;
  PetscCall(PCGetInterpolations(host, &levels, &P));
  PetscCall(PCGetInterpolations(device, &other, &Q));
  if (WRONG(levels != other)) FAIL("%s, %s: %d levels on the host, %d on the device", p->name, name, (int)levels, (int)other);
  for (PetscInt k = 0; k < levels - 1; k++) {
    PetscCall(MatEqual(P[k], Q[k], &same));
    if (WRONG(!same)) FAIL("%s, %s: interpolation %d of %d differs", p->name, name, (int)k, (int)levels);
    PetscCall(MatDestroy(&P[k]));
    PetscCall(MatDestroy(&Q[k]));
  }
  PetscCall(PetscFree(P));
  PetscCall(PetscFree(Q));
  for (PetscInt k = 0; k < levels; k++) {
    PetscCall(PCGridMGGetOperator_Private(host, k, &A));
    PetscCall(PCGridMGGetOperator_Private(device, k, &B));
    PetscCall(MatEqual(A, B, &same));
    if (!same) {
      PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
      PetscCall(MatAXPY(B, -1.0, A, DIFFERENT_NONZERO_PATTERN));
      PetscCall(MatNorm(B, NORM_FROBENIUS, &difference));
    }
    if (WRONG(!same)) FAIL("%s, %s: the operator of level %d of %d differs by %g", p->name, name, (int)k, (int)levels, (double)(difference / norm));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PCGetOperators(device, NULL, &B));
  PetscCall(MatCreateVecs(B, &x, &y[0]));
  PetscCall(VecDuplicate(x, &y[1]));
  PetscCall(VecDuplicate(x, &y[2]));
  PetscCall(TestFillVec(x, 5));
  PetscCall(PCApply(host, x, y[0]));
  PetscCall(PCApply(device, x, y[1]));
  PetscCall(PCApply(device, x, y[2]));
  PetscCall(VecEqual(y[1], y[2], &same));
  if (WRONG(!same)) FAIL("%s, %s: two applications differ", p->name, name);
  PetscCall(VecNorm(y[0], NORM_2, &norm));
  PetscCall(VecAXPY(y[1], -1.0, y[0]));
  PetscCall(VecNorm(y[1], NORM_2, &difference));
  if (WRONG(!(difference <= tolerance * norm))) FAIL("%s, %s: an application differs by %g", p->name, name, (double)(difference / norm));
  PetscCall(VecDestroy(&x));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&y[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same entries on the device, if the harness has a device */
static PetscErrorCode CreateOther(Mat A, const char type[], Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProblem(const StencilProblem *p, const char type[])
{
  const PetscInt columns[] = {3, 17, 8, 1, 5};
  char           options[512];
  Mat            A, B;
  PC             host, device;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(p, 0, &A));
  PetscCall(CreateOther(A, type, &B));
  for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), ZEEUW "%s", variants[v].options));
    PetscCall(CreateStencilPC(p, A, options, &host));
    PetscCall(CreateStencilPC(p, B, options, &device));
    PetscCall(Compare(p, variants[v].name, host, device, variants[v].tolerance));
    PetscCall(CompareColumns(p, variants[v].name, device, columns[(v + (size_t)p->n[0]) % PETSC_STATIC_ARRAY_LENGTH(columns)], variants[v].tolerance));
    if (v < 3) {
      /* new values twice, since the second set-up keeps its memory */
      for (PetscInt round = 1; round >= 0; round--) {
        PetscCall(MatZeroEntries(A));
        PetscCall(FillStencils(p, round, A));
        PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
        PetscCall(PCSetUp(host));
        PetscCall(PCSetUp(device));
        PetscCall(Compare(p, round ? "new values" : "the first values again", host, device, variants[v].tolerance));
        PetscCall(CompareColumns(p, "new values", device, columns[v], variants[v].tolerance));
      }
    }
    PetscCall(PCDestroy(&host));
    PetscCall(PCDestroy(&device));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN or Inf entries: the preconditioner fails; entries off the grid: an error with their place */
static PetscErrorCode TestBad(const char type[])
{
  const StencilProblem p = {.name = "bad", .n = {7, 6, 5}, .kind = STENCILS_RANDOM};
  PCFailedReason       reason;
  PetscErrorCode       ierr;
  Mat                  A, B;
  PC                   pc;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(&p, 0, &A));
  PetscCall(MatSetValue(A, 17, 17, (PetscReal)NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CreateOther(A, type, &B));
  PetscCall(CreateStencilPC(&p, B, ZEEUW, &pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  if (WRONG(reason == PC_NOERROR)) FAIL("%s", "a matrix with NaN has a preconditioner");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));

  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 17, 17, 1.0, INSERT_VALUES));
  PetscCall(MatSetValue(A, 3, 200, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CreateOther(A, type, &B));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetType(pc, PCGRIDMG));
  PetscCall(PCGridMGSetGrid(pc, 7, 6, 5));
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_ZEEUW));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  if (WRONG(ierr != PETSC_ERR_SUP)) FAIL("an entry off the grid: error %d", (int)ierr);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscReal      wave       = PetscDefined(USE_COMPLEX) ? (PetscReal)0.5 : (PetscReal)-0.1;
  const StencilProblem problems[] = {{.name = "a line", .n = {60, 1, 1}, .kind = STENCILS_RANDOM},
                                     {.name = "a plane", .n = {13, 20, 1}, .kind = STENCILS_RANDOM},
                                     {.name = "a symmetric plane", .n = {1, 17, 12}, .kind = STENCILS_SYMMETRIC},
                                     {.name = "space", .n = {7, 6, 5}, .kind = STENCILS_RANDOM},
                                     {.name = "symmetric space", .n = {9, 8, 6}, .kind = STENCILS_SYMMETRIC},
                                     {.name = "thin", .n = {2, 3, 30}, .kind = STENCILS_SYMMETRIC},
                                     {.name = "long lines", .n = {140, 2, 2}, .kind = STENCILS_RANDOM},
                                     {.name = "a star", .n = {8, 7, 9}, .kind = STENCILS_STAR},
                                     {.name = "waves", .n = {10, 9, 11}, .kind = STENCILS_ELEMENTS, .wave = wave, .shift = 0.5},
                                     {.name = "jumps", .n = {12, 9, 6}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-1e-3, .jumps = 8},
                                     {.name = "small units", .n = {8, 9, 6}, .kind = STENCILS_ELEMENTS, .wave = wave, .shift = 0.5, .units = (PetscReal)1e-30},
                                     {.name = "rows without sums", .n = {9, 7, 8}, .kind = STENCILS_ELEMENTS}};
  char                 type[64]   = MATSEQAIJ;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof(type), NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) PetscCall(TestProblem(&problems[k], type));
  PetscCall(TestBad(type));
  return TestEnd(1500, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  # -checkfunctionlist 0: as in vcrs/conversions
  test:
    suffix: cuda
    requires: cuda
    args: -checkfunctionlist 0 -mat_type seqaijcusparse
    output_file: output/right.out

TEST*/
