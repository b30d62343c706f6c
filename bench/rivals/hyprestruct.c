/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Multigrid of hypre for structured grids, on the host or a device as the library was built. The matrix is symmetric and
   has 7 or 27 points on a grid. The distances of columns from the diagonal give the grid. -set "NAME: key=value ...": smg (1: SMG
   in place of PFMG), relax (0 Jacobi, 1 weighted Jacobi, 2 red and black, symmetric), rap (0: Galerkin), skip (1: relaxation
   skipped on some levels), sweeps. A later set-up is a new hierarchy.
*/

#include "rivalhypre.h"
#include <HYPRE_struct_ls.h>
#include <HYPRE_struct_mv.h>

typedef struct {
  int n[3], points, away[14]; /* the diagonal and entries before it: distances, ascending */
} Grid;

static int Compare(const void *x, const void *y)
{
  return *(const int *)x - *(const int *)y;
}

/* The entries of half a star or half a box: those before the diagonal, 3 or 13 */
static Grid FindGrid(const RivalSystem *s)
{
  Grid g = {{1, 1, 1}, 0, {0}};
  int  near;

  for (int row = 0; row < s->n; row++) {
    for (int k = s->i[row]; k < s->i[row + 1]; k++) {
      const int away = row - s->j[k];
      int       m    = 0;

      while (m < g.points && g.away[m] != away) m++;
      if (away < 0 || m < g.points) continue;
      if (g.points == 14) RivalStop("more than 27 points", "no grid");
      g.away[g.points++] = away;
    }
  }
  qsort(g.away, (size_t)g.points, sizeof(int), Compare);
  if (g.points != 4 && g.points != 14) RivalStop("neither 7 nor 27 points", "no grid");
  near   = g.points == 4 ? 2 : 3;
  g.n[0] = g.away[near];
  g.n[1] = g.away[g.points == 4 ? 3 : 9] / g.n[0];
  g.n[2] = s->n / g.n[0] / g.n[1];
  if (g.n[0] * g.n[1] * g.n[2] != s->n) RivalStop("the rows are no grid", "no grid");
  return g;
}

/* Entries of each cell together */
static double *Values(const RivalSystem *s, const Grid *g)
{
  double *values = (double *)RivalAllocate((size_t)s->n * (size_t)g->points * sizeof(double));

  memset(values, 0, (size_t)s->n * (size_t)g->points * sizeof(double));
  for (int row = 0; row < s->n; row++) {
    for (int k = s->i[row]; k < s->i[row + 1]; k++) {
      for (int m = 0; m < g->points; m++) {
        if (g->away[m] == row - s->j[k]) values[(size_t)row * (size_t)g->points + (size_t)m] = s->a[k];
      }
    }
  }
  return values;
}

static HYPRE_StructMatrix CreateMatrix(MPI_Comm comm, HYPRE_StructGrid grid, const RivalSystem *s, const Grid *g, int low[3], int high[3])
{
  double *const       host   = Values(s, g);
  double *const       values = (double *)Place(host, (size_t)s->n * (size_t)g->points * sizeof(double));
  int                 entry[14];
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix  A;

  HYPRE_StructStencilCreate(3, g->points, &stencil);
  for (int m = 0; m < g->points; m++) {
    const int nx = g->n[0], plane = nx * g->n[1];
    int       z = (g->away[m] + plane / 2) / plane, y = (g->away[m] - z * plane + plane + nx / 2) / nx - g->n[1], offset[3];

    offset[0] = -(g->away[m] - z * plane - y * nx);
    offset[1] = -y;
    offset[2] = -z;
    entry[m]  = m;
    HYPRE_StructStencilSetElement(stencil, m, offset);
  }
  HYPRE_StructMatrixCreate(comm, grid, stencil, &A);
  HYPRE_StructMatrixSetSymmetric(A, 1);
  HYPRE_StructMatrixInitialize(A);
  HYPRE_StructMatrixSetBoxValues(A, low, high, g->points, entry, values);
  HYPRE_StructMatrixAssemble(A);
  free(host);
  return A;
}

static HYPRE_StructVector CreateVector(MPI_Comm comm, HYPRE_StructGrid grid, const double values[], size_t bytes, int low[3], int high[3])
{
  HYPRE_StructVector v;

  HYPRE_StructVectorCreate(comm, grid, &v);
  HYPRE_StructVectorInitialize(v);
  HYPRE_StructVectorSetBoxValues(v, low, high, (double *)Place(values, bytes));
  HYPRE_StructVectorAssemble(v);
  return v;
}

