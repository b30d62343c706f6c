/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "What kernels of the tutorials share with the host: rows of boxes against a DMDA, permeabilities of a cell against those of a line.\n\n";

#include <petscdmda.h>
#include <tests/failures.h>
#include <tutorials/common/gridbox.h>
#include <tutorials/common/permeability.h>

/* ------------------------------------------------------------ rows */

/* The row of each point and of its neighbours is that of the DMDA's numbering, and rows have the neighbours on the grid */
static PetscErrorCode TestBox(DM da, const PetscInt n[3])
{
  GridBox    box;
  PetscInt64 begin[2] = {0, 0}; /* of all neighbours, and of a star */
  PetscInt   wrong    = 0;
  AO         ao;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetAO(da, &ao));
  PetscCall(GridBoxGet(da, da, &box));
  for (PetscInt64 k = 0; k < GridBoxPoints(&box); k++) {
    PetscInt at[3], there[27], row[27], entries[2] = {0, 0};

    GridBoxPoint(&box, k, at);
    for (int s = 0; s < 2; s++) wrong += GridBoxRowStart(&box, s, k) != begin[s];
    for (PetscInt p = 0; p < 27; p++) {
      const PetscInt to[3] = {at[0] + p % 3 - 1, at[1] + p / 3 % 3 - 1, at[2] + p / 9 - 1};
      PetscBool      is    = PETSC_TRUE;
      int            away  = 0;

      for (int d = 0; d < 3; d++) {
        is = (PetscBool)(is && to[d] >= 0 && to[d] < n[d]);
        away += to[d] != at[d];
      }
      there[p] = is ? to[0] + n[0] * (to[1] + n[1] * to[2]) : -1;
      row[p]   = is ? GridBoxRow(&box, to) : -1;
      entries[0] += is;
      entries[1] += is && away < 2;
    }
    PetscCall(AOApplicationToPetsc(ao, 27, there));
    for (PetscInt p = 0; p < 27; p++) wrong += there[p] != row[p];
    for (int s = 0; s < 2; s++) begin[s] += entries[s];
  }
  for (int s = 0; s < 2; s++) wrong += GridBoxRowStart(&box, s, GridBoxPoints(&box)) != begin[s];
  if (WRONG(wrong)) FAIL("%d points of %d x %d x %d are wrong", (int)wrong, (int)n[0], (int)n[1], (int)n[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBoxes(void)
{
  const PetscInt size[][3] = {{9, 1, 1}, {8, 9, 1}, {7, 6, 8}, {12, 6, 6}, {6, 12, 7}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(size); k++) {
    const PetscInt *n = size[k], dim = k < 2 ? (PetscInt)k + 1 : 3;
    DM              da;

    PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
    PetscCall(DMSetDimension(da, dim));
    PetscCall(DMDASetSizes(da, n[0], n[1], n[2]));
    PetscCall(DMDASetStencilType(da, DMDA_STENCIL_BOX));
    PetscCall(DMDASetStencilWidth(da, 1));
    PetscCall(DMDASetDof(da, 1));
    PetscCall(DMSetUp(da));
    PetscCall(TestBox(da, n));
    PetscCall(DMDestroy(&da));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ permeabilities */

static PetscErrorCode TestPermeability(void)
{
  Problem      problem;
  Permeability perm;
  double      *line[3], worst = 0;
  PetscInt     sand = 0;

  PetscFunctionBeginUser;
  PetscCall(ProblemSetDefaults(PROBLEM_RESERVOIR, &problem));
  PetscCall(ProblemSetSize(&problem, 20000));
  problem.anisotropy = (PetscReal)RESERVOIR_CHANNELKZKX / 2;
  PetscCall(PermeabilityCreate(PETSC_COMM_WORLD, &problem, &perm));
  PetscCall(PetscMalloc3(perm.nx, &line[0], perm.nx, &line[1], perm.nx, &line[2]));
  for (PetscInt k = 0; k < perm.nz; k++) {
    for (PetscInt j = 0; j < perm.ny; j++) {
      PetscCall(PermeabilityLine(&perm, j, k, line[0], line[1], line[2]));
      for (PetscInt i = 0; i < perm.nx; i++) {
        double cell[3];

        PermeabilityAt(&perm, &problem, i, j, k, cell);
        for (int d = 0; d < 3; d++) worst = PetscMax(worst, fabs(cell[d] - line[d][i]) / line[d][i]);
        sand += cell[2] > .25 * cell[0];
      }
    }
  }
  if (WRONG(!(worst < 1e-12))) FAIL("permeabilities differ by %g", worst);
  if (WRONG(sand < 100 || sand > 10000)) FAIL("%d cells are sand", (int)sand);
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  PetscCall(PermeabilityDestroy(&perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestBoxes());
  PetscCall(TestPermeability());
  return TestEnd(7, "boxes and permeabilities agree\n");
}

/*TEST

  test:
    nsize: {{1 2 3 6}}
    output_file: output/boxes.out

TEST*/
