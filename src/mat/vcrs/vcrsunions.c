/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Unions of the index sets of neighbouring rows of L0: vcrsunions.h */

#include "vcrsimpl.h"
#include <lithe/private/vcrsunions.h>

/* Reading entries that rows do not have must not take more than that many times what they have */
#define UNIONS_WASTE 3.
/* Tables that L2 keeps at hand, with the vectors passing through */
#define UNIONS_BYTES 4194304

/* The pairs of a slice, ascending, and the union that has just these */
typedef struct {
  PetscInt n, id[VCRS_SLICE];
} SlicePairs;

typedef struct {
  const VCRSPlan *plan;
  VCRSUnions     *u;
  SlicePairs     *key;   /* [unions] */
  PetscInt       *table; /* open addressing: -1 or the number of a union */
  PetscInt        nkey, ntable, maxkey, maxentry, maxlocal, maxvalue;
  PetscInt       *place;   /* [nsets] where a pair of the slice is in its list */
  PetscInt64      entries; /* of the unions of all slices */
  PetscInt        without; /* slices that have none */
} UnionsBuild;

static PetscInt ReadId(const VCRSPlan *plan, const void *id, PetscInt row)
{
  return plan->idbytes == 1 ? ((const uint8_t *)id)[row] : plan->idbytes == 2 ? ((const uint16_t *)id)[row]
                                                                              : (PetscInt)((const uint32_t *)id)[row];
}

/* Adds a pair to a list that stays in order */
static inline void SlicePairsAdd(SlicePairs *p, PetscInt id)
{
  PetscInt k = p->n;

  while (k > 0 && p->id[k - 1] > id) k--;
  if (k > 0 && p->id[k - 1] == id) return;
  for (PetscInt l = p->n; l > k; l--) p->id[l] = p->id[l - 1];
  p->id[k] = id;
  p->n++;
}

double VCRSPairsTogether(PetscInt n, PetscInt step, const PetscInt id[])
{
  double sum = 0;

  for (PetscInt s = 0; s < n; s++) {
    SlicePairs p = {0, {0}};

    for (PetscInt k = 0; k < VCRS_SLICE; k++) SlicePairsAdd(&p, id[VCRS_SLICE * (PetscInt64)s * step + k]);
    sum += (double)p.n;
  }
  return n > 0 ? sum / (double)n : VCRS_SLICE;
}