static HYPRE_StructSolver CreatePFMG(MPI_Comm comm, const char setting[])
{
  const int          sweeps = (int)RivalNumber(setting, "sweeps", 1);
  HYPRE_StructSolver mg;

  HYPRE_StructPFMGCreate(comm, &mg);
  HYPRE_StructPFMGSetTol(mg, 0.);
  HYPRE_StructPFMGSetMaxIter(mg, 1);
  HYPRE_StructPFMGSetZeroGuess(mg);
  HYPRE_StructPFMGSetRAPType(mg, (int)RivalNumber(setting, "rap", 0));
  HYPRE_StructPFMGSetRelaxType(mg, (int)RivalNumber(setting, "relax", 1));
  HYPRE_StructPFMGSetNumPreRelax(mg, sweeps);
  HYPRE_StructPFMGSetNumPostRelax(mg, sweeps);
  HYPRE_StructPFMGSetSkipRelax(mg, (int)RivalNumber(setting, "skip", 1));
  return mg;
}

static HYPRE_StructSolver CreateSMG(MPI_Comm comm, const char setting[])
{
  HYPRE_StructSolver mg;

  HYPRE_StructSMGCreate(comm, &mg);
  HYPRE_StructSMGSetTol(mg, 0.);
  HYPRE_StructSMGSetMaxIter(mg, 1);
  HYPRE_StructSMGSetZeroGuess(mg);
  HYPRE_StructSMGSetNumPreRelax(mg, (int)RivalNumber(setting, "sweeps", 1));
  HYPRE_StructSMGSetNumPostRelax(mg, (int)RivalNumber(setting, "sweeps", 1));
  return mg;
}

static RivalResult RivalMeasure(const RivalSystem *s, const RivalOptions *opt, const char setting[])
{
  const size_t       bytes  = (size_t)s->n * sizeof(double);
  const int          smg    = RivalNumber(setting, "smg", 0) > 0;
  const Grid         g      = FindGrid(s);
  const MPI_Comm     comm   = Alone();
  int                low[3] = {0, 0, 0}, high[3] = {g.n[0] - 1, g.n[1] - 1, g.n[2] - 1};
  double             start, between, *values;
  HYPRE_StructGrid   grid;
  HYPRE_StructMatrix A;
  HYPRE_StructVector x, b, y;
  HYPRE_StructSolver solver;
  RivalResult        r = {0};

  if (strcmp(opt->krylov, "cg")) RivalStop("no such Krylov method", opt->krylov);
  Start();
  HYPRE_StructGridCreate(comm, 3, &grid);
  HYPRE_StructGridSetExtents(grid, low, high);
  HYPRE_StructGridAssemble(grid);
  A = CreateMatrix(comm, grid, s, &g, low, high);
  b = CreateVector(comm, grid, s->b, bytes, low, high);
  x = CreateVector(comm, grid, NULL, bytes, low, high);
  y = CreateVector(comm, grid, NULL, bytes, low, high);
  HYPRE_StructMatrixMatvec(1., A, b, 0., y); /* as before the other programs' first set-up */
  HYPRE_StructPCGCreate(comm, &solver);
  HYPRE_StructPCGSetTol(solver, opt->rtol);
  HYPRE_StructPCGSetMaxIter(solver, opt->iterations);
  HYPRE_StructPCGSetTwoNorm(solver, 1);
  for (int k = 0; k < opt->repeats; k++) {
    HYPRE_StructSolver mg = smg ? CreateSMG(comm, setting) : CreatePFMG(comm, setting);

    HYPRE_StructVectorSetConstantValues(x, 0.);
    start = RivalDone();
    HYPRE_StructPCGSetPrecond(solver, smg ? HYPRE_StructSMGSolve : HYPRE_StructPFMGSolve, smg ? HYPRE_StructSMGSetup : HYPRE_StructPFMGSetup, mg);
    HYPRE_StructPCGSetup(solver, A, b, x);
    between = RivalDone();
    HYPRE_StructPCGSolve(solver, A, b, x);
    RivalRecord(&r, k, start, between);
    HYPRE_StructPCGGetNumIterations(solver, &r.iterations);
    if (smg) HYPRE_StructSMGDestroy(mg);
    else HYPRE_StructPFMGDestroy(mg);
  }
  HYPRE_StructPCGDestroy(solver);
  values = (double *)Place(NULL, bytes);
  HYPRE_StructVectorGetBoxValues(x, low, high, values);
  r.x = Fetch(values, bytes);
  return r;
}

int main(int argc, char **argv)
{
  return RivalMain(argc, argv, "hypre");
}
