/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the parts of a compression hand on: vcrs/loss/loss.c -> build.c (asking containers.c and cost.c) -> encode.c, or plainrows.c; cuda/vcrs/build/build.cu does the same on the device */

#include "../planimpl.h"
#include <src/codec/grid.h>
#include <src/codec/logarithmic.h>
#include <src/codec/bits.h>
#include <float.h>

#define VCRS_COMPONENTS ((PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)))
#define VCRS_NVALUES    (VCRS_VALUES_FIXED16 + 1)

#if VCRS_LOG_POWERS != LITHE_LOG_POWERS
  #error "A plan has as many coefficients as a logarithmic scale"
#endif

/* Beyond this many, pairs, index sets and dictionary entries are of no use and are not counted further */
#define VCRS_SET_LIMIT 65536

/* With so few different rows a loss is not worth its row sums; ids take one byte */
#define VCRS_FEW_PAIRS 256
#define VCRS_FEW_ROWS  4096 /* of which so many are looked at first */

/* The natural order of rows is kept in L3 if it pads no more than this */
#define VCRS_PAD_TOLERANCE .02

/* Distinct keys among rows, numbered in the order of their first occurrence */
typedef struct {
  PetscInt  n, alloc;
  PetscInt *rep;   /* [n] first row with the key */
  PetscInt *count; /* [n] rows with it */
  uint64_t *hash;  /* [n] */
  PetscInt *slot;  /* open addressing: -1 or a number */
  size_t    nslot; /* a power of two */
} VCRSSets;

typedef struct {
  const VCRSOptions *opt;
  PetscInt           m, n;

  /*
     The matrix after the loss, entries in the order of storage; the values of a row are had with VCRSRowValues().
     In the difference form entry 0 of a row is its reference, with the value that the row sum implies, unless code or single stand for all
  */
  const PetscInt    *i, *j;
  const PetscScalar *a; /* NULL on the host where code or single say all */
  PetscInt          *ownj;
  PetscScalar       *owna;
  PetscBool          lossless, difference;
  PetscScalar       *sigma;     /* [m] of the difference form */
  PetscInt          *ref;       /* [m] where in column order the reference stands */
  int16_t           *rowexp;    /* [m] a row's step in lossy modes that have one */
  const int16_t     *columnexp; /* [n] those of the rows that the columns of an off-diagonal block are; NULL: columns have the numbers of rows */
  LitheLogScale     *log;       /* MATVCRS_LOSS_LOG */
  uint16_t          *code;      /* of all components: those of log, or without a log numbers (int16_t) of steps of 2^rowexp */
  float             *single;    /* all components, where none needs more */
  PetscScalar       *room[2];   /* where a is NULL: as long as the longest row, for VCRSRowValues() */

  /* What the entries are found to be */
  PetscInt    *setid, *pairid; /* [m] */
  VCRSSets     sets, pairs;
  PetscBool    hassets, haspairs;
  PetscBool    has[VCRS_NVALUES]; /* which containers hold the values exactly */
  uint16_t    *dictcode;          /* [nz] */
  PetscScalar *dict;
  PetscInt     ndict;
  int16_t     *exponent;                          /* [m] of the fixed point containers */
  PetscInt    *setlength, *pairlength, *dictuses; /* parts of VCRSFacts */
} VCRSBuild;

/* Distinct rows: how many, entries of each, rows that are like each */
typedef struct {
  PetscInt        n;
  const PetscInt *length, *count;
} VCRSSetFacts;

/* What the choice of layout and container depends on */
typedef struct {
  const VCRSOptions *opt;
  PetscInt           m;
  double             stored; /* entries, references apart */
  VCRSSetFacts       sets, pairs;
  double             together; /* different pairs in a slice, on the average */
  PetscBool          has[VCRS_NVALUES];
  PetscInt           ndict;
  const PetscInt    *dictuses;  /* [ndict] how often each entry of the dictionary is used; not read where VCRSDictionaryFits() */
  PetscInt64         setvalues; /* entries in the slices of L1 and L2, padding included */
} VCRSFacts;

typedef struct {
  double        cost; /* bytes of a product, -1: nothing chosen yet */
  MatVCRSLayout layout;
  VCRSValues    values;
} VCRSChoice;

/* vcrs/memory.c: PetscMalloc1() for arrays that are as long as the matrix */
PETSC_INTERN PetscErrorCode VCRSAllocateLarge(size_t, void **);
#define VCRSMallocLarge(n, pointer) VCRSAllocateLarge(sizeof(**(pointer)) * (size_t)(n), (void **)(pointer))

