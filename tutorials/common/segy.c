/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   SEG-Y files. References: SEG Technical Standards Committee, SEG Y rev 1 data exchange format, 2002; SEG-Y_r2.0: SEG-Y revision 2.0 data
   exchange format, 2017. All numbers are big-endian.

   Revision 1 has an interval of 1 to 32767 millionths, and at most 32767 samples: signed integers of 16 bits. Other intervals and numbers
   need revision 2, which has an IEEE double and 32 bits for them. Files have revision 1 wherever possible.
*/

#define _POSIX_C_SOURCE 200809L /* fseeko() */
#include "segy.h"
#include <lithesys.h>
#include <math.h>
#include <string.h>

#define TEXT   3200 /* bytes of the EBCDIC text at the beginning of a file: 40 lines */
#define LINE   80
#define BINARY 400
#define HEAD   240 /* per trace */

/* Places in the heads, counted from 0 */
#define BINARY_INTERVAL  16
#define BINARY_SAMPLES   20
#define BINARY_FORMAT    24
#define BINARY_METER     54
#define BINARY_SAMPLES2  68 /* revision 2 */
#define BINARY_INTERVAL2 72
#define BINARY_ORDER     96
#define BINARY_REVISION  300
#define BINARY_FIXED     302
#define BINARY_TEXTS     304
#define BINARY_HEADS     306
#define BINARY_FIRST     320
#define BINARY_TRAILERS  328

#define REVISION1        0x0100
#define REVISION2        0x0200
#define BIG_ENDIAN_ORDER UINT32_C(0x01020304)

/* ------------------------------------------------------------ numbers */

