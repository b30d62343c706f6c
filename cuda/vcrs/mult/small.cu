/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1, L2 and L3 of a small matrix. The longest chain of dependent loads determines the time of the product;
   bytes do not. With a thread per row, there are too few warps to hide the latency, and each warp loads its rows batch
   after batch.

   Several warps therefore share a slice. The warps take the entries in turn, as many at once as a warp loads at a time.
   The sums of the warps are added in a fixed order: a product gives the same bits each time. Tables are read from
   device memory.

   The kernel may begin before the previous kernel has ended. The kernel then loads data of the matrix, and waits before
   the first load of x.
*/

#include "../finish.cuh"

/* Entries of a row in flight per thread, and the largest number of warps per slice */
#define VCRS_SMALL_BATCH 8
#define VCRS_SMALL_SPLIT 16

/* Approximate threads per block, if very long rows exist */
#define VCRS_SMALL_LONG_THREADS 256

/* Warps per multiprocessor that hide all latencies, and resident warps */
#define VCRS_SMALL_ENOUGH_WARPS 16
#define VCRS_SMALL_MOST_WARPS   32

struct SmallArguments : L3Arguments {
  int split;

  /* L1, L2 */
  int             idbytes;
  const void     *id;
  const PetscInt *setptr, *setoffset;

  /* L3 */
  const PetscInt   *colbase;
  const PetscInt64 *sliceoffset;
  const uint8_t    *slicewidth, *coloffset;
  const uint32_t   *islong;
};

/*
   The mask of an entry is 0 after the end of a row, and otherwise all ones. A thread has only seven predicate registers
   for conditions. With conditions, some loads would be issued after the first sum.
*/
static __device__ __forceinline__ PetscReal Keep(PetscReal a, int mask)
{
#if defined(PETSC_USE_REAL_SINGLE)
  return __int_as_float(__float_as_int(a) & mask);
#else
  return __hiloint2double(__double2hiint(a) & mask, __double2loint(a) & mask);
#endif
}

#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ Number Keep(Number a, int mask)
{
  return Number{Keep(a.re, mask), Keep(a.im, mask)};
}
#endif

/*
   The columns of a row, from its set or, in L3, from a base for the entries k of the slice. Entries after the end of a
   row are loaded, too, with a valid column. In a set, the column is the last column of the row. In a slice, the column
   is the base, because the padding is masked.
*/
struct SetColumns {
  const PetscInt *offset;
  int             last;

  __device__ __forceinline__ PetscInt Read(int k, int) const
  {
    return __ldca(offset + PetscMin(k, last));
  }
};

template <class Offset>
struct SliceColumns {
  const PetscInt *base;
  const Offset   *offset;

  __device__ __forceinline__ PetscInt Read(int k, int mask) const
  {
    const PetscInt b = __ldca(base + k);
    const Offset   o = __ldcs(offset + 32 * k);

    return b + (static_cast<PetscInt>(o) & mask);
  }
};

