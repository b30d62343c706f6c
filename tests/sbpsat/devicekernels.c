/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "SBP-SAT operators on a device: every operation of SBPDeviceKernels against SBPHostKernels.\n\n";

#include <tests/sbpsat/sbpdevicetest.h>

static PetscErrorCode TestSteps(const Pair *p, const char *where)
{
  const SBPGrid *g         = &p->host.grid;
  const SBPBox   regions[] = {g->own,
                              {{g->own.start[0] + 2, g->own.start[1] + 1}, {g->own.count[0] - 5, g->own.count[1] - 3}},
                              {{g->own.start[0], g->own.start[1]}, {2, g->own.count[1]}},
                              {{g->own.start[0], g->own.start[1]}, {g->own.count[0], 1}},
                              {{g->own.start[0] + 1, g->own.start[1] + 1}, {0, 4}}};
  Array          u, b, d, dinv, out, dout;
  char           what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->ghosted.count[1], g->ghostpitch, -1, 1, &u));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &b));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &d));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, 0.01, 0.02, &dinv));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &out));
  PetscCall(ArrayCreate(p->host.precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &dout));
  for (int r = 0; r <= (int)PETSC_STATIC_ARRAY_LENGTH(regions); r++)
    for (int mode = SBP_APPLY; mode <= SBP_SMOOTH; mode++) /* smoothing: c1 = 0 or not, with and without dinv and d; other modes: in place or not */
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

/* Fused operations against their parts. The grid is the whole grid, and pitches of u are those of owned arrays */
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
    PetscCall(D->fused.smoothtwo(&p->device, c1, c2, scaled ? dinv.device : NULL, b.device, out.device, wanted ? dout.device : NULL));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, two steps, way %d", where, way));
    PetscCall(ArrayCompare(&out, SEVERAL, what));
    PetscCall(ArrayCompare(&dout, SEVERAL, what));

    if (second) {
      SBPStep r = {.mode = SBP_RESIDUAL, .u = out.host, .b = b.host, .out = d.host};

      PetscCall(ArrayFill(&more, -1, 1));
      for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++)
        PetscCall(H->vector.copy(g, precision, part, out.host, g, precision, part, more.host));
      PetscCall(H->step(&p->host, NULL, &r));
      PetscCall(H->restrict_(g, coarse, precision, d.host, rc.host));
      PetscCall(D->fused.smoothtworestrict(&p->device, coarse, c1, c2, scaled ? dinv.device : NULL, b.device, more.device, rc.device));
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
    PetscCall(
      D->fused.prolongsmooth(&p->device, coarse, e.device, u.device, c2[1], scaled ? dinv.device : NULL, b.device, out.device, wanted ? dout.device : NULL));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, prolongation and step, way %d", where, way));
    PetscCall(ArrayCompare(&out, SEVERAL, what));
    PetscCall(ArrayCompare(&dout, SEVERAL, what));

    /* two more steps */
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
      PetscCall(D->fused.prolongsmoothtwo(&p->device, coarse, e.device, u.device, c1, c2, scaled ? dinv.device : NULL, b.device, more.device));
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
  PetscCall(D->fused.residualrestrict(&p->device, coarse, u.device, b.device, rc.device));
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

