/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The entries of a parallel matrix in columns of other processes, on the host. They are few beside the entries of the
   rows on a device, and a device has no numbers of the points of other processes.
*/

#include "base.h"

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/vcrs.h>
#endif

PetscErrorCode PCGridMGOutsideFree_Private(PC_GridMG *mg)
{
  GridMGOutside *o = &mg->source.outside;

  PetscFunctionBegin;
  PetscCall(PetscFree(o->row));
  PetscCall(PetscFree(o->column));
  PetscCall(PetscFree(o->a));
  o->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Private(PC_GridMG *mg, PetscInt n)
{
  GridMGOutside *o = &mg->source.outside;

  PetscFunctionBegin;
  PetscCall(PCGridMGOutsideFree_Private(mg));
  o->n = n;
  PetscCall(PetscMalloc1(n, &o->row));
  PetscCall(PetscMalloc1(n, &o->column));
  PetscCall(PetscMalloc1(n, &o->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row of entry e, i[row] <= e < i[row + 1], in row r or behind. Steps are doubled, because most rows are empty */
static PetscInt FindRow(PetscInt m, const PetscInt i[], PetscInt e, PetscInt r)
{
  PetscInt step = 1, end = r + 1; /* i[r] <= e; e < i[end] at the end of the loop */

  while (i[end] <= e) {
    r    = end;
    end  = m - r > step ? r + step : m;
    step = m / 2 < step ? m : 2 * step;
  }
  while (end - r > 1) {
    const PetscInt middle = r + (end - r) / 2;

    if (i[middle] <= e) r = middle;
    else end = middle;
  }
  return r;
}

/* From arrays of a block of m rows on the host; number: of a column */
PetscErrorCode PCGridMGOutsideOfArrays_Private(PC_GridMG *mg, PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[],
                                               const PetscInt number[])
{
  GridMGOutside *o = &mg->source.outside;
  const PetscInt n = m ? i[m] : 0;

  PetscFunctionBegin;
  PetscCall(Create_Private(mg, n));
  for (PetscInt e = 0, r = 0; e < n; e++) {
    r            = FindRow(m, i, e, r);
    o->row[e]    = r;
    o->column[e] = number[j[e]];
    o->a[e]      = a[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* From m rows on the device, at least 1; number: of a column, or NULL if columns are those of the whole matrix */
PetscErrorCode PCGridMGOutsideOfDevice_Private(PC_GridMG *mg, PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[],
                                               const PetscInt number[])
{
  GridMGOutside *o = &mg->source.outside;
  PetscInt       n;

  PetscFunctionBegin;
  PetscCall(LitheDeviceGet(sizeof(n), i + m, &n));
  PetscCall(Create_Private(mg, n));
  PetscCall(LitheCUDACSRGetRows(m, n, i, o->row));
  PetscCall(LitheDeviceGet((size_t)n * sizeof(*j), j, o->column));
  PetscCall(LitheDeviceGet((size_t)n * sizeof(*a), a, o->a));
  for (PetscInt e = 0; e < n && number; e++) o->column[e] = number[o->column[e]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From n entries of a block without arrays, row by row */
static PetscErrorCode OfRows_Private(PC_GridMG *mg, Mat block, PetscInt n, const PetscInt number[])
{
  GridMGOutside *o = &mg->source.outside;
  PetscInt       m, e = 0;

  PetscFunctionBegin;
  PetscCall(Create_Private(mg, n));
  PetscCall(MatGetLocalSize(block, &m, NULL));
  for (PetscInt r = 0; r < m && n; r++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           length;

    PetscCall(MatGetRow(block, r, &length, &column, &value));
    PetscCheck(length <= n - e, PETSC_COMM_SELF, PETSC_ERR_PLIB, "An off-diagonal block has more than %" PetscInt_FMT " entries", n);
    for (PetscInt k = 0; k < length; k++, e++) {
      o->row[e]    = r;
      o->column[e] = number[column[k]];
      o->a[e]      = value[k];
    }
    PetscCall(MatRestoreRow(block, r, &length, &column, &value));
  }
  o->n = e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   From a block on the host. The few values of a MATSEQAIJCUSPARSE are copied from the device. A MATVCRS without arrays
   gives rows: MatGetRowIJ() would make its arrays
*/
static PetscErrorCode OfHost_Private(PC_GridMG *mg, Mat block, PetscInt n, const PetscInt number[])
{
  GridMGHostRows rows = {.arrays = PETSC_FALSE};
  PetscInt       m;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(block, &m, NULL));
  if (n) PetscCall(PCGridMGHostRowsGet_Private(block, PETSC_FALSE, &rows));
  if (rows.arrays) PetscCall(PCGridMGOutsideOfArrays_Private(mg, m, rows.i[0], rows.j[0], rows.a[0], number));
  else PetscCall(OfRows_Private(mg, block, n, number));
  PetscCall(PCGridMGHostRowsRestore_Private(&rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the off-diagonal block of the parallel matrix that is read */
PetscErrorCode PCGridMGOutsideOfMatrix_Private(PC_GridMG *mg)
{
  PetscErrorCode (*get)(Mat, const PetscInt **, const PetscInt **, const PetscScalar **, PetscBool *);
  const PetscInt    *i, *j, *number;
  const PetscScalar *a;
  PetscInt           m, n;
  PetscBool          known = PETSC_FALSE;
  MatInfo            info;
  Mat                block;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(mg->source.matrix, NULL, &block, &number));
  PetscCall(MatGetLocalSize(block, &m, NULL));
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  n = (PetscInt)info.nz_used;
  PetscCall(PetscObjectQueryFunction((PetscObject)block, "LitheMatGetRows_C", &get));
  if (get && n) PetscCall((*get)(block, &i, &j, &a, &known));
  if (known) {
    PetscCall(PCGridMGOutsideOfDevice_Private(mg, m, i, j, a, number));
    PetscUseMethod(block, "LitheMatRestoreRows_C", (Mat, const PetscScalar **), (block, &a));
  } else PetscCall(OfHost_Private(mg, block, n, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
