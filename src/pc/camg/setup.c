/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The set-up of the levels of a PCCAMG */

#include "camgimpl.h"

#define CAMG_FILL  1.5  /* entries of a coarse level over those of its fine level: beyond this aggregates are pairs of pairs */
#define CAMG_DENSE 2000 /* unknowns of a level without a next level, up to which it has a dense inverse */

/* On several processes */
#define CAMG_WHOLE 5000 /* unknowns up to which a level is whole on each process, or on each device: */
#define CAMG_LARGE 20000
#define CAMG_SLOW  3      /* times fewer unknowns, at least, on the next level, or this level is whole if possible: */
#define CAMG_MOST  200000 /* unknowns of a level that is whole because aggregates of a process are small */

/* What one level hands to the next: exact entries, ghosts, scales, near null space. The last two have room for ghosts */
typedef struct {
  CAMGMatrix A;
  CAMGGhosts ghosts;
  CAMGSpace  space;
  double    *s;
  PetscInt   all; /* unknowns of all processes */
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
  PetscCall(PCCAMGGhostsFree_Private(&e->ghosts));
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

/* Rows and columns of unknowns of C = R A P that are null vectors of A become 0 */
static PetscErrorCode Clean_Private(const PC_CAMG *mg, const CAMGMatrix *A, const CAMGGhosts *g, const CAMGMatrix *R, CAMGMatrix *C, const CAMGGhosts *coarse)
{
  const CAMGKernels *kern = mg->kernels;
  PetscReal         *d;
  unsigned char     *null;
  PetscBool          any;

  PetscFunctionBegin;
  PetscCall((*kern->memory->alloc)((size_t)(A->n * A->cb) * sizeof(*d), (void **)&d));
  PetscCall((*kern->memory->alloc)((size_t)(C->n * C->cb), (void **)&null));
  PetscCall((*kern->moduli)(A, d));
  PetscCall(PCCAMGGhostsGet_Private(g, kern->memory, (size_t)A->cb * sizeof(*d), d));
  PetscCall((*kern->findnull)(R, d, C, null, &any));
  if (g->sf) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &any, 1, MPI_C_BOOL, MPI_LOR, g->comm));
  if (any) {
    PetscCall(PCCAMGGhostsGet_Private(coarse, kern->memory, (size_t)C->cb, null));
    PetscCall((*kern->clearnull)(null, C));
  }
  PetscCall(PCCAMGFree_Private(mg, &d));
  PetscCall(PCCAMGFree_Private(mg, &null));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A with rows of ghosts, which are empty: i gets the starts */
