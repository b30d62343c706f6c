/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Sequences of launches as graphs. PETSc's current stream is usually the default stream of the process, which cannot be
   captured. Launches are therefore recorded in a separate stream, and played in PETSc's stream. At most one graph is
   recorded at a time.
*/

#include <lithe/private/cuda/graph.h>
#include "petsccuda.cuh"
#include "scratch.cuh"

/* Where to launch: PETSc's current stream, or the recording stream */
PETSC_INTERN PetscErrorCode LitheGraphGetStream(cudaStream_t *);
/* Scratch memory of a recording, in bytes. A graph has separate memory, because any stream may play a graph */
PETSC_INTERN PetscErrorCode LitheGraphGetScratch(size_t bytes, LitheScratch *);

/* Calls launch(stream), and checks the launches */
template <class Launch>
static inline PetscErrorCode LitheGraphLaunches(Launch launch)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  launch(stream);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
