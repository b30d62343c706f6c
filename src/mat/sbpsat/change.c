/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The effect of MatScale(), MatShift(), MatDiagonalSet(), MatDiagonalScale(), MatAXPY() and similar functions on a
   MATSBPSAT. With the operator A of its settings the matrix is L (scale A + diag(diagonal)) R. Implicit time steps need
   no more.

   If scale and diagonal are real, products with scale A + diag(diagonal) use an operator of kind SBP_SHIFTED. Complex
   scales and diagonals are applied to A u. L and R are applied to vectors before and after. Without any change the
   operator is of kind SBP_SAT.
*/

#include "sbpsatimpl.h"

/* After a change of scale, diagonal, left or right. Collective */
static PetscErrorCode MatSBPSATNoteChange_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;
  SBPChange  *c   = &ctx->change;

  PetscFunctionBegin;
  for (int p = 0; p < 3; p++) ctx->changed.current[p][0] = ctx->changed.current[p][1] = PETSC_FALSE;
  c->real = PETSC_TRUE;
#if PetscDefined(USE_COMPLEX)
  if (PetscImaginaryPart(c->scale) != 0) c->real = PETSC_FALSE;
  if (c->real && c->diagonal) {
    const PetscScalar *d;
    PetscInt           n;

    PetscCall(VecGetLocalSize(c->diagonal, &n));
    PetscCall(VecGetArrayRead(c->diagonal, &d));
    for (PetscInt k = 0; k < n && c->real; k++) c->real = (PetscBool)(PetscImaginaryPart(d[k]) == 0);
    PetscCall(VecRestoreArrayRead(c->diagonal, &d));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &c->real, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  }
