/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by PCGRIDMG with de Zeeuw's interpolation, its host loops and the kernels of a device: levels whose rows are
   stencils, as plain data.

   A point has up to 3^dim - 1 neighbours. Neighbour s of a point is (s % 3 - 1, s / 3 % 3 - 1, s / 9 - 1) away, and the
   centre is the point itself. Directions of one point are left out: the dim remaining directions come first.

   The operator of a level is

     (A x)_i = sigma_i x_i + sum_s a_is (x_j - x_i)

   with the row sums sigma: rounding of a_is does not affect constants. Entries are numbers, or

     a_is = min(scale_i, scale_j) code_is

   with powers of two and codes of 8 or 16 bits: an entry between a point of strong entries and a point of weak entries
   is weak. A symmetric operator stays symmetric to the last bit.

   With complex PetscScalar all values are complex, real part first, except scales and weights. Level arrays are ordered
   neighbour by neighbour: the code of neighbour s of point i is at [s pitch + i]. On a device codes have another order,
   cuda/gridmg/stencil/stencil.cuh.
*/

#include <lithe/private/gridmg/gridmg.h>
#include <math.h>

#define GRIDMG_POINTS_MAX  27
#define GRIDMG_CORNERS_MAX 8

typedef struct {
  int      dim, points, corners, centre;
  PetscInt n[3], cells;
} GridMGPoints;

/*
   A level during set-up. Entries of missing neighbours are 0. On the host arrays are ordered point by point. On a
   device arrays are ordered neighbour by neighbour, [points][cells] and [corners][cells].
*/
typedef struct {
  GridMGPoints grid;
  PetscBool    symmetric;
  double       factor; /* of a and sigma, a power of two. 1 on the host and on coarse levels */
  void        *a;      /* double, [cells][points] with the centre */
  void        *sigma;  /* double, [cells] */
  double      *weight; /* [cells][corners]: weight of the coarse point (i/2 + bit 0, j/2 + bit 1, k/2 + bit 2) of corner c */
} GridMGStencils;

/* Results of reading the stencils of a matrix on a device */
typedef struct {
  double most, least;                     /* the largest part of all entries; the least over nonempty rows of the largest part, or NaN */
  int    nonumber, outside;               /* the first row with an entry that is not finite, or outside the grid; PETSC_INT32_MAX: none */
  int    imaginary, asymmetric, negative; /* negative: a row sum */
} GridMGRead;

typedef enum {
  GRIDMG_DIVIDE, /* 1 over the diagonal entry */
  GRIDMG_DAMP    /* damped Jacobi's method, or another factor if smooth errors would grow */
} GridMGFactor;

/* A level as cycles read it; arrays are in its precision, codes have its bits (32: numbers in its precision) */
typedef struct {
  GridMGPoints    grid;
  GridMGPrecision precision;
  PetscBool       symmetric;
  int             bits;
  PetscInt        pitch;                                  /* of codes, at least cells: the code of neighbour s of point i is at [s pitch + i] */
  const void     *code, *scale, *sigma, *factor, *weight; /* weight: [corners][cells], or NULL */
} GridMGStencilOperator;

typedef struct {
  /* Vectors of the matrix. largest: the modulus of the largest part, which defines a power of two s =
     LitheMGScaleOf(*largest); b = s x; y = factor x / s */
  PetscErrorCode (*largest)(const GridMGStencilOperator *, const PetscScalar *x, double *largest);
  PetscErrorCode (*enter)(const GridMGStencilOperator *, const PetscScalar *x, const double *largest, void *b);
  PetscErrorCode (*leave)(const GridMGStencilOperator *, double factor, const double *largest, const void *x, PetscScalar *y);

  /* x = c factor b on points of a colour, or with -1 on all, and 0 elsewhere. Bit d of a colour: the number in
     direction d is odd */
  PetscErrorCode (*start)(const GridMGStencilOperator *, int colour, double c, const void *b, void *x);
  /* Gauss-Seidel on the points of a colour */
  PetscErrorCode (*colour)(const GridMGStencilOperator *, int colour, const void *b, void *x);
  /* out = x + c factor (b - A x); out is not x */
  PetscErrorCode (*step)(const GridMGStencilOperator *, double c, const void *b, const void *x, void *out);

  /* r = b - A x, with b = NULL r = A x */
  PetscErrorCode (*residual)(const GridMGStencilOperator *, const void *b, const void *x, void *r);
  /* b = P^T r; x += factor P e */
  PetscErrorCode (*restrict_)(const GridMGStencilOperator *fine, const GridMGPoints *coarse, const void *r, void *b);
  PetscErrorCode (*prolong)(const GridMGStencilOperator *fine, const GridMGPoints *coarse, double factor, const void *e, void *x);
  /*
     The same if x starts with c factor b, and no other function needs x: r = b - A x, with x as work; x = c factor b +
     factor P e. Both are NULL if not faster
  */
  PetscErrorCode (*down)(const GridMGStencilOperator *, double c, const void *b, void *x, void *r);
  PetscErrorCode (*up)(const GridMGStencilOperator *fine, const GridMGPoints *coarse, double factor, const void *e, double c, const void *b, void *x);
  /* x = S L S b with the inverse L row by row and real numbers S; work: of the size of x */
  PetscErrorCode (*dense)(const GridMGStencilOperator *, const void *L, const void *S, const void *b, void *work, void *x);

  /* Set-up, on exact entries */
  /*
     The finest level, without factor, of a matrix on a device; without a matrix the entries exist. A row sum becomes 0
     if at most `rounding` times the sum of moduli. Unless `same` is negative, entries count as symmetric if they differ
     by at most the part `same`. NULL for the host
  */
  PetscErrorCode (*read)(const GridMGCSR *, double rounding, double same, const GridMGStencils *, GridMGRead *);
  /* Entries times left_i right_j, with real numbers where the level is; NULL: ones. Row sums become wrong */
  PetscErrorCode (*scale)(const GridMGStencils *, const PetscScalar *left, const PetscScalar *right);
  /* The weights of a level */
  PetscErrorCode (*weights)(const GridMGStencils *);
  /* P^T A P: a and sigma of coarse, which exist and are 0. work: GridMGProductWork() values */
  PetscErrorCode (*product)(const GridMGStencils *, void *work, const GridMGStencils *coarse);
  int planes; /* that fit into work, an odd number */
  /* Encodes a level whose arrays exist. bad: the first point without a factor, or -1 */
  PetscErrorCode (*encode)(const GridMGStencils *, GridMGFactor, const GridMGStencilOperator *, PetscInt *bad);
} GridMGStencilKernels;

