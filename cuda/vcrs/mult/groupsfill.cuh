/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Layout L3 with grouped columns (groups.cu): the arguments, the stages of a block, and the warps that fill stages and
   store y
*/

#include "../../common/barrier.cuh"
#include "../finish.cuh"

/* Group numbers that a thread reads ahead */
#define VCRS_GROUPS_AHEAD 16

struct GroupsArguments : L3Arguments {
  PetscInt        n, nwindows;
  const uint16_t *column, *group;
  const PetscInt *groupptr, *groupfirst;
  int             stages, teams;
  PetscInt        nwhole;  /* windows with gathered y: complete windows, if y is aligned */
  bool            sums;    /* the row sums of these windows are copied, too */
  bool            aligned; /* x is aligned to 16 bytes */

  /* Offsets in a stage, in bytes: x is at 0, followed by columns and entries. sigmaat = yat: row sums have no separate
     place */
  unsigned int slicesat, lengthsat, permat, exponentat, yat, sigmaat, stagebytes;
};

/* The barriers that groups.cu describes; the barriers "full" of a stage are a.stages apart */
struct Barriers {
  uint64_t *full, *empty, *done;

  static __host__ __device__ size_t CountBytes(int stages, int teams)
  {
    return sizeof(uint64_t) * static_cast<size_t>(stages) * static_cast<size_t>(teams + 2);
  }

  static __device__ __forceinline__ Barriers Find(const GroupsArguments &a, char *stages)
  {
    uint64_t *const full = reinterpret_cast<uint64_t *>(stages + a.stages * a.stagebytes);

    return Barriers{full, full + a.teams * a.stages, full + (a.teams + 1) * a.stages};
  }

  /* Initializes the barriers of a stage */
  __device__ __forceinline__ void Begin(const GroupsArguments &a, int stage) const
  {
#if __CUDA_ARCH__ >= 900
    /* 33 arrivals: the threads of the filling warp, and its bulk copies */
    for (int t = 0; t < a.teams; t++) cuda::ptx::mbarrier_init(full + stage + t * a.stages, 33);
    cuda::ptx::mbarrier_init(empty + stage, VCRS_WINDOW_SLICES);
    cuda::ptx::mbarrier_init(done + stage, VCRS_WINDOW_SLICES);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
#endif
  }
};

/* Parameters of the copies for a window, as loaded. The values are not used before their turn: each use would wait for
   the loads */
struct Window {
  PetscInt first;           /* first group of the window */
  PetscInt group, groupend; /* list of groups of the window, including the group of zeros */
  /* beginning of the entries of slice threadIdx.x % 32; lane VCRS_WINDOW_SLICES has the beginning of the next window */
  PetscInt64 value;

  static __device__ __forceinline__ Window Read(const GroupsArguments &a, PetscInt w)
  {
    Window window = Window{};

    if (w < a.nwindows) {
      window.first    = __ldg(a.groupfirst + w);
      window.group    = __ldg(a.groupptr + w);
      window.groupend = __ldg(a.groupptr + w + 1);
      window.value    = __ldg(a.sliceptr + min(a.nslices, w * VCRS_WINDOW_SLICES + min(static_cast<int>(threadIdx.x % 32), VCRS_WINDOW_SLICES)));
    }
    return window;
  }

  __device__ __forceinline__ int CountGroups() const
  {
    return static_cast<int>(groupend - group) - 1;
  }

  __device__ __forceinline__ const uint16_t *Groups(const GroupsArguments &a) const
  {
    return a.group + group + 1;
  }

  __device__ __forceinline__ PetscInt64 FirstColumn() const
  {
    return static_cast<PetscInt64>(VCRS_GROUP) * first;
  }

  /* Whether all groups of the window end inside x */
  __device__ __forceinline__ bool IsInside(const GroupsArguments &a) const
  {
    return a.n % VCRS_GROUP == 0 || CountGroups() <= 0 ||
           FirstColumn() + VCRS_GROUP * (static_cast<PetscInt64>(__ldg(Groups(a) + CountGroups() - 1)) + 1) <= a.n;
  }
};

/*
   A slice in its stage. Offsets in bytes: columns, entries, and row sums of the window. longest: length of the longest
   row, or -1 without a slice.
*/
struct Slice {
  unsigned int column, value, sigma;
  int          longest;
};

