/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The off-diagonal block of a parallel matrix with few nonempty rows: only the nonempty rows. Plain data, on the host
   or on a device.
*/

#include <lithe/private/lithestep.h>

typedef struct {
  PetscInt     nrows, nz;
  PetscInt     end[2]; /* all rows are among the first end[0] and the last end[1] of the block; end[] is the least possible */
  PetscInt    *row;    /* [nrows] ascending */
  PetscInt    *rowptr; /* [nrows + 1] */
  PetscInt    *col;    /* [nz] of the ghost values */
  PetscScalar *value;  /* [nz] in the order of the matrix of origin */
} LitheOffDiagonal;

/* From a CSR matrix of m rows */
PETSC_INTERN PetscErrorCode LitheOffDiagonalCreate(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], LitheOffDiagonal *);
PETSC_INTERN PetscErrorCode LitheOffDiagonalDestroy(LitheOffDiagonal *);

/*
   d = scale A ghost for the nonempty rows. y_i += d_i, and sum_i += weight d_i for the sums of a step after the
   diagonal block. step NULL: scale 1, no sums.
*/
PETSC_INTERN PetscErrorCode LitheOffDiagonalAdd(const LitheOffDiagonal *, const LitheStep *step, const PetscScalar ghost[], PetscScalar y[]);

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/halo.h>

/* Upload and free synchronise; values [nz] may be on the host or on the device. d: on the device */
PETSC_INTERN PetscErrorCode LitheCUDAOffDiagonalUpload(const LitheOffDiagonal *src, LitheOffDiagonal *ddst);
PETSC_INTERN PetscErrorCode LitheCUDAOffDiagonalSetValues(LitheOffDiagonal *ddst, const PetscScalar values[]);
PETSC_INTERN PetscErrorCode LitheCUDAOffDiagonalFree(LitheOffDiagonal *);
/*
   epoch: of the exchange that brings dghost[], even without rows (LitheHaloReceive()). NULL, or without a number:
   earlier work in the stream provides dghost[]
*/
PETSC_INTERN PetscErrorCode LitheCUDAOffDiagonalAdd(const LitheOffDiagonal *, const LitheHaloEpoch *epoch, const LitheStep *step, const PetscScalar dghost[],
                                                    PetscScalar dy[], cudaStream_t);
/* Ends an exchange, and adds the product with the ghosts, in PETSc's stream: in one kernel if the transport permits. d,
   dy: on the device. src/mat/common/offdiagonal.c */
PETSC_INTERN PetscErrorCode LitheOffDiagonalEnd(const LitheOffDiagonal *, LitheHalo, const LitheStep *step, PetscScalar dy[]);
#endif
