/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times GMRES without and with a compressed basis in the same run: convection and diffusion, 7 points, constant coefficients.\n\
  -bench_size N         : approximate number of rows (default: 1259712)\n\
  -bench_beta B         : convection (default: 0.5)\n\
  -bench_storages LIST  : of double, single, half, bfloat16, frsz2_32, frsz2_21, frsz2_16\n\
  -bench_matrices LIST  : of aij, vcrs, hybmgpu (in the format sell, or as -mat_hybmgpu_format says)\n\
  -bench_pcs LIST       : none, jacobi or other preconditioners (default: none)\n\
  -bench_restarts LIST  : (default: 30,100)\n\
  -bench_its N          : timed iterations (default: 200)\n\
  -bench_repeats N      : how often (default: 3); the fastest counts\n\
  -bench_rtol T         : tolerance of an additional solve, 0: none (default: 1e-10)\n\
  -bench_gpu BOOL       : on the GPU (default: if a GPU exists)\n\
  -bench_json FILE      : results for programs\n\
  -bench_markdown FILE  : results as a table\n\
  -ksp_...              : for all solvers\n\n";

/*
   The baseline is KSPGMRES with PETSc's own matrix. Iterations are timed in solves which do not stop early. All solves
   start from zero and are preconditioned from the right, so all methods see the same residual. The bound on an
   iteration counts bytes: all existing columns twice, the new column, the vectors w (twice) and z, and the matrix with
   two vectors. The bound is an average over a cycle, whose last column is never read. The bound's share of the time
   assumes the rate of a copy.
*/

#include <tutorials/common/measure.h>
#include <lithe.h>
#include <petsctime.h>

/* clang-format off */
static const struct {
  const char *name;
  double      bits; /* with 8-bit exponents; 0: bits of PetscReal */
} storages[] = {
  {"double",   0.   },
  {"single",   32.  },
  {"half",     16.  },
  {"bfloat16", 16.  },
  {"frsz2_32", 32.25},
  {"frsz2_21", 21.25},
  {"frsz2_16", 16.25},
};
#define NSTORAGES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(storages))
/* clang-format on */

static const char *const matrices[] = {"aij", "vcrs", "hybmgpu"};
#define NMATRICES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(matrices))
#define LIST_MAX  16

typedef struct {
  Bench     bench;
  PetscReal beta, rtol;
  PetscBool storage[NSTORAGES], matrix[NMATRICES];
  PetscInt  its, repeats, nrestarts, restart[LIST_MAX], npcs;
  char     *pc[LIST_MAX];
  Mat       A[NMATRICES];
  double    bytes[NMATRICES]; /* over all processes */
  Vec       x, b;
} Run;

typedef struct {
  const char        *pc, *matrix, *method;
  PetscInt           rows, restart, its;
  PetscLogDouble     iteration, baseline, bound, solve, basis;
  PetscReal          residual;
  KSPConvergedReason reason;
} Result;

/* ------------------------------------------------------------ the system */

/* A row of the 7-point stencil with central differences; col ascends. Returns its length */
static PetscInt Row(PetscInt m, PetscInt row, PetscReal beta, PetscInt col[], PetscScalar value[])
{
  const PetscInt  i = row % m, j = row / m % m, k = row / (m * m);
  const PetscBool there[]  = {(PetscBool)(k > 0),     (PetscBool)(j > 0),     (PetscBool)(i > 0),    PETSC_TRUE,
                              (PetscBool)(i < m - 1), (PetscBool)(j < m - 1), (PetscBool)(k < m - 1)};
  const PetscInt  offset[] = {-m * m, -m, -1, 0, 1, m, m * m};
  PetscInt        n        = 0;

  for (PetscInt s = 0; s < 7; s++) {
    if (!there[s]) continue;
    col[n]     = row + offset[s];
    value[n++] = (PetscScalar)(s == 3 ? (PetscReal)6 : (s < 3 ? -1 - beta : -1 + beta));
  }
  return n;
}

