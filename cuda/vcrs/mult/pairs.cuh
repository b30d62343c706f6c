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
  return PairsTables{static_cast<int>(p->sets.idbytes), p->sets.id, p->sets.ptr, p->sets.offset, reinterpret_cast<const Number *>(p->sets.value)};
}

/* A row from the tables; entries in batches with overlapping reads */
static __device__ __forceinline__ Number SumTable(const PairsTables &a, PetscInt id, const Number *x)
{
  constexpr int   batch  = 4;
  const PetscInt  start  = __ldg(a.setptr + id);
  const int       length = static_cast<int>(__ldg(a.setptr + id + 1) - start);
  const PetscInt *o      = a.setoffset + start;
  const Number   *v      = a.setvalue + start;
  Number          sum    = Number{};

  for (int k0 = 0; k0 < length; k0 += batch) {
    Number   xs[batch], vs[batch];
    PetscInt os[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      os[k] = k0 + k < length ? __ldg(o + k0 + k) : 0;
      vs[k] = ReadAnyIf(k0 + k < length, v + k0 + k);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) xs[k] = ReadAnyIf(k0 + k < length, x + os[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) sum = MultiplyAddIf(k0 + k < length, vs[k], xs[k], sum);
  }
  return sum;
}
