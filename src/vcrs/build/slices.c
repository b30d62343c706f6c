/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* L3 on the host: which row is which lane of which slice, and how wide the columns of a slice are */

#include "buildimpl.h"

/*
   Sorts the rows of every window by descending length; long rows count as empty and come last. Also counts the entries
   of slices and long rows
*/
static void VCRSSliceRows(const VCRSBuild *b, PetscInt limit, PetscBool sorted, uint8_t perm[], uint8_t length[], PetscInt64 *padded, PetscInt64 *longentries)
{
  *padded = *longentries = 0;
  for (PetscInt w = 0; w < b->m; w += VCRS_WINDOW) {
    const PetscInt nrow = PetscMin(VCRS_WINDOW, b->m - w), nlane = (nrow + VCRS_SLICE - 1) / VCRS_SLICE * VCRS_SLICE;
    PetscInt       start[257] = {0}, len[VCRS_WINDOW];
    uint8_t        laned[VCRS_WINDOW];

    for (PetscInt r = 0; r < nlane; r++) {
      len[r] = r < nrow ? b->i[w + r + 1] - b->i[w + r] : 0;
      if (len[r] > limit) {
        *longentries += len[r];
        len[r] = 0;
      }
    }
    if (sorted) {
      for (PetscInt r = 0; r < nrow; r++) start[256 - len[r]]++;
      for (PetscInt k = 0, sum = 0; k <= 256; k++) {
        const PetscInt c = start[k];

        start[k] = sum;
        sum += c;
      }
      for (PetscInt r = 0; r < nrow; r++) laned[start[256 - len[r]]++] = (uint8_t)r;
      for (PetscInt r = nrow; r < nlane; r++) laned[r] = (uint8_t)r;
    } else {
      for (PetscInt r = 0; r < nlane; r++) laned[r] = (uint8_t)r;
    }
    for (PetscInt l = 0; l < nlane; l += VCRS_SLICE) {
      PetscInt max = 0;

      for (PetscInt k = l; k < l + VCRS_SLICE; k++) max = PetscMax(max, len[laned[k]]);
      *padded += VCRS_SLICE * (PetscInt64)max;
    }
    if (perm) {
      for (PetscInt r = 0; r < nlane; r++) perm[w + r] = laned[r];
    }
    if (length) {
      for (PetscInt r = 0; r < nlane; r++) length[w + r] = (uint8_t)len[laned[r]];
    }
  }
}

/*
   For each k, the least column of entry k over the lanes of slice s. Also the width of the offsets from the least
   column, and the first place of the next slice's offsets
*/
static void VCRSMeasureColumns(const VCRSBuild *b, VCRSPlan *plan, PetscInt s)
{
  const PetscInt *c[VCRS_SLICE];
  PetscInt        least[VCRS_LONG_ROW + 1], most[VCRS_LONG_ROW + 1], longest = 0, length;
  uint64_t        span = 0;

  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscInt lane = VCRS_SLICE * s + l;

    c[l] = plan->lanes.length[lane] ? b->j + b->i[VCRSLaneRow(plan, lane)] : NULL;
    if (plan->lanes.length[lane] > plan->lanes.length[VCRS_SLICE * s + longest]) longest = l;
  }

  /* the longest lane has an entry for each k */
  length   = plan->lanes.length[VCRS_SLICE * s + longest];
  least[0] = 0;
  for (PetscInt k = 0; k < length; k++) least[k] = most[k] = c[longest][k];
  for (PetscInt l = 0; l < VCRS_SLICE; l++) {
    const PetscInt len = plan->lanes.length[VCRS_SLICE * s + l];

    for (PetscInt k = 0; k < len; k++) {
      least[k] = PetscMin(least[k], c[l][k]);
      most[k]  = PetscMax(most[k], c[l][k]);
    }
  }
  for (PetscInt k = 0; k < length; k++) span = PetscMax(span, (uint64_t)(most[k] - least[k]));

  /* an empty slice of the difference form also has a base, which is unused */
  for (PetscInt64 k = VCRSColumnBase(plan, s), from = k; k < VCRSColumnBase(plan, s + 1); k++) plan->columns.base[k] = least[k - from];
  plan->columns.width[s]     = span <= 0xff ? 1 : (span <= 0xffff ? 2 : (span <= 0xffffffffULL ? 4 : 8));
  plan->columns.begin[s + 1] = plan->columns.begin[s] + VCRS_SLICE * (PetscInt64)length * plan->columns.width[s];
}

