/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The set-up of GridMGHostKernels: which direction is strong, P^T A P of pairs, and codes. Exact entries are in double precision.
*/

#include "gridmghost.h"
#include <src/codec/logarithmic.h>

#define GRIDMG_TOGETHER 8    /* ratios whose product is taken before its logarithm: at least 1e-8 each */
#define GRIDMG_LEAST    1e-8 /* a ratio counts as so large at least */
#define GRIDMG_ALONE    0.25 /* a cell with less in its faces and edges than this times its row sum has no place on the next level */
#define GRIDMG_BLOCK    1024 /* faces that are encoded at once */

/* What row c has in direction d, in both of its faces */
static inline double InDirection(const GridMGFaces *f, int d, PetscInt at, PetscInt c, PetscInt stride)
{
  if (!f->up[d]) return 0;
  return f->up[d][c] + (at > 0 ? f->down[d][c - stride] : 0);
}

/* Cells of the list: sum of T in row r of it */
static double ListSum(const GridMGList *list, PetscInt r)
{
  const double *t   = (const double *)list->t;
  double        sum = 0;

  for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) sum += t[e];
  return sum;
}

PetscErrorCode GridMGMeans_Host(const GridMGFaces *f, double sums[3], double *count)
{
  const GridMGGrid *g          = &f->grid;
  double            product[3] = {1, 1, 1};
  PetscInt          together   = 0;

  PetscFunctionBegin;
  sums[0] = sums[1] = sums[2] = *count = 0;
  for (PetscInt k = 0, c = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      for (PetscInt i = 0; i < g->n[0]; i++, c++) {
        const PetscInt at[3] = {i, j, k};
        double         in[3], diagonal;

        if (f->alive && !f->alive[c]) continue;
        for (int d = 0; d < 3; d++) in[d] = InDirection(f, d, at[d], c, GridMGStride(g, d));
        diagonal = f->sigma[c] + in[0] + in[1] + in[2];
        if (!(diagonal > 0)) continue;
        *count += 1;
        for (int d = 0; d < 3; d++) product[d] *= PetscMax(in[d], GRIDMG_LEAST * diagonal) / diagonal;
        if (++together < GRIDMG_TOGETHER) continue;
        for (int d = 0; d < 3; d++) {
          sums[d] += log(product[d]);
          product[d] = 1;
        }
        together = 0;
      }
    }
  }
  for (int d = 0; d < 3; d++) sums[d] += log(product[d]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridMGMark_Host(const GridMGFaces *f, unsigned char *alive, PetscInt *dead)
{
  const GridMGGrid *g    = &f->grid;
  PetscInt          next = 0;

  PetscFunctionBegin;
  *dead = 0;
  for (PetscInt k = 0, c = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      for (PetscInt i = 0; i < g->n[0]; i++, c++) {
        const PetscInt at[3] = {i, j, k};
        double         sum   = 0;

        for (int d = 0; d < 3; d++) sum += InDirection(f, d, at[d], c, GridMGStride(g, d));
        alive[c] = sum > GRIDMG_ALONE * f->sigma[c];
      }
    }
  }

  /* Edges of the list keep a cell alive, too */
  for (; next < f->list.part[1]; next++) {
    const PetscInt c = f->list.row[next];

    if (!alive[c]) {
      double sum = ListSum(&f->list, next);

      for (int d = 0; d < 3; d++) {
        const PetscInt stride = GridMGStride(g, d);

        sum += InDirection(f, d, c / stride % g->n[d], c, stride);
      }
      alive[c] = sum > GRIDMG_ALONE * f->sigma[c];
    }
  }
  for (PetscInt c = 0; c < g->cells; c++) *dead += !alive[c];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The faces of cells first .. of a line in direction e: first in the fine grid, to in the coarse one; d is the direction of pairs */
static void PairFaces(const GridMGFaces *f, int e, int d, PetscInt at, PetscInt first, PetscInt to, GridMGFaces *coarse)
{
  const GridMGGrid    *g      = &f->grid;
  const PetscInt       stride = GridMGStride(g, e);
  const unsigned char *alive  = f->alive;

  if (!f->up[e] || (e > 0 && at == g->n[e] - 1)) return;
  for (PetscInt i = 0; i < g->n[0] - (e == 0); i++) {
    const PetscInt c = first + i, C = to + (d == 0 ? i / 2 : i), where = e == 0 ? i : at;
    double         up, down;

    if (e == d && where % 2 == 0) {
      /* inside of a pair: nothing is left but the row sum of a cell whose partner has no place on the next level */
      if (!alive || (alive[c] && alive[c + stride])) continue;
    }
    up   = f->up[e][c];
    down = f->down[e][c];
    if (alive && !(alive[c] && alive[c + stride])) {
      const PetscInt D = C + (e == d ? (where % 2) * GridMGStride(&coarse->grid, e) : GridMGStride(&coarse->grid, e));

      if (alive[c]) coarse->sigma[C] += up;
      if (alive[c + stride]) coarse->sigma[D] += down;
      continue;
    }
    coarse->up[e][C] += up;
    if (!f->symmetric) coarse->down[e][C] += down;
  }
}

PetscErrorCode GridMGPair_Host(const GridMGFaces *f, int d, GridMGFaces *coarse)
{
  const GridMGGrid *g = &f->grid, *G = &coarse->grid;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      const PetscInt first = g->n[0] * (j + g->n[1] * k), to = G->n[0] * ((d == 1 ? j / 2 : j) + G->n[1] * (d == 2 ? k / 2 : k)), at[3] = {0, j, k};

      for (PetscInt i = 0; i < g->n[0]; i++) {
        if (!f->alive || f->alive[first + i]) coarse->sigma[to + (d == 0 ? i / 2 : i)] += f->sigma[first + i];
      }
      for (int e = 0; e < 3; e++) PairFaces(f, e, d, at[e], first, to, coarse);
    }
  }
  for (PetscInt w = 0; w < g->wells; w++) coarse->sigma[G->cells + w] = f->sigma[g->cells + w];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridMGRange_Host(const GridMGFaces *f, double *min, double *max)
{
  double least = PETSC_MAX_REAL, most = 0;

  PetscFunctionBegin;
  for (int a = 0; a < (f->symmetric ? 3 : 6); a++) {
    const double *t = a < 3 ? f->up[a] : f->down[a - 3];

    if (!t) continue;
    for (PetscInt c = 0; c < f->grid.cells; c++) {
      const double v = t[c];

      if (v > most) most = v;
      if (v > 0 && v < least) least = v;
    }
  }
  *min = most > 0 ? least : 0;
  *max = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ codes */

/* Codes of 8 or 16 bits of n faces, and the faces that they stand for */
static void EncodeFaces(const LitheLogScale *s, const GridMGOperator *op, PetscInt n, const double t[], void *codes, PetscInt at, double value[])
{
  PetscReal v[GRIDMG_BLOCK];
  uint16_t  code[GRIDMG_BLOCK];

  for (PetscInt l = 0; l < n; l++) v[l] = (PetscReal)t[l];
  LitheLogScaleEncodeMany(s, (size_t)n, v, code);
  for (PetscInt l = 0; l < n; l++) {
    if (op->bits == 8) ((uint8_t *)codes)[at + l] = (uint8_t)code[l];
    else ((uint16_t *)codes)[at + l] = code[l];
    value[l] = (double)LitheLogScaleDecode(s, code[l]);
  }
}

static inline void AddTo(GridMGPrecision precision, void *x, PetscInt i, double v)
{
  if (precision == GRIDMG_SINGLE) ((float *)x)[i] += (float)v;
  else ((double *)x)[i] += v;
}

/* The codes of an array of faces; what they stand for is added to the diagonals of their rows, at c + row[0] and c + row[1], or of the first */
static void EncodeArray(const LitheLogScale *s, const GridMGFaces *f, const GridMGOperator *op, const double t[], const void *codes, int nrows,
                        const PetscInt row[])
{
  double value[GRIDMG_BLOCK];

  for (PetscInt c = 0; c < f->grid.cells; c += GRIDMG_BLOCK) {
    const PetscInt n = PetscMin(GRIDMG_BLOCK, f->grid.cells - c);

    if (op->bits < 32) EncodeFaces(s, op, n, t + c, (void *)codes, c, value);
    else {
      for (PetscInt l = 0; l < n; l++) {
        ((float *)codes)[c + l] = (float)t[c + l];
        value[l]                = (double)(float)t[c + l];
      }
    }
    for (PetscInt l = 0; l < n; l++) {
      if (!(value[l] > 0)) continue;
      for (int k = 0; k < nrows; k++) AddTo(op->precision, (void *)op->dinv, c + l + row[k], value[l]);
    }
  }
}

static void FinishDiagonal(const GridMGFaces *f, const GridMGOperator *op)
{
  const PetscInt n = f->grid.cells + f->grid.wells;

  if (op->precision == GRIDMG_SINGLE) {
    float *sigma = (float *)op->sigma, *dinv = (float *)op->dinv;

    for (PetscInt i = 0; i < n; i++) {
      const double diagonal = f->sigma[i] + (double)dinv[i];

      sigma[i] = (float)f->sigma[i];
      dinv[i]  = diagonal > 0 ? (float)(1 / diagonal) : 0;
    }
  } else {
    double *sigma = (double *)op->sigma, *dinv = (double *)op->dinv;

    for (PetscInt i = 0; i < n; i++) {
      const double diagonal = f->sigma[i] + dinv[i];

      sigma[i] = f->sigma[i];
      dinv[i]  = diagonal > 0 ? 1 / diagonal : 0;
    }
  }
}

PetscErrorCode GridMGEncode_Host(const GridMGFaces *f, double min, double max, const GridMGOperator *op, double *bound)
{
  const size_t   bytes = GridMGNumberBytes(op->precision);
  LitheLogScale *s     = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMemzero((void *)op->dinv, (size_t)(f->grid.cells + f->grid.wells) * bytes));
  for (PetscInt r = 0; r < f->list.n; r++) AddTo(op->precision, (void *)op->dinv, f->list.row[r], ListSum(&f->list, r));
  *bound = 1.2e-7; /* of a float, twice */
  if (op->bits < 32) {
    PetscCall(PetscMalloc1(1, &s));
    LitheLogScaleSetUp(s, op->bits, min, max, 1, 0);
    *bound += LitheLogScaleBound(s);
    for (int c = 0; c < 256; c++) {
      if (op->precision == GRIDMG_SINGLE) {
        ((float *)op->table)[c]       = (float)s->coarse[c];
        ((float *)op->table)[256 + c] = (float)s->fine[c];
      } else {
        ((double *)op->table)[c]       = (double)s->coarse[c];
        ((double *)op->table)[256 + c] = (double)s->fine[c];
      }
    }
  }
  for (int d = 0; d < 3; d++) {
    const PetscInt rows[2] = {0, GridMGStride(&f->grid, d)};

    if (!f->up[d]) continue;
    EncodeArray(s, f, op, f->up[d], op->up[d], f->symmetric ? 2 : 1, rows);
    if (!f->symmetric) EncodeArray(s, f, op, f->down[d], op->down[d], 1, rows + 1);
  }
  FinishDiagonal(f, op);
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
