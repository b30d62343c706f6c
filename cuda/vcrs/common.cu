/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The most frequent set of L0, L1 and L2, which is a parameter of kernels, and its parts in the remaining sets */

#include "kernels.cuh"

/* The rows with all columns of the common set inside x, in whole slices */
void VCRSCommonMain(VCRSLaunch *l, PetscInt m, PetscInt columns)
{
  PetscInt low = 0, high = 0;

  for (int k = 0; k < l->length; k++) {
    low  = PetscMin(low, l->offset[k]);
    high = PetscMax(high, l->offset[k]);
  }
  l->main.first = (-low + VCRS_SLICE - 1) / VCRS_SLICE * VCRS_SLICE;
  l->main.n     = (PetscMin(m, columns - high) - l->main.first) / VCRS_SLICE * VCRS_SLICE;
}

/* Copies the host's word of each set to the device */
static PetscErrorCode UploadWords(VCRSLaunch *l, PetscInt nsets)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->dword), nsets * sizeof(*l->word)));
  PetscCallCUDA(cudaMemcpy(l->dword, l->word, nsets * sizeof(*l->word), cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the most frequent set with at most `longest` entries; none if the host has no tables of sets */
static PetscErrorCode CommonFind(VCRSLaunch *l, const VCRSPlan *table, PetscInt longest)
{
  PetscInt start;

  PetscFunctionBegin;
  l->id = -1;
  if (!table || !table->sets.ptr || !table->sets.offset || !table->sets.count) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt p = 0; p < table->sets.n; p++) {
    const PetscInt length = table->sets.ptr[p + 1] - table->sets.ptr[p];

    if (length > 0 && length <= longest && (l->id < 0 || table->sets.count[p] > table->sets.count[l->id])) l->id = p;
  }
  if (l->id < 0) PetscFunctionReturn(PETSC_SUCCESS);
  start     = table->sets.ptr[l->id];
  l->length = static_cast<int>(table->sets.ptr[l->id + 1] - start);
  for (int k = 0; k < l->length; k++) l->offset[k] = table->sets.offset[start + k];
  PetscCall(PetscMalloc1(table->sets.n, &l->word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L1, L2: the entries of the common set that make up a set, with the same order and reference. Returns 0 if the set has
   any other entry, or no entry */
static uint32_t SetGetPart(const VCRSPlan *table, const VCRSLaunch *l, PetscInt id, PetscBool difference)
{
  const PetscInt start = table->sets.ptr[id], length = table->sets.ptr[id + 1] - start;
  uint32_t       part = 0;
  int            q    = 0;

  if (difference && length > 0 && table->sets.offset[start] != l->offset[0]) return 0;
  for (PetscInt k = 0; k < length; k++, q++) {
    while (q < l->length && l->offset[q] != table->sets.offset[start + k]) q++;
    if (q == l->length) return 0;
    part |= 1u << q;
  }
  return part;
}

/* L1, L2. Several kernels call this function; only the first call does the work */
PetscErrorCode VCRSCommonSets(VCRSLaunch *l, const VCRSPlan *table, const VCRSPlan *dplan)
{
  PetscFunctionBegin;
  if (l->searched) PetscFunctionReturn(PETSC_SUCCESS);
  l->searched = true;
  PetscCall(CommonFind(l, table, VCRS_COMMON_MAX));
  if (l->id < 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt p = 0; p < table->sets.n; p++) l->word[p] = SetGetPart(table, l, p, dplan->difference);
  PetscCall(UploadWords(l, table->sets.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The word and the diagonal entry of a pair, relative to the common pair (see kernels.cuh) */
static uint32_t PairGetWord(const VCRSPlan *table, const VCRSLaunch *l, PetscInt id, PetscScalar *diagonal)
{
  const PetscInt start = table->sets.ptr[id], length = table->sets.ptr[id + 1] - start;
  uint32_t       word  = 0;
  PetscInt       found = 0;
  PetscBool      same = PETSC_TRUE, part = PETSC_TRUE;

  *diagonal = 0.;
  for (PetscInt k = 0; k < length; k++) {
    const PetscInt    offset = table->sets.offset[start + k];
    const PetscScalar value  = table->sets.value[start + k];
    int               q      = 0;

    while (q < l->length && l->offset[q] != offset) q++;
    if (q < l->length) found++;
    if (offset == 0) {
      word |= VCRS_WORD_DIAGONAL;
      *diagonal = value;
    } else if (q < l->length && !memcmp(&l->common.value[0][q], &value, sizeof(value))) word |= 1u << q;
    else part = PETSC_FALSE;
  }
  same = (PetscBool)(length == l->length && found == length);
  if (!part) word = 0;
  return same ? word | VCRS_WORD_SAME : word;
}

/* Counts triples {b - stride, b, b + stride} among the offsets o[0..n-1]. An entry is in at most one triple. order[]
   receives the entries with triples first */
static int CountTriples(const PetscInt o[], int n, PetscInt stride, int order[])
{
  bool used[VCRS_COMMON_MAX] = {};
  int  ntriple = 0, p = 0;

  auto find = [&](PetscInt offset) {
    for (int k = 0; k < n; k++)
      if (o[k] == offset && !used[k]) return k;
    return -1;
  };
  /* begins with the lowest offset: a sequence of more than three offsets then gives as many triples as possible */
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

/* L0: orders the entries of the common set by triples. Chooses the stride with the most triples; among equals, the
   largest stride */
static void ChooseStride(VCRSLaunch *l, PetscInt m)
{
  const int   n = l->length;
  PetscInt    offset[VCRS_COMMON_MAX];
  PetscScalar value[VCRS_COMMON_MAX];
  int         order[VCRS_COMMON_MAX], best = 0;

  for (int k = 0; k < n; k++) l->common.order[k] = k;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      const PetscInt stride = l->offset[a] - l->offset[b];

      if (stride < 32 || stride > m / VCRS_STRIDE_BANDS) continue;
      const int ntriple = CountTriples(l->offset, n, stride, order);

      if (ntriple > best || (ntriple == best && best > 0 && stride > l->stride)) {
        best      = ntriple;
        l->stride = stride;
        memcpy(l->common.order, order, sizeof(order));
      }
    }
  l->common.ntriple = best;
  l->common.nsingle = n - 3 * best;
  memcpy(offset, l->offset, sizeof(offset));
  memcpy(value, l->common.value[0], sizeof(value));
  for (int k = 0; k < n; k++) {
    l->offset[k]          = offset[l->common.order[k]];
    l->common.value[0][k] = value[l->common.order[k]];
  }

  /* the longest distance in the set below the stride is a line of the grid, if the distance divides the stride */
  l->line = 0;
  for (int k = 0; k < n; k++) {
    const PetscInt line = l->offset[k] < 0 ? -l->offset[k] : l->offset[k];

    if (best > 0 && line >= 32 && line < l->stride && l->stride % line == 0 && line > l->line) l->line = line;
  }
}

/* Chooses the most frequent pairs with the offsets of the common pair */
static void ChoosePairs(const VCRSPlan *table, PetscInt m, VCRSLaunch *l, const uint32_t word[])
{
  l->common.n       = 1;
  l->common.pair[0] = l->id;
  while (l->common.n < VCRS_COMMON_PAIRS) {
    PetscInt best = -1;

    for (PetscInt p = 0; p < table->sets.n; p++) {
      bool taken = !(word[p] & VCRS_WORD_SAME);

      for (int q = 0; q < l->common.n; q++) taken = taken || l->common.pair[q] == p;
      if (!taken && (best < 0 || table->sets.count[p] > table->sets.count[best])) best = p;
    }
    /* a pair of few rows is not a medium: warps read the pair from the tables */
    if (best < 0 || table->sets.count[best] < m / 64) break;
    for (int k = 0; k < l->length; k++) l->common.value[l->common.n][k] = table->sets.value[table->sets.ptr[best] + l->common.order[k]];
    l->common.pair[l->common.n++] = best;
  }
}

/* L0 */
PetscErrorCode VCRSCommonPairs(VCRSLaunch *l, const VCRSPlan *table, const VCRSPlan *dplan)
{
  PetscScalar *diagonal;

  PetscFunctionBegin;
  l->stride = 128;
  PetscCall(CommonFind(l, table && table->sets.value ? table : NULL, VCRS_WORD_ENTRIES));
  if (l->id < 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < l->length; k++) l->common.value[0][k] = table->sets.value[table->sets.ptr[l->id] + k];
  ChooseStride(l, dplan->m);
  PetscCall(PetscMalloc1(table->sets.n, &diagonal));
  for (PetscInt p = 0; p < table->sets.n; p++) l->word[p] = PairGetWord(table, l, p, &diagonal[p]);
  ChoosePairs(table, dplan->m, l, l->word);
  PetscCall(UploadWords(l, table->sets.n));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->common.ddiagonal), table->sets.n * sizeof(*diagonal)));
  PetscCallCUDA(cudaMemcpy(l->common.ddiagonal, diagonal, table->sets.n * sizeof(*diagonal), cudaMemcpyHostToDevice));
  PetscCall(PetscFree(diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
