/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Products of L0 with several columns at once (pairs.cu) */

#include "../kernels.cuh"

/* columns: at most VCRSPairsColumns(); ld: distances between columns of x, add and y */
struct ColumnsArguments {
  int        columns;
  PetscInt64 ldx, ldadd, ldy;
};

/* The largest number of columns at once, or 1 */
PETSC_INTERN PetscInt       VCRSPairsColumns(const VCRSLaunch *);
PETSC_INTERN PetscErrorCode VCRSPairsMultColumns(const VCRSLaunch *, const VCRSPlan *, const MultArguments *, const ColumnsArguments *, cudaStream_t);
