/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The C interface of cuda/vcrs: compressed matrices on a device.

   As in all interfaces of cuda/, arguments are plain pointers and sizes, and no PETSc objects. Pointers named d* are
   device pointers. Launches go to PETSc's current stream (PetscGetCurrentCUDAStream()) and do not synchronise, unless a
   function says so.
*/

#include <lithe/private/lithestep.h>
#include <lithe/private/vcrs/order.h>
#include <lithe/private/vcrs/plan.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* Copies a host plan's arrays to the device; ddst gets device pointers (sets.count stays NULL). Synchronises. */
PETSC_INTERN PetscErrorCode LitheCUDAVCRSUpload(const VCRSPlan *src, VCRSPlan *ddst);
/* The opposite: allocates dst's arrays with PetscMalloc. Synchronises. */
PETSC_INTERN PetscErrorCode LitheCUDAVCRSDownload(const VCRSPlan *dsrc, VCRSPlan *dst);
PETSC_INTERN PetscErrorCode LitheCUDAVCRSFree(VCRSPlan *dplan);
/*
   dy = op(A) dx (+ dadd), for nrhs columns at distances ldx, ldy (and ldadd of dadd). dadd may be NULL or dy itself.
   table: a host plan with filled set tables (setptr, setoffset, setvalue, setcount).
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSMult(const VCRSPlan *table, const VCRSPlan *dplan, VCRSOp op, PetscInt nrhs, const PetscScalar *dx, PetscInt ldx,
                                              const PetscScalar *dadd, PetscInt ldadd, PetscScalar *dy, PetscInt ldy);
/*
   dy = A dx, or dy += A dx, for vectors in single precision, in which a complex number is two. Not for
   MATVCRS_LAYOUT_LITERAL. It can be recorded
*/
/* dr = db - A dx; dr may be db */
PETSC_INTERN PetscErrorCode LitheCUDAVCRSResidual(const VCRSPlan *table, const VCRSPlan *dplan, const PetscScalar *db, const PetscScalar *dx, PetscScalar *dr);
/*
   Steps dy = dx + scale A dx with their sums, A square, see lithestep.h. The first function returns whether steps leave
   rows out; the second makes a step
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSStepLeavesOut(const VCRSPlan *dplan, PetscBool *leaves);
PETSC_INTERN PetscErrorCode LitheCUDAVCRSStep(const VCRSPlan *table, const VCRSPlan *dplan, const LitheStep *step, const PetscScalar *dx, PetscScalar *dy);
/* dd[row] = a_row,row for row < min(m,n), 0 where the pattern has none */
PETSC_INTERN PetscErrorCode LitheCUDAVCRSGetDiagonal(const VCRSPlan *dplan, PetscScalar *dd);
/*
   Properties of the entries, for fewer than 2^31 rows and columns. Output most = {entries of the longest row, largest
   column minus row, largest row minus column}. Output good: all entries are real, and off-diagonal entries are finite
   and not negative. Synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSScan(const VCRSPlan *dplan, PetscInt most[3], PetscBool *good);
/*
   The entries of a plan with stored diagonals, as *di [m+1], *dj [nz] and *da [nz], in one allocation that the caller
   frees by cudaFree(*da). Plans with grouped columns are excluded because of their order
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSDecode(const VCRSPlan *dplan, PetscInt **di, PetscInt **dj, PetscScalar **da);
/*
   Compresses a CSR matrix on the device. dextra [m], or NULL: added to the kept row sums. table gets the set tables on
   the host, dplan all arrays. Synchronises.
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSCompress(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                                  const PetscScalar *dextra, const VCRSOptions *opt, VCRSPlan *table, VCRSPlan *dplan, VCRSReport *report);
/* VCRSLossPropose() of a CSR matrix with rows: survey and rowexponent [m] on the host. Synchronises */
PETSC_INTERN PetscErrorCode LitheCUDAVCRSPropose(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                                 const VCRSOptions *opt, VCRSSurvey *survey, PetscInt rowexponent[]);
/* derror[row] = the row sum of the entries minus the row sum of dplan, their compressed form */
PETSC_INTERN PetscErrorCode LitheCUDAVCRSRowSumError(const VCRSPlan *table, const VCRSPlan *dplan, const PetscInt *di, const PetscScalar *da,
                                                     PetscScalar *derror);
/*
   The transpose of a CSR matrix of m rows and n columns: buffers *dti [n+1], *dtj and *dta [nz], which the caller frees
   by cudaFree(), columns ascending. Synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDACSRTranspose(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                                  PetscInt **dti, PetscInt **dtj, PetscScalar **dta);

/* row [nz], on the host: the row of each entry of a CSR matrix of m rows. Synchronises */
PETSC_INTERN PetscErrorCode LitheCUDACSRGetRows(PetscInt m, PetscInt nz, const PetscInt *di, PetscInt row[]);

/*
   A CSR matrix of m rows as two: with the columns from begin to end, counted from begin, and with all other columns.
   Arrays di [m+1], dj and da of nz entries are in one allocation per matrix, which the caller frees by cudaFree(da).
   Synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDACSRSplit(PetscInt m, PetscInt begin, PetscInt end, const PetscInt *di, const PetscInt *dj, const PetscScalar *da,
                                              PetscInt nz[2], PetscInt *newi[2], PetscInt *newj[2], PetscScalar *newa[2]);
/* Columns dj become their places among n numbers, ascending, on the host, which include them. Synchronises */
PETSC_INTERN PetscErrorCode LitheCUDACSRRenumber(PetscInt nz, PetscInt *dj, PetscInt n, const PetscInt number[]);

/*
   Triangular systems x = b + T x, rows in a given order. The preparation belongs to this plan and its entries. A solve
   allocates nothing, does not synchronise, and is bitwise reproducible. dx may not be db.
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSTriSetUp(const VCRSPlan *dplan, const VCRSOrder *, void **prepared);
PETSC_INTERN PetscErrorCode LitheCUDAVCRSTriSolve(const void *prepared, const VCRSPlan *dplan, const PetscScalar *db, PetscScalar *dx);
PETSC_INTERN PetscErrorCode LitheCUDAVCRSTriFree(void **prepared);
#endif
