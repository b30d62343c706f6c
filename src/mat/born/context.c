/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a MATBORN */

#include "bornimpl.h"

/* The context of a matrix, which must be a MATBORN */
PetscErrorCode MatBornGetContext_Private(Mat A, Mat_Born **ctx)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATBORN, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "The matrix has type %s, not born; make it with MatCreateBorn()",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "none yet");
  *ctx = (Mat_Born *)A->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The DMDA of the matrix, or an error that names the fault of the DMDA. dim may be NULL */
PetscErrorCode MatBornGetDM_Private(Mat A, DM *da, PetscInt *dim)
{
  PetscBool      isda;
  PetscInt       d, dof;
  DMBoundaryType boundary[3];
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, da));
  PetscCheck(*da, comm, PETSC_ERR_ARG_WRONGSTATE, "A matrix of type born needs a DMDA; use MatCreateBorn(), or MatSetDM() after MatSetType()");
  PetscCall(PetscObjectTypeCompare((PetscObject)*da, DMDA, &isda));
  PetscCheck(isda, comm, PETSC_ERR_ARG_WRONG, "A matrix of type born lives on a DMDA, not on a DM of type %s",
             ((PetscObject)*da)->type_name ? ((PetscObject)*da)->type_name : "none");
  PetscCall(DMDAGetInfo(*da, &d, NULL, NULL, NULL, NULL, NULL, NULL, &dof, NULL, &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCheck(d == 2 || d == 3, comm, PETSC_ERR_SUP,
             "A matrix of type born lives on a DMDA of 2 or 3 dimensions, this one has %" PetscInt_FMT "; make it with DMDACreate2d() or DMDACreate3d()", d);
  PetscCheck(dof == 1, comm, PETSC_ERR_SUP, "A matrix of type born has one number per node, this DMDA has %" PetscInt_FMT "; use dof = 1", dof);
  for (PetscInt k = 0; k < d; k++)
    PetscCheck(boundary[k] == DM_BOUNDARY_NONE || boundary[k] == DM_BOUNDARY_GHOSTED, comm, PETSC_ERR_SUP,
               "A matrix of type born absorbs waves at all faces, this DMDA is %s along dimension %" PetscInt_FMT "; use DM_BOUNDARY_NONE",
               DMBoundaryTypes[boundary[k]], k);
  if (dim) *dim = d;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a condition holds on all processes. After an error of a single process the rest would wait for ever */
PetscErrorCode MatBornAgree_Private(Mat A, PetscBool mine, PetscBool *all)
{
  PetscFunctionBegin;
  *all = mine;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, all, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a vector has the rows of the matrix, which gets set up */
PetscErrorCode MatBornCheckData_Private(Mat A, Vec d)
{
  PetscInt  n;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(MatSetUp(A));
  PetscCall(VecGetLocalSize(d, &n));
  PetscCall(MatBornAgree_Private(A, (PetscBool)(n == A->rmap->n), &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
             "The vector has %" PetscInt_FMT " numbers, the shots have %" PetscInt_FMT " samples; make it with MatCreateVecs()", n, A->rmap->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns are counted in MatSetUp() */
PetscErrorCode MatBornCheckNotSetUp_Private(Mat J, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(!J->preallocated, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_WRONGSTATE,
             "%s comes before MatSetUp() and MatCreateVecs(), which count the rows of the matrix; make another matrix", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}
