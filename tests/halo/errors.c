/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheHalo: impossible requests are errors on all processes, and an absent neighbour is an error after a timeout.\n\
  -late: the last process takes no part in an exchange on a device; run with -lithe_halo_timeout 1\n\n";

#include <lithe.h>
#include <lithe/private/lithehalo.h>
#include <petsctime.h>

/* Each process reads the first entries of all others */
static PetscErrorCode CreateGraph(MPI_Comm comm, PetscInt n, PetscSF *sf)
{
  PetscMPIInt  rank, size;
  PetscSFNode *remote;
  PetscInt     k = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(size * n, &remote));
  for (PetscMPIInt r = 0; r < size; r++) {
    for (PetscInt i = 0; r != rank && i < n; i++) remote[k++] = (PetscSFNode){r, i};
  }
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(PetscSFSetGraph(*sf, n, k, NULL, PETSC_COPY_VALUES, remote, PETSC_OWN_POINTER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A request which must fail on all processes, with a reason in the message */
static PetscErrorCode Refused(MPI_Comm comm, const char what[], PetscErrorCode ierr, PetscErrorCode want)
{
  PetscInt wrong = ierr == want ? 0 : 1;

  PetscFunctionBeginUser;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscPrintf(comm, "%s: %s\n", what, wrong ? "another error, or none" : "refused"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char reason[1024];

/* Keeps the message of the first error */
static PetscErrorCode KeepReason(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED int line, PETSC_UNUSED const char *function, PETSC_UNUSED const char *file,
                                 PetscErrorCode n, PetscErrorType p, const char *mess, PETSC_UNUSED void *ctx)
{
  if (p == PETSC_ERROR_INITIAL && mess) (void)PetscStrncpy(reason, mess, sizeof(reason));
  return n;
}

static PetscErrorCode CheckReason(MPI_Comm comm, const char word[])
{
  PetscInt  missing;
  PetscBool found;
  char     *where;

  PetscFunctionBeginUser;
  PetscCall(PetscStrstr(reason, word, &where));
  found   = where ? PETSC_TRUE : PETSC_FALSE;
  missing = !found;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &missing, 1, MPIU_INT, MPI_SUM, comm));
  if (missing) PetscCall(PetscPrintf(comm, "  the message does not say \"%s\": %s\n", word, reason));
  reason[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRequests(MPI_Comm comm, PetscSF sf)
{
  LitheHalo          halo  = NULL;
  PetscScalar        x[10] = {0.};
  const void        *ghost;
  PetscErrorCode     ierr[6];
  LitheHaloInfo      info;
  PetscBool          none;
  static const char *what[] = {"ipc on the host", "nccl on the host", "entries of 3 bytes", "transport 7", "End() before Begin()", "Begin() twice"};

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(KeepReason, NULL));
  ierr[0] = LitheHaloCreate(sf, LITHE_TRANSPORT_IPC, PETSC_MEMTYPE_HOST, sizeof(PetscScalar), &halo);
  PetscCall(CheckReason(comm, "ipc: "));
  ierr[1] = LitheHaloCreate(sf, LITHE_TRANSPORT_NCCL, PETSC_MEMTYPE_HOST, sizeof(PetscScalar), &halo);
  PetscCall(CheckReason(comm, "nccl: "));
  ierr[2] = LitheHaloCreate(sf, LITHE_TRANSPORT_AUTO, PETSC_MEMTYPE_HOST, 3, &halo);
  ierr[3] = LitheHaloCreate(sf, (LitheTransport)7, PETSC_MEMTYPE_HOST, sizeof(PetscScalar), &halo);
  none    = halo ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(LitheHaloCreate(sf, LITHE_TRANSPORT_AUTO, PETSC_MEMTYPE_HOST, sizeof(PetscScalar), &halo));
  ierr[4] = LitheHaloEnd(halo, &ghost);
  PetscCall(LitheHaloBegin(halo, x));
  ierr[5] = LitheHaloBegin(halo, x);
  PetscCall(PetscPopErrorHandler());
  PetscCheck(none, comm, PETSC_ERR_PLIB, "A halo came from a request that was refused");
  for (int k = 0; k < 6; k++) PetscCall(Refused(comm, what[k], ierr[k], k < 2 ? PETSC_ERR_ARG_INCOMP : k < 4 ? PETSC_ERR_ARG_OUTOFRANGE : PETSC_ERR_ORDER));

  /* the refused requests have done no harm */
  PetscCall(LitheHaloEnd(halo, &ghost));
  PetscCall(LitheHaloGetInfo(halo, &info));
  PetscCall(PetscPrintf(comm, "auto on the host: %s; %s\n", LitheTransports[info.transport], info.reason ? "with a reason" : "no reason"));
  PetscCall(LitheHaloDestroy(&halo));
  PetscCall(LitheHaloDestroy(&halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes take part in two exchanges; then the last process stays away. Each request of the others fails in time,
   and objects can be destroyed */
static PetscErrorCode TestLate(MPI_Comm comm, PetscSF sf)
{
  LitheHalo          halo;
  PetscErrorCode     ierr = PETSC_SUCCESS, again = PETSC_SUCCESS;
  PetscMPIInt        rank, size;
  PetscLogDouble     begin, end;
  const PetscScalar *a;
  const void        *ghost;
  PetscBool          away;
  PetscScalar        sum;
  Vec                x;
  char               word[64];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  away = (PetscBool)(rank == size - 1);
  PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, 10, &x));
  PetscCall(VecSet(x, 1.));
  PetscCall(LitheHaloCreate(sf, LITHE_TRANSPORT_IPC, PETSC_MEMTYPE_DEVICE, sizeof(PetscScalar), &halo));
  PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(LitheHaloBegin(halo, a));
    PetscCall(LitheHaloEnd(halo, &ghost));
  }
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(&begin));
  PetscCall(PetscPushErrorHandler(KeepReason, NULL));
  if (!away) {
    ierr = LitheHaloBegin(halo, a);
    if (!ierr) ierr = LitheHaloEnd(halo, &ghost);
    /* the host waits here, and nowhere else */
    PetscCall(VecSum(x, &sum)); /* a norm would be known already */
    if (!ierr) ierr = LitheHaloBegin(halo, a);
    again = LitheHaloBegin(halo, a);
    if (ierr != PETSC_ERR_GPU || again != PETSC_ERR_GPU) PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] errors %d and %d\n", rank, (int)ierr, (int)again));
  }
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscTime(&end));
  PetscCall(PetscSNPrintf(word, sizeof(word), away ? "" : "Process %d has not sent its entries of exchange 3", size - 1));
  PetscCall(CheckReason(comm, word));
  PetscCall(VecRestoreArrayReadAndMemType(x, &a));
  if (end - begin > 20.) PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] it took %g s\n", rank, end - begin));
  PetscCall(LitheHaloDestroy(&halo));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscPrintf(comm, "late: seen\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscSF   sf;
  PetscBool late = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-late", &late, NULL));
  PetscCall(CreateGraph(PETSC_COMM_WORLD, 10, &sf));
  if (late) PetscCall(TestLate(PETSC_COMM_WORLD, sf));
  else PetscCall(TestRequests(PETSC_COMM_WORLD, sf));
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: requests
    nsize: {{1 2}}
    output_file: output/errors_requests.out

  test:
    suffix: late
    requires: cuda
    nsize: 2
    args: -late -lithe_halo_timeout 1

TEST*/
