/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = PC */

#include <lithemat.h>
#include <petscksp.h>

#define PCVCRS "vcrs"

/*E
  PCVCRSFactorSolveType - method of a `PCVCRS` for systems with compressed triangular factors

  Values:
+ `PCVCRS_FACTOR_AUTO`         - by substitution; on a device, by sweeps if sweeps are expected to be faster
. `PCVCRS_FACTOR_SUBSTITUTION` - exactly, at the place of the vectors
- `PCVCRS_FACTOR_JACOBI`       - by a few sweeps of Jacobi's method, which are products with a `MATVCRS`

  Level: intermediate

.seealso: `PCVCRS`, `PCVCRSSetFactorSolve()`
E*/
typedef enum {
  PCVCRS_FACTOR_AUTO,
  PCVCRS_FACTOR_SUBSTITUTION,
  PCVCRS_FACTOR_JACOBI
} PCVCRSFactorSolveType;
PETSC_EXTERN const char *const PCVCRSFactorSolveTypes[];

/*E
  PCVCRSPrecision - the precision of the application of a `PCVCRS`

  Values:
+ `PCVCRS_PRECISION_DOUBLE` - the precision of `PetscReal`
- `PCVCRS_PRECISION_SINGLE` - IEEE single precision for input, output and all entries

  Level: intermediate

.seealso: `PCVCRS`
E*/
typedef enum {
  PCVCRS_PRECISION_DOUBLE,
  PCVCRS_PRECISION_SINGLE
} PCVCRSPrecision;
PETSC_EXTERN const char *const PCVCRSPrecisions[];

/*S
  PCVCRSInfo - the compressed data of a `PCVCRS`, summed over all matrices and processes

  Level: intermediate

.seealso: `PCVCRS`, `PCVCRSGetInfo()`, `MatVCRSInfo`
S*/
typedef struct {
  PetscLogDouble bytes;      /* of the compressed matrices; a factored matrix counts as one or two triangles and its pivots */
  PetscLogDouble exactbytes; /* of the same matrices in the inner preconditioner, in AIJ or as PETSc's factors */
  PetscInt64     matrices;   /* number of compressed matrices; a parallel matrix counts once */
  PetscInt64     factors;    /* factored matrices whose triangles and pivots are among the matrices */
  PetscReal      bound;      /* the largest error bound of an entry, each in the unit of its loss, see MatVCRSInfo */
} PCVCRSInfo;

/*S
  PCVCRSExchangeFn - The function that a `PCVCRS` passes to a preconditioner, to be called for each matrix that an
  application reads

  Calling Sequence:
+ place - address of the preconditioner's pointer to a matrix, which may be `NULL`
- ctx   - the context passed together with the function

  Level: developer

  Notes:
  A preconditioner of a type unknown to `PCVCRS` is compressed if a function is composed with the preconditioner:

.vb
  PetscErrorCode F(PC pc, PCVCRSExchangeFn *exchange, void *ctx);
  PetscObjectComposeFunction((PetscObject)pc, "PCVCRSCompress_C", F);
.ve

  F calls `exchange(&place, ctx)` once for each place in its data from which an application reads a matrix, always the
  same places in the same order. F is called after the set-up of the preconditioner, and then before and after each
  application of the outer `PCVCRS`. `exchange()` puts a matrix of the same sizes and layout in the place, a `MATVCRS`
  without AIJ arrays, and later the exact matrix back. The reference moves with the pointer. All processes sharing a
  matrix must make the call for the matrix. A matrix that cannot be compressed stays unchanged, and so does all data
  derived from the matrix.

.seealso: `PCVCRS`
S*/
typedef PetscErrorCode PCVCRSExchangeFn(Mat *place, void *ctx);

