/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L0: an id per row names a pair (index set, value set).

   The cost of a row is an id, an entry of y and, with perfect caches, an entry of x. Device memory is then not the
   limit. The limit is the traffic of x from L2 to L1 and to registers: 7 or 27 entries per row. A thread therefore
   works on several rows `stride` apart. For each triple of offsets {b - stride, b, b + stride}, the thread reads rows +
   2 entries of x instead of 3 * rows.

   If the interior of a grid has a single pair, a warp takes the first possible way:
     1. All rows have the common pair: offsets and values are parameters of the kernel.
     2. All rows have a part of the common pair, and perhaps a different diagonal entry: boundaries.
     3. Rows are summed one by one from the tables.

   With several media, only rows with the whole common index set are treated in this way:
     1. All rows of the warp at the same place have the same pair. The values are parameters if the pair is frequent;
        otherwise all threads read the same values.
     2. Each row reads the values of its pair.

   A list, made once per matrix, has the remaining rows. Separate blocks sum these rows one by one.

   With several media, several columns of x are multiplied at once. At the faces of media, most rows of a warp have
   separate values. Loads of such values take as many cycles of L1 as rows, and serve all columns.

   In the difference form, the reference (entry 0 of a set) has minus the sum of all further entries. The sum over the
   whole set is then the contribution of the further entries. A separate launch adds the row sums.
*/

#include "pairs.cuh"
#include "columns.cuh"

/*
   Rows of a thread are `stride` apart; the most frequent pair repeats at this distance, for example a plane of the
   grid. Entries of x are read once for several rows. If the launch has found lines, a block takes `tile` rows of each
   of threads / tile neighbouring lines. Rows that are neighbours in two directions share entries of x in L1.
*/

/* The place of a thread in a band of `rows` planes, and the band, for turn `turn` of a block. Returns false for a
   thread without a place */
template <int threads, int tile>
static __device__ __forceinline__ bool GridGetPlace(VCRSUnsigned stride, VCRSUnsigned line, unsigned int turn, VCRSUnsigned *place, VCRSUnsigned *band)
{
  VCRSUnsigned g  = static_cast<VCRSUnsigned>(turn) * threads + threadIdx.x;
  bool         is = true;

  if (tile && line) {
    constexpr int      width = tile ? tile : threads, lines = threads / width;
    const VCRSUnsigned across = (line + width - 1) / width, strip = turn / across, at = (turn - strip * across) * width + threadIdx.x % width;

    is = at < line;
    g  = (strip * lines + threadIdx.x / width) * line + (is ? at : line - 1);
  }
  *band  = g / stride;
  *place = g - *band * stride;
  return is;
}

/* Turns of a block in a matrix of m rows */
template <int rows, int threads, int tile>
static inline PetscInt64 GridGetTurns(PetscInt m, PetscInt stride, PetscInt line)
{
  const PetscInt64 bands = (m + static_cast<PetscInt64>(rows) * stride - 1) / (static_cast<PetscInt64>(rows) * stride);

  if (tile && line) {
    constexpr int    width = tile ? tile : threads, lines = threads / width;
    const PetscInt64 nline = bands * (stride / line);

    return ((nline + lines - 1) / lines) * ((line + width - 1) / width);
  }
  return (bands * stride + threads - 1) / threads;
}

/*
   Rows per thread, blocks per multiprocessor, and unrolled triples: measured, see docs/internals/kernels.md. Registers
   are the limit; complex numbers take twice as many registers.
*/
#if defined(PETSC_USE_COMPLEX)
static constexpr int PairsRows = 3, PairsBlocks = 8, PairsUnroll = 1;
#else
static constexpr int PairsRows = 4, PairsBlocks = 12, PairsUnroll = 9;
#endif

/* The same for several columns at once. With 8 columns, registers allow too few warps */
#define PAIRS_COLUMNS 4
template <int columns>
struct PairsShape {
#if defined(PETSC_USE_COMPLEX)
  static constexpr int rows = 3, blocks = 3;
#else
  static constexpr int rows = 4, blocks = 4;
#endif
};
template <>
struct PairsShape<1> {
  static constexpr int rows = PairsRows, blocks = PairsBlocks;
};

/* Columns, and their distances from the first column. Columns beyond the last are the last */
struct PairsColumns {
  int        n;
  PetscInt64 x[PAIRS_COLUMNS], add[PAIRS_COLUMNS], y[PAIRS_COLUMNS];
};

