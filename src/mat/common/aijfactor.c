/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Factors of the matrix classes that are MATSEQAIJ with different products.

   PETSc's ILU(0) copies the list of composed functions of a matrix into the factor, a MATSEQAIJ. The destructor of a
   MATSEQAIJ removes only functions composed by MATSEQAIJ, and PETSc requires an empty list (-checkfunctionlist). A
   factor of a matrix of the family therefore keeps its former list.
*/

#include <lithe/private/litheaij.h>

/* PETSc's own, of all factors */
static PetscErrorCode (*ILUGetFactorBase)(Mat, MatFactorType, Mat *)                    = NULL;
static PetscErrorCode (*ILUFactorSymbolicBase)(Mat, Mat, IS, IS, const MatFactorInfo *) = NULL;

static PetscErrorCode MatILUFactorSymbolic_AIJFamily(Mat F, Mat A, IS row, IS column, const MatFactorInfo *info)
{
  PetscFunctionList functions = NULL;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListDuplicate(((PetscObject)F)->qlist, &functions));
  ierr = (*ILUFactorSymbolicBase)(F, A, row, column, info);
  PetscCall(PetscFunctionListDestroy(&((PetscObject)F)->qlist));
  ((PetscObject)F)->qlist = functions;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc finds a solver by the beginning of a matrix type: this function serves all types that begin with MATSEQAIJ */
static PetscErrorCode MatGetFactor_AIJFamily(Mat A, MatFactorType type, Mat *F)
{
  PetscBool ours;

  PetscFunctionBegin;
  PetscCall((*ILUGetFactorBase)(A, type, F));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJVCRS, MATSEQAIJHYBMGPU, ""));
  if (!ours || !*F || !(*F)->ops->ilufactorsymbolic) PetscFunctionReturn(PETSC_SUCCESS);
  ILUFactorSymbolicBase        = (*F)->ops->ilufactorsymbolic;
  (*F)->ops->ilufactorsymbolic = MatILUFactorSymbolic_AIJFamily;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheAIJRegisterFactors(void)
{
  PetscErrorCode (*f)(Mat, MatFactorType, Mat *);

  PetscFunctionBegin;
  PetscCall(MatSolverTypeGet(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, NULL, NULL, &f));
  if (!f || f == MatGetFactor_AIJFamily) PetscFunctionReturn(PETSC_SUCCESS);
  ILUGetFactorBase = f;
  PetscCall(MatSolverTypeRegister(MATSOLVERPETSC, MATSEQAIJ, MAT_FACTOR_ILU, MatGetFactor_AIJFamily));
  PetscFunctionReturn(PETSC_SUCCESS);
}
