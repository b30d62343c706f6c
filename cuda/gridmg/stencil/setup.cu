/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Set-up of PCGRIDMG with de Zeeuw's interpolation on a device: the stencils of a matrix, weights and Galerkin
   products. The formulas are in src/pc/gridmg/stencil/weights.c and product.c. Sums have the same order as on the
   host, and each product and each sum is rounded. Results therefore equal the host's results to the last bit.
*/

#include "stencilsetup.cuh"

#define GRIDMG_COMPLETE 1e-12 /* weights with sum 1 up to rounding */
#define GRIDMG_ROWS     64    /* rows per block in the kernel that reads a matrix */

using V = GridMGExact;

/* ------------------------------------------------------------ reading */

/* The number of a column's neighbour in a row, or -1 */
template <int dim>
static __device__ __forceinline__ int NeighbourOf(const GridMGDims &g, const int at[3], PetscInt column)
{
  const int to[3] = {static_cast<int>(column % g.n[0]), static_cast<int>(column / g.n[0] % g.n[1]), static_cast<int>(column / g.n[0] / g.n[1])};
  int       s     = GridMGStencilBox<dim>::centre;

#pragma unroll
  for (int d = 0; d < 3; d++) {
    const int away = to[d] - at[d];

    if (away < -1 || away > 1) return -1;
    if (d < dim) s += away * GridMGStep(d);
  }
  return s;
}

/* The same number without divisions, if each direction has at least four points */
template <int dim>
static __device__ __forceinline__ int NeighbourNear(const GridMGDims &g, const int at[3], int difference)
{
  const int stride[3] = {1, g.n[0], g.n[0] * g.n[1]};
  int       s         = GridMGStencilBox<dim>::centre;

#pragma unroll
  for (int d = dim - 1; d > 0; d--) {
    const int half = stride[d] / 2, away = (difference > half) - (difference < -half);

    difference -= away * stride[d];
    if (at[d] + away < 0 || at[d] + away >= g.n[d]) return -1;
    s += away * GridMGStep(d);
  }
  if (difference < -1 || difference > 1 || at[0] + difference < 0 || at[0] + difference >= g.n[0]) return -1;
  return s + difference;
}

/* The row sum of the stencil entry(s), which becomes 0 if at most `rounding` times the sum of moduli; most: the largest
   part */
template <int dim, class Entry>
static __device__ __forceinline__ V SumOf(Entry entry, double rounding, double *most, bool *imaginary)
{
  double all = 0;
  V      sum{};

#pragma unroll
  for (int s = 0; s < GridMGStencilBox<dim>::points; s++) {
    const V value = entry(s);

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) {
      const double v = value.p[p];

      sum.p[p] += v;
      all += fabs(v);
      *most = *most < fabs(v) ? fabs(v) : *most;
      if (p) *imaginary = *imaginary || v != 0;
    }
  }
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) {
    if (fabs(sum.p[p]) <= __dmul_rn(rounding, all)) sum.p[p] = 0;
  }
  return sum;
}

/* Whether a row sum has the other sign than the diagonal entry */
static __device__ __forceinline__ bool IsNegative(const V &sum, const V &centre)
{
  return (sum.p[0] < 0 && centre.p[0] > 0) || (sum.p[0] > 0 && centre.p[0] < 0);
}

/* Maximum and minimum of the rows of a warp, as integers: nonnegative numbers have the order of their bits */
static __device__ __forceinline__ void Report(double most, bool imaginary, bool negative, GridMGRead *found)
{
  unsigned long long largest = static_cast<unsigned long long>(__double_as_longlong(most)), least = most > 0 ? largest : ~0ull;

#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    least   = min(least, __shfl_xor_sync(0xffffffffu, least, offset));
  }
  imaginary = __any_sync(0xffffffffu, imaginary);
  negative  = __any_sync(0xffffffffu, negative);
  if (threadIdx.x % 32 == 0) {
    atomicMax(reinterpret_cast<unsigned long long *>(&found->most), largest);
    atomicMin(reinterpret_cast<unsigned long long *>(&found->least), least);
    if (imaginary) found->imaginary = 1;
    if (negative) found->negative = 1;
  }
}

