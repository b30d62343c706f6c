/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION: the reported bound holds for chains, times, permitted errors and methods.\n\n";

/* The exact solution is computed in long double. Times correspond to 0.01 to 1e4 expected jumps, at most -most. The
   cases are taken in steps of -stride. */

#include <tests/uniformization/tstest.h>

static PetscErrorCode Check(const Chain *c, Mat A, const Long p[], const Long exact[], double t, const char options[], PetscBool verbose)
{
  TS                   ts;
  Vec                  x;
  TSUniformizationInfo info;
  PetscReal            eps;
  char                *steady;
  double               error = 0, mass = 0, begin = 0, norm = 0, growth;

  PetscFunctionBeginUser;
  PetscCall(ChainTS(A, options, &ts));
  PetscCall(ChainVec(A, c, p, &x));
  for (PetscInt i = 0; i < c->n; i++) {
    begin += (double)p[i];
    norm += (double)fabsl(p[i]);
  }
  PetscCall(TSSetMaxTime(ts, (PetscReal)t));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  eps = info.epsilon;
  PetscCall(PetscStrstr(options, "steady_state", &steady));
  PetscCall(ChainError(x, exact, &error, &mass));
  growth = PetscAbs(mass - begin) / norm;
  error /= norm;
  if (verbose)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%-10s t %-8g %-80s error %.2e bound %.2e weights %.2e steady %.2e rounding %.2e products %" PetscInt64_FMT " sums %" PetscInt64_FMT
                          " steady at %" PetscInt_FMT "\n",
                          c->name, t, options, error, (double)info.bound, (double)info.truncation, (double)info.steady, (double)info.rounding, info.products,
                          info.sums, info.steadyat));
  if (WRONG(!(error <= (double)info.bound))) FAIL("%s, t %g, %s: the error is %g, the bound %g", c->name, t, options, error, (double)info.bound);
  if (WRONG(!(growth <= (double)info.bound))) FAIL("%s, t %g, %s: the mass changed by %g, the bound is %g", c->name, t, options, growth, (double)info.bound);
  if (WRONG(!(info.truncation + info.steady + info.negligible <= eps)))
    FAIL("%s, t %g, %s: weights, steady state and states left out take %g of %g", c->name, t, options,
         (double)(info.truncation + info.steady + info.negligible), (double)eps);
  if (WRONG(!(info.bound <= eps) && info.rounding < eps / 2))
    FAIL("%s, t %g, %s: the bound is %g with an error allowed of %g", c->name, t, options, (double)info.bound, (double)eps);
  if (WRONG(info.steadyat >= 0 && !steady)) FAIL("%s, t %g, %s: taken for steady without being asked", c->name, t, options);
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const cases[] = {"-ts_uniformization_eps 1e-4",
                                      "",
                                      "-ts_uniformization_eps 1e-11",
                                      "-ts_uniformization_method intervals",
                                      "-ts_uniformization_method intervals -ts_uniformization_theta 7.3",
                                      "-ts_uniformization_steady_state",
                                      "-ts_uniformization_steady_state -ts_uniformization_rate_factor 1.02 -ts_uniformization_eps 1e-6",
                                      "-ts_uniformization_steady_state -ts_uniformization_method intervals",
                                      "-ts_uniformization_rate_factor 1.5"};
  static const double      jumps[] = {0, 0.01, 0.9, 17, 300, 1e4};
  PetscReal                most    = 1e4;
  PetscInt                 stride  = 1;
  PetscBool                verbose = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-stride", &stride, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  for (int kind = 0; kind < CHAIN_KINDS; kind++) {
    Chain c;
    Mat   A;

    ChainMake((ChainKind)kind, &c);
    PetscCall(ChainMatrix(&c, &A));
    for (size_t j = 0; j < PETSC_STATIC_ARRAY_LENGTH(jumps) && jumps[j] <= (double)most; j++) {
      const double t            = (double)(PetscReal)(jumps[j] / (double)ChainAlpha(&c));
      Long         p[CHAIN_MAX] = {0}, exact[CHAIN_MAX];

      /* A single state, or a vector which is no distribution */
      if (j % 2) p[0] = 1;
      else {
        for (PetscInt i = 0; i < c.n; i++) p[i] = (PetscReal)(i % 3 - 0.75);
      }
      ChainExact(&c, (Long)t, p, exact);
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k += (size_t)stride) {
        char options[256];

        PetscCall(PetscSNPrintf(options, sizeof(options), "-ts_type uniformization %s", cases[k]));
        PetscCall(Check(&c, A, p, exact, t, options, verbose));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  return TestEnd(130, "all is right\n");
}

/*TEST

  testset:
    requires: double
    output_file: output/right.out

    test:
      args: -mat_type {{aij vcrs}}

    test:
      suffix: mpi
      nsize: {{2 4}}
      args: -most 0.9 -stride 6

    test:
      suffix: mpi_vcrs
      nsize: 3
      args: -mat_type vcrs -most 0.9 -stride 7

    test:
      suffix: cuda
      requires: cuda
      args: -mat_type {{aijcusparse vcrs}} -mat_vec_type cuda -most 300

  test:
    suffix: single
    requires: single
    args: -most 300
    output_file: output/right.out

TEST*/
