/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Kernels that read the rows of a matrix for PCGRIDMG: faces, row sums and counts in one pass. Each thread has a row,
   whose entries pass through shared memory. Entries outside of faces are counted per tile of rows. A second kernel
   reads the tiles with such entries again.
*/

#include "setup.cuh"

#define READ_CHUNK 2048 /* entries */

enum {
  READ_FACES,     /* entries of faces */
  READ_POSITIVE,  /* positive entries of faces */
  READ_ODD,       /* entries between cells that are not neighbours */
  READ_OUTSIDE,   /* READ_ODD entries outside of the box of 3^3 cells */
  READ_OTHER,     /* all entries outside of faces, including entries of wells */
  READ_OTHERPOS,  /* positive READ_OTHER entries */
  READ_DIAGONALS, /* nonzero diagonal entries */
  READ_DIAGONALSPOS,
  READ_NEGATIVE,  /* rows with a negative sum of diagonal entries */
  READ_IMAGINARY, /* entries with an imaginary part */
  READ_ADDS,
  READ_MOST = READ_ADDS, /* the largest modulus of a diagonal */
  /* the first entries of some kinds */
  READ_FIRSTODD,
  READ_FIRSTOUTSIDE,
  READ_FIRSTIMAGINARY,
  READ_FIRSTBAD,
  READ_NOTES
};

struct ReadArguments {
  GridMGFaces         f; /* without arrays, entries are only counted */
  PetscInt            first;
  const PetscInt     *i, *j;
  const PetscScalar  *a;
  double              scale;
  unsigned long long *notes;
  int                *others; /* READ_OTHER entries per tile of SETUP_THREADS rows, or NULL */
};

static __device__ __forceinline__ double ReadReal(PetscScalar v)
{
#if defined(PETSC_USE_COMPLEX)
  return static_cast<double>(reinterpret_cast<const PetscReal *>(&v)[0]);
#else
  return static_cast<double>(v);
#endif
}

static __device__ __forceinline__ double ReadImaginary(PetscScalar v)
{
#if defined(PETSC_USE_COMPLEX)
  return static_cast<double>(reinterpret_cast<const PetscReal *>(&v)[1]);
#else
  (void)v;
  return 0;
#endif
}

/* The face of cell `at` towards the cell at a difference: d upwards, 3 + d downwards, or -1 */
static __device__ __forceinline__ int ReadFaceOf(const GridMGGrid &g, const PetscInt at[3], PetscInt difference)
{
  int face = -1;

#pragma unroll
  for (int d = 2; d >= 0; d--) {
    const PetscInt stride = GridMGStride(&g, d);

    if (g.n[d] < 2) continue;
    if (difference == stride && at[d] < g.n[d] - 1) face = d;
    if (difference == -stride && at[d] > 0) face = 3 + d;
  }
  return face;
}

static __device__ bool ReadIsInBox(const GridMGGrid &g, const PetscInt at[3], PetscInt other)
{
  PetscInt to[3];
  bool     in = true;

  SetupAt(g, other, to);
  for (int d = 0; d < 3; d++) in = in && to[d] - at[d] >= -1 && to[d] - at[d] <= 1;
  return in;
}

