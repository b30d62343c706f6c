/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Compressed bases on a device: the host's storage bit by bit, the host's sums and coefficients up to rounding, the same bits each time.\n\
  -other <nccl> : only this test: sums over processes by ipc, within the kernel, and by <nccl> give the same bits; impossible transports are left out\n\
  -late         : only this test: the last process takes no part in a step; run with -lithe_halo_timeout 1\n\n";

#include <petsc.h>
#undef LITHE_HAVE_CUDA /* the device's part is asked of the library */
#include <lithe/private/cb/basis.h>
#include <tests/cbgmres/ksptest.h>
#include <dlfcn.h>
#include <petsctime.h>

#define COLUMNS 11
#define STEPS   8

typedef PetscErrorCode (*Create)(CBBasis);

/* A basis of the host, whose vectors may be on a device */
static PetscErrorCode CreateOnHost(Vec x, PetscInt columns, PetscInt pairs, const LitheStorage *storage, PetscBool products, CBBasis *basis)
{
  PetscInt n, N;
  Vec      host;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)x), &host));
  PetscCall(VecSetSizes(host, n, N));
  PetscCall(VecSetType(host, VECSTANDARD));
  PetscCall(CBBasisCreate(host, columns, pairs, storage, products, basis));
  PetscCall(VecDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CBBasisCreate() for a given implementation, here of the device */
static PetscErrorCode CreateOnDevice(Create create, Vec x, PetscInt columns, PetscInt pairs, const LitheStorage *storage, PetscBool products, CBBasis *basis)
{
  PetscFunctionBeginUser;
  PetscCall(CreateOnHost(x, columns, pairs, storage, products, basis));
  (*basis)->paired = pairs;
  PetscCall((*(*basis)->ops->destroy)(*basis));
  PetscCall((*create)(*basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random numbers of different magnitudes; or of the same magnitude within blocks; or NaN, Inf, and numbers without an
   exponent of their own */
static PetscErrorCode Fill(int seed, Vec x)
{
  static const double special[] = {0., -0., INFINITY, -INFINITY, NAN, 1e-320, 1e-300, 2.3e-308, 1e-30, 6e-8, 1e-4, .5, 1., 3., 1e30, 1.7e308};
  PetscInt            first, n;
  PetscScalar        *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = 0; i < n; i++) {
    const uint64_t  at   = (uint64_t)(first + i);
    const PetscReal wide = (PetscReal)exp(-(seed % 3 ? 300. : 5.) * TestRandom(seed % 3 == 1 ? at / 16 : at, (uint64_t)seed, 2));

    a[i] = TestScalar(at, (uint64_t)seed, 1) * wide;
    if (seed == 6) a[i] = (PetscScalar)special[(i / 32 % 3 ? 5 : 0) + (PetscInt)(TestRandom(at, 3, 4) * (i / 32 % 3 ? 10.99 : 15.99))];
    if (seed == 7 && i % 200 < 70) a[i] = 0.0;
  }
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define SEEDS 8

/* The same bits, except that all NaN are equal, and without "signs" -0 equals 0 */
static PetscErrorCode Same(Vec x, Vec y, PetscBool signs, PetscBool *same)
{
  const PetscScalar *xx, *yy;
  PetscInt           n, differ = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayRead(y, &yy));
  for (PetscInt i = 0; i < n * (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)); i++) {
    const PetscReal a = ((const PetscReal *)xx)[i], b = ((const PetscReal *)yy)[i];

    differ += memcmp(&a, &b, sizeof(a)) && !(a != a && b != b) && (signs || a != b);
  }
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &differ, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  *same = (PetscBool)!differ;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns are the host's, with scaling, in place and not */
static PetscErrorCode TestCodec(CBBasis H, CBBasis D, Vec x, Vec y, Vec hz, Vec dz, const char where[])
{
  PetscBool same;

  PetscFunctionBeginUser;
  for (int seed = 0; seed < SEEDS; seed++) {
    const PetscReal scale = seed % 2 ? (PetscReal)0.37 : (PetscReal)1;

    PetscCall(Fill(seed, x));
    PetscCall(VecCopy(x, y));
    PetscCall((*H->ops->store)(H, seed, scale, x, hz));
    PetscCall((*D->ops->store)(D, seed, scale, x, dz));
    PetscCall(Same(hz, dz, PETSC_TRUE, &same));
    if (WRONG(!same)) FAIL("%s, numbers %d: what the device stores decodes to other bits", where, seed);
    PetscCall((*D->ops->store)(D, seed, scale, y, y));
    PetscCall(Same(hz, y, PETSC_TRUE, &same));
    if (WRONG(!same)) FAIL("%s, numbers %d: in place the device stores other bits", where, seed);
    PetscCall((*D->ops->store)(D, seed, scale, x, NULL));
    PetscCall(VecSet(dz, 5.0));
    PetscCall((*D->ops->load)(D, seed, dz));
    PetscCall(Same(hz, dz, PETSC_TRUE, &same));
    if (WRONG(!same)) FAIL("%s, numbers %d: the device loads other bits", where, seed);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Close(PetscInt n, const PetscScalar a[], const PetscScalar b[], PetscReal tolerance, const char where[], const char what[])
{
  PetscReal worst = 0;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) worst = PetscMax(worst, PetscAbsScalar(a[i] - b[i]));
  if (WRONG(!(worst <= tolerance))) FAIL("%s: %s differ by %g", where, what, (double)worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* combine with one coefficient at a time decodes a column; append and subtract read columns in the same way */
static PetscErrorCode TestColumns(CBBasis H, CBBasis D, PetscInt k, Vec hz, Vec dz, PetscReal tolerance, const char where[])
{
  PetscScalar y[COLUMNS];
  PetscReal   error;
  PetscBool   same;

  PetscFunctionBeginUser;
  for (PetscInt j = 0; j < k; j++) {
    PetscCall((*H->ops->load)(H, j, hz));
    PetscCall(PetscArrayzero(y, COLUMNS));
    y[j] = 1.0;
    PetscCall((*D->ops->combine)(D, k, y, dz));
    PetscCall(Same(hz, dz, PETSC_FALSE, &same));
    if (WRONG(!same)) FAIL("%s: column %" PetscInt_FMT " is read in another way by combine", where, j);
  }
  for (PetscInt j = 0; j < k; j++) y[j] = TestScalar((uint64_t)j, 3, 4);
  PetscCall((*H->ops->combine)(H, k, y, hz));
  PetscCall((*D->ops->combine)(D, k, y, dz));
  PetscCall(VecAXPY(dz, -1.0, hz));
  PetscCall(VecNorm(dz, NORM_INFINITY, &error));
  if (WRONG(!(error <= tolerance))) FAIL("%s: linear combinations differ by %g", where, (double)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two passes from k columns common to both bases. The device's sums are in no array of the host, so coefficients and
   steps are compared */
static PetscErrorCode TestStep(CBBasis H, CBBasis D, PetscInt k, Vec w, Vec hz, Vec dz, PetscReal tolerance, const char where[])
{
  const PetscInt j  = k - 1;
  const size_t   at = (size_t)j * (size_t)H->host.ld;
  PetscScalar    once[COLUMNS + 1];
  PetscReal      error;
  PetscBool      same;
  CBStep         first;
  Vec            hw, dw, again;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w, &hw));
  PetscCall(VecDuplicate(w, &dw));
  PetscCall(VecDuplicate(w, &again));
  PetscCall(VecCopy(w, hw));
  PetscCall(VecCopy(w, dw));
  for (int pass = 0; pass < 2; pass++) {
    CBBasis both[2] = {H, D};

    for (int b = 0; b < 2; b++) {
      CBBasis B = both[b];

      if (pass) PetscCall((*B->ops->subtract)(B, k, b ? dw : hw));
      PetscCall((*B->ops->dot)(B, k, (PetscBool)!pass, b ? dw : hw));
      PetscCall((*B->ops->coefficients)(B, k, pass));
      PetscCall((*B->ops->append)(B, k, b ? dw : hw, b ? dz : hz));
      PetscCall((*B->ops->fetch)(B, j, k));
    }
    /* the second pass makes w small compared with the change by the first pass */
    PetscCall(Close(k + 1, H->host.hessenberg + at, D->host.hessenberg + at, tolerance, where, "coefficients"));
    if (WRONG(!(PetscAbsReal(H->host.step[j].image - D->host.step[j].image) <= tolerance))) FAIL("%s: the norm of w", where);
    if (WRONG(!(PetscAbsReal(H->host.step[j].norm - D->host.step[j].norm) <= tolerance))) FAIL("%s: the norm of the newest column", where);
    if (WRONG(!(PetscAbsReal(H->host.step[j].skew - D->host.step[j].skew) <= tolerance))) FAIL("%s: products with the newest column", where);
    if (WRONG(D->host.step[j].passes != pass + 1)) FAIL("%s: pass %" PetscInt_FMT, where, D->host.step[j].passes);

    /* append must return the same values as load */
    PetscCall((*D->ops->load)(D, k, again));
    PetscCall(Same(dz, again, PETSC_TRUE, &same));
    if (WRONG(!same)) FAIL("%s: append returns another column than it stores", where);
    if (pass) continue;

    /* once more: the same bits */
    PetscCall(PetscArraycpy(once, D->host.hessenberg + at, k + 1));
    PetscCall(VecCopy(dz, again));
    first = D->host.step[j];
    PetscCall((*D->ops->dot)(D, k, PETSC_TRUE, dw));
    PetscCall((*D->ops->coefficients)(D, k, 0));
    PetscCall((*D->ops->append)(D, k, dw, dz));
    PetscCall((*D->ops->fetch)(D, j, k));
    if (WRONG(memcmp(once, D->host.hessenberg + at, (size_t)(k + 1) * sizeof(*once)) || first.norm != D->host.step[j].norm ||
              first.skew != D->host.step[j].skew || first.after != D->host.step[j].after))
      FAIL("%s: the second time the coefficients have other bits", where);
    PetscCall(Same(again, dz, PETSC_TRUE, &same));
    if (WRONG(!same)) FAIL("%s: the second time append stores other bits", where);
  }
  PetscCall(VecAXPY(dw, -1.0, hw));
  PetscCall(VecNorm(dw, NORM_2, &error));
  if (WRONG(!(error <= tolerance))) FAIL("%s: subtract differs by %g", where, (double)error);
  PetscCall(VecDestroy(&hw));
  PetscCall(VecDestroy(&dw));
  PetscCall(VecDestroy(&again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both bases get the same columns of norm 1. Then steps follow from each number of columns, and only the device rounds
   the next columns */
static PetscErrorCode TestSteps(CBBasis H, CBBasis D, Vec x, Vec w, Vec hz, Vec dz, const char where[])
{
  const PetscReal tolerance = 200 * PETSC_MACHINE_EPSILON;
  PetscInt        n;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(x, &n));
  if (n < 64) PetscFunctionReturn(PETSC_SUCCESS); /* the space has too few directions */
  PetscCall(Fill(3000, w));
  PetscCall(VecNormalize(w, NULL));
  for (PetscInt k = 1; k <= STEPS; k++) {
    PetscCall(Fill((int)(3 * k) + 30, x));
    PetscCall(VecNormalize(x, NULL));
    PetscCall((*H->ops->store)(H, k - 1, 1.0, x, hz));
    PetscCall((*D->ops->store)(D, k - 1, 1.0, x, dz));
    PetscCall(TestStep(H, D, k, w, hz, dz, tolerance, where));
    PetscCall(TestColumns(H, D, k, hz, dz, tolerance, where));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStorage(Create create, Vec x, LitheStorageKind kind, int bits, int exponentbits)
{
  LitheStorage storage;
  CBBasis      H, D;
  PetscInt     n;
  Vec          y, w, hz, dz;
  char         where[96];

  PetscFunctionBeginUser;
  if (!LitheStorageSetUp(&storage, kind, bits, exponentbits)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &hz));
  PetscCall(VecDuplicate(x, &dz));
  /* and with two columns in two parts, if there are enough bits */
  for (int way = 0; way < (storage.bits >= 16 ? 3 : 2); way++) {
    const PetscBool products = (PetscBool)(way > 0);
    const PetscInt  pairs    = way == 2 ? 2 : 0;

    PetscCall(PetscSNPrintf(where, sizeof(where), "n %" PetscInt_FMT ", storage %d, %d bits, exponents of %d, %s, %" PetscInt_FMT " pairs", n, (int)kind,
                            storage.bits, exponentbits, products ? "norm 1" : "any norm", pairs));
    PetscCall(CreateOnHost(x, COLUMNS, pairs, &storage, products, &H));
    H->paired = pairs;
    PetscCall(CreateOnDevice(create, x, COLUMNS, pairs, &storage, products, &D));
    PetscCall(TestCodec(H, D, x, y, hz, dz, where));
    /* fewer than six bits are no basis */
    if (products && storage.bits >= 6) PetscCall(TestSteps(H, D, x, w, hz, dz, where));
    PetscCall(CBBasisDestroy(&H));
    PetscCall(CBBasisDestroy(&D));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&hz));
  PetscCall(VecDestroy(&dz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSize(Create create, PetscInt n)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DECIDE));
  PetscCall(VecSetType(x, VECCUDA));
  PetscCall(TestStorage(create, x, LITHE_STORAGE_FULL, 0, 0));
  PetscCall(TestStorage(create, x, LITHE_STORAGE_SINGLE, 0, 0));
  PetscCall(TestStorage(create, x, LITHE_STORAGE_HALF, 0, 0));
  PetscCall(TestStorage(create, x, LITHE_STORAGE_BFLOAT16, 0, 0));
  for (int bits = LITHE_FRSZ2_MIN_BITS; bits <= LITHE_FRSZ2_MAX_BITS; bits++) {
    /* not every width for every length; several processes use only widths with special kernels, because processes
       exchange only sums */
    if (((bits + n) % 5 || size > 1) && bits != 32 && bits != 21 && bits != 16) continue;
    PetscCall(TestStorage(create, x, LITHE_STORAGE_FRSZ2, bits, 8));
    PetscCall(TestStorage(create, x, LITHE_STORAGE_FRSZ2, bits, 16));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More columns than a launch has sums of, and more than coefficients are kept of */
static PetscErrorCode TestMany(Create create, PetscInt n, PetscInt columns)
{
  LitheStorage storage;
  CBBasis      H, D;
  Vec          x, w, hz, dz;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DECIDE));
  PetscCall(VecSetType(x, VECCUDA));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &hz));
  PetscCall(VecDuplicate(x, &dz));
  LitheStorageSetUp(&storage, LITHE_STORAGE_FRSZ2, 16, 8);
  PetscCall(CreateOnHost(x, columns + 1, 0, &storage, PETSC_TRUE, &H));
  PetscCall(CreateOnDevice(create, x, columns + 1, 0, &storage, PETSC_TRUE, &D));
  PetscCall(Fill(3000, w));
  for (PetscInt k = 1; k <= columns; k++) {
    PetscReal worst = 0;

    PetscCall(Fill((int)(3 * k) + 30, x));
    PetscCall(VecNormalize(x, NULL));
    PetscCall((*H->ops->store)(H, k - 1, 1.0, x, hz));
    PetscCall((*D->ops->store)(D, k - 1, 1.0, x, dz));
    PetscCall((*H->ops->dot)(H, k, PETSC_TRUE, w));
    PetscCall((*H->ops->coefficients)(H, k, 0));
    PetscCall((*D->ops->dot)(D, k, PETSC_TRUE, w));
    PetscCall((*D->ops->coefficients)(D, k, 0));
    PetscCall((*D->ops->fetch)(D, k - 1, k));
    for (PetscInt i = 0; i < k; i++)
      worst = PetscMax(worst, PetscAbsScalar(H->host.hessenberg[(k - 1) * H->host.ld + i] - D->host.hessenberg[(k - 1) * D->host.ld + i]));
    if (WRONG(!(worst <= 1e5 * PETSC_MACHINE_EPSILON))) FAIL("%" PetscInt_FMT " columns: coefficients differ by %g", k, (double)worst);
  }
  PetscCall((*H->ops->subtract)(H, columns, w));
  PetscCall(Fill(3000, x));
  PetscCall((*D->ops->subtract)(D, columns, x));
  PetscCall(VecAXPY(x, -1.0, w));
  PetscCall(VecNorm(x, NORM_INFINITY, &H->host.step[0].norm));
  if (WRONG(!(H->host.step[0].norm <= 1e5 * PETSC_MACHINE_EPSILON)))
    FAIL("%" PetscInt_FMT " columns: subtract differs by %g", columns, (double)H->host.step[0].norm);
  PetscCall(CBBasisDestroy(&H));
  PetscCall(CBBasisDestroy(&D));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&hz));
  PetscCall(VecDestroy(&dz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL: the transport is impossible here */
static PetscErrorCode CreateByTransport(Create create, Vec x, PetscInt columns, const char transport[], CBBasis *basis)
{
  LitheStorage   storage;
  PetscErrorCode ierr;
  LitheTransport is;

  PetscFunctionBeginUser;
  LitheStorageSetUp(&storage, LITHE_STORAGE_FRSZ2, 32, 8);
  PetscCall(PetscOptionsSetValue(NULL, "-lithe_reduce_transport", transport));
  PetscCall(CreateOnHost(x, columns, 0, &storage, PETSC_TRUE, basis));
  PetscCall((*(*basis)->ops->destroy)(*basis));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = (*create)(*basis);
  PetscCall(PetscPopErrorHandler());
  if (ierr == PETSC_ERR_ARG_INCOMP) {
    PetscCall(CBBasisDestroy(basis));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ierr);
  PetscCall(LitheReduceGetTransport((*basis)->sums, &is, NULL));
  if (WRONG(strcmp(LitheTransports[is], transport))) FAIL("sums are by %s, not by %s", LitheTransports[is], transport);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestTransports(Create create, PetscInt n, PetscInt columns, const char other[])
{
  const char *name[2] = {"ipc", other};
  CBBasis     both[2];
  Vec         x, w, z;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DECIDE));
  PetscCall(VecSetType(x, VECCUDA));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &z));
  for (int b = 0; b < 2; b++) PetscCall(CreateByTransport(create, x, columns + 1, name[b], &both[b]));
  PetscCall(Fill(3000, w));
  for (PetscInt k = 1; k <= columns && both[0] && both[1]; k++) {
    const size_t at = (size_t)(k - 1) * (size_t)both[0]->host.ld;

    PetscCall(Fill((int)(3 * k) + 30, x));
    PetscCall(VecNormalize(x, NULL));
    for (int pass = 0; pass < 2; pass++) {
      const CBStep *step[2];

      for (int b = 0; b < 2; b++) {
        CBBasis B = both[b];

        if (!pass) PetscCall((*B->ops->store)(B, k - 1, 1.0, x, z));
        PetscCall((*B->ops->dot)(B, k, (PetscBool)!pass, w));
        PetscCall((*B->ops->coefficients)(B, k, pass));
        PetscCall((*B->ops->fetch)(B, k - 1, k));
        step[b] = B->host.step + (k - 1);
      }
      if (WRONG(memcmp(both[0]->host.hessenberg + at, both[1]->host.hessenberg + at, (size_t)(k + 1) * sizeof(PetscScalar)) ||
                step[0]->after != step[1]->after || step[0]->image != step[1]->image || step[0]->norm != step[1]->norm))
        FAIL("%" PetscInt_FMT " columns, pass %d: coefficients by ipc and by %s have other bits", k, pass, other);
    }
  }
  for (int b = 0; b < 2; b++) PetscCall(CBBasisDestroy(&both[b]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes take part in a step; then the last process stays away. The others are told in time */
static PetscErrorCode TestLate(Create create)
{
  PetscErrorCode ierr = PETSC_SUCCESS;
  PetscLogDouble begin, end;
  CBBasis        B;
  Vec            w, z;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &w));
  PetscCall(VecSetSizes(w, 4000, PETSC_DECIDE));
  PetscCall(VecSetType(w, VECCUDA));
  PetscCall(VecDuplicate(w, &z));
  PetscCall(Fill(30, w));
  PetscCall(VecNormalize(w, NULL));
  PetscCall(CreateByTransport(create, w, 20, "ipc", &B));
  if (!B) {
    /* devices which cannot map each other's memory: the tests of the transports report this */
    PetscCall(PetscInfo(w, "There is no ipc here, nothing to be late for\n"));
    PetscCall(VecDestroy(&w));
    PetscCall(VecDestroy(&z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*B->ops->store)(B, 0, 1.0, w, z));
  PetscCall((*B->ops->dot)(B, 1, PETSC_TRUE, w));
  PetscCall((*B->ops->coefficients)(B, 1, 0));
  PetscCall((*B->ops->fetch)(B, 0, 1));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(&begin));
  if (rank != size - 1) {
    PetscCall((*B->ops->dot)(B, 1, PETSC_FALSE, w));
    PetscCall((*B->ops->coefficients)(B, 1, 1));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = (*B->ops->fetch)(B, 0, 1);
    PetscCall(PetscPopErrorHandler());
    if (ierr != PETSC_ERR_GPU) PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] error %d\n", rank, (int)ierr));
  }
  PetscCall(PetscTime(&end));
  if (end - begin > 20.) PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] it took %g s\n", rank, end - begin));
  PetscCall(CBBasisDestroy(&B));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[] = {0, 1, 17, 32, 257, 1555, 40007};
  char                  other[16];
  PetscBool             late = PETSC_FALSE, set;
  Create                create;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  /* a library without CUDA has none */
  *(void **)&create = dlsym(RTLD_DEFAULT, "CBBasisCreate_Device");
  PetscCheck(create, PETSC_COMM_WORLD, PETSC_ERR_SUP, "This Lithe was built without CUDA");
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-late", &late, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-other", other, sizeof(other), &set));
  if (late) PetscCall(TestLate(create));
  else if (set) PetscCall(TestTransports(create, 40007, 290, other));
  else {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sizes); i++) PetscCall(TestSize(create, sizes[i]));
    PetscCall(TestMany(create, 1100, 290));
  }
  return TestEnd(late || set ? 1 : 4, "all is right\n");
}

/*TEST

  test:
    requires: cuda
    nsize: {{1 2}}
    output_file: output/right.out

  test:
    suffix: transports
    requires: cuda
    nsize: {{2 4}}
    args: -other nccl
    output_file: output/right.out

  test:
    suffix: late
    requires: cuda
    nsize: 2
    args: -late -lithe_halo_timeout 1
    output_file: output/right.out

TEST*/
