/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The operations of a cycle. A warp has a slice of rows, or some rows of blocks. Where rows are too different for
   slices, a block of threads has a tile of consecutive rows, whose entries are consecutive: threads load entries in
   their order, and leave products in shared memory. A group of threads then sums each row. Sums have a fixed order.
*/

#include "../common/graph.cuh"
#include "../common/largest.cuh"
#include "number.cuh"
#include <lithe/private/cuda/camg.h>

#define CHUNK          2048 /* entries of a tile in shared memory at a time */
#define LARGEST_BLOCKS 1024
#define SLICE_STEPS    3    /* of a slice that a thread reads before it needs the first one: seven points have three */
#define SLOTS_MOST     .34  /* slots over blocks of a row, at most */
#define BLOCK_STEPS    4    /* blocks that a thread reads before it needs the first one */
#define WIDE_NODES     2048 /* rows of many blocks up to this number have a block of threads each */
#define DENSE          32   /* columns of a block in the second product with the inverse */

/* What is done with the product of a row */
struct CAMGResult {
  enum {
    STEP,
    RESIDUAL,
    SET,
    ADD
  } what;
  double      c1, c2;
  const void *b, *old;
  void       *out;
};

/* What a row has besides its products. It is read early, as its reading takes long */
template <class R>
struct RowEnd {
  using N = CAMGNumber<R>;
  N xi, d, b, old, out;
  R minv;

  __device__ __forceinline__ RowEnd(const CAMGOperator &op, const CAMGResult &result, int row, bool there, const N *__restrict__ x)
      : xi(CAMGZero(N())), d(xi), b(xi), old(xi), out(xi), minv(0)
  {
    if (!there) return;
    if (op.d) {
      xi = x[row];
      CAMGEntry<32>(op.d, static_cast<size_t>(row), &d);
    }
    if (result.b) b = static_cast<const N *>(result.b)[row];
    if (result.what == CAMGResult::STEP) {
      minv = static_cast<R>(op.minv[row]);
      if (result.c1 != 0 && result.old) old = static_cast<const N *>(result.old)[row];
    }
    if (result.what == CAMGResult::ADD) out = static_cast<const N *>(result.out)[row];
  }

  /* sum: of the products, without the diagonal */
  __device__ __forceinline__ void Put(const CAMGResult &result, int row, N sum) const
  {
    N y = sum + d * xi;

    if (result.what == CAMGResult::STEP) {
      y = xi + (static_cast<R>(result.c2) * minv) * (b - y);
      if (result.c1 != 0) y = y + static_cast<R>(result.c1) * (xi - old);
    } else if (result.what == CAMGResult::RESIDUAL) y = b - y;
    else if (result.what == CAMGResult::ADD) y = out + y;
    static_cast<N *>(result.out)[row] = y;
  }
};

/* group: threads of a row, all of them in a warp */
template <int bits, class R>
static __global__ void __launch_bounds__(CAMG_THREADS) TileKernel(CAMGOperator op, int group, int rows, const CAMGNumber<R> *__restrict__ x, CAMGResult result)
{
  using N = CAMGNumber<R>;
  __shared__ __align__(16) N product[CHUNK];
  const int *__restrict__ i = op.i, *__restrict__ j = op.j;
  const int       first = static_cast<int>(blockIdx.x) * rows, last = min(first + rows, op.m);
  const int       row = first + static_cast<int>(threadIdx.x) / group, lane = static_cast<int>(threadIdx.x) % group;
  const int       begin = i[first], end = i[last];
  const int       rowbegin = row < last ? i[row] : end, rowend = row < last ? i[row + 1] : end;
  N               sum = CAMGZero(N());
  const RowEnd<R> rest(op, result, row, lane == 0 && row < last, x);

  for (int chunk = begin; chunk < end; chunk += CHUNK - 4) {
    const int stop = min(chunk + CHUNK - 4, end), from = max(rowbegin, chunk), to = min(rowend, stop);
    const int base = chunk & ~3; /* of the products: loads of four entries are aligned */

    for (int e = base + 4 * static_cast<int>(threadIdx.x); e < stop; e += 4 * CAMG_THREADS) {
      N entry[4];

      if (e >= chunk && e + 4 <= stop) {
        const int4 c = reinterpret_cast<const int4 *>(j)[e / 4];

        CAMGEntries<bits>(op.code, e, entry);
        product[e - base]     = entry[0] * x[c.x];
        product[e - base + 1] = entry[1] * x[c.y];
        product[e - base + 2] = entry[2] * x[c.z];
        product[e - base + 3] = entry[3] * x[c.w];
      } else {
        for (int k = max(e, chunk); k < min(e + 4, stop); k++) {
          CAMGEntry<bits>(op.code, static_cast<size_t>(k), entry);
          product[k - base] = entry[0] * x[j[k]];
        }
      }
    }
    __syncthreads();
    for (int e = lane; e < to - from; e += group) sum = sum + product[from - base + e];
    __syncthreads();
  }
  for (int mask = group / 2; mask > 0; mask /= 2) sum = sum + CAMGShuffle(sum, mask);
  if (lane == 0 && row < last) rest.Put(result, row, sum);
}

