/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Data passed between the parts of a compression, of src/vcrs, and the functions for both places of a matrix:

     loss/loss.c                    entries become values that fit small containers
     build/build.c                  the host's operations, of sets.c, containers.c, slices.c, groups.c, encode.c
     build/choose.c                 collects facts by the operations, and chooses layout and container with cost.c
     build/plainrows.c              another form, for CPUs
     cuda/vcrs/build/build.cu       the same operations on a device
*/

#include <lithe/private/codec/bits.h>
#include <lithe/private/codec/grid.h>
#include <lithe/private/codec/logarithmic.h>
#include <lithe/private/vcrs/host.h>
#include <float.h>

#define VCRS_NVALUES (VCRS_VALUES_FIXED16 + 1)

#if VCRS_LOG_POWERS != LITHE_LOG_POWERS
  #error "A plan has as many coefficients as a logarithmic scale"
#endif

/* Beyond this number, pairs, index sets and dictionary entries are useless and are not counted further */
#define VCRS_SET_LIMIT 65536

/* With at most this number of different rows a loss is not worth its row sums; ids take one byte */
#define VCRS_FEW_PAIRS 256
#define VCRS_FEW_ROWS  4096 /* number of rows of the first look */

/* L3 keeps the natural order of rows if padding takes at most this share */
#define VCRS_PAD_TOLERANCE .02

/* Distinct keys among rows, numbered in the order of their first occurrence */
typedef struct {
  PetscInt  n, alloc;
  PetscInt *rep;   /* [n] first row with the key */
  PetscInt *count; /* [n] rows with the key */
  uint64_t *hash;  /* [n] */
  PetscInt *slot;  /* open addressing: -1 or a number */
  size_t    nslot; /* a power of two */
} VCRSSets;

/* Distinct rows: their number, the entries of each, and the number of rows equal to each */
typedef struct {
  PetscInt        n;
  const PetscInt *length, *count;
} VCRSSetFacts;

/* The facts for the choice of layout and container. VCRSBuildChoose() decides when an operation finds which fact */
typedef struct {
  const VCRSOptions *opt;
  PetscInt           m;
  double             stored;            /* entries, without references */
  PetscBool          hassets, haspairs; /* are different rows few enough to have been counted to the end? */
  VCRSSetFacts       sets, pairs;
  double             together;          /* different pairs in a slice, on the average */
  PetscBool          has[VCRS_NVALUES]; /* which containers hold the values exactly */
  PetscInt           ndict;
  const PetscInt    *dictuses;  /* [ndict] how often each entry of the dictionary is used; not read where VCRSDictionaryFits() */
  PetscInt64         setvalues; /* entries in the slices of L1 and L2, padding included */
} VCRSFacts;

typedef struct _VCRSBuildOps VCRSBuildOps;

/* The values after a loss: their steps, and codes where codes say all */
typedef struct {
  int16_t       *rowexp;    /* [m] the step of each row in lossy modes with row steps */
  const int16_t *columnexp; /* [n] exponents of the rows behind ghost columns; NULL: of the own rows */
  LitheLogScale *log;       /* MATVCRS_LOSS_LOG */
  uint16_t      *code;      /* of all components: codes of log, or without log multiples (int16_t) of 2^rowexp */
  float         *single;    /* all components, where none needs more */
  PetscScalar   *room[2];   /* where VCRSBuild.a is NULL: as long as the longest row, for VCRSRowValues() */
} VCRSRounded;              /* owner: src/vcrs/loss/loss.c, cuda/vcrs/build/loss.cu */

/* What the operations find among the entries. A device has setid, pairid and exponent only */
typedef struct {
  PetscInt    *setid, *pairid; /* [m] */
  VCRSSets     sets, pairs;
  uint16_t    *dictcode; /* [nz] */
  PetscScalar *dict;
  int16_t     *exponent;                          /* [m] of the fixed point containers */
  PetscInt    *setlength, *pairlength, *dictuses; /* parts of facts */
} VCRSFound; /* owner: src/vcrs/build/build.c, src/vcrs/build/containers.c, cuda/vcrs/build/sets.cu, cuda/vcrs/build/build.cu */

/* A compression. For a device, arrays are on the device, except the arrays of facts */
typedef struct {
  const VCRSBuildOps *ops;
  const VCRSOptions  *opt;
  VCRSOptions         exact; /* replaces opt if no loss is worth its row sums */
  VCRSCSR             csr;   /* the matrix */
  const PetscScalar  *extra; /* [m] additions to the row sums that are kept, or NULL */
  PetscInt            m, n;

  /* The host must compress this matrix, or report its defect; set by operations of a device only */
  PetscBool tohost;

  /*
     The matrix after the loss, entries in the order of storage; VCRSRowValues() gives the values of a row. In the
     difference form entry 0 of a row is its reference, with the value implied by the row sum, unless codes replace all
     values
  */
  const PetscInt    *i, *j;
  const PetscScalar *a; /* NULL on the host where codes say all */
  PetscInt          *ownj;
  PetscScalar       *owna;
  PetscBool          lossless, difference;
  PetscScalar       *sigma; /* [m] of the difference form */
  PetscInt          *ref;   /* [m] where in column order the reference stands */
  VCRSRounded        rounded;

  VCRSFacts facts;
  VCRSFound found;
} VCRSBuild;

