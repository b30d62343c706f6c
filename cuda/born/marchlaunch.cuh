/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The launch of march.cuh for an order */

#include "launch.cuh"
#include "march.cuh"

/* What the host needs to know about a BornKind: the nodes of a tile, blocks per multiprocessor, a tile of u with its
   neighbours, bytes of V */
typedef struct {
  int       x, y, blocks, line, lines, Vbytes;
  BornExtra extra;
} BornMarchShape;

/* cuda/born/map.cu, once for all kinds: slots, the blocks at the same time; arguments and blocks of a launch, no blocks
   if the step has no nodes */
PETSC_INTERN PetscErrorCode BornMarchSlots(const void *kernel, int bytes, int blocks, int *slots);
PETSC_INTERN PetscErrorCode BornMarchSetUp(const BornGrid *, const BornStep *, const BornMarchShape *, int slots, BornArguments<float> *, BornMaps *, dim3 *);

/* The fastest of the measured shapes (512^3, order 8, H100); higher orders have larger rings, and fewer blocks fit */
template <int R, bool both>
using BornShapeOf = BornShape<2, 32, (R > 4 ? 8 : 16), R + 3, 3, (both ? 1 : (R > 4 ? 3 : 2))>;

template <class K>
static PetscErrorCode BornMarchKind(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  using S                    = typename K::S;
  const BornMarchShape shape = {S::TX * S::N, S::TY, S::blocks, K::line, K::lines, static_cast<int>(sizeof(typename K::V)), K::extra};
  static int           slots = 0; /* 0: not known yet */
  BornArguments<float> a;
  BornMaps             maps;
  dim3                 blocks;

  PetscFunctionBegin;
  static_assert(sizeof(typename K::T) == sizeof(float));
  if (!slots) PetscCall(BornMarchSlots(reinterpret_cast<const void *>(BornMarch<K>), K::bytes, S::blocks, &slots));
  PetscCall(BornMarchSetUp(g, step, &shape, slots, &a, &maps, &blocks));
  if (!blocks.x) PetscFunctionReturn(PETSC_SUCCESS);
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
