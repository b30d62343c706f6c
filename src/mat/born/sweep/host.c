/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The operations of MATBORN on the host, which are the reference for the kernels */

#include <lithe/private/born/born.h>
#include <lithe/private/lithecompiler.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/codec/frsz2.h>

#define BORN_CHUNK 256 /* nodes along x whose L u is held at a time */

/* For all lines along x: statements with j, k, the number of the first node, and the node's place in a field */
#define BORN_LINES(g, ...)                                                                                \
  for (PetscInt k = 0; k < (g)->n[2]; k++) {                                                              \
    for (PetscInt j = 0; j < (g)->n[1]; j++) {                                                            \
      const PetscInt64 node = (g)->n[0] * (j + (PetscInt64)(g)->n[1] * k), place = BornPlace(g, 0, j, k); \
                                                                                                          \
      __VA_ARGS__;                                                                                        \
    }                                                                                                     \
  }

#define HOST_REAL    float
#define HOST_NAME(f) f##_Single
#include "bornhostreal.h"

#define HOST_REAL    double
#define HOST_NAME(f) f##_Double
#include "bornhostreal.h"

#define NOTHING(...) ((void)0)

#define HOST_NUMBER        float
#define HOST_REAL          float
#define HOST_NAME(f)       f##_Single
#define HOST_UPDATE        BornUpdate_Single
#define HOST_REAL_UPDATE   BornUpdate_Single
#define HOST_ADD(u, x)     u += (x)
#define HOST_SPONGE        BornSponge_Single
#define HOST_ROUND         BornRound_Single
#define HOST_NOTE          NOTHING
#define HOST_SECOND        BornSecond_Single
#define HOST_SECOND_MIRROR BornMirror_Single
#include "bornhoststep.h"

#define HOST_NUMBER        double
#define HOST_REAL          double
#define HOST_NAME(f)       f##_Double
#define HOST_UPDATE        BornUpdate_Double
#define HOST_REAL_UPDATE   BornUpdate_Double
#define HOST_ADD(u, x)     u += (x)
#define HOST_SPONGE        BornSponge_Double
#define HOST_ROUND         BornRound_Double
#define HOST_NOTE          NOTHING
#define HOST_SECOND        BornSecond_Double
#define HOST_SECOND_MIRROR BornMirror_Double
#include "bornhoststep.h"

static void BornNoteLargest(const BornStep *step, PetscInt shot, PetscInt m, const int32_t *u)
{
  unsigned largest = step->largest[shot];

  for (PetscInt l = 0; l < m; l++) {
    const unsigned modulus = u[l] < 0 ? 0u - (unsigned)u[l] : (unsigned)u[l];

    largest = modulus > largest ? modulus : largest;
  }
  step->largest[shot] = largest;
}

#define HOST_NUMBER        int32_t
#define HOST_REAL          float
#define HOST_NAME(f)       f##_Int32
#define HOST_UPDATE        BornUpdateInt
#define HOST_ADD(u, x)     u = (int32_t)((uint32_t)(u) + (uint32_t)BornRound(x))
#define HOST_SPONGE        BornSponge_Single
#define HOST_ROUND         BornRound_Single
#define HOST_NOTE          BornNoteLargest
#define HOST_SECOND        BornSecond_Single
#define HOST_SECOND_MIRROR BornMirror_Single
#include "bornhoststep.h"

/* ------------------------------------------------------------ memory */

