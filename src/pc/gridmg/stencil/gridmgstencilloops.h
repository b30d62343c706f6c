/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Loops of GridMGStencilHostKernels that read codes, included once for each pair of types:

     HOST_NUMBER   float or double
     HOST_CODE     int8_t, int16_t, float or double
     HOST_NAME(f)  the name of a function

   Values have GRIDMG_PARTS parts. Complex products are written out: those of the language look for infinities.
*/

/* The residual of a point, part by part; b may be NULL */
static LITHE_ALWAYS_INLINE void HOST_NAME(PointResidual)(const GridMGStencilOperator *op, const PetscInt at[3], const HOST_NUMBER *b, const HOST_NUMBER *x,
                                                         HOST_NUMBER r[])
{
  const GridMGPoints *g     = &op->grid;
  const PetscInt      i     = GridMGPointOf(g, at);
  const HOST_CODE    *code  = (const HOST_CODE *)op->code;
  const HOST_NUMBER  *sigma = (const HOST_NUMBER *)op->sigma + i * GRIDMG_PARTS, *scale = (const HOST_NUMBER *)op->scale, *xi = x + i * GRIDMG_PARTS;
  const int           from[3] = {at[0] > 0 ? -1 : 0, at[1] > 0 ? -1 : 0, at[2] > 0 ? -1 : 0};
  const int           to[3]   = {at[0] < g->n[0] - 1, at[1] < g->n[1] - 1, at[2] < g->n[2] - 1};
  HOST_NUMBER         sum[2]  = {0, 0};

  for (int dz = from[2]; dz <= to[2]; dz++) {
    for (int dy = from[1]; dy <= to[1]; dy++) {
      for (int dx = from[0]; dx <= to[0]; dx++) {
        const int          s  = g->centre + dx + 3 * dy + 9 * dz;
        const PetscInt     j  = i + dx + g->n[0] * (dy + g->n[1] * dz);
        const HOST_CODE   *c  = code + ((size_t)s * (size_t)op->pitch + (size_t)i) * GRIDMG_PARTS;
        const HOST_NUMBER *xj = x + j * GRIDMG_PARTS, both = PetscMin(scale[i], scale[j]), d = both * (xj[0] - xi[0]);

        if (s == g->centre) continue;
#if PetscDefined(USE_COMPLEX)
        {
          const HOST_NUMBER e = both * (xj[1] - xi[1]);

          sum[0] += c[0] * d - c[1] * e;
          sum[1] += c[0] * e + c[1] * d;
        }
#else
        sum[0] += c[0] * d;
#endif
      }
    }
  }
#if PetscDefined(USE_COMPLEX)
  r[0] = sigma[0] * xi[0] - sigma[1] * xi[1] + sum[0];
  r[1] = sigma[0] * xi[1] + sigma[1] * xi[0] + sum[1];
#else
  r[0] = sigma[0] * xi[0] + sum[0];
#endif
  for (int p = 0; p < GRIDMG_PARTS && b; p++) r[p] = b[i * GRIDMG_PARTS + p] - r[p];
}

static void HOST_NAME(ResidualLoops)(const GridMGStencilOperator *op, const HOST_NUMBER *b, const HOST_NUMBER *x, HOST_NUMBER *r)
{
  const GridMGPoints *g = &op->grid;
  PetscInt            at[3];

  for (at[2] = 0; at[2] < g->n[2]; at[2]++) {
    for (at[1] = 0; at[1] < g->n[1]; at[1]++) {
      for (at[0] = 0; at[0] < g->n[0]; at[0]++) HOST_NAME(PointResidual)(op, at, b, x, r + GridMGPointOf(g, at) * GRIDMG_PARTS);
    }
  }
}

/* out = x + damping factor (b - A x) on every step-th point in each direction from the first one */
static void HOST_NAME(StepLoops)(const GridMGStencilOperator *op, double damping, const PetscInt first[3], const PetscInt step[3], const HOST_NUMBER *b,
                                 const HOST_NUMBER *x, HOST_NUMBER *out)
{
  const GridMGPoints *g      = &op->grid;
  const HOST_NUMBER  *factor = (const HOST_NUMBER *)op->factor, c = (HOST_NUMBER)damping;
  PetscInt            at[3];

  for (at[2] = first[2]; at[2] < g->n[2]; at[2] += step[2]) {
    for (at[1] = first[1]; at[1] < g->n[1]; at[1] += step[1]) {
      for (at[0] = first[0]; at[0] < g->n[0]; at[0] += step[0]) {
        const PetscInt     i = GridMGPointOf(g, at) * GRIDMG_PARTS;
        const HOST_NUMBER *f = factor + i;
        HOST_NUMBER        r[2];

        HOST_NAME(PointResidual)(op, at, b, x, r);
#if PetscDefined(USE_COMPLEX)
        out[i]     = x[i] + c * (f[0] * r[0] - f[1] * r[1]);
        out[i + 1] = x[i + 1] + c * (f[0] * r[1] + f[1] * r[0]);
#else
        out[i] = x[i] + c * f[0] * r[0];
#endif
      }
    }
  }
}

#undef HOST_CODE
#undef HOST_NAME
