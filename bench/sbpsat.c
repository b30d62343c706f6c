/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times MATSBPSAT and PCSBPMG on the manufactured problem, against PETSc's multigrids on the assembled matrix, in the same run.\n\
  -bench_n LIST            : intervals a direction (default: 256,512,1024; on a GPU 1024,2048,4096,8192)\n\
  -bench_order P           : of the operator (default: 2)\n\
  -bench_variants LIST     : of richardson55, chebyshev22, full, gamg, mg, product (default: all);\n\
                             product: of the assembled matrix, beside the operator, also if gamg or mg assemble it\n\
  -bench_assembled_max N   : largest N for gamg, mg and product (default: 1024; on a GPU 4096)\n\
  -bench_exact_metrics B   : metrics from formulas (default: true)\n\
  -bench_its_max N         : iterations after which a variant is given up (default: 200)\n\
  -bench_repeats N         : how often a solve is timed (default: 5); the fastest counts\n\
  -bench_gpu BOOL          : on the GPU (default: if a GPU exists)\n\
  -bench_json FILE         : results for programs\n\
  -bench_markdown FILE     : results as a table\n\
  -NAME_pc_..., -NAME_ksp_... : options of the variant NAME\n\n";

/*
   A solve counts if its error is at most 1.1 times the discretisation error. A solve to the end gives the
   discretisation error. A first run finds the number of iterations, by the error after each iteration. The timed run
   makes the same number of iterations from zero. The bound on a product is the time to copy its bytes: three
   coefficients, x and y.
*/

#include <tutorials/common/measure.h>
#include <lithe/private/petsccompat.h>
#include <lithe/private/sbp/sbpsat.h>
#include <tutorials/common/sbpsatproblem.h>
#include <lithe.h>
#include <petsctime.h>

#define LIST_MAX 16
#define GOOD     1.1

typedef enum {
  RICHARDSON55,
  CHEBYSHEV22,
  FULL,
  GAMG,
  MG,
  PRODUCT,
  VARIANTS
} Variant;
static const char *const variants[VARIANTS] = {"richardson55", "chebyshev22", "full", "gamg", "mg", "product"};
static const char *const what[VARIANTS]     = {"Richardson V(5,5), CG, rediscretized",
                                               "Chebyshev V(2,2), CG, Galerkin",
                                               "full multigrid, Galerkin",
                                               "PETSc gamg, CG, assembled",
                                               "PETSc mg, CG, Galerkin, assembled",
                                               "product with the assembled matrix"};

/* N and ms on an A100, from: A. Chen, B. A. Erickson, J. W. Choi, J. E. Kozdon, Matrix-free methods for
   summation-by-parts finite difference operators on GPUs */
static const struct {
  PetscInt  N;
  PetscReal ms;
} published[] = {{1024, 28.5}, {2048, 60.5}, {4096, 207}, {8192, 865}};

typedef struct {
  Bench     bench;
  PetscInt  order, repeats, itsmax, assembledmax, n, N[LIST_MAX];
  PetscBool exact, variant[VARIANTS];
} Run;

typedef struct {
  PetscInt  N;
  DM        da;
  Mat       A, AIJ;
  Vec       u, b, x, e;
  PetscReal discretisation;
} System;

typedef struct {
  PetscInt       its;
  PetscReal      error; /* relative to the discretisation error */
  PetscLogDouble setup, solve;
} Result;

/* ------------------------------------------------------------ the system */

