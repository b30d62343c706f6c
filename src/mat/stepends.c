/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What a vector has at both ends of its rows, and rows that are made zero: lithestep.h */

#include <lithe/private/lithestep.h>

/* The rows of a piece that a process has, counted from its first */
static void EndsGetPiece(const LitheStepEnds *ends, PetscInt k, PetscInt begin, PetscInt n, PetscInt *from, PetscInt *to)
{
  const PetscInt first = (PetscInt)LitheStepPieceBegin(ends->rows.begin, ends->rows.end, ends->piece, ends->pieces, k);

  *from = PetscMin(PetscMax(first - begin, 0), n);
  *to   = PetscMin(PetscMax(first + ends->piece - begin, 0), n);
}

PetscErrorCode LitheStepGetEnds(Vec x, LitheStepEnds *ends)
{
  const PetscScalar *xx;
  PetscInt           n, begin, from, to;
  PetscBool          device, host;

  PetscFunctionBegin;
  PetscCheck(ends->pieces >= 0 && ends->pieces <= LITHE_STEP_PIECES && ends->piece >= 0 && 2 * (PetscInt64)ends->pieces * ends->piece <= (PetscInt64)ends->rows.end - ends->rows.begin, PetscObjectComm((PetscObject)x), PETSC_ERR_PLIB, "%" PetscInt_FMT " pieces of %" PetscInt_FMT " rows at both ends of rows %" PetscInt_FMT " to %" PetscInt_FMT, ends->pieces, ends->piece, ends->rows.begin, ends->rows.end);
  if (!ends->pieces) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &begin, NULL));
  PetscCall(LitheStepGetPlace(x, x, 0, NULL, &device, &host));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(VecGetArrayReadAndMemType(x, &xx, NULL));
    PetscCall(LitheCUDAStepGetEnds(begin, n, xx, ends));
    PetscCall(VecRestoreArrayReadAndMemType(x, &xx));
  }
#endif
  if (!device) {
    PetscCall(VecGetArrayRead(x, &xx));
    for (PetscInt k = 0; k < 2 * ends->pieces; k++) {
      EndsGetPiece(ends, k, begin, n, &from, &to);
      ends->sum[k] = 0;
      for (PetscInt i = from; i < to; i++) ends->sum[k] += (double)(PetscAbsReal(PetscRealPart(xx[i])) + PetscAbsReal(PetscImaginaryPart(xx[i])));
    }
    PetscCall(VecRestoreArrayRead(x, &xx));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, ends->sum, 2 * ends->pieces, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepEndsReset(LitheStepEnds *ends)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (ends->page) PetscCall(LitheCUDAStepEndsReset(ends));
#endif
  PetscCall(PetscMemzero(ends, sizeof(*ends)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepZeroRows(Vec x, const LitheStepRows *rows)
{
  PetscScalar *xx;
  PetscInt     begin, end, from, to;
  PetscBool    device, host;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  from = PetscMax(rows->begin, begin);
  to   = PetscMin(rows->end, end);
  PetscCall(LitheStepGetPlace(x, x, 0, NULL, &device, &host));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(VecGetArrayAndMemType(x, &xx, NULL));
    if (from < to) PetscCall(LitheCUDAStepZero(to - from, xx + (from - begin)));
    PetscCall(VecRestoreArrayAndMemType(x, &xx));
  }
#endif
  if (!device) {
    PetscCall(VecGetArray(x, &xx));
    if (from < to) PetscCall(PetscArrayzero(xx + (from - begin), to - from));
    PetscCall(VecRestoreArray(x, &xx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
