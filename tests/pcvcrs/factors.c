/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The compressed factors of PCVCRS: against PETSc's, and substitution against one sweep per row.\n\n";

#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>

/* Sums in another order */
#define TINY ((PetscReal)1e5 * PETSC_MACHINE_EPSILON)

/* Products of triangles whose rows sum to nearly one, so small changes of entries cause large changes of the
   solution */
typedef enum {
  CHAIN_CONSTANT, /* a single neighbour */
  CHAIN_VARIABLE, /* four neighbours */
  CHAIN_SIGNS,    /* and any signs; complex numbers */
  CHAIN_PROFILE,  /* different numbers of neighbours */
  CHAINS
} Chain;

/* I - T, strictly lower or upper. Rows of the profile are as long as their neighbours allow, so a product has the same
   profile */
static PetscErrorCode CreateChainTriangle(Chain kind, PetscBool upper, Mat *T)
{
  const PetscInt n = 700;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 40, NULL, T));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt most  = kind == CHAIN_CONSTANT ? 1 : (kind == CHAIN_PROFILE ? 2 + 30 * (PetscInt)(TestRandom(42, (uint64_t)i, 0) < 0.1) : 4);
    const PetscInt count = PetscMin(most, upper ? n - 1 - i : i);
    PetscScalar    w[40];
    PetscReal      sum = 0.0;

    PetscCall(MatSetValue(*T, i, i, 1.0, INSERT_VALUES));
    for (PetscInt k = 0; k < count; k++) {
      w[k] = (PetscReal)(0.2 + TestRandom(40 + (uint64_t)upper, (uint64_t)i, (uint64_t)k));
      if (kind == CHAIN_SIGNS) w[k] += (PetscReal)0.7 * TestScalar(43, (uint64_t)i, (uint64_t)k);
      sum += PetscAbsScalar(w[k]);
    }
    for (PetscInt k = 0; k < count; k++) PetscCall(MatSetValue(*T, i, upper ? i + 1 + k : i - 1 - k, (PetscScalar)(-0.9995 / sum) * w[k], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*T, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateChain(Chain kind, Mat *A)
{
  Mat L, U;

  PetscFunctionBeginUser;
  PetscCall(CreateChainTriangle(kind, PETSC_FALSE, &L));
  PetscCall(CreateChainTriangle(kind, PETSC_TRUE, &U));
  PetscCall(MatMatMult(L, U, MAT_INITIAL_MATRIX, PETSC_DEFAULT, A));
  PetscCall(MatScale(*A, 3.0));
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the tests of MATVCRS with a dominant diagonal, which makes factorization safe */
static PetscErrorCode CreateDominant(TestKind kind, Mat *A)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(TestCreateMatrix(PETSC_COMM_SELF, kind, 0, A));
  PetscCall(MatNorm(*A, NORM_INFINITY, &norm));
  PetscCall(MatShift(*A, (PetscScalar)(0.6 * norm + 1.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Substitution and sweeps with every loss solve the same systems. bound: the largest change by a loss. If triangles are
   chains, a loss without preserved row sums may change the solution arbitrarily.
*/
static PetscErrorCode TestTriangles(Mat A, const char name[], const char inside[], PetscBool issym, PetscReal bound, PetscBool view)
{
  static const char *const losses[] = {"none",
                                       "log",
                                       "log -@pc_vcrs_bits 16",
                                       "fixed",
                                       "fixed -@pc_vcrs_bits 16",
                                       "bins",
                                       "classes",
                                       "single",
                                       "binclasses",
                                       "log -@pc_vcrs_preserve_row_sums 0"};
  PC                       exact, pc, sweeps;
  PetscReal                difference;
  PetscInt                 n;
  Vec                      x;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(TestCreateVec(A, PETSC_TRUE, NULL, 3, &x));
  PetscCall(CreatePC(A, inside, NULL, &exact));
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l++) {
    char options[512];

    PetscCall(PetscSNPrintf(options, sizeof(options), "-@pc_type vcrs -@pc_vcrs_loss %s", losses[l]));
    PetscCall(CreatePC(A, options, inside, &pc));
    PetscCall(
      PetscSNPrintf(options + strlen(options), sizeof(options) - strlen(options), " -@pc_vcrs_factor_solve jacobi -@pc_vcrs_factor_sweeps %" PetscInt_FMT, n));
    PetscCall(CreatePC(A, options, inside, &sweeps));
    for (int way = 0; way < APPLY_WAYS; way++) {
      if ((way == APPLY_LEFT || way == APPLY_RIGHT) && !issym) continue;
      PetscCall(Difference(pc, sweeps, (Way)way, x, &difference));
      if (WRONG(!(difference <= TINY)))
        FAIL("%s, %s, loss %s, %s: substitution and sweeps are %g apart", name, inside, losses[l], WayNames[way], (double)difference);
      PetscCall(Difference(exact, pc, (Way)way, x, &difference));
      if (WRONG(l == 0 && !(difference <= TINY))) FAIL("%s, %s, %s: without loss the results are %g apart", name, inside, WayNames[way], (double)difference);
      if (WRONG(!(difference <= bound || (bound > 0.3 && strstr(losses[l], "sums 0")))))
        FAIL("%s, %s, loss %s, %s: the results are %g apart", name, inside, losses[l], WayNames[way], (double)difference);
    }
    if (view) PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_SELF));
    PetscCall(PCDestroy(&pc));
    PetscCall(PCDestroy(&sweeps));
  }
  PetscCall(PCDestroy(&exact));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A with pairs of rows exchanged, which has zeros on the diagonal; the orderings of columns and rows must differ */
static PetscErrorCode CreateExchanged(Mat A, Mat *B)
{
  PetscInt           n, len;
  const PetscInt    *cols;
  const PetscScalar *vals;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 8, NULL, B));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatSetValue(*B, i, i, 0.0, INSERT_VALUES));
    PetscCall(MatGetRow(A, PetscMin(i ^ 1, n - 1), &len, &cols, &vals));
    for (PetscInt k = 0; k < len; k++) {
      if (cols[k] != i) PetscCall(MatSetValue(*B, i, cols[k], vals[k], INSERT_VALUES));
    }
    PetscCall(MatRestoreRow(A, PetscMin(i ^ 1, n - 1), &len, &cols, &vals));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorizations and orderings; the last matrix has no diagonal until its rows are reordered */
static PetscErrorCode TestOrderings(PetscBool view)
{
  static const char *const inner[] = {"-@pc_type ilu -@pc_factor_mat_ordering_type rcm", "-@pc_type ilu -@pc_factor_levels 1 -@pc_factor_mat_ordering_type nd",
                                      "-@pc_type ilu -@pc_factor_levels 2", "-@pc_type lu", "-@pc_type lu -@pc_factor_mat_ordering_type qmd"};
  static const char *const symmetric[] = {"-@pc_type icc", "-@pc_type icc -@pc_factor_levels 1 -@pc_factor_mat_ordering_type rcm", "-@pc_type cholesky"};
  Mat                      A, B;

  PetscFunctionBeginUser;
  PetscCall(CreateDominant(TEST_CONVECTION, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) PetscCall(TestTriangles(A, "convection", inner[k], PETSC_FALSE, 0.3, view));

  PetscCall(CreateExchanged(A, &B));
  PetscCall(TestTriangles(B, "convection, rows exchanged", "-@pc_type lu -@pc_factor_mat_ordering_type natural -@pc_factor_nonzeros_along_diagonal",
                          PETSC_FALSE, 0.3, view));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateDominant(TEST_RESERVOIR, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(symmetric); k++) PetscCall(TestTriangles(A, "reservoir", symmetric[k], PETSC_TRUE, 0.3, view));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestKind kinds[] = {TEST_STAR7,    TEST_BOX27,       TEST_RESERVOIR, TEST_FEM,    TEST_RANDOM, TEST_FEWVALUES,
                                   TEST_LONGROWS, TEST_STOREDZEROS, TEST_BLOCKS,    TEST_COLUMN, TEST_NONE};
  PetscBool             view    = PETSC_FALSE;
  Mat                   A;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view", &view, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    PetscInt m, n;

    TestKindSize(kinds[k], &m, &n);
    if (m != n) continue;
    PetscCall(CreateDominant(kinds[k], &A));
    PetscCall(TestTriangles(A, TestKindNames[kinds[k]], "-@pc_type ilu", PETSC_FALSE, 0.3, view));
    PetscCall(MatDestroy(&A));
  }
  for (int kind = 0; kind < CHAINS; kind++) {
    PetscCall(CreateChain((Chain)kind, &A));
    PetscCall(TestTriangles(A, "chain", "-@pc_type ilu", PETSC_FALSE, 0.5, view));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestOrderings(view));
  return TestEnd(1500, "compressed factors are right\n");
}

/*TEST

  test:

  # every layout is met in a triangle
  test:
    suffix: view
    args: -view
    filter: grep "factor:" | grep -o "layout l[0-9]" | sort -u

TEST*/
