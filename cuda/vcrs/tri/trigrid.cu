/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Triangular systems by tiles of a grid (lithe/private/vcrs/order.h): a block has a tile of 32 lines. Entries of x
   depend on each other, and pass through shared memory. All further data are loaded ahead.

     warp 0         a thread per line, a cell per step: sums products of entries and x from shared memory
     warp 1         follows the lines of neighbouring tiles as these tiles compute x
     further warps  decode the rows of later steps

   The entry of x computed by line (a, k) in step s is at ring[s % 32][(a, k)]. Entries of neighbouring tiles are stored
   as if their lines belonged to the tile. An entry is used at most `lag` steps later, so warp 1 may be 32 - lag steps
   ahead. All warps publish their progress.
*/

#include "tri.cuh"

#define VCRS_TRI_RING    32 /* steps, a power of two */
#define VCRS_TRI_WARPS   8
#define VCRS_TRI_FEEDERS (VCRS_TRI_WARPS - 2)
#define VCRS_TRI_AHEAD   (8 / VCRS_COMPONENTS) /* entries of a neighbouring tile's line that are loaded at a time */
#define VCRS_TRI_EARLY   32                    /* distance in rows of prefetched data */

struct TriGridArguments : TriArguments {
  VCRSOrderGrid g;
  PetscInt      n;
  bool          upper;
  float         perline, perplane; /* reciprocals */
  /* of the ring. pitch: from one k to the next; lines: all lines */
  int        pitch, lines;
  const int *way; /* L0, L1, L2: TriWay() of all entries of index sets */
};

/* Decoded rows of later steps */
template <int entries>
struct TriSteps {
  static constexpr int depth = entries <= 4 ? 16 : 8;
  Number               value[depth][entries][32];
  Number               right[depth][32];
  unsigned short       place[depth][entries][32]; /* place in the ring */
};

/* Blocks per multiprocessor, without spilled registers */
template <int entries, bool sets>
static constexpr int TriGridBlocks()
{
  if (VCRS_COMPONENTS == 2) return entries <= 6 ? 2 : 1;
  return entries <= 4 && sets ? 4 : (entries <= 13 ? 3 : 2);
}

/* A line of a tile or of a neighbouring tile */
struct TriLine {
  PetscInt first; /* position of the first cell */
  bool     there;
  int      late; /* first step of the line */
  int      place;
};

/* The progress of the warps of a block */
struct TriProgress {
  volatile int solved;                /* finished steps */
  volatile int ready;                 /* steps before this step have all entries of neighbouring tiles */
  volatile int fed[VCRS_TRI_FEEDERS]; /* the next step of each further warp */
  unsigned int task;
};

static __device__ __forceinline__ TriLine TriGetLine(const TriGridArguments &t, PetscInt tile, int a, int k)
{
  const VCRSOrderGrid &g  = t.g;
  const PetscInt       gk = tile / g.across * g.height + k, j = tile % g.across * g.width + a - g.skew * gk;
  TriLine              line;

  line.there = gk >= 0 && gk < g.planes && j >= 0 && j < g.lines;
  line.first = (gk * g.lines + j) * g.line;
  line.late  = g.slant * a + g.rise * k;
  line.place = a + g.before + t.pitch * (k + g.below);
  return line;
}

/* Place in the ring of the entries computed in a step */
static __device__ __forceinline__ int TriPlace(const TriGridArguments &t, int step, int place)
{
  return (step & (VCRS_TRI_RING - 1)) * t.lines + place;
}

static __device__ __forceinline__ int TriWarpMin(int a)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffu, a);
#else
  for (int d = 16; d; d /= 2) a = min(a, __shfl_xor_sync(0xffffffffu, a, d));
  return a;
#endif
}

/* Publishes a number: a warp that reads the number also sees all data written before */
static __device__ __forceinline__ void TriPublish(volatile int *to, int number)
{
  __syncwarp();
  __threadfence_block();
  if (threadIdx.x % 32 == 0) *to = number;
}

/* ------------------------------------------------------------ warp 0 */

/* Waits for the entries of a step. Returns the first later step whose entries are missing */
static __device__ __forceinline__ int TriAwait(const TriProgress &progress, int step)
{
  const int lane = threadIdx.x % 32;
  int       until;

  do {
    until = 0x7fffffff;
    if (lane < VCRS_TRI_FEEDERS) until = progress.fed[lane];
    else if (lane == VCRS_TRI_FEEDERS) until = progress.ready;
    until = TriWarpMin(until);
  } while (until <= step);
  __threadfence_block();
  return until;
}