template <bool store>
static __global__ void __launch_bounds__(SETUP_THREADS) ReadKernel(const __grid_constant__ ReadArguments a)
{
  const GridMGGrid             &g = a.f.grid;
  __shared__ unsigned long long note[READ_NOTES];
  __shared__ PetscInt           column[READ_CHUNK];
  __shared__ double             value[READ_CHUNK];
  unsigned int                  count[READ_ADDS];
  /* complements of the positions of the first entries */
  unsigned long long most = 0, odd = 0, outside = 0, imaginary = 0, bad = 0;
  const PetscInt     step = static_cast<PetscInt>(gridDim.x) * SETUP_THREADS;

#pragma unroll
  for (int k = 0; k < READ_ADDS; k++) count[k] = 0;
  SetupBegin<READ_NOTES>(note);
  for (PetscInt tile = static_cast<PetscInt>(blockIdx.x) * SETUP_THREADS; tile < g.cells; tile += step) {
    const PetscInt rows = g.cells - tile < SETUP_THREADS ? g.cells - tile : SETUP_THREADS, c = tile + static_cast<PetscInt>(threadIdx.x), row = a.first + c;
    const bool     works = c < g.cells;
    const PetscInt from = a.i[a.first + tile], to = a.i[a.first + tile + rows], begin = works ? a.i[row] : to, end = works ? a.i[row + 1] : to;
    double         sum = 0, diagonal = 0, face[6] = {0, 0, 0, 0, 0, 0};
    unsigned int   others = count[READ_OTHER];
    PetscInt       at[3];

    SetupAt(g, works ? c : 0, at);
    for (PetscInt chunk = from; chunk < to; chunk += READ_CHUNK) {
      const int n = static_cast<int>(to - chunk < READ_CHUNK ? to - chunk : READ_CHUNK);

      __syncthreads();
#pragma unroll
      for (int u = 0; u < READ_CHUNK / SETUP_THREADS; u++) {
        const int k = static_cast<int>(threadIdx.x) + u * SETUP_THREADS;

        if (k >= n) continue;
        const PetscScalar v = a.a[chunk + k];

        column[k] = a.j[chunk + k];
        value[k]  = ReadReal(v);
        if (!isfinite(value[k])) bad = max(bad, ~static_cast<unsigned long long>(chunk + k));
        if (ReadImaginary(v) != 0) {
          count[READ_IMAGINARY]++;
          imaginary = max(imaginary, ~static_cast<unsigned long long>(chunk + k));
        }
      }
      __syncthreads();

      const int last = static_cast<int>(end < chunk + n ? end - chunk : n);

      for (int k = static_cast<int>(begin > chunk ? begin - chunk : 0); k < last; k++) {
        const double   v          = value[k];
        const PetscInt difference = column[k] - row;
        const bool     positive   = v > 0;

        sum += v;
        if (difference == 0) {
          diagonal += v;
          count[READ_DIAGONALS] += v != 0;
          count[READ_DIAGONALSPOS] += positive;
        } else if (v != 0) {
          const int which = ReadFaceOf(g, at, difference);

          if (which >= 0) {
            count[READ_FACES]++;
            count[READ_POSITIVE] += positive;
#pragma unroll
            for (int s = 0; s < 6; s++) face[s] -= which == s ? v : 0;
          } else {
            count[READ_OTHER]++;
            count[READ_OTHERPOS] += positive;
            if (column[k] >= a.first && column[k] < a.first + g.cells) {
              count[READ_ODD]++;
              odd = max(odd, ~static_cast<unsigned long long>(chunk + k));
              if (!ReadIsInBox(g, at, column[k] - a.first)) {
                count[READ_OUTSIDE]++;
                outside = max(outside, ~static_cast<unsigned long long>(chunk + k));
              }
            }
          }
        }
      }
    }
    most = max(most, SetupBits(fabs(diagonal)));
    count[READ_NEGATIVE] += diagonal < 0;
    if (a.others) {
      /* most tiles have no such entries, so one barrier suffices */
      others = count[READ_OTHER] - others;
      if (__syncthreads_or(others != 0)) {
        __shared__ int total;

        if (threadIdx.x == 0) total = 0;
        __syncthreads();
        if (others) atomicAdd(&total, static_cast<int>(others));
        __syncthreads();
        if (threadIdx.x == 0) a.others[tile / SETUP_THREADS] = total;
      } else if (threadIdx.x == 0) a.others[tile / SETUP_THREADS] = 0;
    }
    if (store && works) {
      a.f.sigma[c] = sum * a.scale;
#pragma unroll
      for (int d = 0; d < 3; d++) {
        if (!a.f.up[d]) continue;
        a.f.up[d][c] = face[d] * a.scale;
        if (at[d] > 0) a.f.down[d][c - GridMGStride(&g, d)] = face[3 + d] * a.scale;
        if (at[d] == g.n[d] - 1) a.f.down[d][c] = 0;
      }
    }
  }

#pragma unroll
  for (int k = 0; k < READ_ADDS; k++) SetupNoteSum(note, k, count[k]);
  SetupNoteMost(note, READ_MOST, most);
  SetupNoteMost(note, READ_FIRSTODD, odd);
  SetupNoteMost(note, READ_FIRSTOUTSIDE, outside);
  SetupNoteMost(note, READ_FIRSTIMAGINARY, imaginary);
  SetupNoteMost(note, READ_FIRSTBAD, bad);
  SetupEnd<READ_ADDS, READ_NOTES>(note, a.notes);
}
