/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Functions shared by the matrix classes that are MATSEQAIJ and MATMPIAIJ with other products: names of composed
   conversions and products, conversion, and values in device memory.
*/

#include <lithe/private/litheaij.h>
#include <lithe/private/litheimpl.h>
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

/* ---- Conversions ---- */

/* The MATSEQAIJ of a relative. PETSc has no direct conversion for most relatives, and MatConvert_Basic() is slow */
static PetscErrorCode LitheAIJCreateSeqAIJ_Private(Mat A, Mat *aij)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          done;
  Mat                B;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetBlockSizesFromMats(B, A, A));
  PetscCall(MatSetType(B, MATSEQAIJ));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not give its rows: convert the matrix to MATAIJ first",
             ((PetscObject)A)->type_name);
  PetscCall(MatSeqAIJSetPreallocationCSR(B, i, j, a));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  *aij = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a block, which may have no rows; no option of the program applies to the block */
static PetscErrorCode LitheAIJCopyBlock_Private(Mat block, Mat *aij)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  if (block->rmap->n) ierr = LitheAIJCreateSeqAIJ_Private(block, aij);
  else {
    ierr = MatCreateSeqAIJ(PETSC_COMM_SELF, 0, block->cmap->n, 0, NULL, aij);
    if (!ierr) ierr = MatSetBlockSizesFromMats(*aij, block, block);
    if (!ierr) ierr = MatSetOption(*aij, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE); /* as in other blocks, or the assembly would differ between processes */
    if (!ierr) ierr = MatAssemblyBegin(*aij, MAT_FINAL_ASSEMBLY);
    if (!ierr) ierr = MatAssemblyEnd(*aij, MAT_FINAL_ASSEMBLY);
  }
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The MATMPIAIJ of a relative, block by block: MatConvert_Basic() would insert row by row */
static PetscErrorCode LitheAIJCreateMPIAIJ_Private(Mat A, Mat *aij)
{
  const PetscInt *garray;
  PetscInt        nghosts, *columns;
  Mat             block[2], copy[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], &garray));
  nghosts = block[1]->cmap->n;
  for (int k = 0; k < 2; k++) PetscCall(LitheAIJCopyBlock_Private(block[k], &copy[k]));
  PetscCall(PetscMalloc1(nghosts + 1, &columns)); /* NULL would have PETSc look for ghost columns */
  PetscCall(PetscArraycpy(columns, garray, nghosts));
  PetscCall(MatCreateMPIAIJWithSeqAIJ(PetscObjectComm((PetscObject)A), A->rmap->N, A->cmap->N, copy[0], copy[1], columns, aij));
  PetscCall(MatSetOption(*aij, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A relative of AIJ (on the GPU, for example) is converted by way of AIJ, and so is a dense matrix, of which AIJ stores
   the nonzeros. Vectors keep their type
*/
PetscErrorCode LitheAIJConvertStart(Mat A, MatType base, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  PetscBool isbase, isseq, ismpi, isdense;
  char     *vectype;
  Mat       aij;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, base, &isbase));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &isseq));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ismpi, MATMPIAIJCUSPARSE, MATMPIAIJPERM, MATMPIAIJSELL, MATMPIAIJCRL, ""));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &isdense, MATSEQDENSE, MATMPIDENSE, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
    if (isdense) PetscCall(MatConvert(A, base, MAT_INITIAL_MATRIX, &aij));
    PetscCall(MatCopy(isdense ? aij : A, *newmat, DIFFERENT_NONZERO_PATTERN));
    if (isdense) PetscCall(MatDestroy(&aij));
    *done = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrallocpy(A->defaultvectype, &vectype));
  if (reuse == MAT_INITIAL_MATRIX) {
    if (isbase) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, newmat));
    else if (isseq && A->assembled && A->rmap->n > 0) PetscCall(LitheAIJCreateSeqAIJ_Private(A, newmat));
    else if (ismpi && A->assembled) PetscCall(LitheAIJCreateMPIAIJ_Private(A, newmat));
    else PetscCall(MatConvert(A, base, MAT_INITIAL_MATRIX, newmat));
  } else if (!isbase) PetscCall(MatConvert(A, base, MAT_INPLACE_MATRIX, newmat));
  if (vectype) PetscCall(MatSetVecType(*newmat, vectype));
  PetscCall(PetscFree(vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheAIJConvertBackStart(Mat A, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *newmat, DIFFERENT_NONZERO_PATTERN));
    *done = PETSC_TRUE;
  } else if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, newmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Conversions that only functions of AIJ do as users of PETSc expect. MatConvert_Basic() silently takes the upper
   triangle of a nonsymmetric matrix, and all rows of a MATIS
