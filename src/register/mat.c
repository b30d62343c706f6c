/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   All matrix classes of Lithe. Called while a plugin is loaded, before PetscInitialize() has ended: the function may
   register types, and must not create objects.
*/

#include <lithe/private/litheimpl.h>
#include <lithemat.h>
#include <petscmat.h>
#include <lithe/private/litheaij.h>
#include <lithe/private/litheilu.h>

PETSC_INTERN PetscErrorCode MatCreate_SeqAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJHYBMGPU(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJHYBMGPU(Mat);
PETSC_INTERN PetscErrorCode MatCreate_SBPSAT(Mat);
PETSC_INTERN PetscErrorCode MatCreate_Born(Mat);
PETSC_INTERN PetscErrorCode MatGetFactor_SBPSAT_petsc(Mat, MatFactorType, Mat *);

PetscErrorCode LitheMatRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(MatRegister(MATSEQAIJVCRS, MatCreate_SeqAIJVCRS));
  PetscCall(MatRegister(MATMPIAIJVCRS, MatCreate_MPIAIJVCRS));
  PetscCall(MatRegister(MATSEQAIJHYBMGPU, MatCreate_SeqAIJHYBMGPU));
  PetscCall(MatRegister(MATMPIAIJHYBMGPU, MatCreate_MPIAIJHYBMGPU));
  PetscCall(MatRegister(MATSBPSAT, MatCreate_SBPSAT));
  PetscCall(MatRegister(MATBORN, MatCreate_Born));
  PetscCall(LitheAIJRegisterFactors());
#if defined(LITHE_HAVE_CUDA)
  PetscCall(MatSolverTypeRegister(MATSOLVERLITHE, MATSEQAIJCUSPARSE, MAT_FACTOR_ILU, MatGetFactor_SeqAIJCUSPARSE_Lithe));
  PetscCall(MatSolverTypeRegister(MATSOLVERLITHE, MATSEQAIJCUSPARSE, MAT_FACTOR_ICC, MatGetFactor_SeqAIJCUSPARSE_Lithe));
#endif
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSBPSAT, MAT_FACTOR_LU, MatGetFactor_SBPSAT_petsc));
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSBPSAT, MAT_FACTOR_CHOLESKY, MatGetFactor_SBPSAT_petsc));

  /* Names that stand for the sequential or the parallel class. MatRegister() has already initialised PETSc's matrix
     package, which would forget earlier names. */
  PetscCall(MatRegisterRootName(MATAIJVCRS, MATSEQAIJVCRS, MATMPIAIJVCRS));
  PetscCall(MatRegisterRootName(MATVCRS, MATSEQAIJVCRS, MATMPIAIJVCRS));
  PetscCall(MatRegisterRootName(MATAIJHYBMGPU, MATSEQAIJHYBMGPU, MATMPIAIJHYBMGPU));
  PetscCall(MatRegisterRootName(MATHYBMGPU, MATSEQAIJHYBMGPU, MATMPIAIJHYBMGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