static PetscErrorCode CreateSystem(const Run *run, PetscInt N, System *s)
{
  const PetscInt n[2] = {N, N};

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->N = N;
  /* Vectors stay on the device, so no host memory is pinned */
  if (run->bench.gpu) PetscCall(PetscOptionsInsertString(NULL, "-dm_vec_type cuda -vec_pinned_memory_min 2000000000"));
  PetscCall(ProblemCreateGrid(run->bench.comm, n, &s->da));
  if (!run->exact) PetscCall(ProblemSetCoordinates(s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(MatSBPSATSetOrder(s->A, run->order));
  PetscCall(ProblemSetOperator(s->da, run->exact, s->A));
  PetscCall(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(ProblemCreateVector(s->da, &s->u));
  PetscCall(ProblemCreateVector(s->da, &s->b));
  PetscCall(ProblemCreateVector(s->da, &s->x));
  PetscCall(ProblemCreateVector(s->da, &s->e));
  PetscCall(VecZeroEntries(s->b));
  PetscCall(ProblemGetSolution(s->da, s->u));
  PetscCall(ProblemAddRightSide(s->da, s->A, s->b));
  if ((run->variant[GAMG] || run->variant[MG] || run->variant[PRODUCT]) && N <= run->assembledmax) {
    PetscCall(MatConvert(s->A, MATAIJ, MAT_INITIAL_MATRIX, &s->AIJ));
    if (run->bench.gpu) PetscCall(MatConvert(s->AIJ, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &s->AIJ));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySystem(System *s)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->u));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->e));
  PetscCall(MatDestroy(&s->AIJ));
  PetscCall(MatDestroy(&s->A));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetError(const System *s, Vec x, PetscReal *error)
{
  PetscFunctionBegin;
  PetscCall(VecWAXPY(s->e, -1., s->u, x));
  PetscCall(MatSBPSATNorm(s->A, s->e, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ solvers */

static PetscErrorCode CreateSolver(const Run *run, const System *s, Variant v, KSP *ksp)
{
  const PetscBool assembled = (PetscBool)(v == GAMG || v == MG);
  char            prefix[32];
  PC              pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(run->bench.comm, ksp));
  PetscCall(KSPSetOperators(*ksp, assembled ? s->AIJ : s->A, assembled ? s->AIJ : s->A));
  PetscCall(KSPSetType(*ksp, v == FULL ? KSPPREONLY : KSPCG));
  if (v != FULL) PetscCall(KSPSetNormType(*ksp, KSP_NORM_NATURAL));
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "%s_", variants[v]));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPGetPC(*ksp, &pc));
  if (v == GAMG) PetscCall(PCSetType(pc, PCGAMG));
  else if (v == MG) {
    PetscInt levels = 1;

    for (PetscInt n = s->N; n % 2 == 0 && n > 16; n /= 2) levels++;
    PetscCall(KSPSetDM(*ksp, s->da));
    PetscCall(KSPSetDMActive(*ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
    PetscCall(PCSetType(pc, PCMG));
    PetscCall(PCMGSetLevels(pc, levels, NULL));
    PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  } else {
    PetscCall(PCSetType(pc, PCSBPMG));
    if (v == RICHARDSON55) PetscCall(BenchSetOptions(pc, "-pc_sbpmg_smoother richardson -pc_sbpmg_smooths 5 -pc_sbpmg_coarse rediscretized"));
    else if (v == FULL) PetscCall(PCSBPMGSetCycle(pc, PCSBPMG_CYCLE_FULL));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const System *system;
  PetscInt      its;
  PetscReal     error;
} Watch;

/* Stops where the error is good */
static PetscErrorCode WatchError(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  Watch *watch = (Watch *)ctx;
  Vec    x;

  PetscFunctionBegin;
  *reason = KSP_CONVERGED_ITERATING;
  if (it == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(GetError(watch->system, x, &watch->error));
  watch->its = it;
  if (watch->error <= (PetscReal)GOOD * watch->system->discretisation) *reason = KSP_CONVERGED_ATOL;
  else if (PetscIsInfOrNanReal(norm)) *reason = KSP_DIVERGED_NANORINF;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeSetUp(const Run *run, KSP ksp, PetscLogDouble *seconds)
{
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&end));
  *seconds = end - start;
  PetscCallMPI(MPI_Bcast(seconds, 1, MPI_DOUBLE, 0, run->bench.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeSolve(const Run *run, const System *s, KSP ksp, PetscLogDouble *seconds)
{
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(VecZeroEntries(s->x));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&end));
  *seconds = end - start;
  PetscCallMPI(MPI_Bcast(seconds, 1, MPI_DOUBLE, 0, run->bench.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const Run *run, const System *s, Variant v, Result *r)
{
  Watch          watch = {.system = s};
  PetscReal      error;
  PetscLogDouble seconds;
  KSP            ksp;

  PetscFunctionBegin;
  /* The second set-up is timed: the first may wait for libraries to be loaded */
  for (int k = 0; k < 2; k++) {
    PetscCall(CreateSolver(run, s, v, &ksp));
    PetscCall(TimeSetUp(run, ksp, &r->setup));
    if (k == 0) PetscCall(KSPDestroy(&ksp));
  }
  if (v == FULL) r->its = 1;
  else {
    PetscCall(KSPSetConvergenceTest(ksp, WatchError, &watch, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, run->itsmax));
    PetscCall(TimeSolve(run, s, ksp, &seconds));
    r->its = watch.its;
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, PetscMax(r->its, 1)));
  }
  r->solve = PETSC_MAX_REAL;
  for (PetscInt k = 0; k <= run->repeats; k++) {
    PetscCall(TimeSolve(run, s, ksp, &seconds));
    if (k) r->solve = PetscMin(r->solve, seconds);
  }
  PetscCall(GetError(s, s->x, &error));
  r->error = error / s->discretisation;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error of the fully solved system */
static PetscErrorCode GetDiscretisationError(const Run *run, System *s)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(run->bench.comm, &ksp));
  PetscCall(KSPSetOperators(ksp, s->A, s->A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-12 : (PetscReal)1e-6, PETSC_CURRENT, PETSC_CURRENT, 100));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(GetError(s, s->x, &s->discretisation));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the operator */

static PetscErrorCode ApplyInner(void *pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  (void)x;
  (void)y;
  PetscCall(PCSBPMGApplyOperator_Private((PC)pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator in both precisions and, if there is one, the assembled matrix: its stored entries, x and y move */
static PetscErrorCode BenchOperator(Run *run, const System *s)
{
  Bench       *bench = &run->bench;
  const int    many  = s->AIJ ? 3 : 2;
  const double nodes = (double)(s->N + 1) * (double)(s->N + 1);
  PetscReal    median[3], least[3];
  MatInfo      info = {.nz_used = 0};
  PetscMPIInt  size;
  PC           pc;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(bench->comm, &size));
  PetscCall(PCCreate(bench->comm, &pc));
  PetscCall(PCSetOperators(pc, s->A, s->A));
  PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(PCSetUp(pc));
  if (s->AIJ) PetscCall(MatGetInfo(s->AIJ, MAT_GLOBAL_SUM, &info));
  {
    const BenchTask task[3] = {{BenchProduct, s->A}, {ApplyInner, pc}, {BenchProduct, s->AIJ}};

    PetscCall(BenchTime(bench, many, task, s->x, s->e, median, least));
  }
  PetscCall(PCDestroy(&pc));
  for (int k = 0; k < many; k++) {
    const char  *scalar = PetscDefined(USE_COMPLEX) ? "complex" : "double", *name[3] = {scalar, "single", "assembled"};
    const double words = (double)(sizeof(PetscScalar) + sizeof(PetscInt)) * info.nz_used + (double)sizeof(PetscInt) * nodes;
    const double bytes = k == 1 ? nodes * 5 * sizeof(float) : (k ? words : nodes * 3 * sizeof(PetscReal)) + nodes * 2 * sizeof(PetscScalar);
    const double rate = bytes / (double)median[k], share = rate / (bench->copyrate * (double)size);
    BenchField   field[] = {{"N", NULL, (double)s->N},
                            {"operator", name[k], 0.},
                            {"order", NULL, (double)run->order},
                            {"ms", NULL, 1e3 * (double)median[k]},
                            {"gb_per_s", NULL, rate / 1e9},
                            {"share_of_copy", NULL, share},
                            {"over_operator", NULL, (double)(median[k] / median[0])}};

    PetscCall(PetscPrintf(bench->comm, "  %6" PetscInt_FMT "  operator, %-28s %9.3f ms  %8.1f GB/s  %5.1f%% of a copy", s->N, name[k], 1e3 * (double)median[k],
                          rate / 1e9, 100 * share));
    if (k == 2)
      PetscCall(PetscPrintf(bench->comm, ", %.1f nonzeros a row, %.2f times the operator's time", info.nz_used / nodes, (double)(median[k] / median[0])));
    PetscCall(PetscPrintf(bench->comm, "\n"));
    PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
    if (bench->markdown)
      fprintf(bench->markdown, "| %" PetscInt_FMT " | A x, %s: %.1f%% of a copy | | | | %.3f | |\n", s->N, name[k], 100 * share, 1e3 * (double)median[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ all of it */

static PetscErrorCode Report(Run *run, const System *s, Variant v, const Result *r)
{
  Bench           *bench     = &run->bench;
  const PetscBool  good      = (PetscBool)(r->error <= (PetscReal)GOOD);
  PetscReal        ms        = 0;
  char             quote[32] = "";
  const BenchField field[]   = {{"N", NULL, (double)s->N},
                                {"variant", variants[v], 0.},
                                {"order", NULL, (double)run->order},
                                {"iterations", NULL, (double)r->its},
                                {"discretisation_error", NULL, (double)s->discretisation},
                                {"error_over_discretisation", NULL, (double)r->error},
                                {"setup_ms", NULL, 1e3 * r->setup},
                                {"solve_ms", NULL, 1e3 * r->solve}};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(published); k++) {
    if (published[k].N == s->N && v == RICHARDSON55) ms = published[k].ms;
  }
  if (ms > 0) PetscCall(PetscSNPrintf(quote, sizeof(quote), "%g", (double)ms));
  PetscCall(PetscPrintf(bench->comm, "  %6" PetscInt_FMT "  %-38s its %3" PetscInt_FMT "  error %5.2f%s  set-up %9.2f ms  solve %9.2f ms\n", s->N, what[v],
                        r->its, (double)r->error, good ? " " : "!", 1e3 * r->setup, 1e3 * r->solve));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %" PetscInt_FMT " | %s | %" PetscInt_FMT " | %.2f%s | %.2f | %.2f | %s |\n", s->N, what[v], r->its, (double)r->error,
            good ? "" : " (not good)", 1e3 * r->setup, 1e3 * r->solve, quote);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSetFromOptions(Run *run)
{
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &run->bench));
  run->order        = 2;
  run->repeats      = 5;
  run->itsmax       = 200;
  run->assembledmax = run->bench.gpu ? 4096 : 1024;
  run->exact        = PETSC_TRUE;
  run->n            = LIST_MAX;
  PetscCall(BenchGetWanted(&run->bench, "-bench_variants", VARIANTS, variants, run->variant));
  PetscOptionsBegin(run->bench.comm, NULL, "Benchmark of SBP-SAT", "Mat");
  PetscCall(PetscOptionsIntArray("-bench_n", "Intervals a direction", NULL, run->N, &run->n, &set));
  PetscCall(PetscOptionsInt("-bench_order", "Of the operator", NULL, run->order, &run->order, NULL));
  PetscCall(PetscOptionsBoundedInt("-bench_repeats", "How often a solve is timed", NULL, run->repeats, &run->repeats, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-bench_its_max", "Iterations after which a variant is given up", NULL, run->itsmax, &run->itsmax, NULL, 1));
  PetscCall(PetscOptionsInt("-bench_assembled_max", "Largest N for gamg, mg and product", NULL, run->assembledmax, &run->assembledmax, NULL));
  PetscCall(PetscOptionsBool("-bench_exact_metrics", "Metrics from formulas", NULL, run->exact, &run->exact, NULL));
  PetscOptionsEnd();
  if (!set || !run->n) {
    run->n = run->bench.gpu ? 4 : 3;
    for (PetscInt k = 0; k < run->n; k++) run->N[k] = (run->bench.gpu ? 1024 : 256) << k;
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
    BenchOpen(&run.bench, "| N | variant | iterations | error over that of the discretisation | set-up, ms | solve, ms | Chen et al. on an A100, ms |"));
  for (PetscInt k = 0; k < run.n; k++) {
    System s;

    PetscCall(CreateSystem(&run, run.N[k], &s));
    PetscCall(GetDiscretisationError(&run, &s));
    PetscCall(
      PetscPrintf(run.bench.comm, "\nN = %" PetscInt_FMT ", order %" PetscInt_FMT ", discretisation error %.3e\n", s.N, run.order, (double)s.discretisation));
    PetscCall(BenchOperator(&run, &s));
    for (int v = 0; v < VARIANTS; v++) {
      Result r;

      if (!run.variant[v] || v == PRODUCT || ((v == GAMG || v == MG) && !s.AIJ)) continue;
      PetscCall(PetscMemzero(&r, sizeof(r)));
      PetscCall(Measure(&run, &s, (Variant)v, &r));
      PetscCall(Report(&run, &s, (Variant)v, &r));
    }
    PetscCall(DestroySystem(&s));
  }
  PetscCall(BenchClose(&run.bench));
  PetscCall(PetscFinalize());
  return 0;
}
