/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN on several processes: journals, requests refused on all processes, coordinates, and the view.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include "borntest.h"
#include <tests/refused.h>

static const PetscReal source[2] = {10, 12}, receivers[6] = {8, 8, 14.5, 8, 14, 20.25};

static PetscErrorCode Create(PetscBool coordinates, DM *da, Vec *v, Mat *J)
{
  const PetscReal h[2] = {1, 1};

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, 24, 30, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  if (coordinates) PetscCall(DMDASetUniformCoordinates(*da, 0, 23, 0, 29, 0, 0));
  PetscCall(DMCreateGlobalVector(*da, v));
  PetscCall(VecSet(*v, 2));
  PetscCall(MatCreateBorn(*da, J));
  if (!coordinates) PetscCall(MatBornSetSpacing(*J, h));
  PetscCall(MatBornSetSponge(*J, 6, PETSC_DETERMINE));
  PetscCall(TestSetOptions(*J, "-mat_born_field double"));
  PetscCall(MatBornSetVelocity(*J, *v));
  PetscCall(MatBornSetTime(*J, 0.2, 66, 3));
  PetscCall(BornTestWavelet(*J, 0.15, 6, 0.2, 60));
  for (int s = 0; s < 5; s++) {
    const PetscReal at[2] = {source[0] + (PetscReal)s, source[1]};

    PetscCall(MatBornAddShot(*J, at, s % 2 ? 2 : 3, receivers));
  }
  PetscCall(MatSetFromOptions(*J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Spacings from the DMDA's coordinates equal spacings from MatBornSetSpacing(); irregular coordinates are refused */
static PetscErrorCode TestCoordinates(void)
{
  DM  da[2];
  Vec v[2], d[2], x;
  Mat J[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(Create((PetscBool)k, &da[k], &v[k], &J[k]));
    PetscCall(MatCreateVecs(J[k], NULL, &d[k]));
    PetscCall(MatBornModel(J[k], d[k]));
  }
  {
    PetscBool same;

    PetscCall(VecEqual(d[0], d[1], &same));
    if (WRONG(!same)) FAIL("other data with coordinates");
  }
  PetscCall(DMGetCoordinates(da[1], &x));
  if (rank == size - 1) PetscCall(VecSetValue(x, 2 * 24 * 30 - 7, 3, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatBornSetOrder(J[1], 4));
  TEST_REFUSED("coordinates", MatBornModel(J[1], d[1]), "equal distances", "MatBornSetSpacing");
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&v[k]));
    PetscCall(VecDestroy(&d[k]));
    PetscCall(MatDestroy(&J[k]));
    PetscCall(DMDestroy(&da[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same messages on all processes, and a matrix which works afterwards */
static PetscErrorCode TestRefusals(void)
{
  DM          da;
  Vec         v, x, y, d;
  Mat         J;
  PetscScalar kept, *a;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, &da, &v, &J));
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 0.01));
  TEST_REFUSED("groups", TestSetOptions(J, "-mat_born_group_size 0"), "-mat_born_group_size 0", "at most all");
  TEST_REFUSED("groups", TestSetOptions(J, "-mat_born_group_size %d", size + 1), "-mat_born_group_size", "at most all");
  PetscCall(MatMult(J, x, d));

  /* a single process has the bad value */
  PetscCall(VecGetArray(v, &a));
  kept = a[3];
  if (rank == size - 1) a[3] = -1;
  PetscCall(VecRestoreArray(v, &a));
  TEST_REFUSED("velocity", MatMult(J, x, d), "velocity at node", "is -1");
  PetscCall(VecGetArray(v, &a));
  a[3] = rank == size - 1 ? 1000 : kept;
  PetscCall(VecRestoreArray(v, &a));
  TEST_REFUSED("limit", MatMult(J, x, d), "limit of stability");
  PetscCall(VecGetArray(v, &a));
  a[3] = kept;
  PetscCall(VecRestoreArray(v, &a));
  PetscCall(MatMult(J, x, d));

  /* NaN in the data of one shot */
  PetscCall(VecGetArray(d, &a));
  if (rank == size - 1) a[0] = (PetscReal)NAN;
  PetscCall(VecRestoreArray(d, &a));
  TEST_REFUSED("data", MatMultTranspose(J, d, y), "1 of 5 shots", "not finite");
  PetscCall(VecLockReadPop(d)); /* MatMultTranspose() leaves the lock after an error */
  PetscCall(MatMult(J, x, d));
  PetscCall(MatMultTranspose(J, d, y));

  if (size > 1) {
    PetscCall(TestSetOptions(J, "-mat_born_group_size %d", size));
    TEST_REFUSED("transport", TestSetOptions(J, "-mat_born_transport fast"), "fast", "-mat_born_transport");
    PetscCall(MatMultTranspose(J, d, y));
  }
  if (size == 3) {
    PetscCall(MatBornSetOrder(J, 12));
    PetscCall(MatMult(J, x, d));
    PetscCall(TestSetOptions(J, "-mat_born_group_size 1"));
    PetscCall(MatMult(J, x, d));
  }
  PetscCall(MatView(J, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Differences of a single process: an error on all processes, or seen by all processes */
static PetscErrorCode TestAlone(void)
{
  const PetscReal other[6] = {8, 8, 14.5, 8, 14, 20.5}, *given = rank == size - 1 ? other : receivers;
  const PetscReal nan = (PetscReal)NAN;
  DM              da;
  Vec             v, x, d, e;
  Mat             J;
  PetscReal       w[50];
  PetscBool       same;

  PetscFunctionBeginUser;
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Create(PETSC_FALSE, &da, &v, &J));
  if (PetscDefined(USE_DEBUG)) count++; /* PETSc has another message */
  else TEST_REFUSED("receivers", MatBornAddShot(J, source, rank ? 3 : 2, receivers), "2 receivers on one process", "3 on another");
  PetscCall(MatBornAddShot(J, source, 3, given));
  TEST_REFUSED("places of receivers", MatSetUp(J), "different sources or receivers", "MatBornAddShot");
  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&da));

  PetscCall(Create(PETSC_FALSE, &da, &v, &J));
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(VecSet(x, 0.01));
  for (int k = 0; k < 50; k++) w[k] = rank == size - 1 && k == 30 ? nan : Ricker((PetscReal)0.15, 6, (PetscReal)0.2 * (PetscReal)k);
  TEST_REFUSED("a sample", MatBornSetWavelet(J, 50, w), "Sample 30 of the wavelet");
  if (rank == size - 1) w[30] = 0;
  PetscCall(MatBornSetWavelet(J, 50, w));
  TEST_REFUSED("a wavelet", MatMult(J, x, d), "different wavelets", "MatBornSetWavelet");
  if (rank == size - 1) w[30] = Ricker((PetscReal)0.15, 6, 6);
  PetscCall(MatBornSetWavelet(J, 50, w));
  PetscCall(MatMult(J, x, d));

  /* a journal that the first process cannot open, and vectors with a wrong distribution */
  PetscCall(TestSetOptions(J, "-mat_born_journal /nowhere/journal"));
  TEST_REFUSED("journal", MatMult(J, x, e), "journal /nowhere/journal");
  PetscCall(VecLockReadPop(x)); /* MatMult() leaves it so after an error */
  /* a folder in which no process can write a file: an error after the first shots */
  PetscCall(TestSetOptions(J, "-mat_born_journal /proc/journal"));
  TEST_REFUSED("journal", MatMult(J, x, e), "journal /proc/journal", "cannot");
  PetscCall(VecLockReadPop(x));
  PetscCall(TestSetOptions(J, "-mat_born_journal"));
  PetscCall(MatMult(J, x, e));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(!same)) FAIL("other data after a refused journal");
  {
    PetscInt n, N;
    Vec      other;

    PetscCall(VecGetLocalSize(d, &n));
    PetscCall(VecGetSize(d, &N));
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, rank == 0 ? n - 1 : (rank == 1 ? n + 1 : n), N, &other));
    TEST_REFUSED("parts of a vector", MatBornModel(J, other), "samples; make it with MatCreateVecs()");
    PetscCall(VecDestroy(&other));
  }

  /* a single process changes its part of the velocity */
  if (rank == size - 1) {
    PetscScalar *a;

    PetscCall(VecGetArray(v, &a));
    for (int k = 0; k < 40; k++) a[k] = 1.5;
    PetscCall(VecRestoreArray(v, &a));
  }
  PetscCall(MatMult(J, x, e));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(same)) FAIL("a velocity that is new on one process is not seen");
  PetscCall(MatBornSetOrder(J, 4));
  PetscCall(MatBornSetOrder(J, 8));
  PetscCall(MatMult(J, x, d));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(!same)) FAIL("a velocity that is new on one process is not seen by all");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy works without the original, gives the same bits, and has its own velocity; sizes of groups that do not divide the processes */
