/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A compressed copy of a matrix, made at the place of the entries: on the host, on a device, in blocks of processes.
   rows/fromrows.c makes matrices from arrays of a program.

   The copy never has AIJ arrays. Its plan is made once, with the requested loss.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscdevice.h>

/*
   Compresses the entries of a matrix, or of arrays on a device, for a new B without arrays. On an error B is destroyed
*/
PetscErrorCode MatVCRSFill_Seq(Mat source, const VCRSDeviceCSR *csr, Mat *B)
{
  Mat_VCRS      *b;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(*B, &b));
  MatVCRSSetSource_Private(b, source, csr);
  ierr = MatVCRSDropAIJ(*B);
  MatVCRSSetSource_Private(b, NULL, NULL);
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCreateCopy_Seq(Mat A, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateEmpty_Private(A, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatPropagateSymmetryOptions(A, *B));
  PetscCall((*configure)(*B, ctx));
  PetscCall(MatVCRSFill_Seq(A, NULL, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
static PetscErrorCode MatVCRSCreateFromDevice_Seq(MPI_Comm comm, PetscInt m, PetscInt n, const VCRSDeviceCSR *csr, PetscErrorCode (*configure)(Mat, void *),
                                                  void *ctx, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateAssembled_Private(comm, m, n, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatSetVecType(*B, VECSEQCUDA));
  PetscCall((*configure)(*B, ctx));
  PetscCall(MatVCRSFill_Seq(NULL, csr, B));
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
   The same on several processes: a MATMPIAIJVCRS with these rows and columns, ghost columns in ascending order, and no
   entries. Assembly would read arrays that the blocks do not have
*/
static PetscErrorCode MatVCRSCreateAssembled_MPI(PetscLayout rows, PetscLayout columns, PetscInt nghosts, const PetscInt ghost[], Mat *B)
{
  PetscErrorCode (*assemblyend[2])(Mat, MatAssemblyType);
  PetscInt rbs, cbs, *garray;
  Mat      block[2];

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetBlockSize(rows, &rbs));
  PetscCall(PetscLayoutGetBlockSize(columns, &cbs));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatVCRSCreateAssembled_Private(PETSC_COMM_SELF, rows->n, k ? nghosts : columns->n, &block[k]));
    PetscCall(MatSetBlockSizes(block[k], rbs, k ? 1 : cbs));
    assemblyend[k]             = block[k]->ops->assemblyend;
    block[k]->ops->assemblyend = MatAssemblyEnd_Nothing;
  }
  PetscCall(PetscMalloc1(nghosts + 1, &garray)); /* NULL would have PETSc look for ghost columns in the arrays */
  PetscCall(PetscArraycpy(garray, ghost, nghosts));
  PetscCall(MatCreateMPIAIJWithSeqAIJ(rows->comm, rows->N, columns->N, block[0], block[1], garray, B));
  for (int k = 0; k < 2; k++) block[k]->ops->assemblyend = assemblyend[k];
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, for vectors of a type, or NULL; options without a prefix have no effect */
PetscErrorCode MatVCRSCreateWithGhosts_MPI(PetscLayout rows, PetscLayout columns, PetscInt nghosts, const PetscInt ghost[], VecType vectype, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateAssembled_MPI(rows, columns, nghosts, ghost, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  if (vectype) PetscCall(MatSetVecType(*B, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with A's size and ghost columns, for A's vector type or another one */
PetscErrorCode MatVCRSCreateEmpty_MPI(Mat A, VecType vectype, Mat *B)
{
  const PetscInt *ghost;
  Mat             Ao;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &Ao, &ghost));
  if (!vectype) PetscCall(MatGetVecType(A, &vectype));
  PetscCall(MatVCRSCreateWithGhosts_MPI(A->rmap, A->cmap, Ao->cmap->n, ghost, vectype, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compresses other entries into the empty B, whose options are set: the entries of values[]. If csr is not NULL, the
   blocks with a csr[] have its arrays instead. Collective
*/
PetscErrorCode MatVCRSFill_MPI(Mat B, const VCRSDeviceCSR *const csr[], const Mat values[])
{
  Mat            block[2];
  Mat_VCRS      *b[2];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetBlocks_Private(B, &block[0], &block[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatVCRSGetContext(block[k], &b[k]));
    if (csr && csr[k]) MatVCRSSetSource_Private(b[k], NULL, csr[k]);
    else MatVCRSSetSource_Private(b[k], values[k], NULL);
  }
  ierr = MatVCRSDropAIJ(B);
  for (int k = 0; k < 2; k++) MatVCRSSetSource_Private(b[k], NULL, NULL);
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
   Creates a MATVCRS of arrays on a device, for vectors on the device. On one process it is m x n. On several processes
   the arrays are the diagonal block; size, ghost columns and off-diagonal block come from beside. configure() is called
   before the compression. Collective
*/
PetscErrorCode MatVCRSCreateFromDevice_Private(MPI_Comm comm, PetscInt m, PetscInt n, const VCRSDeviceCSR *csr, Mat beside,
                                               PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  const VCRSDeviceCSR *const diagonal[2] = {csr, NULL};
  Mat                        values[2];
  PetscErrorCode             ierr;

  PetscFunctionBegin;
  if (!beside) {
    PetscCall(MatVCRSCreateFromDevice_Seq(comm, m, n, csr, configure, ctx, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatMPIAIJGetSeqAIJ(beside, &values[0], &values[1], NULL));
  PetscCall(MatVCRSCreateEmpty_MPI(beside, VECCUDA, B));
  PetscCall((*configure)(*B, ctx));
  ierr = MatVCRSFill_MPI(*B, diagonal, values);
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*
   Creates a copy of type MATVCRS of an assembled relative of MATSEQAIJ or MATMPIAIJ that is no MATVCRS. configure() is
   called before the compression. Options without a prefix have no effect. Collective
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
