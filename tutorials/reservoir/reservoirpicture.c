/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Permeability above, pressure below; a layer on the left, a section through the injector on the right. */

#include <tutorials/common/gridfile.h>
#include <tutorials/common/plot.h>
#include "reservoir.h"

/* In mD: layer[ny][nx], and section[nz][nx] */
static PetscErrorCode GetPermeability(const Reservoir *r, PetscInt at, PetscReal layer[], PetscReal section[])
{
  const PetscInt nx = r->perm.nx;
  double        *line[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nx, &line[0], nx, &line[1], nx, &line[2]));
  for (PetscInt j = 0; j < r->perm.ny; j++) {
    PetscCall(PermeabilityLine(&r->perm, j, at, line[0], line[1], line[2]));
    for (PetscInt i = 0; i < nx; i++) layer[j * nx + i] = (PetscReal)line[0][i];
  }
  for (PetscInt l = 0; l < r->perm.nz; l++) {
    PetscCall(PermeabilityLine(&r->perm, r->well[0][1], l, line[0], line[1], line[2]));
    for (PetscInt i = 0; i < nx; i++) section[l * nx + i] = (PetscReal)line[0][i];
  }
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Wells as points in a layer, and as lines in their section */
static PetscErrorCode GetMarks(const Reservoir *r, PlotMark *mark, PetscInt *nsection, PlotMark *section)
{
  PetscFunctionBegin;
  *nsection = 0;
  for (PetscInt w = 0; w <= r->problem.wells; w++) {
    if (w) PetscCall(PetscSNPrintf(mark[w].name, sizeof(mark[w].name), "P%" PetscInt_FMT, w));
    else PetscCall(PetscStrncpy(mark[w].name, "I", sizeof(mark[w].name)));
    mark[w].x = (PetscReal)(((double)r->well[w][0] + .5) * r->perm.cell[0]);
    mark[w].y = (PetscReal)(((double)r->well[w][1] + .5) * r->perm.cell[1]);
    if (r->well[w][1] == r->well[0][1]) {
      section[*nsection]       = mark[w];
      section[(*nsection)++].y = (PetscReal)NAN;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReservoirWritePicture(const Reservoir *r, Vec pressure, PetscInt layer, const char path[])
{
  const PetscInt    nx = r->perm.nx, ny = r->perm.ny, nz = r->perm.nz, n[3] = {nx, ny, nz};
  const PetscInt64  permstride[3] = {1, nx, nx}, stride[3] = {PLOT_SCALAR, PLOT_SCALAR * nx, PLOT_SCALAR * nx * ny};
  const char *const names[] = {"horizontal permeability", "pressure"}, *const labels[] = {"permeability, mD", "pressure, bar"};
  PetscReal          length[3], *perm[2];
  const PetscScalar *p;
  PlotMark          *mark[2];
  PetscInt           nmarks[2] = {r->problem.wells + 1};
  MPI_Comm           comm      = PetscObjectComm((PetscObject)r->da);
  char               title[128];
  PetscMPIInt        rank;
  Vec                all;
  Plot               plot;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(GridGather(r->da, pressure, &all));
  if (!rank) {
    for (int d = 0; d < 3; d++) length[d] = (PetscReal)(r->perm.cell[d] * (double)n[d]);
    PetscCall(PetscMalloc4(nx * ny, &perm[0], nx * nz, &perm[1], nmarks[0], &mark[0], nmarks[0], &mark[1]));
    PetscCall(GetPermeability(r, layer, perm[0], perm[1]));
    PetscCall(GetMarks(r, mark[0], &nmarks[1], mark[1]));
    PetscCall(VecGetArrayRead(all, &p));
    PetscCall(PlotOpen(path, &plot));
    for (int row = 0; row < 2; row++) {
      for (int column = 0; column < 2; column++) {
        const PetscInt at    = column ? r->well[0][1] : layer;
        PlotPanel      panel = {.row    = row,
                                .column = column,
                                .title  = title,
                                .label  = labels[row],
                                .range  = row ? "robust" : "log", /* low near the producers */
                                .nmarks = nmarks[column],
                                .mark   = mark[column]};

        if (column) PetscCall(PetscSNPrintf(title, sizeof(title), "%s, section at y = %.0f m", names[row], ((double)at + .5) * r->perm.cell[1]));
        else PetscCall(PetscSNPrintf(title, sizeof(title), "%s, layer %" PetscInt_FMT " of %" PetscInt_FMT, names[row], at + 1, nz));
        if (row) PlotPlane(&panel, column ? 1 : 2, at, n, length, stride, (const PetscReal *)p);
        else PlotPlane(&panel, column ? 1 : 2, 0, n, length, permstride, perm[column]);
        panel.equal = (PetscBool)!column; /* a reservoir is flat */
        PetscCall(PlotAdd(&plot, &panel));
      }
    }
    PetscCall(PlotClose(&plot));
    PetscCall(VecRestoreArrayRead(all, &p));
    PetscCall(PetscFree4(perm[0], perm[1], mark[0], mark[1]));
  }
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
