/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What multigrid methods over compressed levels share: src/mg */

#include <lithe/private/hostdevice.h>
#include <lithe/private/lithememory.h>
#include <math.h>
#include <petscsys.h>

/*
   A record of work that repeats with the same arrays: the first time it is done, the second time recorded, then played
*/
typedef struct {
  const LitheMemoryOps *memory;
  void                 *graph;
  int                   done;
} LitheMGRecord; /* owner: src/mg/record.c */

/* Does work(ctx) or plays its record; record: FALSE only does it */
PETSC_INTERN PetscErrorCode LitheMGPlay(const LitheMemoryOps *, LitheMGRecord *, PetscBool record, PetscErrorCode (*work)(void *), void *ctx);
PETSC_INTERN PetscErrorCode LitheMGForget(LitheMGRecord *);

/*
   The inverse of a small matrix, by rows, with numbers in single or double precision. factored: x = L^H (L b), with L
   lower triangular: the rounded inverse of a Hermitian matrix stays definite. Else x = L b. Rows and columns of a
   singular part are 0
*/
typedef struct {
  PetscInt              n, singular; /* singular: number of unknowns that are left out */
  PetscBool             factored, single;
  void                 *L; /* [n * n] numbers */
  void                 *work;
  const LitheMemoryOps *memory;
} LitheMGCoarsest; /* owner: src/mg/coarsest.c */

#define LITHE_MG_SINGULAR 1e4 /* roundings */

/* Room for L, in the memory of the level */
PETSC_INTERN PetscErrorCode LitheMGCoarsestAlloc(PetscInt n, PetscBool factored, PetscBool single, const LitheMemoryOps *, LitheMGCoarsest *);
/*
   A [n * n], by columns, is overwritten. The singular part has pivots below LITHE_MG_SINGULAR roundings, relative to
   the diagonal. *good: FALSE if the matrix is not finite
*/
PETSC_INTERN PetscErrorCode LitheMGCoarsestCreate(PetscInt n, PetscScalar A[], PetscBool hermitian, PetscBool single, const LitheMemoryOps *, LitheMGCoarsest *,
                                                  PetscBool *good);
PETSC_INTERN PetscErrorCode LitheMGCoarsestFree(LitheMGCoarsest *);
/* From the host to another memory */
PETSC_INTERN PetscErrorCode LitheMGCoarsestMove(LitheMGCoarsest *, const LitheMemoryOps *);

/* Room to invert a matrix on a device: two copies of the tiles of a lower triangle, see cuda/mg/inverse.cuh */
#define LITHE_MG_TILE 32

static inline size_t LitheMGInvertNumbers(PetscInt n)
{
  const size_t tiles = ((size_t)n + LITHE_MG_TILE - 1) / LITHE_MG_TILE;

  return tiles * (tiles + 1) * LITHE_MG_TILE * LITHE_MG_TILE;
}

/* 2^-e of a number between 2^e and 2^(e+1); 1 for other numbers */
static LITHE_HD inline double LitheMGScaleOf(double largest)
{
  int e;

  if (!(largest > 0) || !(largest <= (double)PETSC_MAX_REAL)) return 1;
  (void)frexp(largest, &e);
  return ldexp(1., 1 - e < 1000 ? 1 - e : 1000);
}
