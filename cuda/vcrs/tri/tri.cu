/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Triangular systems by levels: a warp takes up to 32 rows of a level, a row per thread, or a wide row with all
   threads. The warp reads the entries, then waits for the needed entries of x.

   W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, A synchronization-free algorithm for parallel sparse
   triangular solves, Euro-Par 2016.
*/

#include "tri.cuh"

#define VCRS_TRI_THREADS 128
#define VCRS_TRI_BATCH   4
#define VCRS_TRI_LEVELS  4 /* average levels in work at the same time */

/* Waits for the entries of x of a thread, and loads each entry once it exists */
static __device__ __forceinline__ void TriWait(const Number *x, const PetscInt column[], PetscInt k, PetscInt step, PetscInt length, Number xs[])
{
  bool all;

#pragma unroll
  for (int q = 0; q < VCRS_TRI_BATCH; q++) xs[q] = k + q * step < length ? TriLoad(x + column[q]) : Number{};
  for (;;) {
    all = true;
#pragma unroll
    for (int q = 0; q < VCRS_TRI_BATCH; q++) all = all && TriIsSet(xs[q]);
    if (all) return;
    TriPause();
#pragma unroll
    for (int q = 0; q < VCRS_TRI_BATCH; q++) {
      if (!TriIsSet(xs[q])) xs[q] = TriLoad(x + column[q]);
    }
  }
}

/* Solves the row at place `slot`, by a single thread or by all threads of a warp */
template <int threads>
static __device__ __forceinline__ void TriRow(const VCRSPlan &p, const TriArguments &a, PetscInt slot)
{
  const int       lane  = threads == 1 ? 0 : threadIdx.x % 32;
  const RowCursor c     = OpenRow(p, static_cast<VCRSUnsigned>(slot));
  const PetscInt  first = p.difference ? 1 : 0;
  const Number    right = a.b[c.row];
  const bool      apart = p.difference && c.length > 0;
  Number          sum = Number{}, xref = Number{}, sigma = Number{};
  int             exponent = 0;

  if (apart) sigma = RowSum(p, c.row);
  if (IsScaled(p)) exponent = p.decoding.exponent[c.row];
  for (PetscInt k = first + lane; k < c.length; k += VCRS_TRI_BATCH * threads) {
    PetscInt column[VCRS_TRI_BATCH];
    Number   v[VCRS_TRI_BATCH], xs[VCRS_TRI_BATCH];

    TriReadColumns<VCRS_TRI_BATCH>(c, k, threads, column);
    TriReadValues<VCRS_TRI_BATCH>(p, c, k, threads, v);
    if (apart && k == first + lane) xref = TriWaitOne(a.x + Column(c, 0));
    TriWait(a.x, column, k, threads, c.length, xs);
#pragma unroll
    for (int q = 0; q < VCRS_TRI_BATCH; q++) {
      if (k + q * threads < c.length) sum = MultiplyAdd(v[q], apart ? xs[q] - xref : xs[q], sum);
    }
  }
  if (threads > 1) sum = WarpSum<32>(sum);
  if (lane) return;
  if (exponent) sum = ScaleByPower(sum, exponent);
  if (apart) {
    /* a row may consist of its reference only */
    if (c.length == 1) xref = TriWaitOne(a.x + Column(c, 0));
    sum = MultiplyAdd(sigma, xref, sum);
  }
  TriStore(a.x + c.row, right + sum);
}

static __global__ void __launch_bounds__(VCRS_TRI_THREADS)
  TriLevelsKernel(const __grid_constant__ VCRSPlan p, const __grid_constant__ TriArguments a, const PetscInt *__restrict__ slot)
{
  const int    lane = threadIdx.x % 32;
  unsigned int next = 0;

  if (lane == 0) next = atomicAdd(a.ticket, 1u);
  for (;;) {
    const unsigned int t = __shfl_sync(0xffffffffu, next, 0);

    if (t >= a.ntasks) return;

    const PetscInt begin = __ldg(a.task + t), count = __ldg(a.task + t + 1) - begin;

    /* The number of the next task is loaded during this task. Warps take tasks in order */
    if (lane == 0) next = atomicAdd(a.ticket, 1u);
    if (count == 1) TriRow<32>(p, a, __ldg(slot + begin));
    else if (lane < count) TriRow<1>(p, a, __ldg(slot + begin + lane));
    __syncwarp();
  }
}

/* Before each solve: marks all x as missing, and resets the counter of tasks */
static __global__ void TriStartKernel(TriBits *x, PetscInt64 n, unsigned int *ticket)
{
  const PetscInt64 first = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x, step = static_cast<PetscInt64>(gridDim.x) * blockDim.x;

  if (first == 0) *ticket = 0;
  for (PetscInt64 k = first; k < n; k += step) x[k] = VCRS_TRI_UNSET;
}

