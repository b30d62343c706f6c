/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What preconditioners and matrices offer to a KSP that iterates in single precision: KSPMPCG */

#include <lithe/private/lithememory.h>
#include <petscpc.h>

/*
   An operator and a preconditioner, in scaled variables: A~ = c D A D for diagonal matrices D and a number c that only
   the owner of ctx knows. Vectors of the KSP have `length` numbers, of which the first n count in sums; a complex
   number is two. Of these n, b and q are 0 where this process does not own a number, and enter() and multiply() leave
   those alone. All arrays are in `memory`, with zeros before and after them.

   A preconditioner on compressed levels multiplies with its finest level, and applies a cycle. A diagonal
   preconditioner has no apply(): the KSP multiplies with `diagonal`, or with 1 if that is NULL, while it does something
   else.

   Functions launch without waiting, so that a KSP may record them, but for enter() and leave()
*/
typedef struct {
  PetscInt              n, length;
  PetscBool             device, records; /* records: of launches are wanted */
  const LitheMemoryOps *memory;
  PetscInt64            number; /* of the set-up: each has its own, see LitheSingleNumber() */
  void                 *ctx;    /* for the functions */
  const float          *diagonal;
  /* b = factor D r; factor is a power of two */
  PetscErrorCode (*enter)(void *ctx, double factor, const PetscScalar r[], float b[]);
  /* x = c D y / factor */
  PetscErrorCode (*leave)(void *ctx, double factor, const float y[], PetscScalar x[]);
  /* q = A~ p. Numbers of p that this process does not own are overwritten */
  PetscErrorCode (*multiply)(void *ctx, float p[], float q[]);
  /* z = M r by one cycle. z belongs to the preconditioner, and stays until the next cycle. NULL: see above */
  PetscErrorCode (*apply)(void *ctx, const float r[], const float **z);
} LitheSingle; /* a value */

/*
   The composed function LITHE_SINGLE gets it after the set-up; *offers: FALSE if this set-up has none. Without a place
   for it, before a set-up: it will be wanted
*/
#define LITHE_SINGLE "LithePCGetSingle_C"
typedef PetscErrorCode LithePCGetSingleFn(PC, LitheSingle *, PetscBool *offers);

/*
   The composed function LITHE_MAT_SINGLE of a matrix compresses it for products on the host or on a device, and
   prepares products q = A p with arrays on the host, of which all processes own as many entries as of a vector.
   *multiply: NULL if there is none, and on a device. *better: a copy in single precision would have fewer bytes
*/
#define LITHE_MAT_SINGLE "LitheMatGetSingle_C"
typedef PetscErrorCode LitheMatMultSingleFn(Mat, const float p[], float q[]);
typedef PetscErrorCode LitheMatGetSingleFn(Mat, PetscBool device, PetscBool *better, LitheMatMultSingleFn **multiply);

/* A number that no other set-up has: src/mg/record.c */
PETSC_INTERN PetscInt64 LitheSingleNumber(void);
