/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = KSP */

#include <lithesys.h>
#include <petscksp.h>

#define KSPCBGMRES  "cbgmres"
#define KSPCBFGMRES "cbfgmres"

/*S
  KSPCBGMRESInfo - memory of a `KSPCBGMRES`, and facts of its last solve

  Level: intermediate

.seealso: `KSPCBGMRES`, `KSPCBGMRESGetInfo()`
S*/
typedef struct {
  char           storage[16];  /* of a basis vector, as in `KSPCBGMRESSetStorage()`; a solve may have raised it */
  PetscReal      bits;         /* a real number of a basis vector, with its part of the exponent */
  PetscInt       columns;      /* number of allocated basis vectors */
  PetscLogDouble bytes;        /* of all basis vectors, all processes; with `KSPCBFGMRES` of both bases; 0 before `KSPSetUp()` */
  PetscLogDouble uncompressed; /* the same in `PetscScalar` */
  PetscInt       cycles;       /* of the last solve: one more than restarts */
  PetscInt       continued;    /* number of cycles that continued with a new residual */
  PetscInt       passes;       /* second passes of Gram-Schmidt in it */
  PetscInt       raises;       /* how often it raised the storage */
  PetscReal      skew;         /* the largest || V^H v_j ||, v_j left out, of its steps: 0 is orthogonal */
  PetscReal      gap; /* the largest | ||r|| - rho | / ||r_0|| of its cycles, rho being the norm of the recurrence and r_0 the residual at the cycle's start */
  PetscBool      stagnated; /* it ended because the storage is too coarse, or with double because of rounding elsewhere */
} KSPCBGMRESInfo;

PETSC_EXTERN PetscErrorCode KSPCBGMRESSetStorage(KSP, const char[]);
PETSC_EXTERN PetscErrorCode KSPCBGMRESGetStorage(KSP, const char *[]);
PETSC_EXTERN PetscErrorCode KSPCBGMRESSetAdaptive(KSP, PetscBool);
PETSC_EXTERN PetscErrorCode KSPCBGMRESGetAdaptive(KSP, PetscBool *);
PETSC_EXTERN PetscErrorCode KSPCBGMRESSetCheckEvery(KSP, PetscInt);
PETSC_EXTERN PetscErrorCode KSPCBGMRESGetCheckEvery(KSP, PetscInt *);
PETSC_EXTERN PetscErrorCode KSPCBGMRESGetInfo(KSP, KSPCBGMRESInfo *);
