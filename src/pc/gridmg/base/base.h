/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The functions of base/: what both methods need, beside boxes */

#include <lithe/private/gridmg/parts.h>

/*
   The rows of a process on the host. arrays: whether i, j and a are known, of the matrix, or of both blocks of a
   parallel one. MatGetRow() takes longer than the reading of a row
*/
typedef struct {
  PetscBool          arrays;
  Mat                A, block[2];
  const PetscInt    *i[2], *j[2], *global; /* global: the columns of block 1 */
  const PetscScalar *a[2];
} GridMGHostRows; /* owner: src/pc/gridmg/base/hostrows.c */

/* hostrows.c; shared: the blocks of a parallel matrix, else arrays of a matrix of one process alone */
PETSC_INTERN PetscErrorCode PCGridMGHostRowsGet_Private(Mat, PetscBool shared, GridMGHostRows *);
PETSC_INTERN PetscErrorCode PCGridMGHostRowsRestore_Private(GridMGHostRows *);

/* A row of rows that are not shared */
static inline PetscErrorCode GridMGHostRowGet(const GridMGHostRows *r, PetscInt row, PetscInt *n, const PetscInt *column[], const PetscScalar *value[])
{
  if (!r->arrays) return MatGetRow(r->A, row, n, column, value);
  *n      = r->i[0][row + 1] - r->i[0][row];
  *column = r->j[0] + r->i[0][row];
  *value  = r->a[0] + r->i[0][row];
  return PETSC_SUCCESS;
}

static inline PetscErrorCode GridMGHostRowRestore(const GridMGHostRows *r, PetscInt row, PetscInt *n, const PetscInt *column[], const PetscScalar *value[])
{
  return r->arrays ? PETSC_SUCCESS : MatRestoreRow(r->A, row, n, column, value);
}

