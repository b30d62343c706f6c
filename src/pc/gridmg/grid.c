/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The grid of a matrix: the DMDA of the preconditioner or of the matrix, the grid of an option, or a grid found from
   the differences between columns and rows. With the grid goes the choice of the method.
*/

#include <lithe/private/gridmg/parts.h>
#include "base/base.h"
#include "aggregation/aggregation.h"
#include "boxes/boxes.h"
#include "stencil/stencil.h"
#include <lithe/private/cuda/gridmgsetup.h>
#include <lithe/private/vcrs/order.h>
#include <petscdmda.h>

#define GRIDMG_WRONG 20 /* number of entries per permitted entry of the wrong sign */
#define GRIDMG_STAR  8  /* the most entries per row of a matrix of 5 or 7 points, with wells and faults */

/* Whether two cells are neighbours in a box */
static PetscBool IsInBox(const GridMGGrid *grid, const PetscInt at[3], PetscInt other)
{
  const PetscInt line = other / grid->n[0], to[3] = {other % grid->n[0], line % grid->n[1], line / grid->n[1]};

  return (PetscBool)(PetscAbsInt(to[0] - at[0]) <= 1 && PetscAbsInt(to[1] - at[1]) <= 1 && PetscAbsInt(to[2] - at[2]) <= 1);
}

static void SetGrid(PetscInt nx, PetscInt ny, PetscInt nz, PetscInt rows, GridMGGrid *grid)
{
  grid->n[0]   = nx;
  grid->n[1]   = ny;
  grid->n[2]   = nz;
  grid->cells  = nx * ny * nz;
  grid->wells  = rows - grid->cells;
  grid->ghosts = 0;
}

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* The same count on a device. Imaginary parts are ignored; counted is false if any exist */
static PetscErrorCode CountOddDevice_Private(PC pc, const GridMGGrid *grid, PetscInt first, GridMGOdd *odd, PetscBool *counted)
{
  const GridMGRows rows = {.first = first};
  PC_GridMG       *mg   = (PC_GridMG *)pc->data;
  const PetscInt   n    = grid->cells + grid->wells;
  GridMGFaces      none = {.grid = *grid};
  GridMGReading    r;
  PetscInt         nz;

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->memory.get)(sizeof(nz), mg->source.rows.i + n, &nz));
  if (nz / GRIDMG_STAR <= n) {
    /* the entries read here will be needed later */
    PCGridMGTeamSetGrid_Private(mg, grid, first);
    PetscCall(PCGridMGScan_Private(pc));
    r = mg->aggregation.scan.reading;
  } else PetscCall(LitheCUDAGridMGRead(&mg->source.rows, &rows, 1., &none, NULL, &r));
  *counted     = (PetscBool)!r.imaginary;
  odd->entries = r.faces + r.odd;
  odd->odd     = r.odd;
  odd->outside = r.outside;
  if (r.odd) PetscCall(LitheCUDAGridMGFindEntry(&mg->source.rows, n, r.firstodd, &odd->row, &odd->column));
  if (r.outside) PetscCall(LitheCUDAGridMGFindEntry(&mg->source.rows, n, r.firstoutside, &odd->outsiderow, &odd->outsidecolumn));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The number of entries between cells that are no neighbours */
static PetscErrorCode CountOdd_Private(PC pc, const GridMGGrid *grid, PetscInt first, GridMGOdd *odd)
{
  PetscBool      counted = PETSC_FALSE;
  GridMGHostRows rows;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(odd, sizeof(*odd)));
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (((PC_GridMG *)pc->data)->source.rows.a) PetscCall(CountOddDevice_Private(pc, grid, first, odd, &counted));
  if (!counted) PetscCall(PetscMemzero(odd, sizeof(*odd)));
