/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#include <lithe/private/litheimpl.h>
#include <petsc/private/petscimpl.h>
#include <petscksp.h>

/* Refuses a rectangular matrix. solver: the PC or KSP which needs a square matrix. Collective */
PetscErrorCode LitheCheckSquare(PetscObject solver, Mat A)
{
  PetscInt     rows, columns;
  PetscClassId id;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &rows, &columns));
  PetscCall(PetscObjectGetClassId(solver, &id));
  PetscCheck(rows == columns, PetscObjectComm(solver), PETSC_ERR_ARG_SIZ,
             "-%s%s_type %s needs a square matrix, not a rectangular matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT
             " columns. For least squares use -ksp_type lsqr -pc_type none, or give A^T A as the second matrix of KSPSetOperators()",
             solver->prefix ? solver->prefix : "", id == PC_CLASSID ? "pc" : "ksp", solver->type_name, rows, columns);
  PetscFunctionReturn(PETSC_SUCCESS);
}
