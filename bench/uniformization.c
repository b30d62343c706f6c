/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times the transient solution of the wireless channel (tutorials/ctmc) by uniformization, with one matrix type after the other.\n\
  -K N                 : places of a queue; 492 are 35.6 million states\n\
  -final T, -eps E     : the time, and the error allowed\n\
  -types LIST          : aijcusparse (aij without a GPU), vcrs, hybmgpu:csr, hybmgpu:sell, hybmgpu:hyb, hybmgpu:vcrs, hybmgpu:auto, exchange\n\
  -solves N            : of each; the least time counts\n\
  -exchange_steps N    : so many steps with an exchange of the whole vector\n\
  -bench_gpu BOOL, -bench_json FILE, -bench_markdown FILE\n\n";

/*
   The matrix is generated once, on the processes that own its rows, and converted to one type after the other, so that the first type is
   what all others are compared with: time, and difference of the solutions.

   "exchange" is what the article of docs/uniformization.md does: before each product every process gets the whole vector. That is through
   the host, some steps are timed, and the time of a solve is what as many as the first type needed would take.

   Bytes of a step that are counted: the stored matrix, x and y once, and half of a read and a write of a sum for each term, as two terms
   are added at a time; of the rows that take part in a step, which with some types are not those that the chain has not reached, or that hold
   next to nothing. With -ts_uniformization_negligible 0 only the former are left out.
*/

#include "common.h"
#include <ctmc.h>
#include <lithe.h>
#include <lithemat.h>
#include <lithets.h>
#include <petsctime.h>

typedef struct {
  const char *name, *type, *format; /* format: of a MATHYBMGPU */
  PetscBool   skips;                /* rows that are zero take no part */
} Kind;

static const Kind kinds[] = {
  {"aij", MATAIJ, NULL, PETSC_FALSE},
  {"aijcusparse", MATAIJCUSPARSE, NULL, PETSC_FALSE},
  {"vcrs", MATVCRS, NULL, PETSC_TRUE},
  {"hybmgpu:csr", MATHYBMGPU, "csr", PETSC_TRUE},
  {"hybmgpu:sell", MATHYBMGPU, "sell", PETSC_TRUE},
  {"hybmgpu:hyb", MATHYBMGPU, "hyb", PETSC_TRUE},
  {"hybmgpu:vcrs", MATHYBMGPU, "vcrs", PETSC_FALSE},
  {"hybmgpu:auto", MATHYBMGPU, "auto", PETSC_TRUE},
  {"exchange", NULL, NULL, PETSC_FALSE},
};
#define NKINDS ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(kinds))

typedef struct {
  Bench      *bench;
  PetscMPIInt size;
  Chain       chain;
  PetscReal   final, eps;
  PetscInt    solves, exchangesteps;

  /* of the first kind */
  Vec            reference;
  PetscLogDouble baseline; /* seconds */
  PetscInt64     products, sums;
} Study;

typedef struct {
  const char    *kind, *transport;
  PetscLogDouble convert, setup, solve; /* seconds */
  double         matrixbytes;           /* of all processes */
  PetscReal      rows;                  /* that took part in a step, on average */
  PetscReal      bound, difference;
} Result;

