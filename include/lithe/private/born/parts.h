/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The parts of a MATBORN, of which Mat_Born in bornimpl.h consists. The folders parallel, survey
   and sweep know these parts, and no Mat.

   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

#include <lithe/private/born/born.h>
#include <lithefarm.h>
#include <lithe/private/lithehalo.h>
#include <lithemat.h>
#include <petscdmda.h>

/* ------------------------------------------------------------ settings */

typedef struct {
  PetscReal dt;
  PetscInt  steps, every, samples; /* samples of a trace */
  PetscReal lowpass;               /* frequency; 0: none */
} BornTime;                        /* owner: src/mat/born/options.c */

typedef struct {
  PetscInt             order, width;
  PetscReal            damping; /* or PETSC_DETERMINE */
  PetscBool            surface;
  PetscReal            spacing[3]; /* 0: from the coordinates of the DMDA */
  MatBornInterpolation interpolation;
  MatBornParameter     parameter;
} BornDiscretization; /* owner: src/mat/born/options.c */

/* Precision, memory and processes */
typedef struct {
  MatBornField      field;
  MatBornBackground background;
  PetscInt          bits, interval, velocitybits, seed;
  PetscInt          checkpoints; /* or PETSC_DECIDE */
  PetscInt          batch;       /* shots that are computed together, at most; or PETSC_DECIDE */
  LitheTransport    transport;   /* requested for slabs on devices */
  LitheFarmOptions  farming;     /* shots over groups of processes */
} BornTuning;                    /* owner: src/mat/born/options.c */

typedef struct {
  PetscReal   place[3]; /* of the source */
  PetscInt    nreceivers;
  PetscReal  *receivers; /* dim numbers each */
  PetscMPIInt owner;     /* of the shot's rows */
  PetscInt    offset;    /* of the first row of the shot on the owner */
} BornShot;              /* owner: src/mat/born/shots.c */

typedef struct {
  Vec        velocity;
  PetscReal *wavelet;
  PetscInt   nwavelet;
  PetscInt   nshots, maxshots;
  BornShot  *shots;
} BornSurvey; /* owner: src/mat/born/shots.c */

/* ------------------------------------------------------------ processes */

/* Groups of processes, and the planes of this process. Settings that do not change the groups leave them as they are */
typedef struct {
  LitheFarm      farm; /* NULL: there are no groups yet */
  LitheFarmGroup group;
  MPI_Comm       all;
  PetscBool      single;       /* a single process */
  PetscBool      own;          /* slabs and the DMDA's vectors have the same arrays, on all processes */
  PetscMPIInt    onnode;       /* processes of the matrix on this node */
  PetscInt       start, count; /* planes of this process along the last dimension */
  PetscInt       nodes;        /* of this process */
} BornSplit;                   /* owner: src/mat/born/parallel/split.c */

/* Exchanges between vectors of nodes and slabs on devices: parallel/peers.c */
typedef struct _n_BornPeers BornPeers;

typedef struct {
  PetscSF    forest; /* from the nodes of the DMDA to the nodes of the slab; NULL until the first request */
  BornPeers *peers;  /* does the same on devices; NULL: is not possible, or not tried yet */
  PetscBool  tried;
} BornSlabs; /* owner: src/mat/born/parallel/slab.c */

/* The rows of all shots, while a product runs */
typedef struct {
  PetscReal *rows;
  PetscInt   n;
  MPI_Win    window;
  PetscBool  open; /* there is a window */
} BornRows;        /* owner: src/mat/born/parallel/groups.c */

/* Exchanges of slabs on devices: parallel/exchange.c */
typedef struct _n_BornHalos BornHalos;

typedef struct {
  BornSplit  split;
  BornSlabs  slabs;
  BornRows   rows;
  BornHalos *halos; /* NULL: no slabs, or slabs on the host */
} BornParallel;

/* ------------------------------------------------------------ made from the settings */

typedef struct {
  BornGrid   one, stack; /* of a shot; of all shots that are computed together */
  PetscReal  h[3], origin[3];
  BornNumber real; /* of all fields, except for a background in whole numbers */
} BornGrids;       /* owner: src/mat/born/grid.c */

