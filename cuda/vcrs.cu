/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A compressed matrix on the device: copies of its plan, what is chosen once per matrix for its
   launches, and the products of lithecuda.h.
*/

#include "early.cuh"
#include "vcrs.cuh"

/* One array of a plan */
typedef struct {
  void **pointer;
  size_t bytes;
} PlanArray;

#define PLAN_ARRAYS_MAX 32

/* The ends of the pointer arrays, without which the sizes of others are not known */
typedef struct {
  PetscInt   nsetentries;
  PetscInt64 nlongentries;
} PlanEnds;

/* Every array that the plan's layout has, setcount aside, with its size */
static int PlanGetArrays(VCRSPlan *p, const PlanEnds *ends, PlanArray list[])
{
  const size_t m = static_cast<size_t>(p->m), nmask = (m + 31) / 32, nlane = 32 * static_cast<size_t>(p->nslices);
  int          n   = 0;
  auto         add = [&](auto &pointer, size_t count, size_t size) { list[n++] = PlanArray{reinterpret_cast<void **>(&pointer), count * size}; };

  if (p->layout == MATVCRS_LAYOUT_LITERAL) {
    add(p->length, m, sizeof(PetscInt));
    add(p->first, m, sizeof(PetscInt));
    add(p->idxptr, m, sizeof(PetscInt));
    add(p->dataptr, m, sizeof(PetscInt));
    add(p->literalidx, p->nliteralidx, sizeof(PetscInt));
    add(p->literaldata, p->nliteraldata, sizeof(PetscScalar));
    return n;
  }
  if (p->layout != MATVCRS_LAYOUT_L3) {
    add(p->id, m, p->idbytes);
    add(p->setptr, p->nsets + 1, sizeof(PetscInt));
    add(p->setoffset, ends->nsetentries, sizeof(PetscInt));
  }
  if (p->layout == MATVCRS_LAYOUT_L0) add(p->setvalue, ends->nsetentries, sizeof(PetscScalar));
  else {
    add(p->sliceptr, p->nslices + 1, sizeof(PetscInt64));
    add(p->value, p->nvalue, VCRSValueBytes(p->values));
  }
  if (p->layout == MATVCRS_LAYOUT_L3) {
    if (p->grouped) {
      add(p->groupptr, VCRSWindows(p) + 1, sizeof(PetscInt));
      add(p->groupfirst, VCRSWindows(p), sizeof(PetscInt));
      add(p->group, p->ngroups, sizeof(uint16_t));
    } else {
      add(p->colbase, p->ncolbase, sizeof(PetscInt));
      add(p->slicewidth, p->nslices, 1);
      add(p->sliceoffset, p->nslices + 1, sizeof(PetscInt64));
    }
    add(p->coloffset, p->ncolbytes, 1);
    add(p->rowlength, nlane, 1);
    add(p->rowperm, nlane, 1);
    if (p->nlong) {
      add(p->longrow, p->nlong, sizeof(PetscInt));
      add(p->longptr, p->nlong + 1, sizeof(PetscInt64));
      add(p->longcol, ends->nlongentries, sizeof(PetscInt));
    }
  }
  add(p->dict, p->ndict, sizeof(PetscScalar));
  add(p->logcoarse, 256, sizeof(PetscReal));
  add(p->logfine, 256, sizeof(PetscReal));
  add(p->exponent, m, sizeof(int16_t));
  if (p->sigmakind != VCRS_SIGMA_NONE) add(p->sigma, p->nsigma, sizeof(PetscScalar));
  if (p->sigmakind == VCRS_SIGMA_SPARSE) {
    add(p->sigmamask, nmask, sizeof(uint32_t));
    add(p->sigmaptr, nmask, sizeof(PetscInt));
  }
  return n;
}

