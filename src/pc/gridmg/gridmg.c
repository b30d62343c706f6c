/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCGRIDMG: multigrid for matrices on structured grids, whose levels are made in compressed form.

   base          options, memory, failure, place of the levels           base/options.c, memory.c, report.c, place.c
                 rows, and their entries towards other processes         base/rows.c, outside.c
                 what is found out about a matrix, scaled copies         base/found.c, scaling.c
   set-up        the grid of a matrix, and the method                    grid.c
   application   vectors in and out                                      base/apply.c
   boxes         of processes: ghosts, exchanges                         boxes/boxes.c, share.c, exchange.c
                 exact entries, edges, also between boxes                boxes/exact.c, edges.c, border.c
                 small levels, whole on each process                     boxes/gather.c
                 boxes that overlap                                      boxes/overlap.c, crossing.c
                 all rows on each device                               boxes/redundant.c
   aggregation   faces and row sums, on the host and on a device         aggregation/read.c, readdevice.c, reading.c
                 coarse levels, codes, the coarsest level                aggregation/level.c, coarse.c
                 V, W and K cycles, the smoother                         aggregation/cycle.c, smooth.c
                 small levels as one kernel of a device                  aggregation/small.c
   stencils      de Zeeuw's interpolation and Galerkin products          stencil/weights.c, product.c
                 entries, levels, codes, the coarsest level              stencil/entries.c, read.c, level.c, encode.c,
                                                                         coarse.c
                 cycles, for one column or several                       stencil/cycle.c, columns.c
                 several processes                                       stencil/share.c, gather.c

   All work on arrays of the size of a level is done by a table of kernels, lithe/private/gridmg/gridmg.h and
   gridmg/stencil.h: on hosts aggregation/host.c and stencil/host.c, on devices base/device.c, stencil/device.c and
   cuda/gridmg.

   References:
   Y. Notay: an aggregation-based algebraic multigrid method, Electron. Trans. Numer. Anal. 37 (2010), for pairs and K
   cycles
   P. M. de Zeeuw: matrix-dependent prolongations and restrictions in a blackbox multigrid solver, J. Comput. Appl.
   Math. 33 (1990)
   D. Braess: towards algebraic multigrid for elliptic problems of second order, Computing 55 (1995), for overcorrection
*/

#include <lithe/private/gridmg/parts.h>
#include "base/base.h"
#include "aggregation/aggregation.h"
#include "boxes/boxes.h"
#include <petsc/private/kspimpl.h>
#include <petsc/private/vecimpl.h>

/* ------------------------------------------------------------ memory */

