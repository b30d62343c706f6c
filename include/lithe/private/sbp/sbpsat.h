/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by MATSBPSAT, PCSBPMG, the host loops and the kernels: operators on a logically rectangular
   grid as plain data, and the few operations of a multigrid cycle.

   Nodes are (i, j), 0 <= i <= n[0] along r and 0 <= j <= n[1] along s, over all processes. A process owns the
   box own. Arrays come in three shapes, in all of which r is fastest:

     owned     nodes of own, node (i, j) at (j - own.start[1]) pitch + i - own.start[0]
     ghosted   nodes of ghosted, which is own with neighbours within reach, cut off at the ends of the grid,
               node (i, j) at (j - ghosted.start[1]) ghostpitch + i - ghosted.start[0]
     coefficients   nodes of ghosted, with coefficientpitch

   On one process own and ghosted are the same box, and an owned array can serve as a ghosted one if the pitches
   agree. With the pitches equal to the counts, owned and ghosted arrays are the global and local vectors of a
   DMDA.

   Three kinds of operators:

     SBP_SAT     the SBP-SAT discretisation of -div(c grad u), scaled by H x H: symmetric, and positive definite
                 if there is a Dirichlet face. coefficient[] = c_rr, c_ss, c_rs. For a Dirichlet face f, penalty[f] is
                 c_nn Gamma at the nodes of the face, in the order of the face and with the range of ghosted.
                 penalty[f] is NULL if ghosted does not touch the face.
     SBP_NINE    a symmetric 9 point operator, such as a Galerkin product of second order.
                 coefficient[] = centre, east, north, north-east, north-west:
                   (A u)_ij = centre_ij u_ij + east_ij u_{i+1,j} + east_{i-1,j} u_{i-1,j} + north_ij u_{i,j+1} +
                   north_{i,j-1} u_{i,j-1}
                            + northeast_ij u_{i+1,j+1} + northeast_{i-1,j-1} u_{i-1,j-1}
                            + northwest_ij u_{i-1,j+1} + northwest_{i+1,j-1} u_{i+1,j-1}
                 Couplings beyond the grid are stored as 0 and not read.
     SBP_SHIFTED the operator scale A + diag(d), A of kind SBP_SAT. coefficient[3] = d, whose ghosts are not used.
                 SBP_SAT is a separate kind: a product without scale and d reads no more than necessary.
*/

#include <lithe/private/lithememory.h>
#include <petscdm.h>
#include <petscmat.h>
#include <petscpctypes.h>
#include <lithemat.h>
#include <lithe/private/hostdevice.h>

/* Faces: 0 r = -1, 1 r = +1, 2 s = -1, 3 s = +1 */
#define SBP_FACES        4
#define SBP_COEFFICIENTS 5 /* largest number of a kind */
#define SBP_DIAGONAL     3 /* index of d */

typedef struct {
  PetscInt start[2], count[2];
} SBPBox;

typedef struct {
  int       order;                /* 2, 4 or 6; of no meaning for SBP_NINE */
  int       reach;                /* distance of neighbours in a row along r or s: width of ghosted */
  PetscBool dirichlet[SBP_FACES]; /* else Neumann */
  PetscInt  n[2];                 /* intervals: n + 1 nodes */
  PetscReal h[2];                 /* 2/n: reference coordinates run over [-1, 1] */
  SBPBox    own, ghosted;
  PetscInt  pitch, ghostpitch, coefficientpitch;
} SBPGrid;

typedef enum {
  SBP_SAT,
  SBP_NINE,
  SBP_SHIFTED
} SBPKind;

static LITHE_HD inline int SBPKindCoefficients(SBPKind kind)
{
  if (kind == SBP_NINE) return 5;
  return kind == SBP_SHIFTED ? 4 : 3;
}

/* Numbers of arrays. A vector of PETSc is SBP_SCALAR; with complex PetscScalar, coefficients are PetscReal */
typedef enum {
  SBP_SINGLE, /* float */
  SBP_DOUBLE, /* double */
  SBP_SCALAR  /* arrays PetscScalar, coefficients PetscReal */
} SBPPrecision;

