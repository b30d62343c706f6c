/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of PCSBPMG. docs/guide/sbpmg.md explains the method */

#include <lithe/private/lithehalo.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithemg.h>
#include <lithe/private/sbp/sbpsat.h>
#include <lithemat.h>
#include <lithepc.h>
#include <petsc/private/pcimpl.h>
#include <petscdmda.h>
#include <petscksp.h>

#define SBPMG_LEVELS_MAX 32
#define SBPMG_STEPS_MAX  64
#define SBPMG_FULL_MAX   8

#define SBPMG_LANCZOS_MAX 64
#define SBPMG_SUMS        (2 * (SBPMG_LANCZOS_MAX + 1)) /* inner products of all steps */

typedef struct {
  PetscInt            levels; /* PETSC_DECIDE: as many as the grid allows */
  PCSBPMGPrecision    precision;
  PCSBPMGSmootherType smoother;
  PetscInt            smooths[2]; /* before and after the coarse correction; PETSC_DECIDE: by the cycle */
  PetscInt            finest[2];  /* the same on the finest level; PETSC_DECIDE: as on other levels */
  PetscReal           fraction;   /* lower end of the smoother's interval divided by the upper end */
  PCSBPMGCycleType    cycle;
  PCSBPMGCoarseType   coarse;
  PetscInt            dense;                     /* unknowns up to which the coarsest level has a dense inverse; 0: never */
  PetscInt            nfull;                     /* of full multigrid: */
  PetscInt            fullsteps[SBPMG_FULL_MAX]; /* steps on each level from the finest down, the last number for all further levels */
  PetscInt            spectrumsteps, spectrumsize;
  PetscInt            gathersize; /* unknowns up to which each process has all of a level; PETSC_DECIDE: by the place */
  PetscBool           graph;
  PetscBool3          overlap; /* boxes; unknown: on devices */
} PCSBPMGOptions;

/* Several processes: nodes, and ghosts of a level in each precision */
typedef struct {
  SBPParts parts; /* none if a process has all nodes */
  PetscInt width; /* of ghosts, of a level with a Galerkin operator */
  SBPHalo  halo;  /* NULL if a process has all nodes */
  void    *ghost[2];
  SBPBox   inner, border[4]; /* inner: own nodes that need no ghosts; border: the other own nodes */
  int      nborder;
} SBPMGExchange; /* owner: grids.c, levels.c */

/*
   Own nodes of a level and those of neighbours within a distance, as a whole grid of a V or an F cycle: box.c. planned:
   arrays have room for the box. halo: if not NULL, cycles work on boxes
*/
typedef struct {
  PetscBool   planned;
  SBPBox      there;       /* among the nodes of the level */
  SBPOperator op;          /* in the precision of the cycle; the grid has the nodes of the box alone */
  SBPGrid     coarse;      /* the coarse nodes of the box */
  size_t      own, onward; /* places: of the first own node in the box, of the first coarse node in arrays of the next level */
  SBPHalo     halo;        /* within an array of the box */
  void       *coefficient[SBP_COEFFICIENTS], *penalty[SBP_FACES];
} SBPMGBox; /* owner: box.c */

/* Recorded sequences of launches */
typedef enum {
  SBPMG_GRAPH_CYCLE, /* a cycle on the finest level */
  SBPMG_GRAPH_BELOW, /* all of full multigrid on levels below the finest that a process has as a whole */
  SBPMG_GRAPH_V,     /* the coarse problem of the gathered level in a V cycle, */
  SBPMG_GRAPH_F,     /* and in an F cycle */
  SBPMG_GRAPHS
} SBPMGGraph;

