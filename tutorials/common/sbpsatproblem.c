/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The manufactured problem of sbpsatproblem.h: vectors are filled on the host or on the device, where they are
   stored */

#include "sbpsatproblem.h"
#include "sbpsatformulas.h"

static PetscErrorCode ProblemFillHost(ProblemField field, MatSBPSATFace face, const ProblemNodes *n, PetscScalar *a)
{
  const PetscInt first = n->start[0];
  ProblemLine   *column;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(PetscMax(n->end[0] - first, 0), &column));
  for (PetscInt i = first; i < n->end[0]; i++) column[i - first] = ProblemColumn(ProblemReference(n, 0, i));
  for (PetscInt j = n->start[1]; j < n->end[1]; j++) {
    const ProblemLine row = ProblemRow(ProblemReference(n, 1, j));
    PetscScalar      *to  = a + ((PetscInt64)(j - n->own[1]) * n->pitch - n->own[0]) * n->step;

    for (PetscInt i = first; i < n->end[0]; i++) to[(PetscInt64)i * n->step] = ProblemEvaluate(field, face, &column[i - first], &row);
  }
  PetscCall(PetscFree(column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Component c of all nodes. Data of a face only fill the nodes of the face and leave other nodes unchanged */
static PetscErrorCode ProblemFill(DM da, ProblemField field, PetscBool onface, MatSBPSATFace face, PetscInt c, Vec v)
{
  const int    along = face == MATSBPSAT_LEFT || face == MATSBPSAT_RIGHT ? 0 : 1; /* the direction normal to the face */
  const int    upper = face == MATSBPSAT_RIGHT || face == MATSBPSAT_TOP;
  ProblemNodes n;
  PetscScalar *a;
  PetscMemType memory;
  PetscInt     count[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &n.nodes[0], &n.nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &n.own[0], &n.own[1], NULL, &count[0], &count[1], NULL));
  PetscCall(VecGetBlockSize(v, &n.step));
  n.pitch = count[0];
  for (int d = 0; d < 2; d++) {
    n.start[d] = n.own[d];
    n.end[d]   = n.own[d] + count[d];
  }
  if (onface && upper) n.start[along] = PetscMax(n.start[along], n.nodes[along] - 1);
  if (onface && !upper) n.end[along] = PetscMin(n.end[along], 1);
  if (onface || n.step > 1) PetscCall(VecGetArrayAndMemType(v, &a, &memory));
  else PetscCall(VecGetArrayWriteAndMemType(v, &a, &memory));
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(memory)) PetscCall(ProblemFillDevice(field, face, &n, a + c));
  else PetscCall(ProblemFillHost(field, face, &n, a + c));
#else
  PetscCall(ProblemFillHost(field, face, &n, a + c));
#endif
  if (onface || n.step > 1) PetscCall(VecRestoreArrayAndMemType(v, &a));
  else PetscCall(VecRestoreArrayWriteAndMemType(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemCreateGrid(MPI_Comm comm, const PetscInt n[2], DM *da)
{
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0] + 1, n[1] + 1, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  PetscCall(DMSetMatType(*da, MATSBPSAT));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemCreateVector(DM da, Vec *v)
{
  PetscBool device = PETSC_FALSE;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  {
    MPI_Comm    comm = PetscObjectComm((PetscObject)da);
    PetscMPIInt size;
    PetscInt    nodes[2], count[2];
    VecType     type;

    PetscCall(DMGetVecType(da, &type));
    if (type) PetscCall(PetscStrcmpAny(type, &device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
    if (device) {
      PetscCallMPI(MPI_Comm_size(comm, &size));
      PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
      PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &count[0], &count[1], NULL));
      if (size == 1) PetscCall(VecCreateSeqCUDAWithArrays(comm, 1, count[0] * count[1], NULL, NULL, v));
      else PetscCall(VecCreateMPICUDAWithArrays(comm, 1, count[0] * count[1], nodes[0] * nodes[1], NULL, NULL, v));
    }
  }
#endif
  if (!device) PetscCall(DMCreateGlobalVector(da, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemSetCoordinates(DM da)
{
  DM      cda;
  Vec     coordinates;
  VecType type;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDM(da, &cda));
  PetscCall(DMGetVecType(da, &type));
  if (type) PetscCall(DMSetVecType(cda, type));
  PetscCall(DMCreateGlobalVector(cda, &coordinates));
  PetscCall(ProblemFill(da, FIELD_X, PETSC_FALSE, MATSBPSAT_LEFT, 0, coordinates));
  PetscCall(ProblemFill(da, FIELD_Y, PETSC_FALSE, MATSBPSAT_LEFT, 1, coordinates));
  PetscCall(DMSetCoordinates(da, coordinates));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemCreateDM(MPI_Comm comm, const PetscInt n[2], DM *da)
{
  PetscFunctionBegin;
  PetscCall(ProblemCreateGrid(comm, n, da));
  PetscCall(ProblemSetCoordinates(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemSetOperator(DM da, PetscBool exact, Mat A)
{
  const PetscBool dirichlet[4] = {PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE};
  Vec             mu, tensor[4];

  PetscFunctionBegin;
  PetscCall(MatSBPSATSetDirichlet(A, dirichlet));
  PetscCall(ProblemCreateVector(da, &mu));
  PetscCall(ProblemFill(da, FIELD_MU, PETSC_FALSE, MATSBPSAT_LEFT, 0, mu));
  PetscCall(MatSBPSATSetCoefficient(A, mu));
  PetscCall(VecDestroy(&mu));
  if (exact) {
    for (int k = 0; k < 4; k++) {
      PetscCall(ProblemCreateVector(da, &tensor[k]));
      PetscCall(ProblemFill(da, (ProblemField)(FIELD_RR + k), PETSC_FALSE, MATSBPSAT_LEFT, 0, tensor[k]));
    }
    PetscCall(MatSBPSATSetTensor(A, tensor[0], tensor[1], tensor[2], tensor[3]));
    for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&tensor[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemAddRightSide(DM da, Mat A, Vec b)
{
  Vec       data;
  PetscBool dirichlet[4];

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetDirichlet(A, dirichlet));
  PetscCall(ProblemCreateVector(da, &data));
  PetscCall(ProblemFill(da, FIELD_SOURCE, PETSC_FALSE, MATSBPSAT_LEFT, 0, data));
  PetscCall(MatSBPSATAddSource(A, data, b));
  for (int f = 0; f < 4; f++) {
    PetscCall(ProblemFill(da, dirichlet[f] ? FIELD_SOLUTION : FIELD_TRACTION, PETSC_TRUE, (MatSBPSATFace)f, 0, data));
    PetscCall(MatSBPSATAddBoundary(A, (MatSBPSATFace)f, data, b));
  }
  PetscCall(VecDestroy(&data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemGetSolution(DM da, Vec u)
{
  PetscFunctionBegin;
  PetscCall(ProblemFill(da, FIELD_SOLUTION, PETSC_FALSE, MATSBPSAT_LEFT, 0, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}
