/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The largest eigenvalue of diag(root) A diag(root), with A a level, by a few steps of Lanczos' method on a device:
   src/pc/camg/bound.c. Products are those of the cycle, in single precision. No number comes to the host: sums of
   blocks are added by all blocks of the next kernel, in the same order.
*/

#include "camg.cuh"
#include "../common/blocksum.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define BOUND_SMALL  1e-12
  #define BOUND_BLOCKS 1056

/*
   u, w: vectors without their norms; x = root w and A x in single precision. part [blocks]: sums of the last kernel of
   each kind
*/
struct BoundState {
  PetscScalar *u[3];
  float       *x, *product;
  double      *alpha, *beta; /* of steps; beta [CAMG_LANCZOS + 1]: norms of vectors */
  double      *dot, *norm;
  double      *bound;
};

/* The sum of n numbers, in all threads of a block */
static __device__ __forceinline__ double BoundTotal(const double *part, int n)
{
  __shared__ double total;
  double            sum = 0;

  for (int k = static_cast<int>(threadIdx.x); k < n; k += CAMG_THREADS) sum += part[k];
  sum = BlockSum<CAMG_THREADS>(sum);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  return total;
}

static __device__ __forceinline__ PetscReal BoundInverse(double beta)
{
  return beta > BOUND_SMALL ? static_cast<PetscReal>(1 / beta) : 0;
}

static __device__ __forceinline__ void BoundPart(double sum, double *part)
{
  sum = BlockSum<CAMG_THREADS>(sum);
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
}

static __device__ __forceinline__ void BoundPut(float *x, PetscInt64 k, PetscScalar v)
{
  x[CAMG_PARTS * k] = static_cast<float>(CAMGReal(v));
  if (CAMG_PARTS == 2) x[CAMG_PARTS * k + CAMG_PARTS - 1] = static_cast<float>(CAMGImaginary(v));
}

static __global__ void __launch_bounds__(CAMG_THREADS) BoundStart(PetscInt n, const PetscReal *__restrict__ root, BoundState s)
{
  double sum = 0;

  CAMG_FOR_ALL(k, n)
  {
    uint32_t h = static_cast<uint32_t>(k) * 2654435761U;

    h ^= h >> 15;
    const PetscReal v = static_cast<PetscReal>(h * 0x1p-32 - .5);

    s.u[0][k] = v;
    s.u[2][k] = 0;
    BoundPut(s.x, k, root[k] * v);
    sum += static_cast<double>(v) * v;
  }
  BoundPart(sum, s.norm);
}

/* w = A v, and parts of w^H v */
static __global__ void __launch_bounds__(CAMG_THREADS) BoundDot(PetscInt n, const PetscReal *__restrict__ root, int step, int parts, BoundState s)
{
  const double             beta    = sqrt(BoundTotal(s.norm, parts));
  const PetscReal          inverse = BoundInverse(beta);
  const PetscScalar *const u       = s.u[step % 3];
  PetscScalar *const       w       = s.u[(step + 1) % 3];
  double                   dot     = 0;

  if (blockIdx.x == 0 && threadIdx.x == 0) s.beta[step] = beta;
  CAMG_FOR_ALL(k, n)
  {
    const PetscReal re = root[k] * inverse * s.product[CAMG_PARTS * k],
                    im = CAMG_PARTS == 2 ? root[k] * inverse * s.product[CAMG_PARTS * k + CAMG_PARTS - 1] : 0;

  #if PetscDefined(USE_COMPLEX)
    w[k] = PetscScalar(re, im);
  #else
    w[k] = re;
  #endif
    dot += static_cast<double>((re * CAMGReal(u[k]) + im * CAMGImaginary(u[k])) * inverse);
  }
  BoundPart(dot, s.dot);
}

/* w -= alpha v + beta old, and parts of w^H w */
static __global__ void __launch_bounds__(CAMG_THREADS) BoundUpdate(PetscInt n, const PetscReal *__restrict__ root, int step, int parts, BoundState s)
{
  const double             alpha   = BoundTotal(s.dot, parts);
  const PetscReal          inverse = BoundInverse(s.beta[step]), last = step ? static_cast<PetscReal>(s.beta[step]) * BoundInverse(s.beta[step - 1]) : 0;
  const PetscReal          factor = static_cast<PetscReal>(alpha) * inverse;
  const PetscScalar *const u = s.u[step % 3], *const old = s.u[(step + 2) % 3];
  PetscScalar *const w   = s.u[(step + 1) % 3];
  double             sum = 0;

  if (blockIdx.x == 0 && threadIdx.x == 0) s.alpha[step] = alpha;
  CAMG_FOR_ALL(k, n)
  {
    const PetscScalar v = w[k] - (factor * u[k] + last * old[k]);

    w[k] = v;
    BoundPut(s.x, k, root[k] * v);
    sum += static_cast<double>(CAMGSquare(v));
  }
  BoundPart(sum, s.norm);
}

