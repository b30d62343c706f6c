/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A compressed basis of a Krylov space, and its operations for KSPCBGMRES. The solver (ksp/cbgmres/cycle.c) uses only
   these operations. Only the basis knows the place of the numbers: the host (ksp/cbgmres/basishost.c) or a device.

   V is the stored basis: column i is v_i, decoded. All arithmetic uses the stored columns, in PetscScalar. One step of
   Arnoldi's method, with the preconditioned operator M and k = j + 1:

     w = M z                       z is v_j, decoded: the solver's, by PETSc
     dot(k, gram, w)               products for sums = [ V^H v_j, V^H w, w^H w ]: reads V and w once
     coefficients(k, 0)            sums over all processes: one reduction, of 2 k + 1 numbers; then small dense algebra,
                                   O(k^2): see CBBasisCoefficients()
     append(k, w, z)               column k = (w - V c)/sigma, rounded; z = column k, decoded: reads V and w once;
                                   w is unchanged
     fetch(j, j + 1)               column j of the Hessenberg matrix and the report of the step, to the host

   Then M v_j = V h + sigma v_(j+1) except for the rounding of v_(j+1), for any h and sigma. Only fetch() makes the host
   wait, and for the coefficients, not for append(). The solver calls append(), and with -ksp_cbgmres_check_every
   also the next steps, before the quality of the step is known. If w lies almost in the space of V, a second pass
   follows:

     subtract(k, w)                w = w - V c
     dot(k, no gram, w), coefficients(k, 1)     c is of this pass, h the sum over all passes
     append(k, w, z), fetch(j, j + 1)

   The first `paired` columns are stored in two parts: the rounding error of the column is stored as a second column,
   which only these operations see. store, append, load and combine use both parts; append and subtract use them for
   CB_PAIR_STEPS steps after each such column. dot uses the first parts only, because coefficients need not be exact.

   On a device z may be the column after a diagonal preconditioner from the right (scale), which saves a sweep over
   three vectors.

   After the last step dot(k, gram, w) and coefficients(k, 0) are also called with a residual in place of w, and with at
   most all columns for k. The arrays are long enough for that.

   A device implementation should have these fusions:
   - dot: both products with one decoding of a column; v_j is decoded on the way and not read from z; w^H w in the same
   sweep.
   - coefficients: sums over thread blocks, sums over processes that map each other's memory, and the algebra, in one
   launch.
   - append: the scaling, the update, the largest modulus of each block, the encoding and the decoding to z, without
     writing w: V and w are read once, column k and z are written once.
   Each result must be the same bits in every run with the same number of processes: sums in a fixed order, no atomics.

   Scalars live where the columns live. CBScalars is the host's copy, which only fetch() fills; on the host both are the
   same. Offsets have 64 bits (size_t).
*/

#include <lithe/private/lithehalo.h>
#include <petscvec.h>
#include <lithe/private/codec/storage.h>

typedef struct _n_CBBasis *CBBasis;

/* Results of a step; all numbers are sums over all processes */
typedef struct {
  PetscReal image;  /* w^H w of the first pass: ||M v_j||^2 */
  PetscReal before; /* w^H w before the last pass */
  PetscReal after;  /* ||w - V c||^2 after the last pass, by the Pythagorean identity: accurate to `before` times the unit roundoff; sigma is the square root */
  PetscReal norm;   /* v_j^H v_j */
  PetscReal skew;   /* sum of |v_i^H v_j|^2, i < j */
  PetscInt  passes; /* number of passes */
} CBStep;

/* ld = columns of the basis + 1 */
typedef struct {
  PetscInt     ld;
  PetscScalar *sums;       /* [2 ld + 1] k numbers V^H v_j (of the last dot with gram), k numbers V^H w, w^H w */
  PetscScalar *gram;       /* [ld ld] V^H V, both triangles */
  PetscScalar *c;          /* [ld] coefficients of the last pass */
  PetscScalar *work;       /* [ld + 1] */
  PetscScalar *hessenberg; /* [ld ld] column j at j ld: h_0 ... h_j, sigma */
  CBStep      *step;       /* [ld] */
} CBScalars;

typedef struct {
  /* column j = scale x, rounded; z = column j, decoded. z may be x, or NULL. scale is known to the host */
  PetscErrorCode (*store)(CBBasis, PetscInt j, PetscReal scale, Vec x, Vec z);
  /* z = column j, decoded */
  PetscErrorCode (*load)(CBBasis, PetscInt j, Vec z);
  /* products with columns 0 ... k-1, over this process */
  PetscErrorCode (*dot)(CBBasis, PetscInt k, PetscBool gram, Vec w);
  /* sums of the last dot's products over all processes, and CBBasisCoefficients() where the scalars live. Pass 0 had
     gram. Later passes had not: the first k sums stay, and the last k + 1 need the reduction */
  PetscErrorCode (*coefficients)(CBBasis, PetscInt k, PetscInt pass);
  /* w = w - V c */
  PetscErrorCode (*subtract)(CBBasis, PetscInt k, Vec w);
  /* column k = (w - V c)/sigma, rounded; z = column k, decoded. Any sigma must be harmless; with 0, column k is
     arbitrary */
  PetscErrorCode (*append)(CBBasis, PetscInt k, Vec w, Vec z);
  /* copies columns from ... to-1 of the Hessenberg matrix and their steps to host.*; waits for coefficients() */
  PetscErrorCode (*fetch)(CBBasis, PetscInt from, PetscInt to);
  /* x = V y with columns 0 ... k-1; y is on the host and may be changed after the call */
  PetscErrorCode (*combine)(CBBasis, PetscInt k, const PetscScalar y[], Vec x);
  /* frees data */
  PetscErrorCode (*destroy)(CBBasis);
} CBBasisOps;

