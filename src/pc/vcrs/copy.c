/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The compressed copies of a PCVCRS, one per matrix.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/litheimpl.h>
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

/* Largest sum of moduli for a loss: no entry is then infinite, and no sum of a row overflows */
#define PCVCRS_SUM_LIMIT ((PetscReal)0.25 * PETSC_MAX_REAL)

/* Whether a loss can take the numbers, from the sum of their moduli, which may be NaN */
PetscBool PCVCRSSumIsTaken_Private(MatVCRSLoss loss, PetscReal sum)
{
  return (PetscBool)(loss == MATVCRS_LOSS_NONE || sum <= PCVCRS_SUM_LIMIT);
}

PetscBool PCVCRSTakesNumbers_Private(MatVCRSLoss loss, PetscInt n, const PetscScalar a[])
{
  PetscReal sum = 0.0;

  for (PetscInt k = 0; k < n; k++) sum += PetscAbsScalar(a[k]);
  return PCVCRSSumIsTaken_Private(loss, sum);
}

#if defined(LITHE_HAVE_CUDA)
/* The sum of the moduli of n numbers on a device */
PetscErrorCode PCVCRSSumOnDevice_Private(PetscInt n, const PetscScalar *a, PetscReal *sum)
{
  Vec v;

  PetscFunctionBegin;
  PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, a, &v));
  PetscCall(VecNorm(v, NORM_1, sum));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The sum of the moduli of a relative of MATSEQAIJ, at the place of its values */
static PetscErrorCode PCVCRSSumModuli_Private(Mat A, PetscReal *sum)
{
  const PetscScalar *a;
  MatInfo            info;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *sum = 0.0;
  if (info.nz_used <= 0.0) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool device;

    PetscCall(MatVCRSIsOnDevice_Private(A, &device));
    if (device) {
      PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
      PetscCall(PCVCRSSumOnDevice_Private((PetscInt)info.nz_used, a, sum));
      PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &a));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, (PetscInt)info.nz_used, a, &v));
  PetscCall(VecNorm(v, NORM_1, sum));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a loss takes a relative of MATAIJ. A matrix with a NaN, an infinity, or numbers near the end of the range is
   left unchanged. A solve then ends as with the inner preconditioner alone. Collective: all processes get the same
   answer.
*/
static PetscErrorCode PCVCRSTakes_Private(MatVCRSLoss loss, Mat A, PetscBool *takes)
{
  PetscReal sum[2] = {0.0, 0.0};
  PetscBool isvcrs, isparallel;

  PetscFunctionBegin;
  *takes = PETSC_TRUE;
  if (loss == MATVCRS_LOSS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &isvcrs, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &isparallel));
  /* a MATVCRS may be without AIJ arrays */
  if (isvcrs) PetscCall(MatNorm(A, NORM_FROBENIUS, &sum[0]));
  else if (isparallel) {
    Mat block[2];

    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++) PetscCall(PCVCRSSumModuli_Private(block[k], &sum[k]));
  } else PetscCall(PCVCRSSumModuli_Private(A, &sum[0]));
  *takes = (PetscBool)(sum[0] + sum[1] <= PCVCRS_SUM_LIMIT);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, takes, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The configuration of a copy */
typedef struct {
  const PCVCRSOptions *opt;
  MatVCRSLoss          loss;
  Mat                  exact;
} PCVCRSCopySettings;

