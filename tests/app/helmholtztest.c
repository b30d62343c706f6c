/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static const char help[] = "Tests what tutorials/helmholtz is made of: -test order|coarsen|multicolor|file\n\n";

#include <tutorials/helmholtz/helmholtzpc.h>
#include <tutorials/helmholtz/problem.h>
#include <petscksp.h>

/* ------------------------------------------------------------ the discretization */

#if PetscDefined(USE_COMPLEX)
/* The field of a point source in a homogeneous medium, exp(-i k r)/(4 pi r), or K_0(i k r)/(2 pi) in two dimensions by the trapezoidal rule */
static PetscScalar Green(PetscInt dim, PetscScalar k, PetscReal r)
{
  const PetscReal step = .01;
  PetscScalar     sum  = .5 * PetscExpScalar(-PETSC_i * k * r);

  if (dim == 3) return PetscExpScalar(-PETSC_i * k * r) / (4. * PETSC_PI * r);
  for (PetscInt j = 1; j < 800; j++) sum += PetscExpScalar(-PETSC_i * k * r * .5 * (PetscExpReal(step * (PetscReal)j) + PetscExpReal(-step * (PetscReal)j)));
  return sum * step / (2. * PETSC_PI);
}

/* Error of the solution between half a wave length and one from the source, relative to what it is there */
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
  PetscCall(HelmholtzCreateMatrix(&problem, 1., 0., NULL, &A));
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
#else
static PetscErrorCode TestOrder(void)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------------------ coarse grids */

