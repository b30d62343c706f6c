/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/born.h>
#include <lithe/private/sums.h>
#include <lithe/private/lithehalo.h>
#include <lithemat.h>
#include <petscdmda.h>
#include <petsc/private/matimpl.h>
#include <stddef.h>

typedef struct {
  PetscReal   source[3];
  PetscInt    nreceivers;
  PetscReal  *receivers; /* dim numbers each */
  PetscMPIInt owner;     /* of the shot's rows */
  PetscInt    offset;    /* of the first row of the shot on the owner */

  BornPoints at, to; /* the source, the receivers: of the built matrix */
  double     scale;  /* of the background in whole numbers; 0: not known yet */
} BornShot;

/* Two fields at one step of time: u and the previous u */
typedef struct {
  void    *u, *old;
  PetscInt step;
} BornState;

typedef struct _n_BornBackground BornBackground;

/* Exchanges between vectors of nodes and slabs on devices: peers.c */
typedef struct _n_BornPeers BornPeers;

/* Data for several processes: split.c */
typedef struct {
  LitheFarm      farm;
  LitheFarmGroup group;
  PetscBool      single;       /* a single process */
  PetscBool      own;          /* slabs and the DMDA's vectors have the same arrays, on all processes */
  PetscMPIInt    onnode;       /* processes of the matrix on this node */
  PetscInt       start, count; /* planes of this process along the last dimension */
  PetscInt       nodes;        /* of this process */
  PetscSF        forest;       /* from the nodes of the DMDA to the nodes of the slab; NULL until the first request */
  BornPeers     *peers;        /* does the same on devices; NULL: is not possible, or not tried yet */
  PetscBool      tried;
  MPI_Comm       all;
  MPI_Win        window; /* of rows, while a product runs */
  PetscReal     *rows;
  PetscInt       nrows;
} BornSplit;

/* The first plane of a process in a group: parts as a DMDA has them by default */
static inline PetscInt BornSlabStart(PetscInt planes, PetscMPIInt rank, PetscMPIInt size)
{
  return planes / size * rank + PetscMin((PetscInt)rank, planes % size);
}

/* Exchanges of slabs on devices: exchange.c */
typedef struct _n_BornHalos BornHalos;

typedef struct {
  /* Settings of a program */
  PetscInt             order, width, checkpoints; /* checkpoints and damping: or PETSC_DECIDE, PETSC_DETERMINE */
  PetscReal            damping;
  PetscBool            surface;
  MatBornParameter     parameter;
  MatBornInterpolation interpolation;
  MatBornField         field;
  MatBornBackground    wanted; /* background */
  PetscInt             bits, interval, velocitybits, seed;
  PetscReal            lowpass; /* 0: none */
  Vec                  velocity;
  PetscScalar          scale;       /* the matrix is scale diag(left) J diag(right) */
  Vec                  left, right; /* NULL: ones */
  PetscReal            dt;
  PetscInt             steps, every, samples; /* samples of a trace */
  PetscReal           *wavelet;
  PetscInt             nwavelet;
  PetscReal            spacing[3]; /* 0: from the coordinates of the DMDA */
  PetscInt             batch;      /* shots that are computed together, at most; or PETSC_DECIDE */
  PetscInt             nshots, maxshots;
  BornShot            *shots;

  /* Data made from the settings */
  PetscBool             built;
  PetscObjectState      state; /* of the velocity, when read */
  const BornKernels    *kernels;
  const BornBackground *background;
  MatBornBackground     chosen;
  BornNumber            real, number;                 /* number: of a background that runs backwards; real: of all other fields */
  BornGrid              grid, stack;                  /* stack: of all shots that are computed together */
  PetscReal             h[3], origin[3], least, most; /* least, most: of the velocity */
  double                force;                        /* factor of a sample of the wavelet */
  double                unit;                         /* fields have numbers near 1: u / unit */
  double                highest;                      /* frequency of the wavelet */
  PetscInt              busy, loud;                   /* steps until the wavelet is over; steps until the last sample that is not small */
  void                 *V, *Vrandom, *Vreal;          /* Vreal: the source of V and Vrandom with 16 bits */
  double                Vunit;
  PetscReal            *wave;        /* the wavelet, where fields are */
  Vec                   chain, work; /* dV/V is chain times a model: the parameter, right and scale; NULL for 1 */
  void                 *u[2], *w[2], *q, *x, *image;
  BornLowpass           filter;
  PetscInt              run;    /* steps of a sweep: more than the steps of a trace with a low-pass */
  PetscReal            *traces; /* of N; with a low-pass, of all products, with a number per step */
  size_t                ntraces;
  unsigned             *largest;    /* whole number of the background, per shot */
  double               *factors[2]; /* of sources and data, per shot; NULL: of single shots */
  BornState            *saved;      /* nsaved states; fields may be NULL */
  PetscInt              nsaved, kept, next;
  void                 *store;  /* of keep: q of each interval-th step; of ring: the nodes round the inside at each step */
  size_t                slot;   /* bytes of a step in the store */
  PetscBool             onhost; /* where the store is */
  Vec                   illumination;

  /* Shots over groups of processes. A change of the settings above keeps all of the following */
  LitheFarmOptions farming;
  BornSplit       *split;
  LitheTransport   transport; /* requested for slabs on devices */
  BornHalos       *halos;     /* NULL: no slabs, or slabs on the host */
  Vec              rows;      /* work vector; NULL without a left scale */
  PetscReal       *cost;      /* [nshots] seconds of a shot in the last product; NULL before the first product */
} Mat_Born;

