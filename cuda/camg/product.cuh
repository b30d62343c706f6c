/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Products of sparse matrices. A warp makes a row of the result. Lanes take 32 entries at a time, and find those of the
   same column. The first lane of a column adds their numbers in the order of the lanes. So sums have the order of the
   host. A row of more entries has a hash table of columns in shared memory. One pass finds the sizes of rows, another
   one the numbers. Rows that do not fit the table go to a list for larger tables, and from there to a list for dense
   arrays: dense.cuh.

   A Source has
     Begin(r), End(r)  the items of a row of the result
     Get(r, k)         an item: entries first ... last - 1
     Column(q)         the column of an entry
     Number(factor, q) its number times the factor of the item, if numbers is true; else only the pattern is made
*/

#include "dense.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define CAMG_TABLE  (PetscDefined(USE_COMPLEX) ? 256 : 512) /* columns of the largest table */
  #define CAMG_ITEMS  2048                                    /* of a row that a warp takes */
  #define CAMG_BLOCKS 16384u                                  /* of a launch */

struct CAMGItem {
  PetscInt    first, last;
  PetscScalar factor;
};

  #define CAMG_EMPTY -1

/* The place of a column; CAMG_EMPTY: the table is full */
template <int table>
static __device__ __forceinline__ int CAMGInsert(int *key, int c, int *inserted)
{
  constexpr int bits = table == 64 ? 6 : table == 256 ? 8 : 9;
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

/* An entry of a row, one for each lane of a warp */
struct CAMGLaneEntry {
  PetscInt     c;
  PetscScalar  v;
  unsigned int peers; /* lanes of this column */
  bool         head;  /* the first one of them */
  bool         only;  /* the row has no other entries */
};

/* visit(entry) for 32 entries of a row after the other, until it returns false. All lanes of a warp */
template <class Source, class Visit>
static __device__ __forceinline__ bool CAMGVisit(const Source &s, PetscInt r, int lane, Visit visit)
{
  const PetscInt begin = s.Begin(r), end = s.End(r);

  for (PetscInt base = begin; base < end; base += 32) {
    CAMGItem mine{};

    if (base + lane < end) mine = s.Get(r, base + lane);
    int upto = static_cast<int>(mine.last - mine.first); /* entries of items up to this one */

  #pragma unroll
    for (int offset = 1; offset < 32; offset *= 2) {
      const int other = __shfl_up_sync(CAMG_ALL, upto, offset);

      if (lane >= offset) upto += other;
    }
    const int total = __shfl_sync(CAMG_ALL, upto, 31), shift = mine.last - upto;

    for (int first = 0; first < total; first += 32) {
      const int     e = first + lane;
      int           t = 0; /* its item */
      CAMGLaneEntry entry{};

  #pragma unroll
      for (int step = 16; step > 0; step /= 2) {
        if (__shfl_sync(CAMG_ALL, upto, t + step - 1) <= e) t += step;
      }
      const PetscInt q = e + __shfl_sync(CAMG_ALL, shift, t);

      if constexpr (Source::numbers) entry.v = CAMGShuffle<32>(CAMG_ALL, mine.factor, t);
      entry.c = CAMG_EMPTY;
      if (e < total) {
        entry.c = s.Column(q);
        if constexpr (Source::numbers) entry.v = s.Number(entry.v, q);
      }
      entry.peers = __match_any_sync(CAMG_ALL, entry.c);
      entry.head  = e < total && lane == __ffs(static_cast<int>(entry.peers)) - 1;
      entry.only  = total <= 32 && end - begin <= 32;
      if (!visit(entry)) return false;
    }
  }
  return true;
}

/* sum += the numbers of a column, in its first lane. All lanes of a warp */
static __device__ __forceinline__ void CAMGAddPeers(const CAMGLaneEntry &entry, PetscScalar *sum)
{
  unsigned int rest = entry.head ? entry.peers : 0;

  while (__any_sync(CAMG_ALL, rest != 0)) {
    const PetscScalar v = CAMGShuffle<32>(CAMG_ALL, entry.v, rest ? __ffs(static_cast<int>(rest)) - 1 : 0);

    if (rest) *sum += v;
    rest &= rest - 1;
  }
}

template <int table, class Source>
static __global__ void __launch_bounds__(CAMG_THREADS)
  CAMGSizes(const __grid_constant__ Source s, PetscInt m, CAMGRowList list, PetscInt *__restrict__ size, CAMGRowList next)
{
  __shared__ int keys[CAMG_THREADS / 32 * table];
  const int      lane = static_cast<int>(threadIdx.x) % 32;
  const PetscInt n = list.row ? *list.n : m, step = static_cast<PetscInt>(gridDim.x * (CAMG_THREADS / 32));
  int           *key = keys + static_cast<int>(threadIdx.x) / 32 * table;

  for (PetscInt at = static_cast<PetscInt>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / 32); at < n; at += step) {
    const PetscInt r     = list.row ? list.row[at] : at;
    int            count = 0;
    bool           fits = s.End(r) - s.Begin(r) <= CAMG_ITEMS, started = false;

    if (fits) {
      fits  = CAMGVisit(s, r, lane, [&](const CAMGLaneEntry &entry) {
        if (entry.only) {
          count = entry.head;
          return true;
        }
        for (int t = lane; t < table && !started; t += 32) key[t] = CAMG_EMPTY;
        started = true;
        __syncwarp();
        return __all_sync(CAMG_ALL, !entry.head || CAMGInsert<table>(key, entry.c, &count) >= 0) != 0;
      });
      count = CAMGSum<32>(CAMG_ALL, count);
    }
    if (lane == 0 && fits) size[r] = count;
    if (lane == 0 && !fits) CAMGAppend(r, next.n, next.row);
    __syncwarp();
    if (n - at <= step) break;
  }
}

