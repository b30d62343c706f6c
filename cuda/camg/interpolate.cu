/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Damping factors, and the interpolation, on a device: src/pc/camg/interpolate.c */

#include "bound.cuh"
#include "product.cuh"
#include "smooth.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define INTERPOLATE_WEIGHT (4. / 3.)

/* ------------------------------------------------------------ damping */

template <int lanes>
static __global__ void DampingKernel(const __grid_constant__ CAMGGraph F, PetscReal *__restrict__ root, PetscReal *__restrict__ damping)
{
  const CAMGGroupOf<lanes> g;

  if (g.row >= F.strong.m) return;
  const PetscInt end = F.strong.i[g.row + 1];
  PetscReal      sum = CAMGAbs(F.d[g.row]);

  for (PetscInt base = F.strong.i[g.row]; base < end; base += lanes)
    CAMGAddOrdered<lanes>(g.mask, base + g.lane < end ? CAMGAbs(F.strong.a[base + g.lane]) : static_cast<PetscReal>(0), &sum);
  if (g.lane) return;
  root[g.row]    = sum > 0 ? 1 / sqrt(sum) : 0;
  damping[g.row] = CAMGReal(F.d[g.row]) > 0 ? static_cast<PetscReal>(INTERPOLATE_WEIGHT) / sum : 0;
}

static __global__ void DampingScale(PetscInt n, const double *__restrict__ bound, PetscReal *__restrict__ damping)
{
  CAMG_FOR_ALL(r, n)
  damping[r] /= static_cast<PetscReal>(*bound);
}

/* The graph as a matrix for Lanczos' method */
template <int lanes>
struct GraphMatrix {
  CAMGGraph F;

  __device__ __forceinline__ PetscScalar Sum(PetscInt r, int lane, const PetscScalar *__restrict__ x) const
  {
    PetscScalar sum = 0;

    if (lane == 0) sum = F.d[r] * x[r];
    for (PetscInt k = F.strong.i[r] + lane; k < F.strong.i[r + 1]; k += lanes) sum += F.strong.a[k] * x[F.strong.j[k]];
    return sum;
  }
};

PetscErrorCode LitheCUDACAMGDamping(const CAMGGraph *F, PetscReal damping[])
{
  const CAMGMatrix *A = &F->strong;
  PetscReal        *root;
  double           *bound;
  cudaStream_t      stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(A->m), &root));
  PetscCall(CAMGAllocate(stream, 1, &bound));
  CAMG_ROWS(A, (DampingKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*F, root, damping)));
  if (A->nz <= CAMG_SHORT * static_cast<PetscInt64>(A->m)) PetscCall(CAMGBound<CAMG_LANES>(stream, GraphMatrix<CAMG_LANES>{*F}, A->m, root, bound));
  else PetscCall(CAMGBound<32>(stream, GraphMatrix<32>{*F}, A->m, root, bound));
  DampingScale<<<CAMGBlocks(A->m), CAMG_THREADS, 0, stream>>>(A->m, bound, damping);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGFree(stream, root));
  PetscCall(CAMGFree(stream, bound));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ interpolation */

/* P = T. j NULL: sizes */
static __global__ void PlainKernel(PetscInt m, PetscInt block, PetscInt columns, const PetscInt *__restrict__ agg, const PetscScalar *__restrict__ T,
                                   PetscInt *i, PetscInt *j, PetscScalar *a)
{
  CAMG_FOR_ALL(r, m)
  {
    const PetscInt g = agg[r / block];
    PetscInt       n = 0, first = j ? i[r] : 0;

    for (PetscInt c = 0; c < columns && g >= 0; c++) {
      const PetscScalar v = T ? T[r * columns + c] : PetscScalar(1);

      if (CAMGIsZero(v)) continue;
      if (j) {
        j[first + n] = g * columns + c;
        a[first + n] = v;
      }
      n++;
    }
    if (!j) i[r] = n;
  }
}

