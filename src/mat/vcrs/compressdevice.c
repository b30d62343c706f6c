/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression of a MATVCRS on the device, of entries on the device or uploaded for the compression.

   The plan is on the device; the host has only the small tables. MatVCRSGetHostPlan_Private() copies the rest when host
   code needs the plan.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscdevice_cuda.h>

/* Are the current values of A in the memory of the device? */
PetscErrorCode MatVCRSIsOnDevice_Private(Mat A, PetscBool *device)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, device));
  if (*device)
    *device = (PetscBool)(A->assembled && !A->factortype && !A->structure_only && !A->boundtocpu &&
                          (A->offloadmask == PETSC_OFFLOAD_GPU || A->offloadmask == PETSC_OFFLOAD_BOTH));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   In the order of the current stream. Before the first allocation, PETSc must have chosen the device of this process:
   the matrix may be the first object on a device
*/
static PetscErrorCode MatVCRSUploadArray_Private(const void *from, size_t bytes, const void **to)
{
  void        *buffer;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(&buffer, PetscMax(bytes, 1)));
  *to = buffer;
  if (bytes) PetscCallCUDA(cudaMemcpyAsync(buffer, from, bytes, cudaMemcpyHostToDevice, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows in device memory, in the order of the current stream */
PetscErrorCode MatVCRSSetDeviceCSR_Private(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], VCRSDeviceCSR *csr)
{
  PetscInt     nz = 0;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (m) {
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCallCUDA(cudaMemcpyAsync(&nz, i + m, sizeof(nz), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
  *csr = (VCRSDeviceCSR){nz, i, j, a};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries to compress, of A or of its source; own: the buffers are freed after the compression */
static PetscErrorCode MatVCRSGetDeviceCSR_Private(Mat A, VCRSDeviceCSR *csr, PetscBool *own)
{
  const PetscInt     m = A->rmap->n;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  Mat_VCRS          *ctx;
  Mat                values;
  PetscBool          device, done;
  PetscInt           n, nz = 0;
  MatInfo            info;

  PetscFunctionBegin;
  *own = PETSC_FALSE;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->from.csr) {
    *csr = *ctx->from.csr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  values = ctx->from.source ? ctx->from.source : A;
  PetscCall(MatVCRSIsOnDevice_Private(values, &device));
  if (device) {
    PetscCall(MatGetInfo(values, MAT_LOCAL, &info));
    device = (PetscBool)(info.nz_used > 0.0); /* MATSEQAIJCUSPARSE may have no arrays of an empty matrix */
  }
  if (device) {
    PetscCall(MatSeqAIJCUSPARSEGetIJ(values, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(values, &a));
    PetscCall(MatVCRSSetDeviceCSR_Private(m, i, j, a, csr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *own = PETSC_TRUE;
  PetscCall(MatGetRowIJ(values, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not give its rows", ((PetscObject)values)->type_name);
  if (m) nz = i[m];
  csr->nz = nz;
  PetscCall(MatSeqAIJGetArrayRead(values, &a));
  PetscCall(MatVCRSUploadArray_Private(i, m ? ((size_t)m + 1) * sizeof(*i) : 0, (const void **)&csr->i));
  PetscCall(MatVCRSUploadArray_Private(j, (size_t)nz * sizeof(*j), (const void **)&csr->j));
  PetscCall(MatVCRSUploadArray_Private(a, (size_t)nz * sizeof(*a), (const void **)&csr->a));
  PetscCall(MatSeqAIJRestoreArrayRead(values, &a));
  PetscCall(MatRestoreRowIJ(values, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSRestoreDeviceCSR_Private(Mat A, PetscBool own, VCRSDeviceCSR *csr)
{
  Mat_VCRS *ctx;
  Mat       values;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  values = ctx->from.source ? ctx->from.source : A;
  if (own) {
    PetscCallCUDA(cudaFree((void *)csr->i));
    PetscCallCUDA(cudaFree((void *)csr->j));
    PetscCallCUDA(cudaFree((void *)csr->a));
  } else if (!ctx->from.csr) {
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(values, &csr->a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(values, PETSC_FALSE, &csr->i, &csr->j));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSFreeOnDevice_Private(const void *array)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree((void *)array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VCRSLossPropose() of A, or of its source; A has at least one row */
PetscErrorCode MatVCRSProposeOnDevice_Private(Mat A, const VCRSOptions *opt, VCRSSurvey *survey, PetscInt rowexponent[])
{
  VCRSDeviceCSR  csr;
  PetscBool      own;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDeviceCSR_Private(A, &csr, &own));
  ierr = LitheCUDAVCRSPropose(A->rmap->n, A->cmap->n, csr.nz, csr.i, csr.j, csr.a, opt, survey, rowexponent);
  PetscCall(MatVCRSRestoreDeviceCSR_Private(A, own, &csr));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates error [rows of A] on the device: row sums of A, or of its source, minus row sums of A's plan on the device */
PetscErrorCode MatVCRSGetRowSumErrorOnDevice_Private(Mat A, PetscScalar **error)
{
  Mat_VCRS      *ctx;
  VCRSDeviceCSR  csr;
  PetscBool      own;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCallCUDA(cudaMalloc((void **)error, PetscMax((size_t)A->rmap->n, 1) * sizeof(**error)));
  PetscCall(MatVCRSGetDeviceCSR_Private(A, &csr, &own));
  ierr = LitheCUDAVCRSRowSumError(ctx->plans.host, ctx->plans.device, csr.i, csr.a, *error);
  PetscCall(MatVCRSRestoreDeviceCSR_Private(A, own, &csr));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Makes a plan of the entries of A, or of its source: table on the host with the small tables, dplan with all arrays.
   extra [m], on the host or on the device, or NULL: added to the kept row sums
*/
PetscErrorCode MatVCRSCompressOnDevice_Private(Mat A, const VCRSOptions *opt, const PetscScalar extra[], VCRSPlan **table, VCRSPlan **dplan, VCRSReport *report)
{
  const PetscInt m = A->rmap->n;
  VCRSDeviceCSR  csr;
  const void    *dextra = extra;
  PetscMemType   mtype  = PETSC_MEMTYPE_DEVICE;
  PetscBool      own;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscNew(table));
  PetscCall(PetscNew(dplan));
  PetscCall(MatVCRSGetDeviceCSR_Private(A, &csr, &own));
  if (extra) PetscCall(PetscGetMemType(extra, &mtype));
  if (PetscMemTypeHost(mtype)) PetscCall(MatVCRSUploadArray_Private(extra, (size_t)m * sizeof(*extra), &dextra));
  ierr = LitheCUDAVCRSCompress(m, A->cmap->n, csr.nz, csr.i, csr.j, csr.a, (const PetscScalar *)dextra, opt, *table, *dplan, report);
  if (PetscMemTypeHost(mtype)) PetscCallCUDA(cudaFree((void *)dextra));
  PetscCall(MatVCRSRestoreDeviceCSR_Private(A, own, &csr));
  if (ierr) {
    PetscCall(PetscFree(*table));
    PetscCall(PetscFree(*dplan));
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
