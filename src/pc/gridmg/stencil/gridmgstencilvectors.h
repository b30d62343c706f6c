/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Loops of GridMGStencilHostKernels without codes, for one type of numbers: included twice, with HOST_NUMBER and
   HOST_NAME(f)
*/

static void HOST_NAME(EnterLoops)(PetscInt n, const PetscReal *x, double scale, HOST_NUMBER *b)
{
  for (PetscInt i = 0; i < n; i++) b[i] = (HOST_NUMBER)(scale * (double)x[i]);
}

/* the product of both factors may overflow: they are applied one after the other */
static void HOST_NAME(LeaveLoops)(PetscInt n, const HOST_NUMBER *x, const double factor[2], PetscReal *y)
{
  for (PetscInt i = 0; i < n; i++) y[i] = (PetscReal)(factor[1] * (factor[0] * (double)x[i]));
}

/* x = c factor b on every step-th point in each direction from the first point on, 0 elsewhere */
static void HOST_NAME(StartLoops)(const GridMGStencilOperator *op, HOST_NUMBER c, const PetscInt first[3], const PetscInt step[3], const HOST_NUMBER *b,
                                  HOST_NUMBER *x)
{
  const GridMGPoints *g      = &op->grid;
  const HOST_NUMBER  *factor = (const HOST_NUMBER *)op->factor;
  PetscInt            at[3];

  for (PetscInt i = 0; i < g->cells * GRIDMG_PARTS; i++) x[i] = 0;
  if (c == 0) return;
  for (at[2] = first[2]; at[2] < g->n[2]; at[2] += step[2]) {
    for (at[1] = first[1]; at[1] < g->n[1]; at[1] += step[1]) {
      for (at[0] = first[0]; at[0] < g->n[0]; at[0] += step[0]) {
        const PetscInt i = GridMGPointOf(g, at) * GRIDMG_PARTS;

#if PetscDefined(USE_COMPLEX)
        x[i]     = c * (factor[i] * b[i] - factor[i + 1] * b[i + 1]);
        x[i + 1] = c * (factor[i] * b[i + 1] + factor[i + 1] * b[i]);
#else
        x[i] = c * factor[i] * b[i];
#endif
      }
    }
  }
}

/* Coarse point i gathers from the fine points around point 2 i */
static void HOST_NAME(RestrictLoops)(const GridMGStencilOperator *op, const GridMGPoints *coarse, const HOST_NUMBER *r, HOST_NUMBER *b)
{
  const GridMGPoints *g      = &op->grid;
  const HOST_NUMBER  *weight = (const HOST_NUMBER *)op->weight;

  for (PetscInt i = 0; i < coarse->cells; i++) {
    HOST_NUMBER sum[2] = {0, 0};
    PetscInt    to[3], at[3], fine[3];

    GridMGAt(coarse, i, to);
    for (int d = 0; d < 3; d++) at[d] = 2 * to[d];
    for (int s = 0; s < g->points; s++) {
      int      c = 0;
      PetscInt f;

      if (!GridMGNeighbour(g, at, s, fine)) continue;
      for (int d = 0; d < 3; d++) c |= (fine[d] / 2 < to[d]) << d;
      f = GridMGPointOf(g, fine);
      for (int p = 0; p < GRIDMG_PARTS; p++) sum[p] += weight[(size_t)c * (size_t)g->cells + (size_t)f] * r[f * GRIDMG_PARTS + p];
    }
    for (int p = 0; p < GRIDMG_PARTS; p++) b[i * GRIDMG_PARTS + p] = sum[p];
  }
}

static void HOST_NAME(ProlongLoops)(const GridMGStencilOperator *op, const GridMGPoints *coarse, HOST_NUMBER factor, const HOST_NUMBER *e, HOST_NUMBER *x)
{
  const GridMGPoints *g      = &op->grid;
  const HOST_NUMBER  *weight = (const HOST_NUMBER *)op->weight;

  for (PetscInt i = 0; i < g->cells; i++) {
    HOST_NUMBER sum[2] = {0, 0};
    PetscInt    at[3];

    GridMGAt(g, i, at);
    for (int c = 0; c < g->corners; c++) {
      const PetscInt    to[3] = {at[0] / 2 + (c & 1), at[1] / 2 + (c >> 1 & 1), at[2] / 2 + (c >> 2)};
      const HOST_NUMBER w     = weight[(size_t)c * (size_t)g->cells + (size_t)i];

      /* a coarse point exists for every nonzero weight */
      if (w == 0) continue;
      for (int p = 0; p < GRIDMG_PARTS; p++) sum[p] += w * e[GridMGPointOf(coarse, to) * GRIDMG_PARTS + p];
    }
    for (int p = 0; p < GRIDMG_PARTS; p++) x[i * GRIDMG_PARTS + p] += factor * sum[p];
  }
}

/* x = S L S b */
static void HOST_NAME(DenseLoops)(PetscInt n, const HOST_NUMBER *L, const HOST_NUMBER *S, const HOST_NUMBER *b, HOST_NUMBER *work, HOST_NUMBER *x)
{
  for (PetscInt i = 0; i < n; i++) {
    for (int p = 0; p < GRIDMG_PARTS; p++) work[i * GRIDMG_PARTS + p] = S[i] * b[i * GRIDMG_PARTS + p];
  }
  for (PetscInt i = 0; i < n; i++) {
    const HOST_NUMBER *row    = L + (size_t)i * (size_t)n * GRIDMG_PARTS;
    HOST_NUMBER        sum[2] = {0, 0};

    for (PetscInt j = 0; j < n; j++) {
#if PetscDefined(USE_COMPLEX)
      sum[0] += row[2 * j] * work[2 * j] - row[2 * j + 1] * work[2 * j + 1];
      sum[1] += row[2 * j] * work[2 * j + 1] + row[2 * j + 1] * work[2 * j];
#else
      sum[0] += row[j] * work[j];
#endif
    }
    for (int p = 0; p < GRIDMG_PARTS; p++) x[i * GRIDMG_PARTS + p] = S[i] * sum[p];
  }
}

#undef HOST_NUMBER
#undef HOST_NAME
