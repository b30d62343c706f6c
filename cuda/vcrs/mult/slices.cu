/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L3: slices of 32 rows with columns of 1, 2, 4 or 8 bytes; very long rows are stored separately.

   A warp per slice, a thread per row, a block per very long row.
*/

#include "../finish.cuh"

struct SlicesArguments : L3Arguments {
  const PetscInt64 *sliceoffset;
  const PetscInt   *colbase;
  const uint8_t    *slicewidth, *coloffset;
};

/*
   Bases of columns of a slice, for all threads of a warp, several batches at a time. Each thread loads a base from
   memory. All threads then read all bases of a batch by one access to shared memory. The access costs less than a load
   or a shuffle per base.
*/
template <int batch>
struct alignas(32 * sizeof(VCRSUnsigned)) ColumnBases {
  static constexpr int stride = batch > 4 ? 8 : (batch > 2 ? 4 : batch), entries = 32 / stride * batch;
  static_assert(batch <= 8, "the bases of a batch are aligned to 8 bases at most");

  struct alignas(stride * sizeof(VCRSUnsigned)) Batch {
    VCRSUnsigned base[batch];
  };
  VCRSUnsigned base[32];

  /* Loads the base for this thread, from n bases at `from` */
  static __device__ __forceinline__ VCRSUnsigned Read(const PetscInt *from, int n)
  {
    const int lane = threadIdx.x % 32;

    return lane < n ? static_cast<VCRSUnsigned>(__ldg(from + lane)) : 0;
  }

  /* Shares the bases loaded by the threads of the warp */
  __device__ __forceinline__ const Batch *Share(VCRSUnsigned mine)
  {
    const int lane = threadIdx.x % 32;

    __syncwarp();
    if (entries == 32 || lane < entries) base[lane + lane / batch * (stride - batch)] = mine;
    __syncwarp();
    return reinterpret_cast<const Batch *>(base);
  }
};

/* Sums a lane of a slice. Offset: type of the column offsets; mine: result of ColumnBases::Read() for the first
   entries */
template <int batch, bool difference, class Offset, class V>
static __device__ __forceinline__ Number SumSlice(const V &values, const typename V::Code *value, const Offset *column, const PetscInt *base, VCRSUnsigned mine,
                                                  ColumnBases<batch> *bases, const Number *x, int length, int longest, Number *xreference)
{
  constexpr int                             first = difference ? 1 : 0;
  Number                                    sum = Number{}, xref = Number{};
  typename Register<Offset>::type           o[batch];
  typename Register<typename V::Code>::type c[batch];

  /* offsets and codes of the next batch are in flight while x is gathered for this batch */
  if (difference && length > 0) xref = Read(x + (static_cast<VCRSUnsigned>(__ldg(base)) + static_cast<VCRSUnsigned>(__ldcs(column))));
  *xreference = xref;
  column += 32 * first;
#pragma unroll
  for (int k = 0; k < batch; k++) {
    o[k] = ReadOnceIf(first + k < length, column + 32 * k);
    c[k] = ReadOnceIf(first + k < length, value + 32 * k);
  }
  for (int k0 = first; k0 < longest;) {
    const typename ColumnBases<batch>::Batch *b   = bases->Share(mine);
    const int                                 end = min(longest, k0 + ColumnBases<batch>::entries);

#pragma unroll 1
    for (; k0 < end; k0 += batch, b++) {
      typename Register<typename V::Code>::type now[batch];
      Number                                    xs[batch];

      column += 32 * batch;
      value += 32 * batch;
#pragma unroll
      for (int k = 0; k < batch; k++) xs[k] = ReadIf(k0 + k < length, x + (b->base[k] + static_cast<VCRSUnsigned>(o[k])));
#pragma unroll
      for (int k = 0; k < batch; k++) {
        now[k] = c[k];
        o[k]   = ReadOnceIf(k0 + batch + k < length, column + 32 * k);
        c[k]   = ReadOnceIf(k0 + batch + k < length, value + 32 * k);
      }
#pragma unroll
      for (int k = 0; k < batch; k++) sum = AddEntryIf(k0 + k < length, values, now[k], difference ? xs[k] - xref : xs[k], sum);
    }
    if (k0 < longest) mine = ColumnBases<batch>::Read(base + k0, longest - k0);
  }
  return sum;
}

