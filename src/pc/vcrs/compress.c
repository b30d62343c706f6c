/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed copies of the data that the application of a preconditioner reads.

   After the set-up of the inner preconditioner, PCVCRS walks over its parts: the preconditioner, then the solvers of
   levels, blocks, splits and further parts. Each matrix that an application reads gets a compressed copy (copy.c); the
   factors of PETSc's factorizations become compressed factors (factor.c). The exact matrices stay in place: the next
   set-up (a Galerkin product, a Jacobi diagonal, a factorization) and callers of the inner preconditioner need the
   exact matrices. A copy replaces the exact matrix only during an application. The exchange costs a few pointers per
   level (exchange.c).
*/

#include "pcvcrsimpl.h"
#include <petsc/private/pcmgimpl.h>

static PetscErrorCode PCVCRSWalk_Private(PC_VCRS *, PC, KSP, const char[]);

static PetscErrorCode PCVCRSWalkKSP_Private(PC_VCRS *v, KSP ksp, const char where[])
{
  PC pc;

  PetscFunctionBegin;
  if (!ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCVCRSChooseSolver_Private(pc));
  /* Some are set up at first use, which must come before the exchange */
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCVCRSWalk_Private(v, pc, ksp, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks share a line of the view, also with blocks inside of blocks */
static PetscErrorCode PCVCRSWalkBlocks_Private(PC_VCRS *v, PetscInt n, KSP ksp[], const char where[])
{
  const PetscBool outermost = (PetscBool)(v->lines.shared < 0);

  PetscFunctionBegin;
  if (outermost) PetscCall(PCVCRSShareLine_Private(&v->lines, where, "blocks"));
  for (PetscInt k = 0; k < n; k++) PetscCall(PCVCRSWalkKSP_Private(v, ksp[k], where));
  if (outermost) PCVCRSUnshareLine_Private(&v->lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkLevels_Private(PC_VCRS *v, PC pc, const char where[])
{
  PC_MG          *mg    = (PC_MG *)pc->data;
  const PetscBool outer = v->parts.coarse;
  const PC        grids = v->parts.grids;
  char            below[128];

  PetscFunctionBegin;
  if (!grids) v->parts.grids = pc;
  for (PetscInt i = mg->nlevels - 1; mg->levels && i >= 0; i--) {
    PC_MG_Levels *level                       = mg->levels[i];
    PetscInt      copy[PCVCRS_LEVEL_MATRICES] = {-1, -1, -1};

    PetscCall(PetscSNPrintf(below, sizeof(below), "%slevel %" PetscInt_FMT " ", where, i));
    v->parts.coarse = (PetscBool)(outer || i < mg->nlevels - 1);
    if (i > 0) {
      /* A residual of the program's own may want a matrix of the program's own */
      if (level->residual == PCMGResidualDefault) PetscCall(PCVCRSAddCopy_Private(v, level->A, below, "operator", &copy[PCVCRS_RESIDUAL]));
      PetscCall(PCVCRSAddCopy_Private(v, level->interpolate, below, "interpolation", &copy[PCVCRS_INTERPOLATION]));
      v->parts.coarse = PETSC_TRUE; /* transfers to a coarse level */
      if (v->opt.restrictions && level->restrct == level->interpolate)
        PetscCall(PCVCRSAddTranspose_Private(v, level->interpolate, below, "restriction", &copy[PCVCRS_RESTRICTION]));
      if (copy[PCVCRS_RESTRICTION] < 0) PetscCall(PCVCRSAddCopy_Private(v, level->restrct, below, "restriction", &copy[PCVCRS_RESTRICTION]));
      PetscCall(PetscRealloc((size_t)(v->parts.nlevels + 1) * sizeof(*v->parts.level), &v->parts.level));
      v->parts.level[v->parts.nlevels] = (PCVCRSLevel){.pc = pc, .grids = v->parts.grids, .level = i};
      for (int m = 0; m < PCVCRS_LEVEL_MATRICES; m++) PCVCRSSlotInit_Private(&v->parts.level[v->parts.nlevels].slot[m], copy[m]);
      v->parts.nlevels++;
      PetscCall(PetscObjectReference((PetscObject)pc));
    }
    v->parts.coarse = (PetscBool)(outer || i < mg->nlevels - 1);
    PetscCall(PCVCRSWalkKSP_Private(v, level->smoothd, below));
    if (level->smoothu != level->smoothd) PetscCall(PCVCRSWalkKSP_Private(v, level->smoothu, below));
  }
  v->parts.coarse = outer;
  v->parts.grids  = grids;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkSplits_Private(PC_VCRS *v, PC pc, const char where[])
{
  PCCompositeType type;
  PetscInt        n;
  KSP            *ksp;
  char            below[128];

  PetscFunctionBegin;
  PetscCall(PCFieldSplitGetType(pc, &type));
  if (type == PC_COMPOSITE_SCHUR) PetscCall(PCFieldSplitSchurGetSubKSP(pc, &n, &ksp));
  else PetscCall(PCFieldSplitGetSubKSP(pc, &n, &ksp));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(PetscSNPrintf(below, sizeof(below), "%ssplit %" PetscInt_FMT " ", where, k));
    PetscCall(PCVCRSWalkKSP_Private(v, ksp[k], below));
  }
  PetscCall(PetscFree(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relaxation of rows; MATBAIJ relaxes blocks, which is different */
static PetscErrorCode PCVCRSWalkSOR_Private(PC_VCRS *v, PC pc, const char where[], PetscInt *number)
{
  const char *what = pc->pmat == pc->mat ? "operator" : "preconditioner's matrix";
  PetscBool   isblocks;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &isblocks, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  if (isblocks) PetscCall(PCVCRSAddLeft_Private(&v->lines, where, what, "relaxed by blocks, left as it is"));
  else PetscCall(PCVCRSAddCopy_Private(v, pc->pmat, where, what, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkParts_Private(PC_VCRS *v, PC pc, const char where[])
{
  PetscInt n;
  char     below[128];

  PetscFunctionBegin;
  PetscCall(PCCompositeGetNumberPC(pc, &n));
  for (PetscInt k = 0; k < n; k++) {
    PC part;

    PetscCall(PCCompositeGetPC(pc, k, &part));
    PetscCall(PetscSNPrintf(below, sizeof(below), "%spart %" PetscInt_FMT " ", where, k));
    PetscCall(PCVCRSWalk_Private(v, part, NULL, below));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types that pass on to further preconditioners; known is PETSC_FALSE for all types without a rule here */
static PetscErrorCode PCVCRSWalkBelow_Private(PC_VCRS *v, PC pc, const char where[], PetscBool *known)
{
  static const char *const types[] = {PCCOMPOSITE, PCFIELDSPLIT, PCKSP, PCBJACOBI, PCASM, PCGASM, PCREDUNDANT, PCTELESCOPE};
  PetscBool                is[PETSC_STATIC_ARRAY_LENGTH(types)], ismg;
  PetscInt                 n   = 0;
  KSP                     *sub = NULL, one = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSIsMultigrid_Private(pc, &ismg));
  *known = ismg;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, types[k], &is[k]));
    if (is[k]) *known = PETSC_TRUE;
  }
  if (ismg) PetscCall(PCVCRSWalkLevels_Private(v, pc, where));
  else if (is[0]) PetscCall(PCVCRSWalkParts_Private(v, pc, where));
  else if (is[1]) PetscCall(PCVCRSWalkSplits_Private(v, pc, where));
  else if (is[2]) {
    char below[128];

    PetscCall(PCKSPGetKSP(pc, &one));
    PetscCall(PetscSNPrintf(below, sizeof(below), "%sksp ", where));
    PetscCall(PCVCRSWalkKSP_Private(v, one, below));
  } else if (*known) {
    if (is[3] || is[4] || is[5]) PetscCall(PCVCRSGetBlocks_Private(pc, &n, &sub));
    else {
      if (is[6]) PetscCall(PCRedundantGetKSP(pc, &one));
      else PetscCall(PCTelescopeGetKSP(pc, &one));
      sub = &one;
      n   = one ? 1 : 0; /* processes left out by a telescope have no inner solver */
    }
    PetscCall(PCVCRSWalkBlocks_Private(v, n, sub, where));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One preconditioner, and all parts below. An iterative solver reads the operator of its preconditioner. Among
   preconditioners, SOR and composites that are not additive read an operator, and some types have factors. Other types
   store their data, have parts below, or report their matrices by a function.
*/
static PetscErrorCode PCVCRSWalk_Private(PC_VCRS *v, PC pc, KSP ksp, const char where[])
{
  PCVCRSPlace     place = {.pc = pc, .ksp = ksp, .grids = v->parts.grids};
  PetscInt        amat = -1, pmat = -1; /* copies */
  PetscBool       once = PETSC_FALSE, known = PETSC_FALSE, issor, iscomposite, issmall;
  const PetscBool isfactor = (PetscBool)(pc->ops->getfactoredmatrix != NULL);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->parts.nplaces; k++) {
    if (v->parts.place[k].pc == pc) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->mat || !pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSSetUpInside_Private(pc));

  /* The matrix read here */
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &issor));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCCOMPOSITE, &iscomposite));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &issmall, PCNONE, PCJACOBI, PCPBJACOBI, PCVPBJACOBI, PCVCRS, ""));
  if (ksp) PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &once, KSPPREONLY, KSPNONE, ""));
  if (ksp && !once) PetscCall(PCVCRSAddCopy_Private(v, pc->mat, where, "operator", &amat));
  if (issor) PetscCall(PCVCRSWalkSOR_Private(v, pc, where, &pmat));
  if (iscomposite) {
    PCCompositeType type;

    PetscCall(PCCompositeGetType(pc, &type));
    if (type == PC_COMPOSITE_MULTIPLICATIVE || type == PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE) {
      if (pc->useAmat) PetscCall(PCVCRSAddCopy_Private(v, pc->mat, where, "operator", &amat));
      else PetscCall(PCVCRSAddCopy_Private(v, pc->pmat, where, "operator", &pmat));
    }
  }
  if (isfactor) PetscCall(PCVCRSAddFactor_Private(v, pc, where, &place.factor));
  PetscCall(PetscObjectHasFunction((PetscObject)pc, PCVCRS_HOOK, &place.hooked));
  if (place.hooked) PetscCall(PCVCRSHookCollect_Private(v, pc, where));
  PetscCall(PetscStrallocpy(((PetscObject)pc)->type_name, &place.type));
  PetscCall(PetscRealloc((size_t)(v->parts.nplaces + 1) * sizeof(*v->parts.place), &v->parts.place));
  PCVCRSSlotInit_Private(&place.slot[PCVCRS_AMAT], amat);
  PCVCRSSlotInit_Private(&place.slot[PCVCRS_PMAT], pmat);
  v->parts.place[v->parts.nplaces++] = place;
  PetscCall(PetscObjectReference((PetscObject)pc));
  PetscCall(PetscObjectReference((PetscObject)ksp));

  PetscCall(PCVCRSWalkBelow_Private(v, pc, where, &known));
  if (!known && !issor && !issmall && !isfactor && !place.hooked) {
    char left[128];

    PetscCall(PetscSNPrintf(left, sizeof(left), "%s, left as it is", ((PetscObject)pc)->type_name));
    PetscCall(PCVCRSAddLeft_Private(&v->lines, where, "preconditioner", left));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees places and lines: the copies are no longer current */
static PetscErrorCode PCVCRSFreeParts_Private(PCVCRSParts *parts)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < parts->nplaces; k++) {
    if (parts->place[k].factor) PetscCall(PetscObjectCompose((PetscObject)parts->place[k].pc, PCVCRS_FACTOR_CONTAINER, NULL));
    PetscCall(PetscFree(parts->place[k].type));
    PetscCall(PCDestroy(&parts->place[k].pc));
    PetscCall(KSPDestroy(&parts->place[k].ksp));
  }
  for (PetscInt k = 0; k < parts->nlevels; k++) PetscCall(PCDestroy(&parts->level[k].pc));
  PetscCall(PetscFree(parts->place));
  PetscCall(PetscFree(parts->level));
  parts->nplaces = parts->nlevels = 0;
  parts->current                  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the exact matrices back, and forgets where they are; the copies stay, and may be used again */
PetscErrorCode PCVCRSForget_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSUndrop_Private(v));
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSFreeParts_Private(&v->parts));
  PetscCall(PCVCRSLinesFree_Private(&v->lines));
  PetscCall(PCVCRSExchangeFree_Private(&v->exchange));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSClear_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSForget_Private(v));
  PetscCall(PCVCRSCopiesFree_Private(&v->copies));
  PetscCall(PCVCRSFactorsFree_Private(&v->factors));
  PetscCall(PCVCRSSingleFree_Private(&v->single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Makes the copies match the present state of the inner preconditioner after its set-up. Copies of unchanged matrices
   stay
*/
PetscErrorCode PCVCRSCompress_Private(PC pc)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCVCRSForget_Private(v));
  PetscCall(PCVCRSCopiesBegin_Private(&v->copies));
  PetscCall(PCVCRSFactorsBegin_Private(&v->factors));
  v->parts.coarse = PETSC_FALSE;
  v->parts.grids  = NULL;
  PetscCall(PCVCRSWalk_Private(v, v->inner.pc, NULL, ""));
  PetscCall(PCVCRSCopiesForgetOld_Private(&v->copies));
  PetscCall(PCVCRSFactorsForgetOld_Private(&v->factors));
  PetscCall(PCVCRSDrop_Private(pc));
  v->parts.current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
