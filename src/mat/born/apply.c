/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of MATBORN and modelling: over all shots */

#include "bornimpl.h"
#include <lithe/private/litheimpl.h>

/* A product with all shots, as the farm sees it */
typedef struct {
  Mat_Born        *ctx;
  BornProduct      product;
  PetscBool        write;
  const PetscReal *model; /* of the slab; NULL where the product has none */
  PetscBool        rows;  /* there are data */
  PetscReal       *data;  /* data[room]: of some shots, on all processes of a group */
  PetscInt         room;
} BornJob;

static inline PetscInt BornRows(const BornJob *job, PetscInt shot)
{
  return job->ctx->survey.shots[shot].nreceivers * job->ctx->time.samples;
}

/* The data of some shots, one after the other: zeros, or the rows of the vector */
static PetscErrorCode BornOpenData(BornJob *job, PetscInt n, const PetscInt task[], PetscInt *rows)
{
  BornSplit *split = job->ctx->parallel.split;
  PetscInt   at    = 0;

  PetscFunctionBegin;
  *rows = 0;
  for (PetscInt k = 0; k < n; k++) *rows += BornRows(job, task[k]);
  if (!job->data || *rows > job->room) {
    PetscCall(PetscFree(job->data));
    PetscCall(PetscMalloc1(*rows, &job->data));
    job->room = *rows;
  }
  if (job->write) PetscCall(PetscArrayzero(job->data, *rows));
  for (PetscInt k = 0; k < n && !job->write; k++) {
    const BornShot *shot = &job->ctx->survey.shots[task[k]];

    if (!split->group.rank) PetscCall(BornSplitGetRows_Private(split, shot->owner, shot->offset, BornRows(job, task[k]), job->data + at));
    at += BornRows(job, task[k]);
  }
  if (!job->write) PetscCall(BornSplitSpreadRows_Private(split, *rows, job->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data to the pieces of the shots */
static PetscErrorCode BornCloseData(BornJob *job, PetscInt n, const PetscInt task[], PetscInt rows, PetscReal *const piece[])
{
  PetscInt at = 0;

  PetscFunctionBegin;
  if (!job->write) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BornSplitUniteRows_Private(job->ctx->parallel.split, rows, job->data));
  for (PetscInt k = 0; k < n; k++) {
    if (piece[k]) PetscCall(PetscArraycpy(piece[k], job->data + at, BornRows(job, task[k])));
    at += BornRows(job, task[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some shots, by a group; several by a group of one process only */
static PetscErrorCode BornRunShots(void *context, PetscInt n, const PetscInt task[], PETSC_UNUSED PetscInt attempt, PetscReal *const sum[],
                                   PetscReal *const piece[], PETSC_UNUSED PetscBool failed[])
{
  BornJob   *job = (BornJob *)context;
  BornShot **shot;
  PetscInt   rows = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &shot));
  for (PetscInt k = 0; k < n; k++) shot[k] = &job->ctx->survey.shots[task[k]];
  if (job->rows) PetscCall(BornOpenData(job, n, task, &rows));
  PetscCall((*job->product)(job->ctx, n, shot, job->model, job->data, sum));
  if (job->rows) PetscCall(BornCloseData(job, n, task, rows, piece));
  PetscCall(PetscFree(shot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornDeliverShot(void *context, PetscInt task, const PetscReal piece[])
{
  BornJob        *job  = (BornJob *)context;
  const BornShot *shot = &job->ctx->survey.shots[task];

  PetscFunctionBegin;
  PetscCall(BornSplitPutRows_Private(job->ctx->parallel.split, shot->owner, shot->offset, BornRows(job, task), piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scales of whole numbers, from the groups that found them to all: another group may get the shot in the next product */
static PetscErrorCode MatBornShareScales_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  double   *scale;

  PetscFunctionBegin;
  if (ctx->store.number != BORN_INT32 || ctx->parallel.split->group.groups == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(ctx->survey.nshots, &scale));
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) scale[s] = ctx->survey.shots[s].scale > 0 ? ctx->survey.shots[s].scale : INFINITY;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, scale, (PetscMPIInt)ctx->survey.nshots, MPI_DOUBLE, MPI_MIN, PetscObjectComm((PetscObject)A)));
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) ctx->survey.shots[s].scale = isfinite(scale[s]) ? scale[s] : 0;
  PetscCall(PetscFree(scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time of a shot becomes its cost in the next product; failed shots are named */
static PetscErrorCode MatBornTakeResult_Private(Mat A, const LitheFarmResult *result)
{
  Mat_Born *ctx        = (Mat_Born *)A->data;
  char      names[256] = "";
  size_t    used       = 0;

  PetscFunctionBegin;
  if (!ctx->cost) PetscCall(PetscCalloc1(ctx->survey.nshots, &ctx->cost));
  for (PetscInt s = 0; s < ctx->survey.nshots; s++) {
    const LitheFarmRecord *record = &result->record[s];

    if (record->group >= 0) ctx->cost[s] = PetscMax(record->end - record->begin, (PetscReal)1e-9);
  }
  for (PetscInt k = 0; k < result->nfailed && k < 10; k++) {
    PetscCall(PetscSNPrintf(names + used, sizeof(names) - used, "%s%" PetscInt_FMT, k ? ", " : "", result->failed[k]));
    PetscCall(PetscStrlen(names, &used));
  }
  PetscCheck(!result->nfailed, PetscObjectComm((PetscObject)A), PETSC_ERR_FP,
             "%" PetscInt_FMT " of %" PetscInt_FMT " shots give numbers that are not finite, or too large: %s%s; look at the vector, and at the velocity",
             result->nfailed, ctx->survey.nshots, names, result->nfailed > 10 ? ", ..." : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The names of the journal's files contain the hash of everything that a product depends on */
static PetscErrorCode MatBornSetHash_Private(Mat A, const char name[], Vec model, Vec data, uint64_t *hash)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  *hash = 0;
  if (ctx->tuning.farming.journal[0]) PetscCall(MatBornHash_Private(A, name, model, data, hash));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = diagonal from. The work vector has the type of the diagonal, which the vectors of a program may not have */
static PetscErrorCode BornTimes(Vec diagonal, Vec work, Vec from, Vec to)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(from, work));
  PetscCall(VecPointwiseMult(work, work, diagonal));
  PetscCall(VecCopy(work, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A product with all shots. Unused vectors are NULL: the model and the image, vectors of columns, and the data, which
   the product writes or reads
*/
PetscErrorCode MatBornProducts_Private(Mat A, const char name[], BornProduct product, Vec model, Vec data, Vec image, PetscBool write)
{
  Mat_Born              *ctx    = (Mat_Born *)A->data;
  const BornGrid        *g      = &ctx->grids.one;
  PetscInt              *pieces = NULL;
  PetscScalar           *d      = NULL;
  BornSplit             *split;
  LitheSums              sums;
  PetscErrorCode         code;
  const LitheFarmResult *result;
  BornJob                job = {.ctx = ctx, .product = product, .write = write};
  LitheFarmJob farm = {.what = "shot", .ntasks = ctx->survey.nshots, .attempts = 1, .kind = 1, .run = BornRunShots, .deliver = BornDeliverShot, .ctx = &job};

  PetscFunctionBegin;
  PetscCall(MatBornBuild_Private(A));
  split = ctx->parallel.split;
  if (model && ctx->scales.chain) {
    PetscCall(BornTimes(ctx->scales.chain, ctx->scales.work, model, ctx->scales.work));
    model = ctx->scales.work;
  }
  PetscCall(MatBornSetHash_Private(A, name, model, write ? NULL : data, &farm.hash));
  if (model) PetscCall(MatBornOpenSlab_Private(A, model, &job.model));
  if (data) {
    PetscCall(PetscMalloc1(ctx->survey.nshots, &pieces));
    for (PetscInt s = 0; s < ctx->survey.nshots; s++) pieces[s] = BornRows(&job, s);
    job.rows = PETSC_TRUE;
    if (write) PetscCall(VecGetArrayWrite(data, &d));
    else PetscCall(VecGetArrayRead(data, (const PetscScalar **)&d));
    PetscCall(BornSplitOpenRows_Private(split, A->rmap->n, (PetscReal *)d, (PetscBool)!write));
    if (write) farm.pieces = pieces;
  }
  if (image) {
    farm.n     = (PetscInt)g->nodes;
    farm.first = g->nodes / g->n[g->dim - 1] * g->start;
    farm.N     = g->nodes / g->n[g->dim - 1] * g->planes;
  }
  farm.batch  = BornShots(&ctx->grids.stack);
  farm.cost   = ctx->cost;
  farm.memory = ctx->kernels == &BornHostKernels ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA;
  farm.kind   = ctx->kernels == &BornHostKernels ? 1 : 2;
  code        = LitheFarmRun(split->farm, &farm);
  PetscCall(LitheFarmGetResult(split->farm, &result));
  /* the calls below wait for all processes: an error of a single process returns here, an error of journals is on all */
  if (!result->refused) PetscCall(code);

  if (data) {
    PetscCall(BornSplitCloseRows_Private(split, write ? (PetscReal *)d : NULL));
    if (write) PetscCall(VecRestoreArrayWrite(data, &d));
    else PetscCall(VecRestoreArrayRead(data, (const PetscScalar **)&d));
  }
  if (model) PetscCall(MatBornCloseSlab_Private(A, model, &job.model));
  PetscCall(PetscFree(pieces));
  PetscCall(PetscFree(job.data));
  PetscCall(code);
  PetscCall(MatBornShareScales_Private(A));
  PetscCall(MatBornTakeResult_Private(A, result));
  if (image) {
    PetscCall(LitheFarmGetSums(split->farm, &sums));
    PetscCall(MatBornSumSlabs_Private(A, sums, image));
  }
  if (image && ctx->scales.chain) PetscCall(BornTimes(ctx->scales.chain, ctx->scales.work, image, image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornModel - Computes the data of all shots of a `MATBORN` for its velocity

  Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. d - the data, a vector as the rows of `J`

  Level: beginner

  Note:
  `MatMult()` is the derivative of the data by the parameter of `MatBornSetParameter()`.

.seealso: `MATBORN`, `MatBornSetVelocity()`, `MatBornAddShot()`
@*/
PetscErrorCode MatBornModel(Mat J, Vec d)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidHeaderSpecific(d, VEC_CLASSID, 2);
  PetscCheckSameComm(J, 1, d, 2);
  PetscCall(MatSetUp(J));
  PetscCall(MatBornCheckData_Private(J, d));
  PetscCall(PetscLogEventBegin(MAT_BornModel, J, d, 0, 0));
  PetscCall(MatBornProducts_Private(J, "model", BornSweepModel_Private, NULL, d, NULL, PETSC_TRUE));
  PetscCall(PetscLogEventEnd(MAT_BornModel, J, d, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_Born(Mat A, Vec x, Vec y)
{
  const Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(MatBornProducts_Private(A, "forward", BornSweepForward_Private, x, y, NULL, PETSC_TRUE));
  if (ctx->scales.left) PetscCall(BornTimes(ctx->scales.left, ctx->scales.rows, y, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_Born(Mat A, Vec x, Vec y)
{
  const Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  if (ctx->scales.left) PetscCall(BornTimes(ctx->scales.left, ctx->scales.rows, x, ctx->scales.rows));
  PetscCall(MatBornProducts_Private(A, "adjoint", BornSweepAdjoint_Private, NULL, ctx->scales.left ? ctx->scales.rows : x, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
