/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times products with PETSc's AIJ against every layout of MATVCRS, in one run.\n\
  -bench_cases LIST  : kinds of matgen, helmholtz27-smooth, or files in PETSc binary form\n\
  -bench_size N      : about so many rows, instead of each case's own size\n\
  -bench_stores LIST : baseline's rivals, e.g. auto,l0,fixed16\n\
  -bench_gpu BOOL    : products on the GPU (default: where there is one)\n\
  -bench_json FILE   : results for programs\n\
  -bench_markdown FILE : results as a table\n\n";

/*
   Every rival is timed in turn with the baseline, batch by batch, so that whatever else the machine
   does strikes both. Times are medians over the rounds. The copy rate is that of VecCopy() between
   two large vectors in the same run; a product's share of it is counted on the bytes that it must
   move at least: the stored matrix, x once, y once.
*/

#include "problems.h"
#include <lithemat.h>
#include <petscdevice.h>
#include <petsctime.h>
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif
#if defined(__GLIBC__)
  #include <malloc.h>
#endif

#define ROUNDS_MAX 99

/* A way to store the matrix */
typedef struct {
  const char   *name;
  MatVCRSLayout layout;
  MatVCRSLoss   loss;
  PetscInt      bits;
} Store;

/* clang-format off */
static const Store stores[] = {
  {"auto",    MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_NONE,    16},
  {"literal", MATVCRS_LAYOUT_LITERAL, MATVCRS_LOSS_NONE,    16},
  {"l0",      MATVCRS_LAYOUT_L0,      MATVCRS_LOSS_NONE,    16},
  {"l1",      MATVCRS_LAYOUT_L1,      MATVCRS_LOSS_NONE,    16},
  {"l2",      MATVCRS_LAYOUT_L2,      MATVCRS_LOSS_NONE,    16},
  {"l3",      MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_NONE,    16},
  {"single",  MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_SINGLE,  16},
  {"fixed16", MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,   16},
  {"fixed8",  MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,   8 },
  {"log16",   MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,     16},
  {"log8",    MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,     8 },
  {"bins",    MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_BINS,    16},
  {"classes", MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_CLASSES, 16},
};
/* clang-format on */
#define NSTORES ((PetscInt)(sizeof(stores) / sizeof(stores[0])))

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
  {"helmholtz27",        PROBLEM_HELMHOLTZ27, PETSC_FALSE, PETSC_TRUE,  500000,  2097152 },
  {"helmholtz27-smooth", PROBLEM_HELMHOLTZ27, PETSC_TRUE,  PETSC_TRUE,  500000,  2097152 },
  {"spe10",              PROBLEM_SPE10,       PETSC_FALSE, PETSC_FALSE, 0,       0       },
};
/* clang-format on */
#define NCASES ((PetscInt)(sizeof(cases) / sizeof(cases[0])))

typedef struct {
  PetscBool      gpu;
  PetscInt       rounds;
  PetscReal      batch; /* seconds */
  PetscInt       size;
  PetscBool      memory;
  PetscLogDouble copyrate; /* bytes/s, read and written */
  FILE          *json, *markdown;
  PetscBool      first; /* no record in json yet */
} Bench;

/* ------------------------------------------------------------ time */

/* Waits for the GPU; on the host there is nothing to wait for */
static PetscErrorCode Wait(const Bench *bench)
{
  PetscFunctionBegin;
  if (bench->gpu) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of n products y = A x, or of n copies where A is NULL, started back to back */
static PetscErrorCode TimeBatch(const Bench *bench, Mat A, Vec x, Vec y, PetscInt n, PetscReal *seconds)
{
  PetscLogDouble start, end;

  PetscFunctionBegin;
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&start));
  for (PetscInt k = 0; k < n; k++) {
    if (A) PetscCall(MatMult(A, x, y));
    else PetscCall(VecCopy(x, y));
  }
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&end));
  *seconds = (PetscReal)(end - start);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many make a batch; warms up, too */
