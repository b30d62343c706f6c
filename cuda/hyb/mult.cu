/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   y = add + scale A x, and sums of a power series, with the block of a MATHYBMGPU; hybplan.h describes the arrays.

   Entries are read once, and evicted first from L1, which holds x. The loads of a batch keep the memory busy: all
   columns, all values, then all entries of x; the sums come last. In SELL, a warp has 32 rows. If the lengths differ,
   the threads count the rows with a j-th entry. Column j of the slice therefore has no gaps, and the length of a row
   takes one byte.

   Nothing is added by atomic operations: a product gives the same bits each time.
*/

#include "../common/pdl.cuh"
#include "../step/step.cuh"
#include <lithe/private/cuda/hyb.h>

#define HYB_THREADS 256
#define HYB_BLOCKS  (sizeof(Number) > 8 ? 3 : 4) /* per multiprocessor, at least: leaves registers for a batch */
#define HYB_BATCH   (sizeof(Number) > 8 ? 4 : 8)
#define HYB_SHORT   6 /* average entries per row, at most, for batches of 4 and more blocks */
#define HYB_MANY    (sizeof(Number) > 8 ? HYB_BLOCKS : 6)
#define HYB_ALL     0xffffffffu

/* Common to all kernels: entries, vectors, and the places of rows */
struct HybArguments {
  VCRSUnsigned        begin, m; /* stored rows begin ... m - 1 */
  const int32_t      *order;
  const unsigned int *col; /* the highest bit marks a place without an entry */
  const Number       *val;
  const Number       *x, *add;
  Number             *y;
};

/* Conditional loads, in assembler as in common/number.cuh. The line is evicted from L1 first */
#define HYB_ASM_STREAM(condition, type) VCRS_ASM_IF(condition) " @q ld.global.L1::evict_first." type " "

static __device__ __forceinline__ unsigned int StreamIf(unsigned int wanted, const unsigned int *p)
{
  unsigned int v = 0;

  asm volatile(HYB_ASM_STREAM("%2", "u32") "%0, [%1];\n}" : "+r"(v) : "l"(p), "r"(wanted));
  return v;
}

static __device__ __forceinline__ Number StreamIf(unsigned int wanted, const Number *p)
{
#if defined(PETSC_USE_COMPLEX)
  Number v = {0, 0};

  asm volatile(HYB_ASM_STREAM("%3", "v2." VCRS_ASM_REAL) "{%0, %1}, [%2];\n}" : "+" VCRS_ASM_REGISTER(v.re), "+" VCRS_ASM_REGISTER(v.im) : "l"(p), "r"(wanted));
#else
  Number v = 0;

  asm volatile(HYB_ASM_STREAM("%2", VCRS_ASM_REAL) "%0, [%1];\n}" : "+" VCRS_ASM_REGISTER(v) : "l"(p), "r"(wanted));
#endif
  return v;
}

/* An entry of x; undefined if not wanted */
static __device__ __forceinline__ Number GatherIf(unsigned int wanted, const Number *p)
{
  Number v;

#if defined(PETSC_USE_COMPLEX)
  asm volatile(VCRS_ASM_IF("%3") " @q ld.global.v2." VCRS_ASM_REAL " {%0, %1}, [%2];\n}"
               : "=" VCRS_ASM_REGISTER(v.re), "=" VCRS_ASM_REGISTER(v.im)
               : "l"(p), "r"(wanted));
#else
  asm volatile(VCRS_ASM_IF("%2") " mov." VCRS_ASM_REAL " %0, " VCRS_ASM_ZERO ";\n @q ld.global." VCRS_ASM_REAL " %0, [%1];\n}"
               : "=" VCRS_ASM_REGISTER(v)
               : "l"(p), "r"(wanted));
#endif
  return v;
}

/* Adds a batch: entry u is at place(u), if bit u of wanted is set. together: all threads of the warp take part, and the
   loads keep their order */
