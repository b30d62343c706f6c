/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Operations of a MATSBPSAT on entries: rows are computed one at a time, the diagonal block is stored, and norms
   assemble the matrix temporarily. Operations that need a stored matrix are refused, with a message that names suitable
   types.
*/

#include "sbpsatimpl.h"

/* ------------------------------------------------------------ rows */

static PetscErrorCode MatGetRow_SBPSAT(Mat A, PetscInt row, PetscInt *n, PetscInt **columns, PetscScalar **values)
{
  Mat_SBPSAT    *ctx   = (Mat_SBPSAT *)A->data;
  const PetscInt local = row - A->rmap->rstart;
  const SBPGrid *g;
  PetscInt       count, *room;
  PetscScalar   *entries;

  PetscFunctionBegin;
  PetscCheck(local >= 0 && local < A->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Row %" PetscInt_FMT " is not one of this process, which has %" PetscInt_FMT " to %" PetscInt_FMT, row, A->rmap->rstart, A->rmap->rend - 1);
  PetscCall(MatSBPSATRowBegin_Private(A));
  g = &ctx->built.op[SBP_SCALAR][0].grid;
  PetscCall(MatSBPSATRowRoom_Private(A, &room, &entries));
  PetscCall(MatSBPSATRow_Private(A, g->own.start[0] + local % g->own.count[0], g->own.start[1] + local / g->own.count[0], &count, room, entries));
  PetscCall(PetscSortIntWithScalarArray(count, room, entries));
  if (n) *n = count;
  if (columns) *columns = room;
  if (values) *values = entries;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatRestoreRow_SBPSAT(PETSC_UNUSED Mat A, PETSC_UNUSED PetscInt row, PetscInt *n, PetscInt **columns, PetscScalar **values)
{
  PetscFunctionBegin;
  if (n) *n = 0;
  if (columns) *columns = NULL;
  if (values) *values = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATDestroyBlock_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&((Mat_SBPSAT *)A->data)->block.mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The local rows and columns. The block belongs to the matrix, and is refilled after changes. Collective */
static PetscErrorCode MatGetDiagonalBlock_SBPSAT(Mat A, Mat *block)
{
  Mat_SBPSAT      *ctx   = (Mat_SBPSAT *)A->data;
  const PetscInt   first = A->rmap->rstart, nodes = A->rmap->n;
  PetscObjectState state;
  const PetscInt  *columns;
  PetscScalar     *values;
  PetscInt        *mine;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *block = ctx->block.mat;
  if (ctx->block.mat && ctx->block.state == state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSBPSATRowBegin_Private(A));
  if (!ctx->block.mat) {
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, nodes, nodes, MatSBPSATRowSize_Private(A), NULL, &ctx->block.mat));
    PetscCall(MatSetOptionsPrefix(ctx->block.mat, "lithe_block_")); /* -mat_view is not for the block */
  } else PetscCall(MatZeroEntries(ctx->block.mat));
  PetscCall(MatSetOption(ctx->block.mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscMalloc1(MatSBPSATRowSize_Private(A), &mine));
  for (PetscInt row = 0; row < nodes; row++) {
    PetscInt n, count = 0;

    PetscCall(MatGetRow_SBPSAT(A, first + row, &n, (PetscInt **)&columns, &values));
    for (PetscInt k = 0; k < n; k++) {
      if (columns[k] < first || columns[k] >= first + nodes) continue;
      values[count] = values[k];
      mine[count++] = columns[k] - first;
    }
    PetscCall(MatSetValues(ctx->block.mat, 1, &row, count, mine, values, INSERT_VALUES));
  }
  PetscCall(PetscFree(mine));
  PetscCall(MatAssemblyBegin(ctx->block.mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(ctx->block.mat, MAT_FINAL_ASSEMBLY));
  ctx->block.mat->symmetric = A->symmetric;
  ctx->block.mat->hermitian = A->hermitian;
  ctx->block.mat->spd       = A->spd;
  ctx->block.state          = state;
  *block                    = ctx->block.mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ assembled for a while */

static PetscErrorCode MatNorm_SBPSAT(Mat A, NormType type, PetscReal *norm)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatConvert_SBPSAT_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatNorm(B, type, norm));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetRowMaxAbs_SBPSAT(Mat A, Vec v, PetscInt index[])
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatConvert_SBPSAT_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatGetRowMaxAbs(B, v, index));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatIncreaseOverlap_SBPSAT(Mat A, PetscInt n, IS is[], PetscInt overlap)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatConvert_SBPSAT_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatIncreaseOverlap(B, n, is, overlap));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of the settings is symmetric; if left and right scale differ, entries are compared */
static PetscErrorCode MatIsSymmetric_SBPSAT(Mat A, PetscReal tolerance, PetscBool *symmetric)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;
  Mat              B;

  PetscFunctionBegin;
  *symmetric = PETSC_TRUE;
  if (!c->left && !c->right) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert_SBPSAT_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatIsSymmetric(B, tolerance, symmetric));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatIsHermitian_SBPSAT(Mat A, PetscReal tolerance, PetscBool *hermitian)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;
  Mat              B;

  PetscFunctionBegin;
  *hermitian = PETSC_TRUE;
  if (!c->left && !c->right && c->real) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert_SBPSAT_AIJ(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatIsHermitian(B, tolerance, hermitian));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In local rows, and any columns */
