/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG on several processes: symmetric positive definite cycles, iterations, new values, the same bits each time, errors.\n\
  -times <n>         - random problems\n\
  -shared_mat_type <type> - of the matrices on several processes\n\
  -transport <name>  - transport of exchanges between overlapping boxes, on devices\n\
  -print_iterations\n\n";

#include "gridmgsplit.h"

/* ------------------------------------------------------------ symmetry, bits, new values */

/* Boxes of any size: x'My and y'Mx, x'Mx, and the same bits again; with new values the bits of a new preconditioner */
static PetscErrorCode TestApplication(const GridProblem *p, const Split *s, PetscBool slabs, Mat S, const char options[], PetscBool symmetric)
{
  char        all[512];
  Mat         A, T;
  PC          pc, other;
  Vec         x, y, Mx, My, again;
  PetscScalar xMy, yMx, xMx;
  PetscReal   nx, ny, tolerance;
  PetscBool   device, redundant = PETSC_FALSE, overlaps = PETSC_FALSE, new = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_gather_size 40 -@pc_gridmg_coarse_size 20 %s", options));
  PetscCall(Distribute(S, s, &A));
  PetscCall(CreateSharedPC(p, s, slabs, A, all, &pc));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &Mx));
  PetscCall(VecDuplicate(x, &My));
  PetscCall(VecDuplicate(x, &again));
  PetscCall(TestFillVec(x, 1));
  PetscCall(TestFillVec(y, 2));
  PetscCall(VecRealPart(x));
  PetscCall(VecRealPart(y));
  PetscCall(PCApply(pc, x, Mx));
  PetscCall(PCApply(pc, y, My));
  PetscCall(PCApply(pc, x, again));
  if (WRONG(!Equal(Mx, again))) FAIL("%s, %s: an application has other bits the second time", p->name, all);
  if (symmetric) {
    PetscCall(VecDot(Mx, y, &yMx));
    PetscCall(VecDot(My, x, &xMy));
    PetscCall(VecDot(Mx, x, &xMx));
    PetscCall(VecNorm(Mx, NORM_2, &nx));
    PetscCall(VecNorm(y, NORM_2, &ny));
    tolerance = (PetscReal)2e-5 * nx * ny;
    if (WRONG(!(PetscAbsScalar(xMy - yMx) <= tolerance)))
      FAIL("%s, %s: x'My = %g, y'Mx = %g", p->name, all, (double)PetscRealPart(xMy), (double)PetscRealPart(yMx));
    if (WRONG(!(PetscRealPart(xMx) > 0))) FAIL("%s, %s: x'Mx = %g", p->name, all, (double)PetscRealPart(xMx));
  }

  PetscCall(PetscOptionsHasName(NULL, NULL, "-shared_mat_type", &device));
  for (PetscInt round = 1; round < 3; round++) {
    PetscCall(CreateGridMatrix(p, round, &T));
    PetscCall(FillFrom(T, s, A));
    PetscCall(PCSetUp(pc));
    /* Devices add in another order. Boxes that did not overlap at first stay apart for the same pattern, and the boxes
       of a new preconditioner may overlap: edges between boxes then are rounded to codes. If each device has all rows,
       aggregates are those of one process: the new preconditioner is asked for that form, too */
    PetscCall(IsRedundant(pc, &redundant));
    if (redundant) PetscCall(PetscStrlcat(all, " -@pc_gridmg_redundant", sizeof(all)));
    PetscCall(CreateSharedPC(p, s, slabs, A, all, &other));
    PetscCall(PCApply(pc, x, Mx));
    PetscCall(PCApply(other, x, again));
    PetscCall(Overlaps(pc, &overlaps));
    PetscCall(Overlaps(other, &new));
    tolerance = overlaps == new ? (device ? (PetscReal)2e-5 : (PetscReal)0) : (PetscReal)0.2;
    PetscCall(VecNorm(again, NORM_INFINITY, &nx));
    PetscCall(VecAXPY(again, -1.0, Mx));
    PetscCall(VecNorm(again, NORM_INFINITY, &ny));
    if (WRONG(!(ny <= tolerance * nx)))
      FAIL("%s, %s: with new values %d, %g differs from a new preconditioner by %g", p->name, all, (int)round, (double)nx, (double)ny);
    PetscCall(PCDestroy(&other));
    PetscCall(MatDestroy(&T));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&Mx));
  PetscCall(VecDestroy(&My));
  PetscCall(VecDestroy(&again));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const applications[] = {"",
                                           "-@pc_gridmg_cycle v -@pc_gridmg_coarsen semi",
                                           "-@pc_gridmg_precision double -@pc_gridmg_bits 16",
                                           "-@pc_gridmg_smooths 2",
                                           "-@pc_gridmg_smooths 2 -@pc_gridmg_coarsen full",
                                           "-@pc_gridmg_cycle v -@pc_gridmg_coarsen two",
                                           "-@pc_gridmg_overlap"};

