/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The grid of a MATBORN: nodes, spacing, stencil and sponge */

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

/* How many shots are computed together */
void BornGridsStack_Private(BornGrids *grids, PetscInt shots)
{
  BornStackOf(&grids->one, shots, &grids->stack);
}

/* The grid of one shot; spectrum: the largest eigenvalue of the negative second derivative */
PetscErrorCode MatBornBuildGrid_Private(Mat A, double *spectrum)
{
  Mat_Born        *ctx   = (Mat_Born *)A->data;
  const BornSplit *split = &ctx->parallel.split;
  BornGrid        *g     = &ctx->grids.one;
  DM               da;
  PetscInt         dim, n[3];
  double           weight[BORN_MAX_RADIUS + 1];
  MPI_Comm         comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatBornGetDM_Private(A, &da, &dim));
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  ctx->grids.real = ctx->tuning.field == MATBORN_FIELD_DOUBLE ? BORN_DOUBLE : BORN_FLOAT;
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
  g->start         = split->start;
  g->n[g->dim - 1] = split->count;
  if (split->group.size > 1) {
    /* points between nodes reach into the halo, too */
    if (ctx->discretization.interpolation == MATBORN_INTERPOLATION_SINC) g->halo = PetscMax(g->halo, BORN_SINC_RADIUS);
    PetscCheck(g->planes / split->group.size >= g->halo, comm, PETSC_ERR_ARG_SIZ,
               "-mat_born_group_size %" PetscInt_FMT ": %" PetscInt_FMT " planes on %d processes are less than %" PetscInt_FMT
               " on one, which its neighbours need; use smaller groups",
               ctx->tuning.farming.size, g->planes, split->group.size, g->halo);
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
  BornGridsStack_Private(&ctx->grids, 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}
