/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION takes a generator of any type with products and a diagonal, and reads entries if available.\n\n";

#include <tests/uniformization/tstest.h>
#include <tests/refused.h>
#include <tests/shell.h>
#include <lithe.h>

/* Kinds of matrices derived from AIJ */
typedef struct {
  const char *name;
  PetscBool   symmetric; /* symmetric storage */
  PetscInt    bs;
  PetscBool   entries; /* entries can be read */
} Type;

static const Type types[] = {
  {"aij", PETSC_FALSE, 1, PETSC_TRUE},
  {"baij", PETSC_FALSE, 1, PETSC_TRUE},
  {"baij", PETSC_FALSE, 2, PETSC_TRUE},
  {"sbaij", PETSC_TRUE, 1, PETSC_TRUE},
  {"sbaij", PETSC_TRUE, 2, PETSC_TRUE},
  {"dense", PETSC_FALSE, 1, PETSC_TRUE},
  {"vcrs", PETSC_FALSE, 1, PETSC_TRUE},
  {"dropped", PETSC_FALSE, 1, PETSC_TRUE}, /* vcrs without AIJ arrays */
  {"hybmgpu", PETSC_FALSE, 1, PETSC_TRUE},
  {"is", PETSC_FALSE, 1, PETSC_FALSE},
  {"transpose", PETSC_FALSE, 1, PETSC_TRUE},
  {"transpose of vcrs", PETSC_FALSE, 1, PETSC_TRUE},
  {"transpose of sbaij", PETSC_TRUE, 2, PETSC_TRUE},
  {"transpose of a transpose", PETSC_FALSE, 1, PETSC_TRUE},
  {"Hermitian transpose", PETSC_FALSE, 1, PETSC_TRUE},
  {"transpose, scaled", PETSC_FALSE, 1, PETSC_FALSE},
  {"nest", PETSC_FALSE, 1, PETSC_FALSE},
  {"nest of sbaij", PETSC_TRUE, 1, PETSC_FALSE},
  {"nest with nested vectors", PETSC_FALSE, 1, PETSC_FALSE},
  {"composite", PETSC_FALSE, 1, PETSC_FALSE},
  {"composite of shells", PETSC_FALSE, 1, PETSC_FALSE},
  {"shell", PETSC_FALSE, 1, PETSC_FALSE},
  {"shell with a transpose", PETSC_FALSE, 1, PETSC_FALSE},
  {"transpose of a shell's transpose", PETSC_FALSE, 1, PETSC_FALSE},
};

