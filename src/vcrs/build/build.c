/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression on the host: from a CSR matrix to a plan.

   Here are the operations that choose.c calls, and layouts without a choice: the article's, and plain rows.
   Everything is numbered by first occurrence in row order, so a plan depends on the matrix alone.
*/

#include "buildimpl.h"
#include <lithe/private/vcrs/unions.h>

static PetscErrorCode VCRSBuildReset_Private(VCRSBuild *b)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(b->ownj));
  PetscCall(PetscFree(b->owna));
  PetscCall(PetscFree(b->sigma));
  PetscCall(PetscFree(b->ref));
  PetscCall(PetscFree(b->rounded.rowexp));
  PetscCall(PetscFree(b->rounded.log));
  PetscCall(PetscFree(b->rounded.code));
  PetscCall(PetscFree(b->rounded.single));
  for (int k = 0; k < 2; k++) PetscCall(PetscFree(b->rounded.room[k]));
  PetscCall(PetscFree(b->found.setid));
  PetscCall(PetscFree(b->found.pairid));
  PetscCall(VCRSSetsDestroy(&b->found.sets));
  PetscCall(VCRSSetsDestroy(&b->found.pairs));
  PetscCall(PetscFree(b->found.dictcode));
  PetscCall(PetscFree(b->found.dict));
  PetscCall(PetscFree(b->found.exponent));
  PetscCall(PetscFree(b->found.setlength));
  PetscCall(PetscFree(b->found.pairlength));
  PetscCall(PetscFree(b->found.dictuses));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSBuildLiteral_Private(VCRSBuild *b, VCRSPlan *plan, VCRSReport *report)
{
  VCRSSets       values = {0};
  PetscBool      complete;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(LitheMallocLarge(b->m, &b->found.setid));
  PetscCall(LitheMallocLarge(b->m, &b->found.pairid));
  PetscCall(VCRSClassify(b, VCRS_KEY_COLUMNS, b->m, NULL, PETSC_INT_MAX, &b->found.sets, b->found.setid, &complete));
  PetscCall(VCRSClassify(b, VCRS_KEY_PAIR, b->m, NULL, VCRS_SET_LIMIT, &b->found.pairs, NULL, &complete));
  report->pairs = complete ? b->found.pairs.n : -1;
  ierr          = VCRSClassify(b, VCRS_KEY_VALUES, b->m, NULL, PETSC_INT_MAX, &values, b->found.pairid, &complete);
  if (!ierr) ierr = VCRSEncodeLiteral(b, &b->found.sets, b->found.setid, &values, b->found.pairid, plan);
  report->indexsets = b->found.sets.n;
  report->valuesets = values.n;
  PetscCall(VCRSSetsDestroy(&values));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How long the distinct rows of s are */
static PetscErrorCode VCRSSetsGetFacts_Private(const VCRSBuild *b, const VCRSSets *s, PetscInt **length, VCRSSetFacts *f)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, length));
  for (PetscInt p = 0; p < s->n; p++) (*length)[p] = b->i[s->rep[p] + 1] - b->i[s->rep[p]];
  f->n      = s->n;
  f->length = *length;
  f->count  = s->count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSLoss_Host(VCRSBuild *b, VCRSReport *report)
{
  PetscFunctionBegin;
  PetscCall(VCRSLossApply(b, &b->csr, b->extra, report));
  if (b->rounded.log) b->facts.has[b->rounded.log->bits == 8 ? VCRS_VALUES_LOG8 : VCRS_VALUES_LOG16] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSMeasureRows_Host(VCRSBuild *b)
{
  const PetscInt first = b->difference ? 1 : 0;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < b->m; row++) b->facts.stored += (double)PetscMax(0, b->i[row + 1] - b->i[row] - first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSFindSets_Host(VCRSBuild *b, PetscInt limit)
{
  PetscFunctionBegin;
  PetscCall(LitheMallocLarge(b->m, &b->found.setid));
  PetscCall(VCRSClassify(b, VCRS_KEY_OFFSETS, b->m, NULL, limit, &b->found.sets, b->found.setid, &b->facts.hassets));
  if (b->facts.hassets) PetscCall(VCRSSetsGetFacts_Private(b, &b->found.sets, &b->found.setlength, &b->facts.sets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSFindPairs_Host(VCRSBuild *b, PetscInt limit)
{
  PetscFunctionBegin;
  PetscCall(LitheMallocLarge(b->m, &b->found.pairid));
  PetscCall(VCRSClassify(b, VCRS_KEY_PAIR, b->m, NULL, limit, &b->found.pairs, b->found.pairid, &b->facts.haspairs));
  if (b->facts.haspairs) PetscCall(VCRSSetsGetFacts_Private(b, &b->found.pairs, &b->found.pairlength, &b->facts.pairs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSCountValueSets_Host(VCRSBuild *b, PetscInt64 *n)
{
  VCRSSets       values = {0};
  PetscBool      complete;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = VCRSClassify(b, VCRS_KEY_VALUES, b->found.pairs.n, b->found.pairs.rep, PETSC_INT_MAX, &values, NULL, &complete);
  *n   = values.n;
  PetscCall(VCRSSetsDestroy(&values));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSCountTogether_Host(VCRSBuild *b)
{
  const PetscInt nslices = b->m / VCRS_SLICE, n = PetscMin(nslices, VCRS_SAMPLES);

  PetscFunctionBegin;
  b->facts.together = VCRSPairsTogether(n, n ? nslices / n : 0, b->found.pairid);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSFindDictionary_Host(VCRSBuild *b, PetscInt limit)
{
  PetscFunctionBegin;
  PetscCall(VCRSFindDictionary(b, limit));
  if (b->facts.ndict > 256 && !VCRSDictionaryFits(b->facts.ndict)) {
    PetscCall(VCRSCountDictionary(b, &b->found.dictuses));
    b->facts.dictuses = b->found.dictuses;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of the slices of L1 and L2, padding included */
static PetscErrorCode VCRSMeasureSetSlices_Host(VCRSBuild *b)
{
  const PetscInt first = b->difference ? 1 : 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < b->m; s += VCRS_SLICE) {
    PetscInt max = 0;

    for (PetscInt row = s; row < PetscMin(s + VCRS_SLICE, b->m); row++) max = PetscMax(max, b->i[row + 1] - b->i[row] - first);
    b->facts.setvalues += VCRS_SLICE * (PetscInt64)max;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSFindSlices_Host(VCRSBuild *b, size_t valuebytes, VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(VCRSFindSlices(b, valuebytes, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSForgetSlices_Host(PETSC_UNUSED VCRSBuild *b, VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(VCRSForgetSlices(plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows that the loss refuses are left to the loss */
static PetscErrorCode VCRSFindFew_Host(VCRSBuild *build, PetscBool *few)
{
  const VCRSCSR *csr = &build->csr;
  VCRSBuild      b;
  PetscInt       nrows = PetscMin(csr->m, VCRS_FEW_ROWS);

  PetscFunctionBegin;
  while (PETSC_TRUE) {
    PetscCall(PetscMemzero(&b, sizeof(b)));
    b.m = csr->m;
    b.n = csr->n;
    b.i = csr->i;
    b.j = csr->j;
    b.a = csr->a;
    PetscCall(LitheMallocLarge(nrows, &b.found.setid));
    PetscCall(VCRSClassify(&b, VCRS_KEY_OFFSETS, nrows, NULL, VCRS_FEW_PAIRS, &b.found.sets, b.found.setid, few));
    if (*few) PetscCall(VCRSClassify(&b, VCRS_KEY_PAIR, nrows, NULL, VCRS_FEW_PAIRS, &b.found.pairs, NULL, few));
    for (PetscInt p = 0; p < b.found.pairs.n && *few; p++) {
      const PetscInt row = b.found.pairs.rep[p];

      *few = VCRSLossTakes(csr->i[row + 1] - csr->i[row], csr->a + csr->i[row]);
    }
    PetscCall(VCRSBuildReset_Private(&b));

    /* the first rows already identify most other matrices */
    if (!*few || nrows == csr->m) break;
    nrows = csr->m;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const VCRSBuildOps VCRSHostBuild = {
  .device           = PETSC_FALSE,
  .findfew          = VCRSFindFew_Host,
  .loss             = VCRSLoss_Host,
  .measurerows      = VCRSMeasureRows_Host,
  .findsets         = VCRSFindSets_Host,
  .findpairs        = VCRSFindPairs_Host,
  .countvaluesets   = VCRSCountValueSets_Host,
  .counttogether    = VCRSCountTogether_Host,
  .findfixedpoint   = VCRSFindFixedPoint,
  .findsingle       = VCRSFindSingle,
  .finddictionary   = VCRSFindDictionary_Host,
  .measuresetslices = VCRSMeasureSetSlices_Host,
  .findslices       = VCRSFindSlices_Host,
  .forgetslices     = VCRSForgetSlices_Host,
  .encodesets       = VCRSEncodeSets,
  .findgroups       = VCRSFindGroups,
  .encodeslices     = VCRSEncodeSlices,
  .encodesigma      = VCRSEncodeSigma,
};

/* Whether plain rows are to replace the chosen slices */
static PetscErrorCode VCRSPrefersRows_Private(const VCRSBuild *b, const VCRSPlan *plan, PetscBool *rows)
{
  PetscReal cost;

  PetscFunctionBegin;
  *rows = PETSC_FALSE;
  if (b->opt->plain != VCRS_PLAIN_WHOLE || !plan->nz || plan->layout != MATVCRS_LAYOUT_L3 || plan->values != VCRS_VALUES_FULL || !VCRSLossIsNone(b->opt))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSPlanHostCost(plan, &cost));
  *rows = (PetscBool)(cost > VCRS_ROWS_COST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSPlanFill_Private(VCRSBuild *b, VCRSPlan *plan, VCRSReport *report)
{
  PetscBool rows;

  PetscFunctionBegin;
  PetscCall(VCRSBuildStart(b, report));
  plan->m  = b->m;
  plan->n  = b->n;
  plan->nz = b->i[b->m];
  if (b->opt->layout == MATVCRS_LAYOUT_LITERAL) {
    plan->layout = MATVCRS_LAYOUT_LITERAL;
    plan->values = VCRS_VALUES_FULL;
    PetscCall(VCRSBuildLiteral_Private(b, plan, report));
  } else if (b->opt->plain == VCRS_PLAIN_ALWAYS) {
    PetscCall(VCRSBuildRows(b, plan));
  } else {
    PetscCall(VCRSBuildChoose(b, plan, report));
    PetscCall(VCRSPrefersRows_Private(b, plan, &rows));
    if (rows) {
      PetscCall(VCRSForgetSlices(plan));
      PetscCall(VCRSBuildRows(b, plan));
    } else PetscCall(VCRSBuildEncode(b, plan));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VCRSPlanCreate - compresses a CSR matrix

  Not Collective

  Input Parameters:
+ csr   - the matrix, columns ascending in each row
. opt   - the options
- extra - additions to the row sums that are kept, or `NULL`

  Output Parameters:
+ newplan - the plan; to be freed with `VCRSPlanDestroy()`
- report - the result of the compression, or `NULL`

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
  b.ops   = &VCRSHostBuild;
  b.opt   = opt;
  b.csr   = mat;
  b.extra = extra;
  b.m     = mat.m;
  b.n     = mat.n;
  PetscCall(PetscNew(&plan));
  ierr = VCRSPlanFill_Private(&b, plan, &own);
  PetscCall(VCRSBuildReset_Private(&b));
  if (ierr) PetscCall(VCRSPlanDestroy(&plan));
  PetscCall(ierr);
  if (report) *report = own;
  *newplan = plan;
  PetscFunctionReturn(PETSC_SUCCESS);
}
