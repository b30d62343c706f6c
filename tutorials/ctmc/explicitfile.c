/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Chains from explicit files, in the format of PRISM and Storm. FILE.tra has a line "states transitions" (or nothing,
   or a word such as ctmc), then lines "from to rate" with states from 0. FILE.lab has a line 0="init" 1="full" ... and
   lines "state: label label ...". Probabilities of a chain in discrete time are used as rates. Transitions from a state
   to itself are ignored.

   All processes read the file, and each process keeps the entries of its rows.
*/

#include "ctmc.h"
#include <ctype.h>

typedef struct {
  FILE       *file;
  const char *path;
  PetscInt    number;
  char       *line;
  size_t      size;
} Lines;

static PetscErrorCode LinesOpen(const char path[], Lines *l)
{
  PetscFunctionBeginUser;
  l->path   = path;
  l->number = 0;
  l->line   = NULL;
  l->size   = 0;
  l->file   = fopen(path, "r");
  PetscCheck(l->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next line which is not empty, of any length */
static PetscErrorCode LinesNext(Lines *l, PetscBool *more)
{
  PetscFunctionBeginUser;
  for (;;) {
    size_t n = 0;
    int    c;

    while ((c = fgetc(l->file)) != EOF && c != '\n') {
      if (n + 2 > l->size) {
        l->size = 2 * l->size + 256;
        PetscCall(PetscRealloc(l->size, &l->line));
      }
      l->line[n++] = (char)c;
    }
    *more = (PetscBool)(n || c != EOF);
    l->number++;
    if (!*more) PetscFunctionReturn(PETSC_SUCCESS);
    if (!n) continue;
    l->line[n] = 0;
    if (strspn(l->line, " \t\r") < n) PetscFunctionReturn(PETSC_SUCCESS);
  }
}

static PetscErrorCode LinesClose(Lines *l)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(l->line));
  fclose(l->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt64 from, to;
  double     rate;
} Transition;

/* The next transition; the first lines may be a word or two counts */
static PetscErrorCode NextTransition(Lines *l, Transition *t, PetscBool *more, PetscInt64 *states)
{
  PetscFunctionBeginUser;
  for (;;) {
    long long from, to;
    double    rate;
    char      rest;
    int       n;

    PetscCall(LinesNext(l, more));
    if (!*more) PetscFunctionReturn(PETSC_SUCCESS);
    n = sscanf(l->line, "%lld %lld %lf %c", &from, &to, &rate, &rest);
    if (n <= 0 && l->number == 1 && isalpha((unsigned char)l->line[strspn(l->line, " \t")])) continue;
    if (n == 2 && l->number <= 2 && sscanf(l->line, "%lld %lld %c", &from, &to, &rest) == 2) {
      *states = from;
      continue;
    }
    /* An action may follow; a fourth number is a process with choices */
    PetscCheck(n >= 3 && (n == 3 || !isdigit((unsigned char)rest)), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %" PetscInt_FMT ": expected 'from to rate' of a Markov chain, not '%s'", l->path, l->number, l->line);
    PetscCheck(from >= 0 && to >= 0 && (*states < 0 || (from < *states && to < *states)), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %" PetscInt_FMT ": states are from 0 to %" PetscInt64_FMT ", not '%s'", l->path, l->number, *states - 1, l->line);
    t->from = from;
    t->to   = to;
    t->rate = rate;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
}

/* Labels: the names, and a vector per label */
static PetscErrorCode ReadLabels(const char lab[], Chain *chain)
{
  Lines     l;
  PetscBool more;
  char     *at;
  PetscInt  begin, end, number[256] = {0};

  PetscFunctionBeginUser;
  PetscCall(LinesOpen(lab, &l));
  PetscCall(LinesNext(&l, &more));
  PetscCheck(more, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is empty", lab);
  PetscCall(PetscCalloc1(256, &chain->label));
  PetscCall(PetscCalloc1(256, &chain->member));
  for (at = l.line; (at = strchr(at, '=')) && chain->nlabels < 256;) {
    char *name = strchr(at, '"'), *last = name ? strchr(name + 1, '"') : NULL, *digit = at;

    PetscCheck(last, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %" PetscInt_FMT ": expected 0=\"name\" 1=\"name\" ..., not '%s'", lab, l.number,
               l.line);
    while (digit > l.line && isdigit((unsigned char)digit[-1])) digit--;
    number[chain->nlabels] = (PetscInt)strtoll(digit, NULL, 10);
    *last                  = 0;
    PetscCall(PetscStrallocpy(name + 1, &chain->label[chain->nlabels]));
    PetscCall(VecDuplicate(chain->p, &chain->member[chain->nlabels++]));
    at = last + 1;
  }
  PetscCall(VecGetOwnershipRange(chain->p, &begin, &end));
  for (;;) {
    char     *next;
    long long state;

    PetscCall(LinesNext(&l, &more));
    if (!more) break;
    state = strtoll(l.line, &next, 10);
    PetscCheck(next != l.line && *next == ':' && state >= 0 && state < (long long)chain->n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %" PetscInt_FMT ": expected 'state: label ...' with a state from 0 to %" PetscInt64_FMT ", not '%s'", lab, l.number, chain->n - 1,
               l.line);
    for (next++;;) {
      char           *after;
      const long long label = strtoll(next, &after, 10);

      if (after == next) break;
      next = after;
      for (PetscInt i = 0; i < chain->nlabels; i++) {
        if (number[i] == (PetscInt)label && state >= begin && state < end) PetscCall(VecSetValue(chain->member[i], (PetscInt)state, 1.0, INSERT_VALUES));
      }
    }
  }
  for (PetscInt i = 0; i < chain->nlabels; i++) {
    PetscCall(VecAssemblyBegin(chain->member[i]));
    PetscCall(VecAssemblyEnd(chain->member[i]));
  }
  PetscCall(LinesClose(&l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The initial distribution: state "initial"; if initial is negative, all states with the label init alike, or state 0
   without this label */
PetscErrorCode ChainFile(MPI_Comm comm, const char tra[], const char lab[], PetscInt initial, const Shares *shares, Chain *chain)
{
  Lines       l;
  Transition  t;
  PetscBool   more, init = PETSC_FALSE;
  PetscInt64  states = -1, highest = -1;
  PetscInt    n, m, begin, end, *dnnz, *onnz;
  double     *leave;
  PetscLayout map;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(chain, sizeof(*chain)));
  PetscCall(PetscSNPrintf(chain->name, sizeof(chain->name), "%s", tra));

  /* First pass: the number of states */
  chain->nz = 0;
  PetscCall(LinesOpen(tra, &l));
  for (;;) {
    PetscCall(NextTransition(&l, &t, &more, &states));
    if (!more) break;
    highest = PetscMax(highest, PetscMax(t.from, t.to));
    if (t.from != t.to) chain->nz++;
  }
  PetscCall(LinesClose(&l));
  chain->n = states < 0 ? highest + 1 : states;
  PetscCheck(chain->n > 0 && chain->n <= (PetscInt64)PETSC_INT_MAX, comm, PETSC_ERR_FILE_UNEXPECTED, "%s has %" PetscInt64_FMT " states", tra, chain->n);
  chain->nz += chain->n;
  n = (PetscInt)chain->n;

  /* Second pass: the row lengths of this process; third pass: the rates */
  PetscCall(MatCreate(comm, &chain->A));
  PetscCall(SharesGetLocal(comm, shares, n, &m));
  PetscCall(MatSetSizes(chain->A, m, m, n, n));
  PetscCall(MatSetFromOptions(chain->A));
  PetscCall(MatGetLayouts(chain->A, &map, NULL));
  PetscCall(PetscLayoutSetUp(map));
  PetscCall(PetscLayoutGetRange(map, &begin, &end));
  PetscCall(PetscCalloc3(end - begin, &dnnz, end - begin, &onnz, end - begin, &leave));
  for (PetscInt i = 0; i < end - begin; i++) dnnz[i] = 1;
  PetscCall(LinesOpen(tra, &l));
  for (;;) {
    PetscCall(NextTransition(&l, &t, &more, &states));
    if (!more) break;
    if (t.from == t.to) continue;
    if (t.from >= begin && t.from < end) leave[t.from - begin] += t.rate;
    if (t.to < begin || t.to >= end) continue;
    if (t.from >= begin && t.from < end) dnnz[t.to - begin]++;
    else onnz[t.to - begin]++;
  }
  PetscCall(LinesClose(&l));
  PetscCall(MatXAIJSetPreallocation(chain->A, 1, dnnz, onnz, NULL, NULL));
  PetscCall(LinesOpen(tra, &l));
  for (;;) {
    PetscCall(NextTransition(&l, &t, &more, &states));
    if (!more) break;
    if (t.from != t.to && t.to >= begin && t.to < end) PetscCall(MatSetValue(chain->A, (PetscInt)t.to, (PetscInt)t.from, (PetscScalar)t.rate, ADD_VALUES));
  }
  PetscCall(LinesClose(&l));
  for (PetscInt i = begin; i < end; i++) PetscCall(MatSetValue(chain->A, i, i, (PetscScalar)-leave[i - begin], ADD_VALUES));
  PetscCall(MatAssemblyBegin(chain->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(chain->A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree3(dnnz, onnz, leave));
  PetscCall(MatCreateVecs(chain->A, &chain->p, NULL));
  if (lab[0]) PetscCall(ReadLabels(lab, chain));

  /* The initial distribution */
  PetscCheck(initial < n, comm, PETSC_ERR_ARG_OUTOFRANGE, "-initial %" PetscInt_FMT ": states are from 0 to %" PetscInt_FMT, initial, n - 1);
  for (PetscInt i = 0; i < chain->nlabels && initial < 0 && !init; i++) {
    PetscScalar sum;

    PetscCall(PetscStrcmp(chain->label[i], "init", &init));
    if (!init) continue;
    PetscCall(VecSum(chain->member[i], &sum));
    PetscCheck(PetscRealPart(sum) > 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: no state has the label init; use -initial STATE", lab);
    PetscCall(VecCopy(chain->member[i], chain->p));
    PetscCall(VecScale(chain->p, (PetscScalar)1.0 / sum));
  }
  if (!init) {
    initial = PetscMax(initial, 0);
    if (initial >= begin && initial < end) PetscCall(VecSetValue(chain->p, initial, 1.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(chain->p));
    PetscCall(VecAssemblyEnd(chain->p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
