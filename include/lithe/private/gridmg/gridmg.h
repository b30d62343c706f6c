/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by PCGRIDMG, the host loops and the kernels of a device: the levels of a hierarchy on a grid as plain data,
   and the operations of set-up and cycle.

   The operator of a level is a graph:

     (A x)_i = sigma_i x_i + sum_j T_ij (x_i - x_j)

   Vertices are the cells of a grid, cell (i, j, k) at i + n[0] (j + n[1] k), then the wells. Edges are the faces
   between neighbouring cells, and a short list: wells with cells, faults, wells with wells. The row sums of the matrix
   are sigma. Products and residuals use differences of x: small row sums are not lost in large diagonals.

   A face between cells c and c + stride is stored at c; a missing face is 0. up[d][c] is the entry of row c, down[d][c]
   the entry of row c + stride. Symmetric operators have down[d] == up[d]. A direction with one cell has no array.

   On several processes each process has a box of the grid and some of the wells. Ghosts are vertices of other processes
   with an edge to a vertex of this process. Ghosts come after the wells. Nothing is computed for ghosts, and the list
   has all edges of ghosts.

   Vectors have cells + wells numbers, then a number per ghost. At least one readable, finite number stands before and
   after.
*/

#include <math.h>
#include <petscsys.h>
#include <lithe/private/hostdevice.h>
#include <lithe/private/lithemg.h>

typedef enum {
  GRIDMG_SINGLE, /* float */
  GRIDMG_DOUBLE
} GridMGPrecision;

static inline size_t GridMGNumberBytes(GridMGPrecision precision)
{
  return precision == GRIDMG_SINGLE ? sizeof(float) : sizeof(double);
}

typedef struct {
  PetscInt n[3], cells, wells, ghosts;
} GridMGGrid;

/*
   The edges that are no faces, by rows: cells with even i + j + k, then the remaining cells, then all wells. Each part
   ascends. Entry e of row[r], r-th of n, i[r] <= e < i[r+1]: T = t[e] towards vertex j[e]
*/
typedef struct {
  PetscInt  n, part[2]; /* rows in all, and the beginnings of the second and the third part */
  PetscInt *row, *i, *j;
  void     *t;    /* double in a GridMGFaces, the precision of the level in a GridMGOperator */
  void     *work; /* n numbers, of a GridMGOperator */
} GridMGList;

/* Cells with neighbouring ghosts, ascending, with the faces to the ghosts in each direction */
typedef struct {
  PetscInt  n;
  PetscInt *cell; /* [n] */
  double   *t;    /* [3 n] */
} GridMGBorder;

/* The own cells in a grid that also has cells of other processes; surveys cover own cells only */
typedef struct {
  PetscBool is;
  PetscInt  first[3], end[3];
} GridMGOwn;

/* A level for the set-up: exact entries */
typedef struct {
  GridMGGrid     grid;
  PetscBool      symmetric;
  double        *up[3], *down[3], *sigma;
  unsigned char *alive; /* whether a cell has a place on the next level: [cells], or NULL if all have */
  GridMGList     list;

  const GridMGBorder *border; /* NULL on one process */
  GridMGOwn           own;
} GridMGFaces;