/* Bytes of a number of an array */
static inline size_t SBPNumberBytes(SBPPrecision precision)
{
  if (precision == SBP_SINGLE) return sizeof(float);
  return precision == SBP_DOUBLE ? sizeof(double) : sizeof(PetscScalar);
}

typedef struct {
  SBPKind      kind;
  SBPGrid      grid;
  SBPPrecision precision;                     /* of coefficient[], penalty[], and all arrays of an application */
  const void  *coefficient[SBP_COEFFICIENTS]; /* 3 for SBP_SAT, 4 for SBP_SHIFTED, 5 for SBP_NINE */
  const void  *penalty[SBP_FACES];            /* SBP_SAT, SBP_SHIFTED */
  double       scale;                         /* SBP_SHIFTED */
} SBPOperator;

/* Floating point operations of a product; all rows count as interior rows */
static inline double SBPOperatorFlops(const SBPOperator *op)
{
  static const double node[] = {30, 85, 153}; /* orders 2, 4 and 6 */

  return (op->kind == SBP_NINE ? 17 : node[op->grid.order / 2 - 1] + (op->kind == SBP_SHIFTED ? 2 : 0)) * (double)op->grid.own.count[0] *
         (double)op->grid.own.count[1];
}

/*
   Coordinates and coefficient at the nodes of ghosted, contiguous, for metrics: ghosted reaches as far as derivatives
   of coordinates read
*/
typedef struct {
  SBPGrid    grid;
  PetscReal *x, *y; /* or NULL: the nodes of [-1, 1]^2 */
  PetscReal *mu;    /* or NULL: 1 */
} SBPGeometry;

/* Real numbers in an array of any kind: number (i, j) at p[j pitch + i step] */
typedef struct {
  void      *p;
  PetscBool  single; /* float, else double */
  PetscInt64 pitch, step;
} SBPSpaced;

/* Numbers of PetscReal, and the real parts of numbers of PetscScalar, with rows pitch numbers apart */
static inline SBPSpaced SBPReals(const PetscReal *x, PetscInt64 pitch)
{
  SBPSpaced n;

  n.p      = (void *)x;
  n.single = (PetscBool)(sizeof(PetscReal) == sizeof(float));
  n.pitch  = pitch;
  n.step   = 1;
  return n;
}

static inline SBPSpaced SBPRealParts(const PetscScalar *x, PetscInt64 pitch)
{
  const PetscInt64 step = (PetscInt64)(sizeof(PetscScalar) / sizeof(PetscReal));
  SBPSpaced        n    = SBPReals((const PetscReal *)x, pitch * step);

  n.step = step;
  return n;
}

/* Whether c_rr > 0 and c_rr c_ss > c_rs^2; the products may be out of range */
static LITHE_HD inline PetscBool SBPIsTensor(PetscReal rr, PetscReal ss, PetscReal rs)
{
  const PetscReal least = PETSC_REAL_MIN / PETSC_MACHINE_EPSILON, most = PETSC_MAX_REAL, product = rr * ss;

  if (!(rr > 0 && ss > 0 && rr <= most && ss <= most && rs >= -most && rs <= most)) return PETSC_FALSE;
  if (product > least && product < 1 / least) return (PetscBool)(product > rs * rs);
  return (PetscBool)(sqrt(rr) * sqrt(ss) > fabs(rs));
}

/* The result of a step with A u. All arrays except u are owned; out may be b or d, never u. */
typedef enum {
  SBP_APPLY,    /* out = A u */
  SBP_ADD,      /* out = b + A u */
  SBP_RESIDUAL, /* out = b - A u */
  SBP_SMOOTH    /* dout = c1 d + c2 dinv (b - A u), out = u + dout. d is not read if c1 = 0. dout may be d, or NULL if not needed. dinv NULL stands for 1 */
} SBPMode;

typedef struct {
  SBPMode     mode;
  const void *u; /* ghosted */
  const void *b, *d, *dinv;
  double      c1, c2;
  void       *out, *dout;
} SBPStep;

