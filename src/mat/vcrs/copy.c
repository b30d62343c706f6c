/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A compressed copy of a matrix, made at the place of the entries: on the host, on a device, in blocks of processes.
   The entries may be arrays of a program.

   The copy never has AIJ arrays. Its plan is made once, with the requested loss.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscdevice.h>

/*
   Compresses the entries of a matrix, or of arrays on a device, for a new B without arrays. On an error B is destroyed
*/
static PetscErrorCode MatVCRSFill_Private(Mat source, const VCRSDeviceCSR *csr, Mat *B)
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
  PetscCall(MatVCRSFill_Private(A, NULL, B));
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
  PetscCall(MatVCRSFill_Private(NULL, csr, B));
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
   The same on several processes: a MATMPIAIJVCRS with A's size and ghost columns, without entries. Assembly would read
   arrays that the blocks do not have
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

/* The same, for A's vector type or another one; options without a prefix have no effect */
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
   Compresses other entries into the empty B, whose options are set: the entries of values[]. If csr is not NULL, csr
   has the diagonal block. Collective
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
    if (!k && csr) MatVCRSSetSource_Private(b[k], NULL, csr);
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

/* ------------------------------------------------------------ arrays of a program */

/* Whether all arrays are in device memory */
static PetscErrorCode MatVCRSGetPlace_Private(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], PetscBool *device)
{
  PetscMemType rows = PETSC_MEMTYPE_HOST, columns, values;

  PetscFunctionBegin;
  if (m) PetscCall(PetscGetMemType(i, &rows));
  PetscCall(PetscGetMemType(j, &columns));
  PetscCall(PetscGetMemType(a, &values));
  *device = PetscMemTypeDevice(rows);
  /* without entries, j and a may be NULL: only i shows their place */
  PetscCheck((!j || PetscMemTypeDevice(columns) == *device) && (!a || PetscMemTypeDevice(values) == *device), PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "Only some of the three arrays are in device memory. Put all three arrays in one place");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateSeqVCRSFromCSR - Creates a compressed matrix of one process from rows in the memory of the host or of a
  device

  Collective

  Input Parameters:
+ comm - communicator of one process
. m    - number of rows
. n    - number of columns
. i    - [`m` + 1] start of each row in `j` and `a`; `i`[0] is 0
. j    - [`i`[`m`]] columns, strictly ascending in each row
- a    - [`i`[`m`]] values

  Output Parameter:
. B - the matrix, of type `MATSEQAIJVCRS`, assembled

  Options Database Keys:
. -mat_vcrs_... - the options of `MATVCRS`

  Level: intermediate

  Notes:
  The call reads the arrays and keeps no reference. The matrix never has AIJ arrays, as after `MatVCRSDropAIJ()`. A
  lossy matrix has only the changed values.

  Arrays in the memory of a CUDA device are compressed on the device, and no large array passes through the host. `B`
  is then for CUDA vectors. PETSc must have initialized the device (`PetscDeviceInitialize()`); otherwise PETSc takes
  the arrays for host arrays. The kernels that fill the arrays must run in PETSc's current stream
  (`PetscDeviceContextGetStreamHandle()`), or be complete. Programs whose kernels make rows should use this function:
  `MatSetPreallocationCOO()` of `MATSEQAIJCUSPARSE` copies indices to the host and sorts the indices on the host.

  The content of arrays on a device is not checked.

.seealso: `MATVCRS`, `MatConvert()`, `MatVCRSDropAIJ()`, `MatVCRSMaterializeAIJ()`, `MatCreateSeqAIJWithArrays()`
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
