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

/* Steps of all slices, and whether columns of 2 bytes suffice */
static size_t Count(const CAMGOperator *op, int slices, int steps[], PetscBool *narrow)
{
  size_t all = 0;

  *narrow  = PETSC_TRUE;
  steps[0] = 0;
  for (int s = 0; s < slices; s++) {
    const int first = s * 32, last = PetscMin(first + 32, op->m);
    int       need = 0;

    for (int r = first; r < last; r++) need = PetscMax(need, (op->i[r + 1] - op->i[r] + 1) / 2);
    for (int t = 0; t < need && *narrow; t++) {
      int low = INT_MAX, high = 0;

      for (int r = first; r < last; r++) {
        for (int k = op->i[r] + 2 * t; k < PetscMin(op->i[r] + 2 * t + 2, op->i[r + 1]); k++) {
          low  = PetscMin(low, op->j[k]);
          high = PetscMax(high, op->j[k]);
        }
      }
      *narrow = (PetscBool)(high - low <= SLICES_NARROW);
    }
    all += (size_t)need;
    steps[s + 1] = (int)PetscMin(all, INT_MAX);
  }
  return all;
}

/* A step of a slice: entries 2 t and 2 t + 1 of its rows */
static void Fill(const CAMGOperator *op, size_t bytes, int slice, int t, const CAMGOperator *to)
{
  const int step = to->i[slice] + t, first = slice * 32;
  int       low = INT_MAX;

  for (int r = first; r < PetscMin(first + 32, op->m); r++) {
    for (int k = op->i[r] + 2 * t; k < PetscMin(op->i[r] + 2 * t + 2, op->i[r + 1]); k++) low = PetscMin(low, op->j[k]);
  }
  if (to->narrow) to->base[step] = low;
  for (int e = 0; e < 64; e++) {
    const int    r = first + e / 2, k = r < op->m ? op->i[r] + 2 * t + e % 2 : 0, here = r < op->m && k < op->i[r + 1];
    const size_t at = (size_t)step * 64 + (size_t)e;

    if (to->narrow) ((uint16_t *)to->j)[at] = (uint16_t)(here ? op->j[k] - low : 0);
    else to->j[at] = here ? op->j[k] : low;
    if (here) memcpy((char *)to->code + at * bytes, (const char *)op->code + (size_t)k * bytes, bytes);
    else memset((char *)to->code + at * bytes, 0, bytes);
  }
}

/* Rows of numbers become slices, unless rows are too different */
PetscErrorCode PCCAMGSlices_Private(CAMGOperator *op)
{
  const int    slices = (op->m + 31) / 32;
  const size_t bytes  = sizeof(PetscScalar) / sizeof(PetscReal) * (size_t)op->bits / 8;
  CAMGOperator to     = *op;
  PetscBool    narrow;
  size_t       steps;
  char        *j;

  PetscFunctionBegin;
  if (!op->i || op->rb * op->cb > 1 || !op->nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(slices + 1, &to.i));
  steps = Count(op, slices, to.i, &narrow);
  if (64. * (double)steps > SLICES_FILL * op->nz || 64. * (double)steps > INT_MAX) {
    PetscCall(PetscFree(to.i));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  to.group  = 1;
  to.narrow = narrow;
  to.steps  = (int)steps;
  PetscCall(PetscMalloc1(steps * 64 * (narrow ? sizeof(uint16_t) : sizeof(int)), &j));
  to.j = (int *)j;
  PetscCall(PetscMalloc1(steps * 64 * bytes, (char **)&to.code));
  if (narrow) PetscCall(PetscMalloc1(steps, &to.base));
  for (int s = 0; s < slices; s++) {
    for (int t = 0; t < to.i[s + 1] - to.i[s]; t++) Fill(op, bytes, s, t, &to);
  }
  PetscCall(PetscFree(op->i));
  PetscCall(PetscFree(op->j));
  PetscCall(PetscFree(op->code));
  *op = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}
