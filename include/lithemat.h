/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = Mat */

#include <lithesys.h>
#include <petscdm.h>
#include <petscmat.h>

/* "vcrs" and "aijvcrs" stand for the sequential or parallel type, by the size of the communicator */
#define MATVCRS       "vcrs"
#define MATAIJVCRS    "aijvcrs"
#define MATSEQAIJVCRS "seqaijvcrs"
#define MATMPIAIJVCRS "mpiaijvcrs"

/* "hybmgpu" and "aijhybmgpu" likewise */
#define MATHYBMGPU       "hybmgpu"
#define MATAIJHYBMGPU    "aijhybmgpu"
#define MATSEQAIJHYBMGPU "seqaijhybmgpu"
#define MATMPIAIJHYBMGPU "mpiaijhybmgpu"

#define MATSBPSAT "sbpsat"

#define MATBORN "born"

/*MC
  MATSOLVERLITHE - "lithe", ILU(0) and ICC(0) of `MATSEQAIJCUSPARSE` in the natural ordering, made and applied on the
  device

  Options Database Keys:
. -pc_factor_mat_solver_type lithe - with -pc_type ilu or icc

  Level: intermediate

  Notes:
  Only builds with CUDA have this type. `PCVCRS` uses it automatically.

  PETSc factors on the host in some cases: fill-in, another ordering, or a shift; a pivot that is zero or not a number;
  a row of more than 4096 entries; more than 65536 levels. PETSc also factors ICC(0) if the pattern is not symmetric, or
  if PETSc's default, `MAT_SHIFT_POSITIVE_DEFINITE`, would shift the diagonal. As in PETSc, ICC(0) reads only entries on
  and above the diagonal. In complex arithmetic ICC(0) factors a symmetric matrix, not a Hermitian matrix. The view of
  the preconditioner shows the place of the factors.

  Solves with the transpose of ILU(0) run on the host; for ICC(0) transposed solves equal plain solves.

.seealso: `PCVCRS`, `PCILU`, `PCICC`, `PCFactorSetMatSolverType()`, `MATSEQAIJCUSPARSE`
M*/
#define MATSOLVERLITHE "lithe"

/*E
  LitheTransport - transport of ghost values between processes in a parallel product

  Values:
+ `LITHE_TRANSPORT_AUTO` - the first possible transport of the list below
. `LITHE_TRANSPORT_IPC`  - a kernel writes ghost values to the memory of the neighbour's device (CUDA IPC; one node),
                           and the host never waits
. `LITHE_TRANSPORT_NCCL` - NCCL sends ghost values from device to device; the library is loaded at run time
- `LITHE_TRANSPORT_MPI`  - `PetscSF`, on the host or the device, as PETSc's options say

  Level: intermediate

.seealso: `MATVCRS`, `MATHYBMGPU`, `MATSBPSAT`, `MATBORN`
E*/
typedef enum {
  LITHE_TRANSPORT_AUTO,
  LITHE_TRANSPORT_IPC,
  LITHE_TRANSPORT_NCCL,
  LITHE_TRANSPORT_MPI
} LitheTransport;
PETSC_EXTERN const char *const LitheTransports[];

/*E
  MatVCRSLayout - storage layout of a `MATVCRS` matrix

  Values:
+ `MATVCRS_LAYOUT_AUTO`    - the layout with the fewest bytes in a product
. `MATVCRS_LAYOUT_LITERAL` - the six arrays of the VCRS article
. `MATVCRS_LAYOUT_L0`      - an id per row names a pair (index set, value set)
. `MATVCRS_LAYOUT_L1`      - an id per row names an index set; entries are full, single, or codes into a dictionary or a
    logarithmic scale
. `MATVCRS_LAYOUT_L2`      - an id per row names an index set; entries are 8 or 16 bit fixed point with a power of two
    per row
- `MATVCRS_LAYOUT_L3`      - slices of 32 rows with 1, 2 or 4 byte column offsets; entries in any of the forms of L1 and
    L2

  Level: intermediate

.seealso: `MATVCRS`, `MatVCRSSetLayout()`
E*/
typedef enum {
  MATVCRS_LAYOUT_AUTO,
  MATVCRS_LAYOUT_LITERAL,
  MATVCRS_LAYOUT_L0,
  MATVCRS_LAYOUT_L1,
  MATVCRS_LAYOUT_L2,
  MATVCRS_LAYOUT_L3
} MatVCRSLayout;
PETSC_EXTERN const char *const MatVCRSLayouts[];

