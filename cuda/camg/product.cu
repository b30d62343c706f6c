/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of matrices on a device: product.cuh. Of blocks, the pattern is made first */

#include "product.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
/* Rows of A B */
template <bool scalar>
struct ProductSource {
  static constexpr bool numbers = scalar;
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

    return CAMGItem{B.i[c], B.i[c + 1], scalar ? A.a[k] : PetscScalar(0)};
  }
  __device__ __forceinline__ PetscInt Column(PetscInt q) const
  {
    return B.j[q];
  }
  __device__ __forceinline__ PetscScalar Number(PetscScalar factor, PetscInt q) const
  {
    return CAMGTimes(factor, B.a[q]);
  }
};

/* A warp per row of blocks: the blocks of A one after the other, lanes share the numbers of the matching row of B */
static __global__ void __launch_bounds__(CAMG_THREADS)
  BlockProduct(const __grid_constant__ CAMGMatrix A, const __grid_constant__ CAMGMatrix B, const __grid_constant__ CAMGMatrix C)
{
  const CAMGGroupOf<32> g;
  const PetscInt        size = C.rb * C.cb;

  if (g.row >= C.m) return;
  const PetscInt begin = C.i[g.row], n = C.i[g.row + 1] - begin;

  for (PetscInt t = g.lane; t < n * size; t += 32) C.a[static_cast<size_t>(begin) * size + t] = 0;
  __syncwarp();
  for (PetscInt k = A.i[g.row]; k < A.i[g.row + 1]; k++) {
    const PetscInt     first = B.i[A.j[k]], count = (B.i[A.j[k] + 1] - first) * size;
    const PetscScalar *a = A.a + static_cast<size_t>(k) * A.rb * A.cb;

    for (PetscInt t = g.lane; t < count; t += 32) {
      const PetscInt     q = first + t / size, e = t % size, row = e / C.cb, column = e % C.cb;
      const PetscScalar *b  = B.a + static_cast<size_t>(q) * B.rb * B.cb;
      PetscScalar       *to = C.a + (static_cast<size_t>(begin) + CAMGSearch(n, C.j + begin, B.j[q])) * size + e, sum = *to;

      for (PetscInt inner = 0; inner < A.cb; inner++) sum += CAMGTimes(a[row * A.cb + inner], b[inner * B.cb + column]);
      *to = sum;
    }
    __syncwarp(); /* the next block adds to numbers of other lanes */
  }
}

PetscErrorCode LitheCUDACAMGMultiply(const CAMGMatrix *A, const CAMGMatrix *B, CAMGMatrix *C)
{
  const int    stage = CAMGStage(static_cast<double>(A->nz) / PetscMax(A->m, 1) * (static_cast<double>(B->nz) / PetscMax(B->m, 1)));
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (A->rb == 1 && A->cb == 1 && B->cb == 1) PetscCall(CAMGMultiply(stream, ProductSource<true>{*A, *B}, A->m, B->n, 1, 1, stage, C));
  else {
    PetscCall(CAMGMultiply(stream, ProductSource<false>{*A, *B}, A->m, B->n, A->rb, B->cb, stage, C));
    BlockProduct<<<CAMGBlocks(static_cast<PetscInt64>(C->m) * 32), CAMG_THREADS, 0, stream>>>(*A, *B, *C);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ null vectors */

/* Moduli of diagonal entries, else `none` */
static __global__ void CleanDiagonal(const __grid_constant__ CAMGMatrix A, PetscReal none, PetscReal *d)
{
  CAMG_FOR_ALL(r, static_cast<PetscInt64>(A.m) * A.rb)
  {
    const CAMGRow    row(A, r);
    const PetscInt64 k = CAMGDiagonal(A, row);

    d[r] = k >= 0 ? CAMGAbs(A.a[k]) : none;
  }
}

/* Whether a row of C is nothing but rounding errors. diagonal: -1 for a row without a diagonal entry */
template <int lanes>
static __global__ void CleanFind(const __grid_constant__ CAMGMatrix R, const PetscReal *__restrict__ d, const __grid_constant__ CAMGMatrix C,
                                 const PetscReal *__restrict__ diagonal, unsigned char *__restrict__ null, int                            *any)
{
  const CAMGGroupOf<lanes> g;
  PetscReal                sum = 0;

  if (g.row >= static_cast<PetscInt64>(C.m) * C.rb) return;
  const CAMGRow row(R, g.row);

  for (PetscInt base = 0; base < row.count; base += lanes) {
    const PetscInt t = base + g.lane;

    CAMGAddOrdered<lanes>(g.mask, t < row.count ? CAMGTimes(CAMGSquare(R.a[row.At(t)]), d[row.Column(R.j, t)]) : static_cast<PetscReal>(0), &sum);
  }
  if (g.lane) return;
  null[g.row] = diagonal[g.row] >= 0 && diagonal[g.row] <= CAMGTimes(static_cast<PetscReal>(CAMG_ROUNDING) * PETSC_MACHINE_EPSILON, sum);
  if (null[g.row]) *any = 1;
}

template <int lanes>
static __global__ void CleanZero(const __grid_constant__ CAMGMatrix C, const unsigned char *__restrict__ null, const int *__restrict__ any)
{
  const CAMGGroupOf<lanes> g;

  if (!*any || g.row >= static_cast<PetscInt64>(C.m) * C.rb) return;
  const CAMGRow row(C, g.row);

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    if (null[g.row] || null[row.Column(C.j, t)]) C.a[row.At(t)] = 0;
  }
}

PetscErrorCode LitheCUDACAMGClean(const CAMGMatrix *A, const CAMGMatrix *R, CAMGMatrix *C)
{
  PetscReal     *d, *diagonal;
  unsigned char *null;
  int           *any;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(CAMGSize(A)), &d));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(CAMGSize(C)), &diagonal));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(CAMGSize(C)), &null));
  PetscCall(CAMGZeros(stream, 1, &any));
  CleanDiagonal<<<CAMGBlocks(CAMGSize(A)), CAMG_THREADS, 0, stream>>>(*A, 0, d);
  CleanDiagonal<<<CAMGBlocks(CAMGSize(C)), CAMG_THREADS, 0, stream>>>(*C, -1, diagonal);
  PetscCallCUDA(cudaGetLastError());
  CAMG_NUMBERS(R, (CleanFind<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*R, d, *C, diagonal, null, any)));
  CAMG_NUMBERS(C, (CleanZero<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*C, null, any)));
  PetscCall(CAMGFree(stream, d));
  PetscCall(CAMGFree(stream, diagonal));
  PetscCall(CAMGFree(stream, null));
  PetscCall(CAMGFree(stream, any));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
