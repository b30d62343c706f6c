/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Sums over all earlier numbers. One file compiles CUB's scan: the header takes longer to compile than most files do */

#include "petsccuda.cuh"

/* a[k] becomes a[0] + ... + a[k-1]. With work NULL, only sets the bytes of work */
cudaError_t LitheScan(void *work, size_t *bytes, int *a, PetscInt64 n, cudaStream_t);
cudaError_t LitheScan(void *work, size_t *bytes, PetscInt64 *a, PetscInt64 n, cudaStream_t);
