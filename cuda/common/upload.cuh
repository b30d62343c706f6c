/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include "petsccuda.cuh"

/* Copies an array to new memory of the device; NULL for an empty array. Synchronises */
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
