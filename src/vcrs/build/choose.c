/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression at any place of the matrix: the facts to collect, and the resulting choice.

   The layout and the container with the fewest bytes in a product are chosen (cost.c). Facts that cannot change the
   choice are not collected.
*/

#include "buildimpl.h"

/* Calls an operation; returns if the operation leaves the matrix to the host */
#define VCRSBuildCall(...)                             \
  do {                                                 \
    PetscCall(__VA_ARGS__);                            \
    if (b->tohost) PetscFunctionReturn(PETSC_SUCCESS); \
  } while (0)

/*
  VCRSBuildStart - the loss

  A matrix of few different rows is smallest without loss, as an id per row and a table. A loss would only add row sums.
  The loss is applied nevertheless if further blocks or processes rely on the loss.
*/
PetscErrorCode VCRSBuildStart(VCRSBuild *b, VCRSReport *report)
{
  PetscBool few = PETSC_FALSE;

  PetscFunctionBegin;
  if (b->opt->layout == MATVCRS_LAYOUT_AUTO && !VCRSLossIsNone(b->opt) && !b->extra && !b->opt->agreement) VCRSBuildCall(b->ops->findfew(b, &few));
  if (few) {
    b->exact      = *b->opt;
    b->exact.loss = MATVCRS_LOSS_NONE;
    b->opt        = &b->exact;
  }
  VCRSBuildCall(b->ops->loss(b, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Index sets, and pairs of index set and values; counted to the end if the layout was requested */
static PetscErrorCode VCRSBuildFindSets_Private(VCRSBuild *b, VCRSReport *report)
{
  const MatVCRSLayout want = b->opt->layout;

  PetscFunctionBegin;
  if (!b->facts.hassets && want != MATVCRS_LAYOUT_L3) VCRSBuildCall(b->ops->findsets(b, want == MATVCRS_LAYOUT_AUTO ? VCRS_SET_LIMIT : PETSC_INT_MAX));
  if (!b->facts.hassets) PetscFunctionReturn(PETSC_SUCCESS);
  report->indexsets = b->facts.sets.n;
  if (!b->facts.haspairs) VCRSBuildCall(b->ops->findpairs(b, want == MATVCRS_LAYOUT_L0 ? PETSC_INT_MAX : VCRS_SET_LIMIT));
  if (!b->facts.haspairs) PetscFunctionReturn(PETSC_SUCCESS);
  report->pairs = b->facts.pairs.n;
  VCRSBuildCall(b->ops->countvaluesets(b, &report->valuesets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The containers that hold the values, except containers inferior to another suitable container */
static PetscErrorCode VCRSBuildFindContainers_Private(VCRSBuild *b)
{
  const MatVCRSLayout want = b->opt->layout;
  VCRSFacts          *f    = &b->facts;

  PetscFunctionBegin;
  if (want == MATVCRS_LAYOUT_L2 || want == MATVCRS_LAYOUT_L3 || want == MATVCRS_LAYOUT_AUTO) VCRSBuildCall(b->ops->findfixedpoint(b));
  if (want != MATVCRS_LAYOUT_L2) {
    if (VCRSSingleMayWin(b->m, f->stored, f->has)) VCRSBuildCall(b->ops->findsingle(b));
    VCRSBuildCall(b->ops->finddictionary(b, VCRSDictionaryLimit(b->m, f->stored, f->has)));
  } else if (!f->has[VCRS_VALUES_FIXED16]) {
    b->tohost = b->ops->device;
    PetscCheck(b->tohost, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
               "-mat_vcrs_layout l2 cannot hold the matrix: its entries are no 16 bit fixed point numbers with a power of two per row. Make them so with "
               "-mat_vcrs_loss fixed, or use -mat_vcrs_layout auto");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VCRSBuildChoose - finds the layout and the container with the fewest bytes, within the limits of options and values

  If the layout is L3, the plan has the arrays of its slices.
*/
PetscErrorCode VCRSBuildChoose(VCRSBuild *b, VCRSPlan *plan, VCRSReport *report)
{
  const MatVCRSLayout want   = b->opt->layout;
  const PetscBool     any    = (PetscBool)(want == MATVCRS_LAYOUT_AUTO);
  VCRSFacts          *f      = &b->facts;
  PetscBool           slices = (PetscBool)(want == MATVCRS_LAYOUT_L3), final = PETSC_FALSE;
  VCRSChoice          choice = {.cost = -1.};

  PetscFunctionBegin;
  f->opt                   = b->opt;
  f->m                     = b->m;
  f->has[VCRS_VALUES_FULL] = PETSC_TRUE;
  VCRSBuildCall(b->ops->measurerows(b));
  VCRSBuildCall(VCRSBuildFindSets_Private(b, report));

  /* L0 */
  if (f->haspairs && (any || want == MATVCRS_LAYOUT_L0)) {
    VCRSBuildCall(b->ops->counttogether(b));
    PetscCall(VCRSChoosePairs(f, &choice, &final));
  }
  if (!final) {
    VCRSBuildCall(VCRSBuildFindContainers_Private(b));

    /* L1 and L2 */
    if (f->hassets && want != MATVCRS_LAYOUT_L3) {
      VCRSBuildCall(b->ops->measuresetslices(b));
      PetscCall(VCRSChooseSets(f, &choice));
    }

    /* L3 */
    if (any) PetscCall(VCRSSlicesMayWin(f, &choice, &slices));
    if (slices) {
      VCRSBuildCall(b->ops->findslices(b, VCRSSmallestValueBytes(f), plan));
      PetscCall(VCRSChooseSlices(f, plan, &choice));
      if (choice.layout != MATVCRS_LAYOUT_L3) PetscCall(b->ops->forgetslices(b, plan));
    }
  }
  plan->layout     = choice.layout;
  plan->values     = choice.values;
  plan->difference = b->difference;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VCRSBuildEncode - fills the arrays of a plan whose layout and container are chosen
*/
PetscErrorCode VCRSBuildEncode(VCRSBuild *b, VCRSPlan *plan)
{
  PetscFunctionBegin;
  if (plan->layout != MATVCRS_LAYOUT_L3) VCRSBuildCall(b->ops->encodesets(b, plan));
  if (plan->layout == MATVCRS_LAYOUT_L3) VCRSBuildCall(b->ops->findgroups(b, plan));
  if (plan->layout != MATVCRS_LAYOUT_L0) VCRSBuildCall(b->ops->encodeslices(b, plan));
  if (plan->difference) VCRSBuildCall(b->ops->encodesigma(b, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
