/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Least-squares reverse-time migration of a survey that is modelled or read, with MATBORN and PETSc's solvers.\n\n";

#include "lsrtm.h"
#include <tutorials/common/output.h>
#include <petsctime.h>

/* Writes velocity, background and images as NAME.velocity, ..., and data as NAME.segy */
static PetscErrorCode WriteAll(const Survey *s, const char name[], GridFileFormat format, Vec rtm, Vec image)
{
  const char *const names[] = {"velocity", "background", "rtm", "lsrtm"};
  const Vec         x[]     = {s->velocity, s->background, rtm, image};
  char              path[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) {
    Vec natural;

    PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%s", name, names[k]));
    PetscCall(DMDACreateNaturalVector(s->da, &natural));
    PetscCall(PetscObjectSetName((PetscObject)natural, "grid"));
    PetscCall(DMDAGlobalToNaturalBegin(s->da, x[k], INSERT_VALUES, natural));
    PetscCall(DMDAGlobalToNaturalEnd(s->da, x[k], INSERT_VALUES, natural));
    PetscCall(GridFileWrite(format, path, s->N, s->h, "xyz", natural));
    PetscCall(VecDestroy(&natural));
  }
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.segy", name));
  PetscCall(RecordsWrite(s, s->data, path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Survey         s;
  Least          least                       = {.method = LSRTM_LSQR, .iterations = 8, .l1 = (PetscReal)0.01, .scale = PETSC_TRUE};
  char           picture[PETSC_MAX_PATH_LEN] = "", name[PETSC_MAX_PATH_LEN] = "";
  GridFileFormat format = GRIDFILE_RAW;
  PetscReal      correlation[2], norm[2];
  PetscLogDouble begin, end;
  Vec            rtm, image, illumination, residual;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscTime(&least.start));
  PetscCall(SurveySetFromOptions(PETSC_COMM_WORLD, &s));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Least-squares migration", NULL);
  PetscCall(PetscOptionsEnum("-method", "The solver", NULL, LsrtmMethods, (PetscEnum)least.method, (PetscEnum *)&least.method, NULL));
  PetscCall(PetscOptionsInt("-iterations", "Of it", NULL, least.iterations, &least.iterations, NULL));
  PetscCall(PetscOptionsReal("-seconds", "In which the program shall end", NULL, least.limit, &least.limit, NULL));
  PetscCall(PetscOptionsReal("-l1", "Weight of magnitudes, of the one at which the image vanishes", NULL, least.l1, &least.l1, NULL));
  PetscCall(PetscOptionsBool("-scale", "Whether the illumination scales images", NULL, least.scale, &least.scale, NULL));
  PetscCall(PetscOptionsString("-picture", "A .png file to write", NULL, picture, picture, sizeof(picture), NULL));
  PetscCall(PetscOptionsString("-o", "Begins the names of files to write", NULL, name, name, sizeof(name), NULL));
  PetscCall(PetscOptionsEnum("-format", "Of these files", NULL, GridFileFormats, (PetscEnum)format, (PetscEnum *)&format, NULL));
  PetscOptionsEnd();
  PetscCheck(least.iterations > 0 && least.iterations <= LSRTM_ITERATIONS, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-iterations: 1 to %d", LSRTM_ITERATIONS);
  PetscCheck(least.limit >= 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-seconds: a number of at least 0");
  PetscCheck(least.limit == 0 || least.method != LSRTM_L1, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-seconds is for -method lsqr and cg");
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-picture", picture, NULL));
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-o", name, ".velocity"));
  if (name[0]) PetscCall(GridFileCheck(PETSC_COMM_WORLD, format));
  PetscCall(SurveySetUp(&s));
  PetscCall(SurveyView(&s));

  /* Migration */
  PetscCall(VecDuplicate(s.reflectivity, &rtm));
  PetscCall(VecDuplicate(s.reflectivity, &image));
  PetscCall(VecDuplicate(s.data, &residual));
  PetscCall(PetscTime(&begin));
  PetscCall(MatMultTranspose(s.J, s.data, rtm));
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(s.comm, "migration   %.3g s a shot\n", (double)SurveyShotSeconds(&s, end - begin)));
  PetscCall(MatBornGetIllumination(s.J, &illumination));
  if (least.scale) {
    PetscReal most;
    Vec       scale;

    PetscCall(VecDuplicate(illumination, &scale));
    PetscCall(VecCopy(illumination, scale));
    PetscCall(VecMax(scale, NULL, &most));
    PetscCall(VecShift(scale, (PetscReal)1e-3 * most));
    PetscCall(VecPointwiseDivide(rtm, rtm, scale));
    PetscCall(VecDestroy(&scale));
  }

  /* Least squares */
  PetscCall(LeastSolve(&s, &least, illumination, image));
  PetscCall(MatMult(s.J, image, residual));
  PetscCall(VecAYPX(residual, -1, s.data));
  PetscCall(VecNorm(s.data, NORM_2, &norm[0]));
  PetscCall(VecNorm(residual, NORM_2, &norm[1]));
  PetscCall(SurveyCorrelate(&s, rtm, &correlation[0]));
  PetscCall(SurveyCorrelate(&s, image, &correlation[1]));
  PetscCall(PetscPrintf(s.comm, "solve       %.3g s, %" PetscInt_FMT " iterations, %.4f of the data are left\n", (double)least.seconds, least.iterations,
                        (double)(norm[1] / norm[0])));
  PetscCall(PetscPrintf(s.comm, "correlation with the reflectivity: migration %.3f, least squares %.3f\n", (double)correlation[0], (double)correlation[1]));
  if (picture[0]) PetscCall(SurveyWritePicture(&s, &least, rtm, image, residual, picture));
  if (name[0]) PetscCall(WriteAll(&s, name, format, rtm, image));

  PetscCall(VecDestroy(&rtm));
  PetscCall(VecDestroy(&image));
  PetscCall(VecDestroy(&illumination));
  PetscCall(VecDestroy(&residual));
  PetscCall(SurveyDestroy(&s));
  PetscCall(PetscFinalize());
  return 0;
}