template <int count, bool padded, bool together, class Place>
static __device__ __forceinline__ Number AddBatch(const HybArguments &a, Place place, unsigned int wanted, Number sum)
{
  unsigned int column[count];
  Number       value[count], x[count];

#pragma unroll
  for (int u = 0; u < count; u++) column[u] = StreamIf(wanted & (1u << u), a.col + place(u));
#pragma unroll
  for (int u = 0; u < count; u++) value[u] = StreamIf(wanted & (1u << u), a.val + place(u));
  if (together) __syncwarp();
  if (padded) {
#pragma unroll
    for (int u = 0; u < count; u++) wanted &= ~((column[u] >> 31) << u);
  }
#pragma unroll
  for (int u = 0; u < count; u++) x[u] = GatherIf(wanted & (1u << u), a.x + column[u]);
  if (together) __syncwarp();
#pragma unroll
  for (int u = 0; u < count; u++) sum = MultiplyAddIf(wanted & (1u << u), value[u], x[u], sum);
  return sum;
}

/* The lowest n bits of a batch */
template <int count>
static __device__ __forceinline__ unsigned int First(int n)
{
  return n >= count ? (1u << count) - 1 : (1u << n) - 1;
}

/* A row and its addend. The addend is the first load from a vector, after PDLWait(): see common/pdl.cuh */
struct Row {
  VCRSUnsigned row;
  Number       add;
};

static __device__ __forceinline__ Row ReadRow(const HybArguments &a, VCRSUnsigned k, bool is)
{
  Row r = {k, Number{}};

  if (is && a.order) r.row = static_cast<VCRSUnsigned>(__ldg(a.order + k));
  (void)PDLWait(a.x);
  if (is && a.add) r.add = a.add[r.row];
  return r;
}

/* Stores a row whose sum over the body is known */
static __device__ __forceinline__ void FinishRow(const HybArguments &a, const LitheStep &step, const Row &r, Number sum)
{
  const Number y = AddSigned(r.add, step.scale, sum);

  a.y[r.row] = y;
  StepAddToSums(step, r.row, r.add, y);
}

/* A thread per row; the columns are stride apart */
template <int count>
static __global__ void __launch_bounds__(HYB_THREADS, HYB_BLOCKS)
  HybKernel(const __grid_constant__ HybArguments a, PetscInt64 stride, int width, const __grid_constant__ LitheStep step)
{
  const VCRSUnsigned k   = a.begin + static_cast<VCRSUnsigned>(blockIdx.x) * HYB_THREADS + threadIdx.x;
  const bool         is  = k < a.m;
  const Row          r   = ReadRow(a, k, is);
  Number             sum = Number{};

  for (int j = 0; j < width; j += count)
    sum = AddBatch<count, true, true>(
      a, [&](int u) { return (j + u) * stride + k; }, is ? First<count>(width - j) : 0, sum);
  if (is) FinishRow(a, step, r, sum);
}

