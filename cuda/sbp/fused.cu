/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Several operations of a multigrid cycle in one sweep, for a process with the whole grid. In registers, the result of
   an operation passes to the next operation from row to row. Near the ends of the grid, the result is computed again
   for each node.
*/

#include "sweeps.cuh"

/*
   Shapes of launches: layout of columns, rows in shared memory, threads per block, blocks per multiprocessor, rows per
   warp. two: two operators in sequence.

   On a level with a coarser level, the coefficients of SBP_SAT and SBP_SHIFTED have rows of an odd number of nodes, so
   columns are strided. The arrays of SBP_NINE, all made by PCSBPMG, begin rows at multiples of 16 bytes.
*/
template <class V, SBPKind kind, bool two>
struct SBPFusedShape;
template <SBPKind kind, bool two>
struct SBPFusedShape<float, kind, two> {
  using L                     = SBPStrided<2>;
  static constexpr int stages = 3, threads = 128, blocks = two ? 4 : 5, rows = 16;
};
template <SBPKind kind, bool two>
struct SBPFusedShape<double, kind, two> {
  using L                     = SBPStrided<1>;
  static constexpr int stages = 3, threads = 128, blocks = two ? 4 : 5, rows = 16;
};
template <bool two>
struct SBPFusedShape<float, SBP_NINE, two> {
  using L                     = SBPAdjacent<2>;
  static constexpr int stages = 3, threads = two ? 128 : 256, blocks = two ? 5 : 3, rows = two ? 24 : 16;
};
template <bool two>
struct SBPFusedShape<double, SBP_NINE, two> {
  using L                     = SBPAdjacent<2>;
  static constexpr int stages = 2, threads = 128, blocks = two ? 3 : 4, rows = two ? 24 : 16;
};

/* ------------------------------------------------------------ launches */

static __host__ __device__ constexpr bool SBPIsTwo(SBPFusedKind fused)
{
  return fused == SBP_FUSED_SMOOTHTWORESTRICT || fused == SBP_FUSED_PROLONGSMOOTHTWO;
}

template <SBPFusedKind fused, SBPKind kind, class V>
static __global__ void __launch_bounds__(SBPFusedShape<V, kind, SBPIsTwo(fused)>::threads, SBPFusedShape<V, kind, SBPIsTwo(fused)>::blocks)
  SBPFusedKernel(const __grid_constant__ SBPFused<V> m)
{
  using Shape = SBPFusedShape<V, kind, SBPIsTwo(fused)>;
  using L     = typename Shape::L;

  if (kind != SBP_NINE && blockIdx.x < static_cast<unsigned>(m.frameblocks)) {
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int       i, j;

    if (k >= m.frame) return;
    if constexpr (fused == SBP_FUSED_SMOOTHTWORESTRICT) SBPFrameNode(m.fine, k, &i, &j);
    else SBPFrameNode(m, k, &i, &j);
    SBPFusedNode<fused>(m, i, j, [&](int a, int b, const auto &u) { return SBPNode<kind, V>(m, a, b, u); });
    return;
  }
  const int block = static_cast<int>(blockIdx.x) - (kind != SBP_NINE ? m.frameblocks : 0);

  if constexpr (fused == SBP_FUSED_SMOOTHTWO) SBPSmoothTwoBlock<kind, L, Shape::stages, Shape::threads>(m, block);
  else if constexpr (fused == SBP_FUSED_RESIDUALRESTRICT) SBPResidualRestrictBlock<kind, L, Shape::stages, Shape::threads>(m, block);
  else if constexpr (fused == SBP_FUSED_SMOOTHTWORESTRICT) SBPSmoothTwoRestrictBlock<kind, L, Shape::stages, Shape::threads>(m, block);
  else SBPProlongSmoothBlock<fused == SBP_FUSED_PROLONGSMOOTH ? 1 : 2, kind, L, Shape::stages, Shape::threads>(m, block);
}

template <SBPFusedKind fused, SBPKind kind, class V>
static void SBPLaunchFused(SBPFused<V> m, cudaStream_t stream)
{
  using Shape             = SBPFusedShape<V, kind, SBPIsTwo(fused)>;
  using L                 = typename Shape::L;
  constexpr bool tocoarse = fused == SBP_FUSED_RESIDUALRESTRICT || fused == SBP_FUSED_SMOOTHTWORESTRICT;
  constexpr int  reach    = fused == SBP_FUSED_SMOOTHTWORESTRICT ? 3 : (fused == SBP_FUSED_RESIDUALRESTRICT || fused == SBP_FUSED_PROLONGSMOOTHTWO ? 2 : 1),
                rows      = tocoarse ? Shape::rows / 2 : Shape::rows;
  int           threads;
  constexpr int step   = tocoarse ? 2 : 1;
  const int     blocks = SBPDivide<L, reach, step>(&m, rows, Shape::threads, &threads);

  if (blocks > 0) SBPFusedKernel<fused, kind, V><<<blocks, threads, 0, stream>>>(m);
}

