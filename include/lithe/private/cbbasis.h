/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A compressed basis of a Krylov space, and what KSPCBGMRES does with it. The solver (ksp/cbgmres/cycle.c) calls
   nothing else; where the numbers are, on the host (ksp/cbgmres/basishost.c) or on a device, is the basis's affair.

   V is the basis as it is stored: column i is v_i, decoded. All arithmetic is with the stored columns, in
   PetscScalar. One step of Arnoldi's method, M being the preconditioned operator and k = j + 1:

     w = M z                       z is v_j, decoded: the solver's, by PETSc
     dot(k, gram, w)               products for sums = [ V^H v_j, V^H w, w^H w ]: reads V and w once
     coefficients(k, 0)            sums over all processes: one reduction, of 2 k + 1 numbers; then small dense algebra,
                                   O(k^2): see CBBasisCoefficients()
     append(k, w, z)               column k = (w - V c)/sigma, rounded; z = column k, decoded: reads V and w once;
                                   w stays as it is
     fetch(j, j + 1)               column j of the Hessenberg matrix and the report of the step, to the host

   so that M v_j = V h + sigma v_(j+1) but for the rounding of v_(j+1) alone, whatever h and sigma are. Only
   fetch() needs the host to wait, and for the coefficients, not for append(): the solver calls append() before it
   knows whether the step was good, and with -ksp_cbgmres_check_every also the next steps. If it was not, because w lies
   almost in the space of V, then there is a second pass

     subtract(k, w)                w = w - V c
     dot(k, no gram, w), coefficients(k, 1)     c is of this pass, h the sum over all passes
     append(k, w, z), fetch(j, j + 1)

   The first columns, as many as paired says, are stored in two parts: behind what is stored of any column, what rounding has left of it is stored as a
   column, too, where nothing but these operations sees it. store, append and load take both parts; combine does; append and subtract do for
   CB_PAIR_STEPS steps from each such column on. dot has the first parts only: coefficients need not be exact.

   On a device z may be what a diagonal preconditioner from the right makes of the column (scale): a sweep over three vectors less.

   After the last step dot(k, gram, w) and coefficients(k, 0) are also called with a residual in place of w, k being all
   columns at most: so long are the arrays.

   Fusions that this allows, and that a device implementation should have:
   - dot: both products with one decoding of a column; v_j is decoded on the way and not read from z; w^H w beside.
   - coefficients: sums of what blocks of threads have, sums over processes where these map each other's memory, and the algebra, in
     one launch.
   - append: the scaling, the update, the largest modulus of each block, the encoding and the decoding to z, without
     writing w: V and w are read once, column k and z are written once.
   Each result must be the same bits in every run with the same number of processes: sums in a fixed order, no atomics.

   Scalars live where the columns live; CBScalars is the host's copy, which only fetch() fills, except on the
   host, where both are the same. Offsets are of 64 bits (size_t).
*/

#include <lithe/private/lithehalo.h>
#include <petscvec.h>
#include <src/codec/storage.h>

typedef struct _n_CBBasis *CBBasis;

/* What a step tells; all numbers are sums over all processes */
typedef struct {
  PetscReal image;  /* w^H w of the first pass: ||M v_j||^2 */
  PetscReal before; /* w^H w of the last pass, before it */
  PetscReal after;  /* ||w - V c||^2 after the last pass, by Pythagoras: no better than before times the unit roundoff; sigma is its root */
  PetscReal norm;   /* v_j^H v_j */
  PetscReal skew;   /* sum of |v_i^H v_j|^2, i < j */
  PetscInt  passes; /* how many there were */
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
  /* products with columns 0 ... k-1, of this process */
  PetscErrorCode (*dot)(CBBasis, PetscInt k, PetscBool gram, Vec w);
  /* sums of the last dot's products over all processes, and CBBasisCoefficients() where the scalars live. pass 0: there was gram. In other
     passes there was not: the first k of sums stay what they are, and the last k + 1 need the reduction */
  PetscErrorCode (*coefficients)(CBBasis, PetscInt k, PetscInt pass);
  /* w = w - V c */
  PetscErrorCode (*subtract)(CBBasis, PetscInt k, Vec w);
  /* column k = (w - V c)/sigma, rounded; z = column k, decoded. Whatever sigma is this must do no harm: with 0, column k is anything */
  PetscErrorCode (*append)(CBBasis, PetscInt k, Vec w, Vec z);
  /* columns from ... to-1 of the Hessenberg matrix and their steps are in host.*; waits for coefficients() */
  PetscErrorCode (*fetch)(CBBasis, PetscInt from, PetscInt to);
  /* x = V y with columns 0 ... k-1; y is on the host and may be changed when this returns */
  PetscErrorCode (*combine)(CBBasis, PetscInt k, const PetscScalar y[], Vec x);
  /* what the implementation has in data */
  PetscErrorCode (*destroy)(CBBasis);
} CBBasisOps;

