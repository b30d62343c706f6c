/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Runs of rows with one index set in a slice of L1 or L2: sets.c, and single.c for vectors in single precision */

#include "host.h"

#define STREAM_OTHERS 8 /* largest number of rows of a slice with a deviating index set for a common sum */

/*
   The sums of the rows of a slice of L1 or L2: runs of one index set each. Runs from nside on, of one row, are also
   summed with the first run; for these rows the separate sum counts
*/
typedef struct {
  PetscInt nruns, nside;
  VCRSRun  run[VCRS_SLICE];
} SliceRuns; /* a value */

/* The presumed index set of most rows, and its least and greatest column relative to a row */
typedef struct {
  PetscInt set, low, high;
} CommonSet; /* a value */

/* A bit for each row of a slice with another index set */
static LITHE_ALWAYS_INLINE uint32_t FindOthers(const PetscInt id[], PetscInt set)
{
  uint8_t  differs[VCRS_SLICE];
  uint32_t others = 0;

  for (PetscInt l = 0; l < VCRS_SLICE; l++) differs[l] = id[l] != set;
  for (PetscInt l = 0; l < VCRS_SLICE; l += 8) {
    uint64_t eight = 0;

    /* the product collects the lowest bits of eight bytes */
    LITHE_UNROLL
    for (int u = 0; u < 8; u++) eight |= (uint64_t)differs[l + u] << 8 * u;
    others |= (uint32_t)((eight * UINT64_C(0x0102040810204080)) >> 56) << l;
  }
  return others;
}

/*
   If all but a few rows have one index set, all rows are summed with this set, and the few again separately. On grids
   the few are boundaries, which would cut every line of points into runs. Reads of x stay inside of x. PETSC_FALSE if
   the condition does not hold.
*/
static LITHE_ALWAYS_INLINE PetscBool FindCommonSet(const VCRSPlan *plan, PetscInt row, CommonSet *common, SliceRuns *runs)
{
  PetscInt id[VCRS_SLICE];
  uint32_t others;

  if (plan->sets.idbytes == 1) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) id[l] = ((const uint8_t *)plan->sets.id)[row + l];
  } else if (plan->sets.idbytes == 2) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) id[l] = ((const uint16_t *)plan->sets.id)[row + l];
  } else {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) id[l] = (PetscInt)((const uint32_t *)plan->sets.id)[row + l];
  }
  others = FindOthers(id, common->set);
  if (__builtin_popcount(others) > STREAM_OTHERS) {
    const PetscInt set = id[VCRS_SLICE / 2];

    others = FindOthers(id, set);
    if (__builtin_popcount(others) > STREAM_OTHERS) return PETSC_FALSE;
    *common = (CommonSet){.set = set};
    for (PetscInt p = plan->sets.ptr[set]; p < plan->sets.ptr[set + 1]; p++) {
      common->low  = PetscMin(common->low, plan->sets.offset[p]);
      common->high = PetscMax(common->high, plan->sets.offset[p]);
    }
  }
  if (row + common->low < 0 || row + VCRS_SLICE + common->high > plan->n) return PETSC_FALSE;
  runs->run[0] = (VCRSRun){0, VCRS_SLICE, common->set};
  runs->nruns = runs->nside = 1;
  for (; others; others &= others - 1) {
    const PetscInt l = __builtin_ctz(others);

    runs->run[runs->nruns++] = (VCRSRun){l, 1, id[l]};
  }
  return PETSC_TRUE;
}

/* Rows in their natural order */
static LITHE_ALWAYS_INLINE void FindRuns(const VCRSPlan *plan, PetscInt row, PetscInt rows, SliceRuns *runs)
{
  runs->nruns = runs->nside = VCRSFindRuns(plan, row, rows, runs->run);
}
