/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Markov chains in continuous time for the tutorial ctmc and the benchmark: Q^T by rows on the processes which own the
   rows, the initial distribution, and properties of the states.
*/

#include <petscts.h>

typedef struct _Chain Chain;

struct _Chain {
  char       name[256];
  PetscInt64 n, nz;      /* states, and entries of Q^T; nz may be unknown, -1 */
  Mat        A;          /* Q^T */
  Vec        p;          /* at the beginning */
  PetscInt   nlevels;    /* queue lengths 0, ..., nlevels - 1, or 0 where states have none */
  PetscInt  *level;      /* of the states of this process; NULL for the wireless channel until ChainWirelessLevels() */
  PetscInt   nlabels;    /* sets of states with a name */
  char     **label;      /* the names of the properties */
  Vec       *member;     /* 1 in a set, else 0 */
  double     lambda, mu; /* queue M/M/1/K */
};

/* A channel shared by two devices */
typedef struct {
  PetscInt  K, R; /* places of a queue; how often a frame is tried */
  PetscReal lambda, beta0, mu, pc, pe;
} Wireless;

/* The rows of Q^T of this process in one piece, in host memory or in the memory of a CUDA device */
typedef struct {
  PetscBool    device;
  PetscInt     begin, n, *i, *j; /* begin: the first row; columns are states */
  PetscScalar *a;
} ChainRows;

/* How the states are divided among processes */
typedef struct {
  PetscBool  trial; /* shares from a trial solve */
  PetscReal *part;  /* the parts of the processes, relative to the sum of all parts; NULL: equal parts */
} Shares;

PETSC_INTERN void           WirelessCount(const Wireless *, PetscInt64 *n, PetscInt64 *nz);
PETSC_INTERN PetscErrorCode ChainWireless(MPI_Comm, const Wireless *, const Shares *, Chain *);
PETSC_INTERN PetscErrorCode ChainWirelessLevels(const Wireless *, Chain *);
PETSC_INTERN PetscErrorCode ChainQueue(MPI_Comm, PetscInt K, PetscReal lambda, PetscReal mu, const Shares *, Chain *);
PETSC_INTERN void           QueueExact(const Chain *, PetscReal t, PetscReal p[]);
PETSC_INTERN PetscErrorCode ChainDestroy(Chain *);

/* Rows in one piece per process, and a chain whose MATVCRS is compressed from these rows in place */
PETSC_INTERN PetscErrorCode WirelessRowsCreate(MPI_Comm, const Wireless *, const Shares *, PetscBool device, ChainRows *);
PETSC_INTERN PetscErrorCode ChainWirelessFromRows(MPI_Comm, const Wireless *, const ChainRows *, Chain *);
PETSC_INTERN PetscErrorCode ChainRowsDestroy(ChainRows *);

/*
   Shares of -shares; the number of states, out of n, on this process; shares from the last solve of a TSUNIFORMIZATION,
   and whether these shares differ.
*/
PETSC_INTERN PetscErrorCode SharesSetFromOptions(MPI_Comm, Shares *);
PETSC_INTERN PetscErrorCode SharesGetLocal(MPI_Comm, const Shares *, PetscInt n, PetscInt *m);
PETSC_INTERN PetscErrorCode SharesFromSolve(Shares *, TS, PetscBool *others);
PETSC_INTERN PetscErrorCode SharesDestroy(Shares *);

/* Q^T from its rows; row gives the columns and values of one row, with at most "longest" entries */
typedef PetscErrorCode      ChainRowFn(void *ctx, PetscInt row, PetscInt *n, PetscInt cols[], PetscScalar values[]);
PETSC_INTERN PetscErrorCode ChainAssemble(MPI_Comm, PetscInt n, PetscInt longest, ChainRowFn *, void *ctx, const Shares *, Chain *);
