/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Writes the arrays of a plan with chosen layout and container, and reads them back. include/lithe/private/vcrsplan.h
   describes the arrays.
*/

#include "buildimpl.h"

/* ------------------------------------------------------------------ writing */

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
  ierr = VCRSEncodeEnds_Private(b, sets, "index sets", &start[0], &plan->nliteralidx);
  if (!ierr) ierr = VCRSEncodeEnds_Private(b, values, "value sets", &start[1], &plan->nliteraldata);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->length);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->first);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->idxptr);
  if (!ierr) ierr = PetscMalloc1(b->m, &plan->dataptr);
  if (!ierr) ierr = PetscMalloc1(plan->nliteralidx, &plan->literalidx);
  if (!ierr) ierr = PetscMalloc1(plan->nliteraldata, &plan->literaldata);
  if (!ierr) {
    for (PetscInt row = 0; row < b->m; row++) {
      plan->length[row]  = b->i[row + 1] - b->i[row];
      plan->first[row]   = plan->length[row] ? b->j[b->i[row]] : 0;
      plan->idxptr[row]  = start[0][setid[row]];
      plan->dataptr[row] = start[1][valueid[row]];
    }
    for (PetscInt p = 0; p < sets->n; p++) {
      const PetscInt row = sets->rep[p];

      for (PetscInt k = 0; k < plan->length[row]; k++) plan->literalidx[start[0][p] + k] = b->j[b->i[row] + k] - plan->first[row];
    }
    for (PetscInt p = 0; p < values->n; p++) {
      const PetscInt row = values->rep[p];

      if (plan->length[row]) memcpy(plan->literaldata + start[1][p], b->a + b->i[row], sizeof(PetscScalar) * (size_t)plan->length[row]);
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
  const VCRSSets *s     = pairs ? &b->pairs : &b->sets;
  const PetscInt *id    = pairs ? b->pairid : b->setid;
  PetscInt        total;

  PetscFunctionBegin;
  plan->nsets   = s->n;
  plan->idbytes = s->n <= 256 ? 1 : (s->n <= 65536 ? 2 : 4);
  PetscCall(VCRSEncodeEnds_Private(b, s, pairs ? "pairs of index and value set" : "index sets", &plan->setptr, &total));
  PetscCall(PetscMalloc((size_t)plan->idbytes * (size_t)b->m, &plan->id));
  if (plan->idbytes == 1) {
    for (PetscInt row = 0; row < b->m; row++) ((uint8_t *)plan->id)[row] = (uint8_t)id[row];
  } else if (plan->idbytes == 2) {
    for (PetscInt row = 0; row < b->m; row++) ((uint16_t *)plan->id)[row] = (uint16_t)id[row];
  } else {
    for (PetscInt row = 0; row < b->m; row++) ((uint32_t *)plan->id)[row] = (uint32_t)id[row];
  }
  PetscCall(PetscMalloc1(total, &plan->setoffset));
  PetscCall(PetscMalloc1(s->n, &plan->setcount));
  PetscCall(PetscArraycpy(plan->setcount, s->count, s->n));
  if (pairs) PetscCall(PetscMalloc1(total, &plan->setvalue));
  for (PetscInt p = 0; p < s->n; p++) {
    const PetscInt row = s->rep[p], from = b->i[row], to = plan->setptr[p], len = b->i[row + 1] - from;

    for (PetscInt k = 0; k < len; k++) plan->setoffset[to + k] = b->j[from + k] - row;
    if (pairs && len) {
      memcpy(plan->setvalue + to, VCRSRowValues(b, row, 0), sizeof(PetscScalar) * (size_t)len);
      if (b->difference) {
        plan->setvalue[to] = 0.;
        for (PetscInt k = 1; k < len; k++) plan->setvalue[to] -= plan->setvalue[to + k];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores a fixed point component, in steps, as number `at` of value[] */
static inline void VCRSPutSteps(VCRSPlan *plan, PetscInt64 at, int steps)
{
  if (plan->values == VCRS_VALUES_FIXED8) ((int8_t *)plan->value)[at] = (int8_t)steps;
  else ((int16_t *)plan->value)[at] = (int16_t)steps;
}

/* Stores the entries of a row, without the reference of the difference form, at pos, pos + stride, ... of value[] */
static inline void VCRSPut(const VCRSBuild *b, VCRSPlan *plan, PetscInt row, PetscInt64 pos, PetscInt64 stride)
{
  const PetscInt     nc = VCRS_COMPONENTS, first = b->difference ? 1 : 0, from = b->i[row] + first, n = b->i[row + 1] - from;
  const PetscScalar *a;
  const PetscReal   *v;
  const uint16_t    *code = b->code ? b->code + (size_t)from * nc : NULL;

  switch (plan->values) {
  case VCRS_VALUES_FULL:
    a = VCRSRowValues(b, row, 0) + first;
    for (PetscInt k = 0; k < n; k++) memcpy((PetscScalar *)plan->value + pos + stride * k, a + k, sizeof(PetscScalar));
    break;
  case VCRS_VALUES_SINGLE:
    v = (const PetscReal *)(VCRSRowValues(b, row, 0) + first);
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) ((float *)plan->value)[(pos + stride * k) * nc + c] = (float)v[k * nc + c];
    }
    break;
  case VCRS_VALUES_DICT8:
    for (PetscInt k = 0; k < n; k++) ((uint8_t *)plan->value)[pos + stride * k] = (uint8_t)b->dictcode[from + k];
    break;
  case VCRS_VALUES_DICT16:
    for (PetscInt k = 0; k < n; k++) ((uint16_t *)plan->value)[pos + stride * k] = b->dictcode[from + k];
    break;
  case VCRS_VALUES_LOG8:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) ((uint8_t *)plan->value)[(pos + stride * k) * nc + c] = (uint8_t)code[k * nc + c];
    }
    break;
  case VCRS_VALUES_LOG16:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) ((uint16_t *)plan->value)[(pos + stride * k) * nc + c] = code[k * nc + c];
    }
    break;
  case VCRS_VALUES_FIXED8:
  case VCRS_VALUES_FIXED16: {
    const PetscInt nreal = n * nc;

    if (code && !b->log) {
      const int shift = PetscMin(PetscMax(0, b->exponent[row] - b->rowexp[row]), 15); /* all bits, in a row of zeros */

      for (PetscInt k = 0; k < nreal; k++) VCRSPutSteps(plan, (pos + stride * (k / nc)) * nc + k % nc, (int16_t)code[k] >> shift);
    } else {
      double per[2];

      v = (const PetscReal *)(VCRSRowValues(b, row, 0) + first);
      LitheFixedReciprocal(b->exponent[row], per);
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
    plan->nslices = (b->m + VCRS_SLICE - 1) / VCRS_SLICE;
    PetscCall(PetscMalloc1(plan->nslices + 1, &plan->sliceptr));
    plan->sliceptr[0] = 0;
    for (PetscInt s = 0; s < plan->nslices; s++) {
      PetscInt max = 0;

      for (PetscInt row = VCRS_SLICE * s; row < PetscMin(VCRS_SLICE * (s + 1), b->m); row++) max = PetscMax(max, b->i[row + 1] - b->i[row] - first);
      plan->sliceptr[s + 1] = plan->sliceptr[s] + VCRS_SLICE * (PetscInt64)max;
    }
    plan->nvalue = plan->longvalue = plan->sliceptr[plan->nslices];
  } else {
    PetscCall(VCRSMallocLarge(plan->ncolbytes, &plan->coloffset));
    PetscCall(PetscMemzero(plan->coloffset, (size_t)plan->ncolbytes));
    if (plan->grouped) PetscCall(VCRSEncodeGroups(b, plan));
  }
  room = bytes * (size_t)plan->nvalue;
  PetscCall(VCRSAllocateLarge(room, &plan->value));
  if (room) PetscCall(PetscMemzero(plan->value, room));

  /* slices */
  for (PetscInt s = 0; s < plan->nslices; s++) {
    for (PetscInt l = 0; l < VCRS_SLICE; l++) {
      const PetscInt row = (PetscInt)VCRSLaneRow(plan, VCRS_SLICE * s + l);
      PetscInt       len;

      if (row >= b->m) continue;
      len = plan->layout == MATVCRS_LAYOUT_L3 ? plan->rowlength[VCRS_SLICE * s + l] : b->i[row + 1] - b->i[row];
      if (len > first) VCRSPut(b, plan, row, plan->sliceptr[s] + l, VCRS_SLICE);
      if (plan->layout == MATVCRS_LAYOUT_L3 && !plan->grouped) {
        const PetscInt *c = b->j + b->i[row], *base = plan->colbase + VCRSColumnBase(plan, s);
        uint8_t        *to = plan->coloffset + plan->sliceoffset[s];

        switch (plan->slicewidth[s]) {
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
  for (PetscInt q = 0; q < plan->nlong; q++) {
    const PetscInt row = plan->longrow[q];

    VCRSPut(b, plan, row, plan->longvalue + plan->longptr[q] + first, 1);
  }

  /* decoding */
  if (plan->values == VCRS_VALUES_DICT8 || plan->values == VCRS_VALUES_DICT16) {
    plan->ndict = b->facts.ndict;
    PetscCall(PetscMalloc1(b->facts.ndict, &plan->dict));
    if (b->facts.ndict) memcpy(plan->dict, b->dict, sizeof(PetscScalar) * (size_t)b->facts.ndict);
  } else if (plan->values == VCRS_VALUES_LOG8 || plan->values == VCRS_VALUES_LOG16) {
    PetscCall(PetscMalloc1(256, &plan->logcoarse));
    PetscCall(PetscMalloc1(256, &plan->logfine));
    PetscCall(PetscArraycpy(plan->logcoarse, b->log->coarse, 256));
    PetscCall(PetscArraycpy(plan->logfine, b->log->fine, 256));
    PetscCall(PetscArraycpy(plan->logpower, b->log->power, VCRS_LOG_POWERS));
    plan->shortlog = b->log->isshort ? PETSC_TRUE : PETSC_FALSE;
  } else if (plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16) {
    PetscCall(PetscMalloc1(b->m, &plan->exponent));
    PetscCall(PetscArraycpy(plan->exponent, b->exponent, b->m));
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
  plan->sigmakind = VCRSChooseSigma(b->m, n);
  if (plan->sigmakind == VCRS_SIGMA_SPARSE) {
    plan->nsigma = n;
    PetscCall(PetscMalloc1(n, &plan->sigma));
    PetscCall(PetscCalloc1(nmask, &plan->sigmamask));
    PetscCall(PetscMalloc1(nmask, &plan->sigmaptr));
    n = 0;
    for (PetscInt row = 0; row < b->m; row++) {
      if (row % 32 == 0) plan->sigmaptr[row / 32] = (PetscInt)n;
      if (b->sigma[row] == (PetscScalar)0.) continue;
      plan->sigmamask[row / 32] |= (uint32_t)1 << (row % 32);
      plan->sigma[n++] = b->sigma[row];
    }
  } else if (plan->sigmakind == VCRS_SIGMA_FULL) {
    plan->nsigma = b->m;
    PetscCall(PetscMalloc1(b->m, &plan->sigma));
    PetscCall(PetscArraycpy(plan->sigma, b->sigma, b->m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ reading */

static inline PetscInt VCRSGetId(const VCRSPlan *plan, PetscInt row)
{
  if (plan->idbytes == 1) return (PetscInt)((const uint8_t *)plan->id)[row];
  if (plan->idbytes == 2) return (PetscInt)((const uint16_t *)plan->id)[row];
  return (PetscInt)((const uint32_t *)plan->id)[row];
}

/* n stored entries at pos, pos + stride, ... of value[] */
static inline void VCRSGet(const VCRSPlan *plan, PetscInt row, PetscInt n, PetscInt64 pos, PetscInt64 stride, PetscScalar vals[])
{
  const PetscInt nc = VCRS_COMPONENTS;
  PetscReal     *v  = (PetscReal *)vals;

  switch (plan->values) {
  case VCRS_VALUES_FULL:
    for (PetscInt k = 0; k < n; k++) memcpy(vals + k, (const PetscScalar *)plan->value + pos + stride * k, sizeof(PetscScalar));
    break;
  case VCRS_VALUES_SINGLE:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) v[k * nc + c] = (PetscReal)((const float *)plan->value)[(pos + stride * k) * nc + c];
    }
    break;
  case VCRS_VALUES_DICT8:
    for (PetscInt k = 0; k < n; k++) memcpy(vals + k, plan->dict + ((const uint8_t *)plan->value)[pos + stride * k], sizeof(PetscScalar));
    break;
  case VCRS_VALUES_DICT16:
    for (PetscInt k = 0; k < n; k++) memcpy(vals + k, plan->dict + ((const uint16_t *)plan->value)[pos + stride * k], sizeof(PetscScalar));
    break;
  case VCRS_VALUES_LOG8:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) v[k * nc + c] = plan->logcoarse[((const uint8_t *)plan->value)[(pos + stride * k) * nc + c]];
    }
    break;
  case VCRS_VALUES_LOG16:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) {
        const uint16_t code = ((const uint16_t *)plan->value)[(pos + stride * k) * nc + c];

        v[k * nc + c] = plan->logcoarse[code >> 8] * plan->logfine[code & 255];
      }
    }
    break;
  case VCRS_VALUES_FIXED8:
  case VCRS_VALUES_FIXED16: {
    const double step = LithePow2(plan->exponent[row]);

    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) {
        const PetscInt64 p = (pos + stride * k) * nc + c;

        v[k * nc + c] = (PetscReal)((plan->values == VCRS_VALUES_FIXED8 ? (double)((const int8_t *)plan->value)[p]
                                                                        : (double)((const int16_t *)plan->value)[p]) *
                                    step);
      }
    }
  } break;
  }
}

static inline PetscScalar VCRSGetSigma(const VCRSPlan *plan, PetscInt row)
{
  uint32_t mask, below;
  PetscInt n = 0;

  if (plan->sigmakind == VCRS_SIGMA_NONE) return 0.;
  if (plan->sigmakind == VCRS_SIGMA_FULL) return plan->sigma[row];
  mask = plan->sigmamask[row / 32];
  if (!(mask >> (row % 32) & 1)) return 0.;
  for (below = mask & (((uint32_t)1 << (row % 32)) - 1); below; below &= below - 1) n++;
  return plan->sigma[plan->sigmaptr[row / 32] + n];
}

/* A row in the order of storage -> ascending columns; the reference gets the value implied by the row sum */
static inline void VCRSFinishRow(const VCRSPlan *plan, PetscInt row, PetscInt len, PetscInt cols[], PetscScalar vals[])
{
  PetscScalar sum = 0., implied;
  PetscInt    ref, k;

  if (!plan->difference || !len) return;
  for (k = 1; k < len; k++) sum += vals[k];
  implied = VCRSGetSigma(plan, row) - sum;
  ref     = cols[0];
  for (k = 1; k < len && cols[k] < ref; k++) {
    cols[k - 1] = cols[k];
    vals[k - 1] = vals[k];
  }
  cols[k - 1] = ref;
  vals[k - 1] = implied;
}

static inline void VCRSGetSet(const VCRSPlan *plan, PetscInt row, PetscInt len, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt first = plan->difference ? 1 : 0, p = plan->setptr[VCRSGetId(plan, row)];

  for (PetscInt k = 0; k < len; k++) cols[k] = row + plan->setoffset[p + k];
  if (!len) return;
  if (plan->layout == MATVCRS_LAYOUT_L0) memcpy(vals, plan->setvalue + p, sizeof(PetscScalar) * (size_t)len);
  else VCRSGet(plan, row, len - first, plan->sliceptr[row / VCRS_SLICE] + row % VCRS_SLICE, VCRS_SLICE, vals + first);
}

static inline void VCRSGetLiteral(const VCRSPlan *plan, PetscInt row, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt len = plan->length[row];

  for (PetscInt k = 0; k < len; k++) cols[k] = plan->first[row] + plan->literalidx[plan->idxptr[row] + k];
  if (len) memcpy(vals, plan->literaldata + plan->dataptr[row], sizeof(PetscScalar) * (size_t)len);
}

static inline void VCRSGetLane(const VCRSPlan *plan, PetscInt row, PetscInt s, PetscInt l, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt  first = plan->difference ? 1 : 0, len = plan->rowlength[VCRS_SLICE * s + l];
  const PetscInt *base = plan->grouped ? NULL : plan->colbase + VCRSColumnBase(plan, s);
  const uint8_t  *from = plan->grouped ? plan->coloffset + sizeof(uint16_t) * VCRS_SLICE * (size_t)VCRSColumnBase(plan, s)
                                       : plan->coloffset + plan->sliceoffset[s];

  switch (plan->grouped ? 0 : plan->slicewidth[s]) {
  case 0:
    for (PetscInt k = 0; k < len; k++) cols[k] = VCRSGroupedColumn(plan, s / VCRS_WINDOW_SLICES, ((const uint16_t *)from)[VCRS_SLICE * k + l]);
    break;
  case 1:
    for (PetscInt k = 0; k < len; k++) cols[k] = base[k] + (PetscInt)from[VCRS_SLICE * k + l];
    break;
  case 2:
    for (PetscInt k = 0; k < len; k++) cols[k] = base[k] + (PetscInt)((const uint16_t *)from)[VCRS_SLICE * k + l];
    break;
  case 4:
    for (PetscInt k = 0; k < len; k++) cols[k] = base[k] + (PetscInt)((const uint32_t *)from)[VCRS_SLICE * k + l];
    break;
  default:
    for (PetscInt k = 0; k < len; k++) cols[k] = base[k] + (PetscInt)((const uint64_t *)from)[VCRS_SLICE * k + l];
  }
  if (len > first) VCRSGet(plan, row, len - first, plan->sliceptr[s] + l, VCRS_SLICE, vals + first);
}

static inline void VCRSGetLong(const VCRSPlan *plan, PetscInt q, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt   first = plan->difference ? 1 : 0;
  const PetscInt64 p     = VCRSLongBegin(plan, q);
  const PetscInt   len   = VCRSLongLength(plan, q);

  for (PetscInt k = 0; k < len; k++) cols[k] = VCRSLongColumn(plan, q, p + k);
  VCRSGet(plan, VCRSLongRow(plan, q), len - first, plan->longvalue + p + first, 1, vals + first);
}

PetscErrorCode VCRSPlanDecodeRowPointers(const VCRSPlan *plan, PetscInt i[])
{
  PetscFunctionBegin;
  i[0] = 0;
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) {
    for (PetscInt row = 0; row < plan->m; row++) i[row + 1] = plan->length[row];
  } else if (plan->layout == MATVCRS_LAYOUT_L3) {
    for (PetscInt s = 0; s < plan->nslices; s++) {
      for (PetscInt l = 0; l < VCRS_SLICE; l++) {
        const PetscInt row = (PetscInt)VCRSLaneRow(plan, VCRS_SLICE * s + l);

        if (row < plan->m) i[row + 1] = plan->rowlength[VCRS_SLICE * s + l];
      }
    }
    if (plan->plainrows) PetscCall(PetscArrayzero(i, plan->m + 1));
    for (PetscInt q = 0; q < plan->nlong; q++) i[VCRSLongRow(plan, q) + 1] = VCRSLongLength(plan, q);
  } else {
    for (PetscInt row = 0; row < plan->m; row++) {
      const PetscInt p = VCRSGetId(plan, row);

      i[row + 1] = plan->setptr[p + 1] - plan->setptr[p];
    }
  }
  for (PetscInt row = 0; row < plan->m; row++) i[row + 1] += i[row];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanDecode(const VCRSPlan *plan, PetscInt i[], PetscInt j[], PetscScalar a[])
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanDecodeRowPointers(plan, i));
  if (plan->layout == MATVCRS_LAYOUT_L3) {
    for (PetscInt s = 0; s < plan->nslices; s++) {
      for (PetscInt l = 0; l < VCRS_SLICE; l++) {
        const PetscInt row = (PetscInt)VCRSLaneRow(plan, VCRS_SLICE * s + l), len = plan->rowlength[VCRS_SLICE * s + l];

        if (!len) continue;
        VCRSGetLane(plan, row, s, l, j + i[row], a + i[row]);
        VCRSFinishRow(plan, row, len, j + i[row], a + i[row]);
      }
    }
    for (PetscInt q = 0; q < plan->nlong; q++) {
      const PetscInt row = VCRSLongRow(plan, q);

      VCRSGetLong(plan, q, j + i[row], a + i[row]);
      VCRSFinishRow(plan, row, i[row + 1] - i[row], j + i[row], a + i[row]);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt row = 0; row < plan->m; row++) {
    const PetscInt len = i[row + 1] - i[row];

    if (plan->layout == MATVCRS_LAYOUT_LITERAL) VCRSGetLiteral(plan, row, j + i[row], a + i[row]);
    else VCRSGetSet(plan, row, len, j + i[row], a + i[row]);
    VCRSFinishRow(plan, row, len, j + i[row], a + i[row]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanDecodeRow(const VCRSPlan *plan, PetscInt row, PetscInt *n, PetscInt cols[], PetscScalar vals[])
{
  PetscInt len;

  PetscFunctionBegin;
  PetscCheck(row >= 0 && row < plan->m, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Row %" PetscInt_FMT " of a matrix with %" PetscInt_FMT " rows", row,
             plan->m);
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) {
    len = plan->length[row];
    VCRSGetLiteral(plan, row, cols, vals);
  } else if (plan->layout == MATVCRS_LAYOUT_L3) {
    PetscInt lane = row, low = 0, high = plan->nlong;

    /* is the row long? If all are long, the number is known */
    if (high == plan->m) low = high = row;
    while (low < high) {
      const PetscInt mid = low + (high - low) / 2;

      if (VCRSLongRow(plan, mid) < row) low = mid + 1;
      else high = mid;
    }
    if (low < plan->nlong && VCRSLongRow(plan, low) == row) {
      len = VCRSLongLength(plan, low);
      VCRSGetLong(plan, low, cols, vals);
    } else if (plan->plainrows) {
      len = 0;
    } else {
      if (plan->rowperm) {
        for (lane = row / VCRS_WINDOW * VCRS_WINDOW; plan->rowperm[lane] != row % VCRS_WINDOW; lane++) {
        }
      }
      len = plan->rowlength[lane];
      if (len) VCRSGetLane(plan, row, lane / VCRS_SLICE, lane % VCRS_SLICE, cols, vals);
    }
  } else {
    const PetscInt p = VCRSGetId(plan, row);

    len = plan->setptr[p + 1] - plan->setptr[p];
    VCRSGetSet(plan, row, len, cols, vals);
  }
  VCRSFinishRow(plan, row, len, cols, vals);
  *n = len;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSPlanMaxRowLength(const VCRSPlan *plan, PetscInt *max)
{
  PetscFunctionBegin;
  *max = 0;
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) {
    for (PetscInt row = 0; row < plan->m; row++) *max = PetscMax(*max, plan->length[row]);
  } else if (plan->layout == MATVCRS_LAYOUT_L3) {
    for (PetscInt l = 0; l < VCRS_SLICE * plan->nslices; l++) *max = PetscMax(*max, (PetscInt)plan->rowlength[l]);
    for (PetscInt q = 0; q < plan->nlong; q++) *max = PetscMax(*max, VCRSLongLength(plan, q));
  } else {
    for (PetscInt p = 0; p < plan->nsets; p++) *max = PetscMax(*max, plan->setptr[p + 1] - plan->setptr[p]);
  }
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
