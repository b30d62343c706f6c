/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Transitions of a Markov chain from an explicit file of PRISM or Storm, FILE.tra, on one process. The file begins with a line "states transitions", after an
   optional line with one word, as ctmc. Both lines can be missing. Then each line is "from to rate", with states from 0; the name of an action can follow. A
   chain in discrete time has probabilities instead of rates.
*/

#include "textfile.h"

typedef struct {
  TextFile   text;
  PetscBool  word;                /* whether the line with one word was read */
  PetscInt64 states, transitions; /* of the first line, or -1 */
  PetscInt64 found;               /* transitions so far */
} Transitions;

typedef struct {
  PetscInt from, to;
  double   rate;
} Transition;

PETSC_INTERN PetscErrorCode TransitionsOpen(const char path[], Transitions *);
PETSC_INTERN PetscErrorCode TransitionsNext(Transitions *, Transition *, PetscBool *more);
PETSC_INTERN PetscErrorCode TransitionsClose(Transitions *);
