/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Steps of SBP-SAT operators: A u, residuals, smoothing. A single launch computes the interior and the frame */

#include <type_traits>
#include "launch.cuh"

/*
   Shapes of launches: layout of columns, rows in flight (0: one row, in registers), threads per block, blocks per
   multiprocessor, rows per warp. Measured with data that vary from node to node. Constant data make all shapes faster,
   by different amounts, probably because of lower power.
*/
template <class V, SBPKind kind, SBPTake take, bool aligned>
struct SBPStepShape {
  using L                     = SBPStrided<1>;
  static constexpr int stages = 3, threads = 128, blocks = 5, rows = 12;
};
template <SBPTake take>
struct SBPStepShape<float, SBP_SAT, take, true> {
  using L                     = SBPAdjacent<2>;
  static constexpr int stages = 3, threads = 256, blocks = 3, rows = 12;
};
template <SBPTake take>
struct SBPStepShape<float, SBP_NINE, take, true> {
  using L                     = SBPAdjacent<2>;
  static constexpr int stages = 3, threads = take == SBP_TAKE_SMOOTH ? 128 : 256, blocks = take == SBP_TAKE_SMOOTH ? 6 : 4,
                       rows = take == SBP_TAKE_SMOOTH ? 12 : 8;
};
template <SBPKind kind, SBPTake take>
struct SBPStepShape<float, kind, take, false> {
  using L                     = SBPStrided<4>;
  static constexpr int stages = 0, threads = 128, blocks = kind == SBP_NINE ? 3 : 4, rows = 16;
};
template <SBPTake take>
struct SBPStepShape<double, SBP_SAT, take, true> {
  using L                     = SBPAdjacent<2>;
  static constexpr int stages = 3, threads = 128, blocks = 4, rows = 12;
};
template <SBPTake take>
struct SBPStepShape<double, SBP_SAT, take, false> {
  using L                     = SBPStrided<2>;
  static constexpr int stages = 3, threads = 128, blocks = take == SBP_TAKE_APPLY ? 5 : 4, rows = 12;
};
/* only PCSBPMG calls this: as in fused.cu, rows are not aligned */
template <>
struct SBPStepShape<double, SBP_SAT, SBP_TAKE_ROUND, true> : SBPStepShape<double, SBP_SAT, SBP_TAKE_ROUND, false> {
};
template <SBPTake take, bool aligned>
struct SBPStepShape<double, SBP_NINE, take, aligned> {
  using L                     = SBPStrided<1>;
  static constexpr int stages = take == SBP_TAKE_SMOOTH ? 2 : 3, threads = 128, blocks = 7, rows = 12;
};

template <SBPTake take>
struct SBPStepShape<float, SBP_SHIFTED, take, true> : SBPStepShape<float, SBP_SAT, take, true> {
};
template <SBPTake take, bool aligned>
struct SBPStepShape<double, SBP_SHIFTED, take, aligned> : SBPStepShape<double, SBP_SAT, take, aligned> {
};

template <SBPKind kind, SBPTake take, bool aligned, class V>
static __global__ void __launch_bounds__(SBPStepShape<V, kind, take, aligned>::threads, SBPStepShape<V, kind, take, aligned>::blocks)
  SBPStepKernel(const __grid_constant__ SBPMarch<V> m)
{
  using Shape = SBPStepShape<V, kind, take, aligned>;
  using L     = typename Shape::L;

  if (kind != SBP_NINE && blockIdx.x < static_cast<unsigned>(m.frameblocks)) {
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int       i, j;

    if (k >= m.frame) return;
    SBPFrameNode(m, k, &i, &j);
    auto U = [&](int a, int b) { return SBPRead(m.u + static_cast<ptrdiff_t>(b) * m.ghostpitch + a); };

    SBPNodeFinish<take>(m, i, j, SBPNode<kind>(m, i, j, U), U(i, j));
    return;
  }
  const int block = static_cast<int>(blockIdx.x) - (kind != SBP_NINE ? m.frameblocks : 0);

  SBPStepBlock<typename SBPOperatorOf<V, kind, L>::type, L, take, Shape::stages, Shape::threads>(m, block);
}

template <SBPKind kind, SBPTake take, bool aligned, class V>
static void SBPLaunchStep(SBPMarch<V> m, cudaStream_t stream)
{
  using Shape = SBPStepShape<V, kind, take, aligned>;
  using L     = typename Shape::L;
  int       threads;
  const int blocks = SBPDivide<L, 1, 1>(&m, Shape::rows, Shape::threads, &threads);

  if (blocks > 0) SBPStepKernel<kind, take, aligned, V><<<blocks, threads, 0, stream>>>(m);
}

template <SBPKind kind, SBPTake take, class V>
static void SBPLaunchStep(bool aligned, const SBPMarch<V> &m, cudaStream_t stream)
{
  if constexpr (std::is_same_v<typename SBPStepShape<V, kind, take, true>::L, typename SBPStepShape<V, kind, take, false>::L>)
    SBPLaunchStep<kind, take, false>(m, stream);
  else if (aligned) SBPLaunchStep<kind, take, true>(m, stream);
  else SBPLaunchStep<kind, take, false>(m, stream);
}

