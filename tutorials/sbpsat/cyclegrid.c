/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids around the fault, and the operator on them. A grid is a function from [-1, 1]^2 to x and z, and the tensor */

#include "cycle.h"

const char *const CycleGridKinds[] = {"confocal", "box", "curved", "CycleGridKind", "CYCLE_", NULL};

/* ------------------------------------------------------------ shapes: x, z and the tensor for a shear modulus of 1 */

/*
   x = c cosh s sin r, z = c sinh s cos r is conformal: all cells are squares if those of (r, s) are. The bottom face is
   the surface up to x = c, the right face the surface beyond. At their common corner J is 0
*/
static void ConfocalNode(const CycleShape *g, PetscReal X, PetscReal Z, PetscReal at[2])
{
  const PetscReal r = PETSC_PI / 2 * X, s = g->angle * Z;

  at[0] = g->c * PetscCoshReal(s) * PetscSinReal(r);
  at[1] = X < 1 ? g->c * PetscSinhReal(s) * PetscCosReal(r) : 0;
}

static void ConfocalTensor(const CycleShape *g, PetscReal X, PetscReal Z, PetscReal c[3], PetscReal *J)
{
  const PetscReal r = PETSC_PI / 2 * X, s = g->angle * Z;

  c[0] = g->angle / (PETSC_PI / 2);
  c[1] = 1 / c[0];
  c[2] = 0;
  *J   = PETSC_PI / 4 * (g->angle / 2) * g->c * g->c * (PetscSinhReal(s) * PetscSinhReal(s) + PetscCosReal(r) * PetscCosReal(r));
}

/* far sinh(k X)/sinh(k), and its derivative; k = 0: far X */
static PetscReal Stretched(const CycleShape *g, PetscReal X)
{
  return g->stretch > 0 ? g->far * PetscSinhReal(g->stretch * X) / PetscSinhReal(g->stretch) : g->far * X;
}

static PetscReal StretchedSlope(const CycleShape *g, PetscReal X)
{
  return g->stretch > 0 ? g->far * g->stretch * PetscCoshReal(g->stretch * X) / PetscSinhReal(g->stretch) : g->far;
}

static void BoxNode(const CycleShape *g, PetscReal X, PetscReal Z, PetscReal at[2])
{
  at[0] = Stretched(g, X);
  at[1] = Stretched(g, Z);
}

static void BoxTensor(const CycleShape *g, PetscReal X, PetscReal Z, PetscReal c[3], PetscReal *J)
{
  const PetscReal xX = StretchedSlope(g, X), zZ = StretchedSlope(g, Z);

  c[0] = zZ / xX;
  c[1] = xX / zZ;
  c[2] = 0;
  *J   = xX * zZ / 4;
}

#define BEND ((PetscReal)0.1)

/* A square whose right and top faces are bent. Lines that end at the fault are not orthogonal to the fault */
static void CurvedNode(const CycleShape *g, PetscReal X, PetscReal Z, PetscReal at[2])
{
  at[0] = g->far * (X + BEND * X * X * PetscSinReal(PETSC_PI * Z));
  at[1] = g->far * (Z + BEND * Z * Z * PetscSinReal(PETSC_PI * X));
}

static void CurvedTensor(const CycleShape *g, PetscReal X, PetscReal Z, PetscReal c[3], PetscReal *J)
{
  const PetscReal xX = 1 + 2 * BEND * X * PetscSinReal(PETSC_PI * Z), xZ = BEND * PETSC_PI * X * X * PetscCosReal(PETSC_PI * Z);
  const PetscReal zZ = 1 + 2 * BEND * Z * PetscSinReal(PETSC_PI * X), zX = BEND * PETSC_PI * Z * Z * PetscCosReal(PETSC_PI * X);
  const PetscReal j = xX * zZ - xZ * zX;

  c[0] = (xZ * xZ + zZ * zZ) / j;
  c[1] = (xX * xX + zX * zX) / j;
  c[2] = -(xX * xZ + zX * zZ) / j;
  *J   = g->far * g->far * j / 4;
}

