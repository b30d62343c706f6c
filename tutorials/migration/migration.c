/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Migration of a seismic survey in the frequency domain: many Helmholtz problems over groups of processes.\n\n";

#include "migration.h"
#include <tutorials/common/output.h>

static PetscErrorCode View(const Migration *m, const MigrationJob *job)
{
  PetscInt  low[3], high[3];
  PetscReal h[2];

  PetscFunctionBegin;
  PetscCall(PetscPrintf(m->comm, "model       %s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes at %g m, %g m/s at least\n",
                        MigrationModels[m->model], m->n[0], m->n[1], m->n[2], (double)m->h, (double)m->slowest[1]));
  PetscCall(PetscPrintf(m->comm, "survey      %" PetscInt_FMT " shots, %" PetscInt_FMT " receivers in all, data %s\n", m->nshots, m->nreceivers,
                        m->data ? "of a file" : "modelled"));
  if (m->nplaces[0]) {
    const PetscReal *first = m->place, *last = m->place + 3 * (m->nplaces[0] * m->nplaces[1] - 1), *source = m->shot[m->nshots - 1].source;

    PetscCall(PetscPrintf(m->comm,
                          "places      sources from x = %.6g to %.6g m; %" PetscInt_FMT " x %" PetscInt_FMT " receivers from %.6g, %.6g to %.6g, %.6g m\n",
                          (double)m->shot[0].source[0], (double)source[0], m->nplaces[0], m->nplaces[1], (double)first[0], (double)first[1], (double)last[0],
                          (double)last[1]));
  }
  PetscCall(
    PetscPrintf(m->comm, "frequencies %" PetscInt_FMT ", %g to %g Hz\n", m->nfrequencies, (double)m->frequency[0], (double)m->frequency[m->nfrequencies - 1]));
  for (int which = 0; which < (m->data ? 1 : 2); which++) {
    PetscCall(MigrationGetGrid(m, which, m->frequency[0], low, &h[0]));
    PetscCall(MigrationGetGrid(m, which, m->frequency[m->nfrequencies - 1], high, &h[1]));
    PetscCall(PetscPrintf(m->comm,
                          "%s  %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points at %.4g m to %" PetscInt_FMT " x %" PetscInt_FMT
                          " x %" PetscInt_FMT " at %.4g m, %s stencil\n",
                          which ? "their grids" : "its grids ", low[0], low[1], low[2], (double)h[0], high[0], high[1], high[2], (double)h[1],
                          HelmholtzStencils[m->grid[which].stencil]));
  }
  PetscCall(PetscPrintf(m->comm, "tasks       %" PetscInt_FMT " of up to %" PetscInt_FMT " sources, %" PetscInt_FMT " groups of processes\n", job->ntasks,
                        m->batch, job->group.groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NAME.velocity, NAME.background, NAME.image, NAME.reflectivity; and NAME.segy of modelled data */
static PetscErrorCode WriteAll(const MigrationJob *job, const PetscReal image[], const char name[], GridFileFormat format)
{
  const Migration  *m       = job->m;
  const char *const names[] = {"velocity", "background", "reflectivity", "image"};
  char              path[PETSC_MAX_PATH_LEN];
  PetscScalar      *data;
  PetscReal        *reflectivity = NULL;
  PetscMPIInt       rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(m->comm, &rank));
  if (!rank) {
    PetscCall(PetscMalloc1(m->nodes, &reflectivity));
    PetscCall(ImagingReflectivity(m, reflectivity));
  }
  for (int k = 0; k < 4; k++) {
    const PetscReal *const from[] = {m->velocity, m->background, reflectivity, image};
    Vec                    natural;
    PetscScalar           *x;

    PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%s", name, names[k]));
    PetscCall(VecCreate(m->comm, &natural));
    PetscCall(VecSetSizes(natural, rank ? 0 : (PetscInt)m->nodes, (PetscInt)m->nodes));
    PetscCall(VecSetType(natural, VECSTANDARD));
    PetscCall(PetscObjectSetName((PetscObject)natural, "grid"));
    PetscCall(VecGetArrayWrite(natural, &x));
    for (PetscInt64 p = 0; p < m->nodes && !rank; p++) x[p] = from[k][p];
    PetscCall(VecRestoreArrayWrite(natural, &x));
    PetscCall(GridFileWrite(format, path, m->n, m->h, "xyz", natural));
    PetscCall(VecDestroy(&natural));
  }
  PetscCall(PetscFree(reflectivity));
  if (m->data || !job->result.complete) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(JobGetData(job, &data));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.segy", name));
  if (!rank) PetscCall(TracesWrite(m, data, path));
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char             picture[PETSC_MAX_PATH_LEN] = "", movie[PETSC_MAX_PATH_LEN] = "", name[PETSC_MAX_PATH_LEN] = "";
  LitheFarmOptions farming = {.size = 1};
  GridFileFormat   format  = GRIDFILE_RAW;
  PetscInt         most    = 60;
  PetscReal       *image   = NULL;
  PetscMPIInt      rank;
  int              status;
  Migration        m;
  MigrationJob     job;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCheck(PetscDefined(USE_COMPLEX), PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "Waves of one frequency are complex: use a PETSc configured --with-scalar-type=complex");
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(MigrationSetFromOptions(PETSC_COMM_WORLD, &m));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Method and output", NULL);
  PetscCall(LitheFarmOptionsRead(PetscOptionsObject, "-", &farming));
  PetscCall(LitheFarmOptionsReadSlice(PetscOptionsObject, "-", &farming));
  PetscCall(PetscOptionsString("-picture", "A .png file", NULL, picture, picture, sizeof(picture), NULL));
  PetscCall(PetscOptionsString("-movie", "A .gif file, a movie of the image as tasks end", NULL, movie, movie, sizeof(movie), NULL));
  PetscCall(PetscOptionsRangeInt("-movie_frames", "Most pictures of it", NULL, most, &most, NULL, 1, 999));
  PetscCall(PetscOptionsString("-o", "Begins the names of files to write", NULL, name, name, sizeof(name), NULL));
  PetscCall(PetscOptionsEnum("-format", "Format of the files", NULL, GridFileFormats, (PetscEnum)format, (PetscEnum *)&format, NULL));
  PetscOptionsEnd();
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-picture", picture, NULL));
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-movie", movie, NULL));
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-o", name, ".velocity"));
  if (name[0]) PetscCall(GridFileCheck(PETSC_COMM_WORLD, format));
  PetscCall(MigrationSetUp(&m));
  PetscCall(JobCreate(&m, &farming, (PetscBool)(name[0] != 0), (PetscBool)(movie[0] != 0), &job));
  PetscCall(View(&m, &job));
  PetscCall(JobRun(&job));
  PetscCall(JobView(&job));

  if (!rank) {
    PetscReal *reflectivity;
    uint64_t   hash = 0;

    PetscCall(PetscMalloc1(m.nodes, &image));
    PetscCall(PetscMalloc1(m.nodes, &reflectivity));
    PetscCall(ImagingFinish(&m, job.sums, image));
    PetscCall(ImagingReflectivity(&m, reflectivity));
    for (PetscInt64 i = 0; i < 3 * m.nodes; i++) hash += LitheFarmHashReal((uint64_t)i, job.sums[i]);
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "image       correlation with the reflectivity %.3f, hash of the sums %016llx\n",
                          (double)ImagingCorrelate(&m, image, reflectivity), (unsigned long long)hash));
    PetscCall(PetscFree(reflectivity));
    if (picture[0]) PetscCall(MigrationWritePicture(&job, image, picture));
  }
  if (movie[0]) PetscCall(MigrationWriteMovie(&job, movie, most));
  if (name[0]) PetscCall(WriteAll(&job, image, name, format));
  PetscCall(PetscFree(image));
  status = job.result.nfailed > 0;
  PetscCall(JobDestroy(&job));
  PetscCall(MigrationDestroy(&m));
  PetscCall(PetscFinalize());
  return status;
}
