/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times the transient solution of the wireless channel (tutorials/ctmc) by uniformization, with several matrix types in turn.\n\
  -K N                 : places of a queue; 492 are 35.6 million states\n\
  -final T, -eps E     : the time, and the error allowed\n\
  -types LIST          : aijcusparse (aij without a GPU), vcrs, hybmgpu:csr, hybmgpu:sell, hybmgpu:hyb, hybmgpu:vcrs, hybmgpu:auto, exchange\n\
  -solves N            : of each; the least time counts\n\
  -negligible LIST     : fractions of the error for omitted states, timed in turn (default: -ts_uniformization_negligible)\n\
  -shares S            : of the processes: even, trial (by a solve with the first type), or a number for each\n\
  -spread              : begin with equal probabilities, and all states take part in each step (default: both queues empty)\n\
  -exchange_steps N    : number of steps with an exchange of the whole vector\n\
  -bench_gpu BOOL, -bench_json FILE, -bench_markdown FILE\n\n";

/*
   The matrix is generated once, on the processes which own the rows. Then the matrix is converted to one type after
   another. The first type is the reference of all others, for time and for the difference of the solutions.

   "exchange" is the method of the article in docs/guide/uniformization.md: every process receives the whole vector
   before each product. The exchange goes through the host. Some of its steps are timed. The time of a solve is
   extrapolated to the number of steps of the first type.

   The bytes of a step count the stored matrix, x and y once. Terms are added in pairs, so each term costs half a read
   and half a write of a sum. Only the rows which take part in a step count. Some types leave out the rows which the
   chain has not reached and the rows which hold next to nothing. With -ts_uniformization_negligible 0 only unreached
   rows are left out.
*/

#include <tutorials/common/measure.h>
#include <tutorials/common/chain.h>
#include <lithe.h>
#include <petsctime.h>

typedef struct {
  const char *name, *type, *format; /* format: of a MATHYBMGPU */
} Kind;

static const Kind kinds[] = {
  {"aij", MATAIJ, NULL},
  {"aijcusparse", MATAIJCUSPARSE, NULL},
  {"vcrs", MATVCRS, NULL},
  {"hybmgpu:csr", MATHYBMGPU, "csr"},
  {"hybmgpu:sell", MATHYBMGPU, "sell"},
  {"hybmgpu:hyb", MATHYBMGPU, "hyb"},
  {"hybmgpu:vcrs", MATHYBMGPU, "vcrs"},
  {"hybmgpu:auto", MATHYBMGPU, "auto"},
  {"exchange", NULL, NULL},
};
#define NKINDS ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(kinds))

#define NEGLIGIBLE_MAX 8

typedef struct {
  Bench      *bench;
  PetscMPIInt size;
  Wireless    model;
  Chain       chain;
  Shares      shares;
  PetscReal   final, eps;
  PetscBool   spread;
  PetscInt    solves, exchangesteps;
  PetscInt    nnegligible; /* 0: the value of the solver's options */
  PetscReal   negligible[NEGLIGIBLE_MAX];

  /* the solution of the first kind with the first negligible part */
  Vec            reference;
  PetscLogDouble baseline; /* seconds */
  PetscInt64     products, sums;

  PetscLogDouble trial; /* seconds until the chain is rebuilt with the shares from a trial */
} Study;

typedef struct {
  const char    *kind, *transport;
  PetscReal      negligible;
  PetscLogDouble convert, setup, solve; /* seconds */
  PetscInt64     products, sums;
  double         matrixbytes; /* over all processes */
  PetscReal      rows;        /* which took part in a step, on average */
  PetscReal      most;        /* the same of the busiest process of the step; both as parts of all rows */
  PetscReal      bound, difference;
} Result;

