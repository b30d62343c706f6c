/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Direct solves and submatrices of a MATSBPSAT, for the coarsest level of PETSc's multigrid: by way of the assembled
   matrix. MATSEQAIJ makes the factors. Its symbolic and numeric phases get the assembled matrix in place of the
   MATSBPSAT.
*/

#include "sbpsatimpl.h"
#include <lithe/private/litheimpl.h>

/* The operations of AIJ's factor, composed with the factor */
typedef struct {
  PetscErrorCode (*lusymbolic)(Mat, Mat, IS, IS, const MatFactorInfo *);
  PetscErrorCode (*choleskysymbolic)(Mat, Mat, IS, const MatFactorInfo *);
  PetscErrorCode (*lunumeric)(Mat, Mat, const MatFactorInfo *);
  PetscErrorCode (*choleskynumeric)(Mat, Mat, const MatFactorInfo *);
} SBPFactor;

static const char SBPFactorName[] = "MatSBPSAT_factor";

static PetscErrorCode SBPFactorGet_Private(Mat F, SBPFactor **factor)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, SBPFactorName, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)F), PETSC_ERR_PLIB, "The factor was not made from a matrix of type sbpsat");
  PetscCall(PetscContainerGetPointer(container, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A temporary MATAIJ: options without a prefix have no effect */
PetscErrorCode MatSBPSATCreateAIJ_Private(Mat A, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatConvert_SBPSAT_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorNumeric_SBPSAT(Mat F, Mat A, const MatFactorInfo *info)
{
  SBPFactor *factor;
  Mat        B;

  PetscFunctionBegin;
  PetscCall(SBPFactorGet_Private(F, &factor));
  PetscCall(MatSBPSATCreateAIJ_Private(A, &B));
  if (F->factortype == MAT_FACTOR_LU) PetscCall((*factor->lunumeric)(F, B, info));
  else PetscCall((*factor->choleskynumeric)(F, B, info));
  PetscCall(MatDestroy(&B));
  /* The numeric phase may have set itself for the next time */
  F->ops->lufactornumeric       = MatFactorNumeric_SBPSAT;
  F->ops->choleskyfactornumeric = MatFactorNumeric_SBPSAT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc cannot order this type of matrix: the arguments contain no permutations */
static PetscErrorCode SBPFactorSymbolic_Private(Mat F, Mat A, const MatFactorInfo *info)
{
  SBPFactor *factor;
  Mat        B;
  IS         rows, columns;

  PetscFunctionBegin;
  PetscCall(SBPFactorGet_Private(F, &factor));
  PetscCall(MatSBPSATCreateAIJ_Private(A, &B));
  PetscCall(MatGetOrdering(B, MATORDERINGND, &rows, &columns));
  if (F->factortype == MAT_FACTOR_LU) PetscCall((*factor->lusymbolic)(F, B, rows, columns, info));
  else PetscCall((*factor->choleskysymbolic)(F, B, rows, info));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&columns));
  PetscCall(MatDestroy(&B));
  factor->lunumeric             = F->ops->lufactornumeric;
  factor->choleskynumeric       = F->ops->choleskyfactornumeric;
  F->ops->lufactornumeric       = MatFactorNumeric_SBPSAT;
  F->ops->choleskyfactornumeric = MatFactorNumeric_SBPSAT;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLUFactorSymbolic_SBPSAT(Mat F, Mat A, PETSC_UNUSED IS rows, PETSC_UNUSED IS columns, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(SBPFactorSymbolic_Private(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCholeskyFactorSymbolic_SBPSAT(Mat F, Mat A, PETSC_UNUSED IS rows, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(SBPFactorSymbolic_Private(F, A, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetFactor_SBPSAT_petsc(Mat A, MatFactorType type, Mat *F)
{
  PetscErrorCode ierr;
  PetscOptions   none;
  Mat            B;
  SBPFactor     *factor;
  PetscContainer container;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCheck(size == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "PETSc's factors are sequential; use -pc_type redundant, or MatConvert() to MATAIJ and a parallel package");
  /* the factor of an AIJ matrix of this size */
  PetscCall(LitheOptionsHide(&none));
  ierr = MatCreateSeqAIJ(PetscObjectComm((PetscObject)A), A->rmap->n, A->cmap->n, 0, NULL, &B);
  if (!ierr) ierr = MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY);
  if (!ierr) ierr = MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatGetFactor(B, MATSOLVERPETSC, type, F));
  PetscCall(MatDestroy(&B));

  PetscCall(PetscNew(&factor));
  factor->lusymbolic       = (*F)->ops->lufactorsymbolic;
  factor->choleskysymbolic = (*F)->ops->choleskyfactorsymbolic;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)*F), &container));
  PetscCall(PetscContainerSetPointer(container, factor));
  PetscCall(PetscContainerSetCtxDestroy(container, PetscCtxDestroyDefault));
  PetscCall(PetscObjectCompose((PetscObject)*F, SBPFactorName, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  if ((*F)->ops->lufactorsymbolic) (*F)->ops->lufactorsymbolic = MatLUFactorSymbolic_SBPSAT;
  if ((*F)->ops->choleskyfactorsymbolic) (*F)->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_SBPSAT;
  (*F)->canuseordering = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateSubMatrices_SBPSAT(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *submatrices[])
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatSBPSATCreateAIJ_Private(A, &B));
  PetscCall(MatCreateSubMatrices(B, n, rows, columns, reuse, submatrices));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateSubMatrix_SBPSAT(Mat A, IS rows, IS columns, MatReuse reuse, Mat *submatrix)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatSBPSATCreateAIJ_Private(A, &B));
  PetscCall(MatCreateSubMatrix(B, rows, columns, reuse, submatrix));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
