/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT and PCSBPMG in implicit steps of time: a heat equation in two forms and a wave equation, orders of the steps, against the "
                     "assembled matrix.\n\n";

#include <lithe.h>
#include <tests/failures.h>
#include <tutorials/common/evolve.h>
#include <tutorials/common/sbpsatproblem.h>

typedef struct {
  EvolveKind kind;
  TSType     type;
  PetscInt   order; /* of the time steps */
} Case;

int main(int argc, char **argv)
{
  static const Case cases[] = {
    {EVOLVE_HEAT, TSBEULER, 1}, {EVOLVE_HEAT, TSCN, 2},     {EVOLVE_HEAT, TSBDF, 2},     {EVOLVE_HEAT_RHS, TSBEULER, 1},
    {EVOLVE_HEAT_RHS, TSCN, 2}, {EVOLVE_WAVE, TSALPHA2, 2}, {EVOLVE_HEAT, TSARKIMEX, 3}, {EVOLVE_HEAT, TSDIRK, 3},
  };
  PetscInt compared = 0, number = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(cases);

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &number, NULL));
  for (PetscInt k = 0; k < number; k++) {
    const Case   *c   = &cases[k];
    EvolveOptions opt = {.kind = c->kind, .type = c->type, .N = 32, .order = k % 2 ? 4 : 2, .exact = PETSC_TRUE, .discrete = PETSC_TRUE};
    EvolveResult  result[3];
    PetscReal     order;

    /* Twice as many steps have a smaller error, and the assembled matrix gives the same error */
    for (int r = 0; r < 3; r++) {
      opt.steps     = (r ? 16 : 8) * (c->kind == EVOLVE_WAVE ? 4 : 1);
      opt.assembled = (PetscBool)(r == 2);
      PetscCall(EvolveSolve(PETSC_COMM_WORLD, &opt, &result[r]));
    }
    compared += 3;
    order = PetscLog2Real(result[0].error / result[1].error);
    if (WRONG(!(order > 0.7 * (PetscReal)c->order)))
      FAIL("%s %d: errors %g and %g have the order %g", c->type, (int)c->kind, (double)result[0].error, (double)result[1].error, (double)order);
    if (WRONG(!(PetscAbsReal(result[2].error - result[1].error) <= (PetscDefined(USE_REAL_DOUBLE) ? 1e-7 : 1e-4) + 1e-4 * result[1].error)))
      FAIL("%s %d: error %g instead of %g with the assembled matrix", c->type, (int)c->kind, (double)result[1].error, (double)result[2].error);
    if (WRONG(result[1].iterations > 22 * result[1].steps * PetscMax(1, c->order - 1)))
      FAIL("%s %d: %" PetscInt_FMT " iterations in %" PetscInt_FMT " steps", c->type, (int)c->kind, result[1].iterations, result[1].steps);
    PetscCall(PetscInfo(NULL, "%s %d: errors %g, %g, %g, iterations %" PetscInt_FMT ", %" PetscInt_FMT "\n", c->type, (int)c->kind, (double)result[0].error,
                        (double)result[1].error, (double)result[2].error, result[1].iterations, result[2].iterations));
  }
  if (number < 2 || compared < 3 * number) failures++;
  if (failures) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures of %" PetscInt_FMT " comparisons\n", failures, compared));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "heat and waves are as they should, in %" PetscInt_FMT " comparisons\n", compared));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/timesteps_1.out
    test:
      nsize: {{1 2}}
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_vec_type cuda
  test:
    suffix: 3
    nsize: 3
    args: -cases 2

TEST*/
