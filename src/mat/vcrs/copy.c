/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A compressed copy of a matrix, made where the entries are: on the host, on a device, in blocks of processes.

   The copy never has AIJ arrays of its own. A plan is made once, with the loss that is asked for.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

/*
   An assembled MATSEQAIJVCRS without entries and without arrays: those of an empty matrix with millions of rows take
   longer than a compression. Its AIJ arrays have to be dropped before anything else is done with it
*/
static PetscErrorCode MatVCRSCreateAssembled_Private(MPI_Comm comm, PetscInt m, PetscInt n, Mat *B)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, B));
  PetscCall(MatSetSizes(*B, m, n, m, n));
  PetscCall(MatSetType(*B, MATSEQAIJVCRS));
  PetscCall(MatSeqAIJSetPreallocation(*B, MAT_SKIP_ALLOCATION, NULL));
  PetscCall(MatVCRSGetDrop_Private(*B, &drop));
  PetscCall(VCRSDropRecordOption(drop, MAT_ROW_ORIENTED, PETSC_TRUE));
  (*B)->assembled = PETSC_TRUE;
  (*B)->num_ass   = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, of A's size and for its vectors */
PetscErrorCode MatVCRSCreateEmpty_Private(Mat A, Mat *B)
{
  VecType vectype;

  PetscFunctionBegin;
  PetscCall(MatVCRSCreateAssembled_Private(PetscObjectComm((PetscObject)A), A->rmap->n, A->cmap->n, B));
  PetscCall(MatSetBlockSizesFromMats(*B, A, A));
  PetscCall(MatGetVecType(A, &vectype));
  PetscCall(MatSetVecType(*B, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCreateCopy_Seq(Mat A, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  Mat_VCRS      *b;
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateEmpty_Private(A, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatPropagateSymmetryOptions(A, *B));
  PetscCall((*configure)(*B, ctx));
  PetscCall(MatVCRSGetContext(*B, &b));
  b->source = A;
  ierr      = MatVCRSDropAIJ(*B);
  b->source = NULL;
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* Creates a MATSEQAIJVCRS of arrays on a device, for vectors there. configure() gets the copy before it is compressed */
PetscErrorCode MatVCRSCreateFromDevice_Private(PetscInt m, PetscInt n, const VCRSDeviceCSR *csr, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  Mat_VCRS      *b;
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateAssembled_Private(PETSC_COMM_SELF, m, n, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatSetVecType(*B, VECSEQCUDA));
  PetscCall((*configure)(*B, ctx));
  PetscCall(MatVCRSGetContext(*B, &b));
  b->csr = csr;
  ierr   = MatVCRSDropAIJ(*B);
  b->csr = NULL;
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* A MATSEQAIJ of A's size without entries, which is not assembled */
static PetscErrorCode MatVCRSCreateEmptyBlock_Private(Mat A, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, B));
  PetscCall(MatSetSizes(*B, A->rmap->n, A->cmap->n, A->rmap->n, A->cmap->n));
  PetscCall(MatSetBlockSizesFromMats(*B, A, A));
  PetscCall(MatSetType(*B, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, NULL));
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A MATMPIAIJVCRS of A's size, with A's ghost columns, without entries */
static PetscErrorCode MatVCRSCreateEmpty_MPI(Mat A, const Mat exact[], const PetscInt garray[], Mat *B)
{
  const PetscInt nghosts = exact[1]->cmap->n;
  Mat            block[2];
  PetscInt      *columns;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(MatVCRSCreateEmptyBlock_Private(exact[k], &block[k]));
  PetscCall(PetscMalloc1(nghosts, &columns));
  PetscCall(PetscArraycpy(columns, garray, nghosts));
  PetscCall(MatCreateMPIAIJWithSeqAIJ(PetscObjectComm((PetscObject)A), A->rmap->N, A->cmap->N, block[0], block[1], columns, B));
  PetscCall(MatConvert(*B, MATMPIAIJVCRS, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCreateCopy_MPI(Mat A, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  const PetscInt *garray;
  Mat             exact[2], block[2];
  Mat_VCRS       *b[2];
  VecType         vectype;
  PetscErrorCode  ierr;
  PetscOptions    none;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &exact[0], &exact[1], &garray));
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateEmpty_MPI(A, exact, garray, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatPropagateSymmetryOptions(A, *B));
  PetscCall(MatGetVecType(A, &vectype));
  PetscCall(MatSetVecType(*B, vectype));
  PetscCall((*configure)(*B, ctx));
  PetscCall(MatVCRSGetBlocks_Private(*B, &block[0], &block[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatVCRSGetContext(block[k], &b[k]));
    b[k]->source = exact[k];
  }
  ierr         = MatVCRSDropAIJ(*B);
  b[0]->source = b[1]->source = NULL;
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Creates a copy of type MATVCRS of an assembled relative of MATSEQAIJ or MATMPIAIJ, which is no MATVCRS. Collective.
   configure() gets the copy before it is compressed. Options without a prefix do not act upon it
*/
PetscErrorCode MatVCRSCreateCopy_Private(Mat A, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatVCRSCreateCopy_MPI(A, configure, ctx, B));
  else PetscCall(MatVCRSCreateCopy_Seq(A, configure, ctx, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
