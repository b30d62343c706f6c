/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Loops of GridMGHostKernels that read no faces, for one type of numbers: included twice, with HOST_NUMBER and
   HOST_NAME(f)
*/

/* The contribution of the list to -A x: work[r] = sum T (x_j - x_i), for rows from <= r < to */
static void HOST_NAME(ListLoops)(const GridMGList *list, PetscInt from, PetscInt to, const HOST_NUMBER *x)
{
  const HOST_NUMBER *t    = (const HOST_NUMBER *)list->t;
  HOST_NUMBER       *work = (HOST_NUMBER *)list->work;

  for (PetscInt r = from; r < to; r++) {
    const HOST_NUMBER xi  = x[list->row[r]];
    HOST_NUMBER       sum = 0;

    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) sum += t[e] * (x[list->j[e]] - xi);
    work[r] = sum;
  }
}

/* The contribution of the list to a residual (minus 1) or a product, and the whole rows of wells */
static void HOST_NAME(ListResidualLoops)(const GridMGOperator *op, const HOST_NUMBER *b, const HOST_NUMBER *x, HOST_NUMBER *r)
{
  const GridMGList  *list  = &op->list;
  const HOST_NUMBER *sigma = (const HOST_NUMBER *)op->sigma, *work = (const HOST_NUMBER *)list->work;

  HOST_NAME(ListLoops)(list, 0, list->n, x);
  for (PetscInt l = 0; l < list->n; l++) {
    const PetscInt    i  = list->row[l];
    const HOST_NUMBER ax = (i < op->grid.cells ? 0 : sigma[i] * x[i]) - work[l];

    if (i < op->grid.cells) r[i] += b ? -ax : ax;
    else r[i] = b ? b[i] - ax : ax;
  }
}

/* The contribution of the list to sums of residuals over aggregates, and the residuals of wells */
static void HOST_NAME(ListRestrictLoops)(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], const HOST_NUMBER *b, const HOST_NUMBER *x,
                                         HOST_NUMBER *bc)
{
  const GridMGList  *list  = &op->list;
  const GridMGGrid  *g     = &op->grid;
  const HOST_NUMBER *sigma = (const HOST_NUMBER *)op->sigma, *work = (const HOST_NUMBER *)list->work;

  HOST_NAME(ListLoops)(list, 0, list->n, x);
  for (PetscInt l = 0; l < list->n; l++) {
    const PetscInt i = list->row[l], line = i / g->n[0];

    if (i >= g->cells) bc[coarse->cells + i - g->cells] = b[i] - sigma[i] * x[i] + work[l];
    else if (!op->alive || op->alive[i]) bc[i % g->n[0] / by[0] + coarse->n[0] * (line % g->n[1] / by[1] + coarse->n[1] * (line / g->n[1] / by[2]))] += work[l];
  }
}

/* x += D^-1 work on rows from .. to - 1 of the list */
static void HOST_NAME(ListAddLoops)(const GridMGOperator *op, PetscInt from, PetscInt to, HOST_NUMBER *x)
{
  const HOST_NUMBER *dinv = (const HOST_NUMBER *)op->dinv, *work = (const HOST_NUMBER *)op->list.work;

  for (PetscInt l = from; l < to; l++) x[op->list.row[l]] += dinv[op->list.row[l]] * work[l];
}

static void HOST_NAME(WellLoops)(const GridMGOperator *op, PetscBool backwards, const HOST_NUMBER *b, HOST_NUMBER *x)
{
  const GridMGList  *list  = &op->list;
  const HOST_NUMBER *sigma = (const HOST_NUMBER *)op->sigma, *dinv = (const HOST_NUMBER *)op->dinv, *work = (const HOST_NUMBER *)list->work;

  for (PetscInt w = 0; w < op->grid.wells; w++) {
    const PetscInt l = list->part[1] + (backwards ? op->grid.wells - 1 - w : w), i = list->row[l];

    HOST_NAME(ListLoops)(list, l, l + 1, x);
    x[i] += dinv[i] * (b[i] - sigma[i] * x[i] + work[l]);
  }
}

LITHE_TARGET_CLONES static void HOST_NAME(StartLoops)(const GridMGOperator *op, int colour, const HOST_NUMBER *b, HOST_NUMBER *x)
{
  const GridMGGrid  *g    = &op->grid;
  const HOST_NUMBER *dinv = (const HOST_NUMBER *)op->dinv;

  for (PetscInt l = 0; l < g->n[1] * g->n[2]; l++) {
    const PetscInt first = g->n[0] * l, odd = (l % g->n[1] + l / g->n[1] + colour) & 1;

    for (PetscInt i = first; i < first + g->n[0]; i++) x[i] = 0;
    for (PetscInt i = first + odd; i < first + g->n[0] && colour >= 0; i += 2) x[i] = dinv[i] * b[i];
  }
  for (PetscInt w = g->cells; w < g->cells + g->wells; w++) x[w] = 0;
}

static void HOST_NAME(RestrictLoops)(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], const HOST_NUMBER *r, HOST_NUMBER *b)
{
  const GridMGGrid *g = &op->grid;

  for (PetscInt c = 0; c < coarse->cells; c++) b[c] = 0;
  for (PetscInt w = 0; w < g->wells; w++) b[coarse->cells + w] = r[g->cells + w];
  for (PetscInt k = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      const PetscInt       first = g->n[0] * (j + g->n[1] * k), n = g->n[0];
      const HOST_NUMBER   *from  = r + first;
      HOST_NUMBER         *to    = b + (PetscInt)coarse->n[0] * (j / by[1] + coarse->n[1] * (k / by[2]));
      const unsigned char *alive = op->alive ? op->alive + first : NULL;

      if (alive) {
        for (PetscInt i = 0; i < n; i++) to[i / by[0]] += alive[i] ? from[i] : 0;
      } else if (by[0] == 1) {
        for (PetscInt i = 0; i < n; i++) to[i] += from[i];
      } else {
        for (PetscInt i = 0; i < n / 2; i++) to[i] += from[2 * i] + from[2 * i + 1];
        if (n % 2) to[n / 2] += from[n - 1];
      }
    }
  }
}

