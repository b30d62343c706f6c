/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2: an id per row names an index set, values lie in slices of 32 rows.

   A thread a row, a warp a slice. Where most rows have the same index set, its offsets are parameters of
   the kernel, and rows are done as if all had it, from the first to the last for which it stays inside
   x: so nothing waits for ids, and the sum of another row is not written. The others are in a list that is
   made once per matrix; the warps do 32 of them at a time, at different times, because these rows wait
   long for what they need. Elsewhere warps whose rows all have the commonest set take its offsets from
   the parameters, others from the tables.

   Blocks stay, and what a row needs before its entries is read one step ahead.
*/

#include "vcrssets.cuh"

/* All rows of the warp have the common set */
template <int batch, bool difference, class V>
static __device__ __forceinline__ Number SumCommon(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref)
{
  constexpr int first = difference ? 1 : 0;
  Number        sum   = Number{};
  int           k0    = first;

#pragma unroll 1
  for (; k0 + batch <= a.length; k0 += batch) {
    typename Register<typename V::Code>::type c[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      c[k]  = __ldcs(value + 32 * k);
      xs[k] = Read(x + a.offset[k0 + k]);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) sum = MultiplyAdd(values.Decode(c[k]), difference ? xs[k] - xref : xs[k], sum);
    value += 32 * batch;
  }
  if (k0 < a.length) {
    const int        left = a.length - k0;
    typename Register<typename V::Code>::type c[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch - 1; k++) {
      c[k]  = ReadOnceIf(k < left, value + 32 * k);
      xs[k] = ReadIfElse(k < left, x + a.offset[k0 + k], xref);
    }
#pragma unroll
    for (int k = 0; k < batch - 1; k++) sum = AddEntryIf(k < left, values, c[k], difference ? xs[k] - xref : xs[k], sum);
  }
  return sum;
}

/* The same for a length known to the compiler: the reads of a batch are under way while the one before is summed */
template <int length, int batch, bool difference, class V>
static __device__ __forceinline__ Number SumCommonOf(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref)
{
  constexpr int first = difference ? 1 : 0, n = length - first;
  Number        sum = Number{}, xs[2][batch];
  typename Register<typename V::Code>::type c[2][batch];

#pragma unroll
  for (int k0 = 0; k0 < n + batch; k0 += batch) {
    const int now = k0 / batch % 2;

#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (k0 + k < n) {
        c[now][k]  = __ldcs(value + 32 * (k0 + k));
        xs[now][k] = Read(x + a.offset[first + k0 + k]);
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (k0 >= batch && k0 - batch + k < n) sum = MultiplyAdd(values.Decode(c[1 - now][k]), difference ? xs[1 - now][k] - xref : xs[1 - now][k], sum);
    }
  }
  return sum;
}

/* Most rows have the common set */
template <VCRSValues kind, bool difference, int length, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) CommonKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code  Code;
  extern __shared__ __align__(16) char shared[];
  const VCRSUnsigned                   end = static_cast<VCRSUnsigned>(a.firstmain + a.nmain), step = gridDim.x * threads;
  const Code                          *value = static_cast<const Code *>(a.value) + threadIdx.x % 32;
  VCRSUnsigned                         row   = static_cast<VCRSUnsigned>(a.firstmain) + blockIdx.x * threads + threadIdx.x;
  RowHead                              next  = ReadHead<kind, difference>(a, row, row < end);
  ListedRows                           listed(a, threads / 32, row < end ? (end - row + step - 1) / step : 1);
  Values<kind>                         values;

  values.Setup(shared, a.decode);
#pragma unroll 1
  for (; row < end; row += step) {
    const RowHead head  = next;
    const Code   *v     = value + (head.start < a.laststart ? head.start : a.laststart);
    const Number *x     = Whole(a.x + row);
    const Number  sigma = difference ? ReadHeadSigma(a, head, row) : Number{}, xref = difference ? Read(x + a.offset[0]) : Number{};
    Number        sum;

    next = ReadHead<kind, difference>(a, row + step, row + step < end);
    if constexpr (length > 0) sum = SumCommonOf<length, batch, difference>(a, values, v, x, xref);
    else sum = SumCommon<batch, difference>(a, values, v, x, xref);
    if (head.id == a.common) WriteRow<kind, difference>(a, row, head.exponent, false, sigma, xref, sum);
    if (listed.IsTime()) listed.Mult<kind, difference>(a, values);
  }
  listed.MultRest<kind, difference>(a, values);
}

