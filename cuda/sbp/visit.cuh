/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* Loops over the nodes of a box, and sums over these nodes */

#include "../common/blocksum.cuh"
#include "launch.cuh"

#define SBP_VECTOR_THREADS 256

/* The nodes of a loop, counted from the first own node of a grid. Each thread calls visit(i, j) for one node at a
   time */
struct SBPNodes {
  int count[2];
};

static SBPNodes SBPOwnNodes(const SBPGrid *g)
{
  return SBPNodes{{static_cast<int>(g->own.count[0]), static_cast<int>(g->own.count[1])}};
}

template <class Visit>
static __global__ void __launch_bounds__(SBP_VECTOR_THREADS) SBPVisitKernel(SBPNodes nodes, int columnblocks, Visit visit)
{
  const int i    = static_cast<int>(blockIdx.x) % columnblocks * SBP_VECTOR_THREADS + static_cast<int>(threadIdx.x),
            rows = static_cast<int>(gridDim.x) / columnblocks;

  if (i < nodes.count[0])
    for (int j = static_cast<int>(blockIdx.x) / columnblocks; j < nodes.count[1]; j += rows) visit(i, j);
}

/* Blocks per row of nodes, and all blocks: none without nodes. Rows above the limit are visited in turn */
static int SBPVisitBlocks(SBPNodes nodes, int *columnblocks)
{
  *columnblocks = (nodes.count[0] + SBP_VECTOR_THREADS - 1) / SBP_VECTOR_THREADS;
  if (nodes.count[0] <= 0 || nodes.count[1] <= 0) return 0;
  return *columnblocks * (nodes.count[1] < 65536 / *columnblocks ? nodes.count[1] : 65536 / *columnblocks + 1);
}

template <class Visit>
static PetscErrorCode SBPVisit(SBPNodes nodes, Visit visit)
{
  int          columnblocks;
  const int    blocks = SBPVisitBlocks(nodes, &columnblocks);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  if (blocks) {
    SBPVisitKernel<Visit><<<blocks, SBP_VECTOR_THREADS, 0, stream>>>(nodes, columnblocks, visit);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Visit>
static PetscErrorCode SBPVisit(const SBPGrid *g, Visit visit)
{
  PetscFunctionBegin;
  PetscCall(SBPVisit(SBPOwnNodes(g), visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each block has some rows; a second kernel adds the sums of all blocks */
template <class Term>
static __global__ void __launch_bounds__(SBP_VECTOR_THREADS) SBPTermKernel(SBPNodes nodes, Term term, double *partial)
{
  double s = 0;

  for (int j = static_cast<int>(blockIdx.x); j < nodes.count[1]; j += static_cast<int>(gridDim.x))
    for (int i = static_cast<int>(threadIdx.x); i < nodes.count[0]; i += SBP_VECTOR_THREADS) s += term(i, j);
  s = BlockSum<SBP_VECTOR_THREADS>(s);
  if (threadIdx.x == 0) partial[blockIdx.x] = s;
}

static __global__ void __launch_bounds__(SBP_VECTOR_THREADS) SBPSumKernel(int n, const double *partial, double *sum)
{
  double s = 0;

  for (int k = static_cast<int>(threadIdx.x); k < n; k += SBP_VECTOR_THREADS) s += partial[k];
  s = BlockSum<SBP_VECTOR_THREADS>(s);
  if (threadIdx.x == 0) *sum = s;
}

/* Sums term(i, j) over the own nodes, on the device */
template <class Term>
static PetscErrorCode SBPLaunchSum(const SBPGrid *g, Term term, double *partial, double *sum)
{
  const SBPNodes nodes  = SBPOwnNodes(g);
  const int      blocks = nodes.count[0] == 0 ? 0 : (nodes.count[1] < SBP_SUM_BLOCKS ? nodes.count[1] : SBP_SUM_BLOCKS);
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  if (blocks) SBPTermKernel<Term><<<blocks, SBP_VECTOR_THREADS, 0, stream>>>(nodes, term, partial);
  SBPSumKernel<<<1, SBP_VECTOR_THREADS, 0, stream>>>(blocks, partial, sum);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
