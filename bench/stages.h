/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* The stages of a job, timed one after another, and the line for jobs.py */

#include <tutorials/common/measure.h>
#include <time.h>

typedef enum {
  STAGE_START,
  STAGE_ASSEMBLY,
  STAGE_CONVERSION,
  STAGE_SETUP,
  STAGE_SOLVE,
  NSTAGES
} Stage;
static const char *const stages[] = {"start", "assembly", "conversion", "setup", "solve"};

typedef struct {
  Bench          bench;
  PetscLogDouble first, last, seconds[NSTAGES];
} Job;

/* MPI's clock does not run before MPI is initialized */
static inline PetscLogDouble JobNow(void)
{
  struct timespec now;

  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (PetscLogDouble)now.tv_sec + 1e-9 * (PetscLogDouble)now.tv_nsec;
}

/* The first statement of a program */
static inline void JobBegin(Job *job)
{
  job->first = job->last = JobNow();
}

/* The stage ends here */
static inline PetscErrorCode JobEnd(Job *job, Stage stage)
{
  PetscLogDouble now;

  PetscFunctionBeginUser;
  PetscCall(BenchWait(&job->bench));
  PetscCallMPI(MPI_Barrier(job->bench.comm));
  now                 = JobNow();
  job->seconds[stage] = now - job->last;
  job->last           = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins the line: size, iterations and residual of the solve */
static inline PetscErrorCode JobPrintSolve(const Job *job, KSP ksp, Vec x, Vec b)
{
  PetscInt           its, m;
  KSPConvergedReason reason;
  PetscReal          norm[2];
  Mat                A;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(MatGetSize(A, &m, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &norm[0]));
  PetscCall(VecNorm(b, NORM_2, &norm[1]));
  PetscCall(VecDestroy(&r));
  PetscCall(PetscPrintf(job->bench.comm, "{\"rows\": %" PetscInt_FMT ", \"iterations\": %" PetscInt_FMT ", \"reason\": \"%s\", \"residual\": %g", m, its,
                        KSPConvergedReasons[reason], (double)(norm[1] > 0 ? norm[0] / norm[1] : norm[0])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds of n events, on the slowest process; 0 for events which were not logged. Collective */
static inline PetscErrorCode JobPrintEvents(const Job *job, size_t n, const char *const events[])
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < n; k++) {
    PetscEventPerfInfo info = {.time = 0.};
    PetscLogEvent      event;

    PetscCall(PetscLogEventGetId(events[k], &event));
    if (event >= 0) PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &info.time, 1, MPIU_PETSCLOGDOUBLE, MPI_MAX, job->bench.comm));
    PetscCall(PetscPrintf(job->bench.comm, ", \"%s\": %.6f", events[k], info.time));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the line with the seconds of the stages. "total" is conversion, set-up and solve: from the assembled matrix to
   the solution. "program" is all time until now */
static inline PetscErrorCode JobPrintStages(const Job *job)
{
  PetscLogDouble total = 0.;

  PetscFunctionBeginUser;
  for (int s = 0; s < NSTAGES; s++) {
    PetscCall(PetscPrintf(job->bench.comm, ", \"%s\": %.6f", stages[s], job->seconds[s]));
    if (s >= STAGE_CONVERSION) total += job->seconds[s];
  }
  PetscCall(PetscPrintf(job->bench.comm, ", \"total\": %.6f, \"program\": %.6f}\n", total, JobNow() - job->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}
