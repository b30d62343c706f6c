/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Fields on regular grids as pictures. picture.h says how to use this file. */

#include "picture.h"
#include <petsc/private/drawimpl.h>
#include <stdint.h>

#define LEFT     52 /* pixels round a field, for the texts */
#define RIGHT    86
#define TOP      38
#define BOTTOM   34
#define SCALE    14 /* width of the scale of colours */
#define LEAST    60 /* pixels of a field at least */
#define MAXTICKS 16
#define COLOURS  (256 - PETSC_DRAW_BASIC_COLORS)

/* The place of a panel's field, in pixels from the upper left corner, and the meaning of its colours */
typedef struct {
  Picture            *picture;
  const PicturePanel *panel;
  int                 x0, y0, w, h;
  PetscReal           range[2];
} Frame;

/* ------------------------------------------------------------ pixels, lines and texts */

static PetscErrorCode Line(Picture *p, int xa, int ya, int xb, int yb, int colour)
{
  PetscFunctionBegin;
  PetscCall(PetscDrawLine(p->draw, xa, p->height - 1 - ya, xb, p->height - 1 - yb, colour));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aligned to the left of x (1), the middle (0) or the right of x (-1); y is the middle of the line */
static PetscErrorCode Write(Picture *p, int x, int y, int alignment, int colour, const char text[])
{
  PetscReal w, h;
  size_t    n;

  PetscFunctionBegin;
  PetscCall(PetscStrlen(text, &n));
  PetscCall(PetscDrawStringGetSize(p->draw, &w, &h));
  if (alignment <= 0) x -= (int)((PetscReal)n * w * (alignment ? 1 : (PetscReal).5));
  PetscCall(PetscDrawString(p->draw, x, p->height - 1 - y - (PetscReal).4 * h, colour, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Box(Picture *p, int x0, int y0, int w, int h)
{
  PetscFunctionBegin;
  PetscCall(Line(p, x0 - 1, y0 - 1, x0 + w, y0 - 1, PETSC_DRAW_BLACK));
  PetscCall(Line(p, x0 - 1, y0 + h, x0 + w, y0 + h, PETSC_DRAW_BLACK));
  PetscCall(Line(p, x0 - 1, y0 - 1, x0 - 1, y0 + h, PETSC_DRAW_BLACK));
  PetscCall(Line(p, x0 + w, y0 - 1, x0 + w, y0 + h, PETSC_DRAW_BLACK));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ ticks */

/* At most "most" round numbers between a and b */
static void Ticks(PetscReal a, PetscReal b, int most, int *n, PetscReal tick[])
{
  const PetscReal least = PetscMin(a, b), largest = PetscMax(a, b), rough = (largest - least) / PetscMax(1, most);
  PetscReal       step = rough > 0 ? PetscPowReal(10, PetscFloorReal(PetscLog10Real(rough))) : 1;

  if (step < rough) step *= 2 * step >= rough ? 2 : (5 * step >= rough ? 5 : 10);
  *n = 0;
  for (PetscReal k = PetscCeilReal(least / step - (PetscReal)1.e-6); k * step <= largest + (PetscReal)1.e-6 * step && *n < MAXTICKS; k += 1)
    tick[(*n)++] = k * step + 0; /* no -0 */
}

/* Powers of ten between a and b; round numbers if the interval holds fewer than two powers */
static void LogarithmicTicks(PetscReal a, PetscReal b, int *n, PetscReal tick[])
{
  const int first = (int)PetscCeilReal(PetscLog10Real(a) - (PetscReal)1.e-6), last = (int)PetscFloorReal(PetscLog10Real(b) + (PetscReal)1.e-6);
  const int step = PetscMax(1, (last - first) / 8 + 1);

  if (last - first < 1) {
    Ticks(a, b, 4, n, tick);
    return;
  }
  *n = 0;
  for (int e = first; e <= last && *n < MAXTICKS; e += step) tick[(*n)++] = PetscPowReal(10, (PetscReal)e);
}

/* ------------------------------------------------------------ the parts of a panel */

/* 0 to 1 along the scale */
static PetscReal OnScale(const Frame *f, PetscReal value)
{
  const PetscReal *r = f->range;

  return f->panel->logarithmic ? PetscLogReal(value / r[0]) / PetscLogReal(r[1] / r[0]) : (value - r[0]) / (r[1] - r[0]);
}

static int Colour(PetscReal t)
{
  if (!(t >= 0)) t = 0; /* NaN counts as the lower end */
  return PETSC_DRAW_BASIC_COLORS + (int)(PetscMin(t, 1) * (COLOURS - 1) + (PetscReal).5);
}

static PetscErrorCode SetRange(Frame *f)
{
  const PicturePanel *panel = f->panel;

  PetscFunctionBegin;
  f->range[0] = panel->range[0];
  f->range[1] = panel->range[1];
  if (f->range[0] == f->range[1]) {
    f->range[0] = PETSC_MAX_REAL;
    f->range[1] = -PETSC_MAX_REAL;
    for (PetscInt k = 0; k < panel->nx * panel->ny; k++) {
      f->range[0] = PetscMin(f->range[0], panel->value[k]);
      f->range[1] = PetscMax(f->range[1], panel->value[k]);
    }
  }
  PetscCheck(!panel->logarithmic || f->range[0] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: a logarithmic scale cannot begin at %g: give a range, or another scale", panel->title, (double)f->range[0]);
  if (!(f->range[1] > f->range[0])) f->range[1] = f->range[0] + PetscMax(PetscAbsReal(f->range[0]), 1) * (PetscReal)1.e-3;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawField(const Frame *f)
{
  const PicturePanel *panel = f->panel;

  PetscFunctionBegin;
  for (int y = 0; y < f->h; y++) {
    const PetscInt j = PetscMin(panel->ny - 1, (PetscInt)(((PetscReal)(f->h - 1 - y) + (PetscReal).5) / (PetscReal)f->h * (PetscReal)panel->ny));

    for (int x = 0; x < f->w; x++) {
      const PetscInt i = PetscMin(panel->nx - 1, (PetscInt)(((PetscReal)x + (PetscReal).5) / (PetscReal)f->w * (PetscReal)panel->nx));

      PetscCall(PetscDrawPointPixel(f->picture->draw, f->x0 + x, f->y0 + y, Colour(OnScale(f, panel->value[j * panel->nx + i]))));
    }
  }
  PetscCall(Box(f->picture, f->x0, f->y0, f->w, f->h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawAxes(const Frame *f)
{
  const PicturePanel *panel  = f->panel;
  const int           bottom = f->y0 + f->h;
  PetscReal           tick[MAXTICKS];
  char                text[32];
  int                 n;

  PetscFunctionBegin;
  Ticks(panel->x[0], panel->x[1], PetscMin(MAXTICKS - 2, f->w / 60), &n, tick);
  for (int k = 0; k < n; k++) {
    const int x = f->x0 + (int)((PetscReal)(f->w - 1) * (tick[k] - panel->x[0]) / (panel->x[1] - panel->x[0]));

    PetscCall(Line(f->picture, x, bottom, x, bottom + 4, PETSC_DRAW_BLACK));
    (void)snprintf(text, sizeof(text), "%g", (double)tick[k]);
    PetscCall(Write(f->picture, x, bottom + 11, 0, PETSC_DRAW_BLACK, text));
  }
  Ticks(panel->y[0], panel->y[1], PetscMin(MAXTICKS - 2, f->h / 40), &n, tick);
  for (int k = 0; k < n; k++) {
    const int y = bottom - 1 - (int)((PetscReal)(f->h - 1) * (tick[k] - panel->y[0]) / (panel->y[1] - panel->y[0]));

    PetscCall(Line(f->picture, f->x0 - 5, y, f->x0 - 1, y, PETSC_DRAW_BLACK));
    (void)snprintf(text, sizeof(text), "%g", (double)tick[k]);
    PetscCall(Write(f->picture, f->x0 - 8, y, -1, PETSC_DRAW_BLACK, text));
  }
  PetscCall(Write(f->picture, f->x0 + f->w / 2, f->y0 - 28, 0, PETSC_DRAW_BLACK, panel->title));
  PetscCall(Write(f->picture, f->x0 + f->w / 2, bottom + 24, 0, PETSC_DRAW_BLACK, panel->xlabel));
  PetscCall(Write(f->picture, f->x0 - 8, f->y0 - 12, -1, PETSC_DRAW_BLACK, panel->ylabel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawScale(const Frame *f)
{
  const int x0 = f->x0 + f->w + 16;
  PetscReal tick[MAXTICKS];
  char      text[32];
  int       n;

  PetscFunctionBegin;
  for (int y = 0; y < f->h; y++) {
    for (int x = 0; x < SCALE; x++)
      PetscCall(PetscDrawPointPixel(f->picture->draw, x0 + x, f->y0 + f->h - 1 - y, Colour((PetscReal)y / (PetscReal)PetscMax(1, f->h - 1))));
  }
  PetscCall(Box(f->picture, x0, f->y0, SCALE, f->h));
  if (f->panel->logarithmic) LogarithmicTicks(f->range[0], f->range[1], &n, tick);
  else Ticks(f->range[0], f->range[1], PetscMin(8, f->h / 25), &n, tick);
  for (int k = 0; k < n; k++) {
    const PetscReal t = OnScale(f, tick[k]);
    const int       y = f->y0 + f->h - 1 - (int)((PetscReal)(f->h - 1) * t);

    if (t < (PetscReal)-1.e-6 || t > 1 + (PetscReal)1.e-6) continue;
    PetscCall(Line(f->picture, x0 + SCALE, y, x0 + SCALE + 4, y, PETSC_DRAW_BLACK));
    (void)snprintf(text, sizeof(text), "%g", (double)tick[k]);
    PetscCall(Write(f->picture, x0 + SCALE + 8, y, 1, PETSC_DRAW_BLACK, text));
  }
  PetscCall(Write(f->picture, x0 + SCALE / 2, f->y0 - 12, 0, PETSC_DRAW_BLACK, f->panel->unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines from point to point, with a dot at each */
static PetscErrorCode DrawCurve(const Frame *f)
{
  const PicturePanel *panel   = f->panel;
  int                 last[2] = {0, 0};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < panel->ncurve; k++) {
    const PetscReal tx = (panel->curve[2 * k] - panel->x[0]) / (panel->x[1] - panel->x[0]),
                    ty = (panel->curve[2 * k + 1] - panel->y[0]) / (panel->y[1] - panel->y[0]);
    const int x        = f->x0 + (int)((PetscReal)(f->w - 1) * PetscMin(1, PetscMax(0, tx))),
              y        = f->y0 + f->h - 1 - (int)((PetscReal)(f->h - 1) * PetscMin(1, PetscMax(0, ty)));

    if (k) PetscCall(Line(f->picture, last[0], last[1], x, y, PETSC_DRAW_BLACK));
    for (int dy = -2; dy <= 2; dy++) PetscCall(Line(f->picture, x - 2, y + dy, x + 2, y + dy, PETSC_DRAW_BLACK));
    last[0] = x;
    last[1] = y;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A white disc with a black rim, or a dashed line in black and white, with the name on white next to the mark */
static PetscErrorCode DrawMark(const Frame *f, const PictureMark *mark)
{
  const PicturePanel *panel = f->panel;
  const PetscBool     line  = (PetscBool)(mark->y != mark->y);
  const int           x = f->x0 + (int)((PetscReal)(f->w - 1) * (mark->x - panel->x[0]) / (panel->x[1] - panel->x[0])), radius = 5;
  const int           y = line ? f->y0 : f->y0 + f->h - 1 - (int)((PetscReal)(f->h - 1) * (mark->y - panel->y[0]) / (panel->y[1] - panel->y[0]));
  PetscReal           w, h;
  size_t              n;
  int                 tx, ty;

  PetscFunctionBegin;
  if (line) {
    for (int k = 0; k < f->h; k++) {
      for (int d = 0; d < 2; d++) PetscCall(PetscDrawPointPixel(f->picture->draw, x + d, f->y0 + k, k / 6 % 2 ? PETSC_DRAW_WHITE : PETSC_DRAW_BLACK));
    }
  } else {
    for (int dy = -radius; dy <= radius; dy++) {
      for (int dx = -radius; dx <= radius; dx++) {
        const int d = dx * dx + dy * dy;

        if (d <= radius * radius + 1)
          PetscCall(PetscDrawPointPixel(f->picture->draw, x + dx, y + dy, d > (radius - 2) * (radius - 2) + 1 ? PETSC_DRAW_BLACK : PETSC_DRAW_WHITE));
      }
    }
  }

  /* the name, inside the field */
  PetscCall(PetscStrlen(mark->name, &n));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDrawStringGetSize(f->picture->draw, &w, &h));
  tx = x + radius + 4;
  if (tx + (int)((PetscReal)n * w) + 2 > f->x0 + f->w) tx = x - radius - 4 - (int)((PetscReal)n * w);
  ty = line ? f->y0 + 9 : PetscMin(PetscMax(y, f->y0 + 8), f->y0 + f->h - 8);
  for (int dy = -6; dy <= 6; dy++) {
    for (int dx = -2; dx <= (int)((PetscReal)n * w); dx++) PetscCall(PetscDrawPointPixel(f->picture->draw, tx + dx, ty + dy, PETSC_DRAW_WHITE));
  }
  PetscCall(Write(f->picture, tx, ty, 1, PETSC_DRAW_BLACK, mark->name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a picture */

PetscErrorCode PictureCreate(int width, int height, Picture *picture)
{
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-draw_cmap", &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-draw_cmap", "viridis"));
  picture->width  = width;
  picture->height = height;
  PetscCall(PetscDrawCreate(PETSC_COMM_SELF, NULL, NULL, 0, 0, width, height, &picture->draw));
  PetscCall(PetscDrawSetOptionsPrefix(picture->draw, "picture_"));
  PetscCall(PetscDrawSetType(picture->draw, PETSC_DRAW_IMAGE));
  PetscCall(PetscDrawSetFromOptions(picture->draw));
  if (!set) PetscCall(PetscOptionsClearValue(NULL, "-draw_cmap"));
  PetscCall(PetscDrawSetCoordinates(picture->draw, 0, 0, width - 1, height - 1));
  PetscCall(PetscDrawClear(picture->draw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureDraw(Picture *picture, const int box[4], const PicturePanel *panel)
{
  Frame f = {.picture = picture, .panel = panel, .x0 = box[0] + LEFT, .y0 = box[1] + TOP, .w = box[2] - LEFT - RIGHT, .h = box[3] - TOP - BOTTOM};

  PetscFunctionBegin;
  PetscCheck(f.w >= LEAST && f.h >= LEAST, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%s: a box of %d x %d pixels is too small, at least %d x %d are needed",
             panel->title, box[2], box[3], LEFT + RIGHT + LEAST, TOP + BOTTOM + LEAST);
  if (panel->isotropic) {
    const PetscReal lx = PetscAbsReal(panel->x[1] - panel->x[0]), ly = PetscAbsReal(panel->y[1] - panel->y[0]), pixel = PetscMax(lx / f.w, ly / f.h);
    const int       w = PetscMax(LEAST, PetscMin(f.w, (int)(lx / pixel))), h = PetscMax(LEAST, PetscMin(f.h, (int)(ly / pixel)));

    f.x0 += (f.w - w) / 2;
    f.w = w;
    f.h = h;
  }
  if (panel->value) {
    PetscCall(SetRange(&f));
    PetscCall(DrawField(&f));
    PetscCall(DrawScale(&f));
  } else PetscCall(Box(picture, f.x0, f.y0, f.w, f.h));
  PetscCall(DrawAxes(&f));
  if (panel->ncurve) PetscCall(DrawCurve(&f));
  for (PetscInt k = 0; k < panel->nmarks; k++) PetscCall(DrawMark(&f, &panel->mark[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ PNG, without a library and without compression */

static uint32_t Checksum(uint32_t sum, size_t n, const unsigned char data[])
{
  for (size_t k = 0; k < n; k++) {
    sum ^= data[k];
    for (int b = 0; b < 8; b++) sum = (sum >> 1) ^ ((sum & 1) ? UINT32_C(0xedb88320) : 0);
  }
  return sum;
}

static void BigEndian(uint32_t value, unsigned char byte[4])
{
  for (int b = 0; b < 4; b++) byte[b] = (unsigned char)(value >> (24 - 8 * b));
}

/* Length, name, data, checksum of name and data */
static void WriteChunk(FILE *file, const char name[5], size_t n, const unsigned char data[])
{
  unsigned char number[4];

  BigEndian((uint32_t)n, number);
  fwrite(number, 1, 4, file);
  fwrite(name, 1, 4, file);
  if (n) fwrite(data, 1, n, file);
  BigEndian(~Checksum(Checksum(UINT32_C(0xffffffff), 4, (const unsigned char *)name), n, data), number);
  fwrite(number, 1, 4, file);
}

/* The lines, each after a zero, as blocks of at most 65535 bytes in a zlib stream */
static PetscErrorCode WritePixels(FILE *file, size_t w, size_t h, const unsigned char pixels[])
{
  const size_t   raw = h * (w + 1), blocks = (raw + 65534) / 65535;
  unsigned char *line, *stream, *out;
  uint32_t       a = 1, b = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(raw, &line, raw + 5 * blocks + 6, &stream));
  for (size_t y = 0; y < h; y++) {
    line[y * (w + 1)] = 0;
    PetscCall(PetscArraycpy(line + y * (w + 1) + 1, pixels + y * w, w));
  }
  out    = stream;
  *out++ = 0x78;
  *out++ = 0x01;
  for (size_t k = 0; k < blocks; k++) {
    const size_t n = PetscMin((size_t)65535, raw - k * 65535);

    *out++ = k + 1 == blocks;
    *out++ = (unsigned char)(n & 255);
    *out++ = (unsigned char)(n >> 8);
    *out++ = (unsigned char)(~n & 255);
    *out++ = (unsigned char)(~n >> 8 & 255);
    PetscCall(PetscArraycpy(out, line + k * 65535, n));
    out += n;
  }
  for (size_t k = 0; k < raw; k++) {
    a = (a + line[k]) % 65521;
    b = (b + a) % 65521;
  }
  BigEndian(b << 16 | a, out);
  WriteChunk(file, "IDAT", (size_t)(out + 4 - stream), stream);
  PetscCall(PetscFree2(line, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureGetPixels(Picture *picture, unsigned char palette[256][3], unsigned char **pixels)
{
  unsigned int w, h;

  PetscFunctionBegin;
  *pixels = NULL;
  if (!picture->draw->ops->getimage) PetscFunctionReturn(PETSC_SUCCESS);
  PetscUseTypeMethod(picture->draw, getimage, palette, &w, &h, pixels);
  PetscCheck((int)w == picture->width && (int)h == picture->height, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A picture of %d x %d pixels has %u x %u", picture->width,
             picture->height, w, h);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PictureWrite(Picture *picture, const char path[])
{
  const size_t  w = (size_t)picture->width, h = (size_t)picture->height;
  unsigned char palette[256][3], header[13]   = {0}, *pixels;
  FILE         *file;

  PetscFunctionBegin;
  PetscCall(PictureGetPixels(picture, palette, &pixels));
  if (pixels) {
    file = fopen(path, "wb");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write the picture %s", path);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    BigEndian((uint32_t)w, header);
    BigEndian((uint32_t)h, header + 4);
    header[8] = 8; /* bits of a pixel, which is */
    header[9] = 3; /* a number in the palette */
    WriteChunk(file, "IHDR", sizeof(header), header);
    WriteChunk(file, "PLTE", sizeof(palette), &palette[0][0]);
    PetscCall(WritePixels(file, w, h, pixels));
    WriteChunk(file, "IEND", 0, NULL);
    PetscCheck(!ferror(file) && fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write the picture %s: is the disk full?", path);
    PetscCall(PetscFree(pixels));
  }
  PetscCall(PetscDrawDestroy(&picture->draw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ colours */

static int CompareReals(const void *x, const void *y)
{
  const PetscReal a = *(const PetscReal *)x, b = *(const PetscReal *)y;

  return a < b ? -1 : a > b;
}

PetscErrorCode PictureGetRange(PetscInt n, const PetscReal value[], PetscReal range[2])
{
  PetscReal *sorted;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &sorted));
  for (PetscInt i = 0; i < n; i++) sorted[i] = PetscAbsReal(value[i]);
  qsort(sorted, (size_t)n, sizeof(*sorted), CompareReals);
  range[1] = sorted[PetscMin(n - 1, n - 1 - n / 100)];
  if (!(range[1] > 0)) range[1] = 1;
  range[0] = -range[1];
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}
