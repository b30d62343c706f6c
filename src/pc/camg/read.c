/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest matrix of a PCCAMG, and its near null space, from a Mat */

#include "camgimpl.h"

/* The rows of a matrix on the host, which may be of any type that converts to aij; *B: to be given back */
static PetscErrorCode GetRows_Private(Mat pmat, Mat *B, CAMGMatrix *A)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscBool          aij, done;

  PetscFunctionBegin;
  *B = pmat;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)pmat, MATSEQAIJ, &aij));
  if (!aij) PetscCall(MatConvert(pmat, MATSEQAIJ, MAT_INITIAL_MATRIX, B));
  PetscCall(MatGetSize(*B, &A->m, &A->n));
  PetscCall(MatGetRowIJ(*B, 0, PETSC_FALSE, PETSC_FALSE, &A->m, &i, &j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)pmat), PETSC_ERR_SUP, "A matrix of type %s does not give its rows", ((PetscObject)pmat)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(*B, &a));
  A->i  = (PetscInt *)i;
  A->j  = (PetscInt *)j;
  A->a  = (PetscScalar *)a;
  A->nz = i[A->m];
  A->rb = A->cb = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreRows_Private(Mat pmat, Mat *B, CAMGMatrix *A)
{
  const PetscInt    *i = A->i, *j = A->j;
  const PetscScalar *a = A->a;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(*B, &a));
  PetscCall(MatRestoreRowIJ(*B, 0, PETSC_FALSE, PETSC_FALSE, &A->m, &i, &j, &done));
  if (*B != pmat) PetscCall(MatDestroy(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* outer: the vectors left and right of factor diag(left) A diag(right), which has constants near its null space */
PetscErrorCode PCCAMGGetOuter_Private(PC_CAMG *mg, Mat pmat, PetscBool constant, PetscInt n)
{
  const LitheMemoryOps *memory    = mg->kernels->memory;
  Vec                   vector[2] = {NULL, NULL};
  const PetscScalar    *x;
  PetscScalar          *there = NULL;
  const PetscBool       host  = (PetscBool)(memory == &LitheHostMemory);
  PetscMemType          where;

  PetscFunctionBegin;
  if (!constant) PetscCall(LitheMatGetNearNull(pmat, mg->matrix.symmetric, &vector[0], &vector[1], &mg->matrix.nearnull));
  for (int side = 0; side < 2; side++) {
    PetscCall((*memory->alloc)((size_t)n * sizeof(double), (void **)&mg->units.outer[side]));
    x = NULL;
    if (vector[side] && host) PetscCall(VecGetArrayRead(vector[side], &x));
    else if (vector[side]) PetscCall(VecGetArrayReadAndMemType(vector[side], &x, &where));
    if (x && !host && PetscMemTypeHost(where)) {
      PetscCall((*memory->alloc)((size_t)n * sizeof(*x), (void **)&there));
      PetscCall((*memory->put)((size_t)n * sizeof(*x), x, there));
    }
    PetscCall((*mg->kernels->setouter)(n, there ? there : x, mg->units.outer[side]));
    PetscCall(PCCAMGFree_Private(mg, &there));
    if (vector[side] && host) PetscCall(VecRestoreArrayRead(vector[side], &x));
    else if (vector[side]) PetscCall(VecRestoreArrayReadAndMemType(vector[side], &x));
    PetscCall(VecDestroy(&vector[side]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* T, by rows, of vectors that are given, or of one constant per component of a block */
PetscErrorCode PCCAMGGetSpace_Private(PC_CAMG *mg, MatNullSpace given, PetscInt m, CAMGSpace *space)
{
  const size_t bytes    = (size_t)m * sizeof(PetscScalar);
  const Vec   *vec      = NULL;
  PetscBool    constant = PETSC_FALSE;
  PetscInt     n        = 0, first;
  PetscScalar *T;

  PetscFunctionBegin;
  if (given) PetscCall(MatNullSpaceGetVecs(given, &constant, &n, &vec));
  mg->matrix.nearnull = given ? LITHE_NEAR_NULL_GIVEN : LITHE_NEAR_NULL_CONSTANT;
  first               = constant ? 1 : 0;
  space->vectors      = PETSC_TRUE;
  space->columns      = given ? n + first : space->block;
  PetscCall(PetscCalloc1((size_t)m * (size_t)space->columns, &T));
  for (PetscInt r = 0; r < m; r++) {
    if (!given) T[r * space->columns + r % space->block] = 1;
    if (constant) T[r * space->columns] = 1;
  }
  for (PetscInt k = 0; k < n; k++) {
    const PetscScalar *x;

    PetscCall(VecGetArrayRead(vec[k], &x));
    for (PetscInt r = 0; r < m; r++) T[r * space->columns + first + k] = x[r];
    PetscCall(VecRestoreArrayRead(vec[k], &x));
  }
  PetscCall((*mg->kernels->memory->alloc)(bytes * (size_t)space->columns, (void **)&space->T));
  PetscCall((*mg->kernels->memory->put)(bytes * (size_t)space->columns, T, space->T));
  PetscCall(PetscFree(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block of a matrix, and a near null space that is given, of more than one vector or for blocks; else NULL */
PetscErrorCode PCCAMGGetGiven_Private(PC_CAMG *mg, Mat pmat, PetscInt *block, MatNullSpace *given)
{
  const Vec *vec;
  PetscBool  constant;
  PetscInt   n;

  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(pmat, block));
  if (*block > CAMG_BLOCK_MAX) *block = 1;
  *given = NULL;
  if (mg->opt.nearnull == CAMG_NEAR_NULL_CONSTANT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNearNullSpace(pmat, given));
  if (!*given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(*given, &constant, &n, &vec));
  n += constant ? 1 : 0;
  if (n < (*block > 1 ? 1 : 2) || n > CAMG_BLOCK_MAX) *given = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level and its near null space in the memory of the kernels; *good: FALSE if an entry is not finite */
PetscErrorCode PCCAMGRead_Private(PC pc, CAMGMatrix *A, CAMGSpace *space, PetscBool *good)
{
  PC_CAMG           *mg = (PC_CAMG *)pc->data;
  const CAMGKernels *kern;
  MatNullSpace       given = NULL;
  PetscBool          there = PETSC_FALSE;
  CAMGMatrix         rows  = {.rb = 1, .cb = 1};
  PetscInt           block, sign;
  double             largest[2], factor;
  PetscBool          known, constant;
  Mat                B;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(A, sizeof(*A)));
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->device) PetscCall(PCCAMGDeviceRowsGet_Private(pc->pmat, &rows, &there));
  if (there) mg->kernels = &CAMGDeviceKernels;
#endif
  if (!there) PetscCall(GetRows_Private(pc->pmat, &B, &rows));
  kern = mg->kernels;
  PetscCall(PCCAMGGetGiven_Private(mg, pc->pmat, &block, &given));
  *space = (CAMGSpace){.block = block, .columns = 1};
  PetscCall((*kern->survey)(&rows, largest, &sign, good));
  if (*good) {
    mg->matrix.largest  = (PetscReal)largest[0];
    factor              = LitheMGScaleOf(largest[0] > 0 ? largest[0] : largest[1]) * (sign < 0 ? -1 : 1);
    mg->matrix.nearnull = LITHE_NEAR_NULL_CONSTANT;
    PetscCall(MatIsHermitianKnown(pc->pmat, &known, &mg->matrix.symmetric));
    if (!known) PetscCall((*kern->issymmetric)(&rows, &mg->matrix.symmetric));
    constant = (PetscBool)(block > 1 || given || mg->opt.nearnull == CAMG_NEAR_NULL_CONSTANT);
    PetscCall(PCCAMGGetOuter_Private(mg, pc->pmat, constant, rows.m));
    if (block > 1 || given) PetscCall(PCCAMGGetSpace_Private(mg, given, rows.m, space));
    PetscCall((*kern->copy)(&rows, factor, mg->units.outer[0], mg->units.outer[1], block, A));
    mg->units.factor = factor;
  }
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (there) PetscCall(PCCAMGDeviceRowsRestore_Private(pc->pmat, &rows));
#endif
  if (!there) PetscCall(RestoreRows_Private(pc->pmat, &B, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
