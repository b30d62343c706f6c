/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The plans of the block of a process: their creation, their values, their copies on a device.

   A plan is made once per pattern. New values in the same pattern go to the places found before. Data needed only on a
   device is on the host only during the copy.
*/

#include "hybmgpuimpl.h"
#include <lithe/private/litheimpl.h>

/* ---- The AIJ arrays ---- */

PetscErrorCode HybGetCSR(Mat A, HybCSR *csr)
{
  PetscScalar *a;

  PetscFunctionBegin;
  csr->m = A->rmap->n;
  csr->n = A->cmap->n;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr->i, &csr->j, &a, NULL));
  csr->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybStateGet(Mat A, HybState *state)
{
  HybCSR csr;

  PetscFunctionBegin;
  PetscCall(HybGetCSR(A, &csr));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state->values));
  PetscCall(PetscObjectGetId((PetscObject)A, &state->id));
  state->owner   = A;
  state->pattern = A->nonzerostate;
  state->columns = csr.j;
  state->nz      = csr.m ? csr.i[csr.m] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compares pattern and values. The address of the columns counts as well, because the object may have received new data
*/
PetscErrorCode HybStateCompare(const HybState *a, const HybState *b, PetscBool *pattern, PetscBool *values)
{
  PetscFunctionBegin;
  *pattern = (PetscBool)(a->values >= 0 && a->owner == b->owner && a->id == b->id && a->pattern == b->pattern && a->columns == b->columns && a->nz == b->nz);
  *values  = (PetscBool)(*pattern && a->values == b->values);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Copies of a plan ---- */

/* With an existing plan: brings the entries to their place */
PetscErrorCode HybCopiesUpdate(HybCopies *c, const HybCSR *csr, PetscBool device)
{
  const PetscBool kept = (PetscBool)(c->host->col != NULL);

  PetscFunctionBegin;
  if (device ? c->devicevalues : c->hostvalues) PetscFunctionReturn(PETSC_SUCCESS);
  if (!c->hostvalues) PetscCall(HybPlanFill(c->host, csr, (PetscBool)(device ? !c->device : !kept)));
  c->hostvalues = (PetscBool)(kept || !device);
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    if (c->device) PetscCall(LitheCUDAHybUploadValues(c->host, c->device));
    else {
      PetscCall(PetscNew(&c->device));
      PetscCall(LitheCUDAHybUpload(c->host, c->device));
    }
    c->devicevalues = PETSC_TRUE;
    if (!kept) PetscCall(HybPlanDropEntries(c->host));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HybCSRTranspose_Private(const HybCSR *csr, HybCSR *t)
{
  const PetscInt nz = csr->m ? csr->i[csr->m] : 0;
  PetscInt      *i, *j, *next;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(csr->n + 1, &i));
  PetscCall(PetscMalloc1(nz, &j));
  PetscCall(PetscMalloc1(nz, &a));
  PetscCall(PetscMalloc1(csr->n, &next));
  for (PetscInt k = 0; k < nz; k++) i[csr->j[k] + 1]++;
  for (PetscInt k = 0; k < csr->n; k++) i[k + 1] += i[k];
  PetscCall(PetscArraycpy(next, i, csr->n));
  for (PetscInt r = 0; r < csr->m; r++) {
    for (PetscInt k = csr->i[r]; k < csr->i[r + 1]; k++) {
      const PetscInt to = next[csr->j[k]]++;

      j[to] = r;
      a[to] = csr->a[k];
    }
  }
  PetscCall(PetscFree(next));
  t->m = csr->n;
  t->n = csr->m;
  t->i = i;
  t->j = j;
  t->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The format with the fewest bytes among the formats with a plan */
static PetscErrorCode HybPlanCreateSmallest_Private(const HybCSR *csr, const HybOptions *opt, const PetscInt order[], HybPlan **plan)
{
  const MatHYBMGPUFormat formats[] = {MATHYBMGPU_FORMAT_SELL, MATHYBMGPU_FORMAT_HYB, MATHYBMGPU_FORMAT_CSR};
  PetscLogDouble         least     = 0.0, bytes;

  PetscFunctionBegin;
  *plan = NULL;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(formats); k++) {
    HybPlan *other;

    PetscCall(HybPlanCreate(csr, opt, formats[k], order, &other));
    PetscCall(HybPlanGetBytes(other, &bytes));
    if (!*plan || bytes < least) {
      PetscCall(HybPlanDestroy(plan));
      *plan = other;
      least = bytes;
    } else PetscCall(HybPlanDestroy(&other));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan of A^T on a device */
PetscErrorCode HybCopiesUpdateTransposed(HybCopies *c, const HybCSR *csr)
{
  HybCSR     t;
  HybOptions opt;

  PetscFunctionBegin;
  if (c->devicevalues) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(HybCSRTranspose_Private(csr, &t));
  PetscCall(HybOptionsDefault(&opt));
  if (!c->host) PetscCall(HybPlanCreateSmallest_Private(&t, &opt, NULL, &c->host));
  PetscCall(HybCopiesUpdate(c, &t, PETSC_TRUE));
  PetscCall(PetscFree(t.i));
  PetscCall(PetscFree(t.j));
  PetscCall(PetscFree(t.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The block ---- */

/* Frees data made from former values, or from a former pattern */
static PetscErrorCode MatHYBMGPUForget_Private(Mat A)
{
  Mat_HYBMGPU *ctx;
  HybState     now;
  PetscBool    pattern, values;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(HybStateGet(A, &now));
  PetscCall(HybStateCompare(&ctx->block.state, &now, &pattern, &values));
  if (values) PetscFunctionReturn(PETSC_SUCCESS);
  if (!pattern) PetscCall(MatHYBMGPUReset_Seq(ctx));
  HybCopiesAge(&ctx->block.plans);
  HybCopiesAge(&ctx->block.transpose);
  PetscCall(MatDestroy(&ctx->block.compressed));
  ctx->block.state = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Makes an order a permutation: for a pattern that is not symmetric, PETSc's reverse Cuthill-McKee order can have a row
   twice and lack another (docs/internals/petsc-defects.md)
*/
static PetscErrorCode HybCompleteOrder_Private(PetscInt n, IS *rows)
{
  const PetscInt *row;
  PetscInt       *order, at = 0;
  PetscBool      *seen;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &order));
  PetscCall(PetscCalloc1(n, &seen));
  PetscCall(ISGetIndices(*rows, &row));
  for (PetscInt k = 0; k < n; k++) {
    if (!seen[row[k]]) order[at++] = row[k];
    seen[row[k]] = PETSC_TRUE;
  }
  PetscCall(ISRestoreIndices(*rows, &row));
  for (PetscInt k = 0; k < n; k++) {
    if (!seen[k]) order[at++] = k;
  }
  PetscCall(PetscFree(seen));
  PetscCall(ISDestroy(rows));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, order, PETSC_OWN_POINTER, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHYBMGPUGetOrder_Private(Mat A, const HybOptions *opt, IS *rows)
{
  IS columns;

  PetscFunctionBegin;
  *rows = NULL;
  if (opt->reorder == MATHYBMGPU_REORDER_NONE || !A->rmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(A->rmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "-mat_hybmgpu_reorder %s needs as many rows as columns on each process, not %" PetscInt_FMT " and %" PetscInt_FMT
             ". Use -mat_hybmgpu_reorder none",
             MatHYBMGPUReorders[opt->reorder], A->rmap->n, A->cmap->n);
  PetscCall(MatGetOrdering(A, MATORDERINGRCM, rows, &columns));
  PetscCall(ISDestroy(&columns));
  PetscCall(HybCompleteOrder_Private(A->rmap->n, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUChoose_Seq(Mat A)
{
  Mat_HYBMGPU      *ctx;
  HybCSR            csr;
  const HybOptions *opt;
  const PetscInt   *order = NULL;
  PetscLogDouble    bytes, compressed;
  IS                rows;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatHYBMGPUForget_Private(A));
  opt = &ctx->opt;
  if (ctx->block.format == MATHYBMGPU_FORMAT_VCRS && !ctx->block.compressed) PetscCall(HybCompressedCreate(A, &ctx->block.compressed)); /* other values */
  if (ctx->block.format != MATHYBMGPU_FORMAT_AUTO) PetscFunctionReturn(PETSC_SUCCESS);

  if (opt->format == MATHYBMGPU_FORMAT_VCRS) {
    PetscCall(HybCompressedCreate(A, &ctx->block.compressed));
    ctx->block.format = MATHYBMGPU_FORMAT_VCRS;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheCite(LITHE_CITE_HYBMGPU));
  PetscCall(PetscLogEventBegin(MAT_HYBMGPUFormat, A, 0, 0, 0));
  PetscCall(HybGetCSR(A, &csr));
  PetscCall(MatHYBMGPUGetOrder_Private(A, opt, &rows));
  if (rows) PetscCall(ISGetIndices(rows, &order));
  if (opt->format == MATHYBMGPU_FORMAT_AUTO) PetscCall(HybPlanCreateSmallest_Private(&csr, opt, order, &ctx->block.plans.host));
  else PetscCall(HybPlanCreate(&csr, opt, opt->format, order, &ctx->block.plans.host));
  if (rows) PetscCall(ISRestoreIndices(rows, &order));
  PetscCall(ISDestroy(&rows));
  ctx->block.format = ctx->block.plans.host->format;

  /* the bytes of compressed rows are known only after compression; compressed rows have their own order */
  if (opt->format == MATHYBMGPU_FORMAT_AUTO && opt->reorder == MATHYBMGPU_REORDER_NONE && csr.m) {
    PetscCall(HybPlanGetBytes(ctx->block.plans.host, &bytes));
    PetscCall(HybCompressedCreate(A, &ctx->block.compressed));
    PetscCall(HybCompressedGetBytes(ctx->block.compressed, &compressed));
    if (compressed < bytes) {
      PetscCall(HybCopiesReset(&ctx->block.plans));
      ctx->block.format = MATHYBMGPU_FORMAT_VCRS;
    } else PetscCall(MatDestroy(&ctx->block.compressed));
  }
  PetscCall(PetscLogEventEnd(MAT_HYBMGPUFormat, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUUpdate_Seq(Mat A, HybOp op, PetscBool device)
{
  Mat_HYBMGPU *ctx;
  HybCSR       csr;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  if (!device && ctx->opt.format == MATHYBMGPU_FORMAT_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatHYBMGPUChoose_Seq(A));
  if (ctx->block.format == MATHYBMGPU_FORMAT_VCRS) {
    if (device) PetscCall(HybCompressedUpload(ctx->block.compressed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(HybGetCSR(A, &csr));
  if (op == HYB_OP_N) PetscCall(HybCopiesUpdate(&ctx->block.plans, &csr, device));
  else if (device) PetscCall(HybCopiesUpdateTransposed(&ctx->block.transpose, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
