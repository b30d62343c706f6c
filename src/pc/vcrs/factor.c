/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Factors made by PETSc (triangles.c), or on a device (factordevice.c), compressed.

   An inner PCILU, PCICC, PCLU or PCCHOLESKY is set up with its own options. Its factors are stored as (I - lower)
   inverse^-1 (I - upper): both triangles are dimensionless for any units of A. Each triangle is a MATVCRS with the
   chosen loss. The inverse pivots are a third MATVCRS, in single precision unless the loss is none. Factors of direct
   solvers keep single precision, because their solutions are expected to be exact.
*/

#include "pcvcrstriangles.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/machine.h>
#include <lithe/private/litheilu.h>

PetscErrorCode PCVCRSFactorDestroy_Private(PCVCRSFactor **factor)
{
  PCVCRSFactor *f = *factor;

  PetscFunctionBegin;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&f->lower));
  PetscCall(MatDestroy(&f->upper));
  PetscCall(MatDestroy(&f->inverse));
  PetscCall(VecScatterDestroy(&f->row));
  PetscCall(VecScatterDestroy(&f->col));
  PetscCall(PCVCRSFactorWorkFree_Private(&f->work));
#if defined(LITHE_HAVE_CUDA)
  for (int k = 0; k < 2; k++) PetscCall(LitheCUDABorderDestroy(&f->border[k]));
#endif
  PetscCall(PetscFree(*factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* scatter: NULL for the natural ordering */
static PetscErrorCode PCVCRSCreateScatter_Private(PetscInt n, const PetscInt order[], VecScatter *scatter)
{
  PetscBool      natural = PETSC_TRUE;
  PetscErrorCode ierr;
  PetscOptions   none;
  Vec            v;
  IS             is;

  PetscFunctionBegin;
  *scatter = NULL;
  for (PetscInt k = 0; k < n && natural; k++) natural = (PetscBool)(order[k] == k);
  if (natural) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &v));
  PetscCall(LitheOptionsHide(&none));
  ierr = ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_USE_POINTER, &is);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(VecScatterCreate(v, is, v, NULL, scatter));
  PetscCall(ISDestroy(&is));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The change of solutions by a loss. For a right-hand side of ones, with a smooth solution: the largest difference,
   relative to the solution if the solution is above 1. For random signs, which ignore row sums: the relative difference
   in the 2-norm. unit [n], or NULL: the unit of each row
*/
static PetscErrorCode PCVCRSMeasure_Private(const PCVCRSRows *t, PetscBool upper, PetscBool transpose, const PetscReal unit[], Mat T, PetscReal *difference)
{
  PetscScalar *x, *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(t->n, &x, t->n, &y));
  for (PetscInt side = 0; side < 2; side++) {
    PetscReal largest = 0.0, sum = 0.0, norm = 0.0;

    for (PetscInt r = 0; r < t->n; r++) x[r] = y[r] = (side && (uint32_t)r * UINT32_C(2654435769) >> 31 ? -1.0 : 1.0) * (unit ? unit[r] : (PetscReal)1.0);
    PetscCall(PCVCRSRowsSubstitute_Private(t, upper, transpose, x));
    PetscCall(MatVCRSSubstitute_Private(T, upper, transpose, y));
    for (PetscInt r = 0; r < t->n; r++) {
      const PetscReal one = unit ? unit[r] : (PetscReal)1.0, d = PetscAbsScalar(y[r] - x[r]) / one, size = PetscAbsScalar(x[r]) / one;

      if (!(d <= largest * PetscMax(size, (PetscReal)1.0))) largest = d / PetscMax(size, (PetscReal)1.0);
      sum += d * d;
      norm += size * size;
    }
    if (side) largest = norm > 0.0 ? PetscSqrtReal(sum / norm) : 0.0;
    if (!(largest <= *difference)) *difference = PetscIsInfOrNanReal(largest) ? PETSC_MAX_REAL : largest; /* NaN included */
  }
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Units of right-hand sides for the lower triangle; the inverse for solutions with the upper triangle. The units are
   the square roots of pivots, as for a matrix D A D with the units of unknowns in D. NULL if pivots are similar, or not
   reliable.
