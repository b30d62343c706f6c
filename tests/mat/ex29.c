/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "SBP-SAT operators on a device: every operation of SBPDeviceKernels against that of SBPHostKernels.\n\n";

#undef LITHE_HAVE_CUDA /* the device's part is asked of the library */
#include <src/mat/sbpsat/sbphost.c>
#include <lithe.h>
#include <dlfcn.h>

static const SBPKernels *H = &SBPHostKernels, *D;
static PetscInt          failures;
static PetscRandom       numbers;

/* An array on the host and on the device, of any precision */
typedef struct {
  SBPPrecision precision;
  PetscBool    coefficients; /* real where PetscScalar is complex */
  size_t       size, width;  /* numbers; their bytes */
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
  PetscCall(D->put(a->size * a->width, a->host, a->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArrayCreate(SBPPrecision precision, PetscBool coefficients, PetscInt rows, PetscInt pitch, PetscReal low, PetscReal high, Array *a)
{
  PetscFunctionBegin;
  a->precision    = precision;
  a->coefficients = coefficients;
  a->size         = (size_t)rows * (size_t)pitch;
  a->width        = Width(precision, coefficients);
  PetscCall(H->alloc(a->size * a->width, &a->host));
  PetscCall(D->alloc(a->size * a->width, &a->device));
  PetscCall(ArrayFill(a, low, high));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArrayDestroy(Array *a)
{
  PetscFunctionBegin;
  PetscCall(H->free(&a->host));
  PetscCall(D->free(&a->device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are they the same up to rounding, and where nothing is written, too? */
static PetscErrorCode ArrayCompare(Array *a, PetscReal factor, const char *what)
{
  const PetscBool single = (PetscBool)(a->precision == SBP_SINGLE || (a->precision == SBP_SCALAR && sizeof(PetscReal) == sizeof(float)));
  const size_t    bytes = a->size * a->width, n = bytes / (single ? sizeof(float) : sizeof(double));
  void           *x;
  double          worst = 0, most = 1;
  size_t          where = 0;

  PetscFunctionBegin;
  PetscCall(H->alloc(bytes, &x));
  PetscCall(D->get(bytes, a->device, x));
  for (size_t k = 0; k < n; k++) {
    const double h = single ? (double)((float *)a->host)[k] : ((double *)a->host)[k], d = single ? (double)((float *)x)[k] : ((double *)x)[k], e = h > d ? h - d : d - h;

    if (!(e <= worst)) {
      worst = e;
      where = k;
    }
    most = h > most ? h : (-h > most ? -h : most);
  }
  if (!(worst <= (double)factor * most * (single ? 6e-8 : 1.2e-16))) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: number %zu of %zu differs by %g, the largest is %g\n", what, where, n, worst, most));
  }
  PetscCall(H->free(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids: size, what of it is owned, how far it reaches, pitches beyond the counts */
typedef struct {
  PetscInt n[2], start[2], end[2], padding;
} Shape;

static const Shape shapes[] = {
  {{8, 10},    {0, 0},   {9, 11},    0 },
  {{17, 23},   {0, 0},   {18, 24},   0 },
  {{20, 19},   {0, 0},   {21, 20},   32},
  {{31, 40},   {0, 0},   {32, 41},   32},
  {{64, 18},   {0, 0},   {65, 19},   32},
  {{131, 37},  {0, 0},   {132, 38},  0 },
  {{251, 33},  {0, 0},   {252, 34},  32},
  {{130, 129}, {0, 0},   {131, 130}, 32},
  {{40, 30},   {0, 0},   {19, 31},   0 },
  {{40, 30},   {19, 12}, {41, 31},   7 },
  {{150, 50},  {20, 14}, {140, 37},  0 },
  {{150, 50},  {0, 14},  {140, 51},  32}
};

static void MakeGrid(const Shape *s, int order, SBPKind kind, int dirichlet, int reach, SBPGrid *g)
{
  memset(g, 0, sizeof(*g));
  g->order = order;
  g->reach = reach;
  for (int f = 0; f < SBP_FACES; f++) g->dirichlet[f] = (PetscBool)(kind == SBP_SAT && (dirichlet >> f & 1));
  for (int d = 0; d < 2; d++) {
    g->n[d]             = s->n[d];
    g->h[d]             = (PetscReal)2 / s->n[d];
    g->own.start[d]     = s->start[d];
    g->own.count[d]     = s->end[d] - s->start[d];
    g->ghosted.start[d] = PetscMax(0, s->start[d] - reach);
    g->ghosted.count[d] = PetscMin(s->n[d] + 1, s->end[d] + reach) - g->ghosted.start[d];
  }
  /* a multiple of 32 numbers allows of wide accesses, others do not */
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
  p->device         = p->host;
  p->count          = kind == SBP_NINE ? 5 : 3;
  for (int k = 0; k < p->count; k++) {
    PetscCall(ArrayCreate(precision, PETSC_TRUE, g->ghosted.count[1], g->coefficientpitch, 0.5, 2.0, &p->coefficient[k]));
    if (kind == SBP_NINE) {
      for (PetscInt j = g->ghosted.start[1]; j < g->ghosted.start[1] + g->ghosted.count[1]; j++)
        for (PetscInt i = g->ghosted.start[0]; i < g->ghosted.start[0] + g->ghosted.count[0]; i++)
          if (((k == 1 || k == 3) && i == g->n[0]) || (k >= 2 && j == g->n[1]) || (k == 4 && i == 0)) SetZero(&p->coefficient[k], g, i, j);
      PetscCall(D->put(p->coefficient[k].size * p->coefficient[k].width, p->coefficient[k].host, p->coefficient[k].device));
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

/* The scale of what comes out, in which errors are measured, is that of the sums, so that a few hundred roundings are allowed */
#define SEVERAL 400

static PetscErrorCode TestSteps(const Pair *p, const char *where)
{
  const SBPGrid *g         = &p->host.grid;
  const SBPBox   regions[] = {
    g->own,
    {{g->own.start[0] + 2, g->own.start[1] + 1}, {g->own.count[0] - 5, g->own.count[1] - 3}},
    {{g->own.start[0], g->own.start[1]},         {2, g->own.count[1]}                      },
    {{g->own.start[0], g->own.start[1]},         {g->own.count[0], 1}                      },
    {{g->own.start[0] + 1, g->own.start[1] + 1}, {0, 4}                                    }
  };
  Array u, b, d, dinv, out, dout;
  char  what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->ghosted.count[1], g->ghostpitch, -1, 1, &u));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &b));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &d));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, 0.01, 0.02, &dinv));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &out));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &dout));
  for (int r = 0; r <= (int)PETSC_STATIC_ARRAY_LENGTH(regions); r++)
    for (int mode = SBP_APPLY; mode <= SBP_SMOOTH; mode++)
      /* smoothing: c1 = 0 or not, dinv or not, d or not; others: in place or not */
      for (int way = 0; way < (mode == SBP_SMOOTH ? 6 : (mode == SBP_APPLY ? 1 : 2)); way++) {
        const SBPBox *region = r == 0 ? NULL : &regions[r - 1];
        SBPStep       h, v;

        PetscCall(ArrayFill(&out, -1, 1));
        PetscCall(ArrayFill(&dout, -1, 1));
        memset(&h, 0, sizeof(h));
        h.mode = (SBPMode)mode;
        h.c1   = way % 2 ? 0.3 : 0.0;
        h.c2   = 0.7;
        v      = h;
        h.u    = u.host;
        v.u    = u.device;
        h.b    = mode != SBP_SMOOTH && way ? out.host : b.host;
        v.b    = mode != SBP_SMOOTH && way ? out.device : b.device;
        h.out  = out.host;
        v.out  = out.device;
        if (mode == SBP_SMOOTH) {
          h.d    = way == 5 ? dout.host : d.host;
          v.d    = way == 5 ? dout.device : d.device;
          h.dinv = way / 2 == 1 ? NULL : dinv.host;
          v.dinv = way / 2 == 1 ? NULL : dinv.device;
          h.dout = way == 0 ? NULL : dout.host;
          v.dout = way == 0 ? NULL : dout.device;
        }
        PetscCall(H->step(&p->host, region, &h));
        PetscCall(D->step(&p->device, region, &v));
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, step %d, region %d, way %d", where, mode, r, way));
        PetscCall(ArrayCompare(&out, SEVERAL, what));
        PetscCall(ArrayCompare(&dout, SEVERAL, what));
      }
  PetscCall(H->diagonal(&p->host, out.host));
  PetscCall(D->diagonal(&p->device, out.device));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, diagonal", where));
  PetscCall(ArrayCompare(&out, SEVERAL, what));
  PetscCall(ArrayDestroy(&u));
  PetscCall(ArrayDestroy(&b));
  PetscCall(ArrayDestroy(&d));
  PetscCall(ArrayDestroy(&dinv));
  PetscCall(ArrayDestroy(&out));
  PetscCall(ArrayDestroy(&dout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse grid that goes with a fine one: nodes (I, J) of a process are those whose (2I, 2J) it has */
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

static PetscErrorCode TestTransfers(const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision precision, const char *where)
{
  Array ghostedfine, fineown, ghostedcoarse, coarseown;
  char  what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(precision, PETSC_FALSE, fine->ghosted.count[1], fine->ghostpitch, -1, 1, &ghostedfine));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->ghosted.count[1], coarse->ghostpitch, -1, 1, &ghostedcoarse));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, fine->own.count[1], fine->pitch, -1, 1, &fineown));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &coarseown));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, restriction", where));
  PetscCall(H->restrict_(fine, coarse, precision, ghostedfine.host, coarseown.host));
  PetscCall(D->restrict_(fine, coarse, precision, ghostedfine.device, coarseown.device));
  PetscCall(ArrayCompare(&coarseown, SEVERAL, what));
  for (int add = 0; add < 2; add++) {
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, prolongation %d", where, add));
    PetscCall(H->prolong(coarse, fine, precision, (PetscBool)add, ghostedcoarse.host, fineown.host));
    PetscCall(D->prolong(coarse, fine, precision, (PetscBool)add, ghostedcoarse.device, fineown.device));
    PetscCall(ArrayCompare(&fineown, SEVERAL, what));
  }
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, interpolation", where));
  PetscCall(H->interpolate(coarse, fine, precision, ghostedcoarse.host, fineown.host));
  PetscCall(D->interpolate(coarse, fine, precision, ghostedcoarse.device, fineown.device));
  PetscCall(ArrayCompare(&fineown, SEVERAL, what));
  PetscCall(ArrayDestroy(&ghostedfine));
  PetscCall(ArrayDestroy(&ghostedcoarse));
  PetscCall(ArrayDestroy(&fineown));
  PetscCall(ArrayDestroy(&coarseown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fused operations against what they are made of. The grid is the whole one, and pitches of u are those of owned arrays */
static PetscErrorCode TestFused(const Pair *p, const SBPGrid *coarse, const char *where)
{
  const SBPGrid     *g         = &p->host.grid;
  const SBPPrecision precision = p->host.precision;
  const double       c1[2] = {0, 0.3}, c2[2] = {0.6, 0.7};
  const PetscBool    second = (PetscBool)(p->host.kind == SBP_NINE || g->order == 2);
  Array              u, b, d, dinv, out, dout, e, rc, more, first, dfirst;
  SBPStep            s;
  char               what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &u));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &b));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &d));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, 0.01, 0.02, &dinv));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &out));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &dout));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &more));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &first));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &dfirst));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->own.count[1], coarse->ghostpitch, -1, 1, &e));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &rc));
  for (int way = 0; way < 4; way++) {
    const PetscBool scaled = (PetscBool)(way % 2), wanted = (PetscBool)(way / 2);

    /* two steps from zero */
    PetscCall(ArrayFill(&out, -1, 1));
    PetscCall(ArrayFill(&dout, -1, 1));
    memset(&s, 0, sizeof(s));
    memset(u.host, 0, u.size * u.width);
    s.mode = SBP_SMOOTH;
    s.u    = u.host;
    s.b    = b.host;
    s.dinv = scaled ? dinv.host : NULL;
    s.c2   = c2[0];
    s.out  = d.host;
    PetscCall(H->step(&p->host, NULL, &s));
    s.u    = d.host;
    s.d    = d.host;
    s.c1   = c1[1];
    s.c2   = c2[1];
    s.out  = out.host;
    s.dout = wanted ? dout.host : NULL;
    PetscCall(H->step(&p->host, NULL, &s));
    PetscCall(D->smoothtwo(&p->device, c1, c2, scaled ? dinv.device : NULL, b.device, out.device, wanted ? dout.device : NULL));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, two steps, way %d", where, way));
    PetscCall(ArrayCompare(&out, SEVERAL, what));
    PetscCall(ArrayCompare(&dout, SEVERAL, what));

    if (second) {
      SBPStep r = {.mode = SBP_RESIDUAL, .u = out.host, .b = b.host, .out = d.host};

      PetscCall(ArrayFill(&more, -1, 1));
      for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++) PetscCall(H->copy(g, precision, part, out.host, g, precision, part, more.host));
      PetscCall(H->step(&p->host, NULL, &r));
      PetscCall(H->restrict_(g, coarse, precision, d.host, rc.host));
      PetscCall(D->smoothtworestrict(&p->device, coarse, c1, c2, scaled ? dinv.device : NULL, b.device, more.device, rc.device));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, two steps and restriction, way %d", where, way));
      PetscCall(ArrayCompare(&more, SEVERAL, what));
      PetscCall(ArrayCompare(&rc, SEVERAL, what));
    }

    /* a step after the coarse grid's correction */
    PetscCall(ArrayFill(&u, -1, 1));
    PetscCall(ArrayFill(&out, -1, 1));
    PetscCall(ArrayFill(&dout, -1, 1));
    memcpy(d.host, u.host, u.size * u.width);
    PetscCall(H->prolong(coarse, g, precision, PETSC_TRUE, e.host, d.host));
    s.d  = NULL;
    s.c1 = 0;
    PetscCall(H->step(&p->host, NULL, &s));
    PetscCall(D->prolongsmooth(&p->device, coarse, e.device, u.device, c2[1], scaled ? dinv.device : NULL, b.device, out.device, wanted ? dout.device : NULL));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, prolongation and step, way %d", where, way));
    PetscCall(ArrayCompare(&out, SEVERAL, what));
    PetscCall(ArrayCompare(&dout, SEVERAL, what));

    /* two steps after it */
    if (second) {
      SBPStep r = s;

      PetscCall(ArrayFill(&more, -1, 1));
      r.c2   = c2[0];
      r.out  = first.host;
      r.dout = dfirst.host;
      PetscCall(H->step(&p->host, NULL, &r));
      r.u    = first.host;
      r.d    = dfirst.host;
      r.c1   = c1[1];
      r.c2   = c2[1];
      r.out  = more.host;
      r.dout = NULL;
      PetscCall(H->step(&p->host, NULL, &r));
      PetscCall(D->prolongsmoothtwo(&p->device, coarse, e.device, u.device, c1, c2, scaled ? dinv.device : NULL, b.device, more.device));
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, prolongation and two steps, way %d", where, way));
      PetscCall(ArrayCompare(&more, SEVERAL, what));
    }
  }

  /* the residual's restriction */
  memset(&s, 0, sizeof(s));
  s.mode = SBP_RESIDUAL;
  s.u    = u.host;
  s.b    = b.host;
  s.out  = d.host;
  PetscCall(H->step(&p->host, NULL, &s));
  PetscCall(H->restrict_(g, coarse, precision, d.host, rc.host));
  PetscCall(D->residualrestrict(&p->device, coarse, u.device, b.device, rc.device));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, residual and restriction", where));
  PetscCall(ArrayCompare(&rc, SEVERAL, what));
  PetscCall(ArrayDestroy(&u));
  PetscCall(ArrayDestroy(&b));
  PetscCall(ArrayDestroy(&d));
  PetscCall(ArrayDestroy(&dinv));
  PetscCall(ArrayDestroy(&out));
  PetscCall(ArrayDestroy(&dout));
  PetscCall(ArrayDestroy(&e));
  PetscCall(ArrayDestroy(&rc));
  PetscCall(ArrayDestroy(&more));
  PetscCall(ArrayDestroy(&first));
  PetscCall(ArrayDestroy(&dfirst));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies between all precisions; the vectors of a solve */
