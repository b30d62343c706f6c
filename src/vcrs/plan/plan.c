/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The memory of a plan on the host */

#include <lithe/private/vcrs/host.h>

/* Slices and long rows, but for values and columns.offset */
static PetscErrorCode VCRSPlanFreeSlices_Private(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(plan->lanes.length));
  PetscCall(PetscFree(plan->lanes.perm));
  PetscCall(PetscFree(plan->slices.ptr));
  PetscCall(PetscFree(plan->columns.begin));
  PetscCall(PetscFree(plan->columns.base));
  PetscCall(PetscFree(plan->columns.width));
  PetscCall(PetscFree(plan->groups.ptr));
  PetscCall(PetscFree(plan->groups.first));
  PetscCall(PetscFree(plan->groups.group));
  PetscCall(PetscFree(plan->longrows.row));
  PetscCall(PetscFree(plan->longrows.ptr));
  PetscCall(PetscFree(plan->longrows.length));
  PetscCall(PetscFree(plan->longrows.col));
  PetscCall(PetscFree(plan->longrows.shortcol));
  PetscCall(PetscFree(plan->longrows.shortbase));
  PetscCall(PetscFree(plan->longrows.alike));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSForgetSlices(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanFreeSlices_Private(plan));
  plan->lanes.sorted = PETSC_FALSE;
  plan->slices.n = plan->longrows.n = 0;
  plan->slices.nvalue = plan->longrows.value = plan->columns.nbase = plan->columns.nbytes = plan->longrows.nentries = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanFreeArrays(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanFreeSlices_Private(plan));
  PetscCall(PetscFree(plan->literal.length));
  PetscCall(PetscFree(plan->literal.first));
  PetscCall(PetscFree(plan->literal.idxptr));
  PetscCall(PetscFree(plan->literal.dataptr));
  PetscCall(PetscFree(plan->literal.idx));
  PetscCall(PetscFree(plan->literal.data));
  PetscCall(PetscFree(plan->sets.id));
  PetscCall(PetscFree(plan->slices.value));
  PetscCall(PetscFree(plan->columns.offset));
  PetscCall(PetscFree(plan->decoding.exponent));
  PetscCall(PetscFree(plan->sums.value));
  PetscCall(PetscFree(plan->sums.mask));
  PetscCall(PetscFree(plan->sums.ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanFreeTables(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(plan->sets.ptr));
  PetscCall(PetscFree(plan->sets.offset));
  PetscCall(PetscFree(plan->sets.value));
  PetscCall(PetscFree(plan->sets.count));
  PetscCall(PetscFree(plan->decoding.dict));
  PetscCall(PetscFree(plan->decoding.coarse));
  PetscCall(PetscFree(plan->decoding.fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanDestroy(VCRSPlan **p)
{
  VCRSPlan *plan = *p;

  PetscFunctionBegin;
  *p = NULL;
  if (!plan || plan->shared-- > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSPlanFreeArrays(plan));
  PetscCall(VCRSPlanFreeTables(plan));
  PetscCall(PetscFree(plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanGetBytes(const VCRSPlan *plan, size_t *bytes, size_t *tablebytes)
{
  const size_t m = (size_t)plan->m, nslices = (size_t)plan->slices.n, nlong = (size_t)plan->longrows.n;
  size_t       table = 0, rest = 0;

  PetscFunctionBegin;
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) {
    table = (size_t)plan->literal.nidx * sizeof(PetscInt) + (size_t)plan->literal.ndata * sizeof(PetscScalar);
    rest  = 4 * m * sizeof(PetscInt);
  }
  if (plan->sets.ptr) {
    const size_t total = (size_t)plan->sets.ptr[plan->sets.n];

    table += ((size_t)plan->sets.n + 1) * sizeof(PetscInt) + total * sizeof(PetscInt);
    if (plan->sets.value) table += total * sizeof(PetscScalar);
    rest += m * (size_t)plan->sets.idbytes + (plan->sets.count ? (size_t)plan->sets.n * sizeof(PetscInt) : 0);
  }
  table += (size_t)plan->decoding.ndict * sizeof(PetscScalar) + (plan->decoding.coarse ? 512 * sizeof(PetscReal) : 0);
  if (plan->layout != MATVCRS_LAYOUT_LITERAL && plan->layout != MATVCRS_LAYOUT_L0)
    rest += (nslices + 1) * sizeof(PetscInt64) + (size_t)plan->slices.nvalue * VCRSValueBytes(plan->values);
  if (plan->layout == MATVCRS_LAYOUT_L3) {
    if (plan->grouped) rest += (2 * (size_t)VCRSWindows(plan) + 1) * sizeof(PetscInt) + (size_t)plan->groups.n * sizeof(uint16_t);
    else rest += nslices + (nslices + 1) * sizeof(PetscInt64) + (size_t)plan->columns.nbase * sizeof(PetscInt);
    rest += (size_t)plan->columns.nbytes;
    rest += VCRS_SLICE * nslices * (plan->lanes.sorted ? 2 : 1);
    if (nlong) {
      const size_t nblocks = (nlong + VCRS_SLICE - 1) / VCRS_SLICE;

      rest += (plan->longrows.row ? nlong * sizeof(PetscInt) : 0) +
              (plan->longrows.length ? nlong + nblocks * sizeof(PetscInt64) : (nlong + 1) * sizeof(PetscInt64)) + (plan->longrows.alike ? nlong : 0);
      rest += (size_t)plan->longrows.nentries * (plan->longrows.shortcol ? sizeof(uint16_t) : sizeof(PetscInt)) +
              (plan->longrows.shortcol ? nblocks * sizeof(PetscInt) : 0);
    }
  }
  if (plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16) rest += m * sizeof(int16_t);
  rest += (size_t)plan->sums.n * sizeof(PetscScalar);
  if (plan->sums.kind == VCRS_SIGMA_SPARSE) rest += (m + 31) / 32 * (sizeof(uint32_t) + sizeof(PetscInt));
  if (bytes) *bytes = table + rest;
  if (tablebytes) *tablebytes = table;
  PetscFunctionReturn(PETSC_SUCCESS);
}
