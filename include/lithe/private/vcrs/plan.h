/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The plan of a compressed matrix: which array holds what. Plain data, read by the host loops (src/vcrs/mult/mult.c)
   and by the kernels (cuda/vcrs/plan/plan.cu). On the GPU the same struct holds device pointers.

   A plan holds an m x n matrix in one layout:

     LITERAL   the article's six arrays
     L0        sets.id[row] names a pair (index set, value set)
     L1, L2    sets.id[row] names an index set; values in slices of 32 rows
     L3        column offsets and values in slices of 32 rows; very long rows apart

   Difference form (plan->difference, lossy plans only). Entry 0 of every row is the reference: the
   diagonal entry if the pattern has it, else the entry of largest modulus. All other entries follow
   in column order. The value of the reference is not stored, and
     y_i = sigma_i x_ref + sum_{k>=1} a_ik (x_k - x_ref),
   so the row sum is sigma_i exactly. An empty row has no reference and y_i = 0. In L0 the slot of the
   reference holds minus the sum of all other entries: y_i = sigma_i x_ref + the sum over the whole set.
   Without the difference form all entries are stored, in column order. On a device, entries of rows with
   grouped columns have another order, except the reference: cuda/vcrs/mult/banks.cu.

   Slices. Slice s holds 32 lanes. In L1 and L2 lane l of slice s is row 32 s + l. In L3 rows are ordered by falling
   length inside windows of VCRS_WINDOW rows. Lane l of slice s is row VCRS_WINDOW * (s / (VCRS_WINDOW/32)) +
   lanes.perm[32 s + l]. Let first = difference ? 1 : 0. For k >= first, entry k of a lane is at position
   slices.ptr[s] + 32 (k - first) + lane of slices.value[]; slices.ptr[] counts entries. A lane's length comes from
   its index set (L1, L2) or from lanes.length[] (L3). Slices are padded to the length of the longest lane with codes
   and columns of zero. Kernels of grouped columns sum the padding if code 0 means the value 0.

   L3 columns: col(k) = columns.base[c + k] + the unsigned integer of columns.width[s] bytes at byte
     columns.begin[s] + (32 k + lane) columns.width[s]
   of columns.offset[], 0 where a lane is padded, with k counted from 0 in both forms and c = VCRSColumnBase(plan,
   s). The base is the least column of entry k in the lanes of the slice. Rows of a slice are neighbours, so entries
   k are near one another even in wide rows. slices.ptr[s] is a multiple of 32, also for s = slices.n, because the
   values of long rows come after. Thus c = slices.ptr[s]/32 counts the entries of the longest lanes before slice s.
   The difference form adds one per slice for the reference (an empty slice then has an unused base).

   Rows longer than VCRS_LONG_ROW have lanes.length 0 and are stored separately. Long row q is row longrows.row[q],
   with entries longrows.ptr[q] .. longrows.ptr[q+1]-1 of longrows.col[]. The value of entry p is
   slices.value[longrows.value + p] (in the difference form the slot of entry 0 of each row exists and is unused).

   Plain rows (plan->plainrows): a CSR variant for CPUs, used if the sliced form is estimated to be slower. It is L3
   without slices: all nonempty rows are long rows, with whole entries and without the difference form. If no row has
   more than 255 entries, row lengths are bytes, and row offsets are stored for every 32nd row only. With at least
   VCRS_ROWS_LARGE entries, columns are stored in two bytes if long rows permit: for each b, the columns of long rows
   32 b .. 32 b + 31 must lie within 65536 of the least column, longrows.shortbase[b]. The column of entry p of row q
   is then longrows.shortbase[q / 32] + longrows.shortcol[p], and longrows.col[] does not exist. VCRS_ROWS_PAD
   entries and columns of 0 follow the last entry.
*/

#include <lithemat.h>
#include <lithe/private/hostdevice.h>
#include <stdint.h>

#define VCRS_SLICE  32
#define VCRS_WINDOW 256
#define VCRS_GROUP  4

#define VCRS_WINDOW_SLICES (VCRS_WINDOW / VCRS_SLICE)
#define VCRS_GROUP_SPAN    65536  /* numbers of groups are stored in two bytes */
#define VCRS_LONG_ROW      255    /* lanes.length is one byte; the build may set a lower limit */
#define VCRS_ROWS_PAD      4      /* plain rows: number of zero entries after the last entry */
#define VCRS_ROWS_LARGE    262144 /* nonzeros of a large matrix: for a smaller matrix a cache holds the columns, and branch prediction remembers the row ends */
#define VCRS_ALIKE         5      /* plain rows with the same columns that are multiplied together, like the inodes of MATSEQAIJ */
#define VCRS_LOG_POWERS    5      /* coefficients of LitheLogFine(), codec/logarithmic.h */