static PetscErrorCode TestCopies(void)
{
  DM        da;
  Vec       v, x, y, d, e;
  Mat       J, K[2], N;
  PetscReal norm;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_FALSE, &da, &v, &J));
  PetscCall(MatBornSetLowpass(J, 0.9));
  PetscCall(TestSetOptions(J, "-mat_born_group_size %d", PetscMax(1, size - 1)));
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSet(x, 0.01));
  PetscCall(MatMult(J, x, d));
  PetscCall(MatDuplicate(J, MAT_COPY_VALUES, &K[0]));
  PetscCall(MatDuplicate(J, MAT_DO_NOT_COPY_VALUES, &K[1]));
  TEST_REFUSED("no velocity", MatMult(K[1], x, e), "no velocity", "MatBornSetVelocity");
  PetscCall(MatBornSetVelocity(K[1], v));
  PetscCall(TestSetOptions(K[1], "-mat_born_group_size 1"));
  PetscCall(MatMult(K[1], x, e));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(!same)) FAIL("other data without groups");
  PetscCall(VecScale(v, 0.75));
  PetscCall(MatMult(K[1], x, e));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(same)) FAIL("a new velocity is not seen");
  PetscCall(MatBornGetNormal(K[0], &N));
  PetscCall(MatDestroy(&J));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&da));
  PetscCall(MatMult(K[0], x, e));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(!same)) FAIL("other data by a copy");
  PetscCall(MatDestroy(&K[0]));
  PetscCall(MatDestroy(&K[1]));
  PetscCall(MatMult(N, x, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  if (WRONG(!(norm > 0))) FAIL("the normal operator of a matrix that is gone");
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&N));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Files in a folder, and how many of them are younger than a moment */
static PetscErrorCode CountFiles(const char folder[], PetscInt *n)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  *n = 0;
  if (!rank) {
    DIR           *dir = opendir(folder);
    struct dirent *file;

    while (dir && (file = readdir(dir))) *n += file->d_name[0] != '.';
    if (dir) (void)closedir(dir);
  }
  PetscCallMPI(MPI_Bcast(n, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Cuts the files in a folder to a number of bytes, or removes them: bytes < 0. The file of a group without tasks may be
   shorter, and loses a byte. Collective
*/
static PetscErrorCode CutFiles(const char folder[], PetscInt bytes)
{
  DIR           *dir = rank ? NULL : opendir(folder);
  struct dirent *file;
  struct stat    status;
  char           path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  while (dir && (file = readdir(dir))) {
    if (file->d_name[0] == '.') continue;
    PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s", folder, file->d_name));
    PetscCheck(!stat(path, &status), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s cannot be found", path);
    PetscCheck(!(bytes < 0 ? unlink(path) : truncate(path, PetscMin((off_t)bytes, PetscMax(status.st_size - 1, 0)))), PETSC_COMM_SELF, PETSC_ERR_SYS,
               "%s stays", path);
  }
  if (dir) (void)closedir(dir);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A journal that is cut or empty: an error on all processes, and the same bits without the files */
static PetscErrorCode TestCut(Mat J, const char folder[], const char path[], Vec x, Vec want, Vec d)
{
  const PetscInt bytes[] = {777, 100, 9, 0};
  PetscBool      same;

  PetscFunctionBeginUser;
  PetscCall(TestSetOptions(J, "-mat_born_journal %s -mat_born_journal_keep", path));
  PetscCall(MatMult(J, x, d));
  for (int k = 0; k < 4; k++) {
    PetscCall(CutFiles(folder, bytes[k]));
    if (bytes[k]) TEST_REFUSED("a cut journal", MatMult(J, x, d), "The journal ", "is cut", "; remove it to start anew");
    else TEST_REFUSED("an empty journal", MatMult(J, x, d), "The journal ", "is empty", "; remove it to start anew");
    PetscCall(VecLockReadPop(x)); /* MatMult() leaves the lock after an error */
  }
  PetscCall(CutFiles(folder, -1));
  PetscCall(TestSetOptions(J, "-mat_born_journal %s -mat_born_journal_keep 0", path));
  PetscCall(MatMult(J, x, d));
  PetscCall(VecEqual(want, d, &same));
  if (WRONG(!same)) FAIL("other data without the cut journal");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kept journals give the same bits at once, on different groups too; journals which are not kept leave no files */
static PetscErrorCode TestJournal(void)
{
  DM        da;
  Vec       v, x, d[2], y[2];
  Mat       J;
  char      folder[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN];
  PetscInt  files, before;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(folder, "bornXXXXXX", sizeof(folder)));
  if (!rank) PetscCall(PetscMkdtemp(folder));
  PetscCallMPI(MPI_Bcast(folder, (PetscMPIInt)sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/journal", folder));
  PetscCall(Create(PETSC_FALSE, &da, &v, &J));
  PetscCall(MatCreateVecs(J, &x, &d[0]));
  PetscCall(VecDuplicate(d[0], &d[1]));
  PetscCall(VecSet(x, 0.01));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x, &y[k]));
  PetscCall(MatMult(J, x, d[0]));
  PetscCall(MatMultTranspose(J, d[0], y[0]));
  for (int k = 0; k < 5; k++) {
    const PetscBool keep = (PetscBool)(k > 0 && k < 4);

    PetscCall(TestSetOptions(J, "-mat_born_journal %s -mat_born_journal_keep %d", path, keep));
    PetscCall(TestSetOptions(J, "-mat_born_group_size %d", k == 2 ? size : 1));
    PetscCall(CountFiles(folder, &before));
    PetscCall(MatMult(J, x, d[1]));
    PetscCall(MatMultTranspose(J, d[1], y[1]));
    PetscCall(VecEqual(d[0], d[1], &same));
    if (WRONG(!same)) FAIL("other data with a journal, %d", k);
    PetscCall(VecEqual(y[0], y[1], &same));
    if (WRONG(!same)) FAIL("another image with a journal, %d", k);
    PetscCall(CountFiles(folder, &files));
    if (WRONG(keep ? files < 2 : files != 0)) FAIL("%d files of a journal, %d", (int)files, k);
    if (WRONG(k > 1 && k < 4 && files > before)) FAIL("a journal that is there is written again, %d", k);
    if (k != 3) continue;
    /* another model has a separate journal, which is removed without disturbing the first */
    PetscCall(TestSetOptions(J, "-mat_born_journal %s -mat_born_journal_keep 0", path));
    PetscCall(VecScale(x, 2));
    PetscCall(MatMult(J, x, d[1]));
    PetscCall(VecScale(x, 0.5));
    PetscCall(CountFiles(folder, &before));
    if (WRONG(before != files)) FAIL("%d files, then %d", (int)files, (int)before);
  }
  PetscCall(TestCut(J, folder, path, x, d[0], d[1]));
  if (!rank && WRONG(rmdir(folder))) FAIL("%s is not empty", folder);
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&d[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestCoordinates());
  PetscCall(TestRefusals());
  PetscCall(TestJournal());
  PetscCall(TestAlone());
  PetscCall(TestCopies());
  return TestEnd(26, "journals and refusals are right\n");
}

/*TEST

  test:
    nsize: {{1 3}}
    requires: !complex double
    filter: grep -e FAIL -e right
    output_file: output/journals.out

TEST*/