/*
   A number in the memory of the arrays: factor over[0] / under[0], or 0 if under[0] is not positive. Both may be NULL,
   which stands for 1
*/
typedef struct {
  double        factor;
  const double *over, *under;
} SBPRatio;

/*
   The power of two that brings the input into the range of single precision, in the memory of the arrays: in = 1 / out.
   largest: the upper words of absolute values, of which the greatest counts (a host has only the first). Two turns
   alternate: while one turn is read, the other is reset to 0
*/
#define SBP_SCALE_SLOTS  32
#define SBP_SCALE_STRIDE 32 /* each slot in a separate cache line */

typedef struct {
  double       in, out;
  unsigned int largest[2][SBP_SCALE_SLOTS * SBP_SCALE_STRIDE];
} SBPScale;

/* The upper word of an absolute value; words have the order of the values */
static LITHE_HD inline unsigned int SBPUpperWord(double x)
{
#if defined(__CUDA_ARCH__)
  return (unsigned int)__double2hiint(x) & 0x7fffffffu;
#else
  union {
    double             number;
    unsigned long long bits;
  } u;

  u.number = x;
  return (unsigned int)(u.bits >> 32) & 0x7fffffffu;
#endif
}

/* A number with this upper word */
static inline double SBPOfUpperWord(unsigned int word)
{
  union {
    double             number;
    unsigned long long bits;
  } u;

  u.bits = (unsigned long long)word << 32;
  return u.number;
}

/*
   The scale of numbers whose largest has this upper word: 1 within 2^-window and 2^window, and for infinities and NaN
*/
static LITHE_HD inline double SBPScaleOf(unsigned int largest, int window)
{
  const int exponent = (int)(largest >> 20) - 1023;

  if (exponent > 1023 || (exponent >= -window && exponent <= window)) return 1.;
  return ldexp(1., exponent < -1022 ? 1022 : (exponent > 1022 ? -1022 : -exponent));
}

#define SBP_SCALE_WINDOW 40 /* for right-hand sides: solutions, sums over nodes and corrections can be 2^60 times as large or as small */

/* White noise between -1 and 1: a hash of a node's indices, the same on any number of processes */
static LITHE_HD inline double SBPNoise(PetscInt i, PetscInt j)
{
  unsigned int h = (unsigned int)i * 2654435761u ^ (unsigned int)j * 2246822519u;

  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  h *= 3266489917u;
  h ^= h >> 16;
  return (double)h / 2147483648. - 1.;
}

/*
   Tables of functions, one of which works on host memory, one on a device: launched on PETSc's current stream, without
   synchronisation unless a number is returned to the host. In transfers between grids, fine->n[d] = 2 coarse->n[d], and
   a process owns coarse node (I, J) if and only if it owns fine node (2I, 2J).
*/

