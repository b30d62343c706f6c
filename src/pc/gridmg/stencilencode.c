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

/* Entry s of a point; a symmetric operator stores it at the lower of both points. to: the other point */
static inline GridMGValue EntryOf(const GridMGStencils *f, PetscInt i, PetscInt to, int s)
{
  const GridMGValue *a      = (const GridMGValue *)f->a;
  const int          points = f->grid.points;

  return f->symmetric && to < i ? a[to * points + points - 1 - s] : a[i * points + s];
}

/* The largest part of an off-diagonal entry in the row and in the column of a point */
static double LargestOf(const GridMGStencils *f, PetscInt i, const PetscInt at[3])
{
  const GridMGPoints *g    = &f->grid;
  double              most = 0;

  for (int s = 0; s < g->points; s++) {
    PetscInt to[3], j;

    if (s == g->centre || !GridMGNeighbour(g, at, s, to)) continue;
    j    = GridMGPointOf(g, to);
    most = PetscMax(most, LargestPart(EntryOf(f, i, j, s)));
    most = PetscMax(most, LargestPart(EntryOf(f, j, i, g->points - 1 - s)));
  }
  return most;
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

static inline double Get(GridMGPrecision precision, const void *array, PetscInt i)
{
  return precision == GRIDMG_SINGLE ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

/* Encodes one part of an entry; returns the decoded value */
static double PutCode(const GridMGStencilOperator *op, size_t at, double v, double scale)
{
  double code;

  if (op->bits == 32) {
    Put(op->precision, op->code, at, v);
    return op->precision == GRIDMG_SINGLE ? (double)(float)v : v;
  }
  code = rint(v / scale);
  if (op->bits == 8) ((int8_t *)op->code)[at] = (int8_t)code;
  else ((int16_t *)op->code)[at] = (int16_t)code;
  return scale * code;
}

/* Codes of a row; rounded: its decoded stencil without the centre */
static void EncodeRow(const GridMGStencils *f, const GridMGStencilOperator *op, PetscInt i, const PetscInt at[3], GridMGValue rounded[])
{
  const GridMGPoints *g = &f->grid;

  for (int s = 0; s < g->points; s++) {
    const size_t place = ((size_t)s * (size_t)op->pitch + (size_t)i) * GRIDMG_PARTS;
    GridMGValue  v;
    PetscInt     to[3], j;
    double       scale;

    rounded[s] = 0;
    if (s == g->centre || !GridMGNeighbour(g, at, s, to)) continue;
    j          = GridMGPointOf(g, to);
    v          = EntryOf(f, i, j, s);
    scale      = PetscMin(Get(op->precision, op->scale, i), Get(op->precision, op->scale, j));
    rounded[s] = PutCode(op, place, GRIDMG_RE(v), scale);
#if PetscDefined(USE_COMPLEX)
    rounded[s] += PutCode(op, place + 1, GRIDMG_IM(v), scale) * I;
#endif
  }
}

static GridMGValue Damping(const GridMGPoints *g, const GridMGValue stencil[])
{
  const GridMGValue jacobi = stencil[g->centre] == 0 ? 0 : GridMGQuotient(GRIDMG_OMEGA, stencil[g->centre]);
  GridMGValue       above  = 0;
  double            below  = 0;

  for (int mode = 0; mode < g->corners; mode++) {
    GridMGValue lambda = 0;

    for (int s = 0; s < g->points; s++) {
      int odd = 0;

      for (int d = 0; d < g->dim; d++) odd ^= (mode >> d & 1) & (GridMGOffset(s, d) != 0);
      lambda += odd ? -stencil[s] : stencil[s];
    }
    if (mode == 0 && stencil[g->centre] != 0 && GridMGModulusOf(1. - jacobi * lambda) <= GRIDMG_GROWTH) return jacobi;
    above += GRIDMG_CONJ(lambda);
    below += GRIDMG_RE(lambda) * GRIDMG_RE(lambda) + GRIDMG_IM(lambda) * GRIDMG_IM(lambda);
  }
  return below > 0 ? above / below : 0;
}

PetscErrorCode GridMGStencilEncode_Host(const GridMGStencils *f, GridMGFactor kind, const GridMGStencilOperator *op, PetscInt *bad)
{
  const GridMGPoints *g = &f->grid;

  PetscFunctionBegin;
  *bad = -1;
  for (PetscInt i = 0; i < g->cells; i++) {
    PetscInt at[3];

    GridMGAt(g, i, at);
    Put(op->precision, op->scale, (size_t)i, op->bits == 32 ? 1 : ScaleOf(LargestOf(f, i, at), op->bits));
    for (int c = 0; c < g->corners && op->weight; c++) Put(op->precision, op->weight, (size_t)c * (size_t)g->cells + (size_t)i, f->weight[i * g->corners + c]);
  }
  for (PetscInt i = 0; i < g->cells; i++) {
    const GridMGValue sigma = ((const GridMGValue *)f->sigma)[i];
    GridMGValue       rounded[GRIDMG_POINTS_MAX], factor;
    PetscInt          at[3];

    GridMGAt(g, i, at);
    EncodeRow(f, op, i, at, rounded);
    rounded[g->centre] = sigma;
    for (int s = 0; s < g->points; s++) {
      if (s != g->centre) rounded[g->centre] -= rounded[s];
    }
    if (kind == GRIDMG_DAMP) factor = Damping(g, rounded);
    else factor = rounded[g->centre] == 0 ? 0 : GridMGQuotient(1, rounded[g->centre]);
    if (factor == 0 && *bad < 0) *bad = i;
    PutValue(op->precision, op->sigma, i, sigma);
    PutValue(op->precision, op->factor, i, factor);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