/* A block has GRIDMG_ROWS rows, whose entries are contiguous in memory. Shared memory sorts the entries by
   neighbours */
template <int dim>
static __global__ void __launch_bounds__(256)
  ReadRows(GridMGDims g, const PetscInt *__restrict__ rows, const PetscInt *__restrict__ columns, const PetscReal *__restrict__ values, double rounding,
           V *__restrict__ a, V *__restrict__ sigma, GridMGRead *__restrict__ found)
{
  using Box = GridMGStencilBox<dim>;
  __shared__ V        tile[Box::points][GRIDMG_ROWS + 1];
  __shared__ PetscInt begin[GRIDMG_ROWS + 1];
  const int           first = static_cast<int>(blockIdx.x) * GRIDMG_ROWS, count = min(GRIDMG_ROWS, g.cells - first), thread = static_cast<int>(threadIdx.x);
  const bool          near_ = g.n[0] > 3 && (dim < 2 || g.n[1] > 3) && (dim < 3 || g.n[2] > 3);

  for (int k = thread; k < Box::points * (GRIDMG_ROWS + 1); k += 256) (&tile[0][0])[k] = V{};
  for (int r = thread; r <= count; r += 256) begin[r] = rows[first + r];
  __syncthreads();
  for (PetscInt e = begin[0] + thread; e < begin[count]; e += 256) {
    int low = 0, high = count;
    V   v;

    while (high - low > 1) {
      const int middle = (low + high) / 2;

      if (begin[middle] <= e) low = middle;
      else high = middle;
    }
#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] = static_cast<double>(values[e * GRIDMG_PARTS + p]);
    if (GridMGIsZero(v)) continue;
    {
      const int      row = first + low, at[3] = {row % g.n[0], row / g.n[0] % g.n[1], row / g.n[0] / g.n[1]};
      const PetscInt column = columns[e];
      const int      s      = near_ ? NeighbourNear<dim>(g, at, static_cast<int>(column) - row) : NeighbourOf<dim>(g, at, column);

      if (s < 0 || column < 0 || column >= g.cells) atomicMin(&found->outside, row);
      else tile[s][low] = v;
#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) {
        if (!isfinite(v.p[p])) atomicMin(&found->nonumber, row);
      }
    }
  }
  __syncthreads();
  for (int k = thread; k < Box::points * GRIDMG_ROWS; k += 256) {
    const int s = k / GRIDMG_ROWS, r = k % GRIDMG_ROWS;

    if (r < count) a[static_cast<size_t>(s) * static_cast<size_t>(g.cells) + static_cast<size_t>(first + r)] = tile[s][r];
  }
  if (thread < GRIDMG_ROWS) {
    double most      = 0;
    bool   imaginary = false, negative = false;

    if (thread < count) {
      const V sum = SumOf<dim>([&](int s) { return tile[s][thread]; }, rounding, &most, &imaginary);

      sigma[first + thread] = sum;
      negative              = IsNegative(sum, tile[Box::centre][thread]);
    }
    Report(most, imaginary, negative, found);
  }
}

/* Row sums of a level whose entries are in place */
template <int dim>
static __global__ void __launch_bounds__(256)
  SumRows(GridMGDims g, const V *__restrict__ a, double rounding, V *__restrict__ sigma, GridMGRead *__restrict__ found)
{
  const int i         = static_cast<int>(blockIdx.x * 256 + threadIdx.x);
  double    most      = 0;
  bool      imaginary = false, negative = false;

  if (i < g.cells) {
    const V sum = SumOf<dim>([&](int s) { return a[GridMGIndex(g, s, i)]; }, rounding, &most, &imaginary);

    sigma[i] = sum;
    negative = IsNegative(sum, a[GridMGIndex(g, GridMGStencilBox<dim>::centre, i)]);
  }
  Report(most, imaginary, negative, found);
}

