/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Codes of levels and transfers, on a device: src/pc/camg/encode.c */

#include "bound.cuh"

#if !PetscDefined(USE_64BIT_INDICES)

/* ------------------------------------------------------------ scales */

template <int lanes>
static __global__ void ScalesKernel(const __grid_constant__ CAMGMatrix A, double *__restrict__ s)
{
  const CAMGGroupOf<lanes> g;
  double                   d = 0, most = 0;
  int                      exponent;

  if (g.row >= static_cast<PetscInt64>(A.m) * A.rb) return;
  const CAMGRow row(A, g.row);

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    const double a = static_cast<double>(CAMGAbs(A.a[row.At(t)]));

    if (row.IsDiagonal(A.j, t)) d += a;
    if (a > most) most = a;
  }
  __syncwarp(g.mask);
  d    = CAMGSum<lanes>(g.mask, d);
  most = CAMGLargest<lanes>(g.mask, most);
  if (g.lane) return;
  s[g.row] = 1;
  if (!(d > 0)) d = most;
  if (!(d > 0)) return;
  (void)frexp(d, &exponent);
  s[g.row] = ldexp(1., exponent > 0 ? exponent / 2 : -((1 - exponent) / 2));
}

PetscErrorCode LitheCUDACAMGScales(const CAMGMatrix *A, double s[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CAMG_NUMBERS(A, (ScalesKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ codes */

/* 1 / s of a power of two, which is a scale */
static __device__ __forceinline__ double EncodeInverse(double s)
{
  return __longlong_as_double((2046LL << 52) - __double_as_longlong(s));
}

/* The largest of all lanes of a warp goes to memory, as bits: these have the order of positive numbers */
static __device__ __forceinline__ void EncodeMost(double mine, unsigned long long *most)
{
  mine = CAMGLargest<32>(CAMG_ALL, mine);
  if (threadIdx.x % 32) return;
  if (__double_as_longlong(mine) > static_cast<long long>(*static_cast<volatile unsigned long long *>(most)))
    atomicMax(most, static_cast<unsigned long long>(__double_as_longlong(mine)));
}

/* The number of the code of v, which goes to place k */
static __device__ __forceinline__ PetscReal EncodePart(const CAMGOperator &op, int k, PetscReal v, bool put)
{
  if (op.bits == 8) {
    const uint8_t code = CAMGEncode8(static_cast<float>(v));

    if (put) static_cast<uint8_t *>(op.code)[k] = code;
    return CAMGDecode8(code);
  } else if (op.bits == 16) {
    const uint16_t code = CAMGEncode16(static_cast<float>(v));

    if (put) static_cast<uint16_t *>(op.code)[k] = code;
    return CAMGDecode16(code);
  }
  if (put) static_cast<float *>(op.code)[k] = static_cast<float>(v);
  return static_cast<float>(v);
}

static __device__ __forceinline__ PetscScalar EncodeNumber(const CAMGOperator &op, int k, PetscScalar v, bool put)
{
  #if PetscDefined(USE_COMPLEX)
  const PetscReal re = EncodePart(op, 2 * k, v.real(), put), im = EncodePart(op, 2 * k + 1, v.imag(), put);

  return PetscScalar(re, im);
  #else
  return EncodePart(op, k, v, put);
  #endif
}

static __device__ __forceinline__ void EncodePutFloat(void *a, PetscInt k, PetscScalar v)
{
  static_cast<float *>(a)[CAMG_PARTS * static_cast<size_t>(k)] = static_cast<float>(CAMGReal(v));
  if (CAMG_PARTS == 2) static_cast<float *>(a)[CAMG_PARTS * static_cast<size_t>(k) + 1] = static_cast<float>(CAMGImaginary(v));
}

typedef enum {
  ENCODE_SIZES,   /* the largest entry; sizes of rows of numbers: entries outside the diagonal that do not become 0 */
  ENCODE_NUMBERS, /* their codes, the diagonal, and sums of rows */
  ENCODE_BLOCKS   /* the same for blocks, whose pattern stays; the diagonal has codes of 0 */
} EncodeMode;

/* All lanes of a warp go through the loop together */
template <int lanes, EncodeMode mode>
static __global__ void EncodeKernel(const __grid_constant__ CAMGMatrix A, const double *__restrict__ s, bool sums, const __grid_constant__ CAMGOperator op,
                                    unsigned long long *most)
{
  const CAMGGroupOf<lanes> g;
  const int                shift = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
  const bool               there = g.row < static_cast<PetscInt64>(A.m) * A.rb;
  const PetscInt           r     = there ? static_cast<PetscInt>(g.row) : 0;
  const CAMGRow            row(A, r);
  const double             inverse = EncodeInverse(s[r]);
  const PetscInt           count = there ? row.count : 0, end = CAMGLargest<32>(CAMG_ALL, count);
  PetscScalar              own = 0, d = 0, error = 0; /* own: the diagonal entry, in one lane */
  double                   size = 0, largest = 0;
  int                      at = mode == ENCODE_NUMBERS ? op.i[r] : 0;

  for (PetscInt base = 0; base < end; base += lanes) {
    const PetscInt t        = base + g.lane;
    const bool     here     = t < count;
    const PetscInt c        = here ? row.Column(A.j, t) : r;
    const bool     diagonal = !here || row.IsDiagonal(A.j, t);
    const double   sc       = s[c];
    PetscScalar    v = 0, q = 0, wrong = 0;
    double         part = 0;

    if (here) v = A.a[row.At(t)] * static_cast<PetscReal>(inverse) * static_cast<PetscReal>(EncodeInverse(sc));
    if (here && diagonal) own = v;
    if (!diagonal) {
      q = EncodeNumber(op, 0, v, false);
      if constexpr (mode == ENCODE_SIZES) {
        const double modulus = static_cast<double>(CAMGAbs(v));

        if (modulus > largest) largest = modulus;
      } else {
        wrong = (v - q) * static_cast<PetscReal>(sc * inverse);
        part  = static_cast<double>(CAMGAbs(q)) * (sc * inverse);
      }
    }
    if constexpr (mode == ENCODE_BLOCKS) {
      if (here) (void)EncodeNumber(op, static_cast<int>(row.At(t)), diagonal ? PetscScalar(0) : v, true);
    } else {
      const unsigned int kept = __ballot_sync(CAMG_ALL, !CAMGIsZero(q)) >> shift & CAMGFirst<lanes>();

      if (mode == ENCODE_NUMBERS && !CAMGIsZero(q)) {
        const int p = at + __popc(kept & ((1u << g.lane) - 1));

        op.j[p] = c;
        (void)EncodeNumber(op, p, v, true);
      }
      at += __popc(kept);
    }
    if constexpr (mode != ENCODE_SIZES) {
      CAMGAddOrdered<lanes>(CAMG_ALL, wrong, &error);
      CAMGAddOrdered<lanes>(CAMG_ALL, part, &size);
    }
  }
  if constexpr (mode == ENCODE_SIZES) {
    EncodeMost(largest, most);
    if (there && g.lane == 0 && A.rb == 1) op.i[r] = at;
  } else {
    CAMGAddOrdered<lanes>(CAMG_ALL, own, &d);
    if (!there || g.lane) return;
    if (sums && CAMGAbs(error) <= static_cast<PetscReal>(CAMG_CHANGE) * CAMGAbs(d)) d += error;
    EncodePutFloat(op.d, r, d);
    op.minv[r] = static_cast<float>(size + static_cast<double>(CAMGAbs(d)));
  }
}

static __global__ void EncodeRoots(int n, const float *__restrict__ sum, PetscReal *__restrict__ root)
{
  CAMG_FOR_ALL(r, n)
  root[r] = sum[r] > 0 ? 1 / sqrt(static_cast<PetscReal>(sum[r])) : 0;
}

static __global__ void EncodeSmoother(int n, const double *__restrict__ bound, float *__restrict__ minv)
{
  CAMG_FOR_ALL(r, n)
  minv[r] = minv[r] > 0 ? static_cast<float>(1 / (*bound * minv[r])) : 0;
}

/* Sizes of an operator, and rows; the room is that of A */
static PetscErrorCode EncodeCreate(cudaStream_t stream, const CAMGMatrix *A, CAMGOperator *op)
{
  PetscFunctionBegin;
  PetscCheck(static_cast<PetscInt64>(A->nz) * A->rb * A->cb <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A process has more than %d entries. Use more processes", INT_MAX);
  op->m  = static_cast<int>(A->m);
  op->n  = static_cast<int>(A->n);
  op->nz = static_cast<int>(A->nz);
  op->rb = static_cast<int>(A->rb);
  op->cb = static_cast<int>(A->cb);
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m) + 1, &op->i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns and codes */
static PetscErrorCode EncodeAllocate(cudaStream_t stream, CAMGOperator *op)
{
  char *code;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(op->nz), &op->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(op->nz) * op->rb * op->cb * CAMG_PARTS * static_cast<size_t>(op->bits) / 8, &code));
  op->code = code;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bits that hold all entries, and sizes of rows of numbers */
static PetscErrorCode EncodeSizes(cudaStream_t stream, const CAMGMatrix *A, const double s[], PetscInt bits, CAMGOperator *op)
{
  unsigned long long *there, number;
  double              most;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, 1, &there));
  for (op->bits = static_cast<int>(bits);; op->bits *= 2) {
    PetscCallCUDA(cudaMemsetAsync(there, 0, sizeof(*there), stream));
    CAMG_NUMBERS(A, (EncodeKernel<lanes, ENCODE_SIZES><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, false, *op, there)));
    if (op->bits == 32) break;
    PetscCall(CAMGGet(stream, 1, there, &number));
    PetscCall(PetscMemcpy(&most, &number, sizeof(most)));
    if (!(most > (op->bits == 8 ? CAMG_MOST8 : CAMG_MOST16))) break;
  }
  PetscCall(CAMGFree(stream, there));
  if (A->rb == 1) PetscCall(CAMGScan(stream, A->m, op->i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EncodePattern(cudaStream_t stream, const CAMGMatrix *A, CAMGOperator *op)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemcpyAsync(op->i, A->i, (static_cast<size_t>(A->m) + 1) * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  PetscCallCUDA(cudaMemcpyAsync(op->j, A->j, static_cast<size_t>(A->nz) * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGEncode(const CAMGMatrix *A, const double s[], PetscInt bits, PetscBool sums, const CAMGShare *share, CAMGOperator *op,
                                   PetscReal *bound)
{
  const PetscInt n = CAMGSize(A);
  PetscReal     *root;
  float         *d;
  double        *there, result;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(EncodeCreate(stream, A, op));
  PetscCall(EncodeSizes(stream, A, s, bits, op));
  PetscCall(EncodeAllocate(stream, op));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(n) * CAMG_PARTS, &d));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(n), &op->minv));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(n), &root));
  PetscCall(CAMGAllocate(stream, 1, &there));
  op->d = d;
  if (A->rb == 1) {
    /* few lanes also for long rows: sums have the order of the row */
    if (n)
      EncodeKernel<CAMG_LANES, ENCODE_NUMBERS><<<CAMGBlocks(static_cast<PetscInt64>(n) * CAMG_LANES), CAMG_THREADS, 0, stream>>>(*A, s, sums, *op, nullptr);
    PetscCallCUDA(cudaGetLastError());
  } else {
    PetscCall(EncodePattern(stream, A, op));
    CAMG_NUMBERS(A, (EncodeKernel<lanes, ENCODE_BLOCKS><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, sums, *op, nullptr)));
  }
  EncodeRoots<<<CAMGBlocks(n), CAMG_THREADS, 0, stream>>>(n, op->minv, root);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 1, op->i + A->m, &op->nz));
  PetscCall(LitheCUDACAMGSlices(op));
  PetscCall(CAMGBound(stream, op, n, root, share, there));
  EncodeSmoother<<<CAMGBlocks(n), CAMG_THREADS, 0, stream>>>(n, there, op->minv);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 1, there, &result));
  *bound = static_cast<PetscReal>(result);
  PetscCall(CAMGFree(stream, root));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ transfers, and the coarsest level */

