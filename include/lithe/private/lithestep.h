/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A step of a power series in a matrix, in one sweep over it: y = x + scale A x, and sum += weight y for some sums. A matrix type that can do
   that composes the function "LitheMatStep_C" of this type; it is collective, and sums are all on the device or all on the host
   as x and y are. TSUNIFORMIZATION asks for it.
*/

#include <petscmat.h>

/* A sum that takes weight y; first: it begins with that */
typedef struct {
  Vec       sum;
  PetscReal weight;
  PetscBool first;
} LitheStepSum;

/* How many sums a kernel takes at once */
#define LITHE_STEP_SUMS 4

/* The same for one process, as kernels and host loops take it: y = x + scale A x; sum[] are arrays where x is */
typedef struct {
  PetscReal    scale;
  PetscInt     nsums;
  PetscScalar *sum[LITHE_STEP_SUMS];
  PetscReal    weight[LITHE_STEP_SUMS];
  PetscBool    first[LITHE_STEP_SUMS];
} LitheStep;

typedef PetscErrorCode LitheMatStepFn(Mat A, PetscReal scale, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);
