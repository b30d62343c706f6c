/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   SBPHostKernels: operators, transfers and vectors of SBP-SAT multigrid on host memory. The functions run in one
   thread, and are the reference for the kernels of a device. The loops over nodes are in sbphostloops.h and metrics.c.
*/

#include "sbpmetrics.h"
#include <lithe/private/lithecompiler.h>

/* Nodes of a strip: a few lines of this many doubles fit into a first-level cache */
#define SBP_STRIP 512

#define HOST_VALUE   float
#define HOST_REAL    float
#define HOST_NAME(f) f##_Single
#include "sbphostloops.h"

#define HOST_VALUE   double
#define HOST_REAL    double
#define HOST_NAME(f) f##_Double
#include "sbphostloops.h"

#if PetscDefined(USE_COMPLEX)
  #define HOST_VALUE   PetscScalar
  #define HOST_REAL    PetscReal
  #define HOST_NAME(f) f##_Scalar
  #include "sbphostloops.h"
#endif

/* A real PetscScalar has one of the other two precisions */
static SBPPrecision SBPPrecisionOfLoops(SBPPrecision precision)
{
  if (precision != SBP_SCALAR || PetscDefined(USE_COMPLEX)) return precision;
  return sizeof(PetscReal) == sizeof(float) ? SBP_SINGLE : SBP_DOUBLE;
}

