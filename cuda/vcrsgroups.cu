/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layout L3 with grouped columns: a block works on windows of 256 rows, whose x it has in shared memory.

   A block has stages, each with room for what a window reads: the columns, the entries, and the x of its
   groups of columns. A warp of its own fills a stage as soon as it is free, asynchronously (TMA and cp.async,
   from compute capability 9.0 on); teams of eight warps, a slice a warp, sum what is there. Gathers of x are
   bound by the number of lines that a cache can look up; in shared memory neighbours need not lie together, and the order of
   entries in their rows spreads them over its banks (vcrsbanks.cu).
*/

#include "barrier.cuh"
#include "vcrsfinish.cuh"

/* The most threads of a block: two teams and four stages */
#define VCRS_GROUPS_THREADS 640

/* Numbers of groups that a thread has read ahead */
#define VCRS_GROUPS_AHEAD 16

struct GroupsArguments : MultArguments {
  PetscInt          m, n, nwindows, nslices, nlong;
  const PetscInt64 *sliceptr;
  const void       *value;
  const uint16_t   *column, *group;
  const PetscInt   *groupptr, *groupfirst;
  const uint8_t    *rowlength, *rowperm;
  const PetscInt   *longrow, *longcol;
  const PetscInt64 *longptr;
  PetscInt64        longvalue;
  const int16_t    *exponent;
  DecodeArguments   decode;
  SigmaArguments    sigma;
  int               stages, teams;                   /* teams divides stages */
  unsigned int      columnsat, valuesat, stagebytes; /* bytes; x is at 0 */
  bool              aligned;                         /* x is, to 16 bytes */
};

/* What may be unused is not used by code for older devices */
[[maybe_unused]] static __device__ __forceinline__ uint32_t SharedAddress(const void *p)
{
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/* What is to be copied for a window, as it is read: nothing is computed from it before its turn, or the warp would wait for it */
struct Window {
  PetscInt   slice;                  /* its first slice */
  PetscInt   group, groupend, first; /* where its list of groups is, with the stand-in; its least group */
  PetscInt64 value, valueend;

  static __device__ __forceinline__ Window Read(const GroupsArguments &a, PetscInt w)
  {
    Window window = Window{};

    if (w < a.nwindows) {
      window.slice    = w * VCRS_WINDOW_SLICES;
      window.group    = __ldg(a.groupptr + w);
      window.groupend = __ldg(a.groupptr + w + 1);
      window.first    = __ldg(a.groupfirst + w);
      window.value    = __ldg(a.sliceptr + window.slice);
      window.valueend = __ldg(a.sliceptr + min(a.nslices, window.slice + VCRS_WINDOW_SLICES));
    }
    return window;
  }

  __device__ __forceinline__ int CountGroups() const { return static_cast<int>(groupend - group) - 1; }

  __device__ __forceinline__ const uint16_t *Groups(const GroupsArguments &a) const { return a.group + group + 1; }

  __device__ __forceinline__ PetscInt64 FirstColumn() const { return static_cast<PetscInt64>(VCRS_GROUP) * first; }

  /* Whether none of its groups reaches beyond the end of x */
  __device__ __forceinline__ bool IsInside(const GroupsArguments &a) const
  {
    return a.n % VCRS_GROUP == 0 || CountGroups() <= 0 || FirstColumn() + VCRS_GROUP * (static_cast<PetscInt64>(__ldg(Groups(a) + CountGroups() - 1)) + 1) <= a.n;
  }
};

/*
   The x of a window's groups, behind the zeros of the stand-in; allx: of the first column; id[] has the numbers of the first groups, a group a
   thread. These copies are what a block waits for, so that all that could be done once for all of them is.
*/
[[maybe_unused]] static __device__ __forceinline__ void CopyGroups(const GroupsArguments &a, const Number *allx, const Window &window, const unsigned int id[], char *to, uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
  constexpr int pieces = VCRS_GROUP * sizeof(Number) / 16, numbers = 16 / sizeof(Number); /* of 16 bytes a group, in a piece */
  const int     lane = threadIdx.x % 32;

  if (a.aligned && window.IsInside(a)) {
    const int      n    = pieces * window.CountGroups() - lane;
    const Number  *x    = Whole(allx + (window.FirstColumn() + numbers * (lane % pieces)));
    const uint32_t base = SharedAddress(to) + 16 * (pieces + lane);
    const auto     copy = [&](int t, unsigned int group) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + 16 * t), "l"(x + VCRS_GROUP * group) : "memory"); };

