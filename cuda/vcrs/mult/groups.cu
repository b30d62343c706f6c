/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L3 with grouped columns: a block works on windows of 256 rows, with the needed part of x in shared memory.

   A block has stages. A stage has room for all data of a window: x of the groups of columns, columns, entries, lengths
   and order of the rows, row sums, exponents, and y. Each stage has a filling warp. As soon as the stage is free, the
   filling warp copies the data asynchronously (TMA and cp.async, from compute capability 9.0 on), and writes the
   beginning of each slice. Teams of eight warps, a slice per warp, sum full stages. If all rows have row sums, the
   teams only read shared memory; a read of device memory would stop a team. Gathers of x from a cache are limited by
   the number of lines per look-up. In shared memory neighbours need not be contiguous, and the order of entries in rows
   spreads the reads over the banks (banks.cu). Rows are sorted by length, which scatters the y of a slice. The values
   of y are therefore gathered in shared memory, and the filling warp stores a window at once.

   Barriers of a stage: "full", the data have arrived; "empty", the data have been read; "done", the y of a window is
   gathered. If the number of stages is no multiple of the number of teams, teams alternate in a stage. A waiting team
   could then mistake the end of another team's turn for its own. A stage therefore has a barrier "full" per team.
*/

#include "groupsfill.cuh"
#include <type_traits>

/* Largest number of threads per block: six stages and two teams */
#define VCRS_GROUPS_THREADS 704

/* The codes of two neighbouring rows, loaded in one access; small codes are kept as a word */
template <class V>
struct CodePair {
  typedef typename V::Code Code;
  static constexpr bool    small = sizeof(Code) <= 2;

  struct alignas(sizeof(Code) <= 8 ? 2 * sizeof(Code) : sizeof(Code)) Two {
    Code code[2];
  };
  typedef std::conditional_t<small, typename Raw<small ? 2 * sizeof(Code) : 4>::type, Two> Stored;
  typedef std::conditional_t<small, unsigned int, Two>                                     Kept;

  static __device__ __forceinline__ Number Decode(const V &values, const Kept &pair, int r)
  {
    if constexpr (!small) return values.Decode(pair.code[r]);
    else if constexpr (V::bytewise) return values.DecodeBytes(pair, r * static_cast<int>(sizeof(Code)));
    else return values.Decode(static_cast<Code>(pair >> 8 * r * sizeof(Code)));
  }
};

/* The two rows of a thread */
struct TwoRows {
  Number       xref[2], sum[2];
  unsigned int length[2];
};

/* x for the number in the lower or upper half of a word; the address takes one instruction */
[[maybe_unused]] static __device__ __forceinline__ Number GroupedX(uint32_t x, unsigned int pair, int r)
{
  return *AtShared<const Number>(__dp2a_lo(pair, static_cast<unsigned int>(sizeof(Number)) << 8 * r, x));
}

/* Adds entries k, k + 2, ... of a thread's rows: half of a batch, or half of the rest of the slice */
template <int batch, bool difference, bool last, class V>
static __device__ __forceinline__ void AddBatch(const V &values, const unsigned int *column, const typename CodePair<V>::Stored *value, uint32_t x,
                                                unsigned int k, unsigned int longest, TwoRows &rows)
{
  typedef CodePair<V> Pair;
  unsigned int        o[batch / 2];
  typename Pair::Kept c[batch / 2];
  Number              xs[batch / 2][2];

#pragma unroll
  for (int j = 0; j < batch / 2; j++) {
    o[j] = 0;
    c[j] = typename Pair::Kept{};
    if (!last || k + 2 * j < longest) {
      o[j] = column[32 * j];
      c[j] = value[32 * j];
    }
  }
#pragma unroll
  for (int j = 0; j < batch / 2; j++) {
#pragma unroll
    for (int r = 0; r < 2; r++) xs[j][r] = GroupedX(x, o[j], r);
  }
#pragma unroll
  for (int j = 0; j < batch / 2; j++) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
      const Number d = difference ? xs[j][r] - rows.xref[r] : xs[j][r];

      rows.sum[r] = AddDecodedIf<V>(k + 2 * j < rows.length[r], Pair::Decode(values, c[j], r), d, rows.sum[r]);
    }
  }
}