PETSC_EXTERN PetscErrorCode PCVCRSGetPC(PC, PC *);
PETSC_EXTERN PetscErrorCode PCVCRSGetInfo(PC, PCVCRSInfo *);
PETSC_EXTERN PetscErrorCode PCVCRSSetLoss(PC, MatVCRSLoss);
PETSC_EXTERN PetscErrorCode PCVCRSSetBits(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCVCRSSetFactorSolve(PC, PCVCRSFactorSolveType);

#define PCSBPMG "sbpmg"

/*E
  PCSBPMGPrecision - the precision of the levels of a `PCSBPMG`

  Values:
+ `PCSBPMG_PRECISION_DOUBLE` - the precision of `PetscReal`
. `PCSBPMG_PRECISION_SINGLE` - IEEE single precision
- `PCSBPMG_PRECISION_AUTO`   - single, or double if the solver needs a linear preconditioner

  Level: intermediate

.seealso: `PCSBPMG`
E*/
typedef enum {
  PCSBPMG_PRECISION_DOUBLE,
  PCSBPMG_PRECISION_SINGLE,
  PCSBPMG_PRECISION_AUTO
} PCSBPMGPrecision;
PETSC_EXTERN const char *const PCSBPMGPrecisions[];

/*E
  PCSBPMGSmootherType - the smoother of a `PCSBPMG`; D is the diagonal of the operator

  Values:
+ `PCSBPMG_SMOOTHER_CHEBYSHEV`   - Chebyshev's method of the first kind with D, on the upper part of the spectrum
. `PCSBPMG_SMOOTHER_CHEBYSHEV4`  - Chebyshev's method of the fourth kind with D, which needs only the upper bound
. `PCSBPMG_SMOOTHER_RICHARDSON2` - Richardson's method of second order with D, the limit of Chebyshev's method
- `PCSBPMG_SMOOTHER_RICHARDSON`  - Richardson's method with the factor 2/(lmin + lmax), without D

  Level: intermediate

.seealso: `PCSBPMG`
E*/
typedef enum {
  PCSBPMG_SMOOTHER_CHEBYSHEV,
  PCSBPMG_SMOOTHER_CHEBYSHEV4,
  PCSBPMG_SMOOTHER_RICHARDSON2,
  PCSBPMG_SMOOTHER_RICHARDSON
} PCSBPMGSmootherType;
PETSC_EXTERN const char *const PCSBPMGSmootherTypes[];

/*E
  PCSBPMGCycleType - the cycle of an application of a `PCSBPMG`

  Values:
+ `PCSBPMG_CYCLE_V`    - a V cycle: linear, and symmetric for equal numbers of steps before and after a coarse
    correction
. `PCSBPMG_CYCLE_F`    - an F cycle, made symmetric on each level by a V cycle before and after
- `PCSBPMG_CYCLE_FULL` - full multigrid: a solution with the discretisation's accuracy from the right-hand side alone,
  for `KSPPREONLY`, `KSPRICHARDSON` or `KSPFCG`

  Level: intermediate

.seealso: `PCSBPMG`, `PCSBPMGSetCycle()`
E*/
typedef enum {
  PCSBPMG_CYCLE_V,
  PCSBPMG_CYCLE_F,
  PCSBPMG_CYCLE_FULL
} PCSBPMGCycleType;
PETSC_EXTERN const char *const PCSBPMGCycleTypes[];

/*E
  PCSBPMGCoarseType - type of the coarse operators of a `PCSBPMG`

  Values:
+ `PCSBPMG_COARSE_GALERKIN`      - P^T A P with bilinear P, nine points; A is the operator of second order for any order
    of the matrix
- `PCSBPMG_COARSE_REDISCRETIZED` - SBP-SAT operators of the matrix's order, or 2 if the grid is too coarse, with the
    coefficients at the coarse nodes

  Level: intermediate

.seealso: `PCSBPMG`
E*/
typedef enum {
  PCSBPMG_COARSE_GALERKIN,
  PCSBPMG_COARSE_REDISCRETIZED
} PCSBPMGCoarseType;
PETSC_EXTERN const char *const PCSBPMGCoarseTypes[];

PETSC_EXTERN PetscErrorCode PCSBPMGSetCycle(PC, PCSBPMGCycleType);
PETSC_EXTERN PetscErrorCode PCSBPMGGetCoarseSolve(PC, KSP *);

#define PCCAMG "camg"

#define PCGRIDMG "gridmg"

/*E
  PCGridMGInterpolationType - the interpolation of a `PCGRIDMG`

  Values:
+ `PCGRIDMG_INTERPOLATION_AUTO`        - aggregation for real matrices of 5 or 7 points with wells, faults or few
    positive off-diagonal entries, else de Zeeuw's interpolation
. `PCGRIDMG_INTERPOLATION_AGGREGATION` - piecewise constant on pairs of cells, or on products of pairs: for M-matrices
    of 5 or 7 points
- `PCGRIDMG_INTERPOLATION_ZEEUW`       - de Zeeuw's interpolation from every second point in all directions, with
    Galerkin products: 5, 7, 9 or 27 points, real or complex

  Level: intermediate

.seealso: `PCGRIDMG`, `PCGridMGSetInterpolation()`
E*/
typedef enum {
  PCGRIDMG_INTERPOLATION_AUTO,
  PCGRIDMG_INTERPOLATION_AGGREGATION,
  PCGRIDMG_INTERPOLATION_ZEEUW
} PCGridMGInterpolationType;
PETSC_EXTERN const char *const PCGridMGInterpolationTypes[];

/*E
  PCGridMGCoarsenType - directions along which a `PCGRIDMG` forms pairs of cells from one level to the next

  Values:
+ `PCGRIDMG_COARSEN_AUTO` - `PCGRIDMG_COARSEN_SEMI` for K cycles, else `PCGRIDMG_COARSEN_TWO`, and along all directions
    where coefficients hardly jump; with de Zeeuw's interpolation `PCGRIDMG_COARSEN_FULL`
. `PCGRIDMG_COARSEN_SEMI` - along the strongest direction, by geometric means: levels have half of the cells
. `PCGRIDMG_COARSEN_TWO` - along the two strongest directions, if they differ by less than a factor of 4: a quarter of
  the cells
- `PCGRIDMG_COARSEN_FULL` - along all directions

  Level: intermediate

.seealso: `PCGRIDMG`
E*/
typedef enum {
  PCGRIDMG_COARSEN_AUTO,
  PCGRIDMG_COARSEN_SEMI,
  PCGRIDMG_COARSEN_TWO,
  PCGRIDMG_COARSEN_FULL
} PCGridMGCoarsenType;
PETSC_EXTERN const char *const PCGridMGCoarsenTypes[];

/*E
  PCGridMGCycleType - the cycle of an application of a `PCGRIDMG`

  Values:
+ `PCGRIDMG_CYCLE_V` - a V cycle
. `PCGRIDMG_CYCLE_W` - a W cycle: linear and, for a symmetric matrix, symmetric and positive definite, even with
    corrections times 1.5
- `PCGRIDMG_CYCLE_K` - two steps of flexible conjugate gradients on each of the finest coarse levels. Not linear: for
    `KSPFCG` and other flexible methods

  Level: intermediate

.seealso: `PCGRIDMG`, `PCGridMGSetCycle()`
E*/
typedef enum {
  PCGRIDMG_CYCLE_V,
  PCGRIDMG_CYCLE_W,
  PCGRIDMG_CYCLE_K
} PCGridMGCycleType;
PETSC_EXTERN const char *const PCGridMGCycleTypes[];

/*E
  PCGridMGSmootherType - the smoother of a `PCGRIDMG`; D is the diagonal of the operator

  Values:
+ `PCGRIDMG_SMOOTHER_AUTO`     - `PCGRIDMG_SMOOTHER_DAMPED` for matrices with imaginary parts, else
    `PCGRIDMG_SMOOTHER_REDBLACK`
. `PCGRIDMG_SMOOTHER_JACOBI`   - x + 0.8 D^-1 (b - A x); for de Zeeuw's interpolation
. `PCGRIDMG_SMOOTHER_REDBLACK` - Gauss-Seidel by the two colours of a chess board (4 or 8 colours with de Zeeuw's
    interpolation), in reverse order after a coarse correction
- `PCGRIDMG_SMOOTHER_DAMPED`   - x + 0.5 D^-1 (b - A x), with another factor if smooth errors would grow, for levels
  with few points per wavelength; for de Zeeuw's interpolation

  Level: intermediate

.seealso: `PCGRIDMG`
E*/
typedef enum {
  PCGRIDMG_SMOOTHER_AUTO,
  PCGRIDMG_SMOOTHER_JACOBI,
  PCGRIDMG_SMOOTHER_REDBLACK,
  PCGRIDMG_SMOOTHER_DAMPED
} PCGridMGSmootherType;
PETSC_EXTERN const char *const PCGridMGSmootherTypes[];

/*E
  PCGridMGPrecision - the precision of the internal vectors of a `PCGRIDMG`

  Values:
+ `PCGRIDMG_PRECISION_SINGLE` - IEEE single precision; double if entries differ by more than 25 orders of magnitude
. `PCGRIDMG_PRECISION_DOUBLE` - IEEE double precision
- `PCGRIDMG_PRECISION_AUTO`   - single, or double if the solver needs a linear preconditioner, see
    `PCGridMGSetPrecision()`

  Level: intermediate

.seealso: `PCGRIDMG`, `PCGridMGSetPrecision()`
E*/
typedef enum {
  PCGRIDMG_PRECISION_SINGLE,
  PCGRIDMG_PRECISION_DOUBLE,
  PCGRIDMG_PRECISION_AUTO
} PCGridMGPrecision;
PETSC_EXTERN const char *const PCGridMGPrecisions[];

PETSC_EXTERN PetscErrorCode PCGridMGSetInterpolation(PC, PCGridMGInterpolationType);
PETSC_EXTERN PetscErrorCode PCGridMGSetGrid(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGSetRows(PC, const PetscInt[], const PetscInt[], const PetscScalar[]);
PETSC_EXTERN PetscErrorCode PCGridMGSetCycle(PC, PCGridMGCycleType);
PETSC_EXTERN PetscErrorCode PCGridMGSetBits(PC, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCGridMGSetPrecision(PC, PCGridMGPrecision);