/* Factors of a force: of a single shot, or, where fields are, of each of several shots */
typedef struct {
  double one, *each;
} BornFactors;

/* A sweep over time of one shot, or of several shots together */
typedef struct {
  Mat_Born        *ctx;
  PetscInt         n;
  BornShot *const *shot;
  BornGrid         grid;           /* the matrix's grid, or a stack */
  PetscInt         receivers;      /* of all shots; traces of the shots are one after the other */
  BornPoints       joined[2];      /* sources and receivers of several shots, on the host */
  BornPoints       at, to;         /* where fields are */
  PetscInt         every, samples; /* of the traces: with a low-pass of all steps */
  BornState        u, w;
  BornNumber       number; /* of u */
  PetscBool        sponge; /* of u */
  const void      *V;
  double          *unit;    /* the factors of the numbers of u, per shot */
  double          *largest; /* whole number of u, per shot */
  double           wunit;   /* the factor of the numbers of w */
  BornFactors      source;
  const PetscReal *model;
  const void      *x; /* dV/V, a field, or NULL: no w forwards */
  void            *image;
  const BornForce *data; /* backwards: the force at the next step of w; NULL: none */
} BornSweep;

/* How the background comes back. q is L u + f */
struct _n_BornBackground {
  PetscBool reversed; /* steps are undone: in whole numbers where fields are in single precision */
  PetscBool sponge;   /* of u */
  PetscBool rounds;   /* L u of active steps goes to the store, and J scatters the rounded numbers */
  PetscErrorCode (*create)(Mat_Born *);
  PetscErrorCode (*start)(BornSweep *);                             /* before the first step */
  PetscErrorCode (*note)(BornSweep *, PetscInt n);                  /* after step n; may be NULL */
  PetscErrorCode (*back)(BornSweep *, PetscInt n, PetscBool image); /* backwards from step n: image += q w, if asked, and a step of w */
  PetscLogDouble (*bytes)(const Mat_Born *);                        /* of the stored data */
};

/* context.c */
PETSC_INTERN PetscErrorCode MatBornGetContext_Private(Mat, Mat_Born **);
PETSC_INTERN PetscErrorCode MatBornAgree_Private(Mat, PetscBool, PetscBool *);
PETSC_INTERN PetscErrorCode MatBornCheckData_Private(Mat, Vec);
PETSC_INTERN PetscErrorCode MatBornForget_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornChanged_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetDM_Private(Mat, DM *, PetscInt *);

/* points.c */
#define BORN_SINC_RADIUS 4 /* nodes on each side of a point between nodes, per dimension */
PETSC_INTERN PetscErrorCode BornPointsCreate_Private(MPI_Comm, const BornGrid *, const PetscReal[3], const PetscReal[3], MatBornInterpolation, const char[],
                                                     PetscInt, PetscInt, const PetscReal[], BornPoints *);
