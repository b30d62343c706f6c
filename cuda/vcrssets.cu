/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2: an id per row names an index set, values lie in slices of 32 rows.

   A thread a row, a warp a slice. Entries are taken in batches, all reads of a batch before the
   first use. Where all rows of a warp have the commonest index set, or a part of it, its offsets are
   parameters of the kernel; else they come from the tables.
*/

#include "vcrs.cuh"

struct SetsArguments : MultArguments {
  PetscInt          m;
  PetscInt          common; /* id, -1: none */
  int               idbytes;
  int               length; /* of the common set */
  PetscInt          offset[VCRS_COMMON_MAX + 16]; /* what is read past the end is not used */
  const void       *id;
  const PetscInt   *setptr, *setoffset;
  const uint32_t   *word;
  const PetscInt64 *sliceptr;
  const void       *value;
  const int16_t    *exponent;
  DecodeArguments   decode;
  SigmaArguments    sigma;
};

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

/* Bit k of word says whether this row has entry k of the common set */
template <int batch, bool difference, class V>
static __device__ __forceinline__ Number SumPart(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, Number xref, uint32_t word)
{
  constexpr int first = difference ? 1 : 0;
  Number        sum   = Number{};
  int           place = 0;

  word >>= first;
#pragma unroll 1
  for (int k0 = first; k0 < a.length; k0 += batch) {
    typename Register<typename V::Code>::type c[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      const uint32_t wanted = word & (1u << k);

      c[k]  = ReadOnceIf(wanted, value + 32 * place);
      xs[k] = ReadIfElse(wanted, x + a.offset[k0 + k], xref);
      place += word >> k & 1u;
    }
#pragma unroll
    for (int k = 0; k < batch; k++) sum = AddEntryIf(word & (1u << k), values, c[k], difference ? xs[k] - xref : xs[k], sum);
    word >>= batch;
  }
  return sum;
}

/* Any rows */
template <int batch, bool difference, class V>
static __device__ __forceinline__ Number SumTable(const V &values, const typename V::Code *value, const Number *x, Number xref, const PetscInt *offset, int length)
{
  constexpr int first = difference ? 1 : 0;
  Number        sum   = Number{};

#pragma unroll 1
  for (int k0 = first; k0 < length; k0 += batch) {
    typename Register<typename V::Code>::type c[batch];
    PetscInt         o[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      o[k] = k0 + k < length ? __ldg(offset + k0 + k) : 0;
      c[k] = ReadOnceIf(k0 + k < length, value + 32 * k);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) xs[k] = ReadIfElse(k0 + k < length, x + o[k], xref);
#pragma unroll
    for (int k = 0; k < batch; k++) sum = AddEntryIf(k0 + k < length, values, c[k], difference ? xs[k] - xref : xs[k], sum);
    value += 32 * batch;
  }
  return sum;
}

/* What a row needs before its entries; it is read while the row before is worked on */
struct RowHead {
  PetscInt   id;
  PetscInt64 start;
  int        exponent;
  uint32_t   sigmabits;
};

template <VCRSValues kind, bool difference>
static __device__ __forceinline__ RowHead ReadHead(const SetsArguments &a, VCRSUnsigned row, VCRSUnsigned m)
{
  RowHead h = {-2, 0, 0, 0};

  if (row - threadIdx.x % 32 < m) {
    h.start = __ldg(a.sliceptr + row / 32);
    if (difference && a.sigma.kind == VCRS_SIGMA_SPARSE) h.sigmabits = __ldg(a.sigma.mask + row / 32);
  }
  if (row < m) {
    h.id = ReadId(a.id, a.idbytes, row);
    if (Values<kind>::scaled) h.exponent = __ldcs(a.exponent + row);
  }
  return h;
}

