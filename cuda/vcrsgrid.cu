/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2, complex entries of one or two bytes, where the commonest index set is that of a
   grid: the box of 27 points. So few bytes are needed that the reads of x from L2 and L1 bind. As in L0 a
   thread works on several rows a plane apart: it reads rows + 2 entries of x where three rows of one point
   each would read 3 rows.

   These rows lie between the first and the last for which the common set stays inside x, so that all is
   read before it is known whether a row has that set; if not, the sum is not written. The other rows,
   boundaries, are in a list that is made once per matrix; warps do 32 of them at a time, at different
   times, because these rows wait long for what they need.

   Device memory must have more bytes under way than registers can wait for: a warp copies the entries of
   the slices that it comes to next to shared memory, asynchronously (TMA, from compute capability 9.0 on).
*/

#include "vcrsgrid.cuh"
#include "vcrssets.cuh"
#include <cub/device/device_select.cuh>
#include <cuda/ptx>
#include <thrust/iterator/counting_iterator.h>

/* Points are numbered in the order of columns: the row itself, and how far its neighbours along the stride are in this order */
static constexpr int points = 27, self = 13, below = 9;

/* The points of the row's own plane, itself first */
static __device__ __forceinline__ constexpr int PlanePoint(int t)
{
  return t == 0 ? 13 : (t < 5 ? 8 + t : 9 + t);
}

/* Where point p of the grid is in the set, and among the stored entries */
template <bool difference>
static __device__ __forceinline__ constexpr int InSet(int p)
{
  return !difference ? p : (p == self ? 0 : (p < self ? p + 1 : p));
}

template <bool difference>
static __device__ __forceinline__ constexpr int Stored(int p)
{
  return InSet<difference>(p) - (difference ? 1 : 0);
}

/*
   The sums of the thread's rows, as if all had the common set; value[j] is where the entries of row j
   begin. Step t is a column of points along the stride; its x is read while the step ahead steps before is summed.
*/
template <int rows, int ahead, bool difference, class V>
static __device__ __forceinline__ void SumGrid(const SetsArguments &a, const V &values, const typename V::Code *const value[rows], const Number *x, Number xref[rows], Number sum[rows])
{
  constexpr int  steps  = 9;
  const PetscInt stride = a.stride;
  Number         xs[ahead + 1][rows + 2];

#pragma unroll
  for (int t = 0; t < steps + ahead; t++) {
    if (t < steps) {
      const Number *xt = x + a.offset[InSet<difference>(PlanePoint(t))] - stride;

#pragma unroll
      for (int r = 0; r < rows + 2; r++) xs[t % (ahead + 1)][r] = Read(xt + r * stride);
    }
    if (t >= ahead) {
      const int now = t - ahead, at = now % (ahead + 1);

      if (now == 0) {
#pragma unroll
        for (int j = 0; j < rows; j++) {
          xref[j] = difference ? xs[at][j + 1] : Number{};
          sum[j]  = Number{};
        }
      }
#pragma unroll
      for (int k = 0; k < 3; k++) {
        const int q = PlanePoint(now) + (k - 1) * below;

        if (difference && q == self) continue;
#pragma unroll
        for (int j = 0; j < rows; j++) sum[j] = MultiplyAdd(values.Decode(value[j][32 * Stored<difference>(q)]), difference ? xs[at][j + k] - xref[j] : xs[at][j + k], sum[j]);
      }
    }
  }
}

/*
   The rows of the list, 32 at a time, a thread a row. They wait long for what they need, so that
   different warps do theirs at different times, among the turns of their other work.
*/
struct ListedRows {
  PetscInt     item, warps;
  unsigned int pause, period;

  /* So many warps a block, so many turns of this warp */
  __device__ __forceinline__ ListedRows(unsigned int blockwarps, unsigned int turns)
  {
    const unsigned int warp = blockIdx.x * blockwarps + threadIdx.x / 32;

    item   = static_cast<PetscInt>(warp);
    warps  = static_cast<PetscInt>(gridDim.x * blockwarps);
    pause  = warp % turns;
    period = turns / 4;
  }

  __device__ __forceinline__ bool IsTime() { return pause-- == 0; }

