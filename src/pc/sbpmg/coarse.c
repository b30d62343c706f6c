/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The coarsest level of a PCSBPMG: a dense inverse, or a KSP with the assembled matrix.
*/

#include "sbpmgimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithecompiler.h>

/* ------------------------------------------------------------ the operator on the host */

typedef struct {
  SBPOperator op;
  void       *array[SBP_COEFFICIENTS]; /* copies of data on a device */
} HostOperator;

static PetscErrorCode GetHostOperator_Private(PC pc, HostOperator *host)
{
  PC_SBPMG          *mg    = (PC_SBPMG *)pc->data;
  const SBPMGLevel  *l     = &mg->level[mg->n - 1];
  const SBPPrecision exact = mg->exact;
  int                first = 0, last = SBP_COEFFICIENTS; /* coefficients to copy from a device */

  PetscFunctionBegin;
  PetscCall(PetscMemzero(host, sizeof(*host)));
  if (l->A || mg->n == 1) {
    const SBPOperator *op;

    PetscCall(MatSBPSATGetPlain(l->A ? l->A : pc->pmat, exact, PETSC_FALSE, &op));
    host->op       = *op;
    host->op.kind  = l->op[exact].kind;
    host->op.scale = l->op[exact].scale;
    first          = SBP_DIAGONAL;
    last           = SBPKindCoefficients(host->op.kind);
    for (int k = first; k < last; k++) host->op.coefficient[k] = l->op[exact].coefficient[k];
  } else host->op = l->op[exact];
  if (!mg->device) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = first; k < last; k++) {
    const size_t bytes = (size_t)host->op.grid.coefficientpitch * (size_t)host->op.grid.ghosted.count[1] * SBPNumberBytes(exact);

    PetscCall(PetscMalloc1(bytes, (char **)&host->array[k]));
    PetscCall((*mg->kernels->memory->get)(bytes, l->op[exact].coefficient[k], host->array[k]));
    host->op.coefficient[k] = host->array[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreHostOperator_Private(HostOperator *host)
{
  PetscFunctionBegin;
  for (int k = 0; k < SBP_COEFFICIENTS; k++) PetscCall(PetscFree(host->array[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal Number(SBPPrecision precision, const void *x, size_t k)
{
  return precision == SBP_SINGLE ? (PetscReal)((const float *)x)[k] : (PetscReal)((const double *)x)[k];
}

/* ------------------------------------------------------------ dense inverse */

/* The columns and entries of row (i, j) of a 9 point operator; returns their number */
static int NineRow(const SBPOperator *op, PetscInt i, PetscInt j, MatStencil col[], PetscReal v[])
{
  static const int offset[SBP_COEFFICIENTS][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}};
  const SBPGrid   *grid                        = &op->grid;
  int              count                       = 0;

  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    for (int side = 1; side >= -1; side -= 2) {
      const PetscInt p = i + side * offset[k][0], q = j + side * offset[k][1];
      const PetscInt ci = side > 0 ? i : p, cj = side > 0 ? j : q; /* where the coefficient is stored */

      if (k == 0 && side < 0) continue;
      if (p < 0 || p > grid->n[0] || q < 0 || q > grid->n[1]) continue;
      col[count] = (MatStencil){.i = p, .j = q};
      v[count++] = Number(op->precision, op->coefficient[k],
                          (size_t)(cj - grid->ghosted.start[1]) * (size_t)grid->coefficientpitch + (size_t)(ci - grid->ghosted.start[0]));
    }
  }
  return count;
}

/* All n x n entries: from the coefficients, or column by column from products with unit vectors */
static PetscErrorCode GetEntries_Private(const SBPOperator *host, PetscInt n, double M[])
{
  SBPOperator    op    = *host;
  const PetscInt width = op.grid.n[0] + 1;
  char          *u, *w;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(M, (size_t)n * (size_t)n));
  if (op.kind == SBP_NINE) {
    for (PetscInt r = 0; r < n; r++) {
      MatStencil col[2 * SBP_COEFFICIENTS];
      PetscReal  v[2 * SBP_COEFFICIENTS];
      const int  count = NineRow(&op, r % width, r / width, col, v);

      for (int k = 0; k < count; k++) M[(size_t)r * (size_t)n + (size_t)(col[k].j * width + col[k].i)] = (double)v[k];
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  op.grid.pitch = op.grid.ghostpitch = width;
  PetscCall(PetscCalloc2((size_t)n * sizeof(double), &u, (size_t)n * sizeof(double), &w));
  for (PetscInt j = 0; j < n; j++) {
    SBPStep step = {.mode = SBP_APPLY, .u = u, .out = w};

    if (op.precision == SBP_SINGLE) ((float *)(void *)u)[j] = 1;
    else ((double *)(void *)u)[j] = 1;
    PetscCall((*SBPHostKernels.step)(&op, NULL, &step));
    for (PetscInt i = 0; i < n; i++) M[(size_t)j * (size_t)n + (size_t)i] = (double)Number(op.precision, w, (size_t)i);
    if (op.precision == SBP_SINGLE) ((float *)(void *)u)[j] = 0;
    else ((double *)(void *)u)[j] = 0;
  }
  PetscCall(PetscFree2(u, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt Bandwidth(PetscInt n, const double M[])
{
  PetscInt width = 0;

  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; i - j > width; j++) {
      if (M[(size_t)i * (size_t)n + (size_t)j] != 0) width = i - j;
    }
  }
  return width;
}

/* y -= a x */
LITHE_TARGET_CLONES static void Subtract(PetscInt n, double a, const double x[], double y[])
{
  LITHE_INDEPENDENT
  for (PetscInt k = 0; k < n; k++) y[k] -= a * x[k];
}

/*
   The inverse of a symmetric matrix, whose lower triangle is in M. Cholesky's factorisation stays within the band,
   which LAPACK's potri would fill. With b entries beside the diagonal the cost is n^2 b additions instead of n^3. L is
   work of the size of M. Returns the row with a nonpositive pivot, or -1.
*/
static PetscInt InvertBand(PetscInt n, PetscInt b, double L[], double M[])
{
#define ROW(A, i)   (A + (size_t)(i) * (size_t)n)
#define AT(A, i, j) ROW(A, i)[j]
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt from = PetscMax(i - b, 0);

    for (PetscInt j = from; j <= i; j++) {
      double sum = AT(M, i, j);

      for (PetscInt k = PetscMax(from, j - b); k < j; k++) sum -= AT(L, i, k) * AT(L, j, k);
      if (j < i) AT(L, i, j) = sum / AT(L, j, j);
      else if (sum > 0) AT(L, i, i) = sqrt(sum);
      else return i;
    }
  }

  /* L^-1, then L^-T times L^-1: the lower triangle of a symmetric result needs nothing of the upper triangle */
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) AT(M, i, j) = i == j ? 1 : 0;
    for (PetscInt k = PetscMax(i - b, 0); k < i; k++) Subtract(k + 1, AT(L, i, k), ROW(M, k), ROW(M, i));
    for (PetscInt j = 0; j <= i; j++) AT(M, i, j) /= AT(L, i, i);
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    for (PetscInt k = i + 1; k <= PetscMin(i + b, n - 1); k++) Subtract(i + 1, AT(L, k, i), ROW(M, k), ROW(M, i));
    for (PetscInt j = 0; j <= i; j++) AT(M, i, j) /= AT(L, i, i);
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < i; j++) AT(M, j, i) = AT(M, i, j);
  }
#undef AT
#undef ROW
  return -1;
}

/*
   If the constants are in the kernel: the inverse of A + s e e^T with e = (1, ..., 1), minus e e^T / (s n^2). The
   result is the pseudoinverse
*/
static PetscErrorCode Invert_Private(PC pc, PetscInt n, double M[])
{
  PC_SBPMG *mg    = (PC_SBPMG *)pc->data;
  double    shift = 0, *L;
  PetscInt  row;

  PetscFunctionBegin;
  if (mg->shift.singular || mg->shift.deflated) {
    for (PetscInt k = 0; k < n; k++) shift += M[(size_t)k * (size_t)(n + 1)] / (double)n;
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) M[k] += shift;
  }
  PetscCall(PetscMalloc1((size_t)n * (size_t)n, &L));
  row = InvertBand(n, Bandwidth(n, M), L, M);
  PetscCall(PetscFree(L));
  if (row >= 0) {
    PetscCall(PCSBPMGFail_Private(pc, "%sthe operator of the coarsest level, with %" PetscInt_FMT " unknowns, is not positive definite (row %" PetscInt_FMT ")",
                                  PCSBPMGIsShifted(mg) ? "with the diagonal that was added " : "", n, row));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->shift.singular) {
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) M[k] -= 1. / (shift * (double)n * (double)n);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 over the largest eigenvalue of the inverse, by the power method */
static PetscErrorCode LeastOfInverse_Private(PetscInt n, const double M[], PetscReal *least)
{
  double *x, *y, norm = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &x, n, &y));
  for (PetscInt i = 0; i < n; i++) x[i] = 1 / sqrt((double)n);
  for (PetscInt k = 0; k < 20; k++) {
    norm = 0;
    PetscCall(PetscArrayzero(y, n));
    for (PetscInt j = 0; j < n; j++) Subtract(n, -x[j], M + (size_t)j * (size_t)n, y);
    for (PetscInt i = 0; i < n; i++) norm += y[i] * y[i];
    norm = sqrt(norm);
    if (!(norm > 0)) break;
    for (PetscInt i = 0; i < n; i++) x[i] = y[i] / norm;
  }
  *least = norm > 0 ? (PetscReal)(1 / norm) : 0;
  PetscCall(PetscFree2(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PutInverse_Private(PC_SBPMG *mg, SBPPrecision precision, PetscInt n, const double M[])
{
  const size_t size = (size_t)n * (size_t)n, bytes = size * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double));
  float       *single = NULL;

  PetscFunctionBegin;
  if (mg->coarsest.dense[precision]) PetscFunctionReturn(PETSC_SUCCESS);
  if (precision == SBP_SINGLE) {
    PetscCall(PetscMalloc1(size, &single));
    for (size_t k = 0; k < size; k++) single[k] = (float)(M[k] / mg->scaling.factor);
  }
  PetscCall(PCSBPMGAlloc_Private(mg, bytes, &mg->coarsest.dense[precision]));
  PetscCall((*mg->kernels->memory->put)(bytes, single ? (const void *)single : (const void *)M, mg->coarsest.dense[precision]));
  PetscCall(PetscFree(single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpDense_Private(PC pc, const HostOperator *host)
{
  PC_SBPMG      *mg = (PC_SBPMG *)pc->data;
  const PetscInt n  = mg->coarsest.ndense;
  double        *M;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)n * (size_t)n, &M));
  PetscCall(GetEntries_Private(&host->op, n, M));
  PetscCall(Invert_Private(pc, n, M));
  if (pc->failedreason) {
    PetscCall(PetscFree(M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->opt.smoother == PCSBPMG_SMOOTHER_RICHARDSON) {
    PetscCall(LeastOfInverse_Private(n, M, &mg->coarsest.lmin));
    mg->coarsest.lmin *= (PetscReal)mg->scaling.factor;
  }
  PetscCall(PutInverse_Private(mg, mg->precision, n, M));
  if (mg->opt.cycle == PCSBPMG_CYCLE_FULL) PetscCall(PutInverse_Private(mg, mg->exact, n, M));
  PetscCall(PetscFree(M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ assembled */

/* The rows of this process of a 9 point operator */
static PetscErrorCode AssembleNine_Private(const SBPOperator *op, Mat A)
{
  const SBPBox *own = &op->grid.own;

  PetscFunctionBegin;
  for (PetscInt j = own->start[1]; j < own->start[1] + own->count[1]; j++) {
    for (PetscInt i = own->start[0]; i < own->start[0] + own->count[0]; i++) {
      MatStencil  row = {.i = i, .j = j}, col[2 * SBP_COEFFICIENTS];
      PetscReal   v[2 * SBP_COEFFICIENTS];
      PetscScalar entry[2 * SBP_COEFFICIENTS];
      const int   count = NineRow(op, i, j, col, v);

      for (int k = 0; k < count; k++) entry[k] = (PetscScalar)v[k];
      PetscCall(MatSetValuesStencil(A, 1, &row, count, col, entry, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solver on demand */
PetscErrorCode PCSBPMGCreateCoarseSolver_Private(PC pc)
{
  PC_SBPMG   *mg   = (PC_SBPMG *)pc->data;
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt size;
  const char *prefix;
  PC          inner;

  PetscFunctionBegin;
  if (mg->coarsest.ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(KSPCreate(comm, &mg->coarsest.ksp));
  PetscCall(KSPSetNestLevel(mg->coarsest.ksp, pc->kspnestlevel));
  PetscCall(KSPSetErrorIfNotConverged(mg->coarsest.ksp, pc->erroriffailure));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)mg->coarsest.ksp, (PetscObject)pc, 1));
  PetscCall(KSPSetOptionsPrefix(mg->coarsest.ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(mg->coarsest.ksp, "sbpmg_coarse_"));
  PetscCall(KSPSetType(mg->coarsest.ksp, KSPPREONLY));
  PetscCall(KSPGetPC(mg->coarsest.ksp, &inner));
  PetscCall(PCSetType(inner, size > 1 ? PCREDUNDANT : PCLU));
  PetscCall(KSPSetFromOptions(mg->coarsest.ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of the solver */
static PetscErrorCode AssembleCoarsest_Private(PC pc, const HostOperator *host)
{
  PC_SBPMG   *mg = (PC_SBPMG *)pc->data;
  SBPMGLevel *l  = &mg->level[mg->n - 1];

  PetscFunctionBegin;
  if (host->op.kind != SBP_NINE) {
    PetscCall(MatConvert(l->A ? l->A : pc->pmat, MATAIJ, MAT_INITIAL_MATRIX, &mg->coarsest.A));
    if (!l->A) PetscCall(PCSBPMGUnscaleMatrix_Private(pc, mg->coarsest.A));
  } else {
    DM da;

    if (SBPPartsExist(&l->exchange.parts)) PetscCall(SBPPartsCreateDM(&l->exchange.parts, l->exchange.width, &da));
    else PetscCall(PCSBPMGCreateWholeDM_Private(pc, &l->grid, &da));
    PetscCall(DMSetMatType(da, MATAIJ));
    PetscCall(DMCreateMatrix(da, &mg->coarsest.A));
    PetscCall(DMDestroy(&da));
    PetscCall(AssembleNine_Private(&host->op, mg->coarsest.A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpSolver_Private(PC pc, const HostOperator *host)
{
  PC_SBPMG      *mg = (PC_SBPMG *)pc->data;
  SBPMGLevel    *l  = &mg->level[mg->n - 1];
  PetscErrorCode ierr;
  PetscOptions   none;
  const char    *prefix;
  PCFailedReason reason;
  PC             inner;

  PetscFunctionBegin;
  PetscCheck(!mg->shift.singular, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type sbpmg: all faces are Neumann faces, so the constants are the kernel of the operator; only the dense inverse of the coarsest level "
             "can treat them. Use one process, or -pc_sbpmg_gather_size above 0, and -pc_sbpmg_levels or -pc_sbpmg_dense so that the coarsest level, of "
             "%" PetscInt_FMT " x %" PetscInt_FMT " unknowns, has no more than -pc_sbpmg_dense %" PetscInt_FMT,
             l->grid.n[0] + 1, l->grid.n[1] + 1, mg->opt.dense);
  PetscCall(LitheOptionsHide(&none));
  ierr = AssembleCoarsest_Private(pc, host);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  /* Small pivots are an error of PCLU */
  mg->coarsest.factor = mg->scaling.factor;
  if (mg->coarsest.factor == 1.) {
    Vec       diagonal;
    PetscReal most;

    PetscCall(MatCreateVecs(mg->coarsest.A, &diagonal, NULL));
    PetscCall(MatGetDiagonal(mg->coarsest.A, diagonal));
    PetscCall(VecNorm(diagonal, NORM_INFINITY, &most));
    PetscCall(VecDestroy(&diagonal));
    mg->coarsest.factor = SBPScaleOf(SBPUpperWord((double)most), SBP_SCALE_WINDOW);
  }
  if (mg->coarsest.factor != 1.) PetscCall(MatScale(mg->coarsest.A, (PetscScalar)mg->coarsest.factor));
  if (mg->shift.deflated) { /* the matrix may be singular up to rounding, see shift.c */
    PetscScalar trace;
    PetscInt    n;

    PetscCall(MatGetTrace(mg->coarsest.A, &trace));
    PetscCall(MatGetSize(mg->coarsest.A, &n, NULL));
    PetscCall(MatShift(mg->coarsest.A, (PetscReal)1e-6 * trace / (PetscReal)n));
  }
  if (!mg->shift.diagonal || mg->shift.deflated) {
    PetscCall(MatSetOption(mg->coarsest.A, MAT_SPD, PETSC_TRUE));
    PetscCall(MatSetOption(mg->coarsest.A, MAT_SPD_ETERNAL, PETSC_TRUE));
  }
  PetscCall(MatCreateVecs(mg->coarsest.A, &mg->coarsest.x, &mg->coarsest.b));
  PetscCall(VecBindToCPU(mg->coarsest.x, PETSC_TRUE));
  PetscCall(VecBindToCPU(mg->coarsest.b, PETSC_TRUE));
  if (mg->device)
    PetscCall(PetscMalloc1((size_t)PetscMax(l->op[mg->precision].grid.pitch, l->op[mg->exact].grid.pitch) * (size_t)l->grid.own.count[1] * sizeof(double),
                           (char **)&mg->coarsest.host));
  PetscCall(PCSBPMGCreateCoarseSolver_Private(pc));
  PetscCall(KSPGetOptionsPrefix(mg->coarsest.ksp, &prefix));
  PetscCall(MatSetOptionsPrefix(mg->coarsest.A, prefix));
  PetscCall(KSPSetOperators(mg->coarsest.ksp, mg->coarsest.A, mg->coarsest.A));
  PetscCall(KSPSetUp(mg->coarsest.ksp));
  PetscCall(KSPGetPC(mg->coarsest.ksp, &inner));
  PetscCall(PCGetFailedReason(inner, &reason));
  PetscCall(PCSetFailedReason(pc, reason));

  /* The least eigenvalue, for the smoother that needs it */
  if (mg->opt.smoother == PCSBPMG_SMOOTHER_RICHARDSON && !reason) {
    PetscReal norm = 1;

    PetscCall(VecSet(mg->coarsest.b, 1.));
    for (PetscInt k = 0; k < 8; k++) {
      PetscCall(VecNormalize(mg->coarsest.b, NULL));
      PetscCall(KSPSolve(mg->coarsest.ksp, mg->coarsest.b, mg->coarsest.x));
      PetscCall(VecNorm(mg->coarsest.x, NORM_2, &norm));
      PetscCall(VecCopy(mg->coarsest.x, mg->coarsest.b));
    }
    mg->coarsest.lmin = norm > 0 ? (PetscReal)(mg->scaling.factor / mg->coarsest.factor) / norm : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ both */

/* A dense inverse, or a solver, once the number of unknowns is known */
void PCSBPMGCoarseChoose(PC_SBPMG *mg, PetscInt unknowns)
{
  mg->coarsest.ndense = PCSBPMGIsWhole(mg, mg->n - 1) && unknowns <= mg->opt.dense ? unknowns : 0;
}

/* Frees the coarsest level, except its solver, which keeps its options */
PetscErrorCode PCSBPMGCoarseReset_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  for (int p = 0; p < 2; p++) PetscCall(PCSBPMGFree_Private(mg, &mg->coarsest.dense[p]));
  mg->coarsest.ndense = 0;
  mg->coarsest.lmin   = 0;
  if (mg->coarsest.ksp) PetscCall(KSPReset(mg->coarsest.ksp));
  PetscCall(MatDestroy(&mg->coarsest.A));
  PetscCall(VecDestroy(&mg->coarsest.b));
  PetscCall(VecDestroy(&mg->coarsest.x));
  PetscCall(PetscFree(mg->coarsest.host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGCoarseDestroy_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&mg->coarsest.ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGCoarseSetUp_Private(PC pc)
{
  PC_SBPMG    *mg = (PC_SBPMG *)pc->data;
  HostOperator host;

  PetscFunctionBegin;
  PetscCall(GetHostOperator_Private(pc, &host));
  if (mg->coarsest.ndense) PetscCall(SetUpDense_Private(pc, &host));
  else PetscCall(SetUpSolver_Private(pc, &host));
  PetscCall(RestoreHostOperator_Private(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = A^-1 b, both owned arrays of the coarsest level */
PetscErrorCode PCSBPMGCoarseSolve_Private(PC_SBPMG *mg, SBPPrecision precision, const void *b, void *x)
{
  const SBPMGLevel *l     = &mg->level[mg->n - 1];
  const SBPGrid    *grid  = &l->op[precision].grid;
  const size_t      bytes = (size_t)grid->pitch * (size_t)grid->own.count[1] * SBPNumberBytes(precision);
  const double      times = precision == mg->exact ? mg->coarsest.factor : mg->coarsest.factor / mg->scaling.factor;
  SBPGrid           plain = *grid;
  PetscScalar      *a;

  PetscFunctionBegin;
  if (mg->coarsest.ndense) {
    PetscCall((*mg->kernels->vector.dense)(mg->coarsest.ndense, precision, mg->coarsest.dense[precision], b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  plain.pitch = plain.own.count[0];
  if (mg->device) {
    PetscCall((*mg->kernels->memory->get)(bytes, b, mg->coarsest.host));
    b = mg->coarsest.host;
  }
  PetscCall(VecGetArrayWrite(mg->coarsest.b, &a));
  if (PetscDefined(USE_COMPLEX)) PetscCall(PetscArrayzero(a, plain.own.count[0] * plain.own.count[1]));
  PetscCall((*SBPHostKernels.vector.copy)(grid, precision, 0, b, &plain, SBP_SCALAR, 0, a));
  PetscCall(VecRestoreArrayWrite(mg->coarsest.b, &a));
  PetscCall(KSPSolve(mg->coarsest.ksp, mg->coarsest.b, mg->coarsest.x));
  if (times != 1.) PetscCall(VecScale(mg->coarsest.x, (PetscScalar)times));
  PetscCall(VecGetArrayRead(mg->coarsest.x, (const PetscScalar **)&a));
  PetscCall((*SBPHostKernels.vector.copy)(&plain, SBP_SCALAR, 0, a, grid, precision, 0, mg->device ? mg->coarsest.host : x));
  PetscCall(VecRestoreArrayRead(mg->coarsest.x, (const PetscScalar **)&a));
  if (mg->device) PetscCall((*mg->kernels->memory->put)(bytes, mg->coarsest.host, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
