/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Vectors of the manufactured problem of sbpsatproblem.h on a device: a thread fills some rows of a column of nodes */

#include "sbpsatformulas.h"
#include <petscdevice_cuda.h>

#define PROBLEM_THREADS 128
#define PROBLEM_ROWS    4096 /* of blocks, at most */

static __global__ void __launch_bounds__(PROBLEM_THREADS) ProblemFillKernel(ProblemField field, MatSBPSATFace face, ProblemNodes n, PetscReal *a)
{
  const int      reals = static_cast<int>(sizeof(PetscScalar) / sizeof(PetscReal));
  const PetscInt i     = n.start[0] + static_cast<PetscInt>(blockIdx.x * PROBLEM_THREADS + threadIdx.x);

  if (i >= n.end[0]) return;
  const ProblemLine column = ProblemColumn(ProblemReference(&n, 0, i));

  for (PetscInt j = n.start[1] + static_cast<PetscInt>(blockIdx.y); j < n.end[1]; j += static_cast<PetscInt>(gridDim.y)) {
    const ProblemLine row = ProblemRow(ProblemReference(&n, 1, j));
    const PetscInt64  k   = (static_cast<PetscInt64>(j - n.own[1]) * n.pitch + (i - n.own[0])) * n.step * reals;

    a[k] = ProblemEvaluate(field, face, &column, &row);
    if (reals == 2) a[k + 1] = 0;
  }
}

PetscErrorCode ProblemFillDevice(ProblemField field, MatSBPSATFace face, const ProblemNodes *n, PetscScalar *a)
{
  const PetscInt count[2] = {n->end[0] - n->start[0], n->end[1] - n->start[1]};
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (count[0] <= 0 || count[1] <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  {
    const dim3 blocks(static_cast<unsigned>((count[0] + PROBLEM_THREADS - 1) / PROBLEM_THREADS),
                      static_cast<unsigned>(count[1] < PROBLEM_ROWS ? count[1] : PROBLEM_ROWS));

    ProblemFillKernel<<<blocks, PROBLEM_THREADS, 0, stream>>>(field, face, *n, reinterpret_cast<PetscReal *>(a));
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