#pragma unroll
    for (int t = 0; t < 32 * pieces * VCRS_GROUPS_AHEAD; t += 32) {
      const unsigned int group = __shfl_sync(0xffffffffu, id[t / (32 * pieces)], t / 32 % pieces * (32 / pieces) + lane / pieces);

      if (t < n) copy(t, group);
    }
    for (int t = 32 * pieces * VCRS_GROUPS_AHEAD; t < n; t += 32) copy(t, __ldg(window.Groups(a) + (t + lane) / pieces));
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SharedAddress(full)) : "memory");
  } else {
    Number *x = reinterpret_cast<Number *>(to) + VCRS_GROUP;

    for (int t = lane; t < VCRS_GROUP * window.CountGroups(); t += 32) {
      const PetscInt64 column = window.FirstColumn() + VCRS_GROUP * static_cast<PetscInt64>(__ldg(window.Groups(a) + t / VCRS_GROUP)) + t % VCRS_GROUP;

      if (column < a.n) x[t] = Read(allx + column);
    }
    BarrierArrive(full);
  }
#endif
}

[[maybe_unused]] static __device__ __forceinline__ void ReadGroups(const GroupsArguments &a, const Window &window, unsigned int id[])
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int k = 0; k < VCRS_GROUPS_AHEAD; k++) id[k] = ReadOnceIf(lane + 32 * k < window.CountGroups(), window.Groups(a) + lane + 32 * k);
}

/* The warp that fills a stage: it has every so many windows */
template <class Code, bool difference>
static __device__ void FillStage(const GroupsArguments &a, int stage, char *to, uint64_t *full, uint64_t *empty)
{
#if __CUDA_ARCH__ >= 900
  constexpr int  first = difference ? 1 : 0;
  const int      lane = threadIdx.x % 32;
  const PetscInt step = static_cast<PetscInt>(gridDim.x) * a.stages;
  PetscInt       w    = static_cast<PetscInt>(blockIdx.x) + stage * static_cast<PetscInt>(gridDim.x);
  Window         window = Window::Read(a, w), next = Window::Read(a, w + step);
  uint32_t       parity = 1;
  unsigned int   id[VCRS_GROUPS_AHEAD];

  ReadGroups(a, window, id);

  const Number *const allx = WaitForVectors(a.x);

  for (; w < a.nwindows; w += step) {
    BarrierWait(empty, parity);
    parity ^= 1;
    if (lane == 0) {
      const unsigned int nvalues = static_cast<unsigned int>(window.valueend - window.value), valuebytes = nvalues * static_cast<unsigned int>(sizeof(Code));
      const unsigned int columnbytes = sizeof(uint16_t) * (nvalues + first * 32u * static_cast<unsigned int>(PetscMin(a.nslices - window.slice, VCRS_WINDOW_SLICES)));

      (void)cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, full, columnbytes + valuebytes);
      if (columnbytes) cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to + a.columnsat, a.column + window.value + first * static_cast<PetscInt64>(32) * window.slice, columnbytes, full);
      if (valuebytes) cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to + a.valuesat, static_cast<const Code *>(a.value) + window.value, valuebytes, full);
    }
    __syncwarp();
    CopyGroups(a, allx, window, id, to, full);

    /* what the next window needs comes while the stage is in use */
    window = next;
    ReadGroups(a, window, id);
    next = Window::Read(a, w + 2 * step);
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Where a lane's row is, and what it has; as it is read, see Window */
struct Lane {
  PetscInt64   window, start, end; /* where the values of its window and its slice begin, and where these end */
  int          slice, length, place; /* of its window */
  VCRSUnsigned first;

  static __device__ __forceinline__ Lane Read(const GroupsArguments &a, PetscInt w, int slice)
  {
    const PetscInt s      = w * VCRS_WINDOW_SLICES + slice;
    const int      thread = threadIdx.x % 32;
    Lane           lane   = Lane{};

    lane.slice = slice;
    lane.first = static_cast<VCRSUnsigned>(a.m);
    if (w < a.nwindows && s < a.nslices) {
      const PetscInt64 slot = static_cast<PetscInt64>(32) * s + thread;

      lane.window = __ldg(a.sliceptr + w * VCRS_WINDOW_SLICES);
      lane.start  = __ldg(a.sliceptr + s);
      lane.end    = __ldg(a.sliceptr + s + 1);
      lane.length = __ldg(a.rowlength + slot);
      lane.place  = a.rowperm ? __ldg(a.rowperm + slot) : 32 * slice + thread;
      lane.first  = static_cast<VCRSUnsigned>(w) * VCRS_WINDOW;
    }
    return lane;
  }
};