/* A thread per row, a warp per slice */
template <int count, int blocks, class Length>
static __global__ void __launch_bounds__(HYB_THREADS, blocks) SellKernel(const __grid_constant__ HybArguments a, const PetscInt64 *__restrict__ sliceptr,
                                                                         const Length *__restrict__ length, const __grid_constant__ LitheStep step)
{
  const VCRSUnsigned k    = a.begin + static_cast<VCRSUnsigned>(blockIdx.x) * HYB_THREADS + threadIdx.x;
  const unsigned int lane = threadIdx.x % HYB_SLICE;
  Number             sum  = Number{};
  PetscInt64         begin;
  int                n, most;
  unsigned int       same;

  if (k - lane >= a.m) return;
  const Row r = ReadRow(a, k, k < a.m);

  n     = static_cast<int>(__ldcs(length + k));
  begin = __ldg(sliceptr + k / HYB_SLICE);
  most  = n;
#pragma unroll
  for (int d = HYB_SLICE / 2; d; d /= 2) most = max(most, __shfl_xor_sync(HYB_ALL, most, d));
  same = __all_sync(HYB_ALL, n == most);
  if (same) {
    begin += lane;
    for (int j = 0; j < most; j += count)
      sum = AddBatch<count, false, true>(
        a, [&](int u) { return begin + (j + u) * HYB_SLICE; }, First<count>(most - j), sum);
  } else {
    const unsigned int below = (1u << lane) - 1;

    for (int j = 0; j < most; j += count) {
      int at[count], passed = 0;

#pragma unroll
      for (int u = 0; u < count; u++) {
        const unsigned int has = __ballot_sync(HYB_ALL, j + u < n);

        at[u] = passed + __popc(has & below);
        passed += __popc(has);
      }
      sum = AddBatch<count, false, true>(
        a, [&](int u) { return begin + at[u]; }, First<count>(max(n - j, 0)), sum);
      begin += passed;
    }
  }
  if (k < a.m) FinishRow(a, step, r, sum);
}

/* Several threads per row */
template <int threads, int count, class Pointer>
static __global__ void __launch_bounds__(HYB_THREADS, HYB_BLOCKS)
  CSRKernel(const __grid_constant__ HybArguments a, const Pointer *__restrict__ rowptr, const __grid_constant__ LitheStep step)
{
  const VCRSUnsigned k  = a.begin + (static_cast<VCRSUnsigned>(blockIdx.x) * HYB_THREADS + threadIdx.x) / threads;
  const bool         is = k < a.m, first = threadIdx.x % threads == 0;
  const Row          r   = ReadRow(a, k, is && first);
  const PetscInt64   end = is ? static_cast<PetscInt64>(__ldg(rowptr + k + 1)) : 0;
  Number             sum = Number{};

  for (PetscInt64 e = is ? static_cast<PetscInt64>(__ldg(rowptr + k)) + threadIdx.x % threads : 0; e < end; e += threads * count)
    sum = AddBatch<count, false, false>(
      a, [&](int u) { return e + u * threads; }, First<count>(static_cast<int>((end - e + threads - 1) / threads)), sum);
  sum = WarpSum<threads>(sum);
  if (is && first) FinishRow(a, step, r, sum);
}

/* Adds the entries of the tail to a row that is otherwise finished */
static __device__ __forceinline__ void AddToRow(const HybArguments &a, const LitheStep &step, VCRSUnsigned row, Number sum)
{
  a.y[row] = AddSigned(a.y[row], step.scale, sum);
  for (int q = 0; q < step.nsums; q++) {
    Number *s = reinterpret_cast<Number *>(step.sum[q]) + row;

    *s = AddSigned(*s, step.weight[q] * step.scale, sum);
  }
}

static __device__ __forceinline__ Number ShuffleUp(Number a, int d)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{__shfl_up_sync(HYB_ALL, a.re, d), __shfl_up_sync(HYB_ALL, a.im, d)};
#else
  return __shfl_up_sync(HYB_ALL, a, d);
#endif
}

