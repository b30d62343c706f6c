/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The place of arrays of a MATSBPSAT, on the host or on a device. All functions of this file work for both places */

#include "sbpsatimpl.h"

const SBPKernels *SBPKernelsOf(PetscBool device)
{
#if defined(LITHE_HAVE_CUDA)
  if (device) return &SBPDeviceKernels;
#endif
  (void)device;
  return &SBPHostKernels;
}

/* The array of a vector in the requested place: a copy, if necessary; not collective */
PetscErrorCode SBPVecGetRead_Private(Vec v, PetscBool device, const PetscScalar **a, void **copy)
{
  PetscMemType memory = PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  *copy = NULL;
  if (!device) {
    PetscCall(VecGetArrayRead(v, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayReadAndMemType(v, a, &memory));
  if (PetscMemTypeHost(memory)) {
    const SBPKernels  *kernels = SBPKernelsOf(device);
    const PetscScalar *host    = *a;
    PetscInt           n;

    PetscCall(VecGetLocalSize(v, &n));
    PetscCall((*kernels->memory->alloc)((size_t)n * sizeof(PetscScalar), copy));
    PetscCall((*kernels->memory->put)((size_t)n * sizeof(PetscScalar), host, *copy));
    PetscCall(VecRestoreArrayReadAndMemType(v, &host));
    *a = (const PetscScalar *)*copy;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPVecRestoreRead_Private(Vec v, PetscBool device, const PetscScalar **a, void **copy)
{
  PetscFunctionBegin;
  if (*copy) PetscCall((*SBPKernelsOf(device)->memory->free)(copy));
  else if (device) PetscCall(VecRestoreArrayReadAndMemType(v, a));
  else PetscCall(VecRestoreArrayRead(v, a));
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The array of a vector at its place, to change its values; and restores it */
PetscErrorCode SBPVecGetArray_Private(Vec v, PetscBool device, PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecGetArrayAndMemType(v, a, NULL));
  else PetscCall(VecGetArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPVecRestoreArray_Private(Vec v, PetscBool device, PetscScalar **a)
{
  PetscFunctionBegin;
  if (device) PetscCall(VecRestoreArrayAndMemType(v, a));
  else PetscCall(VecRestoreArray(v, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies a few numbers, such as the data of a face, to the host, without gaps */
PetscErrorCode SBPGetNumbers_Private(PetscBool device, const PetscInt count[2], const SBPSpaced *from, PetscReal *host)
{
  const SBPKernels *kernels = SBPKernelsOf(device);
  const size_t      bytes   = (size_t)count[0] * (size_t)count[1] * sizeof(PetscReal);
  void             *packed  = host;
  SBPSpaced         to;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  if (device) PetscCall((*kernels->memory->alloc)(bytes, &packed));
  to = SBPReals((const PetscReal *)packed, count[0]);
  PetscCall((*kernels->vector.strided)(count, PETSC_FALSE, from, &to));
  if (device) {
    PetscCall((*kernels->memory->get)(bytes, packed, host));
    PetscCall((*kernels->memory->free)(&packed));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Few numbers of the host, without gaps, are added to the array, or take the place of its numbers */
PetscErrorCode SBPPutNumbers_Private(PetscBool device, const PetscInt count[2], PetscBool add, const PetscReal *host, const SBPSpaced *to)
{
  const SBPKernels *kernels = SBPKernelsOf(device);
  const size_t      bytes   = (size_t)count[0] * (size_t)count[1] * sizeof(PetscReal);
  void             *packed  = (void *)host;
  SBPSpaced         from;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  if (device) {
    PetscCall((*kernels->memory->alloc)(bytes, &packed));
    PetscCall((*kernels->memory->put)(bytes, host, packed));
  }
  from = SBPReals((const PetscReal *)packed, count[0]);
  PetscCall((*kernels->vector.strided)(count, add, &from, to));
  if (device) PetscCall((*kernels->memory->free)(&packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy in the same place; NULL stays NULL */
PetscErrorCode SBPCopyReals_Private(PetscBool device, size_t n, const void *from, void **to)
{
  const SBPKernels *kernels = SBPKernelsOf(device);
  const PetscInt    width = 1024, whole[2] = {width, (PetscInt)(n / (size_t)width)}, rest[2] = {(PetscInt)(n % (size_t)width), 1};

  PetscFunctionBegin;
  *to = NULL;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*kernels->memory->alloc)(n * sizeof(PetscReal), to));
  {
    const PetscReal *x = (const PetscReal *)from, *y = (const PetscReal *)*to;
    const size_t     done = n / (size_t)width * (size_t)width;
    SBPSpaced        a = SBPReals(x, width), b = SBPReals(y, width);

    PetscCall((*kernels->vector.strided)(whole, PETSC_FALSE, &a, &b));
    a = SBPReals(x + done, width);
    b = SBPReals(y + done, width);
    PetscCall((*kernels->vector.strided)(rest, PETSC_FALSE, &a, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the array to the other place */
PetscErrorCode SBPMoveReals_Private(PetscBool todevice, size_t n, const void *from, void **to)
{
  const SBPKernels *kernels = SBPKernelsOf(PETSC_TRUE);
  const size_t      bytes   = n * sizeof(PetscReal);

  PetscFunctionBegin;
  *to = NULL;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*SBPKernelsOf(todevice)->memory->alloc)(bytes, to));
  if (todevice) PetscCall((*kernels->memory->put)(bytes, from, *to));
  else PetscCall((*kernels->memory->get)(bytes, from, *to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
