/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The host loops of SBPHostKernels for one type of numbers: included once per type (there is no include guard), with

     HOST_VALUE    the type of the input and output arrays of an operator
     HOST_REAL     the type of the coefficients
     HOST_NAME(f)  the name of the function f

   defined; all three are undefined at the end.

   A step goes through the region in strips of SBP_STRIP nodes along r, row by row: A u on the strip goes to a buffer
   that stays in the first cache; then the step uses the buffer. Nodes that a closure reaches come from sbp/node.h.
*/

#define SBP_VALUE   HOST_VALUE
#define SBP_REAL    HOST_REAL
#define SBP_NAME(f) HOST_NAME(f)
#include <lithe/private/sbp/node.h>

/* a = A u for the nodes i0 <= i < i1 of row j, which no closure of order 2 reaches */
static void HOST_NAME(SBPRow2)(const SBPOperator *op, PetscInt i0, PetscInt i1, PetscInt j, const HOST_VALUE *ghosted, HOST_VALUE *PETSC_RESTRICT a)
{
  const SBPGrid                   *g  = &op->grid;
  const PetscInt                   us = g->ghostpitch, cs = g->coefficientpitch, count = i1 - i0;
  const PetscInt64                 row = j - g->ghosted.start[1], column = i0 - g->ghosted.start[0], where = row * cs + column;
  const HOST_REAL                  rs = (HOST_REAL)(0.5 * g->h[1] / g->h[0]), sr = (HOST_REAL)(0.5 * g->h[0] / g->h[1]), quarter = (HOST_REAL)0.25;
  const HOST_VALUE *PETSC_RESTRICT u     = ghosted + row * us + column;
  const HOST_REAL *PETSC_RESTRICT  rr    = (const HOST_REAL *)op->coefficient[0] + where;
  const HOST_REAL *PETSC_RESTRICT  ss    = (const HOST_REAL *)op->coefficient[1] + where;
  const HOST_REAL *PETSC_RESTRICT  mixed = (const HOST_REAL *)op->coefficient[2] + where;
  /* The rows below and above */
  const HOST_VALUE *PETSC_RESTRICT ud = u - us, *PETSC_RESTRICT uu = u + us;
  const HOST_REAL *PETSC_RESTRICT ssd = ss - cs, *PETSC_RESTRICT ssu = ss + cs, *PETSC_RESTRICT mixedd = mixed - cs, *PETSC_RESTRICT mixedu = mixed + cs;

  for (PetscInt i = 0; i < count; i++) {
    const HOST_VALUE along  = rs * ((rr[i - 1] + rr[i]) * (u[i] - u[i - 1]) + (rr[i] + rr[i + 1]) * (u[i] - u[i + 1]));
    const HOST_VALUE across = sr * ((ssd[i] + ss[i]) * (u[i] - ud[i]) + (ss[i] + ssu[i]) * (u[i] - uu[i]));
    const HOST_VALUE first  = mixed[i - 1] * (uu[i - 1] - ud[i - 1]) - mixed[i + 1] * (uu[i + 1] - ud[i + 1]);
    const HOST_VALUE second = mixedd[i] * (ud[i + 1] - ud[i - 1]) - mixedu[i] * (uu[i + 1] - uu[i - 1]);

    a[i] = along + across + quarter * (first + second);
  }
}

/* The part missing in SBPRow2(): -G^T L of Dirichlet faces one or two nodes away */
static void HOST_NAME(SBPRow2Faces)(const SBPOperator *op, PetscInt i0, PetscInt i1, PetscInt j, const HOST_VALUE *ghosted, HOST_VALUE *a)
{
  const SBPGrid   *g  = &op->grid;
  const SBPTable  *t  = SBPTableOf(2);
  const PetscInt   us = g->ghostpitch, cs = g->coefficientpitch;
  const PetscInt64 row = j - g->ghosted.start[1];

  for (int end = 0; end < 2; end++) {
    if (g->dirichlet[end]) {
      const PetscInt  face  = end ? g->n[0] : 0;
      const HOST_REAL scale = (HOST_REAL)(g->h[1] / g->h[0]);

      for (PetscInt k = 1; k < t->normals; k++) {
        const PetscInt i = end ? face - k : k;

        if (i >= i0 && i < i1)
          a[i - i0] += scale * (HOST_REAL)t->normal[k] * ((const HOST_REAL *)op->coefficient[0])[row * cs + face - g->ghosted.start[0]] *
                       ghosted[row * us + face - g->ghosted.start[0]];
      }
    }
    if (g->dirichlet[2 + end]) {
      const PetscInt distance = end ? g->n[1] - j : j;

      if (distance < t->normals) {
        const PetscInt64                 face  = (end ? g->n[1] : 0) - g->ghosted.start[1];
        const HOST_REAL                  scale = (HOST_REAL)(t->normal[distance] * g->h[0] / g->h[1]);
        const HOST_REAL *PETSC_RESTRICT  ss    = (const HOST_REAL *)op->coefficient[1] + face * cs + i0 - g->ghosted.start[0];
        const HOST_VALUE *PETSC_RESTRICT u     = ghosted + face * us + i0 - g->ghosted.start[0];

        for (PetscInt i = 0; i < i1 - i0; i++) a[i] += scale * ss[i] * u[i];
      }
    }
  }
}