struct _n_CBBasis {
  CBBasisOps   ops[1];
  MPI_Comm     comm;    /* of the vectors; not a reference */
  size_t       n;       /* real numbers of a vector on this process: a complex number is two */
  PetscInt     columns; /* how many there is room for */
  PetscInt     pairs;   /* columns that there is room for the second parts of: that of column j is behind the columns, at columns + j */
  Vec          scale;   /* on a device: store() and append() multiply z by it, entry by entry; NULL: they do not. The solver's choice before each */
  PetscInt     paired;  /* so many columns have a second part now, all that there is room for or none: the solver's choice before it stores column 0 */
  LitheStorage storage;
  int          base;   /* of FRSZ2 with 8-bit exponents, the same for all columns: for moduli up to CB_LARGEST */
  int          shift;  /* what is stored are the columns times 2^shift: half precision has no room for small numbers */
  size_t       vbytes; /* a column of values, and its distance to the next: LitheStorageValueBytes() */
  size_t       ebytes; /* of exponents */
  CBScalars    host;   /* sums, gram and so on, as the host sees them; no arrays if there are no dot products to be taken */
  void        *data;   /* the implementation's: the columns, and on a device the scalars */
  LitheReduce  sums;   /* over processes; NULL if there are no dot products to be taken */
  const char  *where;  /* "host" or "device", for views */
};

/* A column of a Krylov basis has norm 1; this much it may be, before a number is too large for 8-bit exponents */
#define CB_LARGEST 4.0

/* Half precision reaches from 2^-37 to 8 then, with 11 bits from 2^-27 on */
#define CB_HALF_SHIFT 13

/* Second parts are of use for so many steps: after that little is left for which their columns have to be known so well */
#define CB_PAIR_STEPS 8

/*
   Columns like vector x, which tells sizes and place. products: dot products will be taken, columns have norm 1; else
   columns have any size and only store, load and combine are for use
*/
PETSC_INTERN PetscErrorCode CBBasisCreate(Vec x, PetscInt columns, PetscInt pairs, const LitheStorage *storage, PetscBool products, CBBasis *basis);
PETSC_INTERN PetscErrorCode CBBasisDestroy(CBBasis *basis);
/* Bytes of all columns of this process, and what they would be in PetscScalar */
PETSC_INTERN PetscErrorCode CBBasisGetBytes(CBBasis basis, PetscLogDouble *bytes, PetscLogDouble *uncompressed);

/* Where the second part of column j is, or -1 */
static inline PetscInt CBBasisSecond(CBBasis b, PetscInt j)
{
  return j < b->paired ? b->columns + j : -1;
}

/* Second parts: those of so many columns, the first of which has this number, are taken with them; and where that of a new column goes, or -1 */
typedef struct {
  PetscInt count, first, to;
} CBSeconds;

/* In a step with columns 0 ... k-1, those that are not of long ago; and of a new column j, unless it is -1 */
static inline CBSeconds CBBasisSeconds(CBBasis b, PetscInt k, PetscInt j)
{
  const PetscInt first = PetscMax(0, k - CB_PAIR_STEPS);

  return (CBSeconds){PetscMax(0, PetscMin(b->paired, k) - first), first, j < 0 ? -1 : CBBasisSecond(b, j)};
}

/* In any other linear combination of them */
static inline CBSeconds CBBasisSecondsAll(CBBasis b, PetscInt k)
{
  return (CBSeconds){PetscMin(b->paired, k), 0, -1};
}

/* How many numbers of sums[] a pass needs; they are the last ones of k columns */
static inline PetscInt CBBasisSums(PetscInt k, PetscInt pass)
{
  return pass ? k + 1 : 2 * k + 1;
}

/* What implementations share. Sums where the scalars live: a pass's reduction, with scalars.sums; and what that needs */
PETSC_INTERN PetscErrorCode CBBasisCreateSums_Private(CBBasis basis, PetscMemType memory);
PETSC_INTERN PetscErrorCode CBBasisSum_Private(CBBasis basis, PetscInt k, PetscInt pass, PetscScalar sums[]);

/*
   Fill basis->ops, basis->data, basis->sums and basis->where; n, columns, storage and sizes are set. Another
   implementation is another such function, which CBBasisCreate() chooses by the vector's type
*/
PETSC_INTERN PetscErrorCode CBBasisCreate_Host(CBBasis basis);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* Vectors of CUDA. Not hidden in the library: tests compare it with the host's */
PETSC_EXTERN PetscErrorCode CBBasisCreate_Device(CBBasis basis);
#endif

/*
   The small algebra of a pass, which is the same everywhere; from sums, with b = V^H w:

     G(0:k, j) = V^H v_j, and its conjugate in row j       (pass 0 only)
     c = 0, and CB_SWEEPS times
       r = b - G c,  e = r / diag G,  c = c + e            Jacobi's method for G c = b
     after = w^H w - Re c^H (b + r) - Re e^H r             ||w - V c||^2, with c before its last change
     h     = c (pass 0) or h + c                           column j of the Hessenberg matrix
     sigma = sqrt(max(after, 0))                           its entry k

   G differs from the identity by what rounding and one pass of Gram-Schmidt leave, which is little. A c that is not
   exact costs orthogonality of the next vector, which the next G tells, and nothing else.
*/
#define CB_SWEEPS 3
PETSC_INTERN void CBBasisCoefficients(CBScalars *s, PetscInt k, PetscInt pass);
