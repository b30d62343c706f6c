/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Layouts L1 and L2: an id per row names an index set; values are in slices of 32 rows.

   A thread per row, a warp per slice. If the rows of a warp have the most frequent index set, its offsets are
   parameters of the kernel. Rows with a part of the set (the boundaries of a grid) do the same work without the missing
   entries. A few odd rows with different sets do not slow the warp down. The threads of odd rows do nothing at first,
   and then the warp sums the odd rows together: eight threads per short row, or all 32 threads per long row. In all
   remaining warps, offsets come from the tables.

   Blocks are persistent. The head of a row is read a step before the entries.
*/

#include "sets.cuh"

template <VCRSValues kind, bool difference, int length, int batch, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) SetsKernel(const __grid_constant__ SetsArguments a)
{
  typedef typename Values<kind>::Code Code;
  extern __shared__ __align__(16) char shared[];
  const int                            lane = threadIdx.x % 32;
  const VCRSUnsigned                   m = a.m, step = static_cast<VCRSUnsigned>(gridDim.x) * threads;
  const Code                          *value = static_cast<const Code *>(a.value) + lane;
  /* first: first row of the warp */
  VCRSUnsigned first = static_cast<VCRSUnsigned>(blockIdx.x) * threads + threadIdx.x - lane;
  RowHead      next  = ReadHead<Values<kind>::scaled, difference>(a, first + lane, first < m);
  Values<kind> values;

  PDLTrigger();
  values.Setup(shared, a.decode);

  const Number *const allx = PDLWait(a.x);

  for (; first < m; first += step) {
    const VCRSUnsigned row   = first + lane;
    const RowHead      h     = next;
    const Number       sigma = difference && h.id >= 0 ? ReadHeadSigma(a, h, row) : Number{};
    Number             sum, xref;
    bool               empty;

    next = ReadHead<Values<kind>::scaled, difference>(a, row + step, first + step < m);
    sum  = SumRow<length, batch, difference>(a, allx, values, value + h.start, row, h.id, ReadPart(a, h.id), &xref, &empty);
    if (row < m) WriteRow<Values<kind>::scaled, difference>(a, row, h.exponent, empty, sigma, xref, sum);
  }
}

template <VCRSValues kind, bool difference, int length, int batch, int threads, int blocks>
static PetscErrorCode SetsLaunch(const VCRSLaunch *l, const SetsArguments *a, cudaStream_t stream)
{
  /* persistent blocks: tables are filled once, and heads of rows are read in time */
  constexpr size_t shared = Values<kind>::sharedbytes;
  const PetscInt64 n      = PetscMin((static_cast<PetscInt64>(a->m) + threads - 1) / threads, static_cast<PetscInt64>(l->device.multiprocessors) * blocks);
  const auto       kernel = SetsKernel<kind, difference, length, batch, threads, blocks>;

  PetscFunctionBegin;
  if (shared > 0) PetscCallCUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  PetscCallCUDA(PDLLaunch(kernel, a->pdl, dim3(static_cast<unsigned int>(n)), dim3(threads), shared, stream, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shapes are measured, see docs/internals/kernels.md. Threads and blocks leave at least 48 registers per thread */
template <VCRSValues kind, int length>
static PetscErrorCode SetsLaunchKind(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  constexpr bool shared = Values<kind>::sharedbytes > 0;
#if defined(PETSC_USE_COMPLEX)
  constexpr int batch[2] = {4, 4}, threads[2] = {shared ? 512 : 256, shared ? 512 : 256},
                blocks[2] = {shared ? 2 : 4, shared                                        ? 2
                                             : kind == VCRS_VALUES_FIXED16 && length == 27 ? 3
                                                                                           : 4};
#else
  constexpr bool two       = Values<kind>::sharedbytes > SharedTable<PetscReal>::bytes;
  constexpr int  few       = length == 7 ? 640 : 512; /* longer sets need 64 registers, even with one table */
  constexpr int  batch[2]  = {shared ? 6 : 7, 6},
                threads[2] = {two      ? 1024
                              : shared ? few
                                       : 256,
                              shared && !two ? few : 1024},
                blocks[2] = {two      ? 1
                             : shared ? 2
                                      : 4,
                             shared && !two ? 2 : 1};
#endif

  PetscFunctionBegin;
  if (!p->difference) PetscCall((SetsLaunch<kind, false, length, batch[0], threads[0], blocks[0]>(l, a, stream)));
  else PetscCall((SetsLaunch<kind, true, length, batch[1], threads[1], blocks[1]>(l, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencils of most grids have separate kernels */
template <VCRSValues kind>
static PetscErrorCode SetsLaunchLength(const VCRSLaunch *l, const VCRSPlan *p, const SetsArguments *a, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (l->length == 7) PetscCall((SetsLaunchKind<kind, 7>(l, p, a, stream)));
  else if (l->length == 27) PetscCall((SetsLaunchKind<kind, 27>(l, p, a, stream)));
  else PetscCall((SetsLaunchKind<kind, 0>(l, p, a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSSetsMult(const VCRSLaunch *l, const VCRSPlan *p, const MultArguments *v, cudaStream_t stream)
{
  SetsArguments a;

  PetscFunctionBegin;
  SetsGetArguments(l, p, v, &a);
#define SetsCase(kind)                                   \
  case kind:                                             \
    PetscCall(SetsLaunchLength<kind>(l, p, &a, stream)); \
    break
  switch (p->values) {
    VCRS_ALL_VALUES(SetsCase)
  }
#undef SetsCase
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetsPrepare(VCRSLaunch *l, const VCRSPlan *table, VCRSPlan *p, bool *runs)
{
  PetscFunctionBegin;
  *runs = p->layout == MATVCRS_LAYOUT_L1 || p->layout == MATVCRS_LAYOUT_L2;
  if (*runs) PetscCall(VCRSCommonSets(l, table, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VCRSKernel VCRSKernelSets = {"sets", SetsPrepare, VCRSSetsMult};
