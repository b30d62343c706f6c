/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The traces of a sweep, in the memory of fields. Without a low-pass the traces are the data: the numbers of each
   every-th step. With a low-pass the traces have the numbers of all steps, and the low-pass on the host makes data of
   the traces.
*/

#include <lithe/private/born/parts.h>

/* Of the traces of shots that are computed together */
PetscLogDouble BornTracesBytes_Private(const BornParts *in)
{
  const BornSurvey *survey = in->survey;
  size_t            most   = 0;

  for (PetscInt s = 0; s < survey->nshots; s++) most = PetscMax(most, (size_t)survey->shots[s].nreceivers * (size_t)in->run->samples);
  return (PetscLogDouble)BornShots(&in->grids->stack) * (PetscLogDouble)most * (PetscLogDouble)sizeof(PetscReal);
}

/* Which number of a trace a step is, or -1 */
PetscInt BornTracesSample_Private(const BornSweep *s, PetscInt step)
{
  return step > 0 && step % s->in.run->every == 0 ? step / s->in.run->every - 1 : -1;
}

/* The low-pass from traces to data, or the transpose from data to traces */
static PetscErrorCode BornTracesFilter(const BornSweep *s, PetscBool transpose, PetscReal *traces, PetscReal *data)
{
  const BornKernels *k    = s->in.kernels;
  const BornRun     *run  = s->in.run;
  const PetscBool    host = (PetscBool)!k->device;
  const size_t       n    = (size_t)s->to.points * (size_t)run->samples;
  PetscReal         *all  = traces;

  PetscFunctionBegin;
  if (!host) PetscCall(PetscMalloc1(n, &all));
  if (transpose) {
    PetscCall(BornLowpassApplyTranspose(&run->filter, s->to.points, run->steps, run->dataevery, run->ndata, data, all));
    if (!host) PetscCall((*k->copy)(n * sizeof(*all), all, traces));
  } else {
    if (!host) PetscCall((*k->copy)(n * sizeof(*all), traces, all));
    PetscCall(BornLowpassApply(&run->filter, s->to.points, run->steps, run->dataevery, run->ndata, all, data));
  }
  if (!host) PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Traces for a sweep. read: from the data */
PetscErrorCode BornTracesOpen_Private(BornSweep *s, PetscReal *data, PetscBool read, PetscReal **traces)
{
  PetscFunctionBegin;
  if (s->in.run->lowpass) {
    PetscCall(BornGetTraces_Private(s, traces));
    if (read) PetscCall(BornTracesFilter(s, PETSC_TRUE, *traces, data));
  } else PetscCall((*s->in.kernels->borrow)((size_t)s->to.points * (size_t)s->in.run->samples, data, read, traces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a sweep's traces. written: to the data */
PetscErrorCode BornTracesClose_Private(BornSweep *s, PetscReal *data, PetscBool written, PetscReal **traces)
{
  PetscFunctionBegin;
  if (s->in.run->lowpass) {
    if (written) PetscCall(BornTracesFilter(s, PETSC_FALSE, *traces, data));
    *traces = NULL;
  } else PetscCall((*s->in.kernels->giveback)((size_t)s->to.points * (size_t)s->in.run->samples, data, written, traces));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process of a group has a part of the rows, and gets all rows */
static PetscErrorCode BornTracesShare(const BornSplit *split, size_t n, PetscReal *rows)
{
  PetscFunctionBegin;
  PetscCall(BornGroupUnite_Private(split, (PetscInt)n, rows));
  PetscCall(BornGroupSpread_Private(split, (PetscInt)n, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the traces at the end of a product to the traces at the begin of the transpose. MPI has rows on the host. left:
   factors of the rows, in the product and in the transpose; or NULL */
PetscErrorCode BornTracesTurn_Private(BornSweep *s, PetscReal *traces, const PetscReal *left)
{
  const BornKernels *k       = s->in.kernels;
  const BornSplit   *split   = &s->in.parallel->split;
  const PetscBool    lowpass = s->in.run->lowpass, place = (PetscBool)(!k->device && !lowpass);
  const size_t       n    = (size_t)s->to.points * (size_t)s->in.run->ndata;
  PetscReal         *data = traces;

  PetscFunctionBegin;
  if (split->group.size == 1 && !lowpass && !left) PetscFunctionReturn(PETSC_SUCCESS);
  if (!place) PetscCall(PetscMalloc1(n, &data));
  if (lowpass) PetscCall(BornTracesFilter(s, PETSC_FALSE, traces, data));
  else if (!place) PetscCall((*k->copy)(n * sizeof(*data), traces, data));
  PetscCall(BornTracesShare(split, n, data));
  for (size_t i = 0; i < n && left; i++) data[i] = data[i] * left[i] * left[i];
  if (lowpass) PetscCall(BornTracesFilter(s, PETSC_TRUE, traces, data));
  else if (!place) PetscCall((*k->copy)(n * sizeof(*data), data, traces));
  if (!place) PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}
