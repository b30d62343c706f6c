/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The slices of a plan and the arrays, on the device, as vcrs/build/build.c and vcrs/build/encode.c on the host */

#include "build.cuh"

/* ------------------------------------------------------------------ slices of L1 and L2 */

/* Counts entries per slice, with a warp per slice; entries[nslices] = 0 */
static __global__ void __launch_bounds__(VCRS_BLOCK) CountSetSlices(PetscInt m, const PetscInt *i, PetscInt first, PetscInt nslices, PetscInt64 *entries)
{
  VCRS_FOR_ALL(PetscInt64, lane, VCRS_SLICE * ((PetscInt64)nslices + 1))
  {
    PetscInt len = lane < m ? i[lane + 1] - i[lane] - first : 0;

    len = WarpMax(PetscMax(len, 0));
    if (lane % VCRS_SLICE == 0) entries[lane / VCRS_SLICE] = VCRS_SLICE * (PetscInt64)len;
  }
}

/* Computes offsets of the slices of L1 and L2, and the number of entries */
PetscErrorCode DeviceMeasureSetSlices(VCRSBuild *build)
{
  DeviceBuild   *d = DeviceOf(build);
  const PetscInt m = d->b.csr.m, nslices = (m + VCRS_SLICE - 1) / VCRS_SLICE;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, nslices + 1, &d->setsliceptr));
  CountSetSlices<<<LaunchBlocks(VCRS_SLICE * ((PetscInt64)nslices + 1)), VCRS_BLOCK, 0, d->stream>>>(m, d->b.csr.i, d->b.difference ? 1 : 0, nslices,
                                                                                                     d->setsliceptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceScan(d, (PetscInt64)nslices + 1, d->setsliceptr));
  PetscCall(DeviceGet(d, d->setsliceptr + nslices, 1, &d->b.facts.setvalues));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ slices of L3 */

typedef struct {
  unsigned long long padded[VCRS_NLIMITS], natural[VCRS_NLIMITS], longentries[VCRS_NLIMITS];
} SliceSizes;

typedef struct {
  PetscInt limit[VCRS_NLIMITS];
} SliceLimits;

/* The position of the thread's row in its window, in the order of decreasing length. Rows of equal length keep their
   order. len: shared memory */
static __device__ __forceinline__ int RankRow(const int *len)
{
  const int mine = len[threadIdx.x];
  int       rank = 0;

  for (int r = 0; r < VCRS_WINDOW; r++) rank += len[r] > mine || (len[r] == mine && r < (int)threadIdx.x);
  return rank;
}

/* Sizes for all limits at once, with a block per window */
static __global__ void __launch_bounds__(VCRS_WINDOW) MeasureWindows(PetscInt m, const PetscInt *i, SliceLimits limits, SliceSizes *sizes)
{
  __shared__ int len[VCRS_WINDOW], sorted[VCRS_WINDOW];

  for (PetscInt64 w = (PetscInt64)blockIdx.x * VCRS_WINDOW; w < m; w += (PetscInt64)gridDim.x * VCRS_WINDOW) {
    const PetscInt64 row    = w + threadIdx.x;
    const PetscInt   length = row < m ? i[row + 1] - i[row] : 0;

    for (int t = 0; t < VCRS_NLIMITS; t++) {
      const PetscInt     mine = length > limits.limit[t] ? 0 : length;
      const PetscInt     most = WarpMax(mine);
      unsigned long long rest = length > limits.limit[t] ? (unsigned long long)length : 0;

      len[threadIdx.x] = (int)mine;
      __syncthreads();
      sorted[RankRow(len)] = (int)mine;
      __syncthreads();
      for (int half = 16; half > 0; half /= 2) rest += __shfl_xor_sync(0xffffffffu, rest, half);

      /* the first row of a sorted slice is the longest */
      if (threadIdx.x % VCRS_SLICE == 0) {
        if (sorted[threadIdx.x]) atomicAdd(&sizes->padded[t], (unsigned long long)VCRS_SLICE * sorted[threadIdx.x]);
        if (most) atomicAdd(&sizes->natural[t], (unsigned long long)VCRS_SLICE * most);
        if (rest) atomicAdd(&sizes->longentries[t], rest);
      }
    }
  }
}

