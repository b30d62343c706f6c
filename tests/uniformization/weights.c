/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Poisson weights against the gamma function in long double.\n\n";

#include <float.h>
#include <src/ts/uniformization/uniformizationimpl.h>
#include <tests/uniformization/tstest.h>

int main(int argc, char **argv)
{
  static const double means[]  = {0, 1e-3, 0.3, 1, 2.5, 25, 99.9, 100, 1e3, 2000, 3.3e4, 1e6, 1e7};
  static const double errors[] = {1e-3, 1e-5, 1e-8, 1e-13};
  PetscBool           verbose  = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(means); i++) {
    for (size_t j = 0; j < PETSC_STATIC_ARRAY_LENGTH(errors); j++) {
      for (int kind = 0; kind < 4; kind++) {
        const PetscBool         fromzero = (PetscBool)(kind & 1), above = (PetscBool)(kind >> 1);
        TSUniformizationWeights w;
        const Long              q      = (Long)(PetscReal)means[i];
        Long                    inside = 0, difference = 0, sum = 0, mean = 0, allowed, slack;
        PetscInt                bad = 0;

        if (fromzero && means[i] > 1e5) continue;
        PetscCall(TSUniformizationWeightsCreate_Private((PetscReal)q, (PetscReal)errors[j], fromzero, above, &w));
        for (PetscInt k = w.right; k >= w.left; k--) {
          const Long exact = q > 0 ? expl((Long)k * logl(q) - q - lgammal((Long)k + 1)) : (k ? 0 : 1), value = (Long)w.weight[k - w.left];

          if (!(value >= 0 && value <= 1)) bad++;
          if (above && fabsl((Long)w.above[k - w.left] - sum) > 1e-12L) bad++;
          inside += exact;
          difference += fabsl(value - exact);
          sum += value;
          mean += (Long)k * value;
        }
        /* The relative error of the exact logarithms */
        slack   = 40 * (1 + q * logl(2 + q)) * LDBL_EPSILON + 4 * PETSC_MACHINE_EPSILON;
        allowed = (Long)errors[j] + slack;
        /* 1 - inside: the omitted part */
        if (WRONG(bad || !(difference + fabsl(1 - inside) <= allowed)))
          FAIL("mean %g, error %g: weights from %" PetscInt_FMT " to %" PetscInt_FMT " differ by %g", means[i], errors[j], w.left, w.right,
               (double)(difference + fabsl(1 - inside)));
        if (WRONG(!(fabsl(1 - inside) <= (Long)w.lost * 1.000001L + slack)))
          FAIL("mean %g, error %g: %g is left out, the bound is %g", means[i], errors[j], (double)(1 - inside), (double)w.lost);
        if (WRONG(!(2 * w.lost <= (PetscReal)errors[j]))) FAIL("mean %g, error %g: the bound is %g", means[i], errors[j], (double)w.lost);
        if (WRONG(!(fabsl(sum - 1) <= 4 * PETSC_MACHINE_EPSILON))) FAIL("mean %g, error %g: the sum is 1 + %g", means[i], errors[j], (double)(sum - 1));
        if (WRONG(above && !(fabsl(mean - q) <= q * allowed + 1e-15L)))
          FAIL("mean %g, error %g: the mean is off by %g", means[i], errors[j], (double)(mean - q));
        /* Not more than needed: the window of a normal distribution and some more */
        if (WRONG((double)(w.right - w.left) > 2 * (1.05 * sqrt(-2 * log(errors[j] / 4)) * sqrt(means[i]) + 20) && !fromzero))
          FAIL("mean %g, error %g: %" PetscInt_FMT " weights", means[i], errors[j], w.right - w.left + 1);
        if (verbose && !kind)
          PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mean %g, error %g: %" PetscInt_FMT " to %" PetscInt_FMT ", differ by %g\n", means[i], errors[j], w.left,
                                w.right, (double)(difference + fabsl(1 - inside))));
        PetscCall(TSUniformizationWeightsDestroy_Private(&w));
      }
    }
  }
  return TestEnd(860, "all is right\n");
}

/*TEST

  test:
    requires: double
    output_file: output/right.out

TEST*/
