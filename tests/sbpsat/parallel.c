/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT: coefficients, right-hand sides, norms and copies made on a device or by several processes, against one "
                     "process on the host.\n\n";

#include <tests/failures.h>
#include <tutorials/common/sbpsatproblem.h>
#include <lithe.h>
#include <petscksp.h>

/* The same problem on all processes, with vectors of any type, and by each process alone on the host */
typedef struct {
  DM  da;
  Mat A;
  Vec mu, x, y, b;
} System;

typedef enum {
  GIVEN,       /* MatSBPSATSetTensor() */
  COORDINATES, /* and mu */
  SQUARE,      /* neither coordinates nor mu */
  FLY,         /* coordinates and mu in every product */
  KINDS
} Kind;
static const char *const kinds[] = {"given", "coordinates", "square", "fly"};

/* Many roundings, and differences of coordinates */
static PetscReal Tolerance(void)
{
  return 4000 * PETSC_MACHINE_EPSILON;
}

/* A value per node which does not depend on the owner */
static PetscErrorCode Fill(DM da, int seed, PetscReal low, PetscReal high, Vec v)
{
  PetscInt      start[2], count[2];
  PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(da, v, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscReal r = (PetscReal)((i * 7919 + j * 104729 + seed * 13007) % 10007) / 10006, s = (PetscReal)((i * 6007 + j * 911 + seed * 101) % 9973) / 9972;

      a[j][i] = low + (high - low) * r;
      if (PetscDefined(USE_COMPLEX) && low < 0) a[j][i] += PETSC_i * (low + (high - low) * s);
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(da, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MPI_Comm comm, const PetscInt n[2], PetscInt order, Kind kind, const PetscBool dirichlet[4], System *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(ProblemCreateGrid(comm, n, &s->da));
  if (comm == PETSC_COMM_SELF) PetscCall(DMSetVecType(s->da, VECSTANDARD));
  if (kind == COORDINATES || kind == FLY) PetscCall(ProblemSetCoordinates(s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(MatSBPSATSetOrder(s->A, order));
  if (kind == GIVEN) PetscCall(ProblemSetOperator(s->da, PETSC_TRUE, s->A));
  PetscCall(DMCreateGlobalVector(s->da, &s->mu));
  PetscCall(Fill(s->da, 1, (PetscReal)0.5, 2, s->mu));
  if (kind == COORDINATES || kind == FLY) PetscCall(MatSBPSATSetCoefficient(s->A, s->mu));
  if (kind == FLY) PetscCall(MatSBPSATSetMetrics(s->A, MATSBPSAT_METRICS_FLY));
  PetscCall(MatSBPSATSetDirichlet(s->A, dirichlet));
  PetscCall(VecDuplicate(s->mu, &s->x));
  PetscCall(VecDuplicate(s->mu, &s->y));
  PetscCall(VecDuplicate(s->mu, &s->b));
  PetscCall(Fill(s->da, 2, -1, 1, s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(System *s)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&s->mu));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->y));
  PetscCall(VecDestroy(&s->b));
  PetscCall(MatDestroy(&s->A));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference over the largest number */
static PetscErrorCode Compare(const char what[], const char of[], PetscInt order, const System *s, Vec v, const System *alone, Vec w)
{
  PetscInt      start[2], count[2];
  PetscScalar **a, **b;
  PetscReal     most[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayRead(s->da, v, (void *)&a));
  PetscCall(DMDAVecGetArrayRead(alone->da, w, (void *)&b));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscReal difference = PetscAbsScalar(a[j][i] - b[j][i]);

      if (!(difference <= most[0])) most[0] = difference; /* NaN, too */
      most[1] = PetscMax(most[1], PetscAbsScalar(b[j][i]));
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(s->da, v, (void *)&a));
  PetscCall(DMDAVecRestoreArrayRead(alone->da, w, (void *)&b));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, most, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  if (WRONG(!(most[0] <= Tolerance() * most[1] && most[1] > 0)))
    FAIL("order %" PetscInt_FMT ", %s, %s: difference %g of %g", order, of, what, (double)most[0], (double)most[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RightSide(const System *s, Mat A, Vec b)
{
  Vec data;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->x, &data));
  PetscCall(Fill(s->da, 3, -1, 2, data));
  PetscCall(VecZeroEntries(b));
  PetscCall(MatSBPSATAddSource(A, data, b));
  for (int f = 0; f < 4; f++) {
    PetscCall(Fill(s->da, 4 + f, -1, 2, data));
    PetscCall(MatSBPSATAddBoundary(A, (MatSBPSATFace)f, data, b));
  }
  PetscCall(VecDestroy(&data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything derived from settings */
static PetscErrorCode TestKind(const PetscInt n[2], PetscInt order, Kind kind, const PetscBool dirichlet[4])
{
  System    s, alone;
  PetscReal norm[2];
  Mat       B, C;
  Vec       u, v;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, n, order, kind, dirichlet, &s));
  PetscCall(Create(PETSC_COMM_SELF, n, order, kind, dirichlet, &alone));

  /* The right-hand side first: nothing has been built before */
  PetscCall(RightSide(&s, s.A, s.b));
  PetscCall(RightSide(&alone, alone.A, alone.b));
  PetscCall(Compare("right-hand side", kinds[kind], order, &s, s.b, &alone, alone.b));
  PetscCall(MatMult(s.A, s.x, s.y));
  PetscCall(MatMult(alone.A, alone.x, alone.y));
  PetscCall(Compare("product", kinds[kind], order, &s, s.y, &alone, alone.y));
  PetscCall(MatSBPSATNorm(s.A, s.x, &norm[0]));
  PetscCall(MatSBPSATNorm(alone.A, alone.x, &norm[1]));
  if (WRONG(!(PetscAbsReal(norm[0] - norm[1]) <= Tolerance() * norm[1])))
    FAIL("order %" PetscInt_FMT ": norm %g, not %g", order, (double)norm[0], (double)norm[1]);

  /* A copy keeps the values at the time of the copy, whatever happens to the vectors; the same holds for an assembled
     matrix */
  PetscCall(MatDuplicate(s.A, MAT_COPY_VALUES, &B));
  PetscCall(RightSide(&s, B, s.b));
  PetscCall(Compare("right-hand side of a copy", kinds[kind], order, &s, s.b, &alone, alone.b));
  PetscCall(VecScale(s.mu, 7.));
  PetscCall(MatMult(B, s.x, s.b));
  PetscCall(Compare("product with a copy", kinds[kind], order, &s, s.b, &alone, alone.y));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatCreateVecs(C, &u, &v));
  PetscCall(VecCopy(s.x, u));
  PetscCall(MatMult(C, u, v));
  PetscCall(Compare("product, assembled", kinds[kind], order, &s, v, &alone, alone.y));
  PetscCall(MatDestroy(&C));

  /* With vectors on the host, and bound to the host */
  PetscCall(VecBindToCPU(u, PETSC_TRUE));
  PetscCall(VecBindToCPU(v, PETSC_TRUE));
  PetscCall(MatMult(B, u, v));
  PetscCall(Compare("product on the host", kinds[kind], order, &s, v, &alone, alone.y));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(MatAXPY(B, 1., s.A, SAME_NONZERO_PATTERN));
  PetscCall(MatMult(B, s.x, s.b));
  PetscCall(VecScale(s.b, 0.5));
  PetscCall(Compare("product with a sum", kinds[kind], order, &s, s.b, &alone, alone.y));
  PetscCall(MatDestroy(&B));

  /* New values are read after an assembly */
  PetscCall(VecScale(alone.mu, 7.));
  PetscCall(MatAssemblyBegin(s.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(alone.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(alone.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetDiagonal(s.A, s.y));
  PetscCall(MatGetDiagonal(alone.A, alone.y));
  PetscCall(Compare("diagonal", kinds[kind], order, &s, s.y, &alone, alone.y));
  PetscCall(Destroy(&s));
  PetscCall(Destroy(&alone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels with coefficients of every second node, and a second order below orders 4 and 6: a device against the host */
static PetscErrorCode TestLevels(PetscInt order, const char coarse[], const PetscBool dirichlet[4])
{
  const PetscInt n[2] = {48, 64};
  System         s[2];
  char           options[128];

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, n, order, COORDINATES, dirichlet, &s[0]));
  PetscCall(Create(PETSC_COMM_SELF, n, order, COORDINATES, dirichlet, &s[1]));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_sbpmg_coarse %s -pc_sbpmg_precision %s", coarse, PetscDefined(USE_REAL_SINGLE) ? "single" : "double"));
  for (int k = 0; k < 2; k++) {
    PetscOptions database;
    PC           pc;

    PetscCall(PetscOptionsCreate(&database));
    PetscCall(PetscOptionsInsertString(database, options));
    PetscCall(PCCreate(PetscObjectComm((PetscObject)s[k].A), &pc));
    PetscCall(PCSetOperators(pc, s[k].A, s[k].A));
    PetscCall(PCSetType(pc, PCSBPMG));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, database));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
    PetscCall(PetscOptionsDestroy(&database));
    PetscCall(PCApply(pc, s[k].x, s[k].y));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(Compare(coarse, "application of PCSBPMG", order, &s[0], s[0].y, &s[1], s[1].y));
  for (int k = 0; k < 2; k++) PetscCall(Destroy(&s[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char message[2][512];
static int  which;

static PetscErrorCode Keep(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED int line, PETSC_UNUSED const char *fun, PETSC_UNUSED const char *file, PetscErrorCode n,
                           PetscErrorType p, const char *text, PETSC_UNUSED void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)PetscStrncpy(message[which], text ? text : "", sizeof(message[which]));
  return n;
}

/* Refused numbers, reported with their node, and permitted numbers near the ends of the range */
static PetscErrorCode TestRange(const PetscBool dirichlet[4])
{
  static const double bad[] = {-1, 0, NAN, INFINITY};
  const PetscInt      n[2]  = {37, 24};
  System              s[2];
  Vec                 c[2][3];

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, n, 2, SQUARE, dirichlet, &s[0]));
  PetscCall(Create(PETSC_COMM_SELF, n, 2, SQUARE, dirichlet, &s[1]));
  for (int k = 0; k < 2; k++) {
    for (int l = 0; l < 3; l++) PetscCall(VecDuplicate(s[k].x, &c[k][l]));
  }
  for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(bad); b++) {
    for (which = 0; which < 2; which++) {
      PetscInt       start[2], count[2];
      PetscScalar  **a;
      PetscErrorCode ierr;

      for (int l = 0; l < 3; l++) PetscCall(VecSet(c[which][l], l < 2 ? 1. : 0.));
      PetscCall(DMDAGetCorners(s[which].da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
      PetscCall(DMDAVecGetArray(s[which].da, c[which][0], &a));
      if (start[0] <= 30 && 30 < start[0] + count[0] && start[1] <= 5 && 5 < start[1] + count[1]) a[5][30] = (PetscReal)bad[b];
      PetscCall(DMDAVecRestoreArray(s[which].da, c[which][0], &a));
      PetscCall(MatSBPSATSetTensor(s[which].A, c[which][0], c[which][1], c[which][2], NULL));
      PetscCall(PetscPushErrorHandler(Keep, NULL));
      message[which][0] = 0;
      ierr              = MatMult(s[which].A, s[which].x, s[which].y);
      PetscCall(PetscPopErrorHandler());
      if (WRONG(ierr != PETSC_ERR_ARG_OUTOFRANGE)) FAIL("c_rr = %g was not refused", bad[b]);
    }
    if (WRONG(strcmp(message[0], message[1]) || !strstr(message[0], "(30, 5)"))) FAIL("%g: \"%s\" and \"%s\"", bad[b], message[0], message[1]);
  }
  for (int large = 0; large < 2; large++) {
    const double far = PetscDefined(USE_REAL_SINGLE) ? 1e30 : 1e290;

    for (int k = 0; k < 2; k++) {
      PetscCall(Fill(s[k].da, 9, 1, 2, c[k][0]));
      PetscCall(VecScale(c[k][0], (PetscReal)(large ? far : 1 / far)));
      PetscCall(VecCopy(c[k][0], c[k][1]));
      PetscCall(VecCopy(c[k][0], c[k][2]));
      PetscCall(VecScale(c[k][2], (PetscReal)-0.9));
      PetscCall(MatSBPSATSetTensor(s[k].A, c[k][0], c[k][1], c[k][2], NULL));
      PetscCall(MatMult(s[k].A, s[k].x, s[k].y));
    }
    PetscCall(Compare("product", large ? "large" : "small", 2, &s[0], s[0].y, &s[1], s[1].y));
  }
  for (int k = 0; k < 2; k++) {
    for (int l = 0; l < 3; l++) PetscCall(VecDestroy(&c[k][l]));
    PetscCall(Destroy(&s[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscBool faces[3][4] = {{PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
                                 {PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
                                 {PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE}};
  const PetscInt  n[3][2]     = {{33, 40}, {40, 33}, {31, 65}};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (PetscInt order = 2; order <= 6; order += 2) {
    for (int kind = 0; kind < KINDS; kind++) PetscCall(TestKind(n[(order / 2 + kind) % 3], order, (Kind)kind, faces[(order + kind) % 3]));
  }
  PetscCall(TestKind((const PetscInt[2]){300, 41}, 2, COORDINATES, faces[2]));
  PetscCall(TestRange(faces[0]));
  for (PetscInt order = 2; order <= 6 && size == 1; order += 2) {
    PetscCall(TestLevels(order, "galerkin", faces[0]));
    PetscCall(TestLevels(order, "rediscretized", faces[0]));
  }
  return TestEnd(131, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    test:
      nsize: {{1 2 3}}
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_vec_type cuda

TEST*/
