/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sources and receivers of MATBORN: gathers in the order of entries, for bitwise reproducible results */

#include "launch.cuh"

#define BORN_POINT_THREADS 128
#define BORN_LANES         32 /* threads per point between nodes */

/* The array to which a force is added, from the first node on */
template <class T, class K>
struct BornTarget {
  T       *u;
  K       *out, *w, *image;
  const K *scatter, *with;
};

static __device__ __forceinline__ void BornAddTo(float *u, float x)
{
  *u += x;
}

static __device__ __forceinline__ void BornAddTo(double *u, double x)
{
  *u += x;
}

static __device__ __forceinline__ void BornAddTo(int32_t *u, float x)
{
  *u = static_cast<int32_t>(static_cast<uint32_t>(*u) + static_cast<uint32_t>(BornRound(x)));
}

/* One thread per node; V from the first node on */
template <class T, class K, class V>
static __global__ void BornForceKernel(BornArguments<K> a, BornPoints p, const PetscReal *values, PetscInt64 stride, double factor, const double *factors,
                                       BornTarget<T, K> to)
{
  const PetscInt64 node = static_cast<PetscInt64>(blockIdx.x) * BORN_POINT_THREADS + threadIdx.x;
  double           sum  = 0;

  if (node >= p.nodes) return;
  const PetscInt64 grid = p.node[node], i = grid % a.n[0], j = grid / a.n[0] % a.n[1], k = grid / a.n[0] / a.n[1], at = i + a.stride[0] * j + a.stride[1] * k;
  const int        place[3] = {static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
  K                s        = 0;

  for (int d = 0; d < 3; d++) {
    if (place[d] < a.from[d] || place[d] >= a.to[d]) return;
    s += BornSpongeAt(a, d, place[d]);
  }
  for (PetscInt e = p.nodefirst[node]; e < p.nodefirst[node + 1]; e++)
    sum += static_cast<double>(p.nodeweight[e]) * static_cast<double>(values[stride * p.point[e]]);
  const K f   = static_cast<K>((factors ? factors[k] : factor) * sum);
  const K Vat = BornVOf(a, static_cast<const V *>(a.V)[i + a.stride[0] * j + a.Vplane * k]);

  if (to.out) to.out[at] += f;
  if (to.u) BornAddTo(&to.u[at], Vat * f / (1 + (a.sponge ? s : K(0))));
  if (to.w) to.w[at] += Vat * to.scatter[at] * f / (1 + s);
  if (to.image) to.image[at] += f * to.with[at];
}

template <class T, class K>
static PetscErrorCode BornForceOf(const BornGrid *g, const BornForce *force)
{
  const BornStep         step   = {.number = force->number,
                                   .sponge = force->sponge,
                                   .inside = force->inside,
                                   .Vbits  = force->Vbits,
                                   .Vunit  = force->Vunit,
                                   .V      = force->V,
                                   .part   = {force->part[0], force->part[1]}};
  const BornArguments<K> a      = BornGetArguments<T, K>(g, &step);
  const BornTarget<T, K> to     = {BornFromFirst<T>(g, force->u),     BornFromFirst<K>(g, force->out),     BornFromFirst<K>(g, force->w),
                                   BornFromFirst<K>(g, force->image), BornFromFirst<K>(g, force->scatter), BornFromFirst<K>(g, force->with)};
  const unsigned         blocks = static_cast<unsigned>((force->points->nodes + BORN_POINT_THREADS - 1) / BORN_POINT_THREADS);
  cudaStream_t           stream;

  PetscFunctionBegin;
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (force->Vbits == 16)
    BornForceKernel<T, K, uint16_t>
      <<<blocks, BORN_POINT_THREADS, 0, stream>>>(a, *force->points, force->values, force->stride, force->factor, force->factors, to);
  else BornForceKernel<T, K, K><<<blocks, BORN_POINT_THREADS, 0, stream>>>(a, *force->points, force->values, force->stride, force->factor, force->factors, to);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornForce(const BornGrid *g, const BornForce *force)
{
  PetscFunctionBegin;
  if (force->number == BORN_FLOAT) PetscCall((BornForceOf<float, float>(g, force)));
  else if (force->number == BORN_DOUBLE) PetscCall((BornForceOf<double, double>(g, force)));
  else PetscCall((BornForceOf<int32_t, float>(g, force)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lanes threads per point, 1 or a warp, whose sums are added in a fixed order */
template <class K, int lanes>
static __global__ void BornExtractKernel(BornPoints p, PetscInt n0, PetscInt n1, PetscInt64 s1, PetscInt64 s2, const K *u, double factor, PetscReal *values,
                                         PetscInt64 stride)
{
  const PetscInt64 thread = static_cast<PetscInt64>(blockIdx.x) * BORN_POINT_THREADS + threadIdx.x, point = thread / lanes;
  const int        lane = static_cast<int>(thread % lanes);
  K                sum  = 0;

  if (point >= p.points) return; /* all threads of a warp, or lanes is 1 */
  for (PetscInt e = p.first[point] + lane; e < p.first[point + 1]; e += lanes) {
    const PetscInt64 node = p.place[e];

    sum = BornFMA(static_cast<K>(p.weight[e]), u[node % n0 + s1 * (node / n0 % n1) + s2 * (node / n0 / n1)], sum);
  }
#pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffU, sum, offset);
  if (lane == 0) values[stride * point] = static_cast<PetscReal>(factor * static_cast<double>(sum));
}

template <class K>
static PetscErrorCode BornExtractOf(const BornGrid *g, const BornPoints *p, const void *u, double factor, PetscReal *values, PetscInt64 stride)
{
  const bool       between = p->most > 4;
  const PetscInt64 threads = static_cast<PetscInt64>(p->points) * (between ? BORN_LANES : 1);
  const unsigned   blocks  = static_cast<unsigned>((threads + BORN_POINT_THREADS - 1) / BORN_POINT_THREADS);
  const PetscInt   n1      = g->n[1] + (g->dim == 2 ? 2 * p->below : 0); /* with the planes of places */
  cudaStream_t     stream;
  const K         *first = BornFromFirst<const K>(g, u) - p->below * g->stride[g->dim - 1];

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (between)
    BornExtractKernel<K, BORN_LANES><<<blocks, BORN_POINT_THREADS, 0, stream>>>(*p, g->n[0], n1, g->stride[1], g->stride[2], first, factor, values, stride);
  else BornExtractKernel<K, 1><<<blocks, BORN_POINT_THREADS, 0, stream>>>(*p, g->n[0], n1, g->stride[1], g->stride[2], first, factor, values, stride);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornExtract(const BornGrid *g, BornNumber real, const BornPoints *p, const void *u, double factor, PetscReal *values, PetscInt64 stride)
{
  PetscFunctionBegin;
  if (real == BORN_FLOAT) PetscCall(BornExtractOf<float>(g, p, u, factor, values, stride));
  else PetscCall(BornExtractOf<double>(g, p, u, factor, values, stride));
  PetscFunctionReturn(PETSC_SUCCESS);
}
