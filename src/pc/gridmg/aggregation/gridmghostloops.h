/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Loops of GridMGHostKernels that decode faces, for one type of numbers and one of codes: included several times, with

     HOST_NUMBER     float or double
     HOST_CODE       uint8_t, uint16_t or float
     HOST_VALUE(t,c) the face of a code, with the table t
     HOST_NAME(f)    the name of a function
*/

/*
   A line of cells and the neighbouring lines in y and z. Without a neighbouring line, faces are 0 and x is the line
   itself
*/
typedef struct {
  const HOST_CODE   *up[3], *down[3];
  const HOST_NUMBER *above[3], *below[3]; /* of x, in y and z */
} HOST_NAME(Line);

static LITHE_ALWAYS_INLINE void HOST_NAME(SetLine)(const GridMGOperator *op, const HOST_NUMBER *x, PetscInt j, PetscInt k, HOST_NAME(Line) * line)
{
  const GridMGGrid *g     = &op->grid;
  const HOST_CODE  *zero  = (const HOST_CODE *)op->zero;
  const PetscInt    at[3] = {0, j, k}, first = g->n[0] * (j + g->n[1] * k);

  for (int d = 0; d < 3; d++) {
    const HOST_CODE *up = (const HOST_CODE *)op->up[d], *down = (const HOST_CODE *)op->down[d];
    const PetscInt   stride = GridMGStride(g, d);

    line->up[d]    = up ? up + first : zero;
    line->down[d]  = down && (d == 0 || at[d] > 0) ? down + first - stride : zero;
    line->above[d] = d == 0 || at[d] < g->n[d] - 1 ? x + first + stride : x + first;
    line->below[d] = d == 0 || at[d] > 0 ? x + first - stride : x + first;
  }
}

/* sum_j T_ij (x_j - x_i) over the faces of cell i of a line */
static LITHE_ALWAYS_INLINE HOST_NUMBER HOST_NAME(Flux)(const HOST_NAME(Line) * l, const HOST_NUMBER *table, HOST_NUMBER xi, PetscInt i, int directions)
{
  HOST_NUMBER sum = HOST_VALUE(table, l->down[0][i]) * (l->below[0][i] - xi) + HOST_VALUE(table, l->up[0][i]) * (l->above[0][i] - xi);

  for (int d = 1; d < directions; d++) sum += HOST_VALUE(table, l->down[d][i]) * (l->below[d][i] - xi) + HOST_VALUE(table, l->up[d][i]) * (l->above[d][i] - xi);
  return sum;
}

/* For all cells of each line: statement with i, the line's arrays and FLUX */
#define HOST_LINES(directions, begin, step, ...)                                                    \
  for (PetscInt k = 0; k < g->n[2]; k++) {                                                          \
    for (PetscInt j = 0; j < g->n[1]; j++) {                                                        \
      const PetscInt     first = g->n[0] * (j + g->n[1] * k);                                       \
      const HOST_NUMBER *xl = x + first, *sl = sigma + first;                                       \
      HOST_NAME(Line) line;                                                                         \
                                                                                                    \
      HOST_NAME(SetLine)(op, x, j, k, &line);                                                       \
      for (PetscInt i = begin; i < g->n[0]; i += (step)) {                                          \
        const HOST_NUMBER ax = sl[i] * xl[i] - HOST_NAME(Flux)(&line, table, xl[i], i, directions); \
                                                                                                    \
        __VA_ARGS__;                                                                                \
      }                                                                                             \
    }                                                                                               \
  }

#define HOST_ALL(begin, step, ...)                           \
  do {                                                       \
    if (g->n[2] > 1) HOST_LINES(3, begin, step, __VA_ARGS__) \
    else HOST_LINES(2, begin, step, __VA_ARGS__)             \
  } while (0)

#define HOST_ARRAYS                     \
  const GridMGGrid  *g     = &op->grid; \
  const HOST_NUMBER *table = (const HOST_NUMBER *)op->table, *sigma = (const HOST_NUMBER *)op->sigma

LITHE_TARGET_CLONES_NARROW static void HOST_NAME(ResidualLoops)(const GridMGOperator *op, const HOST_NUMBER *b, const HOST_NUMBER *x, HOST_NUMBER *r)
{
  HOST_ARRAYS;

  if (b) HOST_ALL(0, 1, r[first + i] = b[first + i] - ax);
  else HOST_ALL(0, 1, r[first + i] = ax);
}

LITHE_TARGET_CLONES_NARROW static void HOST_NAME(ColourLoops)(const GridMGOperator *op, int colour, const HOST_NUMBER *b, HOST_NUMBER *y)
{
  const HOST_NUMBER *x = y, *dinv = (const HOST_NUMBER *)op->dinv;
  HOST_ARRAYS;

  HOST_ALL((j + k + colour) & 1, 2, y[first + i] += dinv[first + i] * (b[first + i] - ax));
}

/* Sums of residuals over aggregates; the list is left out */
LITHE_TARGET_CLONES_NARROW static void HOST_NAME(ResidualRestrictLoops)(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3],
                                                                        const HOST_NUMBER *b, const HOST_NUMBER *x, HOST_NUMBER *bc)
{
  const int shift = by[0] - 1;
  HOST_ARRAYS;
#define TO bc[coarse->n[0] * (j / by[1] + coarse->n[1] * (k / by[2])) + (i >> shift)]

  for (PetscInt c = 0; c < coarse->cells; c++) bc[c] = 0;
  if (op->alive) HOST_ALL(0, 1, TO += op->alive[first + i] ? b[first + i] - ax : 0);
  else HOST_ALL(0, 1, TO += b[first + i] - ax);
#undef TO
}

#undef HOST_ARRAYS
#undef HOST_ALL
#undef HOST_LINES
#undef HOST_CODE
#undef HOST_VALUE
#undef HOST_NAME
