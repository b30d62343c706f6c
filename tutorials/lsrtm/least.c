/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Least-squares migration: the image with the nearest data, by PETSc's solvers, unchanged.

   KSPLSQR applies a preconditioner to the normal equations; a diagonal matrix of the illumination scales the equations.
   KSPCG needs b = J^T d, and visits each shot once an iteration. TAOBRGN adds a weight times the sum of magnitudes.
*/

#include "lsrtm.h"
#include <petsctao.h>
#include <petsctime.h>

const char *const LsrtmMethods[] = {"lsqr", "cg", "l1", "LsrtmMethod", "LSRTM_", NULL};

typedef struct {
  const Survey  *survey;
  Least         *least;
  Vec            right, work; /* of CG; of the data */
  PetscReal      norm;        /* of the data */
  PetscReal      last;        /* misfit of TAO's iterations */
  PetscInt       made;
  PetscLogDouble begin; /* of the solve */
} Context;

static PetscErrorCode Note(Context *c, PetscInt iteration, PetscReal misfit)
{
  PetscFunctionBegin;
  if (iteration <= LSRTM_ITERATIONS) c->least->misfit[iteration] = misfit;
  c->made = PetscMin(iteration, LSRTM_ITERATIONS);
  PetscCall(PetscPrintf(c->survey->comm, "  %3" PetscInt_FMT "  %.4f\n", iteration, (double)misfit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ KSP */

/* The solve ends here if the time does not suffice for another iteration, half of one for the residual, and a picture */
static PetscErrorCode EndInTime(KSP ksp, const Context *c, PetscInt iteration)
{
  const Least   *least = c->least;
  PetscLogDouble now;
  PetscMPIInt    late;

  PetscFunctionBegin;
  if (least->limit <= 0 || !iteration) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&now));
  late = now - least->start + 1.6 * (now - c->begin) / (double)iteration > (double)least->limit;
  PetscCallMPI(MPI_Bcast(&late, 1, MPI_INT, 0, c->survey->comm));
  if (late) PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, iteration));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MonitorLSQR(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  Context *c = (Context *)context;

  PetscFunctionBegin;
  PetscCall(Note(c, iteration, norm / c->norm));
  PetscCall(EndInTime(ksp, c, iteration));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |J x - d|^2 = |d|^2 - <x, b>, since the residual of CG is orthogonal to x */
static PetscErrorCode MonitorCG(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  Context    *c = (Context *)context;
  PetscScalar dot;
  Vec         x;

  PetscFunctionBegin;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecDot(x, c->right, &dot));
  PetscCall(Note(c, iteration, PetscSqrtReal(PetscMax(0, 1 - PetscRealPart(dot) / PetscSqr(c->norm)))));
  PetscCall(EndInTime(ksp, c, iteration));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The illumination, with a shift that keeps the inverse small where no waves are */
static PetscErrorCode CreateScale(const Survey *s, Vec illumination, Mat *scale)
{
  Vec       diagonal;
  PetscReal most;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(illumination, &diagonal));
  PetscCall(VecCopy(illumination, diagonal));
  PetscCall(VecMax(diagonal, NULL, &most));
  PetscCall(VecShift(diagonal, most * (PetscReal)1e-3));
  PetscCall(MatCreateDiagonal(diagonal, scale));
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveKSP(Context *c, Vec illumination, Vec image)
{
  const Survey *s     = c->survey;
  Least        *least = c->least;
  Mat           A = s->J, scale = NULL;
  KSP           ksp;
  PC            pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(s->comm, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  if (least->method == LSRTM_CG) {
    PetscCall(MatBornGetNormal(s->J, &A));
    PetscCall(VecDuplicate(image, &c->right));
    PetscCall(MatMultTranspose(s->J, s->data, c->right));
  }
  if (least->scale) PetscCall(CreateScale(s, illumination, &scale));
  PetscCall(KSPSetType(ksp, least->method == LSRTM_CG ? KSPCG : KSPLSQR));
  PetscCall(KSPSetOperators(ksp, A, scale ? scale : A));
  PetscCall(PCSetType(pc, scale ? PCJACOBI : PCNONE));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-8, 0, PETSC_CURRENT, least->iterations));
  PetscCall(KSPMonitorSet(ksp, least->method == LSRTM_CG ? MonitorCG : MonitorLSQR, c, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, least->method == LSRTM_CG ? c->right : s->data, image));
  if (least->method == LSRTM_CG) PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&scale));
  PetscCall(VecDestroy(&c->right));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ TAO */