/* What code c of a row stands for */
static inline PetscReal VCRSCodeValue(const VCRSBuild *b, PetscInt row, uint16_t c)
{
  return b->log ? LitheLogScaleDecode(b->log, c) : (PetscReal)((double)(int16_t)c * LithePow2(b->rowexp[row]));
}

/* The values of a row in the order of storage, entry 0 of the difference form apart; in b->room[which] where b->a is NULL */
static inline const PetscScalar *VCRSRowValues(const VCRSBuild *b, PetscInt row, int which)
{
  const PetscInt  p = b->i[row], len = b->i[row + 1] - p, first = b->difference ? 1 : 0;
  const uint16_t *code;
  PetscReal      *v;

  if (!b->code && !b->single) return b->a + p;
  code = b->code + (size_t)p * VCRS_COMPONENTS;
  v    = (PetscReal *)b->room[which];
  if (b->single) {
    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) v[k] = (PetscReal)b->single[(size_t)p * VCRS_COMPONENTS + (size_t)k];
  } else if (b->log) {
    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) v[k] = LitheLogScaleDecode(b->log, code[k]);
  } else {
    const double step = LithePow2(b->rowexp[row]);

    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) v[k] = (PetscReal)((double)(int16_t)code[k] * step);
  }
  return b->room[which];
}

/* vcrs/loss/loss.c */
PETSC_INTERN PetscBool      VCRSLossIsNone(const VCRSOptions *);
PETSC_INTERN PetscErrorCode VCRSLossApply(VCRSBuild *, const VCRSCSR *, const PetscScalar[], VCRSReport *);

/* containers.c */
PETSC_INTERN PetscErrorCode VCRSFindDictionary(VCRSBuild *, PetscInt);
PETSC_INTERN PetscErrorCode VCRSCountDictionary(const VCRSBuild *, PetscInt **);
PETSC_INTERN PetscErrorCode VCRSFindFixedPoint(VCRSBuild *);
PETSC_INTERN PetscErrorCode VCRSFindSingle(VCRSBuild *);

/* cost.c */
#define VCRS_NLIMITS 5
PETSC_INTERN const PetscInt VCRSSliceLimits[VCRS_NLIMITS];
PETSC_INTERN PetscInt       VCRSIdBytes(PetscInt);
PETSC_INTERN PetscBool      VCRSDictionaryFits(PetscInt);
PETSC_INTERN PetscBool      VCRSSingleMayWin(PetscInt, double, const PetscBool[]);
PETSC_INTERN PetscInt       VCRSDictionaryLimit(PetscInt, double, const PetscBool[]);
PETSC_INTERN size_t         VCRSSmallestValueBytes(const VCRSFacts *);
PETSC_INTERN PetscInt       VCRSChooseSliceLimit(PetscInt, PetscInt, size_t, const PetscInt64[], const PetscInt64[]);
PETSC_INTERN VCRSSigma      VCRSChooseSigma(PetscInt, PetscInt64);
PETSC_INTERN PetscErrorCode VCRSChoosePairs(const VCRSFacts *, VCRSChoice *, PetscBool *);
PETSC_INTERN PetscErrorCode VCRSChooseSets(const VCRSFacts *, VCRSChoice *);
PETSC_INTERN PetscErrorCode VCRSSlicesMayWin(const VCRSFacts *, const VCRSChoice *, PetscBool *);
PETSC_INTERN PetscErrorCode VCRSChooseSlices(const VCRSFacts *, const VCRSPlan *, VCRSChoice *);

PETSC_INTERN PetscBool VCRSMayGroup(const VCRSPlan *);
PETSC_INTERN PetscBool VCRSChooseGroups(const VCRSPlan *, PetscInt64, PetscInt, PetscInt64);

/* groups.c */
PETSC_INTERN PetscErrorCode VCRSFindGroups(const VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeGroups(const VCRSBuild *, VCRSPlan *);

/* plainrows.c */
PETSC_INTERN PetscErrorCode VCRSBuildRows(const VCRSBuild *, VCRSPlan *);

/* encode.c */
PETSC_INTERN PetscErrorCode VCRSEncodeLiteral(const VCRSBuild *, const VCRSSets *, const PetscInt[], const VCRSSets *, const PetscInt[], VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeSets(const VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeSlices(const VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeSigma(const VCRSBuild *, VCRSPlan *);