/* Vectors: owned arrays, SBP_SINGLE or SBP_DOUBLE, each with its own precision if there are several precisions */
typedef struct {
  /* Copies between grids that differ in pitch and precision. With SBP_SCALAR the real part is read; part 0 (real) or 1
     (imaginary) is written, and the other part stays unchanged */
  PetscErrorCode (*copy)(const SBPGrid *from, SBPPrecision, int part, const void *x, const SBPGrid *to, SBPPrecision, int topart, void *y);
  /* y = a x, as copy */
  PetscErrorCode (*copyscaled)(const SBPGrid *from, SBPPrecision, int part, const void *x, const SBPGrid *to, SBPPrecision, int topart, void *y, SBPRatio a);
  /*
     The input of a cycle in single precision, from numbers in double precision (PetscReal is double):

     copylargest   y = x in SBP_SINGLE, and the largest number of x is noted
     rescale       sets the scale by the number noted in this turn; unless the scale is 1 or x is NULL, y = scale x
  */
  PetscErrorCode (*copylargest)(const SBPGrid *from, SBPPrecision, int part, const void *x, const SBPGrid *to, void *y, SBPScale *, int turn);
  PetscErrorCode (*rescale)(const SBPGrid *from, SBPPrecision, int part, const void *x, const SBPGrid *to, void *y, SBPScale *, int turn);
  PetscErrorCode (*axpby)(const SBPGrid *, double a, SBPPrecision px, const void *x, double b, SBPPrecision py,
                          void *y);                                                                           /* y = a x + b y; b = 0: y is not read */
  PetscErrorCode (*multiply)(const SBPGrid *, SBPPrecision, double a, const void *x, const void *y, void *z); /* z = a x y pointwise */
  PetscErrorCode (*reciprocal)(const SBPGrid *, SBPPrecision, void *x);                                       /* x = 1/x pointwise */
  PetscErrorCode (*noise)(const SBPGrid *, SBPPrecision, void *x);                                            /* x = SBPNoise() */
  /* y += a (x + P e). x and y are on grids that may differ in pitch. e is bilinear, in the precision of x. coarse and e
     may be NULL, which stands for 0; otherwise a process has the whole grid */
  PetscErrorCode (*update)(const SBPGrid *gx, SBPPrecision px, SBPRatio a, const void *x, const SBPGrid *coarse, const void *e, const SBPGrid *gy,
                           SBPPrecision py, void *y);
  /* For Lanczos's method, in which nothing waits. sum = sum of x w y over the nodes of this process, in the
     memory. y = a w x + b y, where y is not read if b.factor = 0. w may be NULL, which stands for 1 */
  PetscErrorCode (*sum)(const SBPGrid *, SBPPrecision, const void *x, const void *w, const void *y, double *sum);
  PetscErrorCode (*combine)(const SBPGrid *, SBPPrecision, SBPRatio a, const void *w, const void *x, SBPRatio b, void *y);
  /* y = M x, M symmetric, n x n, one row after the other; x and y contiguous */
  PetscErrorCode (*dense)(PetscInt n, SBPPrecision, const void *M, const void *x, void *y);
  /* Nine colours: node (i, j) has colour i % 3 + 3 (j % 3). mark: v = 1 at nodes of the colour, else 0. gather takes
     o = A v, for each k with coefficient[k] as in SBP_NINE. coefficient[k]_ij = o_ij if the node coupled with (i, j) is
     in the grid and has the colour; all other coefficients stay */
  PetscErrorCode (*mark)(const SBPGrid *, SBPPrecision, int colour, void *v);
  PetscErrorCode (*gather)(const SBPGrid *, SBPPrecision, int colour, const void *o, void *const coefficient[SBP_COEFFICIENTS]);
  /*
     In PetscReal and PetscScalar:
     square    the sum of (H x H) |e|^2, an array without gaps. To the host
     strided   to = from, or to += from, count[0] x count[1] numbers
  */
  PetscErrorCode (*square)(const SBPGrid *, const PetscScalar *e, double *sum);
  PetscErrorCode (*strided)(const PetscInt count[2], PetscBool add, const SBPSpaced *from, const SBPSpaced *to);
} SBPVectorKernels;

/* Operations of a multigrid cycle in one sweep: NULL if missing, as on the host. Only for a process with the whole
   grid, since ghosts would have to be exchanged inside */
typedef struct {
  /* From u = 0, the first two smoothing steps with (c2[0]), (c1[1], c2[1]): u and, if not NULL, d as after the
     second */
  PetscErrorCode (*smoothtwo)(const SBPOperator *, const double c1[2], const double c2[2], const void *dinv, const void *b, void *u, void *d);
  /* rc = P^T (b - A u) */
  PetscErrorCode (*residualrestrict)(const SBPOperator *, const SBPGrid *coarse, const void *u, const void *b, void *rc);
  /* v = u + P e, then the step SBP_SMOOTH with c1 = 0 from v: out = v + dout */
  PetscErrorCode (*prolongsmooth)(const SBPOperator *, const SBPGrid *coarse, const void *e, const void *u, double c2, const void *dinv, const void *b,
                                  void *out, void *dout);
  /* smoothtwo and then residualrestrict; not for order 4 or 6, like the next operation */
  PetscErrorCode (*smoothtworestrict)(const SBPOperator *, const SBPGrid *coarse, const double c1[2], const double c2[2], const void *dinv, const void *b,
                                      void *u, void *rc);
  /* prolongsmooth with c2[0] and then a step with c1[1], c2[1] */
  PetscErrorCode (*prolongsmoothtwo)(const SBPOperator *, const SBPGrid *coarse, const void *e, const void *u, const double c1[2], const double c2[2],
                                     const void *dinv, const void *b, void *out);
  /* r = scale[0] (b - A u) in SBP_SINGLE, an owned array of a grid that may differ in pitch. Not for order 4 or 6 in
     SBP_DOUBLE. scale NULL: 1 */
  PetscErrorCode (*roundedresidual)(const SBPOperator *, const void *u, const void *b, const SBPGrid *, void *r, const double *scale);
} SBPFusedKernels;

