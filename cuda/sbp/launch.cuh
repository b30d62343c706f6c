/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The host's part of a launch: kernel arguments from an SBPOperator, and the division of the grid among warps */

#include <lithe/private/cuda/sbp.h>
#include "../common/petsccuda.cuh"
#include "../common/graph.cuh"
#include "node.cuh"

/* Threads per block in kernels with a thread per node */
#define SBP_THREADS 128

/* The rows per warp are reduced until there are SBP_WARPS_WANTED warps, but not below SBP_ROWS_LEAST */
#define SBP_ROWS_LEAST   2
#define SBP_WARPS_WANTED 2048

/* Blocks of a sum, at most, each with a partial sum */
#define SBP_SUM_BLOCKS    1024
#define SBP_SCRATCH_BYTES (SBP_SUM_BLOCKS * sizeof(double))

/* The number types of PetscScalar and of a precision */
#if PetscDefined(USE_COMPLEX)
using SBPScalar = SBPPair<PetscReal>;
#else
using SBPScalar = PetscReal;
#endif

static __device__ __forceinline__ double SBPNumber(const SBPRatio &r)
{
  const double under = r.under ? SBPRead(r.under) : 1;

  return under > 0 ? r.factor * (r.over ? SBPRead(r.over) : 1) / under : 0;
}

/* The largest word of a warp; called by all threads of the warp */
static __device__ __forceinline__ unsigned int SBPWarpLargest(unsigned int word)
{
#pragma unroll
  for (int offset = SBP_WARP / 2; offset > 0; offset /= 2) {
    const unsigned int other = __shfl_xor_sync(0xffffffffu, word, offset);

    word = other > word ? other : word;
  }
  return word;
}

/* Notes the largest number of a warp; word: the upper word of a thread's number */
static __device__ __forceinline__ void SBPNoteLargest(unsigned int word, unsigned int *largest)
{
  word = SBPWarpLargest(word);
  if (SBPLane() == 0) atomicMax(largest + blockIdx.x % SBP_SCALE_SLOTS * SBP_SCALE_STRIDE, word);
}