static LITHE_HD inline PetscBool GridMGIsOwn(const GridMGFaces *f, const PetscInt at[3])
{
  if (!f->own.is) return PETSC_TRUE;
  for (int d = 0; d < 3; d++) {
    if (at[d] < f->own.first[d] || at[d] >= f->own.end[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   A box of cells in two arrays: array 0 is read, array 1 is written. Cell (i, j, k) is at begin + i + stride[0] j +
   stride[1] k
*/
typedef struct {
  PetscInt n[3], begin[2], stride[2][2];
} GridMGBox;

/* The part of a number that 32 bits hold; TWO, FOUR: numbers of 64 and 128 bits, for place() */
typedef enum {
  GRIDMG_WORD_BYTE,
  GRIDMG_WORD_SHORT,
  GRIDMG_WORD_WHOLE,
  GRIDMG_WORD_LOW, /* of a double */
  GRIDMG_WORD_HIGH,
  GRIDMG_WORD_TWO,
  GRIDMG_WORD_FOUR
} GridMGWord;

/* Bytes of a number in an exchange */
static inline size_t GridMGWordBytes(GridMGWord word)
{
  if (word == GRIDMG_WORD_FOUR) return 16;
  return word == GRIDMG_WORD_TWO ? 8 : 4;
}

/* A level for the cycles */
typedef struct {
  GridMGGrid           grid;
  GridMGPrecision      precision;
  PetscBool            symmetric;
  int                  bits;            /* per code: 8, 16, or 32 for a float */
  const void          *up[3], *down[3]; /* codes; the code before the first may be read, and is 0 */
  const void          *zero;            /* n[0] codes 0 */
  const void          *table;           /* 8 bits: T = table[code]; 16 bits: table[code >> 8] * table[256 + (code & 255)] */
  const void          *sigma, *dinv;    /* [cells + wells]; dinv: inverse of the diagonal, 0 for a zero diagonal */
  const unsigned char *alive;           /* as in GridMGFaces */
  GridMGList           list;
} GridMGOperator;

/* Properties of a level */
typedef struct {
  double   logs[3];  /* sums of log(entries of a row in direction d over its diagonal), */
  double   count;    /* number of such rows */
  double   min, max; /* the smallest and the largest face; 0: no face */
  PetscInt dead;     /* cells without a place on the next level */
} GridMGSurvey;

/* Logarithms are added as whole numbers of this unit, of eight cells at once: a sum does not depend on the order */
#define GRIDMG_LOG_TOGETHER 8
#define GRIDMG_LOG_UNIT     16777216.
#define GRIDMG_LOG_LEAST    1e-8   /* smaller ratios are replaced by this number */
#define GRIDMG_LOG_SMALLEST 1e-300 /* rows with a smaller diagonal do not count */
#define GRIDMG_ALONE        0.25   /* a cell has no place on the next level if its faces and edges are less than this factor times its row sum */

#define GRIDMG_COMMON 20 /* a difference between column and row counts if at most this factor rarer than the commonest */

/* An edge from vertex i, no face */
typedef struct {
  PetscInt i, j;
  double   t;
} GridMGEdge;

/*
   The matrix of a symmetric coarsest level, on the host: diagonal, entries below the diagonal, and scale[i] scale[j]
   constant[p] for i and j in part p. The diagonal includes the constants
*/
typedef struct {
  PetscInt          n, entries;
  const double     *diagonal;
  const GridMGEdge *entry;            /* of row i and column j < i: t */
  PetscInt          singular;         /* parts with a constant, */
  const PetscInt   *part;             /* [n] */
  const double     *constant, *scale; /* [parts], [n] */
} GridMGCoarsest;

/* An addition to an array of a GridMGFaces */
typedef struct {
  PetscInt array; /* -1: sigma; d: up[d]; 3 + d: down[d] */
  PetscInt at;
  double   t;
} GridMGAddition;

/* Rows of a matrix on a device */
typedef struct {
  const PetscInt    *i, *j;
  const PetscScalar *a;
} GridMGCSR;

/*
   Counts of the entries in rows of cells. odd: between cells that are no neighbours; others: odd entries and entries of
   wells; negative: diagonals of negative sum. Zeros do not count
*/
typedef struct {
  PetscInt64 faces, odd, outside, others, negative, imaginary;
  PetscInt64 diagonals[2], sides[2];                           /* negative and positive entries */
  PetscInt64 firstodd, firstoutside, firstimaginary, firstbad; /* numbers of entries, -1: none. bad: not finite */
  double     most;                                             /* the largest modulus of a diagonal, the sum of the diagonal entries of a row */
} GridMGReading;

/* Places of the vertices among the rows of the matrix: wells before the cells, cells, wells after the cells */
typedef struct {
  PetscInt first; /* row of the first cell, the number of wells before the cells */
} GridMGRows;

/*
   A visit of a level with one step of red-black smoothing before and after the coarse correction. With a list, out is
   needed, x of up is out of down, and in and result are NULL.
*/
#define GRIDMG_SHAPE 8
typedef struct {
  const GridMGOperator *op;
  const GridMGGrid     *coarse;
  int                   by[3];
  const void           *b, *x;  /* x NULL: the iterate is zero */
  void                 *out;    /* down: the iterate before the coarse correction, or NULL; up: the iterate after the correction, not x */
  void                 *work;   /* the host, both: scratch of the size of x, which out may be */
  void                 *bc;     /* down: the right-hand side of the coarse level */
  const void           *e;      /* up: the solution of the coarse level, */
  double                factor; /* and its factor */
  /* In place of b and out, vectors of the matrix, or NULL */
  const GridMGRows  *rows;
  int                part;
  const PetscScalar *in;
  PetscScalar       *result;
  double             outfactor;
  double            *scale;
  PetscBool          again; /* up: a cycle on this level follows and begins with the iterate */
  int               *shape; /* [GRIDMG_SHAPE] of this level and direction, 0 at first: how the work is divided */
} GridMGVisit;

/* Steps of the visit of all levels from one on, in one kernel */
typedef enum {
  GRIDMG_SMALL_RED,      /* Gauss-Seidel on red cells */
  GRIDMG_SMALL_BLACK,    /* on black cells, before the coarse correction, with the residuals */
  GRIDMG_SMALL_RESIDUAL, /* of red cells */
  GRIDMG_SMALL_RESTRICT, /* to the next level, with the first iterate of red cells */
  GRIDMG_SMALL_DENSE,
  GRIDMG_SMALL_PROLONG, /* from the next level, to red cells: black cells follow from red cells */
  GRIDMG_SMALL_BLACKUP, /* Gauss-Seidel on black cells */
  /* Additions of lists to right-hand sides of red cells and of black cells, their removal, and additions to
     residuals */
  GRIDMG_SMALL_LISTRED,
  GRIDMG_SMALL_LISTBLACK,
  GRIDMG_SMALL_UNLISTRED,
  GRIDMG_SMALL_UNLISTBLACK,
  GRIDMG_SMALL_LISTRESIDUAL,
  GRIDMG_SMALL_WELLS,      /* Gauss-Seidel on wells */
  GRIDMG_SMALL_WELLSUP,    /* backwards */
  GRIDMG_SMALL_LISTPROLONG /* to wells, and black cells of the list */
} GridMGSmallOperation;

typedef struct {
  PetscInt                     levels;
  const GridMGOperator *const *op; /* [levels] */
  const int (*by)[3];              /* to the next level */
  PetscInt             steps;
  const unsigned char *program; /* [2 steps]: an operation and a level; the first level is 0 */
  double               factor;  /* of coarse corrections */
  const void          *inverse, *inversescale;
} GridMGSmallPlan;

/* Scalars of the K cycle */
#define GRIDMG_SUMS 3

/*
   Operations on levels of aggregation, and on boxes of any level, by phase. One table works on host memory, one on a
   device. Launches go to PETSc's current stream. Only functions that return a number to the host synchronise.
*/
typedef struct {
  /* Zeroed memory of n bytes; n bytes set to 0; n bytes copied between vectors; n bytes from and to the host,
     complete at return */
  PetscErrorCode (*alloc)(size_t n, void **);
  PetscErrorCode (*reserve)(size_t n, void **); /* the same, not zeroed */
  PetscErrorCode (*clear)(size_t n, void *);
  PetscErrorCode (*copy)(size_t n, const void *from, void *to);
  PetscErrorCode (*free)(void **);
  PetscErrorCode (*put)(size_t n, const void *host, void *x);
  PetscErrorCode (*get)(size_t n, const void *x, void *host);
} GridMGMemoryKernels;

/* Vectors of the matrix, and boxes of cells */
typedef struct {
  /*
     Vectors of the matrix. b = scale x, where the power of two brings the largest number of x near 1. y = factor x /
     scale. scale has the place of vectors. part: 0 real, 1 imaginary
  */
  PetscErrorCode (*enter)(const GridMGOperator *, const GridMGRows *, int part, const PetscScalar *x, void *b, double *scale);
  PetscErrorCode (*leave)(const GridMGOperator *, const GridMGRows *, int part, double factor, const double *scale, const void *x, PetscScalar *y);
  /* The scale for a visit that begins with a vector of the matrix, or NULL */
  PetscErrorCode (*largest)(const GridMGOperator *, const GridMGRows *, int part, const PetscScalar *x, double *scale);
  /* enter in two parts, if others know the scale: the largest modulus, NULL on a device; and b = scale x, by a power
     of two */
  PetscErrorCode (*most)(const GridMGOperator *, int part, const PetscScalar *x, double *most);
  PetscErrorCode (*enterscaled)(const GridMGOperator *, const GridMGRows *, int part, const PetscScalar *x, void *b, double scale);

  /*
     Overlapping boxes. copybox: a box of numbers of 1, 2, 4, 8 or 16 bytes; from NULL: zeros. addbox: adds factor
     times a box. words, place: one word per number, of n numbers. Word w belongs to number index[w], or to number w if
     index is NULL. enterbox, leavebox: enter and leave for the cells of a box, for vectors in single precision
  */
  PetscErrorCode (*copybox)(size_t unit, const GridMGBox *, const void *from, void *to);
  PetscErrorCode (*addbox)(const GridMGBox *, double factor, const double *from, double *to);
  PetscErrorCode (*words)(GridMGWord, PetscInt n, const void *x, void *words);
  PetscErrorCode (*place)(GridMGWord, PetscInt n, const PetscInt *index, const void *words, void *x);
  PetscErrorCode (*enterbox)(const GridMGBox *, int part, const PetscScalar *x, void *b, const double *scale);
  PetscErrorCode (*leavebox)(const GridMGBox *, int part, double factor, const double *scale, const void *x, PetscScalar *y);
  /* Converts n numbers, times factor, to scalars for sums over processes, or back; NULL on the host */
  PetscErrorCode (*scalesum)(PetscBool back, int n, double factor, double *numbers, PetscScalar *scalars);
} GridMGVectorKernels;

typedef struct {
  /* Smoothing. x = D^-1 b on cells of a colour, 0 or 1, and 0 elsewhere; -1: no colour */
  PetscErrorCode (*start)(const GridMGOperator *, int colour, const void *b, void *x);
  /* Gauss-Seidel on the cells of a colour */
  PetscErrorCode (*colour)(const GridMGOperator *, int colour, const void *b, void *x);
  /* Gauss-Seidel on the wells, forwards or backwards */
  PetscErrorCode (*wells)(const GridMGOperator *, PetscBool backwards, const void *b, void *x);

  /* r = b - A x, with b = NULL r = A x */
  PetscErrorCode (*residual)(const GridMGOperator *, const void *b, const void *x, void *r);
  /* Sums over aggregates: cell (i, j, k) belongs to (i/by[0], j/by[1], k/by[2]); wells stay themselves. x += factor
     P e */
  PetscErrorCode (*restrict_)(const GridMGOperator *fine, const GridMGGrid *coarse, const int by[3], const void *r, void *b);
  PetscErrorCode (*prolong)(const GridMGOperator *fine, const GridMGGrid *coarse, const int by[3], double factor, const void *e, void *x);

  /* bc = P^T (b - A x) without an array between; NULL: none. All residuals count, also zeros of Gauss-Seidel: their
     rounding is as large as the contribution of weak faces */
  PetscErrorCode (*residualrestrict)(const GridMGOperator *fine, const GridMGGrid *coarse, const int by[3], const void *b, const void *x, void *bc);

  /* Two steps of flexible conjugate gradients. sums[k] = x'y[k] */
  PetscErrorCode (*dots)(const GridMGOperator *, const void *x, int n, const void *const y[], double *sums);
  /* With c = first direction, v = A c, first = {c'v, c'b}: b -= (c'b / c'v) v */
  PetscErrorCode (*kfirst)(const GridMGOperator *, const double *first, const void *v, void *b);
  /* With x = second direction, second = {x'v, x'Ax, x'b}: x = the combination of both directions for the right-hand
     side */
  PetscErrorCode (*ksecond)(const GridMGOperator *, const double *first, const double *second, const void *c, void *x);

  /*
     The coarsest level, all arrays in the precision of the level, L row by row. Symmetric operator: x = S L^T L S b
     with a lower triangle L. Other operators: x = S L S b. Rounding keeps L^T L definite. work: of the size of x
  */
  PetscErrorCode (*dense)(const GridMGOperator *, const void *L, const void *S, const void *b, void *work, void *x);
  /* Two kernels in place of smoothing, residualrestrict and prolong, or NULL */
  PetscErrorCode (*down)(const GridMGVisit *);
  PetscErrorCode (*up)(const GridMGVisit *);
  /*
     NULL on the host. fits: the levels are not too large. *small is NULL or from another set-up. x of the first level
     from its b
  */
  PetscErrorCode (*smallcreate)(const GridMGSmallPlan *, void **small, PetscBool *fits);
  PetscErrorCode (*smallsolve)(void *small, const void *b, void *x);
  PetscErrorCode (*smallfree)(void **small);
} GridMGCycleKernels;

/* Set-up, on exact entries. The list is always on the host */
typedef struct {
  /* alive [cells]: 0 for cells with weak edges only. The survey has the remaining cells and all faces */
  PetscErrorCode (*survey)(const GridMGFaces *, unsigned char *alive, GridMGSurvey *);
  /* P^T A P of aggregates of by[] cells, without the list: all numbers of coarse are written. The arrays exist */
  PetscErrorCode (*coarsen)(const GridMGFaces *fine, const int by[3], const GridMGFaces *coarse);
  /* Whether each of n vertices has a place on the next level */
  PetscErrorCode (*aliveof)(const GridMGFaces *, PetscInt n, const PetscInt vertex[], unsigned char alive[]);
  /* Adds n numbers to faces and row sums. The numbers are sorted by place; numbers of one place are added in order */
  PetscErrorCode (*add)(const GridMGFaces *, PetscInt n, const GridMGAddition[]);
  /* Codes, sigma and dinv; the list is already in place. The arrays of the operator exist. bound: faces change by
     factors of at most 1 + bound */
  PetscErrorCode (*encode)(const GridMGFaces *, double min, double max, const GridMGOperator *, double *bound);
  /* The inverse of the lower Cholesky factor, rounded, row by row; failed: the matrix is not definite. work:
     LitheMGInvertNumbers(n). NULL: the host has LAPACK */
  PetscErrorCode (*invert)(const GridMGCoarsest *, GridMGPrecision, double *work, void *inverse, PetscBool *failed);
} GridMGSetUpKernels;

typedef struct {
  GridMGMemoryKernels memory;
  GridMGVectorKernels vectors;
  GridMGCycleKernels  cycle;
  GridMGSetUpKernels  setup;
} GridMGKernels;

PETSC_INTERN const GridMGKernels GridMGHostKernels; /* src/pc/gridmg/aggregation/host.c */
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN const GridMGKernels GridMGDeviceKernels; /* src/pc/gridmg/base/device.c */
#endif

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