/* How an entry is stored. Complex entries are stored by components, real part first, but for full and dict. */
typedef enum {
  VCRS_VALUES_FULL,   /* PetscScalar */
  VCRS_VALUES_SINGLE, /* float */
  VCRS_VALUES_DICT8,  /* uint8_t c:  dict[c] of decoding */
  VCRS_VALUES_DICT16, /* uint16_t c: dict[c] */
  VCRS_VALUES_LOG8,   /* uint8_t c:  coarse[c]; sign and zero are in the table */
  VCRS_VALUES_LOG16,  /* uint16_t c: coarse[c >> 8] * fine[c & 255]; coarse[0] = 0 */
  VCRS_VALUES_FIXED8, /* int8_t q:   q * 2^exponent[row] */
  VCRS_VALUES_FIXED16 /* int16_t q:  q * 2^exponent[row] */
} VCRSValues;
PETSC_EXTERN const char *const VCRSValueNames[];

/* Row sums of the difference form */
typedef enum {
  VCRS_SIGMA_NONE,   /* all zero */
  VCRS_SIGMA_SPARSE, /* bit l of sums.mask[s]: the sum of row 32 s + l is nonzero, at sums.value[sums.ptr[s] + number of lower bits set] */
  VCRS_SIGMA_FULL    /* sums.value[row] */
} VCRSSigma;

typedef enum {
  VCRS_OP_N, /* A   */
  VCRS_OP_T, /* A^T */
  VCRS_OP_H  /* A^H */
} VCRSOp;

/* LITERAL: y_i = sum_k data[dataptr[i]+k] x[first[i] + idx[idxptr[i]+k]], k < length[i] */
typedef struct {
  PetscInt    *length, *first, *idxptr, *dataptr; /* [m] each */
  PetscInt     nidx, ndata;
  PetscInt    *idx;  /* [nidx] */
  PetscScalar *data; /* [ndata] */
} VCRSPlanLiteral;

/*
   L0, L1, L2: a row's id; set p has entries ptr[p] .. ptr[p+1]-1 of offset[] (column minus row) and, in L0, of value[]
*/
typedef struct {
  PetscInt     idbytes; /* 1, 2 or 4 */
  void        *id;      /* [m] */
  PetscInt     n;
  PetscInt    *ptr;    /* [n+1] */
  PetscInt    *offset; /* [ptr[n]] */
  PetscScalar *value;  /* [ptr[n]], L0 only */
  PetscInt    *count;  /* [n], the number of rows with the set; on the host only */
} VCRSPlanSets;

/* L1, L2, L3: values in slices */
typedef struct {
  PetscInt    n;
  PetscInt64  nvalue; /* entries in value[], padding and long rows included */
  PetscInt64 *ptr;    /* [n+1] */
  void       *value;  /* [nvalue] entries of VCRSValueBytes(values) bytes */
} VCRSPlanSlices;

/* L3: the rows of slices */
typedef struct {
  uint8_t  *length; /* [32 slices.n] */
  uint8_t  *perm;   /* [32 slices.n], or NULL: the natural order */
  PetscBool sorted; /* perm[] exists, maybe on the device only */
} VCRSPlanLanes;

/* L3: columns. The sizes are those of arrays that may be on the device only */
typedef struct {
  PetscInt64  nbase;
  PetscInt   *base;  /* [nbase], one for each entry of the longest lane of each slice */
  uint8_t    *width; /* [slices.n] 1, 2, 4 (8 with 64-bit indices) */
  PetscInt64 *begin; /* [slices.n+1] bytes, each a multiple of 32 */
  PetscInt64  nbytes;
  uint8_t    *offset; /* [nbytes] */
} VCRSPlanColumns;

/* L3, grouped columns: the groups of each window of rows */
typedef struct {
  PetscInt *ptr;         /* [nwindows+1], nwindows = VCRSWindows(plan) */
  PetscInt *first;       /* [nwindows] */
  uint16_t *group;       /* [n] */
  PetscInt  n;           /* of all windows, stand-ins included */
  PetscInt  most;        /* of a window, stand-in included */
  PetscInt  mostcolumns; /* entries of columns.offset[] of a window */
  PetscInt  mostbytes;   /* VCRSWindowBytes() */
} VCRSPlanGroups;

