/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <petscdevice_cuda.h>

/* An array of the host on the device, NULL if it is empty. Synchronises */
template <class T>
static PetscErrorCode UploadArray(const T *src, PetscInt64 n, T **ddst)
{
  PetscFunctionBegin;
  *ddst = NULL;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(ddst), n * sizeof(T)));
  PetscCallCUDA(cudaMemcpy(*ddst, src, n * sizeof(T), cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}
