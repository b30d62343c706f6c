/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* How the shots of a MATBORN are shared out: groups of processes, shots that are computed together, and journals */

#include "bornimpl.h"

/* Another farm where something is new */
PetscErrorCode MatBornSetFarming_Private(Mat A, const LitheFarmOptions *farming)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscMemcmp(farming, &ctx->farming, sizeof(*farming), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornChanged_Private(A));
  PetscCall(BornSplitDestroy_Private(&ctx->split));
  ctx->farming = *farming;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetGroupSize - Sets how many processes share a shot of a `MATBORN`

  Logically Collective

  Input Parameters:
+ J    - the matrix
- size - processes of a group at least, 1 by default; as many groups as there can be, share the shots

  Options Database Key:
. -mat_born_group_size <n> - the size

  Level: intermediate

  Notes:
  A group has the whole grid, in slabs along the last dimension. The fewer processes, the less they exchange; the more, the less memory each needs.

  The size changes no bit of a result. With `MATBORN_BACKGROUND_AUTO` it may change the choice of the background, which depends on the memory.

.seealso: `MATBORN`, `MatBornSetJournal()`, `MatBornGetGroupSize()`
@*/
PetscErrorCode MatBornSetGroupSize(Mat J, PetscInt size)
{
  Mat_Born        *ctx = NULL;
  LitheFarmOptions farming;
  PetscMPIInt      all;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveInt(J, size, 2);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)J), &all));
  PetscCheck(size >= 1 && size <= all, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_group_size %" PetscInt_FMT ": a group has 1 process at least, and at most all, %d", size, all);
  farming      = ctx->farming;
  farming.size = size;
  PetscCall(MatBornSetFarming_Private(J, &farming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetGroupSize - Gets how many processes share a shot of a `MATBORN`

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. size - processes of a group at least

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetGroupSize()`
@*/
PetscErrorCode MatBornGetGroupSize(Mat J, PetscInt *size)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(size, 2);
  *size = ctx->farming.size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetBatch - Sets how many shots of a `MATBORN` in two dimensions are computed together

  Logically Collective

  Input Parameters:
+ J - the matrix
- n - shots at most, or `PETSC_DECIDE`, the default

  Options Database Key:
. -mat_born_batch <n> - the number of shots; -1 for the default

  Level: intermediate

  Notes:
  A shot in two dimensions does not fill a device. Shots that are computed together share kernels and reads of the
  velocity. The default is 1 on the host. On a device the
  default is as many shots as have about four million nodes.

  The number is less where memory does not suffice, or where groups of processes would be without work. `MatView()`
  prints the actual number. A number above 1 has no
  effect in three dimensions, and in groups of several processes.

  The number changes no bit of a result. The memory of fields, and of the background, grows with it. `MATBORN_BACKGROUND_AUTO` chooses as for a single shot.

.seealso: `MATBORN`, `MatBornGetBatch()`, `MatBornSetGroupSize()`
@*/
PetscErrorCode MatBornSetBatch(Mat J, PetscInt n)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveInt(J, n, 2);
  PetscCheck(n >= 1 || n == PETSC_DECIDE, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_batch %" PetscInt_FMT ": at least 1 shot, or %d for the default", n, PETSC_DECIDE);
  if (n == ctx->batch) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->batch = n;
  PetscCall(MatBornChanged_Private(J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetBatch - Gets how many shots of a `MATBORN` in two dimensions are computed together

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. n - shots at most, or `PETSC_DECIDE`

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetBatch()`
@*/
PetscErrorCode MatBornGetBatch(Mat J, PetscInt *n)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(n, 2);
  *n = ctx->batch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetTransport - Sets how the processes of a group exchange planes of a `MATBORN` on devices

  Logically Collective

  Input Parameters:
+ J         - the matrix
- transport - the transport; `LITHE_TRANSPORT_AUTO` is the default

  Options Database Key:
. -mat_born_transport <auto,ipc,nccl,mpi> - the transport

  Level: intermediate

  Notes:
  With ipc and nccl the planes travel while the rest of a step is computed. With mpi they travel by way of the host, unless MPI knows devices, after each step.
  `LITHE_TRANSPORT_AUTO` takes mpi where processes share a device.

  The transport changes no bit of a result. It is not used by vectors of the host, nor by groups of one process. A transport that is not possible is an error of the
  next product.

.seealso: `MATBORN`, `MatBornGetTransport()`, `MatBornSetGroupSize()`
@*/
PetscErrorCode MatBornSetTransport(Mat J, LitheTransport transport)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveEnum(J, transport, 2);
  PetscCheck(transport >= LITHE_TRANSPORT_AUTO && transport <= LITHE_TRANSPORT_MPI, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_OUTOFRANGE,
             "Transport %d; use auto, ipc, nccl or mpi", (int)transport);
  if (transport == ctx->transport) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatBornChanged_Private(J));
  ctx->transport = transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetTransport - Gets how the processes of a group exchange planes of a `MATBORN` on devices

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. transport - the transport of previous products with slabs on devices; the requested transport if there was none

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetTransport()`
@*/
PetscErrorCode MatBornGetTransport(Mat J, LitheTransport *transport)
{
  Mat_Born   *ctx = NULL;
  const char *reason;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(transport, 2);
  PetscCall(BornHalosGetTransport_Private(ctx, transport, &reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornSetJournal - Sets the files from which a product with a `MATBORN` goes on after it was killed

  Logically Collective

  Input Parameters:
+ J    - the matrix
. path - begin of the file names, in a folder that all processes reach; NULL for none
- keep - whether they stay when a product is done

  Options Database Keys:
+ -mat_born_journal <path> - begin of the names
- -mat_born_journal_keep <bool> - whether the files stay

  Level: intermediate

  Notes:
  Each group writes its finished shots and their sums into a file of its own. The file has a hash of the matrix and of
  the vector in its name. The same product, also on another number of processes, finds the file, does the missing shots,
  and gives the same bits.

  With files that stay, a program that is started again gets all its earlier products at once. A killed solver thus
  continues where it was, on its way to the same result. Remove the files by hand.

  A file that is empty, cut or changed is an error on all processes, which names the file. Without the file its shots are
  computed again.

.seealso: `MATBORN`, `MatBornGetJournal()`, `MatBornSetGroupSize()`
@*/
PetscErrorCode MatBornSetJournal(Mat J, const char path[], PetscBool keep)
{
  Mat_Born        *ctx = NULL;
  LitheFarmOptions farming;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidLogicalCollectiveBool(J, keep, 3);
  farming      = ctx->farming;
  farming.keep = keep;
  PetscCall(PetscArrayzero(farming.journal, sizeof(farming.journal)));
  if (path) PetscCall(PetscStrncpy(farming.journal, path, sizeof(farming.journal)));
  PetscCall(MatBornSetFarming_Private(J, &farming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetJournal - Gets the files from which a product with a `MATBORN` goes on after it was killed

  Not Collective

  Input Parameter:
. J - the matrix

  Output Parameters:
+ path - begin of the file names, which belongs to the matrix, or NULL where there are none; or NULL
- keep - whether they stay when a product is done; or NULL

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetJournal()`
@*/
PetscErrorCode MatBornGetJournal(Mat J, const char *path[], PetscBool *keep)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  if (path) *path = ctx->farming.journal[0] ? ctx->farming.journal : NULL;
  if (keep) *keep = ctx->farming.keep;
  PetscFunctionReturn(PETSC_SUCCESS);
}
