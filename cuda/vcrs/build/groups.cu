/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   L3, grouped columns, of a matrix on the device, as vcrs/build/groups.c on the host. A block per window, a thread per
   lane. The bit map of the window's groups is in shared memory.
*/

#include "build.cuh"
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#define GROUP_WORDS (VCRS_GROUP_SPAN / 32)
#define LANE_WORDS  (GROUP_WORDS / VCRS_WINDOW)

/* Numbers for the choice */
typedef struct {
  unsigned long long ngroups;
  unsigned long long mostbytes;
  int                mostgroups, mostcolumns, toowide;
} GroupSizes;

/* The columns of the thread's row; NULL for a row without entries in its slice */
static __device__ __forceinline__ const PetscInt *LaneColumns(const VCRSBuild &b, const VCRSPlan &plan, PetscInt w, PetscInt *length)
{
  const PetscInt64 lane = VCRS_WINDOW * static_cast<PetscInt64>(w) + threadIdx.x;

  *length = lane < VCRS_SLICE * static_cast<PetscInt64>(plan.slices.n) ? plan.lanes.length[lane] : 0;
  if (!*length) return NULL;
  return b.j + b.i[VCRSLaneRow(&plan, lane)];
}

/* Marks the groups of all columns in a window, and returns the first group. All threads of the block call this
   function. *toowide: a group of this thread is too far from the first group for a mark */
static __device__ PetscInt MarkGroups(const PetscInt *column, PetscInt length, unsigned int mark[], bool *toowide)
{
  typedef cub::BlockReduce<PetscInt, VCRS_WINDOW> Reduce;
  __shared__ typename Reduce::TempStorage         storage;
  __shared__ PetscInt                             first;
  PetscInt                                        least = PETSC_INT_MAX;

  for (PetscInt k = 0; k < length; k++) least = PetscMin(least, column[k]);
  least = Reduce(storage).Reduce(least, [](PetscInt a, PetscInt c) { return a < c ? a : c; });
  if (threadIdx.x == 0) first = least == PETSC_INT_MAX ? 0 : least / VCRS_GROUP;
  for (int k = threadIdx.x; k < GROUP_WORDS; k += VCRS_WINDOW) mark[k] = 0;
  __syncthreads();
  *toowide = false;
  for (PetscInt k = 0; k < length; k++) {
    const PetscInt g = column[k] / VCRS_GROUP - first;

    if (g < VCRS_GROUP_SPAN) atomicOr(&mark[g / 32], 1u << (g % 32));
    else *toowide = true;
  }
  __syncthreads();
  return first;
}

static __device__ __forceinline__ int CountMarks(const unsigned int mark[])
{
  int n = 0;

  for (int k = 0; k < LANE_WORDS; k++) n += __popc(mark[LANE_WORDS * threadIdx.x + k]);
  return n;
}

/* Counts groups per window; ptr[nwindows] = 0 */
static __global__ void __launch_bounds__(VCRS_WINDOW)
  MeasureGroups(VCRSBuild b, VCRSPlan plan, PetscInt nwindows, PetscInt *ptr, PetscInt *first, GroupSizes *sizes)
{
  typedef cub::BlockReduce<int, VCRS_WINDOW> Reduce;
  __shared__ typename Reduce::TempStorage    storage;
  __shared__ unsigned int                    mark[GROUP_WORDS];

  for (PetscInt w = blockIdx.x; w < nwindows; w += gridDim.x) {
    PetscInt        length, least;
    const PetscInt *column = LaneColumns(b, plan, w, &length);
    bool            toowide;
    int             n;

    __syncthreads();
    least = MarkGroups(column, length, mark, &toowide);
    n     = 1 + Reduce(storage).Sum(CountMarks(mark));
    if (toowide) atomicMax(&sizes->toowide, 1);
    if (threadIdx.x == 0) {
      ptr[w]   = n;
      first[w] = least;
      atomicAdd(&sizes->ngroups, static_cast<unsigned long long>(n));
      atomicMax(&sizes->mostgroups, n);
      atomicMax(&sizes->mostbytes, static_cast<unsigned long long>(VCRSWindowBytes(&plan, w, n)));
      atomicMax(&sizes->mostcolumns, static_cast<int>(VCRSWindowColumns(&plan, w)));
    }
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) ptr[nwindows] = 0;
}

