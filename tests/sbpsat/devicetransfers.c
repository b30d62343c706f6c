/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "SBP-SAT operators on a device: transfers, and the operations of multigrid set-up and full multigrid, against the host.\n\n";

#include <tests/sbpsat/sbpdevicetest.h>

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

/* y += a (x + P e), with both pitches and all precisions */
static PetscErrorCode TestUpdate(const SBPGrid *g, const SBPGrid *coarse, const SBPGrid *other, const char *where)
{
  Array x, e, y;
  char  what[256];

  PetscFunctionBegin;
  for (int p = SBP_SINGLE; p <= SBP_DOUBLE; p++)
    for (int q = SBP_SINGLE; q <= SBP_DOUBLE; q++) {
      PetscCall(ArrayCreate((SBPPrecision)p, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &x));
      PetscCall(ArrayCreate((SBPPrecision)p, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &e));
      PetscCall(ArrayCreate((SBPPrecision)q, PETSC_FALSE, other->own.count[1], other->pitch, -1, 1, &y));
      for (int way = 0; way < 2; way++) {
        PetscCall(
          H->vector.update(g, (SBPPrecision)p, (SBPRatio){0.7, NULL, NULL}, x.host, way ? coarse : NULL, way ? e.host : NULL, other, (SBPPrecision)q, y.host));
        PetscCall(D->vector.update(g, (SBPPrecision)p, (SBPRatio){0.7, NULL, NULL}, x.device, way ? coarse : NULL, way ? e.device : NULL, other,
                                   (SBPPrecision)q, y.device));
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, update of %d by %d, way %d", where, q, p, way));
        PetscCall(ArrayCompare(&y, SEVERAL * (p == SBP_SINGLE && q == SBP_DOUBLE ? (PetscReal)5e8 : (PetscReal)1), what));
      }
      PetscCall(ArrayDestroy(&x));
      PetscCall(ArrayDestroy(&e));
      PetscCall(ArrayDestroy(&y));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The input of a cycle in single precision, scaled by its largest number in consecutive applications, and the output */
static PetscErrorCode TestScale(const SBPGrid *g, const SBPGrid *coarse, const SBPGrid *other, SBPPrecision precision, const char *where)
{
  static const int exponents[] = {0, 300, -300, 39, 1000};
  const int        part        = precision == SBP_SCALAR && PetscDefined(USE_COMPLEX) ? 1 : 0;
  Array            x, y, rc;
  SBPScale        *host, *device, got;
  char             what[256];

  PetscFunctionBegin;
  PetscCall(LitheMemoryCalloc(H->memory, sizeof(*host), (void **)&host));
  PetscCall(LitheMemoryCalloc(D->memory, sizeof(*device), (void **)&device));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &x));
  PetscCall(ArrayCreate(SBP_SINGLE, PETSC_FALSE, other->own.count[1], other->pitch, -1, 1, &y));
  PetscCall(ArrayCreate(SBP_DOUBLE, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &rc));
  for (int k = 0; k < 2 * (int)PETSC_STATIC_ARRAY_LENGTH(exponents); k++) {
    const double    size = ldexp(1., exponents[k / 2]);
    const PetscBool full = (PetscBool)(k % 2 && precision == SBP_DOUBLE);

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, precision %d, numbers of 2^%d%s", where, (int)precision, exponents[k / 2], full ? ", restricted" : ""));
    PetscCall(ArrayFill(&x, (PetscReal)-size, (PetscReal)size));
    if (full) {
      PetscCall(H->restrictlargest(g, coarse, x.host, rc.host, host, k % 2));
      PetscCall(D->restrictlargest(g, coarse, x.device, rc.device, device, k % 2));
      PetscCall(H->vector.rescale(g, precision, part, NULL, NULL, NULL, host, k % 2));
      PetscCall(D->vector.rescale(g, precision, part, NULL, NULL, NULL, device, k % 2));
      PetscCall(ArrayCompare(&rc, SEVERAL, what));
    } else {
      PetscCall(H->vector.copylargest(g, precision, part, x.host, other, y.host, host, k % 2));
      PetscCall(D->vector.copylargest(g, precision, part, x.device, other, y.device, device, k % 2));
      PetscCall(H->vector.rescale(g, precision, part, x.host, other, y.host, host, k % 2));
      PetscCall(D->vector.rescale(g, precision, part, x.device, other, y.device, device, k % 2));
      PetscCall(ArrayCompare(&y, 0, what));
    }
    PetscCall((*D->memory->get)(sizeof(got), device, &got));
    if (got.in != host->in || got.out != host->out) {
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: scale %g and %g, not %g and %g\n", what, got.in, got.out, host->in, host->out));
    }
    if (full) continue;
    PetscCall(H->vector.copyscaled(other, SBP_SINGLE, 0, y.host, g, precision, part, x.host, (SBPRatio){0.75, &host->out, NULL}));
    PetscCall(D->vector.copyscaled(other, SBP_SINGLE, 0, y.device, g, precision, part, x.device, (SBPRatio){0.75, &device->out, NULL}));
    PetscCall(ArrayCompare(&x, 0, what));
  }
  PetscCall(ArrayDestroy(&x));
  PetscCall(ArrayDestroy(&y));
  PetscCall(ArrayDestroy(&rc));
  PetscCall((*H->memory->free)((void **)&host));
  PetscCall((*D->memory->free)((void **)&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operations of Lanczos's method, whose numbers stay on the device */
static PetscErrorCode TestLanczos(const SBPGrid *g, SBPPrecision precision, const char *where)
{
  Array        x, w, y;
  double       sum[3]  = {0}, got[3], *sums;
  const double none[3] = {0};
  char         what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, 1, 2, &x));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, 1, 2, &w));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, 1, 2, &y));
  PetscCall(LitheMemoryCalloc(D->memory, sizeof(sum), (void **)&sums));
  PetscCall((*D->memory->put)(sizeof(none), none, sums));
  PetscCall(H->vector.sum(g, precision, x.host, NULL, y.host, &sum[0]));
  PetscCall(H->vector.sum(g, precision, x.host, w.host, y.host, &sum[1]));
  PetscCall(D->vector.sum(g, precision, x.device, NULL, y.device, &sums[0]));
  PetscCall(D->vector.sum(g, precision, x.device, w.device, y.device, &sums[1]));
  PetscCall((*D->memory->get)(sizeof(got), sums, got));
  for (int k = 0; k < 2; k++) {
    if (!(PetscAbsReal((PetscReal)(got[k] - sum[k])) <= (PetscReal)1e-12 * (PetscReal)sum[k])) {
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, sum %d: %.17g, not %.17g\n", where, k, got[k], sum[k]));
    }
  }

  /* sums[2] is 0: dividing by it must give 0 */
  for (int way = 0; way < 8; way++) {
    const SBPRatio hosta = {-0.5, way & 1 ? &sum[0] : NULL, way & 1 ? &sum[1] : NULL}, hostb = {way & 2 ? 1. : 0., &sum[1], &sum[way & 4 ? 2 : 0]};
    const SBPRatio a = {-0.5, way & 1 ? &sums[0] : NULL, way & 1 ? &sums[1] : NULL}, b = {hostb.factor, &sums[1], &sums[way & 4 ? 2 : 0]};

    PetscCall(H->vector.combine(g, precision, hosta, way & 1 ? w.host : NULL, x.host, hostb, y.host));
    PetscCall(D->vector.combine(g, precision, a, way & 1 ? w.device : NULL, x.device, b, y.device));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, combination %d", where, way));
    PetscCall(ArrayCompare(&y, SEVERAL, what));
  }
  PetscCall(H->vector.noise(g, precision, y.host));
  PetscCall(D->vector.noise(g, precision, y.device));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, noise", where));
  PetscCall(ArrayCompare(&y, 0, what));
  PetscCall((*D->memory->free)((void **)&sums));
  PetscCall(ArrayDestroy(&x));
  PetscCall(ArrayDestroy(&w));
  PetscCall(ArrayDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P in one sweep, against nine products with the host's operator */
static PetscErrorCode TestGalerkin(const Pair *p, const SBPGrid *coarse, const char *where)
{
  const SBPGrid     *g         = &p->host.grid;
  const SBPPrecision precision = p->host.precision;
  Array              v, o, pv, apv, coefficient[SBP_COEFFICIENTS], rounded[SBP_COEFFICIENTS];
  void              *host[SBP_COEFFICIENTS], *device[SBP_COEFFICIENTS], *single[SBP_COEFFICIENTS];
  char               what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &v));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &o));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &pv));
  PetscCall(ArrayCreate(precision, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &apv));
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    PetscCall(ArrayCreate(precision, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &coefficient[k]));
    PetscCall(ArrayCreate(SBP_SINGLE, PETSC_FALSE, coarse->own.count[1], coarse->pitch, -1, 1, &rounded[k]));
    for (PetscInt j = 0; j < coarse->own.count[1]; j++)
      memset((char *)coefficient[k].host + coefficient[k].width * (size_t)(j * coarse->pitch), 0, coefficient[k].width * (size_t)coarse->own.count[0]);
    host[k]   = coefficient[k].host;
    device[k] = coefficient[k].device;
    single[k] = rounded[k].device;
  }
  for (int colour = 0; colour < 9; colour++) {
    const SBPStep step = {.mode = SBP_APPLY, .u = pv.host, .out = apv.host};

    PetscCall(H->vector.mark(coarse, precision, colour, v.host));
    PetscCall(H->prolong(coarse, g, precision, PETSC_FALSE, v.host, pv.host));
    PetscCall(H->step(&p->host, NULL, &step));
    PetscCall(H->restrict_(g, coarse, precision, apv.host, o.host));
    PetscCall(H->vector.gather(coarse, precision, colour, o.host, host));
  }
  for (int way = 0; way < 2; way++) {
    PetscCall(D->galerkin(&p->device, coarse, device, way ? single : NULL));
    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, coefficient %d of a Galerkin operator", where, k));
      PetscCall(ArrayCompare(&coefficient[k], SEVERAL, what));
      if (!way) continue;
      PetscCall(H->vector.copy(coarse, precision, 0, coefficient[k].host, coarse, SBP_SINGLE, 0, rounded[k].host));
      PetscCall(ArrayCompare(&rounded[k], SEVERAL, what));
    }
  }
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    PetscCall(ArrayDestroy(&coefficient[k]));
    PetscCall(ArrayDestroy(&rounded[k]));
  }
  PetscCall(ArrayDestroy(&v));
  PetscCall(ArrayDestroy(&o));
  PetscCall(ArrayDestroy(&pv));
  PetscCall(ArrayDestroy(&apv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A residual in single precision, with another pitch, against a residual which is rounded afterwards */
static PetscErrorCode TestRounded(const Pair *p, const SBPGrid *other, const char *where)
{
  const SBPGrid *g       = &p->host.grid;
  const double   quarter = 0.25;
  double        *scale;
  Array          u, b, r, rounded;
  char           what[256];

  PetscFunctionBegin;
  PetscCall(ArrayCreate(SBP_DOUBLE, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &u));
  PetscCall(ArrayCreate(SBP_DOUBLE, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &b));
  PetscCall(ArrayCreate(SBP_DOUBLE, PETSC_FALSE, g->own.count[1], g->pitch, -1, 1, &r));
  PetscCall(ArrayCreate(SBP_SINGLE, PETSC_FALSE, other->own.count[1], other->pitch, -1, 1, &rounded));
  {
    const SBPStep step = {.mode = SBP_RESIDUAL, .u = u.host, .b = b.host, .out = r.host};

    PetscCall(H->step(&p->host, NULL, &step));
  }
  PetscCall(LitheMemoryCalloc(D->memory, sizeof(*scale), (void **)&scale));
  PetscCall((*D->memory->put)(sizeof(*scale), &quarter, scale));
  for (int way = 0; way < 2; way++) {
    PetscCall(H->vector.copyscaled(g, SBP_DOUBLE, 0, r.host, other, SBP_SINGLE, 0, rounded.host, (SBPRatio){way ? quarter : 1., NULL, NULL}));
    PetscCall(D->fused.roundedresidual(&p->device, u.device, b.device, other, rounded.device, way ? scale : NULL));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, residual in single precision, pitch %" PetscInt_FMT ", way %d", where, other->pitch, way));
    PetscCall(ArrayCompare(&rounded, 2, what));
  }
  PetscCall((*D->memory->free)((void **)&scale));
  PetscCall(ArrayDestroy(&u));
  PetscCall(ArrayDestroy(&b));
  PetscCall(ArrayDestroy(&r));
  PetscCall(ArrayDestroy(&rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A process with the whole grid applies an operator of nine points, or of SBP-SAT of order 2 */
static PetscErrorCode TestOperator(const Shape *s, SBPKind kind, SBPPrecision precision, int dirichlet, const char *where)
{
  Shape   padded = *s;
  SBPGrid g, other, coarse;
  Pair    p;

  PetscFunctionBegin;
  padded.padding = 32;
  MakeGrid(s, 2, kind, dirichlet, kind == SBP_NINE ? 1 : 2, &g);
  MakeGrid(&padded, 2, kind, dirichlet, kind == SBP_NINE ? 1 : 2, &other);
  PetscCall(PairCreate(kind, precision, &g, &p));
  for (int c = 0; c < 2; c++) {
    MakeCoarse(&g, c ? 32 : 0, 2, &coarse);
    coarse.coefficientpitch = coarse.pitch;
    PetscCall(TestGalerkin(&p, &coarse, where));
  }
  if (precision == SBP_DOUBLE) {
    PetscCall(TestRounded(&p, &g, where));
    PetscCall(TestRounded(&p, &other, where));
  }
  PetscCall(PairDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char where[128];

  PetscFunctionBeginUser;
  PetscCall(KernelsStart(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    const Shape    *s    = &shapes[k];
    const PetscBool even = (PetscBool)(s->n[0] % 2 == 0 && s->n[1] % 2 == 0);
    SBPGrid         g, other, coarse;
    Shape           t = *s;

    t.padding = 5;
    MakeGrid(s, 2, SBP_SAT, 3, 2, &g);
    MakeGrid(&t, 2, SBP_SAT, 3, 2, &other);
    PetscCall(PetscSNPrintf(where, sizeof(where), "shape %d", (int)k));
    for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) PetscCall(TestLanczos(&g, (SBPPrecision)precision, where));
    if (!even) continue;
    MakeCoarse(&g, 0, 2, &coarse);
    for (int precision = SBP_SINGLE; precision <= SBP_SCALAR; precision++) PetscCall(TestTransfers(&g, &coarse, (SBPPrecision)precision, where));
    if (!IsWhole(s)) continue;
    PetscCall(TestUpdate(&g, &coarse, &other, where));
    for (int precision = SBP_DOUBLE; precision <= SBP_SCALAR && PetscDefined(USE_REAL_DOUBLE); precision++)
      PetscCall(TestScale(&g, &coarse, &other, (SBPPrecision)precision, where));
    for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++)
      for (int faces = 0; faces < 6; faces++) {
        static const int     dirichlet[] = {3, 15, 4, 0, 3, 15};
        static const SBPKind kinds[]     = {SBP_SAT, SBP_SAT, SBP_SAT, SBP_NINE, SBP_SHIFTED, SBP_SHIFTED};

        PetscCall(PetscSNPrintf(where, sizeof(where), "shape %d, precision %d, faces %d", (int)k, precision, faces));
        PetscCall(TestOperator(s, kinds[faces], (SBPPrecision)precision, dirichlet[faces], where));
      }
  }
  return KernelsEnd(20);
}

/*TEST

  test:
    requires: cuda
    output_file: output/right.out

TEST*/
