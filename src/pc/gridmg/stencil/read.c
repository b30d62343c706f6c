/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Reads the rows of a matrix on the host as stencils of points.

   Most rows have all neighbours among the own points. The columns of such a row are at known distances from the row.
   Other rows are read entry by entry, as are all rows of a matrix without arrays.
*/

#include <lithe/private/gridmg/parts.h>
#include "../base/base.h"
#include "../boxes/boxes.h"
#include "stencil.h"
#include "gridmgparts.h"
#include "gridmgstencilhost.h"
#include <float.h>

/* Where an entry off the grid was found */
typedef struct {
  PetscInt row, column;
} OffGrid;

typedef struct {
  PC                  pc;
  const GridMGPoints *g;
  GridMGPart          own, box; /* the own points, and the points of the array */
  PetscInt            begin, all[3];
  GridMGNeighbours    near; /* distances of columns */
  GridMGHostRows      rows;
  double             *a, most;
  OffGrid             off; /* the first; row -1: none */
} Reader;

/* ------------------------------------------------------------ entries */

/* Where the point of a column is */
static void PlaceOf(const Reader *r, PetscInt column, PetscInt to[3])
{
  const PC_GridMG *mg = (const PC_GridMG *)r->pc->data;
  const PetscInt  *n = r->own.n, c = column - r->begin;

  if (c >= 0 && c < n[0] * n[1] * n[2]) {
    to[0] = r->own.low[0] + c % n[0];
    to[1] = r->own.low[1] + c / n[0] % n[1];
    to[2] = r->own.low[2] + c / n[0] / n[1];
  } else {
    PetscInt at[3];
    int      k = 0;

    (void)PCGridMGWhere_Private(mg, &mg->domain.share[0], column, at);
    to[0] = to[1] = to[2] = 0;
    for (int d = 0; d < 3; d++) {
      if (r->all[d] > 1) to[k++] = at[d];
    }
  }
}

