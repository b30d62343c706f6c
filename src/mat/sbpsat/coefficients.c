/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Coefficients and penalties of a MATSBPSAT, on the host or on a device. The first place that needs the data makes it
   from the settings; the other place gets a copy on demand.
*/

#include "sbpsatimpl.h"
#include <petscdevice.h>

/* ------------------------------------------------------------ coefficients */

static size_t SBPCoefficientSize(const SBPGrid *g)
{
  return (size_t)g->coefficientpitch * (size_t)g->ghosted.count[1];
}

/* Of a vector for each coefficient */
static PetscErrorCode MatSBPSATTakeTensor_Private(Mat A, PetscBool device, PetscReal *const c[3])
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid *g   = &ctx->built.op[SBP_SCALAR][0].grid;

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(SBPGridScatter_Private(ctx->built.halo, g, ctx->settings.tensor[k], device, g->coefficientpitch, c[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of coordinates and mu: at the owned nodes, then at all */
static PetscErrorCode MatSBPSATTakeMetrics_Private(Mat A, PetscBool device, PetscReal *const c[3])
{
  Mat_SBPSAT       *ctx     = (Mat_SBPSAT *)A->data;
  const SBPKernels *kernels = SBPKernelsOf(device);
  const SBPGrid    *g       = &ctx->built.op[SBP_SCALAR][0].grid;
  const size_t      nodes = (size_t)g->own.count[0] * (size_t)g->own.count[1], all = (size_t)g->ghosted.count[0] * (size_t)g->ghosted.count[1];
  SBPGeometry       geometry;
  void             *owned[3] = {NULL, NULL, NULL}, *ghosted;

  PetscFunctionBegin;
  if (ctx->built.geometry.grid.order) { /* kept on the host, with ghosts: the values at the time of reading count */
    PetscCall((*kernels->metrics)(&ctx->built.geometry, &g->ghosted, g->coefficientpitch, c[0], c[1], c[2], NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SBPGeometryCreate_Private(A, PETSC_FALSE, device, &geometry));
  if (!ctx->built.halo) PetscCall((*kernels->metrics)(&geometry, &g->ghosted, g->coefficientpitch, c[0], c[1], c[2], NULL));
  else {
    for (int k = 0; k < 3; k++) PetscCall((*kernels->memory->alloc)(nodes * sizeof(PetscReal), &owned[k]));
    PetscCall((*kernels->metrics)(&geometry, &g->own, g->own.count[0], (PetscReal *)owned[0], (PetscReal *)owned[1], (PetscReal *)owned[2], NULL));
  }
  PetscCall(SBPGeometryDestroy_Private(device, &geometry));
  if (!ctx->built.halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*kernels->memory->alloc)(all * sizeof(PetscReal), &ghosted));
  for (int k = 0; k < 3; k++) {
    const SBPSpaced from = SBPReals((const PetscReal *)ghosted, g->ghosted.count[0]), to = SBPReals(c[k], g->coefficientpitch);

    PetscCall(SBPGridGhosts_Private(ctx->built.halo, g, SBP_REAL_PRECISION, device, owned[k], ghosted));
    PetscCall((*kernels->vector.strided)(g->ghosted.count, PETSC_FALSE, &from, &to));
    PetscCall((*kernels->memory->free)(&owned[k]));
  }
  PetscCall((*kernels->memory->free)(&ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives all operators of PetscReal of a place the arrays made there; the same for arrays of PetscScalar */
static void MatSBPSATShare(Mat_SBPSAT *ctx, PetscBool device)
{
  ctx->built.made[SBP_REAL_PRECISION][device] = ctx->built.made[SBP_SCALAR][device] = PETSC_TRUE;
  ctx->built.op[SBP_SCALAR][device]                                                 = ctx->built.op[SBP_REAL_PRECISION][device];
  ctx->built.op[SBP_SCALAR][device].precision                                       = SBP_SCALAR;
}

/* Penalties, which are made on the host, for the device */
static PetscErrorCode MatSBPSATPutPenalties_Private(Mat A)
{
  Mat_SBPSAT        *ctx  = (Mat_SBPSAT *)A->data;
  const SBPOperator *host = &ctx->built.op[SBP_REAL_PRECISION][0];
  SBPOperator       *op   = &ctx->built.op[SBP_REAL_PRECISION][1];

  PetscFunctionBegin;
  for (int f = 0; f < SBP_FACES; f++) {
    if (host->penalty[f] && !op->penalty[f])
      PetscCall(SBPMoveReals_Private(PETSC_TRUE, (size_t)host->grid.ghosted.count[1 - f / 2], host->penalty[f], (void **)&op->penalty[f]));
  }
  MatSBPSATShare(ctx, PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the arrays of coefficients at a place, unless they exist. Collective */
PetscErrorCode MatSBPSATStore_Private(Mat A, PetscBool device)
{
  Mat_SBPSAT        *ctx   = (Mat_SBPSAT *)A->data;
  const SBPOperator *other = &ctx->built.op[SBP_REAL_PRECISION][!device];
  SBPOperator       *op    = &ctx->built.op[SBP_REAL_PRECISION][device];
  const SBPKernels  *kernels;
  PetscReal         *c[3];

  PetscFunctionBegin;
  if (ctx->built.stored[device]) PetscFunctionReturn(PETSC_SUCCESS);
#if !defined(LITHE_HAVE_CUDA)
  PetscCheck(!device, PETSC_COMM_SELF, PETSC_ERR_SUP, "This library was built without CUDA");
#endif
  /* before any allocation: PETSc chooses the device of this process only with the first object on a device */
  if (PetscDefined(HAVE_CUDA) && device) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  kernels = SBPKernelsOf(device);
  if (device && ctx->built.geometry.grid.order) PetscCall(MatSBPSATStore_Private(A, PETSC_FALSE));
  if (device && !ctx->built.made[SBP_REAL_PRECISION][1]) {
    *op = ctx->built.op[SBP_REAL_PRECISION][0];
    for (int k = 0; k < 3; k++) op->coefficient[k] = NULL;
    for (int f = 0; f < SBP_FACES; f++) op->penalty[f] = NULL;
    ctx->built.made[SBP_REAL_PRECISION][1] = PETSC_TRUE;
  }
  if (ctx->built.stored[!device]) {
    for (int k = 0; k < 3; k++) PetscCall(SBPMoveReals_Private(device, SBPCoefficientSize(&op->grid), other->coefficient[k], (void **)&op->coefficient[k]));
  } else {
    for (int k = 0; k < 3; k++) {
      PetscCall(LitheMemoryCalloc(kernels->memory, SBPCoefficientSize(&op->grid) * sizeof(PetscReal), (void **)&c[k]));
      op->coefficient[k] = c[k];
    }
    if (ctx->settings.tensor[0]) PetscCall(MatSBPSATTakeTensor_Private(A, device, c));
    else PetscCall(MatSBPSATTakeMetrics_Private(A, device, c));
  }
  ctx->built.stored[device] = PETSC_TRUE;
  if (device) PetscCall(MatSBPSATPutPenalties_Private(A));
  else MatSBPSATShare(ctx, PETSC_FALSE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coefficient k at the few nodes of a box of ghosted, copied to the host without gaps */
PetscErrorCode MatSBPSATGetLines_Private(Mat A, int k, const SBPBox *box, PetscReal *lines)
{
  Mat_SBPSAT        *ctx    = (Mat_SBPSAT *)A->data;
  const PetscBool    device = (PetscBool)!ctx->built.stored[0];
  const SBPOperator *op     = &ctx->built.op[SBP_REAL_PRECISION][device];
  const SBPGrid     *g      = &op->grid;

  PetscFunctionBegin;
  if (ctx->built.stored[0] || ctx->built.stored[1]) {
    const PetscInt64 first = (PetscInt64)(box->start[1] - g->ghosted.start[1]) * g->coefficientpitch + box->start[0] - g->ghosted.start[0];
    const SBPSpaced  from  = SBPReals((const PetscReal *)op->coefficient[k] + first, g->coefficientpitch);

    PetscCall(SBPGetNumbers_Private(device, box->count, &from, lines));
  } else
    PetscCall((*SBPHostKernels.metrics)(&ctx->built.geometry, box, box->count[0], k == 0 ? lines : NULL, k == 1 ? lines : NULL, k == 2 ? lines : NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the check */

/* The same error on all processes */
static PetscErrorCode MatSBPSATCheckAll_Private(Mat A, PetscInt64 where, const double values[3])
{
  Mat_SBPSAT *ctx    = (Mat_SBPSAT *)A->data;
  MPI_Comm    comm   = PetscObjectComm((PetscObject)A);
  PetscInt64  mine   = where, any;
  double      sum[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(&where, &any, 1, MPIU_INT64, MPI_MAX, comm));
  if (any == -1) PetscFunctionReturn(PETSC_SUCCESS);
  if (mine == any) {
    for (int k = 0; k < 3; k++) sum[k] = values[k];
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, comm));
  SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE,
          "At node (%" PetscInt64_FMT ", %" PetscInt64_FMT ") c_rr = %g, c_ss = %g, c_rs = %g, which must be finite, with c_rr > 0 and c_rr c_ss > c_rs^2; %s",
          any & (((PetscInt64)1 << 31) - 1), any >> 31, sum[0], sum[1], sum[2],
          ctx->settings.tensor[0]
            ? "see MatSBPSATSetTensor()"
            : "the coordinates of the DMDA must map x, y of its nodes right-handed with x_r y_s - x_s y_r > 0, and the coefficient be positive");
}

/* Raises an error if the coefficients are no tensor of a right-handed grid. Collective */
PetscErrorCode MatSBPSATCheck_Private(Mat A)
{
  Mat_SBPSAT        *ctx    = (Mat_SBPSAT *)A->data;
  const PetscBool    device = ctx->built.stored[1], stored = (PetscBool)(ctx->built.stored[0] || device);
  const SBPOperator *op  = &ctx->built.op[SBP_REAL_PRECISION][device];
  const SBPGrid     *g   = &op->grid;
  SBPBox             box = stored ? g->ghosted : g->own, node;
  PetscReal         *c[3];
  PetscInt64         where     = -1;
  double             values[3] = {0, 0, 0};

  PetscFunctionBegin;
  if (stored) {
    PetscCall((*SBPKernelsOf(device)->check)(&box, g->coefficientpitch, (const PetscReal *)op->coefficient[0], (const PetscReal *)op->coefficient[1],
                                             (const PetscReal *)op->coefficient[2], &where));
  } else {
    const PetscInt rows = box.count[1];

    /* A row at a time */
    PetscCall(PetscMalloc3(box.count[0], &c[0], box.count[0], &c[1], box.count[0], &c[2]));
    box.count[1] = 1;
    for (PetscInt j = 0; j < rows && where < 0; j++) {
      box.start[1] = g->own.start[1] + j;
      PetscCall((*SBPHostKernels.metrics)(&ctx->built.geometry, &box, 0, c[0], c[1], c[2], NULL));
      PetscCall((*SBPHostKernels.check)(&box, 0, c[0], c[1], c[2], &where));
    }
    PetscCall(PetscFree3(c[0], c[1], c[2]));
  }
  if (where >= 0) {
    node.start[0] = box.start[0] + (PetscInt)(where % box.count[0]);
    node.start[1] = box.start[1] + (PetscInt)(where / box.count[0]);
    node.count[0] = node.count[1] = 1;
    where                         = ((PetscInt64)node.start[1] << 31) + node.start[0];
    for (int k = 0; k < 3; k++) {
      PetscReal value;

      PetscCall(MatSBPSATGetLines_Private(A, k, &node, &value));
      values[k] = (double)value;
    }
  }
  PetscCall(MatSBPSATCheckAll_Private(A, where, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ penalties */

/*
   c_nn Gamma at the nodes of a Dirichlet face, with the range of ghosted. Input: c_nn at the borrow nodes next to the
   face, at k pitch for node k from the face
*/
static void SBPPenalty(const SBPGrid *g, int face, PetscInt count, PetscInt pitch, const PetscReal *normal, PetscReal *penalty)
{
  const SBPTable *t = SBPTableOf(g->order);
  const PetscReal h = g->h[face / 2];

  for (PetscInt i = 0; i < count; i++) {
    const PetscReal c   = normal[i];
    PetscReal       psi = c;

    for (int k = 1; k < t->borrow; k++) psi = PetscMin(psi, normal[k * pitch + i]);
    penalty[i] = c * ((PetscReal)(2 / t->theta) + c / (psi * (PetscReal)t->alpha)) / h;
  }
}

/* Penalties of the faces that ghosted touches, on the host, and on a device if coefficients are on the device */
PetscErrorCode MatSBPSATMakePenalties_Private(Mat A)
{
  Mat_SBPSAT     *ctx = (Mat_SBPSAT *)A->data;
  SBPOperator    *op  = &ctx->built.op[SBP_REAL_PRECISION][0];
  const SBPGrid  *g   = &op->grid;
  const SBPTable *t   = SBPTableOf(g->order);

  PetscFunctionBegin;
  for (int face = 0; face < SBP_FACES; face++) {
    const int      d = face / 2, e = 1 - d, end = face % 2;
    const PetscInt count = g->ghosted.count[e], first = g->ghosted.start[d], last = first + g->ghosted.count[d] - 1;
    PetscReal     *near, *normal, *penalty;
    SBPBox         box;

    if (!g->dirichlet[face] || (end ? last < g->n[d] : first > 0)) continue;
    PetscCall(PetscMalloc2(count * t->borrow, &near, count * t->borrow, &normal));
    box.start[e] = g->ghosted.start[e];
    box.count[e] = count;
    box.start[d] = end ? g->n[d] - t->borrow + 1 : 0;
    box.count[d] = t->borrow;
    PetscCall(MatSBPSATGetLines_Private(A, d, &box, near));
    /* Node k from the face goes to line k */
    for (PetscInt i = 0; i < count; i++) {
      for (int k = 0; k < t->borrow; k++) {
        const PetscInt deep = end ? t->borrow - 1 - k : k;

        normal[k * count + i] = d ? near[deep * count + i] : near[i * t->borrow + deep];
      }
    }
    PetscCall(LitheMemoryCalloc(&LitheHostMemory, (size_t)count * sizeof(PetscReal), (void **)&penalty));
    SBPPenalty(g, face, count, count, normal, penalty);
    op->penalty[face] = penalty;
    PetscCall(PetscFree2(near, normal));
  }
  MatSBPSATShare(ctx, PETSC_FALSE);
  if (ctx->built.stored[1]) PetscCall(MatSBPSATPutPenalties_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
