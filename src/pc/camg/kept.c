/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Transfers that stay for new values in the same pattern. The second set-up keeps its transfers, so that a matrix that
   is set up once needs no memory for them. Later ones form products only, until a solve takes many more iterations than
   the first one did: then transfers are made anew.
*/

#include "camgimpl.h"

#define KEPT_FACTOR 1.5 /* iterations, over those of the first solve, */
#define KEPT_MORE   3   /* and more: beyond this transfers are made anew */

PetscErrorCode PCCAMGTransfersFree_Private(const LitheMemoryOps *memory, CAMGTransfers *t)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixRelease_Private(memory, &t->P));
  PetscCall(PCCAMGMatrixRelease_Private(memory, &t->R));
  PetscCall(PetscFree(t->columns.id));
  PetscCall(PCCAMGGhostsFree_Private(&t->prolong));
  PetscCall(PCCAMGGhostsFree_Private(&t->rows));
  PetscCall(PCCAMGGhostsFree_Private(&t->coarse));
  if (t->map) PetscCall((*memory->free)((void **)&t->map));
  for (int k = 0; k < 2; k++) {
    if (t->product[k].i) PetscCall((*memory->free)((void **)&t->product[k].i));
  }
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGKeptFree_Private(PC_CAMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->kept.n; k++) PetscCall(PCCAMGTransfersFree_Private(mg->kept.memory, &mg->kept.level[k]));
  PetscCall(PCCAMGGhostsFree_Private(&mg->kept.finest));
  PetscCall(PetscMemzero(&mg->kept, sizeof(mg->kept)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What this set-up does with transfers, before the matrix is read */
PetscErrorCode PCCAMGKeptBegin_Private(PC pc)
{
  PC_CAMG  *mg = (PC_CAMG *)pc->data;
  PetscBool same;

  PetscFunctionBegin;
  /* a conversion of other types may leave out other zeros */
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)pc->pmat, &same, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ, MATVCRS,
                                          MATHYBMGPU, ""));
  same = (PetscBool)(same && mg->opt.reuse && mg->built && pc->flag == SAME_NONZERO_PATTERN);
  if (!same || mg->kept.stale) PetscCall(PCCAMGKeptFree_Private(mg));
  mg->kept.state = !same ? CAMG_KEPT_NOT : (mg->kept.n ? CAMG_KEPT_USE : CAMG_KEPT_FILL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same once the matrix is read: transfers are those of its kind. Collective: all processes decide alike */
PetscErrorCode PCCAMGKeptCheck_Private(PC pc, PetscInt columns)
{
  PC_CAMG  *mg   = (PC_CAMG *)pc->data;
  CAMGKept *kept = &mg->kept;

  PetscFunctionBegin;
  if (kept->state == CAMG_KEPT_USE && (kept->memory != mg->kernels->memory || kept->symmetric != mg->matrix.symmetric || kept->columns != columns)) {
    PetscCall(PCCAMGKeptFree_Private(mg));
    kept->state = CAMG_KEPT_FILL;
  }
  kept->memory    = mg->kernels->memory;
  kept->symmetric = mg->matrix.symmetric;
  kept->columns   = columns;
  if (kept->state == CAMG_KEPT_USE) PetscCall(PetscInfo(pc, "Transfers of an earlier set-up are used again\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ownership of the transfers of a level, which this set-up has made, goes to what is kept */
PetscErrorCode PCCAMGKeep_Private(PC_CAMG *mg, PetscInt level, CAMGTransfers *t)
{
  PetscFunctionBegin;
  if (mg->kept.state == CAMG_KEPT_FILL) {
    mg->kept.level[level] = *t;
    mg->kept.n            = level + 1;
    PetscCall(PetscMemzero(t, sizeof(*t)));
  } else if (mg->kept.state == CAMG_KEPT_NOT) PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a solve */
PetscErrorCode PCCAMGKeptJudge_Private(PC pc, PetscInt its)
{
  CAMGKept *kept = &((PC_CAMG *)pc->data)->kept;

  PetscFunctionBegin;
  if (!kept->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (!kept->its) kept->its = its;
  kept->stale = (PetscBool)(its > KEPT_FACTOR * kept->its + KEPT_MORE);
  if (kept->stale) PetscCall(PetscInfo(pc, "%" PetscInt_FMT " iterations, %" PetscInt_FMT " at first: the next set-up makes transfers anew\n", its, kept->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}
