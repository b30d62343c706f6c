/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheReduce: many sums over processes, the same bits on all processes, and with ipc and nccl the bits of a sum in "
                     "the order of the processes.\n\
  -transport <auto,ipc,nccl,mpi>  -most <n> largest length of a sum  -sums <n>  -device  -expect <transport>\n\
  -may_refuse: the transport may be impossible on the machine\n\
  -late: the last process takes no part in a sum on a device; run with -lithe_halo_timeout 1\n\n";

#include <lithe.h>
#include <lithe/private/lithehalo.h>
#include <petsctime.h>

typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  PetscInt    most, sums;
  PetscBool   device;
} Test;

/* Numbers of different magnitudes, so the sum depends on the order */
static PetscReal Number(PetscInt seed, PetscMPIInt rank, PetscInt i)
{
  uint64_t h = 0x9e3779b97f4a7c15u;

  h = (h ^ (uint64_t)seed) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 29) ^ (uint64_t)rank) * 0x94d049bb133111ebu;
  h = (h ^ (h >> 31) ^ (uint64_t)i) * 0xbf58476d1ce4e5b9u;
  h ^= h >> 29;
  return (PetscReal)ldexp((double)(h >> 12) * (h & 1 ? 1. : -1.), -52 + (int)(h >> 1 & 7));
}

/* The length of a sum: the most, 1, or any number between */
static PetscInt Count(const Test *t, PetscInt seed)
{
  return seed % 3 == 0 ? t->most : (seed % 3 == 1 ? 1 : 1 + (seed * 7919) % t->most);
}

