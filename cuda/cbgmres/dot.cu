/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: inner products of all columns with w and with the newest column, in one sweep.

   Each block of threads has a range of rows, and goes through the range by tiles. In a tile, a thread keeps its numbers
   of w and of the newest column in registers, decoded. All columns pass by, a few at a time. Sums over a warp are
   gathered in shared memory over all tiles. Each block writes its sums once, and another kernel (basis.cu) adds the
   sums of all blocks. The order of additions depends on sizes only.
*/

#include "basis.cuh"
#include <cuda_pipeline_primitives.h>

#define CB_DOT_THREADS 128
#define CB_DOT_WARPS   (CB_DOT_THREADS / 32)
#define CB_DOT_BATCH   128 /* columns per launch */
#define CB_DOT_STAGES  3   /* groups of columns in shared memory, including the group in use */

struct CBDotArguments {
  CBColumns        V;
  size_t           share;          /* chunks per block of threads, a multiple of 32 */
  size_t           vblock, eblock; /* bytes of 32 numbers, and of the exponent */
  PetscInt         k, from, to;    /* columns from ... to-1 of k pass by */
  bool             aligned;
  const PetscReal *w;
  PetscReal       *partial; /* [sums][blocks] */
};

/* Chunks of a tile per thread, and columns that pass by at a time */
template <class F>
struct CBDotShape {
  static constexpr int chunks  = F::width == 8 ? 2 : 4;
  static constexpr int columns = F::width == 8 ? 2 : 1;
};
template <>
struct CBDotShape<CBFrszAny> {
  static constexpr int chunks = 1, columns = 1;
};

/*
   The chunks of a thread in the next columns. Chunks of 16 bytes are copied to shared memory during the work on earlier
   columns; each thread copies its own chunks. Other chunks are read when needed. Exponents are read one group of
   columns ahead, into registers. Asynchronous copies of single bytes do not exist, and copies of 4 bytes, the same for
   8 threads, are slow.
*/
template <class F>
struct CBDotQueue {
  static constexpr int  chunks = CBDotShape<F>::chunks, columns = CBDotShape<F>::columns;
  static constexpr bool copied = F::words == 4;
  static constexpr int  stages = copied ? CB_DOT_STAGES : 1;

  struct Memory {
    uint4 value[stages][columns][chunks][copied ? CB_DOT_THREADS : 1];
  };

  const CBColumns &V;
  const char      *v, *e; /* of the first column */
  int              count;
  const unsigned  *chunk;
  Memory          *memory;
  uint32_t         code[columns][chunks], nextcode[columns][chunks];

  __device__ __forceinline__ size_t Column(int column) const
  {
    /* After the last column, the last column is read again and its sums are dropped. Without columns to pass by, the
       newest column exists */
    return static_cast<size_t>(column < count ? column : (count ? count - 1 : 0));
  }

  /* Starts the copies of a group of columns, beginning with `column` */
  __device__ __forceinline__ void Ask(int column, int stage)
  {
    if constexpr (copied) {
      if (column < count) {
#pragma unroll
        for (int c = 0; c < columns; c++) {
          const size_t i = Column(column + c);

#pragma unroll
          for (int r = 0; r < chunks; r++)
            __pipeline_memcpy_async(&memory->value[stage][c][r][threadIdx.x], v + i * V.vbytes + 16 * static_cast<size_t>(chunk[r]), 16);
        }
      }
      /* empty groups are counted, too */
      __pipeline_commit();
    }
  }

  /* Makes the next exponents the current exponents, and reads the exponents of a group of columns, beginning with
     `column` */
  __device__ __forceinline__ void AskCodes(int column)
  {
    if constexpr (copied) {
#pragma unroll
      for (int c = 0; c < columns; c++) {
        const size_t i = Column(column + c);

#pragma unroll
        for (int r = 0; r < chunks; r++) {
          code[c][r]     = nextcode[c][r];
          nextcode[c][r] = F::Code(e + i * V.ebytes, chunk[r]);
        }
      }
    }
  }

  /* Waits until at most stages - 2 groups of copies are in flight */
  __device__ __forceinline__ void Wait() const
  {
    if constexpr (copied) __pipeline_wait_prior(stages - 2);
  }