static PetscErrorCode BornHostCreate(PETSC_UNUSED PetscBool host, size_t bytes, void **x)
{
  PetscFunctionBegin;
  PetscCall(PetscCalloc1(bytes, (char **)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostDestroy(PETSC_UNUSED PetscBool host, void **x)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostZero(size_t bytes, void *x)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(x, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostCopy(size_t bytes, const void *from, void *to)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(to, from, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostRoom(size_t *bytes)
{
  PetscFunctionBegin;
  PetscCall(LitheGetFreeMemory(bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostBorrow(PETSC_UNUSED size_t n, const PetscReal *any, PETSC_UNUSED PetscBool read, PetscReal **mine)
{
  PetscFunctionBegin;
  *mine = (PetscReal *)any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostGiveBack(PETSC_UNUSED size_t n, PETSC_UNUSED PetscReal *any, PETSC_UNUSED PetscBool written, PetscReal **mine)
{
  PetscFunctionBegin;
  *mine = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostPoints(const BornPoints *host, BornPoints *mine)
{
  PetscFunctionBegin;
  *mine = *host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostPointsDestroy(BornPoints *mine)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(mine, sizeof(*mine)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostLargest(size_t n, const PetscReal *x, double *modulus)
{
  double largest = 0;

  PetscFunctionBegin;
  for (size_t i = 0; i < n; i++) {
    const double a = fabs((double)x[i]);

    if (!(a <= largest)) largest = a; /* a NaN stays: comparisons with a NaN are false */
    if (PetscIsNanReal((PetscReal)a)) break;
  }
  *modulus = largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Comparisons with a NaN are false */
static PetscErrorCode BornHostRange(size_t n, const PetscReal *x, double *least, double *largest)
{
  PetscReal most = 0, low = PETSC_MAX_REAL;
  PetscBool bad = PETSC_FALSE;

  PetscFunctionBegin;
  for (size_t i = 0; i < n; i++) {
    bad  = (PetscBool)(bad | !(x[i] > 0 && x[i] <= PETSC_MAX_REAL));
    low  = x[i] < low ? x[i] : low;
    most = x[i] > most ? x[i] : most;
  }
  *least   = bad ? 0 : (double)low;
  *largest = (double)most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ steps */

static PetscErrorCode BornHostStep(const BornGrid *g, const BornStep *step)
{
  const PetscLogDouble star = 1 + 3. * g->dim * g->radius;

  PetscFunctionBegin;
  if (step->number == BORN_FLOAT) BornStepAll_Single(g, step);
  else if (step->number == BORN_DOUBLE) BornStepAll_Double(g, step);
  else BornStepAll_Int32(g, step);
  /* A stencil, an update, and two per further operation */
  PetscCall(PetscLogFlops((PetscLogDouble)g->nodes * ((step->w ? 2 : 1) * (star + 6) + (step->image ? 2 : 0) + (step->scatter ? 2 : 0))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostForce(const BornGrid *g, const BornForce *force)
{
  PetscFunctionBegin;
  if (force->number == BORN_FLOAT) BornForceAll_Single(g, force);
  else if (force->number == BORN_DOUBLE) BornForceAll_Double(g, force);
  else BornForceAll_Int32(g, force);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostExtract(const BornGrid *g, BornNumber real, const BornPoints *p, const void *u, double factor, PetscReal *values,
                                      PetscInt64 stride)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornExtract_Single(g, p, (const float *)u, factor, values, stride);
  else BornExtract_Double(g, p, (const double *)u, factor, values, stride);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ fields */

static PetscErrorCode BornHostLoad(const BornGrid *g, BornNumber real, PetscBool inside, double factor, const PetscReal *from, void *to)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornLoad_Single(g, inside, factor, from, (float *)to);
  else BornLoad_Double(g, inside, factor, from, (double *)to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostAdd(const BornGrid *g, BornNumber real, PetscBool inside, double factor, const void *from, PetscReal *to)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornAdd_Single(g, inside, factor, (const float *)from, to);
  else BornAdd_Double(g, inside, factor, (const double *)from, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostImage(const BornGrid *g, BornNumber real, int bits, const void *q, const void *w, void *image)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornImage_Single(g, bits, q, (const float *)w, (float *)image);
  else BornImage_Double(g, bits, q, (const double *)w, (double *)image);
  PetscCall(PetscLogFlops(2. * (PetscLogDouble)g->nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostRound(const BornGrid *g, BornNumber real, int bits, void *q, void *store)
{
  PetscFunctionBegin;
  BORN_LINES(g, {
    (void)node;
    if (real == BORN_FLOAT) BornRound_Single(g, bits, 0, j, k, g->n[0], (float *)q + place, store);
    else BornRound_Double(g, bits, 0, j, k, g->n[0], (double *)q + place, store);
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostPush(const BornGrid *g, const BornStep *step, const void *q, void *w)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      for (PetscInt i = 0; i < g->n[0]; i += BORN_CHUNK) {
        const PetscInt m = PetscMin(BORN_CHUNK, g->n[0] - i);

        if (step->number == BORN_DOUBLE) BornPushNodes_Double(g, step, i, j, k, m, (const double *)q, (double *)w);
        else BornPushNodes_Single(g, step, i, j, k, m, (const float *)q, (float *)w);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between a field and the array of the nodes round the inside */
static PetscErrorCode BornHostRing(const BornGrid *g, BornNumber number, PetscBool save, void *u, void *ring)
{
  const size_t bytes = BornBytes(number);
  int          boxes;
  BornRingBox  box[6];

  PetscFunctionBegin;
  (void)BornRing(g, &boxes, box);
  for (int b = 0; b < boxes; b++) {
    char *at = (char *)ring + bytes * (size_t)box[b].at;

    for (PetscInt k = 0; k < box[b].n[2]; k++) {
      for (PetscInt j = 0; j < box[b].n[1]; j++) {
        char        *line = (char *)u + bytes * (size_t)BornPlace(g, box[b].from[0], box[b].from[1] + j, box[b].from[2] + k);
        const size_t n    = bytes * (size_t)box[b].n[0];

        PetscCall(save ? PetscMemcpy(at, line, n) : PetscMemcpy(line, at, n));
        at += n;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostRandomise(const BornGrid *g, BornNumber real, double share, uint64_t seed, const void *V, void *to)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornRandomise_Single(g, share, seed, (const float *)V, (float *)to);
  else BornRandomise_Double(g, share, seed, (const double *)V, (double *)to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostCourant(const BornGrid *g, BornNumber real, PetscBool rest, PetscReal dt, PetscReal h, const PetscReal *v, void *V)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornCourant_Single(g, rest, dt, h, v, (float *)V);
  else BornCourant_Double(g, rest, dt, h, v, (double *)V);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornHostQuantise(const BornGrid *g, BornNumber real, double unit, const void *V, uint16_t *to)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) BornQuantise_Single(g, unit, (const float *)V, to);
  else BornQuantise_Double(g, unit, (const double *)V, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const BornKernels BornHostKernels = {
  .name          = "host",
  .device        = PETSC_FALSE,
  .create        = BornHostCreate,
  .destroy       = BornHostDestroy,
  .zero          = BornHostZero,
  .copy          = BornHostCopy,
  .room          = BornHostRoom,
  .borrow        = BornHostBorrow,
  .giveback      = BornHostGiveBack,
  .points        = BornHostPoints,
  .pointsdestroy = BornHostPointsDestroy,
  .largest       = BornHostLargest,
  .range         = BornHostRange,
  .step          = BornHostStep,
  .force         = BornHostForce,
  .extract       = BornHostExtract,
  .load          = BornHostLoad,
  .add           = BornHostAdd,
  .image         = BornHostImage,
  .round         = BornHostRound,
  .push          = BornHostPush,
  .ring          = BornHostRing,
  .randomise     = BornHostRandomise,
  .courant       = BornHostCourant,
  .quantise      = BornHostQuantise,
};
