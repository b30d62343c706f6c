/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Times MATBORN: modelling, Born modelling, migration and the normal operator, beside a copy in the same run.\n\
Groups of processes share shots, and the processes of a group share the grid.\n\
  -bench_n NX,NY,NZ    : nodes (default: 512,512,512; without a GPU 96,96,96; NZ = 1 for two dimensions)\n\
  -bench_steps N       : of a shot (default: 300; without a GPU 30)\n\
  -bench_width N       : of the sponge, which is a part of the grid (default: 20)\n\
  -bench_interval K    : steps between imaging steps (default: 4)\n\
  -bench_receivers N   : on a line (default: 100)\n\
  -bench_shots N       : number of shots, shared by groups of processes (default: 1)\n\
  -bench_group_size N  : processes of a group (default: all)\n\
  -bench_together N    : shots in two dimensions that are computed together (default: as the matrix decides)\n\
  -bench_repeats N     : how often a product is timed (default: 3); the fastest counts\n\
  -bench_variants LIST : variants, by the names which a run prints (default: all in single precision)\n\
  -bench_gpu BOOL      : on the GPU (default: if a GPU exists)\n\
  -bench_json FILE     : results for programs\n\
  -bench_markdown FILE : results as a table\n\n";

/*
   A point is one node at one step. A product with J^T counts as many points as a modelling run, although J^T goes
   forwards and backwards. The first product includes the set-up of the matrix. Bytes per point are the least traffic, with every array read or written once per step.
*/

#include <tutorials/common/measure.h>
#include <lithe.h>
#include <petscdmda.h>
#include <petsctime.h>

#define WAVELET 280 /* samples, for shorter runs too */

typedef enum {
  MODEL,
  BORN,
  ADJOINT,
  NORMAL,
  LSQR /* an iteration: J and its transpose */
} Product;

typedef struct {
  const char *name;
  Product     product;
  const char *options;    /* matrix options without prefix: pairs of a name and a value */
  double      all, image; /* bytes per point of each step, and additional bytes of steps which image; in single
                             precision */
  PetscBool   usual;
} Variant;

static const Variant variants[] = {{"forward", MODEL, "", 16, 0, PETSC_TRUE},
                                   {"forward-16", MODEL, "-velocity_bits 16", 14, 0, PETSC_TRUE},
                                   {"forward-order2", MODEL, "-order 2", 16, 0, PETSC_TRUE},
                                   {"forward-order4", MODEL, "-order 4", 16, 0, PETSC_TRUE},
                                   {"forward-order12", MODEL, "-order 12", 16, 0, PETSC_TRUE},
                                   {"forward-double", MODEL, "-field double", 32, 0, PETSC_FALSE},
                                   {"born", BORN, "-background checkpoint", 28, 4, PETSC_TRUE},
                                   {"born-each", BORN, "-background checkpoint -interval 1", 28, 4, PETSC_TRUE},
                                   {"born-random", BORN, "-background random", 28, 4, PETSC_TRUE},
                                   {"born-keep", BORN, "-background keep -background_bits 16", 28, 24, PETSC_TRUE},
                                   {"rtm-random", ADJOINT, "-background random", 44, 8, PETSC_TRUE},
                                   {"rtm-random-16", ADJOINT, "-background random -velocity_bits 16", 40, 8, PETSC_TRUE},
                                   {"rtm-keep", ADJOINT, "-background keep -background_bits 16", 32, 24, PETSC_TRUE},
                                   {"rtm-keep-8", ADJOINT, "-background keep -background_bits 8", 32, 22, PETSC_TRUE},
                                   {"rtm-ring", ADJOINT, "-background ring", 48, 20, PETSC_TRUE},
                                   {"rtm-checkpoint", ADJOINT, "-background checkpoint", 64, 20, PETSC_FALSE},
                                   {"normal-random", NORMAL, "-background random", 56, 12, PETSC_TRUE},
                                   {"normal-keep", NORMAL, "-background keep -background_bits 16", 44, 38, PETSC_TRUE},
                                   {"lsqr-keep", LSQR, "-background keep -background_bits 16", 60, 48, PETSC_FALSE},
                                   {"lsqr-random", LSQR, "-background random", 72, 12, PETSC_FALSE}};

typedef struct {
  Bench    bench;
  PetscInt n[3], steps, width, interval, receivers, repeats, shots, group, batch;
} Run;

static PetscErrorCode RunSetFromOptions(Run *run)
{
  PetscInt    count = 3;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &run->bench));
  run->n[0] = run->n[1] = run->n[2] = run->bench.gpu ? 512 : 96;
  run->steps                        = run->bench.gpu ? 300 : 30;
  run->width                        = 20;
  run->interval                     = 4;
  run->receivers                    = 100;
  run->repeats                      = 3;
  run->shots                        = 1;
  run->batch                        = PETSC_DECIDE;
  PetscCallMPI(MPI_Comm_size(run->bench.comm, &size));
  run->group = size;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-bench_n", run->n, &count, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_steps", &run->steps, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_width", &run->width, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_interval", &run->interval, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_receivers", &run->receivers, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_repeats", &run->repeats, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_shots", &run->shots, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_group_size", &run->group, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bench_together", &run->batch, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Velocities from 1.5 to 3 km/s, h = 10 m; wavelengths of 8 nodes and more */