static PetscErrorCode MatGetValues_SBPSAT(Mat A, PetscInt m, const PetscInt rows[], PetscInt n, const PetscInt columns[], PetscScalar values[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < m; r++) {
    PetscInt     count, *there;
    PetscScalar *entries;

    if (rows[r] < 0) continue;
    PetscCall(MatGetRow_SBPSAT(A, rows[r], &count, &there, &entries));
    for (PetscInt c = 0; c < n; c++) {
      PetscInt at;

      if (columns[c] < 0) continue;
      PetscCall(PetscFindInt(columns[c], count, there, &at));
      values[r * n + c] = at >= 0 ? entries[at] : 0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ operations that need a stored matrix */

/* The error of an operation, with the usual caller */
#define SBPRefuse(A, operation)                                                                                                                               \
  SETERRQ(PetscObjectComm((PetscObject)(A)), PETSC_ERR_SUP,                                                                                                   \
          "A matrix of type sbpsat is not stored, and cannot do %s. Use MatConvert() to MATAIJ, for a preconditioner as second matrix of KSPSetOperators(), " \
          "or -pc_type sbpmg, jacobi, bjacobi, or mg with -mg_levels_pc_type jacobi",                                                                         \
          operation)

static PetscErrorCode MatSOR_SBPSAT(Mat A, PETSC_UNUSED Vec b, PETSC_UNUSED PetscReal omega, PETSC_UNUSED MatSORType type, PETSC_UNUSED PetscReal shift,
                                    PETSC_UNUSED PetscInt its, PETSC_UNUSED PetscInt lits, PETSC_UNUSED Vec x)
{
  SBPRefuse(A, "MatSOR() (-pc_type sor, eisenstat)");
}

static PetscErrorCode MatInvertBlockDiagonal_SBPSAT(Mat A, PETSC_UNUSED const PetscScalar **values)
{
  SBPRefuse(A, "MatInvertBlockDiagonal() (-pc_type pbjacobi)");
}

static PetscErrorCode MatCreateGraph_SBPSAT(Mat A, PETSC_UNUSED PetscBool symmetrize, PETSC_UNUSED PetscBool scale, PETSC_UNUSED PetscReal filter,
                                            PETSC_UNUSED PetscInt n, PETSC_UNUSED PetscInt index[], PETSC_UNUSED Mat *graph)
{
  SBPRefuse(A, "MatCreateGraph() (-pc_type gamg)");
}

static PetscErrorCode MatSetValues_SBPSAT(Mat A, PETSC_UNUSED PetscInt m, PETSC_UNUSED const PetscInt rows[], PETSC_UNUSED PetscInt n,
                                          PETSC_UNUSED const PetscInt columns[], PETSC_UNUSED const PetscScalar values[], PETSC_UNUSED InsertMode mode)
{
  PetscFunctionBegin;
  A->insertmode = NOT_SET_VALUES; /* the matrix is unchanged */
  A->assembled  = PETSC_TRUE;
  SBPRefuse(A, "MatSetValues(); MatShift(), MatDiagonalSet() and MatDiagonalScale() change it");
}

/* TSARKIMEX asks for the rows without derivatives in time, which may be none */
static PetscErrorCode MatZeroRows_SBPSAT(Mat A, PetscInt n, PETSC_UNUSED const PetscInt rows[], PETSC_UNUSED PetscScalar diagonal, PETSC_UNUSED Vec x,
                                         PETSC_UNUSED Vec b)
{
  PetscBool some = (PetscBool)(n > 0);

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &some, 1, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)A)));
  if (!some) PetscFunctionReturn(PETSC_SUCCESS);
  SBPRefuse(A, "MatZeroRows() or MatZeroRowsColumns(); boundary conditions are those of MatSBPSATSetDirichlet()");
}

/* A product with a sparse matrix; PETSc makes a product with a dense matrix of products with vectors */
static PetscErrorCode MatProductSetFromOptions_SBPSAT(Mat C)
{
  SBPRefuse(C, "products with sparse matrices (MatMatMult(), MatPtAP())");
}

PetscErrorCode MatSBPSATSetStored_Private(Mat A, PetscBool set)
{
  PetscErrorCode (*product)(Mat) = set ? MatProductSetFromOptions_SBPSAT : NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_sbpsat_seqaij_C", product));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_sbpsat_mpiaij_C", product));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_seqaij_sbpsat_C", product));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_mpiaij_sbpsat_C", product));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  A->ops->getrow              = MatGetRow_SBPSAT;
  A->ops->restorerow          = MatRestoreRow_SBPSAT;
  A->ops->getvalues           = MatGetValues_SBPSAT;
  A->ops->getdiagonalblock    = MatGetDiagonalBlock_SBPSAT;
  A->ops->norm                = MatNorm_SBPSAT;
  A->ops->getrowmaxabs        = MatGetRowMaxAbs_SBPSAT;
  A->ops->increaseoverlap     = MatIncreaseOverlap_SBPSAT;
  A->ops->issymmetric         = MatIsSymmetric_SBPSAT;
  A->ops->ishermitian         = MatIsHermitian_SBPSAT;
  A->ops->sor                 = MatSOR_SBPSAT;
  A->ops->invertblockdiagonal = MatInvertBlockDiagonal_SBPSAT;
  A->ops->creategraph         = MatCreateGraph_SBPSAT;
  A->ops->setvalues           = MatSetValues_SBPSAT;
  A->ops->zerorows            = MatZeroRows_SBPSAT;
  A->ops->zerorowscolumns     = MatZeroRows_SBPSAT;
  PetscFunctionReturn(PETSC_SUCCESS);
}
