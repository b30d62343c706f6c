/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A V cycle. The smoother is Chebyshev's method of the fourth kind for M^-1 A, whose eigenvalues are at most 1; it
   needs no lower end of an interval (J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer. Linear
   Algebra Appl. 30, 2023). Its polynomial is the same before and after, so that the cycle is symmetric.
*/

#include "camgimpl.h"
#include <lithe/private/litheplace.h>

/* steps of the smoother; zero: from x = 0 */
static PetscErrorCode Smooth_Private(const PC_CAMG *mg, CAMGLevel *l, PetscInt steps, PetscBool zero)
{
  PetscFunctionBegin;
  if (zero) l->cur = 0;
  if (zero && !steps) PetscCall((*mg->kernels->memory->clear)((size_t)l->facts.n * PCCAMGNumberBytes_Private(mg), l->x[0]));
  for (PetscInt k = 1; k <= steps; k++) {
    const double c1 = k == 1 ? 0 : (2. * (double)k - 3) / (2. * (double)k + 1), c2 = (8. * (double)k - 4) / (2. * (double)k + 1);
    void        *x = zero && k == 1 ? NULL : l->x[l->cur], *out = l->x[1 - l->cur];

    if (!zero || k > 1) PetscCall(PCCAMGHaloGet_Private(mg, &l->halo[0], x)); /* x is also NULL on a process without rows */
    PetscCall((*mg->kernels->level.step)(&l->op, c1, c2, l->b, x, k == 1 || (zero && k == 2) ? NULL : out, out));
    l->cur = 1 - l->cur;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Whole_Private(void *ctx)
{
  PC_CAMG *mg = (PC_CAMG *)ctx;

  PetscFunctionBegin;
  PetscCall(PCCAMGCycle_Private(mg, mg->whole.first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of the next level, and its solution */
static PetscErrorCode CoarseSolve_Private(PC_CAMG *mg, PetscInt level)
{
  CAMGLevel         *l      = &mg->level[level];
  const CAMGKernels *kern   = mg->kernels;
  const PetscBool    gather = (PetscBool)(mg->whole.gather.halo && level + 1 == mg->whole.first);
  void              *r      = l->x[1 - l->cur];
  const void        *all;

  PetscFunctionBegin;
  PetscCall(PCCAMGHaloGet_Private(mg, &l->halo[0], l->x[l->cur]));
  PetscCall((*kern->level.residual)(&l->op, l->b, l->x[l->cur], r));
  PetscCall(PCCAMGHaloGet_Private(mg, &l->halo[0], r));
  PetscCall((*kern->level.transfer)(&l->restrict_, PETSC_FALSE, r, gather ? mg->whole.part : l[1].b));
  if (gather) {
    PetscCall(LitheHaloBegin(mg->whole.gather.halo, mg->whole.part));
    PetscCall(LitheHaloEnd(mg->whole.gather.halo, &all));
    PetscCall((*kern->memory->copy)((size_t)mg->whole.gather.n * PCCAMGNumberBytes_Private(mg), all, l[1].b));
    PetscCall(LitheMGPlay(kern->memory, &mg->record, mg->opt.graph, Whole_Private, mg));
  } else PetscCall(PCCAMGCycle_Private(mg, level + 1));
  PetscCall(PCCAMGHaloGet_Private(mg, &l->halo[1], l[1].x[l[1].cur]));
  PetscCall((*kern->level.transfer)(&l->prolong, PETSC_TRUE, l[1].x[l[1].cur], l->x[l->cur]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of the level from its b */
PetscErrorCode PCCAMGCycle_Private(PC_CAMG *mg, PetscInt level)
{
  CAMGLevel *l = &mg->level[level];

  PetscFunctionBegin;
  if (level == mg->n - 1 && mg->coarsest.n) {
    l->cur = 0;
    PetscCall((*mg->kernels->level.dense)(&mg->coarsest, l->b, l->x[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Smooth_Private(mg, l, mg->opt.smooths[0], PETSC_TRUE));
  if (level < mg->n - 1) PetscCall(CoarseSolve_Private(mg, level));
  PetscCall(Smooth_Private(mg, l, mg->opt.smooths[1], PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest number of the right-hand side over all processes */
static PetscErrorCode ShareLargest_Private(PC pc)
{
  const PC_CAMG        *mg     = (const PC_CAMG *)pc->data;
  const LitheMemoryOps *memory = mg->kernels->memory;
  double                mine, all;

  PetscFunctionBegin;
  PetscCall((*memory->get)(sizeof(mine), mg->units.scale, &mine));
  if (!(mine <= (double)PETSC_MAX_REAL)) mine = INFINITY;
  PetscCallMPI(MPIU_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  PetscCall((*memory->put)(sizeof(all), &all, mg->units.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x and y have the place of the levels */
static PetscErrorCode ApplyArrays_Private(PC pc, const PetscScalar x[], PetscScalar y[])
{
  PC_CAMG           *mg   = (PC_CAMG *)pc->data;
  const CAMGKernels *kern = mg->kernels;
  CAMGLevel         *l    = &mg->level[0];

  PetscFunctionBegin;
  PetscCall((*kern->level.largest)(l->facts.n, mg->units.outer[0], x, mg->units.scale));
  if (mg->shared) PetscCall(ShareLargest_Private(pc));
  PetscCall((*kern->level.enter)(l->facts.n, mg->precision.single, mg->units.outer[0], mg->units.scale, x, l->b));
  if (mg->shared) PetscCall(PCCAMGCycle_Private(mg, 0));
  else PetscCall(LitheMGPlay(kern->memory, &mg->record, mg->opt.graph, Whole_Private, mg));
  PetscCall((*kern->level.leave)(l->facts.n, mg->precision.single, mg->units.factor, mg->units.outer[1], mg->units.scale, l->x[l->cur], y));
  if (mg->device) PetscCall(PetscLogGpuFlops(mg->flops));
  else PetscCall(PetscLogFlops(mg->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_CAMG(PC pc, Vec x, Vec y)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  if (pc->failedreason) PetscCall(VecFlag(y, 1));
  else if (mg->n) PetscCall(LithePCApplyThere(pc, mg->device, mg->work, x, y, ApplyArrays_Private)); /* else no rows */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ for a KSP in single precision: lithesingle.h */

/* enter() and leave() of the levels take the scale from a number of this size, in the memory of the levels */
static PetscErrorCode PutScale_Private(const PC_CAMG *mg, double factor)
{
  const double largest = 1 / factor;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->memory->put)(sizeof(largest), &largest, mg->units.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleEnter_Private(void *ctx, double factor, const PetscScalar r[], float b[])
{
  const PC_CAMG *mg = (const PC_CAMG *)ctx;

  PetscFunctionBegin;
  PetscCall(PutScale_Private(mg, factor));
  PetscCall((*mg->kernels->level.enter)(mg->level[0].facts.n, PETSC_TRUE, mg->units.outer[0], mg->units.scale, r, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleLeave_Private(void *ctx, double factor, const float y[], PetscScalar x[])
{
  const PC_CAMG *mg = (const PC_CAMG *)ctx;

  PetscFunctionBegin;
  PetscCall(PutScale_Private(mg, factor));
  PetscCall((*mg->kernels->level.leave)(mg->level[0].facts.n, PETSC_TRUE, mg->units.factor, mg->units.outer[1], mg->units.scale, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleMultiply_Private(void *ctx, float p[], float q[])
{
  const PC_CAMG   *mg = (const PC_CAMG *)ctx;
  const CAMGLevel *l  = &mg->level[0];

  PetscFunctionBegin;
  PetscCall(PCCAMGHaloGet_Private(mg, &l->halo[0], p));
  PetscCall((*mg->kernels->level.product)(&mg->fine.op, p, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SingleApply_Private(void *ctx, const float r[], const float **z)
{
  PC_CAMG   *mg  = (PC_CAMG *)ctx;
  CAMGLevel *l   = &mg->level[0];
  void      *own = l->b;

  PetscFunctionBegin;
  l->b = (void *)r; /* only read */
  PetscCall(PCCAMGCycle_Private(mg, 0));
  l->b = own;
  *z   = (const float *)l->x[l->cur];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that is the coarsest level at once has only an inverse. s NULL: it will be wanted after the set-up */
PetscErrorCode PCCAMGGetSingle_Private(PC pc, LitheSingle *s, PetscBool *offers)
{
  PC_CAMG         *mg    = (PC_CAMG *)pc->data;
  const CAMGLevel *l     = &mg->level[0];
  const PetscInt   parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));

  PetscFunctionBegin;
  mg->fine.wanted = PETSC_TRUE;
  *offers         = (PetscBool)(s && mg->n > 1 && mg->precision.single && mg->matrix.symmetric && !pc->failedreason);
  if (!*offers) PetscFunctionReturn(PETSC_SUCCESS);
  if (!mg->fine.there) PetscUseTypeMethod(pc, setup);
  *s = (LitheSingle){.n        = parts * l->facts.n,
                     .length   = parts * (l->facts.n + l->ghosts),
                     .device   = mg->device,
                     .records  = mg->opt.graph,
                     .memory   = mg->kernels->memory,
                     .number   = mg->fine.number,
                     .ctx      = pc->data,
                     .enter    = SingleEnter_Private,
                     .leave    = SingleLeave_Private,
                     .multiply = SingleMultiply_Private,
                     .apply    = SingleApply_Private};
  PetscFunctionReturn(PETSC_SUCCESS);
}