static PetscErrorCode AddEmptyRows_Private(const PC_CAMG *mg, const CAMGMatrix *A, CAMGMatrix *all)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const PetscInt        n      = A->n - A->m;
  PetscInt             *ends;

  PetscFunctionBegin;
  *all   = *A;
  all->m = A->n;
  PetscCall((*memory->alloc)(((size_t)A->n + 1) * sizeof(*A->i), (void **)&all->i));
  PetscCall((*memory->copy)(((size_t)A->m + 1) * sizeof(*A->i), A->i, all->i));
  PetscCall(PetscMalloc1(n, &ends));
  for (PetscInt k = 0; k < n; k++) ends[k] = A->nz;
  PetscCall((*memory->put)((size_t)n * sizeof(*ends), ends, all->i + A->m + 1));
  PetscCall(PetscFree(ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* R A P. Each process has the products of its own rows of A, and adds those that others have */
static PetscErrorCode Galerkin_Private(const PC_CAMG *mg, const Exact *e, CAMGTransfers *t, Exact *coarse)
{
  const PetscBool keep = (PetscBool)(mg->kept.state != CAMG_KEPT_NOT && mg->kernels->memory != &LitheHostMemory);
  CAMGColumns     columns;
  CAMGMatrix      A = e->A, AP;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGProduct, 0, 0, 0, 0));
  PetscCall(PCCAMGColumnsCopy_Private(&t->columns, &columns));
  if (e->ghosts.sf) PetscCall(AddEmptyRows_Private(mg, &e->A, &A));
  PetscCall(Multiply_Private(mg, &A, &t->P, keep ? &t->product[0] : NULL, &AP));
  PetscCall(Multiply_Private(mg, &t->R, &AP, keep ? &t->product[1] : NULL, &coarse->A));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &AP));
  if (e->ghosts.sf) PetscCall(PCCAMGFree_Private(mg, &A.i));
  PetscCall(PCCAMGReturn_Private(mg, &t->rows, &coarse->A, &t->columns, &columns));
  if (t->map) {
    PetscCall((*mg->kernels->renumber)(&coarse->A, columns.own, t->map));
    coarse->A.n = columns.own + t->coarse.columns.n;
    PetscCall(PetscFree(columns.id));
  } else {
    PetscCall(PCCAMGCompress_Private(mg, &coarse->A, &columns, &t->map));
    PetscCall(PCCAMGGhostsCreate_Private(e->ghosts.comm, &columns, &t->coarse));
  }
  PetscCall(PCCAMGGhostsCopy_Private(&t->coarse, &coarse->ghosts));
  PetscCall(Clean_Private(mg, &e->A, &e->ghosts, &t->R, &coarse->A, &coarse->ghosts));
  PetscCall(PetscLogEventEnd(PC_CAMGProduct, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The filtered matrix of A */
static PetscErrorCode Filter_Private(const PC_CAMG *mg, const CAMGMatrix *A, const CAMGGhosts *g, PetscReal threshold, CAMGGraph *graph)
{
  PetscReal *root;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->memory->alloc)((size_t)A->n * sizeof(*root), (void **)&root));
  PetscCall((*mg->kernels->roots)(A, root));
  PetscCall(PCCAMGGhostsGet_Private(g, mg->kernels->memory, sizeof(*root), root));
  PetscCall((*mg->kernels->filter)(A, root, threshold, graph));
  PetscCall(PCCAMGFree_Private(mg, &root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (A + A^H) / 2, and its ghosts */
static PetscErrorCode SymmetricPart_Private(const PC_CAMG *mg, const CAMGMatrix *A, const CAMGGhosts *g, CAMGMatrix *S, CAMGGhosts *ghosts)
{
  CAMGColumns columns;
  CAMGMatrix  H;

  PetscFunctionBegin;
  PetscCall(PCCAMGAdjoint_Private(mg, g, A, &H, &columns));
  PetscCall((*mg->kernels->mean)(A, &H, S));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &H));
  PetscCall(PCCAMGGhostsCreate_Private(g->comm, &columns, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Strong entries between nodes: of A, of its Hermitian part, or of norms of blocks */
static PetscErrorCode GetGraph_Private(const PC_CAMG *mg, const Exact *e, PetscReal threshold, CAMGGraph *graph)
{
  CAMGMatrix        N = {.i = NULL}, S = {.i = NULL};
  CAMGGhosts        ghosts = {.sf = NULL};
  const CAMGMatrix *A      = &e->A;
  const CAMGGhosts *g      = &e->ghosts;

  PetscFunctionBegin;
  if (e->space.block > 1) {
    PetscCall((*mg->kernels->norms)(A, &N));
    A = &N;
  }
  if (!mg->matrix.symmetric) {
    PetscCall(SymmetricPart_Private(mg, A, g, &S, &ghosts));
    A = &S;
    g = &ghosts;
  }
  PetscCall(Filter_Private(mg, A, g, threshold, graph));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &N));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &S));
  PetscCall(PCCAMGGhostsFree_Private(&ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A with rows of this process only: ghosts become the row itself. The other arrays are those of A */
static PetscErrorCode TurnGhosts_Private(const PC_CAMG *mg, const CAMGMatrix *A, CAMGMatrix *own)
{
  PetscFunctionBegin;
  *own = *A;
  if (A->n == A->m) PetscFunctionReturn(PETSC_SUCCESS);
  own->n = A->m;
  PetscCall((*mg->kernels->memory->alloc)((size_t)A->nz * sizeof(PetscInt), (void **)&own->j));
  PetscCall((*mg->kernels->turn)(A, own->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TurnFree_Private(const PC_CAMG *mg, const CAMGMatrix *A, CAMGMatrix *own)
{
  PetscFunctionBegin;
  if (own->j != A->j) PetscCall(PCCAMGFree_Private(mg, &own->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* R = Q^H, of an interpolation Q that has rows of ghosts, too. g: columns of the own rows of Q */
static PetscErrorCode Restriction_Private(const PC_CAMG *mg, const CAMGMatrix *Q, const CAMGGhosts *g, CAMGTransfers *t)
{
  CAMGMatrix *R = &t->R;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->transpose)(Q, R));
  PetscCall(PCCAMGGhostsCopy_Private(g, &t->rows));
  if (!g->sf) PetscFunctionReturn(PETSC_SUCCESS);
  R->m = g->columns.own + g->columns.n; /* columns of rows of ghosts are the last ones */
  PetscCall((*mg->kernels->memory->get)(sizeof(R->nz), R->i + R->m, &R->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants on aggregates, or the columns of T; damping and F: see CAMGKernels. Rows of ghosts g follow those of P */
static PetscErrorCode Smooth_Private(const PC_CAMG *mg, const CAMGGraph *F, const CAMGGhosts *f, const PetscReal *damping, CAMGSpace *space,
                                     PetscInt aggregates, PetscInt agg[], const CAMGGhosts *g, CAMGTransfers *t)
{
  CAMGColumns own;

  PetscFunctionBegin;
  PetscCall(PCCAMGShareAggregates_Private(mg, f, aggregates, agg, &t->columns));
  if (space->vectors) PetscCall(PCCAMGGhostsGet_Private(f, mg->kernels->memory, (size_t)(space->block * space->columns) * sizeof(PetscScalar), space->T));
  PetscCall((*mg->kernels->smooth)(F, damping, space, agg, aggregates + t->columns.n, mg->opt.truncate, &t->P));
  t->nz = t->P.nz;
  PetscCall(PCCAMGColumnsCopy_Private(&t->columns, &own));
  PetscCall(PCCAMGGhostsCreate_Private(g->comm, &own, &t->prolong));
  PetscCall(PCCAMGFetch_Private(mg, g, &t->P, &t->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P = T, and its adjoint, for a matrix of these rows */
static PetscErrorCode Plain_Private(const PC_CAMG *mg, const Exact *e, PetscInt aggregates, PetscInt agg[], CAMGTransfers *t)
{
  const CAMGGraph graph = {.strong = {.m = e->A.m, .n = e->A.m, .rb = 1, .cb = 1}};
  CAMGSpace       ones  = {.block = 1, .columns = 1};

  PetscFunctionBegin;
  PetscCall(Smooth_Private(mg, &graph, &e->ghosts, NULL, &ones, aggregates, agg, &e->ghosts, t));
  PetscCall(Restriction_Private(mg, &t->P, &t->prolong, t));
  t->plain = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pairs of the vertices of A, and the Galerkin product with constants on pairs */
static PetscErrorCode Pair_Private(const PC_CAMG *mg, const Exact *e, PetscReal threshold, PetscInt agg[], PetscInt *aggregates, Exact *coarse)
{
  CAMGMatrix    S      = {.i = NULL}, own;
  CAMGGhosts    ghosts = {.sf = NULL};
  CAMGTransfers t      = {.plain = PETSC_FALSE};

  PetscFunctionBegin;
  if (!mg->matrix.symmetric) PetscCall(SymmetricPart_Private(mg, &e->A, &e->ghosts, &S, &ghosts));
  PetscCall(TurnGhosts_Private(mg, mg->matrix.symmetric ? &e->A : &S, &own));
  PetscCall((*mg->kernels->pairs)(&own, threshold, agg, aggregates));
  PetscCall(TurnFree_Private(mg, mg->matrix.symmetric ? &e->A : &S, &own));
  PetscCall(Plain_Private(mg, e, *aggregates, agg, &t));
  PetscCall(Galerkin_Private(mg, e, &t, coarse));
  PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &t));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &S));
  PetscCall(PCCAMGGhostsFree_Private(&ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level by pairs of pairs, with constants as interpolation */
static PetscErrorCode PairTwice_Private(const PC_CAMG *mg, const Exact *e, PetscReal threshold, PetscInt agg[], CAMGTransfers *t, Exact *coarse)
{
  const CAMGKernels *kern   = mg->kernels;
  Exact              middle = {.s = NULL};
  PetscInt          *next, pairs, aggregates;

  PetscFunctionBegin;
  PetscCall(Pair_Private(mg, e, threshold, agg, &pairs, &middle));
  PetscCall((*kern->memory->alloc)((size_t)middle.A.n * sizeof(*next), (void **)&next));
  PetscCall(Pair_Private(mg, &middle, threshold, next, &aggregates, coarse));
  PetscCall((*kern->compose)(e->A.m, next, agg));
  PetscCall(Plain_Private(mg, e, aggregates, agg, t));
  coarse->space = e->space;
  PetscCall(ExactFree_Private(mg, &middle));
  PetscCall(PCCAMGFree_Private(mg, &next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of agg or T with room for n numbers, for the ghosts of another matrix */
static PetscErrorCode Grow_Private(const PC_CAMG *mg, size_t own, size_t n, const void *x, void **y)
{
  PetscFunctionBegin;
  *y = NULL;
  if (!x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->alloc)(n, y));
  PetscCall((*mg->kernels->memory->copy)(own, x, *y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* R = (T - M^-1 F^H T)^H */
static PetscErrorCode Adjoint_Private(const PC_CAMG *mg, const Exact *e, const CAMGGraph *F, const PetscReal damping[], PetscInt aggregates,
                                      const PetscInt agg[], CAMGTransfers *t)
{
  const size_t  m = (size_t)e->A.m, row = (size_t)(e->space.block * e->space.columns) * sizeof(PetscScalar);
  CAMGGraph     H     = {.d = NULL};
  CAMGTransfers q     = {.plain = PETSC_FALSE};
  CAMGSpace     space = e->space;
  CAMGColumns   columns;
  CAMGGhosts    ghosts;
  PetscInt     *there;

  PetscFunctionBegin;
  PetscCall(PCCAMGAdjoint_Private(mg, &e->ghosts, &F->strong, &H.strong, &columns));
  PetscCall(PCCAMGGhostsCreate_Private(e->ghosts.comm, &columns, &ghosts));
  if (F->d) {
    PetscCall((*mg->kernels->memory->alloc)(m * sizeof(*H.d), (void **)&H.d));
    PetscCall((*mg->kernels->conjugate)(e->A.m, F->d, H.d));
  }
  PetscCall(Grow_Private(mg, m * sizeof(*there), (size_t)H.strong.n * sizeof(*there), agg, (void **)&there));
  PetscCall(Grow_Private(mg, m * row, (size_t)H.strong.n * row, e->space.T, (void **)&space.T));
  PetscCall(Smooth_Private(mg, &H, &ghosts, damping, &space, aggregates, there, &e->ghosts, &q));
  PetscCall(Restriction_Private(mg, &q.P, &q.prolong, t));
  PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &q));
  PetscCall(GraphFree_Private(mg, &H));
  PetscCall(PCCAMGGhostsFree_Private(&ghosts));
  PetscCall(PCCAMGFree_Private(mg, &there));
  PetscCall(PCCAMGFree_Private(mg, &space.T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P = T - M^-1 F T and, for a nonsymmetric matrix, R = (T - M^-1 F^H T)^H. F is the filtered matrix; blocks keep all entries */
static PetscErrorCode Interpolate_Private(const PC_CAMG *mg, Exact *e, PetscReal threshold, const CAMGGraph *graph, PetscReal bound, PetscInt agg[],
                                          PetscInt aggregates, CAMGTransfers *t)
{
  const CAMGKernels *kern    = mg->kernels;
  CAMGGraph          own     = {.d = NULL};
  const CAMGGraph    all     = {.strong = e->A};
  const CAMGGraph   *F       = e->space.block > 1 ? &all : (mg->matrix.symmetric ? graph : &own);
  PetscReal         *damping = NULL;

  PetscFunctionBegin;
  if (F == &own) PetscCall(Filter_Private(mg, &e->A, &e->ghosts, threshold, &own));
  if (mg->opt.nsmooths) {
    PetscCall((*kern->memory->alloc)((size_t)(e->A.m * e->A.rb) * sizeof(*damping), (void **)&damping));
    PetscCall((*kern->damping)(F, bound, damping));
  }
  PetscCall(Smooth_Private(mg, F, &e->ghosts, damping, &e->space, aggregates, agg, &e->ghosts, t));
  if (mg->matrix.symmetric || !damping) PetscCall(Restriction_Private(mg, &t->P, &t->prolong, t));
  else PetscCall(Adjoint_Private(mg, e, F, damping, aggregates, agg, t));
  PetscCall(GraphFree_Private(mg, &own));
  PetscCall(PCCAMGFree_Private(mg, &damping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over all processes */
static PetscErrorCode Sum_Private(const CAMGGhosts *g, int n, PetscInt64 a[])
{
  PetscFunctionBegin;
  if (g->sf) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, a, n, MPIU_INT64, MPI_SUM, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The threshold is lowered where few entries are strong */
static PetscErrorCode GetStrong_Private(const PC_CAMG *mg, const Exact *e, PetscReal *threshold, CAMGGraph *graph)
{
  PetscFunctionBegin;
  PetscCall(GetGraph_Private(mg, e, *threshold, graph));
  for (int k = 0; k < CAMG_THRESHOLDS; k++) {
    PetscInt64 count[3] = {e->A.m, e->A.nz, graph->strong.nz};

    PetscCall(Sum_Private(&e->ghosts, 3, count));
    if (!PCCAMGIsThresholdLarge_Private(count[0], count[1], count[2])) break;
    PetscCall(GraphFree_Private(mg, graph));
    *threshold /= 4;
    PetscCall(GetGraph_Private(mg, e, *threshold, graph));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The next level and the transfers to it. A graph with hubs fills the coarse matrix, whose products take long: then
   aggregates are pairs of pairs
*/
static PetscErrorCode Coarsen_Private(const PC_CAMG *mg, Exact *e, PetscReal threshold, PetscReal bound, CAMGTransfers *t, Exact *coarse)
{
  const CAMGKernels *kern = mg->kernels;
  CAMGGraph          graph, own = {.d = NULL};
  PetscInt          *agg, aggregates;
  PetscInt64         count[2];

  PetscFunctionBegin;
  PetscCall((*kern->memory->alloc)((size_t)e->A.n * sizeof(*agg), (void **)&agg));
  PetscCall(PetscLogEventBegin(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCall(GetStrong_Private(mg, e, &threshold, &graph));
  PetscCall(TurnGhosts_Private(mg, &graph.strong, &own.strong));
  PetscCall((*kern->aggregate)(&own, agg, &aggregates));
  PetscCall(TurnFree_Private(mg, &graph.strong, &own.strong));
  PetscCall(PetscLogEventEnd(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCall(PetscLogEventBegin(PC_CAMGInterpolate, 0, 0, 0, 0));
  PetscCall((*kern->tentative)(&e->space, e->A.m, agg, aggregates, &coarse->space));
  PetscCall(Interpolate_Private(mg, e, threshold, &graph, bound, agg, aggregates, t));
  PetscCall(PetscLogEventEnd(PC_CAMGInterpolate, 0, 0, 0, 0));
  PetscCall(Galerkin_Private(mg, e, t, coarse));
  count[0] = e->A.nz;
  count[1] = coarse->A.nz;
  PetscCall(Sum_Private(&e->ghosts, 2, count));
  if (!e->space.vectors && (double)count[1] > CAMG_FILL * (double)count[0]) {
    PetscCall(PCCAMGTransfersFree_Private(kern->memory, t));
    PetscCall(ExactFree_Private(mg, coarse));
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
  PetscCall(Galerkin_Private(mg, e, t, coarse));
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

/* Scales, and room for ghosts of the near null space */
static PetscErrorCode Open_Private(const PC_CAMG *mg, Exact *e)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const size_t          row    = (size_t)(e->space.block * e->space.columns) * sizeof(PetscScalar);
  PetscInt64            all    = Size(&e->A);
  void                 *T;

  PetscFunctionBegin;
  PetscCall(Sum_Private(&e->ghosts, 1, &all));
  e->all = (PetscInt)all;
  PetscCall((*memory->alloc)((size_t)(e->A.n * e->A.cb) * sizeof(*e->s), (void **)&e->s));
  PetscCall((*mg->kernels->scales)(&e->A, e->s));
  PetscCall(PCCAMGGhostsGet_Private(&e->ghosts, memory, (size_t)e->A.cb * sizeof(*e->s), e->s));
  if (!e->ghosts.sf || !e->space.T) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Grow_Private(mg, (size_t)e->A.m * row, (size_t)e->A.n * row, e->space.T, &T));
  PetscCall(PCCAMGFree_Private(mg, &e->space.T));
  e->space.T = (PetscScalar *)T;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors with room for ghosts, those of the interpolation to this level, too; facts */
static PetscErrorCode Vectors_Private(const PC_CAMG *mg, CAMGLevel *l, const Exact *e, PetscInt ghosts)
{
  const size_t number = PCCAMGNumberBytes_Private(mg), n = (size_t)Size(&e->A);
  PetscInt64   nz = Entries(&e->A);

  PetscFunctionBegin;
  PetscCall(Sum_Private(&e->ghosts, 1, &nz));
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
  const Share *s = (const Share *)ctx;

  PetscFunctionBegin;
  if (bytes == PCCAMGNumberBytes_Private(s->mg)) PetscCall(PCCAMGHaloGet_Private(s->mg, &s->l->halo[0], x));
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
static PetscErrorCode Encode_Private(const PC_CAMG *mg, CAMGLevel *l, const Exact *e)
{
  Share           s     = {.mg = mg, .l = l, .A = &e->A, .ghosts = &e->ghosts};
  const CAMGShare share = {.get = ShareGet_Private, .sum = ShareSum_Private, .ctx = e->ghosts.sf ? &s : NULL};

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  if (e->ghosts.sf) PetscCall(PCCAMGHaloCreate_Private(mg, &e->ghosts, e->A.cb, &l->halo[0]));
  PetscCall((*mg->kernels->encode)(&e->A, e->s, PCCAMGBits_Private(mg), (PetscBool)(mg->matrix.columns == 1), &share, &l->op, &l->facts.bound));
  l->op.single = mg->precision.single;
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The interpolation has the rows of this process. Its columns are own ones and ghosts, or all of a level that is whole */
static PetscErrorCode EncodeProlong_Private(const PC_CAMG *mg, CAMGLevel *l, const Exact *e, const CAMGTransfers *t, const Exact *next)
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
    PetscCall(Grow_Private(mg, own, own + (size_t)g->columns.n * row, next->s, (void **)&s));
    PetscCall(PCCAMGGhostsGet_Private(g, mg->kernels->memory, row, s));
  } else if (e->ghosts.sf) {
    PetscCall((*mg->kernels->memory->alloc)((size_t)P.nz * sizeof(*P.j), (void **)&P.j));
    PetscCall((*mg->kernels->memory->copy)((size_t)P.nz * sizeof(*P.j), t->P.j, P.j));
    PetscCall(PCCAMGColumnNumbers_Private(mg, &t->columns, &number));
    PetscCall((*mg->kernels->renumber)(&P, 0, number));
    P.n = next->A.m;
    PetscCall(PCCAMGFree_Private(mg, &number));
  }
  PetscCall((*mg->kernels->encodetransfer)(&P, e->s, s, PETSC_FALSE, &l->prolong));
  if (P.j != t->P.j) PetscCall(PCCAMGFree_Private(mg, &P.j));
  if (s != next->s) PetscCall(PCCAMGFree_Private(mg, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transfers to the next level. own: scales of the rows of the restriction */
static PetscErrorCode EncodeTransfers_Private(const PC_CAMG *mg, CAMGLevel *l, const Exact *e, const CAMGTransfers *t, const Exact *next, const double own[])
{
  PetscInt64 transfers = (PetscInt64)t->nz * t->P.rb * t->P.cb;
  CAMGMatrix R         = t->R;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  PetscCall(EncodeProlong_Private(mg, l, e, t, next));
  if (e->ghosts.sf) R.m = t->rows.columns.own;
  if (e->ghosts.sf) PetscCall((*mg->kernels->memory->get)(sizeof(R.nz), R.i + R.m, &R.nz));
  PetscCall((*mg->kernels->encodetransfer)(&R, own, e->s, PETSC_TRUE, &l->restrict_));
  PetscCall(Sum_Private(&e->ghosts, 1, &transfers));
  l->prolong.single = l->restrict_.single = mg->precision.single;
  l[1].facts.transfers                    = transfers;
  l[1].facts.plain                        = t->plain;
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level becomes whole on each process, with the right-hand side gathered from own parts. The caller frees old scales */
static PetscErrorCode MakeWhole_Private(PC_CAMG *mg, Exact *e)
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
  e->ghosts.comm = PETSC_COMM_SELF;
  PetscCall(Open_Private(mg, e));
  mg->whole.first = mg->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a level of several processes becomes whole: if it is small, or if aggregates of a process are small */
static PetscBool IsWhole(const PC_CAMG *mg, const Exact *e, const Exact *next)
{
  const PetscInt most = mg->kernels->memory == &LitheHostMemory ? CAMG_WHOLE : CAMG_LARGE;

  if (!next->ghosts.sf) return PETSC_FALSE;
  return (PetscBool)(next->all <= PetscMax(most, PCCAMGCoarseSize_Private(mg)) || (next->all > e->all / CAMG_SLOW && next->all <= CAMG_MOST));
}

/* The next level and the transfers to it; *stalled: there is none */
static PetscErrorCode Next_Private(PC_CAMG *mg, Exact *e, PetscReal threshold, Exact *next, PetscBool *stalled)
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
    PetscCall(Recoarsen_Private(mg, e, &mg->kept.level[mg->n - 1], next));
    t = mg->kept.level[mg->n - 1];
  } else PetscCall(Coarsen_Private(mg, e, threshold, l->facts.bound, &t, next));
  PetscCall(Open_Private(mg, next));
  whole    = IsWhole(mg, e, next);
  *stalled = (PetscBool)(!next->all || (next->all > CAMG_STALLED * e->all && !whole));
  if (*stalled) {
    if (!use) PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &t));
    PetscCall(ExactFree_Private(mg, next));
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
static PetscErrorCode Last_Private(PC pc, const Exact *e, PetscBool small, PetscBool stalled)
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
  Exact          e         = {.A = *A, .ghosts = *ghosts, .space = *space};
  PetscReal      threshold = mg->opt.threshold;
  PetscBool      small = PETSC_FALSE, stalled = PETSC_FALSE;

  PetscFunctionBegin;
  mg->matrix.columns = space->columns;
  PetscCall(Open_Private(mg, &e));
  for (int side = 0; side < 2; side++) PetscCall((*mg->kernels->divide)(Size(&e.A), e.s, mg->units.outer[side]));
  for (mg->n = 1;; mg->n++, threshold *= mg->opt.thresholdscale) {
    CAMGLevel *l    = &mg->level[mg->n - 1];
    Exact      next = {.s = NULL};

    PetscCall(Vectors_Private(mg, l, &e, mg->n > 1 ? l[-1].halo[1].n : 0));
    small = (PetscBool)(!e.ghosts.sf && e.all <= PCCAMGCoarseSize_Private(mg));
    if (small || mg->n == most) break;
    PetscCall(Encode_Private(mg, l, &e));
    PetscCall(Next_Private(mg, &e, threshold, &next, &stalled));
    if (stalled) break;
    PetscCall(ExactFree_Private(mg, &e));
    e = next;
  }
  PetscCall(Last_Private(pc, &e, small, stalled));
  PetscCall(ExactFree_Private(mg, &e));
  PetscFunctionReturn(PETSC_SUCCESS);
}
