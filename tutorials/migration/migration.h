/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Migration of a seismic survey in the frequency domain: docs/guide/migration.md.

   The model and the image have n[] nodes with spacing h; in 2-D n[1] = 1. Coordinates are x, y and depth in m, from the
   corner of the model. Waves of each frequency have their own grid, chosen by the wavelength. Data are the part of the
   records which the background does not explain.
*/

#include <lithe.h>
#include <petscksp.h>
#include "imagingdevice.h"
#include <tutorials/common/gridfile.h>
#include <tutorials/helmholtz/problem.h>

typedef enum {
  MIGRATION_FLAT,
  MIGRATION_LAYERS,
  MIGRATION_MARMOUSI,
  MIGRATION_THRUST,
  MIGRATION_OVERTHRUST,
  MIGRATION_FILE
} MigrationModel;
extern const char *const MigrationModels[];

typedef enum {
  MIGRATION_REFLECTIVITY, /* half the change of log(velocity) with the depth, where waves run up and down */
  MIGRATION_PERTURBATION  /* (v^2 - background^2) / background^2 */
} MigrationImage;
extern const char *const MigrationImages[];

typedef enum {
  MIGRATION_NONE,
  MIGRATION_SOURCE,
  MIGRATION_RECEIVER,
  MIGRATION_BOTH
} MigrationIllumination;
extern const char *const MigrationIlluminations[];

typedef struct {
  PetscReal source[3];
  PetscInt  nreceivers, first; /* first: the shot's first receiver in data, where shots follow one another */
  PetscInt  at;                /* first receiver in places */
} MigrationShot;

/* Parameters of the resolution of a frequency's grid */
typedef struct {
  PetscReal        pointsperwave;
  HelmholtzStencil stencil;
  PetscInt         layer;
  PetscReal        reflection;
} MigrationGrid;

typedef struct {
  MPI_Comm       comm;
  MigrationModel model;
  PetscInt       dim, n[3];
  PetscInt64     nodes;
  PetscReal      h, length[3], smooth;
  char           file[PETSC_MAX_PATH_LEN], backgroundfile[PETSC_MAX_PATH_LEN], dataset[PETSC_MAX_PATH_LEN], axes[8], records[PETSC_MAX_PATH_LEN];
  GridFileFormat format;
  PetscReal     *velocity, *background; /* [nodes], x fastest; on all processes */
  PetscReal      slowest[2];            /* of the background; of background and model */

  PetscInt   nfrequencies;
  PetscReal *frequency, band[3]; /* Hz; the band: first, last, step */
  PetscReal  ricker, delay;      /* Hz of the wavelet's peak, s */
  PetscReal  alpha;              /* damping of the medium */

  PetscInt       nshots, every[2], nreceivers; /* nreceivers: of all shots together */
  PetscInt       nplaces[2];                   /* of a generated survey: receivers in x and y */
  PetscReal      spacing[2], shotspacing;      /* m, of receivers and shots; 0: by every[] and by nshots */
  PetscReal      depth[2];                     /* of sources and of receivers */
  MigrationShot *shot;
  PetscReal     *place; /* of receivers, 3 coordinates each */
  PetscScalar   *data;  /* [nfrequencies][nreceivers], from records; NULL: tasks model the data */

  MigrationGrid         grid[2];                  /* of the image's waves, and of the waves which model data */
  PetscReal             beta[2];                  /* of the shifted Laplacian */
  PetscInt              batch, least, hostgroups; /* hostgroups: the last groups of the run, which leave devices alone */
  PetscReal             hostslowness;             /* of these groups: a guess until their first task is done */
  PetscBool             host;                     /* whether this process is in a group of them */
  MigrationImage        image;
  MigrationIllumination illumination;
  PetscReal             mute;
  PetscBool             laplacian;
  PetscInt              at[3]; /* the node where the sections of picture and movie meet */
} Migration;

