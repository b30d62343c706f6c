/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The low-pass of traces. Scattering at each k-th step adds waves round multiples of the frequency of scattering. Samples
   alone could fold these waves onto the data. The low-pass therefore reads all steps of a trace and writes samples.

   The weights are a sinc function in Kaiser's window (A. Oppenheim, R. Schafer, Discrete-time signal processing). The
   weights are symmetric, so the transpose has the same weights. Before the first step a trace is 0. The waves run on
   beyond the last sample, as far as the weights reach.
*/

#include "bornimpl.h"

#define LOWPASS_PERIODS 3. /* of the frequency on each side: with the window below, the gain is right within 1e-4 for all frequencies */
#define LOWPASS_KAISER  9.
#define LOWPASS_MIDDLE  1.5 /* times the frequency: the gain is 1/2 */

PetscErrorCode BornLowpassCreate(double frequency, PetscInt steps, BornLowpass *f)
{
  const double wanted = ceil(LOWPASS_PERIODS / frequency), middle = LOWPASS_MIDDLE * frequency;
  double       sum;
  PetscInt     half;

  PetscFunctionBegin;
  /* no longer than three traces, by the least frequency */
  PetscCheck(frequency <= 0.25 && frequency * (double)steps >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A low-pass of %g periods per step for %" PetscInt_FMT " steps", frequency, steps);
  PetscCheck(wanted < (double)PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A low-pass of %g steps", wanted);
  half = (PetscInt)wanted;
  PetscCall(PetscMalloc1(half + 1, &f->weight));
  f->weight[0] = 2 * middle;
  sum          = f->weight[0];
  for (PetscInt k = 1; k <= half; k++) {
    f->weight[k] = sin(2 * PETSC_PI * fmod(middle * (double)k, 1)) / (PETSC_PI * (double)k) *
                   BornKaiser_Private(LOWPASS_KAISER, (double)k / (double)(half + 1));
    sum += 2 * f->weight[k];
  }
  for (PetscInt k = 0; k <= half; k++) f->weight[k] /= sum;
  f->half = half;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornLowpassDestroy(BornLowpass *f)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(f->weight));
  f->half = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Step n is number n - 1 of a trace. Sample s is at step every (s + 1) */
static inline double BornLowpassWeight(const BornLowpass *f, PetscInt a, PetscInt b)
{
  return f->weight[a < b ? b - a : a - b];
}

PetscErrorCode BornLowpassApply(const BornLowpass *f, PetscInt traces, PetscInt steps, PetscInt every, PetscInt samples, const PetscReal all[],
                                PetscReal data[])
{
  PetscFunctionBegin;
  for (PetscInt t = 0; t < traces; t++) {
    const PetscReal *from = all + (PetscInt64)t * steps;
    PetscReal       *to   = data + (PetscInt64)t * samples;

    for (PetscInt s = 0; s < samples; s++) {
      const PetscInt step = every * (s + 1), first = step > f->half ? step - f->half : 1, last = steps - step > f->half ? step + f->half : steps;
      double         sum = 0;

      for (PetscInt n = first; n <= last; n++) sum += BornLowpassWeight(f, n, step) * (double)from[n - 1];
      to[s] = (PetscReal)sum;
    }
  }
  PetscCall(PetscLogFlops(2. * (PetscLogDouble)traces * (PetscLogDouble)samples * (PetscLogDouble)PetscMin(steps, 2 * (PetscInt64)f->half + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornLowpassApplyTranspose(const BornLowpass *f, PetscInt traces, PetscInt steps, PetscInt every, PetscInt samples, const PetscReal data[],
                                         PetscReal all[])
{
  PetscFunctionBegin;
  for (PetscInt t = 0; t < traces; t++) {
    const PetscReal *from = data + (PetscInt64)t * samples;
    PetscReal       *to   = all + (PetscInt64)t * steps;

    for (PetscInt n = 1; n <= steps; n++) {
      /* the samples within reach */
      const PetscInt first = n > f->half ? (n - f->half + every - 1) / every : 1, last = PetscMin(samples, (n + PetscMin(f->half, steps - n)) / every);
      double         sum = 0;

      for (PetscInt s = first; s <= last; s++) sum += BornLowpassWeight(f, n, every * s) * (double)from[s - 1];
      to[n - 1] = (PetscReal)sum;
    }
  }
  PetscCall(PetscLogFlops(2. * (PetscLogDouble)traces * (PetscLogDouble)samples * (PetscLogDouble)PetscMin(steps, 2 * (PetscInt64)f->half + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The low-pass of the settings, which has a frequency */
static PetscErrorCode MatBornCreateLowpass_Private(Mat A, BornLowpass *f)
{
  const Mat_Born *ctx       = (Mat_Born *)A->data;
  const double    frequency = (double)ctx->lowpass * (double)ctx->dt;
  MPI_Comm        comm      = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(frequency <= 0.25, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g: with steps of %g the frequency is %g at most, a quarter of a period per step", (double)ctx->lowpass, (double)ctx->dt,
             0.25 / (double)ctx->dt);
  PetscCheck(frequency * (double)ctx->steps >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g: for %" PetscInt_FMT " steps of %g the frequency is %g at least, one period in a trace; use 0 for no low-pass",
             (double)ctx->lowpass, ctx->steps, (double)ctx->dt, 1 / ((double)ctx->dt * (double)ctx->steps));
  PetscCall(BornLowpassCreate(frequency, ctx->steps, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBornBuildLowpass_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  ctx->run = ctx->steps;
  if (!(ctx->lowpass > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornCreateLowpass_Private(A, &ctx->filter));
  /* the last sample needs all neighbours: a trace that ends has waves of all frequencies at its end */
  PetscCall(PetscIntSumError(ctx->every * ctx->samples, ctx->filter.half, &ctx->run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornFilter - Applies the low-pass of a `MATBORN` to measured data, in place

  Collective

  Input Parameters:
+ J - the matrix
- d - the data, a vector as the rows of `J`

  Level: intermediate

  Notes:
  Data of `MatBornModel()` and `MatMult()` have passed the low-pass already. Measured data must pass it before a
  comparison. Without `MatBornSetLowpass()` the data stay as they are.

  Measured data are samples, so the low-pass uses samples only. Beyond its ends a trace counts as 0; the last 3 periods
  of the frequency are therefore inexact. An error, unless there are 4 samples per period of the frequency at least.

.seealso: `MATBORN`, `MatBornSetLowpass()`, `MatBornModel()`
@*/
PetscErrorCode MatBornFilter(Mat J, Vec d)
{
  Mat_Born    *ctx = NULL;
  BornLowpass  f;
  PetscMPIInt  rank;
  PetscScalar *a;
  double      *trace;
  MPI_Comm     comm = PetscObjectComm((PetscObject)J);

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidHeaderSpecific(d, VEC_CLASSID, 2);
  PetscCheckSameComm(J, 1, d, 2);
  PetscCall(MatSetUp(J));
  PetscCall(MatBornCheckData_Private(J, d));
  if (!(ctx->lowpass > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(4 * (double)ctx->lowpass * (double)ctx->dt * (double)ctx->every <= 1 + 1e-6, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g: samples of %" PetscInt_FMT " steps of %g are fewer than 4 per period; use a lower frequency, or more samples",
             (double)ctx->lowpass, ctx->every, (double)ctx->dt);
  PetscCall(MatBornCreateLowpass_Private(J, &f));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc1(ctx->samples, &trace));
  PetscCall(VecGetArray(d, &a));
  for (PetscInt s = 0; s < ctx->nshots; s++) {
    const BornShot *shot  = &ctx->shots[s];
    const PetscInt  reach = f.half / ctx->every;

    for (PetscInt r = 0; r < shot->nreceivers && shot->owner == rank; r++) {
      PetscScalar *x = a + shot->offset + (PetscInt64)r * ctx->samples;

      for (PetscInt k = 0; k < ctx->samples; k++) trace[k] = (double)PetscRealPart(x[k]);
      for (PetscInt k = 0; k < ctx->samples; k++) {
        const PetscInt first = PetscMax(0, k - reach), last = ctx->samples - 1 - k > reach ? k + reach : ctx->samples - 1;
        double         sum = 0;

        for (PetscInt l = first; l <= last; l++) sum += BornLowpassWeight(&f, ctx->every * k, ctx->every * l) * trace[l];
        x[k] = (PetscReal)(sum * (double)ctx->every);
      }
    }
  }
  PetscCall(VecRestoreArray(d, &a));
  PetscCall(PetscFree(trace));
  PetscCall(BornLowpassDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