*/
static PetscErrorCode PCVCRSCreateUnits_Private(const PCVCRSTriangles *t, PetscReal **units)
{
  PetscReal least = PETSC_MAX_REAL, most = 0.0;

  PetscFunctionBegin;
  *units = NULL;
  for (PetscInt r = 0; r < t->n; r++) {
    const PetscReal inverse = PetscAbsScalar(t->inverse[r]);

    if (!PetscIsNormalReal(inverse)) PetscFunctionReturn(PETSC_SUCCESS);
    least = PetscMin(least, inverse);
    most  = PetscMax(most, inverse);
  }
  if (most <= 16.0 * least) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(t->n, units));
  for (PetscInt r = 0; r < t->n; r++) (*units)[r] = 1.0 / PetscSqrtReal(PetscAbsScalar(t->inverse[r]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Number of sweeps of Jacobi's method that approximate the solution for a right-hand side of ones well enough;
   PCVCRS_FACTOR_SWEEPS + 1 if more are needed */
static PetscErrorCode PCVCRSCountSweeps_Private(const PCVCRSRows *t, PetscBool upper, PetscBool transpose, PetscInt *sweeps)
{
  PetscScalar *b, *x, *y, *z;
  PetscBool    near = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(t->n, &b, t->n, &x, t->n, &y, t->n, &z));
  for (PetscInt r = 0; r < t->n; r++) b[r] = x[r] = y[r] = 1.0;
  PetscCall(PCVCRSRowsSubstitute_Private(t, upper, transpose, x));
  for (*sweeps = 0; *sweeps <= PCVCRS_FACTOR_SWEEPS; (*sweeps)++) {
    PetscScalar *swap = y;

    near = PETSC_TRUE;
    for (PetscInt r = 0; r < t->n && near; r++)
      near = (PetscBool)(PetscAbsScalar(y[r] - x[r]) <= PCVCRS_SWEEPS_TOLERANCE * PetscMax(PetscAbsScalar(x[r]), (PetscReal)1.0));
    if (near) break;
    PetscCall(PCVCRSRowsSweep_Private(t, transpose, b, y, z));
    y = z;
    z = swap;
  }
  PetscCall(PetscFree4(b, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A compressed copy of rows with the given loss; lossless for numbers that the loss cannot take */
static PetscErrorCode PCVCRSCompressRows_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, const PCVCRSRows *t, Mat *compressed)
{
  PCVCRSSource   source = {.exact = NULL};
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  if (!PCVCRSTakesNumbers_Private(loss, t->i[t->n], t->a)) loss = MATVCRS_LOSS_NONE;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, t->n, t->n, t->i, t->j, t->a, &source.exact);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
#if defined(LITHE_HAVE_CUDA)
  if (opt->device) PetscCall(MatSetVecType(source.exact, VECSEQCUDA)); /* the copy is compressed at the place of its products */
#endif
  PetscCall(PCVCRSCreateFine_Private(opt, loss, PCVCRS_FACTOR_BOUND, &source, compressed));
  PetscCall(MatDestroy(&source.exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for right-hand sides of ones (difference[0]) and, with units, of the units or their inverses
   (difference[1]) */
static PetscErrorCode PCVCRSMeasureAll_Private(const PCVCRSRows *t, PetscBool upper, PetscBool transpose, const PetscReal units[], Mat T,
                                               PetscReal difference[])
{
  PetscReal *inverses;

  PetscFunctionBegin;
  PetscCall(PCVCRSMeasure_Private(t, upper, transpose, NULL, T, &difference[0]));
  if (!units) PetscFunctionReturn(PETSC_SUCCESS);
  if (upper == transpose) PetscCall(PCVCRSMeasure_Private(t, upper, transpose, units, T, &difference[1]));
  else {
    PetscCall(PetscMalloc1(t->n, &inverses));
    for (PetscInt r = 0; r < t->n; r++) inverses[r] = 1.0 / units[r];
    PetscCall(PCVCRSMeasure_Private(t, upper, transpose, inverses, T, &difference[1]));
    PetscCall(PetscFree(inverses));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSCreateTriangle_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, const PCVCRSRows *t, PetscBool upper, PetscBool symmetric,
                                                   const PetscReal units[], Mat *compressed)
{
  PCVCRSOptions careful = *opt;

  PetscFunctionBegin;
  for (PetscInt care = 0; care < PCVCRS_CARES; care++) {
    PetscReal difference[2] = {0.0, 0.0};

    if (!PCVCRSNextCare_Private(care, &careful, &loss)) continue;
    PetscCall(PCVCRSCompressRows_Private(&careful, loss, t, compressed));

    /* An explicit request to give up row sums is respected */
    if (loss == MATVCRS_LOSS_NONE || loss == MATVCRS_LOSS_SINGLE || !opt->rowsums) break;
    PetscCall(PCVCRSMeasureAll_Private(t, upper, PETSC_FALSE, units, *compressed, difference));
    if (symmetric) PetscCall(PCVCRSMeasureAll_Private(t, upper, PETSC_TRUE, units, *compressed, difference));
    PetscCall(PetscInfo(*compressed, "Loss %s%s changes solutions with a triangular factor by %g, in the units of rows by %g\n", MatVCRSLosses[loss],
                        careful.rowsums ? " with row sums kept" : "", (double)difference[0], (double)difference[1]));
    if (difference[0] <= PCVCRS_FACTOR_TOLERANCE && difference[1] <= PCVCRS_UNITS_TOLERANCE) break;
    PetscCall(MatDestroy(compressed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): t.a is not const */
static PetscErrorCode PCVCRSCreateDiagonal_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, PetscInt n, PetscScalar a[], Mat *compressed)
{
  PCVCRSOptions plain = *opt;
  PCVCRSRows    t;
  PetscInt     *i, *j;

  PetscFunctionBegin;
  plain.rowsums = PETSC_FALSE;
  PetscCall(PetscMalloc2(n + 1, &i, n, &j));
  for (PetscInt r = 0; r <= n; r++) i[r] = r;
  for (PetscInt r = 0; r < n; r++) j[r] = r;
  t = (PCVCRSRows){.n = n, .i = i, .j = j, .a = a};
  PetscCall(PCVCRSCompressRows_Private(&plain, loss, &t, compressed));
  PetscCall(PetscFree2(i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSCreateFactor_Private(const PCVCRSOptions *opt, const PCVCRSTriangles *t, PetscBool direct, PCVCRSFactor *f)
{
  MatVCRSLoss loss = PCVCRSGetLoss_Private(opt);
  PetscReal  *units;

  PetscFunctionBegin;
  PetscCall(PCVCRSCreateUnits_Private(t, &units));
  if (direct && loss != MATVCRS_LOSS_NONE) loss = MATVCRS_LOSS_SINGLE;
  f->symmetric = t->symmetric;
  if (!t->symmetric) PetscCall(PCVCRSCreateTriangle_Private(opt, loss, &t->lower, PETSC_FALSE, PETSC_FALSE, units, &f->lower));
  PetscCall(PCVCRSCreateTriangle_Private(opt, loss, &t->upper, PETSC_TRUE, t->symmetric, units, &f->upper));
  PetscCall(PetscFree(units));
  PetscCall(PCVCRSCreateDiagonal_Private(opt, loss == MATVCRS_LOSS_NONE ? MATVCRS_LOSS_NONE : MATVCRS_LOSS_SINGLE, t->n, t->inverse, &f->inverse));
  PetscCall(PCVCRSCreateScatter_Private(t->n, t->row, &f->row));
  PetscCall(PCVCRSCreateScatter_Private(t->n, t->col, &f->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The requested number of sweeps, or the least number for sufficiently accurate solutions */
static PetscErrorCode PCVCRSChooseSweeps_Private(const PCVCRSOptions *opt, const PCVCRSTriangles *t, PCVCRSFactor *f)
{
  PetscFunctionBegin;
  f->sweeps[0] = f->sweeps[1] = opt->sweeps;
  if (opt->sweeps != PETSC_DECIDE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSCountSweeps_Private(t->symmetric ? &t->upper : &t->lower, t->symmetric, t->symmetric, &f->sweeps[0]));
  PetscCall(PCVCRSCountSweeps_Private(&t->upper, PETSC_TRUE, PETSC_FALSE, &f->sweeps[1]));
  /* a symmetric preconditioner remains symmetric */
  if (t->symmetric) f->sweeps[0] = f->sweeps[1] = PetscMax(f->sweeps[0], f->sweeps[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* Of both triangles */
static PetscErrorCode PCVCRSEstimateAll_Private(const PCVCRSTriangles *t, const PCVCRSFactor *f, PetscLogDouble *product, PetscLogDouble *device,
                                                PetscLogDouble *host)
{
  PetscFunctionBegin;
  *product = *device = *host = 0.0;
  for (PetscInt upper = 0; upper < 2; upper++) {
    const PCVCRSRows *rows = upper || t->symmetric ? &t->upper : &t->lower;
    Mat               T    = upper || t->symmetric ? f->upper : f->lower;
    const VCRSOrder  *order;

    /* The transpose is the same backwards */
    PetscCall(MatVCRSGetOrder_Private(T, (PetscBool)(upper || t->symmetric), PETSC_FALSE, rows->i, rows->j, &order, NULL));
    PetscCall(PCVCRSEstimate_Private(order, T, t->n, product, device, host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device: the requested way, or the fastest way; solutions of direct solvers are expected to be exact */
static PetscErrorCode PCVCRSChooseOnDevice_Private(const PCVCRSOptions *opt, const PCVCRSTriangles *t, PetscBool direct, PCVCRSFactor *f)
{
  PetscLogDouble product, device, host;
  Mat            T = f->upper;

  PetscFunctionBegin;
  PetscCall(PCVCRSEstimateAll_Private(t, f, &product, &device, &host));
  f->way = PCVCRS_DEVICE;
  if (opt->factorsolve == PCVCRS_FACTOR_AUTO) {
    if (host < device) f->way = PCVCRS_HOST;
    /* Fewer sweeps do not come near to solutions */
    if (!direct && PetscMin(device, host) > PCVCRS_SWEEPS_LEAST * product) {
      PetscInt sweeps;

      PetscCall(PCVCRSChooseSweeps_Private(opt, t, f));
      sweeps = PetscMax(f->sweeps[0], f->sweeps[1]);
      if (sweeps <= PCVCRS_FACTOR_SWEEPS && 0.5 * (PetscLogDouble)(f->sweeps[0] + f->sweeps[1]) * product < PetscMin(device, host)) f->way = PCVCRS_SWEEPS;
    }
    PetscCall(PetscInfo(T, "Estimated seconds of both triangles: substitution %g on the device, %g on the host, a sweep %g\n", device, host, product));
  }
  if (f->way == PCVCRS_DEVICE && t->symmetric) PetscCall(MatVCRSGetOrder_Private(f->upper, PETSC_TRUE, PETSC_TRUE, NULL, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
/* Without a device */
static PetscErrorCode PCVCRSChooseOnDevice_Private(const PCVCRSOptions *opt, const PCVCRSTriangles *t, PetscBool direct, PCVCRSFactor *f)
{
  PetscFunctionBegin;
  (void)opt;
  (void)t;
  (void)direct;
  f->way = PCVCRS_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The way of solves for a type of vectors; vectors of devices other than CUDA use the host, too */
static PetscErrorCode PCVCRSChooseWay_Private(const PCVCRSOptions *opt, const PCVCRSTriangles *t, PetscBool direct, VecType type, PCVCRSFactor *f)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PetscStrcmpAny(type, &device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
  f->way = PCVCRS_HOST;
  if (opt->factorsolve == PCVCRS_FACTOR_JACOBI) {
    f->way = PCVCRS_SWEEPS;
    PetscCall(PCVCRSChooseSweeps_Private(opt, t, f));
  } else if (device) PetscCall(PCVCRSChooseOnDevice_Private(opt, t, direct, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* Describes the device's way with a triangle for the line of the view */
static PetscErrorCode PCVCRSDescribeOrder_Private(const PCVCRSFactor *f, PetscBool upper, const char name[], size_t size, char text[])
{
  const LitheDeviceBorder *border = f->border[upper ? 1 : 0];
  Mat                      T      = upper ? f->upper : f->lower;
  const VCRSOrder         *order;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetOrder_Private(T, upper, PETSC_FALSE, NULL, NULL, &order, NULL));
  if (border) PetscCall(PetscSNPrintf(text, size, "%s (%" PetscInt_FMT " steps of tiles, and %" PetscInt_FMT " rows)", name, order->nlevels, border->nborder));
  else PetscCall(PetscSNPrintf(text, size, "%s (%" PetscInt_FMT " %s)", name, order->nlevels, order->grid ? "steps of tiles" : "levels"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Lines of the view, and the bytes of PETSc's factors: a number and an index per entry, a pointer per row of each
   triangle */
static PetscErrorCode PCVCRSAddParts_Private(PC_VCRS *v, const PCVCRSFactor *f, const char where[])
{
  const char *const lowername = f->symmetric ? "transposed factor" : "lower factor";
  const char *const uppername = f->symmetric ? "factor" : "upper factor";
  char              lower[64], upper[64];
  PetscInt          n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(f->inverse, &n, NULL));
  PetscCall(PetscStrncpy(lower, lowername, sizeof(lower)));
  PetscCall(PetscStrncpy(upper, "upper factor", sizeof(upper)));
  if (f->way == PCVCRS_SWEEPS) {
    PetscCall(PetscSNPrintf(lower, sizeof(lower), "%s (%" PetscInt_FMT " sweeps)", lowername, f->sweeps[0]));
    PetscCall(PetscSNPrintf(upper, sizeof(upper), "%s (%" PetscInt_FMT " sweeps)", uppername, f->sweeps[1]));
  }
#if defined(LITHE_HAVE_CUDA)
  if (f->way == PCVCRS_DEVICE) {
    if (f->lower) PetscCall(PCVCRSDescribeOrder_Private(f, PETSC_FALSE, lowername, sizeof(lower), lower));
    PetscCall(PCVCRSDescribeOrder_Private(f, PETSC_TRUE, uppername, sizeof(upper), upper));
    if (!f->lower) {
      Mat stored;

      PetscCall(MatVCRSGetOrder_Private(f->upper, PETSC_TRUE, PETSC_TRUE, NULL, NULL, NULL, &stored));
      PetscCall(PCVCRSAddPart_Private(v, stored, -1.0, where, lowername));
    }
  }
#endif
  if (f->lower) PetscCall(PCVCRSAddPart_Private(v, f->lower, f->symmetric ? -1.0 : 0.0, where, lower));
  PetscCall(PCVCRSAddPart_Private(v, f->upper, 0.0, where, upper));
  PetscCall(PCVCRSAddPart_Private(v, f->inverse, (PetscLogDouble)n * (sizeof(PetscScalar) + sizeof(PetscInt)), where, "pivots"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSComposeFactor_Private(PC pc, PCVCRSFactor *f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, f));
  PetscCall(PetscObjectCompose((PetscObject)pc, PCVCRS_FACTOR_CONTAINER, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The factored matrix of a preconditioner with factors, if made by PETSc on one process, or factors on a device.
   Factors of MATSEQAIJCUSPARSE and its relatives cannot be read: the preconditioner then factors again, once now and
   once in each later set-up.
*/
static PetscErrorCode PCVCRSGetFactored_Private(PC pc, Mat *F, const LitheDeviceFactor **device, PetscBool *known)
{
  MatSolverType type;
  PetscBool     ispetsc, isdevice;

  PetscFunctionBegin;
  *known  = PETSC_FALSE;
  *device = NULL;
  PetscCall(PCFactorGetMatrix(pc, F));
  PetscCall(MatFactorGetSolverType(*F, &type));
  PetscCall(PetscStrcmpAny(type, &isdevice, MATSOLVERCUSPARSE, MATSOLVERKOKKOS, MATSOLVERHIPSPARSE, ""));
  if (isdevice) {
    PetscUseTypeMethod(pc, reset);
    pc->setupcalled = PETSC_FALSE;
    PetscCall(PCVCRSSetSolverType_Private(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCFactorGetMatrix(pc, F));
    PetscCall(MatFactorGetSolverType(*F, &type));
  }
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool islithe;
    Mat       host;

    PetscCall(PetscStrcmp(type, MATSOLVERLITHE, &islithe));
    if (islithe) {
      PetscCall(MatLitheGetFactor_Private(*F, device, &host));
      *known = (PetscBool)(*device != NULL);
      if (*known) PetscFunctionReturn(PETSC_SUCCESS);
      *F = host;
      PetscCall(MatFactorGetSolverType(*F, &type));
    }
  }
#endif
  PetscCall(PetscStrcmp(type, MATSOLVERPETSC, &ispetsc));
  if (ispetsc) PetscCall(PetscObjectTypeCompareAny((PetscObject)*F, known, MATSEQAIJ, MATSEQSBAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's factors, read and compressed; known is PETSC_FALSE if the test of the factors fails */
static PetscErrorCode PCVCRSCreateFactor_Host(const PCVCRSOptions *opt, Mat F, PetscBool symmetric, VecType vectype, PCVCRSFactor *f, PetscBool *known)
{
  PCVCRSTriangles t;
  MatFactorType   type;
  PetscBool       direct;

  PetscFunctionBegin;
  PetscCall(MatGetFactorType(F, &type));
  PetscCall(PCVCRSTrianglesRead_Private(F, symmetric, &t, known));
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  direct = (PetscBool)(type == MAT_FACTOR_LU || type == MAT_FACTOR_CHOLESKY);
  PetscCall(PCVCRSCreateFactor_Private(opt, &t, direct, f));
  PetscCall(PCVCRSChooseWay_Private(opt, &t, direct, vectype, f));
  PetscCall(PCVCRSTrianglesFree_Private(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of a preconditioner, compressed; NULL if left unchanged */
PetscErrorCode PCVCRSAddFactor_Private(PC_VCRS *v, PC pc, const char where[], PCVCRSFactor **factor)
{
  const LitheDeviceFactor *device;
  PCVCRSFactor            *f = NULL;
  VecType                  vectype;
  MatState                 state;
  PetscInt                 bs;
  PetscBool                known, symmetric = PETSC_FALSE, inplace = PETSC_FALSE;
  Mat                      F;

  PetscFunctionBegin;
  *factor = NULL;
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSGetFactored_Private(pc, &F, &device, &known));
  if (known && !device) {
    PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSEQSBAIJ, &symmetric));
    PetscCall(MatGetBlockSize(F, &bs));
    inplace = (PetscBool)(F == pc->pmat);
    if (inplace || (symmetric && bs > 1)) known = PETSC_FALSE;
  }
  if (known) {
    PetscCall(MatGetState(F, &state));
    for (PetscInt k = 0; k < v->factors.nold && !f; k++) {
      PetscBool same = PETSC_FALSE;

      if (v->factors.old[k]) PetscCall(MatStateCompare(state, v->factors.old[k]->exact, &same));
      if (!same) continue;
      f                 = v->factors.old[k];
      v->factors.old[k] = NULL;
    }
    if (!f) {
      PCVCRSOptions opt = PCVCRSOptionsHere_Private(v);

      PetscCall(PetscNew(&f));
      PetscCall(MatGetVecType(pc->pmat, &vectype));
      PetscCall(PetscStrcmpAny(vectype, &opt.device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
#if defined(LITHE_HAVE_CUDA)
      if (device) PetscCall(PCVCRSCreateFactor_Device(&opt, device, f));
#endif
      if (!device) PetscCall(PCVCRSCreateFactor_Host(&opt, F, symmetric, vectype, f, &known));
      if (!known) PetscCall(PCVCRSFactorDestroy_Private(&f));
    }
  }
  if (!f) {
    char left[128];

    PetscCall(PetscSNPrintf(left, sizeof(left), "%s, left as it is", ((PetscObject)pc)->type_name));
    PetscCall(PCVCRSAddLeft_Private(&v->lines, where, "factors", left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(MatGetState(F, &f->exact)); /* reading may have counted as a change */
  PetscCall(PetscRealloc((size_t)(v->factors.n + 1) * sizeof(*v->factors.factor), &v->factors.factor));
  v->factors.factor[v->factors.n++] = f;
  PetscCall(PCVCRSAddParts_Private(v, f, where));
  PetscCall(PCVCRSComposeFactor_Private(pc, f));
  *factor = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors are about to be collected again: the present factors become old */
PetscErrorCode PCVCRSFactorsBegin_Private(PCVCRSFactors *factors)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSFactorsForgetOld_Private(factors)); /* left from a collection that ended with an error */
  factors->old    = factors->factor;
  factors->nold   = factors->n;
  factors->factor = NULL;
  factors->n      = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSFactorsForgetOld_Private(PCVCRSFactors *factors)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < factors->nold; k++) PetscCall(PCVCRSFactorDestroy_Private(&factors->old[k]));
  PetscCall(PetscFree(factors->old));
  factors->nold = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSFactorsFree_Private(PCVCRSFactors *factors)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSFactorsBegin_Private(factors));
  PetscCall(PCVCRSFactorsForgetOld_Private(factors));
  PetscFunctionReturn(PETSC_SUCCESS);
}