PETSC_INTERN PetscErrorCode BornPointsDestroy_Private(BornPoints *);
PETSC_INTERN PetscErrorCode BornPointsJoin_Private(PetscInt, const BornPoints *const[], PetscInt64, BornPoints *);
PETSC_INTERN double         BornKaiser_Private(double, double);

/* checkpoint.c */
PETSC_INTERN PetscInt BornCheckpointsDefault(PetscInt);
PETSC_INTERN PetscInt BornCheckpointsAdvance(PetscInt, PetscInt);

/* options.c */
PETSC_INTERN PetscErrorCode MatSetFromOptions_Born(Mat, PetscOptionItems);

/* build.c */
PETSC_INTERN PetscErrorCode MatBornBuild_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetBytes_Private(Mat, PetscLogDouble *);

/* wavelet.c */
PETSC_INTERN PetscErrorCode MatBornBuildWavelet_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetPoints_Private(const Mat_Born *, double *);

/* lowpass.c */
PETSC_INTERN PetscErrorCode MatBornCreateLowpass_Private(Mat, BornLowpass *);
PETSC_INTERN PetscErrorCode MatBornBuildLowpass_Private(Mat);

/* traces.c */
PETSC_INTERN PetscLogDouble BornTracesBytes_Private(const Mat_Born *);
PETSC_INTERN void           BornTracesStart_Private(BornSweep *);
PETSC_INTERN PetscInt       BornTracesSample_Private(const BornSweep *, PetscInt);
PETSC_INTERN PetscErrorCode BornTracesGet_Private(BornSweep *, PetscReal **);
PETSC_INTERN PetscErrorCode BornTracesOpen_Private(BornSweep *, PetscReal *, PetscBool, PetscReal **);
PETSC_INTERN PetscErrorCode BornTracesClose_Private(BornSweep *, PetscReal *, PetscBool, PetscReal **);
PETSC_INTERN PetscErrorCode BornTracesTurn_Private(BornSweep *, PetscReal *, const PetscReal *);

/* exchange.c: collective on groups */
PETSC_INTERN PetscErrorCode BornHalosCreate_Private(Mat_Born *);
PETSC_INTERN PetscErrorCode BornHalosDestroy_Private(Mat_Born *);
PETSC_INTERN PetscErrorCode BornHalosGetTransport_Private(const Mat_Born *, LitheTransport *, const char **reason);
PETSC_INTERN PetscErrorCode BornExchange_Private(Mat_Born *, void *field);
PETSC_INTERN PetscErrorCode BornAdvance_Private(Mat_Born *, const BornGrid *, const BornStep *, PetscInt, const BornForce[]);

/* step.c: steps of a sweep */
PETSC_INTERN PetscErrorCode BornStateStart_Private(BornSweep *, void *[2], BornNumber, PetscInt, BornState *);
PETSC_INTERN PetscErrorCode BornStateCopy_Private(const BornSweep *, const BornState *, BornState *);
PETSC_INTERN void           BornStateSwap_Private(BornState *);
PETSC_INTERN PetscErrorCode BornGetField_Private(Mat_Born *, void **);
PETSC_INTERN PetscErrorCode BornStepBackground_Private(BornSweep *, BornState *, void *, void *);
PETSC_INTERN PetscErrorCode BornStepBoth_Private(BornSweep *, PetscBool, PetscBool, int, void *, void *);
PETSC_INTERN PetscErrorCode BornStepInside_Private(BornSweep *, PetscInt, void *);
PETSC_INTERN PetscErrorCode BornStepSecond_Private(BornSweep *);
PETSC_INTERN PetscErrorCode BornForceBackground_Private(BornSweep *, PetscInt, BornForce);

/* background.c */
PETSC_INTERN PetscErrorCode MatBornChooseBackground_Private(Mat);

/* checkpoint.c, keep.c, reverse.c */
PETSC_INTERN const BornBackground BornCheckpoint, BornKeep, BornRingBackground, BornRandom;

