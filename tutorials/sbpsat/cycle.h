/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What the files of the program cycle share. Units are those of SI; z is the depth. docs/guide/earthquake.md has the
   equations
*/

#include <lithemat.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petscts.h>
#include <tutorials/common/friction.h>

#define CYCLE_YEAR (365.25 * 86400)

/* ------------------------------------------------------------ cyclerock.c: the numbers of a problem */

typedef struct {
  PetscReal  rho, cs, basin[3]; /* basin: half-width, depth, shear modulus inside; or 0 */
  PetscReal *mu, spacing;       /* the shear modulus on a grid of n[] nodes along x and z; or NULL */
  PetscInt   n[2];
} CycleRock;

/* Friction: a = a0 above the depth H, and rises to amax at H + h */
typedef struct {
  PetscReal sigma, a0, amax, b, Dc, V0, f0, H, h;
  PetscReal Wf, Vp, Vinit; /* friction above the depth Wf; below, the fault moves with the plate, Vp */
} CycleLaw;

PETSC_INTERN PetscErrorCode CycleRockFromOptions(MPI_Comm, const char problem[], CycleRock *, CycleLaw *);
PETSC_INTERN PetscErrorCode CycleRockDestroy(CycleRock *);
/* What a file of results depends on, as text */
PETSC_INTERN PetscErrorCode CycleRockDescribe(const CycleRock *, size_t size, char text[]);
PETSC_INTERN PetscErrorCode CycleLawDescribe(const CycleLaw *, size_t size, char text[]);
PETSC_INTERN PetscReal      CycleRockModulus(const CycleRock *, PetscReal x, PetscReal z);
/* The law of a node at this depth, with the shear modulus mu there */
PETSC_INTERN Friction CycleRockFriction(const CycleRock *, const CycleLaw *, PetscReal z, PetscReal mu);
/* The first stress, which is the same at all depths but for radiation damping */
PETSC_INTERN PetscReal CycleLawStress(const CycleLaw *, const Friction *);

/* ------------------------------------------------------------ cyclegrid.c: the rock around the fault */

typedef enum {
  CYCLE_CONFOCAL,
  CYCLE_BOX,
  CYCLE_CURVED
} CycleGridKind;
extern const char *const CycleGridKinds[];

/* Reference coordinates (r, s) are in [-1, 1]^2. The fault is the left face, the surface of the earth the bottom face */
typedef struct {
  CycleGridKind kind;
  PetscInt      n[2], order;
  PetscReal     cell, far, c; /* of the fault at the surface; distance of the far side; depth of the foci */
  PetscReal     stretch;      /* of the box: sinh(stretch X), X in [0, 1]; 0 for equal cells */
  PetscReal     angle;        /* of the confocal grid: the largest s */
  PetscBool     plate;        /* the far side moves with the plate, or is free of tractions */
} CycleShape;

typedef struct {
  CycleShape shape;
  DM         da;
  Mat        A;
  PetscInt   n, own, first;             /* nodes with friction: all, of this process, and the first of this process */
  PetscReal *depth, *weight, *mu;       /* of own nodes. weight: of integrals along the fault, in m */
  PetscReal  below;                     /* depth of the first node without friction */
  Vec        fault;                     /* a vector of all nodes with friction, on the host */
  VecScatter toface;                    /* from vectors of da to vectors of the fault */
  PetscReal  cell[2], distance, aspect; /* shortest and longest cell with friction, the far side, the worst cell */
} CycleGrid;

/* square: a square of -far metres, friction along all of the fault, u given on the right face: the manufactured problem */
PETSC_INTERN PetscErrorCode CycleGridCreate(MPI_Comm, const CycleRock *, const CycleLaw *, PetscBool square, CycleGrid *);
PETSC_INTERN PetscErrorCode CycleGridDestroy(CycleGrid *);
PETSC_INTERN PetscErrorCode CycleGridDescribe(const CycleGrid *, size_t size, char text[]);
PETSC_INTERN PetscErrorCode CycleGridView(const CycleGrid *, MPI_Comm);
/* x and z of the node (i, j) */
PETSC_INTERN void CycleGridNode(const CycleShape *, PetscInt i, PetscInt j, PetscReal at[2]);
/* value(x, z) at all nodes */
typedef PetscReal           CycleFunction(void *ctx, PetscReal x, PetscReal z);
PETSC_INTERN PetscErrorCode CycleGridFill(const CycleGrid *, CycleFunction *, void *ctx, Vec);

/* ------------------------------------------------------------ elastic.c: from slip to stress */

/*
   w = u - Vp t/2 solves the equation of equilibrium with w = (slip - Vp t)/2 on the fault. The stress on the fault
   changes by -mu dw/dn, which is linear: K (slip - Vp t)
*/
typedef struct {
  const CycleGrid *grid;
  KSP              ksp;
  Vec              u, b, g, t;       /* of the DMDA. u: the last solution, and the next guess */
  Vec              load, loadstress; /* further data at unit load: right-hand side, and their stress; or NULL */
  Mat              K;                /* or NULL */
  PetscInt64       solves, iterations;
  PetscLogDouble   seconds; /* of solves */
} Elastic;

