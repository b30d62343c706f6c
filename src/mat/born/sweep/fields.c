/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The arrays of sweeps of a MATBORN. The first request creates an array, for as many shots as are computed together */

#include <lithe/private/born/parts.h>

/* A real field */
PetscErrorCode BornFieldCreate_Private(const BornParts *in, void **field)
{
  PetscFunctionBegin;
  if (!*field) PetscCall((*in->kernels->create)(PETSC_FALSE, (size_t)in->grids->stack.size * BornBytes(in->grids->real), field));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornGetField_Private(const BornSweep *s, BornFieldName name, void **field)
{
  BornFields *fields = s->in.fields;

  PetscFunctionBegin;
  PetscCall(BornFieldCreate_Private(&s->in, &fields->field[name]));
  *field = fields->field[name];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two fields of zeros at a step: u, or w as the second field */
PetscErrorCode BornStateStart_Private(BornSweep *s, PetscBool second, PetscInt step)
{
  const BornKernels *k      = s->in.kernels;
  const size_t       bytes  = BornBytes(second ? s->in.grids->real : s->number);
  void             **fields = second ? s->in.fields->w : s->in.fields->u;

  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    if (!fields[t]) PetscCall((*k->create)(PETSC_FALSE, (size_t)s->in.grids->stack.size * bytes, &fields[t]));
    else PetscCall((*k->zero)((size_t)s->grid.size * bytes, fields[t]));
  }
  *(second ? &s->w : &s->u) = (BornState){fields[0], fields[1], step};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornStateCopy_Private(const BornSweep *s, const BornState *from, BornState *to)
{
  const size_t bytes = (size_t)s->grid.size * BornBytes(s->in.grids->real);

  PetscFunctionBegin;
  PetscCall((*s->in.kernels->copy)(bytes, from->u, to->u));
  PetscCall((*s->in.kernels->copy)(bytes, from->old, to->old));
  to->step = from->step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for a random V of each shot */
PetscErrorCode BornGetRandom_Private(const BornSweep *s, void **V)
{
  const size_t bytes  = s->in.tuning->velocitybits == 16 ? sizeof(uint16_t) : BornBytes(s->in.grids->real);
  BornFields  *fields = s->in.fields;

  PetscFunctionBegin;
  if (!fields->Vrandom) PetscCall((*s->in.kernels->create)(PETSC_FALSE, (size_t)s->in.grids->stack.size * bytes, &fields->Vrandom));
  *V = fields->Vrandom;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Traces of zeros */
PetscErrorCode BornGetTraces_Private(const BornSweep *s, PetscReal **traces)
{
  const BornKernels *k      = s->in.kernels;
  BornFields        *fields = s->in.fields;
  const size_t       n      = (size_t)s->to.points * (size_t)s->in.run->samples;

  PetscFunctionBegin;
  if (n > fields->ntraces) {
    PetscCall((*k->destroy)(PETSC_FALSE, (void **)&fields->traces));
    fields->ntraces = 0;
    PetscCall((*k->create)(PETSC_FALSE, n * sizeof(PetscReal), (void **)&fields->traces));
    fields->ntraces = n;
  }
  PetscCall((*k->zero)(n * sizeof(PetscReal), fields->traces));
  *traces = fields->traces;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of a force, per shot, where fields are. which: 0 of sources, 1 of data */
PetscErrorCode BornGetFactors_Private(const BornSweep *s, int which, const double factor[], BornFactors *f)
{
  const BornKernels *k    = s->in.kernels;
  double           **room = &s->in.fields->factors[which];

  PetscFunctionBegin;
  *f = (BornFactors){.one = factor[0]};
  if (s->n == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (!*room) PetscCall((*k->create)(PETSC_FALSE, (size_t)BornShots(&s->in.grids->stack) * sizeof(**room), (void **)room));
  PetscCall((*k->copy)((size_t)s->n * sizeof(**room), factor, *room));
  f->each = *room;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornFieldsDestroy_Private(const BornKernels *k, BornFields *fields)
{
  void **const arrays[] = {&fields->u[0],
                           &fields->u[1],
                           &fields->w[0],
                           &fields->w[1],
                           &fields->field[BORN_FIELD_Q],
                           &fields->field[BORN_FIELD_X],
                           &fields->field[BORN_FIELD_IMAGE],
                           &fields->Vrandom,
                           (void **)&fields->traces,
                           (void **)&fields->factors[0],
                           (void **)&fields->factors[1]};

  PetscFunctionBegin;
  for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(arrays); a++) PetscCall((*k->destroy)(PETSC_FALSE, arrays[a]));
  fields->ntraces = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
