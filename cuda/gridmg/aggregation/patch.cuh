/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Wells, and cells with edges in the list, after the kernels of a visit: patch.cu */

#include <lithe/private/gridmg/gridmg.h>
#include "../../common/petsccuda.cuh"

PETSC_INTERN PetscErrorCode GridMGPatchDown(const GridMGVisit *, cudaStream_t);
PETSC_INTERN PetscErrorCode GridMGPatchUp(const GridMGVisit *, cudaStream_t);
