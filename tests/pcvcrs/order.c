/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The order of the rows of a triangle on a device: no row before its dependences, and the fewest steps.\n\n";

/* The order is private to the library, so this test is compiled with its source */
#include <lithe/private/vcrs/order.h>
#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>

typedef struct {
  PetscInt  n, *i, *j;
  PetscBool upper;
} Pattern;

static PetscErrorCode PatternCreate(PetscInt n, PetscInt most, PetscBool upper, Pattern *p)
{
  PetscFunctionBeginUser;
  p->n     = n;
  p->upper = upper;
  PetscCall(PetscMalloc2(n + 1, &p->i, most, &p->j));
  p->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells coupled with neighbours. The differences are at most one in each direction and sum to at most "sum". wrapped:
   each line continues at the end of the previous line */
static PetscErrorCode CreateGridPattern(PetscInt nx, PetscInt ny, PetscInt nz, PetscInt sum, PetscBool wrapped, PetscBool upper, Pattern *p)
{
  const PetscInt n = nx * ny * nz;

  PetscFunctionBeginUser;
  PetscCall(PatternCreate(n, 27 * n, upper, p));
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt x = row % nx, y = row / nx % ny, z = row / (nx * ny);
    PetscInt       at = p->i[row];

    for (PetscInt dz = -1; dz <= 1; dz++) {
      for (PetscInt dy = -1; dy <= 1; dy++) {
        for (PetscInt dx = -1; dx <= 1; dx++) {
          const PetscInt col = row + dx + nx * (dy + ny * dz);

          if (PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz) > sum || (upper ? col <= row : col >= row)) continue;
          if (wrapped ? col < 0 || col >= n : x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
          p->j[at++] = col;
        }
      }
    }
    p->i[row + 1] = at;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateRandomPattern(PetscInt n, PetscReal density, PetscBool upper, Pattern *p)
{
  PetscFunctionBeginUser;
  PetscCall(PatternCreate(n, n * n, upper, p));
  for (PetscInt row = 0; row < n; row++) {
    PetscInt at = p->i[row];

    for (PetscInt col = upper ? row + 1 : 0; col < (upper ? n : row); col++) {
      if (TestRandom(70, (uint64_t)row, (uint64_t)col) < density || row == n - 2) p->j[at++] = col;
    }
    p->i[row + 1] = at;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The longest chain of dependent rows */
static PetscErrorCode LongestChain(const Pattern *p, PetscInt *longest)
{
  PetscInt *chain;

  PetscFunctionBeginUser;
  *longest = 0;
  PetscCall(PetscCalloc1(p->n, &chain));
  for (PetscInt s = 0; s < p->n; s++) {
    const PetscInt row = p->upper ? p->n - 1 - s : s;

    for (PetscInt k = p->i[row]; k < p->i[row + 1]; k++) chain[row] = PetscMax(chain[row], chain[p->j[k]]);
    chain[row]++;
    *longest = PetscMax(*longest, chain[row]);
  }
  PetscCall(PetscFree(chain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each row occurs once, tasks have one level and at most a warp of rows, and dependences are in previous tasks */
static PetscErrorCode TestLevels(const Pattern *p, const char name[])
{
  VCRSOrder *order;
  PetscInt  *task, longest;

  PetscFunctionBeginUser;
  PetscCall(VCRSOrderCreate(p->n, p->i, p->j, p->upper, PETSC_FALSE, &order));
  PetscCall(LongestChain(p, &longest));
  if (WRONG(order->grid || order->nlevels != longest)) FAIL("%s: %" PetscInt_FMT " levels, not %" PetscInt_FMT, name, order->nlevels, longest);
  PetscCall(PetscMalloc1(p->n, &task));
  for (PetscInt row = 0; row < p->n; row++) task[row] = -1;
  for (PetscInt t = 0; t < order->ntasks; t++) {
    const PetscInt begin = order->task[t], end = order->task[t + 1];

    if (WRONG(end <= begin || end > begin + 32 || (t == 0 && begin) || (t + 1 == order->ntasks && end != p->n)))
      FAIL("%s: task %" PetscInt_FMT " has rows %" PetscInt_FMT " to %" PetscInt_FMT, name, t, begin, end);
    for (PetscInt k = begin; k < end; k++) {
      const PetscInt row = order->row[k];

      if (WRONG(task[row] >= 0)) FAIL("%s: row %" PetscInt_FMT " is there twice", name, row);
      if (WRONG(end > begin + 1 && p->i[row + 1] - p->i[row] > VCRS_ORDER_WIDE)) FAIL("%s: row %" PetscInt_FMT " is wide and not alone", name, row);
      task[row] = t;
      for (PetscInt e = p->i[row]; e < p->i[row + 1]; e++) {
        if (WRONG(task[p->j[e]] < 0 || task[p->j[e]] >= t)) FAIL("%s: row %" PetscInt_FMT " comes before row %" PetscInt_FMT, name, row, p->j[e]);
      }
    }
  }
  for (PetscInt row = 0; row < p->n; row++) {
    if (WRONG(task[row] < 0)) FAIL("%s: row %" PetscInt_FMT " is not there", name, row);
  }
  PetscCall(PetscFree(task));
  PetscCall(VCRSOrderDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where tiles have a row */
typedef struct {
  PetscInt task, step, a, k; /* a and k in the tile */
} Place;

/* Places in the order of the kernels */
static PetscErrorCode FindPlaces(const VCRSOrder *order, Place place[], const char name[])
{
  const VCRSOrderGrid *g = &order->g;

  PetscFunctionBeginUser;
  for (PetscInt row = 0; row < order->n; row++) place[row].task = -1;
  for (PetscInt t = 0; t < order->ntasks; t++) {
    for (PetscInt lane = 0; lane < 32; lane++) {
      const PetscInt a = lane % g->width, k = lane / g->width, gk = order->task[t] / g->across * g->height + k,
                     j = order->task[t] % g->across * g->width + a - g->skew * gk;

      if (gk < 0 || gk >= g->planes || j < 0 || j >= g->lines) continue;
      for (PetscInt i = 0; i < g->line; i++) {
        const PetscInt position = i + g->line * (j + g->lines * gk), row = order->upper ? order->n - 1 - position : position;

        if (WRONG(place[row].task >= 0)) FAIL("%s: row %" PetscInt_FMT " is in two tiles", name, row);
        place[row] = (Place){t, i + g->slant * a + g->rise * k, a, k};
      }
    }
  }
  for (PetscInt row = 0; row < order->n; row++) {
    if (WRONG(place[row].task < 0)) FAIL("%s: row %" PetscInt_FMT " is in no tile", name, row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The dependences of a row are some steps before in its tile, or in a previous tile, on a line which the tile
   follows */
static PetscErrorCode TestTiles(const Pattern *p, PetscInt steps, const char name[])
{
  VCRSOrder *order;
  Place     *place;

  PetscFunctionBeginUser;
  PetscCall(VCRSOrderCreate(p->n, p->i, p->j, p->upper, PETSC_TRUE, &order));
  if (WRONG(order->grid != (PetscBool)(steps > 0))) FAIL("%s: %s", name, order->grid ? "taken for a grid" : "not seen to be a grid");
  if (order->grid) {
    const VCRSOrderGrid *g = &order->g;

    if (WRONG(order->nlevels != steps)) FAIL("%s: %" PetscInt_FMT " steps, not %" PetscInt_FMT, name, order->nlevels, steps);
    PetscCall(PetscMalloc1(p->n, &place));
    PetscCall(FindPlaces(order, place, name));
    for (PetscInt row = 0; row < p->n; row++) {
      const Place to = place[row];

      for (PetscInt e = p->i[row]; e < p->i[row + 1]; e++) {
        const Place from = place[p->j[e]];
        PetscInt    di, dj, dk, a, k;
        PetscBool   followed = PETSC_FALSE;

        VCRSOrderSplit(g, p->upper ? row - p->j[e] : p->j[e] - row, &di, &dj, &dk);
        a = to.a + dj + g->skew * dk;
        k = to.k + dk;
        for (int h = 0; h < g->nhalo; h++) followed = (PetscBool)(followed || (g->haloa[h] == a && g->halok[h] == k));
        if (WRONG(-(di + g->slant * (dj + g->skew * dk) + g->rise * dk) > g->lag))
          FAIL("%s: row %" PetscInt_FMT " needs row %" PetscInt_FMT " too late", name, row, p->j[e]);
        if (WRONG(from.task == to.task ? from.step >= to.step || from.a != a || from.k != k : from.task > to.task || !followed))
          FAIL("%s: row %" PetscInt_FMT " does not get row %" PetscInt_FMT, name, row, p->j[e]);
      }
    }
    PetscCall(PetscFree(place));
  }
  PetscCall(VCRSOrderDestroy(&order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPattern(Pattern *p, PetscInt steps, const char name[])
{
  PetscFunctionBeginUser;
  PetscCall(TestLevels(p, name));
  PetscCall(TestTiles(p, steps, name));
  PetscCall(PetscFree2(p->i, p->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[][3] = {{100, 1, 1}, {20, 30, 1}, {9, 70, 1}, {12, 13, 14}, {16, 8, 4},
                                      {17, 9, 5},  {5, 4, 40},  {7, 40, 2}, {4, 5, 6},    {31, 6, 3}};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int u = 0; u < 2; u++) {
    const PetscBool upper = u ? PETSC_TRUE : PETSC_FALSE;
    Pattern         p;

    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
      const PetscInt nx = sizes[s][0], ny = sizes[s][1], nz = sizes[s][2];

      for (PetscInt sum = 1; sum <= 3; sum++) {
        char name[64];

        PetscCall(PetscSNPrintf(name, sizeof(name), "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", sum %" PetscInt_FMT "%s", nx, ny, nz, sum,
                                upper ? ", upper" : ""));
        PetscCall(CreateGridPattern(nx, ny, nz, sum, PETSC_FALSE, upper, &p));
        /* nx + ny + nz - 2 levels if all neighbours are along axes. Otherwise a line must be two cells behind the
           previous line, or a plane two lines behind the previous plane */
        PetscCall(
          TestPattern(&p,
                      sum == 1 ? nx + ny + nz - 2 : (sum == 2 ? nx + 2 * (ny - 1) + 3 * (nz - 1) - (ny == 1 ? nz - 1 : 0) : nx + 2 * (ny - 1) + 4 * (nz - 1)),
                      name));
      }
    }
    PetscCall(CreateGridPattern(9, 11, 8, 1, PETSC_TRUE, upper, &p));
    PetscCall(TestPattern(&p, 0, "wrapped"));
    PetscCall(CreateRandomPattern(300, 0.02, upper, &p));
    PetscCall(TestPattern(&p, 0, "random"));
    PetscCall(CreateRandomPattern(200, 0.5, upper, &p));
    PetscCall(TestPattern(&p, 0, "nearly dense"));
  }
  return TestEnd(720300, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/
