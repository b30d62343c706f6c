/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Compressed bases: every operation against the definition, Arnoldi's relation and orthogonality, in every storage.\n\n";

#include <lithe/private/cb/basisdevice.h>
#include <tests/cbgmres/ksptest.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define COLUMNS 9

/* The storages of storages[], and more widths of FRSZ2 */
static int SetStorage(int which, int exponentbits, LitheStorage *s)
{
  static const LitheStorageKind kinds[] = {LITHE_STORAGE_FULL, LITHE_STORAGE_SINGLE, LITHE_STORAGE_HALF, LITHE_STORAGE_BFLOAT16};

  if (which < 4) return exponentbits == 8 && LitheStorageSetUp(s, kinds[which], 0, 0);
  return LitheStorageSetUp(s, LITHE_STORAGE_FRSZ2, which - 4, exponentbits);
}
#define MOST_STORAGES (4 + LITHE_FRSZ2_MAX_BITS)

/* Numbers of very different sizes, of norm 1 altogether; not the same for all seeds */
static PetscErrorCode FillUnit(Vec x, int seed)
{
  PetscInt     first, n;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = 0; i < n; i++)
    a[i] = TestScalar((uint64_t)(first + i), (uint64_t)seed, 1) * (PetscReal)exp(-5. * TestRandom((uint64_t)(first + i), (uint64_t)seed, 2));
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(VecGetSize(x, &n));
  if (n) PetscCall(VecNormalize(x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds v to its storage on this process, by the codec */
static PetscErrorCode Round(CBBasis B, Vec v)
{
  void        *values, *exponents;
  PetscReal   *x;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(B->vbytes, &values));
  PetscCall(PetscMalloc(B->ebytes, &exponents));
  PetscCall(VecGetArray(v, &a));
  x = (PetscReal *)a;
  for (size_t i = 0; i < B->n; i++) x[i] *= (PetscReal)LithePow2(B->shift);
  for (size_t b = 0; b < LitheStorageBlocks(B->n); b++) {
    const size_t first = b * LITHE_FRSZ2_BLOCK, rest = B->n - first;
    const int    n = rest < LITHE_FRSZ2_BLOCK ? (int)rest : LITHE_FRSZ2_BLOCK;

    LitheStorageEncodeBlock(&B->storage, B->base, b, n, x + first, values, exponents);
    LitheStorageDecodeBlock(&B->storage, B->base, b, n, values, exponents, x + first);
  }
  for (size_t i = 0; i < B->n; i++) x[i] *= (PetscReal)LithePow2(-B->shift);
  PetscCall(VecRestoreArray(v, &a));
  PetscCall(PetscFree(values));
  PetscCall(PetscFree(exponents));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* store and load are rounding by the codec, bit by bit */
static PetscErrorCode TestStore(CBBasis B, Vec v[], Vec z, const char where[])
{
  Vec       y;
  PetscReal difference;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(z, &y));
  for (int j = 0; j < COLUMNS; j++) {
    PetscCall(FillUnit(y, j));
    PetscCall((*B->ops->store)(B, j, 1.0, y, j % 2 ? y : z));
    PetscCall(FillUnit(v[j], j));
    PetscCall(Round(B, v[j]));
    PetscCall(TestSameBits(v[j], j % 2 ? y : z, &same));
    if (WRONG(!same)) FAIL("%s: column %d is not what the codec makes of it", where, j);
  }
  for (int j = 0; j < COLUMNS; j++) {
    PetscCall((*B->ops->load)(B, j, z));
    PetscCall(VecAXPY(z, -1.0, v[j]));
    PetscCall(VecNorm(z, NORM_INFINITY, &difference));
    if (WRONG(difference != 0.0)) FAIL("%s: column %d is not what was stored", where, j);
  }
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN, Inf, numbers without an exponent of their own, and zeros, as the codec rounds these */
static PetscErrorCode TestSpecial(CBBasis B, Vec z, const char where[])
{
  static const double special[] = {0., -0., INFINITY, -INFINITY, NAN, 1e-320, 1e-30, 6e-8, 1e-4, .5, 1., 3., 1e30};
  PetscInt            n, wrong = 0;
  PetscScalar        *a, *r;
  Vec                 y;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(z, &y));
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayWrite(y, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = (PetscReal)special[i % 150 < 80 ? 5 + i % 7 : i % (PetscInt)PETSC_STATIC_ARRAY_LENGTH(special)];
  PetscCall(VecRestoreArrayWrite(y, &a));
  PetscCall((*B->ops->store)(B, 0, 1.0, y, z));
  PetscCall(Round(B, y));
  PetscCall(VecGetArray(y, &r));
  PetscCall(VecGetArray(z, &a));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal x = PetscRealPart(a[i]), e = PetscRealPart(r[i]);

    wrong += !(x == e || (x != x && e != e));
  }
  PetscCall(VecRestoreArray(y, &r));
  PetscCall(VecRestoreArray(z, &a));
  PetscCall(VecSet(z, 0.0));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) FAIL("%s: %" PetscInt_FMT " special numbers are not what the codec makes of them", where, wrong);
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies numbers of a basis between the device and the host's copy; on the host both are the same memory */
static PetscErrorCode CopyScalars(CBBasis B, PetscScalar *host, size_t n, PetscBool todevice)
{
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(B->where, "device", &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_CUDA)
  {
    const CBDevice *d  = (const CBDevice *)B->data;
    PetscScalar    *at = host == B->host.sums ? d->scalars.sums : d->scalars.hessenberg + (host - B->host.hessenberg);

    if (host == B->host.c) at = d->scalars.c;
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaMemcpy(todevice ? at : host, todevice ? host : at, n * sizeof(*at), todevice ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost));
  }
#else
  (void)host;
  (void)n;
  (void)todevice;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums against VecDot() with the decoded columns */
static PetscErrorCode TestDot(CBBasis B, Vec v[], Vec w, const char where[])
{
  const PetscReal tolerance = 100 * PETSC_MACHINE_EPSILON;
  PetscScalar     reference, again[2 * COLUMNS + 1];
  PetscBool       same;

  PetscFunctionBeginUser;
  for (int k = 1; k <= COLUMNS; k += 4) {
    for (int gram = 1; gram >= 0; gram--) {
      PetscCall((*B->ops->dot)(B, k, (PetscBool)gram, w));
      PetscCall((*B->ops->coefficients)(B, k, !gram));
      PetscCall(CopyScalars(B, B->host.sums, (size_t)(2 * k + 1), PETSC_FALSE));
      for (int i = 0; i < k; i++) {
        PetscCall(VecDot(v[k - 1], v[i], &reference));
        if (WRONG(!(PetscAbsScalar(B->host.sums[i] - reference) <= tolerance))) FAIL("%s: product of columns %d and %d", where, i, k - 1);
        PetscCall(VecDot(w, v[i], &reference));
        if (WRONG(!(PetscAbsScalar(B->host.sums[k + i] - reference) <= tolerance))) FAIL("%s: product with column %d of %d", where, i, k);
      }
      PetscCall(VecDot(w, w, &reference));
      if (WRONG(!(PetscAbsScalar(B->host.sums[2 * k] - reference) <= tolerance))) FAIL("%s: square of the norm", where);
      if (gram) PetscCall(PetscArraycpy(again, B->host.sums, 2 * k + 1));
      PetscCall(PetscMemcmp(again, B->host.sums, (size_t)(2 * k + 1) * sizeof(PetscScalar), &same));
      if (WRONG(!same)) FAIL("%s: the second time the sums have other bits", where);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* combine, subtract and append with any coefficients */
static PetscErrorCode TestUpdate(CBBasis B, Vec v[], Vec w, Vec z, double unit, const char where[])
{
  const PetscInt  k         = COLUMNS - 1;
  const PetscReal tolerance = 100 * PETSC_MACHINE_EPSILON, sigma = 0.75;
  PetscScalar     y[COLUMNS];
  PetscReal       norm, error;
  PetscBool       same;
  Vec             x, u;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(z, &x));
  PetscCall(VecDuplicate(z, &u));
  for (int i = 0; i < k; i++) y[i] = TestScalar((uint64_t)i, 3, 4);
  PetscCall((*B->ops->combine)(B, k, y, x));
  PetscCall(VecMAXPBY(u, k, y, 0, v));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  if (WRONG(!(error <= tolerance))) FAIL("%s: a linear combination is wrong by %g", where, (double)error);

  /* u is w - V c. append divides w by sigma, and leaves w unchanged */
  PetscCall(VecAYPX(u, -1.0, w));
  for (int i = 0; i < k; i++) B->host.c[i] = y[i];
  B->host.hessenberg[(k - 1) * B->host.ld + k] = sigma;
  PetscCall(CopyScalars(B, B->host.c, (size_t)k, PETSC_TRUE));
  PetscCall(CopyScalars(B, B->host.hessenberg + (k - 1) * B->host.ld + k, 1, PETSC_TRUE));
  PetscCall(VecNorm(u, NORM_2, &norm));
  PetscCall(VecCopy(w, x));
  PetscCall((*B->ops->append)(B, k, x, z));
  PetscCall(TestSameBits(x, w, &same));
  if (WRONG(!same)) FAIL("%s: append changes its vector", where);
  PetscCall((*B->ops->load)(B, k, x));
  PetscCall(TestSameBits(x, z, &same));
  PetscCall(VecAXPY(x, -1.0, z));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  if (WRONG(error != 0.0)) FAIL("%s: append returns another column than it stores", where);
  PetscCall(VecAXPY(z, -1.0 / sigma, u));
  PetscCall(VecNorm(z, NORM_2, &error));
  if (WRONG(!(error <= (unit + tolerance) * norm / sigma))) FAIL("%s: an appended column is wrong by %g", where, (double)(error * sigma / norm));

  PetscCall(VecCopy(w, x));
  PetscCall((*B->ops->subtract)(B, k, x));
  PetscCall(VecAXPY(x, -1.0, u));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  if (WRONG(!(error <= tolerance))) FAIL("%s: subtract is wrong by %g", where, (double)error);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest rounding error of a storage, relative to the norm; for blocks of FRSZ2 relative to the largest numbers */
static double Unit(const LitheStorage *s)
{
  switch (s->kind) {
  case LITHE_STORAGE_FULL:
    return 0;
  case LITHE_STORAGE_SINGLE:
    return sizeof(PetscReal) == 4 ? 0 : ldexp(1, -24);
  case LITHE_STORAGE_HALF:
    return ldexp(1, -11);
  case LITHE_STORAGE_BFLOAT16:
    return ldexp(1, -8);
  case LITHE_STORAGE_FRSZ2:
    return sqrt(32.) / (ldexp(1, s->bits - 1) - .5);
  }
  return 0;
}

/* A vector in two parts has the precision of a storage with twice as many bits. The second parts are stored behind the
   columns only */
static PetscErrorCode TestPairs(PetscInt n, const LitheStorage *storage, const char where[])
{
  const PetscReal unit = (PetscReal)Unit(storage);
  PetscScalar     one[COLUMNS];
  PetscReal       error;
  PetscBool       same;
  CBBasis         B;
  Vec             x, y, z, v;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DECIDE));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &v));
  PetscCall(CBBasisCreate(x, COLUMNS, 2, storage, PETSC_TRUE, &B));
  B->paired = 2;
  for (PetscInt j = 0; j < 3; j++) {
    PetscCall(FillUnit(x, (int)(90 + j)));
    PetscCall((*B->ops->store)(B, j, 1.0, x, z));
  }
  for (PetscInt j = 0; j < 3; j++) {
    PetscCall(FillUnit(x, (int)(90 + j)));
    PetscCall((*B->ops->store)(B, j, 1.0, x, z));
    PetscCall(VecCopy(z, y));
    PetscCall(VecAXPY(y, -1.0, x));
    PetscCall(VecNorm(y, NORM_2, &error));
    if (WRONG(!(error <= (j < 2 ? 2 * unit * unit + PETSC_MACHINE_EPSILON : unit))))
      FAIL("%s: column %" PetscInt_FMT " in two parts is wrong by %g", where, j, (double)error);
    PetscCall((*B->ops->load)(B, j, y));
    PetscCall(VecEqual(y, z, &same));
    if (WRONG(!same)) FAIL("%s: column %" PetscInt_FMT " in two parts is loaded as another one", where, j);
    for (PetscInt i = 0; i < COLUMNS; i++) one[i] = i == j ? 1.0 : 0.0;
    PetscCall((*B->ops->combine)(B, 3, one, y));
    PetscCall(VecEqual(y, z, &same));
    if (WRONG(!same)) FAIL("%s: column %" PetscInt_FMT " in two parts is combined as another one", where, j);

    /* use the values which inner products see */
    B->paired = 0;
    PetscCall((*B->ops->load)(B, j, y));
    PetscCall((*B->ops->store)(B, COLUMNS - 1, 1.0, x, v));
    PetscCall(VecEqual(y, v, &same));
    if (WRONG(!same)) FAIL("%s: the first part of column %" PetscInt_FMT " is another column", where, j);
    B->paired = 2;
  }
  PetscCall(CBBasisDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All operations on vectors of n numbers per process */
static PetscErrorCode TestOperations(PetscInt n)
{
  Vec x, w, *v;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DECIDE));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicateVecs(x, COLUMNS, &v));
  PetscCall(FillUnit(w, 77));
  for (int which = 0; which <= MOST_STORAGES; which++) {
    /* not each width for each length */
    if (which > 4 && (which + n) % 5 && which != 4 + 32 && which != 4 + 16 && which != 4 + 21) continue;
    for (int exponentbits = 8; exponentbits <= 16; exponentbits += 8) {
      LitheStorage storage;
      CBBasis      B;
      char         where[64];

      if (!SetStorage(which, exponentbits, &storage)) continue;
      PetscCall(
        PetscSNPrintf(where, sizeof(where), "n %" PetscInt_FMT ", storage %d, %d bits, exponents of %d", n, (int)storage.kind, storage.bits, exponentbits));
      PetscCall(CBBasisCreate(x, COLUMNS, 0, &storage, PETSC_TRUE, &B));
      PetscCall(TestSpecial(B, x, where));
      PetscCall(TestStore(B, v, x, where));
      PetscCall(TestDot(B, v, w, where));
      PetscCall(TestUpdate(B, v, w, x, Unit(&storage), where));
      PetscCall(CBBasisDestroy(&B));
      if (storage.bits >= 20 && storage.kind != LITHE_STORAGE_FULL) PetscCall(TestPairs(n, &storage, where));
    }
  }
  PetscCall(VecDestroyVecs(COLUMNS, &v));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Arnoldi's method with one pass per step. Few columns of the matrix carry the start vector, so w loses length. The
   relation of each column holds up to the rounding of the next column. A second part makes this rounding negligible.
   Columns are orthogonal within the precision of the storage.
