/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Pictures of the tutorials: fields on regular grids, side by side, with axes and scales of colours.

   PETSc's PetscDraw draws in memory (or where -picture_draw_type says), and the picture is written as PNG. -draw_cmap
   changes the colours. A picture belongs to one process.
*/

#include <petscdraw.h>

/* Something at a place: a point with a name, or a vertical line where y is not a number */
typedef struct {
  PetscReal x, y;
  char      name[8];
} PictureMark;

typedef struct {
  const char        *title, *unit; /* of the values, next to their scale */
  const char        *xlabel, *ylabel;
  PetscInt           nx, ny;
  const PetscReal   *value;                  /* nx * ny, x fastest; NULL: white, without a scale of colours */
  PetscReal          x[2], y[2];             /* coordinates of the edges; y[0] at the bottom, y[1] at the top */
  PetscReal          range[2];               /* of the scale; if both ends are equal, the range of the values */
  PetscBool          logarithmic, isotropic; /* logarithmic: the scale; isotropic: both axes have the same unit of
                                                length */
  PetscInt           nmarks;
  const PictureMark *mark;
  PetscInt           ncurve; /* points of a line over the field */
  const PetscReal   *curve;  /* [ncurve][2] x and y */
} PicturePanel;

typedef struct {
  PetscDraw draw;
  int       width, height;
} Picture;

PETSC_INTERN PetscErrorCode PictureCreate(int width, int height, Picture *);
/* In a box in pixels from the upper left corner: left, top, width, height */
PETSC_INTERN PetscErrorCode PictureDraw(Picture *, const int box[4], const PicturePanel *);
/* Writes a .png file and gives everything back */
PETSC_INTERN PetscErrorCode PictureWrite(Picture *, const char path[]);
/* The pixels drawn until now as indices into a palette, from the upper left corner; NULL if the picture is not in
   memory. The caller frees the pixels */
PETSC_INTERN PetscErrorCode PictureGetPixels(Picture *, unsigned char palette[256][3], unsigned char **pixels);
/* A symmetric range of colours which holds 99 % of the values */
PETSC_INTERN PetscErrorCode PictureGetRange(PetscInt n, const PetscReal value[], PetscReal range[2]);
