/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Memory of the host or of a device: src/mg/memory.c */

#include <petscsys.h>

/*
   alloc: not zeroed. free: NULL is allowed. copy: within the memory. put and get: to and from the host, complete at
   return. trim: memory that was freed goes back to the device. Work between graphbegin and graphend is recorded, and
   graphlaunch repeats the work. The last five may be NULL, and are on the host
*/
typedef struct {
  PetscErrorCode (*alloc)(size_t bytes, void **);
  PetscErrorCode (*clear)(size_t bytes, void *);
  PetscErrorCode (*copy)(size_t bytes, const void *from, void *to);
  PetscErrorCode (*put)(size_t bytes, const void *host, void *);
  PetscErrorCode (*get)(size_t bytes, const void *, void *host);
  PetscErrorCode (*free)(void **);
  PetscErrorCode (*trim)(void);
  PetscErrorCode (*graphbegin)(void);
  PetscErrorCode (*graphend)(void **graph);
  PetscErrorCode (*graphlaunch)(void *graph);
  PetscErrorCode (*graphfree)(void **graph);
} LitheMemoryOps;

PETSC_INTERN const LitheMemoryOps LitheHostMemory;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN const LitheMemoryOps LitheDeviceMemory; /* of a pool: for many arrays of a set-up */
PETSC_INTERN const LitheMemoryOps LitheCUDAMemory;   /* by cudaMalloc(): for few large arrays */
/* cuda/common/memory.cu */
PETSC_INTERN PetscErrorCode LitheDeviceAlloc(size_t bytes, void **);
PETSC_INTERN PetscErrorCode LitheDeviceClear(size_t bytes, void *);
PETSC_INTERN PetscErrorCode LitheDeviceCopy(size_t bytes, const void *from, void *to);
PETSC_INTERN PetscErrorCode LitheDevicePut(size_t bytes, const void *host, void *);
PETSC_INTERN PetscErrorCode LitheDeviceGet(size_t bytes, const void *, void *host);
PETSC_INTERN PetscErrorCode LitheDeviceFree(void **);
PETSC_INTERN PetscErrorCode LitheDeviceTrim(void);
PETSC_INTERN PetscErrorCode LitheDeviceRoom(size_t *bytes); /* free memory */
PETSC_INTERN PetscErrorCode LitheCUDAAlloc(size_t bytes, void **);
PETSC_INTERN PetscErrorCode LitheCUDAFree(void **);
#endif

/* PetscMalloc1() for arrays that are as long as a matrix, in large pages if there are any. src/sys/large.c */
PETSC_INTERN PetscErrorCode LitheAllocateLarge(size_t bytes, void **);
#define LitheMallocLarge(n, pointer) LitheAllocateLarge(sizeof(**(pointer)) * (size_t)(n), (void **)(pointer))

static inline const LitheMemoryOps *LitheMemoryOf(PetscBool device)
{
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (device) return &LitheDeviceMemory;
#else
  (void)device;
#endif
  return &LitheHostMemory;
}

static inline PetscErrorCode LitheMemoryCalloc(const LitheMemoryOps *memory, size_t bytes, void **x)
{
  PetscFunctionBegin;
  PetscCall((*memory->alloc)(bytes, x));
  PetscCall((*memory->clear)(bytes, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
