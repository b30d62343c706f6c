/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: memory on the device, and the small algebra of a step there.
*/

#include "cbbasis.cuh"
#include <src/ksp/cbgmres/cbcoefficients.h>

#define CB_TEAM_THREADS 512
#define CB_TEAM_PARTS   8 /* threads that share a sum of products */

template <class T>
static PetscErrorCode CBAllocate(T **p, size_t count)
{
  PetscFunctionBegin;
  /* no pointer is NULL where there is nothing to store */
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(p), PetscMax(count * sizeof(T), 16)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the host reads while the device works: one piece of memory that the device writes to */
static PetscErrorCode CBCreatePage(CBDevice *d)
{
  const size_t ld = static_cast<size_t>(d->scalars.ld);
  char        *p;
  cudaEvent_t  event;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMallocHost(&d->pages, ld * ld * sizeof(PetscScalar) + ld * sizeof(CBStep)));
  p                  = static_cast<char *>(d->pages);
  d->page.ld         = d->scalars.ld;
  d->page.hessenberg = reinterpret_cast<PetscScalar *>(p);
  d->page.step       = reinterpret_cast<CBStep *>(d->page.hessenberg + ld * ld);
  PetscCallCUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  d->event = event;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBCreate(CBDevice *d, PetscInt leading)
{
  const size_t ld = static_cast<size_t>(leading), columns = static_cast<size_t>(d->columns);
  int          device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&d->multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCall(CBAllocate(&d->values, columns * d->vbytes));
  PetscCall(CBAllocate(&d->exponents, columns * d->ebytes));
  PetscCall(CBAllocate(&d->y, columns));
  d->scalars.ld = leading;
  if (leading) {
    PetscCall(CBAllocate(&d->partial, static_cast<size_t>(CBSums(d->columns)) * CBDotBlocks(d)));
    PetscCall(CBAllocate(&d->scalars.sums, 2 * ld + 1));
    PetscCall(CBAllocate(&d->scalars.gram, ld * ld));
    PetscCall(CBAllocate(&d->scalars.c, ld));
    PetscCall(CBAllocate(&d->scalars.work, CB_TEAM_PARTS * ld));
    PetscCall(CBAllocate(&d->scalars.hessenberg, ld * ld));
    PetscCall(CBAllocate(&d->scalars.step, ld));
    PetscCallCUDA(cudaMemset(d->scalars.sums, 0, (2 * ld + 1) * sizeof(PetscScalar)));
    PetscCallCUDA(cudaMemset(d->scalars.gram, 0, ld * ld * sizeof(PetscScalar)));
    PetscCallCUDA(cudaMemset(d->scalars.hessenberg, 0, ld * ld * sizeof(PetscScalar)));
    PetscCallCUDA(cudaMemset(d->scalars.step, 0, ld * sizeof(CBStep)));
    PetscCall(CBCreatePage(d));
  }
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBDestroy(CBDevice *d)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(d->values));
  PetscCallCUDA(cudaFree(d->exponents));
  PetscCallCUDA(cudaFree(d->y));
  PetscCallCUDA(cudaFree(d->partial));
  PetscCallCUDA(cudaFree(d->scalars.sums));
  PetscCallCUDA(cudaFree(d->scalars.gram));
  PetscCallCUDA(cudaFree(d->scalars.c));
  PetscCallCUDA(cudaFree(d->scalars.work));
  PetscCallCUDA(cudaFree(d->scalars.hessenberg));
  PetscCallCUDA(cudaFree(d->scalars.step));
  if (d->pages) PetscCallCUDA(cudaFreeHost(d->pages));
  if (d->event) PetscCallCUDA(cudaEventDestroy(static_cast<cudaEvent_t>(d->event)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One block of threads; page is memory of the host */
static __global__ void __launch_bounds__(CB_TEAM_THREADS) CBCoefficientsKernel(const __grid_constant__ CBScalars scalars, const __grid_constant__ CBScalars page, PetscInt k, PetscInt pass)
{
  const CBTeam team  = {static_cast<PetscInt>(threadIdx.x), CB_TEAM_THREADS, CB_TEAM_PARTS};
  const size_t begin = static_cast<size_t>(k - 1) * scalars.ld;

  CBTeamCoefficients(&team, &scalars, k, pass);
  __syncthreads();
  for (PetscInt i = team.thread; i <= k; i += team.threads) page.hessenberg[begin + i] = scalars.hessenberg[begin + i];
  if (team.thread == 0) page.step[k - 1] = scalars.step[k - 1];
}

PetscErrorCode LitheCUDACBCoefficients(const CBDevice *d, PetscInt k, PetscInt pass)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CBCoefficientsKernel<<<1, CB_TEAM_THREADS, 0, stream>>>(d->scalars, d->page, k, pass);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaEventRecord(static_cast<cudaEvent_t>(d->event), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBWaitCoefficients(const CBDevice *d)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(d->event)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
