/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What PCGRIDMG, its host loops and the kernels of a device share: the levels of a hierarchy on a grid as plain data, and
   the operations that set-up and cycle are made of.

   The operator of a level is a graph:

     (A x)_i = sigma_i x_i + sum_j T_ij (x_i - x_j)

   Its vertices are the cells of a grid, cell (i, j, k) at i + n[0] (j + n[1] k), and after these the wells. Its edges are the
   faces between neighbouring cells, and a short list of others: what wells have with cells, faults, wells with wells. sigma are
   the row sums of the matrix. Products and residuals use differences of x, so that small row sums are not lost in large diagonals.

   A face between cells c and c + stride is stored at c, and is 0 where there is none: up[d][c] is the entry of row c, down[d][c]
   that of row c + stride. Symmetric operators have down[d] == up[d]. Directions with one cell have no array.

   Vectors have cells + wells numbers, with at least one number before and after that may be read and is finite.
*/

#include <math.h>
#include <petscsys.h>
#include <lithe/private/hostdevice.h>

typedef enum {
  GRIDMG_SINGLE, /* float */
  GRIDMG_DOUBLE
} GridMGPrecision;

static inline size_t GridMGNumberBytes(GridMGPrecision precision)
{
  return precision == GRIDMG_SINGLE ? sizeof(float) : sizeof(double);
}

typedef struct {
  PetscInt n[3], cells, wells;
} GridMGGrid;

/*
   The edges that are no faces, by rows: rows of cells with even i + j + k, then of the other cells, then all wells, in each part
   ascending. Entry e of row[r], r-th of n, i[r] <= e < i[r+1]: T = t[e] towards vertex j[e]
*/
typedef struct {
  PetscInt  n, part[2]; /* rows in all, and where the second and the third part begin */
  PetscInt *row, *i, *j;
  void     *t;    /* double in a GridMGFaces, the precision of the level in a GridMGOperator */
  void     *work; /* n numbers, of a GridMGOperator */
} GridMGList;

/* A level as it is set up: exact entries */
typedef struct {
  GridMGGrid     grid;
  PetscBool      symmetric;
  double        *up[3], *down[3], *sigma;
  unsigned char *alive; /* whether a cell has a place on the next level: [cells], or NULL if all have */
  GridMGList     list;
} GridMGFaces;

/* A level as cycles read it */
typedef struct {
  GridMGGrid           grid;
  GridMGPrecision      precision;
  PetscBool            symmetric;
  int                  bits;            /* of a code: 8, 16, or 32, which is a float */
  const void          *up[3], *down[3]; /* codes; the one before the first may be read, and is 0 */
  const void          *zero;            /* n[0] codes 0 */
  const void          *table;           /* 8 bits: T = table[code]; 16 bits: table[code >> 8] * table[256 + (code & 255)] */
  const void          *sigma, *dinv;    /* [cells + wells]; dinv: 1 over the diagonal, 0 where that is 0 */
  const unsigned char *alive;           /* as in GridMGFaces */
  GridMGList           list;
} GridMGOperator;

/* Where the vertices are among the rows of the matrix: wells before the cells, cells, wells after them */
typedef struct {
  PetscInt first; /* row of the first cell: so many wells are before */
} GridMGRows;

/* Scalars of the K cycle */
#define GRIDMG_SUMS 3

