/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithepc.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>
#include <lithe/private/cuda/factor.h>
#include <lithe/private/petsccompat.h>
#include <lithe/private/vcrs/mat.h>

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields. A struct without owner is a value: a file fills
   it, or changes a copy, and passes it on
*/

/* How the copies are compressed, and applied; the options of PC_VCRS, or changed for one copy */
typedef struct {
  MatVCRSLoss           loss;
  PetscInt              bits;         /* 8 or 16: LOG and FIXED */
  PetscInt              coarsebits;   /* the same on the coarse levels of a multigrid preconditioner */
  PetscInt              bins;         /* BINS, BINCLASSES */
  PetscReal             lambda;       /* CLASSES, BINCLASSES */
  MatVCRSUnit           unit;         /* CLASSES, BINCLASSES */
  PetscBool             rowsums;      /* keep row sums */
  PCVCRSFactorSolveType factorsolve;  /* how systems with factors are solved */
  PetscInt              sweeps;       /* JACOBI */
  PCVCRSPrecision       precision;    /* of input and output */
  PetscBool             dropexact;    /* free exact matrices owned only by the inner preconditioner */
  PetscBool             restrictions; /* on a device: store transposed interpolations as restrictions */
  const char           *prefix;       /* prefix of the copies' options; set by PCVCRSOptionsHere_Private() only */
  PetscBool             device;       /* likewise: factors are for vectors on a device */
} PCVCRSOptions;

/*
   The source of a copy: a relative of MATAIJ, or m x n entries on a device if exact is NULL. If beside is not NULL, the
   entries are the diagonal block of a parallel matrix, and beside has the other parts
*/
typedef struct {
  Mat           exact;
  MPI_Comm      comm; /* without exact */
  PetscInt      m, n;
  VCRSDeviceCSR csr;
  Mat           beside;
} PCVCRSSource;

/* The inner preconditioner, and the settings passed on from the outer preconditioner, to detect changes */
typedef struct {
  PC        pc;
  char     *prefix;     /* of the inner preconditioner */
  char     *copyprefix; /* of the copies' own options */
  DM        dm;         /* not referenced: the inner preconditioner references it, or has another DM */
  PetscBool useamat;
  PetscErrorCode (*modifysubmatrices)(PC, PetscInt, const IS[], const IS[], Mat[], void *);
  void *modifysubmatricesctx, *ctx;
} PCVCRSInner; /* owner: inner.c */

/* A line of the view: a matrix, the blocks of all processes, or a part left unchanged */
typedef struct {
  char     *what;
  PetscBool blocks;
  char     *left; /* NULL: nothing */
} PCVCRSLine;     /* owner: lines.c */

typedef struct {
  PetscInt    n;
  PCVCRSLine *line;
  PetscInt    shared; /* while collecting inside blocks: the line of the blocks, else -1 */
} PCVCRSLines;        /* owner: lines.c */

/* A compressed matrix that the inner preconditioner reads; its AIJ arrays are freed */
typedef struct {
  MatState       exact; /* state of the exact matrix; id 0: a part of a factor */
  Mat            compressed;
  PetscInt       line;       /* line of the view */
  PetscLogDouble exactbytes; /* of an exact matrix not stored as MATAIJ; 0: see MatVCRSInfo; < 0: the copy replaces no matrix */
  PetscBool      transposed; /* copy of the transpose */
} PCVCRSCopy;                /* owner: copy.c */

/* While collecting: old has the previous copies; reused ones are NULL */
typedef struct {
  PetscInt    n, nold;
  PCVCRSCopy *copy, *old;
} PCVCRSCopies; /* owner: copy.c */

/* Place and method of solves with a triangle */
typedef enum {
  PCVCRS_HOST,   /* substitution */
  PCVCRS_DEVICE, /* substitution */
  PCVCRS_SWEEPS  /* of Jacobi's method, at the place of the vectors */
} PCVCRSFactorWay;

/* Work of solves, NULL until the first such solve */
typedef struct {
  Vec          vec[3];
  PetscScalar *columns; /* of several right-hand sides, side by side */
} PCVCRSFactorWork;     /* owner: solve.c */

/*
   A factored matrix P_r A P_c = (I - lower) inverse^-1 (I - upper), where lower and upper are strictly triangular. Each
   process has a separate factored matrix, referenced by the places that apply the copy.
*/
typedef struct {
  MatState        exact;     /* state of PETSc's factored matrix */
  PetscBool       symmetric; /* lower is the transpose of upper: NULL, or on a device stored in addition */
  Mat             lower, upper, inverse;
  VecScatter      row, col; /* right-hand side to the factors' order, and the solution back; NULL: the natural order */
  PCVCRSFactorWay way;
  PetscInt        sweeps[2]; /* for lower and for upper */

  LitheDeviceBorder *border[2]; /* PCVCRS_DEVICE: border of lower and upper; all other rows form a grid; NULL: none */

  PCVCRSFactorWork work;
} PCVCRSFactor; /* owner: factor.c, factordevice.c */

