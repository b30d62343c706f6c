/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Writes the arrays of a plan with chosen layout and container. include/lithe/private/vcrs/plan.h describes the arrays;
   src/vcrs/plan/decode.c reads them back.
*/

#include "buildimpl.h"

/* Distinct sets laid end to end: the begin of each row's set */
static PetscErrorCode VCRSEncodeEnds_Private(const VCRSBuild *b, const VCRSSets *s, const char what[], PetscInt **ptr, PetscInt *total)
{
  PetscInt64 sum = 0;

  PetscFunctionBegin;
  for (PetscInt p = 0; p < s->n; p++) sum += b->i[s->rep[p] + 1] - b->i[s->rep[p]];
  PetscCheck(sum <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The %s of the matrix have %" PetscInt64_FMT " entries, too many for PetscInt: use -mat_vcrs_layout l3", what, sum);
  PetscCall(PetscMalloc1(s->n + 1, ptr));
  (*ptr)[0] = 0;
  for (PetscInt p = 0; p < s->n; p++) (*ptr)[p + 1] = (*ptr)[p] + b->i[s->rep[p] + 1] - b->i[s->rep[p]];
  *total = (PetscInt)sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSEncodeLiteral(const VCRSBuild *b, const VCRSSets *sets, const PetscInt setid[], const VCRSSets *values, const PetscInt valueid[],
                                 VCRSPlan *plan)
{
  PetscInt      *start[2] = {NULL, NULL};
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = VCRSEncodeEnds_Private(b, sets, "index sets", &start[0], &plan->literal.nidx);
  if (!ierr) ierr = VCRSEncodeEnds_Private(b, values, "value sets", &start[1], &plan->literal.ndata);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->literal.length);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->literal.first);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->literal.idxptr);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->literal.dataptr);
  if (!ierr) ierr = PetscMalloc1(plan->literal.nidx, &plan->literal.idx);
  if (!ierr) ierr = PetscMalloc1(plan->literal.ndata, &plan->literal.data);
  if (!ierr) {
    for (PetscInt row = 0; row < b->m; row++) {
      plan->literal.length[row]  = b->i[row + 1] - b->i[row];
      plan->literal.first[row]   = plan->literal.length[row] ? b->j[b->i[row]] : 0;
      plan->literal.idxptr[row]  = start[0][setid[row]];
      plan->literal.dataptr[row] = start[1][valueid[row]];
    }
    for (PetscInt p = 0; p < sets->n; p++) {
      const PetscInt row = sets->rep[p];

      for (PetscInt k = 0; k < plan->literal.length[row]; k++) plan->literal.idx[start[0][p] + k] = b->j[b->i[row] + k] - plan->literal.first[row];
    }
    for (PetscInt p = 0; p < values->n; p++) {
      const PetscInt row = values->rep[p];

      if (plan->literal.length[row]) memcpy(plan->literal.data + start[1][p], b->a + b->i[row], sizeof(PetscScalar) * (size_t)plan->literal.length[row]);
    }
  }
  PetscCall(PetscFree(start[0]));
  PetscCall(PetscFree(start[1]));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ids, index sets and, in L0, their values */
