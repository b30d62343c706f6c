/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Rate-and-state friction at a point of a fault, regularised, with the aging law.

     strength     = sigma a asinh(V/(2 V0) exp(psi/a))
     d psi/dt     = (b V0/Dc) (exp((f0 - psi)/b) - V/V0)
     tau          = strength + eta V

   V is the slip rate, and psi = f0 + b ln(V0 theta/Dc) the state. eta V is the radiation damping of a fault that loses
   energy by waves. Units are those of SI. Velocities are given by their natural logarithm, which has no least number.
*/

#include <petscsys.h>

typedef struct {
  PetscReal a, b, sigma, eta, V0, f0, Dc;
} Friction;

PETSC_INTERN PetscReal FrictionStrength(const Friction *, PetscReal psi, PetscReal logV);
PETSC_INTERN PetscReal FrictionStateRate(const Friction *, PetscReal psi, PetscReal V);
/* The state in which the stress tau moves the fault at V; tau > eta V */
PETSC_INTERN PetscReal FrictionState(const Friction *, PetscReal tau, PetscReal V);
/* ln V for a stress and a state. On entry a guess, which may be any number. FALSE, and logV stays, if tau <= 0 or if a
   number is not finite */
PETSC_INTERN PetscBool FrictionSolve(const Friction *, PetscReal tau, PetscReal psi, PetscReal *logV);