/* While collecting: old has the previous factors; reused ones are NULL */
typedef struct {
  PetscInt       n, nold;
  PCVCRSFactor **factor, **old;
} PCVCRSFactors; /* owner: factor.c */

/* A pointer to a matrix that a copy replaces during an application */
typedef struct {
  PetscInt  copy;  /* to read instead, -1: none */
  PetscBool in;    /* exchanged now */
  Mat       exact; /* while exchanged: the exact matrix */
} PCVCRSSlot;      /* owner: exchange.c */

/* Settings of a preconditioner that are changed during an application */
typedef struct {
  PetscBool     is; /* frozen now: the next members hold the previous settings */
  PetscBool     reuse;
  MatState      amatstate;
  struct _PCOps ops; /* with a factor: the replaced operations */
} PCVCRSFrozen;      /* owner: exchange.c */

/* A matrix exchanged by a hook: its place and the exact matrix */
typedef struct {
  Mat *where;
  Mat  exact, compressed;
} PCVCRSHooked; /* owner: exchange.c */

typedef struct {
  PetscBool     in; /* the copies are in place */
  PetscInt      nhooked;
  PCVCRSHooked *hooked;
} PCVCRSExchange; /* owner: exchange.c */

/* Matrices that a preconditioner reads */
typedef enum {
  PCVCRS_AMAT,
  PCVCRS_PMAT,
  PCVCRS_PLACE_MATRICES
} PCVCRSPlaceMatrix;

/* An inner preconditioner at any depth, with its solver; both are referenced */
typedef struct {
  PC            pc;
  KSP           ksp;   /* NULL: applied by another preconditioner */
  char         *type;  /* of pc */
  PC            grids; /* the enclosing multigrid preconditioner, NULL: none; not referenced */
  PCVCRSSlot    slot[PCVCRS_PLACE_MATRICES];
  PetscBool     hooked; /* exchanges matrices by a separate function, PCVCRS_HOOK */
  PCVCRSFactor *factor; /* NULL: none */
  PCVCRSFrozen  frozen;
} PCVCRSPlace; /* owner: compress.c */

/* Matrices of a level that a multigrid preconditioner itself reads; pc is referenced */
typedef enum {
  PCVCRS_RESIDUAL,
  PCVCRS_INTERPOLATION,
  PCVCRS_RESTRICTION,
  PCVCRS_LEVEL_MATRICES
} PCVCRSLevelMatrix;

typedef struct {
  PC         pc;
  PC         grids; /* the outermost enclosing multigrid, maybe pc itself; not referenced */
  PetscInt   level;
  PCVCRSSlot slot[PCVCRS_LEVEL_MATRICES];
} PCVCRSLevel; /* owner: compress.c */

/* All that an application of the inner preconditioner reads */
typedef struct {
  PetscBool    current; /* the copies belong to the present inner preconditioner, with the present options */
  PetscInt     nplaces, nlevels;
  PCVCRSPlace *place;
  PCVCRSLevel *level;
  PetscBool    coarse; /* while collecting: on a coarse level */
  PC           grids;  /* while collecting: the outermost enclosing multigrid preconditioner */
} PCVCRSParts;         /* owner: compress.c */

typedef struct {
  PetscBool  dropped; /* exact matrices were freed: the copies stay in place */
  PetscBool  told;    /* the inner multigrid preconditioner had interpolations before its set-up */
  PetscBool *again;   /* of each place: the exact factor, or the matrices below, were freed; the next set-up starts from scratch */
} PCVCRSDropped;      /* owner: drop.c */

/* Single precision */
typedef struct {
  Vec       rounded[3]; /* the input, and work vectors like input and output */
  PetscReal outscale;   /* a power of two near the output of a unit vector, 1 in the usual range, 0 unknown */
  PetscBool linear;     /* the solver takes the preconditioner for a linear operator, and vectors are not rounded */
  PetscReal rounding;   /* error of a residual by single precision; -1: not measured since the set-up */
} PCVCRSSingle;         /* owner: precision.c */

typedef struct {
  PC             outer; /* the outer preconditioner of this data */
  PCVCRSOptions  opt;
  PCVCRSInner    inner;
  PCVCRSParts    parts;
  PCVCRSCopies   copies;
  PCVCRSFactors  factors;
  PCVCRSLines    lines;
  PCVCRSExchange exchange;
  PCVCRSDropped  drop;
  PCVCRSSingle   single;
} PC_VCRS;

#define PCVCRS_HOOK "PCVCRSCompress_C"

