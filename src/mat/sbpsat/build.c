/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What a MATSBPSAT makes of its settings when it is first used: coefficients, penalties, and both in other precisions and on a device */

#include "sbpsatimpl.h"

/* Whether c_rr c_ss > c_rs^2, where the products may be out of range */
static inline PetscBool SBPIsTensor(PetscReal rr, PetscReal ss, PetscReal rs)
{
  const PetscReal least = PETSC_REAL_MIN / PETSC_MACHINE_EPSILON, product = rr * ss;

  if (!(rr > 0 && ss > 0) || PetscIsInfOrNanReal(rr) || PetscIsInfOrNanReal(ss) || PetscIsInfOrNanReal(rs)) return PETSC_FALSE;
  if (product > least && product < 1 / least) return (PetscBool)(product > rs * rs);
  return (PetscBool)(PetscSqrtReal(rr) * PetscSqrtReal(ss) > PetscAbsReal(rs));
}

/* Looks for coefficients that are no tensor of a right-handed grid: where is -1 as long as none was found */
static PetscErrorCode MatSBPSATCheckTensor_Private(const SBPBox *box, PetscInt pitch, const PetscReal *rr, const PetscReal *ss, const PetscReal *rs,
                                                   PetscInt64 *where, double values[3])
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < box->count[1]; j++) {
    for (PetscInt i = 0; i < box->count[0]; i++) {
      const PetscInt64 k = (PetscInt64)j * pitch + i;

      if (SBPIsTensor(rr[k], ss[k], rs[k])) continue;
      if (*where == -1) {
        *where    = ((PetscInt64)(j + box->start[1]) << 31) + (i + box->start[0]);
        values[0] = (double)rr[k];
        values[1] = (double)ss[k];
        values[2] = (double)rs[k];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* c_nn Gamma at the nodes of a Dirichlet face, of the range of ghosted; c_nn is given at the borrow nodes next to it, node k from the face at k pitch */
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

/* Penalties of the faces that ghosted touches */
static PetscErrorCode MatSBPSATMakePenalties_Private(Mat A, SBPOperator *op)
{
  Mat_SBPSAT     *ctx = (Mat_SBPSAT *)A->data;
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
    if (ctx->stored) {
      for (PetscInt j = 0; j < box.count[1]; j++) {
        for (PetscInt i = 0; i < box.count[0]; i++)
          near[j * box.count[0] + i] = ((const PetscReal *)op->coefficient[d])[(PetscInt64)(j + box.start[1] - g->ghosted.start[1]) * g->coefficientpitch + i +
                                                                               box.start[0] - g->ghosted.start[0]];
      }
    } else PetscCall(SBPGeometryMetrics_Private(&ctx->geometry, &box, box.count[0], d ? NULL : near, d ? near : NULL, NULL, NULL));
    /* Node k from the face goes to line k */
    for (PetscInt i = 0; i < count; i++) {
      for (int k = 0; k < t->borrow; k++) {
        const PetscInt deep = end ? t->borrow - 1 - k : k;

        normal[k * count + i] = d ? near[deep * count + i] : near[i * t->borrow + deep];
      }
    }
    PetscCall(SBPHostKernels.alloc((size_t)count * sizeof(PetscReal), (void **)&penalty));
    SBPPenalty(g, face, count, count, normal, penalty);
    op->penalty[face] = penalty;
    PetscCall(PetscFree2(near, normal));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the arrays of coefficients on the host, if they are not there. Collective */
PetscErrorCode MatSBPSATStore_Private(Mat A)
{
  Mat_SBPSAT  *ctx = (Mat_SBPSAT *)A->data;
  SBPOperator *op  = &ctx->op[SBP_REAL_PRECISION][0];
  SBPGrid     *g   = &op->grid;
  PetscReal   *c[3];
  PetscMPIInt  size;

  PetscFunctionBegin;
  if (ctx->stored) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  for (int k = 0; k < 3; k++) {
    PetscCall(SBPHostKernels.alloc((size_t)g->coefficientpitch * (size_t)g->ghosted.count[1] * sizeof(PetscReal), (void **)&c[k]));
    op->coefficient[k] = c[k];
  }
  if (ctx->settings.tensor[0] || size > 1) {
    PetscReal *owned[3] = {NULL, NULL, NULL}, *ghosted;

    /* The owned nodes, then all */
    if (!ctx->settings.tensor[0]) {
      SBPGeometry geometry;

      for (int k = 0; k < 3; k++) PetscCall(PetscMalloc1(g->own.count[0] * g->own.count[1], &owned[k]));
      PetscCall(SBPGeometryCreate_Private(A, PETSC_FALSE, &geometry));
      PetscCall(SBPGeometryMetrics_Private(&geometry, &g->own, g->own.count[0], owned[0], owned[1], owned[2], NULL));
      PetscCall(SBPGeometryDestroy_Private(&geometry));
    }
    PetscCall(PetscMalloc1(g->ghosted.count[0] * g->ghosted.count[1], &ghosted));
    for (int k = 0; k < 3; k++) {
      if (ctx->settings.tensor[0]) PetscCall(SBPGridScatter_Private(ctx->halo, g, ctx->settings.tensor[k], 1, 0, ghosted));
      else {
        PetscCall(SBPHaloBegin(ctx->halo, SBP_REAL_PRECISION, PETSC_MEMTYPE_HOST, owned[k], ghosted));
        PetscCall(SBPHaloEnd(ctx->halo, SBP_REAL_PRECISION, PETSC_MEMTYPE_HOST, owned[k], ghosted));
      }
      for (PetscInt j = 0; j < g->ghosted.count[1]; j++)
        PetscCall(PetscArraycpy(c[k] + (PetscInt64)j * g->coefficientpitch, ghosted + (PetscInt64)j * g->ghosted.count[0], g->ghosted.count[0]));
      PetscCall(PetscFree(owned[k]));
    }
    PetscCall(PetscFree(ghosted));
  } else {
    SBPGeometry geometry;

    PetscCall(SBPGeometryCreate_Private(A, PETSC_FALSE, &geometry));
    PetscCall(SBPGeometryMetrics_Private(&geometry, &g->ghosted, g->coefficientpitch, c[0], c[1], c[2], NULL));
    PetscCall(SBPGeometryDestroy_Private(&geometry));
  }
  for (int k = 0; k < 3; k++) ctx->op[SBP_SCALAR][0].coefficient[k] = c[k];
  ctx->stored = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt64 builds = 0; /* of all matrices: what each makes has a number */

static PetscErrorCode MatSBPSATTryBuild_Private(Mat A)
{
  Mat_SBPSAT        *ctx  = (Mat_SBPSAT *)A->data;
  const SBPSettings *s    = &ctx->settings;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);
  const SBPTable    *t    = SBPTableOf((int)s->order);
  SBPOperator       *op   = &ctx->op[SBP_REAL_PRECISION][0];
  DM                 da;
  Vec                coordinates;
  PetscInt           nodes[2];
  PetscInt64         bad       = -1;
  double             values[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(MatSetUp(A));
  PetscCall(MatGetDM(A, &da));
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (int d = 0; d < 2; d++)
    PetscCheck(nodes[d] - 1 >= SBPTableLeast(t), comm, PETSC_ERR_ARG_SIZ,
               "Order %d needs at least %d nodes along %s, the DMDA has %" PetscInt_FMT
               "; use more nodes, a lower -mat_sbpsat_order, or in a multigrid fewer levels",
               t->order, SBPTableLeast(t) + 1, d ? "y" : "x", nodes[d]);
  PetscCheck(s->metrics == MATSBPSAT_METRICS_STORED || !s->tensor[0], comm, PETSC_ERR_ARG_INCOMP,
             "-mat_sbpsat_metrics fly computes coefficients from coordinates, and MatSBPSATSetTensor() has set them; use -mat_sbpsat_metrics stored");

  ctx->built = PETSC_TRUE;
  op->kind   = SBP_SAT;
  PetscCall(SBPGridCreate_Private(da, t->order, SBPTableReach(t), &ctx->grid, &op->grid));
  PetscCall(SBPHaloCreate(comm, ctx->grid, s->transport, &ctx->halo));
  /* Rows of coefficients begin at multiples of 32, which kernels like */
  op->grid.coefficientpitch = (op->grid.ghosted.count[0] + 31) / 32 * 32;
  for (int f = 0; f < SBP_FACES; f++) op->grid.dirichlet[f] = s->dirichlet[f];
  op->precision                    = SBP_REAL_PRECISION;
  ctx->op[SBP_SCALAR][0]           = *op;
  ctx->op[SBP_SCALAR][0].precision = SBP_SCALAR;
  ctx->made[SBP_REAL_PRECISION][0] = ctx->made[SBP_SCALAR][0] = PETSC_TRUE;

  PetscCall(DMGetCoordinates(da, &coordinates));
  ctx->uniform = (PetscBool)(!coordinates && !s->tensor[0]);
  if (s->metrics == MATSBPSAT_METRICS_STORED) {
    PetscCall(MatSBPSATStore_Private(A));
    PetscCall(MatSBPSATCheckTensor_Private(&op->grid.ghosted, op->grid.coefficientpitch, (const PetscReal *)op->coefficient[0],
                                           (const PetscReal *)op->coefficient[1], (const PetscReal *)op->coefficient[2], &bad, values));
  } else {
    SBPBox     box = op->grid.own;
    PetscReal *rr, *ss, *rs;

    PetscCall(SBPGeometryCreate_Private(A, PETSC_TRUE, &ctx->geometry));
    PetscCall(PetscMalloc3(box.count[0], &rr, box.count[0], &ss, box.count[0], &rs));
    box.count[1] = 1;
    for (PetscInt j = 0; j < op->grid.own.count[1]; j++) {
      box.start[1] = op->grid.own.start[1] + j;
      PetscCall(SBPGeometryMetrics_Private(&ctx->geometry, &box, 0, rr, ss, rs, NULL));
      PetscCall(MatSBPSATCheckTensor_Private(&box, 0, rr, ss, rs, &bad, values));
    }
    PetscCall(PetscFree3(rr, ss, rs));
  }
  PetscCall(MatSBPSATCheckAll_Private(A, bad, values));
  PetscCall(MatSBPSATMakePenalties_Private(A, op));
  for (int f = 0; f < SBP_FACES; f++) ctx->op[SBP_SCALAR][0].penalty[f] = op->penalty[f];
  ctx->values = ++builds;
  PetscCall(MatSBPSATSetFlags_Private(A));
  A->ops->view = ctx->view; /* DMCreateMatrix() of a parallel DMDA has set its own, which prints all entries */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grid, coefficients and penalties of the settings, on the host; after an error there is nothing. Collective */
PetscErrorCode MatSBPSATBuild_Private(Mat A)
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (ctx->built) PetscFunctionReturn(PETSC_SUCCESS);
  ierr = MatSBPSATTryBuild_Private(A);
  if (ierr && ctx->built) PetscCall(MatSBPSATForget_Private(A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPCopyReals_Private(size_t count, const void *from, const void **to)
{
  void *copy = NULL;

  PetscFunctionBegin;
  if (from) {
    PetscCall(SBPHostKernels.alloc(count * sizeof(PetscReal), &copy));
    PetscCall(PetscMemcpy(copy, from, count * sizeof(PetscReal)));
  }
  *to = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What A has made of its settings for B, which has the same ones and nothing yet: vectors and coordinates are not read again. Collective */
PetscErrorCode MatSBPSATCopyBuilt_Private(Mat A, Mat B)
{
  Mat_SBPSAT        *from = (Mat_SBPSAT *)A->data, *to = (Mat_SBPSAT *)B->data;
  const SBPOperator *op = &from->op[SBP_REAL_PRECISION][0];
  const SBPGrid     *g  = &op->grid;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  to->built   = PETSC_TRUE;
  to->stored  = from->stored;
  to->uniform = from->uniform;
  to->values  = from->values;
  PetscCall(PetscObjectReference((PetscObject)from->grid));
  to->grid = from->grid;
  PetscCall(SBPHaloCreate(PetscObjectComm((PetscObject)B), to->grid, to->settings.transport, &to->halo));
  PetscCall(SBPGeometryCopy_Private(&from->geometry, &to->geometry));
  if (from->jacobian) {
    PetscCall(PetscMalloc1(g->own.count[0] * g->own.count[1], &to->jacobian));
    PetscCall(PetscArraycpy(to->jacobian, from->jacobian, g->own.count[0] * g->own.count[1]));
  }
  to->op[SBP_REAL_PRECISION][0]   = *op;
  to->made[SBP_REAL_PRECISION][0] = to->made[SBP_SCALAR][0] = PETSC_TRUE;
  for (int k = 0; k < 3; k++)
    PetscCall(
      SBPCopyReals_Private((size_t)g->coefficientpitch * (size_t)g->ghosted.count[1], op->coefficient[k], &to->op[SBP_REAL_PRECISION][0].coefficient[k]));
  for (int f = 0; f < SBP_FACES; f++)
    PetscCall(SBPCopyReals_Private((size_t)g->ghosted.count[1 - f / 2], op->penalty[f], &to->op[SBP_REAL_PRECISION][0].penalty[f]));
  to->op[SBP_SCALAR][0]           = to->op[SBP_REAL_PRECISION][0];
  to->op[SBP_SCALAR][0].precision = SBP_SCALAR;
  B->ops->view                    = A->ops->view;
  PetscCall(MatSBPSATSetFlags_Private(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* J at the owned nodes, contiguous; NULL if it is not known. Collective */
PetscErrorCode MatSBPSATGetJacobian_Private(Mat A, const PetscReal **jacobian)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  *jacobian = NULL;
  if (!ctx->jacobian) {
    const SBPGrid *g     = &ctx->op[SBP_SCALAR][0].grid;
    const PetscInt nodes = g->own.count[0] * g->own.count[1];

    if (ctx->settings.tensor[0]) {
      const PetscScalar *from;

      if (!ctx->settings.jacobian) PetscFunctionReturn(PETSC_SUCCESS);
      PetscCall(PetscMalloc1(nodes, &ctx->jacobian));
      PetscCall(VecGetArrayRead(ctx->settings.jacobian, &from));
      for (PetscInt k = 0; k < nodes; k++) ctx->jacobian[k] = PetscRealPart(from[k]);
      PetscCall(VecRestoreArrayRead(ctx->settings.jacobian, &from));
    } else {
      SBPGeometry geometry;

      PetscCall(SBPGeometryCreate_Private(A, PETSC_FALSE, &geometry));
      PetscCall(PetscMalloc1(nodes, &ctx->jacobian));
      PetscCall(SBPGeometryMetrics_Private(&geometry, &g->own, g->own.count[0], NULL, NULL, NULL, ctx->jacobian));
      PetscCall(SBPGeometryDestroy_Private(&geometry));
    }
  }
  *jacobian = ctx->jacobian;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of count numbers of the host's operator in another precision, in memory of the kind that is asked for */
static PetscErrorCode MatSBPSATCopyArray_Private(SBPPrecision precision, PetscBool device, size_t count, const void *from, const void **to)
{
  const size_t size = precision == SBP_SINGLE ? sizeof(float) : sizeof(double);
  void        *host, *copy;

  PetscFunctionBegin;
  *to = NULL;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SBPHostKernels.alloc(count * size, &host));
  if (precision == SBP_SINGLE) {
    for (size_t k = 0; k < count; k++) ((float *)host)[k] = (float)((const PetscReal *)from)[k];
  } else {
    for (size_t k = 0; k < count; k++) ((double *)host)[k] = (double)((const PetscReal *)from)[k];
  }
  copy = host;
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(SBPDeviceKernels.alloc(count * size, &copy));
    PetscCall(SBPDeviceKernels.put(count * size, host, copy));
    PetscCall(SBPHostKernels.free(&host));
  }
#else
  PetscCheck(!device, PETSC_COMM_SELF, PETSC_ERR_SUP, "This library was built without CUDA");
#endif
  *to = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without scale and diagonal */
PetscErrorCode MatSBPSATGetPlain(Mat A, SBPPrecision precision, PetscBool device, const SBPOperator **op)
{
  Mat_SBPSAT        *ctx  = (Mat_SBPSAT *)A->data;
  const SBPPrecision real = precision == SBP_SCALAR ? SBP_REAL_PRECISION : precision; /* whose arrays it has */

  PetscFunctionBegin;
  PetscCheck(real != SBP_DOUBLE || SBP_REAL_PRECISION == SBP_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PetscReal has single precision; use -pc_sbpmg_precision single");
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(MatSBPSATStore_Private(A));
  if (!ctx->made[real][device]) {
    const SBPOperator *from = &ctx->op[SBP_REAL_PRECISION][0];
    SBPOperator       *to   = &ctx->op[real][device];

    *to           = *from;
    to->precision = real;
    for (int k = 0; k < 3; k++)
      PetscCall(MatSBPSATCopyArray_Private(real, device, (size_t)from->grid.coefficientpitch * (size_t)from->grid.ghosted.count[1], from->coefficient[k],
                                           &to->coefficient[k]));
    for (int f = 0; f < SBP_FACES; f++)
      PetscCall(MatSBPSATCopyArray_Private(real, device, (size_t)from->grid.ghosted.count[1 - f / 2], from->penalty[f], &to->penalty[f]));
    ctx->made[real][device] = PETSC_TRUE;
  }
  if (precision == SBP_SCALAR && !ctx->made[SBP_SCALAR][device]) {
    ctx->op[SBP_SCALAR][device]           = ctx->op[real][device];
    ctx->op[SBP_SCALAR][device].precision = SBP_SCALAR;
    ctx->made[SBP_SCALAR][device]         = PETSC_TRUE;
  }
  *op = &ctx->op[precision][device];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory of this process: of what a product reads beside vectors, and of all */
PetscErrorCode MatSBPSATGetBytes_Private(Mat A, PetscLogDouble *product, PetscLogDouble *all)
{
  Mat_SBPSAT    *ctx   = (Mat_SBPSAT *)A->data;
  const SBPGrid *g     = &ctx->op[SBP_SCALAR][0].grid;
  const double   nodes = (double)g->ghosted.count[0] * (double)g->ghosted.count[1], padded = (double)g->coefficientpitch * (double)g->ghosted.count[1];
  PetscBool      changed;

  PetscFunctionBegin;
  *product = *all = 0;
  if (!ctx->built) PetscFunctionReturn(PETSC_SUCCESS);
  for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) {
    for (int device = 0; device < 2; device++) {
      const SBPOperator *op = &ctx->op[precision][device];

      if (!ctx->made[precision][device]) continue;
      if (ctx->diagonal[precision][device]) *all += padded * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double));
      if (op->coefficient[0]) *all += 3 * padded * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double));
      for (int f = 0; f < SBP_FACES; f++)
        *all += op->penalty[f] ? (double)g->ghosted.count[f < 2 ? 1 : 0] * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double)) : 0;
    }
  }
  if (ctx->geometry.grid.order)
    *all += ((ctx->geometry.x ? 2 : 0) + (ctx->geometry.mu ? 1 : 0)) * (double)ctx->geometry.grid.ghosted.count[0] *
            (double)ctx->geometry.grid.ghosted.count[1] * sizeof(PetscReal);
  *product = ctx->stored ? 3 * nodes * sizeof(PetscReal) : *all;
  PetscCall(MatSBPSATHasChange_Private(A, &changed));
  if (changed) *product += nodes * sizeof(PetscReal);
  if (ctx->jacobian) *all += (double)g->own.count[0] * (double)g->own.count[1] * sizeof(PetscReal);
  for (int device = 0; device < 2; device++) *all += ctx->ghosts[device] ? nodes * sizeof(PetscScalar) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
