/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Off-diagonal blocks in which few rows have entries: a sweep over the nonzero rows only. Neighbouring threads share a
   row; their number is near the average number of entries.

   The kernel follows a product of all rows. With few rows, its time is that of dependent loads: first places of rows
   and entries; then entries; then ghosts, values of y and of a sum. The kernel therefore begins while the product ends,
   waits for the ghosts if permitted, and for y last.
*/

#include "../common/pdl.cuh"
#include "../common/halo.cuh"
#include "../step/step.cuh"
#include "../common/upload.cuh"
#include <lithe/private/litheoffdiagonal.h>

#define OFFDIAGONAL_THREADS 128
#define OFFDIAGONAL_AHEAD   3 /* entries per thread at once */
/* Rows per thread, or per group of threads that share a row, if rows are many: registers suffice */
#define OFFDIAGONAL_ROWS   (PetscDefined(USE_COMPLEX) ? 1 : 2)
#define OFFDIAGONAL_BLOCKS 6 /* per multiprocessor, at most: the awaited sending blocks find room */
#define OFFDIAGONAL_FIT    8 /* blocks that fit into the registers of a multiprocessor */

/* The stored rows, their offsets, the entries, the ghosts and y */
struct OffDiagonalArguments {
  VCRSUnsigned    nrows;
  const PetscInt *row, *rowptr, *col;
  const Number   *value, *ghost;
  Number         *y;
};

/* At most OFFDIAGONAL_AHEAD of the entries begin, begin + threads, ... before end, in three steps: Read(),
   ReadGhosts(), Add() */
template <int threads>
struct OffDiagonalEntries {
  PetscInt col[OFFDIAGONAL_AHEAD];
  Number   value[OFFDIAGONAL_AHEAD], ghost[OFFDIAGONAL_AHEAD];

  __device__ __forceinline__ void Read(const OffDiagonalArguments &a, PetscInt begin, PetscInt end)
  {
#pragma unroll
    for (int l = 0; l < OFFDIAGONAL_AHEAD; l++) {
      if (begin + l * threads < end) {
        col[l]   = __ldcs(a.col + begin + l * threads);
        value[l] = ReadOnce(a.value + begin + l * threads);
      }
    }
  }

  __device__ __forceinline__ void ReadGhosts(const OffDiagonalArguments &a, PetscInt begin, PetscInt end)
  {
#pragma unroll
    for (int l = 0; l < OFFDIAGONAL_AHEAD; l++) {
      if (begin + l * threads < end) ghost[l] = a.ghost[col[l]];
    }
  }

  __device__ __forceinline__ Number Add(PetscInt begin, PetscInt end, Number sum) const
  {
#pragma unroll
    for (int l = 0; l < OFFDIAGONAL_AHEAD; l++) {
      if (begin + l * threads < end) sum = MultiplyAdd(value[l], ghost[l], sum);
    }
    return sum;
  }
};

template <int threads, int rows>
static __global__ void __launch_bounds__(OFFDIAGONAL_THREADS, OFFDIAGONAL_FIT)
  OffDiagonalKernel(const __grid_constant__ OffDiagonalArguments a, const __grid_constant__ LitheStep step, const __grid_constant__ LitheHaloEpoch epoch)
{
  constexpr VCRSUnsigned together = OFFDIAGONAL_THREADS / threads; /* rows per block at a time */

  for (VCRSUnsigned chunk = blockIdx.x; chunk == blockIdx.x || chunk * rows * together < a.nrows; chunk += gridDim.x) {
    const VCRSUnsigned          from = chunk * rows * together + threadIdx.x / threads;
    PetscInt                    begin[rows], end[rows], row[rows];
    Number                      sum[rows], y[rows], first[rows];
    OffDiagonalEntries<threads> entries[rows];

#pragma unroll
    for (int j = 0; j < rows; j++) {
      const VCRSUnsigned r  = from + static_cast<VCRSUnsigned>(j) * together;
      const bool         is = r < a.nrows;

      begin[j] = is ? __ldg(a.rowptr + r) + static_cast<PetscInt>(threadIdx.x % threads) : 0;
      end[j]   = is ? __ldg(a.rowptr + r + 1) : 0;
      row[j]   = is && threadIdx.x % threads == 0 ? __ldg(a.row + r) : -1;
    }
#pragma unroll
    for (int j = 0; j < rows; j++) entries[j].Read(a, begin[j], end[j]);
    if (chunk == blockIdx.x && epoch.exchange) LitheHaloBlockWait(epoch);
#pragma unroll
    for (int j = 0; j < rows; j++) entries[j].ReadGhosts(a, begin[j], end[j]);

    Number *const ally = const_cast<Number *>(PDLWait(a.y));

#pragma unroll
    for (int j = 0; j < rows; j++) {
      if (row[j] >= 0) {
        y[j] = ally[row[j]];
        if (step.nsums) first[j] = reinterpret_cast<const Number *>(step.sum[0])[row[j]];
      }
    }
#pragma unroll
    for (int j = 0; j < rows; j++) {
      sum[j] = entries[j].Add(begin[j], end[j], Number{});
      while ((begin[j] += OFFDIAGONAL_AHEAD * threads) < end[j]) {
        entries[j].Read(a, begin[j], end[j]);
        entries[j].ReadGhosts(a, begin[j], end[j]);
        sum[j] = entries[j].Add(begin[j], end[j], sum[j]);
      }
      if (threads > 1) sum[j] = WarpSum<threads>(sum[j]);
    }
#pragma unroll
    for (int j = 0; j < rows; j++) {
      if (row[j] < 0) continue;
      ally[row[j]] = AddSigned(y[j], step.scale, sum[j]);
      for (int k = 0; k < step.nsums; k++) {
        Number *at = reinterpret_cast<Number *>(step.sum[k]) + row[j];

        *at = AddSigned(k ? *at : first[j], step.weight[k] * step.scale, sum[j]);
      }
    }
  }
}

