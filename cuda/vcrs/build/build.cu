/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression on the device: from a CSR matrix there to a plan there. The plan is the one that
   VCRSPlanCreate() makes on the host, array by array (loss.cu says what may differ).

   The host compresses instead, and the plan is copied to the device, where
     - the layout is the article's, whose arrays are a reference and not for speed;
     - it is the off-diagonal block of a symmetric matrix, whose loss other processes have a say in;
     - there are no rows or no entries, or more rows than a quarter of what PetscInt counts;
     - one row has a large part of all entries: a thread would work on it alone;
     - different rows, or values, have the same 64-bit hash;
     - an entry cannot be compressed: the host says which one, and why.

   Beside the plan, a lossless compression takes some 20 bytes a row and a table of 16 MB of device memory, for a
   while; a lossy one also takes the rounded matrix, that is what its CSR form takes (and, with the loss log,
   2 bytes a component).
*/

#include "build.cuh"
#include <lithe/private/vcrsunions.h>

/* A row of more entries than this share of all, and than so many, is not for one thread */
#define LONG_ROW_SHARE   80
#define LONG_ROW_ENTRIES 2048

/* Every array that a plan on the device may own */
static int PlanGetPointers(VCRSPlan *p, void **list[])
{
  int  n   = 0;
  auto add = [&](auto &pointer) { list[n++] = reinterpret_cast<void **>(&pointer); };

  add(p->id);
  add(p->setptr);
  add(p->setoffset);
  add(p->setvalue);
  add(p->sliceptr);
  add(p->value);
  add(p->colbase);
  add(p->slicewidth);
  add(p->sliceoffset);
  add(p->coloffset);
  add(p->groupptr);
  add(p->groupfirst);
  add(p->group);
  add(p->rowlength);
  add(p->rowperm);
  add(p->longrow);
  add(p->longptr);
  add(p->longcol);
  add(p->dict);
  add(p->logcoarse);
  add(p->logfine);
  add(p->exponent);
  add(p->sigma);
  add(p->sigmamask);
  add(p->sigmaptr);
  return n;
}

#define PLAN_POINTERS_MAX 32

