/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/*
   Scratch memory of kernels launched one after the other in a stream.

   Each stream of each device has separate memory: work in two streams, or on two devices, does not collide. The memory
   is allocated at the first request of a stream, grows with larger requests, and is freed by PetscFinalize(). A
   recorded graph, which may be launched in any stream, needs scratch memory that belongs to the graph.
*/

#include "petsccuda.cuh"

typedef struct {
  void  *device; /* memory of the device */
  void  *host;   /* pinned memory of the host, of the same size */
  size_t bytes;
} LitheScratch;

PETSC_INTERN PetscErrorCode LitheScratchCreate(size_t bytes, LitheScratch *);
PETSC_INTERN PetscErrorCode LitheScratchDestroy(LitheScratch *);
/* The memory of a stream of the current device, of at least the given number of bytes; growth loses earlier contents */
PETSC_INTERN PetscErrorCode LitheScratchGet(cudaStream_t, size_t bytes, LitheScratch *);
/* The same device memory without host memory, whose allocation takes a millisecond */
PETSC_INTERN PetscErrorCode LitheScratchGetDevice(cudaStream_t, size_t bytes, void **device);