struct PairsArguments : MultArguments, PairsTables {
  PetscInt m;
  PetscInt stride, line;
  PetscInt common; /* id of the common pair, or -1 */
  int      ntriple, nsingle;
  PetscInt offset[VCRS_WORD_ENTRIES];
  /* values of the most frequent pairs with the common offsets */
  Number          value[VCRS_COMMON_PAIRS][VCRS_WORD_ENTRIES];
  PetscInt        pair[VCRS_COMMON_PAIRS]; /* ids of the most frequent pairs */
  int             npair;
  int             order[VCRS_WORD_ENTRIES];
  const uint32_t *word;
  const Number   *setdiagonal;
  /* several media: firstmain, nmain: rows with all columns of the common set inside x; nlisted: listed rows */
  PetscInt        firstmain, nmain, nlisted;
  const PetscInt *listed;
  PairsColumns    several;
};

/* Sums over the common index set for the thread's rows and all columns; value(k, j) is the value of the k-th reordered
   entry in row j */
template <int columns, int rows, int triples, int singles, class F>
static __device__ __forceinline__ void SumCommon(const PairsArguments &a, const Number *x, F value, Number sum[columns][rows])
{
  const int ntriple = triples < 0 ? a.ntriple : triples, nsingle = singles < 0 ? a.nsingle : singles;

#pragma unroll(triples > 0 && triples <= PairsUnroll ? triples : 1)
  for (int t = 0; t < ntriple; t++) {
    Number v[rows][3];

#pragma unroll
    for (int j = 0; j < rows; j++) {
#pragma unroll
      for (int k = 0; k < 3; k++) v[j][k] = value(3 * t + k, j);
    }
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const Number *xt = x + (columns > 1 ? a.several.x[c] + a.offset[3 * t] : a.offset[3 * t]);
      Number        xs[rows + 2];

#pragma unroll
      for (int i = 0; i < rows + 2; i++) xs[i] = Read(xt + i * a.stride);
#pragma unroll
      for (int j = 0; j < rows; j++) {
#pragma unroll
        for (int k = 0; k < 3; k++) sum[c][j] = MultiplyAdd(v[j][k], xs[j + k], sum[c][j]);
      }
    }
  }

#pragma unroll(singles > 0 && PairsUnroll > 1 ? singles : PairsUnroll > 1 ? 4 : 1)
  for (int q = 0; q < nsingle; q++) {
    const int k = 3 * ntriple + q;
    Number    v[rows];

#pragma unroll
    for (int j = 0; j < rows; j++) v[j] = value(k, j);
#pragma unroll
    for (int c = 0; c < columns; c++) {
      const Number *xq = x + (columns > 1 ? a.several.x[c] + a.offset[k] : a.offset[k]);

#pragma unroll
      for (int j = 0; j < rows; j++) sum[c][j] = MultiplyAdd(v[j], Read(xq + j * a.stride), sum[c][j]);
    }
  }
}

/* The same sums for rows with parts of the common set: bit k of word[j] is set if row j has the k-th reordered entry */
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
#pragma unroll
      for (int j = 0; j < rows; j++)
        if (word[j] >> (3 * t + k) & 1u) sum[j] = MultiplyAdd(value(3 * t + k, j), xs[j + k], sum[j]);
    }
  }

#pragma unroll(singles > 0 && PairsUnroll > 1 ? singles : PairsUnroll > 1 ? 4 : 1)
  for (int q = 0; q < nsingle; q++) {
    const int     k  = 3 * ntriple + q;
    const Number *xq = x + a.offset[k];
    Number        xs[rows];

#pragma unroll
    for (int j = 0; j < rows; j++) xs[j] = ReadAnyIf(word[j] >> k & 1u, xq + j * a.stride);
#pragma unroll
    for (int j = 0; j < rows; j++)
      if (word[j] >> k & 1u) sum[j] = MultiplyAdd(value(k, j), xs[j], sum[j]);
  }
}

/* Computes the thread's rows from the tables, and stores y */
template <int rows>
static __device__ __forceinline__ void MultTable(const PairsArguments &a, VCRSUnsigned row0)
{
#pragma unroll 1
  for (int j = 0; j < rows; j++) {
    const VCRSUnsigned row = row0 + j * static_cast<VCRSUnsigned>(a.stride);

    if (row < static_cast<VCRSUnsigned>(a.m)) {
      const Number s = SumTable(a, ReadId(a.id, a.idbytes, row), a.x + row);

      a.y[row] = a.add ? AddSigned(a.add[row], a.sign, s) : s;
    }
  }
}

