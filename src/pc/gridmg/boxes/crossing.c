/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The faces between overlapping boxes on the finest level: planes of numbers, per direction and side, in the order of
   cells. In the end, both processes of a face have the same number. All other edges between processes are refused.
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"
#include "../base/base.h"

/* Cells of a plane of a box */
PetscInt PCGridMGPlane_Private(const GridMGGrid *g, int d)
{
  return g->cells / g->n[d];
}

/* A cell of the first plane (side 0) or of the last plane (side 1) */
PetscInt PCGridMGPlaneCell_Private(const GridMGGrid *g, int d, int side, PetscInt place, PetscInt at[3])
{
  const int first = d == 0 ? 1 : 0, second = d == 2 ? 1 : 2;

  at[first]  = place % g->n[first];
  at[second] = place / g->n[first];
  at[d]      = side ? g->n[d] - 1 : 0;
  return at[0] + g->n[0] * (at[1] + g->n[1] * at[2]);
}

PetscErrorCode PCGridMGCrossingFree_Private(PC_GridMG *mg)
{
  GridMGCrossing *c = &mg->aggregation.crossing;

  PetscFunctionBegin;
  PetscCall(PetscFree(c->where));
  PetscCall(PetscFree(c->memory));
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HasNeighbour(const PC_GridMG *mg, int d, int side)
{
  return (PetscBool)(side ? mg->domain.team.place[d] < mg->domain.team.parts[d] - 1 : mg->domain.team.place[d] > 0);
}

/* Planes of zeros */
static PetscErrorCode Start_Private(PC_GridMG *mg)
{
  GridMGCrossing   *c       = &mg->aggregation.crossing;
  const GridMGGrid *g       = &mg->domain.team.own;
  PetscInt          numbers = 0, taken = 0;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) numbers += 4 * PCGridMGPlane_Private(g, d);
  if (!c->memory) PetscCall(PetscMalloc1(numbers, &c->memory));
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      c->mine[d][side]   = c->memory + taken;
      c->theirs[d][side] = c->memory + taken + PCGridMGPlane_Private(g, d);
      taken += 2 * PCGridMGPlane_Private(g, d);
      if (HasNeighbour(mg, d, side)) PetscCall(PetscArrayzero(c->mine[d][side], 2 * PCGridMGPlane_Private(g, d)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The face between the own cell at[] and the remote cell to[], both in the whole grid. Returns 2 d + side and the place
   in the plane, or -1 if the cells are no neighbours
*/
static int FaceTowards(const PC_GridMG *mg, const PetscInt at[3], const PetscInt to[3], PetscInt *place)
{
  const GridMGGrid *g     = &mg->domain.team.own;
  int               which = -1;

  if (to[0] < 0) return -1;
  for (int d = 0; d < 3; d++) {
    const PetscInt difference = to[d] - (mg->domain.share[0].start[d][mg->domain.team.place[d]] + at[d]);

    if (!difference) continue;
    if (which >= 0 || PetscAbsInt(difference) != 1) return -1;
    which = 2 * d + (difference > 0);
  }
  if (which >= 0) *place = which / 2 == 0 ? at[1] + g->n[1] * at[2] : at[0] + g->n[0] * (which / 2 == 1 ? at[2] : at[1]);
  return which;
}

/* ------------------------------------------------------------ a matrix on a device */

/*
   The face of an entry towards a remote cell; FALSE if the cells are no neighbours. Boxes are a tensor product: the
   cell across has the same place along both remaining directions
*/
static PetscBool FindFace(const PC_GridMG *mg, PetscInt row, PetscInt column, PetscInt where[2])
{
  const PetscInt    *parts = mg->domain.team.parts, stride[3] = {1, parts[0], parts[0] * parts[1]};
  const GridMGShare *s    = &mg->domain.share[0];
  const GridMGGrid  *g    = &mg->domain.team.own;
  const PetscInt     line = row / g->n[0], at[3] = {row % g->n[0], line % g->n[1], line / g->n[1]};

  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      const int first = d == 0 ? 1 : 0, second = d == 2 ? 1 : 2;
      PetscInt  n[3], to[3]                    = {at[0], at[1], at[2]}, other;

      if (at[d] != (side ? g->n[d] - 1 : 0) || !HasNeighbour(mg, d, side)) continue;
      other = mg->domain.team.rank + (side ? stride[d] : -stride[d]);
      (void)PCGridMGBoxCells_Private(mg, s, other, n);
      to[d] = side ? 0 : n[d] - 1;
      if (column != s->offset[other] + to[0] + n[0] * (to[1] + n[1] * to[2])) continue;
      where[0] = 2 * d + side;
      where[1] = at[first] + g->n[first] * at[second];
      return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

/* Assigns a face to each entry that leads to a remote cell, once per pattern. Any other entry excludes overlap */
PetscErrorCode PCGridMGCrossingFind_Private(PC pc)
{
  PC_GridMG           *mg = (PC_GridMG *)pc->data;
  GridMGCrossing      *c  = &mg->aggregation.crossing;
  const GridMGOutside *o  = &mg->source.outside;

  PetscFunctionBegin;
  PetscCall(PCGridMGCrossingFree_Private(mg));
  c->n = o->n;
  PetscCall(PetscMalloc1(2 * o->n, &c->where));
  for (PetscInt e = 0; e < o->n; e++) {
    c->where[2 * e] = -1;
    if (!FindFace(mg, o->row[e], o->column[e], &c->where[2 * e])) PCGridMGRefuse_Private(mg);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the faces, unscaled: entries towards remote cells, with the sign of a face */
PetscErrorCode PCGridMGCrossingRead_Private(PC pc)
{
  PC_GridMG           *mg = (PC_GridMG *)pc->data;
  GridMGCrossing      *c  = &mg->aggregation.crossing;
  const GridMGOutside *o  = &mg->source.outside;

  PetscFunctionBegin;
  PetscCall(Start_Private(mg));
  if (o->n != c->n) PCGridMGRefuse_Private(mg);
  for (PetscInt e = 0; e < c->n && o->n == c->n; e++) {
    const double v = (double)PetscRealPart(o->a[e]);

    if (PetscImaginaryPart(o->a[e]) != 0 || PetscIsInfOrNanReal((PetscReal)v) || c->where[2 * e] < 0) PCGridMGRefuse_Private(mg);
    else c->mine[c->where[2 * e] / 2][c->where[2 * e] % 2][c->where[2 * e + 1]] = -v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a matrix on the host */

/* The same from the list of the finest level, which must have nothing else, scaled */
PetscErrorCode PCGridMGCrossingFromList_Private(PC_GridMG *mg)
{
  const GridMGList  *list = &mg->aggregation.level[0].exact.faces.list;
  const GridMGShare *s    = &mg->domain.share[0];
  const GridMGGrid  *g    = &mg->domain.team.own;
  const double      *t    = (const double *)list->t;

  PetscFunctionBegin;
  PetscCall(Start_Private(mg));
  for (PetscInt r = 0; r < list->n; r++) {
    const PetscInt i = list->row[r], line = i / g->n[0], at[3] = {i % g->n[0], line % g->n[1], line / g->n[1]};

    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      const PetscInt ghost = list->j[e] - g->cells;
      PetscInt       place = 0;
      const int      which = i < g->cells && ghost >= 0 ? FaceTowards(mg, at, &s->at[3 * ghost], &place) : -1;

      if (which < 0) PCGridMGRefuse_Private(mg);
      else mg->aggregation.crossing.mine[which / 2][which % 2][place] = t[e];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ all processes */

/* Multiplies the own faces by a factor */
PetscErrorCode PCGridMGCrossingScale_Private(PC_GridMG *mg, double factor)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      for (PetscInt p = 0; HasNeighbour(mg, d, side) && p < PCGridMGPlane_Private(&mg->domain.team.own, d); p++)
        mg->aggregation.crossing.mine[d][side][p] *= factor;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Receives the faces of the neighbours. symmetric: both sides agree up to `same` times the larger number. All signs
   must be signs of faces
*/
PetscErrorCode PCGridMGCrossingExchange_Private(PC_GridMG *mg, PetscReal same, PetscBool *symmetric)
{
  const PetscInt *parts = mg->domain.team.parts, stride[3] = {1, parts[0], parts[0] * parts[1]};
  GridMGCrossing *c = &mg->aggregation.crossing;
  MPI_Request     request[12];
  PetscMPIInt     n = 0;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      PetscMPIInt other, numbers;

      if (!HasNeighbour(mg, d, side)) continue;
      PetscCall(PetscMPIIntCast(mg->domain.team.rank + (side ? stride[d] : -stride[d]), &other));
      PetscCall(PetscMPIIntCast(PCGridMGPlane_Private(&mg->domain.team.own, d), &numbers));
      /* the neighbour has the same face on the opposite side */
      /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MPI_Waitall() waits for all n */
      PetscCallMPI(MPI_Irecv(c->theirs[d][side], numbers, MPI_DOUBLE, other, 2 * d + side, mg->domain.team.comm, &request[n++]));
      /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) */
      PetscCallMPI(MPI_Isend(c->mine[d][side], numbers, MPI_DOUBLE, other, 2 * d + 1 - side, mg->domain.team.comm, &request[n++]));
    }
  }
  PetscCallMPI(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      for (PetscInt p = 0; HasNeighbour(mg, d, side) && p < PCGridMGPlane_Private(&mg->domain.team.own, d); p++) {
        const double a = c->mine[d][side][p], b = c->theirs[d][side][p];

        if (!(a >= 0 && b >= 0)) PCGridMGRefuse_Private(mg);
        if (!(fabs(a - b) <= (double)same * PetscMax(fabs(a), fabs(b)))) *symmetric = PETSC_FALSE;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
