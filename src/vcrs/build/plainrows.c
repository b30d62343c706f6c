/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Plain rows (lithe/private/vcrs/plan.h) from a CSR matrix: a product reads as little as possible besides columns and
   values
*/

#include <lithe/private/vcrs/fit.h>

/* The nonempty rows, their lengths, and the places of first entries */
static PetscErrorCode VCRSFindRows_Private(const VCRSBuild *b, VCRSPlan *plan)
{
  PetscInt  longest = 0, q = 0;
  PetscBool bytes;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < b->m; row++) {
    const PetscInt len = b->i[row + 1] - b->i[row];

    if (len) plan->longrows.n++;
    longest = PetscMax(longest, len);
  }
  if (plan->longrows.n < b->m) PetscCall(PetscMalloc1(PetscMax(1, plan->longrows.n), &plan->longrows.row));
  bytes = (PetscBool)(longest <= UINT8_MAX);
  if (bytes) {
    PetscCall(PetscMalloc1(plan->longrows.n, &plan->longrows.length));
    PetscCall(PetscMalloc1((plan->longrows.n + VCRS_SLICE - 1) / VCRS_SLICE, &plan->longrows.ptr));
  } else PetscCall(PetscMalloc1(plan->longrows.n + 1, &plan->longrows.ptr));
  for (PetscInt row = 0; row < b->m; row++) {
    if (b->i[row] == b->i[row + 1]) continue;
    if (plan->longrows.row) plan->longrows.row[q] = row;
    if (!bytes) plan->longrows.ptr[q] = b->i[row];
    else {
      plan->longrows.length[q] = (uint8_t)(b->i[row + 1] - b->i[row]);
      if (q % VCRS_SLICE == 0) plan->longrows.ptr[q / VCRS_SLICE] = b->i[row];
    }
    q++;
  }
  if (!bytes) plan->longrows.ptr[q] = b->i[b->m];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds rows with equal columns that are multiplied together, unless equal rows are few */
static PetscErrorCode VCRSFindAlikeRows_Private(const VCRSBuild *b, VCRSPlan *plan)
{
  PetscInt ngroups = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(plan->longrows.n, &plan->longrows.alike));
  for (PetscInt q = 0, end; q < plan->longrows.n; q = end, ngroups++) {
    const PetscInt row = VCRSLongRow(plan, q), len = b->i[row + 1] - b->i[row];

    for (end = q + 1; end < plan->longrows.n && end - q < VCRS_ALIKE; end++) {
      const PetscInt other = row + end - q;

      if (VCRSLongRow(plan, end) != other || b->i[other + 1] - b->i[other] != len) break;
      if (memcmp(b->j + b->i[row], b->j + b->i[other], (size_t)len * sizeof(*b->j)) != 0) break;
    }
    plan->longrows.alike[q] = (uint8_t)(end - q);
  }

  /* a mispredicted branch costs more than reading a few columns again */
  if (2 * (PetscInt64)plan->longrows.n < 3 * (PetscInt64)ngroups) PetscCall(PetscFree(plan->longrows.alike));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Shortens columns to two bytes, if the range of columns is small enough; otherwise no short columns exist after the
   call
*/
static PetscErrorCode VCRSShortenColumns_Private(const VCRSBuild *b, VCRSPlan *plan)
{
  const PetscInt nbase = (plan->longrows.n + VCRS_SLICE - 1) / VCRS_SLICE;
  PetscBool      fits  = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nbase, &plan->longrows.shortbase));
  PetscCall(LitheMallocLarge(plan->longrows.nentries + VCRS_ROWS_PAD, &plan->longrows.shortcol));
  for (PetscInt base = 0; base < nbase && fits; base++) {
    const PetscInt64 from = VCRSLongBegin(plan, VCRS_SLICE * base),
                     end  = base + 1 < nbase ? VCRSLongBegin(plan, VCRS_SLICE * (base + 1)) : plan->longrows.nentries;
    PetscInt least = b->j[from], most = least;

    for (PetscInt64 p = from; p < end; p++) {
      least = PetscMin(least, b->j[p]);
      most  = PetscMax(most, b->j[p]);
    }
    fits                           = (PetscBool)(most - least <= UINT16_MAX);
    plan->longrows.shortbase[base] = least;
    for (PetscInt64 p = from; p < end && fits; p++) plan->longrows.shortcol[p] = (uint16_t)(b->j[p] - least);
  }
  if (fits) PetscCall(PetscArrayzero(plan->longrows.shortcol + plan->longrows.nentries, VCRS_ROWS_PAD));
  else {
    PetscCall(PetscFree(plan->longrows.shortcol));
    PetscCall(PetscFree(plan->longrows.shortbase));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole plan; b holds the matrix without loss */
PetscErrorCode VCRSBuildRows(const VCRSBuild *b, VCRSPlan *plan)
{
  PetscScalar *value;

  PetscFunctionBegin;
  plan->layout            = MATVCRS_LAYOUT_L3;
  plan->values            = VCRS_VALUES_FULL;
  plan->plainrows         = PETSC_TRUE;
  plan->longrows.nentries = plan->slices.nvalue = b->i[b->m];
  PetscCall(PetscCalloc1(1, &plan->slices.ptr));
  PetscCall(PetscCalloc1(1, &plan->columns.begin));
  PetscCall(VCRSFindRows_Private(b, plan));
  PetscCall(VCRSFindAlikeRows_Private(b, plan));
  if (plan->longrows.nentries >= VCRS_ROWS_LARGE) PetscCall(VCRSShortenColumns_Private(b, plan));
  if (!plan->longrows.shortcol) {
    PetscCall(LitheMallocLarge(plan->longrows.nentries + VCRS_ROWS_PAD, &plan->longrows.col));
    PetscCall(PetscArraycpy(plan->longrows.col, b->j, plan->longrows.nentries));
    PetscCall(PetscArrayzero(plan->longrows.col + plan->longrows.nentries, VCRS_ROWS_PAD));
  }
  PetscCall(LitheMallocLarge(plan->slices.nvalue + VCRS_ROWS_PAD, &value));
  PetscCall(PetscArraycpy(value, b->a, plan->slices.nvalue));
  PetscCall(PetscArrayzero(value + plan->slices.nvalue, VCRS_ROWS_PAD));
  plan->slices.value = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}
