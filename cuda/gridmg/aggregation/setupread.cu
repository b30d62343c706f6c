/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest level of PCGRIDMG from the rows of a matrix on a device: launches of the kernels of setupread.cuh */

#include "setuplaunch.cuh"
#include "setupread.cuh"
#include "../../common/differences.cuh"

#define READ_BLOCKS_OF_ONE 4
#define SCAN_THREADS       1024

static_assert(GRIDMG_READ_ROWS == SETUP_THREADS, "a tile has a row per thread");

PetscErrorCode LitheCUDAGridMGRead(const GridMGCSR *m, const GridMGRows *rows, double scale, const GridMGFaces *f, int *others, GridMGReading *r)
{
  ReadArguments      a;
  unsigned long long note[READ_NOTES];
  cudaStream_t       stream;
  unsigned int       blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupBlocksOf(f->grid.cells, READ_BLOCKS_OF_ONE, &blocks));
  a.f      = *f;
  a.first  = rows->first;
  a.i      = m->i;
  a.j      = m->j;
  a.a      = m->a;
  a.scale  = scale;
  a.others = others;
  PetscCall(SetupNotes<READ_NOTES>(
    stream,
    [&](unsigned long long *out) {
      a.notes = out;
      if (f->sigma) ReadKernel<true><<<blocks, SETUP_THREADS, 0, stream>>>(a);
      else ReadKernel<false><<<blocks, SETUP_THREADS, 0, stream>>>(a);
    },
    note));
  r->faces          = static_cast<PetscInt64>(note[READ_FACES]);
  r->odd            = static_cast<PetscInt64>(note[READ_ODD]);
  r->outside        = static_cast<PetscInt64>(note[READ_OUTSIDE]);
  r->others         = static_cast<PetscInt64>(note[READ_OTHER]);
  r->negative       = static_cast<PetscInt64>(note[READ_NEGATIVE]);
  r->imaginary      = static_cast<PetscInt64>(note[READ_IMAGINARY]);
  r->diagonals[1]   = static_cast<PetscInt64>(note[READ_DIAGONALSPOS]);
  r->diagonals[0]   = static_cast<PetscInt64>(note[READ_DIAGONALS]) - r->diagonals[1];
  r->sides[1]       = static_cast<PetscInt64>(note[READ_POSITIVE] + note[READ_OTHERPOS]);
  r->sides[0]       = r->faces + r->others - r->sides[1];
  r->firstodd       = SetupFirst(note[READ_FIRSTODD]);
  r->firstoutside   = SetupFirst(note[READ_FIRSTOUTSIDE]);
  r->firstimaginary = SetupFirst(note[READ_FIRSTIMAGINARY]);
  r->firstbad       = SetupFirst(note[READ_FIRSTBAD]);
  r->most           = SetupDouble(note[READ_MOST]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __device__ __forceinline__ double AtVertex(const GridMGFaces &f, const GridMGRows &rows, const PetscScalar *x, PetscInt vertex)
{
  return x ? static_cast<double>(PetscRealPart(x[GridMGRowOf(&f.grid, &rows, vertex)])) : 1;
}

static __global__ void __launch_bounds__(SETUP_THREADS)
  ScaleFacesKernel(const __grid_constant__ GridMGFaces f, GridMGRows rows, const PetscScalar *__restrict__ left, const PetscScalar *__restrict__ right,
                   const PetscScalar *__restrict__ sums)
{
  const PetscInt n = f.grid.cells + f.grid.wells;

  for (PetscInt c = static_cast<PetscInt>(blockIdx.x) * SETUP_THREADS + static_cast<PetscInt>(threadIdx.x); c < n;
       c += static_cast<PetscInt>(gridDim.x) * SETUP_THREADS) {
    f.sigma[c] = AtVertex(f, rows, sums, c);
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const PetscInt next = c + GridMGStride(&f.grid, d);

      if (!f.up[d] || next >= f.grid.cells) continue;
      f.up[d][c] *= AtVertex(f, rows, left, c) * AtVertex(f, rows, right, next);
      if (!f.symmetric) f.down[d][c] *= AtVertex(f, rows, left, next) * AtVertex(f, rows, right, c);
    }
  }
}

PetscErrorCode LitheCUDAGridMGScaleFaces(const GridMGFaces *f, const GridMGRows *rows, const PetscScalar *left, const PetscScalar *right,
                                         const PetscScalar *sums)
{
  cudaStream_t stream;
  unsigned int blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupBlocks(f->grid.cells + f->grid.wells, &blocks));
  ScaleFacesKernel<<<blocks, SETUP_THREADS, 0, stream>>>(*f, *rows, left, right, sums);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A single thread */
