/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The host's part of a launch of MATBORN */

#include <lithe/private/cuda/born.h>
#include "node.cuh"

/* Whether march.cuh does a step on the current device; the step is then launched */
PETSC_INTERN PetscErrorCode BornMarchStep(const BornGrid *, const BornStep *, cudaStream_t, bool *);
/* The same per order: march1.cu, ... */
template <int R>
PetscErrorCode BornMarchLaunch(const BornGrid *, const BornStep *, cudaStream_t);
template <>
PetscErrorCode BornMarchLaunch<1>(const BornGrid *, const BornStep *, cudaStream_t);
template <>
PetscErrorCode BornMarchLaunch<2>(const BornGrid *, const BornStep *, cudaStream_t);
template <>
PetscErrorCode BornMarchLaunch<4>(const BornGrid *, const BornStep *, cudaStream_t);
template <>
PetscErrorCode BornMarchLaunch<6>(const BornGrid *, const BornStep *, cudaStream_t);

/* An array counted from the first node */
template <class T>
static inline T *BornFromFirst(const BornGrid *g, const void *x)
{
  return x ? static_cast<T *>(const_cast<void *>(x)) + g->first : nullptr;
}

/* The arguments of a step, T the numbers of u and K the real ones */
template <class T, class K>
static inline BornArguments<K> BornGetArguments(const BornGrid *g, const BornStep *step)
{
  BornArguments<K> a      = {};
  double           centre = 0;

  a.dim = g->dim;
  for (int d = 0; d < 3; d++) {
    PetscInt low = 0, high = g->n[d];

    if (step->inside) BornInside(g, d, &low, &high);
    if (step->part[1] && d == g->dim - 1) {
      low  = step->part[0] > low ? step->part[0] : low;
      high = step->part[1] < high ? step->part[1] : high;
    }
    a.n[d]     = static_cast<int>(g->n[d]);
    a.from[d]  = static_cast<int>(low);
    a.to[d]    = static_cast<int>(high);
    a.whole[d] = static_cast<int>(BornWhole(g, d));
    a.first[d] = static_cast<int>(BornFirst(g, d));
    a.low[d]   = BornSpongeIsLow(g, d);
    if (d < g->dim) centre += g->weight[d][0];
    for (int k = 1; k <= g->radius && d < g->dim; k++) a.weight[d][k - 1] = static_cast<K>(g->weight[d][k]);
  }
  a.centre    = static_cast<K>(centre);
  a.halo      = static_cast<int>(g->halo);
  a.width     = step->inside ? 0 : static_cast<int>(g->width);
  a.sponge    = step->sponge && !step->inside;
  a.damping   = static_cast<K>(g->damping);
  a.Vunit     = static_cast<K>(step->Vunit);
  a.stride[0] = g->stride[1];
  a.stride[1] = g->stride[2];
  a.Vplane    = g->sharedV ? 0 : g->stride[2];
  a.u         = BornFromFirst<T>(g, step->u);
  a.old       = BornFromFirst<T>(g, step->old);
  a.V         = step->Vbits == 16 ? static_cast<void *>(BornFromFirst<uint16_t>(g, step->V)) : static_cast<void *>(BornFromFirst<K>(g, step->V));
  a.w         = BornFromFirst<K>(g, step->w);
  a.wold      = BornFromFirst<K>(g, step->wold);
  a.scatter   = BornFromFirst<K>(g, step->scatter);
  a.image     = BornFromFirst<K>(g, step->image);
  a.out       = BornFromFirst<K>(g, step->out);
  a.largest   = step->largest;
  a.store     = BornGetStoring(g, step->bits, step->store);
  return a;
}

/* Whether a step has no nodes */
template <class K>
static inline bool BornIsEmpty(const BornArguments<K> &a)
{
  return a.from[0] >= a.to[0] || a.from[1] >= a.to[1] || a.from[2] >= a.to[2];
}
