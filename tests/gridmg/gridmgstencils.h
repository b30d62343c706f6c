/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the tests of PCGRIDMG with de Zeeuw's interpolation share: matrices of 3, 5, 7, 9 and 27 points, preconditioners
   and iterations */

#include "gridmgtest.h"

typedef enum {
  STENCILS_RANDOM,    /* arbitrary numbers, complex if scalars are complex; a fifth of them 0 */
  STENCILS_SYMMETRIC, /* the same, symmetric */
  STENCILS_STAR,      /* any numbers for 5 or 7 points */
  STENCILS_ELEMENTS   /* coefficient (grad, grad) - wave (1 + shift i) (,), multilinear elements */
} Stencils;

typedef struct {
  const char *name;
  PetscInt    n[3];
  Stencils    kind;
  PetscReal   wave, shift; /* (k h)^2, and its shift; wave < 0: positive definite */
  PetscReal   jumps;       /* decades of the range of coefficients, which are constant in blocks of cells */
  PetscReal   disturbance; /* of entries left of the diagonal, and of arbitrary numbers */
  PetscReal   units;       /* scale of all entries; 0: 1 */
} StencilProblem;

static inline PetscInt StencilRows(const StencilProblem *p)
{
  return p->n[0] * p->n[1] * p->n[2];
}

/* An entry of random stencils */
static inline PetscScalar RandomEntry(const StencilProblem *p, PetscInt i, PetscInt j, int distance, PetscInt round)
{
  const uint64_t a = (uint64_t)(p->kind == STENCILS_SYMMETRIC ? PetscMin(i, j) : i), b = (uint64_t)(p->kind == STENCILS_SYMMETRIC ? PetscMax(i, j) : j);

  if (i == j) return (PetscReal)4.0 + TestScalar(a, b, (uint64_t)(7 + round));
  if (p->kind == STENCILS_STAR && distance > 1) return 0.0;
  return TestRandom(a, b, 6) < 0.2 ? (PetscScalar)0.0 : TestScalar(a, b, (uint64_t)(7 + round)) * ((PetscReal)1.0 + (j < i ? p->disturbance : (PetscReal)0.0));
}

static inline PetscErrorCode FillRandom(const StencilProblem *p, PetscInt round, Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < StencilRows(p); i++) {
    const PetscInt at[3] = {i % p->n[0], i / p->n[0] % p->n[1], i / p->n[0] / p->n[1]};

    for (int s = 0; s < 27; s++) {
      const int      away[3] = {s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1};
      const PetscInt j       = i + away[0] + p->n[0] * (away[1] + p->n[1] * away[2]);
      PetscBool      inside  = PETSC_TRUE;
      PetscScalar    v;

      for (int d = 0; d < 3; d++) inside = (PetscBool)(inside && at[d] + away[d] >= 0 && at[d] + away[d] < p->n[d]);
      if (!inside) continue;
      v = RandomEntry(p, i, j, abs(away[0]) + abs(away[1]) + abs(away[2]), round);
      if (v != (PetscScalar)0.0) PetscCall(MatSetValue(A, i, j, v, ADD_VALUES));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The elements between the points, cell by cell */
static inline PetscErrorCode FillElements(const StencilProblem *p, PetscInt round, Mat A)
{
  static const PetscReal k1[2] = {1.0, -1.0}, m1[2] = {(PetscReal)(1.0 / 3), (PetscReal)(1.0 / 6)};
  const PetscReal        units = p->units > 0 ? p->units : (PetscReal)1.0;
  PetscScalar            wave  = p->wave;

  PetscFunctionBeginUser;
#if PetscDefined(USE_COMPLEX)
  wave *= 1.0 + p->shift * PETSC_i;
#endif
  for (PetscInt c = 0; c < StencilRows(p); c++) {
    const PetscInt  at[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / p->n[0] / p->n[1]}, stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
    const double    random      = TestRandom((uint64_t)(at[0] / 5), (uint64_t)(100 * (at[1] / 3) + at[2] / 2), (uint64_t)(41 + round)) - 0.5;
    const PetscReal coefficient = PetscPowReal((PetscReal)10.0, p->jumps * (PetscReal)random);
    PetscBool       is          = PETSC_TRUE;

    for (int d = 0; d < 3; d++) is = (PetscBool)(is && (p->n[d] == 1 || at[d] < p->n[d] - 1));
    if (!is) continue;
    for (int a = 0; a < 8; a++) {
      for (int b = 0; b < 8; b++) {
        PetscReal mass = 1.0, stiffness = 0.0;
        PetscInt  i = c, j = c;
        PetscBool has = PETSC_TRUE;

        for (int d = 0; d < 3; d++) {
          PetscReal other = 1.0;

          if (p->n[d] == 1) {
            has = (PetscBool)(has && !((a | b) >> d & 1));
            continue;
          }
          for (int e = 0; e < 3; e++) other *= p->n[e] == 1 ? (PetscReal)1.0 : (e == d ? k1 : m1)[(a ^ b) >> e & 1];
          stiffness += other;
          mass *= m1[(a ^ b) >> d & 1];
          i += (a >> d & 1) * stride[d];
          j += (b >> d & 1) * stride[d];
        }
        if (has) PetscCall(MatSetValue(A, i, j, units * (coefficient * stiffness - wave * mass), ADD_VALUES));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FillStencils(const StencilProblem *p, PetscInt round, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(p->kind == STENCILS_ELEMENTS ? FillElements(p, round, A) : FillRandom(p, round, A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateStencilMatrix(const StencilProblem *p, PetscInt round, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, StencilRows(p), StencilRows(p), 27, NULL, A));
  PetscCall(FillStencils(p, round, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up PCGRIDMG with the grid set; further options with @ for its prefix */
static inline PetscErrorCode CreateStencilPC(const StencilProblem *p, Mat A, const char options[], PC *pc)
{
  char all[1024];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_type gridmg -@pc_gridmg_grid %d,%d,%d %s", (int)p->n[0], (int)p->n[1], (int)p->n[2], options));
  PetscCall(CreatePC(A, all, NULL, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of a solver with a set-up preconditioner, -1 if not converged */
static inline PetscErrorCode Iterations(Mat A, PC pc, const char type[], PetscInt *its)
{
  KSP ksp;
  Mat P;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(pc, NULL, &P));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGMRESSetRestart(ksp, 200));
  PetscCall(KSPSetTolerances(ksp, PetscMax((PetscReal)1e-8, 100 * PETSC_MACHINE_EPSILON), 0.0, PETSC_CURRENT, 200));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 3));
  PetscCall(SolveIterations(ksp, b, x, its));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode StencilIterations(const StencilProblem *p, const StencilProblem *preconditioner, const char type[], const char options[],
                                               PetscInt *its)
{
  Mat A, B;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(p, 0, &A));
  PetscCall(CreateStencilMatrix(preconditioner, 0, &B));
  PetscCall(CreateStencilPC(p, B, options, &pc));
  PetscCall(Iterations(A, pc, type, its));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
