/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Chains from explicit files, in the format of PRISM and Storm: FILE.tra as tutorials/common/transitions.h tells. FILE.lab has a line 0="init" 1="full" ...
   and lines "state: label label ...". Probabilities of a chain in discrete time are used as rates. Transitions from a state to itself are ignored.

   All processes read the file, and each process keeps the entries of its rows.
*/

#include "ctmc.h"
#include <tutorials/common/transitions.h>

/* The names of labels, from a line 0="name" 1="name" ...; number: of each label in the file */
static PetscErrorCode ReadLabelNames(TextFile *f, Chain *chain, PetscInt64 **number)
{
  const PetscInt most = TextFileWordsLeft(f) / 3;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(most, number));
  PetscCall(PetscCalloc1(most, &chain->label));
  PetscCall(PetscCalloc1(most, &chain->member));
  while (TextFileWordsLeft(f)) {
    const PetscInt i = chain->nlabels;
    PetscInt64     label;
    size_t         n;

    PetscCall(TextFileInteger(f, "0=\"name\" 1=\"name\" ..., where labels have numbers", 0, PETSC_INT_MAX, &label));
    TextFileWord(f);
    TextFileCheck(f, f->word[0] == '=', "expected 0=\"name\" 1=\"name\" ..., not '%.60s'", f->word);
    TextFileWord(f);
    PetscCall(PetscStrlen(f->word, &n));
    TextFileCheck(f, n > 2 && f->word[0] == '"' && f->word[n - 1] == '"', "expected a name between double quotes as in 0=\"name\", not '%.60s'", f->word);
    for (PetscInt k = 0; k < i; k++) TextFileCheck(f, (*number)[k] != label, "expected each number once, not two labels of number %" PetscInt64_FMT, label);
    f->word[n - 1] = 0;
    (*number)[i]   = label;
    PetscCall(PetscStrallocpy(f->word + 1, &chain->label[i]));
    PetscCall(VecDuplicate(chain->p, &chain->member[i]));
    chain->nlabels++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels: the names, and a vector per label */
static PetscErrorCode ReadLabels(const char lab[], Chain *chain)
{
  TextFile    f;
  PetscBool   more;
  PetscInt    begin, end;
  PetscInt64 *number;

  PetscFunctionBeginUser;
  PetscCall(TextFileOpen(lab, 0, "=:", &f));
  PetscCall(TextFileLine(&f, 0, -1, NULL, &more));
  TextFileCheck(&f, more, "expected 0=\"name\" 1=\"name\" ..., but %s is empty", lab);
  PetscCall(ReadLabelNames(&f, chain, &number));
  PetscCall(VecGetOwnershipRange(chain->p, &begin, &end));
  for (;;) {
    PetscInt64 state, label;

    PetscCall(TextFileLine(&f, 0, -1, NULL, &more));
    if (!more) break;
    PetscCall(TextFileInteger(&f, "'state: label ...' with a state", 0, chain->n - 1, &state));
    TextFileWord(&f);
    TextFileCheck(&f, f.word[0] == ':', "expected 'state: label ...', not '%.60s'", f.word);
    while (TextFileWordsLeft(&f)) {
      PetscInt i = 0;

      PetscCall(TextFileInteger(&f, "the number of a label", 0, PETSC_INT_MAX, &label));
      while (i < chain->nlabels && number[i] != label) i++;
      TextFileCheck(&f, i < chain->nlabels, "expected the number of a label of the first line, not '%.60s'", f.word);
      if (state >= begin && state < end) PetscCall(VecSetValue(chain->member[i], (PetscInt)state, 1.0, INSERT_VALUES));
    }
  }
  for (PetscInt i = 0; i < chain->nlabels; i++) {
    PetscCall(VecAssemblyBegin(chain->member[i]));
    PetscCall(VecAssemblyEnd(chain->member[i]));
  }
  PetscCall(PetscFree(number));
  PetscCall(TextFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The initial distribution: state "initial"; if initial is negative, all states with the label init alike, or state 0
   without this label */
PetscErrorCode ChainFile(MPI_Comm comm, const char tra[], const char lab[], PetscInt initial, const Shares *shares, Chain *chain)
{
  Transitions file;
  Transition  t;
  PetscBool   more, init = PETSC_FALSE;
  PetscInt    highest = -1, n, m, begin, end, *dnnz, *onnz;
  double     *leave;
  PetscLayout map;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(chain, sizeof(*chain)));
  PetscCall(PetscSNPrintf(chain->name, sizeof(chain->name), "%s", tra));

  /* First pass: the number of states */
  chain->nz = 0;
  PetscCall(TransitionsOpen(tra, &file));
  for (;;) {
    PetscCall(TransitionsNext(&file, &t, &more));
    if (!more) break;
    highest = PetscMax(highest, PetscMax(t.from, t.to));
    if (t.from != t.to) chain->nz++;
  }
  PetscCall(TransitionsClose(&file));
  chain->n = file.states < 0 ? (PetscInt64)highest + 1 : file.states;
  PetscCheck(chain->n > 0, comm, PETSC_ERR_FILE_UNEXPECTED, "%s has no states: expected lines 'from to rate'", tra);
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
  PetscCall(TransitionsOpen(tra, &file));
  for (;;) {
    PetscCall(TransitionsNext(&file, &t, &more));
    if (!more) break;
    if (t.from == t.to) continue;
    if (t.from >= begin && t.from < end) leave[t.from - begin] += t.rate;
    if (t.to < begin || t.to >= end) continue;
    if (t.from >= begin && t.from < end) dnnz[t.to - begin]++;
    else onnz[t.to - begin]++;
  }
  PetscCall(TransitionsClose(&file));
  for (PetscInt i = 0; i < end - begin; i++) { /* rates of the same transition add up */
    dnnz[i] = PetscMin(dnnz[i], end - begin);
    onnz[i] = PetscMin(onnz[i], n - (end - begin));
    PetscCheck(leave[i] <= (double)PETSC_MAX_REAL, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s: the rates from state %" PetscInt_FMT " add up to more than %g, the largest number", tra, begin + i, (double)PETSC_MAX_REAL);
  }
  PetscCall(MatXAIJSetPreallocation(chain->A, 1, dnnz, onnz, NULL, NULL));
  PetscCall(TransitionsOpen(tra, &file));
  for (;;) {
    PetscCall(TransitionsNext(&file, &t, &more));
    if (!more) break;
    if (t.from != t.to && t.to >= begin && t.to < end) PetscCall(MatSetValue(chain->A, (PetscInt)t.to, (PetscInt)t.from, (PetscScalar)t.rate, ADD_VALUES));
  }
  PetscCall(TransitionsClose(&file));
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
