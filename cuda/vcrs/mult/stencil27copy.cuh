/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* 27-point stencils (stencil27.cu): the arguments, and the warps that copy planes to shared memory */

#include "../../common/barrier.cuh"
#include "stencil27.cuh"
#include "sets.cuh"

/* Points are numbered in the order of columns, plane by plane */
static constexpr int plane = 9;

struct Stencil27Arguments : SetsArguments {
  PetscInt        stride, line, firstmain, nmain, nlisted; /* see VCRSLaunch */
  const PetscInt *listed;
  const uint32_t *main;
  /* planes: planes of a band; columns: blocks for the rows of a plane */
  int planes, columns;
  /* entries of x in shared memory. pitch: from line to line; window: all entries, or 0 if each line is copied
     separately */
  int          pitch, window;
  unsigned int valuesat, stagebytes; /* in bytes; x is at 0 */
};

/*
   The points of a plane in the rows of a slice. The entries of a warp in shared memory belong to first, middle and last
   planes. A row at an end of a line stores six points per plane instead of nine, so its middle and last planes begin
   earlier. Slices with both kinds of rows have room from the earlier place on.
*/
template <bool difference, SliceKind kind>
struct Pieces {
  static constexpr bool ends = kind == SLICE_ENDS;
  /* first point, and number of points */
  static constexpr int point = kind == SLICE_LOW ? 3 : 0, points = kind == SLICE_LOW || kind == SLICE_HIGH ? 6 : plane;
  /* entries in the middle plane, and in all planes */
  static constexpr int middle = points - (difference ? 1 : 0), entries = 2 * points + middle;
  static constexpr int begin1 = ends ? 6 : points, begin2 = ends ? 2 * begin1 - (difference ? 1 : 0) : entries - points;
  static constexpr int at1 = points, at2 = at1 + points + middle - begin1, room = at2 + entries - begin2;
};

/* A bit per slice with ends of lines, for slices from the block's first row on; called by all threads of a warp */
template <int warps>
static __device__ __forceinline__ uint32_t FindEnds(const Stencil27Arguments &a, VCRSUnsigned first)
{
  const VCRSUnsigned lane = threadIdx.x % 32;

  return __ballot_sync(0xffffffffu,
                       lane < warps && GetSliceKind(static_cast<VCRSUnsigned>(a.line), static_cast<VCRSUnsigned>(a.stride), first + 32 * lane) == SLICE_ENDS);
}

/* The room in a stage for `slices` slices, `ends` of which have ends of lines */
template <bool difference>
static __host__ __device__ __forceinline__ int SlicesRoom(int slices, int ends)
{
  constexpr int room = Pieces<difference, SLICE_WHOLE>::room;

  return room * slices + (Pieces<difference, SLICE_ENDS>::room - room) * ends;
}

/* The copies of a thread per plane: the entries of one plane of a slice */
template <class V, bool difference>
struct Piece {
  typedef typename V::Code Code;
  /* number of the slice with the first row of the band */
  VCRSUnsigned slice;
  int          which, from, most, room;
  bool         is;
  /* begin and end of the next slice to be copied */
  PetscInt64 start, end;

  template <SliceKind kind>
  __device__ __forceinline__ void SetupPlace()
  {
    typedef Pieces<difference, kind> P;

    from = which == 0 ? 0 : (which == 1 ? P::begin1 : P::begin2);
    most = which == 0 ? P::at1 : (which == 1 ? P::at2 - P::at1 : P::room - P::at2);
    room += which == 0 ? 0 : (which == 1 ? P::at1 : P::at2);
  }

  /* Sets piece k of a block; ends: result of FindEnds() */
  __device__ __forceinline__ void Setup(const Stencil27Arguments &a, VCRSUnsigned first, unsigned int rows, int warps, uint32_t ends, int k)
  {
    const int warp = k / 3;

    which = k % 3;
    is    = warp < warps && 32u * warp < rows;
    slice = first / 32 + warp;
    room  = SlicesRoom<difference>(warp, CountBelow(ends, warp));
    switch (GetSliceKind(static_cast<VCRSUnsigned>(a.line), static_cast<VCRSUnsigned>(a.stride), first + 32 * warp)) {
    case SLICE_WHOLE:
      SetupPlace<SLICE_WHOLE>();
      break;
    case SLICE_ENDS:
      SetupPlace<SLICE_ENDS>();
      break;
    default:
      SetupPlace<SLICE_LOW>();
    }
  }

