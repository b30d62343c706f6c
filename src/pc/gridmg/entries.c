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

/* One row: where entries belong, its row sum, and its diagonal entry */
static PetscErrorCode ReadRow_Private(PC pc, PetscInt row, Reading *reading)
{
  PC_GridMG         *mg   = (PC_GridMG *)pc->data;
  GridMGFaces       *f    = reading->f;
  const GridMGGrid  *grid = &f->grid;
  const PetscInt     i = GridMGVertexOf(grid, &mg->rows, row), line = i / grid->n[0], at[3] = {i % grid->n[0], line % grid->n[1], line / grid->n[1]};
  const PetscInt    *column;
  const PetscScalar *value;
  PetscInt           n;
  double             sum = 0, diagonal = 0;

  PetscFunctionBegin;
  PetscCall(MatGetRow(pc->pmat, row, &n, &column, &value));
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
    sum += a;
    if (i == j) {
      diagonal += a;
      continue;
    }
    if (a == 0) continue;
    if (i < grid->cells && j < grid->cells) d = PCGridMGFaceOf_Private(grid, at, j - i);
    if (d < 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->edges, i, j, -a));
    else {
      *(j > i ? &f->up[d][i] : &f->down[d][j]) = -a;
      reading->faces++;
    }
  }
  PetscCall(MatRestoreRow(pc->pmat, row, &n, &column, &value));
  f->sigma[i]   = sum;
  reading->most = PetscMax(reading->most, fabs(diagonal));
  reading->negative += diagonal < 0;
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

static inline PetscBool Same(double a, double b)
{
  return (PetscBool)(fabs(a - b) <= GRIDMG_SAME * PetscMax(fabs(a), fabs(b)));
}

/* Whether the list has the edge (j, i) with the same number for each (i, j) */
static PetscBool ListIsSymmetric(const GridMGGrid *grid, const GridMGList *list, PetscInt place[])
{
  const double *t = (const double *)list->t;

  for (PetscInt r = 0; r < list->n; r++) place[list->row[r]] = r + 1;
  for (PetscInt r = 0; r < list->n; r++) {
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      const PetscInt s     = place[list->j[e]] - 1;
      PetscBool      found = PETSC_FALSE;

      if (s < 0) return PETSC_FALSE;
      for (PetscInt other = list->i[s]; other < list->i[s + 1] && !found; other++) found = (PetscBool)(list->j[other] == list->row[r] && Same(t[e], t[other]));
      if (!found) return PETSC_FALSE;
    }
  }
  (void)grid;
  return PETSC_TRUE;
}

static PetscErrorCode FindSymmetry_Private(GridMGFaces *f)
{
  PetscInt *place;

  PetscFunctionBegin;
  f->symmetric = PETSC_TRUE;
  for (int d = 0; d < 3 && f->symmetric; d++) {
    if (!f->up[d]) continue;
    for (PetscInt c = 0; c < f->grid.cells && f->symmetric; c++) f->symmetric = Same(f->up[d][c], f->down[d][c]);
  }
  if (f->symmetric && f->list.n) {
    PetscCall(PetscCalloc1(f->grid.cells + f->grid.wells, &place));
    f->symmetric = ListIsSymmetric(&f->grid, &f->list, place);
    PetscCall(PetscFree(place));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const GridMGGrid grid    = l->op.grid;
  Reading          reading = {.f = &l->faces};
  double           least   = 0, min, max;
  int              exponent;

  PetscFunctionBegin;
  PetscCall(PCGridMGFacesCreate_Private(l->block, &grid, PETSC_FALSE, &l->faces));
  mg->edges.n = 0;
  for (PetscInt row = 0; row < grid.cells + grid.wells; row++) {
    PetscCall(ReadRow_Private(pc, row, &reading));
    if (reading.bad) PetscFunctionReturn(PETSC_SUCCESS);
  }
  (void)frexp(reading.most, &exponent);
  mg->factor = ldexp(2 * reading.negative > grid.cells ? -1. : 1., reading.most > 0 ? PetscMin(1000, -exponent) : 0);
  PetscCall(ScaleFaces_Private(pc, &reading));
  PetscCheck(reading.wrong <= reading.faces / GRIDMG_WRONG, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT ") has the sign of the diagonal, and there are %" PetscInt_FMT
             " faces like that among %" PetscInt_FMT " entries: aggregation is for M-matrices. Use another preconditioner",
             reading.wrongrow, reading.wrongcolumn, reading.wrong, reading.faces);
  PetscCall(PCGridMGEdgesToList_Private(&grid, &mg->edges, l->list, &l->faces.list));
  PetscCall(FindSymmetry_Private(&l->faces));
  mg->symmetric = l->faces.symmetric;
  if (mg->symmetric) {
    for (int d = 0; d < 3; d++) l->faces.down[d] = l->faces.up[d];
  }
  PetscCall(CleanRowSums_Private(pc, &l->faces, &least));
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);

  /* Single precision has a range that no sensible matrix leaves */
  PetscCall((*mg->kernels->range)(&l->faces, &min, &max));
  mg->precision = mg->opt.precision == PCGRIDMG_PRECISION_DOUBLE || PetscMin(least, min > 0 ? min : least) < 1e-25 ? GRIDMG_DOUBLE : GRIDMG_SINGLE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