template <int table, class Source>
static __global__ void __launch_bounds__(CAMG_THREADS) CAMGNumbers(const __grid_constant__ Source s, PetscInt m, CAMGRowList list,
                                                                   const PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscScalar *__restrict__ a)
{
  __shared__ int      keys[CAMG_THREADS / 32 * table];
  __shared__ char     memory[CAMG_THREADS / 32 * table * sizeof(PetscScalar)] __attribute__((aligned(16)));
  const int           lane = static_cast<int>(threadIdx.x) % 32;
  const PetscInt      n = list.row ? *list.n : m, step = static_cast<PetscInt>(gridDim.x * (CAMG_THREADS / 32));
  int                *key   = keys + static_cast<int>(threadIdx.x) / 32 * table;
  volatile PetscReal *value = reinterpret_cast<PetscReal *>(memory) + static_cast<int>(threadIdx.x) / 32 * table * CAMG_PARTS;
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

  for (PetscInt at = static_cast<PetscInt>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / 32); at < n; at += step) {
    const PetscInt r = list.row ? list.row[at] : at, first = i[r];
    int            found = 0, ignored = 0;
    bool           started = false;

    if (i[r + 1] - first <= table && s.End(r) - s.Begin(r) <= CAMG_ITEMS) {
      (void)CAMGVisit(s, r, lane, [&](const CAMGLaneEntry &entry) {
        PetscScalar sum = 0;

        if (entry.only) {
          int rank = 0;

          if constexpr (Source::numbers) CAMGAddPeers(entry, &sum);
          for (unsigned int heads = __ballot_sync(CAMG_ALL, entry.head); heads; heads &= heads - 1)
            rank += __shfl_sync(CAMG_ALL, entry.c, __ffs(static_cast<int>(heads)) - 1) < entry.c;
          if (entry.head) {
            j[first + rank] = entry.c;
            if constexpr (Source::numbers) a[first + rank] = sum;
          }
          return true;
        }
        for (int t = lane; t < table && !started; t += 32) {
          key[t] = CAMG_EMPTY;
          if constexpr (Source::numbers) put(t, 0);
        }
        started = true;
        __syncwarp(); /* the last entries may have the same columns */
        const int p = entry.head ? CAMGInsert<table>(key, entry.c, &ignored) : 0;

        if constexpr (Source::numbers) {
          if (entry.head) sum = get(p);
          CAMGAddPeers(entry, &sum);
          if (entry.head) put(p, sum);
        }
        return true;
      });
      __syncwarp();
      /* moves used places to the front */
      for (int t = lane; started && t < table; t += 32) {
        const int          c    = key[t];
        const PetscScalar  v    = Source::numbers ? get(t) : PetscScalar(0);
        const unsigned int used = __ballot_sync(CAMG_ALL, c != CAMG_EMPTY);

        if (c != CAMG_EMPTY) {
          const int p = found + __popc(used & ((1u << lane) - 1));

          key[p] = c;
          if constexpr (Source::numbers) put(p, v);
        }
        found += __popc(used);
        __syncwarp();
      }
      for (int p = lane; p < found; p += 32) {
        const int c    = key[p];
        int       rank = 0;

        for (int q = 0; q < found; q++) rank += key[q] < c;
        j[first + rank] = c;
        if constexpr (Source::numbers) a[first + rank] = get(p);
      }
    }
    __syncwarp();
    if (n - at <= step) break;
  }
}

