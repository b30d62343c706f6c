/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The levels of a PCSBPMG: operators and arrays
*/

#include "sbpmgimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/sbp/tables.h>

/* ------------------------------------------------------------ operators */

/*
   A coefficient of every stride-th node as a vector of the matrix A of da, at the place of the levels. gather: op is
   distributed, and A has all nodes of the gathered level on this process
*/
static PetscErrorCode SampleCoefficient_Private(PC_SBPMG *mg, const SBPOperator *op, int k, PetscInt stride, PetscBool gather, DM da, Mat A, Vec *v)
{
  const SBPGrid *grid = &op->grid;
  PetscInt       start[2], count[2];
  SBPSpaced      from, to;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, v, NULL));
  if (gather) {
    for (int d = 0; d < 2; d++) {
      start[d] = mg->gather.part.own.start[d];
      count[d] = mg->gather.part.own.count[d];
    }
  } else PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  from.single = (PetscBool)(mg->exact == SBP_SINGLE);
  from.step   = stride;
  from.pitch  = (PetscInt64)stride * grid->coefficientpitch;
  from.p      = (char *)op->coefficient[k] +
           ((size_t)(stride * start[1] - grid->ghosted.start[1]) * (size_t)grid->coefficientpitch + (size_t)(stride * start[0] - grid->ghosted.start[0])) *
             SBPNumberBytes(mg->exact);
  if (gather) {
    PetscCall(PCSBPMGGatherNumbers_Private(mg, &from, *v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (PetscDefined(USE_COMPLEX)) PetscCall(VecZeroEntries(*v));
  if (mg->device) PetscCall(VecGetArrayAndMemType(*v, &a, NULL));
  else PetscCall(VecGetArray(*v, &a));
  to = SBPRealParts(a, count[0]);
  PetscCall((*mg->kernels->vector.strided)(count, PETSC_FALSE, &from, &to));
  if (mg->device) PetscCall(VecRestoreArrayAndMemType(*v, &a));
  else PetscCall(VecRestoreArray(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An SBP-SAT operator of the given order on da, with the coefficients of another operator at every stride-th node */
static PetscErrorCode CreateSampledHere_Private(PC pc, Mat from, PetscInt stride, PetscInt order, PetscBool gather, DM da, Mat *A)
{
  PC_SBPMG          *mg = (PC_SBPMG *)pc->data;
  const SBPOperator *op;
  VecType            type;
  Vec                tensor[3];

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetPlain(from, mg->exact, mg->device, &op));
  PetscCall(MatCreateSBPSAT(da, A));
  PetscCall(MatGetVecType(pc->pmat, &type));
  PetscCall(MatSetVecType(*A, type));
  PetscCall(MatSBPSATSetMetrics(*A, MATSBPSAT_METRICS_STORED));
  PetscCall(MatSBPSATSetOrder(*A, order));
  PetscCall(MatSBPSATSetDirichlet(*A, op->grid.dirichlet));
  for (int k = 0; k < 3; k++) PetscCall(SampleCoefficient_Private(mg, op, k, stride, gather, da, *A, &tensor[k]));
  PetscCall(MatSBPSATSetTensor(*A, tensor[0], tensor[1], tensor[2], NULL)); /* J is for right-hand sides only */
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&tensor[k]));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same; options without a prefix have no effect */
static PetscErrorCode CreateSampled_Private(PC pc, Mat from, PetscInt stride, PetscInt order, PetscBool gather, DM da, Mat *A)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = CreateSampledHere_Private(pc, from, stride, order, gather, da, A);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Takes over the operators of an SBP-SAT matrix as operators of a level, whose arrays have a different pitch on one
   process
*/
static PetscErrorCode TakeOperator_Private(PC_SBPMG *mg, PetscInt level, Mat A, SBPPrecision precision)
{
  SBPMGLevel        *l = &mg->level[level];
  const SBPOperator *op;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetOperator(A, precision, mg->device, &op));
  l->op[precision] = *op;
  if (!SBPPartsExist(&l->exchange.parts) && !(level == 0 && PCSBPMGIsInPlace(mg))) PCSBPMGSetPitch(mg, level, &l->op[precision].grid);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator in single precision, made at the place of the vectors: a device need not wait for the host */
static PetscErrorCode RoundOperator_Private(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel        *l     = &mg->level[level];
  const SBPOperator *from  = &l->op[mg->exact];
  SBPOperator       *to    = &l->op[mg->precision];
  SBPGrid            all   = from->grid;
  const int          count = SBPKindCoefficients(from->kind);
  const double       scale = from->kind == SBP_SHIFTED ? from->scale : 1.; /* contained in rounded numbers */

  PetscFunctionBegin;
  if (mg->exact == mg->precision) PetscFunctionReturn(PETSC_SUCCESS);
  *to           = *from;
  to->precision = mg->precision;
  to->scale     = 1.;
  if (!SBPPartsExist(&l->exchange.parts)) PCSBPMGSetPitch(mg, level, &to->grid);
  all.own   = all.ghosted;
  all.pitch = all.coefficientpitch;
  for (int k = 0; k < count; k++) {
    PetscCall(PCSBPMGGhosts_Private(mg, &from->grid, mg->precision, &l->coefficient[mg->precision][k]));
    if (level) PetscCall(PCSBPMGRoundNumbers_Private(mg, k == SBP_DIAGONAL ? 1. : scale, &all, from->coefficient[k], l->coefficient[mg->precision][k]));
    to->coefficient[k] = l->coefficient[mg->precision][k];
  }
  if (level == 0) PetscCall(PCSBPMGRoundFinest_Private(mg, scale, &all, count, from->coefficient, l->coefficient[mg->precision]));
  for (int f = 0; f < SBP_FACES; f++) {
    SBPGrid face = from->grid;

    if (!from->penalty[f]) continue;
    face.own.count[0] = face.pitch = from->grid.ghosted.count[1 - f / 2];
    face.own.count[1]              = 1;
    PetscCall(PCSBPMGOwned_Private(mg, &face, mg->precision, &l->penalty[f]));
    PetscCall(PCSBPMGRoundNumbers_Private(mg, scale, &face, from->penalty[f], l->penalty[f]));
    to->penalty[f] = l->penalty[f];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The closures of both ends of a direction must not share nodes */
static PetscInt OrderForGrid(PetscInt order, const PetscInt n[2])
{
  return PetscMin(n[0], n[1]) >= SBPTableLeast(SBPTableOf((int)order)) ? order : 2;
}

/* P^T d, lumped, because rows of P have the sum 1; and the DMDA of the result */
static PetscErrorCode RestrictDiagonal_Private(DM *above, DM da, Vec *d)
{
  Mat P;
  Vec coarse;
  DM  alike;

  PetscFunctionBegin;
  /* PETSc interpolates only between grids of equal stencil width, and the widths of operators differ */
  PetscCall(PCSBPMGCreateAlikeDM_Private(da, 1, &alike));
  PetscCall(DMCreateInterpolation(alike, *above, &P, NULL));
  PetscCall(DMCreateGlobalVector(alike, &coarse));
  PetscCall(MatMultTranspose(P, *d, coarse));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(d));
  *d = coarse;
  PetscCall(DMDestroy(above));
  *above = alike;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of the finest level, and the diagonal that was added to it, or NULL */
static Mat FinestMatrix(PC pc)
{
  const PC_SBPMG *mg = (const PC_SBPMG *)pc->data;

  return mg->level[0].A ? mg->level[0].A : pc->pmat;
}

static Vec FinestDiagonal(const PC_SBPMG *mg)
{
  return PCSBPMGIsGathered(mg, 0) ? mg->gather.diagonal : mg->shift.diagonal;
}

/* The operator of the whole grid on this process alone */
static PetscErrorCode GatherFinest_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  PetscInt  order;
  DM        da;

  PetscFunctionBegin;
  PetscCall(PCSBPMGGatherDiagonal_Private(pc));
  PetscCall(MatSBPSATGetOrder(pc->pmat, &order));
  PetscCall(PCSBPMGCreateWholeDM_Private(pc, &mg->gather.part, &da));
  PetscCall(CreateSampled_Private(pc, pc->pmat, 1, order, PETSC_TRUE, da, &mg->level[0].A));
  PetscCall(PCSBPMGShiftMatrix_Private(pc, mg->gather.diagonal, mg->level[0].A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Rediscretise_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  PetscInt  order;
  DM        above = NULL; /* and the DMDA of its diagonal */
  Vec       d     = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetOrder(pc->pmat, &order));
  if (mg->shift.diagonal) {
    PetscCall(MatGetDM(FinestMatrix(pc), &above));
    PetscCall(PCSBPMGCreateAlikeDM_Private(above, 1, &above));
    PetscCall(DMCreateGlobalVector(above, &d));
    PetscCall(VecCopy(FinestDiagonal(mg), d));
  }
  for (PetscInt k = 1; k < mg->n; k++) {
    SBPMGLevel     *l      = &mg->level[k];
    const PetscBool gather = PCSBPMGIsGathered(mg, k), whole = PCSBPMGIsWhole(mg, k);
    DM              da, part;

    if (whole) PetscCall(PCSBPMGCreateWholeDM_Private(pc, &l->grid, &da));
    else PetscCall(SBPPartsCreateDM(&l->exchange.parts, l->exchange.width, &da));
    PetscCall(CreateSampled_Private(pc, k == 1 ? FinestMatrix(pc) : l[-1].A, 2, OrderForGrid(order, l->grid.n), gather, da, &l->A));
    if (d && gather) {
      Vec own;

      PetscCall(SBPPartsCreateDM(&mg->gather.parts, 1, &part));
      PetscCall(RestrictDiagonal_Private(&above, part, &d));
      PetscCall(DMDestroy(&part));
      own = d;
      PetscCall(DMDestroy(&above));
      PetscCall(PCSBPMGCreateAlikeDM_Private(da, 1, &above));
      PetscCall(PCSBPMGGatherVec_Private(pc, own, above, &d));
      PetscCall(VecDestroy(&own));
    } else if (d) PetscCall(RestrictDiagonal_Private(&above, da, &d));
    PetscCall(PCSBPMGShiftMatrix_Private(pc, d, l->A));
    PetscCall(DMDestroy(&da));
    PetscCall(TakeOperator_Private(mg, k, l->A, mg->exact));
    PetscCall(RoundOperator_Private(mg, k));
    l->grid = l->op[mg->exact].grid;
    if (!whole) PetscCall(PCSBPMGExchangeCreate_Private(pc, l, PCSBPMGGhosts_Private));
  }
  PetscCall(VecDestroy(&d));
  PetscCall(DMDestroy(&above));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level with an operator of second order in place of a higher order: the former has only nine points */
static PetscErrorCode CreateSecondOrder_Private(PC pc, DM da, Mat *A, SBPMGLevel *second)
{
  PC_SBPMG          *mg = (PC_SBPMG *)pc->data;
  const SBPOperator *op;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(second, sizeof(*second)));
  /* temporarily on the program's DMDA: another DMDA would take longer than all other work */
  PetscCall(CreateSampled_Private(pc, FinestMatrix(pc), 1, 2, PETSC_FALSE, da, A));
  PetscCall(PCSBPMGShiftMatrix_Private(pc, FinestDiagonal(mg), *A));
  PetscCall(MatSBPSATGetOperator(*A, mg->exact, mg->device, &op));
  second->op[mg->exact] = *op;
  second->grid          = op->grid;
  if (mg->level[0].exchange.halo) {
    PetscCall(SBPPartsCopy(&mg->level[0].exchange.parts, &second->exchange.parts));
    PetscCall(PCSBPMGExchangeCreate_Private(pc, second, PCSBPMGGhostsApart_Private));
  } else second->op[mg->exact].grid.pitch = second->op[mg->exact].grid.ghostpitch = mg->level[0].op[mg->exact].grid.pitch; /* the pitch of work arrays */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Galerkin_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  void     *work;
  PetscInt  order;
  DM        da;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetOrder(pc->pmat, &order));
  PetscCall(MatGetDM(FinestMatrix(pc), &da));
  PetscCall(PCSBPMGWorkCreate_Private(mg, &work));
  for (PetscInt k = 1; k < mg->n; k++) {
    SBPMGLevel *l = &mg->level[k];

    for (int p = 0; p < 2; p++) {
      l->op[p].kind      = SBP_NINE;
      l->op[p].precision = (SBPPrecision)p;
      l->op[p].grid      = l->grid;
    }
    if (k == 1 && order > 2) {
      SBPMGLevel second;
      Mat        A;

      PetscCall(CreateSecondOrder_Private(pc, da, &A, &second));
      PetscCall(PCSBPMGGalerkin_Private(mg, &second, l, work));
      PetscCall(PCSBPMGExchangeFree_Private(mg, &second.exchange));
      PetscCall(MatDestroy(&A));
    } else PetscCall(PCSBPMGGalerkin_Private(mg, l - 1, l, work));
    if (k > 1 && !PCSBPMGKeepsExact_Private(mg, l - 1)) {
      for (int c = 0; c < SBP_COEFFICIENTS; c++) {
        if (!PCSBPMGIsDirect_Private(mg, k - 2)) PetscCall((*mg->kernels->memory->free)(&l[-1].coefficient[mg->exact][c]));
        l[-1].coefficient[mg->exact][c]    = NULL;
        l[-1].op[mg->exact].coefficient[c] = NULL;
      }
    }
  }
  if (work) PetscCall((*mg->kernels->memory->free)(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays */

static PetscErrorCode AllocateLevel_Private(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel    *l    = &mg->level[level];
  const SBPGrid *grid = l->box.planned ? &l->box.op.grid : &l->op[mg->precision].grid, *exact = &l->op[mg->exact].grid;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->x[k]));
  PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->b));
  if (level < mg->n - 1) PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->d));
  if (PCSBPMGHasVectors_Private(mg, level)) {
    PetscCall(PCSBPMGOwned_Private(mg, exact, mg->exact, &l->full.b));
    PetscCall(PCSBPMGOwned_Private(mg, exact, mg->exact, &l->full.x));
  }
  if (PCSBPMGHasResidual_Private(mg, level)) PetscCall(PCSBPMGOwned_Private(mg, exact, mg->exact, &l->full.r));
  if (PCSBPMGHasDirection_Private(mg, level)) PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->full.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpDiagonal_Private(PC_SBPMG *mg, SBPMGLevel *l)
{
  const SBPGrid *grid = &l->op[mg->precision].grid, *room = l->box.planned ? &l->box.op.grid : grid;

  PetscFunctionBegin;
  if (mg->opt.smoother == PCSBPMG_SMOOTHER_RICHARDSON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSBPMGOwned_Private(mg, room, mg->precision, &l->dinv));
  PetscCall((*mg->kernels->diagonal)(&l->op[mg->precision], l->dinv));
  PetscCall((*mg->kernels->vector.reciprocal)(grid, mg->precision, l->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the whole set-up */

PetscErrorCode PCSBPMGLevelsFree_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < SBPMG_LEVELS_MAX; k++) {
    SBPMGLevel *l       = &mg->level[k];
    void      **array[] = {&l->x[0],   &l->x[1],   &l->b,          &l->d,          &l->dinv,       &l->full.b,    &l->full.x,
                           &l->full.r, &l->full.d, &l->penalty[0], &l->penalty[1], &l->penalty[2], &l->penalty[3]};

    for (size_t a = 0; a < sizeof(array) / sizeof(array[0]); a++) {
      PetscCall(PCSBPMGFree_Private(mg, array[a]));
    }
    for (int p = 0; p < 2; p++) {
      for (int c = 0; c < SBP_COEFFICIENTS; c++) {
        PetscCall(PCSBPMGFree_Private(mg, &l->coefficient[p][c]));
      }
    }
    PetscCall(MatDestroy(&l->A));
    PetscCall(PCSBPMGExchangeFree_Private(mg, &l->exchange));
    PetscCall(PCSBPMGBoxFree_Private(mg, &l->box));
    PetscCall(PetscMemzero(l, sizeof(*l)));
  }
  PetscCall(PCSBPMGGatherFree_Private(mg));
  PetscCall(PCSBPMGMemoryFree_Private(mg));
  PetscCall(PCSBPMGScaleFree_Private(mg));
  mg->n     = 0;
  mg->built = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsOnDevice_Private(Mat A, PetscBool *device)
{
  VecType   type;
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatBoundToCPU(A, &bound));
  *device = PETSC_FALSE;
  if (!bound) PetscCall(PetscStrcmpAny(type, device, VECCUDA, VECSEQCUDA, VECMPICUDA, VECHIP, VECSEQHIP, VECMPIHIP, VECKOKKOS, VECSEQKOKKOS, VECMPIKOKKOS, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGBuildLevels_Private(PC pc)
{
  PC_SBPMG          *mg   = (PC_SBPMG *)pc->data;
  MPI_Comm           comm = PetscObjectComm((PetscObject)pc);
  const SBPOperator *op;
  PetscBool          is;
  PetscInt           width;
  DM                 da;

  PetscFunctionBegin;
  PetscCall(LitheCheckSquare((PetscObject)pc, pc->pmat));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSBPSAT, &is));
  PetscCheck(is, comm, PETSC_ERR_ARG_WRONG,
             "-pc_type sbpmg needs a matrix of type " MATSBPSAT ", this one has the type %s. Use -dm_mat_type " MATSBPSAT
             " or MatCreateSBPSAT(), or another preconditioner",
             ((PetscObject)pc->pmat)->type_name);
  PetscCheck(mg->opt.cycle != PCSBPMG_CYCLE_FULL || mg->opt.coarse == PCSBPMG_COARSE_GALERKIN, comm, PETSC_ERR_SUP,
             "-pc_sbpmg_cycle full needs -pc_sbpmg_coarse galerkin: the penalties of Dirichlet data depend on the level, so a restricted right-hand side does "
             "not fit rediscretised operators");

  /* The place and the precision of the levels */
  PetscCall(IsOnDevice_Private(pc->pmat, &mg->device));
  mg->kernels = &SBPHostKernels;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->device) mg->kernels = &SBPDeviceKernels;
#endif
  PetscCheck(!mg->device || mg->kernels != &SBPHostKernels, comm, PETSC_ERR_SUP,
             "-pc_type sbpmg: vectors are on a device that Lithe has no kernels for. Use vectors on the host");
  mg->exact     = sizeof(PetscReal) == sizeof(double) ? SBP_DOUBLE : SBP_SINGLE;
  mg->precision = mg->opt.precision == PCSBPMG_PRECISION_DOUBLE || (mg->opt.precision == PCSBPMG_PRECISION_AUTO && mg->truth.linear) ? mg->exact : SBP_SINGLE;

  /* The finest level */
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCSBPMGShiftSetUp_Private(pc));
  if (pc->failedreason) {
    mg->built = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetDM(pc->pmat, &da));
  PetscCall(MatSBPSATGetOperator(pc->pmat, mg->exact, mg->device, &op));
  mg->level[0].grid = op->grid;
  width             = mg->opt.coarse == PCSBPMG_COARSE_GALERKIN ? 2 : PetscMax(2, op->grid.reach);
  PetscCall(SBPPartsCreate(da, &mg->level[0].exchange.parts));
  PetscCall(PCSBPMGCountLevels_Private(pc, width));
  mg->symmetric = PCSBPMGSetSmooths_Private(mg);
  if (PCSBPMGIsGathered(mg, 0)) {
    PetscCall(PCSBPMGGatherCreate_Private(pc));
    PetscCall(GatherFinest_Private(pc));
    PetscCall(MatSBPSATGetOperator(mg->level[0].A, mg->exact, mg->device, &op));
    mg->level[0].grid = op->grid;
  }
  PetscCall(TakeOperator_Private(mg, 0, FinestMatrix(pc), mg->exact));
  mg->level[0].op[mg->precision].grid = mg->level[0].op[mg->exact].grid;
  if (PCSBPMGIsWhole(mg, 0)) PCSBPMGSetPitch(mg, 0, &mg->level[0].op[mg->precision].grid);

  /* coarser levels */
  for (PetscInt k = 1; k < mg->n; k++) PetscCall(PCSBPMGSetGrid_Private(mg, k));
  if (!PCSBPMGIsGathered(mg, 0)) PetscCall(PCSBPMGGatherCreate_Private(pc));
  PetscCall(PCSBPMGBoxPlan_Private(pc));
  PetscCall(PetscLogEventBegin(PC_SBPMGArrays, pc, 0, 0, 0));
  PetscCall(PCSBPMGReserve_Private(mg));
  PetscCall(PCSBPMGScaleCreate_Private(mg));
  PetscCall(PCSBPMGShiftOperator_Private(pc));
  PetscCall(RoundOperator_Private(mg, 0));
  if (!PCSBPMGIsWhole(mg, 0)) PetscCall(PCSBPMGExchangeCreate_Private(pc, &mg->level[0], PCSBPMGGhosts_Private));
  PetscCall(PetscLogEventEnd(PC_SBPMGArrays, pc, 0, 0, 0));

  PetscCall(PetscLogEventBegin(PC_SBPMGCoarsen, pc, 0, 0, 0));
  if (mg->opt.coarse == PCSBPMG_COARSE_GALERKIN) {
    for (PetscInt k = 1; k < mg->n && !PCSBPMGIsWhole(mg, k); k++) PetscCall(PCSBPMGExchangeCreate_Private(pc, &mg->level[k], PCSBPMGGhosts_Private));
    PetscCall(Galerkin_Private(pc));
  } else PetscCall(Rediscretise_Private(pc));
  for (PetscInt k = 0; k < mg->n; k++) {
    PetscCall(AllocateLevel_Private(mg, k));
    if (k < mg->n - 1) PetscCall(SetUpDiagonal_Private(mg, &mg->level[k]));
  }
  PetscCall(PetscLogEventEnd(PC_SBPMGCoarsen, pc, 0, 0, 0));

  PetscCall(PetscLogEventBegin(PC_SBPMGCoarsest, pc, 0, 0, 0));
  PetscCall(PCSBPMGCoarseSetUp_Private(pc));
  PetscCall(PCSBPMGGatherFailure_Private(pc));
  PetscCall(PetscLogEventEnd(PC_SBPMGCoarsest, pc, 0, 0, 0));

  PetscCall(PetscLogEventBegin(PC_SBPMGSpectra, pc, 0, 0, 0));
  if (!pc->failedreason) PetscCall(PCSBPMGSpectra_Private(pc));
  PetscCall(PetscLogEventEnd(PC_SBPMGSpectra, pc, 0, 0, 0));
  if (!pc->failedreason) PetscCall(PCSBPMGBoxFill_Private(pc));
  mg->flops = pc->failedreason ? 0 : PCSBPMGFlops_Private(mg);
  mg->built = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
