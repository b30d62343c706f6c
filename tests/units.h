/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Matrices whose unknowns and equations have units of unlike size: for vcrs/bound and pcvcrs/units */

#include <petscmat.h>

typedef enum {
  UNITS_RANDOM, /* D A D, D at random */
  UNITS_SMOOTH, /* D A D, D varies smoothly */
  UNITS_FIELDS, /* two unknowns at a point, coupled, in unlike units */
  UNITS_MEDIA,  /* the same, diffusion over two decades from point to point */
  UNITS_APART,  /* R A C, rows and columns scaled apart, A with convection */
  UNITS_KINDS
} UnitsKind;

static const char *const UnitsKindNames[] = {"random", "smooth", "fields", "media", "apart"};

static PetscReal UnitsWave(PetscInt k)
{
  return PetscSinReal((PetscReal)1.0 + (PetscReal)(k % 1009) * (PetscReal)(k % 1013));
}

static PetscBool UnitsHasFields(UnitsKind kind)
{
  return (PetscBool)(kind == UNITS_FIELDS || kind == UNITS_MEDIA);
}

/* The unit of unknown k (side 0) or of equation k (side 1) */
static PetscReal UnitsOf(UnitsKind kind, PetscInt n, PetscReal decades, PetscInt k, PetscInt side)
{
  const PetscInt  point = UnitsHasFields(kind) ? k / 2 : k;
  const PetscReal x = (PetscReal)(point % n) / (PetscReal)n, y = (PetscReal)(point / n) / (PetscReal)n;
  PetscReal       power = 0.0;

  switch (kind) {
  case UNITS_RANDOM:
    power = UnitsWave(k);
    break;
  case UNITS_SMOOTH:
    power = PetscSinReal(2 * PETSC_PI * x) * PetscCosReal(PETSC_PI * y);
    break;
  case UNITS_FIELDS:
  case UNITS_MEDIA:
    power = k % 2 ? 1.0 : -1.0;
    break;
  default:
    power = side ? UnitsWave(k) : UnitsWave(7 * k + 3);
  }
  return PetscPowReal(10.0, decades * power);
}

/* The coupling of point p with point q in both fields, or of the two fields at a point */
static PetscReal UnitsMedium(UnitsKind kind, PetscInt p, PetscInt q)
{
  const PetscReal a = PetscExpReal(2.0 * UnitsWave(3 * p + 1)), b = PetscExpReal(2.0 * UnitsWave(3 * q + 1));

  return kind == UNITS_MEDIA ? 2.0 * a * b / (a + b) : 1.0;
}

static PetscErrorCode UnitsCreateMatrix(UnitsKind kind, PetscInt n, PetscReal decades, PetscReal unit, Mat *A)
{
  const PetscInt  nf = UnitsHasFields(kind) ? 2 : 1, offsets[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  const PetscReal wind = kind == UNITS_APART ? 0.2 : 0.0;
  PetscInt        begin, end, local = PETSC_DECIDE, points = n * n;

  PetscFunctionBegin;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &points));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, nf * local, nf * local, nf * n * n, nf * n * n, 6, NULL, 6, NULL, A));
  if (kind == UNITS_MEDIA) PetscCall(MatSetBlockSize(*A, nf));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt i = row / nf % n, j = row / nf / n;
    PetscReal      sum = nf == 2 ? 0.5 * UnitsMedium(kind, row / nf, row / nf) : 0.0;

    /* diffusion with a varying coefficient, convection, and coupling of the fields; the diagonal makes the row sum
       zero, except on the boundary */
    for (PetscInt o = 4; o >= 0; o--) {
      const PetscInt  k = i + offsets[o][0], l = j + offsets[o][1], col = o ? row + nf * (offsets[o][0] + n * offsets[o][1]) : row;
      const PetscReal a = o ? -(kind == UNITS_MEDIA ? UnitsMedium(kind, row / nf, col / nf) : 1.0 + 0.5 * UnitsWave(row + col)) *
                                (1.0 - wind * (offsets[o][0] + offsets[o][1]))
                            : sum;

      sum -= a;
      if (k < 0 || k >= n || l < 0 || l >= n) continue;
      PetscCall(MatSetValue(*A, row, col, (PetscScalar)(a * unit * UnitsOf(kind, n, decades, row, 1) * UnitsOf(kind, n, decades, col, 0)), INSERT_VALUES));
    }
    if (nf == 2) {
      const PetscInt col = row % 2 ? row - 1 : row + 1;

      PetscCall(MatSetValue(*A, row, col,
                            (PetscScalar)((kind == UNITS_MEDIA ? -0.5 : 0.5) * UnitsMedium(kind, row / nf, row / nf) * unit *
                                          UnitsOf(kind, n, decades, row, 1) * UnitsOf(kind, n, decades, col, 0)),
                            INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (kind != UNITS_APART) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
