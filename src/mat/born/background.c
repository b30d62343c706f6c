/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The background of a MATBORN: the requested one, or the first for which memory suffices */

#include "bornimpl.h"

#define BORN_SHARE 0.9 /* of the available memory, which a store may take */

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
  ctx->background = c->background;
  ctx->chosen     = c->name;
  ctx->onhost     = c->host;
  ctx->number     = c->background->reversed && ctx->real == BORN_FLOAT ? BORN_INT32 : ctx->real;
}

/* The host memory per process. All processes have the same number, and choose the same background */
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
  const double fields = 8 * (double)ctx->grid.size * (double)BornBytes(ctx->real) + (double)BornTracesBytes_Private(ctx); /* u, w, V, x, q, the image */
  PetscBool    found  = PETSC_FALSE;

  PetscFunctionBegin;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(choices) && !found; c++) {
    size_t room;

    BornChoose(ctx, &choices[c]);
    if (ctx->wanted != MATBORN_BACKGROUND_AUTO && choices[c].name != ctx->wanted) continue;
    if (ctx->wanted == MATBORN_BACKGROUND_AUTO && !choices[c].automatic) continue;
    PetscCall((*ctx->kernels->room)(choices[c].host, &room));
    PetscCall(BornShareRoom(A, &room));
    found = (PetscBool)((double)(*choices[c].background->bytes)(ctx) + (choices[c].host ? 0 : fields) <= BORN_SHARE * (double)room);
    /* slabs need different amounts */
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &found, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
    /* A requested mode is tried on the device first, then in the second place, if any */
    if (ctx->wanted == choices[c].name && (choices[c].host || ctx->wanted != MATBORN_BACKGROUND_RING)) found = PETSC_TRUE;
    if (ctx->wanted == MATBORN_BACKGROUND_AUTO && choices[c].name == MATBORN_BACKGROUND_RANDOM) found = PETSC_TRUE;
  }
  PetscCall((*ctx->background->create)(ctx));
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
