/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Factors on a device (MATSOLVERLITHE), compressed on the device, as factor.c does for factors on the host. No array of
   the size of the matrix is copied to the host.

   For symmetric factors the upper triangle is compressed with loss, and its transpose without further loss. The
   preconditioner is therefore symmetric for any loss: entries of a border (LitheDeviceBorder) are exact in both
   triangles.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/lithememtype.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/machine.h>
#include <petscdevice_cuda.h>

/*
   A triangle, and vectors for measurements. Right-hand sides are ones and random signs, and both times the units if
   units exist
*/
typedef struct {
  const LitheDeviceTriangle *t;
  unsigned int              *ticket;
  Vec                        unit;                /* value of each row in place of one; NULL: one */
  Vec                        exact[FACTOR_SIDES]; /* solutions for each right-hand side, made on demand */
  Vec                        x, y, work;
} Measured;

/* A compressed triangle T, with its border, if any */
static PetscErrorCode PCVCRSSolveCompressed_Private(Mat T, const LitheDeviceBorder *border, PetscBool upper, Vec b, Vec x, Vec other)
{
  PetscFunctionBegin;
  if (border) PetscCall(PCVCRSBorderSolve_Private(T, border, upper, b, x, other));
  else PetscCall(MatVCRSSubstitute_Device_Private(T, upper, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ones, or random signs that are equal in every run; times units */
static PetscErrorCode PCVCRSSetRightSide_Private(const Measured *m, int side, Vec b)
{
  PetscFunctionBegin;
  if (side % 2 == 0) PetscCall(VecSet(b, 1.0));
  else {
    PetscScalar *a;
    PetscInt     n;

    PetscCall(VecGetLocalSize(b, &n));
    PetscCall(VecCUDAGetArrayWrite(b, &a));
    PetscCall(LitheCUDASetSigns(n, a));
    PetscCall(VecCUDARestoreArrayWrite(b, &a));
  }
  if (side / 2) PetscCall(VecPointwiseMult(b, b, m->unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact solutions for all right-hand sides */
static PetscErrorCode PCVCRSSolveExact_Private(Measured *m)
{
  const int          sides = m->unit ? 4 : 2;
  const PetscScalar *pb[FACTOR_SIDES];
  PetscScalar       *px[FACTOR_SIDES];
  Vec                b[FACTOR_SIDES];

  PetscFunctionBegin;
  if (m->exact[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int s = 0; s < sides; s++) {
    PetscCall(LitheVecDuplicateOnDevice(m->x, &b[s]));
    PetscCall(LitheVecDuplicateOnDevice(m->x, &m->exact[s]));
    PetscCall(PCVCRSSetRightSide_Private(m, s, b[s]));
    PetscCall(VecCUDAGetArrayRead(b[s], &pb[s]));
    PetscCall(VecCUDAGetArrayWrite(m->exact[s], &px[s]));
  }
  PetscCall(LitheCUDATriangleSolve(m->t, m->ticket, sides, pb, px));
  for (int s = 0; s < sides; s++) {
    PetscCall(VecCUDARestoreArrayWrite(m->exact[s], &px[s]));
    PetscCall(VecCUDARestoreArrayRead(b[s], &pb[s]));
    PetscCall(VecDestroy(&b[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The effect of loss on solutions, as on the host. For a right-hand side of ones: the largest difference, relative to
   the solution where the solution is above 1. For random signs: the relative difference in the 2-norm. difference[1]:
   in units
*/
static PetscErrorCode PCVCRSMeasure_Device(Measured *m, Mat T, const LitheDeviceBorder *border, PetscReal difference[])
{
  PetscFunctionBegin;
  PetscCall(PCVCRSSolveExact_Private(m));
  for (int side = 0; side < (m->unit ? 4 : 2); side++) {
    PetscReal largest, norm;

    PetscCall(PCVCRSSetRightSide_Private(m, side, m->x));
    PetscCall(PCVCRSSolveCompressed_Private(T, border, m->t->upper, m->x, m->y, m->work));
    PetscCall(VecCopy(m->exact[side], m->x));
    PetscCall(VecAXPY(m->y, -1.0, m->x));
    if (side / 2) {
      PetscCall(VecPointwiseDivide(m->x, m->x, m->unit));
      PetscCall(VecPointwiseDivide(m->y, m->y, m->unit));
    }
    if (side % 2) {
      PetscCall(VecNorm(m->y, NORM_2, &largest));
      PetscCall(VecNorm(m->x, NORM_2, &norm));
      largest = norm > 0.0 || PetscIsInfOrNanReal(norm) ? largest / norm : 0.0;
    } else {
      PetscReal   sum;
      PetscScalar ones;

      /* A maximum may lose a NaN, a sum does not */
      PetscCall(VecNorm(m->y, NORM_2, &sum));
      PetscCall(VecAbs(m->x));
      PetscCall(VecSet(m->work, 1.0));
      PetscCall(VecPointwiseMax(m->x, m->x, m->work));
      PetscCall(VecPointwiseDivide(m->y, m->y, m->x));
      PetscCall(VecNorm(m->y, NORM_INFINITY, &largest));
      ones = sum;
      if (PetscIsInfOrNanScalar(ones)) largest = sum;
    }
    if (!(largest <= difference[side / 2])) difference[side / 2] = PetscIsInfOrNanReal(largest) ? PETSC_MAX_REAL : largest;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether loss does little enough to solutions */
static PetscBool PCVCRSIsNear(const PetscReal difference[])
{
  return (PetscBool)(difference[0] <= PCVCRS_FACTOR_TOLERANCE && difference[1] <= PCVCRS_UNITS_TOLERANCE);
}

/* Whether a loss takes numbers on a device */
static PetscErrorCode PCVCRSTakesNumbers_Device(MatVCRSLoss loss, PetscInt64 n, const PetscScalar *a, PetscBool *takes)
{
  PetscReal sum = 0.0;

  PetscFunctionBegin;
  if (loss != MATVCRS_LOSS_NONE && n) PetscCall(PCVCRSSumOnDevice_Private((PetscInt)n, a, &sum));
  *takes = PCVCRSSumIsTaken_Private(loss, sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A triangle compressed with its order, by tiles of a grid, with or without a border, if possible */
static PetscErrorCode PCVCRSCompressTriangle_Device(const PCVCRSOptions *opt, MatVCRSLoss loss, const LitheDeviceTriangle *t, Mat *T,
                                                    LitheDeviceBorder **border)
{
  const PetscBool borders = (PetscBool)(opt->factorsolve == PCVCRS_FACTOR_AUTO || opt->factorsolve == PCVCRS_FACTOR_SUBSTITUTION);
  PetscBool       takes, maygrids = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PCVCRSTakesNumbers_Device(loss, t->nz, t->a, &takes));
  if (!takes) loss = MATVCRS_LOSS_NONE;
  for (;;) {
    const LitheDeviceTriangle *rows = t;
    LitheDeviceTriangle        grid;
    PCVCRSSource               source = {.exact = NULL};
    VCRSOrder                 *order;
    PetscBool                  may;

    PetscCall(LitheCUDATriangleOrder(t, maygrids, borders, &order, &grid, border));
    if (*border) rows = &grid;
    source.comm = PETSC_COMM_SELF;
    source.m = source.n = rows->n;
    source.csr.nz       = rows->nz;
    source.csr.i        = rows->i;
    source.csr.j        = rows->j;
    source.csr.a        = rows->a;
    PetscCall(PCVCRSCreateFine_Private(opt, loss, PCVCRS_FACTOR_BOUND, &source, T));
    PetscCall(LitheCUDATriangleFree(&grid));
    PetscCall(MatVCRSMayUseGrids_Private(*T, &may));
    if (may || !order->grid) {
      PetscCall(MatVCRSSetOrder_Private(*T, t->upper, order));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    /* this copy cannot use tiles: order by levels, which works for all rows */
    PetscCall(VCRSOrderDestroy(&order));
    PetscCall(LitheCUDABorderDestroy(border));
    PetscCall(MatDestroy(T));
    maygrids = PETSC_FALSE;
  }
}

/* The transpose of a compressed upper triangle and its border, compressed without further loss; lower: the exact lower
   triangle */
static PetscErrorCode PCVCRSCompressMirror_Device(const PCVCRSOptions *opt, Mat upper, const LitheDeviceBorder *border, const LitheDeviceTriangle *lower,
                                                  Mat *T, LitheDeviceBorder **lowerborder)
{
  LitheDeviceTriangle mirror = *lower;

  PetscFunctionBegin;
  PetscCall(MatVCRSMirror_Device_Private(upper, border ? border->first : 0, lower, &mirror.a));
  PetscCall(PCVCRSCompressTriangle_Device(opt, MATVCRS_LOSS_NONE, &mirror, T, lowerborder));
  PetscCallCUDA(cudaFree(mirror.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangle of m; mirror: also makes the lower triangle, which is the transpose; or NULL */
static PetscErrorCode PCVCRSCreateTriangle_Device(const PCVCRSOptions *opt, Measured *m, Measured *mirror, PCVCRSFactor *f)
{
  PCVCRSOptions       careful = *opt;
  MatVCRSLoss         loss    = PCVCRSGetLoss_Private(opt);
  Mat                *T       = m->t->upper ? &f->upper : &f->lower;
  LitheDeviceBorder **border  = &f->border[m->t->upper ? 1 : 0];

  PetscFunctionBegin;
  for (PetscInt care = 0; care < PCVCRS_CARES; care++) {
    PetscReal difference[2] = {0.0, 0.0};
    PetscBool measured, near;

    if (!PCVCRSNextCare_Private(care, &careful, &loss)) continue;
    PetscCall(PCVCRSCompressTriangle_Device(&careful, loss, m->t, T, border));

    /* A caller may ask for row sums not to be kept */
    measured = (PetscBool)(loss != MATVCRS_LOSS_NONE && loss != MATVCRS_LOSS_SINGLE && opt->rowsums);
    if (measured) PetscCall(PCVCRSMeasure_Device(m, *T, *border, difference));
    near = PCVCRSIsNear(difference);
    if (near && mirror) {
      PetscCall(PCVCRSCompressMirror_Device(&careful, *T, *border, mirror->t, &f->lower, &f->border[0]));
      if (measured) PetscCall(PCVCRSMeasure_Device(mirror, f->lower, f->border[0], difference));
      near = PCVCRSIsNear(difference);
    }
    if (measured)
      PetscCall(PetscInfo(*T, "Loss %s%s changes solutions with a triangular factor by %g, in the units of rows by %g\n", MatVCRSLosses[loss],
                          careful.rowsums ? " with row sums kept" : "", (double)difference[0], (double)difference[1]));
    if (near) break;
    PetscCall(MatDestroy(T));
    PetscCall(LitheCUDABorderDestroy(border));
    if (mirror) {
      PetscCall(MatDestroy(&f->lower));
      PetscCall(LitheCUDABorderDestroy(&f->border[0]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Units of right-hand sides for the lower triangle, inverse units of solutions for the upper triangle; NULL as on the
   host
*/
static PetscErrorCode PCVCRSCreateUnits_Device(Vec inverse, Vec *units)
{
  PetscReal least, most, sum;
  Vec       v;

  PetscFunctionBegin;
  *units = NULL;
  PetscCall(LitheVecDuplicateOnDevice(inverse, &v));
  PetscCall(VecCopy(inverse, v));
  PetscCall(VecAbs(v));
  PetscCall(VecNorm(v, NORM_1, &sum));
  PetscCall(VecMin(v, NULL, &least));
  PetscCall(VecMax(v, NULL, &most));
  if (PetscIsInfOrNanReal(sum) || !PetscIsNormalReal(least) || !PetscIsNormalReal(most) || most <= 16.0 * least) {
    PetscCall(VecDestroy(&v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecSqrtAbs(v));
  PetscCall(VecReciprocal(v));
  *units = v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inverse pivots as a diagonal matrix */
static PetscErrorCode PCVCRSCreateDiagonal_Device(const PCVCRSOptions *opt, PetscInt n, const PetscScalar *inverse, Mat *D)
{
  PCVCRSOptions plain  = *opt;
  MatVCRSLoss   loss   = PCVCRSGetLoss_Private(opt) == MATVCRS_LOSS_NONE ? MATVCRS_LOSS_NONE : MATVCRS_LOSS_SINGLE;
  PCVCRSSource  source = {.exact = NULL, .comm = PETSC_COMM_SELF, .m = n, .n = n};
  PetscInt     *rows;
  PetscBool     takes;

  PetscFunctionBegin;
  plain.rowsums = PETSC_FALSE;
  PetscCall(PCVCRSTakesNumbers_Device(loss, n, inverse, &takes));
  if (!takes) loss = MATVCRS_LOSS_NONE;
  PetscCall(LitheCUDACreateRows(n, &rows));
  source.csr.nz = n;
  source.csr.i = source.csr.j = rows;
  source.csr.a                = inverse;
  PetscCall(PCVCRSCreateFine_Private(&plain, loss, PCVCRS_FACTOR_BOUND, &source, D));
  PetscCall(LitheCUDADestroyRows(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of sweeps of Jacobi's method that approximate the solution for a right-hand side of ones well enough;
   PCVCRS_FACTOR_SWEEPS + 1 if more are needed */
static PetscErrorCode PCVCRSCountSweeps_Device(Measured *m, PetscInt *sweeps)
{
  Vec b, x, y, z;

  PetscFunctionBegin;
  PetscCall(PCVCRSSolveExact_Private(m));
  x = m->exact[0];
  PetscCall(LitheVecDuplicateOnDevice(m->x, &b));
  PetscCall(LitheVecDuplicateOnDevice(m->x, &y));
  PetscCall(LitheVecDuplicateOnDevice(m->x, &z));
  PetscCall(VecSet(b, 1.0));
  PetscCall(VecSet(y, 1.0));
  PetscCall(VecCopy(x, m->work));
  PetscCall(VecAbs(m->work));
  PetscCall(VecPointwiseMax(m->work, m->work, b));
  for (*sweeps = 0; *sweeps <= PCVCRS_FACTOR_SWEEPS; (*sweeps)++) {
    const PetscScalar *pb, *py;
    PetscScalar       *pz;
    PetscReal          error;
    Vec                swap = y;

    PetscCall(VecWAXPY(m->y, -1.0, x, y));
    PetscCall(VecPointwiseDivide(m->y, m->y, m->work));
    PetscCall(VecNorm(m->y, NORM_INFINITY, &error));
    if (error <= PCVCRS_SWEEPS_TOLERANCE) break;
    PetscCall(VecCUDAGetArrayRead(b, &pb));
    PetscCall(VecCUDAGetArrayRead(y, &py));
    PetscCall(VecCUDAGetArrayWrite(z, &pz));
    PetscCall(LitheCUDATriangleMultAdd(m->t, pb, py, pz));
    PetscCall(VecCUDARestoreArrayWrite(z, &pz));
    PetscCall(VecCUDARestoreArrayRead(y, &py));
    PetscCall(VecCUDARestoreArrayRead(b, &pb));
    y = z;
    z = swap;
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The requested number of sweeps, or the least number for sufficiently accurate solutions */
static PetscErrorCode PCVCRSChooseSweeps_Device(const PCVCRSOptions *opt, Measured m[], PCVCRSFactor *f)
{
  PetscFunctionBegin;
  if (opt->sweeps != PETSC_DECIDE) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) PetscCall(PCVCRSCountSweeps_Device(&m[k], &f->sweeps[k]));
  /* a symmetric preconditioner remains symmetric */
  if (f->symmetric) f->sweeps[0] = f->sweeps[1] = PetscMax(f->sweeps[0], f->sweeps[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The requested way, or else the fastest way */
static PetscErrorCode PCVCRSChooseWay_Device(const PCVCRSOptions *opt, Measured m[], PCVCRSFactor *f)
{
  PetscLogDouble product = 0.0, device = 0.0, host = 0.0;
  const Mat      T[2] = {f->lower, f->upper};

  PetscFunctionBegin;
  f->way       = PCVCRS_DEVICE;
  f->sweeps[0] = f->sweeps[1] = opt->sweeps;
  if (opt->factorsolve == PCVCRS_FACTOR_JACOBI) {
    f->way = PCVCRS_SWEEPS;
    PetscCall(PCVCRSChooseSweeps_Device(opt, m, f));
  }
  if (opt->factorsolve != PCVCRS_FACTOR_AUTO || f->border[0] || f->border[1]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    const VCRSOrder *order;

    PetscCall(MatVCRSGetOrder_Private(T[k], (PetscBool)k, PETSC_FALSE, NULL, NULL, &order, NULL));
    PetscCall(PCVCRSEstimate_Private(order, T[k], m[k].t->n, &product, &device, &host));
  }
  if (host < device) f->way = PCVCRS_HOST;
  /* Fewer sweeps do not come near to solutions */
  if (PetscMin(device, host) > PCVCRS_SWEEPS_LEAST * product) {
    PetscCall(PCVCRSChooseSweeps_Device(opt, m, f));
    if (PetscMax(f->sweeps[0], f->sweeps[1]) <= PCVCRS_FACTOR_SWEEPS && 0.5 * (PetscLogDouble)(f->sweeps[0] + f->sweeps[1]) * product < PetscMin(device, host))
      f->way = PCVCRS_SWEEPS;
  }
  PetscCall(PetscInfo(f->upper, "Estimated seconds of both triangles: substitution %g on the device, %g on the host, a sweep %g\n", device, host, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSCreateFactor_Device(const PCVCRSOptions *opt, const LitheDeviceFactor *factor, PCVCRSFactor *f)
{
  Measured m[2];
  Vec      inverse, units[2] = {NULL, NULL}; /* of each triangle */

  PetscFunctionBegin;
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, factor->lower.n, factor->inverse, &inverse));
  PetscCall(PCVCRSCreateUnits_Device(inverse, &units[0]));
  if (units[0]) {
    PetscCall(LitheVecDuplicateOnDevice(inverse, &units[1]));
    PetscCall(VecCopy(units[0], units[1]));
    PetscCall(VecReciprocal(units[1]));
  }
  for (int k = 0; k < 2; k++) {
    m[k].t      = k ? &factor->upper : &factor->lower;
    m[k].ticket = factor->ticket;
    m[k].unit   = units[k];
    for (int s = 0; s < FACTOR_SIDES; s++) m[k].exact[s] = NULL;
    PetscCall(LitheVecDuplicateOnDevice(inverse, &m[k].x));
    PetscCall(LitheVecDuplicateOnDevice(inverse, &m[k].y));
    PetscCall(LitheVecDuplicateOnDevice(inverse, &m[k].work));
  }
  f->symmetric = factor->symmetric;
  if (!f->symmetric) PetscCall(PCVCRSCreateTriangle_Device(opt, &m[0], NULL, f));
  PetscCall(PCVCRSCreateTriangle_Device(opt, &m[1], f->symmetric ? &m[0] : NULL, f));
  PetscCall(PCVCRSCreateDiagonal_Device(opt, factor->lower.n, factor->inverse, &f->inverse));
  PetscCall(PCVCRSChooseWay_Device(opt, m, f));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&m[k].x));
    PetscCall(VecDestroy(&m[k].y));
    PetscCall(VecDestroy(&m[k].work));
    for (int s = 0; s < FACTOR_SIDES; s++) PetscCall(VecDestroy(&m[k].exact[s]));
    PetscCall(VecDestroy(&units[k]));
  }
  PetscCall(VecDestroy(&inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
