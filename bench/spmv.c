/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times products with PETSc's AIJ against every layout of MATVCRS, in the same run.\n\
  -bench_cases LIST  : kinds of matgen, helmholtz27-smooth, or files in PETSc binary form\n\
  -bench_size N      : approximate number of rows (default: each case's own size)\n\
  -bench_stores LIST : baseline's rivals, e.g. auto,l0,fixed16\n\
  -mat_vcrs_bins B, -mat_vcrs_lambda L : of the stores bins, classes and binclasses\n\
  -bench_drop_aij BOOL : products without AIJ arrays (default: no)\n\
  -bench_gpu BOOL    : products on the GPU (default: if a GPU exists)\n\
  -bench_memory BOOL : measure memory without AIJ arrays\n\
  -bench_json FILE   : results for programs\n\
  -bench_markdown FILE : results as a table\n\n";

/*
   Each rival takes turns with the baseline, batch by batch, so other load on the machine affects both. Times are
   medians over the rounds. The copy rate is the rate of VecCopy() between two large vectors in the same run. A
   product's share of the copy rate counts the least bytes: the stored matrix, x once, y once.
*/

#include <tutorials/common/measure.h>
#include <lithemat.h>
#include <petsctime.h>
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <cuda_runtime_api.h>
#endif
#if defined(__GLIBC__)
  #include <malloc.h>
#endif

/* A way to store the matrix */
typedef struct {
  const char   *name;
  MatVCRSLayout layout;
  MatVCRSLoss   loss;
  PetscInt      bits;
} Store;

/* clang-format off */
static const Store stores[] = {
  {"auto",       MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_NONE,       16},
  {"literal",    MATVCRS_LAYOUT_LITERAL, MATVCRS_LOSS_NONE,       16},
  {"l0",         MATVCRS_LAYOUT_L0,      MATVCRS_LOSS_NONE,       16},
  {"l1",         MATVCRS_LAYOUT_L1,      MATVCRS_LOSS_NONE,       16},
  {"l2",         MATVCRS_LAYOUT_L2,      MATVCRS_LOSS_NONE,       16},
  {"l3",         MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_NONE,       16},
  {"single",     MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_SINGLE,     16},
  {"fixed16",    MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,      16},
  {"fixed8",     MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,      8 },
  {"log16",      MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,        16},
  {"log8",       MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,        8 },
  {"bins",       MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_BINS,       16},
  {"classes",    MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_CLASSES,    16},
  {"binclasses", MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_BINCLASSES, 16},
};
/* clang-format on */
#define NSTORES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(stores))

/* ------------------------------------------------------------ memory */

