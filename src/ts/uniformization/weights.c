/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Poisson weights of a given mean: from the mode outwards by recurrences, without exponential or factorial. No number
   under- or overflows. Afterwards the weights are divided by their sum. So do B. L. Fox and P. W. Glynn, Computing
   Poisson probabilities, Comm. ACM 31, 1988.

   Geometric series bound the omitted weights. To the right of R, w_(k+1) = w_k q / (k + 1) <= w_k q / (R + 2) for k >
   R. Hence sum_(k > R) w_k <= w_(R+1) / (1 - q / (R + 2)). To the left of L, w_(k-1) = w_k k / q <= w_k (L - 1) / q for
   k < L. Hence sum_(k < L) w_k <= w_(L-1) / (1 - (L - 1) / q). Both bounds are compared with the present sum of
   weights, which is less than the sum of all weights.
*/

#include "uniformizationimpl.h"

/* The real type with the longest mantissa on the host: the recurrence is as long as the window */
typedef long double WeightReal;

/*
   Weights with sum |weight_k - Poisson_k| <= eps, up to rounding. Omitted weights count twice: directly, and in the sum
   that divides the remaining weights. With `above`, also the sums of weights after each weight, and one more weight.
   The mean is then as accurate as the weights.
*/
PetscErrorCode TSUniformizationWeightsCreate_Private(PetscReal q, PetscReal eps, PetscBool fromzero, PetscBool above, TSUniformizationWeights *w)
{
  const WeightReal mean = (WeightReal)q, part = (WeightReal)eps / (fromzero ? 2 : 4);
  const PetscInt   mode = (PetscInt)PetscFloorReal(q);
  WeightReal       value, sum, left = 0, right;
  PetscInt         k;

  PetscFunctionBegin;
  /* Where the window ends */
  value = sum = 1;
  for (k = mode;; k++) {
    const WeightReal next = value * mean / (WeightReal)(k + 1);

    right = next / (1 - mean / (WeightReal)(k + 2));
    if (right <= part * sum) break;
    value = next;
    sum += value;
  }
  w->right = k + (above ? 1 : 0);

  /* the left end of the window */
  value = 1;
  for (k = mode; k > 0; k--) {
    const WeightReal next = value * (WeightReal)k / mean;

    if (!fromzero) {
      left = next / (1 - (WeightReal)(k - 1) / mean);
      if (left <= part * sum) break;
    }
    value = next;
    sum += value;
  }
  if (!k) left = 0;
  w->left = k;
  w->lost = (PetscReal)((left + right) / sum);

  /* the weights, from the mode; their sum again, from the ends, where weights are small */
  PetscCall(PetscMalloc1(w->right - w->left + 1, &w->weight));
  for (k = mode, value = 1; k >= w->left; value *= (WeightReal)k / mean, k--) w->weight[k - w->left] = (PetscReal)value;
  for (k = mode, value = 1; k <= w->right; value *= mean / (WeightReal)(k + 1), k++) w->weight[k - w->left] = (PetscReal)value;
  sum = 0;
  for (k = w->left; k < mode; k++) sum += (WeightReal)w->weight[k - w->left];
  right = 0;
  for (k = w->right; k >= mode; k--) right += (WeightReal)w->weight[k - w->left];
  sum += right;
  for (k = w->left; k <= w->right; k++) w->weight[k - w->left] = (PetscReal)((WeightReal)w->weight[k - w->left] / sum);

  w->above = NULL;
  if (above) {
    PetscCall(PetscMalloc1(w->right - w->left + 1, &w->above));
    value = 0;
    for (k = w->right; k >= w->left; k--) {
      w->above[k - w->left] = (PetscReal)value;
      value += (WeightReal)w->weight[k - w->left];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationWeightsDestroy_Private(TSUniformizationWeights *w)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(w->weight));
  PetscCall(PetscFree(w->above));
  PetscFunctionReturn(PETSC_SUCCESS);
}
