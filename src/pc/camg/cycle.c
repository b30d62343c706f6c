/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A V cycle. The smoother is Chebyshev's method of the fourth kind for M^-1 A, whose eigenvalues are at most 1; it
   needs no lower end of an interval (J. Lottes, Optimal polynomial smoothers for multigrid V-cycles, Numer. Linear
   Algebra Appl. 30, 2023). Its polynomial is the same before and after, so that the cycle is symmetric.
*/

#include "camgimpl.h"

/* steps of the smoother; zero: from x = 0 */
static PetscErrorCode Smooth_Private(PC_CAMG *mg, CAMGLevel *l, PetscInt steps, PetscBool zero)
{
  PetscFunctionBegin;
  if (zero) l->cur = 0;
  if (zero && !steps) PetscCall((*mg->kernels->memory->clear)((size_t)l->facts.n * PCCAMGNumberBytes_Private(mg), l->x[0]));
  for (PetscInt k = 1; k <= steps; k++) {
    const double c1 = k == 1 ? 0 : (2. * (double)k - 3) / (2. * (double)k + 1), c2 = (8. * (double)k - 4) / (2. * (double)k + 1);
    const void  *x   = zero && k == 1 ? NULL : l->x[l->cur];
    void        *out = l->x[1 - l->cur];

    PetscCall((*mg->kernels->step)(&l->op, c1, c2, l->b, x, k == 1 || (zero && k == 2) ? NULL : out, out));
    l->cur = 1 - l->cur;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x of the level from its b */
PetscErrorCode PCCAMGCycle_Private(PC_CAMG *mg, PetscInt level)
{
  CAMGLevel         *l    = &mg->level[level];
  const CAMGKernels *kern = mg->kernels;
  void              *r;

  PetscFunctionBegin;
  if (level == mg->n - 1 && mg->coarsest.n) {
    l->cur = 0;
    PetscCall((*kern->dense)(&mg->coarsest, l->b, l->x[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Smooth_Private(mg, l, mg->opt.smooths[0], PETSC_TRUE));
  if (level < mg->n - 1) {
    r = l->x[1 - l->cur];
    PetscCall((*kern->residual)(&l->op, l->b, l->x[l->cur], r));
    PetscCall((*kern->transfer)(&l->restrict_, PETSC_FALSE, r, l[1].b));
    PetscCall(PCCAMGCycle_Private(mg, level + 1));
    PetscCall((*kern->transfer)(&l->prolong, PETSC_TRUE, l[1].x[l[1].cur], l->x[l->cur]));
  }
  PetscCall(Smooth_Private(mg, l, mg->opt.smooths[1], PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Work_Private(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGCycle_Private((PC_CAMG *)ctx, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x and y have the place of the levels */
static PetscErrorCode ApplyArrays_Private(PC_CAMG *mg, const PetscScalar x[], PetscScalar y[])
{
  const CAMGKernels *kern = mg->kernels;
  CAMGLevel         *l    = &mg->level[0];

  PetscFunctionBegin;
  PetscCall((*kern->enter)(l->facts.n, mg->single, mg->outer[0], x, l->b, mg->scale));
  PetscCall(LitheMGPlay(kern->memory, &mg->record, mg->opt.graph, Work_Private, mg));
  PetscCall((*kern->leave)(l->facts.n, mg->single, mg->factor, mg->outer[1], mg->scale, l->x[l->cur], y));
  if (mg->device) PetscCall(PetscLogGpuFlops(mg->flops));
  else PetscCall(PetscLogFlops(mg->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* done: whether both vectors are at the place of the levels */
static PetscErrorCode ApplyThere_Private(PC_CAMG *mg, Vec x, Vec y, PetscBool *done)
{
  const PetscScalar *px;
  PetscScalar       *py;
  PetscMemType       tx, ty;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, &px, &tx));
  PetscCall(VecGetArrayWriteAndMemType(y, &py, &ty));
  *done = (PetscBool)(!PetscMemTypeHost(tx) && !PetscMemTypeHost(ty));
  if (*done) PetscCall(ApplyArrays_Private(mg, px, py));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_CAMG(PC pc, Vec x, Vec y)
{
  PC_CAMG           *mg = (PC_CAMG *)pc->data;
  const PetscScalar *px;
  PetscScalar       *py;
  PetscBool          done;

  PetscFunctionBegin;
  if (pc->failedreason) {
    PetscCall(VecFlag(y, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!mg->n) PetscFunctionReturn(PETSC_SUCCESS); /* no rows */
  if (!mg->device) {
    PetscCall(VecGetArrayRead(x, &px));
    PetscCall(VecGetArrayWrite(y, &py));
    PetscCall(ApplyArrays_Private(mg, px, py));
    PetscCall(VecRestoreArrayWrite(y, &py));
    PetscCall(VecRestoreArrayRead(x, &px));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ApplyThere_Private(mg, x, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);

  /* vectors on the host, levels on the device */
  if (!mg->work[0]) PetscCall(MatCreateVecs(pc->pmat, &mg->work[1], &mg->work[0]));
  PetscCall(VecCopy(x, mg->work[0]));
  PetscCall(ApplyThere_Private(mg, mg->work[0], mg->work[1], &done));
  PetscCheck(done, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The vectors of the matrix were on a device when the preconditioner was set up, and now are on the host. Set it up again");
  PetscCall(VecCopy(mg->work[1], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
