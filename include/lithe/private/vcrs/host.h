/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The plan of a compressed matrix on the host: functions that make a plan from CSR arrays, read it and multiply with
   it.

   These functions use no Mat and no Vec. libvcrs.la holds all functions, for the library and for tests. The folders,
   from the bottom up:

     plan    plans are freed and decoded
     loss    entries are rounded
     mult    products and solves
     build   plans are made from CSR arrays
*/

#include <lithe/private/lithememory.h>
#include <lithe/private/vcrs/plan.h>

#define VCRS_COMPONENTS ((PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)))

/* A host CSR matrix, as in MATSEQAIJ: columns ascending in each row */
typedef struct {
  PetscInt           m, n;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} VCRSCSR;

/* vcrs/build/build.c */
PETSC_INTERN PetscErrorCode VCRSPlanCreate(const VCRSCSR *, const VCRSOptions *, const PetscScalar rowsumextra[], VCRSPlan **, VCRSReport *);

/*
   vcrs/plan/plan.c. Tables are the arrays of sets, dictionary and scales; VCRSPlanFreeArrays() frees all other arrays,
   and keeps their sizes. VCRSForgetSlices() frees the arrays of slices and long rows alone, but for values and
   columns.offset
*/
PETSC_INTERN PetscErrorCode VCRSPlanDestroy(VCRSPlan **);
PETSC_INTERN PetscErrorCode VCRSPlanFreeArrays(VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSPlanFreeTables(VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSForgetSlices(VCRSPlan *);
/* The bytes of the plan's arrays, and the bytes of its tables (sets, dictionaries) among them */
PETSC_INTERN PetscErrorCode VCRSPlanGetBytes(const VCRSPlan *, size_t *, size_t *);

/*
   vcrs/plan/decode.c: back to CSR, columns ascending. The caller owns i [m+1], j and a [nz]. A lossless plan returns
   the original bits
*/
PETSC_INTERN PetscErrorCode VCRSPlanDecode(const VCRSPlan *, PetscInt[], PetscInt[], PetscScalar[]);
/* Row lengths alone: i [m+1] */
PETSC_INTERN PetscErrorCode VCRSPlanDecodeRowPointers(const VCRSPlan *, PetscInt[]);
/* One row, columns ascending; cols and vals hold VCRSPlanMaxRowLength() entries */
PETSC_INTERN PetscErrorCode VCRSPlanDecodeRow(const VCRSPlan *, PetscInt, PetscInt *, PetscInt[], PetscScalar[]);
PETSC_INTERN PetscErrorCode VCRSPlanMaxRowLength(const VCRSPlan *, PetscInt *);

/*
   vcrs/loss/loss.c: whether a loss can hold entries; finer options if a loss was too coarse; the error of a row with an
   infinite entry or a NaN. Also the survey of a block for the agreement of all processes, with rowexponent [m]
*/
PETSC_INTERN PetscBool      VCRSLossHasWidths(MatVCRSLoss); /* whether the loss uses bits */
PETSC_INTERN PetscBool      VCRSLossTakes(PetscInt, const PetscScalar[]);
PETSC_INTERN PetscBool      VCRSLossRefine(PetscInt64 rows, PetscInt64 coarse, PetscInt64 lost, VCRSOptions *);
PETSC_INTERN PetscErrorCode VCRSLossRefuseRow(MPI_Comm, const VCRSOptions *, PetscInt);
PETSC_INTERN PetscErrorCode VCRSLossPropose(const VCRSCSR *, const VCRSOptions *, VCRSSurvey *, PetscInt[]);

/* vcrs/mult/mult.c: y = op(A) x (+ add) for nrhs columns; add may be NULL or y */
PETSC_INTERN PetscErrorCode VCRSPlanMult(const VCRSPlan *, VCRSOp, PetscInt, const PetscScalar *, PetscInt, const PetscScalar *, PetscInt, PetscScalar *,
                                         PetscInt);
/*
   vcrs/mult/single.c: y = A x, or y += A x, in single precision, a complex number is two; whether the layout has such
   a product
*/
PETSC_INTERN PetscBool      VCRSPlanHasSingle(const VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSPlanMultSingle(const VCRSPlan *, PetscBool add, const float x[], float y[]);
PETSC_INTERN PetscErrorCode VCRSPlanGetDiagonal(const VCRSPlan *, PetscScalar[]);

/*
   Estimated time of a product on the host over MATSEQAIJ's. Plain rows are used where another form has more than
   VCRS_ROWS_COST
*/
#define VCRS_ROWS_COST 0.9
PETSC_INTERN PetscErrorCode VCRSPlanHostCost(const VCRSPlan *, PetscReal *);

/* mult/substitute.c */
/*
   x = (I - op(T))^-1 x, where T is the plan of a square matrix, strictly lower triangular, or strictly upper triangular
   with upper. op(T) is T, or with transpose T^T.
*/
PETSC_INTERN PetscErrorCode VCRSPlanSubstitute(const VCRSPlan *, PetscBool upper, PetscBool transpose, PetscScalar x[]);
/* The same for several right-hand sides at once: x[VCRS_TRI_COLUMNS i + c] is entry i of number c */
#define VCRS_TRI_COLUMNS 8
PETSC_INTERN PetscErrorCode VCRSPlanSubstituteColumns(const VCRSPlan *, PetscBool upper, PetscBool transpose, PetscScalar x[]);
