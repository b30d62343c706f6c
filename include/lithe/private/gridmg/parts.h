/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of PCGRIDMG. docs/guide/gridmg.md explains the method */

#include <lithe/private/gridmg/levels.h>
#include <lithe/private/gridmg/redundant.h>
#include <lithe/private/gridmg/stencil.h>
#include <lithe/private/lithehalo.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithenearnull.h>
#include <lithe/private/lithesingle.h>
#include <lithe/private/lithetruth.h>
#include <lithepc.h>
#include <petsc/private/pcimpl.h>
#include <petscsf.h>

#define GRIDMG_LEVELS_MAX 64
#define GRIDMG_STEPS_MAX  32
#define GRIDMG_DENSE_MAX  4000 /* unknowns of the coarsest level */
#define GRIDMG_WELLS_MAX  2000
#define GRIDMG_ODD        20 /* number of entries per permitted entry between cells that are no neighbours */
#define GRIDMG_ODD_LEAST  16
#define GRIDMG_SAME       1e-8 /* entries with a smaller relative difference count as the same */

typedef struct {
  PCGridMGInterpolationType interpolation;
  PCGridMGCoarsenType       coarsen;
  PCGridMGCycleType         cycle;
  PCGridMGSmootherType      smoother;
  PCGridMGPrecision         precision;
  PetscReal                 overcorrection;                                            /* PETSC_DECIDE: by the cycle */
  PetscInt                  grid[3];                                                   /* 0: not given */
  PetscInt                  levels, coarsesize, smooths[2], bits, coarsebits, klevels; /* coarsebits PETSC_DECIDE: depends on other options */
  PetscInt                  gathersize, overlap, redundant;                            /* PETSC_DECIDE: by the place of levels */
  LitheTransport            transport;
  PetscBool                 graph;
} PCGridMGOptions; /* owner: src/pc/gridmg/base/options.c */

typedef struct {
  PetscInt    n, max;
  GridMGEdge *edge;
} GridMGEdges; /* owner: src/pc/gridmg/boxes/edges.c */

typedef struct {
  PetscInt        n, max;
  GridMGAddition *addition;
} GridMGAdditions; /* owner: src/pc/gridmg/boxes/edges.c */

/*
   Counts of entries between cells. odd: outside a stencil of 5 or 7 points; row, column: the first such entry. outside:
   outside a stencil of 9 or 27 points; outsiderow, outsidecolumn: the first such entry
*/
typedef struct {
  PetscInt64 entries, odd, outside;
  PetscInt   row, column, outsiderow, outsidecolumn;
} GridMGOdd;

/* Memory that is kept while it is large enough: host memory, or memory of the kernels */
typedef struct {
  void                *memory;
  size_t               bytes;
  const GridMGKernels *kernels;
} GridMGBlock;

/* Memory from which parts are taken one after the other, and returned in the opposite order */
#define GRIDMG_ARENA_BLOCKS 8

typedef struct {
  GridMGBlock block[GRIDMG_ARENA_BLOCKS];
  int         current;
  size_t      taken; /* of the current block */
} GridMGArena;       /* owner: src/pc/gridmg/base/memory.c */

typedef struct {
  int    current;
  size_t taken;
} GridMGArenaMark;

/*
   What an array of each process receives from the arrays of all processes: remote cells, or all own cells of the other
   processes
*/
typedef struct {
  PetscInt             n, *at;   /* cells that receive, ascending; at NULL: blocks of own cells */
  PetscInt             together; /* cells of an entry of the star forest */
  PetscSF              sf;       /* from the cells of all arrays */
  LitheHalo            halo[3];  /* for numbers of 4, 8 and 16 bytes, if needed */
  GridMGBlock          block;    /* at[] in the memory of the kernels `placed`, or the own cells one after the other */
  const GridMGKernels *placed;   /* NULL: nowhere yet */
} GridMGExchange;                /* owner: src/pc/gridmg/boxes/exchange.c */