/*
   Levels of which each process has all nodes: from the level `first` on. A single process has first = 0. Several
   processes have SBPMG_LEVELS_MAX where no level is small, and the rest is unused. Otherwise the level `first` is
   gathered: an exchange brings right-hand sides to it, and to the input if first = 0
*/
typedef struct {
  PetscInt  first;
  SBPParts  parts;             /* the distribution of the nodes of the gathered level */
  SBPGrid   part;              /* own nodes of that level */
  SBPBox   *box;               /* [size] the nodes of each process */
  LitheHalo halo[2];           /* in each precision */
  void     *own[2];            /* an array of part */
  void     *input;             /* first = 0: the input of an application, with all nodes */
  Vec       diagonal;          /* first = 0: all of shift.diagonal, or NULL */
  int       cur[SBPMG_GRAPHS]; /* cur of the gathered level at the end of a sequence */
} SBPMGGather;                 /* owner: gather.c, cycle.c */

/* Steps on a level, and bounds of spectra behind their coefficients */
typedef struct {
  PetscInt  steps[2];   /* before and after the coarse correction */
  PetscReal lmin, lmax; /* of D^-1 A; of A for Richardson's method of the paper */
  PetscInt  measured;   /* number of steps of this measurement; 0: taken from another level */
  double    c1[2][SBPMG_STEPS_MAX], c2[2][SBPMG_STEPS_MAX];
  PetscReal least, most; /* full multigrid: of cycle times A */
  double    factor[SBPMG_STEPS_MAX];
} SBPMGSmoother; /* owner: spectrum.c */

/*
   Full multigrid: in the highest precision the right-hand side, the iterate and its residual; in the cycle's a
   direction
*/
typedef struct {
  void *b, *x, *r, *d;
} SBPMGFull; /* owner: levels.c, full.c */

/*
   A level: 0 is the finest. Arrays of the cycle are in the precision of the level, owned (see sbp/sbpsat.h), and on the
   device if the vectors are. x: the present and the next iterate
*/
typedef struct {
  SBPGrid       grid;
  SBPOperator   op[2];                            /* in SBP_SINGLE and SBP_DOUBLE; coefficient[0] is NULL if it does not exist */
  void         *coefficient[2][SBP_COEFFICIENTS]; /* the coefficients owned by this level */
  void         *penalty[SBP_FACES];
  Mat           A; /* owns the operators: rediscretised, or gathered as the finest level */
  void         *x[2], *b, *d, *dinv;
  int           cur; /* which x is the iterate: cycle.c moves this index */
  SBPMGExchange exchange;
  SBPMGBox      box;
  SBPMGSmoother smooth;
  SBPMGFull     full;
} SBPMGLevel;

/* Arrays of all levels, in one allocation */
typedef struct {
  void   *block;
  size_t  reserved, taken, bytes; /* bytes: used, also outside of the block */
  double *sums;                   /* inner products */
} SBPMGMemory;                    /* owner: arrays.c */

/* The operator of the levels between the left and the right factor of the matrix */
typedef struct {
  PetscReal sign;       /* the matrix is sign times an operator that may be positive definite */
  Vec       inverse[2]; /* 1/left, 1/right, or NULL */
  Vec       diagonal;   /* the diagonal added to the SBP-SAT operator, times sign; or NULL */
  PetscReal total;      /* sum of diagonal */
  PetscBool singular;   /* constants are the kernel */
  PetscBool deflated;   /* constants are treated by total: without the diagonal the operator is singular */
  Vec       defect;     /* the input of the levels, if it differs from the application's input */
} SBPMGShift;           /* owner: shift.c */

/* Levels in single precision inside of double */
typedef struct {
  SBPScale *there; /* where the levels are; or NULL */
  int       turn;
  double    factor; /* of operators */
} SBPMGScale;       /* owner: scale.c */

typedef struct {
  PetscInt  ndense;
  void     *dense[2]; /* inverse of the coarsest matrix, in each precision */
  KSP       ksp;      /* or a solver, with its matrix and vectors on the host */
  Mat       A;
  Vec       b, x;
  void     *host;   /* copies from and to the device */
  double    factor; /* of A */
  PetscReal lmin;
} SBPMGCoarsest; /* owner: coarse.c */