/* Leaves the small tables of a host plan: sets, dictionary and scales */
static PetscErrorCode PlanDropLarge(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(plan->length));
  PetscCall(PetscFree(plan->first));
  PetscCall(PetscFree(plan->idxptr));
  PetscCall(PetscFree(plan->dataptr));
  PetscCall(PetscFree(plan->literalidx));
  PetscCall(PetscFree(plan->literaldata));
  PetscCall(PetscFree(plan->id));
  PetscCall(PetscFree(plan->sliceptr));
  PetscCall(PetscFree(plan->value));
  PetscCall(PetscFree(plan->colbase));
  PetscCall(PetscFree(plan->slicewidth));
  PetscCall(PetscFree(plan->sliceoffset));
  PetscCall(PetscFree(plan->coloffset));
  PetscCall(PetscFree(plan->groupptr));
  PetscCall(PetscFree(plan->groupfirst));
  PetscCall(PetscFree(plan->group));
  PetscCall(PetscFree(plan->rowlength));
  PetscCall(PetscFree(plan->rowperm));
  PetscCall(PetscFree(plan->longrow));
  PetscCall(PetscFree(plan->longptr));
  PetscCall(PetscFree(plan->longcol));
  PetscCall(PetscFree(plan->exponent));
  PetscCall(PetscFree(plan->sigma));
  PetscCall(PetscFree(plan->sigmamask));
  PetscCall(PetscFree(plan->sigmaptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The host's part: a plan from a copy of the matrix */
static PetscErrorCode CompressOnHost(DeviceBuild *d, VCRSPlan *table, VCRSPlan *dplan, VCRSReport *report)
{
  const VCRSCSR *csr = &d->csr;
  PetscInt      *i, *j;
  PetscScalar   *a;
  VCRSCSR        host = *csr;
  VCRSPlan      *plan = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3((size_t)csr->m + 1, &i, d->nz, &j, d->nz, &a));
  i[0] = 0;
  if (csr->m) PetscCall(DeviceGet(d, csr->i, (size_t)csr->m + 1, i));
  PetscCall(DeviceGet(d, csr->j, d->nz, j));
  PetscCall(DeviceGet(d, csr->a, d->nz, a));
  host.i = i;
  host.j = j;
  host.a = a;
  ierr   = VCRSPlanCreate(&host, d->opt, NULL, &plan, report);
  PetscCall(PetscFree3(i, j, a));
  PetscCall(ierr);
  ierr = LitheCUDAVCRSUpload(plan, dplan);
  if (!ierr) ierr = PlanDropLarge(plan);
  if (!ierr) {
    *table = *plan;
    PetscCall(PetscFree(plan));
  } else PetscCall(VCRSPlanDestroy(&plan));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void GetSetFacts(const DeviceSets *s, VCRSSetFacts *f)
{
  f->n      = s->n;
  f->length = s->length;
  f->count  = s->count;
}

/* Different pairs in a slice, of a sample; synchronises */
static PetscErrorCode DeviceCountTogether(const DeviceBuild *d, double *together)
{
  const PetscInt nslices = d->b.m / VCRS_SLICE, n = PetscMin(nslices, VCRS_SAMPLES), step = n ? nslices / n : 0;
  const size_t   slice = VCRS_SLICE * sizeof(PetscInt);
  PetscInt      *id;

  PetscFunctionBegin;
  *together = VCRS_SLICE;
  if (!n || !d->b.pairid) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(VCRS_SLICE * n, &id));
  PetscCallCUDA(cudaMemcpy2DAsync(id, slice, d->b.pairid, slice * step, slice, n, cudaMemcpyDeviceToHost, d->stream));
  PetscCallCUDA(cudaStreamSynchronize(d->stream));
  *together = VCRSPairsTogether(n, 1, id);
  PetscCall(PetscFree(id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the layout and the container with the fewest bytes among those that options and values allow; what VCRSChoose() does on the host */
static PetscErrorCode Choose(DeviceBuild *d, VCRSPlan *dplan, VCRSReport *report)
{
  const MatVCRSLayout want     = d->opt->layout;
  const PetscBool     any      = want == MATVCRS_LAYOUT_AUTO ? PETSC_TRUE : PETSC_FALSE;
  VCRSBuild          *b        = &d->b;
  PetscInt64         *sliceptr = NULL;
  VCRSPlan            slices;
  VCRSChoice          choice;
  VCRSFacts           facts;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&facts, sizeof(facts)));
  PetscCall(PetscMemzero(&slices, sizeof(slices)));
  choice.cost = -1.;
  facts.opt   = d->opt;
  facts.m     = b->m;
  PetscCall(DeviceFindLongest(d, &facts.stored));
  b->has[VCRS_VALUES_FULL] = PETSC_TRUE;

  /* index sets, and pairs of them with values; counted to the end if the layout is asked for */
  if (d->few) b->hassets = b->haspairs = PETSC_TRUE;
  else if (want != MATVCRS_LAYOUT_L3) PetscCall(DeviceFindSets(d, any ? VCRS_SET_LIMIT : PETSC_INT_MAX, &b->hassets));
  if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  if (b->hassets) {
    report->indexsets = d->sets.n;
    if (!d->few) PetscCall(DeviceFindPairs(d, want == MATVCRS_LAYOUT_L0 ? PETSC_INT_MAX : VCRS_SET_LIMIT, &b->haspairs));
    if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (b->haspairs) {
    report->pairs = d->pairs.n;
    PetscCall(DeviceCountValueSets(d, &report->valuesets));
    if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* L0 */
  if (b->haspairs && (any || want == MATVCRS_LAYOUT_L0)) {
    PetscBool final = PETSC_FALSE;

    GetSetFacts(&d->pairs, &facts.pairs);
    PetscCall(DeviceCountTogether(d, &facts.together));
    PetscCall(VCRSChoosePairs(&facts, &choice, &final));
    dplan->layout = choice.layout;
    dplan->values = choice.values;
    if (final) PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* containers */
  if (want == MATVCRS_LAYOUT_L2 || want == MATVCRS_LAYOUT_L3 || any) PetscCall(DeviceFindFixedPoint(d));
  if (want != MATVCRS_LAYOUT_L2) {
    if (d->log) b->has[d->log->bits == 8 ? VCRS_VALUES_LOG8 : VCRS_VALUES_LOG16] = PETSC_TRUE;
    if (VCRSSingleMayWin(b->m, facts.stored, b->has)) PetscCall(DeviceFindSingle(d));
    PetscCall(DeviceFindDictionary(d, VCRSDictionaryLimit(b->m, facts.stored, b->has)));
  } else if (!b->has[VCRS_VALUES_FIXED16]) d->tohost = PETSC_TRUE;
  if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscArraycpy(facts.has, b->has, VCRS_NVALUES));
  facts.ndict    = b->ndict;
  facts.dictuses = d->dictuses;

  /* L1 and L2 */
  if (b->hassets && want != MATVCRS_LAYOUT_L3) {
    GetSetFacts(&d->sets, &facts.sets);
    PetscCall(DeviceFindSetSlices(d, &sliceptr, &facts.setvalues));
    PetscCall(VCRSChooseSets(&facts, &choice));
  }

  /* L3 */
  if (any || want == MATVCRS_LAYOUT_L3) {
    PetscCall(DeviceFindSlices(d, VCRSSmallestValueBytes(&facts), &slices));
    PetscCall(VCRSChooseSlices(&facts, &slices, &choice));
  }
  if (choice.layout == MATVCRS_LAYOUT_L3) *dplan = slices;
  if (choice.layout == MATVCRS_LAYOUT_L1 || choice.layout == MATVCRS_LAYOUT_L2) {
    dplan->nslices  = (b->m + VCRS_SLICE - 1) / VCRS_SLICE;
    dplan->nvalue   = dplan->longvalue = facts.setvalues;
    dplan->sliceptr = sliceptr;
  }
  dplan->layout = choice.layout;
  dplan->values = choice.values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of few different rows is smallest as it is; the sets are then found */
static PetscErrorCode FindFewPairs(DeviceBuild *d)
{
  PetscFunctionBegin;
  d->b.j = d->csr.j;
  d->b.a = d->csr.a;
  PetscCall(DeviceFindSets(d, VCRS_FEW_PAIRS, &d->few));
  if (d->few && !d->tohost) PetscCall(DeviceFindPairs(d, VCRS_FEW_PAIRS, &d->few));
  if (!d->few) PetscCall(DeviceForgetSets(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompressOnDevice(DeviceBuild *d, VCRSPlan *table, VCRSPlan *dplan, VCRSReport *report)
{
  VCRSOptions exact;

  PetscFunctionBegin;
  if (d->opt->layout == MATVCRS_LAYOUT_AUTO && !VCRSLossIsNone(d->opt)) {
    PetscCall(FindFewPairs(d));
    if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
    if (d->few) {
      PetscCall(PetscMemcpy(&exact, d->opt, sizeof(exact)));
      exact.loss = MATVCRS_LOSS_NONE;
      d->opt     = &exact;
    }
  }
  PetscCall(DeviceLossApply(d, report));

  /* few different rows keep no entry from being infinite; where a loss was asked for the host refuses it and says which row */
  if (d->few && !(report->frobnorm <= PETSC_MAX_REAL)) d->tohost = PETSC_TRUE;
  if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Choose(d, dplan, report));
  if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  dplan->difference = d->b.difference;
  dplan->m          = d->csr.m;
  dplan->n          = d->csr.n;
  dplan->nz         = d->nz;
  if (dplan->layout != MATVCRS_LAYOUT_L3) PetscCall(DeviceEncodeSets(d, table, dplan));
  if (d->tohost) PetscFunctionReturn(PETSC_SUCCESS);
  if (dplan->layout == MATVCRS_LAYOUT_L3) PetscCall(DeviceFindGroups(d, dplan));
  if (dplan->layout != MATVCRS_LAYOUT_L0) PetscCall(DeviceEncodeSlices(d, table, dplan));
  if (dplan->difference) PetscCall(DeviceEncodeSigma(d, dplan));
  PetscCallCUDA(cudaStreamSynchronize(d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what the build took, but for the arrays of dplan if keep */
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
  d->sets.rep = d->pairs.rep = d->b.setid = d->b.pairid = NULL;
  PetscCall(PetscFree(d->log));
  PetscCall(PetscFree(d->dict));
  PetscCall(PetscFree(d->dictuses));
  PetscCall(DeviceForgetSets(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TableDestroy(VCRSPlan *table)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(table->setptr));
  PetscCall(PetscFree(table->setoffset));
  PetscCall(PetscFree(table->setvalue));
  PetscCall(PetscFree(table->setcount));
  PetscCall(PetscFree(table->dict));
  PetscCall(PetscFree(table->logcoarse));
  PetscCall(PetscFree(table->logfine));
  PetscCall(PetscMemzero(table, sizeof(*table)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On an error nothing is left behind; table and dplan are then empty */
PetscErrorCode LitheCUDAVCRSCompress(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da, const VCRSOptions *opt, VCRSPlan *table, VCRSPlan *dplan, VCRSReport *report)
{
  DeviceBuild    d;
  VCRSReport     own;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&d, sizeof(d)));
  PetscCall(PetscMemzero(&own, sizeof(own)));
  PetscCall(PetscMemzero(table, sizeof(*table)));
  PetscCall(PetscMemzero(dplan, sizeof(*dplan)));
  own.indexsets = own.valuesets = own.pairs = -1;
  d.opt   = opt;
  d.b.opt = opt;
  d.b.m = d.csr.m = m;
  d.b.n = d.csr.n = n;
  d.csr.i         = di;
  d.csr.j         = dj;
  d.csr.a         = da;
  d.b.i           = di;
  d.nz            = nz;
  d.tohost        = opt->layout == MATVCRS_LAYOUT_LITERAL || opt->agreement || !m || !nz || m > PETSC_INT_MAX / 4 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscGetCurrentCUDAStream(&d.stream));

  if (!d.tohost) {
    double stored;

    ierr = DeviceFindLongest(&d, &stored);
    if (!ierr && d.longest > LONG_ROW_ENTRIES && d.longest > nz / LONG_ROW_SHARE) d.tohost = PETSC_TRUE;
    if (!ierr && !d.tohost) ierr = CompressOnDevice(&d, table, dplan, &own);
    d.opt = opt;
    PetscCall(DeviceBuildReset(&d, dplan, !ierr && !d.tohost ? PETSC_TRUE : PETSC_FALSE));
    if (ierr || d.tohost) {
      PetscCall(PetscMemzero(dplan, sizeof(*dplan)));
      PetscCall(TableDestroy(table));
    }
    PetscCall(ierr);
  }
  if (d.tohost) {
    PetscCall(PetscInfo(NULL, "A matrix of %" PetscInt_FMT " rows on the device is compressed on the host\n", m));
    PetscCall(CompressOnHost(&d, table, dplan, &own));
  } else {
    /* the table has the numbers of the plan, and its own arrays */
    VCRSPlan numbers = *dplan;
    void   **list[PLAN_POINTERS_MAX], **small[PLAN_POINTERS_MAX];
    const int count = PlanGetPointers(&numbers, list);

    (void)PlanGetPointers(table, small);
    for (int k = 0; k < count; k++) *list[k] = *small[k];
    numbers.setcount = table->setcount;
    *table           = numbers;
  }
  if (report) *report = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}
