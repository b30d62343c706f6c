/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The coarsest level on a device, real and definite; src/mg/coarsest.c inverts others */

#include "../mg/inverse.cuh"
#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #if PetscDefined(USE_COMPLEX)
PetscErrorCode LitheCUDACAMGInvert(const CAMGMatrix *, const double[], const LitheMGCoarsest *, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
  #else
/* The lower triangle of the scaled matrix, and ones on the diagonal after row n - 1 */
template <int lanes>
static __global__ void InverseFill(const __grid_constant__ CAMGMatrix A, const double *__restrict__ s, PetscInt n, double *w)
{
  const CAMGGroupOf<lanes> g;
  const PetscInt           r = static_cast<PetscInt>(g.row), all = (n + DENSE_TILE - 1) / DENSE_TILE * DENSE_TILE;

  if (g.lane == 0 && r >= n && r < all) DenseNumber(w, r, r) = 1;
  if (r >= n) return;
  const CAMGRow row(A, r);

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    const PetscInt c = row.Column(A.j, t);

    if (c <= r) DenseNumber(w, r, c) = static_cast<double>(A.a[row.At(t)]) / s[r] / s[c];
  }
}

PetscErrorCode LitheCUDACAMGInvert(const CAMGMatrix *A, const double s[], const LitheMGCoarsest *c, PetscBool *done)
{
  const PetscInt n       = CAMGSize(A);
  const size_t   numbers = LitheMGInvertNumbers(n);
  const double   least   = LITHE_MG_SINGULAR * static_cast<double>(PETSC_MACHINE_EPSILON);
  double        *w[2];
  int           *there, failed;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGZeros(stream, numbers, &w[0]));
  PetscCall(CAMGZeros(stream, 1, &there));
  PetscCallCUDA(cudaMemsetAsync(c->L, 0, static_cast<size_t>(n) * static_cast<size_t>(n) * (c->single ? sizeof(float) : sizeof(double)), stream));
  w[1] = w[0] + numbers / 2;
  CAMG_ROWS_OF(n + DENSE_TILE, static_cast<PetscInt64>(A->nz) * A->rb * A->cb, (InverseFill<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, n, w[0])));
  if (c->single) PetscCall(DenseInvert(static_cast<int>(n), w, least, static_cast<float *>(c->L), there, stream));
  else PetscCall(DenseInvert(static_cast<int>(n), w, least, static_cast<double *>(c->L), there, stream));
  PetscCall(CAMGGet(stream, 1, there, &failed));
  *done = failed ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(CAMGFree(stream, w[0]));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
  #endif
#endif