*/
static PetscErrorCode TestArnoldi(Mat A, const LitheStorage *storage, PetscInt pairs, PetscInt steps, const char where[])
{
  const PetscReal unit = (PetscReal)Unit(storage), eps = PETSC_MACHINE_EPSILON;
  PetscReal       worst = 0, skew = 0, error, norm, shrink = 1;
  CBBasis         B;
  Vec             z, w, v, r;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &z, &w));
  PetscCall(VecDuplicate(w, &v));
  PetscCall(VecDuplicate(w, &r));
  PetscCall(CBBasisCreate(z, steps + 1, pairs, storage, PETSC_TRUE, &B));
  B->paired = pairs;
  PetscCall(FillUnit(w, 5));
  PetscCall((*B->ops->store)(B, 0, 1.0, w, z));
  for (PetscInt j = 0; j < steps; j++) {
    const PetscScalar *h = B->host.hessenberg + j * B->host.ld;

    PetscCall(MatMult(A, z, w));
    PetscCall((*B->ops->dot)(B, j + 1, PETSC_TRUE, w));
    PetscCall((*B->ops->coefficients)(B, j + 1, 0));
    PetscCall((*B->ops->append)(B, j + 1, w, z));
    PetscCall((*B->ops->fetch)(B, j, j + 1));
    shrink = PetscMin(shrink, PetscSqrtReal(B->host.step[j].after / B->host.step[j].image));

    /* M v_j - V h - sigma v_(j+1) */
    PetscCall((*B->ops->combine)(B, j + 2, h, r));
    PetscCall(VecAYPX(r, -1.0, w));
    PetscCall(VecNorm(r, NORM_2, &error));
    PetscCall(VecNorm(w, NORM_2, &norm));
    if (j + 1 < pairs) worst = PetscMax(worst, error / (unit * unit * PetscRealPart(h[j + 1]) + 50 * eps * norm));
    /* rounding errors from inner products without the second parts, and of steps beyond CB_PAIR_STEPS */
    else worst = PetscMax(worst, error / (unit * PetscRealPart(h[j + 1]) + 50 * eps * norm + (j < CB_PAIR_STEPS || !pairs ? 0 : unit * norm)));
    if (j) skew = PetscMax(skew, PetscSqrtReal(B->host.step[j].skew));
  }
  if (WRONG(!(worst <= 1.05))) FAIL("%s: Arnoldi's relation is wrong by %g times the rounding of a column", where, (double)worst);

  /* rounding of a column, and rounding of arithmetic, which is large if w has become short */
  if (WRONG(!(skew <= 3 * unit / (pairs ? shrink : 1) + 100 * eps / shrink)))
    FAIL("%s: columns are orthogonal up to %g only, rounding being %g", where, (double)skew, (double)unit);
  PetscCall(CBBasisDestroy(&B));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRelation(void)
{
  static const TestKind kinds[] = {TEST_CONVECTION, TEST_STAR7, TEST_RESERVOIR, TEST_FEM};

  PetscFunctionBeginUser;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(kinds); m++) {
    Mat A;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kinds[m], 0, &A));
    for (int which = 0; which <= MOST_STORAGES; which++) {
      LitheStorage storage;
      char         where[64];

      if (!SetStorage(which, 8, &storage)) continue;
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s, storage %d, %d bits", TestKindNames[kinds[m]], (int)storage.kind, storage.bits));
      PetscCall(TestArnoldi(A, &storage, 0, 20, where));
      if (storage.bits < 20 || storage.kind == LITHE_STORAGE_FULL) continue;
      PetscCall(PetscStrlcat(where, ", in two parts", sizeof(where)));
      PetscCall(TestArnoldi(A, &storage, 2, 20, where));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[] = {0, 1, 16, 17, 32, 255, 257, 700, 1555};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(sizes); i++) PetscCall(TestOperations(sizes[i]));
  PetscCall(TestRelation());
  return TestEnd(18900, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2}}

  test:
    suffix: cuda
    requires: cuda
    args: -vec_type cuda
    output_file: output/right.out

TEST*/
