/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sections of the image, for the movie: x and depth; in 3-D also y and depth, and x and y. A task saves each section
   with the planes on both sides, since the filter of the image needs neighbours. A frame of the movie therefore has the
   numbers which the image of the same tasks would have, but for the illumination, which is that of all tasks.
*/

#include "migration.h"

int SectionsGet(const Migration *m, MigrationSection section[3])
{
  static const int fixed[] = {1, 0, 2}; /* the order of the panels */
  const int        many    = m->dim == 3 ? 3 : 1;

  for (int k = 0; k < many; k++) {
    MigrationSection *s = &section[k];

    s->fixed = fixed[k];
    s->at    = m->at[fixed[k]];
    for (int d = 0; d < 3; d++) {
      s->first[d] = d == s->fixed ? PetscMax(0, s->at - 1) : 0;
      s->n[d]     = (d == s->fixed ? PetscMin(m->n[d], s->at + 2) : m->n[d]) - s->first[d];
    }
    s->start = k ? section[k - 1].start + section[k - 1].n[0] * section[k - 1].n[1] * section[k - 1].n[2] : 0;
  }
  return many;
}

PetscInt SectionsSize(const Migration *m)
{
  MigrationSection        section[3];
  const int               many = SectionsGet(m, section);
  const MigrationSection *last = &section[many - 1];

  return last->start + last->n[0] * last->n[1] * last->n[2];
}

/* From the sums of the planes first, ..., first + count - 1 in z; nodes of other processes are zero */
void SectionsTake(const Migration *m, PetscInt first, PetscInt count, const PetscReal sum[], PetscReal value[])
{
  MigrationSection section[3];
  const int        many = SectionsGet(m, section);

  for (int s = 0; s < many; s++) {
    const PetscInt *n = section[s].n, *from = section[s].first;
    PetscReal      *to = value + section[s].start;

    for (PetscInt k = 0; k < n[2]; k++) {
      const PetscInt plane = from[2] + k - first;

      for (PetscInt j = 0; j < n[1]; j++) {
        for (PetscInt i = 0; i < n[0]; i++) {
          const PetscInt64 node = ((PetscInt64)plane * m->n[1] + from[1] + j) * m->n[0] + from[0] + i;

          to[((PetscInt64)k * n[1] + j) * n[0] + i] = plane >= 0 && plane < count ? sum[3 * node] : 0;
        }
      }
    }
  }
}
