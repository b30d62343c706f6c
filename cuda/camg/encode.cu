/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Codes of levels and transfers, on a device: src/pc/camg/encode.c */

#include "bound.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define ENCODE_CHANGE 0.25

/* ------------------------------------------------------------ scales */

template <int lanes>
static __global__ void ScalesKernel(const __grid_constant__ CAMGMatrix A, double *__restrict__ s)
{
  const CAMGGroupOf<lanes> g;
  double                   d = 0, most = 0;
  int                      exponent;

  if (g.row >= A.m) return;
  for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes) {
    const double a = static_cast<double>(CAMGAbs(A.a[k]));

    if (A.j[k] == g.row) d += a;
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
  CAMG_ROWS(A, (ScalesKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ codes */

/* The largest modulus of scaled entries outside the diagonal, as bits */
template <int lanes>
static __global__ void EncodeMost(const __grid_constant__ CAMGMatrix A, const double *__restrict__ s, unsigned long long *most)
{
  const CAMGGroupOf<lanes> g;
  double                   mine = 0;

  if (g.row < A.m) {
    for (PetscInt k = A.i[g.row] + g.lane; k < A.i[g.row + 1]; k += lanes) {
      const PetscInt c = A.j[k];
      const double   a = c == g.row ? 0 : static_cast<double>(CAMGAbs(A.a[k])) / s[g.row] / s[c];

      if (a > mine) mine = a;
    }
  }
  __syncwarp();
  mine = CAMGLargest<32>(0xffffffffu, mine);
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

/* fill false: sizes of rows, else entries */
template <int lanes, bool fill>
static __global__ void EncodeKernel(const __grid_constant__ CAMGMatrix A, const double *__restrict__ s, bool sums, const __grid_constant__ CAMGOperator op)
{
  const CAMGGroupOf<lanes> g;
  const int                shift = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
  PetscScalar              d = 0, error = 0;
  double                   size = 0;

  if (g.row >= A.m) return;
  const PetscInt begin = A.i[g.row], end = A.i[g.row + 1];
  const double   sr = s[g.row];
  int            at = fill ? op.i[g.row] : 0;

  for (PetscInt base = begin; base < end; base += lanes) {
    const PetscInt k = base + g.lane, c = k < end ? A.j[k] : static_cast<PetscInt>(g.row);
    const double   sc = s[c];
    PetscScalar    v = 0, q = 0, own = 0, wrong = 0;
    double         part = 0;

    if (k < end) v = A.a[k] / static_cast<PetscReal>(sr) / static_cast<PetscReal>(sc);
    if (c == g.row) own = v;
    else q = EncodeNumber(op, 0, v, false);
    const unsigned int all = __ballot_sync(g.mask, !CAMGIsZero(q)) >> shift & g.mask >> shift;

    if constexpr (fill) {
      if (c != g.row) {
        wrong = (v - q) * static_cast<PetscReal>(sc / sr);
        part  = static_cast<double>(CAMGAbs(q)) * sc / sr;
      }
      if (!CAMGIsZero(q)) {
        const int p = at + __popc(all & ((1u << g.lane) - 1));

        op.j[p] = c;
        (void)EncodeNumber(op, p, v, true);
      }
      CAMGAddOrdered<lanes>(g.mask, wrong, &error);
      CAMGAddOrdered<lanes>(g.mask, part, &size);
      CAMGAddOrdered<lanes>(g.mask, own, &d);
    }
    at += __popc(all);
  }
  if (g.lane) return;
  if constexpr (fill) {
    if (sums && CAMGAbs(error) <= static_cast<PetscReal>(ENCODE_CHANGE) * CAMGAbs(d)) d += error;
    EncodePutFloat(op.d, static_cast<PetscInt>(g.row), d);
    op.minv[g.row] = static_cast<float>(size + static_cast<double>(CAMGAbs(d)));
  } else op.i[g.row] = at;
}

/* The matrix for Lanczos' method */
template <int lanes>
struct EncodedMatrix {
  CAMGOperator op;

  __device__ __forceinline__ PetscReal Part(int k) const
  {
    if (op.bits == 8) return CAMGDecode8(static_cast<const uint8_t *>(op.code)[k]);
    if (op.bits == 16) return CAMGDecode16(static_cast<const uint16_t *>(op.code)[k]);
    return static_cast<const float *>(op.code)[k];
  }
  __device__ __forceinline__ PetscScalar Sum(PetscInt r, int lane, const PetscScalar *__restrict__ x) const
  {
    PetscScalar sum = 0;

  #if PetscDefined(USE_COMPLEX)
    if (lane == 0) sum = PetscScalar(static_cast<const float *>(op.d)[2 * r], static_cast<const float *>(op.d)[2 * r + 1]) * x[r];
    for (int k = op.i[r] + lane; k < op.i[r + 1]; k += lanes) sum += PetscScalar(Part(2 * k), Part(2 * k + 1)) * x[op.j[k]];
  #else
    if (lane == 0) sum = static_cast<const float *>(op.d)[r] * x[r];
    for (int k = op.i[r] + lane; k < op.i[r + 1]; k += lanes) sum += Part(k) * x[op.j[k]];
  #endif
    return sum;
  }
};

static __global__ void EncodeRoots(int n, const float *__restrict__ sum, PetscReal *__restrict__ root)
{
  CAMG_FOR_ALL(r, n)
  root[r] = sum[r] > 0 ? 1 / sqrt(static_cast<PetscReal>(sum[r])) : 0;
}

static __global__ void EncodeInverse(int n, const double *__restrict__ bound, float *__restrict__ minv)
{
  CAMG_FOR_ALL(r, n)
  minv[r] = minv[r] > 0 ? static_cast<float>(1 / (*bound * minv[r])) : 0;
}

/* Bits that hold all entries */
static PetscErrorCode EncodeBits(cudaStream_t stream, const CAMGMatrix *A, const double s[], int *bits)
{
  unsigned long long *there, number;
  double              most;

  PetscFunctionBegin;
  if (*bits > 16) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CAMGZeros(stream, 1, &there));
  CAMG_ROWS(A, (EncodeMost<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, there)));
  PetscCall(CAMGGet(stream, 1, there, &number));
  PetscCall(CAMGFree(stream, there));
  PetscCall(PetscMemcpy(&most, &number, sizeof(most)));
  if (*bits == 8 && most > CAMG_MOST8) *bits = 16;
  if (*bits == 16 && most > CAMG_MOST16) *bits = 32;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The room for entries is that of A */
PetscErrorCode LitheCUDACAMGEncode(const CAMGMatrix *A, const double s[], PetscInt bits, PetscBool sums, CAMGOperator *op, PetscReal *bound)
{
  const size_t nz = static_cast<size_t>(A->nz), n = static_cast<size_t>(A->m);
  PetscReal   *root;
  char        *code;
  float       *d;
  cudaStream_t stream;
  struct Result {
    double bound;
    int    nz;
  } * there, result;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  op->n    = static_cast<int>(A->m);
  op->bits = static_cast<int>(bits);
  PetscCall(EncodeBits(stream, A, s, &op->bits));
  PetscCall(CAMGAllocate(stream, n + 1, &op->i));
  PetscCall(CAMGAllocate(stream, nz, &op->j));
  PetscCall(CAMGAllocate(stream, nz * CAMG_PARTS * static_cast<size_t>(op->bits) / 8, &code));
  PetscCall(CAMGAllocate(stream, n * CAMG_PARTS, &d));
  PetscCall(CAMGAllocate(stream, n, &op->minv));
  PetscCall(CAMGAllocate(stream, n, &root));
  PetscCall(CAMGAllocate(stream, 1, &there));
  op->code = code;
  op->d    = d;
  CAMG_ROWS(A, (EncodeKernel<lanes, false><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, sums, *op)));
  PetscCall(CAMGScan(stream, A->m, op->i));
  CAMG_ROWS(A, (EncodeKernel<lanes, true><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, sums, *op)));
  EncodeRoots<<<CAMGBlocks(op->n), CAMG_THREADS, 0, stream>>>(op->n, op->minv, root);
  if (A->nz <= CAMG_SHORT * static_cast<PetscInt64>(A->m)) PetscCall(CAMGBound<CAMG_LANES>(stream, EncodedMatrix<CAMG_LANES>{*op}, A->m, root, &there->bound));
  else PetscCall(CAMGBound<32>(stream, EncodedMatrix<32>{*op}, A->m, root, &there->bound));
  EncodeInverse<<<CAMGBlocks(op->n), CAMG_THREADS, 0, stream>>>(op->n, &there->bound, op->minv);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(&there->nz, op->i + n, sizeof(int), cudaMemcpyDeviceToDevice, stream));
  PetscCall(CAMGGet(stream, 1, there, &result));
  op->nz = result.nz;
  *bound = static_cast<PetscReal>(result.bound);
  PetscCall(CAMGFree(stream, root));
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ transfers, and the coarsest level */

template <int lanes>
static __global__ void EncodeTransferKernel(const __grid_constant__ CAMGMatrix P, const double *__restrict__ rows, const double *__restrict__ columns,
                                            bool inverse, void *a)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= P.m) return;
  for (PetscInt k = P.i[g.row] + g.lane; k < P.i[g.row + 1]; k += lanes) {
    const double factor = inverse ? columns[P.j[k]] / rows[g.row] : rows[g.row] / columns[P.j[k]];

    EncodePutFloat(a, k, P.a[k] * static_cast<PetscReal>(factor));
  }
}

