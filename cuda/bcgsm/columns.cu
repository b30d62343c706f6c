/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The vector operations of KSPBCGSM for all columns in one kernel. The grid has a row of blocks per column; the scalars
   of all columns are kernel arguments. The order of a sum depends on the number of rows only, so the other columns do
   not change a result. The sums of all columns are copied to the host at once.
*/

#include <lithe/private/cuda/bcgsm.h>
#include "../common/petsccuda.cuh"
#include "../common/blocksum.cuh"
#include "../common/scratch.cuh"

#define BCGSM_THREADS 256
#define BCGSM_TASKS   16  /* columns per launch */
#define BCGSM_BLOCKS  264 /* per column, at most */
#define BCGSM_EACH    4   /* rows per thread, at least, if there are enough rows */
#define BCGSM_PARTS   (PetscDefined(USE_COMPLEX) ? 2 : 1)
#define BCGSM_SUMS    (2 * BCGSM_PARTS) /* real numbers of two sums */

/* A PetscScalar for arithmetic in device code */
struct alignas(sizeof(PetscScalar)) Value {
  PetscReal p[BCGSM_PARTS];
};

struct Task {
  PetscInt64 column, number;
  Value      alpha, beta, omega;
};

struct Tasks {
  Task t[BCGSM_TASKS];
};

struct Array {
  Value     *a;
  PetscInt64 ld;
};

/* s + a x */
static __device__ __forceinline__ Value PlusTimes(const Value &s, const Value &a, const Value &x)
{
  Value v = s;

  v.p[0] += a.p[0] * x.p[0];
  if constexpr (BCGSM_PARTS == 2) {
    constexpr int im = BCGSM_PARTS - 1;

    v.p[0] -= a.p[im] * x.p[im];
    v.p[im] += a.p[0] * x.p[im] + a.p[im] * x.p[0];
  }
  return v;
}

static __device__ __forceinline__ Value Negative(const Value &a)
{
  Value v;

#pragma unroll
  for (int p = 0; p < BCGSM_PARTS; p++) v.p[p] = -a.p[p];
  return v;
}

/* sum += conj(y) x */
static __device__ __forceinline__ void AddInner(double sum[], const Value &x, const Value &y)
{
  sum[0] += static_cast<double>(x.p[0]) * static_cast<double>(y.p[0]);
  if constexpr (BCGSM_PARTS == 2) {
    constexpr int im = BCGSM_PARTS - 1;

    sum[0] += static_cast<double>(x.p[im]) * static_cast<double>(y.p[im]);
    sum[im] += static_cast<double>(x.p[im]) * static_cast<double>(y.p[0]) - static_cast<double>(x.p[0]) * static_cast<double>(y.p[im]);
  }
}

/* Rows of a thread: the first row, and the distance to the next row */
static __device__ __forceinline__ PetscInt64 FirstRow()
{
  return static_cast<PetscInt64>(blockIdx.x) * BCGSM_THREADS + threadIdx.x;
}

static __device__ __forceinline__ PetscInt64 NextRow()
{
  return static_cast<PetscInt64>(gridDim.x) * BCGSM_THREADS;
}

/* Writes the block's sums of a column; FinishKernel() adds the sums of all blocks in a fixed order */
static __device__ __forceinline__ void PutPartial(int n, const double sum[], double *partial)
{
  for (int q = 0; q < n; q++) {
    const double s = BlockSum<BCGSM_THREADS>(sum[q]);

    if (threadIdx.x == 0) partial[(static_cast<size_t>(blockIdx.y) * BCGSM_SUMS + static_cast<size_t>(q)) * BCGSM_BLOCKS + blockIdx.x] = s;
    __syncthreads();
  }
}

static __global__ void __launch_bounds__(BCGSM_THREADS) FinishKernel(int blocks, const double *__restrict__ partial, double *__restrict__ sums)
{
  double s = 0;

  for (int b = static_cast<int>(threadIdx.x); b < blocks; b += BCGSM_THREADS)
    s += partial[static_cast<size_t>(blockIdx.x) * BCGSM_BLOCKS + static_cast<size_t>(b)];
  s = BlockSum<BCGSM_THREADS>(s);
  if (threadIdx.x == 0) sums[blockIdx.x] = s;
}

static __global__ void __launch_bounds__(BCGSM_THREADS) DirectionKernel(PetscInt64 m, const __grid_constant__ Tasks tasks, Array r, Array v, Array p)
{
  const Task  &t  = tasks.t[blockIdx.y];
  const Value *rj = r.a + t.column * r.ld, *vj = v.a + t.column * v.ld, none = {};
  Value       *pj = p.a + t.column * p.ld;
  const Value  c = Negative(PlusTimes(none, t.omega, t.beta)), beta = t.beta;

#pragma unroll 4
  for (PetscInt64 i = FirstRow(); i < m; i += NextRow()) pj[i] = PlusTimes(PlusTimes(rj[i], c, vj[i]), beta, pj[i]);
}

