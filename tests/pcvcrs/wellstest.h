/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of incomplete factors: matrices of grids with wells, other matrices, and the view of a preconditioner */

#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>
#include <tests/viewtest.h>

typedef enum {
  PLAIN,
  ZERO_PIVOT,  /* in the first row */
  NO_DIAGONAL, /* some diagonal entries are missing */
  UNITS,       /* over decades */
  SMALL,       /* all entries */
  LARGE,       /* the same */
  INDEFINITE,  /* some diagonal entries are negative */
  LATER,       /* the same, but not in round 0 */
  ONE_SIDED,   /* more entries below the diagonal than above */
  UNSYMMETRIC  /* entries below the diagonal differ from entries above */
} Kind;

/* A grid with rows before or behind, which touch columns of cells, or other patterns */
typedef struct {
  const char *name;
  PetscInt    nx, ny, nz, reach; /* reach 1: a star, 2: all neighbours */
  PetscInt    before, behind;    /* rows outside of the grid */
  PetscInt    scattered;         /* entries of a row at random places */
  Kind        kind;
  PetscBool   symmetric;
} Problem;

/* The well of cell c, or -1 */
static PetscInt WellOf(const Problem *p, PetscInt c)
{
  const PetscInt column = c % (p->nx * p->ny), wells = p->before + p->behind;

  return wells && column % 37 == 5 ? (column / 37) % wells : -1;
}

static PetscReal UnitOf(const Problem *p, PetscInt row)
{
  const PetscReal far = PetscDefined(USE_REAL_SINGLE) ? 1e4 : 1e35;

  if (p->kind == SMALL) return 1.0 / far;
  if (p->kind == LARGE) return far;
  return p->kind == UNITS ? (PetscReal)PetscPowReal(10.0, (PetscReal)(row % 5) - 2.0) : (PetscReal)1.0;
}

static PetscErrorCode AddEntry(const Problem *p, Mat A, PetscInt row, PetscInt col, PetscInt round, PetscReal *sum)
{
  const PetscInt a = p->symmetric ? PetscMin(row, col) : row, b = p->symmetric ? PetscMax(row, col) : col;
  PetscScalar    v = TestScalar((uint64_t)a, (uint64_t)b, (uint64_t)round) / 3 - (PetscReal)0.6;

  PetscFunctionBeginUser;
  if (p->kind == UNSYMMETRIC && row > col) v *= 0.5;
  *sum += PetscAbsScalar(v);
  v *= UnitOf(p, row) * UnitOf(p, col);
  PetscCall(MatSetValue(A, row, col, v, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random places */
static PetscErrorCode AddScattered(const Problem *p, Mat A, PetscInt c, PetscInt round, PetscReal *sum)
{
  const PetscInt cells = p->nx * p->ny * p->nz;

  PetscFunctionBeginUser;
  if (!p->symmetric) {
    for (PetscInt s = 0; s < p->scattered; s++) {
      const PetscInt to = (PetscInt)(TestRandom((uint64_t)c, (uint64_t)s, 3) * (double)cells);

      if (to != c) PetscCall(AddEntry(p, A, p->before + c, p->before + to, round, sum));
    }
  } else if (p->scattered) {
    for (PetscInt to = 0; to < cells; to++) {
      if (to == c || TestRandom((uint64_t)PetscMin(c, to), (uint64_t)PetscMax(c, to), 3) * (double)cells > (double)p->scattered) continue;
      PetscCall(AddEntry(p, A, p->before + c, p->before + to, round, sum));
    }
  }
  if (p->kind == ONE_SIDED && c % 9 == 5) PetscCall(AddEntry(p, A, p->before + c, p->before + c / 2, round, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal entry of a cell whose other entries have this sum of moduli */
static PetscScalar DiagonalOf(const Problem *p, PetscInt c, PetscInt round, PetscReal sum)
{
  const PetscReal unit     = UnitOf(p, p->before + c);
  const PetscBool negative = (PetscBool)((p->kind == INDEFINITE || (p->kind == LATER && round)) && c % 50 == 7);

  if (p->kind == ZERO_PIVOT && c == 0) return 0.0;
  return (negative ? (PetscReal)-0.2 * sum : (PetscReal)1.1 * sum + (PetscReal)0.1) * unit * unit;
}

static PetscErrorCode FillMatrix(const Problem *p, PetscInt round, Mat A)
{
  const PetscInt cells = p->nx * p->ny * p->nz, wells = p->before + p->behind;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < cells; c++) {
    const PetscInt i = c % p->nx, j = c / p->nx % p->ny, k = c / p->nx / p->ny, row = p->before + c, well = WellOf(p, c);
    PetscReal      sum = 0.0;

    for (PetscInt dk = -1; dk <= 1; dk++) {
      for (PetscInt dj = -1; dj <= 1; dj++) {
        for (PetscInt di = -1; di <= 1; di++) {
          const PetscInt far = PetscAbsInt(di) + PetscAbsInt(dj) + PetscAbsInt(dk);

          if (!far || (p->reach == 1 && far > 1)) continue;
          if (i + di < 0 || i + di >= p->nx || j + dj < 0 || j + dj >= p->ny || k + dk < 0 || k + dk >= p->nz) continue;
          PetscCall(AddEntry(p, A, row, row + di + p->nx * (dj + p->ny * dk), round, &sum));
        }
      }
    }
    PetscCall(AddScattered(p, A, c, round, &sum));
    if (well >= 0) {
      const PetscInt at = well < p->before ? well : cells + well;

      PetscCall(AddEntry(p, A, row, at, round, &sum));
      PetscCall(AddEntry(p, A, at, row, round, &sum));
    }
    if (p->kind == NO_DIAGONAL && c % 50 == 7) continue;
    PetscCall(MatSetValue(A, row, row, DiagonalOf(p, c, round, sum), INSERT_VALUES));
  }
  for (PetscInt w = 0; w < wells; w++) {
    const PetscInt at = w < p->before ? w : cells + w;

    PetscCall(MatSetValue(A, at, at, 90.0 * UnitOf(p, at) * UnitOf(p, at), INSERT_VALUES));
    if (w) {
      PetscReal sum = 0.0;

      /* wells of a group touch each other */
      PetscCall(AddEntry(p, A, at, w - 1 < p->before ? w - 1 : cells + w - 1, round, &sum));
      PetscCall(AddEntry(p, A, w - 1 < p->before ? w - 1 : cells + w - 1, at, round, &sum));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(const Problem *p, MatType type, Mat *A)
{
  const PetscInt n = p->nx * p->ny * p->nz + p->before + p->behind;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(FillMatrix(p, 0, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
