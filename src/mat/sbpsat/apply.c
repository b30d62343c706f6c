/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of a MATSBPSAT: the choice of the place, ghosts that travel during the product, and PETSc's operations */

#include "sbpsatimpl.h"

/* Rows of nodes whose coefficients are computed at a time, for MATSBPSAT_METRICS_FLY */
#define SBP_FLY_ROWS 16

/* A step on a part of the owned nodes; op has no coefficients if they are computed on the fly */
static PetscErrorCode MatSBPSATStep_Private(Mat A, const SBPKernels *kernels, const SBPOperator *op, const SBPBox *region, const SBPStep *step)
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid *g   = &op->grid;
  PetscInt       rows;
  PetscReal     *c[3];

  PetscFunctionBegin;
  if (!region->count[0] || !region->count[1]) PetscFunctionReturn(PETSC_SUCCESS);
  if (op->coefficient[0]) {
    PetscCall((*kernels->step)(op, region, step));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  rows = PetscMin(SBP_FLY_ROWS + 2 * g->reach, g->ghosted.count[1]);
  PetscCall(PetscMalloc3(rows * g->coefficientpitch, &c[0], rows * g->coefficientpitch, &c[1], rows * g->coefficientpitch, &c[2]));
  for (PetscInt j = 0; j < region->count[1]; j += SBP_FLY_ROWS) {
    SBPOperator part  = *op;
    SBPBox      block = *region, box = g->ghosted;
    PetscInt    end;

    block.start[1] += j;
    block.count[1] = PetscMin(SBP_FLY_ROWS, region->count[1] - j);
    end            = PetscMin(block.start[1] + block.count[1] + g->reach, g->ghosted.start[1] + g->ghosted.count[1]);
    box.start[1]   = PetscMax(block.start[1] - g->reach, g->ghosted.start[1]);
    box.count[1]   = end - box.start[1];
    PetscCall((*SBPHostKernels.metrics)(&ctx->built.geometry, &box, g->coefficientpitch, c[0], c[1], c[2], NULL));
    /* Where the array of all rows would begin: rows outside of the box are not read */
    for (int k = 0; k < 3; k++) part.coefficient[k] = c[k] - (PetscInt64)(box.start[1] - g->ghosted.start[1]) * g->coefficientpitch;
    PetscCall((*kernels->step)(&part, &block, step));
  }
  PetscCall(PetscFree3(c[0], c[1], c[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The step with u owned; ghosts travel while the part without ghosts is computed. All arrays in memory of one kind.
   Collective */
static PetscErrorCode MatSBPSATSteps_Private(Mat A, PetscBool device, const SBPKernels *kernels, const SBPOperator *op, SBPStep *step)
{
  Mat_SBPSAT        *ctx    = (Mat_SBPSAT *)A->data;
  const SBPGrid     *g      = &op->grid;
  const PetscMemType memory = device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  const void        *owned  = step->u;
  SBPOperator        view   = *op;
  SBPBox             inner  = g->own, part;
  PetscMPIInt        size;
  void              *ghosts;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size == 1) {
    PetscCall(MatSBPSATStep_Private(A, kernels, op, &g->own, step));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(device || ctx->settings.transport == LITHE_TRANSPORT_AUTO || ctx->settings.transport == LITHE_TRANSPORT_MPI, PetscObjectComm((PetscObject)A),
             PETSC_ERR_ARG_INCOMP, "-mat_sbpsat_transport %s needs vectors on a device (-dm_vec_type cuda, for example); on the host there is mpi",
             LitheTransports[ctx->settings.transport]);
  PetscCall(MatSBPSATGetGhosts_Private(A, device, &ghosts));
  PetscCall(SBPHaloBegin(ctx->built.halo, SBP_SCALAR, memory, 2 * g->reach, owned, ghosts));

  /* rows that reach no ghost read the owned array as a part of a ghosted array */
  for (int d = 0; d < 2; d++) {
    const PetscInt before = g->own.start[d] > g->ghosted.start[d] ? g->reach : 0;
    const PetscInt after  = g->own.start[d] + g->own.count[d] < g->ghosted.start[d] + g->ghosted.count[d] ? g->reach : 0;

    inner.start[d] += before;
    inner.count[d] = PetscMax(0, inner.count[d] - before - after);
  }
  if (!inner.count[0] || !inner.count[1]) {
    inner          = g->own;
    inner.count[1] = 0;
  }
  view.grid.ghostpitch = g->pitch;
  step->u              = (const PetscScalar *)owned - ((PetscInt64)(g->own.start[1] - g->ghosted.start[1]) * g->pitch + g->own.start[0] - g->ghosted.start[0]);
  PetscCall(MatSBPSATStep_Private(A, kernels, &view, &inner, step));

  PetscCall(SBPHaloEnd(ctx->built.halo, SBP_SCALAR, memory, owned, ghosts));
  step->u = ghosts;

  /* the remaining nodes: below, above, left and right of this part */
  part          = g->own;
  part.count[1] = inner.start[1] - g->own.start[1];
  PetscCall(MatSBPSATStep_Private(A, kernels, op, &part, step));
  part.start[1] = inner.start[1] + inner.count[1];
  part.count[1] = g->own.start[1] + g->own.count[1] - part.start[1];
  PetscCall(MatSBPSATStep_Private(A, kernels, op, &part, step));
  part          = inner;
  part.start[0] = g->own.start[0];
  part.count[0] = inner.start[0] - g->own.start[0];
  PetscCall(MatSBPSATStep_Private(A, kernels, op, &part, step));
  part.start[0] = inner.start[0] + inner.count[0];
  part.count[0] = g->own.start[0] + g->own.count[0] - part.start[0];
  PetscCall(MatSBPSATStep_Private(A, kernels, op, &part, step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Complex numbers have twice as many */
static PetscLogDouble MatSBPSATFlops_Private(const SBPOperator *op)
{
  return (PetscDefined(USE_COMPLEX) ? 2 : 1) * SBPOperatorFlops(op);
}

/*
   With the operator A of the settings, and scale and diagonal if changes: out = A u, b + A u or b - A u; b may be out.
   On the device if all vectors are on the device
*/
static PetscErrorCode MatSBPSATApplyReal_Private(Mat A, PetscBool changes, SBPMode mode, Vec u, Vec b, Vec out)
{
  PetscBool          device;
  const SBPKernels  *kernels = &SBPHostKernels;
  const SBPOperator *op;
  const PetscScalar *pu, *pb = NULL;
  PetscScalar       *pout;
  SBPStep            step;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(LitheMatIsOnDevice(A, 3, (const Vec[]){u, out, b == out ? NULL : b}, &device));
#if defined(LITHE_HAVE_CUDA)
  if (device) kernels = &SBPDeviceKernels;
#endif
  PetscCall(MatSBPSATGetProduct_Private(A, device, &op));
  if (changes) PetscCall(MatSBPSATAddChange_Private(A, SBP_SCALAR, device, op, &op));
  if (device) {
    PetscCall(VecGetArrayReadAndMemType(u, &pu, NULL));
    if (b == out) PetscCall(VecGetArrayAndMemType(out, &pout, NULL));
    else PetscCall(VecGetArrayWriteAndMemType(out, &pout, NULL));
    if (b && b != out) PetscCall(VecGetArrayReadAndMemType(b, &pb, NULL));
    PetscCall(PetscLogGpuTimeBegin());
  } else {
    PetscCall(VecGetArrayRead(u, &pu));
    if (b == out) PetscCall(VecGetArray(out, &pout));
    else PetscCall(VecGetArrayWrite(out, &pout));
    if (b && b != out) PetscCall(VecGetArrayRead(b, &pb));
  }
  if (b == out) pb = pout;

  PetscCall(PetscMemzero(&step, sizeof(step)));
  step.mode = mode;
  step.u    = pu;
  step.b    = pb;
  step.out  = pout;
  PetscCall(MatSBPSATSteps_Private(A, device, kernels, op, &step));

  if (device) {
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(PetscLogGpuFlops(MatSBPSATFlops_Private(op)));
    if (b && b != out) PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
    if (b == out) PetscCall(VecRestoreArrayAndMemType(out, &pout));
    else PetscCall(VecRestoreArrayWriteAndMemType(out, &pout));
    PetscCall(VecRestoreArrayReadAndMemType(u, &pu));
  } else {
    PetscCall(PetscLogFlops(MatSBPSATFlops_Private(op)));
    if (b && b != out) PetscCall(VecRestoreArrayRead(b, &pb));
    if (b == out) PetscCall(VecRestoreArray(out, &pout));
    else PetscCall(VecRestoreArrayWrite(out, &pout));
    PetscCall(VecRestoreArrayRead(u, &pu));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with the whole matrix, or its transpose */
static PetscErrorCode MatSBPSATApply_Private(Mat A, PetscBool transpose, SBPMode mode, Vec u, Vec b, Vec out)
{
  const SBPChange *c    = &((Mat_SBPSAT *)A->data)->change;
  const Vec        left = transpose ? c->right : c->left, right = transpose ? c->left : c->right;
  Vec              x, y, work;

  PetscFunctionBegin;
  if (!left && !right && c->real) {
    PetscCall(MatSBPSATApplyReal_Private(A, PETSC_TRUE, mode, u, b, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSBPSATGetWork_Private(A, &work, &y));
  if (right) PetscCall(VecPointwiseMult(work, right, u));
  x = right ? work : u;
  PetscCall(MatSBPSATApplyReal_Private(A, c->real, SBP_APPLY, x, NULL, y));
  if (!c->real) PetscCall(VecScale(y, c->scale));
  if (!c->real && c->diagonal) {
    PetscCall(VecPointwiseMult(work, c->diagonal, x));
    PetscCall(VecAXPY(y, 1., work));
  }
  if (left) PetscCall(VecPointwiseMult(y, left, y));
  if (mode == SBP_ADD) PetscCall(VecAXPY(y, 1., b));
  if (mode == SBP_RESIDUAL) PetscCall(VecAYPX(y, -1., b));
  PetscCall(VecCopy(y, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_SBPSAT(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATApply_Private(A, PETSC_FALSE, SBP_APPLY, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_SBPSAT(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATApply_Private(A, PETSC_TRUE, SBP_APPLY, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSBPSATAdd_Private(Mat A, PetscBool transpose, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  if (x == y) { /* permitted by PETSc in MatMultTransposeAdd() */
    Vec work;

    PetscCall(VecDuplicate(y, &work));
    PetscCall(MatSBPSATApply_Private(A, transpose, SBP_ADD, x, b, work));
    PetscCall(VecCopy(work, y));
    PetscCall(VecDestroy(&work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSBPSATApply_Private(A, transpose, SBP_ADD, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_SBPSAT(Mat A, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATAdd_Private(A, PETSC_FALSE, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_SBPSAT(Mat A, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATAdd_Private(A, PETSC_TRUE, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A^H x, which is the conjugate of A^T times the conjugate of x; b + A^H x, if b is not NULL */
static PetscErrorCode MatSBPSATHermitian_Private(Mat A, Vec x, Vec b, Vec y)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;
  Vec              v;

  PetscFunctionBegin;
  if (c->real && !c->left && !c->right) {
    if (b) PetscCall(MatSBPSATAdd_Private(A, PETSC_TRUE, x, b, y));
    else PetscCall(MatSBPSATApply_Private(A, PETSC_TRUE, SBP_APPLY, x, NULL, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecCopy(x, v));
  PetscCall(VecConjugate(v));
  if (b) {
    Vec w;

    PetscCall(VecDuplicate(x, &w));
    PetscCall(MatSBPSATApply_Private(A, PETSC_TRUE, SBP_APPLY, v, NULL, w));
    PetscCall(VecConjugate(w));
    PetscCall(VecAXPY(w, 1., b));
    PetscCall(VecCopy(w, y));
    PetscCall(VecDestroy(&w));
  } else {
    PetscCall(MatSBPSATApply_Private(A, PETSC_TRUE, SBP_APPLY, v, NULL, y));
    PetscCall(VecConjugate(y));
  }
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultHermitianTranspose_SBPSAT(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATHermitian_Private(A, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultHermitianTransposeAdd_SBPSAT(Mat A, Vec x, Vec b, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatSBPSATHermitian_Private(A, x, b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatResidual_SBPSAT(Mat A, Vec b, Vec x, Vec r)
{
  PetscFunctionBegin;
  PetscCheck(r != x, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "The residual and the solution must be different vectors");
  PetscCall(MatSBPSATApply_Private(A, PETSC_FALSE, SBP_RESIDUAL, x, b, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the operator of the settings */
static PetscErrorCode MatSBPSATGetPlainDiagonal_Private(Mat A, Vec d)
{
  Mat_SBPSAT        *ctx = (Mat_SBPSAT *)A->data;
  const SBPOperator *op;
  PetscScalar       *to;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(LitheMatIsOnDevice(A, 1, &d, &device));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(MatSBPSATGetPlain(A, SBP_SCALAR, PETSC_TRUE, &op));
    PetscCall(VecGetArrayWriteAndMemType(d, &to, NULL));
    PetscCall((*SBPDeviceKernels.diagonal)(op, to));
    PetscCall(VecRestoreArrayWriteAndMemType(d, &to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatSBPSATGetProduct_Private(A, PETSC_FALSE, &op));
  PetscCall(VecGetArrayWrite(d, &to));
  if (op->coefficient[0]) PetscCall((*SBPHostKernels.diagonal)(op, to));
  else {
    /* A few rows at a time, as in products */
    const SBPGrid *g    = &op->grid;
    const PetscInt rows = PetscMin(SBP_FLY_ROWS + 2 * g->reach, g->ghosted.count[1]);
    PetscReal     *c[3];

    PetscCall(PetscMalloc3(rows * g->coefficientpitch, &c[0], rows * g->coefficientpitch, &c[1], rows * g->coefficientpitch, &c[2]));
    for (PetscInt j = 0; j < g->own.count[1]; j += SBP_FLY_ROWS) {
      SBPOperator part = *op;
      SBPBox      box  = g->ghosted;
      PetscInt    end;

      part.grid.own.start[1] += j;
      part.grid.own.count[1] = PetscMin(SBP_FLY_ROWS, g->own.count[1] - j);
      end                    = PetscMin(part.grid.own.start[1] + part.grid.own.count[1] + g->reach, g->ghosted.start[1] + g->ghosted.count[1]);
      box.start[1]           = PetscMax(part.grid.own.start[1] - g->reach, g->ghosted.start[1]);
      box.count[1]           = end - box.start[1];
      PetscCall((*SBPHostKernels.metrics)(&ctx->built.geometry, &box, g->coefficientpitch, c[0], c[1], c[2], NULL));
      for (int k = 0; k < 3; k++) part.coefficient[k] = c[k] - (PetscInt64)(box.start[1] - g->ghosted.start[1]) * g->coefficientpitch;
      PetscCall((*SBPHostKernels.diagonal)(&part, to + (PetscInt64)j * g->pitch));
    }
    PetscCall(PetscFree3(c[0], c[1], c[2]));
  }
  PetscCall(VecRestoreArrayWrite(d, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetDiagonal_SBPSAT(Mat A, Vec d)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetPlainDiagonal_Private(A, d));
  if (c->scale != (PetscScalar)1) PetscCall(VecScale(d, c->scale));
  if (c->diagonal) PetscCall(VecAXPY(d, 1., c->diagonal));
  if (c->left) PetscCall(VecPointwiseMult(d, d, c->left));
  if (c->right) PetscCall(VecPointwiseMult(d, d, c->right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
static PetscErrorCode MatBindToCPU_SBPSAT(Mat A, PetscBool bind)
{
  PetscFunctionBegin;
  A->boundtocpu = bind;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of several processes without arrays on the host. PETSc clears such an array for the first of a KSP's work
   vectors, which takes longer than all kernels of a set-up */
static PetscErrorCode MatCreateVecs_SBPSAT(Mat A, Vec *right, Vec *left)
{
  Vec *const v[2] = {right, left};

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    if (!v[k]) continue;
    PetscCall(LitheMatCreateVecOnDevices(A, v[k]));
    if (*v[k]) continue;
    /* as MatCreateVecs() */
    PetscCall(VecCreate(PetscObjectComm((PetscObject)A), v[k]));
    PetscCall(VecSetLayout(*v[k], k ? A->rmap : A->cmap));
    PetscCall(VecSetType(*v[k], A->defaultvectype));
    if (A->boundtocpu && A->bindingpropagates) {
      PetscCall(VecSetBindingPropagates(*v[k], PETSC_TRUE));
      PetscCall(VecBindToCPU(*v[k], PETSC_TRUE));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The operations that are products; the operator of the settings is real and symmetric */
PetscErrorCode MatSBPSATSetProducts_Private(Mat A)
{
  PetscFunctionBegin;
  A->ops->mult                      = MatMult_SBPSAT;
  A->ops->multadd                   = MatMultAdd_SBPSAT;
  A->ops->multtranspose             = MatMultTranspose_SBPSAT;
  A->ops->multtransposeadd          = MatMultTransposeAdd_SBPSAT;
  A->ops->multhermitiantranspose    = MatMultHermitianTranspose_SBPSAT;
  A->ops->multhermitiantransposeadd = MatMultHermitianTransposeAdd_SBPSAT;
  A->ops->residual                  = MatResidual_SBPSAT;
  A->ops->getdiagonal               = MatGetDiagonal_SBPSAT;
#if defined(LITHE_HAVE_CUDA)
  A->ops->bindtocpu = MatBindToCPU_SBPSAT;
  A->ops->getvecs   = MatCreateVecs_SBPSAT;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
