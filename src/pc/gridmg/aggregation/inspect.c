/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What PCView(), -log_view and tests see of the levels of aggregation */

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../boxes/boxes.h"
#include <petscviewer.h>

/* ------------------------------------------------------------ view */

static const char *Directions(const int by[3])
{
  static const char *const names[] = {"none", "x", "y", "xy", "z", "xz", "yz", "xyz"};

  return names[(by[0] > 1) + 2 * (by[1] > 1) + 4 * (by[2] > 1)];
}

PetscErrorCode PCGridMGViewLevel_Private(const PC_GridMG *mg, PetscInt k, PetscViewer viewer)
{
  const GridMGLevel *l        = &mg->aggregation.level[k];
  const PetscBool    coarsest = (PetscBool)(k == mg->state.n - 1);
  GridMGGrid         grid = l->op.grid, *g = &grid;
  char               wells[64] = "", how[128], edges[96] = "", dead[96] = "";

  PetscFunctionBegin;
  if (l->shared) {
    PCGridMGWholeSize(mg, l->boxes, g->n);
    g->wells = mg->domain.team.wells;
    PetscCall(PetscSNPrintf(edges, sizeof(edges), ", a part on each process%s", mg->place.overlap ? ", with two layers of others" : ""));
  } else if (mg->domain.whole.first == k && k) PetscCall(PetscSNPrintf(edges, sizeof(edges), ", whole on each process, and all after it"));
  if (g->wells) PetscCall(PetscSNPrintf(wells, sizeof(wells), ", %" PetscInt_FMT " wells", g->wells));
  if (l->op.list.part[1] && !edges[0]) PetscCall(PetscSNPrintf(edges, sizeof(edges), ", %" PetscInt_FMT " cells with other edges", l->op.list.part[1]));
  if (coarsest) {
    PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse"));
    if (mg->coarsest.singular) PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse, %" PetscInt_FMT " parts without row sums", mg->coarsest.singular));
  } else {
    PetscCall(PetscSNPrintf(how, sizeof(how), "%d bits, bound %.3g, pairs along %s", l->op.bits, l->bound, Directions(l->by)));
    if (l->exact.survey.dead) PetscCall(PetscSNPrintf(dead, sizeof(dead), ", %" PetscInt_FMT " cells smoothed only", l->exact.survey.dead));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells%s, %s%s%s\n", k, g->n[0],
                                   g->n[1], g->n[2], wells, how, edges, dead));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ operations */

GridMGFlops PCGridMGLevelFlops_Private(const PC_GridMG *mg, PetscInt level)
{
  const GridMGLevel *l     = &mg->aggregation.level[level];
  const GridMGGrid  *g     = &l->op.grid;
  const double       cells = (double)g->cells, all = cells + (double)g->wells;
  GridMGFlops        f     = {.cells = all, .step = 3 * all, .transfer = 3 * all};
  double             faces = 0;

  for (int d = 0; d < 3; d++) faces += cells - cells / (double)PetscMax(g->n[d], 1);
  f.residual = 3 * (2 * faces + (double)l->nedges) + 3 * all;
  f.start    = 0.5 * (f.residual + f.step + all); /* the first colour starts from zero */
  return f;
}

/* ------------------------------------------------------------ matrices and arrays */

