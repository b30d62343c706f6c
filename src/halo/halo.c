/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   LitheHalo: the choice of a transport, and the code common to all. Each transport has a file for the remaining work.
*/

#include "haloimpl.h"
#include <petscdevice.h>

const char *const LitheTransports[] = {"auto", "ipc", "nccl", "mpi", "LitheTransport", "LITHE_TRANSPORT_", NULL};

/* NULL: none */
static const LitheHaloOps *const halos[LITHE_TRANSPORT_MPI + 1] = {
#if defined(LITHE_HAVE_CUDA)
  [LITHE_TRANSPORT_IPC]  = &LitheHaloIPC,
  [LITHE_TRANSPORT_NCCL] = &LitheHaloNCCL,
#endif
  [LITHE_TRANSPORT_MPI] = &LitheHaloMPI,
};

static const char *LitheHaloObstacleText(LitheHaloObstacle obstacle)
{
  switch (obstacle) {
  case LITHE_HALO_NO_CUDA:
    return "Lithe was built without CUDA";
  case LITHE_HALO_ON_HOST:
    return "the vectors are on the host, but must be on a device (-vec_type cuda, for example)";
  case LITHE_HALO_SHARED_DEVICE:
    return "some processes share a device";
  case LITHE_HALO_OTHER_NODES:
    return "the processes are on several nodes";
  case LITHE_HALO_MANY_PROCESSES:
    return "there are too many processes";
  case LITHE_HALO_NO_LIBRARY:
    return "libnccl.so.2 cannot be loaded on all nodes (set LD_LIBRARY_PATH, for example)";
  default:
    return "it is refused";
  }
}

/* The message of CUDA or NCCL for a code */
static const char *LitheTransportMessage(LitheTransport transport, int code)
{
#if defined(LITHE_HAVE_CUDA)
  return transport == LITHE_TRANSPORT_IPC ? LitheHaloMessage_CUDA(code) : LitheHaloMessage_NCCL(code);
#else
  (void)transport;
  (void)code;
  return "";
#endif
}

/* Auto takes the first possible transport, in the order of the enumeration */
PetscErrorCode LitheTransportChoose_Private(LitheTransport asked, LitheTransportTryFn *attempt, void *object, LitheTransport *taken, char reason[],
                                            size_t length)
{
  PetscFunctionBegin;
  *taken = LITHE_TRANSPORT_AUTO;
  for (int k = LITHE_TRANSPORT_IPC; k <= LITHE_TRANSPORT_MPI; k++) {
    const LitheTransport transport = (LitheTransport)k;
    LitheHaloObstacle    obstacle  = LITHE_HALO_NO_CUDA;
    int                  code      = 0;
    char                 text[256];

    if (asked != LITHE_TRANSPORT_AUTO && asked != transport) continue;
    PetscCall((*attempt)(object, transport, &obstacle, &code));
    if (obstacle == LITHE_HALO_POSSIBLE) {
      *taken = transport;
      break;
    }
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s%s: %s%s%s", reason[0] ? "; " : "", LitheTransports[transport], LitheHaloObstacleText(obstacle),
                            code ? ", " : "", code ? LitheTransportMessage(transport, code) : ""));
    PetscCall(PetscStrlcat(reason, text, length));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Obstacle: unchanged if the transport does not exist */
static PetscErrorCode LitheHaloTry_Private(void *object, LitheTransport transport, LitheHaloObstacle *obstacle, int *code)
{
  LitheHalo halo = (LitheHalo)object;

  PetscFunctionBegin;
  if (!halos[transport]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*halos[transport]->create)(halo, obstacle, code));
  if (*obstacle == LITHE_HALO_POSSIBLE) halo->ops = halos[transport];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neighbours, and bytes of an exchange */
static void LitheHaloCount_Private(LitheHalo halo)
{
  for (PetscInt k = 0; k < halo->peers.n; k++) {
    halo->info.from += halo->peers.recv[k].count > 0;
    halo->info.to += halo->peers.send[k].count > 0;
  }
  halo->info.received = (PetscInt64)halo->peers.nrecv * (PetscInt64)halo->unit;
  halo->info.sent     = (PetscInt64)halo->peers.nsend * (PetscInt64)halo->unit;
}

