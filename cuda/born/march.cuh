/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Steps in three dimensions and single precision, or whole numbers, from compute capability 9.0 on. A block has a tile
   of x and y, and marches along z through a part of the planes. The copying warp copies tiles into rings of shared
   memory, by tensor maps, which put zeros where no node exists. Tiles are u with the neighbours in x and y, and the
   remaining inputs of a plane. All other warps sum. Registers hold u of the planes that the stencil reaches; the ring
   holds u of the middle plane. Planes from the middle to the next arrival stay in the ring, since each becomes the
   middle plane. Warps wait for planes, never for warps.
*/

#include <cuda.h>
#include <cuda/ptx>
#include <cstdint>
#include <type_traits>
#include "node.cuh"

#define BORN_WARP 32
#ifndef BORN_ONCE
  #define BORN_ONCE true
#endif

/* Of fields and of further data of a plane; extra: scatter, or the image */
struct BornMaps {
  CUtensorMap u, old, V, w, wold, extra;
};

/* How a kernel divides the grid: N nodes along x per thread, TX x TY threads that sum, planes in the rings of u and of
   further data, blocks per multiprocessor */
template <int N_, int TX_, int TY_, int SU_, int SA_, int blocks_>
struct BornShape {
  static constexpr int N = N_, TX = TX_, TY = TY_, SU = SU_, SA = SA_, blocks = blocks_, threads = TX * TY + BORN_WARP, warps = TX * TY / BORN_WARP;
};

/*
   V of 16 bits or of 32, a second field w or none, the role of u for w, and whether L u is rounded and stored, which
   takes registers
*/
template <class T_, class V_, int R_, bool both_, BornExtra extra_, bool stores_, class Shape>
struct BornKind {
  using T                      = T_;
  using V                      = V_;
  using S                      = Shape;
  static constexpr int       R = R_, fields = both_ ? 2 : 1;
  static constexpr bool      both = both_, stores = stores_;
  static constexpr BornExtra extra = extra_;
  /* room at each side of a line, a multiple of 16 bytes; a plane of u, lines with room, a multiple of 128 bytes */
  static constexpr int X = (R + 3) / 4 * 4, line = S::TX * S::N + 2 * X, lines = S::TY + 2 * R, plane = (line * lines + 31) / 32 * 32,
                       tile = S::TX * S::N * S::TY;
  static constexpr int mine = fields + (extra != BORN_NOTHING), others = tile * (mine * 4 + static_cast<int>(sizeof(V))); /* bytes of a stage of further data */
  static constexpr int bytes = S::SU * fields * plane * 4 + S::SA * others + 2 * (S::SU + S::SA) * 8;
  static_assert(both || extra == BORN_NOTHING);
  static_assert(S::SU >= R + 2 && S::SA >= 2 && others % 128 == 0);
};

static __device__ __forceinline__ void BornWait(uint64_t *barrier, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
  while (!cuda::ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
#endif
}

/* once: the copy is not read again in this step, and may leave the second-level cache first */
template <bool once>
static __device__ __forceinline__ void BornCopyTile(void *to, const CUtensorMap *map, int x, int y, int z, uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
  const uint32_t t = static_cast<uint32_t>(__cvta_generic_to_shared(to)), b = static_cast<uint32_t>(__cvta_generic_to_shared(full));

  if constexpr (once) {
    uint64_t policy;

    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(t),
                 "l"(map), "r"(x), "r"(y), "r"(z), "r"(b), "l"(policy)
                 : "memory");
  } else {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(t), "l"(map), "r"(x),
                 "r"(y), "r"(z), "r"(b)
                 : "memory");
  }
#endif
}

