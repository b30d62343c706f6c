/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A compressed matrix on the device: copies of its plan, and the products of lithe/private/cuda/vcrs.h.
*/

#include "../kernels.cuh"
#include "../mult/columns.cuh"
#include <petscdevice.h>

/* An array of a plan */
typedef struct {
  void **pointer;
  size_t bytes;
} PlanArray;

#define PLAN_ARRAYS_MAX 32
/* entries are few if their bytes are at most this multiple of the bytes of both vectors */
#define VCRS_ALONE 2

/* The ends of the pointer arrays, which give the sizes of further arrays */
typedef struct {
  PetscInt   nsetentries;
  PetscInt64 nlongentries;
} PlanEnds;

/* Lists all arrays of the plan's layout, except sets.count, with their sizes */
static int PlanGetArrays(VCRSPlan *p, const PlanEnds *ends, PlanArray list[])
{
  const size_t m = static_cast<size_t>(p->m), nmask = (m + 31) / 32, nlane = 32 * static_cast<size_t>(p->slices.n);
  int          n   = 0;
  auto         add = [&](auto &pointer, size_t count, size_t size) { list[n++] = PlanArray{reinterpret_cast<void **>(&pointer), count * size}; };

  if (p->layout == MATVCRS_LAYOUT_LITERAL) {
    add(p->literal.length, m, sizeof(PetscInt));
    add(p->literal.first, m, sizeof(PetscInt));
    add(p->literal.idxptr, m, sizeof(PetscInt));
    add(p->literal.dataptr, m, sizeof(PetscInt));
    add(p->literal.idx, p->literal.nidx, sizeof(PetscInt));
    add(p->literal.data, p->literal.ndata, sizeof(PetscScalar));
    return n;
  }
  if (p->layout != MATVCRS_LAYOUT_L3) {
    add(p->sets.id, m, p->sets.idbytes);
    add(p->sets.ptr, p->sets.n + 1, sizeof(PetscInt));
    add(p->sets.offset, ends->nsetentries, sizeof(PetscInt));
  }
  if (p->layout == MATVCRS_LAYOUT_L0) add(p->sets.value, ends->nsetentries, sizeof(PetscScalar));
  else {
    add(p->slices.ptr, p->slices.n + 1, sizeof(PetscInt64));
    add(p->slices.value, p->slices.nvalue, VCRSValueBytes(p->values));
  }
  if (p->layout == MATVCRS_LAYOUT_L3) {
    if (p->grouped) {
      add(p->groups.ptr, VCRSWindows(p) + 1, sizeof(PetscInt));
      add(p->groups.first, VCRSWindows(p), sizeof(PetscInt));
      add(p->groups.group, p->groups.n, sizeof(uint16_t));
    } else {
      add(p->columns.base, p->columns.nbase, sizeof(PetscInt));
      add(p->columns.width, p->slices.n, 1);
      add(p->columns.begin, p->slices.n + 1, sizeof(PetscInt64));
    }
    add(p->columns.offset, p->columns.nbytes, 1);
    add(p->lanes.length, nlane, 1);
    add(p->lanes.perm, nlane, 1);
    if (p->longrows.n) {
      add(p->longrows.row, p->longrows.n, sizeof(PetscInt));
      add(p->longrows.ptr, p->longrows.n + 1, sizeof(PetscInt64));
      add(p->longrows.col, ends->nlongentries, sizeof(PetscInt));
    }
  }
  add(p->decoding.dict, p->decoding.ndict, sizeof(PetscScalar));
  add(p->decoding.coarse, 256, sizeof(PetscReal));
  add(p->decoding.fine, 256, sizeof(PetscReal));
  add(p->decoding.exponent, m, sizeof(int16_t));
  if (p->sums.kind != VCRS_SIGMA_NONE) add(p->sums.value, p->sums.n, sizeof(PetscScalar));
  if (p->sums.kind == VCRS_SIGMA_SPARSE) {
    add(p->sums.mask, nmask, sizeof(uint32_t));
    add(p->sums.ptr, nmask, sizeof(PetscInt));
  }
  return n;
}