/*
   The box of a process with layers of remote cells around it: two layers, or three layers where the own cells begin at
   an odd place. Cells then have the colours of the whole grid, and pairs of cells are the pairs of their processes.
*/
typedef struct {
  GridMGGrid     grid;
  PetscInt       lo[3], origin[3]; /* lo: first own cell in the box; origin: first cell of the box in the whole grid */
  GridMGExchange remote;
  GridMGExchange gather; /* the whole grid */
} GridMGOverlap;         /* owner: src/pc/gridmg/boxes/overlap.c */

/*
   The entries between boxes of the finest level, as planes for each direction d and side s: faces of this process, and
   the same faces of the neighbours
*/
typedef struct {
  PetscInt  n;     /* number of matrix entries that lead to remote cells */
  PetscInt *where; /* [2 n] per entry: 2 d + s, and the place in the plane */
  double   *mine[3][2], *theirs[3][2], *memory;
} GridMGCrossing; /* owner: src/pc/gridmg/boxes/crossing.c */

/* Cells with neighbouring ghosts */
typedef struct {
  GridMGBorder faces;
  PetscInt     max; /* cells that there is memory for */
} GridMGBorders;    /* owner: src/pc/gridmg/boxes/border.c, src/pc/gridmg/boxes/share.c */

/*
   The distribution of the vertices of a level over several processes, whose boxes are a tensor product. A process
   numbers its cells first, then its wells. Vertex v of process p has the global number offset[p] + v.
*/
typedef struct {
  PetscInt      *start[3]; /* [parts + 1] where boxes begin along each direction */
  PetscInt      *offset;   /* [size + 1] */
  PetscInt       ghosts;
  PetscInt      *ghost;  /* [ghosts] global numbers, ascending */
  PetscInt      *at;     /* [3 ghosts] cells in the whole grid; negative: a well */
  unsigned char *alive;  /* [ghosts] while the level is set up */
  PetscSF        sf;     /* from all vertices to ghosts */
  int            by[3];  /* cells per aggregate when the next level was made; 0: no next level */
  PetscInt      *coarse; /* [ghosts] vertex or ghost of the next level, in local numbers */
  GridMGBorders  bordering;
  GridMGOverlap  over;
} GridMGShare; /* owner: src/pc/gridmg/boxes/share.c, src/pc/gridmg/boxes/boxes.c */

/* The processes, and the cells and rows of this one */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size, rank;
  PetscInt    parts[3], place[3]; /* boxes along each direction, and the place of the own box */
  PetscInt    begin;              /* first local row */
  PetscInt    wells, before;      /* wells of all processes; wells in rows before all cells */
  GridMGGrid  own;                /* own cells of the finest level */
  PetscInt    n[3];               /* of the whole grid, 0: not known */
  PetscBool   natural;            /* rows have the order of the whole grid: no DMDA */
  PetscBool   periodic;           /* the DMDA has periodic directions */
  GridMGRows  rows;
} GridMGTeam; /* owner: src/pc/gridmg/boxes/boxes.c */

/* The first level that each process has as a whole. Numbers come from the own part, and go to the own part */
typedef struct {
  PetscInt     first;        /* its number, 0: one process */
  GridMGGrid   box;          /* the own part of the level */
  PetscMPIInt *count, *from; /* [size] per process: count of numbers on that level, and their first place */
  void        *part, *all;   /* local numbers, and numbers of all processes */
} GridMGWhole;               /* owner: src/pc/gridmg/boxes/gather.c */

/* Sums over processes where levels are: of the scale of a right-hand side, and of inner products */
typedef struct {
  LitheReduce reduce;
  GridMGBlock there;
} GridMGSums; /* owner: src/pc/gridmg/boxes/exchange.c */

