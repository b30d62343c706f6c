/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithepc.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>
#include <lithe/private/lithecudafactor.h>
#include <src/mat/vcrs/vcrsimpl.h>

/* How the copies are compressed, and applied */
typedef struct {
  MatVCRSLoss           loss;
  PetscInt              bits;         /* 8 or 16: LOG and FIXED */
  PetscInt              coarsebits;   /* the same on the coarse levels of a multigrid preconditioner */
  PetscInt              bins;         /* BINS */
  PetscReal             lambda;       /* CLASSES */
  MatVCRSUnit           unit;         /* CLASSES */
  PetscBool             rowsums;      /* keep them */
  PCVCRSFactorSolveType factorsolve;  /* how systems with factors are solved */
  PetscInt              sweeps;       /* JACOBI */
  PCVCRSPrecision       precision;    /* of vectors that go in and out */
  PetscBool             dropexact;    /* give back exact matrices that nobody else has */
  PetscBool             restrictions; /* on a device: store them where they are transposed interpolations */
  const char           *prefix;       /* of the copies' own options; only in what PCVCRSOptionsHere_Private() gives */
  PetscBool             device;       /* the same: factors are for vectors on a device */
} PCVCRSOptions;

/*
   What is compressed: a relative of MATAIJ, or, where exact is NULL, m x n entries on a device. With beside they are the diagonal block of a
   parallel matrix, which has all else of beside
*/
typedef struct {
  Mat           exact;
  MPI_Comm      comm; /* without exact */
  PetscInt      m, n;
  VCRSDeviceCSR csr;
  Mat           beside;
} PCVCRSSource;

/* A matrix that the inner preconditioner reads, compressed; its AIJ arrays are given back */
typedef struct {
  MatState       exact; /* of the matrix that it was made from; id 0: a part of a factor */
  Mat            compressed;
  PetscInt       line;       /* of the view, that tells of it */
  PetscLogDouble exactbytes; /* of a matrix that was not stored as MATAIJ; 0: MatVCRSInfo has them; < 0: it replaces none */
  PetscBool      transposed; /* it is a copy of the transpose */
} PCVCRSCopy;

/* Where and how systems with a triangle are solved */
typedef enum {
  PCVCRS_HOST,   /* substitution */
  PCVCRS_DEVICE, /* the same */
  PCVCRS_SWEEPS  /* of Jacobi's method, where vectors are */
} PCVCRSFactorWay;

/*
   A factored matrix P_r A P_c = (I - lower) inverse^-1 (I - upper), where lower and upper are strictly
   triangular. All processes have their own. Referenced by the places that apply it.
*/
typedef struct {
  MatState        exact;     /* of the factored matrix of PETSc's that it was made from */
  PetscBool       symmetric; /* lower is the transpose of upper; NULL, or on a device stored beside it */
  Mat             lower, upper, inverse;
  VecScatter      row, col; /* right side to the factors' order, and the solution to it; NULL: the natural order */
  Vec             work[3];
  PCVCRSFactorWay way;
  PetscInt        sweeps[2]; /* for lower and for upper */

  LitheDeviceBorder *border[2]; /* PCVCRS_DEVICE: what is beside the rows of lower and upper, which are those of a grid; NULL: nothing */
} PCVCRSFactor;

/* A preconditioner somewhere inside, with the solver that it belongs to; both are referenced */
typedef struct {
  PC        pc;
  KSP       ksp;       /* NULL: applied by another preconditioner */
  char     *type;      /* of pc */
  PC        grids;     /* the multigrid preconditioner that it is inside of, NULL: none; not referenced */
  PetscInt  mat, pmat; /* the copies to read instead, -1: none */
  PetscBool matin;     /* exchanged now */
  PetscBool pmatin;
  Mat       matexact; /* while exchanged: what was there */
  Mat       pmatexact;
  PetscBool hooked; /* exchanges matrices by its own function, PCVCRS_HOOK */
  PetscBool frozen; /* below is what was there before */
  PetscBool reuse;
  MatState  amatstate;

  PCVCRSFactor  *factor; /* NULL: none */
  struct _PCOps *super;  /* with a factor: the operations that it replaces, while exchanged */
  PetscBool      again;  /* its exact factor, or the matrices below it, were given back: it has to be set up from nothing */
} PCVCRSPlace;

/* What a multigrid preconditioner reads by itself on a level; pc is referenced */
typedef enum {
  PCVCRS_RESIDUAL,
  PCVCRS_INTERPOLATION,
  PCVCRS_RESTRICTION,
  PCVCRS_LEVEL_MATRICES
} PCVCRSLevelMatrix;

