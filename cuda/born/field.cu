/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Operations on whole fields of MATBORN besides steps: to and from vectors, images, stores, random velocities */

#include "launch.cuh"
#include "../common/scratch.cuh"

#define BORN_LARGEST_BLOCKS 1024
#define BORN_THREADS        256
#define BORN_ROWS           4

/* A node: indices, number in a grid array, and place in a field, counted from the first node */
struct BornAt {
  PetscInt   i, j, k;
  PetscInt64 node, place;
};

/* f(at) for all nodes */
template <class F>
static __global__ void BornEachKernel(PetscInt n0, PetscInt n1, PetscInt n2, PetscInt64 s1, PetscInt64 s2, F f)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x) * blockDim.x + threadIdx.x, j = static_cast<PetscInt>(blockIdx.y) * blockDim.y + threadIdx.y;

  if (i >= n0 || j >= n1) return;
  for (PetscInt k = blockIdx.z; k < n2; k += gridDim.z) {
    const BornAt at = {i, j, k, i + n0 * (j + static_cast<PetscInt64>(n1) * k), i + s1 * j + s2 * k};

    f(at);
  }
}

template <class F>
static PetscErrorCode BornEach(const BornGrid *g, const F &f)
{
  const dim3   threads(BORN_THREADS / BORN_ROWS, BORN_ROWS);
  const dim3   blocks(static_cast<unsigned>((g->n[0] + threads.x - 1) / threads.x), static_cast<unsigned>((g->n[1] + threads.y - 1) / threads.y),
                      static_cast<unsigned>(g->n[2] < 65535 ? g->n[2] : 65535));
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCheck(blocks.y < 65536, PETSC_COMM_SELF, PETSC_ERR_SUP, "A grid of %" PetscInt_FMT " nodes along y is too long for a device; exchange x and y", g->n[1]);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  BornEachKernel<F><<<blocks, threads, 0, stream>>>(g->n[0], g->n[1], g->n[2], g->stride[1], g->stride[2], f);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* f is made for single or double precision */
#define BORN_REAL_CALL(real, f, ...)                            \
  do {                                                          \
    if ((real) == BORN_FLOAT) PetscCall(f<float>(__VA_ARGS__)); \
    else PetscCall(f<double>(__VA_ARGS__));                     \
  } while (0)

/* ------------------------------------------------------------ vectors */

static __global__ void BornLargestKernel(size_t n, const PetscReal *x, unsigned long long *largest)
{
  unsigned long long mine = 0;

  for (size_t i = static_cast<size_t>(blockIdx.x) * BORN_THREADS + threadIdx.x; i < n; i += static_cast<size_t>(gridDim.x) * BORN_THREADS) {
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(fabs(static_cast<double>(x[i]))));

    mine = bits > mine ? bits : mine; /* ascends with |x|, then infinity, then NaN */
  }
  if (mine) atomicMax(largest, mine);
}

