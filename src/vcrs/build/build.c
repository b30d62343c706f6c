/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression: from a CSR matrix to a plan.

   vcrs/loss/loss.c has replaced the entries by values that fit small containers (or has left them alone).
   Here the rows are sorted into classes - index sets, and pairs of index set and values - by a 64-bit
   hash whose hits are verified, the containers are found that hold the values without changing a bit,
   and the layout is chosen for which a product reads the fewest bytes. encode.c writes it.

   Everything is numbered by first occurrence in row order, so a plan depends on the matrix alone.
*/

#include "../loss/fit.h"
#include <lithe/private/vcrsunions.h>

/* ------------------------------------------------------------------ classes of rows */

typedef enum {
  VCRS_KEY_OFFSETS, /* columns minus row */
  VCRS_KEY_COLUMNS, /* columns minus first column */
  VCRS_KEY_VALUES,  /* stored values, bit for bit */
  VCRS_KEY_PAIR     /* index set and stored values */
} VCRSKey;

static PetscErrorCode VCRSSetsDestroy(VCRSSets *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->rep));
  PetscCall(PetscFree(s->count));
  PetscCall(PetscFree(s->hash));
  PetscCall(PetscFree(s->slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for one more; the table stays at most half full */
static PetscErrorCode VCRSSetsGrow(VCRSSets *s)
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
  if (key == VCRS_KEY_PAIR && b->setid[r] != b->setid[s]) return PETSC_FALSE;
  if (key == VCRS_KEY_OFFSETS || key == VCRS_KEY_COLUMNS) {
    const PetscInt *cr = b->j + pr, *cs = b->j + ps, shift = key == VCRS_KEY_OFFSETS ? r - s : cr[0] - cs[0];

    for (PetscInt k = 0; k < len; k++) {
      if (cr[k] - cs[k] != shift) return PETSC_FALSE;
    }
    return PETSC_TRUE;
  }
  if (b->code) {
    const uint16_t *cr = b->code + (size_t)pr * VCRS_COMPONENTS, *cs = b->code + (size_t)ps * VCRS_COMPONENTS;
    const PetscBool alike = (PetscBool)(b->log || b->rowexp[r] == b->rowexp[s]);

    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) {
      if (!(alike && cr[k] == cs[k]) && VCRSCodeValue(b, r, cr[k]) != VCRSCodeValue(b, s, cs[k])) return PETSC_FALSE;
    }
    return PETSC_TRUE;
  }
  if (b->single) return memcmp(b->single + ((size_t)pr + (size_t)first) * VCRS_COMPONENTS, b->single + ((size_t)ps + (size_t)first) * VCRS_COMPONENTS, sizeof(float) * VCRS_COMPONENTS * (size_t)(len - first)) ? PETSC_FALSE : PETSC_TRUE;
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

    if (key == VCRS_KEY_PAIR) h = LitheHashWord(h, (uint64_t)b->setid[r]);
    for (PetscInt k = b->difference ? 1 : 0; k < len; k++) h = LitheHashScalar(h, a[k]);
  }
  return LitheHashFinish(h);
}

/* Numbers the keys of rows[0..nrows) (NULL: 0, 1, ...); gives up, with complete false, beyond limit of them. id may be NULL */
static PetscErrorCode VCRSClassify(const VCRSBuild *b, VCRSKey key, PetscInt nrows, const PetscInt rows[], PetscInt limit, VCRSSets *s, PetscInt id[], PetscBool *complete)
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

      if (s->n == s->alloc) PetscCall(VCRSSetsGrow(s));
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

/* ------------------------------------------------------------------ L3: slices and columns */