#endif
  if (counted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGRowsMatrix_Private(pc));
  PetscCall(PCGridMGHostRowsGet_Private(((PC_GridMG *)pc->data)->source.matrix, PETSC_FALSE, &rows));
  for (PetscInt c = 0; c < grid->cells; c++) {
    const PetscInt     line = c / grid->n[0], at[3] = {c % grid->n[0], line % grid->n[1], line / grid->n[1]};
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(GridMGHostRowGet(&rows, first + c, &n, &column, &value));
    for (PetscInt e = 0; e < n; e++) {
      const PetscInt other = column[e] - first;

      if (other < 0 || other >= grid->cells || other == c || value[e] == (PetscScalar)0.) continue;
      odd->entries++;
      if (PCGridMGFaceOf_Private(grid, at, other - c) >= 0) continue;
      if (!odd->odd++) {
        odd->row    = first + c;
        odd->column = column[e];
      }
      if (IsInBox(grid, at, other)) continue;
      if (!odd->outside++) {
        odd->outsiderow    = first + c;
        odd->outsidecolumn = column[e];
      }
    }
    PetscCall(GridMGHostRowRestore(&rows, first + c, &n, &column, &value));
  }
  PetscCall(PCGridMGHostRowsRestore_Private(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* more: entries between the ends of periodic directions */
static inline PetscBool IsFew(const GridMGOdd *odd, PetscInt64 more)
{
  return (PetscBool)(odd->odd <= more + PetscMax(GRIDMG_ODD_LEAST, odd->entries / GRIDMG_ODD));
}

static inline PetscBool IsBox(const GridMGGrid *grid, const GridMGOdd *odd)
{
  return (PetscBool)(!odd->outside && !grid->wells);
}

/* Decides whether wells come before the cells or after the cells */
static PetscErrorCode Place_Private(PC pc, const GridMGGrid *grid, GridMGRows *rows, GridMGOdd *odd)
{
  PetscInt first = 0;

  PetscFunctionBegin;
  PetscCall(CountOdd_Private(pc, grid, 0, odd));
  if (grid->wells && odd->odd) {
    GridMGOdd before;

    PetscCall(CountOdd_Private(pc, grid, grid->wells, &before));
    if (before.odd < odd->odd) {
      first = grid->wells;
      *odd  = before;
    }
  }
  rows->first = first; /* the count may have changed first */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ given */

/*
   ring: the number of entries between the ends of periodic directions. They become edges, as between other cells that
   are no neighbours
*/
static PetscErrorCode GridOfDM_Private(PC pc, DM dm, PetscInt rows, GridMGGrid *grid, PetscInt64 *ring, PetscBool *found)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscInt        n[3], dof;
  DMBoundaryType  boundary[3];
  DMDAStencilType stencil;
  PetscBool       is;

  PetscFunctionBegin;
  *found = PETSC_FALSE;
  if (!dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &is));
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(dm, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, &dof, NULL, &boundary[0], &boundary[1], &boundary[2], &stencil));
  if (n[0] * n[1] * n[2] * dof > rows) PetscFunctionReturn(PETSC_SUCCESS); /* a DM of something else */
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP,
             "-pc_type gridmg: the DMDA has %" PetscInt_FMT
             " fields a cell, and this preconditioner is for one. Use -pc_type fieldsplit with gridmg for each field",
             dof);
  *ring = 0;
  for (int d = 0; d < 3; d++) {
    PetscCheck(n[d] == 1 || boundary[d] != DM_BOUNDARY_TWIST, comm, PETSC_ERR_SUP,
               "-pc_type gridmg: direction %c of the DMDA is periodic with a twist. Use another preconditioner", "xyz"[d]);
    if (n[d] > 2 && boundary[d] == DM_BOUNDARY_PERIODIC) *ring += 2 * (PetscInt64)n[0] * n[1] * n[2] / n[d];
  }
  SetGrid(n[0], n[1], n[2], rows, grid);
  *found = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ found */

/* The common differences of entries right of the diagonal; on a device, of a sample of rows */
static PetscErrorCode CommonDifferences_Private(PC pc, PetscInt n, VCRSOrderDifferences *found)
{
  Mat            A    = ((PC_GridMG *)pc->data)->source.matrix;
  PetscInt       most = 0, *count;
  GridMGHostRows rows;

  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (((PC_GridMG *)pc->data)->source.rows.a) {
    PetscCall(LitheCUDAGridMGSample(&((PC_GridMG *)pc->data)->source.rows, n, VCRS_ORDER_DIFFERENCES, &found->n, found->difference, found->count));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscCalloc1(n, &count));
  PetscCall(PCGridMGHostRowsGet_Private(A, PETSC_FALSE, &rows));
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           m;

    PetscCall(GridMGHostRowGet(&rows, row, &m, &column, &value));
    for (PetscInt e = 0; e < m; e++) {
      if (column[e] > row && value[e] != (PetscScalar)0.) count[column[e] - row]++;
    }
    PetscCall(GridMGHostRowRestore(&rows, row, &m, &column, &value));
  }
  PetscCall(PCGridMGHostRowsRestore_Private(&rows));
  for (PetscInt d = 1; d < n; d++) most = PetscMax(most, count[d]);
  found->n = 0;
  for (PetscInt d = 1; d < n && found->n < VCRS_ORDER_DIFFERENCES; d++) {
    if (count[d] <= most / GRIDMG_COMMON) continue;
    found->difference[found->n] = -d;
    found->count[found->n++]    = count[d];
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PC         pc;
  PetscInt   n;
  GridMGGrid grid; /* the last grid tried */
  GridMGRows rows;
  GridMGOdd  odd;
} Candidate;

