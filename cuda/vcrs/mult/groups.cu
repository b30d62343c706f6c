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

#include "../../common/barrier.cuh"
#include "../finish.cuh"
#include <type_traits>

/* Largest number of threads per block: six stages and two teams */
#define VCRS_GROUPS_THREADS 704

/* Group numbers that a thread reads ahead */
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
  int               stages, teams;
  PetscInt          nwhole;  /* windows with gathered y: complete windows, if y is aligned */
  bool              sums;    /* the row sums of these windows are copied, too */
  bool              aligned; /* x is aligned to 16 bytes */

  /* Offsets in a stage, in bytes: x is at 0, followed by columns and entries. sigmaat = yat: row sums have no separate
     place */
  unsigned int slicesat, lengthsat, permat, exponentat, yat, sigmaat, stagebytes;
};

/* The barriers described above; the barriers "full" of a stage are a.stages apart */
struct Barriers {
  uint64_t *full, *empty, *done;

  static __host__ __device__ size_t CountBytes(int stages, int teams)
  {
    return sizeof(uint64_t) * static_cast<size_t>(stages) * static_cast<size_t>(teams + 2);
  }

  static __device__ __forceinline__ Barriers Find(const GroupsArguments &a, char *stages)
  {
    uint64_t *const full = reinterpret_cast<uint64_t *>(stages + a.stages * a.stagebytes);

    return Barriers{full, full + a.teams * a.stages, full + (a.teams + 1) * a.stages};
  }

  /* Initializes the barriers of a stage */
  __device__ __forceinline__ void Begin(const GroupsArguments &a, int stage) const
  {
#if __CUDA_ARCH__ >= 900
    /* 33 arrivals: the threads of the filling warp, and its bulk copies */
    for (int t = 0; t < a.teams; t++) cuda::ptx::mbarrier_init(full + stage + t * a.stages, 33);
    cuda::ptx::mbarrier_init(empty + stage, VCRS_WINDOW_SLICES);
    cuda::ptx::mbarrier_init(done + stage, VCRS_WINDOW_SLICES);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
#endif
  }
};

/* Parameters of the copies for a window, as loaded. The values are not used before their turn: each use would wait for
   the loads */
struct Window {
  PetscInt first;           /* first group of the window */
  PetscInt group, groupend; /* list of groups of the window, including the group of zeros */
  /* beginning of the entries of slice threadIdx.x % 32; lane VCRS_WINDOW_SLICES has the beginning of the next window */
  PetscInt64 value;

  static __device__ __forceinline__ Window Read(const GroupsArguments &a, PetscInt w)
  {
    Window window = Window{};

    if (w < a.nwindows) {
      window.first    = __ldg(a.groupfirst + w);
      window.group    = __ldg(a.groupptr + w);
      window.groupend = __ldg(a.groupptr + w + 1);
      window.value    = __ldg(a.sliceptr + min(a.nslices, w * VCRS_WINDOW_SLICES + min(static_cast<int>(threadIdx.x % 32), VCRS_WINDOW_SLICES)));
    }
    return window;
  }

  __device__ __forceinline__ int CountGroups() const
  {
    return static_cast<int>(groupend - group) - 1;
  }

  __device__ __forceinline__ const uint16_t *Groups(const GroupsArguments &a) const
  {
    return a.group + group + 1;
  }

  __device__ __forceinline__ PetscInt64 FirstColumn() const
  {
    return static_cast<PetscInt64>(VCRS_GROUP) * first;
  }

  /* Whether all groups of the window end inside x */
  __device__ __forceinline__ bool IsInside(const GroupsArguments &a) const
  {
    return a.n % VCRS_GROUP == 0 || CountGroups() <= 0 ||
           FirstColumn() + VCRS_GROUP * (static_cast<PetscInt64>(__ldg(Groups(a) + CountGroups() - 1)) + 1) <= a.n;
  }
};

/*
   A slice in its stage. Offsets in bytes: columns, entries, and row sums of the window. longest: length of the longest
   row, or -1 without a slice.
*/
struct Slice {
  unsigned int column, value, sigma;
  int          longest;
};

