/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times systems with incomplete factors: PETSc's MatSolve() (on a GPU: cuSPARSE) against compressed factors, in the same run.\n\
  -bench_cases LIST  : kinds of matgen, helmholtz27-smooth, or files in PETSc binary form (default: reservoir,laplace27)\n\
  -bench_size N      : approximate number of rows (default: each case's own size)\n\
  -bench_inner TYPE  : ilu or icc (default: ilu)\n\
  -bench_stores LIST : how factors are compressed, e.g. lossless,log8\n\
  -bench_ways LIST   : how systems are solved: auto, tiles, levels, jacobi\n\
  -bench_gpu BOOL    : on the GPU (default: if a GPU exists); on the CPU tiles and levels are the same\n\
  -bench_view BOOL   : print PCView() of compressed factors\n\
  -bench_json FILE   : results for programs\n\
  -bench_markdown FILE : results as a table\n\
  -vcrs_pc_factor_levels K ... : of the factors, both exact and compressed\n\n";

/*
   A solve is all that PCApply() does: both triangles and the pivots. Each rival takes turns with the baseline, batch by
   batch. The share of the copy rate counts the bytes of the compressed factors, and three vectors which are read and
   written.
*/

#include <tutorials/common/measure.h>
#include <lithepc.h>
#include <petsctime.h>

/* clang-format off */
static const struct {
  const char *name;
  MatVCRSLoss loss;
  PetscInt    bits;
} stores[] = {
  {"lossless", MATVCRS_LOSS_NONE,   16},
  {"single",   MATVCRS_LOSS_SINGLE, 16},
  {"fixed16",  MATVCRS_LOSS_FIXED,  16},
  {"fixed8",   MATVCRS_LOSS_FIXED,  8 },
  {"log8",     MATVCRS_LOSS_LOG,    8 },
};
#define NSTORES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(stores))

static const struct {
  const char           *name;
  PCVCRSFactorSolveType solve;
  PetscBool             levels; /* also for factors which have tiles */
} ways[] = {
  {"auto",   PCVCRS_FACTOR_AUTO,         PETSC_FALSE},
  {"tiles",  PCVCRS_FACTOR_SUBSTITUTION, PETSC_FALSE},
  {"levels", PCVCRS_FACTOR_SUBSTITUTION, PETSC_TRUE },
  {"jacobi", PCVCRS_FACTOR_JACOBI,       PETSC_FALSE},
};
#define NWAYS ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(ways))
/* clang-format on */

typedef struct {
  Bench     bench;
  PetscBool store[NSTORES], way[NWAYS], view;
  char      inner[64];
} Run;

typedef struct {
  const char    *matrix, *store, *way;
  PetscInt       rows;
  PetscLogDouble bytes, exactbytes, setup;
  PetscReal      median, least, baseline, share, error;
} Result;

static PetscErrorCode Report(Run *run, const Result *r)
{
  Bench           *bench   = &run->bench;
  const BenchField field[] = {
    {"matrix", r->matrix, 0.},
    {"rows", NULL, (double)r->rows},
    {"preconditioner", run->inner, 0.},
    {"store", r->store, 0.},
    {"way", r->way, 0.},
    {"bytes", NULL, r->bytes},
    {"exact_bytes", NULL, r->exactbytes},
    {"ms_median", NULL, 1e3 * (double)r->median},
    {"ms_min", NULL, 1e3 * (double)r->least},
    {"ms_baseline", NULL, 1e3 * (double)r->baseline},
    {"times_faster", NULL, (double)(r->baseline / r->median)},
    {"share_of_copy", NULL, (double)r->share},
    {"setup_s", NULL, r->setup},
    {"relative_difference", NULL, (double)r->error},
  };

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-9s %-7s %10.2f %7.2f %10.4f %7.2f %6.1f %9.3f  %8.1e\n", r->store, r->way, r->bytes / 1e6,
                        r->exactbytes / r->bytes, 1e3 * (double)r->median, (double)(r->baseline / r->median), 100. * (double)r->share, r->setup,
                        (double)r->error));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %s | %" PetscInt_FMT " | %s | %s | %s | %.2f | %.2f | %.4f | %.2f | %.0f%% | %.3f | %.1e |\n", r->matrix, r->rows, run->inner,
            r->store, r->way, r->bytes / 1e6, r->exactbytes / r->bytes, 1e3 * (double)r->median, (double)(r->baseline / r->median), 100. * (double)r->share,
            r->setup, (double)r->error);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(const Run *run, PC pc, PetscLogDouble *seconds)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&begin));
  PetscCall(PCSetUp(pc));
  PetscCall(BenchWait(&run->bench));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exact factors, for comparison with compressed factors */
