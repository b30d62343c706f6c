/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Earthquakes: while the largest slip rate is above a limit. Parts that follow each other within a minute are one */

#include "cycle.h"

#define LIMIT PetscLogReal((PetscReal)1e-3) /* m/s */
#define PAUSE 60                            /* s */

PetscErrorCode CycleEventsCreate(PetscInt n, CycleEvents *e)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(e, sizeof(*e)));
  PetscCall(PetscCalloc1(n, &e->slip));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleEventsDestroy(CycleEvents *e)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(e->slip));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When the slip rate passed the limit since the step before */
static PetscReal Crossing(const CycleEventNumbers *e, const CycleStep *s)
{
  return e->time + (s->time - e->time) * (LIMIT - e->logmax) / (s->logmax - e->logmax);
}

/* A line per event. Slip of the surface and largest slip are those since the event began */
static PetscErrorCode Report(CycleEvents *e, const CycleStep *s, FILE *file)
{
  CycleEventNumbers *now = &e->now;

  PetscFunctionBeginUser;
  now->closing = 0;
  now->count++;
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF,
                "event %.0f: %.6f years, lasts %.1f s, peak slip rate %.4f m/s, slip %.3f m at the surface, %.3f m at most, starts at %.2f km; %.0f steps, "
                "%.0f solves\n",
                (double)now->count, (double)(now->begin / (PetscReal)CYCLE_YEAR), (double)(now->end - now->begin), (double)PetscExpReal(now->peak),
                (double)now->surface, (double)now->most, (double)(s->depth[(PetscInt)now->where] / 1000), (double)now->steps, (double)now->stages));
  if (file) {
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "%.0f %.14E %.14E %.7E %.7E %.7E %.7E %.0f %.0f\n", (double)now->count, (double)now->begin, (double)now->end,
                           (double)PetscExpReal(now->peak), (double)now->surface, (double)now->most, (double)s->depth[(PetscInt)now->where], (double)now->steps,
                           (double)now->stages));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleEventsFollow(CycleEvents *e, const CycleStep *s, FILE *file)
{
  CycleEventNumbers *now = &e->now;

  PetscFunctionBeginUser;
  if (!s->n) PetscFunctionReturn(PETSC_SUCCESS);
  if (now->open == 0 && s->logmax > LIMIT) {
    now->open = 1;
    if (now->closing == 0) {
      now->begin = now->logmax < LIMIT ? Crossing(now, s) : s->time;
      now->peak  = s->logmax;
      now->where = (PetscReal)s->where;
      now->step  = (PetscReal)s->step;
      now->calls = (PetscReal)s->calls;
      PetscCall(PetscArraycpy(e->slip, s->field[CYCLE_SLIP], s->n));
    }
  }
  if (now->open != 0) {
    now->peak = PetscMax(now->peak, s->logmax);
    if (s->logmax < LIMIT) {
      now->open    = 0;
      now->closing = 1;
      now->end     = Crossing(now, s);
      now->surface = s->field[CYCLE_SLIP][0] - e->slip[0];
      now->most    = 0;
      for (PetscInt k = 0; k < s->n; k++) now->most = PetscMax(now->most, s->field[CYCLE_SLIP][k] - e->slip[k]);
      now->steps  = (PetscReal)s->step - now->step;
      now->stages = (PetscReal)s->calls - now->calls;
    }
  }
  if (now->open == 0 && now->closing != 0 && s->time > now->end + PAUSE) PetscCall(Report(e, s, file));
  now->time   = s->time;
  now->logmax = s->logmax;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleEventsFinish(CycleEvents *e, const CycleStep *s, FILE *file)
{
  PetscFunctionBeginUser;
  if (s->n && e->now.closing != 0 && e->now.open == 0) PetscCall(Report(e, s, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}
