/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Files in SEG-Y format, revision 0, 1 and 2, as used for surveys and velocities. One process reads or writes trace after
   trace.

   Numbers are IBM or IEEE floats. Coordinates are integers with a scalar. Depths are positive downwards.
*/

#include <petscsys.h>

typedef enum {
  SEGY_IBM  = 1,
  SEGY_IEEE = 5
} SegyFormat;

/* The header of a trace; m */
typedef struct {
  PetscInt  record;                 /* field record: a shot */
  PetscInt  trace;                  /* in the record, from 1 on */
  PetscInt  line, crossline;        /* of a velocity */
  PetscReal source[3], receiver[3]; /* x, y and depth */
} SegyTrace;

typedef struct {
  FILE      *file;
  char       path[PETSC_MAX_PATH_LEN];
  SegyFormat format;
  PetscInt   samples;
  PetscReal  interval; /* s, or km of depth: files have millionths; revision 2 has any positive number */
  PetscInt64 traces, at;
  PetscReal  largest; /* largest coordinate to write, which determines the scalar of coordinates */
  PetscBool  write;
} Segy;

PETSC_INTERN PetscErrorCode SegyOpen(const char path[], Segy *);
/* content: the first line of the text in the file; largest: the largest coordinate or depth to be written */
PETSC_INTERN PetscErrorCode SegyCreate(const char path[], const char content[], SegyFormat, PetscInt samples, PetscReal interval, PetscReal largest, Segy *);
/* The next trace; samples numbers */
PETSC_INTERN PetscErrorCode SegyRead(Segy *, SegyTrace *, PetscReal value[]);
PETSC_INTERN PetscErrorCode SegyWrite(Segy *, const SegyTrace *, const PetscReal value[]);
PETSC_INTERN PetscErrorCode SegyClose(Segy *);

/* The bits of an IBM float, and its value; writing a number which is too large is an error */
PETSC_INTERN uint32_t SegyToIBM(double);
PETSC_INTERN double   SegyFromIBM(uint32_t);