/* All rows on each device, if devices cannot share them */
typedef struct {
  PC             pc;      /* of one process, or NULL */
  Vec            work[2]; /* of that one: right-hand side and solution */
  GridMGMap      map;
  GridMGExchange gather;     /* a vector of all processes */
  GridMGBlock    lists, all; /* of the map; that vector */
  LitheWindow    window;     /* of the own entries, or NULL */
  PetscInt       most;       /* entries that the window has room for */
} GridMGRedundant;           /* owner: src/pc/gridmg/boxes/redundant.c */

/*
   The grid on one process or several, for both methods. share: of the cells of the finest level, and of levels of
   aggregation
*/
typedef struct {
  GridMGTeam      team;
  GridMGShare     share[GRIDMG_LEVELS_MAX];
  GridMGWhole     whole;
  GridMGSums      reduction;
  GridMGRedundant redundant;
} GridMGDomain;

/* ------------------------------------------------------------ aggregation */

/* A level during set-up: exact entries */
typedef struct {
  GridMGFaces    faces;
  unsigned char *alive;   /* [cells] */
  GridMGBlock    list[2]; /* the memory of faces.list */
  GridMGSurvey   survey;
  double         least; /* the smallest face on all processes, 0: no face */
} GridMGExact;          /* owner: src/pc/gridmg/boxes/exact.c */

/* The vectors of a level: right-hand side, iterates; of K cycles */
typedef struct {
  void   *b, *x[2], *c, *v;
  void   *w; /* with overlap: a vector that is 0 on remote cells */
  double *sums;
} GridMGVectors; /* owner: src/pc/gridmg/aggregation/level.c, src/pc/gridmg/aggregation/cycle.c */

typedef struct {
  int       cur;   /* which x is the iterate */
  PetscBool again; /* another cycle follows on this level */
  PetscBool fresh; /* the ghosts of the iterate are up to date */
} GridMGIterate;   /* owner: src/pc/gridmg/aggregation/cycle.c, src/pc/gridmg/aggregation/smooth.c */

/* A level: 0 is the finest */
typedef struct {
  GridMGOperator op;
  int            by[3];  /* cells of an aggregate along each direction: to the next level */
  PetscInt       nedges; /* of the list */
  double         bound;
  int            shape[2][GRIDMG_SHAPE]; /* of visits */
  PetscBool      shared;                 /* each process has a part */
  GridMGShare   *boxes;                  /* of the domain */
  GridMGExact    exact;
  GridMGVectors  vector;
  GridMGIterate  iterate;
} GridMGLevel; /* owner: src/pc/gridmg/aggregation/level.c */

/* The rows of a matrix on a device have been read: */
typedef struct {
  PetscBool     done;
  PetscInt      first; /* wells before the cells */
  GridMGReading reading;
  int          *others; /* in the rows of each tile, on the device */
  double        guess;  /* factor of the entries in this reading: the factor of the last set-up */
} GridMGScan;           /* owner: src/pc/gridmg/aggregation/readdevice.c, src/pc/gridmg/base/rows.c */

/* Vectors of the matrix that a cycle reads and writes directly, one part of complex numbers */
typedef struct {
  const PetscScalar *in;
  PetscScalar       *result;
  int                part;
} GridMGOuter;

/* All small levels as one kernel of a device */
typedef struct {
  void    *kernel;
  PetscInt from; /* the first of these levels, 0: none */
} GridMGSmall;   /* owner: src/pc/gridmg/aggregation/small.c */

/* The finest level for a KSP in single precision: lithesingle.h */
typedef struct {
  GridMGOperator op; /* with more bits, for products; bits 0: none */
  float         *z;  /* complex numbers: what the cycles of both parts give */
} GridMGFine;        /* owner: src/pc/gridmg/aggregation/level.c */

typedef struct {
  GridMGLevel     level[GRIDMG_LEVELS_MAX];
  GridMGFine      fine;
  GridMGScan      scan;
  GridMGCrossing  crossing;
  GridMGEdges     edges;
  GridMGAdditions additions;
  GridMGSmall     small;
} GridMGAggregation;

/* ------------------------------------------------------------ stencils */

