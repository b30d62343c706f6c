/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The inverse of the Cholesky factor of a symmetric matrix, for coarsest levels: Gaussian elimination on [A | I] by
   blocks of 32 columns. At the end, each row block in place of I is multiplied by the inverse factor of its diagonal
   block. The result is the inverse of the Cholesky factor.

   Only lower tiles of 32 x 32 numbers are stored, row by row, in two copies. Each launch does one step, and reads one
   copy and writes the other.
*/

#include "../common/petsccuda.cuh"
#include <lithe/private/lithemg.h>
#include <float.h>

#define DENSE_TILE    LITHE_MG_TILE
#define DENSE_THREADS 256

typedef double DenseTile[DENSE_TILE][DENSE_TILE + 1];

static LITHE_HD inline size_t DenseAt(int i, int j)
{
  return (static_cast<size_t>(i) * (i + 1) / 2 + j) * DENSE_TILE * DENSE_TILE;
}

static __device__ __forceinline__ double &DenseNumber(double *w, PetscInt row, PetscInt column)
{
  const int i = static_cast<int>(row), j = static_cast<int>(column);

  return w[DenseAt(i / DENSE_TILE, j / DENSE_TILE) + static_cast<size_t>(i % DENSE_TILE) * DENSE_TILE + j % DENSE_TILE];
}

static __device__ __forceinline__ void DenseLoad(const double *w, int i, int j, DenseTile t)
{
  const double *tile = w + DenseAt(i, j);

  for (int e = static_cast<int>(threadIdx.x); e < DENSE_TILE * DENSE_TILE; e += DENSE_THREADS) t[e / DENSE_TILE][e % DENSE_TILE] = tile[e];
}

/*
   The inverse of the Cholesky factor of a tile, by the first warp. failed: set if a pivot is not above `least`, or
   infinite
*/
static __device__ void DenseFactor(DenseTile t, DenseTile inverse, double least, int *failed)
{
  const int lane = static_cast<int>(threadIdx.x);
  double    a[DENSE_TILE], reciprocal = 0;

  if (lane >= 32) return;
#pragma unroll
  for (int c = 0; c < DENSE_TILE; c++) a[c] = t[lane][c];
#pragma unroll
  for (int j = 0; j < DENSE_TILE; j++) {
    const double pivot = __shfl_sync(0xffffffffu, a[j], j), root = sqrt(pivot);

    if (!(pivot > least && pivot <= DBL_MAX)) *failed = 1;
    if (lane == j) reciprocal = 1 / root;
    a[j] = lane == j ? root : a[j] / root;
#pragma unroll
    for (int c = j + 1; c < DENSE_TILE; c++) {
      const double other = __shfl_sync(0xffffffffu, a[j], c);

      a[c] -= a[j] * other;
    }
  }
#pragma unroll
  for (int c = 0; c < DENSE_TILE; c++) t[lane][c] = a[c];
  __syncwarp();

  /* each lane has a column of the inverse */
#pragma unroll
  for (int r = 0; r < DENSE_TILE; r++) a[r] = r == lane ? 1 : 0;
#pragma unroll
  for (int r = 0; r < DENSE_TILE; r++) {
    const double pivot = __shfl_sync(0xffffffffu, reciprocal, r);

    a[r] *= pivot;
#pragma unroll
    for (int q = r + 1; q < DENSE_TILE; q++) a[q] -= t[q][r] * a[r];
  }
#pragma unroll
  for (int r = 0; r < DENSE_TILE; r++) inverse[r][lane] = a[r];
}

/* out = a b, a b^T or a^T b; each thread has four numbers of a row */
enum {
  DENSE_NN,
  DENSE_NT,
  DENSE_TN
};

