/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The memory of a plan on the host */

#include <lithe/private/vcrs/host.h>

PetscErrorCode VCRSForgetSlices(VCRSPlan *plan)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(plan->rowlength));
  PetscCall(PetscFree(plan->rowperm));
  PetscCall(PetscFree(plan->sliceptr));
  PetscCall(PetscFree(plan->sliceoffset));
  PetscCall(PetscFree(plan->colbase));
  PetscCall(PetscFree(plan->slicewidth));
  PetscCall(PetscFree(plan->groupptr));
  PetscCall(PetscFree(plan->groupfirst));
  PetscCall(PetscFree(plan->group));
  PetscCall(PetscFree(plan->longrow));
  PetscCall(PetscFree(plan->longptr));
  PetscCall(PetscFree(plan->longlength));
  PetscCall(PetscFree(plan->longcol));
  PetscCall(PetscFree(plan->shortcol));
  PetscCall(PetscFree(plan->shortbase));
  PetscCall(PetscFree(plan->longalike));
  plan->nslices = plan->nlong = 0;
  plan->nvalue = plan->longvalue = plan->ncolbase = plan->ncolbytes = plan->nlongentries = 0;

  plan->sorted = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanDestroy(VCRSPlan **p)
{
  VCRSPlan *plan = *p;

  PetscFunctionBegin;
  *p = NULL;
  if (!plan || plan->shared-- > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VCRSForgetSlices(plan));
  PetscCall(PetscFree(plan->length));
  PetscCall(PetscFree(plan->first));
  PetscCall(PetscFree(plan->idxptr));
  PetscCall(PetscFree(plan->dataptr));
  PetscCall(PetscFree(plan->literalidx));
  PetscCall(PetscFree(plan->literaldata));
  PetscCall(PetscFree(plan->id));
  PetscCall(PetscFree(plan->setptr));
  PetscCall(PetscFree(plan->setoffset));
  PetscCall(PetscFree(plan->setvalue));
  PetscCall(PetscFree(plan->setcount));
  PetscCall(PetscFree(plan->value));
  PetscCall(PetscFree(plan->coloffset));
  PetscCall(PetscFree(plan->dict));
  PetscCall(PetscFree(plan->logcoarse));
  PetscCall(PetscFree(plan->logfine));
  PetscCall(PetscFree(plan->exponent));
  PetscCall(PetscFree(plan->sigma));
  PetscCall(PetscFree(plan->sigmamask));
  PetscCall(PetscFree(plan->sigmaptr));
  PetscCall(PetscFree(plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanGetBytes(const VCRSPlan *plan, size_t *bytes, size_t *tablebytes)
{
  const size_t m = (size_t)plan->m, nslices = (size_t)plan->nslices, nlong = (size_t)plan->nlong;
  size_t       table = 0, rest = 0;

  PetscFunctionBegin;
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) {
    table = (size_t)plan->nliteralidx * sizeof(PetscInt) + (size_t)plan->nliteraldata * sizeof(PetscScalar);
    rest  = 4 * m * sizeof(PetscInt);
  }
  if (plan->setptr) {
    const size_t total = (size_t)plan->setptr[plan->nsets];

    table += ((size_t)plan->nsets + 1) * sizeof(PetscInt) + total * sizeof(PetscInt);
    if (plan->setvalue) table += total * sizeof(PetscScalar);
    rest += m * (size_t)plan->idbytes + (plan->setcount ? (size_t)plan->nsets * sizeof(PetscInt) : 0);
  }
  table += (size_t)plan->ndict * sizeof(PetscScalar) + (plan->logcoarse ? 512 * sizeof(PetscReal) : 0);
  if (plan->layout != MATVCRS_LAYOUT_LITERAL && plan->layout != MATVCRS_LAYOUT_L0)
    rest += (nslices + 1) * sizeof(PetscInt64) + (size_t)plan->nvalue * VCRSValueBytes(plan->values);
  if (plan->layout == MATVCRS_LAYOUT_L3) {
    if (plan->grouped) rest += (2 * (size_t)VCRSWindows(plan) + 1) * sizeof(PetscInt) + (size_t)plan->ngroups * sizeof(uint16_t);
    else rest += nslices + (nslices + 1) * sizeof(PetscInt64) + (size_t)plan->ncolbase * sizeof(PetscInt);
    rest += (size_t)plan->ncolbytes;
    rest += VCRS_SLICE * nslices * (plan->sorted ? 2 : 1);
    if (nlong) {
      const size_t nblocks = (nlong + VCRS_SLICE - 1) / VCRS_SLICE;

      rest += (plan->longrow ? nlong * sizeof(PetscInt) : 0) + (plan->longlength ? nlong + nblocks * sizeof(PetscInt64) : (nlong + 1) * sizeof(PetscInt64)) +
              (plan->longalike ? nlong : 0);
      rest += (size_t)plan->nlongentries * (plan->shortcol ? sizeof(uint16_t) : sizeof(PetscInt)) + (plan->shortcol ? nblocks * sizeof(PetscInt) : 0);
    }
  }
  if (plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16) rest += m * sizeof(int16_t);
  rest += (size_t)plan->nsigma * sizeof(PetscScalar);
  if (plan->sigmakind == VCRS_SIGMA_SPARSE) rest += (m + 31) / 32 * (sizeof(uint32_t) + sizeof(PetscInt));
  if (bytes) *bytes = table + rest;
  if (tablebytes) *tablebytes = table;
  PetscFunctionReturn(PETSC_SUCCESS);
}