template <int dim>
static __global__ void __launch_bounds__(GRIDMG_LINE)
  ScaleEntries(GridMGDims g, V *__restrict__ a, const PetscScalar *__restrict__ left, const PetscScalar *__restrict__ right)
{
  using Box = GridMGStencilBox<dim>;
  const GridMGPlace at(g, 1);

  if (at.x >= g.n[0]) return;
  const double own = left ? static_cast<double>(PetscRealPart(left[at.i])) : 1;

  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;

    if (!GridMGIsThere<Q>(g, at.x, at.y, at.z)) return;
    const double factor = own * (right ? static_cast<double>(PetscRealPart(right[at.i + GridMGDistance<Q>(g)])) : 1);

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) a[GridMGIndex(g, S, at.i)].p[p] *= factor;
  });
}

/* Whether an entry and its transposed entry differ by more than `same` times the larger entry */
template <int dim>
static __global__ void __launch_bounds__(GRIDMG_LINE) FindAsymmetry(GridMGDims g, const V *__restrict__ a, double same, int *__restrict__ asymmetric)
{
  using Box = GridMGStencilBox<dim>;
  const GridMGPlace at(g, 1);
  bool              found = false;

  if (at.x >= g.n[0]) return;
  GridMGUnroll<Box::centre + 1, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;

    if (!GridMGIsThere<Q>(g, at.x, at.y, at.z)) return;
    const V one = a[GridMGIndex(g, S, at.i)], other = a[GridMGIndex(g, Box::points - 1 - S, at.i + GridMGDistance<Q>(g))];
    double  off = 0, size = 0;

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) {
      off  = GridMGLarger(off, fabs(one.p[p] - other.p[p]));
      size = GridMGLarger(size, GridMGLarger(fabs(one.p[p]), fabs(other.p[p])));
    }
    found = found || off > __dmul_rn(same, size);
  });
  if (found) *asymmetric = 1;
}

/* ------------------------------------------------------------ weights */

template <int dim, int odd>
static __device__ __forceinline__ void LineWeights(const GridMGDims &g, const V *a, double factor, int i, int last, double *weight)
{
  using Box             = GridMGStencilBox<dim>;
  constexpr int d       = odd / 2; /* bit d of odd is set */
  double        side[2] = {0, 0};

  GridMGUnroll<0, 2>([&](auto h) {
    constexpr int high = decltype(h)::value;
    V             sum{};

    GridMGUnroll<0, Box::points>([&](auto s) {
      constexpr int S = decltype(s)::value, Q = S + Box::shift;

      if constexpr (GridMGOff(Q, d) == 2 * high - 1) {
        const V v = GridMGLoad(g, a, factor, S, i);

        GridMGAdd(sum, v);
        if constexpr ((GridMGAway(Q) & ~(1 << d)) != 0) side[high] = GridMGLarger(side[high], GridMGModulusOf(v));
      }
    });
    side[high] = GridMGLarger(side[high], GridMGModulusOf(sum));
  });
#pragma unroll
  for (int c = 0; c < Box::corners; c++) {
    double w = 0;

    if (side[0] + side[1] > 0) {
      if (c == last) w = side[0] / (side[0] + side[1]);
      if (c == (last | 1 << d)) w = side[1] / (side[0] + side[1]);
    }
    weight[GridMGIndex(g, c, i)] = w;
  }
}

template <int dim, int odd>
static __device__ __forceinline__ void AverageWeights(const GridMGDims &g, const V *a, double factor, const GridMGPlace &at, int i, int x, int last,
                                                      double *weights)
{
  using Box = GridMGStencilBox<dim>;
  V      along[Box::points];
  double weight[Box::corners], all = 0;

#pragma unroll
  for (int s = 0; s < Box::points; s++) along[s] = V{};
#pragma unroll
  for (int c = 0; c < Box::corners; c++) weight[c] = 0;
  /* sums over the even direction */
  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;
    constexpr int to = S - (odd & 1 ? 0 : GridMGOff(Q, 0)) - (odd & 2 ? 0 : 3 * GridMGOff(Q, 1)) - (odd & 4 ? 0 : 9 * GridMGOff(Q, 2));

    if constexpr (to != Box::centre) GridMGAdd(along[to], GridMGLoad(g, a, factor, S, i));
  });
  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;

    if constexpr (S != Box::centre && (GridMGAway(Q) & ~odd) == 0) {
      constexpr int own = GridMGHigher(Q), between = odd & ~GridMGAway(Q);
      const double  modulus = GridMGModulusOf(along[S]);

      if (modulus == 0 || !GridMGIsThere<Q>(g, x, at.y, at.z)) return;
      all += modulus;
#pragma unroll
      for (int c = 0; c < Box::corners; c++) {
        if ((c & (between | last)) == c)
          weight[own | c] = GRIDMG_PLUS(weight[own | c], GRIDMG_TIMES(modulus, weights[GridMGIndex(g, c, i + GridMGDistance<Q>(g))]));
      }
    }
  });
