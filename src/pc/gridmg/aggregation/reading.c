/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The entries of a row as faces and edges, and checks of the finest level, for rows of the host and of a device */

#include "reading.h"
#include "../base/base.h"
#include "../boxes/boxes.h"

#define GRIDMG_WRONG 20 /* number of faces per permitted entry of the wrong sign */

/* Sorts the entries of one row into faces and edges, and sums the row */
PetscErrorCode PCGridMGReadRow_Private(PC pc, PetscInt row, PetscInt n, const PetscInt column[], const PetscScalar value[], GridMGRowCounts *reading,
                                       double *sum)
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
    const PetscInt j = PCGridMGIsParallel(mg) ? PCGridMGVertexOfRow_Private(mg, column[e]) : GridMGVertexOf(grid, &mg->domain.team.rows, column[e]);
    int            d = -1;

    if (PetscDefined(USE_COMPLEX) && PetscImaginaryPart(value[e]) != 0) {
      PetscCheck(PCGridMGIsParallel(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, GRIDMG_NOT_REAL, row, column[e]);
      reading->unreal      = PETSC_TRUE;
      reading->unrealat[0] = row;
      reading->unrealat[1] = column[e];
    }
    if (!isfinite(a)) {
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

void PCGridMGSetFactor_Private(PC_GridMG *mg, PetscInt cells, const GridMGRowCounts *reading)
{
  PCGridMGFoundFactor_Private(mg, reading->most, (PetscBool)(2 * reading->negative > cells));
}

PetscErrorCode PCGridMGCheckSigns_Private(PC pc, const GridMGRowCounts *reading)
{
  PetscFunctionBegin;
  PetscCheck(reading->wrong <= reading->faces / GRIDMG_WRONG, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT ") has the sign of the diagonal, as have %" PetscInt_FMT " faces among %" PetscInt_FMT
             " entries: aggregation is for M-matrices. Use another preconditioner",
             reading->wrongrow, reading->wrongcolumn, reading->wrong, reading->faces);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the finest level */
PetscErrorCode PCGridMGStartFaces_Private(PC_GridMG *mg)
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

PetscErrorCode PCGridMGSetSymmetry_Private(PC_GridMG *mg, GridMGLevel *l, PetscBool symmetric)
{
  PetscFunctionBegin;
  PCGridMGFoundSymmetry_Private(mg, symmetric);
  PetscCall(PCGridMGExactSetSymmetry_Private(mg, l, symmetric));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Single precision, if the numbers are within range. face: the smallest face, or 0; least: the smallest diagonal entry
*/
void PCGridMGSetPrecision_Private(PC_GridMG *mg, double face, double least)
{
  PCGridMGFoundPrecision_Private(mg, (PetscBool)((face > 0 ? PetscMin(least, face) : least) < 1e-25));
}

/* Whether the list has the edge (j, i) with the same number for each (i, j) */
PetscBool PCGridMGListIsSymmetric_Private(const GridMGGrid *grid, const GridMGList *list)
{
  const double *t = (const double *)list->t;

  for (PetscInt r = 0; r < list->n; r++) {
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      const PetscInt s     = PCGridMGListFind_Private(grid, list, list->j[e]);
      PetscBool      found = PETSC_FALSE;

      if (list->j[e] >= grid->cells + grid->wells) continue; /* of another process */
      if (s < 0) return PETSC_FALSE;
      for (PetscInt other = list->i[s]; other < list->i[s + 1] && !found; other++)
        found = (PetscBool)(list->j[other] == list->row[r] && GridMGIsSame(t[e], t[other]));
      if (!found) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

PetscErrorCode PCGridMGFailRow_Private(PC pc, PetscInt vertex, double diagonal)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGridMGFail_Private(pc, "row %" PetscInt_FMT " has the diagonal entry %g and other entries: aggregation is for M-matrices",
                                 mg->domain.team.begin + GridMGRowOf(&mg->domain.team.own, &mg->domain.team.rows, vertex), diagonal / mg->found.factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
