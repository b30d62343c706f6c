/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The memory of exact matrices that only the inner preconditioner has, given back.

   The copies go to their places and stay there, also where an exact matrix is kept that no application
   reads, and the references to the exact ones end; factors are given back by their preconditioners. What
   is left could not be set up from: before the next set-up the inner preconditioner is reset, and
   begins from nothing. So this is for preconditioners that make everything inside by themselves.
*/

#include "pcvcrsimpl.h"
#include <petsc/private/pcmgimpl.h>

/* Whether a preconditioner that was reset comes to the same again: not if the program gave it what it needs */
static PetscErrorCode PCVCRSComesAgain_Private(PC pc, PetscBool *again)
{
  PetscBool ismg, isgamg;

  PetscFunctionBegin;
  *again = PETSC_TRUE;
  PetscCall(PCVCRSIsMultigrid_Private(pc, &ismg));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGAMG, &isgamg));
  if (ismg && !isgamg) {
    const PC_MG *mg = (const PC_MG *)pc->data;

    /* Interpolations from grids, operators from interpolations */
    *again = (PetscBool)(pc->dm && (mg->galerkin == PC_MG_GALERKIN_BOTH || mg->galerkin == PC_MG_GALERKIN_PMAT));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The copy of a matrix that is not the program's, NULL: none */
static PetscErrorCode PCVCRSFindCopy_Private(PC pc, Mat exact, Mat *compressed)
{
  PC_VCRS      *v = (PC_VCRS *)pc->data;
  PetscObjectId id;

  PetscFunctionBegin;
  *compressed = NULL;
  if (!exact || exact == pc->mat || exact == pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)exact, &id));
  for (PetscInt k = 0; k < v->ncopies && !*compressed; k++) {
    if (v->copy[k].exact.id == id && !v->copy[k].transposed) *compressed = v->copy[k].compressed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the reference to an exact matrix, in a place that has it or keeps it for later */
static PetscErrorCode PCVCRSDropOne_Private(PC pc, Mat *where, PetscBool isplace)
{
  Mat compressed = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSFindCopy_Private(pc, *where, &compressed));
  if (!compressed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(where));
  if (isplace) {
    PetscCall(PetscObjectReference((PetscObject)compressed));
    *where = compressed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarsest operator, which may stay exact, lets go of the matrices that it is a product of */
static PetscErrorCode PCVCRSDropProducts_Private(const PCVCRSLevel *l)
{
  const PC_MG *mg = (const PC_MG *)l->pc->data;
  Mat          operator[2];

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(mg->levels[0]->smoothd, &operator[0], &operator[1]));
  for (int k = 0; k < 2; k++) PetscCall(MatProductClear(operator[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the copies have been made: gives back what can be */
PetscErrorCode PCVCRSDrop_Private(PC pc)
{
  PC_VCRS *v = (PC_VCRS *)pc->data;

  PetscFunctionBegin;
  if (!v->opt.dropexact || v->inner->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < v->nplaces; k++) {
    PetscBool again;

    PetscCall(PCVCRSComesAgain_Private(v->place[k].pc, &again));
    if (!again) {
      PetscCall(PetscInfo(pc, "The exact matrices are kept: the inner preconditioner has interpolations or operators that the program gave it\n"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PCVCRSExchange_Private(v, PETSC_TRUE));
  for (PetscInt k = 0; k < v->nplaces; k++) {
    PCVCRSPlace *p = &v->place[k];

    PetscCall(PCVCRSDropOne_Private(pc, &p->matexact, PETSC_FALSE));
    PetscCall(PCVCRSDropOne_Private(pc, &p->pmatexact, PETSC_FALSE));
    PetscCall(PCVCRSDropOne_Private(pc, &p->pc->mat, PETSC_TRUE));
    PetscCall(PCVCRSDropOne_Private(pc, &p->pc->pmat, PETSC_TRUE));
    if (p->factor && p->super->reset) PetscCall((*p->super->reset)(p->pc));
  }
  for (PetscInt k = 0; k < v->nlevels; k++) {
    PetscCall(PCVCRSDropProducts_Private(&v->level[k]));
    for (int m = 0; m < PCVCRS_LEVEL_MATRICES; m++) PetscCall(PCVCRSDropOne_Private(pc, &v->level[k].exact[m], PETSC_FALSE));
  }
  for (PetscInt k = 0; k < v->nhooked; k++) PetscCall(PCVCRSDropOne_Private(pc, &v->hooked[k].exact, PETSC_FALSE));
  v->dropped = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before anything else than an application: the inner preconditioner has to be set up again where it has nothing left */
PetscErrorCode PCVCRSUndrop_Private(PC_VCRS *v)
{
  PetscFunctionBegin;
  if (!v->dropped) PetscFunctionReturn(PETSC_SUCCESS);
  v->dropped = PETSC_FALSE;
  PetscCall(PCVCRSExchange_Private(v, PETSC_FALSE));
  PetscCall(PCReset(v->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
