/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a PCCAMG: memory, failure, reset */

#include "camgimpl.h"

/* No preconditioner: the solver ends with KSP_DIVERGED_PC_FAILED, and -ksp_view tells why */
PetscErrorCode PCCAMGFail_Private(PC pc, const char format[], ...)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;
  va_list  list;
  size_t   length;

  PetscFunctionBegin;
  va_start(list, format);
  PetscCall(PetscVSNPrintf(mg->failed, sizeof(mg->failed), format, &length, list));
  va_end(list);
  PetscCall(PetscInfo(pc, "No preconditioner: %s\n", mg->failed));
  PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* pointer: the place of a pointer to memory of the kernels, which becomes NULL */
PetscErrorCode PCCAMGFree_Private(const PC_CAMG *mg, void *pointer)
{
  void **p = (void **)pointer;

  PetscFunctionBegin;
  if (*p) PetscCall((*mg->kernels->memory->free)(p));
  *p = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of x, of own bytes, with room for n; x may be NULL */
PetscErrorCode PCCAMGGrow_Private(const PC_CAMG *mg, size_t own, size_t n, const void *x, void **y)
{
  PetscFunctionBegin;
  *y = NULL;
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->alloc)(n, y));
  PetscCall((*mg->kernels->memory->copy)(own, x, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGExactFree_Private(const PC_CAMG *mg, CAMGExact *e)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &e->A));
  PetscCall(PCCAMGGhostsFree_Private(&e->ghosts));
  PetscCall(PCCAMGFree_Private(mg, &e->space.T));
  PetscCall(PCCAMGFree_Private(mg, &e->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperatorFree_Private(const PC_CAMG *mg, CAMGOperator *op)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGFree_Private(mg, &op->i));
  PetscCall(PCCAMGFree_Private(mg, &op->j));
  PetscCall(PCCAMGFree_Private(mg, &op->base));
  PetscCall(PCCAMGFree_Private(mg, &op->code));
  PetscCall(PCCAMGFree_Private(mg, &op->d));
  PetscCall(PCCAMGFree_Private(mg, &op->minv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges of all levels; stale: only those that the last set-up has not made its own */
PetscErrorCode PCCAMGHalosFree_Private(PC_CAMG *mg, PetscBool stale)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < CAMG_LEVELS_MAX; k++) {
    for (int h = 0; h < 2; h++) {
      CAMGHalo *halo = &mg->level[k].halo[h];

      if (!stale || !halo->used) PetscCall(LitheHaloDestroy(&halo->halo));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All but what is kept for the next set-up, and exchanges, which may serve again */
PetscErrorCode PCCAMGLevelsFree_Private(PC_CAMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->n; k++) {
    CAMGLevel      *l    = &mg->level[k];
    const CAMGLevel last = *l;

    PetscCall(OperatorFree_Private(mg, &l->op));
    PetscCall(OperatorFree_Private(mg, &l->prolong));
    PetscCall(OperatorFree_Private(mg, &l->restrict_));
    PetscCall(PCCAMGFree_Private(mg, &l->b));
    for (int v = 0; v < 2; v++) PetscCall(PCCAMGFree_Private(mg, &l->x[v]));
    PetscCall(PetscMemzero(l, sizeof(*l)));
    for (int h = 0; h < 2; h++) l->halo[h].halo = last.halo[h].halo;
  }
  for (int side = 0; side < 2; side++) PetscCall(PCCAMGFree_Private(mg, &mg->units.outer[side]));
  PetscCall(PCCAMGFree_Private(mg, &mg->units.scale));
  PetscCall(PCCAMGFree_Private(mg, &mg->whole.part));
  PetscCall(LitheHaloDestroy(&mg->whole.gather.halo));
  mg->whole.first = 0;
  PetscCall(LitheMGForget(&mg->record));
  for (int v = 0; v < 2; v++) PetscCall(VecDestroy(&mg->work[v]));
  PetscCall(LitheMGCoarsestFree(&mg->coarsest));
  mg->n     = 0;
  mg->built = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_CAMG(PC pc)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCCAMGKeptFree_Private(mg));
  PetscCall(PCCAMGLevelsFree_Private(mg));
  PetscCall(PCCAMGHalosFree_Private(mg, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
