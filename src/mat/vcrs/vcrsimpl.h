/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/litheaij.h>
#include <lithe/private/cuda/vcrs.h>
#include <lithe/private/lithehalo.h>
#include <lithe/private/litheoffdiagonal.h>
#include <lithe/private/lithesingle.h>
#include <lithe/private/petsccompat.h>
#include <lithe/private/vcrs/host.h>
#include <lithe/private/vcrs/mat.h>
#include <petsc/private/matimpl.h>

#define VCRS_CONTAINER "Lithe_MatVCRS"

/*
   The data that the class adds to its MATSEQAIJ or MATMPIAIJ; found by MatVCRSGetContext(). A parallel matrix keeps its
   plans in its two blocks, which are MATSEQAIJVCRS.

   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

/* What was asked for. A block of a parallel matrix has the settings of the matrix */
typedef struct {
  VCRSOptions opt;
  PetscBool   lossy;      /* opt asks for loss */
  PetscBool   allowlossy; /* products also outside of preconditioners */
  PetscBool   mayplain;   /* products on the host may use plain rows */
  PetscBool   dropaij;    /* give the AIJ arrays back whenever the matrix has been compressed */
  PetscBool   beside;     /* a block of a parallel matrix: an exchange runs beside its products */
  PetscBool   ondevice;   /* the vectors of the last product were on a device */
} VCRSSettings;           /* owner: context.c, options.c */

/* The last compression, and what is left of the exact entries */
typedef struct {
  PetscObjectState state; /* state of the AIJ arrays of the plan, -1: none */
  Mat              owner; /* the object of this state: MatVCRSIsCurrent_Private() */
  VCRSOptions      used;  /* the options, or with a finer loss; of all blocks */
  VCRSReport       report;
  PetscLogDouble   buildtime;
  PetscBool        lost;       /* an entry was changed, on some process */
  PetscBool        gone;       /* nothing has the exact entries any more */
  PetscBool        dropped;    /* the AIJ arrays are dropped now */
  PetscBool        dropcopies; /* copies are dropped as well, because the whole matrix was dropped, and is no block of another matrix */
} VCRSLast;                    /* owner: state.c */

/* Sequential: the compressed entries */
typedef struct {
  VCRSPlan *host;         /* large arrays may be missing if made on the device */
  VCRSPlan *device;       /* or NULL */
  VCRSPlan *plainrows;    /* beside host: the same entries in plain rows, for products on the host; or NULL */
  PetscReal hostcost;     /* estimated time of a product on the host over AIJ's */
  void     *substitution; /* on a device: data of mat/vcrs/tri/device.c, or NULL; */
  PetscErrorCode (*destroysubstitution)(void *);
} VCRSPlans; /* owner: plans.c */

/* While a copy is made: the entries that are compressed in place of the own entries; not referenced. Else NULL */
typedef struct {
  Mat                  source;
  const VCRSDeviceCSR *csr;
} VCRSFrom; /* owner: compress.c */

/* An off-diagonal block: its nonempty rows, on the host and on the device; NULL: too many */
typedef struct {
  PetscBool         looked; /* whether rows are few is known */
  LitheOffDiagonal *host, *device;
} VCRSNonempty; /* owner: ghosts.c */

/* The halo of ghost values in memory of one kind, and a vector for each of its arrays */
typedef struct {
  LitheHalo   halo;
  Vec         vec[2];
  const void *array[2];
} VCRSGhosts; /* owner: ghosts.c */

/* Parallel: ghost values */
typedef struct {
  LitheTransport transport;
  VCRSGhosts     ghosts[2];  /* on the host and on a device */
  Vec            transposed; /* ghost values of a transposed product, of the type of the input vector */
  LitheHalo      single;     /* of vectors in single precision, on the host */
} VCRSExchange;              /* owner: ghosts.c */

/* Operations of the AIJ type, and its composed operations, which are not in ops */
typedef struct {
  struct _MatOps ops;
  PetscCount     coocount; /* of the last MatSetPreallocationCOO() */
  PetscErrorCode (*setpreallocationcoo)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);
} VCRSSuper; /* owner: vcrs.c, context.c */

