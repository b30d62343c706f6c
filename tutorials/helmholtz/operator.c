/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrix and right-hand side of the Helmholtz equation.

   The equation is assembled from cells with products of one-dimensional matrices of an interval,

     stiffness (1, -1; -1, 1),   mass (1/2 - b, b; b, 1/2 - b),

   all divided by h^(dim - 2): b = 0 is the star of central differences, b = 1/6 are finite elements.
   In a homogeneous medium exp(i theta.x/h) is a solution of the discrete equation where
   sum_d X_d/(1 - b X_d) = (k h)^2, X_d = 4 sin^2(theta_d/2). With b = 1/12 the left side is
   |theta|^2 - sum_d theta_d^6/240 + ..., fourth order, and with b = 1/12 + c (k h)^2/240 the average
   of the next term over all directions vanishes for c = 5/6 (2-D) and 5/7 (3-D). Points and weights
   of a quadrature give such mass matrices, reference 1; b may differ from cell to cell, and the
   matrix is symmetric.

   The perfectly matched layer stretches coordinates, dx -> s dx with s = 1 - i sigma/omega; with S the
   product of all s, the stiffness in direction d gets the factor S/s_d^2 and the mass the factor S. Strong
   stretching makes multigrid fail; the absorbing condition behind the layer lets it be weak.

   References:
   1. M. N. Guddati and B. Yue, Modified integration rules for reducing dispersion error in finite element methods, CMAME 193, 2004.
   2. B. Engquist and A. Majda, Absorbing boundary conditions for the numerical simulation of waves, Math. Comp. 31, 1977.
   3. J.-P. Berenger, A perfectly matched layer for the absorption of electromagnetic waves, J. Comput. Phys. 114, 1994.
*/

#include "problem.h"

#if PetscDefined(USE_COMPLEX)
/*
   The matrix of a cell: entry (a, b) depends on the directions in which vertices a and b differ, the bits
   of a ^ b. face[d] is the matrix of its faces in direction d.
*/
typedef struct {
  PetscScalar entry[8], face[3][8];
} Cell;

static PetscReal MassOffDiagonal(const Helmholtz *problem, PetscReal wave2)
{
  switch (problem->stencil) {
  case HELMHOLTZ_STAR:
    return 0.;
  case HELMHOLTZ_FEM:
    return 1. / 6.;
  default:
    return 1. / 12. + (problem->dim == 2 ? 5. / 6. : 5. / 7.) * wave2 / 240.;
  }
}

/* s_d of interval i: sigma grows with the square of the depth in the layer */
static PetscScalar Stretch(const Helmholtz *problem, PetscInt d, PetscInt i, PetscReal wave2)
{
  const PetscReal layer = (PetscReal)problem->layer, middle = (PetscReal)i + .5,
                  depth = PetscMax(layer - middle, middle - ((PetscReal)(problem->n[d] - 1) - layer));

  if (depth <= 0. || !problem->layer) return 1.;
  /* sigma/omega = -3 log(R)/(2 k L) (depth/L)^2 */
  return 1. + PETSC_i * 1.5 * PetscLogReal(problem->reflection) / (PetscSqrtReal(wave2) * layer) * PetscSqr(depth / layer);
}