template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SetsKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code Code;
  extern __shared__ __align__(16) char shared[];
  const VCRSUnsigned                   m = a.m, step = static_cast<VCRSUnsigned>(gridDim.x) * threads;
  const Code                          *value = static_cast<const Code *>(a.value) + threadIdx.x % 32;
  VCRSUnsigned                         row   = static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x;
  RowHead                              next  = ReadHead<kind, difference>(a, row, m);
  Values<kind>                         values;

  values.Setup(shared, a.decode);
  for (; row - threadIdx.x % 32 < m; row += step) {
    const RowHead head  = next;
    const Code   *v     = value + head.start;
    const Number *x     = Whole(a.x + row);
    bool          empty = false;
    Number        sum, sigma = Number{}, xref = Number{};

    if (difference && row < m) {
      if (a.sigma.kind == VCRS_SIGMA_FULL) sigma = Read(a.sigma.sigma + row);
      else if (head.sigmabits >> row % 32 & 1u) sigma = Read(a.sigma.sigma + __ldg(a.sigma.ptr + row / 32) + __popc(head.sigmabits & ((1u << row % 32) - 1)));
    }
    next = ReadHead<kind, difference>(a, row + step, m);

    if (__all_sync(0xffffffffu, head.id == a.common)) {
      if (difference) xref = Read(x + a.offset[0]);
      sum = SumCommon<batch, difference>(a, values, v, x, xref);
    } else {
      const uint32_t word = head.id >= 0 && a.common >= 0 ? __ldg(a.word + head.id) : 0u;

      if (__all_sync(0xffffffffu, word != 0)) {
        if (difference) xref = Read(x + a.offset[0]);
        sum = SumPart<batch, difference>(a, values, v, x, xref, word);
      } else {
        const PetscInt  start  = head.id >= 0 ? __ldg(a.setptr + head.id) : 0;
        const PetscInt *offset = a.setoffset + start;
        const int       length = head.id >= 0 ? static_cast<int>(__ldg(a.setptr + head.id + 1) - start) : 0;

        empty = length == 0;
        if (difference && !empty) xref = Read(x + __ldg(offset));
        sum = SumTable<batch, difference>(values, v, x, xref, offset, length);
      }
    }

    if (row < m) {
      if (Values<kind>::scaled) sum = ScaleByPower(sum, head.exponent);
      if (difference && a.sigma.kind != VCRS_SIGMA_NONE && !empty) sum = MultiplyAdd(sigma, xref, sum);
      a.y[row] = a.add ? a.add[row] + sum : sum;
    }
  }
}

template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static PetscErrorCode SetsLaunch(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  /* blocks that stay: tables are filled once, and a row's head is there when its turn comes */
  constexpr size_t shared = Values<kind>::sharedbytes;
  const PetscInt64 n      = PetscMin((static_cast<PetscInt64>(a->m) + threads - 1) / threads, static_cast<PetscInt64>(l->multiprocessors) * blocks);

  PetscFunctionBegin;
  if (shared > 0) PetscCallCUDA(cudaFuncSetAttribute(SetsKernel<kind, difference, batch, threads, blocks>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  SetsKernel<kind, difference, batch, threads, blocks><<<static_cast<unsigned int>(n), threads, shared, stream>>>(*a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SetsGetArguments(const VCRSLaunch *l, const VCRSPlan *p, const PetscScalar *x, const PetscScalar *add, PetscScalar *y, SetsArguments *arguments)
{
  SetsArguments &a = *arguments;

  a.x         = reinterpret_cast<const Number *>(x);
  a.add       = reinterpret_cast<const Number *>(add);
  a.y         = reinterpret_cast<Number *>(y);
  a.m         = p->m;
  a.common    = l->id;
  a.idbytes   = static_cast<int>(p->idbytes);
  a.length    = l->length;
  a.id        = p->id;
  a.setptr    = p->setptr;
  a.setoffset = p->setoffset;
  a.word      = l->dword;
  a.sliceptr  = p->sliceptr;
  a.value     = p->value;
  a.exponent  = p->exponent;
  a.decode    = GetDecodeArguments(p);
  a.sigma     = GetSigmaArguments(p);
  for (int k = 0; k < l->length; k++) a.offset[k] = l->offset[k];
}

/* The shapes are measured, see docs/kernels.md; threads and blocks leave 40 registers a thread beside tables, else 48 to 64 */
template <VCRSValues kind>
static PetscErrorCode SetsLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  constexpr bool shared = Values<kind>::sharedbytes > 0;
#if defined(PETSC_USE_COMPLEX)
  constexpr int threads = shared ? 512 : 256, batch[2] = {4, 4}, blocks[2] = {shared ? 2 : 4, shared ? 2 : 4};
#else
  constexpr int threads = shared ? 640 : 256, batch[2] = {shared ? 6 : 7, 6}, blocks[2] = {shared ? 2 : 4, shared ? 2 : 5};
#endif

  PetscFunctionBegin;
  if (p->difference) PetscCall((SetsLaunch<kind, true, batch[1], threads, blocks[1]>(l, a, stream)));
  else PetscCall((SetsLaunch<kind, false, batch[0], threads, blocks[0]>(l, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSSetsMult(const VCRSLaunch *l, const VCRSPlan *p, const PetscScalar *x, const PetscScalar *add, PetscScalar *y, cudaStream_t stream)
{
  SetsArguments a;

  PetscFunctionBegin;
  SetsGetArguments(l, p, x, add, y, &a);
#define SetsCase(kind) \
  case kind: \
    PetscCall(SetsLaunchKind<kind>(l, p, &a, stream)); \
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
