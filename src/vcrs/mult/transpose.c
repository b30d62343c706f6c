/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products with the transpose and the Hermitian transpose of a compressed matrix on the host: each entry of row r adds
   a x_r to y at its column. In the difference form a row adds a_ik x_i to y_k, and (sigma_i - sum_k a_ik) x_i to y at
   the row's reference.

   Entry k of the rows of a run adds to neighbouring places of y, which vectorises. Two entries may add to the same
   place: entries are processed one after the other.
*/

#include "host.h"

#define STREAM_ROWS 256 /* longest run processed at once */

/*
   y[r] += a_r x[r] for r < count, a_r conjugated if sign is -1; unless less is NULL, less[r] is reduced by the same.
   a_r is a[0], or with lanes a[r]
*/
static LITHE_ALWAYS_INLINE void StreamAdd(const PetscBool lanes, PetscReal sign, PetscInt count, const PetscScalar a[], const PetscScalar x[], PetscScalar y[],
                                          PetscScalar *less)
{
#if PetscDefined(USE_COMPLEX)
  const PetscReal *ar = (const PetscReal *)a, *xr = (const PetscReal *)x;
  PetscReal       *yr = (PetscReal *)y, *lr = (PetscReal *)less;

  LITHE_INDEPENDENT
  for (PetscInt r = 0; r < count; r++) {
    const PetscReal re = ar[lanes ? 2 * r : 0], im = sign * ar[lanes ? 2 * r + 1 : 1];
    const PetscReal pr = re * xr[2 * r] - im * xr[2 * r + 1], pi = re * xr[2 * r + 1] + im * xr[2 * r];

    yr[2 * r] += pr;
    yr[2 * r + 1] += pi;
    if (less) {
      lr[2 * r] -= pr;
      lr[2 * r + 1] -= pi; /* NOLINT(clang-analyzer-core.uninitialized.Assign): written before, as complex numbers */
    }
  }
#else
  LITHE_INDEPENDENT
  for (PetscInt r = 0; r < count; r++) {
    const PetscScalar p = a[lanes ? r : 0] * x[r];

    y[r] += p;
    if (less) less[r] -= p;
  }
#endif
  (void)sign;
}

/* The rows of a run and their entries first .. first+nk-1. less, or NULL: gathers the additions to the references */
static LITHE_ALWAYS_INLINE void Stream(const PetscBool lanes, PetscReal sign, PetscInt nk, PetscInt count, const PetscScalar a[], const PetscInt offset[],
                                       const PetscScalar *x, PetscScalar *y, PetscScalar *less)
{
  for (PetscInt k = 0; k < nk; k++) {
    const PetscScalar *ak = a + (lanes ? VCRS_SLICE * k : k);

    if (less) StreamAdd(lanes, sign, count, ak, x, y + offset[k], less);
    else StreamAdd(lanes, sign, count, ak, x, y + offset[k], NULL);
  }
}

/* less[r] = sigma_r x[r]: the additions to the references, before entries are subtracted */
static LITHE_ALWAYS_INLINE void BeginReferences(PetscBool sums, PetscReal sign, PetscInt count, const PetscScalar sigma[], const PetscScalar x[],
                                                PetscScalar less[])
{
  for (PetscInt r = 0; r < count; r++) less[r] = sums ? VCRSAddProduct(0, VCRSConjugateIf(sigma[r], sign), x[r], 0) : 0;
}

static void MultTranspose_Literal(const VCRSPlan *plan, const VCRSOperands *v)
{
  for (PetscInt r = 0; r < plan->m; r++) {
    const PetscScalar *a     = plan->literal.data + plan->literal.dataptr[r];
    const PetscInt    *index = plan->literal.idx + plan->literal.idxptr[r];

    for (PetscInt c = 0; c < v->nrhs; c++) {
      const PetscScalar xr = v->x[c * v->ldx + r];
      PetscScalar      *y  = v->y + c * v->ldy + plan->literal.first[r];

      for (PetscInt k = 0; k < plan->literal.length[r]; k++) y[index[k]] = VCRSAddProduct(y[index[k]], VCRSConjugateIf(a[k], v->sign), xr, 0);
    }
  }
}

