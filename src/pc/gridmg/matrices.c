/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The levels of a PCGRIDMG as matrices and as arrays, for tests and for inspection */

#include <lithe/private/gridmg/parts.h>

static PetscErrorCode CheckLevels_Private(PC pc)
{
  const PC_GridMG *mg = (const PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!PCGridMGIsParallel(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "Levels of a PCGRIDMG are matrices on one process only");
  PetscCheck(mg->state.built && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Call PCSetUp() first");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetOperator_Private(PC pc, PetscInt level, Mat *A)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(CheckLevels_Private(pc));
  PetscCheck(level >= 0 && level < mg->state.n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Level %" PetscInt_FMT " is not one of %" PetscInt_FMT, level, mg->state.n);
  PetscCall((*mg->choice.method->getoperator)(mg, level, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetArray_Private(PC pc, PetscInt level, const char name[], size_t *bytes, void **array)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(mg->state.built && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Call PCSetUp() first");
  PetscCheck(level >= 0 && level < mg->state.n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Level %" PetscInt_FMT " is not one of %" PetscInt_FMT, level, mg->state.n);
  PetscCheck(mg->choice.method->getarray, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "Levels of this interpolation have no such arrays");
  PetscCall((*mg->choice.method->getarray)(mg, level, name, bytes, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For PCGetCoarseOperators() and PCGetInterpolations(): the coarsest level first, without the finest level */
static PetscErrorCode PCGetCoarseOperators_GridMG(PC pc, PetscInt *levels, Mat *operators[])
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(CheckLevels_Private(pc));
  *levels = mg->state.n;
  PetscCall(PetscMalloc1(mg->state.n, operators));
  for (PetscInt k = 1; k < mg->state.n; k++) PetscCall(PCGridMGGetOperator_Private(pc, k, &(*operators)[mg->state.n - 1 - k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGetInterpolations_GridMG(PC pc, PetscInt *levels, Mat *interpolations[])
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(CheckLevels_Private(pc));
  *levels = mg->state.n;
  PetscCall(PetscMalloc1(mg->state.n, interpolations));
  for (PetscInt k = 0; k < mg->state.n - 1; k++) {
    Mat *P = &(*interpolations)[mg->state.n - 2 - k];

    PetscCall((*mg->choice.method->getinterpolation)(mg, k, P));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGComposeMatrices_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGetCoarseOperators_C", yes ? PCGetCoarseOperators_GridMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGetInterpolations_C", yes ? PCGetInterpolations_GridMG : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
