/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums in any order: sums.h says how */

#include <lithe/private/sums.h>

struct _n_LitheSums {
  PetscInt    n;
  int         place; /* of the first bin */
  PetscInt64 *bin[LITHE_SUMS_MOST];
};

PetscErrorCode LitheSumsCreate(PetscInt n, LitheSums *sums)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(sums));
  (*sums)->n     = n;
  (*sums)->place = LITHE_SUMS_NONE;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) PetscCall(PetscCalloc1(n, &(*sums)->bin[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsDestroy(LitheSums *sums)
{
  PetscFunctionBegin;
  if (!*sums) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < LITHE_SUMS_BINS; b++) PetscCall(PetscFree((*sums)->bin[b]));
  PetscCall(PetscFree(*sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsLargest(PetscInt n, const PetscReal x[], PetscReal *largest)
{
  PetscReal most = 0;
  PetscBool bad  = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal a = PetscAbsReal(x[i]);

    bad  = (PetscBool)(bad || !(a <= PETSC_MAX_REAL));
    most = a > most ? a : most;
  }
  *largest = bad ? (PetscReal)INFINITY : most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bins of a place, as those of a higher one; the lowest are left out */
static PetscErrorCode BinsRaise(PetscInt n, PetscInt64 *bin[], int by)
{
  PetscInt64 *old[LITHE_SUMS_MOST];

  PetscFunctionBegin;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) old[b] = bin[b];
  by = PetscMin(by, LITHE_SUMS_BINS);
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    bin[b] = old[(b - by + LITHE_SUMS_BINS) % LITHE_SUMS_BINS];
    if (b < by) PetscCall(PetscArrayzero(bin[b], n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsRaise(LitheSums sums, int place)
{
  PetscFunctionBegin;
  if (place <= sums->place) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BinsRaise(sums->n, sums->bin, place - sums->place));
  sums->place = place;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsGetBins(LitheSums sums, int *place, PetscInt64 **bin[])
{
  PetscFunctionBegin;
  *place = sums->place;
  *bin   = sums->bin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsAdd(LitheSums sums, PetscReal largest, const PetscReal x[])
{
  const int place = LitheSumsPlace(largest);
  double    half;

  PetscFunctionBegin;
  if (place == LITHE_SUMS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheSumsRaise(sums, place));
  half = LitheSumsHalf(-sums->place);
  for (PetscInt i = 0; i < sums->n; i++) LitheSumsAddDigits((double)x[i], half, sums->bin, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsAddBins(LitheSums sums, int place, PetscInt64 *bin[])
{
  PetscFunctionBegin;
  if (place == LITHE_SUMS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheSumsRaise(sums, place));
  if (place < sums->place) PetscCall(BinsRaise(sums->n, bin, sums->place - place));
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    for (PetscInt i = 0; i < sums->n; i++) sums->bin[b][i] += bin[b][i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsReduce(LitheSums sums, PetscSF sf, PetscReal y[])
{
  PetscMPIInt place = sums->place;
  PetscInt    n;
  PetscInt64 *root[LITHE_SUMS_MOST] = {NULL};

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &n, NULL, NULL, NULL));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &place, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)sf)));
  if (place == LITHE_SUMS_NONE) {
    PetscCall(PetscArrayzero(y, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheSumsRaise(sums, place));
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    PetscCall(PetscCalloc1(n, &root[b]));
    PetscCall(PetscSFReduceBegin(sf, MPIU_INT64, sums->bin[b], root[b], MPI_SUM));
    PetscCall(PetscSFReduceEnd(sf, MPIU_INT64, sums->bin[b], root[b], MPI_SUM));
  }
  for (PetscInt i = 0; i < n; i++) {
    const double half = LitheSumsHalf(place);
    double       sum  = 0;

    for (int b = LITHE_SUMS_BINS - 1; b >= 0; b--) sum = sum / LITHE_SUMS_BASE + (double)root[b][i];
    y[i] = (PetscReal)(sum * half * half);
  }
  for (int b = 0; b < LITHE_SUMS_BINS; b++) PetscCall(PetscFree(root[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