typedef struct {
  PetscReal        least, most; /* of the velocity */
  void            *V;
  void            *Vreal; /* the source of random velocities with 16 bits; else NULL */
  double           Vunit;
  PetscObjectState state; /* of the velocity, when read */
} BornModel;              /* owner: src/mat/born/velocity.c */

typedef struct {
  PetscReal *wave;    /* the wavelet, where fields are */
  PetscInt   samples; /* of the wavelet */
  double     force;   /* factor of a sample */
  double     unit;    /* fields have numbers near 1: u / unit */
  double     highest; /* frequency of the wavelet */
  PetscInt   busy;    /* steps until the wavelet is over */
  PetscInt   loud;    /* steps until the last sample that is not small */
} BornSource;         /* owner: src/mat/born/survey/wavelet.c */

/* Without a low-pass the traces of a sweep are the data. With a low-pass traces have a number per step */
typedef struct {
  PetscInt    steps;            /* of a sweep: more than the steps of the data with a low-pass */
  PetscInt    every, samples;   /* of traces */
  PetscBool   lowpass;          /* from traces to data: */
  BornLowpass filter;           /* the weights, */
  PetscInt    dataevery, ndata; /* and steps per sample, and samples, of data */
} BornRun;                      /* owner: src/mat/born/survey/lowpass.c */

/* The places of the shots: [n] each */
typedef struct {
  PetscInt    n;
  BornPoints *at, *to; /* the source, the receivers */
} BornPlaces;          /* owner: src/mat/born/survey/points.c */

/* ------------------------------------------------------------ memory of sweeps, which the next sweep uses again */

typedef enum {
  BORN_FIELD_Q,
  BORN_FIELD_X,
  BORN_FIELD_IMAGE
} BornFieldName;

typedef struct {
  void      *u[2], *w[2];
  void      *field[3]; /* real, by name */
  void      *Vrandom;  /* V of each shot, for the background random */
  PetscReal *traces;
  size_t     ntraces;
  double    *factors[2]; /* of sources and data, per shot; NULL: of single shots */
} BornFields;            /* owner: src/mat/born/sweep/fields.c */

/* Two fields at one step of time: u and the previous u */
typedef struct {
  void    *u, *old;
  PetscInt step;
} BornState;

typedef struct {
  BornState *saved; /* [n]; fields may be NULL */
  PetscInt   n, kept, next;
} BornStates; /* owner: src/mat/born/sweep/checkpoint.c */

/* A background in whole numbers. NULL for other backgrounds */
typedef struct {
  double   *scale;   /* [shots of the matrix] whole numbers per unit of the fields; 0: not known yet */
  unsigned *largest; /* the largest whole number, per shot of a stack */
} BornIntegers;      /* owner: src/mat/born/sweep/integers.c */

typedef struct _n_BornBackground BornBackground;

typedef struct {
  const BornBackground *background;
  BornNumber            number; /* of u */
  void                 *data;   /* of keep: q of each interval-th step; of ring: the nodes round the inside at each step */
  size_t                slot;   /* bytes of a step */
  PetscBool             onhost; /* where data are */
} BornStore;                    /* owner: src/mat/born/sweep/background.c */

/* ------------------------------------------------------------ sweeps */

/* What sweeps have of a matrix: settings, data made from the settings, and memory, which alone sweeps change */
typedef struct {
  const BornKernels  *kernels;
  const BornTuning   *tuning;
  const BornSurvey   *survey;
  const BornParallel *parallel;
  const BornGrids    *grids;
  const BornModel    *model;
  const BornSource   *source;
  const BornRun      *run;
  const BornPlaces   *places;
  BornFields         *fields;
  BornStore          *store;
  BornStates         *states;
  BornIntegers       *integers;
} BornParts;

/* Factors of a force: of a single shot, or, where fields are, of each of several shots */
typedef struct {
  double one, *each;
} BornFactors;

