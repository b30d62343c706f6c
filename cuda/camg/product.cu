/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of matrices, and norms of blocks, on a device: product.cuh */

#include "product.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
/* Rows of A B */
struct ProductSource {
  static constexpr bool factors = true, offsets = false;
  CAMGMatrix            A, B;

  __device__ __forceinline__ PetscInt Begin(PetscInt r) const
  {
    return A.i[r];
  }
  __device__ __forceinline__ PetscInt End(PetscInt r) const
  {
    return A.i[r + 1];
  }
  __device__ __forceinline__ CAMGItem Get(PetscInt, PetscInt k) const
  {
    const PetscInt c = A.j[k];

    return CAMGItem{B.i[c], B.i[c + 1], 0, A.a[k]};
  }
  __device__ __forceinline__ PetscInt Column(const CAMGItem &, PetscInt q) const
  {
    return B.j[q];
  }
  __device__ __forceinline__ bool Head(const CAMGItem &, PetscInt) const
  {
    return true;
  }
  __device__ __forceinline__ void Add(const CAMGItem &item, PetscInt q, PetscScalar *sum) const
  {
    *sum += CAMGTimes(item.factor, B.a[q]);
  }
};

PetscErrorCode LitheCUDACAMGMultiply(const CAMGMatrix *A, const CAMGMatrix *B, CAMGMatrix *C)
{
  const double  items = static_cast<double>(A->nz) / PetscMax(A->m, 1), entries = static_cast<double>(B->nz) / PetscMax(B->m, 1);
  ProductSource s;
  cudaStream_t  stream;

  PetscFunctionBegin;
  s.A = *A;
  s.B = *B;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGMultiply(stream, s, A->m, B->n, CAMGStage(items, entries), C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Squared numbers of the rows of a block, by blocks of columns; an item is a row */
struct NormSource {
  static constexpr bool factors = false, offsets = false;
  CAMGMatrix            A;
  PetscInt              block;

  __device__ __forceinline__ PetscInt Begin(PetscInt r) const
  {
    return block * r;
  }
  __device__ __forceinline__ PetscInt End(PetscInt r) const
  {
    return block * (r + 1);
  }
  __device__ __forceinline__ CAMGItem Get(PetscInt, PetscInt k) const
  {
    return CAMGItem{A.i[k], A.i[k + 1], 0, 0};
  }
  __device__ __forceinline__ PetscInt Column(const CAMGItem &, PetscInt q) const
  {
    return A.j[q] / block;
  }
  __device__ __forceinline__ bool Head(const CAMGItem &item, PetscInt q) const
  {
    return q == item.first || A.j[q - 1] / block != A.j[q] / block;
  }
  __device__ __forceinline__ void Add(const CAMGItem &item, PetscInt q, PetscScalar *sum) const
  {
    const PetscInt c = A.j[q] / block;
    PetscReal      s = CAMGReal(*sum);

    for (; q < item.last && A.j[q] / block == c; q++) s += CAMGSquare(A.a[q]);
    *sum = s;
  }
};

static __global__ void RootsKernel(PetscInt nz, PetscScalar *a)
{
  CAMG_FOR_ALL(k, nz)
  a[k] = sqrt(CAMGReal(a[k]));
}

PetscErrorCode LitheCUDACAMGNorms(const CAMGMatrix *A, PetscInt block, CAMGMatrix *N)
{
  const PetscInt n = A->m / block;
  NormSource     s;
  cudaStream_t   stream;

  PetscFunctionBegin;
  s.A     = *A;
  s.block = block;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGMultiply(stream, s, n, n, A->nz <= 640 * static_cast<PetscInt64>(n) ? 1 : 3, N));
  RootsKernel<<<CAMGBlocks(N->nz), CAMG_THREADS, 0, stream>>>(N->nz, N->a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void ProductsKernel(PetscInt nz, const PetscInt *__restrict__ j, const PetscInt *__restrict__ i, unsigned long long *total)
{
  unsigned long long sum = 0;

  CAMG_FOR_ALL(k, nz)
  sum += static_cast<unsigned long long>(i[j[k] + 1] - i[j[k]]);
  sum = CAMGSum<32>(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0 && sum) atomicAdd(total, sum);
}

PetscErrorCode LitheCUDACAMGProducts(const CAMGMatrix *A, const CAMGMatrix *B, PetscReal *perentry)
{
  unsigned long long *there, products;
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGZeros(stream, 1, &there));
  ProductsKernel<<<PetscMin(CAMGBlocks(A->nz), 1024u), CAMG_THREADS, 0, stream>>>(A->nz, A->j, B->i, there);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 1, there, &products));
  PetscCall(CAMGFree(stream, there));
  *perentry = static_cast<PetscReal>(static_cast<double>(products) / static_cast<double>(PetscMax(A->nz, 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
