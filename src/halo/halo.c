/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* LitheHalo: which transport is taken, and what all of them have in common. One file a transport does the rest. */

#include "haloimpl.h"

const char *const LitheTransports[] = {"auto", "ipc", "nccl", "mpi", "LitheTransport", "LITHE_TRANSPORT_", NULL};

/* The first of these that can be used is what auto takes */
static const struct {
  LitheTransport      transport;
  const LitheHaloOps *ops;
} transports[] = {
  {LITHE_TRANSPORT_MPI, &LitheHaloMPI},
};

static const char *LitheHaloObstacleText(LitheHaloObstacle obstacle)
{
  switch (obstacle) {
  case LITHE_HALO_NO_CUDA:
    return "Lithe was built without CUDA";
  case LITHE_HALO_ON_HOST:
    return "the vectors are on the host; it needs vectors on a device, of -vec_type cuda for example";
  case LITHE_HALO_SHARED_DEVICE:
    return "some processes share a device; it needs one device a process";
  case LITHE_HALO_OTHER_NODES:
    return "the processes are on several nodes; it works on one node";
  case LITHE_HALO_NO_LIBRARY:
    return "libnccl.so.2 is not found on all nodes; put its folder into LD_LIBRARY_PATH";
  case LITHE_HALO_REFUSED:
    return "the driver or the library refuses it";
  default:
    return "it is not known";
  }
}

/* Takes the first transport that is asked for and possible on all processes; tells why those before it are not */
static PetscErrorCode LitheHaloChoose_Private(LitheHalo halo, LitheTransport transport)
{
  LitheHaloObstacle obstacle = LITHE_HALO_NO_CUDA;
  int               code     = 0;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(transports); k++) {
    char text[256];

    if (transport != LITHE_TRANSPORT_AUTO && transport != transports[k].transport) continue;
    PetscCall((*transports[k].ops->create)(halo, &obstacle, &code));
    if (obstacle == LITHE_HALO_POSSIBLE) {
      halo->ops            = transports[k].ops;
      halo->info.transport = transports[k].transport;
      break;
    }
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s%s: %s", halo->reason[0] ? "; " : "", LitheTransports[transports[k].transport], LitheHaloObstacleText(obstacle)));
    PetscCall(PetscStrlcat(halo->reason, text, sizeof(halo->reason)));
  }
  if (!halo->ops) {
    char why[256];

    PetscCall(PetscStrncpy(why, LitheHaloObstacleText(obstacle), sizeof(why)));
    SETERRQ(halo->comm, PETSC_ERR_ARG_INCOMP, "The transport %s cannot be used: %s. Or let auto choose one", LitheTransports[transport], why);
  }
  halo->info.reason = halo->reason[0] ? halo->reason : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neighbours, and bytes of an exchange */
static PetscErrorCode LitheHaloCount_Private(LitheHalo halo)
{
  LitheHaloPeers peers;

  PetscFunctionBegin;
  PetscCall(LitheHaloPeersCreate_Private(halo->sf, &peers));
  for (PetscInt k = 0; k < peers.n; k++) {
    halo->info.from += peers.recv[k].count > 0;
    halo->info.to += peers.send[k].count > 0;
  }
  halo->info.received = (PetscInt64)peers.nrecv * (PetscInt64)halo->unit;
  halo->info.sent     = (PetscInt64)peers.nsend * (PetscInt64)halo->unit;
  PetscCall(LitheHaloPeersDestroy_Private(&peers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloCreate(PetscSF sf, LitheTransport transport, PetscMemType memory, size_t unit, LitheHalo *newhalo)
{
  LitheHalo halo;
  PetscInt  last;

  PetscFunctionBegin;
  PetscCheck(unit == 4 || unit == 8 || unit == 16, PetscObjectComm((PetscObject)sf), PETSC_ERR_ARG_OUTOFRANGE, "Entries of %zu bytes; they have 4, 8 or 16", unit);
  PetscCheck(transport >= LITHE_TRANSPORT_AUTO && transport <= LITHE_TRANSPORT_MPI, PetscObjectComm((PetscObject)sf), PETSC_ERR_ARG_OUTOFRANGE, "Transport %d; there are auto, ipc, nccl and mpi", (int)transport);
  PetscCall(PetscNew(&halo));
  PetscCall(PetscObjectReference((PetscObject)sf));
  PetscCall(PetscSFSetUp(sf));
  halo->sf     = sf;
  halo->comm   = PetscObjectComm((PetscObject)sf);
  halo->memory = memory;
  halo->unit   = unit;
  PetscCall(PetscSFGetLeafRange(sf, NULL, &last));
  halo->nghost      = PetscMax(last + 1, 0);
  halo->info.memory = memory;
  *newhalo          = halo;
  PetscCall(LitheHaloChoose_Private(halo, transport));
  PetscCall(LitheHaloCount_Private(halo));
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
