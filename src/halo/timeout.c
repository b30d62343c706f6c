/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The time limit of waiting for other processes, and its error. docs/internals/halo.md */

#include "haloimpl.h"
#include <petscdevice_cuda.h>

PetscErrorCode LitheHaloTimeoutCreate_Private(MPI_Comm comm, const char what[], void *failed, LitheHaloTimeout *timeout)
{
  LitheHaloFailure *failure;
  PetscReal         seconds = LITHE_HALO_TIMEOUT;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lithe_halo_timeout", &seconds, NULL));
  PetscCheck(seconds > 0 && seconds < (PetscReal)1e9, comm, PETSC_ERR_ARG_OUTOFRANGE, "-lithe_halo_timeout %g must be a positive number of seconds",
             (double)seconds);
  timeout->limit    = (unsigned long long)(1e9 * (double)seconds);
  timeout->what     = what;
  timeout->failed   = (unsigned int *)failed;
  timeout->reported = PETSC_FALSE;
  PetscCallCUDA(cudaHostAlloc((void **)&failure, sizeof(*failure), cudaHostAllocMapped));
  failure->process  = 0;
  failure->exchange = 0;
  timeout->failure  = failure; /* the same address on host and device */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloTimeoutCheck_Private(LitheHaloTimeout *timeout, PetscBool once)
{
  const unsigned int process = timeout->failure->process, number = process - 1; /* a device may write the failure now */
  const double       limit = 1e-9 * (double)timeout->limit;

  PetscFunctionBegin;
  if (!process || (once && timeout->reported)) PetscFunctionReturn(PETSC_SUCCESS);
  timeout->reported = PETSC_TRUE;
  PetscCheck(number != LITHE_HALO_ITSELF, PETSC_COMM_SELF, PETSC_ERR_GPU,
             "This process's %s %llu have not left its device within %g seconds (-lithe_halo_timeout): it is busy", timeout->what, timeout->failure->exchange,
             limit);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU,
          "Process %d has not sent its %s %llu within %g seconds (-lithe_halo_timeout): it has ended, does something else, or its device is busy",
          (PetscMPIInt)number, timeout->what, timeout->failure->exchange, limit);
}

PetscErrorCode LitheHaloTimeoutDestroy_Private(LitheHaloTimeout *timeout)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFreeHost(timeout->failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}
