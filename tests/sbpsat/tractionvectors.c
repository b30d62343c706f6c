/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MatSBPSATGetTraction(): against the matrix and against one process; places of vectors, units, NaN, refused requests.\n\n";

#include "tractiontest.h"
#include <tests/refused.h>

/* ------------------------------------------------------------ the matrix */

/* b += (L^T H S_J) t, which is L^T F */
static PetscErrorCode AddFlux(Case *s, int face, Vec u, Vec g, Vec t, PetscReal sign, Vec b)
{
  PetscFunctionBeginUser;
  PetscCall(MatSBPSATGetTraction(s->A, (MatSBPSATFace)face, u, g, t));
  PetscCall(VecScale(t, sign));
  PetscCall(MatSBPSATAddBoundary(s->N, (MatSBPSATFace)face, t, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   With the matrix N without Dirichlet faces and h = L u - g,

     A u - b(g) = N u + sum of -L^T F(u, g) - G^T h over the faces, and -G^T h = b(h) - L^T F(0, h),

   for any u and g. As N 1 = 0 and G 1 = 0, the sum of F(u, g) over the faces is -1^T (A u - b(g))
*/
static PetscErrorCode TestMatrix(Case *s)
{
  Vec         u, g, t, zero, h, x, y;
  PetscReal   scale, difference;
  PetscScalar sum, flux;

  PetscFunctionBeginUser;
  PetscCall(Noise(s, 1, &u));
  PetscCall(Noise(s, 2, &g));
  PetscCall(Noise(s, 3, &t));
  PetscCall(VecDuplicate(u, &zero));
  PetscCall(VecDuplicate(u, &h));
  PetscCall(VecDuplicate(u, &x));
  PetscCall(VecDuplicate(u, &y));
  PetscCall(VecSet(zero, 0.));
  PetscCall(VecSet(s->b, 0.));
  PetscCall(MatMult(s->N, u, y));
  for (int f = 0; f < 4; f++) {
    PetscCall(FillNoise(s->da, 4 + f, g));
    PetscCall(MatSBPSATAddBoundary(s->A, (MatSBPSATFace)f, g, s->b));
    PetscCall(AddFlux(s, f, u, g, t, -1, y));
    PetscCall(VecWAXPY(h, -1., g, u));
    PetscCall(AddFlux(s, f, zero, h, t, -1, y));
    PetscCall(MatSBPSATAddBoundary(s->A, (MatSBPSATFace)f, h, y));
  }
  PetscCall(MatMult(s->A, u, x));
  PetscCall(VecNorm(x, NORM_INFINITY, &scale));
  PetscCall(VecAXPY(x, -1., s->b));
  PetscCall(VecAXPY(y, -1., x));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  if (WRONG(!(difference <= 1000 * PETSC_MACHINE_EPSILON * scale && scale > 0)))
    FAIL(CASE ": tractions and matrix differ by %g of %g", CASE_ARGS(s), (double)difference, (double)scale);

  PetscCall(VecSum(x, &sum));
  PetscCall(VecSet(y, 0.));
  for (int f = 0; f < 4; f++) {
    PetscCall(FillNoise(s->da, 4 + f, g));
    PetscCall(AddFlux(s, f, u, g, t, 1, y));
  }
  PetscCall(VecSum(y, &flux));
  PetscCall(VecNorm(y, NORM_1, &scale));
  if (WRONG(!(PetscAbsScalar(flux + sum) <= 1000 * PETSC_MACHINE_EPSILON * scale && scale > 0)))
    FAIL(CASE ": the flux of all faces is %g, that of the residual %g, of %g", CASE_ARGS(s), (double)PetscRealPart(flux), (double)PetscRealPart(sum),
         (double)scale);
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&zero));
  PetscCall(VecDestroy(&h));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ vectors */

/* Intervals from node (i, j) to a face */
static PetscInt FaceDistance(const Case *s, int face, PetscInt i, PetscInt j)
{
  const PetscInt at = face / 2 ? j : i;

  return face % 2 ? s->n[face / 2] - at : at;
}

/* The same bits, with NaN in the same places */
static PetscErrorCode TestEqual(Case *s, const char what[], Vec x, Vec y)
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(VecEqual(x, y, &same));
  if (WRONG(!same)) FAIL(CASE ": %s", CASE_ARGS(s), what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of NaN, or of numbers, on the lines of nodes near a face */
static PetscErrorCode CountNaN(Case *s, int face, Vec v, PetscInt at, PetscInt numbers[3])
{
  PetscInt            start[2], count[2];
  const PetscScalar **a;

  PetscFunctionBeginUser;
  numbers[0] = numbers[1] = numbers[2] = 0;
  PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayRead(s->da, v, (void *)&a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      if (!PetscIsNanScalar(a[j][i])) continue;
      if (FaceDistance(s, face, i, j)) numbers[2]++;
      else if ((face / 2 ? i : j) == at) numbers[0]++;
      else numbers[1]++;
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(s->da, v, (void *)&a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, numbers, 3, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v is number at the node that has the distance deep from a face, and the place at along the face */
static PetscErrorCode SetNode(Case *s, int face, PetscInt deep, PetscInt at, PetscScalar number, Vec v)
{
  PetscInt      start[2], count[2];
  PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArray(s->da, v, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      if (FaceDistance(s, face, i, j) == deep && (face / 2 ? i : j) == at) a[j][i] = number;
    }
  }
  PetscCall(DMDAVecRestoreArray(s->da, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The result is on the device if the vectors are */
static PetscErrorCode TestPlace(Vec t)
{
  PetscBool        cuda;
  PetscOffloadMask mask;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)t, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  PetscCall(VecGetOffloadMask(t, &mask));
  if (WRONG(cuda && mask != PETSC_OFFLOAD_GPU)) FAIL("a traction with vectors of CUDA is not on the device");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestVectors(Case *s, int face)
{
  const MatSBPSATFace f      = (MatSBPSATFace)face;
  const PetscReal     far[2] = {PetscPowReal(2, PetscDefined(USE_REAL_SINGLE) ? 60 : 664), PetscPowReal(2, PetscDefined(USE_REAL_SINGLE) ? -60 : -664)};
  const PetscInt      at     = 7; /* a place along the face */
  PetscInt            nan[3];
  Mat                 B;
  Vec                 u, g, t, v, w;

  PetscFunctionBeginUser;
  PetscCall(Noise(s, 20, &u));
  PetscCall(Noise(s, 21, &g));
  PetscCall(VecDuplicate(u, &t));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(VecDuplicate(u, &w));

  /* Input and output may be the same vector */
  PetscCall(VecCopy(u, t));
  PetscCall(MatSBPSATGetTraction(s->A, f, u, g, t));
  PetscCall(TestPlace(t));
  PetscCall(VecCopy(u, v));
  PetscCall(MatSBPSATGetTraction(s->A, f, v, g, v));
  PetscCall(TestEqual(s, "t is u", t, v));

  /* Values off the face stay */
  PetscCall(VecSet(v, NAN));
  PetscCall(MatSBPSATGetTraction(s->A, f, u, g, v));
  PetscCall(CountNaN(s, face, v, at, nan));
  if (WRONG(nan[0] + nan[1] || nan[2] != s->n[face / 2] * (s->n[1 - face / 2] + 1))) FAIL(CASE ": other values than those of the face", CASE_ARGS(s));

  /* Without data */
  PetscCall(VecSet(w, 0.));
  PetscCall(VecSet(t, 0.));
  PetscCall(VecSet(v, 0.));
  PetscCall(MatSBPSATGetTraction(s->A, f, u, w, t));
  PetscCall(MatSBPSATGetTraction(s->A, f, u, NULL, v));
  PetscCall(TestEqual(s, "without data", t, v));

  /* A change of the operator */
  PetscCall(MatSBPSATGetTraction(s->A, f, u, g, t));
  PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 3.));
  PetscCall(MatShift(B, 5.));
  PetscCall(MatSBPSATGetTraction(B, f, u, g, v));
  PetscCall(TestEqual(s, "after a change of the operator", t, v));
  PetscCall(MatDestroy(&B));

  /* Any units */
  for (int k = 0; k < 2; k++) {
    PetscCall(VecScale(u, far[k]));
    PetscCall(VecScale(g, far[k]));
    PetscCall(VecScale(t, far[k]));
    PetscCall(MatSBPSATGetTraction(s->A, f, u, g, v));
    PetscCall(TestEqual(s, "in other units", t, v));
    PetscCall(VecScale(u, far[1 - k]));
    PetscCall(VecScale(g, far[1 - k]));
    PetscCall(VecScale(t, far[1 - k]));
  }

  /* NaN of u, at any depth, and of g */
  for (PetscInt deep = 0; deep < 3 + (s->order - 2) / 2; deep++) {
    PetscCall(VecCopy(u, w));
    PetscCall(SetNode(s, face, deep, at, NAN, w));
    PetscCall(MatSBPSATGetTraction(s->A, f, w, g, v));
    PetscCall(CountNaN(s, face, v, at, nan));
    if (WRONG(nan[0] != 1 || nan[1] > (deep ? 0 : 16) || nan[2])) FAIL(CASE ": NaN of u at depth %" PetscInt_FMT, CASE_ARGS(s), deep);
  }
  PetscCall(VecSet(v, 0.));
  PetscCall(VecCopy(g, w));
  PetscCall(SetNode(s, face, 0, at, NAN, w));
  PetscCall(SetNode(s, face, 1, at + 1, NAN, w));
  PetscCall(MatSBPSATGetTraction(s->A, f, u, w, v));
  PetscCall(CountNaN(s, face, v, at, nan));
  if (WRONG(nan[0] != 1 || nan[1] || nan[2])) FAIL(CASE ": NaN of g", CASE_ARGS(s));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes, of any sizes, or a device, against a process alone on the host */
static PetscErrorCode TestAlone(Case *s)
{
  Case        alone;
  Case *const both[2] = {s, &alone};
  Vec         u, g, t[2];

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(PETSC_COMM_SELF, s->n, NULL, NULL, s->order, s->shape, s->kind, &alone));
  for (int f = 0; f < 4; f++) {
    PetscInt            start[2], count[2];
    PetscReal           most[2] = {0, 0};
    const PetscScalar **a, **b;

    for (int k = 0; k < 2; k++) {
      PetscCall(Noise(both[k], 30, &u));
      PetscCall(Noise(both[k], 31, &g));
      PetscCall(Noise(both[k], 32, &t[k]));
      PetscCall(MatSBPSATGetTraction(both[k]->A, (MatSBPSATFace)f, u, g, t[k]));
      PetscCall(VecDestroy(&u));
      PetscCall(VecDestroy(&g));
    }
    PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
    PetscCall(DMDAVecGetArrayRead(s->da, t[0], (void *)&a));
    PetscCall(DMDAVecGetArrayRead(alone.da, t[1], (void *)&b));
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
        most[0] = PetscMax(most[0], PetscAbsScalar(a[j][i] - b[j][i]));
        most[1] = PetscMax(most[1], PetscAbsScalar(b[j][i]));
      }
    }
    PetscCall(DMDAVecRestoreArrayRead(s->da, t[0], (void *)&a));
    PetscCall(DMDAVecRestoreArrayRead(alone.da, t[1], (void *)&b));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, most, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
    if (WRONG(!(most[0] <= 1000 * PETSC_MACHINE_EPSILON * most[1] && most[1] > 0)))
      FAIL(CASE ", %s: the traction is not that of one process: %g of %g", CASE_ARGS(s), MatSBPSATFaces[f], (double)most[0], (double)most[1]);
    PetscCall(VecDestroy(&t[0]));
    PetscCall(VecDestroy(&t[1]));
  }
  PetscCall(CaseDestroy(&alone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first or the second process of a direction has the fewest nodes possible: narrow. With order 2 a boundary stencil
   reads further */
static PetscErrorCode TestCase(const PetscInt n[2], PetscInt order, Shape shape, Kind kind, const PetscInt processes[2], int narrow)
{
  static const PetscInt least[KINDS][3] = {{2, 5, 8}, {2, 5, 8}, {3, 8, 13}};
  PetscInt              range[2][4];
  Case                  s;

  PetscFunctionBeginUser;
  for (int d = 0; d < 2; d++) {
    const PetscInt few = least[kind][order / 2 - 1];

    range[d][0] = n[d] + 1;
    if (processes[d] == 1) continue;
    range[d][narrow]     = few;
    range[d][1 - narrow] = n[d] + 1 - few;
  }
  PetscCall(CaseCreate(PETSC_COMM_WORLD, n, processes, (const PetscInt *const[2]){range[0], range[1]}, order, shape, kind, &s));
  for (int f = 0; f < 4; f++) {
    if (size == 1 || (f + order / 2 + narrow) % 4 == 0) PetscCall(TestVectors(&s, f));
  }
  PetscCall(TestMatrix(&s));
  PetscCall(TestAlone(&s));
  PetscCall(CaseDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ refused requests */

static PetscErrorCode TestErrors(void)
{
  const PetscInt n[2] = {20, 24};
  Case           s;
  Mat            B;
  Vec            u, few, c[3];

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(PETSC_COMM_WORLD, n, NULL, NULL, 2, STRETCHED, COORDINATES, &s));
  PetscCall(Noise(&s, 1, &u));
  PetscCall(MatCreateVecs(s.A, NULL, &few));
  PetscCall(VecDestroy(&few));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, 3, PETSC_DECIDE, &few));
  TEST_REFUSED("no Dirichlet face", MatSBPSATGetTraction(s.N, MATSBPSAT_RIGHT, u, u, u), "right", "no Dirichlet face", "MatSBPSATAddBoundary()",
               "MatSBPSATSetDirichlet()");
  TEST_REFUSED("no face", MatSBPSATGetTraction(s.A, (MatSBPSATFace)4, u, u, u), "no face 4", "MATSBPSAT_LEFT");
  TEST_REFUSED("few entries of u", MatSBPSATGetTraction(s.A, MATSBPSAT_LEFT, few, u, u), "vector u has 3", "DMCreateGlobalVector()");
  TEST_REFUSED("few entries of g", MatSBPSATGetTraction(s.A, MATSBPSAT_LEFT, u, few, u), "vector g has 3", "DMCreateGlobalVector()");
  TEST_REFUSED("few entries of t", MatSBPSATGetTraction(s.A, MATSBPSAT_LEFT, u, u, few), "vector t has 3", "DMCreateGlobalVector()");
  PetscCall(MatConvert(s.A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  TEST_REFUSED("no MATSBPSAT", MatSBPSATGetTraction(B, MATSBPSAT_LEFT, u, u, u), "not sbpsat");
  PetscCall(MatDestroy(&B));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecDuplicate(u, &c[k]));
    PetscCall(Fill(s.da, s.shape, RR + k, 0, c[k]));
  }
  PetscCall(MatSBPSATSetTensor(s.A, c[0], c[1], c[2], NULL));
  TEST_REFUSED("no J", MatSBPSATGetTraction(s.A, MATSBPSAT_LEFT, u, u, u), "J = x_r y_s - x_s y_r", "MatSBPSATSetTensor()");
  if (WRONG(count != 7)) FAIL("%" PetscInt_FMT " requests, not 7", count);
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&c[k]));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&few));
  PetscCall(CaseDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt n[2] = {34, 29};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (PetscInt order = 2; order <= 6; order += 2) {
    for (int shape = 0; shape < SHAPES; shape++) {
      for (int kind = 0; kind < KINDS; kind++) {
        for (int narrow = 0; narrow < PetscMin(size, 2); narrow++) {
          if (size == 4) PetscCall(TestCase(n, order, (Shape)shape, (Kind)kind, (const PetscInt[2]){2, 2}, narrow));
          else PetscCall(TestCase(n, order, (Shape)shape, (Kind)kind, (const PetscInt[2]){size, 1}, narrow));
          if (size == 2) PetscCall(TestCase(n, order, (Shape)shape, (Kind)kind, (const PetscInt[2]){1, 2}, narrow));
        }
      }
    }
  }
  PetscCall(TestErrors());
  return TestEnd(640, "all is right\n");
}

/*TEST

  testset:
    requires: double
    output_file: output/right.out
    test:
      nsize: {{1 2 4}}
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_vec_type cuda

TEST*/