template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SlicesKernel(const __grid_constant__ SlicesArguments a, unsigned int sliceblocks)
{
  typedef typename Values<kind>::Code Code;
  constexpr int                       first = difference ? 1 : 0;
  extern __shared__ __align__(16) char shared[];
  __shared__ ColumnBases<batch> bases[threads / 32];
  /* the shuffle shows the compiler that all threads of a warp have the same value of warp, so one copy is kept */
  const int    lane = threadIdx.x % 32, warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  Values<kind> values;

  values.Setup(shared, a.decode);
  if (blockIdx.x >= sliceblocks) {
    for (PetscInt q = blockIdx.x - sliceblocks; q < a.nlong; q += gridDim.x - sliceblocks) LongRow<difference, batch>(a, values, q);
    return;
  }
  for (VCRSUnsigned s = static_cast<VCRSUnsigned>(blockIdx.x) * (threads / 32) + warp; s < static_cast<VCRSUnsigned>(a.nslices);
       s += sliceblocks * (threads / 32)) {
    const PetscInt64   start   = __ldg(a.sliceptr + s);
    const int          longest = static_cast<int>((__ldg(a.sliceptr + s + 1) - start) / 32) + first;
    const int          length = __ldg(a.rowlength + 32 * static_cast<PetscInt64>(s) + lane), width = __ldg(a.slicewidth + s);
    const PetscInt    *base   = a.colbase + (start / 32 + (difference ? s : 0));
    const VCRSUnsigned mine   = ColumnBases<batch>::Read(base + first, longest - first);
    const uint8_t     *column = a.coloffset + __ldg(a.sliceoffset + s) + lane * width;
    const Code        *value  = static_cast<const Code *>(a.value) + start + lane;
    const VCRSUnsigned row    = a.rowperm ? s / (VCRS_WINDOW / 32) * VCRS_WINDOW + __ldg(a.rowperm + 32 * static_cast<PetscInt64>(s) + lane) : 32 * s + lane;
    Number             sum, xref;

    if (width == 1) sum = SumSlice<batch, difference>(values, value, column, base, mine, &bases[warp], a.x, length, longest, &xref);
    else if (width == 2)
      sum = SumSlice<batch, difference>(values, value, reinterpret_cast<const uint16_t *>(column), base, mine, &bases[warp], a.x, length, longest, &xref);
    else if (sizeof(PetscInt) == 4 || width == 4)
      sum = SumSlice<batch, difference>(values, value, reinterpret_cast<const uint32_t *>(column), base, mine, &bases[warp], a.x, length, longest, &xref);
    else
      sum = SumSlice<batch, difference>(values, value, reinterpret_cast<const unsigned long long *>(column), base, mine, &bases[warp], a.x, length, longest,
                                        &xref);

    if (row < static_cast<VCRSUnsigned>(a.m) && (length > 0 || !IsLongRow(a.longrow, a.nlong, row)))
      FinishRow<Values<kind>::scaled, difference>(a, row, ReadRowEnd<Values<kind>::scaled, difference>(a, row), length == 0, sum, xref);
  }
}

template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static PetscErrorCode SlicesLaunch(const SlicesArguments *a, int multiprocessors, cudaStream_t stream)
{
  constexpr size_t shared   = Values<kind>::sharedbytes;
  constexpr int    perblock = threads / 32;
  PetscInt64       n        = (static_cast<PetscInt64>(a->nslices) + perblock - 1) / perblock;

  PetscFunctionBegin;
  if (shared > 0) {
    n = PetscMin(n, static_cast<PetscInt64>(multiprocessors) * blocks);
    PetscCallCUDA(
      cudaFuncSetAttribute(SlicesKernel<kind, difference, batch, threads, blocks>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  }
  SlicesKernel<kind, difference, batch, threads, blocks>
    <<<static_cast<unsigned int>(n + PetscMin(a->nlong, 65536)), threads, shared, stream>>>(*a, static_cast<unsigned int>(n));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SlicesGetArguments(const VCRSPlan *p, const MultArguments *v, SlicesArguments *arguments)
{
  SlicesArguments &a = *arguments;

  L3GetArguments(p, v, a);
  a.sliceoffset = p->columns.begin;
  a.colbase     = p->columns.base;
  a.slicewidth  = p->columns.width;
  a.coloffset   = p->columns.offset;
}

/* Shapes are measured, see docs/internals/kernels.md */
template <VCRSValues kind>
static PetscErrorCode SlicesLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SlicesArguments *a, cudaStream_t stream)
{
  constexpr bool shared = Values<kind>::sharedbytes > 0;
#if defined(PETSC_USE_COMPLEX)
  constexpr int threads = shared ? 512 : 128, blocks = shared ? 2 : 8, batch = 3;
#else
  constexpr int threads = shared ? 768 : 256, blocks = shared ? 2 : 5, batch = shared ? 3 : 4;
#endif

  PetscFunctionBegin;
  if (p->difference) PetscCall((SlicesLaunch<kind, true, batch, threads, blocks>(a, l->device.multiprocessors, stream)));
  else PetscCall((SlicesLaunch<kind, false, batch, threads, blocks>(a, l->device.multiprocessors, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  SlicesArguments a;

  PetscFunctionBegin;
  SlicesGetArguments(p, v, &a);
#define SlicesCase(kind)                                 \
  case kind:                                             \
    PetscCall(SlicesLaunchKind<kind>(l, p, &a, stream)); \
    break
  switch (p->values) {
    VCRS_ALL_VALUES(SlicesCase)
  }
#undef SlicesCase
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SlicesPrepare(VCRSLaunch *, const VCRSPlan *, VCRSPlan *p, bool *runs)
{
  PetscFunctionBegin;
  *runs = p->layout == MATVCRS_LAYOUT_L3 && !p->grouped;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelSlices = {"slices", SlicesPrepare, SlicesMult};