struct _n_CBBasis {
  CBBasisOps   ops[1];
  MPI_Comm     comm;    /* of the vectors; not a reference */
  size_t       n;       /* real numbers of a vector on this process: a complex number counts as two */
  PetscInt     columns; /* capacity */
  PetscInt     pairs;   /* capacity for second parts: the second part of column j is at columns + j */
  Vec          scale;   /* on a device: store() and append() multiply z entry by entry by this vector, unless NULL. The solver chooses before each call */
  PetscInt     paired;  /* number of columns with a second part, `pairs` or 0: the solver chooses before storing column 0 */
  LitheStorage storage;
  int          base;   /* of FRSZ2 with 8-bit exponents, the same for all columns: for moduli up to CB_LARGEST */
  int          shift;  /* columns are stored times 2^shift: half precision has no room for small numbers */
  size_t       vbytes; /* bytes of a column of values, padding included: LitheStorageValueBytes() */
  size_t       ebytes; /* of exponents */
  CBScalars    host;   /* the host's copy of sums, gram and so on; no arrays if dot products are never taken */
  void        *data;   /* of the implementation: the columns, and on a device the scalars */
  LitheReduce  sums;   /* over processes; NULL without dot products */
  const char  *where;  /* "host" or "device", for views */
};

/* A column of a Krylov basis has norm 1; 8-bit exponents suffice up to this norm */
#define CB_LARGEST 4.0

/* With this shift half precision reaches from 2^-37 to 8, with 11 bits from 2^-27 on */
#define CB_HALF_SHIFT 13

/* Second parts are used for this number of steps; afterwards their columns hardly matter */
#define CB_PAIR_STEPS 8

/*
   Columns with the sizes and the place of vector x. products: dot products will be taken, and columns have norm 1.
   Otherwise columns have any size, and only store, load and combine may be called
*/
PETSC_INTERN PetscErrorCode CBBasisCreate(Vec x, PetscInt columns, PetscInt pairs, const LitheStorage *storage, PetscBool products, CBBasis *basis);
PETSC_INTERN PetscErrorCode CBBasisDestroy(CBBasis *basis);
/* Bytes of all columns of this process, and their bytes in PetscScalar */
PETSC_INTERN PetscErrorCode CBBasisGetBytes(CBBasis basis, PetscLogDouble *bytes, PetscLogDouble *uncompressed);

/* The place of the second part of column j, or -1 */
static inline PetscInt CBBasisSecond(CBBasis b, PetscInt j)
{
  return j < b->paired ? b->columns + j : -1;
}

/* Second parts in use: of `count` columns from column `first` on; `to`: the place for the second part of a new column,
   or -1 */
typedef struct {
  PetscInt count, first, to;
} CBSeconds;

/* In a step with columns 0 ... k-1: second parts of recent columns, and of a new column j, unless j is -1 */
static inline CBSeconds CBBasisSeconds(CBBasis b, PetscInt k, PetscInt j)
{
  const PetscInt first = PetscMax(0, k - CB_PAIR_STEPS);

  return (CBSeconds){PetscMax(0, PetscMin(b->paired, k) - first), first, j < 0 ? -1 : CBBasisSecond(b, j)};
}

/* In other linear combinations of columns */
static inline CBSeconds CBBasisSecondsAll(CBBasis b, PetscInt k)
{
  return (CBSeconds){PetscMin(b->paired, k), 0, -1};
}

/* Length of the part of sums[] that a pass needs: the last numbers of k columns */
static inline PetscInt CBBasisSums(PetscInt k, PetscInt pass)
{
  return pass ? k + 1 : 2 * k + 1;
}

/* Shared by implementations: the reduction of a pass at the place of the scalars, with scalars.sums, and its set-up */
PETSC_INTERN PetscErrorCode CBBasisCreateSums_Private(CBBasis basis, PetscMemType memory);
PETSC_INTERN PetscErrorCode CBBasisSum_Private(CBBasis basis, PetscInt k, PetscInt pass, PetscScalar sums[]);

/*
   Fill basis->ops, basis->data, basis->sums and basis->where; n, columns, storage and sizes are set. CBBasisCreate()
   chooses the implementation by the vector's type
*/
PETSC_INTERN PetscErrorCode CBBasisCreate_Host(CBBasis basis);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* Vectors of CUDA. Not hidden in the library: tests compare the function with the host's */
PETSC_EXTERN PetscErrorCode CBBasisCreate_Device(CBBasis basis);
#endif

/*
   The small algebra of a pass, the same on host and device; from sums, with b = V^H w:

     G(0:k, j) = V^H v_j, and its conjugate in row j       (pass 0 only)
     c = 0, and CB_SWEEPS times
       r = b - G c,  e = r / diag G,  c = c + e            Jacobi's method for G c = b
     after = w^H w - Re c^H (b + r) - Re e^H r             ||w - V c||^2, with c before its last change
     h     = c (pass 0) or h + c                           column j of the Hessenberg matrix
     sigma = sqrt(max(after, 0))                           its entry k

   G differs from the identity only by rounding and by the error of one pass of Gram-Schmidt. An inexact c costs
   orthogonality of the next vector, which the next G measures, and nothing else.
*/
#define CB_SWEEPS 3
PETSC_INTERN void CBBasisCoefficients(CBScalars *s, PetscInt k, PetscInt pass);
