/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Text files, word by word: textfile.h */

#define _POSIX_C_SOURCE 200809L /* popen(), getline(), fmemopen() */
#include "textfile.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>

#define DIGITS "0123456789"

/* ------------------------------------------------------------ files */

static PetscErrorCode Start(const char path[], char comment, const char separators[], TextFile *f)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  PetscCall(PetscStrncpy(f->path, path, sizeof(f->path)));
  f->comment    = comment;
  f->separators = separators;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TextFileOpen(const char path[], char comment, const char separators[], TextFile *f)
{
  PetscBool gz, xz;

  PetscFunctionBegin;
  PetscCall(Start(path, comment, separators, f));
  PetscCall(PetscStrendswith(path, ".gz", &gz));
  PetscCall(PetscStrendswith(path, ".xz", &xz));
  f->file = fopen(path, "r");
  PetscCheck(f->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s: %s", path, strerror(errno));
  if (gz || xz) {
    char command[PETSC_MAX_PATH_LEN + 32];

    (void)fclose(f->file);
    f->file    = NULL;
    f->program = gz ? "gzip" : "xz";
    PetscCheck(!strchr(path, '\''), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: the name of a compressed file must not hold a quote", path);
    PetscCall(PetscSNPrintf(command, sizeof(command), "%s -dc -- '%s'", f->program, path));
    f->file = popen(command, "r");
    PetscCheck(f->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot run %s to read %s", f->program, path);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TextFileOpenMemory(const char name[], char text[], size_t length, char comment, const char separators[], TextFile *f)
{
  PetscFunctionBegin;
  PetscCall(Start(name, comment, separators, f));
  /* an empty file has no memory to open */
  f->file = fmemopen(length ? text : (char *)"\n", length ? length : 1, "r");
  PetscCheck(f->file, PETSC_COMM_SELF, PETSC_ERR_MEM, "Cannot read the text of %s: %s", name, strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After the last byte. A decompressor tells only now whether its file is whole */
static PetscErrorCode Finish(TextFile *f)
{
  const int error = ferror(f->file), status = f->program ? pclose(f->file) : fclose(f->file);

  PetscFunctionBegin;
  f->file = NULL;
  PetscCheck(!error, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s could not be read to the end: is it a file?", f->path);
  PetscCheck(!status || !f->program, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s could not be read to the end by %s: is the file complete, and is %s installed?",
             f->path, f->program, f->program);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TextFileReadAll(TextFile *f, char **text, size_t *length)
{
  size_t room = 1 << 20;

  PetscFunctionBegin;
  *length = 0;
  *text   = NULL;
  do {
    room *= 2;
    PetscCall(PetscRealloc(room, text));
    *length += fread(*text + *length, 1, room - *length, f->file);
  } while (*length == room);
  PetscCall(Finish(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TextFileClose(TextFile *f)
{
  PetscFunctionBegin;
  if (f->file) (void)(f->program ? pclose(f->file) : fclose(f->file));
  free(f->line);
  free(f->word);
  f->file = NULL;
  f->line = f->word = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ lines and words */

static PetscBool IsSpace(char c)
{
  return (PetscBool)(isspace((unsigned char)c) != 0);
}

static void Show(char text[])
{
  for (; text && *text; text++) {
    if (iscntrl((unsigned char)*text)) *text = IsSpace(*text) ? ' ' : '?';
  }
}

const char *TextFileShow(TextFile *f)
{
  const char *line = f->line ? f->line : "";

  Show(f->line);
  Show(f->word);
  return line + strspn(line, " ");
}

PetscErrorCode TextFileLine(TextFile *f, PetscInt64 found, PetscInt64 announced, const char entries[], PetscBool *more)
{
  PetscFunctionBegin;
  *more = PETSC_FALSE;
  while (f->file && !*more) {
    ssize_t n = getline(&f->line, &f->room, f->file);

    if (n < 0) {
      if (!f->number && f->line) f->line[0] = 0; /* an empty file has no line */
      PetscCall(Finish(f));
      break;
    }
    f->number++;
    TextFileCheck(f, strlen(f->line) == (size_t)n, "expected text, not a byte of value 0; %s may be binary, or compressed without .gz or .xz", f->path);
    while (n > 0 && IsSpace(f->line[n - 1])) f->line[--n] = 0;
    for (f->at = f->line; IsSpace(*f->at);) f->at++;
    *more = (PetscBool)(*f->at && (!f->comment || *f->at != f->comment));
  }
  if (f->line && f->wordroom < f->room) {
    char *word = (char *)realloc(f->word, f->room);

    PetscCheck(word, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s, line %" PetscInt64_FMT ": no memory for %zu bytes", f->path, f->number, f->room);
    f->word     = word;
    f->wordroom = f->room;
    f->word[0]  = 0;
  }
  if (!*more) f->at = "";
  PetscCheck(f->line, PETSC_COMM_SELF, PETSC_ERR_MEM, "%s, line %" PetscInt64_FMT ": no memory for the line", f->path, f->number + 1);
  if (announced < 0) PetscFunctionReturn(PETSC_SUCCESS);
  TextFileCheck(f, *more || found == announced, "expected %" PetscInt64_FMT " %s, not the end of the file after %" PetscInt64_FMT "; the file may be cut off",
                announced, entries, found);
  TextFileCheck(f, !*more || found < announced, "expected the end of the file after %" PetscInt64_FMT " %s, the announced number, not another line", announced,
                entries);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void TextFileWord(TextFile *f)
{
  const char *p = f->at, *separators = f->separators ? f->separators : "";
  char       *word = f->word;

  while (IsSpace(*p)) p++;
  if (*p == '"') {
    do *word++ = *p++;
    while (*p && *p != '"');
    if (*p) *word++ = *p++;
  } else if (*p && strchr(separators, *p)) *word++ = *p++;
  else {
    while (*p && !IsSpace(*p) && !strchr(separators, *p)) *word++ = *p++;
  }
  *word = 0;
  f->at = p;
}

PetscInt TextFileWordsLeft(TextFile *f)
{
  const char *at = f->at;
  PetscInt    n  = 0;

  for (TextFileWord(f); f->word[0]; TextFileWord(f)) n++;
  f->at = at;
  return n;
}

PetscErrorCode TextFileLineEnd(TextFile *f, const char form[])
{
  PetscFunctionBegin;
  TextFileWord(f);
  TextFileCheck(f, !f->word[0], "expected the end of the line, not '%.60s'; %s", f->word, form);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ numbers */

PetscErrorCode TextFileToInteger(TextFile *f, const char word[], const char what[], PetscInt64 least, PetscInt64 most, PetscInt64 *value)
{
  const char *digits = word + (*word == '+' || *word == '-');
  PetscBool   whole  = (PetscBool)(*digits && strspn(digits, DIGITS) == strlen(digits));

  PetscFunctionBegin;
  errno  = 0;
  *value = whole ? (PetscInt64)strtoll(word, NULL, 10) : 0;
  TextFileCheck(f, whole && !errno && *value >= least && *value <= most, "expected %s from %" PetscInt64_FMT " to %" PetscInt64_FMT ", not '%.60s'", what,
                least, most, word);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a decimal number, or NULL */
static const char *SkipDecimal(const char *p)
{
  size_t before, after = 0;

  p += *p == '+' || *p == '-';
  before = strspn(p, DIGITS);
  p += before;
  if (*p == '.') {
    after = strspn(p + 1, DIGITS);
    p += 1 + after;
  }
  if (!before && !after) return NULL;
  if (*p == 'e' || *p == 'E') {
    p++;
    p += *p == '+' || *p == '-';
    if (!strspn(p, DIGITS)) return NULL;
    p += strspn(p, DIGITS);
  }
  return p;
}

PetscErrorCode TextFileToReal(TextFile *f, const char word[], const char what[], double *value)
{
  const double most = PetscMin((double)PETSC_MAX_REAL, DBL_MAX);
  const char  *end = SkipDecimal(word), *top = end;
  double       bottom = 1;
  char        *stop = NULL, *stop2 = NULL;

  PetscFunctionBegin;
  if (top && *top == '/') end = SkipDecimal(top + 1);
  TextFileCheck(f, end && !*end, "expected %s, not '%.60s'; write %s", what, word,
                strchr(word, ',') ? "a decimal point, not a comma" : "a number as 0.5, 1e-3 or 1/3");
  *value = strtod(word, &stop);
  if (end != top) bottom = strtod(top + 1, &stop2);
  PetscCheck(stop == top && (end == top || stop2 == end), PETSC_COMM_SELF, PETSC_ERR_LIB, "The locale of the program has no decimal point: LC_ALL=C helps");
  TextFileCheck(f, bottom != 0, "expected %s, not '%.60s', a division by zero", what, word);
  TextFileCheck(f, PetscAbs(*value) <= DBL_MAX && PetscAbs(bottom) <= DBL_MAX && PetscAbs(*value / bottom) <= most,
                "expected %s, not '%.60s'; the largest number is %g", what, word, most);
  *value /= bottom;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next word, which must exist */
static PetscErrorCode Need(TextFile *f, const char what[])
{
  PetscFunctionBegin;
  TextFileWord(f);
  TextFileCheck(f, f->word[0], "expected %s, not the end of the line; the line may be cut off", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TextFileInteger(TextFile *f, const char what[], PetscInt64 least, PetscInt64 most, PetscInt64 *value)
{
  PetscFunctionBegin;
  PetscCall(Need(f, what));
  PetscCall(TextFileToInteger(f, f->word, what, least, most, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TextFileReal(TextFile *f, const char what[], double *value)
{
  PetscFunctionBegin;
  PetscCall(Need(f, what));
  PetscCall(TextFileToReal(f, f->word, what, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
