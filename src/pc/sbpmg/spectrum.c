/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Bounds of spectra by a few steps of Lanczos's method, in the form of conjugate gradients from white noise. The
   coefficients of the smoothing steps follow from the bounds.

   The upper bound is the largest Ritz value plus the norm of its residual, and soon becomes close. Levels finer than
   spectrumsize intervals take the bounds of the next coarser level. The finest level is always measured, because its
   operator is of another kind.
*/

#include "sbpmgimpl.h"
#include <petscblaslapack.h>

#define SBPMG_CYCLE_STEPS 6 /* for the spectrum of the cycle, of which less has to be known */

/* The sum over all processes of x w y, to memory where the level is */
static PetscErrorCode Sum_Private(PC_SBPMG *mg, SBPMGLevel *l, const void *x, const void *w, const void *y, double *sum)
{
  double number;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->vector.sum)(&l->op[mg->precision].grid, mg->precision, x, w, y, sum));
  if (!l->exchange.halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->get)(sizeof(number), sum, &number));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &number, 1, MPI_DOUBLE, MPI_SUM, l->exchange.parts.comm));
  PetscCall((*mg->kernels->memory->put)(sizeof(number), &number, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bounds from the tridiagonal matrix of n steps; next: the missing coupling */
static PetscErrorCode RitzBounds_Private(PetscInt n, PetscReal diagonal[], PetscReal off[], PetscReal next, PetscReal *least, PetscReal *most)
{
  PetscBLASInt bn, info = 0;
  PetscScalar *z;
  PetscReal   *work;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscMalloc2(n * n, &z, 2 * n, &work));
  PetscCallBLAS("LAPACKsteqr", LAPACKsteqr_("I", &bn, diagonal, off, z, &bn, work, &info));
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK steqr returned %d", (int)info);
  *least = diagonal[0];
  *most  = diagonal[n - 1] + next * PetscAbsScalar(z[(size_t)n * (size_t)n - 1]);
  PetscCall(PetscFree2(z, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Subtracts the mean of b, if the constants are the kernel of A. Otherwise a constant part would stay in the residual,
   and p'Ap would become rounding noise. work becomes 1 everywhere, as the diagonal of A over itself. other is work, too
*/
static PetscErrorCode RemoveConstants_Private(PC_SBPMG *mg, SBPMGLevel *l, void *work, void *other, double *over, double *under)
{
  const SBPRatio     one = {1., NULL, NULL}, none = {0., NULL, NULL}, mean = {-1., over, under};
  const SBPPrecision precision = mg->precision;
  const SBPGrid     *grid      = &l->op[precision].grid;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->diagonal)(&l->op[precision], work));
  PetscCall((*mg->kernels->vector.combine)(grid, precision, one, NULL, work, none, other));
  PetscCall((*mg->kernels->vector.reciprocal)(grid, precision, other));
  PetscCall((*mg->kernels->vector.multiply)(grid, precision, 1., work, other, work));
  PetscCall(Sum_Private(mg, l, work, NULL, l->b, over));
  PetscCall(Sum_Private(mg, l, work, NULL, work, under));
  PetscCall((*mg->kernels->vector.combine)(grid, precision, mean, NULL, work, one, l->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Steps of conjugate gradients for A on a level, with the preconditioner of its smoother (diagonal, or none) or with a
   V cycle. r is in b, and directions are in d or fd. The inner products stay at the place of the level until all steps
   are done: r'Mr of step k in rz[k], p'Ap in pq[k]
*/
static PetscErrorCode ConjugateSteps_Private(PC_SBPMG *mg, PetscInt level, PetscBool cycle, PetscInt steps, double rz[], double pq[])
{
  const SBPRatio     one       = {1., NULL, NULL};
  SBPMGLevel        *l         = &mg->level[level];
  const SBPPrecision precision = mg->precision;
  const SBPGrid     *grid      = &l->op[precision].grid;
  const void        *w         = cycle ? NULL : l->dinv;
  void              *p         = cycle ? l->full.d : l->d;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->vector.noise)(grid, precision, l->b));
  if (mg->shift.singular || mg->shift.deflated) PetscCall(RemoveConstants_Private(mg, l, l->x[0], l->x[1], rz, pq)); /* both x are still unused */
  l->cur = 0;
  for (PetscInt k = 0; k <= steps; k++) {
    const SBPRatio alpha = {-1., rz + k, pq + k}, beta = {k ? 1. : 0., rz + k, rz + k - (k ? 1 : 0)};
    SBPStep        step = {.mode = SBP_APPLY, .u = p};
    const void    *z    = l->b;

    if (cycle) {
      PetscCall(PCSBPMGCycle_Private(mg, level, PCSBPMG_CYCLE_V, PETSC_TRUE));
      z = l->x[l->cur];
    }
    PetscCall(Sum_Private(mg, l, l->b, w, z, rz + k));
    if (k == steps) break;
    PetscCall((*mg->kernels->vector.combine)(grid, precision, one, w, z, beta, p));
    step.out = l->x[1 - l->cur];
    PetscCall(PCSBPMGStep_Private(mg, l, precision, &step));
    PetscCall(Sum_Private(mg, l, p, NULL, step.out, pq + k));
    PetscCall((*mg->kernels->vector.combine)(grid, precision, alpha, NULL, step.out, one, l->b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bounds from these inner products; done: the number of steps before the residual vanished */
static PetscErrorCode Lanczos_Private(PC pc, PetscInt level, PetscBool cycle, PetscInt steps, PetscReal *least, PetscReal *most, PetscInt *done)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  PetscReal diagonal[SBPMG_LANCZOS_MAX], off[SBPMG_LANCZOS_MAX], next = 0.;
  double    sums[SBPMG_SUMS], *rz = sums, *pq = sums + SBPMG_LANCZOS_MAX + 1, alpha, lastalpha = 0., beta = 0.;
  PetscInt  n = 0;

  PetscFunctionBegin;
  PetscCall(ConjugateSteps_Private(mg, level, cycle, steps, mg->memory.sums, mg->memory.sums + SBPMG_LANCZOS_MAX + 1));
  PetscCall((*mg->kernels->memory->get)(sizeof(sums), mg->memory.sums, sums));
  /* the same decisions on all processes, whatever the order of sums on a device */
  if (SBPPartsExist(&mg->gather.parts) && PCSBPMGIsWhole(mg, level)) PetscCallMPI(MPI_Bcast(sums, SBPMG_SUMS, MPI_DOUBLE, 0, PetscObjectComm((PetscObject)pc)));
  for (PetscInt k = 0; k <= steps; k++) {
    if (k) {
      beta       = rz[k] / rz[k - 1];
      off[k - 1] = next = rz[k] > 0. ? (PetscReal)(PetscSqrtReal((PetscReal)beta) / lastalpha) : 0;
    }
    if (k == steps || !(rz[k] > 1.e-10 * rz[0])) break;
    if (!(pq[k] > 0.) || PetscIsInfOrNanReal((PetscReal)pq[k])) {
      PetscCall(PCSBPMGFail_Private(pc, "%sthe operator of level %" PetscInt_FMT " is not positive definite (p'Ap = %g)",
                                    PCSBPMGIsShifted(mg) ? "with the diagonal that was added " : "", level, pq[k]));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    alpha       = rz[k] / pq[k];
    diagonal[k] = (PetscReal)(1. / alpha + (k ? beta / lastalpha : 0.));
    lastalpha   = alpha;
    n           = k + 1;
  }
  if (!n) {
    PetscCall(PCSBPMGFail_Private(pc, "the spectrum of level %" PetscInt_FMT " cannot be found (r'Mr = %g)", level, rz[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(RitzBounds_Private(n, diagonal, off, next, least, most));
  *done = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chebyshev's method of the first kind on [a, b]: changes d_k = c1_k d_{k-1} + c2_k M (b - A x_k) */
static void ChebyshevCoefficients(PetscInt n, double a, double b, double c1[], double c2[])
{
  const double theta = (b + a) / 2., delta = PetscMax((b - a) / 2., 1.e-10 * b), sigma = theta / delta;
  double       rho = 1. / sigma;

  c1[0] = 0.;
  c2[0] = 1. / theta;
  for (PetscInt k = 1; k < n; k++) {
    const double next = 1. / (2. * sigma - rho);

    c1[k] = rho * next;
    c2[k] = 2. * next / delta;
    rho   = next;
  }
}

static void SmootherCoefficients(const PCSBPMGOptions *opt, PetscInt n, double lmin, double lmax, double c1[], double c2[])
{
  const double a = (double)opt->fraction * lmax, b = lmax;

  switch (opt->smoother) {
  case PCSBPMG_SMOOTHER_CHEBYSHEV:
    ChebyshevCoefficients(n, a, b, c1, c2);
    break;
  case PCSBPMG_SMOOTHER_CHEBYSHEV4: /* Lottes 2023, algorithm 3 without optimised weights */
    for (PetscInt k = 0; k < n; k++) {
      c1[k] = k ? (2. * k - 1.) / (2. * k + 3.) : 0.;
      c2[k] = (8. * k + 4.) / ((2. * k + 3.) * b);
    }
    break;
  case PCSBPMG_SMOOTHER_RICHARDSON2: {
    const double ra = sqrt(a), rb = sqrt(b);

    for (PetscInt k = 0; k < n; k++) {
      c1[k] = k ? (rb - ra) * (rb - ra) / ((rb + ra) * (rb + ra)) : 0.;
      c2[k] = k ? 4. / ((rb + ra) * (rb + ra)) : 2. / (a + b);
    }
  } break;
  case PCSBPMG_SMOOTHER_RICHARDSON:
    for (PetscInt k = 0; k < n; k++) {
      c1[k] = 0.;
      c2[k] = 2. / (lmin + lmax);
    }
    break;
  }
}

/*
   Factors of the steps of full multigrid. A cycle leaves a few components with small eigenvalues; all other eigenvalues
   are near 1. The first step is a plain cycle, and further steps are Chebyshev's method of the first kind on the
   spectrum. A few steps of Lanczos's method on a coarse level overestimate the least eigenvalue: half of the value is
   used.
*/
static void FullFactors(PetscInt n, double least, double b, double factor[])
{
  const double a = least / 2.;

  factor[0] = 1.;
  for (PetscInt k = 1; k < n; k++) factor[k] = 1. / ((b + a) / 2. - (b - a) / 2. * cos((double)PETSC_PI * ((double)(n - k) - .5) / (double)(n - 1)));
}

/* Whether a level is measured itself */
static PetscBool IsMeasured(const PC_SBPMG *mg, PetscInt k)
{
  const SBPGrid *grid = &mg->level[k].grid;

  return (PetscBool)(k == 0 || k == mg->n - 2 || PetscMax(grid->n[0], grid->n[1]) <= mg->opt.spectrumsize);
}

/* The number of smoothing steps on the levels. Whether a cycle is symmetric */
PetscBool PCSBPMGSetSmooths_Private(PC_SBPMG *mg)
{
  PetscBool symmetric = (PetscBool)(mg->opt.cycle != PCSBPMG_CYCLE_FULL);

  for (PetscInt k = 0; k < mg->n; k++) {
    for (int side = 0; side < 2; side++) {
      PetscInt *n = &mg->level[k].smooth.steps[side];

      *n = k == 0 && mg->opt.finest[side] != PETSC_DECIDE ? mg->opt.finest[side] : mg->opt.smooths[side];
      /* the finest level of full multigrid starts with a solution close to convergence: docs/guide/sbpmg.md */
      if (*n == PETSC_DECIDE) *n = mg->opt.cycle == PCSBPMG_CYCLE_FULL && k == 0 && side ? 0 : 2;
    }
    if (mg->level[k].smooth.steps[0] != mg->level[k].smooth.steps[1]) symmetric = PETSC_FALSE;
  }
  return symmetric;
}

/* From the coarsest smoothed level to the finest */
PetscErrorCode PCSBPMGSpectra_Private(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  for (PetscInt k = mg->n - 2; k >= 0; k--) {
    SBPMGLevel *l = &mg->level[k], *c = l + 1;
    PetscReal   least;

    if (IsMeasured(mg, k))
      PetscCall(
        Lanczos_Private(pc, k, PETSC_FALSE, PetscMin(mg->opt.spectrumsteps, (PetscInt)SBPMG_LANCZOS_MAX), &least, &l->smooth.lmax, &l->smooth.measured));
    else l->smooth.lmax = c->smooth.lmax;
    if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);

    /* The least eigenvalue of the operator scaled by H x H is the least eigenvalue of the differential operator times
       h_r h_s */
    l->smooth.lmin = (k == mg->n - 2 ? mg->coarsest.lmin : c->smooth.lmin) / 4;
    for (int side = 0; side < 2; side++)
      SmootherCoefficients(&mg->opt, l->smooth.steps[side], (double)l->smooth.lmin, (double)l->smooth.lmax, l->smooth.c1[side], l->smooth.c2[side]);
  }
  if (mg->opt.cycle != PCSBPMG_CYCLE_FULL) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = mg->n - 2; k >= 0; k--) {
    SBPMGLevel *l = &mg->level[k], *c = l + 1;
    PetscInt    steps;

    if (PCSBPMGMeasuresCycle_Private(mg, k)) PetscCall(Lanczos_Private(pc, k, PETSC_TRUE, SBPMG_CYCLE_STEPS, &l->smooth.least, &l->smooth.most, &steps));
    else if (k < mg->n - 2) {
      l->smooth.least = c->smooth.least;
      l->smooth.most  = c->smooth.most;
    } else { /* the usual value */
      l->smooth.least = (PetscReal)0.4;
      l->smooth.most  = 1;
    }
    if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
    FullFactors(PCSBPMGFullSteps_Private(mg, k), (double)l->smooth.least, (double)l->smooth.most, l->smooth.factor);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
