/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Sets up, uses and views an object of a class: -class NAME. The options have the prefix a_. For tests/app/options.tap.\n\n";

#include <lithe.h>
#include <petscdmda.h>

/* A Laplacian of a DMDA, with 2 dim + 1 points, or with all neighbours */
static PetscErrorCode Laplacian(PetscInt dim, PetscBool all, DM *da, Mat *A)
{
  const PetscInt       n = dim == 2 ? 40 : 12;
  DMDALocalInfo        info;
  DMDAStencilType      stencil = all ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  MatStencil           row, column[27];
  PetscScalar          value[27];
  const DMBoundaryType none = DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  if (dim == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, none, none, stencil, n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  else PetscCall(DMDACreate3d(PETSC_COMM_WORLD, none, none, none, stencil, n, n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(DMDAGetLocalInfo(*da, &info));
  PetscCall(PetscMemzero(&row, sizeof(row)));
  for (row.k = info.zs; row.k < info.zs + info.zm; row.k++) {
    for (row.j = info.ys; row.j < info.ys + info.ym; row.j++) {
      for (row.i = info.xs; row.i < info.xs + info.xm; row.i++) {
        PetscInt neighbours = all ? (dim == 2 ? 8 : 26) : 2 * dim, k = 0;

        for (int z = dim == 3 ? -1 : 0; z <= (dim == 3 ? 1 : 0); z++) {
          for (int y = -1; y <= 1; y++) {
            for (int x = -1; x <= 1; x++) {
              const MatStencil c = {.i = row.i + x, .j = row.j + y, .k = row.k + z};

              if (!all && PetscAbsInt(x) + PetscAbsInt(y) + PetscAbsInt(z) > 1) continue;
              if (c.i < 0 || c.j < 0 || c.k < 0 || c.i >= info.mx || c.j >= info.my || c.k >= info.mz) continue;
              column[k]  = c;
              value[k++] = x || y || z ? -1 : (PetscReal)neighbours;
            }
          }
        }
        PetscCall(MatSetValuesStencil(*A, 1, &row, k, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products in both directions, and a view */
static PetscErrorCode UseMat(Mat A, PetscBool transpose)
{
  Vec x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int k = 0; k < 3; k++) PetscCall(MatMult(A, x, y));
  if (transpose) PetscCall(MatMultTranspose(A, y, x));
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UseKSP(DM da, Mat A, KSPType type, PCType pctype)
{
  KSP ksp;
  PC  pc;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "a_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  if (da) PetscCall(PCSetDM(pc, da));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The type comes from the options, as in most programs. An object prints its options for -help once, from the first
   MatSetFromOptions() */
static PetscErrorCode TestMat(MatType type)
{
  const PetscInt n = 40;
  PetscInt       start, end;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetOptionsPrefix(A, "a_"));
  PetscCall(PetscOptionsSetValue(NULL, "-a_mat_type", type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt i = row % n, j = row / n, column[5] = {row, i > 0 ? row - 1 : -1, i < n - 1 ? row + 1 : -1, j > 0 ? row - n : -1, j < n - 1 ? row + n : -1};
    const PetscScalar value[5] = {4, -1, -1, -1, -1};

    PetscCall(MatSetValues(A, 1, &row, 5, column, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(UseMat(A, PETSC_TRUE));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPSAT(DM *da, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 65, 65, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMDASetUniformCoordinates(*da, -1, 1, -1, 1, 0, 0));
  PetscCall(MatCreateSBPSAT(*da, A));
  PetscCall(MatSetOptionsPrefix(*A, "a_"));
  PetscCall(MatSetFromOptions(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSBPSAT(void)
{
  DM  da;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(SBPSAT(&da, &A));
  PetscCall(UseMat(A, PETSC_FALSE));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSBPMG(void)
{
  DM  da;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(SBPSAT(&da, &A));
  PetscCall(UseKSP(NULL, A, KSPCG, PCSBPMG));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBorn(void)
{
  const PetscInt  steps = 60;
  const PetscReal h[2] = {1, 1}, source[2] = {20, 12}, receivers[4] = {16, 12, 27, 12};
  PetscReal       wavelet[60], t;
  DM              da;
  Mat             J;
  Vec             v, d;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 41, 36, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &v));
  PetscCall(VecSet(v, 1));
  for (PetscInt k = 0; k < steps; k++) {
    t          = PetscSqr(PETSC_PI * ((PetscReal)k - 30) / 24);
    wavelet[k] = (1 - 2 * t) * PetscExpReal(-t);
  }
  PetscCall(MatCreateBorn(da, &J));
  PetscCall(MatSetOptionsPrefix(J, "a_"));
  PetscCall(MatBornSetSpacing(J, h));
  PetscCall(MatBornSetSponge(J, 8, PETSC_DETERMINE));
  PetscCall(MatBornSetVelocity(J, v));
  PetscCall(MatBornSetTime(J, (PetscReal)0.5, steps, 2));
  PetscCall(MatBornSetWavelet(J, steps, wavelet));
  PetscCall(MatBornAddShot(J, source, 2, receivers));
  PetscCall(MatSetFromOptions(J));
  PetscCall(MatCreateVecs(J, NULL, &d));
  PetscCall(MatBornModel(J, d));
  PetscCall(UseMat(J, PETSC_TRUE));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKSP(PetscInt dim, PetscBool all, KSPType type, PCType pctype)
{
  DM  da;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(Laplacian(dim, all, &da, &A));
  PetscCall(UseKSP(da, A, type, pctype));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A queue for 20 customers */
static PetscErrorCode TestUniformization(void)
{
  const PetscInt n = 20;
  PetscInt       start, end;
  Mat            Q;
  Vec            p;
  TS             ts;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n + 1, n + 1, 3, NULL, 2, NULL, &Q));
  PetscCall(MatCreateVecs(Q, NULL, &p));
  PetscCall(MatGetOwnershipRange(Q, &start, &end));
  for (PetscInt j = start; j < end; j++) {
    if (j > 0) PetscCall(MatSetValue(Q, j, j - 1, 1, INSERT_VALUES));
    if (j < n) PetscCall(MatSetValue(Q, j, j + 1, 2, INSERT_VALUES));
    PetscCall(MatSetValue(Q, j, j, (j < n ? -1 : 0) - (j > 0 ? 2 : 0), INSERT_VALUES));
    PetscCall(VecSetValue(p, j, j == 0 ? 1 : 0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(Q, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Q, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(p));
  PetscCall(VecAssemblyEnd(p));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetOptionsPrefix(ts, "a_"));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, Q, Q, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetMaxTime(ts, 5));
  PetscCall(TSUniformizationSetEpsilon(ts, PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-3 : (PetscReal)1e-6));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, p));
  PetscCall(TSView(ts, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&p));
  PetscCall(MatDestroy(&Q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const names[] = {"vcrs", "hybmgpu", "sbpsat", "born", "pcvcrs", "sbpmg", "gridmg", "zeeuw", "cbgmres", "camg", "uniformization"};
  PetscInt          which   = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-class", names, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(names), &which, NULL));
  switch (which) {
  case 0:
    PetscCall(TestMat(MATVCRS));
    break;
  case 1:
    PetscCall(TestMat(MATHYBMGPU));
    break;
  case 2:
    PetscCall(TestSBPSAT());
    break;
  case 3:
    PetscCall(TestBorn());
    break;
  case 4:
    PetscCall(TestKSP(2, PETSC_FALSE, KSPCG, PCVCRS));
    break;
  case 5:
    PetscCall(TestSBPMG());
    break;
  case 6:
    PetscCall(TestKSP(3, PETSC_FALSE, KSPCG, PCGRIDMG));
    break;
  case 7:
    PetscCall(TestKSP(3, PETSC_TRUE, KSPCG, PCGRIDMG));
    break;
  case 8:
    PetscCall(TestKSP(2, PETSC_FALSE, KSPCBGMRES, PCJACOBI));
    break;
  case 9:
    PetscCall(TestKSP(3, PETSC_TRUE, KSPCG, PCCAMG));
    break;
  default:
    PetscCall(TestUniformization());
    break;
  }
  PetscCall(PetscFinalize());
  return 0;
}
