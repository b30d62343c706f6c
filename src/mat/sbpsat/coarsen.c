/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATSBPSAT on coarser grids. When PETSc coarsens the DMDA of a matrix (as PCMG does), the matrix passes its settings
   down: the order, the faces, and the values of the coefficient at the remaining nodes. Matrices of the coarser DMDA
   adopt the settings.

   Matrices reference their DMDA, and the DMDA only has pointers to its matrices. A coarser DMDA has separate settings.
   If several matrices exist, the last matrix counts. Duplicates have the lowest rank: a program sets up the matrix that
   the program made.
*/

#include "sbpsatimpl.h"
#include <lithe/private/petsccompat.h>

static const char SBPMatrixOf[] = "MatSBPSAT_matrix", SBPSettingsFromFiner[] = "MatSBPSAT_finer";

static PetscErrorCode SBPSettingsDestroy_Private(PetscCtxRt ctx)
{
  SBPSettings *s = *(SBPSettings **)ctx;

  PetscFunctionBegin;
  PetscCall(SBPSettingsClear_Private(s));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMSetPointer_Private(DM da, const char *name, void *pointer, PetscCtxDestroyFn *destroy)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)da), &container));
  PetscCall(PetscContainerSetPointer(container, pointer));
  if (destroy) PetscCall(PetscContainerSetCtxDestroy(container, destroy));
  PetscCall(PetscObjectCompose((PetscObject)da, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: none */
static PetscErrorCode DMGetPointer_Private(DM da, const char *name, void *pointer)
{
  PetscContainer container;

  PetscFunctionBegin;
  *(void **)pointer = NULL;
  PetscCall(PetscObjectQuery((PetscObject)da, name, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, pointer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPSettingsInject_Private(Mat inject, DM coarse, Vec *v)
{
  Vec small;

  PetscFunctionBegin;
  if (!*v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreateGlobalVector(coarse, &small));
  PetscCall(VecSetDM(small, NULL)); /* otherwise vector and DM would keep references to each other */
  PetscCall(MatRestrict(inject, *v, small));
  PetscCall(VecDestroy(v));
  *v = small;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCoarsenHook_SBPSAT(DM fine, DM coarse, PETSC_UNUSED PetscCtx ctx)
{
  Mat          A, inject;
  SBPSettings *settings, *small;

  PetscFunctionBegin;
  PetscCall(DMGetPointer_Private(fine, SBPMatrixOf, &A));
  if (A) settings = &((Mat_SBPSAT *)A->data)->settings;
  else PetscCall(DMGetPointer_Private(fine, SBPSettingsFromFiner, &settings));
  if (!settings) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&small));
  PetscCall(SBPSettingsCopy_Private(settings, small));
  PetscCall(DMSetPointer_Private(coarse, SBPSettingsFromFiner, small, SBPSettingsDestroy_Private));
  if (small->mu || small->tensor[0]) {
    PetscCall(DMCreateInjection(coarse, fine, &inject));
    PetscCall(SBPSettingsInject_Private(inject, coarse, &small->mu));
    for (int k = 0; k < 3; k++) PetscCall(SBPSettingsInject_Private(inject, coarse, &small->tensor[k]));
    PetscCall(SBPSettingsInject_Private(inject, coarse, &small->jacobian));
    PetscCall(MatDestroy(&inject));
  }
  /* and pass on to the next coarser DM */
  PetscCall(DMCoarsenHookAdd(coarse, DMCoarsenHook_SBPSAT, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Gives coarser grids of da the settings of the matrix at the time of the coarsening. If da has several matrices, the
   last one counts
*/
PetscErrorCode MatSBPSATPublish_Private(Mat A, DM da)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;
  Mat         first;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)da));
  ctx->family.published = da;
  PetscCall(DMGetPointer_Private(da, SBPMatrixOf, &first));
  if (first && ctx->family.duplicate) {
    while (((Mat_SBPSAT *)first->data)->family.next) first = ((Mat_SBPSAT *)first->data)->family.next;
    ((Mat_SBPSAT *)first->data)->family.next = A;
  } else {
    ctx->family.next = first;
    PetscCall(DMSetPointer_Private(da, SBPMatrixOf, A, NULL));
  }
  PetscCall(DMCoarsenHookAdd(da, DMCoarsenHook_SBPSAT, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix is a duplicate: a matrix that exists comes first */
void MatSBPSATMarkDuplicate_Private(Mat A)
{
  ((Mat_SBPSAT *)A->data)->family.duplicate = PETSC_TRUE;
}

PetscErrorCode MatSBPSATWithdraw_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;
  Mat         at;

  PetscFunctionBegin;
  if (!ctx->family.published) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetPointer_Private(ctx->family.published, SBPMatrixOf, &at));
  if (at == A) {
    if (ctx->family.next) PetscCall(DMSetPointer_Private(ctx->family.published, SBPMatrixOf, ctx->family.next, NULL));
    else PetscCall(PetscObjectCompose((PetscObject)ctx->family.published, SBPMatrixOf, NULL));
  } else {
    while (at && ((Mat_SBPSAT *)at->data)->family.next != A) at = ((Mat_SBPSAT *)at->data)->family.next;
    if (at) ((Mat_SBPSAT *)at->data)->family.next = ctx->family.next;
  }
  ctx->family.next = NULL;
  PetscCall(DMDestroy(&ctx->family.published));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adopts the settings of the matrix of a finer grid, if da was coarsened */
PetscErrorCode MatSBPSATAdopt_Private(Mat A, DM da)
{
  Mat_SBPSAT  *ctx = (Mat_SBPSAT *)A->data;
  SBPSettings *settings;

  PetscFunctionBegin;
  PetscCall(DMGetPointer_Private(da, SBPSettingsFromFiner, &settings));
  if (settings) PetscCall(SBPSettingsCopy_Private(settings, &ctx->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}
