/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The data derived from the settings of a MATSBPSAT: at the first use, at the place of the vectors; for further places
   and precisions on demand
*/

#include "sbpsatimpl.h"
#include <lithe/private/litheimpl.h>

static PetscInt64 builds = 0; /* of all matrices: each set of arrays has a number */

/* Frees all data of former settings */
PetscErrorCode MatSBPSATForget_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  if (!ctx->built.done) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->built.done = PETSC_FALSE;
  for (int device = 0; device < 2; device++) {
    PetscErrorCode (*release)(void **) = SBPKernelsOf((PetscBool)device)->memory->free;

    /* Arrays of PetscScalar operators are the arrays of PetscReal */
    for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) {
      SBPOperator *op = &ctx->built.op[precision][device];

      if (!ctx->built.made[precision][device]) continue;
      for (int k = 0; k < 3; k++) PetscCall((*release)((void **)&op->coefficient[k]));
      for (int f = 0; f < SBP_FACES; f++) PetscCall((*release)((void **)&op->penalty[f]));
    }
    for (int precision = 0; precision < 3; precision++) {
      PetscCall(PetscMemzero(&ctx->built.op[precision][device], sizeof(SBPOperator)));
      ctx->built.made[precision][device] = PETSC_FALSE;
    }
    if (ctx->built.ghosts[device]) PetscCall((*release)(&ctx->built.ghosts[device]));
    if (ctx->built.jacobian[device]) PetscCall((*release)(&ctx->built.jacobian[device]));
    ctx->built.stored[device] = PETSC_FALSE;
  }
  PetscCall(SBPGeometryDestroy_Private(PETSC_FALSE, &ctx->built.geometry));
  PetscCall(SBPHaloDestroy(&ctx->built.halo));
  PetscCall(SBPPartsDestroy(&ctx->built.parts));
  PetscCall(MatSBPSATForgetChange_Private(A));
  PetscCall(MatSBPSATForgetRows_Private(A));
  PetscCall(MatSBPSATForgetFaces_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where coefficients are made: where vectors of the matrix's type are */
static PetscErrorCode MatSBPSATIsOnDevice_Private(Mat A, PetscBool *device)
{
  PetscFunctionBegin;
  *device = PETSC_FALSE;
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool bound;
    VecType   type;

    PetscCall(MatGetVecType(A, &type));
    PetscCall(MatBoundToCPU(A, &bound));
    if (!bound) PetscCall(PetscStrcmpAny(type, device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
  }
#else
  (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSBPSATTryBuild_Private(Mat A)
{
  Mat_SBPSAT        *ctx  = (Mat_SBPSAT *)A->data;
  const SBPSettings *s    = &ctx->settings;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);
  const SBPTable    *t    = SBPTableOf((int)s->order);
  SBPOperator       *op   = &ctx->built.op[SBP_REAL_PRECISION][0];
  DM                 da;
  Vec                coordinates;
  PetscInt           nodes[2];
  PetscBool          device;

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

  ctx->built.done = PETSC_TRUE;
  op->kind        = SBP_SAT;
  PetscCall(SBPGridCreate_Private(da, t->order, SBPTableReach(t), &ctx->built.parts, &op->grid));
  if (SBPPartsExist(&ctx->built.parts)) PetscCall(SBPHaloCreate(&ctx->built.parts, &op->grid, s->transport, &ctx->built.halo));
  /* Rows of coefficients begin at multiples of 32, which kernels like */
  op->grid.coefficientpitch = (op->grid.ghosted.count[0] + 31) / 32 * 32;
  for (int f = 0; f < SBP_FACES; f++) op->grid.dirichlet[f] = s->dirichlet[f];
  op->precision                          = SBP_REAL_PRECISION;
  ctx->built.op[SBP_SCALAR][0]           = *op;
  ctx->built.op[SBP_SCALAR][0].precision = SBP_SCALAR;
  ctx->built.made[SBP_REAL_PRECISION][0] = ctx->built.made[SBP_SCALAR][0] = PETSC_TRUE;

  PetscCall(DMGetCoordinates(da, &coordinates));
  ctx->built.uniform = (PetscBool)(!coordinates && !s->tensor[0]);
  if (s->metrics == MATSBPSAT_METRICS_STORED) {
    PetscCall(MatSBPSATIsOnDevice_Private(A, &device));
    PetscCall(MatSBPSATStore_Private(A, device));
  } else PetscCall(SBPGeometryCreate_Private(A, PETSC_TRUE, PETSC_FALSE, &ctx->built.geometry));
  PetscCall(MatSBPSATCheck_Private(A));
  PetscCall(MatSBPSATMakePenalties_Private(A));
  ctx->built.values = ++builds;
  PetscCall(MatSBPSATSetFlags_Private(A));
  A->ops->view = ctx->view; /* DMCreateMatrix() of a parallel DMDA has set a view that prints all entries */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grid, coefficients and penalties of the settings; after an error, nothing. Collective */
PetscErrorCode MatSBPSATBuild_Private(Mat A)
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (ctx->built.done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheCite(LITHE_CITE_SBPSAT));
  PetscCall(PetscLogEventBegin(MAT_SBPSATBuild, A, 0, 0, 0));
  ierr = MatSBPSATTryBuild_Private(A);
  PetscCall(PetscLogEventEnd(MAT_SBPSATBuild, A, 0, 0, 0));
  if (ierr && ctx->built.done) PetscCall(MatSBPSATForget_Private(A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Copies the data that A has made of its settings to B, which has the same settings and no data yet. Vectors and
   coordinates are not read again. Collective
*/
PetscErrorCode MatSBPSATCopyBuilt_Private(Mat A, Mat B)
{
  Mat_SBPSAT    *from = (Mat_SBPSAT *)A->data, *to = (Mat_SBPSAT *)B->data;
  const SBPGrid *g;
  size_t         padded, nodes;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  g                 = &from->built.op[SBP_SCALAR][0].grid;
  padded            = (size_t)g->coefficientpitch * (size_t)g->ghosted.count[1];
  nodes             = (size_t)g->own.count[0] * (size_t)g->own.count[1];
  to->built.done    = PETSC_TRUE;
  to->built.uniform = from->built.uniform;
  to->built.values  = from->built.values;
  PetscCall(SBPPartsCopy(&from->built.parts, &to->built.parts));
  if (SBPPartsExist(&to->built.parts)) PetscCall(SBPHaloCreate(&to->built.parts, g, to->settings.transport, &to->built.halo));
  PetscCall(SBPGeometryCopy_Private(&from->built.geometry, &to->built.geometry));
  for (int device = 0; device < 2; device++) {
    const SBPOperator *op   = &from->built.op[SBP_REAL_PRECISION][device];
    SBPOperator       *copy = &to->built.op[SBP_REAL_PRECISION][device];

    if (!from->built.made[SBP_REAL_PRECISION][device]) continue;
    *copy                                      = *op;
    to->built.made[SBP_REAL_PRECISION][device] = to->built.made[SBP_SCALAR][device] = PETSC_TRUE;
    for (int k = 0; k < 3; k++) copy->coefficient[k] = NULL;
    for (int f = 0; f < SBP_FACES; f++) copy->penalty[f] = NULL;
    for (int k = 0; k < 3; k++) PetscCall(SBPCopyReals_Private((PetscBool)device, padded, op->coefficient[k], (void **)&copy->coefficient[k]));
    for (int f = 0; f < SBP_FACES; f++)
      PetscCall(SBPCopyReals_Private((PetscBool)device, (size_t)g->ghosted.count[1 - f / 2], op->penalty[f], (void **)&copy->penalty[f]));
    PetscCall(SBPCopyReals_Private((PetscBool)device, nodes, from->built.jacobian[device], &to->built.jacobian[device]));
    to->built.stored[device]                   = from->built.stored[device];
    to->built.op[SBP_SCALAR][device]           = *copy;
    to->built.op[SBP_SCALAR][device].precision = SBP_SCALAR;
  }
  B->ops->view = A->ops->view;
  PetscCall(MatSBPSATSetFlags_Private(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ghosted array for a vector, of PetscScalar */
PetscErrorCode MatSBPSATGetGhosts_Private(Mat A, PetscBool device, void **ghosts)
{
  Mat_SBPSAT    *ctx = (Mat_SBPSAT *)A->data;
  const SBPGrid *g   = &ctx->built.op[SBP_SCALAR][0].grid;

  PetscFunctionBegin;
  if (!ctx->built.ghosts[device])
    PetscCall(
      LitheMemoryCalloc(SBPKernelsOf(device)->memory, (size_t)g->ghostpitch * (size_t)g->ghosted.count[1] * sizeof(PetscScalar), &ctx->built.ghosts[device]));
  *ghosts = ctx->built.ghosts[device];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* J at the owned nodes, without gaps, at the requested place. An error, which names what needs J, if J is unknown.
   Collective */
PetscErrorCode MatSBPSATGetJacobian_Private(Mat A, const char what[], PetscBool device, const PetscReal **jacobian)
{
  Mat_SBPSAT       *ctx = (Mat_SBPSAT *)A->data;
  const SBPKernels *kernels;
  const SBPGrid    *g;
  size_t            nodes;
  void            **J = &ctx->built.jacobian[device];

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  kernels = SBPKernelsOf(device);
  g       = &ctx->built.op[SBP_SCALAR][0].grid;
  nodes   = (size_t)g->own.count[0] * (size_t)g->own.count[1];
  if (!*J && ctx->built.jacobian[!device]) PetscCall(SBPMoveReals_Private(device, nodes, ctx->built.jacobian[!device], J));
  else if (!*J && ctx->settings.tensor[0]) {
    SBPGrid own = *g;

    PetscCheck(ctx->settings.jacobian, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
               "%s needs J = x_r y_s - x_s y_r; give it to MatSBPSATSetTensor()", what);
    own.ghosted = own.own;
    PetscCall((*kernels->memory->alloc)(nodes * sizeof(PetscReal), J));
    PetscCall(SBPGridScatter_Private(NULL, &own, ctx->settings.jacobian, device, own.own.count[0], (PetscReal *)*J));
  } else if (!*J) {
    SBPGeometry geometry;

    PetscCall(SBPGeometryCreate_Private(A, PETSC_FALSE, device, &geometry));
    PetscCall((*kernels->memory->alloc)(nodes * sizeof(PetscReal), J));
    PetscCall((*kernels->metrics)(&geometry, &g->own, g->own.count[0], NULL, NULL, NULL, (PetscReal *)*J));
    PetscCall(SBPGeometryDestroy_Private(device, &geometry));
  }
  *jacobian = (const PetscReal *)*J;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of an operator in another precision, in the same place */
static PetscErrorCode SBPRound_Private(SBPPrecision precision, PetscBool device, PetscInt width, PetscInt rows, const void *from, const void **to)
{
  const SBPKernels *kernels  = SBPKernelsOf(device);
  const PetscInt    count[2] = {width, rows};
  SBPSpaced         a = SBPReals((const PetscReal *)from, width), b = a;
  void             *copy;

  PetscFunctionBegin;
  *to = NULL;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*kernels->memory->alloc)((size_t)width * (size_t)rows * SBPNumberBytes(precision), &copy));
  b.p      = copy;
  b.single = (PetscBool)(precision == SBP_SINGLE);
  PetscCall((*kernels->vector.strided)(count, PETSC_FALSE, &a, &b));
  *to = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without scale and diagonal */
PetscErrorCode MatSBPSATGetPlain(Mat A, SBPPrecision precision, PetscBool device, const SBPOperator **op)
{
  Mat_SBPSAT        *ctx  = (Mat_SBPSAT *)A->data;
  const SBPPrecision real = precision == SBP_SCALAR ? SBP_REAL_PRECISION : precision; /* the precision of the arrays */

  PetscFunctionBegin;
  PetscCheck(real != SBP_DOUBLE || SBP_REAL_PRECISION == SBP_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "PetscReal has single precision; use -pc_sbpmg_precision single");
  PetscCall(MatSBPSATBuild_Private(A));
  PetscCall(MatSBPSATStore_Private(A, device));
  if (!ctx->built.made[real][device]) {
    const SBPOperator *from = &ctx->built.op[SBP_REAL_PRECISION][device];
    SBPOperator       *to   = &ctx->built.op[real][device];
    const SBPGrid     *g    = &from->grid;

    *to                           = *from;
    to->precision                 = real;
    ctx->built.made[real][device] = PETSC_TRUE;
    for (int k = 0; k < 3; k++) to->coefficient[k] = NULL;
    for (int f = 0; f < SBP_FACES; f++) to->penalty[f] = NULL;
    for (int k = 0; k < 3; k++) PetscCall(SBPRound_Private(real, device, g->coefficientpitch, g->ghosted.count[1], from->coefficient[k], &to->coefficient[k]));
    for (int f = 0; f < SBP_FACES; f++) PetscCall(SBPRound_Private(real, device, g->ghosted.count[1 - f / 2], 1, from->penalty[f], &to->penalty[f]));
  }
  *op = &ctx->built.op[precision][device];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a product, in which a host may compute the coefficients: nothing is made then */
PetscErrorCode MatSBPSATGetProduct_Private(Mat A, PetscBool device, const SBPOperator **op)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  PetscCall(MatSBPSATBuild_Private(A));
  if (device || ctx->settings.metrics == MATSBPSAT_METRICS_STORED) PetscCall(MatSBPSATGetPlain(A, SBP_SCALAR, device, op));
  else *op = &ctx->built.op[SBP_SCALAR][0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes on the own process: of the data that a product reads besides vectors, and of all data */
PetscErrorCode MatSBPSATGetBytes_Private(Mat A, PetscLogDouble *product, PetscLogDouble *all)
{
  Mat_SBPSAT    *ctx   = (Mat_SBPSAT *)A->data;
  const SBPGrid *g     = &ctx->built.op[SBP_SCALAR][0].grid;
  const double   nodes = (double)g->ghosted.count[0] * (double)g->ghosted.count[1], padded = (double)g->coefficientpitch * (double)g->ghosted.count[1];
  PetscBool      changed;

  PetscFunctionBegin;
  *product = *all = 0;
  if (!ctx->built.done) PetscFunctionReturn(PETSC_SUCCESS);
  for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) {
    for (int device = 0; device < 2; device++) {
      const SBPOperator *op = &ctx->built.op[precision][device];

      if (!ctx->built.made[precision][device]) continue;
      if (ctx->changed.diagonal[precision][device]) *all += padded * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double));
      if (op->coefficient[0]) *all += 3 * padded * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double));
      for (int f = 0; f < SBP_FACES; f++)
        *all += op->penalty[f] ? (double)g->ghosted.count[f < 2 ? 1 : 0] * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double)) : 0;
    }
  }
  if (ctx->built.geometry.grid.order)
    *all += ((ctx->built.geometry.x ? 2 : 0) + (ctx->built.geometry.mu ? 1 : 0)) * (double)ctx->built.geometry.grid.ghosted.count[0] *
            (double)ctx->built.geometry.grid.ghosted.count[1] * sizeof(PetscReal);
  *product = ctx->built.stored[0] || ctx->built.stored[1] ? 3 * nodes * sizeof(PetscReal) : *all;
  PetscCall(MatSBPSATHasChange_Private(A, &changed));
  if (changed) *product += nodes * sizeof(PetscReal);
  for (int device = 0; device < 2; device++) {
    *all += ctx->built.jacobian[device] ? (double)g->own.count[0] * (double)g->own.count[1] * sizeof(PetscReal) : 0;
    *all += ctx->built.ghosts[device] ? nodes * sizeof(PetscScalar) : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
