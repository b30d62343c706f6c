/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Parallel matrices are compressed in the memory of their blocks: conversions and copies of PCVCRS, against the host's.\n\n";

/*
   The matrix is made twice: as MATAIJ, and with the type of -mat_type. A MATAIJCUSPARSE has its blocks on devices only.
   The blocks must still be there after a conversion without loss, and after a copy by PCVCRS with any loss.
*/

#include <tests/failures.h>
#include <tests/vcrs/vcrstest.h>
#include <petsc/private/matimpl.h>
#include <lithepc.h>

/* Who has which rows and columns */
typedef enum {
  SPREAD_EVEN,
  SPREAD_FIRST, /* all on the first process */
  SPREAD_LAST,
  SPREAD_BLOCKS, /* even, without entries off the diagonal blocks */
  SPREADS
} Spread;
static const char *const SpreadNames[] = {"even", "all on the first process", "all on the last process", "diagonal blocks alone"};

static const char *const losses[] = {"-mat_vcrs_loss none",
                                     "-mat_vcrs_loss log -mat_vcrs_bits 8",
                                     "-mat_vcrs_loss log -mat_vcrs_bits 16",
                                     "-mat_vcrs_loss fixed -mat_vcrs_bits 8",
                                     "-mat_vcrs_loss fixed -mat_vcrs_bits 16 -mat_vcrs_preserve_row_sums 0",
                                     "-mat_vcrs_loss classes",
                                     "-mat_vcrs_loss bins -mat_vcrs_bins 1000",
                                     "-mat_vcrs_loss binclasses -mat_vcrs_bins 1000",
                                     "-mat_vcrs_loss single"};

static const TestKind kinds[] = {TEST_RESERVOIR, TEST_FEM,  TEST_TALL,   TEST_WIDE,      TEST_RANDOM, TEST_BOX27,    TEST_CONVECTION, TEST_COLUMN,
                                 TEST_NONE,      TEST_ZERO, TEST_NOROWS, TEST_NOCOLUMNS, TEST_DENSE,  TEST_LONGROWS, TEST_NODIAGONAL};

/* number of kinds which are distributed in all ways; the other kinds are distributed evenly */
#define SPREAD_KINDS 5

