/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sweeps over time of one shot, or of several shots together. Let lambda be the adjoint of the recursion. V lambda / (1 + s)
   obeys the recursion itself, backwards, with the data as its force. The transpose is therefore the same step, and exact up
   to rounding.

   Shots that are computed together are a stack: include/lithe/private/born.h. Each shot keeps its own units, scale, random
   velocity and image. A stack thus changes no bit of a result.
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
  PetscCall(BornSplitLargest_Private(ctx->parallel.split, &largest));
  *unit = largest > 0 && !PetscIsInfOrNanReal((PetscReal)largest) ? ldexp(1, ilogb(largest)) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ stacks */

/* The grid of some shots that are computed together */
void BornStackCreate_Private(const BornGrid *g, PetscInt shots, BornGrid *stack)
{
  *stack = *g;
  if (shots == 1) return;
  stack->n[2]      = shots;
  stack->stride[2] = (g->size + BORN_ALIGN - 1) / BORN_ALIGN * BORN_ALIGN;
  stack->nodes     = shots * g->nodes;
  stack->size      = shots * stack->stride[2];
  stack->sharedV   = PETSC_TRUE;
}

/* The field of a shot of a stack */
static void *BornFieldOf(const BornSweep *s, void *field, size_t bytes, PetscInt shot)
{
  return (char *)field + bytes * (size_t)s->grid.stride[2] * (size_t)shot;
}

