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
  PetscInt          offset[VCRS_COMMON_MAX];
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
static __device__ __forceinline__ Number SumCommon(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x)
{
  constexpr int first = difference ? 1 : 0;
  const Number  xref  = difference ? Read(x + a.offset[0]) : Number{};
  Number        sum   = Number{};

#pragma unroll 1
  for (int k0 = first; k0 < a.length; k0 += batch) {
    typename V::Code c[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (k0 + k < a.length) {
        c[k]  = __ldcs(value + 32 * (k0 + k - first));
        xs[k] = Read(x + a.offset[k0 + k]);
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++)
      if (k0 + k < a.length) sum = MultiplyAdd(values.Decode(c[k]), difference ? xs[k] - xref : xs[k], sum);
  }
  return sum;
}

/* Bit k of word says whether this row has entry k of the common set */
template <int batch, bool difference, class V>
static __device__ __forceinline__ Number SumPart(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, uint32_t word)
{
  constexpr int first = difference ? 1 : 0;
  const Number  xref  = difference ? Read(x + a.offset[0]) : Number{};
  Number        sum   = Number{};

  word >>= first;
#pragma unroll 1
  for (int k0 = first; k0 < a.length; k0 += batch) {
    typename V::Code c[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (word >> k & 1u) {
        c[k]  = __ldcs(value);
        xs[k] = Read(x + a.offset[k0 + k]);
        value += 32;
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++)
      if (word >> k & 1u) sum = MultiplyAdd(values.Decode(c[k]), difference ? xs[k] - xref : xs[k], sum);
    word = batch < 32 ? word >> (batch % 32) : 0u;
  }
  return sum;
}

/* Any rows */
template <int batch, bool difference, class V>
static __device__ __forceinline__ Number SumTable(const SetsArguments &a, const V &values, const typename V::Code *value, const Number *x, const PetscInt *offset, int length)
{
  constexpr int first = difference ? 1 : 0;
  const Number  xref  = difference && length > 0 ? Read(x + __ldg(offset)) : Number{};
  Number        sum   = Number{};

#pragma unroll 1
  for (int k0 = first; k0 < length; k0 += batch) {
    typename V::Code c[batch];
    Number           xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      if (k0 + k < length) {
        c[k]  = __ldcs(value + 32 * (k0 + k - first));
        xs[k] = Read(x + __ldg(offset + k0 + k));
      }
    }
#pragma unroll
    for (int k = 0; k < batch; k++)
      if (k0 + k < length) sum = MultiplyAdd(values.Decode(c[k]), difference ? xs[k] - xref : xs[k], sum);
  }
  return sum;
}

template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SetsKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code Code;
  extern __shared__ __align__(16) char shared[];
  const VCRSUnsigned                   m = a.m, step = static_cast<VCRSUnsigned>(gridDim.x) * threads;
  const Code                          *value = static_cast<const Code *>(a.value) + threadIdx.x % 32;
  Values<kind>                         values;

  values.Setup(shared, a.decode);
  for (VCRSUnsigned row = static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x; row - threadIdx.x % 32 < m; row += step) {
    const Code    *v     = value + __ldg(a.sliceptr + row / 32);
    const Number  *x     = a.x + row;
    const PetscInt id    = row < m ? ReadId(a.id, a.idbytes, row) : -2;
    bool           empty = false;
    Number         sum;
    PetscInt       reference = 0;

    if (__all_sync(0xffffffffu, id == a.common)) {
      sum       = SumCommon<batch, difference>(a, values, v, x);
      reference = a.offset[0];
    } else {
      const uint32_t word = id >= 0 && a.common >= 0 ? __ldg(a.word + id) : 0u;

      if (__all_sync(0xffffffffu, word != 0)) {
        sum       = SumPart<batch, difference>(a, values, v, x, word);
        reference = a.offset[0];
      } else {
        const PetscInt  start  = id >= 0 ? __ldg(a.setptr + id) : 0;
        const PetscInt *offset = a.setoffset + start;
        const int       length = id >= 0 ? static_cast<int>(__ldg(a.setptr + id + 1) - start) : 0;

        sum   = SumTable<batch, difference>(a, values, v, x, offset, length);
        empty = length == 0;
        if (difference && !empty) reference = __ldg(offset);
      }
    }

    if (row < m) {
      if (Values<kind>::scaled) sum = ScaleByPower(sum, __ldcs(a.exponent + row));
      if (difference && a.sigma.kind != VCRS_SIGMA_NONE && !empty) sum = MultiplyAdd(ReadSigma(a.sigma, row), Read(x + reference), sum);
      a.y[row] = a.add ? a.add[row] + sum : sum;
    }
  }
}

template <VCRSValues kind, bool difference, int batch, int threads, int blocks>
static PetscErrorCode SetsLaunch(const SetsArguments *a, int multiprocessors, cudaStream_t stream)
{
  /* with tables in shared memory few large blocks that stay, else a block for each part of the rows */
  constexpr size_t shared = Values<kind>::sharedbytes;
  PetscInt64       n      = (static_cast<PetscInt64>(a->m) + threads - 1) / threads;

  PetscFunctionBegin;
  if (shared > 0) {
    n = PetscMin(n, static_cast<PetscInt64>(multiprocessors) * blocks);
    PetscCallCUDA(cudaFuncSetAttribute(SetsKernel<kind, difference, batch, threads, blocks>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  }
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

template <VCRSValues kind>
static PetscErrorCode SetsLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  constexpr bool shared  = Values<kind>::sharedbytes > 0;
  constexpr int  threads = shared ? 512 : 128, blocks = shared ? 3 : 8, batch = 8;

  PetscFunctionBegin;
  if (p->difference) PetscCall((SetsLaunch<kind, true, batch, threads, blocks>(a, l->multiprocessors, stream)));
  else PetscCall((SetsLaunch<kind, false, batch, threads, blocks>(a, l->multiprocessors, stream)));
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