/*
   Copies x of a window's groups, after the zeros of the first group. allx: x of the first column; id[]: numbers of the
   first groups, a group per thread. A block waits for the copies, so common work is done once. Returns whether the
   copies are asynchronous.
*/
[[maybe_unused]] static __device__ __forceinline__ bool CopyGroups(const GroupsArguments &a, const Number *allx, const Window &window, const unsigned int id[],
                                                                   char *to)
{
#if __CUDA_ARCH__ >= 900
  /* pieces of 16 bytes per group; numbers per piece */
  constexpr int pieces = VCRS_GROUP * sizeof(Number) / 16, numbers = 16 / sizeof(Number);
  const int     lane = threadIdx.x % 32;

  if (a.aligned && window.IsInside(a)) {
    const int      n    = pieces * window.CountGroups() - lane;
    const Number  *x    = Whole(allx + (window.FirstColumn() + numbers * (lane % pieces)));
    const uint32_t base = SharedAddress(to) + 16 * (pieces + lane);
    const auto     copy = [&](int t, unsigned int group) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + 16 * t), "l"(x + VCRS_GROUP * group) : "memory");
    };

  #pragma unroll
    for (int t = 0; t < 32 * pieces * VCRS_GROUPS_AHEAD; t += 32) {
      const unsigned int group = __shfl_sync(0xffffffffu, id[t / (32 * pieces)], t / 32 % pieces * (32 / pieces) + lane / pieces);

      if (t < n) copy(t, group);
    }
    for (int t = 32 * pieces * VCRS_GROUPS_AHEAD; t < n; t += 32) copy(t, __ldg(window.Groups(a) + (t + lane) / pieces));
    return true;
  }

  Number *x = reinterpret_cast<Number *>(to) + VCRS_GROUP;

  for (int t = lane; t < VCRS_GROUP * window.CountGroups(); t += 32) {
    const PetscInt64 column = window.FirstColumn() + VCRS_GROUP * static_cast<PetscInt64>(__ldg(window.Groups(a) + t / VCRS_GROUP)) + t % VCRS_GROUP;

    if (column < a.n) x[t] = Read(allx + column);
  }
#endif
  return false;
}

[[maybe_unused]] static __device__ __forceinline__ void ReadGroups(const GroupsArguments &a, const Window &window, unsigned int id[])
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int k = 0; k < VCRS_GROUPS_AHEAD; k++) id[k] = ReadOnceIf(lane + 32 * k < window.CountGroups(), window.Groups(a) + lane + 32 * k);
}

[[maybe_unused]] static __device__ __forceinline__ void CopyBulk(void *to, const void *from, unsigned int bytes, uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
  if (bytes) cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to, from, bytes, full);
#endif
}

/* Bytes of a window besides x and entries: lengths of rows if the padding is nonzero, order of rows, row sums and
   exponents */
struct Rest {
  unsigned int lengths, perm, exponents, sigma;

  template <class V, bool difference>
  static __device__ __forceinline__ Rest Count(const GroupsArguments &a, PetscInt w, unsigned int nslices)
  {
    const bool         whole = w < a.nwhole;
    const unsigned int lanes = 32 * nslices;

    return Rest{V::finite ? 0 : lanes, a.rowperm ? lanes : 0, whole && V::scaled ? static_cast<unsigned int>(VCRS_WINDOW * sizeof(int16_t)) : 0,
                whole && difference && a.sums ? static_cast<unsigned int>(VCRS_WINDOW * sizeof(Number)) : 0};
  }

  __device__ __forceinline__ unsigned int Sum() const
  {
    return lengths + perm + exponents + sigma;
  }

  __device__ __forceinline__ void CopySigma(const GroupsArguments &a, PetscInt w, char *to, uint64_t *full) const
  {
    CopyBulk(to, a.sigma.sigma + static_cast<PetscInt64>(VCRS_WINDOW) * w, sigma, full);
  }

  /* Copies everything except row sums */
  __device__ __forceinline__ void Copy(const GroupsArguments &a, PetscInt w, char *stage, uint64_t *full) const
  {
    const PetscInt64 row = static_cast<PetscInt64>(VCRS_WINDOW) * w;

    CopyBulk(stage + a.lengthsat, a.rowlength + row, lengths, full);
    CopyBulk(stage + a.permat, a.rowperm + row, perm, full);
    CopyBulk(stage + a.exponentat, a.exponent + row, exponents, full);
  }
};

