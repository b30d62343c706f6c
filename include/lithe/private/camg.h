/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The matrices of PCCAMG, and its table of kernels. Plain data, read by host loops and kernels of a device */

#include <lithe/private/hostdevice.h>
#include <lithe/private/lithemg.h>
#include <stdint.h>
#include <string.h>

/*
   A matrix during set-up: rows of blocks with ascending columns. Arrays i [m + 1], j [nz] and a [nz][rb][cb], each an
   allocation; m, n and nz count blocks
*/
typedef struct {
  PetscInt     m, n, nz, rb, cb, *i, *j;
  PetscScalar *a;
} CAMGMatrix;

/*
   Strong entries without the diagonal, and the diagonal with the sum of all weak entries of the row added. d NULL:
   strong has all blocks of a matrix
*/
typedef struct {
  CAMGMatrix   strong;
  PetscScalar *d;
} CAMGGraph;

/*
   The near null space of a level during set-up. vectors: T [nodes][block][columns], which is also NULL where a process
   has no nodes; else one vector of ones, and blocks of one row
*/
typedef struct {
  PetscInt     block, columns;
  PetscBool    vectors;
  PetscScalar *T;
} CAMGSpace;

/*
   A level or a transfer between levels: y_r = d_r x_r + sum of codes of row r times x. The pattern is one of blocks,
   and codes are [nz][rb][cb]. Complex entries have a code for each component. A level is scaled by powers of two so
   that its diagonal is near 1. It has a diagonal d apart, in single precision: blocks of one row have no diagonal entry
   in the pattern, and others a code of 0. A transfer has no d and no minv.

   Rows of numbers may be by slices: 32 / group rows for the 32 threads of a warp, group threads each; 1 on the host. A
   slice has steps i[slice] to i[slice + 1] - 1. In a step each thread has two entries, filled up with codes of 0.
   narrow: columns are of 2 bytes, counted from base[step]
*/
typedef struct {
  int    m, n, nz, rb, cb;
  int    bits;   /* 8, 16; 32: no codes but numbers in single precision */
  int    single; /* precision of vectors */
  int    group;  /* of a slice; 0: rows i [m + 1] */
  int    narrow, steps;
  int   *i, *j, *base;
  void  *code, *d;
  float *minv; /* of the smoother */
} CAMGOperator;

/*
   Several processes, for a vector of a level: get() fills its ghosts, numbers of `bytes` bytes; sum() adds a number of
   each
*/
typedef struct {
  PetscErrorCode (*get)(void *ctx, size_t bytes, void *x);
  PetscErrorCode (*sum)(void *ctx, double *a);
  void *ctx; /* NULL: one process */
} CAMGShare;

/* Numbers of the set-up that host and device share */
#define CAMG_SWEEPS   3         /* of aggregation, in which vertices without a root join an aggregate */
#define CAMG_LANCZOS  8         /* steps of Lanczos' method */
#define CAMG_ABOVE    1.05      /* its estimate is from below */
#define CAMG_LEAST    0.2       /* the least bound */
#define CAMG_WEIGHT   (4. / 3.) /* of the smoothing of an interpolation */
#define CAMG_DROP     1e-8      /* a column of an aggregate that others explain up to this part is left out */
#define CAMG_CHANGE   0.25      /* of a diagonal entry by rounding errors; beyond this the row sum is not kept */
#define CAMG_ROUNDING 1e4       /* roundings, of a diagonal entry relative to the sum of those that it is made of */

/* A permutation of 32 bits */
static LITHE_HD inline uint32_t CAMGHash(uint32_t h)
{
  h *= 2654435761U;
  h ^= h >> 15;
  h *= 2246822519U;
  return h ^ h >> 13;
}

/* Pseudorandom numbers between -1 and 1, two for each k */
static LITHE_HD inline PetscReal CAMGPair(PetscInt k, int which)
{
  return (PetscReal)(CAMGHash(2U * (uint32_t)k + (uint32_t)which) * 0x1p-31 - 1.);
}

/*
   Whether A is Hermitian: y^H A x = (x^H A y)^* for vectors of pseudorandom numbers over the roots of the diagonal. An
   entry without partner changes the forms by its size relative to the diagonal. sum: real and imaginary parts of both
   forms, and squares of all numbers that are added
*/
#define CAMG_FORMS 5