template <int entries>
static __device__ __forceinline__ void TriTake(const TriSteps<entries> &steps, int step, Number value[], int place[], Number *right)
{
  const int lane = threadIdx.x % 32, s = step & (TriSteps<entries>::depth - 1);

#pragma unroll
  for (int k = 0; k < entries; k++) {
    value[k] = steps.value[s][k][lane];
    place[k] = steps.place[s][k][lane];
  }
  *right = steps.right[s][lane];
}

template <int entries>
static __device__ __forceinline__ void TriSolve(const TriGridArguments &t, PetscInt tile, int nsteps, const TriSteps<entries> &steps, Number *ring,
                                                TriProgress &progress)
{
  const int     lane = threadIdx.x % 32;
  const TriLine line = TriGetLine(t, tile, lane % t.g.width, lane / t.g.width);
  Number       *x    = t.x + (t.upper ? t.n - 1 - line.first : line.first) + (t.upper ? line.late : -line.late);
  const int     way  = t.upper ? -1 : 1;

  for (int step = 0; step < nsteps;) {
    const int until = min(TriAwait(progress, step), nsteps);
    Number    value[entries], right;
    int       place[entries];

    TriTake<entries>(steps, step, value, place, &right);
    for (; step < until; step++) {
      Number sum[2] = {right, Number{}};

#pragma unroll
      for (int k = 0; k < entries; k++) sum[entries > 4 ? k % 2 : 0] = MultiplyAdd(value[k], ring[place[k]], sum[entries > 4 ? k % 2 : 0]);
      if (entries > 4) sum[0] = sum[0] + sum[1];
      ring[TriPlace(t, step, line.place)] = sum[0];
      if (line.there && step >= line.late && step - line.late < t.g.line) TriStore(x + static_cast<PetscInt64>(way) * step, sum[0]);

      /* the next row is loaded while this row is in flight */
      if (step + 1 < until) TriTake<entries>(steps, step + 1, value, place, &right);
      __syncwarp();
      if (lane == 0) progress.solved = step + 1;
    }
  }
}

/* ------------------------------------------------------------ warp 1 */

static __device__ __forceinline__ void TriFollow(const TriGridArguments &t, PetscInt tile, Number *ring, TriProgress &progress)
{
  const int     lane = threadIdx.x % 32, mine = min(lane, VCRS_ORDER_HALO - 1), never = 0x7fffffff;
  const TriLine line   = TriGetLine(t, tile, t.g.haloa[mine], t.g.halok[mine]);
  const bool    needed = lane < t.g.nhalo && line.there;
  const Number *x      = t.x + (t.upper ? t.n - 1 - line.first : line.first);
  const int     length = needed ? static_cast<int>(t.g.line) : 0;
  int           count  = 0; /* entries found so far */

  for (;;) {
    /* the number of entries for which the ring has room: older entries are no longer needed */
    const int room = min(length, progress.solved + VCRS_TRI_RING - t.g.lag - line.late) - count;
    Number    v[VCRS_TRI_AHEAD];
    bool      come = true;
    int       more = 0;

#pragma unroll
    for (int u = 0; u < VCRS_TRI_AHEAD; u++) {
      if (u < room) v[u] = TriLoad(t.upper ? x - (count + u) : x + (count + u));
    }
#pragma unroll
    for (int u = 0; u < VCRS_TRI_AHEAD; u++) {
      come = come && u < room && TriIsSet(v[u]);
      if (come) {
        ring[TriPlace(t, count + u + line.late, line.place)] = v[u];
        more++;
      }
    }
    count += more;

    /* step s needs results of earlier steps */
    const int until = TriWarpMin(count < length ? count + line.late + 1 : never);

    TriPublish(&progress.ready, until);
    if (until == never) return;
    if (!__any_sync(0xffffffffu, room > 0)) TriPause();
  }
}

/* ------------------------------------------------------------ further warps */