/*
   Sums entries k = begin, ..., begin + batch - 1 of a lane's row, and the same entries `step` later, for k < end. The
   length belongs to the row; x is the origin of the lane's columns. A warp that finishes rows also gets the data in
   rowend, even for rows without entries.

   Loads are issued in the written order, as many as possible before the first wait.
*/
template <bool difference, class V, class Columns>
static __device__ __forceinline__ Number SumPiece(const SmallArguments &a, const V &values, const typename V::Code *value, const Columns &columns, int begin,
                                                  int end, int step, int length, const Number *x, bool finishes, VCRSUnsigned row, RowEnd *rowend,
                                                  Number *xreference)
{
  constexpr int batch = VCRS_SMALL_BATCH, first = difference ? 1 : 0;
  PetscInt      reference = 0;
  Number        sum = Number{}, xref = Number{};

  if (difference && length > 0) reference = columns.Read(0, -1);
  if (begin >= end) x = PDLWait(x);
#pragma unroll 1
  for (int k0 = begin; k0 < end; k0 += step) {
    typename Register<typename V::Code>::type c[batch];
    PetscInt                                  o[batch];
    Number                                    v[batch], xs[batch];
    int                                       mask[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) c[k] = __ldcs(value + 32 * (PetscMin(k0 + k, end - 1) - first));
#pragma unroll
    for (int k = 0; k < batch; k++) mask[k] = (k0 + k - length) >> 31;
#pragma unroll
    for (int k = 0; k < batch; k++) o[k] = columns.Read(PetscMin(k0 + k, end - 1), mask[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) {
      /* padding of a slice may be outside of a dictionary */
      if constexpr (!V::finite) c[k] &= mask[k];
      v[k] = values.Decode(c[k]);
    }
    x = PDLWait(x);
#pragma unroll
    for (int k = 0; k < batch; k++) xs[k] = ReadInOrder(x + o[k]);
    if (difference && k0 == begin && length > 0) xref = ReadInOrder(x + reference);
    if (finishes && k0 == begin) *rowend = ReadRowEnd<V::scaled, difference>(a, row);
#pragma unroll
    for (int k = 0; k < batch; k++) sum = MultiplyAdd(Keep(v[k], mask[k]), Keep(difference ? xs[k] - xref : xs[k], mask[k]), sum);
  }
  if (begin >= end) {
    if (difference && length > 0) xref = ReadInOrder(x + reference);
    if (finishes) *rowend = ReadRowEnd<V::scaled, difference>(a, row);
  }
  *xreference = xref;
  return sum;
}

/* threadIdx.x counts the threads of a slice, threadIdx.y the slices of a block */
template <VCRSValues kind, bool difference, bool sets>
static __global__ void __launch_bounds__(32 * VCRS_SMALL_SPLIT, 1) SmallKernel(const __grid_constant__ SmallArguments a)
{
  typedef Values<kind, GlobalTable> V;
  typedef typename V::Code          Code;
  constexpr int                     first = difference ? 1 : 0;
  __shared__ Number                 partial[32 * VCRS_SMALL_SPLIT];
  V                                 values;

  values.Setup(NULL, a.decode);
  if (!sets && blockIdx.x < static_cast<VCRSUnsigned>(a.nlong)) {
    LongRow<difference, VCRS_SMALL_BATCH / 2>(a, values, blockIdx.x);
    return;
  }

  const int          lane = threadIdx.x % 32, piece = threadIdx.x / 32, thread = threadIdx.x + threadIdx.y * blockDim.x;
  const VCRSUnsigned s = (blockIdx.x - static_cast<VCRSUnsigned>(a.nlong)) * blockDim.y + threadIdx.y, m = a.m;
  VCRSUnsigned       row = 0;
  RowEnd             rowend;
  Number             sum = Number{}, xref = Number{};
  int                length   = 0;
  uint32_t           islong   = 0;
  bool               finishes = false;

  if (s < static_cast<VCRSUnsigned>(a.nslices)) {
    /* data that depend on no earlier load */
    const PetscInt64 slot   = 32 * static_cast<PetscInt64>(s) + lane;
    const PetscInt   id     = sets && slot < m ? ReadId(a.id, a.idbytes, slot) : -1;
    const int        width  = sets ? 0 : a.slicewidth[s];
    const uint8_t   *packed = sets ? NULL : a.coloffset + a.sliceoffset[s] + lane * width;
    const PetscInt64 start  = a.sliceptr[s];
    const int        stored = static_cast<int>((a.sliceptr[s + 1] - start) / 32);

    row = static_cast<VCRSUnsigned>(slot);
    if (!sets) length = a.rowlength[slot];
    if (!sets && piece == 0 && a.rowperm) row = s / (VCRS_WINDOW / 32) * VCRS_WINDOW + a.rowperm[slot];

    const int   begin = first + VCRS_SMALL_BATCH * piece, end = first + stored, step = VCRS_SMALL_BATCH * a.split;
    const Code *value = static_cast<const Code *>(a.value) + start + lane;

    finishes = piece == 0 && row < m;
    if (piece == 0 || begin < end) {
      if (sets) {
        /*
           a row without entries uses the offset 0 at sets.ptr[0]; x has this entry if any row of the slice has entries
        */
        SetColumns    columns = {a.setptr, 0};
        const Number *x       = a.x;

        if (id >= 0) {
          const PetscInt set = a.setptr[id];

          length = static_cast<int>(a.setptr[id + 1] - set);
          if (length > 0) {
            columns = SetColumns{a.setoffset + set, length - 1};
            x += row;
          }
        }
        sum = SumPiece<difference>(a, values, value, columns, begin, end, step, length, x, finishes, row, &rowend, &xref);
      } else {
        const PetscInt *base = a.colbase + start / 32 + (difference ? s : 0);

        if (finishes && a.islong) islong = a.islong[row / 32];
        if (width == 1)
          sum = SumPiece<difference>(a, values, value, SliceColumns<uint8_t>{base, packed}, begin, end, step, length, a.x, finishes, row, &rowend, &xref);
        else if (width == 2)
          sum = SumPiece<difference>(a, values, value, SliceColumns<uint16_t>{base, reinterpret_cast<const uint16_t *>(packed)}, begin, end, step, length, a.x,
                                     finishes, row, &rowend, &xref);
        else if (sizeof(PetscInt) == 4 || width == 4)
          sum = SumPiece<difference>(a, values, value, SliceColumns<uint32_t>{base, reinterpret_cast<const uint32_t *>(packed)}, begin, end, step, length, a.x,
                                     finishes, row, &rowend, &xref);
        else
          sum = SumPiece<difference>(a, values, value, SliceColumns<unsigned long long>{base, reinterpret_cast<const unsigned long long *>(packed)}, begin, end,
                                     step, length, a.x, finishes, row, &rowend, &xref);
        if (islong >> row % 32 & 1u) finishes = false;
      }
    }
  }

  if (a.split > 1) {
    partial[thread] = sum;
    __syncthreads();
    if (finishes) {
#pragma unroll 4
      for (int p = 1; p < a.split; p++) sum = sum + partial[thread + 32 * p];
    }
  }
  if (finishes) FinishRow<V::scaled, difference>(a, row, rowend, length == 0, sum, xref);
}

/* together: slices per block */
template <VCRSValues kind, bool difference, bool sets>
static PetscErrorCode SmallLaunch(const SmallArguments *a, int together, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCallCUDA(PDLLaunch(SmallKernel<kind, difference, sets>, a->pdl, dim3(static_cast<unsigned int>(a->nlong + (a->nslices + together - 1) / together)),
                          dim3(32 * a->split, together), 0, stream, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SmallGetArguments(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, SmallArguments *arguments)
{
  SmallArguments &a = *arguments;

  L3GetArguments(p, v, a);
  a.split       = l->split;
  a.idbytes     = static_cast<int>(p->sets.idbytes);
  a.id          = p->sets.id;
  a.setptr      = p->sets.ptr;
  a.setoffset   = p->sets.offset;
  a.colbase     = p->columns.base;
  a.sliceoffset = p->columns.begin;
  a.slicewidth  = p->columns.width;
  a.coloffset   = p->columns.offset;
  a.islong      = l->dlong;
}

template <VCRSValues kind>
static PetscErrorCode SmallLaunchKind(const VCRSPlan *p, const SmallArguments *a, cudaStream_t stream)
{
  const bool sets     = p->layout != MATVCRS_LAYOUT_L3;
  const int  together = ((p->longrows.n ? VCRS_SMALL_LONG_THREADS : 64) + 32 * a->split - 1) / (32 * a->split);

  PetscFunctionBegin;
  if (p->difference) {
    if (sets) PetscCall((SmallLaunch<kind, true, true>(a, together, stream)));
    else PetscCall((SmallLaunch<kind, true, false>(a, together, stream)));
  } else {
    if (sets) PetscCall((SmallLaunch<kind, false, true>(a, together, stream)));
    else PetscCall((SmallLaunch<kind, false, false>(a, together, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SmallMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  SmallArguments a;

  PetscFunctionBegin;
  SmallGetArguments(l, p, v, &a);
#define SmallCase(kind)                              \
  case kind:                                         \
    PetscCall(SmallLaunchKind<kind>(p, &a, stream)); \
    break
  switch (p->values) {
    VCRS_ALL_VALUES(SmallCase)
  }
#undef SmallCase
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Warps per slice, for the longest slice; 0: the kernels for large matrices are as fast. The number suffices to load
   the longest slice at once, up to the number of resident warps. Short rows need no second warp, but this kernel finds
   very long rows faster.
*/
static int SmallChooseSplit(PetscInt nslices, PetscInt nlong, PetscInt longest, int multiprocessors)
{
  const PetscInt64 room   = static_cast<PetscInt64>(VCRS_SMALL_MOST_WARPS) * multiprocessors / nslices;
  const PetscInt64 wanted = PetscMin((longest + VCRS_SMALL_BATCH - 1) / VCRS_SMALL_BATCH, VCRS_SMALL_SPLIT);
  const int        split  = static_cast<int>(PetscMax(1, PetscMin(wanted, room)));

  return split > 1 || nlong > 0 ? split : 0;
}

static PetscErrorCode SmallPrepare(VCRSLaunch *l, const VCRSPlan *, VCRSPlan *p, bool *runs)
{
  PetscInt    longest = 0;
  PetscInt64 *sliceptr;

  PetscFunctionBegin;
  *runs = false;
  if (p->grouped || p->layout == MATVCRS_LAYOUT_L0) PetscFunctionReturn(PETSC_SUCCESS);
  /* with many slices, a thread per row keeps the multiprocessors busy */
  if (p->slices.n == 0 || p->slices.n >= static_cast<PetscInt64>(VCRS_SMALL_ENOUGH_WARPS) * l->device.multiprocessors) PetscFunctionReturn(PETSC_SUCCESS);

  PetscCall(PetscMalloc1(p->slices.n + 1, &sliceptr));
  PetscCallCUDA(cudaMemcpy(sliceptr, p->slices.ptr, (p->slices.n + 1) * sizeof(*sliceptr), cudaMemcpyDeviceToHost));
  for (PetscInt s = 0; s < p->slices.n; s++) longest = PetscMax(longest, static_cast<PetscInt>((sliceptr[s + 1] - sliceptr[s]) / VCRS_SLICE));
  PetscCall(PetscFree(sliceptr));
  l->split = SmallChooseSplit(p->slices.n, p->longrows.n, longest, l->device.multiprocessors);
  if (!l->split) PetscFunctionReturn(PETSC_SUCCESS);
  *runs = true;

  /* a single load shows whether a row without entries in its slice is a very long row */
  if (p->longrows.n) {
    const size_t nmask = (static_cast<size_t>(p->m) + 31) / 32;
    PetscInt    *longrow;
    uint32_t    *mask;

    PetscCall(PetscMalloc1(p->longrows.n, &longrow));
    PetscCall(PetscCalloc1(nmask, &mask));
    PetscCallCUDA(cudaMemcpy(longrow, p->longrows.row, p->longrows.n * sizeof(*longrow), cudaMemcpyDeviceToHost));
    for (PetscInt q = 0; q < p->longrows.n; q++) mask[longrow[q] / 32] |= 1u << longrow[q] % 32;
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->dlong), nmask * sizeof(*mask)));
    PetscCallCUDA(cudaMemcpy(l->dlong, mask, nmask * sizeof(*mask), cudaMemcpyHostToDevice));
    PetscCall(PetscFree(mask));
    PetscCall(PetscFree(longrow));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelSmall = {"small", SmallPrepare, SmallMult};
