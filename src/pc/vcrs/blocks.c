/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   An inner preconditioner, and its blocks, set up with readable factors.

   The factors of MATSEQAIJCUSPARSE cannot be read (PCVCRSGetFactored_Private()). A preconditioner with factors
   therefore uses another solver type from the beginning, unless a type was given. PETSc creates the solvers of blocks
   in PCSetUp(), and factors the blocks in PCSetUpOnBlocks(): solver types are set in between.
*/

#include "pcvcrsimpl.h"

PetscErrorCode PCVCRSChooseSolver_Private(PC pc)
{
  MatSolverType type = NULL;
  PetscBool     device;

  PetscFunctionBegin;
  if (!pc->ops->getfactoredmatrix || pc->setupcalled || !pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSEQAIJCUSPARSE, &device));
  PetscCall(PCFactorGetMatSolverType(pc, &type));
  if (device && !type) PetscCall(PCVCRSSetSolverType_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solvers of this process's blocks of a preconditioner after set-up; none for other types */
PetscErrorCode PCVCRSGetBlocks_Private(PC pc, PetscInt *n, KSP *ksp[])
{
  PetscBool isbjacobi, isasm, isgasm;

  PetscFunctionBegin;
  *n   = 0;
  *ksp = NULL;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &isbjacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCASM, &isasm));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGASM, &isgasm));
  if (isbjacobi) PetscCall(PCBJacobiGetSubKSP(pc, n, NULL, ksp));
  else if (isasm) PetscCall(PCASMGetSubKSP(pc, n, NULL, ksp));
  else if (isgasm) PetscCall(PCGASMGetSubKSP(pc, n, NULL, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSSetUpInside_Private(PC pc)
{
  PetscInt n;
  KSP     *ksp;
  PC       block;

  PetscFunctionBegin;
  PetscCall(PCVCRSChooseSolver_Private(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCVCRSGetBlocks_Private(pc, &n, &ksp));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(KSPGetPC(ksp[k], &block));
    PetscCall(PCVCRSChooseSolver_Private(block));
  }
  PetscCall(PCSetUpOnBlocks(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
