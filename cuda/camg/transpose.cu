/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Conjugate transposes and symmetric parts, on a device: src/pc/camg/matrix.c */

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
static __global__ void TransposeCount(PetscInt nz, const PetscInt *__restrict__ j, PetscInt *count)
{
  CAMG_FOR_ALL(k, nz)
  atomicAdd(&count[j[k]], 1);
}

template <int lanes>
static __global__ void TransposePlace(const __grid_constant__ CAMGMatrix A, const PetscInt *__restrict__ i, PetscInt *count, PetscInt *__restrict__ j)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= A.m) return;
  for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes) {
    const PetscInt c = A.j[k];

    j[i[c] + atomicAdd(&count[c], 1)] = static_cast<PetscInt>(g.row);
  }
}

/* The number of columns below c */
static __device__ __forceinline__ PetscInt Search(PetscInt n, const PetscInt *j, PetscInt c)
{
  PetscInt low = 0, high = n;

  while (low < high) {
    const PetscInt middle = (low + high) / 2;

    if (j[middle] < c) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* Entries of B = A^H by search in the rows of A */
template <int lanes>
static __global__ void TransposeFetch(const __grid_constant__ CAMGMatrix A, const __grid_constant__ CAMGMatrix B)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= B.m) return;
  for (PetscInt k = B.i[g.row] + g.lane; k < B.i[g.row + 1]; k += lanes) {
    const PetscInt r = B.j[k], first = A.i[r];

    B.a[k] = CAMGConj(A.a[first + Search(A.i[r + 1] - first, A.j + first, static_cast<PetscInt>(g.row))]);
  }
}

PetscErrorCode LitheCUDACAMGTranspose(const CAMGMatrix *A, CAMGMatrix *B)
{
  PetscInt    *count;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGCreate(stream, A->n, A->m, A->nz, B));
  PetscCallCUDA(cudaMemsetAsync(B->i, 0, (static_cast<size_t>(B->m) + 1) * sizeof(PetscInt), stream));
  TransposeCount<<<CAMGBlocks(A->nz), CAMG_THREADS, 0, stream>>>(A->nz, A->j, B->i);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, B->m, B->i));
  PetscCall(CAMGZeros(stream, static_cast<size_t>(B->m), &count));
  CAMG_ROWS(A, (TransposePlace<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, B->i, count, B->j)));
  PetscCall(CAMGFree(stream, count));
  PetscCall(LitheCUDACAMGSortRows(B->m, B->n, B->nz, B->i, B->j));
  CAMG_ROWS(B, (TransposeFetch<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, *B)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A thread per row. j NULL: sizes */
static __global__ void MergeKernel(const __grid_constant__ CAMGMatrix A, const __grid_constant__ CAMGMatrix B, PetscInt *i, PetscInt *j, PetscScalar *a)
{
  CAMG_FOR_ALL(r, A.m)
  {
    const PetscInt pend = A.i[r + 1], qend = B.i[r + 1];
    PetscInt       p = A.i[r], q = B.i[r], n = 0, first = j ? i[r] : 0;

    while (p < pend || q < qend) {
      const PetscInt ca = p < pend ? A.j[p] : PETSC_INT_MAX, cb = q < qend ? B.j[q] : PETSC_INT_MAX;

      if (j) {
        PetscScalar v = 0;

        if (ca <= cb) v += A.a[p];
        if (cb <= ca) v += B.a[q];
        j[first + n] = ca < cb ? ca : cb;
        a[first + n] = v * static_cast<PetscReal>(0.5);
      }
      p += ca <= cb;
      q += cb <= ca;
      n++;
    }
    if (!j) i[r] = n;
  }
}

PetscErrorCode LitheCUDACAMGSymmetricPart(const CAMGMatrix *A, CAMGMatrix *S)
{
  CAMGMatrix   B;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCheck(A->nz <= PETSC_INT_MAX / 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A symmetric part may have more entries than PetscInt counts. Configure PETSC --with-64-bit-indices");
  PetscCall(LitheCUDACAMGTranspose(A, &B));
  S->m = A->m;
  S->n = A->n;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m) + 1, &S->i));
  MergeKernel<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(*A, B, S->i, nullptr, nullptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, A->m, S->i));
  PetscCall(CAMGGet(stream, 1, S->i + A->m, &S->nz));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(S->nz), &S->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(S->nz), &S->a));
  MergeKernel<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(*A, B, S->i, S->j, S->a);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGDestroy(stream, &B));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