#pragma unroll
  for (int c = 0; c < Box::corners; c++) weights[GridMGIndex(g, c, i)] = all > 0 ? weight[c] / all : weight[c];
}

/* The weights of points with `stage` odd coordinates; stage 1 includes points without odd coordinates */
template <int dim, int stage>
static __global__ void __launch_bounds__(GRIDMG_LINE) Weights(GridMGDims g, const V *__restrict__ a, double factor, double *weights)
{
  using Box = GridMGStencilBox<dim>;
  const GridMGPlace at(g, 2);
  const int         oddyz  = (at.y < g.n[1] - 1 ? (at.y & 1) << 1 : 0) | (at.z < g.n[2] - 1 ? (at.z & 1) << 2 : 0);
  const int         lastyz = ((at.y & 1) << 1 | (at.z & 1) << 2) & ~oddyz;

  for (int k = 0; k < 2; k++) {
    const int x = at.x + k, i = at.i + k, odd = oddyz | (k && x < g.n[0] - 1), last = lastyz | (k && x == g.n[0] - 1);

    if (x >= g.n[0]) return;
    GridMGUnroll<0, Box::corners>([&](auto o) {
      constexpr int ODD = decltype(o)::value, bits = GridMGBits(ODD);

      if constexpr (bits == stage || (bits == 0 && stage == 1)) {
        if (odd != ODD) return;
        if constexpr (bits == 0) {
#pragma unroll
          for (int c = 0; c < Box::corners; c++) weights[GridMGIndex(g, c, i)] = c == last;
        } else if constexpr (bits == 1) LineWeights<dim, ODD>(g, a, factor, i, last, weights);
        else AverageWeights<dim, ODD>(g, a, factor, at, i, x, last, weights);
      }
    });
  }
}

/* ------------------------------------------------------------ products */

/* Whether entry q of a row times P may be nonzero. An odd coordinate lies between two coarse points, and reaches only
   these two points */
static constexpr __host__ __device__ bool HasEntry(int parity, int q)
{
  return (GridMGLower(q) & parity) == 0;
}

/* Half the coordinates of neighbour q minus half the coordinates of the point, rounded down, as a difference of entry
   numbers */
static constexpr __host__ __device__ int Halved(int parity, int q)
{
  int t = 0;

  for (int d = 0; d < 3; d++) {
    const int p = parity >> d & 1, off = GridMGOff(q, d);

    t += GridMGStep(d) * (p ? off > 0 : -(off < 0));
  }
  return t;
}

static constexpr __host__ __device__ int CornerStep(int c)
{
  return (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2);
}