template <int rows>
static __device__ __forceinline__ void WriteSums(const PairsArguments &a, VCRSUnsigned row0, const Number sum[rows])
{
#pragma unroll
  for (int j = 0; j < rows; j++) {
    const VCRSUnsigned row = row0 + j * static_cast<VCRSUnsigned>(a.stride);

    if (row < static_cast<VCRSUnsigned>(a.m)) a.y[row] = a.add ? AddSigned(a.add[row], a.sign, sum[j]) : sum[j];
  }
}

/* A single medium */
template <int rows, int triples, int singles, int threads, int tile, int blocks>
static __global__ void __launch_bounds__(threads, blocks) PairsKernel(const __grid_constant__ PairsArguments a)
{
  /* unsigned: the last rows * stride rows may reach beyond the largest PetscInt */
  const VCRSUnsigned m = a.m, stride = a.stride;
  VCRSUnsigned       g, band;
  const bool         is   = GridGetPlace<threads, tile>(stride, a.line, blockIdx.x, &g, &band);
  const VCRSUnsigned row0 = is ? band * rows * stride + g : m;
  const Number      *x    = a.x + row0;
  PetscInt           id[rows];
  Number             sum[1][rows];
  bool               all = true;

#pragma unroll
  for (int j = 0; j < rows; j++) {
    const VCRSUnsigned row = row0 + j * stride;

    id[j]     = row < m ? ReadId(a.id, a.idbytes, row) : -2;
    sum[0][j] = Number{};
  }
#pragma unroll
  for (int j = 0; j < rows; j++) all = all && id[j] == a.common;

  if (__all_sync(0xffffffffu, all)) {
    SumCommon<1, rows, triples, singles>(
      a, x, [&](int k, int) { return a.value[0][k]; }, sum);
  } else {
    uint32_t word[rows];
    bool     part = a.common >= 0;

#pragma unroll
    for (int j = 0; j < rows; j++) {
      word[j] = part && id[j] >= 0 ? __ldg(a.word + id[j]) & ~VCRS_WORD_SAME : 0u;
      part    = part && (id[j] < 0 || word[j]);
    }
    if (!__all_sync(0xffffffffu, part)) {
      MultTable<rows>(a, row0);
      return;
    }
    /* word has no bit for the diagonal entry, which may differ */
#pragma unroll
    for (int j = 0; j < rows; j++)
      if (word[j] & VCRS_WORD_DIAGONAL) sum[0][j] = MultiplyAdd(Read(a.setdiagonal + id[j]), Read(x + j * stride), sum[0][j]);
    SumParts<rows, triples, singles>(
      a, x, word, [&](int k, int) { return a.value[0][k]; }, sum[0]);
  }
  WriteSums<rows>(a, row0, sum[0]);
}

/* A row from the tables for all columns, whose loads overlap */
template <int columns>
static __device__ __forceinline__ void SumTableColumns(const PairsArguments &a, VCRSUnsigned row, Number sum[columns])
{
  const PetscInt id = ReadId(a.id, a.idbytes, row), start = __ldg(a.setptr + id), end = __ldg(a.setptr + id + 1);
  const Number  *x = a.x + row;

#pragma unroll
  for (int c = 0; c < columns; c++) sum[c] = Number{};
  for (PetscInt k = start; k < end; k++) {
    const Number   v = Read(a.setvalue + k);
    const PetscInt o = __ldg(a.setoffset + k);

#pragma unroll
    for (int c = 0; c < columns; c++) sum[c] = MultiplyAdd(v, Read(x + (a.several.x[c] + o)), sum[c]);
  }
}

/* Writes a row of column c */
static __device__ __forceinline__ void WriteColumn(const PairsArguments &a, int c, VCRSUnsigned row, Number sum)
{
  a.y[a.several.y[c] + row] = a.add ? AddSigned(a.add[a.several.add[c] + row], a.sign, sum) : sum;
}