  __device__ __forceinline__ typename F::Raw Take(int column, int stage, int c, int r) const
  {
    if constexpr (copied) {
      return F::Unpack(memory->value[stage][c][r][threadIdx.x], code[c][r]);
    } else {
      const size_t i = Column(column + c);

      return F::Load(V, v + i * V.vbytes, e + i * V.ebytes, chunk[r]);
    }
  }
};

/* s = s + scale q^H x, in real numbers */
template <int width>
static __device__ __forceinline__ void CBAddProduct(const double q[], double scale, const double x[], double s[])
{
  double re = 0;

#pragma unroll
  for (int i = 0; i < width; i++) re += q[i] * x[i];
  s[0] += re * scale;
#if CB_COMPONENTS == 2
  double im = 0;

  #pragma unroll
  for (int i = 0; i < width; i += 2) {
    im += q[i] * x[i + 1];
    im -= q[i + 1] * x[i];
  }
  s[1] += im * scale;
#endif
}

template <int width>
static __device__ __forceinline__ double CBSquare(const double x[])
{
  double s = 0;

#pragma unroll
  for (int i = 0; i < width; i++) s += x[i] * x[i];
  return s;
}

/* gram: products with the newest column, too. The newest column is column k - 1, and columns that pass by are earlier
   columns */
template <class F, bool gram>
static __global__ void __launch_bounds__(CB_DOT_THREADS, CB_DOT_BLOCKS) CBDotKernel(const __grid_constant__ CBDotArguments a)
{
  constexpr int chunks = CBDotShape<F>::chunks, columns = CBDotShape<F>::columns, width = F::width, m = CB_COMPONENTS;
  /* sums per column; sums at a time; lanes per sum */
  constexpr int each = gram ? 2 * m : m, together = each * columns, holders = 32 / together;
  constexpr int nown = 4;

  using Queue = CBDotQueue<F>;

  __shared__ typename Queue::Memory memory;
  __shared__ double                 sum[CB_DOT_WARPS][CB_DOT_BATCH * each], ownsum[CB_DOT_WARPS][nown];
  const CBColumns                  &V    = a.V;
  const int                         lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int                         count = static_cast<int>(a.to - a.from);
  const size_t                      all = CBChunks<F>(V), first = blockIdx.x * a.share, numbers = first * width, blocks = numbers / LITHE_FRSZ2_BLOCK;
  /* chunks of this block */
  const unsigned mine = static_cast<unsigned>(first >= all ? 0 : (all - first < a.share ? all - first : a.share));
  /* columns and w from the first row of this block on */
  const char      *values = PDLWait(V.values) + blocks * a.vblock, *exponents = PDLWait(V.exponents) + blocks * a.eblock;
  const char      *v = values + static_cast<size_t>(a.from) * V.vbytes, *e = exponents + static_cast<size_t>(a.from) * V.ebytes;
  const char      *vnew = values + static_cast<size_t>(a.k - 1) * V.vbytes, *enew = exponents + static_cast<size_t>(a.k - 1) * V.ebytes;
  const PetscReal *wmine     = PDLWait(a.w) + numbers; /* separate pointers, so no load moves before its PDLWait() */
  double           own[nown] = {0, 0, 0, 0};           /* w^H w, z^H z, z^H w, where z is the newest column */

  for (int i = lane; i < CB_DOT_BATCH * each; i += 32) sum[warp][i] = 0;
  __syncwarp();

  for (unsigned tile = 0; tile + 32 * warp < mine; tile += chunks * CB_DOT_THREADS) {
    unsigned chunk[chunks];
    double   w[chunks][width], z[gram ? chunks : 1][width];

#pragma unroll
    for (int r = 0; r < chunks; r++) {
      const unsigned here  = tile + r * CB_DOT_THREADS + threadIdx.x;
      const bool     there = here < mine;

      /* a thread without a chunk reads a chunk of the first 32 numbers; its w and z are zero */
      chunk[r] = there ? here : threadIdx.x % (LITHE_FRSZ2_BLOCK / width);
      CBReadVector<width>(wmine, a.aligned, static_cast<size_t>(here) * width, there ? V.n - numbers : 0, w[r]);
      own[0] += CBSquare<width>(w[r]);
      if (gram) {
        const typename F::Raw raw   = F::Load(V, vnew, enew, chunk[r]);
        const double          scale = F::Scale(V, raw);

        F::Decode(V, raw, z[r]);
#pragma unroll
        for (int i = 0; i < width; i++) z[r][i] = there ? z[r][i] * scale : 0;
        own[1] += CBSquare<width>(z[r]);
        CBAddProduct<width>(z[r], 1, w[r], own + 2);
      }
    }

    Queue queue = {V, v, e, count, chunk, &memory, {}, {}};
    int   stage = 0;

    queue.AskCodes(0);
#pragma unroll
    for (int q = 0; q < Queue::stages - 1; q++) queue.Ask(q * columns, q);
#pragma unroll 1
    for (int column = 0; column < count; column += columns, stage = stage + 1 < Queue::stages ? stage + 1 : 0) {
      double s[together];

      /* the new copies overwrite the group of the previous turn */
      queue.AskCodes(column + columns);
      queue.Wait();
      queue.Ask(column + (Queue::stages - 1) * columns, stage ? stage - 1 : Queue::stages - 1);
#pragma unroll
      for (int i = 0; i < together; i++) s[i] = 0;
#pragma unroll
      for (int c = 0; c < columns; c++) {
#pragma unroll
        for (int r = 0; r < chunks; r++) {
          const typename F::Raw raw   = queue.Take(column, stage, c, r);
          const double          scale = F::Scale(V, raw);
          double                q[width];

          F::Decode(V, raw, q);
          if (gram) CBAddProduct<width>(q, scale, z[r], s + each * c);
          CBAddProduct<width>(q, scale, w[r], s + each * c + each - m);
        }
      }
      CBWarpSums<together>(s);
      if (lane % holders == 0 && each * column + lane / holders < each * count) sum[warp][each * column + lane / holders] += s[0];
    }
  }
  CBWarpSums<nown>(own);
  if (lane % (32 / nown) == 0) ownsum[warp][lane / (32 / nown)] = own[0];
  __syncthreads();

  /* Sum number s of this block */
  auto put = [&](PetscInt s, double value) { a.partial[static_cast<size_t>(s) * gridDim.x + blockIdx.x] = static_cast<PetscReal>(value); };

  for (int i = threadIdx.x; i < each * count; i += CB_DOT_THREADS) {
    const PetscInt column = a.from + i / each, part = i % each;
    double         total = 0;

    for (int q = 0; q < CB_DOT_WARPS; q++) total += sum[q][i];
    put(gram && part < m ? m * column + part : m * (a.k + column) + part - (each - m), total);
  }
  if (a.from == 0 && threadIdx.x < nown) {
    double total = 0;

    for (int q = 0; q < CB_DOT_WARPS; q++) total += ownsum[q][threadIdx.x];
    if (threadIdx.x == 0) put(2 * m * a.k, total);
    else if (gram && threadIdx.x == 1) put(m * (a.k - 1), total);
    else if (gram && static_cast<int>(threadIdx.x) - 2 < m) put(m * (2 * a.k - 1) + static_cast<int>(threadIdx.x) - 2, total);
  }
}