/*
   Copies x of a window's groups, after the zeros of the first group. allx: x of the first column; id[]: numbers of the
   first groups, a group per thread. A block waits for the copies, so common work is done once. Returns whether the
   copies are asynchronous.
*/
[[maybe_unused]] static __device__ __forceinline__ bool CopyGroups(const GroupsArguments &a, const Number *allx, const Window &window, const unsigned int id[],
                                                                   char *to)
{
#if __CUDA_ARCH__ >= 900
  /* pieces of 16 bytes per group; numbers per piece */
  constexpr int pieces = VCRS_GROUP * sizeof(Number) / 16, numbers = 16 / sizeof(Number);
  const int     lane = threadIdx.x % 32;

  if (a.aligned && window.IsInside(a)) {
    const int      n    = pieces * window.CountGroups() - lane;
    const Number  *x    = Whole(allx + (window.FirstColumn() + numbers * (lane % pieces)));
    const uint32_t base = SharedAddress(to) + 16 * (pieces + lane);
    const auto     copy = [&](int t, unsigned int group) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + 16 * t), "l"(x + VCRS_GROUP * group) : "memory");
    };

  #pragma unroll
    for (int t = 0; t < 32 * pieces * VCRS_GROUPS_AHEAD; t += 32) {
      const unsigned int group = __shfl_sync(0xffffffffu, id[t / (32 * pieces)], t / 32 % pieces * (32 / pieces) + lane / pieces);

      if (t < n) copy(t, group);
    }
    for (int t = 32 * pieces * VCRS_GROUPS_AHEAD; t < n; t += 32) copy(t, __ldg(window.Groups(a) + (t + lane) / pieces));
    return true;
  }

  Number *x = reinterpret_cast<Number *>(to) + VCRS_GROUP;

  for (int t = lane; t < VCRS_GROUP * window.CountGroups(); t += 32) {
    const PetscInt64 column = window.FirstColumn() + VCRS_GROUP * static_cast<PetscInt64>(__ldg(window.Groups(a) + t / VCRS_GROUP)) + t % VCRS_GROUP;

    if (column < a.n) x[t] = Read(allx + column);
  }
#endif
  return false;
}

[[maybe_unused]] static __device__ __forceinline__ void ReadGroups(const GroupsArguments &a, const Window &window, unsigned int id[])
{
  const int lane = threadIdx.x % 32;

#pragma unroll
  for (int k = 0; k < VCRS_GROUPS_AHEAD; k++) id[k] = ReadOnceIf(lane + 32 * k < window.CountGroups(), window.Groups(a) + lane + 32 * k);
}

[[maybe_unused]] static __device__ __forceinline__ void CopyBulk(void *to, const void *from, unsigned int bytes, uint64_t *full)
{
#if __CUDA_ARCH__ >= 900
  if (bytes) cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to, from, bytes, full);
#endif
}

/* Bytes of a window besides x and entries: lengths of rows if the padding is nonzero, order of rows, row sums and
   exponents */
struct Rest {
  unsigned int lengths, perm, exponents, sigma;

  template <class V, bool difference>
  static __device__ __forceinline__ Rest Count(const GroupsArguments &a, PetscInt w, unsigned int nslices)
  {
    const bool         whole = w < a.nwhole;
    const unsigned int lanes = 32 * nslices;

    return Rest{V::finite ? 0 : lanes, a.rowperm ? lanes : 0, whole && V::scaled ? static_cast<unsigned int>(VCRS_WINDOW * sizeof(int16_t)) : 0,
                whole && difference && a.sums ? static_cast<unsigned int>(VCRS_WINDOW * sizeof(Number)) : 0};
  }

  __device__ __forceinline__ unsigned int Sum() const
  {
    return lengths + perm + exponents + sigma;
  }

  __device__ __forceinline__ void CopySigma(const GroupsArguments &a, PetscInt w, char *to, uint64_t *full) const
  {
    CopyBulk(to, a.sigma.sigma + static_cast<PetscInt64>(VCRS_WINDOW) * w, sigma, full);
  }

  /* Copies everything except row sums */
  __device__ __forceinline__ void Copy(const GroupsArguments &a, PetscInt w, char *stage, uint64_t *full) const
  {
    const PetscInt64 row = static_cast<PetscInt64>(VCRS_WINDOW) * w;

    CopyBulk(stage + a.lengthsat, a.rowlength + row, lengths, full);
    CopyBulk(stage + a.permat, a.rowperm + row, perm, full);
    CopyBulk(stage + a.exponentat, a.exponent + row, exponents, full);
  }
};

