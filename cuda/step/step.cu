/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A step of a power series after a plain product: one sweep over the vectors, and sums at both ends of a vector
*/

#include "../common/blocksum.cuh"
#include "../common/petsccuda.cuh"
#include "step.cuh"

#define STEP_THREADS 256

static unsigned int StepBlocks(PetscInt n)
{
  return static_cast<unsigned int>((static_cast<PetscInt64>(n) + STEP_THREADS - 1) / STEP_THREADS);
}

static __device__ __forceinline__ bool IsNonzero(Number a)
{
#if defined(PETSC_USE_COMPLEX)
  return a.re != 0 || a.im != 0;
#else
  return a != 0;
#endif
}

template <bool done>
static __global__ void __launch_bounds__(STEP_THREADS) StepFinishKernel(const __grid_constant__ LitheStep step, VCRSUnsigned n, const Number *x, Number *y)
{
  const VCRSUnsigned row = static_cast<VCRSUnsigned>(blockIdx.x) * STEP_THREADS + threadIdx.x;

  if (row < n) {
    const Number xi = ReadOnce(x + row);
    Number       yi = y[row];

    if (!done) {
      yi     = AddSigned(xi, step.scale, yi);
      y[row] = yi;
    }
    StepAddToSums(step, row, xi, yi);
  }
}

/* limit[0]: n minus the first nonzero row; limit[1]: the last nonzero row plus 1; both are 0 for a zero vector */
static __global__ void __launch_bounds__(STEP_THREADS) StepRowsKernel(VCRSUnsigned n, const Number *x, unsigned long long *limit)
{
  const VCRSUnsigned row  = static_cast<VCRSUnsigned>(blockIdx.x) * STEP_THREADS + threadIdx.x;
  const unsigned int some = __ballot_sync(0xffffffffu, row < n && IsNonzero(x[row]));

  if (some && threadIdx.x % 32 == 0) {
    const unsigned long long before = n - row - static_cast<unsigned int>(__ffs(static_cast<int>(some)) - 1),
                             after  = row + 32 - static_cast<unsigned int>(__clz(static_cast<int>(some)));

    /* most warps find a larger value and skip the atomic operation */
    if (before > __ldcg(limit)) atomicMax(limit, before);
    if (after > __ldcg(limit + 1)) atomicMax(limit + 1, after);
  }
}

PetscErrorCode LitheCUDAStepGetRows(PetscInt n, const PetscScalar dx[], LitheStepRows *rows)
{
  unsigned long long *dlimit, limit[2] = {0, 0};
  cudaStream_t        stream;

  PetscFunctionBegin;
  *rows = LitheStepRows{0, 0};
  if (n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(&dlimit, sizeof(limit)));
  PetscCallCUDA(cudaMemsetAsync(dlimit, 0, sizeof(limit), stream));
  StepRowsKernel<<<StepBlocks(n), STEP_THREADS, 0, stream>>>(static_cast<VCRSUnsigned>(n), reinterpret_cast<const Number *>(dx), dlimit);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(limit, dlimit, sizeof(limit), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(dlimit));
  if (limit[1]) *rows = LitheStepRows{static_cast<PetscInt>(static_cast<unsigned long long>(n) - limit[0]), static_cast<PetscInt>(limit[1])};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __device__ __forceinline__ double Size(Number a)
{
#if defined(PETSC_USE_COMPLEX)
  return fabs(static_cast<double>(a.re)) + fabs(static_cast<double>(a.im));
#else
  return fabs(static_cast<double>(a));
#endif
}

static __device__ __forceinline__ PetscReal Modulus(Number a)
{
#if defined(PETSC_USE_COMPLEX)
  return hypot(a.re, a.im);
#else
  return fabs(a);
#endif
}

/* found[0]: the largest |sum|, as the bits of a nonnegative double; bits and doubles have the same order. The flag
   found[1] is 1 if a sum is NaN, or above tolerance times its diagonal entry */
static __global__ void __launch_bounds__(STEP_THREADS)
  StepSumsKernel(PetscInt64 n, const Number *sum, const Number *diagonal, PetscReal tolerance, unsigned long long *found)
{
  double largest = 0;
  int    bad     = 0;

  for (PetscInt64 i = static_cast<PetscInt64>(blockIdx.x) * STEP_THREADS + threadIdx.x; i < n; i += static_cast<PetscInt64>(gridDim.x) * STEP_THREADS) {
    const PetscReal size = Modulus(sum[i]);

    if (!(size <= tolerance * Modulus(diagonal[i]))) bad = 1;
    largest = fmax(largest, static_cast<double>(size)); /* fmax() ignores a NaN */
  }
  for (int half = 16; half; half /= 2) largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, half));
  bad = __any_sync(0xffffffffu, bad);
  if (threadIdx.x % 32 == 0) {
    if (largest > 0) atomicMax(found, static_cast<unsigned long long>(__double_as_longlong(largest)));
    if (bad) found[1] = 1;
  }
}

