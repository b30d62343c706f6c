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

/* The points of this process; ghosted: a DMDA with all neighbours */
static PetscErrorCode GetBox(const Helmholtz *problem, DM ghosted, HelmholtzBox *box)
{
  const PetscInt *range, *owned[3];
  PetscInt        parts[3], place[3];
  PetscMPIInt     rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)problem->da), &rank));
  PetscCall(DMDAGetInfo(problem->da, NULL, NULL, NULL, NULL, &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(problem->da, &owned[0], &owned[1], &owned[2]));
  PetscCall(DMDAGetCorners(problem->da, &box->start[0], &box->start[1], &box->start[2], &box->count[0], &box->count[1], &box->count[2]));
  PetscCall(
    DMDAGetGhostCorners(ghosted, &box->ghoststart[0], &box->ghoststart[1], &box->ghoststart[2], &box->ghostcount[0], &box->ghostcount[1], &box->ghostcount[2]));
  place[0] = rank % parts[0];
  place[1] = rank / parts[0] % parts[1];
  place[2] = rank / parts[0] / parts[1];
  for (PetscInt d = 0; d < 3; d++) {
    for (PetscInt side = 0; side < 3; side++) {
      const PetscInt p = place[d] + side - 1;

      box->width[d][side] = d < problem->dim && p >= 0 && p < parts[d] ? owned[d][p] : box->count[d];
    }
  }
  PetscCall(VecGetOwnershipRanges(problem->speed, &range));
  for (PetscInt k = 0; k < 27; k++) {
    const PetscInt at[3] = {place[0] + k % 3 - 1, place[1] + k / 3 % 3 - 1, place[2] + k / 9 - 1};
    PetscBool      is    = PETSC_TRUE;

    for (PetscInt d = 0; d < 3; d++) is = (PetscBool)(is && at[d] >= 0 && at[d] < parts[d]);
    box->first[k] = is ? range[at[0] + parts[0] * (at[1] + parts[1] * at[2])] : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of this process, and the velocities of these points and of all neighbours. The caller destroys the vector */
PetscErrorCode HelmholtzGetBox(const Helmholtz *problem, HelmholtzBox *box, Vec *speed)
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
  PetscCall(GetBox(problem, ghosted, box));
  PetscCall(DMDestroy(&ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(USE_COMPLEX) && PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PetscErrorCode HelmholtzSetSpeedDevice(const Helmholtz *problem, const HelmholtzForm *form)
{
  HelmholtzBox box;
  PetscScalar *speed;
  PetscMemType type;

  PetscFunctionBegin;
  PetscCall(GetBox(problem, problem->da, &box));
  PetscCall(VecGetArrayWriteAndMemType(problem->speed, &speed, &type));
  PetscCall(HelmholtzLaunchSpeed(form, &box, speed));
  PetscCall(VecRestoreArrayWriteAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetSourceDevice(const Helmholtz *problem, const HelmholtzForm *form, Vec b)
{
  HelmholtzBox       box;
  const PetscScalar *speed;
  PetscScalar       *array;
  PetscMemType       type;

  PetscFunctionBegin;
  PetscCall(GetBox(problem, problem->da, &box));
  PetscCall(VecGetArrayReadAndMemType(problem->speed, &speed, &type));
  PetscCall(VecGetArrayWriteAndMemType(b, &array, &type));
  PetscCall(HelmholtzLaunchSource(form, &box, speed, array));
  PetscCall(VecRestoreArrayWriteAndMemType(b, &array));
  PetscCall(VecRestoreArrayReadAndMemType(problem->speed, &speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateRows(const Helmholtz *problem, const HelmholtzForm *form, PetscInt *m, HelmholtzRows *rows)
{
  HelmholtzBox       box;
  PetscInt64         nz;
  const PetscScalar *array;
  PetscMemType       type;
  Vec                speed;

  PetscFunctionBegin;
  PetscCall(HelmholtzGetBox(problem, &box, &speed));
  *m = box.count[0] * box.count[1] * box.count[2];
  nz = HelmholtzRowStart(form, &box, *m);
  PetscCheck(nz <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " nonzeros of a process do not fit into PetscInt: use more processes, or a PETSc with 64-bit indices", nz);
  PetscCall(VecGetArrayReadAndMemType(speed, &array, &type));
  PetscCall(HelmholtzRowsCreate(form, &box, array, rows));
  PetscCall(VecRestoreArrayReadAndMemType(speed, &array));
  PetscCall(VecDestroy(&speed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *problem, const HelmholtzForm *form, const char prefix[], Mat *A)
{
  MPI_Comm      comm = PetscObjectComm((PetscObject)problem->da);
  PetscInt      m;
  HelmholtzRows rows;

  PetscFunctionBegin;
  PetscCall(MatDestroy(A));
  PetscCall(CreateRows(problem, form, &m, &rows));
  PetscCall(MatCreateVCRSFromCSR(comm, m, m, PETSC_DETERMINE, PETSC_DETERMINE, rows.i, rows.j, rows.a, A));
  PetscCall(HelmholtzRowsDestroy(&rows));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetUpOnDevice(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, PC pc)
{
  HelmholtzForm  form = HelmholtzGetForm(problem);
  HelmholtzRows  rows;
  PetscInt       m;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  form.factor = HelmholtzMake(beta1, -(beta2 + problem->alpha * beta1));
  PetscCall(CreateRows(problem, &form, &m, &rows));
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
