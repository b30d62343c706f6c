/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Parts of a grid of points on several processes: share.c */

#include <lithe/private/gridmg/parts.h>
#include "../boxes/boxes.h"
#include "stencil.h"

#define GRIDMG_AROUND 2 /* the least number of points of other processes on each side */

/* A part of the grid of a level */
typedef struct {
  PetscInt low[3], n[3];
} GridMGPart;

static inline PetscInt GridMGOwnCells(const GridMGStencilShare *s)
{
  return s->own[0] * s->own[1] * s->own[2];
}

static inline GridMGPart GridMGOwnBox(const GridMGStencilShare *s, PetscInt rank)
{
  GridMGPart box;

  (void)PCGridMGBoxIn(s->start, s->parts, rank, box.low, box.n);
  return box;
}

/* The larger box, which has points even if the process has none */
static inline GridMGPart GridMGLargeBox(const GridMGStencilShare *s, int dim, PetscInt rank)
{
  GridMGPart box = GridMGOwnBox(s, rank);

  for (int d = 0; d < dim; d++) {
    const PetscInt begin = box.low[d], last = begin + box.n[d] - 1 + GRIDMG_AROUND, end = last + (last & 1) + 1;

    box.low[d] = PetscMax(0, begin - begin % 2 - GRIDMG_AROUND);
    box.n[d]   = PetscMin(end, s->size[d]) - box.low[d];
  }
  for (int d = dim; d < 3; d++) {
    box.low[d] = 0;
    box.n[d]   = 1;
  }
  return box;
}

/* The whole grid */
static inline GridMGPart GridMGWholeBox(const GridMGStencilShare *s)
{
  GridMGPart box;

  for (int d = 0; d < 3; d++) {
    box.low[d] = 0;
    box.n[d]   = s->size[d];
  }
  return box;
}

/* The box of the arrays of a level */
static inline GridMGPart GridMGBoxOfLevel(const GridMGStencilLevel *l)
{
  GridMGPart box = GridMGWholeBox(&l->split);

  for (int d = 0; d < 3 && l->shared; d++) {
    box.low[d] = l->split.low[d];
    box.n[d]   = l->split.box.n[d];
  }
  return box;
}

/* The coarse points of the larger box of a level */
static inline GridMGPart GridMGNextBox(const GridMGStencilShare *s)
{
  GridMGPart box;

  for (int d = 0; d < 3; d++) {
    box.low[d] = s->low[d] / 2;
    box.n[d]   = s->next.n[d];
  }
  return box;
}

/* Where the point (i, j, k) of the grid is in an array on a part of the grid */
static inline PetscInt GridMGPlaceOn(const GridMGPart *part, PetscInt i, PetscInt j, PetscInt k)
{
  return i - part->low[0] + part->n[0] * (j - part->low[1] + part->n[1] * (k - part->low[2]));
}

/* Copies the points of a box between two arrays, `bytes` bytes per point */
static inline void GridMGCopyBox(const GridMGPart *box, const GridMGPart *from, const void *f, const GridMGPart *to, void *t, size_t bytes)
{
  for (PetscInt line = 0; line < box->n[1] * box->n[2]; line++) {
    const PetscInt j = box->low[1] + line % box->n[1], k = box->low[2] + line / box->n[1];
    const PetscInt a = GridMGPlaceOn(from, box->low[0], j, k), b = GridMGPlaceOn(to, box->low[0], j, k);

    memcpy((char *)t + (size_t)b * bytes, (const char *)f + (size_t)a * bytes, (size_t)box->n[0] * bytes);
  }
}

static inline PetscInt GridMGCellsOf(const GridMGPart *box)
{
  return box->n[0] * box->n[1] * box->n[2];
}

/* share.c */
PETSC_INTERN PetscErrorCode PCGridMGCopyPart_Private(const PC_GridMG *, size_t bytes, const GridMGPart *, const GridMGPart *from, const void *,
                                                     const GridMGPart *to, void *);
