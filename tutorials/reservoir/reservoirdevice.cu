/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Permeabilities and rows of the pressure equation, with a thread per cell. Host and kernels share the formulas */

#include <petscdevice_cuda.h>
#include "reservoirrows.h"

#define THREADS 128

/* Data of the host in device memory: perm, whose arrays are there, too, and the arrays of the form */
typedef struct {
  Permeability *perm;
  Problem      *problem;
  Channel      *channel;
  double       *log[3], *index;
  PetscInt     *well, *unknown;
} Copies;

/* Of own cells and their neighbours, three scalars each */
static __global__ void __launch_bounds__(THREADS) PermeabilityKernel(const __grid_constant__ GridBox box, const Permeability *__restrict__ perm,
                                                                     const Problem *__restrict__ problem, PetscReal *__restrict__ out)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x, nx = box.ghostcount[0], ny = box.ghostcount[1];
  double           value[3];

  if (k >= GridBoxLocals(&box)) return;
  PermeabilityAt(perm, problem, box.ghoststart[0] + static_cast<PetscInt>(k % nx), box.ghoststart[1] + static_cast<PetscInt>(k / nx % ny),
                 box.ghoststart[2] + static_cast<PetscInt>(k / nx / ny), value);
  for (int d = 0; d < 3; d++) GridBoxPutReal(out, 3 * k + d, value[d]);
}

static __global__ void __launch_bounds__(THREADS)
  RowsKernel(const __grid_constant__ ReservoirForm form, const __grid_constant__ GridBox box, const PetscReal *__restrict__ perm, PetscInt *__restrict__ i,
             PetscInt *__restrict__ j, PetscReal *__restrict__ a, PetscReal *__restrict__ b)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x, cells = GridBoxPoints(&box);

  if (k > cells) return;
  i[k] = static_cast<PetscInt>(ReservoirRowStart(&form, &box, k));
  if (k < cells) ReservoirMakeRow(&form, &box, perm, k, j, a, b);
}

/* A copy on the device; NULL of no numbers */
template <class T>
static PetscErrorCode Upload(PetscInt64 n, const T *from, T **to)
{
  PetscFunctionBeginUser;
  *to = NULL;
  if (!from || n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMalloc(to, static_cast<size_t>(n) * sizeof(T)));
  PetscCallCUDA(cudaMemcpy(*to, from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopiesCreate(const Permeability *perm, ReservoirForm *form, Copies *c)
{
  Permeability there = *perm;

  PetscFunctionBeginUser;
  PetscCall(Upload(1, perm->problem, &c->problem));
  PetscCall(Upload(perm->nchannels, perm->channel, &c->channel));
  for (int d = 0; d < 3; d++) {
    PetscCall(Upload(static_cast<PetscInt64>(perm->cx) * perm->cy * perm->cz, perm->log[d], &c->log[d]));
    there.log[d] = c->log[d];
  }
  there.problem = c->problem;
  there.channel = c->channel;
  there.work    = NULL;
  PetscCall(Upload(1, &there, &c->perm));
  PetscCall(Upload(2 * (form->wells + 1), form->well, &c->well));
  PetscCall(Upload(perm->nz, form->index, &c->index));
  PetscCall(Upload(perm->nz, form->unknown, &c->unknown));
  form->well    = c->well;
  form->index   = c->index;
  form->unknown = c->unknown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopiesDestroy(Copies *c)
{
  PetscFunctionBeginUser;
  PetscCallCUDA(cudaFree(c->perm));
  PetscCallCUDA(cudaFree(c->problem));
  PetscCallCUDA(cudaFree(c->channel));
  for (int d = 0; d < 3; d++) PetscCallCUDA(cudaFree(c->log[d]));
  PetscCallCUDA(cudaFree(c->index));
  PetscCallCUDA(cudaFree(c->well));
  PetscCallCUDA(cudaFree(c->unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Synchronises */
PetscErrorCode ReservoirLaunchRows(const Permeability *perm, const ReservoirForm *host, const GridBox *box, const GridBoxRows *rows, PetscScalar b[])
{
  const PetscInt64 cells = GridBoxPoints(box), locals = GridBoxLocals(box);
  ReservoirForm    form = *host;
  PetscReal       *values;
  Copies           copies;
  cudaStream_t     stream;

  PetscFunctionBeginUser;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CopiesCreate(perm, &form, &copies));
  PetscCallCUDA(cudaMalloc(&values, static_cast<size_t>(3 * locals) * sizeof(PetscScalar)));
  PermeabilityKernel<<<static_cast<unsigned int>(locals / THREADS + 1), THREADS, 0, stream>>>(*box, copies.perm, copies.problem, values);
  PetscCallCUDA(cudaGetLastError());
  RowsKernel<<<static_cast<unsigned int>(cells / THREADS + 1), THREADS, 0, stream>>>(form, *box, values, rows->i, rows->j,
                                                                                     reinterpret_cast<PetscReal *>(rows->a), reinterpret_cast<PetscReal *>(b));
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(values));
  PetscCall(CopiesDestroy(&copies));
  PetscFunctionReturn(PETSC_SUCCESS);
}
