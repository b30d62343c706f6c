/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The shots of a MATBORN, and their rows */

#include "bornimpl.h"

/*@
  MatBornGetShot - Gets a shot of a `MATBORN`

  Not Collective

  Input Parameters:
+ J    - the matrix
- shot - which one, from 0 on

  Output Parameters:
+ source     - coordinates of its source, or NULL
. nreceivers - number of receivers, or NULL
- receivers  - coordinates of the receivers, one receiver after the other; or NULL

  Level: beginner

  Note:
  Arrays belong to the matrix.

.seealso: `MATBORN`, `MatBornAddShot()`
@*/
PetscErrorCode MatBornGetShot(Mat J, PetscInt shot, const PetscReal *source[], PetscInt *nreceivers, const PetscReal *receivers[])
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscCheck(shot >= 0 && shot < ctx->survey.nshots, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no shot %" PetscInt_FMT ", the matrix has %" PetscInt_FMT, shot, ctx->survey.nshots);
  if (source) *source = ctx->survey.shots[shot].source;
  if (nreceivers) *nreceivers = ctx->survey.shots[shot].nreceivers;
  if (receivers) *receivers = ctx->survey.shots[shot].receivers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetShotRows - Gets which rows of a `MATBORN` are the data of a shot

  Not Collective

  Input Parameters:
+ J    - the matrix
- shot - which one, from 0 on

  Output Parameters:
+ first - the first row, or NULL
- n     - number of rows: receivers times samples; or NULL

  Level: beginner

  Note:
  The rows of a shot belong to one process, and are counted in `MatSetUp()`. Row first + r m + k is sample k of receiver
  r, with m samples per receiver.

.seealso: `MATBORN`, `MatBornGetShot()`, `MatBornAddShot()`, `MatBornSetTime()`
@*/
PetscErrorCode MatBornGetShotRows(Mat J, PetscInt shot, PetscInt *first, PetscInt *n)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscCheck(shot >= 0 && shot < ctx->survey.nshots, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There is no shot %" PetscInt_FMT ", the matrix has %" PetscInt_FMT, shot, ctx->survey.nshots);
  PetscCheck(J->preallocated, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The rows of shots are not counted yet; use MatSetUp() or MatCreateVecs() before");
  if (first) *first = J->rmap->range[ctx->survey.shots[shot].owner] + ctx->survey.shots[shot].offset;
  if (n) *n = ctx->survey.shots[shot].nreceivers * ctx->time.samples;
  PetscFunctionReturn(PETSC_SUCCESS);
}
