/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   GridMGHostKernels: the operations of PCGRIDMG on host memory, in one thread. The kernels of a device are compared
   with these operations. Loops that decode faces are in gridmghostloops.h, other loops in gridmghostvectors.h, and the
   set-up in hostsetup.c.
*/

#include "gridmghost.h"
#include <lithe/private/lithememory.h>
#include "../base/gridmghostcodes.h"
#include <math.h>

#define HOST_NUMBER  float
#define HOST_NAME(f) f##_Single
#include "gridmghostvectors.h"

#define HOST_NUMBER  double
#define HOST_NAME(f) f##_Double
#include "gridmghostvectors.h"

#define TABLE8(t, c)  (t)[c]
#define TABLE16(t, c) ((t)[(c) >> 8] * (t)[256 + ((c)&255)])

#define HOST_NUMBER  float
#define HOST_CODE    uint8_t
#define HOST_VALUE   TABLE8
#define HOST_NAME(f) f##_Single_8
#include "gridmghostloops.h"
#define HOST_CODE    uint16_t
#define HOST_VALUE   TABLE16
#define HOST_NAME(f) f##_Single_16
#include "gridmghostloops.h"
#define HOST_CODE        float
#define HOST_VALUE(t, c) ((void)(t), (c))
#define HOST_NAME(f)     f##_Single_32
#include "gridmghostloops.h"
#undef HOST_NUMBER

#define HOST_NUMBER  double
#define HOST_CODE    uint8_t
#define HOST_VALUE   TABLE8
#define HOST_NAME(f) f##_Double_8
#include "gridmghostloops.h"
#define HOST_CODE    uint16_t
#define HOST_VALUE   TABLE16
#define HOST_NAME(f) f##_Double_16
#include "gridmghostloops.h"
#define HOST_CODE        float
#define HOST_VALUE(t, c) ((void)(t), (double)(c))
#define HOST_NAME(f)     f##_Double_32
#include "gridmghostloops.h"
#undef HOST_NUMBER

/* ------------------------------------------------------------ memory */