/* Bytes allocated now on the host and on the GPU. With -malloc_debug PETSc itself counts them */
static PetscErrorCode MemoryUsage(const Bench *bench, PetscLogDouble usage[2])
{
  PetscFunctionBegin;
  PetscCall(BenchWait(bench));
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

/* The memory of a compressed matrix after a product and after its AIJ arrays are freed, next to the reported bytes */
static PetscErrorCode BenchMemory(Bench *bench, const char name[], Mat A, Vec x, Vec y)
{
  PetscLogDouble before[2], after[2];
  MatVCRSInfo    info;
  Mat            B;

  PetscFunctionBegin;
  PetscCall(MemoryUsage(bench, before));
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatVCRSDropAIJ(B));
  PetscCall(MatMult(B, x, y));
  PetscCall(MemoryUsage(bench, after));
  PetscCall(MatVCRSGetInfo(B, &info));
  PetscCall(MatDestroy(&B));
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF, "  memory without AIJ arrays: %.3f MB stored, %.3f MB measured on the host", info.bytes / 1e6, (after[0] - before[0]) / 1e6));
  if (bench->gpu) PetscCall(PetscPrintf(PETSC_COMM_SELF, ", %.3f MB on the GPU", (after[1] - before[1]) / 1e6));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  {
    const BenchField field[] = {
      {"matrix", name, 0.},
      {"what", "memory", 0.},
      {"bytes", NULL, info.bytes},
      {"host_bytes", NULL, after[0] - before[0]},
      {"gpu_bytes", NULL, after[1] - before[1]},
    };

    PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
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
  const double     rate    = r->build > 0. ? r->nonzeros / r->build / 1e6 : 0.;
  const BenchField field[] = {
    {"matrix", r->matrix, 0.},
    {"what", "product", 0.},
    {"rows", NULL, (double)r->rows},
    {"nonzeros", NULL, r->nonzeros},
    {"store", r->store, 0.},
    {"layout", r->layout, 0.},
    {"values", r->values, 0.},
    {"bytes", NULL, r->bytes},
    {"times_smaller", NULL, r->aijbytes / r->bytes},
    {"ms_median", NULL, 1e3 * (double)r->median},
    {"ms_min", NULL, 1e3 * (double)r->least},
    {"ms_baseline", NULL, 1e3 * (double)r->baseline},
    {"times_faster", NULL, (double)(r->baseline / r->median)},
    {"share_of_copy", NULL, (double)r->share},
    {"compress_s", NULL, r->build},
    {"setup_s", NULL, r->setup},
    {"max_relative_error", NULL, (double)r->error},
  };

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-12s %-7s %-8s %10.2f %7.2f %10.4f %7.2f %6.1f %9.1f %9.1f  %8.1e\n", r->store, r->layout, r->values,
                        r->bytes / 1e6, r->aijbytes / r->bytes, 1e3 * (double)r->median, (double)(r->baseline / r->median), 100. * (double)r->share, rate,
                        r->build / (double)r->baseline, (double)r->error));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %s | %" PetscInt_FMT " | %s | %s %s | %.2f | %.2f | %.4f | %.2f | %.0f%% | %.0f | %.1e |\n", r->matrix, r->rows, r->store,
            r->layout, r->values, r->bytes / 1e6, r->aijbytes / r->bytes, 1e3 * (double)r->median, (double)(r->baseline / r->median), 100. * (double)r->share,
            rate, (double)r->error);
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

    if (!(d <= largest)) largest = d; /* a NaN must show */
    scale = PetscMax(scale, PetscAbsScalar(b[k]));
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCall(VecRestoreArrayRead(reference, &b));
  *error = scale > 0 ? largest / scale : largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores B as requested and compresses it. If a layout cannot hold the matrix, the error is returned and not printed */
static PetscErrorCode StoreAs(Mat B, const Store *store, MatVCRSInfo *info)
{
  PetscErrorCode ierr;

  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatVCRSSetLayout(B, store->layout);
  if (!ierr) ierr = MatVCRSSetBits(B, store->bits);
  if (!ierr) ierr = MatVCRSSetLoss(B, store->loss);
  if (!ierr) ierr = MatVCRSSetRefineLoss(B, PETSC_FALSE); /* measure the requested store, not a refined store */
  if (!ierr) ierr = MatVCRSGetInfo(B, info);
  PetscCall(PetscPopErrorHandler());
  return ierr;
}

