/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The choice of kept states of a run over time, for visiting all states backwards with few kept ones: binomial
   checkpointing, A. Griewank, A. Walther, Algorithm 799: revolve, ACM TOMS 26, 2000.
*/

#include <lithe/private/born/parts.h>
#include <lithe/private/litheimpl.h>

/* Steps that s states can take back if none is made more than r times: (s + r)! / s! / r!, or the most that is wanted
   */
static PetscInt BornReach(PetscInt s, PetscInt r, PetscInt most)
{
  double reach = 1;

  for (PetscInt k = 1; k <= r && reach < (double)most; k++) reach *= (double)(s + k) / (double)k;
  return reach < (double)most ? (PetscInt)(reach + .5) : most;
}

/* The fewest states with which no step is made more than three times: two of these before the step is taken back */
PetscInt BornCheckpointsDefault(PetscInt steps)
{
  PetscInt s = 1;

  while (BornReach(s, 2, steps) < steps) s++;
  return s;
}

/* The distance in steps from a kept state to the next one to keep. count >= 2 steps are to be taken back with these
   states, states in all */
PetscInt BornCheckpointsAdvance(PetscInt count, PetscInt states)
{
  PetscInt r = 1;

  if (states < 2) return count - 1;
  while (BornReach(states, r, count) < count) r++;
  return PetscMax(1, PetscMin(BornReach(states, r - 1, count), count - 1));
}

/* ------------------------------------------------------------ a background */

/* One more state is kept */
static PetscErrorCode BornStateKeep(const BornSweep *s, const BornState *state)
{
  BornStates *states = s->in.states;
  BornState  *to     = &states->saved[states->kept++];

  PetscFunctionBegin;
  PetscCall(BornFieldCreate_Private(&s->in, &to->u));
  PetscCall(BornFieldCreate_Private(&s->in, &to->old));
  PetscCall(BornStateCopy_Private(s, state, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distance from a kept state to the next state to keep; step is to come back next */
static PetscInt BornCheckpointNext(const BornStates *states, PetscInt from, PetscInt step)
{
  return step > from ? from + BornCheckpointsAdvance(step + 1 - from, states->n - states->kept + 1) : from;
}

static PetscInt BornCheckpointStates(const BornParts *in)
{
  const PetscInt steps = in->run->steps;

  return in->tuning->checkpoints == PETSC_DECIDE ? BornCheckpointsDefault(steps) : PetscMin(in->tuning->checkpoints, steps);
}

static PetscErrorCode BornCheckpointCreate(const BornParts *in)
{
  BornStates *states = in->states;

  PetscFunctionBegin;
  PetscCall(LitheCite(LITHE_CITE_CHECKPOINTS));
  states->n = BornCheckpointStates(in);
  PetscCall(PetscCalloc1(states->n, &states->saved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornStatesDestroy_Private(const BornKernels *k, BornStates *states)
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < states->n; s++) {
    PetscCall((*k->destroy)(PETSC_FALSE, &states->saved[s].u));
    PetscCall((*k->destroy)(PETSC_FALSE, &states->saved[s].old));
  }
  PetscCall(PetscFree(states->saved));
  states->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornCheckpointStart(BornSweep *s)
{
  BornStates *states = s->in.states;

  PetscFunctionBegin;
  states->kept = 0;
  PetscCall(BornStateKeep(s, &s->u));
  states->next = BornCheckpointNext(states, 0, s->in.run->steps - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornCheckpointNote(BornSweep *s, PetscInt n)
{
  BornStates    *states = s->in.states;
  const PetscInt last   = s->in.run->steps - 1;

  PetscFunctionBegin;
  if (n + 1 != states->next || n + 1 >= last || states->kept >= states->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BornStateKeep(s, &s->u));
  states->next = BornCheckpointNext(states, n + 1, last);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* q of a step; each call asks for a step before the step of the previous call */
static PetscErrorCode BornCheckpointBack(BornSweep *s, PetscInt step, PetscBool image)
{
  BornStates *states = s->in.states;
  BornState  *u      = &s->u;
  void       *q;

  PetscFunctionBegin;
  if (image) {
    while (states->saved[states->kept - 1].step > step) states->kept--;
    PetscCall(BornGetField_Private(s, BORN_FIELD_Q, &q));
    PetscCall(BornStateCopy_Private(s, &states->saved[states->kept - 1], u));
    while (u->step < step) {
      const PetscInt to = BornCheckpointNext(states, u->step, step);

      while (u->step < to) PetscCall(BornStepBackground_Private(s, u, NULL, NULL));
      if (u->step < step && states->kept < states->n) PetscCall(BornStateKeep(s, u));
    }
    PetscCall(BornStepBackground_Private(s, u, q, NULL));
    PetscCall((*s->in.kernels->image)(&s->grid, s->in.grids->real, 0, q, s->w.u, s->image));
  }
  PetscCall(BornStepSecond_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornCheckpointBytes(const BornParts *in)
{
  return 2 * (PetscLogDouble)BornCheckpointStates(in) * (PetscLogDouble)in->grids->stack.size * (PetscLogDouble)BornBytes(in->grids->real);
}

const BornBackground BornCheckpoint = {.name     = MATBORN_BACKGROUND_CHECKPOINT,
                                       .reversed = PETSC_FALSE,
                                       .sponge   = PETSC_TRUE,
                                       .rounds   = PETSC_FALSE,
                                       .create   = BornCheckpointCreate,
                                       .start    = BornCheckpointStart,
                                       .note     = BornCheckpointNote,
                                       .back     = BornCheckpointBack,
                                       .bytes    = BornCheckpointBytes};