/* The lines of a plane may have been found as a grid in two directions */
static void SetGridFound(const VCRSOrderGrid *g, PetscInt rows, GridMGGrid *grid)
{
  if (g->lines == 1) SetGrid(g->line, g->planes, 1, rows, grid);
  else SetGrid(g->line, g->lines, g->planes, rows, grid);
}

static PetscErrorCode FitsMatrix_Private(const VCRSOrderGrid *g, void *ctx, PetscBool *fits)
{
  Candidate *candidate = (Candidate *)ctx;

  PetscFunctionBegin;
  SetGridFound(g, candidate->n, &candidate->grid);
  PetscCall(Place_Private(candidate->pc, &candidate->grid, &candidate->rows, &candidate->odd));
  *fits = (PetscBool)(IsFew(&candidate->odd, 0) || IsBox(&candidate->grid, &candidate->odd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridOfMatrix_Private(PC pc, PetscInt n, GridMGGrid *grid, GridMGRows *rows, GridMGOdd *odd)
{
  MPI_Comm             comm      = PetscObjectComm((PetscObject)pc);
  Candidate            candidate = {.pc = pc, .n = n};
  VCRSOrderDifferences found;
  VCRSOrderGrid        g;
  PetscBool            is;

  PetscFunctionBegin;
  PetscCall(CommonDifferences_Private(pc, n, &found));
  PetscCall(VCRSOrderFindGrid(n, PetscMin(GRIDMG_WELLS_MAX, n / 10), &found, FitsMatrix_Private, &candidate, &g, &is));
  PetscCheck(is || !candidate.odd.odd, comm, PETSC_ERR_SUP,
             "-pc_type gridmg: the matrix is not one of 5 or 7, 9 or 27 points on a grid: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT
             ", which is no neighbour, and %" PetscInt64_FMT
             " entries are of this kind. Give the grid with -pc_gridmg_grid nx,ny,nz or a DMDA, or use another preconditioner",
             candidate.odd.row, candidate.odd.column, candidate.odd.odd);
  PetscCheck(is, comm, PETSC_ERR_SUP,
             "-pc_type gridmg: no grid of at least 4 cells along each direction was found in the matrix, whose rows have entries with %" PetscInt_FMT
             " common distances from the diagonal. Give the grid with -pc_gridmg_grid nx,ny,nz or a DMDA, or use another preconditioner",
             found.n);
  *grid = candidate.grid;
  *rows = candidate.rows;
  *odd  = candidate.odd;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the whole search */

/* Checks the entries against the needs of the requested interpolation */
static PetscErrorCode CheckOdd_Private(PC pc, const GridMGGrid *grid, PetscInt64 ring, const GridMGOdd *odd)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  MPI_Comm   comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  if (mg->opt.interpolation == PCGRIDMG_INTERPOLATION_ZEEUW) {
    PetscCheck(!grid->wells, comm, PETSC_ERR_SUP,
               "-pc_gridmg_interpolation zeeuw has no wells, and the grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " leaves %" PetscInt_FMT
               " rows over. Use aggregation",
               grid->n[0], grid->n[1], grid->n[2], grid->wells);
    PetscCheck(!odd->outside, comm, PETSC_ERR_SUP,
               "-pc_gridmg_interpolation zeeuw: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT
               ", which is none of 9 or 27 points on the grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT,
               odd->outsiderow, odd->outsidecolumn, grid->n[0], grid->n[1], grid->n[2]);
  } else {
    PetscCheck(mg->choice.star || (mg->choice.box && mg->opt.interpolation == PCGRIDMG_INTERPOLATION_AUTO), comm, PETSC_ERR_SUP,
               "-pc_type gridmg: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT ", which is no neighbour on the grid %" PetscInt_FMT
               " x %" PetscInt_FMT " x %" PetscInt_FMT ", and %" PetscInt64_FMT " entries of %" PetscInt64_FMT
               " are of this kind. A matrix of 5 or 7 points may have only a few%s",
               odd->row, odd->column, grid->n[0], grid->n[1], grid->n[2], odd->odd, odd->entries,
               ring ? ", and a matrix of 9 or 27 points cannot have periodic directions: use -pc_type gamg" : "");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckWells_Private(PC pc, const GridMGGrid *grid)
{
  PetscFunctionBegin;
  PetscCheck(grid->wells <= GRIDMG_WELLS_MAX, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: the grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " leaves %" PetscInt_FMT
             " rows over, and at most %d rows can be wells",
             grid->n[0], grid->n[1], grid->n[2], grid->wells, GRIDMG_WELLS_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGFindGrid_Private(PC pc)
{
  PC_GridMG      *mg    = (PC_GridMG *)pc->data;
  MPI_Comm        comm  = PetscObjectComm((PetscObject)pc);
  const PetscInt *given = mg->opt.grid;
  PetscBool       found = PETSC_FALSE;
  PetscInt        n;
  PetscInt64      ring = 0;
  GridMGOdd       odd;
  GridMGGrid      grid;
  GridMGRows      rows = {0};
  DM              dm;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &n, NULL));
  PetscCall(PCGetDM(pc, &dm));
  PetscCall(GridOfDM_Private(pc, dm, n, &grid, &ring, &found));
  if (!found) {
    PetscCall(MatGetDM(pc->pmat, &dm));
    PetscCall(GridOfDM_Private(pc, dm, n, &grid, &ring, &found));
  }
  if (!found && given[0]) {
    const PetscInt64 line = given[0], plane = line <= n ? line * given[1] : line;

    PetscCheck(plane <= n && plane * given[2] <= n, comm, PETSC_ERR_ARG_SIZ,
               "-pc_gridmg_grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT " has more cells than the matrix has rows, %" PetscInt_FMT, given[0],
               given[1], given[2], n);
    SetGrid(given[0], given[1], given[2], n, &grid);
    found = PETSC_TRUE;
    dm    = NULL;
  }
  if (PCGridMGIsParallel(mg)) {
    GridMGGrid whole = grid;

    if (!found && PCGridMGMayBeRedundant(mg)) {
      PetscCall(PetscMemzero(&whole, sizeof(whole)));
      dm    = NULL;
      found = PETSC_TRUE;
    }
    PetscCheck(found, comm, PETSC_ERR_SUP,
               "-pc_type gridmg on several processes needs the grid. Give a DMDA (KSPSetDM(), or a matrix of DMCreateMatrix()), or -pc_gridmg_grid nx,ny,nz");
    PetscCall(CheckWells_Private(pc, &whole));
    PetscCall(PCGridMGStencilShareFree_Private(mg));
    PetscCall(PCGridMGFindBoxes_Private(pc, dm, &whole, (PetscBool)(ring > 0), &odd));
    if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
    mg->choice.star = IsFew(&odd, ring);
    mg->choice.box  = (PetscBool)(IsBox(&whole, &odd) && !mg->place.overlap); /* overlapping boxes use aggregation, or the set-up is repeated without overlap */
    if (mg->place.overlap && !mg->choice.star) PCGridMGRefuse_Private(mg);
    if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(CheckOdd_Private(pc, &whole, ring, &odd));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (found && mg->opt.interpolation == PCGRIDMG_INTERPOLATION_ZEEUW && !grid.wells) {
    /* the reader of stencils checks the entries */
    rows.first = 0;
    PetscCall(PetscMemzero(&odd, sizeof(odd)));
  } else if (found) PetscCall(Place_Private(pc, &grid, &rows, &odd));
  else PetscCall(GridOfMatrix_Private(pc, n, &grid, &rows, &odd));
  PCGridMGTeamSetGrid_Private(mg, &grid, rows.first);
  PetscCall(CheckWells_Private(pc, &grid));
  mg->choice.star = IsFew(&odd, ring);
  mg->choice.box  = IsBox(&grid, &odd);
  PetscCall(CheckOdd_Private(pc, &grid, ring, &odd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the method */

/* Counts off-diagonal entries: all, with the sign of most diagonal entries, and with an imaginary part */
static PetscErrorCode CountSigns_Private(PC pc, PetscInt64 *entries, PetscInt64 *wrong, PetscInt64 *imaginary)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  Mat            A  = mg->source.matrix;
  PetscInt       begin, end;
  GridMGHostRows rows;
  PetscInt64     found[5] = {0, 0, 0, 0, 0}, *diagonals = found, *sides = found + 2; /* negative, positive; not real */

  PetscFunctionBegin;
  *entries = *wrong = *imaginary = 0;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->source.rows.a) {
    const GridMGReading *r = &mg->aggregation.scan.reading;

    PetscCall(PCGridMGScan_Private(pc));
    *entries   = r->sides[0] + r->sides[1];
    *wrong     = r->sides[r->diagonals[1] >= r->diagonals[0]];
    *imaginary = r->imaginary;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PCGridMGHostRowsGet_Private(A, PETSC_FALSE, &rows));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           m;

    PetscCall(GridMGHostRowGet(&rows, row, &m, &column, &value));
    for (PetscInt e = 0; e < m; e++) {
      const PetscReal a = PetscRealPart(value[e]);

      found[4] += PetscImaginaryPart(value[e]) != 0;
      if (a == 0) continue;
      if (column[e] == row) diagonals[a > 0]++;
      else sides[a > 0]++;
    }
    PetscCall(GridMGHostRowRestore(&rows, row, &m, &column, &value));
  }
  PetscCall(PCGridMGHostRowsRestore_Private(&rows));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, found, 5, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  *entries   = sides[0] + sides[1];
  *wrong     = sides[diagonals[1] >= diagonals[0]];
  *imaginary = found[4];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Chooses stencils for a matrix that is no M-matrix of 5 or 7 points, if all entries have a place on the grid. This is
   the only place that knows both methods
*/
const GridMGMethod *const PCGridMGMethods[GRIDMG_METHODS] = {&GridMGAggregationMethod, &GridMGStencilMethod};

/*
   Whether stencils serve rows on the devices of several processes whose boxes cannot overlap: devices share levels of
   stencils. Collective
*/
PetscErrorCode PCGridMGPrefersStencils_Private(const PC_GridMG *mg, PetscBool *yes)
{
  PetscInt64 found[6] = {0, 0, 0, 0, 0, 0}; /* entries; odd; outside; not real; of the wrong sign; processes without a box, or wells */
  GridMGOdd  odd      = {0};

  PetscFunctionBegin;
  *yes = PETSC_FALSE;
  if (mg->opt.interpolation != PCGRIDMG_INTERPOLATION_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  found[5] = !mg->source.rows.a || !mg->domain.team.own.cells || mg->domain.team.wells;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (!found[5]) {
    const GridMGFaces none = {.grid = mg->domain.team.own};
    GridMGReading     r;

    PetscCall(LitheCUDAGridMGRead(&mg->source.rows, &mg->domain.team.rows, 1., &none, NULL, &r));
    found[0] = r.faces + r.odd;
    found[1] = r.odd;
    found[2] = r.outside;
    found[3] = r.imaginary;
    found[4] = r.sides[r.diagonals[1] >= r.diagonals[0]];
  }
#endif
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, found, 6, MPIU_INT64, MPI_SUM, mg->domain.team.comm));
  odd.entries = found[0];
  odd.odd     = found[1];
  *yes        = (PetscBool)(!found[5] && !found[2] && (!IsFew(&odd, 0) || found[3] || found[4] > found[0] / GRIDMG_WRONG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGChoose_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  PetscInt64 entries, wrong, imaginary;

  PetscFunctionBegin;
  mg->choice.method  = mg->opt.interpolation == PCGRIDMG_INTERPOLATION_ZEEUW ? &GridMGStencilMethod : &GridMGAggregationMethod;
  mg->choice.entries = "5 or 7 points";
  if (mg->opt.interpolation != PCGRIDMG_INTERPOLATION_AUTO || !mg->choice.box) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->choice.star) {
    PetscCall(CountSigns_Private(pc, &entries, &wrong, &imaginary));
    if (!imaginary && wrong <= entries / GRIDMG_WRONG) PetscFunctionReturn(PETSC_SUCCESS);
  }
  mg->choice.method  = &GridMGStencilMethod;
  mg->choice.entries = mg->choice.star ? "many signs, or with imaginary parts" : "9 or 27 points";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the first set-up */
void PCGridMGChoiceStart_Private(PC_GridMG *mg)
{
  mg->choice.method  = &GridMGAggregationMethod;
  mg->choice.entries = "5 or 7 points";
}
