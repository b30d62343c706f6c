/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with a compressed matrix on the host: y = A x (+ add). lithe/private/vcrs/plan.h describes the arrays of a
   plan. Layouts L0 to L2 are in sets.c, slices of L3 in slices.c, plain rows in plainrows.c, A^T and A^H in
   transpose.c.

   Several columns of x share one sweep: the matrix is read and decoded once, batch by batch.
*/

#include "host.h"
#include <lithe/private/machine.h>

static LITHE_TARGET_CLONES_NARROW void Mult_Literal(const VCRSPlan *plan, const VCRSOperands *v)
{
  for (PetscInt r = 0; r < plan->m; r++) {
    const PetscScalar *a     = plan->literal.data + plan->literal.dataptr[r];
    const PetscInt    *index = plan->literal.idx + plan->literal.idxptr[r];

    for (PetscInt c = 0; c < v->nrhs; c++) {
      const PetscScalar *x = v->x + c * v->ldx + plan->literal.first[r];

      v->y[c * v->ldy + r] = (v->add ? v->add[c * v->ldadd + r] : 0) + VCRSDot(plan->literal.length[r], a, 1, index, 1, x, 0);
    }
  }
}

/* The rows of L3 that are too long for a slice; y already contains add */
static LITHE_TARGET_CLONES_NARROW void Mult_Long(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt first = plan->difference ? 1 : 0, batch = VCRS_BATCH * VCRS_SLICE;
  PetscReal      scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscScalar    buffer[VCRS_BATCH * VCRS_SLICE], sigma = 0;
  PetscInt       lane[VCRS_SLICE];

  for (PetscInt q = 0; q < plan->longrows.n; q++) {
    const PetscInt   row   = plan->longrows.row[q];
    const PetscInt64 begin = plan->longrows.ptr[q], end = plan->longrows.ptr[q + 1];
    PetscBool        normal = PETSC_TRUE;

    if (plan->decoding.exponent) {
      for (PetscInt l = 0; l < VCRS_SLICE; l++) lane[l] = row;
      normal = VCRSScale(plan, lane, scale);
    }
    if (plan->difference && VCRSGetSigma(plan, row, 1, &sigma)) {
      for (PetscInt c = 0; c < v->nrhs; c++)
        v->y[c * v->ldy + row] = VCRSAddProduct(v->y[c * v->ldy + row], sigma, v->x[c * v->ldx + plan->longrows.col[begin]], 0);
    }
    for (PetscInt64 p = begin + first; p < end; p += batch) {
      const PetscInt     n = (PetscInt)PetscMin(batch, end - p);
      const PetscScalar *a = VCRSDecode(plan, plan->longrows.value + p, n, lane, scale, normal, buffer);

      for (PetscInt c = 0; c < v->nrhs; c++) {
        const PetscScalar *x = v->x + c * v->ldx;

        v->y[c * v->ldy + row] += VCRSDot(n, a, 1, plan->longrows.col + p, 1, x, plan->difference ? x[plan->longrows.col[begin]] : 0);
      }
    }
  }
}