/* Both methods may have data: values of the same matrix may choose one, then the other */
static PetscErrorCode FreeOf_Private(PC_GridMG *mg, GridMGFree what)
{
  PetscFunctionBegin;
  for (int m = 0; m < GRIDMG_METHODS; m++) PetscCall((*PCGridMGMethods[m]->free)(mg, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact entries, rows of all processes, and scaled copies of the rows */
static PetscErrorCode FreeScratch_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(FreeOf_Private(mg, GRIDMG_FREE_SCRATCH));
  PetscCall(PCGridMGMemoryFreeScratch_Private(mg));
  PetscCall(PCGridMGScalingFree_Private(mg, PETSC_FALSE));
  PetscCall(PCGridMGRedundantFreeScratch_Private(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Recorded applications, when arrays of levels change their places */
static PetscErrorCode FreeRecords_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(LitheMGForget(&mg->record));
  PetscCall(FreeOf_Private(mg, GRIDMG_FREE_RECORDS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_GridMG(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(FreeScratch_Private(mg));
  PetscCall(FreeRecords_Private(mg));
  PetscCall(FreeOf_Private(mg, GRIDMG_FREE_ALL));
  PetscCall(PCGridMGWholeReset_Private(mg));
  PetscCall(PCGridMGRedundantReset_Private(mg));
  PetscCall(PCGridMGSumsFree_Private(mg));
  PetscCall(PCGridMGTeamReset_Private(mg));
  PetscCall(PCGridMGPlaceReset_Private(mg));
  PetscCall(PCGridMGMemoryReset_Private(mg));
  PetscCall(PCGridMGApplicationReset_Private(mg));
  PetscCall(PCGridMGScalingFree_Private(mg, PETSC_TRUE));
  PCGridMGReportClear_Private(mg);
  mg->state.n      = 0;
  mg->state.setups = 0;
  mg->state.linear = PETSC_FALSE;
  mg->state.built  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ set-up */

static PetscErrorCode CheckMatrix_Private(PC pc)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscBool has, half;

  PetscFunctionBegin;
  PetscCall(PCGridMGTeamStart_Private(pc));
  PetscCall(LitheCheckSquare((PetscObject)pc, pc->pmat));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &half, MATSBAIJ, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCheck(!half, comm, PETSC_ERR_SUP, "-pc_type gridmg reads whole rows, and a matrix of type %s has half of them. Use aij",
             ((PetscObject)pc->pmat)->type_name);
  PetscCall(MatHasOperation(pc->pmat, MATOP_GET_ROW, &has));
  PetscCheck(has, comm, PETSC_ERR_SUP, "-pc_type gridmg reads the entries of its matrix, and a matrix of type %s does not give them",
             ((PetscObject)pc->pmat)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   All rows on each process are asked for, or wanted: for aggregation of several processes with vectors on devices,
   whose options exclude boxes that overlap
*/
static PetscBool IsRedundant(const PC_GridMG *mg)
{
  if (!PCGridMGMayBeRedundant(mg)) return PETSC_FALSE;
  return (PetscBool)(mg->opt.redundant == 1 || (!mg->place.overlap && mg->choice.method == &GridMGAggregationMethod));
}

/* On several processes a matrix whose near null vector is not constant is read again, scaled */
static PetscErrorCode BuildLevels_Private(PC pc)
{
  PC_GridMG *mg    = (PC_GridMG *)pc->data;
  PetscBool  again = PETSC_FALSE;
  PetscInt   rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &rows, NULL));
  mg->state.n = 0;
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(PC_GridMGRead, pc, 0, 0, 0));
  /* with the same nonzero pattern the grid is the same */
  if (!mg->state.setups || pc->flag != SAME_NONZERO_PATTERN) PetscCall(PCGridMGFindGrid_Private(pc));
  if (mg->place.refused) {
    PetscCall(PetscLogEventEnd(PC_GridMGRead, pc, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGChoose_Private(pc));
  if (IsRedundant(mg)) {
    PCGridMGRefuse_Private(mg);
    PetscCall(PetscLogEventEnd(PC_GridMGRead, pc, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->choice.method->check)(pc));
  PetscCall((*mg->choice.method->read)(pc));
  if (!mg->source.scaled && !pc->failedreason) {
    if (mg->found.suspect) PetscCall(PCGridMGScale_Private(pc, &again));
    else PCGridMGScalingNone_Private(mg);
  }
  PetscCall(PetscLogEventEnd(PC_GridMGRead, pc, 0, 0, 0));
  if (again) {
    PetscCall(BuildLevels_Private(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pc->failedreason || mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(PC_GridMGCoarsen, pc, 0, 0, 0));
  PetscCall((*mg->choice.method->coarsen)(pc, &mg->state.n));
  if (!mg->place.refused) PetscCall((*mg->choice.method->encode)(pc));
  PetscCall(PetscLogEventEnd(PC_GridMGCoarsen, pc, 0, 0, 0));
  if (pc->failedreason || mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(PC_GridMGCoarsest, pc, 0, 0, 0));
  PetscCall((*mg->choice.method->coarsest)(pc));
  PetscCall(PetscLogEventEnd(PC_GridMGCoarsest, pc, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Boxes of several processes cannot overlap: all levels on each device, or the set-up on the host */
static PetscErrorCode BuildApart_Private(PC pc)
{
  PC_GridMG  *mg  = (PC_GridMG *)pc->data;
  const char *why = "wells, entries between cells that are no neighbours, numbers of cells that are odd, double precision, or options";
  PetscBool   are, stencils = PETSC_FALSE, redundant = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCGridMGRedundantRows_Private(pc, &are));
  if (are && mg->opt.redundant != 1) PetscCall(PCGridMGPrefersStencils_Private(mg, &stencils));
  if (are && !stencils) PetscCall(PCGridMGRedundantSetUp_Private(pc, &redundant));
  if (redundant) {
    PetscCall(PetscInfo(pc, "Each process has all rows and levels. Asked for, or boxes cannot overlap: %s\n", why));
    mg->state.n = 0;
    if (pc->failedreason) PCGridMGPlaceTogether_Private(mg); /* other values may succeed with overlap */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(pc, "Boxes of processes cannot overlap: %s. The matrix is read again, for stencils or for levels on the host\n", why));
  PetscCall(PCGridMGRedundantReset_Private(mg));
  PetscCall(PCGridMGRowsRestore_Private(pc));
  PetscCall(PCGridMGRowsMatrix_Private(pc));
  PCGridMGPlaceApart_Private(mg, PETSC_FALSE);
  PCGridMGScanForget_Private(mg);
  PCGridMGWholeSet_Private(mg, 0, NULL);
  mg->state.setups = 0;
  PetscCall(BuildLevels_Private(pc));
  if (pc->failedreason) PCGridMGPlaceTogether_Private(mg); /* other values may succeed with overlap */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up on a device if the rows are on the device */
static PetscErrorCode BuildWhereRowsAre_Private(PC pc)
{
  PC_GridMG     *mg  = (PC_GridMG *)pc->data;
  PetscBool      are = PETSC_FALSE, again = (PetscBool)(mg->place.apart && mg->domain.redundant.pc);
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  PCGridMGScanForget_Private(mg);
  PCGridMGRowsOf_Private(mg, pc->pmat, PETSC_FALSE);
  if (!again) PetscCall(PCGridMGRedundantReset_Private(mg));
  if (mg->place.device) PetscCall(PCGridMGRowsGetAll_Private(pc, &are));
  if (are) PCGridMGPlaceKernels_Private(mg, PETSC_TRUE);
  else if (!again && (!PCGridMGIsParallel(mg) || mg->opt.interpolation != PCGRIDMG_INTERPOLATION_ZEEUW))
    PetscCall(PCGridMGRowsMatrix_Private(pc)); /* stencils of several processes get their rows later */
  PCGridMGKeepStart_Private(mg);
  if (!again) ierr = BuildLevels_Private(pc);
  if (!ierr && (again || mg->place.refused)) ierr = BuildApart_Private(pc);
  /* a recorded graph stays valid while all arrays keep their places */
  if (ierr || !mg->memory.kept || !mg->place.device || pc->failedreason) PetscCall(FreeRecords_Private(mg));
  PetscCall(PCGridMGRowsEnd_Private(pc));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The first set-up frees the exact entries at its end. A second set-up suggests many more: from then on the memory
   stays
*/
static PetscErrorCode PCSetUp_GridMG(PC pc)
{
  PC_GridMG       *mg = (PC_GridMG *)pc->data;
  const PC_GridMG *levels;

  PetscFunctionBegin;
  PetscCall(CheckMatrix_Private(pc));
  mg->state.built = PETSC_FALSE;
  if (PCGridMGRowsAreNew_Private(mg)) mg->state.setups = 0; /* the grid may have changed */
  PCGridMGReportClear_Private(mg);
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCGridMGFindPlace_Private(pc));
  PetscCall(BuildWhereRowsAre_Private(pc));
  PetscCall(LitheCite(mg->choice.method->citation | (mg->opt.cycle == PCGRIDMG_CYCLE_K ? LITHE_CITE_KCYCLE : 0)));
  if (++mg->state.setups < 2) PetscCall(FreeScratch_Private(mg));
  if (pc->failedreason) PCGridMGPlaceLevels_Private(mg, PETSC_FALSE);
  if (pc->failedreason && PCGridMGIsParallel(mg)) mg->state.setups = 0; /* boxes are found again */
  if (mg->state.n && !pc->failedreason) PetscCall((*mg->choice.method->finish)(pc));
  PCGridMGApplicationStart_Private(mg, pc->failedreason ? 0 : PCGridMGFlops_Private(mg));
  levels                  = PCGridMGLevelsOf(mg);
  pc->ops->apply          = levels == mg ? PCApply_GridMG : PCGridMGRedundantApply_Private;
  pc->ops->applytranspose = levels->found.symmetric && levels->scaling.left == levels->scaling.right && mg->opt.smooths[0] == mg->opt.smooths[1] &&
                                mg->opt.cycle != PCGRIDMG_CYCLE_K
                              ? pc->ops->apply
                              : NULL;
  /* without this function PCMatApply() applies the columns one by one */
  pc->ops->matapply          = mg->place.device && !PCGridMGIsParallel(mg) && mg->scaling.how == LITHE_NEAR_NULL_CONSTANT ? mg->choice.method->matapply : NULL;
  pc->ops->matapplytranspose = pc->ops->applytranspose ? pc->ops->matapply : NULL;
  mg->state.rounding         = -1;
  mg->state.built            = PETSC_TRUE;
  if (!mg->memory.kept || !mg->place.device) mg->state.number = LitheSingleNumber();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a KSP in single precision: lithesingle.h. s NULL: it will be wanted after the set-up */
static PetscErrorCode GetSingle_Private(PC pc, LitheSingle *s, PetscBool *offers)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  mg->state.fine = PETSC_TRUE;
  *offers        = (PetscBool)(s && PCGridMGHasFine(mg) && !pc->failedreason);
  if (!*offers) PetscFunctionReturn(PETSC_SUCCESS);
  if (!mg->aggregation.fine.op.bits) PetscCall(PCSetUp_GridMG(pc));
  PetscCall((*mg->choice.method->single)(pc, s));
  s->number = mg->state.number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc's KSPFCG computes sums of products of real vectors by VecMTDot(), which copies device vectors to the host. The
   copy takes longer than a cycle. VecMDot() gives the same numbers for real scalars.
*/
static PetscErrorCode PrepareFCG_Private(KSP ksp)
{
  PetscBool fcg;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPFCG, &fcg));
  if (!fcg) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < ksp->nwork; k++) ksp->work[k]->ops->mtdot = ksp->work[k]->ops->mdot;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: double precision if the solver needs it, and a test of the true residual */
static PetscErrorCode PCPreSolve_GridMG(PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PC_GridMG       *mg        = (PC_GridMG *)pc->data;
  const PC_GridMG *levels    = PCGridMGLevelsOf(mg);
  const PetscBool  symmetric = (PetscBool)(levels->found.symmetric && levels->scaling.left == levels->scaling.right);
  double           factor    = levels->state.n ? levels->found.factor : 0;

  PetscFunctionBegin;
  if (mg->place.device && !PetscDefined(USE_COMPLEX)) PetscCall(PrepareFCG_Private(ksp));
  if (levels->state.n && levels->found.precision == GRIDMG_SINGLE && mg->opt.precision == PCGRIDMG_PRECISION_AUTO) {
    PetscCall(LithePCNeedsDouble(pc, ksp, symmetric, &mg->state.rounding, &mg->state.linear));
    if (mg->state.linear) PetscCall(PCSetUp_GridMG(pc));
  }
  if (mg->source.given.i || pc->mat != pc->pmat) factor = 0;
  PetscCall(LitheKSPConfirmBegin(ksp, factor != 0 ? (PetscReal)fabs(1 / factor) : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_GridMG(PETSC_UNUSED PC pc, KSP ksp, PETSC_UNUSED Vec b, PETSC_UNUSED Vec x)
{
  PetscFunctionBegin;
  PetscCall(LitheKSPConfirmEnd(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the class */

static PetscErrorCode PCSetFromOptions_GridMG(PC pc, PetscOptionItems PetscOptionsObject)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGSetFromOptions_Private(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_GridMG(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_GridMG(pc));
  PetscCall(PCGridMGComposeMatrices_Private(pc, PETSC_FALSE));
  PetscCall(PCGridMGComposeOptions_Private(pc, PETSC_FALSE));
  PetscCall(PCGridMGComposeRows_Private(pc, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, LITHE_SINGLE, NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCGRIDMG - "gridmg" - Multigrid for matrices of 5, 7, 9 or 27 points on structured grids, with compressed levels.
   Uses are reservoirs, diffusion with jumping and anisotropic coefficients, and the Helmholtz equation

   Options Database Keys:
+ -pc_gridmg_grid <nx,ny,nz>                         - the grid, if there is no `DMDA` and the matrix does not reveal
    the grid
. -pc_gridmg_interpolation <auto,aggregation,zeeuw>  - the interpolation, see `PCGridMGInterpolationType`
. -pc_gridmg_coarsen <auto,semi,two,full>            - along which directions pairs of cells are formed, see
    `PCGridMGCoarsenType`
. -pc_gridmg_cycle <v,w,k>                           - V, W or K cycle, see `PCGridMGCycleType`
. -pc_gridmg_k_levels <3>                            - number of coarse levels on which a K cycle takes steps of
    conjugate gradients
. -pc_gridmg_overcorrection <1.5>                    - factor of coarse corrections; 1 in V and K cycles
. -pc_gridmg_smoother <auto,jacobi,redblack,damped>  - smoother, see `PCGridMGSmootherType`
. -pc_gridmg_smooths <1,1>                           - smoothing steps before and after a coarse correction
. -pc_gridmg_bits <8,16,32>, -pc_gridmg_coarse_bits  - bits of an entry on the finest level, and on coarse levels
. -pc_gridmg_precision <auto,single,double>          - precision of internal vectors
. -pc_gridmg_levels <n>                              - number of levels
. -pc_gridmg_gather_size <n>                         - several processes: the most unknowns of a level whole on each:
    32768; on devices 2097152 (zeeuw: 524288)
. -pc_gridmg_overlap <bool>                          - several processes: boxes overlap by two layers of cells; the
    default for levels on devices
. -pc_gridmg_redundant <bool>                        - several processes: each has all rows and levels; the default for
    devices that cannot share levels
. -pc_gridmg_transport <auto,ipc,nccl,mpi>           - devices of several processes: the transport of numbers between
    boxes
. -pc_gridmg_graph <true>                            - on a device, record the kernels of an application and replay the
    record
- -pc_gridmg_coarse_size <n>                         - the most unknowns of the coarsest level, which has a dense
    inverse

   Level: beginner

   Notes:
   The grid is the grid of the `DMDA` of the preconditioner or of the matrix. Without a `DMDA`, it is the grid of
   `PCGridMGSetGrid()`, or a grid found from the entries of the matrix.

   A matrix may have a few rows for wells, before all cells or after all cells. Wells are unknowns on every level. A few
   entries between cells that are no neighbours are permitted.

   With a symmetric matrix V and W cycles are symmetric and positive definite: use `KSPCG`. K cycles, `-pc_gridmg_cycle
   k`, need fewer iterations, and `KSPFCG` or another flexible method. With nonsymmetric matrices, of upwind fluxes, use
   `KSPBCGS` or `KSPGMRES`.

   Faces are stored in 8 bits each, with row sums in single precision. Rounding changes condition numbers by a factor of
   at most about 1.13 for any matrix: docs/guide/gridmg.md.

   De Zeeuw's interpolation and Galerkin products serve matrices of 9 or 27 points, complex matrices, and matrices with
   many positive off-diagonal entries, with V or W cycles. Use `KSPGMRES` or `KSPBCGS`. `KSPCG` is possible if the
   matrix is positive definite and the smoother `redblack` or `jacobi`.

   Several processes need a `DMDA`, or `PCGridMGSetGrid()` and whole planes of cells on each process. With aggregation,
   cycles are as on one process, but aggregates end at the boundary of a process. If vectors are on devices, the devices
   share the levels where the cells of two processes can overlap: docs/guide/gridmg.md states the conditions. Otherwise,
   for example with wells, each device has all rows and all levels, as on one process. This form needs neither whole
   planes nor the grid. With de Zeeuw's interpolation, cycles equal the cycles of one process to the last bit, and
   levels are on devices if the vectors are. From a `MATMPIAIJCUSPARSE` they are made there.

   With complex scalars aggregation needs a real matrix; real and imaginary parts take two applications. A K cycle is a
   different operator for each part, and takes more than twice the iterations if both parts are nonzero. Use W cycles in
   this case.

   If vectors are on a CUDA device of a single process, levels are on the device as well, and an application never waits
   for the host. `PCMatApply()` with de Zeeuw's interpolation applies several columns at once on a single process.

.seealso: `PCGridMGSetGrid()`, `PCGridMGSetRows()`, `PCGridMGSetInterpolation()`, `PCGridMGSetCycle()`,
          `PCGridMGSetBits()`, `PCGridMGSetPrecision()`, `PCGAMG`,
          `PCCreate()`, `PCSetType()`
M*/
PETSC_INTERN PetscErrorCode PCCreate_GridMG(PC);

PetscErrorCode PCCreate_GridMG(PC pc)
{
  PC_GridMG *mg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mg));
  pc->data = mg;
  PCGridMGChoiceStart_Private(mg);
  PCGridMGPlaceKernels_Private(mg, PETSC_FALSE);
  PCGridMGLevelsStart_Private(mg);
  PetscCall(PCGridMGOptionsDefault_Private(&mg->opt));
  PCGridMGPlaceStart_Private(mg, &GridMGHostKernels);
  pc->ops->apply          = PCApply_GridMG;
  pc->ops->presolve       = PCPreSolve_GridMG;
  pc->ops->postsolve      = PCPostSolve_GridMG;
  pc->ops->setup          = PCSetUp_GridMG;
  pc->ops->reset          = PCReset_GridMG;
  pc->ops->destroy        = PCDestroy_GridMG;
  pc->ops->setfromoptions = PCSetFromOptions_GridMG;
  pc->ops->view           = PCView_GridMG;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, LITHE_SINGLE, GetSingle_Private));
  PetscCall(PCGridMGComposeMatrices_Private(pc, PETSC_TRUE));
  PetscCall(PCGridMGComposeOptions_Private(pc, PETSC_TRUE));
  PetscCall(PCGridMGComposeRows_Private(pc, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