static PetscErrorCode PCVCRSConfigure_Private(Mat B, void *ctx)
{
  const PCVCRSCopySettings *settings = (const PCVCRSCopySettings *)ctx;
  const PCVCRSOptions      *opt      = settings->opt;
  MatNullSpace              nullspace;

  PetscFunctionBegin;
  PetscCall(MatSetOptionsPrefix(B, opt->prefix));
  PetscCall(MatSetFromOptions(B));

  /* The options of this preconditioner override options of matrices */
  PetscCall(MatVCRSSetLayout(B, MATVCRS_LAYOUT_AUTO));
  PetscCall(MatVCRSSetBits(B, opt->bits));
  PetscCall(MatVCRSSetBins(B, opt->bins));
  PetscCall(MatVCRSSetLambda(B, opt->lambda, opt->unit));
  PetscCall(MatVCRSSetPreserveRowSums(B, opt->rowsums));
  PetscCall(MatVCRSSetLoss(B, settings->loss));
  PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE)); /* the copy is never an operator of the program */
  PetscCall(MatVCRSSetPlainRows_Private(B, PETSC_FALSE)); /* the purpose of this preconditioner is fewer bytes */

  /* solvers project on the complement of null spaces */
  if (!settings->exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetNullSpace(settings->exact, &nullspace));
  if (nullspace) PetscCall(MatSetNullSpace(B, nullspace));
  PetscCall(MatGetTransposeNullSpace(settings->exact, &nullspace));
  if (nullspace) PetscCall(MatSetTransposeNullSpace(B, nullspace));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A compressed copy of a MATAIJ matrix, or of rows on a device, unaffected by options without a prefix */
