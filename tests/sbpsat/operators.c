/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The one-dimensional operators behind MATSBPSAT, and the multigrid's transfers and vectors on the host.\n\n";

#define SBP_VALUE   double
#define SBP_REAL    double
#define SBP_NAME(f) f##_Double
#include <lithe/private/sbp/node.h>
#include <lithe.h>
#include <tests/failures.h>
#include <petscblaslapack.h>

#define N1 40 /* intervals of the one-dimensional tests */

static PetscErrorCode TestBelow(const char *what, int order, double value, double bound)
{
  PetscFunctionBegin;
  if (WRONG(!(value <= bound))) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "order %d, %s: %g, at most %g\n", order, what, value, bound));
    failures++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double TestRandom(unsigned long *state)
{
  *state = *state * 6364136223846793005ul + 1442695040888963407ul;
  return (double)((*state >> 33) & 0x7fffffff) / 2147483647.0;
}

/* The ratio of a symmetric matrix's least eigenvalue to the largest */
static PetscErrorCode TestLeast(double *a, int n, double *ratio)
{
  PetscBLASInt bn = n, lwork = 8 * n, info;
  PetscScalar *b, *work;
  PetscReal   *w, *rwork;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n * n, &b, n, &w, lwork, &work, 3 * n, &rwork));
  for (int k = 0; k < n * n; k++) b[k] = (PetscReal)a[k];
#if PetscDefined(USE_COMPLEX)
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("N", "L", &bn, b, &bn, w, work, &lwork, rwork, &info));
#else
  PetscCallBLAS("LAPACKsyev", LAPACKsyev_("N", "L", &bn, b, &bn, w, work, &lwork, &info));
#endif
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "syev failed");
  *ratio = (double)(w[0] / w[n - 1]);
  PetscCall(PetscFree4(b, w, work, rwork));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Accuracies of a polynomial's derivative: at the ends, and where no closure reaches */
static void TestErrors(const double *value, const double *exact, double *ends, double *inside)
{
  *ends = *inside = 0;
  for (int i = 0; i <= N1; i++) {
    const double error = PetscAbsReal(value[i] - exact[i]);

    *ends = PetscMax(*ends, error);
    if (i >= 12 && i <= N1 - 12) *inside = PetscMax(*inside, error);
  }
}