/* Several media */
template <int columns, int rows, int triples, int singles, int threads, int tile, int blocks>
static __global__ void __launch_bounds__(threads, blocks) PairsMediaKernel(const __grid_constant__ PairsArguments a, unsigned int listblocks)
{
  constexpr int      middle = 16; /* the middle lane of a warp: ends of a warp are often ends of lines */
  const VCRSUnsigned stride = a.stride;

  if (blockIdx.x < listblocks) {
    const PetscInt q = static_cast<PetscInt>(blockIdx.x * threads + threadIdx.x);

    if (q < a.nlisted) {
      const VCRSUnsigned row = static_cast<VCRSUnsigned>(__ldg(a.listed + q));
      Number             sum[columns];

      if constexpr (columns == 1) sum[0] = SumTable(a, ReadId(a.id, a.idbytes, row), a.x + row);
      else SumTableColumns<columns>(a, row, sum);
#pragma unroll
      for (int c = 0; c < columns; c++)
        if (c < a.several.n) WriteColumn(a, c, row, sum[c]);
    }
    return;
  }

  /* all data are read before the sets of the rows are known: the common set is inside x in all of these rows */
  VCRSUnsigned g, band;
  const bool   is    = GridGetPlace<threads, tile>(stride, a.line, blockIdx.x - listblocks, &g, &band);
  const auto   begin = band * rows * stride, last = static_cast<VCRSUnsigned>(a.nmain) - rows * stride,
             row0 = static_cast<VCRSUnsigned>(a.firstmain) + (begin < last ? begin : last) + g;
  /* pairs of the thread's rows, and of the middle thread's rows; -1: without the common set */
  PetscInt id[rows], its[rows];
  Number   sum[columns][rows];
  bool     alike = true, same = true;

#pragma unroll
  for (int j = 0; j < rows; j++) id[j] = ReadId(a.id, a.idbytes, row0 + j * stride);
#pragma unroll
  for (int j = 0; j < rows; j++) {
    if (!(__ldg(a.word + id[j]) & VCRS_WORD_SAME)) id[j] = -1;
    its[j] = __shfl_sync(0xffffffffu, id[j], middle);
    if (its[j] < 0) its[j] = a.common;
    alike = alike && (id[j] < 0 || id[j] == its[j]);
    same  = same && its[j] == its[0];
#pragma unroll
    for (int c = 0; c < columns; c++) sum[c][j] = Number{};
  }

  const Number *x = Whole(a.x + row0);
  int           p = -1;

  alike = __all_sync(0xffffffffu, alike);
  for (int q = 0; alike && same && q < a.npair; q++)
    if (a.pair[q] == its[0]) p = q;
  if (p >= 0)
    SumCommon<columns, rows, triples, singles>(
      a, x, [&](int k, int) { return a.value[p][k]; }, sum);
  else {
    const Number *value[rows];

#pragma unroll
    for (int j = 0; j < rows; j++) value[j] = a.setvalue + __ldg(a.setptr + (alike || id[j] < 0 ? its[j] : id[j]));
    SumCommon<columns, rows, triples, singles>(
      a, x, [&](int k, int j) { return Read(value[j] + a.order[k]); }, sum);
  }
#pragma unroll
  for (int j = 0; j < rows; j++) {
    const VCRSUnsigned row = row0 + j * stride;

    if (is && id[j] >= 0 && row >= static_cast<VCRSUnsigned>(a.firstmain) + begin) {
#pragma unroll
      for (int c = 0; c < columns; c++)
        if (c < a.several.n) WriteColumn(a, c, row, sum[c][j]);
    }
  }
}

/* y_i += sign sigma_i x_ref */
static __global__ void RowSumsKernel(const __grid_constant__ PairsArguments a, const __grid_constant__ SigmaArguments sigma)
{
  const VCRSUnsigned row = static_cast<VCRSUnsigned>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (row < static_cast<VCRSUnsigned>(a.m)) {
    const PetscInt id = ReadId(a.id, a.idbytes, row), start = __ldg(a.setptr + id);

    if (__ldg(a.setptr + id + 1) > start)
      a.y[row] = MultiplyAdd(AddSigned(Number{}, a.sign, ReadSigma(sigma, row)), Read(a.x + row + __ldg(a.setoffset + start)), a.y[row]);
  }
}

