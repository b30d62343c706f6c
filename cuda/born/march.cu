/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Which steps march.cuh does */

#include "marchlaunch.cuh"

/* Whether code was compiled for the current device: code for older devices does nothing */
static PetscErrorCode BornMarches(bool *may)
{
  static int         known  = -1;
  static bool        result = false;
  int                device, major;
  cudaFuncAttributes attributes;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  if (device != known) {
    PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    result = false;
    if (major >= 9) {
      PetscCallCUDA(cudaFuncGetAttributes(&attributes, BornMarch<BornKind<float, float, 1, false, BORN_NOTHING, false, BornShapeOf<1, false>>>));
      result = attributes.ptxVersion >= 90;
    }
    known = device;
  }
  *may = result;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornMarchStep(const BornGrid *g, const BornStep *step, cudaStream_t stream, bool *done)
{
  PetscFunctionBegin;
  *done = false;
  if (g->dim < 3 || step->number == BORN_DOUBLE) PetscFunctionReturn(PETSC_SUCCESS);
  if (step->bits && step->w && !step->scatter) PetscFunctionReturn(PETSC_SUCCESS); /* no sweep does so */
  PetscCall(BornMarches(done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  switch (g->radius) {
  case 1:
    PetscCall(BornMarchLaunch<1>(g, step, stream));
    break;
  case 2:
    PetscCall(BornMarchLaunch<2>(g, step, stream));
    break;
  case 4:
    PetscCall(BornMarchLaunch<4>(g, step, stream));
    break;
  default:
    PetscCall(BornMarchLaunch<6>(g, step, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
