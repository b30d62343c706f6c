/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithemat.h>
#include <lithe/private/cuda/hyb.h>
#include <lithe/private/lithehalo.h>
#include <lithe/private/litheoffdiagonal.h>
#include <lithe/private/petsccompat.h>
#include <lithe/private/litheaij.h>

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields. A struct without owner is a value
*/

typedef struct {
  MatHYBMGPUFormat  format;
  PetscInt          width; /* of HYB; PETSC_DECIDE: by the split */
  MatHYBMGPUSplit   split;
  PetscInt          sigma; /* rows are sorted by length in windows of this size; PETSC_DECIDE */
  MatHYBMGPUReorder reorder;
  LitheTransport    transport;
} HybOptions; /* owner: options.c */

typedef enum {
  HYB_OP_N, /* A */
  HYB_OP_T  /* A^T */
} HybOp;

/*
   A plan on the host and on a device, with the state of its source. Large host arrays are freed after the copy to the
   device
*/
typedef struct {
  HybPlan  *host;
  HybPlan  *device;
  PetscBool hostvalues, devicevalues; /* whether the values are current */
} HybCopies;                          /* owner: block.c, context.c */

/* The AIJ arrays behind derived data */
typedef struct {
  PetscObjectState values, pattern; /* values -1: of none */
  Mat              owner;           /* the matrix with these states: MatHeaderReplace() gives a matrix other data, but leaves its own states unchanged */
  PetscObjectId    id;              /* detects a matrix made at the address of an earlier one */
  const PetscInt  *columns;
  PetscInt         nz;
} HybState;

/* Sequential: the block, and its transpose for products with the transpose on a device */
typedef struct {
  MatHYBMGPUFormat format; /* the format in use; auto: none yet */
  HybState         state;
  HybCopies        plans, transpose;
  Mat              compressed; /* format vcrs: the MATVCRS */
} HybBlock;                    /* owner: block.c, context.c */

/* Parallel: the off-diagonal block */
typedef struct {
  HybState         state;
  LitheOffDiagonal host, device;
  PetscBool        ondevice;  /* whether device exists */
  HybCopies        transpose; /* whose rows are the ghosts */
  LitheHalo        halo[2];   /* of ghost values on the host, on a device */
  Vec              lvec;      /* for transposed products */
} HybOff;                     /* owner: mpi.c, context.c */

/*
   The data that the class adds to its MATSEQAIJ or MATMPIAIJ; found by MatHYBMGPUGetContext(). In a parallel matrix the
   diagonal block is a MATSEQAIJHYBMGPU. The off-diagonal block is a MATSEQAIJ, used only in products of the parallel
   matrix.
*/
typedef struct {
  HybOptions     opt;
  struct _MatOps super; /* the operations of the AIJ type */
  PetscBool      parallel;
  HybBlock       block;
  HybOff         off;

  /* sequential */
  char        *prefix; /* of the options of block.compressed: the prefix of the parallel matrix */
  PetscInt     ninverse;
  PetscScalar *inverse;    /* [ninverse] an array whose address MatInvertBlockDiagonal() has returned */
  PetscBool    overlapped; /* block of a matrix on several processes: an exchange overlaps with its products */

  /* composed operations of the AIJ type, not in super */
  PetscCount coocount; /* of the last MatSetPreallocationCOO() */
  PetscErrorCode (*setpreallocationcoo)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);
} Mat_HYBMGPU;

/* plan.c: order [m] or NULL. The plan has no arrays of entries yet */
PETSC_INTERN PetscErrorCode HybPlanCreate(const HybCSR *, const HybOptions *, MatHYBMGPUFormat, const PetscInt order[], HybPlan **);
PETSC_INTERN PetscErrorCode HybPlanFill(HybPlan *, const HybCSR *, PetscBool columns);
PETSC_INTERN PetscErrorCode HybPlanDropEntries(HybPlan *);
PETSC_INTERN PetscErrorCode HybPlanDestroy(HybPlan **);
/* Bytes of the matrix that a product reads */
PETSC_INTERN PetscErrorCode HybPlanGetBytes(const HybPlan *, PetscLogDouble *);

/* mult.c: y = add + scale A x, and the sums; add may be NULL, x or y */
PETSC_INTERN PetscErrorCode HybPlanMult(const HybPlan *, const PetscScalar x[], const PetscScalar add[], const LitheStep *, PetscScalar y[]);
PETSC_INTERN PetscErrorCode HybCSRMult(const HybCSR *, const PetscScalar x[], const PetscScalar add[], const LitheStep *, PetscScalar y[]);
/* y = add + A^T x */
PETSC_INTERN PetscErrorCode HybCSRMultTranspose(const HybCSR *, const PetscScalar x[], const PetscScalar add[], PetscScalar y[]);