/* Entries k .. k + batch - 1 of a lane, those before its end if they may lie beyond that of the slice */
template <int batch, bool difference, bool last, class V>
static __device__ __forceinline__ Number AddBatch(const V &values, const uint16_t *column, const typename V::Code *value, const Number *x, Number xref, int k, int longest, int length, Number sum)
{
  unsigned int                              o[batch];
  typename Register<typename V::Code>::type c[batch];
  Number                                    xs[batch];

#pragma unroll
  for (int j = 0; j < batch; j++) {
    o[j] = 0;
    c[j] = typename Register<typename V::Code>::type{};
    if (!last || k + j < longest) {
      o[j] = column[32 * j];
      c[j] = value[32 * j];
    }
  }
#pragma unroll
  for (int j = 0; j < batch; j++) xs[j] = x[o[j]];
#pragma unroll
  for (int j = 0; j < batch; j++)
    if (!last || k + j < longest) sum = AddEntryIf(k + j < length, values, c[j], difference ? xs[j] - xref : xs[j], sum);
  return sum;
}

template <VCRSValues kind, bool difference, int batch>
static __global__ void __launch_bounds__(VCRS_GROUPS_THREADS, 1) GroupsKernel(const __grid_constant__ GroupsArguments a)
{
#if __CUDA_ARCH__ >= 900
  typedef typename Values<kind>::Code Code;
  constexpr int                         first = difference ? 1 : 0;
  extern __shared__ __align__(128) char shared[];
  const int                             warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0), team = warp / VCRS_WINDOW_SLICES;
  char *const                           stages = shared + Values<kind>::sharedbytes;
  uint64_t *const                       full = reinterpret_cast<uint64_t *>(stages + a.stages * a.stagebytes), *const empty = full + a.stages;
  Values<kind>                          values;

  LetNextBegin();
  values.Setup(shared, a.decode);
  for (int q = threadIdx.x; q < VCRS_GROUP * a.stages; q += blockDim.x) reinterpret_cast<Number *>(stages + q / VCRS_GROUP * a.stagebytes)[q % VCRS_GROUP] = Number{};
  if (threadIdx.x < a.stages) {
    cuda::ptx::mbarrier_init(full + threadIdx.x, 33); /* the threads of the warp that fills it, and its bulk copies */
    cuda::ptx::mbarrier_init(empty + threadIdx.x, VCRS_WINDOW_SLICES);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  __syncthreads();

  if (team >= a.teams) {
    const int stage = warp - VCRS_WINDOW_SLICES * a.teams;

    FillStage<Code, difference>(a, stage, stages + stage * a.stagebytes, full + stage, empty + stage);
    return;
  }

  /* slices are sorted by length: each warp gets another one of them at each turn */
  int      slice = (warp + team) % VCRS_WINDOW_SLICES, stage = team;
  uint32_t parity = 0;
  PetscInt w      = static_cast<PetscInt>(blockIdx.x) + team * static_cast<PetscInt>(gridDim.x);
  Lane     next   = Lane::Read(a, w, slice);

  (void)WaitForVectors(a.x); /* of which y and add are others */
  while (w < a.nwindows) {
    const Lane         lane = next;
    const VCRSUnsigned row  = lane.first + lane.place;
    const bool         is   = row < static_cast<VCRSUnsigned>(a.m);
    const RowEnd       end  = is ? ReadRowEnd<Values<kind>::scaled, difference>(a, row) : RowEnd{};
    const int          at   = static_cast<int>(lane.start - lane.window) + static_cast<int>(threadIdx.x % 32), longest = static_cast<int>((lane.end - lane.start) / 32) + first;
    const char *const  from = stages + stage * a.stagebytes;
    const Number      *x    = reinterpret_cast<const Number *>(from);
    const uint16_t    *column = reinterpret_cast<const uint16_t *>(from + a.columnsat) + at + 32 * first * lane.slice;
    const Code        *value  = reinterpret_cast<const Code *>(from + a.valuesat) + at;
    Number             sum = Number{}, xref = Number{};
    int                k;

    w += a.teams * static_cast<PetscInt>(gridDim.x);
    slice = (slice + a.teams) % VCRS_WINDOW_SLICES;
    next  = Lane::Read(a, w, slice);
    BarrierWait(full + stage, parity);
    if (difference && longest > 0) xref = x[*column];
    column += 32 * first;
#pragma unroll 1
    for (k = first; k + batch <= longest; k += batch) {
      sum = AddBatch<batch, difference, false>(values, column, value, x, xref, k, longest, lane.length, sum);
      column += 32 * batch;
      value += 32 * batch;
    }
    if (k < longest) sum = AddBatch<batch, difference, true>(values, column, value, x, xref, k, longest, lane.length, sum);
    __syncwarp();
    if (threadIdx.x % 32 == 0) BarrierArrive(empty + stage);
    if (is && (lane.length > 0 || !IsLongRow(a.longrow, a.nlong, row))) FinishRow<Values<kind>::scaled, difference>(a, row, end, lane.length == 0, sum, xref);
    stage += a.teams;
    if (stage >= a.stages) {
      stage -= a.stages;
      parity ^= 1;
    }
  }
#endif
}