/* geometry.c: options, velocities, places */
PETSC_INTERN PetscErrorCode MigrationSetFromOptions(MPI_Comm, Migration *);
PETSC_INTERN PetscErrorCode MigrationSetUp(Migration *);
PETSC_INTERN PetscErrorCode MigrationDestroy(Migration *);
/* The velocity at a place between nodes; outside the model the boundary values continue */
PETSC_INTERN PetscReal MigrationSpeed(const Migration *, const PetscReal velocity[], const PetscReal place[3]);
/* The source wavelet's value at a frequency */
PETSC_INTERN PetscScalar MigrationWavelet(const Migration *, PetscReal frequency);
/* Points and spacing of a frequency's grid; which: of the image (0) or the data (1) */
PETSC_INTERN PetscErrorCode MigrationGetGrid(const Migration *, int which, PetscReal frequency, PetscInt n[3], PetscReal *h);

static inline PetscScalar MigrationComplex(PetscReal re, PetscReal im)
{
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX(re, im);
#else
  (void)im;
  return re;
#endif
}

/* sections.c: planes of the image through the node at[] */
typedef struct {
  int      fixed;       /* the dimension across the plane */
  PetscInt at;          /* its node there */
  PetscInt first[3];    /* a slab of the plane and its neighbours */
  PetscInt n[3], start; /* start: its place among the numbers of all sections */
} MigrationSection;

/* The number of sections: 3, in 2-D 1 */
PETSC_INTERN int      SectionsGet(const Migration *, MigrationSection section[3]);
PETSC_INTERN PetscInt SectionsSize(const Migration *);
/* Raw sums of the image in the slabs, from count planes in z of the sums of a task */
PETSC_INTERN void SectionsTake(const Migration *, PetscInt first, PetscInt count, const PetscReal sum[], PetscReal value[]);

/* traces.c: shots and data in SEG-Y files */
PETSC_INTERN PetscErrorCode TracesReadShots(Migration *);
PETSC_INTERN PetscErrorCode TracesReadData(Migration *);
/* On the first process: writes data[nfrequencies][nreceivers] as traces, with one period of the frequency step */
PETSC_INTERN PetscErrorCode TracesWrite(const Migration *, const PetscScalar data[], const char path[]);

/* waves.c: waves of a frequency on a group of processes */
typedef struct {
  const Migration *m;
  const PetscReal *velocity;
  MPI_Comm         comm;
  Helmholtz        problem;
  Grid             grid;
  const char      *prefix;
  Mat              A, M;
  KSP              ksp[2]; /* the second solver, for failed solves, is made on demand */
  Vec              work;
  VecScatter       scatter; /* to the planes of this process' image */
  Vec              box;
  PetscInt         boxn[3], *node[3], first, count; /* of the box; per node of the image, its first node in the box; planes of the image */
  PetscReal       *weight[3];                       /* 4 for each */
  PetscScalar     *line[2];
  PetscBool        ondevice; /* whether waves are imaged on the device */
  ImagingDevice    device;
} Waves;

PETSC_INTERN PetscErrorCode WavesCreate(MPI_Comm, const Migration *, int which, PetscReal frequency, const PetscReal velocity[], const char prefix[], Waves **);
PETSC_INTERN PetscErrorCode WavesDestroy(Waves **);
/* The given number of zero columns */
PETSC_INTERN PetscErrorCode WavesCreateColumns(const Waves *, PetscInt columns, Mat *);
/* Adds a point source to a column; array: entries of this process, in the layout of DMCreateGlobalVector() */
PETSC_INTERN PetscErrorCode WavesAddSource(const Waves *, const PetscReal place[3], PetscScalar strength, PetscScalar array[]);
/* This process' part of the field at a place; the field is the sum over processes */
PETSC_INTERN PetscScalar WavesGetAt(const Waves *, const PetscReal place[3], const PetscScalar array[]);
/* *failed, on all processes: some column did not converge. careful: twice the iterations, and an uncompressed
   preconditioner */