/*
  VCRSPlanMult - y = op(A) x, or op(A) x + add, for nrhs columns in one sweep over the matrix

  Not collective

  Input Parameters:
+ plan  - the compressed matrix, m x n, on the host
. op    - A, its transpose, or its Hermitian transpose
. nrhs  - number of columns
. x     - the columns of x, n long (m with a transpose), at distance ldx; no part of it may be y
. ldx   - at least the length of a column
. add   - the columns to add, as long as those of y, at distance ldadd; or NULL; or y itself with ldadd = ldy
. ldadd - ignored without add
- ldy   - at least the length of a column of y

  Output Parameter:
. y - the columns of the result, at distance ldy

  Level: developer

  Note:
  An empty row gives 0 (plus add). Slots that pad a slice take no part.
*/
PetscErrorCode VCRSPlanMult(const VCRSPlan *plan, VCRSOp op, PetscInt nrhs, const PetscScalar *x, PetscInt ldx, const PetscScalar *add, PetscInt ldadd,
                            PetscScalar *y, PetscInt ldy)
{
  VCRSOperands v;
  PetscScalar *window   = NULL;
  size_t       ldwindow = 0;

  PetscFunctionBegin;
  if (nrhs <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  v.nrhs  = nrhs;
  v.x     = x;
  v.add   = add;
  v.y     = y;
  v.ldx   = (size_t)ldx;
  v.ldadd = (size_t)ldadd;
  v.ldy   = (size_t)ldy;
  v.sign  = op == VCRS_OP_H ? -1 : 1;
  if (op != VCRS_OP_N) {
    PetscCall(VCRSPlanMultTranspose_Private(plan, &v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  switch (plan->layout) {
  case MATVCRS_LAYOUT_LITERAL:
    Mult_Literal(plan, &v);
    break;
  case MATVCRS_LAYOUT_L0:
  case MATVCRS_LAYOUT_L1:
  case MATVCRS_LAYOUT_L2:
    VCRSPlanMultSets_Private(plan, &v);
    break;
  case MATVCRS_LAYOUT_L3:
    if (plan->plainrows) {
      VCRSPlanMultRows_Private(plan, &v);
      break;
    }
    if (plan->grouped) {
      ldwindow = VCRS_GROUP * (size_t)plan->groups.most;
      PetscCall(PetscMalloc(ldwindow * (size_t)nrhs * sizeof(*window), &window));
    }
    VCRSPlanMultSlices_Private(plan, &v, window, ldwindow);
    PetscCall(PetscFree(window));
    if (plan->longrows.n) Mult_Long(plan, &v);
    break;
  default:
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "A plan of a compressed matrix has layout %d, which no host product reads: VCRSPlanCreate() must choose one",
            (int)plan->layout);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  VCRSPlanHostCost - the time of VCRSPlanMult() of a column over that of MatMult() of a MATSEQAIJ, on one core

  Not collective

  Input Parameter:
. plan - the compressed matrix, on the host

  Output Parameter:
. ratio - an estimate; if ratio is over 1 and the AIJ arrays exist, their own product is faster

  Level: developer

  Note:
  A straight line in the numbers of entries, rows and runs of rows, with slopes in nanoseconds, measured on server cores
  (Zen 4: stencils with 7 and 27 entries per row, tetrahedra with 16, 0.02 to 2 million rows; Zen 5, small irregular
  matrices and small grids). Only their proportions matter. Near the limit for a small matrix, the slopes favour
  MATSEQAIJ, or plain rows in its place. If index sets are few, rows alternate between long and short, and the way from
  a small matrix to a large one is the way from a cache to memory.
*/
PetscErrorCode VCRSPlanHostCost(const VCRSPlan *plan, PetscReal *ratio)
{
  static const PetscReal setsreal[]      = VCRS_HOST_SETS_REAL;
  static const PetscReal setssmall[]     = VCRS_HOST_SETS_SMALL;
  static const PetscReal setscomplex[]   = VCRS_HOST_SETS_COMPLEX;
  static const PetscReal slicesreal[]    = VCRS_HOST_SLICES_REAL;
  static const PetscReal slicescomplex[] = VCRS_HOST_SLICES_COMPLEX;
  const PetscReal        nz = (PetscReal)plan->nz, m = (PetscReal)plan->m;
  /* few rows do not help where entries come from memory */
  const PetscBool  small  = (PetscBool)(!PetscDefined(USE_COMPLEX) && (plan->nz <= AIJ_SMALL || (plan->m <= AIJ_SMALL / 16 && plan->nz <= 8 * AIJ_SMALL)));
  const PetscBool  insets = (PetscBool)(plan->layout == MATVCRS_LAYOUT_L1 || plan->layout == MATVCRS_LAYOUT_L2);
  const PetscReal *slices = PetscDefined(USE_COMPLEX) ? slicescomplex : slicesreal;
  const PetscReal  row    = PetscDefined(USE_COMPLEX) ? 2. * nz + 4. * m : 0.75 * nz + 4. * m; /* row by row, as LITERAL */
  PetscReal        aij = PetscDefined(USE_COMPLEX) ? 1.8 * nz + 3. * m : 0.6 * nz + 2.2 * m, cached = small ? 1 : 0, cost;
  VCRSRunCounts    runs;

  PetscFunctionBegin;
  *ratio = 1;
  if (plan->nz == 0) PetscFunctionReturn(PETSC_SUCCESS);

  /* Of a small matrix a processor remembers how long each row is */
  if (insets && !small && !PetscDefined(USE_COMPLEX)) cached = PetscMax(0, PetscMin(1, (10 * AIJ_SMALL - nz) / (8 * AIJ_SMALL)));
  if (cached > 0) aij = cached * (0.35 * nz + 0.5 * m) + (1 - cached) * aij;
  switch (plan->layout) {
  case MATVCRS_LAYOUT_L0:
    runs = VCRSPlanCountRuns_Private(plan);
    cost = PetscDefined(USE_COMPLEX) ? 0.35 * nz + 2. * m : small ? 0.07 * nz : 0.09 * nz + 0.9 * m;
    cost = (1 - (PetscReal)runs.nshort / m) * cost + (PetscReal)runs.nshort / m * row + (small ? 8 : 5) * (PetscReal)runs.n;
    break;
  case MATVCRS_LAYOUT_L1:
  case MATVCRS_LAYOUT_L2:
    runs = VCRSPlanCountRuns_Private(plan);
    cost = PetscDefined(USE_COMPLEX) ? setscomplex[plan->values] : cached * setssmall[plan->values] + (1 - cached) * setsreal[plan->values];
    cost = cost * (plan->difference ? PetscMax(nz - m, 0) : nz) + (1.3 - 0.8 * cached) * m + (PetscDefined(USE_COMPLEX) ? 14 : 7) * (PetscReal)runs.nside +
           (PetscDefined(USE_COMPLEX) ? 16 : 8) * (PetscReal)runs.n;
    break;
  case MATVCRS_LAYOUT_L3:
    if (plan->plainrows) cost = 0.75 * aij;
    else if (!PetscDefined(USE_COMPLEX) && plan->values == VCRS_VALUES_FULL && plan->nz > SLICES_LARGE) cost = 1.05 * aij;
    else cost = slices[plan->values] * nz + (PetscDefined(USE_COMPLEX) ? 2.5 : 1.2) * m;
    break;
  default:
    cost = row;
    break;
  }
  *ratio = cost / aij;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The entry at k of row row, whose values begin at position at distances of stride. In the difference form the
   reference is sigma minus the other entries
*/
static inline PetscScalar DiagonalEntry(const VCRSPlan *plan, PetscInt row, PetscInt k, PetscInt length, PetscInt64 position, PetscInt stride)
{
  PetscScalar value = 0;

  if (!plan->difference) return VCRSDecodeEntry(plan, position + (PetscInt64)k * stride, row);
  if (k > 0) return VCRSDecodeEntry(plan, position + (PetscInt64)(k - 1) * stride, row);
  (void)VCRSGetSigma(plan, row, 1, &value);
  for (PetscInt j = 1; j < length; j++) value -= VCRSDecodeEntry(plan, position + (PetscInt64)(j - 1) * stride, row);
  return value;
}

/*
  VCRSPlanGetDiagonal - the diagonal of a compressed matrix

  Not collective

  Input Parameter:
. plan - the compressed matrix, m x n, on the host

  Output Parameter:
. d - a_rr for each row r < min(m, n), 0 where the pattern has no such entry

  Level: developer
*/
PetscErrorCode VCRSPlanGetDiagonal(const VCRSPlan *plan, PetscScalar d[])
{
  const PetscInt nd = PetscMin(plan->m, plan->n), first = plan->difference ? 1 : 0;
  PetscInt      *place;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < nd; r++) d[r] = 0;
  switch (plan->layout) {
  case MATVCRS_LAYOUT_LITERAL:
    for (PetscInt r = 0; r < nd; r++) {
      for (PetscInt k = 0; k < plan->literal.length[r]; k++) {
        if (plan->literal.first[r] + plan->literal.idx[plan->literal.idxptr[r] + k] == r) d[r] = plan->literal.data[plan->literal.dataptr[r] + k];
      }
    }
    break;
  case MATVCRS_LAYOUT_L0:
  case MATVCRS_LAYOUT_L1:
  case MATVCRS_LAYOUT_L2:
    /* The place of the diagonal entry in each set */
    PetscCall(PetscMalloc1(plan->sets.n, &place));
    for (PetscInt set = 0; set < plan->sets.n; set++) {
      place[set] = -1;
      for (PetscInt p = plan->sets.ptr[set]; p < plan->sets.ptr[set + 1]; p++) {
        if (plan->sets.offset[p] == 0) place[set] = p - plan->sets.ptr[set];
      }
    }
    for (PetscInt r = 0; r < nd; r++) {
      const PetscInt set = VCRSGetId(plan, r), k = place[set], p = plan->sets.ptr[set], length = plan->sets.ptr[set + 1] - p;

      if (k < 0) continue;
      if (plan->layout != MATVCRS_LAYOUT_L0) {
        d[r] = DiagonalEntry(plan, r, k, length, plan->slices.ptr[r / VCRS_SLICE] + r % VCRS_SLICE, VCRS_SLICE);
      } else if (k >= first) {
        d[r] = plan->sets.value[p + k];
      } else {
        (void)VCRSGetSigma(plan, r, 1, &d[r]);
        for (PetscInt j = 1; j < length; j++) d[r] -= plan->sets.value[p + j];
      }
    }
    PetscCall(PetscFree(place));
    break;
  case MATVCRS_LAYOUT_L3:
    for (PetscInt s = 0; s < plan->slices.n; s++) {
      const uint8_t *length = plan->lanes.length + VCRS_SLICE * s;
      PetscInt       row[VCRS_SLICE], col[VCRS_SLICE], longest = 0;

      VCRSLaneRows(plan, s, row);
      for (PetscInt l = 0; l < VCRS_SLICE; l++) longest = PetscMax(longest, (PetscInt)length[l]);
      for (PetscInt k = 0; k < longest; k++) {
        VCRSDecodeColumns(plan, s, k, 1, col);
        for (PetscInt l = 0; l < VCRS_SLICE; l++) {
          if (k < length[l] && row[l] < nd && col[l] == row[l]) d[row[l]] = DiagonalEntry(plan, row[l], k, length[l], plan->slices.ptr[s] + l, VCRS_SLICE);
        }
      }
    }
    for (PetscInt q = 0; q < plan->longrows.n; q++) {
      const PetscInt   row = VCRSLongRow(plan, q), n = VCRSLongLength(plan, q);
      const PetscInt64 begin = VCRSLongBegin(plan, q);

      for (PetscInt k = 0; k < n && row < nd; k++) {
        if (VCRSLongColumn(plan, q, begin + k) == row) d[row] = DiagonalEntry(plan, row, k, n, plan->longrows.value + begin + first, 1);
      }
    }
    break;
  default:
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "A plan of a compressed matrix has layout %d, which no host product reads: VCRSPlanCreate() must choose one",
            (int)plan->layout);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
