/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Systems and products with the exact factors of factor.cu, and right-hand sides for measuring the errors of compressed
   copies.

   A thread per row; rows are taken level by level. A value of x is NaN until its row has been solved.
*/

#include "factor.cuh"

/* ------------------------------------------------------------ systems */

struct FactorSides {
  const Number *b[FACTOR_SIDES];
  Number       *x[FACTOR_SIDES];
};

template <int sides>
static __global__ void __launch_bounds__(FACTOR_THREADS)
  FactorSolveKernel(const __grid_constant__ LitheDeviceTriangle t, const __grid_constant__ FactorSides side, unsigned int *ticket)
{
  const Number *a    = reinterpret_cast<const Number *>(t.a);
  const int     lane = threadIdx.x % 32;

  for (;;) {
    unsigned int task = 0;

    if (lane == 0) task = atomicAdd(ticket, 1u);
    task = __shfl_sync(0xffffffffu, task, 0);
    if (32 * static_cast<PetscInt64>(task) >= t.nlist) return;

    const PetscInt row = t.list[32 * static_cast<PetscInt64>(task) + lane];

    if (row >= 0) {
      Number sum[sides];

#pragma unroll
      for (int s = 0; s < sides; s++) sum[s] = side.b[s][row];
      for (PetscInt k = t.i[row]; k < t.i[row + 1]; k++) {
#pragma unroll
        for (int s = 0; s < sides; s++) sum[s] = MultiplyAdd(a[k], TriWaitOne(side.x[s] + t.j[k]), sum[s]);
      }
#pragma unroll
      for (int s = 0; s < sides; s++) TriStore(side.x[s] + row, sum[s]);
    }
    __syncwarp();
  }
}

template <int sides>
static PetscErrorCode FactorSolve(const LitheDeviceTriangle *t, unsigned int *ticket, const PetscScalar *const db[], PetscScalar *const dx[])
{
  FactorSides  side;
  unsigned int blocks;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  for (int s = 0; s < sides; s++) {
    side.b[s] = reinterpret_cast<const Number *>(db[s]);
    side.x[s] = reinterpret_cast<Number *>(dx[s]);
    PetscCall(VCRSTriStart(dx[s], t->n, ticket, stream));
  }
  PetscCall(FactorResident(FactorSolveKernel<sides>, t->nlist / 32, &blocks));
  FactorSolveKernel<sides><<<blocks, FACTOR_THREADS, 0, stream>>>(*t, side, ticket);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDATriangleSolve(const LitheDeviceTriangle *t, unsigned int *ticket, int sides, const PetscScalar *const db[], PetscScalar *const dx[])
{
  PetscFunctionBegin;
  if (!t->n) PetscFunctionReturn(PETSC_SUCCESS);
  switch (sides) {
  case 1:
    PetscCall(FactorSolve<1>(t, ticket, db, dx));
    break;
  case 2:
    PetscCall(FactorSolve<2>(t, ticket, db, dx));
    break;
  default:
    PetscCall(FactorSolve<4>(t, ticket, db, dx));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void FactorMultKernel(const __grid_constant__ LitheDeviceTriangle t, const Number *__restrict__ b, const Number *__restrict__ x, Number *y)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row >= t.n) return;
  Number sum = b[row];

  for (PetscInt k = t.i[row]; k < t.i[row + 1]; k++) sum = MultiplyAdd(reinterpret_cast<const Number *>(t.a)[k], x[t.j[k]], sum);
  y[row] = sum;
}

PetscErrorCode LitheCUDATriangleMultAdd(const LitheDeviceTriangle *t, const PetscScalar *db, const PetscScalar *dx, PetscScalar *dy)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!t->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  FactorMultKernel<<<FactorBlocks(t->n), 256, 0, stream>>>(*t, reinterpret_cast<const Number *>(db), reinterpret_cast<const Number *>(dx),
                                                           reinterpret_cast<Number *>(dy));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ vectors */

/* As on the host: src/pc/vcrs/factor.c */
static __global__ void FactorSignsKernel(PetscInt n, Number *x)
{
  const PetscInt64 r = FACTOR_THREAD;

  if (r >= n) return;
  Number one = Number{};
#if defined(PETSC_USE_COMPLEX)
  one.re = static_cast<unsigned int>(r) * 2654435769u >> 31 ? -1 : 1;
#else
  one = static_cast<unsigned int>(r) * 2654435769u >> 31 ? -1 : 1;
#endif
  x[r] = one;
}

PetscErrorCode LitheCUDASetSigns(PetscInt n, PetscScalar *dx)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  FactorSignsKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, reinterpret_cast<Number *>(dx));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
