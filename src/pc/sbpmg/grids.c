/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The grids of the levels of a PCSBPMG: their number, the nodes of each process, and the exchange of ghosts */

#include "sbpmgimpl.h"

#define SBPMG_COARSEST 16 /* intervals along the longer side: by default not coarsened further */
#define SBPMG_LEAST    4  /* intervals of a level along the shorter side, at least */
#define SBPMG_PITCH    32 /* one process: rows of arrays begin at multiples of this number */

/* A DMDA with the processes and nodes of da */
PetscErrorCode PCSBPMGCreateAlikeDM_Private(DM da, PetscInt width, DM *alike)
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

/* The part without ghosts, and the strips around it */
static void SplitOwned(SBPMGLevel *l)
{
  const SBPGrid *grid = &l->grid;
  PetscInt       width[2][2];

  for (int d = 0; d < 2; d++) {
    width[d][0] = grid->own.start[d] > 0 ? grid->reach : 0;
    width[d][1] = grid->own.start[d] + grid->own.count[d] <= grid->n[d] ? grid->reach : 0;
  }
  l->exchange.nborder = SBPBoxSplit(&grid->own, width, &l->exchange.inner, l->exchange.border);
}

/* The pitch of arrays on one process; a dense inverse needs arrays without gaps */
void PCSBPMGSetPitch(const PC_SBPMG *mg, PetscInt level, SBPGrid *grid)
{
  const PetscInt count = grid->own.count[0];

  grid->pitch = grid->ghostpitch = level == mg->n - 1 && mg->coarsest.ndense ? count : (count + SBPMG_PITCH - 1) / SBPMG_PITCH * SBPMG_PITCH;
}

/* The grid of a level below another */
PetscErrorCode PCSBPMGSetGrid_Private(PC_SBPMG *mg, PetscInt level)
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
  if (!PCSBPMGIsWhole(mg, level)) {
    PetscCall(SBPPartsGetBoxes(&l->exchange.parts, l->exchange.width, &grid->own, &grid->ghosted));
    grid->pitch      = grid->own.count[0];
    grid->ghostpitch = grid->ghosted.count[0];
  } else {
    for (int d = 0; d < 2; d++) {
      grid->own.start[d] = 0;
      grid->own.count[d] = grid->n[d] + 1;
    }
    grid->ghosted = grid->own;
    PCSBPMGSetPitch(mg, level, grid);
  }
  grid->coefficientpitch = grid->ghostpitch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of nodes may be beyond 2^31 */
static PetscBool IsSmall(const PC_SBPMG *mg, const PetscInt n[2])
{
  return (PetscBool)(((PetscInt64)n[0] + 1) * ((PetscInt64)n[1] + 1) <= (PetscInt64)PCSBPMGGatherSize_Private(mg));
}

/*
   The distribution of the next level, if the level above has one: gathered if the level is small, or if a process would
   have fewer than width nodes. more: whether the level can be made
*/
static PetscErrorCode Distribute_Private(PC_SBPMG *mg, const SBPParts *above, const PetscInt n[2], PetscBool gathers, PetscInt width, PetscBool *more)
{
  SBPMGExchange *e = &mg->level[mg->n].exchange;
  SBPParts       part;

  PetscFunctionBegin;
  *more = PETSC_TRUE;
  if (PCSBPMGIsWhole(mg, mg->n)) PetscFunctionReturn(PETSC_SUCCESS);
  e->width = width;
  if (!gathers || !IsSmall(mg, n)) PetscCall(SBPPartsCoarsen(above, width, &e->parts));
  if (!gathers || SBPPartsExist(&e->parts)) {
    *more = SBPPartsExist(&e->parts);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SBPPartsCoarsen(above, 1, &part));
  *more = SBPPartsExist(&part);
  if (*more) PetscCall(PCSBPMGGatherFrom_Private(mg, mg->n, &part));
  PetscCall(SBPPartsDestroy(&part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often both numbers of intervals n can be halved, the limit by the options, and the reason for the end. n becomes
   that of the coarsest level */
static PetscErrorCode CountLevels_Private(PC_SBPMG *mg, PetscBool gathers, PetscInt width, PetscInt n[2])
{
  const SBPParts *parts  = &mg->level[0].exchange.parts;
  const PetscInt  wanted = mg->opt.levels;

  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) n[d] = mg->level[0].grid.n[d];
  PetscCall(PCSBPMGGatherFrom_Private(mg, SBPPartsExist(parts) ? SBPMG_LEVELS_MAX : 0, NULL));
  if (gathers && IsSmall(mg, n)) PetscCall(PCSBPMGGatherFrom_Private(mg, 0, parts));
  mg->n = 1;
  PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "there are %d", SBPMG_LEVELS_MAX));
  while (mg->n < SBPMG_LEVELS_MAX) {
    const PetscInt half[2] = {n[0] / 2, n[1] / 2};
    PetscBool      more;

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
    PetscCall(Distribute_Private(mg, &mg->level[mg->n - 1].exchange.parts, half, gathers, width, &more));
    if (!more) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "a process would have fewer than %" PetscInt_FMT " nodes along a side", gathers ? 1 : width));
      break;
    }
    n[0] = half[0];
    n[1] = half[1];
    mg->n++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The levels, and which of them are gathered. Gathered levels end with a dense inverse: without it, the solver of the
   coarsest level is the program's choice, and has the program's processes
