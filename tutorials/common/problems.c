/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Which matrix to generate: defaults, options, and the choice of the generator. problems.h lists the kinds. */

#include "problemsimpl.h"

#define PROBLEM_MOST 1000 /* wells, or channels of a group of layers */

/*
   ProblemSetDefaults - Fills a `Problem` with the defaults of a kind, about one million rows

   Not Collective
*/
PetscErrorCode ProblemSetDefaults(ProblemKind kind, Problem *problem)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(problem, sizeof(*problem)));
  problem->kind           = kind;
  problem->nx             = 100;
  problem->ny             = 100;
  problem->nz             = 100;
  problem->seed           = 1;
  problem->cell[0]        = (PetscReal)(20 * .3048);
  problem->cell[1]        = (PetscReal)(10 * .3048);
  problem->cell[2]        = (PetscReal)(2 * .3048);
  problem->logdeviation   = 2;
  problem->correlation[0] = 6;
  problem->correlation[1] = 12;
  problem->correlation[2] = 1.5;
  problem->anisotropy     = (PetscReal)1.e-2;
  problem->channels       = 6;
  problem->wells          = 4;
  problem->timestep       = 1;
  problem->refine         = 1;
  problem->pointspermwave = 10;
  problem->beta1          = 1;
  problem->beta2          = 0;
  problem->peclet         = 1;
  problem->jitter         = (PetscReal).23;
  if (kind == PROBLEM_RESERVOIR) {
    problem->ny = 200;
    problem->nz = 50;
  } else if (kind == PROBLEM_SPE10) {
    problem->nx = 60;
    problem->ny = 220;
    problem->nz = 85;
  } else if (kind == PROBLEM_CONVDIFF7) problem->nx = problem->ny = problem->nz = 108;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemSetSize - Chooses the grid for an approximate number of rows

   Not Collective

   Note:
   The size of `PROBLEM_SPE10` is the size of the file, times the cube of the refinement. ProblemSetSize() does not change the size.