template <class V, bool difference, int batch>
static __global__ void __launch_bounds__(VCRS_GROUPS_THREADS, 1) GroupsKernel(const __grid_constant__ GroupsArguments a)
{
#if __CUDA_ARCH__ >= 900
  constexpr int     first = difference ? 1 : 0;
  extern __shared__ __align__(128) char shared[];
  const int                             warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0), team = warp / VCRS_WINDOW_SLICES;
  char *const                           stages   = shared + V::sharedbytes;
  const Barriers                        barriers = Barriers::Find(a, stages);
  V                                     values;

  PDLTrigger();
  for (int q = threadIdx.x; q < VCRS_GROUP * a.stages; q += blockDim.x)
    reinterpret_cast<Number *>(stages + q / VCRS_GROUP * a.stagebytes)[q % VCRS_GROUP] = Number{};
  if (threadIdx.x < a.stages) barriers.Begin(a, threadIdx.x);
  if (team >= a.teams) {
    const int stage = warp - VCRS_WINDOW_SLICES * a.teams;

    FillStage<V, difference>(a, stage, barriers, stages + stage * a.stagebytes);
    return;
  }
  __syncthreads(); /* matches the barrier of FillStage() */
  values.Setup(shared, a.decode, 32 * VCRS_WINDOW_SLICES * a.teams);

  /*
     A thread sums two neighbouring rows: the lower half of a warp adds entries 0, 2, ..., the upper half adds the
     remaining entries. Data of both rows come in one access. Then each thread finishes one of the rows. Slices are
     sorted by length, so each warp has a different slice in each turn.
  */
  const unsigned int lane = threadIdx.x % 32, half = lane / 16, pair = lane % 16, mine = 2 * pair + half;
  int                slice = (warp + team) % VCRS_WINDOW_SLICES, stage = team, full = team;
  uint32_t           parity = 0;

  (void)PDLWait(a.x); /* the wait covers y and add, too */
  for (PetscInt w = static_cast<PetscInt>(blockIdx.x) + team * static_cast<PetscInt>(gridDim.x); w < a.nwindows;
       w += a.teams * static_cast<PetscInt>(gridDim.x)) {
    const bool     whole = w < a.nwhole;
    char *const    place = stages + stage * a.stagebytes;
    const uint32_t x     = SharedAddress(place);
    TwoRows        rows  = TwoRows{};
    RowEnd         end   = RowEnd{};

    BarrierWait(barriers.full + full, parity);

    const Slice         here    = reinterpret_cast<const Slice *>(place + a.slicesat)[slice];
    const int           of      = a.rowperm ? reinterpret_cast<const uint8_t *>(place + a.permat)[32 * slice + mine] : 32 * slice + mine;
    const VCRSUnsigned  row     = static_cast<VCRSUnsigned>(w) * VCRS_WINDOW + of;
    const bool          is      = here.longest >= 0 && row < static_cast<VCRSUnsigned>(a.m);
    const unsigned int  longest = static_cast<unsigned int>(PetscMax(here.longest, 0));
    const unsigned int *column  = reinterpret_cast<const unsigned int *>(place + here.column);
    const auto         *value   = reinterpret_cast<const typename CodePair<V>::Stored *>(place + here.value) + lane;
    unsigned int        k;

    if (!V::finite) {
      const unsigned int lengths = reinterpret_cast<const uint16_t *>(place + a.lengthsat)[16 * slice + pair];

      rows.length[0] = lengths & 255;
      rows.length[1] = lengths >> 8;
    }
    if (whole) {
      if (V::scaled) end.exponent = reinterpret_cast<const int16_t *>(place + a.exponentat)[of];
      if (difference) end.sigma = a.sums ? reinterpret_cast<const Number *>(place + here.sigma)[of] : ReadSigma(a.sigma, row);
      if (a.add) end.add = a.add[row];
    } else if (is) end = ReadRowEnd<V::scaled, difference>(a, row);
    if (difference && longest > 0) {
      rows.xref[0] = GroupedX(x, column[pair], 0);
      rows.xref[1] = GroupedX(x, column[pair], 1);
    }
    column += 16 * first + lane;
  #pragma unroll 1
    for (k = first; k + batch <= longest; k += batch) {
      AddBatch<batch, difference, false>(values, column, value, x, k + half, longest, rows);
      column += 16 * batch;
      value += 16 * batch;
    }
    if (k < longest) AddBatch<batch, difference, true>(values, column, value, x, k + half, longest, rows);
    __syncwarp();
    if (lane == 0) BarrierArrive(barriers.empty + stage);

    /* an empty row has x = 0 and row sum 0; the y of a very long row is written later */
    const bool   empty = !V::finite && (half ? rows.length[1] : rows.length[0]) == 0;
    const Number other = Shuffle(half ? rows.sum[0] : rows.sum[1], lane ^ 16);
    const Number sum   = EndRow<V::scaled, difference>(a, end, empty, (half ? rows.sum[1] : rows.sum[0]) + other, half ? rows.xref[1] : rows.xref[0]);

    if (whole) {
      reinterpret_cast<Number *>(place + a.yat)[of] = sum;
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (lane == 0) BarrierArrive(barriers.done + stage);
    } else if (is) a.y[row] = sum;
    slice = (slice + a.teams) % VCRS_WINDOW_SLICES;
    stage += a.teams;
    if (stage >= a.stages) stage -= a.stages;
    full += a.teams;
    if (full >= a.teams * a.stages) {
      full -= a.teams * a.stages;
      parity ^= 1;
    }
  }
