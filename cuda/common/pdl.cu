/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Whether the device has programmatic dependent launch: pdl.cuh */

#include "pdl.cuh"

static __global__ void Probe()
{
}

PetscErrorCode LitheCUDAHasPDL(bool *may)
{
  static int  known = -1; /* a process has one device, as a rule */
  static bool answer;
  int         device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  if (device != known) {
    cudaFuncAttributes attributes;

    PetscCallCUDA(cudaFuncGetAttributes(&attributes, Probe));
    answer = attributes.ptxVersion >= 90;
    known  = device;
  }
  *may = answer;
  PetscFunctionReturn(PETSC_SUCCESS);
}
