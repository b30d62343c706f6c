/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Which background a MATBORN has: what comes first of those that memory is enough for, or what was asked for */

#include "bornimpl.h"

#define BORN_SHARE 0.9 /* of the memory there is, that a store may take */

typedef struct {
  MatBornBackground     name;
  const BornBackground *background;
  PetscBool             host; /* its store is on the host, where fields are elsewhere */
  PetscBool             automatic;
} BornChoice;

/* In the order in which they are tried */
static const BornChoice choices[] = {
  {MATBORN_BACKGROUND_KEEP, &BornKeep, PETSC_FALSE, PETSC_TRUE},
  {MATBORN_BACKGROUND_RING, &BornRingBackground, PETSC_FALSE, PETSC_TRUE},
  {MATBORN_BACKGROUND_RING, &BornRingBackground, PETSC_TRUE, PETSC_TRUE},
  {MATBORN_BACKGROUND_RANDOM, &BornRandom, PETSC_FALSE, PETSC_TRUE},
  {MATBORN_BACKGROUND_CHECKPOINT, &BornCheckpoint, PETSC_FALSE, PETSC_FALSE},
};

static void BornChoose(Mat_Born *ctx, const BornChoice *c)
{
  ctx->background = c->background;
  ctx->chosen     = c->name;
  ctx->onhost     = c->host;
  ctx->number     = c->background->reversed && ctx->real == BORN_FLOAT ? BORN_INT32 : ctx->real;
}

/* What a process may take of the host's memory, the same on all of them, so that they choose the same */
static PetscErrorCode BornShareRoom(Mat A, size_t *room)
{
  Mat_Born *ctx  = (Mat_Born *)A->data;
  double    mine = (double)*room / (ctx->kernels == &BornHostKernels ? ctx->split->onnode : 1);

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MIN, PetscObjectComm((PetscObject)A)));
  *room = (size_t)mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBornChooseBackground_Private(Mat A)
{
  Mat_Born    *ctx    = (Mat_Born *)A->data;
  const double fields = 8 * (double)ctx->grid.size * (double)BornBytes(ctx->real); /* u, w, V, x, q, the image */
  PetscBool    found  = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCheck(ctx->wanted != MATBORN_BACKGROUND_RING || ctx->split->group.size == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "-mat_born_background ring is for groups of one process; use keep or random, or -mat_born_group_size 1");
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(choices) && !found; c++) {
    size_t room;

    BornChoose(ctx, &choices[c]);
    if (ctx->wanted != MATBORN_BACKGROUND_AUTO && choices[c].name != ctx->wanted) continue;
    if (ctx->wanted == MATBORN_BACKGROUND_AUTO && !choices[c].automatic) continue;
    if (choices[c].name == MATBORN_BACKGROUND_RING && ctx->split->group.size > 1) continue;
    PetscCall((*ctx->kernels->room)(choices[c].host, &room));
    PetscCall(BornShareRoom(A, &room));
    found = (PetscBool)((double)(*choices[c].background->bytes)(ctx) + (choices[c].host ? 0 : fields) <= BORN_SHARE * (double)room);
    /* A mode that was asked for is tried on the device first, and then where it has a second place */
    if (ctx->wanted == choices[c].name && (choices[c].host || ctx->wanted != MATBORN_BACKGROUND_RING)) found = PETSC_TRUE;
    if (ctx->wanted == MATBORN_BACKGROUND_AUTO && choices[c].name == MATBORN_BACKGROUND_RANDOM) found = PETSC_TRUE;
  }
  PetscCall((*ctx->background->create)(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For tests, which ask the library for them by name */
PETSC_EXTERN const BornKernels *BornGetKernels(PetscBool device);
const BornKernels              *BornGetKernels(PetscBool device)
{
#if defined(LITHE_HAVE_CUDA)
  if (device) return &BornDeviceKernels;
#endif
  return device ? NULL : &BornHostKernels;
}
