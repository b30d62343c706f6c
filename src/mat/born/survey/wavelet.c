/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Properties of the wavelet: size, length, and highest frequency */

#include <lithe/private/born/parts.h>

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
double BornPointsPerWave_Private(const BornGrids *grids, const BornModel *model, const BornTime *time, const BornSource *source)
{
  double h = 0;

  for (int d = 0; d < grids->one.dim; d++) h = PetscMax(h, (double)grids->h[d]);
  return source->highest > 0 ? (double)model->least * (double)time->dt / (source->highest * h) : 0;
}

/* Whether waves have nodes enough, and periods steps that scatter */
static PetscErrorCode BornSourceCheck(MPI_Comm comm, const BornParts *in, const BornTime *time, const BornSource *source)
{
  const double   points = BornPointsPerWave_Private(in->grids, in->model, time, source), nyquist = source->highest > 0 ? 0.5 / source->highest : PETSC_INT_MAX;
  const PetscInt interval = in->tuning->interval;

  PetscFunctionBegin;
  PetscCheck(!(points > 0) || points >= BORN_LEAST, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The shortest wave has %.3g nodes: velocity %g, frequency %g. At least %g are needed, %g are good; use a wavelet of lower frequencies, or a finer "
             "grid",
             points, (double)in->model->least, source->highest / (double)time->dt, BORN_LEAST, BORN_POINTS);
  if (points > 0 && points < BORN_POINTS)
    PetscCall(PetscFPrintf(comm, PETSC_STDERR, "Warning: the shortest wave of a matrix of type born has %.3g nodes, %g are good: waves will be late\n", points,
                           BORN_POINTS));
  PetscCheck(interval == 1 || (double)interval <= nyquist / 2, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_interval %" PetscInt_FMT ": the highest frequency of the wavelet needs one step of %.3g at least, half of what Nyquist asks for",
             interval, nyquist / 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornSourceCreate_Private(MPI_Comm comm, const BornParts *in, const BornTime *time, BornSource *source)
{
  const PetscReal *w = in->survey->wavelet, *h = in->grids->h;
  const PetscInt   n       = in->survey->nwavelet;
  double           largest = 0;
  PetscInt         last    = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) largest = PetscMax(largest, fabs((double)w[k]));
  for (PetscInt k = 0; k < n; k++) {
    if (fabs((double)w[k]) >= BORN_QUIET * largest) last = k;
  }
  source->samples = n;
  source->force   = (double)h[0] / (double)h[1];
  if (in->grids->one.dim > 2) source->force /= (double)h[2];
  source->unit = largest > 0 && largest * source->force > 0 && !PetscIsInfOrNanReal((PetscReal)(largest * source->force))
                   ? ldexp(1, ilogb(largest * source->force))
                   : 1;
  source->loud = last + 1;
  source->busy = PetscMin(in->run->steps, last + 2 + 2 * in->grids->one.radius);
  PetscCall(BornHighest(last + 1, w, largest > 0 ? largest : 1, &source->highest));
  PetscCall(BornSourceCheck(comm, in, time, source));
  PetscCall((*in->kernels->create)(PETSC_FALSE, (size_t)n * sizeof(PetscReal), (void **)&source->wave));
  PetscCall((*in->kernels->copy)((size_t)n * sizeof(PetscReal), w, source->wave));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornSourceDestroy_Private(const BornKernels *k, BornSource *source)
{
  PetscFunctionBegin;
  PetscCall((*k->destroy)(PETSC_FALSE, (void **)&source->wave));
  PetscFunctionReturn(PETSC_SUCCESS);
}