/*
   Rows of blocks. A warp has `nodes` of them, or a block of threads has one; for each, `slots` of its blocks at a time.
   A thread has a row of numbers of a block. rows, columns: of a block; 0: as op says. Threads of a block share its
   numbers of x, because each gathering load takes long
*/
template <int bits, int rows, int columns, bool wide, class R>
static __global__ void __launch_bounds__(CAMG_THREADS)
  BlockKernel(const __grid_constant__ CAMGOperator op, int nodes, int slots, const CAMGNumber<R> *__restrict__ x, const __grid_constant__ CAMGResult result)
{
  using N               = CAMGNumber<R>;
  constexpr int   warps = CAMG_THREADS / CAMG_WARP, fixed = rows > 0 ? rows : 1, most = columns > 0 ? columns : 1, each = (most + fixed - 1) / fixed;
  __shared__ N    part[wide ? warps * CAMG_WARP : 1];
  const int       rb = rows ? rows : op.rb, cb = columns ? columns : op.cb, width = slots * rb;
  const int       lane = static_cast<int>(threadIdx.x) % CAMG_WARP, warp = static_cast<int>(threadIdx.x) / CAMG_WARP;
  const int       node = wide ? static_cast<int>(blockIdx.x) : (static_cast<int>(blockIdx.x) * warps + warp) * nodes + lane / width;
  const int       slot = lane % width / rb, p = lane % rb, row = node * rb + p, stride = wide ? warps * slots : slots;
  const bool      there = lane < nodes * width && node < op.m, ends = there && slot == 0 && (!wide || warp == 0);
  const int       end = there ? op.i[node + 1] : 0, begin = there ? op.i[node] + slot + (wide ? warp * slots : 0) : 0;
  const RowEnd<R> rest(op, result, row, ends, x);
  N               sum = CAMGZero(N());

  if constexpr (rows > 0) {
    int steps = end > begin ? (end - begin + stride - 1) / stride : 0; /* of all lanes: they exchange numbers of x */

    for (int mask = CAMG_WARP / 2; mask > 0; mask /= 2) steps = max(steps, CAMGShuffle(steps, mask));
    for (int first = 0; first < steps; first += BLOCK_STEPS) {
      N         mine[BLOCK_STEPS][each], entry[BLOCK_STEPS][most];
      const N  *from[BLOCK_STEPS];
      const int k = begin + first * stride;

#pragma unroll
      for (int t = 0; t < BLOCK_STEPS; t++) {
        from[t] = x + (k + t * stride < end ? op.j[k + t * stride] : 0) * columns;
#pragma unroll
        for (int c = 0; c < columns; c++) {
          entry[t][c] = CAMGZero(N());
          if (k + t * stride < end) CAMGEntry<bits>(op.code, (static_cast<size_t>(k + t * stride) * rows + p) * columns + c, &entry[t][c]);
        }
      }
#pragma unroll
      for (int t = 0; t < BLOCK_STEPS; t++) {
#pragma unroll
        for (int m = 0; m < each; m++) mine[t][m] = p + m * rows < columns ? from[t][p + m * rows] : CAMGZero(N());
      }
#pragma unroll
      for (int t = 0; t < BLOCK_STEPS; t++) {
#pragma unroll
        for (int c = 0; c < columns; c++) sum = sum + entry[t][c] * CAMGFrom(mine[t][c / rows], lane - p + c % rows);
      }
    }
  } else {
    for (int k = begin; k < end; k += stride) {
      for (int c = 0; c < cb; c++) {
        N entry;

        CAMGEntry<bits>(op.code, (static_cast<size_t>(k) * rb + p) * cb + c, &entry);
        sum = sum + entry * x[op.j[k] * cb + c];
      }
    }
  }
  N all = sum;

  for (int s = 1; s < slots; s++) all = all + CAMGFrom(sum, lane + s * rb);
  if constexpr (wide) {
    part[threadIdx.x] = all;
    __syncthreads();
    for (int w = 1; w < warps; w++) all = all + part[w * CAMG_WARP + lane];
  }
  if (ends) rest.Put(result, row, all);
}

