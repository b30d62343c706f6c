/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Tensor maps of fields, for march.cuh */

#include "marchlaunch.cuh"

typedef CUresult (*BornEncodeFunction)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                       const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/* The driver is not linked: a machine without a device has none */
static PetscErrorCode BornGetEncode(BornEncodeFunction *encode)
{
  cudaDriverEntryPointQueryResult found;
  void                           *function = nullptr;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found));
  *encode = reinterpret_cast<BornEncodeFunction>(function);
  PetscCheck(*encode && found == cudaDriverEntryPointSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB, "The CUDA driver has no cuTensorMapEncodeTiled; use a newer one");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes of x and y, of one plane, of a field with words of 4 or 2 bytes. z counts from the first plane of the margin
   on */
PetscErrorCode BornMapCreate(const BornGrid *g, const void *x, int bytes, int nx, int ny, CUtensorMap *map)
{
  static BornEncodeFunction encode    = nullptr;
  const cuuint64_t          n[3]      = {static_cast<cuuint64_t>(g->n[0]), static_cast<cuuint64_t>(g->n[1]), static_cast<cuuint64_t>(g->n[2] + 2 * g->halo)};
  const cuuint64_t          stride[2] = {static_cast<cuuint64_t>(g->stride[1] * bytes), static_cast<cuuint64_t>(g->stride[2] * bytes)};
  const cuuint32_t          box[3] = {static_cast<cuuint32_t>(nx), static_cast<cuuint32_t>(ny), 1}, by[3] = {1, 1, 1};
  CUresult                  code;

  PetscFunctionBegin;
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  if (!encode) PetscCall(BornGetEncode(&encode));
  code = (*encode)(map, bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3,
                   static_cast<char *>(const_cast<void *>(x)) + (g->first - g->halo * g->stride[2]) * bytes, n, stride, box, by, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  PetscCheck(code == CUDA_SUCCESS, PETSC_COMM_SELF, PETSC_ERR_LIB, "cuTensorMapEncodeTiled returns %d", static_cast<int>(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}
