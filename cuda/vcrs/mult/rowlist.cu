/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The list of the rows that are summed separately: for 27-point stencils (stencil27.cu) and for L0 with several media
   (pairs.cu) */

#include "stencil27.cuh"
#include "../../common/scan.cuh"

#define ROWLIST_THREADS 256

/*
   Whether a row is listed, because the threads with several rows do not treat the row. These threads treat rows whose
   words have all wanted bits; for 27-point stencils, rows with the set for their place in a plane.
*/
struct IsListed {
  const void     *id;
  int             idbytes;
  const uint32_t *word;
  uint32_t        wanted;
  VCRSUnsigned    first, end, line, stride; /* line = 0: L0 */
  PetscInt        common, side[4];

  __device__ bool operator()(PetscInt row) const
  {
    const VCRSUnsigned r = static_cast<VCRSUnsigned>(row);
    const PetscInt     p = ReadId(id, idbytes, r);

    if (r < first || r >= end) return true;
    if (line) return p != SetOfPlace(r);
    return (__ldg(word + p) & wanted) != wanted;
  }

  /* The set for a row's place in a plane; -1: a corner */
  __device__ PetscInt SetOfPlace(VCRSUnsigned row) const
  {
    const VCRSUnsigned column = row % line;
    const int          end    = column == 0 ? 0 : (column + 1 == line ? 1 : -1);
    const SliceKind    kind   = GetSliceKind(line, stride, row / 32 * 32);

    if (kind == SLICE_LOW || kind == SLICE_HIGH) return end >= 0 ? -1 : side[kind == SLICE_LOW ? 2 : 3];
    return end >= 0 ? side[end] : common;
  }
};

/* ends[w]: the largest number of slices with ends of lines among w neighbouring slices, anywhere in a plane */
static void CountEnds(VCRSLaunch *l)
{
  const PetscInt n    = l->stride / 32;
  const auto     ends = [&](PetscInt k) {
    return GetSliceKind(static_cast<VCRSUnsigned>(l->line), static_cast<VCRSUnsigned>(l->stride), static_cast<VCRSUnsigned>(32 * (k % n))) == SLICE_ENDS ? 1
                                                                                                                                                             : 0;
  };

  for (int w = 1; w <= VCRS_STENCIL27_WARPS; w++) {
    int in = 0;

    l->ends[w] = 0;
    for (PetscInt s = 0; s < n + w; s++) {
      in += ends(s) - (s >= w ? ends(s - w) : 0);
      l->ends[w] = PetscMax(l->ends[w], in);
    }
  }
}

/* Sets bit row % 32 of word row / 32 for rows outside of the list */
static __global__ void MarkMain(IsListed listed, PetscInt m, uint32_t *main)
{
  const PetscInt64 row  = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const uint32_t   word = __ballot_sync(0xffffffffu, row < m && !listed(static_cast<PetscInt>(row)));

  if (row < m && row % 32 == 0) main[row / 32] = word;
}

/* The listed rows among rows 32 k, ... */
static __global__ void CountListed(IsListed listed, PetscInt m, PetscInt *count)
{
  const PetscInt64 row  = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const uint32_t   word = __ballot_sync(0xffffffffu, row < m && listed(static_cast<PetscInt>(row)));

  if (row < m && row % 32 == 0) count[row / 32] = __popc(word);
}

/* first[k]: the place of the first one in the list */
static __global__ void WriteListed(IsListed listed, PetscInt m, const PetscInt *first, PetscInt *list)
{
  const PetscInt64 row  = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool       is   = row < m && listed(static_cast<PetscInt>(row));
  const uint32_t   word = __ballot_sync(0xffffffffu, is);

  if (is) list[first[row / 32] + __popc(word & ((1u << row % 32) - 1))] = static_cast<PetscInt>(row);
}

/* Makes the list of the remaining rows, and marks the rows for 27-point stencils. taken is false with too many rows, or
   if the grid is too small */
PetscErrorCode VCRSRowList(VCRSLaunch *l, const VCRSPlan *p, uint32_t wanted, PetscBool *taken, cudaStream_t stream)
{
  const IsListed   listed = {p->sets.id,
                             static_cast<int>(p->sets.idbytes),
                             l->dword,
                             wanted,
                             static_cast<VCRSUnsigned>(l->main.first),
                             static_cast<VCRSUnsigned>(l->main.first + l->main.n),
                             static_cast<VCRSUnsigned>(l->stencil27 ? l->line : 0),
                             static_cast<VCRSUnsigned>(l->stride),
                             l->id,
                             {l->side[0], l->side[1], l->side[2], l->side[3]}};
  const PetscInt64 words  = (static_cast<PetscInt64>(p->m) + 31) / 32;
  const auto       blocks = static_cast<unsigned int>((static_cast<PetscInt64>(p->m) + ROWLIST_THREADS - 1) / ROWLIST_THREADS);
  size_t           bytes  = 0;
  void            *work;
  PetscInt        *count;

  PetscFunctionBegin;
  *taken = PETSC_FALSE;
  if (l->main.n <= 0 || l->main.n < VCRS_GRID_PLANES * static_cast<PetscInt64>(l->stride)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&count), (static_cast<size_t>(words) + 1) * sizeof(*count)));
  PetscCallCUDA(LitheScan(NULL, &bytes, count, words + 1, stream));
  PetscCallCUDA(cudaMalloc(&work, PetscMax(bytes, static_cast<size_t>(1))));
  CountListed<<<blocks, ROWLIST_THREADS, 0, stream>>>(listed, p->m, count);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemsetAsync(count + words, 0, sizeof(*count), stream));
  PetscCallCUDA(LitheScan(work, &bytes, count, words + 1, stream));
  PetscCallCUDA(cudaMemcpyAsync(&l->main.nlisted, count + words, sizeof(*count), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  if (l->main.nlisted <= p->m / 4) {
    *taken = PETSC_TRUE;
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->main.dlisted), PetscMax(l->main.nlisted, 1) * sizeof(*l->main.dlisted)));
    WriteListed<<<blocks, ROWLIST_THREADS, 0, stream>>>(listed, p->m, count, l->main.dlisted);
    PetscCallCUDA(cudaGetLastError());
    if (listed.line) {
      CountEnds(l);
      PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&l->main.dmain), (static_cast<size_t>(p->m) + 31) / 32 * sizeof(*l->main.dmain)));
      MarkMain<<<blocks, ROWLIST_THREADS, 0, stream>>>(listed, p->m, l->main.dmain);
      PetscCallCUDA(cudaGetLastError());
    }
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
  PetscCallCUDA(cudaFree(work));
  PetscCallCUDA(cudaFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