/* A warp per piece. row is the tail's part of an array, like col and val of the arguments */
static __global__ void __launch_bounds__(HYB_THREADS, HYB_BLOCKS)
  TailKernel(const __grid_constant__ HybArguments a, const int32_t *__restrict__ row, const PetscInt64 *__restrict__ piece, PetscInt npieces,
             PetscInt nlongpieces, Number *__restrict__ partial, const __grid_constant__ LitheStep step)
{
  const PetscInt p    = static_cast<PetscInt>((static_cast<PetscInt64>(blockIdx.x) * HYB_THREADS + threadIdx.x) / 32);
  const int      lane = threadIdx.x % 32;

  if (p >= npieces) return;

  const PetscInt64 begin = piece[p], end = piece[p + 1];

  /* a piece of a long row */
  if (p < nlongpieces) {
    const Number sum = WarpSum<32>(AddBatch<HYB_PIECE / 32, false, true>(
      a, [&](int u) { return begin + lane + u * 32; }, First<HYB_PIECE / 32>(max(static_cast<int>((end - begin - lane + 31) / 32), 0)), Number{}));

    if (!lane) partial[p] = sum;
    return;
  }

  /* Whole rows: sums over the entries of each row, up to each lane's entry; the sum of the last row is carried to the
     next 32 entries */
  int    carriedrow = -1;
  Number carried    = Number{};

  for (PetscInt64 from = begin; from < end; from += 32) {
    const bool is  = from + lane < end;
    const int  own = is ? __ldcs(row + from + lane) : -1;
    Number     sum = AddBatch<1, false, true>(
      a, [&](int) { return from + lane; }, is ? 1u : 0u, Number{});

#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const Number before    = ShuffleUp(sum, d);
      const int    beforerow = __shfl_up_sync(HYB_ALL, own, d);

      if (lane >= d && beforerow == own) sum = sum + before;
    }

    const int next = __shfl_down_sync(HYB_ALL, own, 1);

    if (carriedrow >= 0 && own == carriedrow) sum = sum + carried;
    if (carriedrow >= 0 && !lane && own != carriedrow) AddToRow(a, step, carriedrow, carried);
    if (is && lane < 31 && next != own) AddToRow(a, step, own, sum);
    carriedrow = __shfl_sync(HYB_ALL, own, 31);
    carried    = Shuffle(sum, 31);
  }
  if (carriedrow >= 0 && !lane) AddToRow(a, step, carriedrow, carried);
}

/* A warp per row of many pieces */
static __global__ void __launch_bounds__(HYB_THREADS, HYB_BLOCKS)
  LongRowsKernel(const __grid_constant__ HybArguments a, const int32_t *__restrict__ row, const PetscInt *__restrict__ ptr, PetscInt nlong,
                 const Number *__restrict__ partial, const __grid_constant__ LitheStep step)
{
  const PetscInt l   = static_cast<PetscInt>((static_cast<PetscInt64>(blockIdx.x) * HYB_THREADS + threadIdx.x) / 32);
  Number         sum = Number{};

  if (l >= nlong) return;
#pragma unroll 8
  for (PetscInt p = ptr[l] + static_cast<PetscInt>(threadIdx.x % 32); p < ptr[l + 1]; p += 32) sum = sum + partial[p];
  sum = WarpSum<32>(sum);
  if (threadIdx.x % 32 == 0) AddToRow(a, step, row[l], sum);
}

/* ------------------------------------------------------------ launches */

static unsigned int Blocks(PetscInt64 threads)
{
  return static_cast<unsigned int>((threads + HYB_THREADS - 1) / HYB_THREADS);
}

