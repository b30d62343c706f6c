/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCSBPMG: geometric multigrid for MATSBPSAT.

   context       predicates, failure                        context.c
   set-up        grids, distribution, operators             grids.c, levels.c, galerkin.c
                 additions to the operator                  shift.c
                 small levels, on each process              gather.c
                 own nodes with nodes of neighbours         box.c
                 the coarsest level                         coarse.c
                 bounds of spectra, smoothing coefficients  spectrum.c
   application   the range of single precision              scale.c
                 V and F cycles                             cycle.c
                 full multigrid                             full.c

   All work on arrays is an operation of a table of kernels (sbp/sbpsat.h), or of arrays.c if the table has none. The
   files above are therefore the same for hosts and devices.

   References:
   A. Chen, B. A. Erickson, J. W. Choi, J. E. Kozdon: matrix-free methods for summation-by-parts finite difference
   operators on GPUs, for
     restriction and interpolation that keep the summation-by-parts property
   J. Lottes: optimal polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30 (2023)
   A. Brandt: multi-level adaptive solutions to boundary-value problems, Math. Comp. 31 (1977), for full multigrid
*/

#include "sbpmgimpl.h"
#include <lithe/private/litheplace.h>
#include <lithe/private/lithetruth.h>

/* ------------------------------------------------------------ application */

