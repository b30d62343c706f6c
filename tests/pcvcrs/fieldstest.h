/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Two fields on a square, each of them coupled to the four neighbours and to the other field */

#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>
#include <petscdmda.h>

/* Entry k of the row of field c at point (i, j): from 0 to 3 of a neighbour (-x, x, -y, y), of the other field, of the row */
typedef PetscScalar (*FieldsEntry)(const void *ctx, const DMDALocalInfo *info, PetscInt i, PetscInt j, PetscInt c, int k);
#define FIELDS_OTHER 4
#define FIELDS_ROW   5

static inline PetscErrorCode FillFields(DM da, FieldsEntry entry, const void *ctx, Mat A)
{
  DMDALocalInfo info;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
    for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
      for (PetscInt c = 0; c < 2; c++) {
        const int   di[6] = {-1, 1}, dj[6] = {0, 0, -1, 1};
        MatStencil  row = {.i = i, .j = j, .c = c}, col[6];
        PetscScalar v[6];
        PetscInt    n = 0;

        for (int k = 0; k < 6; k++) {
          if (i + di[k] < 0 || i + di[k] >= info.mx || j + dj[k] < 0 || j + dj[k] >= info.my) continue;
          col[n] = (MatStencil){.i = i + di[k], .j = j + dj[k], .c = k == FIELDS_OTHER ? 1 - c : c};
          v[n++] = entry(ctx, &info, i, j, c, k);
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, n, col, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateGrid2(PetscInt n, DM *da)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 2, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}
