/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Which states of a run over time are kept, so that they can be visited backwards with few of them: binomial
   checkpointing, A. Griewank, A. Walther, Algorithm 799: revolve, ACM TOMS 26, 2000.
*/

#include "bornimpl.h"

/* Steps that s states can take back if none is made more than r times: (s + r)! / s! / r!, or the most that is wanted */
static PetscInt BornReach(PetscInt s, PetscInt r, PetscInt most)
{
  double reach = 1;

  for (PetscInt k = 1; k <= r && reach < (double)most; k++) reach *= (double)(s + k) / (double)k;
  return reach < (double)most ? (PetscInt)(reach + .5) : most;
}

/* The fewest states with which no step is made more than three times: two of them before it is taken back */
PetscInt BornCheckpointsDefault(PetscInt steps)
{
  PetscInt s = 1;

  while (BornReach(s, 2, steps) < steps) s++;
  return s;
}

/* From a kept state, how many steps on the next one is kept. count >= 2 steps are to be taken back with it and others, states in all */
PetscInt BornCheckpointsAdvance(PetscInt count, PetscInt states)
{
  PetscInt r = 1;

  if (states < 2) return count - 1;
  while (BornReach(states, r, count) < count) r++;
  return PetscMax(1, PetscMin(BornReach(states, r - 1, count), count - 1));
}