/* Room for n more; the array doubles */
static PetscErrorCode Grow(size_t unit, PetscInt n, PetscInt more, PetscInt *most, void *array)
{
  PetscFunctionBegin;
  if (n + more > *most) {
    *most = PetscMax(2 * *most, n + more);
    PetscCall(PetscRealloc(unit * (size_t)*most, (void **)array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The offsets that the pairs have beside the diagonal, ascending; -1: too many */
static PetscInt UnionGetOffsets(const VCRSPlan *plan, const SlicePairs *p, PetscInt offset[])
{
  PetscInt n = 0;

  for (PetscInt q = 0; q < p->n; q++) {
    for (PetscInt e = plan->setptr[p->id[q]]; e < plan->setptr[p->id[q] + 1]; e++) {
      const PetscInt o = plan->setoffset[e];
      PetscInt       k = n;

      if (o == 0) continue;
      while (k > 0 && offset[k - 1] > o) k--;
      if (k > 0 && offset[k - 1] == o) continue;
      if (n == VCRS_UNION_ENTRIES) return -1;
      for (PetscInt l = n; l > k; l--) offset[l] = offset[l - 1];
      offset[k] = o;
      n++;
    }
  }
  return n;
}

/* What the pairs have at an offset: a value for each, and which of them; whether that is the same for all that have one */
static uint32_t UnionGetValues(const VCRSPlan *plan, const SlicePairs *p, PetscInt offset, PetscScalar value[], PetscBool *same)
{
  uint32_t has = 0;
  PetscInt one = -1;

  *same = PETSC_TRUE;
  for (PetscInt q = 0; q < p->n; q++) {
    value[q] = 0;
    for (PetscInt e = plan->setptr[p->id[q]]; e < plan->setptr[p->id[q] + 1]; e++) {
      if (plan->setoffset[e] != offset) continue;
      value[q] = plan->setvalue[e];
      has |= 1u << q;
      if (one < 0) one = q;
      else if (memcmp(&value[one], &value[q], sizeof(*value))) *same = PETSC_FALSE;
    }
  }
  if (*same && one >= 0) value[0] = value[one];
  return has;
}

/* Appends the union of the pairs; -1: they have none */
static PetscErrorCode UnionAppend(UnionsBuild *b, const SlicePairs *p, PetscInt *number)
{
  VCRSUnions  *u = b->u;
  PetscInt     offset[VCRS_UNION_ENTRIES], n = UnionGetOffsets(b->plan, p, offset), length, most = b->maxkey;
  PetscScalar  value[VCRS_SLICE];
  PetscBool    same;
  uint32_t    *has;
  PetscScalar *diagonal;

  PetscFunctionBegin;
  *number = -1;
  if (n < 0 || u->nunions >= VCRS_NO_UNION) PetscFunctionReturn(PETSC_SUCCESS);
  length = (n + VCRS_UNION_BATCH - 1) / VCRS_UNION_BATCH * VCRS_UNION_BATCH;

  PetscCall(Grow(sizeof(*u->head), u->nunions, 1, &most, &u->head));
  PetscCall(Grow(sizeof(*b->key), u->nunions, 1, &b->maxkey, &b->key));
  PetscCall(Grow(sizeof(*u->entry), u->nentries, length, &b->maxentry, &u->entry));
  most = b->maxlocal;
  PetscCall(Grow(sizeof(*u->has), u->nlocal, p->n, &most, &u->has));
  PetscCall(Grow(sizeof(*u->diagonal), u->nlocal, p->n, &b->maxlocal, &u->diagonal));
  u->head[u->nunions] = (VCRSUnionHead){(uint32_t)u->nentries, (uint32_t)u->nlocal, (uint32_t)length, 0};

  has      = u->has + u->nlocal;
  diagonal = u->diagonal + u->nlocal;
  PetscCall(PetscArrayzero(has, p->n));
  for (PetscInt k = 0; k < length; k++) {
    VCRSUnionEntry *e = &u->entry[u->nentries + k];
    uint32_t        who;

    PetscCall(PetscMemzero(e, sizeof(*e)));
    e->values = -1;
    if (k >= n) continue;
    e->offset = offset[k];
    who       = UnionGetValues(b->plan, p, offset[k], value, &same);
    for (PetscInt q = 0; q < p->n; q++) has[q] |= (who >> q & 1u) << k;
    if (same) e->value = value[0];
    else {
      PetscCall(Grow(sizeof(*u->value), u->nvalues, p->n, &b->maxvalue, &u->value));
      e->values = (int32_t)u->nvalues;
      PetscCall(PetscArraycpy(u->value + u->nvalues, value, p->n));
      u->nvalues += p->n;
    }
  }
  {
    const uint32_t who = UnionGetValues(b->plan, p, 0, value, &same);

    for (PetscInt q = 0; q < p->n; q++) {
      if (who >> q & 1u) has[q] |= VCRS_UNION_DIAGONAL;
      diagonal[q] = !(who >> q & 1u) ? 0 : value[same ? 0 : q];
    }
  }
  b->key[u->nunions] = *p;
  u->nentries += length;
  u->nlocal += p->n;
  *number = u->nunions++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The union of the pairs, a new one where there is none yet */
static PetscErrorCode UnionFind(UnionsBuild *b, const SlicePairs *p, PetscInt *number)
{
  uint64_t hash = 14695981039346656037u;
  size_t   at;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < p->n; q++) hash = (hash ^ (uint64_t)p->id[q]) * 1099511628211u;
  at = (size_t)(hash ^ hash >> 32) & (size_t)(b->ntable - 1);
  while ((*number = b->table[at]) >= 0) {
    const SlicePairs *other = &b->key[*number];

    if (other->n == p->n && !memcmp(other->id, p->id, sizeof(*p->id) * (size_t)p->n)) PetscFunctionReturn(PETSC_SUCCESS);
    at = (at + 1) & (size_t)(b->ntable - 1);
  }
  PetscCall(UnionAppend(b, p, number));
  b->table[at] = *number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnionsBuildSlices(UnionsBuild *b, const void *id)
{
  VCRSUnions *u = b->u;
  PetscInt    number;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < u->nslices; s++) {
    const PetscInt first = s * VCRS_SLICE, end = PetscMin(u->m, first + VCRS_SLICE);
    SlicePairs     p    = {0, {0}};
    PetscInt       last = -1;

    for (PetscInt row = first; row < end; row++) {
      const PetscInt q = ReadId(b->plan, id, row);

      if (q != last) SlicePairsAdd(&p, q);
      last = q;
    }
    PetscCall(UnionFind(b, &p, &number));
    u->slice[s] = number < 0 ? VCRS_NO_UNION : (uint16_t)number;
    if (number < 0) b->without++;
    else b->entries += u->head[number].length;
    for (PetscInt q = 0; q < p.n; q++) b->place[p.id[q]] = q;
    for (PetscInt row = first; row < end; row++) u->local[row] = (uint8_t)b->place[ReadId(b->plan, id, row)];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsCreate(const VCRSPlan *plan, const void *id, VCRSUnions *u, PetscBool *good)
{
  UnionsBuild b = {.plan = plan, .u = u, .ntable = 4 * (VCRS_NO_UNION + 1)};
  double      entries, bytes;

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  PetscCall(PetscMemzero(u, sizeof(*u)));

  /* What a row has not is multiplied by zero */
  for (PetscInt e = 0; e < plan->setptr[plan->nsets]; e++) {
    if (PetscIsInfOrNanScalar(plan->setvalue[e])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  u->m       = plan->m;
  u->nslices = (PetscInt)(((PetscInt64)plan->m + VCRS_SLICE - 1) / VCRS_SLICE);
  PetscCall(PetscMalloc1(u->nslices, &u->slice));
  PetscCall(PetscMalloc1(u->m, &u->local));
  PetscCall(PetscMalloc2(b.ntable, &b.table, plan->nsets, &b.place));
  for (PetscInt k = 0; k < b.ntable; k++) b.table[k] = -1;
  PetscCall(UnionsBuildSlices(&b, id));
  PetscCall(PetscFree2(b.table, b.place));
  PetscCall(PetscFree(b.key));

  entries = (double)b.entries * VCRS_SLICE;
  bytes   = (double)u->nunions * sizeof(*u->head) + (double)u->nentries * sizeof(*u->entry) + (double)u->nlocal * (sizeof(*u->has) + sizeof(*u->diagonal)) + (double)u->nvalues * sizeof(*u->value);
  *good   = (PetscBool)(20 * (PetscInt64)b.without <= u->nslices && bytes <= UNIONS_BYTES && entries <= UNIONS_WASTE * (double)plan->nz + VCRS_UNION_BATCH * (double)u->m);
  if (!*good) PetscCall(VCRSUnionsDestroy(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsDestroy(VCRSUnions *u)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(u->slice));
  PetscCall(PetscFree(u->local));
  PetscCall(PetscFree(u->head));
  PetscCall(PetscFree(u->entry));
  PetscCall(PetscFree(u->has));
  PetscCall(PetscFree(u->diagonal));
  PetscCall(PetscFree(u->value));
  PetscCall(PetscMemzero(u, sizeof(*u)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
