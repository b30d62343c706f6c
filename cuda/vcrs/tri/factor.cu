/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Incomplete LU factorization without fill-in of a CSR matrix on a device. exact.cu solves systems with the factors.

   Rows are computed level by level, as in tri.cu: rows of a level do not depend on each other. A kernel computes the
   levels: each row waits for the levels of the needed rows. A radix sort then gives the order. A warp takes 32 rows of
   a level, a row per thread. Rows of more than FACTOR_WIDE entries are computed by all threads of their warp, one row
   after the other. A counter assigns work in order, so every waiting thread waits for work that is already assigned.

   The operations of a row are in the order of its columns: the factors are the same bits each time.

   Incomplete Cholesky factors are the factors of a symmetric matrix, whose lower triangle is the transpose of the upper
   triangle. Afterwards the transpose of the upper factor replaces the lower factor, which differs by rounding
   (mirror.cu).

   W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, A synchronization-free algorithm for parallel sparse triangular solves,
   Euro-Par 2016; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003, algorithm 10.4.
*/

#include "factor.cuh"
#include <cub/device/device_radix_sort.cuh>
#include "../../common/scan.cuh"

#define FACTOR_WIDE 48

/* Reports of kernels to the host */
typedef struct {
  int      nodiagonal; /* 1: a row has no diagonal entry, or unsorted columns */
  int      deep;       /* 1: more levels than FACTOR_LEVELS_MAX */
  int      longest;    /* entries of the longest row */
  int      nlevels;
  PetscInt zeropivot; /* first row with a pivot that is too small or NaN; n: none */
} FactorReport;

static __device__ __forceinline__ int FactorLoad(const int *p)
{
  int v;

  asm volatile(TRI_ASM_LOAD ".s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

static __device__ __forceinline__ void FactorStore(int *p, int v)
{
  asm volatile(TRI_ASM_STORE ".s32 [%0], %1;" : : "l"(p), "r"(v) : "memory");
}

/* ------------------------------------------------------------ pattern */

/* Counts entries of each row before and after the diagonal */
static __global__ void FactorCountKernel(PetscInt n, const PetscInt *__restrict__ i, const PetscInt *__restrict__ j, PetscInt *lower, PetscInt *upper,
                                         FactorReport *report)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row > n) return;
  if (row == n) {
    lower[n] = upper[n] = 0;
    return;
  }
  const PetscInt begin = i[row], end = i[row + 1];
  PetscInt       diagonal = end, before = -1;
  bool           sorted = true;

  for (PetscInt k = begin; k < end; k++) {
    sorted = sorted && j[k] > before;
    before = j[k];
    if (before == row) diagonal = k;
  }
  if (diagonal == end || !sorted) report->nodiagonal = 1;
  lower[row] = diagonal == end ? 0 : diagonal - begin;
  upper[row] = diagonal == end ? 0 : end - diagonal - 1;
  if (end - begin > 32) atomicMax(&report->longest, static_cast<int>(end - begin));
}

static __global__ void FactorColumnsKernel(PetscInt n, const PetscInt *__restrict__ i, const PetscInt *__restrict__ j, LitheDeviceTriangle lower,
                                           LitheDeviceTriangle upper)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row >= n) return;
  const PetscInt  nlower = lower.i[row + 1] - lower.i[row], nupper = upper.i[row + 1] - upper.i[row];
  const PetscInt *from = j + i[row];

  for (PetscInt k = 0; k < nlower; k++) lower.j[lower.i[row] + k] = from[k];
  for (PetscInt k = 0; k < nupper; k++) upper.j[upper.i[row] + k] = from[nlower + 1 + k];
}

/* ------------------------------------------------------------ order */

