/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sequences of launches as graphs: graph.cuh */

#include "graph.cuh"
#include <petscdevice_cuda.h>

#define SCRATCH_BYTES 16384 /* of each graph */

/* A recorded graph keeps separate scratch memory: the graph may be played in any stream */
typedef struct {
  cudaGraphExec_t executable;
  LitheScratch    scratch;
} LitheGraph;

/* Where launches go while a graph is recorded, one at a time; NULL: launches go to PETSc's stream */
static cudaStream_t recording = nullptr;
static LitheGraph  *recorded  = nullptr;

PetscErrorCode LitheGraphGetStream(cudaStream_t *stream)
{
  PetscFunctionBegin;
  if (recording) *stream = recording;
  else PetscCall(PetscGetCurrentCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheGraphGetScratch(size_t bytes, LitheScratch *scratch)
{
  PetscFunctionBegin;
  if (recording) {
    PetscCheck(bytes <= SCRATCH_BYTES, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A graph has %d bytes of scratch memory, not %zu", SCRATCH_BYTES, bytes);
    *scratch = recorded->scratch;
  } else {
    cudaStream_t stream;

    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCall(LitheScratchGet(stream, bytes, scratch));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGraphBegin(void)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(&recorded));
  PetscCall(LitheScratchCreate(SCRATCH_BYTES, &recorded->scratch));
  PetscCallCUDA(cudaStreamCreateWithFlags(&recording, cudaStreamNonBlocking));
  PetscCallCUDA(cudaStreamBeginCapture(recording, cudaStreamCaptureModeThreadLocal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGraphEnd(void **graph)
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

PetscErrorCode LitheCUDAGraphLaunch(void *graph)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaGraphLaunch(static_cast<LitheGraph *>(graph)->executable, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGraphFree(void **graph)
{
  LitheGraph *g = static_cast<LitheGraph *>(*graph);

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  if (g->executable) PetscCallCUDA(cudaGraphExecDestroy(g->executable));
  PetscCall(LitheScratchDestroy(&g->scratch));
  PetscCall(PetscFree(*graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}