/*
   Copies all data of window w, once the stage is free. x is excepted, and so are row sums that wait for y. Called by a
   warp; one thread copies. The copies and the copy of row sums count for barrier full. Returns the place of row sums. A
   separate place follows the entries. If a window leaves no room, row sums use the place of y after y is stored.
*/
template <class V, bool difference>
static __device__ __forceinline__ unsigned int CopyEntries(const GroupsArguments &a, PetscInt w, const Window &window, unsigned int nslices, const Rest &rest,
                                                           char *stage, uint64_t *full, uint64_t *empty, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
  typedef typename V::Code Code;
  constexpr unsigned int   first = difference ? 1 : 0;
  const unsigned int       lane  = threadIdx.x % 32;
  const PetscInt64         value = __shfl_sync(0xffffffffu, window.value, 0);
  const unsigned int       at = static_cast<unsigned int>(window.value - value), next = __shfl_down_sync(0xffffffffu, at, 1),
                     nvalues     = __shfl_sync(0xffffffffu, at, VCRS_WINDOW_SLICES);
  const unsigned int columnsat   = static_cast<unsigned int>(VCRS_GROUP * sizeof(Number)) * static_cast<unsigned int>(window.groupend - window.group);
  const unsigned int columnbytes = static_cast<unsigned int>(sizeof(uint16_t)) * (nvalues + 32 * first * nslices), valuesat = columnsat + columnbytes,
                     valuebytes = static_cast<unsigned int>(sizeof(Code)) * nvalues;
  const unsigned int end = valuesat + valuebytes, sigmaat = a.sigmaat == a.yat && end + rest.sigma <= a.slicesat ? end : a.sigmaat;
  const Slice        slice = Slice{columnsat + static_cast<unsigned int>(sizeof(uint16_t)) * (at + 32 * first * lane),
                            valuesat + static_cast<unsigned int>(sizeof(Code)) * at, sigmaat, lane < nslices ? static_cast<int>((next - at) / 32 + first) : -1};

  BarrierWait(empty, parity);

  /* entries may replace x, which was copied by another kind of copy: a fence orders both kinds */
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (lane < VCRS_WINDOW_SLICES) reinterpret_cast<Slice *>(stage + a.slicesat)[lane] = slice;
  __syncwarp();
  if (lane == 0) {
    (void)cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, full,
                                               columnbytes + valuebytes + rest.Sum());
    CopyBulk(stage + columnsat, a.column + value + 32 * first * static_cast<PetscInt64>(VCRS_WINDOW_SLICES) * w, columnbytes, full);
    CopyBulk(stage + valuesat, static_cast<const Code *>(a.value) + value, valuebytes, full);
    rest.Copy(a, w, stage, full);
    if (sigmaat != a.yat) rest.CopySigma(a, w, stage + sigmaat, full);
  }
  __syncwarp();
  return sigmaat;
#else
  return 0;
#endif
}

/* Stores y of window w, if gathered. Afterwards the stage is free */
[[maybe_unused]] static __device__ __forceinline__ void StoreWindow(const GroupsArguments &a, PetscInt w, const char *stage, uint64_t *done, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
  if (w >= a.nwhole) return;
  BarrierWait(done, parity);
  if (threadIdx.x % 32) return;
  cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, a.y + static_cast<PetscInt64>(VCRS_WINDOW) * w, stage + a.yat,
                           static_cast<uint32_t>(VCRS_WINDOW * sizeof(Number)));
  cuda::ptx::cp_async_bulk_commit_group();
  cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
#endif
}

