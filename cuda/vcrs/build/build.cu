/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression on the device: from a CSR matrix to a plan, both on the device. The plan equals the plan of
   VCRSPlanCreate() on the host, array by array (loss.cu names the exceptions).

   In the following cases, the host compresses the matrix, and the plan is copied to the device:
     - the layout is the layout of the article, whose arrays are a reference without speed;
     - the matrix has no rows or no entries, or more rows than a quarter of the range of PetscInt;
     - one row has a large part of all entries, which a single thread would have to treat;
     - different rows, or values, have the same 64-bit hash;
     - an entry cannot be compressed: the host names the entry and the reason.

   A lossless compression temporarily takes about 20 bytes per row and a table of 16 MB of device memory. A lossy
   compression also takes the rounded matrix, with the size of its CSR form. The loss log takes 2 more bytes per
   component.
*/

#include "build.cuh"
#include <lithe/private/vcrs/unions.h>

/* A row is too long for a thread if the row has more than nz / LONG_ROW_SHARE entries, and more than
   LONG_ROW_ENTRIES */
#define LONG_ROW_SHARE   80
#define LONG_ROW_ENTRIES 2048

/* Lists all arrays that a plan on the device may own */
static int PlanGetPointers(VCRSPlan *p, void **list[])
{
  int  n   = 0;
  auto add = [&](auto &pointer) { list[n++] = reinterpret_cast<void **>(&pointer); };

  add(p->sets.id);
  add(p->sets.ptr);
  add(p->sets.offset);
  add(p->sets.value);
  add(p->slices.ptr);
  add(p->slices.value);
  add(p->columns.base);
  add(p->columns.width);
  add(p->columns.begin);
  add(p->columns.offset);
  add(p->groups.ptr);
  add(p->groups.first);
  add(p->groups.group);
  add(p->lanes.length);
  add(p->lanes.perm);
  add(p->longrows.row);
  add(p->longrows.ptr);
  add(p->longrows.col);
  add(p->decoding.dict);
  add(p->decoding.coarse);
  add(p->decoding.fine);
  add(p->decoding.exponent);
  add(p->sums.value);
  add(p->sums.mask);
  add(p->sums.ptr);
  return n;
}

#define PLAN_POINTERS_MAX 32

/* Compression on the host: a plan from a copy of the matrix */
static PetscErrorCode CompressOnHost(DeviceBuild *d, const VCRSOptions *opt, VCRSPlan *table, VCRSPlan *dplan, VCRSReport *report)
{
  const VCRSCSR *csr = &d->b.csr;
  PetscInt      *i, *j;
  PetscScalar   *a, *extra;
  VCRSCSR        host = *csr;
  VCRSPlan      *plan = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4((size_t)csr->m + 1, &i, d->nz, &j, d->nz, &a, d->b.extra ? csr->m : 0, &extra));
  i[0] = 0;
  if (csr->m) PetscCall(DeviceGet(d, csr->i, (size_t)csr->m + 1, i));
  PetscCall(DeviceGet(d, csr->j, d->nz, j));
  PetscCall(DeviceGet(d, csr->a, d->nz, a));
  if (d->b.extra) PetscCall(DeviceGet(d, d->b.extra, csr->m, extra));
  host.i = i;
  host.j = j;
  host.a = a;
  ierr   = VCRSPlanCreate(&host, opt, d->b.extra ? extra : NULL, &plan, report);
  PetscCall(PetscFree4(i, j, a, extra));
  PetscCall(ierr);
  ierr = LitheCUDAVCRSUpload(plan, dplan);
  if (!ierr) ierr = VCRSPlanFreeArrays(plan);
  if (!ierr) {
    *table = *plan;
    PetscCall(PetscFree(plan));
  } else PetscCall(VCRSPlanDestroy(&plan));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations of choose.c */

