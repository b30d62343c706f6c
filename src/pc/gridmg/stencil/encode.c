/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rounds the stencils of a level to codes, on host memory, and computes the factors of smoothers for the rounded
   stencils.

   The largest part of an entry of row or column i is at most scale_i times the largest code. A symmetric operator
   stores an entry at the lower of its two points.

   GRIDMG_DAMP is for grids with few points per wavelength. With constant coefficients, the stencil of a point
   multiplies a smooth error by lambda_0. Errors that alternate from point to point in some directions have factors
   lambda_1 .. lambda_m. A step x += tau r multiplies these errors by 1 - tau lambda. Jacobi's tau = omega/diagonal
   amplifies smooth errors if lambda_0 is large and has the other sign. If the amplification exceeds a limit, tau
   minimises sum_k |1 - tau lambda_k|^2: tau = sum_k conj(lambda_k) / sum_k |lambda_k|^2.
*/

#include "gridmgstencilhost.h"

#define GRIDMG_OMEGA  0.5
#define GRIDMG_GROWTH 2.5

static inline double LargestPart(GridMGValue v)
{
  return PetscMax(fabs(GRIDMG_RE(v)), fabs(GRIDMG_IM(v)));
}

/*
   The largest part of an off-diagonal entry in the row and in the column of each point, most[] on output. A symmetric
   operator has each entry once, in the row of the lower point
*/
static void FindLargest(const GridMGStencils *f, const GridMGNeighbours *near, double most[])
{
  const GridMGPoints *g     = &f->grid;
  const GridMGValue  *a     = (const GridMGValue *)f->a;
  const int           first = f->symmetric ? g->centre + 1 : 0;

  for (PetscInt k = 0, i = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      const PetscBool inner = GridMGIsInner(g, j, k);

      for (PetscInt x = 0; x < g->n[0]; x++, i++, a += g->points) {
        const PetscBool all  = (PetscBool)(inner && x > 0 && x < g->n[0] - 1);
        double          mine = most[i];

        for (int s = first; s < g->points; s++) {
          const PetscInt at[3] = {x, j, k};
          PetscInt       to[3];
          double         v;

          if (s == g->centre || (!all && !GridMGNeighbour(g, at, s, to))) continue;
          v                       = LargestPart(a[s]);
          mine                    = PetscMax(mine, v);
          most[i + near->away[s]] = PetscMax(most[i + near->away[s]], v);
        }
        most[i] = mine;
      }
    }
  }
}

/* A power of two whose product with the largest code is at least `most` */
static double ScaleOf(double most, int bits)
{
  int exponent;

  if (bits == 32 || !(most > 0)) return 1;
  (void)frexp(most / (bits == 8 ? 127. : 32767.), &exponent); /* below 2^exponent */
  return ldexp(1., exponent);
}

static inline void Put(GridMGPrecision precision, const void *array, size_t i, double v)
{
  if (precision == GRIDMG_SINGLE) ((float *)array)[i] = (float)v;
  else ((double *)array)[i] = v;
}

static inline void PutValue(GridMGPrecision precision, const void *array, PetscInt i, GridMGValue v)
{
  if (precision == GRIDMG_SINGLE) ((GridMGSingleValue *)array)[i] = (GridMGSingleValue)v;
  else ((GridMGValue *)array)[i] = v;
}

