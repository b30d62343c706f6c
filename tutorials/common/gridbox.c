/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The points of a process on a DMDA, and memory for their rows */

#include "gridbox.h"
#include <petscdmda.h>
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

PetscErrorCode GridBoxGet(DM da, DM ghosted, GridBox *box)
{
  const PetscInt *owned[3];
  PetscInt        parts[3];
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)da), &rank));
  PetscCall(DMDAGetInfo(da, &box->dim, &box->n[0], &box->n[1], &box->n[2], &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
  PetscCall(DMDAGetCorners(da, &box->start[0], &box->start[1], &box->start[2], &box->count[0], &box->count[1], &box->count[2]));
  PetscCall(
    DMDAGetGhostCorners(ghosted, &box->ghoststart[0], &box->ghoststart[1], &box->ghoststart[2], &box->ghostcount[0], &box->ghostcount[1], &box->ghostcount[2]));
  for (PetscInt d = 0, line = rank; d < 3; line /= parts[d++]) {
    for (PetscInt side = 0; side < 3; side++) {
      const PetscInt p = line % parts[d] + side - 1;

      box->width[d][side] = d < box->dim && p >= 0 && p < parts[d] ? owned[d][p] : box->count[d];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridBoxIsOnDevice(Vec v, PetscBool *is)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)v, is, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecBoundToCPU(v, &bound));
  if (bound) *is = PETSC_FALSE;
#if !PetscDefined(HAVE_CUDA) || !defined(LITHE_HAVE_CUDA)
  *is = PETSC_FALSE;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridBoxRowsCreate(const GridBox *box, PetscInt64 nz, PetscBool device, GridBoxRows *rows)
{
  const size_t m = (size_t)GridBoxPoints(box), n = (size_t)nz;

  PetscFunctionBegin;
  PetscCheck(nz <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " nonzeros of a process do not fit into PetscInt: use more processes, or a PETSc with 64-bit indices", nz);
  *rows = (GridBoxRows){.device = device};
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCallCUDA(cudaMalloc((void **)&rows->i, (m + 1) * sizeof(*rows->i)));
    PetscCallCUDA(cudaMalloc((void **)&rows->j, n * sizeof(*rows->j)));
    PetscCallCUDA(cudaMalloc((void **)&rows->a, n * sizeof(*rows->a)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCheck(!device, PETSC_COMM_SELF, PETSC_ERR_SUP, "Rows on a device need CUDA, which Lithe was built without");
  PetscCall(PetscMalloc3(m + 1, &rows->i, n, &rows->j, n, &rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridBoxRowsDestroy(GridBoxRows *rows)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (rows->device) {
    PetscCallCUDA(cudaFree(rows->a));
    PetscCallCUDA(cudaFree(rows->j));
    PetscCallCUDA(cudaFree(rows->i));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscFree3(rows->i, rows->j, rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