/* The warp that fills a stage, with every a.stages-th window */
template <class V, bool difference>
static __device__ void FillStage(const GroupsArguments &a, int stage, const Barriers &barriers, char *to)
{
#if __CUDA_ARCH__ >= 900
  const int       lane  = threadIdx.x % 32;
  const PetscInt  step  = static_cast<PetscInt>(gridDim.x) * a.stages;
  uint64_t *const empty = barriers.empty + stage, *const done = barriers.done + stage;
  /* last: the window whose y is stored next */
  PetscInt     w = static_cast<PetscInt>(blockIdx.x) + stage * static_cast<PetscInt>(gridDim.x), last = a.nwhole;
  Window       window = Window::Read(a, w), next = Window::Read(a, w + step);
  uint32_t     parity = 1;
  int          turn   = 0;
  unsigned int id[VCRS_GROUPS_AHEAD];

  ReadGroups(a, window, id);
  __syncthreads();
  for (; w < a.nwindows; w += step) {
    uint64_t *const    full    = barriers.full + stage + turn * a.stages;
    const unsigned int nslices = static_cast<unsigned int>(PetscMin(a.nslices - w * VCRS_WINDOW_SLICES, VCRS_WINDOW_SLICES));
    const Rest         rest    = Rest::Count<V, difference>(a, w, nslices);
    const unsigned int sigmaat = CopyEntries<V, difference>(a, w, window, nslices, rest, to, full, empty, parity);
    const bool         async   = CopyGroups(a, PDLWait(a.x), window, id, to);

    StoreWindow(a, last, to, done, parity);
    if (lane == 0 && sigmaat == a.yat) rest.CopySigma(a, w, to + a.yat, full);
    if (async) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(SharedAddress(full)) : "memory");
    else BarrierArrive(full);
    last = w;
    parity ^= 1;
    turn = turn + 1 < a.teams ? turn + 1 : 0;

    /* data of the next window arrive while the stage is in use */
    window = next;
    ReadGroups(a, window, id);
    next = Window::Read(a, w + 2 * step);
  }
  StoreWindow(a, last, to, done, parity);
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

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

  static_cast<MultArguments &>(a) = *v;
  a.m                             = p->m;
  a.n                             = p->n;
  a.nwindows                      = VCRSWindows(p);
  a.nslices                       = p->slices.n;
  a.nlong                         = p->longrows.n;
  a.sliceptr                      = p->slices.ptr;
  a.value                         = p->slices.value;
  a.column                        = reinterpret_cast<const uint16_t *>(p->columns.offset);
  a.group                         = p->groups.group;
  a.groupptr                      = p->groups.ptr;
  a.groupfirst                    = p->groups.first;
  a.rowlength                     = p->lanes.length;
  a.rowperm                       = p->lanes.perm;
  a.longrow                       = p->longrows.row;
  a.longcol                       = p->longrows.col;
  a.longptr                       = p->longrows.ptr;
  a.longvalue                     = p->longrows.value;
  a.exponent                      = p->decoding.exponent;
  a.decode                        = GetDecodeArguments(p);
  a.sigma                         = GetSigmaArguments(p);
  a.slicesat                      = static_cast<unsigned int>(p->groups.mostbytes);
  a.lengthsat                     = a.slicesat + static_cast<unsigned int>(VCRS_WINDOW_SLICES * sizeof(Slice));
  a.permat                        = a.lengthsat + VCRS_WINDOW;
  a.exponentat                    = a.permat + (p->lanes.perm ? VCRS_WINDOW : 0);
  a.yat                           = a.exponentat + (p->decoding.exponent ? static_cast<unsigned int>(VCRS_WINDOW * sizeof(int16_t)) : 0);
  a.sums                          = p->sums.kind == VCRS_SIGMA_FULL;
  a.nwhole                        = reinterpret_cast<uintptr_t>(v->y) % 16 == 0 ? p->m / VCRS_WINDOW : 0;
  a.aligned                       = reinterpret_cast<uintptr_t>(v->x) % 16 == 0;
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

  return bytes + 1024 <= static_cast<size_t>(l->sharedbytes) / shape.blocks && bytes <= static_cast<size_t>(l->blockbytes);
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
  PetscCallCUDA(PDLLaunch(kernel, a->pdl, dim3(static_cast<unsigned int>(PetscMin(a->nwindows, static_cast<PetscInt>(blocks * l->multiprocessors)))),
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
  *runs = p->layout == MATVCRS_LAYOUT_L3 && p->grouped && l->sm90;
  if (!*runs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(VCRSBanksOrder(p, true, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelGroups = {"groups", GroupsPrepare, GroupsMult};