/* Very long rows, a block a row */
template <VCRSValues kind, bool difference>
static __global__ void __launch_bounds__(256) LongRowsKernel(const __grid_constant__ GroupsArguments a)
{
  extern __shared__ __align__(128) char shared[];
  Values<kind>                          values;

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

  static_cast<MultArguments &>(a) = *v;
  a.m          = p->m;
  a.n          = p->n;
  a.nwindows   = VCRSWindows(p);
  a.nslices    = p->nslices;
  a.nlong      = p->nlong;
  a.sliceptr   = p->sliceptr;
  a.value      = p->value;
  a.column     = reinterpret_cast<const uint16_t *>(p->coloffset);
  a.group      = p->group;
  a.groupptr   = p->groupptr;
  a.groupfirst = p->groupfirst;
  a.rowlength  = p->rowlength;
  a.rowperm    = p->rowperm;
  a.longrow    = p->longrow;
  a.longcol    = p->longcol;
  a.longptr    = p->longptr;
  a.longvalue  = p->longvalue;
  a.exponent   = p->exponent;
  a.decode     = GetDecodeArguments(p);
  a.sigma      = GetSigmaArguments(p);
  a.columnsat  = RoundUp128(static_cast<size_t>(VCRS_GROUP) * p->mostgroups * sizeof(Number));
  a.valuesat   = a.columnsat + RoundUp128(sizeof(uint16_t) * static_cast<size_t>(p->mostcolumns));
  a.stagebytes = a.valuesat + RoundUp128(VCRSValueBytes(p->values) * static_cast<size_t>(p->mostcolumns));
  a.aligned    = reinterpret_cast<uintptr_t>(v->x) % 16 == 0;
}

/* How many stages and teams a block has and how many blocks a multiprocessor: what is best of what fits, see docs/kernels.md */
static int GroupsChooseShape(const VCRSLaunch *l, size_t tables, GroupsArguments *a)
{
  static const struct {
    int stages, teams, blocks;
  } shapes[] = {
    {3, 1, 2},
    {2, 1, 2},
    {4, 2, 1},
    {3, 1, 1},
    {2, 1, 1}
  };

  for (const auto &shape : shapes) {
    const size_t bytes = tables + shape.stages * (a->stagebytes + 2 * sizeof(uint64_t));

    if (bytes + 1024 > static_cast<size_t>(l->sharedbytes) / shape.blocks || bytes > static_cast<size_t>(l->blockbytes)) continue;
    a->stages = shape.stages;
    a->teams  = shape.teams;
    return shape.blocks;
  }
  return 0;
}

template <VCRSValues kind, bool difference>
static PetscErrorCode GroupsLaunch(const VCRSLaunch *l, GroupsArguments *a, cudaStream_t stream)
{
  constexpr size_t tables = Values<kind>::sharedbytes;
  const auto       kernel = GroupsKernel<kind, difference, 4>;
  const int        blocks = GroupsChooseShape(l, tables, a);
  const size_t     bytes  = tables + a->stages * (a->stagebytes + 2 * sizeof(uint64_t));

  PetscFunctionBegin;
  PetscCheck(blocks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A window of %u bytes does not fit the shared memory of %d bytes", a->stagebytes, l->blockbytes);
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  PetscCallCUDA(LaunchEarly(kernel, a->early, dim3(static_cast<unsigned int>(PetscMin(a->nwindows, static_cast<PetscInt>(blocks * l->multiprocessors)))), dim3(32 * (VCRS_WINDOW_SLICES * a->teams + a->stages)), bytes, stream, *a));
  if (a->nlong) {
    PetscCallCUDA(cudaFuncSetAttribute(LongRowsKernel<kind, difference>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(PetscMax(tables, size_t(1)))));
    LongRowsKernel<kind, difference><<<static_cast<unsigned int>(PetscMin(a->nlong, 65536)), 256, tables, stream>>>(*a);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSGroupsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  GroupsArguments a;

  PetscFunctionBegin;
  GroupsGetArguments(p, v, &a);
#define GroupsCase(kind) \
  case kind: \
    if (p->difference) PetscCall((GroupsLaunch<kind, true>(l, &a, stream))); \
    else PetscCall((GroupsLaunch<kind, false>(l, &a, stream))); \
    break
  switch (p->values) {
    VCRS_ALL_VALUES(GroupsCase)
  }
#undef GroupsCase
  PetscFunctionReturn(PETSC_SUCCESS);
}
