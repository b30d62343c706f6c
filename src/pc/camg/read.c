/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest matrix of a PCCAMG, and its near null space, from a Mat */

#include "camgimpl.h"

/* Rows of a matrix of one process, in the memory of the kernels */
typedef struct {
  Mat        A, B;   /* B: a copy of A as MATSEQAIJ, or A */
  CAMGMatrix rows;   /* their arrays belong to A or B, */
  PetscBool  device; /* to A on a device, */
  PetscBool  copied; /* or are a copy */
} Part;

static PetscErrorCode HostRows_Private(Part *p)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscBool          aij, done;

  PetscFunctionBegin;
  p->B = p->A;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)p->A, MATSEQAIJ, &aij));
  if (!aij) PetscCall(MatConvert(p->A, MATSEQAIJ, MAT_INITIAL_MATRIX, &p->B));
  PetscCall(MatGetSize(p->B, &p->rows.m, &p->rows.n));
  PetscCall(MatGetRowIJ(p->B, 0, PETSC_FALSE, PETSC_FALSE, &p->rows.m, &i, &j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)p->A), PETSC_ERR_SUP, "A matrix of type %s does not give its rows", ((PetscObject)p->A)->type_name);
  PetscCall(MatSeqAIJGetArrayRead(p->B, &a));
  p->rows.i  = (PetscInt *)i;
  p->rows.j  = (PetscInt *)j;
  p->rows.a  = (PetscScalar *)a;
  p->rows.nz = i[p->rows.m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HostRowsRestore_Private(Part *p)
{
  const PetscInt    *i = p->rows.i, *j = p->rows.j;
  const PetscScalar *a = p->rows.a;
  PetscInt           m;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(p->B, &a));
  PetscCall(MatRestoreRowIJ(p->B, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  if (p->B != p->A) PetscCall(MatDestroy(&p->B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartOpen_Private(const PC_CAMG *mg, Mat A, Part *p)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  CAMGMatrix            rows;

  PetscFunctionBegin;
  *p = (Part){.A = A, .rows = {.rb = 1, .cb = 1}};
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (memory != &LitheHostMemory) PetscCall(PCCAMGDeviceRowsGet_Private(A, &p->rows, &p->device));
#endif
  if (p->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HostRows_Private(p));
  if (memory == &LitheHostMemory) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCCAMGMatrixPut_Private(memory, &p->rows, &rows));
  PetscCall(HostRowsRestore_Private(p));
  p->rows   = rows;
  p->copied = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartClose_Private(const PC_CAMG *mg, Part *p)
{
  PetscFunctionBegin;
  if (p->copied) PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &p->rows));
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  else if (p->device) PetscCall(PCCAMGDeviceRowsRestore_Private(p->A, &p->rows));
#endif
  else PetscCall(HostRowsRestore_Private(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The rows of this process, of numbers. Own columns keep their places; those of other processes follow by blocks, in
   the order of their numbers. *part: of one process, else the rows are to be freed
*/
static PetscErrorCode RowsOpen_Private(PC pc, PetscInt block, Part *part, CAMGMatrix *rows, CAMGColumns *c)
{
  const PC_CAMG  *mg = (const PC_CAMG *)pc->data;
  const PetscInt *garray;
  PetscInt       *place, *there, outside, first;
  Mat             A = pc->pmat, half[2];
  Part            other;
  PetscBool       aij;

  PetscFunctionBegin;
  *c = (CAMGColumns){.n = 0};
  if (!mg->shared) {
    PetscCall(PartOpen_Private(mg, A, part));
    *rows  = part->rows;
    c->own = rows->m / block;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &aij));
  if (!aij) PetscCall(MatConvert(pc->pmat, MATMPIAIJ, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &half[0], &half[1], &garray));
  PetscCall(PartOpen_Private(mg, half[0], part));
  PetscCall(PartOpen_Private(mg, half[1], &other));
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  c->own   = part->rows.n / block;
  c->first = first / block;
  outside  = other.rows.n;
  PetscCall(PetscMalloc1(outside, &place));
  PetscCall(PetscMalloc1(outside, &c->id));
  for (PetscInt k = 0; k < outside; k++) {
    if (!c->n || c->id[c->n - 1] != garray[k] / block) c->id[c->n++] = garray[k] / block;
    place[k] = (c->own + c->n - 1) * block + garray[k] % block;
  }
  PetscCall(PCCAMGIntegersPut_Private(mg->kernels->memory, outside, place, &there));
  PetscCall((*mg->kernels->matrix.join)(&part->rows, &other.rows, part->rows.m, (c->own + c->n) * block, NULL, there, rows));
  PetscCall(PCCAMGFree_Private(mg, &there));
  PetscCall(PetscFree(place));
  PetscCall(PartClose_Private(mg, &other));
  PetscCall(PartClose_Private(mg, part));
  if (!aij) PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of a vector, where the levels are; *copy: to be freed, if the vector is elsewhere */
static PetscErrorCode GetNumbers_Private(const PC_CAMG *mg, Vec v, const PetscScalar **x, PetscScalar **copy)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  PetscMemType          where  = PETSC_MEMTYPE_HOST;
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
static PetscErrorCode GetOuter_Private(PC_CAMG *mg, Mat pmat, PetscBool constant, const CAMGMatrix *rows)
{
  Vec vector[2] = {NULL, NULL};

  PetscFunctionBegin;
  if (!constant) PetscCall(LitheMatGetNearNull(pmat, mg->matrix.symmetric, &vector[0], &vector[1], &mg->matrix.nearnull));
  for (int side = 0; side < 2; side++) {
    const PetscScalar *x    = NULL;
    PetscScalar       *copy = NULL;

    PetscCall((*mg->kernels->memory->alloc)((size_t)rows->n * sizeof(double), (void **)&mg->units.outer[side]));
    if (vector[side]) PetscCall(GetNumbers_Private(mg, vector[side], &x, &copy));
    PetscCall((*mg->kernels->matrix.setouter)(rows->m, copy ? copy : x, mg->units.outer[side]));
    if (vector[side]) PetscCall(RestoreNumbers_Private(mg, vector[side], &x, &copy));
    PetscCall(VecDestroy(&vector[side]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   T, by rows, of vectors that are given, or of one constant per component of a block. One constant for all rows needs
   no T, and an interpolation that is kept has made use of T before
*/
static PetscErrorCode GetSpace_Private(PC pc, MatNullSpace given, PetscInt m, CAMGSpace *space)
{
  PC_CAMG   *mg       = (PC_CAMG *)pc->data;
  const Vec *vec      = NULL;
  PetscBool  constant = PETSC_FALSE;
  PetscInt   n        = 0, first;

  PetscFunctionBegin;
  if (given) PetscCall(MatNullSpaceGetVecs(given, &constant, &n, &vec));
  first              = constant ? 1 : 0;
  space->vectors     = (PetscBool)(given || space->block > 1);
  space->columns     = given ? n + first : space->block;
  mg->matrix.columns = space->columns;
  if (space->vectors) mg->matrix.nearnull = given ? LITHE_NEAR_NULL_GIVEN : LITHE_NEAR_NULL_CONSTANT;
  PetscCall(PCCAMGKeptCheck_Private(pc, space->columns));
  if (!space->vectors || mg->kept.state == CAMG_KEPT_USE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->alloc)((size_t)m * (size_t)space->columns * sizeof(PetscScalar), (void **)&space->T));
  for (PetscInt c = 0; c < space->columns; c++) {
    const PetscScalar *x    = NULL;
    PetscScalar       *copy = NULL;
    const Vec          v    = given && c >= first ? vec[c - first] : NULL;

    if (v) PetscCall(GetNumbers_Private(mg, v, &x, &copy));
    PetscCall((*mg->kernels->matrix.setcolumn)(m, space->columns, c, copy ? copy : x, given ? 1 : space->block, space->T));
    if (v) PetscCall(RestoreNumbers_Private(mg, v, &x, &copy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A near null space that is given, of more than one vector or for blocks; else NULL */
static PetscErrorCode GetGiven_Private(const PC_CAMG *mg, Mat pmat, PetscInt block, MatNullSpace *given)
{
  const Vec *vec;
  PetscBool  constant;
  PetscInt   n;

  PetscFunctionBegin;
  *given = NULL;
  if (mg->opt.nearnull == CAMG_NEAR_NULL_CONSTANT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNearNullSpace(pmat, given));
  if (!*given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(*given, &constant, &n, &vec));
  n += constant ? 1 : 0;
  if (n < (block > 1 ? 1 : 2) || n > CAMG_BLOCK_MAX) *given = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As the operation of the kernels, over all processes */
static PetscErrorCode Survey_Private(const PC_CAMG *mg, const CAMGMatrix *rows, MPI_Comm comm, double largest[2], PetscInt *sign, PetscBool *good)
{
  PetscFunctionBegin;
  PetscCall((*mg->kernels->matrix.survey)(rows, largest, sign, good));
  if (!mg->shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sign, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, good, 1, MPI_C_BOOL, MPI_LAND, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A is Hermitian, up to rounding. block: of the ghosts */
static PetscErrorCode IsHermitian_Private(const PC_CAMG *mg, const CAMGMatrix *rows, const CAMGGhosts *g, PetscInt block, PetscBool *hermitian)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const CAMGColumns    *c      = &g->columns;
  double                sum[CAMG_FORMS];
  PetscReal            *root;
  PetscInt             *id, *there;

  PetscFunctionBegin;
  PetscCall((*memory->alloc)((size_t)rows->n * sizeof(*root), (void **)&root));
  PetscCall((*mg->kernels->coarsen.roots)(rows, root));
  PetscCall(PCCAMGGhostsGet_Private(g, memory, (size_t)block * sizeof(*root), root));
  PetscCall(PetscMalloc1(c->n * block, &id));
  for (PetscInt k = 0; k < c->n * block; k++) id[k] = c->id[k / block] * block + k % block;
  PetscCall(PCCAMGIntegersPut_Private(memory, c->n * block, id, &there));
  PetscCall((*mg->kernels->matrix.forms)(rows, root, c->first * block, there, sum));
  if (g->sf) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, CAMG_FORMS, MPI_DOUBLE, MPI_SUM, g->comm));
  *hermitian = CAMGIsHermitian(sum);
  PetscCall(PetscFree(id));
  PetscCall(PCCAMGFree_Private(mg, &there));
  PetscCall(PCCAMGFree_Private(mg, &root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Facts about the rows, and a scaled copy of them in blocks */
static PetscErrorCode Scale_Private(PC pc, const CAMGMatrix *rows, const CAMGGhosts *g, CAMGMatrix *A, CAMGSpace *space, PetscBool *good)
{
  PC_CAMG     *mg = (PC_CAMG *)pc->data;
  MatNullSpace given;
  PetscInt     block = space->block, sign;
  double       largest[2];
  PetscBool    known, constant;

  PetscFunctionBegin;
  PetscCall(Survey_Private(mg, rows, PetscObjectComm((PetscObject)pc), largest, &sign, good));
  if (!*good) PetscFunctionReturn(PETSC_SUCCESS);
  mg->matrix.largest  = (PetscReal)largest[0];
  mg->matrix.nearnull = LITHE_NEAR_NULL_CONSTANT;
  mg->units.factor    = LitheMGScaleOf(largest[0] > 0 ? largest[0] : largest[1]) * (sign < 0 ? -1 : 1);
  PetscCall(MatIsHermitianKnown(pc->pmat, &known, &mg->matrix.symmetric));
  if (!known) PetscCall(IsHermitian_Private(mg, rows, g, block, &mg->matrix.symmetric));
  PetscCall(GetGiven_Private(mg, pc->pmat, block, &given));
  constant = (PetscBool)(block > 1 || given || mg->opt.nearnull == CAMG_NEAR_NULL_CONSTANT);
  PetscCall(GetOuter_Private(mg, pc->pmat, constant, rows));
  PetscCall(PCCAMGGhostsGet_Private(g, mg->kernels->memory, (size_t)block * sizeof(double), mg->units.outer[1]));
  PetscCall(GetSpace_Private(pc, given, rows->m, space));
  PetscCall((*mg->kernels->matrix.copy)(rows, mg->units.factor, mg->units.outer[0], mg->units.outer[1], block, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level and its near null space in the memory of the kernels; *good: FALSE if an entry is not finite */
PetscErrorCode PCCAMGRead_Private(PC pc, CAMGMatrix *A, CAMGGhosts *ghosts, CAMGSpace *space, PetscBool *good)
{
  PC_CAMG    *mg = (PC_CAMG *)pc->data;
  CAMGMatrix  rows;
  CAMGColumns columns;
  Part        part;

  PetscFunctionBegin;
  *space = (CAMGSpace){.columns = 1};
  PetscCall(MatGetBlockSize(pc->pmat, &space->block));
  if (space->block > CAMG_BLOCK_MAX) space->block = 1;
  PetscCall(RowsOpen_Private(pc, space->block, &part, &rows, &columns));
  if (mg->kept.finest.sf) {
    PetscCall(PCCAMGGhostsCopy_Private(&mg->kept.finest, ghosts));
    PetscCall(PetscFree(columns.id));
  } else PetscCall(PCCAMGGhostsCreate_Private(PetscObjectComm((PetscObject)pc), &columns, ghosts));
  if (ghosts->sf && !mg->kept.finest.sf && mg->kept.state == CAMG_KEPT_FILL) PetscCall(PCCAMGGhostsCopy_Private(ghosts, &mg->kept.finest));
  PetscCall(Scale_Private(pc, &rows, ghosts, A, space, good));
  if (!*good) PetscCall(PCCAMGGhostsFree_Private(ghosts));
  if (mg->shared) PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &rows));
  else PetscCall(PartClose_Private(mg, &part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
