/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS for unknowns and equations in unlike units: as many iterations as without compression.\n\
  -n <size>          - points along a side of the grid\n\
  -inner <types>     - inner preconditioners, a list\n\
  -decades <numbers> - decades of the units on both sides of 1, a list\n\
  -losses <names>    - losses, a list; -bits <8,16> their bits\n\
  -unit <number>     - a unit for the whole matrix\n\
  -least <number>    - how many solves are to be compared at least\n\
  -table             - print iterations\n\n";

#include <lithe.h>
#include <lithemat.h>
#include <lithepc.h>
#include <petscksp.h>
#include <tests/units.h>

/* Iterations with an inner preconditioner, compressed with a loss or uncompressed; -1: not converged */
static PetscErrorCode Solve(Mat A, UnitsKind kind, Vec b, const char inner[], const char loss[], const char bits[], PetscInt *its, char used[], size_t size)
{
  const char        *prefix = loss ? "units_vcrs_" : "units_";
  KSP                ksp;
  PC                 pc;
  Vec                x;
  char               options[512];
  KSPConvergedReason reason;
  PetscBool          blocks, factors;

  PetscFunctionBegin;
  PetscCall(PetscStrcmpAny(inner, &blocks, PCBJACOBI, PCASM, ""));
  PetscCall(PetscStrcmpAny(inner, &factors, PCILU, PCICC, PCLU, PCCHOLESKY, ""));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-%spc_type %s", prefix, inner));
  PetscCall(PetscOptionsInsertString(NULL, options));

  /* pivots are small where units are */
  PetscCall(PetscSNPrintf(options, sizeof(options), "-%s%spc_factor_zeropivot 0", prefix, blocks ? "sub_" : ""));
  if (blocks || factors) PetscCall(PetscOptionsInsertString(NULL, options));
  if (loss) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-units_pc_type vcrs -units_pc_vcrs_loss %s -units_pc_vcrs_bits %s", loss, bits));
    PetscCall(PetscOptionsInsertString(NULL, options));
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "units_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, kind == UNITS_APART ? KSPGMRES : KSPCG));
  if (kind == UNITS_APART) PetscCall(KSPGMRESSetRestart(ksp, 200));
  else PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSetTolerances(ksp, 1e-8, 0.0, PETSC_CURRENT, 400));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason <= 0) *its = -1;
  used[0] = 0;
  if (loss) {
    PCVCRSInfo info;

    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCVCRSGetInfo(pc, &info));
    if (info.bytes > 0.0) PetscCall(PetscSNPrintf(used, size, "%.2f", info.exactbytes / info.bytes));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsClearValue(NULL, "-units_pc_type"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define LIST 16

int main(int argc, char **argv)
{
  PetscInt  n = 24, nother = 0, compared = 0, ninner = LIST, nlosses = LIST, ndecades = LIST, nbits = 2, bits[2] = {8, 16}, failures = 0, least = 1;
  char     *inner[LIST] = {NULL}, *losses[LIST] = {NULL};
  PetscReal decades[LIST], unit                 = 1.0;
  PetscBool table = PETSC_FALSE, given;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-least", &least, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-unit", &unit, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-table", &table, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-inner", inner, &ninner, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-losses", losses, &nlosses, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-decades", decades, &ndecades, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-bits", bits, &nbits, &given));
  if (!given) nbits = 2;

  for (UnitsKind kind = 0; kind < UNITS_KINDS; kind++) {
    for (PetscInt d = 0; d < ndecades; d++) {
      Mat      A;
      Vec      b;
      PetscInt begin, end;

      PetscCall(UnitsCreateMatrix(kind, n, decades[d], unit, &A));
      PetscCall(MatCreateVecs(A, NULL, &b));
      PetscCall(VecGetOwnershipRange(b, &begin, &end));
      for (PetscInt k = begin; k < end; k++)
        PetscCall(VecSetValue(b, k, (PetscScalar)(unit * (1.0 + 0.5 * UnitsWave(k)) * UnitsOf(kind, n, decades[d], k, 1)), INSERT_VALUES));
      PetscCall(VecAssemblyBegin(b));
      PetscCall(VecAssemblyEnd(b));
      for (PetscInt p = 0; p < ninner; p++) {
        PetscInt exact, its;
        char     used[64];

        PetscCall(Solve(A, kind, b, inner[p], NULL, NULL, &exact, used, sizeof(used)));
        if (table) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "| %s | %g | %s | %" PetscInt_FMT " |", UnitsKindNames[kind], (double)decades[d], inner[p], exact));
        for (PetscInt l = 0; l < nlosses; l++) {
          PetscBool hasbits;

          PetscCall(PetscStrcmpAny(losses[l], &hasbits, "log", "fixed", ""));
          for (PetscInt w = 0; w < (hasbits ? nbits : 1); w++) {
            PetscCall(Solve(A, kind, b, inner[p], losses[l], bits[w] == 8 ? "8" : "16", &its, used, sizeof(used)));
            if (table) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %" PetscInt_FMT " (%s) |", its, used));
            if (exact < 0) nother++;
            else {
              compared++;
              if (its < 0 || (PetscReal)its > PetscCeilReal((PetscReal)1.15 * (PetscReal)exact)) {
                failures++;
                if (!table && failures <= 20)
                  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                                        "FAIL units %s over %g decades, %s, loss %s, %" PetscInt_FMT " bits: %" PetscInt_FMT " iterations, exact %" PetscInt_FMT
                                        "\n",
                                        UnitsKindNames[kind], (double)decades[d], inner[p], losses[l], bits[w], its, exact));
              }
            }
          }
        }
        if (table) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
      }
      PetscCall(VecDestroy(&b));
      PetscCall(MatDestroy(&A));
    }
  }
  for (PetscInt p = 0; p < ninner; p++) PetscCall(PetscFree(inner[p]));
  for (PetscInt l = 0; l < nlosses; l++) PetscCall(PetscFree(losses[l]));
  if (compared < least) failures++;
  if (failures)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%" PetscInt_FMT " of %" PetscInt_FMT " solves take more iterations than they should; at least %" PetscInt_FMT
                          " were to be compared\n",
                          failures, compared, least));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%" PetscInt_FMT " solves take the iterations of the exact preconditioner, %" PetscInt_FMT " more have none to compare with\n",
                          compared, nother));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    args: -n 20 -inner gamg,sor,ilu,icc -decades 1,2,8 -losses log,fixed,bins,classes,single -least 300

  # PETSc's own PCGAMG fails with such numbers
  test:
    suffix: small
    args: -n 16 -inner jacobi,sor,ilu,icc -decades 0,2 -losses log,fixed,bins,classes,single -unit 1e-290 -least 200

  test:
    suffix: large
    args: -n 16 -inner jacobi,sor,ilu,icc -decades 0,2 -losses log,fixed,bins,classes,single -unit 1e290 -least 200

  # Results near the end of the range, rounded to single precision
  test:
    suffix: single
    args: -n 12 -inner jacobi,sor -decades 0,2 -losses none -unit 1e-300 -units_pc_vcrs_precision single -least 16

  # Fewer where processes share cores
  test:
    suffix: 2
    nsize: 2
    args: -n 16 -inner gamg,bjacobi -decades 2,4 -losses log,bins -least 40

TEST*/
