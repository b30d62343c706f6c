/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A matrix whose near null vector is not constant: unknowns or equations in different units. Levels are those of
   Y A X, and an application is X M Y for the cycle M
*/

#include "gridmgimpl.h"
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/lithecudagridmgsetup.h>
#endif

/* The scaling of the rows that are read */
static PetscErrorCode Find_Private(PC pc)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  GridMGScaling *s  = &mg->scaling;
  PetscInt       n;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->left));
  PetscCall(VecDestroy(&s->right));
  PetscCall(MatDestroy(&s->matrix));
  if (mg->given.i) {
    PetscCall(MatGetSize(pc->pmat, &n, NULL));
    PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, n, n, mg->given.i, mg->given.j, mg->given.a, &s->matrix));
    mg->source = s->matrix;
  }
  PetscCall(LitheMatGetNearNull(mg->source, mg->symmetric, &s->left, &s->right, &s->how));
  if (s->how != LITHE_NEAR_NULL_CONSTANT && !s->work[0]) PetscCall(MatCreateVecs(pc->pmat, &s->work[1], &s->work[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scaled copy of the matrix, whose rows are read in place of those of the matrix */
static PetscErrorCode MakeMatrix_Private(PC pc)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  GridMGScaling *s  = &mg->scaling;
  PetscBool      aij, rows = (PetscBool)(mg->matrix.a != NULL);

  PetscFunctionBegin;
  PetscCall(PCGridMGRowsRestore_Private(pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &aij, MATMPIAIJ, MATMPIAIJCUSPARSE, ""));
  if (aij) PetscCall(MatDuplicate(pc->pmat, MAT_COPY_VALUES, &s->matrix));
  else PetscCall(MatConvert(pc->pmat, MATAIJ, MAT_INITIAL_MATRIX, &s->matrix));
  PetscCall(MatDiagonalScale(s->matrix, s->left, s->right));
  mg->source  = s->matrix;
  mg->scanned = PETSC_FALSE;
  mg->refused = PETSC_FALSE;
  /* rows of boxes that overlap are expected where they were; stencils get their rows, and their place, when they are read */
  if (mg->overlap && rows) PetscCall(PCGridMGRowsGetAll_Private(pc, &rows));
  if (!mg->overlap) {
    mg->kernels = &GridMGHostKernels;
    mg->device  = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the finest level of a single process, in place */

/* sums = left A right by rows, the row sums of the scaled matrix */
static PetscErrorCode ScaledSums_Private(PC pc, Vec left, Vec right, Vec *sums)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  Vec        x  = right;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(mg->source, NULL, sums));
  if (!right) {
    PetscCall(VecDuplicate(*sums, &x));
    PetscCall(VecSet(x, 1.0));
  }
  PetscCall(MatMult(mg->source, x, *sums));
  if (!right) PetscCall(VecDestroy(&x));
  if (left) PetscCall(VecPointwiseMult(*sums, *sums, left));
  PetscCall(VecScale(*sums, (PetscReal)mg->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a vertex in a vector by rows; NULL: 1 */
static inline double AtVertex(const PC_GridMG *mg, const PetscScalar x[], PetscInt vertex)
{
  return x ? (double)PetscRealPart(x[GridMGRowOf(&mg->level[0].op.grid, &mg->rows, vertex)]) : 1;
}

static PetscErrorCode ScaleList_Private(PC_GridMG *mg, Vec left, Vec right)
{
  GridMGList        *list = &mg->level[0].faces.list;
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
  GridMGFaces      *f    = &mg->level[0].faces;
  const GridMGGrid *grid = &f->grid;

  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->matrix.a) {
    PetscCall(LitheCUDAGridMGScaleFaces(f, &mg->rows, left, right, sums));
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

/* The arrays of vectors where the level is; NULL for no vector */
static PetscErrorCode ArraysGet_Private(PetscBool device, int n, const Vec vec[], const PetscScalar *array[])
{
  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    array[k] = NULL;
    if (vec[k] && device) PetscCall(VecGetArrayReadAndMemType(vec[k], &array[k], NULL));
    else if (vec[k]) PetscCall(VecGetArrayRead(vec[k], &array[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysRestore_Private(PetscBool device, int n, const Vec vec[], const PetscScalar *array[])
{
  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    if (vec[k] && device) PetscCall(VecRestoreArrayReadAndMemType(vec[k], &array[k]));
    else if (vec[k]) PetscCall(VecRestoreArrayRead(vec[k], &array[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScaleLevel_Private(PC pc)
{
  PC_GridMG         *mg     = (PC_GridMG *)pc->data;
  const PetscBool    device = (PetscBool)(mg->matrix.a != NULL);
  Vec                vec[3] = {mg->scaling.left, mg->scaling.right, NULL}; /* and row sums */
  const PetscScalar *array[3];

  PetscFunctionBegin;
  if (!mg->zeeuw) {
    PetscCall(ScaleList_Private(mg, vec[0], vec[1]));
    PetscCall(ScaledSums_Private(pc, vec[0], vec[1], &vec[2]));
  }
  PetscCall(ArraysGet_Private(device, 3, vec, array));
  if (mg->zeeuw) PetscCall(PCGridMGScaleStencils_Private(pc, array[0], array[1]));
  else PetscCall(ScaleFaces_Private(mg, array[0], array[1], array[2]));
  PetscCall(ArraysRestore_Private(device, 3, vec, array));
  PetscCall(VecDestroy(&vec[2]));
  if (!mg->zeeuw) PetscCall(PCGridMGFinishEntries_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ set-up and application */

/*
   Finds the scaling for a finest level that has been read. A single process scales the level; several processes have to
   read the rows again
*/
PetscErrorCode PCGridMGScale_Private(PC pc, PetscBool *again)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  *again = PETSC_FALSE;
  PetscCall(Find_Private(pc));
  if (mg->scaling.how == LITHE_NEAR_NULL_CONSTANT) PetscFunctionReturn(PETSC_SUCCESS);
  *again = PCGridMGIsShared(mg);
  if (*again) PetscCall(MakeMatrix_Private(pc));
  else PetscCall(ScaleLevel_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in = left x, a vector for the cycle, whose result goes to out */
PetscErrorCode PCGridMGScalingEnter_Private(PC_GridMG *mg, Vec x, Vec *in, Vec *out)
{
  GridMGScaling *s = &mg->scaling;

  PetscFunctionBegin;
  *in  = s->work[0];
  *out = s->work[1];
  PetscCall(VecCopy(x, *in));
  if (s->left) PetscCall(VecPointwiseMult(*in, *in, s->left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = right out */
PetscErrorCode PCGridMGScalingLeave_Private(PC_GridMG *mg, Vec out, Vec y)
{
  PetscFunctionBegin;
  if (mg->scaling.right) PetscCall(VecPointwiseMult(out, out, mg->scaling.right));
  PetscCall(VecCopy(out, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