static PetscErrorCode TestApplications(PetscInt times)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; k++) {
    GridProblem     p     = RandomGrid(k);
    const PetscBool slabs = (PetscBool)(k % 3 == 1);
    char            name[64];
    Split           s;
    Mat             S;

    for (int d = 0; d < 3; d++)
      p.n[d] = (k % 8 == 7 && d == 2 ? 1 : size) + (PetscInt)((k % 8 == 7 && d == 2 ? 0 : 9) * TestRandom((uint64_t)k, (uint64_t)d, 11));
    PetscCall(CreateSplit(&p, k, PETSC_FALSE, slabs, &s));
    PetscCall(PetscSNPrintf(name, sizeof(name), "random %d, %d x %d x %d cells in %d x %d x %d boxes", (int)k, (int)p.n[0], (int)p.n[1], (int)p.n[2],
                            (int)s.parts[0], (int)s.parts[1], (int)s.parts[2]));
    p.name = name;
    PetscCall(CreateGridMatrix(&p, 0, &S));
    PetscCall(TestApplication(&p, &s, slabs, S, applications[k % (PetscInt)PETSC_STATIC_ARRAY_LENGTH(applications)], (PetscBool)(p.wind == 0)));
    PetscCall(MatDestroy(&S));
    PetscCall(DestroySplit(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ iterations */

typedef struct {
  GridProblem p;
  const char *type, *options;
} Solve;

static const Solve solves[] = {{{.name = "Laplacian", .n = {13, 11, 12}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE}, KSPCG, ""},
                               {{.name = "strong x", .n = {13, 11, 12}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1000, 1, 1}}, KSPCG, ""},
                               {{.name = "strong y", .n = {13, 11, 12}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 1000, 1}}, KSPCG, ""},
                               {{.name = "strong z", .n = {13, 11, 12}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 1, 1000}}, KSPCG, ""},
                               {{.name = "ten decades", .n = {13, 12, 0}, .faces = FACES_JUMPS, .sigma = (PetscReal)1e-3}, KSPCG, ""},
                               {{.name = "Neumann", .n = {13, 11, 12}, .faces = FACES_RANDOM}, KSPCG, ""},
                               {{.name = "K cycles", .n = {13, 12, 0}, .faces = FACES_JUMPS, .sigma = (PetscReal)1e-3}, KSPFCG, "-@pc_gridmg_cycle k"},
                               {{.name = "V cycles", .n = {13, 11, 12}, .faces = FACES_RANDOM, .sigma = (PetscReal)1e-3},
                                KSPCG,
                                "-@pc_gridmg_cycle v -@pc_gridmg_coarsen semi"},
                               {{.name = "two steps", .n = {13, 11, 12}, .faces = FACES_RANDOM, .sigma = (PetscReal)1e-3}, KSPCG, "-@pc_gridmg_smooths 2"},
                               {{.name = "upwind", .n = {13, 11, 12}, .faces = FACES_RANDOM, .sigma = (PetscReal)1e-2, .wind = 5}, KSPGMRES, ""},
                               {{.name = "wells", .n = {13, 12, 0}, .faces = FACES_JUMPS, .sigma = (PetscReal)1e-3, .after = 4, .faults = 20}, KSPCG, ""}};

