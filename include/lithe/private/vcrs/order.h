/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The order in which a device takes the rows of a triangle T for x = b + T x: plain data, made by
   src/vcrs/order/order.c, read by cuda/vcrs/tri. T is strictly lower or strictly upper. An upper T is described by
   positions n - 1 - row, in which it is lower, too.

   Levels. The level of a row is one more than the largest level of the rows that it needs. row[] lists rows level by
   level. Task t, for one warp, has rows row[task[t]] .. row[task[t+1]-1], at most 32 of one level. A row longer than
   VCRS_ORDER_WIDE entries has a task of its own.

   Grids. The position of a row is i + line (j + lines k), with small differences in i, j and k to the needed rows.
   With a = j + skew k, a row needs nothing beyond i:

     di + slant dj' + rise dk <= -1 for each entry, where dj' = dj + skew dk <= 0, dk <= 0.

   A warp may therefore take the 32 lines of a tile in a and k, and go along all lines at the same time. Thread (a, k)
   is at i = step - slant a - rise k (both counted in the tile). Needed entries of the same tile have been computed in
   earlier steps. Needed entries of other tiles are in preceding tiles, in a, in k or in both. All tiles together form a
   wave.
*/

#include <petscsys.h>
#include <lithe/private/hostdevice.h>

#define VCRS_ORDER_WIDE    48 /* entries: longer rows are summed by a warp */
#define VCRS_ORDER_LONGEST 20 /* largest number of entries per row of a grid */
#define VCRS_ORDER_HALO    32 /* largest number of lines of other tiles that a tile reads */
#define VCRS_ORDER_LAG     12 /* largest number of steps between an entry and its use */

typedef struct {
  PetscInt line, lines, planes; /* rows per line, lines per plane, planes: their product is n */
  int      skew, slant, rise;
  int      width, height; /* of a tile, in a and k; width height = 32 */
  int      before, below; /* how far an entry may reach: -dj', -dk */
  int      lag;           /* largest number of steps between the computation of an entry and its use */
  int      nhalo;         /* lines of other tiles that a tile reads, relative to its first line: */
  int8_t   haloa[VCRS_ORDER_HALO], halok[VCRS_ORDER_HALO];
  PetscInt across, up; /* tiles in a and k */
} VCRSOrderGrid;

typedef struct {
  PetscInt      n;
  PetscInt64    nz;
  PetscBool     upper;
  PetscBool     grid;
  PetscInt      longest; /* entries of a row */
  PetscInt      nlevels; /* of grids: steps until the last row */
  PetscInt      nwaves;  /* of grids: length of the longest chain of waiting tiles */
  PetscInt      ntasks;
  PetscInt     *row;  /* [n], NULL of grids */
  PetscInt     *task; /* [ntasks+1]; of grids [ntasks]: tile (a, k) is a + across k, in an order in which needed tiles
  come first */
  VCRSOrderGrid g;
} VCRSOrder;

/* The difference of positions (needed row minus needing row) as a difference in the grid; for small differences only */
LITHE_HD static inline void VCRSOrderSplit(const VCRSOrderGrid *g, PetscInt difference, PetscInt *di, PetscInt *dj, PetscInt *dk)
{
  const PetscInt plane = g->line * g->lines;

  /* to the nearest multiple; difference <= 0 */
  *dk = -((plane / 2 - difference) / plane);
  difference -= *dk * plane;
  *dj = difference > 0 ? (difference + g->line / 2) / g->line : -((g->line / 2 - difference) / g->line);
  *di = difference - *dj * g->line;
}

/* Largest number of different differences between a row and its needed rows in a grid */
#define VCRS_ORDER_DIFFERENCES 64

typedef struct {
  PetscInt n;
  PetscInt difference[VCRS_ORDER_DIFFERENCES]; /* of positions, needed row minus needing row: < 0 */
  PetscInt count[VCRS_ORDER_DIFFERENCES];      /* number of occurrences */
} VCRSOrderDifferences;

/*
   The grid of most differences, with n rows except up to `most`; fits() says whether all rows belong to a grid. Then
   its order
*/
PETSC_INTERN PetscErrorCode VCRSOrderFindGrid(PetscInt n, PetscInt                                                         most, const VCRSOrderDifferences *,
                                              PetscErrorCode (*fits)(const VCRSOrderGrid *, void *ctx, PetscBool *), void *ctx, VCRSOrderGrid *,
                                              PetscBool *isgrid);
PETSC_INTERN PetscErrorCode VCRSOrderCreateGrid(PetscInt64 nz, PetscInt longest, PetscBool upper, const VCRSOrderGrid *, VCRSOrder **);
/* From the pattern i [n+1], j of a strict triangle, in time proportional to the entries; with grids: tiles if the
   pattern is a grid, else levels */
PETSC_INTERN PetscErrorCode VCRSOrderCreate(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, PetscBool grids, VCRSOrder **);
PETSC_INTERN PetscErrorCode VCRSOrderDestroy(VCRSOrder **);
/* Estimated seconds of a solve on a device, from the bytes of a product, vectors included */
PETSC_INTERN PetscLogDouble VCRSOrderTime(const VCRSOrder *, PetscLogDouble bytes);
