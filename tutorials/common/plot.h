/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Pictures of the tutorials. A program describes the panels of a picture, with their numbers, in a file of JSON. The
   script tutorials/plot.py draws the file by matplotlib. One process
*/

#include <petscsys.h>

/* Reals of a scalar: the stride of the real parts of an array of scalars */
#define PLOT_SCALAR ((PetscInt64)(sizeof(PetscScalar) / sizeof(PetscReal)))

/* Something at a place: a point with a name, or a vertical line where y is not a number */
typedef struct {
  PetscReal x, y;
  char      name[8];
} PlotMark;

/* A field, bars or a curve, in a cell of the picture's grid. Zero and NULL: the default, or none */
typedef struct {
  int              row, column, columns; /* columns: as wide as so many, 1 by default */
  int              frame;                /* of a movie: replaces the field and the title of the same place */
  const char      *title, *xlabel, *ylabel;
  PetscReal        x[2], y[2]; /* of the edges */
  PetscBool        down;       /* y grows downwards */
  PetscBool        equal;      /* both axes have the same unit of length */
  PetscInt         nx, ny;
  const PetscReal *value; /* of the field; value (i, j) is value[i * stride[0] + j * stride[1]] */
  PetscInt64       stride[2];
  const PetscReal *coordinates; /* x and y of each value, with the strides 2 * stride[]: of a curved grid */
  const char      *label;       /* of the scale of colours, which panels with the same label share */
  const char      *colours;     /* of matplotlib */
  const char      *range;       /* "symmetric", "robust" (without the outermost 2 % of the values) or "log" */
  const char      *norm;        /* values are divided by the root mean square of all panels with this norm */
  PetscInt         nmarks;
  const PlotMark  *mark;
  PetscInt         ncurve;
  const PetscReal *curve; /* [ncurve][2], x and y */
  PetscInt         nbars;
  const PetscReal *bar; /* [nbars][4]: begin and end in x, line in y, value */
} PlotPanel;

typedef struct {
  FILE *file;
  int   panels;
  char  path[PETSC_MAX_PATH_LEN], data[PETSC_MAX_PATH_LEN];
} Plot;

PETSC_INTERN PetscErrorCode PlotOpen(const char path[], Plot *);
PETSC_INTERN PetscErrorCode PlotAdd(Plot *, const PlotPanel *);
/* Draws the picture path. If this fails, the data are kept as path.json, and the command to draw them is printed */
PETSC_INTERN PetscErrorCode PlotClose(Plot *);
/* Field and axes: of an array with n[] values along x, y and depth, the plane of the nodes "at" along dimension "fixed".
   length: of the edges in m */
PETSC_INTERN void PlotPlane(PlotPanel *, int fixed, PetscInt at, const PetscInt n[3], const PetscReal length[3], const PetscInt64 stride[3],
                            const PetscReal value[]);
