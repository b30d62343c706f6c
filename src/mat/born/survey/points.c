/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Points between nodes: windowed sines, G. J. Hicks, Arbitrary source and receiver positioning in finite-difference
   schemes using Kaiser windowed sinc functions, Geophysics 67, 2002.
*/

#include <lithe/private/born/parts.h>

#define BORN_SINC_KAISER 6.31 /* of Hicks, for this radius and waves of at least four nodes */

typedef struct {
  PetscInt64 node;
  PetscInt   point;
  PetscReal  weight;
} BornEntry;

/* I_0, by the power series */
static double BornBessel(double x)
{
  double sum = 1, term = 1;

  for (int k = 1; k < 60; k++) {
    term *= x * x / (4. * k * k);
    sum += term;
  }
  return sum;
}

/* Kaiser's window of this shape, from -1 to 1 */
double BornKaiser_Private(double shape, double w)
{
  return w * w < 1 ? BornBessel(shape * sqrt(1 - w * w)) / BornBessel(shape) : 0;
}

/* A distance from a node, or out of the grid, counts as zero up to this number of node spacings: rounding, also of
   large coordinates */
static inline double BornSlack(PetscInt n)
{
  return 1e-6 + 64 * (double)PETSC_MACHINE_EPSILON * (double)n;
}

/* Weights of 2 BORN_SINC_RADIUS nodes from *low on along a dimension; a single weight if the point is on a node */
static int BornWeights(double x, PetscInt n, PetscInt *low, double weight[2 * BORN_SINC_RADIUS])
{
  const double nearest = floor(x + .5);

  if (fabs(x - nearest) <= BornSlack(n)) {
    *low      = (PetscInt)nearest;
    weight[0] = 1;
    return 1;
  }
  *low = (PetscInt)floor(x) - BORN_SINC_RADIUS + 1;
  for (int k = 0; k < 2 * BORN_SINC_RADIUS; k++) {
    const double t = x - (double)(*low + k), w = t / BORN_SINC_RADIUS;

    weight[k] = sin(PETSC_PI * t) / (PETSC_PI * t);
    weight[k] *= BornKaiser_Private(BORN_SINC_KAISER, w);
  }
  return 2 * BORN_SINC_RADIUS;
}

/* The planes of the last dimension for entries: the slab, with or without the halo. Nodes count from the first plane */
typedef struct {
  PetscInt from, to;
} BornPlanes;

/* The entries of a point. Entries beyond the grid are left out. Entries above a free surface are mirrored below with
   the opposite sign */
static void BornAddPoint(const BornGrid *g, const BornPlanes *planes, PetscInt point, const PetscInt low[3], const int count[3],
                         double weight[3][2 * BORN_SINC_RADIUS], BornEntry *entries, PetscInt *n)
{
  for (int c = 0; c < count[2]; c++) {
    for (int b = 0; b < count[1]; b++) {
      for (int a = 0; a < count[0]; a++) {
        PetscInt  i[3] = {low[0] + a, low[1] + b, low[2] + c}, *last = &i[g->dim - 1];
        double    w  = weight[0][a] * weight[1][b] * weight[2][c];
        PetscBool in = PETSC_TRUE;

        if (g->surface && *last < 0) {
          *last = -*last;
          w     = -w;
        }
        for (int d = 0; d < 3; d++) in = (PetscBool)(in && i[d] >= 0 && i[d] < BornWhole(g, d));
        if (!in || *last < planes->from || *last >= planes->to) continue;
        *last -= planes->from;
        entries[*n].node   = i[0] + (PetscInt64)g->n[0] * (g->dim == 2 ? i[1] : i[1] + (PetscInt64)g->n[1] * i[2]);
        entries[*n].point  = point;
        entries[*n].weight = (PetscReal)w;
        (*n)++;
      }
    }
  }
}

static int BornCompare(const void *x, const void *y)
{
  const BornEntry *a = (const BornEntry *)x, *b = (const BornEntry *)y;

  if (a->node != b->node) return a->node < b->node ? -1 : 1;
  return a->point < b->point ? -1 : a->point > b->point;
}

