/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What is left of a step of a power series after a product that knows nothing of it: one sweep over the vectors */

#include "step.cuh"

#define STEP_THREADS 256

template <bool done>
static __global__ void __launch_bounds__(STEP_THREADS) StepFinishKernel(const __grid_constant__ LitheStep step, VCRSUnsigned n, const Number *x, Number *y)
{
  const VCRSUnsigned row = static_cast<VCRSUnsigned>(blockIdx.x) * STEP_THREADS + threadIdx.x;

  if (row < n) {
    const Number xi = ReadOnce(x + row);
    Number       yi = y[row];

    if (!done) {
      yi     = AddSigned(xi, step.scale, yi);
      y[row] = yi;
    }
    StepAddToSums(step, row, xi, yi);
  }
}

PetscErrorCode LitheCUDAStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar dx[], PetscScalar dy[])
{
  const unsigned int blocks = static_cast<unsigned int>((static_cast<PetscInt64>(n) + STEP_THREADS - 1) / STEP_THREADS);
  const Number      *x      = reinterpret_cast<const Number *>(dx);
  Number            *y      = reinterpret_cast<Number *>(dy);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (n <= 0 || (done && step->nsums <= 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (done) StepFinishKernel<true><<<blocks, STEP_THREADS, 0, stream>>>(*step, static_cast<VCRSUnsigned>(n), x, y);
  else StepFinishKernel<false><<<blocks, STEP_THREADS, 0, stream>>>(*step, static_cast<VCRSUnsigned>(n), x, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
