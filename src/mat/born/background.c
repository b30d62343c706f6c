/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The background of a MATBORN: the requested one, or the first for which memory suffices. Then the shots that are computed together */

#include "bornimpl.h"

#define BORN_SHARE    0.9     /* of the available memory, which a store may take */
#define BORN_TOGETHER 4000000 /* nodes that fill a device */

typedef struct {
  MatBornBackground     name;
  const BornBackground *background;
  PetscBool             host; /* the store is on the host, and fields are elsewhere */
  PetscBool             automatic;
} BornChoice;

/* In the order of trial */
static const BornChoice choices[] = {
  {MATBORN_BACKGROUND_KEEP, &BornKeep, PETSC_FALSE, PETSC_TRUE},
  {MATBORN_BACKGROUND_RING, &BornRingBackground, PETSC_FALSE, PETSC_TRUE},
  {MATBORN_BACKGROUND_RING, &BornRingBackground, PETSC_TRUE, PETSC_TRUE},
  {MATBORN_BACKGROUND_RANDOM, &BornRandom, PETSC_FALSE, PETSC_TRUE},
  {MATBORN_BACKGROUND_CHECKPOINT, &BornCheckpoint, PETSC_FALSE, PETSC_FALSE},
};

static void BornChoose(Mat_Born *ctx, const BornChoice *c)
{
  ctx->store.background = c->background;
  ctx->store.chosen     = c->name;
  ctx->store.onhost     = c->host;
  ctx->store.number     = c->background->reversed && ctx->grids.real == BORN_FLOAT ? BORN_INT32 : ctx->grids.real;
}

/* The free memory per process, of the host or of the place of fields. All processes have the same number, and choose the same background */
static PetscErrorCode BornGetRoom(Mat A, PetscBool host, size_t *room)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  double    mine;

  PetscFunctionBegin;
  PetscCall((*ctx->kernels->room)(host, room));
  mine = (double)*room / (host || ctx->kernels == &BornHostKernels ? ctx->parallel.split->onnode : 1);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *room = (size_t)mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes besides the store: u, w, V, x, q, the image, traces */
static double BornFieldBytes(const Mat_Born *ctx)
{
  return 8 * (double)ctx->grids.stack.size * (double)BornBytes(ctx->grids.real) + (double)BornTracesBytes_Private(ctx);
}

/* How many shots of this size, computed together, a memory has room for. By default groups on one node may share the memory */
static PetscErrorCode BornShotsInRoom(Mat A, PetscBool host, double bytes, PetscInt *shots)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  size_t    room;
  double    many;

  PetscFunctionBegin;
  PetscCall(BornGetRoom(A, host, &room));
  many = BORN_SHARE * (double)room / bytes;
  if (ctx->tuning.batch == PETSC_DECIDE) many /= 2 * ctx->parallel.split->onnode;
  *shots = many < (double)*shots ? PetscMax(1, (PetscInt)many) : *shots;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shots in two dimensions are computed together by groups of one process. Each group gets some shots */
static PetscErrorCode MatBornChooseBatch_Private(Mat A)
{
  Mat_Born       *ctx    = (Mat_Born *)A->data;
  const BornGrid *g      = &ctx->grids.one;
  const PetscInt  groups = ctx->parallel.split->group.groups;
  double          fields = BornFieldBytes(ctx) + (double)g->nodes * sizeof(PetscReal), store = (*ctx->store.background->bytes)(ctx);
  PetscInt        shots = ctx->tuning.batch, most = PetscClipInterval((ctx->survey.nshots + groups - 1) / groups, 1, BORN_MOST_SHOTS);

  PetscFunctionBegin;
  if (shots == PETSC_DECIDE) shots = ctx->kernels == &BornHostKernels ? 1 : (PetscInt)((BORN_TOGETHER + g->nodes - 1) / g->nodes);
  if (g->dim > 2 || ctx->tuning.farming.size > 1) shots = 1;
  shots = PetscMin(shots, most);
  if (shots > 1) PetscCall(BornShotsInRoom(A, PETSC_FALSE, ctx->store.onhost ? fields : fields + store, &shots));
  if (shots > 1 && ctx->store.onhost) PetscCall(BornShotsInRoom(A, PETSC_TRUE, store, &shots));
  BornStackCreate_Private(g, shots, &ctx->grids.stack);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBornChooseBackground_Private(Mat A)
{
  Mat_Born *ctx   = (Mat_Born *)A->data;
  PetscBool found = PETSC_FALSE;

  PetscFunctionBegin;
  BornStackCreate_Private(&ctx->grids.one, 1, &ctx->grids.stack);
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(choices) && !found; c++) {
    const double fields = BornFieldBytes(ctx);
    size_t       room;

    BornChoose(ctx, &choices[c]);
    if (ctx->tuning.background != MATBORN_BACKGROUND_AUTO && choices[c].name != ctx->tuning.background) continue;
    if (ctx->tuning.background == MATBORN_BACKGROUND_AUTO && !choices[c].automatic) continue;
    PetscCall(BornGetRoom(A, choices[c].host, &room));
    found = (PetscBool)((double)(*choices[c].background->bytes)(ctx) + (choices[c].host ? 0 : fields) <= BORN_SHARE * (double)room);
    /* slabs need different amounts */
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &found, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
    /* A requested mode is tried on the device first, then in the second place, if any */
    if (ctx->tuning.background == choices[c].name && (choices[c].host || ctx->tuning.background != MATBORN_BACKGROUND_RING)) found = PETSC_TRUE;
    if (ctx->tuning.background == MATBORN_BACKGROUND_AUTO && choices[c].name == MATBORN_BACKGROUND_RANDOM) found = PETSC_TRUE;
  }
  PetscCall(MatBornChooseBatch_Private(A)); /* the background of a single shot, so a batch changes no bit */
  PetscCall((*ctx->store.background->create)(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For tests, which find the function by name */
PETSC_EXTERN const BornKernels *BornGetKernels(PetscBool device);
const BornKernels              *BornGetKernels(PetscBool device)
{
#if defined(LITHE_HAVE_CUDA)
  if (device) return &BornDeviceKernels;
#endif
  return device ? NULL : &BornHostKernels;
}
