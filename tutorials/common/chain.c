/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   What all chains share, and the queue M/M/1/K: arrivals with rate lambda, one server with rate mu, K places. The
   distribution of the queue is known at any time.
*/

#include "chain.h"

PetscErrorCode ChainAssemble(MPI_Comm comm, PetscInt n, PetscInt longest, ChainRowFn *row, void *ctx, const Shares *shares, Chain *chain)
{
  PetscInt     begin, end, m, *cols, *dnnz, *onnz, count;
  PetscScalar *values;
  PetscLayout  map;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, &chain->A));
  PetscCall(SharesGetLocal(comm, shares, n, &m));
  PetscCall(MatSetSizes(chain->A, m, m, n, n));
  PetscCall(MatSetFromOptions(chain->A));
  PetscCall(MatGetLayouts(chain->A, &map, NULL));
  PetscCall(PetscLayoutSetUp(map));
  PetscCall(PetscLayoutGetRange(map, &begin, &end));

  /* Two passes over the rows: first the lengths, then the entries */
  PetscCall(PetscMalloc4(m, &dnnz, m, &onnz, longest, &cols, longest, &values));
  for (PetscInt i = 0; i < m; i++) {
    PetscCall((*row)(ctx, begin + i, &count, cols, values));
    dnnz[i] = 0;
    for (PetscInt j = 0; j < count; j++) dnnz[i] += (cols[j] >= begin && cols[j] < end);
    onnz[i] = count - dnnz[i];
  }
  PetscCall(MatXAIJSetPreallocation(chain->A, 1, dnnz, onnz, NULL, NULL));
  for (PetscInt i = begin; i < end; i++) {
    PetscCall((*row)(ctx, i, &count, cols, values));
    PetscCall(MatSetValues(chain->A, 1, &i, count, cols, values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(chain->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(chain->A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree4(dnnz, onnz, cols, values));
  PetscCall(MatCreateVecs(chain->A, &chain->p, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChainDestroy(Chain *chain)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < chain->nlabels; i++) {
    PetscCall(PetscFree(chain->label[i]));
    PetscCall(VecDestroy(&chain->member[i]));
  }
  PetscCall(PetscFree(chain->label));
  PetscCall(PetscFree(chain->member));
  PetscCall(PetscFree(chain->level));
  PetscCall(MatDestroy(&chain->A));
  PetscCall(VecDestroy(&chain->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QueueRow(void *ctx, PetscInt row, PetscInt *n, PetscInt cols[], PetscScalar values[])
{
  const Chain *chain = (const Chain *)ctx;

  PetscFunctionBeginUser;
  *n = 0;
  if (row > 0) {
    cols[*n]       = row - 1;
    values[(*n)++] = (PetscScalar)chain->lambda;
  }
  cols[*n]       = row;
  values[(*n)++] = (PetscScalar)(-(row < chain->nlevels - 1 ? chain->lambda : 0.0) - (row > 0 ? chain->mu : 0.0));
  if (row < chain->nlevels - 1) {
    cols[*n]       = row + 1;
    values[(*n)++] = (PetscScalar)chain->mu;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChainQueue(MPI_Comm comm, PetscInt K, PetscReal lambda, PetscReal mu, const Shares *shares, Chain *chain)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCheck(K >= 1 && lambda > 0 && mu > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A queue M/M/1/K has -K places, at least 1, and positive rates -lambda and -mu, not %" PetscInt_FMT ", %g, %g", K, (double)lambda, (double)mu);
  PetscCall(PetscMemzero(chain, sizeof(*chain)));
  PetscCall(PetscSNPrintf(chain->name, sizeof(chain->name), "queue M/M/1/%" PetscInt_FMT, K));
  chain->n       = K + 1;
  chain->nz      = 3 * (PetscInt64)K + 1;
  chain->nlevels = K + 1;
  chain->lambda  = (double)lambda;
  chain->mu      = (double)mu;
  PetscCall(ChainAssemble(comm, K + 1, 3, QueueRow, chain, shares, chain));
  PetscCall(VecGetOwnershipRange(chain->p, &begin, &end));
  PetscCall(PetscMalloc1(end - begin, &chain->level));
  for (PetscInt i = begin; i < end; i++) chain->level[i - begin] = i;
  if (!begin && end) PetscCall(VecSetValue(chain->p, 0, 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(chain->p));
  PetscCall(VecAssemblyEnd(chain->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts with an empty queue. The solution is the steady state and a sum over the eigenvectors of a symmetric matrix
   similar to the generator */
void QueueExact(const Chain *chain, PetscReal t, PetscReal p[])
{
  const long double pi = 4 * atanl(1.0L), lambda = chain->lambda, mu = chain->mu, rho = lambda / mu, a = 1 / sqrtl(rho);
  const PetscInt    K   = chain->nlevels - 1;
  long double       sum = 0;

  for (PetscInt i = 0; i <= K; i++) sum += powl(rho, (long double)i);
  for (PetscInt i = 0; i <= K; i++) {
    long double x = powl(rho, (long double)i) / sum;

    for (PetscInt j = 1; j <= K; j++) {
      const long double theta = (long double)j * pi / (long double)(K + 1), norm = (long double)(K + 1) / 2 * (1 + a * a - 2 * a * cosl(theta));

      x += powl(rho, (long double)i / 2) * expl((2 * sqrtl(lambda * mu) * cosl(theta) - lambda - mu) * (long double)t) * sinl(theta) *
           (sinl((long double)(i + 1) * theta) - a * sinl((long double)i * theta)) / norm;
    }
    p[i] = (PetscReal)x;
  }
}
