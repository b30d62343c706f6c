/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Solves systems with preconditioners, uncompressed and compressed by PCVCRS, in the same run.\n\
  -bench_cases LIST  : kinds of matgen, helmholtz27-smooth, or files in PETSc binary form\n\
  -bench_size N      : approximate number of rows (default: each case's own size)\n\
  -bench_inner LIST  : preconditioners (default: ilu,gamg)\n\
  -bench_stores LIST : compressions, e.g. default,log8,fixed8,bins-raw\n\
  -bench_seeds A,B   : every case with the seeds from A to B\n\
  -bench_gpu BOOL    : on the GPU (default: if a GPU exists), exact preconditioners with aijcusparse\n\
  -bench_strict BOOL : fail if a default compressed preconditioner fails and the exact preconditioner does not\n\
  -bench_json FILE   : results for programs\n\
  -bench_markdown FILE : results as a table\n\
  -ksp_type TYPE -vcrs_... : the solver, and the preconditioner, both exact and compressed\n\n";

/*
   The solver's matrix stays exact. The rows of the table differ only in what the preconditioner reads. On request the
   operator is stored by MATVCRS without loss.
*/

#include <tutorials/common/solve.h>

/* A way to compress */
typedef struct {
  const char *name;
  PetscBool   given; /* PETSC_FALSE: what the options database says, or the default of PCVCRS */
  MatVCRSLoss loss;
  PetscInt    bits, bins;
  PetscReal   lambda;
  PetscBool   rowsums;
} Store;

/* clang-format off */
static const Store stores[] = {
  {"default",     PETSC_FALSE, MATVCRS_LOSS_LOG,        8,  100000, .1, PETSC_TRUE },
  {"lossless",    PETSC_TRUE,  MATVCRS_LOSS_NONE,       16, 100000, .1, PETSC_TRUE },
  {"single",      PETSC_TRUE,  MATVCRS_LOSS_SINGLE,     16, 100000, .1, PETSC_TRUE },
  {"fixed16",     PETSC_TRUE,  MATVCRS_LOSS_FIXED,      16, 100000, .1, PETSC_TRUE },
  {"fixed8",      PETSC_TRUE,  MATVCRS_LOSS_FIXED,      8,  100000, .1, PETSC_TRUE },
  {"log16",       PETSC_TRUE,  MATVCRS_LOSS_LOG,        16, 100000, .1, PETSC_TRUE },
  {"log8",        PETSC_TRUE,  MATVCRS_LOSS_LOG,        8,  100000, .1, PETSC_TRUE },
  {"bins",        PETSC_TRUE,  MATVCRS_LOSS_BINS,       16, 100000, .1, PETSC_TRUE },
  {"bins-1000",   PETSC_TRUE,  MATVCRS_LOSS_BINS,       16, 1000,   .1, PETSC_TRUE },
  {"classes",     PETSC_TRUE,  MATVCRS_LOSS_CLASSES,    16, 100000, .1, PETSC_TRUE },
  {"binclasses",  PETSC_TRUE,  MATVCRS_LOSS_BINCLASSES, 16, 100000, .1, PETSC_TRUE },
  {"fixed8-raw",  PETSC_TRUE,  MATVCRS_LOSS_FIXED,      8,  100000, .1, PETSC_FALSE},
  {"log16-raw",   PETSC_TRUE,  MATVCRS_LOSS_LOG,        16, 100000, .1, PETSC_FALSE},
  {"log8-raw",    PETSC_TRUE,  MATVCRS_LOSS_LOG,        8,  100000, .1, PETSC_FALSE},
  {"bins-raw",    PETSC_TRUE,  MATVCRS_LOSS_BINS,       16, 100000, .1, PETSC_FALSE},
  {"classes-raw", PETSC_TRUE,  MATVCRS_LOSS_CLASSES,    16, 100000, .1, PETSC_FALSE},
};
/* clang-format on */
#define NSTORES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(stores))

/* Sums over all systems, per preconditioner and compression */
typedef struct {
  PetscInt  solves, compared, violations; /* compared: systems whose exact solve converged; violations: failures among
                                             the compared systems */
  PetscReal logratio, worst;              /* ratios of iterations, compressed to exact */
} Summary;

typedef struct {
  Bench     bench;
  PetscInt  ninner, repeats;
  char     *inner[BENCH_NAMES_MAX];
  PetscBool wanted[NSTORES];
  PetscBool apply, strict, amat; /* measure applications; fail on violations; MATVCRS as operator */
  PetscReal shift;               /* of the matrix from which a preconditioner of Helmholtz problems is made */
  Summary   summary[BENCH_NAMES_MAX][NSTORES];
} Run;

/* ------------------------------------------------------------ results */

/* What a row describes */
typedef struct {
  const char *matrix, *inner, *store;
  PetscInt    rows;
} Subject;

/* An unmeasured number is shown as a dash */
static const char *Show(size_t size, char text[], const char format[], double value, PetscBool measured)
{
  if (measured) (void)snprintf(text, size, format, value);
  else (void)snprintf(text, size, "-");
  return text;
}

static PetscErrorCode Report(Run *run, const Subject *subject, const Solve *exact, const Solve *s)
{
  Bench          *bench = &run->bench;
  const PetscBool known = (PetscBool)(s->exactbytes > 0.), applied = (PetscBool)(s->apply > 0);
  const double    bytes = s->bytes > 0. ? s->bytes : s->exactbytes, ratio = exact->its ? (double)s->its / (double)exact->its : 1.,
               faster = s->solve > 0. ? exact->solve / s->solve : 1.;
  const char *reason  = s->reason > 0 ? "yes" : KSPConvergedReasons[s->reason];
  char        mb[32], smaller[32], apply[32], applyfaster[32];

  const BenchField field[] = {
    {"matrix", subject->matrix, 0.},
    {"rows", NULL, (double)subject->rows},
    {"preconditioner", subject->inner, 0.},
    {"store", subject->store, 0.},
    {"bytes", NULL, known ? bytes : NAN},
    {"exact_bytes", NULL, known ? s->exactbytes : NAN},
    {"apply_ms", NULL, applied ? 1e3 * (double)s->apply : NAN},
    {"apply_ms_exact", NULL, applied ? 1e3 * (double)s->applyexact : NAN},
    {"setup_s", NULL, s->setup},
    {"compress_s", NULL, s->compress},
    {"iterations", NULL, (double)s->its},
    {"iterations_exact", NULL, (double)exact->its},
    {"solve_s", NULL, s->solve},
    {"solve_s_exact", NULL, exact->solve},
    {"true_residual", NULL, (double)s->residual},
    {"reason", KSPConvergedReasons[s->reason], 0.},
    {"reason_exact", KSPConvergedReasons[exact->reason], 0.},
  };

  PetscFunctionBegin;
  (void)Show(sizeof(mb), mb, "%.3f", bytes / 1e6, known);
  (void)Show(sizeof(smaller), smaller, "%.2f", s->exactbytes / bytes, known);
  (void)Show(sizeof(apply), apply, "%.4f", 1e3 * (double)s->apply, applied);
  (void)Show(sizeof(applyfaster), applyfaster, "%.2f", (double)(s->applyexact / s->apply), applied);
  PetscCall(PetscPrintf(bench->comm, "  %-8s %-11s %9s %7s %9s %7s %8.3f %8.3f %6" PetscInt_FMT " %6.3f %9.4f %7.2f  %8.1e  %s\n", subject->inner,
                        subject->store, mb, smaller, apply, applyfaster, s->setup, s->compress, s->its, ratio, s->solve, faster, (double)s->residual, reason));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %s | %" PetscInt_FMT " | %s | %s | %s | %s | %s | %s | %.3f | %.3f | %" PetscInt_FMT " | %.3f | %.4f | %.2f | %.1e | %s |\n",
            subject->matrix, subject->rows, subject->inner, subject->store, mb, smaller, apply, applyfaster, s->setup, s->compress, s->its, ratio, s->solve,
            faster, (double)s->residual, reason);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Count(Summary *summary, const Solve *exact, const Solve *s)
{
  summary->solves++;
  if (exact->reason <= 0) return;
  summary->compared++;
  if (s->reason <= 0) summary->violations++;
  else if (exact->its) {
    const PetscReal ratio = (PetscReal)s->its / (PetscReal)exact->its;

    summary->logratio += PetscLogReal(ratio);
    summary->worst = PetscMax(summary->worst, ratio);
  }
}

static PetscErrorCode ReportSummary(const Run *run, PetscInt *violations)
{
  PetscFunctionBegin;
  *violations = 0;
  PetscCall(
    PetscPrintf(run->bench.comm, "\nall systems\n  %-8s %-11s %7s %9s %6s %11s %8s\n", "pc", "store", "systems", "converged", "failed", "iterations", "worst"));
  for (PetscInt k = 0; k < run->ninner; k++) {
    for (PetscInt s = 0; s < NSTORES; s++) {
      const Summary *m = &run->summary[k][s];
      const PetscInt n = m->compared - m->violations;

      if (!m->solves) continue;
      PetscCall(PetscPrintf(run->bench.comm, "  %-8s %-11s %7" PetscInt_FMT " %9" PetscInt_FMT " %6" PetscInt_FMT " %11.3f %8.3f\n", run->inner[k],
                            stores[s].name, m->solves, m->compared, m->violations, n ? exp((double)m->logratio / (double)n) : 0., (double)m->worst));
      if (!stores[s].given) *violations += m->violations;
    }
  }
  PetscCall(PetscPrintf(run->bench.comm, "  converged: with the exact preconditioner; failed: of these, with the compressed one;\n  iterations: those of the "
                                         "compressed one by those of the exact one, geometric mean, and the largest\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ one system */

/* Seconds of an application, exact and compressed in turn, compared within each round */
static PetscErrorCode TimeApply(const Run *run, KSP exact, KSP compressed, Mat P, Solve *e, Solve *c)
{
  BenchTask task[2] = {{BenchApply, NULL}, {BenchApply, NULL}};
  PetscReal median[2], least[2];
  Vec       x, y;
  PC        pc;

  PetscFunctionBegin;
  if (!run->apply) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(exact, &pc));
  task[0].ctx = pc;
  PetscCall(KSPGetPC(compressed, &pc));
  task[1].ctx = pc;
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(BenchFillVector(x));
  PetscCall(BenchTime(&run->bench, 2, task, x, y, median, least));
  e->apply = e->applyexact = c->applyexact = median[0];
  c->apply                                 = median[1];
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetStore(KSP ksp, const Store *store)
{
  PC   pc;
  char options[256];

  PetscFunctionBegin;
  if (!store->given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscSNPrintf(options, sizeof(options),
                          "-pc_vcrs_loss %s -pc_vcrs_bits %" PetscInt_FMT " -pc_vcrs_bins %" PetscInt_FMT
                          " -pc_vcrs_lambda %g -pc_vcrs_lambda_unit row -pc_vcrs_preserve_row_sums %d",
                          MatVCRSLosses[store->loss], store->bits, store->bins, (double)store->lambda, store->rowsums));
  PetscCall(BenchSetOptions(pc, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One preconditioner: exact, then in every store */
static PetscErrorCode BenchInner(Run *run, const char matrix[], PetscInt k, Mat A, Mat P, Mat amat, Vec b)
{
  Subject   subject = {matrix, run->inner[k], "exact", 0};
  Solve     exact, s;
  PetscBool first = PETSC_TRUE;
  KSP       ksp[2];
  Vec       x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &subject.rows, NULL));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(SolveCreate(run->bench.comm, A, P, run->inner[k], PETSC_FALSE, &ksp[0]));
  PetscCall(SolveSetUp(&run->bench, ksp[0], &exact));
  PetscCall(SolveRun(&run->bench, ksp[0], A, b, x, run->repeats, &exact));
  PetscCall(SolveCreate(run->bench.comm, amat, P, run->inner[k], PETSC_TRUE, &ksp[1]));
  PetscCall(SolveSetUp(&run->bench, ksp[1], &s));
  for (PetscInt m = 0; m < NSTORES; m++) {
    if (!run->wanted[m]) continue;
    PetscCall(SetStore(ksp[1], &stores[m]));
    if (!first || stores[m].given) PetscCall(SolveCompress(&run->bench, ksp[1], &s));
    PetscCall(TimeApply(run, ksp[0], ksp[1], P, &exact, &s));
    PetscCall(SolveRun(&run->bench, ksp[1], A, b, x, run->repeats, &s));
    if (first) {
      exact.exactbytes = s.exactbytes;
      PetscCall(Report(run, &subject, &exact, &exact));
    }
    first         = PETSC_FALSE;
    subject.store = stores[m].name;
    PetscCall(Report(run, &subject, &exact, &s));
    Count(&run->summary[k][m], &exact, &s);
  }
  PetscCall(KSPDestroy(&ksp[0]));
  PetscCall(KSPDestroy(&ksp[1]));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves the matrix to the GPU, where requested; the generators and MatLoad() make host matrices */
static PetscErrorCode Place(const Run *run, Mat *A)
{
  PetscFunctionBegin;
  if (run->bench.gpu) PetscCall(MatConvert(*A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchSystem(Run *run, const char name[], const char title[])
{
  Bench    *bench = &run->bench;
  Problem   problem;
  PetscBool known;
  PetscInt  rows;
  MatInfo   info;
  Mat       A, P, amat;
  Vec       rhs, b;

  PetscFunctionBegin;
  PetscCall(BenchCreateSystem(bench, name, &A, &rhs));
  PetscCall(Place(run, &A));
  PetscCall(MatCreateVecs(A, NULL, &b));
  PetscCall(VecCopy(rhs, b));
  PetscCall(VecDestroy(&rhs));

  /* indefinite problems need a preconditioner of a shifted operator */
  P = A;
  PetscCall(BenchGetProblem(bench, name, &problem, &known));
  if (known && problem.kind == PROBLEM_HELMHOLTZ27) {
    problem.beta2 += run->shift;
    PetscCall(ProblemCreateSystem(bench->comm, &problem, &P, NULL));
    PetscCall(Place(run, &P));
  } else PetscCall(PetscObjectReference((PetscObject)P));
  amat = A;
  if (run->amat) PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &amat));
  else PetscCall(PetscObjectReference((PetscObject)A));

  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(bench->comm, "\n%s: %" PetscInt_FMT " rows, %.0f nonzeros\n", title, rows, info.nz_used));
  PetscCall(PetscPrintf(bench->comm, "  %-8s %-11s %9s %7s %9s %7s %8s %8s %6s %6s %9s %7s  %8s  %s\n", "pc", "store", "MB", "smaller", "apply ms", "faster",
                        "set up s", "compr. s", "its", "ratio", "solve s", "faster", "residual", "converged"));
  for (PetscInt k = 0; k < run->ninner; k++) PetscCall(BenchInner(run, title, k, A, P, amat, b));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&amat));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ main */

static PetscErrorCode RunSetFromOptions(Run *run)
{
  const char *known[NSTORES];
  PetscBool   set;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &run->bench));
  run->repeats = 1;
  run->apply   = PETSC_TRUE;
  run->shift   = (PetscReal).5;
  run->ninner  = BENCH_NAMES_MAX;
  PetscOptionsBegin(run->bench.comm, NULL, "Benchmark of preconditioners", "PC");
  PetscCall(PetscOptionsStringArray("-bench_inner", "Preconditioners", NULL, run->inner, &run->ninner, &set));
  PetscCall(PetscOptionsBoundedInt("-bench_repeats", "Solves of each, the fastest counts", NULL, run->repeats, &run->repeats, NULL, 1));
  PetscCall(PetscOptionsBool("-bench_apply", "Measure applications of the preconditioner", NULL, run->apply, &run->apply, NULL));
  PetscCall(
    PetscOptionsBool("-bench_operator_vcrs", "Use an operator of type vcrs, without loss, with compressed preconditioners", NULL, run->amat, &run->amat, NULL));
  PetscCall(PetscOptionsReal("-bench_shift", "Shift of the matrix for preconditioners of Helmholtz problems", NULL, run->shift, &run->shift, NULL));
  PetscCall(PetscOptionsBool("-bench_strict", "Fail if a default compressed preconditioner fails where exact succeeds", NULL, run->strict, &run->strict, NULL));
  PetscOptionsEnd();
  if (!set) {
    run->ninner = 2;
    PetscCall(PetscStrallocpy(PCILU, &run->inner[0]));
    PetscCall(PetscStrallocpy(PCGAMG, &run->inner[1]));
  }
  for (PetscInt m = 0; m < NSTORES; m++) known[m] = stores[m].name;
  PetscCall(BenchGetWanted(&run->bench, "-bench_stores", NSTORES, known, run->wanted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One run of the case, or one run per seed */
static PetscErrorCode BenchCase(Run *run, const char name[])
{
  PetscInt  seed[2] = {0, 0}, two = 2;
  PetscBool set;
  char      number[32], title[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-bench_seeds", seed, &two, &set));
  PetscCheck(!set || two == 2, run->bench.comm, PETSC_ERR_USER_INPUT, "-bench_seeds needs the first and the last seed");
  if (!set) PetscCall(BenchSystem(run, name, name));
  for (PetscInt s = seed[0]; set && s <= seed[1]; s++) {
    PetscCall(PetscSNPrintf(number, sizeof(number), "%" PetscInt_FMT, s));
    PetscCall(PetscOptionsSetValue(NULL, "-seed", number));
    PetscCall(PetscSNPrintf(title, sizeof(title), "%s, seed %s", name, number));
    PetscCall(BenchSystem(run, name, title));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Run      *run;
  PetscInt  nnames, violations;
  char     *name[BENCH_NAMES_MAX];
  PetscBool strict;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscNew(&run));
  PetscCall(RunSetFromOptions(run));
  PetscCall(BenchGetCases(&nnames, name));
  PetscCall(BenchOpen(&run->bench, "| matrix | rows | preconditioner | store | MB | times smaller | apply ms | times faster | set up s | compress s | "
                                   "iterations | times exact | solve s | times faster | true residual | converged |"));
  for (PetscInt c = 0; c < nnames; c++) {
    PetscCall(BenchCase(run, name[c]));
    PetscCall(PetscFree(name[c]));
  }
  PetscCall(ReportSummary(run, &violations));
  PetscCall(BenchClose(&run->bench));
  for (PetscInt k = 0; k < run->ninner; k++) PetscCall(PetscFree(run->inner[k]));
  strict = run->strict;
  PetscCall(PetscFree(run));
  if (violations) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " solves failed with the default compression that converge without\n", violations));
  PetscCall(PetscFinalize());
  return strict && violations ? 1 : 0;
}
