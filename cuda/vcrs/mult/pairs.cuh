/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the kernels of L0: tables, and a row from the tables */

#include "../kernels.cuh"

struct PairsTables {
  int             idbytes;
  const void     *id;
  const PetscInt *setptr, *setoffset;
  const Number   *setvalue;
};

static inline PairsTables PairsGetTables(const VCRSPlan *p)
{
  return PairsTables{static_cast<int>(p->idbytes), p->id, p->setptr, p->setoffset, reinterpret_cast<const Number *>(p->setvalue)};
}

/* A row from the tables for several columns of x, which begin at x + at[]; entries in batches with overlapping reads */
template <int columns>
static __device__ __forceinline__ void SumTableColumns(const PairsTables &a, PetscInt id, const Number *x, const PetscInt64 at[], Number sum[columns])
{
  constexpr int   batch  = columns > 1 ? 1 : 4; /* loads for several columns overlap, too */
  const PetscInt  start  = __ldg(a.setptr + id);
  const int       length = static_cast<int>(__ldg(a.setptr + id + 1) - start);
  const PetscInt *o      = a.setoffset + start;
  const Number   *v      = a.setvalue + start;

#pragma unroll
  for (int c = 0; c < columns; c++) sum[c] = Number{};
  for (int k0 = 0; k0 < length; k0 += batch) {
    Number   vs[batch];
    PetscInt os[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      os[k] = k0 + k < length ? __ldg(o + k0 + k) : 0;
      vs[k] = ReadAnyIf(k0 + k < length, v + k0 + k);
    }
#pragma unroll
    for (int c = 0; c < columns; c++) {
      Number xs[batch];

#pragma unroll
      for (int k = 0; k < batch; k++) xs[k] = ReadAnyIf(k0 + k < length, x + (at[c] + os[k]));
#pragma unroll
      for (int k = 0; k < batch; k++) sum[c] = MultiplyAddIf(k0 + k < length, vs[k], xs[k], sum[c]);
    }
  }
}

static __device__ __forceinline__ Number SumTable(const PairsTables &a, PetscInt id, const Number *x)
{
  constexpr PetscInt64 at[1] = {0};
  Number               sum[1];

  SumTableColumns<1>(a, id, x, at, sum);
  return sum[0];
}