/*E
  MatVCRSLoss - permitted change of the entries of a `MATVCRS` matrix, for fewer bytes

  Values:
+ `MATVCRS_LOSS_NONE`    - nothing: every entry decodes bit for bit
. `MATVCRS_LOSS_BINS`    - the nearest of B equidistant values over the range of the matrix; |error| <= (max - min)/(2B)
. `MATVCRS_LOSS_CLASSES` - rows with equal values within lambda share one set of values; |error| <= lambda times the
    unit
. `MATVCRS_LOSS_LOG`     - logarithmically spaced values; every entry keeps its sign and is changed by a factor in
    [1/(1+d), 1+d]
. `MATVCRS_LOSS_FIXED`   - 8 or 16 bit fixed point, relative to the largest entry of the row
. `MATVCRS_LOSS_SINGLE`  - IEEE single precision
- `MATVCRS_LOSS_BINCLASSES` - bins, then classes; |error| <= the larger one of both bounds

  Level: intermediate

.seealso: `MATVCRS`, `MatVCRSSetLoss()`
E*/
typedef enum {
  MATVCRS_LOSS_NONE,
  MATVCRS_LOSS_BINS,
  MATVCRS_LOSS_CLASSES,
  MATVCRS_LOSS_LOG,
  MATVCRS_LOSS_FIXED,
  MATVCRS_LOSS_SINGLE,
  MATVCRS_LOSS_BINCLASSES
} MatVCRSLoss;
PETSC_EXTERN const char *const MatVCRSLosses[];

/*E
  MatVCRSUnit - the unit of lambda of `MATVCRS_LOSS_CLASSES` and `MATVCRS_LOSS_BINCLASSES`

  Values:
+ `MATVCRS_UNIT_ROW`      - the largest modulus in the row
. `MATVCRS_UNIT_ENTRY`    - the modulus of the entry
- `MATVCRS_UNIT_ABSOLUTE` - one

  Level: intermediate

.seealso: `MATVCRS`, `MatVCRSSetLambda()`
E*/
typedef enum {
  MATVCRS_UNIT_ROW,
  MATVCRS_UNIT_ENTRY,
  MATVCRS_UNIT_ABSOLUTE
} MatVCRSUnit;
PETSC_EXTERN const char *const MatVCRSUnits[];

/*S
  MatVCRSInfo - results of the compression of a `MATVCRS` matrix; sums and maxima over all processes

  Level: intermediate

.seealso: `MATVCRS`, `MatVCRSGetInfo()`
S*/
typedef struct {
  MatVCRSLayout layout;     /* of the diagonal block on this process */
  const char   *values;     /* how entries are stored: full, single, dict8, dict16, log8, log16, fixed8, fixed16 */
  PetscBool     difference; /* y_i = sigma_i x_ref + sum_k a_ik (x_k - x_ref): row sums are exact */
  PetscBool     grouped;    /* columns of L3 are numbered by the groups that a window of rows reads */
  PetscBool
    plainrows; /* products on the host use plain rows, L3 of whole entries row by row: in place of the compressed form or, with plainbytes > 0, beside it */
  PetscInt       idbytes; /* bytes of a row's id, 0 if the layout has none */
  PetscInt64     rows;
  PetscInt64     nonzeros;
  PetscInt64     indexsets; /* distinct index sets, summed over processes and blocks */
  PetscInt64     valuesets;
  PetscInt64     pairs;
  PetscLogDouble tablebytes;  /* of index sets, value sets and dictionaries */
  PetscLogDouble bytes;       /* of the compressed matrix */
  PetscLogDouble aijbytes;    /* the same in AIJ: nonzeros (scalar + PetscInt) + rows PetscInt */
  PetscReal      maxabserror; /* largest |a~ - a| */
  PetscReal      maxrowerror; /* largest |a~ - a| / max_j |a_ij| */
  PetscReal      bound;       /* of every entry: absolute for bins, binclasses and absolute lambda, else relative */
  PetscReal      froberror;   /* ||A~ - A||_F / ||A||_F */
  PetscReal      rowsumerror; /* largest |sum_j (a~_ij - a_ij)| / sum_j |a_ij| */
  PetscReal      asymmetry;   /* largest |a~_ij - a~_ji| / max |a|, of a matrix known to be symmetric; else 0 */
  PetscInt64     guardrows;   /* rows in which a guard changed something */
  PetscLogDouble buildtime;   /* seconds of the last compression, largest over processes */
  PetscLogDouble plainbytes;  /* of plain rows beside the compressed form, not counted in bytes */
  MatVCRSLoss    loss;        /* the loss in use: see MatVCRSSetRefineLoss() */
  PetscInt       bits;        /* of log and fixed */
  LitheTransport transport;   /* of products so far, on a device if one ran there; requested if there was none */
} MatVCRSInfo;

