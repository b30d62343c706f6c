/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Products of sparse matrices. A group of lanes makes a row of the result, with a hash table of columns in shared memory.
   One pass finds the sizes of rows, another one the numbers. Rows that do not fit the table go to a list for warps with
   larger tables, and from there to a list for dense arrays: dense.cuh. The entries of a row of the left factor are taken
   one after the other, while lanes share the matching row of the right factor. So sums have the order of the host.

   A Source has
     Begin(r), End(r)  the items of a row of the result
     Get(r, k)         an item: entries first ... last - 1, which have ascending columns
     Column(item, q)   the column of an entry
     Head(item, q)     whether this entry is the first one of its column
     Add(item, q, sum) adds the entry, if numbers is true; else only the pattern is made
   factors: whether items use these
*/

#include "dense.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define CAMG_TABLE (PetscDefined(USE_COMPLEX) ? 256 : 512) /* of a warp */
  #define CAMG_ITEMS 2048                                    /* of a row that a warp takes */

struct CAMGItem {
  PetscInt    first, last;
  PetscScalar factor;
};

  #define CAMG_EMPTY -1

/* The place of a column; CAMG_EMPTY: the table is full */
template <int table>
static __device__ __forceinline__ int CAMGInsert(int *key, int c, int *inserted)
{
  constexpr int bits = table == 32 ? 5 : table == 64 ? 6 : table == 128 ? 7 : table == 256 ? 8 : 9;
  unsigned int  h    = static_cast<unsigned int>(c) * 2654435761u >> (32 - bits);

  static_assert(1 << bits == table, "");
  for (int probe = 0; probe < table; probe++, h = (h + 1) % table) {
    int old = *static_cast<volatile int *>(&key[h]);

    if (old == c) return static_cast<int>(h);
    if (old != CAMG_EMPTY) continue;
    old = atomicCAS(&key[h], CAMG_EMPTY, c);
    if (old == CAMG_EMPTY) ++*inserted;
    if (old == CAMG_EMPTY || old == c) return static_cast<int>(h);
  }
  return CAMG_EMPTY;
}

template <int lanes, class Source>
static __device__ __forceinline__ CAMGItem CAMGItemOf(unsigned int mask, const CAMGItem &mine, int from)
{
  CAMGItem item{};

  item.first = CAMGShuffle<lanes>(mask, mine.first, from);
  item.last  = CAMGShuffle<lanes>(mask, mine.last, from);
  if constexpr (Source::factors) item.factor = CAMGShuffle<lanes>(mask, mine.factor, from);
  return item;
}

/* visit(item, q) by the lanes of a group for the entries of a row, until it returns false for any lane */
template <int lanes, class Source, class Visit>
static __device__ __forceinline__ bool CAMGVisit(const Source &s, PetscInt r, int lane, unsigned int mask, Visit visit)
{
  const PetscInt end = s.End(r);

  for (PetscInt base = s.Begin(r); base < end; base += lanes) {
    const int count = end - base < lanes ? static_cast<int>(end - base) : lanes;
    CAMGItem  mine{};

    if (lane < count) mine = s.Get(r, base + lane);
    for (int t = 0; t < count; t++) {
      const CAMGItem item = CAMGItemOf<lanes, Source>(mask, mine, t);
      bool           good = true;

      for (PetscInt q = item.first + lane; q < item.last; q += lanes) {
        if (good && s.Head(item, q)) good = visit(item, q);
      }
      __syncwarp(mask); /* the next item adds to sums that other lanes have changed */
      if (!__all_sync(mask, good)) return false;
    }
  }
  return true;
}