template <int threads>
static PetscErrorCode OffDiagonalLaunch(const OffDiagonalArguments &a, const LitheStep &step, const LitheHaloEpoch &epoch, int multiprocessors,
                                        cudaStream_t stream)
{
  const PetscInt64 together = OFFDIAGONAL_THREADS / threads, most = OFFDIAGONAL_BLOCKS * multiprocessors;
  const PetscInt64 turns = (static_cast<PetscInt64>(a.nrows) + together - 1) / together;
  bool             pdl   = false;

  PetscFunctionBegin;
  /* Without an epoch, the previous kernel may have written the ghosts */
  if (epoch.exchange) PetscCall(LitheCUDAHasPDL(&pdl));
  if (turns <= most)
    PetscCallCUDA(
      PDLLaunch(OffDiagonalKernel<threads, 1>, pdl, dim3(static_cast<unsigned int>(PetscMax(turns, 1))), dim3(OFFDIAGONAL_THREADS), 0, stream, a, step, epoch));
  else
    PetscCallCUDA(PDLLaunch(OffDiagonalKernel<threads, OFFDIAGONAL_ROWS>, pdl,
                            dim3(static_cast<unsigned int>(PetscMin(most, (turns + OFFDIAGONAL_ROWS - 1) / OFFDIAGONAL_ROWS))), dim3(OFFDIAGONAL_THREADS), 0,
                            stream, a, step, epoch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAOffDiagonalAdd(const LitheOffDiagonal *d, const LitheHaloEpoch *given, const LitheStep *step, const PetscScalar dghost[],
                                       PetscScalar dy[], cudaStream_t stream)
{
  int                  device, multiprocessors;
  LitheStep            plain = {};
  LitheHaloEpoch       epoch = {};
  OffDiagonalArguments a;

  PetscFunctionBegin;
  if (given) epoch = *given;
  if (!d->nrows && !epoch.exchange) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  plain.scale = 1;
  if (!step) step = &plain;
  a.nrows  = static_cast<VCRSUnsigned>(d->nrows);
  a.row    = d->row;
  a.rowptr = d->rowptr;
  a.col    = d->col;
  a.value  = reinterpret_cast<const Number *>(d->value);
  a.ghost  = reinterpret_cast<const Number *>(dghost);
  a.y      = reinterpret_cast<Number *>(dy);
  if (d->nz < 3 * static_cast<PetscInt64>(d->nrows)) PetscCall(OffDiagonalLaunch<1>(a, *step, epoch, multiprocessors, stream));
  else if (d->nz < 12 * static_cast<PetscInt64>(d->nrows)) PetscCall(OffDiagonalLaunch<4>(a, *step, epoch, multiprocessors, stream));
  else if (d->nz < 48 * static_cast<PetscInt64>(d->nrows)) PetscCall(OffDiagonalLaunch<16>(a, *step, epoch, multiprocessors, stream));
  else PetscCall(OffDiagonalLaunch<32>(a, *step, epoch, multiprocessors, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ memory */

PetscErrorCode LitheCUDAOffDiagonalUpload(const LitheOffDiagonal *src, LitheOffDiagonal *ddst)
{
  PetscFunctionBegin;
  *ddst       = LitheOffDiagonal{};
  ddst->nrows = src->nrows;
  ddst->nz    = src->nz;
  for (int k = 0; k < 2; k++) ddst->end[k] = src->end[k];
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
