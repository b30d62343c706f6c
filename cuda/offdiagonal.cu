/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Off-diagonal blocks in which few rows have entries: a sweep over these rows only. Neighbouring threads share a row, as many as it has entries
   on the average.
*/

#include "step.cuh"
#include "upload.cuh"
#include <lithe/private/litheoffdiagonal.h>

#define OFFDIAGONAL_THREADS 128
#define OFFDIAGONAL_AHEAD   4

/* Where rows, their beginnings and entries are */
struct OffDiagonalArguments {
  VCRSUnsigned    nrows;
  const PetscInt *row, *rowptr, *col;
  const Number   *value, *ghost;
  Number         *y;
};

/*
   A row takes the time of its reads that wait for each other, for there are not many rows: its place and its pointers; then what y and a sum have
   and the entries, OFFDIAGONAL_AHEAD of a thread at once; then their ghosts.
*/
template <int threads>
static __global__ void __launch_bounds__(OFFDIAGONAL_THREADS) OffDiagonalKernel(const __grid_constant__ OffDiagonalArguments a, const __grid_constant__ LitheStep step)
{
  const VCRSUnsigned r  = (static_cast<VCRSUnsigned>(blockIdx.x) * OFFDIAGONAL_THREADS + threadIdx.x) / threads;
  const bool         is = r < a.nrows, writes = is && threadIdx.x % threads == 0;
  const PetscInt     begin = is ? __ldg(a.rowptr + r) : 0, end = is ? __ldg(a.rowptr + r + 1) : 0, row = is ? __ldg(a.row + r) : 0;
  Number             sum = Number{}, y = writes ? a.y[row] : Number{}, first = writes && step.nsums ? reinterpret_cast<const Number *>(step.sum[0])[row] : Number{};

  for (PetscInt k = begin + static_cast<PetscInt>(threadIdx.x % threads); k < end; k += OFFDIAGONAL_AHEAD * threads) {
    Number   value[OFFDIAGONAL_AHEAD], ghost[OFFDIAGONAL_AHEAD];
    PetscInt col[OFFDIAGONAL_AHEAD];

#pragma unroll
    for (int l = 0; l < OFFDIAGONAL_AHEAD; l++) {
      if (k + l * threads < end) {
        col[l]   = __ldcs(a.col + k + l * threads);
        value[l] = ReadOnce(a.value + k + l * threads);
      }
    }
#pragma unroll
    for (int l = 0; l < OFFDIAGONAL_AHEAD; l++) {
      if (k + l * threads < end) ghost[l] = a.ghost[col[l]];
    }
#pragma unroll
    for (int l = 0; l < OFFDIAGONAL_AHEAD; l++) {
      if (k + l * threads < end) sum = MultiplyAdd(value[l], ghost[l], sum);
    }
  }
  if (threads > 1) sum = WarpSum<threads>(sum);
  if (!writes) return;
  a.y[row] = AddSigned(y, step.scale, sum);
  for (int k = 0; k < step.nsums; k++) {
    Number *at = reinterpret_cast<Number *>(step.sum[k]) + row;

    *at = AddSigned(k ? *at : first, step.weight[k] * step.scale, sum);
  }
}

template <int threads>
static PetscErrorCode OffDiagonalLaunch(const OffDiagonalArguments &a, const LitheStep &step, cudaStream_t stream)
{
  const PetscInt64 rows = OFFDIAGONAL_THREADS / threads;

  PetscFunctionBegin;
  OffDiagonalKernel<threads><<<static_cast<unsigned int>((static_cast<PetscInt64>(a.nrows) + rows - 1) / rows), OFFDIAGONAL_THREADS, 0, stream>>>(a, step);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAOffDiagonalAdd(const LitheOffDiagonal *d, const LitheStep *step, const PetscScalar dghost[], PetscScalar dy[])
{
  LitheStep            plain = {};
  OffDiagonalArguments a;
  cudaStream_t         stream;

  PetscFunctionBegin;
  if (!d->nrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  plain.scale = 1;
  if (!step) step = &plain;
  a.nrows  = static_cast<VCRSUnsigned>(d->nrows);
  a.row    = d->row;
  a.rowptr = d->rowptr;
  a.col    = d->col;
  a.value  = reinterpret_cast<const Number *>(d->value);
  a.ghost  = reinterpret_cast<const Number *>(dghost);
  a.y      = reinterpret_cast<Number *>(dy);
  if (d->nz < 3 * static_cast<PetscInt64>(d->nrows)) PetscCall(OffDiagonalLaunch<1>(a, *step, stream));
  else if (d->nz < 12 * static_cast<PetscInt64>(d->nrows)) PetscCall(OffDiagonalLaunch<4>(a, *step, stream));
  else if (d->nz < 48 * static_cast<PetscInt64>(d->nrows)) PetscCall(OffDiagonalLaunch<16>(a, *step, stream));
  else PetscCall(OffDiagonalLaunch<32>(a, *step, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ memory */

PetscErrorCode LitheCUDAOffDiagonalUpload(const LitheOffDiagonal *src, LitheOffDiagonal *ddst)
{
  PetscFunctionBegin;
  *ddst       = LitheOffDiagonal{};
  ddst->nrows = src->nrows;
  ddst->nz    = src->nz;
  if (!src->nrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UploadArray(src->row, src->nrows, &ddst->row));
  PetscCall(UploadArray(src->rowptr, src->nrows + 1, &ddst->rowptr));
  PetscCall(UploadArray(src->col, src->nz, &ddst->col));
  PetscCall(UploadArray(src->value, src->nz, &ddst->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAOffDiagonalSetValues(LitheOffDiagonal *ddst, const PetscScalar values[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!ddst->nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(ddst->value, values, ddst->nz * sizeof(*values), cudaMemcpyDefault, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAOffDiagonalFree(LitheOffDiagonal *d)
{
  PetscFunctionBegin;
  if (d->row) PetscCallCUDA(cudaFree(d->row));
  if (d->rowptr) PetscCallCUDA(cudaFree(d->rowptr));
  if (d->col) PetscCallCUDA(cudaFree(d->col));
  if (d->value) PetscCallCUDA(cudaFree(d->value));
  *d = LitheOffDiagonal{};
  PetscFunctionReturn(PETSC_SUCCESS);
}
