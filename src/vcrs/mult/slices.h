/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the host loops of slices: slices.c and quads.h, and avx512.c for wide registers.
*/

#include "host.h"

#define SLICE_AHEAD 16 /* distance in steps of the prefetch of entries and their places */

/* Entries k = first .. first+n-1 of all lanes, as far as they exist: one step each */
typedef struct {
  PetscInt        first, n;
  const void     *value, *place; /* of the first entry; if places are not decoded, place of entry 0 */
  const PetscInt *base;          /* added to places, one for each entry from 0 on; or NULL */
  PetscInt        ahead;         /* at most X_AHEAD: base exists up to this distance beyond the next step, even after the last step */
} VCRSHostSteps;

/* Data of a window of rows, and of a slice in the window, shared by all columns of x */
typedef struct {
  PetscInt           first;              /* row of the window */
  PetscBool          whole;              /* all rows of the slice are in the matrix */
  PetscBool          normal;             /* no power of two is zero */
  const PetscScalar *sigma;              /* of each row, or NULL: all are zero */
  PetscScalar        room[VCRS_WINDOW];  /* for sigma */
  PetscReal          power[VCRS_WINDOW]; /* of two, for fixed point */
} VCRSHostWindow;

typedef struct {
  PetscInt       number, shortest, longest;
  PetscBool      sorted; /* lanes fall in length */
  const uint8_t *length; /* of each lane */
  const uint8_t *row;    /* of each lane, counted from the first of the window */
} VCRSHostSlice;

/* avx512.c */
PETSC_INTERN PetscBool VCRSSumAVX512_Private(const VCRSPlan *, const VCRSHostWindow *, const VCRSHostSlice *, const VCRSHostSteps *, PetscInt,
                                             const PetscScalar *, PetscScalar[]);