typedef struct {
  PC        pc;
  PC        grids; /* the outermost one around, maybe itself; not referenced */
  PetscInt  level;
  PetscInt  copy[PCVCRS_LEVEL_MATRICES]; /* -1: none */
  PetscBool in[PCVCRS_LEVEL_MATRICES];
  Mat       exact[PCVCRS_LEVEL_MATRICES];
} PCVCRSLevel;

/* A matrix that a hook has exchanged: its place and what was there */
typedef struct {
  Mat *where;
  Mat  exact, compressed;
} PCVCRSHooked;

/* A line of the view: one matrix, the blocks that this and other processes have, or what is left as it is */
typedef struct {
  char     *what;
  PetscBool blocks;
  char     *left; /* NULL: nothing */
} PCVCRSLine;

typedef struct {
  PC            outer; /* whose data this is */
  PC            inner;
  char         *prefix;     /* that the inner preconditioner was given */
  char         *copyprefix; /* of the copies' own options */
  PCVCRSOptions opt;
  PetscBool     current; /* the copies are those of the inner preconditioner as it is, with opt */
  PetscBool     exchanged;
  PetscBool     dropped; /* exact matrices have been given back: the copies stay in their places */
  PetscBool     told;    /* the inner multigrid preconditioner had interpolations before it was set up */

  /* what was handed on from this preconditioner, to see what is new */
  DM        dm; /* not referenced: the inner preconditioner does, or has another one */
  PetscBool useamat;
  PetscErrorCode (*modifysubmatrices)(PC, PetscInt, const IS[], const IS[], Mat[], void *);
  void *modifysubmatricesctx, *ctx;

  PetscInt       ncopies, nplaces, nlevels, nlines, nfactors, nhooked;
  PCVCRSCopy    *copy;
  PCVCRSPlace   *place;
  PCVCRSLevel   *level;
  PCVCRSLine    *line;
  PCVCRSFactor **factor;
  PCVCRSHooked  *hooked;
  PetscInt       blockline; /* while collecting inside of blocks: their line, else -1 */
  PetscBool      coarse;    /* while collecting: on a coarse level */
  PC             grids;     /* while collecting: the outermost multigrid preconditioner around */

  /* while collecting: what there was last time, those taken over are NULL */
  PetscInt       nold, noldfactors;
  PCVCRSCopy    *old;
  PCVCRSFactor **oldfactor;

  Vec       rounded[3]; /* single precision: what goes in, and to work with like what goes in and out */
  PetscReal outscale;   /* the same: a power of two near what goes out of a unit vector, 1 in the usual range, 0 unknown */
} PC_VCRS;

#define PCVCRS_HOOK "PCVCRSCompress_C"

/* context.c: predicates about preconditioners inside */
PETSC_INTERN PetscErrorCode PCVCRSIsMultigrid_Private(PC, PetscBool *);
PETSC_INTERN PetscErrorCode PCVCRSPlaceIsCurrent_Private(const PCVCRSPlace *, PetscBool *);
PETSC_INTERN PetscErrorCode PCVCRSSetSolverType_Private(PC);

/* blocks.c: preconditioners inside, and their blocks, are set up with factors that can be read */
PETSC_INTERN PetscErrorCode PCVCRSChooseSolver_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSGetBlocks_Private(PC, PetscInt *, KSP *[]);
PETSC_INTERN PetscErrorCode PCVCRSSetUpInside_Private(PC);

/* inner.c: the inner preconditioner, told what this one is told */
PETSC_INTERN PetscErrorCode PCVCRSGetInner_Private(PC, PC *);
PETSC_INTERN PetscErrorCode PCVCRSGetPC_VCRS(PC, PC *);
PETSC_INTERN PetscErrorCode PCVCRSComposeForwards_Private(PC, PetscBool);

/* compress.c: what is read where */
PETSC_INTERN PetscErrorCode PCVCRSCompress_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSForget_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSClear_Private(PC_VCRS *);

/* copy.c: the copies, and the lines that the view has of them */
PETSC_INTERN PetscErrorCode PCVCRSAddLine_Private(PC_VCRS *, const char[], const char[], PetscBool, PetscInt *);
PETSC_INTERN PetscErrorCode PCVCRSAddLeft_Private(PC_VCRS *, const char[], const char[], const char[]);
PETSC_INTERN PetscErrorCode PCVCRSAddRefused_Private(PC_VCRS *, const char[], const char[]);
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
/* What 8 bits of LOG may change an entry by: of operators, which preconditioners may relax, and of interpolations */
#define PCVCRS_LOG_BOUND           ((PetscReal)0.05)
#define PCVCRS_INTERPOLATION_BOUND ((PetscReal)0.1)
#define PCVCRS_LOG16_BOUND         ((PetscReal)0.01)
PETSC_INTERN PetscErrorCode PCVCRSCreateFine_Private(const PCVCRSOptions *, MatVCRSLoss, PetscReal bound, const PCVCRSSource *, Mat *);