#endif
  PetscCall(MatSBPSATSetFlags_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPCopyVec_Private(Mat A, Vec from, Vec *to)
{
  PetscFunctionBegin;
  if (!from) PetscCall(VecDestroy(to));
  else {
    if (!*to) PetscCall(MatCreateVecs(A, to, NULL));
    PetscCall(VecCopy(from, *to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scale, diagonal, left and right of A for B */
PetscErrorCode MatSBPSATCopyChange_Private(Mat A, Mat B)
{
  const SBPChange *from = &((Mat_SBPSAT *)A->data)->change;
  SBPChange       *to   = &((Mat_SBPSAT *)B->data)->change;

  PetscFunctionBegin;
  to->scale = from->scale;
  PetscCall(SBPCopyVec_Private(B, from->diagonal, &to->diagonal));
  PetscCall(SBPCopyVec_Private(B, from->left, &to->left));
  PetscCall(SBPCopyVec_Private(B, from->right, &to->right));
  PetscCall(MatSBPSATForgetRights_Private(B));
  PetscCall(MatSBPSATNoteChange_Private(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the operator of a product */

/* The diagonal as a coefficient, at the requested place and in the requested precision */
static PetscErrorCode MatSBPSATMakeDiagonal_Private(Mat A, SBPPrecision real, PetscBool device, const SBPGrid *g)
{
  Mat_SBPSAT        *ctx     = (Mat_SBPSAT *)A->data;
  const SBPKernels  *kernels = &SBPHostKernels;
  SBPGrid            plain = *g, padded = *g;
  const size_t       size = SBPNumberBytes(real), bytes = (size_t)g->coefficientpitch * (size_t)g->ghosted.count[1] * size;
  const PetscScalar *d;
  PetscMemType       memory = PETSC_MEMTYPE_HOST;
  void              *to, *from, *staged = NULL;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (device) kernels = &SBPDeviceKernels;
#endif
  if (!ctx->changed.diagonal[real][device]) PetscCall(LitheMemoryCalloc(kernels->memory, bytes, &ctx->changed.diagonal[real][device]));
  else if (!ctx->change.diagonal) { /* only a scale, after other changes */ PetscCall(PetscCalloc1(bytes, (char **)&staged));
    PetscCall((*kernels->memory->put)(bytes, staged, ctx->changed.diagonal[real][device]));
    PetscCall(PetscFree(staged));
  }
  ctx->changed.current[real][device] = PETSC_TRUE;
  if (!ctx->change.diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  plain.pitch  = g->own.count[0];
  padded.pitch = g->coefficientpitch;
  to           = (char *)ctx->changed.diagonal[real][device] +
       ((size_t)(g->own.start[1] - g->ghosted.start[1]) * (size_t)g->coefficientpitch + (size_t)(g->own.start[0] - g->ghosted.start[0])) * size;
  if (device) PetscCall(VecGetArrayReadAndMemType(ctx->change.diagonal, &d, &memory));
  else PetscCall(VecGetArrayRead(ctx->change.diagonal, &d));
  from = (void *)d;
  if (device && PetscMemTypeHost(memory)) {
    PetscCall(LitheMemoryCalloc(kernels->memory, (size_t)A->rmap->n * sizeof(PetscScalar), &staged));
    PetscCall((*kernels->memory->put)((size_t)A->rmap->n * sizeof(PetscScalar), d, staged));
    from = staged;
  }
  PetscCall((*kernels->vector.copy)(&plain, SBP_SCALAR, 0, from, &padded, real, 0, to));
  if (staged) PetscCall((*kernels->memory->free)(&staged));
  if (device) PetscCall(VecRestoreArrayReadAndMemType(ctx->change.diagonal, &d));
  else PetscCall(VecRestoreArrayRead(ctx->change.diagonal, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The operator scale A + diag(diagonal), if different from A; scale and diagonal are real. The arrays of op may be
   missing if products compute them
*/
PetscErrorCode MatSBPSATAddChange_Private(Mat A, SBPPrecision precision, PetscBool device, const SBPOperator *op, const SBPOperator **changed)
{
  Mat_SBPSAT        *ctx  = (Mat_SBPSAT *)A->data;
  const SBPPrecision real = precision == SBP_SCALAR ? SBP_REAL_PRECISION : precision;
  SBPOperator       *to   = &ctx->changed.op[precision][device];
  PetscBool          has;

  PetscFunctionBegin;
  *changed = op;
  PetscCall(MatSBPSATHasChange_Private(A, &has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ctx->changed.current[real][device]) PetscCall(MatSBPSATMakeDiagonal_Private(A, real, device, &op->grid));
  *to                           = *op;
  to->kind                      = SBP_SHIFTED;
  to->scale                     = (double)PetscRealPart(ctx->change.scale);
  to->coefficient[SBP_DIAGONAL] = ctx->changed.diagonal[real][device];
  *changed                      = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATGetOperator(Mat A, SBPPrecision precision, PetscBool device, const SBPOperator **op)
{
  const SBPOperator *plain;

  PetscFunctionBegin;
  PetscCheck(((Mat_SBPSAT *)A->data)->change.real, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The matrix of type sbpsat has a complex scale or diagonal, which the operation does not support. Use MatConvert() to MATAIJ, or a matrix for the "
             "preconditioner whose scale and diagonal are real");
  PetscCall(MatSBPSATGetPlain(A, precision, device, &plain));
  PetscCall(MatSBPSATAddChange_Private(A, precision, device, plain, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ PETSc's operations */

static PetscErrorCode MatScale_SBPSAT(Mat A, PetscScalar a)
{
  SBPChange *c = &((Mat_SBPSAT *)A->data)->change;

  PetscFunctionBegin;
  c->scale *= a;
  if (c->diagonal) PetscCall(VecScale(c->diagonal, a));
  PetscCall(MatSBPSATNoteChange_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatZeroEntries_SBPSAT(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATClearChange_Private(A));
  ((Mat_SBPSAT *)A->data)->change.scale = 0;
  PetscCall(MatSBPSATNoteChange_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A zero, which cannot be divided by; v may be NULL */
static PetscErrorCode SBPHasZero_Private(Vec v, Vec work, PetscBool *has)
{
  PetscReal least;

  PetscFunctionBegin;
  *has = PETSC_FALSE;
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCopy(v, work));
  PetscCall(VecAbs(work));
  PetscCall(VecMin(work, NULL, &least));
  *has = (PetscBool) !(least > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* diagonal += a D between L and R, which have to be removed from D then; D NULL: 1 */
static PetscErrorCode MatSBPSATAddDiagonal_Private(Mat A, PetscScalar a, Vec D)
{
  SBPChange *c = &((Mat_SBPSAT *)A->data)->change;

  PetscFunctionBegin;
  if (!c->diagonal) {
    PetscCall(MatCreateVecs(A, &c->diagonal, NULL));
    PetscCall(VecSet(c->diagonal, 0.));
  }
  if (c->left || c->right) {
    Vec       work = NULL;
    PetscBool zero[2];

    PetscCall(MatSBPSATGetWork_Private(A, &work, NULL));
    PetscCall(SBPHasZero_Private(c->left, work, &zero[0]));
    PetscCall(SBPHasZero_Private(c->right, work, &zero[1]));
    PetscCheck(!zero[0] && !zero[1], PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
               "MatDiagonalScale() has made a row or a column of the matrix of type sbpsat zero, and the diagonal cannot change after it. Change the diagonal "
               "before, or use MatConvert() to MATAIJ");
    if (D) PetscCall(VecCopy(D, work));
    else PetscCall(VecSet(work, 1.));
    if (c->left) PetscCall(VecPointwiseDivide(work, work, c->left));
    if (c->right) PetscCall(VecPointwiseDivide(work, work, c->right));
    PetscCall(VecAXPY(c->diagonal, a, work));
  } else if (D) PetscCall(VecAXPY(c->diagonal, a, D));
  else PetscCall(VecShift(c->diagonal, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatShift_SBPSAT(Mat A, PetscScalar a)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATAddDiagonal_Private(A, a, NULL));
  PetscCall(MatSBPSATNoteChange_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDiagonalSet_SBPSAT(Mat A, Vec D, InsertMode mode)
{
  PetscFunctionBegin;
  PetscCheck(mode == ADD_VALUES || mode == INSERT_VALUES, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "MatDiagonalSet() of a matrix of type sbpsat supports ADD_VALUES and INSERT_VALUES; use MatConvert() to MATAIJ for other modes");
  if (mode == INSERT_VALUES) {
    Vec d;

    PetscCall(VecDuplicate(D, &d));
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(VecAYPX(d, -1., D));
    PetscCall(MatSBPSATAddDiagonal_Private(A, 1., d));
    PetscCall(VecDestroy(&d));
  } else PetscCall(MatSBPSATAddDiagonal_Private(A, 1., D));
  PetscCall(MatSBPSATNoteChange_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPMultiplyVec_Private(Mat A, Vec by, Vec *v)
{
  PetscFunctionBegin;
  if (!by) PetscFunctionReturn(PETSC_SUCCESS);
  if (*v) PetscCall(VecPointwiseMult(*v, *v, by));
  else PetscCall(SBPCopyVec_Private(A, by, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDiagonalScale_SBPSAT(Mat A, Vec left, Vec right)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  PetscCall(SBPMultiplyVec_Private(A, left, &ctx->change.left));
  PetscCall(SBPMultiplyVec_Private(A, right, &ctx->change.right));
  PetscCall(MatSBPSATForgetRights_Private(A));
  {
    const PetscBool3 symmetric = A->symmetric, hermitian = A->hermitian;

    PetscCall(MatSBPSATNoteChange_Private(A));
    A->symmetric = symmetric; /* which MatDiagonalScale() corrects */
    A->hermitian = hermitian;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConjugate_SBPSAT(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  ctx->change.scale = PetscConj(ctx->change.scale);
  if (ctx->change.diagonal) PetscCall(VecConjugate(ctx->change.diagonal));
  if (ctx->change.left) PetscCall(VecConjugate(ctx->change.left));
  if (ctx->change.right) PetscCall(VecConjugate(ctx->change.right));
  PetscCall(MatSBPSATForgetRights_Private(A));
  PetscCall(MatSBPSATNoteChange_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ two matrices */

static PetscBool SBPSameReals(const void *a, const void *b, size_t n)
{
  return (PetscBool)(!a == !b && (!a || !memcmp(a, b, n * sizeof(PetscReal))));
}

/*
   Whether two matrices have the same operator A: the same grid, order and faces, and the same coefficients to the last
   bit. Collective
*/
static PetscErrorCode MatSBPSATSameOperator_Private(Mat A, Mat B, PetscBool *same)
{
  Mat_SBPSAT        *a = (Mat_SBPSAT *)A->data, *b = (Mat_SBPSAT *)B->data;
  const SBPOperator *p, *q;
  const SBPGrid     *g;
  PetscBool          equal = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(MatSBPSATBuild_Private(B));
  *same = PETSC_TRUE;
  if (a->built.values == b->built.values) PetscFunctionReturn(PETSC_SUCCESS);
  if (a->settings.metrics == MATSBPSAT_METRICS_STORED) PetscCall(MatSBPSATStore_Private(A, PETSC_FALSE));
  if (b->settings.metrics == MATSBPSAT_METRICS_STORED) PetscCall(MatSBPSATStore_Private(B, PETSC_FALSE));
  p = &a->built.op[SBP_REAL_PRECISION][0];
  q = &b->built.op[SBP_REAL_PRECISION][0];
  g = &p->grid;
  for (int d = 0; d < 2; d++)
    equal = (PetscBool)(equal && g->n[d] == q->grid.n[d] && g->own.start[d] == q->grid.own.start[d] && g->own.count[d] == q->grid.own.count[d]);
  equal = (PetscBool)(equal && g->order == q->grid.order && a->built.stored[0] == b->built.stored[0] && !a->built.geometry.x == !b->built.geometry.x &&
                      !a->built.geometry.mu == !b->built.geometry.mu);
  if (equal) {
    const size_t nodes = (size_t)a->built.geometry.grid.ghosted.count[0] * (size_t)a->built.geometry.grid.ghosted.count[1];

    for (int k = 0; k < 3; k++)
      equal = (PetscBool)(equal && SBPSameReals(p->coefficient[k], q->coefficient[k], (size_t)g->coefficientpitch * (size_t)g->ghosted.count[1]));
    for (int f = 0; f < SBP_FACES; f++)
      equal = (PetscBool)(equal && g->dirichlet[f] == q->grid.dirichlet[f] && SBPSameReals(p->penalty[f], q->penalty[f], (size_t)g->ghosted.count[1 - f / 2]));
    equal = (PetscBool)(equal && SBPSameReals(a->built.geometry.x, b->built.geometry.x, nodes) &&
                        SBPSameReals(a->built.geometry.y, b->built.geometry.y, nodes) && SBPSameReals(a->built.geometry.mu, b->built.geometry.mu, nodes));
  }
  PetscCallMPI(MPIU_Allreduce(&equal, same, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a new matrix of the same DMDA has a separate grid of equal size: data on the grid can be copied */
static PetscErrorCode MatSBPSATSameGrid_Private(Mat A, Mat B, PetscBool *same)
{
  DM        a, b;
  PetscInt  na[4], nb[4];
  PetscBool equal = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &a));
  PetscCall(MatGetDM(B, &b));
  PetscCall(DMDAGetCorners(a, &na[0], &na[1], NULL, &na[2], &na[3], NULL));
  PetscCall(DMDAGetCorners(b, &nb[0], &nb[1], NULL, &nb[2], &nb[3], NULL));
  for (int k = 0; k < 4; k++) equal = (PetscBool)(equal && na[k] == nb[k]);
  PetscCallMPI(MPIU_Allreduce(&equal, same, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCopy_SBPSAT(Mat A, Mat B, MatStructure str)
{
  Mat_SBPSAT *from = (Mat_SBPSAT *)A->data, *to;
  PetscBool   same;
  Mat         C;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSBPSAT, &same));
  if (!same) {
    PetscCall(MatConvert(A, ((PetscObject)B)->type_name, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatCopy(C, B, str));
    PetscCall(MatDestroy(&C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSBPSATSameGrid_Private(A, B, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "MatCopy() needs matrices of type sbpsat on DMDAs with the same nodes on each process");
  to = (Mat_SBPSAT *)B->data;
  /* With the same coefficients, as in steps of time, nothing else is to be done */
  if (!from->built.done || !to->built.done || from->built.values != to->built.values) {
    PetscCall(MatSBPSATForget_Private(B));
    PetscCall(SBPSettingsCopy_Private(&from->settings, &to->settings));
    PetscCall(MatSBPSATCopyBuilt_Private(A, B));
  }
  PetscCall(MatSBPSATCopyChange_Private(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPSameVec_Private(Vec a, Vec b, PetscBool *same)
{
  PetscFunctionBegin;
  if (a && b) PetscCall(VecEqual(a, b, same));
  else *same = (PetscBool)(!a && !b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Y += a X, if the sum is a matrix of this type: X has the same operator A, L and R, or Y is zero */
static PetscErrorCode MatAXPY_SBPSAT(Mat Y, PetscScalar a, Mat X, PETSC_UNUSED MatStructure str)
{
  SBPChange *y = &((Mat_SBPSAT *)Y->data)->change, *x = &((Mat_SBPSAT *)X->data)->change;
  MPI_Comm   comm = PetscObjectComm((PetscObject)Y);
  PetscBool  same = PETSC_TRUE, left = PETSC_TRUE, right = PETSC_TRUE;
  const char remedy[] = "Y = L (y A + diag) R can only be added to its multiples and to diagonals; use MatConvert() of both to MATAIJ";

  PetscFunctionBegin;
  PetscCall(MatSBPSATSameGrid_Private(Y, X, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_INCOMP, "MatAXPY() of two matrices of type sbpsat on different DMDAs: %s", remedy);
  PetscCall(MatSBPSATSameOperator_Private(Y, X, &same));
  PetscCall(SBPSameVec_Private(y->left, x->left, &left));
  PetscCall(SBPSameVec_Private(y->right, x->right, &right));
  if (!same || !left || !right) {
    PetscBool xzero = (PetscBool)(x->scale == (PetscScalar)0), yzero = (PetscBool)(y->scale == (PetscScalar)0);
    Vec       d;

    /* One factor is a diagonal matrix */
    PetscCheck(xzero || yzero, comm, PETSC_ERR_SUP, "MatAXPY() of two matrices of type sbpsat with different %s: %s",
               same ? "row or column scales" : "coefficients", remedy);
    PetscCall(MatCreateVecs(Y, &d, NULL));
    PetscCall(MatGetDiagonal(xzero ? X : Y, d));
    if (!xzero) {
      PetscCall(MatCopy(X, Y, SAME_NONZERO_PATTERN));
      PetscCall(MatScale(Y, a));
      a = 1;
    }
    PetscCall(MatSBPSATAddDiagonal_Private(Y, a, d));
    PetscCall(VecDestroy(&d));
  } else {
    y->scale += a * x->scale;
    if (x->diagonal && y->diagonal) PetscCall(VecAXPY(y->diagonal, a, x->diagonal));
    else if (x->diagonal) {
      PetscCall(SBPCopyVec_Private(Y, x->diagonal, &y->diagonal));
      PetscCall(VecScale(y->diagonal, a));
    }
  }
  PetscCall(MatSBPSATNoteChange_Private(Y));
  PetscCall(PetscObjectStateIncrease((PetscObject)Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatTranspose_SBPSAT(Mat A, MatReuse reuse, Mat *B)
{
  Mat_SBPSAT *ctx;
  Vec         left;

  PetscFunctionBegin;
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  else if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
  ctx               = (Mat_SBPSAT *)(*B)->data;
  left              = ctx->change.left;
  ctx->change.left  = ctx->change.right;
  ctx->change.right = left;
  PetscCall(MatSBPSATForgetRights_Private(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATSetChanges_Private(Mat A)
{
  PetscFunctionBegin;
  A->ops->scale         = MatScale_SBPSAT;
  A->ops->shift         = MatShift_SBPSAT;
  A->ops->zeroentries   = MatZeroEntries_SBPSAT;
  A->ops->diagonalset   = MatDiagonalSet_SBPSAT;
  A->ops->diagonalscale = MatDiagonalScale_SBPSAT;
  A->ops->conjugate     = MatConjugate_SBPSAT;
  A->ops->copy          = MatCopy_SBPSAT;
  A->ops->axpy          = MatAXPY_SBPSAT;
  A->ops->transpose     = MatTranspose_SBPSAT;
  PetscFunctionReturn(PETSC_SUCCESS);
}
