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

/*
   Numbers of a row of C that are added in shared memory, for all rows of a block of threads; rows beyond are added in
   the memory of the device
*/
  #define PRODUCT_ROOM (5120 / CAMG_PARTS)
  #define PRODUCT_WARP (.7 * PRODUCT_ROOM * 32 / CAMG_THREADS) /* numbers of a row on average, for a warp per row */
  #define PRODUCT_KEYS 640                                     /* columns of C, as numbers */

/* Threads of a row */
template <int threads>
static __device__ __forceinline__ void ProductWait()
{
  if constexpr (threads == 32) __syncwarp();
  else __syncthreads();
}

/*
   The numbers of rows of blocks of C = A B, whose pattern is there. A warp or a block of threads has a row. Blocks of A
   come one after the other, and threads share the numbers of the matching row of B. A thread of a warp has the same
   column of some blocks, and a thread of a block the same number. So numbers of A stay in its registers. rows, inner,
   columns: of blocks; 0: as the matrices say
*/
template <int threads, int rows, int inner, int columns>
static __global__ void __launch_bounds__(CAMG_THREADS)
  BlockProduct(const __grid_constant__ CAMGMatrix A, const __grid_constant__ CAMGMatrix B, const __grid_constant__ CAMGMatrix C)
{
  constexpr int    each = CAMG_THREADS / threads, room = PRODUCT_ROOM / each, most = PRODUCT_KEYS / each;
  __shared__ char  memory[PRODUCT_ROOM * sizeof(PetscScalar)] __attribute__((aligned(16)));
  __shared__ int   keys[PRODUCT_KEYS], places[CAMG_THREADS];
  const int        slot = static_cast<int>(threadIdx.x) / threads, lane = static_cast<int>(threadIdx.x) % threads;
  const PetscInt64 r  = static_cast<PetscInt64>(blockIdx.x) * each + slot;
  const int        rb = rows ? rows : A.rb, ib = inner ? inner : A.cb, cb = columns ? columns : B.cb, size = rb * cb;
  const int        width = threads == 32 ? cb : size, tasks = threads / width, own = lane / width, column = lane % cb; /* of the thread */
  const int        row = lane % width / cb, high = threads == 32 ? rb : 1;
  constexpr int    fixedrows = threads == 32 && rows ? rows : 1, fixed = inner ? inner : 1;
  const bool       there = r < C.m;
  const PetscInt   begin = there ? C.i[r] : 0, n = there ? C.i[r + 1] - begin : 0;
  const bool       fits  = n * size <= room && n <= most;
  int             *place = places + slot * threads;
  const PetscInt  *key   = fits ? keys + slot * most : C.j + begin;
  PetscScalar     *sum   = fits ? reinterpret_cast<PetscScalar *>(memory) + slot * room : C.a + static_cast<size_t>(begin) * size;

  for (int t = lane; t < n * size; t += threads) sum[t] = 0;
  for (int t = lane; fits && t < n; t += threads) keys[slot * most + t] = C.j[begin + t];
  ProductWait<threads>();
  for (PetscInt k = there ? A.i[r] : 0; k < (there ? A.i[r + 1] : 0); k++) {
    const PetscInt     first = B.i[A.j[k]], last = B.i[A.j[k] + 1];
    const PetscScalar *a = A.a + (static_cast<size_t>(k) * rb + row) * ib;
    PetscScalar        factor[fixedrows][fixed];

    if constexpr (rows > 0) {
  #pragma unroll
      for (int t = 0; t < fixedrows * fixed; t++) factor[t / fixed][t % fixed] = a[t];
    }
    for (PetscInt base = first; base < last; base += threads) {
      const int count = min(static_cast<int>(last - base), threads);

      if (lane < count) place[lane] = CAMGSearch(n, key, B.j[base + lane]) * size;
      ProductWait<threads>();
      for (int q = own; own < tasks && q < count; q += tasks) {
        const PetscScalar *b  = B.a + static_cast<size_t>(base + q) * ib * cb + column;
        PetscScalar       *to = sum + place[q] + row * cb + column;

        if constexpr (rows > 0) {
          PetscScalar number[fixed];

  #pragma unroll
          for (int c = 0; c < fixed; c++) number[c] = b[c * columns];
  #pragma unroll
          for (int t = 0; t < fixedrows; t++) {
            PetscScalar s = to[t * columns];

  #pragma unroll
            for (int c = 0; c < fixed; c++) s += CAMGTimes(factor[t][c], number[c]);
            to[t * columns] = s;
          }
        } else {
          for (int t = 0; t < high; t++) {
            PetscScalar s = to[t * cb];

            for (int c = 0; c < ib; c++) s += CAMGTimes(a[t * ib + c], b[c * cb]);
            to[t * cb] = s;
          }
        }
      }
      ProductWait<threads>(); /* the next block adds to numbers of other threads */
    }
  }
  for (int t = lane; fits && t < n * size; t += threads) C.a[static_cast<size_t>(begin) * size + t] = sum[t];
}

