/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   After each step slabs of a group need planes of their neighbours. On the host MPI sends the planes.

   On devices LitheHalo sends the planes (docs/internals/halo.md). A step then has three parts. The ends, planes next to
   a neighbour, come first, in a stream of high priority. The stream sends these planes, receives the neighbour's
   planes, and stores the received planes next to the slab. The inner planes are computed meanwhile in PETSc's stream,
   which needs no received plane before the next step. Each part of the step adds its forces. Sent planes are therefore
   complete.
*/

#include <lithe/private/born/parts.h>

#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/born.h>
  #include <petscdevice_cuda.h>

  #define BORN_ENTRY 16 /* bytes, of which planes have whole numbers */
  #define BORN_END   16 /* planes of an end: as a short march of march.cuh has, since a shorter one reads more planes twice */

struct _n_BornHalos {
  LitheHalo          halo[2]; /* of the two fields of a step */
  PetscMPIInt        below, above;
  PetscInt           low, high; /* planes next to a neighbour */
  PetscInt64         bytes;     /* of a plane */
  PetscDeviceContext context;   /* the stream of the ends; NULL: steps are whole */
  cudaEvent_t        ready, done;
};

/* ------------------------------------------------------------ set-up */

/* Roots: the slab's planes. Leaves: the planes below the slab, then the planes above */
static PetscErrorCode BornHalosForest(const BornParts *in, const BornHalos *h, PetscSF *sf)
{
  const BornGrid       *g     = &in->grids->one;
  const LitheFarmGroup *group = &in->parallel->split.group;
  const PetscInt        plane = (PetscInt)(h->bytes / BORN_ENTRY);
  PetscInt              roots, leaves, l = 0;
  PetscSFNode          *root;

  PetscFunctionBegin;
  PetscCall(PetscIntMultError(plane, in->parallel->split.count, &roots));
  PetscCall(PetscIntMultError(plane, h->low + h->high, &leaves));
  PetscCall(PetscMalloc1(leaves, &root));
  if (h->low) {
    const PetscInt count = g->start - BornSlabStart(g->planes, h->below, group->size), first = (count - g->halo) * plane;

    for (PetscInt e = 0; e < h->low * plane; e++) root[l++] = (PetscSFNode){h->below, first + e};
  }
  for (PetscInt e = 0; e < h->high * plane; e++) root[l++] = (PetscSFNode){h->above, e};
  PetscCall(PetscSFCreate(group->comm, sf));
  PetscCall(PetscSFSetGraph(*sf, roots, leaves, NULL, PETSC_OWN_POINTER, root, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A context with a stream of high priority. PETSc destroys the stream with the context */
static PetscErrorCode BornHalosContext(PetscDeviceContext *context)
{
  PetscDeviceContext now;
  PetscDevice        device;
  cudaStream_t      *stream;
  int                least, greatest;

  PetscFunctionBegin;
  PetscCall(PetscDeviceContextGetCurrentContext(&now));
  PetscCall(PetscDeviceContextGetDevice(now, &device));
  PetscCall(PetscDeviceContextCreate(context));
  PetscCall(PetscDeviceContextSetDevice(*context, device));
  PetscCall(PetscDeviceContextSetStreamType(*context, PETSC_STREAM_NONBLOCKING));
  PetscCall(PetscDeviceContextSetUp(*context));
  PetscCall(PetscDeviceContextGetStreamHandle(*context, (void **)&stream));
  PetscCallCUDA(cudaStreamDestroy(*stream));
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  PetscCallCUDA(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a slab of the group has no inner planes: the same on all processes, because steps in parts and whole steps
   exchange differently */
static PetscBool BornHalosAreThin(const BornParts *in)
{
  const BornGrid   *g    = &in->grids->one;
  const PetscMPIInt size = in->parallel->split.group.size;
  PetscBool         thin = PETSC_FALSE;

  for (PetscMPIInt r = 0; r < size; r++) {
    const PetscInt count = BornSlabStart(g->planes, r + 1, size) - BornSlabStart(g->planes, r, size);

    thin = (PetscBool)(thin || count <= g->halo * ((r > 0) + (r < size - 1)));
  }
  return thin;
}

/* MPI waits on the host, and copies in PETSc's stream. Steps are then whole, as in groups with a slab without inner
   planes */
static PetscErrorCode BornHalosSetUp(const BornParts *in, BornHalos *h)
{
  const BornGrid       *g     = &in->grids->one;
  const LitheFarmGroup *group = &in->parallel->split.group;
  PetscSF               sf;
  LitheHaloInfo         info;

  PetscFunctionBegin;
  h->below = group->rank - 1;
  h->above = group->rank + 1;
  h->low   = group->rank ? g->halo : 0;
  h->high  = h->above < group->size ? g->halo : 0;
  h->bytes = (PetscInt64)BornBytes(in->grids->real) * g->stride[g->dim - 1];
  PetscCall(BornHalosForest(in, h, &sf));
  for (int f = 0; f < 2; f++) PetscCall(LitheHaloCreate(sf, in->tuning->transport, PETSC_MEMTYPE_CUDA, BORN_ENTRY, &h->halo[f]));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(LitheHaloGetInfo(h->halo[0], &info));
  if (info.transport == LITHE_TRANSPORT_MPI || BornHalosAreThin(in)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BornHalosContext(&h->context));
  PetscCallCUDA(cudaEventCreateWithFlags(&h->ready, cudaEventDisableTiming));
  PetscCallCUDA(cudaEventCreateWithFlags(&h->done, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornHalosCreate_Private(const BornParts *in, BornHalos **halos)
{
  PetscFunctionBegin;
  if (!in->kernels->device || in->parallel->split.group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(halos));
  PetscCall(BornHalosSetUp(in, *halos));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornHalosDestroy_Private(BornHalos **halos)
{
  BornHalos *h = *halos;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  *halos = NULL;
  for (int f = 0; f < 2; f++) PetscCall(LitheHaloDestroy(&h->halo[f]));
  if (h->done) PetscCallCUDA(cudaEventDestroy(h->done));
  if (h->ready) PetscCallCUDA(cudaEventDestroy(h->ready));
  PetscCall(PetscDeviceContextDestroy(&h->context));
  PetscCall(PetscFree(h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of halos that are there */
PetscErrorCode BornHalosGetTransport_Private(const BornHalos *h, LitheTransport *transport, const char **reason)
{
  LitheHaloInfo info;

  PetscFunctionBegin;
  PetscCall(LitheHaloGetInfo(h->halo[0], &info));
  *transport = info.transport;
  *reason    = info.reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ exchanges */

static inline char *BornFirstPlane(const BornParts *in, void *field)
{
  return (char *)field + (PetscInt64)BornBytes(in->grids->real) * in->grids->one.first;
}

/* Received planes, to the places next to the slab */
static PetscErrorCode BornHalosEnd(const BornParts *in, int f, void *field)
{
  const BornHalos *h     = in->parallel->halos;
  char            *first = BornFirstPlane(in, field);
  const void      *ghost;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheHaloEnd(h->halo[f], &ghost));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (h->low) PetscCallCUDA(cudaMemcpyAsync(first - h->bytes * h->low, ghost, (size_t)(h->bytes * h->low), cudaMemcpyDeviceToDevice, stream));
  if (h->high)
    PetscCallCUDA(cudaMemcpyAsync(first + h->bytes * in->parallel->split.count, (const char *)ghost + h->bytes * h->low, (size_t)(h->bytes * h->high),
                                  cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A range of planes of a step, with the forces */
static PetscErrorCode BornHalosPart(const BornParts *in, const BornStep *step, PetscInt forces, const BornForce force[], PetscInt from, PetscInt to)
{
  const BornGrid *g    = &in->grids->one;
  BornStep        part = *step;

  PetscFunctionBegin;
  if (to <= from) PetscFunctionReturn(PETSC_SUCCESS);
  part.part[0] = from;
  part.part[1] = to;
  PetscCall((*in->kernels->step)(g, &part));
  for (PetscInt k = 0; k < forces; k++) {
    BornForce share = force[k];

    share.part[0] = from;
    share.part[1] = to;
    PetscCall((*in->kernels->force)(g, &share));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The planes of an end, of which a neighbour needs the given number; some planes are left between two ends */
static PetscInt BornHalosEndPlanes(PetscInt needed, PetscInt n)
{
  return needed ? PetscMax(needed, PetscMin(BORN_END, n / 3)) : 0;
}

/* A step whose planes are exchanged meanwhile; main: PETSc's context. After an error PETSc's context may be another */
static PetscErrorCode BornHalosAdvance(const BornParts *in, const BornStep *step, PetscInt forces, const BornForce force[], PetscDeviceContext main)
{
  BornHalos     *h = in->parallel->halos;
  const PetscInt n = in->parallel->split.count, low = BornHalosEndPlanes(h->low, n), high = BornHalosEndPlanes(h->high, n);
  void *const    field[2] = {step->old, step->wold};
  cudaStream_t   stream, ends;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaEventRecord(h->ready, stream));
  PetscCall(PetscDeviceContextSetCurrentContext(h->context));
  PetscCall(PetscGetCurrentCUDAStream(&ends));
  PetscCallCUDA(cudaStreamWaitEvent(ends, h->ready, 0));
  PetscCall(BornHalosPart(in, step, forces, force, 0, low));
  PetscCall(BornHalosPart(in, step, forces, force, n - high, n));
  for (int f = 0; f < 2 && field[f]; f++) PetscCall(LitheHaloBegin(h->halo[f], BornFirstPlane(in, field[f])));
  PetscCall(PetscDeviceContextSetCurrentContext(main));
  PetscCall(BornHalosPart(in, step, forces, force, low, n - high));
  PetscCall(PetscDeviceContextSetCurrentContext(h->context));
  for (int f = 0; f < 2 && field[f]; f++) PetscCall(BornHalosEnd(in, f, field[f]));
  PetscCallCUDA(cudaEventRecord(h->done, ends));
  PetscCallCUDA(cudaStreamWaitEvent(stream, h->done, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a step was made here */
static PetscErrorCode BornHalosTry(const BornParts *in, const BornStep *step, PetscInt forces, const BornForce force[], PetscBool *made)
{
  PetscDeviceContext main;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  *made = (PetscBool)(in->parallel->halos && in->parallel->halos->context);
  if (!*made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheFarmPoke(in->parallel->split.farm));
  PetscCall(PetscDeviceContextGetCurrentContext(&main));
  ierr = BornHalosAdvance(in, step, forces, force, main);
  PetscCall(PetscDeviceContextSetCurrentContext(main));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One field, on a device */
static PetscErrorCode BornHalosExchange(const BornParts *in, void *field)
{
  PetscFunctionBegin;
  PetscCall(LitheHaloBegin(in->parallel->halos->halo[0], BornFirstPlane(in, field)));
  PetscCall(BornHalosEnd(in, 0, field));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode BornHalosCreate_Private(PETSC_UNUSED const BornParts *in, PETSC_UNUSED BornHalos **halos)
{
  return PETSC_SUCCESS;
}

PetscErrorCode BornHalosDestroy_Private(PETSC_UNUSED BornHalos **halos)
{
  return PETSC_SUCCESS;
}

PetscErrorCode BornHalosGetTransport_Private(PETSC_UNUSED const BornHalos *h, PETSC_UNUSED LitheTransport *transport, PETSC_UNUSED const char **reason)
{
  return PETSC_ERR_PLIB;
}

static inline PetscErrorCode BornHalosTry(PETSC_UNUSED const BornParts *in, PETSC_UNUSED const BornStep *step, PETSC_UNUSED PetscInt forces,
                                          PETSC_UNUSED const BornForce force[], PetscBool *made)
{
  *made = PETSC_FALSE;
  return PETSC_SUCCESS;
}

static inline PetscErrorCode BornHalosExchange(PETSC_UNUSED const BornParts *in, PETSC_UNUSED void *field)
{
  return PETSC_SUCCESS;
}
#endif

/*
   The planes next to the slab, from the neighbours. Room between planes is zero in all fields and may be sent. Other
   groups reach the counter of shots during this call, which is often enough
*/
PetscErrorCode BornExchange_Private(const BornParts *in, void *field)
{
  const BornSplit  *split = &in->parallel->split;
  const BornGrid   *g     = &in->grids->one;
  const size_t      unit  = BornBytes(in->grids->real);
  const PetscMPIInt below = split->group.rank ? split->group.rank - 1 : MPI_PROC_NULL;
  const PetscMPIInt above = split->group.rank + 1 < split->group.size ? split->group.rank + 1 : MPI_PROC_NULL;
  const PetscInt64  bytes = (PetscInt64)unit * g->stride[g->dim - 1]; /* of a plane */
  char             *first = (char *)field + (PetscInt64)unit * g->first, *last = first + bytes * split->count;
  PetscMPIInt       count;
  MPI_Comm          comm = split->group.comm;

  PetscFunctionBegin;
  PetscCall(LitheFarmPoke(split->farm));
  if (split->group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (in->parallel->halos) {
    PetscCall(BornHalosExchange(in, field));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMPIIntCast(bytes * g->halo, &count));
  PetscCallMPI(MPI_Sendrecv(first, count, MPI_BYTE, below, 1, last, count, MPI_BYTE, above, 1, comm, MPI_STATUS_IGNORE));
  PetscCallMPI(MPI_Sendrecv(last - bytes * g->halo, count, MPI_BYTE, above, 2, first - bytes * g->halo, count, MPI_BYTE, below, 2, comm, MPI_STATUS_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step, then the forces, then the exchange of planes. g: the matrix's grid, or a stack on a single process */
PetscErrorCode BornAdvance_Private(const BornParts *in, const BornGrid *g, const BornStep *step, PetscInt forces, const BornForce force[])
{
  PetscBool made;

  PetscFunctionBegin;
  PetscCall(BornHalosTry(in, step, forces, force, &made));
  if (made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*in->kernels->step)(g, step));
  for (PetscInt k = 0; k < forces; k++) PetscCall((*in->kernels->force)(g, &force[k]));
  PetscCall(BornExchange_Private(in, step->old));
  if (step->wold) PetscCall(BornExchange_Private(in, step->wold));
  PetscFunctionReturn(PETSC_SUCCESS);
}
