/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Text files, line by line and word by word, on one process. A number is a whole word. Otherwise the error names the file, the line and the word.

   A file whose name ends with .gz or .xz is read through gzip or xz.
*/

#include <petscsys.h>

/* For numbers of rows: arrays of all rows have a size in bytes */
#define TEXTFILE_ROWS_MAX PetscMin(PETSC_INT_MAX - 1, PETSC_INT64_MAX / 32)

typedef struct {
  char        path[PETSC_MAX_PATH_LEN]; /* or another name, for errors */
  FILE       *file;                     /* NULL after the end */
  const char *program;                  /* decompresses the file, or NULL */
  char        comment;                  /* begins a comment; 0: comments are unknown */
  const char *separators;               /* each of these characters is a word */
  PetscInt64  number;                   /* of the line, from 1 on */
  char       *line, *word;              /* the current line, and its last word that was read */
  const char *at;                       /* the rest of the line */
  size_t      room, wordroom;
} TextFile;

/* An error: the file, the number of the line, the message, and the line */
#define TextFileCheck(f, condition, format, ...)                                                                                                   \
  do {                                                                                                                                             \
    if (PetscUnlikely(!(condition))) {                                                                                                             \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %" PetscInt64_FMT ": " format ". The line is '%.80s'", (f)->path, (f)->number, \
              __VA_ARGS__, TextFileShow(f));                                                                                                       \
    }                                                                                                                                              \
  } while (0)
/* Makes line and word printable, for an error, and gives the line */
PETSC_INTERN const char *TextFileShow(TextFile *);

PETSC_INTERN PetscErrorCode TextFileOpen(const char path[], char comment, const char separators[], TextFile *);
/* The same for text in memory, which is not copied */
PETSC_INTERN PetscErrorCode TextFileOpenMemory(const char name[], char text[], size_t length, char comment, const char separators[], TextFile *);
/* All bytes of a file that was just opened, for PetscFree() */
PETSC_INTERN PetscErrorCode TextFileReadAll(TextFile *, char **text, size_t *length);
/* Also after an error */
PETSC_INTERN PetscErrorCode TextFileClose(TextFile *);

/* The next line that is neither empty nor a comment. Of "announced" lines, "entries", "found" were read; announced < 0: their number is unknown. Another
   number of lines is an error */
PETSC_INTERN PetscErrorCode TextFileLine(TextFile *, PetscInt64 found, PetscInt64 announced, const char entries[], PetscBool *more);
/* The number of words in the rest of the line */
PETSC_INTERN PetscInt TextFileWordsLeft(TextFile *);
/* The next word of the line; empty at the end of the line. A word that begins with a double quote ends with one */
PETSC_INTERN void TextFileWord(TextFile *);

/* The next word of the line as a number. what: for errors, as "a column". A real number may be a fraction p/q */
PETSC_INTERN PetscErrorCode TextFileInteger(TextFile *, const char what[], PetscInt64 least, PetscInt64 most, PetscInt64 *);
PETSC_INTERN PetscErrorCode TextFileReal(TextFile *, const char what[], double *);
/* The same for a part of a word */
PETSC_INTERN PetscErrorCode TextFileToInteger(TextFile *, const char word[], const char what[], PetscInt64 least, PetscInt64 most, PetscInt64 *);
PETSC_INTERN PetscErrorCode TextFileToReal(TextFile *, const char word[], const char what[], double *);
/* The line must end here. form: for errors, as "a line is 'row column value'" */
PETSC_INTERN PetscErrorCode TextFileLineEnd(TextFile *, const char form[]);