static LITHE_TARGET_CLONES void MultTranspose_L0(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt first = plan->difference ? 1 : 0;
  PetscScalar    sigma[STREAM_ROWS], less[STREAM_ROWS];

  for (PetscInt r = 0, end; r < plan->m; r = end) {
    const PetscInt     set    = VCRSGetId(plan, r);
    const PetscInt     length = plan->sets.ptr[set + 1] - plan->sets.ptr[set], nk = length - first;
    const PetscInt    *offset = plan->sets.offset + plan->sets.ptr[set];
    const PetscScalar *a      = plan->sets.value + plan->sets.ptr[set] + first;
    PetscBool          sums   = PETSC_FALSE;
    PetscInt           count;

    end   = VCRSRunEnd(plan, r, PetscMin(plan->m, r + STREAM_ROWS));
    count = end - r;
    if (length == 0) continue;
    if (plan->difference) sums = VCRSGetSigma(plan, r, count, sigma);
    for (PetscInt c = 0; c < v->nrhs; c++) {
      const PetscScalar *x = v->x + c * v->ldx + r;
      PetscScalar       *y = v->y + c * v->ldy + r;

      if (plan->difference) {
        BeginReferences(sums, v->sign, count, sigma, x, less);
        Stream(PETSC_FALSE, v->sign, nk, count, a, offset + 1, x, y, less);
        for (PetscInt l = 0; l < count; l++) y[l + offset[0]] += less[l];
      } else Stream(PETSC_FALSE, v->sign, nk, count, a, offset, x, y, NULL);
    }
  }
}

/* L1 and L2 */
static LITHE_TARGET_CLONES void MultTranspose_Sets(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt  first = plan->difference ? 1 : 0;
  const PetscBool fixed = (PetscBool)(plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16);
  PetscReal       scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscScalar     buffer[VCRS_BATCH * VCRS_SLICE], sigma[VCRS_SLICE], less[VCRS_SLICE];

  for (PetscInt s = 0; s < plan->slices.n; s++) {
    const PetscInt row = VCRS_SLICE * s, rows = PetscMin(VCRS_SLICE, plan->m - row);
    const PetscInt width  = (PetscInt)((plan->slices.ptr[s + 1] - plan->slices.ptr[s]) / VCRS_SLICE);
    PetscBool      normal = PETSC_TRUE, sums = PETSC_FALSE;
    PetscInt       lane[VCRS_SLICE], nruns;
    VCRSRun        run[VCRS_SLICE];

    /* Data common to the whole slice */
    nruns = VCRSFindRuns(plan, row, rows, run);
    if (fixed) {
      for (PetscInt l = 0; l < VCRS_SLICE; l++) lane[l] = row + l;
      normal = VCRSScale(plan, lane, scale);
    }
    if (plan->difference) sums = VCRSGetSigma(plan, row, rows, sigma);

    /* references first get the row sums; batches of entries then subtract their part */
    for (PetscInt c = 0; c < v->nrhs && sums; c++) {
      const PetscScalar *x = v->x + c * v->ldx + row;
      PetscScalar       *y = v->y + c * v->ldy + row;

      BeginReferences(sums, v->sign, rows, sigma, x, less);
      for (PetscInt i = 0; i < nruns; i++) {
        const PetscInt p = plan->sets.ptr[run[i].set];

        if (plan->sets.ptr[run[i].set + 1] == p) continue;
        for (PetscInt l = run[i].first; l < run[i].first + run[i].count; l++) y[l + plan->sets.offset[p]] += less[l];
      }
    }
    for (PetscInt k = 0; k < width; k += VCRS_BATCH) {
      const PetscInt     batch = PetscMin(VCRS_BATCH, width - k);
      const PetscScalar *a     = VCRSDecode(plan, plan->slices.ptr[s] + VCRS_SLICE * k, VCRS_SLICE * batch, lane, scale, normal, buffer);

      for (PetscInt i = 0; i < nruns; i++) {
        const PetscInt  l = run[i].first, count = run[i].count;
        const PetscInt  nk     = PetscMin(batch, plan->sets.ptr[run[i].set + 1] - plan->sets.ptr[run[i].set] - first - k);
        const PetscInt *offset = plan->sets.offset + plan->sets.ptr[run[i].set];

        if (nk <= 0) continue;
        for (PetscInt c = 0; c < v->nrhs; c++) {
          const PetscScalar *x = v->x + c * v->ldx + row + l;
          PetscScalar       *y = v->y + c * v->ldy + row + l;

          if (plan->difference) {
            memset(less, 0, (size_t)count * sizeof(*less));
            Stream(PETSC_TRUE, v->sign, nk, count, a + l, offset + 1 + k, x, y, less);
            for (PetscInt j = 0; j < count; j++) y[j + offset[0]] += less[j];
          } else Stream(PETSC_TRUE, v->sign, nk, count, a + l, offset + k, x, y, NULL);
        }
      }
    }
  }
}

