/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The linear system of the program mms: its grid, operator and solver, and the files that plot.py reads */

#include "mms.h"
#include <lithepc.h>
#include <lithe/private/petsccompat.h>
#include <petscviewer.h>

/* A matrix of type sbpsat takes order, faces and coefficient from the matrix on the finer grid */
static PetscErrorCode MMSComputeOperators_Private(KSP ksp, Mat A, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)A;
  (void)ctx;
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSCreateSystem(MPI_Comm comm, const MMSOptions *opt, PetscInt N, MMSSystem *s)
{
  const PetscInt n[2] = {N, N};
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(ProblemCreateGrid(comm, n, &s->da));
  if (!opt->exact || opt->output[0]) PetscCall(ProblemSetCoordinates(s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(MatSBPSATSetOrder(s->A, opt->order));
  PetscCall(ProblemSetOperator(s->da, opt->exact, s->A));
  PetscCall(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
  if (opt->assembled) PetscCall(MatConvert(s->A, MATAIJ, MAT_INITIAL_MATRIX, &s->P));
  else {
    PetscCall(PetscObjectReference((PetscObject)s->A));
    s->P = s->A;
  }
  PetscCall(DMCreateGlobalVector(s->da, &s->u));
  PetscCall(DMCreateGlobalVector(s->da, &s->b));

  /* Conjugate gradients with multigrid, to an error below the discretisation error; options may change both */
  PetscCall(KSPCreate(comm, &s->ksp));
  PetscCall(KSPSetOperators(s->ksp, s->A, s->P));
  /* For -pc_type mg: the DMDA gives grids and operators, except the finest operator */
  PetscCall(KSPSetDM(s->ksp, s->da));
  PetscCall(KSPSetComputeOperators(s->ksp, MMSComputeOperators_Private, NULL));
  PetscCall(KSPSetDMActive(s->ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetTolerances(s->ksp, (PetscReal)1e-10, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPGetPC(s->ksp, &pc));
  if (!opt->assembled) PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSDestroySystem(MMSSystem *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(VecDestroy(&s->u));
  PetscCall(VecDestroy(&s->b));
  PetscCall(MatDestroy(&s->P));
  PetscCall(MatDestroy(&s->A));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's binary format, nodes in natural order */
PetscErrorCode MMSWriteVector(DM da, const char name[], const char what[], Vec v)
{
  char        path[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%s", name, what));
  PetscCall(PetscViewerBinaryOpen(PetscObjectComm((PetscObject)da), path, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(VecView(v, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSWriteInfo(const MMSSystem *s, const char name[], const char kind[], PetscInt fields, const PetscReal times[])
{
  PetscInt    nodes[2];
  PetscMPIInt rank;
  char        path[PETSC_MAX_PATH_LEN];
  FILE       *file;
  Vec         coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinates(s->da, &coordinates));
  PetscCall(MMSWriteVector(s->da, name, "coordinates", coordinates));
  PetscCall(DMDAGetInfo(s->da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)s->da), &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.json", name));
  file = fopen(path, "w");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  fprintf(file, "{\"kind\": \"%s\", \"nodes\": [%d, %d], \"complex\": %s, \"real_bytes\": %d, \"index_bytes\": %d, \"times\": [", kind, (int)nodes[0],
          (int)nodes[1], PetscDefined(USE_COMPLEX) ? "true" : "false", (int)sizeof(PetscReal), (int)sizeof(PetscInt));
  for (PetscInt k = 0; k < fields; k++) fprintf(file, "%s%g", k ? ", " : "", (double)times[k]);
  fprintf(file, "]}\n");
  PetscCheck(fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}
