/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Rows of P = T - damping F T with one column per aggregate, of which the largest entries stay:
   src/pc/camg/interpolate.c
*/

#include "dense.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
struct SmoothRows {
  CAMGGraph          F;
  const PetscReal   *damping;
  const PetscScalar *T; /* NULL: ones */
  const PetscInt    *agg;
  PetscInt           most;

  /* A row has its own vertex as item 0, then its strong entries */
  __device__ __forceinline__ PetscInt Items(PetscInt r) const
  {
    return damping[r] != 0 ? F.strong.i[r + 1] - F.strong.i[r] + 1 : 1;
  }
  __device__ __forceinline__ PetscInt Aggregate(PetscInt r, PetscInt item) const
  {
    return agg[item ? F.strong.j[F.strong.i[r] + item - 1] : r];
  }
  __device__ __forceinline__ PetscScalar Value(PetscInt r, PetscInt item) const
  {
    const PetscInt    k = F.strong.i[r] + item - 1, c = item ? F.strong.j[k] : r;
    const PetscScalar t = T ? T[c] : PetscScalar(1);

    if (item) return CAMGTimes(CAMGTimes(-damping[r], F.strong.a[k]), t);
    return damping[r] != 0 ? t + CAMGTimes(CAMGTimes(-damping[r], F.d[r]), t) : t;
  }
  /* The factor of kept entries, which restores the sum of all */
  __device__ __forceinline__ PetscScalar Restore(PetscScalar all, PetscScalar kept) const
  {
    return CAMGAbs(kept) > CAMGTimes(static_cast<PetscReal>(0.1), CAMGAbs(all)) ? PetscScalar(all / kept) : PetscScalar(1);
  }
};

/* Groups of lanes, an item for each. fill false: sizes of rows. All lanes of a warp go through loops together */
template <int lanes, bool fill>
static __global__ void __launch_bounds__(CAMG_THREADS)
  SmoothShort(const __grid_constant__ SmoothRows s, CAMGRowList next, PetscInt *i, PetscInt *__restrict__ j, PetscScalar *__restrict__ a)
{
  const CAMGGroupOf<lanes> g;
  const unsigned int       group = threadIdx.x % 32 / lanes, shift = group * lanes;
  const auto               those = [&](bool on) { return __ballot_sync(CAMG_ALL, on) >> shift & CAMGFirst<lanes>(); };
  const auto               first = [](unsigned int bits) { return bits ? __ffs(static_cast<int>(bits)) - 1 : 0; };
  const bool               there = g.row < s.F.strong.m;
  const PetscInt           r = there ? static_cast<PetscInt>(g.row) : 0, items = there ? s.Items(r) : 0;
  const bool               mine = there && items <= lanes, item = mine && g.lane < items;
  const PetscInt           c     = item ? s.Aggregate(r, g.lane) : -1;
  const PetscScalar        v     = c >= 0 ? s.Value(r, g.lane) : PetscScalar(0);
  const unsigned int       peers = __match_any_sync(CAMG_ALL, static_cast<unsigned long long>(group) << 32 | static_cast<unsigned int>(c)) >> shift &
                             CAMGFirst<lanes>();
  const bool   head  = c >= 0 && g.lane == first(peers);
  unsigned int heads = those(head), rest = head ? peers : 0;
  const bool   cut   = __popc(heads) > s.most;
  PetscScalar  w     = 0;
  bool         stays = head;

  if (!fill && there && !mine && g.lane == 0) CAMGAppend(r, next.n, next.row);
  while (__any_sync(CAMG_ALL, rest != 0)) {
    const PetscScalar other = CAMGShuffle<lanes>(CAMG_ALL, v, first(rest));

    if (rest) w += other;
    rest &= rest - 1;
  }
  if (__any_sync(CAMG_ALL, cut)) {
    const PetscReal size  = CAMGAbs(w);
    PetscScalar     total = 0, kept = 0;
    int             rank = 0;

    for (unsigned int left = cut ? heads : 0; __any_sync(CAMG_ALL, left != 0); left &= left - 1) {
      const int         q     = first(left);
      const PetscScalar other = CAMGShuffle<lanes>(CAMG_ALL, w, q);

      if (!left) continue;
      total += other;
      rank += CAMGAbs(other) > size || (CAMGAbs(other) == size && q < g.lane);
    }
    stays = head && (!cut || rank < s.most);
    heads = those(stays);
    for (unsigned int left = cut ? heads : 0; __any_sync(CAMG_ALL, left != 0); left &= left - 1) {
      const PetscScalar other = CAMGShuffle<lanes>(CAMG_ALL, w, first(left));

      if (left) kept += other;
    }
    if (cut) w = CAMGTimes(w, s.Restore(total, kept));
  }
  if constexpr (fill) {
    PetscInt p = mine ? i[r] : 0;

    for (unsigned int left = heads; __any_sync(CAMG_ALL, left != 0); left &= left - 1) {
      const PetscInt other = CAMGShuffle<lanes>(CAMG_ALL, c, first(left));

      p += left && other < c;
    }
    if (!stays) return;
    j[p] = c;
    a[p] = w;
  } else if (mine && g.lane == 0) i[r] = __popc(heads);
}

  #define SMOOTH_EACH (PetscDefined(USE_COMPLEX) ? 4 : 8) /* items of a lane */

