/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Boxes: the own nodes of a level with the nodes of neighbours within a distance. For a V or an F cycle a process
   takes its box for a whole grid, and computes all nodes of the box. At the ends of the box inside the grid results
   are wrong. Each operation moves the wrong nodes inwards by one node, and the own nodes stay right until the next
   exchange. A visit of a level needs one exchange, of the right-hand side or of the iterate, instead of one for each
   operation. Operations that combine steps need a whole grid, and work on a box.

   The operator of a box inside the grid has a Neumann end, or drops couplings: only rows at the end differ.
   Operators of order 4 and 6 have longer ends, so their levels have no boxes. Set-ups and full multigrid work
   without boxes.
*/

#include "sbpmgimpl.h"

#define SBPMG_BOX_ALIGN 8  /* on a device boxes begin at multiples: coarse nodes of a box begin at multiples of 16 bytes */
#define SBPMG_BOX_LEAST 32 /* own nodes along a divided direction: a box reaches no face that its own nodes do not */
#define SBPMG_BOX_PITCH 32

/*
   How far boxes must reach: smoothing steps, residual and restriction, or the steps on both sides. After a visit the
   iterate is still right as far as the finer level interpolates from it. With one distance for all levels, the coarse
   nodes of a box belong to the box of the coarser level
*/
static PetscInt Distance(const PC_SBPMG *mg)
{
  PetscInt distance = 0, needed = 0; /* by the interpolation */

  for (PetscInt k = 0; k < mg->gather.first; k++) {
    const PetscInt *steps = mg->level[k].smooth.steps;

    distance = PetscMax(distance, steps[0] + PetscMax(2, steps[1] + needed));
    needed   = (steps[1] + needed + 2) / 2;
  }
  return distance;
}

/* The box around own nodes. The first and the last node have even numbers, and are nodes of the coarser grid */
static SBPBox BoxAround(const PC_SBPMG *mg, const SBPMGLevel *l, SBPBox own)
{
  const PetscInt distance = Distance(mg), align = mg->device ? SBPMG_BOX_ALIGN : 2;
  SBPBox         box;

  for (int d = 0; d < 2; d++) {
    const PetscInt last = (own.start[d] + own.count[d] - 1 + distance + align - 1) / align * align;

    box.start[d] = PetscMax(own.start[d] - distance, 0) / align * align;
    box.count[d] = PetscMin(last, l->grid.n[d]) - box.start[d] + 1;
  }
  return box;
}

static PetscInt PitchOf(SBPBox box)
{
  return (box.count[0] + SBPMG_BOX_PITCH - 1) / SBPMG_BOX_PITCH * SBPMG_BOX_PITCH;
}

