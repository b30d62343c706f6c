/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCGRIDMG on a device: wells, and cells with edges in the list. The kernels of a visit (march.cuh) ignore edges of the
   list. The kernels of this file run afterwards, and compute all affected values again. Several threads may compute the
   same cell, with the same bits.

   Before the coarse correction: black cells of the list; wells; residuals of aggregates with cells of the list, or with
   neighbours of such cells. After the correction: wells; black cells of the list; red neighbours of black cells of the
   list; red cells of the list.
*/

#include "gridmg.cuh"
#include "patch.cuh"
#include "../../common/pdl.cuh"

#define PATCH_THREADS 1024
#define WARPS         (PATCH_THREADS / GRIDMG_WARP)
#define LANES         8 /* threads per sum over an aggregate */

template <class C>
struct Patch {
  GridMGLevelView<float, C> l;
  GridMGListView<float>     list;
  GridMGCoarseView          coarse;
  const float              *b, *x, *e;
  float                    *y, *bc; /* y: the result of the visit, to be corrected */
  float                     factor;
  /* 1: another step on red cells of the list, because the next cycle begins with the iterate */
  int again;
};

template <class C>
static __device__ __forceinline__ float Face(const GridMGLevelView<float, C> &l, const C *codes, int c)
{
  if (sizeof(C) == 1) return l.table[static_cast<unsigned int>(codes[c])];
  return l.table[static_cast<unsigned int>(codes[c]) >> 8] * l.table[256 + (static_cast<unsigned int>(codes[c]) & 255)];
}

template <class C>
static __device__ __forceinline__ int Colour(const GridMGLevelView<float, C> &l, int c)
{
  const int line = c / l.n[0];

  return (c % l.n[0] + line % l.n[1] + line / l.n[1]) & 1;
}

/* Neighbour s of six, and the face towards the neighbour; -1: no neighbour */
template <class C>
static __device__ __forceinline__ int Neighbour(const GridMGLevelView<float, C> &l, int c, int s, float *face)
{
  const int d = s >> 1, stride = l.stride[d], line = c / l.n[0], at = d == 0 ? c % l.n[0] : (d == 1 ? line % l.n[1] : line / l.n[1]);

  if (s & 1 ? at == l.n[d] - 1 : at == 0) return -1;
  *face = s & 1 ? Face(l, l.up[d], c) : Face(l, l.down[d], c - stride);
  return s & 1 ? c + stride : c - stride;
}

/* The row of the list for cell c, or -1 */
template <class C>
static __device__ int FindRow(const Patch<C> &p, int c)
{
  const int colour = Colour(p.l, c);
  int       low = colour ? p.list.part[0] : 0, high = p.list.part[colour];

  while (low < high) {
    const int middle = (low + high) / 2;

    if (p.list.row[middle] < c) low = middle + 1;
    else high = middle;
  }
  return low < p.list.part[colour] && p.list.row[low] == c ? low : -1;
}

