/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#include <lithe/private/lithememtype.h>

/* Whether Lithe has CUDA kernels */
#if defined(LITHE_HAVE_CUDA)
static const PetscBool kernels = PETSC_TRUE;
#else
static const PetscBool kernels = PETSC_FALSE;
#endif

PetscErrorCode LitheVecsGetPlace(PetscInt n, const Vec v[], PetscBool *device, PetscBool *host)
{
  PetscBool alldevice = kernels, allhost = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    PetscBool iscuda, ishost = PETSC_FALSE, bound;

    if (!v[k]) continue;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)v[k], &iscuda, VECSEQCUDA, VECMPICUDA, ""));
    if (host) PetscCall(PetscObjectTypeCompareAny((PetscObject)v[k], &ishost, VECSEQ, VECMPI, ""));
    PetscCall(VecBoundToCPU(v[k], &bound));
    alldevice = (PetscBool)(alldevice && iscuda && !bound);
    allhost   = (PetscBool)(allhost && (ishost || (iscuda && bound)));
  }
  *device = alldevice;
  if (host) *host = allhost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMatIsOnDevice(Mat A, PetscInt n, const Vec v[], PetscBool *device)
{
  PetscBool bound;

  PetscFunctionBegin;
  PetscCall(LitheVecsGetPlace(n, v, device, NULL));
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) *device = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheVecDuplicateOnDevice(Vec v, Vec *w)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool iscuda, bound;
    PetscInt  n;

    PetscCall(PetscObjectTypeCompare((PetscObject)v, VECSEQCUDA, &iscuda));
    PetscCall(VecBoundToCPU(v, &bound));
    if (iscuda && !bound) {
      PetscCall(VecGetLocalSize(v, &n));
      PetscCall(VecCreateSeqCUDAWithArrays(PetscObjectComm((PetscObject)v), 1, n, NULL, NULL, w));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(VecDuplicate(v, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMatCreateVecOnDevices(Mat A, Vec *v)
{
  PetscFunctionBegin;
  *v = NULL;
#if defined(LITHE_HAVE_CUDA)
  {
    MPI_Comm    comm = PetscObjectComm((PetscObject)A);
    VecType     type;
    PetscInt    m, all;
    PetscMPIInt size;
    PetscBool   cuda, bound;

    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCall(MatGetVecType(A, &type));
    PetscCall(MatBoundToCPU(A, &bound));
    PetscCall(PetscStrcmpAny(type, &cuda, VECCUDA, VECMPICUDA, ""));
    if (cuda && !bound && size > 1) {
      PetscCall(MatGetLocalSize(A, &m, NULL));
      PetscCall(MatGetSize(A, &all, NULL));
      PetscCall(VecCreateMPICUDAWithArrays(comm, 1, m, all, NULL, NULL, v));
    }
  }
#else
  (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
