/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The arguments of the kernels of march.cuh: tensor maps of fields, and the division of the grid */

#include "marchlaunch.cuh"

/*
   Planes per block. Long marches read fewer planes twice, short marches balance few blocks: measured from 361 x 361 x
   247 to 512^3 nodes, order 8, H100
*/
#define BORN_LONG  32
#define BORN_SHORT 16
#define BORN_WAVES 16 /* waves of blocks from which on marches are long */

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
static PetscErrorCode BornMapCreate(const BornGrid *g, const void *x, int bytes, int nx, int ny, CUtensorMap *map)
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

static int BornChunks(int planes, int each)
{
  return (planes + each - 1) / each;
}

PetscErrorCode BornMarchSlots(const void *kernel, int bytes, int blocks, int *slots)
{
  int device, count;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  *slots = count * blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornMarchSetUp(const BornGrid *g, const BornStep *step, const BornMarchShape *s, int slots, BornArguments<float> *a, BornMaps *maps,
                              dim3 *blocks)
{
  int n[3], tiles[2], chunks;

  PetscFunctionBegin;
  *a      = BornGetArguments<float, float>(g, step); /* whole numbers of u have the same size */
  *maps   = {};
  *blocks = dim3(0, 0, 0);
  if (BornIsEmpty(*a)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 3; d++) n[d] = a->to[d] - (d ? a->from[d] : a->from[0] / BORN_ALIGN * BORN_ALIGN);
  tiles[0] = BornChunks(n[0], s->x);
  tiles[1] = BornChunks(n[1], s->y);
  chunks   = BornChunks(n[2], BORN_LONG);
  if (static_cast<double>(tiles[0]) * tiles[1] * chunks < static_cast<double>(BORN_WAVES) * slots) chunks = BornChunks(n[2], BORN_SHORT);
  a->chunk = BornChunks(n[2], chunks);
  PetscCall(BornMapCreate(g, step->u, 4, s->line, s->lines, &maps->u));
  PetscCall(BornMapCreate(g, step->w, 4, s->line, s->lines, &maps->w));
  PetscCall(BornMapCreate(g, step->old, 4, s->x, s->y, &maps->old));
  PetscCall(BornMapCreate(g, step->wold, 4, s->x, s->y, &maps->wold));
  PetscCall(BornMapCreate(g, s->extra == BORN_IMAGE ? step->image : step->scatter, 4, s->x, s->y, &maps->extra));
  PetscCall(BornMapCreate(g, step->V, s->Vbytes, s->x, s->y, &maps->V));
  *blocks = dim3(static_cast<unsigned>(tiles[0]), static_cast<unsigned>(tiles[1]), static_cast<unsigned>(chunks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
