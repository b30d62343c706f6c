/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The operations that first decode the AIJ arrays. Two tables contain these operations:

   - the table of a dropped matrix: an operation that the compressed form does not serve (serve.c) decodes the arrays,
   which restores the old table, and then calls the requested operation;

   - the table of a matrix with arrays: operations with two matrices of which PETSc would read the arrays of the second,
   and operations after which the arrays must stay.
*/

#include "vcrsdropimpl.h"

/* name in struct _MatOps, the matrix of the operation, parameters, arguments */
#define VCRS_RETAKEN(X)                                                                                                                                      \
  X(setvalues, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode)) \
  X(solve, A, (Mat A, Vec x, Vec y), (A, x, y))                                                                                                              \
  X(solveadd, A, (Mat A, Vec x, Vec y, Vec z), (A, x, y, z))                                                                                                 \
  X(solvetranspose, A, (Mat A, Vec x, Vec y), (A, x, y))                                                                                                     \
  X(solvetransposeadd, A, (Mat A, Vec x, Vec y, Vec z), (A, x, y, z))                                                                                        \
  X(lufactor, A, (Mat A, IS r, IS c, const MatFactorInfo *info), (A, r, c, info))                                                                            \
  X(choleskyfactor, A, (Mat A, IS r, const MatFactorInfo *info), (A, r, info))                                                                               \
  X(transpose, A, (Mat A, MatReuse reuse, Mat * B), (A, reuse, B))                                                                                           \
  X(diagonalscale, A, (Mat A, Vec l, Vec r), (A, l, r))                                                                                                      \
  X(assemblybegin, A, (Mat A, MatAssemblyType type), (A, type))                                                                                              \
  X(assemblyend, A, (Mat A, MatAssemblyType type), (A, type))                                                                                                \
  X(zeroentries, A, (Mat A), (A))                                                                                                                            \
  X(zerorows, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))                                                   \
  X(getdiagonalblock, A, (Mat A, Mat * B), (A, B))                                                                                                           \
  X(setinf, A, (Mat A), (A))                                                                                                                                 \
  X(ilufactor, A, (Mat A, IS r, IS c, const MatFactorInfo *info), (A, r, c, info))                                                                           \
  X(iccfactor, A, (Mat A, IS r, const MatFactorInfo *info), (A, r, info))                                                                                    \
  X(createsubmatrices, A, (Mat A, PetscInt n, const IS r[], const IS c[], MatReuse reuse, Mat *B[]), (A, n, r, c, reuse, B))                                 \
  X(increaseoverlap, A, (Mat A, PetscInt n, IS is[], PetscInt ov), (A, n, is, ov))                                                                           \
  X(getvalues, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], PetscScalar v[]), (A, m, i, n, j, v))                              \
  X(getrowmax, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                   \
  X(scale, A, (Mat A, PetscScalar s), (A, s))                                                                                                                \
  X(shift, A, (Mat A, PetscScalar s), (A, s))                                                                                                                \
  X(diagonalset, A, (Mat A, Vec d, InsertMode mode), (A, d, mode))                                                                                           \
  X(zerorowscolumns, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))                                            \
  X(setrandom, A, (Mat A, PetscRandom r), (A, r))                                                                                                            \
  X(getrowij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done),           \
    (A, shift, sym, inode, n, i, j, done))                                                                                                                   \
  X(restorerowij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done),       \
    (A, shift, sym, inode, n, i, j, done))                                                                                                                   \
  X(getcolumnij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done),        \
    (A, shift, sym, inode, n, i, j, done))                                                                                                                   \
  X(restorecolumnij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done),    \
    (A, shift, sym, inode, n, i, j, done))                                                                                                                   \
  X(fdcoloringcreate, A, (Mat A, ISColoring is, MatFDColoring fd), (A, is, fd))                                                                              \
  X(coloringpatch, A, (Mat A, PetscInt a, PetscInt b, ISColoringValue v[], ISColoring * is), (A, a, b, v, is))                                               \
  X(setunfactored, A, (Mat A), (A))                                                                                                                          \
  X(permute, A, (Mat A, IS r, IS c, Mat * B), (A, r, c, B))                                                                                                  \
  X(setvaluesblocked, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode),                    \
    (A, m, i, n, j, v, mode))                                                                                                                                \
  X(createsubmatrix, A, (Mat A, IS r, IS c, MatReuse reuse, Mat * B), (A, r, c, reuse, B))                                                                   \
  X(setvalueslocal, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode),                      \
    (A, m, i, n, j, v, mode))                                                                                                                                \
  X(zerorowslocal, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))                                              \
  X(getrowmaxabs, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                \
  X(getrowminabs, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                \
  X(convert, A, (Mat A, MatType type, MatReuse reuse, Mat * B), (A, type, reuse, B))                                                                         \
  X(fdcoloringapply, A, (Mat A, MatFDColoring fd, Vec x, void *s), (A, fd, x, s))                                                                            \
  X(findzerodiagonals, A, (Mat A, IS * is), (A, is))                                                                                                         \
  X(mults, A, (Mat A, Vecs x, Vecs y), (A, x, y))                                                                                                            \
  X(solves, A, (Mat A, Vecs x, Vecs y), (A, x, y))                                                                                                           \
  X(getinertia, A, (Mat A, PetscInt * n, PetscInt * z, PetscInt * p), (A, n, z, p))                                                                          \
  X(load, A, (Mat A, PetscViewer viewer), (A, viewer))                                                                                                       \
  X(issymmetric, A, (Mat A, PetscReal tol, PetscBool * flg), (A, tol, flg))                                                                                  \
  X(ishermitian, A, (Mat A, PetscReal tol, PetscBool * flg), (A, tol, flg))                                                                                  \
  X(isstructurallysymmetric, A, (Mat A, PetscBool * flg), (A, flg))                                                                                          \
  X(setvaluesblockedlocal, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode),               \
    (A, m, i, n, j, v, mode))                                                                                                                                \
  X(productsymbolic, A, (Mat A), (A))                                                                                                                        \
  X(productnumeric, A, (Mat A), (A))                                                                                                                         \
  X(conjugate, A, (Mat A), (A))                                                                                                                              \
  X(viewnative, A, (Mat A, PetscViewer viewer), (A, viewer))                                                                                                 \
  X(setvaluesrow, A, (Mat A, PetscInt row, const PetscScalar v[]), (A, row, v))                                                                              \
  X(realpart, A, (Mat A), (A))                                                                                                                               \
  X(imaginarypart, A, (Mat A), (A))                                                                                                                          \
  X(getrowuppertriangular, A, (Mat A), (A))                                                                                                                  \
  X(restorerowuppertriangular, A, (Mat A), (A))                                                                                                              \
  X(matsolve, A, (Mat A, Mat B, Mat C), (A, B, C))                                                                                                           \
  X(matsolvetranspose, A, (Mat A, Mat B, Mat C), (A, B, C))                                                                                                  \
  X(getrowmin, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                   \
  X(getcolumnvector, A, (Mat A, Vec v, PetscInt j), (A, v, j))                                                                                               \
  X(getseqnonzerostructure, A, (Mat A, Mat * B), (A, B))                                                                                                     \
  X(getlocalsubmatrix, A, (Mat A, IS r, IS c, Mat * B), (A, r, c, B))                                                                                        \
  X(restorelocalsubmatrix, A, (Mat A, IS r, IS c, Mat * B), (A, r, c, B))                                                                                    \
  X(multdiagonalblock, A, (Mat A, Vec x, Vec y), (A, x, y))                                                                                                  \
  X(hermitiantranspose, A, (Mat A, MatReuse reuse, Mat * B), (A, reuse, B))                                                                                  \
  X(getmultiprocblock, A, (Mat A, MPI_Comm comm, MatReuse reuse, Mat * B), (A, comm, reuse, B))                                                              \
  X(findnonzerorows, A, (Mat A, IS * is), (A, is))                                                                                                           \
  X(getcolumnreductions, A, (Mat A, PetscInt type, PetscReal * r), (A, type, r))                                                                             \
  X(invertvariableblockdiagonal, A, (Mat A, PetscInt n, const PetscInt *s, PetscScalar *v), (A, n, s, v))                                                    \
  X(createsubmatricesmpi, A, (Mat A, PetscInt n, const IS r[], const IS c[], MatReuse reuse, Mat **B), (A, n, r, c, reuse, B))                               \
  X(transposecoloringcreate, A, (Mat A, ISColoring is, MatTransposeColoring t), (A, is, t))                                                                  \
  X(transcoloringapplysptoden, A, (MatTransposeColoring t, Mat A, Mat B), (t, A, B))                                                                         \
  X(transcoloringapplydentosp, A, (MatTransposeColoring t, Mat B, Mat A), (t, B, A))                                                                         \
  X(fdcoloringsetup, A, (Mat A, ISColoring is, MatFDColoring fd), (A, is, fd))                                                                               \
  X(findoffblockdiagonalentries, A, (Mat A, IS * is), (A, is))                                                                                               \
  X(creatempimatconcatenateseqmat, A, (MPI_Comm comm, Mat A, PetscInt n, MatReuse reuse, Mat * B), (comm, A, n, reuse, B))                                   \
  X(mattransposesolve, A, (Mat A, Mat B, Mat C), (A, B, C))                                                                                                  \
  X(getvalueslocal, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], PetscScalar v[]), (A, m, i, n, j, v))                         \
  X(creategraph, A, (Mat A, PetscBool sym, PetscBool scale, PetscReal filter, PetscInt n, PetscInt i[], Mat * B), (A, sym, scale, filter, n, i, B))          \
  X(transposesymbolic, A, (Mat A, Mat * B), (A, B))                                                                                                          \
  X(eliminatezeros, A, (Mat A, PetscBool keep), (A, keep))                                                                                                   \
  X(getrowsumabs, A, (Mat A, Vec v), (A, v))                                                                                                                 \
  X(getblockdiagonal, A, (Mat A, Mat * B), (A, B))                                                                                                           \
  X(getvblockdiagonal, A, (Mat A, Mat * B), (A, B))                                                                                                          \
  X(zerorowscolumnslocal, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))