/* Finds sets and pairs of the exact matrix, and keeps both if pairs are few */
static PetscErrorCode FindFew(VCRSBuild *b, PetscBool *few)
{
  DeviceBuild *d = DeviceOf(b);

  PetscFunctionBegin;
  b->j = b->csr.j;
  b->a = b->csr.a;
  PetscCall(DeviceFindSets(b, VCRS_FEW_PAIRS));
  if (b->facts.hassets && !b->tohost) PetscCall(DeviceFindPairs(b, VCRS_FEW_PAIRS));
  *few = b->facts.haspairs;
  if (!*few) PetscCall(DeviceForgetSets(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Loss(VCRSBuild *b, VCRSReport *report)
{
  DeviceBuild *d = DeviceOf(b);

  PetscFunctionBegin;
  PetscCall(DeviceLossApply(d, report));
  if (d->log) b->facts.has[d->log->bits == 8 ? VCRS_VALUES_LOG8 : VCRS_VALUES_LOG16] = PETSC_TRUE;

  /* few different rows may still have an infinite entry. If a loss was requested, the host refuses the matrix, and
     names the row */
  if (b->opt == &b->exact && !(report->frobnorm <= PETSC_MAX_REAL)) b->tohost = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts different pairs per slice in a sample; synchronises */
static PetscErrorCode CountTogether(VCRSBuild *b)
{
  DeviceBuild   *d       = DeviceOf(b);
  const PetscInt nslices = b->m / VCRS_SLICE, n = PetscMin(nslices, VCRS_SAMPLES), step = n ? nslices / n : 0;
  const size_t   slice = VCRS_SLICE * sizeof(PetscInt);
  PetscInt      *id;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(VCRS_SLICE * n, &id));
  if (n) PetscCallCUDA(cudaMemcpy2DAsync(id, slice, b->found.pairid, slice * step, slice, n, cudaMemcpyDeviceToHost, d->stream));
  PetscCallCUDA(cudaStreamSynchronize(d->stream));
  b->facts.together = VCRSPairsTogether(n, 1, id);
  PetscCall(PetscFree(id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays are freed with the build */
static PetscErrorCode ForgetSlices(VCRSBuild *, VCRSPlan *dplan)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(dplan, sizeof(*dplan)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order of VCRSBuildOps */
static const VCRSBuildOps deviceops = {
  PETSC_TRUE,
  FindFew,
  Loss,
  DeviceMeasureRows,
  DeviceFindSets,
  DeviceFindPairs,
  DeviceCountValueSets,
  CountTogether,
  DeviceFindFixedPoint,
  DeviceFindSingle,
  DeviceFindDictionary,
  DeviceMeasureSetSlices,
  DeviceFindSlices,
  ForgetSlices,
  DeviceEncodeSets,
  DeviceFindGroups,
  DeviceEncodeSlices,
  DeviceEncodeSigma,
};

static PetscErrorCode CompressOnDevice(DeviceBuild *d, VCRSPlan *dplan, VCRSReport *report)
{
  VCRSBuild *b = &d->b;

  PetscFunctionBegin;
  PetscCall(VCRSBuildStart(b, report));
  if (!b->tohost) PetscCall(VCRSBuildChoose(b, dplan, report));
  if (b->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  dplan->m  = b->m;
  dplan->n  = b->n;
  dplan->nz = d->nz;
  PetscCall(VCRSBuildEncode(b, dplan));
  PetscCallCUDA(cudaStreamSynchronize(d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the memory of the build, except the arrays of dplan if keep is true */
static PetscErrorCode DeviceBuildReset(DeviceBuild *d, VCRSPlan *dplan, PetscBool keep)
{
  void **list[PLAN_POINTERS_MAX];

  PetscFunctionBegin;
  if (keep) {
    const int n = PlanGetPointers(dplan, list);

    for (int k = 0; k < n; k++) (void)DeviceKeep(&d->memory, *list[k]);
  }
  for (int k = 0; k < d->memory.n; k++) {
    if (d->memory.pointer[k]) PetscCallCUDA(cudaFree(d->memory.pointer[k]));
  }
  d->memory.n = 0;
  d->sets.rep = d->pairs.rep = d->b.found.setid = d->b.found.pairid = NULL;
  PetscCall(PetscFree(d->log));
  PetscCall(PetscFree(d->dict));
  PetscCall(PetscFree(d->dictuses));
  PetscCall(DeviceForgetSets(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DeviceBuildStart(DeviceBuild *d, PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                       const VCRSOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(d, sizeof(*d)));
  d->nz    = nz;
  d->b.ops = &deviceops;
  d->b.opt = opt;
  d->b.csr = VCRSCSR{m, n, di, dj, da};
  d->b.m   = m;
  d->b.n   = n;
  d->b.i   = di;
  PetscCall(PetscGetCurrentCUDAStream(&d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSPropose(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                    const VCRSOptions *opt, VCRSSurvey *survey, PetscInt rowexponent[])
{
  DeviceBuild    d;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(DeviceBuildStart(&d, m, n, nz, di, dj, da, opt));
  ierr = DeviceLossPropose(&d, survey, rowexponent);
  PetscCall(DeviceBuildReset(&d, NULL, PETSC_FALSE));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error all memory is freed, and table and dplan are empty */
PetscErrorCode LitheCUDAVCRSCompress(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                     const PetscScalar *dextra, const VCRSOptions *opt, VCRSPlan *table, VCRSPlan *dplan, VCRSReport *report)
{
  DeviceBuild    d;
  VCRSReport     own;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(DeviceBuildStart(&d, m, n, nz, di, dj, da, opt));
  PetscCall(PetscMemzero(&own, sizeof(own)));
  PetscCall(PetscMemzero(table, sizeof(*table)));
  PetscCall(PetscMemzero(dplan, sizeof(*dplan)));
  own.indexsets = own.valuesets = own.pairs = -1;
  d.table                                   = table;
  d.b.extra                                 = dextra;
  d.b.tohost                                = (PetscBool)(opt->layout == MATVCRS_LAYOUT_LITERAL || !m || !nz || m > PETSC_INT_MAX / 4);

  if (!d.b.tohost) {
    ierr = DeviceMeasureRows(&d.b);
    if (!ierr && d.longest > LONG_ROW_ENTRIES && d.longest > nz / LONG_ROW_SHARE) d.b.tohost = PETSC_TRUE;
    if (!ierr && !d.b.tohost) ierr = CompressOnDevice(&d, dplan, &own);
    PetscCall(DeviceBuildReset(&d, dplan, !ierr && !d.b.tohost ? PETSC_TRUE : PETSC_FALSE));
    if (ierr || d.b.tohost) {
      PetscCall(PetscMemzero(dplan, sizeof(*dplan)));
      PetscCall(VCRSPlanFreeTables(table));
      PetscCall(PetscMemzero(table, sizeof(*table)));
    }
    PetscCall(ierr);
  }
  if (d.b.tohost) {
    PetscCall(PetscInfo(NULL, "A matrix of %" PetscInt_FMT " rows on the device is compressed on the host\n", m));
    PetscCall(CompressOnHost(&d, opt, table, dplan, &own));
  } else {
    /* the table gets the numbers of the plan, and keeps the table's arrays */
    VCRSPlan  numbers = *dplan;
    void    **list[PLAN_POINTERS_MAX], **small[PLAN_POINTERS_MAX];
    const int count = PlanGetPointers(&numbers, list);

    (void)PlanGetPointers(table, small);
    for (int k = 0; k < count; k++) *list[k] = *small[k];
    numbers.sets.count = table->sets.count;
    *table             = numbers;
  }
  if (report) *report = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}