/* The same as SBPRow2() for an SBP_NINE operator, whose frame is one node wide */
static void HOST_NAME(SBPRowNine)(const SBPOperator *op, PetscInt i0, PetscInt i1, PetscInt j, const HOST_VALUE *ghosted, HOST_VALUE *PETSC_RESTRICT a)
{
  const SBPGrid                   *g  = &op->grid;
  const PetscInt                   us = g->ghostpitch, cs = g->coefficientpitch, count = i1 - i0;
  const PetscInt64                 row = j - g->ghosted.start[1], column = i0 - g->ghosted.start[0], where = row * cs + column;
  const HOST_VALUE *PETSC_RESTRICT u     = ghosted + row * us + column;
  const HOST_REAL *PETSC_RESTRICT  c     = (const HOST_REAL *)op->coefficient[0] + where;
  const HOST_REAL *PETSC_RESTRICT  east  = (const HOST_REAL *)op->coefficient[1] + where;
  const HOST_REAL *PETSC_RESTRICT  north = (const HOST_REAL *)op->coefficient[2] + where;
  const HOST_REAL *PETSC_RESTRICT  ne    = (const HOST_REAL *)op->coefficient[3] + where;
  const HOST_REAL *PETSC_RESTRICT  nw    = (const HOST_REAL *)op->coefficient[4] + where;
  const HOST_VALUE *PETSC_RESTRICT ud = u - us, *PETSC_RESTRICT uu = u + us;
  const HOST_REAL *PETSC_RESTRICT northd = north - cs, *PETSC_RESTRICT ned = ne - cs, *PETSC_RESTRICT nwd = nw - cs;

  for (PetscInt i = 0; i < count; i++) {
    const HOST_VALUE here  = c[i] * u[i] + east[i] * u[i + 1] + east[i - 1] * u[i - 1];
    const HOST_VALUE above = north[i] * uu[i] + ne[i] * uu[i + 1] + nw[i] * uu[i - 1];
    const HOST_VALUE below = northd[i] * ud[i] + ned[i - 1] * ud[i - 1] + nwd[i + 1] * ud[i + 1];

    a[i] = here + above + below;
  }
}

/*
   NOLINTBEGIN(clang-analyzer-core.*): clang does not know that orders are 2, 4 or 6, that each mode has its vectors,
   and that rows are filled before their combination
*/

/* Rows of orders 4 and 6: of the rows around row j, the products of c_rs and Q_r u are kept, and made once */
typedef struct {
  PetscInt   last; /* the newest row of kept, or PETSC_INT_MIN */
  HOST_VALUE kept[7][SBP_STRIP];
  HOST_VALUE line[SBP_STRIP + 6];
} HOST_NAME(SBPRing);

