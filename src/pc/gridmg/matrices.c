/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The levels of a PCGRIDMG as matrices and as arrays, for tests and for inspection */

#include "gridmgimpl.h"

/*
   The operator of a level as the cycle uses it, with vertices as rows, in the units of the matrix. Residuals of unit
   vectors give the columns
*/
static PetscErrorCode GetOperator_Private(PC_GridMG *mg, PetscInt k, Mat *A)
{
  GridMGLevel   *l      = &mg->level[k];
  const PetscInt n      = l->op.grid.cells + l->op.grid.wells;
  const size_t   number = GridMGNumberBytes(mg->precision);
  char          *host;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 8, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(PetscCalloc1((size_t)n * number, &host));
  for (PetscInt j = 0; j < n; j++) {
    for (int put = 1; put >= 0; put--) {
      if (mg->precision == GRIDMG_SINGLE) ((float *)(void *)host)[j] = put ? 1 : 0;
      else ((double *)(void *)host)[j] = put ? 1 : 0;
      if (!put) break;
      PetscCall((*mg->kernels->put)((size_t)n * number, host, l->x[0]));
      PetscCall((*mg->kernels->residual)(&l->op, NULL, l->x[0], l->x[1]));
      PetscCall((*mg->kernels->get)((size_t)n * number, l->x[1], host));
      for (PetscInt i = 0; i < n; i++) {
        const double v = mg->precision == GRIDMG_SINGLE ? (double)((float *)(void *)host)[i] : ((double *)(void *)host)[i];

        if (v != 0) PetscCall(MatSetValue(*A, i, j, (PetscScalar)(v / mg->factor), INSERT_VALUES));
      }
      PetscCall(PetscMemzero(host, (size_t)n * number));
    }
  }
  PetscCall(PetscFree(host));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From level k + 1 to level k */
static PetscErrorCode GetInterpolation_Private(PC_GridMG *mg, PetscInt k, Mat *P)
{
  GridMGLevel         *l    = &mg->level[k];
  const GridMGGrid    *fine = &l->op.grid, *coarse = &mg->level[k + 1].op.grid;
  const unsigned char *alive = l->op.alive;
  unsigned char       *host  = NULL;

  PetscFunctionBegin;
  if (alive) {
    PetscCall(PetscMalloc1(fine->cells, &host));
    PetscCall((*mg->kernels->get)((size_t)fine->cells, alive, host));
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, fine->cells + fine->wells, coarse->cells + coarse->wells, 1, NULL, P));
  for (PetscInt i = 0; i < fine->cells + fine->wells; i++) {
    const PetscInt line = i / fine->n[0];
    PetscInt       to   = coarse->cells + i - fine->cells;

    if (i < fine->cells) to = i % fine->n[0] / l->by[0] + coarse->n[0] * (line % fine->n[1] / l->by[1] + coarse->n[1] * (line / fine->n[1] / l->by[2]));
    if (i >= fine->cells || !host || host[i]) PetscCall(MatSetValue(*P, i, to, 1., INSERT_VALUES));
  }
  PetscCall(PetscFree(host));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ stencils */

static PetscErrorCode GetStencilOperator_Private(PC_GridMG *mg, PetscInt k, Mat *A)
{
  GridMGStencilLevel *l     = &mg->stencil[k];
  const PetscInt      n     = l->op.grid.cells;
  const size_t        bytes = (size_t)n * GRIDMG_PARTS * GridMGNumberBytes(mg->precision);
  const double        one   = 1 / mg->factor;
  PetscScalar        *unit, *column;
  void               *there; /* where the level is */

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, l->op.grid.points, NULL, A));
  PetscCall(PetscCalloc2(n, &unit, n, &column));
  PetscCall((*mg->kernels->alloc)((size_t)n * sizeof(*unit), &there));
  for (PetscInt j = 0; j < n; j++) {
    unit[j] = 1.;
    PetscCall((*mg->kernels->put)((size_t)n * sizeof(*unit), unit, there));
    PetscCall((*mg->stencilkernels->largest)(&l->op, (const PetscScalar *)there, mg->scale));
    PetscCall((*mg->stencilkernels->enter)(&l->op, (const PetscScalar *)there, mg->scale, l->x[0]));
    PetscCall((*mg->stencilkernels->residual)(&l->op, NULL, l->x[0], l->x[1]));
    PetscCall((*mg->stencilkernels->leave)(&l->op, one, mg->scale, l->x[1], (PetscScalar *)there));
    PetscCall((*mg->kernels->get)((size_t)n * sizeof(*unit), there, column));
    for (PetscInt i = 0; i < n; i++) {
      if (column[i] != (PetscScalar)0.) PetscCall(MatSetValue(*A, i, j, column[i], INSERT_VALUES));
    }
    unit[j] = 0.;
  }
  PetscCall((*mg->kernels->clear)(bytes, l->x[0]));
  PetscCall((*mg->kernels->free)(&there));
  PetscCall(PetscFree2(unit, column));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetStencilInterpolation_Private(PC_GridMG *mg, PetscInt k, Mat *P)
{
  const GridMGPoints *fine = &mg->stencil[k].op.grid, *coarse = &mg->stencil[k + 1].op.grid;
  const size_t        weights = (size_t)fine->cells * (size_t)fine->corners;
  void               *host;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(weights * GridMGNumberBytes(mg->precision), (char **)&host));
  PetscCall((*mg->kernels->get)(weights * GridMGNumberBytes(mg->precision), mg->stencil[k].op.weight, host));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, fine->cells, coarse->cells, fine->corners, NULL, P));
  for (PetscInt i = 0; i < fine->cells; i++) {
    const PetscInt line = i / fine->n[0], at[3] = {i % fine->n[0], line % fine->n[1], line / fine->n[1]};

    for (PetscInt c = 0; c < fine->corners; c++) {
      const PetscInt to = at[0] / 2 + (c & 1) + coarse->n[0] * (at[1] / 2 + (c >> 1 & 1) + coarse->n[1] * (at[2] / 2 + (c >> 2))), w = c * fine->cells + i;
      const double   v = mg->precision == GRIDMG_SINGLE ? (double)((float *)host)[w] : ((double *)host)[w];

      if (v != 0) PetscCall(MatSetValue(*P, i, to, (PetscScalar)v, INSERT_VALUES));
    }
  }
  PetscCall(PetscFree(host));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ both */