static __device__ __forceinline__ void TriPrefetch(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

/* Prefetches data of later rows on the same line. The place of codes in the next slice is a guess, which is wrong if
   lengths differ */
static __device__ __forceinline__ void TriPrefetchRow(const VCRSPlan &p, const TriGridArguments &t, const RowCursor &c, int codebytes)
{
  const PetscInt64 row = static_cast<PetscInt64>(c.row) + (t.upper ? -VCRS_TRI_EARLY : VCRS_TRI_EARLY);

  if (row < 0 || row >= p.m) return;
  if (row * sizeof(Number) % 32 == 0) TriPrefetch(t.b + row);
  if (p.layout != MATVCRS_LAYOUT_L0 && p.layout != MATVCRS_LAYOUT_L1 && p.layout != MATVCRS_LAYOUT_L2) return;
  if (row * p.sets.idbytes % 32 == 0) TriPrefetch(static_cast<const char *>(p.sets.id) + row * p.sets.idbytes);
  if (p.layout == MATVCRS_LAYOUT_L0) return;
  if (row % 32 == 0) TriPrefetch(p.slices.ptr + row / 32);
  if (row * codebytes % 32 == 0) {
    const PetscInt   n    = c.length - (p.difference ? 1 : 0);
    const PetscInt64 next = c.position + (t.upper ? -32 : 32) * static_cast<PetscInt64>(n);

    for (PetscInt k = 0; k < n; k++) {
      const PetscInt64 at = next + 32 * static_cast<PetscInt64>(k);

      if (at >= 0 && at < p.slices.nvalue) TriPrefetch(static_cast<const char *>(p.slices.value) + at * codebytes);
    }
  }
}

/* The way to an entry at a distance in the order: difference of steps, and difference of line places */
static __device__ __forceinline__ int TriWay(const TriGridArguments &t, PetscInt difference)
{
  const int dk   = __float2int_rn(static_cast<float>(difference) * t.perplane);
  PetscInt  rest = difference - dk * t.g.line * t.g.lines;
  const int dj = __float2int_rn(static_cast<float>(rest) * t.perline), da = dj + t.g.skew * dk, di = static_cast<int>(rest - dj * t.g.line);

  return (di + t.g.slant * da + t.g.rise * dk) * 65536 + (da + t.pitch * dk);
}

/* Stores entry k of a row that is summed in a step */
template <int entries>
static __device__ __forceinline__ void TriPut(const TriGridArguments &t, TriSteps<entries> &steps, int step, int lineplace, PetscInt k, Number v, int way)
{
  const int s = step & (TriSteps<entries>::depth - 1), lane = threadIdx.x % 32, places = static_cast<short>(way & 0xffff);

  steps.value[s][k][lane] = v;
  steps.place[s][k][lane] = static_cast<unsigned short>(TriPlace(t, step + (way - places) / 65536, lineplace + places));
}

/* The ways to entries of a row; for index sets, the ways are known */
template <int batch, bool sets>
static __device__ __forceinline__ void TriReadWays(const VCRSPlan &p, const TriGridArguments &t, const RowCursor &c, PetscInt k, int way[])
{
  if (sets) {
    const int *from = t.way + (c.column - p.sets.offset);

#pragma unroll
    for (int q = 0; q < batch; q++) way[q] = k + q < c.length ? __ldg(from + k + q) : 0;
  } else {
    PetscInt column[batch];

    TriReadColumns<batch>(c, k, 1, column);
#pragma unroll
    for (int q = 0; q < batch; q++) way[q] = TriWay(t, t.upper ? c.row - column[q] : column[q] - c.row);
  }
}

static __global__ void TriWaysKernel(const __grid_constant__ VCRSPlan p, const __grid_constant__ TriGridArguments t, PetscInt n, int *way)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x;

  if (k < n) way[k] = TriWay(t, t.upper ? -p.sets.offset[k] : p.sets.offset[k]);
}

/* A missing entry: a product of zeros */
template <int entries>
static __device__ __forceinline__ void TriPutNone(const TriGridArguments &t, TriSteps<entries> &steps, int step, PetscInt k)
{
  const int s = step & (TriSteps<entries>::depth - 1), lane = threadIdx.x % 32;

  steps.value[s][k][lane] = Number{};
  steps.place[s][k][lane] = static_cast<unsigned short>(VCRS_TRI_RING * t.lines);
}

