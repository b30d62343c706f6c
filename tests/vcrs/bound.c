/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATVCRS: the reported bound of a lossy matrix holds for every entry, in any units of unknowns and equations.\n\
  -every <n> - only every n-th matrix\n\n";

#include <lithe.h>
#include <lithemat.h>
#include <tests/units.h>

/* Whether an entry may change from a to b; rowmax: the largest modulus in the row */
static PetscBool IsWithin(const MatVCRSInfo *info, MatVCRSUnit unit, PetscReal rowmax, PetscReal a, PetscReal b)
{
  const PetscReal error = PetscAbsReal(b - a), bound = info->bound * (1.0 + PETSC_SQRT_MACHINE_EPSILON),
                  rounding = 4.0 * PETSC_MACHINE_EPSILON * PetscAbsReal(a);

  switch (info->loss) {
  case MATVCRS_LOSS_NONE:
    return (PetscBool)(a == b);
  case MATVCRS_LOSS_BINS:
  case MATVCRS_LOSS_BINCLASSES:
    return (PetscBool)(error <= bound + rounding);
  case MATVCRS_LOSS_CLASSES:
    return (PetscBool)(error <= bound * (unit == MATVCRS_UNIT_ROW ? rowmax : (unit == MATVCRS_UNIT_ENTRY ? PetscAbsReal(a) : 1.0)) + rounding);
  case MATVCRS_LOSS_LOG:
    return (PetscBool)(error <= bound * PetscMin(PetscAbsReal(a), PetscAbsReal(b)) + rounding);
  case MATVCRS_LOSS_FIXED:
    return (PetscBool)(error <= bound * rowmax + rounding);
  default:
    return (PetscBool)(error <= bound * PetscAbsReal(a) + rounding);
  }
}