static PetscErrorCode GridMGAlloc_Host(size_t n, void **x)
{
  PetscFunctionBegin;
  PetscCall(LitheAllocateLarge(n, x));
  PetscCall(PetscMemzero(*x, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGClear_Host(size_t n, void *x)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(x, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGFree_Host(void **x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGPut_Host(size_t n, const void *host, void *x)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(x, host, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGGet_Host(size_t n, const void *x, void *host)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(host, x, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ in and out */

/* The pieces of a vector of the matrix: per piece the first row, the number of rows, and the first vertex */
static int Pieces(const GridMGGrid *g, const GridMGRows *rows, PetscInt from[3], PetscInt count[3], PetscInt at[3])
{
  from[0]  = rows->first;
  count[0] = g->cells;
  at[0]    = 0;
  from[1]  = 0;
  count[1] = rows->first;
  at[1]    = g->cells;
  from[2]  = rows->first + g->cells;
  count[2] = g->wells - rows->first;
  at[2]    = g->cells + rows->first;
  return 3;
}

#define STRIDE (PetscDefined(USE_COMPLEX) ? 2 : 1)

static PetscErrorCode GridMGMost_Host(const GridMGOperator *op, int part, const PetscScalar *x, double *most)
{
  const PetscReal *real = (const PetscReal *)x + part;
  const PetscInt   n    = op->grid.cells + op->grid.wells;

  PetscFunctionBegin;
  *most = 0;
  for (PetscInt i = 0; i < n; i++) {
    const double v = fabs((double)real[i * STRIDE]);

    /* NaN stays, too */
    *most = v <= *most ? *most : v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGEnterScaled_Host(const GridMGOperator *op, const GridMGRows *rows, int part, const PetscScalar *x, void *b, double scale)
{
  const PetscReal *real = (const PetscReal *)x + part;
  PetscInt         from[3], count[3], at[3];
  const int        pieces = Pieces(&op->grid, rows, from, count, at);

  PetscFunctionBegin;
  for (int p = 0; p < pieces; p++) {
    if (op->precision == GRIDMG_SINGLE) EnterLoops_Single(count[p], STRIDE, real + from[p] * STRIDE, scale, (float *)b + at[p]);
    else EnterLoops_Double(count[p], STRIDE, real + from[p] * STRIDE, scale, (double *)b + at[p]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGEnter_Host(const GridMGOperator *op, const GridMGRows *rows, int part, const PetscScalar *x, void *b, double *scale)
{
  double most;

  PetscFunctionBegin;
  PetscCall(GridMGMost_Host(op, part, x, &most));
  *scale = LitheMGScaleOf(most);
  PetscCall(GridMGEnterScaled_Host(op, rows, part, x, b, *scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGLeave_Host(const GridMGOperator *op, const GridMGRows *rows, int part, double factor, const double *scale, const void *x,
                                       PetscScalar *y)
{
  const double factors[2] = {factor, 1 / *scale};
  PetscReal   *real       = (PetscReal *)y + part;
  PetscInt     from[3], count[3], at[3];
  const int    pieces = Pieces(&op->grid, rows, from, count, at);

  PetscFunctionBegin;
  for (int p = 0; p < pieces; p++) {
    if (op->precision == GRIDMG_SINGLE) LeaveLoops_Single(count[p], STRIDE, (const float *)x + at[p], factors, real + from[p] * STRIDE);
    else LeaveLoops_Double(count[p], STRIDE, (const double *)x + at[p], factors, real + from[p] * STRIDE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ boxes that overlap */

/* statement for all cells of a box, with their places `from` and `to` in the two arrays */
#define FOR_BOX(box, ...)                                                                         \
  for (PetscInt k = 0; k < (box)->n[2]; k++) {                                                    \
    for (PetscInt j = 0; j < (box)->n[1]; j++) {                                                  \
      const PetscInt from0 = (box)->begin[0] + (box)->stride[0][0] * j + (box)->stride[0][1] * k; \
      const PetscInt to0   = (box)->begin[1] + (box)->stride[1][0] * j + (box)->stride[1][1] * k; \
                                                                                                  \
      for (PetscInt i = 0, from = from0, to = to0; i < (box)->n[0]; i++, from++, to++) {          \
        __VA_ARGS__;                                                                              \
      }                                                                                           \
    }                                                                                             \
  }

static PetscErrorCode GridMGCopyBox_Host(size_t unit, const GridMGBox *box, const void *x, void *y)
{
  const size_t bytes = (size_t)box->n[0] * unit;

  PetscFunctionBegin;
  for (PetscInt line = 0; line < box->n[1] * box->n[2] && bytes; line++) {
    const PetscInt j = line % box->n[1], k = line / box->n[1];
    const PetscInt from = box->begin[0] + box->stride[0][0] * j + box->stride[0][1] * k, to = box->begin[1] + box->stride[1][0] * j + box->stride[1][1] * k;

    if (x) memcpy((char *)y + (size_t)to * unit, (const char *)x + (size_t)from * unit, bytes);
    else memset((char *)y + (size_t)to * unit, 0, bytes);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGAddBox_Host(const GridMGBox *box, double factor, const double *x, double *y)
{
  PetscFunctionBegin;
  FOR_BOX(box, y[to] += factor * x[from])
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of words per number, and which word is meant */
static inline PetscInt WordsOf(GridMGWord word)
{
  return word == GRIDMG_WORD_LOW || word == GRIDMG_WORD_HIGH ? 2 : 1;
}

static PetscErrorCode GridMGWords_Host(GridMGWord word, PetscInt n, const void *x, void *words)
{
  const PetscInt first = word == GRIDMG_WORD_HIGH ? 1 : 0, step = WordsOf(word);
  uint32_t      *to = (uint32_t *)words;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (word == GRIDMG_WORD_BYTE) to[i] = ((const uint8_t *)x)[i];
    else if (word == GRIDMG_WORD_SHORT) to[i] = ((const uint16_t *)x)[i];
    else to[i] = ((const uint32_t *)x)[first + step * i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGPlace_Host(GridMGWord word, PetscInt n, const PetscInt index[], const void *words, void *x)
{
  const PetscInt  first = word == GRIDMG_WORD_HIGH ? 1 : 0, step = WordsOf(word);
  const size_t    bytes = GridMGWordBytes(word);
  const uint32_t *from  = (const uint32_t *)words;

  PetscFunctionBegin;
  for (PetscInt w = 0; w < n; w++) {
    const PetscInt i = index ? index[w] : w;

    if (word == GRIDMG_WORD_BYTE) ((uint8_t *)x)[i] = (uint8_t)from[w];
    else if (word == GRIDMG_WORD_SHORT) ((uint16_t *)x)[i] = (uint16_t)from[w];
    else if (bytes > 4) memcpy((char *)x + (size_t)i * bytes, (const char *)words + (size_t)w * bytes, bytes);
    else ((uint32_t *)x)[first + step * i] = from[w];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGEnterBox_Host(const GridMGBox *box, int part, const PetscScalar *x, void *b, const double *scale)
{
  const PetscReal *real = (const PetscReal *)x + part;

  PetscFunctionBegin;
  FOR_BOX(box, ((float *)b)[to] = (float)((double)real[from * STRIDE] * *scale))
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGLeaveBox_Host(const GridMGBox *box, int part, double factor, const double *scale, const void *x, PetscScalar *y)
{
  PetscReal *real = (PetscReal *)y + part;

  PetscFunctionBegin;
  FOR_BOX(box, real[to * STRIDE] = (PetscReal)((double)((const float *)x)[from] * factor * (1 / *scale)))
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ smoothing */

static PetscErrorCode GridMGStart_Host(const GridMGOperator *op, int colour, const void *b, void *x)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, StartLoops, op, colour, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGColour_Host(const GridMGOperator *op, int colour, const void *b, void *x)
{
  const PetscInt from = colour ? op->list.part[0] : 0, to = op->list.part[colour];

  PetscFunctionBegin;
  if (to > from) FOR_PRECISION(op, ListLoops, &op->list, from, to, x);
  FOR_CODES(op, ColourLoops, op, colour, b, x);
  if (to > from) FOR_PRECISION(op, ListAddLoops, op, from, to, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGWells_Host(const GridMGOperator *op, PetscBool backwards, const void *b, void *x)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, WellLoops, op, backwards, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ residuals and transfers */

static PetscErrorCode GridMGResidual_Host(const GridMGOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  FOR_CODES(op, ResidualLoops, op, b, x, r);
  if (op->list.n) FOR_PRECISION(op, ListResidualLoops, op, b, x, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGRestrict_Host(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], const void *r, void *b)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, RestrictLoops, op, coarse, by, r, b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGResidualRestrict_Host(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], const void *b, const void *x, void *bc)
{
  PetscFunctionBegin;
  FOR_CODES(op, ResidualRestrictLoops, op, coarse, by, b, x, bc);
  if (op->list.n) FOR_PRECISION(op, ListRestrictLoops, op, coarse, by, b, x, bc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGProlong_Host(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], double factor, const void *e, void *x)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, ProlongLoops, op, coarse, by, factor, e, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the K cycle */

static PetscErrorCode GridMGDots_Host(const GridMGOperator *op, const void *x, int n, const void *const y[], double *sums)
{
  const PetscInt size = op->grid.cells + op->grid.wells;

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) sums[k] = op->precision == GRIDMG_SINGLE ? DotLoops_Single(size, x, y[k]) : DotLoops_Double(size, x, y[k]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ visits of boxes that overlap */

/*
   The first iterate: the former iterate, whose red cells Gauss-Seidel has already updated, or zero after a step on red
   cells
*/
static PetscErrorCode Begin_Private(const GridMGVisit *v, void *x)
{
  PetscFunctionBegin;
  if (v->x) PetscCall(PetscMemcpy(x, v->x, (size_t)v->op->grid.cells * GridMGNumberBytes(v->op->precision)));
  else PetscCall(GridMGStart_Host(v->op, 0, v->b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The aggregates of the fine grid in the coarse grid, whose first cell is at bc */
static PetscErrorCode GridMGDown_Host(const GridMGVisit *v)
{
  const size_t bytes = GridMGNumberBytes(v->op->precision);
  GridMGGrid   grid  = {{0, 0, 0}, 1, 0, 0};
  GridMGBox    box;
  char        *sums;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    grid.n[d] = box.n[d] = (v->op->grid.n[d] + v->by[d] - 1) / v->by[d];
    grid.cells *= grid.n[d];
  }
  box.begin[0] = box.begin[1] = 0;
  box.stride[0][0]            = grid.n[0];
  box.stride[0][1]            = grid.n[0] * grid.n[1];
  box.stride[1][0]            = v->coarse->n[0];
  box.stride[1][1]            = v->coarse->n[0] * v->coarse->n[1];
  PetscCall(Begin_Private(v, v->work));
  PetscCall(GridMGColour_Host(v->op, 1, v->b, v->work));
  PetscCall(PetscMalloc1((size_t)grid.cells * bytes, &sums));
  PetscCall(GridMGResidualRestrict_Host(v->op, &grid, v->by, v->b, v->work, sums));
  PetscCall(GridMGCopyBox_Host(bytes, &box, sums, v->bc));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGUp_Host(const GridMGVisit *v)
{
  PetscFunctionBegin;
  PetscCall(Begin_Private(v, v->out));
  PetscCall(GridMGProlong_Host(v->op, v->coarse, v->by, v->factor, v->e, v->out));
  PetscCall(GridMGColour_Host(v->op, 1, v->b, v->out));
  PetscCall(GridMGColour_Host(v->op, 0, v->b, v->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a/b, where b is positive */
static inline double Quotient(double a, double b)
{
  return b > 0 ? a / b : 0;
}

static PetscErrorCode GridMGKFirst_Host(const GridMGOperator *op, const double *first, const void *v, void *b)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, CombineLoops, op->grid.cells + op->grid.wells, 1, b, -Quotient(first[1], first[0]), v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* first = {rho, alpha}, second = {gamma, beta, alpha2}: Notay, Vassilevski, Numer. Linear Algebra Appl. 15 (2008) */
static PetscErrorCode GridMGKSecond_Host(const GridMGOperator *op, const double *first, const double *second, const void *c, void *x)
{
  const double rho2 = second[1] - Quotient(second[0] * second[0], first[0]);
  const double ax   = rho2 > 1e-6 * second[1] ? second[2] / rho2 : 0; /* else both directions are the same up to rounding */
  const double ac   = Quotient(first[1], first[0]) - Quotient(second[0], first[0]) * ax;

  PetscFunctionBegin;
  FOR_PRECISION(op, CombineLoops, op->grid.cells + op->grid.wells, ax, x, ac, c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGDense_Host(const GridMGOperator *op, const void *L, const void *S, const void *b, void *work, void *x)
{
  const PetscInt n = op->grid.cells + op->grid.wells;

  PetscFunctionBegin;
  FOR_PRECISION(op, DenseLoops, n, op->symmetric, L, S, b, op->symmetric ? work : x);
  if (op->symmetric) FOR_PRECISION(op, DenseTransposeLoops, n, L, S, work, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GridMGKernels GridMGHostKernels = {
  .memory  = {.alloc   = GridMGAlloc_Host,
              .reserve = LitheAllocateLarge,
              .clear   = GridMGClear_Host,
              .copy    = GridMGPut_Host,
              .free    = GridMGFree_Host,
              .put     = GridMGPut_Host,
              .get     = GridMGGet_Host},
  .vectors = {.enter       = GridMGEnter_Host,
              .leave       = GridMGLeave_Host,
              .most        = GridMGMost_Host,
              .enterscaled = GridMGEnterScaled_Host,
              .enterbox    = GridMGEnterBox_Host,
              .leavebox    = GridMGLeaveBox_Host,
              .copybox     = GridMGCopyBox_Host,
              .addbox      = GridMGAddBox_Host,
              .words       = GridMGWords_Host,
              .place       = GridMGPlace_Host},
  .cycle   = {.start            = GridMGStart_Host,
              .colour           = GridMGColour_Host,
              .wells            = GridMGWells_Host,
              .residual         = GridMGResidual_Host,
              .restrict_        = GridMGRestrict_Host,
              .prolong          = GridMGProlong_Host,
              .residualrestrict = GridMGResidualRestrict_Host,
              .dots             = GridMGDots_Host,
              .kfirst           = GridMGKFirst_Host,
              .ksecond          = GridMGKSecond_Host,
              .dense            = GridMGDense_Host,
              .down             = GridMGDown_Host,
              .up               = GridMGUp_Host},
  .setup   = {.survey = GridMGSurvey_Host, .coarsen = GridMGCoarsen_Host, .aliveof = GridMGAliveOf_Host, .add = GridMGAdd_Host, .encode = GridMGEncode_Host},
};
