/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products with a plan on the host: the products of the kernels of cuda/hyb, in the same order of the entries of a
   row */

#include "hybmgpuimpl.h"

/* A row whose sum over the body is known */
static inline void HybFinishRow(const LitheStep *step, PetscInt row, PetscScalar sum, const PetscScalar add[], PetscScalar y[])
{
  const PetscScalar x = add ? add[row] : 0.0;

  y[row] = x + step->scale * sum;
  for (PetscInt q = 0; q < step->nsums; q++) {
    PetscScalar s = step->weight[q] * y[row];

    if (step->before[q] != 0) s += step->before[q] * x;
    step->sum[q][row] = step->first[q] ? s : step->sum[q][row] + s;
  }
}

/* The stored rows that a step needs: all rows if they are reordered, else whole slices */
static inline void HybGetRows(const HybPlan *p, const LitheStep *step, PetscInt *begin, PetscInt *end)
{
  *begin = p->order ? 0 : step->skip[0] / HYB_SLICE * HYB_SLICE;
  *end   = p->order ? p->m : p->m - step->skip[1];
}

/* Slices of HYB, whose rows are adjacent in each column */
static void HybMultHyb(const HybPlan *p, const PetscScalar x[], const PetscScalar add[], const LitheStep *step, PetscScalar y[])
{
  PetscInt begin, end;

  HybGetRows(p, step, &begin, &end);
  for (PetscInt s = begin; s < end; s += HYB_SLICE) {
    const PetscInt n = PetscMin(HYB_SLICE, p->m - s);
    PetscScalar    sum[HYB_SLICE];

    for (PetscInt r = 0; r < n; r++) sum[r] = 0.0;
    for (PetscInt j = 0; j < p->width; j++) {
      const int32_t     *col = p->col + j * p->stride + s;
      const PetscScalar *val = p->val + j * p->stride + s;

      for (PetscInt r = 0; r < n; r++) {
        if (col[r] >= 0) sum[r] += val[r] * x[col[r]];
      }
    }
    for (PetscInt r = 0; r < n; r++) HybFinishRow(step, HybRow(p->order, s + r), sum[r], add, y);
  }
}

static void HybMultSell(const HybPlan *p, const PetscScalar x[], const PetscScalar add[], const LitheStep *step, PetscScalar y[])
{
  PetscInt begin, end;

  HybGetRows(p, step, &begin, &end);
  for (PetscInt s = begin; s < end; s += HYB_SLICE) {
    const PetscInt n    = PetscMin(HYB_SLICE, p->m - s);
    PetscInt64     at   = p->sliceptr[s / HYB_SLICE];
    PetscInt       most = 0, length[HYB_SLICE];
    PetscScalar    sum[HYB_SLICE];

    for (PetscInt r = 0; r < n; r++) {
      length[r] = p->lengthbytes == 1 ? ((const uint8_t *)p->length)[s + r] : ((const uint16_t *)p->length)[s + r];
      most      = PetscMax(most, length[r]);
      sum[r]    = 0.0;
    }
    for (PetscInt j = 0; j < most; j++) {
      for (PetscInt r = 0; r < n; r++) {
        if (j >= length[r]) continue;
        sum[r] += p->val[at] * x[p->col[at]];
        at++;
      }
    }
    for (PetscInt r = 0; r < n; r++) HybFinishRow(step, HybRow(p->order, s + r), sum[r], add, y);
  }
}

static void HybMultCSR(const HybPlan *p, const PetscScalar x[], const PetscScalar add[], const LitheStep *step, PetscScalar y[])
{
  PetscInt begin, end;

  HybGetRows(p, step, &begin, &end);
  for (PetscInt k = begin; k < end; k++) {
    const PetscInt64 first = p->ptrbytes == 4 ? ((const uint32_t *)p->rowptr)[k] : ((const PetscInt64 *)p->rowptr)[k];
    const PetscInt64 last  = p->ptrbytes == 4 ? ((const uint32_t *)p->rowptr)[k + 1] : ((const PetscInt64 *)p->rowptr)[k + 1];
    PetscScalar      sum   = 0.0;

    for (PetscInt64 e = first; e < last; e++) sum += p->val[e] * x[p->col[e]];
    HybFinishRow(step, HybRow(p->order, k), sum, add, y);
  }
}

/* Entries of the tail come on top of finished rows: a step is linear in A */
static void HybMultTail(const HybTail *t, const PetscScalar x[], const LitheStep *step, PetscScalar y[])
{
  for (PetscInt64 e = 0; e < t->nz;) {
    const int32_t row = t->row[e];
    PetscScalar   sum = 0.0;

    for (; e < t->nz && t->row[e] == row; e++) sum += t->val[e] * x[t->col[e]];
    sum *= step->scale;
    y[row] += sum;
    for (PetscInt q = 0; q < step->nsums; q++) step->sum[q][row] += step->weight[q] * sum;
  }
}

PetscErrorCode HybCSRMult(const HybCSR *csr, const PetscScalar x[], const PetscScalar add[], const LitheStep *step, PetscScalar y[])
{
  PetscFunctionBegin;
  for (PetscInt r = step->skip[0]; r < csr->m - step->skip[1]; r++) {
    PetscScalar sum = 0.0;

    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) sum += csr->a[k] * x[csr->j[k]];
    HybFinishRow(step, r, sum, add, y);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybCSRMultTranspose(const HybCSR *csr, const PetscScalar x[], const PetscScalar add[], PetscScalar y[])
{
  PetscFunctionBegin;
  if (!add) PetscCall(PetscArrayzero(y, csr->n));
  else if (add != y) PetscCall(PetscArraycpy(y, add, csr->n));
  for (PetscInt r = 0; r < csr->m; r++) {
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) y[csr->j[k]] += csr->a[k] * x[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybPlanMult(const HybPlan *p, const PetscScalar x[], const PetscScalar add[], const LitheStep *step, PetscScalar y[])
{
  PetscFunctionBegin;
  if (p->format == MATHYBMGPU_FORMAT_HYB) HybMultHyb(p, x, add, step, y);
  else if (p->format == MATHYBMGPU_FORMAT_SELL) HybMultSell(p, x, add, step, y);
  else HybMultCSR(p, x, add, step, y);
  HybMultTail(&p->tail, x, step, y);
  PetscFunctionReturn(PETSC_SUCCESS);
}