/* Sets lanes.length, and lanes.perm unless NULL, with a block per window. nlane: lanes of all slices */
static __global__ void __launch_bounds__(VCRS_WINDOW)
  OrderWindows(PetscInt m, const PetscInt *i, PetscInt limit, PetscInt64 nlane, uint8_t *rowperm, uint8_t *rowlength)
{
  __shared__ int len[VCRS_WINDOW];

  for (PetscInt64 w = (PetscInt64)blockIdx.x * VCRS_WINDOW; w < m; w += (PetscInt64)gridDim.x * VCRS_WINDOW) {
    const PetscInt64 row    = w + threadIdx.x;
    PetscInt         length = row < m ? i[row + 1] - i[row] : 0;
    int              rank   = threadIdx.x;

    if (length > limit) length = 0;
    if (rowperm) {
      __syncthreads();
      len[threadIdx.x] = (int)length;
      __syncthreads();
      rank = RankRow(len);
    }
    /* lanes after the last row have no entries and come last */
    if (w + rank < nlane) {
      rowlength[w + rank] = (uint8_t)length;
      if (rowperm) rowperm[w + rank] = (uint8_t)threadIdx.x;
    }
  }
}

/* Counts stored values per slice, with a warp per slice; slices.ptr[slices.n] = 0 */
static __global__ void __launch_bounds__(VCRS_BLOCK) MeasureSlices(VCRSPlan plan)
{
  VCRS_FOR_ALL(PetscInt64, lane, VCRS_SLICE * ((PetscInt64)plan.slices.n + 1))
  {
    const PetscInt64 s       = lane / VCRS_SLICE;
    const PetscInt   longest = WarpMax(s < plan.slices.n ? plan.lanes.length[lane] : 0);

    if (lane % VCRS_SLICE == 0) plan.slices.ptr[s] = VCRS_SLICE * (PetscInt64)PetscMax(0, longest - (plan.difference ? 1 : 0));
  }
}

/* For each column position k of a slice: the smallest column of the lanes. For each slice: the common width of the
   offsets from these columns, and their bytes. A warp per slice */
static __global__ void __launch_bounds__(VCRS_BLOCK) MeasureColumns(VCRSBuild b, VCRSPlan plan)
{
  VCRS_FOR_ALL(PetscInt64, lane, VCRS_SLICE * ((PetscInt64)plan.slices.n + 1))
  {
    const PetscInt64 s      = lane / VCRS_SLICE;
    const PetscInt   length = s < plan.slices.n ? plan.lanes.length[lane] : 0, longest = WarpMax(length);
    const PetscInt  *c    = length ? b.j + b.i[VCRSLaneRow(&plan, lane)] : NULL;
    PetscInt        *base = s < plan.slices.n ? plan.columns.base + VCRSColumnBase(&plan, s) : NULL;
    uint64_t         span = 0;
    int              width;

    for (PetscInt k = 0; k < longest; k++) {
      const PetscInt least = WarpMin(k < length ? c[k] : PETSC_INT_MAX), most = WarpMax(k < length ? c[k] : 0);

      span = PetscMax(span, (uint64_t)(most - least));
      if (lane % VCRS_SLICE == 0) base[k] = least;
    }
    if (lane % VCRS_SLICE == 0) {
      width                 = span <= 0xff ? 1 : (span <= 0xffff ? 2 : (span <= 0xffffffffULL ? 4 : 8));
      plan.columns.begin[s] = VCRS_SLICE * (PetscInt64)longest * width;
      if (s < plan.slices.n) plan.columns.width[s] = (uint8_t)width;

      /* an empty slice of the difference form has a base, too, which no kernel uses */
      if (s < plan.slices.n && plan.difference && !longest) base[0] = 0;
    }
  }
}

