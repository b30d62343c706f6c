/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Aggregates of strongly connected vertices.

   Roots are a maximal independent set of distance 2: no two roots have a common neighbour. Vertices are taken by hashed
   priorities; a parallel search with the same priorities gives the same set (N. Bell, S. Dalton, L. Olson, Exposing
   fine-grained parallelism in algebraic multigrid methods, SIAM J. Sci. Comput. 34, 2012). Priorities by index alone
   would make stripes.

   Pairs are for graphs with hubs, where larger aggregates fill coarse matrices.
*/

#include "camgimpl.h"

#define AGGREGATE_ROUNDS 6 /* of handshakes */

/* Vertices by ascending hash, which differ because the hash is a permutation: sorted by 11 bits at a time */
static PetscErrorCode Order_Private(PetscInt n, PetscInt order[])
{
  PetscInt *from, *count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &from, 2049, &count));
  for (PetscInt k = 0; k < n; k++) order[k] = k;
  for (int shift = 0; shift < 32; shift += 11) {
    PetscCall(PetscArraycpy(from, order, n));
    PetscCall(PetscArrayzero(count, 2049));
    for (PetscInt k = 0; k < n; k++) count[(CAMGHash((uint32_t)from[k]) >> shift & 2047) + 1]++;
    for (int b = 0; b < 2048; b++) count[b + 1] += count[b];
    for (PetscInt k = 0; k < n; k++) order[count[CAMGHash((uint32_t)from[k]) >> shift & 2047]++] = from[k];
  }
  PetscCall(PetscFree2(from, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* near: 1 for roots and their neighbours. A vertex that sees such a vertex is at a distance of at most 2 */
static PetscBool IsFar(const CAMGMatrix *A, const unsigned char near[], PetscInt v)
{
  if (near[v]) return PETSC_FALSE;
  for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
    if (near[A->j[k]]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* A vertex without a root among its neighbours joins the aggregate with the largest sum of entries */
static PetscInt Heaviest(const CAMGMatrix *A, const PetscInt agg[], PetscInt v)
{
  PetscReal best      = -1;
  PetscInt  aggregate = -1;

  for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
    const PetscInt a   = agg[A->j[k]];
    PetscReal      sum = 0;

    if (a < 0) continue;
    for (PetscInt q = A->i[v]; q < A->i[v + 1]; q++) {
      if (agg[A->j[q]] == a) sum += PetscAbsScalar(A->a[q]);
    }
    if (sum > best) {
      best      = sum;
      aggregate = a;
    }
  }
  return aggregate;
}

/*
   agg [n]: the aggregate of each vertex, -1 for a vertex without strong neighbours. A vertex with only itself as a
   neighbour is an aggregate: on several processes others are its neighbours
*/
PetscErrorCode PCCAMGAggregate_Private(const CAMGGraph *g, PetscInt agg[], PetscInt *aggregates)
{
  const CAMGMatrix *A = &g->strong;
  const PetscInt    n = A->m;
  PetscInt         *order, left = n;
  unsigned char    *near;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &order));
  PetscCall(PetscCalloc1(n, &near));
  PetscCall(Order_Private(n, order));
  *aggregates = 0;
  for (PetscInt k = 0; k < n; k++) {
    const PetscInt v = order[k];

    if (A->i[v + 1] == A->i[v] || !IsFar(A, near, v)) continue;
    near[v] = 2;
    for (PetscInt p = A->i[v]; p < A->i[v + 1]; p++) near[A->j[p]] |= 1;
  }
  /* roots are numbered by place, and neighbours join the first root of their row */
  for (PetscInt v = 0; v < n; v++) order[v] = near[v] & 2 ? (*aggregates)++ : -1;
  for (PetscInt v = 0; v < n; v++) {
    agg[v] = order[v];
    for (PetscInt k = A->i[v]; k < A->i[v + 1] && agg[v] < 0; k++) agg[v] = order[A->j[k]];
  }
  for (int sweep = 0; sweep < CAMG_SWEEPS && left; sweep++) {
    left = 0;
    PetscCall(PetscArraycpy(order, agg, n));
    for (PetscInt v = 0; v < n; v++) {
      if (order[v] < 0 && A->i[v + 1] > A->i[v]) {
        agg[v] = Heaviest(A, order, v);
        left += agg[v] < 0;
      }
    }
  }
  PetscCall(PetscFree(order));
  PetscCall(PetscFree(near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -a_ij / |a_ii a_jj|^1/2, or 0 for weak and positive entries */
static inline PetscReal Weight(const CAMGMatrix *A, const PetscReal root[], PetscReal threshold, PetscInt r, PetscInt k)
{
  const PetscReal size = root[r] * root[A->j[k]], w = size > 0 ? -PetscRealPart(A->a[k]) / size : 0;

  return A->j[k] != r && w >= threshold ? w : 0;
}

/* The free neighbour with the largest weight; of nearly equal weights that with the largest hash of both vertices */
static PetscInt Choice(const CAMGMatrix *A, const PetscReal root[], PetscReal threshold, const PetscInt mate[], PetscInt v)
{
  PetscInt  choice = -1;
  PetscReal best   = 0;
  uint32_t  hbest  = 0;

  for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
    const PetscInt  c = A->j[k];
    const PetscReal w = Weight(A, root, threshold, v, k);
    const uint32_t  h = CAMGHash((uint32_t)PetscMin(v, c)) ^ CAMGHash((uint32_t)PetscMax(v, c) + 77);

    if (w <= 0 || mate[c] >= 0) continue;
    if (w > best * (PetscReal)1.0000001 || (w > best * (PetscReal)0.9999999 && h > hbest)) {
      best   = w;
      hbest  = h;
      choice = c;
    }
  }
  return choice;
}

/*
   Pairs by mutual choice. A vertex without a mate joins its heaviest neighbour's pair, one vertex a pair, or stays
   alone
*/
PetscErrorCode PCCAMGPairs_Private(const CAMGMatrix *A, const PetscReal root[], PetscReal threshold, PetscInt agg[], PetscInt *aggregates)
{
  const PetscInt n = A->m;
  PetscInt      *mate, *choice;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &mate, n, &choice));
  for (PetscInt v = 0; v < n; v++) mate[v] = -1;
  for (int round = 0; round < AGGREGATE_ROUNDS; round++) {
    for (PetscInt v = 0; v < n; v++) choice[v] = mate[v] >= 0 ? -1 : Choice(A, root, threshold, mate, v);
    for (PetscInt v = 0; v < n; v++) {
      if (choice[v] >= 0 && choice[choice[v]] == v) mate[v] = choice[v];
    }
  }
  *aggregates = 0;
  for (PetscInt v = 0; v < n; v++) {
    if (mate[v] > v) agg[v] = agg[mate[v]] = (*aggregates)++;
    choice[v] = 0; /* from here on, whether a single vertex has joined the pair whose first vertex is v */
  }
  for (PetscInt v = 0; v < n; v++) {
    PetscReal best = 0;
    PetscInt  pair = -1;

    if (mate[v] >= 0) continue;
    for (PetscInt k = A->i[v]; k < A->i[v + 1]; k++) {
      const PetscInt  c = A->j[k];
      const PetscReal w = Weight(A, root, threshold, v, k);

      if (w > best && mate[c] >= 0 && !choice[PetscMin(c, mate[c])]) {
        best = w;
        pair = PetscMin(c, mate[c]);
      }
    }
    if (pair >= 0) choice[pair] = 1;
    agg[v] = pair >= 0 ? agg[pair] : (*aggregates)++;
  }
  PetscCall(PetscFree2(mate, choice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGCompose_Private(PetscInt n, const PetscInt next[], PetscInt agg[])
{
  PetscFunctionBegin;
  for (PetscInt v = 0; v < n; v++) agg[v] = next[agg[v]];
  PetscFunctionReturn(PETSC_SUCCESS);
}