static PetscErrorCode PCVCRSCreateCopy_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, const PCVCRSSource *source, Mat *compressed)
{
  Mat                exact    = source->exact;
  PCVCRSCopySettings settings = {.opt = opt, .loss = loss, .exact = exact};
  PetscBool          isvcrs;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (!exact) {
    PetscCall(
      MatVCRSCreateFromDevice_Private(source->comm, source->m, source->n, &source->csr, source->beside, PCVCRSConfigure_Private, &settings, compressed));
    PetscCall(MatViewFromOptions(*compressed, NULL, "-mat_view"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscObjectTypeCompareAny((PetscObject)exact, &isvcrs, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (isvcrs) {
    PetscErrorCode ierr;
    PetscOptions   none;

    PetscCall(LitheOptionsHide(&none));
    ierr = MatDuplicate(exact, MAT_COPY_VALUES, compressed);
    PetscCall(LitheOptionsShow(&none));
    PetscCall(ierr);
    PetscCall(PCVCRSConfigure_Private(*compressed, &settings));
    PetscCall(MatVCRSDropAIJ(*compressed));
  } else PetscCall(MatVCRSCreateCopy_Private(exact, PCVCRSConfigure_Private, &settings, compressed));
  PetscCall(MatViewFromOptions(*compressed, NULL, "-mat_view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The options of the present copy */
PCVCRSOptions PCVCRSOptionsHere_Private(const PC_VCRS *v)
{
  PCVCRSOptions opt = v->opt;

  if (v->parts.coarse) opt.bits = opt.coarsebits;
  opt.prefix = v->inner.copyprefix;
  return opt;
}

/*
   A copy with the chosen loss. Eight bits of a logarithmic scale are coarse for entries of very different sizes.
   Examples are the small matrices of coarse levels, and factors with a tiny entry. These matrices take 16 bits. Over
   dozens of decades 16 bits are coarse, too, and entries are in single precision. bound: largest change of an entry by
   8 bits.
*/
PetscErrorCode PCVCRSCreateFine_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, PetscReal bound, const PCVCRSSource *exact, Mat *compressed)
{
  PCVCRSOptions fine = *opt;
  MatVCRSInfo   info;

  PetscFunctionBegin;
  PetscCall(PCVCRSCreateCopy_Private(opt, loss, exact, compressed));
  if (loss != MATVCRS_LOSS_LOG) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetInfo_Private(*compressed, PETSC_FALSE, &info));
  if (fine.bits == 8 && info.bound > bound) {
    PetscCall(MatDestroy(compressed));
    fine.bits = 16;
    PetscCall(PCVCRSCreateCopy_Private(&fine, loss, exact, compressed));
    PetscCall(MatVCRSGetInfo_Private(*compressed, PETSC_FALSE, &info));
  }
  if (fine.bits == 8 || info.bound <= PCVCRS_LOG16_BOUND) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(compressed));
  PetscCall(PCVCRSCreateCopy_Private(opt, MATVCRS_LOSS_SINGLE, exact, compressed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The loss; for an otherwise exact copy none, or single precision */
MatVCRSLoss PCVCRSGetLoss_Private(const PCVCRSOptions *opt)
{
  if (opt->loss != MATVCRS_LOSS_NONE) return opt->loss;
  return opt->precision == PCVCRS_PRECISION_SINGLE ? MATVCRS_LOSS_SINGLE : MATVCRS_LOSS_NONE;
}

/*
   The entries of an interpolation often have few different values. Without a loss they then take fewer bytes than with
   row sums. Interpolations, which are not square, take the smaller copy. No diagonal shows which entries matter: each
   entry is rounded separately.
*/
static PetscErrorCode PCVCRSCreateSmallest_Private(const PCVCRSOptions *opt, const PCVCRSSource *source, Mat *compressed)
{
  MatVCRSLoss loss = PCVCRSGetLoss_Private(opt);
  MatVCRSInfo small, other;
  PetscInt    m = source->m, n = source->n;
  Mat         B;

  PetscFunctionBegin;
  if (source->exact || source->beside) PetscCall(MatGetSize(source->exact ? source->exact : source->beside, &m, &n));
  if (m != n && loss != MATVCRS_LOSS_NONE && loss != MATVCRS_LOSS_SINGLE) loss = MATVCRS_LOSS_LOG;
  PetscCall(PCVCRSCreateFine_Private(opt, loss, m == n ? PCVCRS_LOG_BOUND : PCVCRS_INTERPOLATION_BOUND, source, compressed));
  if (m == n || loss == MATVCRS_LOSS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSCreateCopy_Private(opt, MATVCRS_LOSS_NONE, source, &B));
  PetscCall(MatVCRSGetInfo_Private(*compressed, PETSC_FALSE, &small));
  PetscCall(MatVCRSGetInfo_Private(B, PETSC_FALSE, &other));
  if (other.bytes <= small.bytes) {
    PetscCall(MatDestroy(compressed));
    *compressed = B;
  } else PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relatives of MATAIJ, also on other devices; types that can be converted; all other types */
typedef enum {
  KIND_AIJ,
  KIND_MAIJ,
  KIND_BLOCKS,
  KIND_OTHER
} PCVCRSKind;

static PetscErrorCode PCVCRSGetKind_Private(Mat A, PCVCRSKind *kind)
{
  static const struct {
    const char *name;
    PCVCRSKind  kind;
  } kinds[] = {{MATSEQAIJ, KIND_AIJ},     {MATMPIAIJ, KIND_AIJ},     {MATSEQMAIJ, KIND_MAIJ},    {MATMPIMAIJ, KIND_MAIJ},
               {MATSEQBAIJ, KIND_BLOCKS}, {MATMPIBAIJ, KIND_BLOCKS}, {MATSEQSBAIJ, KIND_BLOCKS}, {MATMPISBAIJ, KIND_BLOCKS}};
  const char *type;
  PetscBool   match = PETSC_FALSE;

  PetscFunctionBegin;
  *kind = KIND_OTHER;
  PetscCall(MatGetType(A, &type));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds) && !match; k++) {
    PetscCall(PetscStrbeginswith(type, kinds[k].name, &match));
    if (match) *kind = kinds[k].kind;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Converts a matrix that is not MATAIJ. bytes: what an application reads of the matrix, for MATMAIJ one matrix, else
   the blocks
*/
static PetscErrorCode PCVCRSExpand_Private(Mat exact, PCVCRSKind kind, Mat *aij, PetscLogDouble *bytes)
{
  const PetscLogDouble entry = sizeof(PetscScalar), index = sizeof(PetscInt);
  PetscInt             m, n, bs = 1;
  MatInfo              info;
  Mat                  one = exact;
  PetscOptions         none;
  PetscErrorCode       ierr;

  PetscFunctionBegin;
  if (kind == KIND_MAIJ) PetscCall(MatMAIJGetAIJ(exact, &one));
  else PetscCall(MatGetBlockSize(exact, &bs));
  PetscCall(MatGetSize(one, &m, &n));
  PetscCall(MatGetInfo(one, MAT_GLOBAL_SUM, &info));
  *bytes = info.nz_used * (entry + index / (PetscLogDouble)(bs * bs)) + (PetscLogDouble)m / bs * index;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatConvert(exact, MATAIJ, MAT_INITIAL_MATRIX, aij);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatPropagateSymmetryOptions(exact, *aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all numbers of a matrix are finite, as far as known. Collective */
PetscErrorCode PCVCRSIsFinite_Private(Mat A, PetscBool *finite)
{
  PetscBool  hasnorm;
  PetscReal  norm = 0.0;
  PCVCRSKind kind;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetKind_Private(A, &kind));
  if (kind == KIND_AIJ) PetscCall(PCVCRSTakes_Private(MATVCRS_LOSS_LOG, A, finite));
  else {
    PetscCall(MatHasOperation(A, MATOP_NORM, &hasnorm));
    if (hasnorm) PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
    *finite = (PetscBool)!PetscIsInfOrNanReal(norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends a copy and takes over the reference. The copy gets the present line, or a new line */
static PetscErrorCode PCVCRSAppend_Private(PC_VCRS *v, const PCVCRSCopy *copy, const char where[], const char what[])
{
  PetscFunctionBegin;
  PetscCall(PetscRealloc((size_t)(v->copies.n + 1) * sizeof(*v->copies.copy), &v->copies.copy));
  v->copies.copy[v->copies.n]      = *copy;
  v->copies.copy[v->copies.n].line = v->lines.shared;
  if (v->lines.shared < 0) PetscCall(PCVCRSAddLine_Private(&v->lines, where, what, PETSC_FALSE, &v->copies.copy[v->copies.n].line));
  v->copies.n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A compressed matrix of a factor, which replaces no matrix of the inner preconditioner. exactbytes: see PCVCRSCopy */
PetscErrorCode PCVCRSAddPart_Private(PC_VCRS *v, Mat compressed, PetscLogDouble exactbytes, const char where[], const char what[])
{
  PCVCRSCopy copy = {.compressed = compressed, .exactbytes = exactbytes};

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)compressed));
  PetscCall(PCVCRSAppend_Private(v, &copy, where, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The existing copy of the same matrix in its present state, if any */
static PetscErrorCode PCVCRSTakeOld_Private(PC_VCRS *v, PCVCRSCopy *copy)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->copies.nold && !copy->compressed; k++) {
    PetscBool same;

    PetscCall(MatStateCompare(copy->exact, v->copies.old[k].exact, &same));
    if (!same || copy->transposed != v->copies.old[k].transposed) continue;
    copy->compressed            = v->copies.old[k].compressed;
    copy->exactbytes            = v->copies.old[k].exactbytes;
    v->copies.old[k].compressed = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A copy of the transpose, for a restriction that is the transposed interpolation. On devices products with a transpose
   are slow, because many threads add to one entry. number: -1 if no copy was made.
*/
PetscErrorCode PCVCRSAddTranspose_Private(PC_VCRS *v, Mat exact, const char where[], const char what[], PetscInt *number)
{
  PCVCRSCopy copy = {.exactbytes = -1.0, .transposed = PETSC_TRUE};
  VecType    type;
  PCVCRSKind kind;
  PetscBool  device;

  PetscFunctionBegin;
  *number = -1;
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetVecType(exact, &type));
  PetscCall(PetscStrendswith(type, "cuda", &device));
  PetscCall(PCVCRSGetKind_Private(exact, &kind));
  if (!device || kind != KIND_AIJ) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetState(exact, &copy.exact));
  PetscCall(PCVCRSTakeOld_Private(v, &copy));
  if (!copy.compressed) {
    const PCVCRSOptions opt = PCVCRSOptionsHere_Private(v);
    PetscErrorCode      ierr;
    PetscBool           takes;
    PCVCRSSource        source;

    PetscCall(PCVCRSTakes_Private(PCVCRSGetLoss_Private(&opt), exact, &takes));
    if (!takes) PetscFunctionReturn(PETSC_SUCCESS); /* the restriction itself is reported */
    PetscCall(PCVCRSTransposeCreate_Private(exact, &source));
    ierr = PCVCRSCreateSmallest_Private(&opt, &source, &copy.compressed);
    PetscCall(PCVCRSTransposeDestroy_Private(&source));
    PetscCall(ierr);
  }
  *number = v->copies.n;
  PetscCall(PCVCRSAppend_Private(v, &copy, where, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The number of the copy of a matrix, which is made unless a copy of the present state exists; -1 if the matrix cannot
   be compressed
*/
PetscErrorCode PCVCRSAddCopy_Private(PC_VCRS *v, Mat exact, const char where[], const char what[], PetscInt *number)
{
  PCVCRSCopy copy = {.compressed = NULL};
  PCVCRSKind kind;
  PetscBool  assembled;

  PetscFunctionBegin;
  *number = -1;
  if (!exact) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatAssembled(exact, &assembled));
  if (!assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetState(exact, &copy.exact));
  for (PetscInt k = 0; k < v->copies.n; k++) {
    if (v->copies.copy[k].exact.id == copy.exact.id && !v->copies.copy[k].transposed) {
      *number = k;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(PCVCRSGetKind_Private(exact, &kind));
  if (kind == KIND_OTHER) {
    const char *type;
    char        left[128];

    PetscCall(MatGetType(exact, &type));
    PetscCall(PetscSNPrintf(left, sizeof(left), "matrix of type %s, left as it is", type));
    PetscCall(PCVCRSAddLeft_Private(&v->lines, where, what, left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(PCVCRSTakeOld_Private(v, &copy));
  if (!copy.compressed) {
    const PCVCRSOptions opt = PCVCRSOptionsHere_Private(v);
    Mat                 aij = exact;
    PetscBool           takes;

    if (kind != KIND_AIJ) PetscCall(PCVCRSExpand_Private(exact, kind, &aij, &copy.exactbytes));
    PetscCall(PCVCRSTakes_Private(PCVCRSGetLoss_Private(&opt), aij, &takes));
    if (takes) {
      const PCVCRSSource source = {.exact = aij};

      PetscCall(PCVCRSCreateSmallest_Private(&opt, &source, &copy.compressed));
    }
    if (kind != KIND_AIJ) PetscCall(MatDestroy(&aij));
    if (!takes) {
      PetscCall(PCVCRSAddRefused_Private(v, where, what));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }

  /* blocks may take fewer bytes than rows */
  if (kind != KIND_AIJ) {
    MatVCRSInfo info;

    PetscCall(MatVCRSGetInfo_Private(copy.compressed, PETSC_FALSE, &info));
    if (info.bytes >= copy.exactbytes) {
      PetscCall(MatDestroy(&copy.compressed));
      PetscCall(PCVCRSAddLeft_Private(&v->lines, where, what, "would not be smaller, left as it is"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  *number = v->copies.n;
  PetscCall(PCVCRSAppend_Private(v, &copy, where, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies are about to be collected again: the present copies become old */
PetscErrorCode PCVCRSCopiesBegin_Private(PCVCRSCopies *copies)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSCopiesForgetOld_Private(copies)); /* left from a collection that ended with an error */
  copies->old  = copies->copy;
  copies->nold = copies->n;
  copies->copy = NULL;
  copies->n    = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSCopiesForgetOld_Private(PCVCRSCopies *copies)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < copies->nold; k++) PetscCall(MatDestroy(&copies->old[k].compressed));
  PetscCall(PetscFree(copies->old));
  copies->nold = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSCopiesFree_Private(PCVCRSCopies *copies)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSCopiesBegin_Private(copies));
  PetscCall(PCVCRSCopiesForgetOld_Private(copies));
  PetscFunctionReturn(PETSC_SUCCESS);
}
