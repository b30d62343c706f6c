/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The plan of a compressed matrix: what is stored where. Plain data, read by the host loops
   (src/vcrs/mult/mult.c) and by the kernels (cuda/vcrs/plan.cu); on the GPU it is the same struct
   with device pointers in it.

   A plan holds an m x n matrix in one layout:

     LITERAL   the article's six arrays
     L0        id[row] names a pair (index set, value set)
     L1, L2    id[row] names an index set; values in slices of 32 rows
     L3        column offsets and values in slices of 32 rows; very long rows apart

   Difference form (plan->difference, lossy plans only). Entry 0 of every row is its reference: the
   diagonal entry if the pattern has it, else the entry of largest modulus; the other entries follow
   in column order. The reference's value is not stored, and
     y_i = sigma_i x_ref + sum_{k>=1} a_ik (x_k - x_ref),
   so the row sum is sigma_i exactly. An empty row has no reference and y_i = 0. In L0 the slot of the
   reference is there and holds minus the sum of the others, so that y_i = sigma_i x_ref + the sum over
   the whole set. Without the difference form all entries are stored, in column order. (On a device rows with grouped columns
   have their entries, but for the reference, in another order: cuda/vcrs/mult/banks.cu.)

   Slices. Slice s holds 32 lanes. In L1 and L2 lane l of slice s is row 32 s + l. In L3 rows are
   ordered by falling length inside windows of VCRS_WINDOW rows: lane l of slice s is row
     VCRS_WINDOW * (s / (VCRS_WINDOW/32)) + rowperm[32 s + l].
   Entry k of a lane lies, for k >= first with first = difference ? 1 : 0, at position
     sliceptr[s] + 32 (k - first) + lane
   of value[]; sliceptr[] counts entries. A lane's length comes from its index set (L1, L2) or from
   rowlength[] (L3); what pads a slice to the length of its longest lane is zero, codes and columns: kernels of grouped
   columns sum it where code 0 is a zero for certain.

   L3 columns: col(k) = colbase[c + k] + the unsigned integer of slicewidth[s] bytes at byte
     sliceoffset[s] + (32 k + lane) slicewidth[s]
   of coloffset[], 0 where a lane is padded, with k counted from 0 in both forms and c = VCRSColumnBase(plan, s). The base is the
   least column that a lane of the slice has as its entry k: the rows of a slice are neighbours, so
   that their entries k are near one another even where a row is wide. sliceptr[s] is a multiple of 32
   also for s = nslices, since the values of long rows come after; so c = sliceptr[s]/32 counts the
   entries of the longest lanes before, to which the difference form adds one a slice, s of them, for
   the reference (an empty slice then has a base that is not used).

   Rows longer than VCRS_LONG_ROW have rowlength 0 and stand apart: long row q is row longrow[q], with
   entries longptr[q] .. longptr[q+1]-1 of longcol[]; the value of entry p of them is
   value[longvalue + p] (in the difference form the slot of each row's entry 0 is there and unused).

   Plain rows. Matrices that a CPU multiplies slower from a compressed form than from this one: L3 without slices, in which all
   rows that have entries stand apart, with whole entries and not in the difference form (plan->plainrows). Where none is longer than 255, how long each is
   takes a byte, and where its first entry is stands for every 32 rows only. From VCRS_ROWS_LARGE entries on the
   column of entry p of row q is shortbase[q / 32] + shortcol[p], and there is no longcol[], if the columns of rows 32 b .. 32 b + 31
   (of those that stand apart, for each b) lie within 65536 of the least of them, shortbase[b]. Behind the last entry
   there are VCRS_ROWS_PAD more, and as many columns, all 0.
*/

#include <lithemat.h>
#include <lithe/private/hostdevice.h>
#include <stdint.h>

#define VCRS_SLICE  32
#define VCRS_WINDOW 256
#define VCRS_GROUP  4

#define VCRS_WINDOW_SLICES (VCRS_WINDOW / VCRS_SLICE)
#define VCRS_GROUP_SPAN    65536 /* numbers of groups are stored in two bytes */
#define VCRS_LONG_ROW      255   /* rowlength is one byte; the build may set a lower limit */
#define VCRS_ROWS_PAD      4     /* plain rows: entries of value 0 behind the last one */
#define VCRS_ROWS_LARGE \
  262144                  /* and so many of a matrix that is large: of a smaller one a cache holds the columns, and a processor remembers how the rows end */
#define VCRS_ALIKE      5 /* plain rows of the same columns that are multiplied together, as MATSEQAIJ does with its inodes */
#define VCRS_LOG_POWERS 5 /* coefficients of LitheLogFine(), src/codec/logarithmic.h */

/* How an entry is stored. Complex entries are stored by components, real part first, but for full and dict. */
typedef enum {
  VCRS_VALUES_FULL,   /* PetscScalar */
  VCRS_VALUES_SINGLE, /* float */
  VCRS_VALUES_DICT8,  /* uint8_t c:  dict[c] */
  VCRS_VALUES_DICT16, /* uint16_t c: dict[c] */
  VCRS_VALUES_LOG8,   /* uint8_t c:  logcoarse[c]; sign and zero are in the table */
  VCRS_VALUES_LOG16,  /* uint16_t c: logcoarse[c >> 8] * logfine[c & 255]; logcoarse[0] = 0 */
  VCRS_VALUES_FIXED8, /* int8_t q:   q * 2^exponent[row] */
  VCRS_VALUES_FIXED16 /* int16_t q:  q * 2^exponent[row] */
} VCRSValues;
PETSC_EXTERN const char *const VCRSValueNames[];

/* Row sums of the difference form */
typedef enum {
  VCRS_SIGMA_NONE,   /* all zero */
  VCRS_SIGMA_SPARSE, /* bit l of sigmamask[s]: row 32 s + l has one, at sigma[sigmaptr[s] + number of lower bits set] */
  VCRS_SIGMA_FULL    /* sigma[row] */
} VCRSSigma;

typedef enum {
  VCRS_OP_N, /* A   */
  VCRS_OP_T, /* A^T */
  VCRS_OP_H  /* A^H */
} VCRSOp;

typedef struct {
  MatVCRSLayout layout;
  VCRSValues    values;
  VCRSSigma     sigmakind;
  PetscBool     difference;
  PetscInt      m, n;
  PetscInt64    nz; /* entries of the matrix, references included */

  /* LITERAL: y_i = sum_k literaldata[dataptr[i]+k] x[first[i] + literalidx[idxptr[i]+k]], k < length[i] */
  PetscInt    *length, *first, *idxptr, *dataptr; /* [m] each */
  PetscInt    *literalidx;                        /* [nliteralidx] */
  PetscScalar *literaldata;                       /* [nliteraldata] */
  PetscInt     nliteralidx, nliteraldata;

  /* L0, L1, L2: a row's id; set p has entries setptr[p] .. setptr[p+1]-1 of setoffset[] (column minus row) and, in L0, of setvalue[] */
  PetscInt     idbytes; /* 1, 2 or 4 */
  void        *id;      /* [m] */
  PetscInt     nsets;
  PetscInt    *setptr;    /* [nsets+1] */
  PetscInt    *setoffset; /* [setptr[nsets]] */
  PetscScalar *setvalue;  /* [setptr[nsets]], L0 only */
  PetscInt    *setcount;  /* [nsets], how many rows have it; on the host only */

  /* L1, L2, L3: slices */
  PetscInt    nslices;
  PetscInt64  nvalue;   /* entries in value[], padding and long rows included */
  PetscInt64 *sliceptr; /* [nslices+1] */
  void       *value;    /* [nvalue] entries of VCRSValueBytes(values) bytes */

  /* L3: columns */
  PetscInt   *colbase;     /* [ncolbase], one for each entry of the longest lane of each slice */
  uint8_t    *slicewidth;  /* [nslices] 1, 2, 4 (8 with 64-bit indices) */
  PetscInt64 *sliceoffset; /* [nslices+1] bytes, each a multiple of 32 */
  uint8_t    *coloffset;   /* [ncolbytes] */
  PetscInt   *groupptr;    /* [nwindows+1], nwindows = VCRSWindows(plan) */
  PetscInt   *groupfirst;  /* [nwindows] */
  uint16_t   *group;       /* [ngroups] */
  uint8_t    *rowlength;   /* [32 nslices] */
  uint8_t    *rowperm;     /* [32 nslices], or NULL: the natural order */
  PetscInt    nlong;
  PetscBool   plainrows;  /* see above; on the host only */
  PetscInt   *longrow;    /* [nlong], ascending; NULL: plain rows, all of the matrix */
  PetscInt64 *longptr;    /* [nlong+1]; with longlength[] [ceil(nlong/32)], one for every 32 rows */
  uint8_t    *longlength; /* plain rows: [nlong], or NULL: some are too long */
  PetscInt   *longcol;    /* [nlongentries], of plain rows VCRS_ROWS_PAD more, or NULL: shortcol[] */
  uint16_t   *shortcol;   /* plain rows: [nlongentries + VCRS_ROWS_PAD], or NULL */
  PetscInt   *shortbase;  /* [ceil(nlong/32)], with shortcol[] */
  uint8_t *
    /*
       [nlong], on the host, plain rows only: so many of them from row q on, which follow one another, have the same
       columns; 0: q is one of those after the first. NULL: few have
    */
             longalike;
  PetscInt64 longvalue; /* where in value[] the long rows begin */

  /* L3: sizes of what may be on the device only */
  PetscInt64 ncolbase;     /* entries of colbase[] */
  PetscInt64 ncolbytes;    /* of coloffset[] */
  PetscBool  grouped;      /* columns are */
  PetscInt   ngroups;      /* of all windows, the stand-ins included */
  PetscInt   mostgroups;   /* of a window, the stand-in included */
  PetscInt   mostcolumns;  /* entries of coloffset[] of a window */
  PetscInt   mostbytes;    /* VCRSWindowBytes() */
  PetscInt64 nlongentries; /* of longcol[] or shortcol[] */
  PetscBool  sorted;       /* there is a rowperm[] */

  /* decoding */
  PetscInt     ndict;
  PetscScalar *dict;                /* [ndict] */
  PetscReal   *logcoarse, *logfine; /* [256] each */
  PetscBool    shortlog;            /* lower words of logcoarse[] are zero, logfine[c] is LitheLogFine(VCRS_LOG_POWERS, logpower, c) */
  float        logpower[VCRS_LOG_POWERS];
  int16_t     *exponent; /* [m], by row */

  /* row sums of the difference form */
  PetscInt64   nsigma;
  PetscScalar *sigma;     /* [nsigma] */
  uint32_t    *sigmamask; /* [ceil(m/32)] */
  PetscInt    *sigmaptr;  /* [ceil(m/32)] */

  /* on the device only: what cuda/vcrs/kernels.cu has chosen for its launches, made by the upload or the first product */
  void *launch;

  /* the same: an exchange runs beside products. A kernel whose blocks fill multiprocessors leaves LITHE_HALO_MULTIPROCESSORS of them alone */
  PetscBool beside;

  /* so many others use the plan, beside the one who asks: VCRSPlanDestroy(), and on a device MatVCRSReset_Private() */
  PetscInt shared;
} VCRSPlan;

/* L3: where in colbase[] slice s begins; of nslices, how many there are */
LITHE_HD static inline PetscInt64 VCRSColumnBase(const VCRSPlan *plan, PetscInt64 s)
{
  return plan->sliceptr[s] / VCRS_SLICE + (plan->difference ? s : 0);
}

/* The row of a lane, counted over all slices; it may lie beyond the last row */
LITHE_HD static inline PetscInt64 VCRSLaneRow(const VCRSPlan *plan, PetscInt64 lane)
{
  return plan->rowperm ? lane / VCRS_WINDOW * VCRS_WINDOW + plan->rowperm[lane] : lane;
}

/* L3, on the host: which row row q is of those that stand apart, how many entries it has, and which is the first of them */
static inline PetscInt VCRSLongRow(const VCRSPlan *plan, PetscInt q)
{
  return plan->longrow ? plan->longrow[q] : q;
}

static inline PetscInt VCRSLongLength(const VCRSPlan *plan, PetscInt q)
{
  return plan->longlength ? plan->longlength[q] : (PetscInt)(plan->longptr[q + 1] - plan->longptr[q]);
}

static inline PetscInt64 VCRSLongBegin(const VCRSPlan *plan, PetscInt q)
{
  PetscInt64 p;

  if (!plan->longlength) return plan->longptr[q];
  p = plan->longptr[q / VCRS_SLICE];
  for (PetscInt r = q - q % VCRS_SLICE; r < q; r++) p += plan->longlength[r];
  return p;
}

/* The column of entry p of these, which is one of row q */
static inline PetscInt VCRSLongColumn(const VCRSPlan *plan, PetscInt q, PetscInt64 p)
{
  return plan->shortcol ? plan->shortbase[q / VCRS_SLICE] + plan->shortcol[p] : plan->longcol[p];
}

/* L3: windows of rows */
LITHE_HD static inline PetscInt VCRSWindows(const VCRSPlan *plan)
{
  return (plan->nslices + VCRS_WINDOW_SLICES - 1) / VCRS_WINDOW_SLICES;
}

/* L3: the slice behind the last one of window w */
LITHE_HD static inline PetscInt VCRSWindowEnd(const VCRSPlan *plan, PetscInt w)
{
  const PetscInt begin = VCRS_WINDOW_SLICES * w;

  return plan->nslices - begin < VCRS_WINDOW_SLICES ? plan->nslices : begin + VCRS_WINDOW_SLICES;
}

/* L3, grouped columns: entries of coloffset[] that window w has */
LITHE_HD static inline PetscInt VCRSWindowColumns(const VCRSPlan *plan, PetscInt w)
{
  return (PetscInt)(VCRS_SLICE * (VCRSColumnBase(plan, VCRSWindowEnd(plan, w)) - VCRSColumnBase(plan, VCRS_WINDOW_SLICES * w)));
}

/* L3, grouped columns: which column a number from coloffset[] is in window w */
LITHE_HD static inline PetscInt VCRSGroupedColumn(const VCRSPlan *plan, PetscInt w, uint16_t number)
{
  return VCRS_GROUP * (plan->groupfirst[w] + plan->group[plan->groupptr[w] + number / VCRS_GROUP]) + number % VCRS_GROUP;
}

/* Bytes of one stored entry */
LITHE_HD static inline size_t VCRSValueBytes(VCRSValues v)
{
  const size_t components = sizeof(PetscScalar) / sizeof(PetscReal);

  switch (v) {
  case VCRS_VALUES_SINGLE:
    return components * sizeof(float);
  case VCRS_VALUES_DICT8:
    return 1;
  case VCRS_VALUES_DICT16:
    return 2;
  case VCRS_VALUES_LOG8:
  case VCRS_VALUES_FIXED8:
    return components;
  case VCRS_VALUES_LOG16:
  case VCRS_VALUES_FIXED16:
    return 2 * components;
  default:
    return sizeof(PetscScalar);
  }
}

/* L3, grouped columns: bytes that a product reads for window w, which has ngroups groups with the stand-in: the x of these, columns, values */
LITHE_HD static inline PetscInt64 VCRSWindowBytes(const VCRSPlan *plan, PetscInt w, PetscInt ngroups)
{
  const PetscInt64 nvalues = plan->sliceptr[VCRSWindowEnd(plan, w)] - plan->sliceptr[VCRS_WINDOW_SLICES * w];

  return (PetscInt64)(VCRS_GROUP * sizeof(PetscScalar)) * ngroups + (PetscInt64)sizeof(uint16_t) * VCRSWindowColumns(plan, w) +
         (PetscInt64)VCRSValueBytes(plan->values) * nvalues;
}

/* What a survey finds, before any entry is rounded: of components, to be combined by minimum and maximum */
typedef struct {
  PetscReal min, max;        /* of all */
  PetscReal lowest, highest; /* of stored entries, that is without references */
  PetscReal smallest;        /* nonzero modulus of stored entries */
} VCRSSurvey;

/*
   What the off-diagonal blocks of a symmetric matrix have to agree on between processes, so that
   a_ij here and a_ji there become the same number.
*/
typedef struct {
  VCRSSurvey     survey;         /* of all blocks */
  const int16_t *columnexponent; /* [n] log2 of the step that the row of that number has on its own process */
} VCRSAgreement;

/* Whether a compression makes plain rows, on the host and without loss: see vcrsplan.h */
typedef enum {
  VCRS_PLAIN_NEVER,
  VCRS_PLAIN_WHOLE, /* in place of whole entries in slices of L3, where products with these are estimated to be slower */
  VCRS_PLAIN_ALWAYS
} VCRSPlain;

/* The options that a compression depends on */
typedef struct {
  MatVCRSLayout layout;
  MatVCRSLoss   loss;
  PetscInt      bits;        /* 8 or 16: LOG and FIXED */
  PetscInt      bins;        /* BINS */
  PetscReal     lambda;      /* CLASSES */
  MatVCRSUnit   unit;        /* CLASSES */
  PetscBool     rowsums;     /* keep them (difference form) */
  PetscBool     refine;      /* take a finer loss where this one is too coarse for many rows: VCRSLossRefine() */
  PetscBool     symmetric;   /* the matrix is known to be (Hermitian) symmetric: keep it so */
  PetscBool     hermitian;   /* it is Hermitian and complex: its diagonal stays real */
  PetscBool     offdiagonal; /* an off-diagonal block, whose columns name no rows: it has no diagonal to guard */
  VCRSPlain     plain;

  const VCRSAgreement *agreement; /* NULL but for an off-diagonal block */
} VCRSOptions;

/* What a compression did: what MatVCRSInfo is summed from */
typedef struct {
  PetscInt64 indexsets, valuesets, pairs; /* -1: not counted */
  PetscReal  maxabserror, maxrowerror, bound;
  PetscReal  froberror, frobnorm;
  PetscReal  rowsumerror;
  PetscInt64 guardrows, coarserows, lostrows; /* rows that a guard changed, for which the loss is coarse, whose reference or sum cannot be held */
} VCRSReport;
