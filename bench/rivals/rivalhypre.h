/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* What both programs of hypre share: memory of the host or of a device, as the library was built, and its start */

#include <HYPRE.h>
#include <HYPRE_config.h>
#include <HYPRE_utilities.h>
#ifdef HYPRE_USING_CUDA
  #define RIVAL_CUDA
#endif
#include "rival.h"

#ifdef RIVAL_CUDA
enum {
  ON_DEVICE = 1
};
static void *Place(const void *p, size_t bytes)
{
  return RivalUpload(p, bytes);
}
#else
enum {
  ON_DEVICE = 0
};
static void *Place(const void *p, size_t bytes)
{
  void *copy = RivalAllocate(bytes);

  if (p) memcpy(copy, p, bytes);
  else memset(copy, 0, bytes);
  return copy;
}
#endif

/* One process, also where hypre was built with MPI */
static MPI_Comm Alone(void)
{
#ifdef HYPRE_SEQUENTIAL
  return 0;
#else
  MPI_Init(NULL, NULL);
  return MPI_COMM_SELF;
#endif
}

static void Start(void)
{
  HYPRE_Initialize();
  if (!ON_DEVICE) return;
  HYPRE_DeviceInitialize();
  HYPRE_SetMemoryLocation(HYPRE_MEMORY_DEVICE);
  HYPRE_SetExecutionPolicy(HYPRE_EXEC_DEVICE);
  HYPRE_SetSpGemmUseVendor(0); /* hypre's own products of matrices are faster */
  HYPRE_SetUseGpuRand(1);
}

/* From Place() to the host */
static double *Fetch(const double values[], size_t bytes)
{
  double *copy = (double *)RivalAllocate(bytes);

#ifdef RIVAL_CUDA
  RivalCheckCUDA(cudaMemcpy(copy, values, bytes, cudaMemcpyDeviceToHost), "download");
#else
  memcpy(copy, values, bytes);
#endif
  return copy;
}
