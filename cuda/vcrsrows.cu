/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Any layout, entry by entry: products with several columns in one sweep over the matrix, transposed
   products (sums by atomic additions), the diagonal, and the article's six arrays. Layout and
   container are looked at for each entry; the branches are the same in all threads.
*/

#include "vcrs.cuh"

/* Columns of x that one sweep takes */
#define VCRS_SWEEP 8

#define VCRS_ROWS_THREADS 128

/* A row of the matrix wherever it lies */
struct RowCursor {
  PetscInt        row, length; /* row -1: none */
  const PetscInt *column;      /* column k is base + column[k] */
  PetscInt        base;
  const uint8_t  *packed; /* + the integer of width bytes at packed[32 k width], if packed */
  int             width;
  const uint16_t *group; /* column k is base + that of number packed[64 k] in these groups, if group */
  const Number   *direct; /* value k is direct[k], if direct */
  PetscInt64      position; /* else it lies at position + step (k - first) of value[] */
  int             step;
};

static __device__ RowCursor OpenRow(const VCRSPlan &p, VCRSUnsigned slot)
{
  RowCursor      c = RowCursor{};
  const PetscInt first = p.difference ? 1 : 0;

  c.row = -1;
  if (p.layout == MATVCRS_LAYOUT_L3) {
    const PetscInt64 nlane = 32 * static_cast<PetscInt64>(p.nslices), s = slot / 32;

    if (static_cast<PetscInt64>(slot) < nlane) {
      const PetscInt64 row = p.rowperm ? s / (VCRS_WINDOW / 32) * VCRS_WINDOW + p.rowperm[slot] : slot;

      if (row >= p.m) return c;
      c.row      = static_cast<PetscInt>(row);
      c.length   = p.rowlength[slot];
      if (p.grouped) {
        const PetscInt64 w = s / (VCRS_WINDOW / 32);

        c.group  = p.group + p.groupptr[w];
        c.base   = VCRS_GROUP * p.groupfirst[w];
        c.packed = p.coloffset + (32 * VCRSColumnBase(&p, s) + slot % 32) * sizeof(uint16_t);
      } else {
        c.column = p.colbase + VCRSColumnBase(&p, s);
        c.width  = p.slicewidth[s];
        c.packed = p.coloffset + p.sliceoffset[s] + slot % 32 * c.width;
      }
      c.position = p.sliceptr[s] + slot % 32;
      c.step     = 32;
    } else if (static_cast<PetscInt64>(slot) - nlane < p.nlong) {
      const PetscInt q = static_cast<PetscInt>(slot - nlane);

      c.row      = p.longrow[q];
      c.length   = static_cast<PetscInt>(p.longptr[q + 1] - p.longptr[q]);
      c.column   = p.longcol + p.longptr[q];
      c.position = p.longvalue + p.longptr[q] + first;
      c.step     = 1;
    }
    return c;
  }

  if (slot >= static_cast<VCRSUnsigned>(p.m)) return c;
  c.row = static_cast<PetscInt>(slot);
  if (p.layout == MATVCRS_LAYOUT_LITERAL) {
    c.length = p.length[slot];
    c.base   = p.first[slot];
    c.column = p.literalidx + p.idxptr[slot];
    c.direct = reinterpret_cast<const Number *>(p.literaldata) + p.dataptr[slot];
  } else {
    const PetscInt id = ReadId(p.id, static_cast<int>(p.idbytes), slot), start = p.setptr[id];

    c.length = p.setptr[id + 1] - start;
    c.base   = c.row;
    c.column = p.setoffset + start;
    if (p.layout == MATVCRS_LAYOUT_L0) c.direct = reinterpret_cast<const Number *>(p.setvalue) + start;
    else {
      c.position = p.sliceptr[slot / 32] + slot % 32;
      c.step     = 32;
    }
  }
  return c;
}

static __device__ __forceinline__ PetscInt Column(const RowCursor &c, PetscInt k)
{
  if (c.group) {
    const uint16_t number = reinterpret_cast<const uint16_t *>(c.packed)[32 * static_cast<PetscInt64>(k)];

    return c.base + VCRS_GROUP * static_cast<PetscInt>(c.group[number / VCRS_GROUP]) + number % VCRS_GROUP;
  }

  const PetscInt column = c.base + c.column[k];

  if (!c.packed) return column;
  const uint8_t *p = c.packed + 32 * static_cast<PetscInt64>(k) * c.width;

  if (c.width == 1) return column + *p;
  if (c.width == 2) return column + *reinterpret_cast<const uint16_t *>(p);
  if (sizeof(PetscInt) == 4 || c.width == 4) return column + static_cast<PetscInt>(*reinterpret_cast<const uint32_t *>(p));
  return column + static_cast<PetscInt>(*reinterpret_cast<const uint64_t *>(p));
}