/*
   The level of a row is the largest level of the needed rows, plus 1. Rows of a warp may need each other, so a thread
   never waits alone: all threads try again until all rows are done.
*/
static __global__ void __launch_bounds__(FACTOR_THREADS)
  FactorLevelsKernel(PetscInt n, bool upper, const PetscInt *__restrict__ i, const PetscInt *__restrict__ j, int *level, unsigned int *ticket,
                     FactorReport *report)
{
  const int lane = threadIdx.x % 32;

  for (;;) {
    unsigned int task = 0;

    if (lane == 0) task = atomicAdd(ticket, 1u);
    task = __shfl_sync(0xffffffffu, task, 0);

    const PetscInt64 position = 32 * static_cast<PetscInt64>(task) + lane;
    const PetscInt   row      = static_cast<PetscInt>(upper ? n - 1 - position : position);

    if (32 * static_cast<PetscInt64>(task) >= n) return;

    bool     done = position >= n;
    PetscInt k = done ? 0 : i[row], end = done ? 0 : i[row + 1];
    int      most = -1;

    for (;;) {
      while (!done && k < end) {
        const int needed = FactorLoad(level + j[k]);

        if (needed < 0) break;
        most = max(most, needed);
        k++;
      }
      if (!done && k == end) {
        FactorStore(level + row, most + 1);
        done = true;
      }
      if (__all_sync(0xffffffffu, done)) break;
      if (__any_sync(0xffffffffu, most > FACTOR_LEVELS_MAX || FactorLoad(&report->deep))) {
        report->deep = 1;
        return;
      }
    }
    for (int d = 16; d; d /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
    if (lane == 0) atomicMax(&report->nlevels, most + 2);
  }
}

static __global__ void FactorRowsKernel(PetscInt n, PetscInt *row)
{
  const PetscInt64 k = FACTOR_THREAD;

  if (k < n) row[k] = static_cast<PetscInt>(k);
}

/* first[l]: beginning of level l among the sorted rows; padded[l]: size of the level, rounded up to whole warps */
static __global__ void FactorFirstKernel(PetscInt n, const int *__restrict__ level, PetscInt *first)
{
  const PetscInt64 k = FACTOR_THREAD;

  if (k < n && (k == 0 || level[k] != level[k - 1])) first[level[k]] = static_cast<PetscInt>(k);
}

static __global__ void FactorPadKernel(PetscInt n, int nlevels, const PetscInt *__restrict__ first, PetscInt *padded)
{
  const PetscInt64 l = FACTOR_THREAD;

  if (l < nlevels) padded[l] = ((l + 1 < nlevels ? first[l + 1] : n) - first[l] + 31) / 32 * 32;
  else if (l == nlevels) padded[l] = 0;
}

static __global__ void FactorListKernel(PetscInt n, const int *__restrict__ level, const PetscInt *__restrict__ row, const PetscInt *__restrict__ first,
                                        const PetscInt *__restrict__ padded, PetscInt *list)
{
  const PetscInt64 k = FACTOR_THREAD;

  if (k < n) list[padded[level[k]] + (k - first[level[k]])] = row[k];
}

static PetscErrorCode FactorScan(PetscInt *counts, PetscInt n, cudaStream_t stream)
{
  size_t bytes = 0;
  void  *work;

  PetscFunctionBegin;
  PetscCallCUDA(LitheScan(NULL, &bytes, counts, n, stream));
  PetscCallCUDA(cudaMalloc(&work, PetscMax(bytes, static_cast<size_t>(1))));
  PetscCallCUDA(LitheScan(work, &bytes, counts, n, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts rows by levels with a stable sort, and writes the list */
static PetscErrorCode FactorSort(LitheDeviceTriangle *t, int *level, cudaStream_t stream)
{
  const PetscInt n     = t->n;
  size_t         bytes = 0;
  int           *sorted, bits = 1;
  PetscInt      *row[2], *first, *padded;
  void          *work;

  PetscFunctionBegin;
  while (bits < 31 && t->nlevels >> bits) bits++;
  PetscCall(FactorAllocate(n, &sorted));
  for (int k = 0; k < 2; k++) PetscCall(FactorAllocate(n, &row[k]));
  PetscCall(FactorAllocate(t->nlevels + 1, &first));
  PetscCall(FactorAllocate(t->nlevels + 1, &padded));
  FactorRowsKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, row[0]);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cub::DeviceRadixSort::SortPairs(NULL, bytes, level, sorted, row[0], row[1], n, 0, bits, stream));
  PetscCallCUDA(cudaMalloc(&work, PetscMax(bytes, static_cast<size_t>(1))));
  PetscCallCUDA(cub::DeviceRadixSort::SortPairs(work, bytes, level, sorted, row[0], row[1], n, 0, bits, stream));
  FactorFirstKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, sorted, first);
  FactorPadKernel<<<FactorBlocks(t->nlevels + 1), 256, 0, stream>>>(n, t->nlevels, first, padded);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(FactorScan(padded, t->nlevels + 1, stream));
  PetscCallCUDA(cudaMemcpy(&t->nlist, padded + t->nlevels, sizeof(t->nlist), cudaMemcpyDeviceToHost));
  PetscCall(FactorAllocate(t->nlist, &t->list));
  PetscCallCUDA(cudaMemsetAsync(t->list, 0xff, t->nlist * sizeof(*t->list), stream)); /* -1 */
  FactorListKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, sorted, row[1], first, padded, t->list);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(sorted));
  for (int k = 0; k < 2; k++) PetscCallCUDA(cudaFree(row[k]));
  PetscCallCUDA(cudaFree(first));
  PetscCallCUDA(cudaFree(padded));
  PetscCallCUDA(cudaFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the levels of a triangle; possible is PETSC_FALSE if the triangle has too many levels */
static PetscErrorCode FactorLevels(LitheDeviceFactor *f, LitheDeviceTriangle *t, int *level, FactorReport *dreport, cudaStream_t stream, PetscBool *possible)
{
  FactorReport report;
  unsigned int blocks;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(level, 0xff, t->n * sizeof(*level), stream));
  PetscCallCUDA(cudaMemsetAsync(f->ticket, 0, sizeof(*f->ticket), stream));
  PetscCallCUDA(cudaMemsetAsync(dreport, 0, sizeof(*dreport), stream));
  PetscCall(FactorResident(FactorLevelsKernel, (static_cast<PetscInt64>(t->n) + 31) / 32, &blocks));
  FactorLevelsKernel<<<blocks, FACTOR_THREADS, 0, stream>>>(t->n, t->upper ? true : false, t->i, t->j, level, f->ticket, dreport);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(&report, dreport, sizeof(report), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *possible  = (PetscBool)!report.deep;
  t->nlevels = report.nlevels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the reversed levels of the lower triangle are levels of the upper triangle, as with symmetric patterns */
static __global__ void FactorBackwardsKernel(const __grid_constant__ LitheDeviceTriangle upper, const int *__restrict__ level, FactorReport *report)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row >= upper.n) return;
  for (PetscInt k = upper.i[row]; k < upper.i[row + 1]; k++) {
    if (level[upper.j[k]] <= level[row]) report->deep = 1;
  }
}