/* The factors of a force, per shot, where fields are; room: of the matrix, for as many shots as are computed together */
static PetscErrorCode BornSetFactors(BornSweep *s, double **room, const double factor[], BornFactors *f)
{
  const BornKernels *k = s->ctx->kernels;

  PetscFunctionBegin;
  *f = (BornFactors){.one = factor[0]};
  if (s->n == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*room) PetscCall((*k->create)((size_t)BornShots(&s->ctx->grids.stack) * sizeof(**room), (void **)room));
  PetscCall((*k->copy)((size_t)s->n * sizeof(**room), factor, *room));
  f->each = *room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of the sources follow from the units of the fields */
static PetscErrorCode BornSetSource(BornSweep *s)
{
  double *factor;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &factor));
  for (PetscInt m = 0; m < s->n; m++) factor[m] = s->ctx->source.force / s->unit[m];
  PetscCall(BornSetFactors(s, &s->ctx->fields.factors[0], factor, &s->source));
  PetscCall(PetscFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ begin and end */

/* A random velocity per shot */
static PetscErrorCode BornRandomVelocity(BornSweep *s)
{
  Mat_Born          *ctx   = s->ctx;
  const BornKernels *k     = ctx->kernels;
  const size_t       bytes = ctx->tuning.velocitybits == 16 ? sizeof(uint16_t) : BornBytes(ctx->grids.real);

  PetscFunctionBegin;
  for (PetscInt m = 0; m < s->n; m++) {
    const uint64_t seed = (uint64_t)ctx->tuning.seed * 0x100000001b3ULL + (uint64_t)(s->shot[m] - ctx->survey.shots);
    void          *V    = BornFieldOf(s, ctx->fields.Vrandom, bytes, m);

    if (ctx->tuning.velocitybits == 16) {
      PetscCall(BornGetField_Private(ctx, &ctx->fields.image));
      PetscCall((*k->randomise)(&ctx->grids.one, ctx->grids.real, BORN_RANDOM, seed, ctx->model.Vreal, ctx->fields.image));
      PetscCall((*k->quantise)(&ctx->grids.one, ctx->grids.real, ctx->model.Vunit, ctx->fields.image, (uint16_t *)V));
    } else PetscCall((*k->randomise)(&ctx->grids.one, ctx->grids.real, BORN_RANDOM, seed, ctx->model.V, V));
  }
  s->V            = ctx->fields.Vrandom;
  s->grid.sharedV = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources and receivers where fields are */
static PetscErrorCode BornSweepPoints(BornSweep *s)
{
  const BornKernels *k = s->ctx->kernels;
  const BornPoints **points[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->n, &points[0], s->n, &points[1]));
  for (PetscInt m = 0; m < s->n; m++) {
    points[0][m] = &s->shot[m]->at;
    points[1][m] = &s->shot[m]->to;
  }
  for (int p = 0; p < 2 && s->n > 1; p++) {
    PetscCall(BornPointsJoin_Private(s->n, points[p], s->ctx->grids.one.nodes, &s->joined[p]));
    points[p][0] = &s->joined[p];
  }
  PetscCall((*k->points)(points[0][0], &s->at));
  PetscCall((*k->points)(points[1][0], &s->to));
  PetscCall(PetscFree2(points[0], points[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fields at rest, V, and points where fields are. pair: with the background of the pair, else with u as MatBornModel() has it */
static PetscErrorCode BornSweepBegin(Mat_Born *ctx, PetscInt n, BornShot *const shot[], PetscBool pair, BornSweep *s)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->ctx    = ctx;
  s->n      = n;
  s->shot   = shot;
  s->number = pair ? ctx->store.number : ctx->grids.real;
  s->sponge = (PetscBool)(!pair || ctx->store.background->sponge);
  s->V      = ctx->model.V;
  BornStackCreate_Private(&ctx->grids.one, n, &s->grid);
  PetscCall(PetscMalloc2(n, &s->unit, n, &s->largest));
  for (PetscInt m = 0; m < n; m++) {
    s->unit[m] = ctx->source.unit;
    s->receivers += shot[m]->nreceivers;
  }
  PetscCall(BornSetSource(s));
  BornTracesStart_Private(s);
  if (!s->sponge) PetscCall(BornRandomVelocity(s));
  PetscCall(BornSweepPoints(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornSweepEnd(BornSweep *s)
{
  PetscFunctionBegin;
  PetscCall((*s->ctx->kernels->pointsdestroy)(&s->at));
  PetscCall((*s->ctx->kernels->pointsdestroy)(&s->to));
  for (int p = 0; p < 2; p++) PetscCall(BornPointsDestroy_Private(&s->joined[p]));
  PetscCall(PetscFree2(s->unit, s->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u at step 0, of the kind of a sweep */
static PetscErrorCode BornStartFields(BornSweep *s)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  PetscCall(BornStateStart_Private(s, ctx->fields.u, s->number, 0, &s->u));
  if (s->x) PetscCall(BornStateStart_Private(s, ctx->fields.w, ctx->grids.real, 0, &s->w));
  if (s->number == BORN_INT32) PetscCall((*ctx->kernels->zero)((size_t)s->n * sizeof(unsigned), ctx->fields.largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The image of a shot += factor the image of the sweep */
static PetscErrorCode BornAddImage(BornSweep *s, PetscInt m, double factor, PetscReal *image)
{
  Mat_Born       *ctx = s->ctx;
  const BornGrid *g   = &ctx->grids.one;
  PetscReal      *mine;

  PetscFunctionBegin;
  PetscCall((*ctx->kernels->borrow)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscCall(
    (*ctx->kernels->add)(g, ctx->grids.real, ctx->store.background->reversed, factor, BornFieldOf(s, ctx->fields.image, BornBytes(ctx->grids.real), m), mine));
  PetscCall((*ctx->kernels->giveback)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ whole numbers */

/* The largest whole number of the background until now, per shot */
static PetscErrorCode BornGetLargest(BornSweep *s)
{
  unsigned *value;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &value));
  PetscCall((*s->ctx->kernels->copy)((size_t)s->n * sizeof(*value), s->ctx->fields.largest, value));
  for (PetscInt m = 0; m < s->n; m++) {
    s->largest[m] = value[m];
    PetscCall(BornSplitLargest_Private(s->ctx->parallel.split, &s->largest[m]));
  }
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The units of the fields follow from the scales of whole numbers. trial: the scale of shots without one, or 0 */
static PetscErrorCode BornSetUnits(BornSweep *s, double trial)
{
  PetscFunctionBegin;
  for (PetscInt m = 0; m < s->n; m++) s->unit[m] = s->ctx->source.unit / (s->shot[m]->scale > 0 ? s->shot[m]->scale : trial);
  PetscCall(BornSetSource(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole numbers per unit of the fields in a shot: a power of two, found by a run while the source emits, where u is
   largest */
static PetscErrorCode BornScale(BornSweep *s)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  for (int turn = 0; turn < 64; turn++) {
    const double scale = ldexp(BORN_INT_WANTED, -8 * turn);
    PetscInt     left  = 0;

    for (PetscInt m = 0; m < s->n; m++) left += !(s->shot[m]->scale > 0);
    if (!left) break;
    PetscCall(BornSetUnits(s, scale));
    PetscCall(BornStartFields(s));
    while (s->u.step < ctx->source.busy) PetscCall(BornStepBackground_Private(s, &s->u, NULL, NULL));
    PetscCall(BornGetLargest(s));
    for (PetscInt m = 0; m < s->n; m++) {
      const double largest = s->largest[m];

      if (s->shot[m]->scale > 0 || largest > BORN_INT_MOST) continue;
      s->shot[m]->scale = largest > 0 ? ldexp(scale, ilogb(BORN_INT_WANTED) - ilogb(largest)) : scale;
    }
  }
  PetscCall(BornSetUnits(s, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A smaller scale for shots whose whole numbers have been too large. Whether there are any */
static PetscErrorCode BornRescale(BornSweep *s, PetscBool *again)
{
  PetscFunctionBegin;
  *again = PETSC_FALSE;
  if (s->number != BORN_INT32) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BornGetLargest(s));
  for (PetscInt m = 0; m < s->n; m++) {
    if (!(s->largest[m] > BORN_INT_MOST)) continue;
    s->shot[m]->scale /= 4;
    *again = PETSC_TRUE;
  }
  if (*again) PetscCall(BornSetUnits(s, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ forwards */

static PetscErrorCode BornRecord(BornSweep *s, const void *u, double unit, PetscReal *data)
{
  Mat_Born      *ctx    = s->ctx;
  const PetscInt sample = BornTracesSample_Private(s, s->u.step);

  PetscFunctionBegin;
  if (sample >= 0) PetscCall((*ctx->kernels->extract)(&s->grid, ctx->grids.real, &s->to, u, unit, data + sample, s->samples));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One step of u, and of w if there is a w. The background notes the step, if asked; q is the q of the step, or NULL */
static PetscErrorCode BornForwardStep(BornSweep *s, PetscBool note, void *q)
{
  Mat_Born             *ctx    = s->ctx;
  const BornBackground *b      = ctx->store.background;
  const PetscInt        n      = s->u.step;
  const PetscBool       active = (PetscBool)(n % ctx->tuning.interval == 0), rounds = (PetscBool)(active && b->rounds);
  void                 *store = rounds && note ? (char *)ctx->store.data + (size_t)(n / ctx->tuning.interval) * ctx->store.slot : NULL;

  PetscFunctionBegin;
  if (rounds && n < ctx->source.loud) {
    const BornStep step = {.number = ctx->grids.real, .Vbits = (int)ctx->tuning.velocitybits, .Vunit = ctx->model.Vunit, .V = s->V, .scatter = s->x};

    PetscCall(BornGetField_Private(ctx, &ctx->fields.q));
    if (s->x) PetscCall(BornStepBoth_Private(s, PETSC_FALSE, PETSC_FALSE, 0, NULL, ctx->fields.q));
    else PetscCall(BornStepBackground_Private(s, &s->u, ctx->fields.q, NULL));
    if (s->x || note) PetscCall((*ctx->kernels->round)(&s->grid, ctx->grids.real, (int)ctx->tuning.bits, ctx->fields.q, store));
    if (s->x) PetscCall((*ctx->kernels->push)(&s->grid, &step, ctx->fields.q, s->w.u));
    if (s->x) PetscCall(BornExchange_Private(ctx, s->w.u));
  } else if (s->x) PetscCall(BornStepBoth_Private(s, PETSC_FALSE, active, rounds ? (int)ctx->tuning.bits : 0, store, NULL));
  else PetscCall(BornStepBackground_Private(s, &s->u, active ? q : NULL, store));
  if (note && b->note) PetscCall((*b->note)(s, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x as a field, in units of the model's largest number. If q has two scales, the scale of whole numbers goes into x, so
   w stays near 1 */
static PetscErrorCode BornLoadModel(BornSweep *s)
{
  Mat_Born       *ctx = s->ctx;
  const BornGrid *g   = &ctx->grids.one;
  PetscReal      *mine;
  double          unit;

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(ctx, &ctx->fields.x));
  PetscCall((*ctx->kernels->borrow)((size_t)g->nodes, s->model, PETSC_TRUE, &mine));
  PetscCall(BornUnit(ctx, (size_t)g->nodes, mine, &unit));
  for (PetscInt m = 0; m < s->n; m++)
    PetscCall((*ctx->kernels->load)(g, ctx->grids.real, ctx->store.background->reversed, (double)ctx->tuning.interval * (s->unit[m] / ctx->source.unit) / unit,
                                    mine, BornFieldOf(s, ctx->fields.x, BornBytes(ctx->grids.real), m)));
  PetscCall((*ctx->kernels->giveback)((size_t)g->nodes, (PetscReal *)s->model, PETSC_FALSE, &mine));
  s->x     = ctx->fields.x;
  s->wunit = unit * ctx->source.unit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All steps; squares, if not NULL, += q^2. Once more where whole numbers have been too large, which were scaled for the first steps */
static PetscErrorCode BornForward(BornSweep *s, PetscBool note, PetscReal *data, void *squares)
{
  Mat_Born *ctx   = s->ctx;
  PetscBool again = PETSC_FALSE;

  PetscFunctionBegin;
  do {
    if (s->model) PetscCall(BornLoadModel(s));
    if (squares) PetscCall(BornGetField_Private(ctx, &ctx->fields.q));
    if (squares) PetscCall((*ctx->kernels->zero)((size_t)s->grid.size * BornBytes(ctx->grids.real), squares));
    PetscCall(BornStartFields(s));
    if (note) PetscCall((*ctx->store.background->start)(s));
    while (s->u.step < ctx->run.steps) {
      const PetscBool active = (PetscBool)(s->u.step % ctx->tuning.interval == 0);

      PetscCall(BornForwardStep(s, note, squares ? ctx->fields.q : NULL));
      if (squares && active) PetscCall((*ctx->kernels->image)(&s->grid, ctx->grids.real, 0, ctx->fields.q, ctx->fields.q, squares));
      if (data) PetscCall(BornRecord(s, s->w.u, s->wunit, data));
    }
    PetscCall(BornRescale(s, &again));
  } while (again);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ backwards */

/* The units of the data, per shot, and the factors of the forces */
static PetscErrorCode BornDataUnits(BornSweep *s, const PetscReal *data, double unit[], BornFactors *factors)
{
  double *factor;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &factor));
  for (PetscInt m = 0; m < s->n; m++) {
    const size_t n = (size_t)s->shot[m]->nreceivers * (size_t)s->samples;

    PetscCall(BornUnit(s->ctx, n, data, &unit[m]));
    factor[m] = 1 / unit[m];
    data += n;
  }
  PetscCall(BornSetFactors(s, &s->ctx->fields.factors[1], factor, factors));
  PetscCall(PetscFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image, a grid array per shot, += the transpose times data, traces where fields are */
static PetscErrorCode BornBackward(BornSweep *s, const PetscReal *data, PetscReal *const image[])
{
  Mat_Born   *ctx = s->ctx;
  BornFactors factors;
  double     *unit;
  BornForce   force = {.number = ctx->grids.real,
                       .sponge = PETSC_TRUE,
                       .Vbits  = (int)ctx->tuning.velocitybits,
                       .Vunit  = ctx->model.Vunit,
                       .V      = s->V,
                       .points = &s->to,
                       .stride = s->samples};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &unit));
  PetscCall(BornDataUnits(s, data, unit, &factors));
  force.factor  = factors.one;
  force.factors = factors.each;
  PetscCall(BornGetField_Private(ctx, &ctx->fields.image));
  PetscCall((*ctx->kernels->zero)((size_t)s->grid.size * BornBytes(ctx->grids.real), ctx->fields.image));
  s->image = ctx->fields.image;
  PetscCall(BornStateStart_Private(s, ctx->fields.w, ctx->grids.real, ctx->run.steps, &s->w));
  /* w is 0 before the data of the last step */
  if (BornTracesSample_Private(s, ctx->run.steps) >= 0) {
    force.u      = s->w.u;
    force.values = data + BornTracesSample_Private(s, ctx->run.steps);
    PetscCall((*ctx->kernels->force)(&s->grid, &force));
    PetscCall(BornExchange_Private(ctx, s->w.u));
  }
  for (PetscInt n = ctx->run.steps - 1; n >= 0; n--) {
    const PetscInt sample = BornTracesSample_Private(s, n);

    force.values = sample < 0 ? NULL : data + sample;
    s->data      = sample < 0 ? NULL : &force;
    PetscCall((*ctx->store.background->back)(s, n, (PetscBool)(n % ctx->tuning.interval == 0)));
  }
  s->data = NULL;
  for (PetscInt m = 0; m < s->n; m++) PetscCall(BornAddImage(s, m, (double)ctx->tuning.interval * s->unit[m] * unit[m], image[m]));
  PetscCall(PetscFree(unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

/* data = R u */
PetscErrorCode BornSweepModel_Private(Mat_Born *ctx, PetscInt n, BornShot *const shot[], PETSC_UNUSED const PetscReal *model, PetscReal *data,
                                      PETSC_UNUSED PetscReal *const image[])
{
  PetscReal *mine;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, n, shot, PETSC_FALSE, &s));
  PetscCall(BornTracesOpen_Private(&s, data, PETSC_FALSE, &mine));
  PetscCall(BornStartFields(&s));
  while (s.u.step < ctx->run.steps) {
    PetscCall(BornStepBackground_Private(&s, &s.u, NULL, NULL));
    PetscCall(BornRecord(&s, s.u.u, ctx->source.unit, mine));
  }
  PetscCall(BornTracesClose_Private(&s, data, PETSC_TRUE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* data = R w, where x q is the force of w, and x = dV/V */
PetscErrorCode BornSweepForward_Private(Mat_Born *ctx, PetscInt n, BornShot *const shot[], const PetscReal *model, PetscReal *data,
                                        PETSC_UNUSED PetscReal *const image[])
{
  PetscReal *mine;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, n, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  PetscCall(BornTracesOpen_Private(&s, data, PETSC_FALSE, &mine));
  s.model = model;
  PetscCall(BornForward(&s, PETSC_FALSE, mine, NULL));
  PetscCall(BornTracesClose_Private(&s, data, PETSC_TRUE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the transpose of BornSweepForward_Private() times the data */
PetscErrorCode BornSweepAdjoint_Private(Mat_Born *ctx, PetscInt n, BornShot *const shot[], PETSC_UNUSED const PetscReal *model, PetscReal *data,
                                        PetscReal *const image[])
{
  PetscReal *mine;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, n, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  PetscCall(BornForward(&s, PETSC_TRUE, NULL, NULL));
  PetscCall(BornTracesOpen_Private(&s, data, PETSC_TRUE, &mine));
  PetscCall(BornBackward(&s, mine, image));
  PetscCall(BornTracesClose_Private(&s, data, PETSC_FALSE, &mine));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += J^T J model of the shot: the transpose begins where J ends. data: factors of the rows, or NULL */
PetscErrorCode BornSweepNormal_Private(Mat_Born *ctx, PetscInt n, BornShot *const shot[], const PetscReal *model, PetscReal *data, PetscReal *const image[])
{
  PetscReal *traces;
  BornSweep  s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, n, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  s.model = model;
  PetscCall(BornTracesGet_Private(&s, &traces));
  PetscCall(BornForward(&s, PETSC_TRUE, traces, NULL));
  PetscCall(BornTracesTurn_Private(&s, traces, data));
  PetscCall(BornBackward(&s, traces, image));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the sum of q^2 over the steps that scatter */
PetscErrorCode BornSweepIllumination_Private(Mat_Born *ctx, PetscInt n, BornShot *const shot[], PETSC_UNUSED const PetscReal *model,
                                             PETSC_UNUSED PetscReal *data, PetscReal *const image[])
{
  BornSweep s;

  PetscFunctionBegin;
  PetscCall(BornSweepBegin(ctx, n, shot, PETSC_TRUE, &s));
  if (s.number == BORN_INT32) PetscCall(BornScale(&s));
  PetscCall(BornGetField_Private(ctx, &ctx->fields.image));
  PetscCall(BornForward(&s, PETSC_FALSE, NULL, ctx->fields.image));
  for (PetscInt m = 0; m < n; m++) PetscCall(BornAddImage(&s, m, (double)ctx->tuning.interval * s.unit[m] * s.unit[m], image[m]));
  PetscCall(BornSweepEnd(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
