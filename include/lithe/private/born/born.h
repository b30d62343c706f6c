/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Data shared by MATBORN, its host loops and its kernels: the grid, points between nodes, and the operations of a sweep
   over time, as plain data.

   The recursion, at every node, with s the sponge and V = (v dt / h[0])^2:

     new = (2 u - (1 - s) old + V (L u + extra)) / (1 + s)

   L is the star stencil of order 2 radius, times h[0]^2. Beyond the grid u is 0, so L is symmetric. With a free surface
   u is odd about the first plane along the last dimension, which keeps L symmetric, too. u is 0 in that plane, since V
   is.

   Arrays come in two shapes, in both of which x is fastest:

     grid      one number per node, without gaps, in PetscReal: what vectors have. Node (i, j, k) at i + n[0] (j + n[1]
               k)
     field     with room between lines and planes. Node (i, j, k) at first + i + stride[1] j + stride[2] k. Beyond the
               grid the field is 0, as far as the stencil reaches. The places behind a line are beyond that line and
               before the next one

   In two dimensions a grid may be a stack of n[2] shots, which are computed together. Plane k of a field is then the
   field of shot k, with all its margins, and V may be one field for all shots.

   The numbers of a field are of one of three kinds. All companions of a field have the real kind that belongs to it.
*/

#include <petscsys.h>
#include <lithe/private/hostdevice.h>

#define BORN_MAX_RADIUS 6
#define BORN_ALIGN      32 /* numbers: where lines of fields begin */

typedef enum {
  BORN_FLOAT,
  BORN_DOUBLE,
  BORN_INT32 /* multiples of a unit: steps backwards undo steps forwards to the last bit. Companions are in single precision */
} BornNumber;

static LITHE_HD inline BornNumber BornReal(BornNumber number)
{
  return number == BORN_DOUBLE ? BORN_DOUBLE : BORN_FLOAT;
}

static inline size_t BornBytes(BornNumber number)
{
  return number == BORN_DOUBLE ? sizeof(double) : sizeof(float);
}

typedef struct {
  int        dim, radius;
  PetscInt   n[3];                           /* nodes; in two dimensions n[2] is the number of shots, 1 or a stack */
  PetscInt   halo;                           /* planes of room at each end of the last dimension */
  PetscInt   start, planes;                  /* the first plane of this part in the whole grid, and the planes of the whole grid */
  PetscInt64 nodes, stride[3], first, size;  /* of grid arrays; of field arrays */
  double     weight[3][BORN_MAX_RADIUS + 1]; /* of the stencil, for each dimension: the centre, the first neighbours, ... */
  PetscInt   width;                          /* nodes of the sponge at each face */
  double     damping;                        /* s at the faces */
  PetscBool  surface;                        /* the first face of the last dimension is a free surface, without a sponge */
  PetscBool  sharedV;                        /* the shots of a stack have one V */
} BornGrid;

#define BORN_MOST_SHOTS 65535 /* of a stack: a limit of CUDA */

#define BORN_REAL    float
#define BORN_NAME(f) f##_Single
#if defined(__CUDA_ARCH__)
  #define BORN_FMA(a, b, c) fmaf(a, b, c)
#else
  #define BORN_FMA(a, b, c) ((a) * (b) + (c))
#endif
#include <lithe/private/born/step.h>

#define BORN_REAL    double
#define BORN_NAME(f) f##_Double
#if defined(__CUDA_ARCH__)
  #define BORN_FMA(a, b, c) fma(a, b, c)
#else
  #define BORN_FMA(a, b, c) ((a) * (b) + (c))
#endif
#include <lithe/private/born/step.h>

/* The nearest integer, or one of two at equal distance; large numbers are clipped */
static LITHE_HD inline int32_t BornRound(float x)
{
#if defined(__CUDA_ARCH__)
  return __float2int_rn(x);
#else
  const float most = 2147483520.f;

  if (!(x < most)) return 2147483520;
  if (!(x > -most)) return -2147483520;
  return (int32_t)(x + (x < 0 ? -.5f : .5f));
#endif
}

/* The step in integers, modulo 2^32. If s is 0, the increment of 2 u - old depends on u alone: exchanging new and old
   gives the step back */
static LITHE_HD inline int32_t BornUpdateInt(int32_t u, int32_t old, float V, float s, float lu)
{
  float more = V * lu;

  if (s > 0) more = (more + 2 * s * ((float)old - (float)u)) / (1 + s);
  return (int32_t)(2 * (uint32_t)u - (uint32_t)old + (uint32_t)BornRound(more));
}

/* V of a velocity */
static LITHE_HD inline PetscReal BornCourantOf(PetscReal v, PetscReal dt, PetscReal h)
{
  const PetscReal ratio = v * dt / h;

  return ratio * ratio;
}

