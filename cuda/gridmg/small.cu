/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: small levels in one kernel, small.cuh */

#include "gridmg.cuh"
#include "small.cuh"

#define THREADS 512
#define SINGLE  600 /* cells up to which all blocks do the same */

/* The largest cluster of blocks with so much memory, 0 if there is none */
static PetscErrorCode ClusterOf(size_t shared, int *cluster)
{
  int device, major;

  PetscFunctionBegin;
  *cluster = 0;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFuncSetAttribute(GridMGSmallKernel<THREADS>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  PetscCallCUDA(cudaFuncSetAttribute(GridMGSmallKernel<THREADS>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  for (int size = GRIDMG_SMALL_CLUSTER; size >= 8 && !*cluster; size /= 2) {
    cudaLaunchConfig_t  config = {};
    cudaLaunchAttribute attribute;
    int                 fits = 0;

    config.gridDim          = dim3(static_cast<unsigned int>(size));
    config.blockDim         = dim3(THREADS);
    config.dynamicSmemBytes = shared;
    attribute.id            = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned int>(size);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs            = &attribute;
    config.numAttrs         = 1;
    if (cudaOccupancyMaxActiveClusters(&fits, GridMGSmallKernel<THREADS>, &config) != cudaSuccess) (void)cudaGetLastError();
    else if (fits > 0) *cluster = size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  GridMGSmall m;
  int         cluster;
  size_t      shared;
  void       *program;
} Small;

/* Where levels are in shared memory; the bytes of a block */
static size_t Place(GridMGSmall *m, int cluster, size_t room)
{
  size_t numbers = 0;

  for (int k = 0; k < m->levels; k++) {
    GridMGSmallLevel *l = &m->level[k];

    l->single = k == m->levels - 1 || l->n[0] * l->n[1] * l->n[2] <= SINGLE;
    l->chunk  = l->single ? l->pairs : (l->pairs + cluster - 1) / cluster;
    l->magic  = static_cast<unsigned int>(((1ull << 32) + l->chunk - 1) / l->chunk);
    l->offset = static_cast<int>(numbers);
    numbers += (static_cast<size_t>(GRIDMG_SMALL_NUMBERS) * l->chunk + 3) / 4 * 4;
  }
  m->scratch = static_cast<int>(numbers);
  numbers += 2 * static_cast<size_t>(m->dense);
  {
    const size_t n = static_cast<size_t>(m->dense), matrix = m->symmetric ? n * (n + 1) / 2 : n * n;

    m->packed = -1;
    if ((numbers + matrix) * sizeof(float) <= room) {
      m->packed = static_cast<int>(numbers);
      numbers += matrix;
    }
  }
  return numbers * sizeof(float);
}

PetscErrorCode LitheCUDAGridMGSmallCreate(const GridMGSmallPlan *plan, void **small)
{
  const GridMGOperator *coarsest = plan->op[plan->levels - 1];
  const PetscInt        dense    = coarsest->grid.cells + coarsest->grid.wells;
  int                   device, room, cluster;
  size_t                shared;
  Small                *s;
  GridMGSmall           m = {};

  PetscFunctionBegin;
  *small = nullptr;
  if (plan->levels > GRIDMG_SMALL_LEVELS || dense > 1000) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  m.levels    = static_cast<int>(plan->levels);
  m.steps     = static_cast<int>(plan->steps);
  m.dense     = static_cast<int>(dense);
  m.symmetric = coarsest->symmetric;
  m.factor    = static_cast<float>(plan->factor);
  m.L         = static_cast<const float *>(plan->inverse);
  m.S         = static_cast<const float *>(plan->inversescale);
  for (int k = 0; k < m.levels; k++) {
    const GridMGOperator *op = plan->op[k];
    GridMGSmallLevel     *l  = &m.level[k];

    for (int d = 0; d < 3; d++) {
      l->up[d]   = op->up[d];
      l->down[d] = op->down[d];
      l->n[d]    = static_cast<int>(op->grid.n[d]);
      l->by[d]   = plan->by[k][d];
    }
    l->table = static_cast<const float *>(op->table);
    l->sigma = static_cast<const float *>(op->sigma);
    l->dinv  = static_cast<const float *>(op->dinv);
    l->alive = op->alive;
    l->bits  = op->bits;
    l->row   = (l->n[0] + 1) / 2;
    l->pairs = l->row * l->n[1] * l->n[2];
  }
  shared = Place(&m, GRIDMG_SMALL_CLUSTER, static_cast<size_t>(room));
  if (shared > static_cast<size_t>(room)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ClusterOf(shared, &cluster));
  if (cluster && cluster < GRIDMG_SMALL_CLUSTER) {
    shared = Place(&m, cluster, static_cast<size_t>(room));
    if (shared > static_cast<size_t>(room)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(ClusterOf(shared, &cluster));
  }
  if (!cluster) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&s));
  PetscCallCUDA(cudaMalloc(&s->program, 2 * static_cast<size_t>(m.steps)));
  PetscCall(LitheCUDAGridMGPut(2 * static_cast<size_t>(m.steps), plan->program, s->program));
  m.program  = static_cast<const unsigned char *>(s->program);
  s->m       = m;
  s->cluster = cluster;
  s->shared  = shared;
  *small     = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGSmallSolve(void *small, const void *b, void *x)
{
  Small              *s      = static_cast<Small *>(small);
  GridMGSmall         m      = s->m;
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute attribute;
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  m.b                        = static_cast<const float *>(b);
  m.x                        = static_cast<float *>(x);
  config.gridDim             = dim3(static_cast<unsigned int>(s->cluster));
  config.blockDim            = dim3(THREADS);
  config.dynamicSmemBytes    = s->shared;
  config.stream              = stream;
  attribute.id               = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned int>(s->cluster);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs               = &attribute;
  config.numAttrs            = 1;
  /* another preconditioner may have asked for less since */
  PetscCallCUDA(cudaFuncSetAttribute(GridMGSmallKernel<THREADS>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(s->shared)));
  PetscCallCUDA(cudaLaunchKernelEx(&config, GridMGSmallKernel<THREADS>, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGSmallFree(void **small)
{
  Small *s = static_cast<Small *>(*small);

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFree(s->program));
  PetscCall(PetscFree(*small));
  PetscFunctionReturn(PETSC_SUCCESS);
}
