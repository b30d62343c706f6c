/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include "sbp.cuh"

/* (P e) at node (i, j) of the fine grid. The array e begins at node (0, 0) of the coarse grid */
template <class V>
static __device__ __forceinline__ V SBPProlongNode(const V *e, ptrdiff_t pitch, int i, int j)
{
  using K    = typename SBPReal<V>::type;
  const V *p = e + (j / 2) * pitch + i / 2;
  V        s = SBPRead(p);

  if (i % 2) s = static_cast<K>(0.5) * (s + SBPRead(p + 1));
  if (j % 2) {
    V t = SBPRead(p + pitch);

    if (i % 2) t = static_cast<K>(0.5) * (t + SBPRead(p + pitch + 1));
    s = static_cast<K>(0.5) * (s + t);
  }
  return s;
}
