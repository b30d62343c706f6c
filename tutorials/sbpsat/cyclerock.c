/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Numbers of a problem: the rock, friction on the fault, the motion of the plate */

#include "cycle.h"
#include <tutorials/common/gridfile.h>

/* Benchmarks of the Southern California Earthquake Center for sequences of earthquakes, and the manufactured problem */
static const struct {
  const char *name;
  PetscReal   Dc;
} Problems[] = {
  {"bp1", (PetscReal)0.008},
  {"bp2", (PetscReal)0.004},
  {"mms", (PetscReal)0.008},
};

/* The shear modulus on a regular grid of depth and distance from the fault, for all processes */
static PetscErrorCode ReadModulus(MPI_Comm comm, CycleRock *rock)
{
  char               path[PETSC_MAX_PATH_LEN] = "", axes[4] = "xz";
  PetscInt           given = 2, n[3] = {0, 1, 0};
  GridFileFormat     format = GRIDFILE_RAW;
  PetscBool          set;
  Vec                part, all;
  VecScatter         scatter;
  const PetscScalar *a;
  PetscReal          least = PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  PetscOptionsBegin(comm, NULL, "The shear modulus", NULL);
  PetscCall(PetscOptionsString("-mu_file", "the shear modulus in Pa on a regular grid", NULL, path, path, sizeof(path), NULL));
  PetscCall(PetscOptionsEnum("-mu_format", "of the file", NULL, GridFileFormats, (PetscEnum)format, (PetscEnum *)&format, NULL));
  PetscCall(PetscOptionsString("-mu_axes", "the fastest axis first", NULL, axes, axes, sizeof(axes), NULL));
  PetscCall(PetscOptionsIntArray("-mu_grid", "along x and z", NULL, rock->n, &given, &set));
  PetscCall(PetscOptionsReal("-mu_spacing", "of the grid, in m", NULL, rock->spacing, &rock->spacing, NULL));
  PetscOptionsEnd();
  if (!path[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(set && given == 2 && rock->n[0] > 0 && rock->n[1] > 0 && rock->spacing > 0, comm, PETSC_ERR_USER_INPUT,
             "-mu_file %s: also give -mu_grid nx,nz and -mu_spacing h in m", path);
  n[0] = rock->n[0];
  n[2] = rock->n[1];
  PetscCall(GridFileRead(comm, format, path, n, axes, GRIDFILE_DATASET, &part));
  PetscCall(VecScatterCreateToAll(part, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, part, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, part, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PetscMalloc1(n[0] * n[2], &rock->mu));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt k = 0; k < n[0] * n[2]; k++) {
    rock->mu[k] = PetscRealPart(a[k]);
    least       = rock->mu[k] > 0 && !PetscIsInfOrNanReal(rock->mu[k]) ? PetscMin(least, rock->mu[k]) : 0;
  }
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCheck(least > 0, comm, PETSC_ERR_USER_INPUT, "-mu_file %s: a shear modulus must be a positive number", path);
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&part));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRockFromOptions(MPI_Comm comm, const char problem[], CycleRock *rock, CycleLaw *law)
{
  PetscInt  which = -1, given = 3;
  PetscBool set;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(Problems); k++) {
    PetscCall(PetscStrcmp(problem, Problems[k].name, &set));
    if (set) which = k;
  }
  PetscCheck(which >= 0, comm, PETSC_ERR_USER_INPUT, "-problem %s: use bp1, bp2 or mms", problem);
  *rock = (CycleRock){.rho = 2670, .cs = 3464, .spacing = 0};
  *law  = (CycleLaw){.sigma = (PetscReal)50e6,
                     .a0    = (PetscReal)0.010,
                     .amax  = (PetscReal)0.025,
                     .b     = (PetscReal)0.015,
                     .Dc    = Problems[which].Dc,
                     .V0    = (PetscReal)1e-6,
                     .f0    = (PetscReal)0.6,
                     .H     = 15000,
                     .h     = 3000,
                     .Wf    = 40000,
                     .Vp    = (PetscReal)1e-9,
                     .Vinit = (PetscReal)1e-9};
  PetscOptionsBegin(comm, NULL, "Rock and friction", NULL);
  PetscCall(PetscOptionsReal("-rho", "density, kg/m^3", NULL, rock->rho, &rock->rho, NULL));
  PetscCall(PetscOptionsReal("-cs", "speed of shear waves, m/s", NULL, rock->cs, &rock->cs, NULL));
  PetscCall(PetscOptionsRealArray("-basin", "half-width and depth in m, shear modulus inside in Pa", NULL, rock->basin, &given, &set));
  PetscCheck(!set || (given == 3 && rock->basin[0] > 0 && rock->basin[1] > 0 && rock->basin[2] > 0), comm, PETSC_ERR_USER_INPUT,
             "-basin needs three positive numbers: half-width, depth, shear modulus");
  PetscCall(PetscOptionsReal("-sigma", "normal stress, Pa", NULL, law->sigma, &law->sigma, NULL));
  PetscCall(PetscOptionsReal("-a0", "direct effect above the depth H", NULL, law->a0, &law->a0, NULL));
  PetscCall(PetscOptionsReal("-amax", "direct effect below the taper", NULL, law->amax, &law->amax, NULL));
  PetscCall(PetscOptionsReal("-b", "evolution effect", NULL, law->b, &law->b, NULL));
  PetscCall(PetscOptionsReal("-Dc", "slip in which the state changes, m", NULL, law->Dc, &law->Dc, NULL));
  PetscCall(PetscOptionsReal("-V0", "reference slip rate, m/s", NULL, law->V0, &law->V0, NULL));
  PetscCall(PetscOptionsReal("-f0", "reference coefficient of friction", NULL, law->f0, &law->f0, NULL));
  PetscCall(PetscOptionsReal("-H", "depth where a begins to rise, m", NULL, law->H, &law->H, NULL));
  PetscCall(PetscOptionsReal("-taper", "height over which a rises, m", NULL, law->h, &law->h, NULL));
  PetscCall(PetscOptionsReal("-Wf", "depth above which there is friction, m", NULL, law->Wf, &law->Wf, NULL));
  PetscCall(PetscOptionsReal("-Vp", "speed of the plate, m/s", NULL, law->Vp, &law->Vp, NULL));
  PetscCall(PetscOptionsReal("-Vinit", "slip rate at the begin, m/s", NULL, law->Vinit, &law->Vinit, NULL));
  PetscOptionsEnd();
  {
    const PetscReal positive[] = {rock->rho, rock->cs, law->sigma, law->a0, law->amax, law->b, law->Dc, law->V0, law->H, law->h, law->Wf, law->Vp, law->Vinit};
    const char     *name[]     = {"rho", "cs", "sigma", "a0", "amax", "b", "Dc", "V0", "H", "taper", "Wf", "Vp", "Vinit"};

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(name); k++)
      PetscCheck(positive[k] > 0 && !PetscIsInfOrNanReal(positive[k]), comm, PETSC_ERR_USER_INPUT, "-%s %g: use a positive number", name[k],
                 (double)positive[k]);
  }
  PetscCall(ReadModulus(comm, rock));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRockDestroy(CycleRock *rock)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(rock->mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The file of the modulus is known by the sum of its numbers */
PetscErrorCode CycleRockDescribe(const CycleRock *rock, size_t size, char text[])
{
  double sum = 0;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; rock->mu && k < rock->n[0] * rock->n[1]; k++) sum += (double)rock->mu[k] * (double)(1 + k % 97);
  PetscCall(PetscSNPrintf(text, size, "rho %.12g cs %.12g basin %.12g,%.12g,%.12g file %" PetscInt_FMT "x%" PetscInt_FMT " spacing %.12g sum %.12g",
                          (double)rock->rho, (double)rock->cs, (double)rock->basin[0], (double)rock->basin[1], (double)rock->basin[2], rock->n[0], rock->n[1],
                          (double)rock->spacing, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleLawDescribe(const CycleLaw *law, size_t size, char text[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, size, "sigma %.12g a %.12g,%.12g b %.12g Dc %.12g V0 %.12g f0 %.12g H %.12g taper %.12g Vp %.12g Vinit %.12g",
                          (double)law->sigma, (double)law->a0, (double)law->amax, (double)law->b, (double)law->Dc, (double)law->V0, (double)law->f0,
                          (double)law->H, (double)law->h, (double)law->Vp, (double)law->Vinit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Linear between the nodes of the file; the nearest value outside */
static PetscReal Interpolate(const CycleRock *rock, PetscReal x, PetscReal z)
{
  const PetscReal at[2] = {x / rock->spacing, z / rock->spacing};
  PetscInt        k[2];
  PetscReal       w[2];

  for (int d = 0; d < 2; d++) {
    const PetscReal v = PetscMin(PetscMax(at[d], 0), (PetscReal)(rock->n[d] - 1));

    k[d] = PetscMin((PetscInt)v, PetscMax(rock->n[d] - 2, 0));
    w[d] = v - (PetscReal)k[d];
  }
  {
    const PetscReal *low = rock->mu + k[1] * rock->n[0] + k[0], *high = rock->n[1] > 1 ? low + rock->n[0] : low;
    const PetscInt   right = rock->n[0] > 1;

    return (1 - w[1]) * ((1 - w[0]) * low[0] + w[0] * low[right]) + w[1] * ((1 - w[0]) * high[0] + w[0] * high[right]);
  }
}

PetscReal CycleRockModulus(const CycleRock *rock, PetscReal x, PetscReal z)
{
  const PetscReal mu = rock->rho * rock->cs * rock->cs;

  if (rock->mu) return Interpolate(rock, x, z);
  if (rock->basin[0] > 0) {
    const PetscReal r = (x / rock->basin[0]) * (x / rock->basin[0]) + (z / rock->basin[1]) * (z / rock->basin[1]);

    return mu + (rock->basin[2] - mu) * (1 - PetscTanhReal((r - 1) / (PetscReal)0.25)) / 2;
  }
  return mu;
}

Friction CycleRockFriction(const CycleRock *rock, const CycleLaw *law, PetscReal z, PetscReal mu)
{
  const PetscReal rise = PetscMin(PetscMax((z - law->H) / law->h, 0), 1);

  return (Friction){.a     = law->a0 + (law->amax - law->a0) * rise,
                    .b     = law->b,
                    .sigma = law->sigma,
                    .eta   = PetscSqrtReal(mu * rock->rho) / 2,
                    .V0    = law->V0,
                    .f0    = law->f0,
                    .Dc    = law->Dc};
}

/* Steady motion at Vinit where a is largest */
PetscReal CycleLawStress(const CycleLaw *law, const Friction *f)
{
  Friction deep = *f;

  deep.a = law->amax;
  return FrictionStrength(&deep, law->f0 + law->b * PetscLogReal(law->V0 / law->Vinit), PetscLogReal(law->Vinit)) + f->eta * law->Vinit;
}