static inline void HOST_NAME(SBPRowHigh)(const int half, const SBPOperator *op, HOST_NAME(SBPRing) * ring, PetscInt i0, PetscInt i1, PetscInt j,
                                         const HOST_VALUE *ghosted, HOST_VALUE *PETSC_RESTRICT a)
{
  const SBPGrid    *g  = &op->grid;
  const SBPTable   *t  = SBPTableOf(2 * half);
  const PetscInt    us = g->ghostpitch, cs = g->coefficientpitch, count = i1 - i0;
  const PetscInt64  row = j - g->ghosted.start[1], column = i0 - g->ghosted.start[0], where = row * cs + column;
  const HOST_REAL   rs = (HOST_REAL)(g->h[1] / g->h[0]), sr = (HOST_REAL)(g->h[0] / g->h[1]);
  const HOST_VALUE *u     = ghosted + row * us + column;
  const HOST_REAL  *rr    = (const HOST_REAL *)op->coefficient[0] + where;
  const HOST_REAL  *ss    = (const HOST_REAL *)op->coefficient[1] + where;
  const HOST_REAL  *mixed = (const HOST_REAL *)op->coefficient[2] + where;
  HOST_VALUE       *line  = ring->line + half;

  /* Both directions by themselves */
  if (half == 2) {
    for (PetscInt i = 0; i < count; i++) a[i] = rs * HOST_NAME(SBPInteriorM4)(rr + i, 1, u + i, 1);
    for (PetscInt i = 0; i < count; i++) a[i] += sr * HOST_NAME(SBPInteriorM4)(ss + i, cs, u + i, us);
  } else {
    for (PetscInt i = 0; i < count; i++) a[i] = rs * HOST_NAME(SBPInteriorM6)(rr + i, 1, u + i, 1);
    for (PetscInt i = 0; i < count; i++) a[i] += sr * HOST_NAME(SBPInteriorM6)(ss + i, cs, u + i, us);
  }

  /* -Q_r c_rs Q_s u */
  if (half == 2) {
    for (PetscInt i = -half; i < count + half; i++) line[i] = mixed[i] * HOST_NAME(SBPInteriorQ4)(u + i, us);
    for (PetscInt i = 0; i < count; i++) a[i] -= HOST_NAME(SBPInteriorQ4)(line + i, 1);
  } else {
    for (PetscInt i = -half; i < count + half; i++) line[i] = mixed[i] * HOST_NAME(SBPInteriorQ6)(u + i, us);
    for (PetscInt i = 0; i < count; i++) a[i] -= HOST_NAME(SBPInteriorQ6)(line + i, 1);
  }

  /* -Q_s c_rs Q_r u */
  for (PetscInt l = ring->last < j - half ? j - half : ring->last + 1; l <= j + half; l++) {
    HOST_VALUE *PETSC_RESTRICT kept = ring->kept[l % 7];
    const HOST_VALUE          *v    = u + (l - j) * us;
    const HOST_REAL           *c    = mixed + (l - j) * cs;

    if (half == 2) {
      for (PetscInt i = 0; i < count; i++) kept[i] = c[i] * HOST_NAME(SBPInteriorQ4)(v + i, 1);
    } else {
      for (PetscInt i = 0; i < count; i++) kept[i] = c[i] * HOST_NAME(SBPInteriorQ6)(v + i, 1);
    }
    ring->last = l;
  }
  for (int d = 1; d <= half; d++) {
    const HOST_REAL   q     = (HOST_REAL)t->q[d];
    const HOST_VALUE *above = ring->kept[(j + d) % 7], *below = ring->kept[(j - d) % 7];

    for (PetscInt i = 0; i < count; i++) a[i] -= q * (above[i] - below[i]);
  }
}

/* Uses A u in a step, on count nodes: a = A u, u at the first node, and the owned arrays from place `where` on */
static void HOST_NAME(SBPCombine)(const SBPStep *step, PetscInt count, const HOST_VALUE *PETSC_RESTRICT a, const HOST_VALUE *u, PetscInt64 where)
{
  HOST_VALUE       *out = (HOST_VALUE *)step->out + where, *dout = step->dout ? (HOST_VALUE *)step->dout + where : NULL;
  const HOST_VALUE *b = step->b ? (const HOST_VALUE *)step->b + where : NULL, *d = step->d ? (const HOST_VALUE *)step->d + where : NULL,
                   *dinv = step->dinv ? (const HOST_VALUE *)step->dinv + where : NULL;
  const HOST_REAL c1 = (HOST_REAL)step->c1, c2 = (HOST_REAL)step->c2;

  switch (step->mode) {
  case SBP_APPLY:
    for (PetscInt i = 0; i < count; i++) out[i] = a[i];
    break;
  case SBP_ADD:
    for (PetscInt i = 0; i < count; i++) out[i] = b[i] + a[i];
    break;
  case SBP_RESIDUAL:
    for (PetscInt i = 0; i < count; i++) out[i] = b[i] - a[i];
    break;
  case SBP_SMOOTH:
    if (c1 == 0 && dinv && !dout) {
      for (PetscInt i = 0; i < count; i++) out[i] = u[i] + c2 * dinv[i] * (b[i] - a[i]);
    } else if (c1 != 0 && dinv && dout) {
      for (PetscInt i = 0; i < count; i++) {
        const HOST_VALUE step1 = c1 * d[i] + c2 * dinv[i] * (b[i] - a[i]);

        dout[i] = step1;
        out[i]  = u[i] + step1;
      }
    } else {
      for (PetscInt i = 0; i < count; i++) {
        HOST_VALUE step1 = c2 * (b[i] - a[i]);

        if (dinv) step1 *= dinv[i];
        if (c1 != 0) step1 += c1 * d[i];
        if (dout) dout[i] = step1;
        out[i] = u[i] + step1;
      }
    }
    break;
  }
}

