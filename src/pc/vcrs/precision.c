/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   An application to vectors in single precision.

   The input is divided by a power of two near its largest entry, because small residuals underflow in single precision,
   and rounded to 24 bits. The output is rounded, too, before the power of two is multiplied back. A result near the end
   of the range of numbers has a separate power of two, because rounding multiplies. Rounding takes three operations on
   vectors (T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18,
   1971), which run at any place of the vectors.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/lithetruth.h>
#include <float.h>

/* Rounds x to single precision: c = (2^s + 1) x, and c - (c - x) has s bits fewer than x */
static PetscErrorCode PCVCRSRound_Private(Vec x, Vec c)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(x, c));
  PetscCall(VecScale(c, (PetscScalar)((PetscReal)FLT_EPSILON / PETSC_MACHINE_EPSILON + 1)));
  PetscCall(VecAYPX(x, -1.0, c));
  PetscCall(VecAYPX(x, -1.0, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A power of two near x > 0, whose inverse is a number */
static PetscReal PCVCRSPowerNear_Private(PetscReal x)
{
  return PetscPowReal(2.0, PetscMax(-1000.0, PetscMin(1000.0, PetscFloorReal(PetscLog2Real(x)))));
}

/* A vector like x to work with */
static PetscErrorCode PCVCRSGetRounded_Private(PC_VCRS *v, PetscInt k, Vec x)
{
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  if (v->single.rounded[k]) PetscCall(PetscObjectTypeCompare((PetscObject)v->single.rounded[k], ((PetscObject)x)->type_name, &same));
  if (!same) {
    PetscCall(VecDestroy(&v->single.rounded[k]));
    PetscCall(VecDuplicate(x, &v->single.rounded[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSApplySingle_Private(PC_VCRS *v, PetscErrorCode (*apply)(PC, Vec, Vec), Vec x, Vec y)
{
  PetscReal norm, scale = 1.0, out = 1.0;
  Vec       in;

  PetscFunctionBegin;
  if (sizeof(PetscReal) <= sizeof(float)) {
    PetscCall((*apply)(v->inner.pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCVCRSGetRounded_Private(v, 0, x));
  PetscCall(PCVCRSGetRounded_Private(v, 1, x));
  PetscCall(PCVCRSGetRounded_Private(v, 2, y));
  in = v->single.rounded[0];
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  if (norm > 0.0 && !PetscIsInfOrNanReal(norm)) scale = PCVCRSPowerNear_Private(norm);
  PetscCall(VecCopy(x, in));
  PetscCall(VecScale(in, 1.0 / scale));
  PetscCall(PCVCRSRound_Private(in, v->single.rounded[1]));
  PetscCall((*apply)(v->inner.pc, in, y));
  /* the first result gives the size of further results: one norm per set-up */
  if (v->single.outscale == 0.0) {
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    if (norm > 0.0 && !PetscIsInfOrNanReal(norm)) v->single.outscale = norm > 1e250 || norm < 1e-250 ? PCVCRSPowerNear_Private(norm) : 1.0;
  }
  if (v->single.outscale != 0.0) out = v->single.outscale;
  PetscCall(VecScale(y, 1.0 / out));
  PetscCall(PCVCRSRound_Private(y, v->single.rounded[2]));
  PetscCall(VecScale(y, out));
  PetscCall(VecScale(y, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a solve: vectors are no longer rounded if the solver needs a linear preconditioner */
PetscErrorCode PCVCRSSingleChoose_Private(PC pc, KSP ksp)
{
  PCVCRSSingle *single = &((PC_VCRS *)pc->data)->single;
  PetscBool     known, symmetric;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
  if (!single->linear) PetscCall(LithePCNeedsDouble(pc, ksp, (PetscBool)(known && symmetric), &single->rounding, &single->linear));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The inner preconditioner is set up again: its output may have another size */
void PCVCRSSingleForgetSize_Private(PCVCRSSingle *single)
{
  single->outscale = 0.0;
}

/* The copies are new: nothing is measured */
void PCVCRSSingleForget_Private(PCVCRSSingle *single)
{
  single->linear   = PETSC_FALSE;
  single->rounding = -1;
}

PetscErrorCode PCVCRSSingleFree_Private(PCVCRSSingle *single)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(single->rounded); k++) PetscCall(VecDestroy(&single->rounded[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
