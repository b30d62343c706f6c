/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Data of the operator of a MATSBPSAT and of its right-hand sides. Coefficients are computed from coordinates, and
   checked. Further functions compute weights of the norm, and copy parts of arrays.
*/

#define SBP_VALUE   PetscReal
#define SBP_REAL    PetscReal
#define SBP_NAME(f) f##_Metrics
#include <lithe/private/sbp/node.h>
#include "visit.cuh"

/* ------------------------------------------------------------ coefficients */

/* d = H^-1 Q f/h along a direction, at node `at` of 0, ..., n; f points to the value at this node */
static __device__ __forceinline__ PetscReal SBPDerivative(const SBPTable *t, int n, int at, PetscReal h, const PetscReal *f, int stride)
{
  const PetscReal factor = 1 / h;

  if (at >= t->norms && at <= n - t->norms) {
    if (t->order == 2) return factor * SBPInteriorQ2_Metrics(f, stride);
    if (t->order == 4) return factor * SBPInteriorQ4_Metrics(f, stride);
    return factor * SBPInteriorQ6_Metrics(f, stride);
  }
  return factor / static_cast<PetscReal>(SBPTableNorm(t, n, at)) * SBPNodeQ_Metrics(t, n, at, f, stride);
}

/* i and j are counted from the first node of the box */
struct SBPMetricsVisit {
  const PetscReal *x, *y, *mu; /* at the first node of the box */
  PetscReal       *rr, *ss, *rs, *jacobian;
  ptrdiff_t        pitch, ghostpitch;
  int              start[2], n[2], order;
  PetscReal        h[2];

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    const SBPTable *t    = SBPTableOf(order);
    const ptrdiff_t from = j * ghostpitch + i, to = j * pitch + i;
    const int       gi = start[0] + i, gj = start[1] + j, stride = static_cast<int>(ghostpitch);
    PetscReal       xr = 1, yr = 0, xs = 0, ys = 1;

    if (x) {
      xr = SBPDerivative(t, n[0], gi, h[0], x + from, 1);
      yr = SBPDerivative(t, n[0], gi, h[0], y + from, 1);
      xs = SBPDerivative(t, n[1], gj, h[1], x + from, stride);
      ys = SBPDerivative(t, n[1], gj, h[1], y + from, stride);
    }
    const PetscReal J = xr * ys - xs * yr, scale = (mu ? mu[from] : 1) / J;

    if (rr) rr[to] = scale * (xs * xs + ys * ys);
    if (ss) ss[to] = scale * (xr * xr + yr * yr);
    if (rs) rs[to] = -scale * (xr * xs + yr * ys);
    if (jacobian) jacobian[to] = J;
  }
};