/* context.c: GetContext() gives NULL where A is no MATHYBMGPU */
PETSC_INTERN PetscErrorCode MatHYBMGPUGetContext(Mat, Mat_HYBMGPU **);
PETSC_INTERN PetscErrorCode MatHYBMGPUSetContext_Private(Mat, Mat_HYBMGPU *);
PETSC_INTERN PetscErrorCode HybCopiesReset(HybCopies *);
PETSC_INTERN void           HybCopiesAge(HybCopies *);
PETSC_INTERN PetscErrorCode MatHYBMGPUReset_Seq(Mat_HYBMGPU *);
PETSC_INTERN PetscErrorCode MatHYBMGPUResetOff_Private(Mat_HYBMGPU *);
PETSC_INTERN PetscErrorCode MatHYBMGPUReset_MPI(Mat_HYBMGPU *);

/* hybmgpu.c */
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJHYBMGPU(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJHYBMGPU(Mat);

/* block.c: the plans of a block */
PETSC_INTERN PetscErrorCode HybStateGet(Mat, HybState *);
PETSC_INTERN PetscErrorCode HybStateCompare(const HybState *, const HybState *, PetscBool *pattern, PetscBool *values);
PETSC_INTERN PetscErrorCode HybGetCSR(Mat, HybCSR *);
PETSC_INTERN PetscErrorCode HybCopiesUpdate(HybCopies *, const HybCSR *, PetscBool device);
PETSC_INTERN PetscErrorCode HybCopiesUpdateTransposed(HybCopies *, const HybCSR *);
/* Makes the data of a product current, on a device or on the host, where the format auto is AIJ itself */
PETSC_INTERN PetscErrorCode MatHYBMGPUUpdate_Seq(Mat, HybOp, PetscBool device);
/* Chooses the format and the place of every entry, as information about the matrix requires */
PETSC_INTERN PetscErrorCode MatHYBMGPUChoose_Seq(Mat);

/* compressed.c: the format vcrs */
PETSC_INTERN PetscErrorCode HybCompressedCreate(Mat, Mat *);
PETSC_INTERN PetscErrorCode HybCompressedGetBytes(Mat, PetscLogDouble *);
PETSC_INTERN PetscErrorCode HybCompressedUpload(Mat);
PETSC_INTERN PetscErrorCode HybCompressedMult(Mat, HybOp, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *, PetscScalar y[]);

/* arrays.c: products of one process with arrays */
/*
   y = add + scale op(A) x and the sums, of the block of a process; arrays are on the device if device is true, else on
   the host. A^T takes a plain step
*/
PETSC_INTERN PetscErrorCode MatHYBMGPUMultArrays_Private(Mat, HybOp, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *,
                                                         PetscScalar y[]);
/* The same, after MatHYBMGPUUpdate_Seq() */
PETSC_INTERN PetscErrorCode MatHYBMGPUMultCurrent_Private(Mat, HybOp, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *,
                                                          PetscScalar y[]);

/* mpi.c: products on many processes */
PETSC_INTERN PetscErrorCode MatHYBMGPUGetBlocks_Private(Mat, Mat *Ad, Mat *Ao);
PETSC_INTERN PetscErrorCode MatHYBMGPUMultArrays_MPI(Mat, HybOp, PetscBool, const PetscScalar[], const PetscScalar[], const LitheStep *, PetscScalar[]);
/* The diagonal block, with its format chosen, and the known facts of the communication */
PETSC_INTERN PetscErrorCode MatHYBMGPUChoose_MPI(Mat, Mat *, LitheHaloInfo *);

/* apply.c: products with vectors, and steps of power series */
PETSC_INTERN PetscErrorCode MatHYBMGPUSetProducts_Private(Mat);

/* options.c */
PETSC_INTERN PetscErrorCode HybOptionsDefault(HybOptions *);
PETSC_INTERN PetscErrorCode MatHYBMGPUSetOptions_Private(Mat, const HybOptions *);
PETSC_INTERN PetscErrorCode MatHYBMGPUSetFromOptions_Private(Mat, PetscOptionItems);

/* view.c */
PETSC_INTERN PetscErrorCode MatView_HYBMGPU(Mat, PetscViewer);