#endif
}

/* Very long rows, a block per row */
template <class V, bool difference>
static __global__ void __launch_bounds__(256) LongRowsKernel(const __grid_constant__ GroupsArguments a)
{
  extern __shared__ __align__(128) char shared[];
  V                                     values;

  values.Setup(shared, a.decode);
  for (PetscInt q = blockIdx.x; q < a.nlong; q += gridDim.x) LongRow<difference, 4>(a, values, q);
}

static unsigned int RoundUp128(size_t bytes)
{
  return static_cast<unsigned int>((bytes + 127) / 128 * 128);
}

static void GroupsGetArguments(const VCRSPlan *p, const MultArguments *v, GroupsArguments *arguments)
{
  GroupsArguments &a = *arguments;

  L3GetArguments(p, v, a);
  a.n          = p->n;
  a.nwindows   = VCRSWindows(p);
  a.column     = reinterpret_cast<const uint16_t *>(p->columns.offset);
  a.group      = p->groups.group;
  a.groupptr   = p->groups.ptr;
  a.groupfirst = p->groups.first;
  a.slicesat   = static_cast<unsigned int>(p->groups.mostbytes);
  a.lengthsat  = a.slicesat + static_cast<unsigned int>(VCRS_WINDOW_SLICES * sizeof(Slice));
  a.permat     = a.lengthsat + VCRS_WINDOW;
  a.exponentat = a.permat + (p->lanes.perm ? VCRS_WINDOW : 0);
  a.yat        = a.exponentat + (p->decoding.exponent ? static_cast<unsigned int>(VCRS_WINDOW * sizeof(int16_t)) : 0);
  a.sums       = p->sums.kind == VCRS_SIGMA_FULL;
  a.nwhole     = reinterpret_cast<uintptr_t>(v->y) % 16 == 0 ? p->m / VCRS_WINDOW : 0;
  a.aligned    = reinterpret_cast<uintptr_t>(v->x) % 16 == 0;
}

/* Stages and teams per block, and blocks per multiprocessor: the first shape that fits, see
   docs/internals/kernels.md */
struct GroupsShape {
  int stages, teams, blocks;
};

static const GroupsShape shapes[] = {{3, 1, 2}, {6, 2, 1}, {5, 2, 1}, {2, 1, 2}, {4, 2, 1}, {3, 2, 1}, {2, 1, 1}};

/* With one block per multiprocessor, tables are stored once */
static const GroupsShape tableshapes[] = {{6, 2, 1}, {5, 2, 1}, {4, 2, 1}, {3, 2, 1}, {2, 1, 1}};

static size_t GroupsBlockBytes(const GroupsArguments &a, size_t tables, int stages, int teams)
{
  return tables + stages * a.stagebytes + Barriers::CountBytes(stages, teams);
}

