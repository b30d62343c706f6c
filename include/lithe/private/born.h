/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What MATBORN, its host loops and later its kernels share: the grid, points between nodes, and the operations that a
   sweep over time is made of, as plain data.

   The recursion, at every node, with s the sponge and V = (v dt / h[0])^2:

     new = (2 u - (1 - s) old + V (L u + extra)) / (1 + s)

   L is the star stencil of order 2 radius, times h[0]^2. Beyond the grid u is 0, so that L is symmetric. With a free surface
   new is 0 in the first plane along the last dimension, and u is odd about that plane, which keeps L symmetric, too.

   Arrays come in two shapes, in both of which x is fastest:

     grid      a number a node, without gaps: the vector of a DMDA of one process. Node (i, j, k) at i + n[0] (j + n[1] k)
     field     with a halo as wide as the stencil reaches. Node (i, j, k) at first + i + stride[1] j + stride[2] k
*/

#include <petscsys.h>
#include <lithe/private/hostdevice.h>

#define BORN_MAX_RADIUS 6

typedef struct {
  int        dim, radius;
  PetscInt   n[3];                           /* nodes; 1 where there is no such dimension */
  PetscInt64 nodes, stride[3], first, size;  /* of grid arrays; of field arrays */
  PetscReal  weight[3][BORN_MAX_RADIUS + 1]; /* of the stencil, for each dimension: the centre, the first neighbours, ... */
  PetscInt   width;                          /* nodes of the sponge at each face */
  PetscReal  damping;                        /* s at the faces */
  PetscBool  surface;                        /* the first face of the last dimension is a free surface, without a sponge */
} BornGrid;

/* s at node i of a dimension: it grows with the square of the depth in the sponge. The sum over the dimensions counts */
static LITHE_HD inline PetscReal BornSponge(const BornGrid *g, int d, PetscInt i)
{
  const PetscInt low  = g->surface && d == g->dim - 1 ? 0 : g->width - i;
  const PetscInt high = i - (g->n[d] - 1 - g->width), depth = low > high ? low : high;
  PetscReal      t;

  if (depth <= 0 || d >= g->dim) return 0;
  t = (PetscReal)depth / (PetscReal)g->width;
  return g->damping * t * t;
}

/* A step at one node, of which all sweeps are made: lu is L u with what is added to it */
static LITHE_HD inline PetscReal BornUpdate(PetscReal u, PetscReal old, PetscReal V, PetscReal s, PetscReal lu)
{
  return (2 * u - (1 - s) * old + V * lu) / (1 + s);
}

/*
   Points anywhere in the grid, each a sum over nodes: sources and receivers. Entries are stored twice, by points and, for the
   transpose, by nodes, so that both directions gather in an order of their own. Nodes are those of grid arrays.
*/
typedef struct {
  PetscInt    points, nodes;
  PetscInt   *first, *nodefirst; /* of the entries of a point, of a node; points + 1, nodes + 1 */
  PetscInt64 *place, *node;      /* the node of an entry by points; the nodes, in rising order */
  PetscInt   *point;             /* the point of an entry by nodes */
  PetscReal  *weight, *nodeweight;
} BornPoints;

/* One step, see above. Arrays that are NULL are left out */
typedef struct {
  const PetscReal *V;       /* grid */
  PetscReal       *u;       /* field; its halo is set here where there is a free surface */
  PetscReal       *old;     /* field; new replaces it */
  const PetscReal *scatter; /* grid: extra = scatter in */
  const PetscReal *in;      /* grid */
  PetscReal       *image;   /* grid: image += in u */
  PetscReal       *out;     /* grid: out = L u */
} BornStep;

/* Arrays are in memory of create(), but values at points, which are on the host */
typedef struct {
  PetscErrorCode (*create)(PetscInt64 n, PetscReal **); /* zeros */
  PetscErrorCode (*destroy)(PetscReal **);
  PetscErrorCode (*zero)(PetscInt64 n, PetscReal *);
  PetscErrorCode (*copy)(PetscInt64 n, const PetscReal *from, PetscReal *to);
  PetscErrorCode (*step)(const BornGrid *, const BornStep *);
  /* The force f = factor values[stride p] at points p: u += V f / (1 + s) at their nodes, and out += f, which may be NULL */
  PetscErrorCode (*inject)(const BornGrid *, const BornPoints *, const PetscReal *V, const PetscReal *values, PetscInt64 stride, PetscReal factor, PetscReal *u,
                           PetscReal *out);
  /* values[stride p] = factor u at points p */
  PetscErrorCode (*extract)(const BornGrid *, const BornPoints *, const PetscReal *u, PetscReal factor, PetscReal *values, PetscInt64 stride);
} BornKernels;

PETSC_INTERN const BornKernels BornHostKernels; /* src/mat/born/host.c */
