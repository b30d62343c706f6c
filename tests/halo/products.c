/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Products of parallel matrices have the same bits with every transport; an unusable transport is an error on all processes.\n\
  -transports <list> -cuda\n\n";

#include <lithe.h>
#include <petscdmda.h>
#include <tests/options.h>

typedef struct {
  const char *name;                             /* of the type */
  PetscErrorCode (*get)(Mat, LitheTransport *); /* NULL: unknown */
  PetscBool actual;                             /* get() returns the transport in use, not the requested transport */
} Class;

static PetscErrorCode GetVCRS(Mat A, LitheTransport *transport)
{
  MatVCRSInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatVCRSGetInfo(A, &info));
  *transport = info.transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetHYB(Mat A, LitheTransport *transport)
{
  MatHYBMGPUInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  *transport = info.transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const Class vcrs   = {"vcrs", GetVCRS, PETSC_TRUE};
static const Class hyb    = {"hybmgpu", GetHYB, PETSC_FALSE};
static const Class sbpsat = {"sbpsat", NULL, PETSC_FALSE};

static PetscErrorCode Set(const Class *c, Mat A, LitheTransport transport)
{
  PetscFunctionBeginUser;
  PetscCall(TestSetOptions(A, "-mat_%s_transport %s", c->name, LitheTransports[transport]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of 1 to 4 entries; the last of three processes has no rows */
static PetscErrorCode CreateAIJ(MPI_Comm comm, Mat *A)
{
  PetscMPIInt rank, size;
  PetscInt    N, begin, end;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, rank == 2 ? 0 : 50 + 13 * rank, rank == 2 ? 0 : 50 + 13 * rank, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetSize(*A, &N, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt k = 0; k <= (i * 5) % 4; k++) PetscCall(MatSetValue(*A, i, (i + k * k) % N, 1. / (PetscScalar)(i + k + 1), ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds an entry in a distant column of another process, so the number of ghosts grows */
static PetscErrorCode ChangePattern(Mat A, PetscInt round)
{
  PetscInt N, begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  if (end > begin) PetscCall(MatSetValue(A, begin, (end + 20 + 3 * round) % N, 2., ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fill(Vec x, PetscInt round)
{
  PetscScalar *a;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = begin; i < end; i++) a[i - begin] = PetscSinReal((PetscReal)(i * (round + 1)));
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products without waiting on the host, each with another x; a wrong product shows in the sum */
static PetscErrorCode Products(Mat A, Vec y)
{
  Vec x[4], z;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 4; k++) {
    PetscCall(MatCreateVecs(A, &x[k], NULL));
    PetscCall(Fill(x[k], k));
  }
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(y, 0.));
  for (PetscInt k = 0; k < 12; k++) {
    PetscCall(MatMult(A, x[k % 4], z));
    PetscCall(VecAYPX(y, .5, z));
  }
  for (PetscInt k = 0; k < 4; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares all transports with mpi, and mpi with another matrix if given */
static PetscErrorCode Compare(const Class *c, const char what[], Mat A, Mat other, PetscInt n, const LitheTransport transport[])
{
  Vec            reference, y;
  PetscReal      difference, scale;
  PetscBool      same;
  LitheTransport used;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatCreateVecs(A, NULL, &reference));
  PetscCall(VecDuplicate(reference, &y));
  PetscCall(Set(c, A, LITHE_TRANSPORT_MPI));
  PetscCall(Products(A, reference));
  if (other) {
    PetscCall(Products(other, y));
    PetscCall(VecNorm(y, NORM_INFINITY, &scale));
    PetscCall(VecAXPY(y, -1., reference));
    PetscCall(VecNorm(y, NORM_INFINITY, &difference));
    if (!(difference <= 100 * PETSC_MACHINE_EPSILON * scale))
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "%s %s: off by %g of %g\n", c->name, what, (double)difference, (double)scale));
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(Set(c, A, transport[k]));
    PetscCall(Products(A, y));
    used = transport[k];
    if (c->get) PetscCall((*c->get)(A, &used));
    if (transport[k] != LITHE_TRANSPORT_AUTO && used != transport[k])
      PetscCall(
        PetscPrintf(PetscObjectComm((PetscObject)A), "%s %s: %s is used, not %s\n", c->name, what, LitheTransports[used], LitheTransports[transport[k]]));
    if (transport[k] == LITHE_TRANSPORT_AUTO && c->actual && size > 1 && used == LITHE_TRANSPORT_AUTO)
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "%s %s: auto is no transport\n", c->name, what));
    PetscCall(VecEqual(y, reference, &same));
    if (!same) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)A), "%s %s: %s differs from mpi\n", c->name, what, LitheTransports[transport[k]]));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequence of patterns with one transport */
static PetscErrorCode Grow(const Class *c, Mat A, Mat other)
{
  PetscFunctionBeginUser;
  for (PetscInt round = 1; round < 6; round++) {
    PetscCall(ChangePattern(A, round));
    PetscCall(ChangePattern(other, round));
    PetscCall(Compare(c, "grown", A, other, 0, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors on the host: an error of the product on all processes, and the matrix is as good as before */
static PetscErrorCode Refuse(const Class *c, Mat A)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);
  Vec            x, y;
  PetscErrorCode ierr;
  PetscInt       failed;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.));
  PetscCall(Set(c, A, LITHE_TRANSPORT_IPC));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatMult(A, x, y);
  PetscCall(PetscPopErrorHandler());
  failed = ierr == PETSC_ERR_ARG_INCOMP;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (failed != (size > 1 ? size : 0)) PetscCall(PetscPrintf(comm, "%s: ipc on the host is refused by %" PetscInt_FMT " processes\n", c->name, failed));
  PetscCall(Set(c, A, LITHE_TRANSPORT_AUTO));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For the relatives of MATAIJ */
static PetscErrorCode TestFamily(const Class *c, MPI_Comm comm, PetscBool cuda, PetscInt n, const LitheTransport transport[])
{
  Mat            A, B, C;
  LitheTransport used;

  PetscFunctionBeginUser;
  PetscCall(CreateAIJ(comm, &A));
  PetscCall(MatConvert(A, c->name, MAT_INITIAL_MATRIX, &B));
  if (cuda) PetscCall(MatSetVecType(A, VECCUDA));
  if (cuda) PetscCall(MatSetVecType(B, VECCUDA));
  PetscCall(Compare(c, "made", B, A, n, transport));
  PetscCall(ChangePattern(A, 0));
  PetscCall(ChangePattern(B, 0));
  PetscCall(Compare(c, "changed", B, A, n, transport));
  PetscCall(Grow(c, B, A));
  PetscCall(Set(c, B, LITHE_TRANSPORT_MPI));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall((*c->get)(C, &used));
  if (used != LITHE_TRANSPORT_MPI) PetscCall(PetscPrintf(comm, "%s: a duplicate forgets the transport\n", c->name));
  if (cuda) PetscCall(MatSetVecType(C, VECCUDA));
  PetscCall(Compare(c, "duplicate", C, A, n, transport));
  PetscCall(MatDestroy(&C));
  if (!cuda) PetscCall(Refuse(c, B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSBPSAT(MPI_Comm comm, PetscBool cuda, PetscInt n, const LitheTransport transport[])
{
  DM  da;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 41, 37, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  if (cuda) PetscCall(DMSetVecType(da, VECCUDA));
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetUniformCoordinates(da, -1., 1., -1., 1., 0., 0.));
  PetscCall(MatCreateSBPSAT(da, &A));
  PetscCall(MatSBPSATSetOrder(A, 4));
  PetscCall(Compare(&sbpsat, "made", A, NULL, n, transport));
  if (!cuda) PetscCall(Refuse(&sbpsat, A));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheTransport transport[4] = {LITHE_TRANSPORT_AUTO, LITHE_TRANSPORT_MPI};
  PetscInt       n            = 4;
  PetscBool      cuda         = PETSC_FALSE, set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-cuda", &cuda, NULL));
  PetscCall(PetscOptionsGetEnumArray(NULL, NULL, "-transports", LitheTransports, (PetscEnum *)transport, &n, &set));
  if (!set) n = 2;
  PetscCall(TestFamily(&vcrs, PETSC_COMM_WORLD, cuda, n, transport));
  PetscCall(TestFamily(&hyb, PETSC_COMM_WORLD, cuda, n, transport));
  PetscCall(TestSBPSAT(PETSC_COMM_WORLD, cuda, n, transport));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "done\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/products.out

    test:
      suffix: host
      nsize: {{1 2 3}}

    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2 4}}
      # what MATAIJ writes on the host may still be on its way to the device from pinned memory: docs/internals/petsc-defects.md
      args: -cuda -transports auto,ipc -vec_pinned_memory_min 100000000

    test:
      suffix: cuda_aside
      requires: cuda
      nsize: 2
      args: -cuda -transports ipc -lithe_halo_overlap 0 -vec_pinned_memory_min 100000000

TEST*/