/* Whether blocks of this shape fit; apart: row sums have a separate place */
static bool GroupsTryShape(const VCRSLaunch *l, const GroupsShape &shape, size_t tables, bool apart, GroupsArguments *a)
{
  const unsigned int ybytes = static_cast<unsigned int>(VCRS_WINDOW * sizeof(Number));

  a->stages     = shape.stages;
  a->teams      = shape.teams;
  a->sigmaat    = a->yat + (apart ? ybytes : 0);
  a->stagebytes = RoundUp128(a->sigmaat + ybytes);

  const size_t bytes = GroupsBlockBytes(*a, tables, shape.stages, shape.teams);

  return bytes + 1024 <= static_cast<size_t>(l->device.sharedbytes) / shape.blocks && bytes <= static_cast<size_t>(l->device.blockbytes);
}

/*
   Returns the number of blocks, or 0 if a window is too large for the device. Row sums with a separate place need not
   wait for the store of y. The gain is smaller than the gain of another stage.
*/
template <size_t n>
static int GroupsChooseShape(const VCRSLaunch *l, const GroupsShape (&list)[n], size_t tables, GroupsArguments *a)
{
  for (const auto &shape : list) {
    if (a->sums && GroupsTryShape(l, shape, tables, true, a)) return shape.blocks;
    if (GroupsTryShape(l, shape, tables, false, a)) return shape.blocks;
  }
  return 0;
}

template <class V, bool difference>
static PetscErrorCode GroupsLaunch(const VCRSLaunch *l, const VCRSPlan *p, GroupsArguments *a, cudaStream_t stream)
{
  constexpr size_t tables = V::sharedbytes;
  const auto       kernel = GroupsKernel<V, difference, 4>;
  const int        blocks = tables > 0 ? GroupsChooseShape(l, tableshapes, tables, a) : GroupsChooseShape(l, shapes, tables, a);

  PetscFunctionBegin;
  if (!blocks) {
    PetscCall(VCRSRowsMult(p, 1, reinterpret_cast<const PetscScalar *>(a->x), 0, reinterpret_cast<const PetscScalar *>(a->add), 0,
                           reinterpret_cast<PetscScalar *>(a->y), 0, a->sign, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  const size_t bytes = GroupsBlockBytes(*a, tables, a->stages, a->teams);

  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  PetscCallCUDA(PDLLaunch(kernel, a->pdl, dim3(static_cast<unsigned int>(PetscMin(a->nwindows, static_cast<PetscInt>(blocks * l->device.multiprocessors)))),
                          dim3(32 * (VCRS_WINDOW_SLICES * a->teams + a->stages)), bytes, stream, *a));
  if (a->nlong) {
    PetscCallCUDA(
      cudaFuncSetAttribute(LongRowsKernel<V, difference>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(PetscMax(tables, size_t(1)))));
    LongRowsKernel<V, difference><<<static_cast<unsigned int>(PetscMin(a->nlong, 65536)), 256, tables, stream>>>(*a);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class V>
static PetscErrorCode GroupsLaunchForm(const VCRSLaunch *l, const VCRSPlan *p, GroupsArguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (p->difference) PetscCall((GroupsLaunch<V, true>(l, p, a, stream)));
  else PetscCall((GroupsLaunch<V, false>(l, p, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GroupsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  GroupsArguments a;

  PetscFunctionBegin;
  GroupsGetArguments(p, v, &a);
#define GroupsCase(kind)                                                                                \
  case kind:                                                                                            \
    if (p->decoding.shortlog) PetscCall((GroupsLaunchForm<ShortValues<kind>::type>(l, p, &a, stream))); \
    else PetscCall((GroupsLaunchForm<Values<kind>>(l, p, &a, stream)));                                 \
    break
  switch (p->values) {
    VCRS_ALL_VALUES(GroupsCase)
  }
#undef GroupsCase
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GroupsPrepare(VCRSLaunch *l, const VCRSPlan *, VCRSPlan *p, bool *runs)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  *runs = p->layout == MATVCRS_LAYOUT_L3 && p->grouped && l->device.sm90;
  if (!*runs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(VCRSBanksOrder(p, true, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelGroups = {"groups", GroupsPrepare, GroupsMult};