/* A warp per slice */
template <int bits, bool narrow, class R>
static __global__ void __launch_bounds__(CAMG_THREADS)
  SliceKernel(const __grid_constant__ CAMGOperator op, const CAMGNumber<R> *__restrict__ x, const __grid_constant__ CAMGResult result)
{
  using N         = CAMGNumber<R>;
  const int group = op.group, lane = static_cast<int>(threadIdx.x) % CAMG_WARP;
  const int slice = static_cast<int>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / CAMG_WARP);
  const int row   = slice * (CAMG_WARP / group) + lane / group;

  if (slice * (CAMG_WARP / group) >= op.m) return;
  const int       first = op.i[slice], last = op.i[slice + 1];
  const bool      there = lane % group == 0 && row < op.m;
  const RowEnd<R> rest(op, result, row, there, x);
  N               sum[2] = {CAMGZero(N()), CAMGZero(N())};

  for (int step = first; step < last; step += SLICE_STEPS) {
    N   entry[SLICE_STEPS][2];
    int c[SLICE_STEPS][2];

#pragma unroll
    for (int t = 0; t < SLICE_STEPS; t++) {
      const int at = min(step + t, last - 1) * CAMG_WARP + lane; /* the last one again: loads without a branch */

      if constexpr (narrow) {
        const ushort2 near = reinterpret_cast<const ushort2 *>(op.j)[at];
        const int     base = op.base[at / CAMG_WARP];

        c[t][0] = base + near.x;
        c[t][1] = base + near.y;
      } else {
        const int2 far = reinterpret_cast<const int2 *>(op.j)[at];

        c[t][0] = far.x;
        c[t][1] = far.y;
      }
      CAMGPair<bits>(op.code, at, entry[t]);
    }
#pragma unroll
    for (int t = 0; t < SLICE_STEPS; t++) {
      for (int half = 0; half < 2; half++) {
        const N product = entry[t][half] * x[c[t][half]];

        if (step + t < last) sum[half] = sum[half] + product;
      }
    }
  }
  N all = sum[0] + sum[1];

  for (int mask = group / 2; mask > 0; mask /= 2) all = all + CAMGShuffle(all, mask);
  if (there) rest.Put(result, row, all);
}

/* The first step from zero */
template <class R>
static __global__ void __launch_bounds__(CAMG_THREADS)
  StartKernel(int n, R c2, const float *__restrict__ minv, const CAMGNumber<R> *__restrict__ b, CAMGNumber<R> *__restrict__ out)
{
  const int row = static_cast<int>(blockIdx.x * CAMG_THREADS + threadIdx.x);

  if (row < n) out[row] = (c2 * static_cast<R>(minv[row])) * b[row];
}

/* Threads of a row, so that the entries of a tile fill most of a chunk */
static int Group(const CAMGOperator *op)
{
  const double entries = static_cast<double>(op->nz) / op->m;
  int          group   = 1;

  while (group != CAMG_WARP && CAMG_THREADS / group * entries > .9 * CHUNK) group *= 2;
  return group;
}