/* s along dimension d, at a node of the whole grid for the last one; width 0: none */
static LITHE_HD inline PetscBool BornSpongeIsLow(const BornGrid *g, int d)
{
  return (PetscBool) !(g->surface && d == g->dim - 1);
}

/* The nodes of the whole grid, and the first node of this part in it */
static LITHE_HD inline PetscInt BornWhole(const BornGrid *g, int d)
{
  return d == g->dim - 1 ? g->planes : g->n[d];
}

static LITHE_HD inline PetscInt BornFirst(const BornGrid *g, int d)
{
  return d == g->dim - 1 ? g->start : 0;
}

/* The nodes of the whole grid without a sponge: low <= i < high, which may be beyond this part */
static inline void BornInsideWhole(const BornGrid *g, int d, PetscInt *low, PetscInt *high)
{
  *low  = 0;
  *high = g->n[d];
  if (d >= g->dim) return;
  *low  = (BornSpongeIsLow(g, d) ? g->width : 0) - BornFirst(g, d);
  *high = BornWhole(g, d) - g->width - BornFirst(g, d);
}

/* The same nodes of this part: low <= high */
static inline void BornInside(const BornGrid *g, int d, PetscInt *low, PetscInt *high)
{
  BornInsideWhole(g, d, low, high);
  *low  = *low < 0 ? 0 : (*low > g->n[d] ? g->n[d] : *low);
  *high = *high < *low ? *low : (*high > g->n[d] ? g->n[d] : *high);
}

static LITHE_HD inline PetscInt64 BornPlace(const BornGrid *g, PetscInt i, PetscInt j, PetscInt k)
{
  return g->first + i + g->stride[1] * j + g->stride[2] * k;
}

/* The same of V */
static LITHE_HD inline PetscInt64 BornPlaceV(const BornGrid *g, PetscInt i, PetscInt j, PetscInt k)
{
  return BornPlace(g, i, j, g->sharedV ? 0 : k);
}

/* The shots of a stack */
static inline PetscInt BornShots(const BornGrid *g)
{
  return g->dim == 2 ? g->n[2] : 1;
}

/* The grid of some shots that are computed together */
static inline void BornStackOf(const BornGrid *g, PetscInt shots, BornGrid *stack)
{
  *stack = *g;
  if (shots == 1) return;
  stack->n[2]      = shots;
  stack->stride[2] = (g->size + BORN_ALIGN - 1) / BORN_ALIGN * BORN_ALIGN;
  stack->nodes     = shots * g->nodes;
  stack->size      = shots * stack->stride[2];
  stack->sharedV   = PETSC_TRUE;
}

/* Where a node of a grid array is */
static LITHE_HD inline void BornNodeOf(const BornGrid *g, PetscInt64 node, PetscInt at[3])
{
  at[0] = (PetscInt)(node % g->n[0]);
  at[1] = (PetscInt)(node / g->n[0] % g->n[1]);
  at[2] = (PetscInt)(node / g->n[0] / g->n[1]);
}

/* Blocks of a line */
static LITHE_HD inline PetscInt64 BornBlocks(const BornGrid *g)
{
  return (g->n[0] + BORN_ALIGN - 1) / BORN_ALIGN;
}

/*
   Points anywhere in the grid, each a sum over nodes: sources and receivers. Entries are stored twice, by points and,
   for the transpose, by nodes. Both directions thus gather in an order of their own. Nodes are those of grid arrays.
*/
typedef struct {
  PetscInt    points, nodes, entries; /* entries: by points; by nodes their number is the same, except in slabs */
  PetscInt    most;                   /* nodes of a point at most, in the whole grid */
  PetscInt    below;                  /* planes below the first plane from which place counts: 0, or the halo in slabs, where points need it */
  PetscInt   *first, *nodefirst;      /* of the entries of a point, of a node; points + 1, nodes + 1 */
  PetscInt64 *place, *node;           /* the node of an entry by points; the nodes, in rising order */
  PetscInt   *point;                  /* the point of an entry by nodes */
  PetscReal  *weight, *nodeweight;
} BornPoints;

/*
   One step of a field, or of two fields at once, see above. Arrays that are NULL are left out; real stands for the real
   kind of number
*/
typedef struct {
  BornNumber  number;
  PetscBool   sponge; /* else s is 0 */
  PetscBool   inside; /* only nodes without a sponge */
  int         Vbits;  /* 16: V is Vunit times integers without sign; else of the real kind */
  double      Vunit;
  const void *V;
  void       *u;        /* of kind number; its margin beyond the grid is set for a free surface */
  void       *old;      /* of kind number; replaced by new */
  void       *w, *wold; /* the same of a second field, real, the sponge of which is never left out */
  const void *scatter;  /* extra of w is scatter q, q = L u */
  void       *image;    /* image += q w */
  void       *out;      /* out = q */
  int         bits;     /* 32, 16 or 8: q is rounded as in a store, and written to store unless that is NULL; 0: neither */
  void       *store;
  unsigned   *largest; /* of integers, per shot: becomes the largest |new|, if that is larger */
  PetscInt    part[2]; /* on a device: only planes part[0] <= k < part[1] of the last dimension; all of them if part[1] is 0 */
} BornStep;

