/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Cycles of earthquakes on a vertical strike-slip fault, in two dimensions, with rate-and-state friction: benchmarks BP1-QD and BP2-QD.\n\
  -problem bp1,bp2,mms      bp1; mms: a manufactured solution, with its errors\n\
  -years, -cell, -order     duration; length of a cell of the fault in m; of the operator\n\
  -grid confocal,box,curved the grid; -far: distance of its far side in m\n\
  -elastic matrix,solve     a matrix of the fault, made once; or a solve per evaluation\n\
  -matrix_file FILE         keeps the matrix\n\
  -o FOLDER                 files of results\n\
  -picture FILE.png         the displacement at the end\n\
  -checkpoint N             every N steps a file, for -restart FILE\n\n";

#include "cycle.h"
#include <petsctime.h>
#include <tutorials/common/output.h>

typedef struct {
  PetscReal years;
  PetscBool matrix;
  PetscInt  checkpoint; /* steps, or 0 */
  PetscReal progress;   /* seconds, or 0 */
  char      matrixfile[PETSC_MAX_PATH_LEN], restart[PETSC_MAX_PATH_LEN], file[PETSC_MAX_PATH_LEN], picture[PETSC_MAX_PATH_LEN];
} CycleOptions;

typedef struct {
  CycleOptions    opt;
  CycleRates      rates;
  CycleStep       step;
  CycleEvents     events;
  CycleOutput     output;
  CycleCheckpoint checkpoint;
  PetscLogStage   stage;
  PetscLogDouble  begin, said; /* times of the clock */
  PetscReal       first;       /* time at which the run began, s */
  PetscInt        firststep;
} Cycle;

/* ------------------------------------------------------------ steps */