static void HOST_NAME(ProlongLoops)(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], double a, const HOST_NUMBER *e, HOST_NUMBER *x)
{
  const GridMGGrid *g = &op->grid;
  const HOST_NUMBER f = (HOST_NUMBER)a;

  for (PetscInt w = 0; w < g->wells; w++) x[g->cells + w] += f * e[coarse->cells + w];
  for (PetscInt k = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      const PetscInt       first = g->n[0] * (j + g->n[1] * k), n = g->n[0];
      const HOST_NUMBER   *from  = e + (PetscInt)coarse->n[0] * (j / by[1] + coarse->n[1] * (k / by[2]));
      HOST_NUMBER         *to    = x + first;
      const unsigned char *alive = op->alive ? op->alive + first : NULL;

      if (alive) {
        for (PetscInt i = 0; i < n; i++) to[i] += alive[i] ? f * from[i / by[0]] : 0;
      } else if (by[0] == 1) {
        for (PetscInt i = 0; i < n; i++) to[i] += f * from[i];
      } else {
        for (PetscInt i = 0; i < n / 2; i++) {
          const HOST_NUMBER v = f * from[i];

          to[2 * i] += v;
          to[2 * i + 1] += v;
        }
        if (n % 2) to[n - 1] += f * from[n / 2];
      }
    }
  }
}

/* Sums in double precision, in blocks of eight: a compiler can vectorise them */
LITHE_TARGET_CLONES static double HOST_NAME(DotLoops)(PetscInt n, const HOST_NUMBER *x, const HOST_NUMBER *y)
{
  double   part[8] = {0}, sum = 0;
  PetscInt i = 0;

  for (; i + 8 <= n; i += 8) {
    for (int l = 0; l < 8; l++) part[l] += (double)x[i + l] * (double)y[i + l];
  }
  for (; i < n; i++) sum += (double)x[i] * (double)y[i];
  for (int l = 0; l < 8; l++) sum += part[l];
  return sum;
}

/* x = a x + b y */
LITHE_TARGET_CLONES static void HOST_NAME(CombineLoops)(PetscInt n, double a, HOST_NUMBER *x, double b, const HOST_NUMBER *y)
{
  const HOST_NUMBER fa = (HOST_NUMBER)a, fb = (HOST_NUMBER)b;

  LITHE_INDEPENDENT
  for (PetscInt i = 0; i < n; i++) x[i] = fa * x[i] + fb * y[i];
}

/* x = S L S b; triangular: L is lower triangular */
LITHE_TARGET_CLONES static void HOST_NAME(DenseLoops)(PetscInt n, PetscBool triangular, const HOST_NUMBER *L, const HOST_NUMBER *S, const HOST_NUMBER *b,
                                                      HOST_NUMBER *x)
{
  for (PetscInt i = 0; i < n; i++) {
    const HOST_NUMBER *row     = L + (size_t)i * (size_t)n;
    const PetscInt     end     = triangular ? i + 1 : n;
    HOST_NUMBER        part[8] = {0}, sum = 0;
    PetscInt           j = 0;

    for (; j + 8 <= end; j += 8) {
      for (int l = 0; l < 8; l++) part[l] += row[j + l] * (S[j + l] * b[j + l]);
    }
    for (; j < end; j++) sum += row[j] * (S[j] * b[j]);
    for (int l = 0; l < 8; l++) sum += part[l];
    x[i] = triangular ? sum : S[i] * sum;
  }
}

/* x = S L^T y */
LITHE_TARGET_CLONES static void HOST_NAME(DenseTransposeLoops)(PetscInt n, const HOST_NUMBER *L, const HOST_NUMBER *S, const HOST_NUMBER *y, HOST_NUMBER *x)
{
  for (PetscInt i = 0; i < n; i++) x[i] = 0;
  for (PetscInt j = 0; j < n; j++) {
    const HOST_NUMBER *row = L + (size_t)j * (size_t)n, yj = y[j];

    LITHE_INDEPENDENT
    for (PetscInt i = 0; i <= j; i++) x[i] += row[i] * yj;
  }
  for (PetscInt i = 0; i < n; i++) x[i] *= S[i];
}

/* b = scale x, where x has the given stride; and x = b factors[0] factors[1] */
static void HOST_NAME(EnterLoops)(PetscInt n, int stride, const PetscReal *x, double scale, HOST_NUMBER *b)
{
  if (stride == 1) {
    for (PetscInt i = 0; i < n; i++) b[i] = (HOST_NUMBER)((double)x[i] * scale);
  } else {
    for (PetscInt i = 0; i < n; i++) b[i] = (HOST_NUMBER)((double)x[i * stride] * scale);
  }
}

static void HOST_NAME(LeaveLoops)(PetscInt n, int stride, const HOST_NUMBER *b, const double factor[2], PetscReal *x)
{
  for (PetscInt i = 0; i < n; i++) x[i * stride] = (PetscReal)((double)b[i] * factor[0] * factor[1]);
}

#undef HOST_NUMBER
#undef HOST_NAME
