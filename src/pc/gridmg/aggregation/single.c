/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The finest level and a cycle for a KSP in single precision: lithesingle.h. Vectors have the numbers of a vector of
   the level, complex ones twice. Remote cells and ghosts of right-hand sides and products are 0, so that sums count
   own cells only
*/

#include "aggregation.h"
#include "../boxes/boxes.h"

/* On a device the scale is that of a largest number */
static PetscErrorCode PutScale_Private(PC_GridMG *mg, double factor)
{
  const double scale = mg->place.device ? 1 / factor : factor;

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->memory.put)(sizeof(scale), &scale, mg->application.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Enter_Private(void *ctx, double factor, const PetscScalar r[], float b[])
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  if (mg->place.overlap) PetscCall(PutScale_Private(mg, factor));
  for (int part = 0; part < GRIDMG_PARTS; part++, b += PCGridMGFineStride(mg)) {
    if (mg->place.overlap) PetscCall(PCGridMGOverlapEnterScaled_Private(mg, part, r, b));
    else PetscCall((*mg->place.kernels->vectors.enterscaled)(&mg->aggregation.fine.op, &mg->domain.team.rows, part, r, b, factor));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Leave_Private(void *ctx, double factor, const float y[], PetscScalar x[])
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  PetscCall(PutScale_Private(mg, factor));
  for (int part = 0; part < GRIDMG_PARTS; part++, y += PCGridMGFineStride(mg)) {
    if (mg->place.overlap) PetscCall(PCGridMGOverlapLeave_Private(mg, part, y, x));
    else PetscCall((*mg->place.kernels->vectors.leave)(&mg->aggregation.fine.op, &mg->domain.team.rows, part, mg->found.factor, mg->application.scale, y, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply_Private(void *ctx, float p[], float q[])
{
  PC_GridMG            *mg = (PC_GridMG *)ctx;
  GridMGLevel          *l  = &mg->aggregation.level[0];
  const GridMGOperator *op = &mg->aggregation.fine.op;

  PetscFunctionBegin;
  for (int part = 0; part < GRIDMG_PARTS; part++, p += PCGridMGFineStride(mg), q += PCGridMGFineStride(mg)) {
    if (mg->place.overlap) {
      PetscCall(PCGridMGOverlapExchange_Private(mg, l, p));
      PetscCall((*mg->place.kernels->cycle.residual)(op, NULL, p, l->vector.b));
      PetscCall(PCGridMGOverlapOwn_Private(mg, l, l->vector.b, q));
    } else {
      PetscCall(PCGridMGExchange_Private(mg, l, p));
      PetscCall((*mg->place.kernels->cycle.residual)(op, NULL, p, q));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next cycle overwrites x: complex numbers have an array for both parts */
static PetscErrorCode Keep_Private(PC_GridMG *mg, int part, const float *x, const float **z)
{
  PetscFunctionBegin;
  if (GRIDMG_PARTS == 1) *z = x;
  else {
    const GridMGGrid *g     = &mg->aggregation.fine.op.grid;
    const size_t      bytes = (size_t)(g->cells + g->wells) * sizeof(float);

    *z = mg->aggregation.fine.z;
    PetscCall((*mg->place.kernels->memory.copy)(bytes, x, mg->aggregation.fine.z + (size_t)part * PCGridMGFineStride(mg)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply_Private(void *ctx, const float r[], const float **z)
{
  PC_GridMG   *mg = (PC_GridMG *)ctx;
  GridMGLevel *l  = &mg->aggregation.level[0];

  PetscFunctionBegin;
  for (int part = 0; part < GRIDMG_PARTS; part++, r += PCGridMGFineStride(mg)) {
    const void *x;

    if (mg->place.overlap) {
      PetscCall(PCGridMGOverlapOwn_Private(mg, l, r, l->vector.b));
      PetscCall(PCGridMGOverlapExchange_Private(mg, l, l->vector.b));
    }
    PetscCall(PCGridMGCycleOf_Private(mg, mg->place.overlap ? l->vector.b : r, &x));
    PetscCall(Keep_Private(mg, part, (const float *)x, z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetSingle_Private(PC pc, LitheSingle *s)
{
  const PC_GridMG  *mg   = (const PC_GridMG *)pc->data;
  const GridMGGrid *g    = &mg->aggregation.fine.op.grid;
  const PetscInt    last = (GRIDMG_PARTS - 1) * (PetscInt)PCGridMGFineStride(mg); /* where the last part begins */

  PetscFunctionBegin;
  *s = (LitheSingle){.n        = last + g->cells + g->wells,
                     .length   = last + g->cells + g->wells + g->ghosts,
                     .device   = mg->place.device,
                     .records  = mg->opt.graph,
                     .memory   = LitheMemoryOf(mg->place.device),
                     .ctx      = pc->data,
                     .enter    = Enter_Private,
                     .leave    = Leave_Private,
                     .multiply = Multiply_Private,
                     .apply    = Apply_Private};
  PetscFunctionReturn(PETSC_SUCCESS);
}
