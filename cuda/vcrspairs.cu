/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L0: an id per row names a pair (index set, value set).

   A row costs its id, one entry of y and, if the caches do their work, one entry of x. What binds is
   not the device memory then but the entries of x that go from L2 to L1 and from there to registers: 7
   or 27 a row. Therefore a thread works on several rows at distance stride, a distance at which the
   common index set meets itself again (a plane of the grid, say): for each triple of offsets
   {b - stride, b, b + stride} it reads rows + 2 entries of x instead of 3 rows.

   A warp takes the first of these ways that all its rows allow:
     1. all rows have the common pair: offsets and values are parameters of the kernel
     2. all rows have a part of the common pair, and maybe another diagonal entry: boundaries
     3. all rows have a part of the common index set, each thread's rows are the same pair: other media
     4. rows one by one from the tables
*/

#include "vcrs.cuh"

/*
   How many rows a thread has, how many blocks a multiprocessor, and up to how many triples are
   unrolled: measured, see docs/kernels.md. Registers decide; complex numbers take twice as many.
*/
#if defined(PETSC_USE_COMPLEX)
static constexpr int PairsRows = 3, PairsBlocks = 8, PairsUnroll = 1;
#else
static constexpr int PairsRows = 4, PairsBlocks = 12, PairsUnroll = 9;
#endif

struct PairsArguments : MultArguments {
  PetscInt        m;
  PetscInt        stride, line;
  PetscInt        common; /* id, -1: none */
  int             idbytes;
  int             ntriple, nsingle;
  PetscInt        offset[VCRS_WORD_ENTRIES];
  Number          value[VCRS_WORD_ENTRIES];
  int             order[VCRS_WORD_ENTRIES];
  uint32_t        below[VCRS_WORD_ENTRIES];
  const void     *id;
  const PetscInt *setptr, *setoffset;
  const Number   *setvalue;
  const uint32_t *word, *shape;
  const Number   *setdiagonal;
};

/* sum over the common index set for the thread's rows; value(k) is that of the k-th reordered entry */
template <int rows, int triples, int singles, class F>
static __device__ __forceinline__ void SumCommon(const PairsArguments &a, const Number *x, F value, Number sum[rows])
{
  const int ntriple = triples < 0 ? a.ntriple : triples, nsingle = singles < 0 ? a.nsingle : singles;

#pragma unroll(triples > 0 && triples <= PairsUnroll ? triples : 1)
  for (int t = 0; t < ntriple; t++) {
    const Number *xt = x + a.offset[3 * t];
    const Number  v0 = value(3 * t), v1 = value(3 * t + 1), v2 = value(3 * t + 2);
    Number        xs[rows + 2];

#pragma unroll
    for (int i = 0; i < rows + 2; i++) xs[i] = Read(xt + i * a.stride);
#pragma unroll
    for (int j = 0; j < rows; j++) sum[j] = MultiplyAdd(v2, xs[j + 2], MultiplyAdd(v1, xs[j + 1], MultiplyAdd(v0, xs[j], sum[j])));
  }

#pragma unroll(singles > 0 && PairsUnroll > 1 ? singles : PairsUnroll > 1 ? 4 : 1)
  for (int q = 0; q < nsingle; q++) {
    const int     k  = 3 * ntriple + q;
    const Number *xq = x + a.offset[k];
    const Number  v  = value(k);

#pragma unroll
    for (int j = 0; j < rows; j++) sum[j] = MultiplyAdd(v, Read(xq + j * a.stride), sum[j]);
  }
}

/* The same where rows have parts of the common set: bit k of word[j] says that row j has its k-th reordered entry */
template <int rows, int triples, int singles, class F>
static __device__ __forceinline__ void SumParts(const PairsArguments &a, const Number *x, const uint32_t word[rows], F value, Number sum[rows])
{
  const int ntriple = triples < 0 ? a.ntriple : triples, nsingle = singles < 0 ? a.nsingle : singles;

#pragma unroll(triples > 0 && triples <= PairsUnroll ? triples : 1)
  for (int t = 0; t < ntriple; t++) {
    const Number *xt = x + a.offset[3 * t];
    Number        xs[rows + 2];

#pragma unroll
    for (int i = 0; i < rows + 2; i++) {
      uint32_t wanted = 0;

      /* x[i] is entry i - j of row j */
#pragma unroll
      for (int j = 0; j < rows; j++)
        if (i - j >= 0 && i - j <= 2) wanted |= word[j] >> (3 * t + i - j) & 1u;
      xs[i] = ReadAnyIf(wanted, xt + i * a.stride);
    }
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const Number v = value(3 * t + k);

#pragma unroll
      for (int j = 0; j < rows; j++)
        if (word[j] >> (3 * t + k) & 1u) sum[j] = MultiplyAdd(v, xs[j + k], sum[j]);
    }
  }