static PetscErrorCode Progress(Cycle *c, TS ts)
{
  PetscLogDouble now;
  PetscReal      dt;

  PetscFunctionBeginUser;
  if (c->opt.progress <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  if (now - c->said < (PetscLogDouble)c->opt.progress) PetscFunctionReturn(PETSC_SUCCESS);
  c->said = now;
  PetscCall(TSGetTimeStep(ts, &dt));
  if (c->step.n) {
    const double done = (double)((c->step.time - c->first) / (c->opt.years * (PetscReal)CYCLE_YEAR - c->first));

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %.2f years, step %" PetscInt_FMT " of %.2g s, slip rate %.2e m/s, %.0f steps/s, %.0f s left\n",
                          (double)(c->step.time / (PetscReal)CYCLE_YEAR), c->step.step, (double)dt, (double)PetscExpReal(c->step.logmax),
                          (double)(c->step.step - c->firststep) / (now - c->begin), done > 0 ? (now - c->begin) * (1 / done - 1) : 0.));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PostStep(TS ts)
{
  Cycle    *c;
  PetscReal t;
  PetscInt  step;
  Vec       y;

  PetscFunctionBeginUser;
  PetscCall(TSGetApplicationContext(ts, &c));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &step));
  PetscCall(TSGetSolution(ts, &y));
  PetscCall(CycleRatesFields(&c->rates, ts, t, y));
  PetscCall(PetscLogStagePush(c->stage));
  PetscCall(CycleStepGather(&c->rates, t, step, &c->step));
  PetscCall(CycleEventsFollow(&c->events, &c->step, CycleOutputEvents(&c->output)));
  PetscCall(CycleOutputStep(&c->output, &c->rates, &c->events, &c->step));
  if (c->opt.checkpoint > 0 && step % c->opt.checkpoint == 0) PetscCall(CycleCheckpointWrite(&c->checkpoint, c->opt.file, ts, y));
  PetscCall(Progress(c, ts));
  PetscCall(PetscLogStagePop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Domain(TS ts, PetscReal t, Vec y, PetscBool *accept)
{
  Cycle *c;

  PetscFunctionBeginUser;
  (void)t;
  PetscCall(TSGetApplicationContext(ts, &c));
  PetscCall(CycleRatesDomain(&c->rates, y, accept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ set-up */

static PetscErrorCode GetOptions(MPI_Comm comm, PetscBool mms, CycleOptions *o)
{
  const char *kinds[] = {"matrix", "solve"};
  PetscInt    kind    = 0;
  PetscBool   set;

  PetscFunctionBeginUser;
  *o = (CycleOptions){.years = (PetscReal)(mms ? 70 : 1200), .progress = 30};
  PetscOptionsBegin(comm, NULL, "Cycles of earthquakes", NULL);
  PetscCall(PetscOptionsReal("-years", "duration", NULL, o->years, &o->years, NULL));
  PetscCall(PetscOptionsEList("-elastic", "a matrix of the fault, or a solve per evaluation", NULL, kinds, 2, kinds[kind], &kind, NULL));
  PetscCall(PetscOptionsString("-matrix_file", "has the matrix of the fault, or receives it", NULL, o->matrixfile, o->matrixfile, sizeof(o->matrixfile), NULL));
  PetscCall(PetscOptionsInt("-checkpoint", "steps between two checkpoints", NULL, o->checkpoint, &o->checkpoint, NULL));
  PetscCall(PetscOptionsString("-checkpoint_file", "the name", NULL, o->file, o->file, sizeof(o->file), NULL));
  PetscCall(PetscOptionsString("-restart", "a checkpoint with which to begin", NULL, o->restart, o->restart, sizeof(o->restart), NULL));
  PetscCall(PetscOptionsString("-picture", "receives a picture of the displacement at the end", NULL, o->picture, o->picture, sizeof(o->picture), NULL));
  PetscCall(PetscOptionsReal("-progress", "seconds between two lines of progress; 0: none", NULL, o->progress, &o->progress, NULL));
  PetscOptionsEnd();
  o->matrix = (PetscBool)(kind == 0);
  PetscCheck(o->years > 0 && o->years < 1e9, comm, PETSC_ERR_USER_INPUT, "-years %g: use a positive number", (double)o->years);
  PetscCheck(o->checkpoint >= 0, comm, PETSC_ERR_USER_INPUT, "-checkpoint %" PetscInt_FMT ": use a number of steps", o->checkpoint);
  PetscCheck(o->matrix || !o->matrixfile[0], comm, PETSC_ERR_ARG_INCOMP, "-matrix_file needs -elastic matrix");
  PetscCall(OutputCheck(comm, "-picture", o->picture, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ts_adapt_wnormtype", &set));
  /* a mean over the fault hides the few nodes where an earthquake begins */
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-ts_adapt_wnormtype", "infinity"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateTS(MPI_Comm comm, PetscBool mms, Cycle *c, TS *ts)
{
  const PetscReal tolerance = (PetscReal)(mms ? 1e-10 : 1e-7);
  TSAdapt         adapt;

  PetscFunctionBeginUser;
  PetscCall(TSCreate(comm, ts));
  PetscCall(TSSetProblemType(*ts, TS_NONLINEAR));
  PetscCall(TSSetType(*ts, TSRK));
  PetscCall(TSRKSetType(*ts, TSRK5DP));
  PetscCall(TSSetApplicationContext(*ts, c));
  PetscCall(TSSetRHSFunction(*ts, NULL, CycleRatesFunction, &c->rates));
  PetscCall(TSSetFunctionDomainError(*ts, Domain));
  PetscCall(TSSetPostStep(*ts, PostStep));
  PetscCall(TSSetTolerances(*ts, tolerance, NULL, tolerance, NULL));
  PetscCall(TSGetAdapt(*ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTBASIC));
  PetscCall(TSAdaptSetClip(adapt, (PetscReal)0.2, 5));
  PetscCall(TSSetMaxStepRejections(*ts, PETSC_UNLIMITED));
  PetscCall(TSSetMaxSteps(*ts, PETSC_INT_MAX));
  PetscCall(TSSetTimeStep(*ts, 1));
  PetscCall(TSSetExactFinalTime(*ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSetMaxTime(*ts, c->opt.years * (PetscReal)CYCLE_YEAR));
  PetscCall(TSSetFromOptions(*ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a matrix of the fault depends on, medium; and a checkpoint, also on the problem and on how its equations are solved */
static PetscErrorCode Describe(const char problem[], const CycleRock *rock, const CycleLaw *law, const CycleGrid *grid, PetscBool matrix, size_t size,
                               char medium[], char text[])
{
  char part[2][1024];

  PetscFunctionBeginUser;
  PetscCall(CycleRockDescribe(rock, sizeof(part[0]), part[0]));
  PetscCall(CycleGridDescribe(grid, sizeof(part[1]), part[1]));
  PetscCall(PetscSNPrintf(medium, size, "%s %s", part[0], part[1]));
  PetscCall(CycleLawDescribe(law, sizeof(part[0]), part[0]));
  PetscCall(PetscSNPrintf(text, size, "%s %s %s elastic %s", problem, medium, part[0], matrix ? "matrix" : "solve"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeMatrix(const char medium[], const char path[], Elastic *elastic)
{
  PetscLogStage stage;

  PetscFunctionBeginUser;
  PetscCall(PetscLogStageRegister("Matrix", &stage));
  PetscCall(PetscLogStagePush(stage));
  PetscCall(ElasticMakeMatrix(elastic, path, medium));
  PetscCall(PetscLogStagePop());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first step's fields, or those of a checkpoint */
static PetscErrorCode Begin(Cycle *c, const CycleGrid *grid, TS ts, Vec y)
{
  CycleOutputNumbers resumed;
  PetscReal          t;

  PetscFunctionBeginUser;
  PetscCall(CycleEventsCreate(grid->n, &c->events));
  if (c->opt.restart[0]) PetscCall(CycleCheckpointRead(&c->checkpoint, c->opt.restart, ts, y, &resumed));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &c->firststep));
  if (!c->opt.restart[0]) PetscCall(CycleRatesFields(&c->rates, ts, t, y));
  PetscCall(CycleStepGather(&c->rates, t, c->firststep, &c->step));
  PetscCall(CycleOutputOpen(&c->output, grid, &c->step, c->opt.restart[0] ? &resumed : NULL));
  if (!c->opt.restart[0]) {
    PetscCall(CycleEventsFollow(&c->events, &c->step, NULL));
    PetscCall(CycleOutputStep(&c->output, &c->rates, &c->events, &c->step));
  } else PetscCall(CycleOutputKeep(&c->output, &c->step));
  c->first = t;
  PetscCall(PetscTime(&c->begin));
  c->said = c->begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report(MPI_Comm comm, const Cycle *c, const Elastic *elastic, TS ts)
{
  PetscLogDouble    end, seconds;
  PetscInt          steps, rejected;
  PetscReal         t;
  TSConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&end));
  seconds = end - c->begin;
  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCheck(reason > 0, comm, PETSC_ERR_NOT_CONVERGED, "The run has ended early: %s", TSConvergedReasons[reason]);
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetStepRejections(ts, &rejected));
  PetscCall(PetscPrintf(comm, "%.6g years, %" PetscInt_FMT " steps, %" PetscInt_FMT " rejected, %" PetscInt64_FMT " evaluations; %.3g s, %.0f steps/s\n",
                        (double)(t / (PetscReal)CYCLE_YEAR), steps, rejected, c->rates.calls, (double)seconds, (double)(steps - c->firststep) / seconds));
  if (elastic->solves) {
    PetscCall(PetscPrintf(comm, "%" PetscInt64_FMT " elastic solves, %.3g iterations each, %.3g solves/s\n", elastic->solves,
                          (double)elastic->iterations / (double)elastic->solves, (double)elastic->solves / elastic->seconds));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(MPI_Comm comm)
{
  char      problem[16] = "bp1", medium[4000], text[4000];
  PetscBool mms;
  CycleRock rock;
  CycleLaw  law;
  CycleGrid grid;
  Elastic   elastic;
  CycleMMS  manufactured;
  Cycle     c = {.opt = {.years = 0}};
  TS        ts;
  Vec       y;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-problem", problem, sizeof(problem), NULL));
  PetscCall(PetscStrcmp(problem, "mms", &mms));
  PetscCall(GetOptions(comm, mms, &c.opt));
  PetscCall(CycleRockFromOptions(comm, problem, &rock, &law));
  PetscCall(CycleOutputFromOptions(comm, problem, &c.output));
  c.output.density = rock.rho;
  if (!c.opt.file[0]) PetscCall(PetscSNPrintf(c.opt.file, sizeof(c.opt.file), "%s%scheckpoint.bin", c.output.folder, c.output.folder[0] ? "/" : ""));
  PetscCall(CycleGridCreate(comm, &rock, &law, mms, &grid));
  PetscCall(CycleGridView(&grid, comm));
  PetscCall(ElasticCreate(&grid, (PetscReal)(mms ? 1e-12 : 1e-8), &elastic));
  if (mms) PetscCall(CycleMMSCreate(&rock, &law, &elastic, &manufactured));
  PetscCall(Describe(problem, &rock, &law, &grid, c.opt.matrix, sizeof(text), medium, text));
  if (c.opt.matrix) PetscCall(MakeMatrix(medium, c.opt.matrixfile, &elastic));
  PetscCall(CycleRatesCreate(&law, &rock, &grid, &elastic, mms ? &manufactured : NULL, &c.rates));
  PetscCall(CycleStepCreate(&grid, &c.rates, &c.step));
  PetscCall(CycleRatesBegin(&c.rates, &y));
  PetscCall(PetscLogStageRegister("Output", &c.stage));
  PetscCall(CreateTS(comm, mms, &c, &ts));
  c.checkpoint = (CycleCheckpoint){.rates = &c.rates, .events = &c.events, .output = &c.output, .text = text};
  PetscCall(Begin(&c, &grid, ts, y));
  PetscCall(TSSolve(ts, y));
  PetscCall(CycleEventsFinish(&c.events, &c.step, CycleOutputEvents(&c.output)));
  PetscCall(Report(comm, &c, &elastic, ts));
  if (mms) PetscCall(CycleRatesErrors(&c.rates, y));
  if (c.opt.picture[0]) PetscCall(CyclePicture(c.opt.picture, &c.rates, &rock, c.step.time, y));
  PetscCall(CycleOutputClose(&c.output));
  PetscCall(CycleEventsDestroy(&c.events));
  PetscCall(CycleStepDestroy(&c.step));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&y));
  PetscCall(CycleRatesDestroy(&c.rates));
  PetscCall(ElasticDestroy(&elastic));
  PetscCall(CycleGridDestroy(&grid));
  PetscCall(CycleRockDestroy(&rock));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(Run(PETSC_COMM_WORLD));
  PetscCall(PetscFinalize());
  return 0;
}