static uint32_t Get32(const unsigned char *at)
{
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int32_t GetSigned32(const unsigned char *at)
{
  return (int32_t)Get32(at);
}

static int GetSigned16(const unsigned char *at)
{
  return (int16_t)((uint16_t)at[0] << 8 | at[1]);
}

static void Put32(unsigned char *at, uint32_t x)
{
  for (int b = 0; b < 4; b++) at[b] = (unsigned char)(x >> (24 - 8 * b));
}

static void Put16(unsigned char *at, int x)
{
  at[0] = (unsigned char)((x >> 8) & 255);
  at[1] = (unsigned char)(x & 255);
}

static double GetDouble(const unsigned char *at)
{
  const uint64_t bits = (uint64_t)Get32(at) << 32 | Get32(at + 4);
  double         x;

  memcpy(&x, &bits, sizeof(x));
  return x;
}

static void PutDouble(unsigned char *at, double x)
{
  uint64_t bits;

  memcpy(&bits, &x, sizeof(bits));
  Put32(at, (uint32_t)(bits >> 32));
  Put32(at + 4, (uint32_t)bits);
}

/* Letters and digits of EBCDIC lie in blocks; other characters become spaces */
static unsigned char ToEBCDIC(char c)
{
  static const char          marks[]  = ".,:;-/()+=_";
  static const unsigned char values[] = {0x4b, 0x6b, 0x7a, 0x5e, 0x60, 0x61, 0x4d, 0x5d, 0x4e, 0x7e, 0x6d};
  const char                *mark     = c ? strchr(marks, c) : NULL;

  if (c >= '0' && c <= '9') return (unsigned char)(0xf0 + (c - '0'));
  if (c >= 'A' && c <= 'I') return (unsigned char)(0xc1 + (c - 'A'));
  if (c >= 'J' && c <= 'R') return (unsigned char)(0xd1 + (c - 'J'));
  if (c >= 'S' && c <= 'Z') return (unsigned char)(0xe2 + (c - 'S'));
  if (c >= 'a' && c <= 'i') return (unsigned char)(0x81 + (c - 'a'));
  if (c >= 'j' && c <= 'r') return (unsigned char)(0x91 + (c - 'j'));
  if (c >= 's' && c <= 'z') return (unsigned char)(0xa2 + (c - 's'));
  return mark ? values[mark - marks] : 0x40;
}

/* A line of the text, counted from 1: "C 1 ...". A line which is too long is cut */
static void PutLine(unsigned char text[], int number, const char words[])
{
  char line[LINE + 1];
  int  n = snprintf(line, sizeof(line), "C%2d %s", number, words);

  for (int k = 0; k < LINE; k++) text[LINE * (number - 1) + k] = ToEBCDIC((char)(k < n ? line[k] : ' '));
}

/* A sign, the exponent of 16, and 24 bits after the point, the first four of which are not all 0 */
uint32_t SegyToIBM(double x)
{
  const uint32_t sign = signbit(x) ? UINT32_C(0x80000000) : 0;
  int            two, sixteen;
  double         fraction = frexp(fabs(x), &two);
  uint32_t       digits;

  if (!(fraction > 0)) return sign;
  sixteen  = (two + 400) / 4 - 100 + ((two + 400) % 4 > 0);
  fraction = ldexp(fraction, two - 4 * sixteen);
  digits   = (uint32_t)(fraction * 16777216. + .5);
  if (digits >> 24) {
    digits >>= 4;
    sixteen++;
  }
  if (sixteen < -64) return sign;
  if (sixteen > 63) return sign | UINT32_C(0x7fffffff);
  return sign | (uint32_t)(sixteen + 64) << 24 | digits;
}

double SegyFromIBM(uint32_t x)
{
  const double value = ldexp((double)(x & UINT32_C(0xffffff)), 4 * ((int)(x >> 24 & 127) - 64) - 24);

  return x >> 31 ? -value : value;
}

static PetscReal Decode(SegyFormat format, const unsigned char *at)
{
  const uint32_t bits = Get32(at);
  float          value;

  if (format == SEGY_IBM) return (PetscReal)SegyFromIBM(bits);
  memcpy(&value, &bits, sizeof(value));
  return (PetscReal)value;
}

static PetscBool Encode(SegyFormat format, PetscReal x, unsigned char *at)
{
  uint32_t bits;

  if (format == SEGY_IBM) bits = SegyToIBM((double)x);
  else {
    const float value = (float)x;

    memcpy(&bits, &value, sizeof(bits));
  }
  Put32(at, bits);
  /* IBM floats cannot represent NaN and Inf */
  return (PetscBool)(PetscAbsReal(x) <= (PetscReal)(format == SEGY_IBM ? (PetscDefined(USE_REAL_SINGLE) ? PETSC_MAX_REAL : 7.2e75) : 3.402e38));
}

/* ------------------------------------------------------------ a file */

PetscErrorCode SegyOpen(const char path[], Segy *segy)
{
  unsigned char text[TEXT], binary[BINARY];
  off_t         bytes;
  PetscInt64    trace, head;
  int           format, texts, revision;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(segy, sizeof(*segy)));
  PetscCall(PetscStrncpy(segy->path, path, sizeof(segy->path)));
  segy->file = fopen(path, "rb");
  PetscCheck(segy->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be opened", path);
  PetscCheck(fread(text, 1, TEXT, segy->file) == TEXT && fread(binary, 1, BINARY, segy->file) == BINARY, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s is too short for a SEG-Y file", path);
  format         = GetSigned16(binary + BINARY_FORMAT);
  texts          = GetSigned16(binary + BINARY_TEXTS);
  segy->format   = (SegyFormat)format;
  segy->samples  = GetSigned16(binary + BINARY_SAMPLES) & 65535;
  segy->interval = (PetscReal)(GetSigned16(binary + BINARY_INTERVAL) & 65535) * (PetscReal)1e-6;
  PetscCheck(format == SEGY_IBM || format == SEGY_IEEE, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s is no SEG-Y file, or has format %d: only floats of IBM (1) and IEEE (5) are supported, big-endian", path, format);
  revision = GetSigned16(binary + BINARY_REVISION);
  if (revision >= REVISION2) {
    const double interval = GetDouble(binary + BINARY_INTERVAL2);

    if (GetSigned32(binary + BINARY_SAMPLES2) > 0) segy->samples = GetSigned32(binary + BINARY_SAMPLES2);
    if (interval > 0 && interval < 1e300) segy->interval = (PetscReal)(interval * 1e-6);
    PetscCheck(!GetSigned16(binary + BINARY_HEADS) && !GetSigned32(binary + BINARY_TRAILERS), PETSC_COMM_SELF, PETSC_ERR_SUP,
               "%s: a file of SEG-Y revision 2 with extended headers of traces or with trailers, which are not read. Write it without them", path);
  }
  PetscCheck(segy->samples > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: traces have no samples", path);
  PetscCheck(revision == 0 || texts >= 0, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s: %d more texts, which are not read", path, texts);
  head  = TEXT + BINARY + (revision ? (PetscInt64)TEXT * texts : 0);
  trace = HEAD + 4 * (PetscInt64)segy->samples;
  PetscCheck(!fseeko(segy->file, 0, SEEK_END) && (bytes = ftello(segy->file)) >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s cannot be read", path);
  PetscCheck(bytes >= (off_t)head && ((PetscInt64)bytes - head) % trace == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s has %" PetscInt64_FMT " bytes, not whole traces of %" PetscInt_FMT " samples: is it cut off, or are traces of unlike lengths?", path,
             (PetscInt64)bytes, segy->samples);
  segy->traces = ((PetscInt64)bytes - head) / trace;
  PetscCheck(!fseeko(segy->file, (off_t)head, SEEK_SET), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s cannot be read", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The 16 bits for an interval: the nearest millionths, or 0 without room */
static int Millionths(const Segy *segy)
{
  const double millionths = floor((double)segy->interval * 1e6 + .5);

  return millionths >= 1 && millionths <= 32767 ? (int)millionths : 0;
}

/* Whether the interval is a number of millionths that revision 1 has, up to rounding */
static PetscBool IsRevision1(const Segy *segy)
{
  const double exact = (double)segy->interval * 1e6, millionths = (double)Millionths(segy);

  return (PetscBool)(segy->samples <= 32767 && millionths > 0 && fabs(exact - millionths) <= 16 * (double)PETSC_MACHINE_EPSILON * exact);
}

static PetscErrorCode WriteText(const Segy *segy, const char content[], PetscBool second, unsigned char text[])
{
  char words[LINE];

  PetscFunctionBegin;
  for (int line = 1; line <= TEXT / LINE; line++) PutLine(text, line, "");
  PutLine(text, 1, content);
  PutLine(text, 2, "Written by a tutorial of Lithe " LITHE_VERSION ", a plugin for PETSc");
  PetscCall(PetscSNPrintf(words, sizeof(words), "%" PetscInt_FMT " samples per trace, interval %.12g millionths", segy->samples, (double)segy->interval * 1e6));
  PutLine(text, 3, words);
  PutLine(text, 4, segy->format == SEGY_IBM ? "Samples are IBM floats, 4 bytes" : "Samples are IEEE floats, 4 bytes, big-endian");
  PutLine(text, 5, "Coordinates, m: bytes 73-80 source, 81-88 receiver, 71-72 their scalar");
  PutLine(text, 6, "Depth and elevation, m: 49-52 source, 41-44 receiver, 69-70 their scalar");
  PutLine(text, 7, "Numbers: 9-12 record, 13-16 trace in it, 189-192 inline, 193-196 crossline");
  if (second) PutLine(text, 8, "The sample interval is the double in bytes 3273-3280");
  PutLine(text, 39, second ? "SEG-Y_REV2.0" : "SEG Y REV1");
  PutLine(text, 40, "END TEXTUAL HEADER");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SegyCreate(const char path[], const char content[], SegyFormat format, PetscInt samples, PetscReal interval, PetscReal largest, Segy *segy)
{
  unsigned char text[TEXT], binary[BINARY] = {0};
  PetscBool     second;

  PetscFunctionBegin;
  PetscCheck(samples > 0 && samples < 65536, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " samples: a trace of SEG-Y has 1 to 65535", samples);
  PetscCheck(interval > 0 && interval <= PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: the interval between samples is %g; give a positive interval", path, (double)interval);
  PetscCheck(largest < (PetscReal)2147483647, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "SEG-Y has no room for a coordinate of %g m", (double)largest);
  PetscCall(PetscMemzero(segy, sizeof(*segy)));
  PetscCall(PetscStrncpy(segy->path, path, sizeof(segy->path)));
  segy->format   = format;
  segy->samples  = samples;
  segy->interval = interval;
  segy->largest  = largest;
  segy->write    = PETSC_TRUE;
  segy->file     = fopen(path, "wb");
  PetscCheck(segy->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", path);
  second = (PetscBool)!IsRevision1(segy);
  PetscCall(WriteText(segy, content, second, text));
  Put16(binary + BINARY_INTERVAL, Millionths(segy));
  Put16(binary + BINARY_SAMPLES, (int)samples);
  Put16(binary + BINARY_FORMAT, (int)format);
  Put16(binary + BINARY_METER, 1);
  if (second) {
    Put32(binary + BINARY_SAMPLES2, (uint32_t)samples);
    PutDouble(binary + BINARY_INTERVAL2, (double)interval * 1e6);
    Put32(binary + BINARY_ORDER, BIG_ENDIAN_ORDER);
    Put32(binary + BINARY_FIRST + 4, TEXT + BINARY);
  }
  Put16(binary + BINARY_REVISION, second ? REVISION2 : REVISION1);
  Put16(binary + BINARY_FIXED, 1);
  PetscCheck(fwrite(text, 1, TEXT, segy->file) == TEXT && fwrite(binary, 1, BINARY, segy->file) == BINARY, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE,
             "%s cannot be written", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SegyClose(Segy *segy)
{
  const PetscBool good = (PetscBool)(!segy->file || !fclose(segy->file));

  PetscFunctionBegin;
  segy->file = NULL;
  PetscCheck(good || !segy->write, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written", segy->path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ traces */

/* Places of coordinates in the headers; scalar: of coordinates, or of elevations and depths */
#define SCALAR_ELEVATION  68
#define SCALAR_COORDINATE 70
#define SOURCE_DEPTH      48
#define SOURCE_X          72
#define RECEIVER_X        80
#define RECEIVER_HEIGHT   40
#define MIDDLE_X          180
#define INLINE            188
#define CROSSLINE         192

static PetscReal Scale(int scalar)
{
  if (scalar < 0) return 1 / (PetscReal)-scalar;
  return scalar > 0 ? (PetscReal)scalar : 1;
}

PetscErrorCode SegyRead(Segy *segy, SegyTrace *trace, PetscReal value[])
{
  const size_t   bytes = HEAD + 4 * (size_t)segy->samples;
  unsigned char *head;
  PetscReal      coordinate, elevation;
  PetscInt       bad = -1;

  PetscFunctionBegin;
  PetscCheck(segy->at < segy->traces, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s has no more than %" PetscInt64_FMT " traces", segy->path, segy->traces);
  PetscCall(PetscMalloc1(bytes, &head));
  PetscCheck(fread(head, 1, bytes, segy->file) == bytes, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s cannot be read", segy->path);
  coordinate       = Scale(GetSigned16(head + SCALAR_COORDINATE));
  elevation        = Scale(GetSigned16(head + SCALAR_ELEVATION));
  trace->record    = GetSigned32(head + 8);
  trace->trace     = GetSigned32(head + 12);
  trace->line      = GetSigned32(head + INLINE);
  trace->crossline = GetSigned32(head + CROSSLINE);
  for (int d = 0; d < 2; d++) {
    trace->source[d]   = (PetscReal)GetSigned32(head + SOURCE_X + 4 * d) * coordinate;
    trace->receiver[d] = (PetscReal)GetSigned32(head + RECEIVER_X + 4 * d) * coordinate;
  }
  trace->source[2]   = (PetscReal)GetSigned32(head + SOURCE_DEPTH) * elevation;
  trace->receiver[2] = -(PetscReal)GetSigned32(head + RECEIVER_HEIGHT) * elevation;
  for (PetscInt k = 0; k < segy->samples; k++) {
    value[k] = Decode(segy->format, head + HEAD + 4 * k);
    if (bad < 0 && PetscIsInfOrNanReal(value[k])) bad = k;
  }
  PetscCall(PetscFree(head));
  PetscCheck(bad < 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: sample %" PetscInt_FMT " of trace %" PetscInt64_FMT ", counted from 0, is %g; is its format code right?", segy->path, bad, segy->at,
             (double)value[PetscMax(bad, 0)]);
  segy->at++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SegyWrite(Segy *segy, const SegyTrace *trace, const PetscReal value[])
{
  const size_t   bytes = HEAD + 4 * (size_t)segy->samples;
  unsigned char *head;
  int            scalar = 10000;
  PetscInt       bad    = -1;

  PetscFunctionBegin;
  while (scalar > 1 && segy->largest * (PetscReal)scalar >= (PetscReal)2e9) scalar /= 10;
  PetscCall(PetscCalloc1(bytes, &head));
  Put32(head, (uint32_t)(segy->at + 1));
  Put32(head + 4, (uint32_t)(segy->at + 1));
  Put32(head + 8, (uint32_t)trace->record);
  Put32(head + 12, (uint32_t)trace->trace);
  Put16(head + 28, 1); /* live */
  Put16(head + SCALAR_ELEVATION, scalar > 1 ? -scalar : 1);
  Put16(head + SCALAR_COORDINATE, scalar > 1 ? -scalar : 1);
  Put16(head + 88, 1); /* lengths */
  for (int d = 0; d < 3; d++) {
    const PetscReal source = trace->source[d] * (PetscReal)scalar, receiver = trace->receiver[d] * (PetscReal)scalar * (d == 2 ? -1 : 1);
    const uint32_t  s = (uint32_t)(int32_t)PetscFloorReal(source + (PetscReal).5), r = (uint32_t)(int32_t)PetscFloorReal(receiver + (PetscReal).5);

    PetscCheck(PetscAbsReal(source) < (PetscReal)2147483647 && PetscAbsReal(receiver) < (PetscReal)2147483647, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s: a coordinate of trace %" PetscInt64_FMT " is larger than was announced", segy->path, segy->at);
    Put32(head + (d == 2 ? SOURCE_DEPTH : SOURCE_X + 4 * d), s);
    Put32(head + (d == 2 ? RECEIVER_HEIGHT : RECEIVER_X + 4 * d), r);
    if (d < 2) Put32(head + MIDDLE_X + 4 * d, r);
  }
  Put32(head + INLINE, (uint32_t)trace->line);
  Put32(head + CROSSLINE, (uint32_t)trace->crossline);
  Put16(head + 114, (int)segy->samples);
  Put16(head + 116, Millionths(segy));
  for (PetscInt k = 0; k < segy->samples && bad < 0; k++) {
    if (!Encode(segy->format, value[k], head + HEAD + 4 * k)) bad = k;
  }
  if (bad >= 0) PetscCall(PetscFree(head));
  PetscCheck(bad < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: sample %" PetscInt_FMT " of trace %" PetscInt64_FMT " is %g, for which the format has no room", segy->path, bad, segy->at,
             (double)value[PetscMax(bad, 0)]);
  PetscCheck(fwrite(head, 1, bytes, segy->file) == bytes, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "%s cannot be written: is the disk full?", segy->path);
  PetscCall(PetscFree(head));
  segy->at++;
  segy->traces++;
  PetscFunctionReturn(PETSC_SUCCESS);
}
