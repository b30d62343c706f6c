/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Makes the plan of a block from CSR arrays. hybplan.h describes the arrays.

   HybPlanCreate() needs only the lengths of the rows, and fixes the place of every entry. HybPlanFill() fills in
   columns and values, and later new values only.
*/

#include "hybmgpuimpl.h"

/* A row is very long if its length is at least this multiple of the average, and at least this number */
#define HYB_LONG_TIMES 8
#define HYB_LONG_LEAST 64

/* Slices in which more than half of the work would be waiting for long rows ask for sorting */
#define HYB_SIGMA_DEFAULT 1024

static PetscInt HybLength(const HybCSR *csr, PetscInt row)
{
  return csr->i[row + 1] - csr->i[row];
}

/* How many entries of a row are in the body */
static PetscInt HybBodyLength(const HybPlan *p, PetscInt length)
{
  if (p->format == MATHYBMGPU_FORMAT_HYB) return PetscMin(length, p->width);
  return length > p->limit ? 0 : length;
}

/* ---- The parts of a format ---- */

/* The width of HYB: count[k] rows have k entries, for k <= longest */
static PetscErrorCode HybChooseWidth_Private(HybPlan *p, const HybOptions *opt, PetscInt longest, const PetscInt count[])
{
  const PetscLogDouble place = sizeof(PetscScalar) + sizeof(int32_t), entry = sizeof(PetscScalar) + 2.0 * sizeof(int32_t);
  PetscInt             more  = p->m - count[0]; /* rows with more than k entries */
  PetscLogDouble       bytes = 0.0, least;

  PetscFunctionBegin;
  p->width = 0;
  if (opt->width >= 0) {
    p->width = PetscMin(opt->width, longest);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  least = 0.0;
  for (PetscInt k = 1; k <= longest; k++) {
    if (opt->split == MATHYBMGPU_SPLIT_CUSP) {
      if (more < PetscMax(p->m / 3, PetscMin(4096, p->m))) break;
      p->width = k;
    } else {
      /* one more place for all rows; one list entry less per row that fills the place */
      bytes += place * (PetscLogDouble)p->stride - entry * (PetscLogDouble)more;
      if (bytes < least) {
        least    = bytes;
        p->width = k;
      }
    }
    more -= count[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stable, longest first, in windows of sigma stored rows */
static PetscErrorCode HybSort_Private(const HybCSR *csr, const HybPlan *p, PetscInt sigma, PetscInt longest, int32_t order[])
{
  PetscInt *start, *from;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(longest + 2, &start, PetscMin(sigma, p->m), &from));
  for (PetscInt w = 0; w < p->m; w += sigma) {
    const PetscInt end = PetscMin(w + sigma, p->m);

    PetscCall(PetscArrayzero(start, longest + 2));
    for (PetscInt k = w; k < end; k++) {
      from[k - w] = order[k];
      start[longest - HybBodyLength(p, HybLength(csr, order[k])) + 1]++;
    }
    for (PetscInt l = 0; l <= longest; l++) start[l + 1] += start[l];
    for (PetscInt k = 0; k < end - w; k++) order[w + start[longest - HybBodyLength(p, HybLength(csr, from[k]))]++] = (int32_t)from[k];
  }
  PetscCall(PetscFree2(start, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that the threads of the slices have time for while the longest row of a slice is summed up */
static PetscInt64 HybSlots_Private(const HybPlan *p, const HybCSR *csr)
{
  PetscInt64 slots = 0;

  for (PetscInt s = 0; s < p->m; s += HYB_SLICE) {
    PetscInt most = 0;

    for (PetscInt k = s; k < PetscMin(s + HYB_SLICE, p->m); k++) most = PetscMax(most, HybBodyLength(p, HybLength(csr, HybRow(p->order, k))));
    slots += (PetscInt64)HYB_SLICE * most;
  }
  return slots;
}

static PetscErrorCode HybMakeSell_Private(HybPlan *p, const HybOptions *opt, const HybCSR *csr, PetscInt64 nbody)
{
  const PetscInt nslices = HybSlices(p->m);
  PetscInt       sigma   = opt->sigma;
  PetscInt64     at      = 0;

  PetscFunctionBegin;
  if (sigma < 0) sigma = HybSlots_Private(p, csr) > 2 * nbody ? HYB_SIGMA_DEFAULT : 1;
  if (sigma > 1) {
    if (!p->order) {
      PetscCall(PetscMalloc1(p->m, &p->order));
      for (PetscInt k = 0; k < p->m; k++) p->order[k] = (int32_t)k;
    }
    PetscCall(HybSort_Private(csr, p, sigma, p->longest, p->order));
  }

  p->lengthbytes = p->longest > UINT8_MAX ? 2 : 1;
  PetscCall(PetscMalloc1(nslices, &p->sliceptr));
  PetscCall(PetscCalloc1((size_t)nslices * HYB_SLICE * p->lengthbytes, (char **)&p->length));
  for (PetscInt k = 0; k < p->m; k++) {
    const PetscInt length = HybBodyLength(p, HybLength(csr, HybRow(p->order, k)));

    if (k % HYB_SLICE == 0) p->sliceptr[k / HYB_SLICE] = at;
    if (p->lengthbytes == 1) ((uint8_t *)p->length)[k] = (uint8_t)length;
    else ((uint16_t *)p->length)[k] = (uint16_t)length;
    at += length;
  }
  p->nplaces = at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HybMakeCSR_Private(HybPlan *p, const HybCSR *csr, PetscInt64 nbody)
{
  PetscInt64 at = 0;

  PetscFunctionBegin;
  p->nplaces  = nbody;
  p->ptrbytes = nbody > (PetscInt64)UINT32_MAX ? 8 : 4;
  PetscCall(PetscMalloc1(((size_t)p->m + 1) * p->ptrbytes, (char **)&p->rowptr));
  for (PetscInt k = 0; k <= p->m; k++) {
    if (p->ptrbytes == 4) ((uint32_t *)p->rowptr)[k] = (uint32_t)at;
    else ((PetscInt64 *)p->rowptr)[k] = at;
    if (k < p->m) at += HybBodyLength(p, HybLength(csr, HybRow(p->order, k)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The tail ---- */

/* Pieces: rows of more than a piece first, cut; then the others, whole rows together */
static PetscErrorCode HybMakeTail_Private(HybPlan *p, const HybCSR *csr)
{
  HybTail   *t            = &p->tail;
  PetscInt64 nlongentries = 0, at;
  PetscInt   nlong = 0, npieces = 0, nl = 0, filled;

  PetscFunctionBegin;
  if (!t->nz) PetscFunctionReturn(PETSC_SUCCESS);
  for (int pass = 0; pass < 2; pass++) {
    if (pass) {
      t->nlong       = nlong;
      t->nlongpieces = npieces;
      PetscCall(PetscMalloc1(nlong, &t->longrow));
      PetscCall(PetscMalloc1(nlong + 1, &t->longptr));
      t->longptr[0] = 0;
    }
    for (PetscInt k = 0; k < p->m; k++) {
      const PetscInt row = HybRow(p->order, k), length = HybLength(csr, row), rest = length - HybBodyLength(p, length);

      if (rest <= HYB_PIECE) continue;
      if (pass) {
        t->longrow[nl]     = (int32_t)row;
        t->longptr[nl + 1] = t->longptr[nl] + (rest + HYB_PIECE - 1) / HYB_PIECE;
        nl++;
      } else {
        nlong++;
        npieces += (rest + HYB_PIECE - 1) / HYB_PIECE;
        nlongentries += rest;
      }
    }
  }

  /* An upper bound of the number of pieces: two neighbours of whole rows have more than a piece together */
  PetscCall(PetscMalloc1((size_t)t->nlongpieces + 2 * (size_t)((t->nz - nlongentries) / HYB_PIECE + 1) + 1, &t->piece));
  npieces = 0;
  at      = 0;
  for (PetscInt l = 0; l < t->nlong; l++) {
    const PetscInt length = HybLength(csr, t->longrow[l]), rest = length - HybBodyLength(p, length);

    for (PetscInt q = 0; q < t->longptr[l + 1] - t->longptr[l]; q++) t->piece[npieces++] = at + (PetscInt64)q * HYB_PIECE;
    at += rest;
  }
  filled = HYB_PIECE + 1; /* the first of the other rows begins a piece */
  for (PetscInt k = 0; k < p->m; k++) {
    const PetscInt length = HybLength(csr, HybRow(p->order, k)), rest = length - HybBodyLength(p, length);

    if (!rest || rest > HYB_PIECE) continue;
    if (filled + rest > HYB_PIECE) {
      t->piece[npieces++] = at;
      filled              = 0;
    }
    filled += rest;
    at += rest;
  }
  t->piece[npieces] = at;
  t->npieces        = npieces;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The plan ---- */

PetscErrorCode HybPlanCreate(const HybCSR *csr, const HybOptions *opt, MatHYBMGPUFormat format, const PetscInt order[], HybPlan **plan)
{
  HybPlan   *p;
  PetscInt   longest = 0, *count;
  PetscInt64 nbody   = 0;

  PetscFunctionBegin;
  PetscCheck(csr->m <= INT32_MAX && csr->n <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A block of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: a process of a MATHYBMGPU can have 2^31 - 1 of each. Use more processes", csr->m,
             csr->n);
  PetscCall(PetscNew(&p));
  p->format = format;
  p->m      = csr->m;
  p->n      = csr->n;
  p->nz     = csr->m ? csr->i[csr->m] : 0;
  p->stride = (PetscInt64)HybSlices(p->m) * HYB_SLICE;
  if (order) {
    PetscCall(PetscMalloc1(p->m, &p->order));
    for (PetscInt k = 0; k < p->m; k++) p->order[k] = (int32_t)order[k];
  }

  for (PetscInt r = 0; r < p->m; r++) longest = PetscMax(longest, HybLength(csr, r));
  if (format == MATHYBMGPU_FORMAT_HYB) {
    PetscCall(PetscCalloc1(longest + 1, &count));
    for (PetscInt r = 0; r < p->m; r++) count[HybLength(csr, r)]++;
    PetscCall(HybChooseWidth_Private(p, opt, longest, count));
    PetscCall(PetscFree(count));
    p->longest = p->width;
  } else {
    p->limit = PetscMax(HYB_LONG_LEAST, p->m ? (PetscInt)PetscMin(HYB_LONG_TIMES * (p->nz / p->m + 1), UINT16_MAX) : 0);
    for (PetscInt r = 0; r < p->m; r++) p->longest = PetscMax(p->longest, HybBodyLength(p, HybLength(csr, r)));
  }
  for (PetscInt r = 0; r < p->m; r++) nbody += HybBodyLength(p, HybLength(csr, r));
  p->tail.nz = p->nz - nbody;

  if (format == MATHYBMGPU_FORMAT_HYB) p->nplaces = p->stride * p->width;
  else if (format == MATHYBMGPU_FORMAT_SELL) PetscCall(HybMakeSell_Private(p, opt, csr, nbody));
  else PetscCall(HybMakeCSR_Private(p, csr, nbody));
  PetscCall(HybMakeTail_Private(p, csr));
  *plan = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a slice: column by column, for the rows that reach the column */
static void HybFillSlice(HybPlan *p, const HybCSR *csr, PetscInt slice, PetscBool columns)
{
  const PetscInt first = slice * HYB_SLICE, n = PetscMin(HYB_SLICE, p->m - first);
  PetscInt64     at   = p->sliceptr[slice];
  PetscInt       most = 0, start[HYB_SLICE], length[HYB_SLICE];

  for (PetscInt r = 0; r < n; r++) {
    const PetscInt row = HybRow(p->order, first + r);

    start[r]  = csr->i[row];
    length[r] = HybBodyLength(p, HybLength(csr, row));
    most      = PetscMax(most, length[r]);
  }
  for (PetscInt j = 0; j < most; j++) {
    for (PetscInt r = 0; r < n; r++) {
      if (j >= length[r]) continue;
      if (columns) p->col[at] = (int32_t)csr->j[start[r] + j];
      p->val[at++] = csr->a[start[r] + j];
    }
  }
}

PetscErrorCode HybPlanFill(HybPlan *p, const HybCSR *csr, PetscBool columns)
{
  HybTail   *t  = &p->tail;
  PetscInt64 at = 0, longat = 0, shortat = t->nlong ? t->piece[t->nlongpieces] : 0;

  PetscFunctionBegin;
  if (!p->val) PetscCall(PetscMalloc1(p->nplaces, &p->val));
  if (!t->val) PetscCall(PetscMalloc1(t->nz, &t->val));
  if (columns) {
    if (!p->col) PetscCall(PetscMalloc1(p->nplaces, &p->col));
    if (!t->row) PetscCall(PetscMalloc1(t->nz, &t->row));
    if (!t->col) PetscCall(PetscMalloc1(t->nz, &t->col));
  }
  if (p->format == MATHYBMGPU_FORMAT_HYB) {
    PetscCall(PetscArrayzero(p->val, p->nplaces));
    if (columns) {
      for (PetscInt64 k = 0; k < p->nplaces; k++) p->col[k] = -1;
    }
  }
  for (PetscInt k = 0; k < p->m; k++) {
    const PetscInt row = HybRow(p->order, k), start = csr->i[row], length = HybLength(csr, row), body = HybBodyLength(p, length), rest = length - body;
    PetscInt64    *tailat = rest > HYB_PIECE ? &longat : &shortat;

    if (p->format == MATHYBMGPU_FORMAT_SELL) {
      if (k % HYB_SLICE == 0) HybFillSlice(p, csr, k / HYB_SLICE, columns);
    } else {
      for (PetscInt j = 0; j < body; j++) {
        const PetscInt64 to = p->format == MATHYBMGPU_FORMAT_HYB ? j * p->stride + k : at + j;

        if (columns) p->col[to] = (int32_t)csr->j[start + j];
        p->val[to] = csr->a[start + j];
      }
      at += body;
    }
    for (PetscInt j = body; j < length; j++, (*tailat)++) {
      if (columns) {
        t->row[*tailat] = (int32_t)row;
        t->col[*tailat] = (int32_t)csr->j[start + j];
      }
      t->val[*tailat] = csr->a[start + j];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybPlanDropEntries(HybPlan *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(p->col));
  PetscCall(PetscFree(p->val));
  PetscCall(PetscFree(p->tail.row));
  PetscCall(PetscFree(p->tail.col));
  PetscCall(PetscFree(p->tail.val));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybPlanDestroy(HybPlan **plan)
{
  HybPlan *p = *plan;

  PetscFunctionBegin;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HybPlanDropEntries(p));
  PetscCall(PetscFree(p->order));
  PetscCall(PetscFree(p->length));
  PetscCall(PetscFree(p->sliceptr));
  PetscCall(PetscFree(p->rowptr));
  PetscCall(PetscFree(p->tail.piece));
  PetscCall(PetscFree(p->tail.longptr));
  PetscCall(PetscFree(p->tail.longrow));
  PetscCall(PetscFree(*plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybPlanGetBytes(const HybPlan *p, PetscLogDouble *bytes)
{
  const HybTail *t = &p->tail;

  PetscFunctionBegin;
  *bytes = (PetscLogDouble)p->nplaces * (sizeof(PetscScalar) + sizeof(int32_t)) + (PetscLogDouble)t->nz * (sizeof(PetscScalar) + 2 * sizeof(int32_t));
  if (p->order) *bytes += (PetscLogDouble)p->m * sizeof(int32_t);
  if (p->format == MATHYBMGPU_FORMAT_SELL) *bytes += (PetscLogDouble)HybSlices(p->m) * (sizeof(PetscInt64) + HYB_SLICE * (PetscLogDouble)p->lengthbytes);
  if (p->format == MATHYBMGPU_FORMAT_CSR) *bytes += ((PetscLogDouble)p->m + 1) * p->ptrbytes;
  if (t->nz) *bytes += ((PetscLogDouble)t->npieces + 1) * sizeof(PetscInt64);
  PetscFunctionReturn(PETSC_SUCCESS);
}
