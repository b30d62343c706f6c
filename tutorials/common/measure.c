/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Measurements of benchmarks and tutorials. See measure.h. */

#include "measure.h"
#include "output.h"
#include <petscdevice.h>
#include <petsctime.h>
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif

/* A matrix, with its size on a CPU and on a GPU */
typedef struct {
  const char *name;
  ProblemKind kind;
  PetscBool   smooth, iscomplex;
  PetscInt    cpurows, gpurows;
} Case;

/* clang-format off */
static const Case cases[] = {
  {"laplace7",           PROBLEM_LAPLACE7,    PETSC_FALSE, PETSC_FALSE, 1000000, 16777216},
  {"laplace27",          PROBLEM_LAPLACE27,   PETSC_FALSE, PETSC_FALSE, 1000000, 16777216},
  {"reservoir",          PROBLEM_RESERVOIR,   PETSC_FALSE, PETSC_FALSE, 1000000, 8000000 },
  {"convdiff7",          PROBLEM_CONVDIFF7,   PETSC_FALSE, PETSC_FALSE, 1259712, 1259712 },
  {"fem",                PROBLEM_FEM,         PETSC_FALSE, PETSC_FALSE, 500000,  2000000 },
  {"elastic",            PROBLEM_ELASTIC,     PETSC_FALSE, PETSC_FALSE, 300000,  3000000 },
  {"helmholtz27",        PROBLEM_HELMHOLTZ27, PETSC_FALSE, PETSC_TRUE,  500000,  2097152 },
  {"helmholtz27-smooth", PROBLEM_HELMHOLTZ27, PETSC_TRUE,  PETSC_TRUE,  500000,  2097152 },
  {"spe10",              PROBLEM_SPE10,       PETSC_FALSE, PETSC_FALSE, 0,       0       },
};
/* clang-format on */
#define NCASES ((PetscInt)(sizeof(cases) / sizeof(cases[0])))

/* ------------------------------------------------------------ time */