/* rtol: of solves, unless options tell */
PETSC_INTERN PetscErrorCode ElasticCreate(const CycleGrid *, PetscReal rtol, Elastic *);
/* Data besides the slip, at unit load: b is kept */
PETSC_INTERN PetscErrorCode ElasticSetLoad(Elastic *, Vec b);
/* Computes K by a solve per node, or reads it. path: a file that has K, or receives it; or empty. text: what K is for */
PETSC_INTERN PetscErrorCode ElasticMakeMatrix(Elastic *, const char path[], const char text[]);
/* The change of stress by slip - Vp t, vectors of the fault */
PETSC_INTERN PetscErrorCode ElasticStress(Elastic *, Vec slip, PetscReal load, Vec stress);
/* u, of the DMDA, for this slip */
PETSC_INTERN PetscErrorCode ElasticSolve(Elastic *, Vec slip, PetscReal load);
PETSC_INTERN PetscErrorCode ElasticDestroy(Elastic *);

/* ------------------------------------------------------------ cyclemms.c: a manufactured solution */

typedef struct {
  PetscReal Vp, mu;
  PetscReal D, width, depth, event, rise; /* slip, decay along x and z, time and duration of the event */
  Elastic  *elastic;
} CycleMMS;

PETSC_INTERN PetscErrorCode CycleMMSCreate(const CycleRock *, const CycleLaw *, Elastic *, CycleMMS *);
/* The factor of the data besides slip */
PETSC_INTERN PetscReal CycleMMSLoad(const CycleMMS *, PetscReal t);
/* State and slip, and the source of the equation of the state */
/* The largest error of the displacement that the elastic solver has */
PETSC_INTERN PetscErrorCode CycleMMSError(const CycleMMS *, PetscReal t, PetscReal *error);
PETSC_INTERN void           CycleMMSState(const CycleMMS *, const Friction *, PetscReal tau0, PetscReal z, PetscReal t, PetscReal y[2], PetscReal *source);

/* ------------------------------------------------------------ cyclerates.c: the system of ordinary equations */

typedef enum {
  CYCLE_SLIP,
  CYCLE_LOGV, /* natural logarithm of the slip rate */
  CYCLE_TAU,  /* strength and radiation damping */
  CYCLE_PSI,
  CYCLE_FIELDS
} CycleField;

/* State and slip of node i are y[2 i] and y[2 i + 1] */
typedef struct {
  const CycleLaw  *law;
  const CycleGrid *grid;
  Elastic         *elastic;
  const CycleMMS  *mms;      /* or NULL */
  Friction        *friction; /* of own nodes */
  PetscReal       *tau0, *logV;
  Vec              slip, stress;  /* of the fault; slip minus that of the plate */
  Vec              fields, rates; /* of the last call, [node][field] and as y */
  PetscReal        time;          /* of the last call */
  Vec              held;          /* the rates of y at the time holdtime, if holds */
  PetscReal        holdtime;
  PetscBool        holds;
  PetscInt64       calls;
  PetscLogStage    stage[2]; /* elastic, friction */
} CycleRates;

PETSC_INTERN PetscErrorCode CycleRatesCreate(const CycleLaw *, const CycleRock *, const CycleGrid *, Elastic *, const CycleMMS *, CycleRates *);
PETSC_INTERN PetscErrorCode CycleRatesDestroy(CycleRates *);
/* y at the time 0 */
PETSC_INTERN PetscErrorCode CycleRatesBegin(const CycleRates *, Vec *y);
/* slip of the CycleRates from y */
PETSC_INTERN PetscErrorCode CycleRatesLag(CycleRates *, PetscReal t, Vec y);
/* For TSSetRHSFunction(), with the CycleRates */
PETSC_INTERN PetscErrorCode CycleRatesFunction(TS, PetscReal, Vec, Vec, void *ctx);
/* Whether rates at y can be computed */
PETSC_INTERN PetscErrorCode CycleRatesDomain(const CycleRates *, Vec y, PetscBool *);
/* The fields at y, without a new solve if the last stage of the step was there */
PETSC_INTERN PetscErrorCode CycleRatesFields(CycleRates *, TS, PetscReal t, Vec y);
/* Keeps the rates of the last call, which was for the state at this time */
PETSC_INTERN PetscErrorCode CycleRatesHold(CycleRates *, TS, PetscReal t);
/* Errors of slip, state and displacement; mms */
PETSC_INTERN PetscErrorCode CycleRatesErrors(CycleRates *, Vec y);

/* ------------------------------------------------------------ cyclepicture.c */

