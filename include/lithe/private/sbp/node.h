/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rows of an SBPOperator: at any node of any grid, by the tables, and the interior stencils by themselves. For host and
   device code, and for any type: included once per type (there is no include guard), with

     SBP_VALUE    the type of the arrays that the operator is applied to
     SBP_REAL     the type of its coefficients
     SBP_NAME(f)  the name that the function f gets

   defined; all three are undefined at the end.

   Notation: directions are 0 (r) and 1 (s). A pointer to a node of a line along direction d is followed along it by
   a stride. H, Q, M, d0 are defined in sbp/tables.h, without h.
*/

#include <lithe/private/sbp/tables.h>
#include <lithe/private/sbp/sbpsat.h>

/* (M(b) u)_i where no closure reaches; b and u point to node i */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPInteriorM2)(const SBP_REAL *b, PetscInt bs, const SBP_VALUE *u, PetscInt us)
{
  return (SBP_REAL)0.5 * ((b[-bs] + b[0]) * (u[0] - u[-us]) + (b[0] + b[bs]) * (u[0] - u[us]));
}

static SBP_INLINE SBP_VALUE SBP_NAME(SBPInteriorM4)(const SBP_REAL *b, PetscInt bs, const SBP_VALUE *u, PetscInt us)
{
  const SBP_REAL c6 = (SBP_REAL)(1.0 / 6.0), c8 = (SBP_REAL)(1.0 / 8.0), c2 = (SBP_REAL)0.5;
  const SBP_REAL near0 = c6 * (b[-2 * bs] + b[bs]) + c2 * (b[-bs] + b[0]), near1 = c6 * (b[2 * bs] + b[-bs]) + c2 * (b[bs] + b[0]);
  const SBP_REAL far0 = c6 * b[-bs] - c8 * (b[-2 * bs] + b[0]), far1 = c6 * b[bs] - c8 * (b[2 * bs] + b[0]);

  /* The row sums are 0 */
  return near0 * (u[0] - u[-us]) + near1 * (u[0] - u[us]) + far0 * (u[0] - u[-2 * us]) + far1 * (u[0] - u[2 * us]);
}

static SBP_INLINE SBP_VALUE SBP_NAME(SBPInteriorM6)(const SBP_REAL *b, PetscInt bs, const SBP_VALUE *u, PetscInt us)
{
  const SBP_REAL c40 = (SBP_REAL)(1.0 / 40.0), c10 = (SBP_REAL)(3.0 / 10.0), c17 = (SBP_REAL)(17.0 / 40.0), c20 = (SBP_REAL)(1.0 / 20.0),
                 c7 = (SBP_REAL)(7.0 / 40.0), c11 = (SBP_REAL)(11.0 / 360.0);
  const SBP_REAL one0   = c40 * (b[-3 * bs] + b[2 * bs]) + c10 * (b[-2 * bs] + b[bs]) + c17 * (b[-bs] + b[0]);
  const SBP_REAL one1   = c40 * (b[3 * bs] + b[-2 * bs]) + c10 * (b[2 * bs] + b[-bs]) + c17 * (b[bs] + b[0]);
  const SBP_REAL two0   = c10 * b[-bs] - c7 * (b[-2 * bs] + b[0]) - c20 * (b[-3 * bs] + b[bs]);
  const SBP_REAL two1   = c10 * b[bs] - c7 * (b[2 * bs] + b[0]) - c20 * (b[3 * bs] + b[-bs]);
  const SBP_REAL three0 = c11 * (b[-3 * bs] + b[0]) - c40 * (b[-2 * bs] + b[-bs]);
  const SBP_REAL three1 = c11 * (b[3 * bs] + b[0]) - c40 * (b[2 * bs] + b[bs]);

  return one0 * (u[0] - u[-us]) + one1 * (u[0] - u[us]) + two0 * (u[0] - u[-2 * us]) + two1 * (u[0] - u[2 * us]) + three0 * (u[0] - u[-3 * us]) +
         three1 * (u[0] - u[3 * us]);
}