#if PetscDefined(USE_COMPLEX)
  #define SBPWithPrecision(precision, f, ...)   \
    do {                                        \
      switch (SBPPrecisionOfLoops(precision)) { \
      case SBP_SINGLE:                          \
        PetscCall(f##_Single(__VA_ARGS__));     \
        break;                                  \
      case SBP_DOUBLE:                          \
        PetscCall(f##_Double(__VA_ARGS__));     \
        break;                                  \
      case SBP_SCALAR:                          \
        PetscCall(f##_Scalar(__VA_ARGS__));     \
        break;                                  \
      }                                         \
    } while (0)
#else
  #define SBPWithPrecision(precision, f, ...)                                               \
    do {                                                                                    \
      if (SBPPrecisionOfLoops(precision) == SBP_SINGLE) PetscCall(f##_Single(__VA_ARGS__)); \
      else PetscCall(f##_Double(__VA_ARGS__));                                              \
    } while (0)
#endif

static PetscErrorCode SBPStep_Host(const SBPOperator *op, const SBPBox *region, const SBPStep *step)
{
  PetscFunctionBegin;
  SBPWithPrecision(op->precision, SBPStepLoops, op, region, step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPDiagonal_Host(const SBPOperator *op, void *diagonal)
{
  PetscFunctionBegin;
  SBPWithPrecision(op->precision, SBPDiagonalLoops, op, diagonal);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPRestrict_Host(const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision precision, const void *r, void *rc)
{
  PetscFunctionBegin;
  SBPWithPrecision(precision, SBPRestrictLoops, fine, coarse, r, rc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPProlong_Host(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision precision, PetscBool add, const void *e, void *u)
{
  PetscFunctionBegin;
  SBPWithPrecision(precision, SBPProlongLoops, coarse, fine, PETSC_FALSE, add, e, u);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPInterpolate_Host(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision precision, const void *e, void *u)
{
  PetscFunctionBegin;
  SBPWithPrecision(precision, SBPProlongLoops, coarse, fine, PETSC_TRUE, PETSC_FALSE, e, u);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array as real numbers: their size, and the distance between two of them */
static void SBPRealView(SBPPrecision precision, int part, const void *x, PetscBool *single, PetscInt *stride, const void **real)
{
  size_t size = sizeof(PetscReal);

  if (precision == SBP_SINGLE) size = sizeof(float);
  else if (precision == SBP_DOUBLE) size = sizeof(double);
  *single = (PetscBool)(size == sizeof(float));
  *stride = precision == SBP_SCALAR && PetscDefined(USE_COMPLEX) ? 2 : 1;
  *real   = *stride == 2 ? (const char *)x + (size_t)part * size : x;
}

/* y = number(x), for known types */
#define SBPCopyLoop(from, to, number)                                                     \
  do {                                                                                    \
    for (PetscInt j = 0; j < g->own.count[1]; j++) {                                      \
      const from *x = (const from *)px + (PetscInt64)j * g->pitch * xs;                   \
      to         *y = (to *)py + (PetscInt64)j * h->pitch * ys;                           \
                                                                                          \
      if (xs == 1 && ys == 1) {                                                           \
        for (PetscInt i = 0; i < g->own.count[0]; i++) y[i] = (to)number(x[i]);           \
      } else {                                                                            \
        for (PetscInt i = 0; i < g->own.count[0]; i++) y[i * ys] = (to)number(x[i * xs]); \
      }                                                                                   \
    }                                                                                     \
  } while (0)

/* The same of any two precisions */
#define SBPCopyLoops(number)                                    \
  do {                                                          \
    PetscBool   xsingle, ysingle;                               \
    PetscInt    xs, ys;                                         \
    const void *px, *py;                                        \
                                                                \
    SBPRealView(fromprecision, part, from, &xsingle, &xs, &px); \
    SBPRealView(toprecision, topart, to, &ysingle, &ys, &py);   \
    if (xsingle && ysingle) SBPCopyLoop(float, float, number);  \
    else if (xsingle) SBPCopyLoop(float, double, number);       \
    else if (ysingle) SBPCopyLoop(double, float, number);       \
    else SBPCopyLoop(double, double, number);                   \
  } while (0)

#define SBPSelf(x)   (x)
#define SBPScaled(x) (factor * (double)(x))

static PetscErrorCode SBPCopy_Host(const SBPGrid *g, SBPPrecision fromprecision, int part, const void *from, const SBPGrid *h, SBPPrecision toprecision,
                                   int topart, void *to)
{
  PetscFunctionBegin;
  SBPCopyLoops(SBPSelf);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline double SBPNumber(SBPRatio r)
{
  const double under = r.under ? *r.under : 1;

  return under > 0 ? r.factor * (r.over ? *r.over : 1) / under : 0;
}

static PetscErrorCode SBPCopyScaled_Host(const SBPGrid *g, SBPPrecision fromprecision, int part, const void *from, const SBPGrid *h, SBPPrecision toprecision,
                                         int topart, void *to, SBPRatio a)
{
  const double factor = SBPNumber(a);

  PetscFunctionBegin;
  SBPCopyLoops(SBPScaled);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes the largest of n numbers at a given distance. NaN is passed over. Eight numbers at a time: the compiler may not
   change the order of a single maximum */
static void SBPNoteLargest(PetscInt n, PetscInt stride, const double *x, unsigned int *largest)
{
  double       most[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  unsigned int word    = *largest;
  PetscInt     i       = 0;

  if (stride == 1) {
    for (; i + 8 <= n; i += 8) {
      for (int k = 0; k < 8; k++) most[k] = fabs(x[i + k]) > most[k] ? fabs(x[i + k]) : most[k];
    }
  }
  for (; i < n; i++) most[0] = fabs(x[i * stride]) > most[0] ? fabs(x[i * stride]) : most[0];
  for (int k = 0; k < 8; k++) word = PetscMax(word, SBPUpperWord(most[k]));
  *largest = word;
}

static PetscErrorCode SBPCopyLargest_Host(const SBPGrid *g, SBPPrecision precision, int part, const void *from, const SBPGrid *h, void *to, SBPScale *scale,
                                          int turn)
{
  PetscBool   single;
  PetscInt    stride;
  const void *px;

  PetscFunctionBegin;
  SBPRealView(precision, part, from, &single, &stride, &px);
  PetscCheck(!single, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Numbers in single precision need no scale");
  for (PetscInt j = 0; j < g->own.count[1]; j++) {
    const double *x = (const double *)px + (PetscInt64)j * g->pitch * stride;
    float        *y = (float *)to + (PetscInt64)j * h->pitch;

    SBPNoteLargest(g->own.count[0], stride, x, scale->largest[turn]);
    for (PetscInt i = 0; i < g->own.count[0]; i++) y[i] = (float)x[i * stride];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPRescale_Host(const SBPGrid *g, SBPPrecision precision, int part, const void *from, const SBPGrid *h, void *to, SBPScale *scale,
                                      int turn)
{
  PetscFunctionBegin;
  scale->in                   = SBPScaleOf(scale->largest[turn][0], SBP_SCALE_WINDOW);
  scale->out                  = 1 / scale->in;
  scale->largest[1 - turn][0] = 0;
  if (from && scale->in != 1) PetscCall(SBPCopyScaled_Host(g, precision, part, from, h, SBP_SINGLE, 0, to, (SBPRatio){scale->in, NULL, NULL}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPRestrictLargest_Host(const SBPGrid *fine, const SBPGrid *coarse, const void *r, void *rc, SBPScale *scale, int turn)
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < fine->ghosted.count[1]; j++)
    SBPNoteLargest(fine->ghosted.count[0], 1, (const double *)r + (PetscInt64)j * fine->ghostpitch, scale->largest[turn]);
  PetscCall(SBPRestrict_Host(fine, coarse, SBP_DOUBLE, r, rc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums are formed in double precision */
#define SBPAxpbyLoop(xtype, ytype)                                                                          \
  do {                                                                                                      \
    for (PetscInt j = 0; j < g->own.count[1]; j++) {                                                        \
      const xtype *x = (const xtype *)px + (PetscInt64)j * g->pitch;                                        \
      ytype       *y = (ytype *)py + (PetscInt64)j * g->pitch;                                              \
                                                                                                            \
      if (b == 0.0) {                                                                                       \
        for (PetscInt i = 0; i < g->own.count[0]; i++) y[i] = (ytype)(a * (double)x[i]);                    \
      } else {                                                                                              \
        for (PetscInt i = 0; i < g->own.count[0]; i++) y[i] = (ytype)(a * (double)x[i] + b * (double)y[i]); \
      }                                                                                                     \
    }                                                                                                       \
  } while (0)

static PetscErrorCode SBPAxpby_Host(const SBPGrid *g, double a, SBPPrecision xprecision, const void *px, double b, SBPPrecision yprecision, void *py)
{
  PetscFunctionBegin;
  if (xprecision == SBP_SINGLE && yprecision == SBP_SINGLE) SBPAxpbyLoop(float, float);
  else if (xprecision == SBP_SINGLE) SBPAxpbyLoop(float, double);
  else if (yprecision == SBP_SINGLE) SBPAxpbyLoop(double, float);
  else SBPAxpbyLoop(double, double);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SBPMultiplyLoop(type)                                                     \
  do {                                                                            \
    const type factor = (type)a;                                                  \
                                                                                  \
    for (PetscInt j = 0; j < g->own.count[1]; j++) {                              \
      const type *x = (const type *)px + (PetscInt64)j * g->pitch;                \
      const type *y = (const type *)py + (PetscInt64)j * g->pitch;                \
      type       *z = (type *)pz + (PetscInt64)j * g->pitch;                      \
                                                                                  \
      for (PetscInt i = 0; i < g->own.count[0]; i++) z[i] = factor * x[i] * y[i]; \
    }                                                                             \
  } while (0)

static PetscErrorCode SBPMultiply_Host(const SBPGrid *g, SBPPrecision precision, double a, const void *px, const void *py, void *pz)
{
  PetscFunctionBegin;
  if (precision == SBP_SINGLE) SBPMultiplyLoop(float);
  else SBPMultiplyLoop(double);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (P e) at column i, between two rows of the coarse grid or on one row */
#define SBPBetween(below, above, i) (0.25 * (((double)below[i / 2] + (double)below[(i + 1) / 2]) + ((double)above[i / 2] + (double)above[(i + 1) / 2])))

#define SBPUpdateLoop(xtype, ytype)                                                                                               \
  do {                                                                                                                            \
    for (PetscInt j = 0; j < gx->own.count[1]; j++) {                                                                             \
      const xtype *x = (const xtype *)px + (PetscInt64)j * gx->pitch;                                                             \
      ytype       *y = (ytype *)py + (PetscInt64)j * gy->pitch;                                                                   \
                                                                                                                                  \
      if (e) {                                                                                                                    \
        const xtype *below = (const xtype *)e + (PetscInt64)(j / 2) * coarse->pitch;                                              \
        const xtype *above = (const xtype *)e + (PetscInt64)((j + 1) / 2) * coarse->pitch;                                        \
                                                                                                                                  \
        for (PetscInt i = 0; i < gx->own.count[0]; i++) y[i] += (ytype)(a * (double)(xtype)(x[i] + SBPBetween(below, above, i))); \
      } else {                                                                                                                    \
        for (PetscInt i = 0; i < gx->own.count[0]; i++) y[i] += (ytype)(a * (double)x[i]);                                        \
      }                                                                                                                           \
    }                                                                                                                             \
  } while (0)

static PetscErrorCode SBPUpdate_Host(const SBPGrid *gx, SBPPrecision xprecision, SBPRatio ratio, const void *px, const SBPGrid *coarse, const void *e,
                                     const SBPGrid *gy, SBPPrecision yprecision, void *py)
{
  const double a = SBPNumber(ratio);

  PetscFunctionBegin;
  if (xprecision == SBP_SINGLE && yprecision == SBP_SINGLE) SBPUpdateLoop(float, float);
  else if (xprecision == SBP_SINGLE) SBPUpdateLoop(float, double);
  else if (yprecision == SBP_SINGLE) SBPUpdateLoop(double, float);
  else SBPUpdateLoop(double, double);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the set-up of a multigrid, and the coarsest level */

/* eight partial sums: the compiler may not reorder the additions of a single sum */
#define SBPSumLoop(type, term)                                                                        \
  do {                                                                                                \
    double part[8] = {0, 0, 0, 0, 0, 0, 0, 0};                                                        \
                                                                                                      \
    for (PetscInt j = 0; j < g->own.count[1]; j++) {                                                  \
      const type *x = (const type *)px + (PetscInt64)j * g->pitch;                                    \
      const type *y = (const type *)py + (PetscInt64)j * g->pitch;                                    \
      const type *w = pw ? (const type *)pw + (PetscInt64)j * g->pitch : x;                           \
      PetscInt    i = 0;                                                                              \
                                                                                                      \
      (void)w;                                                                                        \
      for (; i + 8 <= g->own.count[0]; i += 8) {                                                      \
        for (int k = 0; k < 8; k++) part[k] += term(i + k);                                           \
      }                                                                                               \
      for (; i < g->own.count[0]; i++) part[0] += term(i);                                            \
    }                                                                                                 \
    *sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7])); \
  } while (0)
#define SBPProduct(i)         ((double)x[i] * (double)y[i])
#define SBPWeightedProduct(i) ((double)x[i] * (double)w[i] * (double)y[i])

static PetscErrorCode SBPSum_Host(const SBPGrid *g, SBPPrecision precision, const void *px, const void *pw, const void *py, double *sum)
{
  PetscFunctionBegin;
  if (precision == SBP_SINGLE) {
    if (pw) SBPSumLoop(float, SBPWeightedProduct);
    else SBPSumLoop(float, SBPProduct);
  } else {
    if (pw) SBPSumLoop(double, SBPWeightedProduct);
    else SBPSumLoop(double, SBPProduct);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SBPCombineLoop(type)                                                       \
  do {                                                                             \
    const type s = (type)SBPNumber(a), t = b.factor != 0 ? (type)SBPNumber(b) : 0; \
                                                                                   \
    for (PetscInt j = 0; j < g->own.count[1]; j++) {                               \
      const type *x = (const type *)px + (PetscInt64)j * g->pitch;                 \
      const type *w = pw ? (const type *)pw + (PetscInt64)j * g->pitch : NULL;     \
      type       *y = (type *)py + (PetscInt64)j * g->pitch;                       \
                                                                                   \
      for (PetscInt i = 0; i < g->own.count[0]; i++) {                             \
        const type change = w ? s * w[i] * x[i] : s * x[i];                        \
                                                                                   \
        y[i] = b.factor != 0 ? change + t * y[i] : change;                         \
      }                                                                            \
    }                                                                              \
  } while (0)

static PetscErrorCode SBPCombine_Host(const SBPGrid *g, SBPPrecision precision, SBPRatio a, const void *pw, const void *px, SBPRatio b, void *py)
{
  PetscFunctionBegin;
  if (precision == SBP_SINGLE) SBPCombineLoop(float);
  else SBPCombineLoop(double);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SBPNoiseLoop(type)                                                                                      \
  do {                                                                                                          \
    for (PetscInt j = 0; j < own->count[1]; j++) {                                                              \
      type *x = (type *)px + (PetscInt64)j * g->pitch;                                                          \
                                                                                                                \
      for (PetscInt i = 0; i < own->count[0]; i++) x[i] = (type)SBPNoise(own->start[0] + i, own->start[1] + j); \
    }                                                                                                           \
  } while (0)

static PetscErrorCode SBPNoise_Host(const SBPGrid *g, SBPPrecision precision, void *px)
{
  const SBPBox *own = &g->own;

  PetscFunctionBegin;
  if (precision == SBP_SINGLE) SBPNoiseLoop(float);
  else SBPNoiseLoop(double);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M is symmetric. The sum over rows has no serial dependence */
#define SBPDenseLoop(type)                                                    \
  do {                                                                        \
    const type *x = (const type *)px;                                         \
    type       *y = (type *)py;                                               \
                                                                              \
    for (PetscInt i = 0; i < n; i++) y[i] = 0;                                \
    for (PetscInt j = 0; j < n; j++) {                                        \
      const type *m = (const type *)M + (size_t)j * (size_t)n, factor = x[j]; \
                                                                              \
      LITHE_INDEPENDENT                                                       \
      for (PetscInt i = 0; i < n; i++) y[i] += m[i] * factor;                 \
    }                                                                         \
  } while (0)

LITHE_TARGET_CLONES static void SBPDenseSingle(PetscInt n, const void *M, const void *px, void *py)
{
  SBPDenseLoop(float);
}

LITHE_TARGET_CLONES static void SBPDenseDouble(PetscInt n, const void *M, const void *px, void *py)
{
  SBPDenseLoop(double);
}

static PetscErrorCode SBPDense_Host(PetscInt n, SBPPrecision precision, const void *M, const void *px, void *py)
{
  PetscFunctionBegin;
  if (precision == SBP_SINGLE) SBPDenseSingle(n, M, px, py);
  else SBPDenseDouble(n, M, px, py);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SBPReciprocalLoop(type)                                       \
  do {                                                                \
    for (PetscInt j = 0; j < g->own.count[1]; j++) {                  \
      type *x = (type *)px + (PetscInt64)j * g->pitch;                \
                                                                      \
      for (PetscInt i = 0; i < g->own.count[0]; i++) x[i] = 1 / x[i]; \
    }                                                                 \
  } while (0)

static PetscErrorCode SBPReciprocal_Host(const SBPGrid *g, SBPPrecision precision, void *px)
{
  PetscFunctionBegin;
  if (precision == SBP_SINGLE) SBPReciprocalLoop(float);
  else SBPReciprocalLoop(double);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where node (i, j) is in an owned array */
static inline size_t SBPAt(const SBPGrid *g, PetscInt i, PetscInt j)
{
  return (size_t)(j - g->own.start[1]) * (size_t)g->pitch + (size_t)(i - g->own.start[0]);
}

/* The first number from begin on that leaves the rest colour when divided by 3 */
static inline PetscInt SBPFirstOfColour(PetscInt begin, PetscInt colour)
{
  return begin + (colour + 3 - begin % 3) % 3;
}

static PetscErrorCode SBPMark_Host(const SBPGrid *g, SBPPrecision precision, int colour, void *v)
{
  const SBPBox *own = &g->own;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(v, (size_t)g->pitch * (size_t)own->count[1] * (precision == SBP_SINGLE ? sizeof(float) : sizeof(double))));
  for (PetscInt j = SBPFirstOfColour(own->start[1], colour / 3); j < own->start[1] + own->count[1]; j += 3) {
    for (PetscInt i = SBPFirstOfColour(own->start[0], colour % 3); i < own->start[0] + own->count[0]; i += 3) {
      if (precision == SBP_SINGLE) ((float *)v)[SBPAt(g, i, j)] = 1;
      else ((double *)v)[SBPAt(g, i, j)] = 1;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPGather_Host(const SBPGrid *g, SBPPrecision precision, int colour, const void *o, void *const coefficient[SBP_COEFFICIENTS])
{
  /* the neighbours of a node in the coefficients */
  static const int neighbour[SBP_COEFFICIENTS][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}};
  const SBPBox    *own                            = &g->own;

  PetscFunctionBegin;
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    const PetscInt di = neighbour[k][0], dj = neighbour[k][1];

    /* Over the nodes (p, q) of the colour */
    for (PetscInt q = SBPFirstOfColour(own->start[1] + dj, colour / 3); q < own->start[1] + dj + own->count[1] && q <= g->n[1]; q += 3) {
      for (PetscInt p = SBPFirstOfColour(PetscMax(0, own->start[0] + di), colour % 3); p < own->start[0] + di + own->count[0] && p <= g->n[0]; p += 3) {
        const size_t at = SBPAt(g, p - di, q - dj);

        if (precision == SBP_SINGLE) ((float *)coefficient[k])[at] = ((const float *)o)[at];
        else ((double *)coefficient[k])[at] = ((const double *)o)[at];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SBPKernels SBPHostKernels = {
  .memory          = &LitheHostMemory,
  .vector          = {.copy        = SBPCopy_Host,
                      .copyscaled  = SBPCopyScaled_Host,
                      .copylargest = SBPCopyLargest_Host,
                      .rescale     = SBPRescale_Host,
                      .axpby       = SBPAxpby_Host,
                      .multiply    = SBPMultiply_Host,
                      .reciprocal  = SBPReciprocal_Host,
                      .noise       = SBPNoise_Host,
                      .update      = SBPUpdate_Host,
                      .sum         = SBPSum_Host,
                      .combine     = SBPCombine_Host,
                      .dense       = SBPDense_Host,
                      .mark        = SBPMark_Host,
                      .gather      = SBPGather_Host,
                      .square      = SBPSquare_Host,
                      .strided     = SBPStrided_Host},
  .step            = SBPStep_Host,
  .diagonal        = SBPDiagonal_Host,
  .restrict_       = SBPRestrict_Host,
  .restrictlargest = SBPRestrictLargest_Host,
  .prolong         = SBPProlong_Host,
  .interpolate     = SBPInterpolate_Host,
  .metrics         = SBPMetrics_Host,
  .check           = SBPCheck_Host,
  .source          = SBPSource_Host,
};