/* L3: long rows, or plain rows */
typedef struct {
  PetscInt    n;
  PetscInt   *row;       /* [n], ascending; NULL: plain rows, all of the matrix */
  PetscInt64 *ptr;       /* [n+1]; with length[] [ceil(n/32)], one for every 32 rows */
  uint8_t    *length;    /* plain rows: [n], or NULL: some are too long */
  PetscInt64  nentries;  /* of col[] or shortcol[] */
  PetscInt   *col;       /* [nentries], of plain rows VCRS_ROWS_PAD more, or NULL: shortcol[] */
  uint16_t   *shortcol;  /* plain rows: [nentries + VCRS_ROWS_PAD], or NULL */
  PetscInt   *shortbase; /* [ceil(n/32)], with shortcol[] */
  PetscInt64  value;     /* begin of the long rows in slices.value[] */
  /*
     [n], on the host, plain rows only: the number of consecutive rows from row q on with equal columns; 0 if q is not
     the first of these rows. NULL: few rows have equal columns
  */
  uint8_t *alike;
} VCRSPlanLong;

/* From a stored entry to its value */
typedef struct {
  PetscInt     ndict;
  PetscScalar *dict;          /* [ndict] */
  PetscReal   *coarse, *fine; /* [256] each, of logarithms */
  PetscBool    shortlog;      /* lower words of coarse[] are zero, fine[c] is LitheLogFine(VCRS_LOG_POWERS, power, c) */
  float        power[VCRS_LOG_POWERS];
  int16_t     *exponent; /* [m], by row */
} VCRSPlanDecoding;

/* Row sums of the difference form */
typedef struct {
  VCRSSigma    kind;
  PetscInt64   n;
  PetscScalar *value; /* [n] */
  uint32_t    *mask;  /* [ceil(m/32)] */
  PetscInt    *ptr;   /* [ceil(m/32)] */
} VCRSPlanSums;

typedef struct {
  MatVCRSLayout layout;
  VCRSValues    values;
  PetscBool     difference;
  PetscBool     grouped;   /* L3: columns are grouped */
  PetscBool     plainrows; /* L3: see above; on the host only */
  PetscInt      m, n;
  PetscInt64    nz; /* entries of the matrix, references included */

  VCRSPlanLiteral  literal;
  VCRSPlanSets     sets;
  VCRSPlanSlices   slices;
  VCRSPlanLanes    lanes;
  VCRSPlanColumns  columns;
  VCRSPlanGroups   groups;
  VCRSPlanLong     longrows;
  VCRSPlanDecoding decoding;
  VCRSPlanSums     sums;

  /* on the device only: launch parameters of cuda/vcrs/plan/kernels.cu, made by the upload or the first product */
  void *launch;

  /* on the device only: an exchange runs concurrently with products. A kernel whose blocks fill multiprocessors
     leaves LITHE_HALO_MULTIPROCESSORS free */
  PetscBool beside;

  /* number of additional users of the plan: VCRSPlanDestroy(), and on a device MatVCRSReset_Private() */
  PetscInt shared;
} VCRSPlan;

/* L3: begin of slice s in columns.base[]; for slices.n, the size of columns.base[] */
LITHE_HD static inline PetscInt64 VCRSColumnBase(const VCRSPlan *plan, PetscInt64 s)
{
  return plan->slices.ptr[s] / VCRS_SLICE + (plan->difference ? s : 0);
}

/* The row of a lane, counted over all slices; it may lie beyond the last row */
LITHE_HD static inline PetscInt64 VCRSLaneRow(const VCRSPlan *plan, PetscInt64 lane)
{
  return plan->lanes.perm ? lane / VCRS_WINDOW * VCRS_WINDOW + plan->lanes.perm[lane] : lane;
}

/* L3, on the host: number, length and first entry of long row q */
static inline PetscInt VCRSLongRow(const VCRSPlan *plan, PetscInt q)
{
  return plan->longrows.row ? plan->longrows.row[q] : q;
}

static inline PetscInt VCRSLongLength(const VCRSPlan *plan, PetscInt q)
{
  return plan->longrows.length ? plan->longrows.length[q] : (PetscInt)(plan->longrows.ptr[q + 1] - plan->longrows.ptr[q]);
}

static inline PetscInt64 VCRSLongBegin(const VCRSPlan *plan, PetscInt q)
{
  PetscInt64 p;

  if (!plan->longrows.length) return plan->longrows.ptr[q];
  p = plan->longrows.ptr[q / VCRS_SLICE];
  for (PetscInt r = q - q % VCRS_SLICE; r < q; r++) p += plan->longrows.length[r];
  return p;
}

/* The column of entry p, which belongs to long row q */
static inline PetscInt VCRSLongColumn(const VCRSPlan *plan, PetscInt q, PetscInt64 p)
{
  return plan->longrows.shortcol ? plan->longrows.shortbase[q / VCRS_SLICE] + plan->longrows.shortcol[p] : plan->longrows.col[p];
}

