/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows of the pressure equation, with a thread per cell. Host and kernels share the formulas in reservoirrows.h */

#include <petscdevice_cuda.h>
#include "reservoirrows.h"

#define THREADS 128

static __global__ void __launch_bounds__(THREADS)
  RowsKernel(const __grid_constant__ ReservoirForm form, const __grid_constant__ GridBox box, const PetscReal *__restrict__ perm, PetscInt *__restrict__ i,
             PetscInt *__restrict__ j, PetscReal *__restrict__ a, PetscReal *__restrict__ b)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x, cells = GridBoxPoints(&box);

  if (k > cells) return;
  i[k] = static_cast<PetscInt>(ReservoirRowStart(&form, &box, k));
  if (k < cells) ReservoirMakeRow(&form, &box, perm, k, j, a, b);
}

/* A copy on the device */
template <class T>
static PetscErrorCode Upload(PetscInt64 n, const T *from, T **to)
{
  PetscFunctionBeginUser;
  PetscCallCUDA(cudaMalloc(to, static_cast<size_t>(n) * sizeof(T)));
  PetscCallCUDA(cudaMemcpy(*to, from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Synchronises */
PetscErrorCode ReservoirLaunchRows(const ReservoirForm *host, const GridBox *box, const PetscScalar perm[], const GridBoxRows *rows, PetscScalar b[])
{
  const PetscInt64 cells  = GridBoxPoints(box);
  const PetscInt64 local  = 3 * static_cast<PetscInt64>(box->ghostcount[0]) * box->ghostcount[1] * box->ghostcount[2];
  PetscScalar     *values = NULL;
  PetscInt        *well = NULL, *unknown = NULL;
  double          *index = NULL;
  ReservoirForm    form  = *host;
  cudaStream_t     stream;

  PetscFunctionBeginUser;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(Upload(2 * (form.wells + 1), form.well, &well));
  PetscCall(Upload(box->n[2], form.index, &index));
  PetscCall(Upload(box->n[2], form.unknown, &unknown));
  PetscCall(Upload(local, perm, &values));
  form.well    = well;
  form.index   = index;
  form.unknown = unknown;
  RowsKernel<<<static_cast<unsigned int>(cells / THREADS + 1), THREADS, 0, stream>>>(form, *box, reinterpret_cast<const PetscReal *>(values), rows->i, rows->j,
                                                                                     reinterpret_cast<PetscReal *>(rows->a), reinterpret_cast<PetscReal *>(b));
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(values));
  PetscCallCUDA(cudaFree(unknown));
  PetscCallCUDA(cudaFree(index));
  PetscCallCUDA(cudaFree(well));
  PetscFunctionReturn(PETSC_SUCCESS);
}