/* Waits for the GPU and for the other processes */
PetscErrorCode BenchWait(const Bench *bench)
{
  PetscFunctionBegin;
  if (bench->gpu) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCallMPI(MPI_Barrier(bench->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchProduct(void *mat, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult((Mat)mat, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchApply(void *pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(PCApply((PC)pc, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copy(void *unused, Vec x, Vec y)
{
  PetscFunctionBegin;
  (void)unused;
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of n runs, started back to back; all processes get the time of the first */
static PetscErrorCode TimeBatch(const Bench *bench, const BenchTask *task, Vec x, Vec y, PetscInt n, PetscReal *seconds)
{
  PetscLogDouble start, end;
  double         time;

  PetscFunctionBegin;
  PetscCall(BenchWait(bench));
  PetscCall(PetscTime(&start));
  for (PetscInt k = 0; k < n; k++) PetscCall((*task->run)(task->ctx, x, y));
  PetscCall(BenchWait(bench));
  PetscCall(PetscTime(&end));
  time = (double)(end - start);
  PetscCallMPI(MPI_Bcast(&time, 1, MPI_DOUBLE, 0, bench->comm));
  *seconds = (PetscReal)time;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many make a batch; warms up, too */
static PetscErrorCode BatchSize(const Bench *bench, const BenchTask *task, Vec x, Vec y, PetscInt *n)
{
  PetscReal seconds;

  PetscFunctionBegin;
  PetscCall(TimeBatch(bench, task, x, y, 2, &seconds));
  for (*n = 1;; *n *= 2) {
    PetscCall(TimeBatch(bench, task, x, y, *n, &seconds));
    if (seconds >= bench->batch / 2 || *n >= 4096) break;
  }
  *n = PetscMax(1, (PetscInt)((PetscReal)*n * bench->batch / PetscMax(seconds, (PetscReal)1.e-9)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchTime(const Bench *bench, PetscInt n, const BenchTask task[], Vec x, Vec y, PetscReal median[], PetscReal least[])
{
  PetscReal *time;
  PetscInt  *batch;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n * bench->rounds, &time, n, &batch));
  for (PetscInt k = 0; k < n; k++) PetscCall(BatchSize(bench, &task[k], x, y, &batch[k]));
  for (PetscInt r = 0; r < bench->rounds; r++) {
    for (PetscInt k = 0; k < n; k++) {
      PetscCall(TimeBatch(bench, &task[k], x, y, batch[k], &time[k * bench->rounds + r]));
      time[k * bench->rounds + r] /= (PetscReal)batch[k];
    }
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscReal *t = time + k * bench->rounds;

    PetscCall(PetscSortReal(bench->rounds, t));
    median[k] = t[bench->rounds / 2];
    least[k]  = t[0];
  }
  PetscCall(PetscFree2(time, batch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rate of VecCopy() on a process, between two vectors too large for any cache */
PetscErrorCode BenchCopyRate(Bench *bench)
{
  const PetscInt  n      = (PetscInt)((bench->gpu ? 1073741824u : 268435456u) / sizeof(PetscScalar));
  const BenchTask copy   = {Copy, NULL};
  PetscReal       median = 0, least = 0;
  Vec             x, y;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, n, n));
  PetscCall(VecSetType(x, bench->gpu ? VECSEQCUDA : VECSEQ));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1.));
  PetscCall(VecSet(y, 2.));
  PetscCall(BenchTime(bench, 1, &copy, x, y, &median, &least));
  bench->copyrate = 2. * (PetscLogDouble)n * sizeof(PetscScalar) / (PetscLogDouble)median;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ matrices */

PetscErrorCode BenchFillVector(Vec x)
{
  PetscScalar *a;
  PetscInt     begin, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt k = begin; k < end; k++) a[k - begin] = (PetscScalar)(1.e-3 * (double)((PetscInt64)k * 7919 % 2003) - 1.);
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchGetProblem(const Bench *bench, const char name[], Problem *problem, PetscBool *known)
{
  PetscInt c, rows;

  PetscFunctionBegin;
  for (c = 0; c < NCASES; c++) {
    PetscCall(PetscStrcmp(name, cases[c].name, known));
    if (*known) break;
  }
  if (!*known) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ProblemSetDefaults(cases[c].kind, problem));
  problem->smooth = cases[c].smooth;
  rows            = bench->size ? bench->size : (bench->gpu ? cases[c].gpurows : cases[c].cpurows);
  if (rows) PetscCall(ProblemSetSize(problem, rows));
  PetscCall(ProblemSetFromOptions(bench->comm, problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchCreateSystem(const Bench *bench, const char name[], Mat *A, Vec *rhs)
{
  Problem   problem;
  PetscBool known;

  PetscFunctionBegin;
  PetscCall(BenchGetProblem(bench, name, &problem, &known));
  if (known) PetscCall(ProblemCreateSystem(bench->comm, &problem, A, rhs));
  else {
    PetscCall(PetscTestFile(name, 'r', &known));
    PetscCheck(known, bench->comm, PETSC_ERR_FILE_OPEN, "-bench_cases: %s is neither a kind of matrix nor a file that can be read", name);
    PetscCall(ProblemLoadSystem(bench->comm, name, A, rhs, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ options and results */

static PetscErrorCode DeviceIsThere(PetscBool *there)
{
  PetscFunctionBegin;
  *there = PETSC_FALSE;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    int count = 0;

    *there = (PetscBool)(cudaGetDeviceCount(&count) == cudaSuccess && count > 0);
    (void)cudaGetLastError();
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   BenchSetFromOptions - Sets place and number of timings, and the files of results

   Collective

   Options Database Keys:
+ -bench_gpu <bool>      - on the GPU; the default if a GPU exists
. -bench_rounds <n>      - batches of each, in turn
. -bench_batch <s>       - seconds of a batch
. -bench_size <n>        - approximate number of rows, instead of each case's own size
. -bench_json <file>     - results for programs
- -bench_markdown <file> - results as a table
*/
PetscErrorCode BenchSetFromOptions(MPI_Comm comm, Bench *bench)
{
  PetscBool there;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(bench, sizeof(*bench)));
  PetscCall(DeviceIsThere(&there));
  bench->comm   = comm;
  bench->gpu    = there;
  bench->rounds = 11;
  bench->first  = PETSC_TRUE;
  PetscOptionsBegin(comm, NULL, "Benchmark", "Mat");
  PetscCall(PetscOptionsBool("-bench_gpu", "On the GPU", NULL, bench->gpu, &bench->gpu, NULL));
  bench->batch = (PetscReal)(bench->gpu ? .02 : .1);
  PetscCall(PetscOptionsRangeInt("-bench_rounds", "Batches of each, in turn", NULL, bench->rounds, &bench->rounds, NULL, 1, BENCH_ROUNDS_MAX));
  PetscCall(PetscOptionsReal("-bench_batch", "Seconds of a batch", NULL, bench->batch, &bench->batch, NULL));
  PetscCall(PetscOptionsBoundedInt("-bench_size", "Approximate number of rows", NULL, bench->size, &bench->size, NULL, 0));
  PetscCall(PetscOptionsString("-bench_json", "Results for programs", NULL, bench->jsonpath, bench->jsonpath, sizeof(bench->jsonpath), NULL));
  PetscCall(PetscOptionsString("-bench_markdown", "Results as a table", NULL, bench->markdownpath, bench->markdownpath, sizeof(bench->markdownpath), NULL));
  PetscOptionsEnd();
  PetscCall(OutputCheck(comm, "-bench_json", bench->jsonpath, NULL));
  PetscCall(OutputCheck(comm, "-bench_markdown", bench->markdownpath, NULL));
  PetscCheck(!bench->gpu || there, comm, PETSC_ERR_USER_INPUT, "-bench_gpu: there is no CUDA device, or PETSc was built without CUDA");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The known names which an option lists; all names without the option */
PetscErrorCode BenchGetWanted(const Bench *bench, const char option[], PetscInt nknown, const char *const known[], PetscBool wanted[])
{
  PetscInt  n = BENCH_NAMES_MAX;
  PetscBool set;
  char     *name[BENCH_NAMES_MAX], all[1024] = "";

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nknown; k++) {
    PetscCall(PetscStrlcat(all, k ? ", " : "", sizeof(all)));
    PetscCall(PetscStrlcat(all, known[k], sizeof(all)));
  }
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, name, &n, &set));
  for (PetscInt k = 0; k < nknown; k++) wanted[k] = (PetscBool)!set;
  for (PetscInt l = 0; set && l < n; l++) {
    PetscBool found = PETSC_FALSE, same;

    for (PetscInt k = 0; k < nknown; k++) {
      PetscCall(PetscStrcmp(name[l], known[k], &same));
      if (same) wanted[k] = found = PETSC_TRUE;
    }
    PetscCheck(found, bench->comm, PETSC_ERR_USER_INPUT, "%s: %s is none of %s", option, name[l], all);
    PetscCall(PetscFree(name[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The names of -bench_cases; by default the kinds for this scalar type which need no file */
PetscErrorCode BenchGetCases(PetscInt *n, char *name[])
{
  PetscBool set;

  PetscFunctionBegin;
  *n = BENCH_NAMES_MAX;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-bench_cases", name, n, &set));
  if (set) PetscFunctionReturn(PETSC_SUCCESS);
  *n = 0;
  for (PetscInt c = 0; c < NCASES; c++) {
    if (cases[c].iscomplex == (PetscBool)PetscDefined(USE_COMPLEX) && cases[c].kind != PROBLEM_SPE10) PetscCall(PetscStrallocpy(cases[c].name, &name[(*n)++]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenForWriting(const Bench *bench, const char path[], FILE **file)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  *file = NULL;
  PetscCallMPI(MPI_Comm_rank(bench->comm, &rank));
  if (!path[0] || rank) PetscFunctionReturn(PETSC_SUCCESS);
  *file = fopen(path, "w");
  PetscCheck(*file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says where everything runs, and begins the files */
PetscErrorCode BenchOpen(Bench *bench, const char head[])
{
  const char *scalar  = PetscDefined(USE_COMPLEX) ? "complex" : "real";
  PetscInt    columns = -1;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(bench->comm, &size));
  PetscCall(PetscPrintf(bench->comm, "%s scalars of %d bytes, indices of %d bytes, on the %s, processes: %d\n", scalar, (int)sizeof(PetscScalar),
                        (int)sizeof(PetscInt), bench->gpu ? "GPU" : "CPU", size));
  if (bench->copyrate > 0.) PetscCall(PetscPrintf(bench->comm, "a copy moves %.1f GB/s%s\n", bench->copyrate / 1e9, size > 1 ? " on a process" : ""));
  PetscCall(OpenForWriting(bench, bench->jsonpath, &bench->json));
  PetscCall(OpenForWriting(bench, bench->markdownpath, &bench->markdown));
  if (bench->json)
    fprintf(bench->json,
            "{\n  \"scalar\": \"%s\", \"scalar_bytes\": %d, \"index_bytes\": %d, \"place\": \"%s\", \"processes\": %d, \"copy_gb_per_s\": %.2f, \"rounds\": "
            "%d,\n  \"results\": [",
            scalar, (int)sizeof(PetscScalar), (int)sizeof(PetscInt), bench->gpu ? "gpu" : "cpu", size, bench->copyrate / 1e9, (int)bench->rounds);
  if (bench->markdown) {
    if (bench->copyrate > 0.) fprintf(bench->markdown, "A copy moves %.1f GB/s.\n\n", bench->copyrate / 1e9);
    fprintf(bench->markdown, "%s\n", head);
    for (const char *c = head; *c; c++) columns += *c == '|';
    for (PetscInt k = 0; k < columns; k++) fprintf(bench->markdown, "|---");
    fprintf(bench->markdown, "|\n");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One result for programs */
PetscErrorCode BenchWriteRecord(Bench *bench, PetscInt n, const BenchField field[])
{
  PetscFunctionBegin;
  if (!bench->json) PetscFunctionReturn(PETSC_SUCCESS);
  fprintf(bench->json, "%s\n    {", bench->first ? "" : ",");
  for (PetscInt k = 0; k < n; k++) {
    fprintf(bench->json, "%s\"%s\": ", k ? ", " : "", field[k].key);
    if (field[k].text) fprintf(bench->json, "\"%s\"", field[k].text);
    else if (isfinite(field[k].value)) fprintf(bench->json, "%.10g", field[k].value);
    else fprintf(bench->json, "null"); /* JSON knows neither NaN nor Inf */
  }
  fprintf(bench->json, "}");
  bench->first = PETSC_FALSE;
  fflush(bench->json);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchClose(Bench *bench)
{
  PetscFunctionBegin;
  if (bench->json) {
    fprintf(bench->json, "\n  ]\n}\n");
    PetscCheck(fclose(bench->json) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", bench->jsonpath);
  }
  if (bench->markdown) PetscCheck(fclose(bench->markdown) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", bench->markdownpath);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchSetOptions(PC pc, const char text[])
{
  PetscOptions options;
  const char  *prefix;

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscOptionsCreate(&options));
  if (prefix) PetscCall(PetscOptionsPrefixPush(options, prefix));
  PetscCall(PetscOptionsInsertString(options, text));
  if (prefix) PetscCall(PetscOptionsPrefixPop(options));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, options));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