/* The copying warp, of which a single thread works */
template <class K>
static __device__ __forceinline__ void BornCopies(const BornArguments<float> &a, const BornMaps &maps, const int at[2], int z0, int z1, char *us, char *as,
                                                  uint64_t *ufull, uint64_t *ufree, uint64_t *afull, uint64_t *afree)
{
#if __CUDA_ARCH__ >= 900
  using S = typename K::S;

  for (int p = 0; p < z1 - z0 + K::R; p++) {
    const int stage = p % S::SU, z = p - K::R, other = z % S::SA;
    char     *to = us + static_cast<size_t>(stage) * K::fields * K::plane * 4;

    if (p >= S::SU) BornWait(&ufree[stage], (p / S::SU - 1) & 1);
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, &ufull[stage],
                                         K::fields * K::line * K::lines * 4);
    BornCopyTile<false>(to, &maps.u, at[0] - K::X, at[1] - K::R, z0 + p + a.halo, &ufull[stage]);
    if constexpr (K::both) BornCopyTile<false>(to + K::plane * 4, &maps.w, at[0] - K::X, at[1] - K::R, z0 + p + a.halo, &ufull[stage]);
    if (z < 0) continue;
    to = as + static_cast<size_t>(other) * K::others;
    if (z >= S::SA) BornWait(&afree[other], (z / S::SA - 1) & 1);
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, &afull[other], K::others);
    BornCopyTile<BORN_ONCE>(to, &maps.old, at[0], at[1], z0 + z + a.halo, &afull[other]);
    if constexpr (K::both) BornCopyTile<BORN_ONCE>(to + K::tile * 4, &maps.wold, at[0], at[1], z0 + z + a.halo, &afull[other]);
    if constexpr (K::extra != BORN_NOTHING) BornCopyTile<BORN_ONCE>(to + K::fields * K::tile * 4, &maps.extra, at[0], at[1], z0 + z + a.halo, &afull[other]);
    BornCopyTile<BORN_ONCE>(to + K::mine * K::tile * 4, &maps.V, at[0], at[1], z0 + z + a.halo, &afull[other]);
  }
#endif
}

template <int N, class V>
static __device__ __forceinline__ void BornReadV(const BornArguments<float> &a, const V *from, float to[N])
{
  const BornVector<V, N> v = *reinterpret_cast<const BornVector<V, N> *>(from);

#pragma unroll
  for (int i = 0; i < N; i++) to[i] = BornVOf(a, v.v[i]);
}

/* Stores numbers that the step does not read again */
template <int N, class T>
static __device__ __forceinline__ void BornStream(T *to, const BornVector<T, N> &v)
{
  static_assert(sizeof(T) == 4 && (N == 2 || N == 4));
  if constexpr (N == 2) __stcs(reinterpret_cast<int2 *>(to), *reinterpret_cast<const int2 *>(&v));
  else __stcs(reinterpret_cast<int4 *>(to), *reinterpret_cast<const int4 *>(&v));
}

/* Stores the numbers, of N, at nodes of the step */
template <int N, class T>
static __device__ __forceinline__ void BornStore(const BornArguments<float> &a, bool in, bool whole, int x, T *to, const BornVector<T, N> &v)
{
  if (!in) return;
  if (whole) BornStream(to, v);
  else {
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (x + i >= a.from[0] && x + i < a.to[0]) to[i] = v.v[i];
    }
  }
}

/* new at N nodes */
template <int N, class T>
static __device__ __forceinline__ void BornNew(const BornArguments<float> &a, bool in, bool whole, int x, T *to, const BornVector<T, N> &u,
                                               const BornVector<T, N> &old, const float V[N], bool damp, float syz, const float sx[N], const float lu[N],
                                               unsigned *largest)
{
  BornVector<T, N> next;

  if (damp) {
#pragma unroll
    for (int i = 0; i < N; i++) next.v[i] = BornUpdateOf(u.v[i], old.v[i], V[i], syz + sx[i], lu[i]);
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) next.v[i] = BornUpdateOf(u.v[i], old.v[i], V[i], 0.f, lu[i]);
  }
#pragma unroll
  for (int i = 0; i < N; i++) BornNoteLargest(next.v[i], largest);
  BornStore<N, T>(a, in, whole, x, to, next);
}

/* out = L u, if asked */
template <int N>
static __device__ __forceinline__ void BornPut(void *out, ptrdiff_t to, bool in, const float lu[N])
{
  BornVector<float, N> v;

  if (!out || !in) return;
#pragma unroll
  for (int i = 0; i < N; i++) v.v[i] = lu[i];
  BornStream(static_cast<float *>(out) + to, v);
}

/* image += lu w */
template <int N>
static __device__ __forceinline__ void BornAddImage(const float *from, void *image, ptrdiff_t at, bool in, const float lu[N], const BornVector<float, N> &w)
{
  BornVector<float, N> sum = *reinterpret_cast<const BornVector<float, N> *>(from);

#pragma unroll
  for (int i = 0; i < N; i++) sum.v[i] = fmaf(lu[i], w.v[i], sum.v[i]);
  if (in) BornStream(static_cast<float *>(image) + at, sum);
}

