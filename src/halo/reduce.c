/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* LitheReduce: sums over processes. The choice of a transport, and the code common to all */

#include "haloimpl.h"
#include <petscdevice.h>

/* NULL: none */
static const LitheReduceOps *const reductions[LITHE_TRANSPORT_MPI + 1] = {
#if defined(LITHE_HAVE_CUDA)
  [LITHE_TRANSPORT_IPC]  = &LitheReduceIPC,
  [LITHE_TRANSPORT_NCCL] = &LitheReduceNCCL,
#endif
  [LITHE_TRANSPORT_MPI] = &LitheReduceMPI,
};

/* Obstacle: unchanged if the transport does not exist */
static PetscErrorCode LitheReduceTry_Private(void *object, LitheTransport transport, LitheHaloObstacle *obstacle, int *code)
{
  LitheReduce reduce = (LitheReduce)object;

  PetscFunctionBegin;
  if (!reductions[transport]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*reductions[transport]->create)(reduce, obstacle, code));
  if (*obstacle == LITHE_HALO_POSSIBLE) reduce->ops = reductions[transport];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheReduceCreate(MPI_Comm comm, LitheTransport transport, PetscMemType memory, PetscInt most, LitheReduce *newreduce)
{
  LitheReduce reduce;

  PetscFunctionBegin;
  if (transport == LITHE_TRANSPORT_AUTO) PetscCall(PetscOptionsGetEnum(NULL, NULL, "-lithe_reduce_transport", LitheTransports, (PetscEnum *)&transport, NULL));
  PetscCheck(transport >= LITHE_TRANSPORT_AUTO && transport <= LITHE_TRANSPORT_MPI, comm, PETSC_ERR_ARG_OUTOFRANGE, "Transport %d; use auto, ipc, nccl or mpi",
             (int)transport);
  PetscCheck(most > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "Sums of %" PetscInt_FMT " numbers; at least one is needed", most);
  /* as for a halo: PETSc chooses the device of this process only with the first vector on a device */
  if (PetscDefined(HAVE_CUDA) && PetscMemTypeDevice(memory)) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&reduce));
  PetscCall(PetscCommDuplicate(comm, &reduce->comm, NULL));
  PetscCallMPI(MPI_Comm_size(reduce->comm, &reduce->size));
  PetscCallMPI(MPI_Comm_rank(reduce->comm, &reduce->rank));
  reduce->memory = memory;
  reduce->most   = most;
  reduce->asked  = transport;
  if (reduce->size > 1) {
    /* the host has only one transport, and options for devices do not apply */
    PetscCall(LitheTransportChoose_Private(PetscMemTypeDevice(memory) ? transport : LITHE_TRANSPORT_MPI, LitheReduceTry_Private, reduce, &reduce->transport,
                                           reduce->reason, sizeof(reduce->reason)));
    if (!reduce->ops) {
      char reason[sizeof(reduce->reason)];

      PetscCall(PetscStrncpy(reason, reduce->reason, sizeof(reason)));
      PetscCall(LitheReduceDestroy(&reduce));
      SETERRQ(comm, PETSC_ERR_ARG_INCOMP, LITHE_TRANSPORT_NONE, reason);
    }
  }
  *newreduce = reduce;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceCheckCount_Private(LitheReduce reduce, PetscInt n)
{
  PetscFunctionBegin;
  PetscCheck(n > 0 && n <= reduce->most, reduce->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A sum of %" PetscInt_FMT " numbers, where at most %" PetscInt_FMT " were announced, and at least one", n, reduce->most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheReduceSum(LitheReduce reduce, PetscInt n, PetscScalar a[])
{
  PetscFunctionBegin;
  PetscCall(LitheReduceCheckCount_Private(reduce, n));
  if (reduce->ops) PetscCall((*reduce->ops->sum)(reduce, n, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
PetscErrorCode LitheReduceOnDevice(LitheReduce reduce, PetscInt n, LitheReduceEpoch *epoch, PetscBool *possible)
{
  PetscFunctionBegin;
  PetscCall(LitheReduceCheckCount_Private(reduce, n));
  *possible = (PetscBool)(!reduce->ops || reduce->ops->receive);
  if (!*possible) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(epoch, sizeof(*epoch)));
  epoch->peers.size = 1;
  if (reduce->ops) PetscCall((*reduce->ops->receive)(reduce, epoch));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode LitheReduceCheck(LitheReduce reduce)
{
  PetscFunctionBegin;
  if (reduce->ops && reduce->ops->check) PetscCall((*reduce->ops->check)(reduce));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheReduceGetTransport(LitheReduce reduce, LitheTransport *transport, const char **reason)
{
  PetscFunctionBegin;
  *transport = reduce->transport;
  if (reason) *reason = reduce->reason[0] ? reduce->reason : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheReduceDestroy(LitheReduce *reduce)
{
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (!*reduce) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*reduce)->ops) ierr = (*(*reduce)->ops->destroy)(*reduce);
  PetscCall(PetscCommDestroy(&(*reduce)->comm));
  PetscCall(PetscFree(*reduce));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
