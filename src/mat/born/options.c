/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The settings of MATBORN: options database and setters. Tuning is by options alone */

#include "bornimpl.h"

const char *const MatBornParameters[]     = {"reflectivity", "slowness2", "velocity", "MatBornParameter", "MATBORN_PARAMETER_", NULL};
const char *const MatBornInterpolations[] = {"none", "sinc", "MatBornInterpolation", "MATBORN_INTERPOLATION_", NULL};

const char *const MatBornFields[]      = {"float", "double", "MatBornField", "MATBORN_FIELD_", NULL};
const char *const MatBornBackgrounds[] = {"auto", "keep", "ring", "random", "checkpoint", "MatBornBackground", "MATBORN_BACKGROUND_", NULL};

void MatBornDefaultOptions_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  ctx->discretization.order         = 8;
  ctx->discretization.width         = 20;
  ctx->discretization.damping       = (PetscReal)PETSC_DETERMINE;
  ctx->discretization.parameter     = MATBORN_PARAMETER_REFLECTIVITY;
  ctx->discretization.interpolation = MATBORN_INTERPOLATION_SINC;
  ctx->tuning.field                 = MATBORN_FIELD_FLOAT;
  ctx->tuning.background            = MATBORN_BACKGROUND_AUTO;
  ctx->tuning.bits                  = 16;
  ctx->tuning.interval              = 1;
  ctx->tuning.velocitybits          = 32;
  ctx->tuning.checkpoints           = PETSC_DECIDE;
  ctx->tuning.batch                 = PETSC_DECIDE;
  ctx->tuning.farming.size          = 1;
}

/* To a matrix that has made nothing of its settings yet */
void MatBornCopyOptions_Private(Mat A, Mat B)
{
  const Mat_Born *from = (Mat_Born *)A->data;
  Mat_Born       *to   = (Mat_Born *)B->data;

  to->time           = from->time;
  to->discretization = from->discretization;
  to->tuning         = from->tuning;
}