/* The entries point by point, in the given order */
static PetscErrorCode BornPointsStorePoints(const BornEntry *entries, PetscInt n, PetscInt points, BornPoints *p)
{
  PetscFunctionBegin;
  p->points  = points;
  p->entries = n;
  PetscCall(PetscCalloc3(points + 1, &p->first, n, &p->place, n, &p->weight));
  for (PetscInt e = 0; e < n; e++) {
    p->first[entries[e].point + 1] = e + 1;
    p->place[e]                    = entries[e].node;
    p->weight[e]                   = entries[e].weight;
  }
  for (PetscInt a = 0; a < points; a++) p->first[a + 1] = PetscMax(p->first[a + 1], p->first[a]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* And node by node */
static PetscErrorCode BornPointsStoreNodes(BornEntry *entries, PetscInt n, BornPoints *p)
{
  PetscFunctionBegin;
  qsort(entries, (size_t)n, sizeof(BornEntry), BornCompare);
  PetscCall(PetscMalloc4(n + 1, &p->nodefirst, n, &p->node, n, &p->point, n, &p->nodeweight));
  p->nodes = 0;
  for (PetscInt e = 0; e < n; e++) {
    if (!e || entries[e].node != entries[e - 1].node) {
      p->node[p->nodes]      = entries[e].node;
      p->nodefirst[p->nodes] = e;
      p->nodes++;
    }
    p->point[e]      = entries[e].point;
    p->nodeweight[e] = entries[e].weight;
  }
  p->nodefirst[p->nodes] = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The place of a coordinate, in node spacings from the first node */
static inline double BornPlaceOf(PetscReal x, PetscReal origin, PetscReal h)
{
  return ((double)x - (double)origin) / (double)h;
}

/* Points with coordinates of dim numbers each. The name and the shot are for messages */
static PetscErrorCode BornPointsCreate(MPI_Comm comm, const BornGrids *grids, MatBornInterpolation interpolation, const char what[], PetscInt shot,
                                       PetscInt points, const PetscReal x[], BornPoints *p)
{
  const BornGrid  *g      = &grids->one;
  const PetscReal *origin = grids->origin, *h = grids->h;
  const PetscInt   most   = 2 * BORN_SINC_RADIUS;
  const int        last   = g->dim - 1;
  PetscInt         low[3] = {0, 0, 0}, n = 0, all;
  int              count[3] = {1, 1, 1};
  double           weight[3][2 * BORN_SINC_RADIUS];
  BornEntry       *entries;

  PetscFunctionBegin;
  PetscCall(PetscIntMultError(points, g->dim == 2 ? most * most : most * most * most, &all));
  for (PetscInt a = 0; a < points; a++) {
    for (int d = 0; d < g->dim; d++) {
      const PetscReal c     = x[g->dim * a + d];
      const double    place = BornPlaceOf(c, origin[d], h[d]), slack = BornSlack(BornWhole(g, d));

      PetscCheck(place >= -slack && place <= (double)(BornWhole(g, d) - 1) + slack, comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "%s %" PetscInt_FMT " of shot %" PetscInt_FMT " is outside of the grid: coordinate %d is %g, not between %g and %g", what, a, shot, d,
                 (double)c, (double)origin[d], (double)(origin[d] + h[d] * (PetscReal)(BornWhole(g, d) - 1)));
      PetscCheck(interpolation == MATBORN_INTERPOLATION_SINC || BornWeights(place, BornWhole(g, d), &low[d], weight[d]) == 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "%s %" PetscInt_FMT " of shot %" PetscInt_FMT " is between nodes: coordinate %d is %g; use -mat_born_interpolation sinc", what, a, shot, d,
                 (double)c);
    }
  }
  PetscCall(PetscMalloc1(all, &entries));
  weight[2][0] = 1;
  p->most      = 0;
  p->below     = g->planes > g->n[last] ? g->halo : 0;
  for (int nodes = 0; nodes < 2; nodes++) {
    const BornPlanes planes = {nodes ? g->start : g->start - p->below, g->start + g->n[last] + (nodes ? 0 : p->below)};

    n = 0;
    for (PetscInt a = 0; a < points; a++) {
      PetscInt home;

      for (int d = 0; d < g->dim; d++) count[d] = BornWeights(BornPlaceOf(x[g->dim * a + d], origin[d], h[d]), BornWhole(g, d), &low[d], weight[d]);
      p->most = PetscMax(p->most, (PetscInt)(count[0] * count[1] * count[2]));
      /* a point belongs to the slab of the node below; the halo of the slab reaches the remaining nodes */
      home = PetscMin(g->planes - 1, PetscMax(0, low[last] + (count[last] > 1 ? BORN_SINC_RADIUS - 1 : 0)));
      if (!nodes && (home < g->start || home >= g->start + g->n[last])) continue;
      BornAddPoint(g, &planes, a, low, count, weight, entries, &n);
    }
    if (nodes) PetscCall(BornPointsStoreNodes(entries, n, p));
    else PetscCall(BornPointsStorePoints(entries, n, points, p));
  }
  PetscCall(PetscFree(entries));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of the shots of a stack, of which each has the given number of nodes */
PetscErrorCode BornPointsJoin_Private(PetscInt n, const BornPoints *const p[], PetscInt64 nodes, BornPoints *all)
{
  PetscInt points = 0, entries = 0, places = 0, first = 0;

  PetscFunctionBegin;
  *all = (BornPoints){.below = 0};
  for (PetscInt m = 0; m < n; m++) {
    all->most = PetscMax(all->most, p[m]->most);
    PetscCall(PetscIntSumError(points, p[m]->points, &points));
    PetscCall(PetscIntSumError(entries, p[m]->entries, &entries));
    PetscCall(PetscIntSumError(places, p[m]->nodes, &places));
  }
  PetscCall(PetscMalloc3(points + 1, &all->first, entries, &all->place, entries, &all->weight));
  PetscCall(PetscMalloc4(places + 1, &all->nodefirst, places, &all->node, entries, &all->point, entries, &all->nodeweight));
  for (PetscInt m = 0; m < n; m++) {
    for (PetscInt a = 0; a < p[m]->points; a++) all->first[all->points + a] = first + p[m]->first[a];
    for (PetscInt a = 0; a < p[m]->nodes; a++) {
      all->nodefirst[all->nodes + a] = first + p[m]->nodefirst[a];
      all->node[all->nodes + a]      = p[m]->node[a] + m * nodes;
    }
    for (PetscInt e = 0; e < p[m]->entries; e++) {
      all->place[first + e]      = p[m]->place[e] + m * nodes;
      all->weight[first + e]     = p[m]->weight[e];
      all->point[first + e]      = p[m]->point[e] + all->points;
      all->nodeweight[first + e] = p[m]->nodeweight[e];
    }
    all->points += p[m]->points;
    all->nodes += p[m]->nodes;
    first += p[m]->entries;
  }
  all->entries = all->first[all->points] = all->nodefirst[all->nodes] = first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornPointsDestroy_Private(BornPoints *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(p->first, p->place, p->weight));
  PetscCall(PetscFree4(p->nodefirst, p->node, p->point, p->nodeweight));
  p->points = p->nodes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the places of all shots */

PetscErrorCode BornPlacesCreate_Private(MPI_Comm comm, const BornGrids *grids, const BornSurvey *survey, MatBornInterpolation interpolation, BornPlaces *places)
{
  PetscFunctionBegin;
  places->n = survey->nshots;
  PetscCall(PetscCalloc2(places->n, &places->at, places->n, &places->to));
  for (PetscInt s = 0; s < places->n; s++) {
    const BornShot *shot = &survey->shots[s];

    PetscCall(BornPointsCreate(comm, grids, interpolation, "Source", s, 1, shot->place, &places->at[s]));
    PetscCall(BornPointsCreate(comm, grids, interpolation, "Receiver", s, shot->nreceivers, shot->receivers, &places->to[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornPlacesDestroy_Private(BornPlaces *places)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < places->n; s++) {
    PetscCall(BornPointsDestroy_Private(&places->at[s]));
    PetscCall(BornPointsDestroy_Private(&places->to[s]));
  }
  PetscCall(PetscFree2(places->at, places->to));
  places->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
