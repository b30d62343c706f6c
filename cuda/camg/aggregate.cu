/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Aggregates on a device: those of src/pc/camg/aggregate.c.

   Two vertices exclude each other if the two sets of a vertex and its neighbours meet. In a round, each undecided
   vertex writes its hash to its set, where the lowest hash stays. A vertex that finds its own hash everywhere becomes a
   root, and marks its set. Vertices that find a mark are out. The result is that of the host, which takes vertices by
   ascending hash.
*/

#include "dense.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define MIS_MARK   0 /* also the hash of vertex 0, which is a root before the first round */
  #define MIS_FIRST  8 /* rounds before the host asks for the number of undecided vertices */
  #define MIS_ROUNDS 4 /* between further questions */
  #define MIS_BLOCKS 8192
  #define JOIN_SHORT 256 /* entries of a row that a warp compares */

/* One block: vertex 0 */
static __global__ void MisFirst(const __grid_constant__ CAMGMatrix A, uint32_t *lowest, PetscInt *root)
{
  if (A.i[1] == A.i[0]) return;
  if (threadIdx.x == 0) {
    root[0]   = 1;
    lowest[0] = MIS_MARK;
  }
  for (PetscInt k = A.i[0] + static_cast<PetscInt>(threadIdx.x); k < A.i[1]; k += static_cast<PetscInt>(blockDim.x)) lowest[A.j[k]] = MIS_MARK;
}

template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS) MisWrite(const __grid_constant__ CAMGMatrix A, CAMGRowList list, CAMGRowList next, uint32_t *lowest)
{
  const PetscInt n    = list.row ? *list.n : A.m;
  const int      lane = static_cast<int>(threadIdx.x) % lanes;

  if (blockIdx.x == 0 && threadIdx.x == 0) *next.n = 0;
  CAMG_FOR_LISTED(at, lanes, n)
  {
    if (at >= n) continue;
    const PetscInt v = list.row ? list.row[at] : static_cast<PetscInt>(at), begin = A.i[v], end = A.i[v + 1];
    const uint32_t h = CAMGHash(static_cast<uint32_t>(v));

    if (begin == end) continue;
    if (lane == 0) atomicMin(&lowest[v], h);
    for (PetscInt k = begin + lane; k < end; k += lanes) atomicMin(&lowest[A.j[k]], h);
  }
}

template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS) MisDecide(const __grid_constant__ CAMGMatrix A, CAMGRowList list, uint32_t *lowest, PetscInt *root)
{
  const PetscInt     n    = list.row ? *list.n : A.m;
  const int          lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned int mask = CAMGMask<lanes>();

  CAMG_FOR_LISTED(at, lanes, n)
  {
    const bool     exists = at < n;
    const PetscInt v = !exists ? 0 : (list.row ? list.row[at] : static_cast<PetscInt>(at)), begin = A.i[v], end = A.i[v + 1];
    const uint32_t h    = CAMGHash(static_cast<uint32_t>(v));
    bool           mine = CAMGAllOf(mask, exists && begin < end && v && lowest[v] == h);

    for (PetscInt base = begin; __any_sync(CAMG_ALL, mine && base < end); base += lanes) {
      const bool own = !mine || base + lane >= end || lowest[A.j[base + lane]] == h;

      mine = CAMGAllOf(mask, own) && mine;
    }
    if (!mine) continue;
    if (lane == 0) {
      root[v]   = 1;
      lowest[v] = MIS_MARK;
    }
    for (PetscInt k = begin + lane; k < end; k += lanes) lowest[A.j[k]] = MIS_MARK;
  }
}

