/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Any layout, entry by entry: products with several columns in one sweep over the matrix, products with vectors in
   single precision, transposed products (sums by atomic additions), the diagonal, and the six arrays of the article.
   The layout and the container are tested for each entry; all threads take the same branches.
*/

#include "row.cuh"
#include "../../common/graph.cuh"
#include "../../common/scan.cuh"

/* Columns of x per sweep */
#define VCRS_SWEEP 8

#define VCRS_ROWS_THREADS 128

/*
   Sums over the threads of a row. If a block has a very long row, all threads share the row; otherwise a thread has its
   own row. All threads get the result.
*/
template <bool together>
static __device__ __forceinline__ Number SumThreads(Number a)
{
  if (!together) return a;

  __shared__ Number partial[VCRS_ROWS_THREADS];

  __syncthreads();
  partial[threadIdx.x] = a;
  for (int half = VCRS_ROWS_THREADS / 2; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + half];
  }
  __syncthreads();
  return partial[0];
}

/* The row of a thread, or of a block */
template <bool together>
static __device__ __forceinline__ RowCursor OpenMyRow(const VCRSPlan &p)
{
  if (together) return OpenRow(p, 32 * static_cast<VCRSUnsigned>(p.slices.n) + blockIdx.x);
  const VCRSUnsigned slot = static_cast<VCRSUnsigned>(blockIdx.x) * VCRS_ROWS_THREADS + threadIdx.x;
  RowCursor          c    = OpenRow(p, slot);

  /* a very long row also has an empty place in a slice */
  if (p.layout == MATVCRS_LAYOUT_L3 && c.row >= 0 && (c.step == 1 || (c.length == 0 && IsLongRow(p.longrows.row, p.longrows.n, c.row)))) c.row = -1;
  return c;
}

/* y = sign A x + add; without add, y = A x. The kernel is compiled for up to `columns` columns; ncolumn of them
   exist */
template <int columns, bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS)
  RowsMultKernel(const __grid_constant__ VCRSPlan p, int ncolumn, const Number *__restrict__ x, PetscInt ldx, const Number *add, PetscInt ldadd, Number *y,
                 PetscInt ldy, PetscReal sign)
{
  const RowCursor c     = OpenMyRow<together>(p);
  const PetscInt  first = p.difference ? 1 : 0;
  Number          sum[columns], xref[columns];

  if (c.row < 0) return;
#pragma unroll
  for (int j = 0; j < columns; j++) sum[j] = xref[j] = Number{};
  if (p.difference && c.length > 0) {
    const PetscInt reference = Column(c, 0);

#pragma unroll
    for (int j = 0; j < columns; j++)
      if (j < ncolumn) xref[j] = Read(x + reference + static_cast<PetscInt64>(j) * ldx);
  }

  for (PetscInt k = first + (together ? threadIdx.x : 0); k < c.length; k += together ? VCRS_ROWS_THREADS : 1) {
    const Number  v  = Value(p, c, k);
    const Number *xk = x + Column(c, k);

#pragma unroll
    for (int j = 0; j < columns; j++)
      if (j < ncolumn) {
        const Number xj = Read(xk + static_cast<PetscInt64>(j) * ldx);

        sum[j] = MultiplyAdd(v, p.difference ? xj - xref[j] : xj, sum[j]);
      }
  }
#pragma unroll
  for (int j = 0; j < columns; j++) sum[j] = SumThreads<together>(sum[j]);
  if (together && threadIdx.x > 0) return;

  const int    exponent = IsScaled(p) ? p.decoding.exponent[c.row] : 0;
  const Number sigma    = p.difference && c.length > 0 ? RowSum(p, c.row) : Number{};

#pragma unroll
  for (int j = 0; j < columns; j++)
    if (j < ncolumn) {
      Number *yj = y + c.row + static_cast<PetscInt64>(j) * ldy;

      if (exponent) sum[j] = ScaleByPower(sum[j], exponent);
      if (p.difference && p.sums.kind != VCRS_SIGMA_NONE && c.length > 0) sum[j] = MultiplyAdd(sigma, xref[j], sum[j]);
      *yj = add ? AddSigned(add[c.row + static_cast<PetscInt64>(j) * ldadd], sign, sum[j]) : sum[j];
    }
}

