/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* LitheHostMemory, LitheDeviceMemory, LitheCUDAMemory */

#include <lithe/private/cuda/graph.h>
#include <lithe/private/lithememory.h>

static PetscErrorCode Alloc_Private(size_t bytes, void **x)
{
  PetscFunctionBegin;
  PetscCall(LitheAllocateLarge(bytes ? bytes : 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Clear_Private(size_t bytes, void *x)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(x, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy_Private(size_t bytes, const void *from, void *to)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free_Private(void **x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const LitheMemoryOps LitheHostMemory =
  {.alloc = Alloc_Private, .clear = Clear_Private, .copy = Copy_Private, .put = Copy_Private, .get = Copy_Private, .free = Free_Private};

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
const LitheMemoryOps LitheDeviceMemory = {.alloc       = LitheDeviceAlloc,
                                          .clear       = LitheDeviceClear,
                                          .copy        = LitheDeviceCopy,
                                          .put         = LitheDevicePut,
                                          .get         = LitheDeviceGet,
                                          .free        = LitheDeviceFree,
                                          .trim        = LitheDeviceTrim,
                                          .graphbegin  = LitheCUDAGraphBegin,
                                          .graphend    = LitheCUDAGraphEnd,
                                          .graphlaunch = LitheCUDAGraphLaunch,
                                          .graphfree   = LitheCUDAGraphFree};

const LitheMemoryOps LitheCUDAMemory = {.alloc       = LitheCUDAAlloc,
                                        .clear       = LitheDeviceClear,
                                        .copy        = LitheDeviceCopy,
                                        .put         = LitheDevicePut,
                                        .get         = LitheDeviceGet,
                                        .free        = LitheCUDAFree,
                                        .graphbegin  = LitheCUDAGraphBegin,
                                        .graphend    = LitheCUDAGraphEnd,
                                        .graphlaunch = LitheCUDAGraphLaunch,
                                        .graphfree   = LitheCUDAGraphFree};
#endif