static PetscErrorCode Fill(const Test *t, PetscInt seed, PetscScalar a[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < t->most; i++) {
    a[i] = Number(seed, t->rank, 2 * i);
#if PetscDefined(USE_COMPLEX)
    a[i] += PETSC_i * Number(seed, t->rank, 2 * i + 1);
#endif
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds in the order of the processes, each component separately, as the device does */
static PetscScalar Expected(const Test *t, PetscInt seed, PetscInt i)
{
  double re = (double)Number(seed, 0, 2 * i), im = (double)Number(seed, 0, 2 * i + 1);

  for (PetscMPIInt r = 1; r < t->size; r++) {
    re += (double)Number(seed, r, 2 * i);
    im += (double)Number(seed, r, 2 * i + 1);
  }
  return PetscCMPLX((PetscReal)re, PetscDefined(USE_COMPLEX) ? (PetscReal)im : 0);
}

/* Counts wrong numbers; exact: to the last bit. The memory behind a sum must not change */
static PetscErrorCode CountWrong(const Test *t, PetscInt seed, PetscBool exact, const PetscScalar a[], PetscScalar first[], PetscInt *wrong)
{
  const PetscInt n     = Count(t, seed);
  PetscScalar   *other = first + t->most;

  PetscFunctionBeginUser;
  PetscCall(Fill(t, seed, other));
  for (PetscInt i = 0; i < t->most; i++) {
    const PetscScalar expected  = i < n ? Expected(t, seed, i) : other[i];
    const PetscReal   tolerance = exact || i >= n ? 0 : 512 * (PetscReal)t->size * PETSC_MACHINE_EPSILON;

    if (!(PetscAbsScalar(a[i] - expected) <= tolerance)) (*wrong)++;
  }
  PetscCall(PetscArraycpy(first, a, n));
  PetscCallMPI(MPI_Bcast(first, (PetscMPIInt)n, MPIU_SCALAR, 0, t->comm));
  for (PetscInt i = 0; i < n; i++) *wrong += first[i] != a[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All sums are started before the host looks at the first result */
static PetscErrorCode Sums(const Test *t, PetscInt first, PetscInt nreduces, LitheReduce reduce[], PetscInt *wrong)
{
  const PetscScalar *read;
  PetscScalar       *a, *buffer;
  LitheTransport     transport;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, t->most * t->sums, PETSC_DETERMINE));
  PetscCall(VecSetType(x, t->device ? VECSEQCUDA : VECSEQ));
  PetscCall(PetscMalloc1(2 * t->most, &buffer));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt s = 0; s < t->sums; s++) PetscCall(Fill(t, first + s, a + s * t->most));
  PetscCall(VecRestoreArrayWrite(x, &a));

  PetscCall(VecGetArrayAndMemType(x, &a, NULL));
  for (PetscInt s = 0; s < t->sums; s++) PetscCall(LitheReduceSum(reduce[s % nreduces], Count(t, first + s), a + s * t->most));
  PetscCall(VecRestoreArrayAndMemType(x, &a));

  PetscCall(VecGetArrayRead(x, &read));
  for (PetscInt s = 0; s < t->sums; s++) {
    PetscCall(LitheReduceGetTransport(reduce[s % nreduces], &transport, NULL));
    PetscCall(CountWrong(t, first + s, (PetscBool)(transport != LITHE_TRANSPORT_MPI), read + s * t->most, buffer, wrong));
  }
  PetscCall(VecRestoreArrayRead(x, &read));
  for (PetscInt k = 0; k < nreduces; k++) PetscCall(LitheReduceCheck(reduce[k]));
  PetscCall(PetscFree(buffer));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Test *t, LitheTransport transport, PetscBool refuse, LitheReduce *reduce)
{
  const PetscMemType memory = t->device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  PetscErrorCode     ierr;

  PetscFunctionBeginUser;
  *reduce = NULL;
  if (refuse) PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = LitheReduceCreate(t->comm, transport, memory, t->most, reduce);
  if (refuse) {
    PetscCall(PetscPopErrorHandler());
    if (ierr == PETSC_ERR_ARG_INCOMP) ierr = LitheReduceCreate(t->comm, LITHE_TRANSPORT_AUTO, memory, t->most, reduce);
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes take part in a sum; then the last process stays away. The others are told in time, and their sums are
   NaN */
static PetscErrorCode TestLate(const Test *t)
{
  PetscErrorCode     ierr[2] = {PETSC_SUCCESS, PETSC_SUCCESS};
  PetscLogDouble     begin, end;
  const PetscScalar *read;
  PetscScalar       *a;
  PetscBool          nan;
  LitheReduce        reduce;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCall(VecCreateSeqCUDA(PETSC_COMM_SELF, t->most, &x));
  PetscCall(VecSet(x, 1.));
  PetscCall(LitheReduceCreate(t->comm, LITHE_TRANSPORT_IPC, PETSC_MEMTYPE_DEVICE, t->most, &reduce));
  PetscCall(VecGetArrayAndMemType(x, &a, NULL));
  PetscCall(LitheReduceSum(reduce, t->most, a));
  PetscCallMPI(MPI_Barrier(t->comm));
  PetscCall(PetscTime(&begin));
  if (t->rank != t->size - 1) PetscCall(LitheReduceSum(reduce, t->most, a));
  PetscCall(VecRestoreArrayAndMemType(x, &a));
  if (t->rank != t->size - 1) {
    PetscCall(VecGetArrayRead(x, &read));
    nan = PetscIsInfOrNanScalar(read[0]);
    PetscCall(VecRestoreArrayRead(x, &read));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr[0] = LitheReduceCheck(reduce);
    ierr[1] = LitheReduceSum(reduce, 1, a);
    PetscCall(PetscPopErrorHandler());
    if (ierr[0] != PETSC_ERR_GPU || ierr[1] != PETSC_ERR_GPU || !nan)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] errors %d and %d, %s\n", t->rank, (int)ierr[0], (int)ierr[1], nan ? "no number" : "a number"));
  }
  PetscCall(PetscTime(&end));
  if (end - begin > 20.) PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] it took %g s\n", t->rank, end - begin));
  PetscCall(LitheReduceDestroy(&reduce));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscPrintf(t->comm, "late: seen\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requests which must fail on all processes */
static PetscErrorCode TestRequests(const Test *t, LitheReduce good)
{
  PetscErrorCode ierr[4];
  LitheReduce    reduce = NULL;
  PetscScalar    a[1]   = {0.};
  PetscInt       wrong  = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr[0] = LitheReduceCreate(t->comm, (LitheTransport)7, PETSC_MEMTYPE_HOST, 1, &reduce);
  ierr[1] = LitheReduceCreate(t->comm, LITHE_TRANSPORT_AUTO, PETSC_MEMTYPE_HOST, 0, &reduce);
  ierr[2] = LitheReduceSum(good, t->most + 1, a);
  ierr[3] = LitheReduceSum(good, 0, a);
  PetscCall(PetscPopErrorHandler());
  for (int k = 0; k < 4; k++) wrong += ierr[k] != PETSC_ERR_ARG_OUTOFRANGE;
  PetscCheck(!wrong && !reduce, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " requests were not refused as they should be", wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Test           t         = {.most = 61, .sums = 30};
  LitheTransport transport = LITHE_TRANSPORT_AUTO, expect = LITHE_TRANSPORT_AUTO, is;
  PetscBool      late = PETSC_FALSE, refuse = PETSC_FALSE, set;
  PetscInt       wrong = 0;
  LitheReduce    reduce[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  t.comm = PETSC_COMM_WORLD;
  PetscCallMPI(MPI_Comm_rank(t.comm, &t.rank));
  PetscCallMPI(MPI_Comm_size(t.comm, &t.size));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-transport", LitheTransports, (PetscEnum *)&transport, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-most", &t.most, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-sums", &t.sums, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &t.device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-may_refuse", &refuse, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-late", &late, NULL));
  if (late) PetscCall(TestLate(&t));
  else {
    PetscCall(Create(&t, transport, refuse, &reduce[0]));
    PetscCall(LitheReduceGetTransport(reduce[0], &is, NULL));
    PetscCall(PetscOptionsGetEnum(NULL, NULL, "-expect", LitheTransports, (PetscEnum *)&expect, &set));
    PetscCheck(!set || t.size == 1 || is == expect, t.comm, PETSC_ERR_PLIB, "The transport is %s, not %s", LitheTransports[is], LitheTransports[expect]);
    PetscCall(Sums(&t, 0, 1, reduce, &wrong));

    /* a second reduction at the same time, in turn */
    PetscCall(Create(&t, transport, refuse, &reduce[1]));
    PetscCall(Sums(&t, 100, 2, reduce, &wrong));
    PetscCall(LitheReduceDestroy(&reduce[0]));
    PetscCall(Sums(&t, 200, 1, &reduce[1], &wrong));
    PetscCall(TestRequests(&t, reduce[1]));
    PetscCall(LitheReduceDestroy(&reduce[1]));
    PetscCall(LitheReduceDestroy(&reduce[1]));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, t.comm));
    PetscCall(PetscPrintf(t.comm, "wrong numbers: %" PetscInt_FMT "\n", wrong));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/reduce.out

    test:
      suffix: host
      nsize: {{1 2 3 4}}
      args: -most {{1 61}}

    # what is asked for by the option concerns devices
    test:
      suffix: option
      nsize: 2
      args: -lithe_reduce_transport nccl -expect mpi

    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2 4}}
      args: -device -transport {{ipc mpi}} -most 1201

    test:
      suffix: cuda_option
      requires: cuda
      nsize: 2
      args: -device -lithe_reduce_transport ipc -expect ipc

    test:
      suffix: cuda_nccl
      requires: cuda
      nsize: {{1 2 4}}
      args: -device -transport nccl -may_refuse -most 301

  test:
    suffix: late
    requires: cuda
    nsize: 2
    args: -late -lithe_halo_timeout 1

TEST*/
