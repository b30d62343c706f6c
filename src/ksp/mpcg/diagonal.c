/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A LitheSingle for PCJACOBI and PCNONE. The matrix multiplies if it offers LITHE_MAT_SINGLE, and if its entries are
   compressed; else a copy of it does, a MATVCRS in single precision that keeps row sums. The variables are those of the
   user but for a power of two, so that norms are those of KSPCG.
*/

#include "mpcgimpl.h"
#include <lithe/private/vcrs/mat.h>

#define MPCG_LEAST 1e-30 /* numbers of the diagonal, after the power of two of the matrix */
#define MPCG_MOST  1e30
#define MPCG_NEAR  1e12 /* a matrix whose diagonal is at most this far from 1 has no power of two: a copy of it then serves */

/* ------------------------------------------------------------ functions of the LitheSingle */

static PetscErrorCode Enter_Private(void *ctx, double factor, const PetscScalar r[], float b[])
{
  const MPCGSingle *s = &((const KSP_MPCG *)((KSP)ctx)->data)->single;

  PetscFunctionBegin;
  PetscCall((*s->kernels->enter)(s->op.n, factor, (const PetscReal *)r, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Leave_Private(void *ctx, double factor, const float y[], PetscScalar x[])
{
  const KSP_MPCG *cg = (const KSP_MPCG *)((KSP)ctx)->data;

  PetscFunctionBegin;
  PetscCall((*cg->single.kernels->leave)(cg->single.op.n, cg->diagonal.factor / factor, y, (PetscReal *)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply_Private(void *ctx, float p[], float q[])
{
  const KSP_MPCG *cg = (const KSP_MPCG *)((KSP)ctx)->data;

  PetscFunctionBegin;
  PetscCall((*cg->diagonal.multiply)(cg->diagonal.matrix, p, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device MATVCRS has a kernel for each kind of matrix, for vectors of PetscScalar. Conversions cost less than a
   kernel for all kinds */
static PetscErrorCode MultiplyDevice_Private(void *ctx, float p[], float q[])
{
  const KSP_MPCG     *cg = (const KSP_MPCG *)((KSP)ctx)->data;
  const MPCGDiagonal *d  = &cg->diagonal;
  const MPCGSingle   *s  = &cg->single;
  PetscScalar        *x;
  const PetscScalar  *y;

  PetscFunctionBegin;
  PetscCall(VecGetArrayWriteAndMemType(d->wide[0], &x, NULL));
  PetscCall((*s->kernels->leave)(s->op.n, 1, p, (PetscReal *)x));
  PetscCall(VecRestoreArrayWriteAndMemType(d->wide[0], &x));
  PetscCall(MatMult(d->matrix, d->wide[0], d->wide[1]));
  PetscCall(VecGetArrayReadAndMemType(d->wide[1], &y, NULL));
  PetscCall((*s->kernels->enter)(s->op.n, 1, (const PetscReal *)y, q));
  PetscCall(VecRestoreArrayReadAndMemType(d->wide[1], &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the matrix */

static PetscErrorCode Configure_Private(Mat B, PETSC_UNUSED void *ctx)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSSetLoss(B, MATVCRS_LOSS_SINGLE));
  PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
  PetscCall(MatVCRSSetPlainRows_Private(B, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* factor A is the copy. Large memory for a moment if factor is not 1 */
static PetscErrorCode Copy_Private(Mat A, double factor, Mat *copy)
{
  Mat from = A;

  PetscFunctionBegin;
  if (factor != 1) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &from));
    PetscCall(MatScale(from, (PetscReal)factor));
  }
  PetscCall(MatVCRSCreateCopy_Private(from, Configure_Private, NULL, copy));
  if (factor != 1) PetscCall(MatDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the rows of a matrix can be copied: those of a relative of MATAIJ with its arrays */
static PetscErrorCode HasRows_Private(Mat A, PetscBool *has)
{
  PetscErrorCode (*hasarrays)(Mat, PetscBool *);
  PetscBool seq, mpi;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &seq));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &mpi));
  *has = (PetscBool)(seq || mpi);
  if (!*has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatHasArrays_C", &hasarrays));
  if (hasarrays) PetscCall((*hasarrays)(A, has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a matrix is compressed, and has a product for this place */
static PetscErrorCode GetMultiply_Private(MPCGDiagonal *d, Mat A, PetscBool device, PetscBool *better)
{
  LitheMatGetSingleFn *get;

  PetscFunctionBegin;
  d->multiply = NULL;
  *better     = PETSC_TRUE;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, LITHE_MAT_SINGLE, &get));
  if (get) PetscCall((*get)(A, device, better, &d->multiply));
  d->offered = (PetscBool)(d->multiply || (get && device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of products */
static PetscErrorCode FindMatrix_Private(KSP ksp, PetscBool device, double factor)
{
  MPCGDiagonal *d = &((KSP_MPCG *)ksp->data)->diagonal;
  Mat           A = ksp->pc->mat;
  PetscBool     better, has;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&d->matrix));
  d->factor = factor;
  PetscCall(GetMultiply_Private(d, A, device, &better));
  PetscCall(HasRows_Private(A, &has));
  if (has && (better || factor != 1)) {
    PetscCall(Copy_Private(A, factor, &d->matrix));
    PetscCall(PetscInfo(ksp, "Products use a copy of the matrix in single precision\n"));
    PetscCall(GetMultiply_Private(d, d->matrix, device, &better));
  } else if (factor != 1) d->offered = PETSC_FALSE;
  else {
    PetscCall(PetscObjectReference((PetscObject)A));
    d->matrix = A;
  }
  for (int k = 0; device && d->offered && k < 2; k++) {
    if (!d->wide[k]) PetscCall(VecDuplicate(ksp->work[0], &d->wide[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the preconditioner */

/*
   M of the user, from M applied to ones, which serves each kind of PCJACOBI: its absolute numbers' range, and whether
   they are finite, real and not 0. Without M, the range of the diagonal of the matrix
*/
static PetscErrorCode Range_Private(Vec v, PetscBool *good, PetscReal range[2])
{
  const PetscScalar *a;
  PetscReal          sent[3];
  PetscInt           n;

  PetscFunctionBegin;
  range[0] = PETSC_MAX_REAL;
  range[1] = 0;
  *good    = PETSC_TRUE;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal size = PetscAbsReal(PetscRealPart(a[k]));

    if (!(size > 0) || PetscIsInfOrNanReal(size) || PetscImaginaryPart(a[k]) != 0) *good = PETSC_FALSE;
    range[0] = PetscMin(range[0], size);
    range[1] = PetscMax(range[1], size);
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  sent[0] = -range[0];
  sent[1] = range[1];
  sent[2] = *good ? 0 : 1;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sent, 3, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)v)));
  range[0] = -sent[0];
  range[1] = sent[1];
  *good    = (PetscBool)(sent[2] == 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal in single precision, times a factor: a number of the KSP's vectors each */
static PetscErrorCode PutDiagonal_Private(MPCGDiagonal *d, PetscBool device, double factor, Vec v)
{
  const LitheMemoryOps *memory = LitheMemoryOf(device);
  const PetscScalar    *a;
  PetscInt              n;
  float                *own;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  if (d->values && (d->memory != memory || d->n != n)) PetscCall((*d->memory->free)((void **)&d->values));
  d->memory = memory;
  d->n      = n;
  PetscCall(PetscMalloc1(MPCG_PARTS * n, &own));
  PetscCall(VecGetArrayRead(v, &a));
  for (PetscInt k = 0; k < MPCG_PARTS * n; k++) own[k] = (float)(factor * (double)PetscRealPart(a[k / MPCG_PARTS]));
  PetscCall(VecRestoreArrayRead(v, &a));
  if (!d->values) PetscCall((*memory->alloc)((size_t)(MPCG_PARTS * PetscMax(n, 1)) * sizeof(float), (void **)&d->values));
  PetscCall((*memory->put)((size_t)(MPCG_PARTS * n) * sizeof(float), own, d->values));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A power of two that brings the diagonal of the matrix near 1; 1 if it is not far from that */
static double FactorOf(const PetscReal range[2])
{
  return range[1] > (PetscReal)MPCG_NEAR || range[1] < (PetscReal)(1 / MPCG_NEAR) ? LitheMGScaleOf((double)range[1]) : 1;
}

static PetscErrorCode Fill_Private(KSP ksp, PetscBool none, PetscBool device)
{
  MPCGDiagonal *d = &((KSP_MPCG *)ksp->data)->diagonal;
  PetscReal     range[2], inverse[2];
  PetscBool     good;
  double        factor;
  Vec           v;

  PetscFunctionBegin;
  d->offered = PETSC_FALSE;
  d->number  = LitheSingleNumber();
  PetscCall(VecDuplicate(ksp->work[0], &v));
  if (none) PetscCall(MatGetDiagonal(ksp->pc->mat, v));
  else {
    Vec ones;

    PetscCall(VecDuplicate(v, &ones));
    PetscCall(VecSet(ones, 1));
    PetscCall(PCApply(ksp->pc, ones, v));
    PetscCall(VecDestroy(&ones));
  }
  PetscCall(Range_Private(v, &good, range));
  if (good && !none) { /* of the matrix */
    inverse[0] = 1 / range[1];
    inverse[1] = 1 / range[0];
    range[0]   = inverse[0];
    range[1]   = inverse[1];
  }
  factor = good ? FactorOf(range) : 1;
  good   = (PetscBool)(good && (double)range[0] * factor >= MPCG_LEAST && (double)range[1] * factor <= MPCG_MOST);
  if (good) PetscCall(FindMatrix_Private(ksp, device, factor));
  if (d->offered && !none) PetscCall(PutDiagonal_Private(d, device, 1 / factor, v));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What decides about matrix and diagonal, so that a solve finds those of the solve before */
static PetscErrorCode GetKey_Private(KSP ksp, PetscBool none, PetscBool device, MPCGDiagonalKey *key)
{
  PetscFunctionBegin;
  key->none   = none;
  key->device = device;
  PetscCall(PCGetReusePreconditioner(ksp->pc, &key->reuse));
  PetscCall(PetscObjectGetId((PetscObject)ksp->pc, &key->pc));
  PetscCall(PetscObjectGetId((PetscObject)ksp->pc->mat, &key->mat));
  PetscCall(PetscObjectStateGet((PetscObject)ksp->pc->mat, &key->state));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsSame(const MPCGDiagonalKey *a, const MPCGDiagonalKey *b)
{
  return (PetscBool)(a->none == b->none && a->device == b->device && a->reuse == b->reuse && a->pc == b->pc && a->mat == b->mat && a->state == b->state);
}

/* Before each solve, with vectors where the first work vector is */
PetscErrorCode MPCGDiagonalGetSingle_Private(KSP ksp, LitheSingle *op, PetscBool *offered)
{
  MPCGDiagonal      *d = &((KSP_MPCG *)ksp->data)->diagonal;
  PetscBool          jacobi, none, device;
  MPCGDiagonalKey    key;
  const PetscScalar *r;
  PetscMemType       place;
  PetscInt           n;

  PetscFunctionBegin;
  *offered = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCJACOBI, &jacobi));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  if (!jacobi && !none) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayReadAndMemType(ksp->work[0], &r, &place));
  device = (PetscBool)!PetscMemTypeHost(place);
  PetscCall(VecRestoreArrayReadAndMemType(ksp->work[0], &r));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &device, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)ksp)));
  PetscCall(GetKey_Private(ksp, none, device, &key));
  if (!IsSame(&key, &d->key)) {
    PetscCall(Fill_Private(ksp, none, device));
    PetscCall(GetKey_Private(ksp, none, device, &d->key)); /* a compression may have changed the state */
  }
  *offered = d->offered;
  if (!*offered) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(ksp->work[0], &n));
  *op = (LitheSingle){.n        = MPCG_PARTS * n,
                      .length   = MPCG_PARTS * n,
                      .device   = device,
                      .records  = PETSC_FALSE, /* MatMult() is no part of a record, and the host has none */
                      .memory   = LitheMemoryOf(device),
                      .number   = d->number,
                      .ctx      = ksp,
                      .diagonal = none ? NULL : d->values,
                      .enter    = Enter_Private,
                      .leave    = Leave_Private,
                      .multiply = device ? MultiplyDevice_Private : Multiply_Private};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGDiagonalReset_Private(MPCGDiagonal *d)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&d->matrix));
  if (d->values) PetscCall((*d->memory->free)((void **)&d->values));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&d->wide[k]));
  d->key = (MPCGDiagonalKey){.mat = 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