static PetscErrorCode Report(Study *s, const Result *r)
{
  Bench           *bench = s->bench;
  const double     n = (double)s->chain.n, products = (double)s->products, step = 1e3 * r->solve / products;
  const double     bytes = (double)r->rows * (products * (r->matrixbytes + 2. * n * (double)sizeof(PetscScalar)) + (double)s->sums * n * (double)sizeof(PetscScalar)), rate = bytes / r->solve;
  const double     share   = rate / (bench->copyrate * (double)s->size);
  const BenchField field[] = {
    {"states", NULL, n},
    {"nonzeros", NULL, (double)s->chain.nz},
    {"processes", NULL, (double)s->size},
    {"type", r->kind, 0.},
    {"transport", r->transport, 0.},
    {"products", NULL, products},
    {"sums", NULL, (double)s->sums},
    {"convert_s", NULL, r->convert},
    {"setup_s", NULL, r->setup},
    {"solve_s", NULL, r->solve},
    {"rows", NULL, (double)r->rows},
    {"step_ms", NULL, step},
    {"matrix_bytes", NULL, r->matrixbytes},
    {"gb_per_s", NULL, rate / 1e9},
    {"share_of_copy", NULL, share},
    {"times_faster", NULL, s->baseline / r->solve},
    {"bound", NULL, (double)r->bound},
    {"difference_1", NULL, (double)r->difference},
  };

  PetscFunctionBegin;
  PetscCall(PetscPrintf(bench->comm, "  %-13s %9.3f %8.4f %6.1f %9.2f %8.1f %6.1f %7.2f %9.2f %9.2f   %8.1e %8.1e\n", r->kind, r->solve, step, 100. * (double)r->rows, r->matrixbytes / n, rate / 1e9, 100. * share, s->baseline / r->solve, r->convert, r->setup, (double)r->bound, (double)r->difference));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %d | %s | %.3f | %.4f | %.1f%% | %.1f | %.0f | %.0f%% | %.2f | %.1e |\n", (int)s->size, r->kind, r->solve, step, 100. * (double)r->rows, r->matrixbytes / n, rate / 1e9, 100. * share, s->baseline / r->solve, (double)r->difference);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where products are done */
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
    MatVCRSInfo    info;
    LitheTransport transport;

    PetscCall(MatVCRSGetInfo(A, &info));
    PetscCall(MatVCRSGetTransport(A, &transport));
    r->matrixbytes = info.bytes;
    r->transport   = LitheTransports[transport];
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

/* From the beginning to a time */
static PetscErrorCode Solve(Study *s, TS ts, PetscReal final, Vec x, PetscLogDouble *seconds)
{
  PetscLogDouble start = 0, end = 0;

  PetscFunctionBegin;
  PetscCall(VecCopy(s->chain.p, x));
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

static PetscErrorCode BenchUniformization(Study *s, const Kind *kind)
{
  Result               r     = {.kind = kind->name};
  PetscLogDouble       start = 0, end = 0, seconds = 0;
  TSUniformizationInfo info;
  Mat                  B;
  Vec                  x;
  TS                   ts;

  PetscFunctionBegin;
  PetscCall(Seconds(s, &start));
  PetscCall(Convert(s, kind, &B));
  PetscCall(Seconds(s, &end));
  r.convert = end - start;
  PetscCall(CreateVector(s, B, &x));
  PetscCall(TSCreate(s->bench->comm, &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, B, B, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSUniformizationSetEpsilon(ts, s->eps));
  PetscCall(TSSetFromOptions(ts));

  /* What is done once: the check of the generator, copies on the device, vectors */
  PetscCall(Solve(s, ts, s->final / 500, x, &r.setup));
  for (PetscInt k = 0; k < s->solves; k++) {
    PetscCall(Solve(s, ts, s->final, x, &seconds));
    r.solve = k ? PetscMin(r.solve, seconds) : seconds;
  }
  PetscCall(TSUniformizationGetInfo(ts, &info));
  r.bound = info.bound;
  r.rows  = kind->skips && (s->bench->gpu || kind->format) ? info.rows : 1;
  if (!s->reference) {
    PetscCall(VecDuplicate(x, &s->reference));
    PetscCall(VecCopy(x, s->reference));
    s->baseline = r.solve;
    s->products = info.products;
    s->sums     = info.sums;
  }
  PetscCall(VecAXPY(x, -1, s->reference));
  PetscCall(VecNorm(x, NORM_1, &r.difference));
  PetscCall(MatrixInfo(s, kind, B, &r));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&B));
  PetscCall(Report(s, &r));
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
  Result         r     = {.kind = "exchange", .rows = 1, .bound = NAN, .difference = NAN};
  const Kind     plain = {"exchange", NULL, NULL, PETSC_FALSE};
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
  r.convert = end - start;
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

/* All kinds that make sense here, or those that are asked for in their order */
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
    PetscCheck(k < NKINDS, s->bench->comm, PETSC_ERR_USER_INPUT, "-types: %s is none of aij, aijcusparse, vcrs, hybmgpu:csr, hybmgpu:sell, hybmgpu:hyb, hybmgpu:vcrs, hybmgpu:auto, exchange", name[l]);
    PetscCheck(*n < NKINDS, s->bench->comm, PETSC_ERR_USER_INPUT, "-types: at most %" PetscInt_FMT, NKINDS);
    list[(*n)++] = k;
    PetscCall(PetscFree(name[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench          bench;
  Study          s = {.bench = &bench, .final = 10, .eps = (PetscReal)1e-5, .solves = 3, .exchangesteps = 10};
  Wireless       w = {492, 7, 20, 80, 100, (PetscReal)0.1, (PetscReal)0.05};
  PetscInt       list[NKINDS], nkinds;
  PetscLogDouble start = 0, end = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &bench));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-K", &w.K, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-final", &s.final, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-eps", &s.eps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &s.solves, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-exchange_steps", &s.exchangesteps, NULL));
  PetscCheck(s.final > 0 && s.eps > 0 && s.solves > 0 && s.exchangesteps > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-final, -eps, -solves and -exchange_steps must be positive");
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &s.size));
  PetscCall(GetKinds(&s, &nkinds, list));
  PetscCall(BenchCopyRate(&bench));
  PetscCall(BenchOpen(&bench, "| processes | type | solve s | step ms | rows | matrix bytes a row | GB/s | of copy rate | times faster | difference |"));
  PetscCall(PetscTime(&start));
  PetscCall(ChainWireless(PETSC_COMM_WORLD, &w, &s.chain));
  PetscCall(Seconds(&s, &end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt64_FMT " states, %" PetscInt64_FMT " nonzeros, made in %.1f s; to time %g, error allowed %g\n", s.chain.name, s.chain.n, s.chain.nz, end - start, (double)s.final, (double)s.eps));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-13s %9s %8s %6s %9s %8s %6s %7s %9s %9s   %8s %8s\n", "type", "solve s", "step ms", "%rows", "bytes/row", "GB/s", "%copy", "faster", "convert s", "setup s", "bound", "diff"));
  for (PetscInt k = 0; k < nkinds; k++) {
    if (kinds[list[k]].type) PetscCall(BenchUniformization(&s, &kinds[list[k]]));
    else PetscCall(BenchExchange(&s));
  }
  PetscCall(VecDestroy(&s.reference));
  PetscCall(ChainDestroy(&s.chain));
  PetscCall(BenchClose(&bench));
  PetscCall(PetscFinalize());
  return 0;
}
