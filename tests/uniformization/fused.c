/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION: fused steps with few and many sums at a time, of any type of matrix, within the bound.\n\n";

#include <tests/uniformization/tstest.h>

#define TIMES 12

/* Times whose windows of weights overlap, except the first; and the right solutions */
typedef struct {
  const char  *what;
  const Chain *chain;
  Long         p[CHAIN_MAX];
  PetscInt     seen;
} Times;

static PetscErrorCode Monitor(TS ts, PetscInt step, PetscReal time, Vec x, void *ctx)
{
  Times               *t = (Times *)ctx;
  Long                 exact[CHAIN_MAX];
  double               error, mass;
  TSUniformizationInfo info;

  PetscFunctionBeginUser;
  if (step < 0) PetscFunctionReturn(PETSC_SUCCESS);
  ChainExact(t->chain, (Long)time, t->p, exact);
  PetscCall(ChainError(x, exact, &error, &mass));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  if (WRONG(!(error <= (double)info.bound) && step))
    FAIL("%s, %s, time %g: the error is %g, the bound %g", t->chain->name, t->what, (double)time, error, (double)info.bound);
  t->seen++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Chain *c, Mat A, PetscReal jumps, const char options[])
{
  Times     t = {options, c, {1}, 0};
  PetscReal span[TIMES + 1], unit = (PetscReal)(1 / ChainAlpha(c));
  TS        ts;
  Vec       x;

  PetscFunctionBeginUser;
  span[0] = 0;
  for (PetscInt k = 0; k < TIMES; k++) span[k + 1] = unit * jumps * (1 + (PetscReal)0.02 * (PetscReal)k);
  PetscCall(ChainTS(A, options, &ts));
  PetscCall(TSSetTimeSpan(ts, TIMES + 1, span));
  PetscCall(TSMonitorSet(ts, Monitor, &t, NULL));
  PetscCall(ChainVec(A, c, t.p, &x));
  PetscCall(TSSolve(ts, x));
  if (WRONG(t.seen != TIMES + 1)) FAIL("%s, %s: %" PetscInt_FMT " times of %d", c->name, options, t.seen, TIMES + 1);
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* A pass for one time, for five times, and for all; with norms; with intervals, where each interval begins with a sum
     of the last */
  static const char *const cases[] = {"-ts_uniformization_open_outputs 1", "-ts_uniformization_open_outputs 5 -ts_uniformization_eps 1e-10",
                                      "-ts_uniformization_open_outputs 20", "-ts_uniformization_open_outputs 20 -ts_uniformization_steady_state",
                                      "-ts_uniformization_method intervals -ts_uniformization_theta 9"};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int kind = 0; kind < CHAIN_KINDS; kind++) {
    Chain c;
    Mat   A;

    ChainMake((ChainKind)kind, &c);
    PetscCall(ChainMatrix(&c, &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
      char options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options), "-ts_type uniformization %s", cases[k]));
      PetscCall(Check(&c, A, (PetscReal)0.01, options));
      PetscCall(Check(&c, A, 35, options));
    }
    PetscCall(MatDestroy(&A));
  }
  return TestEnd(630, "all is right\n");
}

/*TEST

  testset:
    requires: double
    output_file: output/right.out

    test:
      args: -mat_type {{aij vcrs hybmgpu}}

    test:
      suffix: mpi
      nsize: 2
      args: -mat_type {{aij vcrs hybmgpu}}

    test:
      suffix: cuda
      requires: cuda
      args: -mat_type {{aijcusparse vcrs hybmgpu}} -mat_vec_type cuda

    test:
      suffix: cuda_mpi
      requires: cuda
      nsize: 2
      args: -mat_type {{aijcusparse vcrs hybmgpu}} -mat_vec_type cuda

TEST*/
