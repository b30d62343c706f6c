/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Failures of a test program are counted, and each is a line of its output */

#include <petscsys.h>

static PetscInt failures = 0;

/* Called by all processes */
#define FAIL(...)                                          \
  do {                                                     \
    failures++;                                            \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: "));    \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, __VA_ARGS__)); \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));        \
  } while (0)