static PetscErrorCode CreateMatrix(const Run *run, DM da, Vec v, Mat *J)
{
  const PetscReal h[3] = {10, 10, 10}, dt = 0.0012, f = 7.5;
  PetscReal       source[3], *receivers, *wavelet;
  const int       dim = run->n[2] == 1 ? 2 : 3;

  PetscFunctionBegin;
  PetscCall(MatCreateBorn(da, J));
  PetscCall(MatBornSetSpacing(*J, h));
  PetscCall(MatBornSetVelocity(*J, v));
  PetscCall(MatBornSetTime(*J, dt, run->steps, 4 < run->steps ? 4 : 1));
  PetscCall(PetscMalloc1(WAVELET, &wavelet));
  for (PetscInt k = 0; k < WAVELET; k++) {
    const PetscReal a = PetscSqr(PETSC_PI * f * (dt * (PetscReal)k - 1.2 / f));

    wavelet[k] = (1 - 2 * a) * PetscExpReal(-a);
  }
  PetscCall(MatBornSetWavelet(*J, WAVELET, wavelet));
  PetscCall(PetscFree(wavelet));
  PetscCall(MatBornSetSponge(*J, run->width, PETSC_DETERMINE));
  PetscCall(PetscMalloc1(dim * run->receivers, &receivers));
  for (int d = 0; d < dim; d++) source[d] = h[d] * (PetscReal)(run->n[d] / 2);
  for (PetscInt r = 0; r < run->receivers; r++) {
    for (int d = 0; d < dim; d++) receivers[dim * r + d] = h[d] * (PetscReal)(run->n[d] / 2);
    receivers[dim * r] = h[0] * (PetscReal)(run->width + r % (run->n[0] - 2 * run->width));
    receivers[dim * r + dim - 1] += 5 * h[0];
  }
  for (PetscInt s = 0; s < run->shots; s++) {
    source[0] = h[0] * (PetscReal)((run->n[0] / 2 + s) % run->n[0]);
    PetscCall(MatBornAddShot(*J, source, run->receivers, receivers));
  }
  PetscCall(PetscFree(receivers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -mat_born_... for the settings of a run, which a variant's options may replace */
static PetscErrorCode SetOptions(const Run *run, const char *options, Mat J, PetscInt *interval)
{
  char **words, all[256];
  int    n;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-interval %" PetscInt_FMT " -group_size %" PetscInt_FMT " -batch %" PetscInt_FMT " %s", run->interval, run->group,
                          run->batch, options));
  PetscCall(MatSetOptionsPrefix(J, "bench_now_"));
  PetscCall(PetscStrToArray(all, ' ', &n, &words));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k + 1 < n; k += 2) {
      char name[64];

      PetscCall(PetscSNPrintf(name, sizeof(name), "-bench_now_mat_born_%s", words[k] + 1));
      if (pass) PetscCall(PetscOptionsClearValue(NULL, name));
      else PetscCall(PetscOptionsSetValue(NULL, name, words[k + 1]));
    }
    if (pass) continue;
    PetscCall(MatSetFromOptions(J));
    PetscCall(PetscOptionsGetInt(NULL, "bench_now_", "-mat_born_interval", interval, NULL));
  }
  PetscCall(PetscStrToArrayDestroy(n, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the first product, with the set-up, and of the fastest further one */
static PetscErrorCode Measure(Run *run, const Variant *v, Mat J, PetscLogDouble *firstseconds, PetscLogDouble *seconds)
{
  Vec x, y, d;
  Mat N = NULL;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecSet(x, 0.01));
  PetscCall(VecSet(d, 1));
  PetscCall(MatCreateVecs(J, &y, NULL));
  if (v->product == NORMAL) PetscCall(MatBornGetNormal(J, &N));
  for (PetscInt r = 0; r <= run->repeats; r++) {
    PetscLogDouble start, end;

    PetscCall(BenchWait(&run->bench));
    PetscCall(PetscTime(&start));
    if (v->product == MODEL) PetscCall(MatBornModel(J, d));
    else if (v->product == BORN) PetscCall(MatMult(J, x, d));
    else if (v->product == ADJOINT) PetscCall(MatMultTranspose(J, d, y));
    else if (v->product == NORMAL) PetscCall(MatMult(N, x, y));
    else {
      PetscCall(MatMult(J, x, d));
      PetscCall(MatMultTranspose(J, d, y));
    }
    PetscCall(BenchWait(&run->bench));
    PetscCall(PetscTime(&end));
    if (!r) *firstseconds = end - start;
    if (r == 1 || (r > 1 && end - start < *seconds)) *seconds = end - start;
  }
  PetscCall(MatDestroy(&N));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(Run *run, const Variant *v, PetscInt interval, PetscLogDouble first, PetscLogDouble seconds)
{
  Bench       *bench = &run->bench;
  PetscMPIInt  size;
  const double points = (double)run->n[0] * (double)run->n[1] * (double)run->n[2] * (double)run->steps * (double)run->shots, rate = points / seconds / 1e9;
  const double bytes   = v->all + v->image / (double)interval;
  double       share   = bench->copyrate > 0 ? rate * 1e9 * bytes / bench->copyrate : 0;
  BenchField   field[] = {{"variant", v->name, 0.},        {"nx", NULL, (double)run->n[0]},     {"ny", NULL, (double)run->n[1]},
                          {"nz", NULL, (double)run->n[2]}, {"steps", NULL, (double)run->steps}, {"interval", NULL, (double)interval},
                          {"seconds", NULL, seconds},      {"gpoints_per_s", NULL, rate},       {"bytes_a_point", NULL, bytes},
                          {"share_of_copy", NULL, 0.},     {"shots", NULL, (double)run->shots}, {"group", NULL, (double)run->group},
                          {"processes", NULL, 0.},         {"first_seconds", NULL, first},      {"batch", NULL, (double)run->batch}};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(bench->comm, &size));
  share /= size;
  field[9].value  = share;
  field[12].value = size;
  PetscCall(PetscPrintf(bench->comm, "  %-16s %9.4f s, first %9.4f s  %8.2f Gpoints/s  %5.1f bytes a point  %5.1f%% of a copy\n", v->name, seconds, first, rate,
                        bytes, 100 * share));
  PetscCall(BenchWriteRecord(bench, PETSC_STATIC_ARRAY_LENGTH(field), field));
  if (bench->markdown)
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, bench->markdown,
                           "| %s | %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " | %.4f | %.4f | %.2f | %.1f | %.1f |\n", v->name, run->n[0],
                           run->n[1], run->n[2], first, seconds, rate, bytes, 100 * share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  const char          *names[PETSC_STATIC_ARRAY_LENGTH(variants)];
  PetscBool            wanted[PETSC_STATIC_ARRAY_LENGTH(variants)], set;
  Run                  run;
  DM                   da;
  Vec                  v;
  PetscInt             begin, end, all;
  PetscMPIInt          size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(RunSetFromOptions(&run));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(variants); k++) names[k] = variants[k].name;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-bench_variants", &set));
  PetscCall(BenchGetWanted(&run.bench, "-bench_variants", PETSC_STATIC_ARRAY_LENGTH(variants), names, wanted));
  PetscCall(BenchCopyRate(&run.bench));
  PetscCall(BenchOpen(&run.bench, "| product | nodes | first, s | s | Gpoints/s | bytes a point | of a copy, % |"));
  /* slabs as MATBORN makes them */
  PetscCallMPI(MPI_Comm_size(run.bench.comm, &size));
  if (run.n[2] == 1) PetscCall(DMDACreate2d(run.bench.comm, none, none, DMDA_STENCIL_STAR, run.n[0], run.n[1], 1, size, 1, 1, NULL, NULL, &da));
  else PetscCall(DMDACreate3d(run.bench.comm, none, none, none, DMDA_STENCIL_STAR, run.n[0], run.n[1], run.n[2], 1, 1, size, 1, 1, NULL, NULL, NULL, &da));
  if (run.bench.gpu) PetscCall(DMSetVecType(da, VECCUDA));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &v));
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  {
    PetscScalar *a;

    PetscCall(VecGetArrayWrite(v, &a));
    PetscCall(VecGetSize(v, &all));
    for (PetscInt k = 0; k < end - begin; k++) a[k] = 1500 + 1500 * (PetscReal)(begin + k) / (PetscReal)all;
    PetscCall(VecRestoreArrayWrite(v, &a));
  }
  PetscCall(PetscPrintf(run.bench.comm,
                        "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes, %" PetscInt_FMT " steps, images every %" PetscInt_FMT
                        ", %" PetscInt_FMT " shots, %d processes in groups of %" PetscInt_FMT ", batches of %" PetscInt_FMT "\n",
                        run.n[0], run.n[1], run.n[2], run.steps, run.interval, run.shots, size, run.group, run.batch));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(variants); k++) {
    PetscLogDouble first = 0, seconds = 0;
    PetscInt       interval = 1;
    Mat            J;

    if (!wanted[k] || (!set && !variants[k].usual)) continue;
    PetscCall(CreateMatrix(&run, da, v, &J));
    PetscCall(SetOptions(&run, variants[k].options, J, &interval));
    PetscCall(Measure(&run, &variants[k], J, &first, &seconds));
    PetscCall(Report(&run, &variants[k], interval, first, seconds));
    PetscCall(MatDestroy(&J));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&da));
  PetscCall(BenchClose(&run.bench));
  PetscCall(PetscFinalize());
  return 0;
}