PetscErrorCode LitheCUDABornLargest(size_t n, const PetscReal *x, double *modulus)
{
  cudaStream_t        stream;
  LitheScratch        scratch;
  unsigned long long *largest;
  size_t              blocks = (n + BORN_THREADS - 1) / BORN_THREADS;

  PetscFunctionBegin;
  blocks = blocks < BORN_LARGEST_BLOCKS ? blocks : BORN_LARGEST_BLOCKS;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheScratchGet(stream, sizeof(*largest), &scratch));
  largest = static_cast<unsigned long long *>(scratch.device);
  PetscCallCUDA(cudaMemsetAsync(largest, 0, sizeof(*largest), stream));
  if (blocks) BornLargestKernel<<<static_cast<unsigned>(blocks), BORN_THREADS, 0, stream>>>(n, x, largest);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(modulus, largest, sizeof(*modulus), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* range[0]: the bits of a positive, finite number ascend with the number; 0 stands for any other number */
static __global__ void BornRangeKernel(size_t n, const PetscReal *x, unsigned long long range[2])
{
  unsigned long long least = ~0ULL, largest = 0;

  for (size_t i = static_cast<size_t>(blockIdx.x) * BORN_THREADS + threadIdx.x; i < n; i += static_cast<size_t>(gridDim.x) * BORN_THREADS) {
    const double             v    = static_cast<double>(x[i]);
    const bool               good = v > 0 && v <= static_cast<double>(PETSC_MAX_REAL);
    const unsigned long long bits = good ? static_cast<unsigned long long>(__double_as_longlong(v)) : 0;

    least   = bits < least ? bits : least;
    largest = bits > largest ? bits : largest;
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const unsigned long long low = __shfl_xor_sync(0xffffffffU, least, lanes), high = __shfl_xor_sync(0xffffffffU, largest, lanes);

    least   = low < least ? low : least;
    largest = high > largest ? high : largest;
  }
  if (threadIdx.x % 32) return;
  atomicMin(&range[0], least);
  atomicMax(&range[1], largest);
}

PetscErrorCode LitheCUDABornRange(size_t n, const PetscReal *x, double *least, double *largest)
{
  double              range[2] = {static_cast<double>(PETSC_MAX_REAL), 0};
  cudaStream_t        stream;
  LitheScratch        scratch;
  unsigned long long *bits;
  size_t              blocks = (n + BORN_THREADS - 1) / BORN_THREADS;

  PetscFunctionBegin;
  blocks = blocks < BORN_LARGEST_BLOCKS ? blocks : BORN_LARGEST_BLOCKS;
  if (blocks) {
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCall(LitheScratchGet(stream, sizeof(range), &scratch));
    bits = static_cast<unsigned long long *>(scratch.device);
    PetscCallCUDA(cudaMemsetAsync(bits, 0xff, sizeof(*bits), stream));
    PetscCallCUDA(cudaMemsetAsync(bits + 1, 0, sizeof(*bits), stream));
    BornRangeKernel<<<static_cast<unsigned>(blocks), BORN_THREADS, 0, stream>>>(n, x, bits);
    PetscCallCUDA(cudaGetLastError());
    PetscCallCUDA(cudaMemcpyAsync(range, bits, sizeof(range), cudaMemcpyDeviceToHost, stream));
    PetscCallCUDA(cudaStreamSynchronize(stream));
  }
  *least   = range[0];
  *largest = range[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes without a sponge, or all */
struct BornPart {
  PetscInt low[3], high[3];

  BornPart(const BornGrid *g, PetscBool inside)
  {
    for (int d = 0; d < 3; d++) {
      low[d]  = 0;
      high[d] = g->n[d];
      if (inside) BornInside(g, d, &low[d], &high[d]);
    }
  }
  __device__ bool has(const BornAt &at) const
  {
    return at.i >= low[0] && at.i < high[0] && at.j >= low[1] && at.j < high[1] && at.k >= low[2] && at.k < high[2];
  }
};

template <class K>
struct BornLoading {
  BornPart         part;
  double           factor;
  const PetscReal *from;
  K               *to;

  __device__ void operator()(const BornAt &at) const
  {
    to[at.place] = part.has(at) ? static_cast<K>(factor * static_cast<double>(from[at.node])) : K(0);
  }
};

template <class K>
static PetscErrorCode BornLoadOf(const BornGrid *g, PetscBool inside, double factor, const PetscReal *from, void *to)
{
  const BornLoading<K> f = {BornPart(g, inside), factor, from, BornFromFirst<K>(g, to)};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornLoad(const BornGrid *g, BornNumber real, PetscBool inside, double factor, const PetscReal *from, void *to)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornLoadOf, g, inside, factor, from, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class K>
struct BornAdding {
  BornPart   part;
  double     factor;
  const K   *from;
  PetscReal *to;

  __device__ void operator()(const BornAt &at) const
  {
    if (part.has(at)) to[at.node] += static_cast<PetscReal>(factor * static_cast<double>(from[at.place]));
  }
};

template <class K>
static PetscErrorCode BornAddOf(const BornGrid *g, PetscBool inside, double factor, const void *from, PetscReal *to)
{
  const BornAdding<K> f = {BornPart(g, inside), factor, BornFromFirst<K>(g, from), to};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornAdd(const BornGrid *g, BornNumber real, PetscBool inside, double factor, const void *from, PetscReal *to)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornAddOf, g, inside, factor, from, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ images */

template <class K>
static __device__ __forceinline__ K BornGet(const BornStoring &s, const BornAt &at)
{
  const PetscInt64 block = at.i / 32 + s.lineblocks * (at.j + s.lines * at.k), place = 32 * block + at.i % 32;

  if (s.bits == 32) return static_cast<K>(reinterpret_cast<const float *>(s.numbers)[place]);
  const double step = LitheFRSZ2Step(&s.format, 0, s.exponents[block]);
  const int    q    = s.bits == 16 ? reinterpret_cast<const int16_t *>(s.numbers)[place] : reinterpret_cast<const int8_t *>(s.numbers)[place];

  return static_cast<K>(static_cast<PetscReal>(static_cast<double>(q) * step));
}

/* q of a store, or, with no bits, of a field */
template <class K>
struct BornImaging {
  BornStoring store;
  const K    *q, *w;
  K          *image;

  __device__ void operator()(const BornAt &at) const
  {
    const K value = store.bits ? BornGet<K>(store, at) : q[at.place];

    image[at.place] = BornFMA(value, w[at.place], image[at.place]);
  }
};

template <class K>
static PetscErrorCode BornImageOf(const BornGrid *g, int bits, const void *q, const void *w, void *image)
{
  const BornImaging<K> f = {BornGetStoring(g, bits, q), bits ? nullptr : BornFromFirst<K>(g, q), BornFromFirst<K>(g, w), BornFromFirst<K>(g, image)};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscCall(PetscLogGpuFlops(2. * static_cast<PetscLogDouble>(g->nodes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornImage(const BornGrid *g, BornNumber real, int bits, const void *q, const void *w, void *image)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornImageOf, g, bits, q, w, image);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ q, rounded apart */

/* One warp per block of 32 nodes along x */
template <class K>
static __global__ void BornRoundKernel(PetscInt n0, PetscInt n1, PetscInt n2, PetscInt64 s1, PetscInt64 s2, BornStoring store, K *q)
{
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), j = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);

  if (i / 32 * 32 >= n0 || j >= n1) return; /* all threads of a warp */
  for (int k = static_cast<int>(blockIdx.z); k < n2; k += static_cast<int>(gridDim.z)) {
    const PetscInt64 place = i + s1 * j + s2 * k;
    const bool       there = i < n0;
    K                v     = there ? q[place] : K(0);

    BornRoundBlock<1>(store, i, j, k, there, &v);
    if (there) q[place] = v;
  }
}

template <class K>
static PetscErrorCode BornRoundOf(const BornGrid *g, int bits, void *q, void *store)
{
  const dim3   threads(BORN_THREADS / BORN_ROWS, BORN_ROWS);
  const dim3   blocks(static_cast<unsigned>((g->n[0] + threads.x - 1) / threads.x), static_cast<unsigned>((g->n[1] + threads.y - 1) / threads.y),
                      static_cast<unsigned>(g->n[2] < 65535 ? g->n[2] : 65535));
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  BornRoundKernel<K>
    <<<blocks, threads, 0, stream>>>(g->n[0], g->n[1], g->n[2], g->stride[1], g->stride[2], BornGetStoring(g, bits, store), BornFromFirst<K>(g, q));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornRound(const BornGrid *g, BornNumber real, int bits, void *q, void *store)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornRoundOf, g, bits, q, store);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class K>
struct BornPushing {
  BornArguments<K> a;
  int              Vbits;
  const K         *q;
  K               *w;

  __device__ void operator()(const BornAt &at) const
  {
    const int       i = static_cast<int>(at.i), j = static_cast<int>(at.j), k = static_cast<int>(at.k);
    const ptrdiff_t place = i + a.stride[0] * j + a.Vplane * k;
    const K         V     = Vbits == 16 ? BornVOf(a, static_cast<const uint16_t *>(a.V)[place]) : BornVOf(a, static_cast<const K *>(a.V)[place]);
    const K         s     = BornSpongeAt(a, 2, k) + BornSpongeAt(a, 1, j) + BornSpongeAt(a, 0, i);

    w[at.place] += V * static_cast<const K *>(a.scatter)[at.place] * q[at.place] / (1 + s);
  }
};

template <class K>
static PetscErrorCode BornPushOf(const BornGrid *g, const BornStep *step, const void *q, void *w)
{
  const BornPushing<K> f = {BornGetArguments<K, K>(g, step), step->Vbits, BornFromFirst<K>(g, q), BornFromFirst<K>(g, w)};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornPush(const BornGrid *g, const BornStep *step, const void *q, void *w)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(step->number, BornPushOf, g, step, q, w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ nodes round the inside */

struct BornRingBoxes {
  int         n;
  PetscInt64  size;
  BornRingBox box[6];
};

/* Words of 4 or 8 bytes */
template <class T>
static __global__ void BornRingKernel(BornRingBoxes r, PetscInt64 s1, PetscInt64 s2, bool save, T *u, T *ring)
{
  for (PetscInt64 p = static_cast<PetscInt64>(blockIdx.x) * BORN_THREADS + threadIdx.x; p < r.size; p += static_cast<PetscInt64>(gridDim.x) * BORN_THREADS) {
    int b = 0;

#pragma unroll
    for (int c = 1; c < 6; c++) b = c < r.n && p >= r.box[c].at ? c : b;
    const BornRingBox box = r.box[b];
    const unsigned    at = static_cast<unsigned>(p - box.at), n0 = static_cast<unsigned>(box.n[0]), n1 = static_cast<unsigned>(box.n[1]);
    const PetscInt64  to = box.from[0] + at % n0 + s1 * (box.from[1] + at / n0 % n1) + s2 * (box.from[2] + at / n0 / n1);

    if (save) ring[p] = u[to];
    else u[to] = ring[p];
  }
}

template <class T>
static PetscErrorCode BornRingCopy(const BornGrid *g, bool save, void *u, void *ring)
{
  BornRingBoxes r;
  PetscInt64    blocks;
  cudaStream_t  stream;

  PetscFunctionBegin;
  r.size = BornRing(g, &r.n, r.box);
  if (!r.size) PetscFunctionReturn(PETSC_SUCCESS);
  blocks = (r.size + BORN_THREADS - 1) / BORN_THREADS;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  BornRingKernel<T><<<static_cast<unsigned>(blocks < (1 << 20) ? blocks : (1 << 20)), BORN_THREADS, 0, stream>>>(r, g->stride[1], g->stride[2], save,
                                                                                                                 BornFromFirst<T>(g, u),
                                                                                                                 static_cast<T *>(ring));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornRing(const BornGrid *g, BornNumber number, PetscBool save, void *u, void *ring)
{
  PetscFunctionBegin;
  if (number == BORN_DOUBLE) PetscCall(BornRingCopy<double>(g, save, u, ring));
  else PetscCall(BornRingCopy<float>(g, save, u, ring));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ V */

template <class K>
struct BornRandomising {
  BornGrid g;
  double   share;
  uint64_t seed;
  const K *V;
  K       *to;

  __device__ void operator()(const BornAt &at) const
  {
    const PetscInt64 node = at.node + g.start * (g.nodes / g.n[g.dim - 1]);

    to[at.place] = static_cast<K>(static_cast<double>(V[at.place]) * BornRandomFactor(&g, at.i, at.j, at.k, share, BornHash(seed, node)));
  }
};

template <class K>
static PetscErrorCode BornRandomiseOf(const BornGrid *g, double share, uint64_t seed, const void *V, void *to)
{
  const BornRandomising<K> f = {*g, share, seed, BornFromFirst<K>(g, V), BornFromFirst<K>(g, to)};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornRandomise(const BornGrid *g, BornNumber real, double share, uint64_t seed, const void *V, void *to)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornRandomiseOf, g, share, seed, V, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class K>
struct BornCourant {
  int              rest; /* the dimension whose first nodes get 0, or -1 */
  PetscReal        dt, h;
  const PetscReal *v;
  K               *V;

  __device__ void operator()(const BornAt &at) const
  {
    const bool still = (rest == 1 && at.j == 0) || (rest == 2 && at.k == 0);

    V[at.place] = still ? K(0) : static_cast<K>(BornCourantOf(v[at.node], dt, h));
  }
};

template <class K>
static PetscErrorCode BornCourantFor(const BornGrid *g, PetscBool rest, PetscReal dt, PetscReal h, const PetscReal *v, void *V)
{
  const BornCourant<K> f = {rest ? g->dim - 1 : -1, dt, h, v, BornFromFirst<K>(g, V)};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornCourant(const BornGrid *g, BornNumber real, PetscBool rest, PetscReal dt, PetscReal h, const PetscReal *v, void *V)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornCourantFor, g, rest, dt, h, v, V);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class K>
struct BornQuantising {
  double    unit;
  const K  *V;
  uint16_t *to;

  __device__ void operator()(const BornAt &at) const
  {
    const double q = static_cast<double>(V[at.place]) / unit + 0.5;

    to[at.place] = static_cast<uint16_t>(q < 65535. ? q : 65535.);
  }
};

template <class K>
static PetscErrorCode BornQuantiseOf(const BornGrid *g, double unit, const void *V, uint16_t *to)
{
  const BornQuantising<K> f = {unit, BornFromFirst<K>(g, V), BornFromFirst<uint16_t>(g, to)};

  PetscFunctionBegin;
  PetscCall(BornEach(g, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornQuantise(const BornGrid *g, BornNumber real, double unit, const void *V, uint16_t *to)
{
  PetscFunctionBegin;
  BORN_REAL_CALL(real, BornQuantiseOf, g, unit, V, to);
  PetscFunctionReturn(PETSC_SUCCESS);
}
