/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Files of velocities and of shots: floats in any order of axes, Vec, SEG-Y with floats of IBM and IEEE; generated velocities.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#include <lithe.h>
#include <tutorials/common/gridfile.h>
#include <tutorials/common/segy.h>
#include <tutorials/common/velocity.h>
#include "refused.h"

static char        folder[PETSC_MAX_PATH_LEN];
static PetscMPIInt rank;

static PetscErrorCode Path(const char name[], char path[PETSC_MAX_PATH_LEN])
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(path, PETSC_MAX_PATH_LEN, "%s/%s", folder, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ floats of IBM */

static PetscErrorCode TestIBM(void)
{
  /* of manuals: a number and its bits */
  const struct {
    double   x;
    uint32_t bits;
  } known[]     = {{-118.625, 0xc276a000}, {118.625, 0x4276a000},  {1, 0x41100000},  {0, 0},
                   {0.0625, 0x40100000},   {-0.15625, 0xc0280000}, {16, 0x42100000}, {5.397605346934028e-79, 0x00100000}};
  uint32_t seed = 1;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(known); k++) {
    if (WRONG(SegyToIBM(known[k].x) != known[k].bits)) FAIL("%g is %08x, not %08x", known[k].x, SegyToIBM(known[k].x), known[k].bits);
    if (WRONG(SegyFromIBM(known[k].bits) != known[k].x)) FAIL("%08x is %g, not %g", known[k].bits, SegyFromIBM(known[k].bits), known[k].x);
  }
  for (int k = 0; k < 2000; k++) {
    double x, y;

    seed = seed * 1664525u + 1013904223u;
    x    = ldexp((double)(int32_t)seed, (int)(seed % 400) - 231);
    y    = SegyFromIBM(SegyToIBM(x));
    /* 24 bits, of which three may be zeros */
    if (WRONG(!(fabs(y - x) <= ldexp(fabs(x), -21)))) FAIL("%g became %g", x, y);
    if (WRONG(SegyToIBM(y) != SegyToIBM(x))) FAIL("%g is not rounded once", x);
  }
  if (WRONG(SegyToIBM(1e-90) != 0 || SegyFromIBM(SegyToIBM(1e90)) < 7e75)) FAIL("numbers beyond the range");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ traces */

/* A file of two shots comes back; coordinates to their scalar, far from the corner too */
static PetscErrorCode TestTraces(SegyFormat format, PetscReal unit, PetscReal scalar)
{
  const PetscInt samples = 33;
  PetscReal      value[33], back[33];
  char           path[PETSC_MAX_PATH_LEN];
  Segy           segy;

  PetscFunctionBeginUser;
  PetscCall(Path("shots.segy", path));
  for (int pass = 0; pass < 2; pass++) {
    if (pass) PetscCall(SegyOpen(path, &segy));
    else PetscCall(SegyCreate(path, format, samples, (PetscReal)0.004, 12 * unit, &segy));
    if (pass && WRONG(segy.samples != samples || segy.traces != 10 || segy.format != format || PetscAbsReal(segy.interval - (PetscReal)0.004) > 1e-9))
      FAIL("the head of %s", path);
    for (int t = 0; t < 10; t++) {
      SegyTrace trace = {.record = 1 + t / 5, .trace = 1 + t % 5, .line = 3, .crossline = t}, read;

      for (int d = 0; d < 3; d++) {
        trace.source[d]   = unit * ((PetscReal)(1 + d) + (PetscReal)(t / 5));
        trace.receiver[d] = unit * ((PetscReal)d - (PetscReal)t / 3);
      }
      for (PetscInt i = 0; i < samples; i++) value[i] = (PetscReal)(float)((t - 4.5) * exp(-(double)i) * 1e3);
      if (!pass) {
        PetscCall(SegyWrite(&segy, &trace, value));
        continue;
      }
      PetscCall(SegyRead(&segy, &read, back));
      if (WRONG(read.record != trace.record || read.trace != trace.trace || read.line != 3 || read.crossline != t)) FAIL("the numbers of trace %d", t);
      for (int d = 0; d < 3; d++) {
        if (WRONG(!(PetscAbsReal(read.source[d] - trace.source[d]) <= scalar && PetscAbsReal(read.receiver[d] - trace.receiver[d]) <= scalar)))
          FAIL("coordinate %d of trace %d: %g, not %g", d, t, (double)read.receiver[d], (double)trace.receiver[d]);
      }
      for (PetscInt i = 0; i < samples; i++) {
        const PetscReal error = PetscAbsReal(back[i] - value[i]);

        if (WRONG(format == SEGY_IEEE ? error != 0 : !(error <= PetscAbsReal(value[i]) * (PetscReal)5e-7))) FAIL("sample %d: %g", (int)i, (double)back[i]);
      }
    }
    PetscCall(SegyClose(&segy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBadTraces(void)
{
  const SegyTrace trace    = {.record = 1};
  PetscReal       value[2] = {1, 0};
  char            path[PETSC_MAX_PATH_LEN];
  Segy            segy;
  FILE           *file;

  PetscFunctionBeginUser;
  PetscCall(Path("bad.segy", path));
  TEST_REFUSED("no file", SegyOpen("/nowhere/file", &segy), "/nowhere/file", "cannot be opened");
  file = fopen(path, "wb");
  for (int k = 0; k < 3700; k++) (void)fputc(k % 251, file);
  (void)fclose(file);
  TEST_REFUSED("no SEG-Y", SegyOpen(path, &segy), "SEG-Y", "format");
  if (segy.file) (void)fclose(segy.file);
  TEST_REFUSED("many samples", SegyCreate(path, SEGY_IEEE, 70000, 1, 1, &segy), "65535");
  TEST_REFUSED("interval", SegyCreate(path, SEGY_IEEE, 2, 1, 1, &segy), "interval");
  TEST_REFUSED("coordinate", SegyCreate(path, SEGY_IEEE, 2, (PetscReal)0.001, (PetscReal)1e10, &segy), "1e+10 m");
  PetscCall(SegyCreate(path, SEGY_IEEE, 2, (PetscReal)0.001, 1, &segy));
  PetscCall(SegyWrite(&segy, &trace, value));
  value[1] = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)INFINITY : (PetscReal)1e300;
  TEST_REFUSED("sample", SegyWrite(&segy, &trace, value), "sample 1", "no room");
  value[1] = 2;
  PetscCall(SegyWrite(&segy, &trace, value));
  PetscCall(SegyClose(&segy));
  if (WRONG(truncate(path, 3600 + 2 * 248 - 3))) FAIL("the file cannot be cut");
  TEST_REFUSED("cut off", SegyOpen(path, &segy), "whole traces", "cut off");
  if (segy.file) (void)fclose(segy.file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ grids */

static PetscReal Value(PetscInt i, PetscInt j, PetscInt k)
{
  return (PetscReal)(1 + i + 100 * j + 10000 * k);
}

static PetscErrorCode TestGrid(GridFileFormat format, const char axes[], const PetscInt n[3])
{
  const PetscInt pad[3] = {2, n[1] > 1 ? 1 : 0, 3};
  PetscInt       begin, end, wrong = 0, start[3], count[3], l = 0;
  PetscScalar   *a;
  Vec            natural, back, x, whole, again;
  DM             da;
  char           path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(Path("grid", path));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &natural));
  PetscCall(VecSetSizes(natural, PETSC_DECIDE, n[0] * n[1] * n[2]));
  PetscCall(VecSetType(natural, VECSTANDARD));
  PetscCall(PetscObjectSetName((PetscObject)natural, "grid"));
  PetscCall(VecGetOwnershipRange(natural, &begin, &end));
  PetscCall(VecGetArrayWrite(natural, &a));
  for (PetscInt p = begin; p < end; p++) a[p - begin] = Value(p % n[0], p / n[0] % n[1], p / n[0] / n[1]);
  PetscCall(VecRestoreArrayWrite(natural, &a));
  PetscCall(GridFileWrite(format, path, n, 10, axes, natural));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank && format == GRIDFILE_RAW) {
    /* the second number of the file is the next one along the first axis */
    FILE *file     = fopen(path, "rb");
    float first[2] = {0, 0};

    if (WRONG(fread(first, 4, 2, file) != 2 || first[1] - first[0] != (axes[0] == 'x' ? 1 : (axes[0] == 'y' ? 100 : 10000))))
      FAIL("axes %s: %g", axes, (double)first[1]);
    (void)fclose(file);
  }
  PetscCall(GridFileRead(PETSC_COMM_WORLD, format, path, n, axes, &back));
  {
    PetscBool same;

    PetscCall(VecEqual(natural, back, &same));
    if (WRONG(!same)) FAIL("%s %s: other numbers", GridFileFormats[format], axes);
  }

  /* on a DMDA with room round it */
  if (n[1] > 1)
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0] + 4, n[1] + 2, n[2] + 6,
                           PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0] + 4, n[2] + 6, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                           NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(GridToDM(back, n, pad, da, x));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
        const PetscInt at[3] = {PetscMin(n[0] - 1, PetscMax(0, i - 2)), n[1] > 1 ? PetscMin(n[1] - 1, PetscMax(0, j - 1)) : 0,
                                PetscMin(n[2] - 1, PetscMax(0, (n[1] > 1 ? k : j) - 3))};

        wrong += PetscRealPart(a[l++]) != Value(at[0], at[1], at[2]);
      }
    }
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) FAIL("%d nodes of the DMDA are wrong", (int)wrong);
  PetscCall(VecDuplicate(x, &again));
  PetscCall(GridGather(da, x, &whole));
  PetscCall(GridScatter(da, whole, again));
  {
    PetscBool same;

    PetscCall(VecEqual(x, again, &same));
    if (WRONG(!same)) FAIL("gathered and scattered, numbers are others");
  }
  PetscCall(VecDestroy(&whole));
  PetscCall(VecDestroy(&again));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscCall(VecDestroy(&natural));
  PetscCall(VecDestroy(&back));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ generated velocities */