static const struct {
  void (*node)(const CycleShape *, PetscReal X, PetscReal Z, PetscReal at[2]); /* X, Z: in [0, 1] */
  /* of reference coordinates in [-1, 1] */
  void (*tensor)(const CycleShape *, PetscReal X, PetscReal Z, PetscReal c[3], PetscReal *J);
} Shapes[] = {
  {ConfocalNode, ConfocalTensor},
  {BoxNode, BoxTensor},
  {CurvedNode, CurvedTensor},
};

void CycleGridNode(const CycleShape *g, PetscInt i, PetscInt j, PetscReal at[2])
{
  (*Shapes[g->kind].node)(g, (PetscReal)i / (PetscReal)g->n[0], (PetscReal)j / (PetscReal)g->n[1], at);
}

/* ------------------------------------------------------------ sizes */

/* The nearest number of intervals that multigrid can halve until 16 are left, or nearly so */
static PetscInt Intervals(PetscReal n)
{
  PetscInt unit = 1;

  while ((PetscReal)(32 * unit) <= n) unit *= 2;
  return PetscMax(2, (PetscInt)(n / (PetscReal)unit + (PetscReal)0.5)) * unit;
}

/* The k for which the first of n cells has this length: far sinh(k/n)/sinh(k) falls in k */
static PetscReal FindStretch(PetscReal far, PetscReal cell, PetscInt n)
{
  PetscReal low = 0, high = 20;

  if (cell * (PetscReal)n >= far) return 0;
  for (int k = 0; k < 100; k++) {
    const PetscReal middle = (low + high) / 2;

    if (far * PetscSinhReal(middle / (PetscReal)n) / PetscSinhReal(middle) > cell) low = middle;
    else high = middle;
  }
  return high;
}

