/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Cycles of SBP-SAT multigrid as graphs. PETSc's current stream is, unless asked otherwise, the one that belongs to the whole
   process, which cannot be captured. Hence launches are recorded in a stream of their own, and played in PETSc's.
*/

#include "launch.cuh"

static cudaStream_t recording   = nullptr;
static PetscBool    isrecording = PETSC_FALSE;

static PetscErrorCode SBPGraphFinalize(void)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamDestroy(recording));
  recording = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPGetStream(cudaStream_t *stream)
{
  PetscFunctionBegin;
  if (isrecording) *stream = recording;
  else PetscCall(PetscGetCurrentCUDAStream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphBegin(void)
{
  PetscFunctionBegin;
  if (!recording) {
    PetscCallCUDA(cudaStreamCreateWithFlags(&recording, cudaStreamNonBlocking));
    PetscCall(PetscRegisterFinalize(SBPGraphFinalize));
  }
  PetscCallCUDA(cudaStreamBeginCapture(recording, cudaStreamCaptureModeThreadLocal));
  isrecording = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphEnd(void **graph)
{
  cudaGraph_t     captured;
  cudaGraphExec_t executable;

  PetscFunctionBegin;
  isrecording = PETSC_FALSE;
  PetscCallCUDA(cudaStreamEndCapture(recording, &captured));
  PetscCallCUDA(cudaGraphInstantiate(&executable, captured, 0));
  PetscCallCUDA(cudaGraphDestroy(captured));
  *graph = executable;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphLaunch(void *graph)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGraphFree(void **graph)
{
  PetscFunctionBegin;
  if (*graph) PetscCallCUDA(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(*graph)));
  *graph = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}