/* Whether a solver needs vectors of the cycle in double precision, see src/pc/truth.c */
typedef struct {
  PetscBool linear;
  PetscReal rounding; /* error of a residual by single precision; -1: not measured since the set-up */
} SBPMGTruth;         /* owner: sbpmg.c */

typedef struct {
  PCSBPMGOptions    opt;
  const SBPKernels *kernels;
  PetscBool         built, device, symmetric;
  SBPPrecision      precision; /* of the cycle */
  SBPPrecision      exact;     /* the highest available precision, in which operators are made */
  PetscInt          n;
  SBPMGLevel        level[SBPMG_LEVELS_MAX];
  SBPMGGather       gather;
  SBPMGMemory       memory;
  SBPMGShift        shift;
  SBPMGScale        scaling;
  SBPMGCoarsest     coarsest;
  SBPMGTruth        truth;
  Vec               work[2]; /* at the place of the levels, for other vectors */
  LitheMGRecord     record[SBPMG_GRAPHS];
  PetscLogDouble    flops;                /* of an application */
  char              why[96], failed[160]; /* the reasons why no coarser level exists, and why the preconditioner failed */
} PC_SBPMG;

/* The operators of kind SBP_SAT are of kind SBP_SHIFTED */
static inline PetscBool PCSBPMGIsShifted(const PC_SBPMG *mg)
{
  return (PetscBool)(mg->level[0].op[mg->exact].kind == SBP_SHIFTED);
}

/* Whether a process has all nodes of a level: nothing is exchanged on that level */
static inline PetscBool PCSBPMGIsWhole(const PC_SBPMG *mg, PetscInt level)
{
  return (PetscBool)(level >= mg->gather.first);
}

/* Whether this level is whole, and the level above, or the input, is distributed */
static inline PetscBool PCSBPMGIsGathered(const PC_SBPMG *mg, PetscInt level)
{
  return (PetscBool)(SBPPartsExist(&mg->gather.parts) && level == mg->gather.first);
}

/* Full multigrid works on the application's vectors */
static inline PetscBool PCSBPMGIsInPlace(const PC_SBPMG *mg)
{
  return (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL && mg->exact != mg->precision && !PetscDefined(USE_COMPLEX) && !PCSBPMGIsGathered(mg, 0));
}

