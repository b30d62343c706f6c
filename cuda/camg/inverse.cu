/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The coarsest level on a device. A = L D L^H without pivots, for a Hermitian matrix that is definite; src/mg/coarsest.c
   inverts others. L^-1 needs the room of A: column k of L^-1 takes the place of column k of A. A launch eliminates some
   unknowns. In each launch a block of threads has a row, and repeats the elimination among the rows of these unknowns
*/

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define INVERSE_MOST 600              /* unknowns: rows are in shared memory */
  #define INVERSE_STEP (8 / CAMG_PARTS) /* unknowns of a launch */

/* The scaled matrix, dense by rows */
template <int lanes>
static __global__ void InverseFill(const __grid_constant__ CAMGMatrix A, const double *__restrict__ s, PetscInt n, PetscScalar *M)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= n) return;
  const CAMGRow row(A, g.row);

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    const PetscInt c = row.Column(A.j, t);

    M[g.row * n + c] = A.a[row.At(t)] / static_cast<PetscReal>(s[g.row]) / static_cast<PetscReal>(s[c]);
  }
}

/* Rows `in` become rows `out`: unknowns first to first + INVERSE_STEP - 1 are eliminated from the rows below them */
static __global__ void __launch_bounds__(CAMG_THREADS) InverseEliminate(PetscInt n, PetscInt first, const PetscScalar *__restrict__ in, PetscScalar *out)
{
  __shared__ char memory[(INVERSE_STEP + 1) * INVERSE_MOST * sizeof(PetscScalar)] __attribute__((aligned(16)));
  const PetscInt  r = static_cast<PetscInt>(blockIdx.x), pivots = min(static_cast<PetscInt>(INVERSE_STEP), n - first);
  const PetscInt  own  = r >= first && r < first + pivots ? r - first : pivots; /* the place of row r */
  PetscScalar    *rows = reinterpret_cast<PetscScalar *>(memory);

  for (PetscInt t = static_cast<PetscInt>(threadIdx.x); t < pivots * n; t += CAMG_THREADS) rows[t] = in[static_cast<size_t>(first) * n + t];
  for (PetscInt t = static_cast<PetscInt>(threadIdx.x); t < n; t += CAMG_THREADS) rows[pivots * n + t] = in[static_cast<size_t>(r) * n + t];
  __syncthreads();
  for (PetscInt g = 0; g < pivots && r >= first; g++) {
    const PetscScalar *pivot = rows + g * n;
    const PetscInt     p     = first + g;
    PetscScalar        f[INVERSE_STEP + 1];

  #pragma unroll
    for (int h = 0; h <= INVERSE_STEP; h++) f[h] = h > g && h <= pivots ? rows[h * n + p] / pivot[p] : PetscScalar(0);
    __syncthreads();
    for (PetscInt c = static_cast<PetscInt>(threadIdx.x); c < n; c += CAMG_THREADS) {
      const PetscScalar v = pivot[c];

  #pragma unroll
      for (int h = 0; h <= INVERSE_STEP; h++) {
        if (h > g && h <= pivots) rows[h * n + c] = c == p ? -f[h] : rows[h * n + c] - f[h] * v;
      }
    }
    __syncthreads();
  }
  for (PetscInt t = static_cast<PetscInt>(threadIdx.x); t < n; t += CAMG_THREADS) out[static_cast<size_t>(r) * n + t] = rows[own * n + t];
}

/* L = D^-1/2 times the unit triangle. *bad: if a pivot is not positive, beyond rounding errors */
template <class R>
static __global__ void InverseRound(PetscInt n, const PetscScalar *__restrict__ M, CAMGNumber<R> *__restrict__ L, int *bad)
{
  CAMG_FOR_ALL(k, static_cast<PetscInt64>(n) * n)
  {
    const PetscInt    r = static_cast<PetscInt>(k / n), c = static_cast<PetscInt>(k % n);
    const PetscReal   d  = CAMGReal(M[static_cast<size_t>(r) * n + r]);
    const PetscScalar v  = c > r ? PetscScalar(0) : (c == r ? PetscScalar(1) : M[k]) / sqrt(d);
    R                *to = reinterpret_cast<R *>(L + k);

    if (c == r && !(d > static_cast<PetscReal>(LITHE_MG_SINGULAR) * PETSC_MACHINE_EPSILON && d <= PETSC_MAX_REAL)) *bad = 1;
    to[0] = static_cast<R>(CAMGReal(v));
    if (CAMG_PARTS == 2) to[CAMG_PARTS - 1] = static_cast<R>(CAMGImaginary(v));
  }
}

PetscErrorCode LitheCUDACAMGInvert(const CAMGMatrix *A, const double s[], const LitheMGCoarsest *c, PetscBool *done)
{
  const PetscInt     n      = CAMGSize(A);
  const size_t       all    = static_cast<size_t>(n) * static_cast<size_t>(n);
  const unsigned int blocks = CAMGBlocks(static_cast<PetscInt64>(all));
  PetscScalar       *M[2];
  int               *there, bad;
  cudaStream_t       stream;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (n > INVERSE_MOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  for (int k = 0; k < 2; k++) PetscCall(CAMGZeros(stream, all, &M[k]));
  PetscCall(CAMGZeros(stream, 1, &there));
  CAMG_NUMBERS(A, (InverseFill<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, n, M[0])));
  for (PetscInt first = 0; first < n; first += INVERSE_STEP) {
    InverseEliminate<<<CAMGBlocks(n, 1), CAMG_THREADS, 0, stream>>>(n, first, M[0], M[1]);
    std::swap(M[0], M[1]);
  }
  if (c->single) InverseRound<float><<<blocks, CAMG_THREADS, 0, stream>>>(n, M[0], static_cast<CAMGNumber<float> *>(c->L), there);
  else InverseRound<double><<<blocks, CAMG_THREADS, 0, stream>>>(n, M[0], static_cast<CAMGNumber<double> *>(c->L), there);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 1, there, &bad));
  *done = bad ? PETSC_FALSE : PETSC_TRUE;
  for (int k = 0; k < 2; k++) PetscCall(CAMGFree(stream, M[k]));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