PetscErrorCode LitheCUDAStepCheckSums(PetscInt n, const PetscScalar dsum[], const PetscScalar ddiagonal[], PetscReal tolerance, PetscReal *largest,
                                      PetscBool *good)
{
  unsigned long long *dfound, found[2] = {0, 0};
  double              size;
  cudaStream_t        stream;

  PetscFunctionBegin;
  *largest = 0;
  *good    = PETSC_TRUE;
  if (n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(&dfound, sizeof(found)));
  PetscCallCUDA(cudaMemsetAsync(dfound, 0, sizeof(found), stream));
  StepSumsKernel<<<PetscMin(StepBlocks(n), 4096u), STEP_THREADS, 0, stream>>>(n, reinterpret_cast<const Number *>(dsum),
                                                                              reinterpret_cast<const Number *>(ddiagonal), tolerance, dfound);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(found, dfound, sizeof(found), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(dfound));
  memcpy(&size, &found[0], sizeof(size));
  *largest = static_cast<PetscReal>(size);
  *good    = found[1] ? PETSC_FALSE : PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each block sums the magnitudes of a piece. Rows are counted from the first row of the process. The range with the
   pieces at both ends has rows first ... last - 1 */
static __global__ void __launch_bounds__(STEP_THREADS)
  StepEndsKernel(PetscInt64 first, PetscInt64 last, PetscInt64 piece, unsigned int pieces, PetscInt64 n, const Number *x, double *sum)
{
  const PetscInt64 begin = LitheStepPieceBegin(first, last, piece, pieces, blockIdx.x), end = begin + piece;
  const PetscInt64 from = begin > 0 ? begin : 0, to = end < n ? end : n;
  double           own = 0;

#pragma unroll 8
  for (PetscInt64 i = from + threadIdx.x; i < to; i += STEP_THREADS) own += Size(x[i]);
  own = BlockSum<STEP_THREADS>(own);
  if (threadIdx.x == 0) sum[blockIdx.x] = own;
}

/* Memory for the results of a kernel */
static PetscErrorCode StepEndsPrepare(LitheStepEnds *ends)
{
  PetscFunctionBegin;
  if (!ends->page) PetscCallCUDA(cudaMallocHost(reinterpret_cast<void **>(&ends->page), (2 * LITHE_STEP_PIECES + LITHE_STEP_ZEROED) * sizeof(*ends->page)));
  if (!ends->written) PetscCallCUDA(cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t *>(&ends->written), cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAStepEndsBegin(PetscInt begin, PetscInt n, const PetscScalar dx[], LitheStepEnds *ends)
{
  const unsigned int pieces = static_cast<unsigned int>(ends->pieces);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!pieces) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(StepEndsPrepare(ends));
  StepEndsKernel<<<2 * pieces, STEP_THREADS, 0, stream>>>(static_cast<PetscInt64>(ends->rows.begin) - begin, static_cast<PetscInt64>(ends->rows.end) - begin,
                                                          ends->piece, pieces, n, reinterpret_cast<const Number *>(dx), ends->page);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaEventRecord(static_cast<cudaEvent_t>(ends->written), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAStepEndsEnd(LitheStepEnds *ends)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(ends->written)));
  if (ends->ondevice) PetscCall(PetscArraycpy(ends->sum, ends->page, 2 * ends->pieces));
  for (PetscInt k = 0; k < ends->nzeroed; k++) ends->zeroed += ends->page[2 * LITHE_STEP_PIECES + k];
  ends->nzeroed = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAStepEndsReset(LitheStepEnds *ends)
{
  PetscFunctionBegin;
  if (ends->written) {
    PetscCallCUDA(cudaEventSynchronize(static_cast<cudaEvent_t>(ends->written)));
    PetscCallCUDA(cudaEventDestroy(static_cast<cudaEvent_t>(ends->written)));
  }
  PetscCallCUDA(cudaFreeHost(ends->page));
  ends->written = NULL;
  ends->page    = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the rows of two ranges to zero, and sums the magnitudes, |re| + |im|, of the former entries of x */
static __global__ void __launch_bounds__(STEP_THREADS)
  StepZeroKernel(PetscInt64 begin0, PetscInt64 n0, PetscInt64 begin1, PetscInt64 n1, Number *x, Number *y, double *sum)
{
  double own = 0;

#pragma unroll 4
  for (PetscInt64 i = static_cast<PetscInt64>(blockIdx.x) * STEP_THREADS + threadIdx.x; i < n0 + n1; i += static_cast<PetscInt64>(gridDim.x) * STEP_THREADS) {
    const PetscInt64 row = i < n0 ? begin0 + i : begin1 + (i - n0);

    own += Size(x[row]);
    x[row] = Number{};
    y[row] = Number{};
  }
  own = BlockSum<STEP_THREADS>(own);
  if (threadIdx.x == 0) sum[blockIdx.x] = own;
}

PetscErrorCode LitheCUDAStepZeroRows(const LitheStepRows rows[2], PetscScalar dx[], PetscScalar dy[], LitheStepEnds *ends)
{
  const PetscInt n[2] = {rows[0].end - rows[0].begin, rows[1].end - rows[1].begin};
  cudaStream_t   stream;

  PetscFunctionBegin;
  ends->nzeroed = 0;
  if (n[0] + n[1] <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(StepEndsPrepare(ends));
  ends->nzeroed = PetscMin(static_cast<PetscInt>(StepBlocks(n[0] + n[1])), LITHE_STEP_ZEROED);
  StepZeroKernel<<<static_cast<unsigned int>(ends->nzeroed), STEP_THREADS, 0, stream>>>(rows[0].begin, n[0], rows[1].begin, n[1],
                                                                                        reinterpret_cast<Number *>(dx), reinterpret_cast<Number *>(dy),
                                                                                        ends->page + 2 * LITHE_STEP_PIECES);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaEventRecord(static_cast<cudaEvent_t>(ends->written), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar dx[], PetscScalar dy[])
{
  const unsigned int blocks = StepBlocks(n);
  const Number      *x      = reinterpret_cast<const Number *>(dx);
  Number            *y      = reinterpret_cast<Number *>(dy);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (n <= 0 || (done && step->nsums <= 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (done) StepFinishKernel<true><<<blocks, STEP_THREADS, 0, stream>>>(*step, static_cast<VCRSUnsigned>(n), x, y);
  else StepFinishKernel<false><<<blocks, STEP_THREADS, 0, stream>>>(*step, static_cast<VCRSUnsigned>(n), x, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
