/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times the operations of KSPCBGMRES on a compressed basis, one by one, against a copy.\n\
  -bench_size N      : rows (default: 8000000 on a GPU, 1000000 else)\n\
  -bench_columns K   : columns of the orthogonalisation (default: 50)\n\
  -bench_storages LIST : of double, single, half, bfloat16, frsz2_32, frsz2_21, frsz2_16\n\
  -bench_exponent_bits B : of FRSZ2, 8 or 16 (default: 8)\n\
  -bench_gpu BOOL    : on the GPU (default: if a GPU exists)\n\
  -bench_json FILE   : results for programs\n\
  -bench_markdown FILE : results as a table\n\n";

/*
   The benchmarks "store" and "load" time the codec alone, next to a vector. In "dot1" a column is decoded and
   multiplied with a vector. The others belong to an iteration after K columns. Here "dot" takes the inner products of
   all columns with two vectors, and "append" adds the next column. Finally "step" does both, with the algebra between.
   Bytes are the least traffic: each column and each vector moves once.
*/

#include <tutorials/common/measure.h>
#include <lithe/private/cb/basis.h>

/* clang-format off */
static const struct {
  const char      *name;
  LitheStorageKind kind;
  int              bits;
} storages[] = {
  {"double",   LITHE_STORAGE_FULL,     0 },
  {"single",   LITHE_STORAGE_SINGLE,   0 },
  {"half",     LITHE_STORAGE_HALF,     0 },
  {"bfloat16", LITHE_STORAGE_BFLOAT16, 0 },
  {"frsz2_32", LITHE_STORAGE_FRSZ2,    32},
  {"frsz2_21", LITHE_STORAGE_FRSZ2,    21},
  {"frsz2_16", LITHE_STORAGE_FRSZ2,    16},
};
#define NSTORAGES ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(storages))
/* clang-format on */

typedef struct {
  CBBasis  basis;
  PetscInt k;
} Columns;

