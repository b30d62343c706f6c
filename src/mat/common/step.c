/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Steps of power series in a matrix: by the matrix if possible, else by a product and one sweep over the vectors */

#include <lithe/private/lithestep.h>

PetscErrorCode LitheStepGetPlace(Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[], PetscBool *device, PetscBool *host)
{
  PetscFunctionBegin;
  PetscCall(LitheVecsGetPlace(2, (const Vec[]){x, y}, device, host));
  for (PetscInt k = 0; k < nsums; k++) {
    PetscBool sumdevice, sumhost;

    PetscCall(LitheVecsGetPlace(1, &sums[k].sum, &sumdevice, &sumhost));
    *device = (PetscBool)(*device && sumdevice);
    *host   = (PetscBool)(*host && sumhost);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepIsOnDevice(Mat A, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[], PetscBool *device)
{
  PetscBool host, step;

  PetscFunctionBegin;
  PetscCall(LitheMatIsOnDevice(A, 0, NULL, device));
  PetscCall(LitheStepGetPlace(x, y, nsums, sums, &step, &host));
  *device = (PetscBool)(*device && step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepGetArrays(PetscBool device, PetscReal scale, PetscInt nsums, const LitheStepSum sums[], LitheStep *step)
{
  PetscFunctionBegin;
  PetscCheck(nsums <= LITHE_STEP_SUMS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A step has at most %d sums at once, not %" PetscInt_FMT, LITHE_STEP_SUMS, nsums);
  PetscCall(PetscMemzero(step, sizeof(*step)));
  step->scale = scale;
  step->nsums = nsums;
  for (PetscInt k = 0; k < nsums; k++) {
    step->weight[k] = sums[k].weight;
    step->before[k] = sums[k].before;
    step->first[k]  = sums[k].first;
    if (device) {
      if (sums[k].first) PetscCall(VecGetArrayWriteAndMemType(sums[k].sum, &step->sum[k], NULL));
      else PetscCall(VecGetArrayAndMemType(sums[k].sum, &step->sum[k], NULL));
    } else {
      if (sums[k].first) PetscCall(VecGetArrayWrite(sums[k].sum, &step->sum[k]));
      else PetscCall(VecGetArray(sums[k].sum, &step->sum[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepSetRows(const LitheStepRows *rows, Vec y, LitheStep *step)
{
  PetscInt begin, end;

  PetscFunctionBegin;
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < step->nsums; k++)
    if (step->first[k]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetOwnershipRange(y, &begin, &end));
  step->skip[0] = PetscMin(PetscMax(rows->begin - begin, 0), end - begin);
  step->skip[1] = PetscMin(PetscMax(end - rows->end, 0), end - begin - step->skip[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepGetRows(Vec x, LitheStepRows *rows)
{
  LitheStepRows      own = {0, 0};
  const PetscScalar *xx;
  PetscInt           n, begin, limits[2];
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &begin, NULL));
  PetscCall(LitheVecsGetPlace(1, &x, &device, NULL));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(VecGetArrayReadAndMemType(x, &xx, NULL));
    PetscCall(LitheCUDAStepGetRows(n, xx, &own));
    PetscCall(VecRestoreArrayReadAndMemType(x, &xx));
  }
#endif
  if (!device) {
    PetscCall(VecGetArrayRead(x, &xx));
    for (own.end = n; own.end > 0 && xx[own.end - 1] == 0.0;) own.end--;
    while (own.begin < own.end && xx[own.begin] == 0.0) own.begin++;
    PetscCall(VecRestoreArrayRead(x, &xx));
  }

  /* Both limits in one reduction */
  limits[0] = own.begin < own.end ? -(begin + own.begin) : PETSC_INT_MIN;
  limits[1] = own.begin < own.end ? begin + own.end : 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, limits, 2, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)x)));
  rows->begin = limits[1] ? -limits[0] : 0;
  rows->end   = limits[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepRestoreArrays(PetscBool device, PetscInt nsums, const LitheStepSum sums[], LitheStep *step)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < nsums; k++) {
    if (device) {
      if (sums[k].first) PetscCall(VecRestoreArrayWriteAndMemType(sums[k].sum, &step->sum[k]));
      else PetscCall(VecRestoreArrayAndMemType(sums[k].sum, &step->sum[k]));
    } else {
      if (sums[k].first) PetscCall(VecRestoreArrayWrite(sums[k].sum, &step->sum[k]));
      else PetscCall(VecRestoreArray(sums[k].sum, &step->sum[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (!done) y[i] = x[i] + step->scale * y[i];
    for (PetscInt k = 0; k < step->nsums; k++) {
      PetscScalar sum = step->weight[k] * y[i];

      if (step->before[k] != 0) sum += step->before[k] * x[i];
      step->sum[k][i] = step->first[k] ? sum : step->sum[k][i] + sum;
    }
  }
  PetscCall(PetscLogFlops((2.0 * !done + 2.0 * (PetscLogDouble)step->nsums) * (PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepVectors(PetscReal scale, PetscBool done, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  const PetscInt     most = PetscMin(nsums, LITHE_STEP_SUMS);
  PetscBool          device, host;
  const PetscScalar *xx;
  PetscScalar       *yy;
  PetscInt           n;
  LitheStep          step;

  PetscFunctionBegin;
  PetscCall(LitheStepGetPlace(x, y, nsums, sums, &device, &host));
  if (!device && !host) {
    if (!done) PetscCall(VecAYPX(y, (PetscScalar)scale, x));
    for (PetscInt k = 0; k < nsums; k++) {
      PetscCall(VecAXPBY(sums[k].sum, (PetscScalar)sums[k].weight, sums[k].first ? 0.0 : 1.0, y));
      if (sums[k].before != 0) PetscCall(VecAXPY(sums[k].sum, (PetscScalar)sums[k].before, x));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(LitheStepGetArrays(device, scale, most, sums, &step));
  if (device) {
    PetscCall(VecGetArrayReadAndMemType(x, &xx, NULL));
    PetscCall(VecGetArrayAndMemType(y, &yy, NULL));
#if defined(LITHE_HAVE_CUDA)
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(LitheCUDAStepFinish(&step, done, n, xx, yy));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops((2.0 * !done + 2.0 * (PetscLogDouble)most) * (PetscLogDouble)n));
#endif
    PetscCall(VecRestoreArrayAndMemType(y, &yy));
    PetscCall(VecRestoreArrayReadAndMemType(x, &xx));
  } else {
    PetscCall(VecGetArrayRead(x, &xx));
    PetscCall(VecGetArray(y, &yy));
    PetscCall(LitheStepFinish(&step, done, n, xx, yy));
    PetscCall(VecRestoreArray(y, &yy));
    PetscCall(VecRestoreArrayRead(x, &xx));
  }
  PetscCall(LitheStepRestoreArrays(device, most, sums, &step));
  if (nsums > most) PetscCall(LitheStepVectors(scale, PETSC_TRUE, x, y, nsums - most, sums + most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMatStepLeavesOut(Mat A, PetscBool device, PetscBool *leaves)
{
  LitheMatStepLeavesOutFn *leavesout;

  PetscFunctionBegin;
  *leaves = PETSC_FALSE;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatStepLeavesOut_C", &leavesout));
  if (leavesout) PetscCall((*leavesout)(A, device, leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMatStep(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  const PetscInt  most = PetscMin(nsums, LITHE_STEP_SUMS);
  LitheMatStepFn *step;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatStep_C", &step));
  if (step) {
    PetscCall((*step)(A, scale, rows, x, y, most, sums));
    if (nsums > most) PetscCall(LitheStepVectors(scale, PETSC_TRUE, x, y, nsums - most, sums + most));
  } else {
    PetscCall(MatMult(A, x, y));
    PetscCall(LitheStepVectors(scale, PETSC_FALSE, x, y, nsums, sums));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
