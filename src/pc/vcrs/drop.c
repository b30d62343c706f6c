/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Frees the memory of exact matrices that only the inner preconditioner references.

   These matrices are factors, and the matrices that multigrid preconditioners make on their levels. On levels, the
   copies replace the exact matrices permanently, even if an exact matrix is kept that no application reads. The
   references to the exact matrices end. Before the next set-up only multigrid preconditioners start from scratch. Other
   preconditioners keep settings of a program (fields, subdomains, blocks) and their data. The option is therefore for
   multigrid preconditioners that find the same levels again automatically.
*/

#include "pcvcrsimpl.h"
#include <petsc/private/pcmgimpl.h>

/*
   Before the first set-up: whether the program gave interpolations to the inner multigrid preconditioner, which makes
   other interpolations in the set-up. PCGAMG keeps coordinates for another set-up only if interpolations are not
   reused.
*/
PetscErrorCode PCVCRSLookWhatIsTold_Private(PC_VCRS *v)
{
  PetscBool ismg;

  PetscFunctionBegin;
  if (v->inner.pc->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  if (v->opt.dropexact) PetscCall(PCGAMGSetReuseInterpolation(v->inner.pc, PETSC_FALSE)); /* of another type, nothing */
  v->drop.told = PETSC_FALSE;
  PetscCall(PCVCRSIsMultigrid_Private(v->inner.pc, &ismg));
  if (!ismg) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 1; k < ((PC_MG *)v->inner.pc->data)->nlevels; k++) {
    const PC_MG_Levels *level = ((PC_MG *)v->inner.pc->data)->levels[k];

    if (level->interpolate || level->restrct) v->drop.told = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a multigrid preconditioner can find the same levels again from scratch: not if the program gave data to the
   preconditioner, or to its parts
*/
static PetscErrorCode PCVCRSComesAgain_Private(const PC_VCRS *v, PC pc, PetscBool *again)
{
  PetscBool isgamg;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGAMG, &isgamg));
  if (isgamg) *again = PETSC_TRUE;
  else {
    const PC_MG *mg = (const PC_MG *)pc->data; /* NOLINT(clang-analyzer-core.NullDereference): no multigrid is NULL */

    /* Interpolations from grids, operators from interpolations */
    *again = (PetscBool)(pc->dm && !(v->drop.told && pc == v->inner.pc) && (mg->galerkin == PC_MG_GALERKIN_BOTH || mg->galerkin == PC_MG_GALERKIN_PMAT));
  }
  for (PetscInt k = 0; k < v->parts.nplaces && *again; k++) {
    const PCVCRSPlace *p = v->parts.place + k;
    PetscBool          ismg, tellable;

    if (p->grids != pc) continue;
    PetscCall(PCVCRSIsMultigrid_Private(p->pc, &ismg));
    if (ismg) PetscCall(PCVCRSComesAgain_Private(v, p->pc, again));
    /* The parts lose subdomains and fields with all else */
    PetscCall(PetscObjectTypeCompareAny((PetscObject)p->pc, &tellable, PCASM, PCFIELDSPLIT, ""));
    if (tellable) *again = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the levels can be found again; false for NULL, no multigrid preconditioner */
static PetscErrorCode PCVCRSGridsComeAgain_Private(const PC_VCRS *v, PC grids, PetscBool *again)
{
  PetscFunctionBegin;
  *again = PETSC_FALSE;
  for (PetscInt k = 0; k < v->parts.nplaces && grids; k++) {
    if (v->parts.place[k].pc == grids) *again = v->drop.again[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The copy of a matrix, unless the matrix belongs to the program; NULL: none */
static PetscErrorCode PCVCRSFindCopy_Private(PC pc, Mat exact, Mat *compressed)
{
  PC_VCRS      *v = (PC_VCRS *)pc->data;
  PetscObjectId id;

  PetscFunctionBegin;
  *compressed = NULL;
  if (!exact || exact == pc->mat || exact == pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)exact, &id));
  for (PetscInt k = 0; k < v->copies.n && !*compressed; k++) {
    if (v->copies.copy[k].exact.id == id && !v->copies.copy[k].transposed) *compressed = v->copies.copy[k].compressed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the reference to an exact matrix that is kept for later */
static PetscErrorCode PCVCRSDropKept_Private(PC pc, PCVCRSSlot *slot)
{
  Mat compressed = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSFindCopy_Private(pc, slot->exact, &compressed));
  if (compressed) PetscCall(PCVCRSSlotDrop_Private(slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the reference to an exact matrix at a place that uses the matrix, which gets the copy */
static PetscErrorCode PCVCRSDropUsed_Private(PC pc, Mat *where)
{
  Mat compressed = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSFindCopy_Private(pc, *where, &compressed));
  if (!compressed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(where));
  PetscCall(PetscObjectReference((PetscObject)compressed));
  *where = compressed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Releases the factors of a product from the coarsest operator, which may stay exact */
static PetscErrorCode PCVCRSDropProducts_Private(const PCVCRSLevel *l)
{
  const PC_MG *mg = (const PC_MG *)l->pc->data;
  Mat          mats[2];

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(mg->levels[0]->smoothd, &mats[0], &mats[1]));
  for (int k = 0; k < 2; k++) PetscCall(MatProductClear(mats[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the multigrid preconditioners whose levels can be freed */
static PetscErrorCode PCVCRSMarkGrids_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(v->drop.again));
  PetscCall(PetscCalloc1(v->parts.nplaces, &v->drop.again));
  for (PetscInt k = 0; k < v->parts.nplaces; k++) {
    PCVCRSPlace *p = v->parts.place + k;
    PetscBool    ismg, again;

    PetscCall(PCVCRSIsMultigrid_Private(p->pc, &ismg));
    if (!ismg || p->grids) continue;
    PetscCall(PCVCRSComesAgain_Private(v, p->pc, &again));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &again, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)p->pc)));
    v->drop.again[k] = again;
    if (!again)
      PetscCall(PetscInfo(v->outer,
                          "The exact matrices of a preconditioner of type %s are kept: it, or what is inside, has interpolations, operators, fields or "
                          "subdomains that the program may have given\n",
                          p->type));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the copies have been made: frees all exact matrices that can be freed */
PetscErrorCode PCVCRSDrop_Private(PC pc)
{
  PC_VCRS  *v      = (PC_VCRS *)pc->data;
  PetscBool failed = (PetscBool)(v->inner.pc->failedreason != PC_NOERROR), any = PETSC_FALSE;

  PetscFunctionBegin;
  if (!v->opt.dropexact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  if (failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSMarkGrids_Private(v));
  for (PetscInt k = 0; k < v->parts.nplaces; k++) {
    if (v->drop.again[k] || v->parts.place[k].factor) any = PETSC_TRUE;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &any, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)pc)));
  if (!any) {
    PetscCall(PetscFree(v->drop.again));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCVCRSExchange_Private(v, PETSC_TRUE));
  for (PetscInt k = 0; k < v->parts.nplaces; k++) {
    PCVCRSPlace *p = v->parts.place + k;
    PetscBool    again;

    PetscCall(PCVCRSGridsComeAgain_Private(v, p->grids, &again));
    if (again) {
      for (int m = 0; m < PCVCRS_PLACE_MATRICES; m++) PetscCall(PCVCRSDropKept_Private(pc, &p->slot[m]));
      PetscCall(PCVCRSDropUsed_Private(pc, &p->pc->mat));
      PetscCall(PCVCRSDropUsed_Private(pc, &p->pc->pmat));
    }
    if (p->factor && p->frozen.ops.reset && !p->frozen.reuse) {
      PetscCall((*p->frozen.ops.reset)(p->pc));
      v->drop.again[k] = PETSC_TRUE;
    }
  }
  for (PetscInt k = 0; k < v->parts.nlevels; k++) {
    PetscBool again;

    PetscCall(PCVCRSGridsComeAgain_Private(v, v->parts.level[k].grids, &again));
    if (!again) continue;
    PetscCall(PCVCRSDropProducts_Private(&v->parts.level[k]));
    for (int m = 0; m < PCVCRS_LEVEL_MATRICES; m++) PetscCall(PCVCRSDropKept_Private(pc, v->parts.level[k].slot + m));
  }
  v->drop.dropped = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Interpolations that a program has put in place of copies survive the reset of the levels */
static PetscErrorCode PCVCRSResetGrids_Private(PC_VCRS *v, PC pc)
{
  PC_MG *mg = (PC_MG *)pc->data;
  Mat   *told, mat = pc->mat, pmat = pc->pmat;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * v->parts.nlevels, &told));
  for (PetscInt k = 0; k < v->parts.nlevels; k++) {
    const PCVCRSLevel *l = &v->parts.level[k];

    if (l->pc != pc || l->level >= mg->nlevels) continue;
    for (int m = 0; m < 2; m++) {
      const PetscInt number = l->slot[m ? PCVCRS_RESTRICTION : PCVCRS_INTERPOLATION].copy;
      Mat            here   = m ? mg->levels[l->level]->restrct : mg->levels[l->level]->interpolate;
      PetscObjectId  id     = 0;

      if (here) PetscCall(PetscObjectGetId((PetscObject)here, &id));
      if (number < 0 || here == v->copies.copy[number].compressed || id == v->copies.copy[number].exact.id) continue;
      told[2 * k + m] = here;
      PetscCall(PetscObjectReference((PetscObject)here));
    }
  }
  /* An outer preconditioner may have the operators from here alone */
  PetscCall(PetscObjectReference((PetscObject)mat));
  PetscCall(PetscObjectReference((PetscObject)pmat));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, mat, pmat));
  PetscCall(MatDestroy(&mat));
  PetscCall(MatDestroy(&pmat));
  for (PetscInt k = 0; k < v->parts.nlevels; k++) {
    if (told[2 * k]) PetscCall(PCMGSetInterpolation(pc, v->parts.level[k].level, told[2 * k]));
    if (told[2 * k + 1]) PetscCall(PCMGSetRestriction(pc, v->parts.level[k].level, told[2 * k + 1]));
    for (int m = 0; m < 2; m++) {
      if (told[2 * k + m] && pc == v->inner.pc) v->drop.told = PETSC_TRUE;
      PetscCall(MatDestroy(&told[2 * k + m]));
    }
  }
  PetscCall(PetscFree(told));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Before any operation but an application: resets preconditioners without matrices, whose surroundings are then set up
   again, too
*/
PetscErrorCode PCVCRSUndrop_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  if (!v->drop.dropped) PetscFunctionReturn(PETSC_SUCCESS);
  v->drop.dropped = PETSC_FALSE;
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  for (PetscInt k = 0; k < v->parts.nplaces; k++) {
    PCVCRSPlace *p = v->parts.place + k;
    PetscBool    current, ismg, isgamg;

    LithePCMatState(p->pc) = -1; /* with the same nonzero pattern */
    if (!v->drop.again[k]) continue;
    PetscCall(PCVCRSPlaceIsCurrent_Private(p, &current));
    if (!current) continue; /* the program has changed the type, and the new preconditioner has lost no matrix */
    PetscCall(PCVCRSIsMultigrid_Private(p->pc, &ismg));
    PetscCall(PetscObjectTypeCompare((PetscObject)p->pc, PCGAMG, &isgamg));
    /* PCGAMG then begins from nothing by itself, and keeps coordinates */
    if (isgamg) PetscCall(PCGAMGSetReuseInterpolation(p->pc, PETSC_FALSE));
    else if (ismg) PetscCall(PCVCRSResetGrids_Private(v, p->pc));
    else p->pc->setupcalled = PETSC_FALSE;
  }
  PetscCall(PetscFree(v->drop.again));
  PetscFunctionReturn(PETSC_SUCCESS);
}
