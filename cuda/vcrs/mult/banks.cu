/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   L3 with grouped columns on a device: the order of the entries in their rows.

   The kernel of groups.cu has x in shared memory. An access serves a number of threads at a time, 16 with real double
   precision, from as many banks. Each further number in a bank costs another cycle. In the order of columns, entries k
   of every second row meet at random: an access takes 2.8 cycles instead of one. Rows are therefore permuted, one entry
   of each row after the other. The row with the fewest choices takes first, from the next entries of its list. The row
   prefers a number already accessed, then an unused bank. Among unused banks, the row prefers the bank requested most
   by the remaining entries. An access then takes 1.4 cycles.

   Half of a warp reads entries k of rows 0, 2, 4, ... of a slice, then of rows 1, 3, 5, ... The second half reads
   entries k + 1. In single precision both halves are served at a time.

   Columns and codes change places; the reference remains first. All further readers of a row on the device accept any
   order. On the host, rows are in the order of columns, so a download sorts the rows first.
*/

#include "../kernels.cuh"

/* Threads served at a time, each by a separate bank */
#define BANKS (128 / static_cast<int>(sizeof(Number)))

/* Candidates of a row for each place */
#define BANKS_AHEAD 8

/* Rows, and consecutive places, whose entries are read at the same time from the same banks */
#define BANKS_ROWS   PetscMin(BANKS, VCRS_SLICE / 2)
#define BANKS_PLACES (BANKS / BANKS_ROWS)

/* Requests of a bank at the current places: count of different numbers, and the last number. left: requests of all
   entries without a place */
struct Banks {
  static constexpr int size = VCRS_SLICE * BANKS_PLACES;
  int                  number[size], count[size], left[size];
};

/* The entries of a lane: column and code of entry k */
template <class Code>
struct LaneEntries {
  uint16_t *column;
  Code     *value;
  int       first, length; /* entries with a code are first ... length - 1 */

  __device__ __forceinline__ void Open(const VCRSPlan &p, PetscInt s, uint16_t *columns)
  {
    const int thread = threadIdx.x % VCRS_SLICE, lane = 2 * (thread % (VCRS_SLICE / 2)) + thread / (VCRS_SLICE / 2);

    first  = p.difference ? 1 : 0;
    length = p.lanes.length[static_cast<PetscInt64>(VCRS_SLICE) * s + lane];
    column = columns + lane;
    value  = static_cast<Code *>(p.slices.value) + (p.slices.ptr[s] + lane);
  }

  __device__ __forceinline__ uint16_t &Column(int k) const
  {
    return column[VCRS_SLICE * k];
  }

  __device__ __forceinline__ void Swap(int k, int q) const
  {
    Code *const a = value + VCRS_SLICE * (k - first), *const b = value + VCRS_SLICE * (q - first);
    const uint16_t c = Column(k);
    const Code     v = *a;

    Column(k) = Column(q);
    Column(q) = c;
    *a        = *b;
    *b        = v;
  }
};

/* A warp permutes the rows of a slice */
template <class Code>
[[maybe_unused]] static __device__ void SpreadSlice(const LaneEntries<Code> &lane, Banks &banks)
{
#if __CUDA_ARCH__ >= 900
  /* together: the first of the rows served at the same time */
  const int          thread = threadIdx.x % VCRS_SLICE, together = thread - thread % BANKS_ROWS;
  const int          bank0   = BANKS_PLACES * together;
  const unsigned int mask    = ((1u << BANKS_ROWS) - 1) << together;
  const int          longest = __reduce_max_sync(0xffffffffu, lane.length);

  for (int b = thread; b < Banks::size; b += VCRS_SLICE) banks.left[b] = 0;
  __syncwarp();
  for (int k = lane.first; k < lane.length; k++) atomicAdd(&banks.left[bank0 + lane.Column(k) % BANKS], 1);
  for (int k = lane.first; k < longest; k++) {
    bool       waits = k < lane.length;
    const bool pads  = (__ballot_sync(0xffffffffu, !waits) & mask) != 0; /* padding requests number 0 */

    if ((k - lane.first) % BANKS_PLACES == 0) {
      for (int b = thread; b < Banks::size; b += VCRS_SLICE) banks.number[b] = banks.count[b] = 0;
      __syncwarp();
    }
    if (pads && thread == together && !(banks.count[bank0] && banks.number[bank0] == 0)) {
      banks.number[bank0] = 0;
      banks.count[bank0]++;
    }
    __syncwarp();
    while (__any_sync(0xffffffffu, waits)) {
      unsigned int choices = 0;
      int          best = 0, worth = -1, bank = 0;

      for (int q = k; waits && q < PetscMin(lane.length, k + BANKS_AHEAD); q++) {
        const int  number = lane.Column(q), b = bank0 + number % BANKS, count = banks.count[b];
        const bool shared = count && banks.number[b] == number;
        const int  w      = ((shared ? VCRS_SLICE + 1 : VCRS_SLICE - count) << 16) + banks.left[b];

        if (shared || !count) choices++;
        if (w > worth) {
          worth = w;
          best  = q;
          bank  = b;
        }
      }

      const unsigned int turn = waits ? VCRS_SLICE * choices + thread : ~0u;

      if (turn == __reduce_min_sync(mask, turn) && waits) {
        if (best != k) lane.Swap(k, best);

        const int number = lane.Column(k);

        if (!banks.count[bank] || banks.number[bank] != number) banks.count[bank]++;
        banks.number[bank] = number;
        banks.left[bank]--;
        waits = false;
      }
      __syncwarp();
    }
  }
#endif
}