/* Fills the lists of groups, and the columns, which are zero before */
static __global__ void __launch_bounds__(VCRS_WINDOW) FillGroups(VCRSBuild b, VCRSPlan plan, PetscInt nwindows)
{
  typedef cub::BlockScan<int, VCRS_WINDOW> Scan;
  __shared__ typename Scan::TempStorage    storage;
  __shared__ unsigned int                  mark[GROUP_WORDS];
  __shared__ unsigned short                place[GROUP_WORDS]; /* place in the list of the first group of a word */

  for (PetscInt w = blockIdx.x; w < nwindows; w += gridDim.x) {
    uint16_t       *group = plan.groups.group + plan.groups.ptr[w];
    PetscInt        length, first;
    const PetscInt *column = LaneColumns(b, plan, w, &length);
    bool            toowide;
    int             n;

    __syncthreads();
    first = MarkGroups(column, length, mark, &toowide);
    Scan(storage).ExclusiveSum(CountMarks(mark), n);
    n++;
    if (threadIdx.x == 0) group[0] = 0;
    for (int k = 0; k < LANE_WORDS; k++) {
      const int word = LANE_WORDS * threadIdx.x + k;

      place[word] = static_cast<unsigned short>(n);
      for (unsigned int left = mark[word]; left; left &= left - 1) group[n++] = static_cast<uint16_t>(32 * word + __ffs(static_cast<int>(left)) - 1);
    }
    __syncthreads();
    if (length) {
      const PetscInt64 lane = VCRS_WINDOW * static_cast<PetscInt64>(w) + threadIdx.x;
      uint16_t        *to   = reinterpret_cast<uint16_t *>(plan.columns.offset) + VCRS_SLICE * VCRSColumnBase(&plan, lane / VCRS_SLICE) + lane % VCRS_SLICE;

      for (PetscInt k = 0; k < length; k++) {
        const PetscInt     c = column[k] - VCRS_GROUP * first, g = c / VCRS_GROUP;
        const unsigned int bit = 1u << (g % 32);

        to[VCRS_SLICE * static_cast<PetscInt64>(k)] = static_cast<uint16_t>(VCRS_GROUP * (place[g / 32] + __popc(mark[g / 32] & (bit - 1))) + c % VCRS_GROUP);
      }
    }
  }
}

/* Decides whether the columns of an L3 plan are grouped, and writes grouped columns */
PetscErrorCode DeviceFindGroups(VCRSBuild *build, VCRSPlan *dplan)
{
  DeviceBuild   *d        = DeviceOf(build);
  const PetscInt nwindows = VCRSWindows(dplan);
  const int      blocks   = (int)PetscMax(1, PetscMin(nwindows, VCRS_GRID_MAX));
  GroupSizes    *dsizes, sizes;
  PetscInt      *ptr, *first;

  PetscFunctionBegin;
  dplan->m = d->b.csr.m;
  if (!VCRSMayGroup(dplan)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceAllocateZero(d, 1, &dsizes));
  PetscCall(DeviceAllocate(&d->memory, (size_t)nwindows + 1, &ptr));
  PetscCall(DeviceAllocate(&d->memory, nwindows, &first));
  MeasureGroups<<<blocks, VCRS_WINDOW, 0, d->stream>>>(d->b, *dplan, nwindows, ptr, first, dsizes);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dsizes, 1, &sizes));
  PetscCall(DeviceFree(&d->memory, &dsizes));
  if (sizes.toowide || sizes.ngroups > (unsigned long long)PETSC_INT_MAX ||
      !VCRSChooseGroups(dplan, (PetscInt64)sizes.ngroups, sizes.mostgroups, (PetscInt64)sizes.mostbytes)) {
    PetscCall(DeviceFree(&d->memory, &ptr));
    PetscCall(DeviceFree(&d->memory, &first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DeviceScan(d, (PetscInt64)nwindows + 1, ptr));
  dplan->grouped            = PETSC_TRUE;
  dplan->groups.ptr         = ptr;
  dplan->groups.first       = first;
  dplan->groups.n           = (PetscInt)sizes.ngroups;
  dplan->groups.most        = sizes.mostgroups;
  dplan->groups.mostcolumns = sizes.mostcolumns;
  dplan->groups.mostbytes   = (PetscInt)sizes.mostbytes;
  dplan->columns.nbytes     = (PetscInt64)sizeof(uint16_t) * VCRS_SLICE * dplan->columns.nbase;
  dplan->columns.nbase      = 0;
  PetscCall(DeviceFree(&d->memory, &dplan->columns.base));
  PetscCall(DeviceFree(&d->memory, &dplan->columns.width));
  PetscCall(DeviceFree(&d->memory, &dplan->columns.begin));
  PetscCall(DeviceAllocate(&d->memory, dplan->groups.n, &dplan->groups.group));
  PetscCall(DeviceAllocateZero(d, dplan->columns.nbytes, &dplan->columns.offset));
  FillGroups<<<blocks, VCRS_WINDOW, 0, d->stream>>>(d->b, *dplan, nwindows);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
