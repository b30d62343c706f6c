/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The set-up of the levels of a PCCAMG */

#include "camgimpl.h"

#define CAMG_FILL  1.5  /* entries of a coarse level over those of its fine level: beyond this aggregates are pairs of pairs */
#define CAMG_DENSE 2000 /* unknowns of a level without a next level, up to which it has a dense inverse */

/* What one level hands to the next: exact entries, scales, near null space */
typedef struct {
  CAMGMatrix A;
  CAMGSpace  space;
  double    *s;
} Exact;

static PetscErrorCode GraphFree_Private(const PC_CAMG *mg, CAMGGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &g->strong));
  PetscCall(PCCAMGFree_Private(mg, &g->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ExactFree_Private(const PC_CAMG *mg, Exact *e)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &e->A));
  PetscCall(PCCAMGFree_Private(mg, &e->space.T));
  PetscCall(PCCAMGFree_Private(mg, &e->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = A B. starts: NULL, or of an earlier product, else to be kept for a later one */
static PetscErrorCode Multiply_Private(const PC_CAMG *mg, const CAMGMatrix *A, const CAMGMatrix *B, CAMGStarts *starts, CAMGMatrix *C)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const size_t          bytes  = ((size_t)A->m + 1) * sizeof(PetscInt);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(C, sizeof(*C)));
  if (starts && starts->i) {
    C->nz = starts->nz;
    PetscCall((*memory->alloc)(bytes, (void **)&C->i));
    PetscCall((*memory->copy)(bytes, starts->i, C->i));
  }
  PetscCall((*mg->kernels->multiply)(A, B, C));
  if (starts && !starts->i) {
    starts->nz = C->nz;
    PetscCall((*memory->alloc)(bytes, (void **)&starts->i));
    PetscCall((*memory->copy)(bytes, C->i, starts->i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* R A P */
static PetscErrorCode Galerkin_Private(const PC_CAMG *mg, const CAMGMatrix *A, CAMGTransfers *t, CAMGMatrix *C)
{
  const PetscBool keep = (PetscBool)(mg->kept.state != CAMG_KEPT_NOT && mg->kernels->memory != &LitheHostMemory);
  CAMGMatrix      AP;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGProduct, 0, 0, 0, 0));
  PetscCall(Multiply_Private(mg, A, &t->P, keep ? &t->product[0] : NULL, &AP));
  PetscCall(Multiply_Private(mg, &t->R, &AP, keep ? &t->product[1] : NULL, C));
  PetscCall((*mg->kernels->clean)(A, &t->R, C));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &AP));
  PetscCall(PetscLogEventEnd(PC_CAMGProduct, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Strong entries between nodes: of A, of its Hermitian part, or of norms of blocks */
static PetscErrorCode GetGraph_Private(const PC_CAMG *mg, const Exact *e, PetscReal threshold, CAMGGraph *g)
{
  const CAMGKernels *kern = mg->kernels;
  CAMGMatrix         N = {.i = NULL}, S = {.i = NULL};
  const CAMGMatrix  *A = &e->A;

  PetscFunctionBegin;
  if (e->space.block > 1) {
    PetscCall((*kern->norms)(A, &N));
    A = &N;
  }
  if (!mg->matrix.symmetric) {
    PetscCall((*kern->symmetricpart)(A, &S));
    A = &S;
  }
  PetscCall((*kern->filter)(A, threshold, g));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &N));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of the vertices of A, and the Galerkin product with constants on pairs */
static PetscErrorCode Pair_Private(const PC_CAMG *mg, const CAMGMatrix *A, PetscReal threshold, PetscInt agg[], PetscInt *aggregates, CAMGMatrix *C)
{
  const CAMGKernels *kern  = mg->kernels;
  const CAMGGraph    graph = {.strong = {.m = A->m, .n = A->m, .rb = 1, .cb = 1}};
  const CAMGSpace    ones  = {.block = 1, .columns = 1};
  CAMGMatrix         S     = {.i = NULL};
  CAMGTransfers      t     = {.plain = PETSC_FALSE};

  PetscFunctionBegin;
  if (!mg->matrix.symmetric) PetscCall((*kern->symmetricpart)(A, &S));
  PetscCall((*kern->pairs)(mg->matrix.symmetric ? A : &S, threshold, agg, aggregates));
  PetscCall((*kern->smooth)(&graph, NULL, &ones, agg, *aggregates, 0, &t.P));
  PetscCall((*kern->transpose)(&t.P, &t.R));
  PetscCall(Galerkin_Private(mg, A, &t, C));
  PetscCall(PCCAMGTransfersFree_Private(kern->memory, &t));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &S));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level by pairs of pairs, with constants as interpolation */
static PetscErrorCode PairTwice_Private(const PC_CAMG *mg, const Exact *e, PetscReal threshold, PetscInt agg[], CAMGTransfers *t, Exact *coarse)
{
  const CAMGKernels *kern  = mg->kernels;
  const PetscInt     n     = e->A.m;
  const CAMGGraph    graph = {.strong = {.m = n, .n = n, .rb = 1, .cb = 1}};
  CAMGMatrix         middle;
  PetscInt          *next, pairs, aggregates;

  PetscFunctionBegin;
  PetscCall(Pair_Private(mg, &e->A, threshold, agg, &pairs, &middle));
  PetscCall((*kern->memory->alloc)((size_t)pairs * sizeof(*next), (void **)&next));
  PetscCall(Pair_Private(mg, &middle, threshold, next, &aggregates, &coarse->A));
  PetscCall((*kern->compose)(n, next, agg));
  PetscCall((*kern->smooth)(&graph, NULL, &e->space, agg, aggregates, 0, &t->P));
  PetscCall((*kern->transpose)(&t->P, &t->R));
  t->plain      = PETSC_TRUE;
  coarse->space = e->space;
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &middle));
  PetscCall(PCCAMGFree_Private(mg, &next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P = T - M^-1 F T and, for a nonsymmetric matrix, R = (T - M^-1 F^H T)^H. F is the filtered matrix; blocks keep all entries */
static PetscErrorCode Interpolate_Private(const PC_CAMG *mg, const Exact *e, PetscReal threshold, const CAMGGraph *graph, PetscReal bound, const PetscInt agg[],
                                          PetscInt aggregates, CAMGTransfers *t)
{
  const CAMGKernels *kern = mg->kernels;
  CAMGGraph          own = {.d = NULL}, adjoint = {.d = NULL};
  const CAMGGraph    all     = {.strong = e->A};
  const CAMGGraph   *F       = e->space.block > 1 ? &all : (mg->matrix.symmetric ? graph : &own);
  PetscReal         *damping = NULL;
  CAMGMatrix         Q;

  PetscFunctionBegin;
  if (F == &own) PetscCall((*kern->filter)(&e->A, threshold, &own));
  if (mg->opt.nsmooths) {
    PetscCall((*kern->memory->alloc)((size_t)(e->A.m * e->A.rb) * sizeof(*damping), (void **)&damping));
    PetscCall((*kern->damping)(F, bound, damping));
  }
  PetscCall((*kern->smooth)(F, damping, &e->space, agg, aggregates, mg->opt.truncate, &t->P));
  if (mg->matrix.symmetric || !damping) PetscCall((*kern->transpose)(&t->P, &t->R));
  else {
    PetscCall((*kern->transposegraph)(F, &adjoint));
    PetscCall((*kern->smooth)(&adjoint, damping, &e->space, agg, aggregates, mg->opt.truncate, &Q));
    PetscCall((*kern->transpose)(&Q, &t->R));
    PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &Q));
    PetscCall(GraphFree_Private(mg, &adjoint));
  }
  PetscCall(GraphFree_Private(mg, &own));
  PetscCall(PCCAMGFree_Private(mg, &damping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The next level and the transfers to it. A graph with hubs fills the coarse matrix, whose products take long: then
   aggregates are pairs of pairs
*/
static PetscErrorCode Coarsen_Private(const PC_CAMG *mg, Exact *e, PetscReal threshold, PetscReal bound, CAMGTransfers *t, Exact *coarse)
{
  const CAMGKernels *kern = mg->kernels;
  CAMGGraph          graph;
  PetscInt          *agg, aggregates;

  PetscFunctionBegin;
  PetscCall((*kern->memory->alloc)((size_t)e->A.m * sizeof(*agg), (void **)&agg));
  PetscCall(PetscLogEventBegin(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCall(GetGraph_Private(mg, e, threshold, &graph));
  for (int k = 0; k < CAMG_THRESHOLDS && PCCAMGIsThresholdLarge_Private(e->A.m, e->A.nz, graph.strong.nz); k++) {
    PetscCall(GraphFree_Private(mg, &graph));
    threshold /= 4;
    PetscCall(GetGraph_Private(mg, e, threshold, &graph));
  }
  PetscCall((*kern->aggregate)(&graph, agg, &aggregates));
  PetscCall(PetscLogEventEnd(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCall(PetscLogEventBegin(PC_CAMGInterpolate, 0, 0, 0, 0));
  PetscCall((*kern->tentative)(&e->space, e->A.m, agg, aggregates, &coarse->space));
  PetscCall(Interpolate_Private(mg, e, threshold, &graph, bound, agg, aggregates, t));
  PetscCall(PetscLogEventEnd(PC_CAMGInterpolate, 0, 0, 0, 0));
  PetscCall(Galerkin_Private(mg, &e->A, t, &coarse->A));
  if (!e->space.vectors && coarse->A.nz > CAMG_FILL * (double)e->A.nz) {
    PetscCall(PCCAMGTransfersFree_Private(kern->memory, t));
    PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &coarse->A));
    PetscCall(PairTwice_Private(mg, e, threshold, agg, t, coarse));
  }
  PetscCall(PCCAMGFree_Private(mg, &agg));
  PetscCall(GraphFree_Private(mg, &graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next matrix by transfers of an earlier set-up */
static PetscErrorCode Recoarsen_Private(const PC_CAMG *mg, const Exact *e, CAMGTransfers *t, Exact *coarse)
{
  PetscFunctionBegin;
  coarse->space = (CAMGSpace){.block = t->block, .columns = mg->matrix.columns};
  PetscCall(Galerkin_Private(mg, &e->A, t, &coarse->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns, and entries */
static PetscInt Size(const CAMGMatrix *A)
{
  return A->m * A->rb;
}

static PetscInt64 Entries(const CAMGMatrix *A)
{
  return (PetscInt64)A->nz * A->rb * A->cb;
}

/* The dense inverse of the scaled coarsest level */
static PetscErrorCode Coarsest_Private(PC pc, const Exact *e)
{
  PC_CAMG       *mg = (PC_CAMG *)pc->data;
  const PetscInt n  = Size(&e->A);
  PetscScalar   *M;
  PetscBool      good, done = PETSC_FALSE;

  PetscFunctionBegin;
  if (mg->kernels->invert && mg->matrix.symmetric) {
    PetscCall(LitheMGCoarsestAlloc(n, PETSC_TRUE, mg->precision.single, mg->kernels->memory, &mg->coarsest));
    PetscCall((*mg->kernels->invert)(&e->A, e->s, &mg->coarsest, &done));
    if (!done) PetscCall(LitheMGCoarsestFree(&mg->coarsest));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((size_t)n * (size_t)n, &M));
  PetscCall((*mg->kernels->getdense)(&e->A, e->s, M));
  PetscCall(LitheMGCoarsestCreate(n, M, mg->matrix.symmetric, mg->precision.single, mg->kernels->memory, &mg->coarsest, &good));
  PetscCall(PetscFree(M));
  if (!good) PetscCall(PCCAMGFail_Private(pc, "the matrix has an entry that is infinite or not a number, or entries too large to be added"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Vectors_Private(PC_CAMG *mg, CAMGLevel *l, PetscInt n)
{
  const size_t bytes = (size_t)n * PCCAMGNumberBytes_Private(mg);

  PetscFunctionBegin;
  PetscCall((*mg->kernels->memory->alloc)(bytes, &l->b));
  for (int k = 0; k < 2; k++) PetscCall((*mg->kernels->memory->alloc)(bytes, &l->x[k]));
  l->op.m      = (int)n;
  l->op.rb     = 1;
  l->facts.n   = n;
  l->facts.all = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level in its final form */
static PetscErrorCode Encode_Private(PC_CAMG *mg, CAMGLevel *l, const Exact *e)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  PetscCall((*mg->kernels->encode)(&e->A, e->s, PCCAMGBits_Private(mg), (PetscBool)(mg->matrix.columns == 1), &l->op, &l->facts.bound));
  l->op.single = mg->precision.single;
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transfers to the next level, with scales next */
static PetscErrorCode EncodeTransfers_Private(PC_CAMG *mg, CAMGLevel *l, const Exact *e, const CAMGTransfers *t, const double next[])
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  PetscCall((*mg->kernels->encodetransfer)(&t->P, e->s, next, PETSC_FALSE, &l->prolong));
  PetscCall((*mg->kernels->encodetransfer)(&t->R, next, e->s, PETSC_TRUE, &l->restrict_));
  l->prolong.single = l->restrict_.single = mg->precision.single;
  l[1].facts.transfers                    = Entries(&t->P);
  l[1].facts.plain                        = t->plain;
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How a set-up ends */
static PetscErrorCode Last_Private(PC pc, const Exact *e, PetscBool small, PetscBool stalled)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "%s", small ? "small enough" : (stalled ? "no strong entries are left" : "-pc_camg_levels")));
  if (Size(&e->A) > PetscMax(PCCAMGCoarseSize_Private(mg), CAMG_DENSE)) {
    if (!mg->level[mg->n - 1].op.i) PetscCall(Encode_Private(mg, &mg->level[mg->n - 1], e));
  } else PetscCall(Coarsest_Private(pc, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels from a matrix on, which becomes level `first`. A and the space are in the memory of the kernels, and freed */
PetscErrorCode PCCAMGBuild_Private(PC pc, PetscInt first, CAMGMatrix *A, CAMGSpace *space)
{
  PC_CAMG           *mg        = (PC_CAMG *)pc->data;
  const CAMGKernels *kern      = mg->kernels;
  const PetscInt     most      = mg->opt.levels != PETSC_DECIDE ? mg->opt.levels : CAMG_LEVELS_MAX;
  Exact              e         = {.A = *A, .space = *space};
  PetscReal          threshold = mg->opt.threshold * PetscPowReal(mg->opt.thresholdscale, (PetscReal)first);
  const PetscBool    use       = (PetscBool)(mg->kept.state == CAMG_KEPT_USE);
  PetscBool          small = PETSC_FALSE, stalled = PETSC_FALSE;

  PetscFunctionBegin;
  if (!e.A.m) {
    PetscCall(ExactFree_Private(mg, &e));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  mg->matrix.columns = space->columns;
  PetscCall((*kern->memory->alloc)((size_t)Size(&e.A) * sizeof(*e.s), (void **)&e.s));
  PetscCall((*kern->scales)(&e.A, e.s));
  for (int side = 0; side < 2 && !first; side++) PetscCall((*kern->divide)(Size(&e.A), e.s, mg->units.outer[side]));
  for (mg->n = first + 1;; mg->n++, threshold *= mg->opt.thresholdscale) {
    CAMGLevel    *l    = &mg->level[mg->n - 1];
    Exact         next = {.s = NULL};
    CAMGTransfers t    = {.plain = PETSC_FALSE};

    l->facts.nz = Entries(&e.A);
    PetscCall(Vectors_Private(mg, l, Size(&e.A)));
    small = (PetscBool)(Size(&e.A) <= PCCAMGCoarseSize_Private(mg));
    if (small || mg->n == most) break;
    PetscCall(Encode_Private(mg, l, &e));
    stalled = (PetscBool)(use && mg->n > mg->kept.n);
    if (stalled) break;
    if (use) PetscCall(Recoarsen_Private(mg, &e, &mg->kept.level[mg->n - 1], &next));
    if (use) t = mg->kept.level[mg->n - 1];
    else PetscCall(Coarsen_Private(mg, &e, threshold, l->facts.bound, &t, &next));
    stalled = (PetscBool)(Size(&next.A) > CAMG_STALLED * Size(&e.A));
    if (!stalled) {
      PetscCall((*kern->memory->alloc)((size_t)Size(&next.A) * sizeof(*next.s), (void **)&next.s));
      PetscCall((*kern->scales)(&next.A, next.s));
      PetscCall(EncodeTransfers_Private(mg, l, &e, &t, next.s));
    }
    if (stalled) {
      PetscCall(PCCAMGTransfersFree_Private(kern->memory, &t));
      PetscCall(ExactFree_Private(mg, &next));
      break;
    }
    t.block = next.space.block;
    PetscCall(PCCAMGKeep_Private(mg, mg->n - 1, &t));
    PetscCall(ExactFree_Private(mg, &e));
    e = next;
  }
  PetscCall(Last_Private(pc, &e, small, stalled));
  PetscCall(ExactFree_Private(mg, &e));
  PetscFunctionReturn(PETSC_SUCCESS);
}
