/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Whether the device has programmatic dependent launch: pdl.cuh */

#include "pdl.cuh"

#define DEVICES 64 /* with a stored answer */

static __global__ void Probe()
{
}

PetscErrorCode LitheCUDAHasPDL(bool *may)
{
  static signed char answer[DEVICES]; /* per device: 1 or -1; 0: not yet known */
  int                device, ptx = 0;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  if (device >= DEVICES || !answer[device]) {
    cudaFuncAttributes attributes;

    PetscCallCUDA(cudaFuncGetAttributes(&attributes, Probe));
    ptx = attributes.ptxVersion;
    if (device < DEVICES) answer[device] = ptx >= 90 ? 1 : -1;
  }
  *may = device < DEVICES ? answer[device] > 0 : ptx >= 90;
  PetscFunctionReturn(PETSC_SUCCESS);
}
