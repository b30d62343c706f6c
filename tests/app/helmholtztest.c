/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static const char help[] = "Tests what tutorials/helmholtz is made of: -test order|file|rows\n\n";

#include <tutorials/helmholtz/problem.h>
#include <lithe.h>
#include <petscksp.h>

/* ------------------------------------------------------------ the discretization */

#if PetscDefined(USE_COMPLEX)
/* The field of a point source in a homogeneous medium: exp(-i k r)/(4 pi r), or K_0(i k r)/(2 pi) in two dimensions by
   the trapezoidal rule */
static PetscScalar Green(PetscInt dim, PetscScalar k, PetscReal r)
{
  const PetscReal step = .01;
  PetscScalar     sum  = .5 * PetscExpScalar(-PETSC_i * k * r);

  if (dim == 3) return PetscExpScalar(-PETSC_i * k * r) / (4. * PETSC_PI * r);
  for (PetscInt j = 1; j < 800; j++) sum += PetscExpScalar(-PETSC_i * k * r * .5 * (PetscExpReal(step * (PetscReal)j) + PetscExpReal(-step * (PetscReal)j)));
  return sum * step / (2. * PETSC_PI);
}

/* The relative error of the solution at distances between half a wavelength and a wavelength from the source */
static PetscErrorCode GreenError(PetscReal *error)
{
  PetscReal          sum[2] = {0., 0.}, all[2];
  PetscScalar        k;
  const PetscScalar *p;
  PetscInt           at[3];
  Helmholtz          problem;
  Grid               grid;
  Mat                A;
  Vec                b, x;
  KSP                ksp;

  PetscFunctionBegin;
  PetscCall(HelmholtzSetFromOptions(PETSC_COMM_WORLD, &problem));
  PetscCall(HelmholtzSetUp(PETSC_COMM_WORLD, &problem));
  PetscCall(HelmholtzCreateMatrix(&problem, 1., 0., NULL, NULL, &A));
  PetscCall(DMCreateGlobalVector(problem.da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(HelmholtzSetSource(&problem, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetDM(ksp, problem.da));
  PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(KSPSetType(ksp, KSPBCGS));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));

  k = 2. * PETSC_PI * problem.frequency / problem.velocity * PetscSqrtScalar(1. - PETSC_i * problem.alpha);
  PetscCall(GridCreate(problem.da, &grid));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  PetscCall(VecGetArrayRead(x, &p));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    PetscReal r = 0.;

    for (PetscInt d = 0; d < problem.dim; d++) r += PetscSqr(HelmholtzCoordinate(&problem, at[d]) - problem.source[d]);
    r = PetscSqrtReal(r);
    if (r < .5 || r > 1.) continue; /* the wave length is 1 m */
    sum[0] += PetscSqr(PetscAbsScalar(p[row] - Green(problem.dim, k, r)));
    sum[1] += PetscSqr(PetscAbsScalar(Green(problem.dim, k, r)));
  }
  PetscCall(VecRestoreArrayRead(x, &p));
  PetscCallMPI(MPIU_Allreduce(sum, all, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *error = PetscSqrtReal(all[0] / all[1]);
  PetscCall(GridDestroy(&grid));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(HelmholtzDestroy(&problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOrder(void)
{
  PetscReal error[2], points = 6., least = 0.;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-coarse", &points, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-least_order", &least, NULL));
  for (int refined = 0; refined < 2; refined++) {
    char value[32];

    PetscCall(PetscSNPrintf(value, sizeof(value), "%g", (double)(points * (refined ? 1.5 : 1.))));
    PetscCall(PetscOptionsSetValue(NULL, "-points_per_wavelength", value));
    PetscCall(GreenError(&error[refined]));
  }
  points = PetscLogReal(error[0] / error[1]) / PetscLogReal(1.5);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "errors %.3e %.3e, order %.2f\n", (double)error[0], (double)error[1], (double)points));
  PetscCheck(points >= least, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The order is less than %g", (double)least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the rows that kernels make */

/* The formulas of the kernels on the host: all rows equal those of the matrix, up to the order of sums */
static PetscErrorCode TestRows(void)
{
  const PetscScalar *speed;
  PetscInt           m, nz, *i, *j, wrong = 0;
  PetscReal          norm, difference;
  PetscScalar       *a;
  HelmholtzForm      form;
  GridBox            box;
  Helmholtz          problem;
  Mat                A, B;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(HelmholtzSetFromOptions(PETSC_COMM_WORLD, &problem));
  PetscCall(HelmholtzSetUp(PETSC_COMM_WORLD, &problem));
  PetscCall(HelmholtzCreateMatrix(&problem, 1., .5, MATAIJ, NULL, &A));
  form        = HelmholtzGetForm(&problem);
  form.factor = HelmholtzMake(1., -(.5 + problem.alpha));
  PetscCall(HelmholtzGetBox(&problem, &box, &v));
  m  = (PetscInt)GridBoxPoints(&box);
  nz = (PetscInt)GridBoxRowStart(&box, problem.stencil == HELMHOLTZ_STAR, m);
  PetscCall(PetscMalloc3(m + 1, &i, nz, &j, nz, &a));
  for (PetscInt k = 0; k < nz; k++) j[k] = -1;
  PetscCall(VecGetArrayRead(v, &speed));
  for (PetscInt k = 0; k <= m; k++) {
    i[k] = (PetscInt)GridBoxRowStart(&box, problem.stencil == HELMHOLTZ_STAR, k);
    if (k < m) HelmholtzMakeRow(&form, &box, (const PetscReal *)speed, k, j, (PetscReal *)a);
  }
  PetscCall(VecRestoreArrayRead(v, &speed));
  for (PetscInt k = 0; k < m; k++) {
    for (PetscInt e = i[k]; e < i[k + 1]; e++) wrong += j[e] < 0 || (e > i[k] && j[e] <= j[e - 1]);
  }
  PetscCheck(!wrong && !i[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " columns are missing or not ascending", wrong);
  PetscCall(MatCreateVCRSFromCSR(PETSC_COMM_WORLD, m, m, PETSC_DETERMINE, PETSC_DETERMINE, i, j, a, &B));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
  PetscCall(MatVCRSMaterializeAIJ(B));
  PetscCall(MatAXPY(B, -1., A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &difference));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "norm %g, difference %g\n", (double)norm, (double)difference));
  PetscCheck(norm > 0. && difference <= 100. * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Rows of kernels differ by %g of %g",
             (double)difference, (double)norm);
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(HelmholtzDestroy(&problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode TestOrder(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRows(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------------------ velocities of a file */

/* A linear function in a file must stay the same on a grid of another spacing */
static PetscErrorCode TestFile(void)
{
  const PetscInt     n[3]  = {7, 5, 4};
  PetscReal          worst = 0., all;
  const PetscScalar *speed;
  PetscMPIInt        rank;
  PetscInt           at[3];
  float              value[140];
  Helmholtz          problem;
  Grid               grid;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt p = 0; p < 140; p++) value[p] = (float)(1500 + 8 * (p % n[0]) + 16 * (p / n[0] % n[1]) + 32 * (p / n[0] / n[1]));
  if (!rank) {
    FILE *file = fopen("raw.velocity", "wb");

    PetscCheck(file && fwrite(value, sizeof(value), 1, file) == 1 && fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
               "raw.velocity cannot be written");
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  {
    PetscViewer viewer;
    Vec         vec;
    PetscInt    begin, end;

    PetscCall(VecCreateFromOptions(PETSC_COMM_WORLD, NULL, 1, PETSC_DECIDE, 140, &vec));
    PetscCall(VecGetOwnershipRange(vec, &begin, &end));
    for (PetscInt p = begin; p < end; p++) PetscCall(VecSetValue(vec, p, (PetscReal)value[p], INSERT_VALUES));
    PetscCall(VecAssemblyBegin(vec));
    PetscCall(VecAssemblyEnd(vec));
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "petsc.velocity", FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(vec, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(VecDestroy(&vec));
  }

  PetscCall(HelmholtzSetFromOptions(PETSC_COMM_WORLD, &problem));
  PetscCheck(problem.slowest == 1500., PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The slowest velocity is %g m/s instead of 1500", (double)problem.slowest);
  PetscCall(HelmholtzSetUp(PETSC_COMM_WORLD, &problem));
  PetscCall(GridCreate(problem.da, &grid));
  PetscCall(VecGetArrayRead(problem.speed, &speed));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    PetscReal expected = 1500.;

    for (PetscInt d = 0; d < 3; d++)
      expected += 8. * (PetscReal)(1 << d) * PetscMin(PetscMax(0., HelmholtzCoordinate(&problem, at[d]) / problem.fileh), (PetscReal)(n[d] - 1));
    worst = PetscMax(worst, PetscAbsReal(expected - PetscRealPart(speed[row])));
  }
  PetscCall(VecRestoreArrayRead(problem.speed, &speed));
  PetscCallMPI(MPIU_Allreduce(&worst, &all, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT "\n", problem.n[0], problem.n[1], problem.n[2]));
  PetscCheck(all < 1e4 * 1500. * PETSC_MACHINE_EPSILON, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Velocities of the file differ by %g m/s", (double)all);
  PetscCall(GridDestroy(&grid));
  PetscCall(HelmholtzDestroy(&problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const tests[]                = {"order", "file", "rows"};
  PetscErrorCode (*const function[])(void) = {TestOrder, TestFile, TestRows};
  PetscInt test                            = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Test", NULL);
  PetscCall(PetscOptionsEList("-test", "Which one", NULL, tests, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(tests), tests[0], &test, NULL));
  PetscOptionsEnd();
  PetscCall((*function[test])());
  PetscCall(PetscFinalize());
  return 0;
}