/*
   The operator of a level as the cycle uses it, with vertices as rows, in the units of the matrix. Residuals of unit
   vectors give the columns
*/
PetscErrorCode PCGridMGGetLevel_Private(PC_GridMG *mg, PetscInt k, Mat *A)
{
  GridMGLevel   *l      = &mg->aggregation.level[k];
  const PetscInt n      = l->op.grid.cells + l->op.grid.wells;
  const size_t   number = GridMGNumberBytes(mg->found.precision);
  char          *host;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 8, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscCalloc1((size_t)n * number, &host));
  for (PetscInt j = 0; j < n; j++) {
    for (int put = 1; put >= 0; put--) {
      if (mg->found.precision == GRIDMG_SINGLE) ((float *)(void *)host)[j] = put ? 1 : 0;
      else ((double *)(void *)host)[j] = put ? 1 : 0;
      if (!put) break;
      PetscCall((*mg->place.kernels->memory.put)((size_t)n * number, host, l->vector.x[0]));
      PetscCall((*mg->place.kernels->cycle.residual)(&l->op, NULL, l->vector.x[0], l->vector.x[1]));
      PetscCall((*mg->place.kernels->memory.get)((size_t)n * number, l->vector.x[1], host));
      for (PetscInt i = 0; i < n; i++) {
        const double v = mg->found.precision == GRIDMG_SINGLE ? (double)((float *)(void *)host)[i] : ((double *)(void *)host)[i];

        if (v != 0) PetscCall(MatSetValue(*A, i, j, (PetscScalar)(v / mg->found.factor), INSERT_VALUES));
      }
      PetscCall(PetscMemzero(host, (size_t)n * number));
    }
  }
  PetscCall(PetscFree(host));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From level k + 1 to level k */
PetscErrorCode PCGridMGGetAggregates_Private(PC_GridMG *mg, PetscInt k, Mat *P)
{
  GridMGLevel         *l    = &mg->aggregation.level[k];
  const GridMGGrid    *fine = &l->op.grid, *coarse = &mg->aggregation.level[k + 1].op.grid;
  const unsigned char *alive = l->op.alive;
  unsigned char       *host  = NULL;

  PetscFunctionBegin;
  if (alive) {
    PetscCall(PetscMalloc1(fine->cells, &host));
    PetscCall((*mg->place.kernels->memory.get)((size_t)fine->cells, alive, host));
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, fine->cells + fine->wells, coarse->cells + coarse->wells, 1, NULL, P));
  for (PetscInt i = 0; i < fine->cells + fine->wells; i++) {
    const PetscInt line = i / fine->n[0];
    PetscInt       to   = coarse->cells + i - fine->cells;

    if (i < fine->cells) to = i % fine->n[0] / l->by[0] + coarse->n[0] * (line % fine->n[1] / l->by[1] + coarse->n[1] * (line / fine->n[1] / l->by[2]));
    if (i >= fine->cells || !host || host[i]) PetscCall(MatSetValue(*P, i, to, 1., INSERT_VALUES));
  }
  PetscCall(PetscFree(host));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetLevelArray_Private(PC_GridMG *mg, PetscInt level, const char name[], size_t *bytes, void **array)
{
  const GridMGOperator *op     = &mg->aggregation.level[level].op;
  const GridMGList     *l      = &op->list;
  const size_t          number = GridMGNumberBytes(mg->found.precision), cells = (size_t)op->grid.cells, n = cells + (size_t)op->grid.wells,
               code  = cells * (size_t)op->bits / 8;
  const size_t edges = (size_t)mg->aggregation.level[level].nedges;
  const struct {
    const char *name;
    const void *array;
    size_t      bytes;
  } arrays[] = {
    {"up0", op->up[0], code},
    {"up1", op->up[1], code},
    {"up2", op->up[2], code},
    {"down0", op->down[0], code},
    {"down1", op->down[1], code},
    {"down2", op->down[2], code},
    {"table", op->table, 512 * number},
    {"sigma", op->sigma, n * number},
    {"dinv", op->dinv, n * number},
    {"alive", op->alive, cells},
    {"row", l->row, (size_t)l->n * sizeof(PetscInt)},
    {"i", l->i, ((size_t)l->n + 1) * sizeof(PetscInt)},
    {"j", l->j, edges * sizeof(PetscInt)},
    {"t", l->t, edges * number},
  };

  PetscFunctionBegin;
  *bytes = 0;
  *array = NULL;
  for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(arrays); a++) {
    PetscBool is;

    PetscCall(PetscStrcmp(name, arrays[a].name, &is));
    if (!is) continue;
    if (!arrays[a].array || !arrays[a].bytes) PetscFunctionReturn(PETSC_SUCCESS);
    *bytes = arrays[a].bytes;
    PetscCall(PetscMalloc1(*bytes, (char **)array));
    PetscCall((*mg->place.kernels->memory.get)(*bytes, arrays[a].array, *array));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "A level has no array \"%s\"", name);
}
