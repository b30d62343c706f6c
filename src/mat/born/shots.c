/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The survey of a MATBORN: velocity, wavelet, shots, and the rows of shots */

#include "bornimpl.h"

/*@
  MatBornSetVelocity - Sets the velocity of the background of a `MATBORN`

  Logically Collective

  Input Parameters:
+ J - the matrix
- v - a vector of its `DMDA`, positive, in units of length by units of time

  Level: beginner

  Note:
  The vector is not copied. It is read when the matrix is used, and again after a change.

.seealso: `MATBORN`, `MatBornSetTime()`
@*/
PetscErrorCode MatBornSetVelocity(Mat J, Vec v)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidHeaderSpecific(v, VEC_CLASSID, 2);
  PetscCheckSameComm(J, 1, v, 2);
  PetscCall(PetscObjectReference((PetscObject)v));
  PetscCall(VecDestroy(&ctx->survey.velocity));
  ctx->survey.velocity = v;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetWavelet - Sets the wavelet that the sources of a `MATBORN` emit

  Collective

  Input Parameters:
+ J - the matrix
. n - how many samples
- w - the samples at the times 0, dt, 2 dt, ..., copied; 0 follows

  Level: beginner

  Note:
  The wave equation is u_tt / v^2 - div grad u = w(t) delta(x - source).

.seealso: `MATBORN`, `MatBornSetTime()`
@*/
PetscErrorCode MatBornSetWavelet(Mat J, PetscInt n, const PetscReal w[])
{
  Mat_Born  *ctx   = NULL;
  PetscInt   wrong = PETSC_INT_MAX;
  PetscReal *copy;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveInt(J, n, 2);
  PetscCheck(n > 0, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE, "A wavelet of %" PetscInt_FMT " samples; at least one is needed", n);
  PetscAssertPointer(w, 3);
  for (PetscInt k = n - 1; k >= 0; k--) {
    if (PetscIsInfOrNanReal(w[k])) wrong = k;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)J)));
  PetscCheck(wrong == PETSC_INT_MAX, PetscObjectComm((PetscObject)J), PETSC_ERR_FP, "Sample %" PetscInt_FMT " of the wavelet is infinite or not a number",
             wrong);
  PetscCall(PetscMalloc1(n, &copy));
  PetscCall(PetscArraycpy(copy, w, n));
  PetscCall(PetscFree(ctx->survey.wavelet));
  ctx->survey.wavelet  = copy;
  ctx->survey.nwavelet = n;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornAddShot - Adds a shot to a `MATBORN`: a source, and the receivers that record its waves

  Collective

  Input Parameters:
+ J          - the matrix
. source     - its coordinates, as many numbers as the `DMDA` has dimensions
. nreceivers - number of receivers
- receivers  - coordinates of the receivers, one receiver after the other

  Level: beginner

  Notes:
  The rows of the matrix are the data of the shots in the order in which they are added. The rows of a shot are the
  traces of its receivers, one after the other, each with the samples of `MatBornSetTime()`.

  Places are copied. Each process passes the same source and all receivers. Points outside of the grid are an error when
  the matrix is used. It is called before `MatSetUp()`.