static __global__ void FindEntryKernel(const PetscInt *i, const PetscInt *j, PetscInt n, PetscInt64 k, PetscInt *found)
{
  PetscInt low = 0, high = n; /* i[low] <= k < i[high] */

  while (high - low > 1) {
    const PetscInt middle = low + (high - low) / 2;

    if (i[middle] <= k) low = middle;
    else high = middle;
  }
  found[0] = low;
  found[1] = j[k];
}

PetscErrorCode LitheCUDAGridMGFindEntry(const GridMGCSR *m, PetscInt n, PetscInt64 k, PetscInt *row, PetscInt *column)
{
  PetscInt     found[2], *there = nullptr;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupScratch(stream, sizeof(found), &there));
  FindEntryKernel<<<1, 1, 0, stream>>>(m->i, m->j, n, k, there);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(found, there, sizeof(found), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *row    = found[0];
  *column = found[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ entries outside of faces */

/* One block. Replaces each number by the sum of all earlier numbers. The total fits an int, like the list on the
   host */
static __global__ void __launch_bounds__(SCAN_THREADS) ScanTilesKernel(PetscInt n, int *count)
{
  __shared__ int part[SCAN_THREADS];
  const PetscInt chunk = (n + SCAN_THREADS - 1) / SCAN_THREADS, begin = static_cast<PetscInt>(threadIdx.x) * chunk, end = begin + chunk < n ? begin + chunk : n;
  int            sum = 0;

  for (PetscInt t = begin; t < end; t++) sum += count[t];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int offset = 1; offset < SCAN_THREADS; offset *= 2) {
    const int before = threadIdx.x >= offset ? part[threadIdx.x - offset] : 0;

    __syncthreads();
    part[threadIdx.x] += before;
    __syncthreads();
  }
  sum = part[threadIdx.x] - sum;
  for (PetscInt t = begin; t < end; t++) {
    const int mine = count[t];

    count[t] = sum;
    sum += mine;
  }
}

/* A block per tile. total: entries of all tiles */
static __global__ void __launch_bounds__(SETUP_THREADS) OthersKernel(const __grid_constant__ ReadArguments a, GridMGRows rows, int total, GridMGEdge *edge)
{
  const GridMGGrid &g     = a.f.grid;
  const PetscInt    tiles = (g.cells + SETUP_THREADS - 1) / SETUP_THREADS, tile = static_cast<PetscInt>(blockIdx.x),
                 c     = tile * SETUP_THREADS + static_cast<PetscInt>(threadIdx.x);
  const int      first = a.others[tile], last = tile + 1 < tiles ? a.others[tile + 1] : total;
  __shared__ int before[SETUP_THREADS + 1];
  int            mine = 0;
  PetscInt       at[3];

  if (first == last) return;
  for (int pass = 0; pass < 2; pass++) {
    if (c < g.cells) {
      const PetscInt row = a.first + c;

      SetupAt(g, c, at);
      for (PetscInt k = a.i[row]; k < a.i[row + 1]; k++) {
        const double v = ReadReal(a.a[k]);

        if (v == 0 || a.j[k] == row || ReadFaceOf(g, at, a.j[k] - row) >= 0) continue;
        if (pass) {
          GridMGEdge *e = edge + first + before[threadIdx.x] + mine;

          e->i = c;
          e->j = GridMGVertexOf(&g, &rows, a.j[k]);
          e->t = -v;
        }
        mine++;
      }
    }
    if (pass) return;
    if (threadIdx.x == 0) before[0] = 0;
    before[threadIdx.x + 1] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int t = 0; t < SETUP_THREADS; t++) before[t + 1] += before[t];
    }
    __syncthreads();
    mine = 0;
  }
}

