/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Files of transitions: transitions.h */

#include "transitions.h"
#include <ctype.h>

PetscErrorCode TransitionsOpen(const char path[], Transitions *t)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscCall(TextFileOpen(path, '#', NULL, &t->text));
  t->states = t->transitions = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the line is one of the first lines: a word, or two counts */
static PetscErrorCode ReadHead(Transitions *t, PetscBool *head)
{
  TextFile *f = &t->text;
  PetscInt  words;

  PetscFunctionBegin;
  *head = PETSC_FALSE;
  if (t->found || t->states >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  words = TextFileWordsLeft(f);
  if (words == 1 && isalpha((unsigned char)*f->at) && !t->word) *head = t->word = PETSC_TRUE;
  else if (words == 2) {
    PetscCall(TextFileInteger(f, "the number of states", 1, TEXTFILE_ROWS_MAX, &t->states));
    PetscCall(TextFileInteger(f, "the number of transitions", 0, PETSC_INT64_MAX - 1, &t->transitions));
    *head = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransitionsNext(Transitions *t, Transition *transition, PetscBool *more)
{
  const char form[] = "a line of a Markov chain is 'from to rate', and a process with choices is none";
  TextFile  *f      = &t->text;
  PetscInt64 from, to, last;
  PetscBool  head;

  PetscFunctionBegin;
  do {
    PetscCall(TextFileLine(f, t->found, t->transitions, "transitions", more));
    if (!*more) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ReadHead(t, &head));
  } while (head);
  last = t->states < 0 ? TEXTFILE_ROWS_MAX - 1 : t->states - 1;
  PetscCall(TextFileInteger(f, "'from to rate', where states are", 0, last, &from));
  PetscCall(TextFileInteger(f, "'from to rate', where states are", 0, last, &to));
  PetscCall(TextFileReal(f, "the rate of 'from to rate'", &transition->rate));
  TextFileCheck(f, transition->rate >= 0, "expected a rate that is not negative, not '%.60s'; the matrix is no generator otherwise", f->word);
  /* an action, which is no number */
  TextFileWord(f);
  TextFileCheck(f, !f->word[0] || !strchr("0123456789+-.,/", f->word[0]), "expected the end of the line or the name of an action, not '%.60s'; %s", f->word,
                form);
  PetscCall(TextFileLineEnd(f, form));
  transition->from = (PetscInt)from;
  transition->to   = (PetscInt)to;
  t->found++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TransitionsClose(Transitions *t)
{
  PetscFunctionBegin;
  PetscCall(TextFileClose(&t->text));
  PetscFunctionReturn(PETSC_SUCCESS);
}
