/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows of the user on a device: src/pc/camg/matrix.c */

#include "product.cuh"
#include "../common/blocksum.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define SURVEY_BLOCKS 1056u

typedef struct {
  unsigned long long largest[2]; /* bits of doubles that are not negative: these have the order of the numbers */
  int                sign, infinite;
} Survey;

/* Few blocks, so that few atomic operations go to one place */
template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS) SurveyKernel(const __grid_constant__ CAMGMatrix A, Survey *s)
{
  const int lane     = static_cast<int>(threadIdx.x) % lanes;
  double    diagonal = 0, all = 0;
  int       sign = 0, infinite = 0;

  CAMG_FOR_ALL(t, static_cast<PetscInt64>(A.m) * lanes)
  {
    const PetscInt r = static_cast<PetscInt>(t / lanes);

    for (PetscInt k = A.i[r] + lane; k < A.i[r + 1]; k += lanes) {
      const PetscReal a = CAMGAbs(A.a[k]);

      if (!(a <= PETSC_MAX_REAL)) infinite = 1;
      else if (a > all) all = a;
      if (A.j[k] != r) continue;
      if (a <= PETSC_MAX_REAL && a > diagonal) diagonal = a;
      sign += (CAMGReal(A.a[k]) > 0) - (CAMGReal(A.a[k]) < 0);
    }
  }
  __syncwarp();
  diagonal = CAMGLargest<32>(CAMG_ALL, diagonal);
  all      = CAMGLargest<32>(CAMG_ALL, all);
  sign     = CAMGSum<32>(CAMG_ALL, sign);
  infinite = CAMGSum<32>(CAMG_ALL, infinite);
  if (threadIdx.x % 32) return;
  atomicMax(&s->largest[0], static_cast<unsigned long long>(__double_as_longlong(diagonal)));
  atomicMax(&s->largest[1], static_cast<unsigned long long>(__double_as_longlong(all)));
  if (sign) atomicAdd(&s->sign, sign);
  if (infinite) s->infinite = 1;
}

PetscErrorCode LitheCUDACAMGSurvey(const CAMGMatrix *A, double largest[2], PetscInt *sign, PetscBool *finite)
{
  cudaStream_t stream;
  Survey      *there, s;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGZeros(stream, 1, &there));
  CAMG_ROWS(A, (SurveyKernel<lanes><<<PetscMin(blocks, SURVEY_BLOCKS), CAMG_THREADS, 0, stream>>>(*A, there)));
  PetscCall(CAMGGet(stream, 1, there, &s));
  PetscCall(CAMGFree(stream, there));
  for (int k = 0; k < 2; k++) PetscCall(PetscMemcpy(&largest[k], &s.largest[k], sizeof(double)));
  *sign   = s.sign;
  *finite = s.infinite ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* left, right NULL: ones */
template <int lanes>
static __global__ void CopyKernel(const __grid_constant__ CAMGMatrix A, PetscReal factor, const double *__restrict__ left, const double *__restrict__ right,
                                  PetscScalar *__restrict__ b)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= A.m) return;
  for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes)
    b[k] = A.a[k] * factor * static_cast<PetscReal>(left ? left[g.row] : 1) * static_cast<PetscReal>(right ? right[A.j[k]] : 1);
}

/* The pattern of blocks: an item is a row of A */
struct CopySource {
  static constexpr bool numbers = false;
  CAMGMatrix            A;
  PetscInt              block;

  __device__ __forceinline__ PetscInt Begin(PetscInt r) const
  {
    return block * r;
  }
  __device__ __forceinline__ PetscInt End(PetscInt r) const
  {
    return block * (r + 1);
  }
  __device__ __forceinline__ CAMGItem Get(PetscInt, PetscInt k) const
  {
    return CAMGItem{A.i[k], A.i[k + 1], 0};
  }
  __device__ __forceinline__ PetscInt Column(PetscInt q) const
  {
    return A.j[q] / block;
  }
};

template <int lanes>
static __global__ void CopyBlocks(const __grid_constant__ CAMGMatrix A, PetscReal factor, const __grid_constant__ CAMGMatrix B)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= A.m) return;
  const PetscInt r = static_cast<PetscInt>(g.row / B.rb), p = static_cast<PetscInt>(g.row % B.rb), begin = B.i[r], n = B.i[r + 1] - begin;

  for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes) {
    const PetscInt c = A.j[k];

    B.a[((static_cast<size_t>(begin) + CAMGSearch(n, B.j + begin, c / B.cb)) * B.rb + p) * B.cb + c % B.cb] = A.a[k] * factor;
  }
}