/* (Q v)_i where no closure reaches; there (Q^T v)_i = -(Q v)_i */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPInteriorQ2)(const SBP_VALUE *v, PetscInt vs)
{
  return (SBP_REAL)0.5 * (v[vs] - v[-vs]);
}

static SBP_INLINE SBP_VALUE SBP_NAME(SBPInteriorQ4)(const SBP_VALUE *v, PetscInt vs)
{
  return (SBP_REAL)(2.0 / 3.0) * (v[vs] - v[-vs]) - (SBP_REAL)(1.0 / 12.0) * (v[2 * vs] - v[-2 * vs]);
}

static SBP_INLINE SBP_VALUE SBP_NAME(SBPInteriorQ6)(const SBP_VALUE *v, PetscInt vs)
{
  return (SBP_REAL)(3.0 / 4.0) * (v[vs] - v[-vs]) - (SBP_REAL)(3.0 / 20.0) * (v[2 * vs] - v[-2 * vs]) + (SBP_REAL)(1.0 / 60.0) * (v[3 * vs] - v[-3 * vs]);
}

/* (M(b) u)_i, and M_ii(b), at any node i of 0, ..., n */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPNodeM)(const SBPTable *t, PetscInt n, PetscInt i, const SBP_REAL *b, PetscInt bs, const SBP_VALUE *u, PetscInt us)
{
  const PetscInt distance = i < n - i ? i : n - i;
  SBP_VALUE      sum      = 0;

  if (distance < t->rows) {
    const int row = (int)distance, width = row + t->half + 1 > t->rows ? row + t->half + 1 : t->rows;

    if (distance != i) {
      bs = -bs;
      us = -us;
    }
    for (int k = 0; k < width; k++) {
      SBP_REAL entry = 0;

      for (int l = 0; l < width; l++) entry += (SBP_REAL)t->M[row][k][l] * b[(l - row) * bs];
      sum += entry * u[(k - row) * us];
    }
  } else {
    const int half = t->half;

    for (int d = -half; d <= half; d++) {
      SBP_REAL entry = 0;

      for (int l = -half; l <= half; l++) entry += (SBP_REAL)t->m[d < 0 ? -d : d][l + half] * b[d < 0 ? -l * bs : l * bs];
      sum += entry * u[d * us];
    }
  }
  return sum;
}

static SBP_INLINE SBP_REAL SBP_NAME(SBPNodeDiagonalM)(const SBPTable *t, PetscInt n, PetscInt i, const SBP_REAL *b, PetscInt bs)
{
  const PetscInt distance = i < n - i ? i : n - i;
  SBP_REAL       entry    = 0;

  if (distance < t->rows) {
    const int row = (int)distance, width = row + t->half + 1 > t->rows ? row + t->half + 1 : t->rows;

    if (distance != i) bs = -bs;
    for (int l = 0; l < width; l++) entry += (SBP_REAL)t->M[row][row][l] * b[(l - row) * bs];
  } else {
    for (int l = -t->half; l <= t->half; l++) entry += (SBP_REAL)t->m[0][l + t->half] * b[l * bs];
  }
  return entry;
}

/* (Q u)_i */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPNodeQ)(const SBPTable *t, PetscInt n, PetscInt i, const SBP_VALUE *u, PetscInt us)
{
  SBP_VALUE sum = 0;
  int       low, high;

  SBPTableRangeQ(t, n, i, &low, &high);
  for (int d = low; d <= high; d++) sum += (SBP_REAL)SBPTableQ(t, n, i, d) * u[d * us];
  return sum;
}