/* Sorts the rows of every window by falling length, long ones last as if they were empty; what slices and long rows then hold */
static void VCRSSliceRows(const VCRSBuild *b, PetscInt limit, PetscBool sorted, uint8_t perm[], uint8_t length[], PetscInt64 *padded, PetscInt64 *longentries)
{
  *padded = *longentries = 0;
  for (PetscInt w = 0; w < b->m; w += VCRS_WINDOW) {
    const PetscInt nrow = PetscMin(VCRS_WINDOW, b->m - w), nlane = (nrow + VCRS_SLICE - 1) / VCRS_SLICE * VCRS_SLICE;
    PetscInt       start[257] = {0}, len[VCRS_WINDOW];
    uint8_t        laned[VCRS_WINDOW];

    for (PetscInt r = 0; r < nlane; r++) {
      len[r] = r < nrow ? b->i[w + r + 1] - b->i[w + r] : 0;
      if (len[r] > limit) {
        *longentries += len[r];
        len[r] = 0;
      }
    }
    if (sorted) {
      for (PetscInt r = 0; r < nrow; r++) start[256 - len[r]]++;
      for (PetscInt k = 0, sum = 0; k <= 256; k++) {
        const PetscInt c = start[k];

        start[k] = sum;
        sum += c;
      }
      for (PetscInt r = 0; r < nrow; r++) laned[start[256 - len[r]]++] = (uint8_t)r;
      for (PetscInt r = nrow; r < nlane; r++) laned[r] = (uint8_t)r;
    } else {
      for (PetscInt r = 0; r < nlane; r++) laned[r] = (uint8_t)r;
    }
    for (PetscInt l = 0; l < nlane; l += VCRS_SLICE) {
      PetscInt max = 0;

      for (PetscInt k = l; k < l + VCRS_SLICE; k++) max = PetscMax(max, len[laned[k]]);
      *padded += VCRS_SLICE * (PetscInt64)max;
    }
    if (perm) {
      for (PetscInt r = 0; r < nlane; r++) perm[w + r] = laned[r];
    }
    if (length) {
      for (PetscInt r = 0; r < nlane; r++) length[w + r] = (uint8_t)len[laned[r]];
    }
  }
}

/* The least column that a lane of slice s has as its entry k, for each k; how wide the offsets from there are, and where those of the next slice begin */
static void VCRSMeasureColumns(const VCRSBuild *b, VCRSPlan *plan, PetscInt s)
{
  const PetscInt *c[VCRS_SLICE];
  PetscInt        least[VCRS_LONG_ROW + 1], most[VCRS_LONG_ROW + 1], longest = 0, length;
  uint64_t        span = 0;

  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscInt lane = VCRS_SLICE * s + l;

    c[l] = plan->rowlength[lane] ? b->j + b->i[VCRSLaneRow(plan, lane)] : NULL;
    if (plan->rowlength[lane] > plan->rowlength[VCRS_SLICE * s + longest]) longest = l;
  }

  /* the longest lane has an entry for each k */
  length   = plan->rowlength[VCRS_SLICE * s + longest];
  least[0] = 0;
  for (PetscInt k = 0; k < length; k++) least[k] = most[k] = c[longest][k];
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscInt len = plan->rowlength[VCRS_SLICE * s + l];

    for (PetscInt k = 0; k < len; k++) {
      least[k] = PetscMin(least[k], c[l][k]);
      most[k]  = PetscMax(most[k], c[l][k]);
    }
  }
  for (PetscInt k = 0; k < length; k++) span = PetscMax(span, (uint64_t)(most[k] - least[k]));

  /* an empty slice of the difference form has a base too, which nobody uses */
  for (PetscInt64 k = VCRSColumnBase(plan, s), from = k; k < VCRSColumnBase(plan, s + 1); k++) plan->colbase[k] = least[k - from];
  plan->slicewidth[s]      = span <= 0xff ? 1 : (span <= 0xffff ? 2 : (span <= 0xffffffffULL ? 4 : 8));
  plan->sliceoffset[s + 1] = plan->sliceoffset[s] + VCRS_SLICE * (PetscInt64)length * plan->slicewidth[s];
}

