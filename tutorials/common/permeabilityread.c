/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Permeabilities from files, cells of x fastest, then y, then z. Each file may be compressed by xz. The formats are:

     archive  : A tar file of a CSV file per layer, kx,ky,kz per line.
     keywords : PERMX, PERMY and PERMZ of a reservoir simulator's input, with COPY and MULTIPLY.
     numbers  : First kx of all cells, then ky, then kz, as spe_perm.dat of the tenth SPE comparative solution project.

   Reference:

     M. A. Christie and M. J. Blunt, Tenth SPE comparative solution project: a comparison of upscaling techniques, 2001.
*/

#define _POSIX_C_SOURCE 200809L /* popen() */
#include "permeability.h"
#include <ctype.h>

/* Numbers of one direction in the order of the file */
typedef struct {
  PetscInt n, room;
  double  *value;
} List;

/* The text of a file, read from beginning to end */
typedef struct {
  const char *path, *at, *end;
} Text;

static PetscErrorCode ListAdd(List *list, double value, PetscInt times)
{
  PetscFunctionBegin;
  while (list->n + times > list->room) {
    list->room = list->room ? 2 * list->room : 65536;
    PetscCall(PetscRealloc(sizeof(double) * (size_t)list->room, &list->value));
  }
  for (PetscInt k = 0; k < times; k++) list->value[list->n++] = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A whole file, terminated by a zero */
static PetscErrorCode ReadFile(const char path[], char **text, size_t *length)
{
  PetscBool compressed;
  FILE     *file;
  size_t    room = 1 << 20;

  PetscFunctionBegin;
  PetscCall(PetscStrendswith(path, ".xz", &compressed));
  if (compressed) {
    char command[PETSC_MAX_PATH_LEN + 32];

    PetscCheck(!strchr(path, '\''), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: a quote in the name of a compressed file", path);
    PetscCall(PetscTestFile(path, 'r', &compressed));
    PetscCheck(compressed, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open the permeability file %s", path);
    PetscCall(PetscSNPrintf(command, sizeof(command), "xz -dc '%s'", path));
    file = popen(command, "r");
  } else file = fopen(path, "r");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open the permeability file %s", path);
  *length = 0;
  *text   = NULL;
  do {
    room *= 2;
    PetscCall(PetscRealloc(room, text));
    *length += fread(*text + *length, 1, room - *length - 1, file);
  } while (*length == room - 1);
  (*text)[*length] = 0;
  PetscCheck((compressed ? pclose(file) : fclose(file)) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s could not be read", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ archive */

/* One layer: three permeabilities per line */
static PetscErrorCode ReadLayer(const char text[], size_t length, const char name[], List list[3])
{
  const char *p = text, *end = text + length;

  PetscFunctionBegin;
  for (;;) {
    while (p < end && isspace((unsigned char)*p)) p++;
    if (p >= end) break;
    for (int d = 0; d < 3; d++) {
      char        *q;
      const double v = strtod(p, &q);

      PetscCheck(q != p && q <= end && v > 0., PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
                 "%s: cell %" PetscInt_FMT " of the file: expected three positive numbers kx,ky,kz", name, list[0].n);
      PetscCall(ListAdd(&list[d], v, 1));
      for (p = q; p < end && (*p == ',' || *p == ' ');) p++;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Layers in the order of the names in the archive */
static PetscErrorCode ReadArchive(Text *text, List list[3], PetscInt *layers)
{
  PetscFunctionBegin;
  *layers = 0;
  for (; text->end - text->at >= 512 && text->at[0]; text->at += 512) {
    const char  *header = text->at;
    const size_t size = (size_t)strtoull(header + 124, NULL, 8), padded = (size + 511) / 512 * 512;
    char         name[101];

    PetscCheck(!strncmp(header + 257, "ustar", 5), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is not a tar archive", text->path);
    PetscCheck(padded <= (size_t)(text->end - header - 512), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s ends too early", text->path);
    memcpy(name, header, 100);
    name[100] = 0;
    if ((header[156] == '0' || header[156] == 0) && strstr(name, ".csv")) {
      const PetscInt before = list[0].n;

      PetscCall(ReadLayer(header + 512, size, name, list));
      PetscCheck((PetscInt64)list[0].n == (PetscInt64)(list[0].n - before) * (*layers + 1), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
                 "%s: layer %s has another number of cells than the first", text->path, name);
      (*layers)++;
    }
    text->at += padded;
  }
  PetscCheck(*layers, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds no .csv file with permeabilities", text->path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ keywords and numbers */

/* The next word, empty at the end of the file. Comments run from -- to the end of the line */
static void NextWord(Text *text, size_t size, char word[])
{
  size_t n = 0;

  for (;;) {
    while (text->at < text->end && isspace((unsigned char)*text->at)) text->at++;
    if (text->end - text->at < 2 || text->at[0] != '-' || text->at[1] != '-') break;
    while (text->at < text->end && *text->at != '\n') text->at++;
  }
  while (text->at < text->end && !isspace((unsigned char)*text->at) && (*text->at != '/' || !n) && n + 1 < size) {
    word[n++] = *text->at++;
    if (word[0] == '/') break;
  }
  word[n] = 0;
}

/* "value" or "times*value" */
static PetscErrorCode ReadNumber(const Text *text, const char word[], List *list)
{
  const char *star  = strchr(word, '*');
  const long  times = star ? strtol(word, NULL, 10) : 1;
  char       *end;
  double      value;

  PetscFunctionBegin;
  value = strtod(star ? star + 1 : word, &end);
  PetscCheck(!*end && value > 0. && times > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s: after %" PetscInt_FMT " cells: '%s' is no positive permeability", text->path, list->n, word);
  PetscCall(ListAdd(list, value, (PetscInt)times));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 0, 1, 2 for PERMX, PERMY, PERMZ, else -1 */
static int Direction(const char word[])
{
  return !strncmp(word, "PERM", 4) && word[4] >= 'X' && word[4] <= 'Z' && !word[5] ? word[4] - 'X' : -1;
}

/* The arguments of COPY or MULTIPLY: lines of two words, each ended by a slash, and one more slash */
static PetscErrorCode ReadChanges(Text *text, PetscBool copy, List list[3])
{
  char word[64], what[64];

  PetscFunctionBegin;
  for (NextWord(text, sizeof(word), word); word[0] && word[0] != '/'; NextWord(text, sizeof(word), word)) {
    const int from = Direction(word);

    NextWord(text, sizeof(what), what);
    if (from >= 0 && copy && Direction(what) >= 0) {
      List *to = &list[Direction(what)];

      to->n = 0;
      for (PetscInt k = 0; k < list[from].n; k++) PetscCall(ListAdd(to, list[from].value[k], 1));
    } else if (from >= 0 && !copy) {
      const double factor = strtod(what, NULL);

      PetscCheck(factor > 0., PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: MULTIPLY %s %s: the factor is not positive", text->path, word, what);
      for (PetscInt k = 0; k < list[from].n; k++) list[from].value[k] *= factor;
    }
    while (what[0] && what[0] != '/') NextWord(text, sizeof(what), what); /* boxes are not known here */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadKeywords(Text *text, List list[3])
{
  char word[64];

  PetscFunctionBegin;
  for (NextWord(text, sizeof(word), word); word[0]; NextWord(text, sizeof(word), word)) {
    const int d = Direction(word);

    if (d >= 0) {
      list[d].n = 0;
      for (NextWord(text, sizeof(word), word); word[0] && word[0] != '/'; NextWord(text, sizeof(word), word)) PetscCall(ReadNumber(text, word, &list[d]));
    } else if (!strcmp(word, "COPY") || !strcmp(word, "MULTIPLY")) PetscCall(ReadChanges(text, (PetscBool)(word[0] == 'C'), list));
  }
  PetscCheck(list[0].n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: neither a tar archive, nor numbers, nor a file with a keyword PERMX", text->path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadNumbers(Text *text, List list[3])
{
  char     word[64];
  PetscInt n;

  PetscFunctionBegin;
  for (NextWord(text, sizeof(word), word); word[0]; NextWord(text, sizeof(word), word)) PetscCall(ReadNumber(text, word, &list[0]));
  PetscCheck(list[0].n % 3 == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds %" PetscInt_FMT " numbers, which is not three times a number of cells",
             text->path, list[0].n);
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
  Text           text    = {.path = path};
  PetscInt       layers  = 0;
  char          *memory  = NULL, word[64];
  size_t         length  = 0;

  PetscFunctionBegin;
  PetscCheck(path[0], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "A permeability file is needed: give -permeability FILE");
  PetscCall(ReadFile(path, &memory, &length));
  text.at  = memory;
  text.end = memory + length;
  if (length >= 512 && !strncmp(memory + 257, "ustar", 5)) PetscCall(ReadArchive(&text, list, &layers));
  else {
    NextWord(&text, sizeof(word), word);
    text.at = memory;
    if (isalpha((unsigned char)word[0])) PetscCall(ReadKeywords(&text, list));
    else PetscCall(ReadNumbers(&text, list));
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