/* Calls launch(number) with the type of a precision */
template <class Launch>
static inline PetscErrorCode SBPWithType(SBPPrecision precision, Launch launch)
{
  PetscFunctionBegin;
  switch (precision) {
  case SBP_SINGLE:
    PetscCall(launch(float{}));
    break;
  case SBP_DOUBLE:
    PetscCall(launch(double{}));
    break;
  case SBP_SCALAR:
    PetscCall(launch(SBPScalar{}));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for operators of PCSBPMG, which never have SBP_SCALAR */
template <class Launch>
static inline PetscErrorCode SBPWithReal(SBPPrecision precision, Launch launch)
{
  PetscFunctionBegin;
  if (precision == SBP_SINGLE) PetscCall(launch(float{}));
  else PetscCall(launch(double{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shifts an array of the nodes of a box, so that the first own node has index 0 */
template <class T>
static inline T *SBPFromOwn(const SBPGrid *g, const SBPBox *box, PetscInt pitch, const void *x)
{
  if (!x) return nullptr;
  return static_cast<T *>(const_cast<void *>(x)) + static_cast<ptrdiff_t>(g->own.start[1] - box->start[1]) * pitch + (g->own.start[0] - box->start[0]);
}

/* Sets the arguments of an operator. Divides the nodes of a region (NULL: all own nodes) into interior and frame */
template <class V>
static inline PetscErrorCode SBPSetOperator(const SBPOperator *op, const SBPBox *region, SBPMarch<V> *m)
{
  using K          = typename SBPReal<V>::type;
  const SBPGrid *g = &op->grid;
  const SBPBox  *r = region ? region : &g->own;

  PetscFunctionBegin;
  memset(m, 0, sizeof(*m));
  PetscCheck(static_cast<PetscInt64>(g->ghosted.count[0]) * g->ghosted.count[1] < PETSC_INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%" PetscInt_FMT " x %" PetscInt_FMT " nodes of one process are too many for one device; use more processes", g->ghosted.count[0],
             g->ghosted.count[1]);
  for (int k = 0; k < SBPKindCoefficients(op->kind); k++) m->coefficient[k] = SBPFromOwn<const K>(g, &g->ghosted, g->coefficientpitch, op->coefficient[k]);
  for (int d = 0; d < 2; d++) {
    for (int face = 2 * d; face < 2 * d + 2; face++) {
      m->dirichlet[face] = op->kind != SBP_NINE && g->dirichlet[face];
      if (m->dirichlet[face] && op->penalty[face])
        m->penalty[face] = static_cast<const K *>(op->penalty[face]) + (g->own.start[1 - d] - g->ghosted.start[1 - d]);
    }
    m->n[d]      = static_cast<int>(g->n[d]);
    m->start[d]  = static_cast<int>(g->own.start[d]);
    m->h[d]      = static_cast<K>(g->h[d]);
    m->low[d]    = static_cast<int>(g->ghosted.start[d] - g->own.start[d]);
    m->high[d]   = m->low[d] + static_cast<int>(g->ghosted.count[d]);
    m->all[d][0] = static_cast<int>(r->start[d] - g->own.start[d]);
    m->all[d][1] = m->all[d][0] + static_cast<int>(r->count[d]);
    /* At most one node more than the region: beyond that, u may have no ghosts. Wide accesses never read columns before
       the first own column */
    if (m->low[d] < 0 || d) m->low[d] = m->low[d] > m->all[d][0] - 1 ? m->low[d] : m->all[d][0] - 1;
    m->high[d] = m->high[d] < m->all[d][1] + 1 ? m->high[d] : m->all[d][1] + 1;
  }
  m->order            = op->kind != SBP_NINE ? g->order : 2;
  m->factor.r         = static_cast<K>(g->h[1] / (2 * g->h[0]));
  m->factor.s         = static_cast<K>(g->h[0] / (2 * g->h[1]));
  m->factor.scale     = static_cast<K>(op->scale);
  m->pitch            = static_cast<int>(g->pitch);
  m->ghostpitch       = static_cast<int>(g->ghostpitch);
  m->coefficientpitch = static_cast<int>(g->coefficientpitch);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls launch(arguments, stream) with the arguments of an operator in its precision */
template <class Launch>
static inline PetscErrorCode SBPWithOperator(const SBPOperator *op, const SBPBox *region, Launch launch)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(SBPWithType(op->precision, [&](auto number) {
    SBPMarch<decltype(number)> m;

    PetscFunctionBegin;
    PetscCall(SBPSetOperator(op, region, &m));
    launch(m, stream);
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks with a thread per node, of a launch from the first own node on */
static inline int SBPNodeBlocks(const SBPDivision &m)
{
  return (m.all[0][1] * m.all[1][1] + SBP_THREADS - 1) / SBP_THREADS;
}

/* The arrays of a step */
template <class V>
static inline void SBPSetStep(const SBPOperator *op, const SBPStep *step, SBPArrays<V> *m)
{
  using K = typename SBPReal<V>::type;

  m->u    = SBPFromOwn<const V>(&op->grid, &op->grid.ghosted, op->grid.ghostpitch, step->u);
  m->b    = step->mode == SBP_APPLY ? nullptr : static_cast<const V *>(step->b);
  m->sign = step->mode == SBP_RESIDUAL ? K(-1) : K(1);
  m->out  = static_cast<V *>(step->out);
  if (step->mode == SBP_SMOOTH) {
    m->c1   = static_cast<K>(step->c1);
    m->c2   = static_cast<K>(step->c2);
    m->d    = m->c1 != 0 ? static_cast<const V *>(step->d) : nullptr;
    m->dinv = static_cast<const V *>(step->dinv);
    m->dout = static_cast<V *>(step->dout);
  }
}

/* Nodes at a face with special rows */
static inline int SBPFrameWidth(const SBPOperator *op, int face, int more)
{
  if (op->kind == SBP_NINE) return 0;
  return (op->grid.dirichlet[face] ? 3 : 1) + more;
}

/* Sets from and to: all nodes without a frame of the given width at each face of a grid of n intervals */
template <class N>
static inline void SBPSetFrameOf(const N n[2], const int width[4], SBPDivision *m)
{
  int inside = 1, count = 1;

  for (int d = 0; d < 2; d++) {
    const int low = width[2 * d] - m->start[d], high = static_cast<int>(n[d]) + 1 - width[2 * d + 1] - m->start[d];

    m->from[d] = m->all[d][0] > low ? m->all[d][0] : low;
    m->to[d]   = m->all[d][1] < high ? m->all[d][1] : high;
    inside *= m->to[d] > m->from[d] ? m->to[d] - m->from[d] : 0;
    count *= m->all[d][1] > m->all[d][0] ? m->all[d][1] - m->all[d][0] : 0;
  }
  /* without interior nodes, all nodes are rows of the frame below */
  if (!inside) {
    m->from[0] = m->to[0] = m->all[0][1];
    m->from[1] = m->to[1] = m->all[1][1];
  }
  m->frame = count - inside;
}

static inline void SBPSetFrame(const int width[4], SBPDivision *m)
{
  SBPSetFrameOf(m->n, width, m);
}

/* Whether vector accesses are possible */
template <class T>
static inline bool SBPIsAligned(const T *p, int pitch)
{
  return reinterpret_cast<uintptr_t>(p) % 16 == 0 && pitch * sizeof(T) % 16 == 0;
}

template <class V>
static inline bool SBPIsAligned(const SBPOperator *op, const SBPMarch<V> &m)
{
  bool aligned = op->grid.own.start[0] == op->grid.ghosted.start[0];

  for (int k = 0; k < SBPKindCoefficients(op->kind); k++) aligned = aligned && SBPIsAligned(m.coefficient[k], m.coefficientpitch);
  return aligned && SBPIsAligned(m.u, m.ghostpitch) && SBPIsAligned(m.b, m.pitch) && SBPIsAligned(m.d, m.pitch) && SBPIsAligned(m.dinv, m.pitch) &&
         SBPIsAligned(m.out, m.pitch) && SBPIsAligned(m.dout, m.pitch) && SBPIsAligned(m.rounded, m.roundedpitch);
}

/*
   Divides rows and columns among warps, with at most `rows` rows per warp: rows shared by warps should be in the cache
   at the second load. Small grids have fewer rows per warp, because more warps then fill the device. Returns the number
   of blocks, and the threads per block.
*/
template <class L, int reach, int scale>
static inline int SBPDivide(SBPDivision *m, int rows, int most, int *threads)
{
  const int all = m->to[1] - m->from[1], warps = m->columnwarps = SBPColumnWarps<L, reach, scale>(*m);
  const int blockwarps = warps > 0 && warps < most / SBP_WARP ? warps : most / SBP_WARP;
  int       chunk      = rows;

  while (chunk > SBP_ROWS_LEAST && static_cast<PetscInt64>(warps) * ((all + chunk - 1) / chunk) < SBP_WARPS_WANTED)
    chunk = chunk / 2 > SBP_ROWS_LEAST ? chunk / 2 : SBP_ROWS_LEAST;
  *threads       = blockwarps * SBP_WARP;
  m->chunk       = chunk;
  m->chunks      = warps && !m->frameonly ? (all + chunk - 1) / chunk : 0;
  m->turns       = 1;
  m->frameblocks = (m->frame + *threads - 1) / *threads;
  return m->frameblocks + (warps + blockwarps - 1) / blockwarps * m->chunks;
}