/* L u at the nodes of a thread: t is the first node in the plane, q the column in the thread's registers */
template <class K, class T>
static __device__ __forceinline__ void BornStar(const BornArguments<float> &a, const T *t, const BornVector<T, K::S::N> *q, float *lu)
{
  constexpr int N = K::S::N, R = K::R, X = (R + N - 1) / N * N;
  using Line = BornVector<T, N>;
  T e[N + 2 * X];

#pragma unroll
  for (int b = 0; b < X / N; b++) {
    const Line before = *reinterpret_cast<const Line *>(t - X + b * N), behind = *reinterpret_cast<const Line *>(t + N + b * N);

#pragma unroll
    for (int i = 0; i < N; i++) {
      e[b * N + i]         = before.v[i];
      e[X + N + b * N + i] = behind.v[i];
    }
  }
#pragma unroll
  for (int i = 0; i < N; i++) {
    e[X + i] = q[R].v[i];
    lu[i]    = a.centre * BornNumberOf(q[R].v[i]);
  }
#pragma unroll
  for (int k = 1; k <= R; k++) {
    const Line above = *reinterpret_cast<const Line *>(t - k * K::line), below = *reinterpret_cast<const Line *>(t + k * K::line);

#pragma unroll
    for (int i = 0; i < N; i++) {
      lu[i] = fmaf(a.weight[0][k - 1], BornPair(e[X + i - k], e[X + i + k]), lu[i]);
      lu[i] = fmaf(a.weight[1][k - 1], BornPair(above.v[i], below.v[i]), lu[i]);
      lu[i] = fmaf(a.weight[2][k - 1], BornPair(q[R - k].v[i], q[R + k].v[i]), lu[i]);
    }
  }
}

