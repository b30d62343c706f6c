/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The levels of a PCSBPMG: their number, owners, operators and arrays.
*/

#include "sbpmgimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/sbptables.h>

#define SBPMG_COARSEST 16 /* intervals along the longer side: by default not coarsened further */
#define SBPMG_LEAST    4  /* intervals of a level along the shorter side, at least */
#define SBPMG_PITCH    32 /* one process: rows of arrays begin at multiples of this number */

/* ------------------------------------------------------------ grids */

/* The nodes of each process along a direction on the next coarser grid: every second node */
static PetscBool CoarsenRanges(PetscInt parts, const PetscInt fine[], PetscInt least, PetscInt coarse[])
{
  PetscInt  start = 0;
  PetscBool large = PETSC_TRUE;

  for (PetscInt p = 0; p < parts; p++) {
    coarse[p] = (start + fine[p] - 1) / 2 - (start + 1) / 2 + 1;
    start += fine[p];
    if (coarse[p] < least) large = PETSC_FALSE;
  }
  return (PetscBool)(parts == 1 || large);
}

/* A DMDA whose processes own the coarse nodes among their nodes of da; NULL if a process would have fewer than width */
static PetscErrorCode CoarsenDM_Private(DM da, PetscInt width, DM *coarse)
{
  PetscInt        parts[2], nodes[2], *range[2];
  const PetscInt *fine[2];
  PetscBool       large = PETSC_TRUE;

  PetscFunctionBegin;
  *coarse = NULL;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, &parts[0], &parts[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &fine[0], &fine[1], NULL));
  for (int d = 0; d < 2; d++) {
    PetscCall(PetscMalloc1(parts[d], &range[d]));
    if (!CoarsenRanges(parts[d], fine[d], width, range[d])) large = PETSC_FALSE;
  }
  if (large) {
    PetscCall(DMDACreate2d(PetscObjectComm((PetscObject)da), DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, (nodes[0] - 1) / 2 + 1,
                           (nodes[1] - 1) / 2 + 1, parts[0], parts[1], 1, width, range[0], range[1], coarse));
    PetscCall(DMSetUp(*coarse));
  }
  for (int d = 0; d < 2; d++) PetscCall(PetscFree(range[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA with the processes and nodes of da */
static PetscErrorCode CreateAlikeDM_Private(DM da, PetscInt width, DM *alike)
{
  const PetscInt *range[2];
  PetscInt        parts[2], nodes[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, &parts[0], &parts[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &range[0], &range[1], NULL));
  PetscCall(DMDACreate2d(PetscObjectComm((PetscObject)da), DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, nodes[0], nodes[1], parts[0], parts[1], 1,
                         width, range[0], range[1], alike));
  PetscCall(DMSetUp(*alike));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA for the ghosts of an operator */
static PetscErrorCode CreateHaloDM_Private(DM da, const SBPOperator *op, DM *hda)
{
  SBPBox ghosted;

  PetscFunctionBegin;
  PetscCall(CreateAlikeDM_Private(da, op->grid.reach, hda));
  PetscCall(DMDAGetGhostCorners(*hda, &ghosted.start[0], &ghosted.start[1], NULL, &ghosted.count[0], &ghosted.count[1], NULL));
  for (int d = 0; d < 2; d++)
    PetscCheck(ghosted.start[d] == op->grid.ghosted.start[d] && ghosted.count[d] == op->grid.ghosted.count[d], PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "The ghosts of a MATSBPSAT do not match its reach of %d", op->grid.reach);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part without ghosts, and the strips around it */
static void SplitOwned(SBPMGLevel *l)
{
  const SBPGrid *grid = &l->grid;
  const SBPBox  *own  = &grid->own;
  PetscInt       lo[2], hi[2];

  l->nborder = 0;
  for (int d = 0; d < 2; d++) {
    const PetscInt end = own->start[d] + own->count[d];

    lo[d]             = own->start[d] + (own->start[d] > 0 ? grid->reach : 0);
    hi[d]             = end - (end <= grid->n[d] ? grid->reach : 0);
    l->inner.start[d] = lo[d];
    l->inner.count[d] = hi[d] - lo[d];
  }
  if (l->inner.count[0] <= 0 || l->inner.count[1] <= 0) {
    l->inner.count[0] = l->inner.count[1] = 0;
    l->border[l->nborder++]               = *own;
    return;
  }
  for (int side = 0; side < 4; side++) {
    const int d   = side < 2 ? 1 : 0; /* below, above, left, right; the first two over the whole width */
    SBPBox    box = *own;

    if (d == 0) {
      box.start[1] = lo[1];
      box.count[1] = hi[1] - lo[1];
    }
    if (side % 2 == 0) box.count[d] = lo[d] - own->start[d];
    else {
      box.start[d] = hi[d];
      box.count[d] = own->start[d] + own->count[d] - hi[d];
    }
    if (box.count[0] > 0 && box.count[1] > 0) l->border[l->nborder++] = box;
  }
}

/* The pitch of arrays on one process; a dense inverse needs arrays without gaps */
static void SetPitch(const PC_SBPMG *mg, PetscInt level, SBPGrid *grid)
{
  const PetscInt count = grid->own.count[0];

  grid->pitch = grid->ghostpitch = level == mg->n - 1 && mg->ndense ? count : (count + SBPMG_PITCH - 1) / SBPMG_PITCH * SBPMG_PITCH;
}

/* The grid of a level below another */
static PetscErrorCode SetGrid_Private(PC_SBPMG *mg, PetscInt level, PetscBool parallel)
{
  SBPMGLevel *l = &mg->level[level], *fine = l - 1;
  SBPGrid    *grid = &l->grid;

  PetscFunctionBegin;
  *grid       = fine->grid;
  grid->reach = 1;
  for (int d = 0; d < 2; d++) {
    grid->n[d] = fine->grid.n[d] / 2;
    grid->h[d] = 2 / (PetscReal)grid->n[d];
  }
  if (parallel) {
    PetscCall(DMDAGetCorners(l->da, &grid->own.start[0], &grid->own.start[1], NULL, &grid->own.count[0], &grid->own.count[1], NULL));
    PetscCall(DMDAGetGhostCorners(l->da, &grid->ghosted.start[0], &grid->ghosted.start[1], NULL, &grid->ghosted.count[0], &grid->ghosted.count[1], NULL));
    grid->pitch      = grid->own.count[0];
    grid->ghostpitch = grid->ghosted.count[0];
  } else {
    for (int d = 0; d < 2; d++) grid->own.count[d] = grid->n[d] + 1;
    grid->ghosted = grid->own;
    SetPitch(mg, level, grid);
  }
  grid->coefficientpitch = grid->ghostpitch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often both numbers of intervals can be halved, the limit by the options, and the reason for the end */
static PetscErrorCode CountLevels_Private(PC pc, DM da, PetscBool parallel, PetscInt width)
{
  PC_SBPMG *mg   = (PC_SBPMG *)pc->data;
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscInt  n[2] = {mg->level[0].grid.n[0], mg->level[0].grid.n[1]}, wanted = mg->opt.levels;

  PetscFunctionBegin;
  mg->n = 1;
  PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "there are %d", SBPMG_LEVELS_MAX));
  while (mg->n < SBPMG_LEVELS_MAX) {
    SBPMGLevel *l = &mg->level[mg->n];

    if (wanted > 0 && mg->n == wanted) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "as many were asked for"));
      break;
    }
    if (wanted <= 0 && PetscMax(n[0], n[1]) <= SBPMG_COARSEST) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "no more than %d intervals along the longer side", SBPMG_COARSEST));
      break;
    }
    if (n[0] % 2 || n[1] % 2) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "%" PetscInt_FMT " x %" PetscInt_FMT " intervals are not even along both sides", n[0], n[1]));
      break;
    }
    if (PetscMin(n[0], n[1]) / 2 < SBPMG_LEAST) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "it would have fewer than %d intervals along the shorter side", SBPMG_LEAST));
      break;
    }
    if (parallel) {
      PetscCall(CoarsenDM_Private(mg->n == 1 ? da : l[-1].da, width, &l->da));
      if (!l->da) {
        PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "a process would have fewer than %" PetscInt_FMT " nodes along a side", width));
        break;
      }
    }
    n[0] /= 2;
    n[1] /= 2;
    mg->n++;
  }
  PetscCheck(wanted <= 0 || mg->n == wanted, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sbpmg_levels %" PetscInt_FMT ": the grid of %" PetscInt_FMT " x %" PetscInt_FMT " intervals has only %" PetscInt_FMT
             " levels here. Both numbers must be even on a level that has a coarser one, which has at least %d intervals, and at least %" PetscInt_FMT
             " nodes per process and direction",
             wanted, mg->level[0].grid.n[0], mg->level[0].grid.n[1], mg->n, SBPMG_LEAST, width);
  mg->ndense = !parallel && (n[0] + 1) * (n[1] + 1) <= mg->opt.dense ? (n[0] + 1) * (n[1] + 1) : 0;
  PetscCall(PetscInfo(pc, "%" PetscInt_FMT " levels, the coarsest one, %" PetscInt_FMT " x %" PetscInt_FMT " intervals, %s. No coarser level: %s\n", mg->n,
                      n[0], n[1], mg->ndense ? "with a dense inverse" : "solved by KSP", mg->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange of ghosts, once the grid of a level is known */
static PetscErrorCode SetUpGhosts_Private(PC_SBPMG *mg, SBPMGLevel *l, DM da)
{
  PetscFunctionBegin;
  PetscCall(SBPHaloCreate(PetscObjectComm((PetscObject)da), da, mg->transport, &l->halo));
  for (int p = 0; p < 2; p++) {
    if ((SBPPrecision)p == mg->precision || (SBPPrecision)p == mg->exact) PetscCall(PCSBPMGGhosts_Private(mg, &l->grid, (SBPPrecision)p, &l->ghost[p]));
  }
  SplitOwned(l);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ operators */

/* A coefficient of every stride-th node as a vector of the matrix A of da, at the place of the levels */
static PetscErrorCode SampleCoefficient_Private(PC_SBPMG *mg, const SBPOperator *op, int k, PetscInt stride, DM da, Mat A, Vec *v)
{
  const SBPGrid *grid = &op->grid;
  PetscInt       start[2], count[2];
  SBPSpaced      from, to;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, v, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  if (PetscDefined(USE_COMPLEX)) PetscCall(VecZeroEntries(*v));
  if (mg->device) PetscCall(VecGetArrayAndMemType(*v, &a, NULL));
  else PetscCall(VecGetArray(*v, &a));
  from.single = (PetscBool)(mg->exact == SBP_SINGLE);
  from.step   = stride;
  from.pitch  = (PetscInt64)stride * grid->coefficientpitch;
  from.p      = (char *)op->coefficient[k] +
           ((size_t)(stride * start[1] - grid->ghosted.start[1]) * (size_t)grid->coefficientpitch + (size_t)(stride * start[0] - grid->ghosted.start[0])) *
             SBPNumberBytes(mg->exact);
  to = SBPRealParts(a, count[0]);
  PetscCall((*mg->kernels->strided)(count, PETSC_FALSE, &from, &to));
  if (mg->device) PetscCall(VecRestoreArrayAndMemType(*v, &a));
  else PetscCall(VecRestoreArray(*v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An SBP-SAT operator of the given order on da, with the coefficients of another operator at every stride-th node */
static PetscErrorCode CreateSampledHere_Private(PC pc, Mat from, PetscInt stride, PetscInt order, DM da, Mat *A)
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
  for (int k = 0; k < 3; k++) PetscCall(SampleCoefficient_Private(mg, op, k, stride, da, *A, &tensor[k]));
  PetscCall(MatSBPSATSetTensor(*A, tensor[0], tensor[1], tensor[2], NULL)); /* J is for right-hand sides only */
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&tensor[k]));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same; options without a prefix have no effect */
static PetscErrorCode CreateSampled_Private(PC pc, Mat from, PetscInt stride, PetscInt order, DM da, Mat *A)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = CreateSampledHere_Private(pc, from, stride, order, da, A);
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
  if (!l->da && !(level == 0 && mg->inplace)) SetPitch(mg, level, &l->op[precision].grid);
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
  if (!l->da) SetPitch(mg, level, &to->grid);
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
  PetscCall(CreateAlikeDM_Private(da, 1, &alike));
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

static PetscErrorCode Rediscretise_Private(PC pc, PetscBool parallel)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  PetscInt  order;
  DM        above = NULL; /* and the DMDA of its diagonal */
  Vec       d     = NULL;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetOrder(pc->pmat, &order));
  if (mg->diagonal) {
    PetscCall(MatGetDM(pc->pmat, &above));
    PetscCall(CreateAlikeDM_Private(above, 1, &above));
    PetscCall(DMCreateGlobalVector(above, &d));
    PetscCall(VecCopy(mg->diagonal, d));
  }
  for (PetscInt k = 1; k < mg->n; k++) {
    SBPMGLevel *l  = &mg->level[k];
    DM          da = l->da;

    if (!da) {
      PetscCall(DMDACreate2d(PetscObjectComm((PetscObject)pc), DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, l->grid.n[0] + 1, l->grid.n[1] + 1, 1, 1,
                             1, 1, NULL, NULL, &da));
      PetscCall(DMSetUp(da));
    }
    PetscCall(CreateSampled_Private(pc, k == 1 ? pc->pmat : l[-1].A, 2, OrderForGrid(order, l->grid.n), da, &l->A));
    if (d) PetscCall(RestrictDiagonal_Private(&above, da, &d));
    PetscCall(PCSBPMGShiftMatrix_Private(pc, d, l->A));
    if (!l->da) PetscCall(DMDestroy(&da));
    PetscCall(TakeOperator_Private(mg, k, l->A, mg->exact));
    PetscCall(RoundOperator_Private(mg, k));
    l->grid = l->op[mg->exact].grid;
    if (parallel) {
      PetscCall(CreateHaloDM_Private(l->da, &l->op[mg->exact], &l->hda));
      PetscCall(SetUpGhosts_Private(mg, l, l->hda));
    }
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
  PetscCall(CreateSampled_Private(pc, pc->pmat, 1, 2, da, A));
  PetscCall(PCSBPMGShiftMatrix_Private(pc, mg->diagonal, *A));
  PetscCall(MatSBPSATGetOperator(*A, mg->exact, mg->device, &op));
  second->op[mg->exact] = *op;
  second->grid          = op->grid;
  if (mg->level[0].halo) {
    PetscCall(CreateHaloDM_Private(da, op, &second->hda));
    PetscCall(SetUpGhosts_Private(mg, second, second->hda));
  } else second->op[mg->exact].grid.pitch = second->op[mg->exact].grid.ghostpitch = mg->level[0].op[mg->exact].grid.pitch; /* the pitch of work arrays */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySecondOrder_Private(PC_SBPMG *mg, Mat *A, SBPMGLevel *second)
{
  PetscFunctionBegin;
  for (int p = 0; p < 2; p++) {
    PetscCall(PCSBPMGFree_Private(mg, &second->ghost[p]));
  }
  PetscCall(SBPHaloDestroy(&second->halo));
  PetscCall(DMDestroy(&second->hda));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Galerkin_Private(PC pc, DM da)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  void     *work;
  PetscInt  order;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetOrder(pc->pmat, &order));
  PetscCall(PCSBPMGWorkCreate_Private(mg, &work));
  for (PetscInt k = 1; k < mg->n; k++) {
    SBPMGLevel *l = &mg->level[k];

    for (int p = 0; p < 2; p++) {
      l->op[p].kind      = SBP_NINE;
      l->op[p].precision = (SBPPrecision)p;
      l->op[p].grid      = l->grid;
    }
    if (k == 1 && order > 2) {
      const size_t bytes = mg->bytes;
      SBPMGLevel   second;
      Mat          A;

      PetscCall(CreateSecondOrder_Private(pc, da, &A, &second));
      mg->bytes = bytes;
      PetscCall(PCSBPMGGalerkin_Private(mg, &second, l, work));
      PetscCall(DestroySecondOrder_Private(mg, &A, &second));
    } else PetscCall(PCSBPMGGalerkin_Private(mg, l - 1, l, work));
    if (k > 1 && !PCSBPMGKeepsExact_Private(mg, l - 1)) {
      for (int c = 0; c < SBP_COEFFICIENTS; c++) {
        if (!PCSBPMGIsDirect_Private(mg)) PetscCall((*mg->kernels->free)(&l[-1].coefficient[mg->exact][c]));
        l[-1].coefficient[mg->exact][c]    = NULL;
        l[-1].op[mg->exact].coefficient[c] = NULL;
      }
    }
  }
  if (work) PetscCall((*mg->kernels->free)(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays */

static PetscErrorCode AllocateLevel_Private(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel    *l    = &mg->level[level];
  const SBPGrid *grid = &l->op[mg->precision].grid, *exact = &l->op[mg->exact].grid;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->x[k]));
  PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->b));
  if (level < mg->n - 1) PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->d));
  if (PCSBPMGHasVectors_Private(mg, level)) {
    PetscCall(PCSBPMGOwned_Private(mg, exact, mg->exact, &l->fb));
    PetscCall(PCSBPMGOwned_Private(mg, exact, mg->exact, &l->fx));
  }
  if (PCSBPMGHasResidual_Private(mg, level)) PetscCall(PCSBPMGOwned_Private(mg, exact, mg->exact, &l->fr));
  if (PCSBPMGHasDirection_Private(mg, level)) PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->fd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpDiagonal_Private(PC_SBPMG *mg, SBPMGLevel *l)
{
  const SBPGrid *grid = &l->op[mg->precision].grid;

  PetscFunctionBegin;
  if (mg->opt.smoother == PCSBPMG_SMOOTHER_RICHARDSON) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCSBPMGOwned_Private(mg, grid, mg->precision, &l->dinv));
  PetscCall((*mg->kernels->diagonal)(&l->op[mg->precision], l->dinv));
  PetscCall((*mg->kernels->reciprocal)(grid, mg->precision, l->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the whole set-up */

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

/* The number of smoothing steps on the levels, and the consequence for the symmetry of a cycle */
static void SetSmooths(PC_SBPMG *mg)
{
  mg->symmetric = (PetscBool)(mg->opt.cycle != PCSBPMG_CYCLE_FULL);
  for (PetscInt k = 0; k < mg->n; k++) {
    for (int side = 0; side < 2; side++) {
      PetscInt *n = &mg->level[k].smooths[side];

      *n = k == 0 && mg->opt.finest[side] != PETSC_DECIDE ? mg->opt.finest[side] : mg->opt.smooths[side];
      /* the finest level of full multigrid starts with a solution close to convergence: docs/guide/sbpmg.md */
      if (*n == PETSC_DECIDE) *n = mg->opt.cycle == PCSBPMG_CYCLE_FULL && k == 0 && side ? 0 : 2;
    }
    if (mg->level[k].smooths[0] != mg->level[k].smooths[1]) mg->symmetric = PETSC_FALSE;
  }
}

PetscErrorCode PCSBPMGBuildLevels_Private(PC pc)
{
  PC_SBPMG          *mg   = (PC_SBPMG *)pc->data;
  MPI_Comm           comm = PetscObjectComm((PetscObject)pc);
  const SBPOperator *op;
  PetscMPIInt        size;
  PetscBool          is, parallel;
  PetscInt           width, order;
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
  PetscCallMPI(MPI_Comm_size(comm, &size));
  parallel = mg->parallel = (PetscBool)(size > 1);

  /* The place and the precision of the levels */
  PetscCall(IsOnDevice_Private(pc->pmat, &mg->device));
  mg->kernels = &SBPHostKernels;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->device) mg->kernels = &SBPDeviceKernels;
#endif
  PetscCheck(!mg->device || mg->kernels != &SBPHostKernels, comm, PETSC_ERR_SUP,
             "-pc_type sbpmg: vectors are on a device that Lithe has no kernels for. Use vectors on the host");
  mg->exact     = sizeof(PetscReal) == sizeof(double) ? SBP_DOUBLE : SBP_SINGLE;
  mg->precision = mg->opt.precision == PCSBPMG_PRECISION_DOUBLE || (mg->opt.precision == PCSBPMG_PRECISION_AUTO && mg->linear) ? mg->exact : SBP_SINGLE;
  mg->inplace   = (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL && mg->exact != mg->precision && !PetscDefined(USE_COMPLEX));

  /* The finest level */
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(PCSBPMGShiftSetUp_Private(pc));
  if (pc->failedreason) {
    mg->built = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetDM(pc->pmat, &da));
  PetscCall(MatSBPSATGetOrder(pc->pmat, &order));
  PetscCall(MatSBPSATGetTransport(pc->pmat, &mg->transport));
  PetscCall(MatSBPSATGetOperator(pc->pmat, mg->exact, mg->device, &op));
  mg->level[0].grid = op->grid;
  mg->shifted       = (PetscBool)(op->kind == SBP_SHIFTED);
  width             = mg->opt.coarse == PCSBPMG_COARSE_GALERKIN ? 2 : PetscMax(2, op->grid.reach);
  if (parallel) PetscCall(CreateHaloDM_Private(da, op, &mg->level[0].da));
  PetscCall(CountLevels_Private(pc, mg->level[0].da, parallel, width));
  SetSmooths(mg);
  PetscCall(TakeOperator_Private(mg, 0, pc->pmat, mg->exact));
  mg->level[0].op[mg->precision].grid = mg->level[0].op[mg->exact].grid;
  if (!parallel) SetPitch(mg, 0, &mg->level[0].op[mg->precision].grid);

  /* coarser levels */
  for (PetscInt k = 1; k < mg->n; k++) PetscCall(SetGrid_Private(mg, k, parallel));
  PetscCall(PetscLogEventBegin(PC_SBPMGArrays, pc, 0, 0, 0));
  PetscCall(PCSBPMGReserve_Private(mg));
  PetscCall(PCSBPMGScaleCreate_Private(mg));
  PetscCall(PCSBPMGShiftOperator_Private(pc));
  PetscCall(RoundOperator_Private(mg, 0));
  if (parallel) PetscCall(SetUpGhosts_Private(mg, &mg->level[0], mg->level[0].da));
  PetscCall(PetscLogEventEnd(PC_SBPMGArrays, pc, 0, 0, 0));

  PetscCall(PetscLogEventBegin(PC_SBPMGCoarsen, pc, 0, 0, 0));
  if (mg->opt.coarse == PCSBPMG_COARSE_GALERKIN) {
    for (PetscInt k = 1; parallel && k < mg->n; k++) PetscCall(SetUpGhosts_Private(mg, &mg->level[k], mg->level[k].da));
    PetscCall(Galerkin_Private(pc, da));
  } else PetscCall(Rediscretise_Private(pc, parallel));
  for (PetscInt k = 0; k < mg->n; k++) {
    PetscCall(AllocateLevel_Private(mg, k));
    if (k < mg->n - 1) PetscCall(SetUpDiagonal_Private(mg, &mg->level[k]));
  }
  PetscCall(PetscLogEventEnd(PC_SBPMGCoarsen, pc, 0, 0, 0));

  PetscCall(PetscLogEventBegin(PC_SBPMGCoarsest, pc, 0, 0, 0));
  PetscCall(PCSBPMGCoarseSetUp_Private(pc));
  PetscCall(PetscLogEventEnd(PC_SBPMGCoarsest, pc, 0, 0, 0));

  PetscCall(PetscLogEventBegin(PC_SBPMGSpectra, pc, 0, 0, 0));
  if (!pc->failedreason) PetscCall(PCSBPMGSpectra_Private(pc));
  PetscCall(PetscLogEventEnd(PC_SBPMGSpectra, pc, 0, 0, 0));
  mg->flops = pc->failedreason ? 0 : PCSBPMGFlops_Private(mg);
  mg->built = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
