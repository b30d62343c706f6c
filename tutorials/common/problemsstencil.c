/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrices of 7 and 27 points on a regular grid: constant coefficients, convection and diffusion, Helmholtz.

   Reference:
   B. Engquist and A. Majda, Absorbing boundary conditions for the numerical simulation of waves, Math. Comp. 31, 1977.
*/

#include "problemsimpl.h"

#define MINVELOCITY 1500.0 /* m/s */

/* ------------------------------------------------------------ constant coefficients, convection and diffusion */

PetscErrorCode ProblemCreateLaplace(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  const PetscInt nx = problem->nx, ny = problem->ny, nz = problem->nz;
  const int      reach  = problem->kind == PROBLEM_LAPLACE7 ? 1 : 3; /* |dx| + |dy| + |dz| of a neighbour at most */
  const PetscInt points = reach == 1 ? 7 : 27;
  Rows           rows;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(GridRows(comm, problem, &N));
  PetscCall(RowsCreate(comm, N, 1, points, 0, &rows));
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    const int i = (int)(row % nx), j = (int)(row / nx % ny), k = (int)(row / nx / ny);

    RowsBegin(&rows);
    for (int dk = k > 0 ? -1 : 0; dk <= (k < nz - 1 ? 1 : 0); dk++) {
      for (int dj = j > 0 ? -1 : 0; dj <= (j < ny - 1 ? 1 : 0); dj++) {
        for (int di = i > 0 ? -1 : 0; di <= (i < nx - 1 ? 1 : 0); di++) {
          const int distance = PetscAbs(di) + PetscAbs(dj) + PetscAbs(dk);

          if (distance <= reach) RowsAdd(&rows, row + (dk * ny + dj) * nx + di, (PetscScalar)(distance ? -1 : points - 1));
        }
      }
    }
    RowsEnd(&rows, 1.);
  }
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A boundary layer: wind grows and turns with height, levels widen with height, upwind differences */
PetscErrorCode ProblemCreateConvectionDiffusion(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  const PetscInt nx = problem->nx, ny = problem->ny, nz = problem->nz;
  Rows           rows;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(GridRows(comm, problem, &N));
  PetscCall(RowsCreate(comm, N, 1, 7, 0, &rows));
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    const PetscInt i = row % nx, j = row / nx % ny, k = row / nx / ny;
    const double   z = ((double)k + .5) / (double)nz, wind = 2. * (double)problem->peclet * log(1. + 20. * z) / log(21.), turn = .5 * PETSC_PI * (1. - z);
    const double   u = wind * cos(turn), v = wind * sin(turn), below = exp(-2. * (double)k / (double)nz), above = exp(-2. * (double)(k + 1) / (double)nz);
    const double   east = -1. - PetscMax(-u, 0.), west = -1. - PetscMax(u, 0.), north = -1. - PetscMax(-v, 0.), south = -1. - PetscMax(v, 0.);

    RowsBegin(&rows);
    if (k > 0) RowsAdd(&rows, row - nx * ny, (PetscScalar)-below);
    if (j > 0) RowsAdd(&rows, row - nx, (PetscScalar)south);
    if (i > 0) RowsAdd(&rows, row - 1, (PetscScalar)west);
    RowsAdd(&rows, row, (PetscScalar)(below + above - (east + west + north + south)));
    if (i < nx - 1) RowsAdd(&rows, row + 1, (PetscScalar)east);
    if (j < ny - 1) RowsAdd(&rows, row + nx, (PetscScalar)north);
    if (k < nz - 1) RowsAdd(&rows, row + nx * ny, (PetscScalar)-above);
    RowsEnd(&rows, 1.);
  }
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ Helmholtz */

#if PetscDefined(USE_COMPLEX)
/* Velocity in m/s at a point of the unit cube: dipping layers and a wedge */
static double Velocity(double x, double z)
{
  const double depth[] = {.2, .4, .6, .8}, velocity[] = {2000., 2600., 3300., 4500.};
  double       v = MINVELOCITY;

  for (int l = 0; l < 4; l++) {
    if (z > depth[l] + .05 * x) v = velocity[l];
  }
  if (z > .45 + .25 * fabs(x - .5) && z < .55 + .05 * x) v = 4000.;
  return v;
}

