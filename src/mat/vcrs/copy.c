/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A compressed copy of a matrix, made where the entries are: on the host, on a device, in blocks of processes. The entries may
   be those of a program's own arrays.

   The copy never has AIJ arrays of its own. A plan is made once, with the loss that is asked for.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscdevice.h>

/* Compresses the entries of a matrix, or of arrays on a device, for a new B without arrays. On an error B is destroyed */
static PetscErrorCode MatVCRSFill_Private(Mat source, const VCRSDeviceCSR *csr, Mat *B)
{
  Mat_VCRS      *b;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(*B, &b));
  b->source = source;
  b->csr    = csr;
  ierr      = MatVCRSDropAIJ(*B);
  b->source = NULL;
  b->csr    = NULL;
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
  PetscCall(MatVCRSFill_Private(A, NULL, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* Creates a MATSEQAIJVCRS of arrays on a device, for vectors there. configure() gets the copy before it is compressed */
PetscErrorCode MatVCRSCreateFromDevice_Private(PetscInt m, PetscInt n, const VCRSDeviceCSR *csr, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateAssembled_Private(PETSC_COMM_SELF, m, n, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatSetVecType(*B, VECSEQCUDA));
  PetscCall((*configure)(*B, ctx));
  PetscCall(MatVCRSFill_Private(NULL, csr, B));
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

/* ------------------------------------------------------------ arrays of a program */

/* Whether the arrays are in the memory of a device, all of them */
static PetscErrorCode MatVCRSGetPlace_Private(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], PetscBool *device)
{
  PetscMemType rows = PETSC_MEMTYPE_HOST, columns, values;

  PetscFunctionBegin;
  if (m) PetscCall(PetscGetMemType(i, &rows));
  PetscCall(PetscGetMemType(j, &columns));
  PetscCall(PetscGetMemType(a, &values));
  *device = PetscMemTypeDevice(rows);
  /* without entries j and a may be NULL, of which only i tells */
  PetscCheck((!j || PetscMemTypeDevice(columns) == *device) && (!a || PetscMemTypeDevice(values) == *device), PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "Some of the three arrays are in the memory of a device, others are not. Put all of them in one place");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateSeqVCRSFromCSR - Creates a compressed matrix of one process from rows in the memory of the host or of a device

  Collective

  Input Parameters:
+ comm - communicator of one process
. m    - number of rows
. n    - number of columns
. i    - [`m` + 1] where the rows begin in `j` and `a`; `i`[0] is 0
. j    - [`i`[`m`]] columns, ascending in each row, none of them twice
- a    - [`i`[`m`]] values

  Output Parameter:
. B - the matrix, of type `MATSEQAIJVCRS`, assembled

  Options Database Keys:
. -mat_vcrs_... - those of `MATVCRS`

  Level: intermediate

  Notes:
  The arrays are read in this call, and not kept. The matrix never has AIJ arrays: it is as `MatVCRSDropAIJ()` leaves a matrix, so that a lossy one
  has the values that it multiplies with, and no others.

  Arrays in the memory of a CUDA device are compressed there, and nothing of their size passes through the host. `B` is
  then for CUDA vectors. PETSc must have initialized the device (`PetscDeviceInitialize()`), or it takes the arrays for
  those of the host. What fills the arrays must be in PETSc's current stream
  (`PetscDeviceContextGetStreamHandle()`), or be over. This is the way for a program whose kernels make rows:
  `MatSetPreallocationCOO()` of `MATSEQAIJCUSPARSE` copies indices to the host and sorts them there.

  What the arrays hold is not checked on a device.

.seealso: `MATVCRS`, `MatCreateVCRS()`, `MatVCRSDropAIJ()`, `MatVCRSMaterializeAIJ()`, `MatCreateSeqAIJWithArrays()`
@*/
PetscErrorCode MatCreateSeqVCRSFromCSR(MPI_Comm comm, PetscInt m, PetscInt n, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B)
{
  PetscMPIInt    size;
  PetscBool      device = PETSC_FALSE;
  PetscErrorCode ierr;
  Mat            rows;

  PetscFunctionBegin;
  PetscAssertPointer(B, 7);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_ARG_SIZ, "A matrix from the rows of one process needs a communicator of one, not of %d processes", size);
  PetscCheck(m >= 0 && n >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "A matrix cannot have %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", m, n);
  PetscCheck(!m || i, comm, PETSC_ERR_ARG_NULL, "A matrix of %" PetscInt_FMT " rows needs i[], where they begin", m);
  PetscCall(MatVCRSGetPlace_Private(m, i, j, a, &device));
#if !defined(LITHE_HAVE_CUDA)
  PetscCheck(!device, comm, PETSC_ERR_SUP, "The arrays are in the memory of a device, and Lithe was built without CUDA");
#endif
  PetscCall(MatVCRSCreateAssembled_Private(comm, m, n, B));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    VCRSDeviceCSR csr;

    PetscCall(MatVCRSSetDeviceCSR_Private(m, i, j, a, &csr));
    PetscCall(MatSetVecType(*B, VECSEQCUDA));
    PetscCall(MatVCRSFill_Private(NULL, &csr, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (m) PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, n, (PetscInt *)i, (PetscInt *)j, (PetscScalar *)a, &rows));
  else PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, n, 0, NULL, &rows));
  if (!m) {
    PetscCall(MatAssemblyBegin(rows, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(rows, MAT_FINAL_ASSEMBLY));
  }
  ierr = MatVCRSFill_Private(rows, NULL, B);
  PetscCall(MatDestroy(&rows));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