static inline PetscBool CAMGIsHermitian(const double sum[CAMG_FORMS])
{
  return (PetscBool)(hypot(sum[0] - sum[2], sum[1] + sum[3]) <= 1e-10 * sqrt(sum[4]));
}

/*
   Codes. 8 bits: sign, 4 bits of exponent, 3 of mantissa, largest 3.75. 16 bits: sign, 5 of exponent, 10 of mantissa,
   largest 131008. Subnormal numbers as in IEEE 754, no infinity. A code is decoded by a shift and a multiplication
*/
#define CAMG_MOST8  3.75
#define CAMG_MOST16 131008.

#define CAMG_FACTOR8  0x1p113f
#define CAMG_FACTOR16 0x1p112f

static LITHE_HD inline uint32_t CAMGEncode(int exponent, int mantissa, float factor, float v)
{
  const int   shift = 23 - mantissa;
  const float a     = (v < 0 ? -v : v) / factor;
  uint32_t    bits, most = (1U << (exponent + mantissa)) - 1;

  memcpy(&bits, &a, sizeof(bits));
  bits &= 0x7fffffffU;                                                      /* of -0., which is not less than 0 */
  bits = (bits + (1U << (shift - 1)) - 1 + ((bits >> shift) & 1)) >> shift; /* to nearest, ties to even */
  if (bits > most) bits = most;
  return bits | (v < 0 ? most + 1 : 0);
}

/*
   A subnormal number as an operand takes a processor a hundred times longer, and a device no longer. So a processor
   adds the exponent of factor, a power of two. Codes without an exponent then miss a leading 0, for which 1 is
   subtracted
*/
static LITHE_HD inline float CAMGDecode(int exponent, int mantissa, float factor, uint32_t code)
{
  const int      bits = exponent + mantissa;
  const uint32_t word = (code & ((1U << bits) - 1)) << (23 - mantissa), sign = (code >> bits) << 31;
#if defined(__CUDA_ARCH__)
  const uint32_t all = word | sign;
  float          v;

  memcpy(&v, &all, sizeof(v));
  return v * factor;
#else
  const uint32_t small = (uint32_t) - (word < 1U << 23), one = 1U << 23; /* small: all bits, without an exponent */
  uint32_t       more, number;
  float          low, v;

  memcpy(&more, &factor, sizeof(more));
  more += (small & one) - (127U << 23);
  number = word + more;
  memcpy(&v, &number, sizeof(v));
  number = small & more;
  memcpy(&low, &number, sizeof(low));
  v -= low;
  memcpy(&number, &v, sizeof(number));
  number |= sign;
  memcpy(&v, &number, sizeof(v));
  return v;
#endif
}

static LITHE_HD inline uint8_t CAMGEncode8(float v)
{
  return (uint8_t)CAMGEncode(4, 3, CAMG_FACTOR8, v);
}

static LITHE_HD inline float CAMGDecode8(uint8_t code)
{
  return CAMGDecode(4, 3, CAMG_FACTOR8, code);
}

static LITHE_HD inline uint16_t CAMGEncode16(float v)
{
  return (uint16_t)CAMGEncode(5, 10, CAMG_FACTOR16, v);
}

static LITHE_HD inline float CAMGDecode16(uint16_t code)
{
  return CAMGDecode(5, 10, CAMG_FACTOR16, code);
}

