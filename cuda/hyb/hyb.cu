/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Copies of the plan of a block of a MATHYBMGPU on the device */

#include "../common/upload.cuh"
#include <lithe/private/cuda/hyb.h>

/* Copies an array of bytes: entries are of one of two types */
static PetscErrorCode UploadBytes(const void *src, PetscInt64 n, void **ddst)
{
  PetscFunctionBegin;
  PetscCall(UploadArray(static_cast<const char *>(src), n, reinterpret_cast<char **>(ddst)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAHybUpload(const HybPlan *src, HybPlan *ddst)
{
  const HybTail   *t       = &src->tail;
  const PetscInt64 nslices = HybSlices(src->m);
  HybTail         *dt      = &ddst->tail;

  PetscFunctionBegin;
  *ddst = *src;
  PetscCall(UploadArray(src->order, src->order ? src->m : 0, &ddst->order));
  PetscCall(UploadBytes(src->length, src->length ? nslices * HYB_SLICE * src->lengthbytes : 0, &ddst->length));
  PetscCall(UploadArray(src->sliceptr, src->sliceptr ? nslices : 0, &ddst->sliceptr));
  PetscCall(UploadBytes(src->rowptr, src->rowptr ? (static_cast<PetscInt64>(src->m) + 1) * src->ptrbytes : 0, &ddst->rowptr));
  PetscCall(UploadArray(src->col, src->nplaces, &ddst->col));
  PetscCall(UploadArray(src->val, src->nplaces, &ddst->val));
  PetscCall(UploadArray(t->piece, t->nz ? static_cast<PetscInt64>(t->npieces) + 1 : 0, &dt->piece));
  PetscCall(UploadArray(t->longptr, t->nz ? static_cast<PetscInt64>(t->nlong) + 1 : 0, &dt->longptr));
  PetscCall(UploadArray(t->longrow, t->nlong, &dt->longrow));
  PetscCall(UploadArray(t->row, t->nz, &dt->row));
  PetscCall(UploadArray(t->col, t->nz, &dt->col));
  PetscCall(UploadArray(t->val, t->nz, &dt->val));
  dt->partial = NULL;
  if (t->nlongpieces) PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&dt->partial), t->nlongpieces * sizeof(*dt->partial)));
  PetscCall(PetscLogCpuToGpu(static_cast<PetscLogDouble>(src->nplaces + t->nz) * (sizeof(PetscScalar) + sizeof(int32_t))));
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
  void *const arrays[] = {p->order,        p->length,       p->sliceptr, p->rowptr,   p->col,      p->val,         p->tail.piece,
                          p->tail.longptr, p->tail.longrow, p->tail.row, p->tail.col, p->tail.val, p->tail.partial};

  PetscFunctionBegin;
  for (void *array : arrays) {
    if (array) PetscCallCUDA(cudaFree(array));
  }
  *p = HybPlan{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