/* Two rows of blocks, each process having some rows of both */
static PetscErrorCode Nest(Mat A, PetscBool symmetric, PetscBool nested, Mat *N)
{
  IS       is[2];
  Mat      block[4];
  PetscInt begin, end, middle;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  middle = begin + (end - begin) / 2;
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, middle - begin, begin, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, end - middle, middle, 1, &is[1]));
  for (int i = 0; i < 4; i++) {
    PetscCall(MatCreateSubMatrix(A, is[i / 2], is[i % 2], MAT_INITIAL_MATRIX, &block[i]));
    if (symmetric && i % 3 == 0) {
      PetscCall(MatSetOption(block[i], MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(MatConvert(block[i], MATSBAIJ, MAT_INPLACE_MATRIX, &block[i]));
    }
  }
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, nested ? NULL : is, 2, nested ? NULL : is, block, N));
  if (nested) PetscCall(MatNestSetVecType(*N, VECNEST));
  for (int i = 0; i < 4; i++) PetscCall(MatDestroy(&block[i]));
  for (int i = 0; i < 2; i++) PetscCall(ISDestroy(&is[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of A - B and B, where B is the diagonal of A */
static PetscErrorCode Composite(Mat A, PetscBool shells, Mat *C)
{
  Mat part[2];
  Vec d;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &part[0]));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &part[1]));
  PetscCall(MatCreateVecs(A, &d, NULL));
  PetscCall(MatZeroEntries(part[1]));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(MatDiagonalSet(part[1], d, INSERT_VALUES));
  PetscCall(VecZeroEntries(d));
  PetscCall(MatDiagonalSet(part[0], d, INSERT_VALUES));
  PetscCall(VecDestroy(&d));
  for (int i = 0; i < 2 && shells; i++) {
    Mat S;

    PetscCall(TestShell(part[i], PETSC_FALSE, PETSC_TRUE, &S));
    PetscCall(MatDestroy(&part[i]));
    part[i] = S;
  }
  PetscCall(MatCreateComposite(PETSC_COMM_WORLD, 2, part, C));
  PetscCall(MatAssemblyBegin(*C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*C, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&part[0]));
  PetscCall(MatDestroy(&part[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes B, of a type, from an AIJ matrix, which is consumed */
static PetscErrorCode Make(const char name[], Mat *A, Mat *B)
{
  Mat T = NULL;

  PetscFunctionBeginUser;
  *B = NULL;
  if (strstr(name, "sbaij")) PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE)); /* assembly may have reset the option */
  if (strstr(name, "transpose") && !strstr(name, "shell")) {
    if (!strcmp(name, "transpose, scaled")) PetscCall(MatScale(*A, (PetscScalar)-0.25));
    PetscCall(MatTranspose(*A, MAT_INPLACE_MATRIX, A));
  }
  if (!strcmp(name, "shell")) PetscCall(TestShell(*A, PETSC_FALSE, PETSC_TRUE, B));
  else if (!strcmp(name, "shell with a transpose")) PetscCall(TestShell(*A, PETSC_TRUE, PETSC_TRUE, B));
  else if (!strcmp(name, "transpose of a shell's transpose")) {
    PetscCall(MatTranspose(*A, MAT_INPLACE_MATRIX, A));
    PetscCall(TestShell(*A, PETSC_TRUE, PETSC_TRUE, &T));
    PetscCall(MatCreateTranspose(T, B));
  } else if (!strncmp(name, "composite", 9)) PetscCall(Composite(*A, (PetscBool)(name[9] != 0), B));
  else if (!strncmp(name, "nest", 4)) PetscCall(Nest(*A, (PetscBool) !!strstr(name, "sbaij"), (PetscBool) !!strstr(name, "vectors"), B));
  else if (!strcmp(name, "Hermitian transpose")) PetscCall(MatCreateHermitianTranspose(*A, B));
  else if (!strcmp(name, "transpose of a transpose")) {
    PetscCall(MatTranspose(*A, MAT_INPLACE_MATRIX, A));
    PetscCall(MatCreateTranspose(*A, &T));
    PetscCall(MatCreateTranspose(T, B));
  } else if (!strncmp(name, "transpose", 9)) {
    if (strstr(name, "sbaij")) PetscCall(MatConvert(*A, MATSBAIJ, MAT_INITIAL_MATRIX, &T));
    else if (strstr(name, "vcrs")) PetscCall(MatConvert(*A, MATVCRS, MAT_INITIAL_MATRIX, &T));
    PetscCall(MatCreateTranspose(T ? T : *A, B));
    if (strstr(name, "scaled")) PetscCall(MatScale(*B, (PetscScalar)-4));
  } else if (!strcmp(name, "dropped")) {
    PetscCall(MatConvert(*A, MATVCRS, MAT_INITIAL_MATRIX, B));
    PetscCall(MatVCRSDropAIJ(*B));
  } else PetscCall(MatConvert(*A, name, MAT_INITIAL_MATRIX, B));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A constant Jacobian. TSSetUp() duplicates the matrix of TSComputeRHSJacobianConstant(), which fails for MATSHELL and
   MATCOMPOSITE */
static PetscErrorCode Jacobian(TS ts, PetscReal t, Vec u, Mat A, Mat B, void *ctx)
{
  (void)ts;
  (void)t;
  (void)u;
  (void)A;
  (void)B;
  (void)ctx;
  return PETSC_SUCCESS;
}

static PetscErrorCode Solver(const char name[], Mat A, const char options[], TS *ts)
{
  PetscFunctionBeginUser;
  PetscCall(ChainTS(A, options, ts));
  if (strstr(name, "shell") || strstr(name, "composite")) PetscCall(TSSetRHSJacobian(*ts, NULL, NULL, Jacobian, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* AIJ of a chain; with symmetric storage to come, and blocks */
static PetscErrorCode MakeAIJ(const Chain *c, const Type *type, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, c->n, c->n));
  PetscCall(MatSetBlockSize(*A, type->bs));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt to = begin; to < end; to++) {
    for (PetscInt from = 0; from < c->n; from++) {
      const PetscScalar rate = from == to ? (PetscScalar)-ChainRate(c, to) : (PetscScalar)c->rate[from][to];

      if (rate != 0.0) PetscCall(MatSetValue(*A, to, from, rate, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Symmetric(const Type *type, Chain *c)
{
  for (PetscInt i = 0; type->symmetric && i < c->n; i++) {
    for (PetscInt j = 0; j < i; j++) c->rate[i][j] = c->rate[j][i];
  }
}

/* The solution, and the known properties of the matrix */
static PetscErrorCode TestSolve(const Type *type, PetscBool check)
{
  Chain                c;
  Mat                  A, B;
  TS                   ts;
  Vec                  x;
  PetscScalar         *xx;
  PetscInt             begin, end, longest = 0;
  Long                 p[CHAIN_MAX], exact[CHAIN_MAX];
  double               error = 0;
  TSUniformizationInfo info;

  PetscFunctionBeginUser;
  ChainMake(CHAIN_RANDOM, &c);
  Symmetric(type, &c);
  PetscCall(MakeAIJ(&c, type, &A));
  PetscCall(Make(type->name, &A, &B));
  PetscCall(Solver(type->name, B, check ? "-ts_type uniformization" : "-ts_type uniformization -ts_uniformization_check 0", &ts));
  PetscCall(MatCreateVecs(B, &x, NULL));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = 0; i < c.n; i++) p[i] = i == 2 ? 0.25L : (i == 5 ? 0.75L : 0);
  PetscCall(VecGetArray(x, &xx));
  for (PetscInt i = begin; i < end; i++) xx[i - begin] = (PetscScalar)p[i];
  PetscCall(VecRestoreArray(x, &xx));
  PetscCall(TSSetMaxTime(ts, 0.75));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  ChainExact(&c, 0.75L, p, exact);
  PetscCall(ChainError(x, exact, &error, NULL));
  count++;
  if (WRONG(!(error <= (double)info.bound)))
    FAIL("%s, blocks of %" PetscInt_FMT ": the error is %g, the bound %g", type->name, type->bs, error, (double)info.bound);
  count++;
  if (WRONG(info.roundingknown != type->entries))
    FAIL("%s, blocks of %" PetscInt_FMT ": entries %s", type->name, type->bs, type->entries ? "were not read" : "were read");

  /* The bound on rounding has the length of the longest row of Q^T */
  for (PetscInt to = 0; to < c.n; to++) {
    PetscInt n = 1;

    for (PetscInt from = 0; from < c.n; from++) n += (from != to && c.rate[from][to] != 0.0);
    longest = PetscMax(longest, n);
  }
  if (type->entries && type->bs == 1) {
    const PetscReal steps = (PetscReal)info.products * (PetscReal)(2 * (strcmp(type->name, "dense") != 0 ? longest : c.n) + 8) * PETSC_MACHINE_EPSILON / 2;

    count++;
    if (WRONG(!(info.rounding >= steps && info.rounding <= 4 * steps)))
      FAIL("%s: rounding may be %g, and is %g by rows", type->name, (double)info.rounding, (double)steps);
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveRefused(const Type *type, const char what[], const char *const words[], Mat B)
{
  TS             ts;
  Vec            x;
  char           name[128];
  TestError      error = {""};
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(Solver(type->name, B, "-ts_type uniformization", &ts));
  PetscCall(MatCreateVecs(B, &x, NULL));
  PetscCall(VecSet(x, 1.0));
  PetscCall(TSSetMaxTime(ts, 1.0));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s, blocks of %" PetscInt_FMT ", %s", type->name, type->bs, what));
  PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
  code = TSSolve(ts, x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(TestRefused(name, code, &error, words));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix which is no generator is refused on all processes, and the message names the states */
static PetscErrorCode TestFaults(const Type *type)
{
  static const struct {
    const char *what, *words[2];
  } faults[] = {
    {"a negative rate", {"from state 4 to state 9 ", "-0.5"}},
    {"a positive diagonal entry", {"diagonal entry of state 7 ", "not be positive"}},
    {"a sum that is not zero", {"state 9 ", "sum to"}},
    {"a rate that is no number", {"state 4 ", "state 9 "}},
  };

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    Chain       c;
    Mat         A, B;
    const char *words[] = {faults[k].words[0], faults[k].words[1], NULL};

    if (k == 3 && !type->entries) continue;
    ChainMake(CHAIN_RANDOM, &c);
    Symmetric(type, &c);
    if (k == 0 || k == 3) c.rate[4][9] = k ? (double)NAN : -0.5;
    if (type->symmetric) c.rate[9][4] = c.rate[4][9];
    PetscCall(MakeAIJ(&c, type, &A));
    if (k == 1 || k == 2) {
      PetscInt       begin, end;
      const PetscInt to = k == 1 ? 7 : 9;

      PetscCall(MatGetOwnershipRange(A, &begin, &end));
      if (to >= begin && to < end) PetscCall(MatSetValue(A, to, to, k == 1 ? 100.0 : 0.125, ADD_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscCall(Make(type->name, &A, &B));
    PetscCall(SolveRefused(type, faults[k].what, words, B));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A small negative rate in a ring of many states: products with sets of states hardly detect it, entries do */
static PetscErrorCode TestHidden(const Type *type)
{
  const PetscInt n = 960;
  Mat            A, B;
  PetscInt       begin, end;
  const char    *words[] = {"from state 500 to state 700 ", "-0.001", NULL};

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetBlockSize(A, type->bs));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetUp(A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscScalar diagonal = -2;

    for (int side = -1; side < 2; side += 2) PetscCall(MatSetValue(A, i, (i + side + n) % n, 1.0, INSERT_VALUES));
    if (i == 700 || i == 500) {
      if (i == 700 || type->symmetric) PetscCall(MatSetValue(A, i, i == 700 ? 500 : 700, (PetscScalar)-1e-3, INSERT_VALUES));
      if (i == 500 || type->symmetric) diagonal += (PetscScalar)1e-3;
    }
    PetscCall(MatSetValue(A, i, i, diagonal, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Make(type->name, &A, &B));
  PetscCall(SolveRefused(type, "a hidden rate", words, B));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A type without a diagonal */
static PetscErrorCode TestNoDiagonal(void)
{
  Chain c;
  Mat   A, S;
  TS    ts;
  Vec   x;

  PetscFunctionBeginUser;
  ChainMake(CHAIN_RANDOM, &c);
  PetscCall(MakeAIJ(&c, &types[0], &A));
  PetscCall(TestShell(A, PETSC_TRUE, PETSC_FALSE, &S));
  PetscCall(Solver("shell", S, "-ts_type uniformization", &ts));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 1.0));
  PetscCall(TSSetMaxTime(ts, 1.0));
  TEST_REFUSED("no diagonal", TSSolve(ts, x), "MatGetDiagonal()", "type shell");
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt every = 1;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL)); /* step through the types */
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(types); i += (size_t)every) {
    PetscCall(TestSolve(&types[i], PETSC_TRUE));
    PetscCall(TestSolve(&types[i], PETSC_FALSE));
    PetscCall(TestFaults(&types[i]));
    if (types[i].entries && strcmp(types[i].name, "dense") != 0) PetscCall(TestHidden(&types[i]));
  }
  PetscCall(TestNoDiagonal());
  if (WRONG(count < 200 / every)) FAIL("only %" PetscInt_FMT " comparisons", count);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " comparisons\n", count));
  return TestEnd(29, "all is right\n");
}

/*TEST

  # what a call leaves behind that ends with an error is not looked at
  testset:
    requires: double
    output_file: output/right.out
    filter: grep -E "right|failed|FAIL"

    test:
      nsize: {{1 2}}

    test:
      suffix: mpi
      nsize: 3
      args: -every 3

TEST*/