static PetscErrorCode Report(Study *s, const Result *r)
{
  Bench       *bench = s->bench;
  const double n = (double)s->chain.n, products = (double)r->products, step = 1e3 * r->solve / products;
  const double bytes = (double)r->rows *
                       (products * (r->matrixbytes + 2. * n * (double)sizeof(PetscScalar)) + (double)r->sums * n * (double)sizeof(PetscScalar)),
               rate        = bytes / r->solve;
  const double     share   = rate / (bench->copyrate * (double)s->size);
  const BenchField field[] = {
    {"states", NULL, n},
    {"nonzeros", NULL, (double)s->chain.nz},
    {"processes", NULL, (double)s->size},
    {"type", r->kind, 0.},
    {"transport", r->transport, 0.},
    {"negligible", NULL, (double)r->negligible},
    {"products", NULL, products},
    {"sums", NULL, (double)r->sums},
    {"convert_s", NULL, r->convert},
    {"setup_s", NULL, r->setup},
    {"solve_s", NULL, r->solve},
    {"rows", NULL, (double)r->rows},
    {"rows_most", NULL, (double)r->most},
    {"trial_s", NULL, s->trial},
    {"step_ms", NULL, step},
    {"matrix_bytes", NULL, r->matrixbytes},
    {"gb_per_s", NULL, rate / 1e9},
    {"share_of_copy", NULL, share},
    {"times_faster", NULL, s->baseline / r->solve},
    {"bound", NULL, (double)r->bound},
    {"difference_1", NULL, (double)r->difference},
  };

  PetscFunctionBegin;
  PetscCall(PetscPrintf(bench->comm, "  %-13s %5.2g %9.3f %8.4f %6.1f %6.1f %9.2f %8.1f %6.1f %7.2f %9.2f %9.2f   %8.1e %8.1e\n", r->kind,
                        (double)r->negligible, r->solve, step, 100. * (double)r->rows, 100. * (double)r->most, r->matrixbytes / n, rate / 1e9, 100. * share,
                        s->baseline / r->solve, r->convert, r->setup, (double)r->bound, (double)r->difference));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %d | %s | %.2g | %.3f | %.4f | %.1f%% | %.1f%% | %.1f | %.0f | %.0f%% | %.2f | %.1e |\n", (int)s->size, r->kind,
            (double)r->negligible, r->solve, step, 100. * (double)r->rows, 100. * (double)r->most, r->matrixbytes / n, rate / 1e9, 100. * share,
            s->baseline / r->solve, (double)r->difference);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector where products are done */