PetscErrorCode LitheCUDAGridMGGetOthers(const GridMGCSR *m, const GridMGRows *rows, const GridMGGrid *grid, int *others, PetscInt n, GridMGEdge *edges)
{
  const PetscInt tiles = (grid->cells + SETUP_THREADS - 1) / SETUP_THREADS;
  const size_t   bytes = static_cast<size_t>(n) * sizeof(*edges);
  ReadArguments  a     = {};
  GridMGEdge    *there = nullptr;
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupScratch(stream, bytes, &there));
  a.f.grid = *grid;
  a.first  = rows->first;
  a.i      = m->i;
  a.j      = m->j;
  a.a      = m->a;
  a.others = others;
  ScanTilesKernel<<<1, SCAN_THREADS, 0, stream>>>(tiles, others);
  OthersKernel<<<static_cast<unsigned int>(tiles), SETUP_THREADS, 0, stream>>>(a, *rows, static_cast<int>(n), there);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(edges, there, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the grid */

PetscErrorCode LitheCUDAGridMGSample(const GridMGCSR *m, PetscInt n, PetscInt most, PetscInt *found, PetscInt difference[], PetscInt count[])
{
  PetscInt     all[DIFFERENCES_SLOTS], samples, nall = 0;
  int          often[DIFFERENCES_SLOTS], commonest = 0;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(DifferencesSample(n, m->i, m->j, m->a, true, stream, &samples, &nall, all, often));
  for (PetscInt e = 0; e < nall; e++) commonest = PetscMax(commonest, often[e]);
  *found = 0;
  for (PetscInt e = 0; e < nall && *found < most; e++) {
    if (often[e] <= commonest / GRIDMG_COMMON) continue;
    difference[*found] = all[e];
    count[(*found)++]  = often[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the next level */

PetscErrorCode LitheCUDAGridMGSettle(const GridMGFaces *f, double scale, double same, PetscBool *symmetric, PetscInt *wrong, GridMGWrong *first)
{
  unsigned long long note[SETTLE_NOTES];
  cudaStream_t       stream;
  unsigned int       blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupBlocks(f->grid.cells, &blocks));
  PetscCall(SetupNotes<SETTLE_NOTES>(
    stream, [&](unsigned long long *out) { SettleKernel<<<blocks, SETUP_THREADS, 0, stream>>>(*f, scale, same, out); }, note));
  *symmetric = note[SETTLE_ASYMMETRIC] ? PETSC_FALSE : PETSC_TRUE;
  *wrong     = static_cast<PetscInt>(note[SETTLE_WRONG]);
  if (*wrong) {
    const PetscInt64 at = SetupFirst(note[SETTLE_FIRSTWRONG]);
    const PetscInt   c  = static_cast<PetscInt>(at % f->grid.cells);
    const int        d  = static_cast<int>(at / f->grid.cells);

    first->at = at;
    PetscCallCUDA(cudaMemcpyAsync(&first->up, f->up[d] + c, sizeof(double), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaMemcpyAsync(&first->down, f->down[d] + c, sizeof(double), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order is that of the threads; the host sorts the result */
static __global__ void WrongKernel(const __grid_constant__ GridMGFaces f, unsigned int *found, GridMGWrong *wrong)
{
  SETUP_FOR_ALL(c, f.grid.cells)
  {
#pragma unroll
    for (int d = 0; d < 3; d++) {
      if (!f.up[d] || (f.up[d][c] >= 0 && f.down[d][c] >= 0)) continue;
      GridMGWrong *w = wrong + atomicAdd(found, 1u);

      w->at        = c + d * static_cast<PetscInt64>(f.grid.cells);
      w->up        = f.up[d][c];
      w->down      = f.down[d][c];
      f.up[d][c]   = 0;
      f.down[d][c] = 0;
    }
  }
}

static int CompareWrong(const void *a, const void *b)
{
  const PetscInt64 x = static_cast<const GridMGWrong *>(a)->at, y = static_cast<const GridMGWrong *>(b)->at;

  return x < y ? -1 : x > y;
}

PetscErrorCode LitheCUDAGridMGGetWrong(const GridMGFaces *f, PetscInt n, GridMGWrong *wrong)
{
  const size_t bytes = static_cast<size_t>(n) * sizeof(*wrong), head = sizeof(*wrong);
  GridMGWrong *there = nullptr; /* behind the number of wrong faces */
  cudaStream_t stream;
  unsigned int blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupScratch(stream, head + bytes, &there));
  PetscCall(SetupBlocks(f->grid.cells, &blocks));
  PetscCallCUDA(cudaMemsetAsync(there, 0, head, stream));
  WrongKernel<<<blocks, SETUP_THREADS, 0, stream>>>(*f, reinterpret_cast<unsigned int *>(there), there + 1);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(wrong, there + 1, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  qsort(wrong, static_cast<size_t>(n), sizeof(*wrong), CompareWrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGClean(const GridMGFaces *f, double rounding, unsigned char *alive, GridMGSurvey *survey, GridMGCleaning *cleaning)
{
  PetscFunctionBegin;
  PetscCall(SetupSurvey<true>(f, rounding, alive, survey, cleaning));
  PetscFunctionReturn(PETSC_SUCCESS);
}
