/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: a visit of a large level as two kernels, march.cuh */

#include "gridmg.cuh"
#include "march.cuh"
#include "patch.cuh"

#define MOST   1024 /* threads per block */
#define BLOCKS 1    /* blocks per multiprocessor */

#define PARTS (PetscDefined(USE_COMPLEX) ? 2 : 1)

template <class C, bool upwards>
static PetscErrorCode Launch(const GridMGVisit *v, cudaStream_t stream)
{
  const GridMGOperator *op     = v->op;
  const auto            l      = GridMGView<float, C>(op);
  const auto            kernel = GridMGMarchKernel<C, upwards, MOST, BLOCKS>;
  int *const            shape  = v->shape;
  bool                  early;
  GridMGMarch<C>        m = {};

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    m.up[d]   = l.up[d];
    m.down[d] = l.down[d];
    m.n[d]    = l.n[d];
    m.by[d]   = v->by[d];
    if (d < 2) m.nc[d] = static_cast<int>(v->coarse->n[d]);
  }
  if (!shape[0]) {
    GridMGMarchShape best;
    int              device, processors;

    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    best     = GridMGMarchShapeOf(m.n, m.by, processors, MOST, MOST * BLOCKS);
    shape[0] = best.width;
    shape[1] = best.rows;
    shape[2] = best.rim;
    shape[3] = best.chunk;
    for (int d = 0; d < 3; d++) shape[4 + d] = best.columns[d];
  }
  m.width  = shape[0];
  m.rows   = shape[1];
  m.rim    = shape[2];
  m.chunk  = shape[3];
  m.table  = l.table;
  m.sigma  = l.sigma;
  m.dinv   = l.dinv;
  m.alive  = l.alive;
  m.b      = static_cast<const float *>(v->b);
  m.x      = static_cast<const float *>(v->x);
  m.out    = static_cast<float *>(v->out);
  m.e      = static_cast<const float *>(v->e);
  m.bc     = static_cast<float *>(v->bc);
  m.factor = static_cast<float>(v->factor);
  if (v->in) {
    m.outer.x       = reinterpret_cast<const PetscReal *>(v->in + v->rows->first) + v->part;
    m.outer.y       = upwards ? reinterpret_cast<PetscReal *>(v->result + v->rows->first) + v->part : nullptr;
    m.outer.largest = v->scale;
    m.outer.factor  = v->outfactor;
    m.outer.stride  = PARTS;
  }
  {
    const unsigned int threads = static_cast<unsigned int>(m.width * m.rows);
    const dim3         grid(static_cast<unsigned int>(shape[4]), static_cast<unsigned int>(shape[5]), static_cast<unsigned int>(shape[6]));

    PetscCall(LitheCUDAHasPDL(&early));
    PetscCallCUDA(PDLLaunch(kernel, early, grid, dim3(threads), threads * (upwards ? 4 : 8) * sizeof(float), stream, m));
  }
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
  if (v->op->list.n) PetscCall(upwards ? GridMGPatchUp(v, stream) : GridMGPatchDown(v, stream));
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