/* From the right-hand side in b of the finest level to the solution in x */
static PetscErrorCode FinestCycle_Private(void *ctx)
{
  PC_SBPMG *mg = (PC_SBPMG *)ctx;

  PetscFunctionBegin;
  PetscCall(PCSBPMGCycle_Private(mg, 0, mg->opt.cycle, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One application per part of the numbers: for complex vectors the real part, then the imaginary part. x and y have the
   place of the levels
*/
static PetscErrorCode PCSBPMGApplyArrays_Private(PC pc, const PetscScalar x[], PetscScalar y[])
{
  PC_SBPMG       *mg    = (PC_SBPMG *)pc->data;
  SBPMGLevel     *l     = &mg->level[0];
  const PetscBool full  = (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL);
  const PetscBool input = PCSBPMGIsGathered(mg, 0);
  const SBPGrid  *grid  = &l->op[mg->exact].grid;
  SBPGrid         plain = input ? mg->gather.part : *grid, all = *grid;

  PetscFunctionBegin;
  if (PCSBPMGIsInPlace(mg)) {
    PetscCall(PCSBPMGFullInPlace_Private(mg, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  plain.pitch = plain.own.count[0];
  all.pitch   = all.own.count[0];
  for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++) {
    if (full) {
      SBPGrid     from   = *grid;
      const void *result = l->full.x;

      if (input) PetscCall(PCSBPMGGatherInput_Private(mg, grid, part, x, l->full.b));
      else PetscCall((*mg->kernels->vector.copy)(&plain, SBP_SCALAR, part, x, grid, mg->exact, 0, l->full.b));
      PetscCall(PCSBPMGFull_Private(mg));
      if (input) PCSBPMGOwnPart(mg, grid, mg->exact, l->full.x, &from, &result);
      PetscCall((*mg->kernels->vector.copy)(&from, mg->exact, 0, result, &plain, SBP_SCALAR, part, y));
    } else {
      if (input) {
        PetscCall(PCSBPMGGatherInput_Private(mg, &all, part, x, mg->gather.input));
        PetscCall(PCSBPMGEnter_Private(mg, &all, mg->exact, 0, mg->gather.input));
      } else PetscCall(PCSBPMGEnter_Private(mg, &plain, SBP_SCALAR, part, x));
      PetscCall(PCSBPMGPlay_Private(mg, SBPMG_GRAPH_CYCLE, FinestCycle_Private));
      PetscCall(PCSBPMGLeave_Private(mg, &plain, part, y));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGApplyLevels_Private(PC pc, Vec x, Vec y)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  if (mg->device) PetscCall(PetscLogGpuFlops(mg->flops));
  else PetscCall(PetscLogFlops(mg->flops));
  PetscCall(LithePCApplyThere(pc, mg->device, mg->work, x, y, PCSBPMGApplyArrays_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGApplyOrFail_Private(PC pc, PetscBool transpose, Vec x, Vec y)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  if (!mg->built) PetscCall(PCSBPMGBuildLevels_Private(pc));
  if (pc->failedreason) PetscCall(VecFlag(y, 1));
  else PetscCall(PCSBPMGApplyShifted_Private(pc, transpose, x, y, PCSBPMGApplyLevels_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_SBPMG(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGApplyOrFail_Private(pc, PETSC_FALSE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_SBPMG(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGApplyOrFail_Private(pc, PETSC_TRUE, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGApplyOperator_Private(PC pc)
{
  PC_SBPMG   *mg = (PC_SBPMG *)pc->data;
  SBPMGLevel *l  = &mg->level[0];
  SBPStep     step;

  PetscFunctionBegin;
  PetscCheck(mg->built, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "Call PCSetUp() first");
  step = (SBPStep){.mode = SBP_APPLY, .u = l->x[0], .out = l->x[1]};
  PetscCall(PCSBPMGStep_Private(mg, l, mg->precision, &step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGGetCoarseSolve_SBPMG(PC pc, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGCreateCoarseSolver_Private(pc));
  *ksp = ((PC_SBPMG *)pc->data)->coarsest.ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGGetCoarseSolve - Gets the solver of the coarsest level of a `PCSBPMG`, used in the absence of a dense inverse

  Collective

  Input Parameter:
. pc - the preconditioner, of type `PCSBPMG`

  Output Parameter:
. ksp - the solver, not to be destroyed

  Options Database Keys:
+ -pc_sbpmg_dense 0       - no dense inverse
- -sbpmg_coarse_ksp_view - and all other options of the solver

  Level: advanced

  Note:
  After the set-up the operator of the solver is the assembled matrix of the coarsest level. With levels in single
  precision and coefficients far from 1, the matrix is multiplied by a power of two.

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGGetCoarseSolve(PC pc, KSP *ksp)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(ksp, 2);
  PetscUseMethod(pc, "PCSBPMGGetCoarseSolve_C", (PC, KSP *), (pc, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the class */

static PetscErrorCode PCReset_SBPMG(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  for (int k = 0; k < SBPMG_GRAPHS; k++) PetscCall(LitheMGForget(&mg->record[k]));
  PetscCall(PCSBPMGCoarseReset_Private(mg));
  PetscCall(PCSBPMGLevelsFree_Private(mg));
  PetscCall(PCSBPMGShiftReset_Private(mg));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&mg->work[k]));
  mg->failed[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_SBPMG(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_SBPMG(pc));
  PetscCall(LitheCite(LITHE_CITE_SBPMG | (mg->opt.cycle == PCSBPMG_CYCLE_FULL ? LITHE_CITE_FULLMG : 0) |
                      (mg->opt.smoother == PCSBPMG_SMOOTHER_CHEBYSHEV4 ? LITHE_CITE_CHEBYSHEV4 : 0)));
  PetscCall(PCSBPMGBuildLevels_Private(pc));
  pc->ops->applytranspose = mg->symmetric ? PCApplyTranspose_SBPMG : NULL;
  mg->truth.rounding      = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: double precision if the solver needs it, and a test of the true residual */
static PetscErrorCode PCPreSolve_SBPMG(PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  if (mg->precision != mg->exact && mg->opt.precision == PCSBPMG_PRECISION_AUTO) {
    PetscCall(LithePCNeedsDouble(pc, ksp, PETSC_TRUE, &mg->truth.rounding, &mg->truth.linear));
    if (mg->truth.linear) PetscCall(PCSetUp_SBPMG(pc));
  }
  PetscCall(LitheKSPConfirmBegin(ksp, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_SBPMG(PETSC_UNUSED PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PetscFunctionBegin;
  PetscCall(LitheKSPConfirmEnd(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_SBPMG(PC pc, PetscOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGSetFromOptions_Private(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_SBPMG(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_SBPMG(pc));
  PetscCall(PCSBPMGCoarseDestroy_Private(mg));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGGetCoarseSolve_C", NULL));
  PetscCall(PCSBPMGComposeOptions_Private(pc, PETSC_FALSE));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCSBPMG - "sbpmg" - Geometric multigrid for a `MATSBPSAT`, matrix-free on the finest level

   Options Database Keys:
+ -pc_sbpmg_cycle <v,f,full>                                       - V cycle, F cycle or full multigrid, see
    `PCSBPMGCycleType`
. -pc_sbpmg_levels <n>                                             - number of levels
. -pc_sbpmg_precision <auto,single,double>                         - precision of the levels
. -pc_sbpmg_smoother <chebyshev,chebyshev4,richardson2,richardson> - smoother, see `PCSBPMGSmootherType`
. -pc_sbpmg_smooths <2,2>                                          - smoothing steps before and after a coarse
    correction
. -pc_sbpmg_smooths_finest <before,after>                          - the same for the finest level; 2,0 for full
    multigrid
. -pc_sbpmg_fraction <0.15>                                        - lower end of the smoother's interval over its upper
    end
. -pc_sbpmg_coarse <galerkin,rediscretized>                        - coarse operators, see `PCSBPMGCoarseType`
. -pc_sbpmg_full_steps <1,1,3>                                     - number of steps on each level from the finest down
. -pc_sbpmg_dense <1100>                                           - the most unknowns of a coarsest level with a dense
    inverse
. -pc_sbpmg_gather_size <n>                                        - several processes: the most unknowns of a level of
    which each process has all nodes; 0: no level
. -pc_sbpmg_overlap                                                - several processes: V and F cycles compute nodes of
    neighbours instead of exchanging them; by default on a device
. -pc_sbpmg_spectrum_steps <8>                                     - steps of Lanczos's method for bounds of spectra
. -pc_sbpmg_spectrum_size <256>                                    - the most intervals of levels with separate bounds
. -pc_sbpmg_graph <true>                                           - on a device, record the kernels of an application
    and replay the record
- -sbpmg_coarse_ksp_type, -sbpmg_coarse_pc_type                    - solver of a coarsest level without dense inverse,
    with all its options

   Level: beginner

   Notes:
   Both numbers of intervals are halved while they are even, down to 16 intervals. Powers of two are best.

   Interpolation is bilinear and restriction is the transpose. For residuals scaled by the norms of both directions,
   both transfers keep the summation-by-parts property. V and F cycles are symmetric and positive definite with Galerkin
   operators and equal numbers of smoothing steps before and after a coarse correction: use `KSPCG`.

   Full multigrid solves from the right-hand side alone, without outer iterations: `-ksp_type preonly -pc_sbpmg_cycle
   full`. The error of the result is the error of the discretisation, for any tolerance of a residual.

   Residuals of the outer Krylov method, and residuals of full multigrid, have the precision of `PetscReal`. Levels in
   single precision make an application slightly nonlinear. `KSPCG`, `KSPFGMRES` and other flexible methods tolerate
   this. For other methods the precision auto, the default, measures the effect on the residual, compares it with the
   tolerance, and sets up the levels anew in double precision if needed.

   The fraction is used by `PCSBPMG_SMOOTHER_CHEBYSHEV` and `PCSBPMG_SMOOTHER_RICHARDSON2`.

   With several processes, each process has all nodes of small levels, and computes what a single process would
   compute. If the whole grid is small, each process computes the whole application. Without a dense inverse of the
   coarsest level, or with `-pc_sbpmg_gather_size 0`, all levels are distributed. The coarsest level is then larger, and
   all processes solve it redundantly.

   With complex scalars real and imaginary parts are two applications: the operator is real.

   Levels in single precision accept right-hand sides and coefficients far outside of the range of single precision.
   Right-hand sides and coefficients are scaled by powers of two unless near 1.

   With vectors on a device the levels are on the device, too. An application on one process never waits for the host.

.seealso: `PCSBPMGSetCycle()`, `PCSBPMGGetCoarseSolve()`, `MATSBPSAT`, `PCMG`, `PCCreate()`, `PCSetType()`
M*/
PETSC_INTERN PetscErrorCode PCCreate_SBPMG(PC);

PetscErrorCode PCCreate_SBPMG(PC pc)
{
  PC_SBPMG *mg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mg));
  pc->data = mg;
  PetscCall(PCSBPMGOptionsDefault_Private(&mg->opt));
  pc->ops->apply          = PCApply_SBPMG;
  pc->ops->presolve       = PCPreSolve_SBPMG;
  pc->ops->postsolve      = PCPostSolve_SBPMG;
  pc->ops->setup          = PCSetUp_SBPMG;
  pc->ops->reset          = PCReset_SBPMG;
  pc->ops->destroy        = PCDestroy_SBPMG;
  pc->ops->setfromoptions = PCSetFromOptions_SBPMG;
  pc->ops->view           = PCView_SBPMG;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGGetCoarseSolve_C", PCSBPMGGetCoarseSolve_SBPMG));
  PetscCall(PCSBPMGComposeOptions_Private(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