/* (Q^T diag(c) u)_i; Q^T = -Q + diag(-1, 0, ..., 0, 1) */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPNodeQTranspose)(const SBPTable *t, PetscInt n, PetscInt i, const SBP_REAL *c, PetscInt cs, const SBP_VALUE *u,
                                                        PetscInt us)
{
  SBP_VALUE sum = 0;
  int       low, high;

  SBPTableRangeQ(t, n, i, &low, &high);
  for (int d = low; d <= high; d++) sum -= (SBP_REAL)SBPTableQ(t, n, i, d) * (c[d * cs] * u[d * us]);
  if (i == 0) sum -= c[0] * u[0];
  if (i == n) sum += c[0] * u[0];
  return sum;
}

/* (Q^T diag(c) (Q' u))_i: Q acts along this direction, Q' along the other one, at node j of n' + 1 and with the stride
   us2 */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPNodeMixed)(const SBPTable *t, PetscInt n, PetscInt i, PetscInt n2, PetscInt j, const SBP_REAL *c, PetscInt cs,
                                                   const SBP_VALUE *u, PetscInt us, PetscInt us2)
{
  SBP_VALUE sum = 0;
  int       low, high;

  SBPTableRangeQ(t, n, i, &low, &high);
  for (int d = low; d <= high; d++) {
    const SBP_REAL weight = (SBP_REAL)SBPTableQ(t, n, i, d) * c[d * cs];

    if (d != 0 || weight != 0) sum -= weight * SBP_NAME(SBPNodeQ)(t, n2, j, u + d * us, us2);
  }
  if (i == 0) sum -= c[0] * SBP_NAME(SBPNodeQ)(t, n2, j, u, us2);
  if (i == n) sum += c[0] * SBP_NAME(SBPNodeQ)(t, n2, j, u, us2);
  return sum;
}

/* (A u)_ij of an SBP_SAT operator at any node; u is ghosted, t the table of the order */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPNodeApply)(const SBPOperator *op, const SBPTable *t, PetscInt i, PetscInt j, const SBP_VALUE *u)
{
  const SBPGrid   *g     = &op->grid;
  const PetscInt   at[2] = {i, j}, us[2] = {1, g->ghostpitch}, cs[2] = {1, g->coefficientpitch};
  const PetscInt64 row = j - g->ghosted.start[1], column = i - g->ghosted.start[0], where = row * g->coefficientpitch + column;
  const SBP_REAL  *mixed = (const SBP_REAL *)op->coefficient[2] + where;
  SBP_VALUE        sum   = 0;

  u += row * g->ghostpitch + column;
  for (int d = 0; d < 2; d++) {
    const int       e      = 1 - d;
    const PetscInt  n      = g->n[d];
    const SBP_REAL *normal = (const SBP_REAL *)op->coefficient[d] + where;
    const SBP_REAL  weight = (SBP_REAL)(SBPTableNorm(t, g->n[e], at[e]) * g->h[e]), scale = weight / (SBP_REAL)g->h[d];

    sum += scale * SBP_NAME(SBPNodeM)(t, n, at[d], normal, cs[d], u, us[d]);
    sum += SBP_NAME(SBPNodeMixed)(t, n, at[d], g->n[e], at[e], mixed, cs[d], u, us[d], us[e]);

    /* The faces at both ends: -L^T G - G^T L + L^T H c Gamma L, where -+G = H (c d0 + mixed D L) */
    for (int end = 0; end < 2; end++) {
      const PetscInt distance = end ? n - at[d] : at[d], back = end ? distance : -distance;

      if (!g->dirichlet[2 * d + end] || distance >= t->normals) continue;
      sum += scale * (SBP_REAL)t->normal[distance] * normal[back * cs[d]] * u[back * us[d]];
      if (distance == 0) {
        const PetscInt inward = end ? -us[d] : us[d];
        SBP_VALUE      slope  = 0, along;

        for (int k = 0; k < t->normals; k++) slope += (SBP_REAL)t->normal[k] * u[k * inward];
        sum += scale * normal[0] * slope;
        along = mixed[0] * SBP_NAME(SBPNodeQ)(t, g->n[e], at[e], u, us[e]) + SBP_NAME(SBPNodeQTranspose)(t, g->n[e], at[e], mixed, cs[e], u, us[e]);
        sum += end ? -along : along;
        sum += weight * ((const SBP_REAL *)op->penalty[2 * d + end])[at[e] - g->ghosted.start[e]] * u[0];
      }
    }
  }
  return sum;
}

