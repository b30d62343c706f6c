/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCGRIDMG for matrices outside of the textbook: unknowns and equations in different units, given near null vectors,
   inactive points, stiff inclusions, periodic directions. A scaled matrix must take the iterations of the plain one.
   Last, the true residual that solvers end with.

   With -device the matrix has the type aijcusparse.
*/

static char help[] = "PCGRIDMG for scaled matrices, odd rows and solvers that need a linear preconditioner\n\n";

#include <lithe.h>
#include <tests/refused.h>
#include <tests/vcrs/vcrstest.h>
#include <tests/viewtest.h>
#include <petscdmda.h>

/* A problem on an n x n grid with values 0 outside */
typedef enum {
  KIND_FLUXES,    /* 5 points, coefficient 1 */
  KIND_ELEMENTS,  /* 9 points, bilinear elements */
  KIND_LOGNORMAL, /* 5 points, log-normal coefficients */
  KIND_STIFF,     /* 9 points, elements of boxes are stiff */
  KIND_VORTEX     /* 5 points, upwind fluxes of a closed vortex: nonsymmetric */
} Kind;

typedef struct {
  Kind           kind;
  PetscInt       n;
  DMBoundaryType boundary;
  PetscReal      size; /* contrast of stiff elements; Peclet number */
} Problem;

static PetscBool device = PETSC_FALSE;
static PetscInt  processes;

static PetscReal Random(PetscInt k)
{
  return (PetscReal)TestRandom((uint64_t)k, 5, 7);
}

/* The flux between the points (i, j) and (ii, jj) over the unit flux of diffusion */
static PetscReal Wind(const Problem *p, PetscInt i, PetscInt j, PetscInt ii, PetscInt jj)
{
  const PetscReal x = (i + (PetscReal)0.5 * (1 + ii - i)) / p->n, y = (j + (PetscReal)0.5 * (1 + jj - j)) / p->n;
  const PetscReal u = PetscSinReal(PETSC_PI * x) * PetscCosReal(PETSC_PI * y), v = -PetscCosReal(PETSC_PI * x) * PetscSinReal(PETSC_PI * y);

  return p->kind == KIND_VORTEX ? p->size / p->n * (u * (ii - i) + v * (jj - j)) : 0;
}