  /* Plane p is the first plane of row p + 1, the middle plane of row p, and the last plane of row p - 1 */
  __device__ __forceinline__ void Find(const Stencil27Arguments &a, int p)
  {
    const int row = p + 1 - which;

    start = end = 0;
    if (is && row >= 0 && row < a.planes) {
      const VCRSUnsigned s = slice + static_cast<VCRSUnsigned>(row) * (static_cast<VCRSUnsigned>(a.stride) / 32);

      start = __ldg(a.sliceptr + s);
      end   = __ldg(a.sliceptr + s + 1);
    }
  }

  /* Bytes to be copied. A slice without any row with the common set may be shorter */
  __device__ __forceinline__ uint32_t Count() const
  {
    const int has = static_cast<int>(end - start) / 32 - from;

    return static_cast<uint32_t>(has < 0 ? 0 : (has < most ? has : most)) * 32u * static_cast<uint32_t>(sizeof(Code));
  }
};

/* The work of copying warp `copier`; warp 0 also copies x. first: the block's first row. Entries of the first planes
   are copied without waiting for x */
template <class V, bool difference, int stages, int warps, int copiers>
static __device__ void CopyPlanes(const Stencil27Arguments &a, int copier, VCRSUnsigned first, unsigned int rows, char *to, uint64_t *full, uint64_t *empty)
{
#if __CUDA_ARCH__ >= 900
  /* pieces per thread */
  constexpr int  pieces = (3 * warps + 32 * copiers - 1) / (32 * copiers);
  const uint32_t line = static_cast<uint32_t>(rows + 2 + (a.window ? 2 * a.line : 0)) * static_cast<uint32_t>(sizeof(Number)), ends = FindEnds<warps>(a, first);
  /* ahead: planes copied before the loop */
  const int            lines = copier ? 0 : (a.window ? 1 : 3), ahead = min(stages, a.planes + 2) - 1;
  Piece<V, difference> piece[pieces];

  const auto copyentries = [&](int stage, int p) {
    char *const to0 = to + stage * a.stagebytes + a.valuesat;
    uint32_t    n[pieces], all = 0;

  #pragma unroll
    for (int k = 0; k < pieces; k++) {
      n[k] = piece[k].Count();
      all += n[k];
    }
    all = __reduce_add_sync(0xffffffffu, all);
    if (threadIdx.x % 32 == 0)
      (void)cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, full + stage, all + lines * line);
    __syncwarp();
  #pragma unroll
    for (int k = 0; k < pieces; k++) {
      const void *from = static_cast<const typename V::Code *>(a.value) + (piece[k].start + 32 * piece[k].from);

      if (n[k])
        cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to0 + 32 * piece[k].room * sizeof(typename V::Code), from, n[k],
                                 full + stage);
      piece[k].Find(a, p + 1);
    }
  };
  const auto copyx = [&](int stage, const Number *x) {
    if (threadIdx.x % 32) return;
    for (int k = 0; k < lines; k++)
      cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to + stage * a.stagebytes + k * a.pitch * sizeof(Number),
                               x + k * static_cast<ptrdiff_t>(a.line), line, full + stage);
  };

  #pragma unroll
  for (int k = 0; k < pieces; k++) {
    piece[k].Setup(a, first, rows, warps, ends, (static_cast<int>(threadIdx.x % 32) + 32 * k) * copiers + copier);
    piece[k].Find(a, -1);
  }
  #pragma unroll 1
  for (int p = -1; p < ahead; p++) copyentries(p + 1, p);

  const Number *x = PDLWait(a.x) + first - a.stride - a.line - 1;

  #pragma unroll 1
  for (int p = -1; p < ahead; p++, x += a.stride) copyx(p + 1, x);

  int      stage  = 0;
  uint32_t parity = 0;

  #pragma unroll 1
  for (int p = ahead; p <= a.planes; p++, x += a.stride) {
    BarrierWait(empty + stage, parity);
    copyx(stage, x);
    copyentries(stage, p);
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
#endif
}