  template <VCRSValues kind, bool difference>
  __device__ __forceinline__ void Mult(const SetsArguments &a, const Values<kind> &values)
  {
    const PetscInt q = 32 * item + static_cast<PetscInt>(threadIdx.x % 32);

    item += warps;
    pause = period;
    if (q < a.nlisted) {
      const VCRSUnsigned row    = static_cast<VCRSUnsigned>(__ldg(a.listed + q));
      const RowHead      head   = ReadHead<kind, difference>(a, row, true);
      const PetscInt     start  = __ldg(a.setptr + head.id);
      const PetscInt    *offset = a.setoffset + start;
      const int          length = static_cast<int>(__ldg(a.setptr + head.id + 1) - start);
      const Number      *x      = Whole(a.x + row);
      const Number       xref   = difference && length > 0 ? Read(x + __ldg(offset)) : Number{};
      const Number       sum    = SumTable<3, difference>(values, static_cast<const typename Values<kind>::Code *>(a.value) + head.start + row % 32, x, xref, offset, length);

      WriteRow<kind, difference>(a, row, head.exponent, length == 0, difference ? ReadHeadSigma(a, head, row) : Number{}, xref, sum);
    }
  }

  template <VCRSValues kind, bool difference>
  __device__ __forceinline__ void MultRest(const SetsArguments &a, const Values<kind> &values)
  {
    const PetscInt n = (a.nlisted + 31) / 32;

#pragma unroll 1
    while (item < n) Mult<kind, difference>(a, values);
  }
};

/*
   Turn number turn of a block: it has neighbouring slices of as many lines as can be, a line being so
   many slices about. The first of the thread's rows, counted from the first row of all; where the last
   band would reach beyond the last row it begins earlier, and what the one before has done is not written
   again. Returns whether there are rows for this thread; if not, it works along on others.
*/
template <int rows, int warps>
static __device__ __forceinline__ bool GridTurn(const SetsArguments &a, unsigned int turn, VCRSUnsigned *row0, VCRSUnsigned *writefrom)
{
  constexpr unsigned int lines = 4, width = warps / lines;
  const VCRSUnsigned     stride = a.stride, last = static_cast<VCRSUnsigned>(a.nmain) - rows * stride;
  const unsigned int     warp = threadIdx.x / 32, across = (a.lineslices + width - 1) / width, strip = turn / across, at = (turn - strip * across) * width + warp % width;
  const unsigned int     band = strip / a.strips, slice = ((strip - band * a.strips) * lines + warp / width) * a.lineslices + at;
  const VCRSUnsigned     g = 32 * static_cast<VCRSUnsigned>(slice) + threadIdx.x % 32, begin = static_cast<VCRSUnsigned>(band) * rows * stride;
  const bool             is = at < a.lineslices && g < stride;

  *row0      = static_cast<VCRSUnsigned>(a.firstmain) + (begin < last ? begin : last) + (is ? g : 0);
  *writefrom = static_cast<VCRSUnsigned>(a.firstmain) + begin;
  return is;
}

static __device__ __forceinline__ void PrefetchToL2(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* The entries of a warp's slices, copied to shared memory before their turn; bytes: of a slice of rows that have the common set */
template <int rows, int stages, int bytes>
struct Stages {
  char     *buffer;
  uint64_t *barrier;

  static constexpr size_t warpbytes = static_cast<size_t>(stages) * (rows * bytes + sizeof(uint64_t));

  /* All threads of the warp */
  __device__ __forceinline__ void Setup(char *shared, int warps)
  {
    const int warp = threadIdx.x / 32;

    buffer  = shared + warp * stages * rows * bytes;
    barrier = reinterpret_cast<uint64_t *>(shared + warps * stages * rows * bytes) + warp * stages;
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0) {
      for (int s = 0; s < stages; s++) cuda::ptx::mbarrier_init(barrier + s, 1);
      cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    }
    __syncwarp();
#endif
  }

  /* Thread j of the warp has where the entries of slice j begin, and how many bytes; the others have none */
  __device__ __forceinline__ void Start(int stage, const char *from, uint32_t n)
  {
#if __CUDA_ARCH__ >= 900
    const uint32_t all = __reduce_add_sync(0xffffffffu, n);

    if (threadIdx.x % 32 == 0) cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared, barrier + stage, all);
    __syncwarp();
    if (n) cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, buffer + (stage * rows + static_cast<int>(threadIdx.x % 32)) * bytes, from, n, barrier + stage);
#endif
  }

  __device__ __forceinline__ void Wait(int stage, unsigned int turn) const
  {
#if __CUDA_ARCH__ >= 900
    while (!cuda::ptx::mbarrier_try_wait_parity(barrier + stage, turn & 1u)) { }
#endif
  }
};

