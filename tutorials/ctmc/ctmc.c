/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A Markov chain over time: a wireless channel, the queue M/M/1/K, or a chain from a file.\n\n";

/*
   -model wireless|queue|file  what is solved
   -K, -R, -lambda, -beta0, -mu, -pc, -pe  of the wireless channel; -K, -lambda and -mu of the queue
   -tra FILE, -lab FILE, -initial STATE  a chain in a file, its labels, its initial state
   -rows host|device           where the rows of the wireless channel are made; rows on devices become a MATVCRS there
   -shares even|trial|A,B,...  how the states are divided among processes, see shares.c
   -final TIME, -times N       output at N times, 100 by default, after the first
   -picture FILE.png           the distribution of the queue's length over time
   -chain_view                 Q^T, as -mat_view takes it
   -count                      of the wireless channel: print states and nonzeros, and stop
   -ts_type, -mat_type, -vec_type and all options of these types
*/

#include "ctmc.h"
#include <lithe.h>
#include <tutorials/common/output.h>
#include <tutorials/common/plot.h>

/* The model to solve */
typedef struct {
  PetscInt model; /* 0: wireless, 1: queue, 2: file */
  Wireless w;     /* of the queue: K, lambda and mu */
  char     tra[PETSC_MAX_PATH_LEN], lab[PETSC_MAX_PATH_LEN];
  PetscInt initial;
  PetscInt rows; /* rows of the wireless channel; 1: on a device */
} Model;

typedef struct {
  Chain     *chain;
  PetscInt   column, columns;
  PetscReal *field;  /* probabilities of lengths, columns * nlevels */
  PetscReal *levels; /* of a single time */
  PetscInt   every;  /* printed lines */
  PetscBool  rewards;
  Vec        reward; /* the length of the queue */
} Output;