/* sweep.c */
PETSC_INTERN void BornStackCreate_Private(const BornGrid *, PetscInt shots, BornGrid *stack);

/* Products with some shots, as many as a stack may have. Grid arrays may be in any memory, data are on the host, shot
   by shot; unused arrays are NULL. A product adds to the image of each shot */
typedef PetscErrorCode (*BornProduct)(Mat_Born *, PetscInt n, BornShot *const shot[], const PetscReal *model, PetscReal *data, PetscReal *const image[]);
PETSC_INTERN PetscErrorCode BornSweepModel_Private(Mat_Born *, PetscInt, BornShot *const[], const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepForward_Private(Mat_Born *, PetscInt, BornShot *const[], const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepAdjoint_Private(Mat_Born *, PetscInt, BornShot *const[], const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepNormal_Private(Mat_Born *, PetscInt, BornShot *const[], const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepIllumination_Private(Mat_Born *, PetscInt, BornShot *const[], const PetscReal *, PetscReal *, PetscReal *const[]);

/* split.c: collective on groups. Exceptions: the first two are collective on the matrix, the functions of rows are not
   collective */
PETSC_INTERN PetscErrorCode BornSplitCreate_Private(DM, const LitheFarmOptions *, BornSplit **);
PETSC_INTERN PetscErrorCode BornSplitGetForest_Private(BornSplit *, DM, PetscSF *);
PETSC_INTERN PetscErrorCode BornSplitDestroy_Private(BornSplit **);
PETSC_INTERN PetscErrorCode BornSplitOpenRows_Private(BornSplit *, PetscInt, PetscReal *, PetscBool);
PETSC_INTERN PetscErrorCode BornSplitCloseRows_Private(BornSplit *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitGetRows_Private(BornSplit *, PetscMPIInt, PetscInt, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitPutRows_Private(BornSplit *, PetscMPIInt, PetscInt, PetscInt, const PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitSpreadRows_Private(BornSplit *, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitUniteRows_Private(BornSplit *, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitLargest_Private(BornSplit *, double *);

/* peers.c: collective. peers is NULL if a process cannot read the memory of all other processes. Arrays are on devices: x and y
   have the nodes of vectors */
PETSC_INTERN PetscErrorCode BornPeersCreate_Private(BornSplit *, DM, BornPeers **);
PETSC_INTERN PetscErrorCode BornPeersDestroy_Private(BornPeers **);
PETSC_INTERN PetscErrorCode BornPeersSpread_Private(BornPeers *, const PetscReal *x, PetscReal *slab);
PETSC_INTERN PetscErrorCode BornPeersReduce_Private(BornPeers *, LitheSums, MPI_Comm, PetscReal *y);

/* slab.c */
PETSC_INTERN PetscErrorCode MatBornOpenSlab_Private(Mat, Vec, const PetscReal **);
PETSC_INTERN PetscErrorCode MatBornCloseSlab_Private(Mat, Vec, const PetscReal **);
PETSC_INTERN PetscErrorCode MatBornSumSlabs_Private(Mat, LitheSums, Vec);

/* hash.c */
PETSC_INTERN PetscErrorCode MatBornHash_Private(Mat, const char[], Vec, Vec, uint64_t *);
PETSC_INTERN PetscErrorCode MatBornCheckShots_Private(Mat, PetscInt);
PETSC_INTERN PetscErrorCode MatBornCheckSettings_Private(Mat);

/* scale.c */
PETSC_INTERN PetscErrorCode MatBornCopyScales_Private(Mat, Mat);
PETSC_INTERN PetscErrorCode MatScale_Born(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatDiagonalScale_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultAdd_Born(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTransposeAdd_Born(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatCopy_Born(Mat, Mat, MatStructure);
PETSC_INTERN PetscErrorCode MatShift_Born(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatAXPY_Born(Mat, PetscScalar, Mat, MatStructure);

/* apply.c, view.c */
PETSC_INTERN PetscErrorCode MatBornProducts_Private(Mat, const char[], BornProduct, Vec, Vec, Vec, PetscBool);
PETSC_INTERN PetscErrorCode MatMult_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTranspose_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatView_Born(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGetInfo_Born(Mat, MatInfoType, MatInfo *);