/* Marks long rows; number[m] = 0 */
static __global__ void MarkLongRows(PetscInt m, const PetscInt *i, PetscInt limit, PetscInt *number)
{
  VCRS_FOR_ALL(PetscInt, row, m + 1)
  number[row] = row < m && i[row + 1] - i[row] > limit;
}

static __global__ void CollectLongRows(PetscInt m, const PetscInt *i, PetscInt limit, const PetscInt *number, VCRSPlan plan)
{
  VCRS_FOR_ALL(PetscInt, row, m)
  {
    const PetscInt len = i[row + 1] - i[row];

    if (len > limit) {
      plan.longrows.row[number[row]] = row;
      plan.longrows.ptr[number[row]] = len;
    }
    if (!row) plan.longrows.ptr[plan.longrows.n] = 0;
  }
}

/* A block per row */
static __global__ void CopyLongColumns(VCRSBuild b, VCRSPlan plan)
{
  for (PetscInt q = blockIdx.x; q < plan.longrows.n; q += gridDim.x) {
    const PetscInt from = b.i[plan.longrows.row[q]], len = (PetscInt)(plan.longrows.ptr[q + 1] - plan.longrows.ptr[q]);

    for (PetscInt k = threadIdx.x; k < len; k += blockDim.x) plan.longrows.col[plan.longrows.ptr[q] + k] = b.j[from + k];
  }
}

