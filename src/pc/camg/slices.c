/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rows of numbers by slices, on the host: see CAMGOperator, with a thread for a row. A processor then works on
   neighbouring rows with vector instructions.
*/

#include "camgimpl.h"

#define SLICES_FILL   2.4 /* entries with those filled up, over entries: beyond this rows stay one after the other */
#define SLICES_NARROW 65535

/* Steps of all slices */
static size_t Count(const CAMGOperator *op, int slices, int steps[])
{
  size_t all = 0;

  steps[0] = 0;
  for (int s = 0; s < slices; s++) {
    int need = 0;

    for (int r = s * 32; r < PetscMin(s * 32 + 32, op->m); r++) need = PetscMax(need, (op->i[r + 1] - op->i[r] + 1) / 2);
    all += (size_t)need;
    steps[s + 1] = (int)PetscMin(all, INT_MAX);
  }
  return all;
}

/* The least column of each step; whether columns of 2 bytes suffice */
static PetscBool Base(const CAMGOperator *op, int slices, const int steps[], int base[])
{
  for (int s = 0; s < slices; s++) {
    for (int t = 0; t < steps[s + 1] - steps[s]; t++) {
      int low = INT_MAX, high = 0;

      for (int r = s * 32; r < PetscMin(s * 32 + 32, op->m); r++) {
        for (int k = op->i[r] + 2 * t; k < PetscMin(op->i[r] + 2 * t + 2, op->i[r + 1]); k++) {
          low  = PetscMin(low, op->j[k]);
          high = PetscMax(high, op->j[k]);
        }
      }
      if (high - low > SLICES_NARROW) return PETSC_FALSE;
      base[steps[s] + t] = low;
    }
  }
  return PETSC_TRUE;
}

/* Columns of a row, and those of an entry that it does not have: of 2 bytes, the first one of the step */
static void FillColumns(const CAMGOperator *op, int row, const CAMGOperator *to)
{
  const int slice = row / 32, end = row < op->m ? op->i[row + 1] : 0;
  int       k = row < op->m ? op->i[row] : 0;

  for (int step = to->i[slice]; step < to->i[slice + 1]; step++) {
    for (int half = 0; half < 2; half++, k++) {
      const size_t at = (size_t)step * 64 + (size_t)(row % 32 * 2 + half);

      if (to->narrow) ((uint16_t *)to->j)[at] = (uint16_t)(k < end ? op->j[k] - to->base[step] : 0);
      else to->j[at] = k < end ? op->j[k] : 0;
    }
  }
}

/* Codes of a row, in an array of zeros */
#define FILL_CODES(type)                                                                         \
  static void FillCodes_##type(const CAMGOperator *op, int row, const CAMGOperator *to)          \
  {                                                                                              \
    type       *code = (type *)to->code + (size_t)to->i[row / 32] * 64 + (size_t)(row % 32) * 2; \
    const type *from = (const type *)op->code + op->i[row];                                      \
    const int   n    = op->i[row + 1] - op->i[row];                                              \
                                                                                                 \
    for (int k = 0; k < n; k++) code[(size_t)(k / 2) * 64 + (size_t)(k % 2)] = from[k];          \
  }
FILL_CODES(uint8_t)
FILL_CODES(uint16_t)
FILL_CODES(uint32_t)
FILL_CODES(uint64_t)

/* Rows of numbers become slices, unless rows are too different */
PetscErrorCode PCCAMGSlices_Private(CAMGOperator *op)
{
  const int    slices = (op->m + 31) / 32;
  const size_t bytes  = sizeof(PetscScalar) / sizeof(PetscReal) * (size_t)op->bits / 8;
  CAMGOperator to     = *op;
  size_t       steps;
  char        *j;

  PetscFunctionBegin;
  if (!op->i || op->rb * op->cb > 1 || !op->nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(slices + 1, &to.i));
  steps = Count(op, slices, to.i);
  if (64. * (double)steps > SLICES_FILL * op->nz || 64. * (double)steps > INT_MAX) {
    PetscCall(PetscFree(to.i));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  to.group = 1;
  to.steps = (int)steps;
  PetscCall(PetscMalloc1(steps, &to.base));
  to.narrow = Base(op, slices, to.i, to.base);
  if (!to.narrow) PetscCall(PetscFree(to.base));
  PetscCall(PetscMalloc1(steps * 64 * (to.narrow ? sizeof(uint16_t) : sizeof(int)), &j));
  PetscCall(PetscCalloc1(steps * 64 * bytes, (char **)&to.code));
  to.j = (int *)j;
  for (int row = 0; row < slices * 32; row++) FillColumns(op, row, &to);
  for (int row = 0; row < op->m; row++) {
    if (bytes == 1) FillCodes_uint8_t(op, row, &to);
    else if (bytes == 2) FillCodes_uint16_t(op, row, &to);
    else if (bytes == 4) FillCodes_uint32_t(op, row, &to);
    else FillCodes_uint64_t(op, row, &to);
  }
  PetscCall(PetscFree(op->i));
  PetscCall(PetscFree(op->j));
  PetscCall(PetscFree(op->code));
  *op = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}
