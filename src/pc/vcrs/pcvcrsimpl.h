/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithepc.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>
#include <lithe/private/lithecudafactor.h>
#include <lithe/private/petsccompat.h>
#include <lithe/private/vcrsmat.h>

/* How the copies are compressed, and applied */
typedef struct {
  MatVCRSLoss           loss;
  PetscInt              bits;         /* 8 or 16: LOG and FIXED */
  PetscInt              coarsebits;   /* the same on the coarse levels of a multigrid preconditioner */
  PetscInt              bins;         /* BINS */
  PetscReal             lambda;       /* CLASSES */
  MatVCRSUnit           unit;         /* CLASSES */
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

/* A compressed matrix that the inner preconditioner reads; its AIJ arrays are freed */
typedef struct {
  MatState       exact; /* state of the exact matrix; id 0: a part of a factor */
  Mat            compressed;
  PetscInt       line;       /* line of the view */
  PetscLogDouble exactbytes; /* of an exact matrix not stored as MATAIJ; 0: see MatVCRSInfo; < 0: the copy replaces no matrix */
  PetscBool      transposed; /* copy of the transpose */
} PCVCRSCopy;

/* Place and method of solves with a triangle */
typedef enum {
  PCVCRS_HOST,   /* substitution */
  PCVCRS_DEVICE, /* substitution */
  PCVCRS_SWEEPS  /* of Jacobi's method, at the place of the vectors */
} PCVCRSFactorWay;

/*
   A factored matrix P_r A P_c = (I - lower) inverse^-1 (I - upper), where lower and upper are strictly triangular. Each
   process has a separate factored matrix, referenced by the places that apply the copy.
*/
typedef struct {
  MatState        exact;     /* state of PETSc's factored matrix */
  PetscBool       symmetric; /* lower is the transpose of upper: NULL, or on a device stored in addition */
  Mat             lower, upper, inverse;
  VecScatter      row, col; /* right-hand side to the factors' order, and the solution back; NULL: the natural order */
  Vec             work[3];
  PetscScalar    *columns; /* of several right-hand sides, side by side; NULL until the first such solve */
  PCVCRSFactorWay way;
  PetscInt        sweeps[2]; /* for lower and for upper */

  LitheDeviceBorder *border[2]; /* PCVCRS_DEVICE: border of lower and upper; all other rows form a grid; NULL: none */
} PCVCRSFactor;

/* An inner preconditioner at any depth, with its solver; both are referenced */
typedef struct {
  PC        pc;
  KSP       ksp;       /* NULL: applied by another preconditioner */
  char     *type;      /* of pc */
  PC        grids;     /* the enclosing multigrid preconditioner, NULL: none; not referenced */
  PetscInt  mat, pmat; /* the copies to read instead, -1: none */
  PetscBool matin;     /* exchanged now */
  PetscBool pmatin;
  Mat       matexact; /* while exchanged: the exact matrix */
  Mat       pmatexact;
  PetscBool hooked; /* exchanges matrices by a separate function, PCVCRS_HOOK */
  PetscBool frozen; /* the next members hold the previous settings */
  PetscBool reuse;
  MatState  amatstate;

  PCVCRSFactor  *factor; /* NULL: none */
  struct _PCOps *super;  /* with a factor: the replaced operations, while exchanged */
  PetscBool      again;  /* the exact factor, or the matrices below, were freed: the next set-up starts from scratch */
} PCVCRSPlace;

/* Matrices of a level that a multigrid preconditioner itself reads; pc is referenced */
typedef enum {
  PCVCRS_RESIDUAL,
  PCVCRS_INTERPOLATION,
  PCVCRS_RESTRICTION,
  PCVCRS_LEVEL_MATRICES
} PCVCRSLevelMatrix;

typedef struct {
  PC        pc;
  PC        grids; /* the outermost enclosing multigrid, maybe pc itself; not referenced */
  PetscInt  level;
  PetscInt  copy[PCVCRS_LEVEL_MATRICES]; /* -1: none */
  PetscBool in[PCVCRS_LEVEL_MATRICES];
  Mat       exact[PCVCRS_LEVEL_MATRICES];
} PCVCRSLevel;

/* A matrix exchanged by a hook: its place and the exact matrix */
typedef struct {
  Mat *where;
  Mat  exact, compressed;
} PCVCRSHooked;

/* A line of the view: a matrix, the blocks of all processes, or a part left unchanged */
typedef struct {
  char     *what;
  PetscBool blocks;
  char     *left; /* NULL: nothing */
} PCVCRSLine;

typedef struct {
  PC            outer; /* the outer preconditioner of this data */
  PC            inner;
  char         *prefix;     /* of the inner preconditioner */
  char         *copyprefix; /* of the copies' own options */
  PCVCRSOptions opt;
  PetscBool     current; /* the copies belong to the present inner preconditioner, with opt */
  PetscBool     exchanged;
  PetscBool     dropped; /* exact matrices were freed: the copies stay in place */
  PetscBool     told;    /* the inner multigrid preconditioner had interpolations before its set-up */

  /* settings passed on from the outer preconditioner, to detect changes */
  DM        dm; /* not referenced: the inner preconditioner references it, or has another DM */
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
  PetscInt       blockline; /* while collecting inside blocks: the line of the blocks, else -1 */
  PetscBool      coarse;    /* while collecting: on a coarse level */
  PC             grids;     /* while collecting: the outermost enclosing multigrid preconditioner */

  /* while collecting: the previous copies and factors; reused ones are NULL */
  PetscInt       nold, noldfactors;
  PCVCRSCopy    *old;
  PCVCRSFactor **oldfactor;

  Vec       rounded[3]; /* single precision: the input, and work vectors like input and output */
  PetscReal outscale;   /* single precision: a power of two near the output of a unit vector, 1 in the usual range, 0 unknown */
  PetscBool linear;     /* single precision: the solver takes the preconditioner for a linear operator, and vectors are not rounded */
  PetscReal rounding;   /* error of a residual by single precision; -1: not measured since the set-up */
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

/* compress.c: matrices read at each place */
PETSC_INTERN PetscErrorCode PCVCRSCompress_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSForget_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSClear_Private(PC_VCRS *);

/* copy.c: the copies, and their lines in the view */
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
/* Largest change of an entry by 8 bits of LOG: of operators, which preconditioners may relax, and of interpolations */
#define PCVCRS_LOG_BOUND           ((PetscReal)0.05)
#define PCVCRS_INTERPOLATION_BOUND ((PetscReal)0.1)
#define PCVCRS_LOG16_BOUND         ((PetscReal)0.01)
PETSC_INTERN PetscErrorCode PCVCRSCreateFine_Private(const PCVCRSOptions *, MatVCRSLoss, PetscReal bound, const PCVCRSSource *, Mat *);

/* exchange.c: puts the copies in place, and the exact matrices back */
PETSC_INTERN PetscErrorCode PCVCRSExchange_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSHookCollect_Private(PC_VCRS *, PC, const char[]);

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

/* solve.c: systems with compressed factors. PCVCRSFactorStart_Private() replaces the operations of a preconditioner */
#define PCVCRS_FACTOR_CONTAINER "Lithe_PCVCRSFactor"
PETSC_INTERN PetscErrorCode PCVCRSFactorStart_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSFactorStop_Private(PC, const struct _PCOps *);

/* drop.c: frees exact matrices owned only by the inner preconditioner */
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
