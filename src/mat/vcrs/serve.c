/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The operations that a MATVCRS without AIJ arrays performs with its plan: diagonal, rows, norms, information, copies,
   relaxation. Products use the plan with and without arrays (apply.c, mpi.c, product.c).

   Each function first checks whether the matrix is still dropped, because an object can get new data and keep its
   operations; see MatVCRSIsDropped_Private().
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

/* Starts each function that serves an operation from the plan */
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

static PetscErrorCode MatGetDiagonal_VCRSDropped(Mat A, Vec v)
{
  const VCRSPlan *plan = NULL;
  PetscScalar    *d;
  PetscInt        n;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, getdiagonal, (A, v));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCheck(n == A->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The vector for the diagonal has %" PetscInt_FMT " entries and the matrix %" PetscInt_FMT " rows", n, A->rmap->n);
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool done;

    PetscCall(MatVCRSGetDiagonalOnDevice_Private(A, v, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(VecSet(v, 0.0)); /* rows beyond the last column have no diagonal */
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
  PetscCheck(!drop->rowactive, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "Row %" PetscInt_FMT
             " of a matrix of type %s is requested while another row is in use: the AIJ arrays were given back and rows are decoded one at "
             "a time. Call MatRestoreRow() first, or MatVCRSMaterializeAIJ()",
             row, ((PetscObject)A)->type_name);
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

  /* ascending columns: before the diagonal block, in the block, after the block */
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

/* Also in the table of a matrix with arrays: the arrays may have been restored since MatGetRow() */
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
  } else if (!dropped && ctx->super.ops.restorerow) PetscCall((*ctx->super.ops.restorerow)(A, row, nz, cols, vals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Adds moduli of a block's entries to row sums [m] and column sums [n], and their squares to sum2; each argument may be
   NULL
*/
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
    if (dropped) {
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

/* In both tables of a parallel matrix: some processes may have arrays while others have none */
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
    PetscErrorCode ierr;
    PetscOptions   none;
    Vec            col;
    PetscScalar   *c;
    const PetscInt n = A->cmap->n, ghosts = Ao->cmap->n;

    /* sums of own columns, plus contributions of other processes */
    PetscCall(VecCreateMPI(comm, n, A->cmap->N, &col));
    PetscCall(PetscCalloc1(PetscMax(n, ghosts), &sum));
    PetscCall(MatVCRSAddModuli_Private(Ad, NULL, sum, NULL));
    PetscCall(VecGetArrayWrite(col, &c));
    for (PetscInt j = 0; j < n; j++) c[j] = sum[j];
    PetscCall(VecRestoreArrayWrite(col, &c));
    PetscCall(PetscArrayzero(sum, ghosts));
    PetscCall(MatVCRSAddModuli_Private(Ao, NULL, sum, NULL));
    for (PetscInt j = 0; j < ghosts; j++) PetscCall(VecSetValue(col, garray[j], sum[j], ADD_VALUES));
    PetscCall(LitheOptionsHide(&none));
    ierr = VecAssemblyBegin(col);
    if (!ierr) ierr = VecAssemblyEnd(col);
    PetscCall(LitheOptionsShow(&none));
    PetscCall(ierr);
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
  PetscCall(VCRSPlanGetBytes(ctx->plans.host, &bytes, &tablebytes));
  info->block_size        = 1.0;
  info->nz_allocated      = (PetscLogDouble)ctx->plans.host->nz;
  info->nz_used           = (PetscLogDouble)ctx->plans.host->nz;
  info->nz_unneeded       = 0.0;
  info->assemblies        = A->num_ass;
  info->mallocs           = A->info.mallocs;
  info->memory            = (PetscLogDouble)bytes;
  info->fill_ratio_given  = 0.0;
  info->fill_ratio_needed = 0.0;
  info->factor_mallocs    = 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The copy has A's AIJ options, and must record them for its next restoration of arrays */
static PetscErrorCode MatVCRSCopyOptions_Private(Mat A, Mat B)
{
  VCRSDrop *a, *b;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &a));
  PetscCall(MatVCRSGetDrop_Private(B, &b));
  for (PetscInt k = 0; k < a->noptions; k++) PetscCall(VCRSDropRecordOption(b, a->option[k], a->value[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A copy without AIJ arrays shares the plan until either matrix changes. For example, TSSetUp() copies the matrix of a
   constant right-hand side twice, used or not
*/
static PetscErrorCode MatDuplicateSharing_Private(Mat A, Mat *B)
{
  Mat_VCRS      *a, *b;
  PetscOptions   none;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(LitheOptionsHide(&none));
  ierr = MatVCRSCreateEmpty_Private(A, B);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  (*B)->nonzerostate = A->nonzerostate;
  PetscCall(MatVCRSGetContext(A, &a));
  PetscCall(MatVCRSGetContext(*B, &b));
  PetscCall(MatVCRSCopyContext_Private(a, b));
  PetscCall(MatVCRSCopyOptions_Private(A, *B));
  PetscCall(MatVCRSSharePlan_Private(a, b));
  PetscCall(MatVCRSSetCurrent_Private(*B));
  PetscCall((*b->methods.drop)(*B));
  (*B)->ops->sor = A->ops->sor; /* which is not served where A has inodes */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDuplicate_SeqAIJVCRSDropped(Mat A, MatDuplicateOption op, Mat *B)
{
  Mat_VCRS *a, *b;

  PetscFunctionBegin;
  VCRS_UNLESS_DROPPED(A, duplicate, (A, op, B));
  PetscCall(MatVCRSGetContext(A, &a));
  if (op == MAT_COPY_VALUES && a->last.dropcopies && !a->settings.lossy) {
    PetscCall(MatDuplicateSharing_Private(A, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSDecode_Private(A, NULL, (PetscBool)(op == MAT_COPY_VALUES), B));
  PetscUseMethod(A, "MatConvert_seqaij_seqaijvcrs_C", (Mat, MatType, MatReuse, Mat *), (*B, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, B));
  PetscCall(MatVCRSGetContext(*B, &b));
  PetscCall(MatVCRSCopyContext_Private(a, b));
  PetscCall(MatVCRSComposeComparisons_Private(*B));
  PetscCall(MatVCRSCopyOptions_Private(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* no value was set since the arrays were freed, because MatSetValues() would have restored the arrays */
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
   Relaxation as in MATSEQAIJ without inodes. omega (fshift + a_ii)^{-1} divides the residual, and its * lits sweeps are
   done. A forward sweep keeps b - L x for a backward sweep: if the forward sweep follows a zero initial guess, or
   precedes a backward sweep.
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
  /* both types need the arrays */
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

/*
   Puts these operations into the table of a dropped matrix; other operations of MATMPIAIJ use the operations of the
   blocks
*/
PetscErrorCode MatVCRSServeInstall_Private(Mat A, PetscBool parallel)
{
  PetscFunctionBegin;
  if (parallel) {
    A->ops->getrow = MatGetRow_MPIAIJVCRSDropped;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->ops->getrow        = MatGetRow_SeqAIJVCRSDropped;
  A->ops->getdiagonal   = MatGetDiagonal_VCRSDropped;
  A->ops->norm          = MatNorm_SeqAIJVCRSDropped;
  A->ops->getinfo       = MatGetInfo_SeqAIJVCRSDropped;
  A->ops->sor           = MatSOR_SeqAIJVCRSDropped;
  A->ops->duplicate     = MatDuplicate_SeqAIJVCRSDropped;
  A->ops->assemblybegin = NULL;
  A->ops->assemblyend   = MatAssemblyEnd_SeqAIJVCRSDropped;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sets operations of a matrix with AIJ arrays. MatRestoreRow() may follow a MatGetRow() without arrays. Other processes
   may have no arrays when a norm is computed
*/
void MatVCRSServeAttach_Private(Mat A, PetscBool parallel)
{
  A->ops->restorerow = MatRestoreRow_VCRS;
  if (parallel) A->ops->norm = MatNorm_MPIAIJVCRS;
}