/* Any rows */
template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SetsKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code  Code;
  extern __shared__ __align__(16) char shared[];
  const int                            lane = threadIdx.x % 32;
  const VCRSUnsigned                   m = a.m, step = static_cast<VCRSUnsigned>(gridDim.x) * threads;
  const Code                          *value = static_cast<const Code *>(a.value) + lane;
  VCRSUnsigned                         row   = static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x;
  RowHead                              next  = ReadHead<kind, difference>(a, row, row - lane < m);
  Values<kind>                         values;

  values.Setup(shared, a.decode);
  for (; row - lane < m; row += step) {
    const RowHead head  = next;
    const Code   *v     = value + head.start;
    bool          empty = false;
    Number        sum, sigma = Number{}, xref = Number{};

    if (difference && row < m) sigma = ReadHeadSigma(a, head, row);
    next = ReadHead<kind, difference>(a, row + step, row + step - lane < m);

    if (__all_sync(0xffffffffu, row < m && head.id == a.common)) {
      const Number *x = Whole(a.x + row);

      if (difference) xref = Read(x + a.offset[0]);
      sum = SumCommon<batch, difference>(a, values, v, x, xref);
    } else {
      const Number   *x       = Whole(a.x + row);
      const PetscInt  start   = head.id >= 0 ? __ldg(a.setptr + head.id) : 0;
      const PetscInt *offset  = a.setoffset + start;
      const int       entries = head.id >= 0 ? static_cast<int>(__ldg(a.setptr + head.id + 1) - start) : 0;

      empty = entries == 0;
      if (difference && !empty) xref = Read(x + __ldg(offset));
      sum = SumTable<batch, difference>(values, v, x, xref, offset, entries);
    }
    if (row < m) WriteRow<kind, difference>(a, row, head.exponent, empty, sigma, xref, sum);
  }
}

/* length: of the common set where most rows have it and the compiler shall know it, 0: it shall not, -1: any rows */
template <VCRSValues kind, bool difference, int length, int batch, int threads, int blocks>
static PetscErrorCode SetsLaunch(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  /* blocks that stay: tables are filled once, and a row's head is there when its turn comes */
  constexpr size_t shared = Values<kind>::sharedbytes;
  const PetscInt64 n      = PetscMin((static_cast<PetscInt64>(a->m) + threads - 1) / threads, static_cast<PetscInt64>(l->multiprocessors) * blocks);
  void (*kernel)(const SetsArguments);

  PetscFunctionBegin;
  if constexpr (length < 0) kernel = SetsKernel<kind, difference, batch, threads, blocks>;
  else kernel = CommonKernel<kind, difference, length, batch, threads, blocks>;
  if (shared > 0) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  kernel<<<static_cast<unsigned int>(n), threads, shared, stream>>>(*a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shapes are measured, see docs/kernels.md; threads and blocks leave 48 registers a thread beside one table, else 64 */
template <VCRSValues kind, int length>
static PetscErrorCode SetsLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  constexpr bool shared = Values<kind>::sharedbytes > 0;
#if defined(PETSC_USE_COMPLEX)
  constexpr int batch[2] = {4, 4}, threads[2] = {shared ? 512 : 256, shared ? 512 : 256}, blocks[2] = {shared ? 2 : 4, shared ? 2 : 4};
#else
  constexpr bool two      = Values<kind>::sharedbytes > SharedTable<PetscReal>::bytes;
  constexpr int  batch[2] = {shared ? 6 : 7, 6}, threads[2] = {two ? 1024 : shared ? 640 : 256, shared && !two ? 640 : 1024}, blocks[2] = {two ? 1 : shared ? 2 : 4, shared && !two ? 2 : 1};
#endif

  PetscFunctionBegin;
  if (p->difference) PetscCall((SetsLaunch<kind, true, length, batch[1], threads[1], blocks[1]>(l, a, stream)));
  else PetscCall((SetsLaunch<kind, false, length, batch[0], threads[0], blocks[0]>(l, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencils of most grids have kernels of their own */
template <VCRSValues kind>
static PetscErrorCode SetsLaunchLength(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!l->dlisted) PetscCall((SetsLaunchKind<kind, -1>(l, p, a, stream)));
  else if (l->length == 7) PetscCall((SetsLaunchKind<kind, 7>(l, p, a, stream)));
  else if (l->length == 27) PetscCall((SetsLaunchKind<kind, 27>(l, p, a, stream)));
  else PetscCall((SetsLaunchKind<kind, 0>(l, p, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSSetsMult(const VCRSLaunch *l, const VCRSPlan *p, const PetscScalar *x, const PetscScalar *add, PetscScalar *y, cudaStream_t stream)
{
  SetsArguments a;

  PetscFunctionBegin;
  SetsGetArguments(l, p, x, add, y, &a);
#define SetsCase(kind) \
  case kind: \
    PetscCall(SetsLaunchLength<kind>(l, p, &a, stream)); \
    break
  switch (p->values) {
    SetsCase(VCRS_VALUES_FULL);
    SetsCase(VCRS_VALUES_SINGLE);
    SetsCase(VCRS_VALUES_DICT8);
    SetsCase(VCRS_VALUES_DICT16);
    SetsCase(VCRS_VALUES_LOG8);
    SetsCase(VCRS_VALUES_LOG16);
    SetsCase(VCRS_VALUES_FIXED8);
    SetsCase(VCRS_VALUES_FIXED16);
  }
#undef SetsCase
  PetscFunctionReturn(PETSC_SUCCESS);
}