template <int entries, bool sets>
static __device__ __forceinline__ void TriFeed(const VCRSPlan &p, const TriGridArguments &t, int codebytes, PetscInt tile, int nsteps, TriSteps<entries> &steps,
                                               TriProgress &progress)
{
  constexpr int batch = entries < 4 ? entries : 4, depth = TriSteps<entries>::depth;
  const int     lane = threadIdx.x % 32, feeder = static_cast<int>(threadIdx.x / 32) - 2, first = p.difference ? 1 : 0;
  const TriLine line = TriGetLine(t, tile, lane % t.g.width, lane / t.g.width);

  for (int step = feeder; step < nsteps; step += VCRS_TRI_FEEDERS) {
    const int  s      = step & (depth - 1);
    const bool active = line.there && step >= line.late && step - line.late < t.g.line;
    RowCursor  c      = RowCursor{};
    Number     right = Number{}, others = Number{};
    int        exponent = 0;

    if (active) {
      const PetscInt position = line.first + (step - line.late), row = t.upper ? t.n - 1 - position : position;

      c     = OpenRow(p, static_cast<VCRSUnsigned>(row));
      right = t.b[row];
      if (IsScaled(p)) exponent = p.decoding.exponent[row];
      TriPrefetchRow(p, t, c, codebytes);
    }
    while (progress.solved + depth <= step) TriPause();
    __threadfence_block();

    steps.right[s][lane] = right;
    for (PetscInt k0 = first; k0 < entries; k0 += batch) {
      int    way[batch];
      Number v[batch];

      TriReadWays<batch, sets>(p, t, c, k0, way);
      TriReadValues<batch>(p, c, k0, 1, v);
#pragma unroll
      for (int q = 0; q < batch; q++) {
        if (k0 + q < c.length) {
          if (exponent) v[q] = ScaleByPower(v[q], exponent);
          if (first) others = others + v[q];
          TriPut<entries>(t, steps, step, line.place, k0 + q, v[q], way[q]);
        } else if (k0 + q < entries) TriPutNone<entries>(t, steps, step, k0 + q);
      }
    }
    if (first) {
      if (c.length > 0) {
        int way[1];

        TriReadWays<1, sets>(p, t, c, 0, way);
        TriPut<entries>(t, steps, step, line.place, 0, RowSum(p, c.row) - others, way[0]);
      } else TriPutNone<entries>(t, steps, step, 0);
    }
    TriPublish(&progress.fed[feeder], step + VCRS_TRI_FEEDERS);
  }
  TriPublish(&progress.fed[feeder], 0x7fffffff);
}

/* ------------------------------------------------------------ all warps */

