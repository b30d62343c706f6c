/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBGMRES for neighbouring equations of unlike units: the iterations of the storage double.\n\n";

/*
   Six coupled unknowns at each point of a grid. Equations and unknowns have units over many decades, as pressures,
   energies and saturations of a reservoir have. In FRSZ2, 32 numbers share an exponent. Residuals in small units would
   be lost next to residuals in large units.
*/

#include <tests/cbgmres/ksptest.h>

#define SIDE   10
#define FIELDS 6

/* Decades of the units of equations and of unknowns, distributed over the fields in different orders */
static PetscErrorCode CreateUnits(PetscReal rows, PetscReal columns, Mat *A)
{
  static const PetscInt rank[2][FIELDS] = {{3, 0, 5, 1, 4, 2}, {1, 4, 0, 2, 5, 3}};
  const PetscInt        n               = SIDE * SIDE * FIELDS;
  PetscInt              start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 5 * FIELDS, NULL, 5 * FIELDS, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt  point = row / FIELDS, f = row % FIELDS, ij[2] = {point % SIDE, point / SIDE}, step[2] = {1, SIDE};
    const PetscReal unit = PetscPowReal(10.0, rows * (PetscReal)rank[0][f] / (FIELDS - 1));
    PetscReal       sum  = 1.0;

    for (PetscInt d = 0; d < 2; d++) {
      for (PetscInt s = -1; s <= 1; s += 2) {
        const PetscReal strength = 1.0 + 0.4 * (PetscReal)s + 0.3 * PetscSinReal((PetscReal)(7 * point + 3 * f + d));

        if (ij[d] + s < 0 || ij[d] + s >= SIDE) continue;
        for (PetscInt g = 0; g < FIELDS; g++) {
          const PetscInt  column = (point + s * step[d]) * FIELDS + g;
          const PetscReal v      = g == f ? -strength : 0.05 * PetscSinReal((PetscReal)(5 * row + column));

          PetscCall(MatSetValue(*A, row, column, unit * PetscPowReal(10.0, columns * (PetscReal)rank[1][g] / (FIELDS - 1)) * v, INSERT_VALUES));
        }
        sum += strength;
      }
    }
    for (PetscInt g = 0; g < FIELDS; g++) {
      const PetscReal v = g == f ? sum : 0.3 * PetscCosReal((PetscReal)(11 * row + g));

      PetscCall(MatSetValue(*A, row, point * FIELDS + g, unit * PetscPowReal(10.0, columns * (PetscReal)rank[1][g] / (FIELDS - 1)) * v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestConvertOperator(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves twice: the second solve uses what the first solve found out about units */
static PetscErrorCode Solve(Mat A, const char options[], Vec b, PetscInt its[2], KSPConvergedReason *reason, PetscReal *residual, char storage[])
{
  KSP            ksp;
  KSPCBGMRESInfo info;
  Vec            x;

  PetscFunctionBeginUser;
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(VecDuplicate(b, &x));
  for (int round = 0; round < 2; round++) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[round]));
  }
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPCBGMRESGetInfo(ksp, &info));
  PetscCall(PetscStrncpy(storage, info.storage, 16));
  PetscCall(TestResidual(A, x, b, residual));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries which are zero in exact arithmetic, by symmetry or inside of a domain, hold rounding errors: few entries or
   most entries */
static PetscErrorCode AddNoise(Vec b, PetscBool most)
{
  PetscReal largest;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_INFINITY, &largest));
  PetscCall(VecGetOwnershipRange(b, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    if ((i % 37 == 5) != most) PetscCall(VecSetValue(b, i, 0.1 * PETSC_MACHINE_EPSILON * largest, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Try(PetscReal rows, PetscReal columns, PetscInt noise, const char more[], PetscInt *compared)
{
  const PetscReal    rtol = PetscDefined(USE_REAL_SINGLE) ? 1e-4 : 1e-10;
  Mat                A;
  Vec                b, x;
  PetscInt           theirs = 0, its[2];
  KSPConvergedReason reason;
  PetscReal          residual;
  char               options[256], storage[16];

  PetscFunctionBeginUser;
  PetscCall(CreateUnits(rows, columns, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, b));
  if (noise) PetscCall(AddNoise(b, (PetscBool)(noise == 2)));
  for (int s = 0; s < NSTORAGES; s++) {
    PetscBool same;

    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-ksp_type cbgmres -ksp_pc_side right -ksp_rtol %g -ksp_max_it 200 -ksp_gmres_restart 100 -ksp_cbgmres_storage %s %s", (double)rtol,
                            storages[s].name, more));
    PetscCall(Solve(A, options, b, its, &reason, &residual, storage));
    PetscCall(PetscStrcmp(storage, storages[s].name, &same));
    if (s == 0) theirs = its[0];
    (*compared)++;
    if (WRONG(reason <= 0 || residual > 1.01 * rtol || (rows > 0.0 && PetscMax(its[0], its[1]) > theirs + theirs / 10 + 3))) {
      FAIL("%g and %g decades, %s: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, double %" PetscInt_FMT ", reason %d, residual %g", (double)rows,
           (double)columns, options, its[0], its[1], theirs, (int)reason, (double)residual);
    }
    if (WRONG(rows == 0.0 && !same)) FAIL("%s: no units, and the storage has become %s", options, storage);
  }
  if (WRONG(theirs < 5)) FAIL("double needs %" PetscInt_FMT " iterations only", theirs);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscReal   decades[][2] = {{0, 0}, {8, 7}, {15, 0}, {0, 15}, {5, 5}};
  static const char *const more[]       = {"", "-ksp_cbgmres_adaptive", "-ksp_cbgmres_exponent_bits 16"};
  PetscInt                 compared     = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t d = 0; d < PETSC_STATIC_ARRAY_LENGTH(decades); d++)
    PetscCall(Try(decades[d][0], decades[d][1], 0, more[d % PETSC_STATIC_ARRAY_LENGTH(more)], &compared));
  for (PetscInt noise = 1; noise <= 2; noise++) PetscCall(Try(0.0, 0.0, noise, "", &compared));
  if (WRONG(compared != 7 * NSTORAGES)) FAIL("%" PetscInt_FMT " solves were compared", compared);
  return TestEnd(7 * NSTORAGES, "all is right\n");
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
