/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Near null vectors by relaxation.

   Unknowns in different units turn A into D A D, whose near null vector is D^-1 1 where that of A is 1. Coarse levels
   that represent constants then serve X A X, with X = diag(x) and A x nearly 0. Relaxation of A x = 0 removes rough
   parts of x (M. Brezina, R. Falgout, S. MacLachlan, T. Manteuffel, S. McCormick, J. Ruge, Adaptive smoothed
   aggregation multigrid, SIAM Review 47, 2005). The first iterate is |a_ii|^-1/2, which is right for constant
   coefficients. A few sweeps suffice: only the local shape of x counts, and smooth parts belong to coarse levels.

   For a nonsymmetric matrix A D the right vector is found in the same way, from |a_ii|^-1. Equations in different units
   are D A: entries of a column then belong to rows of different size, and the inverse diagonal is the left vector.
   Upwind fluxes have negative sums of rows or columns, too, of the size of a few diagonal entries. They keep constants.
*/

#include <lithe/private/lithememtype.h>
#include <lithe/private/lithenearnull.h>
#include <lithe/private/petsccompat.h>

#define NEARNULL_SWEEPS 8
#define NEARNULL_WEIGHT (2. / 3.) /* stable up to eigenvalue 3 of D^-1 A: 2 for M-matrices */
#define NEARNULL_LEAST  1e-3      /* of |x_i| over the first iterate, relative to the maximum */
#define NEARNULL_GAIN   0.5       /* of the size of sums by a recovered vector, at most */
#define NEARNULL_UNITS  9         /* a sum below minus this number of diagonal entries: unknowns or equations in other units */

/* The vectors of one search */
typedef struct {
  Vec       diagonal; /* zeros replaced by the largest modulus */
  Vec       x, work;
  PetscReal most; /* the largest modulus of the diagonal */
} Search;