/* The probability of each length, or of each label, at a time */
static PetscErrorCode Monitor(TS ts, PetscInt step, PetscReal t, Vec p, void *ctx)
{
  Output            *o = (Output *)ctx;
  Chain             *c = o->chain;
  const PetscScalar *pp;
  PetscInt           n;
  PetscScalar        sum;

  PetscFunctionBeginUser;
  if (step < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSum(p, &sum));
  if (c->nlevels) {
    PetscReal length = 0;

    PetscCall(PetscArrayzero(o->levels, c->nlevels));
    PetscCall(VecGetLocalSize(p, &n));
    PetscCall(VecGetArrayRead(p, &pp));
    for (PetscInt i = 0; i < n; i++) o->levels[c->level[i]] += PetscRealPart(pp[i]);
    PetscCall(VecRestoreArrayRead(p, &pp));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, o->levels, (PetscMPIInt)c->nlevels, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)ts)));
    for (PetscInt i = 0; i < c->nlevels; i++) {
      length += (PetscReal)i * o->levels[i];
      if (o->column < o->columns) o->field[i * o->columns + o->column] = o->levels[i];
    }
    if (o->column % o->every == 0) {
      PetscReal until = 0;

      if (o->rewards) PetscCall(TSUniformizationGetReward(ts, &until, NULL));
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts), "%10.4g %14.6f", (double)t, (double)length));
      if (o->rewards) PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts), " %14.6f", t > 0 ? (double)(until / t) : 0.0));
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts), " %14.6e %12.2e\n", (double)o->levels[c->nlevels - 1], (double)(PetscRealPart(sum) - 1)));
    }
  } else if (o->column % o->every == 0) {
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts), "%10.4g", (double)t));
    for (PetscInt i = 0; i < c->nlabels; i++) {
      PetscScalar dot;

      PetscCall(VecDot(p, c->member[i], &dot));
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts), " %14.6e", (double)PetscRealPart(dot)));
    }
    PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ts), " %12.2e\n", (double)(PetscRealPart(sum) - 1)));
  }
  o->column++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Draw(Output *o, PetscReal final, const char path[])
{
  const PetscInt places = o->chain->nlevels;
  PlotPanel      panel  = {.title  = "length of a queue over time",
                           .xlabel = "time",
                           .ylabel = "frames in the queue",
                           .label  = "probability",
                           .range  = "log",
                           .nx     = o->columns,
                           .ny     = places,
                           .value  = o->field,
                           .stride = {1, o->columns},
                           .x      = {0, final},
                           .y      = {-0.5, (PetscReal)places - 0.5}};
  Plot           plot;

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < o->columns * places; i++) o->field[i] = PetscMax(o->field[i], (PetscReal)1e-5);
  PetscCall(PlotOpen(path, &plot));
  PetscCall(PlotAdd(&plot, &panel));
  PetscCall(PlotClose(&plot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeWireless(const Model *m, const Shares *shares, Chain *chain)
{
  ChainRows rows;

  PetscFunctionBeginUser;
  if (m->rows) {
    PetscCall(WirelessRowsCreate(PETSC_COMM_WORLD, &m->w, shares, PETSC_TRUE, &rows));
    PetscCall(ChainWirelessFromRows(PETSC_COMM_WORLD, &m->w, &rows, chain));
    PetscCall(ChainRowsDestroy(&rows));
  } else PetscCall(ChainWireless(PETSC_COMM_WORLD, &m->w, shares, chain));
  PetscCall(ChainWirelessLevels(&m->w, chain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeChain(const Model *m, const Shares *shares, Chain *chain)
{
  PetscLogDouble start, made;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&start));
  if (m->model == 0) PetscCall(MakeWireless(m, shares, chain));
  else if (m->model == 1) PetscCall(ChainQueue(PETSC_COMM_WORLD, m->w.K, m->w.lambda, m->w.mu, shares, chain));
  else PetscCall(ChainFile(PETSC_COMM_WORLD, m->tra, m->lab, m->initial, shares, chain));
  PetscCall(PetscTime(&made));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt64_FMT " states, %" PetscInt64_FMT " nonzeros, made in %.3f s\n", chain->name, chain->n, chain->nz,
                        made - start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver, as for any linear right-hand side */
static PetscErrorCode MakeSolver(const Chain *chain, PetscReal final, TS *ts)
{
  PetscFunctionBeginUser;
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetProblemType(*ts, TS_LINEAR));
  PetscCall(TSSetType(*ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(*ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(*ts, chain->A, chain->A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetMaxTime(*ts, final));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve without intermediate outputs; then the chain is made again, with the shares from the solve */
static PetscErrorCode Trial(const Model *model, PetscReal final, Shares *shares, Chain *chain)
{
  TS             ts;
  Vec            p;
  PetscBool      isours, others;
  PetscLogDouble start, solved;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&start));
  PetscCall(MakeSolver(chain, final, &ts));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSUNIFORMIZATION, &isours));
  PetscCheck(isours, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP, "-shares trial needs -ts_type uniformization");
  PetscCall(VecDuplicate(chain->p, &p));
  PetscCall(VecCopy(chain->p, p));
  PetscCall(TSSolve(ts, p));
  PetscCall(PetscTime(&solved));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "trial: solved in %.3f s\n", solved - start));
  PetscCall(SharesFromSolve(shares, ts, &others));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&p));
  if (others) {
    PetscCall(ChainDestroy(chain));
    PetscCall(MakeChain(model, shares, chain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const models[] = {"wireless", "queue", "file"}, *const rows[] = {"host", "device"};
  PetscInt       times = 100, places, lines = 20, begin, end;
  PetscBool      count                       = PETSC_FALSE, set, isours;
  PetscReal      final                       = 10, *span;
  char           picture[PETSC_MAX_PATH_LEN] = "";
  Model          model                       = {.w = {20, 7, 20, 80, 100, 0.1, 0.05}, .initial = -1};
  Wireless      *w                           = &model.w;
  Shares         shares;
  Chain          chain;
  Output         o = {0};
  TS             ts;
  PetscMPIInt    rank;
  PetscLogDouble start, solved;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "A Markov chain over time", NULL);
  PetscCall(PetscOptionsEList("-model", "The chain", NULL, models, 3, models[model.model], &model.model, NULL));
  if (model.model == 1) {
    w->lambda = 0.8;
    w->mu     = 1;
  }
  PetscCall(PetscOptionsInt("-K", "Places of a queue", NULL, w->K, &w->K, NULL));
  PetscCall(PetscOptionsInt("-R", "How often a frame is tried", NULL, w->R, &w->R, NULL));
  PetscCall(PetscOptionsReal("-lambda", "Rate of arrivals at a queue", NULL, w->lambda, &w->lambda, NULL));
  PetscCall(PetscOptionsReal("-beta0", "Rate of first tries", NULL, w->beta0, &w->beta0, NULL));
  PetscCall(PetscOptionsReal("-mu", "Rate of service", NULL, w->mu, &w->mu, NULL));
  PetscCall(PetscOptionsReal("-pc", "Probability of a failed try", NULL, w->pc, &w->pc, NULL));
  PetscCall(PetscOptionsReal("-pe", "Probability of an error", NULL, w->pe, &w->pe, NULL));
  PetscCall(PetscOptionsEList("-rows", "Place where rows are made", NULL, rows, 2, rows[model.rows], &model.rows, NULL));
  PetscCall(PetscOptionsString("-tra", "File of transitions", NULL, model.tra, model.tra, sizeof(model.tra), &set));
  if (set) model.model = 2;
  PetscCall(PetscOptionsString("-lab", "File of labels", NULL, model.lab, model.lab, sizeof(model.lab), NULL));
  PetscCall(PetscOptionsInt("-initial", "Initial state of a chain from a file", NULL, model.initial, &model.initial, NULL));
  PetscCall(PetscOptionsReal("-final", "The last time", NULL, final, &final, NULL));
  PetscCall(PetscOptionsInt("-times", "Times of output", NULL, times, &times, NULL));
  PetscCall(PetscOptionsInt("-lines", "Lines of output, about", NULL, lines, &lines, NULL));
  PetscCall(PetscOptionsString("-picture", "PNG file", NULL, picture, picture, sizeof(picture), NULL));
  PetscCall(PetscOptionsBool("-count", "Count states and nonzeros only", NULL, count, &count, NULL));
  PetscOptionsEnd();
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-picture", picture, NULL));
  PetscCheck(times >= 1 && lines >= 1 && final > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-times, -lines and -final must be positive");
  PetscCheck(model.model < 2 || model.tra[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-model file needs -tra FILE");
  if (count) {
    PetscInt64 n, nz;

    WirelessCount(w, &n, &nz);
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "K %" PetscInt_FMT ", R %" PetscInt_FMT ": %" PetscInt64_FMT " states, %" PetscInt64_FMT " nonzeros\n", w->K, w->R, n, nz));
    PetscCall(PetscFinalize());
    return 0;
  }

  /* The chain */
  PetscCall(SharesSetFromOptions(PETSC_COMM_WORLD, &shares));
  PetscCall(MakeChain(&model, &shares, &chain));
  if (shares.trial) PetscCall(Trial(&model, final, &shares, &chain));
  PetscCall(MatViewFromOptions(chain.A, NULL, "-chain_view"));

  PetscCall(MakeSolver(&chain, final, &ts));
  PetscCall(PetscMalloc1(times + 1, &span));
  for (PetscInt i = 0; i <= times; i++) span[i] = final * (PetscReal)i / (PetscReal)times;
  PetscCall(TSSetTimeSpan(ts, times + 1, span));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(PetscFree(span));

  /* The printed columns */
  o.chain   = &chain;
  o.columns = times + 1;
  o.every   = PetscMax(times / lines, 1);
  places    = chain.nlevels;
  PetscCall(PetscCalloc2(o.columns * places, &o.field, places, &o.levels));
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSUNIFORMIZATION, &isours));
  if (places && isours) {
    PetscScalar *rr;

    o.rewards = PETSC_TRUE;
    PetscCall(VecDuplicate(chain.p, &o.reward));
    PetscCall(VecGetOwnershipRange(o.reward, &begin, &end));
    PetscCall(VecGetArrayWrite(o.reward, &rr));
    for (PetscInt i = 0; i < end - begin; i++) rr[i] = (PetscScalar)(PetscReal)chain.level[i];
    PetscCall(VecRestoreArrayWrite(o.reward, &rr));
    PetscCall(TSUniformizationSetReward(ts, o.reward));
  }
  if (places) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "      time   queue length%s      loss prob.     mass - 1\n", o.rewards ? "  mean until t" : ""));
  else {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "      time"));
    for (PetscInt i = 0; i < chain.nlabels; i++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %14.14s", chain.label[i]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "     mass - 1\n"));
  }
  PetscCall(TSMonitorSet(ts, Monitor, &o, NULL));
  PetscCall(PetscTime(&start));
  PetscCall(TSSolve(ts, chain.p));
  PetscCall(PetscTime(&solved));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved in %.3f s", solved - start));
  if (isours) {
    TSUniformizationInfo info;

    PetscCall(TSUniformizationGetInfo(ts, &info));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", alpha %g, %" PetscInt64_FMT " products, %" PetscInt64_FMT " sums, %" PetscInt_FMT " passes, error at most %.2e",
                          (double)info.alpha, info.products, info.sums, info.passes, (double)info.bound));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  if (model.model == 1) {
    PetscReal *exact, difference = 0;

    PetscCall(PetscMalloc1(places, &exact));
    QueueExact(&chain, final, exact);
    for (PetscInt i = 0; i < places; i++) difference += PetscAbsReal(exact[i] - o.levels[i]);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "|| p - exact ||_1 at time %g: %.2e\n", (double) final, (double)difference));
    PetscCall(PetscFree(exact));
  }
  if (picture[0] && places && rank == 0) PetscCall(Draw(&o, final, picture));
  PetscCall(PetscFree2(o.field, o.levels));
  PetscCall(VecDestroy(&o.reward));
  PetscCall(TSDestroy(&ts));
  PetscCall(ChainDestroy(&chain));
  PetscCall(SharesDestroy(&shares));
  PetscCall(PetscFinalize());
  return 0;
}