/* Slots of a row of blocks, so that a thread has some blocks to read ahead */
static int Slots(const CAMGOperator *op)
{
  const double most  = SLOTS_MOST * static_cast<double>(op->nz) / op->m;
  int          nodes = 1;

  while (CAMG_WARP / (op->rb * (nodes + 1)) > 0 && CAMG_WARP / (op->rb * nodes) > most) nodes++;
  return CAMG_WARP / (op->rb * nodes);
}

template <int bits, int rows, int columns, class R>
static PetscErrorCode LaunchBlocks_Private(cudaStream_t stream, const CAMGOperator *op, const CAMGNumber<R> *x, const CAMGResult *result)
{
  const bool many = static_cast<double>(op->nz) * op->rb > CAMG_WARP * static_cast<double>(op->m), wide = many && op->m <= WIDE_NODES;
  const int  slots = wide ? CAMG_WARP / op->rb : Slots(op), nodes = wide ? 1 : CAMG_WARP / (slots * op->rb);

  PetscFunctionBegin;
  if (wide) BlockKernel<bits, rows, columns, true, R><<<CAMGBlocks(op->m, 1), CAMG_THREADS, 0, stream>>>(*op, nodes, slots, x, *result);
  else
    BlockKernel<bits, rows, columns, false, R><<<CAMGBlocks(op->m, nodes * CAMG_THREADS / CAMG_WARP), CAMG_THREADS, 0, stream>>>(*op, nodes, slots, x, *result);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int bits, class R>
static PetscErrorCode Launch_Private(const CAMGOperator *op, const void *x, const CAMGResult *result)
{
  const CAMGNumber<R> *from = static_cast<const CAMGNumber<R> *>(x);
  cudaStream_t         stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  if (op->group) {
    const unsigned int blocks = CAMGBlocks(op->m, CAMG_THREADS / op->group);

    if (op->narrow) SliceKernel<bits, true, R><<<blocks, CAMG_THREADS, 0, stream>>>(*op, from, *result);
    else SliceKernel<bits, false, R><<<blocks, CAMG_THREADS, 0, stream>>>(*op, from, *result);
  } else if (op->rb == 1 && op->cb == 1) {
    const int group = Group(op), rows = CAMG_THREADS / group;

    TileKernel<bits, R><<<CAMGBlocks(op->m, rows), CAMG_THREADS, 0, stream>>>(*op, group, rows, from, *result);
  } else if (op->rb == 3 && op->cb == 3) PetscCall((LaunchBlocks_Private<bits, 3, 3, R>(stream, op, from, result)));
  else if (op->rb == 3 && op->cb == 6) PetscCall((LaunchBlocks_Private<bits, 3, 6, R>(stream, op, from, result)));
  else if (op->rb == 6 && op->cb == 3) PetscCall((LaunchBlocks_Private<bits, 6, 3, R>(stream, op, from, result)));
  else if (op->rb == 6 && op->cb == 6) PetscCall((LaunchBlocks_Private<bits, 6, 6, R>(stream, op, from, result)));
  else PetscCall((LaunchBlocks_Private<bits, 0, 0, R>(stream, op, from, result)));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product_Private(const CAMGOperator *op, const void *x, const CAMGResult *result)
{
  PetscFunctionBegin;
  if (!op->m) PetscFunctionReturn(PETSC_SUCCESS);
#define PRODUCT(bits)                                                        \
  do {                                                                       \
    if (op->single) PetscCall((Launch_Private<bits, float>(op, x, result))); \
    else PetscCall((Launch_Private<bits, double>(op, x, result)));           \
  } while (0)
  if (op->bits == 8) PRODUCT(8);
  else if (op->bits == 16) PRODUCT(16);
  else PRODUCT(32);
#undef PRODUCT
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGStep(const CAMGOperator *op, double c1, double c2, const void *b, const void *x, const void *old, void *out)
{
  const CAMGResult result = {CAMGResult::STEP, c1, c2, b, old, out};
  cudaStream_t     stream;

  PetscFunctionBegin;
  if (x) PetscCall(Product_Private(op, x, &result));
  else if (op->m) {
    const int n = op->m * op->rb;

    PetscCall(LitheGraphGetStream(&stream));
    if (op->single)
      StartKernel<float><<<CAMGBlocks(n), CAMG_THREADS, 0, stream>>>(n, static_cast<float>(c2), op->minv, static_cast<const CAMGNumber<float> *>(b),
                                                                     static_cast<CAMGNumber<float> *>(out));
    else
      StartKernel<double>
        <<<CAMGBlocks(n), CAMG_THREADS, 0, stream>>>(n, c2, op->minv, static_cast<const CAMGNumber<double> *>(b), static_cast<CAMGNumber<double> *>(out));
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGResidual(const CAMGOperator *op, const void *b, const void *x, void *r)
{
  const CAMGResult result = {CAMGResult::RESIDUAL, 0, 0, b, nullptr, r};

  PetscFunctionBegin;
  PetscCall(Product_Private(op, x, &result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGTransfer(const CAMGOperator *P, PetscBool add, const void *x, void *y)
{
  const CAMGResult result = {add ? CAMGResult::ADD : CAMGResult::SET, 0, 0, nullptr, nullptr, y};

  PetscFunctionBegin;
  PetscCall(Product_Private(P, x, &result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the coarsest level */

/* A row per warp */
template <class N>
static __global__ void __launch_bounds__(CAMG_THREADS) RowsKernel(int n, const N *__restrict__ L, const N *__restrict__ b, N *__restrict__ w)
{
  const int row = static_cast<int>(blockIdx.x) * (CAMG_THREADS / CAMG_WARP) + static_cast<int>(threadIdx.x) / CAMG_WARP;
  N         sum = CAMGZero(N());

  if (row >= n) return;
  for (int k = static_cast<int>(threadIdx.x) % CAMG_WARP; k < n; k += CAMG_WARP) sum = sum + L[static_cast<size_t>(row) * n + k] * b[k];
  for (int mask = CAMG_WARP / 2; mask > 0; mask /= 2) sum = sum + CAMGShuffle(sum, mask);
  if (threadIdx.x % CAMG_WARP == 0) w[row] = sum;
}

/* x = L^H w: columns of a block of threads side by side, rows by turns of warps */
template <class N>
static __global__ void __launch_bounds__(CAMG_THREADS) ColumnsKernel(int n, const N *__restrict__ L, const N *__restrict__ w, N *__restrict__ x)
{
  __shared__ N part[CAMG_THREADS];
  const int    column = static_cast<int>(blockIdx.x) * DENSE + static_cast<int>(threadIdx.x) % DENSE, turn = static_cast<int>(threadIdx.x) / DENSE;
  N            sum = CAMGZero(N());

  for (int r = turn; r < n && column < n; r += CAMG_THREADS / DENSE) sum = sum + CAMGConjugate(L[static_cast<size_t>(r) * n + column]) * w[r];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (turn || column >= n) return;
  for (int t = 1; t < CAMG_THREADS / DENSE; t++) sum = sum + part[t * DENSE + threadIdx.x];
  x[column] = sum;
}

template <class R>
static PetscErrorCode Dense_Private(const LitheMGCoarsest *c, const void *b, void *x)
{
  using N        = CAMGNumber<R>;
  const int    n = static_cast<int>(c->n);
  const N     *L = static_cast<const N *>(c->L);
  N           *w = static_cast<N *>(c->factored ? c->work : x);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  RowsKernel<<<CAMGBlocks(n, CAMG_THREADS / CAMG_WARP), CAMG_THREADS, 0, stream>>>(n, L, static_cast<const N *>(b), w);
  if (c->factored) ColumnsKernel<<<CAMGBlocks(n, DENSE), CAMG_THREADS, 0, stream>>>(n, L, static_cast<const N *>(w), static_cast<N *>(x));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGDense(const LitheMGCoarsest *c, const void *b, void *x)
{
  PetscFunctionBegin;
  if (c->single) PetscCall(Dense_Private<float>(c, b, x));
  else PetscCall(Dense_Private<double>(c, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ in and out */

static __global__ void __launch_bounds__(CAMG_THREADS)
  LargestKernel(PetscInt n, const double *__restrict__ outer, const PetscReal *__restrict__ x, unsigned long long *largest)
{
  unsigned long long most = 0;

  for (PetscInt r = static_cast<PetscInt>(blockIdx.x) * CAMG_THREADS + threadIdx.x; r < n; r += static_cast<PetscInt>(gridDim.x) * CAMG_THREADS) {
    for (int p = 0; p < CAMG_PARTS; p++) most = LitheLargestOf(most, outer[r] * static_cast<double>(x[r * CAMG_PARTS + p]));
  }
  LitheLargestPut(most, largest);
}

template <class R>
static __global__ void __launch_bounds__(CAMG_THREADS)
  EnterKernel(PetscInt n, const double *__restrict__ outer, const PetscReal *__restrict__ x, R *__restrict__ b, const double *largest)
{
  const PetscInt r     = static_cast<PetscInt>(blockIdx.x) * CAMG_THREADS + threadIdx.x;
  const double   scale = LitheMGScaleOf(*largest);

  if (r >= n) return;
  for (int p = 0; p < CAMG_PARTS; p++) b[r * CAMG_PARTS + p] = static_cast<R>(static_cast<double>(x[r * CAMG_PARTS + p]) * (outer[r] * scale));
}

template <class R>
static __global__ void __launch_bounds__(CAMG_THREADS)
  LeaveKernel(PetscInt n, double factor, const double *__restrict__ outer, const double *largest, const R *__restrict__ x, PetscReal *__restrict__ y)
{
  const PetscInt r     = static_cast<PetscInt>(blockIdx.x) * CAMG_THREADS + threadIdx.x;
  const double   scale = factor / LitheMGScaleOf(*largest);

  if (r >= n) return;
  for (int p = 0; p < CAMG_PARTS; p++) y[r * CAMG_PARTS + p] = static_cast<PetscReal>(static_cast<double>(x[r * CAMG_PARTS + p]) * (outer[r] * scale));
}

PetscErrorCode LitheCUDACAMGLargest(PetscInt n, const double outer[], const PetscScalar x[], double *largest)
{
  const unsigned int all = CAMGBlocks(n), blocks = all < LARGEST_BLOCKS ? all : LARGEST_BLOCKS;
  const PetscReal   *parts = reinterpret_cast<const PetscReal *>(x);
  cudaStream_t       stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(largest, 0, sizeof(*largest), stream));
  if (n) LargestKernel<<<blocks, CAMG_THREADS, 0, stream>>>(n, outer, parts, reinterpret_cast<unsigned long long *>(largest));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGEnter(PetscInt n, PetscBool single, const double outer[], const double *largest, const PetscScalar x[], void *b)
{
  const unsigned int blocks = CAMGBlocks(n);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheGraphGetStream(&stream));
  if (single) EnterKernel<<<blocks, CAMG_THREADS, 0, stream>>>(n, outer, reinterpret_cast<const PetscReal *>(x), static_cast<float *>(b), largest);
  else EnterKernel<<<blocks, CAMG_THREADS, 0, stream>>>(n, outer, reinterpret_cast<const PetscReal *>(x), static_cast<double *>(b), largest);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGLeave(PetscInt n, PetscBool single, double factor, const double outer[], const double *largest, const void *x, PetscScalar y[])
{
  const unsigned int blocks = CAMGBlocks(n);
  cudaStream_t       stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheGraphGetStream(&stream));
  if (single) LeaveKernel<<<blocks, CAMG_THREADS, 0, stream>>>(n, factor, outer, largest, static_cast<const float *>(x), reinterpret_cast<PetscReal *>(y));
  else LeaveKernel<<<blocks, CAMG_THREADS, 0, stream>>>(n, factor, outer, largest, static_cast<const double *>(x), reinterpret_cast<PetscReal *>(y));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
