/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times products with a 27-point matrix on many processes, and the exchange of entries alone, in the same run.\n\
  -bench_n N         : points in each direction (256 on a GPU, 48 on a CPU)\n\
  -bench_types LIST  : TYPE[:FORMAT][:TRANSPORT], e.g. vcrs:ipc,hybmgpu:sell:nccl, or all:TRANSPORT, the exchange of whole vectors\n\
  -bench_single BOOL : the same matrices on the first process alone, too, for the efficiency (default: yes)\n\
  -bench_exchange LIST : transports whose exchange alone is timed (default: all available)\n\
  -bench_bytes_max B : most bytes between two neighbours\n\
  -bench_gpu BOOL    : on the GPU (default: if a GPU exists)\n\
  -bench_json FILE   : results for programs\n\
  -bench_markdown FILE : results as a table\n\n";

/*
   Run with mpiexec -n 1, 2, 4. Points are numbered along x, then y, then z. Each process owns some planes, and a
   neighbour needs a plane. Each matrix takes turns with PETSc's matrix on the same processes, batch by batch. Times are
   medians. The efficiency is T(1) / (p T(p)). T(1) is the time on the first process while the remaining processes are
   idle. T(p) is the time on all p processes.

   "all" is the method of Bylina et al.: each process receives the whole vector and multiplies its rows by PETSc's
   matrix.
*/

#include <tutorials/common/measure.h>
#include <lithe.h>
#include <lithe/private/lithehalo.h>

#define TYPES_MAX 32

/* Time on all processes and on one */
typedef struct {
  char      name[64]; /* as requested */
  char      type[32], format[32], transport[32];
  PetscReal single; /* seconds, 0: not measured */
} Variant;

typedef struct {
  Bench         *bench;
  PetscInt       n, rows, N, begin; /* points in each direction; owned rows, all of them, the first owned */
  PetscInt      *i, *j;             /* columns are global */
  PetscScalar   *a;
  PetscLogDouble nonzeros; /* over all processes */
} System;

/* ------------------------------------------------------------ the matrix */