/* A force f = factor values[stride p] at points p, in a step that has been made. A stack may have a factor per shot */
typedef struct {
  BornNumber        number;
  PetscBool         sponge, inside; /* as in the step */
  int               Vbits;
  double            Vunit;
  const void       *V;
  const BornPoints *points;
  const PetscReal  *values;
  PetscInt64        stride;
  double            factor;
  const double     *factors; /* per shot; NULL: factor */
  void             *u;       /* u += V f / (1 + s), in integers if the field has them */
  void             *out;     /* out += f */
  void             *w;       /* w += V scatter f / (1 + s) */
  const void       *scatter;
  const void       *with; /* image += f with */
  void             *image;
  PetscInt          part[2]; /* as in the step */
} BornForce;

/*
   Arrays are in memory of create(), except arguments that may be in any memory. Numbers of a store are packed: lines in
   blocks of 32; behind all blocks, for 8 and 16 bits, the exponents of the blocks (codec/frsz2.h).
*/
typedef struct {
  const char *name;
  PetscBool   device; /* create() makes arrays on a device */
  /* Zeros. On the host, if asked, where host and device differ: memory for stores only */
  PetscErrorCode (*create)(PetscBool host, size_t bytes, void **);
  PetscErrorCode (*destroy)(PetscBool host, void **);
  PetscErrorCode (*zero)(size_t bytes, void *);
  PetscErrorCode (*copy)(size_t bytes, const void *from, void *to); /* from and to in any memory */
  PetscErrorCode (*room)(size_t *bytes);                            /* how many create() may still give */
  /* PetscReals of any memory, in memory of create(): the same array, if possible. The second function also copies them
     back, if written */
  PetscErrorCode (*borrow)(size_t n, const PetscReal *any, PetscBool read, PetscReal **mine);
  PetscErrorCode (*giveback)(size_t n, PetscReal *any, PetscBool written, PetscReal **mine);
  PetscErrorCode (*points)(const BornPoints *host, BornPoints *mine);
  PetscErrorCode (*pointsdestroy)(BornPoints *mine);
  PetscErrorCode (*step)(const BornGrid *, const BornStep *);
  PetscErrorCode (*force)(const BornGrid *, const BornForce *);
  /* values[stride p] = factor u at points p; u is real */
  PetscErrorCode (*extract)(const BornGrid *, BornNumber real, const BornPoints *, const void *u, double factor, PetscReal *values, PetscInt64 stride);
  PetscErrorCode (*largest)(size_t n, const PetscReal *x, double *modulus); /* NaN if x has a NaN */
  /* The least and the largest of n positive, finite numbers; least is 0 if other numbers are among them */
  PetscErrorCode (*range)(size_t n, const PetscReal *x, double *least, double *largest);
  /* A field is factor times a grid array of create(); a grid array += factor field. inside: in the sponge the field
     gets 0, and nothing is added */
  PetscErrorCode (*load)(const BornGrid *, BornNumber real, PetscBool inside, double factor, const PetscReal *from, void *to);
  PetscErrorCode (*add)(const BornGrid *, BornNumber real, PetscBool inside, double factor, const void *from, PetscReal *to);
  /* image += q w, at all nodes; bits: of a store q, or 0 of a field */
  PetscErrorCode (*image)(const BornGrid *, BornNumber real, int bits, const void *q, const void *w, void *image);
  /* q is rounded as in a store, and written to store unless that is NULL */
  PetscErrorCode (*round)(const BornGrid *, BornNumber real, int bits, void *q, void *store);
  /* The force f, a field: w += V f / (1 + s), of which V is in the step, and f = scatter q */
  PetscErrorCode (*push)(const BornGrid *, const BornStep *, const void *q, void *w);
  /* The nodes round the inside within reach of the stencil: to (save) or from an array of BornRing() numbers */
  PetscErrorCode (*ring)(const BornGrid *, BornNumber, PetscBool save, void *u, void *ring);
  /* A lower V in the sponge, at random: V (1 - share depth / width hash)^2 */
  PetscErrorCode (*randomise)(const BornGrid *, BornNumber real, double share, uint64_t seed, const void *V, void *to);
  /* V = (v dt / h)^2 of velocities, a grid array of create(). rest: the first plane of the last dimension gets 0 */
  PetscErrorCode (*courant)(const BornGrid *, BornNumber real, PetscBool rest, PetscReal dt, PetscReal h, const PetscReal *v, void *V);
  /* V as integers without sign, V / unit */
  PetscErrorCode (*quantise)(const BornGrid *, BornNumber real, double unit, const void *V, uint16_t *to);
} BornKernels;

