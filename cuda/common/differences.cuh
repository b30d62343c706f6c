/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Differences between row and column of the entries of a matrix, from a sample of rows, on one side of the
   diagonal */

#include "petsccuda.cuh"
#include "scratch.cuh"

#define DIFFERENCES_SAMPLES 65536 /* rows, nearly */
#define DIFFERENCES_SLOTS   1024
#define DIFFERENCES_FREE    0ull

/* Counts negative differences: column minus row, or, with upper, row minus column. a: zero entries are not counted;
   NULL: all entries count */
[[maybe_unused]] static __global__ void DifferencesKernel(const PetscInt *i, const PetscInt *j, const PetscScalar *a, bool upper, PetscInt step,
                                                          PetscInt samples, unsigned long long *key, int *count)
{
  const PetscInt64 s = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (s >= samples) return;
  const PetscInt row = static_cast<PetscInt>(s * step);

  for (PetscInt k = i[row]; k < i[row + 1]; k++) {
    const PetscInt           d      = upper ? row - j[k] : j[k] - row;
    const unsigned long long before = static_cast<unsigned long long>(-d);
    unsigned int             slot   = (static_cast<unsigned int>(d) * 2654435769u) >> 22;

    if (d >= 0 || (a && a[k] == static_cast<PetscScalar>(0.))) continue;
    /* a full table: rare differences are lost */
    for (int attempt = 0; attempt < 64; attempt++, slot++) {
      const unsigned long long there = atomicCAS(key + slot % DIFFERENCES_SLOTS, DIFFERENCES_FREE, before);

      if (there == DIFFERENCES_FREE || there == before) {
        atomicAdd(count + slot % DIFFERENCES_SLOTS, 1);
        break;
      }
    }
  }
}

/* found differences, with the number of occurrences in a number of rows, smallest moduli first. The order does not
   depend on timing */
static inline PetscErrorCode DifferencesSample(PetscInt n, const PetscInt *i, const PetscInt *j, const PetscScalar *a, bool upper, cudaStream_t stream,
                                               PetscInt *samples, PetscInt *found, PetscInt difference[DIFFERENCES_SLOTS], int often[DIFFERENCES_SLOTS])
{
  const PetscInt      step = PetscMax(n / DIFFERENCES_SAMPLES, 1) | 1;
  unsigned long long *dkey, key[DIFFERENCES_SLOTS];
  int                *dcount, count[DIFFERENCES_SLOTS];
  void               *memory = nullptr;

  PetscFunctionBegin;
  *samples = (n + step - 1) / step;
  PetscCall(LitheScratchGetDevice(stream, sizeof(key) + sizeof(count), &memory));
  dkey   = static_cast<unsigned long long *>(memory);
  dcount = reinterpret_cast<int *>(dkey + DIFFERENCES_SLOTS);
  PetscCallCUDA(cudaMemsetAsync(memory, 0, sizeof(key) + sizeof(count), stream));
  DifferencesKernel<<<static_cast<unsigned int>((*samples + 255) / 256), 256, 0, stream>>>(i, j, a, upper, step, *samples, dkey, dcount);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(key, dkey, sizeof(key), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaMemcpyAsync(count, dcount, sizeof(count), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *found = 0;
  for (int s = 0; s < DIFFERENCES_SLOTS; s++) {
    const PetscInt d = -static_cast<PetscInt>(key[s]);
    PetscInt       e;

    if (key[s] == DIFFERENCES_FREE) continue;
    for (e = (*found)++; e > 0 && difference[e - 1] < d; e--) {
      difference[e] = difference[e - 1];
      often[e]      = often[e - 1];
    }
    difference[e] = d;
    often[e]      = count[s];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
