/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The rows of several processes in the order of the whole grid. For kernels and tests;
   src/pc/gridmg/boxes/redundant.c, cuda/gridmg/redundant.cu
*/

#include <lithe/private/gridmg/gridmg.h>
#include <lithe/private/lithememory.h>

/*
   From rows of the matrix to the whole grid, whose wells follow after all cells. The rows of each of `size` processes
   are a box, then wells
*/
typedef struct {
  PetscInt        n[3], parts[3], size;
  const PetscInt *start[3]; /* [parts + 1] where boxes begin along each direction */
  const PetscInt *offset;   /* [size + 1] where the rows of processes begin */
  const PetscInt *well;     /* [size] number of wells of earlier processes */
} GridMGMap;

/* Entries in columns of other processes, row by row; row counts from the first own row */
typedef struct {
  PetscInt           n;
  const PetscInt    *row, *column;
  const PetscScalar *a;
} GridMGMapOutside;

/* The first of n ascending numbers that is not less than x */
static LITHE_HD inline PetscInt GridMGMapFirst(PetscInt n, const PetscInt a[], PetscInt x)
{
  PetscInt low = 0, high = n;

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (a[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

static LITHE_HD inline PetscInt GridMGMapOf(const GridMGMap *m, PetscInt row)
{
  const PetscInt rank = GridMGMapFirst(m->size, m->offset + 1, row + 1), cell = row - m->offset[rank];
  const PetscInt line = rank / m->parts[0], place[3] = {rank % m->parts[0], line % m->parts[1], line / m->parts[1]};
  PetscInt       first[3], n[3];

  for (int d = 0; d < 3; d++) {
    first[d] = m->start[d][place[d]];
    n[d]     = m->start[d][place[d] + 1] - first[d];
  }
  if (cell >= n[0] * n[1] * n[2]) return m->n[0] * m->n[1] * m->n[2] + m->well[rank] + cell - n[0] * n[1] * n[2];
  return first[0] + cell % n[0] + m->n[0] * (first[1] + cell / n[0] % n[1] + m->n[1] * (first[2] + cell / n[0] / n[1]));
}

static LITHE_HD inline PetscInt GridMGMapLength(const GridMGCSR *rows, const GridMGMapOutside *o, PetscInt row)
{
  return rows->i[row + 1] - rows->i[row] + GridMGMapFirst(o->n, o->row, row + 1) - GridMGMapFirst(o->n, o->row, row);
}

/* Shell's sort: most rows are nearly sorted, and a row of a well is long */
static LITHE_HD inline void GridMGMapSort(PetscInt n, PetscInt j[], PetscScalar a[])
{
  for (PetscInt gap = n < 32 ? 1 : n / 2; gap > 0; gap /= 2) {
    for (PetscInt k = gap; k < n; k++) {
      const PetscInt    column = j[k];
      const PetscScalar value  = a[k];
      PetscInt          to     = k;

      for (; to >= gap && j[to - gap] > column; to -= gap) {
        j[to] = j[to - gap];
        a[to] = a[to - gap];
      }
      j[to] = column;
      a[to] = value;
    }
  }
}

/* The row with columns of the whole grid, ascending. begin: the first own row; rows has own columns from 0 */
static LITHE_HD inline void GridMGMapRow(const GridMGMap *m, PetscInt begin, const GridMGCSR *rows, const GridMGMapOutside *o, PetscInt row, PetscInt j[],
                                         PetscScalar a[])
{
  PetscInt n = 0;

  for (PetscInt e = rows->i[row]; e < rows->i[row + 1]; e++, n++) {
    j[n] = GridMGMapOf(m, begin + rows->j[e]);
    a[n] = rows->a[e];
  }
  for (PetscInt e = GridMGMapFirst(o->n, o->row, row); e < o->n && o->row[e] == row; e++, n++) {
    j[n] = GridMGMapOf(m, o->column[e]);
    a[n] = o->a[e];
  }
  GridMGMapSort(n, j, a);
}

/*
   The operations on host or device, with all arrays there, those of the map and of entries outside as well.
   src/pc/gridmg/boxes/map.c, cuda/gridmg/redundant.cu
*/
typedef struct {
  const LitheMemoryOps *memory;
  PetscErrorCode (*lengths)(PetscInt m, const GridMGCSR *, const GridMGMapOutside *, PetscInt length[]);
  /* The rows of this process one after the other */
  PetscErrorCode (*rows)(const GridMGMap *, PetscInt begin, PetscInt m, const GridMGCSR *, const GridMGMapOutside *, const PetscInt length[], PetscInt j[],
                         PetscScalar a[]);
  /* The rows of all processes, N in all, one after the other; newi [N + 1], newj, newa: in the order of the grid */
  PetscErrorCode (*order)(const GridMGMap *, PetscInt N, const PetscInt length[], const PetscInt j[], const PetscScalar a[], PetscInt newi[], PetscInt newj[],
                          PetscScalar newa[]);
  /* A vector of all processes to the whole grid, and m numbers of it back */
  PetscErrorCode (*enter)(const GridMGMap *, PetscInt N, const PetscScalar x[], PetscScalar y[]);
  PetscErrorCode (*leave)(const GridMGMap *, PetscInt begin, PetscInt m, const PetscScalar x[], PetscScalar y[]);
} GridMGMapKernels;
PETSC_INTERN const GridMGMapKernels GridMGHostMap;

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode LitheCUDAGridMGMapLengths(PetscInt m, const GridMGCSR *, const GridMGMapOutside *, PetscInt length[]);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGMapRows(const GridMGMap *, PetscInt begin, PetscInt m, const GridMGCSR *, const GridMGMapOutside *,
                                                   const PetscInt length[], PetscInt j[], PetscScalar a[]);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGMapOrder(const GridMGMap *, PetscInt N, const PetscInt length[], const PetscInt j[], const PetscScalar a[],
                                                    PetscInt newi[], PetscInt newj[], PetscScalar newa[]);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGMapEnter(const GridMGMap *, PetscInt N, const PetscScalar x[], PetscScalar y[]);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGMapLeave(const GridMGMap *, PetscInt begin, PetscInt m, const PetscScalar x[], PetscScalar y[]);
#endif
