/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Pairs of vertices on a device: those of src/pc/camg/aggregate.c.

   At the end, single vertices join pairs in the order of their numbers. In a round, each of them bids for all pairs
   that it may join. The lowest bid for its favourite pair is final, since no earlier vertex can take that pair.
*/

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define PAIR_ROUNDS 6 /* of handshakes */
  #define PAIR_BIDS   4 /* rounds before the host asks for the number of single vertices without a decision */
  #define PAIR_NONE   0x7f7f7f7f

/* -a_ij / |a_ii a_jj|^1/2, or 0 for weak and positive entries */
static __device__ __forceinline__ PetscReal PairWeight(const CAMGMatrix &A, const PetscReal *root, PetscReal threshold, PetscInt r, PetscInt k)
{
  const PetscReal size = root[r] * root[A.j[k]], w = size > 0 ? -CAMGReal(A.a[k]) / size : 0;

  return A.j[k] != r && w >= threshold ? w : 0;
}

/* The free neighbour with the largest weight. The rule for nearly equal weights depends on the order of the row */
template <int lanes>
static __global__ void PairChoose(const __grid_constant__ CAMGMatrix A, const PetscReal *__restrict__ root, PetscReal threshold,
                                  const PetscInt *__restrict__ mate, PetscInt *__restrict__ choice)
{
  const CAMGGroupOf<lanes> g;
  const int                shift  = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
  PetscInt                 chosen = -1;
  PetscReal                best   = 0;
  uint32_t                 hbest  = 0;

  if (g.row >= A.m) return;
  const PetscInt v = static_cast<PetscInt>(g.row), begin = A.i[v], end = mate[v] >= 0 ? begin : A.i[v + 1];

  for (PetscInt base = begin; base < end; base += lanes) {
    const PetscInt k = base + g.lane, c = k < end ? A.j[k] : v;
    PetscReal      w = k < end ? PairWeight(A, root, threshold, v, k) : 0;
    const uint32_t h = CAMGHash(static_cast<uint32_t>(v < c ? v : c)) ^ CAMGHash(static_cast<uint32_t>(v < c ? c : v) + 77);

    if (w > 0 && mate[c] >= 0) w = 0;
    for (unsigned int rest = __ballot_sync(g.mask, w > 0) >> shift & g.mask >> shift; rest; rest &= rest - 1) {
      const int       t  = __ffs(static_cast<int>(rest)) - 1;
      const PetscReal wt = CAMGShuffle<lanes>(g.mask, w, t);
      const uint32_t  ht = CAMGShuffle<lanes>(g.mask, h, t);
      const PetscInt  ct = CAMGShuffle<lanes>(g.mask, c, t);

      if (wt > CAMGTimes(best, static_cast<PetscReal>(1.0000001)) || (wt > CAMGTimes(best, static_cast<PetscReal>(0.9999999)) && ht > hbest)) {
        best   = wt;
        hbest  = ht;
        chosen = ct;
      }
    }
  }
  if (g.lane == 0) choice[v] = chosen;
}

static __global__ void PairShake(PetscInt n, const PetscInt *__restrict__ choice, PetscInt *__restrict__ mate)
{
  CAMG_FOR_ALL(v, n)
  {
    if (choice[v] >= 0 && choice[choice[v]] == v) mate[v] = choice[v];
  }
}

/* Pairs are numbered by their first vertex. Vertices without a mate go to a list */
static __global__ void PairCount(PetscInt n, const PetscInt *__restrict__ mate, PetscInt *__restrict__ number, CAMGRowList list)
{
  CAMG_FOR_LISTED(v, 1, n)
  {
    const PetscInt m = v < n ? mate[v] : 0;

    if (v < n) number[v] = m > v;
    CAMGAppendByBlock(v < n && m < 0, static_cast<PetscInt>(v), list.n, list.row);
  }
}

/* The pair of neighbour k of a single vertex, if the vertex may join it, else -1 */
static __device__ __forceinline__ PetscInt PairOf(const CAMGMatrix &A, const PetscInt *mate, const PetscInt *taken, PetscInt k)
{
  const PetscInt c = A.j[k], m = mate[c], p = m < c ? m : c;

  return m >= 0 && !taken[p] ? p : -1;
}

/* A warp per vertex of the list */
static __global__ void __launch_bounds__(CAMG_THREADS)
  PairBid(const __grid_constant__ CAMGMatrix A, const PetscReal *__restrict__ root, PetscReal threshold, const PetscInt *__restrict__ mate,
          const PetscInt *__restrict__ taken, CAMGRowList list, CAMGRowList next, PetscInt *bid)
{
  const PetscInt n = *list.n;

  if (blockIdx.x == 0 && threadIdx.x == 0) *next.n = 0;
  CAMG_FOR_LISTED(at, 32, n)
  {
    if (at >= n) continue;
    const PetscInt v = list.row[at];

    for (PetscInt k = A.i[v] + static_cast<PetscInt>(threadIdx.x % 32); k < A.i[v + 1]; k += 32) {
      const PetscInt p = PairWeight(A, root, threshold, v, k) > 0 ? PairOf(A, mate, taken, k) : -1;

      if (p >= 0) atomicMin(&bid[p], v);
    }
  }
}