template <int lanes, int table, class Source>
static __global__ void __launch_bounds__(CAMG_THREADS)
  CAMGSizes(const __grid_constant__ Source s, PetscInt m, CAMGRowList list, PetscInt *__restrict__ size, CAMGRowList next)
{
  __shared__ int     keys[CAMG_THREADS / lanes * table];
  const int          lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned int mask = CAMGMask<lanes>();
  const PetscInt     n = list.row ? *list.n : m, step = static_cast<PetscInt>(gridDim.x * (CAMG_THREADS / lanes));
  int               *key = keys + static_cast<int>(threadIdx.x) / lanes * table;

  for (PetscInt at = static_cast<PetscInt>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / lanes); at < n; at += step) {
    const PetscInt r     = list.row ? list.row[at] : at;
    int            count = 0;
    bool           fits  = s.End(r) - s.Begin(r) <= CAMG_ITEMS;

    for (int t = lane; t < table; t += lanes) key[t] = CAMG_EMPTY;
    __syncwarp(mask);
    if (fits) {
      fits  = CAMGVisit<lanes>(s, r, lane, mask, [&](const CAMGItem &item, PetscInt q) { return CAMGInsert<table>(key, s.Column(item, q), &count) >= 0; });
      count = CAMGSum<lanes>(mask, count);
    }
    if (lane == 0 && fits) size[r] = count;
    if (lane == 0 && !fits) CAMGAppend(r, next.n, next.row);
    __syncwarp(mask);
    if (n - at <= step) break;
  }
}

template <int lanes, int table, class Source>
static __global__ void __launch_bounds__(CAMG_THREADS) CAMGNumbers(const __grid_constant__ Source s, PetscInt m, CAMGRowList list,
                                                                   const PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscScalar *__restrict__ a)
{
  __shared__ int      keys[CAMG_THREADS / lanes * table];
  __shared__ char     memory[CAMG_THREADS / lanes * table * sizeof(PetscScalar)] __attribute__((aligned(16)));
  const int           lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned int  mask = CAMGMask<lanes>(), shift = threadIdx.x % 32 / lanes * lanes;
  const PetscInt      n = list.row ? *list.n : m, step = static_cast<PetscInt>(gridDim.x * (CAMG_THREADS / lanes));
  int                *key   = keys + static_cast<int>(threadIdx.x) / lanes * table;
  volatile PetscReal *value = reinterpret_cast<PetscReal *>(memory) + static_cast<int>(threadIdx.x) / lanes * table * CAMG_PARTS;
  const auto          get   = [=](int t) {
  #if PetscDefined(USE_COMPLEX)
    const PetscReal re = value[2 * t], im = value[2 * t + 1];

    return PetscScalar(re, im);
  #else
    return value[t];
  #endif
  };
  const auto put = [=](int t, PetscScalar v) {
    value[CAMG_PARTS * t] = CAMGReal(v);
    if (CAMG_PARTS == 2) value[CAMG_PARTS * t + CAMG_PARTS - 1] = CAMGImaginary(v);
  };

  for (PetscInt at = static_cast<PetscInt>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / lanes); at < n; at += step) {
    const PetscInt r = list.row ? list.row[at] : at, first = i[r];
    int            found = 0, ignored = 0;

    if (i[r + 1] - first <= table && s.End(r) - s.Begin(r) <= CAMG_ITEMS) {
      for (int t = lane; t < table; t += lanes) {
        key[t] = CAMG_EMPTY;
        if constexpr (Source::numbers) put(t, 0);
      }
      __syncwarp(mask);
      (void)CAMGVisit<lanes>(s, r, lane, mask, [&](const CAMGItem &item, PetscInt q) {
        const int p = CAMGInsert<table>(key, s.Column(item, q), &ignored);

        if constexpr (Source::numbers) {
          PetscScalar v = get(p);

          s.Add(item, q, &v);
          put(p, v);
        }
        return true;
      });
      /* moves used places to the front */
      for (int t = lane; t < table; t += lanes) {
        const int          c    = key[t];
        const PetscScalar  v    = Source::numbers ? get(t) : PetscScalar(0);
        const unsigned int used = __ballot_sync(mask, c != CAMG_EMPTY) >> shift;

        if (c != CAMG_EMPTY) {
          const int p = found + __popc(used & ((1u << lane) - 1));

          key[p] = c;
          if constexpr (Source::numbers) put(p, v);
        }
        found += __popc(used & (mask >> shift));
        __syncwarp(mask);
      }
      for (int p = lane; p < found; p += lanes) {
        const int c    = key[p];
        int       rank = 0;

        for (int q = 0; q < found; q++) rank += key[q] < c;
        j[first + rank] = c;
        if constexpr (Source::numbers) a[first + rank] = get(p);
      }
    }
    __syncwarp(mask);
    if (n - at <= step) break;
  }
}

