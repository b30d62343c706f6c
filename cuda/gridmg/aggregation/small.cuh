/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   All small levels in one kernel: the shared memory of a cluster of blocks holds the levels, with faces as numbers. A
   cycle is a list of operations, made by the host, with a barrier after each operation.

   A level consists of pairs of cells of a row, a red and a black cell. Lines of pairs are divided among the blocks, so
   that an aggregate and its cells are in the same block. The smallest levels are single: all blocks have the whole
   level, and do the same work. A block stores its pairs of a level in slots. The coarsest level is a dense matrix whose
   rows are divided among the blocks. The places of neighbours, aggregates and their cells are codes: block, slot and
   colour. Data that do not change between applications are stored as an image of the memory of each block.
*/

#include "../../common/pdl.cuh"
#include "smalldense.cuh"

/* A step consists of an operation, a flag for the barrier after the operation, and a level */
#define SMALL_BARRIER 16u /* barrier of all blocks */

template <int threads>
static __global__ void __launch_bounds__(threads, 1) GridMGSmallKernel(const __grid_constant__ GridMGSmallCycle m)
{
  __shared__ uint64_t       barrier[2];
  __shared__ unsigned short program[GRIDMG_SMALL_STEPS];
  __shared__ SmallArrays    arrays[GRIDMG_SMALL_LEVELS];
  __shared__ int            single[GRIDMG_SMALL_LEVELS], by[GRIDMG_SMALL_LEVELS];
  constexpr int             rounds  = GRIDMG_SMALL_SLOTS / threads;
  const unsigned int        rank    = SmallRank();
  SmallCluster              cluster = {barrier, 0, static_cast<unsigned int>(m.cluster)};
  int                       cell[rounds][2]; /* of the pairs of this thread on the first level; -1: none */

  PDLTrigger();
  if (threadIdx.x < 2) SmallBarrierInit(&barrier[threadIdx.x], cluster.blocks);
  {
    const uint4 *from = reinterpret_cast<const uint4 *>(m.image + static_cast<size_t>(rank) * m.imagebytes);

#pragma unroll 8
    for (int k = static_cast<int>(threadIdx.x); k < m.imagebytes / 16; k += threads) reinterpret_cast<uint4 *>(SmallFours())[k] = from[k];
  }
  if (m.lists.place >= 0) {
    for (int k = static_cast<int>(threadIdx.x); k < m.lists.bytes / 8; k += threads)
      reinterpret_cast<uint2 *>(SmallFours())[m.lists.place / 8 + k] = reinterpret_cast<const uint2 *>(m.lists.data)[k];
  }
  for (int k = static_cast<int>(threadIdx.x); k < m.steps; k += threads) program[k] = m.program[k];
  if (static_cast<int>(threadIdx.x) < m.levels) {
    arrays[threadIdx.x] = SmallArraysOf(m.level[threadIdx.x], m.imagebytes);
    single[threadIdx.x] = m.level[threadIdx.x].single;
    by[threadIdx.x]     = m.level[threadIdx.x].by[0];
  }
  /* the divisions are done before the wait */
#pragma unroll
  for (int round = 0; round < rounds; round++) {
    const GridMGSmallLevel &l    = m.level[0];
    const int               slot = static_cast<int>(threadIdx.x) + round * threads;
    int                     I = 0, j = 0, k = 0;
    const bool              is = slot < l.slots && SmallPairOf(l, m.cluster, static_cast<int>(rank), slot, &I, &j, &k);

#pragma unroll
    for (int colour = 0; colour < 2; colour++) {
      const int i = 2 * I + (((j + k) & 1) ^ colour);

      cell[round][colour] = is && i < l.n[0] ? i + l.n[0] * (j + l.n[1] * k) : -1;
    }
  }
  __syncthreads();
  (void)PDLWait(m.b); /* the data above do not change between applications */
  {
    const GridMGSmallLevel &l = m.level[0];
    const SmallArrays       a = arrays[0];

#pragma unroll
    for (int round = 0; round < rounds; round++) {
      const int slot = static_cast<int>(threadIdx.x) + round * threads;

#pragma unroll
      for (int colour = 0; colour < 2 && slot < a.n; colour++) {
        const float b = cell[round][colour] >= 0 ? m.b[cell[round][colour]] : 0.f;

        SmallNumbers()[a.b + colour * a.n + slot] = b;
        SmallNumbers()[a.x + colour * a.n + slot] = colour ? 0.f : SmallFours()[a.second + slot].w * b;
      }
    }
    for (int k = static_cast<int>(threadIdx.x); k < l.list.wells; k += threads) {
      const SmallListArrays w = SmallListOf(m, l);

      w.x[k] = 0;
      w.b[k] = m.b[l.n[0] * l.n[1] * l.n[2] + k];
    }
  }
  SmallClusterBarrier();
  unsigned int step = program[0];
  SmallArrays  a    = arrays[step >> 8];

  for (int t = 0; t < m.steps; t++) {
    /* read before the barrier */
    const unsigned int      k = step >> 8, next = program[min(t + 1, m.steps - 1)];
    const SmallArrays       nexta = arrays[next >> 8];
    const bool              alone = single[k];
    const GridMGSmallLevel &l     = m.level[k];

    switch (step & 15) {
    case GRIDMG_SMALL_RED:
      SmallSweep<true, false, 0>(a, alone);
      break;
    case GRIDMG_SMALL_BLACK:
      SmallSweep<true, true, 1>(a, alone);
      break;
    case GRIDMG_SMALL_BLACKUP:
      SmallSweep<true, false, 1>(a, alone);
      break;
    case GRIDMG_SMALL_RESIDUAL:
      SmallSweep<false, true, 0>(a, alone);
      break;
    case GRIDMG_SMALL_RESTRICT:
      if (alone || !single[k + 1]) SmallRestrict<true>(a, by[k], arrays[k + 1]);
      else SmallRestrict<false>(a, by[k], arrays[k + 1]);
      if (l.list.wells) {
        const SmallListArrays w = SmallListOf(m, l), wc = SmallListOf(m, m.level[k + 1]);

        for (int well = static_cast<int>(threadIdx.x); well < l.list.wells; well += threads) {
          wc.b[well] = w.r[well];
          wc.x[well] = 0;
        }
      }
      break;
    case GRIDMG_SMALL_LISTRED:
    case GRIDMG_SMALL_LISTBLACK:
      SmallList(l, a, SmallListOf(m, l), rank, (step & 15) == GRIDMG_SMALL_LISTBLACK);
      break;
    case GRIDMG_SMALL_UNLISTRED:
    case GRIDMG_SMALL_UNLISTBLACK:
      SmallUnlist(l, a, SmallListOf(m, l), rank, (step & 15) == GRIDMG_SMALL_UNLISTBLACK);
      break;
    case GRIDMG_SMALL_LISTRESIDUAL:
      SmallListResidual(l, a, SmallListOf(m, l), rank);
      break;
    case GRIDMG_SMALL_WELLS:
    case GRIDMG_SMALL_WELLSUP:
      SmallWells(l, a, SmallListOf(m, l), (step & 15) == GRIDMG_SMALL_WELLSUP);
      break;
    case GRIDMG_SMALL_LISTPROLONG:
      SmallListProlong(l, a, SmallListOf(m, l), arrays[k + 1], SmallListOf(m, m.level[k + 1]), rank, m.factor);
      break;
    case GRIDMG_SMALL_PROLONG:
      SmallProlong(a, arrays[k + 1], m.factor);
      break;
    default:
      if (!m.dense.apart) SmallDenseHere(m, a, SmallListOf(m, l));
      else if (m.dense.packed >= 0) SmallDenseApart<true>(m, alone, a, SmallListOf(m, l), rank, cluster);
      else SmallDenseApart<false>(m, alone, a, SmallListOf(m, l), rank, cluster);
    }
    if (step & SMALL_BARRIER) cluster.Wait();
    else __syncthreads();
    step = next;
    a    = nexta;
  }
  {
    const GridMGSmallLevel &l     = m.level[0];
    const SmallArrays       first = arrays[0];

#pragma unroll
    for (int round = 0; round < rounds; round++) {
#pragma unroll
      for (int colour = 0; colour < 2; colour++) {
        if (cell[round][colour] >= 0) m.x[cell[round][colour]] = SmallNumbers()[first.x + colour * first.n + static_cast<int>(threadIdx.x) + round * threads];
      }
    }
    if (rank == 0) {
      for (int k = static_cast<int>(threadIdx.x); k < l.list.wells; k += threads) m.x[l.n[0] * l.n[1] * l.n[2] + k] = SmallListOf(m, l).x[k];
    }
  }
  SmallClusterBarrier();
}