*/
PetscErrorCode PCSBPMGCountLevels_Private(PC pc, PetscInt width)
{
  PC_SBPMG       *mg       = (PC_SBPMG *)pc->data;
  MPI_Comm        comm     = PetscObjectComm((PetscObject)pc);
  const PetscBool parallel = SBPPartsExist(&mg->level[0].exchange.parts);
  PetscInt        n[2], wanted = mg->opt.levels;

  PetscFunctionBegin;
  PetscCall(CountLevels_Private(mg, (PetscBool)(parallel && PCSBPMGGatherSize_Private(mg) > 0), width, n));
  PCSBPMGCoarseChoose(mg, (n[0] + 1) * (n[1] + 1));
  if (SBPPartsExist(&mg->gather.parts) && !mg->coarsest.ndense) {
    for (PetscInt k = 1; k < mg->n; k++) PetscCall(SBPPartsDestroy(&mg->level[k].exchange.parts));
    PetscCall(CountLevels_Private(mg, PETSC_FALSE, width, n));
    PCSBPMGCoarseChoose(mg, (n[0] + 1) * (n[1] + 1));
  }
  PetscCheck(wanted <= 0 || mg->n == wanted, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sbpmg_levels %" PetscInt_FMT ": the grid of %" PetscInt_FMT " x %" PetscInt_FMT " intervals has only %" PetscInt_FMT
             " levels here. Both numbers must be even on a level that has a coarser one, which has at least %d intervals, and at least %" PetscInt_FMT
             " nodes per process and direction",
             wanted, mg->level[0].grid.n[0], mg->level[0].grid.n[1], mg->n, SBPMG_LEAST, width);
  if (PCSBPMGIsGathered(mg, 0)) {
    PetscCall(SBPPartsDestroy(&mg->level[0].exchange.parts));
    PetscCall(PetscInfo(pc,
                        "%" PetscInt_FMT " x %" PetscInt_FMT
                        " intervals are too few to be shared: each process computes the whole cycle, because exchanges would "
                        "take longer. -pc_sbpmg_gather_size, now %" PetscInt_FMT ", sets the most unknowns of such a level\n",
                        mg->level[0].grid.n[0], mg->level[0].grid.n[1], PCSBPMGGatherSize_Private(mg)));
  } else if (SBPPartsExist(&mg->gather.parts))
    PetscCall(PetscInfo(pc, "Each process has all nodes of the levels from %" PetscInt_FMT " on\n", mg->gather.first));
  PetscCall(PetscInfo(pc, "%" PetscInt_FMT " levels, the coarsest one, %" PetscInt_FMT " x %" PetscInt_FMT " intervals, %s. No coarser level: %s\n", mg->n,
                      n[0], n[1], mg->coarsest.ndense ? "with a dense inverse" : "solved by KSP", mg->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange of ghosts, once the grid of a level is known. array: allocates ghosts in a precision */
PetscErrorCode PCSBPMGExchangeCreate_Private(PC pc, SBPMGLevel *l, PetscErrorCode (*array)(PC_SBPMG *, const SBPGrid *, SBPPrecision, void **))
{
  PC_SBPMG      *mg = (PC_SBPMG *)pc->data;
  LitheTransport transport;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetTransport(pc->pmat, &transport));
  PetscCall(SBPHaloCreate(&l->exchange.parts, &l->grid, transport, &l->exchange.halo));
  for (int p = 0; p < 2; p++) {
    if ((SBPPrecision)p == mg->precision || (SBPPrecision)p == mg->exact) PetscCall((*array)(mg, &l->grid, (SBPPrecision)p, &l->exchange.ghost[p]));
  }
  SplitOwned(l);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGExchangeFree_Private(PC_SBPMG *mg, SBPMGExchange *exchange)
{
  PetscFunctionBegin;
  for (int p = 0; p < 2; p++) PetscCall(PCSBPMGFree_Private(mg, &exchange->ghost[p]));
  PetscCall(SBPHaloDestroy(&exchange->halo));
  PetscCall(SBPPartsDestroy(&exchange->parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}
