/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Pictures by matplotlib. plot.h says how to use this file */

#include "plot.h"
#include <stdlib.h>

#define MOST 1024 /* values of a field in a direction, about; others are left out */

PetscErrorCode PlotOpen(const char path[], Plot *plot)
{
  PetscFunctionBegin;
  plot->panels = 0;
  PetscCall(PetscStrncpy(plot->path, path, sizeof(plot->path)));
  PetscCall(PetscSNPrintf(plot->data, sizeof(plot->data), "%s.json", path));
  plot->file = fopen(plot->data, "w");
  PetscCheck(plot->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s, the data of a picture", plot->data);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PutText(FILE *file, const char key[], const char text[])
{
  if (text) fprintf(file, ", \"%s\": \"%s\"", key, text);
}

/* JSON of Python: NaN is a number */
static void PutNumber(FILE *file, PetscReal x)
{
  if (PetscIsInfOrNanReal(x)) fprintf(file, "NaN");
  else fprintf(file, "%.6g", (double)x);
}

/* Lines of numbers; of a field, each step-th. Points of curves and bars have up to 4 numbers */
static void PutNumbers(FILE *file, const char key[], const PetscInt n[2], const PetscInt64 stride[2], const PetscReal value[])
{
  const PetscInt step[2] = {1 + (n[0] - 2) / MOST, n[0] > 4 ? 1 + (n[1] - 2) / MOST : 1};

  fprintf(file, ",\n\"%s\": [", key);
  for (PetscInt j = 0; j < n[1]; j += step[1]) {
    for (PetscInt i = 0; i < n[0]; i += step[0]) {
      fprintf(file, i ? ", " : (j ? ",\n[" : "["));
      PutNumber(file, value[i * stride[0] + j * stride[1]]);
    }
    fprintf(file, "]");
  }
  fprintf(file, "]");
}

PetscErrorCode PlotAdd(Plot *plot, const PlotPanel *p)
{
  const PetscInt   n[2] = {p->nx, p->ny}, ncurve[2] = {2, p->ncurve}, nbars[2] = {4, p->nbars};
  const PetscInt64 twice[2] = {2 * p->stride[0], 2 * p->stride[1]}, two[2] = {1, 2}, four[2] = {1, 4};
  FILE            *file = plot->file;

  PetscFunctionBegin;
  fprintf(file, "%s{\"row\": %d, \"column\": %d, \"columns\": %d, \"frame\": %d, \"down\": %d, \"equal\": %d", plot->panels++ ? ",\n" : "[", p->row, p->column,
          PetscMax(1, p->columns), p->frame, p->down, p->equal);
  fprintf(file, ", \"x\": [%.9g, %.9g], \"y\": [%.9g, %.9g]", (double)p->x[0], (double)p->x[1], (double)p->y[0], (double)p->y[1]);
  PutText(file, "title", p->title);
  PutText(file, "xlabel", p->xlabel);
  PutText(file, "ylabel", p->ylabel);
  PutText(file, "label", p->label);
  PutText(file, "colours", p->colours);
  PutText(file, "range", p->range);
  PutText(file, "norm", p->norm);
  if (p->nmarks) {
    fprintf(file, ", \"marks\": [");
    for (PetscInt k = 0; k < p->nmarks; k++) {
      fprintf(file, k ? ", [" : "[");
      PutNumber(file, p->mark[k].x);
      fprintf(file, ", ");
      PutNumber(file, p->mark[k].y);
      fprintf(file, ", \"%s\"]", p->mark[k].name);
    }
    fprintf(file, "]");
  }
  if (p->value) PutNumbers(file, "values", n, p->stride, p->value);
  if (p->coordinates) {
    PutNumbers(file, "x of values", n, twice, p->coordinates);
    PutNumbers(file, "y of values", n, twice, p->coordinates + p->stride[0]);
  }
  if (p->ncurve) PutNumbers(file, "curve", ncurve, two, p->curve);
  if (p->nbars) PutNumbers(file, "bars", nbars, four, p->bar);
  fprintf(file, "}");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlotClose(Plot *plot)
{
  char        command[3 * PETSC_MAX_PATH_LEN];
  const char *script = getenv("LITHE_PLOT"); /* of a bundle, which has no source tree */

  PetscFunctionBegin;
  fprintf(plot->file, "]\n");
  PetscCheck(!ferror(plot->file) && fclose(plot->file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s, the data of a picture: is the disk full?",
             plot->data);
  if (!script) script = TUTORIALS_PLOT;
  PetscCall(PetscSNPrintf(command, sizeof(command), "${PYTHON:-python3} '%s' '%s'", script, plot->data));
  (void)fflush(stdout);
  if (system(command))
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s is not drawn; its data are kept. To draw them: python3 '%s' '%s'\n", plot->path, script, plot->data));
  else (void)remove(plot->data);
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PlotPlane(PlotPanel *panel, int fixed, PetscInt at, const PetscInt n[3], const PetscReal length[3], const PetscInt64 stride[3], const PetscReal value[])
{
  static const char *const labels[] = {"x, m", "y, m", "depth, m"};
  const int                axis[]   = {fixed == 0, fixed == 2 ? 1 : 2};

  panel->value     = value + at * stride[fixed];
  panel->nx        = n[axis[0]];
  panel->ny        = n[axis[1]];
  panel->stride[0] = stride[axis[0]];
  panel->stride[1] = stride[axis[1]];
  panel->x[1]      = length[axis[0]];
  panel->y[1]      = length[axis[1]];
  panel->xlabel    = labels[axis[0]];
  panel->ylabel    = labels[axis[1]];
  panel->down      = (PetscBool)(fixed != 2);
  panel->equal     = PETSC_TRUE;
}