/* Whether a level can have a box, the same on all processes */
static PetscBool IsPossible(const SBPMGLevel *l)
{
  const SBPParts *parts = &l->exchange.parts;

  for (int d = 0; d < 2; d++) {
    for (PetscInt p = 0; p < parts->n[d] && parts->n[d] > 1; p++) {
      if (parts->begin[d][p + 1] - parts->begin[d][p] < SBPMG_BOX_LEAST) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* The grids of the boxes of all distributed levels, or of none. To be called when the grids of all levels are known */
PetscErrorCode PCSBPMGBoxPlan_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  if (mg->opt.overlap == PETSC_BOOL3_FALSE || (mg->opt.overlap == PETSC_BOOL3_UNKNOWN && !mg->device)) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->opt.cycle == PCSBPMG_CYCLE_FULL) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->opt.coarse != PCSBPMG_COARSE_GALERKIN || mg->level[0].grid.order != 2) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->gather.first < 1 || mg->gather.first >= mg->n || mg->level[mg->gather.first].grid.pitch % SBPMG_BOX_PITCH) PetscFunctionReturn(PETSC_SUCCESS);
  if (Distance(mg) > SBPMG_BOX_LEAST - SBPMG_BOX_ALIGN) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < mg->gather.first; k++) {
    if (!IsPossible(&mg->level[k])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = mg->gather.first - 1; k >= 0; k--) {
    SBPMGLevel    *l = &mg->level[k], *c = l + 1;
    SBPMGBox      *b   = &l->box;
    const SBPBox   box = BoxAround(mg, l, l->grid.own), below = PCSBPMGIsWhole(mg, k + 1) ? c->grid.own : c->box.there;
    const PetscInt pitch = PCSBPMGIsWhole(mg, k + 1) ? c->grid.pitch : c->box.op.grid.pitch;

    b->there        = box;
    b->op.grid      = l->grid;
    b->coarse       = c->grid;
    b->coarse.pitch = b->coarse.ghostpitch = b->coarse.coefficientpitch = pitch;
    for (int d = 0; d < 2; d++) {
      b->op.grid.n[d]         = box.count[d] - 1;
      b->op.grid.own.start[d] = 0;
      b->op.grid.own.count[d] = box.count[d];
      if (box.start[d] > 0) b->op.grid.dirichlet[2 * d] = PETSC_FALSE;
      if (box.start[d] + box.count[d] <= l->grid.n[d]) b->op.grid.dirichlet[2 * d + 1] = PETSC_FALSE;
      b->coarse.n[d]         = b->op.grid.n[d] / 2;
      b->coarse.own.start[d] = 0;
      b->coarse.own.count[d] = b->coarse.n[d] + 1;
    }
    b->op.grid.ghosted = b->op.grid.own;
    b->coarse.ghosted  = b->coarse.own;
    b->op.grid.pitch = b->op.grid.ghostpitch = b->op.grid.coefficientpitch = PitchOf(box);
    b->own     = (size_t)(l->grid.own.start[1] - box.start[1]) * (size_t)b->op.grid.pitch + (size_t)(l->grid.own.start[0] - box.start[0]);
    b->onward  = (size_t)(box.start[1] / 2 - below.start[1]) * (size_t)pitch + (size_t)(box.start[0] / 2 - below.start[0]);
    b->planned = PETSC_TRUE;
  }
  PetscCall(PetscInfo(pc, "Cycles work on the nodes of a process and those of neighbours within a distance of %" PetscInt_FMT " nodes\n", Distance(mg)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays */

/* The own nodes of an array of a box */
void PCSBPMGBoxPart(const SBPMGLevel *l, SBPPrecision precision, const void *x, SBPGrid *part, void **own)
{
  *part            = l->grid;
  part->pitch      = l->box.op.grid.pitch;
  part->ghostpitch = part->pitch;
  *own             = (char *)x + l->box.own * SBPNumberBytes(precision);
}

/* The nodes of neighbours in an array of a box. Neighbor-wise collective */
PetscErrorCode PCSBPMGBoxExchange_Private(const PC_SBPMG *mg, const SBPMGLevel *l, void *x)
{
  const PetscMemType memory = mg->device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(SBPHaloBegin(l->box.halo, mg->precision, memory, -1, x, x));
  PetscCall(SBPHaloEnd(l->box.halo, mg->precision, memory, x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ operators */

static PetscErrorCode CreateHalo_Private(PC pc, SBPMGLevel *l)
{
  const SBPParts *parts = &l->exchange.parts;
  LitheTransport  transport;
  PetscMPIInt     size;
  SBPBox         *box;
  PetscInt       *pitch;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(parts->comm, &size));
  PetscCall(PetscMalloc2(size, &box, size, &pitch));
  for (PetscMPIInt r = 0; r < size; r++) {
    box[r]   = BoxAround((const PC_SBPMG *)pc->data, l, SBPPartsBox(parts, r));
    pitch[r] = PitchOf(box[r]);
  }
  PetscCall(MatSBPSATGetTransport(pc->pmat, &transport));
  PetscCall(SBPHaloCreateWithin(parts, box, pitch, transport, &l->box.halo));
  PetscCall(PetscFree2(box, pitch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coefficient of the level, without ghosts, to the box */
static PetscErrorCode TakeCoefficient_Private(PC_SBPMG *mg, SBPMGLevel *l, int k)
{
  const SBPOperator *op    = &l->op[mg->precision];
  const SBPGrid     *g     = &op->grid;
  SBPGrid            from  = *g, to;
  const size_t       first = (size_t)(g->own.start[1] - g->ghosted.start[1]) * (size_t)g->coefficientpitch + (size_t)(g->own.start[0] - g->ghosted.start[0]);
  void              *own;

  PetscFunctionBegin;
  from.pitch = g->coefficientpitch;
  PetscCall(PCSBPMGGhosts_Private(mg, &l->box.op.grid, mg->precision, &l->box.coefficient[k]));
  PCSBPMGBoxPart(l, mg->precision, l->box.coefficient[k], &to, &own);
  PetscCall(
    (*mg->kernels->vector.copy)(&from, mg->precision, 0, (const char *)op->coefficient[k] + first * SBPNumberBytes(mg->precision), &to, mg->precision, 0, own));
  PetscCall(PCSBPMGBoxExchange_Private(mg, l, l->box.coefficient[k]));
  l->box.op.coefficient[k] = l->box.coefficient[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The penalties of a face with those of neighbours, by way of an array of the box, which is work */
static PetscErrorCode TakePenalty_Private(PC_SBPMG *mg, SBPMGLevel *l, int face, void *work)
{
  const SBPOperator *op = &l->op[mg->precision];
  const SBPGrid     *g = &op->grid, *all = &l->box.op.grid;
  const size_t       bytes = SBPNumberBytes(mg->precision);
  const int          d = face / 2, e = 1 - d;
  const PetscInt     before = g->own.start[e] - l->box.there.start[e], step = d ? 1 : all->pitch;
  char              *line  = (char *)work + (face % 2 ? (size_t)all->n[d] * (size_t)(d ? all->pitch : 1) : 0) * bytes; /* nodes of the face */
  SBPGrid            apart = *g, inside = *g;

  PetscFunctionBegin;
  apart.own.count[d] = inside.own.count[d] = 1;
  apart.pitch                              = d ? g->own.count[e] : 1;
  inside.pitch                             = all->pitch;
  if (op->penalty[face])
    PetscCall((*mg->kernels->vector.copy)(&apart, mg->precision, 0, (const char *)op->penalty[face] + (size_t)(g->own.start[e] - g->ghosted.start[e]) * bytes,
                                          &inside, mg->precision, 0, line + (size_t)before * (size_t)step * bytes));
  PetscCall(PCSBPMGBoxExchange_Private(mg, l, work));
  if (!all->dirichlet[face]) PetscFunctionReturn(PETSC_SUCCESS);
  apart.own.count[e] = inside.own.count[e] = all->own.count[e];
  apart.pitch                              = d ? all->own.count[e] : 1;
  PetscCall(LitheMemoryCalloc(mg->kernels->memory, (size_t)all->own.count[e] * bytes, &l->box.penalty[face]));
  PetscCall((*mg->kernels->vector.copy)(&inside, mg->precision, 0, line, &apart, mg->precision, 0, l->box.penalty[face]));
  l->box.op.penalty[face] = l->box.penalty[face];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operators of the boxes, once spectra are known: the arrays of the levels serve cycles from now on. Collective */
PetscErrorCode PCSBPMGBoxFill_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->gather.first && k < mg->n; k++) {
    SBPMGLevel        *l    = &mg->level[k];
    const SBPOperator *op   = &l->op[mg->precision];
    SBPGrid            grid = l->box.op.grid;

    if (!l->box.planned) break;
    PetscCall(CreateHalo_Private(pc, l));
    l->box.op      = *op;
    l->box.op.grid = grid;
    for (int q = 0; q < SBP_COEFFICIENTS; q++) l->box.op.coefficient[q] = NULL;
    for (int f = 0; f < SBP_FACES; f++) l->box.op.penalty[f] = NULL;
    for (int q = 0; q < SBPKindCoefficients(op->kind); q++) PetscCall(TakeCoefficient_Private(mg, l, q));
    for (int f = 0; f < SBP_FACES && op->kind != SBP_NINE; f++) {
      if (op->grid.dirichlet[f]) PetscCall(TakePenalty_Private(mg, l, f, l->x[0]));
    }
    if (l->dinv) {
      PetscCall((*mg->kernels->diagonal)(&l->box.op, l->dinv));
      PetscCall((*mg->kernels->vector.reciprocal)(&grid, mg->precision, l->dinv));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGBoxFree_Private(PC_SBPMG *mg, SBPMGBox *box)
{
  PetscFunctionBegin;
  for (int k = 0; k < SBP_COEFFICIENTS; k++) PetscCall(PCSBPMGFree_Private(mg, &box->coefficient[k]));
  for (int f = 0; f < SBP_FACES; f++) {
    if (box->penalty[f]) PetscCall((*mg->kernels->memory->free)(&box->penalty[f]));
  }
  PetscCall(SBPHaloDestroy(&box->halo));
  PetscCall(PetscMemzero(box, sizeof(*box)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
