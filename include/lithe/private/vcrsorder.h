/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   In which order a device takes the rows of a triangle T for x = b + T x: plain data, made by
   src/vcrs/order.c, read by cuda/vcrs/tri. T is strictly lower, or strictly upper; then
   everything is told of positions n - 1 - row, in which it is lower, too.

   Levels. The level of a row is one more than the largest of the rows that it needs. Rows lie level
   by level in row[]; task t, for one warp, has rows row[task[t]] .. row[task[t+1]-1], at most 32 of
   one level; a row longer than VCRS_ORDER_WIDE entries has a task of its own.

   Grids. The position of a row is i + line (j + lines k), with all differences of what it needs small
   in i, j and k. A row needs nothing beyond i, whatever a = j + skew k it has:

     di + slant dj' + rise dk <= -1 for each entry, where dj' = dj + skew dk <= 0, dk <= 0.

   So a warp may have the 32 lines of a tile in a and k, across x cells of one and y of the other, and
   go along all of them at the same time, thread (a, k) at i = step - slant a - rise k (both counted
   in its tile): what it needs of its tile has been computed in earlier steps, and what it needs of
   others is in the tiles before, in a or in k or both. All tiles together are a wave.
*/

#include <petscsys.h>
#include <lithe/private/hostdevice.h>

#define VCRS_ORDER_WIDE    48 /* entries: longer rows are summed by a warp */
#define VCRS_ORDER_LONGEST 20 /* entries of a row that grids may have */
#define VCRS_ORDER_HALO    32 /* lines that a tile may read of others */
#define VCRS_ORDER_LAG     12 /* steps that may lie between an entry and who needs it */

typedef struct {
  PetscInt line, lines, planes; /* rows of a line, lines of a plane, planes: their product is n */
  int      skew, slant, rise;
  int      width, height; /* of a tile, in a and k; width height = 32 */
  int      before, below; /* how far an entry may reach: -dj', -dk */
  int      lag;           /* the most steps that an entry is needed after it was computed */
  int      nhalo;         /* lines that a tile reads of others, relative to its first: */
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
  PetscInt      nwaves;  /* of grids: tiles that wait for one another at most */
  PetscInt      ntasks;
  PetscInt     *row;  /* [n], NULL of grids */
  PetscInt     *task; /* [ntasks+1]; of grids [ntasks]: tile (a, k) is a + across k, in an order in which none is before what it needs */
  VCRSOrderGrid g;
} VCRSOrder;

/* Where the difference of positions, what is needed less who needs it, lies in a grid; of small differences only */
LITHE_HD static inline void VCRSOrderSplit(const VCRSOrderGrid *g, PetscInt difference, PetscInt *di, PetscInt *dj, PetscInt *dk)
{
  const PetscInt plane = g->line * g->lines;

  /* to the nearest multiple; difference <= 0 */
  *dk = -((plane / 2 - difference) / plane);
  difference -= *dk * plane;
  *dj = difference > 0 ? (difference + g->line / 2) / g->line : -((g->line / 2 - difference) / g->line);
  *di = difference - *dj * g->line;
}

/* More different differences between a row and what it needs are those of no grid */
#define VCRS_ORDER_DIFFERENCES 64

typedef struct {
  PetscInt n;
  PetscInt difference[VCRS_ORDER_DIFFERENCES]; /* of positions, what is needed less who needs it: < 0 */
  PetscInt count[VCRS_ORDER_DIFFERENCES];      /* how often, to compare with others */
} VCRSOrderDifferences;

/*
   The grid that most differences belong to, whose rows are n but for up to most; fits() says whether all rows belong to one.
   Then its order
*/
PETSC_INTERN PetscErrorCode VCRSOrderFindGrid(PetscInt n, PetscInt                                                         most, const VCRSOrderDifferences *,
                                              PetscErrorCode (*fits)(const VCRSOrderGrid *, void *ctx, PetscBool *), void *ctx, VCRSOrderGrid *,
                                              PetscBool *isgrid);
PETSC_INTERN PetscErrorCode VCRSOrderCreateGrid(PetscInt64 nz, PetscInt longest, PetscBool upper, const VCRSOrderGrid *, VCRSOrder **);
/* From the pattern i [n+1], j of a strict triangle, in time of the order of its entries; with grids, tiles of a grid if it is one, else levels */
PETSC_INTERN PetscErrorCode VCRSOrderCreate(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, PetscBool grids, VCRSOrder **);
PETSC_INTERN PetscErrorCode VCRSOrderDestroy(VCRSOrder **);
/* Estimated seconds of a system on a device, where a product moves so many bytes, vectors included */
PETSC_INTERN PetscLogDouble VCRSOrderTime(const VCRSOrder *, PetscLogDouble bytes);
