/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The set-up of the levels of a PCCAMG */

#include "camgimpl.h"

#define CAMG_DENSE 2000 /* unknowns of a level without a next level, up to which it has a dense inverse */

/* On several processes */
#define CAMG_WHOLE 5000 /* unknowns up to which a level is whole on each process, or on each device: */
#define CAMG_LARGE 20000
#define CAMG_SLOW  3      /* times fewer unknowns, at least, on the next level, or this level is whole if possible: */
#define CAMG_MOST  200000 /* unknowns of a level that is whole because aggregates of a process are small */

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
static PetscErrorCode Coarsest_Private(PC pc, const CAMGExact *e)
{
  PC_CAMG       *mg = (PC_CAMG *)pc->data;
  const PetscInt n  = Size(&e->A);
  PetscScalar   *M;
  PetscBool      good, done = PETSC_FALSE;

  PetscFunctionBegin;
  if (mg->kernels->level.invert && mg->matrix.symmetric) {
    PetscCall(LitheMGCoarsestAlloc(n, PETSC_TRUE, mg->precision.single, mg->kernels->memory, &mg->coarsest));
    PetscCall((*mg->kernels->level.invert)(&e->A, e->s, &mg->coarsest, &done));
    if (!done) PetscCall(LitheMGCoarsestFree(&mg->coarsest));
  }
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((size_t)n * (size_t)n, &M));
  PetscCall((*mg->kernels->level.getdense)(&e->A, e->s, M));
  PetscCall(LitheMGCoarsestCreate(n, M, mg->matrix.symmetric, mg->precision.single, mg->kernels->memory, &mg->coarsest, &good));
  PetscCall(PetscFree(M));
  if (!good) PetscCall(PCCAMGFail_Private(pc, "the matrix has an entry that is infinite or not a number, or entries too large to be added"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales, and room for ghosts of the near null space */
static PetscErrorCode Open_Private(const PC_CAMG *mg, CAMGExact *e)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const size_t          row    = (size_t)(e->space.block * e->space.columns) * sizeof(PetscScalar);
  PetscInt64            all    = Size(&e->A);
  void                 *T;

  PetscFunctionBegin;
  PetscCall(PCCAMGGhostsSum_Private(&e->ghosts, 1, &all));
  e->all = (PetscInt)all;
  PetscCall((*memory->alloc)((size_t)(e->A.n * e->A.cb) * sizeof(*e->s), (void **)&e->s));
  PetscCall((*mg->kernels->level.scales)(&e->A, e->s));
  PetscCall(PCCAMGGhostsGet_Private(&e->ghosts, memory, (size_t)e->A.cb * sizeof(*e->s), e->s));
  if (!e->ghosts.sf || !e->space.T) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCCAMGGrow_Private(mg, (size_t)e->A.m * row, (size_t)e->A.n * row, e->space.T, &T));
  PetscCall(PCCAMGFree_Private(mg, &e->space.T));
  e->space.T = (PetscScalar *)T;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors with room for ghosts, those of the interpolation to this level, too; facts */
static PetscErrorCode Vectors_Private(const PC_CAMG *mg, CAMGLevel *l, const CAMGExact *e, PetscInt ghosts)
{
  const size_t number = PCCAMGNumberBytes_Private(mg), n = (size_t)Size(&e->A);
  PetscInt64   nz = Entries(&e->A);

  PetscFunctionBegin;
  PetscCall(PCCAMGGhostsSum_Private(&e->ghosts, 1, &nz));
  l->ghosts    = PetscMax(ghosts, e->ghosts.columns.n * e->A.cb);
  l->op.m      = (int)n;
  l->op.rb     = 1;
  l->facts.n   = (PetscInt)n;
  l->facts.all = e->all;
  l->facts.nz  = nz;
  PetscCall((*mg->kernels->memory->alloc)(n * number, &l->b));
  for (int k = 0; k < 2; k++) PetscCall((*mg->kernels->memory->alloc)((n + (size_t)l->ghosts) * number, &l->x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts of a vector that is made during the set-up: by the exchange of the level if it has such numbers */
typedef struct {
  const PC_CAMG    *mg;
  const CAMGLevel  *l;
  const CAMGMatrix *A;
  const CAMGGhosts *ghosts;
} Share;

static PetscErrorCode ShareGet_Private(void *ctx, size_t bytes, void *x)
{
  const Share    *s      = (const Share *)ctx;
  const PetscBool device = (PetscBool)(s->mg->kernels->memory != &LitheHostMemory);

  PetscFunctionBegin;
  if (bytes == PCCAMGNumberBytes_Private(s->mg) && device == s->mg->device) PetscCall(PCCAMGHaloGet_Private(s->mg, &s->l->halo[0], x));
  else PetscCall(PCCAMGGhostsGet_Private(s->ghosts, s->mg->kernels->memory, (size_t)s->A->cb * bytes, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShareSum_Private(void *ctx, double *a)
{
  const Share *s = (const Share *)ctx;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, a, 1, MPI_DOUBLE, MPI_SUM, s->ghosts->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level in its final form */
static PetscErrorCode Encode_Private(const PC_CAMG *mg, CAMGLevel *l, const CAMGExact *e)
{
  Share           s     = {.mg = mg, .l = l, .A = &e->A, .ghosts = &e->ghosts};
  const CAMGShare share = {.get = ShareGet_Private, .sum = ShareSum_Private, .ctx = e->ghosts.sf ? &s : NULL};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  if (e->ghosts.sf) PetscCall(PCCAMGHaloCreate_Private(mg, &e->ghosts, e->A.cb, &l->halo[0]));
  PetscCall((*mg->kernels->level.encode)(&e->A, e->s, PCCAMGBits_Private(mg), (PetscBool)(mg->matrix.columns == 1), &share, &l->op, &l->facts.bound));
  l->op.single = mg->precision.single;
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S^-1 A S^-1, as a restriction with the scales S and S^-1 */
static PetscErrorCode EncodeFine_Private(PC_CAMG *mg, const CAMGExact *e)
{
  const PetscInt n = e->A.n * e->A.cb;
  double        *inverse;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  PetscCall((*mg->kernels->memory->alloc)((size_t)n * sizeof(*inverse), (void **)&inverse));
  PetscCall((*mg->kernels->matrix.setouter)(n, NULL, inverse));
  PetscCall((*mg->kernels->matrix.divide)(n, e->s, inverse));
  PetscCall((*mg->kernels->level.encodetransfer)(&e->A, e->s, inverse, PETSC_TRUE, &mg->fine.op));
  mg->fine.op.single = mg->precision.single;
  mg->fine.there     = PETSC_TRUE;
  if (mg->matrix.columns == 1) {
    PetscCall((*mg->kernels->memory->alloc)((size_t)Size(&e->A) * sizeof(float) * sizeof(PetscScalar) / sizeof(PetscReal), &mg->fine.op.d));
    PetscCall((*mg->kernels->level.rounding)(&e->A, e->s, mg->fine.op.d));
  }
  PetscCall(PCCAMGFree_Private(mg, &inverse));
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The interpolation has the rows of this process. Its columns are own ones and ghosts, or all of a level that is whole
*/
static PetscErrorCode EncodeProlong_Private(const PC_CAMG *mg, CAMGLevel *l, const CAMGExact *e, const CAMGTransfers *t, const CAMGExact *next)
{
  const CAMGGhosts *g = &t->prolong;
  CAMGMatrix        P = t->P;
  double           *s = next->s;
  PetscInt         *number;

  PetscFunctionBegin;
  P.m  = e->A.m;
  P.nz = t->nz;
  if (e->ghosts.sf && next->ghosts.sf) {
    const size_t row = (size_t)P.cb * sizeof(double), own = (size_t)g->columns.own * row;

    PetscCall(PCCAMGHaloCreate_Private(mg, g, P.cb, &l->halo[1]));
    PetscCall(PCCAMGGrow_Private(mg, own, own + (size_t)g->columns.n * row, next->s, (void **)&s));
    PetscCall(PCCAMGGhostsGet_Private(g, mg->kernels->memory, row, s));
  } else if (e->ghosts.sf) {
    PetscCall((*mg->kernels->memory->alloc)((size_t)P.nz * sizeof(*P.j), (void **)&P.j));
    PetscCall((*mg->kernels->memory->copy)((size_t)P.nz * sizeof(*P.j), t->P.j, P.j));
    PetscCall(PCCAMGColumnNumbers_Private(mg, &t->columns, &number));
    PetscCall((*mg->kernels->matrix.renumber)(&P, 0, number));
    P.n = next->A.m;
    PetscCall(PCCAMGFree_Private(mg, &number));
  }
  PetscCall((*mg->kernels->level.encodetransfer)(&P, e->s, s, PETSC_FALSE, &l->prolong));
  if (P.j != t->P.j) PetscCall(PCCAMGFree_Private(mg, &P.j));
  if (s != next->s) PetscCall(PCCAMGFree_Private(mg, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transfers to the next level. own: scales of the rows of the restriction */
static PetscErrorCode EncodeTransfers_Private(const PC_CAMG *mg, CAMGLevel *l, const CAMGExact *e, const CAMGTransfers *t, const CAMGExact *next,
                                              const double own[])
{
  PetscInt64 transfers = (PetscInt64)t->nz * t->P.rb * t->P.cb;
  CAMGMatrix R         = t->R;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  PetscCall(EncodeProlong_Private(mg, l, e, t, next));
  if (e->ghosts.sf) R.m = t->rows.columns.own;
  if (e->ghosts.sf) PetscCall((*mg->kernels->memory->get)(sizeof(R.nz), R.i + R.m, &R.nz));
  PetscCall((*mg->kernels->level.encodetransfer)(&R, own, e->s, PETSC_TRUE, &l->restrict_));
  PetscCall(PCCAMGGhostsSum_Private(&e->ghosts, 1, &transfers));
  l->prolong.single = l->restrict_.single = mg->precision.single;
  l[1].facts.transfers                    = transfers;
  l[1].facts.plain                        = t->plain;
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The level becomes whole on each process, with the right-hand side gathered from own parts. The caller frees old
   scales
*/
static PetscErrorCode MakeWhole_Private(PC_CAMG *mg, CAMGExact *e)
{
  const PetscInt block = e->A.rb;
  CAMGColumns    all   = {.own = e->A.m, .first = e->ghosts.columns.first, .n = e->all / block};
  CAMGGhosts     gather;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all.n, &all.id));
  for (PetscInt k = 0; k < all.n; k++) all.id[k] = k;
  PetscCall(PCCAMGGhostsCreate_Private(e->ghosts.comm, &all, &gather));
  PetscCall(PCCAMGHaloCreate_Private(mg, &gather, block, &mg->whole.gather));
  PetscCall(PCCAMGGhostsFree_Private(&gather));
  PetscCall((*mg->kernels->memory->alloc)((size_t)Size(&e->A) * PCCAMGNumberBytes_Private(mg), &mg->whole.part));
  PetscCall(PCCAMGMakeWhole_Private(mg, &e->ghosts, &e->A, &e->space));
  PetscCall(PCCAMGGhostsFree_Private(&e->ghosts));
  PetscCall(Open_Private(mg, e));
  mg->whole.first = mg->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a level of several processes becomes whole: if it is small, or if aggregates of a process are small */
static PetscBool IsWhole(const PC_CAMG *mg, const CAMGExact *e, const CAMGExact *next)
{
  const PetscInt most = mg->kernels->memory == &LitheHostMemory ? CAMG_WHOLE : CAMG_LARGE;

  if (!next->ghosts.sf) return PETSC_FALSE;
  return (PetscBool)(next->all <= PetscMax(most, PCCAMGCoarseSize_Private(mg)) || (next->all > e->all / CAMG_SLOW && next->all <= CAMG_MOST));
}

/* The next level and the transfers to it; *stalled: there is none */
static PetscErrorCode Next_Private(PC_CAMG *mg, CAMGExact *e, PetscReal threshold, CAMGExact *next, PetscBool *stalled)
{
  CAMGLevel      *l   = &mg->level[mg->n - 1];
  const PetscBool use = (PetscBool)(mg->kept.state == CAMG_KEPT_USE);
  CAMGTransfers   t   = {.plain = PETSC_FALSE};
  PetscBool       whole;
  double         *own;

  PetscFunctionBegin;
  *stalled = (PetscBool)(use && mg->n > mg->kept.n);
  if (*stalled) PetscFunctionReturn(PETSC_SUCCESS);
  if (use) {
    PetscCall(PCCAMGRecoarsen_Private(mg, e, &mg->kept.level[mg->n - 1], next));
    t = mg->kept.level[mg->n - 1];
  } else PetscCall(PCCAMGCoarsen_Private(mg, e, threshold, l->facts.bound, &t, next));
  PetscCall(Open_Private(mg, next));
  whole    = IsWhole(mg, e, next);
  *stalled = (PetscBool)(!next->all || (next->all > CAMG_STALLED * e->all && !whole));
  if (*stalled) {
    if (!use) PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &t));
    PetscCall(PCCAMGExactFree_Private(mg, next));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  own = next->s;
  if (whole) PetscCall(MakeWhole_Private(mg, next));
  PetscCall(EncodeTransfers_Private(mg, l, e, &t, next, own));
  if (whole) PetscCall(PCCAMGFree_Private(mg, &own));
  t.block = next->space.block;
  PetscCall(PCCAMGKeep_Private(mg, mg->n - 1, &t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How a set-up ends */
static PetscErrorCode Last_Private(PC pc, const CAMGExact *e, PetscBool small, PetscBool stalled)
{
  PC_CAMG *mg = (PC_CAMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "%s", small ? "small enough" : (stalled ? "no strong entries are left" : "-pc_camg_levels")));
  if (e->ghosts.sf || Size(&e->A) > PetscMax(PCCAMGCoarseSize_Private(mg), CAMG_DENSE)) {
    if (!mg->level[mg->n - 1].op.i) PetscCall(Encode_Private(mg, &mg->level[mg->n - 1], e));
  } else PetscCall(Coarsest_Private(pc, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels from the finest matrix on. A, its ghosts and the space are in the memory of the kernels, and freed */
PetscErrorCode PCCAMGBuild_Private(PC pc, CAMGMatrix *A, CAMGGhosts *ghosts, CAMGSpace *space)
{
  PC_CAMG       *mg        = (PC_CAMG *)pc->data;
  const PetscInt most      = mg->opt.levels != PETSC_DECIDE ? mg->opt.levels : CAMG_LEVELS_MAX;
  CAMGExact      e         = {.A = *A, .ghosts = *ghosts, .space = *space};
  PetscReal      threshold = mg->opt.threshold;
  PetscBool      small = PETSC_FALSE, stalled = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Open_Private(mg, &e));
  for (int side = 0; side < 2; side++) PetscCall((*mg->kernels->matrix.divide)(Size(&e.A), e.s, mg->units.outer[side]));
  for (mg->n = 1;; mg->n++, threshold *= mg->opt.thresholdscale) {
    CAMGLevel *l    = &mg->level[mg->n - 1];
    CAMGExact  next = {.s = NULL};

    PetscCall(Vectors_Private(mg, l, &e, mg->n > 1 ? l[-1].halo[1].n : 0));
    small = (PetscBool)(!e.ghosts.sf && e.all <= PCCAMGCoarseSize_Private(mg));
    if (small || mg->n == most) break;
    PetscCall(Encode_Private(mg, l, &e));
    if (mg->n == 1 && mg->fine.wanted && mg->precision.single) PetscCall(EncodeFine_Private(mg, &e));
    PetscCall(Next_Private(mg, &e, threshold, &next, &stalled));
    if (stalled) break;
    PetscCall(PCCAMGExactFree_Private(mg, &e));
    e = next;
  }
  PetscCall(Last_Private(pc, &e, small, stalled));
  PetscCall((*mg->kernels->memory->alloc)(sizeof(double), (void **)&mg->units.scale));
  PetscCall(PCCAMGExactFree_Private(mg, &e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OperatorFree_Private(const PC_CAMG *mg, CAMGOperator *op)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGFree_Private(mg, &op->i));
  PetscCall(PCCAMGFree_Private(mg, &op->j));
  PetscCall(PCCAMGFree_Private(mg, &op->base));
  PetscCall(PCCAMGFree_Private(mg, &op->code));
  PetscCall(PCCAMGFree_Private(mg, &op->d));
  PetscCall(PCCAMGFree_Private(mg, &op->minv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All but what is kept for the next set-up, and exchanges, which may serve again */
PetscErrorCode PCCAMGLevelsFree_Private(PC_CAMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->n; k++) {
    CAMGLevel      *l    = &mg->level[k];
    const CAMGLevel last = *l;

    PetscCall(OperatorFree_Private(mg, &l->op));
    PetscCall(OperatorFree_Private(mg, &l->prolong));
    PetscCall(OperatorFree_Private(mg, &l->restrict_));
    PetscCall(PCCAMGFree_Private(mg, &l->b));
    for (int v = 0; v < 2; v++) PetscCall(PCCAMGFree_Private(mg, &l->x[v]));
    PetscCall(PetscMemzero(l, sizeof(*l)));
    for (int h = 0; h < 2; h++) PetscCall(PCCAMGHaloOffer_Private(&last.halo[h], &l->halo[h]));
  }
  PetscCall(OperatorFree_Private(mg, &mg->fine.op));
  mg->fine.op    = (CAMGOperator){.m = 0};
  mg->fine.there = PETSC_FALSE;
  for (int side = 0; side < 2; side++) PetscCall(PCCAMGFree_Private(mg, &mg->units.outer[side]));
  PetscCall(PCCAMGFree_Private(mg, &mg->units.scale));
  PetscCall(PCCAMGFree_Private(mg, &mg->whole.part));
  PetscCall(PCCAMGHaloFree_Private(&mg->whole.gather));
  mg->whole.first = 0;
  PetscCall(LitheMGForget(&mg->record));
  for (int v = 0; v < 2; v++) PetscCall(VecDestroy(&mg->work[v]));
  PetscCall(LitheMGCoarsestFree(&mg->coarsest));
  mg->n     = 0;
  mg->built = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves all arrays of the levels, from the host to the memory of other kernels */
PetscErrorCode PCCAMGMoveArrays_Private(PC_CAMG *mg, PetscErrorCode (*move)(void *pointer, size_t bytes))
{
  const size_t number = PCCAMGNumberBytes_Private(mg);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->n; k++) {
    CAMGLevel   *l = &mg->level[k];
    const size_t n = (size_t)l->facts.n;

    PetscCall((*move)(&l->b, n * number));
    for (int v = 0; v < 2; v++) PetscCall((*move)(&l->x[v], (n + (size_t)l->ghosts) * number));
  }
  for (int side = 0; side < 2; side++) PetscCall((*move)(&mg->units.outer[side], (size_t)mg->level[0].facts.n * sizeof(double)));
  PetscCall((*move)(&mg->units.scale, sizeof(double)));
  PetscCall((*move)(&mg->whole.part, (size_t)mg->whole.gather.own * number));
  PetscFunctionReturn(PETSC_SUCCESS);
}
