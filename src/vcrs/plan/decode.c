/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* From a plan on the host back to rows, in ascending columns */

#include <lithe/private/codec/grid.h>
#include <lithe/private/vcrs/host.h>

static inline PetscInt VCRSGetId(const VCRSPlan *plan, PetscInt row)
{
  if (plan->sets.idbytes == 1) return (PetscInt)((const uint8_t *)plan->sets.id)[row];
  if (plan->sets.idbytes == 2) return (PetscInt)((const uint16_t *)plan->sets.id)[row];
  return (PetscInt)((const uint32_t *)plan->sets.id)[row];
}

/* n stored entries at pos, pos + stride, ... of value[] */
static inline void VCRSGet(const VCRSPlan *plan, PetscInt row, PetscInt n, PetscInt64 pos, PetscInt64 stride, PetscScalar vals[])
{
  const PetscInt nc = VCRS_COMPONENTS;
  PetscReal     *v  = (PetscReal *)vals;

  switch (plan->values) {
  case VCRS_VALUES_FULL:
    for (PetscInt k = 0; k < n; k++) memcpy(vals + k, (const PetscScalar *)plan->slices.value + pos + stride * k, sizeof(PetscScalar));
    break;
  case VCRS_VALUES_SINGLE:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) v[k * nc + c] = (PetscReal)((const float *)plan->slices.value)[(pos + stride * k) * nc + c];
    }
    break;
  case VCRS_VALUES_DICT8:
    for (PetscInt k = 0; k < n; k++) memcpy(vals + k, plan->decoding.dict + ((const uint8_t *)plan->slices.value)[pos + stride * k], sizeof(PetscScalar));
    break;
  case VCRS_VALUES_DICT16:
    for (PetscInt k = 0; k < n; k++) memcpy(vals + k, plan->decoding.dict + ((const uint16_t *)plan->slices.value)[pos + stride * k], sizeof(PetscScalar));
    break;
  case VCRS_VALUES_LOG8:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) v[k * nc + c] = plan->decoding.coarse[((const uint8_t *)plan->slices.value)[(pos + stride * k) * nc + c]];
    }
    break;
  case VCRS_VALUES_LOG16:
    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) {
        const uint16_t code = ((const uint16_t *)plan->slices.value)[(pos + stride * k) * nc + c];

        v[k * nc + c] = plan->decoding.coarse[code >> 8] * plan->decoding.fine[code & 255];
      }
    }
    break;
  case VCRS_VALUES_FIXED8:
  case VCRS_VALUES_FIXED16: {
    const double step = LithePow2(plan->decoding.exponent[row]);

    for (PetscInt k = 0; k < n; k++) {
      for (PetscInt c = 0; c < nc; c++) {
        const PetscInt64 p = (pos + stride * k) * nc + c;

        v[k * nc + c] = (PetscReal)((plan->values == VCRS_VALUES_FIXED8 ? (double)((const int8_t *)plan->slices.value)[p]
                                                                        : (double)((const int16_t *)plan->slices.value)[p]) *
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

  if (plan->sums.kind == VCRS_SIGMA_NONE) return 0.;
  if (plan->sums.kind == VCRS_SIGMA_FULL) return plan->sums.value[row];
  mask = plan->sums.mask[row / 32];
  if (!(mask >> (row % 32) & 1)) return 0.;
  for (below = mask & (((uint32_t)1 << (row % 32)) - 1); below; below &= below - 1) n++;
  return plan->sums.value[plan->sums.ptr[row / 32] + n];
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
  const PetscInt first = plan->difference ? 1 : 0, p = plan->sets.ptr[VCRSGetId(plan, row)];

  for (PetscInt k = 0; k < len; k++) cols[k] = row + plan->sets.offset[p + k];
  if (!len) return;
  if (plan->layout == MATVCRS_LAYOUT_L0) memcpy(vals, plan->sets.value + p, sizeof(PetscScalar) * (size_t)len);
  else VCRSGet(plan, row, len - first, plan->slices.ptr[row / VCRS_SLICE] + row % VCRS_SLICE, VCRS_SLICE, vals + first);
}

static inline void VCRSGetLiteral(const VCRSPlan *plan, PetscInt row, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt len = plan->literal.length[row];

  for (PetscInt k = 0; k < len; k++) cols[k] = plan->literal.first[row] + plan->literal.idx[plan->literal.idxptr[row] + k];
  if (len) memcpy(vals, plan->literal.data + plan->literal.dataptr[row], sizeof(PetscScalar) * (size_t)len);
}

static inline void VCRSGetLane(const VCRSPlan *plan, PetscInt row, PetscInt s, PetscInt l, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt  first = plan->difference ? 1 : 0, len = plan->lanes.length[VCRS_SLICE * s + l];
  const PetscInt *base = plan->grouped ? NULL : plan->columns.base + VCRSColumnBase(plan, s);
  const uint8_t  *from = plan->grouped ? plan->columns.offset + sizeof(uint16_t) * VCRS_SLICE * (size_t)VCRSColumnBase(plan, s)
                                       : plan->columns.offset + plan->columns.begin[s];

  switch (plan->grouped ? 0 : plan->columns.width[s]) {
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
  if (len > first) VCRSGet(plan, row, len - first, plan->slices.ptr[s] + l, VCRS_SLICE, vals + first);
}

static inline void VCRSGetLong(const VCRSPlan *plan, PetscInt q, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt   first = plan->difference ? 1 : 0;
  const PetscInt64 p     = VCRSLongBegin(plan, q);
  const PetscInt   len   = VCRSLongLength(plan, q);

  for (PetscInt k = 0; k < len; k++) cols[k] = VCRSLongColumn(plan, q, p + k);
  VCRSGet(plan, VCRSLongRow(plan, q), len - first, plan->longrows.value + p + first, 1, vals + first);
}

PetscErrorCode VCRSPlanDecodeRowPointers(const VCRSPlan *plan, PetscInt i[])
{
  PetscFunctionBegin;
  i[0] = 0;
  if (plan->layout == MATVCRS_LAYOUT_LITERAL) {
    for (PetscInt row = 0; row < plan->m; row++) i[row + 1] = plan->literal.length[row];
  } else if (plan->layout == MATVCRS_LAYOUT_L3) {
    for (PetscInt s = 0; s < plan->slices.n; s++) {
      for (PetscInt l = 0; l < VCRS_SLICE; l++) {
        const PetscInt row = (PetscInt)VCRSLaneRow(plan, VCRS_SLICE * s + l);

        if (row < plan->m) i[row + 1] = plan->lanes.length[VCRS_SLICE * s + l];
      }
    }
    if (plan->plainrows) PetscCall(PetscArrayzero(i, plan->m + 1));
    for (PetscInt q = 0; q < plan->longrows.n; q++) i[VCRSLongRow(plan, q) + 1] = VCRSLongLength(plan, q);
  } else {
    for (PetscInt row = 0; row < plan->m; row++) {
      const PetscInt p = VCRSGetId(plan, row);

      i[row + 1] = plan->sets.ptr[p + 1] - plan->sets.ptr[p];
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
    for (PetscInt s = 0; s < plan->slices.n; s++) {
      for (PetscInt l = 0; l < VCRS_SLICE; l++) {
        const PetscInt row = (PetscInt)VCRSLaneRow(plan, VCRS_SLICE * s + l), len = plan->lanes.length[VCRS_SLICE * s + l];

        if (!len) continue;
        VCRSGetLane(plan, row, s, l, j + i[row], a + i[row]);
        VCRSFinishRow(plan, row, len, j + i[row], a + i[row]);
      }
    }
    for (PetscInt q = 0; q < plan->longrows.n; q++) {
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
    len = plan->literal.length[row];
    VCRSGetLiteral(plan, row, cols, vals);
  } else if (plan->layout == MATVCRS_LAYOUT_L3) {
    PetscInt lane = row, low = 0, high = plan->longrows.n;

    /* is the row long? If all are long, the number is known */
    if (high == plan->m) low = high = row;
    while (low < high) {
      const PetscInt mid = low + (high - low) / 2;

      if (VCRSLongRow(plan, mid) < row) low = mid + 1;
      else high = mid;
    }
    if (low < plan->longrows.n && VCRSLongRow(plan, low) == row) {
      len = VCRSLongLength(plan, low);
      VCRSGetLong(plan, low, cols, vals);
    } else if (plan->plainrows) {
      len = 0;
    } else {
      if (plan->lanes.perm) {
        for (lane = row / VCRS_WINDOW * VCRS_WINDOW; plan->lanes.perm[lane] != row % VCRS_WINDOW; lane++) {
        }
      }
      len = plan->lanes.length[lane];
      if (len) VCRSGetLane(plan, row, lane / VCRS_SLICE, lane % VCRS_SLICE, cols, vals);
    }
  } else {
    const PetscInt p = VCRSGetId(plan, row);

    len = plan->sets.ptr[p + 1] - plan->sets.ptr[p];
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
    for (PetscInt row = 0; row < plan->m; row++) *max = PetscMax(*max, plan->literal.length[row]);
  } else if (plan->layout == MATVCRS_LAYOUT_L3) {
    for (PetscInt l = 0; l < VCRS_SLICE * plan->slices.n; l++) *max = PetscMax(*max, (PetscInt)plan->lanes.length[l]);
    for (PetscInt q = 0; q < plan->longrows.n; q++) *max = PetscMax(*max, VCRSLongLength(plan, q));
  } else {
    for (PetscInt p = 0; p < plan->sets.n; p++) *max = PetscMax(*max, plan->sets.ptr[p + 1] - plan->sets.ptr[p]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