/* A sweep over time of one shot, or of several shots together: a variable of a product in sweep.c */
typedef struct {
  BornParts        in;
  PetscInt         n;
  const PetscInt  *shot;      /* [n] in the survey */
  BornGrid         grid;      /* of one shot, or a stack */
  BornPoints       joined[2]; /* sources and receivers of several shots, on the host */
  BornPoints       at, to;    /* where fields are */
  BornState        u, w;
  BornNumber       number; /* of u */
  PetscBool        sponge; /* of u */
  const void      *V;
  double          *unit;  /* the factors of the numbers of u, per shot */
  double           wunit; /* the factor of the numbers of w */
  BornFactors      sources;
  const void      *x; /* dV/V, a field, or NULL: no w forwards */
  void            *image;
  const BornForce *data; /* backwards: the force at the next step of w; NULL: none */
} BornSweep;

/* How the background comes back. q is L u + f */
struct _n_BornBackground {
  MatBornBackground name;
  PetscBool         reversed; /* steps are undone: in whole numbers where fields are in single precision */
  PetscBool         sponge;   /* of u */
  PetscBool         rounds;   /* L u of active steps goes to the store, and J scatters the rounded numbers */

  size_t (*slot)(const BornParts *);                                /* bytes of a step in the store; NULL: no store */
  PetscInt (*slots)(const BornParts *);                             /* how many steps are stored */
  PetscErrorCode (*create)(const BornParts *);                      /* may be NULL */
  PetscErrorCode (*start)(BornSweep *);                             /* before the first step; may be NULL */
  PetscErrorCode (*note)(BornSweep *, PetscInt n);                  /* after step n; may be NULL */
  PetscErrorCode (*back)(BornSweep *, PetscInt n, PetscBool image); /* backwards from step n: image += q w, if asked, and a step of w */
  PetscLogDouble (*bytes)(const BornParts *);                       /* of the stored data */
};

/* ------------------------------------------------------------ parallel/ */

/* The first plane of a process in a group: parts as a DMDA has them by default */
static inline PetscInt BornSlabStart(PetscInt planes, PetscMPIInt rank, PetscMPIInt size)
{
  return planes / size * rank + PetscMin((PetscInt)rank, planes % size);
}

/* split.c: collective on the matrix */
PETSC_INTERN PetscErrorCode BornSplitCreate_Private(DM, const LitheFarmOptions *, BornSplit *);
PETSC_INTERN PetscErrorCode BornParallelDestroy_Private(BornParallel *);

