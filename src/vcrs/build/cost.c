/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The choice of the layout and the container with the fewest bytes in a product. The host (build.c) or the device
   (cuda/vcrs/build/build.cu) finds the counts. The choice is made here for both.
*/

#include "buildimpl.h"
#include <lithe/private/machine.h>

/* Of two containers with the same cost the first is taken */
static const VCRSValues VCRSValuesOrder[] = {VCRS_VALUES_LOG8,    VCRS_VALUES_FIXED8, VCRS_VALUES_DICT8,  VCRS_VALUES_LOG16,
                                             VCRS_VALUES_FIXED16, VCRS_VALUES_DICT16, VCRS_VALUES_SINGLE, VCRS_VALUES_FULL};

PetscInt VCRSIdBytes(PetscInt n)
{
  return n <= 256 ? 1 : (n <= 65536 ? 2 : 4);
}

/* Whether a dictionary of n entries stays in cache as a whole: then the frequency of an entry does not matter */
PetscBool VCRSDictionaryFits(PetscInt n)
{
  return (PetscBool)((double)n * (double)sizeof(PetscScalar) <= VCRS_TABLE_BYTES);
}

/* Bytes of nvalue stored entries in a container, without dictionaries */
static double VCRSContainerCost(PetscInt m, VCRSValues v, double nvalue)
{
  double cost = nvalue * (double)VCRSValueBytes(v);

  if (v == VCRS_VALUES_FIXED8 || v == VCRS_VALUES_FIXED16) cost += (double)sizeof(int16_t) * (double)m;
  if (v == VCRS_VALUES_LOG8 || v == VCRS_VALUES_LOG16) cost += (double)sizeof(PetscReal) * (v == VCRS_VALUES_LOG8 ? 256. : 512.);
  return cost;
}

/* Cost of nvalue look-ups in addition to the codes, in bytes of streaming */
static double VCRSLookupCost(VCRSValues v, double nvalue)
{
  if (nvalue < VCRS_BUSY_ENTRIES) return 0.;
  return nvalue * (v == VCRS_VALUES_DICT8 ? VCRS_SHARED_LOOKUP_BYTES : VCRS_LOOKUP_BYTES);
}

