/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Lower triangles that are transposes of upper triangles, as in incomplete Cholesky factors. The entries come from an
   exact or a compressed upper triangle. A search in the sorted row of the transpose finds the place of each entry. No
   two threads have the same place.
*/

#include "tri.cuh"
#include "../../common/petsccuda.cuh"
#include <lithe/private/cuda/factor.h>

#define MIRROR_THREADS 256
#define MIRROR_THREAD  (static_cast<PetscInt64>(blockIdx.x) * MIRROR_THREADS + threadIdx.x)

static inline unsigned int MirrorBlocks(PetscInt64 threads)
{
  return static_cast<unsigned int>((threads + MIRROR_THREADS - 1) / MIRROR_THREADS);
}

/* Each row of the lower triangle finds its entries in the upper triangle; without numbers, only checks that the entries
   exist */
template <bool numbers>
static __global__ void __launch_bounds__(MIRROR_THREADS)
  MirrorKernel(const __grid_constant__ LitheDeviceTriangle upper, const __grid_constant__ LitheDeviceTriangle lower, int *missing)
{
  const PetscInt64 row = MIRROR_THREAD;

  if (row >= lower.n) return;
  for (PetscInt k = lower.i[row]; k < lower.i[row + 1]; k++) {
    const PetscInt column = lower.j[k], at = TriFind(upper.j, upper.i[column], upper.i[column + 1], static_cast<PetscInt>(row));

    if (!numbers) {
      if (at < 0) *missing = 1;
    } else if (at >= 0) reinterpret_cast<Number *>(lower.a)[k] = reinterpret_cast<const Number *>(upper.a)[at];
  }
}

PetscErrorCode LitheCUDATriangleMirror(const LitheDeviceTriangle *upper, const LitheDeviceTriangle *lower, PetscBool *complete)
{
  int         *dmissing, missing;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (complete) *complete = PETSC_TRUE;
  if (!lower->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (!complete) {
    MirrorKernel<true><<<MirrorBlocks(lower->n), MIRROR_THREADS, 0, stream>>>(*upper, *lower, NULL);
    PetscCallCUDA(cudaGetLastError());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&dmissing), sizeof(missing)));
  PetscCallCUDA(cudaMemsetAsync(dmissing, 0, sizeof(missing), stream));
  MirrorKernel<false><<<MirrorBlocks(lower->n), MIRROR_THREADS, 0, stream>>>(*upper, *lower, dmissing);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(&missing, dmissing, sizeof(missing), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(dmissing));
  *complete = (PetscBool)!missing;
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct MirrorArguments {
  LitheDeviceTriangle lower;
  Number             *a; /* entries of the lower triangle */
  PetscInt            first;
  int                *missing;
};

/* Writes an entry of the compressed triangle */
static __device__ __forceinline__ void MirrorPut(const MirrorArguments &m, PetscInt row, PetscInt column, Number value)
{
  const PetscInt to = m.first + column, at = TriFind(m.lower.j, m.lower.i[to], m.lower.i[to + 1], m.first + row);

  if (at >= 0) m.a[at] = value;
  else *m.missing = 1;
}

/* A thread per row of the compressed triangle. In the difference form, the reference has the value sigma minus the sum
   of all further entries */
static __global__ void __launch_bounds__(MIRROR_THREADS)
  MirrorPlanKernel(const __grid_constant__ VCRSPlan p, PetscInt64 slots, const __grid_constant__ MirrorArguments m)
{
  const PetscInt64 slot = MIRROR_THREAD;

  if (slot >= slots) return;
  const RowCursor c = OpenRow(p, static_cast<VCRSUnsigned>(slot));

  if (c.row < 0 || c.length == 0) return;
  const int exponent = IsScaled(p) ? p.decoding.exponent[c.row] : 0;
  Number    others   = Number{};

  for (PetscInt k = p.difference ? 1 : 0; k < c.length; k++) {
    Number v = Value(p, c, k);

    if (exponent) v = ScaleByPower(v, exponent);
    others = others + v;
    MirrorPut(m, c.row, Column(c, k), v);
  }
  if (p.difference) MirrorPut(m, c.row, Column(c, 0), RowSum(p, c.row) - others);
}

PetscErrorCode LitheCUDAVCRSMirror(const VCRSPlan *dplan, PetscInt first, const LitheDeviceTriangle *lower, PetscScalar **da)
{
  /* very long rows of L3 are stored separately, and are empty in their slices */
  const PetscInt64 slots = dplan->layout == MATVCRS_LAYOUT_L3 ? 32 * static_cast<PetscInt64>(dplan->slices.n) + dplan->longrows.n : dplan->m;
  const size_t     bytes = PetscMax(lower->nz, static_cast<PetscInt64>(1)) * sizeof(PetscScalar);
  MirrorArguments  m;
  int              missing = 0;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(da), bytes));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&m.missing), sizeof(missing)));
  if (lower->nz) PetscCallCUDA(cudaMemcpyAsync(*da, lower->a, bytes, cudaMemcpyDeviceToDevice, stream));
  PetscCallCUDA(cudaMemsetAsync(m.missing, 0, sizeof(missing), stream));
  m.lower = *lower;
  m.a     = reinterpret_cast<Number *>(*da);
  m.first = first;
  if (slots) {
    MirrorPlanKernel<<<MirrorBlocks(slots), MIRROR_THREADS, 0, stream>>>(*dplan, slots, m);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscCallCUDA(cudaMemcpyAsync(&missing, m.missing, sizeof(missing), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(m.missing));
  PetscCheck(!missing, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A compressed triangle has entries without a place in the transpose");
  PetscFunctionReturn(PETSC_SUCCESS);
}
