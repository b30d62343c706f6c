/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS: functions called before and after a solve by the inner preconditioner, changed types, and sequences of grids in SNES.\n\n";

#include <tests/pcvcrs/fieldstest.h>
#include <petscsnes.h>

/* Sums in another order */
#define TINY ((PetscReal)1e6 * PETSC_MACHINE_EPSILON)

static PetscScalar Entry(PETSC_UNUSED const void *ctx, PETSC_UNUSED const DMDALocalInfo *info, PetscInt i, PetscInt j, PETSC_UNUSED PetscInt c, int k)
{
  return k == FIELDS_OTHER ? -0.2 : (k == FIELDS_ROW ? (PetscScalar)(4.3 + 0.1 * (double)((i + 2 * j) % 3)) : -1.0);
}

/* Functions called by an inner shell before and after a solve, and an inner preconditioner of changing type */
static PetscInt before = 0, after = 0;

static PetscErrorCode ShellBefore(PETSC_UNUSED PC pc, PETSC_UNUSED KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PetscFunctionBeginUser;
  before++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellAfter(PETSC_UNUSED PC pc, PETSC_UNUSED KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PetscFunctionBeginUser;
  after++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellApply(PETSC_UNUSED PC pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestHooks(void)
{
  KSPConvergedReason reason;
  Mat                P;
  KSP                ksp;
  PC                 pc, inner, plain;
  Vec                x, b;
  DM                 da;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid2(9, &da));
  PetscCall(DMCreateMatrix(da, &P));
  PetscCall(FillFields(da, Entry, NULL, P));
  PetscCall(MatCreateVecs(P, &x, &b));
  PetscCall(TestFillVec(b, 5));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, P, P));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVCRS));
  PetscCall(PCVCRSGetPC(pc, &inner));
  PetscCall(PCSetType(inner, PCSHELL));
  PetscCall(PCShellSetApply(inner, ShellApply));
  PetscCall(PCShellSetPreSolve(inner, ShellBefore));
  PetscCall(PCShellSetPostSolve(inner, ShellAfter));
  PetscCall(KSPSolve(ksp, b, x));
  if (WRONG(before != 1 || after != 1))
    FAIL("a shell inside was called %" PetscInt_FMT " times before and %" PetscInt_FMT " times after a solve", before, after);
  PetscCall(PCSetType(inner, PCJACOBI));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (WRONG(before != 1 || reason < 0)) FAIL("a shell that has become another preconditioner: called %" PetscInt_FMT " times, reason %d", before, (int)reason);
  PetscCall(PCCreate(PETSC_COMM_WORLD, &plain));
  PetscCall(PCSetOperators(plain, P, P));
  PetscCall(PCSetType(plain, PCJACOBI));
  PetscCall(PCSetUp(plain));
  for (int way = APPLY; way <= APPLY_TRANSPOSE; way++) {
    PetscReal difference;

    PetscCall(Difference(plain, pc, (Way)way, b, &difference));
    if (WRONG(!(difference <= TINY)))
      FAIL("an inner preconditioner that has become another one, %s: the results are %g apart", WayNames[way], (double)difference);
  }
  PetscCall(PCDestroy(&plain));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&P));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- A sequence of grids ---- */

typedef struct {
  PetscScalar c[2];
} Point;

static PetscErrorCode Function(DMDALocalInfo *info, Point **u, Point **f, PETSC_UNUSED void *ctx)
{
  const PetscReal h2 = (PetscReal)1.0 / (PetscReal)(info->mx - 1);

  PetscFunctionBeginUser;
  for (PetscInt j = info->ys; j < info->ys + info->ym; j++) {
    for (PetscInt i = info->xs; i < info->xs + info->xm; i++) {
      for (PetscInt c = 0; c < 2; c++) {
        if (i == 0 || j == 0 || i == info->mx - 1 || j == info->my - 1) f[j][i].c[c] = u[j][i].c[c];
        else
          f[j][i].c[c] = 4.0 * u[j][i].c[c] - u[j][i - 1].c[c] - u[j][i + 1].c[c] - u[j - 1][i].c[c] - u[j + 1][i].c[c] +
                         h2 * h2 * (u[j][i].c[c] * u[j][i].c[c] * u[j][i].c[c] - 5.0 + u[j][i].c[1 - c]);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sequence(const char options[], const char vcrs[], PetscInt *its, Vec *u)
{
  PetscOptions        database;
  SNESConvergedReason reason;
  SNES                snes;
  Vec                 x;
  DM                  da;

  PetscFunctionBeginUser;
  PetscCall(vcrs ? PushOptions(vcrs, options, &database) : PushOptions(options, NULL, &database));
  PetscCall(SetOptions("-@snes_grid_sequence 2 -@ksp_rtol 1e-9 -@ksp_type fgmres -@snes_rtol 1e-9", "t_"));
  PetscCall(CreateGrid2(5, &da));
  PetscCall(DMDASNESSetFunctionLocal(da, INSERT_VALUES, (DMDASNESFunctionFn *)Function, NULL));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetOptionsPrefix(snes, "t_"));
  PetscCall(SNESSetDM(snes, da));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, NULL));
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetLinearSolveIterations(snes, its));
  if (reason < 0) *its = -1;
  PetscCall(SNESGetSolution(snes, &x));
  PetscCall(VecDuplicate(x, u));
  PetscCall(VecCopy(x, *u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&da));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSequence(void)
{
  static const char *const inner[] = {"-@pc_type mg -@pc_mg_levels 2",
                                      "-@pc_type mg -@pc_mg_galerkin both -@mg_levels_pc_type sor",
                                      "-@pc_type gamg",
                                      "-@pc_type fieldsplit -@fieldsplit_pc_type sor",
                                      "-@pc_type bjacobi",
                                      "-@pc_type asm",
                                      "-@pc_type sor",
                                      "-@pc_type redundant"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    PetscInt its[2];
    Vec      u[2];

    PetscCall(Sequence(inner[k], NULL, &its[0], &u[0]));
    for (int drop = 0; drop < 2; drop++) {
      PetscReal difference, norm;

      PetscCall(Sequence(inner[k], drop ? "-@pc_type vcrs -@pc_vcrs_drop_exact" : "-@pc_type vcrs", &its[1], &u[1]));
      PetscCall(VecNorm(u[0], NORM_2, &norm));
      PetscCall(VecAXPY(u[1], -1.0, u[0]));
      PetscCall(VecNorm(u[1], NORM_2, &difference));
      if (WRONG(its[0] < 0 || its[1] < 0 || its[1] > its[0] + its[0] / 5 + 2))
        FAIL("%s on a sequence of grids: %" PetscInt_FMT " linear iterations, without PCVCRS %" PetscInt_FMT, inner[k], its[1], its[0]);
      if (WRONG(!(difference <= 1e-6 * norm))) FAIL("%s on a sequence of grids: the solutions are %g apart", inner[k], (double)(difference / norm));
      PetscCall(VecDestroy(&u[1]));
    }
    PetscCall(VecDestroy(&u[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestHooks());
  PetscCall(TestSequence());
  return TestEnd(36, "all is right\n");
}

/*TEST

  test:
    nsize: {{1 2}}
    output_file: output/right.out

TEST*/
