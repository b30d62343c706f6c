/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The true residual of GMRES, iteration by iteration: KSPGMRES beside KSPCBGMRES with each storage.\n\
  -bench_cases LIST     : files in PETSc binary form, kinds of matrices as for the other benchmarks, or generated hard cases:\n\
                          rows, fields, range, breakdown (default: the generated cases)\n\
  -bench_methods LIST   : of gmres, gmres2 (every vector orthogonalised twice), double, single, half, bfloat16, frsz2_32, frsz2_21, frsz2_16\n\
  -bench_pcs LIST       : preconditioners, from the right (default: jacobi)\n\
  -bench_restart N      : (default: 100)\n\
  -bench_its N          : iterations at most (default: 1000)\n\
  -bench_rtols LIST     : tolerances for which iterations are counted (default: 1e-8,1e-10,1e-12)\n\
  -bench_size N         : approximate number of rows of generated matrices (default: 10000)\n\
  -bench_csv FILE       : the curves: case, preconditioner, method, iteration, residual; for residuals.py\n\
  -bench_json FILE      : results for programs\n\
  -bench_markdown FILE  : results as a table\n\
  -ksp_...              : for all solvers\n\n";

/*
   All solves start from zero, on the host, with the right-hand side A x of a known x. KSPBuildSolution() gives the
   solution of a method at an iteration, and the residual is computed from this solution. What a method reports of its
   own residual is not used. A curve continues until the method gives up. Iterations to a tolerance come from separate
   solves, because a method may end a cycle at the tolerance.
*/

#include <tutorials/common/measure.h>
#include <lithe/private/petsccompat.h>
#include <lithe.h>

static const char *const methods[] = {"gmres", "gmres2", "double", "single", "half", "bfloat16", "frsz2_32", "frsz2_21", "frsz2_16"};
#define NMETHODS  ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(methods))
#define NTHEIRS   2
#define TOLERANCE 3
#define PCS_MAX   8

static const char *const hard[] = {"rows", "fields", "range", "breakdown"};
#define NHARD ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(hard))

typedef struct {
  Bench     bench;
  PetscBool wanted[NMETHODS];
  PetscInt  restart, its, ntolerances, npcs;
  PetscReal tolerance[TOLERANCE];
  char     *pc[PCS_MAX];
  FILE     *csv;
  char      csvpath[PETSC_MAX_PATH_LEN];
  Mat       A;
  Vec       x, b, built, residual;
  PetscReal norm; /* of the right-hand side b */
} Run;

/* A curve during its computation */
typedef struct {
  Run        *run;
  const char *name, *pc, *method;
  PetscReal   least; /* the smallest residual so far, relative to the residual of zero */
} Curve;

/* ------------------------------------------------------------ hard systems */

/* Numbers in [0, 1) which depend on i alone; neighbours are unrelated */
static double Scatter(PetscInt i)
{
  uint64_t x = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x632be59bd9b4e019);

  x = (x ^ (x >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb);
  return (double)((x ^ (x >> 32)) >> 11) / 9007199254740992.0;
}

