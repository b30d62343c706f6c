/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* What the tests of SBPDeviceKernels against SBPHostKernels share: arrays and operators on both sides, shapes of
   grids */

#include <lithe/private/sbp/sbpsat.h>
#include <lithe.h>
#include <tests/failures.h>
#include <dlfcn.h>

static const SBPKernels *H = &SBPHostKernels, *D;
static PetscRandom       numbers;

/* An array on the host and on the device, of any precision */
typedef struct {
  SBPPrecision precision;
  PetscBool    coefficients; /* real where PetscScalar is complex */
  size_t       size, width;  /* numbers; bytes per number */
  void        *host, *device;
} Array;

static size_t Width(SBPPrecision precision, PetscBool coefficients)
{
  if (precision == SBP_SCALAR) return coefficients ? sizeof(PetscReal) : sizeof(PetscScalar);
  return precision == SBP_SINGLE ? sizeof(float) : sizeof(double);
}

/* Numbers between low and high */
static PetscErrorCode ArrayFill(Array *a, PetscReal low, PetscReal high)
{
  const PetscBool single = (PetscBool)(a->precision == SBP_SINGLE || (a->precision == SBP_SCALAR && sizeof(PetscReal) == sizeof(float)));
  const size_t    n      = a->size * a->width / (single ? sizeof(float) : sizeof(double));

  PetscFunctionBegin;
  for (size_t k = 0; k < n; k++) {
    PetscReal x;

    PetscCall(PetscRandomGetValueReal(numbers, &x));
    x = low + (high - low) * x;
    if (single) ((float *)a->host)[k] = (float)x;
    else ((double *)a->host)[k] = (double)x;
  }
  PetscCall((*D->memory->put)(a->size * a->width, a->host, a->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArrayCreate(SBPPrecision precision, PetscBool coefficients, PetscInt rows, PetscInt pitch, PetscReal low, PetscReal high, Array *a)
{
  PetscFunctionBegin;
  a->precision    = precision;
  a->coefficients = coefficients;
  a->size         = (size_t)rows * (size_t)pitch;
  a->width        = Width(precision, coefficients);
  PetscCall(LitheMemoryCalloc(H->memory, a->size * a->width, &a->host));
  PetscCall(LitheMemoryCalloc(D->memory, a->size * a->width, &a->device));
  PetscCall(ArrayFill(a, low, high));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArrayDestroy(Array *a)
{
  PetscFunctionBegin;
  PetscCall((*H->memory->free)(&a->host));
  PetscCall((*D->memory->free)(&a->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether both arrays agree up to rounding, including entries which no kernel writes */
static PetscErrorCode ArrayCompare(Array *a, PetscReal factor, const char *what)
{
  const PetscBool single = (PetscBool)(a->precision == SBP_SINGLE || (a->precision == SBP_SCALAR && sizeof(PetscReal) == sizeof(float)));
  const size_t    bytes = a->size * a->width, n = bytes / (single ? sizeof(float) : sizeof(double));
  void           *x;
  double          worst = 0, most = 1;
  size_t          where = 0;

  PetscFunctionBegin;
  PetscCall(LitheMemoryCalloc(H->memory, bytes, &x));
  PetscCall((*D->memory->get)(bytes, a->device, x));
  for (size_t k = 0; k < n; k++) {
    const double h = single ? (double)((float *)a->host)[k] : ((double *)a->host)[k], d = single ? (double)((float *)x)[k] : ((double *)x)[k],
                 e = h > d ? h - d : d - h;

    if (!(e <= worst)) {
      worst = e;
      where = k;
    }
    most = h > most ? h : (-h > most ? -h : most);
  }
  if (WRONG(!(worst <= (double)factor * most * (single ? 6e-8 : 1.2e-16)))) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: number %zu of %zu differs by %g, the largest is %g\n", what, where, n, worst, most));
  }
  PetscCall((*H->memory->free)(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids: size, owned part, reach, pitches beyond the counts */
typedef struct {
  PetscInt n[2], start[2], end[2], padding;
} Shape;

static const Shape shapes[] = {{{8, 10}, {0, 0}, {9, 11}, 0},      {{17, 23}, {0, 0}, {18, 24}, 0},      {{20, 19}, {0, 0}, {21, 20}, 32},
                               {{31, 40}, {0, 0}, {32, 41}, 32},   {{64, 18}, {0, 0}, {65, 19}, 32},     {{131, 37}, {0, 0}, {132, 38}, 0},
                               {{251, 33}, {0, 0}, {252, 34}, 32}, {{130, 129}, {0, 0}, {131, 130}, 32}, {{40, 30}, {0, 0}, {19, 31}, 0},
                               {{40, 30}, {19, 12}, {41, 31}, 7},  {{150, 50}, {20, 14}, {140, 37}, 0},  {{150, 50}, {0, 14}, {140, 51}, 32}};

static void MakeGrid(const Shape *s, int order, SBPKind kind, int dirichlet, int reach, SBPGrid *g)
{
  memset(g, 0, sizeof(*g));
  g->order = order;
  g->reach = reach;
  for (int f = 0; f < SBP_FACES; f++) g->dirichlet[f] = (PetscBool)(kind != SBP_NINE && (dirichlet >> f & 1));
  for (int d = 0; d < 2; d++) {
    g->n[d]             = s->n[d];
    g->h[d]             = (PetscReal)2 / s->n[d];
    g->own.start[d]     = s->start[d];
    g->own.count[d]     = s->end[d] - s->start[d];
    g->ghosted.start[d] = PetscMax(0, s->start[d] - reach);
    g->ghosted.count[d] = PetscMin(s->n[d] + 1, s->end[d] + reach) - g->ghosted.start[d];
  }
  /* a multiple of 32 numbers permits wide accesses, other pitches do not */
  g->pitch            = s->padding == 32 ? (g->own.count[0] + 31) / 32 * 32 : g->own.count[0] + s->padding;
  g->ghostpitch       = s->padding == 32 ? (g->ghosted.count[0] + 31) / 32 * 32 : g->ghosted.count[0] + s->padding;
  g->coefficientpitch = s->padding == 32 ? (g->ghosted.count[0] + 63) / 32 * 32 : g->ghosted.count[0] + 2 * s->padding;
}

/* An operator on both sides */
typedef struct {
  SBPOperator host, device;
  Array       coefficient[SBP_COEFFICIENTS], penalty[SBP_FACES];
  int         count;
} Pair;

/* number (i, j) of a coefficient becomes 0 */
static void SetZero(Array *a, const SBPGrid *g, PetscInt i, PetscInt j)
{
  memset((char *)a->host + a->width * (size_t)((j - g->ghosted.start[1]) * g->coefficientpitch + i - g->ghosted.start[0]), 0, a->width);
}

static PetscErrorCode PairCreate(SBPKind kind, SBPPrecision precision, const SBPGrid *g, Pair *p)
{
  PetscFunctionBegin;
  memset(p, 0, sizeof(*p));
  p->host.kind      = kind;
  p->host.grid      = *g;
  p->host.precision = precision;
  p->host.scale     = kind == SBP_SHIFTED ? -0.75 : 0;
  p->device         = p->host;
  p->count          = SBPKindCoefficients(kind);
  for (int k = 0; k < p->count; k++) {
    PetscCall(ArrayCreate(precision, PETSC_TRUE, g->ghosted.count[1], g->coefficientpitch, 0.5, 2.0, &p->coefficient[k]));
    if (kind == SBP_NINE) {
      for (PetscInt j = g->ghosted.start[1]; j < g->ghosted.start[1] + g->ghosted.count[1]; j++)
        for (PetscInt i = g->ghosted.start[0]; i < g->ghosted.start[0] + g->ghosted.count[0]; i++)
          if (((k == 1 || k == 3) && i == g->n[0]) || (k >= 2 && j == g->n[1]) || (k == 4 && i == 0)) SetZero(&p->coefficient[k], g, i, j);
      PetscCall((*D->memory->put)(p->coefficient[k].size * p->coefficient[k].width, p->coefficient[k].host, p->coefficient[k].device));
    }
    p->host.coefficient[k]   = p->coefficient[k].host;
    p->device.coefficient[k] = p->coefficient[k].device;
  }
  for (int f = 0; f < SBP_FACES; f++) {
    if (!g->dirichlet[f]) continue;
    PetscCall(ArrayCreate(precision, PETSC_TRUE, 1, g->ghosted.count[1 - f / 2], 10, 20, &p->penalty[f]));
    p->host.penalty[f]   = p->penalty[f].host;
    p->device.penalty[f] = p->penalty[f].device;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairDestroy(Pair *p)
{
  PetscFunctionBegin;
  for (int k = 0; k < p->count; k++) PetscCall(ArrayDestroy(&p->coefficient[k]));
  for (int f = 0; f < SBP_FACES; f++)
    if (p->penalty[f].host) PetscCall(ArrayDestroy(&p->penalty[f]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse grid of a fine grid: a process owns the nodes (I, J) whose (2I, 2J) it owns */
static void MakeCoarse(const SBPGrid *fine, PetscInt padding, int reach, SBPGrid *coarse)
{
  Shape s;

  s.padding = padding;
  for (int d = 0; d < 2; d++) {
    s.n[d]     = fine->n[d] / 2;
    s.start[d] = (fine->own.start[d] + 1) / 2;
    s.end[d]   = (fine->own.start[d] + fine->own.count[d] + 1) / 2;
  }
  MakeGrid(&s, 2, SBP_NINE, 0, reach, coarse);
}

/* Errors are measured relative to the result, whose scale is that of sums, so a few hundred roundings are allowed */
#define SEVERAL 400

/* The device's kernels, which a library without CUDA has not */
static PetscErrorCode KernelsStart(int *argc, char ***argv, const char help[])
{
  const SBPKernels *(*kernels)(void);

  PetscFunctionBegin;
  PetscCall(TestBegin(argc, argv, help));
  *(void **)&kernels = dlsym(RTLD_DEFAULT, "SBPGetDeviceKernels");
  PetscCheck(kernels, PETSC_COMM_WORLD, PETSC_ERR_SUP, "This Lithe was built without CUDA");
  D = kernels();
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &numbers));
  PetscCall(PetscRandomSetInterval(numbers, 0.0, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int KernelsEnd(PetscInt least)
{
  PetscCallAbort(PETSC_COMM_WORLD, PetscRandomDestroy(&numbers));
  return TestEnd(least, "all is right\n");
}

static inline PetscBool IsWhole(const Shape *s)
{
  return (PetscBool)(s->start[0] == 0 && s->start[1] == 0 && s->end[0] == s->n[0] + 1 && s->end[1] == s->n[1] + 1);
}
