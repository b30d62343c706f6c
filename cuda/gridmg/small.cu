/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: small levels in one kernel, small.cuh */

#include "gridmg.cuh"
#include "small.cuh"

#define THREADS 512
#define SINGLE  600 /* cells up to which all blocks do the same */
#define KEPT    8192 /* bytes of shared memory that the kernel has anyway, and more */

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
  size_t      shared;
  void       *program;
} Small;

/* As many blocks as there can be, and the bytes of each; 0: the levels are too large */
static PetscErrorCode PlaceAll(GridMGSmall *m, size_t *shared)
{
  int device, room, cluster = GRIDMG_SMALL_CLUSTER;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  room -= KEPT;
  *shared = 0;
  for (int blocks = GRIDMG_SMALL_CLUSTER; blocks >= 8 && !*shared && cluster; blocks /= 2) {
    const size_t bytes = GridMGSmallPlace(m, blocks, SINGLE, static_cast<size_t>(room));

    if (!bytes || bytes > static_cast<size_t>(room)) break;
    PetscCall(ClusterOf(bytes, &cluster));
    if (cluster >= blocks) *shared = bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGSmallCreate(const GridMGSmallPlan *plan, void **small)
{
  const GridMGOperator *coarsest = plan->op[plan->levels - 1];
  const PetscInt        dense    = coarsest->grid.cells + coarsest->grid.wells;
  unsigned short        program[GRIDMG_SMALL_STEPS];
  size_t                shared;
  Small                *s;
  cudaStream_t          stream;
  GridMGSmall           m = {};

  PetscFunctionBegin;
  *small = nullptr;
  if (plan->levels > GRIDMG_SMALL_LEVELS || dense > 1000 || plan->steps > GRIDMG_SMALL_STEPS) PetscFunctionReturn(PETSC_SUCCESS);
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
  }
  PetscCall(PlaceAll(&m, &shared));
  if (!shared) PetscFunctionReturn(PETSC_SUCCESS);
  GridMGSmallProgram(&m, m.steps, plan->program, program);
  PetscCall(PetscNew(&s));
  PetscCallCUDA(cudaMalloc(&s->program, static_cast<size_t>(m.steps) * sizeof(*program)));
  PetscCall(LitheCUDAGridMGPut(static_cast<size_t>(m.steps) * sizeof(*program), program, s->program));
  m.program = static_cast<const unsigned short *>(s->program);
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&m.image), static_cast<size_t>(m.imagebytes) * m.cluster));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  GridMGSmallImageKernel<<<dim3(static_cast<unsigned int>(m.levels), static_cast<unsigned int>(m.cluster)), THREADS, 0, stream>>>(m);
  PetscCallCUDA(cudaGetLastError());
  s->m      = m;
  s->shared = shared;
  *small    = s;
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
  config.gridDim             = dim3(static_cast<unsigned int>(m.cluster));
  config.blockDim            = dim3(THREADS);
  config.dynamicSmemBytes    = s->shared;
  config.stream              = stream;
  attribute.id               = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned int>(m.cluster);
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
  PetscCallCUDA(cudaFree(s->m.image));
  PetscCall(PetscFree(*small));
  PetscFunctionReturn(PETSC_SUCCESS);
}
