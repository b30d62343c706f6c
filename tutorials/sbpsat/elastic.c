/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The stress on the fault by its slip: a solve, or a product with the matrix of all such solves */

#include "cycle.h"
#include <lithepc.h>
#include <petsctime.h>

PetscErrorCode ElasticCreate(const CycleGrid *grid, PetscReal rtol, Elastic *e)
{
  PetscBool preonly;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(e, sizeof(*e)));
  e->grid = grid;
  PetscCall(DMCreateGlobalVector(grid->da, &e->u));
  PetscCall(VecDuplicate(e->u, &e->b));
  PetscCall(VecDuplicate(e->u, &e->g));
  PetscCall(VecDuplicate(e->u, &e->t));
  PetscCall(VecSet(e->u, 0));
  PetscCall(VecSet(e->g, 0));
  PetscCall(VecSet(e->t, 0));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)grid->da), &e->ksp));
  PetscCall(KSPSetOperators(e->ksp, grid->A, grid->A));
  PetscCall(KSPSetType(e->ksp, KSPCG));
  PetscCall(KSPSetNormType(e->ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(e->ksp, rtol, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPGetPC(e->ksp, &pc));
  PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(KSPSetInitialGuessNonzero(e->ksp, PETSC_TRUE)); /* the displacement of the call before */
  PetscCall(KSPSetFromOptions(e->ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)e->ksp, KSPPREONLY, &preonly));
  if (preonly) PetscCall(KSPSetInitialGuessNonzero(e->ksp, PETSC_FALSE));
  PetscCall(KSPSetUp(e->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ElasticDestroy(Elastic *e)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&e->ksp));
  PetscCall(VecDestroy(&e->u));
  PetscCall(VecDestroy(&e->b));
  PetscCall(VecDestroy(&e->g));
  PetscCall(VecDestroy(&e->t));
  PetscCall(VecDestroy(&e->load));
  PetscCall(VecDestroy(&e->loadstress));
  PetscCall(MatDestroy(&e->K));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right-hand side and data of the fault. slip NULL: 0 */
static PetscErrorCode SetData(Elastic *e, Vec slip, PetscReal load)
{
  PetscFunctionBeginUser;
  if (slip) {
    PetscCall(VecScatterBegin(e->grid->toface, slip, e->g, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(e->grid->toface, slip, e->g, INSERT_VALUES, SCATTER_REVERSE));
    PetscCall(VecScale(e->g, 0.5)); /* zero elsewhere */
  } else PetscCall(VecSet(e->g, 0));
  if (e->load) {
    PetscCall(VecCopy(e->load, e->b));
    PetscCall(VecScale(e->b, load));
  } else PetscCall(VecSet(e->b, 0));
  PetscCall(MatSBPSATAddBoundary(e->grid->A, MATSBPSAT_LEFT, e->g, e->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ElasticSolve(Elastic *e, Vec slip, PetscReal load)
{
  KSPConvergedReason reason;
  PetscLogDouble     begin, end;
  PetscInt           its;

  PetscFunctionBeginUser;
  PetscCall(SetData(e, slip, load));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSolve(e->ksp, e->b, e->u));
  PetscCall(KSPGetIterationNumber(e->ksp, &its));
  PetscCall(PetscTime(&end));
  PetscCall(KSPGetConvergedReason(e->ksp, &reason));
  PetscCheck(reason > 0, PetscObjectComm((PetscObject)e->ksp), PETSC_ERR_NOT_CONVERGED,
             "The elastic solve has not converged: %s after %" PetscInt_FMT " iterations", KSPConvergedReasons[reason], its);
  e->seconds += end - begin;
  e->solves++;
  e->iterations += its;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the last solution exerts on the fault: the outward normal of the left face points to the other side */
static PetscErrorCode GetStress(Elastic *e, Vec stress)
{
  PetscFunctionBeginUser;
  PetscCall(MatSBPSATGetTraction(e->grid->A, MATSBPSAT_LEFT, e->u, e->g, e->t));
  PetscCall(VecScatterBegin(e->grid->toface, e->t, stress, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(e->grid->toface, e->t, stress, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScale(stress, -1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ElasticSetLoad(Elastic *e, Vec b)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectReference((PetscObject)b));
  e->load = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ElasticStress(Elastic *e, Vec slip, PetscReal load, Vec stress)
{
  PetscFunctionBeginUser;
  if (e->K) {
    PetscCall(MatMult(e->K, slip, stress));
    if (e->loadstress) PetscCall(VecAXPY(stress, load, e->loadstress));
  } else {
    PetscCall(ElasticSolve(e, slip, load));
    PetscCall(GetStress(e, stress));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the matrix */

#define TEXT_MAX 2048

static PetscErrorCode ReadMatrix(Elastic *e, PetscViewer viewer, const char path[], const char text[])
{
  char     found[TEXT_MAX];
  PetscInt length;
  MPI_Comm comm = PetscObjectComm((PetscObject)e->ksp);

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryRead(viewer, &length, 1, NULL, PETSC_INT));
  PetscCheck(length > 0 && length < TEXT_MAX, comm, PETSC_ERR_FILE_UNEXPECTED, "%s has no matrix of a fault", path);
  PetscCall(PetscViewerBinaryRead(viewer, found, length, NULL, PETSC_CHAR));
  found[length] = 0;
  {
    PetscBool same;

    PetscCall(PetscStrcmp(found, text, &same));
    PetscCheck(same, comm, PETSC_ERR_USER_INPUT, "%s has the matrix of another problem.\nFile:    %s\nProblem: %s\nName another file with -matrix_file", path,
               found, text);
  }
  PetscCall(MatCreateDense(comm, e->grid->own, e->grid->own, e->grid->n, e->grid->n, NULL, &e->K));
  PetscCall(MatLoad(e->K, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteMatrix(Elastic *e, const char path[], const char text[])
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)e->ksp);
  PetscViewer viewer;
  PetscInt    length;
  size_t      size;

  PetscFunctionBeginUser;
  PetscCall(PetscStrlen(text, &size));
  length = (PetscInt)size;
  PetscCall(PetscViewerBinaryOpen(comm, path, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinaryWrite(viewer, &length, 1, PETSC_INT));
  PetscCall(PetscViewerBinaryWrite(viewer, text, length, PETSC_CHAR));
  PetscCall(MatView(e->K, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column is the stress of a slip of 1 at one node */
static PetscErrorCode ComputeMatrix(Elastic *e)
{
  const CycleGrid *grid = e->grid;
  Vec              slip, column;
  PetscInt         begin, stop;
  PetscLogDouble   start, last, now;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(grid->fault, &slip));
  PetscCall(VecGetOwnershipRange(slip, &begin, &stop));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)e->ksp), grid->own, grid->own, grid->n, grid->n, NULL, &e->K));
  PetscCall(PetscTime(&start));
  last = start;
  for (PetscInt j = 0; j < grid->n; j++) {
    PetscCall(VecSet(slip, 0));
    if (j >= begin && j < stop) PetscCall(VecSetValue(slip, j, 1, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(slip));
    PetscCall(VecAssemblyEnd(slip));
    PetscCall(VecSet(e->u, 0)); /* the solution of another slip is no guess */
    PetscCall(ElasticSolve(e, slip, 0));
    PetscCall(MatDenseGetColumnVecWrite(e->K, j, &column));
    PetscCall(GetStress(e, column));
    PetscCall(MatDenseRestoreColumnVecWrite(e->K, j, &column));
    PetscCall(PetscTime(&now));
    if (now - last > 20) {
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)e->ksp), "  %" PetscInt_FMT " of %" PetscInt_FMT " columns, %.0f s left\n", j + 1, grid->n,
                            (double)((now - start) / (PetscLogDouble)(j + 1) * (PetscLogDouble)(grid->n - 1 - j))));
      last = now;
    }
  }
  PetscCall(VecDestroy(&slip));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest |W K - (W K)^T| over the largest |W K|, where W are the weights: energy does not depend on the way to a slip */
static PetscErrorCode GetAsymmetry(const Elastic *e, PetscReal *asymmetry)
{
  Vec       weight;
  Mat       S, T;
  PetscReal norm = 1, difference = 0;
  PetscInt  begin;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(e->grid->fault, &weight));
  PetscCall(VecGetOwnershipRange(weight, &begin, NULL));
  for (PetscInt k = 0; k < e->grid->own; k++) PetscCall(VecSetValue(weight, begin + k, e->grid->weight[k], INSERT_VALUES));
  PetscCall(VecAssemblyBegin(weight));
  PetscCall(VecAssemblyEnd(weight));
  PetscCall(MatDuplicate(e->K, MAT_COPY_VALUES, &S));
  PetscCall(MatDiagonalScale(S, weight, NULL));
  PetscCall(MatTranspose(S, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatNorm(S, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(T, -1, S, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(T, NORM_FROBENIUS, &difference));
  *asymmetry = difference / norm;
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&T));
  PetscCall(VecDestroy(&weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ElasticMakeMatrix(Elastic *e, const char path[], const char text[])
{
  MPI_Comm       comm      = PetscObjectComm((PetscObject)e->ksp);
  PetscBool      there     = PETSC_FALSE;
  PetscReal      asymmetry = 0;
  PetscViewer    viewer;
  PetscLogDouble begin, end;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&begin));
  if (path[0]) {
    PetscCall(PetscTestFile(path, 'r', &there));
    PetscCallMPI(MPI_Bcast(&there, 1, MPI_C_BOOL, 0, comm));
  }
  if (there) {
    PetscCall(PetscViewerBinaryOpen(comm, path, FILE_MODE_READ, &viewer));
    PetscCall(ReadMatrix(e, viewer, path, text));
    PetscCall(PetscViewerDestroy(&viewer));
  } else {
    PetscCall(ComputeMatrix(e));
    if (path[0]) PetscCall(WriteMatrix(e, path, text));
  }
  if (e->load) {
    PetscCall(VecDuplicate(e->grid->fault, &e->loadstress));
    PetscCall(ElasticSolve(e, NULL, 1));
    PetscCall(GetStress(e, e->loadstress));
  }
  PetscCall(GetAsymmetry(e, &asymmetry));
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(comm, "matrix of the fault: %" PetscInt_FMT " columns, %s in %.3g s; %.2g iterations a solve; asymmetric by %.1e\n", e->grid->n,
                        there ? "read" : "computed", (double)(end - begin), e->solves ? (double)e->iterations / (double)e->solves : 0., (double)asymmetry));
  PetscFunctionReturn(PETSC_SUCCESS);
}
