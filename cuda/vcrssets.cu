/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2: an id per row names an index set, values lie in slices of 32 rows.

   A thread a row, a warp a slice. Where the rows of a warp have the commonest index set, its offsets
   are parameters of the kernel. Rows that have a part of it (the boundaries of a grid) do the same and leave
   out what they have not. A few other rows among them do not slow the warp down: their threads do nothing,
   and then the warp sums these rows together: eight threads a row where rows are short, else all 32.
   Elsewhere offsets come from the tables.

   Blocks stay, and what a row needs before its entries is read one step ahead.
*/

#include "vcrssets.cuh"

/* All rows of the warp have the common set, or the entries of it whose bits are set in part */
template <int batch, bool parts, bool difference, class V>
static __device__ __forceinline__ Number SumCommon(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref, uint32_t part)
{
  constexpr int         first = difference ? 1 : 0;
  EntrySum<difference, V> sum;
  int                   k0 = first;

  sum.Clear();

#pragma unroll 1
  for (; k0 + batch <= a.length; k0 += batch) {
    typename Register<typename V::Code>::type c[batch];
    Number                                    xs[batch];
    int                                       at = 0;

#pragma unroll
    for (int k = 0; k < batch; k++) ReadEntry<parts, V>(part, k0 + k, a.offset[k0 + k], value, x, &at, &c[k], &xs[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) AddEntry<parts>(part, k0 + k, values, c[k], xs[k], xref, &sum);
    value += at;
  }
  if (k0 < a.length) {
    const uint32_t                            rest = (parts ? part : ~0u) & (a.length < 32 ? (1u << a.length) - 1 : ~0u);
    typename Register<typename V::Code>::type c[batch];
    Number                                    xs[batch];
    int                                       at = 0;

#pragma unroll
    for (int k = 0; k < batch - 1; k++) ReadEntry<true, V>(rest >> k0, k, a.offset[k0 + k], value, x, &at, &c[k], &xs[k]);
#pragma unroll
    for (int k = 0; k < batch - 1; k++) AddEntry<true>(rest >> k0, k, values, c[k], xs[k], xref, &sum);
  }
  return sum.Finish(xref);
}

template <int length, int batch, bool parts, bool difference, class V>
static __device__ __forceinline__ Number SumCommonRow(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref, uint32_t part)
{
  if constexpr (length > 0) return SumCommonOf<length, batch, parts, difference>(a, values, value, x, xref, part);
  else return SumCommon<batch, parts, difference>(a, values, value, x, xref, part);
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

/* The sum of the thread's row, whatever sets the rows of the warp have; part: which entries of the common set the row has */
template <int length, int batch, bool difference, class V>
static __device__ __forceinline__ Number SumRow(const SetsArguments &a, const V &values, const typename V::Code *value, VCRSUnsigned row, PetscInt id, uint32_t part, Number *xreference, bool *isempty)
{
  constexpr int  group = length == 7 ? 8 : 32, rows = 32 / group; /* of the threads that sum an odd row */
  const int      lane  = threadIdx.x % 32;
  const uint32_t odd   = __ballot_sync(0xffffffffu, id >= 0 && !part);
  bool           empty = false;
  Number         sum, xref = Number{};

  if (a.common >= 0 && __popc(odd) <= VCRS_ODD_ROWS) {
    const Number *x = Whole(a.x + row);

    if (__all_sync(0xffffffffu, part == a.all)) {
      if (difference) xref = Read(x + a.offset[0]);
      sum = SumCommonRow<length, batch, false, difference>(a, values, value, x, xref, part);
    } else {
      if (difference) xref = ReadIf(part, x + a.offset[0]);
      sum = SumCommonRow<length, batch, true, difference>(a, values, value, x, xref, part);
    }

    for (uint32_t rest = odd; rest;) {
      const int  rank = __popc(rest & ((1u << lane) - 1)), from = rank % rows * group;
      const bool mine = (rest >> lane & 1u) && rank < rows;
      int        entries;
      Number     reference, together = SumOdd<group, difference>(a, values, rest, id, value - lane, a.x + (row - lane), &reference, &entries);

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
    const PetscInt  start   = id >= 0 ? __ldg(a.setptr + id) : 0;
    const PetscInt *offset  = a.setoffset + start;
    const int       entries = id >= 0 ? static_cast<int>(__ldg(a.setptr + id + 1) - start) : 0;

    empty = entries == 0;
    if (difference && !empty) xref = Read(x + __ldg(offset));
    sum = SumTable<batch, difference>(values, value, x, xref, offset, entries);
  }
  *xreference = xref;
  *isempty    = empty;
  return sum;
}

/*
   The rows of a thread, 32 apart, where all rows of the warp's slices have the common set, or (parts) the entries of it
   whose bits are set in part[]: more reads are under way, for one calculation of where.
*/
template <int length, int slices, bool parts, bool difference, class V>
static __device__ __forceinline__ void SumSlices(const SetsArguments &a, const V &values, const typename V::Code *const value[slices], const Number *x, const uint32_t part[slices], Number xref[slices], Number sum[slices])
{
  constexpr int first = difference ? 1 : 0, n = length - first;
  Number        xs[slices][n];
  typename Register<typename V::Code>::type c[slices][n];

#pragma unroll
  for (int j = 0; j < slices; j++) {
    int at = 0;

#pragma unroll
    for (int k = 0; k < n; k++) ReadCode<parts, V>(part[j], first + k, value[j], &at, &c[j][k]);
  }
#pragma unroll
  for (int k = 0; k < length; k++) {
    const Number *xk = Whole(x + a.offset[k]);

#pragma unroll
    for (int j = 0; j < slices; j++) {
      const Number v = parts ? ReadIf(part[j] & (1u << k), xk + 32 * j) : Read(xk + 32 * j);

      if (k < first) xref[j] = v;
      else xs[j][k - first] = v;
    }
  }
#pragma unroll
  for (int j = 0; j < slices; j++) {
    EntrySum<difference, V> s;

    s.Clear();
#pragma unroll
    for (int k = 0; k < n; k++) AddEntry<parts>(part[j], first + k, values, c[j][k], xs[j][k], xref[j], &s);
    sum[j] = s.Finish(xref[j]);
  }
}

/* A warp works on so many neighbouring slices at a time, a thread on a row of each */
template <VCRSValues kind, bool difference, int length, int batch, int slices, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SetsKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code  Code;
  constexpr bool                       mixed = slices > 1 && threads * blocks < 1024; /* there are registers enough for slices whose rows have parts of the set, too */
  extern __shared__ __align__(16) char shared[];
  const int                            lane = threadIdx.x % 32;
  const VCRSUnsigned                   m = a.m, step = static_cast<VCRSUnsigned>(gridDim.x) * (threads * slices);
  const Code                          *value = static_cast<const Code *>(a.value) + lane;
  VCRSUnsigned                         first = (static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x - lane) * slices; /* row of the warp */
  RowHead                              next[slices];
  Values<kind>                         values;

  ReadHeads<kind, difference, slices>(a, first, next);
  values.Setup(shared, a.decode);
  for (; first < m; first += step) {
    const VCRSUnsigned row0 = first + lane;
    bool               full = true, parts = true;
    Number             sigma[slices];
    uint32_t           part[slices];
    RowHead            head[slices];

#pragma unroll
    for (int j = 0; j < slices; j++) {
      head[j] = next[j];
      part[j] = mixed ? ReadPart(a, head[j].id) : 0;
      full    = full && (mixed ? part[j] == a.all : head[j].id == a.common) && a.common >= 0;
      parts   = parts && part[j];
    }
    ReadSigmas<difference, slices>(a, head, row0, sigma);
    ReadHeads<kind, difference, slices>(a, first + step, next);

    if constexpr (slices > 1) {
      if (__all_sync(0xffffffffu, mixed ? parts : full)) {
        const Code *v[slices];
        Number      sum[slices], xref[slices];

#pragma unroll
        for (int j = 0; j < slices; j++) v[j] = Whole(value + head[j].start);
        if (!mixed || __all_sync(0xffffffffu, full)) SumSlices<length, slices, false, difference>(a, values, v, a.x + row0, part, xref, sum);
        else if constexpr (mixed) SumSlices<length, slices, true, difference>(a, values, v, a.x + row0, part, xref, sum);
#pragma unroll
        for (int j = 0; j < slices; j++) WriteRow<kind, difference>(a, row0 + 32 * j, head[j].exponent, false, sigma[j], xref[j], sum[j]);
        continue;
      }
    }
#pragma unroll 1
    for (int j = 0; j < slices && first + 32 * j < m; j++) {
      const VCRSUnsigned row = row0 + 32 * j;
      RowHead            h   = head[0];
      Number             sum, xref, s = sigma[0];
      bool               empty;

#pragma unroll
      for (int i = 1; i < slices; i++) {
        if (i == j) {
          h = head[i];
          s = sigma[i];
        }
      }
      sum = SumRow<length, batch, difference>(a, values, value + h.start, row, h.id, ReadPart(a, h.id), &xref, &empty);
      if (row < m) WriteRow<kind, difference>(a, row, h.exponent, empty, s, xref, sum);
    }
  }
}

template <VCRSValues kind, bool difference, int length, int batch, int slices, int threads, int blocks>
static PetscErrorCode SetsLaunch(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  /* blocks that stay: tables are filled once, and a row's head is there when its turn comes */
  constexpr size_t shared = Values<kind>::sharedbytes;
  const PetscInt64 n      = PetscMin((static_cast<PetscInt64>(a->m) + threads * slices - 1) / (threads * slices), static_cast<PetscInt64>(l->multiprocessors) * blocks);
  const auto       kernel = SetsKernel<kind, difference, length, batch, slices, threads, blocks>;

  PetscFunctionBegin;
  if (shared > 0) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  kernel<<<static_cast<unsigned int>(n), threads, shared, stream>>>(*a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !defined(PETSC_USE_COMPLEX)
/* Seven points in the difference form, two slices a warp: three blocks of 256 leave 80 registers, 896 threads 72, 1024 threads 64 */
template <VCRSValues kind>
static PetscErrorCode SetsLaunchPairs(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  constexpr size_t tables = Values<kind>::sharedbytes;

  PetscFunctionBegin;
  if constexpr (kind == VCRS_VALUES_FIXED8) PetscCall((SetsLaunch<kind, true, 7, 6, 2, 256, 3>(l, a, stream)));
  else if constexpr (tables == 0) PetscCall((SetsLaunch<kind, true, 7, 6, 2, 128, 7>(l, a, stream)));
  else if constexpr (tables > SharedTable<PetscReal>::bytes) PetscCall((SetsLaunch<kind, true, 7, 6, 2, 896, 1>(l, a, stream)));
  else if (p->sigmakind == VCRS_SIGMA_FULL) PetscCall((SetsLaunch<kind, true, 7, 6, 2, 896, 1>(l, a, stream)));
  else PetscCall((SetsLaunch<kind, true, 7, 6, 2, 1024, 1>(l, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The shapes are measured, see docs/kernels.md; threads and blocks leave 48 registers a thread or more */
template <VCRSValues kind, int length>
static PetscErrorCode SetsLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  constexpr bool shared = Values<kind>::sharedbytes > 0;
#if defined(PETSC_USE_COMPLEX)
  constexpr int batch[2] = {4, 4}, threads[2] = {shared ? 512 : 256, shared ? 512 : 256}, blocks[2] = {shared ? 2 : 4, shared ? 2 : kind == VCRS_VALUES_FIXED16 && length == 27 ? 3 : 4};
#else
  constexpr bool two = Values<kind>::sharedbytes > SharedTable<PetscReal>::bytes;
  constexpr int  few = length == 7 ? 640 : 512; /* longer sets need 64 registers beside one table, too */
  constexpr int  batch[2] = {shared ? 6 : 7, 6}, threads[2] = {two ? 1024 : shared ? few : 256, shared && !two ? few : 1024}, blocks[2] = {two ? 1 : shared ? 2 : 4, shared && !two ? 2 : 1};
#endif

  PetscFunctionBegin;
  if (!p->difference) PetscCall((SetsLaunch<kind, false, length, batch[0], 1, threads[0], blocks[0]>(l, a, stream)));
#if !defined(PETSC_USE_COMPLEX)
  else if constexpr (length == 7) PetscCall(SetsLaunchPairs<kind>(l, p, a, stream));
#endif
  else PetscCall((SetsLaunch<kind, true, length, batch[1], 1, threads[1], blocks[1]>(l, a, stream)));
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

PetscErrorCode VCRSSetsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  SetsArguments a;

  PetscFunctionBegin;
  SetsGetArguments(l, p, v, &a);
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