PetscErrorCode VCRSTriStart(PetscScalar *x, PetscInt n, unsigned int *ticket, cudaStream_t stream)
{
  const PetscInt64 parts  = VCRS_COMPONENTS * static_cast<PetscInt64>(n);
  const PetscInt64 blocks = PetscMin((parts + 1023) / 1024, static_cast<PetscInt64>(2048));

  PetscFunctionBegin;
  TriStartKernel<<<static_cast<unsigned int>(blocks), 256, 0, stream>>>(reinterpret_cast<TriBits *>(x), parts, ticket);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of each row in the plan: its lane; very long rows follow all lanes */
static __global__ void TriPlacesKernel(const __grid_constant__ VCRSPlan p, PetscInt *place)
{
  const PetscInt64 lane = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x, nlane = 32 * static_cast<PetscInt64>(p.slices.n);

  if (lane < nlane) {
    const PetscInt64 row = VCRSLaneRow(&p, lane);

    if (row < p.m && !(p.lanes.length[lane] == 0 && IsLongRow(p.longrows.row, p.longrows.n, static_cast<VCRSUnsigned>(row))))
      place[row] = static_cast<PetscInt>(lane);
  }
  if (lane < p.longrows.n) place[p.longrows.row[lane]] = static_cast<PetscInt>(nlane + lane);
}

static __global__ void TriSlotsKernel(PetscInt n, const PetscInt *place, PetscInt *slot)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (k < n) slot[k] = place[slot[k]];
}

/* Replaces rows by places, if rows and places differ. Synchronises */
static PetscErrorCode TriFindSlots(const VCRSPlan *p, PetscInt *slot, cudaStream_t stream)
{
  const int        threads = 256;
  const PetscInt64 most = PetscMax(PetscMax(32 * static_cast<PetscInt64>(p->slices.n), static_cast<PetscInt64>(p->longrows.n)), static_cast<PetscInt64>(p->m));
  PetscInt        *place;

  PetscFunctionBegin;
  if (p->layout != MATVCRS_LAYOUT_L3 || (!p->lanes.perm && !p->longrows.n)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&place), p->m * sizeof(*place)));
  TriPlacesKernel<<<static_cast<unsigned int>((most + threads - 1) / threads), threads, 0, stream>>>(*p, place);
  PetscCallCUDA(cudaGetLastError());
  TriSlotsKernel<<<static_cast<unsigned int>((p->m + threads - 1) / threads), threads, 0, stream>>>(p->m, place, slot);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses the number of warps: the warps of a few levels, since loading entries takes about as long as a few levels.
   More warps would only poll x */
static PetscErrorCode TriChooseBlocks(VCRSTri *tri)
{
  const VCRSOrder *o = &tri->order;
  int              device, multiprocessors, perprocessor;
  PetscInt64       wanted;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perprocessor, TriLevelsKernel, VCRS_TRI_THREADS, 0));
  wanted      = PetscMax(VCRS_TRI_LEVELS * static_cast<PetscInt64>(o->ntasks) / PetscMax(o->nlevels, 1) * 32 / VCRS_TRI_THREADS,
                         static_cast<PetscInt64>(multiprocessors));
  tri->blocks = static_cast<int>(
    PetscMin(PetscMin(wanted, static_cast<PetscInt64>(perprocessor) * multiprocessors), (o->ntasks + VCRS_TRI_THREADS / 32 - 1) / (VCRS_TRI_THREADS / 32)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSTriSetUp(const VCRSPlan *dplan, const VCRSOrder *order, void **prepared)
{
  const PetscInt ntask = order->grid ? order->ntasks : order->ntasks + 1;
  VCRSTri       *tri;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscNew(&tri));
  *prepared       = tri;
  tri->order      = *order;
  tri->order.row  = NULL;
  tri->order.task = NULL;
  if (!order->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&tri->ticket), sizeof(*tri->ticket)));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&tri->task), ntask * sizeof(PetscInt)));
  PetscCallCUDA(cudaMemcpy(tri->task, order->task, ntask * sizeof(PetscInt), cudaMemcpyHostToDevice));
  if (order->grid) PetscCall(VCRSTriGridPrepare(tri, dplan, stream));
  else {
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&tri->slot), order->n * sizeof(PetscInt)));
    PetscCallCUDA(cudaMemcpy(tri->slot, order->row, order->n * sizeof(PetscInt), cudaMemcpyHostToDevice));
    PetscCall(TriFindSlots(dplan, tri->slot, stream));
    PetscCall(TriChooseBlocks(tri));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSTriSolve(const void *prepared, const VCRSPlan *dplan, const PetscScalar *db, PetscScalar *dx)
{
  const VCRSTri *tri = static_cast<const VCRSTri *>(prepared);
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (!tri->order.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(VCRSTriStart(dx, tri->order.n, tri->ticket, stream));
  if (tri->order.grid) PetscCall(VCRSTriGridSolve(tri, dplan, db, dx, stream));
  else {
    TriArguments a;

    a.b      = reinterpret_cast<const Number *>(db);
    a.x      = reinterpret_cast<Number *>(dx);
    a.task   = tri->task;
    a.ntasks = static_cast<unsigned int>(tri->order.ntasks);
    a.ticket = tri->ticket;
    TriLevelsKernel<<<static_cast<unsigned int>(tri->blocks), VCRS_TRI_THREADS, 0, stream>>>(*dplan, a, tri->slot);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSTriFree(void **prepared)
{
  VCRSTri *tri = static_cast<VCRSTri *>(*prepared);

  PetscFunctionBegin;
  if (!tri) PetscFunctionReturn(PETSC_SUCCESS);
  if (tri->slot) PetscCallCUDA(cudaFree(tri->slot));
  if (tri->way) PetscCallCUDA(cudaFree(tri->way));
  if (tri->task) PetscCallCUDA(cudaFree(tri->task));
  if (tri->ticket) PetscCallCUDA(cudaFree(tri->ticket));
  PetscCall(PetscFree(*prepared));
  PetscFunctionReturn(PETSC_SUCCESS);
}
