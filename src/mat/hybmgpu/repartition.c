/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Moves rows between processes so that products send fewer entries of vectors */

#include "hybmgpuimpl.h"
#include <lithe/private/litheimpl.h>

/* The graph of A + A^T */
static PetscErrorCode MatHYBMGPUCreateGraph_Private(Mat A, Mat *graph)
{
  Mat B, T;

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatAXPY(B, 1.0, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatConvert(B, MATMPIADJ, MAT_INITIAL_MATRIX, graph));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPURepartition - Creates a copy of a square `MATHYBMGPU` matrix whose rows and columns are distributed by a
  partitioner

  Collective

  Input Parameter:
. A - the assembled matrix, with as many local rows as local columns

  Output Parameters:
+ B - the repartitioned matrix, with the type and options of `A`
- rows - the rows of `A` that `B` has on this process, in the order of `B`

  Options Database Key:
. -mat_partitioning_type <type> - the partitioner, with the prefix of the matrix

  Level: intermediate

  Notes:
  The layout of vectors changes with the layout of the matrix. Repartitioning is therefore a function and not an
  option of products. Create a `VecScatter` from `rows` to bring vectors of `A` to the layout of `B` and results back.

  The partitioner is PETSc's default. ParMETIS and PTScotch are better, and must be configured with PETSc. They divide
  undirected graphs: the partitioner gets the pattern of $A + A^T$.

.seealso: `MATHYBMGPU`, `MatPartitioning`, `MatCreateSubMatrix()`
@*/
PetscErrorCode MatHYBMGPURepartition(Mat A, Mat *B, IS *rows)
{
  Mat_HYBMGPU    *ctx, *made;
  MatPartitioning partitioning;
  Mat             graph;
  IS              owner;
  MPI_Comm        comm = PetscObjectComm((PetscObject)A);
  PetscErrorCode  ierr;
  PetscOptions    none;
  const char     *prefix;
  PetscBool       square;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(B, 2);
  PetscAssertPointer(rows, 3);
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCheck(ctx, comm, PETSC_ERR_ARG_WRONG, "The matrix has type %s, not hybmgpu", ((PetscObject)A)->type_name);
  PetscCheck(A->assembled, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCheck(A->rmap->N == A->cmap->N, comm, PETSC_ERR_ARG_SIZ,
             "A matrix of %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: rows and columns can only be moved together in a square one", A->rmap->N,
             A->cmap->N);
  square = (PetscBool)(A->rmap->n == A->cmap->n);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &square, 1, MPI_C_BOOL, MPI_LAND, comm));
  PetscCheck(square, comm, PETSC_ERR_ARG_SIZ,
             "Each process must have as many rows as columns; process 0 has %" PetscInt_FMT " and %" PetscInt_FMT ". Set equal local sizes with MatSetSizes()",
             A->rmap->n, A->cmap->n);

  PetscCall(LitheOptionsHide(&none));
  ierr = MatHYBMGPUCreateGraph_Private(A, &graph);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatPartitioningCreate(comm, &partitioning));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)partitioning, prefix));
  PetscCall(MatPartitioningSetAdjacency(partitioning, graph));
  PetscCall(MatPartitioningSetFromOptions(partitioning));
  PetscCall(MatPartitioningApply(partitioning, &owner));
  PetscCall(ISBuildTwoSided(owner, NULL, rows));
  PetscCall(ISDestroy(&owner));
  PetscCall(MatPartitioningDestroy(&partitioning));
  PetscCall(MatDestroy(&graph));

  PetscCall(ISSort(*rows));
  PetscCall(MatCreateSubMatrix(A, *rows, *rows, MAT_INITIAL_MATRIX, B));
  PetscCall(MatSetOptionsPrefix(*B, prefix));
  PetscCall(MatHYBMGPUGetContext(*B, &made));
  if (!made) PetscCall(MatConvert(*B, MATHYBMGPU, MAT_INPLACE_MATRIX, B)); /* many processes: PETSc makes a MATMPIAIJ */
  PetscCall(MatHYBMGPUSetOptions_Private(*B, &ctx->opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}
