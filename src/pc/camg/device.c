/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   CAMGDeviceKernels: the operations of PCCAMG on a device. The kernels are in cuda/camg. And levels of a set-up on the
   host, moved to a device
*/

#include "camgimpl.h"
#include <lithe/private/cuda/camg.h>

/* With 64-bit indices set-ups are on the host: see devicerows.c */
const CAMGKernels CAMGDeviceKernels = {
  .memory = &LitheDeviceMemory,
#if !PetscDefined(USE_64BIT_INDICES)
  .matrix =
    {
      .survey    = LitheCUDACAMGSurvey,
      .forms     = LitheCUDACAMGForms,
      .copy      = LitheCUDACAMGCopy,
      .setouter  = LitheCUDACAMGSetOuter,
      .divide    = LitheCUDACAMGDivide,
      .setcolumn = LitheCUDACAMGSetColumn,
      .multiply  = LitheCUDACAMGMultiply,
      .transpose = LitheCUDACAMGTranspose,
      .mean      = LitheCUDACAMGMean,
      .norms     = LitheCUDACAMGNorms,
      .extract   = LitheCUDACAMGExtract,
      .join      = LitheCUDACAMGJoin,
      .mark      = LitheCUDACAMGMark,
      .renumber  = LitheCUDACAMGRenumber,
      .turn      = LitheCUDACAMGTurn,
    },
  .coarsen =
    {
      .roots     = LitheCUDACAMGRoots,
      .filter    = LitheCUDACAMGFilter,
      .conjugate = LitheCUDACAMGConjugate,
      .aggregate = LitheCUDACAMGAggregate,
      .pairs     = LitheCUDACAMGPairs,
      .compose   = LitheCUDACAMGCompose,
      .tentative = LitheCUDACAMGTentative,
      .damping   = LitheCUDACAMGDamping,
      .smooth    = LitheCUDACAMGSmooth,
      .moduli    = LitheCUDACAMGModuli,
      .findnull  = LitheCUDACAMGFindNull,
      .clearnull = LitheCUDACAMGClearNull,
    },
#endif
  .level =
    {
#if !PetscDefined(USE_64BIT_INDICES)
      .scales         = LitheCUDACAMGScales,
      .encode         = LitheCUDACAMGEncode,
      .encodetransfer = LitheCUDACAMGEncodeTransfer,
      .getdense       = LitheCUDACAMGGetDense,
      .invert         = LitheCUDACAMGInvert,
      .rounding       = LitheCUDACAMGRounding,
#endif
      .largest  = LitheCUDACAMGLargest,
      .enter    = LitheCUDACAMGEnter,
      .leave    = LitheCUDACAMGLeave,
      .step     = LitheCUDACAMGStep,
      .residual = LitheCUDACAMGResidual,
      .transfer = LitheCUDACAMGTransfer,
      .dense    = LitheCUDACAMGDense,
      .product  = LitheCUDACAMGProduct,
    },
};

/* One array; *x, in host memory, becomes the array on the device */
static PetscErrorCode Move_Private(void *pointer, size_t bytes)
{
  void **x = (void **)pointer, *moved;

  PetscFunctionBegin;
  if (!*x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheDeviceAlloc(bytes, &moved));
  PetscCall(LitheDevicePut(bytes, *x, moved));
  PetscCall(PetscFree(*x));
  *x = moved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveOperator_Private(CAMGOperator *op)
{
  const size_t parts = sizeof(PetscScalar) / sizeof(PetscReal), rows = (size_t)op->m * (size_t)op->rb, nz = (size_t)op->nz;

  PetscFunctionBegin;
  PetscCall(Move_Private(&op->i, ((size_t)op->m + 1) * sizeof(int)));
  PetscCall(Move_Private(&op->j, nz * sizeof(int)));
  PetscCall(Move_Private(&op->code, nz * (size_t)op->rb * (size_t)op->cb * parts * (size_t)op->bits / 8));
  PetscCall(Move_Private(&op->d, rows * parts * sizeof(float)));
  PetscCall(Move_Private(&op->minv, rows * sizeof(float)));
#if !PetscDefined(USE_64BIT_INDICES)
  if (op->i) PetscCall(LitheCUDACAMGSlices(op));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of a set-up on the host */
PetscErrorCode PCCAMGMove_Private(PC_CAMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->n; k++) {
    PetscCall(MoveOperator_Private(&mg->level[k].op));
    PetscCall(MoveOperator_Private(&mg->level[k].prolong));
    PetscCall(MoveOperator_Private(&mg->level[k].restrict_));
  }
  PetscCall(MoveOperator_Private(&mg->fine.op));
  PetscCall(PCCAMGMoveArrays_Private(mg, Move_Private));
  PetscCall(LitheMGCoarsestMove(&mg->coarsest, &LitheDeviceMemory));
  mg->kernels = &CAMGDeviceKernels;
  PetscFunctionReturn(PETSC_SUCCESS);
}