template <int kind>
static __device__ __forceinline__ void DenseProduct(const DenseTile a, const DenseTile b, double sum[4])
{
  const int row = static_cast<int>(threadIdx.x) / 8, column = static_cast<int>(threadIdx.x) % 8;

#pragma unroll
  for (int l = 0; l < 4; l++) sum[l] = 0;
#pragma unroll 8
  for (int q = 0; q < DENSE_TILE; q++) {
    const double left = kind == DENSE_TN ? a[q][row] : a[row][q];

#pragma unroll
    for (int l = 0; l < 4; l++) sum[l] += left * (kind == DENSE_NT ? b[column + 8 * l][q] : b[q][column + 8 * l]);
  }
}

/*
   Step k of nb, with a block per tile (i, j), i >= k, i >= j. Row k is finished and copied to inverse, with n numbers
   per row. Later rows continue in out
*/
template <class Number>
static __global__ void __launch_bounds__(DENSE_THREADS)
  DenseStepKernel(int n, int nb, int k, const double *__restrict__ w, double *__restrict__ out, double least, Number *__restrict__ inverse, int *failed)
{
  __shared__ DenseTile d, dinv, t, u;
  const int            row = static_cast<int>(threadIdx.x) / 8, column = static_cast<int>(threadIdx.x) % 8;
  int                  i = k, j = static_cast<int>(blockIdx.x);
  double               sum[4];

  /* row k has k + 1 tiles; each later row has one tile more */
  while (j > i) j -= ++i;
  DenseLoad(w, k, k, d);
  __syncthreads();
  DenseFactor(d, dinv, least, failed);
  __syncthreads();
  if (i == k) {
    if (j == k) {
#pragma unroll
      for (int l = 0; l < 4; l++) sum[l] = dinv[row][column + 8 * l];
    } else {
      DenseLoad(w, k, j, t);
      __syncthreads();
      DenseProduct<DENSE_NN>(dinv, t, sum);
    }
#pragma unroll
    for (int l = 0; l < 4; l++) {
      const int r = k * DENSE_TILE + row, c = j * DENSE_TILE + column + 8 * l;

      if (r < n && c <= r) inverse[static_cast<size_t>(r) * n + c] = static_cast<Number>(sum[l]);
    }
    return;
  }

  /* d = D^-1, then u = W_ik D^-1 */
  DenseProduct<DENSE_TN>(dinv, dinv, sum);
#pragma unroll
  for (int l = 0; l < 4; l++) d[row][column + 8 * l] = sum[l];
  DenseLoad(w, i, k, t);
  __syncthreads();
  DenseProduct<DENSE_NN>(t, d, sum);
  if (j == k) {
#pragma unroll
    for (int l = 0; l < 4; l++) out[DenseAt(i, j) + row * DENSE_TILE + column + 8 * l] = -sum[l];
    return;
  }
#pragma unroll
  for (int l = 0; l < 4; l++) u[row][column + 8 * l] = sum[l];
  __syncthreads();
  if (j < k) DenseLoad(w, k, j, t);
  else DenseLoad(w, j, k, t);
  __syncthreads();
  if (j < k) DenseProduct<DENSE_NN>(u, t, sum);
  else DenseProduct<DENSE_NT>(u, t, sum);
#pragma unroll
  for (int l = 0; l < 4; l++) {
    const size_t at = DenseAt(i, j) + row * DENSE_TILE + column + 8 * l;

    out[at] = w[at] - sum[l];
  }
}

/*
   All steps, from the tiles w[0]. Numbers above the diagonal of inverse stay as they are; failed, on the device, is 0
   or more
*/
template <class Number>
static PetscErrorCode DenseInvert(int n, double *w[2], double least, Number *inverse, int *failed, cudaStream_t stream)
{
  const int nb = (n + DENSE_TILE - 1) / DENSE_TILE;

  PetscFunctionBegin;
  for (int k = 0; k < nb; k++) {
    const int tiles = (nb * (nb + 1) - k * (k + 1)) / 2;

    DenseStepKernel<Number><<<static_cast<unsigned int>(tiles), DENSE_THREADS, 0, stream>>>(n, nb, k, w[k % 2], w[(k + 1) % 2], least, inverse, failed);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