PetscErrorCode LitheCUDACAMGCopy(const CAMGMatrix *A, double factor, const double left[], const double right[], PetscInt block, CAMGMatrix *B)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (block == 1) {
    PetscCall(CAMGCreate(stream, A->m, A->n, A->nz, 1, 1, B));
    PetscCallCUDA(cudaMemcpyAsync(B->i, A->i, (static_cast<size_t>(A->m) + 1) * sizeof(PetscInt), cudaMemcpyDeviceToDevice, stream));
    PetscCallCUDA(cudaMemcpyAsync(B->j, A->j, static_cast<size_t>(A->nz) * sizeof(PetscInt), cudaMemcpyDeviceToDevice, stream));
    CAMG_ROWS(A, (CopyKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, static_cast<PetscReal>(factor), left, right, B->a)));
  } else {
    B->i = nullptr;
    PetscCall(CAMGMultiply(stream, CopySource{*A, block}, A->m / block, A->n / block, block, block,
                           CAMGStage(static_cast<double>(A->nz) / PetscMax(A->m / block, 1)), B));
    PetscCallCUDA(cudaMemsetAsync(B->a, 0, static_cast<size_t>(B->nz) * block * block * sizeof(PetscScalar), stream));
    CAMG_ROWS(A, (CopyBlocks<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, static_cast<PetscReal>(factor), *B)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void SetOuterKernel(PetscInt n, const PetscScalar *x, double *outer)
{
  CAMG_FOR_ALL(r, n)
  outer[r] = x ? static_cast<double>(CAMGReal(x[r])) : 1;
}

PetscErrorCode LitheCUDACAMGSetOuter(PetscInt n, const PetscScalar x[], double outer[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(n, SetOuterKernel, n, x, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void SetColumnKernel(PetscInt n, PetscInt columns, PetscInt c, const PetscScalar *__restrict__ x, PetscInt period, PetscScalar *T)
{
  CAMG_FOR_ALL(r, n)
  T[r * columns + c] = x ? x[r] : PetscScalar(r % period == c ? 1 : 0);
}

PetscErrorCode LitheCUDACAMGSetColumn(PetscInt n, PetscInt columns, PetscInt c, const PetscScalar x[], PetscInt period, PetscScalar T[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(n, SetColumnKernel, n, columns, c, x, period, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void DivideKernel(PetscInt n, const double *s, double *outer)
{
  CAMG_FOR_ALL(r, n)
  outer[r] /= s[r];
}

PetscErrorCode LitheCUDACAMGDivide(PetscInt n, const double s[], double outer[])
{
  PetscFunctionBegin;
  PetscCall(CAMGLaunch(n, DivideKernel, n, s, outer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ symmetry */

  #define FORM_BLOCKS 1024

/* Sums of blocks */
template <int lanes>
static __global__ void FormsKernel(const __grid_constant__ CAMGMatrix A, const PetscReal *__restrict__ root, PetscInt first, const PetscInt *__restrict__ id,
                                   double *sums)
{
  const int lane            = static_cast<int>(threadIdx.x) % lanes;
  double    sum[CAMG_FORMS] = {0, 0, 0, 0, 0};

  CAMG_FOR_ALL(t, static_cast<PetscInt64>(A.m) * lanes)
  {
    const PetscInt r = static_cast<PetscInt>(t / lanes);

    for (PetscInt k = A.i[r] + lane; k < A.i[r + 1]; k += lanes) {
      const PetscInt    c = A.j[k], p = first + r, q = c < A.m ? first + c : id[c - A.m];
      const PetscReal   left = root[r] > 0 ? 1 / root[r] : 0, right = root[c] > 0 ? 1 / root[c] : 0;
      const PetscScalar v = A.a[k] * left * right;
      const PetscReal   f = CAMGPair(p, 0) * CAMGPair(q, 1), b = CAMGPair(p, 1) * CAMGPair(q, 0);

      sum[0] += CAMGReal(v) * f;
      sum[1] += CAMGImaginary(v) * f;
      sum[2] += CAMGReal(v) * b;
      sum[3] += CAMGImaginary(v) * b;
      sum[4] += CAMGSquare(v);
    }
  }
  for (int k = 0; k < CAMG_FORMS; k++) {
    const double total = BlockSum<CAMG_THREADS>(sum[k]);

    if (threadIdx.x == 0) sums[blockIdx.x * CAMG_FORMS + k] = total;
    __syncthreads();
  }
}

PetscErrorCode LitheCUDACAMGForms(const CAMGMatrix *A, const PetscReal root[], PetscInt first, const PetscInt id[], double sum[CAMG_FORMS])
{
  cudaStream_t stream;
  double      *there, *sums;
  unsigned int used = 0;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, FORM_BLOCKS * CAMG_FORMS, &there));
  CAMG_ROWS(A, (used = PetscMin(blocks, static_cast<unsigned int>(FORM_BLOCKS)),
                FormsKernel<lanes><<<used, CAMG_THREADS, 0, stream>>>(*A, root, first, id, there)));
  PetscCall(PetscMalloc1(used * CAMG_FORMS, &sums));
  PetscCall(CAMGGet(stream, used * CAMG_FORMS, there, sums));
  for (int k = 0; k < CAMG_FORMS; k++) {
    sum[k] = 0;
    for (unsigned int b = 0; b < used; b++) sum[k] += sums[b * CAMG_FORMS + k];
  }
  PetscCall(PetscFree(sums));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