/* A component of a coded entry */
template <class Code>
static __device__ __forceinline__ Number Pack(const Code *c)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{static_cast<PetscReal>(c[0]), static_cast<PetscReal>(c[1])};
#else
  return static_cast<PetscReal>(c[0]);
#endif
}

static __device__ __forceinline__ PetscReal Logarithmic(const VCRSPlan &p, unsigned int c)
{
  return p.values == VCRS_VALUES_LOG8 ? p.logcoarse[c] : p.logcoarse[c >> 8] * p.logfine[c & 255u];
}

/* Value k >= first, without the row's power of two */
static __device__ Number Value(const VCRSPlan &p, const RowCursor &c, PetscInt k)
{
  if (c.direct) return Read(c.direct + k);
  const PetscInt64 at = c.position + c.step * static_cast<PetscInt64>(k - (p.difference ? 1 : 0)), component = VCRS_COMPONENTS * at;

  switch (p.values) {
  case VCRS_VALUES_SINGLE:
    return Pack(static_cast<const float *>(p.value) + component);
  case VCRS_VALUES_DICT8:
    return Read(reinterpret_cast<const Number *>(p.dict) + static_cast<const uint8_t *>(p.value)[at]);
  case VCRS_VALUES_DICT16:
    return Read(reinterpret_cast<const Number *>(p.dict) + static_cast<const uint16_t *>(p.value)[at]);
  case VCRS_VALUES_LOG8:
  case VCRS_VALUES_LOG16: {
    PetscReal v[2];

    for (int q = 0; q < VCRS_COMPONENTS; q++) v[q] = Logarithmic(p, p.values == VCRS_VALUES_LOG8 ? static_cast<const uint8_t *>(p.value)[component + q] : static_cast<const uint16_t *>(p.value)[component + q]);
    return Pack(v);
  }
  case VCRS_VALUES_FIXED8:
    return Pack(static_cast<const int8_t *>(p.value) + component);
  case VCRS_VALUES_FIXED16:
    return Pack(static_cast<const int16_t *>(p.value) + component);
  default:
    return Read(static_cast<const Number *>(p.value) + at);
  }
}

static __device__ __forceinline__ bool IsScaled(const VCRSPlan &p)
{
  return p.values == VCRS_VALUES_FIXED8 || p.values == VCRS_VALUES_FIXED16;
}

static __device__ __forceinline__ Number RowSum(const VCRSPlan &p, PetscInt row)
{
  SigmaArguments s;

  s.kind  = p.sigmakind;
  s.sigma = reinterpret_cast<const Number *>(p.sigma);
  s.mask  = p.sigmamask;
  s.ptr   = p.sigmaptr;
  return ReadSigma(s, row);
}

/*
   Threads of a block that share one row: all of them where a block has a very long row, else one.
   Sums of a over them; all get the result.
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
  if (together) return OpenRow(p, 32 * static_cast<VCRSUnsigned>(p.nslices) + blockIdx.x);
  const VCRSUnsigned slot = static_cast<VCRSUnsigned>(blockIdx.x) * VCRS_ROWS_THREADS + threadIdx.x;
  RowCursor          c    = OpenRow(p, slot);

  /* a very long row stands in a slice too, with no entry, and apart */
  if (p.layout == MATVCRS_LAYOUT_L3 && c.row >= 0 && (c.step == 1 || (c.length == 0 && IsLongRow(p.longrow, p.nlong, c.row)))) c.row = -1;
  return c;
}

/* y = A x + add for up to columns columns, ncolumn of them there */
template <int columns, bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS) RowsMultKernel(const __grid_constant__ VCRSPlan p, int ncolumn, const Number *__restrict__ x, PetscInt ldx, const Number *add, PetscInt ldadd, Number *y, PetscInt ldy)
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

  const int    exponent = IsScaled(p) ? p.exponent[c.row] : 0;
  const Number sigma    = p.difference && c.length > 0 ? RowSum(p, c.row) : Number{};

