/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rows of numbers by slices: see CAMGOperator. Threads of a warp read neighbouring entries, and vectors at the places
   of neighbouring rows.
*/

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define SLICE_WARPS  4096 /* fewer rows get more threads each, */
  #define SLICE_LEAST  4    /* if a thread has this many entries */
  #define SLICE_LONG   256  /* steps of a slice; longer rows would keep a warp busy after all others */
  #define SLICE_WORTH  1.25 /* bytes of slices over those of rows, which take longer for a byte */
  #define SLICE_NARROW 65535

/* What the host has to know */
struct SliceFacts {
  int steps, longest, wide;
};

/* A slice of a warp: its row for this thread, with entries begin to end - 1 */
struct SliceRow {
  int slice, row, sub, begin, end;

  __device__ __forceinline__ SliceRow(const CAMGOperator &rows, int group)
      : slice(static_cast<int>((static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x) / 32)),
        row(slice * (32 / group) + static_cast<int>(threadIdx.x) % 32 / group), sub(static_cast<int>(threadIdx.x) % group)
  {
    begin = row < rows.m ? rows.i[row] : 0;
    end   = row < rows.m ? rows.i[row + 1] : 0;
  }
};

static __global__ void __launch_bounds__(CAMG_THREADS)
  SliceSizes(const __grid_constant__ CAMGOperator rows, int group, int slices, int *__restrict__ steps, SliceFacts *facts)
{
  const SliceRow r(rows, group);
  const int      need = CAMGLargest<32>(CAMG_ALL, (r.end - r.begin + 2 * group - 1) / (2 * group));

  if (threadIdx.x % 32 || r.slice >= slices) return;
  steps[r.slice] = need;
  if (need > *static_cast<volatile int *>(&facts->longest)) atomicMax(&facts->longest, need);
}

/* Code: an unsigned integer of the size of an entry's codes */
template <class Code>
static __global__ void __launch_bounds__(CAMG_THREADS)
  SliceFill(const __grid_constant__ CAMGOperator rows, int slices, const __grid_constant__ CAMGOperator to, SliceFacts *facts)
{
  const SliceRow r(rows, to.group);

  if (r.slice >= slices) return;
  const int first = to.i[r.slice], last = to.i[r.slice + 1];

  for (int step = first; step < last; step++) {
    const int    k    = r.begin + ((step - first) * to.group + r.sub) * 2;
    const bool   here = k < r.end, both = k + 1 < r.end;
    const size_t at   = (static_cast<size_t>(step) * 32 + threadIdx.x % 32) * 2;
    int          c[2] = {here ? rows.j[k] : INT_MAX, both ? rows.j[k + 1] : INT_MAX};
    const int    base = -CAMGLargest<32>(CAMG_ALL, -min(c[0], c[1])); /* a step has an entry */

    if (!here) c[0] = base;
    if (!both) c[1] = base;
    if (to.narrow) {
      reinterpret_cast<ushort2 *>(to.j)[at / 2] = ushort2{static_cast<unsigned short>(c[0] - base), static_cast<unsigned short>(c[1] - base)};
      if (max(c[0], c[1]) - base > SLICE_NARROW) facts->wide = 1;
      if (threadIdx.x % 32 == 0) to.base[step] = base;
    } else reinterpret_cast<int2 *>(to.j)[at / 2] = int2{c[0], c[1]};
    static_cast<Code *>(to.code)[at]     = here ? static_cast<const Code *>(rows.code)[k] : Code(0);
    static_cast<Code *>(to.code)[at + 1] = both ? static_cast<const Code *>(rows.code)[k + 1] : Code(0);
  }
}

/* Columns and codes. Columns of 2 bytes are tried first */
static PetscErrorCode SlicePut(cudaStream_t stream, const CAMGOperator *rows, int slices, CAMGOperator *to, SliceFacts *there)
{
  const size_t       room = static_cast<size_t>(to->steps) * 64, bytes = CAMG_PARTS * static_cast<size_t>(rows->bits) / 8;
  const unsigned int blocks = CAMGBlocks(static_cast<PetscInt64>(slices) * 32);
  SliceFacts         facts;
  char              *j, *code;

  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, room * bytes, &code));
  to->code = code;
  for (to->narrow = 1; to->narrow >= 0; to->narrow--) {
    PetscCall(CAMGAllocate(stream, room * (to->narrow ? 2 : 4), &j));
    if (to->narrow) PetscCall(CAMGAllocate(stream, static_cast<size_t>(to->steps), &to->base));
    to->j = reinterpret_cast<int *>(j);
    if (bytes == 1) SliceFill<uint8_t><<<blocks, CAMG_THREADS, 0, stream>>>(*rows, slices, *to, there);
    else if (bytes == 2) SliceFill<uint16_t><<<blocks, CAMG_THREADS, 0, stream>>>(*rows, slices, *to, there);
    else if (bytes == 4) SliceFill<uint32_t><<<blocks, CAMG_THREADS, 0, stream>>>(*rows, slices, *to, there);
    else SliceFill<uint64_t><<<blocks, CAMG_THREADS, 0, stream>>>(*rows, slices, *to, there);
    PetscCallCUDA(cudaGetLastError());
    if (!to->narrow) break;
    PetscCall(CAMGGet(stream, 1, there, &facts));
    if (!facts.wide) break;
    PetscCall(CAMGFree(stream, j));
    PetscCall(CAMGFree(stream, to->base));
    to->base = nullptr;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACAMGSlices(CAMGOperator *op)
{
  const double entries = static_cast<double>(op->nz) / PetscMax(op->m, 1), bytes = CAMG_PARTS * op->bits / 8.;
  CAMGOperator to = *op;
  int          slices;
  SliceFacts  *there, facts;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (op->rb * op->cb > 1 || !op->m || !op->nz) PetscFunctionReturn(PETSC_SUCCESS);
  for (to.group = 1; to.group < 32 && static_cast<double>(op->m) * to.group / 32 < SLICE_WARPS && entries > SLICE_LEAST * to.group;) to.group *= 2;
  slices = (op->m + 32 / to.group - 1) / (32 / to.group);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(slices) + 1, &to.i));
  PetscCall(CAMGZeros(stream, 1, &there));
  SliceSizes<<<CAMGBlocks(static_cast<PetscInt64>(slices) * 32), CAMG_THREADS, 0, stream>>>(*op, to.group, slices, to.i, there);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, slices, to.i));
  PetscCallCUDA(cudaMemcpyAsync(&there->steps, to.i + slices, sizeof(int), cudaMemcpyDeviceToDevice, stream));
  PetscCall(CAMGGet(stream, 1, there, &facts));
  if (facts.longest > SLICE_LONG || 64. * facts.steps > INT_MAX || 64. * facts.steps * (2 + bytes) > SLICE_WORTH * (op->nz * (4. + bytes) + 4. * op->m))
    PetscCall(CAMGFree(stream, to.i));
  else {
    to.steps = facts.steps;
    PetscCall(SlicePut(stream, op, slices, &to, there));
    PetscCall(CAMGFree(stream, op->i));
    PetscCall(CAMGFree(stream, op->j));
    PetscCall(CAMGFree(stream, static_cast<char *>(op->code)));
    *op = to;
  }
  PetscCall(CAMGFree(stream, there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