/* Puts entry (row, column) into the stencil of the point at[] */
static PetscErrorCode TakeEntry_Private(Reader *r, PetscInt row, PetscInt column, PetscScalar value, const PetscInt at[3], double stencil[])
{
  const double part[2] = {(double)PetscRealPart(value), (double)PetscImaginaryPart(value)};
  PetscInt     to[3];
  int          s = r->g->centre;

  PetscFunctionBegin;
  if (value == (PetscScalar)0. || r->off.row >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PlaceOf(r, column, to);
  for (int d = 0; d < 3; d++) {
    if (PetscAbsInt(to[d] - at[d]) > 1) r->off = (OffGrid){row, column};
    s += (int)(to[d] - at[d]) * GridMGThree(d);
  }
  if (r->off.row >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscIsInfOrNanReal((PetscReal)part[0]) || PetscIsInfOrNanReal((PetscReal)part[1])) {
    if (!r->pc->failedreason) PetscCall(PCGridMGFail_Private(r->pc, "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") of the matrix is no number", row, column));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int p = 0; p < GRIDMG_PARTS; p++) {
    stencil[s * GRIDMG_PARTS + p] = part[p];
    r->most                       = PetscMax(r->most, fabs(part[p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a row entry by entry */
static PetscErrorCode TakeRow_Private(Reader *r, PetscInt c, const PetscInt at[3], double stencil[])
{
  const GridMGHostRows *rows = &r->rows;
  const PetscInt        row  = r->begin + c, *column;
  const PetscScalar    *value;
  PetscInt              n;

  PetscFunctionBegin;
  if (rows->arrays) {
    for (int b = 0; b < 2 && rows->i[b]; b++) {
      for (PetscInt e = rows->i[b][c]; e < rows->i[b][c + 1]; e++)
        PetscCall(TakeEntry_Private(r, row, b ? rows->global[rows->j[1][e]] : r->begin + rows->j[0][e], rows->a[b][e], at, stencil));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRow(rows->A, row, &n, &column, &value));
  for (PetscInt e = 0; e < n; e++) PetscCall(TakeEntry_Private(r, row, column[e], value[e], at, stencil));
  PetscCall(MatRestoreRow(rows->A, row, &n, &column, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the parts of n values. most[4]: the largest moduli, in no order. Returns whether all are finite */
static inline PetscBool CopyParts(PetscInt n, const PetscScalar value[], double part[], double most[4])
{
  const PetscReal *from    = (const PetscReal *)value;
  double           mine[4] = {most[0], most[1], most[2], most[3]};
  int              finite  = 1;
  PetscInt         k       = 0;

  n *= GRIDMG_PARTS;
  for (; k + 4 <= n; k += 4) {
    LITHE_UNROLL
    for (int q = 0; q < 4; q++) {
      const double v = fabs((double)from[k + q]);

      part[k + q] = (double)from[k + q];
      finite &= v <= DBL_MAX;
      mine[q] = v > mine[q] ? v : mine[q];
    }
  }
  for (; k < n; k++) {
    const double v = fabs((double)from[k]);

    part[k] = (double)from[k];
    finite &= v <= DBL_MAX;
    mine[0] = v > mine[0] ? v : mine[0];
  }
  for (int q = 0; q < 4; q++) most[q] = mine[q];
  return (PetscBool)finite;
}

/* Reads a row whose columns are all at distances of neighbours. Returns whether the row has been read */
static inline PetscBool TakeInnerRow(const Reader *r, PetscInt c, double stencil[], double most[4])
{
  const GridMGHostRows *rows  = &r->rows;
  const PetscInt        begin = rows->i[0][c], n = rows->i[0][c + 1] - begin, *j = rows->j[0] + begin;
  const PetscScalar    *a   = rows->a[0] + begin;
  PetscInt              off = 0;

  if (rows->i[1] && rows->i[1][c + 1] > rows->i[1][c]) return PETSC_FALSE;
  if (n == r->g->points) {
    for (PetscInt e = 0; e < n; e++) off |= (j[e] - c) ^ r->near.away[e];
    if (!off) return CopyParts(n, a, stencil, most);
  }
  for (PetscInt e = 0, s = 0; e < n; e++, s++) {
    while (s < r->g->points && r->near.away[s] < j[e] - c) s++;
    if (s == r->g->points || r->near.away[s] != j[e] - c) return PETSC_FALSE;
    if (!CopyParts(1, a + e, stencil + s * GRIDMG_PARTS, most)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscErrorCode TakeRows_Private(Reader *r)
{
  const GridMGPoints *g      = r->g;
  const PetscInt     *n      = r->own.n;
  const GridMGPoints  own    = {.dim = g->dim, .points = g->points, .n = {n[0], n[1], n[2]}};
  const PetscBool     shared = PCGridMGIsParallel((PC_GridMG *)r->pc->data);

  PetscFunctionBegin;
  GridMGSetNeighbours(&own, &r->near);
  for (PetscInt k = 0, c = 0; k < n[2]; k++) {
    for (PetscInt j = 0; j < n[1]; j++) {
      const PetscInt  first = GridMGPlaceOn(&r->box, r->own.low[0], r->own.low[1] + j, r->own.low[2] + k);
      const PetscBool inner = (PetscBool)(r->rows.arrays && GridMGIsInner(&own, j, k));

      for (PetscInt x = 0; x < n[0]; x++, c++) {
        const PetscInt at[3]   = {r->own.low[0] + x, r->own.low[1] + j, r->own.low[2] + k};
        double        *stencil = r->a + (first + x) * g->points * GRIDMG_PARTS, most[4] = {r->most, 0, 0, 0};

        if (inner && x > 0 && x < n[0] - 1 && r->off.row < 0 && TakeInnerRow(r, c, stencil, most)) {
          r->most = PetscMax(PetscMax(most[0], most[1]), PetscMax(most[2], most[3]));
          continue;
        }
        PetscCall(TakeRow_Private(r, c, at, stencil));
        if (!shared && (r->pc->failedreason || r->off.row >= 0)) PetscFunctionReturn(PETSC_SUCCESS);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Reads the rows of a single process. Several processes read own rows, and receive remote rows of the larger box.

   a: [cells][points] of the level, zeroed. most: the largest part of an entry. Each process raises the same error
*/
PetscErrorCode PCGridMGReadHost_Private(PC pc, GridMGStencilLevel *l, const GridMGPoints *g, double *a, double *most)
{
  PC_GridMG      *mg     = (PC_GridMG *)pc->data;
  const PetscBool shared = PCGridMGIsParallel(mg);
  Reader          r      = {.pc = pc, .g = g, .off = {-1, -1}};
  PetscBool       any;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  r.a = a;
  if (shared) {
    PCGridMGWholeSize(mg, &mg->domain.share[0], r.all);
    r.own   = GridMGOwnBox(&l->split, mg->domain.team.rank);
    r.box   = GridMGBoxOfLevel(l);
    r.begin = mg->domain.team.begin;
  } else {
    for (int d = 0; d < 3; d++) r.all[d] = r.own.n[d] = g->n[d];
    r.box = r.own;
  }
  PetscCall(PCGridMGHostRowsGet_Private(mg->source.matrix, shared, &r.rows));
  ierr = TakeRows_Private(&r);
  PetscCall(PCGridMGHostRowsRestore_Private(&r.rows));
  PetscCall(ierr);
  PetscCall(PCGridMGFirst_Private(mg, (PetscBool)(r.off.row >= 0), 2, MPIU_INT, &r.off, &any));
  PetscCheck(!any, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_gridmg_interpolation zeeuw: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT
             ", which is none of 9 or 27 points on the grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT,
             r.off.row, r.off.column, r.all[0], r.all[1], r.all[2]);
  PetscCall(PCGridMGAgree_Private(pc));
  PetscCallMPI(MPIU_Allreduce(&r.most, most, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  if (shared && !pc->failedreason) PetscCall(PCGridMGExchangeEntries_Private(mg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}
