/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Scratch memory of streams: scratch.cuh */

#include "scratch.cuh"

typedef struct _StreamScratch StreamScratch;
struct _StreamScratch {
  int            device;
  cudaStream_t   stream;
  LitheScratch   scratch;
  StreamScratch *next;
};

/* few elements: one per stream of the process */
static StreamScratch *streams = nullptr;

PetscErrorCode LitheScratchCreate(size_t bytes, LitheScratch *s)
{
  PetscFunctionBegin;
  s->bytes = bytes;
  PetscCallCUDA(cudaMalloc(&s->device, bytes));
  PetscCallCUDA(cudaMallocHost(&s->host, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheScratchDestroy(LitheScratch *s)
{
  PetscFunctionBegin;
  if (s->device) PetscCallCUDA(cudaFree(s->device));
  if (s->host) PetscCallCUDA(cudaFreeHost(s->host));
  *s = LitheScratch{};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScratchFinalize(void)
{
  PetscFunctionBegin;
  while (streams) {
    StreamScratch *s = streams;

    streams = s->next;
    PetscCall(LitheScratchDestroy(&s->scratch));
    PetscCall(PetscFree(s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The memory of a stream. Allocates memory of the device, and, with host, of the host */
static PetscErrorCode ScratchOf(cudaStream_t stream, size_t bytes, bool host, StreamScratch **scratch)
{
  StreamScratch *s = streams;
  int            device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  while (s && (s->stream != stream || s->device != device)) s = s->next;
  if (!s) {
    if (!streams) PetscCall(PetscRegisterFinalize(ScratchFinalize));
    PetscCall(PetscNew(&s));
    s->device = device;
    s->stream = stream;
    s->next   = streams;
    streams   = s;
  }
  if (s->scratch.bytes < bytes) {
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(LitheScratchDestroy(&s->scratch));
    PetscCallCUDA(cudaMalloc(&s->scratch.device, bytes));
    s->scratch.bytes = bytes;
  }
  if (host && !s->scratch.host) PetscCallCUDA(cudaMallocHost(&s->scratch.host, s->scratch.bytes));
  *scratch = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheScratchGet(cudaStream_t stream, size_t bytes, LitheScratch *scratch)
{
  StreamScratch *s;

  PetscFunctionBegin;
  PetscCall(ScratchOf(stream, bytes, true, &s));
  *scratch = s->scratch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheScratchGetDevice(cudaStream_t stream, size_t bytes, void **device)
{
  StreamScratch *s;

  PetscFunctionBegin;
  PetscCall(ScratchOf(stream, bytes, false, &s));
  *device = s->scratch.device;
  PetscFunctionReturn(PETSC_SUCCESS);
}
