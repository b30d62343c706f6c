/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums of the entries of a vector at both ends of a range of rows, and rows set to zero: lithestep.h */

#include <lithe/private/lithestep.h>

/* A sum that is, up to rounding, at least the 1-norm of the entries */
static double EndsSum(const PetscScalar x[], PetscInt from, PetscInt to)
{
  double sum = 0;

  for (PetscInt i = from; i < to; i++) sum += (double)(PetscAbsReal(PetscRealPart(x[i])) + PetscAbsReal(PetscImaginaryPart(x[i])));
  return sum;
}

/* The local rows of a piece, counted from the first local row */
static void EndsGetPiece(const LitheStepEnds *ends, PetscInt k, PetscInt begin, PetscInt n, PetscInt *from, PetscInt *to)
{
  const PetscInt first = (PetscInt)LitheStepPieceBegin(ends->rows.begin, ends->rows.end, ends->piece, ends->pieces, k);

  *from = PetscMin(PetscMax(first - begin, 0), n);
  *to   = PetscMin(PetscMax(first + ends->piece - begin, 0), n);
}

PetscErrorCode LitheStepEndsBegin(Vec x, LitheStepEnds *ends)
{
  const PetscScalar *xx;
  PetscInt           n, begin, from, to;

  PetscFunctionBegin;
  PetscCheck(ends->pieces >= 0 && ends->pieces <= LITHE_STEP_PIECES && ends->piece >= 0 &&
               2 * (PetscInt64)ends->pieces * ends->piece <= (PetscInt64)ends->rows.end - ends->rows.begin,
             PetscObjectComm((PetscObject)x), PETSC_ERR_PLIB,
             "%" PetscInt_FMT " pieces of %" PetscInt_FMT " rows at both ends of rows %" PetscInt_FMT " to %" PetscInt_FMT, ends->pieces, ends->piece,
             ends->rows.begin, ends->rows.end);
  if (!ends->pieces) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &begin, NULL));
  PetscCall(LitheVecsGetPlace(1, &x, &ends->ondevice, NULL));
#if defined(LITHE_HAVE_CUDA)
  if (ends->ondevice) {
    PetscCall(VecGetArrayReadAndMemType(x, &xx, NULL));
    PetscCall(LitheCUDAStepEndsBegin(begin, n, xx, ends));
    PetscCall(VecRestoreArrayReadAndMemType(x, &xx));
  }
#endif
  if (!ends->ondevice) {
    PetscCall(VecGetArrayRead(x, &xx));
    for (PetscInt k = 0; k < 2 * ends->pieces; k++) {
      EndsGetPiece(ends, k, begin, n, &from, &to);
      ends->sum[k] = EndsSum(xx, from, to);
    }
    PetscCall(VecRestoreArrayRead(x, &xx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheStepEndsEnd(Vec x, LitheStepEnds *ends)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if ((ends->ondevice && ends->pieces) || ends->nzeroed) PetscCall(LitheCUDAStepEndsEnd(ends));
#endif
  ends->sum[2 * ends->pieces] = ends->zeroed;
  ends->zeroed                = 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, ends->sum, 2 * ends->pieces + 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)x)));
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

PetscErrorCode LitheStepZeroRows(Vec x, Vec y, const LitheStepRows rows[2], LitheStepEnds *ends)
{
  LitheStepRows own[2];
  PetscScalar  *xx, *yy;
  PetscInt      begin, end;
  PetscBool     device;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (int k = 0; k < 2; k++) {
    own[k].begin = PetscClipInterval(rows[k].begin, begin, end) - begin;
    own[k].end   = PetscMax(PetscClipInterval(rows[k].end, begin, end) - begin, own[k].begin);
  }
  PetscCall(LitheVecsGetPlace(2, (const Vec[]){x, y}, &device, NULL));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(VecGetArrayAndMemType(x, &xx, NULL));
    PetscCall(VecGetArrayAndMemType(y, &yy, NULL));
    PetscCall(LitheCUDAStepZeroRows(own, xx, yy, ends));
    PetscCall(VecRestoreArrayAndMemType(y, &yy));
    PetscCall(VecRestoreArrayAndMemType(x, &xx));
  }
#endif
  if (!device) {
    PetscCall(VecGetArray(x, &xx));
    PetscCall(VecGetArray(y, &yy));
    for (int k = 0; k < 2; k++) {
      ends->zeroed += EndsSum(xx, own[k].begin, own[k].end);
      PetscCall(PetscArrayzero(xx + own[k].begin, own[k].end - own[k].begin));
      PetscCall(PetscArrayzero(yy + own[k].begin, own[k].end - own[k].begin));
    }
    PetscCall(VecRestoreArray(y, &yy));
    PetscCall(VecRestoreArray(x, &xx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
