/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Selects a loop among the instances that aggregation/host.c and stencil/host.c make, one per precision of vectors and
   width of codes
*/

/* f(...) for the precision of an operator */
#define FOR_PRECISION(op, f, ...)                                  \
  do {                                                             \
    if ((op)->precision == GRIDMG_SINGLE) f##_Single(__VA_ARGS__); \
    else f##_Double(__VA_ARGS__);                                  \
  } while (0)

/* f(...) for the width of codes as well */
#define FOR_CODES(op, f, ...)                                \
  do {                                                       \
    if ((op)->precision == GRIDMG_SINGLE) {                  \
      if ((op)->bits == 8) f##_Single_8(__VA_ARGS__);        \
      else if ((op)->bits == 16) f##_Single_16(__VA_ARGS__); \
      else f##_Single_32(__VA_ARGS__);                       \
    } else {                                                 \
      if ((op)->bits == 8) f##_Double_8(__VA_ARGS__);        \
      else if ((op)->bits == 16) f##_Double_16(__VA_ARGS__); \
      else f##_Double_32(__VA_ARGS__);                       \
    }                                                        \
  } while (0)
