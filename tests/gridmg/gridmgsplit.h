/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the tests of PCGRIDMG on several processes share: grids in boxes of all sizes, matrices and vectors on these
   grids, preconditioners */

#include "gridmgtest.h"
#include <petscdmda.h>

/* How a grid lies on the processes */
typedef struct {
  PetscInt  parts[3], *width[3]; /* boxes along each direction, and their widths in cells */
  PetscInt  n, begin;            /* rows of this process */
  PetscInt *natural;             /* [all rows] each row's number on one process */
  PetscInt *row;                 /* the inverse of natural */
  PetscInt  rows;
} Split;

/* ------------------------------------------------------------ distribution */

/* Numbers of boxes along each direction: the factorization of "size" number "which", among all which fit the grid */
static inline void ChooseParts(const PetscInt n[3], PetscInt which, PetscInt parts[3])
{
  PetscInt found[64][3], count = 0;

  for (PetscInt x = 1; x <= size; x++) {
    for (PetscInt y = 1; x * y <= size; y++) {
      const PetscInt z = size / (x * y);

      if (x * y * z != size || x > n[0] || y > n[1] || z > n[2] || count == 64) continue;
      found[count][0]   = x;
      found[count][1]   = y;
      found[count++][2] = z;
    }
  }
  for (int d = 0; d < 3; d++) parts[d] = count ? found[which % count][d] : (d == 0 ? size : 1);
}

