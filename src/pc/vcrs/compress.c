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

/* Processes may have different numbers of blocks: all blocks share a line of the view */
static PetscErrorCode PCVCRSWalkBlocks_Private(PC_VCRS *v, PetscInt n, KSP ksp[], const char where[])
{
  const PetscInt outer = v->blockline;

  PetscFunctionBegin;
  if (outer < 0) PetscCall(PCVCRSAddLine_Private(v, where, "blocks", PETSC_TRUE, &v->blockline));
  for (PetscInt k = 0; k < n; k++) PetscCall(PCVCRSWalkKSP_Private(v, ksp[k], where));
  v->blockline = outer;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSWalkLevels_Private(PC_VCRS *v, PC pc, const char where[])
{
  PC_MG          *mg    = (PC_MG *)pc->data;
  const PetscBool outer = v->coarse;
  const PC        grids = v->grids;
  char            below[128];

  PetscFunctionBegin;
  if (!grids) v->grids = pc;
  for (PetscInt i = mg->nlevels - 1; mg->levels && i >= 0; i--) {
    PC_MG_Levels *level = mg->levels[i];
    PCVCRSLevel   entry = {.pc = pc, .grids = v->grids, .level = i, .copy = {-1, -1, -1}};

    PetscCall(PetscSNPrintf(below, sizeof(below), "%slevel %" PetscInt_FMT " ", where, i));
    v->coarse = (PetscBool)(outer || i < mg->nlevels - 1);
    if (i > 0) {
      /* A residual of the program's own may want a matrix of the program's own */
      if (level->residual == PCMGResidualDefault) PetscCall(PCVCRSAddCopy_Private(v, level->A, below, "operator", &entry.copy[PCVCRS_RESIDUAL]));
      PetscCall(PCVCRSAddCopy_Private(v, level->interpolate, below, "interpolation", &entry.copy[PCVCRS_INTERPOLATION]));
      v->coarse = PETSC_TRUE; /* transfers to a coarse level */
      if (v->opt.restrictions && level->restrct == level->interpolate)
        PetscCall(PCVCRSAddTranspose_Private(v, level->interpolate, below, "restriction", &entry.copy[PCVCRS_RESTRICTION]));
      if (entry.copy[PCVCRS_RESTRICTION] < 0) PetscCall(PCVCRSAddCopy_Private(v, level->restrct, below, "restriction", &entry.copy[PCVCRS_RESTRICTION]));
      PetscCall(PetscRealloc((size_t)(v->nlevels + 1) * sizeof(*v->level), &v->level));
      v->level[v->nlevels++] = entry;
      PetscCall(PetscObjectReference((PetscObject)pc));
    }
    v->coarse = (PetscBool)(outer || i < mg->nlevels - 1);
    PetscCall(PCVCRSWalkKSP_Private(v, level->smoothd, below));
    if (level->smoothu != level->smoothd) PetscCall(PCVCRSWalkKSP_Private(v, level->smoothu, below));
  }
  v->coarse = outer;
  v->grids  = grids;
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
  if (isblocks) PetscCall(PCVCRSAddLeft_Private(v, where, what, "relaxed by blocks, left as it is"));
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
  PCVCRSPlace     place = {.pc = pc, .ksp = ksp, .grids = v->grids, .mat = -1, .pmat = -1};
  PetscBool       once = PETSC_FALSE, known = PETSC_FALSE, issor, iscomposite, issmall;
  const PetscBool isfactor = (PetscBool)(pc->ops->getfactoredmatrix != NULL);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->nplaces; k++) {
    if (v->place[k].pc == pc) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pc->mat || !pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSSetUpInside_Private(pc));

  /* The matrix read here */
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSOR, &issor));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCCOMPOSITE, &iscomposite));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &issmall, PCNONE, PCJACOBI, PCPBJACOBI, PCVPBJACOBI, PCVCRS, ""));
  if (ksp) PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &once, KSPPREONLY, KSPNONE, ""));
  if (ksp && !once) PetscCall(PCVCRSAddCopy_Private(v, pc->mat, where, "operator", &place.mat));
  if (issor) PetscCall(PCVCRSWalkSOR_Private(v, pc, where, &place.pmat));
  if (iscomposite) {
    PCCompositeType type;

    PetscCall(PCCompositeGetType(pc, &type));
    if (type == PC_COMPOSITE_MULTIPLICATIVE || type == PC_COMPOSITE_SYMMETRIC_MULTIPLICATIVE) {
      if (pc->useAmat) PetscCall(PCVCRSAddCopy_Private(v, pc->mat, where, "operator", &place.mat));
      else PetscCall(PCVCRSAddCopy_Private(v, pc->pmat, where, "operator", &place.pmat));
    }
  }
  if (isfactor) PetscCall(PCVCRSAddFactor_Private(v, pc, where, &place.factor));
  if (place.factor) PetscCall(PetscNew(&place.super));
  PetscCall(PetscObjectHasFunction((PetscObject)pc, PCVCRS_HOOK, &place.hooked));
  if (place.hooked) PetscCall(PCVCRSHookCollect_Private(v, pc, where));
  PetscCall(PetscStrallocpy(((PetscObject)pc)->type_name, &place.type));
  PetscCall(PetscRealloc((size_t)(v->nplaces + 1) * sizeof(*v->place), &v->place));
  v->place[v->nplaces++] = place;
  PetscCall(PetscObjectReference((PetscObject)pc));
  PetscCall(PetscObjectReference((PetscObject)ksp));

  PetscCall(PCVCRSWalkBelow_Private(v, pc, where, &known));
  if (!known && !issor && !issmall && !isfactor && !place.hooked) {
    char left[128];

    PetscCall(PetscSNPrintf(left, sizeof(left), "%s, left as it is", ((PetscObject)pc)->type_name));
    PetscCall(PCVCRSAddLeft_Private(v, where, "preconditioner", left));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees places and lines; copies as well, unless reused */
PetscErrorCode PCVCRSForget_Private(PC_VCRS *v, PetscBool copies)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->nplaces; k++) {
    if (v->place[k].factor) PetscCall(PetscObjectCompose((PetscObject)v->place[k].pc, PCVCRS_FACTOR_CONTAINER, NULL));
    PetscCall(PetscFree(v->place[k].super));
    PetscCall(PetscFree(v->place[k].type));
    PetscCall(PCDestroy(&v->place[k].pc));
    PetscCall(KSPDestroy(&v->place[k].ksp));
  }
  for (PetscInt k = 0; k < v->nlevels; k++) PetscCall(PCDestroy(&v->level[k].pc));
  for (PetscInt k = 0; k < v->nlines; k++) {
    PetscCall(PetscFree(v->line[k].what));
    PetscCall(PetscFree(v->line[k].left));
  }
  PetscCall(PetscFree(v->place));
  PetscCall(PetscFree(v->level));
  PetscCall(PetscFree(v->line));
  PetscCall(PetscFree(v->hooked));
  v->nplaces = v->nlevels = v->nlines = v->nhooked = 0;
  if (copies) {
    for (PetscInt k = 0; k < v->ncopies; k++) PetscCall(MatDestroy(&v->copy[k].compressed));
    for (PetscInt k = 0; k < v->nfactors; k++) PetscCall(PCVCRSFactorDestroy_Private(&v->factor[k]));
    PetscCall(PetscFree(v->copy));
    PetscCall(PetscFree(v->factor));
    v->ncopies = v->nfactors = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSForgetOld_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->nold; k++) PetscCall(MatDestroy(&v->old[k].compressed));
  for (PetscInt k = 0; k < v->noldfactors; k++) PetscCall(PCVCRSFactorDestroy_Private(&v->oldfactor[k]));
  PetscCall(PetscFree(v->old));
  PetscCall(PetscFree(v->oldfactor));
  v->nold = v->noldfactors = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSClear_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSUndrop_Private(v));
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSForget_Private(v, PETSC_TRUE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(v->rounded); k++) PetscCall(VecDestroy(&v->rounded[k]));
  PetscCall(PCVCRSForgetOld_Private(v));
  v->current = PETSC_FALSE;
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
  PetscCall(PCVCRSUndrop_Private(v));
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSForget_Private(v, PETSC_FALSE));
  PetscCall(PCVCRSForgetOld_Private(v)); /* left from a call that ended with an error */
  v->old         = v->copy;
  v->nold        = v->ncopies;
  v->oldfactor   = v->factor;
  v->noldfactors = v->nfactors;
  v->copy        = NULL;
  v->factor      = NULL;
  v->ncopies = v->nfactors = 0;
  v->blockline             = -1;
  v->coarse                = PETSC_FALSE;
  v->grids                 = NULL;
  PetscCall(PCVCRSWalk_Private(v, v->inner, NULL, ""));
  PetscCall(PCVCRSForgetOld_Private(v));
  PetscCall(PCVCRSDrop_Private(pc));
  v->current = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
