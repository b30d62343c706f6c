/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Generated and smooth velocities; see velocity.h */

#include "velocity.h"

/* Random number between 0 and 1, from an object's number and a fixed seed */
static double Chance(uint32_t number, uint32_t seed)
{
  uint32_t x = number * 2654435761u + seed * 2246822519u + 374761393u;

  x = (x ^ (x >> 15)) * 2246822519u;
  x = (x ^ (x >> 13)) * 3266489917u;
  return (double)(x ^ (x >> 16)) / 4294967296.;
}

/* ------------------------------------------------------------ layers */

double VelocityLayers(double x, double y, double z)
{
  static const double depth[]    = {.22, .38, .50, .68, .84};
  static const double velocity[] = {1500., 1900., 2300., 2100., 3000., 4000.};
  const double        dipped     = z - .12 * (x - .5) - .04 * (y - .5);
  int                 layer      = 0;

  while (layer < 5 && dipped >= depth[layer]) layer++;
  return velocity[layer];
}

/* ------------------------------------------------------------ Marmousi-like */

/* The slide of a block along a fault. The fault begins at x = top on the surface, goes down to the right and ends at
   depth "end" */
static double Slide(double x, double z, double top, double slope, double throw, double end)
{
  const double behind = x - top - slope * z, taper = z < end ? 1 : PetscMax(0., 1 - (z - end) / .15);

  return behind > 0 ? throw *taper * exp(-behind / .35) : 0;
}

double VelocityMarmousi(double x, double y, double z)
{
  const double water = .05 + .006 * cos(2 * PETSC_PI * x), arch = .10 * exp(-PetscSqr((x - .62 - .1 * (y - .5)) / .16)) * PetscMin(1., 2. * z);
  double       depth = z + arch - .05 * (x - .5) - .03 * sin(2 * PETSC_PI * (1.3 * x + .2 * y)) * z, trend, velocity;
  int          layer;

  if (z < water) return VELOCITY_WATER;
  depth -= Slide(x, z, .24, .22, .055, .62) + Slide(x, z, .40, .20, .050, .70) + Slide(x, z, .54, .16, .040, .66);
  /* layers below are older than the folds, with the opposite dip */
  if (z > .78 - .08 * cos(2 * PETSC_PI * (x - .1))) depth = z + .10 * (x - .5) + .03;
  depth    = PetscMax(depth, 0.);
  layer    = (int)(depth * 46);
  trend    = 1650. + 2600. * depth;
  velocity = trend * (1 + .30 * (Chance((uint32_t)layer, 7) - .5));
  /* every ninth layer is hard */
  if (layer % 9 == 4) velocity += 900. * PetscMin(1., 1.5 * depth);
  if (z > .86 - .04 * cos(2 * PETSC_PI * x)) velocity = 4700. + 800. * Chance((uint32_t)(depth * 12), 3);
  /* a lens with gas */
  if (PetscSqr((x - .66) / .085) + PetscSqr((y - .5) / .3) + PetscSqr((z - .40) / .022) < 1) velocity = 1850.;
  return PetscMin(5500., PetscMax(VELOCITY_WATER + 50., velocity));
}

/* ------------------------------------------------------------ overthrust */

/* The depth of a point before its layers were folded and thrust over one another along a fault */
static double Unfolded(double x, double y, double z)
{
  const double fold = .035 * sin(2. * PETSC_PI * (1.4 * x + .15 * y) + .6) + .02 * cos(2. * PETSC_PI * y), fault = .18 + .42 * (1. - z) + .08 * y;

  return z + fold * (1. - .4 * z) + (x < fault ? .085 * (z > .12 ? 1. : z / .12) : 0.);
}

double VelocityThrust(double x, double y, double z)
{
  static const double layer[] = {1650., 1900., 1800., 2200., 2050., 2500., 2300., 2850., 2600., 3200., 2950., 3500., 3300., 3900.};
  const int           last    = (int)(sizeof(layer) / sizeof(layer[0])) - 1;
  const double        depth   = Unfolded(x, y, z);
  const double        head    = (x - .68) * (x - .68) / .0240 + (y - .5) * (y - .5) / .06 + (z - .44) * (z - .44) / .0081;
  const double        reach = .035 + .10 * PetscMax(0., z - .55), foot = PetscSqr((x - .70 + .1 * (z - .5)) / reach) + PetscSqr((y - .5) / (2. * reach));

  if (z < .06) return VELOCITY_WATER;
  if (head < 1. || (foot < 1. && z > .44 && z < .85)) return 4480.;
  return layer[(int)PetscMin((double)last, PetscMax(0., depth * (last + 1) - .6))];
}

double VelocityOverthrust(double x, double y, double z)
{
  return 2400. + (VelocityThrust(x, y, z) - VELOCITY_WATER) * (3600. / 2980.);
}

/* ------------------------------------------------------------ smooth velocities */

/* The mean with weights of a Gaussian along a line; ends are continued */
static void SmoothLine(PetscInt n, PetscInt64 stride, PetscInt reach, const double weight[], PetscReal *x, double line[])
{
  for (PetscInt i = 0; i < n; i++) {
    double sum = weight[0] * (double)x[stride * i];

    for (PetscInt k = 1; k <= reach; k++) sum += weight[k] * (double)(x[stride * PetscMax(0, i - k)] + x[stride * PetscMin(n - 1, i + k)]);
    line[i] = sum;
  }
  for (PetscInt i = 0; i < n; i++) x[stride * i] = (PetscReal)line[i];
}

PetscErrorCode VelocitySmooth(const PetscInt n[3], PetscReal deviation, PetscReal v[])
{
  const PetscInt   reach = (PetscInt)PetscCeilReal(3 * deviation);
  const PetscInt64 all = (PetscInt64)n[0] * n[1] * n[2], stride[3] = {1, n[0], (PetscInt64)n[0] * n[1]};
  PetscReal       *kept;
  double          *weight, *line, sum = 1;

  PetscFunctionBegin;
  if (reach <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc3(all, &kept, reach + 1, &weight, PetscMax(n[0], PetscMax(n[1], n[2])), &line));
  for (PetscInt k = 0; k <= reach; k++) weight[k] = exp(-.5 * PetscSqr((double)k / (double)deviation));
  for (PetscInt k = 1; k <= reach; k++) sum += 2 * weight[k];
  for (PetscInt k = 0; k <= reach; k++) weight[k] /= sum;
  PetscCall(PetscArraycpy(kept, v, (size_t)all));
  for (PetscInt64 p = 0; p < all; p++) v[p] = 1 / v[p];
  for (int d = 0; d < 3; d++) {
    if (n[d] == 1) continue;
    for (PetscInt64 p = 0; p < all; p++) {
      if (p / stride[d] % n[d] == 0) SmoothLine(n[d], stride[d], reach, weight, v + p, line);
    }
  }
  for (PetscInt64 p = 0; p < all; p++) v[p] = kept[p] == (PetscReal)VELOCITY_WATER ? kept[p] : 1 / v[p];
  PetscCall(PetscFree3(kept, weight, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}
