/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: memory on the device, the sums of a step over blocks and processes, and the small algebra.
*/

#include "basis.cuh"
#include "../common/reduce.cuh"
#include <lithe/private/cb/coefficients.h>

#define CB_TEAM_THREADS 512
#define CB_TEAM_PARTS   8     /* threads per sum of products in the small algebra */
#define CB_TEAM_MEMORY  32768 /* of shared memory, at most, for the small vectors of the algebra */
#define CB_SUM_THREADS  128   /* threads per sum over blocks */

#define CB_SUMS_TOGETHER (CB_TEAM_THREADS / CB_SUM_THREADS)

template <class T>
static PetscErrorCode CBAllocate(T **p, size_t count)
{
  PetscFunctionBegin;
  /* pointers are never NULL, even for an empty array */
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(p), PetscMax(count * sizeof(T), 16)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Results for the host: the device writes the results to a piece of pinned memory, the page, which the host reads while
   the device works */
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
  const size_t ld = static_cast<size_t>(leading), columns = static_cast<size_t>(d->columns), parts = columns + static_cast<size_t>(d->pairs);
  int          device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&d->multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCall(CBAllocate(&d->values, parts * d->vbytes));
  PetscCall(CBAllocate(&d->exponents, parts * d->ebytes));
  PetscCall(CBAllocate(&d->y, columns));
  d->scalars.ld = leading;
  if (leading) {
    PetscCall(CBAllocate(&d->partial, static_cast<size_t>(CBSums(d->columns)) * CBDotBlocks(d)));
    PetscCall(CBAllocate(&d->done, 1));
    PetscCall(CBAllocate(&d->scalars.sums, 2 * ld + 1));
    PetscCall(CBAllocate(&d->scalars.gram, ld * ld));
    PetscCall(CBAllocate(&d->scalars.c, ld));
    PetscCall(CBAllocate(&d->scalars.work, CB_TEAM_PARTS * ld));
    PetscCall(CBAllocate(&d->scalars.hessenberg, ld * ld));
    PetscCall(CBAllocate(&d->scalars.step, ld));
    PetscCallCUDA(cudaMemset(d->done, 0, sizeof(*d->done)));
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
  PetscCallCUDA(cudaFree(d->done));
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

/* ------------------------------------------------------------ sums and coefficients */

struct CBSumArguments {
  PetscInt         k, first, count; /* real numbers of the sums: first ... first+count-1 for k columns */
  int              nblocks;
  double           down;    /* factor that undoes the scale of stored columns */
  const PetscReal *partial; /* [sums][nblocks] */
  PetscReal       *sums;
  unsigned int    *done;
};

/* Sum number s of this process, in the first warp of each group of CB_SUM_THREADS threads. All threads of the block
   call this function, with a separate s per group */
static __device__ __forceinline__ double CBAddBlocks(const CBSumArguments &a, PetscInt s)
{
  constexpr int     m = CB_COMPONENTS;
  __shared__ double part[CB_SUMS_TOGETHER][CB_SUM_THREADS / 32];
  const int         group = static_cast<int>(threadIdx.x) / CB_SUM_THREADS, thread = static_cast<int>(threadIdx.x) % CB_SUM_THREADS;
  /* none: sums beyond the range, and imaginary parts of squares */
  const bool none  = s >= a.first + a.count || (m == 2 && (s == 2 * m * a.k + 1 || s == m * (a.k - 1) + 1));
  double     total = 0;

  for (int b = thread; b < a.nblocks && !none; b += CB_SUM_THREADS) total += a.partial[static_cast<size_t>(s) * a.nblocks + b];
  CBWarpSums<1>(&total);
  __syncthreads();
  if (thread % 32 == 0) part[group][thread / 32] = total;
  __syncthreads();
  total = 0;
  for (int q = 0; q < CB_SUM_THREADS / 32; q++) total += part[group][q];
  return static_cast<PetscReal>(total * (s < m * a.k ? a.down * a.down : (s < 2 * m * a.k ? a.down : 1)));
}

/* Called by all threads of a block. small: shared memory for the small vectors of the algebra, or NULL; page: memory of
   the host */
static __device__ __forceinline__ void CBCoefficients(const CBScalars &scalars, const CBScalars &page, PetscInt k, PetscInt pass, PetscScalar *small)
{
  const CBTeam team  = {static_cast<PetscInt>(threadIdx.x), CB_TEAM_THREADS, CB_TEAM_PARTS};
  const size_t begin = static_cast<size_t>(k - 1) * scalars.ld;
  CBScalars    mine  = scalars;

  if (small) {
    mine.work = small;
    mine.c    = small + CB_TEAM_PARTS * scalars.ld;
  }
  CBTeamCoefficients(&team, &mine, k, pass);
  __syncthreads();
  for (PetscInt i = team.thread; i <= k; i += team.threads) page.hessenberg[begin + i] = scalars.hessenberg[begin + i];
  for (PetscInt i = team.thread; i < k && small; i += team.threads) scalars.c[i] = mine.c[i];
  if (team.thread == 0) page.step[k - 1] = scalars.step[k - 1];
}

/*
   A group of CB_SUM_THREADS threads adds a sum, or several in turn. Each block sends all sums to its peers before the
   first receive. The last block to finish computes the coefficients, if pass >= 0.
*/
static __global__ void __launch_bounds__(CB_TEAM_THREADS)
  CBSumKernel(const __grid_constant__ CBSumArguments a, const __grid_constant__ LitheReduceEpoch epoch, const __grid_constant__ CBScalars scalars,
              const __grid_constant__ CBScalars page, PetscInt pass, bool room, bool next)
{
  extern __shared__ __align__(16) double small[];
  __shared__ bool                        last;
  const int                              lane = static_cast<int>(threadIdx.x) % 32, size = epoch.peers.size;
  const bool                             first = threadIdx.x % CB_SUM_THREADS < 32; /* the first warp of the group */
  const PetscInt begin = static_cast<PetscInt>(blockIdx.x) * CB_SUMS_TOGETHER, step = static_cast<PetscInt>(gridDim.x) * CB_SUMS_TOGETHER;
  /* the group's place among the sums of a block */
  const PetscInt mine = static_cast<PetscInt>(threadIdx.x) / CB_SUM_THREADS;

  /* The next kernel does all work without the sums, and waits for the sums */
  if (next) PDLTrigger();
  (void)PDLWait(a.partial);
  for (PetscInt i = begin; i < a.count; i += step) {
    const double value = CBAddBlocks(a, a.first + i + mine);

    if (!first || i + mine >= a.count || lane >= size) continue;
    if (lane == epoch.peers.rank) a.sums[a.first + i + mine] = static_cast<PetscReal>(value);
    else LitheReduceSend(epoch, lane, i + mine, value);
  }
  for (PetscInt i = begin + mine; i < a.count && first && size > 1; i += step) {
    PetscReal *sum   = a.sums + a.first + i;
    double     value = 0, total;

    /* a lane per process */
    if (lane < size) value = lane == epoch.peers.rank ? static_cast<double>(*sum) : LitheReduceReceive(epoch, lane, i);
    total = __shfl_sync(0xffffffffu, value, 0);
    for (int r = 1; r < size; r++) total += __shfl_sync(0xffffffffu, value, r);
    if (lane == epoch.peers.rank) *sum = static_cast<PetscReal>(total);
  }
  if (pass < 0) return;

  /* After the barrier, the fence of thread 0 covers the stores of the block; after the next barrier, the reads of the
     block */
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(a.done, 1u) + 1u == gridDim.x;
    if (last) *a.done = 0;
    __threadfence();
  }
  __syncthreads();
  if (last) CBCoefficients(scalars, page, a.k, pass, room ? reinterpret_cast<PetscScalar *>(small) : NULL);
}

static __global__ void __launch_bounds__(CB_TEAM_THREADS)
  CBCoefficientsKernel(const __grid_constant__ CBScalars scalars, const __grid_constant__ CBScalars page, PetscInt k, PetscInt pass)
{
  CBCoefficients(scalars, page, k, pass, NULL);
}

/* coefficients: the same launch computes the coefficients from the sums */
static PetscErrorCode CBLaunchSums(const CBDevice *d, PetscInt k, PetscInt pass, bool coefficients, const LitheReduceEpoch *epoch)
{
  /* The small vectors of the algebra use shared memory, up to the size that every kernel may have */
  const size_t bytes = (CB_TEAM_PARTS + 1) * static_cast<size_t>(d->scalars.ld) * sizeof(PetscScalar);
  const bool   room  = coefficients && bytes <= CB_TEAM_MEMORY;
  /* The next kernel fills the device while this kernel waits for other processes. Processes that share a device would
     then have to wait for the device */
  const bool     next = epoch->peers.size == 1 || epoch->peers.owndevice;
  CBSumArguments a;
  cudaStream_t   stream;
  PetscInt       blocks;
  bool           pdl;

  PetscFunctionBegin;
  a.k       = k;
  a.first   = pass ? CB_COMPONENTS * k : 0;
  a.count   = CBSums(k) - a.first;
  a.nblocks = CBDotBlocks(d);
  a.down    = static_cast<double>(d->down);
  a.partial = d->partial;
  a.sums    = reinterpret_cast<PetscReal *>(d->scalars.sums);
  a.done    = d->done;
  /* Blocks wait for blocks of other processes, so each block needs a multiprocessor, even if all processes share a
     device */
  blocks = PetscMin((a.count + CB_SUMS_TOGETHER - 1) / CB_SUMS_TOGETHER, PetscMax(static_cast<PetscInt>(d->multiprocessors / epoch->peers.size), 1));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheCUDAHasPDL(&pdl));
  PetscCallCUDA(PDLLaunch(CBSumKernel, pdl, dim3(static_cast<unsigned int>(blocks)), dim3(CB_TEAM_THREADS), room ? bytes : 0, stream, a, *epoch, d->scalars,
                          d->page, coefficients ? pass : -1, room, next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBSums(const CBDevice *d, PetscInt k, PetscInt pass)
{
  LitheReduceEpoch alone = {};

  PetscFunctionBegin;
  alone.peers.size = 1;
  PetscCall(CBLaunchSums(d, k, pass, false, &alone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For functions that must wait for the coefficients */
static PetscErrorCode CBRecord(const CBDevice *d)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaEventRecord(static_cast<cudaEvent_t>(d->event), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBSumsAndCoefficients(const CBDevice *d, PetscInt k, PetscInt pass, const LitheReduceEpoch *epoch)
{
  PetscFunctionBegin;
  PetscCall(CBLaunchSums(d, k, pass, true, epoch));
  PetscCall(CBRecord(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBCoefficients(const CBDevice *d, PetscInt k, PetscInt pass)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CBCoefficientsKernel<<<1, CB_TEAM_THREADS, 0, stream>>>(d->scalars, d->page, k, pass);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CBRecord(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBWaitCoefficients(const CBDevice *d)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(d->event)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
