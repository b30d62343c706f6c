/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Common to kernels of several layouts: the entry of y from the sum of a row, and the sum of a very long row of L3 by a
   whole block. Arguments is the kernel's struct of arguments.
*/

#include "../common/pdl.cuh"
#include "kernels.cuh"

/* Arguments of the kernels of L3. The kernel for small matrices has them for L1 and L2, too, without lanes and long
   rows */
struct L3Arguments : MultArguments {
  PetscInt          m, nslices, nlong;
  const PetscInt64 *sliceptr;
  const void       *value;
  const uint8_t    *rowlength, *rowperm;
  const PetscInt   *longrow, *longcol;
  const PetscInt64 *longptr;
  PetscInt64        longvalue;
  const int16_t    *exponent;
  DecodeArguments   decode;
  SigmaArguments    sigma;
};

static inline void L3GetArguments(const VCRSPlan *p, const MultArguments *v, L3Arguments &a)
{
  static_cast<MultArguments &>(a) = *v;
  a.m                             = p->m;
  a.nslices                       = p->slices.n;
  a.nlong                         = p->longrows.n;
  a.sliceptr                      = p->slices.ptr;
  a.value                         = p->slices.value;
  a.rowlength                     = p->lanes.length;
  a.rowperm                       = p->lanes.perm;
  a.longrow                       = p->longrows.row;
  a.longcol                       = p->longrows.col;
  a.longptr                       = p->longrows.ptr;
  a.longvalue                     = p->longrows.value;
  a.exponent                      = p->decoding.exponent;
  a.decode                        = GetDecodeArguments(p);
  a.sigma                         = GetSigmaArguments(p);
}

/* Data for finishing a row's sum */
struct RowEnd {
  int    exponent;
  Number sigma, add;
};

template <bool scaled, bool difference, class Arguments>
static __device__ __forceinline__ RowEnd ReadRowEnd(const Arguments &a, VCRSUnsigned row)
{
  RowEnd end = RowEnd{};

  if (scaled) end.exponent = __ldg(a.exponent + row);
  if (a.add) end.add = a.add[row];
  if (difference) end.sigma = ReadSigma(a.sigma, row);
  return end;
}

/* Returns the entry of y for the sum of a row */
template <bool scaled, bool difference, class Arguments>
static __device__ __forceinline__ Number EndRow(const Arguments &a, const RowEnd &end, bool empty, Number sum, Number xref)
{
  if (scaled) sum = ScaleByPower(sum, end.exponent);
  if (difference && a.sigma.kind != VCRS_SIGMA_NONE && !empty) sum = MultiplyAdd(end.sigma, xref, sum);
  return a.add ? AddSigned(end.add, a.sign, sum) : sum;
}

template <bool scaled, bool difference, class Arguments>
static __device__ __forceinline__ void FinishRow(const Arguments &a, VCRSUnsigned row, const RowEnd &end, bool empty, Number sum, Number xref)
{
  a.y[row] = EndRow<scaled, difference>(a, end, empty, sum, xref);
}

/* Sums the very long row q of L3. Each thread has `batch` entries in flight. After the end of the row, a thread reads
   the last entry again without adding the entry */
template <bool difference, int batch, class V, class Arguments>
static __device__ void LongRow(const Arguments &a, const V &values, PetscInt q)
{
  typedef typename V::Code Code;
  __shared__ Number        partial[32];
  const int                threads = blockDim.x * blockDim.y, thread = threadIdx.x + threadIdx.y * blockDim.x;
  const PetscInt64         start = a.longptr[q], end = a.longptr[q + 1];
  const VCRSUnsigned       row       = a.longrow[q];
  const Code              *value     = static_cast<const Code *>(a.value) + a.longvalue;
  const PetscInt           reference = difference ? a.longcol[start] : 0;
  const Number            *x         = a.x;
  Number                   sum = Number{}, xref = Number{};

#pragma unroll 1
  for (PetscInt64 p0 = start + (difference ? 1 : 0); p0 < end; p0 += batch * threads) {
    const PetscInt64              p = p0 + thread;
    typename Register<Code>::type c[batch];
    PetscInt                      column[batch];
    Number                        v[batch], xs[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      const PetscInt64 at = PetscMin(p + k * threads, end - 1);

      column[k] = __ldcs(a.longcol + at);
      c[k]      = __ldcs(value + at);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) v[k] = values.Decode(c[k]);
    x = PDLWait(x);
    if (difference) xref = ReadInOrder(x + reference);
#pragma unroll
    for (int k = 0; k < batch; k++) xs[k] = ReadInOrder(x + column[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) sum = MultiplyAddIf(p + k * threads < end, v[k], difference ? xs[k] - xref : xs[k], sum);
  }

  RowEnd rowend = RowEnd{};

  if (thread == 0) rowend = ReadRowEnd<V::scaled, difference>(a, row);
  sum = WarpSum<32>(sum);
  __syncthreads(); /* all threads have read partial */
  if (thread % 32 == 0) partial[thread / 32] = sum;
  __syncthreads();
  if (thread == 0) {
    for (int w = 1; w < threads / 32; w++) sum = sum + partial[w];
    FinishRow<V::scaled, difference>(a, row, rowend, false, sum, xref);
  }
}
