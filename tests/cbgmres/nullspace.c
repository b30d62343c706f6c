/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBFGMRES for preconditioned vectors with a large common part, in or near a null space of the operator.\n\n";

/*
   A Laplacian with Neumann boundaries: alone, with a small shift, or two Laplacians side by side. The preconditioner is
   an approximate inverse which adds large multiples of the constants. KSPFGMRES needs a few iterations. KSPCBFGMRES
   must need about the same number in every storage, whether the null space is declared or not. The solution must be
   right.
*/

#include <tests/cbgmres/ksptest.h>

#define SIDE 12

typedef enum {
  DECLARED,
  UNDECLARED,
  SHIFTED,
  TWO
} Kind;
static const char *const kinds[] = {"declared", "undeclared", "shifted", "two fields"};

typedef struct {
  KSP       inner;
  PetscReal large;
  PetscInt  fields;
  Vec       ones[2], weight;
} Context;

/* Unknown of a field at a point */
static PetscErrorCode CreateLaplacian(PetscInt fields, PetscReal shift, Mat *A)
{
  const PetscInt n = SIDE * SIDE * fields;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 5, NULL, 5, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt    point = row / fields, ij[2] = {point % SIDE, point / SIDE}, step[2] = {fields, SIDE * fields};
    PetscScalar       diagonal = shift;
    const PetscScalar minus    = -1.0;

    for (PetscInt d = 0; d < 2; d++) {
      for (PetscInt s = -1; s <= 1; s += 2) {
        const PetscInt column = row + s * step[d];

        if (ij[d] + s < 0 || ij[d] + s >= SIDE) continue;
        PetscCall(MatSetValues(*A, 1, &row, 1, &column, &minus, INSERT_VALUES));
        diagonal += 1.0;
      }
    }
    PetscCall(MatSetValues(*A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a nonsingular Laplacian, and adds large multiples of the constants, which depend on x */
static PetscErrorCode Apply(PC pc, Vec x, Vec y)
{
  Context    *ctx;
  PetscScalar part;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &ctx));
  PetscCall(KSPSolve(ctx->inner, x, y));
  PetscCall(VecDot(x, ctx->weight, &part));
  for (PetscInt f = 0; f < ctx->fields; f++) PetscCall(VecAXPY(y, ctx->large * (1.0 + 0.3 * (PetscReal)f + part), ctx->ones[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateContext(Context *ctx, PetscInt fields, PetscReal large, Vec b)
{
  PetscInt start, end;
  Mat      B;

  PetscFunctionBeginUser;
  ctx->fields = fields;
  ctx->large  = large;
  PetscCall(CreateLaplacian(fields, 0.02, &B));
  PetscCall(TestConvertOperator(&B));
  PetscCall(TestCreateKSP(B, "-ksp_type preonly -pc_type redundant", &ctx->inner));
  PetscCall(MatDestroy(&B));
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  PetscCall(VecDuplicate(b, &ctx->weight));
  for (PetscInt row = start; row < end; row++) PetscCall(VecSetValue(ctx->weight, row, PetscSinReal((PetscReal)(3 * row + 1)) / SIDE, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(ctx->weight));
  PetscCall(VecAssemblyEnd(ctx->weight));
  for (PetscInt f = 0; f < fields; f++) {
    PetscCall(VecDuplicate(b, &ctx->ones[f]));
    for (PetscInt row = start; row < end; row++) PetscCall(VecSetValue(ctx->ones[f], row, row % fields == f ? 1.0 : 0.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(ctx->ones[f]));
    PetscCall(VecAssemblyEnd(ctx->ones[f]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyContext(Context *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&ctx->inner));
  PetscCall(VecDestroy(&ctx->weight));
  for (PetscInt f = 0; f < ctx->fields; f++) PetscCall(VecDestroy(&ctx->ones[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve: iterations, reason and residual */
static PetscErrorCode Solve(Mat A, Context *ctx, const char options[], Vec b, PetscInt *its, KSPConvergedReason *reason, PetscReal *residual)
{
  KSP ksp;
  PC  pc;
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, ctx));
  PetscCall(PCShellSetApply(pc, Apply));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(TestResidual(A, x, b, residual));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A right-hand side with a solution */
static PetscErrorCode CreateRightSide(Mat A, Vec *b)
{
  PetscInt start, end;
  Vec      x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, b));
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  for (PetscInt row = start; row < end; row++) PetscCall(VecSetValue(x, row, PetscSinReal((PetscReal)(row * row)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatMult(A, x, *b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Try(Kind kind, PetscReal large, const char more[], PetscInt *compared)
{
  const PetscInt     fields = kind == TWO ? 2 : 1;
  const PetscReal    rtol   = PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-6;
  MatNullSpace       nullspace;
  Mat                A;
  Vec                b;
  Context            ctx;
  PetscInt           theirs, ours;
  KSPConvergedReason reason;
  PetscReal          residual;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(CreateLaplacian(fields, kind == SHIFTED ? 1e-7 : 0.0, &A));
  PetscCall(TestConvertOperator(&A));
  if (kind == DECLARED) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &nullspace));
    PetscCall(MatSetNullSpace(A, nullspace));
    PetscCall(MatNullSpaceDestroy(&nullspace));
  }
  PetscCall(CreateRightSide(A, &b));
  PetscCall(CreateContext(&ctx, fields, large, b));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type fgmres -ksp_rtol %g -ksp_max_it 60 %s", (double)rtol, more));
  PetscCall(Solve(A, &ctx, options, b, &theirs, &reason, &residual));
  if (WRONG(reason <= 0 || theirs > 30)) FAIL("%s, %g: fgmres needs %" PetscInt_FMT " iterations, reason %d", kinds[kind], (double)large, theirs, (int)reason);
  for (int s = 0; s < NSTORAGES; s++) {
    /* with few bits in the first basis, a cycle gains at most two digits, whatever the second basis */
    const PetscInt most = storages[s].unit > 1e-3 ? 2 * theirs + 10 : theirs + theirs / 4 + 3;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cbfgmres -ksp_rtol %g -ksp_max_it 60 -ksp_cbgmres_storage %s %s", (double)rtol,
                            storages[s].name, more));
    PetscCall(Solve(A, &ctx, options, b, &ours, &reason, &residual));
    (*compared)++;
    if (WRONG(reason <= 0 || ours > most || residual > 1.01 * rtol)) {
      FAIL("%s, %g, %s %s: %" PetscInt_FMT " iterations, fgmres %" PetscInt_FMT ", reason %d, residual %g", kinds[kind], (double)large, storages[s].name, more,
           ours, theirs, (int)reason, (double)residual);
    }
  }
  PetscCall(DestroyContext(&ctx));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscReal   large[]  = {1e3, PETSC_SQRT_MACHINE_EPSILON > 1e-6 ? 1e3 : 1e5, PETSC_SQRT_MACHINE_EPSILON > 1e-6 ? 1e3 : 1e8};
  static const char *const more[]   = {"", "-ksp_cbgmres_adaptive", "-ksp_gmres_restart 10", "-ksp_cbgmres_check_every 5"};
  PetscInt                 compared = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int kind = DECLARED; kind <= TWO; kind++) {
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(large); l++)
      PetscCall(Try((Kind)kind, kind == SHIFTED ? PetscMin(large[l], 1e5) : large[l], more[(l + (size_t)kind) % PETSC_STATIC_ARRAY_LENGTH(more)], &compared));
  }
  if (WRONG(compared != 12 * NSTORAGES)) FAIL("%" PetscInt_FMT " solves were compared", compared);
  return TestEnd(12 * NSTORAGES, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out

    test:
      nsize: {{1 2}}

    test:
      suffix: cuda
      requires: cuda
      args: -operator_types aijcusparse

TEST*/
