/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCDAMPED: Jacobi's method with a damping that is chosen point by point, for grids on which waves have few points.

   Where coefficients are constant, the stencil of a point takes a smooth error to lambda_0 times it, the
   sum of the stencil, and the errors that change sign from point to point in some of the directions to
   lambda_1 .. lambda_m, m = 3 or 7. A step x += tau r multiplies them by 1 - tau lambda.

   tau = omega/diagonal is Jacobi's method. For waves with two to four points lambda_0 is large and has the
   other sign, and in three dimensions the diagonal nearly vanishes, since that of the stiffness and that
   of the mass cancel: smooth errors grow, more than a coarse grid that cannot represent the waves
   takes away. Where they grew by more than a limit, tau is instead what makes sum_k |1 - tau lambda_k|^2 least,

     tau = sum_k conj(lambda_k) / sum_k |lambda_k|^2,

   a complex number, which no error grows much with.
*/

#include "referencepc.h"
#include <petsc/private/pcimpl.h>

typedef struct {
  PetscReal omega, growth;
  Vec       factor;
} PC_Damped;

static PetscScalar Factor(const PC_Damped *damped, const Grid *grid, const PetscScalar stencil[])
{
  const PetscScalar jacobi = damped->omega / stencil[GridCentre(grid)];
  PetscScalar       above  = 0.;
  PetscReal         below  = 0.;

  for (PetscInt mode = 0; mode < grid->corners; mode++) {
    PetscScalar lambda = 0.;

    for (PetscInt s = 0; s < grid->points; s++) {
      PetscInt odd = 0;

      for (PetscInt d = 0, t = s; d < grid->dim; d++, t /= 3) odd ^= (mode >> d & 1) & (t % 3 != 1);
      lambda += odd ? -stencil[s] : stencil[s];
    }
    if (mode == 0 && PetscAbsScalar(1. - jacobi * lambda) <= damped->growth) return jacobi;
    above += PetscConj(lambda);
    below += PetscRealPart(lambda * PetscConj(lambda));
  }
  return above / below;
}

static PetscErrorCode PCReset_Damped(PC pc)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&((PC_Damped *)pc->data)->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Damped(PC pc)
{
  PC_Damped   *damped = (PC_Damped *)pc->data;
  PetscScalar *factor, stencil[GRID_MAX_POINTS];
  PetscInt     at[3];
  PetscBool    isda = PETSC_FALSE;
  DM           box;
  Grid         grid;

  PetscFunctionBegin;
  if (pc->dm) PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMDA, &isda));
  PetscCheck(isda, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-%spc_type damped needs the grid of the matrix, a DMDA: call PCSetDM(), or use jacobi",
             ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
  PetscCall(PCReset_Damped(pc));
  PetscCall(GridCreate(pc->dm, &grid));
  PetscCall(GridCreateDM(&grid, 1, &box));
  PetscCall(GridDestroy(&grid));
  PetscCall(GridCreate(box, &grid));
  PetscCall(MatCreateVecs(pc->pmat, &damped->factor, NULL));
  PetscCall(VecGetArrayWrite(damped->factor, &factor));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    PetscCall(GridGetStencil(&grid, pc->pmat, at, stencil));
    PetscCheck(stencil[GridCentre(&grid)] != (PetscScalar)0., PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "The diagonal entry of point %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT " is zero, which -pc_type damped divides by", at[0], at[1],
               at[2]);
    factor[row] = Factor(damped, &grid, stencil);
  }
  PetscCall(VecRestoreArrayWrite(damped->factor, &factor));
  PetscCall(GridDestroy(&grid));
  PetscCall(DMDestroy(&box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Damped(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(VecPointwiseMult(y, ((PC_Damped *)pc->data)->factor, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of Richardson's method, the first one from zero without a vector of zeros */
static PetscErrorCode PCApplyRichardson_Damped(PC pc, Vec b, Vec y, Vec w, PETSC_UNUSED PetscReal rtol, PETSC_UNUSED PetscReal abstol,
                                               PETSC_UNUSED PetscReal dtol, PetscInt its, PetscBool zero, PetscInt *taken, PCRichardsonConvergedReason *reason)
{
  const Vec factor = ((PC_Damped *)pc->data)->factor;

  PetscFunctionBegin;
  for (PetscInt step = 0; step < its; step++) {
    if (zero && step == 0) PetscCall(VecPointwiseMult(y, factor, b));
    else {
      PetscCall(MatResidual(pc->mat, b, y, w));
      PetscCall(VecPointwiseMult(w, factor, w));
      PetscCall(VecAXPY(y, 1., w));
    }
  }
  *taken  = its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_Damped(PC pc, PetscOptionItems PetscOptionsObject)
{
  PC_Damped *damped = (PC_Damped *)pc->data;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Damping point by point");
  PetscCall(PetscOptionsRangeReal("-pc_damped_omega", "Damping of Jacobi's method", NULL, damped->omega, &damped->omega, NULL, PETSC_SMALL, 2.));
  PetscCall(PetscOptionsBoundedReal("-pc_damped_growth", "How much it may make smooth errors grow", NULL, damped->growth, &damped->growth, NULL, 0.));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Damped(PC pc, PetscViewer viewer)
{
  PC_Damped *damped = (PC_Damped *)pc->data;
  PetscBool  isascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (isascii)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Jacobi damped by %g, by a factor of its own where smooth errors grow more than %g times\n",
                                     (double)damped->omega, (double)damped->growth));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCVCRS: no matrix is read here */
static PetscErrorCode PCVCRSCompress_Damped(PC pc, PetscErrorCode (*exchange)(Mat *, void *), void *ctx)
{
  PetscFunctionBegin;
  (void)pc, (void)exchange, (void)ctx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_Damped(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Damped(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSCompress_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCDAMPED - "damped" - Jacobi's method with a damping that is chosen point by point, from the stencils of a `DMDA`

   Options Database Keys:
+ -pc_damped_omega <0.5>  - damping of Jacobi's method
- -pc_damped_growth <2.5> - where it makes smooth errors grow more, a complex factor takes its place

   Level: intermediate

.seealso: `PCJACOBI`, `PCDEZEEUW`
M*/
PETSC_INTERN PetscErrorCode PCCreate_Damped(PC);

PetscErrorCode PCCreate_Damped(PC pc)
{
  PC_Damped *damped;

  PetscFunctionBegin;
  PetscCall(PetscNew(&damped));
  damped->omega  = .5;
  damped->growth = 2.5;
  pc->data       = damped;

  pc->ops->apply           = PCApply_Damped;
  pc->ops->applytranspose  = PCApply_Damped;
  pc->ops->applyrichardson = PCApplyRichardson_Damped;
  pc->ops->setup           = PCSetUp_Damped;
  pc->ops->reset           = PCReset_Damped;
  pc->ops->destroy         = PCDestroy_Damped;
  pc->ops->setfromoptions  = PCSetFromOptions_Damped;
  pc->ops->view            = PCView_Damped;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSCompress_C", PCVCRSCompress_Damped));
  PetscFunctionReturn(PETSC_SUCCESS);
}