/* PETSc's own matrix, moved to the device last: on any number of processes, inserting rows is fast in host memory */
static PetscErrorCode CreateAIJ(const Run *run, PetscInt m, Mat *newmat)
{
  MPI_Comm       comm = run->bench.comm;
  const PetscInt M    = m * m * m;
  PetscInt       begin, end, local = PETSC_DECIDE, global = M, *ptr, *col;
  PetscScalar   *value;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(PetscSplitOwnership(comm, &local, &global));
  PetscCallMPI(MPI_Scan(&local, &end, 1, MPIU_INT, MPI_SUM, comm));
  begin = end - local;
  PetscCall(PetscMalloc3(local + 1, &ptr, 7 * local, &col, 7 * local, &value));
  ptr[0] = 0;
  for (PetscInt row = begin; row < end; row++)
    ptr[row - begin + 1] = ptr[row - begin] + Row(m, row, run->beta, col + ptr[row - begin], value + ptr[row - begin]);
  PetscCall(MatCreate(comm, &A));
  PetscCall(MatSetSizes(A, local, local, M, M));
  PetscCall(MatSetType(A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, ptr, col, value));
  PetscCall(MatMPIAIJSetPreallocationCSR(A, ptr, col, value));
  PetscCall(PetscFree3(ptr, col, value));
  if (run->bench.gpu) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  *newmat = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSystem(Run *run)
{
  const PetscInt m = PetscMax(2, (PetscInt)(cbrt((double)run->bench.size) + 0.5));
  PetscLogDouble start, end;
  MatInfo        aij;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall(CreateAIJ(run, m, &run->A[0]));
  PetscCall(MatGetInfo(run->A[0], MAT_GLOBAL_SUM, &aij));
  run->bytes[0] = aij.nz_used * (double)(sizeof(PetscScalar) + sizeof(PetscInt)) + (double)(m * m * m) * (double)sizeof(PetscInt);
  if (run->matrix[1]) {
    MatVCRSInfo info;

    PetscCall(MatConvert(run->A[0], MATVCRS, MAT_INITIAL_MATRIX, &run->A[1]));
    PetscCall(MatVCRSGetInfo(run->A[1], &info));
    run->bytes[1] = info.bytes;
  }
  if (run->matrix[2]) {
    MatHYBMGPUInfo info;

    PetscCall(MatConvert(run->A[0], MATHYBMGPU, MAT_INITIAL_MATRIX, &run->A[2]));
    PetscCall(MatHYBMGPUSetFormat(run->A[2], MATHYBMGPU_FORMAT_SELL));
    PetscCall(MatSetFromOptions(run->A[2]));
    PetscCall(MatHYBMGPUGetInfo(run->A[2], &info));
    run->bytes[2] = info.bytes;
  }
  PetscCall(MatCreateVecs(run->A[0], &run->x, &run->b));
  PetscCall(VecSet(run->b, 1.0));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(run->bench.comm, "matrices were made in %.1f s\n", (double)(end - start)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ measurements */

static PetscErrorCode CreateSolver(const Run *run, const Result *r, Mat A, const char storage[], KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(run->bench.comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, storage ? KSPCBGMRES : KSPGMRES));
  if (storage) PetscCall(KSPCBGMRESSetStorage(*ksp, storage));
  PetscCall(KSPGMRESSetRestart(*ksp, r->restart));
  PetscCall(KSPGMRESSetPreAllocateVectors(*ksp));
  PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, r->pc));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeSolve(const Run *run, KSP ksp, PetscLogDouble *seconds)
{
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(VecZeroEntries(run->x));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(ksp, run->b, run->x));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&end));
  *seconds = end - start;
  PetscCallMPI(MPI_Bcast(seconds, 1, MPI_DOUBLE, 0, run->bench.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fastest of several solves, per iteration; the first solve sets up and does not count */
static PetscErrorCode TimeIterations(const Run *run, const Result *r, Mat A, const char storage[], PetscLogDouble *iteration)
{
  PetscLogDouble seconds;
  PetscInt       its;
  KSP            ksp;

  PetscFunctionBegin;
  *iteration = PETSC_MAX_REAL;
  PetscCall(CreateSolver(run, r, A, storage, &ksp));
  PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, run->its));
  for (PetscInt q = 0; q <= run->repeats; q++) {
    PetscCall(TimeSolve(run, ksp, &seconds));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    if (q) *iteration = PetscMin(*iteration, seconds / (PetscLogDouble)PetscMax(its, 1));
  }
  if (its < run->its) PetscCall(PetscPrintf(run->bench.comm, "  %" PetscInt_FMT " iterations only were timed\n", its));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeToSolution(const Run *run, Result *r, Mat A, const char storage[])
{
  PetscReal norm;
  KSP       ksp;
  Vec       residual;

  PetscFunctionBegin;
  PetscCall(CreateSolver(run, r, A, storage, &ksp));
  PetscCall(KSPSetTolerances(ksp, run->rtol, PETSC_CURRENT, PETSC_CURRENT, 20000));
  PetscCall(KSPSetUp(ksp));
  PetscCall(TimeSolve(run, ksp, &r->solve));
  PetscCall(KSPGetIterationNumber(ksp, &r->its));
  PetscCall(KSPGetConvergedReason(ksp, &r->reason));
  if (storage) {
    KSPCBGMRESInfo info;

    PetscCall(KSPCBGMRESGetInfo(ksp, &info));
    r->basis = info.bytes;
  }
  PetscCall(VecDuplicate(run->b, &residual));
  PetscCall(MatMult(run->A[0], run->x, residual));
  PetscCall(VecAYPX(residual, -1.0, run->b));
  PetscCall(VecNorm(residual, NORM_2, &r->residual));
  PetscCall(VecNorm(run->b, NORM_2, &norm));
  r->residual /= norm;
  PetscCall(VecDestroy(&residual));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of an iteration, on average over the timed iterations */
static double IterationBytes(const Run *run, const Result *r, double matrix, double bits)
{
  const double vector = (double)r->rows * (double)sizeof(PetscScalar),
               column = bits > 0 ? (double)r->rows * (double)(sizeof(PetscScalar) / sizeof(PetscReal)) * bits / 8 : vector;
  double columns = 0, vectors = 0;

  for (PetscInt it = 0; it < run->its; it++) {
    const PetscInt  k    = it % r->restart + 1;
    const PetscBool last = (PetscBool)(k == r->restart);

    columns += last ? (double)k : 2. * (double)k + 1.;
    vectors += last ? 1. : 3.;
  }
  return (columns * column + vectors * vector) / (double)run->its + matrix + 2 * vector;
}

static PetscErrorCode Report(Run *run, const Result *r)
{
  Bench           *bench   = &run->bench;
  const BenchField field[] = {
    {"rows", NULL, (double)r->rows},
    {"preconditioner", r->pc, 0.},
    {"restart", NULL, (double)r->restart},
    {"matrix", r->matrix, 0.},
    {"method", r->method, 0.},
    {"ms_iteration", NULL, 1e3 * r->iteration},
    {"ms_iteration_gmres", NULL, 1e3 * r->baseline},
    {"times_faster", NULL, r->baseline / r->iteration},
    {"ms_bound", NULL, 1e3 * r->bound},
    {"share_of_bound", NULL, r->bound / r->iteration},
    {"basis_bytes", NULL, r->basis},
    {"rtol", NULL, (double)run->rtol},
    {"iterations", NULL, (double)r->its},
    {"solve_s", NULL, r->solve},
    {"true_residual", NULL, (double)r->residual},
    {"reason", KSPConvergedReasons[r->reason], 0.},
  };

  PetscFunctionBegin;
  PetscCall(PetscPrintf(bench->comm, "  %-7s %4" PetscInt_FMT " %-7s %-9s %9.4f %7.2f %9.4f %6.1f %7" PetscInt_FMT " %9.3f %10.2e  %s\n", r->pc, r->restart,
                        r->matrix, r->method, 1e3 * r->iteration, r->baseline / r->iteration, 1e3 * r->bound, 100. * r->bound / r->iteration, r->its, r->solve,
                        (double)r->residual, run->rtol > 0 ? KSPConvergedReasons[r->reason] : "-"));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %" PetscInt_FMT " | %s | %" PetscInt_FMT " | %s | %s | %.4f | %.2f | %.4f | %.1f%% | %" PetscInt_FMT " | %.3f | %.2e | %s |\n",
            r->rows, r->pc, r->restart, r->matrix, r->method, 1e3 * r->iteration, r->baseline / r->iteration, 1e3 * r->bound, 100. * r->bound / r->iteration,
            r->its, r->solve, (double)r->residual, run->rtol > 0 ? KSPConvergedReasons[r->reason] : "-");
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* storage: of the basis, or NULL for KSPGMRES, which is the baseline with PETSc's own matrix */
static PetscErrorCode BenchMethod(Run *run, Result *r, PetscInt matrix, const char storage[], double bits)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(run->bench.comm, &size));
  r->matrix = matrices[matrix];
  r->method = storage ? storage : KSPGMRES;
  r->its    = 0;
  r->solve = r->basis = 0;
  r->residual         = 0;
  r->reason           = KSP_CONVERGED_ITERATING;
  PetscCall(TimeIterations(run, r, run->A[matrix], storage, &r->iteration));
  if (!storage && !matrix) r->baseline = r->iteration;
  r->bound = IterationBytes(run, r, run->bytes[matrix], bits) / (run->bench.copyrate * (double)size);
  if (run->rtol > 0) PetscCall(TimeToSolution(run, r, run->A[matrix], storage));
  PetscCall(Report(run, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchSystem(Run *run)
{
  Result r;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&r, sizeof(r)));
  PetscCall(MatGetSize(run->A[0], &r.rows, NULL));
  PetscCall(PetscPrintf(run->bench.comm, "\n%" PetscInt_FMT " rows, convection %g, %" PetscInt_FMT " iterations timed; then to %g\n", r.rows, (double)run->beta,
                        run->its, (double)run->rtol));
  PetscCall(PetscPrintf(run->bench.comm, "  %-7s %4s %-7s %-9s %9s %7s %9s %6s %7s %9s %10s  %s\n", "pc", "m", "mat", "method", "ms/it", "faster", "bound ms",
                        "%", "its", "solve s", "residual", "converged"));
  for (PetscInt p = 0; p < run->npcs; p++) {
    for (PetscInt m = 0; m < run->nrestarts; m++) {
      r.pc      = run->pc[p];
      r.restart = run->restart[m];
      PetscCall(BenchMethod(run, &r, 0, NULL, 0));
      for (PetscInt a = 0; a < NMATRICES; a++) {
        if (!run->matrix[a]) continue;
        if (a) PetscCall(BenchMethod(run, &r, a, NULL, 0));
        for (PetscInt s = 0; s < NSTORAGES; s++) {
          if (run->storage[s]) PetscCall(BenchMethod(run, &r, a, storages[s].name, storages[s].bits));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSetFromOptions(Run *run)
{
  const char *name[NSTORAGES];
  PetscInt    n = LIST_MAX;
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &run->bench));
  if (!run->bench.size) run->bench.size = 1259712;
  run->beta      = 0.5;
  run->rtol      = PetscDefined(USE_REAL_DOUBLE) ? 1e-10 : 1e-4;
  run->its       = 200;
  run->repeats   = 3;
  run->nrestarts = LIST_MAX;
  for (PetscInt s = 0; s < NSTORAGES; s++) name[s] = storages[s].name;
  PetscCall(BenchGetWanted(&run->bench, "-bench_storages", NSTORAGES, name, run->storage));
  PetscCall(BenchGetWanted(&run->bench, "-bench_matrices", NMATRICES, matrices, run->matrix));
  PetscOptionsBegin(run->bench.comm, NULL, "Benchmark of GMRES", "KSP");
  PetscCall(PetscOptionsReal("-bench_beta", "Convection", NULL, run->beta, &run->beta, NULL));
  PetscCall(PetscOptionsReal("-bench_rtol", "Tolerance of solves, or 0", NULL, run->rtol, &run->rtol, NULL));
  PetscCall(PetscOptionsBoundedInt("-bench_its", "Timed iterations", NULL, run->its, &run->its, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-bench_repeats", "How often", NULL, run->repeats, &run->repeats, NULL, 1));
  PetscCall(PetscOptionsIntArray("-bench_restarts", "Columns of a cycle", NULL, run->restart, &run->nrestarts, &set));
  if (!set || !run->nrestarts) {
    run->nrestarts  = 2;
    run->restart[0] = 30;
    run->restart[1] = 100;
  }
  PetscCall(PetscOptionsStringArray("-bench_pcs", "Preconditioners", NULL, run->pc, &n, &set));
  PetscOptionsEnd();
  run->npcs = n;
  if (!set || !n) {
    run->npcs = 1;
    PetscCall(PetscStrallocpy(PCNONE, &run->pc[0]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Run run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(RunSetFromOptions(&run));
  PetscCall(BenchCopyRate(&run.bench));
  PetscCall(
    BenchOpen(&run.bench,
              "| rows | pc | restart | matrix | method | ms an iteration | times faster | bound, ms | share | iterations | solve, s | true residual | |"));
  PetscCall(CreateSystem(&run));
  PetscCall(BenchSystem(&run));
  for (PetscInt a = 0; a < NMATRICES; a++) PetscCall(MatDestroy(&run.A[a]));
  for (PetscInt p = 0; p < run.npcs; p++) PetscCall(PetscFree(run.pc[p]));
  PetscCall(VecDestroy(&run.x));
  PetscCall(VecDestroy(&run.b));
  PetscCall(BenchClose(&run.bench));
  PetscCall(PetscFinalize());
  return 0;
}
