/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The finest level from the entries of the matrix: faces, row sums, and a list of other edges. All numbers are
   multiplied by a power of two that brings the largest diagonal entry near 1, with the sign of the matrix.
*/

#include "aggregation.h"
#include "reading.h"
#include "../base/base.h"
#include "../boxes/boxes.h"

/* All rows on the host */
static PetscErrorCode ReadRows_Private(PC pc, GridMGRowCounts *reading)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGFaces *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;
  GridMGHostRows     rows;

  PetscFunctionBegin;
  PetscCall(PCGridMGHostRowsGet_Private(mg->source.matrix, PETSC_FALSE, &rows));
  PetscCall((*mg->place.kernels->memory.clear)(PCGridMGFacesNumbers_Private(grid, PETSC_FALSE) * sizeof(double), f->sigma));
  for (PetscInt own = 0; own < grid->cells + grid->wells && !reading->bad && !reading->unreal; own++) {
    const PetscInt     row = mg->domain.team.begin + own;
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(GridMGHostRowGet(&rows, row, &n, &column, &value));
    PetscCall(PCGridMGReadRow_Private(pc, row, n, column, value, reading, &f->sigma[GridMGVertexOf(grid, &mg->domain.team.rows, own)]));
    PetscCall(GridMGHostRowRestore(&rows, row, &n, &column, &value));
  }
  PetscCall(PCGridMGHostRowsRestore_Private(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled; faces of the wrong sign become edges of the list, on both sides */
static PetscErrorCode ScaleFaces_Private(PC pc, GridMGRowCounts *reading)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGFaces *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(grid, d);

    if (!f->up[d]) continue;
    for (PetscInt c = 0; c < grid->cells; c++) {
      f->up[d][c] *= mg->found.factor;
      f->down[d][c] *= mg->found.factor;
      if (f->up[d][c] >= 0 && f->down[d][c] >= 0) continue;
      if (!reading->wrong++) {
        reading->wrongrow    = mg->domain.team.begin + GridMGRowOf(grid, &mg->domain.team.rows, f->up[d][c] < 0 ? c : c + stride);
        reading->wrongcolumn = mg->domain.team.begin + GridMGRowOf(grid, &mg->domain.team.rows, f->up[d][c] < 0 ? c + stride : c);
      }
      if (f->up[d][c] != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, c, c + stride, f->up[d][c] / mg->found.factor));
      if (f->down[d][c] != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, c + stride, c, f->down[d][c] / mg->found.factor));
      f->up[d][c] = f->down[d][c] = 0;
    }
  }
  for (PetscInt i = 0; i < grid->cells + grid->wells; i++) f->sigma[i] *= mg->found.factor;
  PCGridMGEdgesScale_Private(&mg->aggregation.edges, mg->found.factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool FacesAreSymmetric(const GridMGFaces *f)
{
  for (int d = 0; d < 3; d++) {
    for (PetscInt c = 0; c < f->grid.cells && f->up[d]; c++) {
      if (!GridMGIsSame(f->up[d][c], f->down[d][c])) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* The sum of the list in each row */
static PetscErrorCode ListSums_Private(const GridMGFaces *f, double sum[])
{
  const double *t = (const double *)f->list.t;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(sum, f->grid.cells + f->grid.wells));
  for (PetscInt r = 0; r < f->list.n; r++) {
    for (PetscInt e = f->list.i[r]; e < f->list.i[r + 1]; e++) sum[f->list.row[r]] += t[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets row sums to 0 if they are rounding, or negative in a symmetric matrix. Diagonals must be positive */
static PetscErrorCode CleanRowSums_Private(PC pc, const GridMGFaces *f, double *least)
{
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  const GridMGGrid *grid = &f->grid;
  double            rounding, *sums, wrong = 0;
  PetscInt          wrongat = -1, negative = 0;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  *least = PETSC_MAX_REAL;
  PetscCall(PetscMalloc1(grid->cells + grid->wells, &sums));
  PetscCall(ListSums_Private(f, sums));
  for (PetscInt i = 0; i < grid->cells + grid->wells; i++) {
    double *sigma = &f->sigma[i], faces = sums[i], diagonal;

    for (int d = 0; d < 3 && i < grid->cells; d++) {
      const PetscInt stride = GridMGStride(grid, d);

      if (f->up[d]) faces += f->up[d][i] + (i / stride % grid->n[d] > 0 ? f->down[d][i - stride] : 0);
    }
    diagonal = *sigma + faces;
    if (fabs(*sigma) <= rounding * PetscMax(fabs(diagonal), fabs(faces))) *sigma = 0;
    negative += *sigma < 0;
    if (*sigma < 0 && f->symmetric) *sigma = 0;
    if (diagonal == 0 && faces == 0) *sigma = 1; /* as large as the largest diagonal entry */
    else if (!(diagonal > 0)) {
      wrong   = diagonal;
      wrongat = i;
      break;
    }
    if (diagonal > 0) *least = PetscMin(*least, diagonal);
  }
  PetscCall(PetscFree(sums));
  PCGridMGFoundRowSums_Private(mg, negative, f->symmetric);
  if (wrongat >= 0) PetscCall(PCGridMGFailRow_Private(pc, wrongat, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ several processes */

/*
   Sums the counts over all processes. An imaginary entry is an error on all processes. cells: of all processes, with
   the diagonal entries counted
*/
static PetscErrorCode ReduceReading_Private(PC pc, GridMGRowCounts *reading, PetscInt *cells)
{
  PC_GridMG         *mg    = (PC_GridMG *)pc->data;
  const GridMGShare *s     = &mg->domain.share[0];
  double             mine  = reading->most;
  PetscInt           minus = reading->negative;
  PetscBool          unreal;

  PetscFunctionBegin;
  PetscCall(PCGridMGFirst_Private(mg, reading->unreal, 2, MPIU_INT, reading->unrealat, &unreal));
  PetscCheck(!unreal, mg->domain.team.comm, PETSC_ERR_SUP, GRIDMG_NOT_REAL, reading->unrealat[0], reading->unrealat[1]);
  PetscCall(PCGridMGAgree_Private(pc));
  if (pc->failedreason) reading->bad = PETSC_TRUE;
  PetscCallMPI(MPIU_Allreduce(&mine, &reading->most, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  PetscCallMPI(MPIU_Allreduce(&minus, &reading->negative, 1, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  *cells = s->offset[mg->domain.team.size] - mg->domain.team.wells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix row of a ghost, for error messages only: the search is slow */
static PetscInt RowOfGhost(const PC_GridMG *mg, PetscInt vertex)
{
  const PetscInt rows = mg->domain.share[0].offset[mg->domain.team.size];

  for (PetscInt row = 0; row < rows; row++) {
    if (PCGridMGVertexOfRow_Private(mg, row) == vertex) return row;
  }
  return -1;
}

/* Faces between processes. The lower process counts the wrong ones; the sum is over all processes */
static PetscErrorCode ReduceWrong_Private(PC pc, GridMGRowCounts *reading)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGGrid  *grid = &mg->domain.team.own;
  const GridMGShare *s    = &mg->domain.share[0];
  const PetscInt     own  = grid->cells + grid->wells;
  PetscInt           mine[2], all[2], first[2];
  PetscBool          any;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < mg->aggregation.edges.n; e++) {
    const GridMGEdge *edge = &mg->aggregation.edges.edge[e];

    if (edge->j < own || edge->i >= grid->cells || s->at[3 * (edge->j - own)] < 0) continue;
    reading->faces++;
    if (edge->t >= 0 || s->ghost[edge->j - own] < s->offset[mg->domain.team.rank]) continue;
    if (reading->wrong++) continue;
    reading->wrongrow    = mg->domain.team.begin + GridMGRowOf(grid, &mg->domain.team.rows, edge->i);
    reading->wrongcolumn = RowOfGhost(mg, edge->j);
  }
  first[0] = reading->wrongrow;
  first[1] = reading->wrongcolumn;
  PetscCall(PCGridMGFirst_Private(mg, (PetscBool)(reading->wrong > 0), 2, MPIU_INT, first, &any));
  mine[0] = reading->wrong;
  mine[1] = reading->faces;
  PetscCallMPI(MPIU_Allreduce(mine, all, 2, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  reading->wrongrow    = first[0];
  reading->wrongcolumn = first[1];
  reading->wrong       = all[0];
  reading->faces       = all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two coupled wells must be on one process, because wells are smoothed one after the other */
static PetscErrorCode CheckWells_Private(PC_GridMG *mg)
{
  const GridMGGrid  *grid  = &mg->domain.team.own;
  const GridMGShare *s     = &mg->domain.share[0];
  const PetscInt     own   = grid->cells + grid->wells;
  PetscInt           at[2] = {-1, -1};
  PetscBool          any;

  PetscFunctionBegin;
  for (PetscInt e = 0; e < mg->aggregation.edges.n && at[0] < 0; e++) {
    const GridMGEdge *edge = &mg->aggregation.edges.edge[e];

    if (edge->i < grid->cells || edge->j < own || s->at[3 * (edge->j - own)] >= 0) continue;
    at[0] = mg->domain.team.begin + GridMGRowOf(grid, &mg->domain.team.rows, edge->i);
    at[1] = RowOfGhost(mg, edge->j);
  }
  PetscCall(PCGridMGFirst_Private(mg, (PetscBool)(at[0] >= 0), 2, MPIU_INT, at, &any));
  PetscCheck(!any, mg->domain.team.comm, PETSC_ERR_SUP,
             "-pc_type gridmg: row %" PetscInt_FMT " belongs to a well and has an entry in column %" PetscInt_FMT
             " of a well on another process. Put coupled wells on one process",
             at[0], at[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reduces the result of the checks of rows over all processes */
static PetscErrorCode ReduceRows_Private(PC pc, double *least)
{
  PC_GridMG *mg       = (PC_GridMG *)pc->data;
  double     mine     = *least;
  PetscInt   negative = mg->found.negative, all;

  PetscFunctionBegin;
  PetscCall(PCGridMGAgree_Private(pc));
  PetscCallMPI(MPIU_Allreduce(&mine, least, 1, MPI_DOUBLE, MPI_MIN, mg->domain.team.comm));
  PetscCallMPI(MPIU_Allreduce(&negative, &all, 1, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  PCGridMGFoundRowSums_Private(mg, all, mg->found.symmetric);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level with layers of remote cells, from the entries read on the host */
static PetscErrorCode OverlapHost_Private(PC pc)
{
  PC_GridMG   *mg        = (PC_GridMG *)pc->data;
  GridMGLevel *l         = &mg->aggregation.level[0];
  PetscBool    symmetric = mg->found.symmetric;

  PetscFunctionBegin;
  if (mg->found.precision != GRIDMG_SINGLE) PCGridMGRefuse_Private(mg);
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &symmetric));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGCrossingFromList_Private(mg));
  PetscCall(PCGridMGCrossingExchange_Private(mg, GRIDMG_SAME, &symmetric));
  symmetric = mg->found.symmetric;
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &symmetric));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGOverlapFinest_Private(mg, PETSC_FALSE));
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  PetscCall(PCGridMGOverlapSurvey_Private(mg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a matrix on the host */

/* Row sums, survey and precision of the finest level */
static PetscErrorCode FinishHost_Private(PC pc)
{
  PC_GridMG   *mg    = (PC_GridMG *)pc->data;
  GridMGLevel *l     = &mg->aggregation.level[0];
  double       least = 0;

  PetscFunctionBegin;
  PetscCall(CleanRowSums_Private(pc, &l->exact.faces, &least));
  PetscCall(ReduceRows_Private(pc, &least));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  /* the layers are still empty: the survey counts own cells, and takes edges to remote cells from the list */
  PetscCall(PCGridMGSurvey_Private(mg, l));
  PCGridMGFoundSuspect_Private(mg, least);
  PCGridMGSetPrecision_Private(mg, l->exact.least, least);
  if (mg->place.overlap) PetscCall(OverlapHost_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadHost_Private(PC pc)
{
  PC_GridMG         *mg      = (PC_GridMG *)pc->data;
  GridMGLevel       *l       = &mg->aggregation.level[0];
  const GridMGFaces *f       = &l->exact.faces;
  const GridMGGrid   grid    = mg->domain.team.own;
  const PetscBool    shared  = PCGridMGIsParallel(mg);
  PetscInt           cells   = grid.cells;
  GridMGRowCounts    reading = {.f = f};
  PetscBool          symmetric;

  PetscFunctionBegin;
  PetscCall(PCGridMGStartFaces_Private(mg));
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(ReadRows_Private(pc, &reading));
  if (shared) PetscCall(ReduceReading_Private(pc, &reading, &cells));
  if (reading.bad) PetscFunctionReturn(PETSC_SUCCESS);
  PCGridMGSetFactor_Private(mg, cells, &reading);
  PetscCall(ScaleFaces_Private(pc, &reading));
  if (shared) {
    PetscCall(ReduceWrong_Private(pc, &reading));
    PetscCall(CheckWells_Private(mg));
  }
  PetscCall(PCGridMGCheckSigns_Private(pc, &reading));
  PetscCall(PCGridMGExactSetList_Private(mg, l));
  symmetric = (PetscBool)(FacesAreSymmetric(f) && PCGridMGListIsSymmetric_Private(&grid, &f->list));
  if (shared) PetscCall(PCGridMGBorderIsSymmetric_Private(mg, l, GRIDMG_SAME, &symmetric));
  PetscCall(PCGridMGSetSymmetry_Private(mg, l, symmetric));
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  PetscCall(FinishHost_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGReadEntries_Private(PC pc)
{
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(mg->source.rows.a ? PCGridMGReadDevice_Private(pc) : ReadHost_Private(pc));
#else
  PetscFunctionBegin;
  PetscCall(ReadHost_Private(pc));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums, survey and precision of the finest level of a single process, after its entries have changed */
PetscErrorCode PCGridMGFinishEntries_Private(PC pc)
{
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(mg->source.rows.a ? PCGridMGFinishDevice_Private(pc, &mg->aggregation.level[0]) : FinishHost_Private(pc));
#else
  PetscFunctionBegin;
  PetscCall(FinishHost_Private(pc));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
