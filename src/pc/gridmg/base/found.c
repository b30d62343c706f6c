/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What the set-up of a PCGRIDMG finds out about its matrix while a method reads the finest level */

#include "base.h"

const char *const PCGridMGCoarsenTypes[] = {"auto", "semi", "two", "full", "PCGridMGCoarsenType", "PCGRIDMG_COARSEN_", NULL};

#define GRIDMG_ROUNDING 16   /* a smaller row sum, in roundings, counts as 0 */
#define GRIDMG_NULL     1e-8 /* the same if the null space contains the constants */
#define GRIDMG_UNITS    1e-3 /* rows of a nonsymmetric matrix with smaller entries, relative to the largest, may be equations in other units */

/* rounding: a row sum below this part of the diagonal, or of the sum of moduli of a stencil, counts as 0 */
PetscErrorCode PCGridMGGetRounding_Private(PC pc, double *rounding)
{
  PetscBool    constant = PETSC_FALSE;
  MatNullSpace null;

  PetscFunctionBegin;
  *rounding = GRIDMG_ROUNDING * (double)PETSC_MACHINE_EPSILON;
  PetscCall(MatGetNullSpace(pc->pmat, &null));
  if (null) PetscCall(MatNullSpaceGetVecs(null, &constant, NULL, NULL));
  if (constant) *rounding = PetscMax(*rounding, GRIDMG_NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the rows are read */
void PCGridMGFoundStart_Private(PC_GridMG *mg, PCGridMGSmootherType smoother, double overcorrection)
{
  mg->found.suspect        = PETSC_FALSE;
  mg->found.smoother       = smoother;
  mg->found.overcorrection = overcorrection;
}

void PCGridMGFoundSmoother_Private(PC_GridMG *mg, PCGridMGSmootherType smoother)
{
  mg->found.smoother = smoother;
}

/* The factor of all entries brings the largest one, `most`, near 1; minus: the matrix is negative */
void PCGridMGFoundFactor_Private(PC_GridMG *mg, double most, PetscBool minus)
{
  int exponent;

  (void)frexp(most, &exponent);
  mg->found.factor = ldexp(minus ? -1. : 1., most > 0 ? PetscMin(1000, -exponent) : 0);
  mg->found.zeros  = (PetscBool)(most == 0);
}

void PCGridMGFoundSymmetry_Private(PC_GridMG *mg, PetscBool symmetric)
{
  mg->found.symmetric = symmetric;
}

/* The number of negative row sums; clipped: they were taken as 0 */
void PCGridMGFoundRowSums_Private(PC_GridMG *mg, PetscInt negative, PetscBool clipped)
{
  mg->found.negative = negative;
  mg->found.clipped  = clipped ? negative : 0;
}

/* Whether constants may not be near the null space; least: the smallest diagonal entry, where the largest is near 1 */
void PCGridMGFoundSuspect_Private(PC_GridMG *mg, double least)
{
  mg->found.suspect = (PetscBool)(mg->found.negative > 0 || (!mg->found.symmetric && least < GRIDMG_UNITS));
}

/* Vectors in double precision, if single precision would lose entries, or if the solver wants it */
void PCGridMGFoundPrecision_Private(PC_GridMG *mg, PetscBool loses)
{
  mg->found.precision = PCGridMGWantsDouble(mg) || loses ? GRIDMG_DOUBLE : GRIDMG_SINGLE;
}