/* A row times P, for a point of the given parity. Entry s of the stencil is at [s pitch] */
template <int dim, int parity>
static __device__ __forceinline__ void TimesP(const GridMGDims &g, const V *stencil, int pitch, const V *sigma, double factor, const double *weights, int x,
                                              int y, int z, int i, V *product, size_t stride)
{
  using Box = GridMGStencilBox<dim>;
  V sum[Box::points], row = GridMGLoad(g, sigma, factor, 0, i);

#pragma unroll
  for (int t = 0; t < Box::points; t++) sum[t] = V{};
  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift, there = parity ^ GridMGAway(Q), to = Box::centre + Halved(parity, Q);
    const bool    is   = GridMGIsThere<Q>(g, x, y, z);
    const int     j    = is ? i + GridMGDistance<Q>(g) : i;
    V             v    = stencil[S * pitch];
    double        lack = -1;

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] *= factor;

    GridMGUnroll<0, Box::corners>([&](auto c) {
      constexpr int C = decltype(c)::value;

      if constexpr ((C & ~there) == 0) {
        const double w = weights[GridMGIndex(g, C, j)];

        lack += w;
        GridMGAddTimes(sum[to + CornerStep(C)], v, w);
      }
    });
    if (fabs(lack) > GRIDMG_COMPLETE && is) GridMGAddTimes(row, v, lack);
  });
  GridMGUnroll<0, Box::points>([&](auto t) {
    constexpr int T = decltype(t)::value;

    if constexpr (HasEntry(parity, T + Box::shift)) product[static_cast<size_t>(T) * stride] = sum[T];
  });
  product[static_cast<size_t>(Box::points) * stride] = row;
}

/* pairs per block. A warp has the even points, another warp the odd points; entries pass through shared memory */
#define TIMES_PAIRS 32

/* The place of the first odd point of a line in a product, after the even points */
static __device__ __forceinline__ int OddPlace(const GridMGDims &g)
{
  return (g.n[0] + 1) / 2;
}

/* Planes from `plane` on; product has [points + 1][stride] values */
template <int dim>
static __global__ void __launch_bounds__(2 * TIMES_PAIRS) TimesPlanes(GridMGDims g, int plane, const V *__restrict__ a, const V *__restrict__ sigma,
                                                                      double factor, const double *__restrict__ weights, V *__restrict__ product, size_t stride)
{
  using Box           = GridMGStencilBox<dim>;
  constexpr int pitch = 2 * TIMES_PAIRS + 2; /* even points first */
  __shared__ V  stencils[Box::points * pitch];
  const int     line = static_cast<int>(blockIdx.x) / g.blocks, x0 = 2 * TIMES_PAIRS * (static_cast<int>(blockIdx.x) % g.blocks);
  const int     y = line % g.n[1], z = line / g.n[1] + plane, first = x0 + g.n[0] * line, start = plane * g.n[0] * g.n[1];
  const int     thread = static_cast<int>(threadIdx.x), odd = thread / TIMES_PAIRS, k = 2 * (thread % TIMES_PAIRS) + odd;

  if (x0 + thread < g.n[0]) {
#pragma unroll
    for (int s = 0; s < Box::points; s++) stencils[s * pitch + thread / 2 + thread % 2 * (TIMES_PAIRS + 1)] = a[GridMGIndex(g, s, start + first + thread)];
  }
  __syncthreads();
  if (x0 + k >= g.n[0]) return;
  GridMGUnroll<0, Box::corners / 2>([&](auto o) {
    constexpr int yz      = 2 * decltype(o)::value;
    const V      *stencil = stencils + k / 2 + odd * (TIMES_PAIRS + 1);

    V *to = product + g.n[0] * line + (x0 + k) / 2;

    if (((y & 1) << 1 | (z & 1) << 2) != yz) return;
    if (odd) TimesP<dim, yz | 1>(g, stencil, pitch, sigma, factor, weights, x0 + k, y, z, start + first + k, to + OddPlace(g), stride);
    else TimesP<dim, yz>(g, stencil, pitch, sigma, factor, weights, x0 + k, y, z, start + first + k, to, stride);
  });
}

/* P^T times the product: the entries of a coarse point with neighbours in one plane. c: the coarse grid, plane: the
   first plane of its part, fineplane: the first plane of product */
