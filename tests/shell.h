/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A matrix which hides another one: MATSHELL with its products */

#include <petscmat.h>

static inline PetscErrorCode TestShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestShellMultTranspose(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMultTranspose(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestShellGetDiagonal(Mat S, Vec x)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatGetDiagonal(A, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestShell(Mat A, PetscBool transpose, PetscBool diagonal, Mat *S)
{
  PetscInt m, n, M, N;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)A), m, n, M, N, A, S));
  PetscCall(PetscObjectCompose((PetscObject)*S, "hidden", (PetscObject)A)); /* a reference; copies of the shell have none */
  PetscCall(MatShellSetOperation(*S, MATOP_MULT, (PetscErrorCodeFn *)TestShellMult));
  if (diagonal) PetscCall(MatShellSetOperation(*S, MATOP_GET_DIAGONAL, (PetscErrorCodeFn *)TestShellGetDiagonal));
  if (transpose) PetscCall(MatShellSetOperation(*S, MATOP_MULT_TRANSPOSE, (PetscErrorCodeFn *)TestShellMultTranspose));
  PetscFunctionReturn(PETSC_SUCCESS);
}
