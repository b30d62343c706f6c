/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The set-up of the levels of PCGRIDMG on a device: launches of the kernels of setup.cuh and cuda/mg/inverse.cuh */

#include "setuplaunch.cuh"
#include "../../mg/inverse.cuh"
#include <petscdevice.h>

#define ENCODE_BLOCKS_OF_ONE 6

PetscErrorCode LitheCUDAGridMGReserve(size_t n, void **x)
{
  PetscFunctionBegin;
  *x = nullptr;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* this may be the first memory: PETSc chooses the device of a process */
  if (n) PetscCallCUDA(cudaMalloc(x, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ levels */

PetscErrorCode LitheCUDAGridMGSurvey(const GridMGFaces *f, unsigned char *alive, GridMGSurvey *survey)
{
  PetscFunctionBegin;
  PetscCall(SetupSurvey<false>(f, 0, alive, survey, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGCoarsen(const GridMGFaces *f, const int by[3], const GridMGFaces *coarse)
{
  CoarsenArguments a;
  cudaStream_t     stream;
  unsigned int     blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupBlocks(coarse->grid.cells + coarse->grid.wells, &blocks));
  a.fine   = *f;
  a.coarse = *coarse;
  for (int d = 0; d < 3; d++) a.by[d] = by[d];
  if (f->alive) CoarsenKernel<true><<<blocks, SETUP_THREADS, 0, stream>>>(a);
  else CoarsenKernel<false><<<blocks, SETUP_THREADS, 0, stream>>>(a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the list */

static __global__ void AliveOfKernel(const unsigned char *alive, PetscInt cells, PetscInt n, const PetscInt *vertex, unsigned char *of)
{
  SETUP_FOR_ALL(v, n)
  of[v] = vertex[v] >= cells || alive[vertex[v]];
}

PetscErrorCode LitheCUDAGridMGAliveOf(const GridMGFaces *f, PetscInt n, const PetscInt vertex[], unsigned char alive[])
{
  const size_t   bytes = static_cast<size_t>(n) * sizeof(PetscInt);
  PetscInt      *there = nullptr;
  cudaStream_t   stream;
  unsigned int   blocks = 1;
  unsigned char *of;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupScratch(stream, bytes + static_cast<size_t>(n), &there));
  of = reinterpret_cast<unsigned char *>(there + n);
  PetscCallCUDA(cudaMemcpyAsync(there, vertex, bytes, cudaMemcpyHostToDevice, stream));
  PetscCall(SetupBlocks(n, &blocks));
  AliveOfKernel<<<blocks, SETUP_THREADS, 0, stream>>>(f->alive, f->grid.cells, n, there, of);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(alive, of, static_cast<size_t>(n), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first addition to a place adds the whole sum */
static __global__ void AddKernel(const __grid_constant__ GridMGFaces f, PetscInt n, const GridMGAddition *addition)
{
  SETUP_FOR_ALL(k, n)
  {
    const PetscInt array = addition[k].array, at = addition[k].at;
    double        *to = f.sigma;

    if (k && addition[k - 1].array == array && addition[k - 1].at == at) continue;
#pragma unroll
    for (int d = 0; d < 3; d++) {
      if (array == d) to = f.up[d];
      if (array == 3 + d) to = f.down[d];
    }
    for (PetscInt l = k; l < n && addition[l].array == array && addition[l].at == at; l++) to[at] += addition[l].t;
  }
}

PetscErrorCode LitheCUDAGridMGAdd(const GridMGFaces *f, PetscInt n, const GridMGAddition addition[])
{
  const size_t    bytes = static_cast<size_t>(n) * sizeof(GridMGAddition);
  GridMGAddition *there = nullptr;
  cudaStream_t    stream;
  unsigned int    blocks = 1;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(SetupScratch(stream, bytes, &there));
  PetscCallCUDA(cudaMemcpyAsync(there, addition, bytes, cudaMemcpyHostToDevice, stream));
  PetscCall(SetupBlocks(n, &blocks));
  AddKernel<<<blocks, SETUP_THREADS, 0, stream>>>(*f, n, there);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ codes */

template <class Number, class Code>
static PetscErrorCode Encode(const EncodeArguments &a, cudaStream_t stream)
{
  unsigned int blocks = 1;

  PetscFunctionBegin;
  PetscCall(SetupBlocksOf(a.f.grid.cells + a.f.grid.wells, ENCODE_BLOCKS_OF_ONE, &blocks));
  EncodeKernel<Number, Code><<<blocks, SETUP_THREADS, 0, stream>>>(a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Number>
static PetscErrorCode EncodeNumbers(const EncodeArguments &a)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (a.f.list.n)
    PetscCallCUDA(cudaMemsetAsync(const_cast<void *>(a.op.dinv), 0, static_cast<size_t>(a.f.grid.cells + a.f.grid.wells) * sizeof(Number), stream));
  PetscCall(SetupListSums(&a.f, static_cast<Number *>(const_cast<void *>(a.op.dinv)), stream));
  if (a.op.bits == 8) PetscCall((Encode<Number, uint8_t>(a, stream)));
  else if (a.op.bits == 16) PetscCall((Encode<Number, uint16_t>(a, stream)));
  else PetscCall((Encode<Number, float>(a, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGEncode(const GridMGFaces *f, double min, double max, const GridMGOperator *op, double *bound)
{
  EncodeArguments a;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&a, sizeof(a)));
  a.f    = *f;
  a.op   = *op;
  *bound = 1.2e-7; /* rounding of a float, doubled */
  if (op->bits < 32) {
    LitheLogScaleSetUp(&a.s, op->bits, min, max, 1, 0);
    *bound += LitheLogScaleBound(&a.s);
  }
  if (op->precision == GRIDMG_SINGLE) PetscCall(EncodeNumbers<float>(a));
  else PetscCall(EncodeNumbers<double>(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the coarsest level */

/* Writes the entries of an n x n matrix to zeroed tiles, with ones on the diagonal after row n - 1. Edges are pairs of
   different vertices */
static __global__ void DenseFillKernel(PetscInt n, PetscInt rows, const double *diagonal, PetscInt entries, const GridMGEdge *entry, double *w)
{
  const PetscInt k = static_cast<PetscInt>(blockIdx.x) * DENSE_THREADS + static_cast<PetscInt>(threadIdx.x);

  if (k < rows) DenseNumber(w, k, k) = k < n ? diagonal[k] : 1;
  else if (k - rows < entries) DenseNumber(w, entry[k - rows].i, entry[k - rows].j) += entry[k - rows].t;
}

/* Adds the couplings between vertices of a part, a block per row */
static __global__ void DenseAddKernel(const PetscInt *part, const double *constant, const double *scale, double *w)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x);

  for (PetscInt j = static_cast<PetscInt>(threadIdx.x); j < i; j += DENSE_THREADS) {
    if (part[i] == part[j]) DenseNumber(w, i, j) += scale[i] * scale[j] * constant[part[i]];
  }
}

/* Arrays of the host, to be copied at once */
typedef struct {
  char  *host, *device;
  size_t taken;
} DenseArrays;

template <class T>
static const T *DensePut(DenseArrays *arrays, PetscInt n, const T *from)
{
  const T *to = reinterpret_cast<const T *>(arrays->device + arrays->taken);

  memcpy(arrays->host + arrays->taken, from, static_cast<size_t>(n) * sizeof(T));
  arrays->taken += (static_cast<size_t>(n) * sizeof(T) + 15) / 16 * 16;
  return to;
}

PetscErrorCode LitheCUDAGridMGInvert(const GridMGCoarsest *c, GridMGPrecision precision, double *work, void *inverse, PetscBool *failed)
{
  const PetscInt n = c->n, nb = (n + DENSE_TILE - 1) / DENSE_TILE, rows = nb * DENSE_TILE;
  const size_t   numbers = DenseAt(static_cast<int>(nb), 0);
  const size_t   bytes   = static_cast<size_t>(c->entries) * sizeof(GridMGEdge) + static_cast<size_t>(n) * (3 * sizeof(double) + sizeof(PetscInt)) + 256;
  double        *w[2]    = {work, work + numbers};
  DenseArrays    arrays  = {nullptr, nullptr, 16};
  cudaStream_t   stream;
  int            flag;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  /* the flag comes first */
  PetscCall(SetupScratch(stream, bytes, &arrays.device));
  PetscCall(PetscCalloc1(bytes, &arrays.host));

  const double     *diagonal = DensePut(&arrays, n, c->diagonal), *constant = DensePut(&arrays, n, c->constant), *scale = DensePut(&arrays, n, c->scale);
  const PetscInt   *part  = DensePut(&arrays, n, c->part);
  const GridMGEdge *entry = DensePut(&arrays, c->entries, c->entry);

  PetscCallCUDA(cudaMemsetAsync(w[0], 0, numbers * sizeof(double), stream));
  PetscCallCUDA(cudaMemcpyAsync(arrays.device, arrays.host, arrays.taken, cudaMemcpyHostToDevice, stream));
  DenseFillKernel<<<static_cast<unsigned int>((rows + c->entries + DENSE_THREADS - 1) / DENSE_THREADS), DENSE_THREADS, 0, stream>>>(n, rows, diagonal,
                                                                                                                                    c->entries, entry, w[0]);
  if (c->singular) DenseAddKernel<<<static_cast<unsigned int>(n), DENSE_THREADS, 0, stream>>>(part, constant, scale, w[0]);
  PetscCallCUDA(cudaGetLastError());
  if (precision == GRIDMG_SINGLE)
    PetscCall(DenseInvert(static_cast<int>(n), w, 0, static_cast<float *>(inverse), reinterpret_cast<int *>(arrays.device), stream));
  else PetscCall(DenseInvert(static_cast<int>(n), w, 0, static_cast<double *>(inverse), reinterpret_cast<int *>(arrays.device), stream));
  PetscCallCUDA(cudaMemcpyAsync(&flag, arrays.device, sizeof(flag), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCall(PetscFree(arrays.host));
  *failed = flag ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
