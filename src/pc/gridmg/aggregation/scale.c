/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The finest level of a single process becomes that of diag(left) A diag(right), in place: src/pc/gridmg/base/scaling.c
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../base/base.h"
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/gridmgsetup.h>
#endif

/* sums = left A right by rows, the row sums of the scaled matrix */
static PetscErrorCode ScaledSums_Private(PC pc, Vec left, Vec right, Vec *sums)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  Vec        x  = right;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(mg->source.matrix, NULL, sums));
  if (!right) {
    PetscCall(VecDuplicate(*sums, &x));
    PetscCall(VecSet(x, 1.0));
  }
  PetscCall(MatMult(mg->source.matrix, x, *sums));
  if (!right) PetscCall(VecDestroy(&x));
  if (left) PetscCall(VecPointwiseMult(*sums, *sums, left));
  PetscCall(VecScale(*sums, (PetscReal)mg->found.factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a vertex in a vector by rows; NULL: 1 */
static inline double AtVertex(const PC_GridMG *mg, const PetscScalar x[], PetscInt vertex)
{
  return x ? (double)PetscRealPart(x[GridMGRowOf(&mg->domain.team.own, &mg->domain.team.rows, vertex)]) : 1;
}

static PetscErrorCode ScaleList_Private(PC_GridMG *mg, Vec left, Vec right)
{
  const GridMGList  *list = &mg->aggregation.level[0].exact.faces.list;
  double            *t    = (double *)list->t;
  const PetscScalar *y = NULL, *x = NULL;

  PetscFunctionBegin;
  if (!list->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (left) PetscCall(VecGetArrayRead(left, &y));
  if (right) PetscCall(VecGetArrayRead(right, &x));
  for (PetscInt r = 0; r < list->n; r++) {
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) t[e] *= AtVertex(mg, y, list->row[r]) * AtVertex(mg, x, list->j[e]);
  }
  if (right) PetscCall(VecRestoreArrayRead(right, &x));
  if (left) PetscCall(VecRestoreArrayRead(left, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Faces and row sums, from vectors where the level is */
static PetscErrorCode ScaleFaces_Private(PC_GridMG *mg, const PetscScalar left[], const PetscScalar right[], const PetscScalar sums[])
{
  const GridMGFaces *f    = &mg->aggregation.level[0].exact.faces;
  const GridMGGrid  *grid = &f->grid;

  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->source.rows.a) {
    PetscCall(LitheCUDAGridMGScaleFaces(f, &mg->domain.team.rows, left, right, sums));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(grid, d);

    for (PetscInt c = 0; c < grid->cells - stride && f->up[d]; c++) {
      f->up[d][c] *= AtVertex(mg, left, c) * AtVertex(mg, right, c + stride);
      if (!f->symmetric) f->down[d][c] *= AtVertex(mg, left, c + stride) * AtVertex(mg, right, c);
    }
  }
  for (PetscInt i = 0; i < grid->cells + grid->wells; i++) f->sigma[i] = AtVertex(mg, sums, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGScaleEntries_Private(PC pc)
{
  PC_GridMG         *mg     = (PC_GridMG *)pc->data;
  const PetscBool    device = (PetscBool)(mg->source.rows.a != NULL);
  Vec                vec[3] = {mg->scaling.left, mg->scaling.right, NULL}; /* and row sums */
  const PetscScalar *array[3];

  PetscFunctionBegin;
  PetscCall(ScaleList_Private(mg, vec[0], vec[1]));
  PetscCall(ScaledSums_Private(pc, vec[0], vec[1], &vec[2]));
  PetscCall(PCGridMGScalingGet_Private(device, 3, vec, array));
  PetscCall(ScaleFaces_Private(mg, array[0], array[1], array[2]));
  PetscCall(PCGridMGScalingRestore_Private(device, 3, vec, array));
  PetscCall(VecDestroy(&vec[2]));
  PetscCall(PCGridMGFinishEntries_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