/*
   The operations of a compression at the place of the matrix: on the host (vcrs/build/build.c) or on a device
   (cuda/vcrs/build/build.cu). Their results go to facts. An operation of a device may set tohost; then no further
   operation is called.
*/
struct _VCRSBuildOps {
  PetscBool device;
  PetscErrorCode (*findfew)(VCRSBuild *, PetscBool *);                 /* whether different rows are few: then sets and pairs may be searched */
  PetscErrorCode (*loss)(VCRSBuild *, VCRSReport *);                   /* the matrix after the loss; has[] of logarithms */
  PetscErrorCode (*measurerows)(VCRSBuild *);                          /* stored */
  PetscErrorCode (*findsets)(VCRSBuild *, PetscInt limit);             /* hassets, sets */
  PetscErrorCode (*findpairs)(VCRSBuild *, PetscInt limit);            /* haspairs, pairs */
  PetscErrorCode (*countvaluesets)(VCRSBuild *, PetscInt64 *);         /* among the pairs */
  PetscErrorCode (*counttogether)(VCRSBuild *);                        /* together */
  PetscErrorCode (*findfixedpoint)(VCRSBuild *);                       /* has[] of fixed point */
  PetscErrorCode (*findsingle)(VCRSBuild *);                           /* has[] of single precision */
  PetscErrorCode (*finddictionary)(VCRSBuild *, PetscInt limit);       /* has[] of dictionaries, ndict; dictuses if needed */
  PetscErrorCode (*measuresetslices)(VCRSBuild *);                     /* setvalues */
  PetscErrorCode (*findslices)(VCRSBuild *, size_t bytes, VCRSPlan *); /* arrays of L3 but for values and columns.offset */
  PetscErrorCode (*forgetslices)(VCRSBuild *, VCRSPlan *);             /* findslices() is undone */

  /* Arrays of the plan, whose layout and container are chosen */
  PetscErrorCode (*encodesets)(VCRSBuild *, VCRSPlan *);   /* L0, L1, L2: ids and sets */
  PetscErrorCode (*findgroups)(VCRSBuild *, VCRSPlan *);   /* L3: whether columns are grouped */
  PetscErrorCode (*encodeslices)(VCRSBuild *, VCRSPlan *); /* L1, L2, L3: values, columns, and their decoding data */
  PetscErrorCode (*encodesigma)(VCRSBuild *, VCRSPlan *);  /* row sums of the difference form */
};

/* vcrs/build/choose.c: a compression calls the three in turn, and reads tohost after each */
PETSC_INTERN PetscErrorCode VCRSBuildStart(VCRSBuild *, VCRSReport *);
PETSC_INTERN PetscErrorCode VCRSBuildChoose(VCRSBuild *, VCRSPlan *, VCRSReport *);
PETSC_INTERN PetscErrorCode VCRSBuildEncode(VCRSBuild *, VCRSPlan *);

/* The value of code c of a row */
static inline PetscReal VCRSCodeValue(const VCRSBuild *b, PetscInt row, uint16_t c)
{
  return b->rounded.log ? LitheLogScaleDecode(b->rounded.log, c) : (PetscReal)((double)(int16_t)c * LithePow2(b->rounded.rowexp[row]));
}

/*
   The values of a row in the order of storage, without entry 0 of the difference form; in b->rounded.room[which] if
   b->a is NULL
*/
static inline const PetscScalar *VCRSRowValues(const VCRSBuild *b, PetscInt row, int which)
{
  const PetscInt  p = b->i[row], len = b->i[row + 1] - p, first = b->difference ? 1 : 0;
  const uint16_t *code;
  PetscReal      *v;

  if (!b->rounded.code && !b->rounded.single) return b->a + p;
  code = b->rounded.code + (size_t)p * VCRS_COMPONENTS;
  v    = (PetscReal *)b->rounded.room[which];
  if (b->rounded.single) {
    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) v[k] = (PetscReal)b->rounded.single[(size_t)p * VCRS_COMPONENTS + (size_t)k];
  } else if (b->rounded.log) {
    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) v[k] = LitheLogScaleDecode(b->rounded.log, code[k]);
  } else {
    const double step = LithePow2(b->rounded.rowexp[row]);

    for (PetscInt k = first * VCRS_COMPONENTS; k < len * VCRS_COMPONENTS; k++) v[k] = (PetscReal)((double)(int16_t)code[k] * step);
  }
  return b->rounded.room[which];
}

/* vcrs/loss/loss.c */
PETSC_INTERN PetscBool      VCRSLossIsNone(const VCRSOptions *);
PETSC_INTERN PetscErrorCode VCRSLossApply(VCRSBuild *, const VCRSCSR *, const PetscScalar[], VCRSReport *);

/* vcrs/build/cost.c */
#define VCRS_NLIMITS 5
PETSC_INTERN const PetscInt VCRSSliceLimits[VCRS_NLIMITS];
PETSC_INTERN PetscInt       VCRSIdBytes(PetscInt);
PETSC_INTERN PetscBool      VCRSDictionaryFits(PetscInt);
PETSC_INTERN PetscBool      VCRSSingleMayWin(PetscInt, double, const PetscBool[]);
PETSC_INTERN PetscInt       VCRSDictionaryLimit(PetscInt, double, const PetscBool[]);
PETSC_INTERN size_t         VCRSSmallestValueBytes(const VCRSFacts *);
PETSC_INTERN PetscInt       VCRSChooseSliceLimit(PetscInt, PetscInt, size_t, const PetscInt64[], const PetscInt64[]);
PETSC_INTERN VCRSSigma      VCRSChooseSigma(PetscInt, PetscInt64);
PETSC_INTERN PetscBool      VCRSMayGroup(const VCRSPlan *);
PETSC_INTERN PetscBool      VCRSChooseGroups(const VCRSPlan *, PetscInt64, PetscInt, PetscInt64);
