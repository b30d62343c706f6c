/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrix and right-hand side of the Helmholtz equation.

   The equation is assembled from cells. The parts are products of one-dimensional matrices of an interval,

     stiffness (1, -1; -1, 1),   mass (1/2 - b, b; b, 1/2 - b),

   all divided by h^(dim - 2). With b = 0 the result is the star of central differences, with b = 1/6 finite elements.

   In a homogeneous medium exp(i theta.x/h) solves the discrete equation if

     sum_d X_d/(1 - b X_d) = (k h)^2,   X_d = 4 sin^2(theta_d/2).

   With b = 1/12 the left side is |theta|^2 - sum_d theta_d^6/240 + ..., which is fourth order. With b = 1/12 + c (k
   h)^2/240 the average of the next term over all directions vanishes, for c = 5/6 (2-D) and 5/7 (3-D). Points and
   weights of a quadrature give such mass matrices, reference 1. The number b may differ from cell to cell, and the
   matrix is symmetric.

   The perfectly matched layer stretches coordinates, dx -> s dx with s = 1 - i sigma/omega. Let S be the product of all
   s. The stiffness in direction d gets the factor S/s_d^2, and the mass the factor S. Multigrid fails with strong
   stretching. The absorbing condition behind the layer allows weak stretching.

   References:

     1. M. N. Guddati and B. Yue, Modified integration rules for reducing dispersion error in finite element methods,
        CMAME 193, 2004.
     2. B. Engquist and A. Majda, Absorbing boundary conditions for the numerical simulation of waves, Math. Comp. 31,
        1977.
     3. J.-P. Berenger, A perfectly matched layer for the absorption of electromagnetic waves, J. Comput. Phys. 114, 1994.
*/

#include "problem.h"

#if PetscDefined(USE_COMPLEX)
PetscErrorCode HelmholtzCreateMatrix(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, MatType type, const char prefix[], Mat *A)
{
  HelmholtzForm form = HelmholtzGetForm(problem);
  VecType       vectype;
  PetscBool     device;

  PetscFunctionBegin;
  form.factor = HelmholtzMake(beta1, -(beta2 + problem->alpha * beta1));
  if (!type) PetscCall(DMGetMatType(problem->da, &type));
  PetscCall(DMGetVecType(problem->da, &vectype));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)problem->da), A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetVecType(*A, vectype));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(HelmholtzIsOnDevice(problem, *A, &device));
  if (device) PetscCall(HelmholtzMakeMatrixDevice(problem, &form, prefix, A));
  else PetscCall(HelmholtzMakeMatrixHost(problem, &form, *A));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetSource(const Helmholtz *problem, Vec b)
{
  const HelmholtzForm form = HelmholtzGetForm(problem);
  PetscInt            at[3];
  PetscBool           device;
  const PetscScalar  *speed;
  PetscScalar        *array;
  Grid                grid;

  PetscFunctionBegin;
  PetscCall(HelmholtzIsOnDevice(problem, NULL, &device));
  if (device) {
    PetscCall(HelmholtzSetSourceDevice(problem, &form, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GridCreate(problem->da, &grid));
  PetscCall(VecGetArrayRead(problem->speed, &speed));
  PetscCall(VecGetArrayWrite(b, &array));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) array[row] = HelmholtzSourceAt(&form, PetscRealPart(speed[row]), at);
  PetscCall(VecRestoreArrayWrite(b, &array));
  PetscCall(VecRestoreArrayRead(problem->speed, &speed));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode HelmholtzCreateMatrix(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, MatType type, const char prefix[], Mat *A)
{
  PetscFunctionBegin;
  (void)beta1, (void)beta2, (void)type, (void)prefix, (void)A;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_SUP, "Waves of one frequency are complex: use a PETSc configured --with-scalar-type=complex");
}

PetscErrorCode HelmholtzSetSource(const Helmholtz *problem, Vec b)
{
  PetscFunctionBegin;
  (void)problem;
  SETERRQ(PetscObjectComm((PetscObject)b), PETSC_ERR_SUP, "Waves of one frequency are complex: use a PETSc configured --with-scalar-type=complex");
}
#endif