/* ------------------------------------------------------------ long rows */

/* All threads of a block: visit(active, item, q) for the entries of a row, in the order of the threads */
template <class Source, class Visit>
static __device__ __forceinline__ void CAMGVisitByBlock(const Source &s, PetscInt r, Visit visit)
{
  __shared__ int offset[CAMG_THREADS + 1];
  const PetscInt end = s.End(r);

  for (PetscInt base = s.Begin(r); base < end; base += CAMG_THREADS) {
    const PetscInt k = base + static_cast<PetscInt>(threadIdx.x);
    CAMGItem       mine{};
    int            before, total;

    if (k < end) mine = s.Get(r, k);
    total               = CAMGBlockScan(static_cast<int>(mine.last - mine.first), &before);
    offset[threadIdx.x] = before;
    if (threadIdx.x == 0) offset[CAMG_THREADS] = total;
    __syncthreads();
    for (int begin = 0; begin < total; begin += CAMG_THREADS) {
      const int p   = begin + static_cast<int>(threadIdx.x);
      int       low = 0, high = CAMG_THREADS;
      CAMGItem  item{};
      bool      active = p < total;

      while (high - low > 1) {
        const int middle = (low + high) / 2;

        if (offset[middle] <= p) low = middle;
        else high = middle;
      }
      if (active) item = s.Get(r, base + low);
      const PetscInt q = item.first + p - offset[low];
      visit(active && s.Head(item, q), item, q);
    }
    __syncthreads();
  }
}

template <class Source>
static __global__ void __launch_bounds__(CAMG_THREADS) CAMGSizesDense(const __grid_constant__ Source s, CAMGRowList list, CAMGDense all, PetscInt *size)
{
  const CAMGDense d = CAMGDenseOf(all);
  const PetscInt  n = *list.n;

  for (PetscInt at = static_cast<PetscInt>(blockIdx.x); at < n; at += static_cast<PetscInt>(gridDim.x)) {
    int count = 0, before;

    CAMGVisitByBlock(s, list.row[at], [&](bool active, const CAMGItem &item, PetscInt q) {
      if (active) count += CAMGMark(d.bits, s.Column(item, q));
    });
    count = CAMGBlockScan(count, &before);
    if (threadIdx.x == 0) size[list.row[at]] = count;
    for (PetscInt w = static_cast<PetscInt>(threadIdx.x); w < d.words; w += CAMG_THREADS) d.bits[w] = 0;
    __syncthreads();
  }
}

template <class Source>
static __global__ void __launch_bounds__(CAMG_THREADS)
  CAMGNumbersDense(const __grid_constant__ Source s, CAMGRowList list, CAMGDense all, const PetscInt *i, PetscInt *j, PetscScalar *a)
{
  const CAMGDense d = CAMGDenseOf(all);
  const PetscInt  n = *list.n;

  for (PetscInt at = static_cast<PetscInt>(blockIdx.x); at < n; at += static_cast<PetscInt>(gridDim.x)) {
    const PetscInt first = i[list.row[at]];

    CAMGVisitByBlock(s, list.row[at], [&](bool active, const CAMGItem &item, PetscInt q) {
      const PetscInt c = active ? s.Column(item, q) : -1;

      if (active) (void)CAMGMark(d.bits, c);
      if constexpr (Source::numbers) CAMGInOrder(d.owner, c, [&]() { s.Add(item, q, &d.value[c]); });
    });
    CAMGEmit(d, [&](int k, PetscInt c) {
      j[first + k] = c;
      if constexpr (Source::numbers) {
        a[first + k] = d.value[c];
        d.value[c]   = 0;
      }
    });
  }
}

/* ------------------------------------------------------------ launches */

static __global__ void CAMGTotal(PetscInt m, const PetscInt *size, unsigned long long *total)
{
  unsigned long long sum = 0;

  CAMG_FOR_ALL(r, m)
  sum += static_cast<unsigned long long>(size[r]);
  sum = CAMGSum<32>(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0 && sum) atomicAdd(total, sum);
}

