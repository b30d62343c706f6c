/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Cycles of SBP-SAT multigrid as graphs. PETSc's current stream is, unless asked otherwise, the one that belongs to the whole
   process, which cannot be captured. Hence launches are recorded in a stream of their own, and played in PETSc's.
*/

#include "launch.cuh"

/* What is recorded keeps scratch memory of its own: it may be played in any stream */
typedef struct {
  cudaGraphExec_t executable;
  LitheScratch    scratch;
} SBPGraph;

/* Where launches go while a graph is recorded, one at a time; NULL: they go to PETSc's stream */
static cudaStream_t recording = nullptr;
static SBPGraph    *recorded  = nullptr;

PetscErrorCode SBPGetStream(cudaStream_t *stream)
{
  PetscFunctionBegin;
  if (recording) *stream = recording;
  else PetscCall(PetscGetCurrentCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPGetScratch(LitheScratch *scratch)
{
  PetscFunctionBegin;
  if (recording) *scratch = recorded->scratch;
  else {
    cudaStream_t stream;

    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCall(LitheScratchGet(stream, SBP_SCRATCH_BYTES, scratch));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphBegin(void)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(&recorded));
  PetscCall(LitheScratchCreate(SBP_SCRATCH_BYTES, &recorded->scratch));
  PetscCallCUDA(cudaStreamCreateWithFlags(&recording, cudaStreamNonBlocking));
  PetscCallCUDA(cudaStreamBeginCapture(recording, cudaStreamCaptureModeThreadLocal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphEnd(void **graph)
{
  const cudaStream_t stream = recording;
  cudaGraph_t        captured;

  PetscFunctionBegin;
  recording = nullptr;
  *graph    = recorded;
  PetscCallCUDA(cudaStreamEndCapture(stream, &captured));
  PetscCallCUDA(cudaGraphInstantiate(&recorded->executable, captured, 0));
  PetscCallCUDA(cudaGraphDestroy(captured));
  PetscCallCUDA(cudaStreamDestroy(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphLaunch(void *graph)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaGraphLaunch(static_cast<SBPGraph *>(graph)->executable, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphFree(void **graph)
{
  SBPGraph *g = static_cast<SBPGraph *>(*graph);

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->executable) PetscCallCUDA(cudaGraphExecDestroy(g->executable));
  PetscCall(LitheScratchDestroy(&g->scratch));
  PetscCall(PetscFree(*graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}
