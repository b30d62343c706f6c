/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Rows of a step, once their entries of A x are known: lithestep.h */

#include <lithe/private/lithestep.h>
#include "../common/number.cuh"

/* Adds the entries of x and y in a thread's rows to the sums; the rows are `distance` apart. All loads are issued
   before the first store */
template <int rows>
static __device__ __forceinline__ void StepAddToSums(const LitheStep &step, VCRSUnsigned row, VCRSUnsigned distance, const Number x[rows], const Number y[rows])
{
#pragma unroll
  for (int k = 0; k < LITHE_STEP_SUMS; k++) {
    if (k < step.nsums) {
      Number *at = reinterpret_cast<Number *>(step.sum[k]) + row;
      Number  sum[rows];

#pragma unroll
      for (int j = 0; j < rows; j++) sum[j] = step.first[k] ? Number{} : ReadOnce(at + j * distance);
#pragma unroll
      for (int j = 0; j < rows; j++) {
        sum[j] = AddSigned(sum[j], step.weight[k], y[j]);
        if (step.before[k] != 0) sum[j] = AddSigned(sum[j], step.before[k], x[j]);
        WriteOnce(at + j * distance, sum[j]);
      }
    }
  }
}

static __device__ __forceinline__ void StepAddToSums(const LitheStep &step, VCRSUnsigned row, Number x, Number y)
{
  StepAddToSums<1>(step, row, 0, &x, &y);
}