/* groups.c: collective on groups, except for the functions of a shot's rows, which are not collective */
PETSC_INTERN PetscErrorCode BornRowsOpen_Private(const BornSplit *, BornRows *, PetscInt, PetscReal *, PetscBool);
PETSC_INTERN PetscErrorCode BornRowsClose_Private(const BornSplit *, BornRows *, PetscReal *);
PETSC_INTERN PetscErrorCode BornRowsDestroy_Private(BornRows *);
PETSC_INTERN PetscErrorCode BornRowsGet_Private(const BornRows *, PetscMPIInt, PetscInt, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornRowsPut_Private(const BornRows *, PetscMPIInt, PetscInt, PetscInt, const PetscReal *);
PETSC_INTERN PetscErrorCode BornGroupSpread_Private(const BornSplit *, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornGroupUnite_Private(const BornSplit *, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode BornGroupLargest_Private(const BornSplit *, double *);

/* peers.c: collective. peers is NULL if a process cannot read the memory of all other processes. Arrays are on devices:
   x and y have the nodes of vectors */
PETSC_INTERN PetscErrorCode BornPeersCreate_Private(const BornSplit *, DM, BornPeers **);
PETSC_INTERN PetscErrorCode BornPeersDestroy_Private(BornPeers **);
PETSC_INTERN PetscErrorCode BornPeersSpread_Private(BornPeers *, const PetscReal *x, PetscReal *slab);
PETSC_INTERN PetscErrorCode BornPeersReduce_Private(BornPeers *, LitheSums, MPI_Comm, PetscReal *y);

/* slab.c: collective */
PETSC_INTERN PetscErrorCode BornSlabOpen_Private(const BornKernels *, BornParallel *, DM, Vec, const PetscReal **);
PETSC_INTERN PetscErrorCode BornSlabClose_Private(const BornKernels *, const BornParallel *, Vec, const PetscReal **);
PETSC_INTERN PetscErrorCode BornSlabSum_Private(const BornKernels *, BornParallel *, DM, LitheSums, Vec);
PETSC_INTERN PetscErrorCode BornSlabsDestroy_Private(BornSlabs *);

/* exchange.c: collective on groups */
PETSC_INTERN PetscErrorCode BornHalosCreate_Private(const BornParts *, BornHalos **);
PETSC_INTERN PetscErrorCode BornHalosDestroy_Private(BornHalos **);
PETSC_INTERN PetscErrorCode BornHalosGetTransport_Private(const BornHalos *, LitheTransport *, const char **reason);
PETSC_INTERN PetscErrorCode BornExchange_Private(const BornParts *, void *field);
PETSC_INTERN PetscErrorCode BornAdvance_Private(const BornParts *, const BornGrid *, const BornStep *, PetscInt, const BornForce[]);

/* ------------------------------------------------------------ survey/ */

/* points.c */
#define BORN_SINC_RADIUS 4 /* nodes on each side of a point between nodes, per dimension */
PETSC_INTERN PetscErrorCode BornPlacesCreate_Private(MPI_Comm, const BornGrids *, const BornSurvey *, MatBornInterpolation, BornPlaces *);
PETSC_INTERN PetscErrorCode BornPlacesDestroy_Private(BornPlaces *);
PETSC_INTERN PetscErrorCode BornPointsJoin_Private(PetscInt, const BornPoints *const[], PetscInt64, BornPoints *);
PETSC_INTERN PetscErrorCode BornPointsDestroy_Private(BornPoints *);
PETSC_INTERN double         BornKaiser_Private(double, double);

/* wavelet.c */
PETSC_INTERN PetscErrorCode BornSourceCreate_Private(MPI_Comm, const BornParts *, const BornTime *, BornSource *);
PETSC_INTERN PetscErrorCode BornSourceDestroy_Private(const BornKernels *, BornSource *);
PETSC_INTERN double         BornPointsPerWave_Private(const BornGrids *, const BornModel *, const BornTime *, const BornSource *);

/* lowpass.c */
PETSC_INTERN PetscErrorCode BornLowpassOfTime_Private(MPI_Comm, const BornTime *, BornLowpass *);
PETSC_INTERN PetscErrorCode BornRunCreate_Private(MPI_Comm, const BornTime *, BornRun *);
PETSC_INTERN PetscErrorCode BornRunDestroy_Private(BornRun *);

/* ------------------------------------------------------------ sweep/ */

/* The field of a shot of a stack */
static inline void *BornFieldOf(const BornGrid *stack, void *field, size_t bytes, PetscInt shot)
{
  return (char *)field + bytes * (size_t)stack->stride[2] * (size_t)shot;
}

/* fields.c */
PETSC_INTERN PetscErrorCode BornStateStart_Private(BornSweep *, PetscBool second, PetscInt);
PETSC_INTERN PetscErrorCode BornStateCopy_Private(const BornSweep *, const BornState *, BornState *);
PETSC_INTERN PetscErrorCode BornFieldCreate_Private(const BornParts *, void **);
PETSC_INTERN PetscErrorCode BornGetField_Private(const BornSweep *, BornFieldName, void **);
PETSC_INTERN PetscErrorCode BornGetRandom_Private(const BornSweep *, void **);
PETSC_INTERN PetscErrorCode BornGetTraces_Private(const BornSweep *, PetscReal **);
PETSC_INTERN PetscErrorCode BornGetFactors_Private(const BornSweep *, int which, const double[], BornFactors *);
PETSC_INTERN PetscErrorCode BornFieldsDestroy_Private(const BornKernels *, BornFields *);

/* step.c */
PETSC_INTERN void           BornStateSwap_Private(BornState *);
PETSC_INTERN PetscErrorCode BornStepBackground_Private(BornSweep *, BornState *, void *, void *);
PETSC_INTERN PetscErrorCode BornStepBoth_Private(BornSweep *, PetscBool, PetscBool, int, void *, void *);
PETSC_INTERN PetscErrorCode BornStepInside_Private(BornSweep *, PetscInt, void *);
PETSC_INTERN PetscErrorCode BornStepSecond_Private(BornSweep *);
PETSC_INTERN PetscErrorCode BornForceBackground_Private(BornSweep *, PetscInt, BornForce);

/* traces.c */
PETSC_INTERN PetscLogDouble BornTracesBytes_Private(const BornParts *);
PETSC_INTERN PetscInt       BornTracesSample_Private(const BornSweep *, PetscInt);
PETSC_INTERN PetscErrorCode BornTracesOpen_Private(BornSweep *, PetscReal *, PetscBool, PetscReal **);
PETSC_INTERN PetscErrorCode BornTracesClose_Private(BornSweep *, PetscReal *, PetscBool, PetscReal **);
PETSC_INTERN PetscErrorCode BornTracesTurn_Private(BornSweep *, PetscReal *, const PetscReal *);

/* begin.c */
PETSC_INTERN PetscErrorCode BornUnit_Private(const BornParts *, size_t, const PetscReal *, double *);
PETSC_INTERN PetscErrorCode BornSweepBegin_Private(const BornParts *, PetscInt, const PetscInt[], PetscBool, BornSweep *);
PETSC_INTERN PetscErrorCode BornSweepStart_Private(BornSweep *);
PETSC_INTERN PetscErrorCode BornSweepSetSource_Private(BornSweep *);
PETSC_INTERN PetscErrorCode BornSweepEnd_Private(BornSweep *);

/* integers.c */
PETSC_INTERN PetscErrorCode BornIntegersCreate_Private(const BornParts *);
PETSC_INTERN PetscErrorCode BornIntegersDestroy_Private(const BornKernels *, BornIntegers *);
PETSC_INTERN PetscErrorCode BornIntegersShare_Private(const BornParts *);
PETSC_INTERN PetscErrorCode BornIntegersScale_Private(BornSweep *);
PETSC_INTERN PetscErrorCode BornIntegersRescale_Private(BornSweep *, PetscBool *);

/* checkpoint.c, keep.c, reverse.c */
PETSC_INTERN const BornBackground BornCheckpoint, BornKeep, BornRingBackground, BornRandom;
PETSC_INTERN PetscErrorCode       BornStatesDestroy_Private(const BornKernels *, BornStates *);

/* background.c */
PETSC_INTERN PetscErrorCode BornChooseBackground_Private(const BornParts *);
PETSC_INTERN PetscErrorCode BornChooseBatch_Private(const BornParts *, PetscInt *);
PETSC_INTERN PetscErrorCode BornStoreCreate_Private(const BornParts *);
PETSC_INTERN PetscErrorCode BornStoreOpen_Private(const BornParts *);
PETSC_INTERN PetscErrorCode BornStoreDestroy_Private(const BornKernels *, BornStore *);

/* sweep.c: products with some shots, as many as a stack may have. Grid arrays may be in any memory, data are on the
   host, shot by shot; unused arrays are NULL. A product adds to the image of each shot */
typedef PetscErrorCode (*BornProduct)(BornSweep *, const PetscReal *model, PetscReal *data, PetscReal *const image[]);
PETSC_INTERN PetscErrorCode BornSweepModel_Private(BornSweep *, const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepForward_Private(BornSweep *, const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepAdjoint_Private(BornSweep *, const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepNormal_Private(BornSweep *, const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepIllumination_Private(BornSweep *, const PetscReal *, PetscReal *, PetscReal *const[]);
PETSC_INTERN PetscErrorCode BornSweepRun_Private(const BornParts *, BornProduct, PetscInt n, const PetscInt shot[], const PetscReal *model, PetscReal *data,
                                                 PetscReal *const image[]);
