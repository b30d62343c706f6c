/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Gives the AIJ arrays of a MATVCRS back and takes them again.

   Dropping swaps the object's data with that of an empty MATSEQAIJ, which takes the arrays with it
   when it is destroyed, and replaces the table of operations by one in which

     - products, diagonal, rows, norms, relaxation, information and copies come from the plan;
     - everything else first decodes the plan into AIJ arrays, puts the old table back, and then
       calls the operation that was asked for.

   A parallel matrix drops both of its blocks and gets such a table of its own, because many of
   MATMPIAIJ's operations read the arrays of the blocks directly. Taking the arrays again needs no
   communication: it happens in operations that one process may call alone. An operation that does
   communicate must therefore do so in the same way on processes that dropped and on those that did not.

   What lived in the old data and has no other record, options such as MAT_ROW_ORIENTED, is recorded
   by MatSetOption_VCRS() and set again.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>

#define VCRS_DROP_CONTAINER "Lithe_MatVCRSDrop"
#define VCRS_MAXOPTIONS     16
#define VCRS_MAXFUNCTIONS   20

/* What dropping adds to a matrix, in a container composed with it */
typedef struct {
  struct _MatOps live; /* the operations that are put back when the arrays are taken again */
  void          *data; /* what the object's data is as long as it is dropped */

  /* composed functions that are replaced meanwhile, in the order of VCRSFunctions[] */
  PetscErrorCodeFn *function[VCRS_MAXFUNCTIONS];

  /* composed functions that the class replaces for good */
  PetscErrorCode (*storevalues)(Mat);
  PetscErrorCode (*kron)(Mat, Mat, MatReuse, Mat *);
  PetscBool stored;   /* MatStoreValues() was called: AIJ holds values that no plan has */
  PetscBool coloring; /* a MatFDColoring was set up: it points into AIJ's values */
  PetscBool given;    /* the arrays were given back before: what points into older ones is lost */

  /* options that lived in the arrays' struct, in the order in which they were set */
  PetscInt  noptions;
  MatOption option[VCRS_MAXOPTIONS];
  PetscBool value[VCRS_MAXOPTIONS];

  /* of the dropped matrix */
  PetscBool    rowactive; /* between MatGetRow() and MatRestoreRow() */
  PetscInt     rowsize;
  PetscInt    *rowcols;
  PetscScalar *rowvals;
  PetscScalar *diagonal; /* for relaxation */
} VCRSDrop;