/* options.c */
PETSC_INTERN PetscErrorCode PCGridMGOptionsDefault_Private(PCGridMGOptions *);
PETSC_INTERN PetscErrorCode PCGridMGSetFromOptions_Private(PC, PetscOptionItems);
PETSC_INTERN PetscErrorCode PCGridMGComposeOptions_Private(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCGridMGInherit_Private(PC, const PC_GridMG *, const PetscInt grid[3]);
/* memory.c */
PETSC_INTERN PetscErrorCode  PCGridMGBlockGet_Private(GridMGBlock *, size_t bytes, void **);
PETSC_INTERN PetscErrorCode  PCGridMGArenaStart_Private(PC_GridMG *, size_t bytes);
PETSC_INTERN PetscErrorCode  PCGridMGArenaTake_Private(PC_GridMG *, size_t bytes, void **);
PETSC_INTERN void            PCGridMGArenaGiveBack_Private(PC_GridMG *, const GridMGArenaMark *);
PETSC_INTERN GridMGArenaMark PCGridMGArenaGetMark_Private(const PC_GridMG *);
PETSC_INTERN void           *PCGridMGTake_Private(GridMGPool *, size_t bytes);
PETSC_INTERN PetscErrorCode  PCGridMGPoolGet_Private(PC_GridMG *, GridMGPool *, PetscBool keep);
PETSC_INTERN void            PCGridMGPoolStart_Private(GridMGPool *, char *memory);
PETSC_INTERN void            PCGridMGPoolHash_Private(GridMGPool *, size_t number);
PETSC_INTERN void            PCGridMGKeepStart_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode  PCGridMGGetWork_Private(PC_GridMG *, PetscBool host, size_t bytes, void **);
PETSC_INTERN PetscErrorCode  PCGridMGGetDense_Private(PC_GridMG *, size_t bytes, void **);
PETSC_INTERN PetscErrorCode  PCGridMGMemoryFreeScratch_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode  PCGridMGMemoryReset_Private(PC_GridMG *);
/* report.c */
PETSC_INTERN PetscErrorCode PCGridMGFirst_Private(PC_GridMG *, PetscBool is, PetscMPIInt n, MPI_Datatype, void *data, PetscBool *any);
PETSC_INTERN void           PCGridMGReportClear_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGFail_Private(PC, const char[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
PETSC_INTERN PetscErrorCode PCGridMGAgree_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGStop_Private(PC_GridMG *, const char[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
/* found.c */
PETSC_INTERN PetscErrorCode PCGridMGGetRounding_Private(PC, double *rounding);
PETSC_INTERN void           PCGridMGFoundStart_Private(PC_GridMG *, PCGridMGSmootherType, double overcorrection);
PETSC_INTERN void           PCGridMGFoundSmoother_Private(PC_GridMG *, PCGridMGSmootherType);
PETSC_INTERN void           PCGridMGFoundFactor_Private(PC_GridMG *, double most, PetscBool minus);
PETSC_INTERN void           PCGridMGFoundSymmetry_Private(PC_GridMG *, PetscBool symmetric);
PETSC_INTERN void           PCGridMGFoundRowSums_Private(PC_GridMG *, PetscInt negative, PetscBool clipped);
PETSC_INTERN void           PCGridMGFoundSuspect_Private(PC_GridMG *, double least);
PETSC_INTERN void           PCGridMGFoundPrecision_Private(PC_GridMG *, PetscBool loses);
/* place.c */
PETSC_INTERN void           PCGridMGPlaceStart_Private(PC_GridMG *, const GridMGKernels *host);
PETSC_INTERN PetscErrorCode PCGridMGFindPlace_Private(PC);
PETSC_INTERN void           PCGridMGPlaceKernels_Private(PC_GridMG *, PetscBool device);
PETSC_INTERN void           PCGridMGPlaceLevels_Private(PC_GridMG *, PetscBool device);
PETSC_INTERN void           PCGridMGPlaceAgain_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGPlaceApart_Private(PC_GridMG *, PetscBool device);
PETSC_INTERN void           PCGridMGPlaceTogether_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGRefuse_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGAgreeOnOverlap_Private(PC_GridMG *, PetscBool *symmetric);
PETSC_INTERN PetscErrorCode PCGridMGMove_Private(PC_GridMG *, size_t n, const void *host, char **there);
PETSC_INTERN PetscErrorCode PCGridMGPlaceReset_Private(PC_GridMG *);
/* coarsest.c */
PETSC_INTERN void           PCGridMGCoarsestTake_Private(PC_GridMG *, GridMGPool *, PetscInt n, size_t parts);
PETSC_INTERN void           PCGridMGCoarsestSingular_Private(PC_GridMG *, PetscInt parts);
PETSC_INTERN PetscErrorCode PCGridMGCoarsestPut_Private(PC_GridMG *, PetscInt n, int parts, const PetscScalar L[], const PetscScalar S[]);
/* outside.c */
PETSC_INTERN PetscErrorCode PCGridMGOutsideFree_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGOutsideOfArrays_Private(PC_GridMG *, PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[],
                                                            const PetscInt number[]);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode PCGridMGOutsideOfDevice_Private(PC_GridMG *, PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[],
                                                            const PetscInt number[]);
PETSC_INTERN PetscErrorCode PCGridMGOutsideOfMatrix_Private(PC_GridMG *);
#endif
/* rows.c */
PETSC_INTERN void           PCGridMGScanForget_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGRowsOf_Private(PC_GridMG *, Mat, PetscBool scaled);
PETSC_INTERN PetscErrorCode PCGridMGRowsMatrix_Private(PC);
PETSC_INTERN PetscBool      PCGridMGRowsAreNew_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGRowsGet_Private(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCGridMGRowsGetAll_Private(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCGridMGRowsRestore_Private(PC);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode PCGridMGRowsUpload_Private(PC, PetscBool *);
#endif
PETSC_INTERN PetscErrorCode PCGridMGRowsEnd_Private(PC);
PETSC_INTERN void           PCGridMGRowsGive_Private(PC, const PetscInt i[], const PetscInt j[], const PetscScalar a[]);
PETSC_INTERN PetscErrorCode PCGridMGComposeRows_Private(PC, PetscBool);
/* scaling.c */
PETSC_INTERN void           PCGridMGScalingNone_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGScalingFree_Private(PC_GridMG *, PetscBool all);
PETSC_INTERN PetscErrorCode PCGridMGScale_Private(PC, PetscBool *again);
PETSC_INTERN PetscErrorCode PCGridMGScalingGet_Private(PetscBool device, int n, const Vec[], const PetscScalar *array[]);
PETSC_INTERN PetscErrorCode PCGridMGScalingRestore_Private(PetscBool device, int n, const Vec[], const PetscScalar *array[]);
PETSC_INTERN PetscErrorCode PCGridMGScalingEnter_Private(PC_GridMG *, Vec x, Vec *in, Vec *out);
PETSC_INTERN PetscErrorCode PCGridMGScalingLeave_Private(PC_GridMG *, Vec out, Vec y);
/* apply.c */
PETSC_INTERN PetscErrorCode PCApply_GridMG(PC, Vec, Vec);
PETSC_INTERN void           PCGridMGScaleTake_Private(PC_GridMG *, GridMGPool *);
PETSC_INTERN PetscErrorCode PCGridMGScaleAgree_Private(PC_GridMG *, double mine);
PETSC_INTERN void           PCGridMGApplicationStart_Private(PC_GridMG *, PetscLogDouble flops);
PETSC_INTERN PetscErrorCode PCGridMGApplicationReset_Private(PC_GridMG *);