PetscErrorCode LitheCUDASBPMetrics(const SBPGeometry *geometry, const SBPBox *box, PetscInt pitch, PetscReal *rr, PetscReal *ss, PetscReal *rs,
                                   PetscReal *jacobian)
{
  const SBPGrid  *g     = &geometry->grid;
  const ptrdiff_t first = static_cast<ptrdiff_t>(box->start[1] - g->ghosted.start[1]) * g->ghostpitch + (box->start[0] - g->ghosted.start[0]);
  SBPMetricsVisit visit{};

  PetscFunctionBegin;
  visit.x          = geometry->x ? geometry->x + first : nullptr;
  visit.y          = geometry->y ? geometry->y + first : nullptr;
  visit.mu         = geometry->mu ? geometry->mu + first : nullptr;
  visit.rr         = rr;
  visit.ss         = ss;
  visit.rs         = rs;
  visit.jacobian   = jacobian;
  visit.pitch      = pitch;
  visit.ghostpitch = g->ghostpitch;
  visit.order      = g->order;
  for (int d = 0; d < 2; d++) {
    visit.start[d] = static_cast<int>(box->start[d]);
    visit.n[d]     = static_cast<int>(g->n[d]);
    visit.h[d]     = g->h[d];
  }
  PetscCall(SBPVisit(SBPNodes{{static_cast<int>(box->count[0]), static_cast<int>(box->count[1])}}, visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the first bad node; bad nodes are rare */
struct SBPCheckVisit {
  const PetscReal    *rr, *ss, *rs;
  ptrdiff_t           pitch;
  int                 width;
  unsigned long long *least;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    const ptrdiff_t          k     = j * pitch + i;
    const unsigned long long where = static_cast<unsigned long long>(j) * static_cast<unsigned long long>(width) + static_cast<unsigned long long>(i);

    if (SBPIsTensor(SBPRead(rr + k), SBPRead(ss + k), SBPRead(rs + k))) return;
    /* another thread may have found an earlier node */
    if (where < *static_cast<volatile unsigned long long *>(least)) atomicMin(least, where);
  }
};

PetscErrorCode LitheCUDASBPCheck(const SBPBox *box, PetscInt pitch, const PetscReal *rr, const PetscReal *ss, const PetscReal *rs, PetscInt64 *where)
{
  LitheScratch       scratch;
  unsigned long long least;
  cudaStream_t       stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(LitheGraphGetScratch(SBP_SCRATCH_BYTES, &scratch));
  PetscCallCUDA(cudaMemsetAsync(scratch.device, 0xff, sizeof(least), stream));
  PetscCall(
    SBPVisit(SBPNodes{{static_cast<int>(box->count[0]), static_cast<int>(box->count[1])}},
             SBPCheckVisit{rr, ss, rs, static_cast<ptrdiff_t>(pitch), static_cast<int>(box->count[0]), static_cast<unsigned long long *>(scratch.device)}));
  PetscCall(LitheDeviceGet(sizeof(least), scratch.device, &least));
  *where = least == ~0ull ? -1 : static_cast<PetscInt64>(least);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ weights of the norm */

/* H x H at an own node */
struct SBPWeight {
  int       start[2], n[2], order;
  PetscReal h[2];

  __device__ __forceinline__ PetscReal operator()(int i, int j) const
  {
    const SBPTable *t = SBPTableOf(order);

    return static_cast<PetscReal>(SBPTableNorm(t, n[0], start[0] + i) * SBPTableNorm(t, n[1], start[1] + j)) * h[0] * h[1];
  }
};

static SBPWeight SBPWeightOf(const SBPGrid *g)
{
  return SBPWeight{{static_cast<int>(g->own.start[0]), static_cast<int>(g->own.start[1])},
                   {static_cast<int>(g->n[0]), static_cast<int>(g->n[1])},
                   g->order,
                   {g->h[0], g->h[1]}};
}

struct SBPSourceVisit {
  SBPWeight        weight;
  const PetscReal *jacobian;
  const SBPScalar *f;
  SBPScalar       *b;
  ptrdiff_t        pitch;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    const ptrdiff_t k = j * pitch + i;

    b[k] = b[k] + (weight(i, j) * jacobian[k]) * f[k];
  }
};

PetscErrorCode LitheCUDASBPSource(const SBPGrid *g, const PetscReal *jacobian, const PetscScalar *f, PetscScalar *b)
{
  PetscFunctionBegin;
  PetscCall(SBPVisit(g, SBPSourceVisit{SBPWeightOf(g), jacobian, reinterpret_cast<const SBPScalar *>(f), reinterpret_cast<SBPScalar *>(b),
                                       static_cast<ptrdiff_t>(g->own.count[0])}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static __device__ __forceinline__ T SBPSquareOf(T x)
{
  return x * x;
}
template <class T>
static __device__ __forceinline__ T SBPSquareOf(SBPPair<T> x)
{
  return x.re * x.re + x.im * x.im;
}

struct SBPSquareTerm {
  SBPWeight        weight;
  const SBPScalar *e;
  ptrdiff_t        pitch;

  __device__ __forceinline__ double operator()(int i, int j) const
  {
    return static_cast<double>(weight(i, j) * SBPSquareOf(SBPRead(e + j * pitch + i)));
  }
};

PetscErrorCode LitheCUDASBPSquare(const SBPGrid *g, const PetscScalar *e, double *sum)
{
  LitheScratch scratch;
  double      *partial;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetScratch(SBP_SCRATCH_BYTES, &scratch));
  /* The sum replaces the first partial sum, which the only block has already read */
  partial = static_cast<double *>(scratch.device);
  PetscCall(SBPLaunchSum(g, SBPSquareTerm{SBPWeightOf(g), reinterpret_cast<const SBPScalar *>(e), static_cast<ptrdiff_t>(g->own.count[0])}, partial, partial));
  PetscCall(LitheDeviceGet(sizeof(*sum), partial, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ parts of arrays */

template <class X, class Y>
struct SBPStridedVisit {
  const X  *x;
  Y        *y;
  ptrdiff_t xpitch, xstep, ypitch, ystep;
  bool      add;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    Y      &to   = y[j * ypitch + i * ystep];
    const Y from = static_cast<Y>(x[j * xpitch + i * xstep]);

    to = add ? to + from : from;
  }
};

template <class X, class Y>
static PetscErrorCode SBPVisitStrided(SBPNodes nodes, PetscBool add, const SBPSpaced *from, const SBPSpaced *to)
{
  PetscFunctionBegin;
  PetscCall(SBPVisit(nodes, SBPStridedVisit<X, Y>{static_cast<const X *>(from->p), static_cast<Y *>(to->p), static_cast<ptrdiff_t>(from->pitch),
                                                  static_cast<ptrdiff_t>(from->step), static_cast<ptrdiff_t>(to->pitch), static_cast<ptrdiff_t>(to->step),
                                                  add != PETSC_FALSE}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPStrided(const PetscInt count[2], PetscBool add, const SBPSpaced *from, const SBPSpaced *to)
{
  const SBPNodes nodes{{static_cast<int>(count[0]), static_cast<int>(count[1])}};

  PetscFunctionBegin;
  if (from->single && to->single) PetscCall((SBPVisitStrided<float, float>(nodes, add, from, to)));
  else if (from->single) PetscCall((SBPVisitStrided<float, double>(nodes, add, from, to)));
  else if (to->single) PetscCall((SBPVisitStrided<double, float>(nodes, add, from, to)));
  else PetscCall((SBPVisitStrided<double, double>(nodes, add, from, to)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