/* Copies a plan without arrays: all members of src except pointers */
static void PlanCopyScalars(const VCRSPlan *src, VCRSPlan *dst)
{
  memset(dst, 0, sizeof(*dst));
  dst->layout             = src->layout;
  dst->values             = src->values;
  dst->sums.kind          = src->sums.kind;
  dst->difference         = src->difference;
  dst->m                  = src->m;
  dst->n                  = src->n;
  dst->nz                 = src->nz;
  dst->literal.nidx       = src->literal.nidx;
  dst->literal.ndata      = src->literal.ndata;
  dst->sets.idbytes       = src->sets.idbytes;
  dst->sets.n             = src->sets.n;
  dst->slices.n           = src->slices.n;
  dst->slices.nvalue      = src->slices.nvalue;
  dst->longrows.n         = src->longrows.n;
  dst->longrows.value     = src->longrows.value;
  dst->columns.nbase      = src->columns.nbase;
  dst->columns.nbytes     = src->columns.nbytes;
  dst->longrows.nentries  = src->longrows.nentries;
  dst->lanes.sorted       = src->lanes.sorted;
  dst->grouped            = src->grouped;
  dst->groups.n           = src->groups.n;
  dst->groups.most        = src->groups.most;
  dst->groups.mostcolumns = src->groups.mostcolumns;
  dst->groups.mostbytes   = src->groups.mostbytes;
  dst->decoding.ndict     = src->decoding.ndict;
  dst->decoding.shortlog  = src->decoding.shortlog;
  memcpy(dst->decoding.power, src->decoding.power, sizeof(dst->decoding.power));
  dst->sums.n = src->sums.n;
}