/* The diagonal; work is overwritten */
static PetscErrorCode GetDiagonal_Private(Mat A, Search *s)
{
  PetscFunctionBegin;
  PetscCall(MatGetDiagonal(A, s->diagonal));
  PetscCall(VecNorm(s->diagonal, NORM_INFINITY, &s->most));
  PetscCall(VecZeroEntries(s->work));
  PetscCall(VecPointwiseDivide(s->work, s->work, s->diagonal)); /* 0/0 is 1 */
  PetscCall(VecAXPY(s->diagonal, s->most, s->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* work = |a_ii / most|^1/2, or without the root for a nonsymmetric matrix: 1 over the first iterate */
static PetscErrorCode GetUnits_Private(Search *s, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(s->diagonal, s->work));
  PetscCall(VecScale(s->work, 1.0 / s->most));
  PetscCall(symmetric ? VecSqrtAbs(s->work) : VecAbs(s->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The sums of the rows of diag(x)^-1 D^-1 A diag(x), or of its columns: the least sum and the root mean square. All
   sums are 0 if x is a null vector. x: NULL for ones. definite: whether the sum of A x is positive. work is overwritten
*/
static PetscErrorCode Sums_Private(Mat A, PetscBool transpose, Search *s, Vec x, PetscReal *least, PetscReal *size, PetscBool *definite)
{
  const Vec   v = x ? x : s->x;
  PetscScalar all;
  PetscInt    n;

  PetscFunctionBegin;
  if (!x) PetscCall(VecSet(s->x, 1.0));
  if (transpose) PetscCall(MatMultTranspose(A, v, s->work));
  else PetscCall(MatMult(A, v, s->work));
  if (definite) {
    PetscCall(VecScale(s->work, 1.0 / s->most));
    PetscCall(VecSum(s->work, &all));
    PetscCall(VecScale(s->work, s->most));
    *definite = (PetscBool)(PetscRealPart(all) > 0);
  }
  PetscCall(VecPointwiseDivide(s->work, s->work, s->diagonal));
  if (x) PetscCall(VecPointwiseDivide(s->work, s->work, x));
  PetscCall(VecMin(s->work, NULL, least));
  PetscCall(VecNorm(s->work, NORM_2, size));
  PetscCall(VecGetSize(s->work, &n));
  *size /= PetscSqrtReal((PetscReal)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relaxation of A x = 0 */
static PetscErrorCode Recover_Private(Mat A, PetscBool symmetric, Search *s)
{
  PetscReal most;

  PetscFunctionBegin;
  PetscCall(GetUnits_Private(s, symmetric));
  PetscCall(VecCopy(s->work, s->x));
  PetscCall(VecReciprocal(s->x));
  for (PetscInt k = 0; k < NEARNULL_SWEEPS; k++) {
    PetscCall(MatMult(A, s->x, s->work));
    PetscCall(VecPointwiseDivide(s->work, s->work, s->diagonal));
    PetscCall(VecAXPY(s->x, -NEARNULL_WEIGHT, s->work));
  }
  /* numbers near 0 would take their unknowns out of coarse levels */
  PetscCall(GetUnits_Private(s, symmetric));
  PetscCall(VecPointwiseMult(s->x, s->x, s->work));
  PetscCall(VecAbs(s->x));
  PetscCall(VecNorm(s->x, NORM_INFINITY, &most));
  PetscCall(VecPointwiseDivide(s->x, s->x, s->work));
  PetscCall(VecReciprocal(s->work));
  PetscCall(VecScale(s->work, NEARNULL_LEAST * most));
  PetscCall(VecPointwiseMax(s->x, s->x, s->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector of the near null space, else of the null space; *found: 0 none, 1 a vector, -1 constants */
static PetscErrorCode GetGiven_Private(Mat A, Vec x, PetscInt *found)
{
  MatNullSpace space;
  PetscBool    constant;
  const Vec   *given;
  PetscInt     n, size;
  PetscReal    most;
  PetscScalar *a;

  PetscFunctionBegin;
  *found = 0;
  PetscCall(MatGetNearNullSpace(A, &space));
  if (!space) PetscCall(MatGetNullSpace(A, &space));
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(space, &constant, &n, &given));
  *found = n ? 1 : (constant ? -1 : 0);
  if (*found <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCopy(given[0], x));
  PetscCall(VecNorm(x, NORM_INFINITY, &most));
  if (!(most > 0)) *found = 0;
  if (!*found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScale(x, 1.0 / most));
  PetscCall(VecGetLocalSize(x, &size));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt i = 0; i < size; i++) {
    if (a[i] == (PetscScalar)0.) a[i] = NEARNULL_LEAST;
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   right: also the left vector of a symmetric matrix. The sum of a definite matrix is positive: Helmholtz' equation has
   negative sums and keeps constants. So do matrices where relaxation finds nothing much nearer to the null space
*/
static PetscErrorCode GetRight_Private(Mat A, PetscBool symmetric, Search *s, LitheNearNull *how)
{
  PetscReal least, before, after;
  PetscInt  given;
  PetscBool definite;

  PetscFunctionBegin;
  *how = LITHE_NEAR_NULL_CONSTANT;
  PetscCall(GetGiven_Private(A, s->x, &given));
  if (given) {
    if (given > 0) *how = LITHE_NEAR_NULL_GIVEN;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Sums_Private(A, PETSC_FALSE, s, NULL, &least, &before, &definite));
  if (symmetric ? !(least < 0 && definite) : !(least < -NEARNULL_UNITS)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Recover_Private(A, symmetric, s));
  PetscCall(Sums_Private(A, PETSC_FALSE, s, s->x, &least, &after, NULL));
  if (after <= NEARNULL_GAIN * before) *how = LITHE_NEAR_NULL_RECOVERED;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* left of a nonsymmetric matrix: 1 / (a_ii right_i), if equations are in different units and this helps */
static PetscErrorCode GetLeft_Private(Mat A, Search *s, Vec right, Vec *left)
{
  PetscBool has;
  PetscReal least, size;

  PetscFunctionBegin;
  *left = NULL;
  PetscCall(MatHasOperation(A, MATOP_MULT_TRANSPOSE, &has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Sums_Private(A, PETSC_TRUE, s, NULL, &least, &size, NULL));
  if (!(least < -NEARNULL_UNITS)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(s->diagonal, left));
  PetscCall(VecCopy(s->diagonal, *left));
  PetscCall(VecReciprocal(*left));
  PetscCall(VecScale(*left, s->most));
  if (right) PetscCall(VecPointwiseDivide(*left, *left, right));
  PetscCall(Sums_Private(A, PETSC_TRUE, s, *left, &least, &size, NULL));
  if (least < -NEARNULL_UNITS / 3.) PetscCall(VecDestroy(left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scaled matrix has the largest diagonal entry of the matrix; a vector `left` of other size follows from right */
static PetscErrorCode Normalise_Private(PetscBool symmetric, Search *s, Vec right)
{
  PetscReal most;

  PetscFunctionBegin;
  PetscCall(GetUnits_Private(s, symmetric));
  PetscCall(VecPointwiseMult(s->work, s->work, right));
  PetscCall(VecNorm(s->work, NORM_INFINITY, &most));
  PetscCall(VecScale(right, 1.0 / most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVec_Private(Mat A, Vec *x)
{
  PetscFunctionBegin;
  PetscCall(LitheMatCreateVecOnDevices(A, x));
  if (!*x) PetscCall(MatCreateVecs(A, x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMatGetNearNull(Mat A, PetscBool symmetric, Vec *left, Vec *right, LitheNearNull *how)
{
  Search s;

  PetscFunctionBegin;
  *left = *right = NULL;
  PetscCall(CreateVec_Private(A, &s.x));
  PetscCall(VecDuplicate(s.x, &s.diagonal));
  PetscCall(VecDuplicate(s.x, &s.work));
  PetscCall(GetDiagonal_Private(A, &s));
  *how = LITHE_NEAR_NULL_CONSTANT;
  if (s.most > 0 && !PetscIsInfOrNanReal(s.most)) {
    PetscCall(GetRight_Private(A, symmetric, &s, how));
    if (*how != LITHE_NEAR_NULL_CONSTANT) {
      *right = s.x;
      s.x    = NULL;
      PetscCall(Normalise_Private(symmetric, &s, *right));
    }
    if (symmetric && *right) {
      *left = *right;
      PetscCall(PetscObjectReference((PetscObject)*left));
    }
    if (!symmetric) {
      if (!s.x) PetscCall(VecDuplicate(*right, &s.x));
      PetscCall(GetLeft_Private(A, &s, *right, left));
      if (*left && !*right) *how = LITHE_NEAR_NULL_ROWS;
    }
  }
  PetscCall(VecDestroy(&s.x));
  PetscCall(VecDestroy(&s.diagonal));
  PetscCall(VecDestroy(&s.work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
