/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Vectors of 4 or 8 columns in cycles with stencils.

   Column c of point i is at [i K + c]. A thread has a point and 16 or 32 bytes of its columns. Successive threads
   therefore read successive memory, and all threads of a point read its codes together.
*/

#include "stencilvalue.cuh"

#define COLUMNS_THREADS 256
#define COLUMNS_WARP    32
#define COLUMNS_POINTS  64 /* points per block in kernels that move vectors */
#define COLUMNS_SHARE   4  /* chunks per point, at least, for two chunks per thread */

/* 16 bytes of the columns of a point */
template <class T>
struct alignas(16) Chunk {
  static constexpr int columns = 16 / static_cast<int>(sizeof(Value<T>));

  Value<T> c[columns];
};

/* Chunks per thread, which share decoded values. Lanes(): threads per point, whose chunks alternate */
template <int K, class T>
static constexpr __host__ __device__ int Chunks()
{
  return K / Chunk<T>::columns >= COLUMNS_SHARE ? 2 : 1;
}

template <int K, class T>
static constexpr __host__ __device__ int Lanes()
{
  return K / (Chunk<T>::columns * Chunks<K, T>());
}

/* The columns of a thread */
template <int K, class T>
struct Lane {
  static constexpr int columns = Chunk<T>::columns * Chunks<K, T>();

  Value<T> c[columns];
};

/* The column of the matrix with number k in lane g */
template <int K, class T>
static __device__ __forceinline__ int ColumnOf(int g, int k)
{
  return (g + k / Chunk<T>::columns * Lanes<K, T>()) * Chunk<T>::columns + k % Chunk<T>::columns;
}

/* The point and the lane of a thread */
template <int K, class T>
struct Item {
  int i, g;

  __device__ __forceinline__ Item()
  {
    const unsigned int k = blockIdx.x * COLUMNS_THREADS + threadIdx.x;

    i = static_cast<int>(k / Lanes<K, T>());
    g = static_cast<int>(k % Lanes<K, T>());
  }
};

/* The first chunk of a thread */
template <int K, class T>
static __device__ __forceinline__ size_t At(int i, int g)
{
  return static_cast<size_t>(i) * (Lanes<K, T>() * Chunks<K, T>()) + static_cast<size_t>(g);
}

template <int K, class T>
static __device__ __forceinline__ Lane<K, T> Read(const Chunk<T> *x)
{
  Lane<K, T> v;

#pragma unroll
  for (int q = 0; q < Chunks<K, T>(); q++) {
    const Chunk<T> from = x[q * Lanes<K, T>()];

#pragma unroll
    for (int c = 0; c < Chunk<T>::columns; c++) v.c[q * Chunk<T>::columns + c] = from.c[c];
  }
  return v;
}

template <int K, class T>
static __device__ __forceinline__ void Write(Chunk<T> *x, const Lane<K, T> &v)
{
#pragma unroll
  for (int q = 0; q < Chunks<K, T>(); q++) {
    Chunk<T> to;

#pragma unroll
    for (int c = 0; c < Chunk<T>::columns; c++) to.c[c] = v.c[q * Chunk<T>::columns + c];
    x[q * Lanes<K, T>()] = to;
  }
}

template <int K, class T>
static inline unsigned int BlocksFor(int points)
{
  return static_cast<unsigned int>((static_cast<PetscInt64>(points) * Lanes<K, T>() + COLUMNS_THREADS - 1) / COLUMNS_THREADS);
}

/*
   The point and the lane of a thread in kernels that read neighbours. In space, a block has a box of points. With lines
   of points, each block would load nine lines of neighbours for itself
*/
template <int dim, int K, class T>
struct Site {
  static constexpr int points = COLUMNS_THREADS / Lanes<K, T>(), nx = dim < 3 ? points : (points < 256 ? 8 : 16), ny = dim < 3 ? 1 : (points < 64 ? 2 : 4),
                       nz = points / (nx * ny);
  int  x, y, z, i, g;
  bool inside;

  __device__ __forceinline__ Site(const int n[3])
  {
    const int p = static_cast<int>(threadIdx.x) / Lanes<K, T>();

    g = static_cast<int>(threadIdx.x) % Lanes<K, T>();
    if constexpr (dim == 3) {
      x      = static_cast<int>(blockIdx.x) * nx + p % nx;
      y      = static_cast<int>(blockIdx.y) * ny + p / nx % ny;
      z      = static_cast<int>(blockIdx.z) * nz + p / (nx * ny);
      inside = x < n[0] && y < n[1] && z < n[2];
      i      = x + n[0] * (y + n[1] * z);
    } else {
      i      = static_cast<int>(blockIdx.x) * points + p;
      x      = i % n[0];
      y      = i / n[0] % n[1];
      z      = i / n[0] / n[1];
      inside = i < n[0] * n[1] * n[2];
    }
  }

  static dim3 Blocks(const int n[3])
  {
    if (dim == 3) return dim3((n[0] + nx - 1) / nx, (n[1] + ny - 1) / ny, (n[2] + nz - 1) / nz);
    return dim3((n[0] * n[1] * n[2] + points - 1) / points);
  }
};