static PetscErrorCode BatchSize(const Bench *bench, Mat A, Vec x, Vec y, PetscInt *n)
{
  PetscReal seconds;

  PetscFunctionBegin;
  PetscCall(TimeBatch(bench, A, x, y, 2, &seconds));
  for (*n = 1;; *n *= 2) {
    PetscCall(TimeBatch(bench, A, x, y, *n, &seconds));
    if (seconds >= bench->batch / 2 || *n >= 4096) break;
  }
  *n = PetscMax(1, (PetscInt)((PetscReal)*n * bench->batch / PetscMax(seconds, (PetscReal)1.e-9)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Median(PetscInt n, PetscReal value[], PetscReal *median)
{
  PetscFunctionBegin;
  PetscCall(PetscSortReal(n, value));
  *median = value[n / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Medians and minima of a product with A and with B, their batches in turn */
static PetscErrorCode TimePair(const Bench *bench, Mat A, Mat B, Vec x, Vec y, PetscReal median[2], PetscReal least[2])
{
  Mat       mat[2] = {A, B};
  PetscReal time[2][ROUNDS_MAX];
  PetscInt  n[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(BatchSize(bench, mat[k], x, y, &n[k]));
  for (PetscInt r = 0; r < bench->rounds; r++) {
    for (int k = 0; k < 2; k++) {
      PetscCall(TimeBatch(bench, mat[k], x, y, n[k], &time[k][r]));
      time[k][r] /= (PetscReal)n[k];
    }
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(Median(bench->rounds, time[k], &median[k]));
    least[k] = time[k][0];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What VecCopy() reaches between two vectors that no cache holds */
static PetscErrorCode CopyRate(Bench *bench)
{
  const PetscInt n = (PetscInt)((bench->gpu ? 1073741824u : 268435456u) / sizeof(PetscScalar));
  PetscReal      time[ROUNDS_MAX], median = 0;
  PetscInt       batch;
  Vec            x, y;

  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, n, n));
  PetscCall(VecSetType(x, bench->gpu ? VECSEQCUDA : VECSEQ));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 1.));
  PetscCall(VecSet(y, 2.));
  PetscCall(BatchSize(bench, NULL, x, y, &batch));
  for (PetscInt r = 0; r < bench->rounds; r++) {
    PetscCall(TimeBatch(bench, NULL, x, y, batch, &time[r]));
    time[r] /= (PetscReal)batch;
  }
  PetscCall(Median(bench->rounds, time, &median));
  bench->copyrate = 2. * (PetscLogDouble)n * sizeof(PetscScalar) / (PetscLogDouble)median;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ memory */

/* Bytes allocated now on the host and on the GPU. With -malloc_debug PETSc counts them itself. */
static PetscErrorCode MemoryUsage(const Bench *bench, PetscLogDouble usage[2])
{
  PetscFunctionBegin;
  PetscCall(Wait(bench));
  PetscCall(PetscMallocGetCurrentUsage(&usage[0]));
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  if (usage[0] <= 0.) {
    const struct mallinfo2 info = mallinfo2();

    usage[0] = (PetscLogDouble)info.uordblks + (PetscLogDouble)info.hblkhd;
  }
#else
  if (usage[0] <= 0.) PetscCall(PetscMemoryGetCurrentUsage(&usage[0]));
#endif
  usage[1] = 0.;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (bench->gpu) {
    size_t available, total;

    PetscCheck(cudaMemGetInfo(&available, &total) == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaMemGetInfo() failed");
    usage[1] = (PetscLogDouble)(total - available);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a compressed matrix takes after a product, its AIJ arrays given back, against the bytes it says */
static PetscErrorCode BenchMemory(Bench *bench, const char name[], Mat A, Vec x, Vec y)
{
  PetscLogDouble before[2], after[2];
  MatVCRSInfo    info;
  Mat            B;

  PetscFunctionBegin;
  PetscCall(MemoryUsage(bench, before));
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatVCRSGetInfo(B, &info));
  PetscCall(MatVCRSDropAIJ(B));
  PetscCall(MatMult(B, x, y));
  PetscCall(MemoryUsage(bench, after));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  memory without AIJ arrays: %.3f MB stored, %.3f MB measured on the host", info.bytes / 1e6, (after[0] - before[0]) / 1e6));
  if (bench->gpu) PetscCall(PetscPrintf(PETSC_COMM_SELF, ", %.3f MB on the GPU", (after[1] - before[1]) / 1e6));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  if (bench->json) {
    fprintf(bench->json, "%s\n    {\"matrix\": \"%s\", \"what\": \"memory\", \"bytes\": %.0f, \"host_bytes\": %.0f, \"gpu_bytes\": %.0f}", bench->first ? "" : ",", name, info.bytes, after[0] - before[0], after[1] - before[1]);
    bench->first = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

typedef struct {
  const char    *matrix, *store, *layout, *values;
  PetscInt       rows;
  PetscLogDouble nonzeros, bytes, aijbytes, build, setup;
  PetscReal      median, least, baseline, share, error;
} Result;

static PetscErrorCode Report(Bench *bench, const Result *r)
{
  const double rate = r->build > 0. ? r->nonzeros / r->build / 1e6 : 0.;

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-12s %-7s %-8s %10.2f %7.2f %10.4f %7.2f %6.1f %9.1f %9.1f  %8.1e\n", r->store, r->layout, r->values, r->bytes / 1e6, r->aijbytes / r->bytes, 1e3 * (double)r->median, (double)(r->baseline / r->median), 100. * (double)r->share, rate, r->build / (double)r->baseline, (double)r->error));
  if (bench->json) {
    fprintf(bench->json, "%s\n    {\"matrix\": \"%s\", \"what\": \"product\", \"rows\": %lld, \"nonzeros\": %.0f, \"store\": \"%s\", \"layout\": \"%s\", \"values\": \"%s\", \"bytes\": %.0f, \"times_smaller\": %.4f, \"ms_median\": %.6f, \"ms_min\": %.6f, \"ms_baseline\": %.6f, \"times_faster\": %.4f, \"share_of_copy\": %.4f, \"compress_s\": %.6f, \"setup_s\": %.6f, \"max_relative_error\": %.3e}",
            bench->first ? "" : ",", r->matrix, (long long)r->rows, r->nonzeros, r->store, r->layout, r->values, r->bytes, r->aijbytes / r->bytes, 1e3 * (double)r->median, 1e3 * (double)r->least, 1e3 * (double)r->baseline, (double)(r->baseline / r->median), (double)r->share, r->build, r->setup, (double)r->error);
    bench->first = PETSC_FALSE;
    fflush(bench->json);
  }
  if (bench->markdown) {
    fprintf(bench->markdown, "| %s | %lld | %s | %s %s | %.2f | %.2f | %.4f | %.2f | %.0f%% | %.0f | %.1e |\n", r->matrix, (long long)r->rows, r->store, r->layout, r->values, r->bytes / 1e6, r->aijbytes / r->bytes, 1e3 * (double)r->median, (double)(r->baseline / r->median), 100. * (double)r->share, rate, (double)r->error);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* max |y - reference| / max |reference| */
static PetscErrorCode MaxError(Vec y, Vec reference, PetscReal *error)
{
  const PetscScalar *a, *b;
  PetscReal          largest = 0, scale = 0;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayRead(reference, &b));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal d = PetscAbsScalar(a[k] - b[k]);

    if (!(d <= largest)) largest = d; /* not a number must show */
    scale = PetscMax(scale, PetscAbsScalar(b[k]));
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecRestoreArrayRead(reference, &b));
  *error = scale > 0 ? largest / scale : largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of either sign that depend on their number alone */
static PetscErrorCode FillVector(Vec x)
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt k = 0; k < n; k++) a[k] = (PetscScalar)(1.e-3 * (double)((PetscInt64)k * 7919 % 2003) - 1.);
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores B as asked and compresses it; an error, that of a layout which cannot hold the matrix, is returned and not printed */
static PetscErrorCode StoreAs(Mat B, const Store *store, MatVCRSInfo *info)
{
  PetscErrorCode ierr;

  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatVCRSSetLayout(B, store->layout);
  if (!ierr) ierr = MatVCRSSetBits(B, store->bits);
  if (!ierr) ierr = MatVCRSSetLoss(B, store->loss);
  if (!ierr) ierr = MatVCRSGetInfo(B, info);
  PetscCall(PetscPopErrorHandler());
  return ierr;
}

/* The baseline, then every store */
static PetscErrorCode BenchMatrix(Bench *bench, const char name[], Mat A, const PetscBool wanted[])
{
  const PetscLogDouble vectors = (PetscLogDouble)sizeof(PetscScalar);
  PetscReal            median[2], least[2];
  PetscInt             M, N;
  MatInfo              matinfo;
  Mat                  base, B;
  Vec                  x, y, hostx, reference;
  Result               r;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &matinfo));
  PetscCall(PetscMemzero(&r, sizeof(r)));
  r.matrix   = name;
  r.rows     = M;
  r.nonzeros = matinfo.nz_used;
  r.aijbytes = r.nonzeros * (double)(sizeof(PetscScalar) + sizeof(PetscInt)) + (double)(M + 1) * (double)sizeof(PetscInt);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: %" PetscInt_FMT " rows, %.0f nonzeros\n", name, M, r.nonzeros));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-12s %-7s %-8s %10s %7s %10s %7s %6s %9s %9s  %8s\n", "store", "layout", "values", "MB", "smaller", "ms", "faster", "%copy", "Mnz/s", "in SpMVs", "error"));

  /* the product that all are compared with, on the host */
  PetscCall(MatCreateVecs(A, &hostx, &reference));
  PetscCall(FillVector(hostx));
  PetscCall(MatMult(A, hostx, reference));

  /* the baseline */
  if (bench->gpu) PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &base));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    base = A;
  }
  PetscCall(MatCreateVecs(base, &x, &y));
  PetscCall(FillVector(x));
  PetscCall(MatMult(base, x, y));
  PetscCall(MaxError(y, reference, &r.error));
  PetscCall(TimePair(bench, base, base, x, y, median, least));
  r.store    = bench->gpu ? "aijcusparse" : "aij";
  r.layout   = "-";
  r.values   = "full";
  r.bytes    = r.aijbytes;
  r.median   = median[0];
  r.least    = least[0];
  r.baseline = median[0];
  r.share    = (PetscReal)((r.bytes + vectors * ((double)M + (double)N)) / (double)r.median / bench->copyrate);
  PetscCall(Report(bench, &r));

  /* one matrix, stored in one way after the other */
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
  for (PetscInt s = 0; s < NSTORES; s++) {
    MatVCRSInfo    info;
    PetscLogDouble start, end;

    if (!wanted[s]) continue;
    PetscCall(PetscTime(&start));
    if (StoreAs(B, &stores[s], &info)) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-12s cannot hold it\n", stores[s].name));
      continue;
    }
    PetscCall(MatMult(B, x, y));
    PetscCall(Wait(bench));
    PetscCall(PetscTime(&end));
    r.store  = stores[s].name;
    r.layout = MatVCRSLayouts[info.layout];
    r.values = info.values;
    r.bytes  = info.bytes;
    r.build  = info.buildtime;
    r.setup  = end - start;
    PetscCall(MaxError(y, reference, &r.error));
    PetscCall(TimePair(bench, base, B, x, y, median, least));
    r.baseline = median[0];
    r.median   = median[1];
    r.least    = least[1];
    r.share    = (PetscReal)((r.bytes + vectors * ((double)M + (double)N)) / (double)r.median / bench->copyrate);
    PetscCall(Report(bench, &r));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&base));
  if (bench->memory) PetscCall(BenchMemory(bench, name, A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&hostx));
  PetscCall(VecDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of a case: generated, or read from a file */
static PetscErrorCode CreateMatrix(const Bench *bench, const char name[], Mat *A)
{
  PetscBool same = PETSC_FALSE;
  PetscInt  c;

  PetscFunctionBegin;
  for (c = 0; c < NCASES; c++) {
    PetscCall(PetscStrcmp(name, cases[c].name, &same));
    if (same) break;
  }
  if (same) {
    const PetscInt rows = bench->size ? bench->size : (bench->gpu ? cases[c].gpurows : cases[c].cpurows);
    Problem        problem;

    PetscCall(ProblemSetDefaults(cases[c].kind, &problem));
    problem.smooth = cases[c].smooth;
    if (rows) PetscCall(ProblemSetSize(&problem, rows));
    PetscCall(ProblemSetFromOptions(PETSC_COMM_SELF, &problem));
    PetscCall(ProblemCreateSystem(PETSC_COMM_SELF, &problem, A, NULL));
  } else {
    PetscViewer viewer;

    PetscCall(PetscTestFile(name, 'r', &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-bench_cases: %s is neither a kind of matrix nor a file that can be read", name);
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetType(*A, MATSEQAIJ));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ main */

static PetscErrorCode DeviceIsThere(PetscBool *there)
{
  PetscFunctionBegin;
  *there = PETSC_FALSE;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    int count = 0;

    *there = cudaGetDeviceCount(&count) == cudaSuccess && count > 0 ? PETSC_TRUE : PETSC_FALSE;
    (void)cudaGetLastError();
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OpenForWriting(const char path[], FILE **file)
{
  PetscFunctionBegin;
  *file = NULL;
  if (!path[0]) PetscFunctionReturn(PETSC_SUCCESS);
  *file = fopen(path, "w");
  PetscCheck(*file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char        json[PETSC_MAX_PATH_LEN] = "", markdown[PETSC_MAX_PATH_LEN] = "", *name[64], *store[64];
  PetscInt    nnames = 64, nwanted = 64;
  PetscBool   set, there, wanted[NSTORES];
  PetscMPIInt size;
  Bench       bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "The benchmark runs on one process, not on %d", size);
  PetscCall(LitheInitializePackage());
  PetscCall(PetscMemzero(&bench, sizeof(bench)));
  PetscCall(DeviceIsThere(&there));
  bench.gpu    = there;
  bench.rounds = 11;
  bench.memory = PETSC_TRUE;
  bench.first  = PETSC_TRUE;
  PetscOptionsBegin(PETSC_COMM_SELF, NULL, "Benchmark of products", "Mat");
  PetscCall(PetscOptionsBool("-bench_gpu", "Products on the GPU", NULL, bench.gpu, &bench.gpu, NULL));
  bench.batch = (PetscReal)(bench.gpu ? .02 : .1);
  PetscCall(PetscOptionsBoundedInt("-bench_rounds", "Batches of each, in turn", NULL, bench.rounds, &bench.rounds, NULL, 1));
  PetscCall(PetscOptionsReal("-bench_batch", "Seconds of a batch", NULL, bench.batch, &bench.batch, NULL));
  PetscCall(PetscOptionsBoundedInt("-bench_size", "About so many rows", NULL, bench.size, &bench.size, NULL, 0));
  PetscCall(PetscOptionsBool("-bench_memory", "Measure memory without AIJ arrays", NULL, bench.memory, &bench.memory, NULL));
  PetscCall(PetscOptionsString("-bench_json", "Results for programs", NULL, json, json, sizeof(json), NULL));
  PetscCall(PetscOptionsString("-bench_markdown", "Results as a table", NULL, markdown, markdown, sizeof(markdown), NULL));
  PetscCall(PetscOptionsStringArray("-bench_stores", "Ways to store the matrix", NULL, store, &nwanted, &set));
  for (PetscInt s = 0; s < NSTORES; s++) wanted[s] = set ? PETSC_FALSE : PETSC_TRUE;
  if (set) {
    for (PetscInt k = 0; k < nwanted; k++) {
      PetscBool known = PETSC_FALSE, same;

      for (PetscInt s = 0; s < NSTORES; s++) {
        PetscCall(PetscStrcmp(store[k], stores[s].name, &same));
        if (same) wanted[s] = known = PETSC_TRUE;
      }
      PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-bench_stores: %s is none of auto, literal, l0, l1, l2, l3, single, fixed16, fixed8, log16, log8, bins, classes", store[k]);
      PetscCall(PetscFree(store[k]));
    }
  }
  PetscCall(PetscOptionsStringArray("-bench_cases", "Matrices", NULL, name, &nnames, &set));
  PetscOptionsEnd();
  PetscCheck(!bench.gpu || there, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-bench_gpu: there is no CUDA device, or PETSc was built without CUDA");
  bench.rounds = PetscMin(bench.rounds, ROUNDS_MAX);
  if (!set) { /* those of this scalar type that are generated */
    nnames = 0;
    for (PetscInt c = 0; c < NCASES; c++) {
      if (cases[c].iscomplex == (PetscBool)PetscDefined(USE_COMPLEX) && cases[c].kind != PROBLEM_SPE10) PetscCall(PetscStrallocpy(cases[c].name, &name[nnames++]));
    }
  }

  /* the yardstick */
  PetscCall(CopyRate(&bench));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s scalars of %d bytes, indices of %d bytes, products on the %s\n", PetscDefined(USE_COMPLEX) ? "complex" : "real", (int)sizeof(PetscScalar), (int)sizeof(PetscInt), bench.gpu ? "GPU" : "CPU, one core"));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "a copy moves %.1f GB/s\n", bench.copyrate / 1e9));
  PetscCall(OpenForWriting(json, &bench.json));
  PetscCall(OpenForWriting(markdown, &bench.markdown));
  if (bench.json) fprintf(bench.json, "{\n  \"scalar\": \"%s\", \"scalar_bytes\": %d, \"index_bytes\": %d, \"place\": \"%s\", \"copy_gb_per_s\": %.2f, \"rounds\": %d,\n  \"results\": [", PetscDefined(USE_COMPLEX) ? "complex" : "real", (int)sizeof(PetscScalar), (int)sizeof(PetscInt), bench.gpu ? "gpu" : "cpu", bench.copyrate / 1e9, (int)bench.rounds);
  if (bench.markdown) fprintf(bench.markdown, "A copy moves %.1f GB/s.\n\n| matrix | rows | store | layout | MB | times smaller | ms | times faster | of copy rate | compressed Mnz/s | error |\n|---|---|---|---|---|---|---|---|---|---|---|\n", bench.copyrate / 1e9);

  /* the matrices */
  for (PetscInt c = 0; c < nnames; c++) {
    Mat A;

    PetscCall(CreateMatrix(&bench, name[c], &A));
    PetscCall(BenchMatrix(&bench, name[c], A, wanted));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFree(name[c]));
  }
  if (bench.json) {
    fprintf(bench.json, "\n  ]\n}\n");
    PetscCheck(fclose(bench.json) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", json);
  }
  if (bench.markdown) PetscCheck(fclose(bench.markdown) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", markdown);
  PetscCall(PetscFinalize());
  return 0;
}