/* Vertices that stay undecided, and forget the hashes of this round */
template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS) MisKeep(const __grid_constant__ CAMGMatrix A, CAMGRowList list, CAMGRowList next, uint32_t *lowest)
{
  const PetscInt     n    = list.row ? *list.n : A.m;
  const int          lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned int mask = CAMGMask<lanes>();

  CAMG_FOR_LISTED(at, lanes, n)
  {
    const bool     exists = at < n;
    const PetscInt v = !exists ? 0 : (list.row ? list.row[at] : static_cast<PetscInt>(at)), begin = A.i[v], end = A.i[v + 1];
    bool           stays = exists && begin < end && lowest[v] != MIS_MARK;

    for (PetscInt base = begin; __any_sync(CAMG_ALL, stays && base < end); base += lanes) {
      const bool unmarked = !stays || base + lane >= end || lowest[A.j[base + lane]] != MIS_MARK;

      stays = CAMGAllOf(mask, unmarked) && stays;
    }
    if (stays) {
      if (lane == 0) lowest[v] = UINT32_MAX;
      for (PetscInt k = begin + lane; k < end; k += lanes) lowest[A.j[k]] = UINT32_MAX;
    }
    CAMGAppendByBlock(stays && lane == 0, v, next.n, next.row);
  }
}

/* root [n + 1]: 1 for roots */
template <int lanes>
static PetscErrorCode FindRoots(cudaStream_t stream, const CAMGMatrix *A, PetscInt *root)
{
  uint32_t   *lowest;
  PetscInt   *n, left = A->m;
  CAMGRowList list[2], all;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m), &lowest));
  PetscCallCUDA(cudaMemsetAsync(lowest, 255, static_cast<size_t>(A->m) * sizeof(*lowest), stream));
  PetscCallCUDA(cudaMemsetAsync(root, 0, (static_cast<size_t>(A->m) + 1) * sizeof(*root), stream));
  PetscCall(CAMGZeros(stream, 2, &n));
  for (int k = 0; k < 2; k++) {
    list[k].n = n + k;
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m), &list[k].row));
  }
  MisFirst<<<1, CAMG_THREADS, 0, stream>>>(*A, lowest, root);
  for (int round = 0, batch = MIS_FIRST; left; batch = MIS_ROUNDS) {
    const unsigned int blocks = PetscMin(CAMGBlocks(static_cast<PetscInt64>(left) * lanes), static_cast<unsigned int>(MIS_BLOCKS));

    for (; batch > 0; batch--, round++) {
      const CAMGRowList next = list[(round + 1) & 1];

      all = list[round & 1];
      if (!round) all.row = nullptr;
      MisWrite<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, all, next, lowest);
      MisDecide<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, all, lowest, root);
      MisKeep<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, all, next, lowest);
    }
    PetscCallCUDA(cudaGetLastError());
    PetscCall(CAMGGet(stream, 1, list[round & 1].n, &left));
  }
  for (int k = 0; k < 2; k++) PetscCall(CAMGFree(stream, list[k].row));
  PetscCall(CAMGFree(stream, n));
  PetscCall(CAMGFree(stream, lowest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ joining */

/* The number of a root, which are numbered by place, else -1 */
static __device__ __forceinline__ PetscInt RootOf(const PetscInt *number, PetscInt v)
{
  return number[v + 1] > number[v] ? number[v] : -1;
}

/* Neighbours join the first root of their row; others with neighbours go to lists of short and long rows */
template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS)
  JoinRoots(const __grid_constant__ CAMGMatrix A, const PetscInt *__restrict__ number, PetscInt *agg, CAMGRowList shorter, CAMGRowList longer)
{
  const int          lane = static_cast<int>(threadIdx.x) % lanes, shift = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
  const unsigned int mask = CAMGMask<lanes>();

  CAMG_FOR_LISTED(at, lanes, A.m)
  {
    const bool     exists = at < A.m;
    const PetscInt v = static_cast<PetscInt>(at), begin = exists ? A.i[v] : 0, end = exists ? A.i[v + 1] : 0, size = end - begin;
    PetscInt       a = exists ? RootOf(number, v) : -1;

    for (PetscInt base = begin; __any_sync(CAMG_ALL, a < 0 && base < end); base += lanes) {
      const PetscInt     k = base + lane, mine = a < 0 && k < end ? RootOf(number, A.j[k]) : -1;
      const unsigned int found = (__ballot_sync(CAMG_ALL, mine >= 0) & mask) >> shift;
      const PetscInt     first = CAMGShuffle<lanes>(CAMG_ALL, mine, found ? __ffs(static_cast<int>(found)) - 1 : 0);

      if (found) a = first;
    }
    if (lane == 0 && exists) agg[v] = a;
    const bool left = lane == 0 && a < 0 && size > 0;

    CAMGAppendByBlock(left && size <= JOIN_SHORT, v, shorter.n, shorter.row);
    if (left && size > JOIN_SHORT) CAMGAppend(v, longer.n, longer.row);
  }
}

/* A group per vertex of the list. The aggregate with the largest sum, of equal ones the first in the row */
template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS)
  HeaviestShort(const __grid_constant__ CAMGMatrix A, CAMGRowList list, const PetscInt *__restrict__ agg, PetscInt *__restrict__ joined)
{
  const int      lane = static_cast<int>(threadIdx.x) % lanes;
  const PetscInt n    = *list.n;

  CAMG_FOR_LISTED(at, lanes, n)
  {
    const PetscInt v = at < n ? list.row[at] : 0, begin = A.i[v], end = A.i[v + 1];
    PetscReal      best  = -1;
    PetscInt       kbest = PETSC_INT_MAX, a = agg[v];

    for (PetscInt k = begin + lane; at < n && a < 0 && k < end; k += lanes) {
      const PetscInt mine = agg[A.j[k]];
      PetscReal      sum  = 0;

      if (mine < 0) continue;
      for (PetscInt q = begin; q < end; q++) {
        if (agg[A.j[q]] == mine) sum += CAMGAbs(A.a[q]);
      }
      if (sum > best) {
        best  = sum;
        kbest = k;
      }
    }
    __syncwarp();
    for (int offset = lanes / 2; offset > 0; offset /= 2) {
      const PetscReal other = __shfl_xor_sync(CAMG_ALL, best, offset, lanes);
      const PetscInt  k     = __shfl_xor_sync(CAMG_ALL, kbest, offset, lanes);

      if (other > best || (other == best && k < kbest)) {
        best  = other;
        kbest = k;
      }
    }
    if (a < 0 && best >= 0) a = agg[A.j[kbest]];
    if (lane == 0 && at < n) joined[at] = a;
  }
}

