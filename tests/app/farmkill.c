/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "A farm with a journal that is killed after a time: -journal NAME -group_size N -kill SECONDS -killed RANK. It prints a hash of its sums.\n\n";

#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <tests/farm/farmtest.h>

static void Kill(int unused)
{
  (void)unused;
  raise(SIGKILL);
}

int main(int argc, char **argv)
{
  LitheFarmOptions       options = {.size = 1};
  LitheFarm              farm;
  FarmTest               t;
  const LitheFarmResult *r;
  PetscReal              sum[TEST_N], own[TEST_TASKS], kill = 0;
  PetscInt               killed = 0;
  PetscMPIInt            rank;
  uint64_t               hash = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "A farm", NULL);
  PetscCall(LitheFarmOptionsRead(PetscOptionsObject, "-", &options));
  PetscCall(LitheFarmOptionsReadSlice(PetscOptionsObject, "-", &options));
  PetscOptionsEnd();
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-kill", &kill, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-killed", &killed, NULL));
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  PetscCall(FarmTestCreate(farm, &t));
  t.delay = (PetscReal)0.01;
  if (kill > 0 && rank == killed) {
    const struct itimerval timer = {.it_value = {(time_t)kill, (suseconds_t)(1e6 * ((double)kill - floor((double)kill)))}};

    (void)signal(SIGALRM, Kill);
    PetscCheck(!setitimer(ITIMER_REAL, &timer, NULL), PETSC_COMM_SELF, PETSC_ERR_SYS, "No timer");
  }
  PetscCall(LitheFarmRun(farm, &t.job));
  PetscCall(LitheFarmGetResult(farm, &r));
  PetscCall(FarmTestGet(farm, &t, sum, own));
  for (PetscInt i = 0; i < TEST_N; i++) hash += LitheFarmHashReal((uint64_t)i, sum[i]);
  for (PetscInt i = 0; i < TEST_TASKS; i++) hash += LitheFarmHashReal((uint64_t)(TEST_N + i), own[i]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "complete %d found %" PetscInt_FMT " hash %016llx\n", (int)r->complete, r->found, (unsigned long long)hash));
  PetscCall(FarmTestDestroy(&t));
  PetscCall(LitheFarmDestroy(&farm));
  PetscCall(PetscFinalize());
  return 0;
}