/* Operations of the class for lower files */
typedef struct {
  PetscErrorCode (*apply)(Mat, VCRSOp, Vec, Vec, Vec); /* for one process or several: MatVCRSApply() */
  PetscErrorCode (*drop)(Mat);                         /* MatVCRSDropAIJ(), for a compression with dropaij */
  PetscErrorCode (*destroy)(Mat);                      /* the destructor of the class, which PETSc replaces in submatrices kept for reuse */
} VCRSMethods;                                         /* owner: vcrs.c */

typedef struct {
  VCRSSettings settings;
  VCRSLast     last;
  VCRSPlans    plans;
  VCRSFrom     from;
  VCRSNonempty nonempty;
  VCRSExchange exchange;
  VCRSSuper    super;
  VCRSMethods  methods;
} Mat_VCRS;

/* Functions of a file call functions of files above it in this list, never below */

/* state.c: the context, the last compression, predicates */
PETSC_INTERN PetscErrorCode MatVCRSGetContext(Mat, Mat_VCRS **);
PETSC_INTERN PetscErrorCode MatVCRSIsSymmetric_Private(Mat, PetscBool *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSIsParallel_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSIsCurrent_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetCurrent_Private(Mat);
PETSC_INTERN void           MatVCRSSetOutdated_Private(Mat_VCRS *);
PETSC_INTERN void           MatVCRSExpectStateIncrease_Private(Mat_VCRS *);
PETSC_INTERN void           MatVCRSSetCompressed_Private(Mat_VCRS *, const VCRSOptions *, const VCRSReport *);
PETSC_INTERN void           MatVCRSSetBuildTime_Private(Mat_VCRS *, PetscLogDouble);
PETSC_INTERN PetscErrorCode MatVCRSSetBlocksCompressed_Private(Mat, Mat_VCRS *, Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN void           MatVCRSCopyCompression_Private(const Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN void           MatVCRSSetDropped_Private(Mat_VCRS *, PetscBool);
PETSC_INTERN void           MatVCRSSetDropCopies_Private(Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSIsDropped_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSHasArrays_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSForgetCaches_Private(Mat);

/* plans.c */
PETSC_INTERN PetscErrorCode MatVCRSPlansReset_Private(Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSPlansSet_Private(Mat_VCRS *, VCRSPlan *, VCRSPlan *);
PETSC_INTERN PetscErrorCode MatVCRSPlansReplace_Private(Mat_VCRS *, VCRSPlan *);
PETSC_INTERN PetscErrorCode MatVCRSPlansSetPlainRows_Private(Mat_VCRS *, VCRSPlan *);
PETSC_INTERN PetscErrorCode MatVCRSPlansPlacePlainRows_Private(Mat_VCRS *);
PETSC_INTERN void           MatVCRSPlansShare_Private(const Mat_VCRS *, Mat_VCRS *);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSPlansUpload_Private(Mat_VCRS *);
#endif
PETSC_INTERN PetscErrorCode MatVCRSSetSubstitution_Private(Mat_VCRS *, void *, PetscErrorCode (*)(void *));
PETSC_INTERN PetscErrorCode MatVCRSGetHostPlan_Private(Mat, const VCRSPlan **);
PETSC_INTERN PetscErrorCode MatVCRSGetDecodedArrays_Private(Mat, PetscInt **, PetscInt **, PetscScalar **);

/* ghosts.c: the ghost values of a parallel matrix, and the nonempty rows of an off-diagonal block */
PETSC_INTERN PetscErrorCode MatVCRSGhostsBegin_Private(Mat, Vec x);
PETSC_INTERN PetscErrorCode MatVCRSGhostsEnd_Private(Mat, Vec x, Vec *ghosts);
PETSC_INTERN PetscErrorCode MatVCRSGetSingleHalo_Private(Mat, LitheHalo *);
PETSC_INTERN PetscErrorCode MatVCRSGetHaloInfo_Private(const Mat_VCRS *, LitheHaloInfo *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetTransport_Private(Mat_VCRS *, LitheTransport);
PETSC_INTERN void           MatVCRSExchangeCopy_Private(const Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSExchangeDestroy_Private(Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSGetTransposedGhosts_Private(Mat, Vec x, Mat Ao, Vec *);
PETSC_INTERN PetscErrorCode MatVCRSRestoreTransposedGhosts_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSOffDiagonalFind_Private(Mat, Mat_VCRS *);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSOffDiagonalUpload_Private(Mat_VCRS *);
#endif
PETSC_INTERN PetscErrorCode MatVCRSOffDiagonalReset_Private(Mat_VCRS *);

/* context.c: defaults and limits of options; what all of the above is put into */
PETSC_INTERN PetscErrorCode MatVCRSOptionsDefault(VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSOptionsCheck(Mat, const VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSIsLossy_Private(const VCRSOptions *, PetscBool *);
PETSC_INTERN void           MatVCRSSettingsAdopt_Private(const Mat_VCRS *, PetscBool beside, Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSGetOptions_Private(const Mat_VCRS *, VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSHasOptions_Private(const Mat_VCRS *, const VCRSOptions *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSStoreOptions_Private(Mat_VCRS *, const VCRSOptions *);
PETSC_INTERN void           MatVCRSSetOnDevice_Private(Mat_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode MatVCRSCreateContext_Private(Mat, Mat_VCRS **);
PETSC_INTERN PetscErrorCode MatVCRSRemoveContext_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSCopyContext_Private(const Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSReset_Private(Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSSharePlan_Private(const Mat_VCRS *, Mat_VCRS *);

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
PETSC_INTERN void           MatVCRSSetSource_Private(Mat_VCRS *, Mat, const VCRSDeviceCSR *);
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
  return ctx->settings.lossy && !ctx->settings.allowlossy ? MatVCRSCheckProduct_Private(A) : PETSC_SUCCESS;
}

/* Whether an option may drop the arrays: not if only the arrays hold the exact entries */
static inline PetscBool MatVCRSMayDrop_Private(const Mat_VCRS *ctx)
{
  return (PetscBool)(ctx->settings.dropaij && (!ctx->last.lost || ctx->settings.allowlossy));
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

/* copy.c: a compressed copy without AIJ arrays, made at the place of the entries */
PETSC_INTERN PetscErrorCode MatVCRSFill_Seq(Mat source, const VCRSDeviceCSR *, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCreateWithGhosts_MPI(PetscLayout, PetscLayout, PetscInt nghosts, const PetscInt ghost[], VecType, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCreateEmpty_MPI(Mat, VecType, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSFill_MPI(Mat, const VCRSDeviceCSR *const csr[], const Mat values[]);

/* options.c */
PETSC_INTERN PetscErrorCode MatVCRSSetFromOptions_Private(Mat, PetscOptionItems);

/* apply.c: products of one process. y = op(A) x (+ add); add may be NULL or y */
PETSC_INTERN PetscErrorCode MatVCRSApply(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatVCRSGetDiagonalOnDevice_Private(Mat, Vec, PetscBool *done);
PETSC_INTERN PetscErrorCode MatVCRSApply_Seq(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN void           MatVCRSSetProducts_Private(Mat, PetscBool);
#if defined(LITHE_HAVE_CUDA)
/* device.c: conversion of a MATSEQAIJCUSPARSE or MATMPIAIJCUSPARSE */
PETSC_INTERN PetscErrorCode MatVCRSConvertFromDevice_Private(Mat, MatReuse, Mat *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSConvertLossyFromDevice_Private(Mat, Mat);
PETSC_INTERN PetscErrorCode MatVCRSConvertInPlaceFromDevice_Private(Mat, MatType, PetscBool *);
#endif

/* view.c */
PETSC_INTERN PetscErrorCode MatView_VCRS(Mat, PetscViewer);

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

/* mpi.c: products and steps of many processes, and products of any number with vectors in single precision */
PETSC_INTERN PetscErrorCode MatVCRSApply_MPI(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatVCRSStep_MPI(Mat, PetscReal, const LitheStepRows *, Vec, Vec, PetscInt, const LitheStepSum[]);
PETSC_INTERN PetscErrorCode MatVCRSStepLeavesOut_MPI(Mat, PetscBool device, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSGetRows_MPI(Mat, const PetscInt **i, const PetscInt **j, const PetscScalar **a, PetscBool *known);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSScan_MPI(Mat, PetscInt most[3], PetscBool *good, PetscBool *known);
#endif
PETSC_INTERN PetscErrorCode MatAssemblyEnd_MPIAIJVCRS(Mat, MatAssemblyType);
PETSC_INTERN PetscErrorCode MatVCRSGetSingle_Private(Mat, PetscBool device, PetscBool *better, LitheMatMultSingleFn **);

/* vcrs.c: the class */
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJVCRS(Mat);
