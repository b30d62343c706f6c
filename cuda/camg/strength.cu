/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Strong entries on a device: src/pc/camg/strength.c */

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
/* A thread per block */
static __global__ void NormsKernel(PetscInt nz, PetscInt size, const PetscScalar *__restrict__ a, PetscScalar *__restrict__ norm)
{
  CAMG_FOR_ALL(k, nz)
  {
    PetscReal sum = 0;

    for (PetscInt e = 0; e < size; e++) sum += CAMGSquare(a[k * size + e]);
    norm[k] = sqrt(sum);
  }
}

PetscErrorCode LitheCUDACAMGNorms(const CAMGMatrix *A, CAMGMatrix *N)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGCreate(stream, A->m, A->n, A->nz, 1, 1, N));
  PetscCallCUDA(cudaMemcpyAsync(N->i, A->i, (static_cast<size_t>(A->m) + 1) * sizeof(PetscInt), cudaMemcpyDeviceToDevice, stream));
  PetscCallCUDA(cudaMemcpyAsync(N->j, A->j, static_cast<size_t>(A->nz) * sizeof(PetscInt), cudaMemcpyDeviceToDevice, stream));
  NormsKernel<<<CAMGBlocks(A->nz), CAMG_THREADS, 0, stream>>>(A->nz, A->rb * A->cb, A->a, N->a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void RootsKernel(const __grid_constant__ CAMGMatrix A, PetscReal *__restrict__ root)
{
  CAMG_FOR_ALL(r, A.m)
  {
    const CAMGRow    row(A, r);
    const PetscInt64 k = CAMGDiagonal(A, row);

    root[r] = k >= 0 ? sqrt(CAMGAbs(A.a[k])) : 0;
  }
}

PetscErrorCode LitheCUDACAMGRoots(const CAMGMatrix *A, PetscReal root[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(A->m, RootsKernel, *A, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void DiagonalKernel(const __grid_constant__ CAMGMatrix A, PetscScalar *__restrict__ d)
{
  CAMG_FOR_ALL(r, A.m)
  {
    const CAMGRow    row(A, r);
    const PetscInt64 k = CAMGDiagonal(A, row);

    d[r] = k >= 0 ? A.a[k] : PetscScalar(0);
  }
}

/* Sizes of rows and sums of the diagonal; with j, entries */
template <int lanes>
static __global__ void FilterKernel(const __grid_constant__ CAMGMatrix A, PetscReal threshold, const PetscReal *__restrict__ root, PetscScalar *d, PetscInt *i,
                                    PetscInt *j, PetscScalar *a)
{
  const CAMGGroupOf<lanes> g;
  const unsigned int       shift = threadIdx.x % 32 / lanes * lanes;

  const bool      exists = g.row < A.m; /* groups of a warp stay together */
  const PetscInt  begin = exists ? A.i[g.row] : 0, end = exists ? A.i[g.row + 1] : 0;
  const PetscReal least = exists ? CAMGTimes(threshold, root[g.row]) : 0;
  PetscScalar     sum   = exists ? d[g.row] : PetscScalar(0);
  PetscInt        at    = exists && j ? i[g.row] : 0;

  for (PetscInt base = begin; __any_sync(CAMG_ALL, base < end); base += lanes) {
    const PetscInt k      = base + g.lane;
    bool           strong = false;
    PetscScalar    v = 0, weak = 0;
    PetscInt       c = 0;

    if (k < end) {
      v = A.a[k];
      c = A.j[k];
      if (c != g.row && !CAMGIsZero(v)) {
        strong = CAMGAbs(v) >= CAMGTimes(least, root[c]);
        if (!strong) weak = v;
      }
    }
    const unsigned int all = (__ballot_sync(CAMG_ALL, strong) & g.mask) >> shift;

    if (j && strong) {
      const PetscInt p = at + __popc(all & ((1u << g.lane) - 1));

      j[p] = c;
      a[p] = v;
    }
    at += __popc(all);
    if (!j && __any_sync(CAMG_ALL, !CAMGIsZero(weak))) CAMGAddOrdered<lanes>(CAMG_ALL, weak, &sum);
  }
  if (j || g.lane || !exists) return;
  i[g.row] = at;
  d[g.row] = sum;
}

/* The room for entries is that of A, so that nothing waits for a size */
PetscErrorCode LitheCUDACAMGFilter(const CAMGMatrix *A, const PetscReal root[], PetscReal threshold, CAMGGraph *g)
{
  CAMGMatrix  *S = &g->strong;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGCreate(stream, A->m, A->n, A->nz, 1, 1, S));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m), &g->d));
  DiagonalKernel<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(*A, g->d);
  PetscCallCUDA(cudaGetLastError());
  CAMG_ROWS(A, (FilterKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, threshold, root, g->d, S->i, nullptr, nullptr)));
  PetscCall(CAMGScan(stream, A->m, S->i));
  CAMG_ROWS(A, (FilterKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, threshold, root, g->d, S->i, S->j, S->a)));
  PetscCall(CAMGGet(stream, 1, S->i + A->m, &S->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void ConjugateKernel(PetscInt n, const PetscScalar *d, PetscScalar *h)
{
  CAMG_FOR_ALL(r, n)
  h[r] = CAMGConj(d[r]);
}

PetscErrorCode LitheCUDACAMGConjugate(PetscInt n, const PetscScalar d[], PetscScalar out[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(n, ConjugateKernel, n, d, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
