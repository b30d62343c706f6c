/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Velocities, matrices and the source, made on devices if the grid has CUDA vectors. No array of the size of the grid is
   on the host */

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
    PetscBool has = PETSC_TRUE;
    VecType   type;

    PetscCall(DMGetVecType(problem->da, &type));
    PetscCall(PetscStrcmpAny(type, is, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
    if (A) PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &has, MATSEQAIJVCRS, MATMPIAIJVCRS, MATVCRS, MATAIJVCRS, ""));
    *is = (PetscBool)(*is && has);
  }
#else
  (void)problem, (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of this process, and the velocities of these points and of all neighbours. The caller destroys the vector */
PetscErrorCode HelmholtzGetBox(const Helmholtz *problem, GridBox *box, Vec *speed)
{
  PetscMPIInt size;
  VecType     type;
  Grid        grid;
  DM          ghosted = problem->da;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)problem->da), &size));
  PetscCall(PetscObjectReference((PetscObject)ghosted));
  if (size == 1) {
    *speed = problem->speed;
    PetscCall(PetscObjectReference((PetscObject)*speed));
  } else {
    if (problem->stencil == HELMHOLTZ_STAR) { /* cells have velocities of all their vertices */
      PetscCall(DMDestroy(&ghosted));
      PetscCall(GridCreate(problem->da, &grid));
      PetscCall(GridCreateDM(&grid, 1, &ghosted));
      PetscCall(GridDestroy(&grid));
      PetscCall(DMGetVecType(problem->da, &type));
      PetscCall(DMSetVecType(ghosted, type));
    }
    PetscCall(DMCreateLocalVector(ghosted, speed));
    PetscCall(DMGlobalToLocal(ghosted, problem->speed, INSERT_VALUES, *speed));
  }
  PetscCall(GridBoxGet(problem->da, ghosted, box));
  PetscCall(DMDestroy(&ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(USE_COMPLEX) && PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PetscErrorCode HelmholtzSetSpeedDevice(const Helmholtz *problem, const HelmholtzForm *form)
{
  GridBox      box;
  PetscScalar *speed;
  PetscMemType type;

  PetscFunctionBegin;
  PetscCall(GridBoxGet(problem->da, problem->da, &box));
  PetscCall(VecGetArrayWriteAndMemType(problem->speed, &speed, &type));
  PetscCall(HelmholtzLaunchSpeed(form, &box, speed));
  PetscCall(VecRestoreArrayWriteAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetSourceDevice(const Helmholtz *problem, const HelmholtzForm *form, Vec b)
{
  GridBox            box;
  const PetscScalar *speed;
  PetscScalar       *array;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(GridBoxGet(problem->da, problem->da, &box));
  PetscCall(VecGetArrayReadAndMemType(problem->speed, &speed, &type));
  PetscCall(VecGetArrayWriteAndMemType(b, &array, &type));
  PetscCall(HelmholtzLaunchSource(form, &box, speed, array));
  PetscCall(VecRestoreArrayWriteAndMemType(b, &array));
  PetscCall(VecRestoreArrayReadAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateRows(const Helmholtz *problem, const HelmholtzForm *form, PetscInt *m, GridBoxRows *rows)
{
  GridBox            box;
  const PetscScalar *array;
  PetscMemType       type;
  Vec                speed;

  PetscFunctionBegin;
  PetscCall(HelmholtzGetBox(problem, &box, &speed));
  *m = (PetscInt)GridBoxPoints(&box);
  PetscCall(GridBoxRowsCreate(&box, GridBoxRowStart(&box, problem->stencil == HELMHOLTZ_STAR, *m), PETSC_TRUE, rows));
  PetscCall(VecGetArrayReadAndMemType(speed, &array, &type));
  PetscCall(HelmholtzLaunchRows(form, &box, array, rows));
  PetscCall(VecRestoreArrayReadAndMemType(speed, &array));
  PetscCall(VecDestroy(&speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *problem, const HelmholtzForm *form, const char prefix[], Mat *A)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)problem->da);
  PetscInt    m;
  GridBoxRows rows;

  PetscFunctionBegin;
  PetscCall(MatDestroy(A));
  PetscCall(CreateRows(problem, form, &m, &rows));
  PetscCall(MatCreateVCRSFromCSR(comm, m, m, PETSC_DETERMINE, PETSC_DETERMINE, rows.i, rows.j, rows.a, A));
  PetscCall(GridBoxRowsDestroy(&rows));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetUpOnDevice(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, PC pc)
{
  HelmholtzForm  form = HelmholtzGetForm(problem);
  GridBoxRows    rows;
  PetscInt       m;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  form.factor = HelmholtzMake(beta1, -(beta2 + problem->alpha * beta1));
  PetscCall(CreateRows(problem, &form, &m, &rows));
  PetscCall(PCGridMGSetRows(pc, rows.i, rows.j, rows.a));
  ierr = PCSetUp(pc);
  PetscCall(PCGridMGSetRows(pc, NULL, NULL, NULL));
  PetscCall(GridBoxRowsDestroy(&rows));
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
