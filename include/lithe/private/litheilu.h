/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* MATSOLVERLITHE: incomplete LU and Cholesky factors of MATSEQAIJCUSPARSE, made on the device */

#include <lithe/private/cuda/factor.h>
#include <lithemat.h>

#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatGetFactor_SeqAIJCUSPARSE_Lithe(Mat, MatFactorType, Mat *);
/*
   The factors of a factored matrix of type MATSOLVERLITHE: on the device, or in a factored matrix of PETSc, which is
   not referenced. The unused pointer is NULL
*/
PETSC_INTERN PetscErrorCode MatLitheGetFactor_Private(Mat, const LitheDeviceFactor **, Mat *host);
#endif