/* Draws the displacement for y near the fault, and the shear modulus if that is not the same everywhere */
PETSC_INTERN PetscErrorCode CyclePicture(const char path[], CycleRates *, const CycleRock *, PetscReal t, Vec y);

/* ------------------------------------------------------------ cyclestep.c: all nodes on the first process */

typedef struct {
  PetscInt   n; /* 0 on the other processes */
  PetscInt   step;
  PetscInt64 calls;
  PetscReal  time;
  PetscReal  logmax; /* ln of the largest slip rate, which is that of the node where */
  PetscInt   where;
  PetscReal *depth, *weight, *mu; /* [n] */
  PetscReal *field[CYCLE_FIELDS]; /* [n] */
  Vec        all;
  VecScatter gather;
} CycleStep;

PETSC_INTERN PetscErrorCode CycleStepCreate(const CycleGrid *, const CycleRates *, CycleStep *);
PETSC_INTERN PetscErrorCode CycleStepGather(const CycleRates *, PetscReal t, PetscInt step, CycleStep *);
PETSC_INTERN PetscErrorCode CycleStepDestroy(CycleStep *);

/* ------------------------------------------------------------ cycleevents.c: earthquakes. First process */

/* Only numbers, which a checkpoint keeps */
typedef struct {
  PetscReal count, open, closing;                 /* closing: an event that has ended, and may go on */
  PetscReal begin, end, peak, where, step, calls; /* where: a node; step, calls: at the begin */
  PetscReal surface, most, steps, stages;         /* slip, and what the event took */
  PetscReal time, logmax;                         /* of the step before */
} CycleEventNumbers;

typedef struct {
  CycleEventNumbers now;
  PetscReal        *slip; /* at the begin of the event */
} CycleEvents;

/* n: all nodes */
PETSC_INTERN PetscErrorCode CycleEventsCreate(PetscInt n, CycleEvents *);
/* file: receives a line per event, or NULL */
PETSC_INTERN PetscErrorCode CycleEventsFollow(CycleEvents *, const CycleStep *, FILE *file);
/* The end of the run: the last event, if it has ended */
PETSC_INTERN PetscErrorCode CycleEventsFinish(CycleEvents *, const CycleStep *, FILE *file);
PETSC_INTERN PetscErrorCode CycleEventsDestroy(CycleEvents *);

/* ------------------------------------------------------------ cycleoutput.c: files. First process */

#define CYCLE_STATIONS_MAX 32
#define CYCLE_FILES_MAX    (CYCLE_STATIONS_MAX + 3)

/* Only numbers, which a checkpoint keeps */
typedef struct {
  PetscReal line;                      /* time of the last line of stations */
  PetscReal year, second;              /* numbers of the next contours */
  PetscReal position[CYCLE_FILES_MAX]; /* lengths of files */
} CycleOutputNumbers;

typedef struct {
  const char        *problem;
  char               folder[PETSC_MAX_PATH_LEN];
  PetscReal          contour[2], interval, station[CYCLE_STATIONS_MAX], cell, density;
  PetscInt           nstations;
  FILE              *file[CYCLE_FILES_MAX]; /* stations, then: */
  int                files, global, slip, events;
  PetscBool          resumed;
  CycleOutputNumbers now;
  PetscReal          time, logmax, *before[2]; /* of the step before: time, ln of the largest slip rate, slip and slip rate */
} CycleOutput;

PETSC_INTERN PetscErrorCode CycleOutputFromOptions(MPI_Comm, const char problem[], CycleOutput *);
/* resumed: the numbers of a checkpoint, or NULL */
PETSC_INTERN PetscErrorCode CycleOutputOpen(CycleOutput *, const CycleGrid *, const CycleStep *, const CycleOutputNumbers *resumed);
PETSC_INTERN FILE          *CycleOutputEvents(const CycleOutput *);
PETSC_INTERN PetscErrorCode CycleOutputStep(CycleOutput *, const CycleRates *, const CycleEvents *, const CycleStep *);
/* After a restart, in place of a first step */
PETSC_INTERN PetscErrorCode CycleOutputKeep(CycleOutput *, const CycleStep *);
/* Before a checkpoint */
PETSC_INTERN PetscErrorCode CycleOutputFlush(CycleOutput *);
PETSC_INTERN PetscErrorCode CycleOutputClose(CycleOutput *);

/* ------------------------------------------------------------ cyclecheckpoint.c */

typedef struct {
  CycleRates  *rates;
  CycleEvents *events;
  CycleOutput *output;
  const char  *text; /* what the numbers belong to */
} CycleCheckpoint;

PETSC_INTERN PetscErrorCode CycleCheckpointWrite(const CycleCheckpoint *, const char path[], TS, Vec y);
/* Sets time, step and its number of TS, y, and all that the next step needs */
PETSC_INTERN PetscErrorCode CycleCheckpointRead(const CycleCheckpoint *, const char path[], TS, Vec y, CycleOutputNumbers *);
