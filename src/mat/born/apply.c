/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of MATBORN and modelling: over all shots */

#include "bornimpl.h"
#include <lithe/private/litheimpl.h>

/* A product with all shots, as the farm sees it */
typedef struct {
  Mat_Born        *ctx;
  BornParts        parts;
  BornProduct      product;
  PetscBool        write;
  const PetscReal *model; /* of the slab; NULL where the product has none */
  PetscBool        hasdata;
  PetscReal       *data; /* data[room]: of some shots, on all processes of a group */
  PetscInt         room;
} BornJob;

static inline PetscInt BornRowsOf(const BornJob *job, PetscInt shot)
{
  return job->ctx->survey.shots[shot].nreceivers * job->ctx->time.samples;
}

/* The data of some shots, one after the other: zeros, or the rows of the vector */
static PetscErrorCode BornOpenData(BornJob *job, PetscInt n, const PetscInt task[], PetscInt *rows)
{
  const BornParallel *p  = &job->ctx->parallel;
  PetscInt            at = 0;

  PetscFunctionBegin;
  *rows = 0;
  for (PetscInt k = 0; k < n; k++) *rows += BornRowsOf(job, task[k]);
  if (!job->data || *rows > job->room) {
    PetscCall(PetscFree(job->data));
    PetscCall(PetscMalloc1(*rows, &job->data));
    job->room = *rows;
  }
  if (job->write) PetscCall(PetscArrayzero(job->data, *rows));
  for (PetscInt k = 0; k < n && !job->write; k++) {
    const BornShot *shot = &job->ctx->survey.shots[task[k]];

    if (!p->split.group.rank) PetscCall(BornRowsGet_Private(&p->rows, shot->owner, shot->offset, BornRowsOf(job, task[k]), job->data + at));
    at += BornRowsOf(job, task[k]);
  }
  if (!job->write) PetscCall(BornGroupSpread_Private(&p->split, *rows, job->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data to the pieces of the shots */
static PetscErrorCode BornCloseData(BornJob *job, PetscInt n, const PetscInt task[], PetscInt rows, PetscReal *const piece[])
{
  PetscInt at = 0;

  PetscFunctionBegin;
  if (!job->write) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BornGroupUnite_Private(&job->ctx->parallel.split, rows, job->data));
  for (PetscInt k = 0; k < n; k++) {
    if (piece[k]) PetscCall(PetscArraycpy(piece[k], job->data + at, BornRowsOf(job, task[k])));
    at += BornRowsOf(job, task[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Some shots, by a group; several by a group of one process only */
static PetscErrorCode BornRunShots(void *context, PetscInt n, const PetscInt task[], PETSC_UNUSED PetscInt attempt, PetscReal *const sum[],
                                   PetscReal *const piece[], PETSC_UNUSED PetscBool failed[])
{
  BornJob *job  = (BornJob *)context;
  PetscInt rows = 0;

  PetscFunctionBegin;
  if (job->hasdata) PetscCall(BornOpenData(job, n, task, &rows));
  PetscCall(BornSweepRun_Private(&job->parts, job->product, n, task, job->model, job->data, sum));
  if (job->hasdata) PetscCall(BornCloseData(job, n, task, rows, piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornDeliverShot(void *context, PetscInt task, const PetscReal piece[])
{
  BornJob        *job  = (BornJob *)context;
  const BornShot *shot = &job->ctx->survey.shots[task];

  PetscFunctionBegin;
  PetscCall(BornRowsPut_Private(&job->ctx->parallel.rows, shot->owner, shot->offset, BornRowsOf(job, task), piece));
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
  BornParallel          *p      = &ctx->parallel;
  DM                     da;
  LitheSums              sums;
  PetscErrorCode         code;
  const LitheFarmResult *result;
  BornJob                job = {.ctx = ctx, .product = product, .write = write};
  LitheFarmJob farm = {.what = "shot", .ntasks = ctx->survey.nshots, .attempts = 1, .kind = 1, .run = BornRunShots, .deliver = BornDeliverShot, .ctx = &job};

  PetscFunctionBegin;
  PetscCall(MatBornBuild_Private(A));
  PetscCall(MatBornGetDM_Private(A, &da, NULL));
  job.parts = MatBornParts(ctx);
  if (model && ctx->scales.chain) {
    PetscCall(BornTimes(ctx->scales.chain, ctx->scales.work, model, ctx->scales.work));
    model = ctx->scales.work;
  }
  PetscCall(MatBornSetHash_Private(A, name, model, write ? NULL : data, &farm.hash));
  if (model) PetscCall(BornSlabOpen_Private(ctx->kernels, p, da, model, &job.model));
  if (data) {
    PetscCall(PetscMalloc1(ctx->survey.nshots, &pieces));
    for (PetscInt s = 0; s < ctx->survey.nshots; s++) pieces[s] = BornRowsOf(&job, s);
    job.hasdata = PETSC_TRUE;
    if (write) PetscCall(VecGetArrayWrite(data, &d));
    else PetscCall(VecGetArrayRead(data, (const PetscScalar **)&d));
    PetscCall(BornRowsOpen_Private(&p->split, &p->rows, A->rmap->n, (PetscReal *)d, (PetscBool)!write));
    if (write) farm.pieces = pieces;
  }
  if (image) {
    farm.n     = (PetscInt)g->nodes;
    farm.first = g->nodes / g->n[g->dim - 1] * g->start;
    farm.N     = g->nodes / g->n[g->dim - 1] * g->planes;
  }
  farm.batch  = BornShots(&ctx->grids.stack);
  farm.cost   = ctx->cost;
  farm.memory = ctx->kernels->device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  farm.kind   = ctx->kernels->device ? 2 : 1;
  code        = LitheFarmRun(p->split.farm, &farm);
  PetscCall(LitheFarmGetResult(p->split.farm, &result));

  if (data) {
    /* This waits for all processes, which after an error may not come here; an error of journals is on all */
    if (!code || result->refused) PetscCall(BornRowsClose_Private(&p->split, &p->rows, write ? (PetscReal *)d : NULL));
    if (write) PetscCall(VecRestoreArrayWrite(data, &d));
    else PetscCall(VecRestoreArrayRead(data, (const PetscScalar **)&d));
  }
  if (model) PetscCall(BornSlabClose_Private(ctx->kernels, p, model, &job.model));
  PetscCall(PetscFree(pieces));
  PetscCall(PetscFree(job.data));
  PetscCall(code);
  PetscCall(BornIntegersShare_Private(&job.parts));
  PetscCall(MatBornTakeResult_Private(A, result));
  if (image) {
    PetscCall(LitheFarmGetSums(p->split.farm, &sums));
    PetscCall(BornSlabSum_Private(ctx->kernels, p, da, sums, image));
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

/* z = y + A x, or the transpose. A new vector costs nothing beside a product */
static PetscErrorCode BornMultAdd(Mat A, PetscErrorCode (*mult)(Mat, Vec, Vec), Vec x, Vec y, Vec z)
{
  Vec product = z;

  PetscFunctionBegin;
  if (y == z) PetscCall(VecDuplicate(z, &product));
  PetscCall((*mult)(A, x, product));
  PetscCall(VecAXPY(z, 1, y == z ? product : y));
  if (y == z) PetscCall(VecDestroy(&product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultAdd_Born(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(BornMultAdd(A, MatMult_Born, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTransposeAdd_Born(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(BornMultAdd(A, MatMultTranspose_Born, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
