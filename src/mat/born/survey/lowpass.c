/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The low-pass of traces. Scattering at each k-th step adds waves round multiples of the frequency of scattering.
   Samples alone could fold these waves onto the data. The low-pass therefore reads all steps of a trace and writes
   samples.

   The weights are a sinc function in Kaiser's window (A. Oppenheim, R. Schafer, Discrete-time signal processing). The
   weights are symmetric, so the transpose has the same weights. Before the first step a trace is 0. The waves run on
   beyond the last sample, as far as the weights reach.
*/

#include <lithe/private/born/parts.h>

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
PetscErrorCode BornLowpassOfTime_Private(MPI_Comm comm, const BornTime *time, BornLowpass *f)
{
  const double frequency = (double)time->lowpass * (double)time->dt;

  PetscFunctionBegin;
  PetscCheck(frequency <= 0.25, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g: with steps of %g the frequency is %g at most, a quarter of a period per step", (double)time->lowpass, (double)time->dt,
             0.25 / (double)time->dt);
  PetscCheck(frequency * (double)time->steps >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g: for %" PetscInt_FMT " steps of %g the frequency is %g at least, one period in a trace; use 0 for no low-pass",
             (double)time->lowpass, time->steps, (double)time->dt, 1 / ((double)time->dt * (double)time->steps));
  PetscCall(BornLowpassCreate(frequency, time->steps, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornRunCreate_Private(MPI_Comm comm, const BornTime *time, BornRun *run)
{
  PetscFunctionBegin;
  run->lowpass   = (PetscBool)(time->lowpass > 0);
  run->steps     = time->steps;
  run->dataevery = time->every;
  run->ndata     = time->samples;
  if (run->lowpass) {
    PetscCall(BornLowpassOfTime_Private(comm, time, &run->filter));
    /* the last sample needs all neighbours: a trace that ends has waves of all frequencies at its end */
    PetscCall(PetscIntSumError(time->every * time->samples, run->filter.half, &run->steps));
  }
  run->every   = run->lowpass ? 1 : time->every;
  run->samples = run->lowpass ? run->steps : time->samples;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornRunDestroy_Private(BornRun *run)
{
  PetscFunctionBegin;
  PetscCall(BornLowpassDestroy(&run->filter));
  PetscFunctionReturn(PETSC_SUCCESS);
}
