/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The order in which a device processes the rows of a triangle: by tiles of a grid, or by levels.
   lithe/private/vcrs/order.h describes both.

   E. Anderson, Y. Saad, Solving sparse triangular linear systems on parallel computers, Int. J. High Speed Comput.
   1(1), 1989 (levels); L. Lamport, The parallel execution of DO loops, Comm. ACM 17(2), 1974 (all rows of a grid on a
   tilted plane are independent of one another).
*/

#include <lithe/private/vcrs/order.h>
#include <lithe/private/machine.h>

/* The position of a row, and the row of a position */
static inline PetscInt Position(PetscInt n, PetscBool upper, PetscInt row)
{
  return upper ? n - 1 - row : row;
}

PetscErrorCode VCRSOrderDestroy(VCRSOrder **order)
{
  PetscFunctionBegin;
  if (!*order) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*order)->row));
  PetscCall(PetscFree((*order)->task));
  PetscCall(PetscFree(*order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ grids */

/* Whether a row has the same differences as another row: most rows of a grid have the differences of the row before */
static inline PetscBool HasSame(const PetscInt i[], const PetscInt j[], PetscInt row, PetscInt other)
{
  const PetscInt n = i[row + 1] - i[row], shift = row - other, *a = j + i[row], *b = j + i[other];
  PetscInt       apart = 0;

  if (i[other + 1] - i[other] != n) return PETSC_FALSE;
  for (PetscInt k = 0; k < n; k++) apart |= (a[k] - b[k]) ^ shift;
  return (PetscBool)!apart;
}

/* The differences between columns and rows; PETSC_FALSE if they are too many */
static PetscBool FindDifferences(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, VCRSOrderDifferences *found)
{
  enum {
    SLOTS = 4 * VCRS_ORDER_DIFFERENCES
  };
  int slot[SLOTS]; /* one more than an index in found, 0: free */

  for (int s = 0; s < SLOTS; s++) slot[s] = 0;
  found->n = 0;
  for (PetscInt row = 0; row < n; row++) {
    if (row && HasSame(i, j, row, row - 1)) continue;
    for (PetscInt k = i[row]; k < i[row + 1]; k++) {
      const PetscInt d = upper ? row - j[k] : j[k] - row;
      uint32_t       s = ((uint32_t)d * UINT32_C(2654435769)) >> 24;

      while (slot[s % SLOTS] && found->difference[slot[s % SLOTS] - 1] != d) s++;
      if (!slot[s % SLOTS]) {
        if (found->n == VCRS_ORDER_DIFFERENCES) return PETSC_FALSE;
        found->difference[found->n] = d;
        found->count[found->n]      = 0;
        slot[s % SLOTS]             = (int)++found->n;
      }
      found->count[slot[s % SLOTS] - 1]++;
    }
  }
  return PETSC_TRUE;
}

/* The integer not below p/q, q > 0 */
static int Ceiling(PetscInt p, PetscInt q)
{
  return (int)(p > 0 ? (p + q - 1) / q : -(-p / q));
}

/* Slopes, tile and halo of a grid whose three sizes are given; PETSC_FALSE if no tile will do */
static PetscBool ShapeGrid(const VCRSOrderDifferences *found, VCRSOrderGrid *g)
{
  PetscInt di[VCRS_ORDER_DIFFERENCES], dj[VCRS_ORDER_DIFFERENCES], dk[VCRS_ORDER_DIFFERENCES];

  g->skew = g->slant = g->rise = g->before = g->below = g->lag = g->nhalo = 0;
  for (PetscInt e = 0; e < found->n; e++) {
    VCRSOrderSplit(g, found->difference[e], &di[e], &dj[e], &dk[e]);
    /* a step along a line of two cells equals a step along the next line backwards: the two cannot be told apart */
    if (20 * PetscAbsInt(di[e]) > 9 * g->line || 20 * PetscAbsInt(dj[e]) > 9 * g->lines || dk[e] > 0) return PETSC_FALSE;
    if (dk[e] < 0) g->skew = PetscMax(g->skew, Ceiling(dj[e], -dk[e]));
  }
  for (PetscInt e = 0; e < found->n; e++) {
    dj[e] += g->skew * dk[e];
    if (dj[e] > 0) return PETSC_FALSE;
    if (dk[e] == 0 && dj[e] < 0) g->slant = PetscMax(g->slant, Ceiling(1 + di[e], -dj[e]));
  }
  for (PetscInt e = 0; e < found->n; e++) {
    if (dk[e] < 0) g->rise = PetscMax(g->rise, Ceiling(1 + di[e] + g->slant * dj[e], -dk[e]));
  }
  for (PetscInt e = 0; e < found->n; e++) {
    const PetscInt lag = -(di[e] + g->slant * dj[e] + g->rise * dk[e]);

    if (lag < 1 || lag > VCRS_ORDER_LAG) return PETSC_FALSE;
    g->lag    = PetscMax(g->lag, (int)lag);
    g->before = PetscMax(g->before, (int)-dj[e]);
    g->below  = PetscMax(g->below, (int)-dk[e]);
  }

  /* nearly square tiles wait for the fewest other tiles */
  g->height = g->planes >= 4 ? 4 : (g->planes >= 2 ? 2 : 1);
  if (g->planes >= 8 && g->lines <= 4 && !g->skew) g->height = 8;
  g->width = 32 / g->height;
  if (g->before > g->width || g->below > g->height) return PETSC_FALSE;
  for (PetscInt k = -g->below; k < g->height; k++) {
    for (PetscInt a = -g->before; a < g->width; a++) {
      PetscBool needed = PETSC_FALSE;

      if (k >= 0 && a >= 0) continue;
      for (PetscInt e = 0; e < found->n; e++)
        needed = (PetscBool)(needed || (a - dj[e] >= 0 && a - dj[e] < g->width && k - dk[e] >= 0 && k - dk[e] < g->height));
      if (!needed) continue;
      if (g->nhalo == VCRS_ORDER_HALO) return PETSC_FALSE;
      g->haloa[g->nhalo]   = (int8_t)a;
      g->halok[g->nhalo++] = (int8_t)k;
    }
  }
  g->across = (g->lines + g->skew * (g->planes - 1) + g->width - 1) / g->width;
  g->up     = (g->planes + g->height - 1) / g->height;
  return PETSC_TRUE;
}

/* Whether no entry reaches beyond the ends of lines and planes */
static PetscBool FitsGrid(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, const VCRSOrderGrid *g)
{
  PetscInt cell = 0, line = 0;                  /* of the position */
  PetscInt least[2] = {0, 0}, most[2] = {0, 0}; /* range of cells and lines with the differences of this row */

  for (PetscInt p = 0; p < n; p++) {
    const PetscInt row = Position(n, upper, p);

    if (!p || !HasSame(i, j, row, Position(n, upper, p - 1))) {
      least[0] = least[1] = 0;
      most[0]             = g->line - 1;
      most[1]             = g->lines - 1;
      for (PetscInt k = i[row]; k < i[row + 1]; k++) {
        PetscInt di, dj, dk;

        VCRSOrderSplit(g, Position(n, upper, j[k]) - p, &di, &dj, &dk);
        least[0] = PetscMax(least[0], -di);
        least[1] = PetscMax(least[1], -dj);
        most[0]  = PetscMin(most[0], g->line - 1 - di);
        most[1]  = PetscMin(most[1], g->lines - 1 - dj);
      }
    }
    if (cell < least[0] || cell > most[0] || line < least[1] || line > most[1]) return PETSC_FALSE;
    if (++cell == g->line) {
      cell = 0;
      if (++line == g->lines) line = 0;
    }
  }
  return PETSC_TRUE;
}

/*
   The best grid among candidates, whose sizes are differences: the grid with the shortest distances of entries that
   fits. Up to `most` rows may be left over. fits() is called for few grids
*/
PetscErrorCode VCRSOrderFindGrid(PetscInt n, PetscInt most, const VCRSOrderDifferences *found,
                                 PetscErrorCode (*fits)(const VCRSOrderGrid *, void *, PetscBool *), void *ctx, VCRSOrderGrid *g, PetscBool *isgrid)
{
  PetscReal done = -1.0; /* grids with larger distances have been tried */

  PetscFunctionBegin;
  *isgrid = PETSC_FALSE;
  for (int attempt = 0; attempt < 4 && !*isgrid; attempt++) {
    PetscReal     least = PETSC_MAX_REAL;
    VCRSOrderGrid best;

    for (PetscInt a = 0; a <= found->n; a++) {
      const PetscInt line = a < found->n ? -found->difference[a] : n;

      if (line < 4 || line > 1 << 30) continue;
      for (PetscInt b = 0; b <= found->n; b++) {
        const PetscInt plane = b < found->n ? -found->difference[b] : n - n % line;
        VCRSOrderGrid  candidate;
        PetscReal      distance = 0.0;

        if (plane < line || plane % line || n % plane > most || (plane > line && plane / line < 4)) continue;
        candidate.line   = line;
        candidate.lines  = plane / line;
        candidate.planes = n / plane;
        if (!ShapeGrid(found, &candidate)) continue;
        for (PetscInt e = 0; e < found->n; e++) {
          PetscInt di, dj, dk;

          VCRSOrderSplit(&candidate, found->difference[e], &di, &dj, &dk);
          distance += (PetscReal)found->count[e] * (PetscReal)(PetscAbsInt(di) + PetscAbsInt(dj) + PetscAbsInt(dk));
        }
        if (distance <= done || distance >= least) continue;
        least = distance;
        best  = candidate;
      }
    }
    if (least == PETSC_MAX_REAL) break;
    PetscCall((*fits)(&best, ctx, isgrid));
    if (*isgrid) *g = best;
    done = least;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pattern on the host */
typedef struct {
  PetscInt        n;
  const PetscInt *i, *j;
  PetscBool       upper;
} Pattern;

static PetscErrorCode FitsPattern_Private(const VCRSOrderGrid *g, void *ctx, PetscBool *fits)
{
  const Pattern *p = (const Pattern *)ctx;

  PetscFunctionBegin;
  *fits = FitsGrid(p->n, p->i, p->j, p->upper, g);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiles wave by wave; tiles without a line of a skewed grid are left out */
static PetscErrorCode OrderTiles_Private(VCRSOrder *order)
{
  const VCRSOrderGrid *g = &order->g;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->across * g->up, &order->task));
  for (PetscInt wave = 0; wave <= g->across - 1 + g->up - 1; wave++) {
    const PetscInt before = order->ntasks;

    for (PetscInt k = PetscMax(0, wave - g->across + 1); k <= PetscMin(wave, g->up - 1); k++) {
      const PetscInt firsta = (wave - k) * g->width, firstk = k * g->height, lastk = PetscMin(g->planes, firstk + g->height) - 1;

      /* a - skew k of its lines, from the least to the largest */
      if (firsta - g->skew * lastk >= g->lines || firsta + g->width - 1 - g->skew * firstk < 0) continue;
      order->task[order->ntasks++] = wave - k + g->across * k;
    }
    if (order->ntasks > before) order->nwaves++;
  }
  order->nlevels = g->line + g->slant * (g->lines - 1) + (g->rise + g->slant * g->skew) * (g->planes - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ levels */

static PetscErrorCode OrderLevels_Private(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, VCRSOrder *order)
{
  PetscInt *level, *start, ntasks = 0, p = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &level));
  for (PetscInt s = 0; s < n; s++) {
    const PetscInt row  = Position(n, upper, s);
    PetscInt       most = -1;

    for (PetscInt k = i[row]; k < i[row + 1]; k++) most = PetscMax(most, level[j[k]]);
    level[row]     = most + 1;
    order->nlevels = PetscMax(order->nlevels, most + 2);
  }

  /* rows of a level together, wide rows last: two counts per level */
  PetscCall(PetscCalloc1(2 * order->nlevels + 1, &start));
  PetscCall(PetscMalloc1(n, &order->row));
#define BIN(row) (2 * level[row] + (i[(row) + 1] - i[row] > VCRS_ORDER_WIDE ? 1 : 0))
  for (PetscInt row = 0; row < n; row++) start[BIN(row) + 1]++;
  for (PetscInt b = 0; b < 2 * order->nlevels; b++) ntasks += b % 2 ? start[b + 1] : (start[b + 1] + 31) / 32;
  PetscCall(PetscMalloc1(ntasks + 1, &order->task));
  for (PetscInt b = 0; b < 2 * order->nlevels; b++) {
    const PetscInt step = b % 2 ? 1 : 32, end = p + start[b + 1];

    for (; p < end; p += step) order->task[order->ntasks++] = p;
    p            = end;
    start[b + 1] = end;
  }
  order->task[ntasks] = n;
  for (PetscInt row = 0; row < n; row++) order->row[start[BIN(row)]++] = row;
#undef BIN
  PetscCall(PetscFree(level));
  PetscCall(PetscFree(start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSOrderCreateGrid(PetscInt64 nz, PetscInt longest, PetscBool upper, const VCRSOrderGrid *g, VCRSOrder **order)
{
  VCRSOrder *o;

  PetscFunctionBegin;
  PetscCall(PetscNew(&o));
  o->n       = g->line * g->lines * g->planes;
  o->nz      = nz;
  o->upper   = upper;
  o->grid    = PETSC_TRUE;
  o->longest = longest;
  o->g       = *g;
  PetscCall(OrderTiles_Private(o));
  *order = o;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSOrderCreate(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, PetscBool grids, VCRSOrder **order)
{
  VCRSOrder *o;

  PetscFunctionBegin;
  /* a row that waits for itself, directly or indirectly, would wait forever */
  for (PetscInt row = 0; row < n; row++) {
    for (PetscInt k = i[row]; k < i[row + 1]; k++)
      PetscCheck(upper ? j[k] > row : j[k] < row, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
                 "Row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT
                 ": substitution on a device needs a triangle with all entries strictly %s its diagonal",
                 row, j[k], upper ? "above" : "below");
  }
  PetscCall(PetscNew(&o));
  o->n     = n;
  o->nz    = i[n];
  o->upper = upper;
  for (PetscInt row = 0; row < n; row++) o->longest = PetscMax(o->longest, i[row + 1] - i[row]);
  if (grids && n >= 4 && o->longest <= VCRS_ORDER_LONGEST) {
    Pattern              pattern = {.n = n, .i = i, .j = j, .upper = upper};
    VCRSOrderDifferences found;

    if (FindDifferences(n, i, j, upper, &found)) PetscCall(VCRSOrderFindGrid(n, 0, &found, FitsPattern_Private, &pattern, &o->g, &o->grid));
  }
  if (o->grid) PetscCall(OrderTiles_Private(o));
  else PetscCall(OrderLevels_Private(n, i, j, upper, o));
  *order = o;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ time */

PetscLogDouble VCRSOrderTime(const VCRSOrder *order, PetscLogDouble bytes)
{
  const PetscLogDouble waiting = order->grid ? VCRS_ORDER_STEP * order->nlevels + VCRS_ORDER_TILE * order->nwaves : VCRS_ORDER_LEVEL * order->nlevels;
  const PetscLogDouble moving  = (order->grid ? 1.0 : VCRS_ORDER_SCATTERED) * bytes / VCRS_ORDER_RATE;

  return 1e-5 + PetscMax(waiting, moving);
}
