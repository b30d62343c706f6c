/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What is chosen once per matrix for its launches: the set that most rows have, what others have of it, and which kernels run */

#include "early.cuh"
#include "vcrs.cuh"

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

PetscErrorCode VCRSLaunchCreate(const VCRSPlan *table, VCRSPlan *dplan)
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

PetscErrorCode VCRSLaunchDestroy(VCRSPlan *dplan)
{
  VCRSLaunch *l = static_cast<VCRSLaunch *>(dplan->launch);

  PetscFunctionBegin;
  if (!l) PetscFunctionReturn(PETSC_SUCCESS);
  if (l->dword) PetscCallCUDA(cudaFree(l->dword));
  if (l->ddiagonal) PetscCallCUDA(cudaFree(l->ddiagonal));
  if (l->dlong) PetscCallCUDA(cudaFree(l->dlong));
  if (l->dlisted) PetscCallCUDA(cudaFree(l->dlisted));
  if (l->dmain) PetscCallCUDA(cudaFree(l->dmain));
  PetscCall(VCRSUnionsFree(&l->unions));
  PetscCall(PetscFree(l));
  dplan->launch = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
