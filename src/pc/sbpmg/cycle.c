/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Cycles of a PCSBPMG: steps on a level with the exchange of ghosts, smoothing, transfers, V and F cycles.

   Nothing here allocates memory or, on one process, waits for a device, so a cycle can be recorded and replayed.
*/

#include "sbpmgimpl.h"
#include <lithe/private/machine.h>

static inline PetscMemType MemType(const PC_SBPMG *mg)
{
  return mg->device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
}

/* Fills a ghosted array from an owned array */
PetscErrorCode PCSBPMGGhosted_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPPrecision precision, const void *owned, const void **ghosted)
{
  PetscFunctionBegin;
  *ghosted = owned;
  if (!l->exchange.halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SBPHaloBegin(l->exchange.halo, precision, MemType(mg), -1, owned, l->exchange.ghost[precision]));
  PetscCall(SBPHaloEnd(l->exchange.halo, precision, MemType(mg), owned, l->exchange.ghost[precision]));
  *ghosted = l->exchange.ghost[precision];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step whose u is owned: the part without ghosts is done while ghosts travel */
PetscErrorCode PCSBPMGStep_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPPrecision precision, SBPStep *step)
{
  const SBPMGExchange *e     = &l->exchange;
  const SBPOperator   *op    = &l->op[precision];
  const void          *owned = step->u;

  PetscFunctionBegin;
  if (!e->halo) {
    PetscCall((*mg->kernels->step)(op, NULL, step));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SBPHaloBegin(e->halo, precision, MemType(mg), 2 * op->grid.reach, owned, e->ghost[precision]));
  if (e->inner.count[0] > 0 && e->inner.count[1] > 0) {
    /* these rows read the owned array as a part of a ghosted array */
    const SBPGrid  *g      = &op->grid;
    const ptrdiff_t before = (ptrdiff_t)(g->own.start[1] - g->ghosted.start[1]) * g->pitch + (g->own.start[0] - g->ghosted.start[0]);
    SBPOperator     view   = *op;

    view.grid.ghostpitch = g->pitch;
    step->u              = (const char *)owned - before * (ptrdiff_t)SBPNumberBytes(precision);
    PetscCall((*mg->kernels->step)(&view, &e->inner, step));
  }
  PetscCall(SBPHaloEnd(e->halo, precision, MemType(mg), owned, e->ghost[precision]));
  step->u = e->ghost[precision];
  for (int k = 0; k < e->nborder; k++) PetscCall((*mg->kernels->step)(op, &e->border[k], step));
  step->u = owned;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of a level in a cycle: on a box, or on the own nodes */
static inline const SBPOperator *OperatorOf(const PC_SBPMG *mg, const SBPMGLevel *l)
{
  const SBPOperator *box = &l->box.op;

  return l->box.halo ? box : &l->op[mg->precision];
}

/* Whether each operation needs ghosts */
static inline PetscBool NeedsGhosts(const SBPMGLevel *l)
{
  return (PetscBool)(l->exchange.halo && !l->box.halo);
}

/* The coarse nodes below those of a level, and their place in an array of the coarse level */
static inline const SBPGrid *CoarseGridOf(const PC_SBPMG *mg, const SBPMGLevel *l, const SBPMGLevel *c)
{
  const SBPGrid *box = &l->box.coarse;

  return l->box.halo ? box : &c->op[mg->precision].grid;
}

static inline void *OnCoarse(const PC_SBPMG *mg, const SBPMGLevel *l, void *x)
{
  return (char *)x + (l->box.halo ? l->box.onward * SBPNumberBytes(mg->precision) : 0);
}

/* A step of a cycle */
static PetscErrorCode CycleStep_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPStep *step)
{
  PetscFunctionBegin;
  if (l->box.halo) PetscCall((*mg->kernels->step)(&l->box.op, NULL, step));
  else PetscCall(PCSBPMGStep_Private(mg, l, mg->precision, step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One smoothing step from the iterate; dout may be NULL; d may be NULL if c1 = 0 */
static PetscErrorCode SmoothStep_Private(PC_SBPMG *mg, SBPMGLevel *l, double c1, double c2, const void *d, void *dout)
{
  SBPStep step = {.mode = SBP_SMOOTH, .u = l->x[l->cur], .b = l->b, .d = d, .dinv = l->dinv, .c1 = c1, .c2 = c2, .out = l->x[1 - l->cur], .dout = dout};

  PetscFunctionBegin;
  PetscCall(CycleStep_Private(mg, l, &step));
  l->cur = 1 - l->cur;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps from step `first` on; d has the change of the step before */
static PetscErrorCode SmoothRest_Private(PC_SBPMG *mg, SBPMGLevel *l, int side, PetscInt first, const void *d)
{
  const PetscInt n = l->smooth.steps[side];

  PetscFunctionBegin;
  for (PetscInt k = first; k < n; k++) {
    PetscCall(SmoothStep_Private(mg, l, k ? l->smooth.c1[side][k] : 0., l->smooth.c2[side][k], d, k + 1 < n ? l->d : NULL));
    d = l->d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether these operations can be used on a level, and are worth it */
static inline PetscBool UsesPairs(const PC_SBPMG *mg, const SBPMGLevel *l, size_t least)
{
  const SBPOperator *op = OperatorOf(mg, l);

  if (NeedsGhosts(l) || !l->dinv) return PETSC_FALSE;
  if (op->kind == SBP_NINE) return PETSC_TRUE;
  return (PetscBool)(op->grid.order == 2 && (size_t)op->grid.own.count[0] * (size_t)op->grid.own.count[1] * SBPNumberBytes(mg->precision) >= least);
}

/*
   Smoothing before the coarse correction. From zero, the first step scales the right-hand side, and the result is also
   the change d
*/
static PetscErrorCode Presmooth_Private(PC_SBPMG *mg, SBPMGLevel *l, PetscBool zero)
{
  const PetscInt     n  = l->smooth.steps[0];
  const SBPOperator *op = OperatorOf(mg, l);

  PetscFunctionBegin;
  if (!zero) {
    PetscCall(SmoothRest_Private(mg, l, 0, 0, NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  l->cur = 0;
  if (n >= 2 && mg->kernels->fused.smoothtwo && !NeedsGhosts(l)) {
    PetscCall((*mg->kernels->fused.smoothtwo)(op, l->smooth.c1[0], l->smooth.c2[0], l->dinv, l->b, l->x[0], n > 2 ? l->d : NULL));
    PetscCall(SmoothRest_Private(mg, l, 0, 2, l->d));
  } else {
    if (l->dinv) PetscCall((*mg->kernels->vector.multiply)(&op->grid, mg->precision, l->smooth.c2[0][0], l->dinv, l->b, l->x[0]));
    else PetscCall((*mg->kernels->vector.axpby)(&op->grid, l->smooth.c2[0][0], mg->precision, l->b, 0., mg->precision, l->x[0]));
    PetscCall(SmoothRest_Private(mg, l, 0, 1, l->x[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rc = P^T r, with all nodes if the coarse level is gathered */
PetscErrorCode PCSBPMGRestrict_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c, SBPPrecision precision, const void *r, void *rc)
{
  const SBPGrid  *fine = &l->op[precision].grid, *coarse = &c->op[precision].grid;
  const PetscBool gathered = PCSBPMGIsGathered(mg, (PetscInt)(c - mg->level));

  PetscFunctionBegin;
  PetscCall((*mg->kernels->restrict_)(fine, gathered ? &mg->gather.part : coarse, precision, r, gathered ? mg->gather.own[precision] : rc));
  if (gathered) PetscCall(PCSBPMGGather_Private(mg, precision, mg->gather.own[precision], coarse, rc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The restriction from a box has set the coarse nodes of the box. A gathered level needs those of all processes */
static PetscErrorCode GatherBelowBox_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c)
{
  const SBPPrecision precision = mg->precision;
  const SBPGrid     *coarse    = &c->op[precision].grid;
  const void        *own;
  SBPGrid            part;

  PetscFunctionBegin;
  if (!l->box.halo || !PCSBPMGIsGathered(mg, (PetscInt)(c - mg->level))) PetscFunctionReturn(PETSC_SUCCESS);
  PCSBPMGOwnPart(mg, coarse, precision, c->b, &part, &own);
  PetscCall((*mg->kernels->vector.copy)(&part, precision, 0, own, &mg->gather.part, precision, 0, mg->gather.own[precision]));
  PetscCall(PCSBPMGGather_Private(mg, precision, mg->gather.own[precision], coarse, c->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of the coarse level: P^T (b - A x) */
static PetscErrorCode RestrictResidual_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c)
{
  const SBPPrecision precision = mg->precision;
  const SBPOperator *op        = OperatorOf(mg, l);
  SBPStep            step      = {.mode = SBP_RESIDUAL, .u = l->x[l->cur], .b = l->b, .out = l->x[1 - l->cur]};
  const void        *r;

  PetscFunctionBegin;
  if (mg->kernels->fused.residualrestrict && !NeedsGhosts(l)) {
    PetscCall((*mg->kernels->fused.residualrestrict)(op, CoarseGridOf(mg, l, c), l->x[l->cur], l->b, OnCoarse(mg, l, c->b)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CycleStep_Private(mg, l, &step));
  if (l->box.halo) {
    PetscCall((*mg->kernels->restrict_)(&op->grid, CoarseGridOf(mg, l, c), precision, step.out, OnCoarse(mg, l, c->b)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSBPMGGhosted_Private(mg, l, precision, step.out, &r));
  PetscCall(PCSBPMGRestrict_Private(mg, l, c, precision, r, c->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse correction, and smoothing afterwards */
static PetscErrorCode CorrectAndSmooth_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c)
{
  const SBPPrecision precision = mg->precision;
  const SBPOperator *op        = OperatorOf(mg, l);
  const SBPGrid     *coarse    = CoarseGridOf(mg, l, c);
  const PetscInt     n         = l->smooth.steps[1];
  const void        *e         = OnCoarse(mg, l, c->x[c->cur]);

  PetscFunctionBegin;
  if (n == 2 && mg->kernels->fused.prolongsmoothtwo && UsesPairs(mg, l, SBPMG_PAIR_AFTER)) {
    PetscCall((*mg->kernels->fused.prolongsmoothtwo)(op, coarse, e, l->x[l->cur], l->smooth.c1[1], l->smooth.c2[1], l->dinv, l->b, l->x[1 - l->cur]));
    l->cur = 1 - l->cur;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (n >= 1 && mg->kernels->fused.prolongsmooth && !NeedsGhosts(l)) {
    PetscCall((*mg->kernels->fused.prolongsmooth)(op, coarse, e, l->x[l->cur], l->smooth.c2[1][0], l->dinv, l->b, l->x[1 - l->cur], n > 1 ? l->d : NULL));
    l->cur = 1 - l->cur;
    PetscCall(SmoothRest_Private(mg, l, 1, 1, l->d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!l->box.halo) PetscCall(PCSBPMGGhosted_Private(mg, c, precision, c->x[c->cur], &e));
  PetscCall((*mg->kernels->prolong)(coarse, &op->grid, precision, PETSC_TRUE, e, l->x[l->cur]));
  PetscCall(SmoothRest_Private(mg, l, 1, 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse problem of a cycle, from zero */
static PetscErrorCode SolveCoarse_Private(PC_SBPMG *mg, PetscInt level, PCSBPMGCycleType type)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGCycle_Private(mg, level, PCSBPMG_CYCLE_V, PETSC_TRUE));
  if (type == PCSBPMG_CYCLE_F && level < mg->n - 1) {
    PetscCall(PCSBPMGCycle_Private(mg, level, PCSBPMG_CYCLE_F, PETSC_FALSE));
    PetscCall(PCSBPMGCycle_Private(mg, level, PCSBPMG_CYCLE_V, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveGatheredAs_Private(PC_SBPMG *mg, PCSBPMGCycleType type, SBPMGGraph which)
{
  PetscFunctionBegin;
  PetscCall(SolveCoarse_Private(mg, mg->gather.first, type));
  mg->gather.cur[which] = mg->level[mg->gather.first].cur;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveGatheredV_Private(void *mg)
{
  return SolveGatheredAs_Private((PC_SBPMG *)mg, PCSBPMG_CYCLE_V, SBPMG_GRAPH_V);
}

static PetscErrorCode SolveGatheredF_Private(void *mg)
{
  return SolveGatheredAs_Private((PC_SBPMG *)mg, PCSBPMG_CYCLE_F, SBPMG_GRAPH_F);
}

/* The same on the gathered level, which is recorded. A replay leaves cur as the record did */
static PetscErrorCode SolveGathered_Private(PC_SBPMG *mg, PCSBPMGCycleType type)
{
  const SBPMGGraph which = type == PCSBPMG_CYCLE_F ? SBPMG_GRAPH_F : SBPMG_GRAPH_V;

  PetscFunctionBegin;
  PetscCall(PCSBPMGPlay_Private(mg, which, type == PCSBPMG_CYCLE_F ? SolveGatheredF_Private : SolveGatheredV_Private));
  mg->level[mg->gather.first].cur = mg->gather.cur[which];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The part of a cycle before the correction by the coarse level. The x of both levels remain for the second part. An F
   cycle solves the coarse problem by a V cycle, an F cycle and a V cycle, and is therefore symmetric like the V cycle.
*/
PetscErrorCode PCSBPMGDescend_Private(PC_SBPMG *mg, PetscInt level, PCSBPMGCycleType type, PetscBool zero)
{
  SBPMGLevel *l = &mg->level[level], *c = l + 1;

  PetscFunctionBegin;
  /* a box keeps the right-hand side of neighbours for all cycles from its first, which begins with zero */
  if (l->box.halo) PetscCall(PCSBPMGBoxExchange_Private(mg, l, zero ? l->b : l->x[l->cur]));
  if (zero && l->smooth.steps[0] == 2 && mg->kernels->fused.smoothtworestrict && UsesPairs(mg, l, SBPMG_PAIR_BEFORE)) {
    l->cur = 0;
    PetscCall((*mg->kernels->fused.smoothtworestrict)(OperatorOf(mg, l), CoarseGridOf(mg, l, c), l->smooth.c1[0], l->smooth.c2[0], l->dinv, l->b, l->x[0],
                                                      OnCoarse(mg, l, c->b)));
  } else {
    PetscCall(Presmooth_Private(mg, l, zero));
    PetscCall(RestrictResidual_Private(mg, l, c));
  }
  PetscCall(GatherBelowBox_Private(mg, l, c));
  if (PCSBPMGIsGathered(mg, level + 1)) PetscCall(SolveGathered_Private(mg, type));
  else PetscCall(SolveCoarse_Private(mg, level + 1, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on a level for its right-hand side b, from the iterate or from zero */
PetscErrorCode PCSBPMGCycle_Private(PC_SBPMG *mg, PetscInt level, PCSBPMGCycleType type, PetscBool zero)
{
  SBPMGLevel *l = &mg->level[level];

  PetscFunctionBegin;
  if (level == mg->n - 1) {
    l->cur = 0;
    PetscCall(PCSBPMGCoarseSolve_Private(mg, mg->precision, l->b, l->x[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSBPMGDescend_Private(mg, level, type, zero));
  PetscCall(CorrectAndSmooth_Private(mg, l, l + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Calls body, which launches the same sequence of kernels each time on a device: see LitheMGPlay(). Exchanges, and a
   solver of the coarsest level, cannot be recorded
*/
PetscErrorCode PCSBPMGPlay_Private(PC_SBPMG *mg, SBPMGGraph which, PetscErrorCode (*body)(void *))
{
  const PetscBool record = (PetscBool)(mg->opt.graph && mg->coarsest.ndense && (which != SBPMG_GRAPH_CYCLE || PCSBPMGIsWhole(mg, 0)));

  PetscFunctionBegin;
  PetscCall(LitheMGPlay(LitheMemoryOf(mg->device), &mg->record[which], record, body, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
