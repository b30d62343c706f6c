/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The traces of a sweep, in the memory of fields. Without a low-pass the traces are the data: the numbers of each every-th
   step. With a low-pass the traces have the numbers of all steps, and the low-pass on the host makes data of the traces.
*/

#include "bornimpl.h"

/* Numbers in all traces of a sweep */
static inline size_t BornTracesSize(const BornSweep *s, PetscInt samples)
{
  return (size_t)s->receivers * (size_t)samples;
}

/* Of the traces of shots that are computed together */
PetscLogDouble BornTracesBytes_Private(const Mat_Born *ctx)
{
  const PetscInt samples = ctx->time.lowpass > 0 ? ctx->run.steps : ctx->time.samples;
  size_t         most    = 0;

  for (PetscInt s = 0; s < ctx->survey.nshots; s++) most = PetscMax(most, (size_t)ctx->survey.shots[s].nreceivers * (size_t)samples);
  return (PetscLogDouble)BornShots(&ctx->grids.stack) * (PetscLogDouble)most * (PetscLogDouble)sizeof(PetscReal);
}

void BornTracesStart_Private(BornSweep *s)
{
  const Mat_Born *ctx = s->ctx;

  s->every   = ctx->time.lowpass > 0 ? 1 : ctx->time.every;
  s->samples = ctx->time.lowpass > 0 ? ctx->run.steps : ctx->time.samples;
}

/* Which number of a trace a step is, or -1 */
PetscInt BornTracesSample_Private(const BornSweep *s, PetscInt step)
{
  return step > 0 && step % s->every == 0 ? step / s->every - 1 : -1;
}

/* Traces of zeros, which the matrix keeps */
PetscErrorCode BornTracesGet_Private(BornSweep *s, PetscReal **traces)
{
  Mat_Born    *ctx = s->ctx;
  const size_t n   = BornTracesSize(s, s->samples);

  PetscFunctionBegin;
  if (n > ctx->fields.ntraces) {
    PetscCall((*ctx->kernels->destroy)((void **)&ctx->fields.traces));
    ctx->fields.ntraces = 0;
    PetscCall((*ctx->kernels->create)(n * sizeof(PetscReal), (void **)&ctx->fields.traces));
    ctx->fields.ntraces = n;
  }
  PetscCall((*ctx->kernels->zero)(n * sizeof(PetscReal), ctx->fields.traces));
  *traces = ctx->fields.traces;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The low-pass from traces to data, or the transpose from data to traces */
static PetscErrorCode BornTracesFilter(BornSweep *s, PetscBool transpose, PetscReal *traces, PetscReal *data)
{
  Mat_Born       *ctx  = s->ctx;
  const PetscBool host = (PetscBool)(ctx->kernels == &BornHostKernels);
  const size_t    n    = BornTracesSize(s, ctx->run.steps);
  PetscReal      *all  = traces;

  PetscFunctionBegin;
  if (!host) PetscCall(PetscMalloc1(n, &all));
  if (transpose) {
    PetscCall(BornLowpassApplyTranspose(&ctx->run.filter, s->receivers, ctx->run.steps, ctx->time.every, ctx->time.samples, data, all));
    if (!host) PetscCall((*ctx->kernels->copy)(n * sizeof(*all), all, traces));
  } else {
    if (!host) PetscCall((*ctx->kernels->copy)(n * sizeof(*all), traces, all));
    PetscCall(BornLowpassApply(&ctx->run.filter, s->receivers, ctx->run.steps, ctx->time.every, ctx->time.samples, all, data));
  }
  if (!host) PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Traces for a sweep. read: from the data */
PetscErrorCode BornTracesOpen_Private(BornSweep *s, PetscReal *data, PetscBool read, PetscReal **traces)
{
  PetscFunctionBegin;
  if (s->ctx->time.lowpass > 0) {
    PetscCall(BornTracesGet_Private(s, traces));
    if (read) PetscCall(BornTracesFilter(s, PETSC_TRUE, *traces, data));
  } else PetscCall((*s->ctx->kernels->borrow)(BornTracesSize(s, s->samples), data, read, traces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a sweep's traces. written: to the data */
PetscErrorCode BornTracesClose_Private(BornSweep *s, PetscReal *data, PetscBool written, PetscReal **traces)
{
  PetscFunctionBegin;
  if (s->ctx->time.lowpass > 0) {
    if (written) PetscCall(BornTracesFilter(s, PETSC_FALSE, *traces, data));
    *traces = NULL;
  } else PetscCall((*s->ctx->kernels->giveback)(BornTracesSize(s, s->samples), data, written, traces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process of a group has a part of the rows, and gets all rows */
static PetscErrorCode BornTracesShare(BornSplit *split, size_t n, PetscReal *rows)
{
  PetscFunctionBegin;
  PetscCall(BornSplitUniteRows_Private(split, (PetscInt)n, rows));
  PetscCall(BornSplitSpreadRows_Private(split, (PetscInt)n, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the traces at the end of a product to the traces at the begin of the transpose. MPI has rows on the host. left: factors
   of the rows, in the product and in the transpose; or NULL */
PetscErrorCode BornTracesTurn_Private(BornSweep *s, PetscReal *traces, const PetscReal *left)
{
  Mat_Born       *ctx     = s->ctx;
  const PetscBool lowpass = (PetscBool)(ctx->time.lowpass > 0), place = (PetscBool)(ctx->kernels == &BornHostKernels && !lowpass);
  const size_t    n    = BornTracesSize(s, ctx->time.samples);
  PetscReal      *data = traces;

  PetscFunctionBegin;
  if (ctx->parallel.split->group.size == 1 && !lowpass && !left) PetscFunctionReturn(PETSC_SUCCESS);
  if (!place) PetscCall(PetscMalloc1(n, &data));
  if (lowpass) PetscCall(BornTracesFilter(s, PETSC_FALSE, traces, data));
  else if (!place) PetscCall((*ctx->kernels->copy)(n * sizeof(*data), traces, data));
  PetscCall(BornTracesShare(ctx->parallel.split, n, data));
  for (size_t i = 0; i < n && left; i++) data[i] = data[i] * left[i] * left[i];
  if (lowpass) PetscCall(BornTracesFilter(s, PETSC_TRUE, traces, data));
  else if (!place) PetscCall((*ctx->kernels->copy)(n * sizeof(*data), data, traces));
  if (!place) PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}
