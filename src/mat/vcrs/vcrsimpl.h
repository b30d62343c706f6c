/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <src/vcrs/planimpl.h>
#include <lithe/private/lithecudavcrs.h>
#include <lithe/private/lithehalo.h>
#include <lithe/private/litheoffdiagonal.h>
#include <lithe/private/petsccompat.h>
#include <lithe/private/vcrsmat.h>
#include <petsc/private/matimpl.h>
#include "../aijfamily.h"

typedef struct _VCRSSubstitution VCRSSubstitution;

/* The halo of ghost values in memory of one kind, and a vector for each of its arrays */
typedef struct {
  LitheHalo   halo;
  Vec         vec[2];
  const void *array[2];
} VCRSGhosts;

/* A CSR matrix on a device */
typedef struct {
  PetscInt64         nz;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} VCRSDeviceCSR;

/*
   The data that the class adds to its MATSEQAIJ or MATMPIAIJ; found by MatVCRSGetContext(). A parallel matrix keeps its
   plans in its two blocks, which are MATSEQAIJVCRS.
*/
typedef struct {
  VCRSOptions          opt;
  PetscBool            lossy;      /* opt asks for loss */
  PetscBool            lost;       /* the last compression changed an entry, on some process */
  PetscBool            gone;       /* nothing has the exact entries any more */
  PetscBool            allowlossy; /* products also outside of preconditioners */
  PetscBool            beside;     /* a block of a parallel matrix: an exchange runs beside its products */
  PetscBool            mayplain;   /* products on the host may use plain rows */
  PetscBool            dropaij;    /* give the AIJ arrays back whenever the matrix has been compressed */
  PetscBool            dropped;    /* the AIJ arrays are dropped now */
  PetscBool            dropcopies; /* copies are dropped as well, because the whole matrix was dropped, and is no block of another matrix */
  PetscBool            ondevice;   /* the vectors of the last product were on a device */
  Mat                  source;     /* while a copy is made: the matrix whose entries are compressed; not referenced. Else NULL */
  const VCRSDeviceCSR *csr;        /* the same, where a copy is made of arrays on a device. Else NULL */
  struct _MatOps       super;      /* the operations of the AIJ type */
  PetscObjectState     state;      /* state of the AIJ arrays of the plan, -1: none */
  Mat                  owner;      /* the object of this state: MatVCRSIsCurrent_Private() */
  PetscLogDouble       buildtime;
  PetscErrorCode (*apply)(Mat, VCRSOp, Vec, Vec, Vec); /* for one process or several: MatVCRSApply() */
  PetscErrorCode (*drop)(Mat);                         /* MatVCRSDropAIJ(), for a compression with dropaij */
  PetscErrorCode (*destroy)(Mat);                      /* the destructor of the class, which PETSc replaces in submatrices kept for reuse */

  /* sequential */
  VCRSPlan         *plan;  /* host; large arrays may be missing if made on the device */
  VCRSPlan         *dplan; /* device, or NULL */
  VCRSReport        report;
  VCRSOptions       used;         /* opt, or with a finer loss; of all blocks */
  VCRSSubstitution *substitution; /* on a device: mat/vcrs/tri/device.c; or NULL */
  PetscReal         hostcost;     /* estimated time of a product on the host over AIJ's */
  VCRSPlan         *plainrows;    /* beside plan: the same entries in plain rows, for products on the host; or NULL */

  /* an off-diagonal block: its nonempty rows, on the host and on the device; NULL: too many */
  PetscBool         rowslooked; /* rows has been decided */
  LitheOffDiagonal *rows, *drows;

  /* parallel */
  LitheTransport transport;
  VCRSGhosts     ghosts[2]; /* on the host and on a device */
  Vec            lvec;      /* ghost values of a transposed product, of the type of the input vector */

  /* composed operations of the AIJ type, not in super */
  PetscCount coocount; /* of the last MatSetPreallocationCOO() */
  PetscErrorCode (*setpreallocationcoo)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);
} Mat_VCRS;

/* Functions of a file call functions of files above it in this list, never below */