/* Launches kernel<lanes, table> of a stage; stage 3: a warp for a row */
  #define CAMG_STAGE(stage, kernel, most, ...)                                                                  \
    do {                                                                                                        \
      const PetscInt64 rows_ = (most);                                                                          \
      if ((stage) == 0) kernel<4, 32><<<CAMGBlocks(rows_ * 4), CAMG_THREADS, 0, stream>>>(__VA_ARGS__);         \
      else if ((stage) == 1) kernel<8, 64><<<CAMGBlocks(rows_ * 8), CAMG_THREADS, 0, stream>>>(__VA_ARGS__);    \
      else if ((stage) == 2) kernel<16, 128><<<CAMGBlocks(rows_ * 16), CAMG_THREADS, 0, stream>>>(__VA_ARGS__); \
      else kernel<32, CAMG_TABLE><<<CAMGBlocks(rows_ * 32), CAMG_THREADS, 0, stream>>>(__VA_ARGS__);            \
      PetscCallCUDA(cudaGetLastError());                                                                        \
    } while (0)

  #define CAMG_LISTED 4096 /* rows of a list that are worked on at the same time */

/* The stage for rows of `items` items with `entries` entries each, on average */
static inline int CAMGStage(double items, double entries)
{
  if (entries <= 5 && items * entries <= 48) return 0;
  if (entries <= 12 && items * entries <= 640) return 1;
  return items * entries <= 2500 ? 2 : 3;
}

/* C [m][n] of a source, with room for blocks of numbers; waits once */
template <class Source>
static PetscErrorCode CAMGMultiply(cudaStream_t stream, const Source &s, PetscInt m, PetscInt n, PetscInt rb, PetscInt cb, int stage, CAMGMatrix *C)
{
  const CAMGRowList all = {nullptr, nullptr};
  CAMGRowList       next[2];
  CAMGDense         dense;
  unsigned int      blocks;
  struct Counts {
    unsigned long long total;
    PetscInt           n[2];
  } * there, counts;

  PetscFunctionBegin;
  C->m  = m;
  C->n  = n;
  C->rb = rb;
  C->cb = cb;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(m) + 1, &C->i));
  PetscCall(CAMGZeros(stream, 1, &there));
  for (int k = 0; k < 2; k++) {
    next[k].n = &there->n[k];
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(m), &next[k].row));
  }
  CAMG_STAGE(stage, CAMGSizes, m, s, m, all, C->i, next[stage == 3]);
  if (stage < 3) CAMG_STAGE(3, CAMGSizes, PetscMin(m, CAMG_LISTED), s, m, next[0], C->i, next[1]);
  PetscCall(CAMGDenseCreate(stream, n, false, &dense, &blocks));
  CAMGSizesDense<<<blocks, CAMG_THREADS, 0, stream>>>(s, next[1], dense, C->i);
  CAMGTotal<<<PetscMin(CAMGBlocks(m), 512u), CAMG_THREADS, 0, stream>>>(m, C->i, &there->total);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGDenseDestroy(stream, &dense));
  PetscCall(CAMGScan(stream, m, C->i));
  PetscCall(CAMGGet(stream, 1, there, &counts));
  PetscCheck(counts.total <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A coarse matrix has more entries than PetscInt counts. Configure PETSC --with-64-bit-indices");
  C->nz = static_cast<PetscInt>(counts.total);
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->nz), &C->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->nz) * rb * cb, &C->a));
  CAMG_STAGE(stage, CAMGNumbers, m, s, m, all, C->i, C->j, C->a);
  if (counts.n[0]) CAMG_STAGE(3, CAMGNumbers, counts.n[0], s, m, next[0], C->i, C->j, C->a);
  if (counts.n[1]) {
    PetscCall(CAMGDenseCreate(stream, n, Source::numbers, &dense, &blocks));
    CAMGNumbersDense<<<blocks, CAMG_THREADS, 0, stream>>>(s, next[1], dense, C->i, C->j, C->a);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(CAMGDenseDestroy(stream, &dense));
  }
  for (int k = 0; k < 2; k++) PetscCall(CAMGFree(stream, next[k].row));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
