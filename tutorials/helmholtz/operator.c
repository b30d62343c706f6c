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
/* The row of a point is the sum over the cells round the point and over their boundary faces. cell[] holds the cells of
   the previous point */
static void GetRow(const HelmholtzForm *form, const Grid *grid, const PetscReal wave2[], const PetscInt at[3], HelmholtzCell cell[], HelmholtzNumber stencil[])
{
  for (PetscInt s = 0; s < grid->points; s++) stencil[s] = HelmholtzMake(0., 0.);
  for (int a = form->corners - 1; a >= 0; a--) {
    PetscInt low[3];

    if (!HelmholtzHasCell(form, a, at, low)) continue;
    if (a & 1 && at[0] > grid->start[0]) cell[a] = cell[a - 1];
    else {
      PetscReal mean = 0.;

      for (PetscInt v = 0; v < grid->corners; v++) {
        const PetscInt vertex[3] = {low[0] + (v & 1), low[1] + (v >> 1 & 1), low[2] + (v >> 2)};

        mean += wave2[GridGhosted(grid, vertex)];
      }
      HelmholtzSetCell(form, mean / (PetscReal)grid->corners, low, &cell[a]);
    }
    HelmholtzAddCell(form, &cell[a], a, at, stencil);
  }
}

static PetscErrorCode CreateMatrixHost(const Helmholtz *problem, const HelmholtzForm *form, Mat A)
{
  const PetscScalar *array;
  PetscReal         *wave2;
  PetscInt           at[3], m;
  DM                 box;
  Vec                speed, waves;
  Grid               grid;
  CSR                csr;
  HelmholtzCell      cell[8];

  PetscFunctionBegin;
  /* (k h)^2 at the owned points and their neighbours, including diagonal neighbours */
  PetscCall(GridCreate(problem->da, &grid));
  PetscCall(GridCreateDM(&grid, 1, &box));
  PetscCall(GridDestroy(&grid));
  PetscCall(GridCreate(box, &grid));
  PetscCall(DMCreateGlobalVector(box, &speed));
  PetscCall(VecCopy(problem->speed, speed));
  PetscCall(DMGetLocalVector(box, &waves));
  PetscCall(DMGlobalToLocal(box, speed, INSERT_VALUES, waves));
  PetscCall(VecDestroy(&speed));
  PetscCall(VecGetLocalSize(waves, &m));
  PetscCall(PetscMalloc1(m, &wave2));
  PetscCall(VecGetArrayRead(waves, &array));
  for (PetscInt i = 0; i < m; i++) wave2[i] = PetscSqr(form->omegah / PetscRealPart(array[i]));
  PetscCall(VecRestoreArrayRead(waves, &array));
  PetscCall(DMRestoreLocalVector(box, &waves));

  PetscCall(CSRCreate(grid.rows, (PetscInt64)grid.rows * (problem->stencil == HELMHOLTZ_STAR ? 2 * grid.dim + 1 : grid.points), &csr));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    HelmholtzNumber parts[GRID_MAX_POINTS];
    PetscScalar     stencil[GRID_MAX_POINTS];

    GetRow(form, &grid, wave2, at, cell, parts);
    for (PetscInt s = 0; s < grid.points; s++) stencil[s] = PetscCMPLX(parts[s].re, parts[s].im);
    CSRAddStencil(&csr, &grid, at, stencil);
  }
  PetscCall(PetscFree(wave2));
  PetscCall(CSRFinish(&csr, grid.rows, A));
  PetscCall(GridDestroy(&grid));
  PetscCall(DMDestroy(&box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzCreateMatrix(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, const char prefix[], Mat *A)
{
  HelmholtzForm form = HelmholtzGetForm(problem);
  MatType       type;
  VecType       vectype;
  PetscBool     device;

  PetscFunctionBegin;
  form.factor = HelmholtzMake(beta1, -(beta2 + problem->alpha * beta1));
  PetscCall(DMGetMatType(problem->da, &type));
  PetscCall(DMGetVecType(problem->da, &vectype));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)problem->da), A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetVecType(*A, vectype));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(HelmholtzIsOnDevice(problem, *A, &device));
  if (device) PetscCall(HelmholtzMakeMatrixDevice(problem, &form, prefix, A));
  else PetscCall(CreateMatrixHost(problem, &form, *A));
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
PetscErrorCode HelmholtzCreateMatrix(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, const char prefix[], Mat *A)
{
  PetscFunctionBegin;
  (void)beta1, (void)beta2, (void)prefix, (void)A;
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_SUP, "Waves of one frequency are complex: use a PETSc configured --with-scalar-type=complex");
}

PetscErrorCode HelmholtzSetSource(const Helmholtz *problem, Vec b)
{
  PetscFunctionBegin;
  (void)problem;
  SETERRQ(PetscObjectComm((PetscObject)b), PETSC_ERR_SUP, "Waves of one frequency are complex: use a PETSc configured --with-scalar-type=complex");
}
#endif