/*
   Waits for copies of a plan before the first product. Kernels that begin early rely on complete data, and streams do
   not wait for copies from pageable memory.
*/
static PetscErrorCode PlanPrepare(const VCRSPlan *table, VCRSPlan *dplan)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  PetscCall(VCRSLaunchCreate(table, dplan));
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSUpload(const VCRSPlan *src, VCRSPlan *ddst)
{
  PlanArray   from[PLAN_ARRAYS_MAX], to[PLAN_ARRAYS_MAX];
  PlanEnds    ends  = {0, 0};
  VCRSPlan    host  = *src;
  cudaError_t error = cudaSuccess;
  int         n;

  PetscFunctionBegin;
  PetscCheck(!src->plainrows, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Plain rows exist on the host only: a device needs a plan with slices");
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* chooses the device of this process, before the first allocation */
  if (src->sets.ptr) ends.nsetentries = src->sets.ptr[src->sets.n];
  if (src->longrows.ptr && src->longrows.n) ends.nlongentries = src->longrows.ptr[src->longrows.n];

  PlanCopyScalars(src, ddst);
  n = PlanGetArrays(&host, &ends, from);
  (void)PlanGetArrays(ddst, &ends, to);
  for (int k = 0; k < n && error == cudaSuccess; k++) {
    if (!*from[k].pointer || !from[k].bytes) continue;
    error = cudaMalloc(to[k].pointer, from[k].bytes);
    if (error == cudaSuccess) error = cudaMemcpy(*to[k].pointer, *from[k].pointer, from[k].bytes, cudaMemcpyHostToDevice);
  }
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    PetscCall(LitheCUDAVCRSFree(ddst));
    PetscCallCUDA(error);
  }
  PetscCall(PlanPrepare(src, ddst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSDownload(const VCRSPlan *dsrc, VCRSPlan *dst)
{
  PlanArray         from[PLAN_ARRAYS_MAX], to[PLAN_ARRAYS_MAX];
  PlanEnds          ends   = {0, 0};
  VCRSPlan          device = *dsrc;
  const VCRSLaunch *l      = static_cast<const VCRSLaunch *>(dsrc->launch);
  const bool        spread = dsrc->grouped && l && l->device.sm90;
  cudaStream_t      stream;
  int               n;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (spread) PetscCall(VCRSBanksOrder(dsrc, false, stream));
  if (dsrc->sets.ptr) PetscCallCUDA(cudaMemcpy(&ends.nsetentries, dsrc->sets.ptr + dsrc->sets.n, sizeof(ends.nsetentries), cudaMemcpyDeviceToHost));
  if (dsrc->longrows.ptr && dsrc->longrows.n)
    PetscCallCUDA(cudaMemcpy(&ends.nlongentries, dsrc->longrows.ptr + dsrc->longrows.n, sizeof(ends.nlongentries), cudaMemcpyDeviceToHost));

  PlanCopyScalars(dsrc, dst);
  n = PlanGetArrays(&device, &ends, from);
  (void)PlanGetArrays(dst, &ends, to);
  for (int k = 0; k < n; k++) {
    if (!*from[k].pointer || !from[k].bytes) continue;
    PetscCall(PetscMalloc(from[k].bytes, to[k].pointer));
    PetscCallCUDA(cudaMemcpy(*to[k].pointer, *from[k].pointer, from[k].bytes, cudaMemcpyDeviceToHost));
  }
  if (spread) PetscCall(VCRSBanksOrder(dsrc, true, stream));

  /* the device does not have the number of rows per set */
  if (dst->sets.id) {
    PetscCall(PetscCalloc1(dst->sets.n, &dst->sets.count));
    for (PetscInt i = 0; i < dst->m; i++) {
      const PetscInt id = dst->sets.idbytes == 1 ? static_cast<uint8_t *>(dst->sets.id)[i]
                                                 : (dst->sets.idbytes == 2 ? static_cast<uint16_t *>(dst->sets.id)[i]
                                                                           : static_cast<PetscInt>(static_cast<uint32_t *>(dst->sets.id)[i]));

      dst->sets.count[id]++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSFree(VCRSPlan *dplan)
{
  PlanArray      list[PLAN_ARRAYS_MAX];
  const PlanEnds ends = {0, 0};
  const int      n    = PlanGetArrays(dplan, &ends, list);

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    if (*list[k].pointer) PetscCallCUDA(cudaFree(*list[k].pointer));
    *list[k].pointer = NULL;
  }
  PetscCall(VCRSLaunchDestroy(dplan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* dy = sign A dx + dadd for one column; without dadd, dy = A dx */
static PetscErrorCode PlanMult(const VCRSPlan *table, const VCRSPlan *dplan, const PetscScalar *dx, const PetscScalar *dadd, PetscReal sign, PetscScalar *dy,
                               cudaStream_t stream)
{
  MultArguments     v;
  const VCRSLaunch *l;

  PetscFunctionBegin;
  /* the first product prepares a plan made on the device */
  if (!dplan->launch) PetscCall(PlanPrepare(table, const_cast<VCRSPlan *>(dplan)));
  l      = static_cast<const VCRSLaunch *>(dplan->launch);
  v.x    = reinterpret_cast<const Number *>(dx);
  v.add  = reinterpret_cast<const Number *>(dadd);
  v.y    = reinterpret_cast<Number *>(dy);
  v.sign = sign;
  v.pdl  = l->device.sm90;
  PetscCall((*l->kernel->mult)(l, dplan, &v, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether several columns are multiplied one by one: if a special kernel exists for the matrix, which reads x once, and
   entries are few. The sweep for several columns decodes entries once, but waits for x in many lines of memory.
*/
static PetscErrorCode ColumnsAreAlone(const VCRSPlan *table, const VCRSPlan *dplan, bool *alone)
{
  const PetscInt64 vectors = (static_cast<PetscInt64>(dplan->m) + dplan->n) * static_cast<PetscInt64>(sizeof(PetscScalar));
  const PetscInt64 entries = dplan->layout == MATVCRS_LAYOUT_L0 ? 0 : dplan->nz * static_cast<PetscInt64>(VCRSValueBytes(dplan->values));

  PetscFunctionBegin;
  if (!dplan->launch) PetscCall(PlanPrepare(table, const_cast<VCRSPlan *>(dplan)));
  *alone = static_cast<const VCRSLaunch *>(dplan->launch)->kernel != &VCRSKernelRows && entries <= VCRS_ALONE * vectors;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several columns of which none is read once for all: a few at once in L0, or one by one */
static PetscErrorCode PlanMultColumns(const VCRSPlan *table, const VCRSPlan *dplan, PetscInt nrhs, const PetscScalar *dx, PetscInt ldx, const PetscScalar *dadd,
                                      PetscInt ldadd, PetscScalar *dy, PetscInt ldy, cudaStream_t stream)
{
  const VCRSLaunch *l    = static_cast<const VCRSLaunch *>(dplan->launch);
  const PetscInt    most = nrhs > 1 && l->kernel == &VCRSKernelPairs ? VCRSPairsColumns(l) : 1;

  PetscFunctionBegin;
  for (PetscInt64 j = 0; j < nrhs; j += most) {
    const PetscScalar *x = dx + j * ldx, *add = dadd ? dadd + j * ldadd : nullptr;
    PetscScalar       *y = dy + j * ldy;

    if (most > 1) {
      const ColumnsArguments several = {static_cast<int>(PetscMin(most, nrhs - static_cast<PetscInt>(j))), ldx, ldadd, ldy};
      MultArguments          v       = {};

      v.x    = reinterpret_cast<const Number *>(x);
      v.add  = reinterpret_cast<const Number *>(add);
      v.y    = reinterpret_cast<Number *>(y);
      v.sign = 1;
      PetscCall(VCRSPairsMultColumns(l, dplan, &v, &several, stream));
    } else PetscCall(PlanMult(table, dplan, x, add, 1, y, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSMult(const VCRSPlan *table, const VCRSPlan *dplan, VCRSOp op, PetscInt nrhs, const PetscScalar *dx, PetscInt ldx,
                                 const PetscScalar *dadd, PetscInt ldadd, PetscScalar *dy, PetscInt ldy)
{
  const PetscInt nrow = op == VCRS_OP_N ? dplan->m : dplan->n;
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (nrhs <= 0 || nrow <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (op == VCRS_OP_N) {
    bool alone = nrhs == 1;

    if (alone) PetscCall(PlanMult(table, dplan, dx, dadd, 1, dy, stream));
    else {
      PetscCall(ColumnsAreAlone(table, dplan, &alone));
      if (alone) PetscCall(PlanMultColumns(table, dplan, nrhs, dx, ldx, dadd, ldadd, dy, ldy, stream));
      else PetscCall(VCRSRowsMult(dplan, nrhs, dx, ldx, dadd, ldadd, dy, ldy, 1, stream));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the kernels add to y */
  for (PetscInt j = 0; j < nrhs; j++) {
    PetscScalar *yj = dy + static_cast<PetscInt64>(j) * ldy;

    if (!dadd) PetscCallCUDA(cudaMemsetAsync(yj, 0, nrow * sizeof(PetscScalar), stream));
    else if (dadd != dy)
      PetscCallCUDA(cudaMemcpyAsync(yj, dadd + static_cast<PetscInt64>(j) * ldadd, nrow * sizeof(PetscScalar), cudaMemcpyDeviceToDevice, stream));
  }
  if (dplan->m > 0) PetscCall(VCRSRowsMultTranspose(dplan, op == VCRS_OP_H ? PETSC_TRUE : PETSC_FALSE, nrhs, dx, ldx, dy, ldy, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSResidual(const VCRSPlan *table, const VCRSPlan *dplan, const PetscScalar *db, const PetscScalar *dx, PetscScalar *dr)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (dplan->m <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PlanMult(table, dplan, dx, db, -1, dr, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a launch of unions does a whole step */
static bool StepHasUnions(const VCRSPlan *dplan)
{
  return (!dplan->difference || dplan->sums.kind == VCRS_SIGMA_NONE) && dplan->layout == MATVCRS_LAYOUT_L0 && dplan->launch &&
         static_cast<const VCRSLaunch *>(dplan->launch)->unions.nunions;
}

/* Valid after the first step */
PetscErrorCode LitheCUDAVCRSStepLeavesOut(const VCRSPlan *dplan, PetscBool *leaves)
{
  PetscFunctionBegin;
  *leaves = StepHasUnions(dplan) ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSStep(const VCRSPlan *table, const VCRSPlan *dplan, const LitheStep *step, const PetscScalar *dx, PetscScalar *dy)
{
  MultArguments v;
  cudaStream_t  stream;

  PetscFunctionBegin;
  if (dplan->m <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (!dplan->launch && dplan->layout == MATVCRS_LAYOUT_L0) PetscCall(PlanPrepare(table, const_cast<VCRSPlan *>(dplan)));
  if (StepHasUnions(dplan)) {
    v.x = v.add = reinterpret_cast<const Number *>(dx);
    v.y         = reinterpret_cast<Number *>(dy);
    v.sign      = step->scale;
    v.pdl       = static_cast<const VCRSLaunch *>(dplan->launch)->device.sm90;
    PetscCall(VCRSUnionsMult(static_cast<const VCRSLaunch *>(dplan->launch), dplan, &v, step, stream));
  } else {
    PetscCall(PlanMult(table, dplan, dx, dx, step->scale, dy, stream));
    PetscCall(LitheCUDAStepFinish(step, PETSC_TRUE, dplan->m, dx, dy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSGetDiagonal(const VCRSPlan *dplan, PetscScalar *dd)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (dplan->m <= 0 || dplan->n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(VCRSRowsGetDiagonal(dplan, dd, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSScan(const VCRSPlan *dplan, PetscInt most[3], PetscBool *good)
{
  int          scan[4] = {0, 0, 0, 0};
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (dplan->m > 0) PetscCall(VCRSRowsScan(dplan, scan, stream));
  for (int k = 0; k < 3; k++) most[k] = scan[k];
  *good = (PetscBool)!scan[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSDecode(const VCRSPlan *dplan, PetscInt **di, PetscInt **dj, PetscScalar **da)
{
  const size_t m = static_cast<size_t>(dplan->m), nz = static_cast<size_t>(dplan->nz);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(da), nz * (sizeof(**da) + sizeof(**dj)) + (m + 1) * sizeof(**di)));
  *dj = reinterpret_cast<PetscInt *>(*da + nz);
  *di = *dj + nz;
  PetscCall(VCRSRowsDecode(dplan, *di, *dj, *da, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
