/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums over processes by MPI: of numbers on the host, and of numbers on a device directly or by way of the host, as
   PETSc's options say */

#include "haloimpl.h"
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

static PetscErrorCode LitheReduceCreate_MPI(LitheReduce reduce, LitheHaloObstacle *obstacle, int *code)
{
  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  *code     = 0;
#if defined(LITHE_HAVE_CUDA)
  /* Copies to and from locked pages need no buffer of CUDA */
  if (PetscMemTypeDevice(reduce->memory)) PetscCallCUDA(cudaMallocHost(&reduce->data, (size_t)reduce->most * sizeof(PetscScalar)));
#else
  (void)reduce;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceAll_Private(LitheReduce reduce, PetscInt n, PetscScalar a[])
{
  PetscMPIInt count;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(n, &count));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, a, count, MPIU_SCALAR, MPIU_SUM, reduce->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceSum_MPI(LitheReduce reduce, PetscInt n, PetscScalar a[])
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(reduce->memory)) {
    const size_t bytes = (size_t)n * sizeof(*a);
    PetscScalar *page  = (PetscScalar *)reduce->data;
    cudaStream_t stream;

    PetscCall(PetscGetCurrentCUDAStream(&stream));
    if (!use_gpu_aware_mpi) PetscCallCUDA(cudaMemcpyAsync(page, a, bytes, cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCall(LitheReduceAll_Private(reduce, n, use_gpu_aware_mpi ? a : page));
    if (use_gpu_aware_mpi) PetscFunctionReturn(PETSC_SUCCESS);
    /* The next writer of the page waits for the stream first */
    PetscCallCUDA(cudaMemcpyAsync(a, page, bytes, cudaMemcpyHostToDevice, stream));
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
    PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(LitheReduceAll_Private(reduce, n, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceDestroy_MPI(LitheReduce reduce)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(reduce->memory)) {
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaFreeHost(reduce->data));
  }
#else
  (void)reduce;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

const LitheReduceOps LitheReduceMPI = {LitheReduceCreate_MPI, LitheReduceSum_MPI, NULL, NULL, LitheReduceDestroy_MPI};
