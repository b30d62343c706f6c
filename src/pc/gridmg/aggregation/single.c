/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest level and a cycle for a KSP in single precision: lithesingle.h */

#include "aggregation.h"

static PetscErrorCode Enter_Private(void *ctx, double factor, const PetscScalar r[], float b[])
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->vectors.enterscaled)(&mg->aggregation.fine, &mg->domain.team.rows, 0, r, b, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device the scale is that of a largest number */
static PetscErrorCode Leave_Private(void *ctx, double factor, const float y[], PetscScalar x[])
{
  PC_GridMG   *mg    = (PC_GridMG *)ctx;
  const double scale = mg->place.device ? 1 / factor : factor;

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->memory.put)(sizeof(scale), &scale, mg->application.scale));
  PetscCall((*mg->place.kernels->vectors.leave)(&mg->aggregation.fine, &mg->domain.team.rows, 0, mg->found.factor, mg->application.scale, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply_Private(void *ctx, float p[], float q[])
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->cycle.residual)(&mg->aggregation.fine, NULL, p, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply_Private(void *ctx, const float r[], const float **z)
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  PetscCall(PCGridMGCycleOf_Private(mg, r, (const void **)z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetSingle_Private(PC pc, LitheSingle *s)
{
  const PC_GridMG  *mg = (const PC_GridMG *)pc->data;
  const GridMGGrid *g  = &mg->aggregation.fine.grid;

  PetscFunctionBegin;
  *s = (LitheSingle){.n        = g->cells + g->wells,
                     .length   = g->cells + g->wells,
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
