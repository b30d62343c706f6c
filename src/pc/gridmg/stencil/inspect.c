/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What PCView(), -log_view and tests see of the levels of stencils */

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"
#include <petscviewer.h>

/* ------------------------------------------------------------ view */

PetscErrorCode PCGridMGViewStencils_Private(const PC_GridMG *mg, PetscInt k, PetscViewer viewer)
{
  const GridMGStencilOperator *op = &mg->stencils.stencil[k].op;
  char                         how[128];
  const char                  *where = "";
  PetscInt                     n[3];

  PetscFunctionBegin;
  (void)PCGridMGStencilGrid_Private(&mg->stencils.stencil[k], &op->grid, n);
  if (mg->stencils.stencil[k].shared) where = ", a part on each process";
  else if (mg->domain.whole.first == k && PCGridMGIsParallel(mg)) where = ", whole on each process, and all after it";
  if (k == mg->state.n - 1) PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse%s", mg->coarsest.singular ? ", without row sums" : ""));
  else PetscCall(PetscSNPrintf(how, sizeof(how), "stencils of %d, %d bits", op->grid.points, op->bits));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points, %s%s\n", k, n[0], n[1],
                                   n[2], how, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ operations */

GridMGFlops PCGridMGStencilFlops_Private(const PC_GridMG *mg, PetscInt level)
{
  const GridMGPoints *g   = &mg->stencils.stencil[level].op.grid;
  const double        add = PetscDefined(USE_COMPLEX) ? 2 : 1, multiply = PetscDefined(USE_COMPLEX) ? 6 : 1;
  const double        cells   = (double)g->cells;
  GridMGFlops         f       = {.cells = add * cells, .step = (multiply + 2 * add) * cells};
  double              entries = 1, parents = 1;

  for (int d = 0; d < 3; d++) {
    entries *= 3. * (double)g->n[d] - 2; /* with the diagonal */
    if (g->n[d] > 1) parents *= 1.5;     /* every second point has two parents */
  }
  f.residual = (multiply + 2 * add) * entries;
  f.transfer = (4 * parents + 2) * add * cells;
  if (mg->found.smoother == PCGRIDMG_SMOOTHER_REDBLACK) f.start = (f.residual + f.step) * (1 - 1 / (double)g->corners) + f.cells / (double)g->corners;
  else f.start = (multiply + add) * cells;
  return f;
}

/* ------------------------------------------------------------ matrices */

PetscErrorCode PCGridMGGetStencilOperator_Private(PC_GridMG *mg, PetscInt k, Mat *A)
{
  GridMGStencilLevel *l     = &mg->stencils.stencil[k];
  const PetscInt      n     = l->op.grid.cells;
  const size_t        bytes = (size_t)n * GRIDMG_PARTS * GridMGNumberBytes(mg->found.precision);
  const double        one   = 1 / mg->found.factor;
  PetscScalar        *unit, *column;
  void *const        *x = mg->stencils.one.x[k], *there; /* where the level is */

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, l->op.grid.points, NULL, A));
  PetscCall(PetscCalloc2(n, &unit, n, &column));
  PetscCall((*mg->place.kernels->memory.alloc)((size_t)n * sizeof(*unit), &there));
  for (PetscInt j = 0; j < n; j++) {
    unit[j] = 1.;
    PetscCall((*mg->place.kernels->memory.put)((size_t)n * sizeof(*unit), unit, there));
    PetscCall((*mg->stencils.kernels->largest)(&l->op, (const PetscScalar *)there, mg->application.scale));
    PetscCall((*mg->stencils.kernels->enter)(&l->op, (const PetscScalar *)there, mg->application.scale, x[0]));
    PetscCall((*mg->stencils.kernels->residual)(&l->op, NULL, x[0], x[1]));
    PetscCall((*mg->stencils.kernels->leave)(&l->op, one, mg->application.scale, x[1], (PetscScalar *)there));
    PetscCall((*mg->place.kernels->memory.get)((size_t)n * sizeof(*unit), there, column));
    for (PetscInt i = 0; i < n; i++) {
      if (column[i] != (PetscScalar)0.) PetscCall(MatSetValue(*A, i, j, column[i], INSERT_VALUES));
    }
    unit[j] = 0.;
  }
  PetscCall((*mg->place.kernels->memory.clear)(bytes, x[0]));
  PetscCall((*mg->place.kernels->memory.free)(&there));
  PetscCall(PetscFree2(unit, column));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetStencilInterpolation_Private(PC_GridMG *mg, PetscInt k, Mat *P)
{
  const GridMGPoints *fine = &mg->stencils.stencil[k].op.grid, *coarse = &mg->stencils.stencil[k + 1].op.grid;
  const size_t        weights = (size_t)fine->cells * (size_t)fine->corners;
  void               *host;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(weights * GridMGNumberBytes(mg->found.precision), (char **)&host));
  PetscCall((*mg->place.kernels->memory.get)(weights * GridMGNumberBytes(mg->found.precision), mg->stencils.stencil[k].op.weight, host));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, fine->cells, coarse->cells, fine->corners, NULL, P));
  for (PetscInt i = 0; i < fine->cells; i++) {
    const PetscInt line = i / fine->n[0], at[3] = {i % fine->n[0], line % fine->n[1], line / fine->n[1]};

    for (PetscInt c = 0; c < fine->corners; c++) {
      const PetscInt to = at[0] / 2 + (c & 1) + coarse->n[0] * (at[1] / 2 + (c >> 1 & 1) + coarse->n[1] * (at[2] / 2 + (c >> 2))), w = c * fine->cells + i;
      const double   v = mg->found.precision == GRIDMG_SINGLE ? (double)((float *)host)[w] : ((double *)host)[w];

      if (v != 0) PetscCall(MatSetValue(*P, i, to, (PetscScalar)v, INSERT_VALUES));
    }
  }
  PetscCall(PetscFree(host));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
