/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by launches of the set-up of PCGRIDMG */

#include <lithe/private/cuda/gridmgsetup.h>
#include "../../common/petsccuda.cuh"
#include "../../common/scratch.cuh"
#include "setup.cuh"

#define SETUP_BLOCKS_OF_ONE 8 /* blocks per multiprocessor: each block goes through many cells */

static inline PetscErrorCode SetupBlocksOf(PetscInt n, int ofone, unsigned int *blocks)
{
  int device, processors;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  *blocks = static_cast<unsigned int>(
    PetscMax(1, PetscMin(static_cast<PetscInt64>(processors) * ofone, (static_cast<PetscInt64>(n) + SETUP_THREADS - 1) / SETUP_THREADS)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SetupBlocks(PetscInt n, unsigned int *blocks)
{
  PetscFunctionBegin;
  PetscCall(SetupBlocksOf(n, SETUP_BLOCKS_OF_ONE, blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smallest scratch memory in bytes: growth takes a millisecond */
#define SETUP_SCRATCH_LEAST 262144

template <class T>
static inline PetscErrorCode SetupScratch(cudaStream_t stream, size_t bytes, T **scratch)
{
  void *memory;

  PetscFunctionBegin;
  PetscCall(LitheScratchGetDevice(stream, PetscMax(bytes, static_cast<size_t>(SETUP_SCRATCH_LEAST)), &memory));
  *scratch = static_cast<T *>(memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes of the kernel started by launch(notes). At return the notes are on the host */
template <int notes, class Launch>
static PetscErrorCode SetupNotes(cudaStream_t stream, Launch launch, unsigned long long note[notes])
{
  const size_t        bytes = notes * sizeof(*note);
  unsigned long long *there = nullptr;

  PetscFunctionBegin;
  PetscCall(SetupScratch(stream, bytes, &there));
  PetscCallCUDA(cudaMemsetAsync(there, 0, bytes, stream));
  launch(there);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(note, there, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ lists */

typedef struct {
  PetscInt row;
  double   sum;
} SetupListSum;

template <class Number>
static __global__ void ListSumsKernel(PetscInt n, const SetupListSum *list, Number *to)
{
  SETUP_FOR_ALL(k, n)
  to[list[k].row] = static_cast<Number>(list[k].sum);
}

/* Scatters the values of the rows of the host's list to an array of all vertices */
template <class Number>
static PetscErrorCode SetupListSums(const GridMGFaces *f, Number *to, cudaStream_t stream)
{
  const double *t = static_cast<const double *>(f->list.t);
  SetupListSum *list, *there = nullptr;
  unsigned int  blocks = 1;

  PetscFunctionBegin;
  if (!f->list.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(f->list.n, &list));
  for (PetscInt r = 0; r < f->list.n; r++) {
    list[r].row = f->list.row[r];
    list[r].sum = 0;
    for (PetscInt e = f->list.i[r]; e < f->list.i[r + 1]; e++) list[r].sum += t[e];
  }
  PetscCall(SetupScratch(stream, static_cast<size_t>(f->list.n) * sizeof(*list), &there));
  /* the copy is from pageable memory, and has read the array at return */
  PetscCallCUDA(cudaMemcpyAsync(there, list, static_cast<size_t>(f->list.n) * sizeof(*list), cudaMemcpyHostToDevice, stream));
  PetscCall(PetscFree(list));
  PetscCall(SetupBlocks(f->list.n, &blocks));
  ListSumsKernel<<<blocks, SETUP_THREADS, 0, stream>>>(f->list.n, there, to);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ surveys */

static inline double SetupDouble(unsigned long long bits)
{
  double v;

  memcpy(&v, &bits, sizeof(v));
  return v;
}

/* A minimum from its noted complement, or the default */
static inline double SetupLeast(unsigned long long note, double otherwise)
{
  return note ? SetupDouble(~note) : otherwise;
}

static inline PetscInt64 SetupFirst(unsigned long long note)
{
  return note ? static_cast<PetscInt64>(~note) : -1;
}

template <bool clean>
static PetscErrorCode SetupSurvey(const GridMGFaces *f, double rounding, unsigned char *alive, GridMGSurvey *survey, GridMGCleaning *cleaning)
{
  const PetscInt     n    = f->grid.cells + f->grid.wells;
  double            *sums = f->list.n ? static_cast<double *>(f->list.work) : nullptr;
  unsigned long long note[SURVEY_NOTES];
  cudaStream_t       stream;
  unsigned int       blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (sums) {
    PetscCallCUDA(cudaMemsetAsync(sums, 0, static_cast<size_t>(n) * sizeof(*sums), stream));
    PetscCall(SetupListSums(f, sums, stream));
  }
  PetscCall(SetupBlocks(n, &blocks));
  PetscCall(SetupNotes<SURVEY_NOTES>(
    stream, [&](unsigned long long *out) { SurveyKernel<clean><<<blocks, SETUP_THREADS, 0, stream>>>(*f, sums, rounding, alive, out); }, note));
  for (int d = 0; d < 3; d++) survey->logs[d] = static_cast<double>(static_cast<long long>(note[SURVEY_LOGS + d])) / GRIDMG_LOG_UNIT;
  survey->count = static_cast<double>(note[SURVEY_COUNT]);
  survey->dead  = static_cast<PetscInt>(note[SURVEY_DEAD]);
  survey->max   = SetupDouble(note[SURVEY_MOST]);
  survey->min   = SetupLeast(note[SURVEY_LEAST], 0);
  if (cleaning) {
    cleaning->negative = static_cast<PetscInt>(note[SURVEY_NEGATIVE]);
    cleaning->failed   = SetupFirst(note[SURVEY_FAILED]);
    cleaning->least    = SetupLeast(note[SURVEY_DIAGONAL], static_cast<double>(PETSC_MAX_REAL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
