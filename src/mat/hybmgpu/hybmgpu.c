/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATHYBMGPU: a MATSEQAIJ or MATMPIAIJ that multiplies on a device from a copy in another format. Creation, conversions
   and all operations other than products.

   The object's data is a true Mat_SeqAIJ or Mat_MPIAIJ, and all operations of MATAIJ work; the products are replaced.
   The context lies in a container composed with the object (context.c): code that swaps headers carries the context
   along.
*/

#include "hybmgpuimpl.h"

static LitheAIJConvertFn MatConvert_SeqAIJ_SeqAIJHYBMGPU, MatConvert_SeqAIJHYBMGPU_SeqAIJ, MatConvert_MPIAIJ_MPIAIJHYBMGPU, MatConvert_MPIAIJHYBMGPU_MPIAIJ;
static PetscErrorCode    MatHYBMGPUDetach_Private(Mat);

static PetscErrorCode MatSetFromOptions_HYBMGPU(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  if (ctx->super.setfromoptions) PetscCall((*ctx->super.setfromoptions)(A, PetscOptionsObject));
  PetscCall(MatHYBMGPUSetFromOptions_Private(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The AIJ type's own duplicate makes a matrix of the type's name, which comes here; options are then copied */
static PetscErrorCode MatDuplicate_HYBMGPU(Mat A, MatDuplicateOption op, Mat *B)
{
  Mat_HYBMGPU *a, *b;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &a));
  PetscCall((*a->super.duplicate)(A, op, B));
  PetscCall(MatHYBMGPUGetContext(*B, &b));
  b->coocount = a->coocount;
  PetscCall(MatHYBMGPUSetOptions_Private(*B, &a->opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrices_HYBMGPU(Mat A, PetscInt n, const IS rows[], const IS columns[], MatReuse reuse, Mat *B[])
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(LitheAIJCreateSubMatrices(A, ctx->super.createsubmatrices, n, rows, columns, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A B^T of a MATAIJ A changes the type of B's symbolic transpose to B's type. Only MATAIJ keeps its arrays then
   (docs/internals/petsc-defects.md) */
static PetscErrorCode MatTransposeSymbolic_SeqAIJHYBMGPU(Mat A, Mat *B)
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall((*ctx->super.transposesymbolic)(A, B));
  PetscCall(MatHYBMGPUDetach_Private(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A parallel matrix has the inverses of its diagonal block, of which PETSc 3.24 and 3.25 keep the first version */
static PetscErrorCode MatInvertBlockDiagonal_HYBMGPU(Mat A, const PetscScalar **values)
{
  Mat_HYBMGPU *ctx;
  Mat          local = A;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  if (ctx->parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &local, NULL, NULL));
  PetscCall(LitheAIJInvertBlockDiagonal(local, &ctx->ninverse, &ctx->inverse));
  if (values) *values = ctx->inverse;
  A->factorerrortype             = local->factorerrortype;
  A->factorerror_zeropivot_value = local->factorerror_zeropivot_value;
  A->factorerror_zeropivot_row   = local->factorerror_zeropivot_row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetValuesCOO_HYBMGPU(Mat A, const PetscScalar v[], InsertMode mode)
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(LitheAIJSetValuesCOO(A, ctx->setvaluescoo, ctx->coocount, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetPreallocationCOO_HYBMGPU(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  ctx->coocount = n;
  PetscCall((*ctx->setpreallocationcoo)(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A product with a factor of another type is a product of AIJ. A MATVCRS among the factors takes the product over,
   because the MATVCRS may be without AIJ arrays
*/
static PetscErrorCode MatProductSetFromOptions_HYBMGPU(Mat D)
{
  Mat          factor[3] = {D->product->A, D->product->B, D->product->type == MATPRODUCT_ABC ? D->product->C : NULL};
  Mat_HYBMGPU *ctx       = NULL;

  PetscFunctionBegin;
  MatCheckProduct(D, 1);
  for (int k = 0; k < 3 && factor[k]; k++) {
    PetscBool isvcrs;
    PetscErrorCode (*f)(Mat);

    PetscCall(PetscObjectTypeCompareAny((PetscObject)factor[k], &isvcrs, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
    if (!isvcrs) continue;
    PetscCall(PetscObjectQueryFunction((PetscObject)factor[k], LITHE_PRODUCT_ANYTYPE, &f));
    PetscCall((*f)(D));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < 3 && factor[k] && !ctx; k++) PetscCall(MatHYBMGPUGetContext(factor[k], &ctx));
  PetscCall(LitheAIJProductSetFromOptions(D, ctx ? ctx->super.productsetfromoptions : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Functions composed under names that contain the type; NULL removes the functions */
static PetscErrorCode MatHYBMGPUComposeNames_Private(Mat B, PetscBool parallel, PetscBool make)
{
  PetscFunctionBegin;
  if (parallel)
    PetscCall(LitheAIJComposeConversions(B, MATMPIAIJ, MATMPIAIJHYBMGPU, MATHYBMGPU, MATAIJHYBMGPU, make ? MatConvert_MPIAIJ_MPIAIJHYBMGPU : NULL,
                                         make ? MatConvert_MPIAIJHYBMGPU_MPIAIJ : NULL));
  else
    PetscCall(LitheAIJComposeConversions(B, MATSEQAIJ, MATSEQAIJHYBMGPU, MATHYBMGPU, MATAIJHYBMGPU, make ? MatConvert_SeqAIJ_SeqAIJHYBMGPU : NULL,
                                         make ? MatConvert_SeqAIJHYBMGPU_SeqAIJ : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, LITHE_PRODUCT_ANYTYPE, make ? MatProductSetFromOptions_HYBMGPU : NULL));
  if (!make) {
    PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStep_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStepLeavesOut_C", NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc requires that composed functions are removed before the matrix is destroyed (-checkfunctionlist). The
   destructors of the AIJ types are stored here, not in the context: MatHeaderMerge() calls this destructor after it has
   removed all composed objects and the name of the type.
*/
static PetscErrorCode (*MatDestroyBase[2])(Mat);

static PetscErrorCode MatHYBMGPUDestroy_Private(Mat A, PetscBool parallel)
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  if (ctx) PetscCall(MatHYBMGPUComposeNames_Private(A, parallel, PETSC_FALSE));
  PetscCall((*MatDestroyBase[parallel ? 1 : 0])(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqAIJHYBMGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUDestroy_Private(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPIAIJHYBMGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUDestroy_Private(A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B, of the base type, a MATHYBMGPU: the context, which keeps B's operations, the new operations, composed
   functions, the type's name, and the options */
static PetscErrorCode MatHYBMGPUAttach_Private(Mat B)
{
  Mat_HYBMGPU *ctx;
  PetscBool    parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJ, &parallel));
  PetscCall(PetscNew(&ctx));
  PetscCall(HybOptionsDefault(&ctx->opt));
  ctx->parallel = parallel;
  ctx->super    = *B->ops;
  PetscCall(MatHYBMGPUReset_Seq(ctx));
  PetscCall(MatHYBMGPUReset_MPI(ctx));

  MatDestroyBase[parallel ? 1 : 0] = ctx->super.destroy;
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "MatSetPreallocationCOO_C", &ctx->setpreallocationcoo));
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "MatSetValuesCOO_C", &ctx->setvaluescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetPreallocationCOO_C", MatSetPreallocationCOO_HYBMGPU));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetValuesCOO_C", MatSetValuesCOO_HYBMGPU));
  PetscCall(MatHYBMGPUSetContext_Private(B, ctx));
#if defined(LITHE_HAVE_CUDA)
  B->boundtocpu = PETSC_FALSE; /* a new matrix is bound to the CPU until its type changes the flag */
#endif

  PetscCall(MatHYBMGPUSetProducts_Private(B));
  B->ops->duplicate           = MatDuplicate_HYBMGPU;
  B->ops->createsubmatrices   = MatCreateSubMatrices_HYBMGPU;
  B->ops->view                = MatView_HYBMGPU;
  B->ops->setfromoptions      = MatSetFromOptions_HYBMGPU;
  B->ops->invertblockdiagonal = MatInvertBlockDiagonal_HYBMGPU;
  if (!parallel) B->ops->transposesymbolic = MatTransposeSymbolic_SeqAIJHYBMGPU;
  B->ops->destroy = parallel ? MatDestroy_MPIAIJHYBMGPU : MatDestroy_SeqAIJHYBMGPU;
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, parallel ? MATMPIAIJHYBMGPU : MATSEQAIJHYBMGPU));
  PetscCall(MatHYBMGPUComposeNames_Private(B, parallel, PETSC_TRUE));

  PetscObjectOptionsBegin((PetscObject)B);
  PetscCall(MatHYBMGPUSetFromOptions_Private(B, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite */
static PetscErrorCode MatHYBMGPUDetach_Private(Mat B)
{
  Mat_HYBMGPU *ctx;
  PetscBool    parallel;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(B, &ctx));
  parallel = ctx->parallel;
  PetscCall(MatHYBMGPUComposeNames_Private(B, parallel, PETSC_FALSE));
  *B->ops = ctx->super;
#if defined(LITHE_HAVE_CUDA)
  B->boundtocpu = PETSC_TRUE;
#endif
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetPreallocationCOO_C", ctx->setpreallocationcoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetValuesCOO_C", ctx->setvaluescoo));
  PetscCall(MatHYBMGPUSetContext_Private(B, NULL));
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, parallel ? MATMPIAIJ : MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_SeqAIJ_SeqAIJHYBMGPU(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(LitheAIJConvertStart(A, MATSEQAIJ, reuse, newmat, &done));
  if (!done) PetscCall(MatHYBMGPUAttach_Private(*newmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_SeqAIJHYBMGPU_SeqAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(LitheAIJConvertBackStart(A, reuse, newmat, &done));
  if (!done) PetscCall(MatHYBMGPUDetach_Private(*newmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   operations of MATMPIAIJ call the block's products (SOR, for example): the block must have the type of this class
   afterwards
*/
static PetscErrorCode MatAssemblyEnd_MPIAIJHYBMGPU(Mat A, MatAssemblyType type)
{
  Mat_HYBMGPU *ctx;
  Mat          Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall((*ctx->super.assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY && !A->hash_active) PetscCall(MatHYBMGPUGetBlocks_Private(A, &Ad, &Ao));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_MPIAIJ_MPIAIJHYBMGPU(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(LitheAIJConvertStart(A, MATMPIAIJ, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHYBMGPUAttach_Private(*newmat));
  (*newmat)->ops->assemblyend = MatAssemblyEnd_MPIAIJHYBMGPU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_MPIAIJHYBMGPU_MPIAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  Mat       block;
  PetscBool done, ours;

  PetscFunctionBegin;
  PetscCall(LitheAIJConvertBackStart(A, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*newmat)->preallocated) {
    PetscCall(MatMPIAIJGetSeqAIJ(*newmat, &block, NULL, NULL));
    PetscCall(PetscObjectTypeCompare((PetscObject)block, MATSEQAIJHYBMGPU, &ours));
    if (ours) PetscCall(MatHYBMGPUDetach_Private(block));
  }
  PetscCall(MatHYBMGPUDetach_Private(*newmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_SeqAIJHYBMGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatConvert_SeqAIJ_SeqAIJHYBMGPU(A, MATSEQAIJHYBMGPU, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJHYBMGPU(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatConvert_MPIAIJ_MPIAIJHYBMGPU(A, MATMPIAIJHYBMGPU, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATHYBMGPU - "hybmgpu" - A sparse matrix for products on several GPUs, as ELL and COO, slices or rows, with the
   fewest bytes. Entries of vectors travel from GPU to GPU while interior rows are multiplied

   Options Database Keys:
+ -mat_type hybmgpu                             - sets the type of the matrix
. -mat_hybmgpu_format <auto,hyb,sell,csr,vcrs> - the storage format, see `MatHYBMGPUFormat`
. -mat_hybmgpu_width <n>                       - entries per row in the columns of hyb; -1, the default, for the choice
    by the split
. -mat_hybmgpu_split <bytes,cusp>              - the choice of the width if no width is given, see `MatHYBMGPUSplit`
. -mat_hybmgpu_sigma <n>                       - sell sorts rows by length in windows of n rows; 1 for no sorting, -1
    for the default
. -mat_hybmgpu_reorder <none,rcm>              - the order of rows in products, see `MatHYBMGPUReorder`
. -mat_hybmgpu_transport <auto,ipc,nccl,mpi>   - transport of entries of vectors, see `LitheTransport`
. -lithe_halo_timeout <60>                     - all matrices: seconds that the transport ipc waits for a silent process
. -lithe_halo_overlap <32768>                  - all matrices: least bytes that ipc sends beside the product; -1: never
- -mat_view ::ascii_info                        - prints format, width, padding, bytes, neighbours and transport

   Level: beginner

   Notes:
   In every other respect the matrix is a `MATAIJ`: assembly, factorization, products and conversions are the same.
   Rows are distributed as for any `MATMPIAIJ`; use one process per GPU.

   A product runs on the GPU if all vectors are CUDA vectors (`-vec_type cuda`, `-dm_vec_type cuda` or `-mat_vec_type
   cuda`). With host vectors, or a mix, a product runs on the host.

   If a transport is not possible, the next product raises an error on all processes. `LITHE_TRANSPORT_AUTO` takes the
   first possible transport. Transposed products always use `LITHE_TRANSPORT_MPI`.

   By default the format sell sorts rows if threads would wait more than half of the time for the longest row of their
   slice.

   Vectors keep their order with -mat_hybmgpu_reorder. Only the order of rows in a product changes, and thereby the
   contents of caches. To move rows between processes use `MatHYBMGPURepartition()`, which changes the order of vectors.

   The first product after a change of the pattern makes the format. New values in the same pattern are only copied. The
   first product with the transpose on a GPU makes a second copy, of the transpose.

.seealso: `MatHYBMGPUSetFormat()`, `MatHYBMGPUGetInfo()`, `MatHYBMGPURepartition()`, `MATVCRS`, `MATAIJ`
M*/
