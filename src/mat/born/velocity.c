/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* V of a MATBORN, from a velocity that is checked */

#include "bornimpl.h"

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
PetscErrorCode MatBornBuildVelocity_Private(Mat A, double spectrum)
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
  PetscCall(BornSlabOpen_Private(k, &ctx->parallel, da, ctx->survey.velocity, &slab));
  PetscCall((*k->borrow)((size_t)g->nodes, slab, PETSC_TRUE, &mine));
  PetscCall((*k->range)((size_t)g->nodes, mine, &range[0], &range[1]));
  PetscCall((*k->create)(PETSC_FALSE, (size_t)g->size * BornBytes(ctx->grids.real), &field));
  /* the first plane, of a free surface, never moves */
  PetscCall((*k->courant)(g, ctx->grids.real, (PetscBool)(g->surface && !g->start), ctx->time.dt, ctx->grids.h[0], mine, field));
  PetscCall((*k->giveback)((size_t)g->nodes, (PetscReal *)slab, PETSC_FALSE, &mine));
  PetscCall(BornSlabClose_Private(k, &ctx->parallel, ctx->survey.velocity, &slab));
  ctx->model.V = field;
  PetscCall(MatBornCheckVelocity_Private(A, da, spectrum, range));
  if (ctx->tuning.velocitybits != 16) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->model.Vunit = PetscSqr((double)ctx->model.most * (double)ctx->time.dt / (double)ctx->grids.h[0]) / 65535;
  ctx->model.V     = NULL;
  ctx->model.Vreal = field;
  PetscCall((*k->create)(PETSC_FALSE, (size_t)g->size * sizeof(uint16_t), &ctx->model.V));
  PetscCall((*k->quantise)(g, ctx->grids.real, ctx->model.Vunit, field, (uint16_t *)ctx->model.V));
  if (ctx->store.background != &BornRandom) PetscCall((*k->destroy)(PETSC_FALSE, &ctx->model.Vreal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornModelDestroy_Private(const BornKernels *k, BornModel *model)
{
  PetscFunctionBegin;
  PetscCall((*k->destroy)(PETSC_FALSE, &model->V));
  PetscCall((*k->destroy)(PETSC_FALSE, &model->Vreal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