/* joined: the pair of a single vertex, -1 for a vertex that stays alone */
static __global__ void __launch_bounds__(CAMG_THREADS)
  PairJoin(const __grid_constant__ CAMGMatrix A, const PetscReal *__restrict__ root, PetscReal threshold, const PetscInt *__restrict__ mate, PetscInt *taken,
           CAMGRowList list, CAMGRowList next, const PetscInt *__restrict__ bid, PetscInt *joined)
{
  const PetscInt n    = *list.n;
  const int      lane = static_cast<int>(threadIdx.x) % 32;

  CAMG_FOR_LISTED(at, 32, n)
  {
    if (at >= n) continue;
    const PetscInt v     = list.row[at];
    PetscReal      best  = 0;
    PetscInt       kbest = PETSC_INT_MAX, pbest = -1;

    for (PetscInt k = A.i[v] + lane; k < A.i[v + 1]; k += 32) {
      const PetscReal w = PairWeight(A, root, threshold, v, k);
      const PetscInt  p = w > best ? PairOf(A, mate, taken, k) : -1;

      if (p < 0) continue;
      best  = w;
      kbest = k;
      pbest = p;
    }
    __syncwarp();
    for (int offset = 16; offset > 0; offset /= 2) {
      const PetscReal w = __shfl_xor_sync(CAMG_ALL, best, offset);
      const PetscInt  k = __shfl_xor_sync(CAMG_ALL, kbest, offset), p = __shfl_xor_sync(CAMG_ALL, pbest, offset);

      if (w > best || (w == best && k < kbest)) {
        best  = w;
        kbest = k;
        pbest = p;
      }
    }
    if (lane) continue;
    if (pbest >= 0 && bid[pbest] == v) {
      joined[v]    = pbest;
      taken[pbest] = 1;
    } else if (pbest >= 0) CAMGAppend(v, next.n, next.row);
  }
}

static __global__ void PairAlone(PetscInt n, const PetscInt *__restrict__ mate, const PetscInt *__restrict__ joined, PetscInt *__restrict__ alone)
{
  CAMG_FOR_ALL(v, n)
  alone[v] = mate[v] < 0 && joined[v] < 0;
}

/* number [n + 1]: of pairs; alone: of single vertices, which follow the pairs */
static __global__ void PairNumber(PetscInt n, const PetscInt *__restrict__ mate, const PetscInt *__restrict__ joined, const PetscInt *__restrict__ number,
                                  const PetscInt *__restrict__ alone, PetscInt *__restrict__ agg, PetscInt *aggregates)
{
  CAMG_FOR_ALL(v, n)
  {
    const PetscInt m = mate[v];

    if (m >= 0) agg[v] = number[m < v ? m : v];
    else agg[v] = joined[v] >= 0 ? number[joined[v]] : number[n] + alone[v];
    if (v == 0) *aggregates = number[n] + alone[n];
  }
}

PetscErrorCode LitheCUDACAMGPairs(const CAMGMatrix *A, const PetscReal root[], PetscReal threshold, PetscInt agg[], PetscInt *aggregates)
{
  const size_t n = static_cast<size_t>(A->m);
  PetscInt    *mate, *choice, *number, *taken, *joined, *count, left = 0;
  CAMGRowList  list[2];
  cudaStream_t stream;

  PetscFunctionBegin;
  *aggregates = 0;
  if (!A->m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, n, &mate));
  PetscCall(CAMGAllocate(stream, n + 1, &choice)); /* later: bids, then numbers of single vertices */
  PetscCall(CAMGAllocate(stream, n + 1, &number));
  PetscCall(CAMGAllocate(stream, n, &joined));
  PetscCall(CAMGZeros(stream, n, &taken));
  PetscCall(CAMGZeros(stream, 3, &count));
  for (int k = 0; k < 2; k++) {
    list[k].n = count + k;
    PetscCall(CAMGAllocate(stream, n, &list[k].row));
  }
  PetscCallCUDA(cudaMemsetAsync(mate, 255, n * sizeof(*mate), stream));
  for (int round = 0; round < PAIR_ROUNDS; round++) {
    CAMG_ROWS(A, (PairChoose<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, root, threshold, mate, choice)));
    PairShake<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(A->m, choice, mate);
  }
  PairCount<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(A->m, mate, number, list[0]);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, A->m, number));
  PetscCallCUDA(cudaMemsetAsync(joined, 255, n * sizeof(*joined), stream));
  PetscCall(CAMGGet(stream, 1, list[0].n, &left));
  for (int round = 0; left;) {
    const unsigned int blocks = CAMGBlocks(static_cast<PetscInt64>(left) * 32);

    for (int k = 0; k < PAIR_BIDS; k++, round++) {
      PetscCallCUDA(cudaMemsetAsync(choice, PAIR_NONE & 255, n * sizeof(*choice), stream));
      PairBid<<<blocks, CAMG_THREADS, 0, stream>>>(*A, root, threshold, mate, taken, list[round & 1], list[(round + 1) & 1], choice);
      PairJoin<<<blocks, CAMG_THREADS, 0, stream>>>(*A, root, threshold, mate, taken, list[round & 1], list[(round + 1) & 1], choice, joined);
    }
    PetscCallCUDA(cudaGetLastError());
    PetscCall(CAMGGet(stream, 1, list[round & 1].n, &left));
  }
  PairAlone<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(A->m, mate, joined, choice);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, A->m, choice));
  PairNumber<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(A->m, mate, joined, number, choice, agg, count + 2);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 1, count + 2, aggregates));
  for (int k = 0; k < 2; k++) PetscCall(CAMGFree(stream, list[k].row));
  PetscCall(CAMGFree(stream, mate));
  PetscCall(CAMGFree(stream, choice));
  PetscCall(CAMGFree(stream, number));
  PetscCall(CAMGFree(stream, taken));
  PetscCall(CAMGFree(stream, joined));
  PetscCall(CAMGFree(stream, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