static inline double Get(GridMGPrecision precision, const void *array, size_t i)
{
  return precision == GRIDMG_SINGLE ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/* rint() of a number of at most 51 bits, without a call */
static inline double Round(double v)
{
  return (v + 0x1.8p52) - 0x1.8p52;
}

/*
   Where codes are: of neighbour s of a point, and of the same entry of a symmetric operator in the row of the neighbour
*/
typedef struct {
  size_t own[GRIDMG_POINTS_MAX], other[GRIDMG_POINTS_MAX];
} Places;

/* Encodes one part of an entry, at one place or at two */
static LITHE_ALWAYS_INLINE void PutCode(const GridMGStencilOperator *op, int bits, size_t at, size_t other, double v, double scale, double inverse)
{
  double code = v;

  if (bits < 32) code = Round(scale < 0x1p-1000 ? v / scale : v * inverse); /* the inverse of a smaller scale may be infinite */
  if (bits == 32) {
    Put(op->precision, op->code, at, code);
    Put(op->precision, op->code, other, code);
  } else if (bits == 8) ((int8_t *)op->code)[at] = ((int8_t *)op->code)[other] = (int8_t)code;
  else ((int16_t *)op->code)[at] = ((int16_t *)op->code)[other] = (int16_t)code;
}

/* The decoded value */
static LITHE_ALWAYS_INLINE double GetCode(const GridMGStencilOperator *op, int bits, size_t at, double scale)
{
  if (bits == 8) return scale * (double)((const int8_t *)op->code)[at];
  if (bits == 16) return scale * (double)((const int16_t *)op->code)[at];
  return Get(op->precision, op->code, at);
}

/*
   Codes of a row. A symmetric operator gives the same codes to higher rows, and has those of lower rows.

   all: the point has all neighbours. rounded: the decoded stencil without the centre
*/
static LITHE_ALWAYS_INLINE void EncodeRow(const GridMGStencils *f, const GridMGStencilOperator *op, int bits, const GridMGNeighbours *near,
                                          const Places *places, const double scale[], PetscBool all, PetscInt i, const PetscInt at[3], GridMGValue rounded[])
{
  const GridMGPoints *g     = &f->grid;
  const GridMGValue  *a     = (const GridMGValue *)f->a + i * g->points;
  const size_t        begin = (size_t)i * GRIDMG_PARTS;
  PetscInt            to[3];

  for (int s = 0; s < g->points; s++) {
    const size_t place = places->own[s] + begin;
    double       least;

    rounded[s] = 0;
    if (s == g->centre || (!all && !GridMGNeighbour(g, at, s, to))) continue;
    least = PetscMin(scale[i], scale[i + near->away[s]]);
    if (!f->symmetric || s > g->centre) {
      const size_t other   = f->symmetric ? places->other[s] + begin : place;
      const double inverse = 1 / least;

      PutCode(op, bits, place, other, GRIDMG_RE(a[s]), least, inverse);
#if PetscDefined(USE_COMPLEX)
      PutCode(op, bits, place + 1, other + 1, GRIDMG_IM(a[s]), least, inverse);
#endif
    }
    rounded[s] = GetCode(op, bits, place, least);
#if PetscDefined(USE_COMPLEX)
    rounded[s] += GetCode(op, bits, place + 1, least) * I;
#endif
  }
}

static GridMGValue Damping(const GridMGPoints *g, const GridMGNeighbours *near, const GridMGValue stencil[])
{
  const GridMGValue jacobi = stencil[g->centre] == 0 ? 0 : GridMGQuotient(GRIDMG_OMEGA, stencil[g->centre]);
  GridMGValue       above  = 0;
  double            below  = 0;

  for (int mode = 0; mode < g->corners; mode++) {
    GridMGValue lambda = 0;

    for (int s = 0; s < g->points; s++) {
      const int both = mode & near->bits[s];

      lambda += (both ^ both >> 1 ^ both >> 2) & 1 ? -stencil[s] : stencil[s];
    }
    if (mode == 0 && stencil[g->centre] != 0 && GridMGModulusOf(1. - jacobi * lambda) <= GRIDMG_GROWTH) return jacobi;
    above += GRIDMG_CONJ(lambda);
    below += GRIDMG_RE(lambda) * GRIDMG_RE(lambda) + GRIDMG_IM(lambda) * GRIDMG_IM(lambda);
  }
  return below > 0 ? above / below : 0;
}

/* An inactive point: all entries of the row are 0 */
static PetscBool IsEmpty(const GridMGStencils *f, PetscInt i)
{
  const GridMGValue *a = (const GridMGValue *)f->a + i * f->grid.points;

  for (int s = 0; s < f->grid.points; s++) {
    if (a[s] != 0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static LITHE_ALWAYS_INLINE PetscInt EncodeCells(const GridMGStencils *f, GridMGFactor kind, const GridMGStencilOperator *op, int bits,
                                                const GridMGNeighbours *near, const Places *places, const double scale[])
{
  const GridMGPoints *g   = &f->grid;
  PetscInt            bad = -1;

  for (PetscInt k = 0, i = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      const PetscBool inner = GridMGIsInner(g, j, k);

      for (PetscInt x = 0; x < g->n[0]; x++, i++) {
        const GridMGValue sigma = ((const GridMGValue *)f->sigma)[i];
        const PetscInt    at[3] = {x, j, k};
        GridMGValue       rounded[GRIDMG_POINTS_MAX], factor;

        EncodeRow(f, op, bits, near, places, scale, (PetscBool)(inner && x > 0 && x < g->n[0] - 1), i, at, rounded);
        rounded[g->centre] = sigma;
        for (int s = 0; s < g->points; s++) {
          if (s != g->centre) rounded[g->centre] -= rounded[s];
        }
        if (kind == GRIDMG_DAMP) factor = Damping(g, near, rounded);
        else factor = rounded[g->centre] == 0 ? 0 : GridMGQuotient(1, rounded[g->centre]);
        if (factor == 0 && bad < 0 && !IsEmpty(f, i)) bad = i;
        PutValue(op->precision, op->sigma, i, sigma);
        PutValue(op->precision, op->factor, i, factor);
        for (int c = 0; c < g->corners && op->weight; c++)
          Put(op->precision, op->weight, (size_t)c * (size_t)g->cells + (size_t)i, f->weight[i * g->corners + c]);
      }
    }
  }
  return bad;
}

PetscErrorCode GridMGStencilEncode_Host(const GridMGStencils *f, GridMGFactor kind, const GridMGStencilOperator *op, PetscInt *bad)
{
  const GridMGPoints *g = &f->grid;
  GridMGNeighbours    near;
  Places              places;
  double             *scale;

  PetscFunctionBegin;
  GridMGSetNeighbours(g, &near);
  for (int k = 0; k < g->points; k++) {
    places.own[k]   = (size_t)k * (size_t)op->pitch * GRIDMG_PARTS;
    places.other[k] = ((size_t)(g->points - 1 - k) * (size_t)op->pitch + (size_t)near.away[k]) * GRIDMG_PARTS;
  }
  PetscCall(PetscCalloc1(g->cells, &scale));
  if (op->bits < 32) FindLargest(f, &near, scale);
  for (PetscInt i = 0; i < g->cells; i++) {
    Put(op->precision, op->scale, (size_t)i, ScaleOf(scale[i], op->bits));
    scale[i] = Get(op->precision, op->scale, (size_t)i);
  }
  if (op->bits == 8) *bad = EncodeCells(f, kind, op, 8, &near, &places, scale);
  else if (op->bits == 16) *bad = EncodeCells(f, kind, op, 16, &near, &places, scale);
  else *bad = EncodeCells(f, kind, op, 32, &near, &places, scale);
  PetscCall(PetscFree(scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