PETSC_INTERN const GridMGStencilKernels GridMGStencilHostKernels; /* src/pc/gridmg/stencil/host.c */

/*
   Several right-hand sides at once: vectors of levels have `columns` values for each point, one after the other. x and
   y have at most n columns, ld values apart; further columns are 0. Each column has a separate scale: two numbers
*/
typedef struct {
  int columns;
  PetscErrorCode (*enter)(const GridMGStencilOperator *, PetscInt n, const PetscScalar *x, PetscInt ld, void *b, double *scale);
  PetscErrorCode (*leave)(const GridMGStencilOperator *, PetscInt n, double factor, const double *scale, const void *x, PetscScalar *y, PetscInt ld);
  /* step() with the result in y, in the form of leave() */
  PetscErrorCode (*stepleave)(const GridMGStencilOperator *, double c, const void *b, const void *x, PetscInt n, double factor, const double *scale,
                              PetscScalar *y, PetscInt ld);
  GridMGStencilKernels cycle; /* the operations of cycles */
} GridMGColumnsKernels;

#define GRIDMG_COLUMNS_MAX 8

/* Parts of a number, real and imaginary */
#define GRIDMG_PARTS (PetscDefined(USE_COMPLEX) ? 2 : 1)

/*
   On a device a group of points has its codes together, so many of a point side by side, of this number of bytes each
*/
#define GRIDMG_GROUP           32
#define GRIDMG_CODES_OF(bytes) ((bytes) > 8 ? 1 : ((bytes) > 4 ? 2 : 4))

/* How far neighbour s is in direction d */
static LITHE_HD inline int GridMGOffset(int s, int d)
{
  if (d == 0) return s % 3 - 1;
  return (d == 1 ? s / 3 : s / 9) % 3 - 1;
}

static LITHE_HD inline int GridMGThree(int d)
{
  if (d == 0) return 1;
  return d == 1 ? 3 : 9;
}

/* The coarse grid has every second point and the last point */
static LITHE_HD inline PetscInt GridMGCoarseSize(PetscInt n)
{
  return n > 1 ? n / 2 + 1 : n;
}

/*
   Products and sums that are rounded separately: a device compiler would fuse them, and codes would differ from the
   codes of the host
*/
#if defined(__CUDA_ARCH__)
  #define GRIDMG_TIMES(a, b) __dmul_rn(a, b)
  #define GRIDMG_PLUS(a, b)  __dadd_rn(a, b)
#else
  #define GRIDMG_TIMES(a, b) ((a) * (b))
  #define GRIDMG_PLUS(a, b)  ((a) + (b))
#endif

/* A power of two that brings a number near 1 if its square would be out of range */
static LITHE_HD inline double GridMGNearOne(double largest)
{
  if (largest > 0x1p+500) return 0x1p-520;
  return largest < 0x1p-400 ? 0x1p+520 : 1;
}

static LITHE_HD inline double GridMGModulus(double re, double im)
{
  const double a = fabs(re), b = fabs(im), s = GridMGNearOne(a > b ? a : b), x = s * a, y = s * b;

  return b == 0 ? a : sqrt(GRIDMG_PLUS(GRIDMG_TIMES(x, x), GRIDMG_TIMES(y, y))) / s;
}

/* c divided by a nonzero value */
static LITHE_HD inline void GridMGDivide(double c, double re, double im, double quotient[2])
{
  const double a = fabs(re), b = fabs(im), s = GridMGNearOne(a > b ? a : b), x = s * re, y = s * im;
  const double square = GRIDMG_PLUS(GRIDMG_TIMES(x, x), GRIDMG_TIMES(y, y));

  quotient[0] = b == 0 ? c / re : GRIDMG_TIMES(c, x / square) * s;
  quotient[1] = b == 0 ? 0 : GRIDMG_TIMES(c, -(y / square)) * s;
}

/* Number of values of work for a product: rows times P of some planes, with row sums */
static LITHE_HD inline size_t GridMGProductWork(const GridMGPoints *g, int planes)
{
  return (size_t)(g->n[2] < planes ? g->n[2] : planes) * (size_t)(g->points + 1) * (size_t)g->n[0] * (size_t)g->n[1];
}
