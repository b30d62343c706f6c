/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   L3, grouped columns: the groups of columns that the rows of a window read (see vcrs/plan.h).

   The groups of a window are marked in a bit map that begins with the least group. They come out ascending without a
   sort.
*/

#include "buildimpl.h"

#define VCRS_GROUP_WORDS (VCRS_GROUP_SPAN / 64)

/* Lanes of window w: from, and before end */
static inline void VCRSWindowLanes(const VCRSPlan *plan, PetscInt w, PetscInt *from, PetscInt *end)
{
  *from = VCRS_WINDOW * w;
  *end  = PetscMin(VCRS_WINDOW * (w + 1), VCRS_SLICE * plan->slices.n);
}

/*
   The least group of a window; the groups that its rows read, as bits from the least group on; returns whether all
   groups have a bit
*/
static PetscBool VCRSMarkGroups(const VCRSBuild *b, const VCRSPlan *plan, PetscInt w, PetscInt *first, uint64_t mark[])
{
  PetscInt        least = PETSC_INT_MAX, most = 0, from, end, n;
  const PetscInt *c;

  VCRSWindowLanes(plan, w, &from, &end);
  for (PetscInt lane = from; lane < end; lane++) {
    const PetscInt row = (PetscInt)VCRSLaneRow(plan, lane);

    if (!plan->lanes.length[lane]) continue;

    /* columns ascend, except a leading reference */
    c     = b->j + b->i[row];
    n     = b->i[row + 1] - b->i[row];
    least = PetscMin(least, PetscMin(c[0], c[n > 1 ? 1 : 0]));
    most  = PetscMax(most, PetscMax(c[0], c[n - 1]));
  }
  *first = least == PETSC_INT_MAX ? 0 : least / VCRS_GROUP;
  memset(mark, 0, VCRS_GROUP_WORDS * sizeof(*mark));
  if (most / VCRS_GROUP - *first >= VCRS_GROUP_SPAN) return PETSC_FALSE;
  for (PetscInt lane = from; lane < end; lane++) {
    const PetscInt row = (PetscInt)VCRSLaneRow(plan, lane);

    if (!plan->lanes.length[lane]) continue;
    for (PetscInt p = b->i[row]; p < b->i[row + 1]; p++) {
      const PetscInt g = b->j[p] / VCRS_GROUP - *first;

      mark[g / 64] |= UINT64_C(1) << (g % 64);
    }
  }
  return PETSC_TRUE;
}

/* Writes the marked groups after a placeholder; returns the number of groups */
static PetscInt VCRSListGroups(const uint64_t mark[], uint16_t group[])
{
  PetscInt n = 1;

  group[0] = 0; /* NOLINT(clang-analyzer-core.NullDereference): the caller has made room */
  for (PetscInt word = 0; word < VCRS_GROUP_WORDS; word++) {
    for (uint64_t left = mark[word]; left; left &= left - 1) group[n++] = (uint16_t)(64 * word + __builtin_ctzll(left));
  }
  return n;
}

/*
  VCRSFindGroups - decides whether the columns of a plan of L3 are grouped, and finds the groups if so

  The layout and the container are chosen; the arrays of slices are there.
*/
PetscErrorCode VCRSFindGroups(VCRSBuild *b, VCRSPlan *plan)
{
  const PetscInt nwindows   = VCRSWindows(plan);
  PetscInt       mostgroups = 0, mostcolumns = 0, *ptr, *first;
  PetscInt64     ngroups = 0, room = 0, mostbytes = 0;
  PetscBool      fits  = PETSC_TRUE;
  uint16_t      *group = NULL;
  uint64_t      *mark;

  PetscFunctionBegin;
  if (!VCRSMayGroup(plan)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(VCRS_GROUP_WORDS, &mark));
  PetscCall(PetscMalloc1(nwindows + 1, &ptr));
  PetscCall(PetscMalloc1(nwindows, &first));
  for (PetscInt w = 0; w < nwindows && fits; w++) {
    const PetscInt columns = VCRSWindowColumns(plan, w);
    PetscInt       n;

    /* a list has no more groups than the window has columns */
    if (ngroups + columns + 1 > room) {
      room = 2 * room + columns + 1;
      PetscCall(PetscRealloc((size_t)room * sizeof(*group), &group));
    }
    fits = VCRSMarkGroups(b, plan, w, &first[w], mark);
    if (!fits) break;
    n      = VCRSListGroups(mark, group + ngroups);
    ptr[w] = (PetscInt)ngroups;
    ngroups += n;
    mostgroups  = PetscMax(mostgroups, n);
    mostcolumns = PetscMax(mostcolumns, columns);
    mostbytes   = PetscMax(mostbytes, VCRSWindowBytes(plan, w, n));
    fits        = (PetscBool)(ngroups <= PETSC_INT_MAX);
  }
  if (fits && VCRSChooseGroups(plan, ngroups, mostgroups, mostbytes)) {
    PetscCall(PetscRealloc((size_t)ngroups * sizeof(*group), &group));
    ptr[nwindows]            = (PetscInt)ngroups;
    plan->grouped            = PETSC_TRUE;
    plan->groups.ptr         = ptr;
    plan->groups.first       = first;
    plan->groups.group       = group;
    plan->groups.n           = (PetscInt)ngroups;
    plan->groups.most        = mostgroups;
    plan->groups.mostcolumns = mostcolumns;
    plan->groups.mostbytes   = (PetscInt)mostbytes;
    plan->columns.nbytes     = (PetscInt64)sizeof(uint16_t) * VCRS_SLICE * plan->columns.nbase;
    plan->columns.nbase      = 0;
    PetscCall(PetscFree(plan->columns.base));
    PetscCall(PetscFree(plan->columns.width));
    PetscCall(PetscFree(plan->columns.begin));
  } else {
    PetscCall(PetscFree(ptr));
    PetscCall(PetscFree(first));
    PetscCall(PetscFree(group));
  }
  PetscCall(PetscFree(mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the columns of a plan whose groups are known; columns.offset[] is zero before */
PetscErrorCode VCRSEncodeGroups(const VCRSBuild *b, VCRSPlan *plan)
{
  uint16_t *place; /* of each group in the list of a window */

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(VCRS_GROUP_SPAN, &place));
  for (PetscInt w = 0; w < VCRSWindows(plan); w++) {
    const uint16_t *group = plan->groups.group + plan->groups.ptr[w];
    const PetscInt  n     = plan->groups.ptr[w + 1] - plan->groups.ptr[w];
    PetscInt        from, end;

    for (PetscInt k = 1; k < n; k++) place[group[k]] = (uint16_t)k;
    VCRSWindowLanes(plan, w, &from, &end);
    for (PetscInt lane = from; lane < end; lane++) {
      const PetscInt row = (PetscInt)VCRSLaneRow(plan, lane), first = VCRS_GROUP * plan->groups.first[w];
      uint16_t      *to = (uint16_t *)plan->columns.offset + VCRS_SLICE * VCRSColumnBase(plan, lane / VCRS_SLICE) + lane % VCRS_SLICE;

      if (!plan->lanes.length[lane]) continue;
      for (PetscInt p = b->i[row]; p < b->i[row + 1]; p++, to += VCRS_SLICE) {
        const PetscInt column = b->j[p] - first;

        *to = (uint16_t)(VCRS_GROUP * place[column / VCRS_GROUP] + column % VCRS_GROUP);
      }
    }
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}