/* y += A^T x, or A^H x, for up to VCRS_SWEEP columns. In the difference form, the reference has the value sigma minus
   the sum of all further entries */
template <bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS)
  RowsMultTransposeKernel(const __grid_constant__ VCRSPlan p, bool hermitian, int ncolumn, const Number *__restrict__ x, PetscInt ldx, Number *y, PetscInt ldy)
{
  const RowCursor c     = OpenMyRow<together>(p);
  const PetscInt  first = p.difference ? 1 : 0;
  Number          xs[VCRS_SWEEP], others = Number{};

  if (c.row < 0 || c.length == 0) return;
#pragma unroll
  for (int j = 0; j < VCRS_SWEEP; j++) xs[j] = j < ncolumn ? Read(x + c.row + static_cast<PetscInt64>(j) * ldx) : Number{};

  const int exponent = IsScaled(p) ? p.decoding.exponent[c.row] : 0;

  for (PetscInt k = first + (together ? threadIdx.x : 0); k < c.length; k += together ? VCRS_ROWS_THREADS : 1) {
    Number  v  = Value(p, c, k);
    Number *yk = y + Column(c, k);

    if (exponent) v = ScaleByPower(v, exponent);
    if (p.difference) others = others + v;
    if (hermitian) v = Conjugate(v);
#pragma unroll
    for (int j = 0; j < VCRS_SWEEP; j++)
      if (j < ncolumn) AtomicAdd(yk + static_cast<PetscInt64>(j) * ldy, MultiplyAdd(v, xs[j], Number{}));
  }
  if (p.difference) {
    others = SumThreads<together>(others);
    if (together && threadIdx.x > 0) return;

    Number  v  = RowSum(p, c.row) - others;
    Number *yk = y + Column(c, 0);

    if (hermitian) v = Conjugate(v);
#pragma unroll
    for (int j = 0; j < VCRS_SWEEP; j++)
      if (j < ncolumn) AtomicAdd(yk + static_cast<PetscInt64>(j) * ldy, MultiplyAdd(v, xs[j], Number{}));
  }
}

template <bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS) RowsGetDiagonalKernel(const __grid_constant__ VCRSPlan p, Number *d)
{
  const RowCursor c     = OpenMyRow<together>(p);
  const PetscInt  first = p.difference ? 1 : 0;
  Number          value = Number{}, others = Number{};

  if (c.row < 0 || c.row >= p.n) return;

  const int  exponent  = IsScaled(p) ? p.decoding.exponent[c.row] : 0;
  const bool reference = p.difference && c.length > 0 && Column(c, 0) == c.row;

  for (PetscInt k = first + (together ? threadIdx.x : 0); k < c.length; k += together ? VCRS_ROWS_THREADS : 1) {
    if (reference) others = others + Value(p, c, k);
    else if (Column(c, k) == c.row) value = Value(p, c, k);
  }
  /* at most one thread has found the diagonal entry */
  value = SumThreads<together>(reference ? others : value);
  if (together && threadIdx.x > 0) return;
  if (exponent) value = ScaleByPower(value, exponent);
  d[c.row] = reference ? RowSum(p, c.row) - value : value;
}