/*
   The nodes of the interior. A fine node is interior if a warp computes only interior rows for the node. A coarse node
   is interior if its fine neighbours are interior.
*/
template <SBPFusedKind fused, class V>
static void SBPSetFusedFrame(const SBPOperator *op, const SBPGrid *coarse, SBPFused<V> *m)
{
  constexpr bool restricts = fused == SBP_FUSED_SMOOTHTWORESTRICT;
  int            width[4];

  for (int face = 0; face < 4; face++) {
    width[face] = SBPFrameWidth(op, face, fused == SBP_FUSED_PROLONGSMOOTHTWO || restricts ? 1 : 0);
    if (coarse && op->kind != SBP_NINE) width[face] = (width[face] + 2) / 2;
  }
  if (!coarse) {
    SBPSetFrame(width, m);
    return;
  }
  for (int d = 0; d < 2; d++) m->all[d][1] = static_cast<int>(coarse->own.count[d]);
  SBPSetFrameOf(coarse->n, width, m);
  if (!restricts) return;
  m->frame   = 1;
  int inside = 1;
  for (int d = 0; d < 2; d++) {
    m->fine.all[d][0] = 0;
    m->fine.all[d][1] = m->n[d] + 1;
    m->fine.from[d]   = m->to[d] > m->from[d] ? 2 * m->from[d] : m->n[d] + 1;
    m->fine.to[d]     = m->to[d] > m->from[d] && 2 * m->to[d] <= m->n[d] ? 2 * m->to[d] : m->n[d] + 1;
    m->frame *= m->n[d] + 1;
    inside *= m->fine.to[d] - m->fine.from[d];
  }
  m->frame -= inside;
}

/* Restricts the launch to the frame of the coarse grid: warps do nothing */
template <class V>
static void SBPSetFrameOnly(const SBPGrid *coarse, SBPFused<V> *m)
{
  int inside = 1, count = 1;

  for (int d = 0; d < 2; d++) {
    inside *= m->to[d] - m->from[d];
    count *= static_cast<int>(coarse->own.count[d]);
  }
  m->frame     = count - inside;
  m->frameonly = 1;
}

/* Calls set(arguments), which sets the arrays, and launches the operation. coarse: the coarse grid, if written, or
   NULL. Other kernels may compute some of the nodes */