static PetscErrorCode TestVectors(const SBPGrid *g, const SBPGrid *other, const char *where)
{
  Array  x[3], y[3], z;
  double hostsum, sum;
  char   what[256];

  PetscFunctionBegin;
  for (int p = SBP_SINGLE; p <= SBP_SCALAR; p++) {
    PetscCall(ArrayCreate((SBPPrecision)p, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &x[p]));
    PetscCall(ArrayCreate((SBPPrecision)p, PETSC_FALSE, other->own.count[1], other->pitch, -1, 1, &y[p]));
  }
  for (int p = SBP_SINGLE; p <= SBP_SCALAR; p++)
    for (int q = SBP_SINGLE; q <= SBP_SCALAR; q++)
      for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++) {
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, copy from %d to %d, part %d", where, p, q, part));
        PetscCall(H->copy(g, (SBPPrecision)p, part, x[p].host, other, (SBPPrecision)q, part, y[q].host));
        PetscCall(D->copy(g, (SBPPrecision)p, part, x[p].device, other, (SBPPrecision)q, part, y[q].device));
        PetscCall(ArrayCompare(&y[q], 0, what));
      }
  for (int p = SBP_SINGLE; p <= SBP_DOUBLE; p++)
    for (int q = SBP_SINGLE; q <= SBP_DOUBLE; q++) {
      PetscCall(ArrayCreate((SBPPrecision)q, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &z));
      PetscCall(H->dot(g, (SBPPrecision)p, x[p].host, (SBPPrecision)q, z.host, &hostsum));
      for (int again = 0; again < 2; again++) {
        const double before = sum;

        PetscCall(D->dot(g, (SBPPrecision)p, x[p].device, (SBPPrecision)q, z.device, &sum));
        if (!(PetscAbsReal((PetscReal)(sum - hostsum)) <= (PetscReal)(1e-6 * (p == SBP_SINGLE || q == SBP_SINGLE ? 1 : 1e-6) * (double)(g->own.count[0] * g->own.count[1]))) || (again && sum != before)) {
          failures++;
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, inner product of %d and %d: %.17g, not %.17g\n", where, p, q, sum, hostsum));
        }
      }
      for (int way = 0; way < 2; way++) {
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, sum of %d and %d, way %d", where, p, q, way));
        PetscCall(H->axpby(g, 0.7, (SBPPrecision)p, x[p].host, way ? -0.4 : 0.0, (SBPPrecision)q, z.host));
        PetscCall(D->axpby(g, 0.7, (SBPPrecision)p, x[p].device, way ? -0.4 : 0.0, (SBPPrecision)q, z.device));
        PetscCall(ArrayCompare(&z, SEVERAL, what));
      }
      if (p == q) {
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, product of %d", where, p));
        PetscCall(H->multiply(g, (SBPPrecision)p, 1.5, x[p].host, z.host, z.host));
        PetscCall(D->multiply(g, (SBPPrecision)p, 1.5, x[p].device, z.device, z.device));
        PetscCall(ArrayCompare(&z, SEVERAL, what));
      }
      PetscCall(ArrayDestroy(&z));
    }
  for (int p = SBP_SINGLE; p <= SBP_SCALAR; p++) {
    PetscCall(ArrayDestroy(&x[p]));
    PetscCall(ArrayDestroy(&y[p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number of an array that is not complex */
static double Number(const Array *a, size_t k)
{
  return a->width == sizeof(float) ? (double)((const float *)a->host)[k] : ((const double *)a->host)[k];
}

static void SetNumber(Array *a, size_t k, double x)
{
  if (a->width == sizeof(float)) ((float *)a->host)[k] = (float)x;
  else ((double *)a->host)[k] = x;
}

/* What a set-up and the coarsest level need: against their definitions */
static PetscErrorCode TestSetUp(const SBPGrid *g, SBPPrecision precision, const char *where)
{
  static const PetscInt sizes[] = {1, 33, 289};
  Array                 o, coefficient[SBP_COEFFICIENTS], M, x, y;
  void                 *pointer[SBP_COEFFICIENTS];
  char                  what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, 1, 2, &o));
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &coefficient[k]));
    pointer[k] = coefficient[k].device;
  }
  for (int colour = 0; colour < 9; colour++) {
    PetscCall(ArrayFill(&o, 1, 2));
    PetscCall(D->gather(g, precision, colour, o.device, pointer));
    for (PetscInt j = 0; j < g->own.count[1]; j++)
      for (PetscInt i = 0; i < g->own.count[0]; i++)
        for (int k = 0; k < SBP_COEFFICIENTS; k++) {
          const PetscInt east = k == 1 || k == 3 ? 1 : (k == 4 ? -1 : 0), ki = i + g->own.start[0] + east, kj = j + g->own.start[1] + (k >= 2 ? 1 : 0);
          const size_t   at   = (size_t)(j * g->pitch + i);

          if (ki >= 0 && ki <= g->n[0] && kj <= g->n[1] && ki % 3 + 3 * (kj % 3) == colour) SetNumber(&coefficient[k], at, Number(&o, at));
        }
    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, coefficient %d of colour %d", where, k, colour));
      PetscCall(ArrayCompare(&coefficient[k], 0, what));
    }
    PetscCall(D->mark(g, precision, colour, o.device));
    for (PetscInt j = 0; j < g->own.count[1]; j++)
      for (PetscInt i = 0; i < g->own.count[0]; i++) SetNumber(&o, (size_t)(j * g->pitch + i), (i + g->own.start[0]) % 3 + 3 * ((j + g->own.start[1]) % 3) == colour);
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, nodes of colour %d", where, colour));
    PetscCall(ArrayCompare(&o, 0, what));
  }
  PetscCall(ArrayFill(&o, 1, 2));
  PetscCall(D->reciprocal(g, precision, o.device));
  for (PetscInt j = 0; j < g->own.count[1]; j++)
    for (PetscInt i = 0; i < g->own.count[0]; i++) SetNumber(&o, (size_t)(j * g->pitch + i), 1 / Number(&o, (size_t)(j * g->pitch + i)));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, reciprocals", where));
  PetscCall(ArrayCompare(&o, SEVERAL, what));
  PetscCall(ArrayDestroy(&o));
  for (int k = 0; k < SBP_COEFFICIENTS; k++) PetscCall(ArrayDestroy(&coefficient[k]));

  for (size_t q = 0; q < PETSC_STATIC_ARRAY_LENGTH(sizes); q++) {
    const PetscInt n = sizes[q];

    PetscCall(ArrayCreate(precision, PETSC_FALSE, n, n, -1, 1, &M));
    PetscCall(ArrayCreate(precision, PETSC_FALSE, 1, n, -1, 1, &x));
    PetscCall(ArrayCreate(precision, PETSC_FALSE, 1, n, -1, 1, &y));
    for (PetscInt i = 0; i < n; i++)
      for (PetscInt j = 0; j < i; j++) SetNumber(&M, (size_t)(i * n + j), Number(&M, (size_t)(j * n + i)));
    PetscCall(D->put(M.size * M.width, M.host, M.device));
    PetscCall(D->dense(n, precision, M.device, x.device, y.device));
    for (PetscInt i = 0; i < n; i++) {
      double sum = 0;

      for (PetscInt j = 0; j < n; j++) sum += Number(&M, (size_t)(i * n + j)) * Number(&x, (size_t)j);
      SetNumber(&y, (size_t)i, sum);
    }
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, dense product of %" PetscInt_FMT, where, n));
    PetscCall(ArrayCompare(&y, SEVERAL, what));
    PetscCall(ArrayDestroy(&M));
    PetscCall(ArrayDestroy(&x));
    PetscCall(ArrayDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is recorded runs when it is launched, each time */
static PetscErrorCode TestGraph(const SBPGrid *g)
{
  Array x, y;
  void *graph;

  PetscFunctionBegin;
  PetscCall(ArrayCreate(SBP_DOUBLE, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &x));
  PetscCall(ArrayCreate(SBP_DOUBLE, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &y));
  PetscCall(D->graphbegin());
  PetscCall(D->axpby(g, 0.5, SBP_DOUBLE, x.device, 1.0, SBP_DOUBLE, y.device));
  PetscCall(D->axpby(g, 0.25, SBP_DOUBLE, y.device, 0.5, SBP_DOUBLE, x.device));
  PetscCall(D->graphend(&graph));
  for (int k = 0; k < 3; k++) {
    PetscCall(D->graphlaunch(graph));
    PetscCall(H->axpby(g, 0.5, SBP_DOUBLE, x.host, 1.0, SBP_DOUBLE, y.host));
    PetscCall(H->axpby(g, 0.25, SBP_DOUBLE, y.host, 0.5, SBP_DOUBLE, x.host));
  }
  PetscCall(ArrayCompare(&x, SEVERAL, "graph"));
  PetscCall(ArrayCompare(&y, SEVERAL, "graph"));
  PetscCall(D->graphfree(&graph));
  PetscCall(ArrayDestroy(&x));
  PetscCall(ArrayDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const int least[] = {4, 11, 17}; /* so many intervals do orders 2, 4, 6 need */
  const SBPKernels *(*kernels)(void);
  char              where[128];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  /* a library without CUDA has none */
  *(void **)&kernels = dlsym(RTLD_DEFAULT, "SBPGetDeviceKernels");
  PetscCheck(kernels, PETSC_COMM_WORLD, PETSC_ERR_SUP, "This Lithe was built without CUDA");
  D = kernels();
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &numbers));
  PetscCall(PetscRandomSetInterval(numbers, 0.0, 1.0));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    const Shape    *s     = &shapes[k];
    const PetscBool whole = (PetscBool)(s->start[0] == 0 && s->start[1] == 0 && s->end[0] == s->n[0] + 1 && s->end[1] == s->n[1] + 1);

    for (int precision = SBP_SINGLE; precision <= SBP_SCALAR; precision++)
      for (int order = 0; order <= 6; order += 2) {
        const SBPKind kind  = order ? SBP_SAT : SBP_NINE;
        const int     reach = order == 0 ? 1 : (order == 2 ? 2 : (order == 4 ? 5 : 8));

        if (order && PetscMin(s->n[0], s->n[1]) < least[order / 2 - 1]) continue;
        for (int faces = 0; faces < (order ? 3 : 1); faces++) {
          static const int dirichlet[] = {3, 15, 4};
          SBPGrid          g, coarse;
          Pair             p;

          MakeGrid(s, order, kind, dirichlet[faces], reach, &g);
          PetscCall(PairCreate(kind, (SBPPrecision)precision, &g, &p));
          PetscCall(PetscSNPrintf(where, sizeof(where), "shape %d, precision %d, order %d, faces %d", (int)k, precision, order, dirichlet[faces]));
          PetscCall(TestSteps(&p, where));
          if (whole && s->n[0] % 2 == 0 && s->n[1] % 2 == 0) {
            /* the whole grid's arrays have one shape */
            for (int c = 0; c < 2; c++) {
              MakeCoarse(&g, c ? 32 : 0, 2, &coarse);
              PetscCall(TestFused(&p, &coarse, where));
            }
          }
          PetscCall(PairDestroy(&p));
        }
      }
    {
      SBPGrid g, other, coarse;
      Shape   t = *s;

      t.padding = 5;
      MakeGrid(s, 2, SBP_SAT, 3, 2, &g);
      MakeGrid(&t, 2, SBP_SAT, 3, 2, &other);
      PetscCall(PetscSNPrintf(where, sizeof(where), "shape %d", (int)k));
      PetscCall(TestVectors(&g, &other, where));
      for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) PetscCall(TestSetUp(&g, (SBPPrecision)precision, where));
      if (s->n[0] % 2 == 0 && s->n[1] % 2 == 0) {
        MakeCoarse(&g, 0, 2, &coarse);
        for (int precision = SBP_SINGLE; precision <= SBP_SCALAR; precision++) PetscCall(TestTransfers(&g, &coarse, (SBPPrecision)precision, where));
      }
      if (k == 0) PetscCall(TestGraph(&g));
    }
  }
  PetscCall(PetscRandomDestroy(&numbers));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, failures ? "%" PetscInt_FMT " failures\n" : "all is right\n", failures));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1
    requires: cuda
    output_file: output/ex29_1.out

TEST*/