PetscErrorCode ProblemCreateHelmholtz(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  const PetscInt    nx = problem->nx, ny = problem->ny, nz = problem->nz, cx = nx - 1, cy = ny - 1, cz = nz - 1, size[3] = {nx, ny, nz};
  const double      stiff1[2][2] = {{1., -1.}, {-1., 1.}}, mass1[2][2] = {{1. / 3., 1. / 6.}, {1. / 6., 1. / 3.}};
  const PetscReal   correlation[3] = {2., 2., 2.};
  const PetscScalar beta           = PetscCMPLX(problem->beta1, -problem->beta2);
  double            stiffness[8][8], mass[8][8], face[3][8][8], *kh, *work;
  Field             field;
  Rows              rows;
  PetscInt          N, k0, k1;

  PetscFunctionBegin;
  PetscCheck(nx > 1 && ny > 1 && nz > 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A Helmholtz grid of %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points: at least 2 are needed in each direction", nx, ny, nz);
  PetscCall(GridRows(comm, problem, &N));

  /* element matrices on the unit cube; vertex v lies at (v & 1, v >> 1 & 1, v >> 2) */
  for (int a = 0; a < 8; a++) {
    for (int b = 0; b < 8; b++) {
      double s[3], m[3];

      for (int d = 0; d < 3; d++) {
        s[d] = stiff1[a >> d & 1][b >> d & 1];
        m[d] = mass1[a >> d & 1][b >> d & 1];
      }
      stiffness[a][b] = s[0] * m[1] * m[2] + m[0] * s[1] * m[2] + m[0] * m[1] * s[2];
      mass[a][b]      = m[0] * m[1] * m[2];
      for (int d = 0; d < 3; d++) face[d][a][b] = m[(d + 1) % 3] * m[(d + 2) % 3];
    }
  }

  /* wave number times grid spacing in the cells which touch owned rows */
  PetscCall(RowsCreate(comm, N, 1, 27, 0, &rows));
  k0 = PetscMax(0, rows.rstart / (nx * ny) - 1);
  k1 = PetscMax(k0, PetscMin(cz, (PetscMax(rows.rend, 1) - 1) / (nx * ny) + 1));
  PetscCall(PetscMalloc2((size_t)(k1 - k0) * cx * cy, &kh, cx, &work));
  if (problem->smooth) PetscCall(FieldSetUp(&field, correlation, problem->seed));
  for (PetscInt k = k0; k < k1; k++) {
    for (PetscInt j = 0; j < cy; j++) {
      if (problem->smooth) FieldLine(&field, cx, (double)j, (double)k, work);
      for (PetscInt i = 0; i < cx; i++) {
        const double x = ((double)i + .5) / (double)cx, z = ((double)k + .5) / (double)cz;
        double       v = Velocity(x, z);

        if (problem->smooth) v = v * (1. + .02 * PetscMin(3., PetscMax(-3., work[i]))) + 300. * z;
        kh[((size_t)(k - k0) * cy + j) * cx + i] = 2. * PETSC_PI / (double)problem->pointspermwave * MINVELOCITY / v;
      }
    }
  }

  /* a row is the sum over the 8 cells round the point, and over the boundary faces of these cells */
  for (PetscInt row = rows.rstart; row < rows.rend; row++) {
    const PetscInt at[3]   = {row % nx, row / nx % ny, row / nx / ny};
    PetscScalar    sum[27] = {0.};

    for (int a = 0; a < 8; a++) {
      PetscInt    cell[3];
      PetscBool   inside = PETSC_TRUE;
      PetscScalar k2;
      double      wave;

      for (int d = 0; d < 3; d++) {
        cell[d] = at[d] - (a >> d & 1);
        if (cell[d] < 0 || cell[d] >= size[d] - 1) inside = PETSC_FALSE;
      }
      if (!inside) continue;
      wave = kh[((size_t)(cell[2] - k0) * cy + cell[1]) * cx + cell[0]];
      k2   = (PetscScalar)(wave * wave) * beta;
      for (int b = 0; b < 8; b++) {
        const int   entry = ((b >> 2) - (a >> 2) + 1) * 9 + ((b >> 1 & 1) - (a >> 1 & 1) + 1) * 3 + (b & 1) - (a & 1) + 1;
        PetscScalar value = (PetscScalar)stiffness[a][b] - k2 * (PetscReal)mass[a][b];

        for (int d = 0; d < 3; d++) {
          const PetscBool boundary = (PetscBool)((at[d] == 0 || at[d] == size[d] - 1));

          if (boundary && (a >> d & 1) == (b >> d & 1)) value += PETSC_i * (PetscReal)(wave * face[d][a][b]);
        }
        sum[entry] += value;
      }
    }
    RowsBegin(&rows);
    for (int e = 0; e < 27; e++) {
      const PetscInt to[3] = {at[0] + e % 3 - 1, at[1] + e / 3 % 3 - 1, at[2] + e / 9 - 1};

      if (to[0] >= 0 && to[0] < nx && to[1] >= 0 && to[1] < ny && to[2] >= 0 && to[2] < nz) RowsAdd(&rows, (to[2] * ny + to[1]) * nx + to[0], sum[e]);
    }
    RowsEnd(&rows, at[0] == nx / 2 && at[1] == ny / 2 && at[2] == nz / 8 ? 1. : 0.);
  }
  PetscCall(PetscFree2(kh, work));
  PetscCall(RowsFinish(&rows, A, rhs));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode ProblemCreateHelmholtz(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  PetscFunctionBegin;
  (void)problem;
  (void)A;
  (void)rhs;
  SETERRQ(comm, PETSC_ERR_SUP, "Kind helmholtz27 needs complex numbers: use a PETSc configured with --with-scalar-type=complex");
}
#endif
