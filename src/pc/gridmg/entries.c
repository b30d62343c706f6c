/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The finest level from the entries of the matrix: faces, row sums, and a list of other edges. All are multiplied by a power of two that brings
   the largest diagonal entry near 1, with the sign of the matrix.
*/

#include "gridmgimpl.h"

#define GRIDMG_ROUNDING 16   /* row sums of so many roundings of the diagonal are none */
#define GRIDMG_NULL     1e-8 /* the same where constants are said to be in the null space */
#define GRIDMG_SAME     1e-8 /* entries that differ by less than this part of them count as the same */
#define GRIDMG_WRONG    20   /* of so many faces one may have an entry of the wrong sign */

typedef struct {
  GridMGFaces *f;
  PetscInt     wrong, wrongrow, wrongcolumn, faces; /* off-diagonal entries of the wrong sign, and how many faces there are */
  double       most;                                /* the largest diagonal entry */
  PetscInt     negative;                            /* diagonal entries */
  PetscBool    bad;                                 /* an entry is no number */
} Reading;

/* One row: where entries belong, and their sum */
static PetscErrorCode ReadRow_Private(PC pc, PetscInt row, PetscInt n, const PetscInt column[], const PetscScalar value[], Reading *reading, double *sum)
{
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  GridMGFaces      *f    = reading->f;
  const GridMGGrid *grid = &f->grid;
  const PetscInt    i = GridMGVertexOf(grid, &mg->rows, row), line = i / grid->n[0], at[3] = {i % grid->n[0], line % grid->n[1], line / grid->n[1]};
  double            diagonal = 0;

  PetscFunctionBegin;
  *sum = 0;
  for (PetscInt e = 0; e < n; e++) {
    const double   a = (double)PetscRealPart(value[e]);
    const PetscInt j = GridMGVertexOf(grid, &mg->rows, column[e]);
    int            d = -1;

    PetscCheck(!PetscDefined(USE_COMPLEX) || PetscImaginaryPart(value[e]) == 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT
               ") is not real, and aggregation is for M-matrices. Give a real matrix as the second one to KSPSetOperators()",
               row, column[e]);
    if (PetscIsInfOrNanReal((PetscReal)a)) {
      if (!reading->bad) PetscCall(PCGridMGFail_Private(pc, "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") of the matrix is no number", row, column[e]));
      reading->bad = PETSC_TRUE;
    }
    *sum += a;
    if (i == j) {
      diagonal += a;
      continue;
    }
    if (a == 0) continue;
    if (i < grid->cells && j < grid->cells) d = PCGridMGFaceOf_Private(grid, at, j - i);
    if (d < 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->edges, i, j, -a));
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
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  GridMGFaces      *f    = reading->f;
  const GridMGGrid *grid = &f->grid;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->clear)(PCGridMGFacesNumbers_Private(grid, PETSC_FALSE) * sizeof(double), f->sigma));
  for (PetscInt row = 0; row < grid->cells + grid->wells && !reading->bad; row++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(pc->pmat, row, &n, &column, &value));
    PetscCall(ReadRow_Private(pc, row, n, column, value, reading, &f->sigma[GridMGVertexOf(grid, &mg->rows, row)]));
    PetscCall(MatRestoreRow(pc->pmat, row, &n, &column, &value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries are scaled; faces of the wrong sign become edges of the list, on both sides */
static PetscErrorCode ScaleFaces_Private(PC pc, Reading *reading)
{
  PC_GridMG        *mg   = (PC_GridMG *)pc->data;
  GridMGFaces      *f    = reading->f;
  const GridMGGrid *grid = &f->grid;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(grid, d);

    if (!f->up[d]) continue;
    for (PetscInt c = 0; c < grid->cells; c++) {
      f->up[d][c] *= mg->factor;
      f->down[d][c] *= mg->factor;
      if (f->up[d][c] >= 0 && f->down[d][c] >= 0) continue;
      if (!reading->wrong++) {
        reading->wrongrow    = GridMGRowOf(grid, &mg->rows, f->up[d][c] < 0 ? c : c + stride);
        reading->wrongcolumn = GridMGRowOf(grid, &mg->rows, f->up[d][c] < 0 ? c + stride : c);
      }
      if (f->up[d][c] != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->edges, c, c + stride, f->up[d][c] / mg->factor));
      if (f->down[d][c] != 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->edges, c + stride, c, f->down[d][c] / mg->factor));
      f->up[d][c] = f->down[d][c] = 0;
    }
  }
  for (PetscInt i = 0; i < grid->cells + grid->wells; i++) f->sigma[i] *= mg->factor;
  for (PetscInt e = 0; e < mg->edges.n; e++) mg->edges.edge[e].t *= mg->factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double FactorOf(const GridMGGrid *grid, const Reading *reading)
{
  int exponent;

  (void)frexp(reading->most, &exponent);
  return ldexp(2 * reading->negative > grid->cells ? -1. : 1., reading->most > 0 ? PetscMin(1000, -exponent) : 0);
}