/* Sums of products, without weights and with weights; the device's sums are the same each time */
static PetscErrorCode TestSum(const SBPGrid *g, SBPPrecision precision, const Array *x, const Array *y, const char *where)
{
  const PetscReal epsilon = precision == SBP_SINGLE ? (PetscReal)1e-6 : (PetscReal)1e-12;
  double          hostsum, sum[2];
  void           *devicesum;

  PetscFunctionBegin;
  PetscCall(LitheMemoryCalloc(D->memory, sizeof(*sum), &devicesum));
  for (int weighted = 0; weighted < 2; weighted++) {
    PetscCall(H->vector.sum(g, precision, x->host, weighted ? y->host : NULL, y->host, &hostsum));
    for (int again = 0; again < 2; again++) {
      PetscCall(D->vector.sum(g, precision, x->device, weighted ? y->device : NULL, y->device, (double *)devicesum));
      PetscCall((*D->memory->get)(sizeof(*sum), devicesum, &sum[again]));
    }
    if (!(PetscAbsReal((PetscReal)(sum[0] - hostsum)) <= epsilon * (PetscReal)(g->own.count[0] * g->own.count[1])) || sum[1] != sum[0]) {
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, sum of products in precision %d, weights %d: %.17g and %.17g, not %.17g\n", where, (int)precision, weighted,
                            sum[0], sum[1], hostsum));
    }
  }
  PetscCall((*D->memory->free)(&devicesum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies between all precisions; the vectors of a solve */
static PetscErrorCode TestVectors(const SBPGrid *g, const SBPGrid *other, const char *where)
{
  Array x[3], y[3], z;
  char  what[256];

  PetscFunctionBegin;
  for (int p = SBP_SINGLE; p <= SBP_SCALAR; p++) {
    PetscCall(ArrayCreate((SBPPrecision)p, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &x[p]));
    PetscCall(ArrayCreate((SBPPrecision)p, PETSC_FALSE, other->own.count[1], other->pitch, -1, 1, &y[p]));
  }
  for (int p = SBP_SINGLE; p <= SBP_SCALAR; p++)
    for (int q = SBP_SINGLE; q <= SBP_SCALAR; q++)
      for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++) {
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, copy from %d to %d, part %d", where, p, q, part));
        PetscCall(H->vector.copy(g, (SBPPrecision)p, part, x[p].host, other, (SBPPrecision)q, part, y[q].host));
        PetscCall(D->vector.copy(g, (SBPPrecision)p, part, x[p].device, other, (SBPPrecision)q, part, y[q].device));
        PetscCall(ArrayCompare(&y[q], 0, what));
      }
  for (int p = SBP_SINGLE; p <= SBP_DOUBLE; p++)
    for (int q = SBP_SINGLE; q <= SBP_DOUBLE; q++) {
      PetscCall(ArrayCreate((SBPPrecision)q, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &z));
      for (int way = 0; way < 2; way++) {
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, sum of %d and %d, way %d", where, p, q, way));
        PetscCall(H->vector.axpby(g, 0.7, (SBPPrecision)p, x[p].host, way ? -0.4 : 0.0, (SBPPrecision)q, z.host));
        PetscCall(D->vector.axpby(g, 0.7, (SBPPrecision)p, x[p].device, way ? -0.4 : 0.0, (SBPPrecision)q, z.device));
        PetscCall(ArrayCompare(&z, SEVERAL, what));
      }
      if (p == q) {
        PetscCall(TestSum(g, (SBPPrecision)p, &x[p], &z, where));
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, product of %d", where, p));
        PetscCall(H->vector.multiply(g, (SBPPrecision)p, 1.5, x[p].host, z.host, z.host));
        PetscCall(D->vector.multiply(g, (SBPPrecision)p, 1.5, x[p].device, z.device, z.device));
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

/* A number of a real array */
static double Number(const Array *a, size_t k)
{
  return a->width == sizeof(float) ? (double)((const float *)a->host)[k] : ((const double *)a->host)[k];
}

static void SetNumber(Array *a, size_t k, double x)
{
  if (a->width == sizeof(float)) ((float *)a->host)[k] = (float)x;
  else ((double *)a->host)[k] = x;
}

/* The kernels of set-up and coarsest level, against their definitions */
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
    PetscCall(D->vector.gather(g, precision, colour, o.device, pointer));
    for (PetscInt j = 0; j < g->own.count[1]; j++)
      for (PetscInt i = 0; i < g->own.count[0]; i++)
        for (int k = 0; k < SBP_COEFFICIENTS; k++) {
          const PetscInt east = k == 1 || k == 3 ? 1 : (k == 4 ? -1 : 0), ki = i + g->own.start[0] + east, kj = j + g->own.start[1] + (k >= 2 ? 1 : 0);
          const size_t   at = (size_t)(j * g->pitch + i);

          if (ki >= 0 && ki <= g->n[0] && kj <= g->n[1] && ki % 3 + 3 * (kj % 3) == colour) SetNumber(&coefficient[k], at, Number(&o, at));
        }
    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, coefficient %d of colour %d", where, k, colour));
      PetscCall(ArrayCompare(&coefficient[k], 0, what));
    }
    PetscCall(D->vector.mark(g, precision, colour, o.device));
    for (PetscInt j = 0; j < g->own.count[1]; j++)
      for (PetscInt i = 0; i < g->own.count[0]; i++)
        SetNumber(&o, (size_t)(j * g->pitch + i), (i + g->own.start[0]) % 3 + 3 * ((j + g->own.start[1]) % 3) == colour);
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, nodes of colour %d", where, colour));
    PetscCall(ArrayCompare(&o, 0, what));
  }
  PetscCall(ArrayFill(&o, 1, 2));
  PetscCall(D->vector.reciprocal(g, precision, o.device));
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
    PetscCall((*D->memory->put)(M.size * M.width, M.host, M.device));
    PetscCall(D->vector.dense(n, precision, M.device, x.device, y.device));
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

int main(int argc, char **argv)
{
  static const int least[] = {4, 11, 17}; /* least intervals for orders 2, 4, 6 */
  char             where[128];

  PetscFunctionBeginUser;
  PetscCall(KernelsStart(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    const Shape    *s     = &shapes[k];
    const PetscBool whole = IsWhole(s);

    for (int precision = SBP_SINGLE; precision <= SBP_SCALAR; precision++)
      for (int which = 0; which <= 6; which++) {
        /* nine points; orders 2, 4 and 6; and with a scale and a diagonal */
        const int     order = which == 0 ? 0 : 2 * ((which - 1) % 3 + 1);
        const SBPKind kind  = which == 0 ? SBP_NINE : which <= 3 ? SBP_SAT : SBP_SHIFTED;
        const int     reach = order == 0 ? 1 : (order == 2 ? 2 : (order == 4 ? 5 : 8));

        if (order && PetscMin(s->n[0], s->n[1]) < least[order / 2 - 1]) continue;
        for (int faces = 0; faces < (order ? 3 : 1); faces++) {
          static const int dirichlet[] = {3, 15, 4};
          SBPGrid          g, coarse;
          Pair             p;

          MakeGrid(s, order, kind, dirichlet[faces], reach, &g);
          PetscCall(PairCreate(kind, (SBPPrecision)precision, &g, &p));
          PetscCall(PetscSNPrintf(where, sizeof(where), "shape %d, precision %d, order %d%s, faces %d", (int)k, precision, order,
                                  kind == SBP_SHIFTED ? " shifted" : "", dirichlet[faces]));
          PetscCall(TestSteps(&p, where));
          if (whole && s->n[0] % 2 == 0 && s->n[1] % 2 == 0) {
            /* levels of nine points are padded */
            if (kind == SBP_NINE && s->padding != 32) {
              Shape padded = *s;

              padded.padding = 32;
              PetscCall(PairDestroy(&p));
              MakeGrid(&padded, order, kind, dirichlet[faces], reach, &g);
              PetscCall(PairCreate(kind, (SBPPrecision)precision, &g, &p));
            }

            /* all arrays of the whole grid have the same shape */
            for (int c = 0; c < 2; c++) {
              MakeCoarse(&g, c ? 32 : 0, 2, &coarse);
              PetscCall(TestFused(&p, &coarse, where));
            }
          }
          PetscCall(PairDestroy(&p));
        }
      }
    {
      SBPGrid g, other;
      Shape   t = *s;

      t.padding = 5;
      MakeGrid(s, 2, SBP_SAT, 3, 2, &g);
      MakeGrid(&t, 2, SBP_SAT, 3, 2, &other);
      PetscCall(PetscSNPrintf(where, sizeof(where), "shape %d", (int)k));
      PetscCall(TestVectors(&g, &other, where));
      for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) PetscCall(TestSetUp(&g, (SBPPrecision)precision, where));
    }
  }
  return KernelsEnd(20);
}

/*TEST

  test:
    requires: cuda
    output_file: output/right.out

TEST*/
