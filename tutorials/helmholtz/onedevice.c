/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Velocities, matrices and the source, made on the device of one process if the grid has CUDA vectors. No array of the
   size of the grid is on the host */

#include "problem.h"
#include "operatordevice.h"
#include <lithemat.h>
#include <lithepc.h>

/* Also matrices of type MATVCRS, which compresses rows on the device */
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

static PetscErrorCode CreateRows(const Helmholtz *problem, const HelmholtzForm *form, HelmholtzRows *rows)
{
  const PetscInt64   nz = HelmholtzRowStart(form, (PetscInt64)form->n[0] * form->n[1] * form->n[2]);
  const PetscScalar *speed;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCheck(nz <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " nonzeros of a process do not fit into PetscInt: use more processes, or a PETSc with 64-bit indices", nz);
  PetscCall(VecGetArrayReadAndMemType(problem->speed, &speed, &type));
  PetscCall(HelmholtzRowsCreate(form, speed, rows));
  PetscCall(VecRestoreArrayReadAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *problem, const HelmholtzForm *form, const char prefix[], Mat *A)
{
  const PetscInt m = form->n[0] * form->n[1] * form->n[2];
  HelmholtzRows  rows;

  PetscFunctionBegin;
  PetscCall(MatDestroy(A));
  PetscCall(CreateRows(problem, form, &rows));
  PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, m, m, rows.i, rows.j, rows.a, A));
  PetscCall(HelmholtzRowsDestroy(&rows));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetUpOnDevice(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, PC pc)
{
  HelmholtzForm  form = HelmholtzGetForm(problem);
  HelmholtzRows  rows;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  form.factor = HelmholtzMake(beta1, -(beta2 + problem->alpha * beta1));
  PetscCall(CreateRows(problem, &form, &rows));
  PetscCall(PCGridMGSetRows(pc, rows.i, rows.j, rows.a));
  ierr = PCSetUp(pc);
  PetscCall(PCGridMGSetRows(pc, NULL, NULL, NULL));
  PetscCall(HelmholtzRowsDestroy(&rows));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode HelmholtzSetUpOnDevice(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, PC pc)
{
  PetscFunctionBegin;
  (void)problem, (void)beta1, (void)beta2;
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "This build has no devices");
}

PetscErrorCode HelmholtzSetSpeedDevice(const Helmholtz *problem, const HelmholtzForm *form)
{
  PetscFunctionBegin;
  (void)form;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_PLIB, "This build has no devices");
}

PetscErrorCode HelmholtzSetSourceDevice(const Helmholtz *problem, const HelmholtzForm *form, Vec b)
{
  PetscFunctionBegin;
  (void)form, (void)b;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_PLIB, "This build has no devices");
}

PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *problem, const HelmholtzForm *form, const char prefix[], Mat *A)
{
  PetscFunctionBegin;
  (void)form, (void)prefix, (void)A;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_PLIB, "This build has no devices");
}
#endif
