/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the tests of TSUNIFORMIZATION share: small chains, and their solutions in long double */

#include <lithe.h>
#include <tests/failures.h>
#include <tests/vcrs/vcrstest.h>

typedef long double Long;

#define CHAIN_MAX 24

/* A chain: rate[i][j] leads from i to j */
typedef struct {
  const char *name;
  PetscInt    n;
  double      rate[CHAIN_MAX][CHAIN_MAX]; /* the diagonal is not used */
} Chain;

typedef enum {
  CHAIN_QUEUE,     /* M/M/1/K */
  CHAIN_RANDOM,    /* all sorts of rates, from 1e-3 to 10 */
  CHAIN_CYCLE,     /* all rates are equal: P^T is periodic */
  CHAIN_ABSORBING, /* two absorbing states */
  CHAIN_SLOW,      /* two halves with hardly any exchange: differences become small long before the distribution is steady */
  CHAIN_APART,     /* two chains and a lonely state */
  CHAIN_KINDS
} ChainKind;

static const double queuearrival = 0.7, queueservice = 1.0;

static inline void ChainMake(ChainKind kind, Chain *c)
{
  static const char *const names[] = {"queue", "random", "cycle", "absorbing", "slow", "apart"};
  unsigned int             seed    = 12345;

  memset(c, 0, sizeof(*c));
  c->name = names[kind];
  c->n    = kind == CHAIN_QUEUE ? 21 : 12;
  for (PetscInt i = 0; i < c->n; i++) {
    for (PetscInt j = 0; j < c->n; j++) {
      double rate;

      seed = seed * 1103515245u + 12345u;
      rate = pow(10.0, -3.0 + 4.0 * (double)((seed >> 8) & 0xffff) / 65536.0);
      if (i == j) continue;
      switch (kind) {
      case CHAIN_QUEUE:
        rate = j == i + 1 ? queuearrival : (j == i - 1 ? queueservice : 0.0);
        break;
      case CHAIN_CYCLE:
        rate = j == (i + 1) % c->n ? 2.0 : 0.0;
        break;
      case CHAIN_ABSORBING:
        if (i == 3 || i == 7 || (i + j) % 3) rate = 0.0;
        break;
      case CHAIN_SLOW:
        rate = i / 6 == j / 6 ? 1.0 : (i == 0 && j == 6 ? 1e-5 : 0.0);
        break;
      case CHAIN_APART:
        if (i / 6 != j / 6 || i == 11 || j == 11) rate = 0.0;
        break;
      default:
        if ((i * 7 + j * 3) % 4 == 0) rate = 0.0;
        break;
      }
      c->rate[i][j] = rate;
    }
  }
}

static inline Long ChainRate(const Chain *c, PetscInt i)
{
  Long sum = 0;

  for (PetscInt j = 0; j < c->n; j++) {
    if (j != i) sum += (Long)(PetscReal)c->rate[i][j];
  }
  return sum;
}

static inline Long ChainAlpha(const Chain *c)
{
  Long alpha = 0;

  for (PetscInt i = 0; i < c->n; i++) alpha = PetscMax(alpha, ChainRate(c, i));
  return alpha;
}

/* Q^T as a matrix, of the type of -mat_type */
static inline PetscErrorCode ChainMatrix(const Chain *c, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, c->n, c->n));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt to = begin; to < end; to++) {
    PetscCall(MatSetValue(*A, to, to, (PetscScalar)-ChainRate(c, to), INSERT_VALUES));
    for (PetscInt from = 0; from < c->n; from++) {
      if (from != to && c->rate[from][to] != 0.0) PetscCall(MatSetValue(*A, to, from, (PetscScalar)c->rate[from][to], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* exp(Q^T t) p by scaling and squaring: the series of P^T with positive terms, for a time of at most half a jump */
static inline void ChainExact(const Chain *c, Long t, const Long p[], Long x[])
{
  static Long E[CHAIN_MAX][CHAIN_MAX], T[CHAIN_MAX][CHAIN_MAX], S[CHAIN_MAX][CHAIN_MAX], P[CHAIN_MAX][CHAIN_MAX];
  const Long  alpha = ChainAlpha(c);
  Long        q     = alpha * t;
  PetscInt    n = c->n, squarings = 0;

  while (q > 0.5L) {
    q /= 2;
    squarings++;
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      P[i][j] = alpha > 0 ? (i == j ? 1 - ChainRate(c, i) / alpha : (Long)(PetscReal)c->rate[j][i] / alpha) : i == j;
      E[i][j] = T[i][j] = i == j;
    }
  }
  for (int k = 1; k < 30; k++) {
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) {
        S[i][j] = 0;
        for (PetscInt l = 0; l < n; l++) S[i][j] += P[i][l] * T[l][j];
      }
    }
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) {
        T[i][j] = S[i][j] * q / k;
        E[i][j] += T[i][j];
      }
    }
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) E[i][j] *= expl(-q);
  }
  for (; squarings > 0; squarings--) {
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) {
        S[i][j] = 0;
        for (PetscInt l = 0; l < n; l++) S[i][j] += E[i][l] * E[l][j];
      }
    }
    memcpy(E, S, sizeof(E));
  }
  for (PetscInt i = 0; i < n; i++) {
    x[i] = 0;
    for (PetscInt j = 0; j < n; j++) x[i] += E[i][j] * p[j];
  }
}

static inline PetscErrorCode ChainVec(Mat A, const Chain *c, const Long p[], Vec *x)
{
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, x, NULL));
  PetscCall(VecGetOwnershipRange(*x, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(*x, i, (PetscScalar)p[i], INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*x));
  PetscCall(VecAssemblyEnd(*x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* || x - exact ||_1, and the sum of x */
static inline PetscErrorCode ChainError(Vec x, const Long exact[], double *error, double *mass)
{
  PetscInt           begin, end;
  const PetscScalar *xx;
  double             sum[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayRead(x, &xx));
  for (PetscInt i = begin; i < end; i++) {
    sum[0] += (double)fabsl((Long)PetscRealPart(xx[i - begin]) - exact[i]) + (double)PetscAbsReal(PetscImaginaryPart(xx[i - begin]));
    sum[1] += (double)PetscRealPart(xx[i - begin]);
  }
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  *error = sum[0];
  if (mass) *mass = sum[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver made as in any program with a linear right-hand side */
static inline PetscErrorCode ChainTS(Mat A, const char options[], TS *ts)
{
  PetscOptions database;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  PetscCall(TSSetProblemType(*ts, TS_LINEAR));
  PetscCall(TSSetRHSFunction(*ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(*ts, A, A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(PetscOptionsPush(database));
  PetscCall(TSSetFromOptions(*ts));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}
