/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include "vcrsplanimpl.h"
#include <lithe/private/lithehalo.h>
#include <lithe/private/litheoffdiagonal.h>
#include <petsc/private/matimpl.h>
#include "../aijfamily.h"

typedef struct _VCRSSubstitution VCRSSubstitution;

/* Ghost values in memory of one kind, and the vectors that they are seen in: the halo has up to two arrays */
typedef struct {
  LitheHalo   halo;
  Vec         vec[2];
  const void *array[2];
} VCRSGhosts;

/*
   What the class adds to its MATSEQAIJ or MATMPIAIJ; found by MatVCRSGetContext(). A parallel matrix
   keeps its plans in its two blocks, which are MATSEQAIJVCRS.
*/
typedef struct {
  VCRSOptions      opt;
  PetscBool        lossy;      /* opt asks for loss */
  PetscBool        lost;       /* the last compression changed an entry, on some process */
  PetscBool        gone;       /* nothing has the exact entries any more */
  PetscBool        allowlossy; /* products also outside of preconditioners */
  PetscBool        beside;     /* a block of a matrix on several processes: an exchange runs beside its products */
  PetscBool        mayplain;   /* products on the host may use plain rows */
  PetscBool        dropaij;    /* give the AIJ arrays back whenever the matrix has been compressed */
  PetscBool        dropped;    /* they are given back now */
  struct _MatOps   super;      /* the operations of the AIJ type */
  PetscObjectState state;      /* of the AIJ arrays that the plan was made from, -1: of none */
  Mat              owner;      /* whose state that is: MatVCRSIsCurrent_Private() */
  PetscLogDouble   buildtime;
  PetscErrorCode (*apply)(Mat, VCRSOp, Vec, Vec, Vec); /* of one process or of many: MatVCRSApply() */

  /* sequential */
  VCRSPlan         *plan;  /* host; large arrays may be missing where it was made on the device */
  VCRSPlan         *dplan; /* device, or NULL */
  VCRSReport        report;
  VCRSOptions       used;         /* opt, or with a finer loss; of all blocks */
  VCRSSubstitution *substitution; /* on a device: vcrstridevice.c; or NULL */
  PetscReal         hostcost;     /* estimated time of a product on the host over AIJ's */
  VCRSPlan         *plainrows;    /* beside plan: the same entries in plain rows, for products on the host; or NULL */

  /* an off-diagonal block: the rows that have entries, on the host and on the device; NULL: many have */
  PetscBool         rowslooked; /* that has been looked at */
  LitheOffDiagonal *rows, *drows;

  /* parallel */
  LitheTransport transport;
  VCRSGhosts     ghosts[2]; /* on the host and on a device */
  Vec            lvec;      /* ghost values of a transposed product, of the type of the input vector */

  /* the operations of the AIJ type that are composed, not in super */
  PetscCount coocount; /* of the last MatSetPreallocationCOO() */
  PetscErrorCode (*setpreallocationcoo)(Mat, PetscCount, PetscInt[], PetscInt[]);
  PetscErrorCode (*setvaluescoo)(Mat, const PetscScalar[], InsertMode);
} Mat_VCRS;