static PetscErrorCode CreateExact(const Run *run, Mat A, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetOptionsPrefix(*pc, "vcrs_"));
  PetscCall(PCSetType(*pc, run->inner));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateCompressed(const Run *run, Mat A, PetscInt s, PetscInt w, PC *pc)
{
  PC inner;

  PetscFunctionBegin;
  if (ways[w].levels && run->bench.gpu) PetscCall(PetscOptionsSetValue(NULL, "-mat_vcrs_substitution_grids", "0"));
  else PetscCall(PetscOptionsClearValue(NULL, "-mat_vcrs_substitution_grids"));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetType(*pc, PCVCRS));
  PetscCall(PCVCRSGetPC(*pc, &inner));
  PetscCall(PCSetType(inner, run->inner));
  PetscCall(PCVCRSSetBits(*pc, stores[s].bits));
  PetscCall(PCVCRSSetLoss(*pc, stores[s].loss));
  PetscCall(PCVCRSSetFactorSolve(*pc, ways[w].solve));
  PetscCall(PCSetFromOptions(*pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchMatrix(Run *run, const char name[], Mat A)
{
  const PetscLogDouble vectors = 6.0 * (PetscLogDouble)sizeof(PetscScalar);
  Bench               *bench   = &run->bench;
  BenchTask            task[2];
  PetscReal            median[2], least[2], norm;
  Vec                  x, y, exact;
  PC                   pc[2];
  Result               r;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&r, sizeof(r)));
  r.matrix = name;
  PetscCall(MatGetSize(A, &r.rows, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: %" PetscInt_FMT " rows, %s\n", name, r.rows, run->inner));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-9s %-7s %10s %7s %10s %7s %6s %9s  %8s\n", "store", "way", "MB", "smaller", "ms", "faster", "%copy", "set up s",
                        "apart"));
  if (bench->gpu) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &exact));
  PetscCall(BenchFillVector(x));

  PetscCall(CreateExact(run, A, &pc[0]));
  PetscCall(SetUp(run, pc[0], &r.setup));
  PetscCall(PCApply(pc[0], x, exact));
  PetscCall(VecNorm(exact, NORM_2, &norm));
  task[0] = (BenchTask){BenchApply, pc[0]};
  PetscCall(BenchTime(bench, 1, task, x, y, median, least));
  {
    MatInfo info;
    Mat     F;

    PetscCall(PCFactorGetMatrix(pc[0], &F));
    PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
    r.bytes = r.exactbytes = info.nz_used * (PetscLogDouble)(sizeof(PetscScalar) + sizeof(PetscInt)) + 2.0 * (PetscLogDouble)r.rows * sizeof(PetscInt);
  }
  r.store    = "exact";
  r.way      = bench->gpu ? "cusparse" : "petsc";
  r.median   = median[0];
  r.least    = least[0];
  r.baseline = median[0];
  r.share    = (PetscReal)((r.bytes + vectors * (double)r.rows) / (double)r.median / bench->copyrate);
  PetscCall(Report(run, &r));

  for (PetscInt s = 0; s < NSTORES; s++) {
    for (PetscInt w = 0; w < NWAYS; w++) {
      PCVCRSInfo info;

      if (!run->store[s] || !run->way[w]) continue;
      PetscCall(CreateCompressed(run, A, s, w, &pc[1]));
      PetscCall(SetUp(run, pc[1], &r.setup));
      PetscCall(PCApply(pc[1], x, y));
      PetscCall(VecAXPY(y, -1.0, exact));
      PetscCall(VecNorm(y, NORM_2, &r.error));
      if (norm > 0.0) r.error /= norm;
      PetscCall(PCVCRSGetInfo(pc[1], &info));
      task[1] = (BenchTask){BenchApply, pc[1]};
      PetscCall(BenchTime(bench, 2, task, x, y, median, least));
      r.store      = stores[s].name;
      r.way        = ways[w].name;
      r.bytes      = info.bytes;
      r.exactbytes = info.exactbytes;
      r.baseline   = median[0];
      r.median     = median[1];
      r.least      = least[1];
      r.share      = (PetscReal)((r.bytes + vectors * (double)r.rows) / (double)r.median / bench->copyrate);
      PetscCall(Report(run, &r));
      if (run->view) PetscCall(PCView(pc[1], PETSC_VIEWER_STDOUT_SELF));
      PetscCall(PCDestroy(&pc[1]));
    }
  }
  PetscCall(PCDestroy(&pc[0]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSetFromOptions(Run *run)
{
  const char *store[NSTORES], *way[NWAYS];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(run, sizeof(*run)));
  PetscCall(BenchSetFromOptions(PETSC_COMM_SELF, &run->bench));
  PetscCall(PetscStrncpy(run->inner, PCILU, sizeof(run->inner)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bench_inner", run->inner, sizeof(run->inner), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_view", &run->view, NULL));
  for (PetscInt s = 0; s < NSTORES; s++) store[s] = stores[s].name;
  for (PetscInt w = 0; w < NWAYS; w++) way[w] = ways[w].name;
  PetscCall(BenchGetWanted(&run->bench, "-bench_stores", NSTORES, store, run->store));
  PetscCall(BenchGetWanted(&run->bench, "-bench_ways", NWAYS, way, run->way));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char       *name[BENCH_NAMES_MAX];
  PetscInt    nnames;
  PetscBool   set;
  PetscMPIInt size;
  Run         run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "The benchmark runs on one process, not on %d", size);
  PetscCall(LitheInitializePackage());
  PetscCall(RunSetFromOptions(&run));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-bench_cases", &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-bench_cases", PetscDefined(USE_COMPLEX) ? "helmholtz27" : "reservoir,laplace27"));
  PetscCall(BenchGetCases(&nnames, name));
  PetscCall(BenchCopyRate(&run.bench));
  PetscCall(BenchOpen(&run.bench, "| matrix | rows | factors | store | way | MB | times smaller | ms | times faster | of copy rate | set up s | apart |"));
  for (PetscInt c = 0; c < nnames; c++) {
    Mat A;

    PetscCall(BenchCreateSystem(&run.bench, name[c], &A, NULL));
    PetscCall(BenchMatrix(&run, name[c], A));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFree(name[c]));
  }
  PetscCall(BenchClose(&run.bench));
  PetscCall(PetscFinalize());
  return 0;
}