int main(int argc, char **argv)
{
  static const struct {
    MatVCRSLoss loss;
    PetscInt    bits;
    MatVCRSUnit unit;
    const char *name;
  } losses[]                           = {{MATVCRS_LOSS_LOG, 8, MATVCRS_UNIT_ROW, "log 8"},
                                          {MATVCRS_LOSS_LOG, 16, MATVCRS_UNIT_ROW, "log 16"},
                                          {MATVCRS_LOSS_FIXED, 8, MATVCRS_UNIT_ROW, "fixed 8"},
                                          {MATVCRS_LOSS_FIXED, 16, MATVCRS_UNIT_ROW, "fixed 16"},
                                          {MATVCRS_LOSS_BINS, 8, MATVCRS_UNIT_ROW, "bins"},
                                          {MATVCRS_LOSS_CLASSES, 8, MATVCRS_UNIT_ROW, "classes, rows"},
                                          {MATVCRS_LOSS_CLASSES, 8, MATVCRS_UNIT_ENTRY, "classes, entries"},
                                          {MATVCRS_LOSS_SINGLE, 8, MATVCRS_UNIT_ROW, "single"},
                                          {MATVCRS_LOSS_BINCLASSES, 8, MATVCRS_UNIT_ROW, "binclasses, rows"},
                                          {MATVCRS_LOSS_BINCLASSES, 8, MATVCRS_UNIT_ENTRY, "binclasses of 3 bins, entries"}};
  static const PetscReal     decades[] = {0.0, 0.5, 2.0, 8.0, 16.0}, units[] = {1.0, 1e-40, 1e40, 1e-270, 1e270};
  static const MatVCRSLayout layouts[] = {MATVCRS_LAYOUT_AUTO, MATVCRS_LAYOUT_LITERAL, MATVCRS_LAYOUT_L1, MATVCRS_LAYOUT_L2, MATVCRS_LAYOUT_L3};
  PetscInt                   every = 1, number = 0, matrices = 0, entries = 0, finer = 0, failures = 0;
  const PetscInt             n = 13;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  for (UnitsKind kind = 0; kind < UNITS_KINDS; kind++) {
    for (size_t d = 0; d < PETSC_STATIC_ARRAY_LENGTH(decades); d++) {
      for (size_t u = 0; u < PETSC_STATIC_ARRAY_LENGTH(units); u++) {
        Mat A;

        PetscCall(UnitsCreateMatrix(kind, n, decades[d], units[u], &A));
        for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l++) {
          for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(layouts); o++) {
            for (int refine = 0; refine < 2; refine++) {
              Mat         B, C;
              MatVCRSInfo info;
              PetscInt    begin, end, wrong[3] = {0, 0, 0};

              if (layouts[o] == MATVCRS_LAYOUT_L2 && losses[l].loss != MATVCRS_LOSS_FIXED) continue;
              if (number++ % every) continue;
              PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
              if (kind != UNITS_APART) PetscCall(MatSetOption(B, MAT_SYMMETRIC, PETSC_TRUE));
              PetscCall(MatVCRSSetLayout(B, layouts[o]));
              PetscCall(MatVCRSSetLoss(B, losses[l].loss));
              PetscCall(MatVCRSSetBits(B, losses[l].bits));
              PetscCall(MatVCRSSetLambda(B, 0.1, losses[l].unit));
              /* few bins: their bound is the larger one */
              if (losses[l].loss == MATVCRS_LOSS_BINCLASSES && losses[l].unit == MATVCRS_UNIT_ENTRY) PetscCall(MatVCRSSetBins(B, 3));
              PetscCall(MatVCRSSetRefineLoss(B, (PetscBool)refine));
              PetscCall(MatVCRSGetInfo(B, &info));
              PetscCall(MatVCRSDropAIJ(B));
              PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
              PetscCall(MatGetOwnershipRange(A, &begin, &end));
              for (PetscInt row = begin; row < end; row++) {
                const PetscScalar *a, *c;
                const PetscInt    *cols;
                PetscInt           len, lenc;
                PetscReal          rowmax = 0.0;

                PetscCall(MatGetRow(A, row, &len, &cols, &a));
                PetscCall(MatGetRow(C, row, &lenc, NULL, &c));
                for (PetscInt k = 0; k < len; k++) rowmax = PetscMax(rowmax, PetscAbsScalar(a[k]));
                for (PetscInt k = 0; k < len && k < lenc; k++, wrong[1]++) {
                  if (!IsWithin(&info, losses[l].unit, rowmax, PetscRealPart(a[k]), PetscRealPart(c[k]))) wrong[0]++;
                  /* refined losses must not change diagonal entries by much */
                  if (refine && cols[k] == row && !(PetscAbsScalar(c[k] - a[k]) <= 0.5 * PetscAbsScalar(a[k]))) wrong[2]++;
                }
                if (len != lenc) wrong[0]++;
                PetscCall(MatRestoreRow(C, row, NULL, NULL, &c));
                PetscCall(MatRestoreRow(A, row, &len, &cols, &a));
              }
              PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, wrong, 3, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
              matrices++;
              entries += wrong[1];
              if (info.loss != losses[l].loss || info.bits != losses[l].bits) finer++;
              if (wrong[0] || wrong[2] || PetscIsInfOrNanReal(info.bound) || PetscIsInfOrNanReal(info.froberror) || (refine && info.froberror > 0.2)) {
                if (failures++ < 10)
                  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                                        "FAIL units %s over %g decades times %g, loss %s, layout %s, refine %d: %" PetscInt_FMT
                                        " entries beyond the bound %g, %" PetscInt_FMT " diagonal entries changed by more than a half, ||E||_F/||A||_F %g\n",
                                        UnitsKindNames[kind], (double)decades[d], (double)units[u], losses[l].name, MatVCRSLayouts[layouts[o]], refine,
                                        wrong[0], (double)info.bound, wrong[2], (double)info.froberror));
              }
              PetscCall(MatDestroy(&C));
              PetscCall(MatDestroy(&B));
            }
          }
        }
        PetscCall(MatDestroy(&A));
      }
    }
  }
  if (matrices < 5 || !finer) failures++;
  if (failures)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " of %" PetscInt_FMT " matrices fail, %" PetscInt_FMT " took a finer loss\n", failures, matrices, finer));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "the bounds of %" PetscInt_FMT " matrices hold for their %" PetscInt_FMT " entries; %" PetscInt_FMT " took a finer loss\n", matrices,
                          entries, finer));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  # 84 of each matrix of units: numbers without a common factor reach all losses and layouts
  test:
    args: -every 5

  # Fewer where processes share cores
  test:
    suffix: 2
    nsize: 2
    args: -every 41

  test:
    suffix: 3
    nsize: 3
    args: -every 83

TEST*/
