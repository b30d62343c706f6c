/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Properties of the wavelet: size, length, and highest frequency */

#include "bornimpl.h"

#define BORN_QUIET    1e-3      /* of the largest sample: the wavelet ends where all further samples are below */
#define BORN_SPECTRUM (1. / 30) /* of the largest amplitude: the limit for a frequency. For a Ricker wavelet 2.5 times the main frequency */
#define BORN_POINTS   4.        /* nodes per shortest wave: fewer nodes give a warning */
#define BORN_LEAST    2.5       /* and fewer than these are an error */

/* |sum of the samples times e^(2 pi i frequency t)| */
static double BornAmplitude(PetscInt n, const PetscReal w[], double unit, double frequency)
{
  double re = 0, im = 0;

  for (PetscInt t = 0; t < n; t++) {
    const double phase = fmod(frequency * (double)t, 1) * 2 * PETSC_PI, a = (double)w[t] / unit;

    re += a * cos(phase);
    im += a * sin(phase);
  }
  return sqrt(re * re + im * im);
}

/* The highest frequency, in periods a step, of n samples */
static PetscErrorCode BornHighest(PetscInt n, const PetscReal w[], double unit, double *highest)
{
  /* as fine as the length of the wavelet allows */
  const PetscInt count   = PetscMin(PetscMax(2 * n, 64), 1024);
  double         largest = 0, *amplitude;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count + 1, &amplitude));
  for (PetscInt k = 0; k <= count; k++) {
    amplitude[k] = BornAmplitude(n, w, unit, 0.5 * (double)k / (double)count);
    largest      = PetscMax(largest, amplitude[k]);
  }
  *highest = 0;
  for (PetscInt k = 0; k <= count && largest > 0; k++) {
    if (amplitude[k] >= BORN_SPECTRUM * largest) *highest = 0.5 * (double)k / (double)count;
  }
  PetscCall(PetscFree(amplitude));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes per shortest wave, for the smallest velocity and the widest distance of nodes; 0: no wave */
PetscErrorCode MatBornGetPoints_Private(const Mat_Born *ctx, double *points)
{
  double h = 0;

  PetscFunctionBegin;
  for (int d = 0; d < ctx->grids.one.dim; d++) h = PetscMax(h, (double)ctx->grids.h[d]);
  *points = ctx->source.highest > 0 ? (double)ctx->model.least * (double)ctx->time.dt / (ctx->source.highest * h) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBornBuildWavelet_Private(Mat A)
{
  Mat_Born *ctx     = (Mat_Born *)A->data;
  MPI_Comm  comm    = PetscObjectComm((PetscObject)A);
  double    largest = 0, points, nyquist;
  PetscInt  last = 0, n = ctx->survey.nwavelet;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) largest = PetscMax(largest, fabs((double)ctx->survey.wavelet[k]));
  for (PetscInt k = 0; k < n; k++) {
    if (fabs((double)ctx->survey.wavelet[k]) >= BORN_QUIET * largest) last = k;
  }
  ctx->source.force = (double)ctx->grids.h[0] / (double)ctx->grids.h[1];
  if (ctx->grids.one.dim > 2) ctx->source.force /= (double)ctx->grids.h[2];
  ctx->source.unit = largest > 0 && largest * ctx->source.force > 0 && !PetscIsInfOrNanReal((PetscReal)(largest * ctx->source.force))
                       ? ldexp(1, ilogb(largest * ctx->source.force))
                       : 1;
  ctx->source.loud = last + 1;
  ctx->source.busy = PetscMin(ctx->run.steps, last + 2 + 2 * ctx->grids.one.radius);
  PetscCall(BornHighest(last + 1, ctx->survey.wavelet, largest > 0 ? largest : 1, &ctx->source.highest));
  PetscCall(MatBornGetPoints_Private(ctx, &points));
  PetscCheck(!(points > 0) || points >= BORN_LEAST, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The shortest wave has %.3g nodes: velocity %g, frequency %g. At least %g are needed, %g are good; use a wavelet of lower frequencies, or a finer "
             "grid",
             points, (double)ctx->model.least, ctx->source.highest / (double)ctx->time.dt, BORN_LEAST, BORN_POINTS);
  if (points > 0 && points < BORN_POINTS)
    PetscCall(PetscFPrintf(comm, PETSC_STDERR, "Warning: the shortest wave of a matrix of type born has %.3g nodes, %g are good: waves will be late\n", points,
                           BORN_POINTS));
  nyquist = ctx->source.highest > 0 ? 0.5 / ctx->source.highest : PETSC_INT_MAX;
  PetscCheck(ctx->tuning.interval == 1 || (double)ctx->tuning.interval <= nyquist / 2, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_interval %" PetscInt_FMT ": the highest frequency of the wavelet needs one step of %.3g at least, half of what Nyquist asks for",
             ctx->tuning.interval, nyquist / 2);
  PetscCall((*ctx->kernels->create)((size_t)n * sizeof(PetscReal), (void **)&ctx->source.wave));
  PetscCall((*ctx->kernels->copy)((size_t)n * sizeof(PetscReal), ctx->survey.wavelet, ctx->source.wave));
  PetscFunctionReturn(PETSC_SUCCESS);
}
