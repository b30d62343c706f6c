/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows of the weak case, with a thread per cell */

#include <petscdevice_cuda.h>
#include "weak.h"

#define THREADS 128

static __global__ void __launch_bounds__(THREADS)
  RowsKernel(const __grid_constant__ GridBox box, PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscReal *__restrict__ a)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x, cells = GridBoxPoints(&box);

  if (k > cells) return;
  i[k] = static_cast<PetscInt>(GridBoxRowStart(&box, 1, k));
  if (k < cells) WeakMakeRow(&box, k, j, a);
}

PetscErrorCode WeakLaunchRows(const GridBox *box, const GridBoxRows *rows)
{
  cudaStream_t stream;

  PetscFunctionBeginUser;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  RowsKernel<<<static_cast<unsigned int>(GridBoxPoints(box) / THREADS + 1), THREADS, 0, stream>>>(*box, rows->i, rows->j,
                                                                                                  reinterpret_cast<PetscReal *>(rows->a));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