/* Fills the arrays of L3 but for the values and coloffset */
static PetscErrorCode VCRSFindSlices(const VCRSBuild *b, size_t valuebytes, VCRSPlan *plan)
{
  const PetscInt first = b->difference ? 1 : 0;
  PetscInt       limit, longest = 0;
  PetscInt64     padded, natural, longentries, nlong = 0, q = 0, paddeds[VCRS_NLIMITS], longs[VCRS_NLIMITS];

  PetscFunctionBegin;
  for (PetscInt row = 0; row < b->m; row++) longest = PetscMax(longest, b->i[row + 1] - b->i[row]);
  for (int t = 0; t < VCRS_NLIMITS; t++) {
    if (!t || VCRSSliceLimits[t] < longest) VCRSSliceRows(b, VCRSSliceLimits[t], PETSC_TRUE, NULL, NULL, &paddeds[t], &longs[t]);
  }
  limit = VCRSChooseSliceLimit(longest, b->m > 0 ? b->i[b->m] / b->m : 0, valuebytes, paddeds, longs);
  VCRSSliceRows(b, limit, PETSC_TRUE, NULL, NULL, &padded, &longentries);
  VCRSSliceRows(b, limit, PETSC_FALSE, NULL, NULL, &natural, &longentries);

  plan->nslices = (b->m + VCRS_SLICE - 1) / VCRS_SLICE;
  PetscCall(PetscMalloc1(VCRS_SLICE * plan->nslices, &plan->rowlength));
  if ((double)natural > (1. + VCRS_PAD_TOLERANCE) * (double)padded) PetscCall(PetscMalloc1(VCRS_SLICE * plan->nslices, &plan->rowperm));
  VCRSSliceRows(b, limit, plan->rowperm ? PETSC_TRUE : PETSC_FALSE, plan->rowperm, plan->rowlength, &padded, &longentries);

  /* long rows */
  for (PetscInt row = 0; row < b->m; row++) {
    if (b->i[row + 1] - b->i[row] > limit) nlong++;
  }
  plan->nlong = (PetscInt)nlong;
  if (nlong) {
    PetscCall(PetscMalloc1(nlong, &plan->longrow));
    PetscCall(PetscMalloc1(nlong + 1, &plan->longptr));
    PetscCall(VCRSMallocLarge(longentries, &plan->longcol));
    plan->longptr[0] = 0;
    for (PetscInt row = 0; row < b->m; row++) {
      const PetscInt len = b->i[row + 1] - b->i[row];

      if (len <= limit) continue;
      plan->longrow[q]     = row;
      plan->longptr[q + 1] = plan->longptr[q] + len;
      PetscCall(PetscArraycpy(plan->longcol + plan->longptr[q], b->j + b->i[row], len));
      q++;
    }
  }

  /* where the slices begin, and how wide their columns are */
  PetscCall(PetscMalloc1(plan->nslices + 1, &plan->sliceptr));
  PetscCall(PetscMalloc1(plan->nslices + 1, &plan->sliceoffset));
  PetscCall(PetscMalloc1(plan->nslices, &plan->slicewidth));
  plan->difference  = b->difference;
  plan->sliceptr[0] = plan->sliceoffset[0] = 0;
  for (PetscInt s = 0; s < plan->nslices; s++) {
    PetscInt length = 0;

    for (PetscInt l = VCRS_SLICE * s; l < VCRS_SLICE * (s + 1); l++) length = PetscMax(length, plan->rowlength[l]);
    plan->sliceptr[s + 1] = plan->sliceptr[s] + VCRS_SLICE * (PetscInt64)PetscMax(0, length - first);
  }
  plan->ncolbase = VCRSColumnBase(plan, plan->nslices);
  PetscCall(PetscMalloc1(plan->ncolbase, &plan->colbase));
  for (PetscInt s = 0; s < plan->nslices; s++) VCRSMeasureColumns(b, plan, s);
  plan->longvalue    = plan->sliceptr[plan->nslices];
  plan->nvalue       = plan->longvalue + longentries;
  plan->ncolbytes    = plan->sliceoffset[plan->nslices];
  plan->nlongentries = longentries;
  plan->sorted       = plan->rowperm ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSForgetSlices(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(plan->rowlength));
  PetscCall(PetscFree(plan->rowperm));
  PetscCall(PetscFree(plan->sliceptr));
  PetscCall(PetscFree(plan->sliceoffset));
  PetscCall(PetscFree(plan->colbase));
  PetscCall(PetscFree(plan->slicewidth));
  PetscCall(PetscFree(plan->groupptr));
  PetscCall(PetscFree(plan->groupfirst));
  PetscCall(PetscFree(plan->group));
  PetscCall(PetscFree(plan->longrow));
  PetscCall(PetscFree(plan->longptr));
  PetscCall(PetscFree(plan->longlength));
  PetscCall(PetscFree(plan->longcol));
  PetscCall(PetscFree(plan->shortcol));
  PetscCall(PetscFree(plan->shortbase));
  PetscCall(PetscFree(plan->longalike));
  plan->nslices = plan->nlong = 0;
  plan->nvalue = plan->longvalue = plan->ncolbase = plan->ncolbytes = plan->nlongentries = 0;

  plan->sorted = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ what the choice depends on */

/* How long the distinct rows of s are */
static PetscErrorCode VCRSSetsGetFacts(const VCRSBuild *b, const VCRSSets *s, PetscInt **length, VCRSSetFacts *f)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, length));
  for (PetscInt p = 0; p < s->n; p++) (*length)[p] = b->i[s->rep[p] + 1] - b->i[s->rep[p]];
  f->n      = s->n;
  f->length = *length;
  f->count  = s->count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the slices of L1 and L2, padding included */
