/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Classes of rows on the host: index sets, and pairs of index set and values.

   A row is found by a 64-bit hash; its hits are verified. Classes are numbered by first occurrence in row order.
*/

#include "buildimpl.h"
#include <lithe/private/vcrs/fit.h>

PetscErrorCode VCRSSetsDestroy(VCRSSets *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->rep));
  PetscCall(PetscFree(s->count));
  PetscCall(PetscFree(s->hash));
  PetscCall(PetscFree(s->slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes room for one more; the table stays at most half full */
static PetscErrorCode VCRSSetsGrow_Private(VCRSSets *s)
{
  PetscInt p;

  PetscFunctionBegin;
  s->alloc = PetscMax(256, 2 * s->alloc);
  PetscCall(PetscRealloc(sizeof(*s->rep) * s->alloc, &s->rep));
  PetscCall(PetscRealloc(sizeof(*s->count) * s->alloc, &s->count));
  PetscCall(PetscRealloc(sizeof(*s->hash) * s->alloc, &s->hash));
  PetscCall(PetscFree(s->slot));
  s->nslot = 2 * (size_t)s->alloc;
  PetscCall(PetscMalloc1(s->nslot, &s->slot));
  memset(s->slot, 0xff, sizeof(*s->slot) * s->nslot);
  for (p = 0; p < s->n; p++) {
    size_t pos = (size_t)(s->hash[p] & (s->nslot - 1));

    while (s->slot[pos] >= 0) pos = (pos + 1) & (s->nslot - 1);
    s->slot[pos] = p;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool VCRSSameKey(const VCRSBuild *b, VCRSKey key, PetscInt r, PetscInt s)
{
  const PetscInt pr = b->i[r], ps = b->i[s], len = b->i[r + 1] - pr, first = b->difference ? 1 : 0;

  if (len != b->i[s + 1] - ps) return PETSC_FALSE;
  if (!len) return PETSC_TRUE;
  if (key == VCRS_KEY_PAIR && b->found.setid[r] != b->found.setid[s]) return PETSC_FALSE;
  if (key == VCRS_KEY_OFFSETS || key == VCRS_KEY_COLUMNS) {
    const PetscInt *cr = b->j + pr, *cs = b->j + ps, shift = key == VCRS_KEY_OFFSETS ? r - s : cr[0] - cs[0];

    for (PetscInt k = 0; k < len; k++) {
      if (cr[k] - cs[k] != shift) return PETSC_FALSE;
    }
    return PETSC_TRUE;
  }
  if (b->rounded.code) {
    const uint16_t *cr = b->rounded.code + (size_t)pr * VCRS_COMPONENTS, *cs = b->rounded.code + (size_t)ps * VCRS_COMPONENTS;
    const PetscBool alike = (PetscBool)(b->rounded.log || b->rounded.rowexp[r] == b->rounded.rowexp[s]);

    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) {
      if (!(alike && cr[k] == cs[k]) && VCRSCodeValue(b, r, cr[k]) != VCRSCodeValue(b, s, cs[k])) return PETSC_FALSE;
    }
    return PETSC_TRUE;
  }
  if (b->rounded.single)
    return memcmp(b->rounded.single + ((size_t)pr + (size_t)first) * VCRS_COMPONENTS, b->rounded.single + ((size_t)ps + (size_t)first) * VCRS_COMPONENTS,
                  sizeof(float) * VCRS_COMPONENTS * (size_t)(len - first))
             ? PETSC_FALSE
             : PETSC_TRUE;
  return memcmp(b->a + pr + first, b->a + ps + first, sizeof(PetscScalar) * (size_t)(len - first)) ? PETSC_FALSE : PETSC_TRUE;
}

static inline uint64_t VCRSHashKey(const VCRSBuild *b, VCRSKey key, PetscInt r)
{
  const PetscInt p = b->i[r], len = b->i[r + 1] - p;
  uint64_t       h = LitheHashWord(0x243f6a8885a308d3ULL, (uint64_t)len);

  if (key == VCRS_KEY_OFFSETS || key == VCRS_KEY_COLUMNS) {
    const PetscInt base = key == VCRS_KEY_OFFSETS ? r : (len ? b->j[p] : 0);

    for (PetscInt k = 0; k < len; k++) h = LitheHashWord(h, (uint64_t)(b->j[p + k] - base));
  } else {
    const PetscScalar *a = VCRSRowValues(b, r, 0);

    if (key == VCRS_KEY_PAIR) h = LitheHashWord(h, (uint64_t)b->found.setid[r]);
    for (PetscInt k = b->difference ? 1 : 0; k < len; k++) h = LitheHashScalar(h, a[k]);
  }
  return LitheHashFinish(h);
}

/*
   Numbers the keys of rows[0..nrows) (NULL: 0, 1, ...); gives up, with complete false, beyond limit keys. id may be
   NULL
*/
PetscErrorCode VCRSClassify(const VCRSBuild *b, VCRSKey key, PetscInt nrows, const PetscInt rows[], PetscInt limit, VCRSSets *s, PetscInt id[],
                            PetscBool *complete)
{
  PetscInt last = -1, lastrow = -1;

  PetscFunctionBegin;
  *complete = PETSC_TRUE;
  for (PetscInt q = 0; q < nrows; q++) {
    const PetscInt row = rows ? rows[q] : q;
    PetscInt       p   = -1;

    /* neighbours are alike more often than not */
    if (last >= 0 && VCRSSameKey(b, key, row, lastrow)) p = last;
    else {
      const uint64_t h = VCRSHashKey(b, key, row);
      size_t         pos;

      if (s->n == s->alloc) PetscCall(VCRSSetsGrow_Private(s));
      for (pos = (size_t)(h & (s->nslot - 1)); (p = s->slot[pos]) >= 0; pos = (pos + 1) & (s->nslot - 1)) {
        if (s->hash[p] == h && VCRSSameKey(b, key, row, s->rep[p])) break;
      }
      if (p < 0) {
        if (s->n >= limit) {
          *complete = PETSC_FALSE;
          PetscFunctionReturn(PETSC_SUCCESS);
        }
        p            = s->n++;
        s->slot[pos] = p;
        s->hash[p]   = h;
        s->rep[p]    = row;
        s->count[p]  = 0;
      }
    }
    s->count[p]++;
    if (id) id[q] = p;
    last    = p;
    lastrow = row;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