template <VCRSValues kind, bool difference, int rows, int ahead, int stages, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) GridKernel(const __grid_constant__ SetsArguments a, unsigned int turns)
{
  typedef typename Values<kind>::Code   Code;
  constexpr int                         entries = 32 * (points - (difference ? 1 : 0));
  extern __shared__ __align__(128) char shared[];
  const int                             lane = threadIdx.x % 32;
  const VCRSUnsigned                    stride = a.stride;
  ListedRows                            listed(threads / 32, (turns - blockIdx.x + gridDim.x - 1) / gridDim.x);
  Values<kind>                          values;
  Stages<rows, stages, entries * static_cast<int>(sizeof(Code))> staged;

  values.Setup(shared, a.decode);
  staged.Setup(shared + Values<kind>::sharedbytes, threads / 32);

  /* the slice of row lane of the thread's rows in turn number turn */
  auto find = [&](unsigned int turn, PetscInt64 &start, PetscInt64 &end) {
    VCRSUnsigned row0, writefrom;

    start = end = 0;
    if (turn < turns && GridTurn<rows, threads / 32>(a, turn, &row0, &writefrom) && lane < rows) {
      const VCRSUnsigned s = (row0 - lane + lane * stride) / 32;

      start = __ldg(a.sliceptr + s);
      end   = __ldg(a.sliceptr + s + 1);
    }
  };
  auto copy = [&](int stage, PetscInt64 start, PetscInt64 end) { staged.Start(stage, static_cast<const char *>(a.value) + start * static_cast<PetscInt64>(sizeof(Code)), static_cast<uint32_t>(end - start < entries ? end - start : entries) * static_cast<uint32_t>(sizeof(Code))); };

#pragma unroll 1
  for (int s = 0; s < stages; s++) {
    PetscInt64 start, end;

    find(blockIdx.x + s * gridDim.x, start, end);
    copy(s, start, end);
  }

  int          stage = 0;
  unsigned int round = 0;

#pragma unroll 1
  for (unsigned int turn = blockIdx.x; turn < turns; turn += gridDim.x) {
    VCRSUnsigned row0, writefrom;
    const bool   is = GridTurn<rows, threads / 32>(a, turn, &row0, &writefrom);
    const Code  *value[rows];
    PetscInt     id[rows];
    uint32_t     sums[rows];
    PetscInt64   start, end; /* of what is copied next */
    Number       sum[rows], xref[rows];

    if (listed.IsTime()) listed.Mult<kind, difference>(a, values);
    find(turn + stages * gridDim.x, start, end);
#pragma unroll
    for (int j = 0; j < rows; j++) {
      const VCRSUnsigned row = row0 + j * stride;

#if __CUDA_ARCH__ >= 900
      value[j] = reinterpret_cast<const Code *>(staged.buffer + (stage * rows + j) * entries * sizeof(Code)) + lane;
#else
      const PetscInt64 from = __ldg(a.sliceptr + row / 32);

      value[j] = static_cast<const Code *>(a.value) + (from < a.laststart ? from : a.laststart) + lane;
#endif
      id[j] = ReadId(a.id, a.idbytes, row);
      if (Values<kind>::scaled && lane % 16 == 0) PrefetchToL2(a.exponent + row);
      if (difference && a.sigma.kind == VCRS_SIGMA_FULL && lane % (32 / sizeof(Number)) == 0) PrefetchToL2(a.sigma.sigma + row);
      sums[j] = difference && a.sigma.kind == VCRS_SIGMA_SPARSE ? __ldg(a.sigma.mask + row / 32) >> row % 32 & 1u : static_cast<uint32_t>(difference && a.sigma.kind == VCRS_SIGMA_FULL);
    }
    staged.Wait(stage, round);
    SumGrid<rows, ahead, difference>(a, values, value, Whole(a.x + row0), xref, sum);
    __syncwarp();
    copy(stage, start, end);
    if (++stage == stages) {
      stage = 0;
      round++;
    }
#pragma unroll
    for (int j = 0; j < rows; j++) {
      const VCRSUnsigned row = row0 + j * stride;

      if (is && id[j] == a.common && row >= writefrom) WriteRow<kind, difference>(a, row, Values<kind>::scaled ? __ldcs(a.exponent + row) : 0, false, sums[j] ? ReadSigma(a.sigma, row) : Number{}, xref[j], sum[j]);
    }
  }
  listed.MultRest<kind, difference>(a, values);
}