PetscErrorCode VCRSEncodeSets(VCRSBuild *b, VCRSPlan *plan)
{
  const PetscBool pairs = (PetscBool)(plan->layout == MATVCRS_LAYOUT_L0);
  const VCRSSets *s     = pairs ? &b->found.pairs : &b->found.sets;
  const PetscInt *id    = pairs ? b->found.pairid : b->found.setid;
  PetscInt        total;

  PetscFunctionBegin;
  plan->sets.n       = s->n;
  plan->sets.idbytes = s->n <= 256 ? 1 : (s->n <= 65536 ? 2 : 4);
  PetscCall(VCRSEncodeEnds_Private(b, s, pairs ? "pairs of index and value set" : "index sets", &plan->sets.ptr, &total));
  PetscCall(PetscMalloc((size_t)plan->sets.idbytes * (size_t)b->m, &plan->sets.id));
  if (plan->sets.idbytes == 1) {
    for (PetscInt row = 0; row < b->m; row++) ((uint8_t *)plan->sets.id)[row] = (uint8_t)id[row];
  } else if (plan->sets.idbytes == 2) {
    for (PetscInt row = 0; row < b->m; row++) ((uint16_t *)plan->sets.id)[row] = (uint16_t)id[row];
  } else {
    for (PetscInt row = 0; row < b->m; row++) ((uint32_t *)plan->sets.id)[row] = (uint32_t)id[row];
  }
  PetscCall(PetscMalloc1(total, &plan->sets.offset));
  PetscCall(PetscMalloc1(s->n, &plan->sets.count));
  PetscCall(PetscArraycpy(plan->sets.count, s->count, s->n));
  if (pairs) PetscCall(PetscMalloc1(total, &plan->sets.value));
  for (PetscInt p = 0; p < s->n; p++) {
    const PetscInt row = s->rep[p], from = b->i[row], to = plan->sets.ptr[p], len = b->i[row + 1] - from;

    for (PetscInt k = 0; k < len; k++) plan->sets.offset[to + k] = b->j[from + k] - row;
    if (pairs && len) {
      memcpy(plan->sets.value + to, VCRSRowValues(b, row, 0), sizeof(PetscScalar) * (size_t)len);
      if (b->difference) {
        plan->sets.value[to] = 0.;
        for (PetscInt k = 1; k < len; k++) plan->sets.value[to] -= plan->sets.value[to + k];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores a fixed point component, in steps, as number `at` of value[] */
static inline void VCRSPutSteps(VCRSPlan *plan, PetscInt64 at, int steps)
{
  if (plan->values == VCRS_VALUES_FIXED8) ((int8_t *)plan->slices.value)[at] = (int8_t)steps;
  else ((int16_t *)plan->slices.value)[at] = (int16_t)steps;
}

/* Stores the entries of a row, without the reference of the difference form, at pos, pos + stride, ... of value[] */
static inline void VCRSPut(const VCRSBuild *b, VCRSPlan *plan, PetscInt row, PetscInt64 pos, PetscInt64 stride)
{
  const PetscInt     nc = VCRS_COMPONENTS, first = b->difference ? 1 : 0, from = b->i[row] + first, n = b->i[row + 1] - from;
  const PetscScalar *a;
  const PetscReal   *v;
  const uint16_t    *code = b->rounded.code ? b->rounded.code + (size_t)from * nc : NULL;

  switch (plan->values) {
  case VCRS_VALUES_FULL:
    a = VCRSRowValues(b, row, 0) + first;
    for (PetscInt k = 0; k < n; k++) memcpy((PetscScalar *)plan->slices.value + pos + stride * k, a + k, sizeof(PetscScalar));
    break;
  case VCRS_VALUES_SINGLE:
    v = (const PetscReal *)(VCRSRowValues(b, row, 0) + first);
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) ((float *)plan->slices.value)[(pos + stride * k) * nc + c] = (float)v[k * nc + c];
    }
    break;
  case VCRS_VALUES_DICT8:
    for (PetscInt k = 0; k < n; k++) ((uint8_t *)plan->slices.value)[pos + stride * k] = (uint8_t)b->found.dictcode[from + k];
    break;
  case VCRS_VALUES_DICT16:
    for (PetscInt k = 0; k < n; k++) ((uint16_t *)plan->slices.value)[pos + stride * k] = b->found.dictcode[from + k];
    break;
  case VCRS_VALUES_LOG8:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) ((uint8_t *)plan->slices.value)[(pos + stride * k) * nc + c] = (uint8_t)code[k * nc + c];
    }
    break;
  case VCRS_VALUES_LOG16:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) ((uint16_t *)plan->slices.value)[(pos + stride * k) * nc + c] = code[k * nc + c];
    }
    break;
  case VCRS_VALUES_FIXED8:
  case VCRS_VALUES_FIXED16: {
    const PetscInt nreal = n * nc;

    if (code && !b->rounded.log) {
      const int shift = PetscMin(PetscMax(0, b->found.exponent[row] - b->rounded.rowexp[row]), 15); /* all bits, in a row of zeros */

      for (PetscInt k = 0; k < nreal; k++) VCRSPutSteps(plan, (pos + stride * (k / nc)) * nc + k % nc, (int16_t)code[k] >> shift);
    } else {
      double per[2];

      v = (const PetscReal *)(VCRSRowValues(b, row, 0) + first);
      LitheFixedReciprocal(b->found.exponent[row], per);
      for (PetscInt k = 0; k < nreal; k++) VCRSPutSteps(plan, (pos + stride * (k / nc)) * nc + k % nc, (int)((double)v[k] * per[0] * per[1]));
    }
  } break;
  }
}