template <SBPFusedKind fused, class Set>
static PetscErrorCode SBPRunFused(const SBPOperator *op, const SBPGrid *coarse, Set set)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(SBPWithReal(op->precision, [&](auto number) {
    using V = decltype(number);
    SBPFused<V> m;

    PetscFunctionBegin;
    memset(&m, 0, sizeof(m));
    PetscCall(SBPSetOperator(op, nullptr, &m));
    set(&m);
    SBPSetFusedFrame<fused>(op, coarse, &m);
    PetscCheck(op->kind != SBP_NINE || SBPIsAligned(op, m), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Rows of the arrays do not begin at multiples of 16 bytes");
    if (op->kind != SBP_NINE && op->grid.order > 2) SBPLaunchFusedAny(fused, op->kind == SBP_SHIFTED, m, stream);
    else if (op->kind == SBP_SAT) SBPLaunchFused<fused, SBP_SAT>(m, stream);
    else if (op->kind == SBP_SHIFTED) SBPLaunchFused<fused, SBP_SHIFTED>(m, stream);
    else SBPLaunchFused<fused, SBP_NINE>(m, stream);
    if constexpr (fused == SBP_FUSED_SMOOTHTWORESTRICT) {
      /* the frame of the coarse grid reads u, which other blocks wrote */
      if (op->kind != SBP_NINE) {
        SBPFused<V> frame = m;

        frame.u          = m.out;
        frame.ghostpitch = m.pitch;
        frame.out        = m.restricted;
        SBPSetFrameOnly(coarse, &frame);
        if (op->kind == SBP_SAT) SBPLaunchFused<SBP_FUSED_RESIDUALRESTRICT, SBP_SAT>(frame, stream);
        else SBPLaunchFused<SBP_FUSED_RESIDUALRESTRICT, SBP_SHIFTED>(frame, stream);
      }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two smoothing steps; the first has no c1 */
template <class V>
static void SBPSetSmooths(SBPFused<V> *m, const double c1[2], const double c2[2], const void *dinv, const void *b, void *out)
{
  using K = typename SBPReal<V>::type;

  m->first = static_cast<K>(c2[0]);
  m->c1    = static_cast<K>(c1[1]);
  m->c2    = static_cast<K>(c2[1]);
  m->dinv  = static_cast<const V *>(dinv);
  m->b     = static_cast<const V *>(b);
  m->out   = static_cast<V *>(out);
}

/* A correction of u, on the coarse grid */
template <class V>
static void SBPSetCorrection(SBPFused<V> *m, const SBPGrid *coarse, const void *e, const void *u)
{
  m->e      = static_cast<const V *>(e);
  m->epitch = static_cast<int>(coarse->ghostpitch);
  for (int k = 0; k < 2; k++) m->coarse[k] = static_cast<int>(coarse->n[k]);
  m->u = static_cast<const V *>(u);
}

PetscErrorCode LitheCUDASBPSmoothTwo(const SBPOperator *op, const double c1[2], const double c2[2], const void *dinv, const void *b, void *u, void *d)
{
  PetscFunctionBegin;
  PetscCall(SBPRunFused<SBP_FUSED_SMOOTHTWO>(op, nullptr, [&](auto *m) {
    SBPSetSmooths(m, c1, c2, dinv, b, u);
    m->dout = static_cast<decltype(m->dout)>(d);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPResidualRestrict(const SBPOperator *op, const SBPGrid *coarse, const void *u, const void *b, void *rc)
{
  PetscFunctionBegin;
  PetscCall(SBPRunFused<SBP_FUSED_RESIDUALRESTRICT>(op, coarse, [&](auto *m) {
    m->u      = static_cast<decltype(m->u)>(u);
    m->b      = static_cast<decltype(m->b)>(b);
    m->out    = static_cast<decltype(m->out)>(rc);
    m->epitch = static_cast<int>(coarse->pitch);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPProlongSmooth(const SBPOperator *op, const SBPGrid *coarse, const void *e, const void *u, double c2, const void *dinv, const void *b,
                                         void *out, void *dout)
{
  PetscFunctionBegin;
  PetscCall(SBPRunFused<SBP_FUSED_PROLONGSMOOTH>(op, nullptr, [&](auto *m) {
    SBPSetCorrection(m, coarse, e, u);
    m->c2   = static_cast<decltype(m->c2)>(c2);
    m->dinv = static_cast<decltype(m->dinv)>(dinv);
    m->b    = static_cast<decltype(m->b)>(b);
    m->out  = static_cast<decltype(m->out)>(out);
    m->dout = static_cast<decltype(m->dout)>(dout);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPSmoothTwoRestrict(const SBPOperator *op, const SBPGrid *coarse, const double c1[2], const double c2[2], const void *dinv,
                                             const void *b, void *u, void *rc)
{
  PetscFunctionBegin;
  if (op->kind != SBP_NINE && op->grid.order > 2) {
    PetscCall(LitheCUDASBPSmoothTwo(op, c1, c2, dinv, b, u, nullptr));
    PetscCall(LitheCUDASBPResidualRestrict(op, coarse, u, b, rc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SBPRunFused<SBP_FUSED_SMOOTHTWORESTRICT>(op, coarse, [&](auto *m) {
    SBPSetSmooths(m, c1, c2, dinv, b, u);
    m->restricted = static_cast<decltype(m->restricted)>(rc);
    m->epitch     = static_cast<int>(coarse->pitch);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPProlongSmoothTwo(const SBPOperator *op, const SBPGrid *coarse, const void *e, const void *u, const double c1[2], const double c2[2],
                                            const void *dinv, const void *b, void *out)
{
  PetscFunctionBegin;
  PetscCheck(op->kind == SBP_NINE || op->grid.order == 2, PETSC_COMM_SELF, PETSC_ERR_SUP, "Two fused smoothing steps need an operator of order 2, not %d",
             op->grid.order);
  PetscCall(SBPRunFused<SBP_FUSED_PROLONGSMOOTHTWO>(op, nullptr, [&](auto *m) {
    SBPSetCorrection(m, coarse, e, u);
    SBPSetSmooths(m, c1, c2, dinv, b, out);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
