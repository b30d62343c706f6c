/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Triangular systems whose rows form a grid, except a few rows, the border (LitheDeviceBorder): wells, or a constraint.
   The border is solved before or after the tiles of the grid, by its exact entries.
*/

#include "pcvcrsimpl.h"

PetscErrorCode PCVCRSBorderSolve_Private(Mat T, const LitheDeviceBorder *border, PetscBool upper, Vec b, Vec x, Vec other)
{
  const PetscInt     first = border->first;
  Vec                right = b;
  const PetscScalar *pb;
  PetscScalar       *px, *pr;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(x, &px, NULL));
  if (border->before) {
    right = other;
    PetscCall(VecCopy(b, right));
    PetscCall(VecGetArrayAndMemType(right, &pr, NULL));
    PetscCall(LitheCUDABorderRows(border, pr, px));
    PetscCall(LitheCUDABorderCouple(border, px, pr));
    PetscCall(VecRestoreArrayAndMemType(right, &pr));
  }
  PetscCall(VecGetArrayReadAndMemType(right, &pb, NULL));
  PetscCall(MatVCRSSubstituteArrays_Device_Private(T, upper, PETSC_FALSE, pb + first, px + first));
  if (!border->before) PetscCall(LitheCUDABorderRows(border, pb, px));
  PetscCall(VecRestoreArrayReadAndMemType(right, &pb));
  PetscCall(VecRestoreArrayWriteAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scatters rows from <= r < to of the list into their columns, backwards */
static void PCVCRSBorderScatter(const LitheDeviceBorder *border, PetscInt from, PetscInt to, PetscScalar x[])
{
  for (PetscInt r = to - 1; r >= from; r--) {
    for (PetscInt k = border->i[r]; k < border->i[r + 1]; k++) x[border->j[k]] += border->a[k] * x[border->row[r]];
  }
}

PetscErrorCode PCVCRSBorderSolveTranspose_Private(Mat T, const LitheDeviceBorder *border, PetscBool upper, Vec x)
{
  PetscScalar *px;

  PetscFunctionBegin;
  PetscCall(VecGetArray(x, &px));
  if (!border->before) PCVCRSBorderScatter(border, 0, border->nborder, px);
  PetscCall(MatVCRSSubstitute_Private(T, upper, PETSC_TRUE, px + border->first));
  if (border->before) {
    PCVCRSBorderScatter(border, border->nborder, border->nborder + border->ncoupled, px);
    PCVCRSBorderScatter(border, 0, border->nborder, px);
  }
  PetscCall(VecRestoreArray(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}
