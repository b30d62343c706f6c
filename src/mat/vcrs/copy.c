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
static PetscErrorCode MatVCRSCreateFromDevice_Seq(MPI_Comm comm, PetscInt m, PetscInt n, const VCRSDeviceCSR *csr, PetscErrorCode (*configure)(Mat, void *),
                                                  void *ctx, Mat *B)
{
  Mat_VCRS      *b;
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateAssembled_Private(comm, m, n, B);
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

/* The blocks have nothing to assemble */
static PetscErrorCode MatAssemblyEnd_Nothing(PETSC_UNUSED Mat A, PETSC_UNUSED MatAssemblyType type)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The same on many processes: a MATMPIAIJVCRS of A's size, with A's ghost columns and without entries. An assembly would read the
   arrays that its blocks do not have
*/
static PetscErrorCode MatVCRSCreateAssembled_MPI(Mat A, Mat *B)
{
  PetscErrorCode (*assemblyend[2])(Mat, MatAssemblyType);
  const PetscInt *garray;
  PetscInt        nghosts, rbs, cbs, *columns;
  Mat             Ao, block[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &Ao, &garray));
  PetscCall(MatGetBlockSizes(A, &rbs, &cbs));
  nghosts = Ao->cmap->n;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatVCRSCreateAssembled_Private(PETSC_COMM_SELF, A->rmap->n, k ? nghosts : A->cmap->n, &block[k]));
    PetscCall(MatSetBlockSizes(block[k], rbs, k ? 1 : cbs));
    assemblyend[k]             = block[k]->ops->assemblyend;
    block[k]->ops->assemblyend = MatAssemblyEnd_Nothing;
  }
  PetscCall(PetscMalloc1(nghosts + 1, &columns)); /* NULL would have PETSc look for ghost columns in the arrays */
  PetscCall(PetscArraycpy(columns, garray, nghosts));
  PetscCall(MatCreateMPIAIJWithSeqAIJ(PetscObjectComm((PetscObject)A), A->rmap->N, A->cmap->N, block[0], block[1], columns, B));
  for (int k = 0; k < 2; k++) block[k]->ops->assemblyend = assemblyend[k];
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, for A's vectors, or others; options without a prefix do not act upon it */
PetscErrorCode MatVCRSCreateEmpty_MPI(Mat A, VecType vectype, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateAssembled_MPI(A, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  if (!vectype) PetscCall(MatGetVecType(A, &vectype));
  PetscCall(MatSetVecType(*B, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compresses entries that are elsewhere into B, which is empty and has the options that it is to have: those of values[], or csr, if that is
   not NULL, for the diagonal block. Collective
*/
PetscErrorCode MatVCRSFill_MPI(Mat B, const VCRSDeviceCSR *csr, const Mat values[])
{
  Mat            block[2];
  Mat_VCRS      *b[2];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetBlocks_Private(B, &block[0], &block[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatVCRSGetContext(block[k], &b[k]));
    if (!k && csr) b[k]->csr = csr;
    else b[k]->source = values[k];
  }
  ierr         = MatVCRSDropAIJ(B);
  b[0]->csr    = NULL;
  b[0]->source = b[1]->source = NULL;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCreateCopy_MPI(Mat A, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  PetscErrorCode ierr;
  Mat            exact[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &exact[0], &exact[1], NULL));
  PetscCall(MatVCRSCreateEmpty_MPI(A, NULL, B));
  PetscCall(MatPropagateSymmetryOptions(A, *B));
  PetscCall((*configure)(*B, ctx));
  ierr = MatVCRSFill_MPI(*B, NULL, exact);
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/*
   Creates a MATVCRS of arrays on a device, for vectors there: of a communicator of one process, m x n, or the diagonal block of a parallel one that has
   size, ghost columns and off-diagonal block of beside. configure() gets it before it is compressed. Collective
*/
PetscErrorCode MatVCRSCreateFromDevice_Private(MPI_Comm comm, PetscInt m, PetscInt n, const VCRSDeviceCSR *csr, Mat beside,
                                               PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  Mat            values[2];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (!beside) {
    PetscCall(MatVCRSCreateFromDevice_Seq(comm, m, n, csr, configure, ctx, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatMPIAIJGetSeqAIJ(beside, &values[0], &values[1], NULL));
  PetscCall(MatVCRSCreateEmpty_MPI(beside, VECCUDA, B));
  PetscCall((*configure)(*B, ctx));
  ierr = MatVCRSFill_MPI(*B, csr, values);
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

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