/* Matrices of a set-up: rows of the user, products, and rows of several processes */
typedef struct {
  /*
     Rows of the user: largest moduli of the diagonal and of all entries, positive minus negative diagonal entries,
     whether all are finite; sums of CAMGIsHermitian(), where root [n] is that of roots(), and column c has number first
     + c, or id[c - m] if c >= m; a copy of factor diag(left) A diag(right), in blocks
  */
  PetscErrorCode (*survey)(const CAMGMatrix *, double largest[2], PetscInt *sign, PetscBool *finite);
  PetscErrorCode (*forms)(const CAMGMatrix *, const PetscReal root[], PetscInt first, const PetscInt id[], double sum[CAMG_FORMS]);
  PetscErrorCode (*copy)(const CAMGMatrix *, double factor, const double left[], const double right[], PetscInt block, CAMGMatrix *);
  /* outer [n] = the real part of x; x NULL: ones. outer [n] /= s */
  PetscErrorCode (*setouter)(PetscInt n, const PetscScalar x[], double outer[]);
  PetscErrorCode (*divide)(PetscInt n, const double s[], double outer[]);
  /* Column c of T [n][columns] = x; x NULL: ones in rows r with r mod period = c, else zeros */
  PetscErrorCode (*setcolumn)(PetscInt n, PetscInt columns, PetscInt c, const PetscScalar x[], PetscInt period, PetscScalar T[]);
  /*
     A B; A^H; (A + H) / 2; norms of blocks. A product gets C->i NULL or, on a device, the starts of rows and C->nz of
     an earlier product of the same patterns
  */
  PetscErrorCode (*multiply)(const CAMGMatrix *, const CAMGMatrix *, CAMGMatrix *);
  PetscErrorCode (*transpose)(const CAMGMatrix *, CAMGMatrix *);
  PetscErrorCode (*mean)(const CAMGMatrix *, const CAMGMatrix *H, CAMGMatrix *);
  PetscErrorCode (*norms)(const CAMGMatrix *, CAMGMatrix *);
  /*
     Rows of several processes, whose columns are own ones, m in number, and ghosts after them. Rows row [count] of a
     matrix. A with the rows of B at the place of target [B->m], which ascend; they are not shorter than those of A.
     target NULL: behind the first rows; place: NULL, or numbers of the columns of B; C has m rows and n columns. used
     [n] = 1 for columns that have entries, else 0. Columns from on become map[column - from]. j [nz]: columns of own
     rows, and the row itself for ghosts
  */
  PetscErrorCode (*extract)(const CAMGMatrix *, PetscInt count, const PetscInt row[], CAMGMatrix *);
  PetscErrorCode (*join)(const CAMGMatrix *A, const CAMGMatrix *B, PetscInt m, PetscInt n, const PetscInt target[], const PetscInt place[], CAMGMatrix *C);
  PetscErrorCode (*mark)(const CAMGMatrix *, PetscInt used[]);
  PetscErrorCode (*renumber)(CAMGMatrix *, PetscInt from, const PetscInt map[]);
  PetscErrorCode (*turn)(const CAMGMatrix *, PetscInt j[]);
} CAMGMatrixKernels;

/* The next level: its graph, aggregates and interpolation */
typedef struct {
  /* Roots of moduli of the diagonal, of the own rows; strong entries; out [n] = conjugates of d */
  PetscErrorCode (*roots)(const CAMGMatrix *, PetscReal root[]);
  PetscErrorCode (*filter)(const CAMGMatrix *, const PetscReal root[], PetscReal threshold, CAMGGraph *);
  PetscErrorCode (*conjugate)(PetscInt n, const PetscScalar d[], PetscScalar out[]);
  /* Aggregates of vertices, agg [n], -1 for a vertex without strong neighbours; pairs, of the entries of a matrix
     with these roots */
  PetscErrorCode (*aggregate)(const CAMGGraph *, PetscInt agg[], PetscInt *aggregates);
  PetscErrorCode (*pairs)(const CAMGMatrix *, const PetscReal root[], PetscReal threshold, PetscInt agg[], PetscInt *aggregates);
  /* agg[v] = next[agg[v]] */
  PetscErrorCode (*compose)(PetscInt n, const PetscInt next[], PetscInt agg[]);
  /* The rows of T become those of the tentative interpolation, 0 for nodes without an aggregate; the coarse space */
  PetscErrorCode (*tentative)(CAMGSpace *, PetscInt nodes, const PetscInt agg[], PetscInt aggregates, CAMGSpace *coarse);
  /* damping [n] = 4/3 over bound times the sum of moduli of rows with a positive diagonal, else 0 */
  PetscErrorCode (*damping)(const CAMGGraph *, PetscReal bound, PetscReal damping[]);
  /*
     P = T - damping F T; damping NULL: P = T, and of the graph only its size is read. truncate: most entries of a row
  */
  PetscErrorCode (*smooth)(const CAMGGraph *F, const PetscReal damping[], const CAMGSpace *, const PetscInt agg[], PetscInt aggregates, PetscInt truncate,
                           CAMGMatrix *P);
  /*
     Unknowns of C = R A P whose diagonal is nothing but rounding errors. Such an unknown is a null vector of A: a part
     of the graph without boundary values has one. Scaling would make the errors a matrix. d: moduli of the diagonal of
     A. *any: whether there is one. Then rows and columns become 0
  */
  PetscErrorCode (*moduli)(const CAMGMatrix *A, PetscReal d[]);
  PetscErrorCode (*findnull)(const CAMGMatrix *R, const PetscReal d[], const CAMGMatrix *C, unsigned char null[], PetscBool *any);
  PetscErrorCode (*clearnull)(const unsigned char null[], CAMGMatrix *C);
} CAMGCoarsenKernels;

