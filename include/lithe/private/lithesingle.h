/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What a preconditioner on compressed levels offers to a KSP that iterates in single precision: KSPMPCG */

#include <lithe/private/lithememory.h>
#include <petscpc.h>

/*
   The operator of the finest level, compressed, and a cycle, in scaled variables: A~ = c D A D for diagonal matrices D
   and a number c that only the preconditioner knows. Vectors of the KSP have `length` numbers, of which this process
   owns the first n; a complex number is two. All arrays are in `memory`, with zeros before and after them.

   Functions launch without waiting, so that a KSP may record them, but for enter() and leave()
*/
typedef struct {
  PetscInt              n, length;
  PetscBool             device, records; /* records: of launches are wanted */
  const LitheMemoryOps *memory;
  PetscInt64            number; /* of the set-up: each has its own, see LitheSingleNumber() */
  /* b = factor D r; factor is a power of two */
  PetscErrorCode (*enter)(PC, double factor, const PetscScalar r[], float b[]);
  /* x = c D y / factor */
  PetscErrorCode (*leave)(PC, double factor, const float y[], PetscScalar x[]);
  /* q = A~ p. The rest of p, behind its first n numbers, is overwritten */
  PetscErrorCode (*multiply)(PC, float p[], float q[]);
  /* z = M r by one cycle. z belongs to the preconditioner, and stays until the next cycle */
  PetscErrorCode (*apply)(PC, const float r[], const float **z);
} LitheSingle; /* a value */

/*
   The composed function LITHE_SINGLE gets it after the set-up; *offers: FALSE if this set-up has none. Without a place
   for it, before a set-up: it will be wanted
*/
#define LITHE_SINGLE "LithePCGetSingle_C"
typedef PetscErrorCode LithePCGetSingleFn(PC, LitheSingle *, PetscBool *offers);

/* A number that no other set-up has: src/mg/record.c */
PETSC_INTERN PetscInt64 LitheSingleNumber(void);