/* A matrix of random stencils whose diagonal is larger than the rest of the row together */
static PetscErrorCode CreateRandom(DM da, Mat *A)
{
  PetscInt    at[3];
  PetscRandom random;
  Grid        grid;
  CSR         csr;

  PetscFunctionBegin;
  PetscCall(GridCreate(da, &grid));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, -1., 1.));
  PetscCall(CSRCreate(grid.rows, (PetscInt64)grid.rows * grid.points, &csr));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    PetscScalar stencil[GRID_MAX_POINTS];

    /* the same on any number of processes */
    PetscCall(PetscRandomSetSeed(random, (unsigned long)((at[2] * grid.n[1] + at[1]) * grid.n[0] + at[0])));
    PetscCall(PetscRandomSeed(random));
    PetscCall(PetscRandomGetValues(random, grid.points, stencil));
    stencil[GridCentre(&grid)] += (PetscReal)grid.points;
    CSRAddStencil(&csr, &grid, at, stencil);
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)da), A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(CSRFinish(&csr, grid.rows, *A));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constant coefficients: 2 dim or 3^dim - 1 on the diagonal, -1 elsewhere, also in rows of the boundary */
static PetscErrorCode CreateLaplacian(DM da, PetscBool star, Mat *A)
{
  PetscInt at[3];
  Grid     grid;
  CSR      csr;

  PetscFunctionBegin;
  PetscCall(GridCreate(da, &grid));
  PetscCall(CSRCreate(grid.rows, (PetscInt64)grid.rows * grid.points, &csr));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    PetscScalar stencil[GRID_MAX_POINTS];

    for (PetscInt s = 0; s < grid.points; s++) {
      const PetscInt distance = (s % 3 != 1) + (s / 3 % 3 != 1) + (grid.dim == 3 && s / 9 != 1);

      stencil[s] = distance == 0 ? (star ? 2 * grid.dim : grid.points - 1) : !star || distance == 1 ? -1. : 0.;
    }
    CSRAddStencil(&csr, &grid, at, stencil);
  }
  PetscCall(MatCreate(PetscObjectComm((PetscObject)da), A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(CSRFinish(&csr, grid.rows, *A));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the coefficients are constant, weights are those of linear interpolation: 1/2, 1/4, 1/8 */
static PetscErrorCode CheckWeights(const Grid *grid, Mat P, PetscBool linear)
{
  PetscInt at[3] = {grid->start[0], grid->start[1], grid->start[2]}, begin;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(P, &begin, NULL));
  for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
    const PetscScalar *value;
    PetscScalar        sum = 0.;
    PetscInt           count, expected = 1;
    PetscBool          inside = PETSC_TRUE;

    for (PetscInt d = 0; d < grid->dim; d++) {
      if (at[d] % 2 && at[d] < grid->n[d] - 1) expected *= 2;
      if (at[d] < 2 || at[d] > grid->n[d] - 3) inside = PETSC_FALSE;
    }
    PetscCall(MatGetRow(P, begin + row, &count, NULL, &value));
    for (PetscInt k = 0; k < count; k++) {
      PetscCheck(PetscRealPart(value[k]) >= 0. && PetscImaginaryPart(value[k]) == 0., PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "A weight is not real and positive at point %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT, at[0], at[1], at[2]);
      PetscCheck(!linear || !inside || PetscAbsScalar(value[k] * (PetscReal)expected - 1.) < 10. * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "A weight is %g instead of 1/%" PetscInt_FMT " at point %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT, (double)PetscRealPart(value[k]),
                 expected, at[0], at[1], at[2]);
      sum += value[k];
    }
    PetscCheck(!inside || !linear || count == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " weights instead of %" PetscInt_FMT, count,
               expected);
    PetscCheck(PetscAbsScalar(sum - 1.) < 10. * PETSC_MACHINE_EPSILON, PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The weights of point %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT " do not sum up to 1", at[0], at[1], at[2]);
    PetscCall(MatRestoreRow(P, begin + row, &count, NULL, &value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product is that of PETSc, the weights are what they should be */
static PetscErrorCode CheckCoarsening(DM da, Mat A, PetscBool linear, PetscReal *difference)
{
  PetscReal norm;
  Grid      grid;
  DM        coarse;
  Mat       P, product, expected;

  PetscFunctionBegin;
  PetscCall(GridCreate(da, &grid));
  PetscCall(GridCreateCoarseDM(&grid, &coarse));
  PetscCall(DeZeeuwCoarsen(A, da, coarse, &P, &product));
  PetscCall(CheckWeights(&grid, P, linear));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &expected));
  PetscCall(MatNorm(expected, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(expected, -1., product, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(expected, NORM_FROBENIUS, difference));
  *difference /= norm;
  PetscCall(MatDestroy(&expected));
  PetscCall(MatDestroy(&product));
  PetscCall(MatDestroy(&P));
  PetscCall(DMDestroy(&coarse));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGrid(const PetscInt n[3], DMDAStencilType type, DM *da)
{
  PetscFunctionBegin;
  if (n[2] == 1)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, type, n[0], n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, type, n[0], n[1], n[2], PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt sizes[][3] = {{17, 17, 1}, {16, 13, 1}, {9, 8, 1}, {9, 9, 9}, {8, 7, 10}};

static PetscErrorCode TestCoarsen(void)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    for (int kind = 0; kind < 3; kind++) {
      PetscReal difference;
      DM        da;
      Mat       A;

      PetscCall(CreateGrid(sizes[k], kind == 2 ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX, &da));
      if (kind == 0) {
        PetscCall(CreateRandom(da, &A));
      } else {
        DM box; /* star: as the matrix of a DMDA with a star */

        PetscCall(CreateGrid(sizes[k], DMDA_STENCIL_BOX, &box));
        PetscCall(CreateLaplacian(box, (PetscBool)(kind == 2), &A));
        PetscCall(DMDestroy(&box));
      }
      PetscCall(CheckCoarsening(da, A, (PetscBool)(kind > 0), &difference));
      PetscCheck(difference < 100. * PETSC_MACHINE_EPSILON, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "The Galerkin product of grid %d, matrix %d, differs by %g from that of PETSc", (int)k, kind, (double)difference);
      PetscCall(MatDestroy(&A));
      PetscCall(DMDestroy(&da));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ relaxation by colours */

/* Point by point, in the order of the colours */
static PetscErrorCode Relax(const Grid *grid, Mat A, PetscReal omega, PetscInt sweeps, Vec b, Vec x)
{
  const PetscScalar *right;
  PetscScalar       *value;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(VecGetArray(x, &value));
  for (PetscInt sweep = 0; sweep < sweeps; sweep++) {
    for (PetscInt color = 0; color < grid->corners; color++) {
      PetscInt at[3] = {0, 0, 0};

      for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
        const PetscInt    *column;
        const PetscScalar *entry;
        PetscScalar        residual, diagonal = 0.;
        PetscInt           count;

        if ((at[0] & 1) + 2 * (at[1] & 1) + 4 * (at[2] & 1) != color) continue;
        residual = right[row];
        PetscCall(MatGetRow(A, row, &count, &column, &entry));
        for (PetscInt k = 0; k < count; k++) {
          residual -= entry[k] * value[column[k]];
          if (column[k] == row) diagonal = entry[k];
        }
        PetscCall(MatRestoreRow(A, row, &count, &column, &entry));
        value[row] += omega * residual / diagonal;
      }
    }
  }
  PetscCall(VecRestoreArray(x, &value));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With one process the same as point by point; with more the same as with one, by what it prints */
static PetscErrorCode TestMulticolor(void)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    PetscReal                   norm, difference;
    Grid                        grid;
    DM                          da;
    Mat                         A;
    Vec                         b, natural, x, expected;
    PC                          pc;
    PetscInt                    begin, end, its;
    PCRichardsonConvergedReason reason;

    PetscCall(CreateGrid(sizes[k], DMDA_STENCIL_BOX, &da));
    PetscCall(CreateRandom(da, &A));
    PetscCall(DMCreateGlobalVector(da, &b));
    PetscCall(VecDuplicate(b, &x));
    PetscCall(DMDACreateNaturalVector(da, &natural));
    PetscCall(VecGetOwnershipRange(natural, &begin, &end));
    for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(natural, i, PetscSinReal((PetscReal)i), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(natural));
    PetscCall(VecAssemblyEnd(natural));
    PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, b));
    PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, b));

    PetscCall(PetscOptionsSetValue(NULL, "-pc_multicolor_omega", "1.1"));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCMULTICOLOR));
    PetscCall(PCSetDM(pc, da));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x));
    PetscCall(PCApplyRichardson(pc, b, x, NULL, 0., 0., 0., 2, PETSC_FALSE, &its, &reason));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d: %.10f\n", (int)k, (double)norm));
    if (size == 1) {
      PetscCall(VecDuplicate(b, &expected));
      PetscCall(GridCreate(da, &grid));
      PetscCall(Relax(&grid, A, 1.1, 3, b, expected));
      PetscCall(GridDestroy(&grid));
      PetscCall(VecAXPY(expected, -1., x));
      PetscCall(VecNorm(expected, NORM_2, &difference));
      PetscCheck(difference < 100. * PETSC_MACHINE_EPSILON * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
                 "Relaxation by colours differs by %g from that point by point on grid %d", (double)(difference / norm), (int)k);
      PetscCall(VecDestroy(&expected));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(VecDestroy(&natural));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ velocities of a file */

/* What is linear in a file is the same on a grid of another spacing */
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
  const char *const tests[]                = {"order", "coarsen", "multicolor", "file"};
  PetscErrorCode (*const function[])(void) = {TestOrder, TestCoarsen, TestMulticolor, TestFile};
  PetscInt test                            = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(HelmholtzRegisterPCs());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Test", NULL);
  PetscCall(PetscOptionsEList("-test", "Which one", NULL, tests, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(tests), tests[0], &test, NULL));
  PetscOptionsEnd();
  PetscCall((*function[test])());
  PetscCall(PetscFinalize());
  return 0;
}