#if PetscDefined(USE_COMPLEX) /* PETSc compiles TAOBRGN for real scalars only, and MATBORN is real too: the program has ended before */
static PetscErrorCode SolveTao(Context *c, Vec image)
{
  PetscFunctionBegin;
  (void)image;
  PetscCheck(PETSC_FALSE, c->survey->comm, PETSC_ERR_SUP, "-method l1 needs a PETSc with real scalars");
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode Residual(Tao tao, Vec x, Vec r, void *context)
{
  Context *c = (Context *)context;

  PetscFunctionBegin;
  PetscCall(MatMult(c->survey->J, x, r));
  PetscCall(VecAXPY(r, -1, c->survey->data));
  PetscCall(VecNorm(r, NORM_2, &c->last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobian(Tao tao, Vec x, Mat J, Mat unused, void *context)
{
  PetscFunctionBegin; /* the Jacobian does not depend on x */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MonitorTao(Tao tao, void *context)
{
  Context *c = (Context *)context;
  PetscInt iteration;

  PetscFunctionBegin;
  PetscCall(TaoGetIterationNumber(tao, &iteration));
  PetscCall(Note(c, iteration, c->last / c->norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveTao(Context *c, Vec image)
{
  const Survey *s = c->survey;
  Tao           tao, inner;
  KSP           ksp;
  Vec           residual, gradient;
  PetscReal     most, norm[2];

  PetscFunctionBegin;
  PetscCall(VecDuplicate(s->data, &residual));
  PetscCall(VecDuplicate(image, &gradient));
  /* the image vanishes at a weight of max |J^T d|; the size along the steepest descent is |J^T d|^2 / |J J^T d|^2 times that weight */
  PetscCall(MatMultTranspose(s->J, s->data, gradient));
  PetscCall(VecNorm(gradient, NORM_INFINITY, &most));
  PetscCall(VecNorm(gradient, NORM_2, &norm[0]));
  PetscCall(MatMult(s->J, gradient, residual));
  PetscCall(VecNorm(residual, NORM_2, &norm[1]));
  PetscCall(VecSet(image, 0));
  PetscCall(TaoCreate(s->comm, &tao));
  PetscCall(TaoSetType(tao, TAOBRGN));
  PetscCall(TaoSetSolution(tao, image));
  PetscCall(TaoSetResidualRoutine(tao, residual, Residual, c));
  PetscCall(TaoSetJacobianResidualRoutine(tao, s->J, s->J, Jacobian, c));
  PetscCall(TaoBRGNSetRegularizationType(tao, TAOBRGN_REGULARIZATION_L1DICT));
  PetscCall(TaoBRGNSetRegularizerWeight(tao, c->least->l1 * most));
  PetscCall(TaoBRGNSetL1SmoothEpsilon(tao, most * PetscSqr(norm[0] / norm[1]) / 10));
  PetscCall(TaoSetMaximumIterations(tao, c->least->iterations));
  PetscCall(TaoSetTolerances(tao, 0, (PetscReal)1e-4, (PetscReal)1e-4));
  PetscCall(TaoBRGNGetSubsolver(tao, &inner));
  PetscCall(TaoMonitorSet(inner, MonitorTao, c, NULL));
  PetscCall(TaoSetFromOptions(tao));
  PetscCall(TaoSetUp(tao));
  PetscCall(TaoGetKSP(inner, &ksp));
  if (ksp) PetscCall(KSPSetTolerances(ksp, (PetscReal)0.1, 0, PETSC_CURRENT, 6)); /* of a Newton step, whose curvature changes anyway */
  PetscCall(TaoSolve(tao));
  PetscCall(TaoDestroy(&tao));
  PetscCall(VecDestroy(&residual));
  PetscCall(VecDestroy(&gradient));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode LeastSolve(const Survey *s, Least *least, Vec illumination, Vec image)
{
  Context        c = {.survey = s, .least = least};
  PetscLogDouble end;

  PetscFunctionBegin;
  PetscCall(VecNorm(s->data, NORM_2, &c.norm));
  PetscCheck(c.norm > 0, s->comm, PETSC_ERR_USER_INPUT, "The data are zero: is the model smooth already, or the time too short?");
  PetscCall(PetscPrintf(s->comm, "%s: misfit, by that of no image\n", LsrtmMethods[least->method]));
  PetscCall(PetscTime(&c.begin));
  if (least->method == LSRTM_L1) PetscCall(SolveTao(&c, image));
  else PetscCall(SolveKSP(&c, illumination, image));
  PetscCall(PetscTime(&end));
  least->seconds    = (PetscReal)(end - c.begin);
  least->iterations = c.made;
  PetscFunctionReturn(PETSC_SUCCESS);
}
