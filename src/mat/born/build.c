/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The data that a MATBORN needs before its first use: the grid, V, the places of sources and receivers */

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

/* Spacing and origin from the coordinates of the DMDA, whose grid must have one spacing per dimension */
static PetscErrorCode MatBornReadCoordinates_Private(Mat A, DM da)
{
  Mat_Born          *ctx   = (Mat_Born *)A->data;
  const BornGrid    *g     = &ctx->grids.one;
  PetscInt64         wrong = PETSC_INT64_MAX, l = 0;
  PetscInt           start[3], count[3], n[3];
  PetscReal          least[3] = {0, 0, 0}, most[3] = {0, 0, 0};
  Vec                coordinates;
  const PetscScalar *x;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  for (int d = 0; d < g->dim; d++) {
    ctx->grids.h[d]      = ctx->discretization.spacing[d];
    ctx->grids.origin[d] = 0;
  }
  if (ctx->discretization.spacing[0] > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCheck(coordinates, comm, PETSC_ERR_ARG_WRONGSTATE, "The DMDA has no coordinates: use DMDASetUniformCoordinates(), or MatBornSetSpacing()");
  for (int d = 0; d < 3; d++) n[d] = BornWhole(g, d);
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  for (int d = 0; d < g->dim; d++) {
    least[d] = PETSC_MAX_REAL;
    most[d]  = -PETSC_MAX_REAL;
  }
  PetscCall(VecGetArrayRead(coordinates, &x));
  for (PetscInt64 i = 0; i < (PetscInt64)count[0] * count[1] * count[2]; i++) {
    for (int d = 0; d < g->dim; d++) {
      least[d] = PetscMin(least[d], PetscRealPart(x[g->dim * i + d]));
      most[d]  = PetscMax(most[d], PetscRealPart(x[g->dim * i + d]));
    }
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, least, 3, MPIU_REAL, MPIU_MIN, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, most, 3, MPIU_REAL, MPIU_MAX, comm));
  for (int d = 0; d < g->dim; d++) {
    ctx->grids.origin[d] = least[d];
    ctx->grids.h[d]      = (most[d] - least[d]) / (PetscReal)(n[d] - 1);
  }
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++, l++) {
        const PetscInt place[3] = {i, j, k};

        for (int d = 0; d < g->dim; d++) {
          const PetscReal off = PetscRealPart(x[g->dim * l + d]) - ctx->grids.origin[d] - (PetscReal)place[d] * ctx->grids.h[d];

          if (!(PetscAbsReal(off) < ctx->grids.h[d] / 1000)) wrong = PetscMin(wrong, i + (PetscInt64)n[0] * (j + (PetscInt64)n[1] * k));
        }
      }
    }
  }
  PetscCall(VecRestoreArrayRead(coordinates, &x));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT64, MPI_MIN, comm));
  PetscCheck(wrong == PETSC_INT64_MAX, comm, PETSC_ERR_ARG_WRONG,
             "The nodes of the DMDA are not at equal distances along rising axes: node %" PetscInt64_FMT " is not; use MatBornSetSpacing()", wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The damping with the least echo for time steps near the limit: attenuation on the way to the face and back, against
   the sponge's own reflection */
static double BornDamping(int dim, double spectrum, PetscInt width)
{
  const double courant = 2 / sqrt(dim * spectrum), attenuation = 5;

  return 1.5 * attenuation * courant / (double)PetscMax(width, 1);
}

static PetscErrorCode MatBornBuildGrid_Private(Mat A, double *spectrum)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  BornGrid *g   = &ctx->grids.one;
  DM        da;
  PetscInt  dim, n[3];
  double    weight[BORN_MAX_RADIUS + 1];
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatBornGetDM_Private(A, &da, &dim));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->dim     = (int)dim;
  g->radius  = (int)ctx->discretization.order / 2;
  g->surface = ctx->discretization.surface;
  g->width   = ctx->discretization.width;
  for (int d = 0; d < 3; d++) g->n[d] = d < g->dim ? n[d] : 1;
  for (int d = 0; d < g->dim; d++)
    PetscCheck(g->n[d] > 2 * g->width && g->n[d] > g->radius, comm, PETSC_ERR_ARG_SIZ,
               "The grid has %" PetscInt_FMT " nodes along dimension %d: too few for two sponges of %" PetscInt_FMT
               " nodes (-mat_born_width), or for order %" PetscInt_FMT,
               g->n[d], d, g->width, ctx->discretization.order);
  /* Lines begin where reads are widest. The places behind a line are room for the stencil there and before the next
     line */
  g->halo          = g->radius;
  g->planes        = g->n[g->dim - 1];
  g->start         = ctx->parallel.split->start;
  g->n[g->dim - 1] = ctx->parallel.split->count;
  if (ctx->parallel.split->group.size > 1) {
    /* points between nodes reach into the halo, too */
    if (ctx->discretization.interpolation == MATBORN_INTERPOLATION_SINC) g->halo = PetscMax(g->halo, BORN_SINC_RADIUS);
    PetscCheck(g->planes / ctx->parallel.split->group.size >= g->halo, comm, PETSC_ERR_ARG_SIZ,
               "-mat_born_group_size %" PetscInt_FMT ": %" PetscInt_FMT " planes on %d processes are less than %" PetscInt_FMT
               " on one, which its neighbours need; use smaller groups",
               ctx->tuning.farming.size, g->planes, ctx->parallel.split->group.size, g->halo);
  }
  g->nodes     = (PetscInt64)g->n[0] * g->n[1] * g->n[2];
  g->stride[0] = 1;
  g->stride[1] = (g->n[0] + g->radius + BORN_ALIGN - 1) / BORN_ALIGN * BORN_ALIGN;
  g->stride[2] = g->stride[1] * (g->n[1] + g->radius);
  g->first     = BORN_ALIGN + (g->dim > 2 ? g->radius * g->stride[1] + g->halo * g->stride[2] : g->halo * g->stride[1]);
  g->size      = g->first + BORN_ALIGN + (g->dim > 2 ? g->stride[2] * (g->n[2] + g->halo) : g->stride[1] * (g->n[1] + g->halo));
  PetscCall(MatBornReadCoordinates_Private(A, da));
  BornSecondDerivative(g->radius, weight);
  for (int d = 0; d < g->dim; d++) {
    const double ratio = (double)ctx->grids.h[0] / (double)ctx->grids.h[d];

    for (int k = 0; k <= g->radius; k++) g->weight[d][k] = weight[k] * ratio * ratio;
  }
  *spectrum  = BornSpectrum(g->radius, weight);
  g->damping = ctx->discretization.damping == (PetscReal)PETSC_DETERMINE ? BornDamping(g->dim, *spectrum, g->width) : (double)ctx->discretization.damping;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first velocity that is not positive and finite; a process without such a velocity takes part */