/* Range, and a hash of what a coarse grid has: the same on all machines but for places next to an edge */
static PetscErrorCode TestVelocity(const char name[], double (*velocity)(double, double, double), double least, double most, double mean)
{
  const int n   = 60;
  double    low = 1e9, high = 0, sum = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      const double v = velocity((i + .37) / n, .5, (k + .37) / n);

      low  = PetscMin(low, v);
      high = PetscMax(high, v);
      sum += v;
    }
  }
  if (WRONG(low < least || high > most || low > 1.1 * least || high < .9 * most)) FAIL("%s: %g to %g m/s", name, low, high);
  if (WRONG(!(fabs(sum / (n * n) - mean) < 2))) FAIL("%s: the mean is %.2f", name, sum / (n * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing over far more than the model leaves the mean slowness of both ends, in no time */
static PetscErrorCode TestSmooth(void)
{
  const PetscInt  n[3]   = {40, 1, 1};
  const PetscReal wide[] = {1e4, 1e9, (PetscReal)1e30};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(wide); k++) {
    PetscReal v[40];

    for (PetscInt i = 0; i < n[0]; i++) v[i] = i < n[0] - 1 ? 2000 : 4000;
    PetscCall(VelocitySmooth(n, wide[k], v));
    for (PetscInt i = 0; i < n[0]; i++) {
      if (WRONG(!(PetscAbsReal(v[i] - (PetscReal)8000 / 3) < 10)))
        FAIL("smoothed over %g nodes, node %" PetscInt_FMT " has %g m/s", (double)wide[k], i, (double)v[i]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt    plane[3] = {13, 1, 9}, space[3] = {7, 5, 6};
  const char *const axes[] = {"xyz", "zyx", "yxz", "zxy"};
  Vec               unused;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscStrncpy(folder, "gridXXXXXX", sizeof(folder)));
  if (!rank) PetscCall(PetscMkdtemp(folder));
  PetscCallMPI(MPI_Bcast(folder, (PetscMPIInt)sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(TestIBM());
  if (!rank) {
    PetscCall(TestTraces(SEGY_IBM, 1, (PetscReal)1e-4));
    PetscCall(TestTraces(SEGY_IEEE, (PetscReal)1e5, (PetscReal)0.1));
    PetscCall(TestTraces(SEGY_IEEE, (PetscReal)1e8, 30));
    PetscCall(TestBadTraces());
  }
  for (int k = 0; k < 4; k++) PetscCall(TestGrid(GRIDFILE_RAW, axes[k], space));
  PetscCall(TestGrid(GRIDFILE_RAW, "zx", plane));
  PetscCall(TestGrid(GRIDFILE_PETSC, "xyz", space));
  PetscCall(TestGrid(GRIDFILE_SEGY, "xyz", space));
  PetscCall(TestGrid(GRIDFILE_SEGY, "xz", plane));
#if defined(PETSC_HAVE_HDF5)
  PetscCall(TestGrid(GRIDFILE_HDF5, "xyz", space));
#endif
  TEST_REFUSED("axes", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_RAW, "x", space, "xz", &unused), "Axes xz", "once each");
  TEST_REFUSED("axes", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_RAW, "x", space, "xxz", &unused), "Axes xxz");
  PetscCall(TestSmooth());
  PetscCall(TestVelocity("layers", VelocityLayers, 1500, 4000, 2404.25));
  PetscCall(TestVelocity("marmousi", VelocityMarmousi, 1500, 5500, 3117.09));
  PetscCall(TestVelocity("overthrust", VelocityOverthrust, 2400, 6000, 3849.65));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank) {
    char              path[PETSC_MAX_PATH_LEN];
    const char *const names[] = {"shots.segy", "bad.segy", "grid", "grid.info"};

    for (int k = 0; k < 4; k++) {
      PetscCall(Path(names[k], path));
      (void)unlink(path);
    }
    if (WRONG(rmdir(folder))) FAIL("%s is not empty", folder);
  }
  PetscCall(TestDone(100, "files come back\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 3}}
    output_file: output/ex56.out

TEST*/
