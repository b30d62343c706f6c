/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The finest level from the entries of the matrix: faces, row sums, and a list of other edges. All numbers are
   multiplied by a power of two that brings the largest diagonal entry near 1, with the sign of the matrix.
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../boxes/boxes.h"
#include <lithe/private/cuda/gridmgsetup.h>

#define GRIDMG_WRONG 20 /* number of faces per permitted entry of the wrong sign */

#define GRIDMG_NO_NUMBER "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") of the matrix is no number"
#define GRIDMG_NOT_REAL                                       \
  "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT \
  ") is not real, and aggregation is for M-matrices. Give a real matrix as the second one to KSPSetOperators()"

typedef struct {
  const GridMGFaces *f;
  PetscInt           wrong, wrongrow, wrongcolumn, faces; /* off-diagonal entries of the wrong sign, the first of them, and the number of faces */
  double             most;                                /* the largest diagonal entry */
  PetscInt           negative;                            /* diagonal entries */
  PetscBool          bad;                                 /* an entry is not finite */
  PetscBool          unreal;                              /* or not real, on several processes: */
  PetscInt           unrealat[2];
} Reading;

/* Sorts the entries of one row into faces and edges, and sums the row */
static PetscErrorCode ReadRow_Private(PC pc, PetscInt row, PetscInt n, const PetscInt column[], const PetscScalar value[], Reading *reading, double *sum)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGFaces *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;
  const PetscInt     i = GridMGVertexOf(grid, &mg->domain.team.rows, row - mg->domain.team.begin), line = i / grid->n[0],
                 at[3] = {i % grid->n[0], line % grid->n[1], line / grid->n[1]};
  double diagonal      = 0;

  PetscFunctionBegin;
  *sum = 0;
  for (PetscInt e = 0; e < n; e++) {
    const double   a = (double)PetscRealPart(value[e]);
    const PetscInt j = PCGridMGIsShared(mg) ? PCGridMGVertexOfRow_Private(mg, column[e]) : GridMGVertexOf(grid, &mg->domain.team.rows, column[e]);
    int            d = -1;

    if (PetscDefined(USE_COMPLEX) && PetscImaginaryPart(value[e]) != 0) {
      PetscCheck(PCGridMGIsShared(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, GRIDMG_NOT_REAL, row, column[e]);
      reading->unreal      = PETSC_TRUE;
      reading->unrealat[0] = row;
      reading->unrealat[1] = column[e];
    }
    if (PetscIsInfOrNanReal((PetscReal)a)) {
      if (!reading->bad) PetscCall(PCGridMGFail_Private(pc, GRIDMG_NO_NUMBER, row, column[e]));
      reading->bad = PETSC_TRUE;
    }
    *sum += a;
    if (i == j) {
      diagonal += a;
      continue;
    }
    if (a == 0) continue;
    if (i < grid->cells && j < grid->cells) d = PCGridMGFaceOf_Private(grid, at, j - i);
    if (d < 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, i, j, -a));
    else {
      *(j > i ? &f->up[d][i] : &f->down[d][j]) -= a;
      reading->faces++;
    }
  }
  reading->most = PetscMax(reading->most, fabs(diagonal));
  reading->negative += diagonal < 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows on the host */
