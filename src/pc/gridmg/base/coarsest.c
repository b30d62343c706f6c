/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The inverse of the coarsest level of a PCGRIDMG, where the levels are, in their precision: x = S L S b, see dense()
*/

#include "base.h"

/* Memory for L and S of n unknowns; parts: of a number of L */
void PCGridMGCoarsestTake_Private(PC_GridMG *mg, GridMGPool *pool, PetscInt n, size_t parts)
{
  const size_t number = GridMGNumberBytes(mg->found.precision), rows = (size_t)n;

  mg->coarsest.inverse = PCGridMGTake_Private(pool, rows * rows * number * parts);
  mg->coarsest.scale   = PCGridMGTake_Private(pool, rows * number);
}

void PCGridMGCoarsestSingular_Private(PC_GridMG *mg, PetscInt parts)
{
  mg->coarsest.singular = parts;
}

/* Rounded, row by row, to where the level is */
static PetscErrorCode PutNumbers_Private(PC_GridMG *mg, PetscInt n, PetscInt rows, int parts, const PetscScalar *from, void *to)
{
  const size_t bytes = (size_t)n * (size_t)rows * (size_t)parts * GridMGNumberBytes(mg->found.precision);
  void        *numbers;
  size_t       k = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(bytes, (char **)&numbers));
  for (PetscInt i = 0; i < rows; i++) {
    for (PetscInt j = 0; j < n; j++) {
      for (int p = 0; p < parts; p++, k++) {
        const PetscScalar v = from[i + j * rows];
        const double      w = (double)(p ? PetscImaginaryPart(v) : PetscRealPart(v));

        if (mg->found.precision == GRIDMG_SINGLE) ((float *)numbers)[k] = (float)w;
        else ((double *)numbers)[k] = w;
      }
    }
  }
  PetscCall((*mg->place.kernels->memory.put)(bytes, numbers, to));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L by columns, or NULL, and S, or NULL */
PetscErrorCode PCGridMGCoarsestPut_Private(PC_GridMG *mg, PetscInt n, int parts, const PetscScalar L[], const PetscScalar S[])
{
  PetscFunctionBegin;
  if (L) PetscCall(PutNumbers_Private(mg, n, n, parts, L, mg->coarsest.inverse));
  if (S) PetscCall(PutNumbers_Private(mg, 1, n, 1, S, mg->coarsest.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}
