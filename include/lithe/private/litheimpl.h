/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Declarations for every class of the package: log events, hidden options, and the registration functions.
*/

#include <lithesys.h>
#include <petscmat.h>

/* src/sys/log.c: log events. -log_view lists these names without the underscore, for example MatVCRSCompress */
PETSC_INTERN PetscLogEvent MAT_VCRSCompress;     /* AIJ arrays to a plan, on the host or the device */
PETSC_INTERN PetscLogEvent MAT_VCRSMaterialize;  /* a plan back to AIJ arrays */
PETSC_INTERN PetscLogEvent MAT_VCRSUpload;       /* a plan from the host to the device */
PETSC_INTERN PetscLogEvent MAT_HYBMGPUFormat;    /* the format of a MATHYBMGPU from its pattern */
PETSC_INTERN PetscLogEvent MAT_BornModel;        /* MatBornModel() */
PETSC_INTERN PetscLogEvent MAT_BornIllumination; /* MatBornGetIllumination() */
PETSC_INTERN PetscLogEvent MAT_SBPSATBuild;      /* coefficients and penalties of a MATSBPSAT */
PETSC_INTERN PetscLogEvent PC_CAMGRead;          /* the set-up of a PCCAMG: rows and near null space */
PETSC_INTERN PetscLogEvent PC_CAMGAggregate;     /* strong entries, aggregates */
PETSC_INTERN PetscLogEvent PC_CAMGInterpolate;   /* interpolation */
PETSC_INTERN PetscLogEvent PC_CAMGProduct;       /* coarse matrices */
PETSC_INTERN PetscLogEvent PC_CAMGEncode;        /* codes, bounds of smoothers */
PETSC_INTERN PetscLogEvent PC_GridMGRead;        /* the set-up of a PCGRIDMG: the grid, faces and row sums from the matrix */
PETSC_INTERN PetscLogEvent PC_GridMGCoarsen;     /* coarse levels, and codes */
PETSC_INTERN PetscLogEvent PC_GridMGCoarsest;    /* the inverse of the coarsest level */
PETSC_INTERN PetscLogEvent PC_SBPMGArrays;       /* the set-up of a PCSBPMG: memory, the finest operator rounded */
PETSC_INTERN PetscLogEvent PC_SBPMGCoarsen;      /* coarse operators and their diagonals */
PETSC_INTERN PetscLogEvent PC_SBPMGCoarsest;     /* the coarsest level */
PETSC_INTERN PetscLogEvent PC_SBPMGSpectra;      /* bounds of spectra */

PETSC_INTERN PetscErrorCode LitheLogEventsRegisterAll(void);

/*
   src/sys/options.c: while the database is hidden, options without a prefix (-mat_view, -mat_vcrs_loss) do not affect
   objects created inside
*/
PETSC_INTERN PetscErrorCode LitheOptionsHide(PetscOptions *);
PETSC_INTERN PetscErrorCode LitheOptionsShow(PetscOptions *);

/*
   src/sys/citations.c: references for -citations. A class calls LitheCite() when it is used: in its set-up or its solve
*/
#define LITHE_CITE_VCRS           (1U << 0) /* MATVCRS, PCVCRS */
#define LITHE_CITE_SWEEPS         (1U << 1) /* PCVCRS, triangles by Jacobi's method */
#define LITHE_CITE_FACTOR         (1U << 2) /* MATSOLVERLITHE */
#define LITHE_CITE_HYBMGPU        (1U << 3)
#define LITHE_CITE_CBGMRES        (1U << 4)
#define LITHE_CITE_FRSZ2          (1U << 5) /* KSPCBGMRES, the storage */
#define LITHE_CITE_BCGSM          (1U << 6)
#define LITHE_CITE_AGGREGATION    (1U << 7) /* PCGRIDMG */
#define LITHE_CITE_ZEEUW          (1U << 8) /* PCGRIDMG */
#define LITHE_CITE_KCYCLE         (1U << 9)
#define LITHE_CITE_CHEBYSHEV4     (1U << 10)
#define LITHE_CITE_SBPSAT         (1U << 11)
#define LITHE_CITE_SBPMG          (1U << 12)
#define LITHE_CITE_FULLMG         (1U << 13)
#define LITHE_CITE_UNIFORMIZATION (1U << 14)
#define LITHE_CITE_NEGLIGIBLE     (1U << 15) /* TSUNIFORMIZATION, states left out */
#define LITHE_CITE_INTERVALS      (1U << 16) /* TSUNIFORMIZATION, the method */
#define LITHE_CITE_BORN           (1U << 17)
#define LITHE_CITE_CHECKPOINTS    (1U << 18) /* MATBORN, the background */
#define LITHE_CITE_CAMG           (1U << 19)
#define LITHE_CITE_MPCG           (1U << 20)
PETSC_INTERN PetscErrorCode LitheCite(unsigned int);
PETSC_INTERN void           LitheCitationsReset(void);

/* src/sys/memory.c: how much memory of the host may be allocated */
PETSC_INTERN PetscErrorCode LitheGetFreeMemory(size_t *);

/* src/sys/square.c: an error for a rectangular matrix, for a PC or KSP that needs a square matrix */
PETSC_INTERN PetscErrorCode LitheCheckSquare(PetscObject, Mat);

/*
   One function per folder registers its classes: src/register/mat.c, src/register/pc.c, src/register/ksp.c,
   src/register/ts.c
*/
PETSC_INTERN PetscErrorCode LitheMatRegisterAll(void);
PETSC_INTERN PetscErrorCode LithePCRegisterAll(void);
PETSC_INTERN PetscErrorCode LitheKSPRegisterAll(void);
PETSC_INTERN PetscErrorCode LitheTSRegisterAll(void);