/* Warps for rows of a list */
template <bool fill>
static __global__ void __launch_bounds__(CAMG_THREADS)
  SmoothListed(const __grid_constant__ SmoothRows s, CAMGRowList list, CAMGRowList next, PetscInt *i, PetscInt *__restrict__ j, PetscScalar *__restrict__ a)
{
  constexpr int       lanes = 32, each = SMOOTH_EACH, room = lanes * each;
  __shared__ PetscInt gs[CAMG_THREADS / lanes * room];
  __shared__ char     memory[2 * CAMG_THREADS / lanes * room * sizeof(PetscScalar)] __attribute__((aligned(16)));
  const int           lane = static_cast<int>(threadIdx.x) % lanes, group = static_cast<int>(threadIdx.x) / lanes;
  const unsigned int  mask = CAMGMask<lanes>();
  PetscInt *const     g    = gs + group * room; /* aggregate of an item; later -1 unless first of its aggregate, and kept */
  PetscScalar *const v = reinterpret_cast<PetscScalar *>(memory) + 2 * group * room, *const w = v + room; /* w: sums */
  const PetscInt n = *list.n;

  CAMG_FOR_LISTED(at, lanes, n)
  {
    if (at >= n) continue;
    const PetscInt r = list.row[at], items = s.Items(r);
    unsigned int   gone = 0; /* bit e: item lane + lanes e is to be removed */
    PetscScalar    all = 0, kept = 0;
    int            found = 0, count = 0;

    if (items > room) {
      if (!fill && lane == 0) CAMGAppend(r, next.n, next.row);
      continue;
    }
    const auto remove = [&]() {
      __syncwarp(mask);
      for (int e = 0; e < each; e++) {
        if (gone >> e & 1) g[lane + lanes * e] = -1;
      }
      gone = 0;
      __syncwarp(mask);
    };

    __syncwarp(mask);
    for (int t = lane; t < items; t += lanes) {
      g[t] = s.Aggregate(r, t);
      v[t] = s.Value(r, t);
    }
    __syncwarp(mask);
    for (int e = 0, t = lane; t < items; e++, t += lanes) {
      PetscScalar sum   = 0;
      bool        first = g[t] >= 0;

      for (int q = 0; q < t && first; q++) first = g[q] != g[t];
      for (int q = t; q < items && first; q++) {
        if (g[q] == g[t]) sum += v[q];
      }
      w[t] = sum;
      if (!first) gone |= 1u << e;
    }
    remove();
    for (int q = 0; q < items; q++) {
      if (g[q] < 0) continue;
      all += w[q];
      found++;
    }
    kept = all;
    if (found > s.most) {
      for (int e = 0, t = lane; t < items; e++, t += lanes) {
        const PetscReal size = CAMGAbs(w[t]);
        int             rank = 0;

        for (int q = 0; q < items && g[t] >= 0; q++) {
          const PetscReal other = CAMGAbs(w[q]);

          rank += g[q] >= 0 && (other > size || (other == size && q < t));
        }
        if (rank >= s.most) gone |= 1u << e;
      }
      remove();
      kept = 0;
      for (int q = 0; q < items; q++) {
        if (g[q] >= 0) kept += w[q];
      }
      const PetscScalar factor = s.Restore(all, kept);

      __syncwarp(mask); /* all lanes have added the numbers */
      for (int t = lane; t < items; t += lanes) w[t] = CAMGTimes(w[t], factor);
    }
    __syncwarp(mask);
    for (int t = lane; t < items; t += lanes) {
      if (g[t] < 0) continue;
      count++;
      if constexpr (fill) {
        PetscInt p = i[r];

        for (int q = 0; q < items; q++) p += g[q] >= 0 && g[q] < g[t];
        j[p] = g[t];
        a[p] = w[t];
      }
    }
    __syncwarp(mask);
    if constexpr (!fill) {
      count = CAMGSum<lanes>(mask, count);
      if (lane == 0) i[r] = count;
    }
  }
}

/* ------------------------------------------------------------ long rows */

/* All threads of a block: the sum of numbers of items in their order, in all threads */
template <class F>
static __device__ __forceinline__ PetscScalar SmoothOrderedSum(PetscInt items, F f)
{
  __shared__ char    memory[(CAMG_THREADS + 1) * sizeof(PetscScalar)] __attribute__((aligned(16)));
  PetscScalar *const part = reinterpret_cast<PetscScalar *>(memory);

  __syncthreads();
  if (threadIdx.x == 0) part[CAMG_THREADS] = 0;
  for (PetscInt base = 0; base < items; base += CAMG_THREADS) {
    const PetscInt t = base + static_cast<PetscInt>(threadIdx.x);

    part[threadIdx.x] = t < items ? f(t) : PetscScalar(0);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int q = 0; q < CAMG_THREADS; q++) part[CAMG_THREADS] += part[q];
    }
    __syncthreads();
  }
  return part[CAMG_THREADS];
}

