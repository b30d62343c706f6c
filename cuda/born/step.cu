/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Steps of MATBORN: the choice of the kernel */

#include "any.cuh"

#define BORN_MIRROR_THREADS 256

/*
   Above a free surface u is the mirrored u, with the other sign; u from the first node on. blockIdx.y: the shot of a
   stack
*/
template <class T>
static __global__ void BornMirrorKernel(ptrdiff_t plane, ptrdiff_t shot, int radius, T *u)
{
  const ptrdiff_t i = static_cast<ptrdiff_t>(blockIdx.x) * BORN_MIRROR_THREADS + threadIdx.x;

  if (i >= plane) return;
  u += shot * static_cast<ptrdiff_t>(blockIdx.y);
  for (int k = 1; k <= radius; k++) u[i - k * plane] = -u[i + k * plane];
}

template <class T>
static PetscErrorCode BornMirror(const BornGrid *g, const BornStep *step, void *u, cudaStream_t stream)
{
  const ptrdiff_t plane = g->stride[g->dim - 1];
  const dim3      blocks(static_cast<unsigned>((plane + BORN_MIRROR_THREADS - 1) / BORN_MIRROR_THREADS), static_cast<unsigned>(BornShots(g)));

  PetscFunctionBegin;
  if (!g->surface || g->start || step->part[0] || !u) PetscFunctionReturn(PETSC_SUCCESS);
  BornMirrorKernel<T><<<blocks, BORN_MIRROR_THREADS, 0, stream>>>(plane, g->stride[2], g->radius, BornFromFirst<T>(g, u));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornStep(const BornGrid *g, const BornStep *step)
{
  const PetscLogDouble star = 1 + 3. * g->dim * g->radius, planes = static_cast<PetscLogDouble>(g->n[g->dim - 1]);
  const PetscLogDouble nodes = static_cast<PetscLogDouble>(g->nodes) *
                               (step->part[1] ? static_cast<PetscLogDouble>(step->part[1] - step->part[0]) / planes : 1);
  cudaStream_t stream;
  bool         done;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (step->number == BORN_FLOAT) PetscCall(BornMirror<float>(g, step, step->u, stream));
  else if (step->number == BORN_DOUBLE) PetscCall(BornMirror<double>(g, step, step->u, stream));
  else PetscCall(BornMirror<int32_t>(g, step, step->u, stream));
  if (step->number == BORN_DOUBLE) PetscCall(BornMirror<double>(g, step, step->w, stream));
  else PetscCall(BornMirror<float>(g, step, step->w, stream));
  PetscCall(BornMarchStep(g, step, stream, &done));
  if (!done) {
    if (step->number == BORN_DOUBLE) PetscCall((BornAnyOrder<double, double, double>(g, step, stream)));
    else if (step->number == BORN_FLOAT && step->Vbits != 16) PetscCall((BornAnyOrder<float, float, float>(g, step, stream)));
    else if (step->number == BORN_FLOAT) PetscCall((BornAnyOrder<float, float, uint16_t>(g, step, stream)));
    else if (step->Vbits != 16) PetscCall((BornAnyOrder<int32_t, float, float>(g, step, stream)));
    else PetscCall((BornAnyOrder<int32_t, float, uint16_t>(g, step, stream)));
  }
  PetscCall(PetscLogGpuFlops(nodes * ((step->w ? 2 : 1) * (star + 6) + (step->image ? 2 : 0) + (step->scatter ? 2 : 0))));
  PetscFunctionReturn(PETSC_SUCCESS);
}