static __global__ void __launch_bounds__(BCGSM_THREADS) HalfKernel(PetscInt64 m, const __grid_constant__ Tasks tasks, Array v, Array r)
{
  const Task  &t  = tasks.t[blockIdx.y];
  const Value *vj = v.a + t.column * v.ld;
  Value       *rj = r.a + t.column * r.ld;
  const Value  c  = Negative(t.alpha);

#pragma unroll 4
  for (PetscInt64 i = FirstRow(); i < m; i += NextRow()) rj[i] = PlusTimes(rj[i], c, vj[i]);
}

template <int nsums>
static __global__ void __launch_bounds__(BCGSM_THREADS)
  DotsKernel(PetscInt64 m, const __grid_constant__ Tasks tasks, Array x, Array y, double *__restrict__ partial)
{
  const Task  &t  = tasks.t[blockIdx.y];
  const Value *xj = x.a + t.column * x.ld, *yj = y.a + t.column * y.ld;
  double       sum[BCGSM_SUMS] = {};

#pragma unroll 4
  for (PetscInt64 i = FirstRow(); i < m; i += NextRow()) {
    const Value a = xj[i], b = yj[i];

    AddInner(sum, a, b);
    if constexpr (nsums == 2) AddInner(sum + BCGSM_PARTS, b, b);
  }
  PutPartial(nsums * BCGSM_PARTS, sum, partial);
}

/* s: NULL if s is stored in r */
static __global__ void __launch_bounds__(BCGSM_THREADS)
  UpdateKernel(PetscInt64 m, const __grid_constant__ Tasks tasks, Array p, Array s, Array t, Array shadow, Array x, Array r, double *__restrict__ partial)
{
  const Task  &c  = tasks.t[blockIdx.y];
  const Value *pj = p.a + c.column * p.ld, *sj = s.a ? s.a + c.column * s.ld : nullptr, *tj = t.a + c.column * t.ld, *shadowj = shadow.a + c.column * shadow.ld;
  Value       *xj = x.a + c.number * x.ld, *rj = r.a + c.column * r.ld;
  const Value  alpha = c.alpha, omega = c.omega, back = Negative(c.omega);
  double       sum[BCGSM_SUMS] = {};

#pragma unroll 2
  for (PetscInt64 i = FirstRow(); i < m; i += NextRow()) {
    const Value old = rj[i], half = sj ? sj[i] : old, next = PlusTimes(old, back, tj[i]), to = PlusTimes(PlusTimes(xj[i], alpha, pj[i]), omega, half);

    AddInner(sum, next, shadowj[i]);
    AddInner(sum + BCGSM_PARTS, next, next);
    xj[i] = to;
    rj[i] = next;
  }
  PutPartial(BCGSM_SUMS, sum, partial);
}

/* ------------------------------------------------------------ launches */

static Value ValueOf(PetscScalar a)
{
  Value v;

  v.p[0] = PetscRealPart(a);
  if (BCGSM_PARTS == 2) v.p[BCGSM_PARTS - 1] = PetscImaginaryPart(a);
  return v;
}

static Array ArrayOf(BCGSMArray b)
{
  return {reinterpret_cast<Value *>(b.a), b.ld};
}

static dim3 BlocksFor(PetscInt m, PetscInt n)
{
  const PetscInt64 each = BCGSM_THREADS * BCGSM_EACH, blocks = (static_cast<PetscInt64>(m) + each - 1) / each;

  return dim3(static_cast<unsigned int>(PetscMin(blocks, BCGSM_BLOCKS)), static_cast<unsigned int>(n));
}

