/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* A reservoir on a DMDA for the tests of PCVCRS, and solvers from lines of options */

#include <tests/vcrs/vcrstest.h>
#include <lithe/private/petsccompat.h>
#include <tests/pcvcrs/pcvcrstest.h>
#include <petscdmda.h>

/* Sums in another order */
#define TINY ((PetscReal)1e5 * PETSC_MACHINE_EPSILON)

/* The conductivity of a cell, with layers and channels, over five orders of magnitude */
static inline PetscReal Conductivity(PetscInt i, PetscInt j, PetscInt k, PetscInt seed)
{
  const uint64_t  layer = (uint64_t)(k / 2), s = (uint64_t)(50 + seed);
  const PetscReal channel = PetscAbsReal(PetscSinReal((PetscReal)(0.3 * i + 6.0 * TestRandom(s, layer, 1)) + (PetscReal)(0.8 * j))) < 0.3 ? 4.0 : 0.0;

  return PetscExpReal((PetscReal)(6.0 * TestRandom(s, layer, 2) + 2.0 * TestRandom(s, (uint64_t)(i + 100 * j), (uint64_t)k)) + channel);
}

/* Fluxes between cells and through some boundaries, and an exchange between the fields of a cell; seed: selects
   values */
static inline PetscErrorCode Assemble(DM da, PetscInt seed, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt k = info.zs; k < info.zs + info.zm; k++) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
        const PetscInt n[3] = {info.mx, info.my, info.mz};

        for (PetscInt c = 0; c < info.dof; c++) {
          MatStencil  row = {.i = i, .j = j, .k = k, .c = c}, col[8];
          PetscScalar v[8], diagonal = 0.0;
          PetscInt    count = 0;

          for (int d = 0; d < 3; d++) {
            for (int side = -1; side <= 1; side += 2) {
              PetscInt        there[3] = {i, j, k};
              const PetscReal a        = Conductivity(i, j, k, seed);
              PetscReal       w;

              there[d] += side;
              if (there[d] < 0 || there[d] >= n[d]) {
                if (d == 2 && side < 0) diagonal += (PetscReal)0.1 * a;
                continue;
              }
              w = 2.0 / (1.0 / a + 1.0 / Conductivity(there[0], there[1], there[2], seed));
              diagonal += w;
              col[count] = (MatStencil){.i = there[0], .j = there[1], .k = there[2], .c = c};
              v[count++] = -w;
            }
          }
          if (info.dof > 1) {
            col[count] = (MatStencil){.i = i, .j = j, .k = k, .c = (c + 1) % info.dof};
            v[count++] = -0.5;
            diagonal += 0.5;
          }
          col[count] = row;
          v[count++] = diagonal;
          PetscCall(MatSetValuesStencil(A, 1, &row, count, col, v, INSERT_VALUES));
        }
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateGrid(PetscInt n, PetscInt dof, DM *da)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                         PETSC_DECIDE, dof, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateReservoir(DM da, PetscInt seed, MatType type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(DMSetMatType(da, type));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(Assemble(da, seed, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver with a set-up preconditioner; options with @ for its prefix, also in the options for the inside of PCVCRS */
static inline PetscErrorCode CreateSolver(DM da, Mat A, const char type[], const char options[], const char inside[], KSP *ksp)
{
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(PushOptions(options, inside, &database));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "t_"));
  if (da) PetscCall(KSPSetDM(*ksp, da));
  if (da) PetscCall(KSPSetDMActive(*ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, PetscMax(1e-8, 100 * PETSC_MACHINE_EPSILON), PETSC_CURRENT, PETSC_CURRENT, 400));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSetUpOnBlocks(*ksp));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations for a random right-hand side, -1 if not converged */
static inline PetscErrorCode Iterations(KSP ksp, PetscInt *its)
{
  Mat A;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 5));
  PetscCall(SolveIterations(ksp, b, x, its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}
