/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The Helmholtz problem: its options, grid and summary */

#include "problem.h"
#include <lithepc.h>
#include <petscviewer.h>

const char *const HelmholtzStencils[]   = {"compact", "fem", "star", "HelmholtzStencil", "HELMHOLTZ_", NULL};
const char *const HelmholtzBoundaries[] = {"engquist_majda", "pml", "HelmholtzBoundary", "HELMHOLTZ_", NULL};
const char *const HelmholtzModels[]     = {"homogeneous", "smooth", "wedge", "overthrust", "file", "HelmholtzModel", "HELMHOLTZ_", NULL};
const char *const HelmholtzFormats[]    = {"raw", "petsc", "HelmholtzFormat", "HELMHOLTZ_", NULL};

/* Points per shortest wavelength: the defaults, and the limits below which a warning is printed */
static const PetscReal usualpoints[] = {10., 12., 15.}, fewpoints[] = {5., 8., 10.};

/* Shortest wavelengths along the longest side of a 3-D model, above which W cycles may fail */
#define MANY_WAVES 4

/* One number per direction; a single number holds for all directions */
static PetscErrorCode HelmholtzGetSizes_Private(MPI_Comm comm, const char name[], PetscInt dim, PetscInt given, PetscInt n[])
{
  PetscFunctionBegin;
  PetscCheck(given == 1 || given == dim, comm, PETSC_ERR_ARG_SIZ,
             "%s has %" PetscInt_FMT " numbers: give one, or one for each of the %" PetscInt_FMT " directions", name, given, dim);
  for (PetscInt d = given; d < dim; d++) n[d] = n[0];
  for (PetscInt d = 0; d < dim; d++)
    PetscCheck(n[d] > 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "%s has %" PetscInt_FMT " points in direction %" PetscInt_FMT ": at least 2 are needed", name, n[d],
               d);
  for (PetscInt d = dim; d < 3; d++) n[d] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HelmholtzSetMediumFromOptions_Private(MPI_Comm comm, Helmholtz *problem, PetscOptionItems PetscOptionsObject)
{
  PetscInt  given = 3;
  PetscBool isfile;

  PetscFunctionBegin;
  problem->model    = HELMHOLTZ_OVERTHRUST;
  problem->velocity = 1500.;
  problem->fileh    = 0.;
  PetscCall(PetscOptionsEnum("-model", "Velocity of sound", "HelmholtzModel", HelmholtzModels, (PetscEnum)problem->model, (PetscEnum *)&problem->model, NULL));
  PetscCall(PetscOptionsBoundedReal("-velocity", "Of the homogeneous medium, m/s", NULL, problem->velocity, &problem->velocity, NULL, PETSC_SMALL));
  PetscCall(PetscOptionsString("-velocity_file", "Velocities in m/s, x running fastest, z slowest", NULL, problem->file, problem->file, sizeof(problem->file),
                               &isfile));
  if (isfile) problem->model = HELMHOLTZ_FILE;
  PetscCall(PetscOptionsEnum("-velocity_format", "4-byte numbers, or a Vec of PETSc", "HelmholtzFormat", HelmholtzFormats, (PetscEnum)problem->format,
                             (PetscEnum *)&problem->format, NULL));
  PetscCall(PetscOptionsIntArray("-velocity_grid", "Points in the file", NULL, problem->filen, &given, &isfile));
  PetscCall(PetscOptionsReal("-velocity_spacing", "Of the points in the file, m", NULL, problem->fileh, &problem->fileh, NULL));
  if (problem->model == HELMHOLTZ_FILE) {
    PetscCheck(problem->file[0], comm, PETSC_ERR_USER_INPUT, "-model file needs -velocity_file NAME");
    PetscCheck(isfile, comm, PETSC_ERR_USER_INPUT, "-velocity_file %s needs -velocity_grid NX,NZ or NX,NY,NZ, the points in it", problem->file);
    PetscCheck(problem->fileh > 0., comm, PETSC_ERR_USER_INPUT, "-velocity_file %s needs -velocity_spacing H, the distance of its points in m", problem->file);
    PetscCall(HelmholtzGetSizes_Private(comm, "-velocity_grid", problem->dim, given, problem->filen));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The spacing from the size and the points, or from the points in a wavelength; the points from size and spacing */
static PetscErrorCode HelmholtzSetGridFromOptions_Private(MPI_Comm comm, Helmholtz *problem, PetscOptionItems PetscOptionsObject)
{
  PetscInt  given = 3, sizes = 3;
  PetscReal wanted = usualpoints[problem->stencil];
  PetscBool isgrid, issize, isspacing;

  PetscFunctionBegin;
  PetscCall(PetscOptionsIntArray("-grid", "Grid points, including the layer", NULL, problem->n, &given, &isgrid));
  PetscCall(PetscOptionsRealArray("-size", "Of the model, m", NULL, problem->length, &sizes, &issize));
  PetscCall(
    PetscOptionsBoundedReal("-points_per_wavelength", "Grid points in the shortest wavelength, which give the spacing", NULL, wanted, &wanted, NULL, 2.));
  PetscCall(PetscOptionsReal("-spacing", "Distance of grid points in m, instead", NULL, problem->h, &problem->h, &isspacing));
  PetscCheck(!isspacing || problem->h > 0., comm, PETSC_ERR_ARG_OUTOFRANGE, "-spacing %g: it is positive", (double)problem->h);
  PetscCall(HelmholtzGetSlowest(comm, problem));

  if (issize) {
    PetscCheck(sizes == problem->dim, comm, PETSC_ERR_ARG_SIZ, "-size has %" PetscInt_FMT " numbers: give one for each of the %" PetscInt_FMT " directions",
               sizes, problem->dim);
    for (PetscInt d = 0; d < problem->dim; d++)
      PetscCheck(problem->length[d] > 0., comm, PETSC_ERR_ARG_OUTOFRANGE, "-size has %g m in direction %" PetscInt_FMT ": it is positive",
                 (double)problem->length[d], d);
  } else if (problem->model == HELMHOLTZ_FILE) {
    for (PetscInt d = 0; d < problem->dim; d++) problem->length[d] = (PetscReal)(problem->filen[d] - 1) * problem->fileh;
    issize = PETSC_TRUE;
  }
  if (!isgrid) {
    given         = 1;
    problem->n[0] = (problem->dim == 2 ? 129 : 33) + 2 * problem->layer;
  }
  PetscCall(HelmholtzGetSizes_Private(comm, "-grid", problem->dim, given, problem->n));
  for (PetscInt d = 0; d < problem->dim; d++)
    PetscCheck(problem->n[d] > 2 * problem->layer + 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-grid has %" PetscInt_FMT " points in direction %" PetscInt_FMT ", not more than two layers of %" PetscInt_FMT
               " points: give more, or less to -pml_points",
               problem->n[d], d, problem->layer);

  if (!isspacing) {
    problem->h = problem->slowest / (problem->frequency * wanted);
    if (issize && isgrid) {
      problem->h = 0.;
      for (PetscInt d = 0; d < problem->dim; d++) problem->h = PetscMax(problem->h, problem->length[d] / (PetscReal)(problem->n[d] - 1 - 2 * problem->layer));
    }
  }
  for (PetscInt d = 0; d < problem->dim; d++) {
    if (issize && !isgrid) {
      const PetscReal steps = PetscFloorReal(problem->length[d] / problem->h + .5);

      PetscCheck(steps < 1e9, comm, PETSC_ERR_ARG_OUTOFRANGE, "%g points in direction %" PetscInt_FMT ": is -size or -spacing wrong?", (double)steps, d);
      problem->n[d] = 1 + PetscMax(1, (PetscInt)steps) + 2 * problem->layer;
    }
    problem->length[d] = (PetscReal)(problem->n[d] - 1 - 2 * problem->layer) * problem->h;
  }
  problem->pointsperwave = problem->slowest / (problem->frequency * problem->h);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetFromOptions(MPI_Comm comm, Helmholtz *problem)
{
  PetscInt  given = 3;
  PetscBool issource;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(problem, sizeof(*problem)));
  problem->dim        = 2;
  problem->layer      = 20;
  problem->frequency  = 10.;
  problem->reflection = .01;
  problem->boundary   = HELMHOLTZ_ENGQUIST_MAJDA;
  PetscOptionsBegin(comm, NULL, "Helmholtz problem", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimensions", NULL, problem->dim, &problem->dim, NULL, 2, 3));
  PetscCall(PetscOptionsBoundedReal("-frequency", "Hz", NULL, problem->frequency, &problem->frequency, NULL, PETSC_SMALL));
  PetscCall(PetscOptionsReal("-alpha", "Damping of the medium", NULL, problem->alpha, &problem->alpha, NULL));
  PetscCall(
    PetscOptionsEnum("-stencil", "Discretization", "HelmholtzStencil", HelmholtzStencils, (PetscEnum)problem->stencil, (PetscEnum *)&problem->stencil, NULL));
  PetscCall(PetscOptionsEnum("-boundary", "Absorbing boundary", "HelmholtzBoundary", HelmholtzBoundaries, (PetscEnum)problem->boundary,
                             (PetscEnum *)&problem->boundary, NULL));
  PetscCall(PetscOptionsBoundedInt("-pml_points", "Points of the layer on each side", NULL, problem->layer, &problem->layer, NULL, 1));
  PetscCall(PetscOptionsRangeReal("-pml_reflection", "How much of a wave comes back from the layer at a right angle", NULL, problem->reflection,
                                  &problem->reflection, NULL, PETSC_SMALL, 1.));
  if (problem->boundary != HELMHOLTZ_PML) problem->layer = 0;
  PetscCall(HelmholtzSetMediumFromOptions_Private(comm, problem, PetscOptionsObject));
  PetscCall(HelmholtzSetGridFromOptions_Private(comm, problem, PetscOptionsObject));

  /* the middle of the surface, slightly below the surface */
  for (PetscInt d = 0; d < problem->dim; d++)
    problem->source[d] = PetscFloorReal((d == problem->dim - 1 ? .125 : .5) * (PetscReal)(problem->n[d] - 1 - 2 * problem->layer)) * problem->h;
  PetscCall(PetscOptionsRealArray("-source", "Position in m, from the corner of the model; depth last", NULL, problem->source, &given, &issource));
  PetscCheck(!issource || given == problem->dim, comm, PETSC_ERR_ARG_SIZ,
             "-source has %" PetscInt_FMT " numbers: give one for each of the %" PetscInt_FMT " directions", given, problem->dim);
  for (PetscInt d = 0; d < problem->dim; d++) {
    PetscCheck(problem->source[d] >= 0. && problem->source[d] <= problem->length[d] * (1. + PETSC_SMALL), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-source is at %g m in direction %" PetscInt_FMT ", outside of the model of %g m", (double)problem->source[d], d, (double)problem->length[d]);
  }
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Types of the host. MATVCRS is wherever its vectors are */
static PetscErrorCode MoveToHost(DM da)
{
  MatType   type;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(DMSetVecType(da, VECSTANDARD));
  PetscCall(DMGetMatType(da, &type));
  PetscCall(PetscStrcmpAny(type, &device, MATAIJCUSPARSE, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  if (device) PetscCall(DMSetMatType(da, MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzSetUp(MPI_Comm comm, Helmholtz *problem)
{
  const DMDAStencilType type = problem->stencil == HELMHOLTZ_STAR ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX;

  PetscFunctionBegin;
  if (problem->dim == 2)
    PetscCall(
      DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, type, problem->n[0], problem->n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &problem->da));
  else
    PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, type, problem->n[0], problem->n[1], problem->n[2], PETSC_DECIDE,
                           PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &problem->da));
  PetscCall(DMSetFromOptions(problem->da));
  if (problem->host) PetscCall(MoveToHost(problem->da));
  PetscCall(DMSetUp(problem->da));
  PetscCall(HelmholtzSetSpeed(problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzView(const Helmholtz *problem, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "grid %" PetscInt_FMT " x %" PetscInt_FMT, problem->n[0], problem->n[1]));
  if (problem->dim == 3) PetscCall(PetscViewerASCIIPrintf(viewer, " x %" PetscInt_FMT, problem->n[2]));
  PetscCall(PetscViewerASCIIPrintf(viewer, ", %g m apart, %s stencil, boundary %s", (double)problem->h, HelmholtzStencils[problem->stencil],
                                   HelmholtzBoundaries[problem->boundary]));
  if (problem->layer) PetscCall(PetscViewerASCIIPrintf(viewer, " of %" PetscInt_FMT " points", problem->layer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\nmodel %s, slowest %g m/s, %g Hz, %.3g points in the shortest wavelength\n", HelmholtzModels[problem->model],
                                   (double)problem->slowest, (double)problem->frequency, (double)problem->pointsperwave));
  if (problem->pointsperwave < fewpoints[problem->stencil]) {
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "WARNING: fewer than %g points in the shortest wavelength are too few for the %s stencil: raise -points_per_wavelength, "
                                     "or lower -frequency or -spacing\n",
                                     (double)fewpoints[problem->stencil], HelmholtzStencils[problem->stencil]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzDestroy(Helmholtz *problem)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&problem->speed));
  PetscCall(DMDestroy(&problem->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   In 3-D W cycles fail where waves are many: errors grow on coarse levels, which W cycles visit often. V cycles fail
   where the absorbing layer is most of the grid
*/
PetscErrorCode HelmholtzSetMultigrid(const Helmholtz *problem, PC pc)
{
  PetscReal waves = 0;

  PetscFunctionBegin;
  for (PetscInt d = 0; d < problem->dim; d++) waves = PetscMax(waves, problem->length[d] * problem->frequency / problem->slowest);
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_ZEEUW));
  if (problem->dim == 3 && waves > MANY_WAVES) PetscCall(PCGridMGSetCycle(pc, PCGRIDMG_CYCLE_V));
  PetscFunctionReturn(PETSC_SUCCESS);
}