/*
   The distribution of the points of a level of stencils over several processes, whose boxes are a tensor product. A
   process has a larger box, of all own points and some remote points. Directions of one point come last.
*/
typedef struct {
  PetscInt      *start[3];          /* [parts + 1] where boxes begin along each direction */
  PetscInt       parts[3], size[3]; /* boxes and points along each direction */
  PetscInt       own[3], low[3];    /* number of own points; first point of the larger box */
  GridMGPoints   box, next;         /* the larger box, and its coarse points */
  GridMGExchange remote;
  GridMGExchange gather; /* the whole grid from own points */
} GridMGStencilShare;    /* owner: src/pc/gridmg/stencil/share.c */

/* Vectors of transfers: own points of the finest level, coarse points of the larger box */
typedef struct {
  void *part, *coarse;
} GridMGStencilTransfer; /* owner: src/pc/gridmg/stencil/gather.c */

/* A level during set-up */
typedef struct {
  GridMGStencils f;
  GridMGBlock    block;  /* its memory */
  GridMGBlock    second; /* the memory of coarse points of the larger box, or of the whole level */
} GridMGStencilExact;    /* owner: src/pc/gridmg/stencil/exact.c */

/* A level of stencils: 0 is the finest */
typedef struct {
  GridMGStencilOperator op;
  PetscBool             shared; /* several processes have a part each */
  GridMGStencilExact    full;   /* precision */
  GridMGStencilShare    split;
  GridMGStencilTransfer carry;
} GridMGStencilLevel; /* owner: src/pc/gridmg/stencil/level.c */

/* The kernels of cycles and their vectors, for one column or several: right-hand sides, and iterates */
typedef struct {
  const GridMGStencilKernels *kernels;
  void                       *b[GRIDMG_LEVELS_MAX], *x[GRIDMG_LEVELS_MAX][2];
  int                         cur[GRIDMG_LEVELS_MAX]; /* which x is the iterate */
} GridMGSweep;                                        /* owner: src/pc/gridmg/stencil/cycle.c */

/* Applications to several columns at once, few or GRIDMG_COLUMNS_MAX */
typedef struct {
  GridMGBlock   block[2];  /* vectors of the levels, */
  size_t        layout[2]; /* their places in the block, */
  LitheMGRecord record[2]; /* and recorded cycles */
  double       *scale;     /* of the columns */
  int           cur;       /* which x of the finest level cycles leave as the iterate */
} GridMGColumns;           /* owner: src/pc/gridmg/stencil/columns.c */

typedef struct {
  const GridMGStencilKernels *kernels; /* of the set-up. owner: src/pc/gridmg/stencil/device.c */
  GridMGStencilLevel          stencil[GRIDMG_LEVELS_MAX];
  GridMGSweep                 one;     /* column */
  GridMGSweep                 several; /* columns, of the application in progress */
  GridMGColumns               columns;
} GridMGStencilLevels;

/* ------------------------------------------------------------ both */

/* Hands out parts of the memory of all levels, or counts them. One number before and one after each part may be read */
typedef struct {
  char  *memory;
  size_t taken, layout; /* layout: a hash of the places of all parts */
} GridMGPool;           /* owner: src/pc/gridmg/base/memory.c */

typedef struct GridMGMethod GridMGMethod;

/* The method, and why */
typedef struct {
  const GridMGMethod *method;
  const char         *entries;   /* for which the method was chosen */
  PetscBool           star, box; /* star: 5 or 7 points per row, up to a few entries; box: 9 or 27 points, and no wells */
} GridMGChoice;                  /* owner: src/pc/gridmg/grid.c */

/* Where levels are */
typedef struct {
  const GridMGKernels *kernels, *host; /* host: those of the host */
  PetscBool            cuda;           /* the matrix has CUDA vectors */
  PetscBool            device;         /* levels, and vectors of applications, are on a device */
  PetscBool            overlap;        /* boxes of several processes overlap */
  PetscBool            refused;        /* boxes cannot overlap */
  PetscBool            apart;          /* boxes of a matrix with the present pattern cannot overlap */
  GridMGBlock          moved;          /* levels after a set-up on the host */
} GridMGPlace;                         /* owner: src/pc/gridmg/base/place.c */