/* ------------------------------------------------------------ the plan */

/* Places the levels in shared memory; parts: the coarsest level is divided. Returns false if a level needs too many
   slots */
static inline bool GridMGSmallPlaceLevels(GridMGSmallCycle *m, int alone, bool parts, size_t *image, size_t *work)
{
  int last = -1; /* coarsest level with parts */

  *image = *work = 0;
  for (int k = 0; k < m->levels; k++) {
    GridMGSmallLevel *l = &m->level[k];

    l->single = k == m->levels - 1 ? !parts || (k > 0 && m->level[k - 1].single) : static_cast<long long>(l->n[0]) * l->n[1] * l->n[2] <= alone;
    if (!l->single) last = k;
  }
  for (int k = m->levels - 1; k >= 0; k--) {
    GridMGSmallLevel *l = &m->level[k], *c = l + 1;

    l->row = k == m->levels - 1 ? (l->n[0] + 1) / 2 : c->row * l->by[0];
    for (int d = 0; d < 2; d++) {
      l->lines[d] = k < last ? c->lines[d] : l->n[d + 1];
      l->shift[d] = k < last ? c->shift[d] + l->by[d + 1] - 1 : 0;
    }
  }
  for (int k = 0; k < m->levels; k++) {
    GridMGSmallLevel *l   = &m->level[k];
    const int         all = l->lines[0] * l->lines[1], lines = l->single ? all : (all + m->cluster - 1) / m->cluster;
    const long long   slots = (static_cast<long long>(l->row) * lines << (l->shift[0] + l->shift[1]));

    if (slots > GRIDMG_SMALL_SLOTS - 8) return false;
    l->slots = static_cast<int>((slots + 7) / 8 * 8);
    l->image = static_cast<int>(*image);
    l->work  = static_cast<int>(*work);
    *image += static_cast<size_t>(l->slots) * (GRIDMG_SMALL_IMAGE + (k ? GRIDMG_SMALL_CHILD : 0));
    *work += static_cast<size_t>(l->slots) * GRIDMG_SMALL_WORK;
    l->list.saved = static_cast<int>(*work);
    *work += (2 * static_cast<size_t>(l->list.part[1]) + 3 * static_cast<size_t>(l->list.wells)) * sizeof(float);
  }
  return true;
}

