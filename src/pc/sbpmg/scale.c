/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Scales of a PCSBPMG whose levels are in single precision and vectors in double precision: numbers may have any size
   in double precision.

   Operators of all levels are multiplied by one power of two, factor, as they are rounded. factor is 1 unless the
   largest coefficient of the finest level is far from 1. The input is multiplied by another power of two, scale->in,
   which depends only on the largest number of the input. An application is therefore linear and independent of earlier
   ones. scale->in is 1 in a wide window, in which results are the same as without scaling. The output is multiplied by
   factor / scale->in.

   The largest number is found where the input is read anyway, and the scale has the place of the levels. A device does
   not wait, but has one more launch, which is empty in the window. Several processes need the largest number over all
   processes.
*/

#include "sbpmgimpl.h"

#define SBPMG_FACTOR_WINDOW 20 /* of coefficients, see SBPScaleOf() */

/* Whether levels are in single precision and the input is not */
PetscBool PCSBPMGIsScaled_Private(const PC_SBPMG *mg)
{
  return (PetscBool)(mg->exact != mg->precision);
}

PetscErrorCode PCSBPMGScaleCreate_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  mg->scaling.factor = 1.;
  mg->scaling.turn   = 0;
  if (PCSBPMGIsScaled_Private(mg)) PetscCall(LitheMemoryCalloc(mg->kernels->memory, sizeof(SBPScale), (void **)&mg->scaling.there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGScaleFree_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  if (mg->scaling.there) PetscCall((*mg->kernels->memory->free)((void **)&mg->scaling.there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The upper word of the largest noted number, on all processes */
static PetscErrorCode GetLargest_Private(PC_SBPMG *mg, unsigned int *largest)
{
  unsigned int noted[SBP_SCALE_SLOTS * SBP_SCALE_STRIDE];

  PetscFunctionBegin;
  PetscCall((*mg->kernels->memory->get)(sizeof(noted), mg->scaling.there->largest[mg->scaling.turn], noted));
  *largest = 0;
  for (int k = 0; k < SBP_SCALE_SLOTS; k++) *largest = PetscMax(*largest, noted[k * SBP_SCALE_STRIDE]);
  if (!PCSBPMGIsWhole(mg, 0)) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, largest, 1, MPI_UNSIGNED, MPI_MAX, mg->level[0].exchange.parts.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the scale from the number noted in this turn; x, if not NULL, is the noted vector, and is scaled */
static PetscErrorCode Rescale_Private(PC_SBPMG *mg, const SBPGrid *from, SBPPrecision precision, int part, const void *x, const SBPGrid *to, void *y)
{
  PetscFunctionBegin;
  if (!PCSBPMGIsWhole(mg, 0)) {
    unsigned int largest;

    PetscCall(GetLargest_Private(mg, &largest));
    PetscCall((*mg->kernels->memory->put)(sizeof(largest), &largest, mg->scaling.there->largest[mg->scaling.turn]));
  }
  PetscCall((*mg->kernels->vector.rescale)(from, precision, part, x, to, y, mg->scaling.there, mg->scaling.turn));
  mg->scaling.turn = 1 - mg->scaling.turn;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A part of a vector, or of an array of another precision, of the grid plain, as the right-hand side of a cycle on the
   finest level */
PetscErrorCode PCSBPMGEnter_Private(PC_SBPMG *mg, const SBPGrid *plain, SBPPrecision precision, int part, const void *x)
{
  SBPMGLevel *l    = &mg->level[0];
  SBPGrid     grid = l->op[mg->precision].grid;
  void       *b    = l->b;

  PetscFunctionBegin;
  if (l->box.halo) PCSBPMGBoxPart(l, mg->precision, l->b, &grid, &b);
  if (!PCSBPMGIsScaled_Private(mg)) {
    PetscCall((*mg->kernels->vector.copy)(plain, precision, part, x, &grid, mg->precision, 0, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->kernels->vector.copylargest)(plain, precision, part, x, &grid, b, mg->scaling.there, mg->scaling.turn));
  PetscCall(Rescale_Private(mg, plain, precision, part, x, &grid, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterate of the finest level as a part of a vector */
PetscErrorCode PCSBPMGLeave_Private(PC_SBPMG *mg, const SBPGrid *plain, int part, PetscScalar *y)
{
  const SBPMGLevel *l    = &mg->level[0];
  SBPGrid           grid = l->op[mg->precision].grid;
  const void       *x    = l->x[l->cur];
  void             *own;

  PetscFunctionBegin;
  if (l->box.halo) {
    PCSBPMGBoxPart(l, mg->precision, l->x[l->cur], &grid, &own);
    x = own;
  }
  if (PCSBPMGIsGathered(mg, 0)) PCSBPMGOwnPart(mg, &l->op[mg->precision].grid, mg->precision, l->x[l->cur], &grid, &x);
  if (PCSBPMGIsScaled_Private(mg))
    PetscCall((*mg->kernels->vector.copyscaled)(&grid, mg->precision, 0, x, plain, SBP_SCALAR, part, y, PCSBPMGOut_Private(mg, 1.)));
  else PetscCall((*mg->kernels->vector.copy)(&grid, mg->precision, 0, x, plain, SBP_SCALAR, part, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor of corrections in the precision of the cycle, times a number */
SBPRatio PCSBPMGOut_Private(const PC_SBPMG *mg, double a)
{
  if (!PCSBPMGIsScaled_Private(mg)) return (SBPRatio){a, NULL, NULL};
  return (SBPRatio){a * mg->scaling.factor, &mg->scaling.there->out, NULL};
}

/*
   Restricts r, the right-hand side of the finest level with ghosts, to the second level of full multigrid. r sets the
   scale of all residuals
*/
PetscErrorCode PCSBPMGRestrictFirst_Private(PC_SBPMG *mg, const void *r)
{
  const SBPGrid *fine = &mg->level[0].op[mg->exact].grid, *coarse = &mg->level[1].op[mg->exact].grid;

  PetscFunctionBegin;
  if (!PCSBPMGIsScaled_Private(mg)) {
    PetscCall(PCSBPMGRestrict_Private(mg, &mg->level[0], &mg->level[1], mg->exact, r, mg->level[1].full.b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (PCSBPMGIsGathered(mg, 1)) {
    PetscCall((*mg->kernels->restrictlargest)(fine, &mg->gather.part, r, mg->gather.own[mg->exact], mg->scaling.there, mg->scaling.turn));
    PetscCall(PCSBPMGGather_Private(mg, mg->exact, mg->gather.own[mg->exact], coarse, mg->level[1].full.b));
  } else PetscCall((*mg->kernels->restrictlargest)(fine, coarse, r, mg->level[1].full.b, mg->scaling.there, mg->scaling.turn));
  PetscCall(Rescale_Private(mg, fine, SBP_SCALAR, 0, NULL, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds numbers of an operator, times scale, to the precision of the cycle; owned arrays of one grid */
PetscErrorCode PCSBPMGRoundNumbers_Private(PC_SBPMG *mg, double scale, const SBPGrid *grid, const void *from, void *to)
{
  const double a = mg->scaling.factor * scale;

  PetscFunctionBegin;
  if (a == 1.) PetscCall((*mg->kernels->vector.copy)(grid, mg->exact, 0, from, grid, mg->precision, 0, to));
  else PetscCall((*mg->kernels->vector.copyscaled)(grid, mg->exact, 0, from, grid, mg->precision, 0, to, (SBPRatio){a, NULL, NULL}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounds n arrays, and returns their largest number on all processes, up to a factor of less than 1 + 2^-20 */
static PetscErrorCode RoundAndNote_Private(PC_SBPMG *mg, const SBPGrid *grid, int n, const void *const from[], void *const to[], double *most)
{
  unsigned int largest;

  PetscFunctionBegin;
  for (int k = 0; k < n; k++) PetscCall((*mg->kernels->vector.copylargest)(grid, mg->exact, 0, from[k], grid, to[k], mg->scaling.there, mg->scaling.turn));
  PetscCall(GetLargest_Private(mg, &largest));
  PetscCall((*mg->kernels->vector.rescale)(grid, mg->exact, 0, NULL, NULL, NULL, mg->scaling.there, mg->scaling.turn));
  mg->scaling.turn = 1 - mg->scaling.turn;
  *most            = SBPOfUpperWord(largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for the coefficients of the finest level, of which the first three are multiplied by scale. The largest
   coefficient determines the factor */
PetscErrorCode PCSBPMGRoundFinest_Private(PC_SBPMG *mg, double scale, const SBPGrid *grid, int n, const void *const from[], void *const to[])
{
  double most = 0., diagonal = 0.;

  PetscFunctionBegin;
  PetscCall(RoundAndNote_Private(mg, grid, SBP_DIAGONAL, from, to, &most));
  if (n > SBP_DIAGONAL) PetscCall(RoundAndNote_Private(mg, grid, n - SBP_DIAGONAL, from + SBP_DIAGONAL, to + SBP_DIAGONAL, &diagonal));
  if (scale != 1.) most = PetscMin(most * PetscAbsReal(scale), (double)PETSC_MAX_REAL);
  mg->scaling.factor = SBPScaleOf(SBPUpperWord(PetscMax(most, diagonal)), SBPMG_FACTOR_WINDOW);
  for (int k = 0; k < n; k++) {
    const double times = k == SBP_DIAGONAL ? 1. : scale;

    if (mg->scaling.factor * times != 1.) PetscCall(PCSBPMGRoundNumbers_Private(mg, times, grid, from[k], to[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
