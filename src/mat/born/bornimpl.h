/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/born.h>
#include <lithe/private/farm.h>
#include <lithe/private/lithehalo.h>
#include <lithemat.h>
#include <petscdmda.h>
#include <petsc/private/matimpl.h>

typedef struct {
  PetscReal   source[3];
  PetscInt    nreceivers;
  PetscReal  *receivers; /* dim numbers each */
  PetscMPIInt owner;     /* of its rows */
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

/* Data for several processes: split.c */
typedef struct {
  LitheFarm      farm;
  LitheFarmGroup group;
  PetscBool      single;       /* one process */
  PetscBool      own;          /* arrays of slabs are those of the DMDA's vectors, on all processes */
  PetscMPIInt    onnode;       /* processes of the matrix that share memory with this process */
  PetscInt       start, count; /* planes of this process along the last dimension */
  PetscInt       nodes;        /* of these planes */
  PetscSF        forest;       /* from the nodes of the DMDA to the nodes of the slab; NULL: they are the same */
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
  Vec                  velocity;
  PetscReal            dt;
  PetscInt             steps, every, samples; /* samples of a trace */
  PetscReal           *wavelet;
  PetscInt             nwavelet;
  PetscReal            spacing[3]; /* 0: from the coordinates of the DMDA */
  PetscInt             nshots, maxshots;
  BornShot            *shots;

  /* Data that belong to the settings */
  PetscBool             built;
  PetscObjectState      state; /* of the velocity that was read */
  const BornKernels    *kernels;
  const BornBackground *background;
  MatBornBackground     chosen;
  BornNumber            real, number; /* real: of all fields except the fields of a background that runs backwards, which have number */
  BornGrid              grid;
  PetscReal             h[3], origin[3], least, most; /* least, most: of the velocity */
  double                force;                        /* factor of a sample of the wavelet */
  double                unit;                         /* fields have numbers near 1: u / unit */
  double                highest;                      /* frequency of the wavelet */
  PetscInt              busy, loud;                   /* steps until the wavelet is over; steps with a sample that is not small */
  void                 *V, *Vrandom, *Vreal;          /* Vreal: the source of the other two if these have 16 bits */
  double                Vunit;
  PetscReal            *wave;        /* the wavelet, where fields are */
  Vec                   chain, work; /* dV/V is chain times the parameter; chain is NULL where it is 1 */
  void                 *u[2], *w[2], *q, *x, *image;
  PetscReal            *traces; /* of N */
  size_t                ntraces;
  unsigned             *largest; /* whole number of the background */
  BornState            *saved;   /* nsaved states, whose fields are there or NULL */
  PetscInt              nsaved, kept, next;
  void                 *store;  /* of keep: q of each interval-th step; of ring: the nodes round the inside at each step */
  size_t                slot;   /* bytes of a step there */
  PetscBool             onhost; /* where the store is */
  Vec                   illumination;

  /* Shots over groups of processes. They stay when settings change, unless these are settings of their own */
  LitheFarmOptions farming;
  BornSplit       *split;
  LitheTransport   transport; /* of slabs on devices, that was asked for */
  BornHalos       *halos;     /* NULL: no slabs, or slabs on the host */
  PetscReal       *cost;      /* [nshots] seconds of a shot in the last product; NULL before it */
} Mat_Born;

/* A sweep over time of one shot */
typedef struct {
  Mat_Born        *ctx;
  BornShot        *shot;
  BornPoints       at, to; /* where fields are */
  BornState        u, w;
  BornNumber       number; /* of u */
  PetscBool        sponge; /* of u */
  const void      *V;
  double           unit;  /* u is this factor times its numbers */
  double           wunit; /* the same of w */
  const PetscReal *model;
  const void      *x; /* dV/V, a field, or NULL: no w forwards */
  void            *image;
  const BornForce *data; /* backwards: the force at the step that w comes to; NULL: none */
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
PETSC_INTERN PetscErrorCode MatBornForget_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornChanged_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetDM_Private(Mat, DM *, PetscInt *);

/* points.c */
#define BORN_SINC_RADIUS 4 /* nodes that a point between nodes reaches on each side, a dimension */
PETSC_INTERN PetscErrorCode BornPointsCreate_Private(MPI_Comm, const BornGrid *, const PetscReal[3], const PetscReal[3], MatBornInterpolation, const char[],
                                                     PetscInt, PetscInt, const PetscReal[], BornPoints *);
PETSC_INTERN PetscErrorCode BornPointsDestroy_Private(BornPoints *);

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

/* exchange.c: collective on groups */
PETSC_INTERN PetscErrorCode BornHalosCreate_Private(Mat_Born *);
PETSC_INTERN PetscErrorCode BornHalosDestroy_Private(Mat_Born *);
PETSC_INTERN PetscErrorCode BornHalosGetTransport_Private(const Mat_Born *, LitheTransport *, const char **reason);
PETSC_INTERN PetscErrorCode BornExchange_Private(Mat_Born *, void *field);
PETSC_INTERN PetscErrorCode BornAdvance_Private(Mat_Born *, const BornStep *, PetscInt, const BornForce[]);

/* step.c: steps of a sweep */
PETSC_INTERN PetscErrorCode BornStateStart_Private(Mat_Born *, void *[2], BornNumber, PetscInt, BornState *);
PETSC_INTERN PetscErrorCode BornStateCopy_Private(Mat_Born *, const BornState *, BornState *);
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

/* sweep.c: products with one shot. Grid arrays and data may be in any memory; NULL where a product has none. Images are added to */
typedef PetscErrorCode (*BornProduct)(Mat_Born *, BornShot *, const PetscReal *model, PetscReal *data, PetscReal *image);
PETSC_INTERN PetscErrorCode BornSweepModel_Private(Mat_Born *, BornShot *, const PetscReal *, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSweepForward_Private(Mat_Born *, BornShot *, const PetscReal *, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSweepAdjoint_Private(Mat_Born *, BornShot *, const PetscReal *, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSweepNormal_Private(Mat_Born *, BornShot *, const PetscReal *, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSweepIllumination_Private(Mat_Born *, BornShot *, const PetscReal *, PetscReal *, PetscReal *);

/* split.c: collective on groups. Exceptions: the first two are collective on the matrix, the functions of rows are not
   collective */
PETSC_INTERN PetscErrorCode BornSplitCreate_Private(DM, const LitheFarmOptions *, BornSplit **);
PETSC_INTERN PetscErrorCode BornSplitGetSlab_Private(BornSplit *, const PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitDestroy_Private(BornSplit **);
PETSC_INTERN PetscErrorCode BornSplitOpenRows_Private(BornSplit *, PetscInt, PetscReal *, PetscBool);
PETSC_INTERN PetscErrorCode BornSplitCloseRows_Private(BornSplit *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitGetRows_Private(BornSplit *, PetscMPIInt, PetscInt, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitPutRows_Private(BornSplit *, PetscMPIInt, PetscInt, PetscInt, const PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitSpreadRows_Private(BornSplit *, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitUniteRows_Private(BornSplit *, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornSplitLargest_Private(BornSplit *, double *);

/* groups.c */
PETSC_INTERN PetscErrorCode MatBornSetFarming_Private(Mat, const LitheFarmOptions *);

/* hash.c */
PETSC_INTERN PetscErrorCode MatBornHash_Private(Mat, const char[], Vec, Vec, uint64_t *);

/* apply.c, view.c */
PETSC_INTERN PetscErrorCode MatBornProducts_Private(Mat, const char[], BornProduct, Vec, Vec, Vec, PetscBool);
PETSC_INTERN PetscErrorCode MatMult_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTranspose_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatView_Born(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGetInfo_Born(Mat, MatInfoType, MatInfo *);