*/
PetscErrorCode ProblemSetSize(Problem *problem, PetscInt rows)
{
  const double   points = (double)rows / (problem->kind == PROBLEM_ELASTIC ? 3 : 1);
  const PetscInt n      = PetscMax(2, (PetscInt)(cbrt(points) + .5));

  PetscFunctionBegin;
  if (problem->kind == PROBLEM_SPE10) PetscFunctionReturn(PETSC_SUCCESS);
  problem->nx = n;
  problem->ny = n;
  problem->nz = n;
  if (problem->kind == PROBLEM_RESERVOIR) {
    problem->ny = 2 * n;
    problem->nz = PetscMax(1, n / 2);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemSetFromOptions - Changes a `Problem` by the options database

   Collective

   Options Database Keys:
+ -kind <reservoir,spe10,laplace7,laplace27,helmholtz27,convdiff7,fem,elastic> - the matrix
. -rows <n>            - approximate number of rows, instead of -nx -ny -nz
. -nx, -ny, -nz <n>    - cells or points in each direction
. -seed <s>            - of all random numbers
. -cell <dx,dy,dz>     - reservoir, spe10: size of a cell in m
. -logdeviation <s>    - reservoir: standard deviation of log permeability
. -correlation <x,y,z> - reservoir: correlation lengths in cells
. -anisotropy <r>      - reservoir: kz/kx outside channels
. -channels <n>        - reservoir: channels in each 8 layers
. -wells <n>           - reservoir, spe10: number of producers
. -well_rows <bool>    - reservoir, spe10: the injector has a rate instead of a pressure, and a long row
. -timestep <days>     - reservoir, spe10: time step of the compressibility term
. -refine <r>          - spe10: cells per cell and direction, log permeability interpolated
. -permeability <file> - spe10: .tar or .tar.xz of one CSV file kx,ky,kz a layer
. -smooth <bool>       - helmholtz27: smooth variations in the medium
. -points_per_wave <p> - helmholtz27: grid points in the shortest wavelength
. -beta1, -beta2 <b>   - helmholtz27: factor beta1 - i beta2 of the square of the wave number
. -peclet <p>          - convdiff7: largest cell Peclet number
- -jitter <r>          - fem, elastic: displacement of grid points in grid spacings, 0.05 to 0.23
*/
PetscErrorCode ProblemSetFromOptions(MPI_Comm comm, Problem *problem)
{
  ProblemKind kind = problem->kind;
  PetscInt    rows = 0, three = 3;
  PetscBool   set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Matrix generator", "Mat");
  PetscCall(PetscOptionsEnum("-kind", "The matrix", "ProblemSetDefaults", ProblemKinds, (PetscEnum)kind, (PetscEnum *)&kind, NULL));
  if (kind != problem->kind) PetscCall(ProblemSetDefaults(kind, problem));
  PetscCall(PetscOptionsInt("-rows", "Approximate number of rows", "ProblemSetSize", rows, &rows, &set));
  PetscCheck(!set || rows > 0, comm, PETSC_ERR_USER_INPUT, "-rows %" PetscInt_FMT " must be positive", rows);
  if (set) PetscCall(ProblemSetSize(problem, rows));
  PetscCall(PetscOptionsBoundedInt("-nx", "Cells or points in x", NULL, problem->nx, &problem->nx, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-ny", "Cells or points in y", NULL, problem->ny, &problem->ny, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-nz", "Cells or points in z", NULL, problem->nz, &problem->nz, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-seed", "Seed of all random numbers", NULL, problem->seed, &problem->seed, NULL, 0));
  PetscCall(PetscOptionsRealArray("-cell", "Size of a cell in m", NULL, problem->cell, &three, &set));
  PetscCheck(!set || three == 3, comm, PETSC_ERR_USER_INPUT, "-cell needs three lengths");
  three = 3;
  PetscCall(PetscOptionsReal("-logdeviation", "Standard deviation of log permeability", NULL, problem->logdeviation, &problem->logdeviation, NULL));
  PetscCall(PetscOptionsRealArray("-correlation", "Correlation lengths in cells", NULL, problem->correlation, &three, &set));
  PetscCheck(!set || three == 3, comm, PETSC_ERR_USER_INPUT, "-correlation needs three lengths");
  PetscCall(PetscOptionsReal("-anisotropy", "kz/kx outside channels", NULL, problem->anisotropy, &problem->anisotropy, NULL));
  PetscCall(PetscOptionsRangeInt("-channels", "Channels in each 8 layers", NULL, problem->channels, &problem->channels, NULL, 0, PROBLEM_MOST));
  PetscCall(PetscOptionsRangeInt("-wells", "Number of producers", NULL, problem->wells, &problem->wells, NULL, 0, PROBLEM_MOST));
  PetscCall(PetscOptionsBool("-well_rows", "The injector has a rate, and a long row", NULL, problem->wellrows, &problem->wellrows, NULL));
  PetscCall(PetscOptionsReal("-timestep", "Days", NULL, problem->timestep, &problem->timestep, NULL));
  PetscCall(PetscOptionsBoundedInt("-refine", "Cells per cell and direction", NULL, problem->refine, &problem->refine, NULL, 1));
  PetscCall(
    PetscOptionsString("-permeability", "File of permeabilities", NULL, problem->permeability, problem->permeability, sizeof(problem->permeability), NULL));
  PetscCall(PetscOptionsBool("-smooth", "Smooth variations in the medium", NULL, problem->smooth, &problem->smooth, NULL));
  PetscCall(PetscOptionsReal("-points_per_wave", "Grid points in the shortest wavelength", NULL, problem->pointspermwave, &problem->pointspermwave, NULL));
  PetscCall(PetscOptionsReal("-beta1", "Real part of the shift", NULL, problem->beta1, &problem->beta1, NULL));
  PetscCall(PetscOptionsReal("-beta2", "Imaginary part of the shift", NULL, problem->beta2, &problem->beta2, NULL));
  PetscCall(PetscOptionsReal("-peclet", "Largest cell Peclet number", NULL, problem->peclet, &problem->peclet, NULL));
  PetscCall(PetscOptionsReal("-jitter", "Displacement of grid points", NULL, problem->jitter, &problem->jitter, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ProblemCheck - An error if an option of the matrix has a value without a meaning */
PetscErrorCode ProblemCheck(MPI_Comm comm, const Problem *problem)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    PetscCheck(problem->cell[d] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-cell: lengths must be positive");
    PetscCheck(problem->correlation[d] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-correlation: lengths must be positive");
  }
  PetscCheck(problem->anisotropy > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-anisotropy %g must be positive", (double)problem->anisotropy);
  PetscCheck(problem->timestep > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-timestep %g must be positive", (double)problem->timestep);
  PetscCheck(problem->pointspermwave > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-points_per_wave %g must be positive", (double)problem->pointspermwave);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemCreateSystem - Generates the matrix, of type `MATAIJ`, and a right-hand side

   Collective

   Input Parameters:
+  comm    - the communicator
-  problem - the matrix to generate

   Output Parameters:
+  A   - the matrix
-  rhs - a right-hand side, or `NULL`
*/
PetscErrorCode ProblemCreateSystem(MPI_Comm comm, const Problem *problem, Mat *A, Vec *rhs)
{
  PetscFunctionBegin;
  PetscCall(ProblemCheck(comm, problem));
  switch (problem->kind) {
  case PROBLEM_RESERVOIR:
  case PROBLEM_SPE10:
    PetscCall(ProblemCreateReservoir(comm, problem, A, rhs));
    break;
  case PROBLEM_LAPLACE7:
  case PROBLEM_LAPLACE27:
    PetscCall(ProblemCreateLaplace(comm, problem, A, rhs));
    break;
  case PROBLEM_HELMHOLTZ27:
    PetscCall(ProblemCreateHelmholtz(comm, problem, A, rhs));
    break;
  case PROBLEM_CONVDIFF7:
    PetscCall(ProblemCreateConvectionDiffusion(comm, problem, A, rhs));
    break;
  case PROBLEM_FEM:
  case PROBLEM_ELASTIC:
    PetscCall(ProblemCreateFEM(comm, problem, A, rhs));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
