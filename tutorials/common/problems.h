/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Generators of realistic matrices, shared by the tutorials and the benchmarks.

   A generator fills the rows of a process straight into CSR arrays. The entries of a row depend only on the options and
   the seed, so the matrix is the same on any number of processes.
*/

#include <petscmat.h>

/*E
  ProblemKind - which matrix a `Problem` describes

  Values:
+ `PROBLEM_RESERVOIR`   - pressure equation on nx x ny x nz cells, generated permeability, wells
. `PROBLEM_SPE10`       - the same with permeabilities from a file
. `PROBLEM_LAPLACE7`    - constant coefficients, 7 points: 6 and -1
. `PROBLEM_LAPLACE27`   - constant coefficients, 27 points: 26 and -1
. `PROBLEM_HELMHOLTZ27` - complex, 27 points, trilinear finite elements, absorbing boundary
. `PROBLEM_CONVDIFF7`   - convection and diffusion, 7 points, not symmetric
. `PROBLEM_FEM`         - linear tetrahedra, a Delaunay mesh of displaced grid points, reverse Cuthill-McKee order
- `PROBLEM_ELASTIC`     - linear elasticity on that mesh: three displacements a point, rigid body modes as near null space
E*/
typedef enum {
  PROBLEM_RESERVOIR,
  PROBLEM_SPE10,
  PROBLEM_LAPLACE7,
  PROBLEM_LAPLACE27,
  PROBLEM_HELMHOLTZ27,
  PROBLEM_CONVDIFF7,
  PROBLEM_FEM,
  PROBLEM_ELASTIC
} ProblemKind;
extern const char *const ProblemKinds[];

typedef struct {
  ProblemKind kind;
  PetscInt    nx, ny, nz; /* cells of RESERVOIR, SPE10 (before refinement: taken from the file); else grid points */
  PetscInt    seed;

  /* RESERVOIR and SPE10 */
  PetscReal cell[3];                          /* size of a cell in m */
  PetscReal logdeviation;                     /* standard deviation of log permeability */
  PetscReal correlation[3];                   /* correlation lengths in cells */
  PetscReal anisotropy;                       /* kz/kx outside channels */
  PetscInt  channels;                         /* channels in each group of layers */
  PetscInt  wells;                            /* producers; RESERVOIR and SPE10 have one injector in the middle as well */
  PetscBool wellrows;                         /* the injector's pressure is an unknown with a long row, at the end */
  PetscReal timestep;                         /* days, for the compressibility term */
  PetscInt  refine;                           /* SPE10: cells per cell and direction */
  char      permeability[PETSC_MAX_PATH_LEN]; /* SPE10: a file; permeabilityread.c tells the forms */

  /* HELMHOLTZ27: -lap p - (beta1 - i beta2) k^2 p */
  PetscBool smooth;         /* random smooth variations on top of the piecewise constant medium */
  PetscReal pointspermwave; /* grid points in the shortest wavelength */
  PetscReal beta1, beta2;

  /* CONVDIFF7 */
  PetscReal peclet; /* cell Peclet number */

  /* FEM and ELASTIC */
  PetscReal jitter; /* displacement of grid points in grid spacings, 0.05 to 0.23 */
} Problem;

PetscErrorCode ProblemSetDefaults(ProblemKind, Problem *);
PetscErrorCode ProblemSetSize(Problem *, PetscInt rows);
PetscErrorCode ProblemSetFromOptions(MPI_Comm, Problem *);
PetscErrorCode ProblemCheck(MPI_Comm, const Problem *);
PetscErrorCode ProblemCreateSystem(MPI_Comm, const Problem *, Mat *, Vec *);

/* problemsfile.c: systems in PETSc binary files */
PetscErrorCode ProblemOpenFile(MPI_Comm, const char path[], PetscFileMode, PetscViewer *);
PetscErrorCode ProblemWriteSystem(const char path[], Mat, Vec rhs);
PetscErrorCode ProblemLoadSystem(MPI_Comm, const char path[], Mat *, Vec *rhs, PetscBool *has);
