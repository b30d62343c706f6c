/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Getters of the settings of a MATBORN */

#include "bornimpl.h"

/* ------------------------------------------------------------ how waves are computed */

/*@
  MatBornGetOrder - Gets the order in space of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. order - 2, 4, 8 or 12

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetOrder()`
@*/
PetscErrorCode MatBornGetOrder(Mat J, PetscInt *order)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(order, 2);
  *order = ctx->order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetParameter - Gets the parameter whose changes are the columns of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. parameter - the parameter

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetParameter()`
@*/
PetscErrorCode MatBornGetParameter(Mat J, MatBornParameter *parameter)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(parameter, 2);
  *parameter = ctx->parameter;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetSponge - Gets how a `MATBORN` absorbs waves at the faces of its grid

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameters:
+ width   - nodes of the sponge at each face, or NULL
- damping - s at the faces, `PETSC_DETERMINE` where it suits the width; or NULL

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetSponge()`
@*/
PetscErrorCode MatBornGetSponge(Mat J, PetscInt *width, PetscReal *damping)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  if (width) *width = ctx->width;
  if (damping) *damping = ctx->damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetFreeSurface - Gets whether u = 0 in the first plane of the last dimension of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. surface - whether there is a free surface

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetFreeSurface()`
@*/
PetscErrorCode MatBornGetFreeSurface(Mat J, PetscBool *surface)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(surface, 2);
  *surface = ctx->surface;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetInterpolation - Gets where sources and receivers of a `MATBORN` may be

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. interpolation - the interpolation

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetInterpolation()`
@*/
PetscErrorCode MatBornGetInterpolation(Mat J, MatBornInterpolation *interpolation)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(interpolation, 2);
  *interpolation = ctx->interpolation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetCheckpoints - Gets how many states of the background a `MATBORN` keeps

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. checkpoints - how many, or `PETSC_DECIDE`

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetCheckpoints()`
@*/
PetscErrorCode MatBornGetCheckpoints(Mat J, PetscInt *checkpoints)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(checkpoints, 2);
  *checkpoints = ctx->checkpoints;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetField - Gets the numbers of the wavefields of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. field - the numbers

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetField()`
@*/
PetscErrorCode MatBornGetField(Mat J, MatBornField *field)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(field, 2);
  *field = ctx->field;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetBackground - Gets where `MatMultTranspose()` of a `MATBORN` has the background wavefield from

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. background - the way

  Level: intermediate

  Note:
  After the first use of the matrix, `MATBORN_BACKGROUND_AUTO` is replaced by the chosen background.

.seealso: `MATBORN`, `MatBornSetBackground()`
@*/
PetscErrorCode MatBornGetBackground(Mat J, MatBornBackground *background)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(background, 2);
  *background = ctx->built ? ctx->chosen : ctx->wanted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetBackgroundBits - Gets the bits per node of the stored background

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. bits - 32, 16 or 8

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetBackgroundBits()`
@*/
PetscErrorCode MatBornGetBackgroundBits(Mat J, PetscInt *bits)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(bits, 2);
  *bits = ctx->bits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetInterval - Gets which steps of a `MATBORN` scatter and make images

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. interval - number of steps

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetInterval()`
@*/
PetscErrorCode MatBornGetInterval(Mat J, PetscInt *interval)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(interval, 2);
  *interval = ctx->interval;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetLowpass - Gets the frequency of the low-pass of the traces of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. frequency - up to this frequency traces stay; 0: there is no low-pass

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetLowpass()`
@*/
PetscErrorCode MatBornGetLowpass(Mat J, PetscReal *frequency)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(frequency, 2);
  *frequency = ctx->lowpass;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetVelocityBits - Gets the bits per node of the velocity that steps of a `MATBORN` read

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. bits - 32 or 16

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetVelocityBits()`
@*/
PetscErrorCode MatBornGetVelocityBits(Mat J, PetscInt *bits)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(bits, 2);
  *bits = ctx->velocitybits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetSeed - Gets the seed of the random velocities of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. seed - the seed

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetSeed()`
@*/
PetscErrorCode MatBornGetSeed(Mat J, PetscInt *seed)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(seed, 2);
  *seed = ctx->seed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the experiment */

/*@
  MatBornGetVelocity - Gets the velocity of the background of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. v - the vector of the last set call, or NULL; do not destroy it

  Level: beginner

.seealso: `MATBORN`, `MatBornSetVelocity()`
@*/
PetscErrorCode MatBornGetVelocity(Mat J, Vec *v)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(v, 2);
  *v = ctx->velocity;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetTime - Gets the steps of time of a `MATBORN`, and which of them are data

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameters:
+ dt    - the length of a step, or NULL
. steps - number of steps per shot, or NULL
- every - steps per sample of a receiver; or NULL

  Level: beginner

.seealso: `MATBORN`, `MatBornSetTime()`
@*/
PetscErrorCode MatBornGetTime(Mat J, PetscReal *dt, PetscInt *steps, PetscInt *every)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  if (dt) *dt = ctx->dt;
  if (steps) *steps = ctx->steps;
  if (every) *every = ctx->every;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetWavelet - Gets the wavelet that the sources of a `MATBORN` emit

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameters:
+ n - how many samples, or NULL
- w - the samples, which are not to be freed; or NULL

  Level: beginner

.seealso: `MATBORN`, `MatBornSetWavelet()`
@*/
PetscErrorCode MatBornGetWavelet(Mat J, PetscInt *n, const PetscReal *w[])
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  if (n) *n = ctx->nwavelet;
  if (w) *w = ctx->wavelet;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetSpacing - Gets the distances of the nodes of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. h - as many numbers as the `DMDA` has dimensions; zeros before the matrix is used where they come from coordinates

  Level: beginner

.seealso: `MATBORN`, `MatBornSetSpacing()`
@*/
PetscErrorCode MatBornGetSpacing(Mat J, PetscReal h[])
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  {
    DM       da;
    PetscInt dim;

    PetscAssertPointer(h, 2);
    PetscCall(MatBornGetDM_Private(J, &da, &dim));
    for (PetscInt d = 0; d < dim; d++) h[d] = ctx->built ? ctx->h[d] : ctx->spacing[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetShots - Gets how many shots a `MATBORN` has

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. n - how many

  Level: beginner

.seealso: `MATBORN`, `MatBornAddShot()`
@*/
PetscErrorCode MatBornGetShots(Mat J, PetscInt *n)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(n, 2);
  *n = ctx->nshots;
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
  PetscCheck(shot >= 0 && shot < ctx->nshots, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "There is no shot %" PetscInt_FMT ", the matrix has %" PetscInt_FMT,
             shot, ctx->nshots);
  if (source) *source = ctx->shots[shot].source;
  if (nreceivers) *nreceivers = ctx->shots[shot].nreceivers;
  if (receivers) *receivers = ctx->shots[shot].receivers;
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
  PetscCheck(shot >= 0 && shot < ctx->nshots, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "There is no shot %" PetscInt_FMT ", the matrix has %" PetscInt_FMT,
             shot, ctx->nshots);
  PetscCheck(J->preallocated, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The rows of shots are not counted yet; use MatSetUp() or MatCreateVecs() before");
  if (first) *first = J->rmap->range[ctx->shots[shot].owner] + ctx->shots[shot].offset;
  if (n) *n = ctx->shots[shot].nreceivers * ctx->samples;
  PetscFunctionReturn(PETSC_SUCCESS);
}
