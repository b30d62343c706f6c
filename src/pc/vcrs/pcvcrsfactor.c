/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The factors that PETSc has made, compressed.

   An inner PCILU, PCICC, PCLU or PCCHOLESKY is set up as its options say. What its factored matrix holds,

     P_r A P_c = L U    (MATSEQAIJ: L by rows, then the rows of U from the last to the first, each
                         with the inverse of its diagonal entry at its end)
     P A P^T = U^T D U  (MATSEQSBAIJ: the rows of -U, each with the inverse of D's entry at its end)

   is read through PETSc's public functions for arrays. Row and column orderings have none; but with
   all off-diagonal entries taken for zero, and known numbers for the pivots, solving for known right
   sides tells them. Whatever is read is tried out: a system solved with it must have the solution
   that MatSolve() finds, or the factors are left as they are.

   They are stored as (I - lower) inverse^-1 (I - upper): both triangles are without dimension, whatever
   the units of A are, and their rows add up to what they added up to. So each is one MATVCRS with the
   loss that was asked for, and the inverse pivots, in single precision unless nothing is to be lost,
   are a third one. Factors of direct solvers keep single precision: a row of theirs has many entries,
   and a solution that is expected to be the exact one.
*/

#include "pcvcrsimpl.h"

/* What is read of a factored matrix: rows of lower and upper, without their diagonals */
typedef struct {
  PetscInt     n;
  PetscBool    symmetric;
  PetscInt    *li, *lj, *ui, *uj;
  PetscScalar *la, *ua, *inverse;
  PetscInt    *row, *col; /* x[col[i]] = y[i], where y solves for b[row[i]] */
} PCVCRSTriangles;

static PetscErrorCode PCVCRSTrianglesFree_Private(PCVCRSTriangles *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(t->li, t->lj, t->la));
  PetscCall(PetscFree3(t->ui, t->uj, t->ua));
  PetscCall(PetscFree3(t->inverse, t->row, t->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSFactorDestroy_Private(PCVCRSFactor **factor)
{
  PCVCRSFactor *f = *factor;

  PetscFunctionBegin;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&f->lower));
  PetscCall(MatDestroy(&f->upper));
  PetscCall(MatDestroy(&f->inverse));
  PetscCall(VecScatterDestroy(&f->row));
  PetscCall(VecScatterDestroy(&f->col));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(f->work); k++) PetscCall(VecDestroy(&f->work[k]));
  PetscCall(PetscFree(*factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of a factored matrix: they may be written to as long as it is put back what was there */
static PetscErrorCode PCVCRSGetArrays_Private(Mat F, PetscBool symmetric, const PetscInt **i, const PetscInt **j, PetscScalar **a)
{
  PetscMemType memtype = PETSC_MEMTYPE_HOST;
  PetscInt     n;
  PetscBool    done;

  PetscFunctionBegin;
  if (symmetric) {
    PetscCall(MatGetRowIJ(F, 0, PETSC_FALSE, PETSC_FALSE, &n, i, j, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The pattern of a factored matrix of type %s cannot be read", ((PetscObject)F)->type_name);
    PetscCall(MatSeqSBAIJGetArray(F, a));
  } else {
    PetscCall(MatSeqAIJGetCSRAndMemType(F, i, j, a, &memtype));
    if (PetscMemTypeDevice(memtype)) *i = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSRestoreArrays_Private(Mat F, PetscBool symmetric, const PetscInt **i, const PetscInt **j, PetscScalar **a)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  if (symmetric) {
    PetscCall(MatRestoreRowIJ(F, 0, PETSC_FALSE, PETSC_FALSE, &n, i, j, &done));
    PetscCall(MatSeqSBAIJRestoreArray(F, a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the diagonal entry of each row is, and so the rows of U; PETSC_FALSE if the entries are not where they are thought to be */
static PetscBool PCVCRSFindPivots(PetscInt n, PetscInt nz, PetscBool symmetric, const PetscInt i[], const PetscInt j[], PetscInt pivot[])
{
  PetscInt p = i[n];

  if (symmetric) {
    if (i[n] != nz) return PETSC_FALSE;
    for (PetscInt r = 0; r < n; r++) {
      if (i[r + 1] <= i[r] || j[i[r + 1] - 1] != r) return PETSC_FALSE;
      pivot[r] = i[r + 1] - 1;
    }
    return PETSC_TRUE;
  }
  for (PetscInt r = n - 1; r >= 0; r--, p++) {
    while (p < nz && j[p] > r) p++;
    if (p >= nz || j[p] != r) return PETSC_FALSE;
    pivot[r] = p;
  }
  return (PetscBool)(p == nz);
}

/* Rows first[r] .. first[r] + length[r] - 1 of strictly triangular entries, times scale[r] */
static PetscErrorCode PCVCRSTakeRows_Private(PetscInt n, const PetscInt first[], const PetscInt length[], const PetscInt j[], const PetscScalar a[], const PetscScalar scale[], PetscInt **ti, PetscInt **tj, PetscScalar **ta)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) nz += length[r];
  PetscCall(PetscMalloc3(n + 1, ti, nz, tj, nz, ta));
  (*ti)[0] = 0;
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt to = (*ti)[r];

    for (PetscInt k = 0; k < length[r]; k++) {
      (*tj)[to + k] = j[first[r] + k];
      (*ta)[to + k] = a[first[r] + k] * (scale ? -scale[r] : (PetscScalar)-1);
    }
    (*ti)[r + 1] = to + length[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The orderings, while the values of F are a disguise. Numbers are told in two halves, so that those
   of any precision are exact. x[col[k]] = pivot_k b[row[k]], as no other entry is there.
*/
static PetscErrorCode PCVCRSTellOrderings_Private(Mat F, PetscInt nz, const PetscInt pivot[], PetscScalar a[], PetscInt n, PetscInt row[], PetscInt col[])
{
  const PetscInt     half = 4096;
  const PetscScalar *x;
  PetscScalar       *b;
  PetscInt          *at;
  Vec                right, solution;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &right));
  PetscCall(VecDuplicate(right, &solution));
  PetscCall(PetscCalloc1(n, &at));
  PetscCall(PetscArrayzero(a, nz));
  PetscCall(PetscArrayzero(row, n));

  /* Known pivots: at[l] = k where col[k] = l */
  PetscCall(VecSet(right, 1.0));
  for (PetscInt part = 0; part < 2; part++) {
    for (PetscInt k = 0; k < n; k++) a[pivot[k]] = (PetscScalar)(PetscReal)(part ? k / half : k % half);
    PetscCall(MatSolve(F, right, solution));
    PetscCall(VecGetArrayRead(solution, &x));
    for (PetscInt l = 0; l < n; l++) at[l] += (part ? half : 1) * (PetscInt)PetscRealPart(x[l]);
    PetscCall(VecRestoreArrayRead(solution, &x));
  }
  for (PetscInt k = 0; k < n; k++) col[k] = -1;
  for (PetscInt l = 0; l < n; l++) {
    if (at[l] >= 0 && at[l] < n) col[at[l]] = l;
  }

  /* Known right side */
  for (PetscInt k = 0; k < n; k++) a[pivot[k]] = 1.0;
  for (PetscInt part = 0; part < 2; part++) {
    PetscCall(VecGetArrayWrite(right, &b));
    for (PetscInt l = 0; l < n; l++) b[l] = (PetscScalar)(PetscReal)(part ? l / half : l % half);
    PetscCall(VecRestoreArrayWrite(right, &b));
    PetscCall(MatSolve(F, right, solution));
    PetscCall(VecGetArrayRead(solution, &x));
    for (PetscInt k = 0; k < n; k++) {
      if (col[k] >= 0) row[k] += (part ? half : 1) * (PetscInt)PetscRealPart(x[col[k]]);
    }
    PetscCall(VecRestoreArrayRead(solution, &x));
  }
  PetscCall(PetscFree(at));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a factored matrix; known is PETSC_FALSE, and nothing is in t, if its entries are not where they are thought to be */
static PetscErrorCode PCVCRSTrianglesRead_Private(Mat F, PetscBool symmetric, PCVCRSTriangles *t, PetscBool *known)
{
  const PetscInt *i = NULL, *j = NULL;
  PetscInt       *pivot, *first, *length, nz;
  PetscScalar    *a = NULL, *values;
  MatInfo         info;

  PetscFunctionBegin;
  *known = PETSC_FALSE;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscCall(MatGetLocalSize(F, &t->n, NULL));
  t->symmetric = symmetric;
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  nz = (PetscInt)info.nz_used;
  PetscCall(PCVCRSGetArrays_Private(F, symmetric, &i, &j, &a));
  if (!i || !t->n) PetscFunctionReturn(PETSC_SUCCESS);

  PetscCall(PetscMalloc4(t->n, &pivot, t->n, &first, t->n, &length, nz, &values));
  *known = PCVCRSFindPivots(t->n, nz, symmetric, i, j, pivot);
  if (*known) {
    PetscCall(PetscMalloc3(t->n, &t->inverse, t->n, &t->row, t->n, &t->col));
    for (PetscInt r = 0; r < t->n; r++) t->inverse[r] = a[pivot[r]];
    for (PetscInt r = 0; r < t->n; r++) {
      first[r]  = symmetric ? i[r] : (r + 1 < t->n ? pivot[r + 1] + 1 : i[t->n]);
      length[r] = pivot[r] - first[r];
    }
    if (symmetric) {
      /* They have their sign already */
      for (PetscInt r = 0; r < t->n; r++) values[r] = -1.0;
      PetscCall(PCVCRSTakeRows_Private(t->n, first, length, j, a, values, &t->ui, &t->uj, &t->ua));
    } else {
      PetscCall(PCVCRSTakeRows_Private(t->n, first, length, j, a, t->inverse, &t->ui, &t->uj, &t->ua));
      for (PetscInt r = 0; r < t->n; r++) length[r] = i[r + 1] - i[r];
      PetscCall(PCVCRSTakeRows_Private(t->n, i, length, j, a, NULL, &t->li, &t->lj, &t->la));
    }
    PetscCall(PetscArraycpy(values, a, nz));
    PetscCall(PCVCRSTellOrderings_Private(F, nz, pivot, a, t->n, t->row, t->col));
    PetscCall(PetscArraycpy(a, values, nz));
  }
  PetscCall(PetscFree4(pivot, first, length, values));
  PetscCall(PCVCRSRestoreArrays_Private(F, symmetric, &i, &j, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (I - lower)^-1 and so on, as it was read */
static void PCVCRSTrianglesSolve(const PCVCRSTriangles *t, const PetscScalar b[], PetscScalar y[], PetscScalar x[])
{
  for (PetscInt r = 0; r < t->n; r++) y[r] = b[t->row[r]];
  for (PetscInt r = 0; r < t->n; r++) {
    if (t->symmetric) {
      for (PetscInt k = t->ui[r]; k < t->ui[r + 1]; k++) y[t->uj[k]] += t->ua[k] * y[r];
    } else {
      for (PetscInt k = t->li[r]; k < t->li[r + 1]; k++) y[r] += t->la[k] * y[t->lj[k]];
    }
  }
  for (PetscInt r = t->n - 1; r >= 0; r--) {
    y[r] *= t->inverse[r];
    for (PetscInt k = t->ui[r]; k < t->ui[r + 1]; k++) y[r] += t->ua[k] * y[t->uj[k]];
    x[t->col[r]] = y[r];
  }
}

/* Whether what was read solves a system as F does */
static PetscErrorCode PCVCRSTrianglesTry_Private(Mat F, const PCVCRSTriangles *t, PetscBool *right)
{
  const PetscScalar *expected;
  PetscScalar       *b, *y, *x;
  PetscReal          error = 0.0, norm = 0.0;
  Vec                side, solution;

  PetscFunctionBegin;
  *right = PETSC_TRUE;
  for (PetscInt r = 0; r < t->n && *right; r++) *right = (PetscBool)(t->row[r] >= 0 && t->row[r] < t->n && t->col[r] >= 0 && t->col[r] < t->n);
  if (!*right) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, t->n, &side));
  PetscCall(VecDuplicate(side, &solution));
  PetscCall(PetscMalloc2(t->n, &y, t->n, &x));
  PetscCall(VecGetArray(side, &b));
  for (PetscInt r = 0; r < t->n; r++) b[r] = (PetscScalar)(PetscReal)(1.0 + (r % 7) / 8.0);
  PCVCRSTrianglesSolve(t, b, y, x);
  PetscCall(VecRestoreArray(side, &b));
  PetscCall(MatSolve(F, side, solution));
  PetscCall(VecGetArrayRead(solution, &expected));
  for (PetscInt r = 0; r < t->n; r++) {
    error = PetscMax(error, PetscAbsScalar(x[r] - expected[r]));
    norm  = PetscMax(norm, PetscAbsScalar(expected[r]));
  }
  PetscCall(VecRestoreArrayRead(solution, &expected));
  *right = (PetscBool)(PetscIsNormalReal(norm) && error <= PETSC_SQRT_MACHINE_EPSILON * norm);
  PetscCall(PetscFree2(y, x));
  PetscCall(VecDestroy(&side));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL where the ordering is the natural one */
static PetscErrorCode PCVCRSCreateScatter_Private(PetscInt n, const PetscInt order[], VecScatter *scatter)
{
  PetscBool natural = PETSC_TRUE;
  Vec       v;
  IS        is;

  PetscFunctionBegin;
  *scatter = NULL;
  for (PetscInt k = 0; k < n && natural; k++) natural = (PetscBool)(order[k] == k);
  if (natural) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &v));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_USE_POINTER, &is));
  PetscCall(VecScatterCreate(v, is, v, NULL, scatter));
  PetscCall(ISDestroy(&is));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A compressed copy of a triangle, or with i NULL of a diagonal */
static PetscErrorCode PCVCRSCreateTriangle_Private(const PCVCRSOptions *opt, MatVCRSLoss loss, PetscInt n, PetscInt i[], PetscInt j[], PetscScalar a[], Mat *compressed)
{
  PetscInt *di = NULL, *dj = NULL;
  Mat       A;

  PetscFunctionBegin;
  if (!i) {
    PetscCall(PetscMalloc2(n + 1, &di, n, &dj));
    for (PetscInt r = 0; r <= n; r++) di[r] = r;
    for (PetscInt r = 0; r < n; r++) dj[r] = r;
  }
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, i ? i : di, i ? j : dj, a, &A));
  PetscCall(PCVCRSCreateCopy_Private(opt, loss, A, compressed));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree2(di, dj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSCreateFactor_Private(const PCVCRSOptions *opt, const PCVCRSTriangles *t, PetscBool direct, PCVCRSFactor *f)
{
  const MatVCRSLoss lossless = opt->precision == PCVCRS_PRECISION_SINGLE ? MATVCRS_LOSS_SINGLE : MATVCRS_LOSS_NONE;
  MatVCRSLoss       loss     = opt->loss == MATVCRS_LOSS_NONE ? lossless : opt->loss;

  PetscFunctionBegin;
  if (direct && loss != MATVCRS_LOSS_NONE) loss = MATVCRS_LOSS_SINGLE;
  f->symmetric = t->symmetric;
  if (!t->symmetric) PetscCall(PCVCRSCreateTriangle_Private(opt, loss, t->n, t->li, t->lj, t->la, &f->lower));
  PetscCall(PCVCRSCreateTriangle_Private(opt, loss, t->n, t->ui, t->uj, t->ua, &f->upper));
  PetscCall(PCVCRSCreateTriangle_Private(opt, loss == MATVCRS_LOSS_NONE ? MATVCRS_LOSS_NONE : MATVCRS_LOSS_SINGLE, t->n, NULL, NULL, t->inverse, &f->inverse));
  PetscCall(PCVCRSCreateScatter_Private(t->n, t->row, &f->row));
  PetscCall(PCVCRSCreateScatter_Private(t->n, t->col, &f->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines of the view, and the bytes that PETSc's factors have: an entry is a number and an index, a row of each triangle a pointer */
static PetscErrorCode PCVCRSAddParts_Private(PC_VCRS *v, const PCVCRSFactor *f, const char where[])
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(f->inverse, &n, NULL));
  if (f->lower) PetscCall(PCVCRSAddPart_Private(v, f->lower, 0.0, where, "lower factor"));
  PetscCall(PCVCRSAddPart_Private(v, f->upper, 0.0, where, f->symmetric ? "factor" : "upper factor"));
  PetscCall(PCVCRSAddPart_Private(v, f->inverse, (PetscLogDouble)n * (sizeof(PetscScalar) + sizeof(PetscInt)), where, "pivots"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSComposeFactor_Private(PC pc, PCVCRSFactor *f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, f));
  PetscCall(PetscObjectCompose((PetscObject)pc, PCVCRS_FACTOR_CONTAINER, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The factored matrix of a preconditioner that factors, if it is one of PETSc's own of one process.
   Those that MATSEQAIJCUSPARSE and its relatives make by themselves lie where nobody can read them: the
   preconditioner then factors again, on the host, once; it goes on to do so when it is set up again.
*/
static PetscErrorCode PCVCRSGetFactored_Private(PC pc, Mat *F, PetscBool *known)
{
  MatSolverType type;
  PetscBool     ispetsc, isdevice;

  PetscFunctionBegin;
  *known = PETSC_FALSE;
  PetscCall(PCFactorGetMatrix(pc, F));
  PetscCall(MatFactorGetSolverType(*F, &type));
  PetscCall(PetscStrcmpAny(type, &isdevice, MATSOLVERCUSPARSE, MATSOLVERKOKKOS, MATSOLVERHIPSPARSE, ""));
  if (isdevice) {
    PetscUseTypeMethod(pc, reset);
    pc->setupcalled = PETSC_FALSE;
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERPETSC));
    PetscCall(PCSetUp(pc));
    PetscCall(PCFactorGetMatrix(pc, F));
    PetscCall(MatFactorGetSolverType(*F, &type));
  }
  PetscCall(PetscStrcmp(type, MATSOLVERPETSC, &ispetsc));
  if (ispetsc) PetscCall(PetscObjectTypeCompareAny((PetscObject)*F, known, MATSEQAIJ, MATSEQSBAIJ, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors that a preconditioner applies, compressed; NULL if they are left as they are */
PetscErrorCode PCVCRSAddFactor_Private(PC_VCRS *v, PC pc, const char where[], PCVCRSFactor **factor)
{
  PCVCRSTriangles t;
  PCVCRSFactor   *f = NULL;
  MatFactorType   type;
  MatState        state;
  PetscInt        bs;
  PetscBool       known, symmetric, inplace = PETSC_FALSE;
  Mat             F;

  PetscFunctionBegin;
  *factor = NULL;
  if (pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCVCRSGetFactored_Private(pc, &F, &known));
  if (known) {
    PetscCall(PetscObjectTypeCompare((PetscObject)F, MATSEQSBAIJ, &symmetric));
    PetscCall(MatGetBlockSize(F, &bs));
    inplace = (PetscBool)(F == pc->pmat);
    if (inplace || (symmetric && bs > 1)) known = PETSC_FALSE;
  }
  if (known) {
    PetscCall(MatGetFactorType(F, &type));
    PetscCall(MatGetState(F, &state));
    for (PetscInt k = 0; k < v->noldfactors && !f; k++) {
      PetscBool same = PETSC_FALSE;

      if (v->oldfactor[k]) PetscCall(MatStateCompare(state, v->oldfactor[k]->exact, &same));
      if (!same) continue;
      f               = v->oldfactor[k];
      v->oldfactor[k] = NULL;
    }
    if (!f) {
      PetscCall(PCVCRSTrianglesRead_Private(F, symmetric, &t, &known));
      if (known) PetscCall(PCVCRSTrianglesTry_Private(F, &t, &known));
      if (known) {
        PetscCall(PetscNew(&f));
        PetscCall(PCVCRSCreateFactor_Private(&v->opt, &t, (PetscBool)(type == MAT_FACTOR_LU || type == MAT_FACTOR_CHOLESKY), f));
      }
      PetscCall(PCVCRSTrianglesFree_Private(&t));
    }
  }
  if (!f) {
    char left[128];

    PetscCall(PetscSNPrintf(left, sizeof(left), "%s, left as it is", ((PetscObject)pc)->type_name));
    PetscCall(PCVCRSAddLeft_Private(v, where, "factors", left));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(MatGetState(F, &f->exact)); /* reading may have counted as a change */
  f->solve  = v->opt.factorsolve;
  f->sweeps = v->opt.sweeps;
  PetscCall(PetscRealloc((size_t)(v->nfactors + 1) * sizeof(*v->factor), &v->factor));
  v->factor[v->nfactors++] = f;
  PetscCall(PCVCRSAddParts_Private(v, f, where));
  PetscCall(PCVCRSComposeFactor_Private(pc, f));
  *factor = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}