/* Levels in their final form, and applications */
typedef struct {
  /*
     A level in its final form: per row a power of two near the root of the diagonal; codes; S P S_c^-1, inverse: S_c^-1
     R S
  */
  PetscErrorCode (*scales)(const CAMGMatrix *, double s[]);
  PetscErrorCode (*encode)(const CAMGMatrix *, const double s[], PetscInt bits, PetscBool sums, const CAMGShare *, CAMGOperator *, PetscReal *bound);
  PetscErrorCode (*encodetransfer)(const CAMGMatrix *, const double rows[], const double columns[], PetscBool inverse, CAMGOperator *);
  /* The scaled matrix, dense by columns, on the host */
  PetscErrorCode (*getdense)(const CAMGMatrix *, const double s[], PetscScalar *M);
  /* L of a Hermitian coarsest level; *done: FALSE if src/mg/coarsest.c has to. NULL on the host */
  PetscErrorCode (*invert)(const CAMGMatrix *, const double s[], const LitheMGCoarsest *, PetscBool *done);

  /* The largest modulus of components of outer_i x_i, or infinity; largest has the place of vectors */
  PetscErrorCode (*largest)(PetscInt n, const double outer[], const PetscScalar x[], double *largest);
  /* b_i = scale outer_i x_i, where the power of two brings the largest number near 1 */
  PetscErrorCode (*enter)(PetscInt n, PetscBool single, const double outer[], const double *largest, const PetscScalar x[], void *b);
  /* y_i = factor outer_i x_i / scale */
  PetscErrorCode (*leave)(PetscInt n, PetscBool single, double factor, const double outer[], const double *largest, const void *x, PetscScalar y[]);
  /* out = x + c1 (x - old) + c2 M^-1 (b - A x). x NULL: zeros. old NULL: equal to x. out may be old, and not x */
  PetscErrorCode (*step)(const CAMGOperator *, double c1, double c2, const void *b, const void *x, const void *old, void *out);
  /* r = b - A x */
  PetscErrorCode (*residual)(const CAMGOperator *, const void *b, const void *x, void *r);
  /* y = P x, or y += P x */
  PetscErrorCode (*transfer)(const CAMGOperator *, PetscBool add, const void *x, void *y);
  PetscErrorCode (*dense)(const LitheMGCoarsest *, const void *b, void *x);

  /*
     Products of a KSP, with the finest level encoded as a transfer. d = errors of its entries by rounding, as sums of
     rows; y = A x for vectors in single precision, with sums in double precision
  */
  PetscErrorCode (*rounding)(const CAMGMatrix *, const double s[], void *d);
  PetscErrorCode (*product)(const CAMGOperator *, const void *x, void *y);
} CAMGLevelKernels;

/*
   The operations of a set-up and of an application: one table works on host memory, one on a device. A set-up brings
   sizes only to the host. Vectors of an application are in single or double precision. Its launches go to PETSc's
   current stream, and do not synchronise
*/
typedef struct {
  const LitheMemoryOps *memory;
  CAMGMatrixKernels     matrix;
  CAMGCoarsenKernels    coarsen;
  CAMGLevelKernels      level;
} CAMGKernels;

PETSC_INTERN const CAMGKernels CAMGHostKernels; /* src/pc/camg/host.c */
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN const CAMGKernels CAMGDeviceKernels; /* src/pc/camg/device.c */
#endif