template <int rows, int inner, int columns>
static PetscErrorCode BlockNumbers(cudaStream_t stream, const CAMGMatrix *A, const CAMGMatrix *B, const CAMGMatrix *C)
{
  PetscFunctionBegin;
  if (static_cast<double>(C->nz) * C->rb * C->cb <= PRODUCT_WARP * C->m)
    BlockProduct<32, rows, inner, columns><<<CAMGBlocks(static_cast<PetscInt64>(C->m) * 32), CAMG_THREADS, 0, stream>>>(*A, *B, *C);
  else BlockProduct<CAMG_THREADS, rows, inner, columns><<<CAMGBlocks(C->m, 1), CAMG_THREADS, 0, stream>>>(*A, *B, *C);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
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
    if (A->rb == 3 && A->cb == 3 && B->cb == 6) PetscCall((BlockNumbers<3, 3, 6>(stream, A, B, C)));
    else if (A->rb == 6 && A->cb == 3 && B->cb == 6) PetscCall((BlockNumbers<6, 3, 6>(stream, A, B, C)));
    else if (A->rb == 6 && A->cb == 6 && B->cb == 6) PetscCall((BlockNumbers<6, 6, 6>(stream, A, B, C)));
    else PetscCall((BlockNumbers<0, 0, 0>(stream, A, B, C)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ null vectors */

/* Moduli of diagonal entries, else `none` */
static __global__ void ModuliKernel(const __grid_constant__ CAMGMatrix A, PetscReal none, PetscReal *d)
{
  CAMG_FOR_ALL(r, static_cast<PetscInt64>(A.m) * A.rb)
  {
    const CAMGRow    row(A, r);
    const PetscInt64 k = CAMGDiagonal(A, row);

    d[r] = k >= 0 ? CAMGAbs(A.a[k]) : none;
  }
}

PetscErrorCode LitheCUDACAMGModuli(const CAMGMatrix *A, PetscReal d[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(CAMGSize(A), ModuliKernel, *A, 0, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a row of C is nothing but rounding errors. diagonal: -1 for a row without a diagonal entry */
template <int lanes>
static __global__ void FindNull(const __grid_constant__ CAMGMatrix R, const PetscReal *__restrict__ d, PetscInt64 rows, const PetscReal *__restrict__ diagonal,
                                unsigned char *__restrict__ null, int *any)
{
  const CAMGGroupOf<lanes> g;
  PetscReal                sum = 0;

  if (g.row >= rows) return;
  const CAMGRow row(R, g.row);

  for (PetscInt base = 0; base < row.count; base += lanes) {
    const PetscInt t = base + g.lane;

    CAMGAddOrdered<lanes>(g.mask, t < row.count ? CAMGTimes(CAMGSquare(R.a[row.At(t)]), d[row.Column(R.j, t)]) : static_cast<PetscReal>(0), &sum);
  }
  if (g.lane) return;
  null[g.row] = diagonal[g.row] >= 0 && diagonal[g.row] <= CAMGTimes(static_cast<PetscReal>(CAMG_ROUNDING) * PETSC_MACHINE_EPSILON, sum);
  if (null[g.row]) *any = 1;
}

PetscErrorCode LitheCUDACAMGFindNull(const CAMGMatrix *R, const PetscReal d[], const CAMGMatrix *C, unsigned char null[], PetscBool *any)
{
  const PetscInt64 rows = CAMGSize(C);
  PetscReal       *diagonal;
  int             *there, found;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(rows), &diagonal));
  PetscCall(CAMGZeros(stream, 1, &there));
  ModuliKernel<<<CAMGBlocks(rows), CAMG_THREADS, 0, stream>>>(*C, -1, diagonal);
  PetscCallCUDA(cudaGetLastError());
  CAMG_NUMBERS(R, (FindNull<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*R, d, rows, diagonal, null, there)));
  PetscCall(CAMGGet(stream, 1, there, &found));
  *any = found ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(CAMGFree(stream, diagonal));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int lanes>
static __global__ void ClearNull(const __grid_constant__ CAMGMatrix C, const unsigned char *__restrict__ null)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= static_cast<PetscInt64>(C.m) * C.rb) return;
  const CAMGRow row(C, g.row);

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    if (null[g.row] || null[row.Column(C.j, t)]) C.a[row.At(t)] = 0;
  }
}

PetscErrorCode LitheCUDACAMGClearNull(const unsigned char null[], CAMGMatrix *C)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CAMG_NUMBERS(C, (ClearNull<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*C, null)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