PETSC_INTERN PetscErrorCode WavesSolve(Waves *, Mat B, Mat X, PetscBool careful, PetscBool *failed);
/* The planes first, ..., first + count - 1 of the image for WavesGetImage(), the field at their nodes */
PETSC_INTERN PetscErrorCode WavesSetImage(Waves *, PetscInt first, PetscInt count);
PETSC_INTERN PetscErrorCode WavesGetImage(Waves *, Vec field, PetscScalar image[]);
/* Adds the image of n waves and n adjoint waves, the columns of X, to sum on the device and then on the host; only if
   ondevice */
PETSC_INTERN PetscErrorCode WavesAddImages(Waves *, PetscReal frequency, PetscInt n, Mat X, PetscReal sum[]);

/* tasks.c: the whole migration, by a farm */
typedef struct {
  PetscInt   frequency, first, count; /* of shots */
  PetscReal *piece;                   /* data and a section of the image, if requested */
} MigrationTask;

typedef struct {
  Migration       *m;
  LitheFarmOptions farming;
  PetscBool        wantdata, wantsections;
  PetscInt         ntasks;
  MigrationTask   *task;
  LitheFarm        farm;
  LitheFarmGroup   group;
  PetscInt         first, count, now; /* planes of this process; the frequency of waves[] */
  Waves           *waves[3];          /* waves[0]: background, for the image; waves[1], waves[2]: both velocities, for the data */
  PetscScalar     *field[2], *values;
  PetscReal       *sums; /* on the first process: image and two illuminations of each node */
  LitheFarmResult  result;
} MigrationJob;

PETSC_INTERN PetscErrorCode JobCreate(Migration *, const LitheFarmOptions *, PetscBool wantdata, PetscBool wantsections, MigrationJob *);
PETSC_INTERN PetscErrorCode JobRun(MigrationJob *);
PETSC_INTERN PetscErrorCode JobView(const MigrationJob *);
/* On the first process: data of all frequencies, zeros where tasks are missing */
PETSC_INTERN PetscErrorCode JobGetData(const MigrationJob *, PetscScalar **data);
PETSC_INTERN PetscErrorCode JobDestroy(MigrationJob *);

/* imaging.c */
PETSC_INTERN PetscErrorCode ImagingAdd(const Migration *, PetscReal frequency, PetscInt first, PetscInt count, const PetscScalar u[],
                                       const PetscScalar lambda[], PetscReal sum[]);
/* The image of sums: weights, filter, mute. image[nodes] */
PETSC_INTERN PetscErrorCode ImagingFinish(const Migration *, const PetscReal sums[], PetscReal image[]);
/* The divisor of each node of the image, up to a constant; NULL: 1. The caller frees the array */
PETSC_INTERN PetscErrorCode ImagingGetWeights(const Migration *, const PetscReal sums[], PetscReal **weight);
/* The numbers of ImagingFinish() in the plane of a section, from raw sums of its slab. image[nodes of the plane] */
PETSC_INTERN PetscErrorCode ImagingFinishSection(const Migration *, const MigrationSection *, const PetscReal weight[], const PetscReal raw[],
                                                 PetscReal image[]);
PETSC_INTERN PetscErrorCode ImagingReflectivity(const Migration *, PetscReal reflectivity[]);
/* The cosine of the angle between image and reflectivity, where nothing is muted */
PETSC_INTERN PetscReal ImagingCorrelate(const Migration *, const PetscReal image[], const PetscReal reflectivity[]);

/* migrationpicture.c: on the first process */
PETSC_INTERN PetscErrorCode MigrationWritePicture(const MigrationJob *, const PetscReal image[], const char path[]);
/* Collective. The image fills up, in at most so many frames */
PETSC_INTERN PetscErrorCode MigrationWriteMovie(const MigrationJob *, const char path[], PetscInt most);