#pragma unroll(singles > 0 && PairsUnroll > 1 ? singles : PairsUnroll > 1 ? 4 : 1)
  for (int q = 0; q < nsingle; q++) {
    const int     k  = 3 * ntriple + q;
    const Number *xq = x + a.offset[k];
    const Number  v  = value(k);
    Number        xs[rows];

#pragma unroll
    for (int j = 0; j < rows; j++) xs[j] = ReadAnyIf(word[j] >> k & 1u, xq + j * a.stride);
#pragma unroll
    for (int j = 0; j < rows; j++)
      if (word[j] >> k & 1u) sum[j] = MultiplyAdd(v, xs[j], sum[j]);
  }
}

/* One row from the tables; entries in batches, so that their reads overlap */
static __device__ __forceinline__ Number SumTable(const PairsArguments &a, PetscInt id, const Number *x)
{
  constexpr int  batch  = 4;
  const PetscInt start  = __ldg(a.setptr + id);
  const int      length = static_cast<int>(__ldg(a.setptr + id + 1) - start);
  const PetscInt *o     = a.setoffset + start;
  const Number   *v     = a.setvalue + start;
  Number          sum   = Number{};

  for (int k0 = 0; k0 < length; k0 += batch) {
    Number   xs[batch], vs[batch];
    PetscInt os[batch];

#pragma unroll
    for (int k = 0; k < batch; k++) {
      os[k] = k0 + k < length ? __ldg(o + k0 + k) : 0;
      vs[k] = ReadAnyIf(k0 + k < length, v + k0 + k);
    }
#pragma unroll
    for (int k = 0; k < batch; k++) xs[k] = ReadAnyIf(k0 + k < length, x + os[k]);
#pragma unroll
    for (int k = 0; k < batch; k++) sum = MultiplyAddIf(k0 + k < length, vs[k], xs[k], sum);
  }
  return sum;
}

/*
   The first of a thread's rows, m if it has none. Where the launch has found lines, a block takes tile
   rows of each of threads / tile neighbouring lines: rows next to each other in two directions share
   entries of x in L1.
*/
template <int rows, int threads, int tile>
static __device__ __forceinline__ VCRSUnsigned PairsGetRow(const PairsArguments &a)
{
  const VCRSUnsigned stride = a.stride;
  VCRSUnsigned       g      = static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x;

  if (tile && a.line) {
    constexpr int      width = tile ? tile : threads, lines = threads / width;
    const VCRSUnsigned line = a.line, across = (line + width - 1) / width, strip = blockIdx.x / across, at = (blockIdx.x - strip * across) * width + threadIdx.x % width;

    if (at >= line) return a.m;
    g = (strip * lines + threadIdx.x / width) * line + at;
  }
  const VCRSUnsigned band = g / stride;

  return band * rows * stride + (g - band * stride);
}

template <int rows, int triples, int singles, int threads, int tile, int blocks>
static __global__ void __launch_bounds__(threads, blocks) PairsKernel(const __grid_constant__ PairsArguments a)
{
  /* unsigned: the last rows * stride rows may reach beyond the largest PetscInt */
  const VCRSUnsigned m = a.m, stride = a.stride, row0 = PairsGetRow<rows, threads, tile>(a);
  const Number  *x    = a.x + row0;
  PetscInt       id[rows];
  Number         sum[rows];
  bool           all = true;

#pragma unroll
  for (int j = 0; j < rows; j++) {
    const VCRSUnsigned row = row0 + j * stride;

    id[j]  = row < m ? ReadId(a.id, a.idbytes, row) : -2;
    sum[j] = Number{};
  }
#pragma unroll
  for (int j = 0; j < rows; j++) all = all && id[j] == a.common;

  if (__all_sync(0xffffffffu, all)) {
    SumCommon<rows, triples, singles>(a, x, [&](int k) { return a.value[k]; }, sum);
  } else {
    uint32_t word[rows];
    bool     part = a.common >= 0;

#pragma unroll
    for (int j = 0; j < rows; j++) {
      word[j] = part && id[j] >= 0 ? __ldg(a.word + id[j]) & ~VCRS_WORD_SAME : 0u;
      part    = part && (id[j] < 0 || word[j]);
    }
    if (__all_sync(0xffffffffu, part)) {
      /* the diagonal is no entry of word: it may be another one */
#pragma unroll
      for (int j = 0; j < rows; j++)
        if (word[j] & VCRS_WORD_DIAGONAL) sum[j] = MultiplyAdd(Read(a.setdiagonal + id[j]), Read(x + j * stride), sum[j]);
      SumParts<rows, triples, singles>(a, x, word, [&](int k) { return a.value[k]; }, sum);
    } else {
      uint32_t shape = id[0] >= 0 && a.common >= 0 ? __ldg(a.shape + id[0]) : 0u;

#pragma unroll
      for (int j = 1; j < rows; j++)
        if (id[j] != id[0]) shape = 0;
      if (__all_sync(0xffffffffu, shape != 0)) {
        const Number *v = a.setvalue + __ldg(a.setptr + id[0]);

#pragma unroll
        for (int j = 0; j < rows; j++) word[j] = shape;
        SumParts<rows, triples, singles>(a, x, word, [&](int k) { return ReadAnyIf(shape >> k & 1u, v + __popc(shape & a.below[k])); }, sum);
      } else {
#pragma unroll 1
        for (int j = 0; j < rows; j++) {
          const VCRSUnsigned row = row0 + j * stride;

          if (row < m) {
            const Number s = SumTable(a, ReadId(a.id, a.idbytes, row), a.x + row);

            a.y[row] = a.add ? a.add[row] + s : s;
          }
        }
        return;
      }
    }
  }
#pragma unroll
  for (int j = 0; j < rows; j++) {
    const VCRSUnsigned row = row0 + j * stride;

    if (row < m) a.y[row] = a.add ? a.add[row] + sum[j] : sum[j];
  }
}