/* Rows begin, ..., begin + rows - 1: 26 on the diagonal and -1 for each neighbour */
static PetscErrorCode SystemCreate(Bench *bench, MPI_Comm comm, PetscInt n, System *s)
{
  const PetscInt64 N = (PetscInt64)n * n * n;
  PetscInt         k = 0;
  PetscMPIInt      size, rank;
  PetscCount       nz;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->bench = bench;
  s->n     = n;
  PetscCall(PetscIntCast(N, &s->N));
  s->begin = (PetscInt)((PetscInt64)n * rank / size) * n * n;
  s->rows  = (PetscInt)((PetscInt64)n * (rank + 1) / size) * n * n - s->begin;
  PetscCall(PetscMalloc1(s->rows + 1, &s->i));
  nz = (PetscCount)s->rows * 27;
  PetscCall(PetscMalloc1(nz, &s->j));
  PetscCall(PetscMalloc1(nz, &s->a));
  s->i[0] = 0;
  for (PetscInt r = 0; r < s->rows; r++) {
    const PetscInt row = s->begin + r, x = row % n, y = row / n % n, z = row / n / n;

    for (PetscInt dz = z ? -1 : 0; dz <= (z < n - 1 ? 1 : 0); dz++) {
      for (PetscInt dy = y ? -1 : 0; dy <= (y < n - 1 ? 1 : 0); dy++) {
        for (PetscInt dx = x ? -1 : 0; dx <= (x < n - 1 ? 1 : 0); dx++) {
          s->j[k]   = row + (dz * n + dy) * n + dx;
          s->a[k++] = dx || dy || dz ? -1. : 26.;
        }
      }
    }
    s->i[r + 1] = k;
  }
  s->nonzeros = (PetscLogDouble)k;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &s->nonzeros, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SystemDestroy(System *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->i));
  PetscCall(PetscFree(s->j));
  PetscCall(PetscFree(s->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's matrix, on the communicator of the benchmark */
static PetscErrorCode SystemCreateAIJ(const System *s, Mat *A)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(s->bench->comm, &size));
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(s->bench->comm, s->rows, s->rows, s->i, s->j, s->a, A));
  else PetscCall(MatCreateMPIAIJWithArrays(s->bench->comm, s->rows, s->rows, s->N, s->N, s->i, s->j, s->a, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ variants */

/* TYPE[:FORMAT][:TRANSPORT]; the last word is a transport if it names a transport */
static PetscErrorCode VariantParse(const Bench *bench, const char text[], Variant *v)
{
  char    **word;
  int       n;
  PetscBool transport = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(v, sizeof(*v)));
  PetscCall(PetscStrncpy(v->name, text, sizeof(v->name)));
  PetscCall(PetscStrToArray(text, ':', &n, &word));
  PetscCheck(n >= 1 && n <= 3, bench->comm, PETSC_ERR_USER_INPUT, "-bench_types: %s is not TYPE[:FORMAT][:TRANSPORT]", text);
  PetscCall(PetscStrncpy(v->type, word[0], sizeof(v->type)));
  for (int t = 0; n > 1 && t <= (int)LITHE_TRANSPORT_MPI && !transport; t++) {
    if (t == (int)LITHE_TRANSPORT_AUTO && n == 2) continue; /* a format, too */
    PetscCall(PetscStrcmp(word[n - 1], LitheTransports[t], &transport));
  }
  PetscCall(PetscStrncpy(v->transport, transport ? word[n - 1] : "auto", sizeof(v->transport)));
  if (n == 3 || (n == 2 && !transport)) PetscCall(PetscStrncpy(v->format, word[1], sizeof(v->format)));
  PetscCall(PetscStrToArrayDestroy(n, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix, with the options of the type, under a separate prefix */
static PetscErrorCode VariantConvert(const Variant *v, Mat A, PetscBool gpu, Mat *B)
{
  static int count = 0;
  char       prefix[32], name[128];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "variant%d_", count++));
  PetscCall(MatConvert(A, v->type, MAT_INITIAL_MATRIX, B));
  PetscCall(MatSetOptionsPrefix(*B, prefix));
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%smat_%s_transport", prefix, v->type));
  PetscCall(PetscOptionsSetValue(NULL, name, v->transport));
  if (v->format[0]) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "-%smat_%s_format", prefix, v->type));
    PetscCall(PetscOptionsSetValue(NULL, name, v->format));
  }
  PetscCall(MatSetFromOptions(*B));
  if (gpu) PetscCall(MatSetVecType(*B, VECCUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts A, if B is not NULL, and runs a product. A variant which is impossible here, for example by the transport,
   is left out on all processes */
static PetscErrorCode Try(const Bench *bench, const Variant *v, Mat A, BenchTask *task, Mat *B, Vec x, Vec y, PetscBool *works)
{
  PetscErrorCode ierr = PETSC_SUCCESS;
  PetscInt       failed;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  if (!task->run) {
    ierr  = VariantConvert(v, A, bench->gpu, B);
    *task = (BenchTask){BenchProduct, *B};
  }
  if (!ierr) ierr = (*task->run)(task->ctx, x, y);
  PetscCall(PetscPopErrorHandler());
  failed = ierr ? 1 : 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_MAX, bench->comm));
  *works = (PetscBool)!failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ whole vectors */

typedef struct {
  Mat            A; /* own rows, all columns */
  PetscSF        sf;
  LitheHalo      halo;
  PetscBool      gpu;
  PetscInt       N;
  LitheTransport transport;
} Whole;

static PetscErrorCode WholeCreate(const System *s, const Variant *v, Whole *w)
{
  PetscLayout layout;
  PetscBool   found;
  Mat         A;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(w, sizeof(*w)));
  w->gpu = s->bench->gpu;
  w->N   = s->N;
  PetscCall(PetscEnumFind(LitheTransports, v->transport, (PetscEnum *)&w->transport, &found));
  PetscCheck(found, s->bench->comm, PETSC_ERR_USER_INPUT, "%s is no transport", v->transport);
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, s->rows, s->N, s->i, s->j, s->a, &A));
  if (w->gpu) {
    PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &w->A));
    PetscCall(MatDestroy(&A));
  } else w->A = A;
  PetscCall(PetscLayoutCreateFromSizes(s->bench->comm, s->rows, s->N, 1, &layout));
  PetscCall(PetscSFCreate(s->bench->comm, &w->sf));
  PetscCall(PetscSFSetGraphWithPattern(w->sf, layout, PETSCSF_PATTERN_ALLGATHER));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WholeProduct(void *ctx, Vec x, Vec y)
{
  Whole             *w = (Whole *)ctx;
  const PetscScalar *a;
  const void        *all;
  Vec                whole, local;

  PetscFunctionBegin;
  PetscCall(LitheHaloUpdate(w->sf, w->transport, w->gpu ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST, sizeof(PetscScalar), &w->halo, NULL));
  PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
  PetscCall(LitheHaloBegin(w->halo, a));
  PetscCall(LitheHaloEnd(w->halo, &all));
  PetscCall(VecRestoreArrayReadAndMemType(x, &a));
  PetscCall(VecCreateLocalVector(y, &local));
  PetscCall(VecGetLocalVector(y, local));
  if (w->gpu) PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, w->N, (const PetscScalar *)all, &whole));
  else PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, w->N, (const PetscScalar *)all, &whole));
  PetscCall(MatMult(w->A, whole, local));
  PetscCall(VecDestroy(&whole));
  PetscCall(VecRestoreLocalVector(y, local));
  PetscCall(VecDestroy(&local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WholeDestroy(Whole *w)
{
  PetscFunctionBegin;
  PetscCall(LitheHaloDestroy(&w->halo));
  PetscCall(PetscSFDestroy(&w->sf));
  PetscCall(MatDestroy(&w->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

/* max |y - reference| / max |reference| */
static PetscErrorCode MaxError(Vec y, Vec reference, PetscReal *error)
{
  PetscReal scale;
  Vec       d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(y, &d));
  PetscCall(VecWAXPY(d, -1., y, reference));
  PetscCall(VecNorm(d, NORM_INFINITY, error));
  PetscCall(VecNorm(reference, NORM_INFINITY, &scale));
  *error /= scale;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscReal median, least, baseline, basesingle, error;
} Times;

static PetscErrorCode ReportProduct(const System *s, const Variant *v, const Times *t)
{
  Bench      *bench = s->bench;
  PetscMPIInt size;
  double      efficiency, bytes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(bench->comm, &size));
  efficiency = v->single > 0 ? (double)(v->single / t->median) / size : 0.;
  bytes      = s->nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)s->N * (sizeof(PetscInt) + 2 * sizeof(PetscScalar));
  {
    const BenchField field[] = {
      {"what", "product", 0.},
      {"type", v->name, 0.},
      {"n", NULL, (double)s->n},
      {"nonzeros", NULL, s->nonzeros},
      {"processes", NULL, (double)size},
      {"ms_median", NULL, 1e3 * (double)t->median},
      {"ms_min", NULL, 1e3 * (double)t->least},
      {"ms_baseline", NULL, 1e3 * (double)t->baseline},
      {"times_faster", NULL, (double)(t->baseline / t->median)},
      {"ms_single", NULL, 1e3 * (double)v->single},
      {"efficiency", NULL, efficiency},
      {"times_faster_than_baseline_single", NULL, (double)(t->basesingle / t->median)},
      {"csr_gb_per_s", NULL, bytes / (double)t->median / size / 1e9},
      {"max_relative_error", NULL, (double)t->error},
    };

    PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  }
  PetscCall(PetscPrintf(bench->comm, "  %-24s %10.4f %7.2f %10.4f %6.1f %9.2f %9.1f  %8.1e\n", v->name, 1e3 * (double)t->median,
                        (double)(t->baseline / t->median), 1e3 * (double)v->single, 100. * efficiency, (double)(t->basesingle / t->median),
                        bytes / (double)t->median / size / 1e9, (double)t->error));
  if (bench->markdown) {
    fprintf(bench->markdown, "| %s | %d | %.4f | %.2f | %.4f | %.1f%% | %.2f | %.1e |\n", v->name, size, 1e3 * (double)t->median,
            (double)(t->baseline / t->median), 1e3 * (double)v->single, 100. * efficiency, (double)(t->basesingle / t->median), (double)t->error);
    fflush(bench->markdown);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times a variant in turn with the baseline */
static PetscErrorCode TimeVariant(const System *s, const Variant *v, Mat A, Mat base, Vec x, Vec y, Vec reference, Times *t, PetscBool *works)
{
  Mat       B = NULL;
  Whole     whole;
  PetscBool all, baseline;
  PetscReal median[2], least[2];
  BenchTask task[2] = {{BenchProduct, base}, {NULL, NULL}};

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(v->type, "all", &all));
  PetscCall(PetscStrcmp(v->type, s->bench->gpu ? "aijcusparse" : "aij", &baseline));
  if (all) {
    PetscCall(WholeCreate(s, v, &whole));
    task[1] = (BenchTask){WholeProduct, &whole};
  } else if (baseline) task[1] = task[0];
  PetscCall(VecSet(y, 0.));
  PetscCall(Try(s->bench, v, A, &task[1], &B, x, y, works));
  if (*works) {
    PetscCall(MaxError(y, reference, &t->error));
    PetscCall(BenchTime(s->bench, 2, task, x, y, median, least));
    t->baseline = median[0];
    t->median   = median[1];
    t->least    = least[1];
  }
  PetscCall(MatDestroy(&B));
  if (all) PetscCall(WholeDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All variants on the processes of s. report: print the times; otherwise store them as times of one process */
static PetscErrorCode BenchProducts(const System *s, PetscInt nvariants, Variant variant[], PetscReal *basesingle, PetscBool report)
{
  Mat A, base;
  Vec x, y, reference;

  PetscFunctionBegin;
  PetscCall(SystemCreateAIJ(s, &A));
  if (s->bench->gpu) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &base));
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    base = A;
  }
  PetscCall(MatCreateVecs(base, &x, &y));
  PetscCall(VecDuplicate(y, &reference));
  PetscCall(BenchFillVector(x));
  PetscCall(MatMult(base, x, reference));
  for (PetscInt k = 0; k < nvariants; k++) {
    Times     t;
    PetscBool works = PETSC_FALSE;

    PetscCall(PetscMemzero(&t, sizeof(t)));
    t.basesingle = *basesingle;
    /* the same type and format alone; already measured if only the transport differs */
    if (!report) {
      for (PetscInt l = 0; l < k && variant[k].single <= 0; l++) {
        PetscBool type, format;

        PetscCall(PetscStrcmp(variant[k].type, variant[l].type, &type));
        PetscCall(PetscStrcmp(variant[k].format, variant[l].format, &format));
        if (type && format) variant[k].single = variant[l].single;
      }
      if (variant[k].single > 0) continue;
    }
    {
      Variant v = variant[k];

      if (!report) PetscCall(PetscStrncpy(v.transport, "auto", sizeof(v.transport))); /* a single process exchanges nothing */
      PetscCall(TimeVariant(s, &v, A, base, x, y, reference, &t, &works));
    }
    if (!works) {
      if (report) PetscCall(PetscPrintf(s->bench->comm, "  %-24s not possible here\n", variant[k].name));
      continue;
    }
    if (report) PetscCall(ReportProduct(s, &variant[k], &t));
    else {
      variant[k].single = t.median;
      *basesingle       = t.baseline;
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&reference));
  PetscCall(MatDestroy(&base));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The times of the first process alone, sent to all processes. Meanwhile all remaining processes wait, with idle
   devices */
static PetscErrorCode BenchSingle(const Bench *bench, PetscInt n, PetscInt nvariants, Variant variant[], PetscReal *basesingle)
{
  double      time[TYPES_MAX + 1];
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(bench->comm, &rank));
  if (!rank) {
    Bench  alone = *bench;
    System s;

    alone.comm = PETSC_COMM_SELF;
    PetscCall(SystemCreate(&alone, alone.comm, n, &s));
    PetscCall(BenchProducts(&s, nvariants, variant, basesingle, PETSC_FALSE));
    PetscCall(SystemDestroy(&s));
  }
  for (PetscInt k = 0; k < nvariants; k++) time[k] = (double)variant[k].single;
  time[nvariants] = (double)*basesingle;
  PetscCallMPI(MPI_Bcast(time, (PetscMPIInt)nvariants + 1, MPI_DOUBLE, 0, bench->comm));
  for (PetscInt k = 0; k < nvariants; k++) variant[k].single = (PetscReal)time[k];
  *basesingle = (PetscReal)time[nvariants];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the exchange alone */

static PetscErrorCode ExchangeOnce(void *ctx, Vec x, PETSC_UNUSED Vec y)
{
  LitheHalo          halo = (LitheHalo)ctx;
  const PetscScalar *a;
  const void        *ghost;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
  PetscCall(LitheHaloBegin(halo, a));
  PetscCall(LitheHaloEnd(halo, &ghost));
  PetscCall(VecRestoreArrayReadAndMemType(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process reads the first entries of the previous process and the last entries of the next process */
static PetscErrorCode RingCreate(MPI_Comm comm, PetscInt entries, PetscSF *sf)
{
  PetscMPIInt  rank, size;
  PetscSFNode *remote;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(2 * entries, &remote));
  for (PetscInt k = 0; k < entries; k++) {
    remote[k]           = (PetscSFNode){(rank + size - 1) % size, entries + k};
    remote[entries + k] = (PetscSFNode){(rank + 1) % size, k};
  }
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(PetscSFSetGraph(*sf, 2 * entries, 2 * entries, NULL, PETSC_COPY_VALUES, remote, PETSC_OWN_POINTER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportExchange(Bench *bench, LitheTransport transport, PetscInt64 bytes, PetscReal median, PetscReal least)
{
  const BenchField field[] = {
    {"what", "exchange", 0.},
    {"transport", LitheTransports[transport], 0.},
    {"bytes", NULL, (double)bytes},
    {"us_median", NULL, 1e6 * (double)median},
    {"us_min", NULL, 1e6 * (double)least},
    {"gb_per_s", NULL, 2. * (double)bytes / (double)median / 1e9},
  };

  PetscFunctionBegin;
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  PetscCall(PetscPrintf(bench->comm, "  %-8s %12" PetscInt64_FMT " %12.2f %12.2f %10.1f\n", LitheTransports[transport], bytes, 1e6 * (double)median,
                        1e6 * (double)least, 2. * (double)bytes / (double)median / 1e9));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With both neighbours of a ring. The bytes count a single neighbour */
static PetscErrorCode BenchExchange(Bench *bench, PetscInt64 most)
{
  const PetscMemType memory  = bench->gpu ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  const char *const  known[] = {"ipc", "nccl", "mpi"};
  PetscBool          wanted[3];

  PetscFunctionBegin;
  PetscCall(BenchGetWanted(bench, "-bench_exchange", 3, known, wanted));
  PetscCall(PetscPrintf(bench->comm, "\nexchange with both neighbours of a ring\n  %-8s %12s %12s %12s %10s\n", "by", "bytes", "us", "least", "GB/s"));
  for (int k = 0; k < 3; k++) {
    const LitheTransport transport = (LitheTransport)(LITHE_TRANSPORT_IPC + k);

    for (PetscInt64 bytes = 4096; wanted[k] && bytes <= most; bytes *= 8) {
      const PetscInt entries = (PetscInt)(bytes / (PetscInt64)sizeof(PetscScalar));
      PetscSF        sf;
      LitheHalo      halo = NULL;
      PetscReal      median, least;
      PetscErrorCode ierr;
      BenchTask      task = {ExchangeOnce, NULL};
      Vec            x;

      PetscCall(RingCreate(bench->comm, entries, &sf));
      PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
      ierr = LitheHaloCreate(sf, transport, memory, sizeof(PetscScalar), &halo);
      PetscCall(PetscPopErrorHandler());
      PetscCall(PetscSFDestroy(&sf));
      if (ierr) { /* the same on all processes */
        PetscCall(PetscPrintf(bench->comm, "  %-8s not possible here\n", LitheTransports[transport]));
        break;
      }
      PetscCall(VecCreate(PETSC_COMM_SELF, &x));
      PetscCall(VecSetSizes(x, 2 * entries, 2 * entries));
      PetscCall(VecSetType(x, bench->gpu ? VECSEQCUDA : VECSEQ));
      PetscCall(VecSet(x, 1.));
      task.ctx = halo;
      PetscCall(BenchTime(bench, 1, &task, x, x, &median, &least));
      PetscCall(ReportExchange(bench, transport, bytes, median, least));
      PetscCall(LitheHaloDestroy(&halo));
      PetscCall(VecDestroy(&x));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ main */

/* The types in -bench_types; by default each type with the usual options, PETSc's type first */
static PetscErrorCode GetVariants(const Bench *bench, PetscInt *n, Variant variant[])
{
  static const char *const gpu[] = {"aijcusparse",      "vcrs:ipc",        "vcrs:nccl",       "vcrs:mpi",         "hybmgpu:sell:ipc", "hybmgpu:sell:nccl",
                                    "hybmgpu:sell:mpi", "hybmgpu:csr:ipc", "hybmgpu:hyb:ipc", "hybmgpu:vcrs:ipc", "all:ipc",          "all:mpi"};
  static const char *const cpu[] = {"aij", "vcrs:mpi", "hybmgpu:sell:mpi", "hybmgpu:csr:mpi", "hybmgpu:hyb:mpi", "hybmgpu:vcrs:mpi", "all:mpi"};
  char                    *name[TYPES_MAX];
  PetscBool                set;

  PetscFunctionBegin;
  *n = TYPES_MAX;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-bench_types", name, n, &set));
  if (!set) {
    *n = bench->gpu ? (PetscInt)PETSC_STATIC_ARRAY_LENGTH(gpu) : (PetscInt)PETSC_STATIC_ARRAY_LENGTH(cpu);
    for (PetscInt k = 0; k < *n; k++) PetscCall(PetscStrallocpy(bench->gpu ? gpu[k] : cpu[k], &name[k]));
  }
  for (PetscInt k = 0; k < *n; k++) {
    PetscCall(VariantParse(bench, name[k], &variant[k]));
    PetscCall(PetscFree(name[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Bench       bench;
  System      s;
  Variant     variant[TYPES_MAX];
  PetscInt    n, nvariants;
  PetscReal   most = 16777216, basesingle = 0;
  PetscBool   single = PETSC_TRUE;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &bench));
  n = bench.gpu ? 256 : 48;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_n", &n, NULL));
  PetscCheck(n >= size, bench.comm, PETSC_ERR_USER_INPUT, "-bench_n %" PetscInt_FMT ": each of %d processes has a plane of points at least", n, size);
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bench_single", &single, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-bench_bytes_max", &most, NULL));
  PetscCall(GetVariants(&bench, &nvariants, variant));
  PetscCall(BenchCopyRate(&bench));
  PetscCall(BenchOpen(&bench, "| type | processes | ms | times faster | ms on one | efficiency | times faster than PETSc on one | error |"));

  if (single) PetscCall(BenchSingle(&bench, n, nvariants, variant, &basesingle));
  PetscCall(SystemCreate(&bench, bench.comm, n, &s));
  PetscCall(PetscPrintf(bench.comm, "\n27 points, %" PetscInt_FMT "^3: %.0f nonzeros\n  %-24s %10s %7s %10s %6s %9s %9s  %8s\n", n, s.nonzeros, "type", "ms",
                        "faster", "ms on one", "eff. %", "than one", "CSR GB/s", "error"));
  PetscCall(BenchProducts(&s, nvariants, variant, &basesingle, PETSC_TRUE));
  PetscCall(SystemDestroy(&s));
  if (most > 0) PetscCall(BenchExchange(&bench, (PetscInt64)most));
  PetscCall(BenchClose(&bench));
  PetscCall(PetscFinalize());
  return 0;
}