template <VCRSValues kind, bool difference, int rows, int ahead, int stages, int threads, int blocks>
static PetscErrorCode GridLaunch(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  constexpr int      warps  = threads / 32, bytes = 32 * (points - (difference ? 1 : 0)) * static_cast<int>(sizeof(typename Values<kind>::Code));
  constexpr size_t   shared = Values<kind>::sharedbytes + warps * Stages<rows, stages, bytes>::warpbytes;
  constexpr unsigned lines = 4, width = warps / lines;
  const auto         kernel = GridKernel<kind, difference, rows, ahead, stages, threads, blocks>;
  const PetscInt64   slices = a->stride / 32, bands = (a->nmain + static_cast<PetscInt64>(rows) * a->stride - 1) / (static_cast<PetscInt64>(rows) * a->stride);
  SetsArguments      b      = *a;
  PetscInt64         turns, n;

  PetscFunctionBegin;
  static_assert(rows <= VCRS_GRID_ROWS, "the rows between the first and the last are enough");
  b.lineslices = static_cast<unsigned int>(b.line ? PetscMax(1, (b.line + 16) / 32) : PetscMin(slices, 32));
  b.strips     = static_cast<unsigned int>(((slices + b.lineslices - 1) / b.lineslices + lines - 1) / lines);
  turns        = bands * b.strips * ((b.lineslices + width - 1) / width);
  n            = PetscMin(turns, static_cast<PetscInt64>(l->multiprocessors) * blocks);
  PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  kernel<<<static_cast<unsigned int>(n), threads, shared, stream>>>(b, static_cast<unsigned int>(turns));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shapes are measured, see docs/kernels.md; what waits in shared memory leaves L1 enough for x */
template <VCRSValues kind>
static PetscErrorCode GridLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (p->difference) PetscCall((GridLaunch<kind, true, 2, 1, 2, 256, Values<kind>::sharedbytes ? 2 : 3>(l, a, stream)));
  else PetscCall((GridLaunch<kind, false, 2, 1, 2, 256, Values<kind>::sharedbytes ? 2 : 3>(l, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSGridMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  SetsArguments a;

  PetscFunctionBegin;
  SetsGetArguments(l, p, v, &a);
  if (p->values == VCRS_VALUES_FIXED8) PetscCall(GridLaunchKind<VCRS_VALUES_FIXED8>(l, p, &a, stream));
  else if (p->values == VCRS_VALUES_LOG8) PetscCall(GridLaunchKind<VCRS_VALUES_LOG8>(l, p, &a, stream));
  else PetscCall(GridLaunchKind<VCRS_VALUES_DICT8>(l, p, &a, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a row is none of those that threads work on several of */
struct IsListed {
  const void     *id;
  int             idbytes;
  const uint32_t *word;
  uint32_t        wanted;
  VCRSUnsigned    first, end;

  __device__ bool operator()(PetscInt row) const
  {
    const VCRSUnsigned r = static_cast<VCRSUnsigned>(row);
    const PetscInt     p = ReadId(id, idbytes, r);

    return r < first || r >= end || (__ldg(word + p) & wanted) != wanted;
  }
};

/* Makes the list of rows but those whose sets' words have all wanted bits, which so many have; taken is false where these are too few, or the grid too small */
PetscErrorCode VCRSGridList(VCRSLaunch *l, const VCRSPlan *p, uint32_t wanted, PetscInt have, PetscBool *taken, cudaStream_t stream)
{
  const IsListed                            listed = {p->id, static_cast<int>(p->idbytes), l->dword, wanted, static_cast<VCRSUnsigned>(l->firstmain), static_cast<VCRSUnsigned>(l->firstmain + l->nmain)};
  const thrust::counting_iterator<PetscInt> rows(0);
  const PetscInt                            most = p->m - have + 2 * VCRS_SLICE;
  size_t                                    bytes = 0;
  char                                     *work  = NULL;
  PetscInt                                 *count;

  PetscFunctionBegin;
  *taken = l->nmain <= 0 || l->nmain < VCRS_GRID_ROWS * static_cast<PetscInt64>(l->stride) || most > p->m / 4 ? PETSC_FALSE : PETSC_TRUE;
  if (!*taken) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cub::DeviceSelect::If(work, bytes, rows, l->dlisted, static_cast<PetscInt *>(NULL), p->m, listed, stream));
  bytes = (bytes + sizeof(PetscInt) - 1) / sizeof(PetscInt) * sizeof(PetscInt);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->dlisted), most * sizeof(*l->dlisted)));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&work), bytes + sizeof(*count)));
  count = reinterpret_cast<PetscInt *>(work + bytes);
  PetscCallCUDA(cub::DeviceSelect::If(work, bytes, rows, l->dlisted, count, p->m, listed, stream));
  PetscCallCUDA(cudaMemcpyAsync(&l->nlisted, count, sizeof(*count), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
