/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Facts of a communicator for the transports of a device: whether all processes are on one node, and whether each
   process has a separate device. The facts are collected once and stored as an attribute of the communicator. All
   processes get the same answers.
*/

#include "haloimpl.h"
#include <petscdevice_cuda.h>
#include <stdlib.h>

static PetscMPIInt     LitheHaloFactsKey  = MPI_KEYVAL_INVALID;
static LitheHaloFacts *LitheHaloFactsList = NULL;

static int MPIAPI LitheHaloFactsDelete_Private(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED PetscMPIInt key, void *value, PETSC_UNUSED void *unused)
{
  LitheHaloFacts *facts = (LitheHaloFacts *)value, **link = &LitheHaloFactsList;

  PetscFunctionBegin;
  while (*link != facts) link = &(*link)->next;
  *link = facts->next;
  PetscCallReturnMPI(LithePoolDestroy(&facts->pool));
  if (facts->nccl) PetscCallReturnMPI((*facts->nccldestroy)(facts->nccl));
  if (facts->stream && cudaStreamDestroy(facts->stream) != cudaSuccess) PetscFunctionReturn(MPI_ERR_OTHER);
  PetscCallReturnMPI(PetscFree(facts));
  PetscFunctionReturn(MPI_SUCCESS);
}

/* PETSc frees communicators after Lithe has been unloaded */
static PetscErrorCode LitheHaloFactsFinalize_Private(void)
{
  PetscFunctionBegin;
  while (LitheHaloFactsList) {
    MPI_Comm comm = LitheHaloFactsList->comm, kept = LitheHaloFactsList->kept;

    PetscCallMPI(MPI_Comm_delete_attr(comm, LitheHaloFactsKey));
    if (kept != MPI_COMM_NULL) PetscCall(PetscCommDestroy(&kept));
  }
  PetscCallMPI(MPI_Comm_free_keyval(&LitheHaloFactsKey));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int LitheHaloCompareDevices(const void *a, const void *b)
{
  return memcmp(a, b, sizeof(cudaUUID_t));
}

/* Does no device serve two processes? Collective */
static PetscErrorCode LitheHaloOwnDevices_Private(MPI_Comm comm, PetscMPIInt size, PetscBool *own)
{
  struct cudaDeviceProp properties;
  cudaUUID_t           *all;
  int                   device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaGetDeviceProperties(&properties, device));
  PetscCall(PetscMalloc1(size, &all));
  PetscCallMPI(MPI_Allgather(&properties.uuid, sizeof(cudaUUID_t), MPI_BYTE, all, sizeof(cudaUUID_t), MPI_BYTE, comm));
  qsort(all, (size_t)size, sizeof(*all), LitheHaloCompareDevices);
  *own = PETSC_TRUE;
  for (PetscMPIInt k = 1; k < size; k++) {
    if (!LitheHaloCompareDevices(&all[k - 1], &all[k])) *own = PETSC_FALSE;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc frees the communicator of PETSC_COMM_WORLD's objects with the last object. A program may make other objects
   later: a reference keeps this communicator, and with it the facts. Collective
*/
static PetscErrorCode LitheHaloKeepWorld_Private(MPI_Comm comm, MPI_Comm *kept)
{
  int same;

  PetscFunctionBegin;
  *kept = MPI_COMM_NULL;
  PetscCallMPI(MPI_Comm_compare(comm, PETSC_COMM_WORLD, &same));
  if (same != MPI_CONGRUENT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCommDuplicate(PETSC_COMM_WORLD, kept, NULL));
  if (*kept != comm) PetscCall(PetscCommDestroy(kept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective; the communicator belongs to PETSc */
PetscErrorCode LitheHaloGetFacts_Private(MPI_Comm comm, LitheHaloFacts **facts)
{
  PetscMPIInt found, size, nodesize;
  MPI_Comm    node;

  PetscFunctionBegin;
  if (LitheHaloFactsKey == MPI_KEYVAL_INVALID) {
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, LitheHaloFactsDelete_Private, &LitheHaloFactsKey, NULL));
    PetscCall(PetscRegisterFinalize(LitheHaloFactsFinalize_Private));
  }
  PetscCallMPI(MPI_Comm_get_attr(comm, LitheHaloFactsKey, facts, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(facts));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &nodesize));
  PetscCallMPI(MPI_Comm_free(&node));
  /* communicators of nodes are all as large as comm, or none is */
  (*facts)->onenode = (PetscBool)(nodesize == size);
  PetscCall(LitheHaloOwnDevices_Private(comm, size, &(*facts)->owndevices));
  PetscCall(LitheHaloKeepWorld_Private(comm, &(*facts)->kept));
  (*facts)->comm     = comm;
  (*facts)->next     = LitheHaloFactsList;
  LitheHaloFactsList = *facts;
  PetscCallMPI(MPI_Comm_set_attr(comm, LitheHaloFactsKey, *facts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloPrecheckIPC_Private(MPI_Comm comm, PetscMemType memory, LitheTransport asked, LitheHaloObstacle *obstacle)
{
  LitheHaloFacts *facts;

  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  if (!PetscMemTypeDevice(memory)) {
    *obstacle = LITHE_HALO_ON_HOST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheHaloGetFacts_Private(comm, &facts));
  if (!facts->onenode) *obstacle = LITHE_HALO_OTHER_NODES;
  else if (!facts->owndevices && asked == LITHE_TRANSPORT_AUTO) *obstacle = LITHE_HALO_SHARED_DEVICE; /* possible, but processes wait for the device */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest obstacle, with one of the reported codes. Collective */
PetscErrorCode LitheHaloAgree_Private(MPI_Comm comm, LitheHaloObstacle *obstacle, int *code)
{
  int both = ((int)*obstacle << 20) + *code;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &both, 1, MPI_INT, MPI_MAX, comm));
  *obstacle = (LitheHaloObstacle)(both >> 20);
  *code     = both & 0xfffff;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A stream with high priority for kernels, without implicit waits for PETSc's stream */
PetscErrorCode LitheHaloStreamCreate_Private(cudaStream_t *stream)
{
  int least, greatest;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  PetscCallCUDA(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest));
  PetscFunctionReturn(PETSC_SUCCESS);
}
