/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Movies as animated GIF, without a library. All pictures have the same size, and pixels are indices into a palette of
   256 colours. One process */

#include <petscsys.h>

typedef struct {
  FILE *file;
  char  path[PETSC_MAX_PATH_LEN];
  int   width, height;
} Gif;

/* The movie repeats for ever */
PETSC_INTERN PetscErrorCode GifCreate(const char path[], int width, int height, unsigned char palette[256][3], Gif *);
/* A picture, shown for the given number of hundredths of a second */
PETSC_INTERN PetscErrorCode GifAdd(Gif *, int hundredths, const unsigned char pixels[]);
PETSC_INTERN PetscErrorCode GifClose(Gif *);