static PetscErrorCode VCRSDropReset(VCRSDrop *drop)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(drop->rowcols, drop->rowvals));
  PetscCall(PetscFree(drop->diagonal));
  drop->rowsize = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSDropDestroy(PetscCtxRt data)
{
  VCRSDrop *drop = *(VCRSDrop **)data;

  PetscFunctionBegin;
  PetscCall(VCRSDropReset(drop));
  PetscCall(PetscFree(drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSGetDrop_Private(Mat A, VCRSDrop **drop)
{
  PetscFunctionBegin;
  *drop = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, VCRS_DROP_CONTAINER, drop));
  if (!*drop) {
    PetscCall(PetscNew(drop));
    PetscCall(PetscObjectContainerCompose((PetscObject)A, VCRS_DROP_CONTAINER, *drop, VCRSDropDestroy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was taken from the plan of a dropped matrix and is kept, when it gets another plan */
PetscErrorCode MatVCRSForgetCaches_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSIsParallel_Private(Mat A, PetscBool *parallel)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan with all its arrays on the host; one that was made on the device may have them only there */
PetscErrorCode MatVCRSGetHostPlan_Private(Mat A, const VCRSPlan **plan)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
#if defined(LITHE_HAVE_CUDA)
  if (ctx->dplan && ctx->plan->m && !ctx->plan->length && !ctx->plan->id && !ctx->plan->rowlength) {
    VCRSPlan *host;

    PetscCall(PetscNew(&host));
    PetscCall(LitheCUDAVCRSDownload(ctx->dplan, host));

    /* The device copy has no counts of sets */
    if (ctx->plan->setcount && !host->setcount) {
      host->setcount      = ctx->plan->setcount;
      ctx->plan->setcount = NULL;
    }
    PetscCall(VCRSPlanDestroy(&ctx->plan));
    ctx->plan = host;
  }
#endif
  *plan = ctx->plan;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSRemoveStubs_Private(Mat);

/*
   Whether A is dropped. MatHeaderMerge(), with which MatAXPY() ends, for example, gives an object new
   data and lets it keep its operations: a matrix that was dropped then has its arrays, and new values.
*/
PetscErrorCode MatVCRSIsDropped_Private(Mat A, PetscBool *dropped)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *dropped = (PetscBool)(ctx && ctx->dropped);
  if (!*dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->data == drop->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSRemoveStubs_Private(A));
  PetscCall(VCRSDropReset(drop));
  ctx->dropped    = PETSC_FALSE;
  ctx->state      = -1;
  drop->rowactive = PETSC_FALSE;
  drop->stored    = PETSC_FALSE;
  *dropped        = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the beginning of a function that serves an operation from the plan */
#define VCRS_UNLESS_DROPPED(A, name, arguments)        \
  do {                                                 \
    PetscBool dropped_;                                \
                                                       \
    PetscCall(MatVCRSIsDropped_Private(A, &dropped_)); \
    if (!dropped_) {                                   \
      PetscCall((*(A)->ops->name)arguments);           \
      PetscFunctionReturn(PETSC_SUCCESS);              \
    }                                                  \
  } while (0)

/* MatSetOption() of options that live in Mat_SeqAIJ: the last ones, in the order in which they were set */
static PetscErrorCode VCRSDropRecordOption(VCRSDrop *drop, MatOption op, PetscBool flg)
{
  PetscInt k;

  PetscFunctionBegin;
  switch (op) {
  case MAT_ROW_ORIENTED:
  case MAT_KEEP_NONZERO_PATTERN:
  case MAT_NEW_NONZERO_LOCATIONS:
  case MAT_NEW_NONZERO_LOCATION_ERR:
  case MAT_NEW_NONZERO_ALLOCATION_ERR:
  case MAT_UNUSED_NONZERO_LOCATION_ERR:
  case MAT_IGNORE_ZERO_ENTRIES:
  case MAT_USE_INODES:
  case MAT_SORTED_FULL:
    break;
  default:
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == op) break;
  }
  if (k < drop->noptions) {
    for (; k + 1 < drop->noptions; k++) {
      drop->option[k] = drop->option[k + 1];
      drop->value[k]  = drop->value[k + 1];
    }
    drop->noptions--;
  }
  drop->option[drop->noptions]  = op;
  drop->value[drop->noptions++] = flg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetOption_VCRS(Mat A, MatOption op, PetscBool flg)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;
  PetscBool parallel, dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  PetscCall(VCRSDropRecordOption(drop, op, flg));
  if (dropped && op == MAT_STRUCTURE_ONLY) {
    PetscCall(MatVCRSMaterializeAIJ(A));
    dropped = PETSC_FALSE;
  }
  /* The data of a dropped matrix is not its own, and MAT_SORTED_FULL would overwrite its table; both wait for the arrays */
  if (dropped && !parallel && op != MAT_SUBMAT_SINGLEIS && op != MAT_FORM_EXPLICIT_TRANSPOSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*ctx->super.setoption)(A, op, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A new MATSEQAIJ with the pattern of A's plan, and with its values or with zeros. It is filled in
   place, so that no second copy of the arrays is ever there.
*/
static PetscErrorCode MatVCRSDecode_Private(Mat A, const char prefix[], PetscBool values, Mat *T)
{
  const VCRSPlan *plan = NULL;
  VCRSDrop       *drop;
  const PetscInt *ti, *tj;
  PetscScalar    *ta;
  PetscInt       *nnz;
  const PetscInt  m = A->rmap->n;
  PetscBool       isaij, known = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), T));
  PetscCall(PetscObjectSetOptions((PetscObject)*T, ((PetscObject)A)->options));
  PetscCall(MatSetOptionsPrefix(*T, prefix));
  PetscCall(MatSetLayouts(*T, A->rmap, A->cmap));
  PetscCall(MatSetType(*T, MATSEQAIJ));
  PetscCall(PetscObjectTypeCompare((PetscObject)*T, MATSEQAIJ, &isaij));
  if (!isaij) PetscCall(MatConvert(*T, MATSEQAIJ, MAT_INPLACE_MATRIX, T)); /* -mat_seqaij_type names another one */

  PetscCall(PetscMalloc1(m + 1, &nnz));
  PetscCall(VCRSPlanDecodeRowPointers(plan, nnz));
  for (PetscInt i = 0; i < m; i++) nnz[i] = nnz[i + 1] - nnz[i];
  PetscCall(MatSeqAIJSetPreallocation(*T, 0, nnz));
  PetscCall(PetscFree(nnz));

  /* MATSEQAIJ keys what it derives from a pattern by this counter: it must be A's own when the data becomes A's */
  (*T)->nonzerostate = A->nonzerostate;

  PetscCall(MatSeqAIJGetCSRAndMemType(*T, &ti, &tj, &ta, NULL));
  if (plan->nz) {
    PetscCall(VCRSPlanDecode(plan, (PetscInt *)ti, (PetscInt *)tj, ta));
    PetscCall(MatSeqAIJSetColumnIndices(*T, (PetscInt *)tj));
    if (!values) PetscCall(PetscArrayzero(ta, plan->nz));
  }

  /* Options of A; where it is not known what was said about new nonzeros, they are allowed */
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_NEW_NONZERO_LOCATIONS || drop->option[k] == MAT_NEW_NONZERO_LOCATION_ERR || drop->option[k] == MAT_NEW_NONZERO_ALLOCATION_ERR) known = PETSC_TRUE;
  }
  if (!known) PetscCall(MatSetOption(*T, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt k = 0; k < drop->noptions; k++) PetscCall(MatSetOption(*T, drop->option[k], drop->value[k]));

  /* Not MatAssemblyEnd(), which would obey -mat_view */
  PetscUseTypeMethod(*T, assemblyend, MAT_FINAL_ASSEMBLY);
  (*T)->assembled        = PETSC_TRUE;
  (*T)->num_ass          = 1;
  (*T)->ass_nonzerostate = (*T)->nonzerostate;
  PetscCall(PetscObjectStateIncrease((PetscObject)*T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Operations of the dropped matrix that the plan serves ---- */

static PetscErrorCode MatGetDiagonal_VCRSDropped(Mat A, Vec v)
{
  Mat_VCRS       *ctx;
  const VCRSPlan *plan = NULL;
  PetscScalar    *d;
  PetscInt        n;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, getdiagonal, (A, v));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCheck(n == A->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "The vector for the diagonal has %" PetscInt_FMT " entries and the matrix %" PetscInt_FMT " rows", n, A->rmap->n);
  PetscCall(VecSet(v, 0.0)); /* rows beyond the last column have no diagonal */
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool device;

    PetscCall(VecIsOnDevice_Private(v, &device));
    if (device && ctx->dplan) {
      PetscCall(VecGetArrayAndMemType(v, &d, NULL));
      PetscCall(LitheCUDAVCRSGetDiagonal(ctx->dplan, d));
      PetscCall(VecRestoreArrayAndMemType(v, &d));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(VecGetArray(v, &d));
  PetscCall(VCRSPlanGetDiagonal(plan, d));
  PetscCall(VecRestoreArray(v, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSGetRowBuffer_Private(Mat A, PetscInt n, VCRSDrop **drop)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, drop));
  if ((*drop)->rowsize < n || !(*drop)->rowcols) {
    PetscCall(PetscFree2((*drop)->rowcols, (*drop)->rowvals));
    (*drop)->rowsize = PetscMax(n, 1);
    PetscCall(PetscMalloc2((*drop)->rowsize, &(*drop)->rowcols, (*drop)->rowsize, &(*drop)->rowvals));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSCheckRowActive_Private(Mat A, PetscInt row, const VCRSDrop *drop)
{
  PetscFunctionBegin;
  PetscCheck(!drop->rowactive, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "Row %" PetscInt_FMT " of a matrix of type %s is asked for while another one is in use: its AIJ arrays are given back and rows are decoded one at a time. Call MatRestoreRow() first, or MatVCRSMaterializeAIJ()", row, ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetRow_SeqAIJVCRSDropped(Mat A, PetscInt row, PetscInt *nz, PetscInt **cols, PetscScalar **vals)
{
  const VCRSPlan *plan = NULL;
  VCRSDrop       *drop;
  PetscInt        n;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, getrow, (A, row, nz, cols, vals));
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(MatVCRSCheckRowActive_Private(A, row, drop));
  if (!drop->rowcols) {
    PetscCall(VCRSPlanMaxRowLength(plan, &n));
    PetscCall(MatVCRSGetRowBuffer_Private(A, n, &drop));
  }
  PetscCall(VCRSPlanDecodeRow(plan, row, &n, drop->rowcols, drop->rowvals));
  *nz = n;
  if (cols) *cols = n ? drop->rowcols : NULL;
  if (vals) *vals = n ? drop->rowvals : NULL;
  drop->rowactive = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetRow_MPIAIJVCRSDropped(Mat A, PetscInt row, PetscInt *nz, PetscInt **cols, PetscScalar **vals)
{
  VCRSDrop       *drop;
  Mat             Ad, Ao;
  const PetscInt *garray;
  PetscInt        nd, no, before = 0, *cd, *co;
  PetscScalar    *vd, *vo;
  const PetscInt  rstart = A->rmap->rstart, cstart = A->cmap->rstart;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, getrow, (A, row, nz, cols, vals));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(MatVCRSCheckRowActive_Private(A, row, drop));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, &garray));
  PetscUseTypeMethod(Ad, getrow, row - rstart, &nd, &cd, &vd);
  PetscUseTypeMethod(Ao, getrow, row - rstart, &no, &co, &vo);
  PetscCall(MatVCRSGetRowBuffer_Private(A, nd + no, &drop));

  /* Columns ascend: those before the diagonal block, the block's, those after it */
  while (before < no && garray[co[before]] < cstart) before++;
  for (PetscInt k = 0; k < before; k++) {
    drop->rowcols[k] = garray[co[k]];
    drop->rowvals[k] = vo[k];
  }
  for (PetscInt k = 0; k < nd; k++) {
    drop->rowcols[before + k] = cstart + cd[k];
    drop->rowvals[before + k] = vd[k];
  }
  for (PetscInt k = before; k < no; k++) {
    drop->rowcols[nd + k] = garray[co[k]];
    drop->rowvals[nd + k] = vo[k];
  }
  PetscUseTypeMethod(Ad, restorerow, row - rstart, &nd, &cd, &vd);
  PetscUseTypeMethod(Ao, restorerow, row - rstart, &no, &co, &vo);

  *nz = nd + no;
  if (cols) *cols = nd + no ? drop->rowcols : NULL;
  if (vals) *vals = nd + no ? drop->rowvals : NULL;
  drop->rowactive = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also in the table of a matrix with its arrays, which may have been taken again since MatGetRow() */
static PetscErrorCode MatRestoreRow_VCRS(Mat A, PetscInt row, PetscInt *nz, PetscInt **cols, PetscScalar **vals)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;
  PetscBool dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (drop->rowactive) {
    drop->rowactive = PETSC_FALSE;
    if (!dropped) PetscCall(VCRSDropReset(drop));
  } else if (!dropped && ctx->super.restorerow) PetscCall((*ctx->super.restorerow)(A, row, nz, cols, vals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a block's moduli to row sums [m] and column sums [n], and their squares to sum2; each may be NULL */
static PetscErrorCode MatVCRSAddModuli_Private(Mat block, PetscReal rowsum[], PetscReal colsum[], PetscReal *sum2)
{
  const VCRSPlan    *plan = NULL;
  const PetscInt    *ai = NULL, *aj = NULL, *cols;
  const PetscScalar *vals;
  PetscScalar       *aa = NULL, *buffer = NULL;
  PetscInt          *colbuffer = NULL, n, max;
  PetscBool          dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSIsDropped_Private(block, &dropped));
  if (dropped) {
    PetscCall(MatVCRSGetHostPlan_Private(block, &plan));
    PetscCall(VCRSPlanMaxRowLength(plan, &max));
    PetscCall(PetscMalloc2(max, &colbuffer, max, &buffer));
  } else PetscCall(MatSeqAIJGetCSRAndMemType(block, &ai, &aj, &aa, NULL));

  for (PetscInt i = 0; i < block->rmap->n; i++) {
    if (plan) {
      PetscCall(VCRSPlanDecodeRow(plan, i, &n, colbuffer, buffer));
      cols = colbuffer;
      vals = buffer;
    } else {
      n    = ai[i + 1] - ai[i];
      cols = PetscSafePointerPlusOffset(aj, ai[i]);
      vals = PetscSafePointerPlusOffset(aa, ai[i]);
    }
    for (PetscInt k = 0; k < n; k++) {
      const PetscReal modulus = PetscAbsScalar(vals[k]);

      if (rowsum) rowsum[i] += modulus;
      if (colsum) colsum[cols[k]] += modulus;
      if (sum2) *sum2 += PetscRealPart(PetscConj(vals[k]) * vals[k]);
    }
  }
  PetscCall(PetscFree2(colbuffer, buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatNorm_SeqAIJVCRSDropped(Mat A, NormType type, PetscReal *norm)
{
  PetscReal     *sum, sum2 = 0.0;
  const PetscInt n = type == NORM_1 ? A->cmap->n : A->rmap->n;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, norm, (A, type, norm));
  PetscCheck(type == NORM_1 || type == NORM_INFINITY || type == NORM_FROBENIUS, PETSC_COMM_SELF, PETSC_ERR_SUP, "No support for two norm");
  *norm = 0.0;
  if (type == NORM_FROBENIUS) {
    PetscCall(MatVCRSAddModuli_Private(A, NULL, NULL, &sum2));
    *norm = PetscSqrtReal(sum2);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(n, &sum));
  PetscCall(MatVCRSAddModuli_Private(A, type == NORM_INFINITY ? sum : NULL, type == NORM_1 ? sum : NULL, NULL));
  for (PetscInt i = 0; i < n; i++) *norm = PetscMax(*norm, sum[i]);
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In both tables of a parallel matrix: some processes may have their arrays while others do not */
static PetscErrorCode MatNorm_MPIAIJVCRS(Mat A, NormType type, PetscReal *norm)
{
  Mat             Ad, Ao;
  const PetscInt *garray;
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  PetscReal      *sum, local = 0.0;

  PetscFunctionBegin;
  PetscCheck(type == NORM_1 || type == NORM_INFINITY || type == NORM_FROBENIUS, comm, PETSC_ERR_SUP, "No support for two norm");
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, &garray));
  if (type == NORM_FROBENIUS) {
    PetscCall(MatVCRSAddModuli_Private(Ad, NULL, NULL, &local));
    PetscCall(MatVCRSAddModuli_Private(Ao, NULL, NULL, &local));
    PetscCallMPI(MPIU_Allreduce(&local, norm, 1, MPIU_REAL, MPIU_SUM, comm));
    *norm = PetscSqrtReal(*norm);
  } else if (type == NORM_INFINITY) {
    PetscCall(PetscCalloc1(A->rmap->n, &sum));
    PetscCall(MatVCRSAddModuli_Private(Ad, sum, NULL, NULL));
    PetscCall(MatVCRSAddModuli_Private(Ao, sum, NULL, NULL));
    for (PetscInt i = 0; i < A->rmap->n; i++) local = PetscMax(local, sum[i]);
    PetscCall(PetscFree(sum));
    PetscCallMPI(MPIU_Allreduce(&local, norm, 1, MPIU_REAL, MPIU_MAX, comm));
  } else {
    Vec            col;
    PetscScalar   *c;
    const PetscInt n = A->cmap->n, ghosts = Ao->cmap->n;

    /* Sums of own columns, plus those that other processes have of them */
    PetscCall(VecCreateMPI(comm, n, A->cmap->N, &col));
    PetscCall(PetscCalloc1(PetscMax(n, ghosts), &sum));
    PetscCall(MatVCRSAddModuli_Private(Ad, NULL, sum, NULL));
    PetscCall(VecGetArrayWrite(col, &c));
    for (PetscInt j = 0; j < n; j++) c[j] = sum[j];
    PetscCall(VecRestoreArrayWrite(col, &c));
    PetscCall(PetscArrayzero(sum, ghosts));
    PetscCall(MatVCRSAddModuli_Private(Ao, NULL, sum, NULL));
    for (PetscInt j = 0; j < ghosts; j++) PetscCall(VecSetValue(col, garray[j], sum[j], ADD_VALUES));
    PetscCall(VecAssemblyBegin(col));
    PetscCall(VecAssemblyEnd(col));
    PetscCall(VecNorm(col, NORM_INFINITY, norm));
    PetscCall(PetscFree(sum));
    PetscCall(VecDestroy(&col));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_SeqAIJVCRSDropped(Mat A, MatInfoType flag, MatInfo *info)
{
  Mat_VCRS *ctx;
  size_t    bytes, tablebytes;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, getinfo, (A, flag, info));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(VCRSPlanGetBytes(ctx->plan, &bytes, &tablebytes));
  info->block_size        = 1.0;
  info->nz_allocated      = (PetscLogDouble)ctx->plan->nz;
  info->nz_used           = (PetscLogDouble)ctx->plan->nz;
  info->nz_unneeded       = 0.0;
  info->assemblies        = A->num_ass;
  info->mallocs           = A->info.mallocs;
  info->memory            = (PetscLogDouble)bytes;
  info->fill_ratio_given  = 0.0;
  info->fill_ratio_needed = 0.0;
  info->factor_mallocs    = 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_SeqAIJVCRSDropped(Mat A, MatDuplicateOption op, Mat *B)
{
  Mat_VCRS *a, *b;
  VCRSDrop *adrop, *bdrop;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, duplicate, (A, op, B));
  PetscCall(MatVCRSGetContext(A, &a));
  PetscCall(MatVCRSDecode_Private(A, NULL, (PetscBool)(op == MAT_COPY_VALUES), B));
  PetscCall(MatConvert_SeqAIJ_SeqAIJVCRS(*B, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, B));
  PetscCall(MatVCRSGetContext(*B, &b));
  PetscCall(MatVCRSCopyContext_Private(a, b));

  /* The copy has A's options already; it must know of them for its own next time */
  PetscCall(MatVCRSGetDrop_Private(A, &adrop));
  PetscCall(MatVCRSGetDrop_Private(*B, &bdrop));
  for (PetscInt k = 0; k < adrop->noptions; k++) PetscCall(VCRSDropRecordOption(bdrop, adrop->option[k], adrop->value[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing was set since the arrays were given back, or they would be there */
static PetscErrorCode MatAssemblyEnd_SeqAIJVCRSDropped(Mat A, MatAssemblyType type)
{
  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, assemblyend, (A, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b_i - sum_k a_ik x_k over the columns below, or above, the row's own */
static inline PetscScalar VCRSRowBelow(PetscInt row, PetscInt n, const PetscInt cols[], const PetscScalar vals[], const PetscScalar x[], PetscScalar sum)
{
  for (PetscInt k = 0; k < n && cols[k] < row; k++) sum -= vals[k] * x[cols[k]];
  return sum;
}

static inline PetscScalar VCRSRowAbove(PetscInt row, PetscInt n, const PetscInt cols[], const PetscScalar vals[], const PetscScalar x[], PetscScalar sum)
{
  for (PetscInt k = n - 1; k >= 0 && cols[k] > row; k--) sum -= vals[k] * x[cols[k]];
  return sum;
}

/*
   Relaxation with the meaning that it has for MATSEQAIJ without inodes: omega (fshift + a_ii)^{-1}
   divides the residual, its * lits sweeps are done, and a forward sweep that follows a zero initial
   guess, or that is followed by a backward one, keeps b - L x for the latter.
*/
static PetscErrorCode MatSOR_SeqAIJVCRSDropped(Mat A, Vec bb, PetscReal omega, MatSORType flag, PetscReal fshift, PetscInt its, PetscInt lits, Vec xx)
{
  const VCRSPlan    *plan = NULL;
  VCRSDrop          *drop;
  const PetscScalar *b, *xb;
  PetscScalar       *x, *t, *diagonal, *vals, sum;
  PetscInt          *cols, n, max;
  const PetscInt     m        = A->rmap->n;
  const PetscBool    forward  = (PetscBool)((flag & SOR_FORWARD_SWEEP) || (flag & SOR_LOCAL_FORWARD_SWEEP));
  const PetscBool    backward = (PetscBool)((flag & SOR_BACKWARD_SWEEP) || (flag & SOR_LOCAL_BACKWARD_SWEEP));

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, sor, (A, bb, omega, flag, fshift, its, lits, xx));
  /* These two need the arrays */
  if ((flag & SOR_EISENSTAT) || flag == SOR_APPLY_LOWER || A->rmap->n != A->cmap->n) {
    PetscCall(PetscInfo(A, "Relaxation of type %d needs the AIJ arrays\n", (int)flag));
    PetscCall(MatVCRSMaterializeAIJ_Seq(A));
    PetscUseTypeMethod(A, sor, bb, omega, flag, fshift, its, lits, xx);
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->diagonal) {
    PetscCall(PetscCalloc1(m, &diagonal));
    PetscCall(VCRSPlanGetDiagonal(plan, diagonal));
    drop->diagonal = diagonal;
  }
  diagonal = drop->diagonal;
  for (PetscInt i = 0; i < m; i++) {
    if (diagonal[i] + fshift != (PetscScalar)0.0) continue;
    PetscCheck(fshift != 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "Zero diagonal on row %" PetscInt_FMT, i);
    A->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    A->factorerror_zeropivot_value = 0.0;
    A->factorerror_zeropivot_row   = i;
  }

  PetscCall(VCRSPlanMaxRowLength(plan, &max));
  PetscCall(PetscMalloc3(max, &cols, max, &vals, m, &t));
  PetscCall(VecGetArray(xx, &x));
  PetscCall(VecGetArrayRead(bb, &b));
  its = its * lits;

  if (flag == SOR_APPLY_UPPER) {
    for (PetscInt i = 0; i < m; i++) {
      PetscCall(VCRSPlanDecodeRow(plan, i, &n, cols, vals));
      sum = b[i] * (fshift + diagonal[i]) / omega;
      for (PetscInt k = n - 1; k >= 0 && cols[k] > i; k--) sum += vals[k] * b[cols[k]];
      x[i] = sum;
    }
    its = 0;
  } else if (flag & SOR_ZERO_INITIAL_GUESS) {
    xb = b;
    if (forward) {
      for (PetscInt i = 0; i < m; i++) {
        PetscCall(VCRSPlanDecodeRow(plan, i, &n, cols, vals));
        t[i] = VCRSRowBelow(i, n, cols, vals, x, b[i]);
        x[i] = t[i] * omega / (fshift + diagonal[i]);
      }
      xb = t;
    }
    if (backward) {
      for (PetscInt i = m - 1; i >= 0; i--) {
        PetscCall(VCRSPlanDecodeRow(plan, i, &n, cols, vals));
        sum = VCRSRowAbove(i, n, cols, vals, x, xb[i]) * omega / (fshift + diagonal[i]);
        if (forward) x[i] = (1.0 - omega) * x[i] + sum;
        else x[i] = sum;
      }
    }
    its--;
  }
  while (its-- > 0) {
    if (forward) {
      for (PetscInt i = 0; i < m; i++) {
        PetscCall(VCRSPlanDecodeRow(plan, i, &n, cols, vals));
        t[i] = VCRSRowBelow(i, n, cols, vals, x, b[i]);
        sum  = VCRSRowAbove(i, n, cols, vals, x, t[i]);
        x[i] = (1.0 - omega) * x[i] + sum * omega / (fshift + diagonal[i]);
      }
    }
    if (backward) {
      for (PetscInt i = m - 1; i >= 0; i--) {
        PetscCall(VCRSPlanDecodeRow(plan, i, &n, cols, vals));
        sum  = VCRSRowAbove(i, n, cols, vals, x, forward ? t[i] : VCRSRowBelow(i, n, cols, vals, x, b[i]));
        x[i] = (1.0 - omega) * x[i] + sum * omega / (fshift + diagonal[i]);
      }
    }
  }
  PetscCall(VecRestoreArrayRead(bb, &b));
  PetscCall(VecRestoreArray(xx, &x));
  PetscCall(PetscFree3(cols, vals, t));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)plan->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Operations that take the arrays again first ---- */

/* The arrays, whatever kind of matrix A is and whether or not it dropped any */
PetscErrorCode MatVCRSMaterializeOperand_Private(Mat A, const char operation[])
{
  PetscBool dropped;

  PetscFunctionBegin;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  if (!dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(A, "The AIJ arrays are taken again for %s\n", operation));
  PetscCall(MatVCRSMaterializeAIJ(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name in struct _MatOps, the matrix whose operation it is, parameters, arguments */
#define VCRS_STUBS(X)                                                                                                                                                                            \
  X(setvalues, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode))                                     \
  X(solve, A, (Mat A, Vec x, Vec y), (A, x, y))                                                                                                                                                  \
  X(solveadd, A, (Mat A, Vec x, Vec y, Vec z), (A, x, y, z))                                                                                                                                     \
  X(solvetranspose, A, (Mat A, Vec x, Vec y), (A, x, y))                                                                                                                                         \
  X(solvetransposeadd, A, (Mat A, Vec x, Vec y, Vec z), (A, x, y, z))                                                                                                                            \
  X(lufactor, A, (Mat A, IS r, IS c, const MatFactorInfo *info), (A, r, c, info))                                                                                                                \
  X(choleskyfactor, A, (Mat A, IS r, const MatFactorInfo *info), (A, r, info))                                                                                                                   \
  X(transpose, A, (Mat A, MatReuse reuse, Mat * B), (A, reuse, B))                                                                                                                               \
  X(diagonalscale, A, (Mat A, Vec l, Vec r), (A, l, r))                                                                                                                                          \
  X(assemblybegin, A, (Mat A, MatAssemblyType type), (A, type))                                                                                                                                  \
  X(assemblyend, A, (Mat A, MatAssemblyType type), (A, type))                                                                                                                                    \
  X(zeroentries, A, (Mat A), (A))                                                                                                                                                                \
  X(zerorows, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))                                                                                       \
  X(getdiagonalblock, A, (Mat A, Mat * B), (A, B))                                                                                                                                               \
  X(setinf, A, (Mat A), (A))                                                                                                                                                                     \
  X(ilufactor, A, (Mat A, IS r, IS c, const MatFactorInfo *info), (A, r, c, info))                                                                                                               \
  X(iccfactor, A, (Mat A, IS r, const MatFactorInfo *info), (A, r, info))                                                                                                                        \
  X(createsubmatrices, A, (Mat A, PetscInt n, const IS r[], const IS c[], MatReuse reuse, Mat *B[]), (A, n, r, c, reuse, B))                                                                     \
  X(increaseoverlap, A, (Mat A, PetscInt n, IS is[], PetscInt ov), (A, n, is, ov))                                                                                                               \
  X(getvalues, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], PetscScalar v[]), (A, m, i, n, j, v))                                                                  \
  X(getrowmax, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                                                       \
  X(scale, A, (Mat A, PetscScalar s), (A, s))                                                                                                                                                    \
  X(shift, A, (Mat A, PetscScalar s), (A, s))                                                                                                                                                    \
  X(diagonalset, A, (Mat A, Vec d, InsertMode mode), (A, d, mode))                                                                                                                               \
  X(zerorowscolumns, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))                                                                                \
  X(setrandom, A, (Mat A, PetscRandom r), (A, r))                                                                                                                                                \
  X(getrowij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done))        \
  X(restorerowij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done))    \
  X(getcolumnij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done))     \
  X(restorecolumnij, A, (Mat A, PetscInt shift, PetscBool sym, PetscBool inode, PetscInt * n, const PetscInt *i[], const PetscInt *j[], PetscBool *done), (A, shift, sym, inode, n, i, j, done)) \
  X(fdcoloringcreate, A, (Mat A, ISColoring is, MatFDColoring fd), (A, is, fd))                                                                                                                  \
  X(coloringpatch, A, (Mat A, PetscInt a, PetscInt b, ISColoringValue v[], ISColoring * is), (A, a, b, v, is))                                                                                   \
  X(setunfactored, A, (Mat A), (A))                                                                                                                                                              \
  X(permute, A, (Mat A, IS r, IS c, Mat * B), (A, r, c, B))                                                                                                                                      \
  X(setvaluesblocked, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode))                              \
  X(createsubmatrix, A, (Mat A, IS r, IS c, MatReuse reuse, Mat * B), (A, r, c, reuse, B))                                                                                                       \
  X(setvalueslocal, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode))                                \
  X(zerorowslocal, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))                                                                                  \
  X(getrowmaxabs, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                                                    \
  X(getrowminabs, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                                                    \
  X(convert, A, (Mat A, MatType type, MatReuse reuse, Mat * B), (A, type, reuse, B))                                                                                                             \
  X(fdcoloringapply, A, (Mat A, MatFDColoring fd, Vec x, void *s), (A, fd, x, s))                                                                                                                \
  X(findzerodiagonals, A, (Mat A, IS * is), (A, is))                                                                                                                                             \
  X(mults, A, (Mat A, Vecs x, Vecs y), (A, x, y))                                                                                                                                                \
  X(solves, A, (Mat A, Vecs x, Vecs y), (A, x, y))                                                                                                                                               \
  X(getinertia, A, (Mat A, PetscInt * n, PetscInt * z, PetscInt * p), (A, n, z, p))                                                                                                              \
  X(load, A, (Mat A, PetscViewer viewer), (A, viewer))                                                                                                                                           \
  X(issymmetric, A, (Mat A, PetscReal tol, PetscBool * flg), (A, tol, flg))                                                                                                                      \
  X(ishermitian, A, (Mat A, PetscReal tol, PetscBool * flg), (A, tol, flg))                                                                                                                      \
  X(isstructurallysymmetric, A, (Mat A, PetscBool * flg), (A, flg))                                                                                                                              \
  X(setvaluesblockedlocal, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], const PetscScalar v[], InsertMode mode), (A, m, i, n, j, v, mode))                         \
  X(productsymbolic, A, (Mat A), (A))                                                                                                                                                            \
  X(productnumeric, A, (Mat A), (A))                                                                                                                                                             \
  X(conjugate, A, (Mat A), (A))                                                                                                                                                                  \
  X(viewnative, A, (Mat A, PetscViewer viewer), (A, viewer))                                                                                                                                     \
  X(setvaluesrow, A, (Mat A, PetscInt row, const PetscScalar v[]), (A, row, v))                                                                                                                  \
  X(realpart, A, (Mat A), (A))                                                                                                                                                                   \
  X(imaginarypart, A, (Mat A), (A))                                                                                                                                                              \
  X(getrowuppertriangular, A, (Mat A), (A))                                                                                                                                                      \
  X(restorerowuppertriangular, A, (Mat A), (A))                                                                                                                                                  \
  X(matsolve, A, (Mat A, Mat B, Mat C), (A, B, C))                                                                                                                                               \
  X(matsolvetranspose, A, (Mat A, Mat B, Mat C), (A, B, C))                                                                                                                                      \
  X(getrowmin, A, (Mat A, Vec v, PetscInt i[]), (A, v, i))                                                                                                                                       \
  X(getcolumnvector, A, (Mat A, Vec v, PetscInt j), (A, v, j))                                                                                                                                   \
  X(getseqnonzerostructure, A, (Mat A, Mat * B), (A, B))                                                                                                                                         \
  X(getlocalsubmatrix, A, (Mat A, IS r, IS c, Mat * B), (A, r, c, B))                                                                                                                            \
  X(restorelocalsubmatrix, A, (Mat A, IS r, IS c, Mat * B), (A, r, c, B))                                                                                                                        \
  X(multdiagonalblock, A, (Mat A, Vec x, Vec y), (A, x, y))                                                                                                                                      \
  X(hermitiantranspose, A, (Mat A, MatReuse reuse, Mat * B), (A, reuse, B))                                                                                                                      \
  X(getmultiprocblock, A, (Mat A, MPI_Comm comm, MatReuse reuse, Mat * B), (A, comm, reuse, B))                                                                                                  \
  X(findnonzerorows, A, (Mat A, IS * is), (A, is))                                                                                                                                               \
  X(getcolumnreductions, A, (Mat A, PetscInt type, PetscReal * r), (A, type, r))                                                                                                                 \
  X(invertblockdiagonal, A, (Mat A, const PetscScalar **v), (A, v))                                                                                                                              \
  X(invertvariableblockdiagonal, A, (Mat A, PetscInt n, const PetscInt *s, PetscScalar *v), (A, n, s, v))                                                                                        \
  X(createsubmatricesmpi, A, (Mat A, PetscInt n, const IS r[], const IS c[], MatReuse reuse, Mat **B), (A, n, r, c, reuse, B))                                                                   \
  X(transposecoloringcreate, A, (Mat A, ISColoring is, MatTransposeColoring t), (A, is, t))                                                                                                      \
  X(transcoloringapplysptoden, A, (MatTransposeColoring t, Mat A, Mat B), (t, A, B))                                                                                                             \
  X(transcoloringapplydentosp, A, (MatTransposeColoring t, Mat B, Mat A), (t, B, A))                                                                                                             \
  X(residual, A, (Mat A, Vec b, Vec x, Vec r), (A, b, x, r))                                                                                                                                     \
  X(fdcoloringsetup, A, (Mat A, ISColoring is, MatFDColoring fd), (A, is, fd))                                                                                                                   \
  X(findoffblockdiagonalentries, A, (Mat A, IS * is), (A, is))                                                                                                                                   \
  X(creatempimatconcatenateseqmat, A, (MPI_Comm comm, Mat A, PetscInt n, MatReuse reuse, Mat * B), (comm, A, n, reuse, B))                                                                       \
  X(mattransposesolve, A, (Mat A, Mat B, Mat C), (A, B, C))                                                                                                                                      \
  X(getvalueslocal, A, (Mat A, PetscInt m, const PetscInt i[], PetscInt n, const PetscInt j[], PetscScalar v[]), (A, m, i, n, j, v))                                                             \
  X(creategraph, A, (Mat A, PetscBool sym, PetscBool scale, PetscReal filter, PetscInt n, PetscInt i[], Mat * B), (A, sym, scale, filter, n, i, B))                                              \
  X(transposesymbolic, A, (Mat A, Mat * B), (A, B))                                                                                                                                              \
  X(eliminatezeros, A, (Mat A, PetscBool keep), (A, keep))                                                                                                                                       \
  X(getrowsumabs, A, (Mat A, Vec v), (A, v))                                                                                                                                                     \
  X(getblockdiagonal, A, (Mat A, Mat * B), (A, B))                                                                                                                                               \
  X(getvblockdiagonal, A, (Mat A, Mat * B), (A, B))                                                                                                                                              \
  X(zerorowscolumnslocal, A, (Mat A, PetscInt n, const PetscInt r[], PetscScalar d, Vec x, Vec b), (A, n, r, d, x, b))

#define VCRS_STUB(name, self, parameters, arguments)                            \
  static PetscErrorCode MatVCRSStub_##name parameters                           \
  {                                                                             \
    PetscFunctionBegin;                                                         \
    PetscCall(MatVCRSMaterializeOperand_Private(self, "the operation " #name)); \
    PetscCall((*self->ops->name)arguments);                                     \
    PetscFunctionReturn(PETSC_SUCCESS);                                         \
  }
VCRS_STUBS(VCRS_STUB)

VCRS_STUB(sor, A, (Mat A, Vec b, PetscReal omega, MatSORType flag, PetscReal shift, PetscInt its, PetscInt lits, Vec x), (A, b, omega, flag, shift, its, lits, x))

/* MATSEQAIJ has no such operation; MatGetOrdering() asks for it before anything of a factorisation reads the arrays */
static PetscErrorCode MatVCRSStub_getordering(Mat A, MatOrderingType type, IS *r, IS *c)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "an ordering"));
  PetscCall(MatGetOrdering(A, type, r, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* composed functions: a name of ours, PETSc's name, parameters, arguments */
#define VCRS_FUNCTIONS(X)                                                                                                                                     \
  X(SetColumnIndices, "MatSeqAIJSetColumnIndices_C", (Mat A, PetscInt * j), (A, j))                                                                           \
  X(RetrieveValues, "MatRetrieveValues_C", (Mat A), (A))                                                                                                      \
  X(SeqSetPreallocation, "MatSeqAIJSetPreallocation_C", (Mat A, PetscInt n, const PetscInt nnz[]), (A, n, nnz))                                               \
  X(SeqSetPreallocationCSR, "MatSeqAIJSetPreallocationCSR_C", (Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar v[]), (A, i, j, v))           \
  X(MPISetPreallocation, "MatMPIAIJSetPreallocation_C", (Mat A, PetscInt d, const PetscInt dnnz[], PetscInt o, const PetscInt onnz[]), (A, d, dnnz, o, onnz)) \
  X(MPISetPreallocationCSR, "MatMPIAIJSetPreallocationCSR_C", (Mat A, const PetscInt i[], const PetscInt j[], const PetscScalar v[]), (A, i, j, v))           \
  X(ResetPreallocation, "MatResetPreallocation_C", (Mat A), (A))                                                                                              \
  X(ResetHash, "MatResetHash_C", (Mat A), (A))                                                                                                                \
  X(ReorderForNonzeroDiagonal, "MatReorderForNonzeroDiagonal_C", (Mat A, PetscReal tol, IS r, IS c), (A, tol, r, c))                                          \
  X(SetPreallocationCOO, "MatSetPreallocationCOO_C", (Mat A, PetscCount n, PetscInt i[], PetscInt j[]), (A, n, i, j))                                         \
  X(SetValuesCOO, "MatSetValuesCOO_C", (Mat A, const PetscScalar v[], InsertMode mode), (A, v, mode))                                                         \
  X(DiagonalScaleLocal, "MatDiagonalScaleLocal_C", (Mat A, Vec v), (A, v))                                                                                    \
  X(ScalableIncreaseOverlap, "MatMPIAIJSetUseScalableIncreaseOverlap_C", (Mat A, PetscBool sc), (A, sc))

#define VCRS_FUNCTION_STUB(name, string, parameters, arguments)      \
  static PetscErrorCode MatVCRSFunctionStub_##name parameters        \
  {                                                                  \
    PetscErrorCode(*f) parameters;                                   \
                                                                     \
    PetscFunctionBegin;                                              \
    PetscCall(MatVCRSMaterializeOperand_Private(A, string));         \
    PetscCall(PetscObjectQueryFunction((PetscObject)A, string, &f)); \
    PetscCall((*f)arguments);                                        \
    PetscFunctionReturn(PETSC_SUCCESS);                              \
  }
VCRS_FUNCTIONS(VCRS_FUNCTION_STUB)

/* Two matrices; PETSc compares their functions, so this one is composed with dropped matrices only */
static PetscErrorCode MatVCRSFunctionStub_Transpose_Private(Mat A, Mat B, PetscReal tol, PetscBool *flg, const char name[])
{
  PetscErrorCode (*f)(Mat, Mat, PetscReal, PetscBool *);

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, name));
  PetscCall(MatVCRSMaterializeOperand_Private(B, name));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, name, &f));
  PetscCall((*f)(A, B, tol, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSFunctionStub_IsTranspose(Mat A, Mat B, PetscReal tol, PetscBool *flg)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSFunctionStub_Transpose_Private(A, B, tol, flg, "MatIsTranspose_C"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSFunctionStub_IsHermitianTranspose(Mat A, Mat B, PetscReal tol, PetscBool *flg)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSFunctionStub_Transpose_Private(A, B, tol, flg, "MatIsHermitianTranspose_C"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VCRS_FUNCTION_ROW(name, string, parameters, arguments) {string, (PetscErrorCodeFn *)MatVCRSFunctionStub_##name},
static const struct {
  const char       *name;
  PetscErrorCodeFn *stub;
} VCRSFunctions[] = {
  VCRS_FUNCTIONS(VCRS_FUNCTION_ROW){"MatIsTranspose_C", (PetscErrorCodeFn *)MatVCRSFunctionStub_IsTranspose},
  {"MatIsHermitianTranspose_C", (PetscErrorCodeFn *)MatVCRSFunctionStub_IsHermitianTranspose}};

/* Puts the stubs over A's operations and keeps those */
static PetscErrorCode MatVCRSInstallStubs_Private(Mat A, PetscBool parallel)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCheck(PETSC_STATIC_ARRAY_LENGTH(VCRSFunctions) <= VCRS_MAXFUNCTIONS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Raise VCRS_MAXFUNCTIONS");
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  drop->live  = *A->ops;
  drop->data  = A->data;
  drop->given = PETSC_TRUE;
#define VCRS_INSTALL(name, self, parameters, arguments) \
  if (A->ops->name) A->ops->name = MatVCRSStub_##name;
  VCRS_STUBS(VCRS_INSTALL)
#undef VCRS_INSTALL
  if (parallel) {
    /* The rest of MATMPIAIJ's goes through the operations of the blocks, or does not read them */
    A->ops->getrow            = MatGetRow_MPIAIJVCRSDropped;
    A->ops->multdiagonalblock = drop->live.multdiagonalblock;
    A->ops->setunfactored     = drop->live.setunfactored;
    if (drop->live.getordering) A->ops->getordering = MatVCRSStub_getordering;
  } else {
    A->ops->getrow        = MatGetRow_SeqAIJVCRSDropped;
    A->ops->getdiagonal   = MatGetDiagonal_VCRSDropped;
    A->ops->norm          = MatNorm_SeqAIJVCRSDropped;
    A->ops->getinfo       = MatGetInfo_SeqAIJVCRSDropped;
    A->ops->sor           = MatSOR_SeqAIJVCRSDropped;
    A->ops->duplicate     = MatDuplicate_SeqAIJVCRSDropped;
    A->ops->assemblybegin = NULL;
    A->ops->assemblyend   = MatAssemblyEnd_SeqAIJVCRSDropped;
    A->ops->getordering   = MatVCRSStub_getordering;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(VCRSFunctions); k++) {
    PetscCall(PetscObjectQueryFunction((PetscObject)A, VCRSFunctions[k].name, &drop->function[k]));
    if (drop->function[k]) PetscCall(PetscObjectComposeFunction((PetscObject)A, VCRSFunctions[k].name, VCRSFunctions[k].stub));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite */
static PetscErrorCode MatVCRSRemoveStubs_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  *A->ops = drop->live;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(VCRSFunctions); k++) {
    if (drop->function[k]) PetscCall(PetscObjectComposeFunction((PetscObject)A, VCRSFunctions[k].name, drop->function[k]));
    drop->function[k] = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Operations with two matrices, of which PETSc reads the second one's arrays: in the class' own table ---- */

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
  PetscCall((*ctx->super.axpy)(Y, a, X, str));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between matrices of other types PETSc goes by MatGetRow() and MatSetValues() */
static PetscErrorCode MatCopy_VCRS(Mat A, Mat B, MatStructure str)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeBoth_Private(A, B, "MatCopy()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.copy)(A, B, str));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatEqual_VCRS(Mat A, Mat B, PetscBool *flg)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeBoth_Private(A, B, "MatEqual()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.equal)(A, B, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTranspose_VCRS(Mat A, MatReuse reuse, Mat *B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSMaterializeOperand_Private(*B, "the result of MatTranspose()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.transpose)(A, reuse, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateSubMatrix_VCRS(Mat A, IS r, IS c, MatReuse reuse, Mat *B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSMaterializeOperand_Private(*B, "the result of MatCreateSubMatrix()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.createsubmatrix)(A, r, c, reuse, B));
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
  PetscCall((*ctx->super.createsubmatrices)(A, n, r, c, reuse, B));
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
  PetscCall((*ctx->super.fdcoloringcreate)(A, coloring, fd));
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
  PetscCall((*ctx->super.fdcoloringsetup)(A, coloring, fd));
  drop->coloring = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One that was set up before the matrix became ours would write to memory that is gone */
static PetscErrorCode MatFDColoringApply_VCRS(Mat A, MatFDColoring fd, Vec x, void *s)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCheck(drop->coloring || !drop->given, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The MatFDColoring was set up with AIJ arrays that were given back since: create it from the matrix of type %s, or do not use -mat_vcrs_drop_aij", ((PetscObject)A)->type_name);
  PetscCall((*ctx->super.fdcoloringapply)(A, fd, x, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatStoreValues_VCRS(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "MatStoreValues()"));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall((*drop->storevalues)(A));
  drop->stored = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSeqAIJKron_VCRS(Mat A, Mat B, MatReuse reuse, Mat *C)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "MatSeqAIJKron()"));
  PetscCall(MatVCRSMaterializeOperand_Private(B, "MatSeqAIJKron()"));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSMaterializeOperand_Private(*C, "the result of MatSeqAIJKron()"));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall((*drop->kron)(A, B, reuse, C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a matrix that may be dropped, or may meet a dropped one, does differently from AIJ while it has its arrays */
PetscErrorCode MatVCRSComposeDrop_Private(Mat A, PetscBool parallel)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  A->ops->axpy              = MatAXPY_VCRS;
  A->ops->copy              = MatCopy_VCRS;
  A->ops->equal             = MatEqual_VCRS;
  A->ops->transpose         = MatTranspose_VCRS;
  A->ops->createsubmatrices = MatCreateSubMatrices_VCRS;
  A->ops->restorerow        = MatRestoreRow_VCRS;
  A->ops->fdcoloringcreate  = MatFDColoringCreate_VCRS;
  A->ops->fdcoloringsetup   = MatFDColoringSetUp_VCRS;
  A->ops->fdcoloringapply   = MatFDColoringApply_VCRS;
  if (parallel) {
    A->ops->createsubmatrix = MatCreateSubMatrix_VCRS;
    A->ops->norm            = MatNorm_MPIAIJVCRS;
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatStoreValues_C", &drop->storevalues));
  if (drop->storevalues) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStoreValues_C", MatStoreValues_VCRS));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "MatSeqAIJKron_C", &drop->kron));
  if (drop->kron) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSeqAIJKron_C", MatSeqAIJKron_VCRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite, before A becomes an AIJ matrix; the operations are the caller's */
static PetscErrorCode MatVCRSDecomposeDrop_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (drop->storevalues) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatStoreValues_C", drop->storevalues));
  if (drop->kron) PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatSeqAIJKron_C", drop->kron));
  PetscCall(PetscObjectCompose((PetscObject)A, VCRS_DROP_CONTAINER, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Giving back and taking again ---- */

/* Why the arrays must stay, or NULL */
static PetscErrorCode MatVCRSMustKeep_Private(Mat A, const char **reason)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  *reason = NULL;
  if (A->structure_only) *reason = "it has no values";
  else if (A->factortype) *reason = "it is a factor";
  else if (A->hash_active) *reason = "it is being assembled";
  else if (drop->stored) *reason = "MatStoreValues() keeps values in it";
  else if (drop->coloring) *reason = "a MatFDColoring points into them";
  else if (A->product && A->product->type == MATPRODUCT_ABt) *reason = "it is a product A B^T, into which PETSc writes one value more than there are"; /* MatMatTransposeMultNumeric_SeqAIJ_SeqAIJ() */
  else if (A->ops->destroy != MatDestroy_SeqAIJVCRS && A->ops->destroy != MatDestroy_MPIAIJVCRS) *reason = "it is a submatrix that is kept for another extraction";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   MAT_ROW_ORIENTED of a matrix that had it set before it became ours: no function tells it, and a
   wrong guess would transpose the blocks that a program inserts later. Insert one value of an entry
   at two places of a block, of which the other rows and columns are negative and thus ignored, and
   see which one arrives.
*/
static PetscErrorCode MatVCRSLearnRowOriented_Private(Mat A)
{
  Mat_VCRS       *ctx;
  VCRSDrop       *drop;
  const PetscInt *ai, *aj;
  PetscScalar    *aa, old, v[4] = {0.0, 0.0, 0.0, 0.0};
  PetscInt        row = 0, rows[2] = {-1, 0}, cols[2] = {0, -1};

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_ROW_ORIENTED) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &ai, &aj, &aa, NULL));
  while (row < A->rmap->n && ai[row] == ai[row + 1]) row++;
  if (row == A->rmap->n || A->sortedfull) PetscFunctionReturn(PETSC_SUCCESS);
  rows[1] = row;
  cols[0] = aj[ai[row]];
  old     = aa[ai[row]];
  v[1]    = 1.0; /* arrives if columns come first */
  v[2]    = 2.0; /* arrives if rows come first */
  PetscCall((*ctx->super.setvalues)(A, 2, rows, 2, cols, v, INSERT_VALUES));
  PetscCall(VCRSDropRecordOption(drop, MAT_ROW_ORIENTED, (PetscBool)(aa[ai[row]] != v[1])));
  aa[ai[row]] = old;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSDropAIJ_Seq(Mat A)
{
  Mat_VCRS   *ctx;
  Mat         empty;
  void       *data;
  const char *reason;
  PetscInt    inodes = 0;
  PetscBool   isaij;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The AIJ arrays of a matrix that is not assembled cannot be given back: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatVCRSMustKeep_Private(A, &reason));
  if (reason) {
    PetscCall(PetscInfo(A, "The AIJ arrays are not given back: %s\n", reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSCompress(A));
  if (ctx->dropped) PetscFunctionReturn(PETSC_SUCCESS); /* now, or by -mat_vcrs_drop_aij */
  PetscCall(MatVCRSOperatorGuardStart());
  PetscCall(MatVCRSLearnRowOriented_Private(A));
  PetscCall(MatInodeGetInodeSizes(A, &inodes, NULL, NULL));

  /* An empty MATSEQAIJ takes the data along when it is destroyed */
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &empty));
  PetscCall(PetscObjectSetOptions((PetscObject)empty, ((PetscObject)A)->options));
  PetscCall(MatSetOptionsPrefix(empty, ((PetscObject)A)->prefix));
  PetscCall(MatSetLayouts(empty, A->rmap, A->cmap));
  PetscCall(MatSetType(empty, MATSEQAIJ));
  PetscCall(PetscObjectTypeCompare((PetscObject)empty, MATSEQAIJ, &isaij));
  if (!isaij) PetscCall(MatConvert(empty, MATSEQAIJ, MAT_INPLACE_MATRIX, &empty));
  data        = A->data;
  A->data     = empty->data;
  empty->data = data;
  PetscCall(MatDestroy(&empty));

  PetscCall(MatVCRSInstallStubs_Private(A, PETSC_FALSE));
  /* With inodes MATSEQAIJ relaxes blocks of rows; only it can */
  if (inodes) A->ops->sor = MatVCRSStub_sor;
  ctx->dropped = PETSC_TRUE;
  PetscCall(PetscInfo(A, "The AIJ arrays are given back\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSMaterializeAIJ_Seq(Mat A)
{
  Mat_VCRS        *ctx;
  VCRSDrop        *drop;
  Mat              T;
  void            *data;
  PetscObjectState state;
  const char      *prefix;
  PetscBool        dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  if (!dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(PetscLogEventBegin(MAT_VCRSMaterialize, A, 0, 0, 0));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(MatVCRSDecode_Private(A, prefix, PETSC_TRUE, &T));
  data    = A->data;
  A->data = T->data;
  T->data = data;
  PetscCall(MatDestroy(&T));
  PetscCall(MatVCRSRemoveStubs_Private(A));
  ctx->dropped = PETSC_FALSE;
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));

  /* Those that change the table of operations, too */
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_USE_INODES || drop->option[k] == MAT_SORTED_FULL) PetscCall((*ctx->super.setoption)(A, drop->option[k], drop->value[k]));
  }

  /* The plan was and is what the matrix holds */
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  ctx->state = state;
  PetscCall(PetscLogEventEnd(MAT_VCRSMaterialize, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSDropAIJ_MPI(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSDrop   *drop, *blockdrop;
  Mat         block[2];
  const char *reason;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The AIJ arrays of a matrix that is not assembled cannot be given back: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatVCRSMustKeep_Private(A, &reason));
  if (reason) {
    PetscCall(PetscInfo(A, "The AIJ arrays are not given back: %s\n", reason));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  for (int b = 0; b < 2; b++) {
    /* Options that were set before the blocks were ours */
    PetscCall(MatVCRSGetDrop_Private(block[b], &blockdrop));
    if (!blockdrop->noptions) {
      PetscCall(VCRSDropRecordOption(blockdrop, MAT_ROW_ORIENTED, PETSC_TRUE));
      for (PetscInt k = 0; k < drop->noptions; k++) PetscCall(VCRSDropRecordOption(blockdrop, drop->option[k], drop->value[k]));
    }
    PetscCall(MatVCRSDropAIJ_Seq(block[b]));
  }
  if (!ctx->dropped) PetscCall(MatVCRSInstallStubs_Private(A, PETSC_TRUE));
  ctx->dropped = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Needs no communication: one process may come here alone */
static PetscErrorCode MatVCRSMaterializeAIJ_MPI(Mat A)
{
  Mat_VCRS        *ctx;
  VCRSDrop        *drop;
  Mat              block[2];
  PetscObjectState state;
  PetscBool        dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  if (!dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) PetscCall(MatVCRSMaterializeAIJ_Seq(block[b]));
  PetscCall(MatVCRSRemoveStubs_Private(A));
  ctx->dropped = PETSC_FALSE;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  ctx->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSDropAIJ - Gives the AIJ arrays of a `MATVCRS` matrix back, so that it takes the memory of its compressed form only

  Collective

  Input Parameter:
. A - the matrix, assembled

  Options Database Key:
. -mat_vcrs_drop_aij - do so whenever the matrix has been compressed, that is at the first product after a change

  Level: intermediate

  Notes:
  Products, also with transposes and with dense matrices, `MatGetDiagonal()`, `MatGetRow()` (one row
  at a time), `MatNorm()`, `MatSOR()`, `MatGetInfo()`, `MatView()`, `MatDuplicate()` and the
  conversion to `MATAIJ` then work from the compressed form. Whatever else is asked of the matrix
  first takes the arrays again, as `MatVCRSMaterializeAIJ()` does; `-info` says so and names the
  operation. They are not given back once more until the matrix has been changed and compressed
  again, or until this function is called.

  From a lossy matrix come back the values that it multiplies with: those that were set are gone.

  The arrays stay where they hold what the compressed form does not, or where something points into
  them: after `MatStoreValues()`, with a `MatFDColoring` of the matrix (with which `SNES` computes a
  Jacobian by default), in a submatrix that PETSc keeps for another extraction; `-info` says so.

  PETSc lets a program have the arrays without asking the matrix: `MatSeqAIJGetArray()`,
  `MatSeqAIJGetArrayRead()` and `MatSeqAIJGetCSRAndMemType()` find `NULL` in a matrix that has given
  them back. Call `MatVCRSMaterializeAIJ()` before them, and before the matrix is given to
  `MatCreateMAIJ()`. `MatGetRowIJ()` takes the arrays by itself.

  What was said with `MatSetOption()` before the matrix became a `MATVCRS` one is not known when the
  arrays are taken again: new nonzeros are then allowed, and the other options but
  `MAT_ROW_ORIENTED` have their defaults.

.seealso: `MATVCRS`, `MatVCRSMaterializeAIJ()`, `MatVCRSGetInfo()`
@*/
PetscErrorCode MatVCRSDropAIJ(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "A matrix of type %s has no compressed form: convert it with MatConvert() to MATVCRS first", ((PetscObject)A)->type_name);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSDropAIJ_MPI(A));
  else PetscCall(MatVCRSDropAIJ_Seq(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSMaterializeAIJ - Takes the AIJ arrays of a `MATVCRS` matrix again that were given back

  Not Collective

  Input Parameter:
. A - the matrix

  Level: intermediate

  Notes:
  It does nothing where the arrays are there. Operations that need them do this by themselves; a
  program must do it before `MatSeqAIJGetArray()` and its relatives.

  The compressed form stays as it is: nothing is compressed again unless values change.

.seealso: `MATVCRS`, `MatVCRSDropAIJ()`
@*/
PetscErrorCode MatVCRSMaterializeAIJ(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(ctx, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A matrix of type %s has no compressed form: convert it with MatConvert() to MATVCRS first", ((PetscObject)A)->type_name);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSMaterializeAIJ_MPI(A));
  else PetscCall(MatVCRSMaterializeAIJ_Seq(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Back to AIJ ---- */

/* Both kinds: a copy is a MATVCRS that has its arrays, and is then unwrapped in place */
static PetscErrorCode MatVCRSUnwrap_Private(Mat A, MatType base, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(MatCopy(A, *newmat, DIFFERENT_NONZERO_PATTERN));
    *done = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, newmat));
  PetscCall(MatVCRSMaterializeOperand_Private(*newmat, base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_SeqAIJVCRS_SeqAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatVCRSUnwrap_Private(A, MATSEQAIJ, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSDecomposeDrop_Private(*newmat));
  PetscCall(MatVCRSDecomposeProducts_Private(*newmat, PETSC_FALSE));
  PetscCall(MatVCRSComposeConversions_Private(*newmat, MATSEQAIJ, MATSEQAIJVCRS, NULL, NULL));
  PetscCall(MatVCRSDetach_Private(*newmat));
  PetscCall(PetscObjectChangeTypeName((PetscObject)*newmat, MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_MPIAIJVCRS_MPIAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  Mat       block[2];
  PetscBool done, ours;

  PetscFunctionBegin;
  PetscCall(MatVCRSUnwrap_Private(A, MATMPIAIJ, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*newmat)->preallocated) {
    PetscCall(MatMPIAIJGetSeqAIJ(*newmat, &block[0], &block[1], NULL));
    for (int b = 0; b < 2; b++) {
      PetscCall(PetscObjectTypeCompare((PetscObject)block[b], MATSEQAIJVCRS, &ours));
      if (ours) PetscCall(MatConvert_SeqAIJVCRS_SeqAIJ(block[b], MATSEQAIJ, MAT_INPLACE_MATRIX, &block[b]));
    }
  }
  PetscCall(MatVCRSDecomposeDrop_Private(*newmat));
  PetscCall(MatVCRSDecomposeProducts_Private(*newmat, PETSC_TRUE));
  PetscCall(MatVCRSComposeConversions_Private(*newmat, MATMPIAIJ, MATMPIAIJVCRS, NULL, NULL));
  PetscCall(MatVCRSDetach_Private(*newmat));
  PetscCall(PetscObjectChangeTypeName((PetscObject)*newmat, MATMPIAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}