/* Launches a kernel with the given number of threads. The kernel may begin before the previous kernel ends */
template <class... Parameters, class... Arguments>
static PetscErrorCode Launch(void (*kernel)(Parameters...), PetscInt64 threads, cudaStream_t stream, const Arguments &...a)
{
  bool pdl;

  PetscFunctionBegin;
  PetscCall(LitheCUDAHasPDL(&pdl));
  PetscCallCUDA(PDLLaunch(kernel, pdl, dim3(Blocks(threads)), dim3(HYB_THREADS), 0, stream, a...));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Length>
static PetscErrorCode LaunchSell(const HybPlan *p, const HybArguments &a, const LitheStep &step, cudaStream_t stream)
{
  const Length    *length = static_cast<const Length *>(p->length);
  const PetscInt64 rows   = a.m - a.begin;

  PetscFunctionBegin;
  /* short rows do not fill a batch of 8; more warps are a better use of the registers */
  if (p->longest <= 4 || p->nplaces <= HYB_SHORT * static_cast<PetscInt64>(p->m))
    PetscCall(Launch(SellKernel<4, HYB_MANY, Length>, rows, stream, a, p->sliceptr, length, step));
  else PetscCall(Launch(SellKernel<HYB_BATCH, HYB_BLOCKS, Length>, rows, stream, a, p->sliceptr, length, step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Pointer>
static PetscErrorCode LaunchCSR(const HybPlan *p, const HybArguments &a, const LitheStep &step, cudaStream_t stream)
{
  const Pointer   *rowptr = static_cast<const Pointer *>(p->rowptr);
  const PetscInt64 mean = p->m ? p->nplaces / p->m : 0, rows = a.m - a.begin;

  PetscFunctionBegin;
  if (mean < 8) PetscCall(Launch(CSRKernel<2, 4, Pointer>, rows * 2, stream, a, rowptr, step));
  else if (mean < 16) PetscCall(Launch(CSRKernel<4, 4, Pointer>, rows * 4, stream, a, rowptr, step));
  else if (mean < 64) PetscCall(Launch(CSRKernel<8, 4, Pointer>, rows * 8, stream, a, rowptr, step));
  else PetscCall(Launch(CSRKernel<32, 4, Pointer>, rows * 32, stream, a, rowptr, step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LaunchTail(const HybTail *t, HybArguments a, const LitheStep &step, cudaStream_t stream)
{
  Number *partial = reinterpret_cast<Number *>(t->partial);

  PetscFunctionBegin;
  a.col = reinterpret_cast<const unsigned int *>(t->col);
  a.val = reinterpret_cast<const Number *>(t->val);
  TailKernel<<<Blocks(static_cast<PetscInt64>(t->npieces) * 32), HYB_THREADS, 0, stream>>>(a, t->row, t->piece, t->npieces, t->nlongpieces, partial, step);
  PetscCallCUDA(cudaGetLastError());
  if (t->nlong) {
    LongRowsKernel<<<Blocks(static_cast<PetscInt64>(t->nlong) * 32), HYB_THREADS, 0, stream>>>(a, t->longrow, t->longptr, t->nlong, partial, step);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAHybMult(const HybPlan *p, const PetscScalar *dx, const PetscScalar *dadd, const LitheStep *step, PetscScalar *dy, cudaStream_t stream)
{
  HybArguments a;

  PetscFunctionBegin;
  if (p->m <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  a.begin = static_cast<VCRSUnsigned>(p->order ? 0 : step->skip[0] / HYB_SLICE * HYB_SLICE);
  a.m     = static_cast<VCRSUnsigned>(p->order ? p->m : p->m - step->skip[1]);
  a.order = p->order;
  a.col   = reinterpret_cast<const unsigned int *>(p->col);
  a.val   = reinterpret_cast<const Number *>(p->val);
  a.x     = reinterpret_cast<const Number *>(dx);
  a.add   = reinterpret_cast<const Number *>(dadd);
  a.y     = reinterpret_cast<Number *>(dy);
  if (a.begin == a.m) PetscFunctionReturn(PETSC_SUCCESS);
  if (p->format == MATHYBMGPU_FORMAT_HYB) {
    PetscCall(Launch(p->width <= 4 ? HybKernel<4> : HybKernel<HYB_BATCH>, a.m - a.begin, stream, a, p->stride, static_cast<int>(p->width), *step));
  } else if (p->format == MATHYBMGPU_FORMAT_SELL) {
    if (p->lengthbytes == 1) PetscCall(LaunchSell<unsigned char>(p, a, *step, stream));
    else PetscCall(LaunchSell<unsigned short>(p, a, *step, stream));
  } else {
    if (p->ptrbytes == 4) PetscCall(LaunchCSR<uint32_t>(p, a, *step, stream));
    else PetscCall(LaunchCSR<PetscInt64>(p, a, *step, stream));
  }
  if (p->tail.nz) PetscCall(LaunchTail(&p->tail, a, *step, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