.seealso: `MATBORN`, `MatBornSetTime()`, `MatBornSetInterpolation()`, `MatBornSetSpacing()`
@*/
PetscErrorCode MatBornAddShot(Mat J, const PetscReal source[], PetscInt nreceivers, const PetscReal receivers[])
{
  Mat_Born *ctx = NULL;
  BornShot *shot;
  DM        da;
  PetscInt  dim, numbers, range[2] = {nreceivers, -nreceivers};
  MPI_Comm  comm = PetscObjectComm((PetscObject)J);

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(source, 2);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, range, 2, MPIU_INT, MPI_MIN, comm));
  PetscCheck(range[0] == -range[1], comm, PETSC_ERR_ARG_INCOMP,
             "Shot %" PetscInt_FMT " has %" PetscInt_FMT " receivers on one process and %" PetscInt_FMT " on another; each process passes all receivers",
             ctx->survey.nshots, range[0], -range[1]);
  PetscCheck(nreceivers > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "A shot with %" PetscInt_FMT " receivers; at least one is needed", nreceivers);
  PetscAssertPointer(receivers, 4);
  PetscCall(MatBornCheckNotSetUp_Private(J, "MatBornAddShot()"));
  PetscCall(MatBornGetDM_Private(J, &da, &dim));
  PetscCall(PetscIntMultError(dim, nreceivers, &numbers));
  if (ctx->survey.nshots == ctx->survey.maxshots) {
    BornShot *more;

    PetscCall(PetscCalloc1(2 * ctx->survey.maxshots + 1, &more));
    PetscCall(PetscArraycpy(more, ctx->survey.shots, ctx->survey.nshots));
    PetscCall(PetscFree(ctx->survey.shots));
    ctx->survey.shots    = more;
    ctx->survey.maxshots = 2 * ctx->survey.maxshots + 1;
  }
  shot = &ctx->survey.shots[ctx->survey.nshots];
  PetscCall(PetscMalloc1(numbers, &shot->receivers));
  PetscCall(PetscArraycpy(shot->receivers, receivers, numbers));
  for (PetscInt d = 0; d < dim; d++) shot->place[d] = source[d];
  shot->nreceivers = nreceivers;
  ctx->survey.nshots++;
  PetscCall(PetscObjectStateIncrease((PetscObject)J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  if (source) *source = ctx->survey.shots[shot].place;
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

/* ------------------------------------------------------------ all of it */

/* The rows of this process. The rows of a shot belong to one process */
PetscErrorCode MatBornCountRows_Private(Mat A, PetscInt *rows)
{
  Mat_Born   *ctx    = (Mat_Born *)A->data;
  BornSurvey *survey = &ctx->survey;
  PetscInt    all    = 0, more;
  PetscMPIInt size, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  *rows = 0;
  for (PetscInt s = 0; s < survey->nshots; s++) {
    BornShot      *shot = &survey->shots[s];
    const PetscInt last = s ? shot[-1].offset + shot[-1].nreceivers * ctx->time.samples : 0;

    shot->owner  = (PetscMPIInt)((PetscInt64)s * size / survey->nshots);
    shot->offset = s && shot[-1].owner == shot->owner ? last : 0;
    PetscCall(PetscIntMultError(shot->nreceivers, ctx->time.samples, &more));
    PetscCall(PetscIntSumError(all, more, &all));
    if (shot->owner == rank) *rows += more;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To a matrix without shots. With values the velocity is copied, too */
PetscErrorCode MatBornCopySurvey_Private(Mat A, Mat B, PetscInt dim, PetscBool values)
{
  const BornSurvey *from = &((Mat_Born *)A->data)->survey;
  BornSurvey       *to   = &((Mat_Born *)B->data)->survey;

  PetscFunctionBegin;
  if (from->wavelet) {
    PetscCall(PetscMalloc1(from->nwavelet, &to->wavelet));
    PetscCall(PetscArraycpy(to->wavelet, from->wavelet, from->nwavelet));
  }
  to->nwavelet = from->nwavelet;
  to->nshots   = from->nshots;
  to->maxshots = from->nshots;
  PetscCall(PetscCalloc1(from->nshots, &to->shots));
  for (PetscInt s = 0; s < from->nshots; s++) {
    BornShot      *shot = &to->shots[s];
    const PetscInt n    = dim * from->shots[s].nreceivers;

    shot->nreceivers = from->shots[s].nreceivers;
    PetscCall(PetscArraycpy(shot->place, from->shots[s].place, 3));
    PetscCall(PetscMalloc1(n, &shot->receivers));
    PetscCall(PetscArraycpy(shot->receivers, from->shots[s].receivers, n));
  }
  if (from->velocity && values) {
    PetscCall(VecDuplicate(from->velocity, &to->velocity));
    PetscCall(VecCopy(from->velocity, to->velocity));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBornDestroySurvey_Private(Mat A)
{
  BornSurvey *survey = &((Mat_Born *)A->data)->survey;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < survey->nshots; s++) PetscCall(PetscFree(survey->shots[s].receivers));
  PetscCall(PetscFree(survey->shots));
  PetscCall(PetscFree(survey->wavelet));
  PetscCall(VecDestroy(&survey->velocity));
  PetscFunctionReturn(PETSC_SUCCESS);
}