/* Whether single precision may cost less than the known suitable containers, for any padding of the stored entries */
PetscBool VCRSSingleMayWin(PetscInt m, double stored, const PetscBool has[])
{
  for (int v = 0; v < VCRS_NVALUES; v++) {
    if (v == VCRS_VALUES_SINGLE || v == VCRS_VALUES_DICT8 || v == VCRS_VALUES_DICT16 || !has[v]) continue;
    if (VCRSValueBytes((VCRSValues)v) <= VCRSValueBytes(VCRS_VALUES_SINGLE) &&
        VCRSContainerCost(m, (VCRSValues)v, stored) < VCRSContainerCost(m, VCRS_VALUES_SINGLE, stored))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Whether a dictionary of n entries costs more than container v, for any number of stored entries from this one on */
static PetscBool VCRSDictionaryLoses(PetscInt n, VCRSValues v, PetscInt m, double stored)
{
  const VCRSValues d     = n > 256 ? VCRS_VALUES_DICT16 : VCRS_VALUES_DICT8;
  const double     entry = (double)VCRSValueBytes(d) + VCRSLookupCost(d, stored) / PetscMax(stored, 1.);

  return (PetscBool)(entry >= (double)VCRSValueBytes(v) && entry * stored + (double)n * (double)sizeof(PetscScalar) > VCRSContainerCost(m, v, stored));
}

/* The largest dictionary that may win: a larger one would cost more than a known suitable container. 0: none */
PetscInt VCRSDictionaryLimit(PetscInt m, double stored, const PetscBool has[])
{
  PetscInt limit = VCRS_SET_LIMIT;

  for (int v = 0; v < VCRS_NVALUES; v++) {
    PetscInt low = 0, high = limit;

    if (v == VCRS_VALUES_DICT8 || v == VCRS_VALUES_DICT16 || !has[v]) continue;

    /* the cost grows with the dictionary: find the largest that may win */
    while (low < high) {
      const PetscInt middle = low + (high - low + 1) / 2;

      if (VCRSDictionaryLoses(middle, (VCRSValues)v, m, stored)) high = middle - 1;
      else low = middle;
    }
    limit = low;
  }
  return limit;
}

typedef struct {
  double   bytes; /* of the table entries of one use */
  PetscInt uses;
} VCRSTableUse;

static int VCRSTableUseCompare(const void *a, const void *b)
{
  const VCRSTableUse *x = (const VCRSTableUse *)a, *y = (const VCRSTableUse *)b;

  if (x->uses != y->uses) return x->uses < y->uses ? 1 : -1;
  return x->bytes < y->bytes ? -1 : (x->bytes > y->bytes ? 1 : 0);
}

/* Reading a table costs its size once, plus every use of entries that do not fit into cache with the most used part */
static double VCRSTableCost(PetscInt n, VCRSTableUse t[])
{
  double size = 0., cost = 0.;

  for (PetscInt p = 0; p < n; p++) size += t[p].bytes;
  if (size <= VCRS_TABLE_BYTES) return size;
  qsort(t, (size_t)n, sizeof(*t), VCRSTableUseCompare);
  size = 0.;
  for (PetscInt p = 0; p < n; p++) {
    size += t[p].bytes;
    cost += t[p].bytes * (size <= VCRS_TABLE_BYTES ? 1. : (double)t[p].uses);
  }
  return cost;
}

static PetscErrorCode VCRSSetsCost_Private(const VCRSFacts *f, const VCRSSetFacts *s, size_t entrybytes, double *cost)
{
  VCRSTableUse *t;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &t));
  for (PetscInt p = 0; p < s->n; p++) {
    t[p].bytes = (double)sizeof(PetscInt) + (double)entrybytes * (double)s->length[p];
    t[p].uses  = s->count[p];
  }
  *cost = VCRSTableCost(s->n, t) + (double)VCRSIdBytes(s->n) * (double)f->m;
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of nvalue stored entries in a container, including the look-ups that miss a large dictionary */
static PetscErrorCode VCRSValuesCost_Private(const VCRSFacts *f, VCRSValues v, PetscInt64 nvalue, double *cost)
{
  PetscFunctionBegin;
  *cost = VCRSContainerCost(f->m, v, (double)nvalue);
  if (v == VCRS_VALUES_DICT8 || v == VCRS_VALUES_DICT16) *cost += VCRSLookupCost(v, (double)nvalue);
  if (v == VCRS_VALUES_DICT8 || (v == VCRS_VALUES_DICT16 && VCRSDictionaryFits(f->ndict))) *cost += (double)f->ndict * (double)sizeof(PetscScalar);
  else if (v == VCRS_VALUES_DICT16) {
    VCRSTableUse *t;

    PetscCall(PetscMalloc1(f->ndict, &t));
    for (PetscInt p = 0; p < f->ndict; p++) {
      t[p].bytes = (double)sizeof(PetscScalar);
      t[p].uses  = f->dictuses[p];
    }
    *cost += VCRSTableCost(f->ndict, t);
    PetscCall(PetscFree(t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cost of the look-ups of L0, in bytes of streaming */
static double VCRSPairLookupCost(const VCRSFacts *f)
{
  double entries = 0., athand[VCRS_PAIRS_AT_HAND] = {0.};

  for (PetscInt p = 0; p < f->pairs.n; p++) {
    double n = (double)f->pairs.count[p] * (double)f->pairs.length[p];

    entries += n;
    for (int k = 0; k < VCRS_PAIRS_AT_HAND; k++) {
      const double least = PetscMin(n, athand[k]);

      athand[k] = PetscMax(n, athand[k]);
      n         = least;
    }
  }
  if (entries < VCRS_BUSY_ENTRIES) return 0.;
  for (int k = 0; k < VCRS_PAIRS_AT_HAND; k++) entries -= athand[k];
  return VCRS_PAIR_LOOKUP_BYTES * entries * (f->together <= VCRS_PAIRS_TOGETHER ? (f->together - 1.) / (VCRS_SLICE - 1.) : 1.);
}

/*
   L0, from the facts opt, m, stored, pairs and together. final: no other layout can need less, so no more facts are
   needed
*/
PetscErrorCode VCRSChoosePairs(const VCRSFacts *f, VCRSChoice *c, PetscBool *final)
{
  PetscFunctionBegin;
  PetscCall(VCRSSetsCost_Private(f, &f->pairs, sizeof(PetscInt) + sizeof(PetscScalar), &c->cost));
  c->cost += VCRSPairLookupCost(f);
  c->layout = MATVCRS_LAYOUT_L0;
  c->values = VCRS_VALUES_FULL;

  /* anything else needs a byte for each entry */
  *final = (PetscBool)(f->opt->layout != MATVCRS_LAYOUT_AUTO || c->cost <= f->stored);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L1 and L2, from the facts sets, has, the dictionary and setvalues */
PetscErrorCode VCRSChooseSets(const VCRSFacts *f, VCRSChoice *c)
{
  const PetscInt64 offsets = f->m / VCRS_SLICE + 2; /* of slices */
  double           setscost, cost;

  PetscFunctionBegin;
  PetscCall(VCRSSetsCost_Private(f, &f->sets, sizeof(PetscInt), &setscost));
  setscost += (double)sizeof(PetscInt64) * (double)offsets;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(VCRSValuesOrder); t++) {
    const VCRSValues    v      = VCRSValuesOrder[t];
    const MatVCRSLayout layout = v == VCRS_VALUES_FIXED8 || v == VCRS_VALUES_FIXED16 ? MATVCRS_LAYOUT_L2 : MATVCRS_LAYOUT_L1;

    if (!f->has[v] || (f->opt->layout != MATVCRS_LAYOUT_AUTO && f->opt->layout != layout)) continue;
    PetscCall(VCRSValuesCost_Private(f, v, f->setvalues, &cost));
    cost += setscost;
    if (c->cost < 0. || cost < c->cost) {
      c->cost   = cost;
      c->layout = layout;
      c->values = v;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of an entry in the smallest container */
size_t VCRSSmallestValueBytes(const VCRSFacts *f)
{
  size_t small = sizeof(PetscScalar);

  for (int v = 0; v < VCRS_NVALUES; v++) {
    if (f->has[v]) small = PetscMin(small, VCRSValueBytes((VCRSValues)v));
  }
  return small;
}

/* L3: longer rows are stored separately, with whole column numbers and no padding; kernels prefer few long rows */
const PetscInt VCRSSliceLimits[VCRS_NLIMITS] = {VCRS_LONG_ROW, 128, 64, 32, 16};

/*
   The limit that needs the fewest bytes. Arguments padded[t], entries of slices, and longentries[t], entries of long
   rows, belong to the limits below the length of the longest row, and to the first limit. A thread reads its row entry
   by entry: other threads would wait for a row much longer than the average
*/
PetscInt VCRSChooseSliceLimit(PetscInt longest, PetscInt average, size_t valuebytes, const PetscInt64 padded[], const PetscInt64 longentries[])
{
  const PetscInt most  = PetscMax(32, 4 * average);
  PetscInt       limit = VCRS_LONG_ROW;
  double         best  = -1.;

  for (int t = 0; t < VCRS_NLIMITS; t++) {
    double bytes;

    if (VCRSSliceLimits[t] >= longest && t) continue;
    if (VCRSSliceLimits[t] > most && longest > most) continue;
    bytes = (double)padded[t] * (double)(valuebytes + 2) + (double)longentries[t] * (double)(valuebytes + sizeof(PetscInt));
    if (best < 0. || bytes < .9 * best) {
      best  = bytes;
      limit = VCRSSliceLimits[t];
    }
  }
  return limit;
}

/*
   Whether L3 may need less than the present choice, before its slices are found. The estimate assumes no padding, one
   byte per column, and one byte per row length
*/
PetscErrorCode VCRSSlicesMayWin(const VCRSFacts *f, const VCRSChoice *c, PetscBool *may)
{
  double cost;

  PetscFunctionBegin;
  *may = (PetscBool)(c->cost < 0.);
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(VCRSValuesOrder) && !*may; t++) {
    if (!f->has[VCRSValuesOrder[t]]) continue;
    PetscCall(VCRSValuesCost_Private(f, VCRSValuesOrder[t], (PetscInt64)f->stored, &cost));
    *may = (PetscBool)(cost + f->stored + (double)f->m < c->cost);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L3, from the facts has and the dictionary, and from the sizes of the slices */
PetscErrorCode VCRSChooseSlices(const VCRSFacts *f, const VCRSPlan *slices, VCRSChoice *c)
{
  double cost;

  PetscFunctionBegin;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(VCRSValuesOrder); t++) {
    if (!f->has[VCRSValuesOrder[t]]) continue;
    PetscCall(VCRSValuesCost_Private(f, VCRSValuesOrder[t], slices->slices.nvalue, &cost));
    cost += (double)slices->columns.nbytes + (double)slices->columns.nbase * (double)sizeof(PetscInt) +
            (double)slices->slices.n * (double)(VCRS_SLICE * (slices->lanes.sorted ? 2 : 1) + 1 + 2 * sizeof(PetscInt64));
    if (slices->longrows.n)
      cost += (double)slices->longrows.nentries * (double)sizeof(PetscInt) + (double)slices->longrows.n * (double)(sizeof(PetscInt) + sizeof(PetscInt64));
    if (c->cost < 0. || cost < c->cost) {
      c->cost   = cost;
      c->layout = MATVCRS_LAYOUT_L3;
      c->values = VCRSValuesOrder[t];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With whole entries a product waits for the entries, grouped or not */
PetscBool VCRSMayGroup(const VCRSPlan *plan)
{
  return (PetscBool)(plan->m >= VCRS_GROUPED_ROWS && plan->values != VCRS_VALUES_FULL);
}

/*
   Whether columns are grouped: at most ngroups in all windows, and at most mostbytes bytes to read in one window.
   Grouping must save more than a tenth of the bytes
*/
PetscBool VCRSChooseGroups(const VCRSPlan *plan, PetscInt64 ngroups, PetscInt mostgroups, PetscInt64 mostbytes)
{
  const double grouped = 64. * (double)plan->columns.nbase + 2. * (double)ngroups,
               sliced  = (double)plan->columns.nbytes + (double)plan->columns.nbase * (double)sizeof(PetscInt);

  return (PetscBool)(mostgroups <= VCRS_GROUP_SPAN / VCRS_GROUP && mostbytes <= VCRS_GROUPED_BYTES && grouped <= 1.1 * sliced);
}

/* How n nonzero row sums among m rows are stored */
VCRSSigma VCRSChooseSigma(PetscInt m, PetscInt64 n)
{
  const PetscInt nmask = (m + 31) / 32;

  if (!n) return VCRS_SIGMA_NONE;
  return (double)n * (double)sizeof(PetscScalar) + (double)nmask * (double)(sizeof(uint32_t) + sizeof(PetscInt)) < (double)m * (double)sizeof(PetscScalar)
           ? VCRS_SIGMA_SPARSE
           : VCRS_SIGMA_FULL;
}