static __device__ __forceinline__ float WarpSum(float sum)
{
#pragma unroll
  for (int offset = GRIDMG_WARP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

/* One step of Gauss-Seidel on a cell, by a warp. face: values of grid neighbours; edge: values of neighbours in the
   list */
template <class C, class F, class E>
static __device__ __forceinline__ float StepOf(const Patch<C> &p, int row, F face, E edge)
{
  const int lane = static_cast<int>(threadIdx.x % GRIDMG_WARP), c = static_cast<int>(p.list.row[row]);
  float     sum = 0;

  for (PetscInt k = p.list.i[row] + lane; k < p.list.i[row + 1]; k += GRIDMG_WARP) sum += p.list.t[k] * edge(static_cast<int>(p.list.j[k]));
  if (lane < 6) {
    float     t     = 0;
    const int other = Neighbour(p.l, c, lane, &t);

    if (other >= 0) sum += t * face(other);
  }
  return p.l.dinv[c] * (p.b[c] + WarpSum(sum));
}

/* Gauss-Seidel on wells, by a block; the iterates of wells are in y. cell: values of cells */
template <class C, class F>
static __device__ void SolveWells(const Patch<C> &p, bool backwards, F cell)
{
  const int lane = static_cast<int>(threadIdx.x % GRIDMG_WARP), warp = static_cast<int>(threadIdx.x / GRIDMG_WARP), cells = p.l.cells, wells = p.l.wells;

  for (int w = warp; w < wells; w += WARPS) {
    const int   row = p.list.part[1] + w;
    const float xi  = p.y[cells + w];
    float       sum = 0;

    for (PetscInt k = p.list.i[row] + lane; k < p.list.i[row + 1]; k += GRIDMG_WARP) {
      if (p.list.j[k] < cells) sum += p.list.t[k] * (cell(static_cast<int>(p.list.j[k])) - xi);
    }
    sum = WarpSum(sum);
    if (lane == 0) p.list.work[row] = sum;
  }
  __syncthreads();
  /* entries with wells are the last entries of a row; wells with such entries take turns */
  if (warp == 0) {
    for (int first = 0; first < wells; first += GRIDMG_WARP) {
      const int  k = first + lane, w = backwards ? wells - 1 - k : k, row = p.list.part[1] + w, i = cells + w;
      const bool is = k < wells, other = is && p.list.i[row + 1] > p.list.i[row] && p.list.j[p.list.i[row + 1] - 1] >= cells;
      const bool turns = __any_sync(0xffffffffu, other);

      for (int turn = 0; turn < (turns ? GRIDMG_WARP : 1); turn++) {
        if (is && (!turns || turn == lane)) {
          const float xi  = p.y[i];
          float       sum = p.list.work[row];

          for (PetscInt e = p.list.i[row + 1]; e > p.list.i[row] && p.list.j[e - 1] >= cells; e--)
            sum += p.list.t[e - 1] * (static_cast<volatile float *>(p.y)[p.list.j[e - 1]] - xi);
          static_cast<volatile float *>(p.y)[i] = xi + p.l.dinv[i] * (p.b[i] - (p.l.sigma[i] * xi - sum));
        }
        __syncwarp();
      }
    }
  }
  __syncthreads();
}

/* One block. y: the iterate before the coarse correction */
template <class C>
static __global__ void __launch_bounds__(PATCH_THREADS) PatchDownKernel(const __grid_constant__ Patch<C> p)
{
  const int  warp = static_cast<int>(threadIdx.x / GRIDMG_WARP), lane = static_cast<int>(threadIdx.x % GRIDMG_WARP);
  const auto old = [&](int i) { return p.x ? p.x[i] : 0.f; };

  PDLTrigger();
  (void)PDLWait(p.y);
  for (int w = static_cast<int>(threadIdx.x); w < p.l.wells; w += PATCH_THREADS) p.y[p.l.cells + w] = old(p.l.cells + w);
  for (int row = p.list.part[0] + warp; row < p.list.part[1]; row += WARPS) {
    const float v = StepOf(
      p, row, [&](int i) { return p.y[i]; }, [&](int i) { return i < p.l.cells && Colour(p.l, i) == 0 ? p.y[i] : old(i); });

    if (lane == 0) p.y[p.list.row[row]] = v;
  }
  __syncthreads();
  SolveWells(p, false, [&](int i) { return p.y[i]; });
}

/* The residual of a well, by a warp */
template <class C>
static __device__ __forceinline__ void PatchWells(const Patch<C> &p, int block)
{
  const int w = (block * GRIDMG_THREADS + static_cast<int>(threadIdx.x)) / GRIDMG_WARP, lane = static_cast<int>(threadIdx.x % GRIDMG_WARP), i = p.l.cells + w;

  if (w >= p.l.wells) return;
  const float sum = GridMGListFlux(p.list, p.list.part[1] + w, p.y);
  if (lane == 0) p.bc[p.coarse.cells + w] = p.b[i] - (p.l.sigma[i] * p.y[i] - sum);
}

/* LANES threads per task. A task is an aggregate with a cell of the list (s = 6) or with a neighbour of the cell (s = 0
   ... 5). Blocks from `blocks` on have wells */
template <class C>
static __global__ void __launch_bounds__(GRIDMG_THREADS) PatchSumsKernel(const __grid_constant__ Patch<C> p, int blocks)
{
  PDLTrigger();
  (void)PDLWait(p.y);
  if (static_cast<int>(blockIdx.x) >= blocks) {
    PatchWells(p, static_cast<int>(blockIdx.x) - blocks);
    return;
  }

  const int  thread = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x), child = thread % LANES, task = thread / LANES, row = task / 7, s = task % 7;
  const bool is  = row < p.list.part[1];
  float      sum = 0;
  int        to  = -1;

  if (is) {
    float     face;
    const int c = static_cast<int>(p.list.row[row]), other = s == 6 ? c : Neighbour(p.l, c, s, &face);

    if (other >= 0) {
      const int line = other / p.l.n[0], I = other % p.l.n[0] / p.coarse.by[0], J = line % p.l.n[1] / p.coarse.by[1], K = line / p.l.n[1] / p.coarse.by[2];
      const int i = I * p.coarse.by[0] + (child & 1), j = J * p.coarse.by[1] + (child >> 1 & 1), k = K * p.coarse.by[2] + (child >> 2);
      const int at = i + p.l.n[0] * (j + p.l.n[1] * k);

      to = I + p.coarse.n[0] * (J + p.coarse.n[1] * K);
      if ((child & 1) < p.coarse.by[0] && (child >> 1 & 1) < p.coarse.by[1] && child >> 2 < p.coarse.by[2] && i < p.l.n[0] && j < p.l.n[1] && k < p.l.n[2] &&
          (!p.l.alive || p.l.alive[at])) {
        const float xi    = p.y[at];
        const int   found = FindRow(p, at);
        float       flux  = 0;

        for (int n = 0; n < 6; n++) {
          float     t     = 0;
          const int there = Neighbour(p.l, at, n, &t);

          if (there >= 0) flux += t * (p.y[there] - xi);
        }
        if (found >= 0) {
          for (PetscInt e = p.list.i[found]; e < p.list.i[found + 1]; e++) flux += p.list.t[e] * (p.y[p.list.j[e]] - xi);
        }
        sum = p.b[at] - (p.l.sigma[at] * xi - flux);
      }
    }
  }
#pragma unroll
  for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (to >= 0 && child == 0) p.bc[to] = sum;
}

/* One block. x: the iterate before the coarse correction; y: the iterate after the correction */
template <class C>
static __global__ void __launch_bounds__(PATCH_THREADS) PatchUpKernel(const __grid_constant__ Patch<C> p)
{
  const int  warp = static_cast<int>(threadIdx.x / GRIDMG_WARP), lane = static_cast<int>(threadIdx.x % GRIDMG_WARP), cells = p.l.cells;
  const auto corrected = [&](int i) {
    if (i >= cells) return p.x[i] + p.factor * p.e[p.coarse.cells + i - cells];
    if (p.l.alive && !p.l.alive[i]) return p.x[i];
    const int line = i / p.l.n[0];
    return p.x[i] +
           p.factor *
             p.e[i % p.l.n[0] / p.coarse.by[0] + p.coarse.n[0] * (line % p.l.n[1] / p.coarse.by[1] + p.coarse.n[1] * (line / p.l.n[1] / p.coarse.by[2]))];
  };
  const auto after = [&](int i) { return p.y[i]; };

  PDLTrigger();
  (void)PDLWait(p.y);
  for (int w = static_cast<int>(threadIdx.x); w < p.l.wells; w += PATCH_THREADS) p.y[cells + w] = corrected(cells + w);
  __syncthreads();
  SolveWells(p, true, corrected);
  for (int row = p.list.part[0] + warp; row < p.list.part[1]; row += WARPS) {
    const float v = StepOf(p, row, corrected, [&](int i) { return i < cells ? corrected(i) : p.y[i]; });

    if (lane == 0) p.y[p.list.row[row]] = v;
  }
  __syncthreads();
  /* red neighbours outside of the list */
  for (int task = static_cast<int>(threadIdx.x); task < 6 * (p.list.part[1] - p.list.part[0]); task += PATCH_THREADS) {
    float     face = 0, sum = 0;
    const int c = Neighbour(p.l, static_cast<int>(p.list.row[p.list.part[0] + task / 6]), task % 6, &face);

    if (c < 0 || FindRow(p, c) >= 0) continue;
    for (int s = 0; s < 6; s++) {
      float     t     = 0;
      const int there = Neighbour(p.l, c, s, &t);

      if (there >= 0) sum += t * p.y[there];
    }
    p.y[c] = p.l.dinv[c] * (p.b[c] + sum);
  }
  for (int row = warp; row < p.list.part[0]; row += WARPS) {
    const float v = StepOf(p, row, after, [&](int i) { return i < cells && Colour(p.l, i) == 0 ? corrected(i) : p.y[i]; });

    if (lane == 0) p.y[p.list.row[row]] = v;
  }
  if (!p.again) return;
  __syncthreads();
  for (int row = warp; row < p.list.part[0]; row += WARPS) {
    const float v = StepOf(p, row, after, after);

    if (lane == 0) p.list.work[row] = v;
  }
  __syncthreads();
  for (int row = static_cast<int>(threadIdx.x); row < p.list.part[0]; row += PATCH_THREADS) p.y[p.list.row[row]] = p.list.work[row];
}

template <class C>
static Patch<C> PatchOf(const GridMGVisit *v)
{
  Patch<C> p;

  p.l      = GridMGView<float, C>(v->op);
  p.list   = GridMGViewList<float>(v->op);
  p.coarse = GridMGViewCoarse(v->coarse, v->by);
  p.b      = static_cast<const float *>(v->b);
  p.x      = static_cast<const float *>(v->x);
  p.y      = static_cast<float *>(v->out);
  p.e      = static_cast<const float *>(v->e);
  p.bc     = static_cast<float *>(v->bc);
  p.factor = static_cast<float>(v->factor);
  p.again  = v->again;
  return p;
}

template <class C>
static PetscErrorCode Down(const GridMGVisit *v, cudaStream_t stream)
{
  const Patch<C>     p    = PatchOf<C>(v);
  const unsigned int sums = GridMGBlocks(7 * LANES * p.list.part[1], GRIDMG_THREADS), wells = GridMGBlocks(p.l.wells, GRIDMG_THREADS / GRIDMG_WARP);
  bool               early;

  PetscFunctionBegin;
  PetscCall(LitheCUDAHasPDL(&early));
  PetscCallCUDA(PDLLaunch(PatchDownKernel<C>, early, dim3(1), dim3(PATCH_THREADS), 0, stream, p));
  PetscCallCUDA(PDLLaunch(PatchSumsKernel<C>, early, dim3(sums + wells), dim3(GRIDMG_THREADS), 0, stream, p, static_cast<int>(sums)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridMGPatchDown(const GridMGVisit *v, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (v->op->bits == 8) PetscCall(Down<uint8_t>(v, stream));
  else PetscCall(Down<uint16_t>(v, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridMGPatchUp(const GridMGVisit *v, cudaStream_t stream)
{
  bool early;

  PetscFunctionBegin;
  PetscCall(LitheCUDAHasPDL(&early));
  if (v->op->bits == 8) PetscCallCUDA(PDLLaunch(PatchUpKernel<uint8_t>, early, dim3(1), dim3(PATCH_THREADS), 0, stream, PatchOf<uint8_t>(v)));
  else PetscCallCUDA(PDLLaunch(PatchUpKernel<uint16_t>, early, dim3(1), dim3(PATCH_THREADS), 0, stream, PatchOf<uint16_t>(v)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
