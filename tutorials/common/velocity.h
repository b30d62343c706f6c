/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Generated velocities of sound under the ground: functions of the place, the same on all machines.

   Coordinates go from 0 to 1, z is the depth. In two dimensions y is one half. Velocities are in m/s.
*/

#include <petscsys.h>

/* Layers of rising velocity, all with the same dip, 1500 to 4000 m/s */
PETSC_INTERN double VelocityLayers(double x, double y, double z);
/* Thin layers on a gradient, folded and broken by three faults, with a slow lens, under water: 1500 to 5500 m/s, in the
   manner of the Marmousi model */
PETSC_INTERN double VelocityMarmousi(double x, double y, double z);
/* Folded layers, a thrust fault and a body of salt, under water: 1500 to 4480 m/s */
PETSC_INTERN double VelocityThrust(double x, double y, double z);
/* The same geology in hard rock: 2400 to 6000 m/s */
PETSC_INTERN double VelocityOverthrust(double x, double y, double z);
#define VELOCITY_WATER 1500. /* the slowest velocity of all models except the last */

/*
   The Gaussian mean of slownesses, with a deviation in nodes, along each direction of more than one node. Boundary
   values continue outside. Water stays unchanged. v: x fastest, on one process
*/
PETSC_INTERN PetscErrorCode VelocitySmooth(const PetscInt n[3], PetscReal deviation, PetscReal v[]);
