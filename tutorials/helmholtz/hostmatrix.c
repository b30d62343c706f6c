/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The matrix of the Helmholtz equation on the host. Each cell is made once, and values are written where the matrix
   keeps them.

   The pattern is known: a point has its 5 or 7, 9 or 27 neighbours on the grid. Columns of own points are in the
   diagonal block of the process, all other columns in the off-diagonal block.
*/

#include "problem.h"

#if PetscDefined(USE_COMPLEX)
  #define CORNERS_MAX 8
  #define TERMS_MAX   (CORNERS_MAX * CORNERS_MAX)

typedef struct {
  const HelmholtzForm *form;
  const Grid          *grid;                  /* of the rows, with all diagonal neighbours */
  const PetscReal     *wave2;                 /* (k h)^2 at the points of the grid */
  PetscInt             vertex[CORNERS_MAX];   /* how far the vertices of a cell are from its lowest vertex */
  PetscInt             n, s[GRID_MAX_POINTS]; /* the neighbours in the pattern, */
  PetscInt             away[GRID_MAX_POINTS]; /* and how much further their rows are */
  int                  end[GRID_MAX_POINTS];  /* where the terms of an entry of a row end; a term: */
  int                  vertexof[TERMS_MAX];   /* which vertex of a cell the point of the row is, */
  int                  entryof[TERMS_MAX];    /* and the entry of the cell */
} Pattern;

/*
   The cells around a line (2-D) or a plane (3-D) of points are two slabs. The next line or plane needs one of these
   slabs again
*/
typedef struct {
  PetscInt line, slab, next;             /* cells in a line and in a slab; the slab to be made next */
  HelmholtzNumber (*entry)[CORNERS_MAX]; /* [2 slab] */
} Cells;

/* The blocks of a process: columns of own points, and all other columns */
typedef struct {
  PetscInt     nz, *n, *j; /* entries: all, per row; columns */
  PetscScalar *a;
} Block;

/* ------------------------------------------------------------ cells */

static inline void SetCell(const Pattern *pattern, const PetscInt low[3], int faces, HelmholtzCell *cell)
{
  const Grid      *grid  = pattern->grid;
  const PetscReal *wave2 = pattern->wave2 + GridGhosted(grid, low);
  PetscReal        mean  = 0.;

  for (PetscInt v = 0; v < grid->corners; v++) mean += wave2[pattern->vertex[v]];
  HelmholtzSetCell(pattern->form, mean / (PetscReal)grid->corners, low, faces, cell);
}

