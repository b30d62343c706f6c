/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2: an id per row names an index set, values lie in slices of 32 rows.

   A thread a row, a warp a slice. Where the rows of a warp have the commonest index set, its offsets
   are parameters of the kernel. A few other rows among them (the ends of a grid's lines) do not slow
   the warp down: their threads work along on a neighbour's x, and then the warp sums these rows
   together: eight threads a row where rows are short, else all 32. Elsewhere offsets come from the tables.

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
      xs[k] = ReadIf(k < left, x + a.offset[k0 + k]);
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

/* The first 32 / group of the rows whose bits are set in odd, by a group of threads each; all threads of a group get its row's sum, reference and length */
template <int group, bool difference, class V>
static __device__ __forceinline__ Number SumOdd(const SetsArguments &a, const V &values, uint32_t odd, PetscInt id, const typename V::Code *value, const Number *x, Number *xreference, int *length)
{
  constexpr int first = difference ? 1 : 0;
  const int     lane = threadIdx.x % 32;
  Number        sum = Number{}, xref = Number{};

#pragma unroll
  for (int q = 1; q < 32 / group; q++) {
    if (lane >= q * group) odd &= odd - 1;
  }
  const int l = odd ? __ffs(odd) - 1 : 0;

  id = __shfl_sync(0xffffffffu, id, l);
  *length = 0;
  if (odd) {
    const PetscInt  start  = __ldg(a.setptr + id);
    const PetscInt *offset = a.setoffset + start;

    *length = static_cast<int>(__ldg(a.setptr + id + 1) - start);
    x += l;
    value += l;
    if (difference && *length > 0) xref = Read(x + __ldg(offset));
    for (int k = first + lane % group; k < *length; k += group) {
      const Number xs = Read(x + __ldg(offset + k));

      sum = MultiplyAdd(values.Decode(__ldcs(value + 32 * (k - first))), difference ? xs - xref : xs, sum);
    }
  }
  *xreference = xref;
  return WarpSum<group>(sum);
}

template <VCRSValues kind, bool difference, int length, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SetsKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code  Code;
  constexpr int                        group = length == 7 ? 8 : 32, rows = 32 / group; /* of the threads that sum an odd row */
  extern __shared__ __align__(16) char shared[];
  const int                            lane = threadIdx.x % 32;
  const VCRSUnsigned                   m = a.m, step = static_cast<VCRSUnsigned>(gridDim.x) * threads;
  const Code                          *value = static_cast<const Code *>(a.value) + lane;
  VCRSUnsigned                         row   = static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x;
  RowHead                              next  = ReadHead<kind, difference>(a, row, row - lane < m);
  Values<kind>                         values;

  values.Setup(shared, a.decode);
  for (; row - lane < m; row += step) {
    const RowHead  head   = next;
    const Code    *v      = value + head.start;
    const uint32_t common = __ballot_sync(0xffffffffu, row < m && head.id == a.common), odd = __ballot_sync(0xffffffffu, row < m) & ~common;
    bool           empty  = false;
    Number         sum, sigma = Number{}, xref = Number{};

    if (difference && row < m) sigma = ReadHeadSigma(a, head, row);
    next = ReadHead<kind, difference>(a, row + step, row + step - lane < m);

    if (common && __popc(odd) <= VCRS_ODD_ROWS) {
      const Number *x = Whole(a.x + (common >> lane & 1u ? row : row - lane + __ffs(common) - 1));

      if (difference) xref = Read(x + a.offset[0]);
      if constexpr (length > 0) sum = SumCommonOf<length, batch, difference>(a, values, v, x, xref);
      else sum = SumCommon<batch, difference>(a, values, v, x, xref);

      for (uint32_t rest = odd; rest;) {
        const int  rank = __popc(rest & ((1u << lane) - 1)), from = rank % rows * group;
        const bool mine = (rest >> lane & 1u) && rank < rows;
        int        entries;
        Number     reference, together = SumOdd<group, difference>(a, values, rest, head.id, v - lane, a.x + (row - lane), &reference, &entries);

        if (group < 32) {
          together  = Shuffle(together, from);
          reference = Shuffle(reference, from);
          entries   = __shfl_sync(0xffffffffu, entries, from);
        }
        if (mine) {
          sum   = together;
          xref  = reference;
          empty = entries == 0;
        }
        rest = rows == 1 ? rest & (rest - 1) : 0; /* one pass does all VCRS_ODD_ROWS, or one */
      }
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

template <VCRSValues kind, bool difference, int length, int batch, int threads, int blocks>
static PetscErrorCode SetsLaunch(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  /* blocks that stay: tables are filled once, and a row's head is there when its turn comes */
  constexpr size_t shared = Values<kind>::sharedbytes;
  const PetscInt64 n      = PetscMin((static_cast<PetscInt64>(a->m) + threads - 1) / threads, static_cast<PetscInt64>(l->multiprocessors) * blocks);
  const auto       kernel = SetsKernel<kind, difference, length, batch, threads, blocks>;

  PetscFunctionBegin;
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
  if (l->length == 7) PetscCall((SetsLaunchKind<kind, 7>(l, p, a, stream)));
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
    VCRS_ALL_VALUES(SetsCase)
  }
#undef SetsCase
  PetscFunctionReturn(PETSC_SUCCESS);
}