/* Operators and transfers */
typedef struct {
  const LitheMemoryOps *memory;
  SBPVectorKernels      vector;
  SBPFusedKernels       fused;
  /* region: the nodes to be computed, a part of own. Nodes without ghosts can run while ghosts travel. NULL: all of
     own */
  PetscErrorCode (*step)(const SBPOperator *, const SBPBox *region, const SBPStep *);
  /* d = the diagonal, owned */
  PetscErrorCode (*diagonal)(const SBPOperator *, void *d);
  /* rc = P^T r: weights (1/2, 1, 1/2), at the ends (1, 1/2). r ghosted by at least 1, rc owned */
  PetscErrorCode (*restrict_)(const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision, const void *r, void *rc);
  /* restrict_ in SBP_DOUBLE, and the largest number of r is noted, as in copylargest */
  PetscErrorCode (*restrictlargest)(const SBPGrid *fine, const SBPGrid *coarse, const void *r, void *rc, SBPScale *, int turn);
  /* u = P e, or u += P e: bilinear. e ghosted by at least 1, u owned */
  PetscErrorCode (*prolong)(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision, PetscBool add, const void *e, void *u);
  /* u = bicubic interpolation of e, one-sided at the ends (bilinear in a direction of fewer than 3 coarse
     intervals). e ghosted by at least 2 */
  PetscErrorCode (*interpolate)(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision, const void *e, void *u);
  /* The coefficients of P^T A P, not for order 4 or 6, and, if not NULL, the same in SBP_SINGLE. NULL if missing: nine
     products with A, by mark and gather, replace it; for a process with the whole grid */
  PetscErrorCode (*galerkin)(const SBPOperator *, const SBPGrid *coarse, void *const coefficient[SBP_COEFFICIENTS], void *const rounded[SBP_COEFFICIENTS]);

  /*
     Parts of the operator of a MATSBPSAT and of its right-hand sides, in PetscReal and PetscScalar:
     metrics   coefficients and J = x_r y_s - x_s y_r at the nodes of a box of the geometry, node (i, j) at
               (j - box->start[1]) pitch + i - box->start[0]; any of the four may be NULL
     check     the first node of a box, counted row by row from 0, whose coefficients are not finite or not definite; -1
               if there is none. To the host
     source    b += (H x H) J f, owned arrays without gaps
  */
  PetscErrorCode (*metrics)(const SBPGeometry *, const SBPBox *, PetscInt pitch, PetscReal *rr, PetscReal *ss, PetscReal *rs, PetscReal *jacobian);
  PetscErrorCode (*check)(const SBPBox *, PetscInt pitch, const PetscReal *rr, const PetscReal *ss, const PetscReal *rs, PetscInt64 *where);
  PetscErrorCode (*source)(const SBPGrid *, const PetscReal *jacobian, const PetscScalar *f, PetscScalar *b);
} SBPKernels;

PETSC_INTERN const SBPKernels SBPHostKernels; /* src/mat/sbpsat/host.c */
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN const SBPKernels SBPDeviceKernels; /* src/mat/sbpsat/device.c: the kernels of cuda/sbp*.cu */
#endif