/* state.c: context, options, predicates, the plan on the host */
PETSC_INTERN PetscErrorCode MatVCRSGetContext(Mat, Mat_VCRS **);
PETSC_INTERN PetscErrorCode MatVCRSCreateContext_Private(Mat, Mat_VCRS **);
PETSC_INTERN PetscErrorCode MatVCRSRemoveContext_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSCopyContext_Private(const Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSReset_Private(Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSSharePlan_Private(const Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSGhostsReset_Private(VCRSGhosts *);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode VCRSSubstitutionDestroy_Private(VCRSSubstitution **);
#endif
PETSC_INTERN PetscErrorCode MatVCRSOptionsDefault(VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSOptionsCheck(Mat, const VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSIsLossy_Private(const VCRSOptions *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSIsSymmetric_Private(Mat, PetscBool *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSIsParallel_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSIsCurrent_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetCurrent_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSIsDropped_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSHasArrays_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSForgetCaches_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSGetHostPlan_Private(Mat, const VCRSPlan **);
PETSC_INTERN PetscErrorCode MatVCRSGetDecodedArrays_Private(Mat, PetscInt **, PetscInt **, PetscScalar **);

/* ghosts.c: the ghost values of a parallel matrix */
PETSC_INTERN PetscErrorCode MatVCRSGhostsBegin_Private(Mat, Vec x);
PETSC_INTERN PetscErrorCode MatVCRSGhostsEnd_Private(Mat, Vec x, Vec *ghosts);
PETSC_INTERN PetscErrorCode MatVCRSGetHaloInfo_Private(const Mat_VCRS *, LitheHaloInfo *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetTransport_Private(Mat_VCRS *, LitheTransport);

/* plain.c: plain rows for products on the host */
PETSC_INTERN VCRSPlain      MatVCRSGetPlain_Private(Mat, const Mat_VCRS *); /* of a compression */
PETSC_INTERN PetscBool      MatVCRSMayUsePlainRows_Private(const Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSPlacePlainRows_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSLeavePlainRows_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSGetProductPlan_Private(Mat, const VCRSPlan **);

/*
   materialize.c: matrices without entries, and the AIJ arrays, decoded. MatVCRSDecode_Private() creates a MATSEQAIJ
   with a prefix, and with the values or zeros
*/
PETSC_INTERN PetscErrorCode MatVCRSCreateAssembled_Private(MPI_Comm, PetscInt m, PetscInt n, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCreateEmpty_Private(Mat, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCreateSeqAIJ_Private(Mat, const char prefix[], Mat *);
PETSC_INTERN PetscErrorCode MatVCRSDecode_Private(Mat, const char prefix[], PetscBool values, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSMaterializeAIJ_Seq(Mat);
PETSC_INTERN PetscErrorCode MatVCRSMaterializeOperand_Private(Mat, const char operation[]);

#if defined(LITHE_HAVE_CUDA)
/* compressdevice.c: compression on the device. MatVCRSFreeOnDevice_Private() frees all memory allocated here */
PETSC_INTERN PetscErrorCode MatVCRSIsOnDevice_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetDeviceCSR_Private(PetscInt m, const PetscInt[], const PetscInt[], const PetscScalar[], VCRSDeviceCSR *);
PETSC_INTERN PetscErrorCode MatVCRSCompressOnDevice_Private(Mat A, const VCRSOptions *, const PetscScalar extra[], VCRSPlan **, VCRSPlan **, VCRSReport *);
PETSC_INTERN PetscErrorCode MatVCRSProposeOnDevice_Private(Mat, const VCRSOptions *, VCRSSurvey *, PetscInt[]);
PETSC_INTERN PetscErrorCode MatVCRSGetRowSumErrorOnDevice_Private(Mat, PetscScalar **);
PETSC_INTERN PetscErrorCode MatVCRSFreeOnDevice_Private(const void *);
#endif

/*
   compress.c: a compression makes the plan current, and has no effect if the plan is current.
   MatVCRSCompressFrom_Private() compresses the entries of another matrix of one process
*/
PETSC_INTERN PetscErrorCode MatVCRSReplaceOptions_Private(Mat, const VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSGetCSR_Private(Mat, VCRSCSR *);
PETSC_INTERN PetscErrorCode MatVCRSRestoreCSR_Private(Mat, VCRSCSR *);
PETSC_INTERN PetscErrorCode MatVCRSWantsDevice_Private(Mat, const VCRSOptions *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSCompressWith_Private(Mat, const VCRSOptions *, const PetscScalar[]);
PETSC_INTERN PetscErrorCode MatVCRSCompress(Mat);
PETSC_INTERN PetscErrorCode MatVCRSCompressFrom_Private(Mat, Mat values);

/* compressblocks.c: the same for a parallel matrix, and for a matrix that is about to be multiplied */
PETSC_INTERN PetscErrorCode MatVCRSGetBlocks_Private(Mat, Mat *, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCompress_MPI(Mat);
PETSC_INTERN PetscErrorCode MatVCRSCompressFrom_MPI(Mat, const Mat values[]);
PETSC_INTERN PetscErrorCode MatVCRSCompressFor_Private(Mat, Vec);

/* operator.c: which products a lossy matrix does. The guard watches solves, preconditioners and factorizations */
PETSC_INTERN PetscErrorCode MatVCRSOperatorGuardStart(void);
PETSC_INTERN PetscErrorCode MatVCRSCheckProduct_Private(Mat);

/* Called before a product requested by a program. Products of blocks belong to a product that has been checked */
static inline PetscErrorCode MatVCRSCheckProduct(Mat A, const Mat_VCRS *ctx)
{
  return ctx->lossy && !ctx->allowlossy ? MatVCRSCheckProduct_Private(A) : PETSC_SUCCESS;
}

/* Whether an option may drop the arrays: not if only the arrays hold the exact entries */
static inline PetscBool MatVCRSMayDrop_Private(const Mat_VCRS *ctx)
{
  return (PetscBool)(ctx->dropaij && (!ctx->lost || ctx->allowlossy));
}

/*
   retake.c: operations that first decode the AIJ arrays. Comparisons are composed with a matrix that drops its arrays,
   or may drop them
*/
PETSC_INTERN PetscErrorCode MatVCRSComposeDrop_Private(Mat, PetscBool parallel);
PETSC_INTERN PetscErrorCode MatVCRSDecomposeDrop_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSComposeComparisons_Private(Mat);

/* serve.c: operations from the plan */
PETSC_INTERN void MatVCRSServeAttach_Private(Mat, PetscBool parallel);

/* drop.c */
PETSC_INTERN PetscErrorCode MatVCRSDropAIJ_Seq(Mat);
PETSC_INTERN PetscErrorCode MatSetOption_VCRS(Mat, MatOption, PetscBool);

/* copy.c: a compressed copy without AIJ arrays, made at the place of the entries; configure() sets its options */
PETSC_INTERN PetscErrorCode MatVCRSCreateEmpty_MPI(Mat, VecType, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSFill_MPI(Mat, const VCRSDeviceCSR *, const Mat values[]);
PETSC_INTERN PetscErrorCode MatVCRSCreateCopy_Private(Mat, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSCreateFromDevice_Private(MPI_Comm, PetscInt m, PetscInt n, const VCRSDeviceCSR *, Mat beside,
                                                            PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *);
#endif

/* options.c */
PETSC_INTERN PetscErrorCode MatVCRSSetFromOptions_Private(Mat, PetscOptionItems);

/* apply.c: products of one process. y = op(A) x (+ add); add may be NULL or y */
PETSC_INTERN PetscErrorCode MatVCRSApply(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatVCRSApply_Seq(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN void           MatVCRSSetProducts_Private(Mat, PetscBool);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSUpload_Private(Mat);

/*
   device.c: conversion of a MATSEQAIJCUSPARSE or MATMPIAIJCUSPARSE, and the transpose on a device, freed by
   MatVCRSFreeCSR_Private()
*/
PETSC_INTERN PetscErrorCode MatVCRSBlocksAreOnDevice_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSConvertFromDevice_Private(Mat, MatReuse, Mat *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSConvertLossyFromDevice_Private(Mat, Mat);
PETSC_INTERN PetscErrorCode MatVCRSConvertInPlaceFromDevice_Private(Mat, MatType, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSTransposeOnDevice_Private(Mat, VCRSDeviceCSR *);
PETSC_INTERN PetscErrorCode MatVCRSFreeCSR_Private(VCRSDeviceCSR *);
#endif

/* view.c */
PETSC_INTERN PetscErrorCode MatView_VCRS(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatVCRSGetInfo_Private(Mat, PetscBool asymmetry, MatVCRSInfo *);

/* product.c: products with matrices */
PETSC_INTERN PetscErrorCode MatVCRSComposeProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSDecomposeProducts_Private(Mat);

/* step.c: steps of power series */
PETSC_INTERN PetscErrorCode MatVCRSStep_Seq(Mat, PetscReal, const LitheStepRows *, Vec, Vec, PetscInt, const LitheStepSum[]);
PETSC_INTERN PetscErrorCode MatVCRSStepLeavesOut_Seq(Mat, PetscBool device, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSScan_Seq(Mat, PetscInt most[3], PetscBool *good, PetscBool *known);
PETSC_INTERN PetscErrorCode MatVCRSGetRows_Seq(Mat, const PetscInt **i, const PetscInt **j, const PetscScalar **a, PetscBool *known);
PETSC_INTERN PetscErrorCode MatVCRSRestoreRows_Seq(Mat, const PetscScalar **a);
PETSC_INTERN PetscErrorCode MatVCRSStepGhosts_Private(Mat, Mat off, PetscReal, Vec, Vec, PetscInt, const LitheStepSum[]);
PETSC_INTERN PetscErrorCode MatVCRSHasOffDiagonal_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSAddGhosts_Private(Mat, Mat off, Vec, Vec);

/* mpi.c: products and steps of many processes */
PETSC_INTERN PetscErrorCode MatVCRSApply_MPI(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatVCRSStep_MPI(Mat, PetscReal, const LitheStepRows *, Vec, Vec, PetscInt, const LitheStepSum[]);
PETSC_INTERN PetscErrorCode MatVCRSStepLeavesOut_MPI(Mat, PetscBool device, PetscBool *);
PETSC_INTERN PetscErrorCode MatAssemblyEnd_MPIAIJVCRS(Mat, MatAssemblyType);

/* vcrs.c: the class */
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJVCRS(Mat);