/* Whose arrays the rows on a device are */
typedef enum {
  GRIDMG_ROWS_NONE,
  GRIDMG_ROWS_GIVEN,    /* by PCGridMGSetRows() */
  GRIDMG_ROWS_SPLIT,    /* copies of such rows, without columns of other processes */
  GRIDMG_ROWS_DECODED,  /* made for us by the matrix */
  GRIDMG_ROWS_CUSPARSE, /* the matrix's own */
} GridMGRowsOf;

/* Entries in columns of other processes on the host, row by row: own rows from 0, columns of the whole matrix */
typedef struct {
  PetscInt     n, *row, *column;
  PetscScalar *a;
} GridMGOutside; /* owner: src/pc/gridmg/base/outside.c */

/* The rows that are read */
typedef struct {
  Mat           matrix;  /* of the preconditioner, of the given rows, or of the scaling */
  GridMGCSR     given;   /* by PCGridMGSetRows(), or NULL; columns of the whole matrix */
  Mat           own;     /* the given rows, for readers of a matrix; or NULL */
  GridMGCSR     rows;    /* during set-up: rows on a device, with own columns from 0, else NULL; */
  GridMGRowsOf  of;      /* whose arrays they are, */
  GridMGOutside outside; /* and what several processes have beside them */
  PetscBool     scaled;  /* matrix is of the scaling */
  PetscBool     isnew;   /* given has changed */
} GridMGSource;          /* owner: src/pc/gridmg/base/rows.c */

/*
   The scaling of a matrix whose near null vector is not constant: levels are those of diag(left) A diag(right). how:
   LITHE_NEAR_NULL_CONSTANT without scaling
*/
typedef struct {
  LitheNearNull how;
  Vec           left, right; /* NULL: ones; the same object for a symmetric matrix */
  Vec           work[2];     /* of applications */
  Mat           matrix;      /* during set-up: the scaled copy, on several processes */
} GridMGScaling;             /* owner: src/pc/gridmg/base/scaling.c */

/* What reading the finest level has found */
typedef struct {
  PetscBool            symmetric;
  double               factor;   /* of all entries: a power of two, with the sign of the matrix */
  PetscBool            zeros;    /* stencils: all entries are 0 */
  PetscInt             negative; /* row sums of the finest level; those of a symmetric matrix count as 0 */
  PetscInt             clipped;  /* negative row sums that were taken as 0 */
  PetscBool            suspect;  /* the rows have negative sums, or rows of a nonsymmetric matrix differ in size: constants may not be near the null space */
  GridMGPrecision      precision;
  PCGridMGSmootherType smoother;
  double               overcorrection;
} GridMGFound; /* owner: src/pc/gridmg/base/found.c */

typedef struct {
  GridMGBlock pool;   /* codes and vectors of all levels */
  size_t      layout; /* of the pool; parts have zeros around them */
  PetscBool   kept;   /* the last set-up found the pool, the grids and the edges unchanged */
  GridMGArena arena;  /* exact entries */
  GridMGBlock dense;  /* of the coarsest level */
  GridMGBlock work;   /* of products of stencils */
} GridMGMemory;       /* owner: src/pc/gridmg/base/memory.c */

/* The inverse of the coarsest level */
typedef struct {
  void    *inverse, *scale;
  PetscInt singular; /* parts without row sums */
} GridMGInverse;     /* owner: src/pc/gridmg/base/coarsest.c */

typedef struct {
  double        *scale;   /* of the right-hand side, where the levels are */
  Vec            work[2]; /* on the device, for vectors of the host */
  PetscLogDouble flops;
} GridMGApplication; /* owner: src/pc/gridmg/base/apply.c */

typedef struct {
  char failed[256]; /* why the set-up failed */
  char why[96];     /* there is no coarser level */
} GridMGReport;     /* owner: src/pc/gridmg/base/report.c */