/* Values of L1, L2 and L3, columns of L3, and their decoding data */
PetscErrorCode VCRSEncodeSlices(VCRSBuild *b, VCRSPlan *plan)
{
  const PetscInt first = b->difference ? 1 : 0;
  const size_t   bytes = VCRSValueBytes(plan->values);
  size_t         room;

  PetscFunctionBegin;
  /* the begins of slices, which the choice of L3 has already found */
  if (plan->layout != MATVCRS_LAYOUT_L3) {
    plan->slices.n = (b->m + VCRS_SLICE - 1) / VCRS_SLICE;
    PetscCall(PetscMalloc1(plan->slices.n + 1, &plan->slices.ptr));
    plan->slices.ptr[0] = 0;
    for (PetscInt s = 0; s < plan->slices.n; s++) {
      PetscInt max = 0;

      for (PetscInt row = VCRS_SLICE * s; row < PetscMin(VCRS_SLICE * (s + 1), b->m); row++) max = PetscMax(max, b->i[row + 1] - b->i[row] - first);
      plan->slices.ptr[s + 1] = plan->slices.ptr[s] + VCRS_SLICE * (PetscInt64)max;
    }
    plan->slices.nvalue = plan->longrows.value = plan->slices.ptr[plan->slices.n];
  } else {
    PetscCall(LitheMallocLarge(plan->columns.nbytes, &plan->columns.offset));
    PetscCall(PetscMemzero(plan->columns.offset, (size_t)plan->columns.nbytes));
    if (plan->grouped) PetscCall(VCRSEncodeGroups(b, plan));
  }
  room = bytes * (size_t)plan->slices.nvalue;
  PetscCall(LitheAllocateLarge(room, &plan->slices.value));
  if (room) PetscCall(PetscMemzero(plan->slices.value, room));

  /* slices */
  for (PetscInt s = 0; s < plan->slices.n; s++) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      const PetscInt row = (PetscInt)VCRSLaneRow(plan, VCRS_SLICE * s + l);
      PetscInt       len;

      if (row >= b->m) continue;
      len = plan->layout == MATVCRS_LAYOUT_L3 ? plan->lanes.length[VCRS_SLICE * s + l] : b->i[row + 1] - b->i[row];
      if (len > first) VCRSPut(b, plan, row, plan->slices.ptr[s] + l, VCRS_SLICE);
      if (plan->layout == MATVCRS_LAYOUT_L3 && !plan->grouped) {
        const PetscInt *c = b->j + b->i[row], *base = plan->columns.base + VCRSColumnBase(plan, s);
        uint8_t        *to = plan->columns.offset + plan->columns.begin[s];

        switch (plan->columns.width[s]) {
        case 1:
          for (PetscInt k = 0; k < len; k++) to[VCRS_SLICE * k + l] = (uint8_t)(c[k] - base[k]);
          break;
        case 2:
          for (PetscInt k = 0; k < len; k++) ((uint16_t *)to)[VCRS_SLICE * k + l] = (uint16_t)(c[k] - base[k]);
          break;
        case 4:
          for (PetscInt k = 0; k < len; k++) ((uint32_t *)to)[VCRS_SLICE * k + l] = (uint32_t)(c[k] - base[k]);
          break;
        default:
          for (PetscInt k = 0; k < len; k++) ((uint64_t *)to)[VCRS_SLICE * k + l] = (uint64_t)(c[k] - base[k]);
        }
      }
    }
  }

  /* long rows; in the difference form the slot of entry 0 stays zero */
  for (PetscInt q = 0; q < plan->longrows.n; q++) {
    const PetscInt row = plan->longrows.row[q];

    VCRSPut(b, plan, row, plan->longrows.value + plan->longrows.ptr[q] + first, 1);
  }

  /* decoding */
  if (plan->values == VCRS_VALUES_DICT8 || plan->values == VCRS_VALUES_DICT16) {
    plan->decoding.ndict = b->facts.ndict;
    PetscCall(PetscMalloc1(b->facts.ndict, &plan->decoding.dict));
    if (b->facts.ndict) memcpy(plan->decoding.dict, b->found.dict, sizeof(PetscScalar) * (size_t)b->facts.ndict);
  } else if (plan->values == VCRS_VALUES_LOG8 || plan->values == VCRS_VALUES_LOG16) {
    PetscCall(PetscMalloc1(256, &plan->decoding.coarse));
    PetscCall(PetscMalloc1(256, &plan->decoding.fine));
    PetscCall(PetscArraycpy(plan->decoding.coarse, b->rounded.log->coarse, 256));
    PetscCall(PetscArraycpy(plan->decoding.fine, b->rounded.log->fine, 256));
    PetscCall(PetscArraycpy(plan->decoding.power, b->rounded.log->power, VCRS_LOG_POWERS));
    plan->decoding.shortlog = b->rounded.log->isshort ? PETSC_TRUE : PETSC_FALSE;
  } else if (plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16) {
    PetscCall(PetscMalloc1(b->m, &plan->decoding.exponent));
    PetscCall(PetscArraycpy(plan->decoding.exponent, b->found.exponent, b->m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Row sums, in the smaller of two forms */
PetscErrorCode VCRSEncodeSigma(VCRSBuild *b, VCRSPlan *plan)
{
  const PetscInt nmask = (b->m + 31) / 32;
  PetscInt64     n     = 0;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < b->m; row++) n += b->sigma[row] != (PetscScalar)0.;
  plan->sums.kind = VCRSChooseSigma(b->m, n);
  if (plan->sums.kind == VCRS_SIGMA_SPARSE) {
    plan->sums.n = n;
    PetscCall(PetscMalloc1(n, &plan->sums.value));
    PetscCall(PetscCalloc1(nmask, &plan->sums.mask));
    PetscCall(PetscMalloc1(nmask, &plan->sums.ptr));
    n = 0;
    for (PetscInt row = 0; row < b->m; row++) {
      if (row % 32 == 0) plan->sums.ptr[row / 32] = (PetscInt)n;
      if (b->sigma[row] == (PetscScalar)0.) continue;
      plan->sums.mask[row / 32] |= (uint32_t)1 << (row % 32);
      plan->sums.value[n++] = b->sigma[row];
    }
  } else if (plan->sums.kind == VCRS_SIGMA_FULL) {
    plan->sums.n = b->m;
    PetscCall(PetscMalloc1(b->m, &plan->sums.value));
    PetscCall(PetscArraycpy(plan->sums.value, b->sigma, b->m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