/* All threads of a block: the largest size, of equal ones that of the first item */
static __device__ __forceinline__ void SmoothLargest(PetscReal *size, PetscInt *item)
{
  __shared__ PetscReal sizes[CAMG_THREADS];
  __shared__ PetscInt  items[CAMG_THREADS];

  __syncthreads();
  sizes[threadIdx.x] = *size;
  items[threadIdx.x] = *item;
  __syncthreads();
  for (int half = CAMG_THREADS / 2; half > 0; half /= 2) {
    const int t = static_cast<int>(threadIdx.x), u = t + half;

    if (t < half && (sizes[u] > sizes[t] || (sizes[u] == sizes[t] && items[u] < items[t]))) {
      sizes[t] = sizes[u];
      items[t] = items[u];
    }
    __syncthreads();
  }
  *size = sizes[0];
  *item = items[0];
}

/* A block per row. first [n] per block: the first item of an aggregate, INT_MAX between rows */
template <bool fill>
static __global__ void __launch_bounds__(CAMG_THREADS)
  SmoothLong(const __grid_constant__ SmoothRows s, CAMGRowList list, CAMGDense dense, PetscInt *firsts, PetscInt *i, PetscInt *j, PetscScalar *a)
{
  const CAMGDense d     = CAMGDenseOf(dense);
  PetscInt *const first = firsts + static_cast<size_t>(blockIdx.x) * d.n;
  const PetscInt  n     = *list.n;

  for (PetscInt at = static_cast<PetscInt>(blockIdx.x); at < n; at += static_cast<PetscInt>(gridDim.x)) {
    const PetscInt r = list.row[at], items = s.Items(r), own = static_cast<PetscInt>(threadIdx.x);
    PetscReal      least  = -1;            /* what is kept: numbers above least, */
    PetscInt       last   = PETSC_INT_MAX; /* and numbers equal to it up to this item */
    PetscScalar    factor = 1;
    int            found  = 0, before;

    /* the aggregate of an item that is the first one of its aggregate */
    const auto aggregate = [&](PetscInt t) {
      const PetscInt g = s.Aggregate(r, t);

      return g >= 0 && first[g] == t ? g : -1;
    };
    const auto stays = [&](PetscInt t, PetscInt g) {
      const PetscReal size = CAMGAbs(d.value[g]);

      return size > least || (size == least && t <= last);
    };

    for (PetscInt base = 0; base < items; base += CAMG_THREADS) {
      const PetscInt t = base + own;
      const PetscInt g = t < items ? s.Aggregate(r, t) : -1;

      if (g >= 0) atomicMin(&first[g], t);
      CAMGInOrder(d.owner, g, [&]() { d.value[g] += s.Value(r, t); });
    }
    __syncthreads();
    for (PetscInt t = own; t < items; t += CAMG_THREADS) found += aggregate(t) >= 0;
    found = CAMGBlockScan(found, &before);
    if (found > s.most) {
      const PetscScalar all = SmoothOrderedSum(items, [&](PetscInt t) { return aggregate(t) >= 0 ? d.value[aggregate(t)] : PetscScalar(0); });

      for (PetscInt pass = 0; pass < s.most; pass++) {
        PetscReal best  = -1;
        PetscInt  tbest = PETSC_INT_MAX;

        for (PetscInt t = own; t < items; t += CAMG_THREADS) {
          const PetscInt  g    = aggregate(t);
          const PetscReal size = g >= 0 ? CAMGAbs(d.value[g]) : -1;

          if (size > best && (pass == 0 || size < least || (size == least && t > last))) {
            best  = size;
            tbest = t;
          }
        }
        SmoothLargest(&best, &tbest);
        least = best;
        last  = tbest;
      }
      factor = s.Restore(all, SmoothOrderedSum(items, [&](PetscInt t) {
                           const PetscInt g = aggregate(t);

                           return g >= 0 && stays(t, g) ? d.value[g] : PetscScalar(0);
                         }));
    }
    int count = 0;
    for (PetscInt t = own; t < items; t += CAMG_THREADS) {
      const PetscInt g = aggregate(t);

      if (g >= 0 && stays(t, g)) count += CAMGMark(d.bits, g);
    }
    count = CAMGBlockScan(count, &before);
    CAMGEmit(d, [&](int k, PetscInt g) {
      if (!fill) return;
      j[i[r] + k] = g;
      a[i[r] + k] = CAMGTimes(d.value[g], factor);
    });
    if (!fill && threadIdx.x == 0) i[r] = count;
    for (PetscInt t = own; t < items; t += CAMG_THREADS) {
      const PetscInt g = s.Aggregate(r, t);

      if (g < 0) continue;
      d.value[g] = 0;
      first[g]   = INT_MAX;
    }
    __syncthreads();
  }
}
#endif
