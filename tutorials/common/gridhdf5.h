/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Numbers on a regular grid from data sets of HDF5, for gridfile.c.

   VecLoad() takes a data set of one dimension, of the scalar type of PETSc. Models have two or three dimensions, axes in any order, and real
   numbers also where scalars are complex. Therefore HDF5 is called directly.
*/

#include <petscvec.h>

/* Where number i of a file is in natural order. order: which dimension an axis of the file is, the fastest first */
static inline PetscInt GridNaturalOf(PetscInt64 i, const PetscInt n[3], const int order[3])
{
  PetscInt at[3];

  at[order[0]] = (PetscInt)(i % n[order[0]]);
  at[order[1]] = (PetscInt)(i / n[order[0]] % n[order[1]]);
  at[order[2]] = (PetscInt)(i / n[order[0]] / n[order[1]]);
  return at[0] + n[0] * (at[1] + n[1] * at[2]);
}

/* Collective. Values are set in natural; the caller assembles them */
PETSC_INTERN PetscErrorCode GridHDF5Read(MPI_Comm, const char path[], const char dataset[], const PetscInt n[3], const int order[3], Vec natural);
/* One process. value: all numbers in natural order; h: the attribute "spacing" */
PETSC_INTERN PetscErrorCode GridHDF5Write(const char path[], const char dataset[], const PetscInt n[3], const int order[3], PetscReal h,
                                          const PetscScalar *value);
