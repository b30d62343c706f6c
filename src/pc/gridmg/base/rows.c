/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The rows of the matrix of a PCGRIDMG in device memory */

#include "base.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememory.h>
#include <lithemat.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/vcrs.h>
  #include <petscdevice_cuda.h>

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

/* Splits given rows of several processes; the matrix has the distribution of columns */
static PetscErrorCode SplitGiven_Private(PC pc, PetscBool *are)
{
  PC_GridMG       *mg    = (PC_GridMG *)pc->data;
  const GridMGCSR *given = &mg->source.given;
  PetscInt         m, begin, end, nz[2], *i[2], *j[2];
  PetscScalar     *a[2];

  PetscFunctionBegin;
  *are = PETSC_FALSE;
  PetscCall(MatGetLocalSize(pc->pmat, &m, NULL));
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRangeColumn(pc->pmat, &begin, &end));
  PetscCall(LitheCUDACSRSplit(m, begin, end, given->i, given->j, given->a, nz, i, j, a));
  PetscCall(PCGridMGOutsideOfDevice_Private(mg, m, i[1], j[1], a[1], NULL));
  PetscCall(LitheCUDAFree((void **)&a[1]));
  mg->source.rows = (GridMGCSR){i[0], j[0], a[0]};
  mg->source.of   = GRIDMG_ROWS_SPLIT;
  *are            = (PetscBool)(nz[0] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Gets rows on the device: of an aijcusparse matrix that works on its device, or of a matrix that decodes its rows,
   such as MATVCRS; on several processes also the entries outside. Call PCGridMGRowsRestore_Private() in any case
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
  mg->source.of = GRIDMG_ROWS_NONE;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  if (mg->source.given.i && mg->source.matrix == pc->pmat) {
    PetscMemType place;

    PetscCall(PetscGetMemType(mg->source.given.i, &place));
    *are = (PetscBool)PetscMemTypeDevice(place);
    if (*are && PCGridMGIsParallel(mg)) PetscCall(SplitGiven_Private(pc, are));
    else if (*are) {
      *rows         = mg->source.given;
      mg->source.of = GRIDMG_ROWS_GIVEN;
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectQueryFunction((PetscObject)mg->source.matrix, "LitheMatGetRows_C", &get));
  if (get) {
    PetscCall((*get)(mg->source.matrix, &rows->i, &rows->j, &rows->a, are));
    if (*are) mg->source.of = GRIDMG_ROWS_DECODED;
    if (*are && PCGridMGIsParallel(mg)) PetscCall(PCGridMGOutsideOfMatrix_Private(mg));
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
  rows->i       = i;
  rows->j       = j;
  mg->source.of = GRIDMG_ROWS_CUSPARSE;
  if (PCGridMGIsParallel(mg)) PetscCall(PCGridMGOutsideOfMatrix_Private(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGRowsRestore_Private(PC pc)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  GridMGCSR *rows = &mg->source.rows;
  PetscBool  is;
  Mat        A;

  PetscFunctionBegin;
  switch (mg->source.of) {
  case GRIDMG_ROWS_SPLIT:
    PetscCall(LitheCUDAFree((void **)&rows->a));
    break;
  case GRIDMG_ROWS_DECODED:
    PetscUseMethod(mg->source.matrix, "LitheMatRestoreRows_C", (Mat, const PetscScalar **), (mg->source.matrix, &rows->a));
    break;
  case GRIDMG_ROWS_CUSPARSE:
    PetscCall(GetInside_Private(mg, &A, &is));
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &rows->a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &rows->i, &rows->j));
    break;
  case GRIDMG_ROWS_NONE:
  case GRIDMG_ROWS_GIVEN:
    break;
  }
  mg->source.of = GRIDMG_ROWS_NONE;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscCall(PCGridMGOutsideFree_Private(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
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
  if (!all) PetscCall(PCGridMGRowsRestore_Private(pc));
  *are = (PetscBool)(all != 0);
  PetscCall(PetscInfo(pc, "Rows are read %s\n", *are ? "on devices" : "on the host"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* The same, with a copy of rows that the program has given on the host */
PetscErrorCode PCGridMGRowsUpload_Private(PC pc, PetscBool *are)
{
  PC_GridMG      *mg    = (PC_GridMG *)pc->data;
  const GridMGCSR given = mg->source.given;
  PetscMemType    place = PETSC_MEMTYPE_CUDA;
  void           *i = NULL, *j = NULL, *a = NULL;
  PetscInt        m;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(pc->pmat, &m, NULL));
  if (given.i) PetscCall(PetscGetMemType(given.i, &place));
  if (PetscMemTypeHost(place)) {
    const size_t nz = (size_t)given.i[m];

    PetscCall(LitheDeviceAlloc(((size_t)m + 1) * sizeof(*given.i), &i));
    PetscCall(LitheDeviceAlloc(nz * sizeof(*given.j), &j));
    PetscCall(LitheDeviceAlloc(nz * sizeof(*given.a), &a));
    PetscCall(LitheDevicePut(((size_t)m + 1) * sizeof(*given.i), given.i, i));
    PetscCall(LitheDevicePut(nz * sizeof(*given.j), given.j, j));
    PetscCall(LitheDevicePut(nz * sizeof(*given.a), given.a, a));
    mg->source.given = (GridMGCSR){(PetscInt *)i, (PetscInt *)j, (PetscScalar *)a};
  }
  PetscCall(PCGridMGRowsGetAll_Private(pc, are)); /* its own copies */
  mg->source.given = given;
  PetscCall(LitheDeviceFree(&i));
  PetscCall(LitheDeviceFree(&j));
  PetscCall(LitheDeviceFree(&a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The matrix whose rows are read from now on; scaled: a copy for the scaling */
void PCGridMGRowsOf_Private(PC_GridMG *mg, Mat A, PetscBool scaled)
{
  mg->source.matrix = A;
  mg->source.scaled = scaled;
}

/*
   For readers of a matrix: given rows become the matrix that is read. No effect otherwise, and once it has been done.
   Collective
*/
PetscErrorCode PCGridMGRowsMatrix_Private(PC pc)
{
  PC_GridMG       *mg    = (PC_GridMG *)pc->data;
  const GridMGCSR *given = &mg->source.given;
  PetscInt         m, n;
  PetscOptions     none;
  MatNullSpace     space;
  PetscErrorCode   ierr;

  PetscFunctionBegin;
  if (!given->i || mg->source.matrix != pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(pc->pmat, &m, &n));
  PetscCall(LitheOptionsHide(&none)); /* which may ask for loss */
  ierr = MatCreateVCRSFromCSR(PetscObjectComm((PetscObject)pc), m, n, PETSC_DETERMINE, PETSC_DETERMINE, given->i, given->j, given->a, &mg->source.own);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  PetscCall(MatSetNearNullSpace(mg->source.own, space));
  PetscCall(MatGetNullSpace(pc->pmat, &space));
  PetscCall(MatSetNullSpace(mg->source.own, space));
  mg->source.matrix = mg->source.own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a set-up */
PetscErrorCode PCGridMGRowsEnd_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGridMGRowsRestore_Private(pc));
  PCGridMGRowsOf_Private(mg, pc->pmat, PETSC_FALSE);
  PetscCall(MatDestroy(&mg->source.own));
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* Rows for the next set-ups, with the pattern of the last ones if there were any */
void PCGridMGRowsGive_Private(PC pc, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  ((PC_GridMG *)pc->data)->source.given = (GridMGCSR){i, j, a};
}

static PetscErrorCode PCGridMGSetRows_GridMG(PC pc, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  PetscFunctionBegin;
  PCGridMGRowsGive_Private(pc, i, j, a);
  /* the grid may have changed */
  ((PC_GridMG *)pc->data)->source.isnew = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGComposeRows_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCGridMGSetRows_C", yes ? PCGridMGSetRows_GridMG : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCGridMGSetRows - Gives a `PCGRIDMG` rows in the memory of a CUDA device or of the host; the levels are made from
  these rows instead of the matrix

  Collective

  Input Parameters:
+ pc - the preconditioner, of type `PCGRIDMG`
. i  - [rows + 1] where the rows of this process begin in `j` and `a`; `i`[0] is 0. `NULL` on all processes: use the
       rows of the matrix again
. j  - [`i`[rows]] columns of the whole matrix, ascending in each row
- a  - [`i`[rows]] values

  Level: advanced

  Notes:
  The arrays are not copied. Each set-up by `PCSetUp()` reads the arrays. The arrays may be freed after the last set-up,
  or after a call of this function with `NULL`.

  The matrix of the preconditioner has the same number of rows, and CUDA vectors for rows on a device. The matrix of the
  system serves: a shifted Laplacian, needed only for the preconditioner, never has to become a `Mat`.

  The only check of the columns is whether they are neighbours on the grid.

  On several processes each process gives its rows, and the matrix has the same distribution. A set-up on the host first
  makes a `MATVCRS` of the rows.

.seealso: `PCGRIDMG`, `PCGridMGSetGrid()`, `MatCreateVCRSFromCSR()`
@*/
PetscErrorCode PCGridMGSetRows(PC pc, const PetscInt i[], const PetscInt j[], const PetscScalar a[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCGridMGSetRows_C", (PC, const PetscInt[], const PetscInt[], const PetscScalar[]), (pc, i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
