/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Kernels that may begin before the one before them in the stream has ended (programmatic dependent launch, from compute
   capability 9.0 on): where multiprocessors have nothing left to do for the one, the other fills its tables and reads what it
   needs of its matrix, which is complete before its first product.

   Before it reads a vector or writes one each thread calls WaitForVectors(); ghosts are waited for as halo.cuh says, and may be read before that. Vectors are read by Read(), ReadIf() or ReadInOrder() then,
   not as constant data, which nobody may write while the kernel runs.
*/

#include <petscdevice_cuda.h>

/* x, once the kernels before this one have written what they write. Does nothing in a kernel that was launched as usual */
template <class T>
static __device__ __forceinline__ const T *WaitForVectors(const T *x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+l"(x) : : "memory");
#endif
  return x;
}

/* The next kernel may begin as soon as all blocks of this one have called this, or ended, and there is room */
static __device__ __forceinline__ void LetNextBegin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Whether the code that runs on this device was made for it: that for older ones does not wait for the kernel before. cuda/early.cu */
PETSC_INTERN PetscErrorCode LitheCUDAMayBeginEarly(bool *may);

/* early: as above; if not, as usual */
template <class... Parameters, class... Arguments>
static cudaError_t LaunchEarly(void (*kernel)(Parameters...), bool early, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const Arguments &...a)
{
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute attribute;

  config.gridDim                                       = grid;
  config.blockDim                                      = block;
  config.dynamicSmemBytes                              = shared;
  config.stream                                        = stream;
  attribute.id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs                                         = &attribute;
  config.numAttrs                                      = early ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, a...);
}
