/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The transport mpi: PETSc's star forest, which packs on a device and sends from the device or by way of the host, as
   PETSc's options say
*/

#include "haloimpl.h"
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

typedef struct {
  MPI_Datatype unit;
  void        *ghost;
} LitheHalo_MPI;

static PetscErrorCode LitheHaloCreate_MPI(LitheHalo halo, LitheHaloObstacle *obstacle, int *code)
{
  LitheHalo_MPI *mpi;
  const size_t   bytes = LitheHaloGhostBytes(halo);

  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  *code     = 0;
  PetscCall(PetscNew(&mpi));
  halo->data = mpi;
  /* A type of PETSc's kernels with the same size: no arithmetic is done */
  mpi->unit = MPI_C_DOUBLE_COMPLEX;
  if (halo->unit == 4) mpi->unit = MPI_FLOAT;
  if (halo->unit == 8) mpi->unit = MPI_DOUBLE;
  if (halo->unit == sizeof(PetscScalar)) mpi->unit = MPIU_SCALAR;
  if (halo->unit > 16) {
    PetscMPIInt numbers;

    PetscCall(PetscMPIIntCast((PetscCount)(halo->unit / sizeof(double)), &numbers));
    PetscCallMPI(MPI_Type_contiguous(numbers, MPI_DOUBLE, &mpi->unit));
    PetscCallMPI(MPI_Type_commit(&mpi->unit));
  }
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(halo->memory)) {
    PetscCallCUDA(cudaMalloc(&mpi->ghost, bytes));
    PetscCallCUDA(cudaMemset(mpi->ghost, 0, bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscMalloc(bytes, &mpi->ghost));
  PetscCall(PetscMemzero(mpi->ghost, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloBegin_MPI(LitheHalo halo, const void *x)
{
  LitheHalo_MPI *mpi = (LitheHalo_MPI *)halo->data;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastWithMemTypeBegin(halo->sf, mpi->unit, halo->memory, x, halo->memory, mpi->ghost, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloEnd_MPI(LitheHalo halo, const void **ghost)
{
  LitheHalo_MPI *mpi = (LitheHalo_MPI *)halo->data;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastEnd(halo->sf, mpi->unit, halo->x, mpi->ghost, MPI_REPLACE));
  *ghost = mpi->ghost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloDestroy_MPI(LitheHalo halo)
{
  LitheHalo_MPI *mpi = (LitheHalo_MPI *)halo->data;

  PetscFunctionBegin;
  if (halo->unit > 16) PetscCallMPI(MPI_Type_free(&mpi->unit));
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(halo->memory)) {
    PetscCallCUDA(cudaFree(mpi->ghost));
    mpi->ghost = NULL;
  }
#endif
  PetscCall(PetscFree(mpi->ghost));
  PetscCall(PetscFree(mpi));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const LitheHaloOps LitheHaloMPI = {.create = LitheHaloCreate_MPI, .begin = LitheHaloBegin_MPI, .end = LitheHaloEnd_MPI, .destroy = LitheHaloDestroy_MPI};
