/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Permeabilities from files, cells of x fastest, then y, then z. Each file may be compressed by gzip or xz. The formats are:

     archive  : A tar file of a CSV file per layer, kx,ky,kz per line.
     keywords : PERMX, PERMY and PERMZ of a reservoir simulator's input, with COPY and MULTIPLY.
     numbers  : First kx of all cells, then ky, then kz, as spe_perm.dat of the tenth SPE comparative solution project.

   Reference:

     M. A. Christie and M. J. Blunt, Tenth SPE comparative solution project: a comparison of upscaling techniques, 2001.
*/

#include "permeability.h"
#include "textfile.h"
#include <ctype.h>

/* Numbers of one direction in the order of the file */
typedef struct {
  PetscInt   n;
  PetscInt64 room;
  double    *value;
} List;

static PetscErrorCode ListAdd(List *list, double value, PetscInt times)
{
  PetscFunctionBegin;
  PetscCheck(times <= PETSC_INT_MAX - list->n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More cells than fit into PetscInt: use a PETSc with 64-bit indices");
  if (list->n + times > list->room) {
    list->room = PetscMax(65536, 2 * (PetscInt64)(list->n + times));
    PetscCall(PetscRealloc(sizeof(double) * (size_t)list->room, &list->value));
  }
  for (PetscInt k = 0; k < times; k++) list->value[list->n++] = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A word as a permeability */
static PetscErrorCode ToPermeability(TextFile *f, const char word[], PetscInt cells, double *value)
{
  PetscFunctionBegin;
  PetscCall(TextFileToReal(f, word, "a permeability", value));
  TextFileCheck(f, *value > 0, "after %" PetscInt_FMT " cells: '%.60s' is no positive permeability", cells, word);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ archive */

/* One layer: three permeabilities per line */
static PetscErrorCode ReadLayer(const char name[], char text[], size_t length, List list[3])
{
  TextFile  f;
  PetscBool more;

  PetscFunctionBegin;
  PetscCall(TextFileOpenMemory(name, text, length, 0, ",", &f));
  for (;;) {
    PetscCall(TextFileLine(&f, 0, -1, NULL, &more));
    if (!more) break;
    for (int d = 0; d < 3; d++) {
      double v;

      TextFileWord(&f);
      if (d) {
        TextFileCheck(&f, f.word[0] == ',', "expected three numbers 'kx,ky,kz' and commas, not '%.60s'", f.word);
        TextFileWord(&f);
      }
      PetscCall(ToPermeability(&f, f.word, list[d].n, &v));
      PetscCall(ListAdd(&list[d], v, 1));
    }
    PetscCall(TextFileLineEnd(&f, "a line is 'kx,ky,kz'"));
  }
  PetscCall(TextFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An octal number of a tar header, which ends with a blank or a zero */
static PetscErrorCode ReadOctal(const char path[], const char field[], int width, size_t *value)
{
  int k = 0;

  PetscFunctionBegin;
  *value = 0;
  while (k < width - 1 && field[k] == ' ') k++;
  for (; k < width && field[k] >= '0' && field[k] <= '7'; k++) *value = 8 * *value + (size_t)(field[k] - '0');
  PetscCheck(k == width || field[k] == ' ' || !field[k], PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is a tar archive with a header that is none", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between two files of a tar archive, and at its end, all bytes are 0 */
static PetscErrorCode CheckZeros(const char path[], const char text[], size_t begin, size_t end)
{
  PetscFunctionBegin;
  while (begin < end && !text[begin]) begin++;
  PetscCheck(begin == end, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is a damaged tar archive: byte %zu is not 0, as it is between files", path, begin);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Layers in the order of the archive */
static PetscErrorCode ReadArchive(const char path[], char text[], size_t length, List list[3], PetscInt *layers)
{
  size_t at = 0;

  PetscFunctionBegin;
  *layers = 0;
  while (length - at >= 512 && text[at]) {
    const char *header = text + at;
    size_t      size, padded, sum, found = 0;
    char        name[PETSC_MAX_PATH_LEN];

    for (size_t k = 0; k < 512; k++) found += k >= 148 && k < 156 ? ' ' : (unsigned char)header[k];
    PetscCall(ReadOctal(path, header + 124, 12, &size));
    PetscCall(ReadOctal(path, header + 148, 8, &sum));
    PetscCheck(!strncmp(header + 257, "ustar", 5) && sum == found, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is a damaged tar archive", path);
    padded = (size + 511) / 512 * 512;
    at += 512;
    PetscCheck(padded <= length - at, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s ends too early", path);
    PetscCall(CheckZeros(path, text, at + size, at + padded));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%.900s(%.100s)", path, header));
    if ((header[156] == '0' || header[156] == 0) && strstr(name, ".csv)")) {
      const PetscInt before = list[0].n;

      PetscCall(ReadLayer(name, text + at, size, list));
      PetscCheck((PetscInt64)list[0].n == (PetscInt64)(list[0].n - before) * (*layers + 1), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
                 "%s: the layer has another number of cells than the first", name);
      (*layers)++;
    }
    at += padded;
  }
  PetscCheck(length - at >= 512, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s ends too early: the block of zeros at the end of a tar archive is missing", path);
  PetscCall(CheckZeros(path, text, at, length));
  PetscCheck(*layers, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds no .csv file with permeabilities", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ keywords and numbers */

/* The next word of the file, empty at the end. Comments run from -- to the end of the line */
static PetscErrorCode NextWord(TextFile *f)
{
  PetscBool more = PETSC_TRUE;

  PetscFunctionBegin;
  while (more) {
    if (f->number) {
      TextFileWord(f);
      if (f->word[0] && (f->word[0] != '-' || f->word[1] != '-')) break;
    }
    PetscCall(TextFileLine(f, 0, -1, NULL, &more));
    f->word[0] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* "value" or "times*value" */
static PetscErrorCode ReadNumber(TextFile *f, List *list)
{
  char      *star  = strchr(f->word, '*');
  PetscInt64 times = 1;
  double     value;

  PetscFunctionBegin;
  if (star) *star = 0;
  if (star) PetscCall(TextFileToInteger(f, f->word, "a number of cells", 1, TEXTFILE_ROWS_MAX, &times));
  PetscCall(ToPermeability(f, star ? star + 1 : f->word, list->n, &value));
  PetscCall(ListAdd(list, value, (PetscInt)times));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 0, 1, 2 for PERMX, PERMY, PERMZ, also in single quotes, else -1 */
static int Direction(const char word[])
{
  const int   quote = word[0] == '\'';
  const char *name  = word + quote;

  return !strncmp(name, "PERM", 4) && name[4] >= 'X' && name[4] <= 'Z' && !strcmp(name + 5, quote ? "'" : "") ? name[4] - 'X' : -1;
}

/* The word after this one must be a slash. Boxes are not known here */
static PetscErrorCode ReadSlash(TextFile *f)
{
  PetscFunctionBegin;
  PetscCall(NextWord(f));
  TextFileCheck(f, f->word[0] == '/',
                "expected '/' after two words of COPY or MULTIPLY, not '%.60s'; boxes of cells are not read, and a comment begins with --", f->word);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arguments of COPY or MULTIPLY: lines of two words, each ended by a slash, and one more slash */
static PetscErrorCode ReadChanges(TextFile *f, PetscBool copy, List list[3])
{
  PetscFunctionBegin;
  for (;;) {
    int from, to;

    PetscCall(NextWord(f));
    if (f->word[0] == '/') break;
    TextFileCheck(f, f->word[0], "expected '/' after %s, not the end of the file", copy ? "COPY" : "MULTIPLY");
    from = Direction(f->word);
    PetscCall(NextWord(f));
    to = Direction(f->word);
    if (from >= 0 && copy && to >= 0) {
      list[to].n = from == to ? list[to].n : 0;
      for (PetscInt k = 0; k < list[from].n && from != to; k++) PetscCall(ListAdd(&list[to], list[from].value[k], 1));
    } else if (from >= 0 && !copy) {
      double factor;

      PetscCall(TextFileToReal(f, f->word, "a factor", &factor));
      TextFileCheck(f, factor > 0, "the factor '%.60s' of MULTIPLY is not positive", f->word);
      for (PetscInt k = 0; k < list[from].n; k++) {
        list[from].value[k] *= factor;
        TextFileCheck(f, list[from].value[k] > 0 && list[from].value[k] <= (double)PETSC_MAX_REAL, "the factor '%.60s' makes a permeability of %g", f->word,
                      list[from].value[k]);
      }
    }
    PetscCall(ReadSlash(f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadKeywords(TextFile *f, List list[3])
{
  PetscFunctionBegin;
  for (;;) {
    int d;

    PetscCall(NextWord(f));
    if (!f->word[0]) break;
    d = Direction(f->word);
    if (d >= 0) {
      list[d].n = 0;
      for (;;) {
        PetscCall(NextWord(f));
        TextFileCheck(f, f->word[0], "expected '/' after %" PetscInt_FMT " cells of PERM%c, not the end of the file; the file may be cut off", list[d].n,
                      'X' + d);
        if (f->word[0] == '/') break;
        PetscCall(ReadNumber(f, &list[d]));
      }
    } else if (!strcmp(f->word, "COPY") || !strcmp(f->word, "MULTIPLY")) PetscCall(ReadChanges(f, (PetscBool)(f->word[0] == 'C'), list));
  }
  PetscCheck(list[0].n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: neither a tar archive, nor numbers, nor a file with a keyword PERMX", f->path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadNumbers(TextFile *f, List list[3])
{
  PetscInt n;

  PetscFunctionBegin;
  for (;;) {
    PetscCall(NextWord(f));
    if (!f->word[0]) break;
    PetscCall(ReadNumber(f, &list[0]));
  }
  PetscCheck(list[0].n % 3 == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds %" PetscInt_FMT " numbers, which is not three times a number of cells",
             f->path, list[0].n);
  n = list[0].n / 3;
  for (int d = 1; d < 3; d++) {
    for (PetscInt k = 0; k < n; k++) PetscCall(ListAdd(&list[d], list[0].value[d * n + k], 1));
  }
  list[0].n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ any of them */

PetscErrorCode PermeabilityRead(Permeability *perm, const char path[])
{
  const Problem *problem = perm->problem;
  List           list[3] = {{0}};
  TextFile       f;
  PetscInt       layers = 0;
  char          *memory = NULL;
  size_t         length = 0;
  PetscBool      there;

  PetscFunctionBegin;
  PetscCheck(path[0], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "A permeability file is needed: give -permeability FILE");
  PetscCall(PetscTestFile(path, 'r', &there));
  PetscCheck(there, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open the permeability file %s", path);
  PetscCall(TextFileOpen(path, 0, NULL, &f));
  PetscCall(TextFileReadAll(&f, &memory, &length));
  PetscCall(TextFileClose(&f));
  if (length >= 512 && !strncmp(memory + 257, "ustar", 5)) PetscCall(ReadArchive(path, memory, length, list, &layers));
  else {
    PetscCall(TextFileOpenMemory(path, memory, length, 0, NULL, &f));
    PetscCall(NextWord(&f));
    f.at = f.line; /* this word again */
    if (isalpha((unsigned char)f.word[0])) {
      f.separators = "/";
      PetscCall(ReadKeywords(&f, list));
    } else PetscCall(ReadNumbers(&f, list));
    PetscCall(TextFileClose(&f));
  }
  PetscCall(PetscFree(memory));

  /* A direction without a keyword has the values of x */
  for (int d = 1; d < 3; d++) {
    if (!list[d].n) {
      for (PetscInt k = 0; k < list[0].n; k++) PetscCall(ListAdd(&list[d], list[0].value[k], 1));
    }
    PetscCheck(list[d].n == list[0].n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: %" PetscInt_FMT " permeabilities in direction %c, but %" PetscInt_FMT " in x", path, list[d].n, 'x' + d, list[0].n);
  }
  perm->cx = problem->nx;
  perm->cy = layers ? list[0].n / layers / perm->cx : problem->ny;
  perm->cz = layers ? layers : list[0].n / perm->cx / perm->cy;
  PetscCheck(list[0].n && (PetscInt64)perm->cx * perm->cy * perm->cz == (PetscInt64)list[0].n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: %" PetscInt_FMT " cells do not divide into layers of -nx %" PetscInt_FMT " times -ny %" PetscInt_FMT, path, list[0].n, perm->cx,
             layers ? perm->cy : problem->ny);
  for (int d = 0; d < 3; d++) {
    for (PetscInt k = 0; k < list[d].n; k++) list[d].value[k] = log(list[d].value[k]);
    perm->log[d] = list[d].value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
