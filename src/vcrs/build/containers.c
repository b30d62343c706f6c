/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression: which containers hold the entries of a matrix without changing a bit, and the codes of a dictionary.
*/

#include <lithe/private/vcrs/fit.h>
#include <lithe/private/lithecompiler.h>

/* The first slot for v in an open-addressing table of 2^(64-shift) slots */
static inline size_t VCRSDictionarySlot(PetscScalar v, int shift)
{
  return (size_t)(LitheHashScalar(0, v) >> shift);
}

/* Four times as many slots: the table stays at most half full, and no larger than the dictionary needs */
static PetscErrorCode VCRSDictionaryGrow_Private(PetscInt n, const PetscScalar dict[], int32_t **slot, int *shift)
{
  size_t nslot;

  PetscFunctionBegin;
  *shift = *slot ? *shift - 2 : 54;
  nslot  = (size_t)1 << (64 - *shift);
  PetscCall(PetscFree(*slot));
  PetscCall(PetscMalloc1(nslot, slot));
  memset(*slot, 0xff, nslot * sizeof(**slot));
  for (PetscInt c = 0; c < n; c++) {
    size_t pos = VCRSDictionarySlot(dict[c], *shift);

    while ((*slot)[pos] >= 0) pos = (pos + 1) & (nslot - 1);
    (*slot)[pos] = (int32_t)c;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes of all stored entries in a dictionary of at most limit values; has[] is false if there are more */
PetscErrorCode VCRSFindDictionary(VCRSBuild *b, PetscInt limit)
{
  const PetscInt first = b->difference ? 1 : 0;
  int            shift = 64;
  int32_t       *slot  = NULL;
  PetscInt       n = 0, nlast = 0, nlooked = 0;
  PetscBool      more = PETSC_FALSE;
  PetscErrorCode ierr = PETSC_SUCCESS;

  const PetscScalar *last = NULL;

  PetscFunctionBegin;
  PetscCall(LitheMallocLarge(b->i[b->m], &b->found.dictcode));
  PetscCall(PetscMalloc1(limit, &b->found.dict));
  for (PetscInt row = 0; row < b->m && !more && !ierr; row++) {
    const PetscInt     p = b->i[row], len = b->i[row + 1] - p;
    const PetscScalar *a        = VCRSRowValues(b, row, row % 2);
    const uint16_t    *lastcode = b->found.dictcode + p - nlast;

    /* if most entries needed a search in the row above, start the searches of all entries of this row together */
    if (2 * nlooked > nlast) {
      for (PetscInt k = first; k < len; k++) LITHE_PREFETCH(slot + VCRSDictionarySlot(a[k], shift));
    }
    nlooked = 0;
    for (PetscInt k = first; k < len; k++) {
      const PetscScalar v = a[k];
      size_t            pos, mask;
      int32_t           c;

      /* the entry in the same place of the row above */
      if (k < nlast && !memcmp(&v, &last[k], sizeof(v))) {
        b->found.dictcode[p + k] = lastcode[k];
        continue;
      }
      if (!slot || (size_t)n >> (63 - shift)) {
        ierr = VCRSDictionaryGrow_Private(n, b->found.dict, &slot, &shift);
        if (ierr) break;
      }
      nlooked++;
      mask = ((size_t)1 << (64 - shift)) - 1;
      for (pos = VCRSDictionarySlot(v, shift); (c = slot[pos]) >= 0; pos = (pos + 1) & mask) {
        if (!memcmp(&v, &b->found.dict[c], sizeof(v))) break;
      }
      if (c < 0) {
        if (n == limit) {
          more = PETSC_TRUE;
          break;
        }
        c                = (int32_t)n++;
        slot[pos]        = c;
        b->found.dict[c] = v;
      }
      b->found.dictcode[p + k] = (uint16_t)c;
    }
    nlast = len;
    last  = a;
  }
  PetscCall(PetscFree(slot));
  PetscCall(ierr);
  b->facts.has[VCRS_VALUES_DICT8]  = (PetscBool)(!more && n <= 256);
  b->facts.has[VCRS_VALUES_DICT16] = more ? PETSC_FALSE : PETSC_TRUE;
  b->facts.ndict                   = more ? 0 : n;
  if (more) {
    PetscCall(PetscFree(b->found.dictcode));
    PetscCall(PetscFree(b->found.dict));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row is fixed point if its largest entry is at most 127 (32767) times the lowest bit set in any entry */
PetscErrorCode VCRSFindFixedPoint(VCRSBuild *b)
{
  const PetscInt  first     = b->difference ? 1 : 0;
  const uint16_t *multiples = b->rounded.log ? NULL : b->rounded.code;
  PetscBool       has8 = PETSC_TRUE, has16 = PETSC_TRUE;
  int             last = 0;

  PetscFunctionBegin;
  PetscCall(LitheMallocLarge(b->m, &b->found.exponent));
  for (PetscInt row = 0; row < b->m && has16; row++) {
    const PetscInt len = b->i[row + 1] - b->i[row] - first;
    int            exponent, bits;

    if (multiples) bits = VCRSRowFixedPointBitsOf(len, multiples + ((size_t)b->i[row] + (size_t)first) * VCRS_COMPONENTS, b->rounded.rowexp[row], &exponent);
    else bits = VCRSRowFixedPointBitsNear(len, VCRSRowValues(b, row, 0) + first, last, &exponent);
    if (bits > 8) has8 = PETSC_FALSE;
    if (bits > 16) has16 = PETSC_FALSE;
    b->found.exponent[row] = (int16_t)exponent;
    last                   = exponent;
  }
  b->facts.has[VCRS_VALUES_FIXED8]  = (PetscBool)(has8 && has16);
  b->facts.has[VCRS_VALUES_FIXED16] = has16;
  if (!has16) PetscCall(PetscFree(b->found.exponent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSFindSingle(VCRSBuild *b)
{
  const PetscInt first = b->difference ? 1 : 0;
  PetscBool      has   = (PetscBool)(sizeof(PetscReal) > sizeof(float));

  PetscFunctionBegin;
  for (PetscInt row = 0; row < b->m && has && !b->rounded.single; row++)
    has = VCRSRowIsSingleFast(b->i[row + 1] - b->i[row] - first, VCRSRowValues(b, row, 0) + first);
  b->facts.has[VCRS_VALUES_SINGLE] = has;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often each entry of the dictionary is used */
PetscErrorCode VCRSCountDictionary(const VCRSBuild *b, PetscInt **uses)
{
  const PetscInt first = b->difference ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(b->facts.ndict, uses));
  for (PetscInt row = 0; row < b->m; row++) {
    for (PetscInt k = b->i[row] + first; k < b->i[row + 1]; k++) (*uses)[b->found.dictcode[k]]++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
