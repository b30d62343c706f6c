/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Where the levels of a preconditioner are: src/pc/place.c */

#include <petsc/private/pcimpl.h>

/* x and y: arrays at the place of the levels */
typedef PetscErrorCode (*LithePCApplyArrays)(PC pc, const PetscScalar x[], PetscScalar y[]);

/*
   An application to vectors at any place. device: levels are on the device. work: vectors there for x and y of the
   host, made when needed; the caller destroys both
*/
PETSC_INTERN PetscErrorCode LithePCApplyThere(PC pc, PetscBool device, Vec work[2], Vec x, Vec y, LithePCApplyArrays apply);