static PetscErrorCode FillFluxes(const Problem *p, PetscInt i, PetscInt j, Mat A)
{
  const MatStencil row = {.i = i, .j = j};

  PetscFunctionBeginUser;
  for (int f = 0; f < 4; f++) {
    const MatStencil  to = {.i = i + (f == 1) - (f == 0), .j = j + (f == 3) - (f == 2)};
    const PetscBool   in = (PetscBool)(p->boundary == DM_BOUNDARY_PERIODIC || (to.i >= 0 && to.i < p->n && to.j >= 0 && to.j < p->n));
    const PetscInt    a = i + p->n * j, b = to.i + p->n * to.j;
    const PetscReal   flux = Wind(p, i, j, to.i, to.j);
    const PetscReal   w    = p->kind == KIND_LOGNORMAL ? PetscExpReal(4 * (Random(PetscMin(a, b)) + Random(1000000 + PetscMax(a, b)) - 1)) : 1;
    const PetscScalar side = -w + PetscMin(flux, 0), diagonal = w + PetscMax(flux, 0);

    if (in) PetscCall(MatSetValuesStencil(A, 1, &row, 1, &to, &side, ADD_VALUES));
    PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, &diagonal, ADD_VALUES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row of a point from the four elements around the point */
static PetscErrorCode FillElements(const Problem *p, PetscInt i, PetscInt j, Mat A)
{
  static const PetscReal K[4][4] = {{4, -1, -1, -2}, {-1, 4, -2, -1}, {-1, -2, 4, -1}, {-2, -1, -1, 4}};
  const MatStencil       row     = {.i = i, .j = j};

  PetscFunctionBeginUser;
  for (int q = 0; q < 4; q++) {
    const PetscInt  x = i - (q & 1), y = j - (q >> 1), X = (x + 1) * 8 / (p->n + 1), Y = (y + 1) * 8 / (p->n + 1);
    const PetscBool stiff = (PetscBool)(p->kind == KIND_STIFF && (X + Y) % 2 && X && Y && X < 7 && Y < 7);

    for (int o = 0; o < 4; o++) {
      const MatStencil  to = {.i = x + (o & 1), .j = y + (o >> 1)};
      const PetscScalar v  = (stiff ? p->size : 1) * K[q][o] / 6;

      if (p->boundary == DM_BOUNDARY_PERIODIC || (to.i >= 0 && to.i < p->n && to.j >= 0 && to.j < p->n))
        PetscCall(MatSetValuesStencil(A, 1, &row, 1, &to, &v, ADD_VALUES));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateProblem(const Problem *p, Mat *A)
{
  const PetscBool box = (PetscBool)(p->kind == KIND_ELEMENTS || p->kind == KIND_STIFF);
  PetscInt        x, y, m, n;
  DM              da;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, p->boundary, p->boundary, box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, p->n, p->n, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                         NULL, NULL, &da));
  PetscCall(DMSetMatType(da, device ? MATAIJCUSPARSE : MATAIJ));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &m, &n, NULL));
  for (PetscInt j = y; j < y + n; j++) {
    for (PetscInt i = x; i < x + m; i++) PetscCall(box ? FillElements(p, i, j, *A) : FillFluxes(p, i, j, *A));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How rows and columns of a problem are multiplied */
typedef enum {
  SCALE_DECADES,  /* both by 10^(-size..size) at random */
  SCALE_DIAGONAL, /* both, to a unit diagonal */
  SCALE_ROWS,     /* rows of a box by size */
  SCALE_COLUMNS,  /* columns of a box by size */
  SCALE_INACTIVE  /* rows and columns of a box by 0 */
} Scaling;

static PetscErrorCode Scale(const Problem *p, Scaling scaling, PetscReal size, Mat A, Vec *scale)
{
  DM            da;
  PetscScalar **d;
  PetscInt      x, y, m, n;
  Vec           natural;

  PetscFunctionBeginUser;
  PetscCall(MatGetDM(A, &da));
  PetscCall(MatCreateVecs(A, scale, NULL));
  PetscCall(DMCreateGlobalVector(da, &natural));
  PetscCall(DMDAGetCorners(da, &x, &y, NULL, &m, &n, NULL));
  PetscCall(DMDAVecGetArray(da, natural, &d));
  for (PetscInt j = y; j < y + n; j++) {
    for (PetscInt i = x; i < x + m; i++) {
      const PetscBool box = (PetscBool)(i > p->n / 2 && i < 3 * p->n / 4 && j > p->n / 3 && j < p->n / 2);

      d[j][i] = 1;
      if (scaling == SCALE_DECADES) d[j][i] = PetscPowReal(10, size * (2 * Random(i + p->n * j) - 1));
      else if (box) d[j][i] = scaling == SCALE_INACTIVE ? 0 : size;
    }
  }
  PetscCall(DMDAVecRestoreArray(da, natural, &d));
  PetscCall(VecCopy(natural, *scale));
  PetscCall(VecDestroy(&natural));
  if (scaling == SCALE_DIAGONAL) {
    PetscCall(MatGetDiagonal(A, *scale));
    PetscCall(VecSqrtAbs(*scale));
    PetscCall(VecReciprocal(*scale));
  }
  PetscCall(MatDiagonalScale(A, scaling == SCALE_COLUMNS ? NULL : *scale, scaling == SCALE_ROWS ? NULL : *scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a solve ends with; residual: the true one over the tolerance */
typedef struct {
  PetscInt           its;
  KSPConvergedReason reason;
  PetscReal          residual;
} Result;

/* The right-hand side is A x for random x */
static PetscErrorCode Solve(Mat A, KSP ksp, Result *r)
{
  PetscReal norm, rtol;
  Vec       x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(x, 3));
  PetscCall(VecRealPart(x));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecSet(x, 0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &r->its));
  PetscCall(KSPGetConvergedReason(ksp, &r->reason));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &r->residual));
  r->residual /= norm * rtol;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, const char type[], PetscReal rtol, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetTolerances(*ksp, rtol, 0, PETSC_CURRENT, 300));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGRIDMG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rtol: 1e-8, or what the precision permits */
static PetscReal Tolerance(void)
{
  return PetscMax((PetscReal)1e-8, 100 * PETSC_MACHINE_EPSILON);
}

/* Converged, with at most so many iterations, and the view has a text (NULL: anything; "-": no near null vector) */
static PetscErrorCode Check(const char name[], Mat A, const char type[], PetscInt most, const char text[], PetscInt *its)
{
  PetscBool has = PETSC_FALSE;
  Result    r;
  KSP       ksp;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, type, Tolerance(), &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(Solve(A, ksp, &r));
  if (WRONG(r.reason < 0 || !(r.residual <= 10))) FAIL("%s: %s, residual %g", name, KSPConvergedReasons[r.reason], (double)r.residual);
  if (WRONG(r.its > most)) FAIL("%s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " expected", name, r.its, most);
  if (text && processes == 1) {
    PetscCall(ViewHas(pc, text[0] == '-' ? "near null" : text, &has));
    if (WRONG(has != (text[0] != '-'))) FAIL("%s: the view %s '%s'", name, has ? "has" : "has not", text);
  }
  if (its) *its = r.its;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns in other units: the iterations of the plain matrix */
static PetscErrorCode TestScaled(Kind kind)
{
  const PetscReal decades[] = {0.25, 1, 4};
  const Problem   p         = {kind, 40, DM_BOUNDARY_NONE, 0};
  PetscInt        its;
  Vec             d;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(&p, &A));
  PetscCall(Check("plain", A, KSPCG, 20, "-", &its));
  PetscCall(MatDestroy(&A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(decades); k++) {
    char name[64];

    if (PetscDefined(USE_REAL_SINGLE) && decades[k] > 1) continue;
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %g decades", kind == KIND_FLUXES ? "fluxes" : "elements", (double)decades[k]));
    PetscCall(CreateProblem(&p, &A));
    PetscCall(Scale(&p, SCALE_DECADES, decades[k], A, &d));
    PetscCall(Check(name, A, KSPCG, its + 3, "near null vector not constant, recovered", NULL));
    PetscCall(VecDestroy(&d));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A near null vector from the program; its sign and zeros do no harm */
static PetscErrorCode TestGiven(void)
{
  const Problem p = {KIND_FLUXES, 40, DM_BOUNDARY_NONE, 0};
  MatNullSpace  space;
  PetscScalar  *a;
  Vec           d;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(&p, &A));
  PetscCall(Scale(&p, SCALE_DECADES, 1, A, &d));
  PetscCall(VecReciprocal(d));
  PetscCall(VecScale(d, -3));
  PetscCall(VecGetArray(d, &a));
  a[0] = 0;
  PetscCall(VecRestoreArray(d, &a));
  PetscCall(VecNormalize(d, NULL));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &d, &space));
  PetscCall(MatSetNearNullSpace(A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(Check("given", A, KSPCG, 20, "near null vector given", NULL));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A scaled matrix takes at most three iterations or a quarter more than the plain one */
static PetscErrorCode TestScaling(const char name[], Kind kind, Scaling scaling, PetscReal size, const char type[], const char text[])
{
  const Problem p = {kind, 40, DM_BOUNDARY_NONE, 0};
  PetscInt      its;
  Vec           d;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(&p, &A));
  PetscCall(Check(name, A, type, 60, "-", &its));
  PetscCall(Scale(&p, scaling, size, A, &d));
  PetscCall(Check(name, A, type, its + PetscMax(3, its / 4), text, NULL));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of one matrix: plain, scaled, plain; then all entries times units */
static PetscErrorCode TestValues(void)
{
  const Problem   p        = {KIND_FLUXES, 40, DM_BOUNDARY_NONE, 0};
  const PetscReal units[3] = {1, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e250 : 1, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-250 : 1};
  Result          r[6];
  KSP             ksp;
  Vec             d;
  Mat             A;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(&p, &A));
  PetscCall(CreateSolver(A, KSPCG, Tolerance(), &ksp));
  for (int round = 0; round < 3; round++) {
    PetscCall(Solve(A, ksp, &r[round]));
    if (round < 1) PetscCall(Scale(&p, SCALE_DECADES, 1, A, &d));
    else if (round < 2) {
      PetscCall(VecReciprocal(d));
      PetscCall(MatDiagonalScale(A, d, d));
    }
  }
  if (WRONG(r[0].reason < 0 || r[1].reason < 0 || r[2].reason < 0)) FAIL("new values: not converged");
  if (WRONG(r[1].its > r[0].its + 3 || PetscAbsInt(r[2].its - r[0].its) > 1))
    FAIL("new values: %" PetscInt_FMT ", %" PetscInt_FMT " and %" PetscInt_FMT " iterations", r[0].its, r[1].its, r[2].its);
  PetscCall(VecReciprocal(d));
  PetscCall(MatDiagonalScale(A, d, d));
  for (int round = 0; round < 3; round++) {
    PetscCall(MatScale(A, units[round]));
    PetscCall(Solve(A, ksp, &r[round]));
    if (WRONG(r[round].reason < 0 || r[round].its > r[1].its + 1)) FAIL("units %g: %" PetscInt_FMT " iterations", (double)units[round], r[round].its);
    PetscCall(MatScale(A, 1 / units[round]));
  }
  PetscCall(VecDestroy(&d));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStiff(void)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    const Problem p = {KIND_STIFF, 40, DM_BOUNDARY_NONE, k ? (PetscReal)1e12 : (PetscReal)1e8};
    Mat           A;

    PetscCall(CreateProblem(&p, &A));
    PetscCall(Check(k ? "stiff inclusions of 1e12" : "stiff inclusions of 1e8", A, KSPCG, 20, "precision double", NULL));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Periodic directions: 5 points are solved, 9 points refused */
static PetscErrorCode TestPeriodic(void)
{
  const Problem fluxes = {KIND_FLUXES, 12, DM_BOUNDARY_PERIODIC, 0}, elements = {KIND_ELEMENTS, 12, DM_BOUNDARY_PERIODIC, 0};
  KSP           ksp;
  Mat           A;

  PetscFunctionBeginUser;
  PetscCall(CreateProblem(&fluxes, &A));
  PetscCall(MatShift(A, 0.01));
  PetscCall(Check("periodic", A, KSPCG, 20, NULL, NULL));
  PetscCall(MatDestroy(&A));
  PetscCall(CreateProblem(&elements, &A));
  PetscCall(CreateSolver(A, KSPCG, Tolerance(), &ksp));
  TEST_REFUSED("periodic, 9 points", KSPSetUp(ksp), "periodic directions", "-pc_type gamg");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solvers that the guide recommends, and others: "converged" means a true residual within ten times the tolerance */
static PetscErrorCode TestSolver(const char type[], PCSide side)
{
  const Problem   problem[] = {{KIND_FLUXES, 40, DM_BOUNDARY_NONE, 0},
                               {KIND_ELEMENTS, 40, DM_BOUNDARY_NONE, 0},
                               {KIND_VORTEX, 40, DM_BOUNDARY_NONE, 100},
                               {KIND_VORTEX, 40, DM_BOUNDARY_NONE, 1e6}};
  const PetscReal rtol[2]   = {1e-8, 1e-11};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problem); k++) {
    PetscBool cg;
    Mat       A;

    PetscCall(PetscStrcmpAny(type, &cg, KSPCG, KSPFCG, KSPMINRES, ""));
    if (cg && problem[k].kind == KIND_VORTEX) continue;
    PetscCall(CreateProblem(&problem[k], &A));
    for (int t = 0; t < 2; t++) {
      Result r;
      KSP    ksp;

      PetscCall(CreateSolver(A, type, rtol[t], &ksp));
      if (side != PC_SIDE_DEFAULT) PetscCall(KSPSetPCSide(ksp, side));
      PetscCall(Solve(A, ksp, &r));
      if (WRONG(r.reason > 0 && !(r.residual <= 10)))
        FAIL("%s, side %d, problem %d, tolerance %g: %s with residual %g", type, (int)side, (int)k, (double)rtol[t], KSPConvergedReasons[r.reason],
             (double)r.residual);
      if (WRONG(problem[k].size < 1000 && r.reason < 0))
        FAIL("%s, side %d, problem %d, tolerance %g: %s", type, (int)side, (int)k, (double)rtol[t], KSPConvergedReasons[r.reason]);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolvers(void)
{
  static const struct {
    const char *type;
    PCSide      side;
  } solver[] = {{KSPCG, PC_SIDE_DEFAULT},    {KSPFCG, PC_SIDE_DEFAULT},     {KSPMINRES, PC_SIDE_DEFAULT}, {KSPGMRES, PC_LEFT},
                {KSPGMRES, PC_RIGHT},        {KSPFGMRES, PC_SIDE_DEFAULT},  {KSPBCGS, PC_LEFT},           {KSPBCGS, PC_RIGHT},
                {KSPTFQMR, PC_SIDE_DEFAULT}, {KSPCBGMRES, PC_SIDE_DEFAULT}, {KSPBCGSM, PC_SIDE_DEFAULT}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solver); k++) PetscCall(TestSolver(solver[k].type, solver[k].side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-device", &device));
  processes = size;
  PetscCall(TestScaled(KIND_FLUXES));
  PetscCall(TestScaled(KIND_ELEMENTS));
  PetscCall(TestGiven());
  PetscCall(TestScaling("unit diagonal", KIND_LOGNORMAL, SCALE_DIAGONAL, 0, KSPCG, "recovered"));
  PetscCall(TestScaling("inactive, 5 points", KIND_FLUXES, SCALE_INACTIVE, 0, KSPCG, "-"));
  PetscCall(TestScaling("inactive, 9 points", KIND_ELEMENTS, SCALE_INACTIVE, 0, KSPCG, "-"));
  if (!PetscDefined(USE_REAL_SINGLE)) {
    PetscCall(TestScaling("equations in other units, 9 points", KIND_ELEMENTS, SCALE_ROWS, 1e8, KSPFGMRES, "rows of different size"));
    PetscCall(TestScaling("equations in other units, 5 points", KIND_FLUXES, SCALE_ROWS, 1e8, KSPFGMRES, "rows of different size"));
    PetscCall(TestScaling("unknowns in other units", KIND_ELEMENTS, SCALE_COLUMNS, 1e8, KSPFGMRES, "recovered"));
    PetscCall(TestStiff());
  }
  PetscCall(TestValues());
  PetscCall(TestPeriodic());
  if (PetscDefined(USE_REAL_DOUBLE) && processes < 3) PetscCall(TestSolvers());
  return TestEnd(PetscDefined(USE_REAL_DOUBLE) && processes < 3 ? 150 : 40, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    test:
    test:
      suffix: 2
      nsize: 3
    test:
      suffix: cuda
      requires: cuda
      args: -device
    test:
      suffix: cuda_2
      requires: cuda
      nsize: 2
      args: -device

TEST*/