/* A block per vertex of the list */
static __global__ void __launch_bounds__(CAMG_THREADS)
  HeaviestLong(const __grid_constant__ CAMGMatrix A, CAMGRowList list, CAMGDense all, const PetscInt *__restrict__ agg, PetscInt *__restrict__ joined)
{
  __shared__ PetscReal bests[CAMG_THREADS];
  __shared__ PetscInt  places[CAMG_THREADS];
  const CAMGDense      d = CAMGDenseOf(all);
  const PetscInt       n = *list.n;

  for (PetscInt at = static_cast<PetscInt>(blockIdx.x); at < n; at += static_cast<PetscInt>(gridDim.x)) {
    const PetscInt v = list.row[at], begin = A.i[v], end = A.i[v + 1];
    PetscReal      best  = -1;
    PetscInt       kbest = PETSC_INT_MAX;

    if (agg[v] >= 0) {
      if (threadIdx.x == 0) joined[at] = agg[v];
      continue;
    }
    for (PetscInt base = begin; base < end; base += CAMG_THREADS) {
      const PetscInt k = base + static_cast<PetscInt>(threadIdx.x), a = k < end ? agg[A.j[k]] : -1;

      CAMGInOrder(d.owner, a, [&]() { d.value[a] += CAMGAbs(A.a[k]); });
    }
    __syncthreads();
    for (PetscInt k = begin + static_cast<PetscInt>(threadIdx.x); k < end; k += CAMG_THREADS) {
      const PetscInt a = agg[A.j[k]];

      if (a < 0 || !(CAMGReal(d.value[a]) > best)) continue;
      best  = CAMGReal(d.value[a]);
      kbest = k;
    }
    bests[threadIdx.x]  = best;
    places[threadIdx.x] = kbest;
    __syncthreads();
    for (PetscInt k = begin + static_cast<PetscInt>(threadIdx.x); k < end; k += CAMG_THREADS) {
      const PetscInt a = agg[A.j[k]];

      if (a >= 0) d.value[a] = 0;
    }
    if (threadIdx.x == 0) {
      for (int t = 1; t < CAMG_THREADS; t++) {
        if (bests[t] > best || (bests[t] == best && places[t] < kbest)) {
          best  = bests[t];
          kbest = places[t];
        }
      }
      joined[at] = best >= 0 ? agg[A.j[kbest]] : -1;
    }
    __syncthreads();
  }
}