PetscErrorCode LitheCUDACAMGEncodeTransfer(const CAMGMatrix *P, const double rows[], const double columns[], PetscBool inverse, CAMGTransfer *t)
{
  const size_t nz = static_cast<size_t>(P->nz);
  float       *a;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  t->m  = static_cast<int>(P->m);
  t->n  = static_cast<int>(P->n);
  t->nz = static_cast<int>(P->nz);
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->m) + 1, &t->i));
  PetscCall(CAMGAllocate(stream, nz, &t->j));
  PetscCall(CAMGAllocate(stream, nz * CAMG_PARTS, &a));
  t->a = a;
  PetscCallCUDA(cudaMemcpyAsync(t->i, P->i, (static_cast<size_t>(P->m) + 1) * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  PetscCallCUDA(cudaMemcpyAsync(t->j, P->j, nz * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  CAMG_ROWS(P, (EncodeTransferKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*P, rows, columns, inverse, a)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level is small, and goes to the host by rows. M is memory of the host */
PetscErrorCode LitheCUDACAMGGetDense(const CAMGMatrix *A, const double s[], PetscScalar *M)
{
  const size_t n = static_cast<size_t>(A->m), nz = static_cast<size_t>(A->nz);
  PetscInt    *i, *j;
  PetscScalar *a;
  double      *scale;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscMalloc4(n + 1, &i, nz, &j, nz, &a, n, &scale));
  PetscCallCUDA(cudaMemcpyAsync(i, A->i, (n + 1) * sizeof(*i), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaMemcpyAsync(j, A->j, nz * sizeof(*j), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaMemcpyAsync(a, A->a, nz * sizeof(*a), cudaMemcpyDeviceToHost, stream));
  PetscCall(CAMGGet(stream, n, s, scale));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++)
      M[static_cast<size_t>(r) + static_cast<size_t>(j[k]) * n] += a[k] / static_cast<PetscReal>(scale[r]) / static_cast<PetscReal>(scale[j[k]]);
  }
  PetscCall(PetscFree4(i, j, a, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
