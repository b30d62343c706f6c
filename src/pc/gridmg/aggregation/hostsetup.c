/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The set-up of GridMGHostKernels: which direction is strong, P^T A P of aggregates, and codes. Exact entries are in
   double precision. Kernels of a device (cuda/gridmg/aggregation/setup.cuh) add the same numbers in the same order.
*/

#include "gridmghost.h"
#include <lithe/private/codec/logarithmic.h>

#define GRIDMG_BLOCK 1024 /* faces encoded at once */

/* The sum of both faces of row c in direction d */
static inline double InDirection(const GridMGFaces *f, int d, PetscInt at, PetscInt c, PetscInt stride)
{
  if (!f->up[d]) return 0;
  return f->up[d][c] + (at > 0 ? f->down[d][c - stride] : 0);
}

/* The sum of T in row r of the list */
static double ListSum(const GridMGList *list, PetscInt r)
{
  const double *t   = (const double *)list->t;
  double        sum = 0;

  for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) sum += t[e];
  return sum;
}

/* Which cells are alive */
static PetscInt Mark(const GridMGFaces *f, unsigned char *alive)
{
  const GridMGGrid *g    = &f->grid;
  PetscInt          next = 0, dead = 0;

  for (PetscInt k = 0, c = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      for (PetscInt i = 0; i < g->n[0]; i++, c++) {
        const PetscInt at[3] = {i, j, k};
        double         sum   = 0;

        for (int d = 0; d < 3; d++) sum += InDirection(f, d, at[d], c, GridMGStride(g, d));
        alive[c] = sum > GRIDMG_ALONE * f->sigma[c] || !GridMGIsOwn(f, at);
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
  for (PetscInt c = 0; c < g->cells; c++) dead += !alive[c];
  return dead;
}

/* The logarithm of the product of ratios, as a whole number, in the order in which the threads of a device multiply */
static inline PetscInt64 LogOf(const double p[GRIDMG_LOG_TOGETHER])
{
  const double product = ((p[0] * p[4]) * (p[2] * p[6])) * ((p[1] * p[5]) * (p[3] * p[7]));

  return product == 1 ? 0 : (PetscInt64)rint(LitheLog(product) * GRIDMG_LOG_UNIT);
}

/* The geometric means over cells that are alive. Ratios of eight cells are multiplied before a logarithm is taken */
static void Means(const GridMGFaces *f, const unsigned char *alive, GridMGSurvey *survey)
{
  const GridMGGrid *g = &f->grid;
  double            ratio[3][GRIDMG_LOG_TOGETHER];
  PetscInt64        logs[3] = {0, 0, 0};
  PetscInt          next    = 0; /* of the border */

  for (PetscInt k = 0, c = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      for (PetscInt i = 0; i < g->n[0]; i++, c++) {
        const PetscInt at[3] = {i, j, k};
        const int      place = (int)(c % GRIDMG_LOG_TOGETHER);
        double         in[3], diagonal;

        if (place == 0) {
          for (int d = 0; d < 3; d++) {
            for (int l = 0; l < GRIDMG_LOG_TOGETHER; l++) ratio[d][l] = 1;
          }
        }
        for (int d = 0; d < 3; d++) in[d] = InDirection(f, d, at[d], c, GridMGStride(g, d));
        if (f->border && next < f->border->n && f->border->cell[next] == c) {
          for (int d = 0; d < 3; d++) in[d] += f->border->t[3 * next + d];
          next++;
        }
        diagonal = f->sigma[c] + in[0] + in[1] + in[2];
        if (alive[c] && diagonal > GRIDMG_LOG_SMALLEST && GridMGIsOwn(f, at)) {
          const double inverse = 1 / diagonal;

          survey->count += 1;
          for (int d = 0; d < 3; d++) ratio[d][place] = PetscMax(in[d], GRIDMG_LOG_LEAST * diagonal) * inverse;
        }
        if (place < GRIDMG_LOG_TOGETHER - 1 && c < g->cells - 1) continue;
        for (int d = 0; d < 3; d++) logs[d] += LogOf(ratio[d]);
      }
    }
  }
  for (int d = 0; d < 3; d++) survey->logs[d] = (double)logs[d] / GRIDMG_LOG_UNIT;
}

static void Range(const GridMGFaces *f, GridMGSurvey *survey)
{
  double least = PETSC_MAX_REAL, most = 0;

  for (int a = 0; a < (f->symmetric ? 3 : 6); a++) {
    const double *t = a < 3 ? f->up[a] : f->down[a - 3];

    if (!t) continue;
    for (PetscInt c = 0; c < f->grid.cells; c++) {
      const double v = t[c];

      if (v > most) most = v;
      if (v > 0 && v < least) least = v;
    }
  }
  survey->min = most > 0 ? least : 0;
  survey->max = most;
}

PetscErrorCode GridMGSurvey_Host(const GridMGFaces *f, unsigned char *alive, GridMGSurvey *survey)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(survey, sizeof(*survey)));
  survey->dead = Mark(f, alive);
  Means(f, alive, survey);
  Range(f, survey);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ coarsening */

/* sigma, up and down of a line of cells */
#define LINE_ARRAYS 7