/*
   A low-pass of traces of all steps; data are samples at each every-th step: src/mat/born/survey/lowpass.c. Traces are
   one after the other, on the host. Beyond its steps a trace is 0
*/
typedef struct {
  PetscInt half; /* steps on each side; weights of the same distance are equal */
  double  *weight;
} BornLowpass;

/* frequency: in periods per step, 1/steps to 1/4. All functions are exported for tests */
PETSC_EXTERN PetscErrorCode BornLowpassCreate(double frequency, PetscInt steps, BornLowpass *);
PETSC_EXTERN PetscErrorCode BornLowpassDestroy(BornLowpass *);
/* Step n is number n - 1 of a trace. Sample s is at step every (s + 1) */
static inline double BornLowpassWeight(const BornLowpass *f, PetscInt a, PetscInt b)
{
  return f->weight[a < b ? b - a : a - b];
}

PETSC_EXTERN PetscErrorCode BornLowpassApply(const BornLowpass *, PetscInt traces, PetscInt steps, PetscInt every, PetscInt samples, const PetscReal all[],
                                             PetscReal data[]);
PETSC_EXTERN PetscErrorCode BornLowpassApplyTranspose(const BornLowpass *, PetscInt traces, PetscInt steps, PetscInt every, PetscInt samples,
                                                      const PetscReal data[], PetscReal all[]);

/* Bytes of a store; 32 bits are single precision */
static inline size_t BornStoreBytes(const BornGrid *g, int bits)
{
  const size_t blocks = (size_t)BornBlocks(g) * (size_t)g->n[1] * (size_t)g->n[2];

  return blocks * BORN_ALIGN * (size_t)bits / 8 + (bits < 32 ? blocks * sizeof(uint16_t) : 0);
}

/*
   The nodes round the inside: for each dimension and face a box, radius nodes deep, as wide as the inside. Nodes beyond
   the grid, or above a free surface, are left out, since their values are known. Nodes of other parts of the grid
   belong to their arrays
*/
typedef struct {
  PetscInt   from[3], n[3];
  PetscInt64 at; /* the first one's place in the array */
} BornRingBox;

static inline PetscInt64 BornRing(const BornGrid *g, int *boxes, BornRingBox box[6])
{
  PetscInt   low[3], high[3];
  PetscInt64 size = 0;

  *boxes = 0;
  for (int d = 0; d < 3; d++) BornInside(g, d, &low[d], &high[d]);
  for (int d = 0; d < g->dim; d++) {
    for (int face = 0; face < 2; face++) {
      BornRingBox *b = &box[*boxes];
      PetscInt     from, to;

      for (int e = 0; e < 3; e++) {
        b->from[e] = low[e];
        b->n[e]    = high[e] - low[e];
      }
      BornInsideWhole(g, d, &from, &to);
      from = face ? to : from - g->radius;
      to   = from + g->radius;
      if (from < 0) from = 0;
      if (to > g->n[d]) to = g->n[d];
      b->from[d] = from;
      b->n[d]    = to - from;
      b->at      = size;
      if (to <= from) continue;
      size += (PetscInt64)b->n[0] * b->n[1] * b->n[2];
      (*boxes)++;
    }
  }
  return size;
}

/* A number in [0, 1) for a node of a shot (Steele, Lea, Flood: the mixer of SplittableRandom) */
static LITHE_HD inline double BornHash(uint64_t seed, PetscInt64 node)
{
  uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (uint64_t)(node + 1);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return (double)(z >> 11) * (1. / 9007199254740992.);
}

/* The factor of V at a node with a random velocity in the sponge: 1 at the inner edge, less further out */
static LITHE_HD inline double BornRandomFactor(const BornGrid *g, PetscInt i, PetscInt j, PetscInt k, double share, double hash)
{
  const PetscInt at[3] = {i, j, k};
  PetscInt       depth = 0;
  double         factor;

  for (int d = 0; d < 3 && d < g->dim; d++) {
    const PetscInt x = at[d] + BornFirst(g, d), low = BornSpongeIsLow(g, d) ? g->width - x : 0, high = x - (BornWhole(g, d) - 1 - g->width);

    if (low > depth) depth = low;
    if (high > depth) depth = high;
  }
  if (!depth) return 1;
  factor = 1 - share * (double)depth / (double)g->width * hash;
  return factor * factor;
}

PETSC_INTERN const BornKernels BornHostKernels; /* src/mat/born/sweep/host.c */
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN const BornKernels BornDeviceKernels; /* src/mat/born/sweep/device.c */
#endif
