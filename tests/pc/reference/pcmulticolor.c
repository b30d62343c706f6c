/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCMULTICOLOR: Gauss-Seidel and SOR, colour after colour, by matrix-vector products.

   No two rows of a colour have entries for one another, so that all of them are relaxed at once:

     x_c += omega D_c^-1 (b_c - A_c x),

   A_c the rows of colour c. Inside, unknowns are ordered by colour: x_c is a contiguous part of x and
   the columns of A_c are numbered like that, too, so that rows of a grid that are neighbours in their
   colour read neighbours. Only products, scatters and sums of vectors are needed, which run where the
   vectors are. Colours hold across processes: the result does not depend on how many there are.

   On a DMDA colours are the parities of the indices, 4 or 8 of them, or 2 with a star stencil;
   elsewhere they come from MatColoring.
*/

#include "referencepc.h"
#include <petsc/private/pcimpl.h>
#include <petscsf.h>

const char *const PCMulticolorSweeps[] = {"forward", "backward", "symmetric", "PCMulticolorSweep", "PC_MULTICOLOR_", NULL};

typedef struct {
  PetscReal         omega;
  PetscInt          its;
  PCMulticolorSweep sweep;

  PetscInt   ncolors;
  Mat       *A;        /* the rows of each colour */
  Vec       *inverse;  /* of their diagonal entries */
  Vec       *residual; /* room for it */
  IS        *is;       /* where each colour is in x and b */
  Vec        x, b;     /* ordered by colour */
  VecScatter scatter;  /* to that order */
} PC_Multicolor;

/* ------------------------------------------------------------ set-up */

/* The colour of each row of this process by the parity of its indices; PETSC_FALSE where there is no grid */
static PetscErrorCode ColorGrid(PC pc, PetscInt *ncolors, PetscInt color[], PetscBool *done)
{
  DMDAStencilType type;
  PetscInt        M, N, dof, n[3];
  Grid            grid;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (pc->dm) PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMDA, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(pc->dm, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, &dof, NULL, NULL, NULL, NULL, &type));
  PetscCall(MatGetSize(pc->pmat, &M, &N));
  *done = (PetscBool)(dof == 1 && M == n[0] * n[1] * n[2]);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridCreate(pc->dm, &grid));
  *ncolors = type == DMDA_STENCIL_STAR ? 2 : grid.corners;
  for (PetscInt row = 0, at[3] = {grid.start[0], grid.start[1], grid.start[2]}; row < grid.rows; row++, GridNext(&grid, at)) {
    color[row] = type == DMDA_STENCIL_STAR ? (at[0] + at[1] + at[2]) & 1 : (at[0] & 1) + 2 * (at[1] & 1) + 4 * (at[2] & 1);
  }
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ColorMatrix(PC pc, PetscInt *ncolors, PetscInt color[])
{
  MatColoring coloring;
  ISColoring  colors;
  IS         *is;
  PetscInt    begin;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, NULL));
  PetscCall(MatColoringCreate(pc->pmat, &coloring));
  PetscCall(MatColoringSetType(coloring, MATCOLORINGGREEDY));
  PetscCall(MatColoringSetDistance(coloring, 1));
  PetscCall(MatColoringSetFromOptions(coloring));
  PetscCall(MatColoringApply(coloring, &colors));
  PetscCall(MatColoringDestroy(&coloring));
  PetscCall(ISColoringGetIS(colors, PETSC_USE_POINTER, ncolors, &is));
  for (PetscInt c = 0; c < *ncolors; c++) {
    const PetscInt *row;
    PetscInt        m;

    PetscCall(ISGetLocalSize(is[c], &m));
    PetscCall(ISGetIndices(is[c], &row));
    for (PetscInt k = 0; k < m; k++) color[row[k] - begin] = c;
    PetscCall(ISRestoreIndices(is[c], &row));
  }
  PetscCall(ISColoringRestoreIS(colors, PETSC_USE_POINTER, &is));
  PetscCall(ISColoringDestroy(&colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of other processes in our rows, ascending, and their numbers in the order by colour */
static PetscErrorCode GetGhosts(PC pc, const PetscInt number[], PetscInt *nghosts, PetscInt **ghost, PetscInt **ghostnumber)
{
  PetscInt    begin, end, space = 0, n = 0, *all = NULL;
  PetscLayout layout;
  PetscSF     sf;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt *column;
    PetscInt        count;

    PetscCall(MatGetRow(pc->pmat, row, &count, &column, NULL));
    if (n + count > space) {
      space = 2 * space + count;
      PetscCall(PetscRealloc((size_t)space * sizeof(*all), &all));
    }
    for (PetscInt k = 0; k < count; k++) {
      if (column[k] < begin || column[k] >= end) all[n++] = column[k];
    }
    PetscCall(MatRestoreRow(pc->pmat, row, &count, &column, NULL));
    /* few of them are different */
    if (n > space / 2) PetscCall(PetscSortRemoveDupsInt(&n, all));
  }
  PetscCall(PetscSortRemoveDupsInt(&n, all));
  PetscCall(PetscMalloc1(n, ghostnumber));
  PetscCall(MatGetLayouts(pc->pmat, &layout, NULL));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)pc), &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, n, NULL, PETSC_OWN_POINTER, all));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, number, *ghostnumber, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, number, *ghostnumber, MPI_REPLACE));
  PetscCall(PetscSFDestroy(&sf));
  *nghosts = n;
  *ghost   = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of one colour, in the order of row[]; columns by colour */