template <int lanes>
static __global__ void TransferKernel(const __grid_constant__ CAMGMatrix P, const double *__restrict__ rows, const double *__restrict__ columns, bool inverse,
                                      void *a)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= static_cast<PetscInt64>(P.m) * P.rb) return;
  const CAMGRow row(P, g.row);
  const double  sr = rows[g.row];

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    const double sc = columns[row.Column(P.j, t)];

    EncodePutFloat(a, static_cast<PetscInt>(row.At(t)), P.a[row.At(t)] * static_cast<PetscReal>(inverse ? sc * EncodeInverse(sr) : sr * EncodeInverse(sc)));
  }
}

PetscErrorCode LitheCUDACAMGEncodeTransfer(const CAMGMatrix *P, const double rows[], const double columns[], PetscBool inverse, CAMGOperator *t)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(EncodeCreate(stream, P, t));
  t->bits = 32;
  PetscCall(EncodeAllocate(stream, t));
  PetscCall(EncodePattern(stream, P, t));
  CAMG_NUMBERS(P, (TransferKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*P, rows, columns, inverse, t->code)));
  PetscCall(LitheCUDACAMGSlices(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level is small, and goes to the host by rows. M is memory of the host */
PetscErrorCode LitheCUDACAMGGetDense(const CAMGMatrix *A, const double s[], PetscScalar *M)
{
  const PetscInt rb = A->rb, cb = A->cb;
  const size_t   n = static_cast<size_t>(CAMGSize(A)), nz = static_cast<size_t>(A->nz), size = static_cast<size_t>(rb) * cb;
  PetscInt      *i, *j;
  PetscScalar   *a;
  double        *scale;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscMalloc4(n + 1, &i, nz, &j, nz * size, &a, n, &scale));
  PetscCallCUDA(cudaMemcpyAsync(i, A->i, (static_cast<size_t>(A->m) + 1) * sizeof(*i), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaMemcpyAsync(j, A->j, nz * sizeof(*j), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaMemcpyAsync(a, A->a, nz * size * sizeof(*a), cudaMemcpyDeviceToHost, stream));
  PetscCall(CAMGGet(stream, n, s, scale));
  for (PetscInt v = 0; v < A->m; v++) {
    for (PetscInt k = i[v]; k < i[v + 1]; k++) {
      for (PetscInt e = 0; e < rb * cb; e++) {
        const size_t r = static_cast<size_t>(v) * rb + e / cb, c = static_cast<size_t>(j[k]) * cb + e % cb;

        M[r + c * n] += a[static_cast<size_t>(k) * size + e] / static_cast<PetscReal>(scale[r]) / static_cast<PetscReal>(scale[c]);
      }
    }
  }
  PetscCall(PetscFree4(i, j, a, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