/* L3: windows of rows */
LITHE_HD static inline PetscInt VCRSWindows(const VCRSPlan *plan)
{
  return (plan->slices.n + VCRS_WINDOW_SLICES - 1) / VCRS_WINDOW_SLICES;
}

/* L3: the slice after the last slice of window w */
LITHE_HD static inline PetscInt VCRSWindowEnd(const VCRSPlan *plan, PetscInt w)
{
  const PetscInt begin = VCRS_WINDOW_SLICES * w;

  return plan->slices.n - begin < VCRS_WINDOW_SLICES ? plan->slices.n : begin + VCRS_WINDOW_SLICES;
}

/* L3, grouped columns: number of entries of columns.offset[] in window w */
LITHE_HD static inline PetscInt VCRSWindowColumns(const VCRSPlan *plan, PetscInt w)
{
  return (PetscInt)(VCRS_SLICE * (VCRSColumnBase(plan, VCRSWindowEnd(plan, w)) - VCRSColumnBase(plan, VCRS_WINDOW_SLICES * w)));
}

/* L3, grouped columns: the column of a number from columns.offset[] in window w */
LITHE_HD static inline PetscInt VCRSGroupedColumn(const VCRSPlan *plan, PetscInt w, uint16_t number)
{
  return VCRS_GROUP * (plan->groups.first[w] + plan->groups.group[plan->groups.ptr[w] + number / VCRS_GROUP]) + number % VCRS_GROUP;
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

/*
   L3, grouped columns: bytes that a product reads for window w with ngroups groups, stand-in included: x, columns,
   values
*/
LITHE_HD static inline PetscInt64 VCRSWindowBytes(const VCRSPlan *plan, PetscInt w, PetscInt ngroups)
{
  const PetscInt64 nvalues = plan->slices.ptr[VCRSWindowEnd(plan, w)] - plan->slices.ptr[VCRS_WINDOW_SLICES * w];

  return (PetscInt64)(VCRS_GROUP * sizeof(PetscScalar)) * ngroups + (PetscInt64)sizeof(uint16_t) * VCRSWindowColumns(plan, w) +
         (PetscInt64)VCRSValueBytes(plan->values) * nvalues;
}

/* Results of a survey, before any entry is rounded: of components, to be combined by minimum and maximum */
typedef struct {
  PetscReal min, max;        /* of all */
  PetscReal lowest, highest; /* of stored entries, without references */
  PetscReal smallest;        /* nonzero modulus of stored entries */
} VCRSSurvey;

/*
   Numbers on which the off-diagonal blocks of a symmetric matrix agree between processes. a_ij here and a_ji elsewhere
   then become the same number.
*/
typedef struct {
  VCRSSurvey     survey;         /* of all blocks */
  const int16_t *columnexponent; /* [n] log2 of the step of the row with the column's number, on its own process */
} VCRSAgreement;

/* Whether a compression makes plain rows, on the host and without loss: see above */
typedef enum {
  VCRS_PLAIN_NEVER,
  VCRS_PLAIN_WHOLE, /* in place of whole entries in slices of L3, if products with slices are estimated to be slower */
  VCRS_PLAIN_ALWAYS
} VCRSPlain;

/* The options of a compression */
typedef struct {
  MatVCRSLayout layout;
  MatVCRSLoss   loss;
  PetscInt      bits;        /* 8 or 16: LOG and FIXED */
  PetscInt      bins;        /* BINS, BINCLASSES */
  PetscReal     lambda;      /* CLASSES, BINCLASSES */
  MatVCRSUnit   unit;        /* CLASSES, BINCLASSES */
  PetscBool     rowsums;     /* keep row sums (difference form) */
  PetscBool     refine;      /* take a finer loss if the loss is too coarse for many rows: VCRSLossRefine() */
  PetscBool     symmetric;   /* the matrix is known to be (Hermitian) symmetric, and stays symmetric */
  PetscBool     hermitian;   /* the matrix is Hermitian and complex: the diagonal stays real */
  PetscBool     offdiagonal; /* an off-diagonal block, whose columns name no rows: no diagonal to guard */
  VCRSPlain     plain;

  const VCRSAgreement *agreement; /* NULL but for an off-diagonal block */
} VCRSOptions;

/* Facts of a compression, the terms of MatVCRSInfo */
typedef struct {
  PetscInt64 indexsets, valuesets, pairs; /* -1: not counted */
  PetscReal  maxabserror, maxrowerror, bound;
  PetscReal  froberror, frobnorm;
  PetscReal  rowsumerror;
  PetscInt64 guardrows, coarserows, lostrows; /* rows changed by a guard, rows with a coarse loss, rows whose reference or sum cannot be held */
} VCRSReport;