template <class K>
__global__ void __launch_bounds__(K::S::threads, K::S::blocks) BornMarch(const __grid_constant__ BornArguments<float> a, const __grid_constant__ BornMaps maps)
{
#if __CUDA_ARCH__ >= 900
  using S             = typename K::S;
  using T             = typename K::T;
  constexpr int     N = S::N, R = K::R;
  extern __shared__ __align__(128) char shared[];
  char *const                           us = shared;
  char *const                           as = us + S::SU * K::fields * K::plane * 4;
  uint64_t *const ufull = reinterpret_cast<uint64_t *>(as + S::SA * K::others), *const ufree = ufull + S::SU, *const afull = ufree + S::SU,
                  *const afree = afull + S::SA;
  const int at[2] = {a.from[0] / BORN_ALIGN * BORN_ALIGN + static_cast<int>(blockIdx.x) * S::TX * N, a.from[1] + static_cast<int>(blockIdx.y) * S::TY};
  const int z0 = a.from[2] + static_cast<int>(blockIdx.z) * a.chunk, z1 = min(z0 + a.chunk, a.to[2]);
  const int warp = static_cast<int>(threadIdx.x) / BORN_WARP, lane = static_cast<int>(threadIdx.x) % BORN_WARP;

  if (threadIdx.x == 0) {
    for (int s = 0; s < S::SU; s++) {
      cuda::ptx::mbarrier_init(&ufull[s], 1);
      cuda::ptx::mbarrier_init(&ufree[s], S::warps);
    }
    for (int s = 0; s < S::SA; s++) {
      cuda::ptx::mbarrier_init(&afull[s], 1);
      cuda::ptx::mbarrier_init(&afree[s], S::warps);
    }
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  __syncthreads();
  if (warp == S::warps) {
    if (lane == 0) BornCopies<K>(a, maps, at, z0, z1, us, as, ufull, ufree, afull, afree);
    return;
  }

  const int            tx = static_cast<int>(threadIdx.x) % S::TX, ty = static_cast<int>(threadIdx.x) / S::TX, x = at[0] + tx * N, y = at[1] + ty;
  const bool           in = x + N > a.from[0] && x < a.to[0] && y < a.to[1], whole = x >= a.from[0] && (x + N <= a.to[0] || a.to[0] == a.n[0]);
  const int            own = (ty + R) * K::line + K::X + tx * N, place = ty * S::TX * N + tx * N;
  const ptrdiff_t      node = a.stride[0] * y + x; /* in the plane */
  float                sx[N];
  bool                 dampx   = false;
  const float          sy      = BornSpongeAt(a, 1, y);
  unsigned             largest = 0;
  BornVector<T, N>     q[2 * R + 1];
  BornVector<float, N> p[2 * R + 1];

  #pragma unroll
  for (int i = 0; i < N; i++) {
    sx[i] = BornSpongeAt(a, 0, x + i);
    dampx = dampx || sx[i] > 0;
  }
  #pragma unroll
  for (int k = 0; k < R; k++) {
    const ptrdiff_t from = node + a.stride[1] * (z0 + k - R);

    q[k] = BornVector<T, N>();
    p[k] = BornVector<float, N>();
    if (in) q[k] = *reinterpret_cast<const BornVector<T, N> *>(static_cast<const T *>(a.u) + from);
    if (K::both && in) p[k] = *reinterpret_cast<const BornVector<float, N> *>(static_cast<const float *>(a.w) + from);
  }
  #pragma unroll
  for (int k = 0; k < R; k++) {
    const char *plane = us + k * K::fields * K::plane * 4;

    BornWait(&ufull[k], 0);
    q[R + k] = *reinterpret_cast<const BornVector<T, N> *>(reinterpret_cast<const T *>(plane) + own);
    if constexpr (K::both) p[R + k] = *reinterpret_cast<const BornVector<float, N> *>(reinterpret_cast<const float *>(plane) + K::plane + own);
  }

  int last = R % S::SU, lastparity = 0, middle = 0, other = 0, parity = 0;

  for (int z = z0; z < z1; z++) {
    const char      *next = us + last * K::fields * K::plane * 4, *plane = us + middle * K::fields * K::plane * 4, *rest = as + other * K::others;
    const ptrdiff_t  to   = node + a.stride[1] * z;
    const float      syz  = BornSpongeAt(a, 2, z) + sy;
    const bool       damp = dampx || syz > 0;
    float            lu[N], V[N];
    BornVector<T, N> old;

    BornWait(&ufull[last], lastparity);
    BornWait(&afull[other], parity);
    q[2 * R] = *reinterpret_cast<const BornVector<T, N> *>(reinterpret_cast<const T *>(next) + own);
    if constexpr (K::both) p[2 * R] = *reinterpret_cast<const BornVector<float, N> *>(reinterpret_cast<const float *>(next) + K::plane + own);
    old = *reinterpret_cast<const BornVector<T, N> *>(reinterpret_cast<const T *>(rest) + place);
    BornReadV<N, typename K::V>(a, reinterpret_cast<const typename K::V *>(rest + K::mine * K::tile * 4) + place, V);
    BornStar<K, T>(a, reinterpret_cast<const T *>(plane) + own, q, lu);
    BornPut<N>(a.out, to, in, lu);
    BornNew<N>(a, in, whole, x, static_cast<T *>(a.old) + to, q[R], old, V, damp && a.sponge, syz, sx, lu, &largest);
    if constexpr (K::stores) {
  #pragma unroll
      for (int i = 0; i < N; i++) lu[i] = x + i < a.n[0] ? lu[i] : 0.f;
      BornRoundBlock<N>(a.store, x, y, z, in, lu);
    }
    if constexpr (K::both) {
      float                lw[N];
      BornVector<float, N> wold = *reinterpret_cast<const BornVector<float, N> *>(reinterpret_cast<const float *>(rest) + K::tile + place);

      BornStar<K, float>(a, reinterpret_cast<const float *>(plane) + K::plane + own, p, lw);
      if constexpr (K::extra == BORN_IMAGE) BornAddImage<N>(reinterpret_cast<const float *>(rest) + K::fields * K::tile + place, a.image, to, in, lu, p[R]);
      if constexpr (K::extra == BORN_SCATTER) {
        const BornVector<float, N> scatter = *reinterpret_cast<const BornVector<float, N> *>(reinterpret_cast<const float *>(rest) + K::fields * K::tile +
                                                                                             place);

  #pragma unroll
        for (int i = 0; i < N; i++) lw[i] = fmaf(scatter.v[i], lu[i], lw[i]);
      }
      BornNew<N>(a, in, whole, x, static_cast<float *>(a.wold) + to, p[R], wold, V, damp, syz, sx, lw, &largest);
    }
  #pragma unroll
    for (int k = 0; k < 2 * R; k++) {
      q[k] = q[k + 1];
      if constexpr (K::both) p[k] = p[k + 1];
    }
    __syncwarp();
    if (lane == 0) {
      (void)cuda::ptx::mbarrier_arrive(&ufree[middle]);
      (void)cuda::ptx::mbarrier_arrive(&afree[other]);
    }
    if (++last == S::SU) {
      last = 0;
      lastparity ^= 1;
    }
    if (++middle == S::SU) middle = 0;
    if (++other == S::SA) {
      other = 0;
      parity ^= 1;
    }
  }
  if constexpr (std::is_same<T, int32_t>::value) BornPutLargest(largest, a.largest);
#endif
}
