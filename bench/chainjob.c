/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A Markov chain from the rows of its matrix to the distribution at a time: seconds of each stage, and in total.\n\
  -K N                   : places of a queue of the wireless channel (tutorials/ctmc); 492 are 35.6 million states\n\
  -final T, -eps E       : the time, and the error allowed\n\
  -job_rows host|device  : place where the rows are made\n\
  -job_mat_type TYPE     : type for a MATAIJ of host rows (default: aijcusparse on a GPU). Rows on a device become a MATVCRS\n\
  -ts_...                : the solver, TSUNIFORMIZATION\n\n";

/*
   jobs.py runs this program once per job, with the stages of stages.h. Assembly makes the rows: a MATAIJ on the host,
   or arrays on a device. Set-up is a solve until 1/500 of the final time. Set-up checks the generator, finds the
   largest rate and makes what the first step needs.
*/

#include "stages.h"
#include <tutorials/common/chain.h>
#include <lithe.h>
#include <petscdevice.h>

typedef struct {
  Job       job;
  Wireless  model;
  PetscReal final, eps;
  PetscInt  rows; /* 1: on a device */
  char      type[64];
} ChainJob;

static PetscErrorCode GetOptions(ChainJob *c)
{
  const char *const places[] = {"host", "device"};

  PetscFunctionBeginUser;
  c->model = (Wireless){492, 7, 20, 80, 100, 0.1, 0.05};
  c->final = 10;
  c->eps   = (PetscReal)1e-5;
  if (c->job.bench.gpu) PetscCall(PetscStrncpy(c->type, MATAIJCUSPARSE, sizeof(c->type)));
  PetscOptionsBegin(PETSC_COMM_SELF, NULL, "A chain", NULL);
  PetscCall(PetscOptionsInt("-K", "Places of a queue", NULL, c->model.K, &c->model.K, NULL));
  PetscCall(PetscOptionsReal("-final", "The time", NULL, c->final, &c->final, NULL));
  PetscCall(PetscOptionsReal("-eps", "The error allowed", NULL, c->eps, &c->eps, NULL));
  PetscCall(PetscOptionsEList("-job_rows", "Place where rows are made", NULL, places, 2, places[0], &c->rows, NULL));
  PetscCall(PetscOptionsString("-job_mat_type", "The type of the matrix", NULL, c->type, c->type, sizeof(c->type), NULL));
  PetscOptionsEnd();
  PetscCheck(!c->rows || c->job.bench.gpu, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-job_rows device needs a GPU");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the BLAS handles which vectors of a device use */
static PetscErrorCode WarmUp(void)
{
  PetscReal norm;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, 1, 1));
  PetscCall(VecSetType(x, VECCUDA));
  PetscCall(VecSet(x, 1.0));
  PetscCall(VecNorm(x, NORM_1, &norm));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The chain, and its matrix in the type used by the solver */
static PetscErrorCode Prepare(ChainJob *c, Chain *chain)
{
  const Shares shares = {PETSC_FALSE, NULL};
  PetscBool    isvcrs;
  ChainRows    rows;

  PetscFunctionBeginUser;
  if (c->rows) {
    PetscCall(WirelessRowsCreate(PETSC_COMM_SELF, &c->model, &shares, PETSC_TRUE, &rows));
    PetscCall(JobEnd(&c->job, STAGE_ASSEMBLY));
    PetscCall(ChainWirelessFromRows(PETSC_COMM_SELF, &c->model, &rows, chain));
    PetscCall(ChainRowsDestroy(&rows));
  } else {
    PetscCall(ChainWireless(PETSC_COMM_SELF, &c->model, &shares, chain));
    PetscCall(JobEnd(&c->job, STAGE_ASSEMBLY));
    if (c->job.bench.gpu) PetscCall(MatSetVecType(chain->A, VECCUDA));
    if (c->type[0]) PetscCall(MatConvert(chain->A, c->type, MAT_INPLACE_MATRIX, &chain->A));
    PetscCall(PetscObjectTypeCompare((PetscObject)chain->A, MATSEQAIJVCRS, &isvcrs));
    if (isvcrs) PetscCall(MatVCRSDropAIJ(chain->A));
  }
  PetscCall(JobEnd(&c->job, STAGE_CONVERSION));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(TS ts, const Chain *chain, PetscReal final, Vec x)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(chain->p, x));
  PetscCall(TSSetTime(ts, 0));
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSetTimeStep(ts, final));
  PetscCall(TSSetMaxTime(ts, final));
  PetscCall(TSSolve(ts, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const events[] = {"MatConvert", "MatVCRSCompress", "MatVCRSMaterialize", "MatMultTranspose"};
  TSUniformizationInfo     info;
  PetscScalar              sum;
  ChainJob                 c = {.rows = 0};
  Chain                    chain;
  TS                       ts;
  Vec                      x;
  PetscMPIInt              size;

  PetscFunctionBeginUser;
  JobBegin(&c.job);
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "This job is one process's; bench/uniformization runs on several");
  PetscCall(PetscLogDefaultBegin());
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &c.job.bench));
  PetscCall(GetOptions(&c));
  if (c.job.bench.gpu) PetscCall(WarmUp());
  PetscCall(JobEnd(&c.job, STAGE_START));
  PetscCall(Prepare(&c, &chain));

  PetscCall(MatCreateVecs(chain.A, &x, NULL));
  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, chain.A, chain.A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSUniformizationSetEpsilon(ts, c.eps));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(Solve(ts, &chain, c.final / 500, x));
  PetscCall(JobEnd(&c.job, STAGE_SETUP));

  PetscCall(Solve(ts, &chain, c.final, x));
  PetscCall(JobEnd(&c.job, STAGE_SOLVE));

  PetscCall(TSUniformizationGetInfo(ts, &info));
  PetscCall(VecSum(x, &sum));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "{\"rows\": %" PetscInt64_FMT ", \"nonzeros\": %" PetscInt64_FMT ", \"iterations\": %" PetscInt64_FMT
                        ", \"residual\": %g, \"bound\": %g",
                        chain.n, chain.nz, info.products, (double)PetscAbsScalar(sum - (PetscScalar)1.0), (double)info.bound));
  PetscCall(JobPrintEvents(&c.job, PETSC_STATIC_ARRAY_LENGTH(events), events));
  PetscCall(JobPrintStages(&c.job));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(ChainDestroy(&chain));
  PetscCall(PetscFinalize());
  return 0;
}