static PetscInt64 VCRSSetSliceEntries(const VCRSBuild *b)
{
  const PetscInt first = b->difference ? 1 : 0;
  PetscInt64     n     = 0;

  for (PetscInt s = 0; s < b->m; s += VCRS_SLICE) {
    PetscInt max = 0;

    for (PetscInt row = s; row < PetscMin(s + VCRS_SLICE, b->m); row++) max = PetscMax(max, b->i[row + 1] - b->i[row] - first);
    n += VCRS_SLICE * (PetscInt64)max;
  }
  return n;
}

/* ------------------------------------------------------------------ the whole */

static PetscErrorCode VCRSBuildReset(VCRSBuild *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(b->ownj));
  PetscCall(PetscFree(b->owna));
  PetscCall(PetscFree(b->sigma));
  PetscCall(PetscFree(b->ref));
  PetscCall(PetscFree(b->rowexp));
  PetscCall(PetscFree(b->log));
  PetscCall(PetscFree(b->code));
  PetscCall(PetscFree(b->single));
  for (int k = 0; k < 2; k++) PetscCall(PetscFree(b->room[k]));
  PetscCall(PetscFree(b->setid));
  PetscCall(PetscFree(b->pairid));
  PetscCall(VCRSSetsDestroy(&b->sets));
  PetscCall(VCRSSetsDestroy(&b->pairs));
  PetscCall(PetscFree(b->dictcode));
  PetscCall(PetscFree(b->dict));
  PetscCall(PetscFree(b->exponent));
  PetscCall(PetscFree(b->setlength));
  PetscCall(PetscFree(b->pairlength));
  PetscCall(PetscFree(b->dictuses));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSBuildLiteral(VCRSBuild *b, VCRSPlan *plan, VCRSReport *report)
{
  VCRSSets       values = {0};
  PetscBool      complete;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(VCRSMallocLarge(b->m, &b->setid));
  PetscCall(VCRSMallocLarge(b->m, &b->pairid));
  PetscCall(VCRSClassify(b, VCRS_KEY_COLUMNS, b->m, NULL, PETSC_INT_MAX, &b->sets, b->setid, &complete));
  PetscCall(VCRSClassify(b, VCRS_KEY_PAIR, b->m, NULL, VCRS_SET_LIMIT, &b->pairs, NULL, &complete));
  report->pairs = complete ? b->pairs.n : -1;
  ierr          = VCRSClassify(b, VCRS_KEY_VALUES, b->m, NULL, PETSC_INT_MAX, &values, b->pairid, &complete);
  if (!ierr) ierr = VCRSEncodeLiteral(b, &b->sets, b->setid, &values, b->pairid, plan);
  report->indexsets = b->sets.n;
  report->valuesets = values.n;
  PetscCall(VCRSSetsDestroy(&values));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the layout and the container with the fewest bytes among those that options and values allow */
static PetscErrorCode VCRSChoose(VCRSBuild *b, VCRSPlan *plan, VCRSReport *report)
{
  const MatVCRSLayout want   = b->opt->layout;
  const PetscBool     any    = want == MATVCRS_LAYOUT_AUTO ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt      first  = b->difference ? 1 : 0;
  PetscBool           slices = (PetscBool)(want == MATVCRS_LAYOUT_L3);
  VCRSChoice          choice;
  VCRSFacts           facts;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&facts, sizeof(facts)));
  choice.cost = -1.;
  facts.opt   = b->opt;
  facts.m     = b->m;
  for (PetscInt row = 0; row < b->m; row++) facts.stored += (double)PetscMax(0, b->i[row + 1] - b->i[row] - first);
  b->has[VCRS_VALUES_FULL] = PETSC_TRUE;

  /* index sets, and pairs of them with values; counted to the end if the layout is asked for */
  PetscCall(VCRSMallocLarge(b->m, &b->setid));
  PetscCall(VCRSMallocLarge(b->m, &b->pairid));
  if (want == MATVCRS_LAYOUT_L3) b->hassets = PETSC_FALSE;
  else PetscCall(VCRSClassify(b, VCRS_KEY_OFFSETS, b->m, NULL, any ? VCRS_SET_LIMIT : PETSC_INT_MAX, &b->sets, b->setid, &b->hassets));
  if (b->hassets) {
    report->indexsets = b->sets.n;
    PetscCall(VCRSClassify(b, VCRS_KEY_PAIR, b->m, NULL, want == MATVCRS_LAYOUT_L0 ? PETSC_INT_MAX : VCRS_SET_LIMIT, &b->pairs, b->pairid, &b->haspairs));
  }
  if (b->haspairs) {
    VCRSSets       values = {0};
    PetscBool      complete;
    PetscErrorCode ierr;

    report->pairs     = b->pairs.n;
    ierr              = VCRSClassify(b, VCRS_KEY_VALUES, b->pairs.n, b->pairs.rep, PETSC_INT_MAX, &values, NULL, &complete);
    report->valuesets = values.n;
    PetscCall(VCRSSetsDestroy(&values));
    PetscCall(ierr);
  }

  /* L0 */
  if (b->haspairs && (any || want == MATVCRS_LAYOUT_L0)) {
    const PetscInt nslices = b->m / VCRS_SLICE, n = PetscMin(nslices, VCRS_SAMPLES);
    PetscBool      final = PETSC_FALSE;

    facts.together = VCRSPairsTogether(n, n ? nslices / n : 0, b->pairid);
    PetscCall(VCRSSetsGetFacts(b, &b->pairs, &b->pairlength, &facts.pairs));
    PetscCall(VCRSChoosePairs(&facts, &choice, &final));
    plan->layout = choice.layout;
    plan->values = choice.values;
    if (final) PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* containers */
  if (want == MATVCRS_LAYOUT_L2 || want == MATVCRS_LAYOUT_L3 || any) PetscCall(VCRSFindFixedPoint(b));
  if (want != MATVCRS_LAYOUT_L2) {
    if (b->log) b->has[b->log->bits == 8 ? VCRS_VALUES_LOG8 : VCRS_VALUES_LOG16] = PETSC_TRUE;
    if (VCRSSingleMayWin(b->m, facts.stored, b->has)) PetscCall(VCRSFindSingle(b));
    PetscCall(VCRSFindDictionary(b, VCRSDictionaryLimit(b->m, facts.stored, b->has)));
  }
  PetscCheck(want != MATVCRS_LAYOUT_L2 || b->has[VCRS_VALUES_FIXED16], PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "-mat_vcrs_layout l2 cannot hold the matrix: its entries are no 16 bit fixed point numbers with a power of two a row. Make them so with -mat_vcrs_loss fixed, or use -mat_vcrs_layout auto");

  PetscCall(PetscArraycpy(facts.has, b->has, VCRS_NVALUES));
  facts.ndict = b->ndict;
  if (b->ndict > 256 && !VCRSDictionaryFits(b->ndict)) {
    PetscCall(VCRSCountDictionary(b, &b->dictuses));
    facts.dictuses = b->dictuses;
  }

  /* L1 and L2 */
  if (b->hassets && want != MATVCRS_LAYOUT_L3) {
    PetscCall(VCRSSetsGetFacts(b, &b->sets, &b->setlength, &facts.sets));
    facts.setvalues = VCRSSetSliceEntries(b);
    PetscCall(VCRSChooseSets(&facts, &choice));
  }

  /* L3 */
  if (any) PetscCall(VCRSSlicesMayWin(&facts, &choice, &slices));
  if (slices) {
    PetscCall(VCRSFindSlices(b, VCRSSmallestValueBytes(&facts), plan));
    PetscCall(VCRSChooseSlices(&facts, plan, &choice));
    if (choice.layout != MATVCRS_LAYOUT_L3) PetscCall(VCRSForgetSlices(plan));
  }
  plan->layout = choice.layout;
  plan->values = choice.values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A matrix of few different rows is smallest as it is: an id a row and a table. Loss would only add
   row sums to it. What other blocks or other processes rely on is left to the loss, and so is a row
   that it refuses.
*/
static PetscErrorCode VCRSHasFewPairs(const VCRSCSR *csr, PetscBool *few)
{
  VCRSBuild b;
  PetscInt  nrows = PetscMin(csr->m, VCRS_FEW_ROWS);

  PetscFunctionBegin;
  while (PETSC_TRUE) {
    PetscCall(PetscMemzero(&b, sizeof(b)));
    b.m = csr->m;
    b.n = csr->n;
    b.i = csr->i;
    b.j = csr->j;
    b.a = csr->a;
    PetscCall(VCRSMallocLarge(nrows, &b.setid));
    PetscCall(VCRSClassify(&b, VCRS_KEY_OFFSETS, nrows, NULL, VCRS_FEW_PAIRS, &b.sets, b.setid, few));
    if (*few) PetscCall(VCRSClassify(&b, VCRS_KEY_PAIR, nrows, NULL, VCRS_FEW_PAIRS, &b.pairs, NULL, few));
    for (PetscInt p = 0; p < b.pairs.n && *few; p++) {
      const PetscInt row = b.pairs.rep[p];

      *few = VCRSLossTakes(csr->i[row + 1] - csr->i[row], csr->a + csr->i[row]);
    }
    PetscCall(VCRSBuildReset(&b));

    /* most matrices show with their first rows that they are not of this kind */
    if (!*few || nrows == csr->m) break;
    nrows = csr->m;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether plain rows are to take the place of the slices that were chosen */
static PetscErrorCode VCRSPrefersRows(const VCRSBuild *b, const VCRSPlan *plan, PetscBool *rows)
{
  PetscReal cost;

  PetscFunctionBegin;
  *rows = PETSC_FALSE;
  if (b->opt->plain != VCRS_PLAIN_WHOLE || !plan->nz || plan->layout != MATVCRS_LAYOUT_L3 || plan->values != VCRS_VALUES_FULL || !VCRSLossIsNone(b->opt)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSPlanHostCost(plan, &cost));
  *rows = (PetscBool)(cost > VCRS_ROWS_COST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSPlanFill(VCRSBuild *b, const VCRSCSR *csr, const PetscScalar extra[], VCRSPlan *plan, VCRSReport *report)
{
  VCRSOptions exact;
  PetscBool   rows;

  PetscFunctionBegin;
  if (b->opt->layout == MATVCRS_LAYOUT_AUTO && !VCRSLossIsNone(b->opt) && !extra && !b->opt->agreement) {
    PetscBool few;

    PetscCall(VCRSHasFewPairs(csr, &few));
    if (few) {
      PetscCall(PetscMemcpy(&exact, b->opt, sizeof(exact)));
      exact.loss = MATVCRS_LOSS_NONE;
      b->opt     = &exact;
    }
  }
  PetscCall(VCRSLossApply(b, csr, extra, report));
  plan->m  = csr->m;
  plan->n  = csr->n;
  plan->nz = csr->i[csr->m];
  if (b->opt->layout == MATVCRS_LAYOUT_LITERAL) {
    plan->layout = MATVCRS_LAYOUT_LITERAL;
    plan->values = VCRS_VALUES_FULL;
    PetscCall(VCRSBuildLiteral(b, plan, report));
  } else if (b->opt->plain == VCRS_PLAIN_ALWAYS) {
    PetscCall(VCRSBuildRows(b, plan));
  } else {
    PetscCall(VCRSChoose(b, plan, report));
    plan->difference = b->difference;
    PetscCall(VCRSPrefersRows(b, plan, &rows));
    if (rows) {
      PetscCall(VCRSForgetSlices(plan));
      PetscCall(VCRSBuildRows(b, plan));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (plan->layout != MATVCRS_LAYOUT_L3) PetscCall(VCRSEncodeSets(b, plan));
    if (plan->layout == MATVCRS_LAYOUT_L3) PetscCall(VCRSFindGroups(b, plan));
    if (plan->layout != MATVCRS_LAYOUT_L0) PetscCall(VCRSEncodeSlices(b, plan));
    if (plan->difference) PetscCall(VCRSEncodeSigma(b, plan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VCRSPlanCreate - compresses a CSR matrix

  Not Collective

  Input Parameters:
+ csr   - the matrix, columns ascending in each row
. opt   - the options
- extra - what to add to the row sums that are kept, or `NULL`

  Output Parameters:
+ newplan - the plan; to be freed with `VCRSPlanDestroy()`
- report  - what the compression did, or `NULL`

  Note:
  On an error nothing is left behind and newplan is not touched.
*/
PetscErrorCode VCRSPlanCreate(const VCRSCSR *csr, const VCRSOptions *opt, const PetscScalar extra[], VCRSPlan **newplan, VCRSReport *report)
{
  static const PetscInt empty[] = {0};
  VCRSBuild             b;
  VCRSPlan             *plan;
  VCRSReport            own;
  VCRSCSR               mat = *csr;
  PetscErrorCode        ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&b, sizeof(b)));
  PetscCall(PetscMemzero(&own, sizeof(own)));
  own.indexsets = own.valuesets = own.pairs = -1;
  if (!mat.m && !mat.i) mat.i = empty;
  b.opt = opt;
  b.m   = mat.m;
  b.n   = mat.n;
  PetscCall(PetscNew(&plan));
  ierr = VCRSPlanFill(&b, &mat, extra, plan, &own);
  PetscCall(VCRSBuildReset(&b));
  if (ierr) PetscCall(VCRSPlanDestroy(&plan));
  PetscCall(ierr);
  if (report) *report = own;
  *newplan = plan;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanDestroy(VCRSPlan **p)
{
  VCRSPlan *plan = *p;

  PetscFunctionBegin;
  if (!plan) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSForgetSlices(plan));
  PetscCall(PetscFree(plan->length));
  PetscCall(PetscFree(plan->first));
  PetscCall(PetscFree(plan->idxptr));
  PetscCall(PetscFree(plan->dataptr));
  PetscCall(PetscFree(plan->literalidx));
  PetscCall(PetscFree(plan->literaldata));
  PetscCall(PetscFree(plan->id));
  PetscCall(PetscFree(plan->setptr));
  PetscCall(PetscFree(plan->setoffset));
  PetscCall(PetscFree(plan->setvalue));
  PetscCall(PetscFree(plan->setcount));
  PetscCall(PetscFree(plan->value));
  PetscCall(PetscFree(plan->coloffset));
  PetscCall(PetscFree(plan->dict));
  PetscCall(PetscFree(plan->logcoarse));
  PetscCall(PetscFree(plan->logfine));
  PetscCall(PetscFree(plan->exponent));
  PetscCall(PetscFree(plan->sigma));
  PetscCall(PetscFree(plan->sigmamask));
  PetscCall(PetscFree(plan->sigmaptr));
  PetscCall(PetscFree(*p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
