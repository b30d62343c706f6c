/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   GridMGStencilHostKernels: the operations of PCGRIDMG with de Zeeuw's interpolation on host memory, in one thread, and
   the reference for the kernels of a device. Loops that decode stencils are in gridmgstencilloops.h, all remaining
   loops in gridmgstencilvectors.h.
*/

#include "../base/gridmghostcodes.h"
#include "gridmgstencilhost.h"

#define HOST_NUMBER  float
#define HOST_NAME(f) f##_Single
#include "gridmgstencilvectors.h"

#define HOST_NUMBER  double
#define HOST_NAME(f) f##_Double
#include "gridmgstencilvectors.h"

#define HOST_NUMBER  float
#define HOST_CODE    int8_t
#define HOST_NAME(f) f##_Single_8
#include "gridmgstencilloops.h"
#define HOST_CODE    int16_t
#define HOST_NAME(f) f##_Single_16
#include "gridmgstencilloops.h"
#define HOST_CODE    float
#define HOST_NAME(f) f##_Single_32
#include "gridmgstencilloops.h"
#undef HOST_NUMBER

#define HOST_NUMBER  double
#define HOST_CODE    int8_t
#define HOST_NAME(f) f##_Double_8
#include "gridmgstencilloops.h"
#define HOST_CODE    int16_t
#define HOST_NAME(f) f##_Double_16
#include "gridmgstencilloops.h"
#define HOST_CODE    double
#define HOST_NAME(f) f##_Double_32
#include "gridmgstencilloops.h"
#undef HOST_NUMBER

/* The points of a colour, or with -1 all */
static void PointsOf(const GridMGPoints *g, int colour, PetscInt first[3], PetscInt step[3])
{
  for (int d = 0; d < 3; d++) {
    first[d] = colour < 0 ? 0 : colour >> d & 1;
    step[d]  = colour < 0 || d >= g->dim ? 1 : 2;
  }
}

static PetscErrorCode GridMGLargest_Host(const GridMGStencilOperator *op, const PetscScalar *x, double *largest)
{
  const PetscReal *real = (const PetscReal *)x;
  const PetscInt   n    = op->grid.cells * GRIDMG_PARTS;
  double           most = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const double v = fabs((double)real[i]);

    /* NaN stays, too */
    most = v <= most ? most : v;
  }
  *largest = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGEnter_Host(const GridMGStencilOperator *op, const PetscScalar *x, const double *largest, void *b)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, EnterLoops, op->grid.cells * GRIDMG_PARTS, (const PetscReal *)x, LitheMGScaleOf(*largest), b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGLeave_Host(const GridMGStencilOperator *op, double factor, const double *largest, const void *x, PetscScalar *y)
{
  const double factors[2] = {factor, 1 / LitheMGScaleOf(*largest)};

  PetscFunctionBegin;
  FOR_PRECISION(op, LeaveLoops, op->grid.cells * GRIDMG_PARTS, x, factors, (PetscReal *)y);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGStart_Host(const GridMGStencilOperator *op, int colour, double c, const void *b, void *x)
{
  PetscInt first[3], step[3];

  PetscFunctionBegin;
  PointsOf(&op->grid, colour, first, step);
  if (op->precision == GRIDMG_SINGLE) StartLoops_Single(op, (float)c, first, step, b, x);
  else StartLoops_Double(op, c, first, step, b, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGColour_Host(const GridMGStencilOperator *op, int colour, const void *b, void *x)
{
  PetscInt first[3], step[3];

  PetscFunctionBegin;
  PointsOf(&op->grid, colour, first, step);
  FOR_CODES(op, StepLoops, op, 1, first, step, b, x, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGStep_Host(const GridMGStencilOperator *op, double c, const void *b, const void *x, void *out)
{
  PetscInt first[3], step[3];

  PetscFunctionBegin;
  PointsOf(&op->grid, -1, first, step);
  FOR_CODES(op, StepLoops, op, c, first, step, b, x, out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGResidual_Host(const GridMGStencilOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  FOR_CODES(op, ResidualLoops, op, b, x, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGRestrict_Host(const GridMGStencilOperator *op, const GridMGPoints *coarse, const void *r, void *b)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, RestrictLoops, op, coarse, r, b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGProlong_Host(const GridMGStencilOperator *op, const GridMGPoints *coarse, double factor, const void *e, void *x)
{
  PetscFunctionBegin;
  if (op->precision == GRIDMG_SINGLE) ProlongLoops_Single(op, coarse, (float)factor, e, x);
  else ProlongLoops_Double(op, coarse, factor, e, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGDense_Host(const GridMGStencilOperator *op, const void *L, const void *S, const void *b, void *work, void *x)
{
  PetscFunctionBegin;
  FOR_PRECISION(op, DenseLoops, op->grid.cells, L, S, b, work, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridMGStencilScale_Host(const GridMGStencils *f, const PetscScalar *left, const PetscScalar *right)
{
  const GridMGPoints *g = &f->grid;
  double             *a = (double *)f->a;
  GridMGNeighbours    near;

  PetscFunctionBegin;
  GridMGSetNeighbours(g, &near);
  for (PetscInt i = 0; i < g->cells; i++) {
    const double own = left ? (double)PetscRealPart(left[i]) : 1;

    for (int s = 0; s < g->points; s++) {
      const PetscInt j      = i + near.away[s]; /* entries of missing neighbours are 0 */
      const double   factor = own * (right && j >= 0 && j < g->cells ? (double)PetscRealPart(right[j]) : 1);

      for (int p = 0; p < GRIDMG_PARTS; p++) *a++ *= factor;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const GridMGStencilKernels GridMGStencilHostKernels = {.largest   = GridMGLargest_Host,
                                                       .enter     = GridMGEnter_Host,
                                                       .leave     = GridMGLeave_Host,
                                                       .start     = GridMGStart_Host,
                                                       .colour    = GridMGColour_Host,
                                                       .step      = GridMGStep_Host,
                                                       .residual  = GridMGResidual_Host,
                                                       .restrict_ = GridMGRestrict_Host,
                                                       .prolong   = GridMGProlong_Host,
                                                       .dense     = GridMGDense_Host,
                                                       .scale     = GridMGStencilScale_Host,
                                                       .weights   = GridMGWeights_Host,
                                                       .product   = GridMGProduct_Host,
                                                       .planes    = 3,
                                                       .encode    = GridMGStencilEncode_Host};
