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

  __device__ __forceinline__ PetscInt Begin(PetscInt r) const { return A.i[r]; }
  __device__ __forceinline__ PetscInt End(PetscInt r) const { return A.i[r + 1]; }
  __device__ __forceinline__ CAMGItem Get(PetscInt, PetscInt k) const
  {
    const PetscInt c = A.j[k];

    return CAMGItem{B.i[c], B.i[c + 1], 0, A.a[k]};
  }
  __device__ __forceinline__ PetscInt Column(const CAMGItem &, PetscInt q) const { return B.j[q]; }
  __device__ __forceinline__ bool     Head(const CAMGItem &, PetscInt) const { return true; }
  __device__ __forceinline__ void     Add(const CAMGItem &item, PetscInt q, PetscScalar *sum) const { *sum += CAMGTimes(item.factor, B.a[q]); }
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

  __device__ __forceinline__ PetscInt Begin(PetscInt r) const { return block * r; }
  __device__ __forceinline__ PetscInt End(PetscInt r) const { return block * (r + 1); }
  __device__ __forceinline__ CAMGItem Get(PetscInt, PetscInt k) const { return CAMGItem{A.i[k], A.i[k + 1], 0, 0}; }
  __device__ __forceinline__ PetscInt Column(const CAMGItem &, PetscInt q) const { return A.j[q] / block; }
  __device__ __forceinline__ bool     Head(const CAMGItem &item, PetscInt q) const { return q == item.first || A.j[q - 1] / block != A.j[q] / block; }
  __device__ __forceinline__ void     Add(const CAMGItem &item, PetscInt q, PetscScalar *sum) const
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

/* ------------------------------------------------------------ null vectors of parts */

#define CLEAN_ROUNDING 1e4 /* roundings, as in src/pc/camg/matrix.c */

template <int lanes>
static __global__ void DiagonalModuli(const __grid_constant__ CAMGMatrix A, PetscReal *__restrict__ d)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= A.m) return;
  for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes) {
    if (A.j[k] == g.row) d[g.row] = CAMGAbs(A.a[k]);
  }
}

/* sum [m] of R: the size of the numbers that the diagonal of R A P is made of */
template <int lanes>
static __global__ void CleanSums(const __grid_constant__ CAMGMatrix R, const PetscReal *__restrict__ d, PetscReal *__restrict__ sum)
{
  const CAMGGroupOf<lanes> g;
  PetscReal                mine = 0;

  if (g.row >= R.m) return;
  for (PetscInt k = R.i[g.row] + g.lane; k < R.i[g.row + 1]; k += lanes) mine += CAMGSquare(R.a[k]) * d[R.j[k]];
  mine = CAMGSum<lanes>(g.mask, mine);
  if (g.lane == 0) sum[g.row] = mine;
}

static __global__ void CleanNull(PetscInt m, const PetscReal *__restrict__ d, const PetscReal *__restrict__ sum, unsigned char *__restrict__ null, int *found)
{
  CAMG_FOR_ALL(r, m)
  {
    null[r] = d[r] >= 0 && d[r] <= static_cast<PetscReal>(CLEAN_ROUNDING) * PETSC_MACHINE_EPSILON * sum[r];
    if (null[r]) *found = 1;
  }
}

template <int lanes>
static __global__ void CleanKernel(const __grid_constant__ CAMGMatrix C, const unsigned char *__restrict__ null, const int *__restrict__ found)
{
  const CAMGGroupOf<lanes> g;

  if (!*found || g.row >= C.m) return;
  for (PetscInt k = C.i[g.row] + g.lane; k < C.i[g.row + 1]; k += lanes) {
    if (null[g.row] || null[C.j[k]]) C.a[k] = 0;
  }
}

PetscErrorCode LitheCUDACAMGClean(const CAMGMatrix *A, const CAMGMatrix *R, CAMGMatrix *C)
{
  PetscReal     *d, *sum;
  unsigned char *null;
  int           *found;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGZeros(stream, static_cast<size_t>(PetscMax(A->m, C->m)), &d));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->m), &sum));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(C->m), &null));
  PetscCall(CAMGZeros(stream, 1, &found));
  CAMG_ROWS(A, (DiagonalModuli<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, d)));
  CAMG_ROWS(R, (CleanSums<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*R, d, sum)));
  PetscCallCUDA(cudaMemsetAsync(d, 0xff, static_cast<size_t>(C->m) * sizeof(*d), stream)); /* NaN: no diagonal entry */
  CAMG_ROWS(C, (DiagonalModuli<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*C, d)));
  CleanNull<<<CAMGBlocks(C->m), CAMG_THREADS, 0, stream>>>(C->m, d, sum, null, found);
  CAMG_ROWS(C, (CleanKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*C, null, found)));
  PetscCall(CAMGFree(stream, d));
  PetscCall(CAMGFree(stream, sum));
  PetscCall(CAMGFree(stream, null));
  PetscCall(CAMGFree(stream, found));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