static PetscErrorCode CreateMatrix(TestKind kind, Spread spread, int round, Mat *A)
{
  PetscInt          m, n, begin, end, first, last, len, cols[TEST_LONGEST];
  PetscScalar       vals[TEST_LONGEST];
  const PetscMPIInt owner = spread == SPREAD_FIRST ? 0 : -1;

  PetscFunctionBeginUser;
  TestKindSize(kind, &m, &n);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  if (spread == SPREAD_FIRST || spread == SPREAD_LAST) {
    const PetscBool mine = (PetscBool)(rank == (owner == 0 ? 0 : size - 1));

    PetscCall(MatSetSizes(*A, mine ? m : 0, mine ? n : 0, m, n));
  } else PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  PetscCall(MatGetOwnershipRangeColumn(*A, &first, &last));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt k = 0;

    TestKindRow(kind, i, round, &len, cols, vals);
    for (PetscInt c = 0; c < len; c++) {
      if (spread == SPREAD_BLOCKS && (cols[c] < first || cols[c] >= last)) continue;
      cols[k]   = cols[c];
      vals[k++] = vals[c];
    }
    PetscCall(MatSetValues(*A, 1, &i, k, cols, vals, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (TestKindIsSymmetric(kind) && !PetscDefined(USE_COMPLEX)) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the blocks of A with entries, and the blocks which are on the device only */
static PetscErrorCode CountBlocks(Mat A, PetscInt *all, PetscInt *there)
{
  Mat       block[2] = {A, NULL};
  PetscBool parallel;
  PetscInt  count[2] = {0, 0};
  MatInfo   info;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int k = 0; k < 2 && block[k]; k++) {
    PetscCall(MatGetInfo(block[k], MAT_LOCAL, &info));
    if (!(info.nz_used > 0.0)) continue;
    count[0]++;
#if PetscDefined(HAVE_DEVICE)
    if (block[k]->offloadmask == PETSC_OFFLOAD_GPU) count[1]++;
#endif
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  *all   = count[0];
  *there = count[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same matrix with another type; on devices its values are on the device only */
static PetscErrorCode CreateOther(Mat host, MatType type, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(host, type, MAT_INITIAL_MATRIX, A));
  PetscCall(MatPropagateSymmetryOptions(host, *A));
  PetscCall(MatScale(*A, 2.0)); /* scales where products run; both numbers are exact */
  PetscCall(MatScale(*A, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckThere(Mat A, PetscBool device, const char where[], const char what[])
{
  PetscInt all, there;

  PetscFunctionBeginUser;
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CountBlocks(A, &all, &there));
  if (WRONG(all != there)) FAIL("%s: %" PetscInt_FMT " of %" PetscInt_FMT " blocks are on the device alone %s", where, there, all, what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of two matrices, with vectors of the first matrix's type for the first, and host vectors for the second */
static PetscErrorCode CompareProducts(Mat B, Mat C, PetscReal tolerance, const char where[], const char what[])
{
  PetscFunctionBeginUser;
  for (int transposed = 0; transposed < 2; transposed++) {
    Vec       x[2], y[2], z;
    PetscReal norm, error;

    PetscCall(MatCreateVecs(B, transposed ? &y[0] : &x[0], transposed ? &x[0] : &y[0]));
    PetscCall(TestCreateVec(C, (PetscBool)transposed, "none_", 3, &x[1]));
    PetscCall(TestCreateVec(C, (PetscBool)!transposed, "none_", 3, &y[1]));
    PetscCall(VecDuplicate(y[1], &z));
    PetscCall(VecCopy(x[1], x[0]));
    if (transposed) {
      PetscCall(MatMultTranspose(B, x[0], y[0]));
      PetscCall(MatMultTranspose(C, x[1], y[1]));
    } else {
      PetscCall(MatMult(B, x[0], y[0]));
      PetscCall(MatMult(C, x[1], y[1]));
    }
    PetscCall(VecCopy(y[0], z));
    PetscCall(VecNorm(y[1], NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1.0, y[1]));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    if (WRONG(!(error <= tolerance * (norm > 0.0 ? norm : 1.0))))
      FAIL("%s: %s%s differ by %g of %g", where, what, transposed ? ", transposed," : "", (double)error, (double)norm);
    for (int k = 0; k < 2; k++) {
      PetscCall(VecDestroy(&x[k]));
      PetscCall(VecDestroy(&y[k]));
    }
    PetscCall(VecDestroy(&z));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of two matrices without arrays, which are the entries of their products */
static PetscErrorCode CompareEntries(Mat B, Mat C, PetscReal tolerance, const char where[], const char what[])
{
  PetscInt  begin, end;
  PetscReal worst = 0.0, largest = 0.0, extreme[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(C, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           n, nb, j[TEST_LONGEST];
    PetscScalar        v[TEST_LONGEST];
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(C, i, &n, &cols, &vals));
    PetscCall(PetscArraycpy(j, cols, n));
    PetscCall(PetscArraycpy(v, vals, n));
    PetscCall(MatRestoreRow(C, i, NULL, &cols, &vals));
    PetscCall(MatGetRow(B, i, &nb, &cols, &vals));
    if (n != nb) worst = PETSC_MAX_REAL;
    for (PetscInt k = 0; k < PetscMin(n, nb); k++) {
      if (j[k] != cols[k]) worst = PETSC_MAX_REAL;
      worst   = PetscMax(worst, PetscAbsScalar(v[k] - vals[k]));
      largest = PetscMax(largest, PetscAbsScalar(v[k]));
    }
    PetscCall(MatRestoreRow(B, i, NULL, &cols, &vals));
  }
  extreme[0] = worst;
  extreme[1] = largest;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, extreme, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  if (WRONG(!(extreme[0] <= tolerance * extreme[1]))) FAIL("%s: entries %s differ by %g of %g", where, what, (double)extreme[0], (double)extreme[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares conversions of A with conversions of host, which has the same entries, with options from the database */
static PetscErrorCode TestConvert(Mat host, Mat A, PetscBool lossless, PetscBool device, const char where[])
{
  const PetscReal tolerance = 2000 * PETSC_MACHINE_EPSILON;
  Mat             B, C;
  PetscBool       is;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(host, MATVCRS, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
  if (lossless) PetscCall(CheckThere(A, device, where, "after a conversion"));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &is, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (WRONG(!is)) FAIL("%s: the type is %s", where, ((PetscObject)B)->type_name);
  PetscCall(CompareProducts(B, C, tolerance, where, "products"));
  PetscCall(MatVCRSDropAIJ(B));
  PetscCall(MatVCRSDropAIJ(C));
  PetscCall(CompareEntries(B, C, tolerance, where, "after a conversion"));
  PetscCall(CompareProducts(B, C, tolerance, where, "products without arrays"));

  /* other values */
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(host, 2.0));
  PetscCall(MatConvert(A, MATVCRS, MAT_REUSE_MATRIX, &B));
  if (lossless) PetscCall(CheckThere(A, device, where, "after a conversion to a matrix that was there"));
  PetscCall(MatConvert(host, MATVCRS, MAT_REUSE_MATRIX, &C));
  PetscCall(CompareProducts(B, C, tolerance, where, "products of a matrix that was there"));
  PetscCall(MatVCRSDropAIJ(B));
  PetscCall(MatVCRSDropAIJ(C));
  PetscCall(CompareEntries(B, C, tolerance, where, "of a matrix that was there"));
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatScale(host, 0.5));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));

  /* in place */
  PetscCall(CreateOther(host, ((PetscObject)A)->type_name, &B));
  PetscCall(MatConvert(B, MATVCRS, MAT_INPLACE_MATRIX, &B));
  PetscCall(MatConvert(host, MATVCRS, MAT_INITIAL_MATRIX, &C));
  PetscCall(CompareProducts(B, C, tolerance, where, "products after a conversion in place"));

  /* and changed, assembled and multiplied as any other matrix */
  PetscCall(MatScale(B, 3.0));
  PetscCall(MatScale(C, 3.0));
  PetscCall(CompareProducts(B, C, tolerance, where, "products of a changed matrix"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Copies of PCVCRS, by a preconditioner that reads a matrix ---- */

typedef struct {
  Mat         A, exact;
  int         applied;
  const char *where;
} Reader;

static PetscErrorCode ReaderExchange(PC pc, PCVCRSExchangeFn *exchange, void *ctx)
{
  Reader *reader;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &reader));
  PetscCall((*exchange)(&reader->A, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The copy against the exact matrix: without loss the products agree */
static PetscErrorCode ReaderApply(PC pc, Vec x, Vec y)
{
  Reader   *reader;
  PetscBool is;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &reader));
  PetscCall(VecCopy(x, y));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)reader->A, &is, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (WRONG(!is)) FAIL("%s: no copy is in the place of the matrix", reader->where);
  if (reader->exact) PetscCall(CompareProducts(reader->A, reader->exact, 2000 * PETSC_MACHINE_EPSILON, reader->where, "products of a copy"));
  reader->applied++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCopy(Mat host, Mat A, MatVCRSLoss loss, PetscInt bits, PetscBool device, const char where[])
{
  Reader reader = {.A = A, .exact = loss == MATVCRS_LOSS_NONE ? host : NULL, .where = where};
  PC     pc, inner;
  Mat    one;
  Vec    x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 5, 5, 1.0, &one));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, one, one));
  PetscCall(PCSetType(pc, PCVCRS));
  PetscCall(PCVCRSSetLoss(pc, loss));
  PetscCall(PCVCRSSetBits(pc, bits));
  PetscCall(PCVCRSGetPC(pc, &inner));
  PetscCall(PCSetType(inner, PCSHELL));
  PetscCall(PCShellSetContext(inner, &reader));
  PetscCall(PCShellSetApply(inner, ReaderApply));
  PetscCall(PetscObjectComposeFunction((PetscObject)inner, "PCVCRSCompress_C", ReaderExchange));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckThere(A, device, where, "after a copy"));
  PetscCall(MatCreateVecs(one, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(PCApply(pc, x, y));
  if (WRONG(reader.applied != 1)) FAIL("%s: the copy was not applied", where);
  if (WRONG(reader.A != A)) FAIL("%s: the exact matrix is not back", where);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscObjectComposeFunction((PetscObject)inner, "PCVCRSCompress_C", NULL));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrix(TestKind kind, Spread spread, MatType type, PetscBool device)
{
  PetscOptions none;
  Mat          host, A;
  char         where[256];

  PetscFunctionBeginUser;
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l += spread == SPREAD_EVEN ? 1 : 3) {
    PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, %s", TestKindNames[kind], SpreadNames[spread], losses[l]));
    PetscCall(CreateMatrix(kind, spread, 0, &host));
    PetscCall(CreateOther(host, type, &A));
    PetscCall(CheckThere(A, device, where, "before anything"));
    PetscCall(PetscOptionsCreate(&none));
    PetscCall(PetscOptionsPush(none));
    PetscCall(PetscOptionsInsertString(NULL, losses[l]));
    PetscCall(PetscOptionsInsertString(NULL, "-mat_vcrs_allow_lossy_operator"));
    PetscCall(TestConvert(host, A, (PetscBool)(l == 0), device, where));
    PetscCall(PetscOptionsPop());
    PetscCall(PetscOptionsDestroy(&none));
    PetscCall(MatDestroy(&host));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, copies", TestKindNames[kind], SpreadNames[spread]));
  PetscCall(CreateMatrix(kind, spread, 0, &host));
  PetscCall(CreateOther(host, type, &A));
  PetscCall(TestCopy(host, A, MATVCRS_LOSS_NONE, 8, device, where));
  PetscCall(TestCopy(host, A, MATVCRS_LOSS_LOG, 8, device, where));
  PetscCall(TestCopy(host, A, MATVCRS_LOSS_FIXED, 16, device, where));
  PetscCall(MatDestroy(&host));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = MATAIJ;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestMatType(sizeof(type), type, &device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    for (int spread = 0; spread < (k < SPREAD_KINDS ? SPREADS : SPREAD_EVEN + 1); spread++) PetscCall(TestMatrix(kinds[k], (Spread)spread, type, device));
  }
  return TestEnd(2000, "all is right\n");
}

/*TEST

  testset:
    nsize: {{1 2 3}}
    output_file: output/right.out

    test:

    test:
      suffix: 2
      args: -mat_type aijperm

    # -checkfunctionlist 0: as in vcrs/conversions
    test:
      suffix: cuda
      requires: cuda
      args: -checkfunctionlist 0 -mat_type aijcusparse

TEST*/