/* Bytes of the dense matrix in the memory of each block */
static inline size_t GridMGSmallDenseBytes(const GridMGSmallCycle *m)
{
  const size_t n = static_cast<size_t>(m->dense.n), cluster = static_cast<size_t>(m->cluster), rows = (n + cluster - 1) / cluster;
  size_t       numbers;

  if (m->dense.apart) numbers = m->dense.symmetric ? cluster * (rows * (rows + 1) / 2) : rows * n;
  else numbers = m->dense.symmetric ? n * (n + 1) / 2 : n * n;
  return (numbers * sizeof(float) + 15) / 16 * 16;
}

/*
   Places all data in shared memory for a number of blocks. Levels with at most `alone` cells are single. Returns the
   bytes per block, or 0 if a level needs too many slots or the data do not fit.
*/
static inline size_t GridMGSmallPlace(GridMGSmallCycle *m, int cluster, int alone, size_t room)
{
  const GridMGSmallLevel *coarsest = &m->level[m->levels - 1];
  /* places and scaling in the image; the same size for 2 work numbers per unknown */
  const size_t unknowns = (2 * sizeof(float) * static_cast<size_t>(m->dense.n) + 15) / 16 * 16;
  size_t       image, work;
  bool         fits = false;

  m->cluster     = cluster;
  m->dense.apart = m->dense.n > GRIDMG_SMALL_HERE;
  for (int parts = m->dense.apart && coarsest->n[1] * coarsest->n[2] >= cluster; parts >= 0 && !fits; parts--)
    fits = GridMGSmallPlaceLevels(m, alone, parts, &image, &work) && image + work + 2 * unknowns <= room;
  if (!fits) return 0;
  m->dense.scratch = static_cast<int>(work);
  work += unknowns;
  m->dense.unknowns = static_cast<int>(image);
  image += unknowns;
  for (m->dense.packed = -1; m->dense.packed < 0; m->dense.apart = 1) {
    const size_t bytes = GridMGSmallDenseBytes(m);

    if (image + work + bytes <= room) {
      m->dense.packed = static_cast<int>(image);
      image += bytes;
      break;
    }
    if (m->dense.apart) break;
  }
  m->imagebytes  = static_cast<int>(image);
  m->lists.place = -1;
  if (m->lists.bytes && image + work + static_cast<size_t>(m->lists.bytes) + 16 <= room) {
    m->lists.place = static_cast<int>((image + work + 15) / 16 * 16);
    work += static_cast<size_t>(m->lists.bytes) + 16;
  }
  return image + work;
}