static __global__ void JoinKernel(CAMGRowList list, const PetscInt *__restrict__ joined, PetscInt *__restrict__ agg)
{
  CAMG_FOR_ALL(at, *list.n)
  agg[list.row[at]] = joined[at];
}

PetscErrorCode LitheCUDACAMGAggregate(const CAMGGraph *graph, PetscInt agg[], PetscInt *aggregates)
{
  const CAMGMatrix *A = &graph->strong;
  PetscInt         *number, *n, *joined[2], count[3];
  CAMGRowList       list[2];
  CAMGDense         dense{};
  cudaStream_t      stream;
  unsigned int      blocks = 1;

  PetscFunctionBegin;
  *aggregates = 0;
  if (!A->m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m) + 1, &number));
  PetscCall(CAMGZeros(stream, 3, &n));
  for (int k = 0; k < 2; k++) {
    list[k].n = n + k;
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m), &list[k].row));
  }
  if (A->nz <= CAMG_SHORT * static_cast<PetscInt64>(A->m)) PetscCall(FindRoots<CAMG_LANES>(stream, A, number));
  else PetscCall(FindRoots<32>(stream, A, number));
  PetscCall(CAMGScan(stream, A->m, number));
  CAMG_ROWS(A, (JoinRoots<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, number, agg, list[0], list[1])));
  PetscCallCUDA(cudaMemcpyAsync(n + 2, number + A->m, sizeof(*n), cudaMemcpyDeviceToDevice, stream));
  PetscCall(CAMGGet(stream, 3, n, count));
  *aggregates = count[2];
  for (int k = 0; k < 2; k++) PetscCall(CAMGAllocate(stream, static_cast<size_t>(count[k]), &joined[k]));
  if (count[1]) PetscCall(CAMGDenseCreate(stream, count[2], true, &dense, &blocks));
  for (int sweep = 0; sweep < CAMG_SWEEPS; sweep++) {
    if (count[0] && A->nz <= CAMG_SHORT * static_cast<PetscInt64>(A->m))
      HeaviestShort<CAMG_LANES><<<CAMGBlocks(static_cast<PetscInt64>(count[0]) * CAMG_LANES), CAMG_THREADS, 0, stream>>>(*A, list[0], agg, joined[0]);
    else if (count[0]) HeaviestShort<32><<<CAMGBlocks(static_cast<PetscInt64>(count[0]) * 32), CAMG_THREADS, 0, stream>>>(*A, list[0], agg, joined[0]);
    if (count[1]) HeaviestLong<<<blocks, CAMG_THREADS, 0, stream>>>(*A, list[1], dense, agg, joined[1]);
    for (int k = 0; k < 2; k++) {
      if (count[k]) JoinKernel<<<CAMGBlocks(count[k]), CAMG_THREADS, 0, stream>>>(list[k], joined[k], agg);
    }
    PetscCallCUDA(cudaGetLastError());
  }
  if (count[1]) PetscCall(CAMGDenseDestroy(stream, &dense));
  for (int k = 0; k < 2; k++) {
    PetscCall(CAMGFree(stream, joined[k]));
    PetscCall(CAMGFree(stream, list[k].row));
  }
  PetscCall(CAMGFree(stream, n));
  PetscCall(CAMGFree(stream, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void ComposeKernel(PetscInt n, const PetscInt *__restrict__ next, PetscInt *__restrict__ agg)
{
  CAMG_FOR_ALL(v, n)
  agg[v] = next[agg[v]];
}

PetscErrorCode LitheCUDACAMGCompose(PetscInt n, const PetscInt next[], PetscInt agg[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(n, ComposeKernel, n, next, agg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