/*
   One set of these works on host memory, one on a device (launched on PETSc's current stream, without synchronisation but
   where a number is returned to the host).
*/
typedef struct {
  /* Memory of n bytes, zeroed; n bytes set to 0; n bytes copied where vectors are; n bytes from the host and to it, done when they return */
  PetscErrorCode (*alloc)(size_t n, void **);
  PetscErrorCode (*clear)(size_t n, void *);
  PetscErrorCode (*copy)(size_t n, const void *from, void *to);
  PetscErrorCode (*free)(void **);
  PetscErrorCode (*put)(size_t n, const void *host, void *x);
  PetscErrorCode (*get)(size_t n, const void *x, void *host);

  /*
     Vectors of the matrix: b = scale x, with the power of two that brings the largest number of x near 1; y = factor x / scale. scale is
     where vectors are. part: 0 real, 1 imaginary
  */
  PetscErrorCode (*enter)(const GridMGOperator *, const GridMGRows *, int part, const PetscScalar *x, void *b, double *scale);
  PetscErrorCode (*leave)(const GridMGOperator *, const GridMGRows *, int part, double factor, const double *scale, const void *x, PetscScalar *y);

  /* Smoothing. x = c D^-1 b on cells of a colour, 0 or 1, or with -1 on all, and 0 elsewhere */
  PetscErrorCode (*start)(const GridMGOperator *, int colour, double c, const void *b, void *x);
  /* Gauss-Seidel on the cells of a colour */
  PetscErrorCode (*colour)(const GridMGOperator *, int colour, const void *b, void *x);
  /* On cells d = c1 d + c2 D^-1 (b - A x), out = x + d; wells are copied. c1 = 0: d is not read; d may be NULL then, and is not written. out is not x */
  PetscErrorCode (*step)(const GridMGOperator *, double c1, double c2, const void *b, const void *x, void *d, void *out);
  /* Gauss-Seidel on the wells, forwards or backwards */
  PetscErrorCode (*wells)(const GridMGOperator *, PetscBool backwards, const void *b, void *x);

  /* r = b - A x, with b = NULL r = A x */
  PetscErrorCode (*residual)(const GridMGOperator *, const void *b, const void *x, void *r);
  /* Sums over aggregates: cell (i, j, k) belongs to (i/by[0], j/by[1], k/by[2]); wells stay themselves. x += factor P e */
  PetscErrorCode (*restrict_)(const GridMGOperator *fine, const GridMGGrid *coarse, const int by[3], const void *r, void *b);
  PetscErrorCode (*prolong)(const GridMGOperator *fine, const GridMGGrid *coarse, const int by[3], double factor, const void *e, void *x);

  /* bc = P^T (b - A x) without an array between; NULL: none. All residuals count, those too that Gauss-Seidel has just made 0: what rounding leaves of
     them is as large as what weak faces hold */
  PetscErrorCode (*residualrestrict)(const GridMGOperator *fine, const GridMGGrid *coarse, const int by[3], const void *b, const void *x, void *bc);

  /* Two steps of flexible conjugate gradients. sums[k] = x'y[k] */
  PetscErrorCode (*dots)(const GridMGOperator *, const void *x, int n, const void *const y[], double *sums);
  /* With c = first direction, v = A c, first = {c'v, c'b}: b -= (c'b / c'v) v */
  PetscErrorCode (*kfirst)(const GridMGOperator *, const double *first, const void *v, void *b);
  /* With x = second direction, second = {x'v, x'Ax, x'b}: x = what both directions make of the right side */
  PetscErrorCode (*ksecond)(const GridMGOperator *, const double *first, const double *second, const void *c, void *x);

  /*
     The coarsest level, all arrays in the precision of the level, L row by row: x = S L^T L S b with a lower triangle L for a symmetric
     operator, else x = S L S b. L^T L stays definite when it is rounded. work: of the size of x
  */
  PetscErrorCode (*dense)(const GridMGOperator *, const void *L, const void *S, const void *b, void *work, void *x);

  /* Set-up, on exact entries */
  /* sums[d] of log(what a row has in direction d over its diagonal), and how many rows there are in them */
  PetscErrorCode (*means)(const GridMGFaces *, double sums[3], double *count);
  /* alive, allocated: 0 for cells that have little to do with others. The number of these */
  PetscErrorCode (*mark)(const GridMGFaces *, unsigned char *alive, PetscInt *dead);
  /* P^T A P of pairs in direction d, but for the list; arrays of coarse are there and 0 */
  PetscErrorCode (*pair)(const GridMGFaces *, int d, GridMGFaces *coarse);
  /* The smallest and the largest face, 0 if there is none */
  PetscErrorCode (*range)(const GridMGFaces *, double *min, double *max);
  /* Codes, sigma and dinv; list has been put there already. The arrays of the operator are there; bound: faces change by factors of at most 1 + bound */
  PetscErrorCode (*encode)(const GridMGFaces *, double min, double max, const GridMGOperator *, double *bound);
} GridMGKernels;

PETSC_INTERN const GridMGKernels GridMGHostKernels; /* src/pc/gridmg/host.c */
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN const GridMGKernels GridMGDeviceKernels; /* src/pc/gridmg/device.c */
#endif

/* 2^-e of a number between 2^e and 2^(e+1); 1 where there is none */
static LITHE_HD inline double GridMGScaleOf(double largest)
{
  int e;

  if (!(largest > 0) || !(largest <= (double)PETSC_MAX_REAL)) return 1;
  (void)frexp(largest, &e);
  return ldexp(1., 1 - e < 1000 ? 1 - e : 1000);
}

static LITHE_HD inline PetscInt GridMGStride(const GridMGGrid *grid, int d)
{
  if (d == 0) return 1;
  return d == 1 ? grid->n[0] : grid->n[0] * grid->n[1];
}

/* Rows of the matrix and vertices: wells before the cells come first among the wells */
static LITHE_HD inline PetscInt GridMGRowOf(const GridMGGrid *grid, const GridMGRows *rows, PetscInt vertex)
{
  if (vertex < grid->cells) return rows->first + vertex;
  vertex -= grid->cells;
  return vertex < rows->first ? vertex : grid->cells + vertex;
}

static LITHE_HD inline PetscInt GridMGVertexOf(const GridMGGrid *grid, const GridMGRows *rows, PetscInt row)
{
  if (row < rows->first) return grid->cells + row;
  row -= rows->first;
  return row < grid->cells ? row : row + rows->first;
}