static PetscErrorCode ReadRows_Private(PC pc, Reading *reading)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGFaces *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->memory.clear)(PCGridMGFacesNumbers_Private(grid, PETSC_FALSE) * sizeof(double), f->sigma));
  for (PetscInt own = 0; own < grid->cells + grid->wells && !reading->bad && !reading->unreal; own++) {
    const PetscInt     row = mg->domain.team.begin + own;
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(mg->source.matrix, row, &n, &column, &value));
    PetscCall(ReadRow_Private(pc, row, n, column, value, reading, &f->sigma[GridMGVertexOf(grid, &mg->domain.team.rows, own)]));
    PetscCall(MatRestoreRow(mg->source.matrix, row, &n, &column, &value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled; faces of the wrong sign become edges of the list, on both sides */
static PetscErrorCode ScaleFaces_Private(PC pc, Reading *reading)
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

static void SetFactor(PC_GridMG *mg, PetscInt cells, const Reading *reading)
{
  PCGridMGFoundFactor_Private(mg, reading->most, (PetscBool)(2 * reading->negative > cells));
}

static PetscErrorCode CheckSigns_Private(PC pc, const Reading *reading)
{
  PetscFunctionBegin;
  PetscCheck(reading->wrong <= reading->faces / GRIDMG_WRONG, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT ") has the sign of the diagonal, as have %" PetscInt_FMT " faces among %" PetscInt_FMT
             " entries: aggregation is for M-matrices. Use another preconditioner",
             reading->wrongrow, reading->wrongcolumn, reading->wrong, reading->faces);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the finest level */
static PetscErrorCode StartFaces_Private(PC_GridMG *mg)
{
  GridMGGrid   grid  = mg->domain.team.own;
  const size_t cells = (size_t)grid.cells, numbers = PCGridMGFacesNumbers_Private(&grid, PETSC_FALSE);

  PetscFunctionBegin;
  if (mg->place.overlap)
    PetscCall(PCGridMGArenaStart_Private(mg, (2 * numbers + cells) * sizeof(double))); /* with layers around the box, all arrays exist twice */
  else PetscCall(PCGridMGArenaStart_Private(mg, (numbers + cells + cells / 4) * sizeof(double)));
  grid.ghosts = mg->domain.share[0].ghosts;
  PetscCall(PCGridMGExactCreate_Private(mg, &mg->aggregation.level[0], &grid, PETSC_FALSE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetSymmetry_Private(PC_GridMG *mg, GridMGLevel *l, PetscBool symmetric)
{
  PetscFunctionBegin;
  PCGridMGFoundSymmetry_Private(mg, symmetric);
  PetscCall(PCGridMGExactSetSymmetry_Private(mg, l, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Single precision, if the numbers are within range. face: the smallest face, or 0; least: the smallest diagonal entry
*/
static void SetPrecision(PC_GridMG *mg, double face, double least)
{
  PCGridMGFoundPrecision_Private(mg, (PetscBool)((face > 0 ? PetscMin(least, face) : least) < 1e-25));
}

static inline PetscBool Same(double a, double b)
{
  return (PetscBool)(fabs(a - b) <= GRIDMG_SAME * PetscMax(fabs(a), fabs(b)));
}

/* Whether the list has the edge (j, i) with the same number for each (i, j) */
static PetscBool ListIsSymmetric(const GridMGGrid *grid, const GridMGList *list)
{
  const double *t = (const double *)list->t;

  for (PetscInt r = 0; r < list->n; r++) {
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      const PetscInt s     = PCGridMGListFind_Private(grid, list, list->j[e]);
      PetscBool      found = PETSC_FALSE;

      if (list->j[e] >= grid->cells + grid->wells) continue; /* of another process */
      if (s < 0) return PETSC_FALSE;
      for (PetscInt other = list->i[s]; other < list->i[s + 1] && !found; other++) found = (PetscBool)(list->j[other] == list->row[r] && Same(t[e], t[other]));
      if (!found) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

static PetscBool FacesAreSymmetric(const GridMGFaces *f)
{
  for (int d = 0; d < 3; d++) {
    for (PetscInt c = 0; c < f->grid.cells && f->up[d]; c++) {
      if (!Same(f->up[d][c], f->down[d][c])) return PETSC_FALSE;
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

static PetscErrorCode FailRow_Private(PC pc, PetscInt vertex, double diagonal)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGridMGFail_Private(pc, "row %" PetscInt_FMT " has the diagonal entry %g and other entries: aggregation is for M-matrices",
                                 mg->domain.team.begin + GridMGRowOf(&mg->domain.team.own, &mg->domain.team.rows, vertex), diagonal / mg->found.factor));
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
  if (wrongat >= 0) PetscCall(FailRow_Private(pc, wrongat, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ several processes */

/*
   Sums the counts over all processes. An imaginary entry is an error on all processes. cells: of all processes, with
   the diagonal entries counted
*/
static PetscErrorCode ReduceReading_Private(PC pc, Reading *reading, PetscInt *cells)
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
static PetscErrorCode ReduceWrong_Private(PC pc, Reading *reading)
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
  if (PCGridMGIsShared(mg)) PetscCall(ReduceRows_Private(pc, &least));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  /* the layers are still empty: the survey counts own cells, and takes edges to remote cells from the list */
  PetscCall(PCGridMGSurvey_Private(mg, l));
  PCGridMGFoundSuspect_Private(mg, least);
  SetPrecision(mg, l->exact.least, least);
  if (mg->place.overlap) PetscCall(OverlapHost_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadHost_Private(PC pc, Reading *reading)
{
  PC_GridMG         *mg     = (PC_GridMG *)pc->data;
  GridMGLevel       *l      = &mg->aggregation.level[0];
  const GridMGFaces *f      = &l->exact.faces;
  const GridMGGrid   grid   = mg->domain.team.own;
  const PetscBool    shared = PCGridMGIsShared(mg);
  PetscInt           cells  = grid.cells;
  PetscBool          symmetric;

  PetscFunctionBegin;
  PetscCall(StartFaces_Private(mg));
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(ReadRows_Private(pc, reading));
  if (shared) PetscCall(ReduceReading_Private(pc, reading, &cells));
  if (reading->bad) PetscFunctionReturn(PETSC_SUCCESS);
  SetFactor(mg, cells, reading);
  PetscCall(ScaleFaces_Private(pc, reading));
  if (shared) {
    PetscCall(ReduceWrong_Private(pc, reading));
    PetscCall(CheckWells_Private(mg));
  }
  PetscCall(CheckSigns_Private(pc, reading));
  PetscCall(PCGridMGExactSetList_Private(mg, l));
  symmetric = (PetscBool)(FacesAreSymmetric(f) && ListIsSymmetric(&grid, &f->list));
  if (shared) PetscCall(PCGridMGBorderIsSymmetric_Private(mg, l, GRIDMG_SAME, &symmetric));
  PetscCall(SetSymmetry_Private(mg, l, symmetric));
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  PetscCall(FinishHost_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a matrix on a device */

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #define GRIDMG_GUESS 64 /* if the guess is wrong by more powers of two, the entries are read again */

static PetscErrorCode Scan_Private(PC_GridMG *mg, double scale)
{
  const GridMGFaces *f     = &mg->aggregation.level[0].exact.faces;
  const size_t       tiles = ((size_t)mg->domain.team.own.cells + GRIDMG_READ_ROWS - 1) / GRIDMG_READ_ROWS;

  PetscFunctionBegin;
  PetscCall(StartFaces_Private(mg));
  PetscCall(PCGridMGArenaTake_Private(mg, tiles * sizeof(*mg->aggregation.scan.others), (void **)&mg->aggregation.scan.others));
  PetscCall(LitheCUDAGridMGRead(&mg->source.rows, &mg->domain.team.rows, scale, f, mg->aggregation.scan.others, &mg->aggregation.scan.reading));
  mg->aggregation.scan.guess = scale;
  mg->aggregation.scan.done  = PETSC_TRUE;
  mg->aggregation.scan.first = mg->domain.team.rows.first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces of the finest level, and counts, once a set-up and grid */
PetscErrorCode PCGridMGScan_Private(PC pc)
{
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  const GridMGGrid *grid = &mg->domain.team.own, *last = &mg->aggregation.level[0].exact.faces.grid;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    if (last->n[d] != grid->n[d]) mg->aggregation.scan.done = PETSC_FALSE;
  }
  if (!mg->aggregation.scan.done || mg->aggregation.scan.first != mg->domain.team.rows.first)
    PetscCall(Scan_Private(mg, mg->aggregation.scan.guess != 0 ? mg->aggregation.scan.guess : 1.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of wells come to the host; sum: of each row */
static PetscErrorCode ReadWells_Private(PC pc, PetscInt begin, PetscInt end, Reading *reading, double sum[])
{
  PC_GridMG           *mg      = (PC_GridMG *)pc->data;
  const GridMGKernels *kernels = mg->place.kernels;
  const PetscInt       n       = end - begin;
  PetscInt            *i, *j, nz;
  PetscScalar         *a;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n + 1, &i));
  PetscCall((*kernels->memory.get)((size_t)(n + 1) * sizeof(*i), mg->source.rows.i + begin, i));
  nz = i[n] - i[0];
  PetscCall(PetscMalloc2(nz, &j, nz, &a));
  if (nz) {
    PetscCall((*kernels->memory.get)((size_t)nz * sizeof(*j), mg->source.rows.j + i[0], j));
    PetscCall((*kernels->memory.get)((size_t)nz * sizeof(*a), mg->source.rows.a + i[0], a));
  }
  for (PetscInt r = 0; r < n && !reading->bad; r++)
    PetscCall(ReadRow_Private(pc, begin + r, i[r + 1] - i[r], j + i[r] - i[0], a + i[r] - i[0], reading, &sum[r]));
  PetscCall(PetscFree2(j, a));
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first entry in rows of cells that is imaginary or not finite, row by row */
static PetscErrorCode CheckNumbers_Private(PC pc, Reading *reading)
{
  PC_GridMG           *mg = (PC_GridMG *)pc->data;
  const GridMGReading *r  = &mg->aggregation.scan.reading;
  PetscInt             n, row[2] = {-1, -1}, column[2]; /* imaginary, bad */

  PetscFunctionBegin;
  if (r->firstimaginary < 0 && r->firstbad < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(pc->pmat, &n, NULL));
  if (r->firstimaginary >= 0) PetscCall(LitheCUDAGridMGFindEntry(&mg->source.rows, n, r->firstimaginary, &row[0], &column[0]));
  if (r->firstbad >= 0) PetscCall(LitheCUDAGridMGFindEntry(&mg->source.rows, n, r->firstbad, &row[1], &column[1]));
  PetscCheck(row[0] < 0 || (row[1] >= 0 && row[1] < row[0]), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, GRIDMG_NOT_REAL, row[0], column[0]);
  PetscCall(PCGridMGFail_Private(pc, GRIDMG_NO_NUMBER, row[1], column[1]));
  reading->bad = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the entries in rows of cells that are no faces */
static PetscErrorCode ReadOthers_Private(PC pc, Reading *reading)
{
  GridMGEdge          *edge;
  PC_GridMG           *mg = (PC_GridMG *)pc->data;
  const GridMGReading *r  = &mg->aggregation.scan.reading;

  PetscFunctionBegin;
  PetscCheck(r->others <= PETSC_INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_type gridmg: %" PetscInt64_FMT " entries are between cells that are no neighbours, too many", r->others);
  PetscCall(PCGridMGEdgesAppend_Private(&mg->aggregation.edges, (PetscInt)r->others, &edge));
  PetscCall(LitheCUDAGridMGGetOthers(&mg->source.rows, &mg->domain.team.rows, &mg->domain.team.own, mg->aggregation.scan.others, (PetscInt)r->others, edge));
  reading->faces = (PetscInt)r->faces;
  reading->negative += (PetscInt)r->negative;
  reading->most = PetscMax(reading->most, r->most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled, faces of the wrong sign become edges of the list */
static PetscErrorCode Settle_Private(PC pc, double scale, Reading *reading, PetscBool *symmetric)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  const GridMGFaces *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;
  GridMGWrong        first, *wrong;

  PetscFunctionBegin;
  PetscCall(LitheCUDAGridMGSettle(f, scale, GRIDMG_SAME, symmetric, &reading->wrong, &first));
  PCGridMGEdgesScale_Private(&mg->aggregation.edges, mg->found.factor);
  if (!reading->wrong) PetscFunctionReturn(PETSC_SUCCESS);
  {
    const PetscInt c = (PetscInt)(first.at % grid->cells), to = c + GridMGStride(grid, (int)(first.at / grid->cells));

    reading->wrongrow    = GridMGRowOf(grid, &mg->domain.team.rows, first.up < 0 ? c : to);
    reading->wrongcolumn = GridMGRowOf(grid, &mg->domain.team.rows, first.up < 0 ? to : c);
  }
  PetscCall(CheckSigns_Private(pc, reading));
  PetscCall(PetscMalloc1(reading->wrong, &wrong));
  PetscCall(LitheCUDAGridMGGetWrong(f, reading->wrong, wrong));
  for (PetscInt k = 0; k < reading->wrong; k++) {
    const PetscInt c = (PetscInt)(wrong[k].at % grid->cells), to = c + GridMGStride(grid, (int)(wrong[k].at / grid->cells));

    if (wrong[k].up != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, c, to, wrong[k].up));
    if (wrong[k].down != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, to, c, wrong[k].down));
  }
  PetscCall(PetscFree(wrong));
  PetscCall(LitheCUDAGridMGSettle(f, 1., GRIDMG_SAME, symmetric, &reading->wrong, &first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled; boxes do not overlap where faces have the wrong sign */
static PetscErrorCode SettleFaces_Private(PC_GridMG *mg, double scale, Reading *reading, PetscBool *symmetric)
{
  GridMGWrong first;

  PetscFunctionBegin;
  PetscCall(LitheCUDAGridMGSettle(reading->f, scale, GRIDMG_SAME, symmetric, &reading->wrong, &first));
  if (reading->wrong) PCGridMGRefuse_Private(mg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums and the survey */
static PetscErrorCode Clean_Private(PC pc, GridMGLevel *l)
{
  PC_GridMG         *mg = (PC_GridMG *)pc->data;
  const GridMGFaces *f  = &l->exact.faces;
  double             rounding;
  GridMGArenaMark    mark;
  GridMGSurvey       survey;
  GridMGCleaning     cleaning;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  mark = PCGridMGArenaGetMark_Private(mg);
  PetscCall(PCGridMGExactWork_Private(mg, l));
  PetscCall(LitheCUDAGridMGClean(f, rounding, l->exact.alive, &survey, &cleaning));
  PCGridMGExactSurveyed_Private(l, &survey);
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PCGridMGFoundRowSums_Private(mg, cleaning.negative, mg->found.symmetric);
  if (cleaning.failed >= 0) {
    const PetscInt i = (PetscInt)cleaning.failed, r = PCGridMGListFind_Private(&f->grid, &f->list, i);
    double         sum = 0, sigma, high, low;

    for (PetscInt e = r >= 0 ? f->list.i[r] : 0; r >= 0 && e < f->list.i[r + 1]; e++) sum += ((const double *)f->list.t)[e];
    for (int d = 0; d < 3 && i < f->grid.cells; d++) {
      const PetscInt stride = GridMGStride(&f->grid, d);

      if (!f->up[d]) continue;
      low = 0;
      PetscCall((*mg->place.kernels->memory.get)(sizeof(double), f->up[d] + i, &high));
      if (i / stride % f->grid.n[d] > 0) PetscCall((*mg->place.kernels->memory.get)(sizeof(double), f->down[d] + i - stride, &low));
      sum += high + low;
    }
    PetscCall((*mg->place.kernels->memory.get)(sizeof(double), f->sigma + i, &sigma));
    PetscCall(FailRow_Private(pc, i, sigma + sum));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PCGridMGFoundSuspect_Private(mg, cleaning.least);
  SetPrecision(mg, l->exact.survey.min, cleaning.least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Reduces the counts over all processes: the factor, and whether all entries permit overlap. The host finds errors
   again
*/
static PetscErrorCode ReduceDevice_Private(PC_GridMG *mg, Reading *reading)
{
  const GridMGReading *r       = &mg->aggregation.scan.reading;
  double               mine    = r->most;
  PetscInt             minus   = (PetscInt)r->negative;
  PetscBool            nothing = PETSC_TRUE;

  PetscFunctionBegin;
  if (r->others || r->firstimaginary >= 0 || r->firstbad >= 0) PCGridMGRefuse_Private(mg);
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &nothing));
  PetscCallMPI(MPIU_Allreduce(&mine, &reading->most, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  PetscCallMPI(MPIU_Allreduce(&minus, &reading->negative, 1, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums and the survey of the finest level with layers of remote cells */
static PetscErrorCode CleanOverlap_Private(PC pc, GridMGLevel *l)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  double         rounding, least;
  PetscInt       negative, all;
  PetscBool      nothing = PETSC_TRUE;
  GridMGSurvey   survey;
  GridMGCleaning cleaning;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetRounding_Private(pc, &rounding));
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  PetscCall(LitheCUDAGridMGClean(&l->exact.faces, rounding, l->exact.alive, &survey, &cleaning));
  PCGridMGExactSurveyed_Private(l, &survey);
  if (cleaning.failed >= 0) PCGridMGRefuse_Private(mg);
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &nothing));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGOverlapSurvey_Private(mg, l));
  negative = cleaning.negative;
  PetscCallMPI(MPIU_Allreduce(&negative, &all, 1, MPIU_INT, MPI_SUM, mg->domain.team.comm));
  PCGridMGFoundRowSums_Private(mg, all, mg->found.symmetric);
  PetscCallMPI(MPIU_Allreduce(&cleaning.least, &least, 1, MPI_DOUBLE, MPI_MIN, mg->domain.team.comm));
  PCGridMGFoundSuspect_Private(mg, least);
  SetPrecision(mg, l->exact.least, least);
  if (mg->found.precision != GRIDMG_SINGLE) PCGridMGRefuse_Private(mg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the own rows for overlapping boxes */
static PetscErrorCode ReadOverlap_Private(PC pc, Reading *reading)
{
  PC_GridMG   *mg = (PC_GridMG *)pc->data;
  GridMGLevel *l  = &mg->aggregation.level[0];
  PetscBool    symmetric;
  int          exponents[2];

  PetscFunctionBegin;
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  symmetric = PETSC_TRUE;
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &symmetric)); /* on boxes */
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGScan_Private(pc));
  PetscCall(PCGridMGCrossingRead_Private(pc));
  PetscCall(ReduceDevice_Private(mg, reading));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  SetFactor(mg, l->boxes->offset[mg->domain.team.size], reading);
  (void)frexp(mg->found.factor, &exponents[0]);
  (void)frexp(mg->aggregation.scan.guess, &exponents[1]);
  if (PetscAbsInt(exponents[0] - exponents[1]) > GRIDMG_GUESS) PetscCall(Scan_Private(mg, mg->found.factor));
  PetscCall(SettleFaces_Private(mg, mg->found.factor / mg->aggregation.scan.guess, reading, &symmetric));
  mg->aggregation.scan.guess = mg->found.factor;
  PetscCall(PCGridMGCrossingScale_Private(mg, mg->found.factor));
  PetscCall(PCGridMGCrossingExchange_Private(mg, GRIDMG_SAME, &symmetric));
  PetscCall(PCGridMGAgreeOnOverlap_Private(mg, &symmetric));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SetSymmetry_Private(mg, l, symmetric));
  PetscCall(PCGridMGOverlapFinest_Private(mg, PETSC_TRUE));
  PetscCall(CleanOverlap_Private(pc, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadDevice_Private(PC pc, Reading *reading)
{
  PC_GridMG       *mg     = (PC_GridMG *)pc->data;
  GridMGLevel     *l      = &mg->aggregation.level[0];
  const GridMGGrid grid   = mg->domain.team.own;
  const PetscInt   before = mg->domain.team.rows.first, cells = grid.cells;
  double          *sum;
  PetscBool        symmetric;
  int              exponents[2];

  PetscFunctionBegin;
  PetscCall(PCGridMGScan_Private(pc));
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(PetscCalloc1(grid.wells, &sum));
  PetscCall(ReadWells_Private(pc, 0, before, reading, sum));
  if (!reading->bad) PetscCall(CheckNumbers_Private(pc, reading));
  if (!reading->bad) PetscCall(ReadOthers_Private(pc, reading));
  if (!reading->bad) PetscCall(ReadWells_Private(pc, before + cells, cells + grid.wells, reading, sum + before));
  if (!reading->bad) {
    SetFactor(mg, cells, reading);
    (void)frexp(mg->found.factor, &exponents[0]);
    (void)frexp(mg->aggregation.scan.guess, &exponents[1]);
    if (PetscAbsInt(exponents[0] - exponents[1]) > GRIDMG_GUESS) PetscCall(Scan_Private(mg, mg->found.factor));
    for (PetscInt w = 0; w < grid.wells; w++) sum[w] *= mg->found.factor;
    if (grid.wells) PetscCall((*mg->place.kernels->memory.put)((size_t)grid.wells * sizeof(double), sum, l->exact.faces.sigma + cells));
    PetscCall(Settle_Private(pc, mg->found.factor / mg->aggregation.scan.guess, reading, &symmetric));
    mg->aggregation.scan.guess = mg->found.factor;
    PetscCall(PCGridMGExactSetList_Private(mg, l));
    PetscCall(SetSymmetry_Private(mg, l, (PetscBool)(symmetric && ListIsSymmetric(&grid, &l->exact.faces.list))));
    PetscCall(PCGridMGExactAlive_Private(mg, l));
    PetscCall(Clean_Private(pc, l));
  }
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode PCGridMGScan_Private(PETSC_UNUSED PC pc)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode PCGridMGReadEntries_Private(PC pc)
{
  PC_GridMG         *mg      = (PC_GridMG *)pc->data;
  const GridMGFaces *f       = &mg->aggregation.level[0].exact.faces;
  Reading            reading = {.f = f};

  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->source.rows.a) {
    PetscCall(mg->place.overlap ? ReadOverlap_Private(pc, &reading) : ReadDevice_Private(pc, &reading));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(ReadHost_Private(pc, &reading));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums, survey and precision of the finest level of a single process, after its entries have changed */
PetscErrorCode PCGridMGFinishEntries_Private(PC pc)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    PC_GridMG *mg = (PC_GridMG *)pc->data;

    if (mg->source.rows.a) {
      PetscCall(Clean_Private(pc, &mg->aggregation.level[0]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(FinishHost_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
