/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Substitution with a triangle of type MATSEQAIJVCRS, at the place of the vectors; on the host with the host plan */

#include "tri.h"
#include <petsc/private/vecimpl.h>

static PetscErrorCode MatVCRSGetTrianglePlan_Private(Mat A, const VCRSPlan **plan)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSCompress(A));
  PetscCall(MatVCRSGetHostPlan_Private(A, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSSubstitute_Private(Mat A, PetscBool upper, PetscBool transpose, PetscScalar x[])
{
  const VCRSPlan *plan = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetTrianglePlan_Private(A, &plan));
  PetscCall(VCRSPlanSubstitute(plan, upper, transpose, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSSubstituteColumns_Private(Mat A, PetscBool upper, PetscBool transpose, PetscScalar x[])
{
  const VCRSPlan *plan = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetTrianglePlan_Private(A, &plan));
  PetscCall(VCRSPlanSubstituteColumns(plan, upper, transpose, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSSubstitute(Mat T, PetscBool upper, PetscBool transpose, Vec b, Vec x)
{
  PetscScalar *a;
  PetscBool    isvcrs;
  Mat_VCRS    *ctx;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(T, MAT_CLASSID, 1);
  PetscValidHeaderSpecific(b, VEC_CLASSID, 4);
  PetscValidHeaderSpecific(x, VEC_CLASSID, 5);
  PetscCall(PetscObjectTypeCompare((PetscObject)T, MATSEQAIJVCRS, &isvcrs));
  PetscCheck(isvcrs, PetscObjectComm((PetscObject)T), PETSC_ERR_ARG_WRONG, "MatVCRSSubstitute() needs a matrix of type %s, not %s", MATSEQAIJVCRS,
             ((PetscObject)T)->type_name);
  PetscCheck(T->rmap->n == T->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "A triangle is square, not %" PetscInt_FMT " x %" PetscInt_FMT, T->rmap->n,
             T->cmap->n);
  PetscCheck(b->map->n == T->rmap->n && x->map->n == T->rmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Vectors of %" PetscInt_FMT " and %" PetscInt_FMT " entries for a triangle of %" PetscInt_FMT " rows", b->map->n, x->map->n, T->rmap->n);
  PetscCall(MatVCRSGetContext(T, &ctx));
  PetscCall(MatVCRSCheckProduct(T, ctx));
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool device;

    PetscCall(LitheMatIsOnDevice(T, 2, (const Vec[]){b, x}, &device));
    if (device) {
      PetscCheck(b != x, PETSC_COMM_SELF, PETSC_ERR_ARG_IDN, "On a device the right-hand side and the solution must be different vectors");
      PetscCall(MatVCRSSubstitute_Device_Private(T, upper, transpose, b, x));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  if (b != x) PetscCall(VecCopy(b, x));
  PetscCall(VecGetArray(x, &a));
  PetscCall(MatVCRSSubstitute_Private(T, upper, transpose, a));
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
