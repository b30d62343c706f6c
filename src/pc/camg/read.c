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

/* Numbers of a vector, where the levels are; *copy: to be freed, if the vector is elsewhere */
static PetscErrorCode GetNumbers_Private(const PC_CAMG *mg, Vec v, const PetscScalar **x, PetscScalar **copy)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  PetscMemType          where;
  PetscInt              n;

  PetscFunctionBegin;
  *copy = NULL;
  if (memory == &LitheHostMemory) PetscCall(VecGetArrayRead(v, x));
  else PetscCall(VecGetArrayReadAndMemType(v, x, &where));
  if (memory == &LitheHostMemory || !PetscMemTypeHost(where)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall((*memory->alloc)((size_t)n * sizeof(**x), (void **)copy));
  PetscCall((*memory->put)((size_t)n * sizeof(**x), *x, *copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreNumbers_Private(const PC_CAMG *mg, Vec v, const PetscScalar **x, PetscScalar **copy)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGFree_Private(mg, copy));
  if (mg->kernels->memory == &LitheHostMemory) PetscCall(VecRestoreArrayRead(v, x));
  else PetscCall(VecRestoreArrayReadAndMemType(v, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* outer: the vectors left and right of factor diag(left) A diag(right), which has constants near its null space */
PetscErrorCode PCCAMGGetOuter_Private(PC_CAMG *mg, Mat pmat, PetscBool constant, PetscInt n)
{
  Vec vector[2] = {NULL, NULL};

  PetscFunctionBegin;
  if (!constant) PetscCall(LitheMatGetNearNull(pmat, mg->matrix.symmetric, &vector[0], &vector[1], &mg->matrix.nearnull));
  for (int side = 0; side < 2; side++) {
    const PetscScalar *x    = NULL;
    PetscScalar       *copy = NULL;

    PetscCall((*mg->kernels->memory->alloc)((size_t)n * sizeof(double), (void **)&mg->units.outer[side]));
    if (vector[side]) PetscCall(GetNumbers_Private(mg, vector[side], &x, &copy));
    PetscCall((*mg->kernels->setouter)(n, copy ? copy : x, mg->units.outer[side]));
    if (vector[side]) PetscCall(RestoreNumbers_Private(mg, vector[side], &x, &copy));
    PetscCall(VecDestroy(&vector[side]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   T, by rows, of vectors that are given, or of one constant per component of a block. One constant for all rows needs
   no T, and an interpolation that is kept has made use of T before
*/
PetscErrorCode PCCAMGGetSpace_Private(PC pc, MatNullSpace given, PetscInt m, CAMGSpace *space)
{
  PC_CAMG   *mg       = (PC_CAMG *)pc->data;
  const Vec *vec      = NULL;
  PetscBool  constant = PETSC_FALSE;
  PetscInt   n        = 0, first;

  PetscFunctionBegin;
  if (given) PetscCall(MatNullSpaceGetVecs(given, &constant, &n, &vec));
  first          = constant ? 1 : 0;
  space->vectors = (PetscBool)(given || space->block > 1);
  space->columns = given ? n + first : space->block;
  if (space->vectors) mg->matrix.nearnull = given ? LITHE_NEAR_NULL_GIVEN : LITHE_NEAR_NULL_CONSTANT;
  PetscCall(PCCAMGKeptCheck_Private(pc, space->columns));
  if (!space->vectors || (mg->kept.state == CAMG_KEPT_USE && !mg->shared)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->alloc)((size_t)m * (size_t)space->columns * sizeof(PetscScalar), (void **)&space->T));
  for (PetscInt c = 0; c < space->columns; c++) {
    const PetscScalar *x    = NULL;
    PetscScalar       *copy = NULL;
    const Vec          v    = given && c >= first ? vec[c - first] : NULL;

    if (v) PetscCall(GetNumbers_Private(mg, v, &x, &copy));
    PetscCall((*mg->kernels->setcolumn)(m, space->columns, c, copy ? copy : x, given ? 1 : space->block, space->T));
    if (v) PetscCall(RestoreNumbers_Private(mg, v, &x, &copy));
  }
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
    PetscCall(PCCAMGGetSpace_Private(pc, given, rows.m, space));
    PetscCall((*kern->copy)(&rows, factor, mg->units.outer[0], mg->units.outer[1], block, A));
    mg->units.factor = factor;
  }
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (there) PetscCall(PCCAMGDeviceRowsRestore_Private(pc->pmat, &rows));
#endif
  if (!there) PetscCall(RestoreRows_Private(pc->pmat, &B, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