/* The cell whose vertex with the lowest numbers is given; k h by the mean of the squares at its vertices */
static void SetCell(const Helmholtz *problem, const Grid *grid, const PetscScalar wave2[], PetscScalar factor, const PetscInt low[3], Cell *cell)
{
  PetscReal   mean = 0., off, product[4][4] = {{0.}}; /* [q][r]: q diagonal entries of the mass matrix times r others */
  PetscScalar stiffness[3], mass, face[3], inverse[3] = {1., 1., 1.}, S = 1.;

  for (PetscInt v = 0; v < grid->corners; v++) {
    const PetscInt at[3] = {low[0] + (v & 1), low[1] + (v >> 1 & 1), low[2] + (v >> 2)};

    mean += PetscRealPart(wave2[GridGhosted(grid, at)]);
  }
  mean /= (PetscReal)grid->corners;
  off = MassOffDiagonal(problem, mean);
  for (PetscInt q = 0; q <= grid->dim; q++) {
    for (PetscInt r = 0; r <= grid->dim - q; r++) product[q][r] = PetscPowRealInt(.5 - off, (int)q) * PetscPowRealInt(off, (int)r);
  }
  for (PetscInt d = 0; d < grid->dim; d++) {
    const PetscScalar s = Stretch(problem, d, low[d], mean);

    if (s == (PetscScalar)1.) continue;
    inverse[d] = (PetscScalar)1. / s;
    S *= s;
  }
  for (PetscInt d = 0; d < grid->dim; d++) {
    stiffness[d] = S * inverse[d] * inverse[d];
    face[d]      = PETSC_i * PetscSqrtScalar(factor * mean) * S * inverse[d];
  }
  mass = factor * mean * S;

  for (PetscInt x = 0; x < grid->corners; x++) {
    const PetscInt differ = (x & 1) + (x >> 1 & 1) + (x >> 2), same = grid->dim - differ;

    cell->entry[x] = -mass * product[same][differ];
    for (PetscInt d = 0; d < grid->dim; d++) {
      if (x >> d & 1) cell->entry[x] -= stiffness[d] * product[same][differ - 1];
      else {
        cell->entry[x] += stiffness[d] * product[same - 1][differ];
        cell->face[d][x] = face[d] * product[same - 1][differ];
      }
    }
  }
}

/* The row of a point is the sum over the cells round it, and over their faces on the boundary. cell[] holds those of the point before */
static void GetRow(const Helmholtz *problem, const Grid *grid, const PetscScalar wave2[], PetscScalar factor, const PetscInt at[3], Cell cell[],
                   PetscScalar stencil[])
{
  const PetscInt step[3] = {1, 3, 9};

  for (PetscInt s = 0; s < grid->points; s++) stencil[s] = 0.;
  for (PetscInt a = grid->corners - 1; a >= 0; a--) {
    PetscInt  low[3] = {0, 0, 0};
    PetscBool inside = PETSC_TRUE;

    for (PetscInt d = 0; d < grid->dim; d++) {
      low[d] = at[d] - (a >> d & 1);
      if (low[d] < 0 || low[d] >= grid->n[d] - 1) inside = PETSC_FALSE;
    }
    if (!inside) continue;
    if (a & 1 && at[0] > grid->start[0]) cell[a] = cell[a - 1];
    else SetCell(problem, grid, wave2, factor, low, &cell[a]);
    for (PetscInt x = 0; x < grid->corners; x++) {
      PetscScalar value = cell[a].entry[x];
      PetscInt    s     = GridCentre(grid);

      for (PetscInt d = 0; d < grid->dim; d++) {
        if (x >> d & 1) s += a >> d & 1 ? -step[d] : step[d];
        else if (at[d] == 0 || at[d] == grid->n[d] - 1) value += cell[a].face[d][x];
      }
      stencil[s] += value;
    }
  }
}