/* Fills the arrays of L3 except the values and columns.offset */
PetscErrorCode DeviceFindSlices(VCRSBuild *build, size_t valuebytes, VCRSPlan *plan)
{
  DeviceBuild   *d = DeviceOf(build);
  const PetscInt m = d->b.csr.m, nwindow = (m + VCRS_WINDOW - 1) / VCRS_WINDOW;
  const int      windowblocks = (int)PetscMax(1, PetscMin(nwindow, VCRS_GRID_MAX));
  PetscInt       limit, *number;
  PetscInt64     padded[VCRS_NLIMITS], longs[VCRS_NLIMITS], nlane;
  SliceLimits    limits;
  SliceSizes    *dsizes, sizes;
  int            chosen = 0;

  PetscFunctionBegin;
  /* the longest row in a slice, and whether rows are sorted */
  for (int t = 0; t < VCRS_NLIMITS; t++) limits.limit[t] = VCRSSliceLimits[t];
  PetscCall(DeviceAllocateZero(d, 1, &dsizes));
  MeasureWindows<<<windowblocks, VCRS_WINDOW, 0, d->stream>>>(m, d->b.csr.i, limits, dsizes);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dsizes, 1, &sizes));
  PetscCall(DeviceFree(&d->memory, &dsizes));
  for (int t = 0; t < VCRS_NLIMITS; t++) {
    padded[t] = (PetscInt64)sizes.padded[t];
    longs[t]  = (PetscInt64)sizes.longentries[t];
  }
  limit = VCRSChooseSliceLimit(d->longest, m > 0 ? (PetscInt)(d->nz / m) : 0, valuebytes, padded, longs);
  while (VCRSSliceLimits[chosen] != limit) chosen++;

  plan->difference        = d->b.difference;
  plan->longrows.nentries = longs[chosen];
  plan->lanes.sorted      = (PetscBool)((double)sizes.natural[chosen] > (1. + VCRS_PAD_TOLERANCE) * (double)padded[chosen]);
  plan->slices.n          = (m + VCRS_SLICE - 1) / VCRS_SLICE;
  nlane                   = VCRS_SLICE * (PetscInt64)plan->slices.n;
  PetscCall(DeviceAllocate(&d->memory, nlane, &plan->lanes.length));
  if (plan->lanes.sorted) PetscCall(DeviceAllocate(&d->memory, nlane, &plan->lanes.perm));
  OrderWindows<<<windowblocks, VCRS_WINDOW, 0, d->stream>>>(m, d->b.csr.i, limit, nlane, plan->lanes.perm, plan->lanes.length);
  PetscCallCUDA(cudaGetLastError());

  /* long rows */
  if (plan->longrows.nentries) {
    const int blocks = LaunchBlocks((PetscInt64)m + 1);

    PetscCall(DeviceAllocate(&d->memory, (size_t)m + 1, &number));
    MarkLongRows<<<blocks, VCRS_BLOCK, 0, d->stream>>>(m, d->b.csr.i, limit, number);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(DeviceScan(d, (PetscInt64)m + 1, number));
    PetscCall(DeviceGet(d, number + m, 1, &plan->longrows.n));
    PetscCall(DeviceAllocate(&d->memory, plan->longrows.n, &plan->longrows.row));
    PetscCall(DeviceAllocate(&d->memory, (size_t)plan->longrows.n + 1, &plan->longrows.ptr));
    PetscCall(DeviceAllocate(&d->memory, plan->longrows.nentries, &plan->longrows.col));
    CollectLongRows<<<blocks, VCRS_BLOCK, 0, d->stream>>>(m, d->b.csr.i, limit, number, *plan);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(DeviceScan(d, (PetscInt64)plan->longrows.n + 1, plan->longrows.ptr));
    CopyLongColumns<<<(int)PetscMin(plan->longrows.n, VCRS_GRID_MAX), VCRS_BLOCK, 0, d->stream>>>(d->b, *plan);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(DeviceFree(&d->memory, &number));
  }

  /* offsets of slices, and widths of their columns */
  PetscCall(DeviceAllocate(&d->memory, (size_t)plan->slices.n + 1, &plan->slices.ptr));
  PetscCall(DeviceAllocate(&d->memory, (size_t)plan->slices.n + 1, &plan->columns.begin));
  PetscCall(DeviceAllocate(&d->memory, plan->slices.n, &plan->columns.width));
  MeasureSlices<<<LaunchBlocks(nlane + VCRS_SLICE), VCRS_BLOCK, 0, d->stream>>>(*plan);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceScan(d, (PetscInt64)plan->slices.n + 1, plan->slices.ptr));
  PetscCall(DeviceGet(d, plan->slices.ptr + plan->slices.n, 1, &plan->longrows.value));
  plan->columns.nbase = plan->longrows.value / VCRS_SLICE + (plan->difference ? plan->slices.n : 0);
  PetscCall(DeviceAllocate(&d->memory, plan->columns.nbase, &plan->columns.base));
  MeasureColumns<<<LaunchBlocks(nlane + VCRS_SLICE), VCRS_BLOCK, 0, d->stream>>>(d->b, *plan);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceScan(d, (PetscInt64)plan->slices.n + 1, plan->columns.begin));
  PetscCall(DeviceGet(d, plan->columns.begin + plan->slices.n, 1, &plan->columns.nbytes));
  plan->slices.nvalue = plan->longrows.value + plan->longrows.nentries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ sets */

template <class Id>
static __global__ void NarrowIds(PetscInt m, const PetscInt *id, Id *to)
{
  VCRS_FOR_ALL(PetscInt, row, m)
  to[row] = (Id)id[row];
}

/* In the difference form, the reference has minus the sum of all further entries. A thread per set */
static __global__ void SumSets(PetscInt n, VCRSPlan plan)
{
  VCRS_FOR_ALL(PetscInt, p, n)
  {
    const PetscInt start = plan.sets.ptr[p], end = plan.sets.ptr[p + 1];
    PetscScalar    sum = 0.;

    for (PetscInt k = start + 1; k < end; k++) sum -= plan.sets.value[k];
    if (end > start) plan.sets.value[start] = sum;
  }
}

/* A warp per set */
static __global__ void CopySets(VCRSBuild b, PetscInt n, const PetscInt *rep, VCRSPlan plan)
{
  VCRS_FOR_ALL(PetscInt64, lane, 32 * (PetscInt64)n)
  {
    const PetscInt64 p   = lane / 32;
    const PetscInt   row = rep[p], from = b.i[row], to = plan.sets.ptr[p], len = b.i[row + 1] - from;

    for (PetscInt k = (PetscInt)(lane % 32); k < len; k += 32) {
      plan.sets.offset[to + k] = b.j[from + k] - row;
      if (plan.sets.value) plan.sets.value[to + k] = b.a[from + k];
    }
  }
}

