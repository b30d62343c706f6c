/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Damping factors, and the interpolation, on a device: src/pc/camg/interpolate.c */

#include "product.cuh"
#include "smooth.cuh"

#if !PetscDefined(USE_64BIT_INDICES)

/* ------------------------------------------------------------ damping */

template <int lanes>
static __global__ void DampingKernel(const __grid_constant__ CAMGGraph F, PetscReal bound, PetscReal *__restrict__ damping)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= static_cast<PetscInt64>(F.strong.m) * F.strong.rb) return;
  const CAMGRow row(F.strong, g.row);
  PetscReal     diagonal = F.d ? CAMGReal(F.d[g.row]) : 0, sum = F.d ? CAMGAbs(F.d[g.row]) : 0;

  for (PetscInt base = 0; base < row.count; base += lanes) {
    const PetscInt    t = base + g.lane;
    const PetscScalar a = t < row.count ? F.strong.a[row.At(t)] : PetscScalar(0);

    if (!F.d && t < row.count && row.IsDiagonal(F.strong.j, t)) diagonal = CAMGReal(a);
    CAMGAddOrdered<lanes>(g.mask, CAMGAbs(a), &sum);
  }
  if (!F.d) diagonal = CAMGSum<lanes>(g.mask, diagonal);
  if (g.lane) return;
  damping[g.row] = diagonal > 0 ? static_cast<PetscReal>(CAMG_WEIGHT) / sum / bound : 0;
}

