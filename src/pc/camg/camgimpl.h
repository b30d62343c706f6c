/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of PCCAMG. docs/theory/camg.md explains the method */

#include <lithe/private/camg.h>
#include <lithe/private/lithehalo.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememory.h>
#include <lithe/private/lithemg.h>
#include <lithe/private/lithenearnull.h>
#include <lithe/private/lithesingle.h>
#include <lithe/private/lithetruth.h>
#include <lithepc.h>
#include <petsc/private/pcimpl.h>

#define CAMG_STALLED    0.8 /* of the rows of a level, for the next level: else there is none */
#define CAMG_LEVELS_MAX 30
#define CAMG_STEPS_MAX  8
#define CAMG_BLOCK_MAX  16   /* rows of a block, and near null vectors */
#define CAMG_DENSE_MAX  6000 /* unknowns of the coarsest level */

typedef enum {
  CAMG_NEAR_NULL_AUTO,    /* given, else recovered if constants do not serve */
  CAMG_NEAR_NULL_CONSTANT /* constants, or one constant per component of a block */
} CAMGNearNull;

typedef enum {
  CAMG_PRECISION_SINGLE,
  CAMG_PRECISION_DOUBLE,
  CAMG_PRECISION_AUTO
} CAMGPrecision;

typedef struct {
  PetscReal     threshold, thresholdscale;
  PetscInt      levels, coarsesize, nsmooths, truncate;
  PetscInt      smooths[2];
  PetscBool     graph, reuse;
  PetscInt      bits; /* PETSC_DECIDE: 8, for blocks 16, more for entries that need more */
  CAMGNearNull  nearnull;
  CAMGPrecision precision;
} PCCAMGOptions; /* owner: options.c */

/* Columns of several processes: own ones, which have numbers from first on, and ghosts after them, with numbers id */
typedef struct {
  PetscInt own, first, n, *id;
} CAMGColumns; /* a value */

/* The number of a column over all processes */
static inline PetscInt CAMGNumberOf(const CAMGColumns *c, PetscInt column)
{
  return column < c->own ? c->first + column : c->id[column - c->own];
}

/* The exchange of numbers of columns during set-up */
typedef struct {
  MPI_Comm    comm;
  PetscSF     sf; /* NULL: one process */
  CAMGColumns columns;
} CAMGGhosts; /* owner: ghosts.c */

/* Before a product that reads numbers of other processes: they go to x[own ..] */
typedef struct {
  LitheHalo halo; /* NULL: none */
  PetscInt  own, n;
  PetscBool used; /* by this set-up */
} CAMGHalo;       /* owner: ghosts.c */

/* What -ksp_view tells about a level */
typedef struct {
  PetscInt   n, all;        /* unknowns of this process, and of all processes */
  PetscInt64 nz, transfers; /* entries of the matrix, and of the interpolation to this level */
  PetscReal  bound;         /* of the smoother: largest eigenvalue over the bound by row sums */
  PetscBool  plain;         /* pairs of pairs, interpolated by constants */
  size_t     bytes;
} CAMGFacts; /* owner: setup.c, camg.c */

/* A level: 0 is the finest. Vectors are those of the scaled level: see encode.c */
typedef struct {
  CAMGOperator op;
  CAMGOperator prolong, restrict_; /* between this level and the next one */
  CAMGHalo     halo[2];            /* of op and restrict_, and of prolong */
  PetscInt     ghosts;             /* room in x[] */
  void        *b, *x[2];
  int          cur; /* which x is the iterate */
  CAMGFacts    facts;
} CAMGLevel; /* made by setup.c; cycle.c moves cur */

/* Starts of the rows of a product */
typedef struct {
  PetscInt *i, nz; /* i NULL: not known */
} CAMGStarts;      /* owner: coarsen.c, kept.c */

/*
   What one level hands to the next: exact entries, ghosts, scales, near null space. The last two have room for ghosts
*/
typedef struct {
  CAMGMatrix A;
  CAMGGhosts ghosts;
  CAMGSpace  space;
  double    *s;
  PetscInt   all; /* unknowns of all processes */
} CAMGExact;      /* owner: setup.c, coarsen.c */