/*
   Convection and diffusion on a square, 5 points, with a difficulty. The kinds are:

     rows       Each equation is multiplied by a number between 1e-3 and 1e3, neighbours by unrelated numbers. With right
                Jacobi preconditioning, these numbers also scale the basis vectors of the unscaled system.
     fields     Each point has two coupled unknowns. Units make the second unknown 1e-6 times as large.
     range      The entries of the right-hand side lie between 1e-12 and 1.
     breakdown  Diagonal entries are 1. Unknowns form chains of six, plus 1e-9 times convection and diffusion. After six
                iterations hardly any new direction is left.
*/
static PetscErrorCode CreateHard(const Run *run, const char kind[], Mat *A, Vec *x)
{
  const PetscBool fields = (PetscBool)(kind[0] == 'f'), rows = (PetscBool)!strcmp(kind, "rows"), breakdown = (PetscBool)(kind[0] == 'b');
  const PetscInt  m = PetscMax(2, (PetscInt)(sqrt((double)run->bench.size / (fields ? 2 : 1)) + 0.5)), unknowns = fields ? 2 : 1;
  const double    unit = 1e-6;
  PetscInt        begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(run->bench.comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, unknowns * m * m, unknowns * m * m));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*A, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 6, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt point = row / unknowns, i = point % m, j = point / m, field = row % unknowns;
    const PetscInt near[4] = {i > 0 ? row - unknowns : -1, i < m - 1 ? row + unknowns : -1, j > 0 ? row - unknowns * m : -1,
                              j < m - 1 ? row + unknowns * m : -1};
    const double value[4] = {-1.3, -0.7, -1.2, -0.8};
    const double factor   = rows ? pow(10., 6. * Scatter(row) - 3.) : (breakdown ? 1e-9 : 1.);

    for (int k = 0; k < 4; k++) {
      const double chain = breakdown && k == 1 && row % 6 < 5 ? 1. : 0.;

      if (near[k] >= 0) PetscCall(MatSetValue(*A, row, near[k], (PetscScalar)(factor * value[k] + chain), INSERT_VALUES));
    }
    PetscCall(MatSetValue(*A, row, row, (PetscScalar)(factor * (4.1 + field) + (breakdown ? 1. : 0.)), INSERT_VALUES));
    if (fields) PetscCall(MatSetValue(*A, row, field ? row - 1 : row + 1, (PetscScalar)(field ? 0.5 * unit : -0.5 / unit), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(*A, x, NULL));
  for (PetscInt row = begin; row < end; row++)
    PetscCall(VecSetValue(*x, row, (PetscScalar)(breakdown ? 2. * Scatter(row + 7) - 1. : (fields && row % 2 ? unit : 1.)), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*x));
  PetscCall(VecAssemblyEnd(*x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The system of a name: A, b, and vectors to work with */
static PetscErrorCode CreateSystem(Run *run, const char name[])
{
  PetscBool ishard = PETSC_FALSE, same;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < NHARD && !ishard; k++) PetscCall(PetscStrcmp(name, hard[k], &ishard));
  if (ishard) PetscCall(CreateHard(run, name, &run->A, &run->x));
  else {
    PetscCall(BenchCreateSystem(&run->bench, name, &run->A, NULL));
    PetscCall(MatCreateVecs(run->A, &run->x, NULL));
    PetscCall(VecSet(run->x, 1.0));
  }
  PetscCall(VecDuplicate(run->x, &run->b));
  PetscCall(VecDuplicate(run->x, &run->built));
  PetscCall(VecDuplicate(run->x, &run->residual));
  PetscCall(MatMult(run->A, run->x, run->b));
  PetscCall(PetscStrcmp(name, "range", &same));
  if (same) {
    PetscInt begin, end;

    PetscCall(VecGetOwnershipRange(run->b, &begin, &end));
    for (PetscInt row = begin; row < end; row++) PetscCall(VecSetValue(run->b, row, (PetscScalar)pow(10., -12. * Scatter(row)), INSERT_VALUES));
    PetscCall(VecAssemblyBegin(run->b));
    PetscCall(VecAssemblyEnd(run->b));
  }
  PetscCall(VecNorm(run->b, NORM_2, &run->norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySystem(Run *run)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&run->A));
  PetscCall(VecDestroy(&run->x));
  PetscCall(VecDestroy(&run->b));
  PetscCall(VecDestroy(&run->built));
  PetscCall(VecDestroy(&run->residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ solves */

static PetscErrorCode TrueResidual(Run *run, Vec x, PetscReal *residual)
{
  PetscFunctionBegin;
  PetscCall(MatMult(run->A, x, run->residual));
  PetscCall(VecAYPX(run->residual, -1.0, run->b));
  PetscCall(VecNorm(run->residual, NORM_2, residual));
  *residual /= run->norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(KSP ksp, PetscInt its, PetscReal rnorm, void *ctx)
{
  Curve    *curve = (Curve *)ctx;
  PetscReal residual;

  PetscFunctionBegin;
  (void)rnorm;
  PetscCall(KSPBuildSolution(ksp, curve->run->built, NULL));
  PetscCall(TrueResidual(curve->run, curve->run->built, &residual));
  curve->least = PetscMin(curve->least, residual);
  if (curve->run->csv) fprintf(curve->run->csv, "%s,%s,%s,%" PetscInt_FMT ",%.6e\n", curve->name, curve->pc, curve->method, its, (double)residual);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Run *run, const char pctype[], PetscInt method, PetscReal rtol, KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(run->bench.comm, ksp));
  PetscCall(KSPSetOperators(*ksp, run->A, run->A));
  PetscCall(KSPSetType(*ksp, method < NTHEIRS ? KSPGMRES : KSPCBGMRES));
  if (method >= NTHEIRS) PetscCall(KSPCBGMRESSetStorage(*ksp, methods[method]));
  else PetscCall(KSPOrthogonalizationSetCGSRefinementType(*ksp, method ? KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS : KSP_ORTHOGONALIZATION_CGS_REFINE_NEVER));
  PetscCall(KSPGMRESSetRestart(*ksp, run->restart));
  PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetTolerances(*ksp, rtol, 0.0, PETSC_CURRENT, run->its));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The smallest residual from here until no method can continue; iterations to a tolerance, -1 if not reached; the
   residual then */
static PetscErrorCode DrawCurve(Run *run, const char name[], const char pc[], PetscInt method, PetscReal *least)
{
  Curve curve = {run, name, pc, methods[method], PETSC_MAX_REAL};
  KSP   ksp;

  PetscFunctionBegin;
  PetscCall(CreateSolver(run, pc, method, 0.1 * PETSC_MACHINE_EPSILON, &ksp));
  PetscCall(KSPMonitorSet(ksp, Monitor, &curve, NULL));
  PetscCall(KSPSolve(ksp, run->b, run->x));
  *least = curve.least;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountIterations(Run *run, const char pc[], PetscInt method, PetscReal rtol, PetscInt *its, PetscReal *residual)
{
  KSPConvergedReason reason;
  KSP                ksp;

  PetscFunctionBegin;
  PetscCall(CreateSolver(run, pc, method, rtol, &ksp));
  PetscCall(KSPSolve(ksp, run->b, run->x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (reason < 0) *its = -1;
  PetscCall(TrueResidual(run, run->x, residual));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the study */

/* The name of a file without folder and ending */
static void ShortName(const char path[], char name[], size_t size)
{
  const char *slash = strrchr(path, '/');
  char       *dot;

  snprintf(name, size, "%s", slash ? slash + 1 : path);
  dot = strrchr(name, '.');
  if (dot && dot != name) *dot = 0;
}

static PetscErrorCode StudyMethod(Run *run, const char name[], const char pc[], PetscInt method)
{
  Bench     *bench = &run->bench;
  PetscReal  least = 0, residual[TOLERANCE];
  PetscInt   its[TOLERANCE];
  BenchField field[4 + 3 * TOLERANCE];
  PetscInt   n         = 0;
  char       text[128] = "", cells[128] = "", part[40];

  PetscFunctionBegin;
  PetscCall(DrawCurve(run, name, pc, method, &least));
  field[n++] = (BenchField){"case", name, 0.};
  field[n++] = (BenchField){"preconditioner", pc, 0.};
  field[n++] = (BenchField){"method", methods[method], 0.};
  field[n++] = (BenchField){"least_residual", NULL, (double)least};
  for (PetscInt t = 0; t < run->ntolerances; t++) {
    static const char *const keys[][3] = {{"rtol_1", "iterations_1", "true_residual_1"},
                                          {"rtol_2", "iterations_2", "true_residual_2"},
                                          {"rtol_3", "iterations_3", "true_residual_3"}};

    PetscCall(CountIterations(run, pc, method, run->tolerance[t], &its[t], &residual[t]));
    field[n++] = (BenchField){keys[t][0], NULL, (double)run->tolerance[t]};
    field[n++] = (BenchField){keys[t][1], NULL, (double)its[t]};
    field[n++] = (BenchField){keys[t][2], NULL, (double)residual[t]};

    /* not converged, or the reported residual is wrong */
    if (its[t] < 0) PetscCall(PetscSNPrintf(part, sizeof(part), "-"));
    else if (residual[t] > 1.01 * run->tolerance[t]) PetscCall(PetscSNPrintf(part, sizeof(part), "%" PetscInt_FMT " (%.0e)", its[t], (double)residual[t]));
    else PetscCall(PetscSNPrintf(part, sizeof(part), "%" PetscInt_FMT, its[t]));
    PetscCall(PetscSNPrintf(text + strlen(text), sizeof(text) - strlen(text), " %13s", part));
    PetscCall(PetscSNPrintf(cells + strlen(cells), sizeof(cells) - strlen(cells), " %s |", part));
  }
  PetscCall(PetscPrintf(bench->comm, "  %-14s %-8s %-9s %9.1e%s\n", name, pc, methods[method], (double)least, text));
  PetscCall(BenchWriteRecord(bench, n, field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %s | %s | %s | %.1e |%s\n", name, pc, methods[method], (double)least, cells);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSetFromOptions(Run *run)
{
  PetscInt  n;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &run->bench));
  if (!run->bench.size) run->bench.size = 10000;
  run->bench.gpu    = PETSC_FALSE;
  run->restart      = 100;
  run->its          = 1000;
  run->ntolerances  = TOLERANCE;
  run->tolerance[0] = 1e-8;
  run->tolerance[1] = 1e-10;
  run->tolerance[2] = 1e-12;
  PetscCall(BenchGetWanted(&run->bench, "-bench_methods", NMETHODS, methods, run->wanted));
  PetscOptionsBegin(run->bench.comm, NULL, "True residuals of GMRES", "KSP");
  PetscCall(PetscOptionsBoundedInt("-bench_restart", "Columns of a cycle", NULL, run->restart, &run->restart, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-bench_its", "Iterations at most", NULL, run->its, &run->its, NULL, 1));
  n = TOLERANCE;
  PetscCall(PetscOptionsRealArray("-bench_rtols", "Tolerances, three at most", NULL, run->tolerance, &n, &set));
  if (set) run->ntolerances = n;
  n = PCS_MAX;
  PetscCall(PetscOptionsStringArray("-bench_pcs", "Preconditioners", NULL, run->pc, &n, &set));
  if (!set || !n) PetscCall(PetscStrallocpy(PCJACOBI, &run->pc[0]));
  run->npcs = set && n ? n : 1;
  PetscCall(PetscOptionsString("-bench_csv", "The curves", NULL, run->csvpath, run->csvpath, sizeof(run->csvpath), NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The heads of all tables, and of the file of curves */
static PetscErrorCode RunOpen(Run *run)
{
  PetscMPIInt rank;
  char        head[256] = "| system | preconditioner | method | smallest residual |", text[128] = "", part[40];

  PetscFunctionBegin;
  for (PetscInt t = 0; t < run->ntolerances; t++) {
    PetscCall(PetscSNPrintf(part, sizeof(part), " iterations to %.0e |", (double)run->tolerance[t]));
    PetscCall(PetscStrlcat(head, part, sizeof(head)));
    PetscCall(PetscSNPrintf(part, sizeof(part), "%.0e", (double)run->tolerance[t]));
    PetscCall(PetscSNPrintf(text + strlen(text), sizeof(text) - strlen(text), " %13s", part));
  }
  PetscCall(BenchOpen(&run->bench, head));
  PetscCall(PetscPrintf(run->bench.comm,
                        "restart %" PetscInt_FMT
                        "; the smallest residual, and iterations to a tolerance (- not reached; with a residual: that is the true one, above it)\n\n",
                        run->restart));
  PetscCall(PetscPrintf(run->bench.comm, "  %-14s %-8s %-9s %9s%s\n", "system", "pc", "method", "smallest", text));
  PetscCallMPI(MPI_Comm_rank(run->bench.comm, &rank));
  if (!run->csvpath[0] || rank) PetscFunctionReturn(PETSC_SUCCESS);
  run->csv = fopen(run->csvpath, "w");
  PetscCheck(run->csv, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", run->csvpath);
  fprintf(run->csv, "case,preconditioner,method,iteration,residual\n");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Run       run;
  PetscInt  ncases = BENCH_NAMES_MAX;
  PetscBool set;
  char     *path[BENCH_NAMES_MAX], name[64];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(RunSetFromOptions(&run));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-bench_cases", path, &ncases, &set));
  if (!set) {
    ncases = NHARD;
    for (PetscInt c = 0; c < NHARD; c++) PetscCall(PetscStrallocpy(hard[c], &path[c]));
  }
  PetscCall(RunOpen(&run));
  for (PetscInt c = 0; c < ncases; c++) {
    ShortName(path[c], name, sizeof(name));
    PetscCall(CreateSystem(&run, path[c]));
    for (PetscInt p = 0; p < run.npcs; p++) {
      for (PetscInt k = 0; k < NMETHODS; k++) {
        if (run.wanted[k]) PetscCall(StudyMethod(&run, name, run.pc[p], k));
      }
    }
    PetscCall(DestroySystem(&run));
    PetscCall(PetscFree(path[c]));
  }
  for (PetscInt p = 0; p < run.npcs; p++) PetscCall(PetscFree(run.pc[p]));
  if (run.csv) PetscCheck(fclose(run.csv) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", run.csvpath);
  PetscCall(BenchClose(&run.bench));
  PetscCall(PetscFinalize());
  return 0;
}
