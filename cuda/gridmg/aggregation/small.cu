/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: small levels in a single kernel, small.cuh */

#include "gridmg.cuh"
#include "small.cuh"

#define SMALL_THREADS 512
#define SINGLE        600  /* cells of a level, at most, for the same work in all blocks */
#define ROWS          1000 /* rows of a list, at most */
#define KEPT          8192 /* bytes reserved for the static shared memory of the kernel */

/* The largest possible cluster of blocks with this amount of shared memory, or 0 */
static PetscErrorCode ClusterOf(size_t shared, int *cluster)
{
  int device, major;

  PetscFunctionBegin;
  *cluster = 0;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  if (major < 9) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFuncSetAttribute(GridMGSmallKernel<SMALL_THREADS>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  PetscCallCUDA(cudaFuncSetAttribute(GridMGSmallKernel<SMALL_THREADS>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
  for (int size = GRIDMG_SMALL_CLUSTER; size >= 8 && !*cluster; size /= 2) {
    cudaLaunchConfig_t  config = {};
    cudaLaunchAttribute attribute;
    int                 fits = 0;

    config.gridDim             = dim3(static_cast<unsigned int>(size));
    config.blockDim            = dim3(SMALL_THREADS);
    config.dynamicSmemBytes    = shared;
    attribute.id               = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = static_cast<unsigned int>(size);
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs                                            = &attribute;
    config.numAttrs                                         = 1;
    if (cudaOccupancyMaxActiveClusters(&fits, GridMGSmallKernel<SMALL_THREADS>, &config) != cudaSuccess) (void)cudaGetLastError();
    else if (fits > 0) *cluster = size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  GridMGSmallCycle m;
  size_t           shared, bytes; /* of a block; of the memory */
  char            *memory;        /* images, program, rows and edges of lists, kept for the next set-up */
} Small;

/* The largest possible number of blocks, and bytes per block; 0: the levels are too large */
static PetscErrorCode PlaceAll(GridMGSmallCycle *m, size_t *shared)
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

/* Lists on the device: rows and offsets of their edges */
typedef struct {
  PetscInt *from[GRIDMG_SMALL_LEVELS], *first[GRIDMG_SMALL_LEVELS], rows, edges;
} Lists;

static PetscErrorCode GetLists(const GridMGSmallPlan *plan, Lists *lists)
{
  PetscFunctionBegin;
  memset(lists, 0, sizeof(*lists));
  for (PetscInt k = 0; k < plan->levels; k++) {
    const GridMGList *list = &plan->op[k]->list;

    if (!list->n) continue;
    PetscCall(PetscMalloc2(list->n, &lists->from[k], list->n + 1, &lists->first[k]));
    PetscCall(LitheDeviceGet(static_cast<size_t>(list->n) * sizeof(PetscInt), list->row, lists->from[k]));
    PetscCall(LitheDeviceGet(static_cast<size_t>(list->n + 1) * sizeof(PetscInt), list->i, lists->first[k]));
    lists->rows += list->n;
    lists->edges += lists->first[k][list->n];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The code of a vertex; -1 - well for a well */
static int CodeOf(const GridMGSmallLevel *l, int cluster, PetscInt cells, PetscInt vertex)
{
  const int c = static_cast<int>(vertex), line = c / l->n[0], i = c % l->n[0], j = line % l->n[1], k = line / l->n[1];

  if (vertex >= cells) return static_cast<int>(-1 - (vertex - cells));
  return static_cast<int>(SmallCode(*l, cluster, i >> 1, j, k)) | ((i + j + k) & 1);
}

/* Copies the lists, with codes, to memory; frees the earlier lists */
static PetscErrorCode PutLists(const GridMGSmallPlan *plan, GridMGSmallCycle *m, Lists *lists, char *memory)
{
  GridMGSmallRow  *row;
  GridMGSmallEdge *edge;
  PetscInt         nrows = 0, nedges = 0;

  PetscFunctionBegin;
  if (!lists->rows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(lists->rows, &row, lists->edges + 1, &edge));
  for (int k = 0; k < m->levels; k++) {
    const GridMGList *list  = &plan->op[k]->list;
    GridMGSmallLevel *l     = &m->level[k];
    const PetscInt    cells = plan->op[k]->grid.cells, *first = lists->first[k];
    PetscInt         *to;
    float            *t;

    if (!list->n) continue;
    PetscCall(PetscMalloc2(first[list->n] + 1, &to, first[list->n] + 1, &t));
    PetscCall(LitheDeviceGet(static_cast<size_t>(first[list->n]) * sizeof(PetscInt), list->j, to));
    PetscCall(LitheDeviceGet(static_cast<size_t>(first[list->n]) * sizeof(float), list->t, t));
    l->list.rows  = static_cast<int>(static_cast<size_t>(nrows) * sizeof(*row));
    l->list.edges = static_cast<int>(static_cast<size_t>(lists->rows) * sizeof(*row) + static_cast<size_t>(nedges) * sizeof(*edge));
    for (PetscInt r = 0; r < list->n; r++, nrows++) {
      const PetscInt vertex = lists->from[k][r];
      const int      c = static_cast<int>(vertex), line = c / l->n[0];

      row[nrows] = {CodeOf(l, m->cluster, cells, vertex), static_cast<int>(first[r]), static_cast<int>(first[r + 1]), 0};
      if (vertex < cells && k < m->levels - 1) {
        const GridMGSmallLevel *coarse = l + 1;
        const int               C[3]   = {c % l->n[0] / l->by[0], line % l->n[1] / l->by[1], line / l->n[1] / l->by[2]};

        row[nrows].parent = CodeOf(coarse, m->cluster, PETSC_INT_MAX, C[0] + coarse->n[0] * (C[1] + coarse->n[1] * C[2]));
      }
      for (PetscInt e = first[r]; e < first[r + 1]; e++, nedges++) {
        edge[nedges] = {CodeOf(l, m->cluster, cells, to[e]), t[e]};
        if (vertex >= cells && to[e] >= cells) l->list.coupled = 1;
      }
    }
    PetscCall(PetscFree2(to, t));
    PetscCall(PetscFree2(lists->from[k], lists->first[k]));
  }
  PetscCall(LitheDevicePut(static_cast<size_t>(nrows) * sizeof(*row), row, memory));
  PetscCall(LitheDevicePut(static_cast<size_t>(nedges) * sizeof(*edge), edge, memory + static_cast<size_t>(nrows) * sizeof(*row)));
  PetscCall(PetscFree2(row, edge));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGSmallCreate(const GridMGSmallPlan *plan, void **small, PetscBool *fits)
{
  const GridMGOperator *coarsest = plan->op[plan->levels - 1];
  const PetscInt        dense    = coarsest->grid.cells + coarsest->grid.wells;
  unsigned short        program[GRIDMG_SMALL_STEPS];
  size_t                shared, part[3];
  Small                *s = static_cast<Small *>(*small);
  Lists                 lists;
  cudaStream_t          stream;
  GridMGSmallCycle      m = {};

  PetscFunctionBegin;
  *fits = PETSC_FALSE;
  if (plan->levels > GRIDMG_SMALL_LEVELS || dense > GRIDMG_SMALL_MOST || plan->steps > GRIDMG_SMALL_STEPS) PetscFunctionReturn(PETSC_SUCCESS);
  m.levels          = static_cast<int>(plan->levels);
  m.steps           = static_cast<int>(plan->steps);
  m.dense.n         = static_cast<int>(dense);
  m.dense.symmetric = coarsest->symmetric;
  m.factor          = static_cast<float>(plan->factor);
  m.dense.L         = static_cast<const float *>(plan->inverse);
  m.dense.S         = static_cast<const float *>(plan->inversescale);
  for (int k = 0; k < m.levels; k++) {
    const GridMGOperator *op = plan->op[k];
    GridMGSmallLevel     *l  = &m.level[k];

    for (int d = 0; d < 3; d++) {
      l->up[d]   = op->up[d];
      l->down[d] = op->down[d];
      l->n[d]    = static_cast<int>(op->grid.n[d]);
      l->by[d]   = plan->by[k][d];
    }
    l->table      = static_cast<const float *>(op->table);
    l->sigma      = static_cast<const float *>(op->sigma);
    l->dinv       = static_cast<const float *>(op->dinv);
    l->alive      = op->alive;
    l->bits       = op->bits;
    l->list.wells = static_cast<int>(op->grid.wells);
    for (int p = 0; p < 2; p++) l->list.part[p] = static_cast<int>(op->list.part[p]);
    if (op->list.n > ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GetLists(plan, &lists));
  m.lists.bytes = static_cast<int>(static_cast<size_t>(lists.rows) * sizeof(GridMGSmallRow) + static_cast<size_t>(lists.edges) * sizeof(GridMGSmallEdge));
  PetscCall(PlaceAll(&m, &shared));
  if (!shared) {
    for (int k = 0; k < m.levels; k++) PetscCall(PetscFree2(lists.from[k], lists.first[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  GridMGSmallProgram(&m, m.steps, plan->program, program);
  part[0] = static_cast<size_t>(m.imagebytes) * m.cluster;
  part[1] = part[0] + (static_cast<size_t>(m.steps) * sizeof(*program) + 15) / 16 * 16;
  part[2] = part[1] + static_cast<size_t>(m.lists.bytes);
  if (!s) PetscCall(PetscNew(&s));
  *small = s;
  if (s->bytes < part[2]) {
    PetscCallCUDA(cudaFree(s->memory));
    s->memory = nullptr;
    s->bytes  = 0;
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&s->memory), part[2]));
    s->bytes = part[2];
  }
  m.image      = reinterpret_cast<unsigned char *>(s->memory);
  m.program    = reinterpret_cast<const unsigned short *>(s->memory + part[0]);
  m.lists.data = reinterpret_cast<const unsigned char *>(s->memory + part[1]);
  PetscCall(PutLists(plan, &m, &lists, s->memory + part[1]));
  PetscCall(LitheDevicePut(static_cast<size_t>(m.steps) * sizeof(*program), program, s->memory + part[0]));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(m.image, 0, part[0], stream));
  GridMGSmallImageKernel<<<dim3(static_cast<unsigned int>(m.levels), static_cast<unsigned int>(m.cluster)), SMALL_THREADS, 0, stream>>>(m);
  PetscCallCUDA(cudaGetLastError());
  s->m      = m;
  s->shared = shared;
  *fits     = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGSmallSolve(void *small, const void *b, void *x)
{
  Small              *s      = static_cast<Small *>(small);
  GridMGSmallCycle    m      = s->m;
  cudaLaunchConfig_t  config = {};
  cudaLaunchAttribute attribute[2];
  cudaStream_t        stream;
  bool                early;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(LitheCUDAHasPDL(&early));
  m.b                           = static_cast<const float *>(b);
  m.x                           = static_cast<float *>(x);
  config.gridDim                = dim3(static_cast<unsigned int>(m.cluster));
  config.blockDim               = dim3(SMALL_THREADS);
  config.dynamicSmemBytes       = s->shared;
  config.stream                 = stream;
  attribute[0].id               = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = static_cast<unsigned int>(m.cluster);
  attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
  attribute[1].id                                               = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[1].val.programmaticStreamSerializationAllowed       = 1;
  config.attrs                                                  = attribute;
  config.numAttrs                                               = early ? 2 : 1;
  /* another preconditioner may have set a smaller size */
  PetscCallCUDA(cudaFuncSetAttribute(GridMGSmallKernel<SMALL_THREADS>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(s->shared)));
  PetscCallCUDA(cudaLaunchKernelEx(&config, GridMGSmallKernel<SMALL_THREADS>, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGSmallFree(void **small)
{
  Small *s = static_cast<Small *>(*small);

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaFree(s->memory));
  PetscCall(PetscFree(*small));
  PetscFunctionReturn(PETSC_SUCCESS);
}
