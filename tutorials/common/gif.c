/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Animated GIF: the format of 1989 ("GIF89a") with the repetition block which all browsers know. gif.h says how to use
   this file */

#include "gif.h"

#define BITS  8    /* per pixel */
#define CODES 4096 /* a code has 12 bits at most */
#define CLEAR (1 << BITS)
#define END   (CLEAR + 1)
#define SLOTS 8192 /* in the table of strings, a power of two */

static void Put16(FILE *file, int value)
{
  (void)fputc(value & 255, file);
  (void)fputc(value >> 8 & 255, file);
}

PetscErrorCode GifCreate(const char path[], int width, int height, unsigned char palette[256][3], Gif *gif)
{
  PetscFunctionBegin;
  PetscCheck(width > 0 && width < 65536 && height > 0 && height < 65536, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: %d x %d pixels, 1 to 65535 each way",
             path, width, height);
  PetscCall(PetscStrncpy(gif->path, path, sizeof(gif->path)));
  gif->width  = width;
  gif->height = height;
  gif->file   = fopen(path, "wb");
  PetscCheck(gif->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "The movie %s cannot be written", path);
  (void)fwrite("GIF89a", 1, 6, gif->file);
  Put16(gif->file, width);
  Put16(gif->file, height);
  (void)fputc(0xf7, gif->file); /* a palette of 256 colours, 8 bits each */
  Put16(gif->file, 0);
  (void)fwrite(palette, 3, 256, gif->file);
  (void)fwrite("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", 1, 19, gif->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes as a stream of bits, lowest bit first, in blocks of at most 255 bytes. Each block begins with its length */
typedef struct {
  FILE         *file;
  unsigned char block[256];
  unsigned int  bits;
  int           nbits, n;
} Stream;

static void Flush(Stream *s)
{
  if (!s->n) return;
  (void)fputc(s->n, s->file);
  (void)fwrite(s->block, 1, (size_t)s->n, s->file);
  s->n = 0;
}

static void PutCode(Stream *s, int code, int width)
{
  s->bits |= (unsigned int)code << s->nbits;
  s->nbits += width;
  while (s->nbits >= 8) {
    s->block[s->n++] = (unsigned char)(s->bits & 255);
    s->bits >>= 8;
    s->nbits -= 8;
    if (s->n == 255) Flush(s);
  }
}

/* Lempel, Ziv, Welch: a coded string plus a pixel becomes the string of the next code. key: the code and the pixel; 0:
   free */
static void Compress(Stream *s, PetscInt64 n, const unsigned char pixels[], int key[], short code[])
{
  int next = END + 1, width = BITS + 1, string = pixels[0];

  memset(key, 0, SLOTS * sizeof(*key));
  PutCode(s, CLEAR, width);
  for (PetscInt64 i = 1; i < n; i++) {
    const int wanted = (string << BITS | pixels[i]) + 1;
    int       slot   = (int)((unsigned int)wanted * 2654435761u >> 19) & (SLOTS - 1);

    while (key[slot] && key[slot] != wanted) slot = (slot + 1) & (SLOTS - 1);
    if (key[slot]) {
      string = code[slot];
      continue;
    }
    PutCode(s, string, width);
    string = pixels[i];
    if (next == CODES) { /* all are taken: begin again */
      PutCode(s, CLEAR, width);
      memset(key, 0, SLOTS * sizeof(*key));
      next  = END + 1;
      width = BITS + 1;
      continue;
    }
    if (next == 1 << width) width++;
    key[slot]  = wanted;
    code[slot] = (short)next++;
  }
  PutCode(s, string, width);
  if (next == 1 << width && width < 12) width++;
  PutCode(s, END, width);
  PutCode(s, 0, 7); /* the rest of the last byte */
  Flush(s);
}

PetscErrorCode GifAdd(Gif *gif, int hundredths, const unsigned char pixels[])
{
  Stream s = {.file = gif->file};
  int   *key;
  short *code;

  PetscFunctionBegin;
  (void)fwrite("\x21\xf9\x04\x04", 1, 4, gif->file);
  Put16(gif->file, PetscMin(hundredths, 65535));
  Put16(gif->file, 0);
  (void)fputc(0x2c, gif->file);
  Put16(gif->file, 0);
  Put16(gif->file, 0);
  Put16(gif->file, gif->width);
  Put16(gif->file, gif->height);
  (void)fputc(0, gif->file);
  (void)fputc(BITS, gif->file);
  PetscCall(PetscMalloc2(SLOTS, &key, SLOTS, &code));
  Compress(&s, (PetscInt64)gif->width * gif->height, pixels, key, code);
  PetscCall(PetscFree2(key, code));
  (void)fputc(0, gif->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GifClose(Gif *gif)
{
  PetscFunctionBegin;
  (void)fputc(0x3b, gif->file);
  PetscCheck(!ferror(gif->file) && fclose(gif->file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The movie %s cannot be written: is the disk full?",
             gif->path);
  gif->file = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