/* Arguments of a step, after those of the operator */
template <class V>
static void SBPSetMarch(const SBPOperator *op, const SBPStep *step, SBPMarch<V> *m)
{
  const int width[4] = {SBPFrameWidth(op, 0, 0), SBPFrameWidth(op, 1, 0), SBPFrameWidth(op, 2, 0), SBPFrameWidth(op, 3, 0)};

  SBPSetStep(op, step, m);
  SBPSetFrame(width, m);
}

template <SBPKind kind, class V>
static void SBPLaunchStep(SBPMode mode, bool aligned, const SBPMarch<V> &m, cudaStream_t stream)
{
  switch (mode) {
  case SBP_APPLY:
    SBPLaunchStep<kind, SBP_TAKE_APPLY>(aligned, m, stream);
    break;
  case SBP_ADD:
  case SBP_RESIDUAL:
    SBPLaunchStep<kind, SBP_TAKE_ADD>(aligned, m, stream);
    break;
  case SBP_SMOOTH:
    SBPLaunchStep<kind, SBP_TAKE_SMOOTH>(aligned, m, stream);
    break;
  }
}

PetscErrorCode LitheCUDASBPStep(const SBPOperator *op, const SBPBox *region, const SBPStep *step)
{
  PetscFunctionBegin;
  if (op->kind != SBP_NINE && op->grid.order > 2) {
    PetscCall(LitheCUDASBPStepAny(op, region, step));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SBPWithOperator(op, region, [&](auto &m, cudaStream_t stream) {
    SBPSetMarch(op, step, &m);
    if (op->kind == SBP_SAT) SBPLaunchStep<SBP_SAT>(step->mode, SBPIsAligned(op, m), m, stream);
    else if (op->kind == SBP_SHIFTED) SBPLaunchStep<SBP_SHIFTED>(step->mode, SBPIsAligned(op, m), m, stream);
    else SBPLaunchStep<SBP_NINE>(step->mode, SBPIsAligned(op, m), m, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPRoundedResidual(const SBPOperator *op, const void *u, const void *b, const SBPGrid *grid, void *r, const double *scale)
{
  const SBPStep    step = {SBP_RESIDUAL, u, b, nullptr, nullptr, 0., 0., nullptr, nullptr};
  SBPMarch<double> m;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCheck(op->precision == SBP_DOUBLE && (op->kind == SBP_NINE || op->grid.order == 2), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A residual is rounded only for operators of order 2 in double precision");
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(SBPSetOperator(op, nullptr, &m));
  SBPSetMarch(op, &step, &m);
  m.rounded      = static_cast<float *>(r);
  m.roundedpitch = static_cast<int>(grid->pitch);
  m.scale        = scale;
  if (op->kind == SBP_SAT) SBPLaunchStep<SBP_SAT, SBP_TAKE_ROUND>(SBPIsAligned(op, m), m, stream);
  else if (op->kind == SBP_SHIFTED) SBPLaunchStep<SBP_SHIFTED, SBP_TAKE_ROUND>(SBPIsAligned(op, m), m, stream);
  else SBPLaunchStep<SBP_NINE, SBP_TAKE_ROUND>(SBPIsAligned(op, m), m, stream);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <SBPKind kind, class V>
static __global__ void __launch_bounds__(SBP_THREADS) SBPDiagonalKernel(const __grid_constant__ SBPMarch<V> m)
{
  const int width = m.all[0][1], node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = node % width, j = node / width;

  if (j >= m.all[1][1]) return;
  m.out[static_cast<ptrdiff_t>(j) * m.pitch + i] = SBPNode<kind>(m, i, j, [&](int a, int b) { return a == i && b == j ? SBPOne<V>() : SBPZero<V>(); });
}

PetscErrorCode LitheCUDASBPDiagonal(const SBPOperator *op, void *d)
{
  PetscFunctionBegin;
  if (op->kind != SBP_NINE && op->grid.order > 2) {
    PetscCall(LitheCUDASBPDiagonalAny(op, d));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SBPWithOperator(op, nullptr, [&](auto &m, cudaStream_t stream) {
    const int blocks = SBPNodeBlocks(m);

    m.out = static_cast<decltype(m.out)>(d);
    if (!blocks) return;
    if (op->kind == SBP_SAT) SBPDiagonalKernel<SBP_SAT><<<blocks, SBP_THREADS, 0, stream>>>(m);
    else if (op->kind == SBP_SHIFTED) SBPDiagonalKernel<SBP_SHIFTED><<<blocks, SBP_THREADS, 0, stream>>>(m);
    else SBPDiagonalKernel<SBP_NINE><<<blocks, SBP_THREADS, 0, stream>>>(m);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
