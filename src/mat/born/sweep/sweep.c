/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sweeps over time of one shot, or of several shots together. Let lambda be the adjoint of the recursion. V lambda / (1
   + s) obeys the recursion itself, backwards, with the data as its force. The transpose is therefore the same step, and
   exact up to rounding.
*/

#include <lithe/private/born/parts.h>

/* The image of a shot += factor the image of the sweep */
static PetscErrorCode BornAddImage(const BornSweep *s, PetscInt m, double factor, PetscReal *image)
{
  const BornKernels *k    = s->in.kernels;
  const BornGrid    *g    = &s->in.grids->one;
  const BornNumber   real = s->in.grids->real;
  PetscReal         *mine;

  PetscFunctionBegin;
  PetscCall((*k->borrow)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscCall((*k->add)(g, real, s->in.store->background->reversed, factor, BornFieldOf(&s->grid, s->image, BornBytes(real), m), mine));
  PetscCall((*k->giveback)((size_t)g->nodes, image, PETSC_TRUE, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ forwards */

static PetscErrorCode BornRecord(BornSweep *s, const void *u, double unit, PetscReal *data)
{
  const PetscInt sample = BornTracesSample_Private(s, s->u.step);

  PetscFunctionBegin;
  if (sample >= 0) PetscCall((*s->in.kernels->extract)(&s->grid, s->in.grids->real, &s->to, u, unit, data + sample, s->in.run->samples));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One step of u, and of w if there is a w. The background notes the step, if asked; q is the q of the step, or NULL */
static PetscErrorCode BornForwardStep(BornSweep *s, PetscBool note, void *q)
{
  const BornKernels    *k    = s->in.kernels;
  const BornStore      *to   = s->in.store;
  const BornBackground *b    = to->background;
  const BornNumber      real = s->in.grids->real;
  const int             bits = (int)s->in.tuning->bits;
  const PetscInt        n = s->u.step, interval = s->in.tuning->interval;
  const PetscBool       active = (PetscBool)(n % interval == 0), rounds = (PetscBool)(active && b->rounds);
  void                 *store = rounds && note ? (char *)to->data + (size_t)(n / interval) * to->slot : NULL;

  PetscFunctionBegin;
  if (rounds && n < s->in.source->loud) {
    const BornStep step = {.number = real, .Vbits = (int)s->in.tuning->velocitybits, .Vunit = s->in.model->Vunit, .V = s->V, .scatter = s->x};

    PetscCall(BornGetField_Private(s, BORN_FIELD_Q, &q));
    if (s->x) PetscCall(BornStepBoth_Private(s, PETSC_FALSE, PETSC_FALSE, 0, NULL, q));
    else PetscCall(BornStepBackground_Private(s, &s->u, q, NULL));
    if (s->x || note) PetscCall((*k->round)(&s->grid, real, bits, q, store));
    if (s->x) PetscCall((*k->push)(&s->grid, &step, q, s->w.u));
    if (s->x) PetscCall(BornExchange_Private(&s->in, s->w.u));
  } else if (s->x) PetscCall(BornStepBoth_Private(s, PETSC_FALSE, active, rounds ? bits : 0, store, NULL));
  else PetscCall(BornStepBackground_Private(s, &s->u, active ? q : NULL, store));
  if (note && b->note) PetscCall((*b->note)(s, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of a model as a field, in units of the model's largest number. If q has two scales, the scale of whole numbers goes
   into x, so w stays near 1 */
static PetscErrorCode BornLoadModel(BornSweep *s, const PetscReal *model)
{
  const BornKernels *k    = s->in.kernels;
  const BornGrid    *g    = &s->in.grids->one;
  const BornNumber   real = s->in.grids->real;
  PetscReal         *mine;
  double             unit;
  void              *x;

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(s, BORN_FIELD_X, &x));
  PetscCall((*k->borrow)((size_t)g->nodes, model, PETSC_TRUE, &mine));
  PetscCall(BornUnit_Private(&s->in, (size_t)g->nodes, mine, &unit));
  for (PetscInt m = 0; m < s->n; m++) {
    const double factor = (double)s->in.tuning->interval * (s->unit[m] / s->in.source->unit) / unit;

    PetscCall((*k->load)(g, real, s->in.store->background->reversed, factor, mine, BornFieldOf(&s->grid, x, BornBytes(real), m)));
  }
  PetscCall((*k->giveback)((size_t)g->nodes, (PetscReal *)model, PETSC_FALSE, &mine));
  s->x     = x;
  s->wunit = unit * s->in.source->unit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All steps. With a model, of w, too; squares, if not NULL, += q^2. Once more where whole numbers have been too large,
   which were scaled for the first steps */
static PetscErrorCode BornForward(BornSweep *s, PetscBool note, const PetscReal *model, PetscReal *data, void *squares)
{
  const BornKernels *k     = s->in.kernels;
  const BornNumber   real  = s->in.grids->real;
  PetscBool          again = PETSC_FALSE;
  void              *q     = NULL;

  PetscFunctionBegin;
  if (note) PetscCall(BornStoreOpen_Private(&s->in));
  if (squares) PetscCall(BornGetField_Private(s, BORN_FIELD_Q, &q));
  do {
    if (model) PetscCall(BornLoadModel(s, model));
    if (squares) PetscCall((*k->zero)((size_t)s->grid.size * BornBytes(real), squares));
    PetscCall(BornSweepStart_Private(s));
    if (note && s->in.store->background->start) PetscCall((*s->in.store->background->start)(s));
    while (s->u.step < s->in.run->steps) {
      const PetscBool active = (PetscBool)(s->u.step % s->in.tuning->interval == 0);

      PetscCall(BornForwardStep(s, note, q));
      if (squares && active) PetscCall((*k->image)(&s->grid, real, 0, q, q, squares));
      if (data) PetscCall(BornRecord(s, s->w.u, s->wunit, data));
    }
    PetscCall(BornIntegersRescale_Private(s, &again));
  } while (again);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ backwards */

/* The units of the data, per shot, and the factors of the forces */
static PetscErrorCode BornDataUnits(const BornSweep *s, const PetscReal *data, double unit[], BornFactors *factors)
{
  double *factor;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &factor));
  for (PetscInt m = 0; m < s->n; m++) {
    const size_t n = (size_t)s->in.places->to[s->shot[m]].points * (size_t)s->in.run->samples;

    PetscCall(BornUnit_Private(&s->in, n, data, &unit[m]));
    factor[m] = 1 / unit[m];
    data += n;
  }
  PetscCall(BornGetFactors_Private(s, 1, factor, factors));
  PetscCall(PetscFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image, a grid array per shot, += the transpose times data, traces where fields are */
static PetscErrorCode BornBackward(BornSweep *s, const PetscReal *data, PetscReal *const image[])
{
  BornFactors factors;
  double     *unit;
  BornForce   force = {.number = s->in.grids->real,
                       .sponge = PETSC_TRUE,
                       .Vbits  = (int)s->in.tuning->velocitybits,
                       .Vunit  = s->in.model->Vunit,
                       .V      = s->V,
                       .points = &s->to,
                       .stride = s->in.run->samples};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &unit));
  PetscCall(BornDataUnits(s, data, unit, &factors));
  force.factor  = factors.one;
  force.factors = factors.each;
  PetscCall(BornGetField_Private(s, BORN_FIELD_IMAGE, &s->image));
  PetscCall((*s->in.kernels->zero)((size_t)s->grid.size * BornBytes(s->in.grids->real), s->image));
  PetscCall(BornStateStart_Private(s, PETSC_TRUE, s->in.run->steps));
  /* w is 0 before the data of the last step */
  if (BornTracesSample_Private(s, s->in.run->steps) >= 0) {
    force.u      = s->w.u;
    force.values = data + BornTracesSample_Private(s, s->in.run->steps);
    PetscCall((*s->in.kernels->force)(&s->grid, &force));
    PetscCall(BornExchange_Private(&s->in, s->w.u));
  }
  for (PetscInt n = s->in.run->steps - 1; n >= 0; n--) {
    const PetscInt sample = BornTracesSample_Private(s, n);

    force.values = sample < 0 ? NULL : data + sample;
    s->data      = sample < 0 ? NULL : &force;
    PetscCall((*s->in.store->background->back)(s, n, (PetscBool)(n % s->in.tuning->interval == 0)));
  }
  s->data = NULL;
  for (PetscInt m = 0; m < s->n; m++) PetscCall(BornAddImage(s, m, (double)s->in.tuning->interval * s->unit[m] * unit[m], image[m]));
  PetscCall(PetscFree(unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

/* data = R u */
PetscErrorCode BornSweepModel_Private(BornSweep *s, PETSC_UNUSED const PetscReal *model, PetscReal *data, PETSC_UNUSED PetscReal *const image[])
{
  PetscReal *mine;

  PetscFunctionBegin;
  PetscCall(BornTracesOpen_Private(s, data, PETSC_FALSE, &mine));
  PetscCall(BornSweepStart_Private(s));
  while (s->u.step < s->in.run->steps) {
    PetscCall(BornStepBackground_Private(s, &s->u, NULL, NULL));
    PetscCall(BornRecord(s, s->u.u, s->in.source->unit, mine));
  }
  PetscCall(BornTracesClose_Private(s, data, PETSC_TRUE, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* data = R w, where x q is the force of w, and x = dV/V */
PetscErrorCode BornSweepForward_Private(BornSweep *s, const PetscReal *model, PetscReal *data, PETSC_UNUSED PetscReal *const image[])
{
  PetscReal *mine;

  PetscFunctionBegin;
  PetscCall(BornTracesOpen_Private(s, data, PETSC_FALSE, &mine));
  PetscCall(BornForward(s, PETSC_FALSE, model, mine, NULL));
  PetscCall(BornTracesClose_Private(s, data, PETSC_TRUE, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the transpose of BornSweepForward_Private() times the data */
PetscErrorCode BornSweepAdjoint_Private(BornSweep *s, PETSC_UNUSED const PetscReal *model, PetscReal *data, PetscReal *const image[])
{
  PetscReal *mine;

  PetscFunctionBegin;
  PetscCall(BornForward(s, PETSC_TRUE, NULL, NULL, NULL));
  PetscCall(BornTracesOpen_Private(s, data, PETSC_TRUE, &mine));
  PetscCall(BornBackward(s, mine, image));
  PetscCall(BornTracesClose_Private(s, data, PETSC_FALSE, &mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += J^T J model of the shot: the transpose begins where J ends. data: factors of the rows, or NULL */
PetscErrorCode BornSweepNormal_Private(BornSweep *s, const PetscReal *model, PetscReal *data, PetscReal *const image[])
{
  PetscReal *traces;

  PetscFunctionBegin;
  PetscCall(BornGetTraces_Private(s, &traces));
  PetscCall(BornForward(s, PETSC_TRUE, model, traces, NULL));
  PetscCall(BornTracesTurn_Private(s, traces, data));
  PetscCall(BornBackward(s, traces, image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the sum of q^2 over the steps that scatter */
PetscErrorCode BornSweepIllumination_Private(BornSweep *s, PETSC_UNUSED const PetscReal *model, PETSC_UNUSED PetscReal *data, PetscReal *const image[])
{
  const double interval = (double)s->in.tuning->interval;

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(s, BORN_FIELD_IMAGE, &s->image));
  PetscCall(BornForward(s, PETSC_FALSE, NULL, NULL, s->image));
  for (PetscInt m = 0; m < s->n; m++) PetscCall(BornAddImage(s, m, interval * s->unit[m] * s->unit[m], image[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product of some shots. After an error the sweep ends, too */
PetscErrorCode BornSweepRun_Private(const BornParts *in, BornProduct product, PetscInt n, const PetscInt shot[], const PetscReal *model, PetscReal *data,
                                    PetscReal *const image[])
{
  BornSweep      s;
  PetscErrorCode code;

  PetscFunctionBegin;
  code = BornSweepBegin_Private(in, n, shot, (PetscBool)(product != BornSweepModel_Private), &s);
  if (!code) code = BornIntegersScale_Private(&s);
  if (!code) code = (*product)(&s, model, data, image);
  PetscCall(BornSweepEnd_Private(&s));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
