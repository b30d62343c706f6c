/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Velocities, matrices and the source made on the device of one process, where the grid has CUDA vectors: nothing of the size of the grid is on the host */

#include "problem.h"
#include "operatordevice.h"
#include <lithemat.h>

/* Matrices as well, if they are MATVCRS, which compresses rows where they are */
PetscErrorCode HelmholtzIsOnDevice(const Helmholtz *problem, Mat A, PetscBool *is)
{
  PetscFunctionBegin;
  *is = PETSC_FALSE;
#if PetscDefined(USE_COMPLEX) && PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    PetscMPIInt size;
    PetscBool   has = PETSC_TRUE;
    VecType     type;

    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)problem->da), &size));
    PetscCall(DMGetVecType(problem->da, &type));
    PetscCall(PetscStrcmpAny(type, is, VECCUDA, VECSEQCUDA, ""));
    if (A) PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &has, MATSEQAIJVCRS, MATVCRS, MATAIJVCRS, ""));
    *is = (PetscBool)(*is && has && size == 1);
  }
#else
  (void)problem, (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(USE_COMPLEX) && PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PetscErrorCode HelmholtzSetSpeedDevice(const Helmholtz *problem, const HelmholtzForm *form)
{
  PetscScalar *speed;
  PetscMemType type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(problem->speed, &speed, &type));
  PetscCall(HelmholtzLaunchSpeed(form, speed));
  PetscCall(VecRestoreArrayWriteAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetSourceDevice(const Helmholtz *problem, const HelmholtzForm *form, Vec b)
{
  const PetscScalar *speed;
  PetscScalar       *array;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(problem->speed, &speed, &type));
  PetscCall(VecGetArrayWriteAndMemType(b, &array, &type));
  PetscCall(HelmholtzLaunchSource(form, speed, array));
  PetscCall(VecRestoreArrayWriteAndMemType(b, &array));
  PetscCall(VecRestoreArrayReadAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *problem, const HelmholtzForm *form, const char prefix[], Mat *A)
{
  const PetscInt     m  = form->n[0] * form->n[1] * form->n[2];
  const PetscInt64   nz = HelmholtzRowStart(form, m);
  const PetscScalar *speed;
  PetscMemType       type;
  HelmholtzRows      rows;

  PetscFunctionBegin;
  PetscCheck(nz <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " nonzeros of a process do not fit into PetscInt: use more processes, or a PETSc with 64-bit indices", nz);
  PetscCall(MatDestroy(A));
  PetscCall(VecGetArrayReadAndMemType(problem->speed, &speed, &type));
  PetscCall(HelmholtzRowsCreate(form, speed, &rows));
  PetscCall(VecRestoreArrayReadAndMemType(problem->speed, &speed));
  PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, m, m, rows.i, rows.j, rows.a, A));
  PetscCall(HelmholtzRowsDestroy(&rows));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode HelmholtzSetSpeedDevice(const Helmholtz *problem, const HelmholtzForm *form)
{
  PetscFunctionBegin;
  (void)form;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_PLIB, "There are no devices");
}

PetscErrorCode HelmholtzSetSourceDevice(const Helmholtz *problem, const HelmholtzForm *form, Vec b)
{
  PetscFunctionBegin;
  (void)form, (void)b;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_PLIB, "There are no devices");
}

PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *problem, const HelmholtzForm *form, const char prefix[], Mat *A)
{
  PetscFunctionBegin;
  (void)form, (void)prefix, (void)A;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_PLIB, "There are no devices");
}
#endif
