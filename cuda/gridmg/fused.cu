/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: a visit of a large level as two kernels, march.cuh */

#include "gridmg.cuh"
#include "march.cuh"

#define ROWS   16
#define BLOCKS 1 /* of a multiprocessor, at least */
#define AHEAD  false

#define PARTS (PetscDefined(USE_COMPLEX) ? 2 : 1)

/* Planes of a chunk: so many that the device is busy, and few are made twice */
static int ChunkOf(const int n[3], int by, int columns, int room)
{
  int    best = by;
  double least = 0;

  for (int chunks = 1; chunks <= (n[2] + by - 1) / by; chunks++) {
    const int    planes = ((n[2] + chunks - 1) / chunks + by - 1) / by * by, blocks = columns * ((n[2] + planes - 1) / planes);
    const double time = static_cast<double>((blocks + room - 1) / room) * (planes + 2 * GRIDMG_MARCH_HALO);

    if (chunks == 1 || time < least) {
      best  = planes;
      least = time;
    }
  }
  return best;
}

template <class C, bool upwards>
static PetscErrorCode Launch(const GridMGVisit *v, cudaStream_t stream)
{
  const GridMGOperator *op   = v->op;
  const auto            l    = GridMGView<float, C>(op);
  const auto            kernel = GridMGMarchKernel<C, upwards, AHEAD, ROWS * 32, BLOCKS>;
  const unsigned int    columns[2] = {GridMGBlocks((op->grid.n[0] + 1) / 2, 30), GridMGBlocks(op->grid.n[1], ROWS - 2 * GRIDMG_MARCH_HALO)};
  static int            room = 0;
  GridMGMarch<C>        m    = {};

  PetscFunctionBegin;
  if (!room) {
    int device, processors, blocks;

    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, ROWS * 32, ROWS * 32 * 8 * sizeof(float)));
    room = processors * (blocks > 0 ? blocks : 1);
  }
  for (int d = 0; d < 3; d++) {
    m.up[d]   = l.up[d];
    m.down[d] = l.down[d];
    m.n[d]    = l.n[d];
    m.by[d]   = v->by[d];
    if (d < 2) m.nc[d] = static_cast<int>(v->coarse->n[d]);
  }
  m.table     = l.table;
  m.sigma     = l.sigma;
  m.alive     = l.alive;
  m.b         = static_cast<const float *>(v->b);
  m.x         = static_cast<const float *>(v->x);
  m.out       = static_cast<float *>(v->out);
  m.e         = static_cast<const float *>(v->e);
  m.bc        = static_cast<float *>(v->bc);
  m.factor    = static_cast<float>(v->factor);
  m.symmetric = op->symmetric;
  m.chunk     = ChunkOf(m.n, m.by[2], static_cast<int>(columns[0] * columns[1]), room);
  if (v->in) {
    m.outer.x       = reinterpret_cast<const PetscReal *>(v->in + v->rows->first) + v->part;
    m.outer.y       = upwards ? reinterpret_cast<PetscReal *>(v->result + v->rows->first) + v->part : nullptr;
    m.outer.largest = v->scale;
    m.outer.factor  = v->outfactor;
    m.outer.stride  = PARTS;
  }
  kernel<<<dim3(columns[0], columns[1], static_cast<unsigned int>((m.n[2] + m.chunk - 1) / m.chunk)), dim3(32, ROWS), ROWS * 32 * 8 * sizeof(float), stream>>>(m);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool upwards>
static PetscErrorCode Visit(const GridMGVisit *v)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  if (v->op->bits == 8) PetscCall((Launch<uint8_t, upwards>(v, stream)));
  else PetscCall((Launch<uint16_t, upwards>(v, stream)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGDown(const GridMGVisit *v)
{
  PetscFunctionBegin;
  PetscCall(Visit<false>(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGUp(const GridMGVisit *v)
{
  PetscFunctionBegin;
  PetscCall(Visit<true>(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