/* ------------------------------------------------------------ long rows */

/* All threads of a block: visit(active, factor, q) for the entries of a row, in the order of the threads */
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
      visit(active, item.factor, item.first + p - offset[low]);
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

    CAMGVisitByBlock(s, list.row[at], [&](bool active, PetscScalar, PetscInt q) {
      if (active) count += CAMGMark(d.bits, s.Column(q));
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

    CAMGVisitByBlock(s, list.row[at], [&](bool active, PetscScalar factor, PetscInt q) {
      const PetscInt c = active ? s.Column(q) : -1;

      if (active) (void)CAMGMark(d.bits, c);
      if constexpr (Source::numbers) CAMGInOrder(d.owner, c, [&]() { d.value[c] += s.Number(factor, q); });
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
  sum = CAMGSum<32>(CAMG_ALL, sum);
  if (threadIdx.x % 32 == 0 && sum) atomicAdd(total, sum);
}

/* Rows that the numbers of a stage leave to the next one, or of the second table to dense arrays */
template <class Source>
static __global__ void CAMGList(const __grid_constant__ Source s, PetscInt m, const PetscInt *__restrict__ i, int table, CAMGRowList next, CAMGRowList last)
{
  CAMG_FOR_ALL(r, m)
  {
    const PetscInt size  = i[r + 1] - i[r];
    const bool     items = s.End(static_cast<PetscInt>(r)) - s.Begin(static_cast<PetscInt>(r)) <= CAMG_ITEMS;

    if (table < CAMG_TABLE && !(items && size <= table)) CAMGAppend(static_cast<PetscInt>(r), next.n, next.row);
    if (!(items && size <= CAMG_TABLE)) CAMGAppend(static_cast<PetscInt>(r), last.n, last.row);
  }
}

/* Launches kernel<table> of a stage */
  #define CAMG_STAGE(stage, kernel, most, ...)                                                            \
    do {                                                                                                  \
      const unsigned int blocks_ = PetscMin(CAMGBlocks(static_cast<PetscInt64>(most) * 32), CAMG_BLOCKS); \
      if ((stage) == 0) kernel<64><<<blocks_, CAMG_THREADS, 0, stream>>>(__VA_ARGS__);                    \
      else if ((stage) == 1) kernel<256><<<blocks_, CAMG_THREADS, 0, stream>>>(__VA_ARGS__);              \
      else kernel<CAMG_TABLE><<<blocks_, CAMG_THREADS, 0, stream>>>(__VA_ARGS__);                         \
      PetscCallCUDA(cudaGetLastError());                                                                  \
    } while (0)

  #define CAMG_LISTED 4096 /* rows of a list that are worked on at the same time */

/* The stage for rows with this number of entries on average */
static inline int CAMGStage(double entries)
{
  return entries <= 640 ? 0 : (entries <= 5000 ? 1 : 2);
}

/*
   C [m][n] of a source, with room for blocks of numbers; waits once. C->i NULL, or the starts of rows of C, from an
   earlier product of the same patterns, with C->nz
*/
template <class Source>
static PetscErrorCode CAMGMultiply(cudaStream_t stream, const Source &s, PetscInt m, PetscInt n, PetscInt rb, PetscInt cb, int stage, CAMGMatrix *C)
{
  const CAMGRowList all   = {nullptr, nullptr};
  const bool        known = C->i;
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
  if (!known) PetscCall(CAMGAllocate(stream, static_cast<size_t>(m) + 1, &C->i));
  PetscCall(CAMGZeros(stream, 1, &there));
  for (int k = 0; k < 2; k++) {
    next[k].n = &there->n[k];
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(m), &next[k].row));
  }
  if (known) {
    CAMGList<<<CAMGBlocks(m), CAMG_THREADS, 0, stream>>>(s, m, C->i, stage == 0 ? 64 : (stage == 1 ? 256 : CAMG_TABLE), next[0], next[1]);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(CAMGGet(stream, 1, there, &counts));
  } else {
    CAMG_STAGE(stage, CAMGSizes, m, s, m, all, C->i, next[stage == 2]);
    if (stage < 2) CAMG_STAGE(2, CAMGSizes, PetscMin(m, CAMG_LISTED), s, m, next[0], C->i, next[1]);
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
  }
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->nz), &C->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->nz) * rb * cb, &C->a));
  CAMG_STAGE(stage, CAMGNumbers, m, s, m, all, C->i, C->j, C->a);
  if (counts.n[0]) CAMG_STAGE(2, CAMGNumbers, counts.n[0], s, m, next[0], C->i, C->j, C->a);
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
