/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sweeps over time of one shot. Let lambda be the adjoint of the recursion. V lambda / (1 + s) obeys the recursion
   itself, backwards, with the data as its force. The transpose is therefore the same step, and exact up to rounding.
*/

#include "bornimpl.h"

#define BORN_INT_MOST   1073741824. /* limit of 2 u - old: 2^30 */
#define BORN_INT_WANTED 268435456.  /* lower limit of the scaled largest |u| while the source emits: 2^28 */
#define BORN_RANDOM     0.5         /* how much a velocity is lowered at most */

/* A power of two near the largest of n numbers, or 1: quotients by it are neither too large nor too small for single
   precision */
static PetscErrorCode BornUnit(Mat_Born *ctx, size_t n, const PetscReal *x, double *unit)
{
  double largest;

  PetscFunctionBegin;
  PetscCall((*ctx->kernels->largest)(n, x, &largest));
  PetscCall(BornSplitLargest_Private(ctx->split, &largest));
  *unit = largest > 0 && !PetscIsInfOrNanReal((PetscReal)largest) ? ldexp(1, ilogb(largest)) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ begin and end */

/* Fields at rest, V, and points where fields are. random: with the background of the pair, else with u as MatBornModel() has it */
static PetscErrorCode BornSweepBegin(Mat_Born *ctx, BornShot *shot, PetscBool pair, BornSweep *s)
{
  const BornKernels *k = ctx->kernels;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->ctx    = ctx;
  s->shot   = shot;
  s->number = pair ? ctx->number : ctx->real;
  s->sponge = (PetscBool)(!pair || ctx->background->sponge);
  s->unit   = ctx->unit;
  s->V      = ctx->V;
  BornTracesStart_Private(s);
  if (!s->sponge) {
    const uint64_t seed = (uint64_t)ctx->seed * 0x100000001b3ULL + (uint64_t)(shot - ctx->shots);

    if (ctx->velocitybits == 16) {
      PetscCall(BornGetField_Private(ctx, &ctx->image));
      PetscCall((*k->randomise)(&ctx->grid, ctx->real, BORN_RANDOM, seed, ctx->Vreal, ctx->image));
      PetscCall((*k->quantise)(&ctx->grid, ctx->real, ctx->Vunit, ctx->image, (uint16_t *)ctx->Vrandom));
    } else PetscCall((*k->randomise)(&ctx->grid, ctx->real, BORN_RANDOM, seed, ctx->V, ctx->Vrandom));
    s->V = ctx->Vrandom;
  }
  PetscCall((*k->points)(&shot->at, &s->at));
  PetscCall((*k->points)(&shot->to, &s->to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornSweepEnd(BornSweep *s)
{
  PetscFunctionBegin;
  PetscCall((*s->ctx->kernels->pointsdestroy)(&s->at));
  PetscCall((*s->ctx->kernels->pointsdestroy)(&s->to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u at step 0, of the kind of a sweep */
static PetscErrorCode BornStartFields(BornSweep *s)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  PetscCall(BornStateStart_Private(ctx, ctx->u, s->number, 0, &s->u));
  if (s->x) PetscCall(BornStateStart_Private(ctx, ctx->w, ctx->real, 0, &s->w));
  if (s->number == BORN_INT32) PetscCall((*ctx->kernels->zero)(sizeof(unsigned), ctx->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ whole numbers */

/* The largest whole number of the background until now */
static PetscErrorCode BornGetLargest(BornSweep *s, double *largest)
{
  unsigned value;

  PetscFunctionBegin;
  PetscCall((*s->ctx->kernels->copy)(sizeof(value), s->ctx->largest, &value));
  *largest = value;
  PetscCall(BornSplitLargest_Private(s->ctx->split, largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole numbers per unit of the fields in a shot: a power of two, found by a run while the source emits, where u is
   largest */
static PetscErrorCode BornScale(BornSweep *s)
{
  Mat_Born *ctx     = s->ctx;
  BornShot *shot    = s->shot;
  double    largest = 0;

  PetscFunctionBegin;
  for (int turn = 0; turn < 64 && !(shot->scale > 0); turn++) {
    const double scale = ldexp(BORN_INT_WANTED, -8 * turn);

    s->unit = ctx->unit / scale;
    PetscCall(BornStartFields(s));
    while (s->u.step < ctx->busy) PetscCall(BornStepBackground_Private(s, &s->u, NULL, NULL));
    PetscCall(BornGetLargest(s, &largest));
    if (largest > BORN_INT_MOST) continue;
    shot->scale = largest > 0 ? ldexp(scale, ilogb(BORN_INT_WANTED) - ilogb(largest)) : scale;
  }
  s->unit = ctx->unit / shot->scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ forwards */

static PetscErrorCode BornRecord(BornSweep *s, const void *u, double unit, PetscReal *data)
{
  Mat_Born      *ctx    = s->ctx;
  const PetscInt sample = BornTracesSample_Private(s, s->u.step);

  PetscFunctionBegin;
  if (sample >= 0) PetscCall((*ctx->kernels->extract)(&ctx->grid, ctx->real, &s->to, u, unit, data + sample, s->samples));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One step of u, and of w if there is a w. The background notes the step, if asked; q is the q of the step, or NULL */
static PetscErrorCode BornForwardStep(BornSweep *s, PetscBool note, void *q)
{
  Mat_Born             *ctx    = s->ctx;
  const BornBackground *b      = ctx->background;
  const PetscInt        n      = s->u.step;
  const PetscBool       active = (PetscBool)(n % ctx->interval == 0), rounds = (PetscBool)(active && b->rounds);
  void                 *store = rounds && note ? (char *)ctx->store + (size_t)(n / ctx->interval) * ctx->slot : NULL;

  PetscFunctionBegin;
  if (rounds && n < ctx->loud) {
    const BornStep step = {.number = ctx->real, .Vbits = (int)ctx->velocitybits, .Vunit = ctx->Vunit, .V = s->V, .scatter = s->x};

    PetscCall(BornGetField_Private(ctx, &ctx->q));
    if (s->x) PetscCall(BornStepBoth_Private(s, PETSC_FALSE, PETSC_FALSE, 0, NULL, ctx->q));
    else PetscCall(BornStepBackground_Private(s, &s->u, ctx->q, NULL));
    if (s->x || note) PetscCall((*ctx->kernels->round)(&ctx->grid, ctx->real, (int)ctx->bits, ctx->q, store));
    if (s->x) PetscCall((*ctx->kernels->push)(&ctx->grid, &step, ctx->q, s->w.u));
    if (s->x) PetscCall(BornExchange_Private(ctx, s->w.u));
  } else if (s->x) PetscCall(BornStepBoth_Private(s, PETSC_FALSE, active, rounds ? (int)ctx->bits : 0, store, NULL));
  else PetscCall(BornStepBackground_Private(s, &s->u, active ? q : NULL, store));
  if (note && b->note) PetscCall((*b->note)(s, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x as a field, in units of the model's largest number. If q has two scales, the scale of whole numbers goes into x, so
   w stays near 1 */
static PetscErrorCode BornLoadModel(BornSweep *s)
{
  Mat_Born       *ctx = s->ctx;
  const BornGrid *g   = &ctx->grid;
  PetscReal      *mine;
  double          unit;

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(ctx, &ctx->x));
  PetscCall((*ctx->kernels->borrow)((size_t)g->nodes, s->model, PETSC_TRUE, &mine));
  PetscCall(BornUnit(ctx, (size_t)g->nodes, mine, &unit));
  PetscCall((*ctx->kernels->load)(g, ctx->real, ctx->background->reversed, (double)ctx->interval * (s->unit / ctx->unit) / unit, mine, ctx->x));
  PetscCall((*ctx->kernels->giveback)((size_t)g->nodes, (PetscReal *)s->model, PETSC_FALSE, &mine));
  s->x     = ctx->x;
  s->wunit = unit * ctx->unit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All steps; squares, if not NULL, += q^2. Once more where whole numbers have been too large, which were scaled for the first steps */
static PetscErrorCode BornForward(BornSweep *s, PetscBool note, PetscReal *data, void *squares)
{
  Mat_Born *ctx     = s->ctx;
  double    largest = 0;

  PetscFunctionBegin;
  do {
    if (s->number == BORN_INT32 && largest > BORN_INT_MOST) {
      s->shot->scale /= 4;
      s->unit = ctx->unit / s->shot->scale;
    }
    if (s->model) PetscCall(BornLoadModel(s));
    if (squares) PetscCall(BornGetField_Private(ctx, &ctx->q));
    if (squares) PetscCall((*ctx->kernels->zero)((size_t)ctx->grid.size * BornBytes(ctx->real), squares));
    PetscCall(BornStartFields(s));
    if (note) PetscCall((*ctx->background->start)(s));
    while (s->u.step < ctx->run) {
      const PetscBool active = (PetscBool)(s->u.step % ctx->interval == 0);

      PetscCall(BornForwardStep(s, note, squares ? ctx->q : NULL));
      if (squares && active) PetscCall((*ctx->kernels->image)(&ctx->grid, ctx->real, 0, ctx->q, ctx->q, squares));
      if (data) PetscCall(BornRecord(s, s->w.u, s->wunit, data));
    }
    if (s->number == BORN_INT32) PetscCall(BornGetLargest(s, &largest));
  } while (largest > BORN_INT_MOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ backwards */

/* image, a grid array, += the transpose times data, traces where fields are */
static PetscErrorCode BornBackward(BornSweep *s, const PetscReal *data, PetscReal *image)
{
  Mat_Born       *ctx = s->ctx;
  const BornGrid *g   = &ctx->grid;
  PetscReal      *mine;
  double          unit;
  BornForce       force =
    {.number = ctx->real, .sponge = PETSC_TRUE, .Vbits = (int)ctx->velocitybits, .Vunit = ctx->Vunit, .V = s->V, .points = &s->to, .stride = s->samples};

  PetscFunctionBegin;
  PetscCall(BornUnit(ctx, (size_t)s->shot->nreceivers * (size_t)s->samples, data, &unit));
  force.factor = 1 / unit;
  PetscCall(BornGetField_Private(ctx, &ctx->image));
  PetscCall((*ctx->kernels->zero)((size_t)g->size * BornBytes(ctx->real), ctx->image));
  s->image = ctx->image;
  PetscCall(BornStateStart_Private(ctx, ctx->w, ctx->real, ctx->run, &s->w));
  /* w is 0 before the data of the last step */
  if (BornTracesSample_Private(s, ctx->run) >= 0) {
    force.u      = s->w.u;
    force.values = data + BornTracesSample_Private(s, ctx->run);
    PetscCall((*ctx->kernels->force)(g, &force));
    PetscCall(BornExchange_Private(ctx, s->w.u));
  }
  for (PetscInt n = ctx->run - 1; n >= 0; n--) {
    const PetscInt sample = BornTracesSample_Private(s, n);

    force.values = sample < 0 ? NULL : data + sample;
    s->data      = sample < 0 ? NULL : &force;
    PetscCall((*ctx->background->back)(s, n, (PetscBool)(n % ctx->interval == 0)));
  }
  s->data = NULL;
  PetscCall((*ctx->kernels->borrow)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscCall((*ctx->kernels->add)(g, ctx->real, ctx->background->reversed, (double)ctx->interval * s->unit * unit, ctx->image, mine));
  PetscCall((*ctx->kernels->giveback)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

/* data = R u */
PetscErrorCode BornSweepModel_Private(Mat_Born *ctx, BornShot *shot, PETSC_UNUSED const PetscReal *model, PetscReal *data, PETSC_UNUSED PetscReal *image)
{
  PetscReal *mine;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, shot, PETSC_FALSE, &s));
  PetscCall(BornTracesOpen_Private(&s, data, PETSC_FALSE, &mine));
  PetscCall(BornStartFields(&s));
  while (s.u.step < ctx->run) {
    PetscCall(BornStepBackground_Private(&s, &s.u, NULL, NULL));
    PetscCall(BornRecord(&s, s.u.u, s.unit, mine));
  }
  PetscCall(BornTracesClose_Private(&s, data, PETSC_TRUE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* data = R w, where x q is the force of w, and x = dV/V */
PetscErrorCode BornSweepForward_Private(Mat_Born *ctx, BornShot *shot, const PetscReal *model, PetscReal *data, PETSC_UNUSED PetscReal *image)
{
  PetscReal *mine;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  PetscCall(BornTracesOpen_Private(&s, data, PETSC_FALSE, &mine));
  s.model = model;
  PetscCall(BornForward(&s, PETSC_FALSE, mine, NULL));
  PetscCall(BornTracesClose_Private(&s, data, PETSC_TRUE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the transpose of BornSweepForward_Private() times the data */
PetscErrorCode BornSweepAdjoint_Private(Mat_Born *ctx, BornShot *shot, PETSC_UNUSED const PetscReal *model, PetscReal *data, PetscReal *image)
{
  PetscReal *mine;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  PetscCall(BornForward(&s, PETSC_TRUE, NULL, NULL));
  PetscCall(BornTracesOpen_Private(&s, data, PETSC_TRUE, &mine));
  PetscCall(BornBackward(&s, mine, image));
  PetscCall(BornTracesClose_Private(&s, data, PETSC_FALSE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += J^T J model of the shot: the transpose begins where J ends */
PetscErrorCode BornSweepNormal_Private(Mat_Born *ctx, BornShot *shot, const PetscReal *model, PETSC_UNUSED PetscReal *data, PetscReal *image)
{
  PetscReal *traces;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  s.model = model;
  PetscCall(BornTracesGet_Private(&s, &traces));
  PetscCall(BornForward(&s, PETSC_TRUE, traces, NULL));
  PetscCall(BornTracesTurn_Private(&s, traces));
  PetscCall(BornBackward(&s, traces, image));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the sum of q^2 over the steps that scatter */
PetscErrorCode BornSweepIllumination_Private(Mat_Born *ctx, BornShot *shot, PETSC_UNUSED const PetscReal *model, PETSC_UNUSED PetscReal *data, PetscReal *image)
{
  const BornGrid *g = &ctx->grid;
  PetscReal      *mine;
  BornSweep       s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  PetscCall(BornGetField_Private(ctx, &ctx->image));
  PetscCall(BornForward(&s, PETSC_FALSE, NULL, ctx->image));
  PetscCall((*ctx->kernels->borrow)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscCall((*ctx->kernels->add)(g, ctx->real, ctx->background->reversed, (double)ctx->interval * s.unit * s.unit, ctx->image, mine));
  PetscCall((*ctx->kernels->giveback)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