static PetscErrorCode SolveShared(const Solve *v, const Split *s, Mat A, Vec b, PetscInt *its)
{
  PetscReal          rtol = PetscMax((PetscReal)1e-8, 100 * PETSC_MACHINE_EPSILON);
  KSPConvergedReason reason;
  char               all[512];
  KSP                ksp;
  PC                 pc;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_gather_size 200 %s", v->options));
  PetscCall(CreateSharedPC(&v->p, s, PETSC_FALSE, A, all, &pc));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetType(ksp, v->type));
  PetscCall(KSPSetTolerances(ksp, rtol, 0.0, PETSC_CURRENT, 300));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (reason < 0) *its = 1000;
  PetscCall(VecDestroy(&x));
  PetscCall(PCDestroy(&pc));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIterations(void)
{
  PetscBool print = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-print_iterations", &print, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solves); k++) {
    Solve     problem = solves[k], *v = &problem;
    PetscBool aligned = (PetscBool)!v->p.n[2]; /* boxes end where coefficients jump, as pairs do on one process */
    PetscInt  one, its;
    PetscReal residual;
    Mat       S, A;
    Vec       x, b, B;
    Split     s;

    if (aligned) v->p.n[2] = 4 * size;
    PetscCall(CreateGridMatrix(&v->p, 0, &S));
    PetscCall(GridIterations(&v->p, S, v->type, v->options, &one, &residual));
    PetscCall(MatCreateVecs(S, &x, &b));
    PetscCall(TestFillVec(x, 3));
    PetscCall(VecRealPart(x));
    PetscCall(MatMult(S, x, b));
    for (PetscInt which = 0; which < (aligned ? 1 : 2); which++) {
      PetscCall(CreateSplit(&v->p, which + (PetscInt)k, (PetscBool)!which, aligned, &s));
      PetscCall(Distribute(S, &s, &A));
      PetscCall(MatCreateVecs(A, &B, NULL));
      PetscCall(ToShared(&s, b, B));
      PetscCall(SolveShared(v, &s, A, B, &its));
      if (print)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %d x %d x %d boxes: %d iterations, %d on one process\n", v->p.name, (int)s.parts[0], (int)s.parts[1],
                              (int)s.parts[2], (int)its, (int)one));
      if (WRONG(one < 0 || its > one + (one + 9) / 10 + 1))
        FAIL("%s, %d x %d x %d boxes: %d iterations, %d on one process", v->p.name, (int)s.parts[0], (int)s.parts[1], (int)s.parts[2], (int)its, (int)one);
      PetscCall(VecDestroy(&B));
      PetscCall(MatDestroy(&A));
      PetscCall(DestroySplit(&s));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&S));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ errors */

