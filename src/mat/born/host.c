/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The operations of MATBORN on the host: those that kernels are compared with */

#include <lithe/private/born.h>

#define BORN_CHUNK 256 /* nodes along x whose L u is held at a time */

static PetscErrorCode BornHostCreate(PetscInt64 n, PetscReal **x)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)n, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostDestroy(PetscReal **x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostZero(PetscInt64 n, PetscReal *x)
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(x, (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostCopy(PetscInt64 n, const PetscReal *from, PetscReal *to)
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(to, from, (size_t)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a step */

/* L u at m nodes along x. dim and radius are constants where this is called, so that loops over them unroll */
static inline void BornStencil(const BornGrid *g, int dim, int radius, PetscInt m, const PetscReal *u, PetscReal *lu)
{
  const PetscInt64 sy = g->stride[1], sz = g->stride[2];
  PetscReal        centre = 0;

  for (int d = 0; d < dim; d++) centre += g->weight[d][0];
  for (PetscInt i = 0; i < m; i++) {
    PetscReal sum = centre * u[i];

    for (int k = 1; k <= radius; k++) {
      sum += g->weight[0][k] * (u[i - k] + u[i + k]) + g->weight[1][k] * (u[i - k * sy] + u[i + k * sy]);
      if (dim > 2) sum += g->weight[2][k] * (u[i - k * sz] + u[i + k * sz]);
    }
    lu[i] = sum;
  }
}

static void BornStencilOf(const BornGrid *g, PetscInt m, const PetscReal *u, PetscReal *lu)
{
  switch (10 * g->dim + g->radius) {
  case 21:
    BornStencil(g, 2, 1, m, u, lu);
    break;
  case 22:
    BornStencil(g, 2, 2, m, u, lu);
    break;
  case 24:
    BornStencil(g, 2, 4, m, u, lu);
    break;
  case 26:
    BornStencil(g, 2, 6, m, u, lu);
    break;
  case 31:
    BornStencil(g, 3, 1, m, u, lu);
    break;
  case 32:
    BornStencil(g, 3, 2, m, u, lu);
    break;
  case 34:
    BornStencil(g, 3, 4, m, u, lu);
    break;
  default:
    BornStencil(g, 3, 6, m, u, lu);
  }
}

/* Above a free surface u is what is below it, with the other sign */
static void BornMirror(const BornGrid *g, PetscReal *u)
{
  const int        d     = g->dim - 1;
  const PetscInt64 plane = g->stride[d];

  /* A plane, with its halo, begins this much before its first node */
  u += d > 1 ? -(PetscInt64)g->radius * (1 + g->stride[1]) : -(PetscInt64)g->radius;
  u += g->first;
  for (PetscInt64 k = 1; k <= g->radius; k++) {
    for (PetscInt64 i = 0; i < plane; i++) u[i - k * plane] = -u[i + k * plane];
  }
}

/* m nodes along x from node (i, j, k) */
static void BornStepNodes(const BornGrid *g, const BornStep *step, PetscInt i, PetscInt j, PetscInt k, PetscInt m)
{
  const PetscInt64 node = i + (PetscInt64)g->n[0] * (j + (PetscInt64)g->n[1] * k), place = g->first + i + g->stride[1] * j + g->stride[2] * k;
  const PetscBool  zero = (PetscBool)(g->surface && (g->dim == 2 ? j : k) == 0);
  const PetscReal *u = step->u + place, *V = step->V + node, *in = step->in ? step->in + node : NULL;
  const PetscReal  row = BornSponge(g, 1, j) + BornSponge(g, 2, k);
  PetscReal       *old = step->old + place, lu[BORN_CHUNK];

  BornStencilOf(g, m, u, lu);
  if (step->out) {
    for (PetscInt l = 0; l < m; l++) step->out[node + l] = lu[l];
  }
  if (in && step->image) {
    for (PetscInt l = 0; l < m; l++) step->image[node + l] += in[l] * u[l];
  }
  if (in && step->scatter) {
    for (PetscInt l = 0; l < m; l++) lu[l] += step->scatter[node + l] * in[l];
  }
  if (zero) {
    for (PetscInt l = 0; l < m; l++) old[l] = 0;
  } else {
    for (PetscInt l = 0; l < m; l++) old[l] = BornUpdate(u[l], old[l], V[l], row + BornSponge(g, 0, i + l), lu[l]);
  }
}

static PetscErrorCode BornHostStep(const BornGrid *g, const BornStep *step)
{
  PetscFunctionBegin;
  if (g->surface) BornMirror(g, step->u);
  for (PetscInt k = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      for (PetscInt i = 0; i < g->n[0]; i += BORN_CHUNK) BornStepNodes(g, step, i, j, k, PetscMin(BORN_CHUNK, g->n[0] - i));
    }
  }
  /* A stencil, an update, and two for each of the others */
  PetscCall(PetscLogFlops((PetscLogDouble)g->nodes * (1 + 3. * g->dim * g->radius + 6 + (step->image ? 2 : 0) + (step->scatter ? 2 : 0))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ points */

static PetscErrorCode BornHostInject(const BornGrid *g, const BornPoints *p, const PetscReal *V, const PetscReal *values, PetscInt64 stride, PetscReal factor,
                                     PetscReal *u, PetscReal *out)
{
  PetscFunctionBegin;
  for (PetscInt a = 0; a < p->nodes; a++) {
    const PetscInt64 node = p->node[a], i = node % g->n[0], j = node / g->n[0] % g->n[1], k = node / g->n[0] / g->n[1];
    const PetscReal  s = BornSponge(g, 0, (PetscInt)i) + BornSponge(g, 1, (PetscInt)j) + BornSponge(g, 2, (PetscInt)k);
    PetscReal        f = 0;

    for (PetscInt e = p->nodefirst[a]; e < p->nodefirst[a + 1]; e++) f += p->nodeweight[e] * values[stride * p->point[e]];
    f *= factor;
    if (out) out[node] += f;
    if (g->surface && (g->dim == 2 ? j : k) == 0) continue;
    u[g->first + i + g->stride[1] * j + g->stride[2] * k] += V[node] * f / (1 + s);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostExtract(const BornGrid *g, const BornPoints *p, const PetscReal *u, PetscReal factor, PetscReal *values, PetscInt64 stride)
{
  PetscFunctionBegin;
  for (PetscInt a = 0; a < p->points; a++) {
    PetscReal sum = 0;

    for (PetscInt e = p->first[a]; e < p->first[a + 1]; e++) {
      const PetscInt64 node = p->place[e], i = node % g->n[0], j = node / g->n[0] % g->n[1], k = node / g->n[0] / g->n[1];

      sum += p->weight[e] * u[g->first + i + g->stride[1] * j + g->stride[2] * k];
    }
    values[stride * a] = factor * sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const BornKernels BornHostKernels = {BornHostCreate, BornHostDestroy, BornHostZero, BornHostCopy, BornHostStep, BornHostInject, BornHostExtract};