/* context.c */
PETSC_INTERN PetscBool      PCSBPMGIsDirect_Private(const PC_SBPMG *, PetscInt fine);
PETSC_INTERN PetscBool      PCSBPMGKeepsExact_Private(const PC_SBPMG *, const SBPMGLevel *);
PETSC_INTERN PetscBool      PCSBPMGRoundsResidual_Private(const PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscInt       PCSBPMGFullSteps_Private(const PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscBool      PCSBPMGMeasuresCycle_Private(const PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCSBPMGCreateWholeDM_Private(PC, const SBPGrid *, DM *);
PETSC_INTERN PetscErrorCode PCSBPMGFail_Private(PC, const char[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
/* options.c */
PETSC_INTERN PetscErrorCode PCSBPMGOptionsDefault_Private(PCSBPMGOptions *);
PETSC_INTERN PetscErrorCode PCSBPMGSetFromOptions_Private(PC, PetscOptionItems);
PETSC_INTERN PetscErrorCode PCSBPMGComposeOptions_Private(PC, PetscBool);
/* view.c */
PETSC_INTERN PetscErrorCode PCView_SBPMG(PC, PetscViewer);
/* grids.c */
PETSC_INTERN PetscErrorCode PCSBPMGCreateAlikeDM_Private(DM, PetscInt width, DM *);
PETSC_INTERN void           PCSBPMGSetPitch(const PC_SBPMG *, PetscInt level, SBPGrid *);
PETSC_INTERN PetscErrorCode PCSBPMGSetGrid_Private(PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCSBPMGCountLevels_Private(PC, PetscInt width);
PETSC_INTERN PetscErrorCode PCSBPMGExchangeCreate_Private(PC, SBPMGLevel *, PetscErrorCode (*array)(PC_SBPMG *, const SBPGrid *, SBPPrecision, void **));
PETSC_INTERN PetscErrorCode PCSBPMGExchangeFree_Private(PC_SBPMG *, SBPMGExchange *);
/* gather.c */
PETSC_INTERN PetscInt       PCSBPMGGatherSize_Private(const PC_SBPMG *);
PETSC_INTERN size_t         PCSBPMGGatherBytes_Private(const PC_SBPMG *, SBPPrecision);
PETSC_INTERN PetscErrorCode PCSBPMGGatherFrom_Private(PC_SBPMG *, PetscInt first, const SBPParts *);
PETSC_INTERN PetscErrorCode PCSBPMGGatherCreate_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGGatherFailure_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGGatherDiagonal_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGGatherFree_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGGather_Private(PC_SBPMG *, SBPPrecision, const void *own, const SBPGrid *, void *whole);
PETSC_INTERN PetscErrorCode PCSBPMGGatherNumbers_Private(PC_SBPMG *, const SBPSpaced *own, Vec whole);
PETSC_INTERN PetscErrorCode PCSBPMGGatherVec_Private(PC, Vec own, DM, Vec *whole);
PETSC_INTERN PetscErrorCode PCSBPMGGatherInput_Private(PC_SBPMG *, const SBPGrid *, int part, const PetscScalar *, void *whole);
PETSC_INTERN void           PCSBPMGOwnPart(const PC_SBPMG *, const SBPGrid *, SBPPrecision, const void *whole, SBPGrid *, const void **own);
/* box.c */
PETSC_INTERN PetscErrorCode PCSBPMGBoxPlan_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGBoxFill_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGBoxFree_Private(PC_SBPMG *, SBPMGBox *);
PETSC_INTERN PetscErrorCode PCSBPMGBoxExchange_Private(const PC_SBPMG *, const SBPMGLevel *, void *);
PETSC_INTERN void           PCSBPMGBoxPart(const SBPMGLevel *, SBPPrecision, const void *x, SBPGrid *, void **own);
/* levels.c */
PETSC_INTERN PetscErrorCode PCSBPMGBuildLevels_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGLevelsFree_Private(PC_SBPMG *);
/* shift.c */
PETSC_INTERN PetscErrorCode PCSBPMGShiftReset_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGShiftSetUp_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGShiftOperator_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGShiftMatrix_Private(PC, Vec, Mat);
PETSC_INTERN PetscErrorCode PCSBPMGUnscaleMatrix_Private(PC, Mat);
PETSC_INTERN PetscErrorCode PCSBPMGApplyShifted_Private(PC, PetscBool transpose, Vec, Vec, PetscErrorCode (*)(PC, Vec, Vec));
/* galerkin.c */
PETSC_INTERN PetscErrorCode PCSBPMGGalerkin_Private(PC_SBPMG *, SBPMGLevel *fine, SBPMGLevel *coarse, void *work);
/* coarse.c */
PETSC_INTERN void           PCSBPMGCoarseChoose(PC_SBPMG *, PetscInt unknowns);
PETSC_INTERN PetscErrorCode PCSBPMGCoarseReset_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGCoarseDestroy_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGCoarseSetUp_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGCreateCoarseSolver_Private(PC);
PETSC_INTERN PetscErrorCode PCSBPMGCoarseSolve_Private(PC_SBPMG *, SBPPrecision, const void *b, void *x);
/* spectrum.c */
PETSC_INTERN PetscBool      PCSBPMGSetSmooths_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGSpectra_Private(PC);
/* cycle.c */
PETSC_INTERN PetscErrorCode PCSBPMGStep_Private(PC_SBPMG *, SBPMGLevel *, SBPPrecision, SBPStep *);
PETSC_INTERN PetscErrorCode PCSBPMGGhosted_Private(PC_SBPMG *, SBPMGLevel *, SBPPrecision, const void *owned, const void **ghosted);
PETSC_INTERN PetscErrorCode PCSBPMGDescend_Private(PC_SBPMG *, PetscInt level, PCSBPMGCycleType, PetscBool zero);
PETSC_INTERN PetscErrorCode PCSBPMGCycle_Private(PC_SBPMG *, PetscInt level, PCSBPMGCycleType, PetscBool zero);
PETSC_INTERN PetscErrorCode PCSBPMGRestrict_Private(PC_SBPMG *, SBPMGLevel *, SBPMGLevel *, SBPPrecision, const void *ghosted, void *rc);
PETSC_INTERN PetscErrorCode PCSBPMGPlay_Private(PC_SBPMG *, SBPMGGraph, PetscErrorCode (*)(void *));
/* flops.c */
PETSC_INTERN PetscLogDouble PCSBPMGFlops_Private(const PC_SBPMG *);
/* full.c */
PETSC_INTERN PetscErrorCode PCSBPMGFull_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGFullInPlace_Private(PC_SBPMG *, const PetscScalar *b, PetscScalar *x);
/* scale.c */
PETSC_INTERN PetscBool      PCSBPMGIsScaled_Private(const PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGScaleCreate_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGScaleFree_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGEnter_Private(PC_SBPMG *, const SBPGrid *plain, SBPPrecision, int part, const void *);
PETSC_INTERN PetscErrorCode PCSBPMGLeave_Private(PC_SBPMG *, const SBPGrid *plain, int part, PetscScalar *);
PETSC_INTERN SBPRatio       PCSBPMGOut_Private(const PC_SBPMG *, double);
PETSC_INTERN PetscErrorCode PCSBPMGRestrictFirst_Private(PC_SBPMG *, const void *);
PETSC_INTERN PetscErrorCode PCSBPMGRoundNumbers_Private(PC_SBPMG *, double scale, const SBPGrid *, const void *, void *);
PETSC_INTERN PetscErrorCode PCSBPMGRoundFinest_Private(PC_SBPMG *, double scale, const SBPGrid *, int n, const void *const[], void *const[]);
/* arrays.c */
PETSC_INTERN PetscErrorCode PCSBPMGAlloc_Private(PC_SBPMG *, size_t bytes, void **);
PETSC_INTERN PetscErrorCode PCSBPMGFree_Private(PC_SBPMG *, void **);
PETSC_INTERN PetscErrorCode PCSBPMGMemoryFree_Private(PC_SBPMG *);
PETSC_INTERN PetscErrorCode PCSBPMGOwned_Private(PC_SBPMG *, const SBPGrid *, SBPPrecision, void **);
PETSC_INTERN PetscErrorCode PCSBPMGGhosts_Private(PC_SBPMG *, const SBPGrid *, SBPPrecision, void **);
PETSC_INTERN PetscErrorCode PCSBPMGGhostsApart_Private(PC_SBPMG *, const SBPGrid *, SBPPrecision, void **);
PETSC_INTERN PetscErrorCode PCSBPMGReserve_Private(PC_SBPMG *);
PETSC_INTERN PetscBool      PCSBPMGHasVectors_Private(const PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscBool      PCSBPMGHasResidual_Private(const PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscBool      PCSBPMGHasDirection_Private(const PC_SBPMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCSBPMGWorkCreate_Private(PC_SBPMG *, void **);
PETSC_INTERN void           PCSBPMGWorkCoefficients_Private(const PC_SBPMG *, void *, PetscInt level, void *[SBP_COEFFICIENTS]);
PETSC_INTERN void           PCSBPMGWorkArrays_Private(void *, const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision, void *[2], void *[2]);