PetscErrorCode LitheHaloCreate(PetscSF sf, LitheTransport transport, PetscMemType memory, size_t unit, LitheHalo *newhalo)
{
  LitheHalo halo;
  PetscInt  last;

  PetscFunctionBegin;
  PetscCheck(unit == 4 || unit == 8 || (unit > 0 && unit % 16 == 0), PetscObjectComm((PetscObject)sf), PETSC_ERR_ARG_OUTOFRANGE,
             "Entries of %zu bytes; use 4, 8, 16 or a multiple of 16", unit);
  PetscCheck(transport >= LITHE_TRANSPORT_AUTO && transport <= LITHE_TRANSPORT_MPI, PetscObjectComm((PetscObject)sf), PETSC_ERR_ARG_OUTOFRANGE,
             "Transport %d; use auto, ipc, nccl or mpi", (int)transport);
  /* before any allocation: PETSc chooses the device of this process only with the first vector on a device */
  if (PetscDefined(HAVE_CUDA) && PetscMemTypeDevice(memory)) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(&halo));
  PetscCall(PetscObjectReference((PetscObject)sf));
  PetscCall(PetscSFSetUp(sf));
  halo->sf     = sf;
  halo->comm   = PetscObjectComm((PetscObject)sf);
  halo->memory = memory;
  halo->unit   = unit;
  halo->asked  = transport;
  PetscCall(PetscSFGetLeafRange(sf, NULL, &last));
  halo->nghost      = PetscMax(last + 1, 0);
  halo->info.memory = memory;
  PetscCall(LitheHaloPeersCreate_Private(sf, &halo->peers));
  PetscCall(LitheTransportChoose_Private(transport, LitheHaloTry_Private, halo, &halo->info.transport, halo->reason, sizeof(halo->reason)));
  LitheHaloCount_Private(halo);
  PetscCall(LitheHaloPeersDestroy_Private(&halo->peers));
  if (halo->reason[0] && PetscMemTypeDevice(memory)) halo->info.reason = halo->reason; /* the host has only one transport */
  if (!halo->ops) {
    char reason[sizeof(halo->reason)];

    PetscCall(PetscStrncpy(reason, halo->reason, sizeof(reason)));
    PetscCall(LitheHaloDestroy(&halo));
    SETERRQ(PetscObjectComm((PetscObject)sf), PETSC_ERR_ARG_INCOMP, LITHE_TRANSPORT_NONE, reason);
  }
  *newhalo = halo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloCreateBlocks(MPI_Comm comm, const PetscInt n[], PetscSF *sf)
{
  PetscMPIInt  rank, size;
  PetscInt     leaves = 0;
  PetscSFNode *remote;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (PetscMPIInt r = 0; r < size; r++) leaves += r == rank ? 0 : n[r];
  PetscCall(PetscMalloc1(leaves, &remote));
  leaves = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    for (PetscInt k = 0; k < n[r] && r != rank; k++) remote[leaves++] = (PetscSFNode){.rank = r, .index = k};
  }
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(PetscSFSetGraph(*sf, n[rank], leaves, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloUpdate(PetscSF sf, LitheTransport transport, PetscMemType memory, size_t unit, LitheHalo *halo, PetscBool *made)
{
  /* a halo keeps a reference to its star forest: another star forest has another address */
  const PetscBool same = (PetscBool)(*halo && (*halo)->sf == sf && (*halo)->asked == transport && (*halo)->memory == memory && (*halo)->unit == unit);

  PetscFunctionBegin;
  if (made) *made = (PetscBool)!same;
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheHaloDestroy(halo));
  PetscCall(LitheHaloCreate(sf, transport, memory, unit, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloBegin(LitheHalo halo, const void *x)
{
  PetscFunctionBegin;
  PetscCheck(!halo->begun, halo->comm, PETSC_ERR_ORDER, "LitheHaloBegin() called again before LitheHaloEnd()");
  PetscCall((*halo->ops->begin)(halo, x));
  halo->x     = x;
  halo->begun = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloEnd(LitheHalo halo, const void **ghost)
{
  PetscFunctionBegin;
  PetscCheck(halo->begun, halo->comm, PETSC_ERR_ORDER, "LitheHaloEnd() called without LitheHaloBegin()");
  halo->begun = PETSC_FALSE;
  PetscCall((*halo->ops->end)(halo, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloGetInfo(LitheHalo halo, LitheHaloInfo *info)
{
  PetscFunctionBegin;
  *info = halo->info;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloDestroy(LitheHalo *halo)
{
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (!*halo) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*halo)->ops) ierr = (*(*halo)->ops->destroy)(*halo);
  PetscCall(PetscSFDestroy(&(*halo)->sf));
  PetscCall(PetscFree(*halo));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
