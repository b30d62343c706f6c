/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Files of shots: SEG-Y with floats of IBM and IEEE.\n\n";

#include <tests/tutorials/folder.h>
#include <tutorials/common/segy.h>

/* ------------------------------------------------------------ floats of IBM */

static PetscErrorCode TestIBM(void)
{
  /* from manuals: a number and the bits of the number */
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

/* Writes and reads a file of two shots; coordinates agree up to the scalar, also far from the corner */
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
    else PetscCall(SegyCreate(path, "shots", format, samples, (PetscReal)0.004, 12 * unit, &segy));
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

/*
   Heads of files with any interval and number of samples: the 16 bits of revision 1 wherever they suffice, otherwise a
   double of revision 2; and the texts
*/
static PetscErrorCode TestHeads(void)
{
  const struct {
    PetscInt  samples;
    PetscReal interval;
    int       revision, millionths; /* 0: no room */
  } heads[]                 = {{2, (PetscReal)4e-3, 1, 4000},
                               {2, (PetscReal)1e-6, 1, 1},
                               {2, (PetscReal).032767, 1, 32767},
                               {2, (PetscReal).032768, 2, 0},
                               {2, (PetscReal).0655, 2, 0},
                               {2, (PetscReal).5, 2, 0},
                               {2, 3600, 2, 0},
                               {2, (PetscReal)2.5e-7, 2, 0},
                               {2, (PetscReal)1e-12, 2, 0},
                               {2, (PetscReal)1.2345e-3, 2, 1235},
                               {40000, (PetscReal)4e-3, 2, 4000}};
  const unsigned char c1[]  = {0xc3, 0x40, 0xf1, 0x40, 0xe3, 0x96, 0x6b, 0x40, 0xf2, 0x40}; /* "C 1 To, 2 " of EBCDIC */
  const unsigned char end[] = {0xc3, 0xf4, 0xf0, 0x40, 0xc5, 0xd5, 0xc4, 0x40};             /* "C40 END " */
  SegyTrace           trace = {.record = 1};
  unsigned char       bytes[3600 + 240];
  char                path[PETSC_MAX_PATH_LEN];
  PetscReal          *value;
  Segy                segy;
  FILE               *file;

  PetscFunctionBeginUser;
  PetscCall(Path("heads.segy", path));
  PetscCall(PetscCalloc1(40000, &value));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(heads); k++) {
    const double exact = (double)heads[k].interval * 1e6;
    double       number;
    uint64_t     bits   = 0;
    size_t       filled = 0;

    PetscCall(SegyCreate(path, "To, 2 ends", SEGY_IEEE, heads[k].samples, heads[k].interval, 1, &segy));
    PetscCall(SegyWrite(&segy, &trace, value));
    PetscCall(SegyClose(&segy));
    file = fopen(path, "rb");
    PetscCheck(file && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", path);
    if (WRONG(memcmp(bytes, c1, sizeof(c1)) || memcmp(bytes + 39 * 80, end, sizeof(end)))) FAIL("head %d: the text", (int)k);
    for (int line = 0; line < 40; line++) {
      if (WRONG(bytes[80 * line] != 0xc3)) FAIL("head %d: line %d of the text begins with %x", (int)k, line, bytes[80 * line]);
      for (int i = 4; i < 80; i++) filled += bytes[80 * line + i] != 0x40;
    }
    if (WRONG(filled < 250)) FAIL("head %d: only %d characters of text", (int)k, (int)filled);
    if (WRONG(bytes[3500] != heads[k].revision || bytes[3501] != 0)) FAIL("head %d: revision %d.%d", (int)k, bytes[3500], bytes[3501]);
    if (WRONG(bytes[3216] * 256 + bytes[3217] != heads[k].millionths || bytes[3716] * 256 + bytes[3717] != heads[k].millionths))
      FAIL("head %d: interval %d, of a trace %d", (int)k, bytes[3216] * 256 + bytes[3217], bytes[3716] * 256 + bytes[3717]);
    for (int b = 0; b < 8; b++) bits = bits << 8 | bytes[3272 + b];
    memcpy(&number, &bits, sizeof(number));
    if (WRONG(heads[k].revision == 1 ? bits != 0 : fabs(number - exact) > 1e-12 * exact)) FAIL("head %d: interval %g, not %g", (int)k, number, exact);
    if (WRONG(heads[k].revision == 2 && memcmp(bytes + 3296, "\1\2\3\4", 4))) FAIL("head %d: no order of bytes", (int)k);
    PetscCall(SegyOpen(path, &segy));
    if (WRONG(segy.samples != heads[k].samples || segy.traces != 1 ||
              !(PetscAbsReal(segy.interval - heads[k].interval) <= 10 * PETSC_MACHINE_EPSILON * heads[k].interval)))
      FAIL("head %d: %d samples, interval %g", (int)k, (int)segy.samples, (double)segy.interval);
    PetscCall(SegyClose(&segy));
  }
  PetscCall(PetscFree(value));

  /* extended heads of traces */
  file = fopen(path, "r+b");
  PetscCheck(file && !fseek(file, 3200 + 307, SEEK_SET) && fputc(1, file) == 1 && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s", path);
  TEST_REFUSED("extended heads", SegyOpen(path, &segy), "heads.segy", "extended headers");
  if (segy.file) (void)fclose(segy.file);
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
  TEST_REFUSED("many samples", SegyCreate(path, "shots", SEGY_IEEE, 70000, 1, 1, &segy), "65535");
  TEST_REFUSED("interval 0", SegyCreate(path, "shots", SEGY_IEEE, 2, 0, 1, &segy), "bad.segy", "interval", "positive");
  TEST_REFUSED("interval -1", SegyCreate(path, "shots", SEGY_IEEE, 2, -1, 1, &segy), "bad.segy", "interval", "positive");
  TEST_REFUSED("coordinate", SegyCreate(path, "shots", SEGY_IEEE, 2, (PetscReal)0.001, (PetscReal)1e10, &segy), "1e+10 m");
  PetscCall(SegyCreate(path, "shots", SEGY_IEEE, 2, (PetscReal)0.001, 1, &segy));
  PetscCall(SegyWrite(&segy, &trace, value));
  value[1] = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)INFINITY : (PetscReal)1e300;
  TEST_REFUSED("sample", SegyWrite(&segy, &trace, value), "sample 1", "no room");
  value[1] = 2;
  PetscCall(SegyWrite(&segy, &trace, value));
  PetscCall(SegyClose(&segy));
  file = fopen(path, "r+b");
  if (WRONG(fseek(file, 3600 + 248 + 240 + 4, SEEK_SET) || fwrite("\177\300\0\0", 1, 4, file) != 4)) FAIL("the file cannot be changed");
  (void)fclose(file);
  {
    SegyTrace read;

    PetscCall(SegyOpen(path, &segy));
    PetscCall(SegyRead(&segy, &read, value));
    TEST_REFUSED("NaN", SegyRead(&segy, &read, value), "sample 1 of trace 1", "nan");
    PetscCall(SegyClose(&segy));
  }
  if (WRONG(truncate(path, 3600 + 2 * 248 - 3))) FAIL("the file cannot be cut");
  TEST_REFUSED("cut off", SegyOpen(path, &segy), "whole traces", "cut off");
  if (segy.file) (void)fclose(segy.file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const names[] = {"shots.segy", "heads.segy", "bad.segy"};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(FolderCreate());
  PetscCall(TestIBM());
  if (!rank) {
    PetscCall(TestTraces(SEGY_IBM, 1, (PetscReal)1e-4));
    PetscCall(TestTraces(SEGY_IEEE, (PetscReal)1e5, (PetscReal)0.1));
    PetscCall(TestTraces(SEGY_IEEE, (PetscReal)1e8, 30));
    PetscCall(TestHeads());
    PetscCall(TestBadTraces());
  }
  PetscCall(FolderRemove(3, names));
  return TestEnd(5600, "files come back\n");
}

/*TEST

  test:
    output_file: output/grids.out

TEST*/
