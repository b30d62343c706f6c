/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Permeability above, pressure below; a layer on the left, a section through the injector on the right. */

#include <tutorials/common/picture.h>
#include "reservoir.h"

#define WIDTH  1180
#define HEIGHT 840

/* A layer and a section of a field; value[0] is nx * ny, value[1] nx * nz with the deepest layer first */
typedef struct {
  PetscReal *value[2];
  PetscReal  range[2]; /* of the colours; both ends equal: each slice has its own range */
} Slices;

static PetscErrorCode SlicesCreate(const Reservoir *r, Slices *s)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(r->perm.nx * r->perm.ny, &s->value[0], r->perm.nx * r->perm.nz, &s->value[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A common range, so the colours of both slices agree */
static void SetRange(const Reservoir *r, Slices *s)
{
  const PetscInt n[2] = {r->perm.nx * r->perm.ny, r->perm.nx * r->perm.nz};

  s->range[0] = s->range[1] = s->value[0][0];
  for (int v = 0; v < 2; v++) {
    for (PetscInt k = 0; k < n[v]; k++) {
      s->range[0] = PetscMin(s->range[0], s->value[v][k]);
      s->range[1] = PetscMax(s->range[1], s->value[v][k]);
    }
  }
}

static PetscErrorCode GetPermeability(const Reservoir *r, PetscInt layer, Slices *s)
{
  const PetscInt nx = r->perm.nx, nz = r->perm.nz;
  double        *line[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nx, &line[0], nx, &line[1], nx, &line[2]));
  for (PetscInt j = 0; j < r->perm.ny; j++) {
    PetscCall(PermeabilityLine(&r->perm, j, layer, line[0], line[1], line[2]));
    for (PetscInt i = 0; i < nx; i++) s->value[0][j * nx + i] = (PetscReal)line[0][i];
  }
  for (PetscInt l = 0; l < nz; l++) {
    PetscCall(PermeabilityLine(&r->perm, r->well[0][1], l, line[0], line[1], line[2]));
    for (PetscInt i = 0; i < nx; i++) s->value[1][(nz - 1 - l) * nx + i] = (PetscReal)line[0][i];
  }
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  SetRange(r, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From a vector in the order of cells */
static PetscErrorCode GetPressure(const Reservoir *r, PetscInt layer, Vec pressure, Slices *s)
{
  const PetscInt     nx = r->perm.nx, ny = r->perm.ny, nz = r->perm.nz, y = r->well[0][1];
  const PetscScalar *p;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(pressure, &p));
  for (PetscInt c = 0; c < nx * ny; c++) s->value[0][c] = PetscRealPart(p[layer * nx * ny + c]);
  for (PetscInt l = 0; l < nz; l++) {
    for (PetscInt i = 0; i < nx; i++) s->value[1][(nz - 1 - l) * nx + i] = PetscRealPart(p[(l * ny + y) * nx + i]);
  }
  PetscCall(VecRestoreArrayRead(pressure, &p));
  s->range[0] = s->range[1] = 0; /* near the producers the pressure is much lower than in the section */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Wells as points in a layer, and as lines in their section */
static PetscErrorCode GetMarks(const Reservoir *r, PictureMark *mark, PetscInt *nsection, PictureMark *section)
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

/* Both slices of a field in a row of the picture */
static PetscErrorCode DrawRow(const Reservoir *r, Picture *picture, int top, const char name[], const char unit[], PetscBool logarithmic, const Slices *s,
                              PetscInt layer, const PicturePanel wells[2])
{
  const PetscReal length[3] = {(PetscReal)(r->perm.cell[0] * (double)r->perm.nx), (PetscReal)(r->perm.cell[1] * (double)r->perm.ny),
                               (PetscReal)(r->perm.cell[2] * (double)r->perm.nz)};
  const int       box[2][4] = {{0, top, WIDTH / 2 - 20, HEIGHT / 2}, {WIDTH / 2 - 20, top, WIDTH / 2 + 20, HEIGHT / 2}};

  PetscFunctionBegin;
  for (int v = 0; v < 2; v++) {
    PicturePanel panel = wells[v];
    char         title[128];

    if (v) PetscCall(PetscSNPrintf(title, sizeof(title), "%s, section at y = %.0f m", name, ((double)r->well[0][1] + .5) * r->perm.cell[1]));
    else PetscCall(PetscSNPrintf(title, sizeof(title), "%s, layer %" PetscInt_FMT " of %" PetscInt_FMT, name, layer + 1, r->perm.nz));
    panel.title       = title;
    panel.unit        = unit;
    panel.xlabel      = "x, m";
    panel.ylabel      = v ? "depth, m" : "y, m";
    panel.nx          = r->perm.nx;
    panel.ny          = v ? r->perm.nz : r->perm.ny;
    panel.value       = s->value[v];
    panel.x[1]        = length[0];
    panel.y[0]        = v ? length[2] : 0;
    panel.y[1]        = v ? 0 : length[1];
    panel.range[0]    = s->range[0];
    panel.range[1]    = s->range[1];
    panel.logarithmic = logarithmic;
    panel.isotropic   = (PetscBool)!v;
    PetscCall(PictureDraw(picture, box[v], &panel));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReservoirWritePicture(const Reservoir *r, Vec pressure, PetscInt layer, const char path[])
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)r->da);
  PetscMPIInt rank;
  Vec         natural, all;
  VecScatter  scatter;

  PetscFunctionBegin;
  PetscCheck(layer >= 0 && layer < r->perm.nz, comm, PETSC_ERR_ARG_OUTOFRANGE, "-picture_layer %" PetscInt_FMT " is not one of the layers 0 to %" PetscInt_FMT,
             layer, r->perm.nz - 1);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(DMDACreateNaturalVector(r->da, &natural));
  PetscCall(DMDAGlobalToNaturalBegin(r->da, pressure, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(r->da, pressure, INSERT_VALUES, natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  if (!rank) {
    PicturePanel wells[2] = {{.nmarks = r->problem.wells + 1}, {0}};
    PictureMark *mark, *section;
    Slices       slices;
    Picture      picture;

    PetscCall(PetscCalloc2(r->problem.wells + 1, &mark, r->problem.wells + 1, &section));
    PetscCall(GetMarks(r, mark, &wells[1].nmarks, section));
    wells[0].mark = mark;
    wells[1].mark = section;
    PetscCall(SlicesCreate(r, &slices));
    PetscCall(PictureCreate(WIDTH, HEIGHT, &picture));
    PetscCall(GetPermeability(r, layer, &slices));
    PetscCall(DrawRow(r, &picture, 0, "horizontal permeability", "mD", PETSC_TRUE, &slices, layer, wells));
    PetscCall(GetPressure(r, layer, all, &slices));
    PetscCall(DrawRow(r, &picture, HEIGHT / 2, "pressure", "bar", PETSC_FALSE, &slices, layer, wells));
    PetscCall(PictureWrite(&picture, path));
    PetscCall(PetscFree2(slices.value[0], slices.value[1]));
    PetscCall(PetscFree2(mark, section));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}
