/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static const char help[] = "Waves of one frequency in a heterogeneous medium: BiCGSTAB, preconditioned by multigrid on the shifted Laplacian.\n\
  -pc_type gridmg                           the default: de Zeeuw's interpolation, stencils of 8 and 16 bits\n\
  -dm_vec_type cuda -dm_mat_type vcrs       all of it on GPUs\n\
  -compare                                  nothing compressed, and then all\n\
  -sources 16 -ksp_type bcgsm          16 sources at once\n\n";

#include "problem.h"
#include "split.h"
#include <lithemat.h>
#include <lithepc.h>
#include <petscksp.h>
#include <petsctime.h>
#include <tutorials/common/gridfile.h>
#include <tutorials/common/output.h>
#include <tutorials/common/plot.h>

/* Velocity above, the wavefield below, without the layer. In three dimensions the vertical planes through the source,
   and the horizontal plane in the middle */
static PetscErrorCode WritePicture(const Helmholtz *problem, Vec p, const char path[])
{
  const Vec          x[]      = {problem->speed, p};
  const PetscReal   *source   = problem->source;
  const int          fixed[3] = {1, 0, 2};
  PetscInt           n[3], at[3] = {0, 0, 0};
  PetscInt64         stride[3] = {0, 0, 0}, corner = 0, next = PLOT_SCALAR;
  PetscReal          length[3], where[3];
  const PetscScalar *a;
  char               title[128];
  PetscMPIInt        rank;
  Plot               plot;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)p), &rank));
  /* x, y and depth; a grid of two dimensions is x and depth */
  for (PetscInt d = 0; d < 3; d++) {
    const PetscInt e = problem->dim == 2 && d ? d - 1 : d;

    n[d]      = 1;
    length[d] = where[d] = 0;
    if (problem->dim == 2 && d == 1) continue;
    n[d]      = problem->n[e] - 2 * problem->layer;
    length[d] = problem->h * (PetscReal)(n[d] - 1);
    where[d]  = source[e];
    at[d]     = d == 2 ? n[d] / 2 : PetscMin(n[d] - 1, (PetscInt)(source[e] / problem->h + (PetscReal)0.5));
    stride[d] = next;
    corner += problem->layer * next;
    next *= problem->n[e];
  }
  if (!rank) PetscCall(PlotOpen(path, &plot));
  for (int row = 0; row < 2; row++) {
    Vec all;

    PetscCall(GridGather(problem->da, x[row], &all));
    PetscCall(VecGetArrayRead(all, &a));
    for (int column = 0; column < (problem->dim == 3 ? 3 : 1) && !rank; column++) {
      const int      d     = fixed[column];
      const PlotMark mark  = {.x = where[d == 0], .y = where[d == 2 ? 1 : 2], .name = ""};
      PlotPanel      panel = {.row = row, .column = column, .title = title, .label = row ? "pressure, real part" : "velocity, m/s", .nmarks = 1, .mark = &mark};

      if (row) { /* waves decay with the distance from the source */
        panel.colours = "RdBu_r";
        panel.range   = "symmetric";
        PetscCall(PetscSNPrintf(title, sizeof(title), "wavefield of %.4g Hz", (double)problem->frequency));
      } else PetscCall(PetscStrncpy(title, "velocity of sound", sizeof(title)));
      if (problem->dim == 3) {
        char place[64];

        PetscCall(PetscSNPrintf(place, sizeof(place), ", %s = %.4g m", d == 2 ? "depth" : (d ? "y" : "x"), (double)(problem->h * (PetscReal)at[d])));
        PetscCall(PetscStrlcat(title, place, sizeof(title)));
      }
      PlotPlane(&panel, d, at[d], n, length, stride, (const PetscReal *)a + corner);
      PetscCall(PlotAdd(&plot, &panel));
    }
    PetscCall(VecRestoreArrayRead(all, &a));
    PetscCall(VecDestroy(&all));
  }
  if (!rank) PetscCall(PlotClose(&plot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner, of the shifted Laplacian */
static PetscErrorCode SetPC(const Helmholtz *problem, PC pc, Mat A, Mat M)
{
  PetscFunctionBegin;
  PetscCall(PCSetOperators(pc, A, M));
  PetscCall(PCSetDM(pc, problem->da));
  PetscCall(PCSetType(pc, PCGRIDMG));
  PetscCall(HelmholtzSetMultigrid(problem, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The main loop of processes which only apply the preconditioner */
static PetscErrorCode Serve(Split *split, Helmholtz *problem, PetscReal beta1, PetscReal beta2)
{
  Mat M;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(HelmholtzSetUp(split->group, problem));
  PetscCall(SplitConnect(split, problem->da));
  PetscCall(HelmholtzCreateMatrix(problem, beta1, beta2, NULL, "shifted_", &M));
  PetscCall(PCCreate(split->group, &pc));
  PetscCall(SetPC(problem, pc, M, M));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(SplitServe(split, pc, problem->da));
  PetscCall(PCViewFromOptions(pc, NULL, "-pc_view"));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A measured solve. time: in seconds, without the one-time work of a matrix's first product */
static PetscErrorCode SolveWith(KSP ksp, Vec s, Vec p, Vec r, PetscLogDouble *time)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)ksp);
  PetscReal          norm, residual;
  PetscInt           its;
  KSPConvergedReason reason;
  PetscLogDouble     start;
  Mat                A;
  PC                 pc;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(MatMult(A, s, r));
  PetscCall(PCApply(pc, s, r));
  PetscCall(VecNorm(r, NORM_2, &norm)); /* waits for the device */

  PetscCall(VecZeroEntries(p));
  PetscCall(PetscBarrier((PetscObject)ksp));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(ksp, s, p));
  PetscCall(VecNorm(p, NORM_2, &norm));
  PetscCall(PetscTime(time));
  *time -= start;

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(MatMult(A, p, r));
  PetscCall(VecAYPX(r, -1., s));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(s, NORM_2, &norm));
  PetscCall(PetscPrintf(comm, "%s after %" PetscInt_FMT " iterations, true residual %.3e\n", KSPConvergedReasons[reason], its, (double)(residual / norm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The worst || b - A x || / || b || of all columns */
static PetscErrorCode GetWorstResidual(Mat A, Mat B, Mat X, Vec r, PetscReal *worst)
{
  PetscInt n;

  PetscFunctionBegin;
  *worst = 0;
  PetscCall(MatGetSize(B, NULL, &n));
  for (PetscInt j = 0; j < n; j++) {
    PetscReal residual, norm;
    Vec       b, x;

    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1., b));
    PetscCall(VecNorm(r, NORM_2, &residual));
    PetscCall(VecNorm(b, NORM_2, &norm));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
    *worst = PetscMax(*worst, residual / norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources on a line through the model, with one KSPMatSolve(); p: the wave of the middle source */
static PetscErrorCode SolveSources(const Helmholtz *problem, KSP ksp, PetscInt n, Vec p, Vec r)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)ksp);
  Helmholtz          each = *problem;
  VecType            type;
  PetscInt           m, N, its;
  PetscReal          norm, residual;
  KSPConvergedReason reason;
  PetscLogDouble     start, end;
  Mat                A, B, X;
  Vec                x;
  PC                 pc;

  PetscFunctionBegin;
  PetscCall(VecGetType(p, &type));
  PetscCall(VecGetLocalSize(p, &m));
  PetscCall(VecGetSize(p, &N));
  PetscCall(MatCreateDenseFromVecType(comm, type, m, PETSC_DECIDE, N, n, -1, NULL, &B));
  PetscCall(MatCreateDenseFromVecType(comm, type, m, PETSC_DECIDE, N, n, -1, NULL, &X));
  for (PetscInt j = 0; j < n; j++) {
    each.source[0] = problem->length[0] * ((PetscReal)j + (PetscReal)0.5) / (PetscReal)n;
    PetscCall(MatDenseGetColumnVecWrite(B, j, &x));
    PetscCall(HelmholtzSetSource(&each, x));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &x));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatZeroEntries(X));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetUp(ksp));

  /* one-time work of first applications */
  PetscCall(PCMatApply(pc, B, X));
  PetscCall(GetWorstResidual(A, B, X, r, &residual));
  PetscCall(MatZeroEntries(X));

  PetscCall(PetscBarrier((PetscObject)ksp));
  PetscCall(PetscTime(&start));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(MatDenseGetColumnVecRead(X, n / 2, &x));
  PetscCall(VecNorm(x, NORM_2, &norm)); /* waits for the device */
  PetscCall(PetscTime(&end));
  PetscCall(VecCopy(x, p));
  PetscCall(MatDenseRestoreColumnVecRead(X, n / 2, &x));

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(GetWorstResidual(A, B, X, r, &residual));
  PetscCall(PetscPrintf(comm, "%" PetscInt_FMT " sources: %s after %" PetscInt_FMT " iterations, true residuals at most %.3e\n", n, KSPConvergedReasons[reason],
                        its, (double)residual));
  PetscCall(PetscPrintf(comm, "solve %.3g s, %.3g solves/s\n", end - start, (double)n / (end - start)));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(MPI_Comm comm, Mat A, Mat M, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetOperators(*ksp, A, M));
  PetscCall(KSPSetType(*ksp, KSPBCGS));
  PetscCall(KSPSetTolerances(*ksp, 1e-6, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compares two solvers. The first has entries and vectors of the preconditioner in double precision, and an
   uncompressed operator. The second is the given solver, with the operator compressed without loss. setup: seconds of
   the preconditioner's set-up. The last lines give set-up and solve together
*/
static PetscErrorCode Compare(const Helmholtz *problem, KSP ksp, PetscLogDouble setup, Vec s, Vec p, Vec r)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)ksp);
  PetscLogDouble start, end, exact[2], compressed[2];
  PetscBool      grid;
  Mat            A, M, C;
  KSP            other;
  PC             pc;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, &M));
  PetscCall(CreateSolver(comm, A, M, &other));
  PetscCall(KSPGetPC(other, &pc));
  PetscCall(SetPC(problem, pc, A, M));
  PetscCall(KSPSetFromOptions(other));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCGRIDMG, &grid));
  PetscCheck(grid, comm, PETSC_ERR_USER_INPUT, "-compare needs -pc_type gridmg");
  PetscCall(PCGridMGSetBits(pc, 32, 32));
  PetscCall(PCGridMGSetPrecision(pc, PCGRIDMG_PRECISION_DOUBLE));
  PetscCall(PetscBarrier((PetscObject)ksp));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(other));
  PetscCall(PetscTime(&end));
  exact[0] = end - start;
  PetscCall(PetscPrintf(comm, "exact:      "));
  PetscCall(SolveWith(other, s, p, r, &exact[1]));
  PetscCall(KSPDestroy(&other));

  PetscCall(PetscTime(&start));
  PetscCall(MatConvert(A, "vcrs", MAT_INITIAL_MATRIX, &C));
  PetscCall(PetscTime(&end));
  compressed[0] = setup + end - start;
  PetscCall(KSPSetOperators(ksp, C, M));
  PetscCall(MatDestroy(&C));
  PetscCall(PetscPrintf(comm, "compressed: "));
  PetscCall(SolveWith(ksp, s, p, r, &compressed[1]));
  PetscCall(PetscPrintf(comm, "set-up and solve %.4g + %.4g s exact, %.4g + %.4g s compressed: %.3g times faster\n", exact[0], exact[1], compressed[0],
                        compressed[1], (exact[0] + exact[1]) / (compressed[0] + compressed[1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* split is NULL where the same processes do both */
static PetscErrorCode Solve(MPI_Comm comm, Split *split, Helmholtz *problem, PetscReal beta1, PetscReal beta2, PetscBool compare, PetscInt sources,
                            const char picture[])
{
  char           type[64] = PCGRIDMG;
  PetscLogDouble time[3], solve;
  PetscBool      rows, grid;
  Mat            A, M;
  Vec            p, s, r;
  KSP            ksp;
  PC             pc;

  PetscFunctionBegin;
  /* the matrix of the equation, and the matrix for the preconditioner */
  PetscCall(PetscTime(&time[0]));
  PetscCall(HelmholtzSetUp(comm, problem));
  if (split) PetscCall(SplitConnect(split, problem->da));
  PetscCall(HelmholtzView(problem, PETSC_VIEWER_STDOUT_(comm)));
  PetscCall(HelmholtzCreateMatrix(problem, 1., 0., NULL, NULL, &A));
  PetscCall(HelmholtzIsOnDevice(problem, A, &rows));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pc_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, PCGRIDMG, &grid));
  rows = (PetscBool)(rows && grid && !compare && !split);
  if (split || rows) {
    M = A;
    PetscCall(PetscObjectReference((PetscObject)M));
  } else PetscCall(HelmholtzCreateMatrix(problem, beta1, beta2, NULL, "shifted_", &M));
  PetscCall(DMCreateGlobalVector(problem->da, &p));
  PetscCall(PetscObjectSetName((PetscObject)p, "pressure"));
  PetscCall(VecDuplicate(p, &s));
  PetscCall(VecDuplicate(p, &r));
  PetscCall(HelmholtzSetSource(problem, s));
  PetscCall(PetscTime(&time[1]));

  PetscCall(CreateSolver(comm, A, M, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  if (split) PetscCall(SplitSetPC(split, pc));
  else PetscCall(SetPC(problem, pc, A, M));
  PetscCall(KSPSetFromOptions(ksp));
  if (rows) PetscCall(HelmholtzSetUpOnDevice(problem, beta1, beta2, pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PetscTime(&time[2]));
  PetscCall(PetscPrintf(comm, "matrices %.3g s, preconditioner %.3g s\n", time[1] - time[0], time[2] - time[1]));
  if (compare) PetscCall(Compare(problem, ksp, time[2] - time[1], s, p, r));
  else if (sources) PetscCall(SolveSources(problem, ksp, sources, p, r));
  else {
    PetscCall(SolveWith(ksp, s, p, r, &solve));
    PetscCall(PetscPrintf(comm, "solve %.3g s\n", solve));
  }
  if (picture[0]) PetscCall(WritePicture(problem, p, picture));
  PetscCall(VecViewFromOptions(problem->speed, NULL, "-velocity_view"));
  PetscCall(VecViewFromOptions(p, NULL, "-pressure_view"));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&s));
  PetscCall(VecDestroy(&p));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscReal beta1   = 1., beta2;
  PetscInt  servers = 0, sources = 0;
  PetscBool compare                     = PETSC_FALSE;
  char      picture[PETSC_MAX_PATH_LEN] = "";
  Helmholtz problem;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(HelmholtzSetFromOptions(PETSC_COMM_WORLD, &problem));
  beta2 = HelmholtzUsualShift(problem.dim);
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Preconditioner and output", NULL);
  PetscCall(PetscOptionsReal("-beta1", "Real part of the shift", NULL, beta1, &beta1, NULL));
  PetscCall(PetscOptionsReal("-beta2", "Imaginary part of the shift, with the sign of damping", NULL, beta2, &beta2, NULL));
  PetscCall(PetscOptionsBoundedInt("-preconditioner_ranks", "Processes which only apply the preconditioner; 0: all processes do both", NULL, servers, &servers,
                                   NULL, 0));
  PetscCall(PetscOptionsBool("-compare", "Solve without and then with compression", NULL, compare, &compare, NULL));
  PetscCheck(!compare || !servers, PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP, "-compare and -preconditioner_ranks exclude each other");
  PetscCall(PetscOptionsBoundedInt("-sources", "Number of sources on a line, with one KSPMatSolve(); 0: one source, with KSPSolve()", NULL, sources, &sources,
                                   NULL, 0));
  PetscCheck(!sources || (!compare && !servers), PETSC_COMM_WORLD, PETSC_ERR_ARG_INCOMP, "-sources excludes -compare and -preconditioner_ranks");
  PetscCall(PetscOptionsString("-picture", "Velocity and wavefield, .png", NULL, picture, picture, sizeof(picture), NULL));
  PetscOptionsEnd();
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-picture", picture, NULL));

  if (servers) {
    Split split;

    PetscCall(SplitCreate(PETSC_COMM_WORLD, servers, &split));
    if (split.serves) PetscCall(Serve(&split, &problem, beta1, beta2));
    else {
      PetscCall(Solve(split.group, &split, &problem, beta1, beta2, PETSC_FALSE, 0, picture));
      PetscCall(SplitStop(&split));
    }
    PetscCall(HelmholtzDestroy(&problem));
    PetscCall(SplitDestroy(&split));
  } else {
    PetscCall(Solve(PETSC_COMM_WORLD, NULL, &problem, beta1, beta2, compare, sources, picture));
    PetscCall(HelmholtzDestroy(&problem));
  }
  PetscCall(PetscFinalize());
  return 0;
}