/* A block per window; the window's columns are in shared memory */
template <class Code>
static __global__ void __launch_bounds__(VCRS_WINDOW) SpreadWindows(const __grid_constant__ VCRSPlan p, PetscInt nwindows)
{
  extern __shared__ __align__(16) uint16_t columns[];
  __shared__ Banks                         banks[VCRS_WINDOW_SLICES];

  for (PetscInt w = blockIdx.x; w < nwindows; w += gridDim.x) {
    const PetscInt   begin = w * VCRS_WINDOW_SLICES, end = VCRSWindowEnd(&p, w), s = begin + static_cast<PetscInt>(threadIdx.x) / VCRS_SLICE;
    const PetscInt64 from = VCRSColumnBase(&p, begin);
    const int        n    = static_cast<int>(VCRSWindowColumns(&p, w));
    uint16_t *const  all  = reinterpret_cast<uint16_t *>(p.columns.offset) + VCRS_SLICE * from;

    for (int i = threadIdx.x; i < n; i += VCRS_WINDOW) columns[i] = all[i];
    __syncthreads();
    if (s < end) {
      LaneEntries<Code> lane;

      lane.Open(p, s, columns + VCRS_SLICE * static_cast<int>(VCRSColumnBase(&p, s) - from));
      SpreadSlice(lane, banks[threadIdx.x / VCRS_SLICE]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += VCRS_WINDOW) all[i] = columns[i];
    __syncthreads();
  }
}

/* A thread per lane sorts by numbers of columns, which have the order of columns */
template <class Code>
static __global__ void __launch_bounds__(VCRS_WINDOW) SortWindows(const __grid_constant__ VCRSPlan p, PetscInt nwindows)
{
  for (PetscInt w = blockIdx.x; w < nwindows; w += gridDim.x) {
    const PetscInt    s = w * VCRS_WINDOW_SLICES + static_cast<PetscInt>(threadIdx.x) / VCRS_SLICE;
    LaneEntries<Code> lane;

    if (s >= p.slices.n) continue;
    lane.Open(p, s, reinterpret_cast<uint16_t *>(p.columns.offset) + VCRS_SLICE * VCRSColumnBase(&p, s));
    for (int k = lane.first + 1; k < lane.length; k++) {
      for (int q = k; q > lane.first && lane.Column(q) < lane.Column(q - 1); q--) lane.Swap(q, q - 1);
    }
  }
}

template <class Code>
static PetscErrorCode BanksLaunch(const VCRSPlan *p, bool spread, cudaStream_t stream)
{
  const PetscInt nwindows = VCRSWindows(p), blocks = PetscMin(nwindows, 65536);

  PetscFunctionBegin;
  if (!nwindows) PetscFunctionReturn(PETSC_SUCCESS);
  if (spread) {
    const size_t bytes = sizeof(uint16_t) * static_cast<size_t>(p->groups.mostcolumns);

    PetscCallCUDA(cudaFuncSetAttribute(SpreadWindows<Code>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    SpreadWindows<Code><<<static_cast<unsigned int>(blocks), VCRS_WINDOW, bytes, stream>>>(*p, nwindows);
  } else SortWindows<Code><<<static_cast<unsigned int>(blocks), VCRS_WINDOW, 0, stream>>>(*p, nwindows);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream)); /* products need a complete plan, see common/pdl.cuh */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSBanksOrder(const VCRSPlan *p, bool spread, cudaStream_t stream)
{
  PetscFunctionBegin;
  switch (VCRSValueBytes(p->values)) {
  case 1:
    PetscCall(BanksLaunch<Raw<1>::type>(p, spread, stream));
    break;
  case 2:
    PetscCall(BanksLaunch<Raw<2>::type>(p, spread, stream));
    break;
  case 4:
    PetscCall(BanksLaunch<Raw<4>::type>(p, spread, stream));
    break;
  case 8:
    PetscCall(BanksLaunch<Raw<8>::type>(p, spread, stream));
    break;
  default:
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "No grouped columns with entries of %zu bytes", VCRSValueBytes(p->values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