/* Boxes of about the same size, or of any size, with at least one cell if possible */
static inline PetscErrorCode CreateWidths(PetscInt n, PetscInt parts, PetscBool even, PetscInt seed, PetscInt **width)
{
  PetscInt left = n;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(parts, width));
  for (PetscInt p = 0; p < parts; p++) {
    const PetscInt others = parts - 1 - p, most = PetscMax(0, left - others);

    if (!others) (*width)[p] = left;
    else if (even) (*width)[p] = n >= 8 * parts ? left / (parts - p) / 2 * 2 : left / (parts - p);
    else (*width)[p] = PetscMin(most, 1 + (PetscInt)(TestRandom((uint64_t)seed, (uint64_t)p, 3) * (double)most));
    left -= (*width)[p];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode DestroySplit(Split *s)
{
  PetscFunctionBeginUser;
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(s->width[d]));
  PetscCall(PetscFree2(s->natural, s->row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells of each process, x fastest, then wells; wells are on the last process, or before all cells on the first
   process */
static inline PetscErrorCode CreateSplit(const GridProblem *p, PetscInt which, PetscBool even, PetscBool slabs, Split *s)
{
  PetscInt next = 0, at[3];

  PetscFunctionBeginUser;
  ChooseParts(p->n, which, s->parts);
  if (slabs) {
    const int last = p->n[2] > 1 ? 2 : (p->n[1] > 1 ? 1 : 0);

    for (int d = 0; d < 3; d++) s->parts[d] = d == last ? size : 1;
  }
  for (int d = 0; d < 3; d++) PetscCall(CreateWidths(p->n[d], s->parts[d], even, 10 * which + d, &s->width[d]));
  s->rows = GridRows(p);
  PetscCall(PetscMalloc2(s->rows, &s->natural, s->rows, &s->row));
  s->begin = s->n = 0;
  for (PetscMPIInt r = 0; r < size; r++) {
    const PetscInt place[3] = {r % s->parts[0], r / s->parts[0] % s->parts[1], r / s->parts[0] / s->parts[1]}, begin = next;
    PetscInt       start[3] = {0, 0, 0};

    for (int d = 0; d < 3; d++) {
      for (PetscInt q = 0; q < place[d]; q++) start[d] += s->width[d][q];
    }
    for (PetscInt w = 0; w < p->before && r == 0; w++) s->natural[next++] = w;
    for (at[2] = start[2]; at[2] < start[2] + s->width[2][place[2]]; at[2]++) {
      for (at[1] = start[1]; at[1] < start[1] + s->width[1][place[1]]; at[1]++) {
        for (at[0] = start[0]; at[0] < start[0] + s->width[0][place[0]]; at[0]++) s->natural[next++] = p->before + at[0] + p->n[0] * (at[1] + p->n[1] * at[2]);
      }
    }
    for (PetscInt w = 0; w < p->after && r == size - 1; w++) s->natural[next++] = GridCells(p) + p->before + w;
    if (r == rank) {
      s->begin = begin;
      s->n     = next - begin;
    }
  }
  for (PetscInt r = 0; r < s->rows; r++) s->row[s->natural[r]] = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills this process's rows from a matrix which all processes have */
static inline PetscErrorCode FillFrom(Mat S, const Split *s, Mat A)
{
  PetscInt *columns;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(s->rows, &columns));
  for (PetscInt r = s->begin; r < s->begin + s->n; r++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(S, s->natural[r], &n, &column, &value));
    for (PetscInt e = 0; e < n; e++) columns[e] = s->row[column[e]];
    PetscCall(MatSetValues(A, 1, &r, n, columns, value, INSERT_VALUES));
    PetscCall(MatRestoreRow(S, s->natural[r], &n, &column, &value));
  }
  PetscCall(PetscFree(columns));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Distribute(Mat S, const Split *s, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, s->n, s->n, s->rows, s->rows));
  PetscCall(MatSetOptionsPrefix(*A, "shared_"));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(FillFrom(S, s, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Integer entries, so coarse entries are exact in single precision too */
static inline PetscErrorCode CreateWhole(Mat S, Mat *W)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(S, MAT_DO_NOT_COPY_VALUES, W));
  PetscCall(MatGetSize(S, &n, NULL));
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           m;
    PetscReal          sum = 0, faces = 0;

    PetscCall(MatGetRow(S, row, &m, &column, &value));
    for (PetscInt e = 0; e < m; e++) sum += PetscRealPart(value[e]);
    for (PetscInt e = 0; e < m; e++) {
      const PetscReal whole = PetscCeilReal(-20 * PetscRealPart(value[e]));

      if (column[e] == row) continue;
      faces += whole;
      PetscCall(MatSetValue(*W, row, column[e], -whole, INSERT_VALUES));
    }
    PetscCall(MatSetValue(*W, row, row, faces + PetscFloorReal(20 * sum + (PetscReal)0.5), INSERT_VALUES));
    PetscCall(MatRestoreRow(S, row, &m, &column, &value));
  }
  PetscCall(MatAssemblyBegin(*W, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*W, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA of the same boxes, two-dimensional for a plane */
static inline PetscErrorCode CreateDM(const GridProblem *p, const Split *s, DM *dm)
{
  PetscFunctionBeginUser;
  if (p->n[2] == 1 && s->parts[2] == 1) {
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p->n[0], p->n[1], s->parts[0], s->parts[1], 1, 1,
                           s->width[0], s->width[1], dm));
  } else {
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, p->n[0], p->n[1], p->n[2], s->parts[0],
                           s->parts[1], s->parts[2], 1, 1, s->width[0], s->width[1], s->width[2], dm));
  }
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up preconditioner; slabs: the grid is set, otherwise a DMDA */
static inline PetscErrorCode CreateSharedPC(const GridProblem *p, const Split *s, PetscBool slabs, Mat A, const char options[], PC *pc)
{
  PetscOptions database;
  DM           dm;
  char         all[1024], transport[16] = "auto", grid[64] = "";

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-transport", transport, sizeof(transport), NULL));
  if (slabs) PetscCall(PetscSNPrintf(grid, sizeof(grid), "-@pc_gridmg_grid %d,%d,%d", (int)p->n[0], (int)p->n[1], (int)p->n[2]));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_type gridmg -@pc_gridmg_transport %s %s %s", transport, grid, options));
  PetscCall(PushOptions(all, NULL, &database));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetOptionsPrefix(*pc, "t_"));
  PetscCall(PCSetFromOptions(*pc));
  if (!slabs) {
    PetscCall(CreateDM(p, s, &dm));
    PetscCall(PCSetDM(*pc, dm));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(PCSetUp(*pc));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether PCView() prints a text */
static inline PetscErrorCode ViewContains(PC pc, const char text[], PetscBool *is)
{
  FILE       *file = tmpfile();
  PetscViewer viewer;
  char        line[512];
  int         found = 0;

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  while (rank == 0 && fgets(line, sizeof(line), file)) found += strstr(line, text) != NULL;
  (void)fclose(file);
  PetscCallMPI(MPI_Bcast(&found, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *is = (PetscBool)(found > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the boxes of a preconditioner overlap */
static inline PetscErrorCode Overlaps(PC pc, PetscBool *is)
{
  PetscFunctionBeginUser;
  PetscCall(ViewContains(pc, "with two layers of others", is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether each process has all rows */
static inline PetscErrorCode IsRedundant(PC pc, PetscBool *is)
{
  PetscFunctionBeginUser;
  PetscCall(ViewContains(pc, "each process has all rows", is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From a vector which all processes have to a distributed vector, and back */
static inline PetscErrorCode ToShared(const Split *s, Vec x, Vec y)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(x, &from));
  PetscCall(VecGetArrayWrite(y, &to));
  for (PetscInt r = 0; r < s->n; r++) to[r] = from[s->natural[s->begin + r]];
  PetscCall(VecRestoreArrayWrite(y, &to));
  PetscCall(VecRestoreArrayRead(x, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool Equal(Vec x, Vec y)
{
  PetscBool equal = PETSC_FALSE;

  (void)VecEqual(x, y, &equal);
  return equal;
}

/*
   An application on several processes beside one of a single process, to the same numbers: the norms of that one and of
   the difference; same: further applications have the same bits
*/
static inline PetscErrorCode ApplyBoth(const Split *s, PC one, PC pc, uint64_t seed, PetscReal *norm, PetscReal *difference, PetscBool *same)
{
  Mat W, A;
  Vec x, y, X, Y, Z, again;

  PetscFunctionBeginUser;
  PetscCall(PCGetOperators(one, NULL, &W));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatCreateVecs(W, &x, &y));
  PetscCall(MatCreateVecs(A, &X, &Y));
  PetscCall(VecDuplicate(Y, &Z));
  PetscCall(VecDuplicate(Y, &again));
  PetscCall(TestFillVec(x, seed));
  PetscCall(PCApply(one, x, y));
  PetscCall(ToShared(s, x, X));
  PetscCall(ToShared(s, y, Z));
  PetscCall(PCApply(pc, X, again));
  *same = PETSC_TRUE;
  for (int k = 0; k < 2; k++) {
    PetscCall(PCApply(pc, X, Y));
    if (!Equal(Y, again)) *same = PETSC_FALSE;
  }
  PetscCall(VecNorm(Z, NORM_INFINITY, norm));
  PetscCall(VecAXPY(Y, -1.0, Z));
  PetscCall(VecNorm(Y, NORM_INFINITY, difference));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&X));
  PetscCall(VecDestroy(&Y));
  PetscCall(VecDestroy(&Z));
  PetscCall(VecDestroy(&again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes have the error */
static inline PetscErrorCode TestError(const char what[], const GridProblem *p, const Split *s, PetscBool slabs, Mat A, const char options[])
{
  PetscErrorCode ierr;
  PetscMPIInt    failed, all;
  PetscOptions   database;
  PC             pc;
  DM             dm;

  PetscFunctionBeginUser;
  PetscCall(PushOptions("-@pc_type gridmg", NULL, &database));
  PetscCall(SetOptions(options, "t_"));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetOptionsPrefix(pc, "t_"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
  if (!slabs) {
    PetscCall(CreateDM(p, s, &dm));
    PetscCall(PCSetDM(pc, dm));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  failed = ierr ? 1 : 0;
  PetscCallMPI(MPIU_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(all != size)) FAIL("%s: %d of %d processes have an error", what, (int)all, (int)size);
  PetscCall(PCDestroy(&pc));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}