/* Fills the arrays of L3 but for the values and columns.offset */
PetscErrorCode VCRSFindSlices(const VCRSBuild *b, size_t valuebytes, VCRSPlan *plan)
{
  const PetscInt first = b->difference ? 1 : 0;
  PetscInt       limit, longest = 0;
  PetscInt64     padded, natural, longentries, nlong = 0, q = 0, paddeds[VCRS_NLIMITS], longs[VCRS_NLIMITS];

  PetscFunctionBegin;
  for (PetscInt row = 0; row < b->m; row++) longest = PetscMax(longest, b->i[row + 1] - b->i[row]);
  for (int t = 0; t < VCRS_NLIMITS; t++) {
    if (!t || VCRSSliceLimits[t] < longest) VCRSSliceRows(b, VCRSSliceLimits[t], PETSC_TRUE, NULL, NULL, &paddeds[t], &longs[t]);
  }
  limit = VCRSChooseSliceLimit(longest, b->m > 0 ? b->i[b->m] / b->m : 0, valuebytes, paddeds, longs);
  VCRSSliceRows(b, limit, PETSC_TRUE, NULL, NULL, &padded, &longentries);
  VCRSSliceRows(b, limit, PETSC_FALSE, NULL, NULL, &natural, &longentries);

  plan->slices.n = (b->m + VCRS_SLICE - 1) / VCRS_SLICE;
  PetscCall(PetscMalloc1(VCRS_SLICE * plan->slices.n, &plan->lanes.length));
  if ((double)natural > (1. + VCRS_PAD_TOLERANCE) * (double)padded) PetscCall(PetscMalloc1(VCRS_SLICE * plan->slices.n, &plan->lanes.perm));
  VCRSSliceRows(b, limit, plan->lanes.perm ? PETSC_TRUE : PETSC_FALSE, plan->lanes.perm, plan->lanes.length, &padded, &longentries);

  /* long rows */
  for (PetscInt row = 0; row < b->m; row++) {
    if (b->i[row + 1] - b->i[row] > limit) nlong++;
  }
  plan->longrows.n = (PetscInt)nlong;
  if (nlong) {
    PetscCall(PetscMalloc1(nlong, &plan->longrows.row));
    PetscCall(PetscMalloc1(nlong + 1, &plan->longrows.ptr));
    PetscCall(LitheMallocLarge(longentries, &plan->longrows.col));
    plan->longrows.ptr[0] = 0;
    for (PetscInt row = 0; row < b->m; row++) {
      const PetscInt len = b->i[row + 1] - b->i[row];

      if (len <= limit) continue;
      plan->longrows.row[q]     = row;
      plan->longrows.ptr[q + 1] = plan->longrows.ptr[q] + len;
      PetscCall(PetscArraycpy(plan->longrows.col + plan->longrows.ptr[q], b->j + b->i[row], len));
      q++;
    }
  }

  /* the begins of slices, and the widths of their columns */
  PetscCall(PetscMalloc1(plan->slices.n + 1, &plan->slices.ptr));
  PetscCall(PetscMalloc1(plan->slices.n + 1, &plan->columns.begin));
  PetscCall(PetscMalloc1(plan->slices.n, &plan->columns.width));
  plan->difference    = b->difference;
  plan->slices.ptr[0] = plan->columns.begin[0] = 0;
  for (PetscInt s = 0; s < plan->slices.n; s++) {
    PetscInt length = 0;

    for (PetscInt l = VCRS_SLICE * s; l < VCRS_SLICE * (s + 1); l++) length = PetscMax(length, plan->lanes.length[l]);
    plan->slices.ptr[s + 1] = plan->slices.ptr[s] + VCRS_SLICE * (PetscInt64)PetscMax(0, length - first);
  }
  plan->columns.nbase = VCRSColumnBase(plan, plan->slices.n);
  PetscCall(PetscMalloc1(plan->columns.nbase, &plan->columns.base));
  for (PetscInt s = 0; s < plan->slices.n; s++) VCRSMeasureColumns(b, plan, s);
  plan->longrows.value    = plan->slices.ptr[plan->slices.n];
  plan->slices.nvalue     = plan->longrows.value + longentries;
  plan->columns.nbytes    = plan->columns.begin[plan->slices.n];
  plan->longrows.nentries = longentries;
  plan->lanes.sorted      = plan->lanes.perm ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