static LITHE_TARGET_CLONES_NARROW void MultTranspose_L3(const VCRSPlan *plan, const VCRSOperands *v)
{
  const PetscInt  first = plan->difference ? 1 : 0;
  const PetscBool fixed = (PetscBool)(plan->values == VCRS_VALUES_FIXED8 || plan->values == VCRS_VALUES_FIXED16);
  PetscReal       scale[VCRS_COMPONENTS * VCRS_SLICE];
  PetscScalar     buffer[VCRS_BATCH * VCRS_SLICE];
  PetscInt        col[VCRS_BATCH * VCRS_SLICE], ref[VCRS_SLICE], row[VCRS_SLICE];

  for (PetscInt s = 0; s < plan->slices.n; s++) {
    const uint8_t *length  = plan->lanes.length + VCRS_SLICE * s;
    uint8_t        longest = 0;
    PetscBool      normal  = PETSC_TRUE;

    for (PetscInt l = 0; l < VCRS_SLICE; l++) longest = PetscMax(longest, length[l]);
    if (!longest) continue;
    VCRSLaneRows(plan, s, row);
    if (fixed) normal = VCRSScale(plan, row, scale);

    if (plan->difference) {
      VCRSDecodeColumns(plan, s, 0, 1, ref);
      for (PetscInt l = 0; l < VCRS_SLICE; l++) {
        PetscScalar sigma = 0;

        if (!length[l] || !VCRSGetSigma(plan, row[l], 1, &sigma)) continue;
        for (PetscInt c = 0; c < v->nrhs; c++)
          v->y[c * v->ldy + ref[l]] = VCRSAddProduct(v->y[c * v->ldy + ref[l]], VCRSConjugateIf(sigma, v->sign), v->x[c * v->ldx + row[l]], 0);
      }
    }

    /* lanes are processed one after the other: they may share columns */
    for (PetscInt k = first; k < longest; k += VCRS_BATCH) {
      const PetscInt     batch = PetscMin(VCRS_BATCH, longest - k);
      const PetscScalar *a     = VCRSDecode(plan, plan->slices.ptr[s] + VCRS_SLICE * (k - first), VCRS_SLICE * batch, row, scale, normal, buffer);

      VCRSDecodeColumns(plan, s, k, batch, col);
      for (PetscInt c = 0; c < v->nrhs; c++) {
        PetscScalar *y = v->y + c * v->ldy;

        for (PetscInt l = 0; l < VCRS_SLICE; l++) {
          const PetscInt nk  = PetscMin(batch, length[l] - k);
          PetscScalar    sum = 0, xr;

          if (nk <= 0) continue;
          xr = v->x[c * v->ldx + row[l]];
          for (PetscInt p = l; p < l + VCRS_SLICE * nk; p += VCRS_SLICE) {
            const PetscScalar product = VCRSAddProduct(0, VCRSConjugateIf(a[p], v->sign), xr, 0);

            y[col[p]] += product;
            sum += product;
          }
          if (plan->difference) y[ref[l]] -= sum;
        }
      }
    }
  }
}

/* The rows of L3 that are too long for a slice */
static void MultTranspose_Long(const VCRSPlan *plan, const VCRSOperands *v)
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
      for (PetscInt c = 0; c < v->nrhs; c++) {
        PetscScalar *y = v->y + c * v->ldy + plan->longrows.col[begin];

        *y = VCRSAddProduct(*y, VCRSConjugateIf(sigma, v->sign), v->x[c * v->ldx + row], 0);
      }
    }
    for (PetscInt64 p = begin + first; p < end; p += batch) {
      const PetscInt     n   = (PetscInt)PetscMin(batch, end - p);
      const PetscInt    *col = plan->longrows.col + p;
      const PetscScalar *a   = VCRSDecode(plan, plan->longrows.value + p, n, lane, scale, normal, buffer);

      for (PetscInt c = 0; c < v->nrhs; c++) {
        const PetscScalar xr = v->x[c * v->ldx + row];
        PetscScalar      *y = v->y + c * v->ldy, sum = 0;

        for (PetscInt j = 0; j < n; j++) {
          const PetscScalar product = VCRSAddProduct(0, VCRSConjugateIf(a[j], v->sign), xr, 0);

          y[col[j]] += product;
          sum += product;
        }
        if (plan->difference) y[plan->longrows.col[begin]] -= sum;
      }
    }
  }
}

/* y = A^T x (+ add), or A^H x (+ add) where v->sign is -1; VCRSPlanMult() calls it */
PetscErrorCode VCRSPlanMultTranspose_Private(const VCRSPlan *plan, const VCRSOperands *v)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < v->nrhs && plan->n; c++) VCRSBegin(plan->n, v->add ? v->add + c * v->ldadd : NULL, v->y + c * v->ldy);
  switch (plan->layout) {
  case MATVCRS_LAYOUT_LITERAL:
    MultTranspose_Literal(plan, v);
    break;
  case MATVCRS_LAYOUT_L0:
    MultTranspose_L0(plan, v);
    break;
  case MATVCRS_LAYOUT_L1:
  case MATVCRS_LAYOUT_L2:
    MultTranspose_Sets(plan, v);
    break;
  case MATVCRS_LAYOUT_L3:
    if (plan->plainrows) {
      VCRSPlanMultTransposeRows_Private(plan, v);
      break;
    }
    MultTranspose_L3(plan, v);
    if (plan->longrows.n) MultTranspose_Long(plan, v);
    break;
  default:
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "A plan of a compressed matrix has layout %d, which no host product reads: VCRSPlanCreate() must choose one",
            (int)plan->layout);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