PETSC_EXTERN PetscErrorCode MatCreateSeqVCRSFromCSR(MPI_Comm, PetscInt m, PetscInt n, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *);
PETSC_EXTERN PetscErrorCode MatCreateVCRSFromCSR(MPI_Comm, PetscInt m, PetscInt n, PetscInt M, PetscInt N, const PetscInt i[], const PetscInt j[],
                                                 const PetscScalar a[], Mat *);
PETSC_EXTERN PetscErrorCode MatVCRSSetLayout(Mat, MatVCRSLayout);
PETSC_EXTERN PetscErrorCode MatVCRSSetLoss(Mat, MatVCRSLoss);
PETSC_EXTERN PetscErrorCode MatVCRSSetBits(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatVCRSSetBins(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatVCRSSetLambda(Mat, PetscReal, MatVCRSUnit);
PETSC_EXTERN PetscErrorCode MatVCRSSetPreserveRowSums(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatVCRSSetRefineLoss(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatVCRSSetAllowLossyOperator(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatVCRSDropAIJ(Mat);
PETSC_EXTERN PetscErrorCode MatVCRSMaterializeAIJ(Mat);
PETSC_EXTERN PetscErrorCode MatVCRSGetInfo(Mat, MatVCRSInfo *);

/*E
  MatSBPSATFace - the faces of the logical square of a `MATSBPSAT`, on which reference coordinates (r, s) run over [-1,
  1]^2

  Values:
+ `MATSBPSAT_LEFT`   - r = -1, the first node along x of the `DMDA`
. `MATSBPSAT_RIGHT`  - r = +1
. `MATSBPSAT_BOTTOM` - s = -1, the first node along y of the `DMDA`
- `MATSBPSAT_TOP`    - s = +1

  Level: beginner

.seealso: `MATSBPSAT`, `MatSBPSATSetDirichlet()`, `MatSBPSATAddBoundary()`, `MatSBPSATGetTraction()`
E*/
typedef enum {
  MATSBPSAT_LEFT,
  MATSBPSAT_RIGHT,
  MATSBPSAT_BOTTOM,
  MATSBPSAT_TOP
} MatSBPSATFace;
PETSC_EXTERN const char *const MatSBPSATFaces[];

/*E
  MatSBPSATMetrics - source of the coefficients of a `MATSBPSAT` in a product

  Values:
+ `MATSBPSAT_METRICS_STORED` - stored, three numbers per node
- `MATSBPSAT_METRICS_FLY`    - computed from coordinates and coefficient in every product

  Level: intermediate

.seealso: `MATSBPSAT`, `MatSBPSATSetMetrics()`
E*/
typedef enum {
  MATSBPSAT_METRICS_STORED,
  MATSBPSAT_METRICS_FLY
} MatSBPSATMetrics;
PETSC_EXTERN const char *const MatSBPSATMetricsTypes[];

PETSC_EXTERN PetscErrorCode MatCreateSBPSAT(DM, Mat *);
PETSC_EXTERN PetscErrorCode MatSBPSATSetOrder(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatSBPSATGetOrder(Mat, PetscInt *);
PETSC_EXTERN PetscErrorCode MatSBPSATSetDirichlet(Mat, const PetscBool[4]);
PETSC_EXTERN PetscErrorCode MatSBPSATGetDirichlet(Mat, PetscBool[4]);
PETSC_EXTERN PetscErrorCode MatSBPSATSetMetrics(Mat, MatSBPSATMetrics);
PETSC_EXTERN PetscErrorCode MatSBPSATSetCoefficient(Mat, Vec);
PETSC_EXTERN PetscErrorCode MatSBPSATSetTensor(Mat, Vec, Vec, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatSBPSATAddSource(Mat, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatSBPSATAddBoundary(Mat, MatSBPSATFace, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatSBPSATGetTraction(Mat, MatSBPSATFace, Vec, Vec, Vec);
PETSC_EXTERN PetscErrorCode MatSBPSATNorm(Mat, Vec, PetscReal *);

/*E
  MatBornParameter - the parameter whose changes are the columns of a `MATBORN`; v is the velocity

  Values:
+ `MATBORN_PARAMETER_REFLECTIVITY` - d(v^2)/v^2
. `MATBORN_PARAMETER_SLOWNESS2`    - d(1/v^2)
- `MATBORN_PARAMETER_VELOCITY`     - dv

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetParameter()`
E*/
typedef enum {
  MATBORN_PARAMETER_REFLECTIVITY,
  MATBORN_PARAMETER_SLOWNESS2,
  MATBORN_PARAMETER_VELOCITY
} MatBornParameter;
PETSC_EXTERN const char *const MatBornParameters[];

/*E
  MatBornInterpolation - where sources and receivers of a `MATBORN` may be

  Values:
+ `MATBORN_INTERPOLATION_NONE` - at nodes; others are refused
- `MATBORN_INTERPOLATION_SINC` - anywhere in the grid: a sum over the 8 nearest nodes per dimension, with a
  Kaiser-windowed sine

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetInterpolation()`
E*/
typedef enum {
  MATBORN_INTERPOLATION_NONE,
  MATBORN_INTERPOLATION_SINC
} MatBornInterpolation;
PETSC_EXTERN const char *const MatBornInterpolations[];

/*E
  MatBornField - the numbers of the wavefields of a `MATBORN`, whatever `PetscReal` is

  Values:
+ `MATBORN_FIELD_FLOAT` - single precision; fields that run backwards are in whole numbers of 32 bits
- `MATBORN_FIELD_DOUBLE` - double precision

  Level: intermediate

.seealso: `MATBORN`, `MatCreateBorn()`
E*/
typedef enum {
  MATBORN_FIELD_FLOAT,
  MATBORN_FIELD_DOUBLE
} MatBornField;
PETSC_EXTERN const char *const MatBornFields[];

/*E
  MatBornBackground - where the transpose of a `MATBORN` has the background wavefield from, which it needs backwards in
  time

  Values:
+ `MATBORN_BACKGROUND_AUTO`       - the first of keep, ring and random for which memory suffices
. `MATBORN_BACKGROUND_KEEP`       - stored at each interval-th step (-mat_born_interval), in 32, 16 or 8 bits
    (-mat_born_background_bits)
. `MATBORN_BACKGROUND_RING`       - computed backwards, from stored nodes in the sponge
. `MATBORN_BACKGROUND_RANDOM`     - computed backwards, with a random velocity in place of the sponge
- `MATBORN_BACKGROUND_CHECKPOINT` - computed again from states that are kept (-mat_born_checkpoints)

  Level: intermediate

.seealso: `MATBORN`, `MatBornSetBackground()`
E*/
typedef enum {
  MATBORN_BACKGROUND_AUTO,
  MATBORN_BACKGROUND_KEEP,
  MATBORN_BACKGROUND_RING,
  MATBORN_BACKGROUND_RANDOM,
  MATBORN_BACKGROUND_CHECKPOINT
} MatBornBackground;
PETSC_EXTERN const char *const MatBornBackgrounds[];

PETSC_EXTERN PetscErrorCode MatCreateBorn(DM, Mat *);
PETSC_EXTERN PetscErrorCode MatBornSetVelocity(Mat, Vec);
PETSC_EXTERN PetscErrorCode MatBornSetTime(Mat, PetscReal, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode MatBornSetWavelet(Mat, PetscInt, const PetscReal[]);
PETSC_EXTERN PetscErrorCode MatBornSetSpacing(Mat, const PetscReal[]);
PETSC_EXTERN PetscErrorCode MatBornAddShot(Mat, const PetscReal[], PetscInt, const PetscReal[]);
PETSC_EXTERN PetscErrorCode MatBornSetOrder(Mat, PetscInt);
PETSC_EXTERN PetscErrorCode MatBornSetParameter(Mat, MatBornParameter);
PETSC_EXTERN PetscErrorCode MatBornSetSponge(Mat, PetscInt, PetscReal);
PETSC_EXTERN PetscErrorCode MatBornSetFreeSurface(Mat, PetscBool);
PETSC_EXTERN PetscErrorCode MatBornSetInterpolation(Mat, MatBornInterpolation);
PETSC_EXTERN PetscErrorCode MatBornSetBackground(Mat, MatBornBackground);
PETSC_EXTERN PetscErrorCode MatBornSetLowpass(Mat, PetscReal);
PETSC_EXTERN PetscErrorCode MatBornGetShot(Mat, PetscInt, const PetscReal *[], PetscInt *, const PetscReal *[]);
PETSC_EXTERN PetscErrorCode MatBornGetShotRows(Mat, PetscInt, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode MatBornModel(Mat, Vec);
PETSC_EXTERN PetscErrorCode MatBornFilter(Mat, Vec);
PETSC_EXTERN PetscErrorCode MatBornGetIllumination(Mat, Vec *);
PETSC_EXTERN PetscErrorCode MatBornGetNormal(Mat, Mat *);

/*E
  MatHYBMGPUFormat - storage format of a `MATHYBMGPU` matrix in products

  Values:
+ `MATHYBMGPU_FORMAT_AUTO` - the format with the fewest bytes in a product
. `MATHYBMGPU_FORMAT_HYB`  - a number of entries per row in columns common to all rows (ELL), the remaining entries in
                             a list (COO)
. `MATHYBMGPU_FORMAT_SELL` - slices of 32 rows with separate columns; a column holds the entries of all rows that reach
                             the column
. `MATHYBMGPU_FORMAT_CSR`  - row by row, several threads per row
- `MATHYBMGPU_FORMAT_VCRS` - a lossless `MATVCRS` of the rows and columns of a process

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUSetFormat()`
E*/
typedef enum {
  MATHYBMGPU_FORMAT_AUTO,
  MATHYBMGPU_FORMAT_HYB,
  MATHYBMGPU_FORMAT_SELL,
  MATHYBMGPU_FORMAT_CSR,
  MATHYBMGPU_FORMAT_VCRS
} MatHYBMGPUFormat;
PETSC_EXTERN const char *const MatHYBMGPUFormats[];

/*E
  MatHYBMGPUSplit - rule for the number of entries per row that the format `MATHYBMGPU_FORMAT_HYB` puts into columns

  Values:
+ `MATHYBMGPU_SPLIT_BYTES` - the number with the fewest bytes in total
- `MATHYBMGPU_SPLIT_CUSP`  - the rule of the CUSP library: the largest width filled by a third of the rows, and by at
                             least 4096

  Level: intermediate

.seealso: `MATHYBMGPU`
E*/
typedef enum {
  MATHYBMGPU_SPLIT_BYTES,
  MATHYBMGPU_SPLIT_CUSP
} MatHYBMGPUSplit;
PETSC_EXTERN const char *const MatHYBMGPUSplits[];

/*E
  MatHYBMGPUReorder - order of the rows of a `MATHYBMGPU` matrix in a product; the order of vectors is unchanged

  Values:
+ `MATHYBMGPU_REORDER_NONE` - the order of the matrix
- `MATHYBMGPU_REORDER_RCM`  - reverse Cuthill-McKee of the rows and columns of a process: neighbouring rows then read
    neighbouring entries

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPURepartition()`
E*/
typedef enum {
  MATHYBMGPU_REORDER_NONE,
  MATHYBMGPU_REORDER_RCM
} MatHYBMGPUReorder;
PETSC_EXTERN const char *const MatHYBMGPUReorders[];

/*S
  MatHYBMGPUInfo - storage of a `MATHYBMGPU` matrix; numbers are sums over all processes unless stated otherwise

  Level: intermediate

.seealso: `MATHYBMGPU`, `MatHYBMGPUGetInfo()`
S*/
typedef struct {
  MatHYBMGPUFormat format; /* on this process */
  PetscInt         width;  /* HYB: entries per row in the body, on this process; else the largest row length */
  PetscInt64       rows;
  PetscInt64       nonzeros;  /* of the whole matrix */
  PetscInt64       padding;   /* places without an entry */
  PetscInt64       tail;      /* entries in lists: beyond the width of HYB, or of very long rows */
  PetscInt64       ghost;     /* entries in columns owned by other processes */
  PetscLogDouble   bytes;     /* of the stored matrix */
  PetscLogDouble   aijbytes;  /* the same in AIJ: nonzeros (scalar + PetscInt) + rows PetscInt */
  LitheTransport   transport; /* in use, or requested if not used yet */
  const char      *reason;    /* reason why no faster transport is used, or NULL */
  PetscInt         from, to;  /* largest number of neighbours of a process that send entries, and that receive entries */
  PetscInt64       halobytes; /* received in a product */
} MatHYBMGPUInfo;

PETSC_EXTERN PetscErrorCode MatHYBMGPUSetFormat(Mat, MatHYBMGPUFormat);
PETSC_EXTERN PetscErrorCode MatHYBMGPUGetInfo(Mat, MatHYBMGPUInfo *);
PETSC_EXTERN PetscErrorCode MatHYBMGPURepartition(Mat, Mat *, IS *);