static PetscErrorCode CreateVector(const Study *s, Mat A, Vec *x)
{
  PetscInt m;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(VecCreate(s->bench->comm, x));
  PetscCall(VecSetSizes(*x, m, PETSC_DETERMINE));
  PetscCall(VecSetType(*x, s->bench->gpu ? VECCUDA : VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Seconds(const Study *s, PetscLogDouble *time)
{
  PetscFunctionBegin;
  PetscCall(BenchWait(s->bench));
  PetscCall(PetscTime(time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes of the stored matrix, and how ghost values come */
static PetscErrorCode MatrixInfo(const Study *s, const Kind *kind, Mat A, Result *r)
{
  PetscBool isvcrs;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(kind->name, "vcrs", &isvcrs));
  r->transport = "mpi";
  if (isvcrs) {
    MatVCRSInfo info;

    PetscCall(MatVCRSGetInfo(A, &info));
    r->matrixbytes = info.bytes;
    r->transport   = LitheTransports[info.transport];
  } else if (kind->format) {
    MatHYBMGPUInfo info;

    PetscCall(MatHYBMGPUGetInfo(A, &info));
    r->matrixbytes = info.bytes;
    r->transport   = LitheTransports[info.transport];
  } else r->matrixbytes = (double)(sizeof(PetscScalar) + sizeof(PetscInt)) * (double)s->chain.nz + (double)sizeof(PetscInt) * (double)s->chain.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ uniformization */

static PetscErrorCode Convert(Study *s, const Kind *kind, Mat *B)
{
  PetscBool isvcrs;

  PetscFunctionBegin;
  if (s->bench->gpu) PetscCall(MatSetVecType(s->chain.A, VECCUDA)); /* products are done where the matrix is compressed */
  PetscCall(MatConvert(s->chain.A, kind->type, MAT_INITIAL_MATRIX, B));
  if (kind->format) {
    PetscEnum format;
    PetscBool found;

    PetscCall(PetscEnumFind(MatHYBMGPUFormats, kind->format, &format, &found));
    PetscCheck(found, s->bench->comm, PETSC_ERR_PLIB, "No format %s", kind->format);
    PetscCall(MatHYBMGPUSetFormat(*B, (MatHYBMGPUFormat)format));
  }
  PetscCall(PetscStrcmp(kind->name, "vcrs", &isvcrs));
  if (isvcrs) PetscCall(MatVCRSDropAIJ(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the initial time to the given time */
static PetscErrorCode Solve(Study *s, TS ts, PetscReal final, Vec x, PetscLogDouble *seconds)
{
  PetscLogDouble start = 0, end = 0;

  PetscFunctionBegin;
  if (s->spread) PetscCall(VecSet(x, 1 / (PetscScalar)s->chain.n));
  else PetscCall(VecCopy(s->chain.p, x));
  PetscCall(TSSetTime(ts, 0));
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSetTimeStep(ts, final));
  PetscCall(TSSetMaxTime(ts, final));
  PetscCall(Seconds(s, &start));
  PetscCall(TSSolve(ts, x));
  PetscCall(Seconds(s, &end));
  *seconds = end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of this kind, with a solver */
static PetscErrorCode CreateSolver(Study *s, const Kind *kind, Mat *B, Vec *x, TS *ts)
{
  PetscFunctionBegin;
  PetscCall(Convert(s, kind, B));
  PetscCall(CreateVector(s, *B, x));
  PetscCall(TSCreate(s->bench->comm, ts));
  PetscCall(TSSetProblemType(*ts, TS_LINEAR));
  PetscCall(TSSetType(*ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(*ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(*ts, *B, *B, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSUniformizationSetEpsilon(*ts, s->eps));
  PetscCall(TSSetFromOptions(*ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The parts of all rows which all processes, and the busiest process, went through in a step */
static PetscErrorCode GetWork(const Study *s, TS ts, Vec x, PetscReal *all, PetscReal *most)
{
  TSUniformizationInfo info;
  const PetscInt      *ranges;
  PetscInt            *rows, n;

  PetscFunctionBegin;
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetOwnershipRanges(x, &ranges));
  PetscCall(PetscMalloc1(s->size, &rows));
  for (PetscMPIInt p = 0; p < s->size; p++) rows[p] = ranges[p + 1] - ranges[p];
  PetscCall(TSUniformizationGetWork(ts, s->size, rows, most));
  PetscCall(TSUniformizationGetWork(ts, 1, &n, all));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  if (*all < 1) *all = info.rows;
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -shares trial: a solve with the first kind and the last negligible part, and then the chain again */
static PetscErrorCode Trial(Study *s, const Kind *kind)
{
  PetscLogDouble start = 0, end = 0, seconds = 0;
  PetscBool      others;
  Mat            B;
  Vec            x;
  TS             ts;

  PetscFunctionBegin;
  PetscCheck(kind->type, s->bench->comm, PETSC_ERR_USER_INPUT, "-shares trial: the first of -types must not be %s", kind->name);
  PetscCall(Seconds(s, &start));
  PetscCall(CreateSolver(s, kind, &B, &x, &ts));
  if (s->nnegligible) PetscCall(TSUniformizationSetNegligible(ts, s->negligible[s->nnegligible - 1]));
  PetscCall(Solve(s, ts, s->final, x, &seconds));
  PetscCall(SharesFromSolve(&s->shares, ts, &others));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&B));
  if (others) {
    PetscCall(ChainDestroy(&s->chain));
    PetscCall(ChainWireless(s->bench->comm, &s->model, &s->shares, &s->chain));
  }
  PetscCall(Seconds(s, &end));
  s->trial = end - start;
  PetscCall(PetscPrintf(s->bench->comm, "trial: took %.1f s in all, in the set-up of each type below\n", s->trial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the options of the solver; the least time of several solves */
static PetscErrorCode TimeSolves(Study *s, const Kind *kind, Mat B, Vec x, TS ts, Result *r)
{
  PetscLogDouble       seconds = 0;
  TSUniformizationInfo info;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < s->solves; k++) {
    PetscCall(Solve(s, ts, s->final, x, &seconds));
    r->solve = k ? PetscMin(r->solve, seconds) : seconds;
  }
  PetscCall(TSUniformizationGetInfo(ts, &info));
  r->bound      = info.bound;
  r->products   = info.products;
  r->sums       = info.sums;
  r->negligible = info.part;
  PetscCall(GetWork(s, ts, x, &r->rows, &r->most));
  if (!s->reference) {
    PetscCall(VecDuplicate(x, &s->reference));
    PetscCall(VecCopy(x, s->reference));
    s->baseline = r->solve;
    s->products = info.products;
    s->sums     = info.sums;
  }
  PetscCall(VecAXPY(x, -1, s->reference));
  PetscCall(VecNorm(x, NORM_1, &r->difference));
  PetscCall(MatrixInfo(s, kind, B, r));
  PetscCall(Report(s, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchUniformization(Study *s, const Kind *kind)
{
  Result         r     = {.kind = kind->name};
  PetscLogDouble start = 0, end = 0;
  Mat            B;
  Vec            x;
  TS             ts;

  PetscFunctionBegin;
  PetscCall(Seconds(s, &start));
  PetscCall(CreateSolver(s, kind, &B, &x, &ts));
  PetscCall(Seconds(s, &end));
  r.convert = end - start;

  /* The work of the first solve: the check of the generator, copies on the device, vectors */
  PetscCall(Solve(s, ts, s->final / 500, x, &r.setup));
  r.setup += s->trial;
  if (!s->nnegligible) PetscCall(TimeSolves(s, kind, B, x, ts, &r));
  for (PetscInt k = 0; k < s->nnegligible; k++) {
    PetscCall(TSUniformizationSetNegligible(ts, s->negligible[k]));
    PetscCall(TimeSolves(s, kind, B, x, ts, &r));
  }
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ exchange of the whole vector */

typedef struct {
  Mat          local; /* the process's rows, all columns */
  Vec          whole, y;
  PetscMPIInt *count, *first;
} Exchange;

static PetscErrorCode ExchangeCreate(Study *s, Exchange *e)
{
  const PetscInt *ranges;
  PetscInt        N, m;

  PetscFunctionBegin;
  if (s->size > 1) PetscCall(MatMPIAIJGetLocalMat(s->chain.A, MAT_INITIAL_MATRIX, &e->local));
  else PetscCall(MatDuplicate(s->chain.A, MAT_COPY_VALUES, &e->local));
  if (s->bench->gpu) PetscCall(MatConvert(e->local, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &e->local));
  PetscCall(MatGetSize(e->local, &m, &N));
  PetscCall(VecCreate(PETSC_COMM_SELF, &e->whole));
  PetscCall(VecSetSizes(e->whole, N, N));
  PetscCall(VecSetType(e->whole, s->bench->gpu ? VECSEQCUDA : VECSEQ));
  PetscCall(VecCreate(PETSC_COMM_SELF, &e->y));
  PetscCall(VecSetSizes(e->y, m, m));
  PetscCall(VecSetType(e->y, s->bench->gpu ? VECSEQCUDA : VECSEQ));
  PetscCall(MatGetOwnershipRanges(s->chain.A, &ranges));
  PetscCall(PetscMalloc2(s->size, &e->count, s->size, &e->first));
  for (PetscMPIInt p = 0; p < s->size; p++) {
    PetscCall(PetscMPIIntCast(ranges[p], &e->first[p]));
    PetscCall(PetscMPIIntCast(ranges[p + 1] - ranges[p], &e->count[p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = x + A x / alpha, as in a step */
static PetscErrorCode ExchangeStep(Study *s, Exchange *e, PetscReal alpha, Vec x)
{
  const PetscScalar *mine, *y;
  PetscScalar       *whole, *xx;
  PetscInt           m;
  PetscMPIInt        count;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(PetscMPIIntCast(m, &count));
  PetscCall(VecGetArrayRead(x, &mine));
  PetscCall(VecGetArrayWrite(e->whole, &whole));
  PetscCallMPI(MPI_Allgatherv(mine, count, MPIU_SCALAR, whole, e->count, e->first, MPIU_SCALAR, s->bench->comm));
  PetscCall(VecRestoreArrayWrite(e->whole, &whole));
  PetscCall(VecRestoreArrayRead(x, &mine));
  PetscCall(MatMult(e->local, e->whole, e->y));
  PetscCall(VecScale(e->y, (PetscScalar)(1 / alpha)));
  PetscCall(VecGetArrayRead(e->y, &y));
  PetscCall(VecGetArray(x, &xx));
  for (PetscInt i = 0; i < m; i++) xx[i] += y[i];
  PetscCall(VecRestoreArray(x, &xx));
  PetscCall(VecRestoreArrayRead(e->y, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchExchange(Study *s)
{
  Result         r     = {.kind = "exchange", .negligible = NAN, .rows = 1, .most = NAN, .bound = NAN, .difference = NAN};
  const Kind     plain = {"exchange", NULL, NULL};
  PetscLogDouble start = 0, end = 0;
  Exchange       e;
  Vec            x;

  PetscFunctionBegin;
  PetscCheck(s->products, s->bench->comm, PETSC_ERR_USER_INPUT, "-types: exchange is compared with another type, which comes first");
  PetscCall(Seconds(s, &start));
  PetscCall(ExchangeCreate(s, &e));
  PetscCall(CreateVector(s, s->chain.A, &x));
  PetscCall(VecCopy(s->chain.p, x));
  PetscCall(Seconds(s, &end));
  r.convert  = end - start;
  r.products = s->products;
  r.sums     = s->sums;
  PetscCall(Seconds(s, &start));
  PetscCall(ExchangeStep(s, &e, 200, x));
  PetscCall(Seconds(s, &end));
  r.setup = end - start;
  PetscCall(Seconds(s, &start));
  for (PetscInt k = 0; k < s->exchangesteps; k++) PetscCall(ExchangeStep(s, &e, 200, x));
  PetscCall(Seconds(s, &end));
  r.solve = (end - start) / (PetscLogDouble)s->exchangesteps * (PetscLogDouble)s->products;
  PetscCall(MatrixInfo(s, &plain, NULL, &r));
  PetscCall(Report(s, &r));
  PetscCall(PetscFree2(e.count, e.first));
  PetscCall(VecDestroy(&e.whole));
  PetscCall(VecDestroy(&e.y));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&e.local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ main */

/* All kinds which make sense here, or the requested kinds in the requested order */
static PetscErrorCode GetKinds(const Study *s, PetscInt *n, PetscInt list[])
{
  char     *name[BENCH_NAMES_MAX];
  PetscInt  nnames = BENCH_NAMES_MAX;
  PetscBool set, same;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", name, &nnames, &set));
  for (PetscInt k = 0; !set && k < NKINDS; k++) {
    if (k == (s->bench->gpu ? 0 : 1) || (k == NKINDS - 1 && s->size == 1)) continue;
    if (kinds[k].format && (!strcmp(kinds[k].format, "auto") || !strcmp(kinds[k].format, "vcrs"))) continue;
    list[(*n)++] = k;
  }
  for (PetscInt l = 0; set && l < nnames; l++) {
    PetscInt k = 0;

    for (; k < NKINDS; k++) {
      PetscCall(PetscStrcmp(name[l], kinds[k].name, &same));
      if (same) break;
    }
    PetscCheck(k < NKINDS, s->bench->comm, PETSC_ERR_USER_INPUT,
               "-types: %s is none of aij, aijcusparse, vcrs, hybmgpu:csr, hybmgpu:sell, hybmgpu:hyb, hybmgpu:vcrs, hybmgpu:auto, exchange", name[l]);
    PetscCheck(*n < NKINDS, s->bench->comm, PETSC_ERR_USER_INPUT, "-types: at most %" PetscInt_FMT, NKINDS);
    list[(*n)++] = k;
    PetscCall(PetscFree(name[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench          bench;
  Study          s = {.bench         = &bench,
                      .model         = {492, 7, 20, 80, 100, (PetscReal)0.1, (PetscReal)0.05},
                      .final         = 10,
                      .eps           = (PetscReal)1e-5,
                      .solves        = 3,
                      .exchangesteps = 10,
                      .nnegligible   = NEGLIGIBLE_MAX};
  PetscInt       list[NKINDS], nkinds;
  PetscBool      set;
  PetscLogDouble start = 0, end = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &bench));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-K", &s.model.K, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-final", &s.final, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-eps", &s.eps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &s.solves, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-negligible", s.negligible, &s.nnegligible, &set));
  if (!set) s.nnegligible = 0;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-spread", &s.spread, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-exchange_steps", &s.exchangesteps, NULL));
  PetscCheck(s.final > 0 && s.eps > 0 && s.solves > 0 && s.exchangesteps > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-final, -eps, -solves and -exchange_steps must be positive");
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &s.size));
  PetscCall(GetKinds(&s, &nkinds, list));
  PetscCall(SharesSetFromOptions(PETSC_COMM_WORLD, &s.shares));
  PetscCall(BenchCopyRate(&bench));
  PetscCall(
    BenchOpen(&bench,
              "| processes | type | negligible | solve s | step ms | rows | at most | matrix bytes a row | GB/s | of copy rate | times faster | difference |"));
  PetscCall(PetscTime(&start));
  PetscCall(ChainWireless(PETSC_COMM_WORLD, &s.model, &s.shares, &s.chain));
  PetscCall(Seconds(&s, &end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt64_FMT " states, %" PetscInt64_FMT " nonzeros, made in %.1f s; to time %g, error allowed %g\n",
                        s.chain.name, s.chain.n, s.chain.nz, end - start, (double)s.final, (double)s.eps));
  if (s.shares.trial) PetscCall(Trial(&s, &kinds[list[0]]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-13s %5s %9s %8s %6s %6s %9s %8s %6s %7s %9s %9s   %8s %8s\n", "type", "left", "solve s", "step ms", "%rows",
                        "%most", "bytes/row", "GB/s", "%copy", "faster", "convert s", "setup s", "bound", "diff"));
  for (PetscInt k = 0; k < nkinds; k++) {
    if (kinds[list[k]].type) PetscCall(BenchUniformization(&s, &kinds[list[k]]));
    else PetscCall(BenchExchange(&s));
  }
  PetscCall(VecDestroy(&s.reference));
  PetscCall(ChainDestroy(&s.chain));
  PetscCall(SharesDestroy(&s.shares));
  PetscCall(BenchClose(&bench));
  PetscCall(PetscFinalize());
  return 0;
}
