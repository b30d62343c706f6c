/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCDEZEEUW: multigrid on a DMDA with matrix-dependent prolongation and Galerkin coarse operators.

   Like PCGAMG this is a PCMG whose set-up makes operators and interpolations of the levels itself, from
   the matrix alone; everything else, cycles, smoothers and their options, is PCMG's.
*/

#include "referencepc.h"
#include <lithe/private/petsccompat.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/pcmgimpl.h>
#include <petscksp.h>

typedef struct {
  PetscInt  maxlevels, coarsepoints;
  PetscBool restriction; /* has a matrix of its own */
  PetscInt  nlevels;
  PetscInt  npoints; /* of the coarsest grid */
  DM       *dm;      /* of the levels, the coarsest first */
  /* what PCMG does */
  PetscErrorCode (*setup)(PC);
  PetscErrorCode (*reset)(PC);
  PetscErrorCode (*destroy)(PC);
  PetscErrorCode (*setfromoptions)(PC, PetscOptionItems);
} PC_DeZeeuw;

static PC_DeZeeuw *GetDeZeeuw(PC pc)
{
  return (PC_DeZeeuw *)((PC_MG *)pc->data)->innerctx;
}

/* Every process must own points of the coarse grid in all directions, or there is no DMDA of them */
static PetscErrorCode CanCoarsen(DM da, PetscInt points, PetscBool *can)
{
  Grid            grid;
  PetscInt        processes[3] = {1, 1, 1};
  PetscReal       all          = 1.;
  PetscBool       shrinks      = PETSC_FALSE;
  const PetscInt *owned[3];

  PetscFunctionBegin;
  PetscCall(GridCreate(da, &grid));
  PetscCall(DMDAGetInfo(da, NULL, NULL, NULL, NULL, &processes[0], &processes[1], &processes[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
  *can = PETSC_TRUE;
  for (PetscInt d = 0; d < grid.dim; d++) {
    PetscInt start = 0;

    all *= (PetscReal)grid.n[d];
    shrinks = (PetscBool)(shrinks || grid.n[d] > 2);
    for (PetscInt p = 0; p < processes[d]; p++) {
      const PetscInt end = start + owned[d][p];

      if ((end + 1) / 2 == (start + 1) / 2 && (end < grid.n[d] || end % 2)) *can = PETSC_FALSE;
      start = end;
    }
  }
  if (all <= (PetscReal)points || !shrinks) *can = PETSC_FALSE;
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grids, once */
static PetscErrorCode CreateGrids(PC pc)
{
  PC_DeZeeuw *z = GetDeZeeuw(pc);
  PetscInt    M, m[3], dof;
  PetscBool   isda = PETSC_FALSE;
  DM         *dm;
  DM          last;

  PetscFunctionBegin;
  if (pc->dm) PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMDA, &isda));
  PetscCheck(isda, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-%spc_type dezeeuw needs the grid of the matrix, a DMDA: call KSPSetDM() and KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE), or PCSetDM()",
             ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
  PetscCall(DMDAGetInfo(pc->dm, NULL, &m[0], &m[1], &m[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, NULL));
  PetscCall(MatGetSize(pc->pmat, &M, NULL));
  PetscCheck(dof == 1 && M == m[0] * m[1] * m[2], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "A matrix of %" PetscInt_FMT " rows on a DMDA of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points with %" PetscInt_FMT
             " unknowns each: one unknown a point is supported",
             M, m[0], m[1], m[2], dof);

  /* the finest first, turned round at the end */
  PetscCall(PetscMalloc1(z->maxlevels, &dm));
  z->nlevels = 0;
  last       = pc->dm;
  PetscCall(PetscObjectReference((PetscObject)last));
  while (PETSC_TRUE) {
    PetscBool can = PETSC_FALSE;
    Grid      grid;

    dm[z->nlevels++] = last;
    PetscCall(CanCoarsen(last, z->coarsepoints, &can));
    if (!can || z->nlevels == z->maxlevels) break;
    PetscCall(GridCreate(last, &grid));
    PetscCall(GridCreateCoarseDM(&grid, &last));
    PetscCall(GridDestroy(&grid));
  }
  PetscCall(PetscMalloc1(z->nlevels, &z->dm));
  for (PetscInt l = 0; l < z->nlevels; l++) z->dm[l] = dm[z->nlevels - 1 - l];
  PetscCall(DMDAGetInfo(z->dm[0], NULL, &m[0], &m[1], &m[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  z->npoints = m[0] * m[1] * m[2];
  PetscCall(PetscFree(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the coarsest grid the inverse, each process its own copy */
static PetscErrorCode SetCoarseSolver(PC pc)
{
  PetscMPIInt size;
  KSP         ksp;
  PC          coarse;

  PetscFunctionBegin;
  PetscCall(PCMGGetCoarseSolve(pc, &ksp));
  PetscCall(KSPGetPC(ksp, &coarse));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (size > 1) {
    PetscCall(PCSetType(coarse, PCREDUNDANT));
    PetscCall(PCRedundantGetKSP(coarse, &ksp));
    PetscCall(KSPGetPC(ksp, &coarse));
  }
  PetscCall(PCSetType(coarse, PCINVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCMG of these levels. Its smoothers are one damped step: where the wave length is a few spacings of a
   level, that does not amplify what it cannot smooth, as Gauss-Seidel does. There the coarse grid must be
   solved well, by W cycles. Options may change all of it.

   On the finest level the step before the coarse correction starts from zero. PCMG knows that if the
   step after it belongs to another solver, which here has the same preconditioner and options.
*/
static PetscErrorCode CreateLevels(PC pc)
{
  PC_DeZeeuw *z = GetDeZeeuw(pc);

  PetscFunctionBegin;
  PetscCall(PCMGSetLevels(pc, z->nlevels, NULL));
  PetscCall(PCMGSetNumberSmooth(pc, 1));
  PetscCall(PCMGSetCycleType(pc, PC_MG_CYCLE_W));
  if (z->coarsepoints >= z->npoints) PetscCall(SetCoarseSolver(pc));
  for (PetscInt l = 1; l < z->nlevels; l++) {
    KSP smoother;
    PC  damped;

    PetscCall(PCMGGetSmoother(pc, l, &smoother));
    PetscCall(KSPSetType(smoother, KSPRICHARDSON));
    PetscCall(KSPGetPC(smoother, &damped));
    PetscCall(PCSetType(damped, PCDAMPED));
    if (l < z->nlevels - 1) continue;
    PetscCall(PCMGGetSmootherUp(pc, l, &smoother));
    PetscCall(KSPSetPC(smoother, damped));
  }
  PetscObjectOptionsBegin((PetscObject)pc);
  PetscCall((*z->setfromoptions)(pc, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_DeZeeuw(PC pc)
{
  PC_DeZeeuw *z = GetDeZeeuw(pc);
  Mat         A = pc->pmat;

  PetscFunctionBegin;
  if (!z->dm) {
    PetscCall(CreateGrids(pc));
    PetscCall(CreateLevels(pc));
  } else {
    PetscCall((*z->reset)(pc));
    pc->setupcalled = PETSC_FALSE;
  }
  for (PetscInt l = z->nlevels - 1; z->dm && l > 0; l--) {
    KSP ksp;
    Mat P, coarse;

    PetscCall(DeZeeuwCoarsen(A, z->dm[l], z->dm[l - 1], &P, &coarse));
    PetscCall(PCMGSetInterpolation(pc, l, P));
    if (z->restriction) {
      Mat R;

      PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &R));
      PetscCall(PCMGSetRestriction(pc, l, R));
      PetscCall(MatDestroy(&R));
    }
    PetscCall(PCMGGetSmoother(pc, l - 1, &ksp));
    PetscCall(KSPSetOperators(ksp, coarse, coarse));
    /* smoothers may want to know the grid; the matrices do not come from it */
    PetscCall(KSPSetDM(ksp, z->dm[l - 1]));
    PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
    PetscCall(MatDestroy(&P));
    A = coarse; /* which the solver keeps */
    PetscCall(MatDestroy(&coarse));
  }
  PetscCall((*z->setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_DeZeeuw(PC pc)
{
  PC_DeZeeuw *z = GetDeZeeuw(pc);

  PetscFunctionBegin;
  for (PetscInt l = 0; z->dm && l < z->nlevels; l++) PetscCall(DMDestroy(&z->dm[l]));
  PetscCall(PetscFree(z->dm));
  PetscCall((*z->reset)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_DeZeeuw(PC pc)
{
  PC_DeZeeuw *z                 = GetDeZeeuw(pc);
  PetscErrorCode (*destroy)(PC) = z->destroy;

  PetscFunctionBegin;
  PetscCall(PCReset_DeZeeuw(pc));
  pc->ops->reset = z->reset;
  PetscCall(PetscFree(z));
  ((PC_MG *)pc->data)->innerctx = NULL;
  PetscCall((*destroy)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of PCMG are read when its levels are known */
static PetscErrorCode PCSetFromOptions_DeZeeuw(PC pc, PetscOptionItems PetscOptionsObject)
{
  PC_DeZeeuw *z = GetDeZeeuw(pc);

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid with matrix-dependent prolongation");
  PetscCall(PetscOptionsBoundedInt("-pc_mg_levels", "Levels at most", "PCMGSetLevels", z->maxlevels, &z->maxlevels, NULL, 1));
  PetscCall(
    PetscOptionsBoundedInt("-pc_dezeeuw_coarse_points", "A grid of so many points is not made coarser", NULL, z->coarsepoints, &z->coarsepoints, NULL, 1));
  PetscCall(PetscOptionsBool("-pc_dezeeuw_restriction", "A matrix of its own for the restriction, instead of products with the transpose", "PCMGSetRestriction",
                             z->restriction, &z->restriction, NULL));
  PetscOptionsHeadEnd();
  if (z->dm) PetscCall((*z->setfromoptions)(pc, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_DeZeeuw(PC pc, PetscViewer viewer)
{
  PC_DeZeeuw *z        = GetDeZeeuw(pc);
  char        all[512] = "";

  PetscFunctionBegin;
  for (PetscInt l = z->nlevels - 1; z->dm && l >= 0; l--) {
    PetscInt dim, n[3];
    char     one[64], third[32] = "";

    PetscCall(DMDAGetInfo(z->dm[l], &dim, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    if (dim == 3) PetscCall(PetscSNPrintf(third, sizeof(third), "x%" PetscInt_FMT, n[2]));
    PetscCall(PetscSNPrintf(one, sizeof(one), " %" PetscInt_FMT "x%" PetscInt_FMT "%s", n[0], n[1], third));
    PetscCall(PetscStrlcat(all, one, sizeof(all)));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "    Matrix-dependent prolongation on grids of%s points\n", all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCDEZEEUW - "dezeeuw" - Multigrid on a `DMDA` with de Zeeuw's matrix-dependent prolongation and Galerkin coarse operators

   Options Database Keys:
+ -pc_mg_levels <n>              - levels at most; as many as the grid allows by default
. -pc_dezeeuw_coarse_points <600> - a grid of so many points is not made coarser
. -pc_dezeeuw_restriction <true> - a matrix of its own for the restriction: more memory, less to read when compressed,
faster where products with a transpose are slow
. -pc_mg_cycle_type <w>          - v or w
- -mg_levels_pc_type <damped>    - smoother, in `KSPRICHARDSON`

   Level: intermediate

   Notes:
   All options of `PCMG` hold, `-pc_mg_cycle_type`, `-pc_mg_distinct_smoothup`, `-mg_levels_ksp_max_it`, `-mg_coarse_pc_type` and so on.

   The matrix of the preconditioner is taken on all levels, not the operator (`PCSetUseAmat()`): they differ for shifted operators.

   The grid is that of the solver, `KSPSetDM()`; the matrix has one unknown a point and 9 points in a row in two
   dimensions, 27 in three. Sizes may be odd or even.

.seealso: `PCMG`, `PCGAMG`, `PCMULTICOLOR`, `DMDA`
M*/
static PetscErrorCode PCCreate_DeZeeuw(PC pc)
{
  PC_DeZeeuw *z;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCDEZEEUW));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_EXTERNAL));
  PetscCall(PCSetUseAmat(pc, PETSC_FALSE)); /* the matrix of the preconditioner on all levels */
  PetscCall(PetscNew(&z));
  z->maxlevels      = 32;
  z->coarsepoints   = 600;
  z->restriction    = PETSC_TRUE;
  z->setup          = pc->ops->setup;
  z->reset          = pc->ops->reset;
  z->destroy        = pc->ops->destroy;
  z->setfromoptions = pc->ops->setfromoptions;

  ((PC_MG *)pc->data)->innerctx = z;
  ((PC_MG *)pc->data)->view     = PCView_DeZeeuw;
  pc->ops->setup                = PCSetUp_DeZeeuw;
  pc->ops->reset                = PCReset_DeZeeuw;
  pc->ops->destroy              = PCDestroy_DeZeeuw;
  pc->ops->setfromoptions       = PCSetFromOptions_DeZeeuw;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN PetscErrorCode PCCreate_Multicolor(PC);
PETSC_INTERN PetscErrorCode PCCreate_Inverse(PC);
PETSC_INTERN PetscErrorCode PCCreate_Damped(PC);

PetscErrorCode ReferenceRegisterPCs(void)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCDEZEEUW, PCCreate_DeZeeuw));
  PetscCall(PCRegister(PCMULTICOLOR, PCCreate_Multicolor));
  PetscCall(PCRegister(PCINVERSE, PCCreate_Inverse));
  PetscCall(PCRegister(PCDAMPED, PCCreate_Damped));
  PetscFunctionReturn(PETSC_SUCCESS);
}
