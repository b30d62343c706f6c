/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Conjugate transposes and means, on a device: src/pc/camg/matrix.c */

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

/* Blocks of B = A^H by search in the rows of A */
template <int lanes>
static __global__ void TransposeFetch(const __grid_constant__ CAMGMatrix A, const __grid_constant__ CAMGMatrix B)
{
  const CAMGGroupOf<lanes> g;
  const PetscInt           size = A.rb * A.cb;

  if (g.row >= B.m) return;
  const PetscInt begin = B.i[g.row], count = (B.i[g.row + 1] - begin) * size;

  for (PetscInt t = g.lane; t < count; t += lanes) {
    const PetscInt k = begin + (size == 1 ? t : t / size), e = size == 1 ? 0 : t % size, r = B.j[k], first = A.i[r];
    const PetscInt from = first + CAMGSearch(A.i[r + 1] - first, A.j + first, static_cast<PetscInt>(g.row)), row = e / A.rb, column = e % A.rb;

    B.a[static_cast<size_t>(k) * size + e] = CAMGConj(A.a[static_cast<size_t>(from) * size + column * A.cb + row]);
  }
}

PetscErrorCode LitheCUDACAMGTranspose(const CAMGMatrix *A, CAMGMatrix *B)
{
  PetscInt    *count;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGCreate(stream, A->n, A->m, A->nz, A->cb, A->rb, B));
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
    const PetscInt pend = A.i[r + 1], qend = B.i[r + 1], size = A.rb * A.cb;
    PetscInt       p = A.i[r], q = B.i[r], n = 0, first = j ? i[r] : 0;

    while (p < pend || q < qend) {
      const PetscInt ca = p < pend ? A.j[p] : PETSC_INT_MAX, cb = q < qend ? B.j[q] : PETSC_INT_MAX;

      if (j) {
        j[first + n] = ca < cb ? ca : cb;
        for (PetscInt e = 0; e < size; e++) {
          PetscScalar v = 0;

          if (ca <= cb) v += A.a[static_cast<size_t>(p) * size + e];
          if (cb <= ca) v += B.a[static_cast<size_t>(q) * size + e];
          a[static_cast<size_t>(first + n) * size + e] = v * static_cast<PetscReal>(0.5);
        }
      }
      p += ca <= cb;
      q += cb <= ca;
      n++;
    }
    if (!j) i[r] = n;
  }
}

PetscErrorCode LitheCUDACAMGMean(const CAMGMatrix *A, const CAMGMatrix *H, CAMGMatrix *S)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCheck(A->nz <= PETSC_INT_MAX - H->nz, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A symmetric part may have more entries than PetscInt counts. Configure PETSC --with-64-bit-indices");
  S->m  = A->m;
  S->n  = H->n;
  S->rb = A->rb;
  S->cb = A->cb;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m) + 1, &S->i));
  MergeKernel<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(*A, *H, S->i, nullptr, nullptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, A->m, S->i));
  PetscCall(CAMGGet(stream, 1, S->i + A->m, &S->nz));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(S->nz), &S->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(S->nz) * S->rb * S->cb, &S->a));
  MergeKernel<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(*A, *H, S->i, S->j, S->a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