static PetscErrorCode TestTable(const SBPTable *t)
{
  const int     n = N1, m = N1 + 1;
  const double  h = 2.0 / n, tolerance = 2e-11;
  double        x[N1 + 1], b[N1 + 1], u[N1 + 1], value[N1 + 1], exact[N1 + 1], ends, inside, worst;
  double       *Q, *M, *R;
  unsigned long state = 7;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(m * m, &Q, m * m, &M, m * m, &R));
  for (int i = 0; i <= n; i++) x[i] = -1 + i * h;

  /* The quadrature rule integrates polynomials of degree < p exactly */
  for (int e = 0; e < t->order; e++) {
    double sum = 0;

    for (int i = 0; i <= n; i++) sum += h * SBPTableNorm(t, n, i) * PetscPowRealInt(x[i], e);
    PetscCall(TestBelow("quadrature", t->order, PetscAbsReal(sum - (e % 2 ? 0 : 2.0 / (e + 1))), tolerance));
  }

  /* Q + Q^T = diag(-1, 0, ..., 0, 1) */
  for (int k = 0; k < m * m; k++) Q[k] = 0;
  for (int i = 0; i <= n; i++) {
    int low, high;

    SBPTableRangeQ(t, n, i, &low, &high);
    for (int d = low; d <= high; d++) Q[i * m + i + d] = SBPTableQ(t, n, i, d);
  }
  worst = 0;
  for (int i = 0; i <= n; i++) {
    for (int k = 0; k <= n; k++) worst = PetscMax(worst, PetscAbsReal(Q[i * m + k] + Q[k * m + i] - (i != k ? 0 : i == 0 ? -1 : i == n ? 1 : 0)));
  }
  PetscCall(TestBelow("Q + Q^T", t->order, worst, 1e-15));

  /* D is exact for degrees up to p/2 at the ends and p inside, and not beyond */
  for (int e = 0; e <= t->order + 1; e++) {
    for (int i = 0; i <= n; i++) {
      value[i] = 0;
      for (int k = 0; k <= n; k++) value[i] += Q[i * m + k] * PetscPowRealInt(x[k], e) / (h * SBPTableNorm(t, n, i));
      exact[i] = e ? e * PetscPowRealInt(x[i], e - 1) : 0;
    }
    TestErrors(value, exact, &ends, &inside);
    if (e <= t->order / 2) PetscCall(TestBelow("derivative at the ends", t->order, ends, tolerance));
    if (e <= t->order) PetscCall(TestBelow("derivative inside", t->order, inside, tolerance));
    else PetscCall(TestBelow("derivative inside is too exact to be true", t->order, 1e-9, inside));
  }

  /* The derivative at an end is exact for degrees up to p/2 + 1 */
  for (int e = 0; e <= t->order / 2 + 1; e++) {
    double slope = 0;

    for (int k = 0; k < t->normals; k++) slope += t->normal[k] / h * PetscPowRealInt(x[k], e);
    PetscCall(TestBelow("derivative at a face", t->order, PetscAbsReal(slope - (e ? e * PetscPowRealInt(-1, e - 1) : 0)), tolerance));
  }

  /* (b u')' for monomials b and u: exact for degrees of both up to p/2 + 1 at the ends, p + 1 inside */
  for (int degree = 0; degree <= t->order + 2; degree++) {
    double most = 0;

    for (int eb = 0; eb <= degree; eb++) {
      const int eu = degree - eb;

      for (int i = 0; i <= n; i++) {
        b[i]     = PetscPowRealInt(x[i], eb);
        u[i]     = PetscPowRealInt(x[i], eu);
        exact[i] = eu && degree > 1 ? eu * (degree - 1) * PetscPowRealInt(x[i], degree - 2) : 0;
      }
      for (int i = 0; i <= n; i++) {
        value[i] = -SBPNodeM_Double(t, n, i, b + i, 1, u + i, 1);
        for (int k = 0; k < t->normals; k++) {
          if (i == 0) value[i] -= b[0] * t->normal[k] * u[k];
          if (i == n) value[i] -= b[n] * t->normal[k] * u[n - k];
        }
        value[i] /= h * h * SBPTableNorm(t, n, i);
      }
      TestErrors(value, exact, &ends, &inside);
      if (degree <= t->order / 2 + 1) PetscCall(TestBelow("(b u')' at the ends", t->order, ends, 100 * tolerance));
      if (degree <= t->order + 1) PetscCall(TestBelow("(b u')' inside", t->order, inside, 100 * tolerance));
      most = PetscMax(most, inside);
    }
    if (degree > t->order + 1) PetscCall(TestBelow("(b u')' inside is too exact to be true", t->order, 1e-8, most));
  }

  /* M(b) is symmetric and semidefinite, with constants as null space. M(b) - Q^T diag(b/norm) Q has the same properties
     for any positive b */
  for (int trial = 0; trial < 20; trial++) {
    double asymmetry = 0, sum = 0, least;

    for (int i = 0; i <= n; i++) b[i] = PetscPowReal(10, 6 * TestRandom(&state) - 6);
    for (int k = 0; k <= n; k++) {
      for (int i = 0; i <= n; i++) u[i] = i == k ? 1 : 0;
      for (int i = 0; i <= n; i++) M[i * m + k] = SBPNodeM_Double(t, n, i, b + i, 1, u + i, 1);
      asymmetry = PetscMax(asymmetry, PetscAbsReal(M[k * m + k] - SBPNodeDiagonalM_Double(t, n, k, b + k, 1)));
    }
    for (int i = 0; i <= n; i++) {
      double row = 0;

      for (int k = 0; k <= n; k++) {
        asymmetry = PetscMax(asymmetry, PetscAbsReal(M[i * m + k] - M[k * m + i]));
        row += M[i * m + k];
      }
      sum = PetscMax(sum, PetscAbsReal(row));
      for (int k = 0; k <= n; k++) {
        R[i * m + k] = M[i * m + k];
        for (int l = 0; l <= n; l++) R[i * m + k] -= Q[l * m + i] * b[l] / SBPTableNorm(t, n, l) * Q[l * m + k];
      }
    }
    PetscCall(TestBelow("M - M^T, or its diagonal", t->order, asymmetry, 1e-14));
    PetscCall(TestBelow("M 1", t->order, sum, 1e-13));
    PetscCall(TestLeast(M, m, &least));
    PetscCall(TestBelow("-least eigenvalue of M", t->order, -least, 1e-13));
    PetscCall(TestLeast(R, m, &least));
    PetscCall(TestBelow("-least eigenvalue of M - Q^T b/H Q", t->order, -least, 1e-12));
  }
  PetscCall(PetscFree3(Q, M, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void TestGrid(PetscInt n0, PetscInt n1, PetscInt extra, SBPGrid *g)
{
  *g                  = (SBPGrid){0};
  g->order            = 2;
  g->reach            = 2;
  g->n[0]             = n0;
  g->n[1]             = n1;
  g->h[0]             = (PetscReal)2 / n0;
  g->h[1]             = (PetscReal)2 / n1;
  g->own.count[0]     = n0 + 1;
  g->own.count[1]     = n1 + 1;
  g->ghosted          = g->own;
  g->pitch            = n0 + 1 + extra;
  g->ghostpitch       = n0 + 1 + extra;
  g->coefficientpitch = n0 + 1 + extra;
}

/* x^T (P e) = (P^T x)^T e; constants and bilinear functions come through; bicubic interpolation is exact for cubics */
static PetscErrorCode TestTransfers(PetscInt n0, PetscInt n1, SBPPrecision precision)
{
  SBPGrid           fine, coarse;
  const size_t      size    = precision == SBP_SINGLE ? sizeof(float) : sizeof(double);
  const double      epsilon = precision == SBP_SINGLE ? 1e-5 : 1e-13;
  void             *x, *e, *pe, *rx, *work;
  double            left, right, worst;
  unsigned long     state = 3;
  const SBPKernels *k     = &SBPHostKernels;

  PetscFunctionBegin;
  TestGrid(2 * n0, 2 * n1, 5, &fine);
  TestGrid(n0, n1, 3, &coarse);
  PetscCall((*k->memory->alloc)(size * (size_t)(fine.pitch * (fine.n[1] + 1)), &x));
  PetscCall((*k->memory->alloc)(size * (size_t)(fine.pitch * (fine.n[1] + 1)), &pe));
  PetscCall((*k->memory->alloc)(size * (size_t)(coarse.pitch * (coarse.n[1] + 1)), &e));
  PetscCall((*k->memory->alloc)(size * (size_t)(coarse.pitch * (coarse.n[1] + 1)), &rx));
  PetscCall((*k->memory->alloc)(sizeof(double) * (size_t)(fine.pitch * (fine.n[1] + 1)), &work));

  for (PetscInt i = 0; i < fine.pitch * (fine.n[1] + 1); i++) ((double *)work)[i] = TestRandom(&state) - 0.5;
  PetscCall((*k->vector.copy)(&fine, SBP_DOUBLE, 0, work, &fine, precision, 0, x));
  for (PetscInt i = 0; i < coarse.pitch * (coarse.n[1] + 1); i++) ((double *)work)[i] = TestRandom(&state) - 0.5;
  PetscCall((*k->vector.copy)(&coarse, SBP_DOUBLE, 0, work, &coarse, precision, 0, e));
  PetscCall((*k->prolong)(&coarse, &fine, precision, PETSC_FALSE, e, pe));
  PetscCall((*k->restrict_)(&fine, &coarse, precision, x, rx));
  PetscCall((*k->vector.sum)(&fine, precision, x, NULL, pe, &left));
  PetscCall((*k->vector.sum)(&coarse, precision, rx, NULL, e, &right));
  PetscCall(TestBelow("x^T P e - (P^T x)^T e", 2, PetscAbsReal(left - right), 100 * epsilon));

  /* x += P e, compared with its parts */
  PetscCall((*k->vector.copy)(&fine, precision, 0, x, &fine, SBP_DOUBLE, 0, work));
  PetscCall((*k->prolong)(&coarse, &fine, precision, PETSC_TRUE, e, x));
  PetscCall((*k->vector.axpby)(&fine, -1, precision, pe, 1, precision, x));
  PetscCall((*k->vector.axpby)(&fine, 1, precision, x, -1, SBP_DOUBLE, work));
  PetscCall((*k->vector.sum)(&fine, SBP_DOUBLE, work, NULL, work, &left));
  PetscCall(TestBelow("u += P e", 2, left, 100 * epsilon * epsilon * fine.n[0] * fine.n[1]));

  /* Polynomials of degree 1 or 3 in each direction; degree 1 for fewer than 3 intervals */
  for (int cubic = 0; cubic < 2; cubic++) {
    const int a = cubic && n0 >= 3 ? 3 : 1, b = cubic && n1 >= 3 ? 3 : 1;

    for (PetscInt j = 0; j <= n1; j++) {
      for (PetscInt i = 0; i <= n0; i++)
        ((double *)work)[j * coarse.pitch + i] = PetscPowRealInt((double)i / n0 - 0.3, a) * PetscPowRealInt((double)j / n1 - 0.6, b) + 1;
    }
    PetscCall((*k->vector.copy)(&coarse, SBP_DOUBLE, 0, work, &coarse, precision, 0, e));
    if (cubic) PetscCall((*k->interpolate)(&coarse, &fine, precision, e, pe));
    else PetscCall((*k->prolong)(&coarse, &fine, precision, PETSC_FALSE, e, pe));
    PetscCall((*k->vector.copy)(&fine, precision, 0, pe, &fine, SBP_DOUBLE, 0, work));
    worst = 0;
    for (PetscInt j = 0; j <= 2 * n1; j++) {
      for (PetscInt i = 0; i <= 2 * n0; i++)
        worst = PetscMax(worst, PetscAbsReal(((double *)work)[j * fine.pitch + i] -
                                             PetscPowRealInt((double)i / (2 * n0) - 0.3, a) * PetscPowRealInt((double)j / (2 * n1) - 0.6, b) - 1));
    }
    PetscCall(TestBelow(cubic ? "bicubic interpolation" : "bilinear interpolation", 2, worst, 10 * epsilon));
  }
  PetscCall((*k->memory->free)(&x));
  PetscCall((*k->memory->free)(&e));
  PetscCall((*k->memory->free)(&pe));
  PetscCall((*k->memory->free)(&rx));
  PetscCall((*k->memory->free)(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An operator with random coefficients. Each mode in single and double precision, and by regions, against rows one by
   one */
static PetscErrorCode TestSteps(SBPKind kind, int order, PetscInt n0, PetscInt n1)
{
  const SBPKernels *k = &SBPHostKernels;
  SBPOperator       op[2];
  SBPGrid           g;
  unsigned long     state = 11;
  PetscInt          nodes;
  double           *c[SBP_COEFFICIENTS], *penalty[SBP_FACES], *u, *b, *d, *dinv, *out, *dout;
  float            *cs[SBP_COEFFICIENTS], *penalties[SBP_FACES], *us, *bs, *ds, *dinvs, *outs, *douts;

  PetscFunctionBegin;
  TestGrid(n0, n1, 3, &g);
  g.order        = order;
  g.reach        = kind == SBP_NINE ? 1 : SBPTableReach(SBPTableOf(order));
  g.dirichlet[0] = PETSC_TRUE;
  g.dirichlet[3] = PETSC_TRUE;
  nodes          = g.pitch * (n1 + 1);
  op[0]          = (SBPOperator){.kind = kind, .grid = g, .precision = SBP_DOUBLE, .scale = -0.75};
  op[1]          = (SBPOperator){.kind = kind, .grid = g, .precision = SBP_SINGLE, .scale = -0.75};
  for (int l = 0; l < SBP_COEFFICIENTS; l++) {
    PetscCall(PetscMalloc2(nodes, &c[l], nodes, &cs[l]));
    for (PetscInt i = 0; i < nodes; i++) cs[l][i] = (float)(c[l][i] = (float)((l < 2 ? 1 : -0.5) + TestRandom(&state)));
    op[0].coefficient[l] = c[l];
    op[1].coefficient[l] = cs[l];
  }
  for (int f = 0; f < SBP_FACES; f++) {
    PetscCall(PetscMalloc2(nodes, &penalty[f], nodes, &penalties[f]));
    for (PetscInt i = 0; i < nodes; i++) penalties[f][i] = (float)(penalty[f][i] = (float)(10 * TestRandom(&state)));
    op[0].penalty[f] = penalty[f];
    op[1].penalty[f] = penalties[f];
  }
  PetscCall(PetscMalloc6(nodes, &u, nodes, &b, nodes, &d, nodes, &dinv, nodes, &out, nodes, &dout));
  PetscCall(PetscMalloc6(nodes, &us, nodes, &bs, nodes, &ds, nodes, &dinvs, nodes, &outs, nodes, &douts));
  for (PetscInt i = 0; i < nodes; i++) {
    us[i]    = (float)(u[i] = (float)(TestRandom(&state) - 0.5));
    bs[i]    = (float)(b[i] = (float)(TestRandom(&state) - 0.5));
    ds[i]    = (float)(d[i] = (float)(TestRandom(&state) - 0.5));
    dinvs[i] = (float)(dinv[i] = (float)TestRandom(&state));
  }
  for (int mode = SBP_APPLY; mode <= SBP_SMOOTH + 3; mode++) {
    /* The last modes: smoothing without d, without dinv, without dout */
    const int what        = mode - SBP_SMOOTH;
    SBPStep   step        = {.mode = mode < SBP_SMOOTH ? (SBPMode)mode : SBP_SMOOTH,
                             .u    = u,
                             .b    = b,
                             .d    = d,
                             .dinv = what == 2 ? NULL : dinv,
                             .c1   = what == 1 || what == 3 ? 0 : 0.7,
                             .c2   = 0.3,
                             .out  = out,
                             .dout = what == 3 ? NULL : dout},
            single        = step;
    const SBPBox parts[3] = {{{0, 0}, {n0 + 1, n1 / 2}}, {{0, n1 / 2}, {n0 / 3, n1 + 1 - n1 / 2}}, {{n0 / 3, n1 / 2}, {n0 + 1 - n0 / 3, n1 + 1 - n1 / 2}}};
    double       worst = 0, worsts = 0;

    single.u    = us;
    single.b    = bs;
    single.d    = ds;
    single.dinv = step.dinv ? dinvs : NULL;
    single.out  = outs;
    single.dout = step.dout ? douts : NULL;
    for (int part = 0; part < 3; part++) PetscCall((*k->step)(&op[0], &parts[part], &step));
    PetscCall((*k->step)(&op[1], NULL, &single));
    for (PetscInt j = 0; j <= n1; j++) {
      for (PetscInt i = 0; i <= n0; i++) {
        const PetscInt at       = j * g.pitch + i;
        const double   plain    = kind == SBP_NINE ? SBPNodeNine_Double(&op[0], i, j, u) : SBPNodeApply_Double(&op[0], SBPTableOf(order), i, j, u);
        const double   a        = kind == SBP_SHIFTED ? op[0].scale * plain + c[SBP_DIAGONAL][j * g.coefficientpitch + i] * u[at] : plain;
        const double   delta    = (step.c1 != 0 ? step.c1 * d[at] : 0) + step.c2 * (step.dinv ? dinv[at] : 1) * (b[at] - a);
        const double   expected = mode == SBP_APPLY ? a : mode == SBP_ADD ? b[at] + a : mode == SBP_RESIDUAL ? b[at] - a : u[at] + delta;

        worst  = PetscMax(worst, PetscAbsReal(out[at] - expected));
        worsts = PetscMax(worsts, PetscAbsReal(outs[at] - expected));
        if (mode >= SBP_SMOOTH && step.dout) {
          worst  = PetscMax(worst, PetscAbsReal(dout[at] - delta));
          worsts = PetscMax(worsts, PetscAbsReal(douts[at] - delta));
        }
      }
    }
    PetscCall(TestBelow(kind == SBP_NINE ? "nine points, double" : "step, double", order, worst, 1e-12));
    PetscCall(TestBelow(kind == SBP_NINE ? "nine points, single" : "step, single", order, worsts, 1e-3));
  }
  for (int l = 0; l < SBP_COEFFICIENTS; l++) PetscCall(PetscFree2(c[l], cs[l]));
  for (int f = 0; f < SBP_FACES; f++) PetscCall(PetscFree2(penalty[f], penalties[f]));
  PetscCall(PetscFree6(u, b, d, dinv, out, dout));
  PetscCall(PetscFree6(us, bs, ds, dinvs, outs, douts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int order = 2; order <= 6; order += 2) {
    PetscCall(TestTable(SBPTableOf(order)));
    PetscCall(TestSteps(SBP_SAT, order, 23, 19));
    PetscCall(TestSteps(SBP_SHIFTED, order, 23, 19));
    PetscCall(TestSteps(SBP_SHIFTED, order, 600, 20));
    PetscCall(TestSteps(SBP_SAT, order, 18, 600));
    PetscCall(TestSteps(SBP_SAT, order, 1200, 20));
  }
  PetscCall(TestSteps(SBP_NINE, 2, 3, 2));
  PetscCall(TestSteps(SBP_NINE, 2, 700, 30));
  for (SBPPrecision precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) {
    PetscCall(TestTransfers(1, 1, precision));
    PetscCall(TestTransfers(2, 5, precision));
    PetscCall(TestTransfers(16, 3, precision));
    PetscCall(TestTransfers(33, 17, precision));
  }
  return TestEnd(100, "operators, transfers and steps are as they should be\n");
}

/*TEST

  test:
    requires: double

TEST*/
