/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The edges between the own box and other boxes, sorted by kind: faces, with a direction in the whole grid, and all
   other edges
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"

#define GRIDMG_KINDS 7 /* of edges between boxes. 2 d: face in direction d, downwards; 2 d + 1: upwards; 6: any other edge */

static int KindOf(const PC_GridMG *mg, const GridMGLevel *l, PetscInt i, PetscInt ghost)
{
  const GridMGGrid  *g    = &l->exact.faces.grid;
  const GridMGShare *s    = l->boxes;
  const PetscInt    *to   = &s->at[3 * ghost];
  const PetscInt     line = i / g->n[0], in[3] = {i % g->n[0], line % g->n[1], line / g->n[1]};
  int                kind = GRIDMG_KINDS - 1, away = 0;

  if (i >= g->cells || to[0] < 0) return kind;
  for (int d = 0; d < 3; d++) {
    const PetscInt difference = to[d] - (s->start[d][mg->domain.team.place[d]] + in[d]);

    if (!difference) continue;
    away += PetscAbsInt(difference) == 1 ? 1 : 2;
    kind = 2 * d + (difference > 0);
  }
  return away == 1 ? kind : GRIDMG_KINDS - 1;
}

/* Faces towards ghosts, in the order of cells */
PetscErrorCode PCGridMGBorderFill_Private(PC_GridMG *mg, GridMGLevel *l)
{
  GridMGShare      *s    = l->boxes;
  const GridMGList *list = &l->exact.faces.list;
  const PetscInt    n = list->part[1], first = l->exact.faces.grid.cells + l->exact.faces.grid.wells;
  const double     *t   = (const double *)list->t;
  PetscInt          red = 0, black = list->part[0];

  PetscFunctionBegin;
  if (s->bordering.max < n) {
    PetscCall(PetscFree2(s->bordering.faces.cell, s->bordering.faces.t));
    PetscCall(PetscMalloc2(n, &s->bordering.faces.cell, 3 * n, &s->bordering.faces.t));
    s->bordering.max = n;
  }
  s->bordering.faces.n = 0;
  while (red < list->part[0] || black < n) {
    const PetscInt r = black == n || (red < list->part[0] && list->row[red] < list->row[black]) ? red++ : black++, i = list->row[r];
    double        *to    = &s->bordering.faces.t[3 * s->bordering.faces.n];
    PetscBool      faces = PETSC_FALSE;

    to[0] = to[1] = to[2] = 0;
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      const int kind = list->j[e] < first ? GRIDMG_KINDS - 1 : KindOf(mg, l, i, list->j[e] - first);

      if (kind == GRIDMG_KINDS - 1 || !(t[e] > 0)) continue;
      to[kind / 2] += t[e];
      faces = PETSC_TRUE;
    }
    if (faces) s->bordering.faces.cell[s->bordering.faces.n++] = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A weight between 1 and 2, different for each vertex and the same on all processes */
static double WeightOf(PetscInt number)
{
  const double v = sin((double)number + 1) * 43758.5453;

  return 1 + v - floor(v);
}

/*
   Whether both processes of each edge have the same number. A vertex has at most one face of each kind: the sum of all
   received numbers is the number of one face. All other edges of a vertex are compared by a weighted sum.
*/
PetscErrorCode PCGridMGBorderIsSymmetric_Private(PC_GridMG *mg, GridMGLevel *l, PetscReal same, PetscBool *symmetric)
{
  const GridMGShare *s    = l->boxes;
  const GridMGList  *list = &l->exact.faces.list;
  const PetscInt     n    = l->exact.faces.grid.cells + l->exact.faces.grid.wells;
  const double      *t    = (const double *)list->t;
  double            *from, *mine, *theirs;
  PetscMPIInt        is = 1, all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(s->ghosts, &from, n, &mine, n, &theirs));
  for (int kind = 0; kind < GRIDMG_KINDS; kind++) {
    const PetscBool weights  = (PetscBool)(kind == GRIDMG_KINDS - 1);
    const int       opposite = weights ? kind : (kind ^ 1);

    PetscCall(PetscArrayzero(from, s->ghosts));
    PetscCall(PetscArrayzero(mine, n));
    PetscCall(PetscArrayzero(theirs, n));
    for (PetscInt r = 0; r < list->n; r++) {
      for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
        const PetscInt g = list->j[e] - n, i = list->row[r];

        if (g < 0) continue;
        if (KindOf(mg, l, i, g) == kind) from[g] += weights ? t[e] * WeightOf(s->offset[mg->domain.team.rank] + i) : t[e];
        if (KindOf(mg, l, i, g) == opposite) mine[i] += weights ? t[e] * WeightOf(s->ghost[g]) : t[e];
      }
    }
    PetscCall(PetscSFReduceBegin(s->sf, MPI_DOUBLE, from, theirs, MPI_SUM));
    PetscCall(PetscSFReduceEnd(s->sf, MPI_DOUBLE, from, theirs, MPI_SUM));
    for (PetscInt i = 0; i < n; i++) {
      if (!(fabs(mine[i] - theirs[i]) <= (double)same * PetscMax(fabs(mine[i]), fabs(theirs[i])))) is = 0;
    }
  }
  PetscCall(PetscFree3(from, mine, theirs));
  if (!*symmetric) is = 0;
  PetscCallMPI(MPIU_Allreduce(&is, &all, 1, MPI_INT, MPI_MIN, mg->domain.team.comm));
  *symmetric = (PetscBool)(all != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
