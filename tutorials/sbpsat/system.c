/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The linear system of the program mms: its grid, operator and solver, and panels of pictures */

#include "mms.h"
#include <lithepc.h>
#include <lithe/private/petsccompat.h>
#include <tutorials/common/gridfile.h>

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
  if (!opt->exact || opt->picture[0]) PetscCall(ProblemSetCoordinates(s->da));
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

PetscErrorCode MMSAddField(Plot *plot, DM da, Vec u, PlotPanel *panel)
{
  PetscInt           nodes[2];
  PetscMPIInt        rank;
  const PetscScalar *x, *value;
  DM                 cda;
  Vec                coordinates, all[2];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)da), &rank));
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMGetCoordinateDM(da, &cda));
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(GridGather(cda, coordinates, &all[0]));
  PetscCall(GridGather(da, u, &all[1]));
  PetscCall(VecGetArrayRead(all[0], &x));
  PetscCall(VecGetArrayRead(all[1], &value));
  panel->xlabel      = "x";
  panel->ylabel      = "y";
  panel->nx          = nodes[0];
  panel->ny          = nodes[1];
  panel->stride[0]   = PLOT_SCALAR;
  panel->stride[1]   = PLOT_SCALAR * nodes[0];
  panel->value       = (const PetscReal *)value;
  panel->coordinates = (const PetscReal *)x;
  panel->equal       = PETSC_TRUE;
  if (!rank) PetscCall(PlotAdd(plot, panel));
  PetscCall(VecRestoreArrayRead(all[0], &x));
  PetscCall(VecRestoreArrayRead(all[1], &value));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&all[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