/* A wrong entry in a row of the last process */
static PetscErrorCode TestWrongEntry(const char what[], const GridProblem *p, const Split *s, Mat S, PetscInt away, PetscScalar value, const char options[])
{
  Mat            A;
  const PetscInt row = s->rows - 1;

  PetscFunctionBeginUser;
  PetscCall(Distribute(S, s, &A));
  if (rank == size - 1) PetscCall(MatSetValue(A, row, row - away, value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestError(what, p, s, PETSC_FALSE, A, options));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of a DMDA of two dimensions, 9 points of which all but the diagonal are zeros */
static PetscErrorCode CreateBoxMatrix(DM *dm, Mat *A)
{
  PetscInt   at[2], n[2];
  MatStencil row, column[9];

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 12, 13, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMCreateMatrix(*dm, A));
  PetscCall(DMDAGetCorners(*dm, &at[0], &at[1], NULL, &n[0], &n[1], NULL));
  for (PetscInt j = at[1]; j < at[1] + n[1]; j++) {
    for (PetscInt i = at[0]; i < at[0] + n[0]; i++) {
      PetscScalar value[9];
      PetscInt    m = 0;

      row = (MatStencil){.i = i, .j = j};
      for (PetscInt y = PetscMax(j - 1, 0); y <= PetscMin(j + 1, 12); y++) {
        for (PetscInt x = PetscMax(i - 1, 0); x <= PetscMin(i + 1, 11); x++) {
          column[m]  = (MatStencil){.i = x, .j = y};
          value[m++] = x == i && y == j ? 8. : 0.;
        }
      }
      PetscCall(MatSetValuesStencil(*A, 1, &row, m, column, value, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestDiagonal(void)
{
  DM        dm;
  Mat       A;
  PC        pc;
  Vec       x, y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(CreateBoxMatrix(&dm, &A));
  PetscCall(CreatePC(A, "-@pc_type gridmg", NULL, &pc));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(PCApply(pc, x, y));
  PetscCall(VecAXPY(y, (PetscReal)(-1.0 / 8.0), x));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  if (WRONG(!(norm < (PetscReal)1e-6))) FAIL("a diagonal matrix of a DMDA: error %g", (double)norm);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA and an extra row per process; only the first and last extra rows have an entry */
static PetscErrorCode TestWellsApart(const GridProblem *p)
{
  const PetscInt cells = GridCells(p);
  PetscInt       begin, end;
  Split          s;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(p, 1, PETSC_TRUE, PETSC_FALSE, &s));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, s.n + 1, s.n + 1, cells + size, cells + size));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSetUp(A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) PetscCall(MatSetValue(A, row, row, 2., INSERT_VALUES));
  if (rank == 0) PetscCall(MatSetValue(A, end - 1, cells + size - 1, -1., INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestError("wells of two processes", p, &s, PETSC_FALSE, A, ""));
  PetscCall(MatDestroy(&A));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(void)
{
  const GridProblem p    = {.name = "errors", .n = {9, 10, 11}, .faces = FACES_RANDOM, .sigma = 1};
  const PetscReal   zero = 0;
  Split             s, slabs;
  Mat               S, A;
  VecType           type;
  PetscBool         cuda;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(&p, 1, PETSC_TRUE, PETSC_FALSE, &s));
  PetscCall(CreateSplit(&p, 1, PETSC_TRUE, PETSC_TRUE, &slabs));
  PetscCall(CreateGridMatrix(&p, 0, &S));
  PetscCall(TestWrongEntry("no number", &p, &s, S, 0, zero / zero, ""));
  PetscCall(TestWrongEntry("infinity", &p, &s, S, 1, 1 / zero, ""));
  PetscCall(TestWrongEntry("negative diagonal", &p, &s, S, 0, -1.0, ""));
  if (PetscDefined(USE_COMPLEX)) PetscCall(TestWrongEntry("not real", &p, &s, S, 0, PetscCMPLX(1, 1), "-@pc_gridmg_interpolation aggregation"));
  PetscCall(Distribute(S, &slabs, &A));
  if (size > 1) {
    /* on devices each process finds the grid, as a single process does */
    PetscCall(MatGetVecType(A, &type));
    PetscCall(PetscStrcmpAny(type, &cuda, VECCUDA, VECMPICUDA, ""));
    if (!cuda) PetscCall(TestError("no grid", &p, &slabs, PETSC_TRUE, A, ""));
    PetscCall(TestError("no planes", &p, &slabs, PETSC_TRUE, A, "-@pc_gridmg_grid 90,11,1"));
    PetscCall(TestError("one level", &p, &slabs, PETSC_TRUE, A, "-@pc_gridmg_grid 9,10,11 -@pc_gridmg_levels 1"));
  }
  PetscCall(TestError("too many cells", &p, &slabs, PETSC_TRUE, A, "-@pc_gridmg_grid 9,10,12"));
  PetscCall(TestError("another order", &p, &slabs, PETSC_TRUE, A, "-@pc_gridmg_grid 10,9,11"));
  PetscCall(MatScale(A, -1.0));
  for (PetscInt r = slabs.begin; r < slabs.begin + slabs.n; r++) PetscCall(MatSetValue(A, r, r, 20., INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestError("wrong signs", &p, &slabs, PETSC_TRUE, A, "-@pc_gridmg_grid 9,10,11 -@pc_gridmg_interpolation aggregation"));
  PetscCall(MatDestroy(&A));

  if (size > 1) PetscCall(TestWellsApart(&p));
  PetscCall(TestDiagonal());
  PetscCall(MatDestroy(&S));
  PetscCall(DestroySplit(&s));
  PetscCall(DestroySplit(&slabs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ small boxes */

/* Processes without cells, and processes with a single cell */
static PetscErrorCode TestSmall(void)
{
  static const PetscInt grids[][3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {5, 1, 1}, {2, 2, 1}, {4, 3, 1}, {7, 5, 1}, {3, 2, 2}, {6, 5, 3}, {9, 8, 5}};

  PetscFunctionBeginUser;
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(grids); g++) {
    GridProblem p = {.name = "small", .faces = FACES_RANDOM, .sigma = 1, .after = g % 3 == 2 ? 1 : 0};
    Split       s;
    Mat         S;
    char        name[64];

    PetscCall(PetscArraycpy(p.n, grids[g], 3));
    PetscCall(PetscSNPrintf(name, sizeof(name), "small, %d x %d x %d cells", (int)p.n[0], (int)p.n[1], (int)p.n[2]));
    p.name = name;
    PetscCall(CreateSplit(&p, (PetscInt)g, (PetscBool)(g % 2), PETSC_TRUE, &s));
    PetscCall(CreateGridMatrix(&p, 0, &S));
    PetscCall(TestApplication(&p, &s, PETSC_TRUE, S, applications[g % PETSC_STATIC_ARRAY_LENGTH(applications)], PETSC_TRUE));
    /* on two processes, boxes overlap with new values only */
    if (g == 7) PetscCall(TestApplication(&p, &s, PETSC_TRUE, S, "-@pc_gridmg_overlap", PETSC_TRUE));
    PetscCall(MatDestroy(&S));
    PetscCall(DestroySplit(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt times = 12;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCall(TestSmall());
  PetscCall(TestApplications(times));
  PetscCall(TestIterations());
  PetscCall(TestErrors());
  return TestEnd(130, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2 3 4}}

  # Levels on devices; processes may share one
  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2 4}}
    timeoutfactor: 3
    output_file: output/right.out
    args: -shared_mat_type aijcusparse -times 8 -test_least 110

  test:
    suffix: cuda_ipc
    requires: cuda
    nsize: 2
    timeoutfactor: 4
    output_file: output/right.out
    args: -shared_mat_type aijcusparse -times 2 -transport ipc -test_least 85

TEST*/
