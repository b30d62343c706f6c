/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Puts the compressed copies in place of the exact matrices, and back.

   While copies are in place, no set-up may run, because a set-up would use the copies. Each inner preconditioner is
   marked to reuse data, and the matrix of each solver is marked as known.
*/

#include "pcvcrsimpl.h"
#include <petsc/private/pcmgimpl.h>

/*
   Puts a copy in place of an exact matrix, or the exact matrix back. The reference of the place moves with the pointer.
   The matrix at the place may have been changed since.
*/
static PetscErrorCode PCVCRSExchangeOne_Private(PC_VCRS *v, Mat *where, PCVCRSSlot *slot, PetscBool in)
{
  PetscFunctionBegin;
  if (in && !slot->in && slot->copy >= 0 && *where) {
    const PCVCRSCopy *copy = &v->copies.copy[slot->copy];
    PetscObjectId     id;

    PetscCall(PetscObjectGetId((PetscObject)*where, &id));
    if (id != copy->exact.id) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectReference((PetscObject)copy->compressed));
    slot->exact = *where;
    slot->in    = PETSC_TRUE;
    *where      = copy->compressed;
  } else if (!in && slot->in) {
    slot->in = PETSC_FALSE;
    /* the copy of a freed exact matrix stays in place */
    if (where && slot->exact && *where == v->copies.copy[slot->copy].compressed) {
      PetscCall(PetscObjectDereference((PetscObject)*where));
      *where      = slot->exact;
      slot->exact = NULL;
    } else PetscCall(MatDestroy(&slot->exact));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCVCRSSlotInit_Private(PCVCRSSlot *slot, PetscInt copy)
{
  *slot = (PCVCRSSlot){.copy = copy};
}

/* Ends the reference to an exact matrix whose copy is in place */
PetscErrorCode PCVCRSSlotDrop_Private(PCVCRSSlot *slot)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&slot->exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The argument of a hook: the action on each of the hook's places */
typedef struct {
  PC_VCRS    *v;
  const char *where;
} PCVCRSHookContext;

static PetscErrorCode PCVCRSHookCollectOne_Private(Mat *place, void *ctx)
{
  PCVCRSHookContext *h = (PCVCRSHookContext *)ctx;
  PetscInt           number;

  PetscFunctionBegin;
  PetscCall(PCVCRSAddCopy_Private(h->v, *place, h->where, "matrix", &number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSHookIn_Private(Mat *place, void *ctx)
{
  PC_VCRS      *v = ((PCVCRSHookContext *)ctx)->v;
  PetscObjectId id;

  PetscFunctionBegin;
  if (!*place) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)*place, &id));
  for (PetscInt k = 0; k < v->copies.n; k++) {
    if (v->copies.copy[k].exact.id != id || v->copies.copy[k].transposed) continue;
    PetscCall(PetscRealloc((size_t)(v->exchange.nhooked + 1) * sizeof(*v->exchange.hooked), &v->exchange.hooked));
    v->exchange.hooked[v->exchange.nhooked++] = (PCVCRSHooked){.where = place, .exact = *place, .compressed = v->copies.copy[k].compressed};
    PetscCall(PetscObjectReference((PetscObject)v->copies.copy[k].compressed));
    *place = v->copies.copy[k].compressed;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSHookOut_Private(Mat *place, void *ctx)
{
  PC_VCRS *v = ((PCVCRSHookContext *)ctx)->v;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->exchange.nhooked; k++) {
    PCVCRSHooked *h = &v->exchange.hooked[k];

    if (h->where != place || h->compressed != *place || !h->exact) continue;
    PetscCall(PetscObjectDereference((PetscObject)*place));
    *place   = h->exact;
    h->exact = NULL;
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSHook_Private(PC_VCRS *v, PC pc, const char where[], PetscErrorCode (*exchange)(Mat *, void *))
{
  PCVCRSHookContext ctx = {.v = v, .where = where};
  PetscErrorCode (*hook)(PC, PCVCRSExchangeFn *, void *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, PCVCRS_HOOK, &hook));
  if (hook) PetscCall((*hook)(pc, exchange, &ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collects copies of the matrices that a preconditioner reports by a function */
PetscErrorCode PCVCRSHookCollect_Private(PC_VCRS *v, PC pc, const char where[])
{
  PetscFunctionBegin;
  PetscCall(PCVCRSHook_Private(v, pc, where, PCVCRSHookCollectOne_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One preconditioner and its solver */
static PetscErrorCode PCVCRSExchangePlace_Private(PC_VCRS *v, PCVCRSPlace *p, PetscBool in)
{
  PCVCRSFrozen *frozen = &p->frozen;
  PetscBool     current;

  PetscFunctionBegin;
  PetscCall(PCVCRSPlaceIsCurrent_Private(p, &current));
  if (in && !current) PetscFunctionReturn(PETSC_SUCCESS); /* applied unchanged until copies are made again */
  PetscCall(PCVCRSExchangeOne_Private(v, &p->pc->mat, &p->slot[PCVCRS_AMAT], in));
  PetscCall(PCVCRSExchangeOne_Private(v, &p->pc->pmat, &p->slot[PCVCRS_PMAT], in));
  if (p->hooked) PetscCall(PCVCRSHook_Private(v, p->pc, "", in ? PCVCRSHookIn_Private : PCVCRSHookOut_Private));
  if (in) {
    frozen->reuse              = p->pc->reusepreconditioner;
    p->pc->reusepreconditioner = PETSC_TRUE;
    if (p->ksp) PetscCall(LitheKSPExchangeAmatState(p->ksp, p->pc->mat, &frozen->amatstate));
    if (p->factor) {
      frozen->ops = *p->pc->ops;
      PetscCall(PCVCRSFactorStart_Private(p->pc));
    }
    frozen->is = PETSC_TRUE;
  } else if (frozen->is) {
    p->pc->reusepreconditioner = frozen->reuse;
    if (p->ksp) LitheKSPRestoreAmatState(p->ksp, frozen->amatstate);
    if (p->factor) PetscCall(PCVCRSFactorStop_Private(p->pc, &frozen->ops));
    frozen->is = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSExchangeLevel_Private(PC_VCRS *v, PCVCRSLevel *l, PetscBool in)
{
  Mat      *where[PCVCRS_LEVEL_MATRICES] = {NULL, NULL, NULL};
  PetscBool ismg;

  PetscFunctionBegin;
  /* the type, or the levels, may have changed since */
  PetscCall(PCVCRSIsMultigrid_Private(l->pc, &ismg));
  if (ismg) {
    PC_MG *mg = (PC_MG *)l->pc->data;

    if (mg->levels && l->level < mg->nlevels) {
      where[PCVCRS_RESIDUAL]      = &mg->levels[l->level]->A;
      where[PCVCRS_INTERPOLATION] = &mg->levels[l->level]->interpolate;
      where[PCVCRS_RESTRICTION]   = &mg->levels[l->level]->restrct;
    }
  }
  for (int m = 0; m < PCVCRS_LEVEL_MATRICES; m++) {
    if (where[m] || !in) PetscCall(PCVCRSExchangeOne_Private(v, where[m], &l->slot[m], in));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies in the places of the exact matrices, or back */
PetscErrorCode PCVCRSExchange_Private(PC_VCRS *v, PetscBool in)
{
  PetscFunctionBegin;
  if (v->exchange.in == in) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < v->parts.nplaces; k++) PetscCall(PCVCRSExchangePlace_Private(v, v->parts.place + k, in));
  for (PetscInt k = 0; k < v->parts.nlevels; k++) PetscCall(PCVCRSExchangeLevel_Private(v, v->parts.level + k, in));
  if (!in) {
    /* matrices that a hook did not request again */
    for (PetscInt k = 0; k < v->exchange.nhooked; k++) PetscCall(MatDestroy(&v->exchange.hooked[k].exact));
    v->exchange.nhooked = 0;
  }
  v->exchange.in = in;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSExchangeFree_Private(PCVCRSExchange *exchange)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(exchange->hooked));
  exchange->nhooked = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
