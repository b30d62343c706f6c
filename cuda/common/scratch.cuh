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

#include <petscdevice_cuda.h>

typedef struct {
  void  *device; /* bytes of the device's memory */
  void  *host;   /* as many of pinned memory of the host */
  size_t bytes;
} LitheScratch;

PETSC_INTERN PetscErrorCode LitheScratchCreate(size_t bytes, LitheScratch *);
PETSC_INTERN PetscErrorCode LitheScratchDestroy(LitheScratch *);
/* The memory of a stream of the current device, of at least this number of bytes; growth loses earlier
   contents */
PETSC_INTERN PetscErrorCode LitheScratchGet(cudaStream_t, size_t bytes, LitheScratch *);
/* The same memory of the device, without the host's, which takes a millisecond to make */
PETSC_INTERN PetscErrorCode LitheScratchGetDevice(cudaStream_t, size_t bytes, void **device);
