/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Substitution with a compressed triangular matrix on a device. The prepared data stays with the matrix until its next
   compression.

   A row is computed as a sum over known entries of x. The transpose, whose rows are the columns of the triangle, is
   therefore stored separately, without further loss.
*/

#include "tri.h"
#include <lithe/private/litheimpl.h>
#include <petsctime.h>

static PetscErrorCode VCRSSubstitutionDestroy_Private(void *ctx)
{
  VCRSSubstitution *s = (VCRSSubstitution *)ctx;

  PetscFunctionBegin;
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscCall(LitheCUDAVCRSTriFree(&s->way[transpose].prepared));
    PetscCall(VCRSOrderDestroy(&s->way[transpose].order));
  }
  PetscCall(MatDestroy(&s->way[1].T));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New data of T, without an order */
static PetscErrorCode VCRSSubstitutionCreate_Private(Mat T, PetscBool upper, VCRSSubstitution **s)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(T, &ctx));
  PetscCall(PetscNew(s));
  (*s)->upper    = upper;
  (*s)->way[0].T = T;
  PetscCall(MatVCRSSetSubstitution_Private(ctx, *s, VCRSSubstitutionDestroy_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose of T, compressed without loss */
static PetscErrorCode MatVCRSCreateTranspose_Private(Mat T, Mat *transposed)
{
  PetscErrorCode ierr;
  PetscOptions   none;
  PetscInt      *i, *j, m = T->rmap->n; /* NOLINT(clang-analyzer-core.NullDereference): T is never NULL */
  PetscScalar   *a;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDecodedArrays_Private(T, &i, &j, &a));
  PetscCall(LitheOptionsHide(&none));
  ierr = MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, m, i, j, a, &A);
  if (!ierr) ierr = MatTranspose(A, MAT_INITIAL_MATRIX, transposed);
  if (!ierr) ierr = MatConvert(*transposed, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, transposed);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(MatSetOptionsPrefix(*transposed, ((PetscObject)T)->prefix));
  PetscCall(MatVCRSSetLayout(*transposed, MATVCRS_LAYOUT_AUTO));
  PetscCall(MatVCRSSetLoss(*transposed, MATVCRS_LOSS_NONE));
  PetscCall(MatVCRSDropAIJ(*transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiles of a grid need rows stored in natural order */
PetscErrorCode MatVCRSMayUseGrids_Private(Mat T, PetscBool *grids)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSLeavePlainRows_Private(T));
  PetscCall(MatVCRSGetContext(T, &ctx));
  *grids = PETSC_TRUE;
  PetscCall(PetscOptionsGetBool(((PetscObject)T)->options, ((PetscObject)T)->prefix, "-mat_vcrs_substitution_grids", grids, NULL));
  if (ctx->plans.host->layout == MATVCRS_LAYOUT_L3 && (ctx->plans.host->lanes.sorted || ctx->plans.host->lanes.perm || ctx->plans.host->longrows.n))
    *grids = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The order of the rows of T, or of its transpose, and the matrix that stores these rows. i, j: the pattern of T if
   known, else NULL.
*/
PetscErrorCode MatVCRSGetOrder_Private(Mat T, PetscBool upper, PetscBool transpose, const PetscInt i[], const PetscInt j[], const VCRSOrder **order,
                                       Mat *stored)
{
  Mat_VCRS         *ctx;
  VCRSSubstitution *s;
  const int         w = transpose ? 1 : 0;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress(T));
  PetscCall(MatVCRSGetContext(T, &ctx));
  s = (VCRSSubstitution *)ctx->plans.substitution;
  if (!s || s->upper != upper) PetscCall(VCRSSubstitutionCreate_Private(T, upper, &s));
  if (!s->way[w].T) {
    PetscCall(MatVCRSCreateTranspose_Private(T, &s->way[w].T));
    PetscCall(PetscInfo(T, "Stored the transpose of a triangle for substitution on a device\n"));
  }
  if (!s->way[w].order) {
    PetscInt      *ti = NULL, *tj = NULL;
    PetscScalar   *ta = NULL;
    PetscBool      grids;
    PetscLogDouble begin, end;
    PetscErrorCode ierr;

    PetscCall(MatVCRSMayUseGrids_Private(s->way[w].T, &grids));
    PetscCall(PetscTime(&begin));
    if (transpose || !i) {
      PetscCall(MatVCRSGetDecodedArrays_Private(s->way[w].T, &ti, &tj, &ta));
      i = ti;
      j = tj;
    }
    ierr = VCRSOrderCreate(T->rmap->n, i, j, (PetscBool)(upper != transpose), grids, &s->way[w].order);
    PetscCall(PetscFree3(ti, tj, ta));
    PetscCall(ierr);
    PetscCall(PetscTime(&end));
    PetscCall(PetscInfo(T, "Ordered %" PetscInt_FMT " rows %s in %g s: %" PetscInt_FMT " steps, %" PetscInt_FMT " tasks\n", T->rmap->n,
                        s->way[w].order->grid ? "by tiles of a grid" : "by levels", end - begin, s->way[w].order->nlevels, s->way[w].order->ntasks));
  }
  if (order) *order = s->way[w].order;
  if (stored) *stored = s->way[w].T;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a known order of the rows of a compressed T; T takes ownership */
PetscErrorCode MatVCRSSetOrder_Private(Mat T, PetscBool upper, VCRSOrder *order)
{
  VCRSSubstitution *s;

  PetscFunctionBegin;
  PetscCall(VCRSSubstitutionCreate_Private(T, upper, &s));
  s->way[0].order = order;
  PetscCall(PetscInfo(T, "Ordered %" PetscInt_FMT " rows %s on the device: %" PetscInt_FMT " steps, %" PetscInt_FMT " tasks\n", T->rmap->n,
                      order->grid ? "by tiles of a grid" : "by levels", order->nlevels, order->ntasks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSMirror_Device_Private(Mat T, PetscInt first, const LitheDeviceTriangle *lower, PetscScalar **da)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress(T));
  PetscCall(MatVCRSGetContext(T, &ctx));
  PetscCall(MatVCRSUpload_Private(T));
  PetscCall(LitheCUDAVCRSMirror(ctx->plans.device, first, lower, da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSSubstituteArrays_Device_Private(Mat T, PetscBool upper, PetscBool transpose, const PetscScalar db[], PetscScalar dx[])
{
  Mat_VCRS        *ctx, *tctx;
  const VCRSOrder *order;
  void           **prepared;
  Mat              stored;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetOrder_Private(T, upper, transpose, NULL, NULL, &order, &stored));
  PetscCall(MatVCRSGetContext(T, &ctx));
  PetscCall(MatVCRSGetContext(stored, &tctx));
  PetscCall(MatVCRSUpload_Private(stored));
  prepared = &((VCRSSubstitution *)ctx->plans.substitution)->way[transpose ? 1 : 0].prepared;
  if (!*prepared) PetscCall(LitheCUDAVCRSTriSetUp(tctx->plans.device, order, prepared));

  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDAVCRSTriSolve(*prepared, tctx->plans.device, db, dx));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)order->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSSubstitute_Device_Private(Mat T, PetscBool upper, PetscBool transpose, Vec b, Vec x)
{
  const PetscScalar *pb;
  PetscScalar       *px;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(b, &pb, NULL));
  PetscCall(VecGetArrayWriteAndMemType(x, &px, NULL));
  PetscCall(MatVCRSSubstituteArrays_Device_Private(T, upper, transpose, pb, px));
  PetscCall(VecRestoreArrayWriteAndMemType(x, &px));
  PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
  PetscFunctionReturn(PETSC_SUCCESS);
}