template <int rows, int triples, int singles, int threads, int tile, int blocks>
static PetscErrorCode PairsLaunch(const PairsArguments *a, cudaStream_t stream)
{
  const PetscInt64 bands = (a->m + static_cast<PetscInt64>(rows) * a->stride - 1) / (static_cast<PetscInt64>(rows) * a->stride);
  PetscInt64       n     = (bands * a->stride + threads - 1) / threads;

  PetscFunctionBegin;
  if (tile && a->line) {
    constexpr int    width = tile ? tile : threads, lines = threads / width;
    const PetscInt64 nline = bands * (a->stride / a->line);

    n = ((nline + lines - 1) / lines) * ((a->line + width - 1) / width);
  }
  PairsKernel<rows, triples, singles, threads, tile, blocks><<<static_cast<unsigned int>(n), threads, 0, stream>>>(*a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PairsGetArguments(const VCRSLaunch *l, const VCRSPlan *p, const PetscScalar *x, const PetscScalar *add, PetscScalar *y, PairsArguments *a)
{
  a->x           = reinterpret_cast<const Number *>(x);
  a->add         = reinterpret_cast<const Number *>(add);
  a->y           = reinterpret_cast<Number *>(y);
  a->m           = p->m;
  a->stride      = l->stride;
  a->line        = l->line;
  a->common      = l->id;
  a->idbytes     = static_cast<int>(p->idbytes);
  a->ntriple     = l->ntriple;
  a->nsingle     = l->nsingle;
  a->id          = p->id;
  a->setptr      = p->setptr;
  a->setoffset   = p->setoffset;
  a->setvalue    = reinterpret_cast<const Number *>(p->setvalue);
  a->word        = l->dword;
  a->shape       = l->dshape;
  a->setdiagonal = reinterpret_cast<const Number *>(l->ddiagonal);
  for (int k = 0; k < l->length; k++) {
    a->offset[k] = l->offset[k];
    a->value[k]  = reinterpret_cast<const Number *>(l->value)[k];
    a->order[k]  = l->order[k];
    a->below[k]  = l->below[k];
  }
}

PetscErrorCode VCRSPairsMult(const VCRSLaunch *l, const VCRSPlan *p, const PetscScalar *x, const PetscScalar *add, PetscScalar *y, cudaStream_t stream)
{
  constexpr int  rows = PairsRows, threads = 128, tile = 32, blocks = PairsBlocks;
  PairsArguments a;

  PetscFunctionBegin;
  PairsGetArguments(l, p, x, add, y, &a);
  if (l->ntriple == 1 && l->nsingle == 4) PetscCall((PairsLaunch<rows, 1, 4, threads, tile, blocks>(&a, stream)));
  else if (l->ntriple == 9 && l->nsingle == 0) PetscCall((PairsLaunch<rows, 9, 0, threads, tile, blocks>(&a, stream)));
  else if (l->ntriple == 3 && l->nsingle == 0) PetscCall((PairsLaunch<rows, 3, 0, threads, tile, blocks>(&a, stream)));
  else if (l->ntriple == 1 && l->nsingle == 2) PetscCall((PairsLaunch<rows, 1, 2, threads, tile, blocks>(&a, stream)));
  else PetscCall((PairsLaunch<rows, -1, -1, threads, tile, blocks>(&a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