/*
   Copies all data of window w, once the stage is free. x is excepted, and so are row sums that wait for y. Called by a
   warp; one thread copies. The copies and the copy of row sums count for barrier full. Returns the place of row sums. A
   separate place follows the entries. If a window leaves no room, row sums use the place of y after y is stored.
*/
template <class V, bool difference>
static __device__ __forceinline__ unsigned int CopyEntries(const GroupsArguments &a, PetscInt w, const Window &window, unsigned int nslices, const Rest &rest,
                                                           char *stage, uint64_t *full, uint64_t *empty, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
  typedef typename V::Code Code;
  constexpr unsigned int   first = difference ? 1 : 0;
  const unsigned int       lane  = threadIdx.x % 32;
  const PetscInt64         value = __shfl_sync(0xffffffffu, window.value, 0);
  const unsigned int       at = static_cast<unsigned int>(window.value - value), next = __shfl_down_sync(0xffffffffu, at, 1),
                     nvalues     = __shfl_sync(0xffffffffu, at, VCRS_WINDOW_SLICES);
  const unsigned int columnsat   = static_cast<unsigned int>(VCRS_GROUP * sizeof(Number)) * static_cast<unsigned int>(window.groupend - window.group);
  const unsigned int columnbytes = static_cast<unsigned int>(sizeof(uint16_t)) * (nvalues + 32 * first * nslices), valuesat = columnsat + columnbytes,
                     valuebytes = static_cast<unsigned int>(sizeof(Code)) * nvalues;
  const unsigned int end = valuesat + valuebytes, sigmaat = a.sigmaat == a.yat && end + rest.sigma <= a.slicesat ? end : a.sigmaat;
  const Slice        slice = Slice{columnsat + static_cast<unsigned int>(sizeof(uint16_t)) * (at + 32 * first * lane),
                            valuesat + static_cast<unsigned int>(sizeof(Code)) * at, sigmaat, lane < nslices ? static_cast<int>((next - at) / 32 + first) : -1};

  BarrierWait(empty, parity);

  /* entries may replace x, which was copied by another kind of copy: a fence orders both kinds */
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (lane < VCRS_WINDOW_SLICES) reinterpret_cast<Slice *>(stage + a.slicesat)[lane] = slice;
  __syncwarp();
  if (lane == 0) {
    (void)cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, full,
                                               columnbytes + valuebytes + rest.Sum());
    CopyBulk(stage + columnsat, a.column + value + 32 * first * static_cast<PetscInt64>(VCRS_WINDOW_SLICES) * w, columnbytes, full);
    CopyBulk(stage + valuesat, static_cast<const Code *>(a.value) + value, valuebytes, full);
    rest.Copy(a, w, stage, full);
    if (sigmaat != a.yat) rest.CopySigma(a, w, stage + sigmaat, full);
  }
  __syncwarp();
  return sigmaat;
#else
  return 0;
#endif
}

/* Stores y of window w, if gathered. Afterwards the stage is free */
[[maybe_unused]] static __device__ __forceinline__ void StoreWindow(const GroupsArguments &a, PetscInt w, const char *stage, uint64_t *done, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
  if (w >= a.nwhole) return;
  BarrierWait(done, parity);
  if (threadIdx.x % 32) return;
  cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, a.y + static_cast<PetscInt64>(VCRS_WINDOW) * w, stage + a.yat,
                           static_cast<uint32_t>(VCRS_WINDOW * sizeof(Number)));
  cuda::ptx::cp_async_bulk_commit_group();
  cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
#endif
}

/* The warp that fills a stage, with every a.stages-th window */
template <class V, bool difference>
static __device__ void FillStage(const GroupsArguments &a, int stage, const Barriers &barriers, char *to)
{
#if __CUDA_ARCH__ >= 900
  const int       lane  = threadIdx.x % 32;
  const PetscInt  step  = static_cast<PetscInt>(gridDim.x) * a.stages;
  uint64_t *const empty = barriers.empty + stage, *const done = barriers.done + stage;
  /* last: the window whose y is stored next */
  PetscInt     w = static_cast<PetscInt>(blockIdx.x) + stage * static_cast<PetscInt>(gridDim.x), last = a.nwhole;
  Window       window = Window::Read(a, w), next = Window::Read(a, w + step);
  uint32_t     parity = 1;
  int          turn   = 0;
  unsigned int id[VCRS_GROUPS_AHEAD];

  ReadGroups(a, window, id);
  __syncthreads();
  for (; w < a.nwindows; w += step) {
    uint64_t *const    full    = barriers.full + stage + turn * a.stages;
    const unsigned int nslices = static_cast<unsigned int>(PetscMin(a.nslices - w * VCRS_WINDOW_SLICES, VCRS_WINDOW_SLICES));
    const Rest         rest    = Rest::Count<V, difference>(a, w, nslices);
    const unsigned int sigmaat = CopyEntries<V, difference>(a, w, window, nslices, rest, to, full, empty, parity);
    const bool         async   = CopyGroups(a, PDLWait(a.x), window, id, to);

    StoreWindow(a, last, to, done, parity);
    if (lane == 0 && sigmaat == a.yat) rest.CopySigma(a, w, to + a.yat, full);
    if (async) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SharedAddress(full)) : "memory");
    else BarrierArrive(full);
    last = w;
    parity ^= 1;
    turn = turn + 1 < a.teams ? turn + 1 : 0;

    /* data of the next window arrive while the stage is in use */
    window = next;
    ReadGroups(a, window, id);
    next = Window::Read(a, w + 2 * step);
  }
  StoreWindow(a, last, to, done, parity);
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