static PetscErrorCode CheckSigns_Private(PC pc, const Reading *reading)
{
  PetscFunctionBegin;
  PetscCheck(reading->wrong <= reading->faces / GRIDMG_WRONG, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT ") has the sign of the diagonal, and there are %" PetscInt_FMT
             " faces like that among %" PetscInt_FMT " entries: aggregation is for M-matrices. Use another preconditioner",
             reading->wrongrow, reading->wrongcolumn, reading->wrong, reading->faces);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the finest level, with room for those of a few others */
static PetscErrorCode StartFaces_Private(PC_GridMG *mg, GridMGFaces *f)
{
  const GridMGGrid grid  = mg->level[0].op.grid;
  const size_t     cells = (size_t)grid.cells, numbers = PCGridMGFacesNumbers_Private(&grid, PETSC_FALSE);

  PetscFunctionBegin;
  PetscCall(PCGridMGArenaStart_Private(mg, (numbers + cells + cells / 4) * sizeof(double)));
  PetscCall(PCGridMGFacesCreate_Private(mg, &grid, PETSC_FALSE, f));
  mg->edges.n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of symmetric matrices one side is enough, and the other one gives its memory back */
static PetscErrorCode SetSymmetry_Private(PC_GridMG *mg, GridMGFaces *f, PetscBool symmetric)
{
  const GridMGArenaMark start = {0, 0};
  const GridMGList      list  = f->list;
  const GridMGGrid      grid  = f->grid;

  PetscFunctionBegin;
  mg->symmetric = symmetric;
  if (symmetric) {
    PCGridMGArenaGiveBack_Private(mg, &start);
    PetscCall(PCGridMGFacesCreate_Private(mg, &grid, PETSC_TRUE, f));
    f->list = list;
  } else f->symmetric = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single precision has a range that no sensible matrix leaves. least: the smallest diagonal */
static void SetPrecision(PC_GridMG *mg, const GridMGLevel *l, double least)
{
  const double min = l->survey.min > 0 ? PetscMin(least, l->survey.min) : least;

  mg->precision = mg->opt.precision == PCGRIDMG_PRECISION_DOUBLE || min < 1e-25 ? GRIDMG_DOUBLE : GRIDMG_SINGLE;
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

/* What the list has in each row */
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

/* Row sums that are rounding become 0, and so do negative ones of symmetric matrices; diagonals must be positive */
static PetscErrorCode CleanRowSums_Private(PC pc, GridMGFaces *f, double *least)
{
  PC_GridMG        *mg       = (PC_GridMG *)pc->data;
  const GridMGGrid *grid     = &f->grid;
  double            rounding = GRIDMG_ROUNDING * (double)PETSC_MACHINE_EPSILON, *sums;
  PetscBool         constant = PETSC_FALSE;
  MatNullSpace      null;

  PetscFunctionBegin;
  PetscCall(MatGetNullSpace(pc->pmat, &null));
  if (null) PetscCall(MatNullSpaceGetVecs(null, &constant, NULL, NULL));
  if (constant) rounding = PetscMax(rounding, GRIDMG_NULL);
  *least      = PETSC_MAX_REAL;
  mg->clipped = 0;
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
    if (*sigma < 0 && f->symmetric) {
      *sigma = 0;
      mg->clipped++;
    }
    if (diagonal == 0 && faces == 0) *sigma = 1; /* as large as the largest diagonal entry */
    else if (!(diagonal > 0)) {
      PetscCall(PCGridMGFail_Private(pc, "row %" PetscInt_FMT " has the diagonal entry %g and other entries: aggregation is for M-matrices",
                                     GridMGRowOf(grid, &mg->rows, i), diagonal / mg->factor));
      break;
    }
    if (diagonal > 0) *least = PetscMin(*least, diagonal);
  }
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGReadEntries_Private(PC pc)
{
  PC_GridMG       *mg      = (PC_GridMG *)pc->data;
  GridMGLevel     *l       = &mg->level[0];
  GridMGFaces     *f       = &l->faces;
  const GridMGGrid grid    = l->op.grid;
  Reading          reading = {.f = f};
  double           least   = 0;

  PetscFunctionBegin;
  PetscCall(StartFaces_Private(mg, f));
  PetscCall(ReadRows_Private(pc, &reading));
  if (reading.bad) PetscFunctionReturn(PETSC_SUCCESS);
  mg->factor = FactorOf(&grid, &reading);
  PetscCall(ScaleFaces_Private(pc, &reading));
  PetscCall(CheckSigns_Private(pc, &reading));
  PetscCall(PCGridMGEdgesToList_Private(&grid, &mg->edges, l->list, &f->list));
  PetscCall(SetSymmetry_Private(mg, f, (PetscBool)(FacesAreSymmetric(f) && ListIsSymmetric(&grid, &f->list))));
  PetscCall(CleanRowSums_Private(pc, f, &least));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGArenaTake_Private(mg, (size_t)grid.cells, (void **)&l->alive));
  PetscCall((*mg->kernels->survey)(f, l->alive, &l->survey));
  SetPrecision(mg, l, least);
  PetscFunctionReturn(PETSC_SUCCESS);
}
