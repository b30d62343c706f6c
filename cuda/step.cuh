/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A row of a step of a power series, once its entry of A x is known: lithestep.h */

#include "vcrs.cuh"
#include <lithe/private/lithestep.h>

/* The sums take what they want of the entries of x and y of a row */
static __device__ __forceinline__ void StepAddToSums(const LitheStep &step, VCRSUnsigned row, Number x, Number y)
{
#pragma unroll
  for (int k = 0; k < LITHE_STEP_SUMS; k++) {
    if (k < step.nsums) {
      Number *at  = reinterpret_cast<Number *>(step.sum[k]) + row;
      Number  sum = step.first[k] ? Number{} : ReadOnce(at);

      sum = AddSigned(sum, step.weight[k], y);
      if (step.before[k] != 0) sum = AddSigned(sum, step.before[k], x);
      WriteOnce(at, sum);
    }
  }
}
