/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The background of a MATBORN: the requested one, or the first for which memory suffices. Then the shots that are
   computed together */

#include <lithe/private/born/parts.h>

#define BORN_SHARE    0.9     /* of the available memory, which a store may take */
#define BORN_TOGETHER 4000000 /* nodes that fill a device */

typedef struct {
  const BornBackground *background;
  PetscBool             host; /* the store is on the host, and fields are elsewhere */
  PetscBool             automatic;
} BornChoice;

/* In the order of trial */
static const BornChoice choices[] = {
  {&BornKeep, PETSC_FALSE, PETSC_TRUE},   {&BornRingBackground, PETSC_FALSE, PETSC_TRUE}, {&BornRingBackground, PETSC_TRUE, PETSC_TRUE},
  {&BornRandom, PETSC_FALSE, PETSC_TRUE}, {&BornCheckpoint, PETSC_FALSE, PETSC_FALSE},
};

static void BornChoose(const BornGrids *grids, const BornChoice *c, BornStore *store)
{
  store->background = c->background;
  store->onhost     = c->host;
  store->number     = c->background->reversed && grids->real == BORN_FLOAT ? BORN_INT32 : grids->real;
}

/* The free memory per process, of the host or of the place of fields. All processes have the same number, and choose
   the same background */
static PetscErrorCode BornGetRoom(const BornParts *in, PetscBool host, size_t *room)
{
  const BornKernels *k     = host ? &BornHostKernels : in->kernels;
  const BornSplit   *split = &in->parallel->split;
  double             mine;

  PetscFunctionBegin;
  PetscCall((*k->room)(room));
  mine = (double)*room / (k->device ? 1 : split->onnode);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MIN, split->all));
  *room = (size_t)mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes besides the store: u, w, V, x, q, the image, traces */
static double BornFieldBytes(const BornParts *in)
{
  return 8 * (double)in->grids->stack.size * (double)BornBytes(in->grids->real) + (double)BornTracesBytes_Private(in);
}

/* How many shots of this size, computed together, a memory has room for. By default groups on one node may share the
   memory */
static PetscErrorCode BornShotsInRoom(const BornParts *in, PetscBool host, double bytes, PetscInt *shots)
{
  size_t room;
  double many;

  PetscFunctionBegin;
  PetscCall(BornGetRoom(in, host, &room));
  many = BORN_SHARE * (double)room / bytes;
  if (in->tuning->batch == PETSC_DECIDE) many /= 2 * in->parallel->split.onnode;
  *shots = many < (double)*shots ? PetscMax(1, (PetscInt)many) : *shots;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a single shot: grids->stack is grids->one */
PetscErrorCode BornChooseBackground_Private(const BornParts *in)
{
  const MatBornBackground wanted = in->tuning->background;
  PetscBool               found  = PETSC_FALSE;

  PetscFunctionBegin;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(choices) && !found; c++) {
    const BornBackground *b      = choices[c].background;
    const double          fields = BornFieldBytes(in);
    size_t                room;

    BornChoose(in->grids, &choices[c], in->store);
    if (wanted != MATBORN_BACKGROUND_AUTO && b->name != wanted) continue;
    if (wanted == MATBORN_BACKGROUND_AUTO && !choices[c].automatic) continue;
    PetscCall(BornGetRoom(in, choices[c].host, &room));
    found = (PetscBool)((double)(*b->bytes)(in) + (choices[c].host ? 0 : fields) <= BORN_SHARE * (double)room);
    /* slabs need different amounts */
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &found, 1, MPI_C_BOOL, MPI_LAND, in->parallel->split.all));
    /* A requested mode is tried on the device first, then in the second place, if any */
    if (wanted == b->name && (choices[c].host || wanted != MATBORN_BACKGROUND_RING)) found = PETSC_TRUE;
    if (wanted == MATBORN_BACKGROUND_AUTO && b->name == MATBORN_BACKGROUND_RANDOM) found = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shots in two dimensions are computed together by groups of one process. Each group gets some shots. The background is
   that of a single shot, so a batch changes no bit */
PetscErrorCode BornChooseBatch_Private(const BornParts *in, PetscInt *batch)
{
  const BornGrid *g      = &in->grids->one;
  const PetscInt  groups = in->parallel->split.group.groups;
  const PetscBool onhost = in->store->onhost;
  double          fields = BornFieldBytes(in) + (double)g->nodes * sizeof(PetscReal), store = (*in->store->background->bytes)(in);
  PetscInt        shots = in->tuning->batch, most = PetscClipInterval((in->survey->nshots + groups - 1) / groups, 1, BORN_MOST_SHOTS);

  PetscFunctionBegin;
  if (shots == PETSC_DECIDE) shots = in->kernels->device ? (PetscInt)((BORN_TOGETHER + g->nodes - 1) / g->nodes) : 1;
  if (g->dim > 2 || in->tuning->farming.size > 1) shots = 1;
  shots = PetscMin(shots, most);
  if (shots > 1) PetscCall(BornShotsInRoom(in, PETSC_FALSE, onhost ? fields : fields + store, &shots));
  if (shots > 1 && onhost) PetscCall(BornShotsInRoom(in, PETSC_TRUE, store, &shots));
  *batch = shots;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the store */

PetscErrorCode BornStoreCreate_Private(const BornParts *in)
{
  BornStore            *store = in->store;
  const BornBackground *b     = store->background;

  PetscFunctionBegin;
  PetscCall(BornIntegersCreate_Private(in));
  if (b->slot) store->slot = (*b->slot)(in);
  if (b->create) PetscCall((*b->create)(in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for steps, when the first product needs the memory */
PetscErrorCode BornStoreOpen_Private(const BornParts *in)
{
  BornStore *store = in->store;

  PetscFunctionBegin;
  if (!store->background->slot || store->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*in->kernels->create)(store->onhost, (size_t)(*store->background->slots)(in)*store->slot, &store->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornStoreDestroy_Private(const BornKernels *k, BornStore *store)
{
  PetscFunctionBegin;
  PetscCall((*k->destroy)(store->onhost, &store->data));
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
