/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What a MATBORN needs before it can be used: the grid, V, the places of sources and receivers */

#include "bornimpl.h"

/* The second derivative of order 2 radius, times the square of the spacing: centre, first neighbours, ... */
static void BornSecondDerivative(int radius, double weight[])
{
  double factor = 1; /* (radius!)^2 / (radius - k)! / (radius + k)! */

  weight[0] = 0;
  for (int k = 1; k <= radius; k++) {
    factor *= (double)(radius - k + 1) / (double)(radius + k);
    weight[k] = (k % 2 ? 2. : -2.) * factor / ((double)k * k);
    weight[0] -= 2 * weight[k];
  }
}

/* The largest eigenvalue of the negative second derivative on an endless line */
static double BornSpectrum(int radius, const double weight[])
{
  double sum = fabs(weight[0]);

  for (int k = 1; k <= radius; k++) sum += 2 * fabs(weight[k]);
  return sum;
}

/* Spacing and origin from the coordinates of the DMDA, which must be those of a grid with one spacing a dimension */
static PetscErrorCode MatBornReadCoordinates_Private(Mat A, DM da)
{
  Mat_Born          *ctx   = (Mat_Born *)A->data;
  const BornGrid    *g     = &ctx->grid;
  PetscInt64         wrong = -1;
  Vec                coordinates;
  const PetscScalar *x;

  PetscFunctionBegin;
  for (int d = 0; d < g->dim; d++) {
    ctx->h[d]      = ctx->spacing[d];
    ctx->origin[d] = 0;
  }
  if (ctx->spacing[0] > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCheck(coordinates, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The DMDA has no coordinates: use DMDASetUniformCoordinates(), or MatBornSetSpacing()");
  PetscCall(VecGetArrayRead(coordinates, &x));
  for (int d = 0; d < g->dim; d++) {
    ctx->origin[d] = PetscRealPart(x[d]);
    ctx->h[d]      = (PetscRealPart(x[g->dim * (g->nodes - 1) + d]) - ctx->origin[d]) / (PetscReal)(g->n[d] - 1);
  }
  for (PetscInt64 node = 0; node < g->nodes && wrong < 0; node++) {
    const PetscInt64 place[3] = {node % g->n[0], node / g->n[0] % g->n[1], node / g->n[0] / g->n[1]};

    for (int d = 0; d < g->dim; d++) {
      const PetscReal off = PetscRealPart(x[g->dim * node + d]) - ctx->origin[d] - (PetscReal)place[d] * ctx->h[d];

      if (!(PetscAbsReal(off) < ctx->h[d] / 1000)) wrong = node;
    }
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscCheck(wrong < 0, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The nodes of the DMDA are not at equal distances along rising axes: node %" PetscInt64_FMT " is not; use MatBornSetSpacing()", wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What echoes least of dampings for time steps near the limit: attenuation on the way to the face and back, against what the sponge itself reflects */
static double BornDamping(int dim, double spectrum, PetscInt width)
{
  const double courant = 2 / sqrt(dim * spectrum), attenuation = 5;

  return 1.5 * attenuation * courant / (double)PetscMax(width, 1);
}

static PetscErrorCode MatBornBuildGrid_Private(Mat A, double *spectrum)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  BornGrid *g   = &ctx->grid;
  DM        da;
  PetscInt  dim, n[3];
  double    weight[BORN_MAX_RADIUS + 1];
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatBornGetDM_Private(A, &da, &dim));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->dim     = (int)dim;
  g->radius  = (int)ctx->order / 2;
  g->surface = ctx->surface;
  g->width   = ctx->width;
  for (int d = 0; d < 3; d++) g->n[d] = d < g->dim ? n[d] : 1;
  for (int d = 0; d < g->dim; d++)
    PetscCheck(g->n[d] > 2 * g->width && g->n[d] > g->radius, comm, PETSC_ERR_ARG_SIZ,
               "The grid has %" PetscInt_FMT " nodes along dimension %d: too few for two sponges of %" PetscInt_FMT
               " nodes (-mat_born_width), or for order %" PetscInt_FMT,
               g->n[d], d, g->width, ctx->order);
  /* Lines begin where reads are widest. What stands behind a line is room for the stencil there and before the next one */
  g->halo      = g->radius;
  g->start     = 0;
  g->planes    = g->n[g->dim - 1];
  g->nodes     = (PetscInt64)g->n[0] * g->n[1] * g->n[2];
  g->stride[0] = 1;
  g->stride[1] = (g->n[0] + g->radius + BORN_ALIGN - 1) / BORN_ALIGN * BORN_ALIGN;
  g->stride[2] = g->stride[1] * (g->n[1] + g->radius);
  g->first     = BORN_ALIGN + g->radius * g->stride[1] + (g->dim > 2 ? g->halo * g->stride[2] : 0);
  g->size      = g->first + BORN_ALIGN + (g->dim > 2 ? g->stride[2] * (g->n[2] + g->halo) : g->stride[1] * (g->n[1] + g->halo));
  PetscCall(MatBornReadCoordinates_Private(A, da));
  BornSecondDerivative(g->radius, weight);
  for (int d = 0; d < g->dim; d++) {
    const double ratio = (double)ctx->h[0] / (double)ctx->h[d];

    for (int k = 0; k <= g->radius; k++) g->weight[d][k] = weight[k] * ratio * ratio;
  }
  *spectrum  = BornSpectrum(g->radius, weight);
  g->damping = ctx->damping == (PetscReal)PETSC_DETERMINE ? BornDamping(g->dim, *spectrum, g->width) : (double)ctx->damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V, a grid array on the host, and the least and the largest velocity, after checks */
static PetscErrorCode MatBornReadVelocity_Private(Mat A, double spectrum, PetscReal *V)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const BornGrid    *g   = &ctx->grid;
  const PetscScalar *v;
  PetscReal          value = 0;
  PetscInt           n, wrong = -1;
  double             sum  = 0, limit;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ctx->velocity, &n));
  PetscCall(VecGetArrayRead(ctx->velocity, &v));
  ctx->least = ctx->most = PetscRealPart(v[0]);
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal r = PetscRealPart(v[i]), c = r * ctx->dt / ctx->h[0];

    if (!(r > 0) || PetscIsInfOrNanReal(r)) {
      wrong = i;
      value = r;
      break;
    }
    ctx->least = PetscMin(ctx->least, r);
    ctx->most  = PetscMax(ctx->most, r);
    V[i]       = c * c;
  }
  PetscCall(VecRestoreArrayRead(ctx->velocity, &v));
  PetscCheck(wrong < 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "The velocity at node %" PetscInt_FMT " is %g; it must be positive", wrong, (double)value);
  for (int d = 0; d < g->dim; d++) sum += PetscSqr((double)ctx->h[0] / (double)ctx->h[d]);
  limit = 2 * (double)ctx->h[0] / ((double)ctx->most * sqrt(spectrum * sum));
  PetscCheck((double)ctx->dt <= limit * (1 + 10 * (double)PETSC_MACHINE_EPSILON), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The time step %g is above the limit of stability %g for the largest velocity %g and order %" PetscInt_FMT
             "; use a smaller one in MatBornSetTime(), or a wider spacing",
             (double)ctx->dt, limit, (double)ctx->most, ctx->order);
  /* The first plane, of a free surface, never moves */
  if (g->surface && !g->start) PetscCall(PetscArrayzero(V, g->dim == 2 ? g->n[0] : (PetscInt64)g->n[0] * g->n[1]));
  PetscCall(PetscObjectStateGet((PetscObject)ctx->velocity, &ctx->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V as steps read it */
static PetscErrorCode MatBornBuildVelocity_Private(Mat A, double spectrum)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const BornKernels *k   = ctx->kernels;
  const BornGrid    *g   = &ctx->grid;
  PetscReal         *V, *mine;
  PetscInt           n;
  void              *field = NULL;
  MPI_Comm           comm  = PetscObjectComm((PetscObject)A);
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCheck(ctx->velocity, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix has no velocity; use MatBornSetVelocity()");
  PetscCall(VecGetLocalSize(ctx->velocity, &n));
  PetscCheck(n == g->nodes, comm, PETSC_ERR_ARG_SIZ, "The velocity has %" PetscInt_FMT " numbers, the DMDA %" PetscInt64_FMT " nodes", n, g->nodes);
  PetscCheck(ctx->velocitybits != 16 || ctx->real == BORN_FLOAT, comm, PETSC_ERR_SUP,
             "-mat_born_velocity_bits 16 is for fields in single precision; use -mat_born_field float");
  PetscCall(PetscMalloc1(n, &V));
  ierr = MatBornReadVelocity_Private(A, spectrum, V);
  if (ierr) (void)PetscFree(V);
  PetscCall(ierr);
  PetscCall(BornGetField_Private(ctx, &field));
  PetscCall((*k->borrow)((size_t)n, V, PETSC_TRUE, &mine));
  PetscCall((*k->load)(g, ctx->real, PETSC_FALSE, 1, mine, field));
  PetscCall((*k->giveback)((size_t)n, V, PETSC_FALSE, &mine));
  PetscCall(PetscFree(V));
  ctx->V = field;
  if (ctx->velocitybits != 16) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->Vunit = PetscSqr((double)ctx->most * (double)ctx->dt / (double)ctx->h[0]) / 65535;
  ctx->V     = NULL;
  ctx->Vreal = field;
  PetscCall((*k->create)((size_t)g->size * sizeof(uint16_t), &ctx->V));
  PetscCall((*k->quantise)(g, ctx->real, ctx->Vunit, field, (uint16_t *)ctx->V));
  if (ctx->chosen != MATBORN_BACKGROUND_RANDOM) PetscCall((*k->destroy)(&ctx->Vreal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* dV/V of a change of the parameter by 1, as vectors of the matrix are */
static PetscErrorCode MatBornBuildChain_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &ctx->work, NULL));
  if (ctx->parameter == MATBORN_PARAMETER_REFLECTIVITY) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &ctx->chain, NULL));
  PetscCall(VecCopy(ctx->velocity, ctx->chain));
  if (ctx->parameter == MATBORN_PARAMETER_VELOCITY) {
    PetscCall(VecReciprocal(ctx->chain));
    PetscCall(VecScale(ctx->chain, 2));
  } else {
    PetscCall(VecPointwiseMult(ctx->chain, ctx->chain, ctx->chain));
    PetscCall(VecScale(ctx->chain, -1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBornBuildShots_Private(Mat A)
{
  Mat_Born       *ctx  = (Mat_Born *)A->data;
  const BornGrid *g    = &ctx->grid;
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  for (PetscInt s = 0; s < ctx->nshots; s++) {
    BornShot *shot = &ctx->shots[s];

    PetscCall(BornPointsCreate_Private(comm, g, ctx->origin, ctx->h, ctx->interpolation, "Source", s, 1, shot->source, &shot->at));
    PetscCall(BornPointsCreate_Private(comm, g, ctx->origin, ctx->h, ctx->interpolation, "Receiver", s, shot->nreceivers, shot->receivers, &shot->to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where fields are: where vectors of the matrix's type are */
static PetscErrorCode MatBornChooseKernels_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  ctx->kernels = &BornHostKernels;
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool bound, device = PETSC_FALSE;
    VecType   type;

    PetscCall(MatGetVecType(A, &type));
    PetscCall(MatBoundToCPU(A, &bound));
    if (!bound) PetscCall(PetscStrcmpAny(type, &device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
    if (device) ctx->kernels = &BornDeviceKernels;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the matrix up to date with its settings and the velocity */
PetscErrorCode MatBornBuild_Private(Mat A)
{
  Mat_Born        *ctx = (Mat_Born *)A->data;
  PetscObjectState state;
  double           spectrum = 0;
  MPI_Comm         comm     = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  if (ctx->built) {
    PetscCall(PetscObjectStateGet((PetscObject)ctx->velocity, &state));
    if (state == ctx->state) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatBornForget_Private(A)); /* also what an error has left behind */
  PetscCheck(ctx->wavelet, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix has no wavelet; use MatBornSetWavelet()");
  PetscCall(MatBornChooseKernels_Private(A));
  ctx->real = ctx->field == MATBORN_FIELD_DOUBLE ? BORN_DOUBLE : BORN_FLOAT;
  PetscCall(MatBornBuildGrid_Private(A, &spectrum));
  PetscCall(MatBornChooseBackground_Private(A));
  PetscCall(MatBornBuildVelocity_Private(A, spectrum));
  PetscCall(MatBornBuildWavelet_Private(A));
  PetscCall(MatBornBuildChain_Private(A));
  PetscCall(MatBornBuildShots_Private(A));
  ctx->built = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a product with the transpose, which needs most, without vectors and points */
PetscErrorCode MatBornGetBytes_Private(Mat A, PetscLogDouble *bytes)
{
  const Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  /* u, w, q, the image, V; vectors */
  *bytes = (PetscLogDouble)ctx->grid.size * (6 * (PetscLogDouble)BornBytes(ctx->real) + (ctx->velocitybits == 16 ? 2 : (PetscLogDouble)BornBytes(ctx->real)));
  *bytes += (ctx->chain ? 2 : 1) * (PetscLogDouble)ctx->grid.nodes * (PetscLogDouble)sizeof(PetscReal);
  *bytes += (*ctx->background->bytes)(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}