/*
   The operator of a MATSBPSAT, set up; the matrix owns its arrays. precision: SBP_DOUBLE needs PetscReal to be double;
   SBP_SINGLE is made on the first call and kept. device: arrays on the device.

   The matrix is L (a A + diag(d)) R, A the operator of its settings. MatSBPSATGetOperator() gives a A + diag(d), which
   must be real; MatSBPSATGetPlain() gives A. MatSBPSATGetScales() gives L and R, or NULL. All references are borrowed.
   Collective.
*/
PETSC_INTERN PetscErrorCode MatSBPSATGetOperator(Mat, SBPPrecision, PetscBool device, const SBPOperator **);
PETSC_INTERN PetscErrorCode MatSBPSATGetPlain(Mat, SBPPrecision, PetscBool device, const SBPOperator **);
PETSC_INTERN PetscErrorCode MatSBPSATGetScales(Mat, Vec *left, Vec *right);
PETSC_INTERN PetscErrorCode MatSBPSATGetChange(Mat, PetscScalar *scale, Vec *diagonal); /* a and d, or NULL */
PETSC_INTERN PetscErrorCode MatSBPSATGetTransport(Mat, LitheTransport *);

/* Applies the operator of the finest level of a PCSBPMG, set up, to the vectors inside, in the precision of the levels.
   Exported for measurements. Neighbor-wise collective */
PETSC_EXTERN PetscErrorCode PCSBPMGApplyOperator_Private(PC);

/*
   The nodes of each process, as of a DMDA: process p + q n[0] has the nodes begin[0][p] <= i < begin[0][p + 1] and
   begin[1][q] <= j < begin[1][q + 1]. Without parts, as on one process, begin[] is NULL
*/
typedef struct {
  MPI_Comm  comm; /* referenced */
  PetscInt  n[2]; /* processes */
  PetscInt *begin[2];
} SBPParts;

static inline PetscBool SBPPartsExist(const SBPParts *parts)
{
  return (PetscBool)(parts->begin[0] != NULL);
}

PETSC_INTERN PetscErrorCode SBPPartsCreate(DM, SBPParts *);
PETSC_INTERN PetscErrorCode SBPPartsCopy(const SBPParts *, SBPParts *);
PETSC_INTERN PetscErrorCode SBPPartsCoarsen(const SBPParts *fine, PetscInt least, SBPParts *coarse);
PETSC_INTERN SBPBox         SBPPartsBox(const SBPParts *, PetscMPIInt rank);
PETSC_INTERN PetscErrorCode SBPPartsGetBoxes(const SBPParts *, PetscInt width, SBPBox *own, SBPBox *ghosted);
PETSC_INTERN void           SBPPartsLocate(const SBPParts *, PetscInt i, PetscInt j, PetscMPIInt near, PetscMPIInt *rank, PetscInt *number);
PETSC_INTERN PetscInt       SBPPartsNumber(const SBPParts *, PetscInt i, PetscInt j);
PETSC_INTERN PetscErrorCode SBPPartsCreateDM(const SBPParts *, PetscInt width, DM *);
PETSC_INTERN PetscErrorCode SBPPartsDestroy(SBPParts *);

PETSC_INTERN int SBPBoxSplit(const SBPBox *, const PetscInt width[2][2], SBPBox *inner, SBPBox strip[4]);

/* Ghosts of an owned array; own and ghosted belong to a grid. The transport is that of arrays on a device */
typedef struct _n_SBPHalo  *SBPHalo;
PETSC_INTERN PetscErrorCode SBPHaloCreate(const SBPParts *, const SBPGrid *, LitheTransport, SBPHalo *);
/* Within one array: owned = ghosted is the array of a box around the own nodes. box, pitch: of each process */
PETSC_INTERN PetscErrorCode SBPHaloCreateWithin(const SBPParts *, const SBPBox box[], const PetscInt pitch[], LitheTransport, SBPHalo *);
/* rim: own nodes farther from other processes need not be in ghosted; -1: all are */
PETSC_INTERN PetscErrorCode SBPHaloBegin(SBPHalo, SBPPrecision, PetscMemType, PetscInt rim, const void *owned, void *ghosted);
PETSC_INTERN PetscErrorCode SBPHaloEnd(SBPHalo, SBPPrecision, PetscMemType, const void *owned, void *ghosted);
PETSC_INTERN PetscErrorCode SBPHaloDestroy(SBPHalo *);