/* a = scale a + d u on count nodes; u at the first node, d a coefficient */
static void HOST_NAME(SBPShift)(double scale, PetscInt count, const HOST_REAL *PETSC_RESTRICT d, const HOST_VALUE *u, HOST_VALUE *PETSC_RESTRICT a)
{
  const HOST_REAL s = (HOST_REAL)scale;

  for (PetscInt i = 0; i < count; i++) a[i] = s * a[i] + d[i] * u[i];
}

/* NOLINTEND(clang-analyzer-core.*) */

static inline HOST_VALUE HOST_NAME(SBPNode)(const SBPOperator *op, PetscInt i, PetscInt j, const HOST_VALUE *u)
{
  if (op->kind == SBP_NINE) return HOST_NAME(SBPNodeNine)(op, i, j, u);
  if (op->grid.order == 2) return HOST_NAME(SBPNodeApply)(op, &SBPTables[0], i, j, u); /* with the table's numbers compiled in */
  return HOST_NAME(SBPNodeApply)(op, SBPTableOf(op->grid.order), i, j, u);
}

static PetscErrorCode HOST_NAME(SBPStepLoops)(const SBPOperator *op, const SBPBox *region, const SBPStep *step)
{
  const SBPGrid    *g      = &op->grid;
  const SBPBox     *box    = region ? region : &g->own;
  const PetscInt    frame  = op->kind == SBP_NINE ? 1 : SBPTableOf(g->order)->rows;
  const PetscInt    end[2] = {box->start[0] + box->count[0], box->start[1] + box->count[1]};
  const HOST_VALUE *u      = (const HOST_VALUE *)step->u;
  HOST_NAME(SBPRing) *ring = NULL;
  HOST_VALUE buffer[SBP_STRIP];

  PetscFunctionBegin;
  if (op->kind != SBP_NINE && g->order > 2) PetscCall(PetscMalloc1(1, &ring));
  for (PetscInt i0 = box->start[0]; i0 < end[0]; i0 += SBP_STRIP) {
    const PetscInt i1 = PetscMin(i0 + SBP_STRIP, end[0]);
    /* The nodes between left and right are inside */
    const PetscInt left = PetscMin(PetscMax(i0, frame), i1), right = PetscMax(PetscMin(i1, g->n[0] - frame + 1), left);

    if (ring) ring->last = PETSC_INT_MIN;
    for (PetscInt j = box->start[1]; j < end[1]; j++) {
      const PetscBool inside = (PetscBool)(j >= frame && j <= g->n[1] - frame);
      const PetscInt  first = inside ? left : i1, last = inside ? right : i1;

      for (PetscInt i = i0; i < first; i++) buffer[i - i0] = HOST_NAME(SBPNode)(op, i, j, u);
      if (last > first) {
        if (op->kind == SBP_NINE) HOST_NAME(SBPRowNine)
        (op, first, last, j, u, buffer + (first - i0));
        else if (g->order == 2)
        {
          HOST_NAME(SBPRow2)
          (op, first, last, j, u, buffer + (first - i0));
          HOST_NAME(SBPRow2Faces)
          (op, first, last, j, u, buffer + (first - i0));
        }
        else if (g->order == 4) HOST_NAME(SBPRowHigh)(2, op, ring, first, last, j, u, buffer + (first - i0));
        else HOST_NAME(SBPRowHigh)(3, op, ring, first, last, j, u, buffer + (first - i0)); }
      for (PetscInt i = last; i < i1; i++) buffer[i - i0] = HOST_NAME(SBPNode)(op, i, j, u);
      if (op->kind == SBP_SHIFTED) {
        const PetscInt64 row = j - g->ghosted.start[1], column = i0 - g->ghosted.start[0];

        HOST_NAME(SBPShift)
        (op->scale, i1 - i0, (const HOST_REAL *)op->coefficient[SBP_DIAGONAL] + row * g->coefficientpitch + column, u + row * g->ghostpitch + column, buffer);
      }
      HOST_NAME(SBPCombine)
      (step, i1 - i0, buffer, u + (PetscInt64)(j - g->ghosted.start[1]) * g->ghostpitch + i0 - g->ghosted.start[0],
       (PetscInt64)(j - g->own.start[1]) * g->pitch + i0 - g->own.start[0]);
    }
  }
  PetscCall(PetscFree(ring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HOST_NAME(SBPDiagonalLoops)(const SBPOperator *op, HOST_VALUE *diagonal)
{
  const SBPGrid *g = &op->grid;

  PetscFunctionBegin;
  for (PetscInt j = g->own.start[1]; j < g->own.start[1] + g->own.count[1]; j++) {
    HOST_VALUE *to = diagonal + (PetscInt64)(j - g->own.start[1]) * g->pitch;

    if (op->kind == SBP_NINE) {
      const HOST_REAL *from = (const HOST_REAL *)op->coefficient[0] + (PetscInt64)(j - g->ghosted.start[1]) * g->coefficientpitch + g->own.start[0] -
                              g->ghosted.start[0];

      for (PetscInt i = 0; i < g->own.count[0]; i++) to[i] = from[i];
    } else if (g->order == 2) {
      for (PetscInt i = 0; i < g->own.count[0]; i++) to[i] = HOST_NAME(SBPNodeDiagonal)(op, &SBPTables[0], g->own.start[0] + i, j);
    } else {
      for (PetscInt i = 0; i < g->own.count[0]; i++) to[i] = HOST_NAME(SBPNodeDiagonal)(op, SBPTableOf(g->order), g->own.start[0] + i, j);
    }
    if (op->kind == SBP_SHIFTED) {
      const HOST_REAL *d = (const HOST_REAL *)op->coefficient[SBP_DIAGONAL] + (PetscInt64)(j - g->ghosted.start[1]) * g->coefficientpitch + g->own.start[0] -
                           g->ghosted.start[0];

      for (PetscInt i = 0; i < g->own.count[0]; i++) to[i] = (HOST_REAL)op->scale * to[i] + d[i];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rc = P^T r: along s into a line, then along r */
static PetscErrorCode HOST_NAME(SBPRestrictLoops)(const SBPGrid *fine, const SBPGrid *coarse, const HOST_VALUE *r, HOST_VALUE *rc)
{
  const HOST_REAL half  = (HOST_REAL)0.5;
  const PetscInt  first = PetscMax(2 * coarse->own.start[0] - 1, 0), last = PetscMin(2 * (coarse->own.start[0] + coarse->own.count[0]) - 1, fine->n[0]);
  HOST_VALUE     *line;

  PetscFunctionBegin;
  if (!coarse->own.count[0] || !coarse->own.count[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(last - first + 1, &line));
  for (PetscInt cj = coarse->own.start[1]; cj < coarse->own.start[1] + coarse->own.count[1]; cj++) {
    const HOST_VALUE *from = r + (PetscInt64)(2 * cj - fine->ghosted.start[1]) * fine->ghostpitch + first - fine->ghosted.start[0];
    HOST_VALUE       *to   = rc + (PetscInt64)(cj - coarse->own.start[1]) * coarse->pitch;

    for (PetscInt i = 0; i <= last - first; i++) line[i] = from[i];
    if (cj > 0) {
      for (PetscInt i = 0; i <= last - first; i++) line[i] += half * from[i - fine->ghostpitch];
    }
    if (cj < coarse->n[1]) {
      for (PetscInt i = 0; i <= last - first; i++) line[i] += half * from[i + fine->ghostpitch];
    }
    for (PetscInt ci = coarse->own.start[0]; ci < coarse->own.start[0] + coarse->own.count[0]; ci++) {
      HOST_VALUE sum = line[2 * ci - first];

      if (ci > 0) sum += half * line[2 * ci - 1 - first];
      if (ci < coarse->n[0]) sum += half * line[2 * ci + 1 - first];
      to[ci - coarse->own.start[0]] = sum;
    }
  }
  PetscCall(PetscFree(line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Weights of the coarse nodes *first, ... for fine node i; returns their number */
static inline int HOST_NAME(SBPWeights)(PetscBool cubic, PetscInt nc, PetscInt i, PetscInt *first, HOST_REAL w[4])
{
  const PetscInt ci = i / 2;

  *first = ci;
  if (i % 2 == 0) {
    w[0] = 1;
    w[1] = w[2] = w[3] = 0;
    return 1;
  }
  if (!cubic || nc < 3) {
    w[0] = w[1] = (HOST_REAL)0.5;
    w[2] = w[3] = 0;
    return 2;
  }
  if (ci == 0) {
    w[0] = (HOST_REAL)(5.0 / 16);
    w[1] = (HOST_REAL)(15.0 / 16);
    w[2] = (HOST_REAL)(-5.0 / 16);
    w[3] = (HOST_REAL)(1.0 / 16);
  } else if (ci == nc - 1) {
    *first = nc - 3;
    w[0]   = (HOST_REAL)(1.0 / 16);
    w[1]   = (HOST_REAL)(-5.0 / 16);
    w[2]   = (HOST_REAL)(15.0 / 16);
    w[3]   = (HOST_REAL)(5.0 / 16);
  } else {
    *first = ci - 1;
    w[0] = w[3] = (HOST_REAL)(-1.0 / 16);
    w[1] = w[2] = (HOST_REAL)(9.0 / 16);
  }
  return 4;
}

/* u = P e or u += P e, P bilinear or bicubic: along s into a line, then along r */
static PetscErrorCode HOST_NAME(SBPProlongLoops)(const SBPGrid *coarse, const SBPGrid *fine, PetscBool cubic, PetscBool add, const HOST_VALUE *e, HOST_VALUE *u)
{
  const PetscInt i0 = fine->own.start[0], i1 = i0 + fine->own.count[0];
  PetscInt       low, high;
  HOST_VALUE    *line;
  HOST_REAL      w[4];

  PetscFunctionBegin;
  if (!fine->own.count[0] || !fine->own.count[1]) PetscFunctionReturn(PETSC_SUCCESS);
  /* The coarse nodes that a row reads */
  {
    PetscInt first, least, most;

    (void)HOST_NAME(SBPWeights)(cubic, coarse->n[0], i0, &low, w);
    high = low;
    for (PetscInt i = i0; i < i1; i++) {
      if (i > i0 + 2 && i < i1 - 3) continue;
      least = HOST_NAME(SBPWeights)(cubic, coarse->n[0], i, &first, w);
      most  = first + least - 1;
      low   = PetscMin(low, first);
      high  = PetscMax(high, most);
    }
  }
  PetscCall(PetscMalloc1(high - low + 1, &line));
  for (PetscInt j = fine->own.start[1]; j < fine->own.start[1] + fine->own.count[1]; j++) {
    PetscInt          first;
    const int         rows = HOST_NAME(SBPWeights)(cubic, coarse->n[1], j, &first, w);
    const HOST_VALUE *from = e + (PetscInt64)(first - coarse->ghosted.start[1]) * coarse->ghostpitch + low - coarse->ghosted.start[0];
    HOST_VALUE       *to   = u + (PetscInt64)(j - fine->own.start[1]) * fine->pitch;

    if (rows == 1) {
      for (PetscInt ci = 0; ci <= high - low; ci++) line[ci] = from[ci];
    } else if (rows == 2) {
      for (PetscInt ci = 0; ci <= high - low; ci++) line[ci] = w[0] * (from[ci] + from[ci + coarse->ghostpitch]);
    } else {
      for (PetscInt ci = 0; ci <= high - low; ci++)
        line[ci] = w[0] * from[ci] + w[1] * from[ci + coarse->ghostpitch] + w[2] * from[ci + 2 * coarse->ghostpitch] + w[3] * from[ci + 3 * coarse->ghostpitch];
    }
    for (PetscInt i = i0; i < i1; i++) {
      HOST_VALUE value;
      HOST_REAL  x[4];

      if (i % 2 == 0) value = line[i / 2 - low];
      else if (!cubic) value = (HOST_REAL)0.5 * (line[i / 2 - low] + line[i / 2 + 1 - low]);
      else {
        const int count = HOST_NAME(SBPWeights)(cubic, coarse->n[0], i, &first, x);

        value = 0;
        for (int k = 0; k < count; k++) value += x[k] * line[first + k - low];
      }
      if (add) to[i - i0] += value;
      else to[i - i0] = value;
    }
  }
  PetscCall(PetscFree(line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#undef HOST_VALUE
#undef HOST_REAL
#undef HOST_NAME