/* exchange.c: the copies in their places, and back */
PETSC_INTERN PetscErrorCode PCVCRSExchange_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSHookCollect_Private(PC_VCRS *, PC, const char[]);

/* transpose.c: the transpose of a relative of MATAIJ, made where its entries are. Collective */
PETSC_INTERN PetscErrorCode PCVCRSTransposeCreate_Private(Mat, PCVCRSSource *);
PETSC_INTERN PetscErrorCode PCVCRSTransposeDestroy_Private(PCVCRSSource *);

#if defined(LITHE_HAVE_CUDA)
/*
   border.c: x = (I - op(T))^-1 b, where T has the rows of a grid and border all others: on the device, other is for work; and of the
   transpose on the host, in place
*/
PETSC_INTERN PetscErrorCode PCVCRSBorderSolve_Private(Mat T, const LitheDeviceBorder *, PetscBool upper, Vec b, Vec x, Vec other);
PETSC_INTERN PetscErrorCode PCVCRSBorderSolveTranspose_Private(Mat T, const LitheDeviceBorder *, PetscBool upper, Vec x);

/* factordevice.c: factors that are on a device, compressed there */
PETSC_INTERN PetscErrorCode PCVCRSCreateFactor_Device(const PCVCRSOptions *, const LitheDeviceFactor *, PCVCRSFactor *);
#endif

/* How much loss may change a solution with a triangle, for right sides of ones, and for right sides in the units of the rows */
#define PCVCRS_FACTOR_TOLERANCE ((PetscReal)0.1)
#define PCVCRS_UNITS_TOLERANCE  ((PetscReal)0.04)
/*
   How much an entry of a triangle may change with 8 bits of a logarithmic scale: its changes and those of the other
   triangle do not cancel, whatever a symmetric matrix would make of them
*/
#define PCVCRS_FACTOR_BOUND ((PetscReal)0.05)
/* How near to a solution sweeps of Jacobi's method must come, and how many of them are tried */
#define PCVCRS_SWEEPS_TOLERANCE ((PetscReal)0.02)
#define PCVCRS_FACTOR_SWEEPS    100
/* factorchoice.c. How often a triangle is compressed at most, with more care each time */
#define PCVCRS_CARES 4
PETSC_INTERN PetscBool PCVCRSNextCare_Private(PetscInt care, PCVCRSOptions *careful, MatVCRSLoss *loss);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode PCVCRSEstimate_Private(const VCRSOrder *, Mat T, PetscInt n, PetscLogDouble *product, PetscLogDouble *device, PetscLogDouble *host);
#endif

/* factor.c: the factors that PETSc has made, compressed */
PETSC_INTERN PetscErrorCode PCVCRSAddFactor_Private(PC_VCRS *, PC, const char[], PCVCRSFactor **);
PETSC_INTERN PetscErrorCode PCVCRSFactorDestroy_Private(PCVCRSFactor **);

/* solve.c: systems with them. PCVCRSFactorStart_Private() replaces the operations of a preconditioner */
#define PCVCRS_FACTOR_CONTAINER "Lithe_PCVCRSFactor"
PETSC_INTERN PetscErrorCode PCVCRSFactorStart_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSFactorStop_Private(PC, const struct _PCOps *);

/* drop.c: exact matrices that nobody else has, given back */
PETSC_INTERN PetscErrorCode PCVCRSDrop_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSUndrop_Private(PC_VCRS *);
PETSC_INTERN PetscErrorCode PCVCRSLookWhatIsTold_Private(PC_VCRS *);

/* precision.c: an application to vectors in single precision */
PETSC_INTERN PetscErrorCode PCVCRSApplySingle_Private(PC_VCRS *, PetscErrorCode (*)(PC, Vec, Vec), Vec, Vec);

/* options.c */
PETSC_INTERN PetscErrorCode PCVCRSOptionsDefault_Private(PCVCRSOptions *);
PETSC_INTERN PetscErrorCode PCVCRSSetFromOptions_Private(PC, PetscOptionItems);
PETSC_INTERN PetscErrorCode PCVCRSComposeOptions_Private(PC, PetscBool);

/* view.c */
PETSC_INTERN PetscErrorCode PCView_VCRS(PC, PetscViewer);
PETSC_INTERN PetscErrorCode PCVCRSGetInfo_VCRS(PC, PCVCRSInfo *);
