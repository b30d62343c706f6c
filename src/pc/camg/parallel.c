/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels on several processes, set up on the host. Matrices are MATMPIAIJ, whose products PETSc makes. Aggregates are
   those of a process. Levels of few unknowns are whole on each process, and set up as on one process.
*/

#include "camgimpl.h"

#define PARALLEL_WHOLE 5000   /* unknowns of all processes, up to which a level is whole on each */
#define PARALLEL_SLOW  3      /* times fewer unknowns, at least, on the next level, or this level is whole if possible: */
#define PARALLEL_MOST  200000 /* unknowns of a level that is whole because aggregates of a process are small */

/* A level during set-up */
typedef struct {
  Mat        A;
  CAMGMatrix local;     /* rows of this process, columns of other processes last */
  CAMGGhosts nodes;     /* of blocks */
  PetscInt   n, *ghost; /* numbers of the nodes of other processes */
  CAMGSpace  space;     /* with ghosts */
  double    *s;         /* with ghosts */
  PetscReal  threshold;
} Shared;

/* ------------------------------------------------------------ local rows */

/*
   The rows of this process in blocks. Columns of own blocks keep their places; those of other processes follow in the
   order of their numbers ghost [n], which the caller frees
*/
PetscErrorCode PCCAMGGetLocal_Private(Mat A, PetscInt block, CAMGMatrix *L, PetscInt *n, PetscInt **ghost)
{
  Mat                part[2];
  const PetscInt    *garray, *i[2], *j[2];
  const PetscScalar *a[2];
  PetscInt           m, columns, used = 0, rows, outside;
  PetscInt          *place;
  CAMGMatrix         plain;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &part[0], &part[1], &garray));
  PetscCall(MatGetLocalSize(A, &m, &columns));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGetRowIJ(part[k], 0, PETSC_FALSE, PETSC_FALSE, &rows, &i[k], &j[k], &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MATSEQAIJ without rows");
    PetscCall(MatSeqAIJGetArrayRead(part[k], &a[k]));
  }
  PetscCall(MatGetSize(part[1], NULL, &outside));
  PetscCall(PetscMalloc1(outside, &place));
  PetscCall(PetscMalloc1(outside, ghost));
  *n = 0;
  for (PetscInt c = 0; c < outside; c++) {
    if (!*n || (*ghost)[*n - 1] != garray[c] / block) (*ghost)[(*n)++] = garray[c] / block;
    place[c] = columns + (*n - 1) * block + garray[c] % block;
  }
  PetscCall(PCCAMGMatrixCreate_Private(m, columns + *n * block, i[0][m] + i[1][m], 1, 1, &plain));
  for (PetscInt r = 0; r < m; r++) {
    for (int k = 0; k < 2; k++) {
      for (PetscInt e = i[k][r]; e < i[k][r + 1]; e++) {
        plain.j[used]   = k ? place[j[k][e]] : j[k][e];
        plain.a[used++] = a[k][e];
      }
    }
    plain.i[r + 1] = used;
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(MatSeqAIJRestoreArrayRead(part[k], &a[k]));
    PetscCall(MatRestoreRowIJ(part[k], 0, PETSC_FALSE, PETSC_FALSE, &rows, &i[k], &j[k], &done));
  }
  PetscCall(PetscFree(place));
  if (block == 1) *L = plain;
  else {
    PetscCall(PCCAMGCopy_Private(&plain, 1, NULL, NULL, block, L));
    PetscCall(PCCAMGMatrixFree_Private(&plain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of rows of blocks. Columns: own ones, numbered from first on, then those with the numbers other [..] */
static PetscErrorCode ToMat_Private(MPI_Comm comm, const CAMGMatrix *P, PetscInt own, PetscInt first, const PetscInt other[], Mat *A)
{
  const PetscInt rb = P->rb, cb = P->cb;
  PetscInt      *i, *j, used = 0;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(P->m * rb + 1, &i));
  PetscCall(PetscMalloc1((size_t)P->nz * (size_t)(rb * cb), &j));
  PetscCall(PetscMalloc1((size_t)P->nz * (size_t)(rb * cb), &a));
  i[0] = 0;
  for (PetscInt r = 0; r < P->m * rb; r++) {
    for (PetscInt k = P->i[r / rb]; k < P->i[r / rb + 1]; k++) {
      const PetscInt c = P->j[k] < own ? first + P->j[k] : other[P->j[k] - own];

      for (PetscInt q = 0; q < cb; q++) {
        j[used]   = c * cb + q;
        a[used++] = P->a[(size_t)((k * rb + r % rb) * cb + q)];
      }
    }
    i[r + 1] = used;
  }
  PetscCall(MatCreateMPIAIJWithArrays(comm, P->m * rb, own * cb, PETSC_DETERMINE, PETSC_DETERMINE, i, j, a, A));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SharedFree_Private(Shared *e)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&e->A));
  PetscCall(PCCAMGMatrixFree_Private(&e->local));
  PetscCall(PCCAMGGhostsFree_Private(&e->nodes));
  PetscCall(PetscFree(e->ghost));
  PetscCall(PetscFree(e->space.T));
  PetscCall(PetscFree(e->s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Local rows, ghosts and scales of e->A, which has the blocks of e->space. T gets room for ghosts */
static PetscErrorCode Open_Private(Shared *e)
{
  const PetscInt block = e->space.block, size = block * e->space.columns;
  PetscScalar   *T;

  PetscFunctionBegin;
  PetscCall(PCCAMGGetLocal_Private(e->A, block, &e->local, &e->n, &e->ghost));
  PetscCall(PCCAMGGhostsCreate_Private(PetscObjectComm((PetscObject)e->A), e->local.m, e->n, e->ghost, &e->nodes));
  PetscCall(PetscMalloc1(e->local.n * block, &e->s));
  PetscCall(PCCAMGScales_Private(&e->local, e->s));
  PetscCall(PCCAMGGhostsGet_Private(&e->nodes, block, MPI_DOUBLE, e->s));
  if (!e->space.vectors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((size_t)e->local.n * (size_t)size, &T));
  PetscCall(PetscArraycpy(T, e->space.T, (size_t)e->local.m * (size_t)size));
  PetscCall(PetscFree(e->space.T));
  e->space.T = T;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the next level */

static PetscErrorCode Adjoint_Private(Mat A, Mat *H)
{
  PetscFunctionBegin;
  if (PetscDefined(USE_COMPLEX)) PetscCall(MatHermitianTranspose(A, MAT_INITIAL_MATRIX, H));
  else PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, H));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The local rows of the graph of nodes: of A, of its Hermitian part, or of norms of blocks */
static PetscErrorCode GetGraph_Private(const PC_CAMG *mg, const Shared *e, CAMGGraph *graph)
{
  CAMGMatrix N = {.i = NULL}, L = {.i = NULL};
  CAMGGhosts ghosts;
  PetscInt   n, *ghost;
  Mat        S;

  PetscFunctionBegin;
  if (mg->matrix.symmetric) {
    if (e->space.block > 1) PetscCall(PCCAMGNorms_Private(&e->local, &N));
    PetscCall(PCCAMGFilterShared_Private(e->space.block > 1 ? &N : &e->local, &e->nodes, e->threshold, graph));
  } else {
    PetscCall(Adjoint_Private(e->A, &S));
    PetscCall(MatAYPX(S, 1, e->A, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatScale(S, 0.5));
    PetscCall(PCCAMGGetLocal_Private(S, e->space.block, &L, &n, &ghost));
    PetscCall(PCCAMGGhostsCreate_Private(e->nodes.comm, L.m, n, ghost, &ghosts));
    if (e->space.block > 1) PetscCall(PCCAMGNorms_Private(&L, &N));
    PetscCall(PCCAMGFilterShared_Private(e->space.block > 1 ? &N : &L, &ghosts, e->threshold, graph));
    PetscCall(PCCAMGGhostsFree_Private(&ghosts));
    PetscCall(PetscFree(ghost));
    PetscCall(MatDestroy(&S));
  }
  PetscCall(PCCAMGMatrixFree_Private(&N));
  PetscCall(PCCAMGMatrixFree_Private(&L));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Aggregates of nodes, of this process in agg [nodes with ghosts]. Those of ghosts follow own aggregates, in the order
   of their numbers other [..], which the caller frees. first: the number of the first own aggregate
*/
static PetscErrorCode ShareAggregates_Private(const Shared *e, PetscInt aggregates, PetscInt agg[], PetscInt *first, PetscInt *n, PetscInt **other)
{
  const PetscInt m = e->local.m, all = e->local.n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Scan(&aggregates, first, 1, MPIU_INT, MPI_SUM, e->nodes.comm));
  *first -= aggregates;
  for (PetscInt v = 0; v < m; v++) agg[v] = agg[v] < 0 ? -1 : agg[v] + *first;
  PetscCall(PCCAMGGhostsGet_Private(&e->nodes, 1, MPIU_INT, agg));
  for (PetscInt v = 0; v < m; v++) agg[v] = agg[v] < 0 ? -1 : agg[v] - *first;
  PetscCall(PetscMalloc1(all - m, other));
  *n = 0;
  for (PetscInt v = m; v < all; v++) {
    if (agg[v] >= 0) (*other)[(*n)++] = agg[v];
  }
  PetscCall(PetscSortRemoveDupsInt(n, *other));
  for (PetscInt v = m; v < all; v++) {
    PetscInt at;

    if (agg[v] < 0) continue;
    PetscCall(PetscFindInt(agg[v], *n, *other, &at));
    agg[v] = aggregates + at;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   T - damping F T of the rows of e, with F the filtered matrix or, for blocks, all of it. damping: NULL for T; made
   here if bound is not 0. agg: aggregates of own nodes
*/
static PetscErrorCode Smooth_Private(const PC_CAMG *mg, const Shared *e, PetscInt aggregates, const PetscInt own[], PetscReal damping[], PetscReal bound,
                                     Mat *P)
{
  const PetscBool blocks = (PetscBool)(e->space.block > 1);
  CAMGGraph       F      = {.strong = e->local};
  PetscInt        first, n, *other, *agg;
  CAMGMatrix      local;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(e->local.n, &agg));
  PetscCall(PetscArraycpy(agg, own, e->local.m));
  PetscCall(ShareAggregates_Private(e, aggregates, agg, &first, &n, &other));
  if (e->space.vectors) PetscCall(PCCAMGGhostsGet_Private(&e->nodes, e->space.block * e->space.columns, MPIU_SCALAR, e->space.T));
  if (!blocks) PetscCall(PCCAMGFilterShared_Private(&e->local, &e->nodes, e->threshold, &F));
  if (damping && bound != 0) PetscCall(PCCAMGDamping_Private(&F, bound, damping));
  PetscCall(PCCAMGSmooth_Private(&F, damping, &e->space, agg, aggregates + n, mg->opt.truncate, &local));
  PetscCall(ToMat_Private(e->nodes.comm, &local, aggregates, first, other, P));
  PetscCall(PCCAMGMatrixFree_Private(&local));
  if (!blocks) PetscCall(PCCAMGMatrixFree_Private(&F.strong));
  PetscCall(PetscFree(F.d));
  PetscCall(PetscFree(agg));
  PetscCall(PetscFree(other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P and R = Q^H: Q = P for a Hermitian matrix, else Q is P of A^H with the same damping */
static PetscErrorCode Interpolate_Private(const PC_CAMG *mg, const Shared *e, PetscReal bound, PetscInt aggregates, const PetscInt agg[], Mat *P, Mat *R)
{
  const size_t size    = (size_t)e->local.m * (size_t)(e->space.block * e->space.columns);
  Shared       h       = {.space = {.block = e->space.block, .columns = e->space.columns, .vectors = e->space.vectors}, .threshold = e->threshold};
  PetscReal   *damping = NULL;
  Mat          Q;

  PetscFunctionBegin;
  if (mg->opt.nsmooths) PetscCall(PetscMalloc1(e->local.m * e->local.rb, &damping));
  PetscCall(Smooth_Private(mg, e, aggregates, agg, damping, bound, P));
  if (mg->matrix.symmetric || !damping) PetscCall(Adjoint_Private(*P, R));
  else {
    PetscCall(Adjoint_Private(e->A, &h.A));
    if (e->space.T) {
      PetscCall(PetscMalloc1(size, &h.space.T));
      PetscCall(PetscArraycpy(h.space.T, e->space.T, size));
    }
    PetscCall(Open_Private(&h));
    PetscCall(Smooth_Private(mg, &h, aggregates, agg, damping, 0, &Q));
    PetscCall(Adjoint_Private(Q, R));
    PetscCall(MatDestroy(&Q));
    PetscCall(SharedFree_Private(&h));
  }
  PetscCall(PetscFree(damping));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns of C = R A P that are rounding errors become 0, as in PCCAMGClean_Private() */
static PetscErrorCode Clean_Private(Mat A, Mat R, Mat C)
{
  Mat          square, part[2];
  Vec          fine, coarse, keep;
  PetscScalar *a, *k;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(R, MAT_COPY_VALUES, &square));
  PetscCall(MatMPIAIJGetSeqAIJ(square, &part[0], &part[1], NULL));
  for (int p = 0; p < 2; p++) {
    MatInfo info;

    PetscCall(MatGetInfo(part[p], MAT_LOCAL, &info));
    PetscCall(MatSeqAIJGetArray(part[p], &a));
    for (PetscInt e = 0; e < (PetscInt)info.nz_used; e++) a[e] = PetscRealPart(a[e] * PetscConj(a[e]));
    PetscCall(MatSeqAIJRestoreArray(part[p], &a));
  }
  PetscCall(MatCreateVecs(square, &fine, &coarse));
  PetscCall(VecDuplicate(coarse, &keep));
  PetscCall(MatGetDiagonal(A, fine));
  PetscCall(VecAbs(fine));
  PetscCall(MatMult(square, fine, coarse));
  PetscCall(MatGetDiagonal(C, keep));
  PetscCall(VecGetLocalSize(keep, &n));
  PetscCall(VecGetArray(keep, &k));
  PetscCall(VecGetArray(coarse, &a));
  for (PetscInt r = 0; r < n; r++) k[r] = PetscAbsScalar(k[r]) <= (PetscReal)CAMG_ROUNDING * PETSC_MACHINE_EPSILON * PetscRealPart(a[r]) ? 0 : 1;
  PetscCall(VecRestoreArray(coarse, &a));
  PetscCall(VecRestoreArray(keep, &k));
  PetscCall(MatDiagonalScale(C, keep, keep));
  PetscCall(VecDestroy(&fine));
  PetscCall(VecDestroy(&coarse));
  PetscCall(VecDestroy(&keep));
  PetscCall(MatDestroy(&square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Galerkin_Private(Mat A, Mat P, Mat R, Mat *C)
{
  Mat AP;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGProduct, 0, 0, 0, 0));
  PetscCall(MatMatMult(A, P, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &AP));
  PetscCall(MatMatMult(R, AP, MAT_INITIAL_MATRIX, PETSC_DETERMINE, C));
  PetscCall(MatDestroy(&AP));
  PetscCall(Clean_Private(A, R, *C));
  PetscCall(PetscLogEventEnd(PC_CAMGProduct, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next matrix by transfers of an earlier set-up, or no matrix if there are none */
static PetscErrorCode Recoarsen_Private(const PC_CAMG *mg, PetscInt level, const Shared *e, CAMGTransfers *t, Shared *coarse)
{
  PetscFunctionBegin;
  if (level >= mg->kept.n) PetscFunctionReturn(PETSC_SUCCESS);
  *t            = mg->kept.level[level];
  coarse->space = (CAMGSpace){.block = t->block, .columns = mg->matrix.columns};
  PetscCall(Galerkin_Private(e->A, t->shared[0], t->shared[1], &coarse->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next matrix and the transfers; no matrix if there are no aggregates */
static PetscErrorCode Coarsen_Private(PC_CAMG *mg, Shared *e, PetscReal bound, Mat *P, Mat *R, Shared *coarse)
{
  CAMGGraph graph;
  PetscInt *agg, aggregates, all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(e->local.n, &agg));
  PetscCall(PetscLogEventBegin(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCall(GetGraph_Private(mg, e, &graph));
  for (int k = 0; k < CAMG_THRESHOLDS; k++) {
    PetscInt64 count[3] = {e->local.m, e->local.nz, graph.strong.nz};

    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 3, MPIU_INT64, MPI_SUM, e->nodes.comm));
    if (!PCCAMGIsThresholdLarge_Private(count[0], count[1], count[2])) break;
    PetscCall(PCCAMGMatrixFree_Private(&graph.strong));
    PetscCall(PetscFree(graph.d));
    e->threshold /= 4;
    PetscCall(GetGraph_Private(mg, e, &graph));
  }
  PetscCall(PCCAMGAggregate_Private(&graph, agg, &aggregates));
  PetscCall(PetscLogEventEnd(PC_CAMGAggregate, 0, 0, 0, 0));
  PetscCallMPI(MPIU_Allreduce(&aggregates, &all, 1, MPIU_INT, MPI_SUM, e->nodes.comm));
  if (all) {
    PetscCall(PetscLogEventBegin(PC_CAMGInterpolate, 0, 0, 0, 0));
    PetscCall(PCCAMGTentative_Private(&e->space, e->local.m, agg, aggregates, &coarse->space));
    PetscCall(Interpolate_Private(mg, e, bound, aggregates, agg, P, R));
    PetscCall(PetscLogEventEnd(PC_CAMGInterpolate, 0, 0, 0, 0));
    PetscCall(Galerkin_Private(e->A, *P, *R, &coarse->A));
  }
  coarse->threshold = e->threshold * mg->opt.thresholdscale;
  PetscCall(PetscFree(agg));
  PetscCall(PCCAMGMatrixFree_Private(&graph.strong));
  PetscCall(PetscFree(graph.d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ levels */

/* The exchange of numbers of other processes before a product that reads them */
static PetscErrorCode CreateHalo_Private(const PC_CAMG *mg, MPI_Comm comm, PetscInt own, PetscInt block, PetscInt n, const PetscInt ghost[], CAMGHalo *h)
{
  const PetscMemType memory = mg->device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  CAMGGhosts         g;
  PetscInt          *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * block, &number));
  for (PetscInt k = 0; k < n * block; k++) number[k] = ghost[k / block] * block + k % block;
  PetscCall(PCCAMGGhostsCreate_Private(comm, own * block, n * block, number, &g));
  PetscCall(LitheHaloCreate(g.sf, LITHE_TRANSPORT_AUTO, memory, PCCAMGNumberBytes_Private(mg), &h->halo));
  h->own = own * block;
  h->n   = n * block;
  PetscCall(PCCAMGGhostsFree_Private(&g));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A transfer, of single numbers. rows, columns: scales, of own numbers; whole: the columns are all of the next level,
   on each process, and columns has the scales of all
*/
static PetscErrorCode Transfer_Private(const PC_CAMG *mg, Mat P, const double rows[], const double columns[], PetscBool whole, PetscBool inverse,
                                       CAMGOperator *op, CAMGHalo *halo)
{
  MPI_Comm   comm = PetscObjectComm((PetscObject)P);
  CAMGMatrix L;
  CAMGGhosts g;
  PetscInt   n, *ghost, own, first;
  double    *s;

  PetscFunctionBegin;
  PetscCall(PCCAMGGetLocal_Private(P, 1, &L, &n, &ghost));
  PetscCall(MatGetLocalSize(P, NULL, &own));
  PetscCall(MatGetOwnershipRangeColumn(P, &first, NULL));
  if (whole) {
    for (PetscInt k = 0; k < L.nz; k++) L.j[k] = L.j[k] < own ? first + L.j[k] : ghost[L.j[k] - own];
    PetscCall(MatGetSize(P, NULL, &L.n));
    PetscCall(PCCAMGEncodeTransfer_Private(&L, rows, columns, inverse, op));
  } else {
    PetscCall(PetscMalloc1(own + n, &s));
    PetscCall(PetscArraycpy(s, columns, own));
    PetscCall(PCCAMGGhostsCreate_Private(comm, own, n, ghost, &g));
    PetscCall(PCCAMGGhostsGet_Private(&g, 1, MPI_DOUBLE, s));
    PetscCall(PCCAMGGhostsFree_Private(&g));
    PetscCall(PCCAMGEncodeTransfer_Private(&L, rows, s, inverse, op));
    PetscCall(CreateHalo_Private(mg, comm, own, 1, n, ghost, halo));
    PetscCall(PetscFree(s));
  }
  op->single = mg->precision.single;
  PetscCall(PCCAMGMatrixFree_Private(&L));
  PetscCall(PetscFree(ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole of a level on each process */
static PetscErrorCode GetWhole_Private(const Shared *e, PetscMPIInt size, CAMGMatrix *W, CAMGSpace *space)
{
  const PetscInt     numbers = e->local.m * e->space.block * e->space.columns;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           m;
  PetscMPIInt       *count, *from, mine;
  CAMGMatrix         plain = {.rb = 1, .cb = 1};
  PetscBool          done;
  Mat                all;

  PetscFunctionBegin;
  PetscCall(MatCreateRedundantMatrix(e->A, size, PETSC_COMM_SELF, MAT_INITIAL_MATRIX, &all));
  PetscCall(MatGetRowIJ(all, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "MATSEQAIJ without rows");
  PetscCall(MatSeqAIJGetArrayRead(all, &a));
  plain.m = plain.n = m;
  plain.nz          = i[m];
  plain.i           = (PetscInt *)i;
  plain.j           = (PetscInt *)j;
  plain.a           = (PetscScalar *)a;
  PetscCall(PCCAMGCopy_Private(&plain, 1, NULL, NULL, e->space.block, W));
  PetscCall(MatSeqAIJRestoreArrayRead(all, &a));
  PetscCall(MatRestoreRowIJ(all, 0, PETSC_FALSE, PETSC_FALSE, &m, &i, &j, &done));
  PetscCall(MatDestroy(&all));
  *space = (CAMGSpace){.block = e->space.block, .columns = e->space.columns, .vectors = e->space.vectors};
  if (!e->space.vectors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)(W->m * W->rb) * (size_t)space->columns, &space->T));
  PetscCall(PetscMalloc2(size, &count, size, &from));
  PetscCall(PetscMPIIntCast(numbers, &mine));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, count, 1, MPI_INT, e->nodes.comm));
  from[0] = 0;
  for (PetscMPIInt p = 1; p < size; p++) from[p] = from[p - 1] + count[p - 1];
  PetscCallMPI(MPI_Allgatherv(e->space.T, mine, MPIU_SCALAR, space->T, count, from, MPIU_SCALAR, e->nodes.comm));
  PetscCall(PetscFree2(count, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Own numbers of the next level to all of it, for its right-hand side */
static PetscErrorCode CreateGather_Private(PC_CAMG *mg, const Shared *next, PetscInt all)
{
  const PetscInt own = next->local.m * next->space.block;
  PetscInt      *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &number));
  for (PetscInt k = 0; k < all; k++) number[k] = k;
  PetscCall(CreateHalo_Private(mg, next->nodes.comm, own, 1, all, number, &mg->whole.gather));
  PetscCall(PetscMalloc1((size_t)own * PCCAMGNumberBytes_Private(mg), (char **)&mg->whole.part));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Finish_Private(PC_CAMG *mg, CAMGLevel *l, const Shared *e)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(PC_CAMGEncode, 0, 0, 0, 0));
  PetscCall(PCCAMGEncodeShared_Private(&e->local, &e->nodes, e->s, PCCAMGBits_Private(mg), (PetscBool)(mg->matrix.columns == 1), &l->op, &l->facts.bound));
  l->op.single = mg->precision.single;
  PetscCall(CreateHalo_Private(mg, e->nodes.comm, e->local.m, e->space.block, e->n, e->ghost, &l->halo[0]));
  PetscCall(PetscLogEventEnd(PC_CAMGEncode, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors with room for all ghosts, and what -ksp_view tells */
static PetscErrorCode Vectors_Private(PC_CAMG *mg, PetscInt k, const Shared *e, PetscInt all)
{
  CAMGLevel   *l      = &mg->level[k];
  PetscInt     ghosts = PetscMax(l->halo[0].n, l->halo[2].n);
  const size_t own = (size_t)e->local.m * (size_t)e->space.block, bytes = PCCAMGNumberBytes_Private(mg);
  MatInfo      info;

  PetscFunctionBegin;
  if (k) ghosts = PetscMax(ghosts, l[-1].halo[1].n);
  PetscCall(PetscCalloc1(own * bytes, (char **)&l->b));
  for (int v = 0; v < 2; v++) PetscCall(PetscCalloc1((own + (size_t)ghosts) * bytes, (char **)&l->x[v]));
  PetscCall(MatGetInfo(e->A, MAT_GLOBAL_SUM, &info));
  l->ghosts    = ghosts;
  l->facts.n   = (PetscInt)own;
  l->facts.all = all;
  l->facts.nz  = (PetscInt64)info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Levels from the finest matrix, which is destroyed. The space, of rows of this process, is freed. *A, *next: the first
   level that is whole on each process
*/
PetscErrorCode PCCAMGBuildShared_Private(PC pc, Mat finest, CAMGSpace *space, CAMGMatrix *A, CAMGSpace *wholespace)
{
  PC_CAMG       *mg   = (PC_CAMG *)pc->data;
  const PetscInt most = mg->opt.levels != PETSC_DECIDE ? mg->opt.levels : CAMG_LEVELS_MAX;
  Shared         e    = {.A = finest, .space = *space, .threshold = mg->opt.threshold};
  PetscInt       all, coarse = 0;
  PetscMPIInt    size;
  PetscBool      whole = PETSC_FALSE, last = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(MatGetSize(finest, &all, NULL));
  PetscCall(Open_Private(&e));
  mg->matrix.columns = space->columns;
  for (int side = 0; side < 2; side++) PetscCall(PCCAMGDivide_Private(e.local.m * e.space.block, e.s, mg->units.outer[side]));
  for (mg->n = 1; !whole && !last; mg->n++) {
    CAMGLevel    *l    = &mg->level[mg->n - 1];
    Shared        next = {.A = NULL};
    CAMGTransfers t    = {.plain = PETSC_FALSE};
    double       *s    = NULL;
    MatInfo       info;

    last = (PetscBool)(mg->n == most);
    PetscCall(Finish_Private(mg, l, &e));
    if (!last) {
      if (mg->kept.state == CAMG_KEPT_USE) PetscCall(Recoarsen_Private(mg, mg->n - 1, &e, &t, &next));
      else PetscCall(Coarsen_Private(mg, &e, l->facts.bound, &t.shared[0], &t.shared[1], &next));
      last = (PetscBool)!next.A;
    }
    if (!last) {
      PetscCall(MatGetSize(next.A, &coarse, NULL));
      PetscCall(Open_Private(&next));
      whole = (PetscBool)(coarse <= PetscMax(PARALLEL_WHOLE, PCCAMGCoarseSize_Private(mg)) || (coarse > all / PARALLEL_SLOW && coarse <= PARALLEL_MOST));
      last  = (PetscBool)(!whole && coarse > CAMG_STALLED * all);
    }
    if (!last) {
      if (whole) {
        PetscCall(GetWhole_Private(&next, size, A, wholespace));
        PetscCall(PetscMalloc1(coarse, &s));
        PetscCall(PCCAMGScales_Private(A, s));
        PetscCall(CreateGather_Private(mg, &next, coarse));
      }
      PetscCall(Transfer_Private(mg, t.shared[0], e.s, whole ? s : next.s, whole, PETSC_FALSE, &l->prolong, &l->halo[1]));
      PetscCall(Transfer_Private(mg, t.shared[1], next.s, e.s, PETSC_FALSE, PETSC_TRUE, &l->restrict_, &l->halo[2]));
      PetscCall(MatGetInfo(t.shared[0], MAT_GLOBAL_SUM, &info));
      l[1].facts.transfers = (PetscInt64)info.nz_used;
      PetscCall(PetscFree(s));
    } else PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "%s", mg->n == most ? "-pc_camg_levels" : "no strong entries are left"));
    PetscCall(Vectors_Private(mg, mg->n - 1, &e, all));
    t.block = next.space.block;
    if (last && mg->kept.state != CAMG_KEPT_USE) PetscCall(PCCAMGTransfersFree_Private(mg->kernels->memory, &t));
    if (!last) PetscCall(PCCAMGKeep_Private(mg, mg->n - 1, &t));
    PetscCall(SharedFree_Private(&e));
    e   = next;
    all = coarse;
  }
  mg->n--;
  if (whole) mg->whole.first = mg->n;
  PetscCall(SharedFree_Private(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}
