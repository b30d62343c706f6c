/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION refuses a matrix which is no generator, and names the state; other misuse.\n\n";

#include <tests/options.h>
#include <tests/shell.h>
#include <tests/uniformization/tstest.h>

static char message[4096];

/* Keeps the first message of an error, and prints none */
static PetscErrorCode Keep(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *text,
                           void *ctx)
{
  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  (void)ctx;
  if (type == PETSC_ERROR_INITIAL && text) {
    if (PetscStrncpy(message, text, sizeof(message))) return PETSC_ERR_PLIB;
  }
  return code;
}

/* A solve must end on all processes with an error which contains each of the words between bars, or without an error */
static PetscErrorCode Refused(Mat A, const char what[], const char options[], const char words[], PetscBool solve)
{
  TS             ts;
  Vec            x;
  PetscErrorCode ierr;
  char         **word;
  int            nwords;
  PetscInt       bad = 0;

  PetscFunctionBeginUser;
  PetscCall(ChainTS(A, options, &ts));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSet(x, 1.0));
  PetscCall(TSSetMaxTime(ts, 1.0));
  if (!solve) PetscCall(TSSetTimeStep(ts, -1.0));
  PetscCall(TSSetSolution(ts, x));
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(Keep, NULL));
  ierr = solve ? TSSolve(ts, x) : TSStep(ts);
  PetscCall(PetscPopErrorHandler());
  if (!words) bad = ierr ? 1 : 0;
  else {
    bad = ierr ? 0 : 1;
    PetscCall(PetscStrToArray(words, '|', &nwords, &word));
    for (int i = 0; i < nwords; i++) {
      char *found;

      PetscCall(PetscStrstr(message, word[i], &found));
      if (!found) bad = 1;
    }
    PetscCall(PetscStrToArrayDestroy(nwords, word));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (WRONG(bad)) FAIL("%s: expected %s, got: %s", what, words ? words : "no error", message);
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix itself, and two shells */
static PetscErrorCode RefusedAll(Mat A, const char what[], const char options[], const char words[])
{
  Mat  S;
  char name[128];

  PetscFunctionBeginUser;
  PetscCall(Refused(A, what, options, words, PETSC_TRUE));
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscCall(TestShell(A, (PetscBool)transpose, PETSC_TRUE, &S));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, shell%s", what, transpose ? " with a transpose" : ""));
    PetscCall(Refused(S, name, options, words, PETSC_TRUE));
    PetscCall(MatDestroy(&S));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *type = "-ts_type uniformization";
  Chain       c, bad;
  Mat         A, T;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  ChainMake(CHAIN_RANDOM, &c);

  /* A generator is accepted; its transpose is refused, with a hint */
  PetscCall(ChainMatrix(&c, &A));
  PetscCall(RefusedAll(A, "a generator", type, NULL));
  if (PetscDefined(USE_REAL_DOUBLE)) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &T));
    PetscCall(MatScale(T, (PetscScalar)1e-320));
    PetscCall(Refused(T, "a generator of denormal numbers", "-ts_type uniformization -ts_uniformization_check 0", NULL, PETSC_TRUE));
    PetscCall(MatZeroEntries(T));
    if (!PetscGlobalRank) {
      PetscCall(MatSetValue(T, 0, 0, -1e-320, INSERT_VALUES));
      PetscCall(MatSetValue(T, 1, 0, 1e-320, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(T, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(T, MAT_FINAL_ASSEMBLY));
    PetscCall(RefusedAll(T, "denormal rates", type, NULL));
    if (!PetscGlobalRank) PetscCall(MatSetValue(T, 1, 0, (PetscScalar)INFINITY, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(T, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(T, MAT_FINAL_ASSEMBLY));
    PetscCall(Refused(T, "an infinite rate", type, "from state 0 to state 1 |inf|finite", PETSC_TRUE));
    PetscCall(MatDestroy(&T));
  }
  PetscCall(Refused(A, "a step backward", type, "goes forward", PETSC_FALSE));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &T));
  PetscCall(Refused(T, "Q in place of its transpose", type, "state 0 |transpose", PETSC_TRUE));
  PetscCall(MatDestroy(&T));
  PetscCall(MatCreateTranspose(A, &T));
  PetscCall(Refused(T, "Q in place of its transpose, virtual", type, "state 0 |transpose", PETSC_TRUE));
  PetscCall(MatDestroy(&T));

  /* A rate which the sum lacks */
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  if (!PetscGlobalRank) PetscCall(MatSetValue(A, 4, 9, 0.25, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(RefusedAll(A, "a sum that is not zero", type, "state 9 |column 9 "));
  PetscCall(Refused(A, "a sum that is not zero, with a tolerance", "-ts_type uniformization -ts_uniformization_check_tolerance 10", NULL, PETSC_TRUE));
  PetscCall(Refused(A, "a sum that is not zero, not checked", "-ts_type uniformization -ts_uniformization_check 0", NULL, PETSC_TRUE));
  PetscCall(MatDestroy(&A));

  /* A negative rate, the sum being zero */
  bad             = c;
  bad.rate[5][10] = -0.5;
  PetscCall(ChainMatrix(&bad, &A));
  PetscCall(RefusedAll(A, "a negative rate", type, "from state 5 to state 10 |-0.5"));
  PetscCall(MatDestroy(&A));

  /* A positive diagonal entry */
  PetscCall(ChainMatrix(&c, &A));
  if (!PetscGlobalRank) PetscCall(MatSetValue(A, 2, 2, 100.0, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(RefusedAll(A, "a positive diagonal entry", type, "diagonal entry of state 2 "));
  PetscCall(MatDestroy(&A));

  /* A rate which is NaN */
  bad            = c;
  bad.rate[8][2] = NAN;
  PetscCall(ChainMatrix(&bad, &A));
  PetscCall(Refused(A, "not a number", type, "from state 8 to state 2 ", PETSC_TRUE));
  PetscCall(MatDestroy(&A));
#if defined(PETSC_USE_COMPLEX)
  PetscCall(ChainMatrix(&c, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATION_ERR, PETSC_FALSE));
  if (!PetscGlobalRank) PetscCall(MatSetValue(A, 3, 6, PETSC_i, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Refused(A, "an imaginary rate", type, "state 6 |imaginary", PETSC_TRUE));
  PetscCall(MatDestroy(&A));
#endif

  /* Options out of range */
  PetscCall(ChainMatrix(&c, &A));
  {
    static const char *const wrong[] = {"-ts_uniformization_eps 0",        "-ts_uniformization_rate_factor 0.5", "-ts_uniformization_open_outputs 65",
                                        "-ts_uniformization_negligible 1", "-ts_uniformization_theta 0",         "-ts_uniformization_check_tolerance -1"};
    TS                       ts;
    PetscErrorCode           ierr;

    PetscCall(ChainTS(A, "-ts_type uniformization -ts_uniformization_open_outputs 3 -ts_uniformization_theta 50 -ts_uniformization_check_tolerance 1e-3", &ts));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(wrong); k++) {
      char *found;

      message[0] = 0;
      PetscCall(PetscPushErrorHandler(Keep, NULL));
      ierr = TestSetOptions(ts, "%s", wrong[k]);
      PetscCall(PetscPopErrorHandler());
      PetscCall(PetscStrstr(message, wrong[k], &found));
      if (WRONG(!ierr || !found)) FAIL("%s was taken: %s", wrong[k], message);
    }
    PetscCall(TSDestroy(&ts));
  }
  PetscCall(MatDestroy(&A));
  return TestEnd(21, "all is right\n");
}

/*TEST

  # what a call leaves behind that ends with an error is not looked at
  testset:
    output_file: output/right.out
    filter: grep -E "right|failed|FAIL"

    test:
      nsize: {{1 2 4}}

    test:
      suffix: vcrs
      nsize: {{1 2}}
      args: -mat_type vcrs

TEST*/