*/
static PetscErrorCode LitheAIJConvertThroughAIJ_Private(Mat A, MatType type, MatReuse reuse, Mat *newmat)
{
  PetscErrorCode ierr;
  Mat            B, C = reuse == MAT_REUSE_MATRIX ? *newmat : NULL;

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatPropagateSymmetryOptions(A, B));
  ierr = MatConvert(B, type, reuse == MAT_INPLACE_MATRIX ? MAT_INITIAL_MATRIX : reuse, &C);
  PetscCall(MatDestroy(&B));
  PetscCall(ierr); /* the matrix is not symmetric, say */
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatHeaderReplace(A, &C));
  else *newmat = C;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheAIJComposeConversions(Mat B, const char base[], const char to[], const char root[], const char aijroot[], LitheAIJConvertFn *forth,
                                          LitheAIJConvertFn *back)
{
  static const char *const relatives[] = {"aij", "aijcusparse", "aijkokkos", "aijperm", "aijsell", "aijcrl", "aijmkl", "dense", "densecuda"};
  const char *const        names[]     = {to, root, aijroot};
  static const struct {
    const char *name;
    PetscBool   prefixed;
  } through[] = {{"sbaij", PETSC_TRUE}, {"baij", PETSC_TRUE}, {"sell", PETSC_TRUE}, {"is", PETSC_FALSE}};
  char name[256];

  PetscFunctionBegin;
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(relatives); r++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
      /* "seq" or "mpi", as the base type begins */
      PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%.3s%s_%s_C", base, relatives[r], names[k]));
      PetscCall(PetscObjectComposeFunction((PetscObject)B, name, forth));
    }
  }
  PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%s_C", to, base));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, name, back));
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(through); r++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "MatConvert_%s_%.*s%s_C", to, through[r].prefixed ? 3 : 0, base, through[r].name));
    PetscCall(PetscObjectComposeFunction((PetscObject)B, name, back ? LitheAIJConvertThroughAIJ_Private : NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Submatrices ---- */

PetscErrorCode LitheAIJCreateSubMatrices(Mat A, PetscErrorCode (*super)(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]), PetscInt n, const IS rows[],
                                         const IS columns[], MatReuse reuse, Mat *B[])
{
  PetscFunctionBegin;
  PetscCall((*super)(A, n, rows, columns, reuse, B));
  if (reuse == MAT_REUSE_MATRIX) {
    for (PetscInt k = 0; k < n; k++) PetscCall(PetscObjectStateIncrease((PetscObject)(*B)[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Diagonal blocks ---- */

/*
   PCPBJACOBI keeps a pointer to the inverse blocks. AIJ stores these blocks beside its arrays, and may free both
   together. PETSc 3.25 never recomputes the blocks, either. The inverse blocks are therefore computed by a separate
   matrix that contains only the diagonal blocks, filled by rows. This also works for a matrix without arrays.
*/
PetscErrorCode LitheAIJInvertBlockDiagonal(Mat A, PetscInt *size, PetscScalar **inverse)
{
  const PetscInt     m = A->rmap->n, bs = PetscAbs(A->rmap->bs);
  const PetscInt    *columns;
  const PetscScalar *values, *own;
  PetscInt           n;
  Mat                blocks;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, m, bs, NULL, &blocks));
  PetscCall(MatSetBlockSize(blocks, bs));
  PetscCall(MatSetOptionsPrefix(blocks, "lithe_blocks_")); /* -mat_view is not meant for this matrix */
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt begin = i / bs * bs;

    PetscCall(MatGetRow(A, i, &n, &columns, &values));
    for (PetscInt k = 0; k < n; k++) {
      if (columns[k] >= begin && columns[k] < begin + bs) PetscCall(MatSetValue(blocks, i, columns[k], values[k], INSERT_VALUES));
    }
    PetscCall(MatRestoreRow(A, i, &n, &columns, &values));
  }
  PetscCall(MatAssemblyBegin(blocks, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(blocks, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetErrorIfFailure(blocks, A->erroriffailure));
  PetscCall(MatInvertBlockDiagonal(blocks, &own));
  if (*size != m * bs) {
    PetscCall(PetscFree(*inverse));
    PetscCall(PetscMalloc1(m * bs, inverse));
    *size = m * bs;
  }
  PetscCall(PetscArraycpy(*inverse, own, m * bs));
  PetscCall(MatFactorGetError(blocks, &A->factorerrortype));
  PetscCall(MatFactorGetErrorZeroPivot(blocks, &A->factorerror_zeropivot_value, &A->factorerror_zeropivot_row));
  PetscCall(MatDestroy(&blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Products ---- */

/* The name of a factor's type in AIJ's products */
static PetscErrorCode LitheAIJGetBaseName_Private(Mat A, const char **name, PetscBool *isaij)
{
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &seq, MATSEQAIJVCRS, MATSEQAIJHYBMGPU, MATSEQAIJ, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &mpi, MATMPIAIJVCRS, MATMPIAIJHYBMGPU, MATMPIAIJ, ""));
  *isaij = (PetscBool)(seq || mpi);
  *name  = seq ? MATSEQAIJ : (mpi ? MATMPIAIJ : ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   MatProductSetFromOptions() looks for a function composed under the names of the factors' types, then for a function
   composed for any type. The types of this family compose the latter. The function continues as PETSc would for AIJ
   factors.
*/
PetscErrorCode LitheAIJProductSetFromOptions(Mat D, PetscErrorCode (*super)(Mat))
{
  Mat_Product *product   = D->product;
  const int    n         = product->type == MATPRODUCT_ABC ? 3 : 2;
  const Mat    factor[3] = {product->A, product->B, product->C};
  const char  *name[3];
  char         mtypes[256];
  PetscBool    isaij[3], all = PETSC_TRUE;
  PetscErrorCode (*f)(Mat) = NULL;

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    PetscCall(LitheAIJGetBaseName_Private(factor[k], &name[k], &isaij[k]));
    all = (PetscBool)(all && isaij[k]);
  }
  if (all) {
    if (super) PetscCall((*super)(D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(mtypes, sizeof(mtypes), "MatProductSetFromOptions_%s_%s%s%s_C", name[0], name[1], n == 3 ? "_" : "", n == 3 ? name[2] : ""));
  for (int k = 0; k < n && !f; k++) PetscCall(PetscObjectQueryFunction((PetscObject)factor[k], mtypes, &f));
  if (f) PetscCall((*f)(D));
  if (D->ops->productsymbolic) PetscFunctionReturn(PETSC_SUCCESS);
  f = NULL;
  for (int k = 0; k < n && !f; k++) {
    if (!isaij[k]) PetscCall(PetscObjectQueryFunction((PetscObject)factor[k], LITHE_PRODUCT_ANYTYPE, &f));
  }
  if (f) PetscCall((*f)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Values in the memory of a device ---- */

PetscErrorCode LitheAIJSetValuesCOO(Mat A, PetscErrorCode (*super)(Mat, const PetscScalar[], InsertMode), PETSC_UNUSED PetscCount n, const PetscScalar v[],
                                    InsertMode mode)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  {
    PetscMemType mtype;

    PetscCall(PetscGetMemType(v, &mtype));
    if (PetscMemTypeDevice(mtype)) {
      PetscScalar *host;

      PetscCall(PetscMalloc1(n, &host));
      PetscCallCUDA(cudaMemcpy(host, v, (size_t)n * sizeof(PetscScalar), cudaMemcpyDeviceToHost));
      PetscCall(PetscLogGpuToCpu((PetscLogDouble)n * sizeof(PetscScalar)));
      PetscCall((*super)(A, host, mode));
      PetscCall(PetscFree(host));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall((*super)(A, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Ghosts ---- */

PetscErrorCode LitheAIJGetGhostVector(PetscInt n, PetscBool device, Vec *v)
{
  VecType   type  = device ? VECSEQCUDA : VECSEQ;
  PetscInt  size  = -1;
  PetscBool match = PETSC_FALSE;

  PetscFunctionBegin;
  if (*v) {
    PetscCall(PetscObjectTypeCompare((PetscObject)*v, type, &match));
    PetscCall(VecGetSize(*v, &size));
  }
  if (match && size == n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(v));
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetType(*v, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}