static __global__ void FactorReverseKernel(PetscInt n, int nlevels, int *level)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row < n) level[row] = nlevels - 1 - level[row];
}

/* Computes the orders of both triangles */
static PetscErrorCode FactorOrder(LitheDeviceFactor *f, FactorReport *dreport, cudaStream_t stream, PetscBool *possible)
{
  const PetscInt n = f->lower.n;
  FactorReport   report;
  int           *level;

  PetscFunctionBegin;
  PetscCall(FactorAllocate(n, &level));
  PetscCall(FactorLevels(f, &f->lower, level, dreport, stream, possible));
  if (*possible) {
    PetscCall(FactorSort(&f->lower, level, stream));
    PetscCallCUDA(cudaMemsetAsync(dreport, 0, sizeof(*dreport), stream));
    FactorBackwardsKernel<<<FactorBlocks(n), 256, 0, stream>>>(f->upper, level, dreport);
    PetscCallCUDA(cudaGetLastError());
    PetscCallCUDA(cudaMemcpyAsync(&report, dreport, sizeof(report), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    if (report.deep) PetscCall(FactorLevels(f, &f->upper, level, dreport, stream, possible));
    else {
      f->upper.nlevels = f->lower.nlevels;
      FactorReverseKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, static_cast<int>(f->upper.nlevels), level);
      PetscCallCUDA(cudaGetLastError());
    }
    if (*possible) PetscCall(FactorSort(&f->upper, level, stream));
  }
  PetscCallCUDA(cudaFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAFactorCreate(PetscInt n, const PetscInt *di, const PetscInt *dj, PetscBool symmetric, LitheDeviceFactor **factor, PetscBool *possible)
{
  LitheDeviceFactor *f;
  FactorReport      *dreport, report;
  cudaStream_t       stream;

  PetscFunctionBegin;
  *possible = PETSC_FALSE;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscNew(&f));
  *factor      = f;
  f->symmetric = symmetric;
  f->lower.n = f->upper.n = n;
  f->upper.upper          = PETSC_TRUE;
  PetscCall(FactorAllocate(n, &f->inverse));
  PetscCall(FactorAllocate(1, &f->ticket));
  PetscCall(FactorAllocate(1, &dreport));
  PetscCall(FactorAllocate(static_cast<size_t>(n) + 1, &f->lower.i));
  PetscCall(FactorAllocate(static_cast<size_t>(n) + 1, &f->upper.i));
  PetscCallCUDA(cudaMemsetAsync(dreport, 0, sizeof(*dreport), stream));
  FactorCountKernel<<<FactorBlocks(static_cast<PetscInt64>(n) + 1), 256, 0, stream>>>(n, di, dj, f->lower.i, f->upper.i, dreport);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(&report, dreport, sizeof(report), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *possible = (PetscBool)(!report.nodiagonal && report.longest <= FACTOR_LONGEST);
  for (int k = 0; k < 2 && *possible; k++) {
    LitheDeviceTriangle *t = k ? &f->upper : &f->lower;
    PetscInt             nz;

    PetscCall(FactorScan(t->i, n + 1, stream));
    PetscCallCUDA(cudaMemcpy(&nz, t->i + n, sizeof(nz), cudaMemcpyDeviceToHost));
    t->nz = nz;
    PetscCall(FactorAllocate(nz, &t->j));
    PetscCall(FactorAllocate(nz, &t->a));
  }
  if (*possible) {
    FactorColumnsKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, di, dj, f->lower, f->upper);
    PetscCallCUDA(cudaGetLastError());
    if (symmetric) {
      PetscCall(LitheCUDATriangleMirror(&f->upper, &f->lower, possible));
      if (f->lower.nz != f->upper.nz) *possible = PETSC_FALSE;
    }
  }
  if (*possible) PetscCall(FactorOrder(f, dreport, stream, possible));
  PetscCallCUDA(cudaFree(dreport));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAFactorDestroy(LitheDeviceFactor **factor)
{
  LitheDeviceFactor *f = *factor;

  PetscFunctionBegin;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheCUDATriangleFree(&f->lower));
  PetscCall(LitheCUDATriangleFree(&f->upper));
  PetscCallCUDA(cudaFree(f->inverse));
  PetscCallCUDA(cudaFree(f->ticket));
  PetscCall(PetscFree(*factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ numbers */

/* Copies the entries of A to the triangles; the pivots go to inverse */
static __global__ void FactorTakeKernel(PetscInt n, const PetscInt *__restrict__ i, const Number *__restrict__ a, LitheDeviceTriangle lower,
                                        LitheDeviceTriangle upper, Number *inverse)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row >= n) return;
  const PetscInt nlower = lower.i[row + 1] - lower.i[row], nupper = upper.i[row + 1] - upper.i[row];
  const Number  *from = a + i[row];
  Number        *l = reinterpret_cast<Number *>(lower.a) + lower.i[row], *u = reinterpret_cast<Number *>(upper.a) + upper.i[row];

  for (PetscInt k = 0; k < nlower; k++) l[k] = from[k];
  inverse[row] = from[nlower];
  for (PetscInt k = 0; k < nupper; k++) u[k] = from[nlower + 1 + k];
}

static __device__ __forceinline__ Number FactorReadOther(const Number *p)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{__ldcg(&p->re), __ldcg(&p->im)};
#else
  return __ldcg(p);
#endif
}

static __device__ __forceinline__ Number FactorTimes(Number a, Number b)
{
  return MultiplyAdd(a, b, Number{});
}

static __device__ __forceinline__ Number FactorMinus(Number a)
{
  return Number{} - a;
}

/* 1/a, without intermediate overflow */
static __device__ __forceinline__ Number FactorInvert(Number a)
{
#if defined(PETSC_USE_COMPLEX)
  const PetscReal size = fmax(fabs(a.re), fabs(a.im)), re = a.re / size, im = a.im / size, square = (re * re + im * im) * size;

  return Number{re / square, -im / square};
#else
  return 1 / a;
#endif
}

static __device__ __forceinline__ PetscReal FactorModulus(Number a)
{
#if defined(PETSC_USE_COMPLEX)
  return hypot(a.re, a.im);
#else
  return fabs(a);
#endif
}

struct FactorArguments {
  LitheDeviceTriangle lower, upper;
  Number             *l, *u, *inverse;
  int                *ready; /* [n]: 1 if the row and its pivot are computed */
  unsigned int       *ticket;
  PetscReal           least; /* pivots of at most this modulus count as zero */
  FactorReport       *report;
};

/* Computes a row, by a single thread or by all threads of a warp */
template <int threads>
static __device__ __forceinline__ void FactorRow(const FactorArguments &f, PetscInt row)
{
  const int      lane   = threads == 1 ? 0 : threadIdx.x % 32;
  const PetscInt lbegin = f.lower.i[row], lend = f.lower.i[row + 1], ubegin = f.upper.i[row], uend = f.upper.i[row + 1];

  for (PetscInt k = lbegin; k < lend; k++) {
    const PetscInt pivot = f.lower.j[k], begin = f.upper.i[pivot], end = f.upper.i[pivot + 1];

    while (!FactorLoad(f.ready + pivot)) TriPause();
    __threadfence();

    const Number l = FactorTimes(f.l[k], FactorReadOther(f.inverse + pivot)), minus = FactorMinus(l);

    for (PetscInt m = begin + lane; m < end; m += threads) {
      const PetscInt column = f.upper.j[m];
      Number        *entry  = NULL;
      PetscInt       at;

      if (column < row) {
        at = TriFind(f.lower.j, k + 1, lend, column);
        if (at >= 0) entry = f.l + at;
      } else if (column > row) {
        at = TriFind(f.upper.j, ubegin, uend, column);
        if (at >= 0) entry = f.u + at;
      } else entry = f.inverse + row;
      if (entry) *entry = MultiplyAdd(minus, FactorReadOther(f.u + m), *entry);
    }
    if (threads > 1) __syncwarp();
    if (lane == 0) f.l[k] = l;
    if (threads > 1) __syncwarp();
  }
  if (lane == 0) {
    const Number    pivot = f.inverse[row];
    const PetscReal size  = FactorModulus(pivot);

    if (!(size > f.least) || isinf(size)) atomicMin(&f.report->zeropivot, row);
    f.inverse[row] = FactorInvert(pivot);
    __threadfence();
    FactorStore(f.ready + row, 1);
  }
  if (threads > 1) __syncwarp();
}

static __global__ void __launch_bounds__(FACTOR_THREADS) FactorKernel(const __grid_constant__ FactorArguments f)
{
  const int lane = threadIdx.x % 32;

  for (;;) {
    unsigned int task = 0;

    if (lane == 0) task = atomicAdd(f.ticket, 1u);
    task = __shfl_sync(0xffffffffu, task, 0);
    if (32 * static_cast<PetscInt64>(task) >= f.lower.nlist) return;

    const PetscInt row   = f.lower.list[32 * static_cast<PetscInt64>(task) + lane];
    const bool     there = row >= 0;
    const PetscInt wide  = there ? f.lower.i[row + 1] - f.lower.i[row] + f.upper.i[row + 1] - f.upper.i[row] : 0;
    unsigned int   warps = __ballot_sync(0xffffffffu, wide > FACTOR_WIDE);

    if (there && wide <= FACTOR_WIDE) FactorRow<1>(f, row);
    __syncwarp();
    for (; warps; warps &= warps - 1) FactorRow<32>(f, __shfl_sync(0xffffffffu, row, __ffs(warps) - 1));
  }
}

static __device__ __forceinline__ PetscReal FactorReal(Number a)
{
#if defined(PETSC_USE_COMPLEX)
  return a.re;
#else
  return a;
#endif
}

/*
   Scales both triangles to be dimensionless, with the opposite sign, as systems need them. With positive, pivots p are
   tested for Re p > zeropivot sum |u|, like MatPivotCheck_pd() of PETSc. Here u is in units of p, and the argument of
   1/p is minus the argument of p.
*/
static __global__ void FactorScaleKernel(const __grid_constant__ FactorArguments f, bool positive, PetscReal zeropivot)
{
  const PetscInt64 row = FACTOR_THREAD;

  if (row >= f.lower.n) return;
  const Number inverse = f.inverse[row], scale = FactorMinus(inverse);
  PetscReal    sum = 0;

  for (PetscInt k = f.lower.i[row]; k < f.lower.i[row + 1]; k++) f.l[k] = FactorMinus(f.l[k]);
  for (PetscInt k = f.upper.i[row]; k < f.upper.i[row + 1]; k++) {
    f.u[k] = FactorTimes(f.u[k], scale);
    sum += FactorModulus(f.u[k]);
  }
  /* true for NaN, too */
  if (positive && !(FactorReal(inverse) > zeropivot * sum * FactorModulus(inverse))) atomicMin(&f.report->zeropivot, static_cast<PetscInt>(row));
}

PetscErrorCode LitheCUDAFactorNumeric(LitheDeviceFactor *f, const PetscInt *di, const PetscScalar *da, PetscReal zeropivot, PetscBool positive, PetscInt *row)
{
  const PetscInt  n = f->lower.n;
  FactorArguments arguments;
  FactorReport   *dreport, report = {};
  unsigned int    blocks;
  cudaStream_t    stream;

  PetscFunctionBegin;
  *row = -1;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  report.zeropivot  = n;
  arguments.lower   = f->lower;
  arguments.upper   = f->upper;
  arguments.l       = reinterpret_cast<Number *>(f->lower.a);
  arguments.u       = reinterpret_cast<Number *>(f->upper.a);
  arguments.inverse = reinterpret_cast<Number *>(f->inverse);
  arguments.ticket  = f->ticket;
  arguments.least   = positive ? 0 : zeropivot;
  PetscCall(FactorAllocate(n, &arguments.ready));
  PetscCall(FactorAllocate(1, &dreport));
  arguments.report = dreport;
  PetscCallCUDA(cudaMemcpyAsync(dreport, &report, sizeof(report), cudaMemcpyHostToDevice, stream));
  PetscCallCUDA(cudaMemsetAsync(arguments.ready, 0, n * sizeof(*arguments.ready), stream));
  PetscCallCUDA(cudaMemsetAsync(f->ticket, 0, sizeof(*f->ticket), stream));
  FactorTakeKernel<<<FactorBlocks(n), 256, 0, stream>>>(n, di, reinterpret_cast<const Number *>(da), f->lower, f->upper, arguments.inverse);
  PetscCallCUDA(cudaGetLastError());
  if (f->symmetric) PetscCall(LitheCUDATriangleMirror(&f->upper, &f->lower, NULL));
  PetscCall(FactorResident(FactorKernel, f->lower.nlist / 32, &blocks));
  FactorKernel<<<blocks, FACTOR_THREADS, 0, stream>>>(arguments);
  PetscCallCUDA(cudaGetLastError());
  FactorScaleKernel<<<FactorBlocks(n), 256, 0, stream>>>(arguments, positive ? true : false, zeropivot);
  PetscCallCUDA(cudaGetLastError());
  if (f->symmetric) PetscCall(LitheCUDATriangleMirror(&f->upper, &f->lower, NULL));
  PetscCallCUDA(cudaMemcpyAsync(&report, dreport, sizeof(report), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  if (report.zeropivot < n) *row = report.zeropivot;
  PetscCallCUDA(cudaFree(arguments.ready));
  PetscCallCUDA(cudaFree(dreport));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ rows of a diagonal matrix */

PetscErrorCode LitheCUDACreateRows(PetscInt n, PetscInt **drow)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(FactorAllocate(static_cast<size_t>(n) + 1, drow));
  FactorRowsKernel<<<FactorBlocks(static_cast<PetscInt64>(n) + 1), 256, 0, stream>>>(n + 1, *drow);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDADestroyRows(PetscInt **drow)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(*drow));
  *drow = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
