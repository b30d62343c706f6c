/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The host products of slices of L3 on processors with AVX-512, which are private to the library, for ex10.c */
#include <src/mat/vcrs/vcrsmultoctets.c>