/* A plan without arrays: what is no pointer of src */
static void PlanCopyScalars(const VCRSPlan *src, VCRSPlan *dst)
{
  memset(dst, 0, sizeof(*dst));
  dst->layout       = src->layout;
  dst->values       = src->values;
  dst->sigmakind    = src->sigmakind;
  dst->difference   = src->difference;
  dst->m            = src->m;
  dst->n            = src->n;
  dst->nz           = src->nz;
  dst->nliteralidx  = src->nliteralidx;
  dst->nliteraldata = src->nliteraldata;
  dst->idbytes      = src->idbytes;
  dst->nsets        = src->nsets;
  dst->nslices      = src->nslices;
  dst->nvalue       = src->nvalue;
  dst->nlong        = src->nlong;
  dst->longvalue    = src->longvalue;
  dst->ncolbase     = src->ncolbase;
  dst->ncolbytes    = src->ncolbytes;
  dst->nlongentries = src->nlongentries;
  dst->sorted       = src->sorted;
  dst->grouped      = src->grouped;
  dst->ngroups      = src->ngroups;
  dst->mostgroups   = src->mostgroups;
  dst->mostcolumns  = src->mostcolumns;
  dst->mostbytes    = src->mostbytes;
  dst->ndict        = src->ndict;
  dst->shortlog     = src->shortlog;
  memcpy(dst->logpower, src->logpower, sizeof(dst->logpower));
  dst->nsigma       = src->nsigma;
}

/* A pair's word and diagonal: what of the common pair it is (see vcrs.cuh) */
static uint32_t PairGetWord(const VCRSPlan *table, const VCRSLaunch *l, PetscInt id, PetscScalar *diagonal)
{
  const PetscInt start = table->setptr[id], length = table->setptr[id + 1] - start;
  uint32_t       word  = 0;
  PetscInt       found = 0;
  PetscBool      same = PETSC_TRUE, part = PETSC_TRUE;

  *diagonal = 0.;
  for (PetscInt k = 0; k < length; k++) {
    const PetscInt    offset = table->setoffset[start + k];
    const PetscScalar value  = table->setvalue[start + k];
    int               q      = 0;

    while (q < l->length && l->offset[q] != offset) q++;
    if (q < l->length) found++;
    if (offset == 0) {
      word |= VCRS_WORD_DIAGONAL;
      *diagonal = value;
    } else if (q < l->length && !memcmp(&l->value[0][q], &value, sizeof(value))) word |= 1u << q;
    else part = PETSC_FALSE;
  }
  same = length == l->length && found == length ? PETSC_TRUE : PETSC_FALSE;
  if (!part) word = 0;
  return same ? word | VCRS_WORD_SAME : word;
}

/* L1, L2: which entries of the common set a set has, in its order and with its reference; 0: it has others, or none */
static uint32_t SetGetPart(const VCRSPlan *table, const VCRSLaunch *l, PetscInt id, PetscBool difference)
{
  const PetscInt start = table->setptr[id], length = table->setptr[id + 1] - start;
  uint32_t       part = 0;
  int            q    = 0;

  if (difference && length > 0 && table->setoffset[start] != l->offset[0]) return 0;
  for (PetscInt k = 0; k < length; k++, q++) {
    while (q < l->length && l->offset[q] != table->setoffset[start + k]) q++;
    if (q == l->length) return 0;
    part |= 1u << q;
  }
  return part;
}