/* Copies ids, index sets and, in L0, values to dplan. The sets are copied to table, too */
PetscErrorCode DeviceEncodeSets(VCRSBuild *build, VCRSPlan *dplan)
{
  DeviceBuild      *d      = DeviceOf(build);
  VCRSPlan         *table  = d->table;
  const PetscBool   pairs  = (PetscBool)(dplan->layout == MATVCRS_LAYOUT_L0);
  const DeviceSets *s      = pairs ? &d->pairs : &d->sets;
  const PetscInt   *id     = pairs ? d->b.found.pairid : d->b.found.setid;
  const PetscInt    m      = d->b.csr.m;
  const int         blocks = LaunchBlocks(m);
  PetscInt64        total  = 0;
  uint8_t          *ids;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < s->n; p++) total += s->length[p];
  if (total > PETSC_INT_MAX) {
    d->b.tohost = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  dplan->sets.n       = s->n;
  dplan->sets.idbytes = VCRSIdBytes(s->n);
  PetscCall(PetscMalloc1((size_t)s->n + 1, &table->sets.ptr));
  table->sets.ptr[0] = 0;
  for (PetscInt p = 0; p < s->n; p++) table->sets.ptr[p + 1] = table->sets.ptr[p] + s->length[p];

  PetscCall(DeviceAllocate(&d->memory, (size_t)dplan->sets.idbytes * (size_t)m, &ids));
  dplan->sets.id = ids;
  if (dplan->sets.idbytes == 1) NarrowIds<<<blocks, VCRS_BLOCK, 0, d->stream>>>(m, id, ids);
  else if (dplan->sets.idbytes == 2) NarrowIds<<<blocks, VCRS_BLOCK, 0, d->stream>>>(m, id, reinterpret_cast<uint16_t *>(ids));
  else NarrowIds<<<blocks, VCRS_BLOCK, 0, d->stream>>>(m, id, reinterpret_cast<uint32_t *>(ids));
  PetscCallCUDA(cudaGetLastError());

  PetscCall(DeviceAllocate(&d->memory, (size_t)s->n + 1, &dplan->sets.ptr));
  PetscCall(DeviceAllocate(&d->memory, total, &dplan->sets.offset));
  if (pairs) PetscCall(DeviceAllocate(&d->memory, total, &dplan->sets.value));
  PetscCall(DevicePut(d, table->sets.ptr, (size_t)s->n + 1, dplan->sets.ptr));
  CopySets<<<LaunchBlocks(32 * (PetscInt64)s->n), VCRS_BLOCK, 0, d->stream>>>(d->b, s->n, s->rep, *dplan);
  PetscCallCUDA(cudaGetLastError());
  if (pairs && d->b.difference) {
    SumSets<<<LaunchBlocks(s->n), VCRS_BLOCK, 0, d->stream>>>(s->n, *dplan);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscCall(PetscMalloc1(total, &table->sets.offset));
  PetscCall(DeviceGet(d, dplan->sets.offset, total, table->sets.offset));
  if (pairs) {
    PetscCall(PetscMalloc1(total, &table->sets.value));
    PetscCall(DeviceGet(d, dplan->sets.value, total, table->sets.value));
  }
  PetscCall(PetscMalloc1(s->n, &table->sets.count));
  PetscCall(PetscArraycpy(table->sets.count, s->count, s->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ values and columns */

/* Stores the entry at position p of the matrix at pos of value[] */
template <VCRSValues values>
static __device__ __forceinline__ void Put(const VCRSBuild &b, const DeviceDictionary &t, double step, void *value, PetscInt p, PetscInt64 pos)
{
  const PetscInt   nc = VCRS_COMPONENTS;
  const PetscReal *v  = reinterpret_cast<const PetscReal *>(b.a + p);

  if (values == VCRS_VALUES_FULL) static_cast<PetscScalar *>(value)[pos] = b.a[p];
  else if (values == VCRS_VALUES_DICT8) static_cast<uint8_t *>(value)[pos] = (uint8_t)t.code[DictionaryFind(t, b.a[p])];
  else if (values == VCRS_VALUES_DICT16) static_cast<uint16_t *>(value)[pos] = t.code[DictionaryFind(t, b.a[p])];
  else {
    for (PetscInt c = 0; c < nc; c++) {
      const PetscInt64 to = pos * nc + c;

      if (values == VCRS_VALUES_SINGLE) static_cast<float *>(value)[to] = (float)v[c];
      if (values == VCRS_VALUES_LOG8) static_cast<uint8_t *>(value)[to] = (uint8_t)b.rounded.code[(size_t)p * nc + c];
      if (values == VCRS_VALUES_LOG16) static_cast<uint16_t *>(value)[to] = b.rounded.code[(size_t)p * nc + c];
      if (values == VCRS_VALUES_FIXED8) static_cast<int8_t *>(value)[to] = (int8_t)(int)((double)v[c] / step);
      if (values == VCRS_VALUES_FIXED16) static_cast<int16_t *>(value)[to] = (int16_t)(int)((double)v[c] / step);
    }
  }
}

template <VCRSValues values>
static __device__ __forceinline__ double GetStep(const VCRSBuild &b, PetscInt row)
{
  return values == VCRS_VALUES_FIXED8 || values == VCRS_VALUES_FIXED16 ? LithePow2(b.found.exponent[row]) : 1.;
}

/* A thread per lane; the arrays are zero before */
template <VCRSValues values>
static __global__ void __launch_bounds__(VCRS_BLOCK) FillSlices(VCRSBuild b, DeviceDictionary t, VCRSPlan plan)
{
  const PetscInt first = b.difference ? 1 : 0;

  VCRS_FOR_ALL(PetscInt64, lane, VCRS_SLICE * (PetscInt64)plan.slices.n)
  {
    const PetscInt64 s = lane / VCRS_SLICE, row = VCRSLaneRow(&plan, lane);
    const int        l = (int)(lane % VCRS_SLICE);
    PetscInt         p, len;
    double           step;

    if (row >= b.m) continue;
    p    = b.i[row];
    len  = plan.layout == MATVCRS_LAYOUT_L3 ? plan.lanes.length[lane] : b.i[row + 1] - p;
    step = GetStep<values>(b, (PetscInt)row);
    for (PetscInt k = first; k < len; k++) Put<values>(b, t, step, plan.slices.value, p + k, plan.slices.ptr[s] + VCRS_SLICE * (PetscInt64)(k - first) + l);
    if (plan.layout == MATVCRS_LAYOUT_L3 && !plan.grouped) {
      const PetscInt *base  = plan.columns.base + VCRSColumnBase(&plan, s);
      const int       width = plan.columns.width[s];
      uint8_t        *to    = plan.columns.offset + plan.columns.begin[s];

      for (PetscInt k = 0; k < len; k++) {
        const PetscInt   off = b.j[p + k] - base[k];
        const PetscInt64 at  = VCRS_SLICE * (PetscInt64)k + l;

        if (width == 1) to[at] = (uint8_t)off;
        else if (width == 2) reinterpret_cast<uint16_t *>(to)[at] = (uint16_t)off;
        else if (width == 4) reinterpret_cast<uint32_t *>(to)[at] = (uint32_t)off;
        else reinterpret_cast<uint64_t *>(to)[at] = (uint64_t)off;
      }
    }
  }
}

/* A block per row. In the difference form, the slot of entry 0 remains zero */
template <VCRSValues values>
static __global__ void __launch_bounds__(VCRS_BLOCK) FillLongRows(VCRSBuild b, DeviceDictionary t, VCRSPlan plan)
{
  const PetscInt first = b.difference ? 1 : 0;

  for (PetscInt q = blockIdx.x; q < plan.longrows.n; q += gridDim.x) {
    const PetscInt row = plan.longrows.row[q], p = b.i[row], len = b.i[row + 1] - p;
    const double   step = GetStep<values>(b, row);

    for (PetscInt k = first + (PetscInt)threadIdx.x; k < len; k += blockDim.x)
      Put<values>(b, t, step, plan.slices.value, p + k, plan.longrows.value + plan.longrows.ptr[q] + k);
  }
}

template <VCRSValues values>
static PetscErrorCode Fill(DeviceBuild *d, const VCRSPlan *dplan)
{
  PetscFunctionBegin;
  FillSlices<values><<<LaunchBlocks(VCRS_SLICE * (PetscInt64)dplan->slices.n), VCRS_BLOCK, 0, d->stream>>>(d->b, d->dictionary, *dplan);
  if (dplan->longrows.n) FillLongRows<values><<<(int)PetscMin(dplan->longrows.n, VCRS_GRID_MAX), VCRS_BLOCK, 0, d->stream>>>(d->b, d->dictionary, *dplan);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Encodes values of L1, L2 and L3, columns of L3 unless grouped, and data for decoding. dplan already has the arrays of
   DeviceFindSlices() */
PetscErrorCode DeviceEncodeSlices(VCRSBuild *build, VCRSPlan *dplan)
{
  DeviceBuild *d     = DeviceOf(build);
  VCRSPlan    *table = d->table;
  uint8_t     *value;

  PetscFunctionBegin;
  if (dplan->layout != MATVCRS_LAYOUT_L3) {
    dplan->slices.n      = (d->b.m + VCRS_SLICE - 1) / VCRS_SLICE;
    dplan->slices.nvalue = dplan->longrows.value = d->b.facts.setvalues;
    dplan->slices.ptr                            = d->setsliceptr;
  }
  PetscCall(DeviceAllocateZero(d, VCRSValueBytes(dplan->values) * (size_t)dplan->slices.nvalue, &value));
  dplan->slices.value = value;
  if (dplan->layout == MATVCRS_LAYOUT_L3 && !dplan->grouped) PetscCall(DeviceAllocateZero(d, dplan->columns.nbytes, &dplan->columns.offset));
  switch (dplan->values) {
  case VCRS_VALUES_FULL:
    PetscCall(Fill<VCRS_VALUES_FULL>(d, dplan));
    break;
  case VCRS_VALUES_SINGLE:
    PetscCall(Fill<VCRS_VALUES_SINGLE>(d, dplan));
    break;
  case VCRS_VALUES_DICT8:
    PetscCall(Fill<VCRS_VALUES_DICT8>(d, dplan));
    break;
  case VCRS_VALUES_DICT16:
    PetscCall(Fill<VCRS_VALUES_DICT16>(d, dplan));
    break;
  case VCRS_VALUES_LOG8:
    PetscCall(Fill<VCRS_VALUES_LOG8>(d, dplan));
    break;
  case VCRS_VALUES_LOG16:
    PetscCall(Fill<VCRS_VALUES_LOG16>(d, dplan));
    break;
  case VCRS_VALUES_FIXED8:
    PetscCall(Fill<VCRS_VALUES_FIXED8>(d, dplan));
    break;
  case VCRS_VALUES_FIXED16:
    PetscCall(Fill<VCRS_VALUES_FIXED16>(d, dplan));
    break;
  }

  /* data for decoding */
  if (dplan->values == VCRS_VALUES_DICT8 || dplan->values == VCRS_VALUES_DICT16) {
    dplan->decoding.ndict = d->b.facts.ndict;
    PetscCall(DeviceAllocate(&d->memory, dplan->decoding.ndict, &dplan->decoding.dict));
    PetscCall(DevicePut(d, d->dict, dplan->decoding.ndict, dplan->decoding.dict));
    table->decoding.dict = d->dict;
    d->dict              = NULL;
  } else if (dplan->values == VCRS_VALUES_LOG8 || dplan->values == VCRS_VALUES_LOG16) {
    PetscCall(DeviceAllocate(&d->memory, 256, &dplan->decoding.coarse));
    PetscCall(DeviceAllocate(&d->memory, 256, &dplan->decoding.fine));
    PetscCall(DevicePut(d, d->log->coarse, 256, dplan->decoding.coarse));
    PetscCall(DevicePut(d, d->log->fine, 256, dplan->decoding.fine));
    PetscCall(PetscMalloc1(256, &table->decoding.coarse));
    PetscCall(PetscMalloc1(256, &table->decoding.fine));
    PetscCall(PetscArraycpy(table->decoding.coarse, d->log->coarse, 256));
    PetscCall(PetscArraycpy(table->decoding.fine, d->log->fine, 256));
    PetscCall(PetscArraycpy(dplan->decoding.power, d->log->power, VCRS_LOG_POWERS));
    dplan->decoding.shortlog = d->log->isshort ? PETSC_TRUE : PETSC_FALSE;
  } else if (dplan->values == VCRS_VALUES_FIXED8 || dplan->values == VCRS_VALUES_FIXED16) {
    dplan->decoding.exponent = d->b.found.exponent;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ row sums */

/* Marks rows with a nonzero row sum, with a warp per 32 rows; ptr[nmask] = 0 */
static __global__ void __launch_bounds__(VCRS_BLOCK) MarkSigma(PetscInt m, PetscInt nmask, const PetscScalar *sigma, uint32_t *mask, PetscInt *ptr)
{
  VCRS_FOR_ALL(PetscInt64, lane, 32 * ((PetscInt64)nmask + 1))
  {
    const uint32_t bits = __ballot_sync(0xffffffffu, lane < m && sigma[lane < m ? lane : 0] != PetscScalar(0.));

    if (lane % 32 == 0) {
      if (lane / 32 < nmask) mask[lane / 32] = bits;
      ptr[lane / 32] = __popc(bits);
    }
  }
}

static __global__ void CompressSigma(PetscInt m, const PetscScalar *sigma, const uint32_t *mask, const PetscInt *ptr, PetscScalar *to)
{
  VCRS_FOR_ALL(PetscInt, row, m)
  {
    const uint32_t bits = mask[row / 32], bit = (uint32_t)1 << (row % 32);

    if (bits & bit) to[ptr[row / 32] + __popc(bits & (bit - 1))] = sigma[row];
  }
}

/* Stores row sums in the form with fewer bytes */
PetscErrorCode DeviceEncodeSigma(VCRSBuild *build, VCRSPlan *dplan)
{
  DeviceBuild   *d = DeviceOf(build);
  const PetscInt m = d->b.csr.m, nmask = (m + 31) / 32;
  uint32_t      *mask;
  PetscInt      *ptr, n;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, nmask, &mask));
  PetscCall(DeviceAllocate(&d->memory, (size_t)nmask + 1, &ptr));
  MarkSigma<<<LaunchBlocks(32 * ((PetscInt64)nmask + 1)), VCRS_BLOCK, 0, d->stream>>>(m, nmask, d->b.sigma, mask, ptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceScan(d, (PetscInt64)nmask + 1, ptr));
  PetscCall(DeviceGet(d, ptr + nmask, 1, &n));
  dplan->sums.kind = VCRSChooseSigma(m, n);
  if (dplan->sums.kind == VCRS_SIGMA_SPARSE) {
    dplan->sums.n    = n;
    dplan->sums.mask = mask;
    dplan->sums.ptr  = ptr;
    PetscCall(DeviceAllocate(&d->memory, n, &dplan->sums.value));
    CompressSigma<<<LaunchBlocks(m), VCRS_BLOCK, 0, d->stream>>>(m, d->b.sigma, mask, ptr, dplan->sums.value);
    PetscCallCUDA(cudaGetLastError());
  } else if (dplan->sums.kind == VCRS_SIGMA_FULL) {
    dplan->sums.n     = m;
    dplan->sums.value = d->b.sigma;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