PetscErrorCode HelmholtzCreateMatrix(const Helmholtz *problem, PetscReal beta1, PetscReal beta2, const char prefix[], Mat *A)
{
  const PetscReal    omegah = 2. * PETSC_PI * problem->frequency * problem->h;
  const PetscScalar  factor = beta1 - PETSC_i * (beta2 + problem->alpha * beta1);
  const PetscScalar *wave2;
  PetscScalar       *array, stencil[GRID_MAX_POINTS];
  PetscInt           at[3], m;
  DM                 box;
  Vec                speed, waves;
  MatType            type;
  VecType            vectype;
  Grid               grid;
  CSR                csr;
  Cell               cell[8];

  PetscFunctionBegin;
  /* (k h)^2 at this process' points and those next to them, also across the corners */
  PetscCall(GridCreate(problem->da, &grid));
  PetscCall(GridCreateDM(&grid, 1, &box));
  PetscCall(GridDestroy(&grid));
  PetscCall(GridCreate(box, &grid));
  PetscCall(DMCreateGlobalVector(box, &speed));
  PetscCall(VecGetArrayRead(problem->speed, &wave2));
  PetscCall(VecGetArrayWrite(speed, &array));
  PetscCall(PetscArraycpy(array, wave2, grid.rows));
  PetscCall(VecRestoreArrayWrite(speed, &array));
  PetscCall(VecRestoreArrayRead(problem->speed, &wave2));
  PetscCall(DMGetLocalVector(box, &waves));
  PetscCall(DMGlobalToLocal(box, speed, INSERT_VALUES, waves));
  PetscCall(VecDestroy(&speed));
  PetscCall(VecGetLocalSize(waves, &m));
  PetscCall(VecGetArray(waves, &array));
  for (PetscInt i = 0; i < m; i++) array[i] = PetscSqr(omegah / PetscRealPart(array[i]));
  PetscCall(VecRestoreArray(waves, &array));

  PetscCall(VecGetArrayRead(waves, &wave2));
  PetscCall(CSRCreate(grid.rows, (PetscInt64)grid.rows * (problem->stencil == HELMHOLTZ_STAR ? 2 * grid.dim + 1 : grid.points), &csr));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    GetRow(problem, &grid, wave2, factor, at, cell, stencil);
    CSRAddStencil(&csr, &grid, at, stencil);
  }
  PetscCall(VecRestoreArrayRead(waves, &wave2));
  PetscCall(DMRestoreLocalVector(box, &waves));
  PetscCall(DMGetMatType(problem->da, &type));
  PetscCall(DMGetVecType(problem->da, &vectype));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)box), A));
  PetscCall(MatSetOptionsPrefix(*A, prefix));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetVecType(*A, vectype));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(CSRFinish(&csr, grid.rows, *A));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscCall(GridDestroy(&grid));
  PetscCall(DMDestroy(&box));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A point source of strength 1, spread over the vertices of its cell, and as the mass matrix spreads what is on a vertex */
PetscErrorCode HelmholtzSetSource(const Helmholtz *problem, Vec b)
{
  const PetscReal    omegah = 2. * PETSC_PI * problem->frequency * problem->h, scale = PetscPowRealInt(problem->h, 2 - (int)problem->dim);
  PetscInt           cell[3] = {0, 0, 0}, at[3];
  PetscReal          fraction[3];
  const PetscScalar *speed;
  PetscScalar       *array;
  Grid               grid;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < problem->dim; d++) {
    const PetscReal where = problem->source[d] / problem->h + (PetscReal)problem->layer;

    cell[d]     = PetscMin((PetscInt)(where + PETSC_SMALL), problem->n[d] - 2);
    fraction[d] = PetscMax(0., where - (PetscReal)cell[d]);
  }
  PetscCall(GridCreate(problem->da, &grid));
  PetscCall(VecGetArrayRead(problem->speed, &speed));
  PetscCall(VecGetArrayWrite(b, &array));
  PetscCall(PetscArraycpy(at, grid.start, 3));
  for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) {
    const PetscReal off    = MassOffDiagonal(problem, PetscSqr(omegah / PetscRealPart(speed[row])));
    PetscReal       weight = scale;

    for (PetscInt d = 0; d < problem->dim; d++) {
      PetscReal sum = 0.;

      for (PetscInt v = 0; v < 2; v++) {
        const PetscInt distance = PetscAbs(at[d] - cell[d] - v);
        PetscReal      mass     = 0.;

        if (distance == 0) mass = 1. - 2. * off;
        else if (distance == 1) mass = off;
        sum += (v ? fraction[d] : 1. - fraction[d]) * mass;
      }
      weight *= sum;
    }
    array[row] = weight;
  }
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
  SETERRQ(PetscObjectComm((PetscObject)problem->da), PETSC_ERR_SUP,
          "Waves of one frequency are complex: use a PETSc that has been configured --with-scalar-type=complex");
}

PetscErrorCode HelmholtzSetSource(const Helmholtz *problem, Vec b)
{
  PetscFunctionBegin;
  (void)problem;
  SETERRQ(PetscObjectComm((PetscObject)b), PETSC_ERR_SUP,
          "Waves of one frequency are complex: use a PETSc that has been configured --with-scalar-type=complex");
}
#endif
