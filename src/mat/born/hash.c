/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A hash of all inputs of a product of a MATBORN, for the names of journals; checks that processes have equal inputs */

#include "bornimpl.h"

/* Parts of the hash, each with room for 2^56 numbers */
typedef enum {
  PART_NAME,
  PART_SETTING,
  PART_WAVELET,
  PART_SHOT,
  PART_VELOCITY,
  PART_MODEL,
  PART_DATA
} BornPart;

static inline uint64_t Place(BornPart part, PetscInt64 i)
{
  return ((uint64_t)part << 56) + (uint64_t)i;
}

/* The hash of a vector of the DMDA, by the node numbers of the whole grid, for any split */
static PetscErrorCode BornHashNodes(DM da, Vec x, BornPart part, uint64_t *hash)
{
  PetscInt           start[3], count[3], n[3];
  PetscInt64         l = 0;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      const PetscInt64 line = n[0] * (j + (PetscInt64)n[1] * k);

      for (PetscInt i = start[0]; i < start[0] + count[0]; i++) *hash += LitheFarmHashReal(Place(part, line + i), PetscRealPart(a[l++]));
    }
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHashShots(const Mat_Born *ctx, PetscInt dim, uint64_t *hash)
{
  PetscInt64 at = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) {
    const BornShot *shot = &ctx->survey.shots[s];

    *hash += LitheFarmHash(Place(PART_SHOT, at++), (uint64_t)shot->nreceivers);
    for (PetscInt d = 0; d < dim; d++) *hash += LitheFarmHashReal(Place(PART_SHOT, at++), shot->place[d]);
    for (PetscInt64 r = 0; r < (PetscInt64)dim * shot->nreceivers; r++) *hash += LitheFarmHashReal(Place(PART_SHOT, at++), shot->receivers[r]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whole numbers, real numbers and the wavelet */
static void BornHashNumbers(const Mat_Born *ctx, size_t nwhole, const PetscInt64 whole[], size_t nreal, const PetscReal real[], uint64_t *hash)
{
  for (size_t k = 0; k < nwhole; k++) *hash += LitheFarmHash(Place(PART_SETTING, (PetscInt64)k), (uint64_t)whole[k]);
  for (size_t k = 0; k < nreal; k++) *hash += LitheFarmHashReal(Place(PART_SETTING, 1000 + (PetscInt64)k), real[k]);
  for (PetscInt k = 0; k < ctx->survey.nwavelet; k++) *hash += LitheFarmHashReal(Place(PART_WAVELET, k), ctx->survey.wavelet[k]);
}

/* Settings and shots, which all processes have alike */
static PetscErrorCode BornHashSettings(const Mat_Born *ctx, uint64_t *hash)
{
  const PetscInt64 settings[] = {ctx->discretization.order,
                                 ctx->discretization.width,
                                 ctx->discretization.surface,
                                 ctx->discretization.interpolation,
                                 ctx->time.steps,
                                 ctx->time.every,
                                 ctx->survey.nwavelet,
                                 ctx->survey.nshots,
                                 ctx->grids.one.dim,
                                 ctx->grids.one.n[0],
                                 BornWhole(&ctx->grids.one, 1),
                                 ctx->grids.one.planes,
                                 (PetscInt64)ctx->grids.real,
                                 ctx->store.background->name,
                                 ctx->tuning.bits,
                                 ctx->tuning.interval,
                                 ctx->tuning.velocitybits,
                                 ctx->tuning.seed,
                                 sizeof(PetscReal),
                                 PETSC_VERSION_MAJOR};
  const PetscReal  numbers[]  = {ctx->time.dt,         (PetscReal)ctx->grids.one.damping,
                                 ctx->grids.h[0],      ctx->grids.h[1],
                                 ctx->grids.h[2],      ctx->grids.origin[0],
                                 ctx->grids.origin[1], ctx->grids.origin[2]};

  PetscFunctionBegin;
  BornHashNumbers(ctx, PETSC_STATIC_ARRAY_LENGTH(settings), settings, PETSC_STATIC_ARRAY_LENGTH(numbers), numbers, hash);
  /* none is no number: journals of before stay good */
  if (ctx->time.lowpass > 0) *hash += LitheFarmHashReal(Place(PART_SETTING, 2000), ctx->time.lowpass);
  PetscCall(BornHashShots(ctx, ctx->grids.one.dim, hash));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all processes have the same number */
static PetscErrorCode BornIsSame(MPI_Comm comm, uint64_t hash, PetscBool *same)
{
  uint64_t range[2] = {hash, ~hash};

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, range, 2, MPI_UINT64_T, MPI_MAX, comm));
  *same = (PetscBool)(range[0] == ~range[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Processes with different shots would wait for ever. In MatSetUp() */
PetscErrorCode MatBornCheckShots_Private(Mat A, PetscInt dim)
{
  const Mat_Born *ctx      = (Mat_Born *)A->data;
  uint64_t        hash     = LitheFarmHash(Place(PART_NAME, 0), (uint64_t)ctx->survey.nshots);
  const PetscInt  counts[] = {ctx->time.steps, ctx->time.every};
  MPI_Comm        comm     = PetscObjectComm((PetscObject)A);
  PetscBool       same;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) hash += LitheFarmHash(Place(PART_SETTING, k), (uint64_t)counts[k]);
  PetscCall(BornIsSame(comm, hash, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_INCOMP,
             "The processes have different numbers of shots, or of steps; call MatBornAddShot() and MatBornSetTime() with the same arguments on all processes");
  PetscCall(BornHashShots(ctx, dim, &hash));
  PetscCall(BornIsSame(comm, hash, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_INCOMP,
             "The processes have different sources or receivers; call MatBornAddShot() with the same coordinates on all processes");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for the settings of products. At each build */
PetscErrorCode MatBornCheckSettings_Private(Mat A)
{
  const Mat_Born  *ctx       = (Mat_Born *)A->data;
  const PetscInt64 counts[]  = {ctx->discretization.order,
                                ctx->discretization.width,
                                ctx->tuning.checkpoints,
                                ctx->discretization.surface,
                                ctx->discretization.parameter,
                                ctx->discretization.interpolation,
                                ctx->tuning.field,
                                ctx->tuning.background,
                                ctx->tuning.bits,
                                ctx->tuning.interval,
                                ctx->tuning.velocitybits,
                                ctx->tuning.seed,
                                ctx->survey.nwavelet,
                                ctx->tuning.farming.size,
                                ctx->tuning.transport,
                                ctx->tuning.batch};
  const PetscReal  numbers[] = {ctx->time.dt,
                                ctx->discretization.damping,
                                ctx->time.lowpass,
                                ctx->discretization.spacing[0],
                                ctx->discretization.spacing[1],
                                ctx->discretization.spacing[2]};
  uint64_t         hash      = 0;
  MPI_Comm         comm      = PetscObjectComm((PetscObject)A);
  PetscBool        same;

  PetscFunctionBegin;
  BornHashNumbers(ctx, PETSC_STATIC_ARRAY_LENGTH(counts), counts, PETSC_STATIC_ARRAY_LENGTH(numbers), numbers, &hash);
  PetscCall(BornIsSame(comm, hash, &same));
  PetscCheck(same, comm, PETSC_ERR_ARG_INCOMP,
             "The processes have different wavelets or settings; call MatBornSetWavelet() and the other functions with the same arguments on all processes");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name: of the product. model, data: vectors that the product reads, or NULL. The matrix is built */
PetscErrorCode MatBornHash_Private(Mat A, const char name[], Vec model, Vec data, uint64_t *hash)
{
  Mat_Born   *ctx = (Mat_Born *)A->data;
  DM          da;
  PetscMPIInt rank;
  size_t      length;
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  *hash = 0;
  PetscCall(MatBornGetDM_Private(A, &da, NULL));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    PetscCall(PetscStrlen(name, &length));
    for (size_t k = 0; k < length; k++) *hash += LitheFarmHash(Place(PART_NAME, (PetscInt64)k), (uint64_t)name[k]);
    PetscCall(BornHashSettings(ctx, hash));
  }
  PetscCall(BornHashNodes(da, ctx->survey.velocity, PART_VELOCITY, hash));
  if (model) PetscCall(BornHashNodes(da, model, PART_MODEL, hash));
  if (data) {
    const PetscScalar *a;
    PetscInt           first, last;

    PetscCall(VecGetOwnershipRange(data, &first, &last));
    PetscCall(VecGetArrayRead(data, &a));
    for (PetscInt i = first; i < last; i++) *hash += LitheFarmHashReal(Place(PART_DATA, i), PetscRealPart(a[i - first]));
    PetscCall(VecRestoreArrayRead(data, &a));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, hash, 1, MPI_UINT64_T, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