#define VCRS_RETAKE(name, self, parameters, arguments)                          \
  static PetscErrorCode MatVCRSRetake_##name parameters                         \
  {                                                                             \
    PetscFunctionBegin;                                                         \
    PetscCall(MatVCRSMaterializeOperand_Private(self, "the operation " #name)); \
    PetscCall((*self->ops->name)arguments);                                     \
    PetscFunctionReturn(PETSC_SUCCESS);                                         \
  }
VCRS_RETAKEN(VCRS_RETAKE)

VCRS_RETAKE(sor, A, (Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec x),
            (A, b, omega, flag, shift, its, lits, x))

/*
   MATSEQAIJ has no operation of this name; MatGetOrdering() calls the operation before a factorisation reads the arrays
*/
static PetscErrorCode MatVCRSRetake_getordering(Mat A, MatOrderingType type, IS *r, IS *c)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "an ordering"));
  PetscCall(MatGetOrdering(A, type, r, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Composed functions that read the arrays: name in this file, PETSc's name, parameters, arguments. MatDuplicate()
   copies the list of composed functions. These functions therefore stay composed with a matrix, and the context of each
   matrix keeps the functions of its AIJ type.
*/
#define VCRS_RETAKEN_FUNCTIONS(X)                                                                                                                             \
  X(SetColumnIndices, "MatSeqAIJSetColumnIndices_C", (Mat A, PetscInt * j), (A, j))                                                                           \
  X(StoreValues, "MatStoreValues_C", (Mat A), (A))                                                                                                            \
  X(RetrieveValues, "MatRetrieveValues_C", (Mat A), (A))                                                                                                      \
  X(SeqSetPreallocation, "MatSeqAIJSetPreallocation_C", (Mat A, PetscInt n, const PetscInt nnz[]), (A, n, nnz))                                               \
  X(SeqSetPreallocationCSR, "MatSeqAIJSetPreallocationCSR_C", (Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar v[]), (A, i, j, v))           \
  X(MPISetPreallocation, "MatMPIAIJSetPreallocation_C", (Mat A, PetscInt d, const PetscInt dnnz[], PetscInt o, const PetscInt onnz[]), (A, d, dnnz, o, onnz)) \
  X(MPISetPreallocationCSR, "MatMPIAIJSetPreallocationCSR_C", (Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar v[]), (A, i, j, v))           \
  X(ResetPreallocation, "MatResetPreallocation_C", (Mat A), (A))                                                                                              \
  X(ResetHash, "MatResetHash_C", (Mat A), (A))                                                                                                                \
  X(ReorderForNonzeroDiagonal, "MatReorderForNonzeroDiagonal_C", (Mat A, PetscReal tol, IS r, IS c), (A, tol, r, c))                                          \
  X(DiagonalScaleLocal, "MatDiagonalScaleLocal_C", (Mat A, Vec v), (A, v))                                                                                    \
  X(ScalableIncreaseOverlap, "MatMPIAIJSetUseScalableIncreaseOverlap_C", (Mat A, PetscBool sc), (A, sc))                                                      \
  X(InodeGetInodeSizes, "MatInodeGetInodeSizes_C", (Mat A, PetscInt * n, PetscInt * sizes[], PetscInt * limit), (A, n, sizes, limit))                         \
  X(InodeAdjustForInodes, "MatInodeAdjustForInodes_C", (Mat A, IS * r, IS * c), (A, r, c))                                                                    \
  X(Kron, "MatSeqAIJKron_C", (Mat A, Mat B, MatReuse reuse, Mat * C), (A, B, reuse, C))                                                                       \
  X(IsTranspose, "MatIsTranspose_C", (Mat A, Mat B, PetscReal tol, PetscBool * flg), (A, B, tol, flg))                                                        \
  X(IsHermitianTranspose, "MatIsHermitianTranspose_C", (Mat A, Mat B, PetscReal tol, PetscBool * flg), (A, B, tol, flg))

#define VCRS_FUNCTION_INDEX(name, string, parameters, arguments) VCRS_FUNCTION_##name,
enum {
  VCRS_RETAKEN_FUNCTIONS(VCRS_FUNCTION_INDEX) VCRS_FUNCTIONS
};

/* Calls the AIJ type's own function */
#define VCRS_CALL_FUNCTION(name, string, parameters, arguments)                                \
  static PetscErrorCode MatVCRSCallFunction_##name parameters                                  \
  {                                                                                            \
    VCRSDrop *drop;                                                                            \
                                                                                               \
    PetscFunctionBegin;                                                                        \
    PetscCall(MatVCRSMaterializeOperand_Private(A, string));                                   \
    PetscCall(MatVCRSGetDrop_Private(A, &drop));                                               \
    PetscCall((*(PetscErrorCode(*) parameters)drop->function[VCRS_FUNCTION_##name])arguments); \
    PetscFunctionReturn(PETSC_SUCCESS);                                                        \
  }
VCRS_RETAKEN_FUNCTIONS(VCRS_CALL_FUNCTION)

/* The product A B of Kronecker, and comparisons, read the arrays of two matrices */
static PetscErrorCode MatVCRSCallFunction2_Kron(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(B, "MatSeqAIJKron()"));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSMaterializeOperand_Private(*C, "the result of MatSeqAIJKron()"));
  PetscCall(MatVCRSCallFunction_Kron(A, B, reuse, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc compares the blocks of parallel matrices in the same way */
static PetscErrorCode MatVCRSPrepareComparison_Private(Mat A, const char name[])
{
  PetscBool parallel;
  Mat       block[2];

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, name));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, &parallel));
  if (!parallel) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) PetscCall(MatVCRSComposeComparisons_Private(block[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCallFunction2_IsTranspose(Mat A, Mat B, PetscReal tol, PetscBool *flg)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSPrepareComparison_Private(A, "MatIsTranspose()"));
  PetscCall(MatVCRSPrepareComparison_Private(B, "MatIsTranspose()"));
  PetscCall(MatVCRSCallFunction_IsTranspose(A, B, tol, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCallFunction2_IsHermitianTranspose(Mat A, Mat B, PetscReal tol, PetscBool *flg)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSPrepareComparison_Private(A, "MatIsHermitianTranspose()"));
  PetscCall(MatVCRSPrepareComparison_Private(B, "MatIsHermitianTranspose()"));
  PetscCall(MatVCRSCallFunction_IsHermitianTranspose(A, B, tol, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCallFunction2_StoreValues(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSCallFunction_StoreValues(A));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  drop->stored = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VCRS_FUNCTION_ROW(name, string, parameters, arguments) {string, (PetscErrorCodeFn *)MatVCRSCallFunction_##name},
static const struct {
  const char       *name;
  PetscErrorCodeFn *call;
} VCRSFunctions[VCRS_FUNCTIONS] = {VCRS_RETAKEN_FUNCTIONS(VCRS_FUNCTION_ROW)};

static PetscErrorCode MatVCRSComposeFunction_Private(Mat A, int k, PetscErrorCodeFn *f)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (drop->function[k]) PetscCall(PetscObjectComposeFunction((PetscObject)A, VCRSFunctions[k].name, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc compares two matrices only if both have the same function. With arrays, a matrix has the function of AIJ, and
   can be compared with a MATAIJ. A matrix that may be without arrays has the function of this file.
*/
PetscErrorCode MatVCRSComposeComparisons_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSComposeFunction_Private(A, VCRS_FUNCTION_IsTranspose, (PetscErrorCodeFn *)MatVCRSCallFunction2_IsTranspose));
  PetscCall(MatVCRSComposeFunction_Private(A, VCRS_FUNCTION_IsHermitianTranspose, (PetscErrorCodeFn *)MatVCRSCallFunction2_IsHermitianTranspose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All operations of A first restore the arrays, except the operations that the plan serves */
PetscErrorCode MatVCRSRetakeInstall_Private(Mat A, PetscBool parallel)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
#define VCRS_INSTALL(name, self, parameters, arguments) \
  if (A->ops->name) A->ops->name = MatVCRSRetake_##name;
  VCRS_RETAKEN(VCRS_INSTALL)
#undef VCRS_INSTALL
  if (parallel) {
    /* both operations use the operations of the blocks, or do not read the blocks */
    A->ops->multdiagonalblock = drop->live.multdiagonalblock;
    A->ops->setunfactored     = drop->live.setunfactored;
  }
  if (!parallel || LitheMatHasGetOrdering(&drop->live)) LitheMatSetGetOrdering(A, MatVCRSRetake_getordering);
  PetscCall(MatVCRSComposeComparisons_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relaxation as well, if the plan cannot serve it */
PetscErrorCode MatVCRSRetakeInstallSOR_Private(Mat A)
{
  PetscFunctionBegin;
  A->ops->sor = MatVCRSRetake_sor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Operations with two matrices of which PETSc reads the arrays of the second: in the table of the class ---- */

static PetscErrorCode MatVCRSMaterializeBoth_Private(Mat A, Mat B, const char operation[])
{
  Mat_VCRS *a, *b;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &a));
  PetscCall(MatVCRSGetContext(B, &b));
  if (a && b) {
    PetscCall(MatVCRSMaterializeOperand_Private(A, operation));
    PetscCall(MatVCRSMaterializeOperand_Private(B, operation));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatAXPY_VCRS(Mat Y, PetscScalar a, Mat X, MatStructure str)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(Y, "MatAXPY()"));
  PetscCall(MatVCRSMaterializeOperand_Private(X, "MatAXPY()"));
  PetscCall(MatVCRSGetContext(Y, &ctx));
  PetscCall((*ctx->super.ops.axpy)(Y, a, X, str));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between matrices of other types PETSc uses MatGetRow() and MatSetValues() */
static PetscErrorCode MatCopy_VCRS(Mat A, Mat B, MatStructure str)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeBoth_Private(A, B, "MatCopy()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.copy)(A, B, str));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatEqual_VCRS(Mat A, Mat B, PetscBool *flg)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeBoth_Private(A, B, "MatEqual()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.equal)(A, B, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTranspose_VCRS(Mat A, MatReuse reuse, Mat *B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSMaterializeOperand_Private(*B, "the result of MatTranspose()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.transpose)(A, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A B^T of a MATAIJ A changes the type of B's symbolic transpose to the type of B. Only a MATAIJ keeps its arrays
   (docs/internals/petsc-defects.md)
*/
static PetscErrorCode MatTransposeSymbolic_SeqAIJVCRS(Mat A, Mat *B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.transposesymbolic)(A, B));
  PetscUseMethod(*B, "MatConvert_seqaijvcrs_seqaij_C", (Mat, MatType, MatReuse, Mat *), (*B, MATSEQAIJ, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_VCRS(Mat A, IS r, IS c, MatReuse reuse, Mat *B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSMaterializeOperand_Private(*B, "the result of MatCreateSubMatrix()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.createsubmatrix)(A, r, c, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_VCRS(Mat A, PetscInt n, const IS r[], const IS c[], MatReuse reuse, Mat *B[])
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) {
    for (PetscInt k = 0; k < n; k++) PetscCall(MatVCRSMaterializeOperand_Private((*B)[k], "the result of MatCreateSubMatrices()"));
  }
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheAIJCreateSubMatrices(A, ctx->super.ops.createsubmatrices, n, r, c, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a matrix of one process, or for the diagonal block, which may still be a MATSEQAIJ */
static PetscErrorCode MatInvertBlockDiagonal_VCRS(Mat A, const PetscScalar **values)
{
  VCRSDrop *drop;
  PetscBool parallel;
  Mat       local = A;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &local, NULL, NULL));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(LitheAIJInvertBlockDiagonal(local, &drop->ninverse, &drop->inverse));
  if (values) *values = drop->inverse;
  A->factorerrortype             = local->factorerrortype;
  A->factorerror_zeropivot_value = local->factorerror_zeropivot_value;
  A->factorerror_zeropivot_row   = local->factorerror_zeropivot_row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A MatFDColoring keeps addresses of values: from then on the arrays must stay */
static PetscErrorCode MatFDColoringCreate_VCRS(Mat A, ISColoring coloring, MatFDColoring fd)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall((*ctx->super.ops.fdcoloringcreate)(A, coloring, fd));
  drop->coloring = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFDColoringSetUp_VCRS(Mat A, ISColoring coloring, MatFDColoring fd)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall((*ctx->super.ops.fdcoloringsetup)(A, coloring, fd));
  drop->coloring = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A MatFDColoring set up before the matrix became a MATVCRS would write to freed memory */
static PetscErrorCode MatFDColoringApply_VCRS(Mat A, MatFDColoring fd, Vec x, void *s)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCheck(drop->coloring || !drop->given, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The MatFDColoring was set up with AIJ arrays that were given back since: create it from the matrix of type %s, or do not use -mat_vcrs_drop_aij",
             ((PetscObject)A)->type_name);
  PetscCall((*ctx->super.ops.fdcoloringapply)(A, fd, x, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Changes to the operations of AIJ, while arrays exist, for a matrix that may be dropped or may meet a dropped matrix
*/
PetscErrorCode MatVCRSComposeDrop_Private(Mat A, PetscBool parallel)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  A->ops->axpy                = MatAXPY_VCRS;
  A->ops->copy                = MatCopy_VCRS;
  A->ops->equal               = MatEqual_VCRS;
  A->ops->transpose           = MatTranspose_VCRS;
  A->ops->createsubmatrices   = MatCreateSubMatrices_VCRS;
  A->ops->fdcoloringcreate    = MatFDColoringCreate_VCRS;
  A->ops->fdcoloringsetup     = MatFDColoringSetUp_VCRS;
  A->ops->fdcoloringapply     = MatFDColoringApply_VCRS;
  A->ops->invertblockdiagonal = MatInvertBlockDiagonal_VCRS;
  if (parallel) A->ops->createsubmatrix = MatCreateSubMatrix_VCRS;
  else A->ops->transposesymbolic = MatTransposeSymbolic_SeqAIJVCRS;
  PetscCheck(VCRS_FUNCTIONS <= VCRS_MAXFUNCTIONS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Raise VCRS_MAXFUNCTIONS");
  for (int k = 0; k < VCRS_FUNCTIONS; k++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)A, VCRSFunctions[k].name, &drop->function[k]));
    if (k != VCRS_FUNCTION_IsTranspose && k != VCRS_FUNCTION_IsHermitianTranspose) PetscCall(MatVCRSComposeFunction_Private(A, k, VCRSFunctions[k].call));
  }
  PetscCall(MatVCRSComposeFunction_Private(A, VCRS_FUNCTION_StoreValues, (PetscErrorCodeFn *)MatVCRSCallFunction2_StoreValues));
  PetscCall(MatVCRSComposeFunction_Private(A, VCRS_FUNCTION_Kron, (PetscErrorCodeFn *)MatVCRSCallFunction2_Kron));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite, before A becomes an AIJ matrix; the operations are the caller's */
PetscErrorCode MatVCRSDecomposeDrop_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  for (int k = 0; k < VCRS_FUNCTIONS; k++) PetscCall(MatVCRSComposeFunction_Private(A, k, drop->function[k]));
  PetscCall(PetscObjectCompose((PetscObject)A, VCRS_DROP_CONTAINER, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
