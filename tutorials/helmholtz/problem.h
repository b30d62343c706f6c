/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Waves of a single frequency in a medium of constant density:

     -lap p - (beta1 - i (beta2 + alpha beta1)) k^2 p = s,   k = 2 pi frequency / velocity.

   The equation itself has beta1 = 1 and beta2 = 0. All other values give the shifted Laplacian. The time dependence is
   exp(+i omega t). Outgoing waves are therefore exp(-i k r), and damping has the sign above. The unknowns are on a DMDA
   of two (x, z) or three (x, y, z) dimensions. The coordinate z is the depth, and the spacing is the same in all
   directions.
*/

#include "formulas.h"
#include "grid.h"
#include <petscpc.h>

/*E
  HelmholtzStencil - the discretization of the equation; all stencils are symmetric

  Values:
+ `HELMHOLTZ_COMPACT` - 9 or 27 points, fourth order in homogeneous media, weights that depend on k h to reduce the dispersion further
. `HELMHOLTZ_FEM`     - 9 or 27 points, bilinear or trilinear finite elements, second order
- `HELMHOLTZ_STAR`    - 5 or 7 points, central differences, second order
E*/
typedef enum {
  HELMHOLTZ_COMPACT,
  HELMHOLTZ_FEM,
  HELMHOLTZ_STAR
} HelmholtzStencil;
extern const char *const HelmholtzStencils[];

/*E
  HelmholtzBoundary - the absorbing boundary

  Values:
+ `HELMHOLTZ_ENGQUIST_MAJDA` - dp/dn + i k p = 0, k with damping or shift, which absorbs waves at normal incidence
- `HELMHOLTZ_PML`            - a perfectly matched layer, and the condition above behind it
E*/
typedef enum {
  HELMHOLTZ_ENGQUIST_MAJDA,
  HELMHOLTZ_PML
} HelmholtzBoundary;
extern const char *const HelmholtzBoundaries[];

/*E
  HelmholtzModel - the velocity of sound

  Values:
+ `HELMHOLTZ_HOMOGENEOUS` - the same everywhere
. `HELMHOLTZ_SMOOTH`      - grows with depth, with hills
. `HELMHOLTZ_WEDGE`       - three media, the second one a wedge
. `HELMHOLTZ_OVERTHRUST`  - folded layers, a thrust fault and a body of salt
- `HELMHOLTZ_FILE`        - from a file
E*/
typedef enum {
  HELMHOLTZ_HOMOGENEOUS,
  HELMHOLTZ_SMOOTH,
  HELMHOLTZ_WEDGE,
  HELMHOLTZ_OVERTHRUST,
  HELMHOLTZ_FILE
} HelmholtzModel;
extern const char *const HelmholtzModels[];

/* How a file of velocities is written: numbers with x running fastest, z slowest */
typedef enum {
  HELMHOLTZ_RAW,  /* floats of 4 bytes in the machine's byte order */
  HELMHOLTZ_PETSC /* a Vec, as VecView() writes it, also a Vec of a DMDA */
} HelmholtzFormat;
extern const char *const HelmholtzFormats[];

typedef struct {
  PetscInt          dim;
  PetscInt          n[3];      /* grid points, including the layer */
  PetscReal         h;         /* spacing in m */
  PetscReal         length[3]; /* of the model in m, without the layer */
  HelmholtzStencil  stencil;
  HelmholtzBoundary boundary;
  PetscInt          layer;      /* points of the layer on each side, 0: none */
  PetscReal         reflection; /* of the layer at normal incidence, without the condition behind the layer */
  PetscReal         frequency;  /* Hz */
  PetscReal         alpha;
  PetscReal         source[3];     /* m, from the corner of the model */
  PetscReal         pointsperwave; /* in the shortest wavelength */
  PetscBool         host;          /* vectors and matrices are on the host, also if options of the DM name a device */

  /* the medium */
  HelmholtzModel  model;
  PetscReal       velocity; /* HOMOGENEOUS, m/s */
  PetscReal       slowest;  /* m/s */
  char            file[PETSC_MAX_PATH_LEN];
  HelmholtzFormat format;
  PetscInt        filen[3];
  PetscReal       fileh; /* m */

  /* made by HelmholtzSetUp() */
  DM  da;
  Vec speed; /* m/s at the grid points */
} Helmholtz;

