/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The boxes of a grid on several processes: the boxes of a DMDA, or slabs if each process has whole planes of rows. All
   processes know the data of each check here, and raise the same error.
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"
#include "../base/base.h"
#include <petscdmda.h>

/* ------------------------------------------------------------ the processes, and the grid of this one */

PetscErrorCode PCGridMGTeamStart_Private(PC pc)
{
  GridMGTeam *team = &((PC_GridMG *)pc->data)->domain.team;

  PetscFunctionBegin;
  team->comm = PetscObjectComm((PetscObject)pc);
  PetscCallMPI(MPI_Comm_size(team->comm, &team->size));
  PetscCallMPI(MPI_Comm_rank(team->comm, &team->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A single process has the whole grid; first: the row of the first cell */
void PCGridMGTeamSetGrid_Private(PC_GridMG *mg, const GridMGGrid *grid, PetscInt first)
{
  mg->domain.team.own        = *grid;
  mg->domain.team.rows.first = first;
}

PetscErrorCode PCGridMGTeamReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(&mg->domain.team, sizeof(mg->domain.team)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ where boxes begin */

static PetscErrorCode SetStart_Private(PC_GridMG *mg, int d, PetscInt parts, const PetscInt width[])
{
  PetscInt *start;

  PetscFunctionBegin;
  PetscCall(PetscFree(mg->domain.share[0].start[d]));
  PetscCall(PetscMalloc1(parts + 1, &start));
  start[0] = 0;
  for (PetscInt p = 0; p < parts; p++) start[p + 1] = start[p] + width[p];
  mg->domain.share[0].start[d] = start;
  mg->domain.team.parts[d]     = parts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoxesOfDM_Private(PC pc, DM dm, const GridMGGrid *whole)
{
  PC_GridMG         *mg = (PC_GridMG *)pc->data;
  const GridMGShare *s  = &mg->domain.share[0];
  const PetscInt    *width[3];
  PetscInt           parts[3];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(dm, NULL, NULL, NULL, NULL, &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(dm, &width[0], &width[1], &width[2]));
  PetscCheck(parts[0] * parts[1] * parts[2] == mg->domain.team.size, mg->domain.team.comm, PETSC_ERR_ARG_WRONG,
             "-pc_type gridmg: the DMDA is on %" PetscInt_FMT " processes, and the preconditioner on %d. Give a DMDA with the communicator of the matrix",
             parts[0] * parts[1] * parts[2], mg->domain.team.size);
  for (int d = 0; d < 3; d++) PetscCall(SetStart_Private(mg, d, parts[d], parts[d] > 1 ? width[d] : &whole->n[d]));
  mg->domain.team.before = 0;
  for (PetscInt r = 0; r < mg->domain.team.size; r++) {
    PetscInt       n[3];
    const PetscInt cells = PCGridMGBoxCells_Private(mg, s, r, n), rows = s->offset[r + 1] - s->offset[r];

    PetscCheck(cells <= rows, mg->domain.team.comm, PETSC_ERR_ARG_SIZ,
               "-pc_type gridmg: process %" PetscInt_FMT " has %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells of the DMDA, and %" PetscInt_FMT
               " rows of the matrix. Make the matrix with DMCreateMatrix(), or with these sizes",
               r, n[0], n[1], n[2], rows);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether each process has whole planes of the grid, after `before` rows of wells; bad: the first process without whole
   planes
*/
static PetscErrorCode BoxesOfSlabs_Private(PC_GridMG *mg, const GridMGGrid *whole, PetscInt before, PetscInt *bad)
{
  const GridMGShare *s    = &mg->domain.share[0];
  const int          last = whole->n[2] > 1 ? 2 : (whole->n[1] > 1 ? 1 : 0);
  const PetscInt     size = mg->domain.team.size, plane = whole->cells / whole->n[last];
  PetscInt          *width;

  PetscFunctionBegin;
  *bad = -1;
  PetscCall(PetscMalloc1(size, &width));
  for (PetscInt r = 0; r < size; r++) {
    const PetscInt begin = PetscClipInterval(s->offset[r] - before, 0, whole->cells), end = PetscClipInterval(s->offset[r + 1] - before, 0, whole->cells);

    if (*bad < 0 && (begin % plane || end % plane)) *bad = r;
    width[r] = (end - begin) / plane;
  }
  for (int d = 0; d < 3 && *bad < 0; d++) PetscCall(SetStart_Private(mg, d, d == last ? size : 1, d == last ? width : &whole->n[d]));
  PetscCall(PetscFree(width));
  mg->domain.team.before = before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the own box */

static PetscErrorCode SetBox_Private(PC_GridMG *mg)
{
  const GridMGShare *s    = &mg->domain.share[0];
  GridMGGrid        *grid = &mg->domain.team.own;
  const PetscInt     rank = mg->domain.team.rank, rows = s->offset[rank + 1] - s->offset[rank];

  PetscFunctionBegin;
  PCGridMGPlaceIn(mg->domain.team.parts, rank, mg->domain.team.place);
  mg->domain.team.begin      = s->offset[rank];
  grid->cells                = PCGridMGBoxCells_Private(mg, s, rank, grid->n);
  grid->wells                = rows - grid->cells;
  mg->domain.team.rows.first = PetscClipInterval(mg->domain.team.before - mg->domain.team.begin, 0, rows);
  if (!grid->cells) {
    /* a line has at least 1 cell */
    grid->n[0] = grid->n[1] = 1;
    grid->n[2]              = 0;
  }
  grid->ghosts = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Remote vertices in the pattern of the own rows */
static PetscErrorCode FindGhosts_Private(PC pc)
{
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  GridMGShare      *s    = &mg->domain.share[0];
  const GridMGGrid *grid = &mg->domain.team.own;
  PetscInt          n = 0, max = 0, *number = NULL;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < grid->cells + grid->wells; row++) {
    const PetscInt *column;
    PetscInt        m;

    PetscCall(MatGetRow(mg->source.matrix, mg->domain.team.begin + row, &m, &column, NULL));
    for (PetscInt e = 0; e < m; e++) {
      const PetscInt v = PCGridMGVertexOfRow_Private(mg, column[e]);

      if (v >= 0) continue;
      if (n == max) {
        PetscInt *more;

        max = PetscMax(64, 2 * max);
        PetscCall(PetscMalloc1(max, &more));
        PetscCall(PetscArraycpy(more, number, n));
        PetscCall(PetscFree(number));
        number = more;
      }
      number[n++] = -1 - v;
    }
    PetscCall(MatRestoreRow(mg->source.matrix, mg->domain.team.begin + row, &m, &column, NULL));
  }
  PetscCall(PetscSortRemoveDupsInt(&n, number));
  PetscCall(PCGridMGShareSetGhosts_Private(mg, s, n, number));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of odd entries, between cells that are no neighbours, on all processes */
static PetscErrorCode CountOdd_Private(PC pc, GridMGOdd *odd)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGShare *s    = &mg->domain.share[0];
  const GridMGGrid  *grid = &mg->domain.team.own;
  const PetscInt     own  = grid->cells + grid->wells;
  PetscInt64         mine[3], all[3];
  PetscBool          any;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(odd, sizeof(*odd)));
  for (PetscInt c = 0; c < grid->cells; c++) {
    const PetscInt     row = mg->domain.team.begin + GridMGRowOf(grid, &mg->domain.team.rows, c);
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           m, at[3], to[3];

    (void)PCGridMGWhere_Private(mg, s, s->offset[mg->domain.team.rank] + c, at);
    PetscCall(MatGetRow(mg->source.matrix, row, &m, &column, &value));
    for (PetscInt e = 0; e < m; e++) {
      const PetscInt v    = PCGridMGVertexOfRow_Private(mg, column[e]);
      PetscInt       away = 0, most = 0;

      if (v == c || value[e] == (PetscScalar)0.) continue;
      if (v < own) (void)PCGridMGWhere_Private(mg, s, s->offset[mg->domain.team.rank] + v, to);
      else PetscCall(PetscArraycpy(to, &s->at[3 * (v - own)], 3));
      if (to[0] < 0) continue;
      odd->entries++;
      for (int d = 0; d < 3; d++) {
        away += PetscAbsInt(to[d] - at[d]);
        most = PetscMax(most, PetscAbsInt(to[d] - at[d]));
      }
      if (away == 1) continue;
      if (!odd->odd++) {
        odd->row    = row;
        odd->column = column[e];
      }
      if (most > 1 && !odd->outside++) {
        odd->outsiderow    = row;
        odd->outsidecolumn = column[e];
      }
    }
    PetscCall(MatRestoreRow(mg->source.matrix, row, &m, &column, &value));
  }
  PetscCall(PCGridMGFirst_Private(mg, (PetscBool)(odd->odd > 0), 2, MPIU_INT, &odd->row, &any));
  PetscCall(PCGridMGFirst_Private(mg, (PetscBool)(odd->outside > 0), 2, MPIU_INT, &odd->outsiderow, &any));
  mine[0] = odd->entries;
  mine[1] = odd->odd;
  mine[2] = odd->outside;
  PetscCallMPI(MPIU_Allreduce(mine, all, 3, MPIU_INT64, MPI_SUM, mg->domain.team.comm));
  odd->entries = all[0];
  odd->odd     = all[1];
  odd->outside = all[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the local pattern, once the boxes are known */
static PetscErrorCode Read_Private(PC pc, GridMGOdd *odd)
{
  PC_GridMG   *mg = (PC_GridMG *)pc->data;
  GridMGShare *s  = &mg->domain.share[0];

  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&s->sf));
  PetscCall(PetscFree4(s->ghost, s->at, s->alive, s->coarse));
  s->ghosts = 0;
  PetscCall(SetBox_Private(mg));
  if (mg->source.rows.a || (mg->opt.interpolation == PCGRIDMG_INTERPOLATION_ZEEUW && !mg->domain.team.wells)) {
    /*
       without overlap, reading counts the odd entries; entries that are no faces exclude overlap. The reader of
       stencils checks the entries, and has no ghosts
    */
    PetscCall(PCGridMGShareSetGhosts_Private(mg, s, 0, NULL));
    PetscCall(PetscMemzero(odd, sizeof(*odd)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindGhosts_Private(pc));
  PetscCall(CountOdd_Private(pc, odd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slabs, with the wells after all cells or before all cells */
static PetscErrorCode FindSlabs_Private(PC pc, const GridMGGrid *whole, GridMGOdd *odd)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  PetscInt   bad, badbefore;
  GridMGOdd  other;

  PetscFunctionBegin;
  PetscCall(BoxesOfSlabs_Private(mg, whole, whole->wells, &badbefore));
  if (whole->wells && badbefore < 0) PetscCall(Read_Private(pc, &other));
  PetscCall(BoxesOfSlabs_Private(mg, whole, 0, &bad));
  if (bad >= 0 && badbefore >= 0 && PCGridMGMayBeRedundant(mg)) {
    PCGridMGRefuse_Private(mg);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(bad < 0 || badbefore < 0, mg->domain.team.comm, PETSC_ERR_SUP,
             "-pc_type gridmg on several processes: of the grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT
             " each process must have whole planes (whole lines of a single plane). Rows %" PetscInt_FMT " to %" PetscInt_FMT " of process %" PetscInt_FMT
             " are no whole planes. Set local sizes with MatSetSizes(), or use a DMDA",
             whole->n[0], whole->n[1], whole->n[2], mg->domain.share[0].offset[bad], mg->domain.share[0].offset[bad + 1] - 1, bad);
  if (bad < 0) {
    PetscCall(Read_Private(pc, odd));
    if (!whole->wells || badbefore >= 0 || odd->odd <= other.odd) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BoxesOfSlabs_Private(mg, whole, whole->wells, &badbefore));
  PetscCall(Read_Private(pc, odd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Boxes cannot overlap if the matrix has wells, if a process has no cells, or if edges that are no faces lead to remote
   cells
*/
static PetscErrorCode CheckOverlap_Private(PC pc)
{
  PC_GridMG *mg      = (PC_GridMG *)pc->data;
  PetscBool  nothing = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PCGridMGCrossingFree_Private(mg));
  if (!mg->place.overlap) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->domain.team.wells) PCGridMGRefuse_Private(mg);
  for (int d = 0; d < 3; d++) {
    const PetscInt *start = mg->domain.share[0].start[d];

    for (PetscInt p = 0; p < mg->domain.team.parts[d]; p++) {
      if (start[p + 1] == start[p]) PCGridMGRefuse_Private(mg);
    }
  }
  if (mg->source.rows.a && !mg->place.refused) PetscCall(PCGridMGCrossingFind_Private(pc));
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &nothing));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The box, the rows and the ghosts of the own process, for the grid of a DMDA or for a given grid. A grid without cells
   is not known
*/
PetscErrorCode PCGridMGFindBoxes_Private(PC pc, DM dm, const GridMGGrid *whole, PetscBool periodic, GridMGOdd *odd)
{
  PC_GridMG      *mg = (PC_GridMG *)pc->data;
  GridMGShare    *s  = &mg->domain.share[0];
  const PetscInt *range;

  PetscFunctionBegin;
  PetscCall(PCGridMGShareFree_Private(mg, 0));
  PetscCall(PetscMalloc1(mg->domain.team.size + 1, &s->offset));
  PetscCall(MatGetOwnershipRanges(pc->pmat, &range));
  PetscCall(PetscArraycpy(s->offset, range, mg->domain.team.size + 1));
  PetscCall(PetscMemzero(&mg->domain.team.own, sizeof(mg->domain.team.own))); /* there may be no boxes */
  mg->domain.team.wells    = whole->wells;
  mg->domain.team.natural  = (PetscBool)!dm;
  mg->domain.team.periodic = periodic;
  PetscCall(PetscArraycpy(mg->domain.team.n, whole->n, 3));
  if (dm) {
    PetscCall(BoxesOfDM_Private(pc, dm, whole));
    PetscCall(Read_Private(pc, odd));
  } else if (whole->cells) PetscCall(FindSlabs_Private(pc, whole, odd));
  else PCGridMGRefuse_Private(mg);
  if (!mg->place.refused) PetscCall(CheckOverlap_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
