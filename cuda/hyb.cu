/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Copies of the plan of a block of a MATHYBMGPU on the device */

#include "vcrs.cuh"
#include <lithe/private/lithecudahyb.h>

template <class T>
static PetscErrorCode CopyArray(T **ddst, const T *src, PetscInt64 n, size_t unit = sizeof(T))
{
  PetscFunctionBegin;
  *ddst = NULL;
  if (!src || n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(ddst), static_cast<size_t>(n) * unit));
  PetscCallCUDA(cudaMemcpy(*ddst, src, static_cast<size_t>(n) * unit, cudaMemcpyHostToDevice));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(n) * static_cast<PetscLogDouble>(unit)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* void has no size of its own */
static PetscErrorCode CopyBytes(void **ddst, const void *src, PetscInt64 n)
{
  PetscFunctionBegin;
  PetscCall(CopyArray(reinterpret_cast<char **>(ddst), static_cast<const char *>(src), n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAHybUpload(const HybPlan *src, HybPlan *ddst)
{
  const HybTail   *t       = &src->tail;
  const PetscInt64 nslices = HybSlices(src->m);
  HybTail         *dt      = &ddst->tail;

  PetscFunctionBegin;
  *ddst = *src;
  PetscCall(CopyArray(&ddst->order, src->order, src->m));
  PetscCall(CopyBytes(&ddst->length, src->length, nslices * HYB_SLICE * src->lengthbytes));
  PetscCall(CopyArray(&ddst->sliceptr, src->sliceptr, nslices));
  PetscCall(CopyBytes(&ddst->rowptr, src->rowptr, (static_cast<PetscInt64>(src->m) + 1) * src->ptrbytes));
  PetscCall(CopyArray(&ddst->col, src->col, src->nplaces));
  PetscCall(CopyArray(&ddst->val, src->val, src->nplaces));
  PetscCall(CopyArray(&dt->piece, t->piece, static_cast<PetscInt64>(t->npieces) + 1));
  PetscCall(CopyArray(&dt->longptr, t->longptr, static_cast<PetscInt64>(t->nlong) + 1));
  PetscCall(CopyArray(&dt->longrow, t->longrow, t->nlong));
  PetscCall(CopyArray(&dt->row, t->row, t->nz));
  PetscCall(CopyArray(&dt->col, t->col, t->nz));
  PetscCall(CopyArray(&dt->val, t->val, t->nz));
  dt->partial = NULL;
  if (t->nlongpieces) PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&dt->partial), t->nlongpieces * sizeof(*dt->partial)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAHybUploadValues(const HybPlan *src, HybPlan *ddst)
{
  const size_t nbody = static_cast<size_t>(src->nplaces) * sizeof(*src->val), ntail = static_cast<size_t>(src->tail.nz) * sizeof(*src->val);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (nbody) PetscCallCUDA(cudaMemcpyAsync(ddst->val, src->val, nbody, cudaMemcpyHostToDevice, stream));
  if (ntail) PetscCallCUDA(cudaMemcpyAsync(ddst->tail.val, src->tail.val, ntail, cudaMemcpyHostToDevice, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(nbody + ntail)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAHybFree(HybPlan *p)
{
  void *const arrays[] = {p->order, p->length, p->sliceptr, p->rowptr, p->col, p->val, p->tail.piece, p->tail.longptr, p->tail.longrow, p->tail.row, p->tail.col, p->tail.val, p->tail.partial};

  PetscFunctionBegin;
  for (void *array : arrays) {
    if (array) PetscCallCUDA(cudaFree(array));
  }
  *p = HybPlan{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
