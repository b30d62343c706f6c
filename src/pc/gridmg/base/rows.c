/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The rows of the matrix of a PCGRIDMG in device memory */

#include "base.h"

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
  #define GRIDMG_CUDA 1

/* The matrix with the rows: on several processes the diagonal block */
static PetscErrorCode GetInside_Private(const PC_GridMG *mg, Mat *A, PetscBool *is)
{
  PetscFunctionBegin;
  *A = mg->source.matrix;
  if (PCGridMGIsParallel(mg)) {
    PetscCall(PetscObjectTypeCompare((PetscObject)mg->source.matrix, MATMPIAIJCUSPARSE, is));
    if (*is) PetscCall(MatMPIAIJGetSeqAIJ(mg->source.matrix, A, NULL, NULL));
    if (*is) PetscCall(PetscObjectTypeCompare((PetscObject)*A, MATSEQAIJCUSPARSE, is));
  } else PetscCall(PetscObjectTypeCompare((PetscObject)mg->source.matrix, MATSEQAIJCUSPARSE, is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Gets rows on the device: of an aijcusparse matrix that works on its device, or of a matrix that decodes its rows,
   such as MATVCRS. Call PCGridMGRowsRestore_Private() in any case
*/
PetscErrorCode PCGridMGRowsGet_Private(PC pc, PetscBool *are)
{
  PC_GridMG *mg                                                                                       = (PC_GridMG *)pc->data;
  GridMGCSR *rows                                                                                     = &mg->source.rows;
  PetscErrorCode (*get)(Mat, const PetscInt **, const PetscInt **, const PetscScalar **, PetscBool *) = NULL;
  PetscBool       bound;
  Mat             A;
  const PetscInt *i, *j;
  MatInfo         info;

  PetscFunctionBegin;
  mg->source.decoded = PETSC_FALSE;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  *are = (PetscBool)(mg->source.given.i != NULL);
  if (*are) {
    *rows = mg->source.given;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!PCGridMGIsParallel(mg)) PetscCall(PetscObjectQueryFunction((PetscObject)mg->source.matrix, "LitheMatGetRows_C", &get));
  if (get) {
    PetscCall((*get)(mg->source.matrix, &rows->i, &rows->j, &rows->a, are));
    mg->source.decoded = *are;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetInside_Private(mg, &A, are));
  PetscCall(MatBoundToCPU(mg->source.matrix, &bound));
  if (!*are || bound) *are = PETSC_FALSE;
  if (*are) {
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    if (info.nz_used == 0.) *are = PETSC_FALSE; /* the arrays may not exist */
  }
  if (!*are) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &rows->a));
  rows->i = i;
  rows->j = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGRowsRestore_Private(PC pc)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  GridMGCSR *rows = &mg->source.rows;
  PetscBool  is;
  Mat        A;

  PetscFunctionBegin;
  if (mg->source.decoded) PetscUseMethod(mg->source.matrix, "LitheMatRestoreRows_C", (Mat, const PetscScalar **), (mg->source.matrix, &rows->a));
  mg->source.decoded = PETSC_FALSE;
  if (rows->a && !mg->source.given.i) {
    PetscCall(GetInside_Private(mg, &A, &is));
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &rows->a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &rows->i, &rows->j));
  }
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
  #define GRIDMG_CUDA 0

PetscErrorCode PCGridMGRowsGet_Private(PETSC_UNUSED PC pc, PetscBool *are)
{
  PetscFunctionBegin;
  *are = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGRowsRestore_Private(PETSC_UNUSED PC pc)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The same on several processes: if the rows of all processes are on devices */
PetscErrorCode PCGridMGRowsGetAll_Private(PC pc, PetscBool *are)
{
  PC_GridMG  *mg = (PC_GridMG *)pc->data;
  PetscMPIInt mine, all;

  PetscFunctionBegin;
  PetscCall(PCGridMGRowsGet_Private(pc, are));
  mine = *are;
  PetscCallMPI(MPIU_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, mg->domain.team.comm));
  if (*are && !all) PetscCall(PCGridMGRowsRestore_Private(pc));
  *are = (PetscBool)(all != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix whose rows are read from now on */
void PCGridMGRowsOf_Private(PC_GridMG *mg, Mat A)
{
  mg->source.matrix = A;
}

/* The rows will be read again */
void PCGridMGScanForget_Private(PC_GridMG *mg)
{
  mg->aggregation.scan.done = PETSC_FALSE;
}

/* Whether PCGridMGSetRows() has been called since the last question */
PetscBool PCGridMGRowsAreNew_Private(PC_GridMG *mg)
{
  const PetscBool are = mg->source.isnew;

  mg->source.isnew = PETSC_FALSE;
  return are;
}

static PetscErrorCode PCGridMGSetRows_GridMG(PC pc, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(!i || (GRIDMG_CUDA), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PCGridMGSetRows() is for the memory of a device, and Lithe was built without CUDA");
  mg->source.given.i = i;
  mg->source.given.j = j;
  mg->source.given.a = a;
  /* the grid may have changed */
  mg->source.isnew = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGComposeRows_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetRows_C", yes ? PCGridMGSetRows_GridMG : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetRows - Gives a `PCGRIDMG` rows in the memory of a CUDA device; the levels are made from these rows instead
  of the matrix

  Collective

  Input Parameters:
+ pc - the preconditioner, of type `PCGRIDMG`
. i  - [rows + 1] where the rows begin in `j` and `a`; `i`[0] is 0. `NULL`: use the rows of the matrix again
. j  - [`i`[rows]] columns, ascending in each row
- a  - [`i`[rows]] values

  Level: advanced

  Notes:
  The arrays are not copied. Each set-up by `PCSetUp()` reads the arrays. The arrays may be freed after the last set-up,
  or after a call of this function with `NULL`.

  The matrix of the preconditioner has the same number of rows, and CUDA vectors. The matrix of the system serves: a
  shifted Laplacian, needed only for the preconditioner, never has to become a `Mat`.

  The only check of the columns is whether they are neighbours on the grid.

.seealso: `PCGRIDMG`, `PCGridMGSetGrid()`, `MatCreateSeqVCRSFromCSR()`
@*/
PetscErrorCode PCGridMGSetRows(PC pc, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCGridMGSetRows_C", (PC, const PetscInt[], const PetscInt[], const PetscScalar[]), (pc, i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