template <int entries, bool sets>
static __global__ void __launch_bounds__(32 * VCRS_TRI_WARPS, TriGridBlocks<entries, sets>())
  TriGridKernel(const __grid_constant__ VCRSPlan p, const __grid_constant__ TriGridArguments t, int codebytes)
{
  extern __shared__ __align__(16) char shared[];
  __shared__ TriProgress               progress;
  TriSteps<entries>                   &steps  = *reinterpret_cast<TriSteps<entries> *>(shared);
  Number                              *ring   = reinterpret_cast<Number *>(shared + sizeof(TriSteps<entries>));
  const int                            nsteps = static_cast<int>(t.g.line) + t.g.slant * (t.g.width - 1) + t.g.rise * (t.g.height - 1), warp = threadIdx.x / 32;

  for (;;) {
    __syncthreads(); /* all warps have finished the previous tile */
    if (threadIdx.x == 0) {
      progress.task                 = atomicAdd(t.ticket, 1u);
      progress.solved               = 0;
      progress.ready                = 0;
      ring[VCRS_TRI_RING * t.lines] = Number{};
    }
    if (threadIdx.x < VCRS_TRI_FEEDERS) progress.fed[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (progress.task >= t.ntasks) return;

    const PetscInt tile = __ldg(t.task + progress.task);

    if (warp == 0) TriSolve<entries>(t, tile, nsteps, steps, ring, progress);
    else if (warp == 1) TriFollow(t, tile, ring, progress);
    else TriFeed<entries, sets>(p, t, codebytes, tile, nsteps, steps, progress);
  }
}

static void TriGridRing(const VCRSOrderGrid *g, int *pitch, int *lines)
{
  *pitch = g->width + g->before;
  *lines = *pitch * (g->height + g->below);
}

/* Whether places of entries come from index sets instead of rows */
static bool TriGridHasSets(const VCRSPlan *p)
{
  return p->layout == MATVCRS_LAYOUT_L0 || p->layout == MATVCRS_LAYOUT_L1 || p->layout == MATVCRS_LAYOUT_L2;
}

static void TriGridGetArguments(const VCRSTri *tri, const PetscScalar *b, PetscScalar *x, TriGridArguments *t)
{
  const VCRSOrderGrid *g = &tri->order.g;

  t->b        = reinterpret_cast<const Number *>(b);
  t->x        = reinterpret_cast<Number *>(x);
  t->task     = tri->task;
  t->ntasks   = static_cast<unsigned int>(tri->order.ntasks);
  t->ticket   = tri->ticket;
  t->g        = *g;
  t->n        = tri->order.n;
  t->upper    = tri->order.upper ? true : false;
  t->perline  = 1.0f / static_cast<float>(g->line);
  t->perplane = 1.0f / (static_cast<float>(g->line) * static_cast<float>(g->lines));
  t->way      = tri->way;
  TriGridRing(g, &t->pitch, &t->lines);
}

/* Whether a tile fits into the shared memory of a block */
template <int entries, bool sets>
static PetscErrorCode TriGridFit(VCRSTri *tri, int lines)
{
  int device, multiprocessors, most, perprocessor;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  tri->entries = entries;
  tri->bytes   = static_cast<int>(sizeof(TriSteps<entries>) + (VCRS_TRI_RING * static_cast<size_t>(lines) + 1) * sizeof(Number));
  if (tri->bytes + static_cast<int>(sizeof(TriProgress)) > most || VCRS_TRI_RING * lines >= 65536) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFuncSetAttribute(TriGridKernel<entries, sets>, cudaFuncAttributeMaxDynamicSharedMemorySize, tri->bytes));
  PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perprocessor, TriGridKernel<entries, sets>, 32 * VCRS_TRI_WARPS, tri->bytes));
  tri->blocks = static_cast<int>(PetscMin(static_cast<PetscInt64>(tri->order.ntasks), static_cast<PetscInt64>(perprocessor) * multiprocessors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int entries, bool sets>
static PetscErrorCode TriGridLaunch(const VCRSTri *tri, const VCRSPlan *p, const TriGridArguments *t, cudaStream_t stream)
{
  PetscFunctionBegin;
  /* a property of the function: another matrix may have set a smaller size */
  PetscCallCUDA(cudaFuncSetAttribute(TriGridKernel<entries, sets>, cudaFuncAttributeMaxDynamicSharedMemorySize, tri->bytes));
  TriGridKernel<entries, sets>
    <<<static_cast<unsigned int>(tri->blocks), 32 * VCRS_TRI_WARPS, tri->bytes, stream>>>(*p, *t, static_cast<int>(VCRSValueBytes(p->values)));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels, by the largest number of entries per row */
#define TRI_GRID_CASES(Case) Case(3) Case(4) Case(6) Case(9) Case(13) Case(VCRS_ORDER_LONGEST)

PetscErrorCode VCRSTriGridPrepare(VCRSTri *tri, const VCRSPlan *p, cudaStream_t stream)
{
  TriGridArguments t;

  PetscFunctionBegin;
  TriGridGetArguments(tri, NULL, NULL, &t);
#define TRI_GRID_FIT(n)                                                    \
  if (!tri->entries && tri->order.longest <= n) {                          \
    if (TriGridHasSets(p)) PetscCall((TriGridFit<n, true>(tri, t.lines))); \
    else PetscCall((TriGridFit<n, false>(tri, t.lines)));                  \
  }
  TRI_GRID_CASES(TRI_GRID_FIT)
#undef TRI_GRID_FIT
  PetscCheck(tri->blocks > 0, PETSC_COMM_SELF, PETSC_ERR_GPU,
             "The shared memory of this GPU does not hold the rows of a tile, %d bytes: -mat_vcrs_substitution_grids 0 solves by levels", tri->bytes);
  if (TriGridHasSets(p)) {
    PetscInt n;

    PetscCallCUDA(cudaMemcpy(&n, p->sets.ptr + p->sets.n, sizeof(n), cudaMemcpyDeviceToHost));
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&tri->way), PetscMax(n, 1) * sizeof(int)));
    if (n) TriWaysKernel<<<static_cast<unsigned int>((n + 255) / 256), 256, 0, stream>>>(*p, t, n, tri->way);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSTriGridSolve(const VCRSTri *tri, const VCRSPlan *p, const PetscScalar *b, PetscScalar *x, cudaStream_t stream)
{
  TriGridArguments t;

  PetscFunctionBegin;
  TriGridGetArguments(tri, b, x, &t);
  switch (tri->entries) {
#define TRI_GRID_LAUNCH(n)                                                          \
  case n:                                                                           \
    if (TriGridHasSets(p)) PetscCall((TriGridLaunch<n, true>(tri, p, &t, stream))); \
    else PetscCall((TriGridLaunch<n, false>(tri, p, &t, stream)));                  \
    break;
    TRI_GRID_CASES(TRI_GRID_LAUNCH)
#undef TRI_GRID_LAUNCH
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
