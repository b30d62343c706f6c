/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Steps by march.cuh, order 2 */

#include "marchlaunch.cuh"

template <>
PetscErrorCode BornMarchLaunch<1>(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(BornMarchOrder<1>(g, step, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