#pragma unroll
  for (int j = 0; j < columns; j++)
    if (j < ncolumn) {
      Number *yj = y + c.row + static_cast<PetscInt64>(j) * ldy;

      if (exponent) sum[j] = ScaleByPower(sum[j], exponent);
      if (p.difference && p.sigmakind != VCRS_SIGMA_NONE && c.length > 0) sum[j] = MultiplyAdd(sigma, xref[j], sum[j]);
      *yj = add ? add[c.row + static_cast<PetscInt64>(j) * ldadd] + sum[j] : sum[j];
    }
}

/* y += A^T x, or A^H x, for up to VCRS_SWEEP columns. In the difference form the reference has the value sigma - sum of the others */
template <bool together>
static __global__ void __launch_bounds__(VCRS_ROWS_THREADS) RowsMultTransposeKernel(const __grid_constant__ VCRSPlan p, bool hermitian, int ncolumn, const Number *__restrict__ x, PetscInt ldx, Number *y, PetscInt ldy)
{
  const RowCursor c     = OpenMyRow<together>(p);
  const PetscInt  first = p.difference ? 1 : 0;
  Number          xs[VCRS_SWEEP], others = Number{};

  if (c.row < 0 || c.length == 0) return;
#pragma unroll
  for (int j = 0; j < VCRS_SWEEP; j++) xs[j] = j < ncolumn ? Read(x + c.row + static_cast<PetscInt64>(j) * ldx) : Number{};

  const int exponent = IsScaled(p) ? p.exponent[c.row] : 0;

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

  const int  exponent  = IsScaled(p) ? p.exponent[c.row] : 0;
  const bool reference = p.difference && c.length > 0 && Column(c, 0) == c.row;

  for (PetscInt k = first + (together ? threadIdx.x : 0); k < c.length; k += together ? VCRS_ROWS_THREADS : 1) {
    if (reference) others = others + Value(p, c, k);
    else if (Column(c, k) == c.row) value = Value(p, c, k);
  }
  /* at most one thread has found the entry */
  value = SumThreads<together>(reference ? others : value);
  if (together && threadIdx.x > 0) return;
  if (exponent) value = ScaleByPower(value, exponent);
  d[c.row] = reference ? RowSum(p, c.row) - value : value;
}

/* One thread for each row of the layout's main part; very long rows have blocks of their own */
static unsigned int RowsBlocks(const VCRSPlan *p)
{
  const PetscInt64 n = p->layout == MATVCRS_LAYOUT_L3 ? 32 * static_cast<PetscInt64>(p->nslices) : p->m;

  return static_cast<unsigned int>((n + VCRS_ROWS_THREADS - 1) / VCRS_ROWS_THREADS);
}

PetscErrorCode VCRSRowsMult(const VCRSPlan *p, PetscInt nrhs, const PetscScalar *x, PetscInt ldx, const PetscScalar *add, PetscInt ldadd, PetscScalar *y, PetscInt ldy, cudaStream_t stream)
{
  const unsigned int blocks = RowsBlocks(p), nlong = static_cast<unsigned int>(p->nlong);

  PetscFunctionBegin;
  for (PetscInt j = 0; j < nrhs; j += VCRS_SWEEP) {
    const int     n  = static_cast<int>(PetscMin(nrhs - j, VCRS_SWEEP));
    const Number *xj = reinterpret_cast<const Number *>(x) + static_cast<PetscInt64>(j) * ldx, *addj = add ? reinterpret_cast<const Number *>(add) + static_cast<PetscInt64>(j) * ldadd : NULL;
    Number       *yj = reinterpret_cast<Number *>(y) + static_cast<PetscInt64>(j) * ldy;

    if (n == 1) RowsMultKernel<1, false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, n, xj, ldx, addj, ldadd, yj, ldy);
    else RowsMultKernel<VCRS_SWEEP, false><<<blocks, VCRS_ROWS_THREADS, 0, stream>>>(*p, n, xj, ldx, addj, ldadd, yj, ldy);
    if (nlong) RowsMultKernel<VCRS_SWEEP, true><<<nlong, VCRS_ROWS_THREADS, 0, stream>>>(*p, n, xj, ldx, addj, ldadd, yj, ldy);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSRowsMultTranspose(const VCRSPlan *p, PetscBool hermitian, PetscInt nrhs, const PetscScalar *x, PetscInt ldx, PetscScalar *y, PetscInt ldy, cudaStream_t stream)
{
  const unsigned int blocks = RowsBlocks(p), nlong = static_cast<unsigned int>(p->nlong);

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
  if (p->nlong) RowsGetDiagonalKernel<true><<<static_cast<unsigned int>(p->nlong), VCRS_ROWS_THREADS, 0, stream>>>(*p, reinterpret_cast<Number *>(d));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