/* The parameters of the formulas, except the factor of k^2 */
static inline HelmholtzForm HelmholtzGetForm(const Helmholtz *problem)
{
  HelmholtzForm form = {.dim         = (int)problem->dim,
                        .corners     = problem->dim == 2 ? 4 : 8,
                        .points      = problem->dim == 2 ? 9 : 27,
                        .model       = (int)problem->model,
                        .stencil     = (int)problem->stencil,
                        .layer       = problem->layer,
                        .h           = problem->h,
                        .omegah      = (PetscReal)2. * PETSC_PI * problem->frequency * problem->h,
                        .reflection  = problem->reflection,
                        .velocity    = problem->velocity,
                        .factor      = {1., 0.},
                        .sourcescale = PetscPowRealInt(problem->h, 2 - (int)problem->dim)};

  for (PetscInt d = 0; d < 3; d++) {
    form.n[d]      = problem->n[d];
    form.length[d] = problem->length[d];
    if (d >= problem->dim) continue;
    {
      const PetscReal where = problem->source[d] / problem->h + (PetscReal)problem->layer;

      form.cell[d]     = PetscMin((PetscInt)(where + PETSC_SMALL), problem->n[d] - 2);
      form.fraction[d] = PetscMax(0., where - (PetscReal)form.cell[d]);
    }
  }
  return form;
}

/* problem.c */
PETSC_INTERN PetscErrorCode HelmholtzSetFromOptions(MPI_Comm, Helmholtz *);
PETSC_INTERN PetscErrorCode HelmholtzSetUp(MPI_Comm, Helmholtz *);
PETSC_INTERN PetscErrorCode HelmholtzView(const Helmholtz *, PetscViewer);
PETSC_INTERN PetscErrorCode HelmholtzDestroy(Helmholtz *);
/* The default shift of the preconditioner, and interpolation and cycle of its PCGRIDMG. Options may change all of them */
static inline PetscReal HelmholtzUsualShift(PetscInt dim)
{
  return dim == 3 ? (PetscReal).7 : (PetscReal).5;
}
PETSC_INTERN PetscErrorCode HelmholtzSetMultigrid(const Helmholtz *, PC);
/* Coordinates of a grid point in m, from the corner of the model */
static inline PetscReal HelmholtzCoordinate(const Helmholtz *problem, PetscInt i)
{
  return (PetscReal)(i - problem->layer) * problem->h;
}

/* ondevice.c: all data on devices. A: a matrix with only its type set, or NULL */
PETSC_INTERN PetscErrorCode HelmholtzIsOnDevice(const Helmholtz *, Mat A, PetscBool *);
PETSC_INTERN PetscErrorCode HelmholtzSetSpeedDevice(const Helmholtz *, const HelmholtzForm *);
PETSC_INTERN PetscErrorCode HelmholtzSetSourceDevice(const Helmholtz *, const HelmholtzForm *, Vec);
PETSC_INTERN PetscErrorCode HelmholtzGetBox(const Helmholtz *, GridBox *, Vec *speed);
/* Sets up a PCGRIDMG for the shifted Laplacian; the matrix rows exist only during the set-up */
PETSC_INTERN PetscErrorCode HelmholtzSetUpOnDevice(const Helmholtz *, PetscReal beta1, PetscReal beta2, PC);
PETSC_INTERN PetscErrorCode HelmholtzMakeMatrixDevice(const Helmholtz *, const HelmholtzForm *, const char prefix[], Mat *);

/* hostmatrix.c: the matrix on the host; A has a type of AIJ kind, and no sizes yet */
PETSC_INTERN PetscErrorCode HelmholtzMakeMatrixHost(const Helmholtz *, const HelmholtzForm *, Mat A);

/* model.c */
PETSC_INTERN PetscErrorCode HelmholtzGetSlowest(MPI_Comm, Helmholtz *);
PETSC_INTERN PetscErrorCode HelmholtzSetSpeed(Helmholtz *);

/* operator.c; type NULL: the type of the DM. Options with the prefix may change the type */
PETSC_INTERN PetscErrorCode HelmholtzCreateMatrix(const Helmholtz *, PetscReal beta1, PetscReal beta2, MatType type, const char prefix[], Mat *);
PETSC_INTERN PetscErrorCode HelmholtzSetSource(const Helmholtz *, Vec);