/* What the host knows of each set, for the kernels */
static PetscErrorCode UploadWords(VCRSLaunch *l, PetscInt nsets, const uint32_t word[])
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->dword), nsets * sizeof(*word)));
  PetscCallCUDA(cudaMemcpy(l->dword, word, nsets * sizeof(*word), cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often the offsets o[0..n-1] hold {b - stride, b, b + stride} with no entry in two of them; order[] gets these first */
static int CountTriples(const PetscInt o[], int n, PetscInt stride, int order[])
{
  bool used[VCRS_COMMON_MAX] = {};
  int  ntriple = 0, p = 0;

  auto find = [&](PetscInt offset) {
    for (int k = 0; k < n; k++)
      if (o[k] == offset && !used[k]) return k;
    return -1;
  };
  /* from the lowest offset on, so that a column of more than three gives all it can */
  for (int pass = 0; pass < n; pass++) {
    int low = -1;

    for (int k = 0; k < n; k++)
      if (!used[k] && (low < 0 || o[k] < o[low]) && find(o[k] + stride) >= 0 && find(o[k] + 2 * stride) >= 0) low = k;
    if (low < 0) break;
    const int k1 = find(o[low] + stride), k2 = find(o[low] + 2 * stride);

    order[p++] = low;
    order[p++] = k1;
    order[p++] = k2;
    used[low] = used[k1] = used[k2] = true;
    ntriple++;
  }
  for (int k = 0; k < n; k++)
    if (!used[k]) order[p++] = k;
  return ntriple;
}

/* The rows for which the common set stays inside x, in whole slices */
static void ChooseMain(VCRSLaunch *l, PetscInt m, PetscInt columns)
{
  PetscInt low = 0, high = 0;

  for (int k = 0; k < l->length; k++) {
    low  = PetscMin(low, l->offset[k]);
    high = PetscMax(high, l->offset[k]);
  }
  l->firstmain = (-low + VCRS_SLICE - 1) / VCRS_SLICE * VCRS_SLICE;
  l->nmain     = (PetscMin(m, columns - high) - l->firstmain) / VCRS_SLICE * VCRS_SLICE;
}

/*
   L1, L2: whether the common set is the box of 27 points round a point of a grid; its order stays. part: which of its
   entries each set has. Rows at an end of a line, or in the first or last one of a plane, have all but the points beyond.
*/
static void ChooseBox(VCRSLaunch *l, PetscInt m, PetscInt nsets, const uint32_t part[], PetscBool difference)
{
  constexpr int n = 27, self = 13, plane = 9;
  uint32_t      beyond[4] = {0, 0, 0, 0};
  int           inset[n];

  if (l->length != n) return;
  for (int k = 0; k < n; k++) inset[k] = !difference ? k : (k == self ? 0 : (k < self ? k + 1 : k));

  const PetscInt stride = l->offset[inset[self + plane]], line = l->offset[inset[self + 3]];

  if (line < 32 || stride % line || stride % VCRS_SLICE || stride > m / VCRS_STRIDE_BANDS) return;
  for (int k = 0; k < n; k++) {
    if (l->offset[inset[k]] != (k / plane - 1) * stride + (k % plane / 3 - 1) * line + k % 3 - 1) return;
    if (k % 3 != 1) beyond[k % 3 / 2] |= 1u << inset[k];
    if (k % plane / 3 != 1) beyond[2 + k % plane / 3 / 2] |= 1u << inset[k];
  }
  l->box    = PETSC_TRUE;
  l->stride = stride;
  l->line   = line;
  for (int e = 0; e < 4; e++) {
    l->side[e] = -1;
    for (PetscInt p = 0; p < nsets; p++)
      if (part[p] == (part[l->id] & ~beyond[e])) l->side[e] = p;
  }
}

/* L0: orders the common set's entries by the stride that gives most triples, the largest of these */
static void ChooseStride(VCRSLaunch *l, PetscInt m)
{
  const int   n = l->length;
  PetscInt    offset[VCRS_COMMON_MAX];
  PetscScalar value[VCRS_COMMON_MAX];
  int         order[VCRS_COMMON_MAX], best = 0;

  for (int k = 0; k < n; k++) l->order[k] = k;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      const PetscInt stride = l->offset[a] - l->offset[b];

      if (stride < 32 || stride > m / VCRS_STRIDE_BANDS) continue;
      const int ntriple = CountTriples(l->offset, n, stride, order);

      if (ntriple > best || (ntriple == best && best > 0 && stride > l->stride)) {
        best      = ntriple;
        l->stride = stride;
        memcpy(l->order, order, sizeof(order));
      }
    }
  l->ntriple = best;
  l->nsingle = n - 3 * best;
  memcpy(offset, l->offset, sizeof(offset));
  memcpy(value, l->value[0], sizeof(value));
  for (int k = 0; k < n; k++) {
    l->offset[k]   = offset[l->order[k]];
    l->value[0][k] = value[l->order[k]];
  }

  /* the next shorter distance at which the set meets itself: a line of the grid; it must divide the plane */
  l->line = 0;
  for (int k = 0; k < n; k++) {
    const PetscInt line = l->offset[k] < 0 ? -l->offset[k] : l->offset[k];

    if (best > 0 && line >= 32 && line < l->stride && l->stride % line == 0 && line > l->line) l->line = line;
  }
}

/* The commonest pairs with the offsets of the common one */
static void ChoosePairs(const VCRSPlan *table, PetscInt m, VCRSLaunch *l, const uint32_t word[])
{
  l->npair   = 1;
  l->pair[0] = l->id;
  while (l->npair < VCRS_COMMON_PAIRS) {
    PetscInt best = -1;

    for (PetscInt p = 0; p < table->nsets; p++) {
      bool taken = !(word[p] & VCRS_WORD_SAME);

      for (int q = 0; q < l->npair; q++) taken = taken || l->pair[q] == p;
      if (!taken && (best < 0 || table->setcount[p] > table->setcount[best])) best = p;
    }
    /* what few rows have is no other medium; its warps read it from the tables */
    if (best < 0 || table->setcount[best] < m / 64) break;
    for (int k = 0; k < l->length; k++) l->value[l->npair][k] = table->setvalue[table->setptr[best] + l->order[k]];
    l->pair[l->npair++] = best;
  }
}

/* What the device has, and whether the code that runs there was made for it: that for older devices has no bulk copies either */
static PetscErrorCode GetDevice(VCRSLaunch *l)
{
  int device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&l->multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&l->sharedbytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&l->blockbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  PetscCall(LitheCUDAMayBeginEarly(&l->sm90));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What launches of this matrix are to do; table may be NULL or have no set tables */
static PetscErrorCode PlanChoose(const VCRSPlan *table, VCRSPlan *dplan)
{
  const PetscBool pairs = dplan->layout == MATVCRS_LAYOUT_L0 ? PETSC_TRUE : PETSC_FALSE, sets = dplan->layout == MATVCRS_LAYOUT_L1 || dplan->layout == MATVCRS_LAYOUT_L2 ? PETSC_TRUE : PETSC_FALSE;
  VCRSLaunch     *l;
  cudaStream_t    stream;

  PetscFunctionBegin;
  PetscCall(PetscNew(&l));
  dplan->launch = l;
  l->id         = -1;
  l->stride     = pairs ? 128 : 0;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(GetDevice(l));
  if (dplan->grouped) {
    if (l->sm90) PetscCall(VCRSBanksOrder(dplan, true, stream));
  } else if (!pairs) PetscCall(VCRSSmallPrepare(dplan, l));
  if (l->split || !(pairs || sets) || !table || !table->setptr || !table->setoffset || !table->setcount || (pairs && !table->setvalue)) PetscFunctionReturn(PETSC_SUCCESS);

  /* the commonest set that the kernels can carry along */
  const PetscInt longest = pairs ? VCRS_WORD_ENTRIES : VCRS_COMMON_MAX;

  for (PetscInt p = 0; p < table->nsets; p++) {
    const PetscInt length = table->setptr[p + 1] - table->setptr[p];

    if (length > 0 && length <= longest && (l->id < 0 || table->setcount[p] > table->setcount[l->id])) l->id = p;
  }
  if (l->id < 0) PetscFunctionReturn(PETSC_SUCCESS);

  const PetscInt start = table->setptr[l->id];
  uint32_t      *word;
  PetscScalar   *diagonal;

  l->length = static_cast<int>(table->setptr[l->id + 1] - start);
  for (int k = 0; k < l->length; k++) {
    l->offset[k] = table->setoffset[start + k];
    if (pairs) l->value[0][k] = table->setvalue[start + k];
  }

  /* what the other sets (pairs) have of it */
  PetscCall(PetscMalloc1(table->nsets, &word));
  if (!pairs) {
    for (PetscInt p = 0; p < table->nsets; p++) word[p] = SetGetPart(table, l, p, dplan->difference);
    PetscCall(UploadWords(l, table->nsets, word));
    l->star = VCRSStarRuns(l, dplan);
    if (VCRSGridRuns(l, dplan)) ChooseBox(l, dplan->m, table->nsets, word, dplan->difference);
    if (l->box) {
      ChooseMain(l, dplan->m, dplan->n);
      PetscCall(VCRSGridList(l, dplan, word[l->id], &l->box, stream));
    }
    PetscCall(PetscFree(word));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ChooseStride(l, dplan->m);

  PetscCall(PetscMalloc1(table->nsets, &diagonal));
  for (PetscInt p = 0; p < table->nsets; p++) word[p] = PairGetWord(table, l, p, &diagonal[p]);
  ChoosePairs(table, dplan->m, l, word);
  PetscCall(UploadWords(l, table->nsets, word));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->ddiagonal), table->nsets * sizeof(*diagonal)));
  PetscCallCUDA(cudaMemcpy(l->ddiagonal, diagonal, table->nsets * sizeof(*diagonal), cudaMemcpyHostToDevice));
  PetscCall(PetscFree(diagonal));
  if (l->npair > 1) {
    PetscBool taken;

    ChooseMain(l, dplan->m, dplan->n);
    PetscCall(VCRSGridList(l, dplan, VCRS_WORD_SAME, &taken, stream));
    if (!taken) l->npair = 1;
  }
  if (l->npair == 1) PetscCall(VCRSUnionsPrepare(l, table, dplan, word));
  PetscCall(PetscFree(word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan's copies and what belongs to it are there before its first product: a kernel that begins early relies on it, and streams need not wait for copies from pageable memory */
static PetscErrorCode PlanPrepare(const VCRSPlan *table, VCRSPlan *dplan)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  PetscCall(PlanChoose(table, dplan));
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
  PetscCheck(!src->plainrows, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Plain rows are of the host: a device needs a plan with slices");
  if (src->setptr) ends.nsetentries = src->setptr[src->nsets];
  if (src->longptr && src->nlong) ends.nlongentries = src->longptr[src->nlong];

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
  const bool        spread = dsrc->grouped && l && l->sm90;
  cudaStream_t      stream;
  int               n;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (spread) PetscCall(VCRSBanksOrder(dsrc, false, stream));
  if (dsrc->setptr) PetscCallCUDA(cudaMemcpy(&ends.nsetentries, dsrc->setptr + dsrc->nsets, sizeof(ends.nsetentries), cudaMemcpyDeviceToHost));
  if (dsrc->longptr && dsrc->nlong) PetscCallCUDA(cudaMemcpy(&ends.nlongentries, dsrc->longptr + dsrc->nlong, sizeof(ends.nlongentries), cudaMemcpyDeviceToHost));

  PlanCopyScalars(dsrc, dst);
  n = PlanGetArrays(&device, &ends, from);
  (void)PlanGetArrays(dst, &ends, to);
  for (int k = 0; k < n; k++) {
    if (!*from[k].pointer || !from[k].bytes) continue;
    PetscCall(PetscMalloc(from[k].bytes, to[k].pointer));
    PetscCallCUDA(cudaMemcpy(*to[k].pointer, *from[k].pointer, from[k].bytes, cudaMemcpyDeviceToHost));
  }
  if (spread) PetscCall(VCRSBanksOrder(dsrc, true, stream));

  /* how many rows have a set is not on the device */
  if (dst->id) {
    PetscCall(PetscCalloc1(dst->nsets, &dst->setcount));
    for (PetscInt i = 0; i < dst->m; i++) {
      const PetscInt id = dst->idbytes == 1 ? static_cast<uint8_t *>(dst->id)[i] : (dst->idbytes == 2 ? static_cast<uint16_t *>(dst->id)[i] : static_cast<PetscInt>(static_cast<uint32_t *>(dst->id)[i]));

      dst->setcount[id]++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSFree(VCRSPlan *dplan)
{
  PlanArray      list[PLAN_ARRAYS_MAX];
  const PlanEnds ends = {0, 0};
  VCRSLaunch    *l    = static_cast<VCRSLaunch *>(dplan->launch);
  const int      n    = PlanGetArrays(dplan, &ends, list);

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    if (*list[k].pointer) PetscCallCUDA(cudaFree(*list[k].pointer));
    *list[k].pointer = NULL;
  }
  if (l) {
    if (l->dword) PetscCallCUDA(cudaFree(l->dword));
    if (l->ddiagonal) PetscCallCUDA(cudaFree(l->ddiagonal));
    if (l->dlong) PetscCallCUDA(cudaFree(l->dlong));
    if (l->dlisted) PetscCallCUDA(cudaFree(l->dlisted));
    if (l->dmain) PetscCallCUDA(cudaFree(l->dmain));
    PetscCall(VCRSUnionsFree(&l->unions));
    PetscCall(PetscFree(l));
    dplan->launch = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* dy = sign A dx + dadd for one column, without dadd dy = A dx */
static PetscErrorCode PlanMult(const VCRSPlan *table, const VCRSPlan *dplan, const PetscScalar *dx, const PetscScalar *dadd, PetscReal sign, PetscScalar *dy, cudaStream_t stream)
{
  MultArguments     v;
  const VCRSLaunch *l;

  PetscFunctionBegin;
  if (dplan->layout == MATVCRS_LAYOUT_LITERAL) {
    PetscCall(VCRSRowsMult(dplan, 1, dx, 0, dadd, 0, dy, 0, sign, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  v.x    = reinterpret_cast<const Number *>(dx);
  v.add  = reinterpret_cast<const Number *>(dadd);
  v.y    = reinterpret_cast<Number *>(dy);
  v.sign = sign;

  /* a plan that was made on the device is prepared by its first product */
  if (!dplan->launch) PetscCall(PlanPrepare(table, const_cast<VCRSPlan *>(dplan)));
  l       = static_cast<const VCRSLaunch *>(dplan->launch);
  v.early = l->sm90;
  if (l->split) {
    PetscCall(VCRSSmallMult(l, dplan, &v, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  switch (dplan->layout) {
  case MATVCRS_LAYOUT_L0:
    PetscCall(VCRSPairsMult(l, dplan, &v, stream));
    break;
  case MATVCRS_LAYOUT_L1:
  case MATVCRS_LAYOUT_L2:
    if (l->box) PetscCall(VCRSGridMult(l, dplan, &v, stream));
    else if (l->star) PetscCall(VCRSStarMult(l, dplan, &v, stream));
    else PetscCall(VCRSSetsMult(l, dplan, &v, stream));
    break;
  case MATVCRS_LAYOUT_L3:
    if (!dplan->grouped) PetscCall(VCRSSlicesMult(l, dplan, &v, stream));
    else if (l->sm90) PetscCall(VCRSGroupsMult(l, dplan, &v, stream));
    else PetscCall(VCRSRowsMult(dplan, 1, dx, 0, dadd, 0, dy, 0, sign, stream));
    break;
  default:
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A compressed matrix has no kernel for layout %d: its plan was not built", static_cast<int>(dplan->layout));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAVCRSMult(const VCRSPlan *table, const VCRSPlan *dplan, VCRSOp op, PetscInt nrhs, const PetscScalar *dx, PetscInt ldx, const PetscScalar *dadd, PetscInt ldadd, PetscScalar *dy, PetscInt ldy)
{
  const PetscInt nrow = op == VCRS_OP_N ? dplan->m : dplan->n;
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (nrhs <= 0 || nrow <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (op == VCRS_OP_N) {
    if (nrhs == 1) PetscCall(PlanMult(table, dplan, dx, dadd, 1, dy, stream));
    else PetscCall(VCRSRowsMult(dplan, nrhs, dx, ldx, dadd, ldadd, dy, ldy, 1, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* the kernels add to y */
  for (PetscInt j = 0; j < nrhs; j++) {
    PetscScalar *yj = dy + static_cast<PetscInt64>(j) * ldy;

    if (!dadd) PetscCallCUDA(cudaMemsetAsync(yj, 0, nrow * sizeof(PetscScalar), stream));
    else if (dadd != dy) PetscCallCUDA(cudaMemcpyAsync(yj, dadd + static_cast<PetscInt64>(j) * ldadd, nrow * sizeof(PetscScalar), cudaMemcpyDeviceToDevice, stream));
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

/* Whether steps are made by unions: one launch then gives y */
static bool StepHasUnions(const VCRSPlan *dplan)
{
  return (!dplan->difference || dplan->sigmakind == VCRS_SIGMA_NONE) && dplan->layout == MATVCRS_LAYOUT_L0 && dplan->launch && static_cast<const VCRSLaunch *>(dplan->launch)->unions.nunions;
}

/* Known once there has been a step */
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
    v.early     = static_cast<const VCRSLaunch *>(dplan->launch)->sm90;
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
