/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A single implicit step in time of the pressure of a slightly compressible fluid, without gravity:

     c phi (p - p0)/dt - div(K/mu grad p) = q.

   The discretization uses cells with two-point fluxes, no flow through the boundary, and vertical wells by Peaceman's
   formula. Producers have a given pressure, which adds to the diagonal. The injector has a given rate Q. The injector's
   own pressure p_w, for which sum_l WI_l (p_w - p_l) = Q, is eliminated. The elimination couples all cells of the well
   with each other, and makes their rows far longer than 7.

   Reference:

     D. W. Peaceman, Interpretation of well-block pressures in numerical reservoir simulation, SPE Journal 18(3), 1978.
*/

#include "reservoir.h"

/* Entries of the matrix as triplets, for assembly */
typedef struct {
  PetscCount   n, room;
  PetscInt    *row, *column;
  PetscScalar *value;
} Triplets;

static void Add(Triplets *t, PetscInt row, PetscInt column, double value)
{
  t->row[t->n]     = row;
  t->column[t->n]  = column;
  t->value[t->n++] = (PetscScalar)value;
}

/*
   ReservoirCreate - Reads the options of the generator, see ProblemSetFromOptions(), and makes the grid

   Collective
*/
PetscErrorCode ReservoirCreate(MPI_Comm comm, Reservoir *r)
{
  PetscFunctionBegin;
  PetscCall(ProblemSetDefaults(PROBLEM_RESERVOIR, &r->problem));
  PetscCall(ProblemSetSize(&r->problem, 64000));
  r->problem.wellrows = PETSC_TRUE;
  PetscCall(ProblemSetFromOptions(comm, &r->problem));
  PetscCheck(r->problem.kind == PROBLEM_RESERVOIR || r->problem.kind == PROBLEM_SPE10, comm, PETSC_ERR_USER_INPUT,
             "-kind %s is no reservoir: use reservoir or spe10", ProblemKinds[r->problem.kind]);
  PetscCall(PermeabilityCreate(comm, &r->problem, &r->perm));
  PetscCall(PetscMalloc1(r->problem.wells + 1, &r->well));
  PetscCall(PermeabilityWells(&r->perm, r->well));
  PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, r->perm.nx, r->perm.ny, r->perm.nz, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &r->da));
  PetscCall(DMSetFromOptions(r->da));
  PetscCall(DMSetUp(r->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReservoirDestroy(Reservoir *r)
{
  PetscFunctionBegin;
  PetscCall(DMDestroy(&r->da));
  PetscCall(PetscFree(r->well));
  PetscCall(PermeabilityDestroy(&r->perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The permeabilities of owned cells and their neighbours: a local vector of the grid dak, three numbers per cell */
static PetscErrorCode CreatePermeabilities(const Reservoir *r, DM *dak, Vec *local)
{
  PetscInt        xs, ys, zs, xm, ym, zm;
  double         *line[3];
  Vec             global;
  PetscScalar ****k;

  PetscFunctionBegin;
  PetscCall(DMDACreateCompatibleDMDA(r->da, 3, dak));
  PetscCall(DMSetVecType(*dak, VECSTANDARD)); /* filled and read here, on the host */
  PetscCall(DMCreateGlobalVector(*dak, &global));
  PetscCall(DMCreateLocalVector(*dak, local));
  PetscCall(DMDAGetCorners(*dak, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(PetscMalloc3(r->perm.nx, &line[0], r->perm.nx, &line[1], r->perm.nx, &line[2]));
  PetscCall(DMDAVecGetArrayDOFWrite(*dak, global, &k));
  for (PetscInt l = zs; l < zs + zm; l++) {
    for (PetscInt j = ys; j < ys + ym; j++) {
      PetscCall(PermeabilityLine(&r->perm, j, l, line[0], line[1], line[2]));
      for (PetscInt i = xs; i < xs + xm; i++) {
        for (int d = 0; d < 3; d++) k[l][j][i][d] = (PetscScalar)line[d][i];
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayDOFWrite(*dak, global, &k));
  PetscCall(DMGlobalToLocal(*dak, global, INSERT_VALUES, *local));
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  PetscCall(VecDestroy(&global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The injector with a given rate: well index and unknown of each of its cells. Collective */
static PetscErrorCode GetInjector(const Reservoir *r, double index[], PetscInt unknown[])
{
  const PetscInt nx = r->perm.nx, ny = r->perm.ny, nz = r->perm.nz, i = r->well[0][0], j = r->well[0][1];
  double        *line[3];
  AO             ao;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nx, &line[0], nx, &line[1], nx, &line[2]));
  for (PetscInt l = 0; l < nz; l++) {
    PetscCall(PermeabilityLine(&r->perm, j, l, line[0], line[1], line[2]));
    index[l]   = WellIndex(r->perm.cell, line[0][i], line[1][i]);
    unknown[l] = (l * ny + j) * nx + i;
  }
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  PetscCall(DMDAGetAO(r->da, &ao));
  PetscCall(AOApplicationToPetsc(ao, nz, unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row of a cell without the injector: entries, and the right-hand side */
static void AddCell(const Reservoir *r, PetscScalar ****k, const PetscInt at[3], const PetscInt unknown[7], Triplets *t, double *rhs)
{
  const double      *cell = r->perm.cell, accumulation = Accumulation(cell, (double)r->problem.timestep);
  const PetscInt     size[3]  = {r->perm.nx, r->perm.ny, r->perm.nz};
  const PetscScalar *here     = k[at[2]][at[1]][at[0]];
  double             diagonal = accumulation;

  *rhs = accumulation * RESERVOIR_INITIALP;
  for (int d = 0; d < 3; d++) {
    double both = 0.;

    for (int side = 0; side < 2; side++) {
      PetscInt to[3] = {at[0], at[1], at[2]};
      double   flux;

      to[d] += side ? 1 : -1;
      if (to[d] < 0 || to[d] >= size[d]) continue;
      flux = Transmissibility(cell, d, (double)PetscRealPart(here[d]), (double)PetscRealPart(k[to[2]][to[1]][to[0]][d]));
      Add(t, unknown[0], unknown[1 + 2 * d + side], -flux);
      both += flux;
    }
    diagonal += both;
  }
  for (PetscInt w = r->problem.wellrows ? 1 : 0; w <= r->problem.wells; w++) {
    if (r->well[w][0] == at[0] && r->well[w][1] == at[1]) {
      const double index = WellIndex(cell, (double)PetscRealPart(here[0]), (double)PetscRealPart(here[1]));

      diagonal += index;
      *rhs += index * (w ? RESERVOIR_PRODUCERBHP : RESERVOIR_INJECTORBHP);
    }
  }
  Add(t, unknown[0], unknown[0], diagonal);
}

/* Adds the injector's entries to the row of its cell in layer l */
static void AddInjector(PetscInt nz, const double index[], const PetscInt unknown[], PetscInt l, Triplets *t, double *rhs)
{
  double sum = 0.;

  for (PetscInt m = 0; m < nz; m++) sum += index[m];
  for (PetscInt m = 0; m < nz; m++) Add(t, unknown[l], unknown[m], (m == l ? index[l] : 0.) - index[l] * index[m] / sum);
  *rhs += RESERVOIR_RATE * index[l] / sum;
}

PetscErrorCode ReservoirAssemble(Reservoir *r, Mat *A, Vec *rhs)
{
  const PetscInt         nz = r->perm.nz;
  PetscInt               xs, ys, zs, xm, ym, zm, gx, gy, gz, gxm, gym, ours = 0, *wellunknown;
  double                *wellindex;
  const PetscInt        *number;
  ISLocalToGlobalMapping map;
  Triplets               t = {0};
  DM                     dak;
  Vec                    perm;
  PetscScalar        ****k, ***b;

  PetscFunctionBegin;
  PetscCall(CreatePermeabilities(r, &dak, &perm));
  PetscCall(PetscMalloc2(nz, &wellindex, nz, &wellunknown));
  PetscCall(GetInjector(r, wellindex, wellunknown));
  PetscCall(DMDAGetCorners(r->da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(DMDAGetGhostCorners(r->da, &gx, &gy, &gz, &gxm, &gym, NULL));
  if (r->well[0][0] >= xs && r->well[0][0] < xs + xm && r->well[0][1] >= ys && r->well[0][1] < ys + ym) ours = zm;
  t.room = (PetscCount)7 * xm * ym * zm + (PetscCount)ours * nz;
  PetscCall(PetscMalloc3(t.room, &t.row, t.room, &t.column, t.room, &t.value));

  /* cell by cell; number[] are the unknowns of owned cells and their neighbours */
  PetscCall(DMGetLocalToGlobalMapping(r->da, &map));
  PetscCall(ISLocalToGlobalMappingGetIndices(map, &number));
  PetscCall(DMCreateGlobalVector(r->da, rhs));
  PetscCall(DMDAVecGetArrayWrite(r->da, *rhs, &b));
  PetscCall(DMDAVecGetArrayDOFRead(dak, perm, &k));
  for (PetscInt l = zs; l < zs + zm; l++) {
    for (PetscInt j = ys; j < ys + ym; j++) {
      for (PetscInt i = xs; i < xs + xm; i++) {
        const PetscInt at[3] = {i, j, l}, stride[3] = {1, gxm, gxm * gym}, p = ((l - gz) * gym + j - gy) * gxm + i - gx;
        const PetscInt lower[3] = {i > 0, j > 0, l > 0}, upper[3] = {i < r->perm.nx - 1, j < r->perm.ny - 1, l < nz - 1};
        PetscInt       unknown[7] = {number[p]};
        double         source;

        for (int d = 0; d < 3; d++) {
          unknown[1 + 2 * d] = lower[d] ? number[p - stride[d]] : -1;
          unknown[2 + 2 * d] = upper[d] ? number[p + stride[d]] : -1;
        }
        AddCell(r, k, at, unknown, &t, &source);
        if (r->problem.wellrows && i == r->well[0][0] && j == r->well[0][1]) AddInjector(nz, wellindex, wellunknown, l, &t, &source);
        b[l][j][i] = (PetscScalar)source;
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayDOFRead(dak, perm, &k));
  PetscCall(DMDAVecRestoreArrayWrite(r->da, *rhs, &b));
  PetscCall(ISLocalToGlobalMappingRestoreIndices(map, &number));
  PetscCall(VecDestroy(&perm));
  PetscCall(DMDestroy(&dak));

  /* the triplets give the pattern: the pattern of the grid lacks the long rows */
  PetscCall(DMSetMatrixPreallocateSkip(r->da, PETSC_TRUE));
  PetscCall(DMCreateMatrix(r->da, A));
  PetscCall(MatSetPreallocationCOO(*A, t.n, t.row, t.column));
  PetscCall(MatSetValuesCOO(*A, t.value, INSERT_VALUES));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(PetscFree3(t.row, t.column, t.value));
  PetscCall(PetscFree2(wellindex, wellunknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}
