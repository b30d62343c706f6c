/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What benchmarks and tutorials share: times taken in turn, matrices by name, results as JSON and as a table */

#include "problems.h"
#include <petscksp.h>

#define BENCH_ROUNDS_MAX 99
#define BENCH_NAMES_MAX  64

typedef struct {
  MPI_Comm       comm;
  PetscBool      gpu;
  PetscInt       rounds;
  PetscReal      batch;           /* seconds */
  PetscInt       size;            /* approximate rows of generated matrices; 0: each kind's own size */
  PetscLogDouble copyrate;        /* bytes/s, read and written; 0: not measured */
  FILE          *json, *markdown; /* NULL: not requested, or not on this process */
  PetscBool      first;           /* no record in json yet */
  char           jsonpath[PETSC_MAX_PATH_LEN], markdownpath[PETSC_MAX_PATH_LEN];
} Bench;

/* A text, or a number if the text is NULL */
typedef struct {
  const char *key, *text;
  double      value;
} BenchField;

/* A timed task: y from x */
typedef struct {
  PetscErrorCode (*run)(void *, Vec, Vec);
  void *ctx;
} BenchTask;

PETSC_INTERN PetscErrorCode BenchSetFromOptions(MPI_Comm, Bench *);
/* The head of the table: "| a | b |" */
PETSC_INTERN PetscErrorCode BenchOpen(Bench *, const char head[]);
PETSC_INTERN PetscErrorCode BenchWriteRecord(Bench *, PetscInt n, const BenchField[]);
PETSC_INTERN PetscErrorCode BenchClose(Bench *);

PETSC_INTERN PetscErrorCode BenchWait(const Bench *);
/* The copy rate as yardstick, optional; call before BenchOpen() */
PETSC_INTERN PetscErrorCode BenchCopyRate(Bench *);
/* Medians and minima of seconds, the batches of all tasks in turn */
PETSC_INTERN PetscErrorCode BenchTime(const Bench *, PetscInt n, const BenchTask[], Vec x, Vec y, PetscReal median[], PetscReal least[]);
PETSC_INTERN PetscErrorCode BenchProduct(void *mat, Vec, Vec);
PETSC_INTERN PetscErrorCode BenchApply(void *pc, Vec, Vec);

/* Options without prefix for one preconditioner; options of the command line are left to KSPSetFromOptions() */
PETSC_INTERN PetscErrorCode BenchSetOptions(PC, const char options[]);

/* Entries of either sign which depend only on their index */
PETSC_INTERN PetscErrorCode BenchFillVector(Vec);

/* A kind of matrix with its usual size, or a file in PETSc binary form; rhs may be NULL */
PETSC_INTERN PetscErrorCode BenchCreateSystem(const Bench *, const char name[], Mat *, Vec *rhs);
/* The kind of matrix with this name, its size and options */
PETSC_INTERN PetscErrorCode BenchGetProblem(const Bench *, const char name[], Problem *, PetscBool *known);
/* The names of -bench_cases; the caller frees the names */
PETSC_INTERN PetscErrorCode BenchGetCases(PetscInt *n, char *name[]);
PETSC_INTERN PetscErrorCode BenchGetWanted(const Bench *, const char option[], PetscInt n, const char *const known[], PetscBool wanted[]);