static PetscErrorCode MatBornRefuseVelocity_Private(Mat A, DM da)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const BornGrid    *g   = &ctx->grids.one;
  const PetscScalar *v;
  PetscReal          value = 0;
  PetscInt           start[3], count[3];
  PetscInt64         wrong = PETSC_INT64_MAX, first, l = 0;
  PetscMPIInt        rank, owner;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArrayRead(ctx->survey.velocity, &v));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++, l++) {
        const PetscReal r = PetscRealPart(v[l]);

        if (wrong == PETSC_INT64_MAX && (!(r > 0) || PetscIsInfOrNanReal(r))) {
          wrong = i + (PetscInt64)BornWhole(g, 0) * (j + (PetscInt64)BornWhole(g, 1) * k);
          value = r;
        }
      }
    }
  }
  PetscCall(VecRestoreArrayRead(ctx->survey.velocity, &v));
  first = wrong;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT64, MPI_MIN, comm));
  /* the owner tells the value, so the message is the same on all processes */
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  owner = wrong == first ? rank : -1;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &owner, 1, MPI_INT, MPI_MAX, comm));
  PetscCallMPI(MPI_Bcast(&value, 1, MPIU_REAL, owner, comm));
  SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE, "The velocity at node %" PetscInt64_FMT " is %g; it must be positive", first, (double)value);
}

