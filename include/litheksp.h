/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = KSP */

#include <lithesys.h>
#include <petscksp.h>

#define KSPBCGSM    "bcgsm"
#define KSPCBGMRES  "cbgmres"
#define KSPCBFGMRES "cbfgmres"
#define KSPMPCG     "mpcg"

/*S
  KSPCBGMRESInfo - memory of a `KSPCBGMRES`, and facts of its last solve

  Level: intermediate

.seealso: `KSPCBGMRES`, `KSPCBGMRESGetInfo()`
S*/
typedef struct {
  char           storage[16];  /* of a basis vector, as in `KSPCBGMRESSetStorage()`; a solve may have raised the storage */
  PetscReal      bits;         /* per real number of a basis vector, with its part of the exponent */
  PetscInt       columns;      /* number of allocated basis vectors */
  PetscLogDouble bytes;        /* of all basis vectors, all processes; with `KSPCBFGMRES` of both bases; 0 before `KSPSetUp()` */
  PetscLogDouble uncompressed; /* the same in `PetscScalar` */
  PetscInt       cycles;       /* of the last solve: number of restarts + 1 */
  PetscInt       continued;    /* number of cycles that continued with a new residual */
  PetscInt       passes;       /* second passes of Gram-Schmidt in the last solve */
  PetscInt       raises;       /* number of raises of the storage in the last solve */
  PetscReal      skew;         /* the largest || V^H v_j || of all steps, without v_j in V: 0 is orthogonal */
  PetscReal      gap;          /* the largest | ||r|| - rho | / ||r_0|| of all cycles; rho: norm of the recurrence, r_0: residual at the start of the cycle */
  PetscBool      stagnated;    /* the solve ended because the storage is too coarse, or with double because of rounding elsewhere */
} KSPCBGMRESInfo;

PETSC_EXTERN PetscErrorCode KSPBCGSMGetColumns(KSP, PetscInt *, const PetscInt *[], const KSPConvergedReason *[], const PetscReal *[]);

PETSC_EXTERN PetscErrorCode KSPCBGMRESSetStorage(KSP, const char[]);
PETSC_EXTERN PetscErrorCode KSPCBGMRESGetInfo(KSP, KSPCBGMRESInfo *);