static PetscErrorCode ShapeFromOptions(MPI_Comm comm, const CycleLaw *law, PetscBool square, CycleShape *g)
{
  PetscInt    given = 2;
  PetscBool   sizes;
  PetscInt    side    = 0;
  const char *sides[] = {"plate", "free"};

  PetscFunctionBeginUser;
  *g = (CycleShape){.kind = square ? CYCLE_BOX : CYCLE_CONFOCAL, .order = 2, .cell = 50, .far = (PetscReal)(square ? 40e3 : 464e3), .c = (PetscReal)40e3};
  PetscOptionsBegin(comm, NULL, "The grid", NULL);
  PetscCall(PetscOptionsEnum("-grid", "the kind of the grid", NULL, CycleGridKinds, (PetscEnum)g->kind, (PetscEnum *)&g->kind, NULL));
  if (g->kind == CYCLE_BOX && !square) g->far = (PetscReal)160e3;
  if (g->kind == CYCLE_CURVED && !square) g->far = law->Wf * 2;
  PetscCall(PetscOptionsReal("-cell", "length of cells of the fault at the surface, m", NULL, g->cell, &g->cell, NULL));
  PetscCall(PetscOptionsReal("-far", "distance of the far side, m", NULL, g->far, &g->far, NULL));
  PetscCall(PetscOptionsReal("-c", "depth of the foci of the confocal grid, m", NULL, g->c, &g->c, NULL));
  PetscCall(PetscOptionsInt("-order", "of the operator", NULL, g->order, &g->order, NULL));
  PetscCall(PetscOptionsIntArray("-N", "intervals along both directions", NULL, g->n, &given, &sizes));
  PetscCall(PetscOptionsEList("-far_side", "moves with the plate, or is free of tractions", NULL, sides, 2, sides[0], &side, NULL));
  PetscOptionsEnd();
  g->plate = (PetscBool)(side == 0);
  PetscCheck(g->cell > 0 && g->far > g->cell && g->c > g->cell && g->far < PETSC_MAX_REAL, comm, PETSC_ERR_USER_INPUT,
             "-cell %g -far %g -c %g: lengths must be positive, and cells the shortest", (double)g->cell, (double)g->far, (double)g->c);
  PetscCheck(!sizes || (given == 2 && g->n[0] >= 4 && g->n[1] >= 4), comm, PETSC_ERR_USER_INPUT, "-N needs two numbers of at least 4, separated by a comma");
  if (g->kind == CYCLE_CONFOCAL) {
    /* sinh(smax) = far/c gives the depth of the far side */
    const PetscReal angle = PetscAsinhReal(g->far / g->c);

    if (!sizes) {
      g->n[0] = Intervals(g->c * PETSC_PI / 2 / g->cell);
      g->n[1] = Intervals((PetscReal)g->n[0] * angle / (PETSC_PI / 2));
    }
    g->angle = PETSC_PI / 2 * (PetscReal)g->n[1] / (PetscReal)g->n[0];
    if (sizes) g->angle = angle;
  } else {
    /* a box has the wanted cells at the surface, and at most 30 times longer ones */
    if (!sizes) g->n[0] = g->n[1] = Intervals(square || g->kind == CYCLE_CURVED ? g->far / g->cell : PetscMax(law->Wf, g->far / 3) / g->cell);
    if (!square && g->kind == CYCLE_BOX) g->stretch = FindStretch(g->far, g->cell, g->n[0]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the operator */

PetscErrorCode CycleGridFill(const CycleGrid *grid, CycleFunction *value, void *ctx, Vec v)
{
  PetscInt      start[2], count[2];
  PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(grid->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(grid->da, v, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      PetscReal at[2];

      CycleGridNode(&grid->shape, i, j, at);
      a[j][i] = (*value)(ctx, at[0], at[1]);
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(grid->da, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Modulus(void *rock, PetscReal x, PetscReal z)
{
  return CycleRockModulus((const CycleRock *)rock, x, z);
}

/* The tensor from formulas, and the worst aspect ratio of a cell, sqrt(c_rr/c_ss) in cells of the reference square */
static PetscErrorCode SetTensor(CycleGrid *grid, Vec mu)
{
  const CycleShape   *g = &grid->shape;
  PetscInt            start[2], count[2];
  PetscReal           worst = 1;
  Vec                 v[4];
  PetscScalar       **a[4];
  const PetscScalar **m;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(grid->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  for (int k = 0; k < 4; k++) {
    PetscCall(DMCreateGlobalVector(grid->da, &v[k]));
    PetscCall(DMDAVecGetArrayWrite(grid->da, v[k], &a[k]));
  }
  PetscCall(DMDAVecGetArrayRead(grid->da, mu, (void *)&m));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscReal X = (PetscReal)i / (PetscReal)g->n[0], Z = (PetscReal)j / (PetscReal)g->n[1];
      PetscReal       c[3], J, none[3], ratio;

      (*Shapes[g->kind].tensor)(g, X, Z, c, &J);
      /* J only weighs sources and norms, which a corner with J = 0 may have from its neighbour */
      if (J < PETSC_SMALL * g->c * g->c) (*Shapes[g->kind].tensor)(g, X - 1 / (PetscReal)g->n[0], Z, none, &J);
      ratio = PetscSqrtReal(c[0] / c[1]) * (PetscReal)g->n[0] / (PetscReal)g->n[1];
      worst = PetscMax(worst, PetscMax(ratio, 1 / ratio));
      for (int k = 0; k < 3; k++) a[k][j][i] = c[k] * PetscRealPart(m[j][i]);
      a[3][j][i] = J;
    }
  }
  PetscCall(DMDAVecRestoreArrayRead(grid->da, mu, (void *)&m));
  for (int k = 0; k < 4; k++) PetscCall(DMDAVecRestoreArrayWrite(grid->da, v[k], &a[k]));
  PetscCall(MatSBPSATSetTensor(grid->A, v[0], v[1], v[2], v[3]));
  for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&v[k]));
  PetscCallMPI(MPIU_Allreduce(&worst, &grid->aspect, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)grid->da)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateOperator(MPI_Comm comm, const CycleRock *rock, PetscBool square, CycleGrid *grid)
{
  const CycleShape *g = &grid->shape;
  Vec               mu;
  PetscBool         dirichlet[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, g->n[0] + 1, g->n[1] + 1, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL,
                         &grid->da));
  PetscCall(DMSetMatType(grid->da, MATSBPSAT));
  PetscCall(DMSetFromOptions(grid->da));
  PetscCall(DMSetUp(grid->da));
  PetscCall(DMCreateMatrix(grid->da, &grid->A));
  PetscCall(MatSBPSATSetOrder(grid->A, g->order));
  dirichlet[MATSBPSAT_LEFT]  = PETSC_TRUE;
  dirichlet[MATSBPSAT_RIGHT] = (PetscBool)(square || (g->plate && g->kind != CYCLE_CONFOCAL));
  dirichlet[MATSBPSAT_TOP]   = (PetscBool)(square || (g->plate && g->kind == CYCLE_CONFOCAL));
  PetscCall(MatSBPSATSetDirichlet(grid->A, dirichlet));
  PetscCall(DMCreateGlobalVector(grid->da, &mu));
  PetscCall(CycleGridFill(grid, Modulus, (void *)rock, mu));
  PetscCall(MatSBPSATSetCoefficient(grid->A, mu));
  PetscCall(SetTensor(grid, mu));
  PetscCall(VecDestroy(&mu));
  PetscCall(MatAssemblyBegin(grid->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(grid->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the fault */

/* Nodes of the left face with friction: those above Wf */
static PetscErrorCode FindFault(CycleGrid *grid, const CycleLaw *law, PetscBool square)
{
  const CycleShape *g = &grid->shape;
  PetscInt          start[2], count[2], begin;
  PetscReal         at[2], before = 0;
  Vec               vector;
  IS                face;

  PetscFunctionBeginUser;
  /* The fault of the manufactured problem has friction along the whole face */
  for (PetscInt j = 0; j <= g->n[1]; j++) {
    CycleGridNode(g, 0, j, at);
    grid->below = at[1];
    if (!square && at[1] >= law->Wf * (1 - PETSC_SQRT_MACHINE_EPSILON)) break;
    if (j > 0) {
      grid->cell[0] = j > 1 ? PetscMin(grid->cell[0], at[1] - before) : at[1] - before;
      grid->cell[1] = PetscMax(grid->cell[1], at[1] - before);
    }
    before  = at[1];
    grid->n = j + 1;
  }
  PetscCheck(grid->n >= 8, PetscObjectComm((PetscObject)grid->da), PETSC_ERR_USER_INPUT,
             "The fault has only %" PetscInt_FMT " nodes with friction: use shorter cells (-cell)", grid->n);
  PetscCall(DMDAGetCorners(grid->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  grid->first = start[1];
  grid->own   = start[0] == 0 ? PetscMax(0, PetscMin(start[1] + count[1], grid->n) - start[1]) : 0;
  PetscCall(VecCreate(PetscObjectComm((PetscObject)grid->da), &grid->fault));
  PetscCall(VecSetSizes(grid->fault, grid->own, grid->n));
  PetscCall(VecSetType(grid->fault, VECSTANDARD));
  PetscCall(DMGetGlobalVector(grid->da, &vector));
  PetscCall(VecGetOwnershipRange(vector, &begin, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, grid->own, begin, count[0], &face));
  PetscCall(VecGetOwnershipRange(grid->fault, &begin, NULL));
  {
    IS fault;

    PetscCall(ISCreateStride(PETSC_COMM_SELF, grid->own, begin, 1, &fault));
    PetscCall(VecScatterCreate(vector, face, grid->fault, fault, &grid->toface));
    PetscCall(ISDestroy(&fault));
  }
  PetscCall(ISDestroy(&face));
  PetscCall(DMRestoreGlobalVector(grid->da, &vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Depths, moduli, and weights of integrals along the fault. A source of 1/J in one line of nodes gives that line's weights times a number */
static PetscErrorCode DescribeFault(CycleGrid *grid, const CycleRock *rock)
{
  const CycleShape  *g = &grid->shape;
  PetscInt           start[2], count[2];
  PetscReal          c[3], J;
  PetscScalar        sum, **a;
  const PetscScalar *w;
  Vec                source, weights;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(grid->own, &grid->depth, grid->own, &grid->weight, grid->own, &grid->mu));
  PetscCall(DMCreateGlobalVector(grid->da, &source));
  PetscCall(VecDuplicate(source, &weights));
  PetscCall(VecSet(source, 0));
  PetscCall(VecSet(weights, 0));
  PetscCall(DMDAGetCorners(grid->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArray(grid->da, source, &a));
  for (PetscInt j = start[1]; start[0] == 0 && j < start[1] + count[1]; j++) {
    (*Shapes[g->kind].tensor)(g, 0, (PetscReal)j / (PetscReal)g->n[1], c, &J);
    a[j][0] = 1 / J;
  }
  PetscCall(DMDAVecRestoreArray(grid->da, source, &a));
  PetscCall(MatSBPSATAddSource(grid->A, source, weights));
  PetscCall(VecSum(weights, &sum));
  PetscCall(VecScatterBegin(grid->toface, weights, grid->fault, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(grid->toface, weights, grid->fault, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(grid->fault, &w));
  for (PetscInt k = 0; k < grid->own; k++) {
    PetscReal at[2];

    CycleGridNode(g, 0, grid->first + k, at);
    (*Shapes[g->kind].tensor)(g, 0, (PetscReal)(grid->first + k) / (PetscReal)g->n[1], c, &J);
    grid->depth[k]  = at[1];
    grid->mu[k]     = CycleRockModulus(rock, at[0], at[1]);
    grid->weight[k] = 2 * PetscRealPart(w[k] / sum) * PetscSqrtReal(c[0] * J);
  }
  PetscCall(VecRestoreArrayRead(grid->fault, &w));
  PetscCall(VecDestroy(&source));
  PetscCall(VecDestroy(&weights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleGridCreate(MPI_Comm comm, const CycleRock *rock, const CycleLaw *law, PetscBool square, CycleGrid *grid)
{
  PetscReal at[2];

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(grid, sizeof(*grid)));
  PetscCall(ShapeFromOptions(comm, law, square, &grid->shape));
  PetscCall(CreateOperator(comm, rock, square, grid));
  PetscCall(FindFault(grid, law, square));
  PetscCall(DescribeFault(grid, rock));
  if (grid->shape.kind == CYCLE_CONFOCAL) CycleGridNode(&grid->shape, 0, grid->shape.n[1], at);
  else at[1] = grid->shape.far;
  grid->distance = at[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleGridDestroy(CycleGrid *grid)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(grid->depth, grid->weight, grid->mu));
  PetscCall(VecScatterDestroy(&grid->toface));
  PetscCall(VecDestroy(&grid->fault));
  PetscCall(MatDestroy(&grid->A));
  PetscCall(DMDestroy(&grid->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleGridDescribe(const CycleGrid *grid, size_t size, char text[])
{
  const CycleShape *g = &grid->shape;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, size,
                          "grid %s %" PetscInt_FMT " x %" PetscInt_FMT " order %" PetscInt_FMT
                          " far %.12g c %.12g stretch %.12g angle %.12g %s nodes %" PetscInt_FMT,
                          CycleGridKinds[g->kind], g->n[0], g->n[1], g->order, (double)g->far, (double)g->c, (double)g->stretch, (double)g->angle,
                          g->plate ? "plate" : "free", grid->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleGridView(const CycleGrid *grid, MPI_Comm comm)
{
  const CycleShape *g = &grid->shape;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(comm,
                        "grid: %s, %" PetscInt_FMT " x %" PetscInt_FMT " intervals, order %" PetscInt_FMT
                        ", far side at %.4g km, %s; largest aspect ratio %.3g\n",
                        CycleGridKinds[g->kind], g->n[0], g->n[1], g->order, (double)(grid->distance / 1000), g->plate ? "moves with the plate" : "free",
                        (double)grid->aspect));
  PetscCall(PetscPrintf(comm, "fault: %" PetscInt_FMT " nodes with friction, %.4g to %.4g m apart, above %.4f km\n", grid->n, (double)grid->cell[0],
                        (double)grid->cell[1], (double)(grid->below / 1000)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
