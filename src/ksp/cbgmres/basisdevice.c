/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases on a device. The kernels are in cuda/cbgmres. The host waits in fetch() for the coefficients of a
   step, while the device continues with append(). With several processes and sums by MPI, the host also waits in
   coefficients().
*/

#include <lithe/private/cb/basisdevice.h>
#include <lithe/private/cuda/halo.h>
#include <petsc/private/petscimpl.h>

static PetscErrorCode CBBasisStore_Device(CBBasis b, PetscInt j, PetscReal scale, Vec x, Vec z)
{
  const CBDevice    *d  = (const CBDevice *)b->data;
  const PetscScalar *xx = NULL, *dd = NULL;
  PetscScalar       *zz = NULL;

  PetscFunctionBegin;
  if (b->scale) PetscCall(VecCUDAGetArrayRead(b->scale, &dd));
  if (z == x) {
    PetscCall(VecCUDAGetArray(z, &zz));
    xx = zz;
  } else {
    PetscCall(VecCUDAGetArrayRead(x, &xx));
    if (z) PetscCall(VecCUDAGetArrayWrite(z, &zz));
  }
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDACBStore(d, j, CBBasisSecond(b, j), scale, (const PetscReal *)xx, (const PetscReal *)dd, (PetscReal *)zz));
  PetscCall(PetscLogGpuTimeEnd());
  if (z == x) PetscCall(VecCUDARestoreArray(z, &zz));
  else {
    PetscCall(VecCUDARestoreArrayRead(x, &xx));
    if (z) PetscCall(VecCUDARestoreArrayWrite(z, &zz));
  }
  if (b->scale) PetscCall(VecCUDARestoreArrayRead(b->scale, &dd));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisLoad_Device(CBBasis b, PetscInt j, Vec z)
{
  PetscScalar *zz;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayWrite(z, &zz));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDACBLoad((const CBDevice *)b->data, j, CBBasisSecond(b, j), (PetscReal *)zz));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayWrite(z, &zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisDot_Device(CBBasis b, PetscInt k, PetscBool gram, Vec w)
{
  const PetscScalar *ww;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayRead(w, &ww));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDACBDot((const CBDevice *)b->data, k, gram, (const PetscReal *)ww));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayRead(w, &ww));
  PetscCall(PetscLogGpuFlops((gram ? 4.0 : 2.0) * (PetscLogDouble)k * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In one launch if the device itself can add the numbers of all processes */
static PetscErrorCode CBBasisCoefficients_Device(CBBasis b, PetscInt k, PetscInt pass)
{
  const CBDevice  *d = (const CBDevice *)b->data;
  LitheReduceEpoch epoch;
  PetscBool        possible;

  PetscFunctionBegin;
  PetscCall(LitheReduceOnDevice(b->sums, CBBasisSums(k, pass), &epoch, &possible));
  if (!possible) {
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(LitheCUDACBSums(d, k, pass));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(CBBasisSum_Private(b, k, pass, d->scalars.sums));
  }
  PetscCall(PetscLogGpuTimeBegin());
  if (possible) PetscCall(LitheCUDACBSumsAndCoefficients(d, k, pass, &epoch));
  else PetscCall(LitheCUDACBCoefficients(d, k, pass));
  PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisSubtract_Device(CBBasis b, PetscInt k, Vec w)
{
  PetscScalar *ww;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArray(w, &ww));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDACBSubtract((const CBDevice *)b->data, k, CBBasisSeconds(b, k, -1), (PetscReal *)ww));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArray(w, &ww));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)k * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisAppend_Device(CBBasis b, PetscInt k, Vec w, Vec z)
{
  const PetscScalar *ww, *dd = NULL;
  PetscScalar       *zz;

  PetscFunctionBegin;
  if (b->scale) PetscCall(VecCUDAGetArrayRead(b->scale, &dd));
  PetscCall(VecCUDAGetArrayRead(w, &ww));
  PetscCall(VecCUDAGetArrayWrite(z, &zz));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDACBAppend((const CBDevice *)b->data, k, CBBasisSeconds(b, k, k), (const PetscReal *)ww, (const PetscReal *)dd, (PetscReal *)zz));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayWrite(z, &zz));
  PetscCall(VecCUDARestoreArrayRead(w, &ww));
  if (b->scale) PetscCall(VecCUDARestoreArrayRead(b->scale, &dd));
  PetscCall(PetscLogGpuFlops((2.0 * (PetscLogDouble)k + 1.0) * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisFetch_Device(CBBasis b, PetscInt from, PetscInt to)
{
  const CBDevice *d  = (const CBDevice *)b->data;
  const size_t    ld = (size_t)b->host.ld;

  PetscFunctionBegin;
  PetscCall(LitheCUDACBWaitCoefficients(d));
  PetscCall(LitheReduceCheck(b->sums));
  for (PetscInt j = from; j < to; j++) {
    PetscCall(PetscArraycpy(b->host.hessenberg + (size_t)j * ld, d->page.hessenberg + (size_t)j * ld, j + 2));
    b->host.step[j] = d->page.step[j];
    PetscCall(PetscLogGpuToCpu((PetscLogDouble)(j + 2) * sizeof(PetscScalar) + sizeof(CBStep)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisCombine_Device(CBBasis b, PetscInt k, const PetscScalar y[], Vec x)
{
  PetscScalar *xx;

  PetscFunctionBegin;
  PetscCall(VecCUDAGetArrayWrite(x, &xx));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDACBCombine((const CBDevice *)b->data, k, CBBasisSecondsAll(b, k), y, (PetscReal *)xx));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(VecCUDARestoreArrayWrite(x, &xx));
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)k * sizeof(PetscScalar)));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)k * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisDestroy_Device(CBBasis b)
{
  PetscFunctionBegin;
  PetscCall(LitheCUDACBDestroy((CBDevice *)b->data));
  PetscCall(PetscFree(b->data));
  PetscCall(LitheReduceDestroy(&b->sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBBasisCreate_Device(CBBasis b)
{
  static const CBBasisOps ops = {
    .store        = CBBasisStore_Device,
    .load         = CBBasisLoad_Device,
    .dot          = CBBasisDot_Device,
    .coefficients = CBBasisCoefficients_Device,
    .subtract     = CBBasisSubtract_Device,
    .append       = CBBasisAppend_Device,
    .fetch        = CBBasisFetch_Device,
    .combine      = CBBasisCombine_Device,
    .destroy      = CBBasisDestroy_Device,
  };
  CBDevice *d;

  PetscFunctionBegin;
  PetscCall(PetscNew(&d));
  b->data    = d;
  b->ops[0]  = ops;
  b->where   = "device";
  d->storage = b->storage;
  d->base    = b->base;
  d->up      = (PetscReal)LithePow2(b->shift);
  d->down    = (PetscReal)LithePow2(-b->shift);
  d->n       = b->n;
  d->vbytes  = b->vbytes;
  d->ebytes  = b->ebytes;
  d->columns = b->columns;
  d->pairs   = b->pairs;
  PetscCall(LitheCUDACBCreate(d, b->host.ld));
  PetscCall(CBBasisCreateSums_Private(b, PETSC_MEMTYPE_CUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}