typedef struct {
  PetscBool  built;
  PetscInt   setups;
  PetscInt   n;        /* number of levels */
  PetscBool  linear;   /* a solver needs double precision, see src/pc/truth.c */
  PetscReal  rounding; /* error of a residual by single precision; -1: not measured since the set-up */
  PetscBool  fine;     /* a KSP wants the finest level for products */
  PetscInt64 number;   /* of the places of all arrays, see lithesingle.h */
} GridMGState;         /* owner: src/pc/gridmg/gridmg.c */

typedef struct {
  PCGridMGOptions     opt;
  GridMGState         state;
  GridMGChoice        choice;
  GridMGPlace         place;
  GridMGSource        source;
  GridMGScaling       scaling;
  GridMGDomain        domain;
  GridMGFound         found;
  GridMGMemory        memory;
  GridMGInverse       coarsest;
  GridMGApplication   application;
  LitheMGRecord       record; /* of visits of whole levels */
  GridMGReport        report;
  GridMGAggregation   aggregation;
  GridMGStencilLevels stencils;
} PC_GridMG;

/* The operations on a level, for -log_view */
typedef struct {
  double cells;    /* numbers of a vector */
  double residual; /* b - A x */
  double step;     /* of a smoothing step, without the residual */
  double start;    /* a step from zero */
  double transfer; /* restriction and prolongation */
} GridMGFlops;

/* What is freed: exact entries; what belongs to one set-up, such as records; all */
typedef enum {
  GRIDMG_FREE_SCRATCH,
  GRIDMG_FREE_RECORDS,
  GRIDMG_FREE_ALL
} GridMGFree;

/*
   One of the two methods, which PCGridMGChoose_Private() chooses once the grid is known. Functions of a set-up are
   called in this order; scale only if the near null vector is not constant
*/
struct GridMGMethod {
  PCGridMGInterpolationType interpolation;
  int                       citation;
  int                       parts;                                              /* of complex numbers that are applied one after the other */
  const char               *exchanges;                                          /* for the view */
  PetscErrorCode (*check)(PC);                                                  /* options, smoother and overcorrection */
  PetscErrorCode (*read)(PC);                                                   /* the finest level, exact */
  PetscErrorCode (*scale)(PC);                                                  /* the finest level of a single process, by the vectors of mg->scaling */
  PetscErrorCode (*coarsen)(PC, PetscInt *levels);                              /* all levels, exact */
  PetscErrorCode (*encode)(PC);                                                 /* all levels, as codes */
  PetscErrorCode (*coarsest)(PC);                                               /* the inverse of the coarsest level */
  PetscErrorCode (*finish)(PC);                                                 /* levels come to where the vectors are */
  PetscErrorCode (*apply)(PC_GridMG *, const PetscScalar x[], PetscScalar y[]); /* x and y are where the levels are */
  PetscErrorCode (*matapply)(PC, Mat X, Mat Y);                                 /* several columns at once on a device, or NULL */
  const GridMGExchange *(*exchange)(const PC_GridMG *);                         /* of the finest level, or NULL */
  GridMGFlops (*flops)(const PC_GridMG *, PetscInt level);
  PetscErrorCode (*viewlevel)(const PC_GridMG *, PetscInt level, PetscViewer);
  PetscErrorCode (*getoperator)(PC_GridMG *, PetscInt level, Mat *);
  PetscErrorCode (*getinterpolation)(PC_GridMG *, PetscInt level, Mat *);                                  /* from level + 1 */
  PetscErrorCode (*getarray)(PC_GridMG *, PetscInt level, const char name[], size_t *bytes, void **array); /* or NULL */
  PetscErrorCode (*single)(PC, LitheSingle *);                                                             /* or NULL: see PCGridMGHasFine() */
  PetscErrorCode (*free)(PC_GridMG *, GridMGFree);
};