template <int dim, int group>
static __device__ __forceinline__ void GatherGroup(const GridMGDims &f, const GridMGDims &c, int plane, int fineplane, const double *weights, const V *product,
                                                   size_t stride, V *a, V *sigma)
{
  using Box               = GridMGStencilBox<dim>;
  constexpr int     count = Box::points < 9 ? Box::points : 9, first = 9 * group;
  constexpr bool    has = dim < 3 || group == 1; /* whether the group has the row sums */
  const GridMGPlace at(c, 1);
  const int         x = 2 * at.x, y = 2 * at.y, z = 2 * (at.z + plane), i = x + f.n[0] * (y + f.n[1] * z), start = fineplane * f.n[0] * f.n[1];
  const int         coarse = at.i + plane * c.n[0] * c.n[1];
  V                 sum[count], row{};

  if (at.x >= c.n[0]) return;
#pragma unroll
  for (int t = 0; t < count; t++) sum[t] = V{};
  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift, C = GridMGLower(Q), parity = GridMGAway(Q);
    /* planes within reach */
    constexpr int z0 = GridMGOff(Q, 2) < 0 ? -1 : (GridMGOff(Q, 2) > 0 ? 0 : -1), z1 = GridMGOff(Q, 2) < 0 ? 0 : 1;

    if constexpr (dim < 3 || (group - 1 >= z0 && group - 1 <= z1)) {
      const int fx = x + GridMGOff(Q, 0), fy = y + GridMGOff(Q, 1), fz = z + GridMGOff(Q, 2), j = i + GridMGDistance<Q>(f);

      if (fx < 0 || fx >= f.n[0] || fy < 0 || fy >= f.n[1] || fz < 0 || fz >= f.n[2]) return;
      const double w    = weights[GridMGIndex(f, C, j)];
      const V     *from = product + (f.n[0] * (fy + f.n[1] * fz) - start + at.x + (GridMGOff(Q, 0) ? OddPlace(f) - (GridMGOff(Q, 0) < 0) : 0));

      if constexpr (has) GridMGAddTimes(row, from[static_cast<size_t>(Box::points) * stride], w);
      GridMGUnroll<0, Box::points>([&](auto t) {
        constexpr int T = decltype(t)::value, to = T - CornerStep(C) - first;

        if constexpr (HasEntry(parity, T + Box::shift) && to >= 0 && to < count) GridMGAddTimes(sum[to], from[static_cast<size_t>(T) * stride], w);
      });
    }
  });
#pragma unroll
  for (int t = 0; t < count; t++) a[GridMGIndex(c, t + first, coarse)] = sum[t];
  if constexpr (has) sigma[coarse] = row;
}

template <int dim>
static __global__ void __launch_bounds__(GRIDMG_LINE) Gather(GridMGDims f, GridMGDims c, int plane, int fineplane, const double *__restrict__ weights,
                                                             const V *__restrict__ product, size_t stride, V *__restrict__ a, V *__restrict__ sigma)
{
  if constexpr (dim == 3) {
    if (blockIdx.y == 0) GatherGroup<dim, 0>(f, c, plane, fineplane, weights, product, stride, a, sigma);
    else if (blockIdx.y == 1) GatherGroup<dim, 1>(f, c, plane, fineplane, weights, product, stride, a, sigma);
    else GatherGroup<dim, 2>(f, c, plane, fineplane, weights, product, stride, a, sigma);
  } else GatherGroup<dim, 0>(f, c, plane, fineplane, weights, product, stride, a, sigma);
}

/* ------------------------------------------------------------ launches */

