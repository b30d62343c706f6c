/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The next level of a PCCAMG: strong entries, aggregates, interpolation, and the product R A P */

#include "camgimpl.h"

#define CAMG_FILL 1.5 /* entries of a coarse level over those of its fine level: beyond this aggregates are pairs of pairs */

PetscErrorCode PCCAMGExactFree_Private(const PC_CAMG *mg, CAMGExact *e)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &e->A));
  PetscCall(PCCAMGGhostsFree_Private(&e->ghosts));
  PetscCall(PCCAMGFree_Private(mg, &e->space.T));
  PetscCall(PCCAMGFree_Private(mg, &e->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GraphFree_Private(const PC_CAMG *mg, CAMGGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &g->strong));
  PetscCall(PCCAMGFree_Private(mg, &g->d));
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
  PetscCall((*mg->kernels->matrix.multiply)(A, B, C));
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
  PetscCall((*kern->coarsen.moduli)(A, d));
  PetscCall(PCCAMGGhostsGet_Private(g, kern->memory, (size_t)A->cb * sizeof(*d), d));
  PetscCall((*kern->coarsen.findnull)(R, d, C, null, &any));
  if (g->sf) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &any, 1, MPI_C_BOOL, MPI_LOR, g->comm));
  if (any) {
    PetscCall(PCCAMGGhostsGet_Private(coarse, kern->memory, (size_t)C->cb, null));
    PetscCall((*kern->coarsen.clearnull)(null, C));
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
static PetscErrorCode Galerkin_Private(const PC_CAMG *mg, const CAMGExact *e, CAMGTransfers *t, CAMGExact *coarse)
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
  if (mg->kept.state == CAMG_KEPT_USE && t->coarse.sf) { /* pairs of pairs have none before their first use */
    if (t->map) PetscCall((*mg->kernels->matrix.renumber)(&coarse->A, columns.own, t->map));
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
  PetscCall((*mg->kernels->coarsen.roots)(A, root));
  PetscCall(PCCAMGGhostsGet_Private(g, mg->kernels->memory, sizeof(*root), root));
  PetscCall((*mg->kernels->coarsen.filter)(A, root, threshold, graph));
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
  PetscCall((*mg->kernels->matrix.mean)(A, &H, S));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &H));
  PetscCall(PCCAMGGhostsCreate_Private(g->comm, &columns, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Strong entries between nodes: of A, of its Hermitian part, or of norms of blocks */
static PetscErrorCode GetGraph_Private(const PC_CAMG *mg, const CAMGExact *e, PetscReal threshold, CAMGGraph *graph)
{
  CAMGMatrix        N = {.i = NULL}, S = {.i = NULL};
  CAMGGhosts        ghosts = {.sf = NULL};
  const CAMGMatrix *A      = &e->A;
  const CAMGGhosts *g      = &e->ghosts;

  PetscFunctionBegin;
  if (e->space.block > 1) {
    PetscCall((*mg->kernels->matrix.norms)(A, &N));
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
  PetscCall((*mg->kernels->matrix.turn)(A, own->j));
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
  PetscCall((*mg->kernels->matrix.transpose)(Q, R));
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
  PetscCall((*mg->kernels->coarsen.smooth)(F, damping, space, agg, aggregates + t->columns.n, mg->opt.truncate, &t->P));
  t->nz = t->P.nz;
  PetscCall(PCCAMGColumnsCopy_Private(&t->columns, &own));
  PetscCall(PCCAMGGhostsCreate_Private(g->comm, &own, &t->prolong));
  PetscCall(PCCAMGFetch_Private(mg, g, &t->P, &t->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P = T, and its adjoint, for a matrix of these rows */
static PetscErrorCode Plain_Private(const PC_CAMG *mg, const CAMGExact *e, PetscInt aggregates, PetscInt agg[], CAMGTransfers *t)
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
static PetscErrorCode Pair_Private(const PC_CAMG *mg, const CAMGExact *e, PetscReal threshold, PetscInt agg[], PetscInt *aggregates, CAMGExact *coarse)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const CAMGMatrix     *A      = &e->A;
  CAMGMatrix            S      = {.i = NULL}, own;
  CAMGGhosts            ghosts = {.sf = NULL};
  CAMGTransfers         t      = {.plain = PETSC_FALSE};
  PetscReal            *root;

  PetscFunctionBegin;
  if (!mg->matrix.symmetric) PetscCall(SymmetricPart_Private(mg, &e->A, &e->ghosts, &S, &ghosts));
  if (!mg->matrix.symmetric) A = &S;
  PetscCall((*memory->alloc)((size_t)A->m * sizeof(*root), (void **)&root));
  PetscCall((*mg->kernels->coarsen.roots)(A, root));
  PetscCall(TurnGhosts_Private(mg, A, &own));
  PetscCall((*mg->kernels->coarsen.pairs)(&own, root, threshold, agg, aggregates));
  PetscCall(TurnFree_Private(mg, A, &own));
  PetscCall(PCCAMGFree_Private(mg, &root));
  PetscCall(Plain_Private(mg, e, *aggregates, agg, &t));
  PetscCall(Galerkin_Private(mg, e, &t, coarse));
  PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &t));
  PetscCall(PCCAMGMatrixRelease_Private(mg->kernels->memory, &S));
  PetscCall(PCCAMGGhostsFree_Private(&ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level by pairs of pairs, with constants as interpolation */
static PetscErrorCode PairTwice_Private(const PC_CAMG *mg, const CAMGExact *e, PetscReal threshold, PetscInt agg[], CAMGTransfers *t, CAMGExact *coarse)
{
  const CAMGKernels *kern   = mg->kernels;
  CAMGExact          middle = {.s = NULL};
  PetscInt          *next, pairs, aggregates;

  PetscFunctionBegin;
  PetscCall(Pair_Private(mg, e, threshold, agg, &pairs, &middle));
  PetscCall((*kern->memory->alloc)((size_t)middle.A.n * sizeof(*next), (void **)&next));
  PetscCall(Pair_Private(mg, &middle, threshold, next, &aggregates, coarse));
  PetscCall((*kern->coarsen.compose)(e->A.m, next, agg));
  PetscCall(Plain_Private(mg, e, aggregates, agg, t));
  coarse->space = e->space;
  PetscCall(PCCAMGExactFree_Private(mg, &middle));
  PetscCall(PCCAMGFree_Private(mg, &next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* R = (T - M^-1 F^H T)^H */
static PetscErrorCode Adjoint_Private(const PC_CAMG *mg, const CAMGExact *e, const CAMGGraph *F, const PetscReal damping[], PetscInt aggregates,
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
    PetscCall((*mg->kernels->coarsen.conjugate)(e->A.m, F->d, H.d));
  }
  PetscCall(PCCAMGGrow_Private(mg, m * sizeof(*there), (size_t)H.strong.n * sizeof(*there), agg, (void **)&there));
  PetscCall(PCCAMGGrow_Private(mg, m * row, (size_t)H.strong.n * row, e->space.T, (void **)&space.T));
  PetscCall(Smooth_Private(mg, &H, &ghosts, damping, &space, aggregates, there, &e->ghosts, &q));
  PetscCall(Restriction_Private(mg, &q.P, &q.prolong, t));
  PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &q));
  PetscCall(GraphFree_Private(mg, &H));
  PetscCall(PCCAMGGhostsFree_Private(&ghosts));
  PetscCall(PCCAMGFree_Private(mg, &there));
  PetscCall(PCCAMGFree_Private(mg, &space.T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   P = T - M^-1 F T and, for a nonsymmetric matrix, R = (T - M^-1 F^H T)^H. F is the filtered matrix; blocks keep all
   entries
*/
static PetscErrorCode Interpolate_Private(const PC_CAMG *mg, CAMGExact *e, PetscReal threshold, const CAMGGraph *graph, PetscReal bound, PetscInt agg[],
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
    PetscCall((*kern->coarsen.damping)(F, bound, damping));
  }
  PetscCall(Smooth_Private(mg, F, &e->ghosts, damping, &e->space, aggregates, agg, &e->ghosts, t));
  if (mg->matrix.symmetric || !damping) PetscCall(Restriction_Private(mg, &t->P, &t->prolong, t));
  else PetscCall(Adjoint_Private(mg, e, F, damping, aggregates, agg, t));
  PetscCall(GraphFree_Private(mg, &own));
  PetscCall(PCCAMGFree_Private(mg, &damping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The threshold is lowered where few entries are strong */
static PetscErrorCode GetStrong_Private(const PC_CAMG *mg, const CAMGExact *e, PetscReal *threshold, CAMGGraph *graph)
{
  PetscFunctionBegin;
  PetscCall(GetGraph_Private(mg, e, *threshold, graph));
  for (int k = 0; k < CAMG_THRESHOLDS; k++) {
    PetscInt64 count[3] = {e->A.m, e->A.nz, graph->strong.nz};

    PetscCall(PCCAMGGhostsSum_Private(&e->ghosts, 3, count));
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
PetscErrorCode PCCAMGCoarsen_Private(const PC_CAMG *mg, CAMGExact *e, PetscReal threshold, PetscReal bound, CAMGTransfers *t, CAMGExact *coarse)
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
  PetscCall((*kern->coarsen.aggregate)(&own, agg, &aggregates));
  PetscCall(TurnFree_Private(mg, &graph.strong, &own.strong));
  PetscCall(PetscLogEventEnd(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCall(PetscLogEventBegin(PC_CAMGInterpolate, 0, 0, 0, 0));
  PetscCall((*kern->coarsen.tentative)(&e->space, e->A.m, agg, aggregates, &coarse->space));
  PetscCall(Interpolate_Private(mg, e, threshold, &graph, bound, agg, aggregates, t));
  PetscCall(PetscLogEventEnd(PC_CAMGInterpolate, 0, 0, 0, 0));
  PetscCall(Galerkin_Private(mg, e, t, coarse));
  count[0] = e->A.nz;
  count[1] = coarse->A.nz;
  PetscCall(PCCAMGGhostsSum_Private(&e->ghosts, 2, count));
  if (!e->space.vectors && (double)count[1] > CAMG_FILL * (double)count[0]) {
    PetscCall(PCCAMGTransfersFree_Private(kern->memory, t));
    PetscCall(PCCAMGExactFree_Private(mg, coarse));
    PetscCall(PairTwice_Private(mg, e, threshold, agg, t, coarse));
  }
  PetscCall(PCCAMGFree_Private(mg, &agg));
  PetscCall(GraphFree_Private(mg, &graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next matrix by transfers of an earlier set-up */
PetscErrorCode PCCAMGRecoarsen_Private(const PC_CAMG *mg, const CAMGExact *e, CAMGTransfers *t, CAMGExact *coarse)
{
  PetscFunctionBegin;
  coarse->space = (CAMGSpace){.block = t->block, .columns = mg->matrix.columns};
  PetscCall(Galerkin_Private(mg, e, t, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