PetscErrorCode LitheCUDACAMGDamping(const CAMGGraph *F, PetscReal bound, PetscReal damping[])
{
  const CAMGMatrix *A = &F->strong;
  cudaStream_t      stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CAMG_NUMBERS(A, (DampingKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*F, bound, damping)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ interpolation */

static __global__ void PlainSizes(PetscInt m, const PetscInt *__restrict__ agg, PetscInt *i)
{
  CAMG_FOR_ALL(v, m)
  i[v] = agg[v] >= 0;
}

/* P = T */
static __global__ void PlainNumbers(PetscInt m, PetscInt size, const PetscInt *__restrict__ agg, const PetscScalar *__restrict__ T,
                                    const PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscScalar *__restrict__ a)
{
  CAMG_FOR_ALL(t, static_cast<PetscInt64>(m) * size)
  {
    const PetscInt v = static_cast<PetscInt>(t / size), e = static_cast<PetscInt>(t % size);

    if (agg[v] < 0) continue;
    j[i[v]]                                 = agg[v];
    a[static_cast<size_t>(i[v]) * size + e] = T ? T[t] : PetscScalar(1);
  }
}

/* Sizes are known: rows, and room for blocks */
static PetscErrorCode FinishSizes(cudaStream_t stream, CAMGMatrix *P)
{
  PetscFunctionBegin;
  PetscCall(CAMGScan(stream, P->m, P->i));
  PetscCall(CAMGGet(stream, 1, P->i + P->m, &P->nz));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->nz), &P->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->nz) * P->rb * P->cb, &P->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plain(cudaStream_t stream, const CAMGSpace *space, const PetscInt agg[], CAMGMatrix *P)
{
  const PetscInt size = P->rb * P->cb;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->m) + 1, &P->i));
  PlainSizes<<<CAMGBlocks(P->m), CAMG_THREADS, 0, stream>>>(P->m, agg, P->i);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(FinishSizes(stream, P));
  PlainNumbers<<<CAMGBlocks(static_cast<PetscInt64>(P->m) * size), CAMG_THREADS, 0, stream>>>(P->m, size, agg, space->T, P->i, P->j, P->a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void FillFirsts(PetscInt64 n, PetscInt *first)
{
  CAMG_FOR_ALL(k, n)
  first[k] = INT_MAX;
}

template <bool fill>
static PetscErrorCode Short(cudaStream_t stream, const SmoothRows &s, CAMGRowList next, CAMGMatrix *P)
{
  const PetscInt64 m = P->m, items = s.F.strong.nz + m;

  PetscFunctionBegin;
  if (items <= 7 * m) SmoothShort<8, fill><<<CAMGBlocks(8 * m), CAMG_THREADS, 0, stream>>>(s, next, P->i, P->j, P->a);
  else if (items <= 13 * m) SmoothShort<16, fill><<<CAMGBlocks(16 * m), CAMG_THREADS, 0, stream>>>(s, next, P->i, P->j, P->a);
  else SmoothShort<32, fill><<<CAMGBlocks(32 * m), CAMG_THREADS, 0, stream>>>(s, next, P->i, P->j, P->a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One column per aggregate, and at most s.most entries in a row */
static PetscErrorCode Truncated(cudaStream_t stream, const SmoothRows &s, CAMGMatrix *P)
{
  const PetscInt     m      = P->m;
  const unsigned int listed = PetscMin(CAMGBlocks(static_cast<PetscInt64>(m) * 32), 2048u);
  CAMGRowList        list[2]; /* rows for warps, and for blocks */
  CAMGDense          dense;
  PetscInt          *n, *first = nullptr, count[2] = {0, 0};
  unsigned int       blocks = 1;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(m) + 1, &P->i));
  PetscCall(CAMGZeros(stream, 2, &n));
  for (int k = 0; k < 2; k++) {
    list[k].n = n + k;
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(m), &list[k].row));
  }
  PetscCall(Short<false>(stream, s, list[0], P));
  SmoothListed<false><<<listed, CAMG_THREADS, 0, stream>>>(s, list[0], list[1], P->i, nullptr, nullptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 2, n, count));
  if (count[1]) {
    PetscCall(CAMGDenseCreate(stream, P->n, true, &dense, &blocks));
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(blocks) * P->n, &first));
    FillFirsts<<<PetscMin(CAMGBlocks(static_cast<PetscInt64>(blocks) * P->n), 4096u), CAMG_THREADS, 0, stream>>>(static_cast<PetscInt64>(blocks) * P->n, first);
    SmoothLong<false><<<blocks, CAMG_THREADS, 0, stream>>>(s, list[1], dense, first, P->i, nullptr, nullptr);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscCall(FinishSizes(stream, P));
  PetscCall(Short<true>(stream, s, list[0], P));
  if (count[0]) SmoothListed<true><<<listed, CAMG_THREADS, 0, stream>>>(s, list[0], list[1], P->i, P->j, P->a);
  if (count[1]) SmoothLong<true><<<blocks, CAMG_THREADS, 0, stream>>>(s, list[1], dense, first, P->i, P->j, P->a);
  PetscCallCUDA(cudaGetLastError());
  if (count[1]) {
    PetscCall(CAMGDenseDestroy(stream, &dense));
    PetscCall(CAMGFree(stream, first));
  }
  for (int k = 0; k < 2; k++) PetscCall(CAMGFree(stream, list[k].row));
  PetscCall(CAMGFree(stream, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ blocks, and rows without truncation */

/* A row of P by nodes: item 0 is the node itself, then its entries. An item has the column of its aggregate */
struct SmoothSource {
  static constexpr bool numbers = false;
  CAMGGraph             F;
  const PetscReal      *damping;
  const PetscInt       *agg;

  /* A row of numbers without damping has no entries */
  __device__ __forceinline__ bool IsPlain(PetscInt v) const
  {
    return F.strong.rb == 1 && damping[v] == 0;
  }
  __device__ __forceinline__ PetscInt Begin(PetscInt v) const
  {
    return F.strong.i[v] - 1;
  }
  __device__ __forceinline__ PetscInt End(PetscInt v) const
  {
    return IsPlain(v) ? F.strong.i[v] : F.strong.i[v + 1];
  }
  __device__ __forceinline__ CAMGItem Get(PetscInt v, PetscInt k) const
  {
    const PetscInt g = agg[k < F.strong.i[v] ? v : F.strong.j[k]];

    return CAMGItem{g, g < 0 ? g : g + 1, 0};
  }
  __device__ __forceinline__ PetscInt Column(PetscInt q) const
  {
    return q;
  }
};

/* A warp per row of P, whose lanes share the numbers of a block */
static __global__ void __launch_bounds__(CAMG_THREADS)
  SmoothBlocks(const __grid_constant__ SmoothSource s, const PetscScalar *__restrict__ T, const __grid_constant__ CAMGMatrix P)
{
  const CAMGGroupOf<32> g;
  const CAMGMatrix     &F    = s.F.strong;
  const PetscInt        size = P.rb * P.cb;

  if (g.row >= P.m) return;
  const PetscInt v = static_cast<PetscInt>(g.row), begin = P.i[v], n = P.i[v + 1] - begin;

  for (PetscInt t = g.lane; t < n * size; t += 32) P.a[static_cast<size_t>(begin) * size + t] = 0;
  __syncwarp();
  for (PetscInt k = s.Begin(v); k < s.End(v); k++) {
    const bool     own = k < F.i[v];
    const PetscInt c = own ? v : F.j[k], aggregate = s.agg[c];

    if (aggregate >= 0) {
      PetscScalar *to = P.a + (static_cast<size_t>(begin) + CAMGSearch(n, P.j + begin, aggregate)) * size;

      for (PetscInt e = g.lane; e < size; e += 32) {
        const PetscInt p = e / P.cb, column = e % P.cb;
        PetscScalar    sum = to[e];

        if (own) {
          const PetscScalar t = T ? T[static_cast<size_t>(c) * size + e] : PetscScalar(1);

          sum += t;
          if (s.F.d && !s.IsPlain(v)) sum += CAMGTimes(CAMGTimes(-s.damping[v], s.F.d[v]), t);
        } else {
          for (PetscInt q = 0; q < F.cb; q++) {
            const PetscScalar t = T ? T[static_cast<size_t>(c) * size + q * P.cb + column] : PetscScalar(1);

            sum += CAMGTimes(CAMGTimes(-s.damping[v * P.rb + p], F.a[(static_cast<size_t>(k) * F.rb + p) * F.cb + q]), t);
          }
        }
        to[e] = sum;
      }
    }
    __syncwarp(); /* the next item may add to the same block */
  }
}

PetscErrorCode LitheCUDACAMGSmooth(const CAMGGraph *F, const PetscReal damping[], const CAMGSpace *space, const PetscInt agg[], PetscInt aggregates,
                                   PetscInt truncate, CAMGMatrix *P)
{
  const PetscInt m = F->strong.m;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  *P    = CAMGMatrix{};
  P->m  = m;
  P->n  = aggregates;
  P->rb = space->block;
  P->cb = space->columns;
  if (!damping) PetscCall(Plain(stream, space, agg, P));
  else if (truncate && space->columns == 1 && space->block == 1) PetscCall(Truncated(stream, SmoothRows{*F, damping, space->T, agg, truncate}, P));
  else {
    const SmoothSource s{*F, damping, agg};

    P->i = nullptr;
    PetscCall(CAMGMultiply(stream, s, m, aggregates, space->block, space->columns, CAMGStage(static_cast<double>(F->strong.nz) / PetscMax(m, 1) + 1), P));
    SmoothBlocks<<<CAMGBlocks(static_cast<PetscInt64>(m) * 32), CAMG_THREADS, 0, stream>>>(s, space->T, *P);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