/*
   Properties of all entries: the longest row, and the largest distances right and left of the diagonal. Further,
   whether an off-diagonal entry is negative or NaN, or any entry has an imaginary part.
*/
template <bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS) RowsScanKernel(const __grid_constant__ VCRSPlan p, int *scan)
{
  const RowCursor c      = OpenMyRow<together>(p);
  const PetscInt  first  = p.difference ? 1 : 0;
  Number          others = Number{};
  int             right = 0, left = 0, bad = 0;

  if (c.row >= 0) {
    const int exponent = IsScaled(p) ? p.decoding.exponent[c.row] : 0;
    auto      look     = [&](PetscInt column, Number v) {
      right = max(right, static_cast<int>(column - c.row));
      left  = max(left, static_cast<int>(c.row - column));
#if defined(PETSC_USE_COMPLEX)
      if (v.im != 0) bad = 1;
      if (column != c.row && !(v.re >= 0 && !isinf(v.re))) bad = 1;
#else
      if (column != c.row && !(v >= 0 && !isinf(v))) bad = 1;
#endif
    };

    for (PetscInt k = first + (together ? threadIdx.x : 0); k < c.length; k += together ? VCRS_ROWS_THREADS : 1) {
      Number v = Value(p, c, k);

      if (exponent) v = ScaleByPower(v, exponent);
      if (p.difference) others = others + v;
      look(Column(c, k), v);
    }
    if (p.difference) {
      others = SumThreads<together>(others);
      if (c.length > 0 && (!together || threadIdx.x == 0)) look(Column(c, 0), RowSum(p, c.row) - others);
    }
  }
  const int mine[4] = {c.row >= 0 ? static_cast<int>(c.length) : 0, right, left, bad};

  for (int q = 0; q < 4; q++) {
    int most = mine[q];

    for (int d = 16; d; d /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, d));
    if (threadIdx.x % 32 == 0 && most) atomicMax(scan + q, most);
  }
}

/* Without begin, counts the entries of each row including a stored diagonal, to i[row]. With begin, writes the
   entries */
template <bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS)
  RowsDecodeKernel(const __grid_constant__ VCRSPlan p, const PetscInt *begin, PetscInt *i, PetscInt *__restrict__ j, Number *__restrict__ a)
{
  const RowCursor c = OpenMyRow<together>(p);

  if (c.row < 0) return;
  if (!begin) {
    if (!together || threadIdx.x == 0) i[c.row] = c.length;
    return;
  }

  const int exponent = IsScaled(p) ? p.decoding.exponent[c.row] : 0;

  for (PetscInt k = together ? threadIdx.x : 0; k < c.length; k += together ? VCRS_ROWS_THREADS : 1) {
    const Number v = Value(p, c, k);

    j[begin[c.row] + k] = Column(c, k);
    a[begin[c.row] + k] = exponent ? ScaleByPower(v, exponent) : v;
  }
}

/* A thread per row in the main part of the layout; very long rows have separate blocks */
static unsigned int RowsBlocks(const VCRSPlan *p)
{
  const PetscInt64 n = p->layout == MATVCRS_LAYOUT_L3 ? 32 * static_cast<PetscInt64>(p->slices.n) : p->m;

  return static_cast<unsigned int>((n + VCRS_ROWS_THREADS - 1) / VCRS_ROWS_THREADS);
}

