/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The launch of march.cuh for an order */

#include "launch.cuh"
#include "march.cuh"

#define BORN_PLANES 20 /* approximate planes per block; short marches balance blocks, long marches read fewer planes twice */

/* cuda/born/march.cu */
PETSC_INTERN PetscErrorCode BornMapCreate(const BornGrid *, const void *, int bytes, int nx, int ny, CUtensorMap *);

/* The fastest of the measured shapes (512^3, order 8, H100); higher orders have larger rings, and fewer blocks fit */
template <int R, bool both>
using BornShapeOf = BornShape<2, 32, (R > 4 ? 8 : 16), R + 3, 3, (both ? 1 : (R > 4 ? 3 : 2))>;

template <class K>
static PetscErrorCode BornMarchKind(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  using S                    = typename K::S;
  static bool          known = false;
  BornArguments<float> a     = BornGetArguments<typename K::T, float>(g, step);
  BornMaps             maps  = {};
  const int  n[3] = {a.to[0] - a.from[0] / BORN_ALIGN * BORN_ALIGN, a.to[1] - a.from[1], a.to[2] - a.from[2]}, chunks = (n[2] + BORN_PLANES - 1) / BORN_PLANES;
  const dim3 blocks(static_cast<unsigned>((n[0] + S::TX * S::N - 1) / (S::TX * S::N)), static_cast<unsigned>((n[1] + S::TY - 1) / S::TY),
                    static_cast<unsigned>(chunks));

  PetscFunctionBegin;
  if (BornIsEmpty(a)) PetscFunctionReturn(PETSC_SUCCESS);
  a.chunk = (n[2] + chunks - 1) / chunks;
  PetscCall(BornMapCreate(g, step->u, 4, K::line, K::lines, &maps.u));
  PetscCall(BornMapCreate(g, step->w, 4, K::line, K::lines, &maps.w));
  PetscCall(BornMapCreate(g, step->old, 4, S::TX * S::N, S::TY, &maps.old));
  PetscCall(BornMapCreate(g, step->wold, 4, S::TX * S::N, S::TY, &maps.wold));
  PetscCall(BornMapCreate(g, K::extra == BORN_IMAGE ? step->image : step->scatter, 4, S::TX * S::N, S::TY, &maps.extra));
  PetscCall(BornMapCreate(g, step->V, static_cast<int>(sizeof(typename K::V)), S::TX * S::N, S::TY, &maps.V));
  if (!known) PetscCallCUDA(cudaFuncSetAttribute(BornMarch<K>, cudaFuncAttributeMaxDynamicSharedMemorySize, K::bytes));
  known = true;
  BornMarch<K><<<blocks, S::threads, K::bytes, stream>>>(a, maps);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int R, class T, class V>
static PetscErrorCode BornMarchNumber(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (step->w && step->image) PetscCall((BornMarchKind<BornKind<T, V, R, true, BORN_IMAGE, false, BornShapeOf<R, true>>>(g, step, stream)));
  else if (step->w && step->scatter && step->bits)
    PetscCall((BornMarchKind<BornKind<T, V, R, true, BORN_SCATTER, true, BornShapeOf<R, true>>>(g, step, stream)));
  else if (step->w && step->scatter) PetscCall((BornMarchKind<BornKind<T, V, R, true, BORN_SCATTER, false, BornShapeOf<R, true>>>(g, step, stream)));
  else if (step->w) PetscCall((BornMarchKind<BornKind<T, V, R, true, BORN_NOTHING, false, BornShapeOf<R, true>>>(g, step, stream)));
  else if (step->bits) PetscCall((BornMarchKind<BornKind<T, V, R, false, BORN_NOTHING, true, BornShapeOf<R, false>>>(g, step, stream)));
  else PetscCall((BornMarchKind<BornKind<T, V, R, false, BORN_NOTHING, false, BornShapeOf<R, false>>>(g, step, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int R>
static PetscErrorCode BornMarchOrder(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (step->number == BORN_FLOAT && step->Vbits != 16) PetscCall((BornMarchNumber<R, float, float>(g, step, stream)));
  else if (step->number == BORN_FLOAT) PetscCall((BornMarchNumber<R, float, uint16_t>(g, step, stream)));
  else if (step->Vbits != 16) PetscCall((BornMarchNumber<R, int32_t, float>(g, step, stream)));
  else PetscCall((BornMarchNumber<R, int32_t, uint16_t>(g, step, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