/* The baseline, then every store */
static PetscErrorCode BenchMatrix(Bench *bench, const char name[], Mat A, const PetscBool wanted[], PetscBool drop, PetscBool memory)
{
  const PetscLogDouble vectors = (PetscLogDouble)sizeof(PetscScalar);
  PetscReal            median[2], least[2];
  PetscInt             M, N;
  MatInfo              matinfo;
  Mat                  base, B = NULL;
  BenchTask            task[2];
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
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-12s %-7s %-8s %10s %7s %10s %7s %6s %9s %9s  %8s\n", "store", "layout", "values", "MB", "smaller", "ms", "faster",
                        "%copy", "Mnz/s", "in SpMVs", "error"));

  /* the reference product of all comparisons, on the host */
  PetscCall(MatCreateVecs(A, &hostx, &reference));
  PetscCall(BenchFillVector(hostx));
  PetscCall(MatMult(A, hostx, reference));

  /* the baseline */
  if (bench->gpu) PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &base));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    base = A;
  }
  PetscCall(MatCreateVecs(base, &x, &y));
  PetscCall(BenchFillVector(x));
  PetscCall(MatMult(base, x, y));
  PetscCall(MaxError(y, reference, &r.error));
  task[0] = (BenchTask){BenchProduct, base};
  PetscCall(BenchTime(bench, 1, task, x, y, median, least));
  r.store    = bench->gpu ? "aijcusparse" : "aij";
  r.layout   = "-";
  r.values   = "full";
  r.bytes    = r.aijbytes;
  r.median   = median[0];
  r.least    = least[0];
  r.baseline = median[0];
  r.share    = (PetscReal)((r.bytes + vectors * ((double)M + (double)N)) / (double)r.median / bench->copyrate);
  PetscCall(Report(bench, &r));

  /* one matrix, stored in one way after another */
  for (PetscInt s = 0; s < NSTORES; s++) {
    MatVCRSInfo    info;
    PetscLogDouble start, end;

    if (!wanted[s]) continue;
    if (!B) {
      PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
      PetscCall(MatSetFromOptions(B));
      PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
      task[1] = (BenchTask){BenchProduct, B};
    }
    PetscCall(PetscTime(&start));
    if (StoreAs(B, &stores[s], &info)) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-12s cannot hold it\n", stores[s].name));
      continue;
    }
    if (drop) PetscCall(MatVCRSDropAIJ(B));
    PetscCall(MatMult(B, x, y));
    PetscCall(BenchWait(bench));
    PetscCall(PetscTime(&end));
    PetscCall(MatVCRSGetInfo(B, &info)); /* the first product of a small matrix may have changed the layout */
    r.store  = stores[s].name;
    r.layout = info.plainrows ? "rows" : MatVCRSLayouts[info.layout];
    r.values = info.plainrows ? "full" : info.values;
    r.bytes  = info.plainbytes > 0. ? info.plainbytes : info.bytes;
    r.build  = info.buildtime;
    r.setup  = end - start;
    PetscCall(MaxError(y, reference, &r.error));
    PetscCall(BenchTime(bench, 2, task, x, y, median, least));
    r.baseline = median[0];
    r.median   = median[1];
    r.least    = least[1];
    r.share    = (PetscReal)((r.bytes + vectors * ((double)M + (double)N)) / (double)r.median / bench->copyrate);
    PetscCall(Report(bench, &r));
    if (drop) PetscCall(MatDestroy(&B)); /* the entries of B must be freed too */
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&base));
  if (memory) PetscCall(BenchMemory(bench, name, A, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&hostx));
  PetscCall(VecDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ main */

int main(int argc, char **argv)
{
  const char *known[NSTORES];
  char       *name[BENCH_NAMES_MAX];
  PetscInt    nnames;
  PetscBool   drop = PETSC_FALSE, memory = PETSC_TRUE, wanted[NSTORES];
  PetscMPIInt size;
  Bench       bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "The benchmark runs on one process, not on %d", size);
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_SELF, &bench));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_drop_aij", &drop, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_memory", &memory, NULL));
  for (PetscInt s = 0; s < NSTORES; s++) known[s] = stores[s].name;
  PetscCall(BenchGetWanted(&bench, "-bench_stores", NSTORES, known, wanted));
  PetscCall(BenchGetCases(&nnames, name));
  PetscCall(BenchCopyRate(&bench));
  PetscCall(BenchOpen(&bench, "| matrix | rows | store | layout | MB | times smaller | ms | times faster | of copy rate | compressed Mnz/s | error |"));
  for (PetscInt c = 0; c < nnames; c++) {
    Mat A;

    PetscCall(BenchCreateSystem(&bench, name[c], &A, NULL));
    PetscCall(BenchMatrix(&bench, name[c], A, wanted, drop, memory));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFree(name[c]));
  }
  PetscCall(BenchClose(&bench));
  PetscCall(PetscFinalize());
  return 0;
}