PetscErrorCode PCGridMGGetOperator_Private(PC pc, PetscInt level, Mat *A)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!PCGridMGIsShared(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "Levels of a PCGRIDMG are matrices on one process only");
  PetscCheck(mg->built && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Call PCSetUp() first");
  PetscCheck(level >= 0 && level < mg->n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Level %" PetscInt_FMT " is not one of %" PetscInt_FMT,
             level, mg->n);
  PetscCall(mg->zeeuw ? GetStencilOperator_Private(mg, level, A) : GetOperator_Private(mg, level, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGGetArray_Private(PC pc, PetscInt level, const char name[], size_t *bytes, void **array)
{
  PC_GridMG            *mg     = (PC_GridMG *)pc->data;
  const GridMGOperator *op     = &mg->level[PetscClipInterval(level, 0, GRIDMG_LEVELS_MAX - 1)].op;
  const GridMGList     *l      = &op->list;
  const size_t          number = GridMGNumberBytes(mg->precision), cells = (size_t)op->grid.cells, n = cells + (size_t)op->grid.wells,
               code  = cells * (size_t)op->bits / 8;
  const size_t edges = (size_t)mg->level[level].edges;
  const struct {
    const char *name;
    const void *array;
    size_t      bytes;
  } arrays[] = {
    {"up0", op->up[0], code},
    {"up1", op->up[1], code},
    {"up2", op->up[2], code},
    {"down0", op->down[0], code},
    {"down1", op->down[1], code},
    {"down2", op->down[2], code},
    {"table", op->table, 512 * number},
    {"sigma", op->sigma, n * number},
    {"dinv", op->dinv, n * number},
    {"alive", op->alive, cells},
    {"row", l->row, (size_t)l->n * sizeof(PetscInt)},
    {"i", l->i, ((size_t)l->n + 1) * sizeof(PetscInt)},
    {"j", l->j, edges * sizeof(PetscInt)},
    {"t", l->t, edges * number},
  };

  PetscFunctionBegin;
  PetscCheck(mg->built && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Call PCSetUp() first");
  PetscCheck(level >= 0 && level < mg->n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Level %" PetscInt_FMT " is not one of %" PetscInt_FMT,
             level, mg->n);
  PetscCheck(!mg->zeeuw, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "Levels of -pc_gridmg_interpolation zeeuw have no such arrays");
  *bytes = 0;
  *array = NULL;
  for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(arrays); a++) {
    PetscBool is;

    PetscCall(PetscStrcmp(name, arrays[a].name, &is));
    if (!is) continue;
    if (!arrays[a].array || !arrays[a].bytes) PetscFunctionReturn(PETSC_SUCCESS);
    *bytes = arrays[a].bytes;
    PetscCall(PetscMalloc1(*bytes, (char **)array));
    PetscCall((*mg->kernels->get)(*bytes, arrays[a].array, *array));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_UNKNOWN_TYPE, "A level has no array \"%s\"", name);
}

/* For PCGetCoarseOperators() and PCGetInterpolations(): the coarsest level first, without the finest level */
static PetscErrorCode PCGetCoarseOperators_GridMG(PC pc, PetscInt *levels, Mat *operators[])
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!PCGridMGIsShared(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "Levels of a PCGRIDMG are matrices on one process only");
  PetscCheck(mg->built && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Call PCSetUp() first");
  *levels = mg->n;
  PetscCall(PetscMalloc1(mg->n, operators));
  for (PetscInt k = 1; k < mg->n; k++) PetscCall(PCGridMGGetOperator_Private(pc, k, &(*operators)[mg->n - 1 - k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCGetInterpolations_GridMG(PC pc, PetscInt *levels, Mat *interpolations[])
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!PCGridMGIsShared(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "Levels of a PCGRIDMG are matrices on one process only");
  PetscCheck(mg->built && !pc->failedreason, PetscObjectComm((PetscObject)pc), PETSC_ERR_ORDER, "Call PCSetUp() first");
  *levels = mg->n;
  PetscCall(PetscMalloc1(mg->n, interpolations));
  for (PetscInt k = 0; k < mg->n - 1; k++) {
    Mat *P = &(*interpolations)[mg->n - 2 - k];

    PetscCall(mg->zeeuw ? GetStencilInterpolation_Private(mg, k, P) : GetInterpolation_Private(mg, k, P));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGComposeMatrices_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGetCoarseOperators_C", yes ? PCGetCoarseOperators_GridMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGetInterpolations_C", yes ? PCGetInterpolations_GridMG : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