static PetscErrorCode CellsCreate(const Grid *grid, Cells *cells)
{
  PetscFunctionBegin;
  cells->line = grid->count[0] + 1;
  cells->slab = cells->line * (grid->dim == 3 ? grid->count[1] + 1 : 1);
  cells->next = PetscMax(0, grid->start[grid->dim - 1] - 1);
  PetscCall(PetscMalloc1(2 * cells->slab, &cells->entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of the cell with a given lowest vertex */
static inline PetscInt PlaceOfCell(const Cells *cells, const Grid *grid, const PetscInt low[3])
{
  const PetscInt in = low[0] - grid->start[0] + 1;

  if (grid->dim == 2) return (low[1] & 1) * cells->slab + in;
  return (low[2] & 1) * cells->slab + (low[1] - grid->start[1] + 1) * cells->line + in;
}

/* Makes the slabs around the points of a line or plane */
static void MakeSlabs(const Pattern *pattern, PetscInt at, Cells *cells)
{
  const Grid *grid     = pattern->grid;
  const int   last     = (int)grid->dim - 1;
  PetscInt    begin[2] = {0, 0}, end[2] = {1, 1};

  for (int d = 0; d < last; d++) {
    begin[d] = PetscMax(0, grid->start[d] - 1);
    end[d]   = PetscMin(grid->start[d] + grid->count[d], grid->n[d] - 1);
  }
  for (; cells->next <= at && cells->next < grid->n[last] - 1; cells->next++) {
    for (PetscInt j = begin[1]; j < end[1]; j++) {
      for (PetscInt i = begin[0]; i < end[0]; i++) {
        const PetscInt low[3] = {i, last == 1 ? cells->next : j, last == 1 ? 0 : cells->next};
        HelmholtzCell  cell;

        SetCell(pattern, low, 0, &cell);
        memcpy(cells->entry[PlaceOfCell(cells, grid, low)], cell.entry, sizeof(cell.entry));
      }
    }
  }
}

/* ------------------------------------------------------------ rows */

/* The row of a point on the boundary, whose cells have faces there */
static void SumFaces(const Pattern *pattern, const PetscInt at[3], HelmholtzNumber stencil[])
{
  for (int a = pattern->form->corners - 1; a >= 0; a--) {
    HelmholtzCell cell;
    PetscInt      low[3];

    if (!HelmholtzHasCell(pattern->form, a, at, low)) continue;
    SetCell(pattern, low, 1, &cell);
    HelmholtzAddCell(pattern->form, &cell, a, at, stencil);
  }
}

/* All other rows, whose entries are sums over the cells round the point */
static void SumCells(const Pattern *pattern, const Cells *cells, const PetscInt at[3], PetscScalar value[])
{
  const HelmholtzNumber *entry[CORNERS_MAX];

  for (int a = 0; a < pattern->grid->corners; a++) {
    const PetscInt low[3] = {at[0] - (a & 1), at[1] - (a >> 1 & 1), at[2] - (a >> 2)};

    entry[a] = cells->entry[PlaceOfCell(cells, pattern->grid, low)];
  }
  for (PetscInt k = 0, t = 0; k < pattern->n; k++) {
    HelmholtzNumber sum = HelmholtzMake(0., 0.);

    for (; t < pattern->end[k]; t++) {
      sum.re += entry[pattern->vertexof[t]][pattern->entryof[t]].re;
      sum.im += entry[pattern->vertexof[t]][pattern->entryof[t]].im;
    }
    value[k] = PetscCMPLX(sum.re, sum.im);
  }
}

/* The row of a point: a value for each neighbour in the pattern */
static void GetRow(const Pattern *pattern, const Cells *cells, PetscBool inside, const PetscInt at[3], PetscScalar value[])
{
  HelmholtzNumber stencil[GRID_MAX_POINTS];

  if (inside) SumCells(pattern, cells, at, value);
  else {
    for (PetscInt s = 0; s < pattern->grid->points; s++) stencil[s] = HelmholtzMake(0., 0.);
    SumFaces(pattern, at, stencil);
    for (PetscInt k = 0; k < pattern->n; k++) value[k] = PetscCMPLX(stencil[pattern->s[k]].re, stencil[pattern->s[k]].im);
  }
}

/* Whether all neighbours of a point are in a box */
static inline PetscBool IsWithin(PetscInt dim, const PetscInt at[3], const PetscInt start[3], const PetscInt count[3])
{
  for (PetscInt d = 0; d < dim; d++) {
    if (at[d] <= start[d] || at[d] >= start[d] + count[d] - 1) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static void SetPattern(HelmholtzStencil stencil, Pattern *pattern)
{
  const Grid *grid = pattern->grid;
  int         n    = 0;

  for (int v = 0; v < grid->corners; v++) pattern->vertex[v] = (v & 1) + grid->gcount[0] * ((v >> 1 & 1) + grid->gcount[1] * (v >> 2));
  pattern->n = 0;
  for (int s = 0; s < grid->points; s++) {
    const int off[3] = {s % 3 - 1, s / 3 % 3 - 1, grid->dim == 3 ? s / 9 - 1 : 0};

    if (stencil == HELMHOLTZ_STAR && PetscAbs(off[0]) + PetscAbs(off[1]) + PetscAbs(off[2]) > 1) continue;
    /* in the order in which HelmholtzAddCell() adds cells */
    for (int a = (int)grid->corners - 1; a >= 0; a--) {
      int x = 0;

      for (int d = 0; d < grid->dim && x >= 0; d++) {
        if (off[d] == (a >> d & 1 ? 1 : -1)) x = -1;
        else x |= (off[d] != 0) << d;
      }
      if (x < 0) continue;
      pattern->vertexof[n]  = a;
      pattern->entryof[n++] = x;
    }
    pattern->end[pattern->n]  = n;
    pattern->away[pattern->n] = off[0] + grid->count[0] * (off[1] + grid->count[1] * off[2]);
    pattern->s[pattern->n++]  = s;
  }
}

/* Whether another process owns a point */
static inline PetscBool IsFar(const Grid *grid, const PetscInt at[3])
{
  PetscBool far = PETSC_FALSE;

  for (PetscInt d = 0; d < grid->dim; d++) far = (PetscBool)(far || at[d] < grid->start[d] || at[d] >= grid->start[d] + grid->count[d]);
  return far;
}

static void CountEntries(const Pattern *pattern, Block block[2])
{
  const Grid *grid  = pattern->grid;
  PetscInt    at[3] = {grid->start[0], grid->start[1], grid->start[2]}, to[3];

  for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
    PetscInt n[2] = {0, 0};

    if (IsWithin(grid->dim, at, grid->start, grid->count)) n[0] = pattern->n;
    else {
      for (PetscInt k = 0; k < pattern->n; k++) {
        if (GridNeighbour(grid, at, pattern->s[k], to)) n[IsFar(grid, to)]++;
      }
    }
    for (int b = 0; b < 2; b++) {
      block[b].n[row] = n[b];
      block[b].nz += n[b];
    }
  }
}

/* A row with neighbours off the grid or on other processes */
static PetscErrorCode AddRow(const Pattern *pattern, const PetscInt at[3], const PetscScalar value[], Block block[2])
{
  const Grid    *grid  = pattern->grid;
  const PetscInt first = grid->global[GridGhosted(grid, grid->start)];
  PetscInt       begin = block[1].nz;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < pattern->n; k++) {
    PetscInt to[3], column;
    Block   *b;

    if (!GridNeighbour(grid, at, pattern->s[k], to)) continue;
    column        = grid->global[GridGhosted(grid, to)];
    b             = &block[IsFar(grid, to)];
    b->j[b->nz]   = b == block ? column - first : column;
    b->a[b->nz++] = value[k];
  }
  /* columns of other processes have no known order */
  if (block[1].nz > begin + 1) PetscCall(PetscSortIntWithScalarArray(block[1].nz - begin, block[1].j + begin, block[1].a + begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddRows(const Pattern *pattern, Block block[2])
{
  const Grid    *grid      = pattern->grid;
  const PetscInt corner[3] = {0, 0, 0};
  PetscInt       at[3]     = {grid->start[0], grid->start[1], grid->start[2]};
  Cells          cells;

  PetscFunctionBegin;
  PetscCall(CellsCreate(grid, &cells));
  for (int b = 0; b < 2; b++) block[b].nz = 0;
  for (PetscInt row = 0; row < grid->rows; row++, GridNext(grid, at)) {
    const PetscBool inside = IsWithin(grid->dim, at, corner, grid->n);

    MakeSlabs(pattern, at[grid->dim - 1], &cells);
    if (IsWithin(grid->dim, at, grid->start, grid->count)) {
      PetscInt *j = block[0].j + block[0].nz;

      GetRow(pattern, &cells, inside, at, block[0].a + block[0].nz);
      for (PetscInt k = 0; k < pattern->n; k++) j[k] = row + pattern->away[k];
      block[0].nz += pattern->n;
    } else {
      PetscScalar value[GRID_MAX_POINTS];

      GetRow(pattern, &cells, inside, at, value);
      PetscCall(AddRow(pattern, at, value, block));
    }
  }
  PetscCall(PetscFree(cells.entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the matrix */

/* (k h)^2 at the owned points and their neighbours, and the grid with diagonal neighbours */
static PetscErrorCode GetWaves(const Helmholtz *problem, const HelmholtzForm *form, Grid *grid, PetscReal **wave2)
{
  const PetscScalar *array;
  PetscInt           m;
  DM                 box;
  Vec                speed, waves;

  PetscFunctionBegin;
  PetscCall(GridCreate(problem->da, grid));
  PetscCall(GridCreateDM(grid, 1, &box));
  PetscCall(GridDestroy(grid));
  PetscCall(GridCreate(box, grid));
  PetscCall(DMCreateGlobalVector(box, &speed));
  PetscCall(VecCopy(problem->speed, speed));
  PetscCall(DMGetLocalVector(box, &waves));
  PetscCall(DMGlobalToLocal(box, speed, INSERT_VALUES, waves));
  PetscCall(VecDestroy(&speed));
  PetscCall(VecGetLocalSize(waves, &m));
  PetscCall(PetscMalloc1(m, wave2));
  PetscCall(VecGetArrayRead(waves, &array));
  for (PetscInt i = 0; i < m; i++) (*wave2)[i] = PetscSqr(form->omegah / PetscRealPart(array[i]));
  PetscCall(VecRestoreArrayRead(waves, &array));
  PetscCall(DMRestoreLocalVector(box, &waves));
  PetscCall(DMDestroy(&box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzMakeMatrixHost(const Helmholtz *problem, const HelmholtzForm *form, Mat A)
{
  Mat        inner[2] = {A, NULL};
  Block      block[2] = {{0}, {0}};
  PetscReal *wave2;
  PetscBool  parallel, is;
  MatType    type;
  Grid       grid;
  Pattern    pattern = {.form = form, .grid = &grid};

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &parallel));
  PetscCall(PetscStrbeginswith(type, MATSEQAIJ, &is));
  PetscCheck(is || parallel, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "-dm_mat_type %s: matrices here are of AIJ kind, aij, aijcusparse or vcrs for example", type);
  PetscCall(GetWaves(problem, form, &grid, &wave2));
  pattern.wave2 = wave2;
  SetPattern(problem->stencil, &pattern);
  PetscCheck((PetscInt64)grid.rows * pattern.n <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " nonzeros of a process do not fit into PetscInt: use more processes, or a PETSc with 64-bit indices",
             (PetscInt64)grid.rows * pattern.n);
  PetscCall(PetscMalloc2(grid.rows, &block[0].n, grid.rows, &block[1].n));
  CountEntries(&pattern, block);
  PetscCall(MatSetSizes(A, grid.rows, grid.rows, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSeqAIJSetPreallocation(A, 0, block[0].n));
  PetscCall(MatMPIAIJSetPreallocation(A, 0, block[0].n, 0, block[1].n));
  PetscCall(PetscFree2(block[0].n, block[1].n));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &inner[0], &inner[1], NULL));

  PetscCall(PetscMalloc2(block[0].nz, &block[0].j, block[1].nz, &block[1].j));
  for (int b = 0; b < 2 && inner[b]; b++) PetscCall(MatSeqAIJGetArrayWrite(inner[b], &block[b].a));
  PetscCall(AddRows(&pattern, block));
  for (int b = 0; b < 2 && inner[b]; b++) {
    PetscCall(MatSeqAIJRestoreArrayWrite(inner[b], &block[b].a));
    if (block[b].nz) PetscCall(MatSeqAIJSetColumnIndices(inner[b], block[b].j));
  }
  PetscCall(PetscFree2(block[0].j, block[1].j));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(wave2));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
