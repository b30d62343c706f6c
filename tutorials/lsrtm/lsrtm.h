/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A seismic survey, and images of the ground: MATBORN and PETSc's solvers.

   The model has n[] nodes, in 2-D of x and z. The grid of the waves is the model with a sponge, pad[] nodes at the first
   faces. Coordinates of sources and receivers count from the corner of the model. In MATBORN coordinates count from the
   corner of the grid.
*/

#include <lithe.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <tutorials/common/gridfile.h>

#define LSRTM_ITERATIONS 200 /* at most */

typedef enum {
  LSRTM_LAYERS,
  LSRTM_MARMOUSI,
  LSRTM_OVERTHRUST,
  LSRTM_FILE
} LsrtmModel;
extern const char *const LsrtmModels[];

typedef enum {
  LSRTM_LSQR, /* KSPLSQR with J */
  LSRTM_CG,   /* KSPCG with the normal operator */
  LSRTM_L1    /* TAOBRGN, with the sum of magnitudes of the image */
} LsrtmMethod;
extern const char *const LsrtmMethods[];

typedef struct {
  MPI_Comm       comm;
  LsrtmModel     model;
  PetscInt       dim, n[3], N[3], pad[3], width; /* N: with the sponge */
  PetscReal      h, smooth;                      /* smooth: length over which the background is the model's mean, m */
  PetscBool      surface;
  PetscInt       order;
  PetscReal      frequency, time, dt;
  PetscInt       steps, every;
  PetscInt       nshots, step[2]; /* step: nodes between receivers along x and y */
  PetscReal      depth;           /* of sources and receivers, m */
  PetscBool      born;            /* data are J times the reflectivity, not differences of modelled data */
  char           file[PETSC_MAX_PATH_LEN], dataset[PETSC_MAX_PATH_LEN], axes[8];
  GridFileFormat format;
  char           records[PETSC_MAX_PATH_LEN]; /* to read */
  PetscInt       at[3];                       /* the node of the model where the sections of a picture meet */

  /* made by SurveySetUp() */
  DM        da;
  Vec       velocity, background, reflectivity;
  Mat       J;
  Vec       data;    /* the data without the data of the background */
  PetscReal seconds; /* of a shot, in modelling; 0: data were read */
} Survey;

PETSC_INTERN PetscErrorCode SurveySetFromOptions(MPI_Comm, Survey *);
PETSC_INTERN PetscErrorCode SurveySetUp(Survey *);
PETSC_INTERN PetscErrorCode SurveyView(const Survey *);
PETSC_INTERN PetscErrorCode SurveyDestroy(Survey *);
/* Seconds of a shot, by the seconds of a product */
PETSC_INTERN PetscReal SurveyShotSeconds(const Survey *, double seconds);
/* How alike an image and the reflectivity are, -1 to 1: below the water and without the sponge */
PETSC_INTERN PetscErrorCode SurveyCorrelate(const Survey *, Vec image, PetscReal *correlation);

/* records.c: shots and data in SEG-Y */
PETSC_INTERN PetscErrorCode RecordsWrite(const Survey *, Vec data, const char path[]);
PETSC_INTERN PetscErrorCode RecordsReadShots(Survey *); /* adds them to J; sets dt, every and steps, for which the largest dt is in dt */
PETSC_INTERN PetscErrorCode RecordsReadData(const Survey *, Vec data);

/* least.c: an image with data near the survey's data */
typedef struct {
  LsrtmMethod    method;
  PetscInt       iterations;                   /* asked for, then made */
  PetscReal      misfit[LSRTM_ITERATIONS + 1]; /* |J image - data| / |data| after each */
  PetscReal      l1;                           /* weight, relative to the least weight at which the image vanishes */
  PetscBool      scale;                        /* by the illumination */
  PetscReal      limit;                        /* seconds from `start` in which the program shall end, 0: any */
  PetscLogDouble start;                        /* PetscTime() when the program began */
  PetscReal      seconds;
} Least;
PETSC_INTERN PetscErrorCode LeastSolve(const Survey *, Least *, Vec illumination, Vec image);

/* lsrtmpicture.c */
PETSC_INTERN PetscErrorCode SurveyWritePicture(const Survey *, const Least *, Vec rtm, Vec image, Vec residual, const char path[]);