template <int columns, int triples, int singles>
static PetscErrorCode PairsLaunchColumns(const PairsArguments *a, cudaStream_t stream)
{
  constexpr int rows = PairsShape<columns>::rows, blocks = PairsShape<columns>::blocks, threads = 128, tile = 32;

  PetscFunctionBegin;
  if (a->npair > 1) {
    const PetscInt64 n = GridGetTurns<rows, threads, tile>(a->nmain, a->stride, a->line), list = (a->nlisted + threads - 1) / threads;

    PairsMediaKernel<columns, rows, triples, singles, threads, tile, blocks>
      <<<static_cast<unsigned int>(n + list), threads, 0, stream>>>(*a, static_cast<unsigned int>(list));
  } else if constexpr (columns == 1) {
    PairsKernel<rows, triples, singles, threads, tile, blocks>
      <<<static_cast<unsigned int>(GridGetTurns<rows, threads, tile>(a->m, a->stride, a->line)), threads, 0, stream>>>(*a);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int triples, int singles>
static PetscErrorCode PairsLaunch(const PairsArguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (a->several.n == 1) PetscCall((PairsLaunchColumns<1, triples, singles>(a, stream)));
  else PetscCall((PairsLaunchColumns<PAIRS_COLUMNS, triples, singles>(a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PairsGetArguments(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, const ColumnsArguments *several, PairsArguments *a)
{
  static_cast<MultArguments &>(*a) = *v;
  static_cast<PairsTables &>(*a)   = PairsGetTables(p);
  a->m                             = p->m;
  a->stride                        = l->stride;
  a->line                          = l->line;
  a->common                        = l->id;
  a->ntriple                       = l->common.ntriple;
  a->nsingle                       = l->common.nsingle;
  a->word                          = l->dword;
  a->firstmain                     = l->main.first;
  a->nmain                         = l->main.n;
  a->nlisted                       = l->main.nlisted;
  a->listed                        = l->main.dlisted;
  a->setdiagonal                   = reinterpret_cast<const Number *>(l->common.ddiagonal);
  a->npair                         = l->common.n;
  for (int p = 0; p < l->common.n; p++) a->pair[p] = l->common.pair[p];
  for (int k = 0; k < l->length; k++) {
    a->offset[k] = l->offset[k];
    for (int p = 0; p < l->common.n; p++) a->value[p][k] = reinterpret_cast<const Number *>(l->common.value[p])[k];
    a->order[k] = l->common.order[k];
  }
  a->several.n = several->columns;
  for (int c = 0; c < PAIRS_COLUMNS; c++) {
    const PetscInt64 from = PetscMin(c, several->columns - 1);

    a->several.x[c]   = from * several->ldx;
    a->several.add[c] = from * several->ldadd;
    a->several.y[c]   = from * several->ldy;
  }
}

PetscErrorCode VCRSPairsMultColumns(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, const ColumnsArguments *several, cudaStream_t stream)
{
  const LitheStep none = {};
  PairsArguments  a;

  PetscFunctionBegin;
  PairsGetArguments(l, p, v, several, &a);
  if (l->unions.nunions) PetscCall(VCRSUnionsMult(l, p, v, &none, stream));
  else if (l->common.ntriple == 1 && l->common.nsingle == 4) PetscCall((PairsLaunch<1, 4>(&a, stream)));
  else if (l->common.ntriple == 9 && l->common.nsingle == 0) PetscCall((PairsLaunch<9, 0>(&a, stream)));
  else if (l->common.ntriple == 3 && l->common.nsingle == 0) PetscCall((PairsLaunch<3, 0>(&a, stream)));
  else if (l->common.ntriple == 1 && l->common.nsingle == 2) PetscCall((PairsLaunch<1, 2>(&a, stream)));
  else PetscCall((PairsLaunch<-1, -1>(&a, stream)));
  for (int c = 0; c < several->columns && p->difference && p->sums.kind != VCRS_SIGMA_NONE; c++) {
    RowSumsKernel<<<static_cast<unsigned int>((static_cast<PetscInt64>(p->m) + 255) / 256), 256, 0, stream>>>(a, GetSigmaArguments(p));
    PetscCallCUDA(cudaGetLastError());
    a.x += several->ldx;
    a.y += several->ldy;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  const ColumnsArguments one = {1, 0, 0, 0};

  PetscFunctionBegin;
  PetscCall(VCRSPairsMultColumns(l, p, v, &one, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that are parameters of a launch cost no loads: with a single medium, columns share nothing */
PetscInt VCRSPairsColumns(const VCRSLaunch *l)
{
  return l->common.n > 1 ? PAIRS_COLUMNS : 1;
}

static PetscErrorCode PairsPrepare(VCRSLaunch *l, const VCRSPlan *table, VCRSPlan *p, bool *runs)
{
  PetscBool    taken;
  cudaStream_t stream;

  PetscFunctionBegin;
  *runs = p->layout == MATVCRS_LAYOUT_L0;
  if (!*runs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSCommonPairs(l, table, p));
  if (l->id < 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (l->common.n > 1) {
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    VCRSCommonMain(l, p->m, p->n);
    PetscCall(VCRSRowList(l, p, VCRS_WORD_SAME, &taken, stream));
    if (!taken) l->common.n = 1;
  }
  if (l->common.n == 1) PetscCall(VCRSUnionsPrepare(l, table, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelPairs = {"pairs", PairsPrepare, PairsMult};