PetscErrorCode VCRSRowsMult(const VCRSPlan *p, PetscInt nrhs, const PetscScalar *x, PetscInt ldx, const PetscScalar *add, PetscInt ldadd, PetscScalar *y,
                            PetscInt ldy, PetscReal sign, cudaStream_t stream)
{
  const unsigned int blocks = RowsBlocks(p), nlong = static_cast<unsigned int>(p->longrows.n);

  PetscFunctionBegin;
  for (PetscInt j = 0; j < nrhs; j += VCRS_SWEEP) {
    const int     n    = static_cast<int>(PetscMin(nrhs - j, VCRS_SWEEP));
    const Number *xj   = reinterpret_cast<const Number *>(x) + static_cast<PetscInt64>(j) * ldx,
                 *addj = add ? reinterpret_cast<const Number *>(add) + static_cast<PetscInt64>(j) * ldadd : NULL;
    Number *yj         = reinterpret_cast<Number *>(y) + static_cast<PetscInt64>(j) * ldy;

    if (n == 1) RowsMultKernel<1, false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, n, xj, ldx, addj, ldadd, yj, ldy, sign);
    else RowsMultKernel<VCRS_SWEEP, false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, n, xj, ldx, addj, ldadd, yj, ldy, sign);
    if (nlong) RowsMultKernel<VCRS_SWEEP, true><<<nlong, VCRS_ROWS_THREADS, 0, stream>>>(*p, n, xj, ldx, addj, ldadd, yj, ldy, sign);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsMultOne(const VCRSLaunch *, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  PetscFunctionBegin;
  PetscCall(VCRSRowsMult(p, 1, reinterpret_cast<const PetscScalar *>(v->x), 0, reinterpret_cast<const PetscScalar *>(v->add), 0,
                         reinterpret_cast<PetscScalar *>(v->y), 0, v->sign, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Accepts the arrays of the article, and grouped columns on devices without the kernel of groups.cu */
static PetscErrorCode RowsPrepare(VCRSLaunch *, const VCRSPlan *, VCRSPlan *p, bool *runs)
{
  PetscFunctionBegin;
  *runs = p->layout == MATVCRS_LAYOUT_LITERAL || (p->layout == MATVCRS_LAYOUT_L3 && p->grouped);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelRows = {"rows", RowsPrepare, RowsMultOne};

PetscErrorCode VCRSRowsMultTranspose(const VCRSPlan *p, PetscBool hermitian, PetscInt nrhs, const PetscScalar *x, PetscInt ldx, PetscScalar *y, PetscInt ldy,
                                     cudaStream_t stream)
{
  const unsigned int blocks = RowsBlocks(p), nlong = static_cast<unsigned int>(p->longrows.n);

  PetscFunctionBegin;
  for (PetscInt j = 0; j < nrhs; j += VCRS_SWEEP) {
    const int     n  = static_cast<int>(PetscMin(nrhs - j, VCRS_SWEEP));
    const Number *xj = reinterpret_cast<const Number *>(x) + static_cast<PetscInt64>(j) * ldx;
    Number       *yj = reinterpret_cast<Number *>(y) + static_cast<PetscInt64>(j) * ldy;

    RowsMultTransposeKernel<false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, hermitian ? true : false, n, xj, ldx, yj, ldy);
    if (nlong) RowsMultTransposeKernel<true><<<nlong, VCRS_ROWS_THREADS, 0, stream>>>(*p, hermitian ? true : false, n, xj, ldx, yj, ldy);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSRowsGetDiagonal(const VCRSPlan *p, PetscScalar *d, cudaStream_t stream)
{
  PetscFunctionBegin;
  RowsGetDiagonalKernel<false><<<RowsBlocks(p), VCRS_ROWS_THREADS, 0, stream>>>(*p, reinterpret_cast<Number *>(d));
  if (p->longrows.n) RowsGetDiagonalKernel<true><<<static_cast<unsigned int>(p->longrows.n), VCRS_ROWS_THREADS, 0, stream>>>(*p, reinterpret_cast<Number *>(d));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSRowsScan(const VCRSPlan *p, int scan[4], cudaStream_t stream)
{
  int *dscan;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&dscan), 4 * sizeof(*dscan)));
  PetscCallCUDA(cudaMemsetAsync(dscan, 0, 4 * sizeof(*dscan), stream));
  RowsScanKernel<false><<<RowsBlocks(p), VCRS_ROWS_THREADS, 0, stream>>>(*p, dscan);
  if (p->longrows.n) RowsScanKernel<true><<<static_cast<unsigned int>(p->longrows.n), VCRS_ROWS_THREADS, 0, stream>>>(*p, dscan);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(scan, dscan, 4 * sizeof(*dscan), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(dscan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSRowsDecode(const VCRSPlan *p, PetscInt *i, PetscInt *j, PetscScalar *a, cudaStream_t stream)
{
  const unsigned int blocks = RowsBlocks(p), nlong = static_cast<unsigned int>(p->longrows.n);
  Number            *values = reinterpret_cast<Number *>(a);
  size_t             bytes  = 0;
  void              *work;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(i, 0, (static_cast<size_t>(p->m) + 1) * sizeof(*i), stream));
  RowsDecodeKernel<false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, nullptr, i, j, values);
  if (nlong) RowsDecodeKernel<true><<<nlong, VCRS_ROWS_THREADS, 0, stream>>>(*p, nullptr, i, j, values);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(LitheScan(nullptr, &bytes, i, static_cast<PetscInt64>(p->m) + 1, stream));
  PetscCallCUDA(cudaMalloc(&work, bytes));
  PetscCallCUDA(LitheScan(work, &bytes, i, static_cast<PetscInt64>(p->m) + 1, stream));
  RowsDecodeKernel<false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, i, i, j, values);
  if (nlong) RowsDecodeKernel<true><<<nlong, VCRS_ROWS_THREADS, 0, stream>>>(*p, i, i, j, values);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
