/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The low-pass of a MATBORN for measured data, which are samples */

#include "bornimpl.h"

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
  PetscReal   *trace, *low;
  MPI_Comm     comm = PetscObjectComm((PetscObject)J);

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidHeaderSpecific(d, VEC_CLASSID, 2);
  PetscCheckSameComm(J, 1, d, 2);
  PetscCall(MatBornCheckData_Private(J, d));
  if (!(ctx->time.lowpass > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(4 * (double)ctx->time.lowpass * (double)ctx->time.dt * (double)ctx->time.every <= 1 + 1e-6, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_lowpass %g: samples of %" PetscInt_FMT " steps of %g are fewer than 4 per period; use a lower frequency, or more samples",
             (double)ctx->time.lowpass, ctx->time.every, (double)ctx->time.dt);
  PetscCall(BornLowpassOfTime_Private(comm, &ctx->time, &f));
  /* the weights of samples */
  f.half /= ctx->time.every;
  for (PetscInt k = 0; k <= f.half; k++) f.weight[k] = (double)ctx->time.every * f.weight[k * ctx->time.every];
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc2(ctx->time.samples, &trace, ctx->time.samples, &low));
  PetscCall(VecGetArray(d, &a));
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) {
    const BornShot *shot = &ctx->survey.shots[s];

    for (PetscInt r = 0; r < shot->nreceivers && shot->owner == rank; r++) {
      PetscScalar *x = a + shot->offset + (PetscInt64)r * ctx->time.samples;

      for (PetscInt k = 0; k < ctx->time.samples; k++) trace[k] = PetscRealPart(x[k]);
      PetscCall(BornLowpassApply(&f, 1, ctx->time.samples, 1, ctx->time.samples, trace, low));
      for (PetscInt k = 0; k < ctx->time.samples; k++) x[k] = low[k];
    }
  }
  PetscCall(VecRestoreArray(d, &a));
  PetscCall(PetscFree2(trace, low));
  PetscCall(BornLowpassDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}
