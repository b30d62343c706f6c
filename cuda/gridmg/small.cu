/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: small levels in one kernel, small.cuh */

#include "gridmg.cuh"
#include "small.cuh"

#define THREADS 512
#define SINGLE  600 /* cells up to which all blocks do the same */
#define ROWS    1000 /* of a list */
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
  void       *program, *rows, *edges;
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

/* The lists of all levels, where codes are known; *rows and *edges are NULL where there are none */
static PetscErrorCode CreateLists(const GridMGSmallPlan *plan, GridMGSmall *m, void **rows, void **edges)
{
  PetscInt         nrows = 0, nedges = 0;
  GridMGSmallRow  *row;
  GridMGSmallEdge *edge;
  PetscInt        *from[GRIDMG_SMALL_LEVELS], *first[GRIDMG_SMALL_LEVELS];

  PetscFunctionBegin;
  *rows = *edges = nullptr;
  for (int k = 0; k < m->levels; k++) {
    const GridMGList *list = &plan->op[k]->list;

    from[k] = first[k] = nullptr;
    if (!list->n) continue;
    PetscCall(PetscMalloc2(list->n, &from[k], list->n + 1, &first[k]));
    PetscCall(LitheCUDAGridMGGet(static_cast<size_t>(list->n) * sizeof(PetscInt), list->row, from[k]));
    PetscCall(LitheCUDAGridMGGet(static_cast<size_t>(list->n + 1) * sizeof(PetscInt), list->i, first[k]));
    nrows += list->n;
    nedges += first[k][list->n];
  }
  if (!nrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(nrows, &row, nedges + 1, &edge));
  PetscCallCUDA(cudaMalloc(rows, static_cast<size_t>(nrows) * sizeof(*row)));
  PetscCallCUDA(cudaMalloc(edges, static_cast<size_t>(nedges + 1) * sizeof(*edge)));
  nrows = nedges = 0;
  for (int k = 0; k < m->levels; k++) {
    const GridMGList *list  = &plan->op[k]->list;
    GridMGSmallLevel *l     = &m->level[k];
    const PetscInt    cells = plan->op[k]->grid.cells;
    const auto        code  = [&](const GridMGSmallLevel *level, int i, int j, int kk) {
      return static_cast<int>(SmallCode(*level, m->cluster, i >> 1, j, kk)) | ((i + j + kk) & 1);
    };
    const auto cell = [&](PetscInt vertex) {
      const int c = static_cast<int>(vertex), line = c / l->n[0];

      return vertex < cells ? code(l, c % l->n[0], line % l->n[1], line / l->n[1]) : static_cast<int>(-1 - (vertex - cells));
    };
    PetscInt *to;
    float    *t;

    if (!list->n) continue;
    PetscCall(PetscMalloc2(first[k][list->n] + 1, &to, first[k][list->n] + 1, &t));
    PetscCall(LitheCUDAGridMGGet(static_cast<size_t>(first[k][list->n]) * sizeof(PetscInt), list->j, to));
    PetscCall(LitheCUDAGridMGGet(static_cast<size_t>(first[k][list->n]) * sizeof(float), list->t, t));
    l->rows  = static_cast<GridMGSmallRow *>(*rows) + nrows;
    l->edges = static_cast<GridMGSmallEdge *>(*edges) + nedges;
    for (PetscInt r = 0; r < list->n; r++) {
      const int c = static_cast<int>(from[k][r]), line = c / l->n[0], at[3] = {c % l->n[0], line % l->n[1], line / l->n[1]};

      row[nrows].cell   = cell(from[k][r]);
      row[nrows].first  = static_cast<int>(first[k][r]);
      row[nrows].last   = static_cast<int>(first[k][r + 1]);
      row[nrows].parent = 0;
      if (c < cells && k < m->levels - 1) row[nrows].parent = code(l + 1, at[0] / l->by[0], at[1] / l->by[1], at[2] / l->by[2]);
      for (PetscInt e = first[k][r]; e < first[k][r + 1]; e++) {
        edge[nedges].cell = cell(to[e]);
        edge[nedges++].t  = t[e];
        if (c >= cells && to[e] >= cells) l->coupled = 1;
      }
      nrows++;
    }
    PetscCall(PetscFree2(to, t));
    PetscCall(PetscFree2(from[k], first[k]));
  }
  PetscCall(LitheCUDAGridMGPut(static_cast<size_t>(nrows) * sizeof(*row), row, *rows));
  PetscCall(LitheCUDAGridMGPut(static_cast<size_t>(nedges) * sizeof(*edge), edge, *edges));
  PetscCall(PetscFree2(row, edge));
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
    l->wells = static_cast<int>(op->grid.wells);
    for (int part = 0; part < 2; part++) l->list[part] = static_cast<int>(op->list.part[part]);
    if (op->list.n > ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PlaceAll(&m, &shared));
  if (!shared) PetscFunctionReturn(PETSC_SUCCESS);
  GridMGSmallProgram(&m, m.steps, plan->program, program);
  PetscCall(PetscNew(&s));
  PetscCall(CreateLists(plan, &m, &s->rows, &s->edges));
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
  PetscCallCUDA(cudaFree(s->rows));
  PetscCallCUDA(cudaFree(s->edges));
  PetscCall(PetscFree(*small));
  PetscFunctionReturn(PETSC_SUCCESS);
}