/* Whether the tridiagonal matrix has an eigenvalue above t: signs of the pivots of T - t */
static __device__ __forceinline__ bool BoundHasAbove(int n, const double *d, const double *e, double t)
{
  double pivot = d[0] - t;

  for (int k = 0; k < n; k++) {
    if (pivot > 0) return true;
    if (k + 1 < n) pivot = d[k + 1] - t - CAMGTimes(e[k], e[k]) / (pivot == 0 ? -1e-300 : pivot);
  }
  return false;
}

/* One block. The bisection of the host: different last bits of sums end at the same number */
static __global__ void __launch_bounds__(CAMG_THREADS) BoundFinish(int parts, BoundState s)
{
  const double beta = sqrt(BoundTotal(s.norm, parts));
  double       d[CAMG_LANCZOS], e[CAMG_LANCZOS], low = 0, high = 1;
  int          n = 0;

  if (threadIdx.x) return;
  s.beta[CAMG_LANCZOS] = beta;
  for (; n < CAMG_LANCZOS && s.beta[n] > BOUND_SMALL; n++) {
    d[n] = static_cast<double>(static_cast<PetscReal>(s.alpha[n]));
    e[n] = s.beta[n + 1];
  }
  *s.bound = 1;
  if (!n) return;
  if (!BoundHasAbove(n, d, e, 1)) {
    while (high - low > 1e-6) {
      const double middle = .5 * (low + high);

      if (BoundHasAbove(n, d, e, middle)) low = middle;
      else high = middle;
    }
  }
  high     = CAMGTimes(CAMG_ABOVE, high);
  *s.bound = high > 1 ? 1 : (high < CAMG_LEAST ? CAMG_LEAST : high);
}

/* On several processes, parts of a sum become its only part */
static PetscErrorCode BoundShare(cudaStream_t stream, const CAMGShare *share, int n, double *part, int *parts)
{
  double all[BOUND_BLOCKS], sum = 0;

  PetscFunctionBegin;
  *parts = n;
  if (!share->ctx) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CAMGGet(stream, static_cast<size_t>(n), part, all));
  for (int k = 0; k < n; k++) sum += all[k];
  PetscCall((*share->sum)(share->ctx, &sum));
  PetscCallCUDA(cudaMemcpyAsync(part, &sum, sizeof(sum), cudaMemcpyHostToDevice, stream));
  *parts = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level with all but minv; bound: a number on the device */
static PetscErrorCode CAMGBound(cudaStream_t stream, const CAMGOperator *op, PetscInt n, const PetscReal *root, const CAMGShare *share, double *bound)
{
  const unsigned int few    = PetscMin(CAMGBlocks(n), static_cast<unsigned int>(BOUND_BLOCKS));
  CAMGOperator       single = *op;
  BoundState         s;
  double            *numbers;
  int                norms, dots;

  PetscFunctionBegin;
  single.single = 1;
  for (int k = 0; k < 3; k++) PetscCall(CAMGAllocate(stream, static_cast<size_t>(n), &s.u[k]));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(op->n) * op->cb * CAMG_PARTS, &s.x));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(n) * CAMG_PARTS, &s.product));
  PetscCall(CAMGAllocate(stream, 2 * BOUND_BLOCKS + 2 * CAMG_LANCZOS + 1, &numbers));
  s.dot   = numbers;
  s.norm  = s.dot + BOUND_BLOCKS;
  s.alpha = s.norm + BOUND_BLOCKS;
  s.beta  = s.alpha + CAMG_LANCZOS;
  s.bound = bound;
  BoundStart<<<few, CAMG_THREADS, 0, stream>>>(n, root, s);
  PetscCall(BoundShare(stream, share, static_cast<int>(few), s.norm, &norms));
  for (int step = 0; step < CAMG_LANCZOS; step++) {
    if (share->ctx) PetscCall((*share->get)(share->ctx, CAMG_PARTS * sizeof(float), s.x));
    PetscCall(LitheCUDACAMGTransfer(&single, PETSC_FALSE, s.x, s.product));
    BoundDot<<<few, CAMG_THREADS, 0, stream>>>(n, root, step, norms, s);
    PetscCall(BoundShare(stream, share, static_cast<int>(few), s.dot, &dots));
    BoundUpdate<<<few, CAMG_THREADS, 0, stream>>>(n, root, step, dots, s);
    PetscCall(BoundShare(stream, share, static_cast<int>(few), s.norm, &norms));
  }
  BoundFinish<<<1, CAMG_THREADS, 0, stream>>>(norms, s);
  PetscCallCUDA(cudaGetLastError());
  for (int k = 0; k < 3; k++) PetscCall(CAMGFree(stream, s.u[k]));
  PetscCall(CAMGFree(stream, s.x));
  PetscCall(CAMGFree(stream, s.product));
  PetscCall(CAMGFree(stream, numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
