/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Programmatic dependent launch, from compute capability 9.0 on: a kernel may begin before the previous kernel of the
   stream has ended. Meanwhile the early kernel fills tables and reads the matrix, which is complete before the first
   product.

   Each thread calls PDLWait() before the first access to a vector. Ghost values may be read earlier; halo.cuh says
   when. Vectors are read by Read(), ReadIf() or ReadInOrder(). Loads of constant data are not allowed: an earlier
   kernel may still write the vector.
*/

#include "petsccuda.cuh"

/* Returns x after the previous kernels have written all results. Does nothing in an ordinary launch */
template <class T>
static __device__ __forceinline__ const T *PDLWait(const T *x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" : "+l"(x) : : "memory");
#endif
  return x;
}

/* The next kernel may begin as soon as all blocks of this kernel have called PDLTrigger() or ended, if the device has
   room */
static __device__ __forceinline__ void PDLTrigger()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Whether the running code was compiled for this device. Code for older devices does not wait. Defined in pdl.cu */
PETSC_INTERN PetscErrorCode LitheCUDAHasPDL(bool *may);

/* pdl: a dependent launch; otherwise an ordinary launch */
template <class... Parameters, class... Arguments>
static cudaError_t PDLLaunch(void (*kernel)(Parameters...), bool pdl, dim3 grid, dim3 block, size_t shared, cudaStream_t stream, const Arguments &...a)
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
  config.numAttrs                                      = pdl ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, a...);
}