/* context.c: predicates about inner preconditioners */
PETSC_INTERN PetscErrorCode PCVCRSIsMultigrid_Private(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCVCRSPlaceIsCurrent_Private(const PCVCRSPlace *, PetscBool *);
PETSC_INTERN PetscErrorCode PCVCRSSetSolverType_Private(PC);

/* blocks.c: inner preconditioners, and their blocks, are set up with readable factors */
PETSC_INTERN PetscErrorCode PCVCRSChooseSolver_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSGetBlocks_Private(PC, PetscInt *, KSP *[]);
PETSC_INTERN PetscErrorCode PCVCRSSetUpInside_Private(PC);

/* inner.c: settings passed on to the inner preconditioner */
PETSC_INTERN PetscErrorCode PCVCRSGetInner_Private(PC, PC *);
PETSC_INTERN PetscErrorCode PCVCRSGetPC_VCRS(PC, PC *);
PETSC_INTERN PetscErrorCode PCVCRSComposeForwards_Private(PC, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSInnerDestroy_Private(PCVCRSInner *);

/* compress.c: matrices read at each place */
PETSC_INTERN PetscErrorCode PCVCRSCompress_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSForget_Private(PC_VCRS *);
PETSC_INTERN PetscErrorCode PCVCRSClear_Private(PC_VCRS *);

/* lines.c: the lines of the view */
PETSC_INTERN PetscErrorCode PCVCRSAddLine_Private(PCVCRSLines *, const char[], const char[], PetscBool, PetscInt *);
PETSC_INTERN PetscErrorCode PCVCRSAddLeft_Private(PCVCRSLines *, const char[], const char[], const char[]);
PETSC_INTERN PetscErrorCode PCVCRSAddRefused_Private(PC_VCRS *, const char[], const char[]);
PETSC_INTERN PetscErrorCode PCVCRSShareLine_Private(PCVCRSLines *, const char[], const char[]);
PETSC_INTERN void           PCVCRSUnshareLine_Private(PCVCRSLines *);
PETSC_INTERN PetscErrorCode PCVCRSLinesFree_Private(PCVCRSLines *);

/* copy.c: the copies */
PETSC_INTERN PetscErrorCode PCVCRSCopiesBegin_Private(PCVCRSCopies *);
PETSC_INTERN PetscErrorCode PCVCRSCopiesForgetOld_Private(PCVCRSCopies *);
PETSC_INTERN PetscErrorCode PCVCRSCopiesFree_Private(PCVCRSCopies *);
PETSC_INTERN PetscBool      PCVCRSSumIsTaken_Private(MatVCRSLoss, PetscReal);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode PCVCRSSumOnDevice_Private(PetscInt, const PetscScalar *, PetscReal *);
#endif
PETSC_INTERN PetscBool      PCVCRSTakesNumbers_Private(MatVCRSLoss, PetscInt, const PetscScalar[]);
PETSC_INTERN MatVCRSLoss    PCVCRSGetLoss_Private(const PCVCRSOptions *);
PETSC_INTERN PetscErrorCode PCVCRSAddCopy_Private(PC_VCRS *, Mat, const char[], const char[], PetscInt *);
PETSC_INTERN PetscErrorCode PCVCRSAddPart_Private(PC_VCRS *, Mat, PetscLogDouble, const char[], const char[]);
PETSC_INTERN PetscErrorCode PCVCRSAddTranspose_Private(PC_VCRS *, Mat, const char[], const char[], PetscInt *);
PETSC_INTERN PCVCRSOptions  PCVCRSOptionsHere_Private(const PC_VCRS *);
PETSC_INTERN PetscErrorCode PCVCRSIsFinite_Private(Mat, PetscBool *);
/* Largest change of an entry by 8 bits of LOG: of operators, which preconditioners may relax, and of interpolations */
#define PCVCRS_LOG_BOUND           ((PetscReal)0.05)
#define PCVCRS_INTERPOLATION_BOUND ((PetscReal)0.1)
#define PCVCRS_LOG16_BOUND         ((PetscReal)0.01)
PETSC_INTERN PetscErrorCode PCVCRSCreateFine_Private(const PCVCRSOptions *, MatVCRSLoss, PetscReal bound, const PCVCRSSource *, Mat *);

/* exchange.c: puts the copies in place, and the exact matrices back */
PETSC_INTERN PetscErrorCode PCVCRSExchange_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSExchangeFree_Private(PCVCRSExchange *);
PETSC_INTERN PetscErrorCode PCVCRSHookCollect_Private(PC_VCRS *, PC, const char[]);
PETSC_INTERN void           PCVCRSSlotInit_Private(PCVCRSSlot *, PetscInt copy);
PETSC_INTERN PetscErrorCode PCVCRSSlotDrop_Private(PCVCRSSlot *);

/* transpose.c: the transpose of a relative of MATAIJ, made at the place of its entries. Collective */
PETSC_INTERN PetscErrorCode PCVCRSTransposeCreate_Private(Mat, PCVCRSSource *);
PETSC_INTERN PetscErrorCode PCVCRSTransposeDestroy_Private(PCVCRSSource *);

#if defined(LITHE_HAVE_CUDA)
/*
   border.c: x = (I - op(T))^-1 b, where T has the rows of a grid and border the remaining rows. On the device, with the
   work vector other; the transpose on the host, in place
*/
PETSC_INTERN PetscErrorCode PCVCRSBorderSolve_Private(Mat T, const LitheDeviceBorder *, PetscBool upper, Vec b, Vec x, Vec other);
PETSC_INTERN PetscErrorCode PCVCRSBorderSolveTranspose_Private(Mat T, const LitheDeviceBorder *, PetscBool upper, Vec x);

/* factordevice.c: factors on a device, compressed on the device */
PETSC_INTERN PetscErrorCode PCVCRSCreateFactor_Device(const PCVCRSOptions *, const LitheDeviceFactor *, PCVCRSFactor *);
#endif

/* Largest change of a solution with a triangle by a loss, for right-hand sides of ones, and in the units of the rows */
#define PCVCRS_FACTOR_TOLERANCE ((PetscReal)0.1)
#define PCVCRS_UNITS_TOLERANCE  ((PetscReal)0.04)
/*
   Largest change of an entry of a triangle with 8 bits of a logarithmic scale. The changes of both triangles do not
   cancel, as in a symmetric matrix
*/
#define PCVCRS_FACTOR_BOUND ((PetscReal)0.05)
/* Tolerance and largest number of sweeps of Jacobi's method */
#define PCVCRS_SWEEPS_TOLERANCE ((PetscReal)0.02)
#define PCVCRS_FACTOR_SWEEPS    100
/* factorchoice.c. Largest number of compressions of a triangle, each with a finer loss */
#define PCVCRS_CARES 4
PETSC_INTERN PetscBool PCVCRSNextCare_Private(PetscInt care, PCVCRSOptions *careful, MatVCRSLoss *loss);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode PCVCRSEstimate_Private(const VCRSOrder *, Mat T, PetscInt n, PetscLogDouble *product, PetscLogDouble *device, PetscLogDouble *host);
#endif

/* factor.c: PETSc's factors, compressed */
PETSC_INTERN PetscErrorCode PCVCRSAddFactor_Private(PC_VCRS *, PC, const char[], PCVCRSFactor **);
PETSC_INTERN PetscErrorCode PCVCRSFactorDestroy_Private(PCVCRSFactor **);
PETSC_INTERN PetscErrorCode PCVCRSFactorsBegin_Private(PCVCRSFactors *);
PETSC_INTERN PetscErrorCode PCVCRSFactorsForgetOld_Private(PCVCRSFactors *);
PETSC_INTERN PetscErrorCode PCVCRSFactorsFree_Private(PCVCRSFactors *);

/* solve.c: systems with compressed factors. PCVCRSFactorStart_Private() replaces the operations of a preconditioner */
#define PCVCRS_FACTOR_CONTAINER "Lithe_PCVCRSFactor"
PETSC_INTERN PetscErrorCode PCVCRSFactorStart_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSFactorStop_Private(PC, const struct _PCOps *);
PETSC_INTERN PetscErrorCode PCVCRSFactorWorkFree_Private(PCVCRSFactorWork *);

/* drop.c: frees exact matrices owned only by the inner preconditioner */
PETSC_INTERN PetscErrorCode PCVCRSDrop_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSUndrop_Private(PC_VCRS *);
PETSC_INTERN PetscErrorCode PCVCRSLookWhatIsTold_Private(PC_VCRS *);

/* precision.c: an application to vectors in single precision */
PETSC_INTERN PetscErrorCode PCVCRSApplySingle_Private(PC_VCRS *, PetscErrorCode (*)(PC, Vec, Vec), Vec, Vec);
PETSC_INTERN PetscErrorCode PCVCRSSingleChoose_Private(PC, KSP);
PETSC_INTERN void           PCVCRSSingleForgetSize_Private(PCVCRSSingle *);
PETSC_INTERN void           PCVCRSSingleForget_Private(PCVCRSSingle *);
PETSC_INTERN PetscErrorCode PCVCRSSingleFree_Private(PCVCRSSingle *);

/* options.c */
PETSC_INTERN PetscErrorCode PCVCRSOptionsDefault_Private(PCVCRSOptions *);
PETSC_INTERN PetscErrorCode PCVCRSSetFromOptions_Private(PC, PetscOptionItems);
PETSC_INTERN PetscErrorCode PCVCRSComposeOptions_Private(PC, PetscBool);

/* view.c */
PETSC_INTERN PetscErrorCode PCView_VCRS(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCVCRSGetInfo_VCRS(PC, PCVCRSInfo *);