/* A_ij,ij of an SBP_SAT operator */
static SBP_INLINE SBP_REAL SBP_NAME(SBPNodeDiagonal)(const SBPOperator *op, const SBPTable *t, PetscInt i, PetscInt j)
{
  const SBPGrid   *g     = &op->grid;
  const PetscInt   at[2] = {i, j}, cs[2] = {1, g->coefficientpitch};
  const PetscInt64 where = (PetscInt64)(j - g->ghosted.start[1]) * g->coefficientpitch + (i - g->ghosted.start[0]);
  const SBP_REAL   mixed = ((const SBP_REAL *)op->coefficient[2])[where];
  SBP_REAL         sum   = 0;

  for (int d = 0; d < 2; d++) {
    const int       e      = 1 - d;
    const PetscInt  n      = g->n[d];
    const SBP_REAL *normal = (const SBP_REAL *)op->coefficient[d] + where;
    const SBP_REAL  weight = (SBP_REAL)(SBPTableNorm(t, g->n[e], at[e]) * g->h[e]), scale = weight / (SBP_REAL)g->h[d];
    const SBP_REAL  along = mixed * (SBP_REAL)SBPTableQ(t, g->n[e], at[e], 0);

    sum += scale * SBP_NAME(SBPNodeDiagonalM)(t, n, at[d], normal, cs[d]);
    sum += (SBP_REAL)SBPTableQ(t, n, at[d], 0) * along;
    for (int end = 0; end < 2; end++) {
      if (!g->dirichlet[2 * d + end] || (end ? n - at[d] : at[d]) != 0) continue;
      sum += 2 * scale * (SBP_REAL)t->normal[0] * normal[0];
      sum += end ? -2 * along : 2 * along;
      sum += weight * ((const SBP_REAL *)op->penalty[2 * d + end])[at[e] - g->ghosted.start[e]];
    }
  }
  return sum;
}

/* (A u)_ij of an SBP_NINE operator at any node; u is ghosted */
static SBP_INLINE SBP_VALUE SBP_NAME(SBPNodeNine)(const SBPOperator *op, PetscInt i, PetscInt j, const SBP_VALUE *u)
{
  const SBPGrid   *g  = &op->grid;
  const PetscInt   us = g->ghostpitch, cs = g->coefficientpitch;
  const PetscInt64 row = j - g->ghosted.start[1], column = i - g->ghosted.start[0], where = row * cs + column;
  const SBP_REAL  *east = (const SBP_REAL *)op->coefficient[1] + where, *north = (const SBP_REAL *)op->coefficient[2] + where;
  const SBP_REAL  *northeast = (const SBP_REAL *)op->coefficient[3] + where, *northwest = (const SBP_REAL *)op->coefficient[4] + where;
  const PetscBool  w = (PetscBool)(i > 0), e = (PetscBool)(i < g->n[0]);
  SBP_VALUE        sum;

  u += row * us + column;
  sum = ((const SBP_REAL *)op->coefficient[0])[where] * u[0];
  if (e) sum += east[0] * u[1];
  if (w) sum += east[-1] * u[-1];
  if (j < g->n[1]) {
    sum += north[0] * u[us];
    if (e) sum += northeast[0] * u[us + 1];
    if (w) sum += northwest[0] * u[us - 1];
  }
  if (j > 0) {
    sum += north[-cs] * u[-us];
    if (w) sum += northeast[-cs - 1] * u[-us - 1];
    if (e) sum += northwest[-cs + 1] * u[-us + 1];
  }
  return sum;
}

#undef SBP_VALUE
#undef SBP_REAL
#undef SBP_NAME
