/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Triangular systems with a compressed matrix: tri.c on the host, device.c on a device. vcrs/mat.h has the functions */

#include "../vcrsimpl.h"

#if defined(LITHE_HAVE_CUDA)
/* Data of substitution with a matrix on a device; its context frees the data */
typedef struct {
  PetscBool upper;
  struct {
    Mat        T; /* the matrix itself, not referenced; or its transpose */
    VCRSOrder *order;
    void      *prepared;
  } way[2]; /* [0]: T, [1]: transpose */
} VCRSSubstitution;
#endif