template <class F>
static void CBLaunchDot(cudaStream_t stream, const CBDevice *d, PetscBool gram, bool pdl, CBDotArguments a)
{
  const int      nblocks = CBDotBlocks(d);
  const PetscInt passing = gram ? a.k - 1 : a.k;

  a.share = (CBChunks<F>(a.V) / static_cast<size_t>(nblocks) / 32 + 1) * 32;
  for (a.from = 0; a.from == 0 || a.from < passing; a.from += CB_DOT_BATCH) {
    a.to = PetscMin(a.from + CB_DOT_BATCH, passing);
    (void)PDLLaunch(gram ? CBDotKernel<F, true> : CBDotKernel<F, false>, pdl, dim3(static_cast<unsigned int>(nblocks)), dim3(CB_DOT_THREADS), 0, stream, a);
  }
}

PetscErrorCode LitheCUDACBDot(const CBDevice *d, PetscInt k, PetscBool gram, const PetscReal *dw)
{
  CBDotArguments a;
  cudaStream_t   stream;
  bool           pdl;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheCUDAHasPDL(&pdl));
  a.V       = CBGetColumns(d);
  a.vblock  = 4 * static_cast<size_t>(d->storage.bits);
  a.eblock  = d->storage.kind == LITHE_STORAGE_FRSZ2 ? d->storage.frsz2.exponentbits / 8 : 0;
  a.k       = k;
  a.aligned = CBIsAligned(dw);
  a.w       = dw;
  a.partial = d->partial;
  PetscCall(CBDispatch<true>(d, [&](auto format) { CBLaunchDot<decltype(format)>(stream, d, gram, pdl, a); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