static PetscErrorCode CreateRows(PC pc, PetscInt m, const PetscInt row[], const PetscInt number[], PetscInt nghosts, const PetscInt ghost[],
                                 const PetscInt ghostnumber[], Mat *A, Vec *inverse)
{
  PetscInt           begin, end, count;
  PetscInt64         nz = 0;
  const PetscInt    *column;
  const PetscScalar *value;
  PetscScalar       *diagonal;
  CSR                csr;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, &end));
  for (PetscInt r = 0; r < m; r++) {
    PetscCall(MatGetRow(pc->pmat, row[r], &count, NULL, NULL));
    nz += count;
    PetscCall(MatRestoreRow(pc->pmat, row[r], &count, NULL, NULL));
  }
  PetscCall(CSRCreate(m, nz, &csr));
  PetscCall(PetscMalloc1(m, &diagonal));
  for (PetscInt r = 0; r < m; r++) {
    diagonal[r] = 0.;
    PetscCall(MatGetRow(pc->pmat, row[r], &count, &column, &value));
    for (PetscInt k = 0; k < count; k++) {
      PetscInt to = column[k] - begin;

      if (column[k] == row[r]) diagonal[r] = value[k];
      if (column[k] >= begin && column[k] < end) CSRAdd(&csr, number[to], value[k]);
      else {
        PetscCall(PetscFindInt(column[k], nghosts, ghost, &to));
        CSRAdd(&csr, ghostnumber[to], value[k]);
      }
    }
    PetscCall(MatRestoreRow(pc->pmat, row[r], &count, &column, &value));
    PetscCheck(diagonal[r] != (PetscScalar)0., PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "Row %" PetscInt_FMT " has no diagonal entry, which -pc_type multicolor divides by", row[r]);
    CSRNextRow(&csr);
  }
  PetscCall(MatCreateLike(pc->pmat, A));
  PetscCall(CSRFinish(&csr, end - begin, *A));
  PetscCall(MatCreateVecs(*A, NULL, inverse));
  {
    PetscScalar *array;

    PetscCall(VecGetArrayWrite(*inverse, &array));
    for (PetscInt r = 0; r < m; r++) array[r] = (PetscScalar)1. / diagonal[r];
    PetscCall(VecRestoreArrayWrite(*inverse, &array));
  }
  PetscCall(PetscFree(diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_Multicolor(PC pc)
{
  PC_Multicolor *mc = (PC_Multicolor *)pc->data;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < mc->ncolors; c++) {
    PetscCall(MatDestroy(&mc->A[c]));
    PetscCall(VecDestroy(&mc->inverse[c]));
    PetscCall(VecDestroy(&mc->residual[c]));
    PetscCall(ISDestroy(&mc->is[c]));
  }
  PetscCall(PetscFree4(mc->A, mc->inverse, mc->residual, mc->is));
  PetscCall(VecDestroy(&mc->x));
  PetscCall(VecDestroy(&mc->b));
  PetscCall(VecScatterDestroy(&mc->scatter));
  mc->ncolors = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Multicolor(PC pc)
{
  PC_Multicolor *mc = (PC_Multicolor *)pc->data;
  PetscInt       begin, end, nghosts = 0, ncolors = 0, *color, *number, *order, *first, *ghost = NULL, *ghostnumber = NULL;
  PetscBool      done;
  MPI_Comm       comm;
  IS             from, to;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)pc, &comm));
  PetscCall(PCReset_Multicolor(pc));
  PetscCall(MatGetOwnershipRange(pc->pmat, &begin, &end));
  PetscCall(PetscMalloc3(end - begin, &color, end - begin, &number, end - begin, &order));
  PetscCall(ColorGrid(pc, &ncolors, color, &done));
  if (!done) PetscCall(ColorMatrix(pc, &ncolors, color));
  mc->ncolors = ncolors;
  PetscCall(PetscCalloc4(ncolors, &mc->A, ncolors, &mc->inverse, ncolors, &mc->residual, ncolors, &mc->is));

  /* order[]: the rows by colour; number[]: where each is in that order */
  PetscCall(PetscCalloc1(ncolors + 1, &first));
  for (PetscInt r = 0; r < end - begin; r++) first[color[r] + 1]++;
  for (PetscInt c = 0; c < ncolors; c++) {
    PetscCall(ISCreateStride(comm, first[c + 1], begin + first[c], 1, &mc->is[c]));
    first[c + 1] += first[c];
  }
  for (PetscInt r = 0; r < end - begin; r++) {
    const PetscInt p = first[color[r]]++;

    order[p]  = begin + r;
    number[r] = begin + p;
  }

  PetscCall(GetGhosts(pc, number, &nghosts, &ghost, &ghostnumber));
  for (PetscInt c = 0, p = 0; c < ncolors; c++) {
    PetscInt m;

    PetscCall(ISGetLocalSize(mc->is[c], &m));
    PetscCall(CreateRows(pc, m, order + p, number, nghosts, ghost, ghostnumber, &mc->A[c], &mc->inverse[c]));
    PetscCall(VecDuplicate(mc->inverse[c], &mc->residual[c]));
    p += m;
  }
  PetscCall(MatCreateVecs(pc->pmat, &mc->x, &mc->b));
  PetscCall(ISCreateGeneral(comm, end - begin, order, PETSC_USE_POINTER, &from));
  PetscCall(ISCreateStride(comm, end - begin, begin, 1, &to));
  PetscCall(VecScatterCreate(mc->x, from, mc->x, to, &mc->scatter));
  PetscCall(ISDestroy(&from));
  PetscCall(ISDestroy(&to));
  PetscCall(PetscFree(first));
  PetscCall(PetscFree(ghost));
  PetscCall(PetscFree(ghostnumber));
  PetscCall(PetscFree3(color, number, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ application */

/* x is zero where iszero */
static PetscErrorCode Relax(PC_Multicolor *mc, PetscInt c, PetscBool iszero)
{
  Vec x, b;

  PetscFunctionBegin;
  PetscCall(VecGetSubVector(mc->b, mc->is[c], &b));
  if (iszero) PetscCall(VecPointwiseMult(mc->residual[c], mc->inverse[c], b));
  else {
    PetscCall(MatMult(mc->A[c], mc->x, mc->residual[c]));
    PetscCall(VecAYPX(mc->residual[c], -1., b));
    PetscCall(VecPointwiseMult(mc->residual[c], mc->inverse[c], mc->residual[c]));
  }
  PetscCall(VecRestoreSubVector(mc->b, mc->is[c], &b));
  PetscCall(VecGetSubVector(mc->x, mc->is[c], &x));
  PetscCall(VecAXPY(x, mc->omega, mc->residual[c]));
  PetscCall(VecRestoreSubVector(mc->x, mc->is[c], &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweeps(PC pc, Vec b, Vec x, PetscInt its, PetscBool iszero)
{
  PC_Multicolor *mc = (PC_Multicolor *)pc->data;

  PetscFunctionBegin;
  PetscCall(VecScatterBegin(mc->scatter, b, mc->b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(mc->scatter, b, mc->b, INSERT_VALUES, SCATTER_FORWARD));
  if (iszero) PetscCall(VecZeroEntries(mc->x));
  else {
    PetscCall(VecScatterBegin(mc->scatter, x, mc->x, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(mc->scatter, x, mc->x, INSERT_VALUES, SCATTER_FORWARD));
  }
  for (PetscInt i = 0; i < its; i++) {
    for (PetscInt c = 0; c < mc->ncolors && mc->sweep != PC_MULTICOLOR_BACKWARD; c++, iszero = PETSC_FALSE) PetscCall(Relax(mc, c, iszero));
    for (PetscInt c = mc->ncolors - 1; c >= 0 && mc->sweep != PC_MULTICOLOR_FORWARD; c--, iszero = PETSC_FALSE) PetscCall(Relax(mc, c, iszero));
  }
  PetscCall(VecScatterBegin(mc->scatter, mc->x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(mc->scatter, mc->x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Multicolor(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Sweeps(pc, b, x, ((PC_Multicolor *)pc->data)->its, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyRichardson_Multicolor(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt its,
                                                   PetscBool guesszero, PetscInt *outits, PCRichardsonConvergedReason *reason)
{
  PetscFunctionBegin;
  (void)w, (void)rtol, (void)abstol, (void)dtol;
  PetscCall(Sweeps(pc, b, x, its * ((PC_Multicolor *)pc->data)->its, guesszero));
  *outits = its;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the class */

/* PCVCRS puts compressed matrices in the places of these while it applies what it has inside */
static PetscErrorCode PCVCRSCompress_Multicolor(PC pc, PetscErrorCode (*exchange)(Mat *, void *), void *ctx)
{
  PC_Multicolor *mc = (PC_Multicolor *)pc->data;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < mc->ncolors; c++) PetscCall((*exchange)(&mc->A[c], ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_Multicolor(PC pc, PetscOptionItems PetscOptionsObject)
{
  PC_Multicolor *mc = (PC_Multicolor *)pc->data;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Relaxation by colours");
  PetscCall(PetscOptionsRangeReal("-pc_multicolor_omega", "Relaxation factor", NULL, mc->omega, &mc->omega, NULL, PETSC_SMALL, 2.));
  PetscCall(PetscOptionsBoundedInt("-pc_multicolor_its", "Sweeps", NULL, mc->its, &mc->its, NULL, 1));
  PetscCall(PetscOptionsEnum("-pc_multicolor_sweep", "Order of the colours", NULL, PCMulticolorSweeps, (PetscEnum)mc->sweep, (PetscEnum *)&mc->sweep, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_Multicolor(PC pc, PetscViewer viewer)
{
  PC_Multicolor *mc = (PC_Multicolor *)pc->data;
  PetscBool      isascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (isascii)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " colours, sweeps %s, %" PetscInt_FMT " of them, omega %g\n", mc->ncolors,
                                     PCMulticolorSweeps[mc->sweep], mc->its, (double)mc->omega));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCDestroy_Multicolor(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCReset_Multicolor(pc));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSCompress_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCMULTICOLOR - "multicolor" - Gauss-Seidel and SOR, colour after colour, on the CPU and the GPU

   Options Database Keys:
+ -pc_multicolor_omega <1>                                - relaxation factor
. -pc_multicolor_its <1>                                  - sweeps
- -pc_multicolor_sweep <forward,backward,symmetric>       - the order of the colours

   Level: intermediate

   Note:
   The colours are those of a `DMDA` (`PCSetDM()`), if there is one: the parities of the indices, 4 in two dimensions and
   8 in three, or 2 with a star stencil. Else they come from `MatColoring`.

.seealso: `PCSOR`, `PCDEZEEUW`, `MatColoring`
M*/
PETSC_INTERN PetscErrorCode PCCreate_Multicolor(PC);

PetscErrorCode PCCreate_Multicolor(PC pc)
{
  PC_Multicolor *mc;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mc));
  mc->omega = 1.;
  mc->its   = 1;
  pc->data  = mc;

  pc->ops->apply           = PCApply_Multicolor;
  pc->ops->applyrichardson = PCApplyRichardson_Multicolor;
  pc->ops->setup           = PCSetUp_Multicolor;
  pc->ops->reset           = PCReset_Multicolor;
  pc->ops->destroy         = PCDestroy_Multicolor;
  pc->ops->setfromoptions  = PCSetFromOptions_Multicolor;
  pc->ops->view            = PCView_Multicolor;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCVCRSCompress_C", PCVCRSCompress_Multicolor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