/* m: NULL, or the entries are in place */
PetscErrorCode LitheCUDAGridMGStencilRead(const GridMGCSR *m, double rounding, double same, const GridMGStencils *f, GridMGRead *found)
{
  const GridMGPoints *g       = &f->grid;
  const int           threads = GridMGThreads(static_cast<int>(g->n[0]));
  const GridMGDims    dims    = GridMGDimsOf(g, threads);
  const unsigned int  blocks  = static_cast<unsigned int>((g->cells + (m ? GRIDMG_ROWS : 256) - 1) / (m ? GRIDMG_ROWS : 256));
  const GridMGRead    none    = {0, std::nan(""), PETSC_INT32_MAX, PETSC_INT32_MAX, 0, 0, 0};
  GridMGRead         *there;
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(GridMGGetScratch(stream, sizeof(*there), reinterpret_cast<void **>(&there)));
  PetscCallCUDA(cudaMemcpyAsync(there, &none, sizeof(none), cudaMemcpyHostToDevice, stream));
  GridMGWithDim(g->dim, [&](auto d) {
    constexpr int dim = decltype(d)::value;

    if (m)
      ReadRows<dim><<<blocks, 256, 0, stream>>>(dims, m->i, m->j, reinterpret_cast<const PetscReal *>(m->a), rounding, static_cast<V *>(f->a),
                                                static_cast<V *>(f->sigma), there);
    else SumRows<dim><<<blocks, 256, 0, stream>>>(dims, static_cast<const V *>(f->a), rounding, static_cast<V *>(f->sigma), there);
    if (same >= 0) FindAsymmetry<dim><<<GridMGBlocks(dims, dims.n[2]), threads, 0, stream>>>(dims, static_cast<const V *>(f->a), same, &there->asymmetric);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(found, there, sizeof(*found), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilScale(const GridMGStencils *f, const PetscScalar *left, const PetscScalar *right)
{
  const int        threads = GridMGThreads(static_cast<int>(f->grid.n[0]));
  const GridMGDims dims    = GridMGDimsOf(&f->grid, threads);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithDim(f->grid.dim, [&](auto d) {
    ScaleEntries<decltype(d)::value><<<GridMGBlocks(dims, dims.n[2]), threads, 0, stream>>>(dims, static_cast<V *>(f->a), left, right);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilWeights(const GridMGStencils *f)
{
  const GridMGPoints *g     = &f->grid;
  const int           pairs = static_cast<int>(g->n[0] + 1) / 2, threads = GridMGThreads(pairs);
  const GridMGDims    dims = GridMGPairsOf(g, threads);
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithDim(g->dim, [&](auto d) {
    constexpr int dim    = decltype(d)::value;
    const V      *a      = static_cast<const V *>(f->a);
    const dim3    blocks = GridMGBlocks(dims, dims.n[2]);

    Weights<dim, 1><<<blocks, threads, 0, stream>>>(dims, a, f->factor, f->weight);
    if constexpr (dim > 1) Weights<dim, 2><<<blocks, threads, 0, stream>>>(dims, a, f->factor, f->weight);
    if constexpr (dim > 2) Weights<dim, 3><<<blocks, threads, 0, stream>>>(dims, a, f->factor, f->weight);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilProduct(const GridMGStencils *f, void *work, const GridMGStencils *coarse)
{
  const GridMGPoints *g = &f->grid, *c = &coarse->grid;
  const int           coarsethreads = GridMGThreads(static_cast<int>(c->n[0]));
  const GridMGDims    dims = GridMGDimsOf(g, 2 * TIMES_PAIRS), coarsedims = GridMGDimsOf(c, coarsethreads);
  const int           each = (LITHE_CUDA_GRIDMG_PLANES - 1) / 2, n2 = static_cast<int>(g->n[2]), c2 = static_cast<int>(c->n[2]);
  cudaStream_t        stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  for (int plane = 0; plane < c2; plane += each) {
    const int    planes = PetscMin(each, c2 - plane), from = PetscMax(0, 2 * plane - 1), to = PetscMin(n2, 2 * (plane + planes));
    const size_t stride = static_cast<size_t>(to - from) * static_cast<size_t>(g->n[0] * g->n[1]);

    GridMGWithDim(g->dim, [&](auto d) {
      constexpr int dim    = decltype(d)::value;
      dim3          blocks = GridMGBlocks(coarsedims, planes);

      TimesPlanes<dim><<<GridMGBlocks(dims, to - from), 2 * TIMES_PAIRS, 0, stream>>>(dims, from, static_cast<const V *>(f->a),
                                                                                      static_cast<const V *>(f->sigma), f->factor, f->weight,
                                                                                      static_cast<V *>(work), stride);
      if (dim == 3) blocks.y = 3;
      Gather<dim><<<blocks, coarsethreads, 0, stream>>>(dims, coarsedims, plane, from, f->weight, static_cast<const V *>(work), stride,
                                                        static_cast<V *>(coarse->a), static_cast<V *>(coarse->sigma));
    });
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
