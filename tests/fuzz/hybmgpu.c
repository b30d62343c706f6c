/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "A fuzzer of MATHYBMGPU: conversions of small matrices of any sizes keep every bit; products in all formats are those of the dense matrix.\n\n";

#include "fuzztest.h"
#include <petscviewer.h>
#include <tests/refused.h>

#define MOST 64

/* The largest relative rounding error of a sum of all entries of a row */
#define ROUNDING ((PetscReal)(4 * MOST) * PETSC_MACHINE_EPSILON)

typedef struct {
  FuzzMatrix  A;
  PetscInt    m, n;   /* rows and columns of this process */
  PetscBool   square; /* on all processes */
  char        options[256];
  PetscInt    number;
  const char *where;
} Problem;

static PetscErrorCode Describe(const Problem *p)
{
  return FuzzDescribe(&p->A, p->number, p->where, p->options);
}

/* ---- A random problem ---- */

/* Shares of n rows: some processes have none */
static PetscErrorCode Share(Fuzz *f, PetscInt n, PetscInt *local)
{
  PetscInt left = n, mine = 0;

  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < size; r++) {
    const PetscInt most = FuzzOneOf(f, 4) ? 0 : 2 * n / size + 1, take = r == size - 1 ? left : FuzzInt(f, PetscMin(left, most) + 1);

    if (r == rank) mine = take;
    left -= take;
  }
  *local = mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateProblem(Fuzz *f, Problem *p)
{
  static const char *const formats[] = {"auto", "hyb", "sell", "csr", "vcrs"};
  static const PetscInt    small[]   = {0, 0, 1, 1, 2, 3, 31, 32, 33};
  const PetscBool          few       = FuzzOneOf(f, 3);
  PetscInt                 m = few ? small[FuzzInt(f, 9)] : 1 + FuzzInt(f, 60), n = m;
  const PetscBool          square = FuzzOneOf(f, 2);
  const char              *format;

  PetscFunctionBegin;
  if (!square && !FuzzOneOf(f, 4)) n = FuzzOneOf(f, 3) ? small[FuzzInt(f, 9)] : 1 + FuzzInt(f, 60);
  PetscCall(FuzzMatrixCreate(f, m, n, 4, &p->A));
  PetscCall(Share(f, m, &p->m));
  p->n      = p->m;
  p->square = square;
  if (!square) PetscCall(Share(f, n, &p->n));
  format = formats[FuzzInt(f, 5)]; /* vcrs has its own order */
  PetscCall(PetscSNPrintf(p->options, sizeof(p->options),
                          "-mat_hybmgpu_format %s -mat_hybmgpu_width %d -mat_hybmgpu_split %s -mat_hybmgpu_sigma %d -mat_hybmgpu_reorder %s", format,
                          (int)FuzzInt(f, 6) - 1, FuzzOneOf(f, 2) ? "bytes" : "cusp", (int)(FuzzOneOf(f, 2) ? -1 : 1 + FuzzInt(f, 80)),
                          square && strcmp(format, "vcrs") && FuzzOneOf(f, 3) ? "rcm" : "none"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Comparisons ---- */

/* The same bits; MatCopy() adds numbers to zeros, and loses the sign of a zero */
static PetscBool Differ(PetscScalar a, PetscScalar b)
{
  return (PetscBool)(memcmp(&a, &b, sizeof(a)) && a != b);
}

/* The rows of B are the entries of the case, to the last bit */
static PetscErrorCode CheckRows(const Problem *p, Mat B)
{
  PetscInt begin, end, wrong = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(B, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           len, at = 0;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(B, i, &len, &cols, &vals));
    for (PetscInt j = 0; j < p->A.n; j++) {
      if (!p->A.there[i * p->A.n + j]) continue;
      if (at >= len || cols[at] != j || Differ(vals[at], p->A.a[i * p->A.n + j])) wrong++;
      at++;
    }
    wrong += at != len;
    PetscCall(MatRestoreRow(B, i, &len, &cols, &vals));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) REPORT("%" PetscInt_FMT " entries differ", wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v of the process's rows, from numbers of all rows */
static PetscErrorCode SetVec(Vec v, const PetscScalar x[])
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = begin; i < end; i++) a[i - begin] = x[i];
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = add + op(A) x, against the same sums of the dense matrix */
static PetscErrorCode CheckProduct(const Problem *p, const char what[], PetscBool transpose, const PetscScalar x[], const PetscScalar add[], Vec y)
{
  const PetscScalar *a;
  PetscInt           begin, end, wrong = 0;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(y, &begin, &end));
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt i = begin; i < end; i++) {
    long double sum[2] = {add ? PetscRealPart(add[i]) : 0, add ? PetscImaginaryPart(add[i]) : 0}, size = add ? (long double)PetscAbsScalar(add[i]) : 0;

    FuzzAddProduct(&p->A, transpose, i, x, sum, &size);
    if (size < PETSC_MAX_REAL) {
      const long double dr = sum[0] - PetscRealPart(a[i - begin]), di = sum[1] - PetscImaginaryPart(a[i - begin]),
                        most = ROUNDING * size + (long double)MOST * PETSC_REAL_MIN;

      wrong += !(dr <= most && dr >= -most && di <= most && di >= -most);
    } else if (size != size) wrong += !PetscIsInfOrNanScalar(a[i - begin]); /* a NaN somewhere. Sums that overflow are not compared */
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) REPORT("%s: %" PetscInt_FMT " rows differ", what, wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckProducts(Fuzz *f, const Problem *p, Mat B)
{
  PetscScalar in[2][MOST];
  Vec         x[2], y[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    for (PetscInt i = 0; i < MOST; i++) in[k][i] = FuzzScalar(f) * (FuzzOneOf(f, 8) ? FuzzPower(f, 20) : (PetscReal)1.0);
    if (FuzzOneOf(f, 16)) in[k][FuzzInt(f, 60)] = FuzzNoNumber(f);
  }
  PetscCall(MatCreateVecs(B, &x[0], &y[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  PetscCall(SetVec(x[0], in[0]));
  PetscCall(VecSet(y[0], 7.0));
  PetscCall(MatMult(B, x[0], y[0]));
  PetscCall(CheckProduct(p, "MatMult()", PETSC_FALSE, in[0], NULL, y[0]));
  PetscCall(SetVec(y[1], in[1]));
  PetscCall(MatMultAdd(B, x[0], y[1], y[0]));
  PetscCall(CheckProduct(p, "MatMultAdd()", PETSC_FALSE, in[0], in[1], y[0]));
  PetscCall(MatMultAdd(B, x[0], y[1], y[1]));
  PetscCall(CheckProduct(p, "MatMultAdd() in place", PETSC_FALSE, in[0], in[1], y[1]));
  PetscCall(SetVec(y[0], in[0]));
  PetscCall(MatMultTranspose(B, y[0], x[0]));
  PetscCall(CheckProduct(p, "MatMultTranspose()", PETSC_TRUE, in[0], NULL, x[0]));
  PetscCall(SetVec(x[1], in[1]));
  PetscCall(MatMultTransposeAdd(B, y[0], x[1], x[0]));
  PetscCall(CheckProduct(p, "MatMultTransposeAdd()", PETSC_TRUE, in[0], in[1], x[0]));
  PetscCall(MatMultTransposeAdd(B, y[0], x[1], x[1]));
  PetscCall(CheckProduct(p, "MatMultTransposeAdd() in place", PETSC_TRUE, in[0], in[1], x[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Ways ---- */

/* The same entries or others, in the same pattern or another, in B; repeated products */
static PetscErrorCode Change(Fuzz *f, Problem *p, Mat B)
{
  const PetscBool pattern = FuzzOneOf(f, 2);
  PetscInt        begin, end;

  PetscFunctionBegin;
  if (pattern) PetscCall(MatSetOption(B, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  if (pattern) PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt k = 0; k < p->A.m * p->A.n; k++) {
    if (pattern && FuzzOneOf(f, 10)) p->A.there[k] = PETSC_TRUE;
    if (p->A.there[k] && FuzzOneOf(f, 2)) p->A.a[k] = FuzzScalar(f);
  }
  PetscCall(MatGetOwnershipRange(B, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < p->A.n; j++) {
      if (p->A.there[i * p->A.n + j]) PetscCall(MatSetValue(B, i, j, p->A.a[i * p->A.n + j], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B as a file, and back */
static PetscErrorCode Load(Mat *B, PetscInt m, PetscInt n)
{
  PetscViewer viewer;
  char        name[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name, sizeof(name), "fuzz.%s.bin", PetscDefined(USE_COMPLEX) ? "complex" : "real"));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySkipInfo(viewer));
  PetscCall(MatView(*B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(MatDestroy(B));
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetOptionsPrefix(*B, "fuzz_"));
  PetscCall(MatSetType(*B, MATHYBMGPU));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(MatLoad(*B, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A from a MATAIJ, in one of several ways */
static PetscErrorCode MakeHybrid(Fuzz *f, Problem *p, Mat A, Mat *B)
{
  PetscFunctionBegin;
  switch (FuzzInt(f, 5)) {
  case 0:
    p->where = "MatConvert()";
    PetscCall(MatSetOptionsPrefix(A, "fuzz_"));
    PetscCall(MatConvert(A, MATHYBMGPU, MAT_INITIAL_MATRIX, B));
    break;
  case 1:
    p->where = "MatConvert() twice";
    PetscCall(MatSetOptionsPrefix(A, "fuzz_"));
    PetscCall(MatConvert(A, MATHYBMGPU, MAT_INITIAL_MATRIX, B));
    PetscCall(MatConvert(A, MATHYBMGPU, MAT_REUSE_MATRIX, B));
    break;
  case 2:
    p->where = "MatConvert() in place";
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    PetscCall(MatSetOptionsPrefix(*B, "fuzz_"));
    PetscCall(MatConvert(*B, MATHYBMGPU, MAT_INPLACE_MATRIX, B));
    break;
  case 3:
    p->where = "MatSetType()";
    PetscCall(FuzzMatrixMat(&p->A, PETSC_COMM_WORLD, MATHYBMGPU, p->m, p->n, B));
    PetscCall(MatSetOptionsPrefix(*B, "fuzz_"));
    PetscCall(MatSetFromOptions(*B));
    break;
  default:
    p->where = "MatLoad()";
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    PetscCall(Load(B, p->m, p->n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBack(Problem *p, Mat B)
{
  Mat C, T;

  PetscFunctionBegin;
  p->where = "conversion to aij";
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(CheckRows(p, C));
  PetscCall(MatConvert(B, MATAIJ, MAT_REUSE_MATRIX, &C));
  PetscCall(CheckRows(p, C));
  PetscCall(MatDestroy(&C));
  p->where = "conversion of a copy in place";
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(CheckRows(p, C));
  PetscCall(MatDestroy(&C));
  p->where = "transposition, twice";
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatTranspose(T, MAT_INITIAL_MATRIX, &C));
  PetscCall(CheckRows(p, C));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows that a process gets are the rows of the matrix, in their new order */
static PetscErrorCode CheckRepartition(Problem *p, Mat B)
{
  Mat             C;
  IS              rows;
  const PetscInt *row;
  PetscInt        begin, end, all, wrong = 0, *of;

  PetscFunctionBegin;
  p->where = "repartition";
  PetscCall(MatHYBMGPURepartition(B, &C, &rows));
  PetscCall(ISGetSize(rows, &all));
  if (WRONG(all != p->A.m)) REPORT("%" PetscInt_FMT " rows", all);
  PetscCall(MatGetOwnershipRange(C, &begin, &end));
  PetscCall(PetscCalloc1(p->A.m, &of));
  PetscCall(ISGetIndices(rows, &row));
  for (PetscInt i = begin; i < end; i++) of[i] = row[i - begin];
  PetscCall(ISRestoreIndices(rows, &row));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, of, (PetscMPIInt)p->A.m, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           len, want = 0;
    const PetscInt    *cols;
    const PetscScalar *vals;

    PetscCall(MatGetRow(C, i, &len, &cols, &vals));
    for (PetscInt k = 0; k < len; k++) wrong += Differ(vals[k], p->A.a[of[i] * p->A.n + of[cols[k]]]) ? 1 : 0;
    for (PetscInt j = 0; j < p->A.n; j++) want += p->A.there[of[i] * p->A.n + j];
    wrong += want != len;
    PetscCall(MatRestoreRow(C, i, &len, &cols, &vals));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) REPORT("%" PetscInt_FMT " entries differ", wrong);
  PetscCall(PetscFree(of));
  PetscCall(ISDestroy(&rows));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns cannot be moved together where a process has different numbers of them: an error on all processes */
static PetscErrorCode CheckRefused(const Problem *p, Mat B)
{
  PetscBool same = (PetscBool)(p->m == p->n);
  Mat       C;
  IS        rows;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, MPI_C_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  if (!same) TEST_REFUSED("repartition", MatHYBMGPURepartition(B, &C, &rows), "as many rows as columns", "MatSetSizes()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Case(Fuzz *f, PetscInt number, PetscBool shown)
{
  Problem      p = {.number = number, .where = ""};
  PetscOptions database;
  char         text[300];
  Mat          A, B;

  PetscFunctionBegin;
  PetscCall(CreateProblem(f, &p));
  if (shown) PetscCall(Describe(&p));
  PetscCall(PetscOptionsCreate(&database));
  /* -fuzz_mat_hybmgpu_...: copies and transposes have no prefix */
  PetscCall(PetscOptionsInsertString(database, p.options));
  for (char *c = p.options, *at = text; (*at = *c); c++, at++) {
    if (*c != '-' || c[1] != 'm') continue;
    PetscCall(PetscStrncpy(at, "-fuzz_", 7));
    at += 5;
  }
  PetscCall(PetscOptionsInsertString(database, text));
  PetscCall(FuzzMatrixMat(&p.A, PETSC_COMM_WORLD, MATAIJ, p.m, p.n, &A));
  PetscCall(PetscOptionsPush(database));
  PetscCall(MakeHybrid(f, &p, A, &B));
  PetscCall(CheckRows(&p, B));
  PetscCall(CheckProducts(f, &p, B));
  PetscCall(CheckBack(&p, B));
  if (p.square) PetscCall(CheckRepartition(&p, B));
  else if (p.A.m == p.A.n) PetscCall(CheckRefused(&p, B));
  PetscCall(Change(f, &p, B));
  p.where = "other entries";
  PetscCall(CheckRows(&p, B));
  PetscCall(CheckProducts(f, &p, B));
  PetscCall(CheckBack(&p, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscCall(FuzzMatrixDestroy(&p.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(FuzzRun(200, Case));
  return TestEnd(1000, "every bit is there: all is right\n");
}

/*TEST

  testset:
    output_file: output/hybmgpu_1.out

    test:

    # a pattern whose order by MatGetOrdering() is no permutation
    test:
      suffix: order
      args: -case 11525 -test_least 20

    test:
      suffix: 2
      nsize: 3
      args: -seed 2 -cases 15 -test_least 200

TEST*/