/* vcrs.c: the class on one process, and what it shares with the parallel one */
PETSC_INTERN PetscErrorCode MatCreate_SeqAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJVCRS(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSGetContext(Mat, Mat_VCRS **);
PETSC_INTERN PetscErrorCode MatVCRSAttach_Private(Mat, PetscErrorCode (*)(Mat, VCRSOp, Vec, Vec, Vec));
PETSC_INTERN PetscErrorCode MatVCRSApply(Mat, VCRSOp, Vec, Vec, Vec); /* y = op(A) x (+ add); add may be NULL or y */
PETSC_INTERN PetscErrorCode MatVCRSApply_Seq(Mat, VCRSOp, Vec, Vec, Vec);
PETSC_INTERN void           MatVCRSSetProducts_Private(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatDestroy_SeqAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatDestroy_MPIAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatVCRSDetach_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSIsCurrent_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetCurrent_Private(Mat); /* what is compressed is what the matrix has now */
PETSC_INTERN PetscErrorCode MatVCRSReset_Private(Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSCopyContext_Private(const Mat_VCRS *, Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSComposeConversions_Private(Mat, const char[], const char[], LitheAIJConvertFn *, LitheAIJConvertFn *);
PETSC_INTERN PetscErrorCode MatVCRSOptionsDefault(VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSOptionsCheck(Mat, const VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSSetOptions_Private(Mat, const VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSSetFromOptions_Private(Mat, PetscOptionItems);
PETSC_INTERN PetscErrorCode MatVCRSIsLossy_Private(const VCRSOptions *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSAllowLossyOperator_Private(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatVCRSIsSymmetric_Private(Mat, PetscBool *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSCompress(Mat); /* makes the plan current; does nothing where it is */
PETSC_INTERN PetscErrorCode MatVCRSCompressWith_Private(Mat, const VCRSOptions *, const PetscScalar[]);
PETSC_INTERN PetscErrorCode MatSetFromOptions_VCRS(Mat, PetscOptionItems);
PETSC_INTERN PetscErrorCode MatDuplicate_VCRS(Mat, MatDuplicateOption, Mat *);
PETSC_INTERN PetscErrorCode MatSetPreallocationCOO_VCRS(Mat, PetscCount, PetscInt[], PetscInt[]);
PETSC_INTERN PetscErrorCode MatSetValuesCOO_VCRS(Mat, const PetscScalar[], InsertMode);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSUpload_Private(Mat);

/* vcrstridevice.c */
PETSC_INTERN PetscErrorCode VCRSSubstitutionDestroy_Private(VCRSSubstitution **);

/* vcrsdevice.c: compression where a MATSEQAIJCUSPARSE has its values */
PETSC_INTERN PetscErrorCode MatVCRSConvertFromDevice_Private(Mat, MatReuse, Mat *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSConvertLossyFromDevice_Private(Mat, Mat);
#endif

/* vcrsplain.c: plain rows for products on the host */
PETSC_INTERN VCRSPlain      MatVCRSGetPlain_Private(Mat, const Mat_VCRS *); /* of a compression */
PETSC_INTERN PetscBool      MatVCRSMayUsePlainRows_Private(const Mat_VCRS *);
PETSC_INTERN PetscErrorCode MatVCRSPlacePlainRows_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSLeavePlainRows_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSGetProductPlan_Private(Mat, const VCRSPlan **);

/* vcrsstep.c */
PETSC_INTERN PetscErrorCode MatVCRSStep_Seq(Mat, PetscReal, const LitheStepRows *, Vec, Vec, PetscInt, const LitheStepSum[]);
PETSC_INTERN PetscErrorCode MatVCRSStep_MPI(Mat, PetscReal, const LitheStepRows *, Vec, Vec, PetscInt, const LitheStepSum[]); /* vcrsmpi.c */
PETSC_INTERN PetscErrorCode MatVCRSHasOffDiagonal_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSAddGhosts_Private(Mat, Mat off, Vec, Vec);
PETSC_INTERN PetscErrorCode MatVCRSStepLeavesOut_Seq(Mat, PetscBool device, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSStepLeavesOut_MPI(Mat, PetscBool device, PetscBool *); /* vcrsmpi.c */
PETSC_INTERN PetscErrorCode MatVCRSStepGhosts_Private(Mat, Mat off, PetscReal, Vec, Vec, PetscInt, const LitheStepSum[]);
PETSC_INTERN PetscErrorCode MatVCRSResetOffDiagonal_Private(Mat_VCRS *);

/* vcrsview.c */
PETSC_INTERN PetscErrorCode MatView_VCRS(Mat, PetscViewer);

/* vcrsoperator.c: which products a lossy matrix does */
PETSC_INTERN PetscErrorCode MatVCRSOperatorGuardStart(void); /* from now on see preconditioners, and factorizations, begin */
PETSC_INTERN PetscErrorCode MatVCRSCheckProduct_Private(Mat);

/* Before a product that a program asks for; in those of blocks, as parts of products, everything has been checked */
static inline PetscErrorCode MatVCRSCheckProduct(Mat A, const Mat_VCRS *ctx)
{
  return ctx->lossy && !ctx->allowlossy ? MatVCRSCheckProduct_Private(A) : PETSC_SUCCESS;
}

/* Exact entries that are nowhere else are not given back by an option */
static inline PetscBool MatVCRSMayDrop_Private(const Mat_VCRS *ctx)
{
  return ctx->dropaij && (!ctx->lost || ctx->allowlossy) ? PETSC_TRUE : PETSC_FALSE;
}

/* vcrsdrop.c: give the AIJ arrays back and take them again */
PETSC_INTERN PetscErrorCode MatVCRSDecode_Private(Mat, const char[], PetscBool, Mat *); /* a new MATSEQAIJ from A's plan, with its values or with zeros, and with a prefix of its own */
PETSC_INTERN PetscErrorCode MatVCRSDropAIJ_Seq(Mat);
PETSC_INTERN PetscErrorCode MatVCRSMaterializeAIJ_Seq(Mat);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJVCRS_SeqAIJ(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatConvert_MPIAIJVCRS_MPIAIJ(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatSetOption_VCRS(Mat, MatOption, PetscBool);
PETSC_INTERN PetscErrorCode MatVCRSIsDropped_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSGetHostPlan_Private(Mat, const VCRSPlan **);
PETSC_INTERN PetscErrorCode MatVCRSGetDecodedArrays_Private(Mat, PetscInt **, PetscInt **, PetscScalar **);
PETSC_INTERN PetscErrorCode MatVCRSForgetCaches_Private(Mat); /* of a dropped matrix that got another plan */

/* vcrsretake.c: operations that take them again first */
PETSC_INTERN PetscErrorCode MatVCRSComposeDrop_Private(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatVCRSComposeComparisons_Private(Mat);               /* of a matrix that gives its arrays back, or may do so */
PETSC_INTERN PetscErrorCode MatVCRSMaterializeOperand_Private(Mat, const char[]); /* of any type */

/* vcrsmpi.c: the class on many processes */
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatConvert_MPIAIJ_MPIAIJVCRS(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCompress_MPI(Mat);

/* vcrsghosts.c: of a parallel matrix */
PETSC_INTERN PetscErrorCode MatVCRSGhostsBegin_Private(Mat, Vec x);
PETSC_INTERN PetscErrorCode MatVCRSGhostsEnd_Private(Mat, Vec x, Vec *ghosts);
PETSC_INTERN PetscErrorCode MatVCRSGhostsReset_Private(VCRSGhosts *);
PETSC_INTERN PetscErrorCode MatVCRSGetHaloInfo_Private(const Mat_VCRS *, LitheHaloInfo *, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetTransport_Private(Mat_VCRS *, LitheTransport);

/* vcrsproduct.c */
PETSC_INTERN PetscErrorCode MatVCRSComposeProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatVCRSDecomposeProducts_Private(Mat);