/*
   Transfers to the next level, in the memory of the levels. P has rows of this process, then those of ghosts; R has
   rows of this process, then those whose products belong to others
*/
typedef struct {
  CAMGMatrix  P, R;
  CAMGColumns columns;    /* of P */
  PetscInt    nz;         /* entries of the rows of this process of P, */
  CAMGGhosts  prolong;    /* and their columns */
  CAMGGhosts  rows;       /* of R */
  CAMGGhosts  coarse;     /* of R A P */
  PetscInt   *map;        /* columns of R A P, before those without entries were left out */
  CAMGStarts  product[2]; /* A P and R A P, on a device */
  PetscInt    block;      /* of the next level */
  PetscBool   plain;
} CAMGTransfers; /* owner: coarsen.c, kept.c */

/* Those of an earlier set-up, for new values in the same pattern */
typedef struct {
  CAMGTransfers level[CAMG_LEVELS_MAX];
  enum {
    CAMG_KEPT_NOT,
    CAMG_KEPT_FILL,
    CAMG_KEPT_USE
  } state;                      /* what the set-up does */
  const LitheMemoryOps *memory; /* of P and R */
  CAMGGhosts            finest;
  PetscInt              n, columns, its; /* its: of the first solve */
  PetscBool             symmetric, stale;
} CAMGKept; /* owner: kept.c */

/* Facts about the matrix */
typedef struct {
  PetscBool     symmetric;
  LitheNearNull nearnull;
  PetscInt      columns; /* of the near null space */
  PetscReal     largest; /* modulus of the diagonal */
} CAMGFound;             /* owner: read.c */

/* Between vectors of the user and those of the finest level */
typedef struct {
  double  factor;   /* of the matrix: a power of two, with the sign of the matrix */
  double *outer[2]; /* per row: factors of right-hand sides, and of solutions */
  double *scale;    /* of the right-hand side, at the place of the levels */
} CAMGUnits;        /* owner: read.c, setup.c */

/* Several processes: levels that are whole on each of them */
typedef struct {
  PetscInt first;  /* 0: one process */
  CAMGHalo gather; /* from own numbers of that level, part, to all */
  void    *part;
} CAMGWhole; /* owner: setup.c */

/* Precision of the vectors */
typedef struct {
  PetscBool single;
  PetscBool linear;   /* a solver needs double precision, see src/pc/truth.c */
  PetscReal rounding; /* error of a residual by single precision; -1: not measured since the set-up */
} CAMGVectors;        /* owner: camg.c */

/*
   The finest level for products of a KSP, see encode.c. Entries of the level itself, with 8 bits, have errors of up to
   1/16
*/
typedef struct {
  CAMGOperator op;
  PetscBool    wanted, there;
  PetscInt64   number; /* of the set-up, see lithesingle.h */
} CAMGFine;            /* owner: camg.c, cycle.c, device.c, setup.c */

typedef struct {
  PCCAMGOptions      opt;
  const CAMGKernels *kernels;
  PetscBool          built, shared, device; /* shared: several processes; device: levels are on a device */
  CAMGFound          matrix;
  CAMGUnits          units;
  CAMGWhole          whole;
  CAMGVectors        precision;
  CAMGLevel          level[CAMG_LEVELS_MAX];
  CAMGFine           fine;
  PetscInt           n, setups; /* setups: on a device */
  LitheMGRecord      record;    /* of a cycle */
  Vec                work[2];   /* on the device, for vectors of the host */
  LitheMGCoarsest    coarsest;
  CAMGKept           kept;
  PetscLogDouble     flops; /* of an application */
  char               failed[256], why[96];
} PC_CAMG;

/*
   The threshold fits entries of about a tenth of the diagonal. Where rows have many equal entries, as those of 27
   points, none is that large: with less than one strong entry a row, a smaller threshold is tried, CAMG_THRESHOLDS
   times
*/
#define CAMG_THRESHOLDS 3

static inline PetscBool PCCAMGIsThresholdLarge_Private(PetscInt64 rows, PetscInt64 entries, PetscInt64 strong)
{
  return (PetscBool)(strong < rows && entries > 2 * rows);
}

/* Bits of an entry, before the entries are seen */
static inline PetscInt PCCAMGBits_Private(const PC_CAMG *mg)
{
  if (mg->opt.bits != PETSC_DECIDE) return mg->opt.bits;
  return mg->matrix.columns > 1 ? 16 : 8;
}