/* The least and the largest velocity, after checks; slab: their range on this process */
static PetscErrorCode MatBornCheckVelocity_Private(Mat A, DM da, double spectrum, const double slab[2])
{
  Mat_Born       *ctx      = (Mat_Born *)A->data;
  const BornGrid *g        = &ctx->grids.one;
  double          range[2] = {slab[0], -slab[1]}, sum = 0, limit;
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MIN, comm));
  if (!(range[0] > 0)) PetscCall(MatBornRefuseVelocity_Private(A, da));
  ctx->model.least = (PetscReal)range[0];
  ctx->model.most  = (PetscReal)-range[1];
  for (int d = 0; d < g->dim; d++) sum += PetscSqr((double)ctx->grids.h[0] / (double)ctx->grids.h[d]);
  limit = 2 * (double)ctx->grids.h[0] / ((double)ctx->model.most * sqrt(spectrum * sum));
  PetscCheck((double)ctx->time.dt <= limit * (1 + 10 * (double)PETSC_MACHINE_EPSILON), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The time step %g is above the limit of stability %g for the largest velocity %g and order %" PetscInt_FMT
             "; use a smaller one in MatBornSetTime(), or a wider spacing",
             (double)ctx->time.dt, limit, (double)ctx->model.most, ctx->discretization.order);
  PetscCall(PetscObjectStateGet((PetscObject)ctx->survey.velocity, &ctx->model.state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V as steps read it */
static PetscErrorCode MatBornBuildVelocity_Private(Mat A, double spectrum)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const BornKernels *k   = ctx->kernels;
  const BornGrid    *g   = &ctx->grids.one;
  const PetscReal   *slab;
  PetscReal         *mine;
  PetscInt           n;
  void              *field = NULL;
  double             range[2];
  DM                 da;
  PetscBool          same;
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(ctx->survey.velocity, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix has no velocity; use MatBornSetVelocity()");
  PetscCall(VecGetLocalSize(ctx->survey.velocity, &n));
  PetscCall(MatBornAgree_Private(A, (PetscBool)(n == A->cmap->n), &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_SIZ, "The velocity has %" PetscInt_FMT " numbers, the DMDA %" PetscInt_FMT " nodes", n, A->cmap->n);
  PetscCheck(ctx->tuning.velocitybits != 16 || ctx->grids.real == BORN_FLOAT, comm, PETSC_ERR_SUP,
             "-mat_born_velocity_bits 16 is for fields in single precision; use -mat_born_field float");
  PetscCall(MatBornGetDM_Private(A, &da, NULL));
  PetscCall(MatBornOpenSlab_Private(A, ctx->survey.velocity, &slab));
  PetscCall((*k->borrow)((size_t)g->nodes, slab, PETSC_TRUE, &mine));
  PetscCall((*k->range)((size_t)g->nodes, mine, &range[0], &range[1]));
  PetscCall((*k->create)((size_t)g->size * BornBytes(ctx->grids.real), &field));
  /* the first plane, of a free surface, never moves */
  PetscCall((*k->courant)(g, ctx->grids.real, (PetscBool)(g->surface && !g->start), ctx->time.dt, ctx->grids.h[0], mine, field));
  PetscCall((*k->giveback)((size_t)g->nodes, (PetscReal *)slab, PETSC_FALSE, &mine));
  PetscCall(MatBornCloseSlab_Private(A, ctx->survey.velocity, &slab));
  ctx->model.V = field;
  PetscCall(MatBornCheckVelocity_Private(A, da, spectrum, range));
  if (ctx->tuning.velocitybits != 16) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->model.Vunit = PetscSqr((double)ctx->model.most * (double)ctx->time.dt / (double)ctx->grids.h[0]) / 65535;
  ctx->model.V     = NULL;
  ctx->model.Vreal = field;
  PetscCall((*k->create)((size_t)g->size * sizeof(uint16_t), &ctx->model.V));
  PetscCall((*k->quantise)(g, ctx->grids.real, ctx->model.Vunit, field, (uint16_t *)ctx->model.V));
  if (ctx->store.chosen != MATBORN_BACKGROUND_RANDOM) PetscCall((*k->destroy)(&ctx->model.Vreal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* dV/V of a model of ones: the derivative by the parameter, with the scales of columns; as vectors of the matrix are */
static PetscErrorCode MatBornBuildChain_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  if (ctx->scales.chain || (ctx->discretization.parameter == MATBORN_PARAMETER_REFLECTIVITY && !ctx->scales.right && ctx->scales.scale == (PetscScalar)1))
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &ctx->scales.work, NULL));
  PetscCall(MatCreateVecs(A, &ctx->scales.chain, NULL));
  PetscCall(VecCopy(ctx->survey.velocity, ctx->scales.chain));
  if (ctx->discretization.parameter == MATBORN_PARAMETER_VELOCITY) {
    PetscCall(VecReciprocal(ctx->scales.chain));
    PetscCall(VecScale(ctx->scales.chain, 2));
  } else if (ctx->discretization.parameter == MATBORN_PARAMETER_SLOWNESS2) {
    PetscCall(VecPointwiseMult(ctx->scales.chain, ctx->scales.chain, ctx->scales.chain));
    PetscCall(VecScale(ctx->scales.chain, -1));
  } else PetscCall(VecSet(ctx->scales.chain, 1));
  if (ctx->scales.right) PetscCall(VecPointwiseMult(ctx->scales.chain, ctx->scales.chain, ctx->scales.right));
  PetscCall(VecScale(ctx->scales.chain, ctx->scales.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBornBuildShots_Private(Mat A)
{
  Mat_Born       *ctx  = (Mat_Born *)A->data;
  const BornGrid *g    = &ctx->grids.one;
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) {
    BornShot *shot = &ctx->survey.shots[s];

    PetscCall(BornPointsCreate_Private(comm, g, ctx->grids.origin, ctx->grids.h, ctx->discretization.interpolation, "Source", s, 1, shot->source, &shot->at));
    PetscCall(BornPointsCreate_Private(comm, g, ctx->grids.origin, ctx->grids.h, ctx->discretization.interpolation, "Receiver", s, shot->nreceivers,
                                       shot->receivers, &shot->to));
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
  PetscBool        stale    = PETSC_TRUE;
  double           spectrum = 0;
  MPI_Comm         comm     = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  if (ctx->built) {
    PetscCall(PetscObjectStateGet((PetscObject)ctx->survey.velocity, &state));
    stale = (PetscBool)(state != ctx->model.state);
  }
  /* a single process may have changed its part of the velocity */
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &stale, 1, MPI_C_BOOL, MPI_LOR, comm));
  if (!stale) {
    PetscCall(MatBornBuildChain_Private(A)); /* scales may be new */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatBornForget_Private(A)); /* also the remains after an error */
  PetscCall(MatBornCheckSettings_Private(A));
  if (!ctx->parallel.split) {
    DM da;

    PetscCall(MatBornGetDM_Private(A, &da, NULL));
    PetscCall(BornSplitCreate_Private(da, &ctx->tuning.farming, &ctx->parallel.split));
  }
  PetscCheck(ctx->survey.wavelet, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix has no wavelet; use MatBornSetWavelet()");
  PetscCall(MatBornChooseKernels_Private(A));
  ctx->grids.real = ctx->tuning.field == MATBORN_FIELD_DOUBLE ? BORN_DOUBLE : BORN_FLOAT;
  PetscCall(MatBornBuildGrid_Private(A, &spectrum));
  PetscCall(BornHalosCreate_Private(ctx));
  PetscCall(MatBornBuildLowpass_Private(A));
  PetscCall(MatBornChooseBackground_Private(A)); /* and how many shots are computed together */
  PetscCall(MatBornBuildVelocity_Private(A, spectrum));
  PetscCall(MatBornBuildWavelet_Private(A));
  PetscCall(MatBornBuildChain_Private(A));
  PetscCall(MatBornBuildShots_Private(A));
  ctx->built = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a product with the transpose, which needs most, with the vectors of scales, without other vectors and points */
PetscErrorCode MatBornGetBytes_Private(Mat A, PetscLogDouble *bytes)
{
  const Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  /* u, w, q, the image, V; vectors */
  *bytes = 6 * (PetscLogDouble)ctx->grids.stack.size * (PetscLogDouble)BornBytes(ctx->grids.real);
  *bytes += (PetscLogDouble)ctx->grids.one.size * (ctx->tuning.velocitybits == 16 ? 2 : (PetscLogDouble)BornBytes(ctx->grids.real));
  *bytes += ((ctx->scales.chain ? 2 : 0) + (ctx->scales.right ? 1 : 0)) * (PetscLogDouble)ctx->grids.one.nodes * (PetscLogDouble)sizeof(PetscReal);
  *bytes += (ctx->scales.left ? 2 : 0) * (PetscLogDouble)A->rmap->n * (PetscLogDouble)sizeof(PetscReal);
  /* the images of the shots that are computed together, and sums of all of them */
  *bytes += (PetscLogDouble)ctx->grids.stack.nodes * (PetscLogDouble)sizeof(PetscReal);
  *bytes += (PetscLogDouble)ctx->grids.one.nodes * (PetscLogDouble)(LITHE_SUMS_BINS * sizeof(PetscInt64));
  *bytes += (*ctx->store.background->bytes)(ctx) + BornTracesBytes_Private(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}