/*
   The line of cells (j, k) as aggregates read it. Entries towards cells without a place on the next level are added to
   the row sums
*/
static void MaskLine(const GridMGFaces *f, PetscInt j, PetscInt k, double *work, const double *line[LINE_ARRAYS])
{
  const GridMGGrid    *g     = &f->grid;
  const PetscInt       first = g->n[0] * (j + g->n[1] * k);
  const unsigned char *alive = f->alive;

  line[0] = work;
  for (PetscInt i = 0; i < g->n[0]; i++) {
    const PetscInt c = first + i, at[3] = {i, j, k};

    work[i] = alive[c] ? f->sigma[c] : 0;
    for (int d = 0; d < 3; d++) {
      const PetscInt stride = GridMGStride(g, d);
      PetscBool      stays;

      if (!f->up[d]) continue;
      stays = (PetscBool)(alive[c] && at[d] < g->n[d] - 1 && alive[c + stride]);
      if (alive[c] && at[d] > 0 && !alive[c - stride]) work[i] += f->down[d][c - stride];
      if (alive[c] && at[d] < g->n[d] - 1 && !stays) work[i] += f->up[d][c];
      work[(1 + d) * g->n[0] + i] = stays ? f->up[d][c] : 0;
      work[(4 + d) * g->n[0] + i] = stays ? f->down[d][c] : 0;
    }
  }
  for (int d = 0; d < 3; d++) {
    line[1 + d] = f->up[d] ? work + (1 + d) * g->n[0] : NULL;
    line[4 + d] = f->up[d] && !f->symmetric ? work + (4 + d) * g->n[0] : NULL;
  }
}

static void GetLine(const GridMGFaces *f, PetscInt j, PetscInt k, const double *line[LINE_ARRAYS])
{
  const PetscInt first = f->grid.n[0] * (j + f->grid.n[1] * k);

  line[0] = f->sigma + first;
  for (int d = 0; d < 3; d++) {
    line[1 + d] = f->up[d] ? f->up[d] + first : NULL;
    line[4 + d] = f->up[d] && !f->symmetric ? f->down[d] + first : NULL;
  }
}

/* Sums pairs of a line; last: only the second cell of each pair, which may not exist */
static void AddPairs(PetscInt n, int by, PetscBool last, const double *from, double *to)
{
  if (by == 1) {
    for (PetscInt i = 0; i < n; i++) to[i] += from[i];
  } else if (last) {
    for (PetscInt i = 0; i < n / 2; i++) to[i] += from[2 * i + 1];
  } else {
    for (PetscInt i = 0; i < n / 2; i++) to[i] += from[2 * i] + from[2 * i + 1];
    if (n % 2) to[n / 2] += from[n - 1];
  }
}

PetscErrorCode GridMGCoarsen_Host(const GridMGFaces *f, const int by[3], const GridMGFaces *coarse)
{
  const GridMGGrid *g = &f->grid, *G = &coarse->grid;
  double           *work, *second;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(LINE_ARRAYS * g->n[0], &work, LINE_ARRAYS * G->n[0], &second));
  for (PetscInt line = 0; line < G->n[1] * G->n[2]; line++) {
    const PetscInt J = line % G->n[1], K = line / G->n[1];
    const double  *to[LINE_ARRAYS];

    GetLine(coarse, J, K, to);
    for (int q = 0; q < LINE_ARRAYS; q++) {
      if (to[q]) PetscCall(PetscArrayzero((double *)to[q], G->n[0]));
    }
    for (int z = 0; z < by[2] && K * by[2] + z < g->n[2]; z++) {
      if (z) PetscCall(PetscArrayzero(second, LINE_ARRAYS * G->n[0]));
      for (int y = 0; y < by[1] && J * by[1] + y < g->n[1]; y++) {
        const PetscBool inside[3] = {PETSC_FALSE, (PetscBool)(y < by[1] - 1), (PetscBool)(z < by[2] - 1)};
        const double   *from[LINE_ARRAYS];

        if (f->alive) MaskLine(f, J * by[1] + y, K * by[2] + z, work, from);
        else GetLine(f, J * by[1] + y, K * by[2] + z, from);
        for (int q = 0; q < LINE_ARRAYS; q++) {
          const int d = q ? (q - 1) % 3 : -1;

          /* entries within an aggregate vanish */
          if (!to[q] || (d >= 0 && inside[d])) continue;
          AddPairs(g->n[0], by[0], (PetscBool)(d == 0), from[q], z ? second + q * G->n[0] : (double *)to[q]);
        }
      }
      for (int q = 0; q < LINE_ARRAYS && z; q++) {
        for (PetscInt i = 0; i < G->n[0] && to[q]; i++) ((double *)to[q])[i] += second[q * G->n[0] + i];
      }
    }
  }
  for (PetscInt w = 0; w < g->wells; w++) coarse->sigma[G->cells + w] = f->sigma[g->cells + w];
  PetscCall(PetscFree2(work, second));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridMGAliveOf_Host(const GridMGFaces *f, PetscInt n, const PetscInt vertex[], unsigned char alive[])
{
  PetscFunctionBegin;
  for (PetscInt v = 0; v < n; v++) alive[v] = vertex[v] >= f->grid.cells || f->alive[vertex[v]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridMGAdd_Host(const GridMGFaces *f, PetscInt n, const GridMGAddition addition[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt array = addition[k].array;

    (array < 0 ? f->sigma : (array < 3 ? f->up[array] : f->down[array - 3]))[addition[k].at] += addition[k].t;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ codes */

/* Codes of 8 or 16 bits for n faces, and the decoded faces */
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

/*
   Encodes an array of faces. The decoded faces are added to the diagonals of their rows c + row[0] and c + row[1], or
   only of the first
*/
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
  LitheLogScale *s = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMemzero((void *)op->dinv, (size_t)(f->grid.cells + f->grid.wells) * GridMGNumberBytes(op->precision)));
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