static PetscErrorCode Store(void *ctx, Vec x, Vec y)
{
  Columns *c = (Columns *)ctx;

  PetscFunctionBegin;
  (void)y;
  PetscCall((*c->basis->ops->store)(c->basis, 0, 1.0, x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(void *ctx, Vec x, Vec y)
{
  Columns *c = (Columns *)ctx;

  PetscFunctionBegin;
  (void)x;
  PetscCall((*c->basis->ops->load)(c->basis, 0, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DotOne(void *ctx, Vec x, Vec y)
{
  Columns *c = (Columns *)ctx;

  PetscFunctionBegin;
  (void)y;
  PetscCall((*c->basis->ops->dot)(c->basis, 1, PETSC_FALSE, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Dot(void *ctx, Vec x, Vec y)
{
  Columns *c = (Columns *)ctx;

  PetscFunctionBegin;
  (void)y;
  PetscCall((*c->basis->ops->dot)(c->basis, c->k, PETSC_TRUE, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Append(void *ctx, Vec x, Vec y)
{
  Columns *c = (Columns *)ctx;

  PetscFunctionBegin;
  PetscCall((*c->basis->ops->append)(c->basis, c->k, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step(void *ctx, Vec x, Vec y)
{
  Columns *c = (Columns *)ctx;
  CBBasis  b = c->basis;

  PetscFunctionBegin;
  PetscCall((*b->ops->dot)(b, c->k, PETSC_TRUE, x));
  PetscCall((*b->ops->coefficients)(b, c->k, 0));
  PetscCall((*b->ops->append)(b, c->k, x, y));
  PetscCall((*b->ops->fetch)(b, c->k - 1, c->k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is timed, with the columns and vectors which each operation reads and writes */
static const struct {
  const char *name;
  PetscErrorCode (*run)(void *, Vec, Vec);
  PetscInt all, columns, vectors; /* all: the K columns count too */
} operations[] = {
  {"store", Store, 0, 1, 1}, {"load", Load, 0, 1, 1}, {"dot1", DotOne, 0, 1, 1}, {"dot", Dot, 1, 0, 1}, {"append", Append, 1, 1, 2}, {"step", Step, 2, 1, 3},
};
#define NOPERATIONS ((PetscInt)PETSC_STATIC_ARRAY_LENGTH(operations))

/* Columns of norm 1, equal in all storages up to rounding, and the values after the columns */
static PetscErrorCode FillColumns(CBBasis b, PetscInt k, Vec x)
{
  PetscRandom random;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, -1.0, 1.0));
  for (PetscInt j = 0; j < k; j++) {
    /* Only four columns differ, because random numbers are made on the host */
    if (j < 4) {
      PetscCall(VecSetRandom(x, random));
      PetscCall(VecNormalize(x, NULL));
    }
    PetscCall((*b->ops->store)(b, j, 1.0, x, NULL));
  }
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BenchStorage(Bench *bench, PetscInt s, int exponentbits, PetscInt k, Vec x, Vec y)
{
  LitheStorage storage;
  Columns      c;
  BenchTask    task[NOPERATIONS];
  PetscReal    median[NOPERATIONS], least[NOPERATIONS];

  PetscFunctionBegin;
  c.k = k;
  LitheStorageSetUp(&storage, storages[s].kind, storages[s].bits, exponentbits);
  PetscCall(CBBasisCreate(x, k + 1, 0, &storage, PETSC_TRUE, &c.basis));
  PetscCall(FillColumns(c.basis, k, x));
  for (PetscInt o = 0; o < NOPERATIONS; o++) task[o] = (BenchTask){operations[o].run, &c};
  /* append needs coefficients */
  PetscCall(Step(&c, x, y));
  PetscCall(BenchTime(bench, NOPERATIONS, task, x, y, median, least));
  for (PetscInt o = 0; o < NOPERATIONS; o++) {
    const PetscLogDouble column = (PetscLogDouble)(c.basis->vbytes + c.basis->ebytes), vector = (PetscLogDouble)c.basis->n * (PetscLogDouble)sizeof(PetscReal);
    const PetscLogDouble bytes = column * (PetscLogDouble)(operations[o].all * k + operations[o].columns) + vector * (PetscLogDouble)operations[o].vectors;
    const double         rate = bytes / (double)median[o], share = rate / bench->copyrate;
    const BenchField     field[] = {
          {"storage", storages[s].name, 0.},
          {"bits", NULL, LitheStorageBitsPerValue(&storage)},
          {"operation", operations[o].name, 0.},
          {"numbers", NULL, (double)c.basis->n},
          {"columns", NULL, (double)k},
          {"bytes", NULL, bytes},
          {"ms_median", NULL, 1e3 * (double)median[o]},
          {"ms_min", NULL, 1e3 * (double)least[o]},
          {"gb_per_s", NULL, 1e-9 * rate},
          {"share_of_copy", NULL, share},
    };

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-9s %6.2f %-7s %10.2f %10.4f %10.1f %6.1f\n", storages[s].name, LitheStorageBitsPerValue(&storage),
                          operations[o].name, 1e-6 * bytes, 1e3 * (double)median[o], 1e-9 * rate, 100. * share));
    PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
    if (bench->markdown)
      fprintf(bench->markdown, "| %s | %.2f | %s | %.2f | %.4f | %.1f | %.1f%% |\n", storages[s].name, LitheStorageBitsPerValue(&storage), operations[o].name,
              1e-6 * bytes, 1e3 * (double)median[o], 1e-9 * rate, 100. * share);
  }
  PetscCall(CBBasisDestroy(&c.basis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *name[NSTORAGES];
  PetscBool   wanted[NSTORAGES];
  PetscInt    k = 50, exponentbits = 8;
  PetscMPIInt size;
  Bench       bench;
  Vec         x, y;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "The benchmark runs on one process, not on %d", size);
  PetscCall(BenchSetFromOptions(PETSC_COMM_SELF, &bench));
  for (PetscInt s = 0; s < NSTORAGES; s++) name[s] = storages[s].name;
  PetscCall(BenchGetWanted(&bench, "-bench_storages", NSTORAGES, name, wanted));
  PetscOptionsBegin(PETSC_COMM_SELF, NULL, "Benchmark of compressed bases", "KSP");
  PetscCall(PetscOptionsRangeInt("-bench_columns", "Columns of the orthogonalisation", NULL, k, &k, NULL, 1, 10000));
  PetscCall(PetscOptionsInt("-bench_exponent_bits", "Of FRSZ2", NULL, exponentbits, &exponentbits, NULL));
  PetscOptionsEnd();
  PetscCheck(exponentbits == 8 || exponentbits == 16, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-bench_exponent_bits %" PetscInt_FMT ": 8 or 16", exponentbits);
  if (!bench.size) bench.size = bench.gpu ? 8000000 : 1000000;
  PetscCall(BenchCopyRate(&bench));
  PetscCall(BenchOpen(&bench, "| storage | bits | operation | MB | ms | GB/s | of copy rate |"));
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, bench.size, bench.size));
  PetscCall(VecSetType(x, bench.gpu ? VECSEQCUDA : VECSEQ));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%" PetscInt_FMT " rows, %" PetscInt_FMT " columns\n  %-9s %6s %-7s %10s %10s %10s %6s\n", bench.size, k, "storage",
                        "bits", "what", "MB", "ms", "GB/s", "%copy"));
  for (PetscInt s = 0; s < NSTORAGES; s++) {
    if (wanted[s] && (storages[s].kind != LITHE_STORAGE_FRSZ2 || storages[s].bits <= LITHE_FRSZ2_MAX_BITS))
      PetscCall(BenchStorage(&bench, s, (int)exponentbits, k, x, y));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(BenchClose(&bench));
  PetscCall(PetscFinalize());
  return 0;
}
