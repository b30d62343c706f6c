/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What tests of codecs share: random bits, and counted comparisons, whose first failures print a line which begins with
   FAIL */

#include <petscsys.h>
#include <stdint.h>

static PetscInt failures = 0, values = 0;

#define TEST(condition, ...)                                                                           \
  do {                                                                                                 \
    values++;                                                                                          \
    if (!(condition) && failures++ < 20) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL " __VA_ARGS__)); \
  } while (0)

static uint64_t Random(void)
{
  static uint64_t state = 88172645463325252ULL;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}
