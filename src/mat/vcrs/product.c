/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products of a MATVCRS with other matrices.

   With dense matrices, A B and A^T B are computed from the compressed form, in one sweep over the matrix for all
   columns. The product runs on the device if both dense matrices are on the device. In parallel, the rows of B on other
   processes travel while the diagonal block is multiplied.

   AIJ makes all other products, and reads the AIJ arrays of the factors. The arrays are restored first, in the symbolic
   phase and before each numeric phase.

   By default PETSc makes a product of three factors from two products of two factors. The numeric phase of the second
   product is then called by the function of its type, matmultnumeric for example, with separate factors and without
   productnumeric.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <petsc/private/sfimpl.h>

#define VCRS_PRODUCT_CONTAINER "Lithe_MatProductVCRS"

/* The phases of the product of AIJ */
typedef struct {
  PetscErrorCode (*symbolic)(Mat);
  PetscErrorCode (*numeric)(Mat);
  PetscErrorCode (*matmult)(Mat, Mat, Mat);
  PetscErrorCode (*transposematmult)(Mat, Mat, Mat);
  PetscErrorCode (*mattransposemult)(Mat, Mat, Mat);
} VCRSProduct;

static PetscErrorCode VCRSProductDestroy_Private(PetscCtxRt data)
{
  VCRSProduct *p = *(VCRSProduct **)data;

  PetscFunctionBegin;
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSGetProduct_Private(Mat D, VCRSProduct **p)
{
  PetscFunctionBegin;
  *p = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)D, VCRS_PRODUCT_CONTAINER, p));
  if (!*p) {
    PetscCall(PetscNew(p));
    PetscCall(PetscObjectContainerCompose((PetscObject)D, VCRS_PRODUCT_CONTAINER, *p, VCRSProductDestroy_Private));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSMaterializeFactors_Private(Mat D)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(D->product->A, "a product"));
  PetscCall(MatVCRSMaterializeOperand_Private(D->product->B, "a product"));
  PetscCall(MatVCRSMaterializeOperand_Private(D->product->C, "a product"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_VCRS(Mat D)
{
  VCRSProduct *p;

  PetscFunctionBegin;
  MatCheckProduct(D, 1);
  PetscCall(MatVCRSGetProduct_Private(D, &p));
  PetscCheck(p->numeric, PetscObjectComm((PetscObject)D), PETSC_ERR_PLIB, "The numeric phase of a product with a matrix of type %s was not set up",
             ((PetscObject)D->product->A)->type_name);
  PetscCall(MatVCRSMaterializeFactors_Private(D));
  PetscCall((*p->numeric)(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numeric phase of a product of two factors, by name in the table of operations */
#define VCRS_PRODUCT_NUMERIC(name)                                         \
  static PetscErrorCode MatProductNumeric_VCRS_##name(Mat A, Mat B, Mat D) \
  {                                                                        \
    VCRSProduct *p;                                                        \
                                                                           \
    PetscFunctionBegin;                                                    \
    PetscCall(MatVCRSGetProduct_Private(D, &p));                           \
    PetscCall(MatVCRSMaterializeOperand_Private(A, "a product"));          \
    PetscCall(MatVCRSMaterializeOperand_Private(B, "a product"));          \
    PetscCall((*p->name)(A, B, D));                                        \
    PetscFunctionReturn(PETSC_SUCCESS);                                    \
  }
VCRS_PRODUCT_NUMERIC(matmult)
VCRS_PRODUCT_NUMERIC(transposematmult)
VCRS_PRODUCT_NUMERIC(mattransposemult)

#define VCRS_PRODUCT_REPLACE(D, p, name)                                                       \
  do {                                                                                         \
    if ((D)->ops->name##numeric && (D)->ops->name##numeric != MatProductNumeric_VCRS_##name) { \
      (p)->name               = (D)->ops->name##numeric;                                       \
      (D)->ops->name##numeric = MatProductNumeric_VCRS_##name;                                 \
    }                                                                                          \
  } while (0)

static PetscErrorCode MatProductSymbolic_VCRS(Mat D)
{
  VCRSProduct *p;
  PetscErrorCode (*symbolic)(Mat);

  PetscFunctionBegin;
  MatCheckProduct(D, 1);
  PetscCall(MatVCRSGetProduct_Private(D, &p));
  PetscCall(MatVCRSMaterializeFactors_Private(D));
  symbolic                = p->symbolic;
  D->ops->productsymbolic = symbolic;
  PetscCall((*symbolic)(D));

  /* Asked for again, because the symbolic phase may have replaced all of D */
  if (D->ops->productnumeric && D->ops->productnumeric != MatProductNumeric_VCRS) {
    PetscCall(MatVCRSGetProduct_Private(D, &p));
    p->symbolic             = symbolic;
    p->numeric              = D->ops->productnumeric;
    D->ops->productnumeric  = MatProductNumeric_VCRS;
    D->ops->productsymbolic = MatProductSymbolic_VCRS;
    VCRS_PRODUCT_REPLACE(D, p, matmult);
    VCRS_PRODUCT_REPLACE(D, p, transposematmult);
    VCRS_PRODUCT_REPLACE(D, p, mattransposemult);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Dense factors ---- */

/* Data that A B and A^T B of a parallel A keep between numeric phases */
typedef struct {
  PetscInt nbatch;  /* columns per exchange */
  PetscInt lda;     /* of the parallel dense matrix of sf */
  PetscSF  sf, sf1; /* for nbatch columns, and for the remaining columns */
  Mat      ghost;   /* ghost rows of B for these columns, or the off-diagonal block's part of A^T B */
} VCRSProductDense;

static PetscErrorCode VCRSProductDenseReset_Private(VCRSProductDense *d)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&d->sf));
  PetscCall(PetscSFDestroy(&d->sf1));
  PetscCall(MatDestroy(&d->ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSProductDenseDestroy_Private(PetscCtxRt data)
{
  VCRSProductDense *d = *(VCRSProductDense **)data;

  PetscFunctionBegin;
  PetscCall(VCRSProductDenseReset_Private(d));
  PetscCall(PetscFree(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

LITHE_MATPRODUCT_DESTROY(VCRSProductDenseDestroy_Private)

static PetscErrorCode MatVCRSDenseOnDevice_Private(Mat B, PetscBool *device)
{
  PetscFunctionBegin;
  *device = PETSC_FALSE;
#if defined(LITHE_HAVE_CUDA)
  if (!B->boundtocpu) PetscCall(PetscObjectTypeCompareAny((PetscObject)B, device, MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
#else
  (void)B;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C(:, c0:c0+n) (+)= op(A) B(:, b0:b0+n) of a sequential A and the local parts of B and C */
static PetscErrorCode MatVCRSMultDense_Private(Mat A, VCRSOp op, Mat B, PetscInt b0, PetscInt n, PetscBool add, Mat C, PetscInt c0)
{
  Mat_VCRS          *ctx;
  const VCRSPlan    *plan;
  const PetscScalar *b;
  PetscScalar       *c;
  PetscInt           ldb, ldc;
  PetscBool          bdevice, cdevice;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCompress(A)); /* of a block of a parallel matrix MatAXPY() may have changed the entries */
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(C, &ldc));
  PetscCall(MatVCRSDenseOnDevice_Private(B, &bdevice));
  PetscCall(MatVCRSDenseOnDevice_Private(C, &cdevice));
#if defined(LITHE_HAVE_CUDA)
  if (bdevice && cdevice && !A->boundtocpu) {
    PetscCall(MatVCRSUpload_Private(A));
    PetscCall(MatDenseGetArrayReadAndMemType(B, &b, NULL));
    /* columns outside of this range are kept: read access is needed */
    PetscCall(MatDenseGetArrayAndMemType(C, &c, NULL));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(LitheCUDAVCRSMult(ctx->plans.host, ctx->plans.device, op, n, b + (size_t)b0 * ldb, ldb, add ? c + (size_t)c0 * ldc : NULL, ldc,
                                c + (size_t)c0 * ldc, ldc));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)n * (PetscLogDouble)ctx->plans.host->nz));
    PetscCall(MatDenseRestoreArrayAndMemType(C, &c));
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatVCRSGetProductPlan_Private(A, &plan));
  PetscCall(MatDenseGetArrayRead(B, &b));
  PetscCall(MatDenseGetArray(C, &c));
  PetscCall(VCRSPlanMult(plan, op, n, PetscSafePointerPlusOffset(b, (size_t)b0 * ldb), ldb, add ? PetscSafePointerPlusOffset(c, (size_t)c0 * ldc) : NULL, ldc,
                         PetscSafePointerPlusOffset(c, (size_t)c0 * ldc), ldc));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)n * (PetscLogDouble)plan->nz));
  PetscCall(MatDenseRestoreArray(C, &c));
  PetscCall(MatDenseRestoreArrayRead(B, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of MATAIJ with dense matrices do not obey -mat_view */
static PetscErrorCode MatVCRSAssembleProduct_Private(Mat D)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY);
  if (!ierr) ierr = MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_SeqAIJVCRS_Dense(Mat A, VCRSOp op, Mat B, Mat D)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSCompress(A));
  PetscCall(MatVCRSMultDense_Private(A, op, B, 0, B->cmap->N, PETSC_FALSE, D, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The communication of A for several columns at once of the parallel dense matrix X; remade if the leading dimension of
   X has changed
*/
static PetscErrorCode MatVCRSProductSetUp_Private(Mat A, Mat Ao, Mat X, VCRSProductDense *d)
{
  PetscErrorCode ierr;
  PetscOptions   none;
  const PetscInt N = X->cmap->N, ghosts = Ao->cmap->n;
  PetscSF        sf;
  PetscInt       lda;
  PetscBool      changed, device, matches;
  const char    *type = MATSEQDENSE;
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(X, &lda));
  PetscCall(MatVCRSDenseOnDevice_Private(X, &device));
#if defined(LITHE_HAVE_CUDA)
  if (device) type = MATSEQDENSECUDA;
#endif
  changed = (PetscBool)(!d->ghost || d->lda != lda || d->ghost->rmap->n != ghosts);
  if (!changed) {
    PetscCall(PetscObjectTypeCompare((PetscObject)d->ghost, type, &matches));
    changed = (PetscBool)!matches;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_C_BOOL, MPI_LOR, comm));
  if (!changed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSProductDenseReset_Private(d));
  d->lda = lda;

  /* the number of columns keeps ghost rows below about twice the memory of the own rows */
  d->nbatch = ghosts ? (PetscInt)PetscMin((PetscInt64)N, 2 * (PetscInt64)A->rmap->n * N / ghosts) : N;
  d->nbatch = PetscMax(d->nbatch, 1);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &d->nbatch, 1, MPIU_INT, MPI_MAX, comm));
  d->nbatch = PetscMin(d->nbatch, N);

  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(PetscSFCreateStridedSF(sf, d->nbatch, lda, ghosts, &d->sf));
  if (N % d->nbatch) PetscCall(PetscSFCreateStridedSF(sf, N % d->nbatch, lda, ghosts, &d->sf1));
  PetscCall(MatCreate(PETSC_COMM_SELF, &d->ghost));
  PetscCall(MatSetSizes(d->ghost, ghosts, d->nbatch, ghosts, d->nbatch));
  PetscCall(MatSetType(d->ghost, type));
  PetscCall(LitheOptionsHide(&none));
  ierr = MatSetUp(d->ghost);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_MPIAIJVCRS_Dense(Mat A, VCRSOp op, Mat B, Mat D)
{
  VCRSProductDense  *d;
  Mat_VCRS          *ctx;
  Mat                Ad, Ao;
  const PetscScalar *in;
  PetscScalar       *out;
  PetscMemType       mtype[2];
  PetscSF            sf;
  PetscInt           N, ldx;

  PetscFunctionBegin;
  MatCheckProduct(D, 4);
  d = (VCRSProductDense *)D->product->data;
  N = B->cmap->N;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, NULL));
  if (N && op == VCRS_OP_N) {
    PetscCall(MatVCRSProductSetUp_Private(A, Ao, B, d));
    for (PetscInt j = 0; j < N; j += d->nbatch) {
      const PetscInt n = PetscMin(d->nbatch, N - j);

      /* rows of B from other processes travel while the diagonal block is multiplied */
      sf = n == d->nbatch ? d->sf : d->sf1;
      PetscCall(MatDenseGetLDA(B, &ldx));
      PetscCall(MatDenseGetArrayReadAndMemType(B, &in, &mtype[0]));
      PetscCall(MatDenseGetArrayWriteAndMemType(d->ghost, &out, &mtype[1]));
      PetscCall(PetscSFBcastWithMemTypeBegin(sf, sf->vscat.unit, mtype[0], PetscSafePointerPlusOffset(in, (size_t)j * ldx), mtype[1], out, MPI_REPLACE));
      PetscCall(MatVCRSMultDense_Private(Ad, VCRS_OP_N, B, j, n, PETSC_FALSE, D, j));
      PetscCall(PetscSFBcastEnd(sf, sf->vscat.unit, PetscSafePointerPlusOffset(in, (size_t)j * ldx), out, MPI_REPLACE));
      PetscCall(MatDenseRestoreArrayWriteAndMemType(d->ghost, &out));
      PetscCall(MatDenseRestoreArrayReadAndMemType(B, &in));
      PetscCall(MatVCRSMultDense_Private(Ao, VCRS_OP_N, d->ghost, 0, n, PETSC_TRUE, D, j));
    }
  } else if (N) {
    PetscCall(MatVCRSProductSetUp_Private(A, Ao, D, d));
    PetscCall(MatVCRSMultDense_Private(Ad, VCRS_OP_T, B, 0, N, PETSC_FALSE, D, 0));
    for (PetscInt j = 0; j < N; j += d->nbatch) {
      const PetscInt n = PetscMin(d->nbatch, N - j);

      /* the off-diagonal block gives results for rows of other processes */
      sf = n == d->nbatch ? d->sf : d->sf1;
      PetscCall(MatVCRSMultDense_Private(Ao, VCRS_OP_T, B, j, n, PETSC_FALSE, d->ghost, 0));
      PetscCall(MatDenseGetLDA(D, &ldx));
      PetscCall(MatDenseGetArrayReadAndMemType(d->ghost, &in, &mtype[0]));
      PetscCall(MatDenseGetArrayAndMemType(D, &out, &mtype[1]));
      PetscCall(PetscSFReduceWithMemTypeBegin(sf, sf->vscat.unit, mtype[0], in, mtype[1], PetscSafePointerPlusOffset(out, (size_t)j * ldx), MPIU_SUM));
      PetscCall(PetscSFReduceEnd(sf, sf->vscat.unit, in, PetscSafePointerPlusOffset(out, (size_t)j * ldx), MPIU_SUM));
      PetscCall(MatDenseRestoreArrayAndMemType(D, &out));
      PetscCall(MatDenseRestoreArrayReadAndMemType(d->ghost, &in));
    }
  }
  PetscCall(MatSetOption(D, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSProductNumericDense_Private(Mat A, VCRSOp op, Mat B, Mat D)
{
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, &parallel));
  PetscCall((*(parallel ? MatProductNumeric_MPIAIJVCRS_Dense : MatProductNumeric_SeqAIJVCRS_Dense))(A, op, B, D));
  PetscCall(MatVCRSAssembleProduct_Private(D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatMultNumeric_VCRS_Dense(Mat A, Mat B, Mat D)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProductNumericDense_Private(A, VCRS_OP_N, B, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTransposeMatMultNumeric_VCRS_Dense(Mat A, Mat B, Mat D)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProductNumericDense_Private(A, VCRS_OP_T, B, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductNumeric_VCRS_Dense(Mat D)
{
  PetscFunctionBegin;
  MatCheckProduct(D, 1);
  PetscCall(MatVCRSProductNumericDense_Private(D->product->A, D->product->type == MATPRODUCT_AtB ? VCRS_OP_T : VCRS_OP_N, D->product->B, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatProductSymbolic_VCRS_Dense(Mat D)
{
  Mat               A, B;
  VCRSProductDense *d;
  PetscBool         dense, parallel;

  PetscFunctionBegin;
  MatCheckProduct(D, 1);
  A = D->product->A;
  B = D->product->B;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, &parallel));
  if (D->product->type == MATPRODUCT_AB) {
    PetscCheck(A->cmap->rstart == B->rmap->rstart && A->cmap->rend == B->rmap->rend, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The columns %" PetscInt_FMT ":%" PetscInt_FMT " of A are distributed otherwise than the rows %" PetscInt_FMT ":%" PetscInt_FMT " of B",
               A->cmap->rstart, A->cmap->rend, B->rmap->rstart, B->rmap->rend);
    PetscCall(MatSetSizes(D, A->rmap->n, B->cmap->n, A->rmap->N, B->cmap->N));
  } else {
    PetscCheck(A->rmap->rstart == B->rmap->rstart && A->rmap->rend == B->rmap->rend, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
               "The rows %" PetscInt_FMT ":%" PetscInt_FMT " of A are distributed otherwise than the rows %" PetscInt_FMT ":%" PetscInt_FMT " of B",
               A->rmap->rstart, A->rmap->rend, B->rmap->rstart, B->rmap->rend);
    PetscCall(MatSetSizes(D, A->cmap->n, B->cmap->n, A->cmap->N, B->cmap->N));
  }
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)D, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) {
    PetscCall(MatSetType(D, ((PetscObject)B)->type_name));
    PetscCall(MatSetVecType(D, B->defaultvectype));
  }
  PetscCall(MatSetUp(D));
  if (parallel) {
    PetscCall(PetscNew(&d));
    D->product->data    = d;
    D->product->destroy = VCRSProductDenseDestroy_PrivateData;
  }
  if (D->product->type == MATPRODUCT_AB) D->ops->matmultnumeric = MatMatMultNumeric_VCRS_Dense;
  else D->ops->transposematmultnumeric = MatTransposeMatMultNumeric_VCRS_Dense;
  D->ops->productnumeric  = MatProductNumeric_VCRS_Dense;
  D->ops->productsymbolic = MatProductSymbolic_VCRS_Dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The choice of the product ---- */

static PetscErrorCode MatProductSetFromOptions_VCRS(Mat D)
{
  Mat_Product *product   = D->product;
  Mat_VCRS    *ctx[3]    = {NULL, NULL, NULL};
  const Mat    factor[3] = {product->A, product->B, product->C};
  PetscBool    dense;
  VCRSProduct *p;
  PetscErrorCode (*super)(Mat) = NULL;

  PetscFunctionBegin;
  MatCheckProduct(D, 1);
  for (int k = 0; k < (product->type == MATPRODUCT_ABC ? 3 : 2); k++) {
    PetscCall(MatVCRSGetContext(factor[k], &ctx[k]));
    if (ctx[k] && !super) super = ctx[k]->super.ops.productsetfromoptions;
  }

  if (ctx[0] && (product->type == MATPRODUCT_AB || product->type == MATPRODUCT_AtB)) {
    PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)product->B, &dense, MATSEQDENSE, MATMPIDENSE, ""));
    if (dense) {
      D->ops->productsymbolic = MatProductSymbolic_VCRS_Dense;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }

  PetscCall(LitheAIJProductSetFromOptions(D, super));
  /* the matrix of a virtual transpose has replaced the transpose, and the product already belongs to MATVCRS */
  if (D->ops->productsymbolic && D->ops->productsymbolic != MatProductSymbolic_VCRS && D->ops->productsymbolic != MatProductSymbolic_VCRS_Dense) {
    PetscCall(MatVCRSGetProduct_Private(D, &p));
    p->symbolic             = D->ops->productsymbolic;
    p->numeric              = NULL;
    D->ops->productsymbolic = MatProductSymbolic_VCRS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSComposeProducts_Private(Mat A)
{
  PetscFunctionBegin;
  A->ops->productsetfromoptions = MatProductSetFromOptions_VCRS;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, LITHE_PRODUCT_ANYTYPE, MatProductSetFromOptions_VCRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite, before A becomes an AIJ matrix; the operations are the caller's */
PetscErrorCode MatVCRSDecomposeProducts_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)A, LITHE_PRODUCT_ANYTYPE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