/* Sizes are known: rows, and room for entries */
static PetscErrorCode FinishSizes(cudaStream_t stream, CAMGMatrix *P)
{
  PetscFunctionBegin;
  PetscCall(CAMGScan(stream, P->m, P->i));
  PetscCall(CAMGGet(stream, 1, P->i + P->m, &P->nz));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->nz), &P->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->nz), &P->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plain(cudaStream_t stream, const CAMGSpace *space, const PetscInt agg[], CAMGMatrix *P)
{
  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->m) + 1, &P->i));
  PlainKernel<<<CAMGBlocks(P->m), CAMG_THREADS, 0, stream>>>(P->m, space->block, space->columns, agg, space->T, P->i, nullptr, nullptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(FinishSizes(stream, P));
  PlainKernel<<<CAMGBlocks(P->m), CAMG_THREADS, 0, stream>>>(P->m, space->block, space->columns, agg, space->T, P->i, P->j, P->a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void FillFirsts(PetscInt64 n, PetscInt *first)
{
  CAMG_FOR_ALL(k, n)
  first[k] = INT_MAX;
}

/* One column per aggregate, and at most s.most entries in a row */
static PetscErrorCode Truncated(cudaStream_t stream, const SmoothRows &s, CAMGMatrix *P)
{
  const PetscInt     m     = P->m;
  const bool         small = s.F.strong.nz <= CAMG_LANES * static_cast<PetscInt64>(m);
  const unsigned int few = CAMGBlocks(static_cast<PetscInt64>(m) * CAMG_LANES), many = CAMGBlocks(static_cast<PetscInt64>(m) * 32),
                     listed = PetscMin(many, 2048u);
  CAMGRowList  list[3]{};
  CAMGDense    dense;
  PetscInt    *n, *first = nullptr, count[2] = {0, 0};
  unsigned int blocks = 1;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(m) + 1, &P->i));
  PetscCall(CAMGZeros(stream, 2, &n));
  for (int k = 0; k < 2; k++) {
    list[k + 1].n = n + k;
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(m), &list[k + 1].row));
  }
  if (small) {
    SmoothShort<CAMG_LANES, SMOOTH_EACH, false><<<few, CAMG_THREADS, 0, stream>>>(s, list[0], list[1], P->i, nullptr, nullptr);
    SmoothShort<32, SMOOTH_WARP, false><<<listed, CAMG_THREADS, 0, stream>>>(s, list[1], list[2], P->i, nullptr, nullptr);
  } else SmoothShort<32, SMOOTH_WARP, false><<<many, CAMG_THREADS, 0, stream>>>(s, list[0], list[2], P->i, nullptr, nullptr);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGGet(stream, 2, n, count));
  if (count[1]) {
    PetscCall(CAMGDenseCreate(stream, P->n, true, &dense, &blocks));
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(blocks) * P->n, &first));
    FillFirsts<<<PetscMin(CAMGBlocks(static_cast<PetscInt64>(blocks) * P->n), 4096u), CAMG_THREADS, 0, stream>>>(static_cast<PetscInt64>(blocks) * P->n, first);
    SmoothLong<false><<<blocks, CAMG_THREADS, 0, stream>>>(s, list[2], dense, first, P->i, nullptr, nullptr);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscCall(FinishSizes(stream, P));
  if (small) {
    SmoothShort<CAMG_LANES, SMOOTH_EACH, true><<<few, CAMG_THREADS, 0, stream>>>(s, list[0], list[1], P->i, P->j, P->a);
    if (count[0]) SmoothShort<32, SMOOTH_WARP, true><<<listed, CAMG_THREADS, 0, stream>>>(s, list[1], list[2], P->i, P->j, P->a);
  } else SmoothShort<32, SMOOTH_WARP, true><<<many, CAMG_THREADS, 0, stream>>>(s, list[0], list[2], P->i, P->j, P->a);
  if (count[1]) SmoothLong<true><<<blocks, CAMG_THREADS, 0, stream>>>(s, list[2], dense, first, P->i, P->j, P->a);
  PetscCallCUDA(cudaGetLastError());
  if (count[1]) {
    PetscCall(CAMGDenseDestroy(stream, &dense));
    PetscCall(CAMGFree(stream, first));
  }
  for (int k = 0; k < 2; k++) PetscCall(CAMGFree(stream, list[k + 1].row));
  PetscCall(CAMGFree(stream, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of (1 - damping F) T: items are those of SmoothRows, with the columns of an aggregate as entries */
struct SmoothSource {
  static constexpr bool factors = true, offsets = true;
  SmoothRows            rows;
  PetscInt              columns;

  __device__ __forceinline__ PetscInt Begin(PetscInt r) const
  {
    return rows.F.strong.i[r] - 1;
  }
  __device__ __forceinline__ PetscInt End(PetscInt r) const
  {
    return Begin(r) + rows.Items(r);
  }
  __device__ __forceinline__ CAMGItem Get(PetscInt r, PetscInt k) const
  {
    const PetscInt c = k < rows.F.strong.i[r] ? r : rows.F.strong.j[k], g = rows.agg[c / rows.block];

    if (g < 0) return CAMGItem{};
    return CAMGItem{g * columns, (g + 1) * columns, (static_cast<PetscInt64>(c) - g) * columns, rows.Factor(r, k)};
  }
  __device__ __forceinline__ PetscInt Column(const CAMGItem &, PetscInt q) const
  {
    return q;
  }
  __device__ __forceinline__ bool Head(const CAMGItem &, PetscInt) const
  {
    return true;
  }
  __device__ __forceinline__ void Add(const CAMGItem &item, PetscInt q, PetscScalar *sum) const
  {
    *sum += rows.T ? CAMGTimes(item.factor, rows.T[item.offset + q]) : item.factor;
  }
};

/* j NULL: sizes */
template <int lanes>
static __global__ void NonzerosKernel(const __grid_constant__ CAMGMatrix A, PetscInt *i, PetscInt *__restrict__ j, PetscScalar *__restrict__ a)
{
  const CAMGGroupOf<lanes> g;
  const int                shift = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;

  if (g.row >= A.m) return;
  PetscInt at = j ? i[g.row] : 0;

  for (PetscInt base = A.i[g.row]; base < A.i[g.row + 1]; base += lanes) {
    const PetscInt     k    = base + g.lane;
    const bool         here = k < A.i[g.row + 1] && !CAMGIsZero(A.a[k]);
    const unsigned int all  = __ballot_sync(g.mask, here) >> shift & g.mask >> shift;

    if (j && here) {
      const PetscInt p = at + __popc(all & ((1u << g.lane) - 1));

      j[p] = A.j[k];
      a[p] = A.a[k];
    }
    at += __popc(all);
  }
  if (!j && g.lane == 0) i[g.row] = at;
}

/* All entries but zeros */
static PetscErrorCode Full(cudaStream_t stream, const SmoothSource &s, CAMGMatrix *P)
{
  const double items = static_cast<double>(s.rows.F.strong.nz) / PetscMax(P->m, 1) + 1;
  CAMGMatrix   all;

  PetscFunctionBegin;
  PetscCall(CAMGMultiply(stream, s, P->m, P->n, CAMGStage(items, static_cast<double>(s.columns)), &all));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(P->m) + 1, &P->i));
  CAMG_ROWS(&all, (NonzerosKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(all, P->i, nullptr, nullptr)));
  PetscCall(FinishSizes(stream, P));
  CAMG_ROWS(&all, (NonzerosKernel<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(all, P->i, P->j, P->a)));
  PetscCall(CAMGDestroy(stream, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGSmooth(const CAMGGraph *F, const PetscReal damping[], const CAMGSpace *space, const PetscInt agg[], PetscInt aggregates,
                                   PetscInt truncate, CAMGMatrix *P)
{
  SmoothSource s;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  P->m           = F->strong.m;
  P->n           = aggregates * space->columns;
  s.columns      = space->columns;
  s.rows.F       = *F;
  s.rows.damping = damping;
  s.rows.T       = space->T;
  s.rows.agg     = agg;
  s.rows.block   = space->block;
  s.rows.most    = truncate;
  if (!damping) PetscCall(Plain(stream, space, agg, P));
  else if (truncate && space->columns == 1) PetscCall(Truncated(stream, s.rows, P));
  else PetscCall(Full(stream, s, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