/* Another farm where something is new */
static PetscErrorCode MatBornSetFarming_Private(Mat A, const LitheFarmOptions *farming)
{
  Mat_Born   *ctx = (Mat_Born *)A->data;
  PetscBool   same;
  PetscMPIInt all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &all));
  PetscCheck(farming->size >= 1 && farming->size <= all, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_group_size %" PetscInt_FMT ": a group has 1 process at least, and at most all, %d", farming->size, all);
  PetscCall(PetscMemcmp(farming, &ctx->tuning.farming, sizeof(*farming), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornChanged_Private(A));
  PetscCall(BornParallelDestroy_Private(&ctx->parallel));
  ctx->tuning.farming = *farming;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What options alone set */
static PetscErrorCode MatBornTune_Private(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_Born        *ctx         = (Mat_Born *)A->data;
  MPI_Comm         comm        = PetscObjectComm((PetscObject)A);
  PetscInt         checkpoints = ctx->tuning.checkpoints, bits = ctx->tuning.bits, interval = ctx->tuning.interval, velocitybits = ctx->tuning.velocitybits;
  PetscInt         seed = ctx->tuning.seed, batch = ctx->tuning.batch;
  PetscEnum        field = (PetscEnum)ctx->tuning.field, transport = (PetscEnum)ctx->tuning.transport;
  LitheFarmOptions farming = ctx->tuning.farming;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInt("-mat_born_checkpoints", "Number of states that the background checkpoint stores", NULL, checkpoints, &checkpoints, NULL));
  PetscCall(PetscOptionsEnum("-mat_born_field", "Precision of wavefields", NULL, MatBornFields, field, &field, NULL));
  PetscCall(PetscOptionsInt("-mat_born_background_bits", "Bits of a number that the background keep stores: 32, 16 or 8", NULL, bits, &bits, NULL));
  PetscCall(PetscOptionsInt("-mat_born_interval", "Each so many steps scatter and image", NULL, interval, &interval, NULL));
  PetscCall(PetscOptionsInt("-mat_born_velocity_bits", "Bits of a velocity: 32 or 16", NULL, velocitybits, &velocitybits, NULL));
  PetscCall(PetscOptionsInt("-mat_born_seed", "Seed of the velocities of the background random", NULL, seed, &seed, NULL));
  PetscCall(PetscOptionsEnum("-mat_born_transport", "How slabs on devices exchange planes", NULL, LitheTransports, transport, &transport, NULL));
  PetscCall(PetscOptionsInt("-mat_born_batch", "Shots in two dimensions that are computed together, at most", NULL, batch, &batch, NULL));
  PetscCall(LitheFarmOptionsRead(PetscOptionsObject, "-mat_born_", &farming));
  PetscOptionsHeadEnd();

  PetscCheck(checkpoints == PETSC_DECIDE || checkpoints >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_checkpoints %" PetscInt_FMT ": at least one state is kept, that at the start", checkpoints);
  PetscCheck(bits == 32 || bits == 16 || bits == 8, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_born_background_bits %" PetscInt_FMT "; use 32, 16 or 8", bits);
  PetscCheck(interval >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_born_interval %" PetscInt_FMT " must be 1 or more", interval);
  PetscCheck(velocitybits == 32 || velocitybits == 16, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_born_velocity_bits %" PetscInt_FMT "; use 32 or 16", velocitybits);
  PetscCheck(batch >= 1 || batch == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_born_batch %" PetscInt_FMT ": at least 1 shot, or %d for the default",
             batch, PETSC_DECIDE);
  PetscCall(MatBornSetFarming_Private(A, &farming));
  if (checkpoints == ctx->tuning.checkpoints && bits == ctx->tuning.bits && interval == ctx->tuning.interval && velocitybits == ctx->tuning.velocitybits &&
      seed == ctx->tuning.seed && batch == ctx->tuning.batch && (MatBornField)field == ctx->tuning.field && (LitheTransport)transport == ctx->tuning.transport)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornChanged_Private(A));
  ctx->tuning.checkpoints  = checkpoints;
  ctx->tuning.bits         = bits;
  ctx->tuning.interval     = interval;
  ctx->tuning.velocitybits = velocitybits;
  ctx->tuning.seed         = seed;
  ctx->tuning.batch        = batch;
  ctx->tuning.field        = (MatBornField)field;
  ctx->tuning.transport    = (LitheTransport)transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_Born(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_Born *ctx   = (Mat_Born *)A->data;
  PetscInt  order = ctx->discretization.order, width = ctx->discretization.width;
  PetscReal damping = ctx->discretization.damping, lowpass = ctx->time.lowpass;
  PetscBool surface   = ctx->discretization.surface, setwidth, setdamping;
  PetscEnum parameter = (PetscEnum)ctx->discretization.parameter, interpolation = (PetscEnum)ctx->discretization.interpolation,
            background = (PetscEnum)ctx->tuning.background;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Born modelling (born)");
  PetscCall(PetscOptionsInt("-mat_born_order", "Order in space: 2, 4, 8 or 12", "MatBornSetOrder", order, &order, NULL));
  PetscCall(PetscOptionsEnum("-mat_born_parameter", "What a column is a change of", "MatBornSetParameter", MatBornParameters, parameter, &parameter, NULL));
  PetscCall(PetscOptionsInt("-mat_born_width", "Nodes of the sponge at each face, a part of the grid", "MatBornSetSponge", width, &width, &setwidth));
  PetscCall(PetscOptionsReal("-mat_born_damping", "Damping of the sponge at the faces", "MatBornSetSponge", damping, &damping, &setdamping));
  PetscCall(
    PetscOptionsBool("-mat_born_free_surface", "Whether the first face of the last dimension is free", "MatBornSetFreeSurface", surface, &surface, NULL));
  PetscCall(PetscOptionsEnum("-mat_born_interpolation", "Whether sources and receivers may be between nodes", "MatBornSetInterpolation", MatBornInterpolations,
                             interpolation, &interpolation, NULL));
  PetscCall(PetscOptionsEnum("-mat_born_background", "How the transpose gets the background backwards in time", "MatBornSetBackground", MatBornBackgrounds,
                             background, &background, NULL));
  PetscCall(
    PetscOptionsReal("-mat_born_lowpass", "Low-pass of the traces: the highest frequency that stays, or 0", "MatBornSetLowpass", lowpass, &lowpass, NULL));
  PetscCall(MatBornTune_Private(A, PetscOptionsObject));
  PetscOptionsHeadEnd();

  if (order != ctx->discretization.order) PetscCall(MatBornSetOrder(A, order));
  if (setwidth || setdamping) PetscCall(MatBornSetSponge(A, width, damping));
  PetscCall(MatBornSetParameter(A, (MatBornParameter)parameter));
  PetscCall(MatBornSetInterpolation(A, (MatBornInterpolation)interpolation));
  PetscCall(MatBornSetFreeSurface(A, surface));
  PetscCall(MatBornSetBackground(A, (MatBornBackground)background));
  PetscCall(MatBornSetLowpass(A, lowpass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ how waves are computed */

/*@
  MatBornSetOrder - Sets the order in space of a `MATBORN`

  Logically Collective

  Input Parameters:
+ J     - the matrix
- order - 2, 4, 8 (the default) or 12

  Options Database Key:
. -mat_born_order <2,4,8,12> - the order

  Level: beginner

  Note:
  The order in time is 2. The largest time step is less for higher orders, see `MatBornSetTime()`.

.seealso: `MATBORN`
@*/
PetscErrorCode MatBornSetOrder(Mat J, PetscInt order)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveInt(J, order, 2);
  PetscCheck(order == 2 || order == 4 || order == 8 || order == 12, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_order %" PetscInt_FMT ": the stencil is there for the orders 2, 4, 8 and 12", order);
  if (order == ctx->discretization.order) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->discretization.order = order;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetParameter - Sets the parameter whose changes are the columns of a `MATBORN`

  Logically Collective

  Input Parameters:
+ J         - the matrix
- parameter - in which parameter a change of the velocity is given, `MATBORN_PARAMETER_REFLECTIVITY` by default

  Options Database Key:
. -mat_born_parameter <reflectivity,slowness2,velocity> - the parameter

  Level: intermediate

.seealso: `MATBORN`, `MatBornParameter`
@*/
PetscErrorCode MatBornSetParameter(Mat J, MatBornParameter parameter)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveEnum(J, parameter, 2);
  if (parameter == ctx->discretization.parameter) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->discretization.parameter = parameter;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetSponge - Sets how a `MATBORN` absorbs waves at the faces of its grid

  Logically Collective

  Input Parameters:
+ J       - the matrix
. width   - nodes of the sponge at each face, less than half of the grid; 20 by default, 0 for faces that reflect
- damping - s at the faces, not negative; `PETSC_DETERMINE` for the value that suits the width

  Options Database Keys:
+ -mat_born_width <nodes> - the width
- -mat_born_damping <s>   - the damping

  Level: intermediate

  Notes:
  The sponge is a part of the grid: its nodes are nodes of the `DMDA`. s grows with the square of the depth. s does not
  depend on the velocity, so `MatMult()` is the derivative of `MatBornModel()`.

  The damping by default suits time steps near the limit. For smaller steps it may be scaled down.

.seealso: `MATBORN`, `MatBornSetFreeSurface()`
@*/
PetscErrorCode MatBornSetSponge(Mat J, PetscInt width, PetscReal damping)
{
  Mat_Born *ctx  = NULL;
  MPI_Comm  comm = PetscObjectComm((PetscObject)J);

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveInt(J, width, 2);
  PetscValidLogicalCollectiveReal(J, damping, 3);
  PetscCheck(width >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_born_width %" PetscInt_FMT ": a sponge has 0 nodes or more", width);
  PetscCheck(damping == (PetscReal)PETSC_DETERMINE || (damping >= 0 && !PetscIsInfOrNanReal(damping)), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_damping %g must not be negative", (double)damping);
  ctx->discretization.width   = width;
  ctx->discretization.damping = damping;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetFreeSurface - Sets whether u = 0 in the first plane of the last dimension of a `MATBORN`

  Logically Collective

  Input Parameters:
+ J       - the matrix
- surface - `PETSC_TRUE` for a free surface, `PETSC_FALSE` (the default) for a sponge

  Options Database Key:
. -mat_born_free_surface <bool> - whether the first face of the last dimension is a free surface

  Level: intermediate

  Note:
  The last dimension is y of a 2-D and z of a 3-D `DMDA`. Sources and receivers in that plane are of no effect.

.seealso: `MATBORN`, `MatBornSetSponge()`
@*/
PetscErrorCode MatBornSetFreeSurface(Mat J, PetscBool surface)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveBool(J, surface, 2);
  if (surface == ctx->discretization.surface) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->discretization.surface = surface;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetInterpolation - Sets where sources and receivers of a `MATBORN` may be

  Logically Collective

  Input Parameters:
+ J             - the matrix
- interpolation - `MATBORN_INTERPOLATION_SINC` by default

  Options Database Key:
. -mat_born_interpolation <none,sinc> - the interpolation

  Level: intermediate

.seealso: `MATBORN`, `MatBornInterpolation`, `MatBornAddShot()`
@*/
PetscErrorCode MatBornSetInterpolation(Mat J, MatBornInterpolation interpolation)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveEnum(J, interpolation, 2);
  if (interpolation == ctx->discretization.interpolation) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->discretization.interpolation = interpolation;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetBackground - Sets where `MatMultTranspose()` of a `MATBORN` has the background wavefield from

  Logically Collective

  Input Parameters:
+ J          - the matrix
- background - `MATBORN_BACKGROUND_AUTO` by default

  Options Database Key:
. -mat_born_background <auto,keep,ring,random,checkpoint> - the way

  Level: intermediate

  Notes:
  With ring and random the columns of nodes in the sponge are zeros, since the background is not known there backwards,
  or is of no use.

  With random, a random velocity replaces the sponge of the background. This velocity scatters the waves that it does
  not absorb. Images are good. Data of `MatMult()` are not: they have random echoes. `MatBornModel()` always has the
  sponge.

.seealso: `MATBORN`, `MatBornBackground`
@*/
PetscErrorCode MatBornSetBackground(Mat J, MatBornBackground background)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveEnum(J, background, 2);
  if (background == ctx->tuning.background) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->tuning.background = background;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetLowpass - Sets a low-pass of the traces of a `MATBORN`, which is a part of the operator

  Logically Collective

  Input Parameters:
+ J         - the matrix
- frequency - up to this frequency traces stay, from twice the frequency on they vanish; in periods per unit of time (Hz
  where dt is in seconds); 0, the default, for no low-pass

  Options Database Key:
. -mat_born_lowpass <frequency> - the frequency

  Level: intermediate

  Notes:
  Steps that scatter at intervals add waves of high frequencies to the data, see `-mat_born_interval`. The low-pass
  removes these waves. The right frequency is then the highest one of the wavelet, 2.5 times the main frequency of a
  Ricker wavelet.

  The low-pass has no phase: each number becomes a sum over 3 periods of the frequency on each side, with the weights
  of a sinc function in Kaiser's window. The gain is 1 up to the frequency and 0 from twice the frequency on, each
  within 1e-4, and 1/2 between the two. Numbers of all steps enter, also of steps that are no samples. The waves run for
  3 periods beyond the last sample, since the low-pass needs these steps.

  `MatMult()` and `MatBornModel()` end with the low-pass, and `MatMultTranspose()` begins with it. `MatBornGetNormal()`
  has both. `MatBornGetIllumination()` is without. Measured data need the same low-pass before a comparison:
  `MatBornFilter()`.

  The frequency is at least one period per trace, and at most a quarter of a period per step. Others are an error when
  the matrix is used. Traces of all steps of one shot are in memory, and the low-pass runs on the host.

.seealso: `MATBORN`, `MatBornFilter()`, `MatBornSetTime()`
@*/
PetscErrorCode MatBornSetLowpass(Mat J, PetscReal frequency)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveReal(J, frequency, 2);
  PetscCheck(frequency >= 0 && !PetscIsInfOrNanReal(frequency), PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g must be a positive frequency, or 0 for no low-pass", (double)frequency);
  if (frequency == ctx->time.lowpass) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->time.lowpass = frequency;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetTime - Sets the steps of time of a `MATBORN`, and which of them are data

  Logically Collective

  Input Parameters:
+ J     - the matrix
. dt    - the length of a step
. steps - number of steps per shot
- every - steps per sample: the first sample of a receiver is at time every dt; a receiver has steps / every samples,
  rounded down

  Level: beginner

  Notes:
  With one spacing h, and v the largest velocity, dt is at most h / v times .707, .612, .554, .531 in 2-D, and times
  .577, .5, .453, .434 in 3-D for the orders 2, 4, 8 and 12. A larger dt is an error when the matrix is used.

  It is called before `MatSetUp()`.

.seealso: `MATBORN`, `MatBornSetWavelet()`, `MatBornSetOrder()`
@*/
PetscErrorCode MatBornSetTime(Mat J, PetscReal dt, PetscInt steps, PetscInt every)
{
  Mat_Born *ctx  = NULL;
  MPI_Comm  comm = PetscObjectComm((PetscObject)J);

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveReal(J, dt, 2);
  PetscValidLogicalCollectiveInt(J, steps, 3);
  PetscValidLogicalCollectiveInt(J, every, 4);
  PetscCall(MatBornCheckNotSetUp_Private(J, "MatBornSetTime()"));
  PetscCheck(dt > 0 && !PetscIsInfOrNanReal(dt), comm, PETSC_ERR_ARG_OUTOFRANGE, "The time step %g must be positive", (double)dt);
  PetscCheck(every > 0 && steps >= every, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A sample every %" PetscInt_FMT " of %" PetscInt_FMT " steps: traces need one sample at least", every, steps);
  ctx->time.dt      = dt;
  ctx->time.steps   = steps;
  ctx->time.every   = every;
  ctx->time.samples = steps / every;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetSpacing - Sets the distances of the nodes of a `MATBORN`

  Logically Collective

  Input Parameters:
+ J - the matrix
- h - a distance for each dimension of its `DMDA`

  Level: beginner

  Note:
  The first node is then at 0. Without this call coordinates of the `DMDA` count, see `DMDASetUniformCoordinates()`. The
  coordinates are an array of 2 or 3 numbers per node, which large grids do without.

.seealso: `MATBORN`, `MatBornAddShot()`
@*/
PetscErrorCode MatBornSetSpacing(Mat J, const PetscReal h[])
{
  Mat_Born *ctx = NULL;
  DM        da;
  PetscInt  dim;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(h, 2);
  PetscCall(MatBornGetDM_Private(J, &da, &dim));
  for (PetscInt d = 0; d < dim; d++)
    PetscCheck(h[d] > 0 && !PetscIsInfOrNanReal(h[d]), PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE,
               "The distance of nodes along dimension %" PetscInt_FMT " is %g; it must be positive", d, (double)h[d]);
  for (PetscInt d = 0; d < dim; d++) ctx->discretization.spacing[d] = h[d];
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}