/*
   Unknowns of a level that has a dense inverse, by LAPACK on the host, which takes 10 ms or less. Elasticity has few
   nodes there, and a further level doubles iterations
*/
static inline PetscInt PCCAMGCoarseSize_Private(const PC_CAMG *mg)
{
  if (mg->opt.coarsesize != PETSC_DECIDE) return mg->opt.coarsesize;
  if (mg->matrix.columns > 1) return 600;
  return mg->matrix.symmetric ? 400 : 200;
}

/* Bytes of a number of a vector */
static inline size_t PCCAMGNumberBytes_Private(const PC_CAMG *mg)
{
  return sizeof(PetscScalar) / sizeof(PetscReal) * (mg->precision.single ? sizeof(float) : sizeof(double));
}

/* slices.c */
PETSC_INTERN PetscErrorCode PCCAMGSlices_Private(CAMGOperator *);
/* kept.c */
PETSC_INTERN PetscErrorCode PCCAMGTransfersFree_Private(const LitheMemoryOps *, CAMGTransfers *);
PETSC_INTERN PetscErrorCode PCCAMGKeptFree_Private(PC_CAMG *);
PETSC_INTERN PetscErrorCode PCCAMGKeptBegin_Private(PC);
PETSC_INTERN PetscErrorCode PCCAMGKeptCheck_Private(PC, PetscInt columns);
PETSC_INTERN PetscErrorCode PCCAMGKeep_Private(PC_CAMG *, PetscInt level, CAMGTransfers *);
PETSC_INTERN PetscErrorCode PCCAMGKeptJudge_Private(PC, PetscInt its);
/* ghosts.c */
PETSC_INTERN PetscErrorCode PCCAMGColumnsCopy_Private(const CAMGColumns *, CAMGColumns *);
PETSC_INTERN PetscErrorCode PCCAMGGhostsCreate_Private(MPI_Comm, CAMGColumns *, CAMGGhosts *);
PETSC_INTERN PetscErrorCode PCCAMGGhostsFree_Private(CAMGGhosts *);
PETSC_INTERN PetscErrorCode PCCAMGGhostsCopy_Private(const CAMGGhosts *, CAMGGhosts *);
PETSC_INTERN PetscErrorCode PCCAMGGhostsGet_Private(const CAMGGhosts *, const LitheMemoryOps *, size_t bytes, void *x);
PETSC_INTERN PetscErrorCode PCCAMGGhostsSum_Private(const CAMGGhosts *, int n, PetscInt64 a[]);
PETSC_INTERN PetscErrorCode PCCAMGHaloCreate_Private(const PC_CAMG *, const CAMGGhosts *, PetscInt block, CAMGHalo *);
PETSC_INTERN PetscErrorCode PCCAMGHaloFree_Private(CAMGHalo *);
PETSC_INTERN PetscErrorCode PCCAMGHaloOffer_Private(const CAMGHalo *last, CAMGHalo *);
PETSC_INTERN PetscErrorCode PCCAMGHalosFree_Private(PC_CAMG *, PetscBool stale);
PETSC_INTERN PetscErrorCode PCCAMGHaloGet_Private(const PC_CAMG *, const CAMGHalo *, void *x);
/* shared.c */
PETSC_INTERN PetscErrorCode PCCAMGMatrixPut_Private(const LitheMemoryOps *, const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGIntegersPut_Private(const LitheMemoryOps *, PetscInt n, const PetscInt host[], PetscInt **there);
PETSC_INTERN PetscErrorCode PCCAMGColumnNumbers_Private(const PC_CAMG *, const CAMGColumns *, PetscInt **number);
PETSC_INTERN PetscErrorCode PCCAMGFetch_Private(const PC_CAMG *, const CAMGGhosts *, CAMGMatrix *B, CAMGColumns *);
PETSC_INTERN PetscErrorCode PCCAMGReturn_Private(const PC_CAMG *, const CAMGGhosts *, CAMGMatrix *T, const CAMGColumns *sent, CAMGColumns *);
PETSC_INTERN PetscErrorCode PCCAMGAdjoint_Private(const PC_CAMG *, const CAMGGhosts *, const CAMGMatrix *A, CAMGMatrix *H, CAMGColumns *);
PETSC_INTERN PetscErrorCode PCCAMGCompress_Private(const PC_CAMG *, CAMGMatrix *, CAMGColumns *, PetscInt **map);
PETSC_INTERN PetscErrorCode PCCAMGShareAggregates_Private(const PC_CAMG *, const CAMGGhosts *, PetscInt aggregates, PetscInt agg[], CAMGColumns *);
PETSC_INTERN PetscErrorCode PCCAMGMakeWhole_Private(const PC_CAMG *, const CAMGGhosts *, CAMGMatrix *, CAMGSpace *);
/* join.c */
PETSC_INTERN PetscErrorCode PCCAMGExtract_Private(const CAMGMatrix *, PetscInt count, const PetscInt row[], CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGJoin_Private(const CAMGMatrix *, const CAMGMatrix *, PetscInt m, PetscInt n, const PetscInt target[], const PetscInt place[],
                                               CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGMark_Private(const CAMGMatrix *, PetscInt used[]);
PETSC_INTERN PetscErrorCode PCCAMGRenumber_Private(CAMGMatrix *, PetscInt from, const PetscInt map[]);
PETSC_INTERN PetscErrorCode PCCAMGTurn_Private(const CAMGMatrix *, PetscInt j[]);
/* matrix.c */
PETSC_INTERN PetscErrorCode PCCAMGMatrixCreate_Private(PetscInt m, PetscInt n, PetscInt nz, PetscInt rb, PetscInt cb, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGMatrixFree_Private(CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGMatrixRelease_Private(const LitheMemoryOps *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGTranspose_Private(const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGMultiply_Private(const CAMGMatrix *, const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGMean_Private(const CAMGMatrix *, const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGForms_Private(const CAMGMatrix *, const PetscReal root[], PetscInt first, const PetscInt id[], double sum[CAMG_FORMS]);
PETSC_INTERN PetscErrorCode PCCAMGModuli_Private(const CAMGMatrix *, PetscReal d[]);
PETSC_INTERN PetscErrorCode PCCAMGFindNull_Private(const CAMGMatrix *R, const PetscReal d[], const CAMGMatrix *C, unsigned char null[], PetscBool *any);
PETSC_INTERN PetscErrorCode PCCAMGClearNull_Private(const unsigned char null[], CAMGMatrix *C);
PETSC_INTERN PetscErrorCode PCCAMGSurvey_Private(const CAMGMatrix *, double largest[2], PetscInt *sign, PetscBool *finite);
PETSC_INTERN PetscErrorCode PCCAMGCopy_Private(const CAMGMatrix *, double factor, const double left[], const double right[], PetscInt block, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGSetOuter_Private(PetscInt n, const PetscScalar x[], double outer[]);
PETSC_INTERN PetscErrorCode PCCAMGSetColumn_Private(PetscInt n, PetscInt columns, PetscInt c, const PetscScalar x[], PetscInt period, PetscScalar T[]);
PETSC_INTERN PetscErrorCode PCCAMGDivide_Private(PetscInt n, const double s[], double outer[]);
/* strength.c */
PETSC_INTERN PetscErrorCode PCCAMGNorms_Private(const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode PCCAMGRoots_Private(const CAMGMatrix *, PetscReal root[]);
PETSC_INTERN PetscErrorCode PCCAMGFilter_Private(const CAMGMatrix *, const PetscReal root[], PetscReal threshold, CAMGGraph *);
PETSC_INTERN PetscErrorCode PCCAMGConjugate_Private(PetscInt n, const PetscScalar d[], PetscScalar out[]);
/* aggregate.c */
PETSC_INTERN PetscErrorCode PCCAMGAggregate_Private(const CAMGGraph *, PetscInt agg[], PetscInt *n);
PETSC_INTERN PetscErrorCode PCCAMGPairs_Private(const CAMGMatrix *, const PetscReal root[], PetscReal threshold, PetscInt agg[], PetscInt *n);
PETSC_INTERN PetscErrorCode PCCAMGCompose_Private(PetscInt n, const PetscInt next[], PetscInt agg[]);
/* bound.c */
PETSC_INTERN PetscErrorCode PCCAMGBound_Private(PetscInt n, const CAMGShare *, PetscErrorCode (*apply)(void *, const PetscScalar[], PetscScalar[]), void *,
                                                double  *bound);
/* interpolate.c */
PETSC_INTERN PetscErrorCode PCCAMGTentative_Private(CAMGSpace *, PetscInt n, const PetscInt agg[], PetscInt aggregates, CAMGSpace *coarse);
PETSC_INTERN PetscErrorCode PCCAMGDamping_Private(const CAMGGraph *, PetscReal bound, PetscReal damping[]);
PETSC_INTERN PetscErrorCode PCCAMGSmooth_Private(const CAMGGraph *, const PetscReal damping[], const CAMGSpace *, const PetscInt agg[], PetscInt aggregates,
                                                 PetscInt truncate, CAMGMatrix *);
/* encode.c */
PETSC_INTERN PetscErrorCode PCCAMGScales_Private(const CAMGMatrix *, double s[]);
PETSC_INTERN PetscErrorCode PCCAMGEncode_Private(const CAMGMatrix *, const double s[], PetscInt bits, PetscBool sums, const CAMGShare *, CAMGOperator *,
                                                 PetscReal *bound);
PETSC_INTERN PetscErrorCode PCCAMGEncodeTransfer_Private(const CAMGMatrix *, const double rows[], const double columns[], PetscBool inverse, CAMGOperator *);
PETSC_INTERN PetscErrorCode PCCAMGRounding_Private(const CAMGMatrix *, const double s[], void *d);
PETSC_INTERN PetscErrorCode PCCAMGGetDense_Private(const CAMGMatrix *, const double s[], PetscScalar *M);
/* read.c */
PETSC_INTERN PetscErrorCode PCCAMGRead_Private(PC, CAMGMatrix *, CAMGGhosts *, CAMGSpace *, PetscBool *good);
/* coarsen.c */
PETSC_INTERN PetscErrorCode PCCAMGExactFree_Private(const PC_CAMG *, CAMGExact *);
PETSC_INTERN PetscErrorCode PCCAMGCoarsen_Private(const PC_CAMG *, CAMGExact *, PetscReal threshold, PetscReal bound, CAMGTransfers *, CAMGExact *coarse);
PETSC_INTERN PetscErrorCode PCCAMGRecoarsen_Private(const PC_CAMG *, const CAMGExact *, CAMGTransfers *, CAMGExact *coarse);
/* setup.c */
PETSC_INTERN PetscErrorCode PCCAMGBuild_Private(PC, CAMGMatrix *, CAMGGhosts *, CAMGSpace *);
PETSC_INTERN PetscErrorCode PCCAMGLevelsFree_Private(PC_CAMG *);
PETSC_INTERN PetscErrorCode PCCAMGMoveArrays_Private(PC_CAMG *, PetscErrorCode (*move)(void *pointer, size_t bytes));
/* cycle.c */
PETSC_INTERN PetscErrorCode PCCAMGCycle_Private(PC_CAMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCApply_CAMG(PC, Vec, Vec);
PETSC_INTERN PetscErrorCode PCCAMGGetSingle_Private(PC, LitheSingle *, PetscBool *offers);
/* options.c, view.c */
PETSC_INTERN PetscErrorCode PCCAMGOptionsDefault_Private(PCCAMGOptions *);
PETSC_INTERN PetscErrorCode PCSetFromOptions_CAMG(PC, PetscOptionItems);
PETSC_INTERN PetscErrorCode PCView_CAMG(PC, PetscViewer);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode PCCAMGMove_Private(PC_CAMG *); /* device.c */
/* devicerows.c */
PETSC_INTERN PetscErrorCode PCCAMGDeviceRowsGet_Private(Mat, CAMGMatrix *, PetscBool *are);
PETSC_INTERN PetscErrorCode PCCAMGDeviceRowsRestore_Private(Mat, CAMGMatrix *);
#endif
/* context.c */
PETSC_INTERN PetscErrorCode PCCAMGFail_Private(PC, const char[], ...) PETSC_ATTRIBUTE_FORMAT(2, 3);
PETSC_INTERN PetscErrorCode PCCAMGGrow_Private(const PC_CAMG *, size_t own, size_t n, const void *x, void **y);
PETSC_INTERN PetscErrorCode PCCAMGFree_Private(const PC_CAMG *, void *pointer);