/* Translates pairs of operation and level into steps with barriers. Returns the number of steps */
static inline int GridMGSmallProgram(const GridMGSmallCycle *m, int steps, const unsigned char step[], unsigned short program[])
{
  for (int t = 0; t < steps; t++) {
    const int  op = step[2 * t], k = step[2 * t + 1];
    const bool parts = !m->level[k].single, coarseparts = k < m->levels - 1 && !m->level[k + 1].single;
    /* next operation on the same level */
    const int next = t + 1 < steps && step[2 * t + 3] == k ? step[2 * t + 2] : -1;
    bool      all  = parts;

    switch (op) {
    case GRIDMG_SMALL_RESIDUAL:
    case GRIDMG_SMALL_LISTRESIDUAL: /* the next operation restricts to cells of the same block */
      all = parts && !coarseparts && next != GRIDMG_SMALL_LISTRESIDUAL;
      break;
    case GRIDMG_SMALL_RESTRICT:
      all = coarseparts;
      break;
    case GRIDMG_SMALL_RED:
    case GRIDMG_SMALL_UNLISTRED:
      all = parts && (next == GRIDMG_SMALL_BLACK || next == GRIDMG_SMALL_LISTBLACK || next == GRIDMG_SMALL_LISTRED);
      break;
    case GRIDMG_SMALL_PROLONG:
      all = parts && next != GRIDMG_SMALL_LISTPROLONG;
      break;
    case GRIDMG_SMALL_UNLISTBLACK:
    case GRIDMG_SMALL_WELLS:
    case GRIDMG_SMALL_WELLSUP:
      all = false;
      break;
    /* the next dense step overwrites numbers that other blocks read in this step. A finer level with parts has barriers
       in between */
    case GRIDMG_SMALL_DENSE:
      all = m->dense.apart && (k == 0 || m->level[k - 1].single);
      break;
    default:
      break;
    }
    program[t] = static_cast<unsigned short>(op | (all ? SMALL_BARRIER : 0) | k << 8);
  }
  return steps;
}
