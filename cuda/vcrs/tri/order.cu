/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The order of a triangle on a device (lithe/private/vcrs/order.h), and its border. The border consists of a few rows
   before or after the rows of a grid, such as wells and constraints, and of all entries in these rows and columns. The
   rest is a triangle of the grid.

   The differences are found in a sample of the rows; then all rows are compared with the grid. Without a grid, the
   order is by levels, which the triangle already has.
*/

#include <lithe/private/cuda/factor.h>
#include <lithe/private/vcrs/order.h>
#include "../../common/petsccuda.cuh"
#include "../../common/scan.cuh"
#include "../../common/differences.cuh"

#define ORDER_SHARE  8   /* differences found in less than 1 / ORDER_SHARE of the rows do not belong to a grid */
#define ORDER_BORDER 256 /* rows of a border, at most */

#define ORDER_THREAD (static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x)

static inline unsigned int OrderBlocks(PetscInt64 threads)
{
  return static_cast<unsigned int>(PetscMax((threads + 255) / 256, static_cast<PetscInt64>(1)));
}

struct OrderFits {
  LitheDeviceTriangle t;
  VCRSOrderGrid       g;
  PetscInt            first, n;
  PetscInt            ndifferences, difference[VCRS_ORDER_DIFFERENCES];
  int                *report; /* [0]: whether a row does not fit; [1]: length of the longest row */
};

/* Checks that each row of the grid has neighbours in its line and plane only, with differences that the tiles
   support */
static __global__ void OrderFitsKernel(const __grid_constant__ OrderFits f)
{
  const PetscInt64 at = ORDER_THREAD;

  if (at >= f.n) return;
  const PetscInt row = f.first + static_cast<PetscInt>(at), position = static_cast<PetscInt>(f.t.upper ? f.n - 1 - at : at);
  const PetscInt cell = position % f.g.line, line = position / f.g.line % f.g.lines;
  int            entries = 0;
  bool           fits    = true;

  for (PetscInt k = f.t.i[row]; k < f.t.i[row + 1]; k++) {
    const PetscInt column = f.t.j[k], d = f.t.upper ? row - column : column - row;
    PetscInt       di, dj, dk;
    bool           known = false;

    if (column < f.first || column >= f.first + f.n) continue; /* an entry of the border */
    entries++;
    for (PetscInt e = 0; e < f.ndifferences && !known; e++) known = f.difference[e] == d;
    if (!known) {
      fits = false;
      continue;
    }
    VCRSOrderSplit(&f.g, d, &di, &dj, &dk);
    fits = fits && cell + di >= 0 && cell + di < f.g.line && line + dj >= 0 && line + dj < f.g.lines;
  }
  if (!fits) f.report[0] = 1;
  if (entries > 3) atomicMax(&f.report[1], entries);
}

typedef struct {
  const LitheDeviceTriangle  *t;
  const VCRSOrderDifferences *found;
  int                        *dreport;
  PetscInt                    first; /* first row of the grid; earlier rows are a border */
  int                         longest;
  cudaStream_t                stream;
} OrderContext;

static PetscErrorCode OrderAsk(OrderContext *o, const VCRSOrderGrid *g, PetscInt first, PetscBool *fits)
{
  OrderFits f;
  int       report[2];

  PetscFunctionBegin;
  f.t            = *o->t;
  f.g            = *g;
  f.first        = first;
  f.n            = g->line * g->lines * g->planes;
  f.ndifferences = o->found->n;
  f.report       = o->dreport;
  for (PetscInt e = 0; e < o->found->n; e++) f.difference[e] = o->found->difference[e];
  PetscCallCUDA(cudaMemsetAsync(o->dreport, 0, sizeof(report), o->stream));
  OrderFitsKernel<<<OrderBlocks(f.n), 256, 0, o->stream>>>(f);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(report, o->dreport, sizeof(report), cudaMemcpyDeviceToHost, o->stream));
  PetscCallCUDA(cudaStreamSynchronize(o->stream));
  *fits      = (PetscBool)!report[0];
  o->first   = first;
  o->longest = PetscMax(report[1], 3);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests a grid with the remaining rows after the grid, then before the grid */