#define GRIDMG_METHODS 2
PETSC_INTERN const GridMGMethod *const PCGridMGMethods[GRIDMG_METHODS]; /* grid.c */
PETSC_INTERN const GridMGMethod        GridMGAggregationMethod;         /* aggregation/aggregation.c */
PETSC_INTERN const GridMGMethod        GridMGStencilMethod;             /* stencil/stencil.c */

/*
   The largest number of unknowns of a coarsest level. inverse: a device inverts a symmetric matrix in less time than a
   few cycles on more levels take. W cycles visit the coarsest level more often than K cycles
*/
static inline PetscInt PCGridMGCoarseSize(const PC_GridMG *mg, PetscBool inverse)
{
  if (mg->opt.coarsesize != PETSC_DECIDE) return mg->opt.coarsesize;
  if (!inverse) return 300;
  return mg->opt.cycle == PCGRIDMG_CYCLE_K ? 1024 : 512;
}

/*
   Unknowns up to which each of several processes has all of a level. device: the default on devices, which do much in
   the time of an exchange
*/
static inline PetscInt PCGridMGGatherSize(const PC_GridMG *mg, PetscInt device)
{
  if (mg->opt.gathersize != PETSC_DECIDE) return mg->opt.gathersize;
  return mg->place.device ? device : 32768;
}

/*
   Whether vectors have double precision by option, or because the solver takes the preconditioner for a linear operator
*/
static inline PetscBool PCGridMGWantsDouble(const PC_GridMG *mg)
{
  return (PetscBool)(mg->opt.precision == PCGRIDMG_PRECISION_DOUBLE || (mg->opt.precision == PCGRIDMG_PRECISION_AUTO && mg->state.linear));
}

/* Whether there is the finest level for products of a KSP. Codes of 8 bits have errors of some per cent */
static inline PetscBool PCGridMGHasFine(const PC_GridMG *mg)
{
  return (PetscBool)(mg->state.fine && mg->state.n > 1 && mg->choice.method->single && mg->found.symmetric && mg->found.precision == GRIDMG_SINGLE &&
                     mg->opt.cycle != PCGRIDMG_CYCLE_K && mg->scaling.how == LITHE_NEAR_NULL_CONSTANT);
}

/* Whether the matrix is on several processes */
static inline PetscBool PCGridMGIsParallel(const PC_GridMG *mg)
{
  return (PetscBool)(mg->domain.team.size > 1);
}

/* The memory of a block */
static inline PetscErrorCode PCGridMGBlockFree_Private(GridMGBlock *block)
{
  PetscFunctionBegin;
  if (block->kernels && block->memory) PetscCall((*block->kernels->memory.free)(&block->memory));
  else PetscCall(PetscFree(block->memory));
  PetscCall(PetscMemzero(block, sizeof(*block)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory of at least `bytes` bytes where the kernels work, not zeroed; the former content is lost */
static inline PetscErrorCode PCGridMGReserve_Private(PC_GridMG *mg, GridMGBlock *block, size_t bytes, void **memory)
{
  PetscFunctionBegin;
  *memory = NULL;
  if (block->bytes < bytes || block->kernels != mg->place.kernels) {
    PetscCall(PCGridMGBlockFree_Private(block));
    if (bytes) PetscCall((*mg->place.kernels->memory.reserve)(bytes, &block->memory));
    block->kernels = mg->place.kernels;
    block->bytes   = bytes;
  }
  *memory = block->memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* view.c */
PETSC_INTERN PetscErrorCode PCView_GridMG(PC, PetscViewer);
/* matrices.c */
PETSC_INTERN PetscErrorCode PCGridMGComposeMatrices_Private(PC, PetscBool);
/* grid.c */
PETSC_INTERN void           PCGridMGChoiceStart_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGFindGrid_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGChoose_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGPrefersStencils_Private(const PC_GridMG *, PetscBool *);
/* flops.c */
PETSC_INTERN PetscLogDouble PCGridMGFlops_Private(const PC_GridMG *);