/* Calls launch(number of tasks, first task, blocks, arguments) until all tasks are done */
template <class Launch>
static PetscErrorCode ForTasks(PetscInt m, PetscInt n, const BCGSMTask task[], Launch launch)
{
  PetscFunctionBegin;
  for (PetscInt first = 0; first < n && m; first += BCGSM_TASKS) {
    const PetscInt now = PetscMin(n - first, BCGSM_TASKS);
    Tasks          tasks;

    for (PetscInt k = 0; k < now; k++) {
      const BCGSMTask &from = task[first + k];

      tasks.t[k] = {from.column, from.number, ValueOf(from.alpha), ValueOf(from.beta), ValueOf(from.omega)};
    }
    PetscCall(launch(now, first, BlocksFor(m, now), tasks));
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls launch(blocks, stream, arguments, partial sums) for all tasks, and copies the sums of all tasks to the host */
template <class Launch>
static PetscErrorCode SumForTasks(PetscInt m, PetscInt n, const BCGSMTask task[], PetscInt nsums, PetscScalar sums[], Launch launch)
{
  const size_t each = BCGSM_SUMS, result = static_cast<size_t>(n) * each;
  LitheScratch scratch;
  cudaStream_t stream;
  double      *found, *partial;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    for (PetscInt i = 0; i < nsums; i++) sums[nsums * task[k].column + i] = 0;
  }
  if (!m || !n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheScratchGet(stream, (result + BCGSM_TASKS * each * BCGSM_BLOCKS) * sizeof(double), &scratch));
  found   = static_cast<double *>(scratch.device);
  partial = found + result;
  PetscCall(ForTasks(m, n, task, [&](PetscInt now, PetscInt first, dim3 blocks, const Tasks &tasks) {
    PetscFunctionBegin;
    launch(blocks, stream, tasks, partial);
    FinishKernel<<<static_cast<unsigned int>(now * BCGSM_SUMS), BCGSM_THREADS, 0, stream>>>(static_cast<int>(blocks.x), partial,
                                                                                            found + static_cast<size_t>(first) * each);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallCUDA(cudaMemcpyAsync(scratch.host, found, result * sizeof(double), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  for (PetscInt k = 0; k < n; k++) {
    const double *of = static_cast<const double *>(scratch.host) + static_cast<size_t>(k) * each;

    for (PetscInt i = 0; i < nsums; i++) {
      PetscScalar *sum = &sums[nsums * task[k].column + i];

#if defined(PETSC_USE_COMPLEX)
      *sum = PetscCMPLX(static_cast<PetscReal>(of[2 * i]), static_cast<PetscReal>(of[2 * i + 1]));
#else
      *sum = static_cast<PetscReal>(of[i]);
#endif
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABCGSMCopy(PetscInt m, const PetscScalar from[], PetscScalar to[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(to, from, static_cast<size_t>(m) * sizeof(PetscScalar), cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABCGSMDirection(PetscInt m, PetscInt n, const BCGSMTask task[], BCGSMArray r, BCGSMArray v, BCGSMArray p)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(ForTasks(m, n, task, [&](PetscInt, PetscInt, dim3 blocks, const Tasks &tasks) {
    DirectionKernel<<<blocks, BCGSM_THREADS, 0, stream>>>(m, tasks, ArrayOf(r), ArrayOf(v), ArrayOf(p));
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABCGSMHalf(PetscInt m, PetscInt n, const BCGSMTask task[], BCGSMArray v, BCGSMArray r)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(ForTasks(m, n, task, [&](PetscInt, PetscInt, dim3 blocks, const Tasks &tasks) {
    HalfKernel<<<blocks, BCGSM_THREADS, 0, stream>>>(m, tasks, ArrayOf(v), ArrayOf(r));
    return PETSC_SUCCESS;
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABCGSMDots(PetscInt m, PetscInt n, const BCGSMTask task[], PetscInt nsums, BCGSMArray x, BCGSMArray y, PetscScalar sums[])
{
  PetscFunctionBegin;
  PetscCall(SumForTasks(m, n, task, nsums, sums, [&](dim3 blocks, cudaStream_t stream, const Tasks &tasks, double *partial) {
    if (nsums == 1) DotsKernel<1><<<blocks, BCGSM_THREADS, 0, stream>>>(m, tasks, ArrayOf(x), ArrayOf(y), partial);
    else DotsKernel<2><<<blocks, BCGSM_THREADS, 0, stream>>>(m, tasks, ArrayOf(x), ArrayOf(y), partial);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABCGSMUpdate(PetscInt m, PetscInt n, const BCGSMTask task[], BCGSMArray p, BCGSMArray s, BCGSMArray t, BCGSMArray shadow, BCGSMArray x,
                                    BCGSMArray r, PetscScalar sums[])
{
  const Array half = s.a == r.a ? Array{} : ArrayOf(s);

  PetscFunctionBegin;
  PetscCall(SumForTasks(m, n, task, 2, sums, [&](dim3 blocks, cudaStream_t stream, const Tasks &tasks, double *partial) {
    UpdateKernel<<<blocks, BCGSM_THREADS, 0, stream>>>(m, tasks, ArrayOf(p), half, ArrayOf(t), ArrayOf(shadow), ArrayOf(x), ArrayOf(r), partial);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