static PetscErrorCode OrderFits_Private(const VCRSOrderGrid *g, void *ctx, PetscBool *fits)
{
  OrderContext  *o    = static_cast<OrderContext *>(ctx);
  const PetscInt left = o->t->n - g->line * g->lines * g->planes;

  PetscFunctionBegin;
  PetscCall(OrderAsk(o, g, 0, fits));
  if (!*fits && left) PetscCall(OrderAsk(o, g, left, fits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OrderSample(const LitheDeviceTriangle *t, VCRSOrderDifferences *found, cudaStream_t stream)
{
  PetscInt difference[DIFFERENCES_SLOTS], samples, n = 0;
  int      count[DIFFERENCES_SLOTS];

  PetscFunctionBegin;
  PetscCall(DifferencesSample(t->n, t->i, t->j, nullptr, t->upper, stream, &samples, &n, difference, count));
  found->n = 0;
  for (PetscInt e = 0; e < n; e++) {
    if (static_cast<PetscInt64>(count[e]) * ORDER_SHARE < samples) continue;
    if (found->n == VCRS_ORDER_DIFFERENCES) {
      found->n = 0;
      break;
    }
    found->difference[found->n] = difference[e];
    found->count[found->n++]    = count[e];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ levels */

/* Makes tasks from the list of levels. A task has up to 32 successive rows of the list from one level, or a single wide
   row */
static PetscErrorCode OrderLevels(const LitheDeviceTriangle *t, VCRSOrder **order)
{
  PetscInt  *list, *i, nrow = 0;
  VCRSOrder *o;

  PetscFunctionBegin;
  PetscCall(PetscNew(&o));
  *order     = o;
  o->n       = t->n;
  o->nz      = t->nz;
  o->upper   = t->upper;
  o->nlevels = t->nlevels;
  PetscCall(PetscMalloc2(t->nlist, &list, static_cast<size_t>(t->n) + 1, &i));
  PetscCallCUDA(cudaMemcpy(list, t->list, t->nlist * sizeof(*list), cudaMemcpyDeviceToHost));
  PetscCallCUDA(cudaMemcpy(i, t->i, (static_cast<size_t>(t->n) + 1) * sizeof(*i), cudaMemcpyDeviceToHost));
  PetscCall(PetscMalloc1(t->n, &o->row));
  PetscCall(PetscMalloc1(static_cast<size_t>(t->nlist) / 32 + t->n / VCRS_ORDER_WIDE + t->n + 1, &o->task));
  for (PetscInt chunk = 0; chunk < t->nlist; chunk += 32) {
    const PetscInt begin = nrow;

    for (PetscInt k = chunk; k < chunk + 32; k++) {
      if (list[k] < 0) continue;
      o->longest = PetscMax(o->longest, i[list[k] + 1] - i[list[k]]);
      if (i[list[k] + 1] - i[list[k]] <= VCRS_ORDER_WIDE) o->row[nrow++] = list[k];
    }
    if (nrow > begin) o->task[o->ntasks++] = begin;
    for (PetscInt k = chunk; k < chunk + 32; k++) {
      if (list[k] < 0 || i[list[k] + 1] - i[list[k]] <= VCRS_ORDER_WIDE) continue;
      o->task[o->ntasks++] = nrow;
      o->row[nrow++]       = list[k];
    }
  }
  o->task[o->ntasks] = nrow;
  PetscCall(PetscFree2(list, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ borders */

typedef struct {
  PetscInt    row, column;
  PetscScalar value;
} BorderEntry;

/* Counts the entries that remain in the rows of the grid; all further entries go to a list, in any order */
static __global__ void BorderCountKernel(const __grid_constant__ LitheDeviceTriangle t, PetscInt first, PetscInt n, PetscInt *i, BorderEntry *entry, int most,
                                         int *count)
{
  const PetscInt64 row  = ORDER_THREAD;
  const bool       in   = row >= first && row < first + n;
  PetscInt         stay = 0;

  if (row < t.n) {
    for (PetscInt k = t.i[row]; k < t.i[row + 1]; k++) {
      if (in && t.j[k] >= first && t.j[k] < first + n) stay++;
      else {
        const int at = atomicAdd(count, 1);

        if (at < most) {
          entry[at].row    = static_cast<PetscInt>(row);
          entry[at].column = t.j[k];
          entry[at].value  = t.a[k];
        }
      }
    }
    if (in) i[row - first] = stay;
  }
  if (row == t.n) i[n] = 0;
}

static __global__ void BorderGridKernel(const __grid_constant__ LitheDeviceTriangle t, PetscInt first, PetscInt n,
                                        const __grid_constant__ LitheDeviceTriangle g)
{
  const PetscInt64 row = ORDER_THREAD;

  if (row >= n) return;
  PetscInt to = g.i[row];

  for (PetscInt k = t.i[first + row]; k < t.i[first + row + 1]; k++) {
    if (t.j[k] < first || t.j[k] >= first + n) continue;
    g.j[to] = t.j[k] - first;
    g.a[to] = t.a[k];
    to++;
  }
}

static int BorderCompare(const void *a, const void *b)
{
  const BorderEntry *x = static_cast<const BorderEntry *>(a), *y = static_cast<const BorderEntry *>(b);

  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return x->column < y->column ? -1 : x->column > y->column;
}

static PetscErrorCode BorderUpload(const void *from, size_t bytes, void **to)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc(to, PetscMax(bytes, static_cast<size_t>(1))));
  if (bytes) PetscCallCUDA(cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes rows from sorted entries: first the border's rows, in the order of the solve, then rows of the grid */
static PetscErrorCode BorderSetUp(LitheDeviceBorder *b, BorderEntry entry[], PetscInt nentry)
{
  const PetscInt nborder = b->total - b->n;
  PetscInt       next = 0, nz = 0;

  PetscFunctionBegin;
  qsort(entry, nentry, sizeof(*entry), BorderCompare);
  for (PetscInt e = 0; e < nentry; e++) {
    if (entry[e].row >= b->first && entry[e].row < b->first + b->n && (!e || entry[e].row != entry[e - 1].row)) b->ncoupled++;
  }
  b->nborder = nborder;
  PetscCall(PetscMalloc4(nborder + b->ncoupled, &b->row, nborder + b->ncoupled + 1, &b->i, nentry, &b->j, nentry, &b->a));
  for (PetscInt k = 0; k < nborder; k++) {
    const PetscInt q = b->upper ? nborder - 1 - k : k, row = q < b->first ? q : q + b->n;
    PetscInt       e = 0;

    b->row[next] = row;
    b->i[next++] = nz;
    while (e < nentry && entry[e].row < row) e++;
    for (; e < nentry && entry[e].row == row; e++, nz++) {
      b->j[nz] = entry[e].column;
      b->a[nz] = entry[e].value;
    }
  }
  for (PetscInt e = 0; e < nentry; e++) {
    if (entry[e].row < b->first || entry[e].row >= b->first + b->n) continue;
    if (next == nborder || b->row[next - 1] != entry[e].row) {
      b->row[next] = entry[e].row;
      b->i[next++] = nz;
    }
    b->j[nz] = entry[e].column;
    b->a[nz] = entry[e].value;
    nz++;
  }
  b->i[next] = nz;
  PetscCall(BorderUpload(b->row, next * sizeof(*b->row), reinterpret_cast<void **>(&b->drow)));
  PetscCall(BorderUpload(b->i, (static_cast<size_t>(next) + 1) * sizeof(*b->i), reinterpret_cast<void **>(&b->di)));
  PetscCall(BorderUpload(b->j, nz * sizeof(*b->j), reinterpret_cast<void **>(&b->dj)));
  PetscCall(BorderUpload(b->a, nz * sizeof(*b->a), reinterpret_cast<void **>(&b->da)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangle without its border; `most`: bound of the border's entries */
static PetscErrorCode BorderCreate(const LitheDeviceTriangle *t, PetscInt first, PetscInt n, PetscInt most, LitheDeviceTriangle *grid,
                                   LitheDeviceBorder **border, cudaStream_t stream)
{
  LitheDeviceBorder *b;
  BorderEntry       *dentry, *entry;
  size_t             bytes = 0;
  void              *work;
  int               *dcount, count;
  PetscInt           nz;

  PetscFunctionBegin;
  *border = NULL;
  PetscCall(PetscMemzero(grid, sizeof(*grid)));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&grid->i), (static_cast<size_t>(n) + 1) * sizeof(PetscInt)));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&dentry), most * sizeof(*dentry)));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&dcount), sizeof(*dcount)));
  PetscCallCUDA(cudaMemsetAsync(dcount, 0, sizeof(*dcount), stream));
  BorderCountKernel<<<OrderBlocks(static_cast<PetscInt64>(t->n) + 1), 256, 0, stream>>>(*t, first, n, grid->i, dentry, static_cast<int>(most), dcount);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(&count, dcount, sizeof(count), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  if (count <= most) {
    PetscCallCUDA(LitheScan(NULL, &bytes, grid->i, static_cast<PetscInt64>(n) + 1, stream));
    PetscCallCUDA(cudaMalloc(&work, PetscMax(bytes, static_cast<size_t>(1))));
    PetscCallCUDA(LitheScan(work, &bytes, grid->i, static_cast<PetscInt64>(n) + 1, stream));
    PetscCallCUDA(cudaMemcpyAsync(&nz, grid->i + n, sizeof(nz), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
    PetscCallCUDA(cudaFree(work));
    grid->n     = n;
    grid->nz    = nz;
    grid->upper = t->upper;
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&grid->j), PetscMax(nz, 1) * sizeof(PetscInt)));
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&grid->a), PetscMax(nz, 1) * sizeof(PetscScalar)));
    BorderGridKernel<<<OrderBlocks(n), 256, 0, stream>>>(*t, first, n, *grid);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(PetscNew(&b));
    b->upper  = t->upper;
    b->total  = t->n;
    b->first  = first;
    b->n      = n;
    b->before = (PetscBool)((first > 0) != (t->upper == PETSC_TRUE));
    PetscCall(PetscMalloc1(count, &entry));
    if (count) PetscCallCUDA(cudaMemcpy(entry, dentry, count * sizeof(*entry), cudaMemcpyDeviceToHost));
    PetscCall(BorderSetUp(b, entry, count));
    PetscCall(PetscFree(entry));
    *border = b;
  } else {
    PetscCallCUDA(cudaFree(grid->i));
    grid->i = NULL;
  }
  PetscCallCUDA(cudaFree(dentry));
  PetscCallCUDA(cudaFree(dcount));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABorderDestroy(LitheDeviceBorder **border)
{
  LitheDeviceBorder *b = *border;

  PetscFunctionBegin;
  if (!b) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree4(b->row, b->i, b->j, b->a));
  PetscCallCUDA(cudaFree(b->drow));
  PetscCallCUDA(cudaFree(b->di));
  PetscCallCUDA(cudaFree(b->dj));
  PetscCallCUDA(cudaFree(b->da));
  PetscCall(PetscFree(*border));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDATriangleFree(LitheDeviceTriangle *t)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(t->i));
  PetscCallCUDA(cudaFree(t->j));
  PetscCallCUDA(cudaFree(t->a));
  PetscCallCUDA(cudaFree(t->list));
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDATriangleOrder(const LitheDeviceTriangle *t, PetscBool grids, PetscBool borders, VCRSOrder **order, LitheDeviceTriangle *grid,
                                      LitheDeviceBorder **border)
{
  VCRSOrderDifferences found;
  VCRSOrderGrid        g;
  OrderContext         o;
  PetscBool            isgrid = PETSC_FALSE;

  PetscFunctionBegin;
  *border = NULL;
  PetscCall(PetscMemzero(grid, sizeof(*grid)));
  o.t       = t;
  o.found   = &found;
  o.first   = 0;
  o.longest = 0;
  PetscCall(PetscGetCurrentCUDAStream(&o.stream));
  if (grids && t->n >= 4) {
    PetscCall(OrderSample(t, &found, o.stream));
    PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&o.dreport), 2 * sizeof(int)));
    if (found.n) PetscCall(VCRSOrderFindGrid(t->n, borders ? ORDER_BORDER : 0, &found, OrderFits_Private, &o, &g, &isgrid));
    PetscCallCUDA(cudaFree(o.dreport));
    if (o.longest > VCRS_ORDER_LONGEST) isgrid = PETSC_FALSE;
  }
  if (isgrid && g.line * g.lines * g.planes < t->n) {
    PetscCall(BorderCreate(t, o.first, g.line * g.lines * g.planes, PetscMax(t->n / 64, 4096), grid, border, o.stream));
    isgrid = (PetscBool)(*border != NULL);
  }
  if (isgrid) PetscCall(VCRSOrderCreateGrid(*border ? grid->nz : t->nz, o.longest, t->upper, &g, order));
  else PetscCall(OrderLevels(t, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ solves */

#if defined(PETSC_USE_COMPLEX)
struct BorderNumber {
  PetscReal re, im;
};
static __device__ __forceinline__ BorderNumber BorderAdd(BorderNumber a, BorderNumber x, BorderNumber sum)
{
  return BorderNumber{sum.re + a.re * x.re - a.im * x.im, sum.im + a.re * x.im + a.im * x.re};
}
static __device__ __forceinline__ BorderNumber BorderPlus(BorderNumber a, BorderNumber b)
{
  return BorderNumber{a.re + b.re, a.im + b.im};
}
#else
typedef PetscReal                              BorderNumber;
static __device__ __forceinline__ BorderNumber BorderAdd(BorderNumber a, BorderNumber x, BorderNumber sum)
{
  return a * x + sum;
}
static __device__ __forceinline__ BorderNumber BorderPlus(BorderNumber a, BorderNumber b)
{
  return a + b;
}
#endif

#define BORDER_THREADS 512

/* x = b + B x in the rows of the border, one row after the other: a block adds the products of a row in a fixed
   order */
static __global__ void __launch_bounds__(BORDER_THREADS)
  BorderRowsKernel(PetscInt n, const PetscInt *row, const PetscInt *i, const PetscInt *j, const BorderNumber *a, const BorderNumber *b, BorderNumber *x)
{
  __shared__ BorderNumber part[BORDER_THREADS];

  for (PetscInt r = 0; r < n; r++) {
    BorderNumber sum = BorderNumber{};

    for (PetscInt k = i[r] + threadIdx.x; k < i[r + 1]; k += BORDER_THREADS) sum = BorderAdd(a[k], x[j[k]], sum);
    part[threadIdx.x] = sum;
    for (int half = BORDER_THREADS / 2; half; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) part[threadIdx.x] = BorderPlus(part[threadIdx.x], part[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) x[row[r]] = BorderPlus(b[row[r]], part[0]);
    __threadfence_block();
    __syncthreads();
  }
}

/* b = b + B x in rows of the grid */
static __global__ void BorderCoupleKernel(PetscInt n, const PetscInt *row, const PetscInt *i, const PetscInt *j, const BorderNumber *a, const BorderNumber *x,
                                          BorderNumber *b)
{
  const PetscInt64 r = ORDER_THREAD;

  if (r >= n) return;
  BorderNumber sum = b[row[r]];

  for (PetscInt k = i[r]; k < i[r + 1]; k++) sum = BorderAdd(a[k], x[j[k]], sum);
  b[row[r]] = sum;
}

PetscErrorCode LitheCUDABorderRows(const LitheDeviceBorder *b, const PetscScalar *db, PetscScalar *dx)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  BorderRowsKernel<<<1, BORDER_THREADS, 0, stream>>>(b->nborder, b->drow, b->di, b->dj, reinterpret_cast<const BorderNumber *>(b->da),
                                                     reinterpret_cast<const BorderNumber *>(db), reinterpret_cast<BorderNumber *>(dx));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABorderCouple(const LitheDeviceBorder *b, const PetscScalar *dx, PetscScalar *db)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!b->ncoupled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  BorderCoupleKernel<<<OrderBlocks(b->ncoupled), 256, 0, stream>>>(b->ncoupled, b->drow + b->nborder, b->di + b->nborder, b->dj,
                                                                   reinterpret_cast<const BorderNumber *>(b->da), reinterpret_cast<const BorderNumber *>(dx),
                                                                   reinterpret_cast<BorderNumber *>(db));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
