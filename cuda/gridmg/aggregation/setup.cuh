/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Kernels of the set-up of PCGRIDMG with aggregation: levels with exact entries, and their codes. The kernels equal
   src/pc/gridmg/aggregation/hostsetup.c, with the same order of each sum.
*/

#include <lithe/private/gridmg/gridmg.h>
#include <lithe/private/codec/logarithmic.h>

#define SETUP_THREADS 256
#define SETUP_WARPS   0xffffffffu

/* ------------------------------------------------------------ notes */

/*
   The notes: results over all cells. The first notes are sums of integers, the others are maxima; the initial value is
   0. A minimum is noted as the maximum of complements.
*/
enum {
  SURVEY_LOGS  = 0, /* 3 numbers */
  SURVEY_COUNT = 3,
  SURVEY_DEAD,
  SURVEY_NEGATIVE,
  SURVEY_ADDS,
  SURVEY_MOST = SURVEY_ADDS,
  SURVEY_LEAST,    /* smallest face */
  SURVEY_DIAGONAL, /* smallest diagonal entry */
  SURVEY_FAILED,   /* first vertex that aggregation cannot treat */
  SURVEY_NOTES
};

enum {
  SETTLE_WRONG, /* faces with an entry of the wrong sign */
  SETTLE_ADDS,
  SETTLE_ASYMMETRIC = SETTLE_ADDS,
  SETTLE_FIRSTWRONG, /* first face with a wrong sign: cell + d cells */
  SETTLE_NOTES
};

static __device__ __forceinline__ unsigned long long SetupSum(unsigned long long v)
{
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(SETUP_WARPS, v, offset);
  return v;
}

static __device__ __forceinline__ unsigned long long SetupMost(unsigned long long v)
{
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned long long other = __shfl_xor_sync(SETUP_WARPS, v, offset);

    v = other > v ? other : v;
  }
  return v;
}

/* All threads of a block call the following functions. note: shared memory */
template <int notes>
static __device__ __forceinline__ void SetupBegin(unsigned long long *note)
{
  if (threadIdx.x < notes) note[threadIdx.x] = 0;
  __syncthreads();
}

static __device__ __forceinline__ void SetupNoteSum(unsigned long long *note, int which, unsigned long long v)
{
  v = SetupSum(v);
  if (threadIdx.x % 32 == 0 && v) atomicAdd(note + which, v);
}

static __device__ __forceinline__ void SetupNoteMost(unsigned long long *note, int which, unsigned long long v)
{
  v = SetupMost(v);
  if (threadIdx.x % 32 == 0 && v) atomicMax(note + which, v);
}

template <int adds, int notes>
static __device__ __forceinline__ void SetupEnd(const unsigned long long *note, unsigned long long *out)
{
  __syncthreads();
  if (threadIdx.x >= notes || !note[threadIdx.x]) return;
  if (threadIdx.x < adds) atomicAdd(out + threadIdx.x, note[threadIdx.x]);
  else atomicMax(out + threadIdx.x, note[threadIdx.x]);
}

/* The order of nonnegative numbers is the order of their bits */
static __device__ __forceinline__ unsigned long long SetupBits(double v)
{
  return static_cast<unsigned long long>(__double_as_longlong(v));
}

/* ------------------------------------------------------------ grids */

static __device__ __forceinline__ void SetupAt(const GridMGGrid &g, PetscInt c, PetscInt at[3])
{
  const size_t cell = static_cast<size_t>(c);

  if (sizeof(PetscInt) == 4) {
    const unsigned int u = static_cast<unsigned int>(cell), n0 = static_cast<unsigned int>(g.n[0]), n1 = static_cast<unsigned int>(g.n[1]), line = u / n0;

    at[0] = static_cast<PetscInt>(u - line * n0);
    at[2] = static_cast<PetscInt>(line / n1);
    at[1] = static_cast<PetscInt>(line - static_cast<unsigned int>(at[2]) * n1);
  } else {
    const PetscInt line = c / g.n[0];

    at[0] = c - line * g.n[0];
    at[2] = line / g.n[1];
    at[1] = line - at[2] * g.n[1];
  }
}

/* Whether a vertex belongs to this process */
static __device__ __forceinline__ bool SetupIsOwn(const GridMGFaces &f, PetscInt c)
{
  PetscInt at[3];

  if (!f.own.is) return true;
  SetupAt(f.grid, c, at);
  return GridMGIsOwn(&f, at);
}

#define SETUP_FOR_ALL(c, n)                                                                                          \
  for (PetscInt c = static_cast<PetscInt>(blockIdx.x) * SETUP_THREADS + static_cast<PetscInt>(threadIdx.x); c < (n); \
       c += static_cast<PetscInt>(gridDim.x) * SETUP_THREADS)

/* ------------------------------------------------------------ the finest level */

/*
   Multiplies faces and row sums by scale, unless scale is 1. Finds faces whose two entries differ by more than `same`
   times the larger entry. Counts faces with an entry of the wrong sign.
*/
static __global__ void __launch_bounds__(SETUP_THREADS) SettleKernel(const __grid_constant__ GridMGFaces f, double scale, double same, unsigned long long *out)
{
  __shared__ unsigned long long note[SETTLE_NOTES];
  unsigned long long            first = 0;
  unsigned int                  wrong = 0, asymmetric = 0;

  SetupBegin<SETTLE_NOTES>(note);
  SETUP_FOR_ALL(c, f.grid.cells)
  {
#pragma unroll
    for (int d = 0; d < 3; d++) {
      if (!f.up[d]) continue;
      const double u = f.up[d][c] * scale, v = f.down[d][c] * scale;

      if (!(u >= 0 && v >= 0)) {
        wrong++;
        first = max(first, ~(static_cast<unsigned long long>(c) + static_cast<unsigned long long>(d) * static_cast<unsigned long long>(f.grid.cells)));
      }
      asymmetric |= !(fabs(u - v) <= same * fmax(fabs(u), fabs(v)));
      if (scale != 1) {
        f.up[d][c]   = u;
        f.down[d][c] = v;
      }
    }
    if (scale != 1) f.sigma[c] *= scale;
  }
  SetupNoteSum(note, SETTLE_WRONG, wrong);
  SetupNoteMost(note, SETTLE_ASYMMETRIC, asymmetric);
  SetupNoteMost(note, SETTLE_FIRSTWRONG, first);
  SetupEnd<SETTLE_ADDS, SETTLE_NOTES>(note, out);
}

/*
   The properties of a level, and its active cells. sums: per row, the sum of edges of the list, or NULL. clean: first
   sets row sums at rounding level to 0. If the matrix is symmetric, negative row sums become 0, too.
*/
template <bool clean>
static __global__ void __launch_bounds__(SETUP_THREADS) SurveyKernel(const __grid_constant__ GridMGFaces f, const double *__restrict__ sums, double rounding,
                                                                     unsigned char *__restrict__ alive, unsigned long long *out)
{
  const PetscInt                n = f.grid.cells + f.grid.wells;
  __shared__ unsigned long long note[SURVEY_NOTES];
  unsigned long long            most = 0, least = 0, diagonals = 0, failed = 0;
  long long                     logs[3] = {0, 0, 0};
  unsigned int                  count = 0, dead = 0, negative = 0;

  SetupBegin<SURVEY_NOTES>(note);
  for (PetscInt first = static_cast<PetscInt>(blockIdx.x) * SETUP_THREADS; first < n; first += static_cast<PetscInt>(gridDim.x) * SETUP_THREADS) {
    const PetscInt c          = first + static_cast<PetscInt>(threadIdx.x);
    double         product[3] = {1, 1, 1};

    if (c < n && !SetupIsOwn(f, c)) alive[c] = 1;
    else if (c < n) {
      double   in[3] = {0, 0, 0}, sigma = f.sigma[c];
      double   more = sums ? sums[c] : 0;
      PetscInt at[3];

      if (c < f.grid.cells) {
        SetupAt(f.grid, c, at);
#pragma unroll
        for (int d = 0; d < 3; d++) {
          if (!f.up[d]) continue;
          const double high = f.up[d][c], low = at[d] > 0 ? f.down[d][c - GridMGStride(&f.grid, d)] : 0;

          in[d] = high + low;
          /* excludes -0, whose bits are a large integer */
          if (high > 0) {
            most  = max(most, SetupBits(high));
            least = max(least, ~SetupBits(high));
          }
          if (low > 0) {
            most  = max(most, SetupBits(low));
            least = max(least, ~SetupBits(low));
          }
        }
      }
      if (clean) {
        const double faces = more + in[0] + in[1] + in[2], diagonal = sigma + faces, before = sigma;
        const bool   empty = diagonal == 0 && faces == 0, fails = !empty && !(diagonal > 0);

        if (fabs(sigma) <= rounding * fmax(fabs(diagonal), fabs(faces))) sigma = 0;
        negative += sigma < 0;
        if (sigma < 0 && f.symmetric) sigma = 0;
        if (empty) sigma = 1; /* the size of the largest diagonal entry */
        if (fails) failed = max(failed, ~static_cast<unsigned long long>(c));
        if (diagonal > 0) diagonals = max(diagonals, ~SetupBits(diagonal));
        if ((sigma != before || sigma == 0) && !fails) f.sigma[c] = sigma; /* -0 becomes 0 */
      }
      if (c < f.grid.cells) {
        const double diagonal = sigma + in[0] + in[1] + in[2];
        bool         lives    = in[0] + in[1] + in[2] > GRIDMG_ALONE * sigma;

        /* edges of the list keep a cell active, too */
        if (!lives && more != 0) lives = more + in[0] + in[1] + in[2] > GRIDMG_ALONE * sigma;
        alive[c] = lives;
        dead += !lives;
        if (lives && diagonal > GRIDMG_LOG_SMALLEST) {
          const double inverse = 1 / diagonal;

          count++;
#pragma unroll
          for (int d = 0; d < 3; d++) product[d] = fmax(in[d], GRIDMG_LOG_LEAST * diagonal) * inverse;
        }
      }
    }
#pragma unroll
    for (int d = 0; d < 3; d++) {
#pragma unroll
      for (int offset = GRIDMG_LOG_TOGETHER / 2; offset > 0; offset /= 2) product[d] *= __shfl_xor_sync(SETUP_WARPS, product[d], offset);
    }

    /* a lane per direction */
    const int    lane = static_cast<int>(threadIdx.x) % GRIDMG_LOG_TOGETHER;
    const double mine = lane == 0 ? product[0] : (lane == 1 ? product[1] : product[2]);

    if (lane < 3 && mine != 1) {
      const long long log = __double2ll_rn(LitheLog(mine) * GRIDMG_LOG_UNIT);

#pragma unroll
      for (int d = 0; d < 3; d++) logs[d] += lane == d ? log : 0;
    }
  }
#pragma unroll
  for (int d = 0; d < 3; d++) SetupNoteSum(note, SURVEY_LOGS + d, static_cast<unsigned long long>(logs[d]));
  SetupNoteSum(note, SURVEY_COUNT, count);
  SetupNoteSum(note, SURVEY_DEAD, dead);
  SetupNoteMost(note, SURVEY_MOST, most);
  SetupNoteMost(note, SURVEY_LEAST, least);
  if (clean) {
    SetupNoteSum(note, SURVEY_NEGATIVE, negative);
    SetupNoteMost(note, SURVEY_DIAGONAL, diagonals);
    SetupNoteMost(note, SURVEY_FAILED, failed);
  }
  SetupEnd<SURVEY_ADDS, SURVEY_NOTES>(note, out);
}

/* ------------------------------------------------------------ coarsening */

struct CoarsenArguments {
  GridMGFaces fine, coarse;
  int         by[3];
};

/* The row sum of a cell, including couplings to cells that have no aggregate */
template <bool marked>
static __device__ __forceinline__ double CoarsenSum(const GridMGFaces &f, PetscInt c, const PetscInt at[3])
{
  double sum = f.sigma[c];

  if (!marked) return sum;
  if (!f.alive[c]) return 0;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(&f.grid, d);

    if (!f.up[d]) continue;
    if (at[d] > 0 && !f.alive[c - stride]) sum += f.down[d][c - stride];
    if (at[d] < f.grid.n[d] - 1 && !f.alive[c + stride]) sum += f.up[d][c];
  }
  return sum;
}

template <bool marked>
static __device__ __forceinline__ double CoarsenFace(const GridMGFaces &f, const double *t, int d, PetscInt c, const PetscInt at[3])
{
  if (marked && !(f.alive[c] && at[d] < f.grid.n[d] - 1 && f.alive[c + GridMGStride(&f.grid, d)])) return 0;
  return t[c];
}

/* Sums of pairs along x, then along y, then along z */
template <bool marked>
static __global__ void __launch_bounds__(SETUP_THREADS) CoarsenKernel(const __grid_constant__ CoarsenArguments a)
{
  const GridMGFaces &f = a.fine;
  const PetscInt     n = a.coarse.grid.cells;

  SETUP_FOR_ALL(c, n + f.grid.wells)
  {
    if (c >= n) {
      a.coarse.sigma[c] = f.sigma[f.grid.cells + c - n];
      continue;
    }

    PetscInt at[3];
    double   sigma = 0, up[3] = {0, 0, 0}, down[3] = {0, 0, 0};

    SetupAt(a.coarse.grid, c, at);
#pragma unroll
    for (int z = 0; z < 2; z++) {
      double planesigma = 0, planeup[3] = {0, 0, 0}, planedown[3] = {0, 0, 0};

      if (z >= a.by[2]) continue;
#pragma unroll
      for (int y = 0; y < 2; y++) {
        double linesigma = 0, lineup[3] = {0, 0, 0}, linedown[3] = {0, 0, 0};

        if (y >= a.by[1]) continue;
#pragma unroll
        for (int x = 0; x < 2; x++) {
          const PetscInt from[3] = {at[0] * a.by[0] + x, at[1] * a.by[1] + y, at[2] * a.by[2] + z};
          const bool     last[3] = {x == a.by[0] - 1, y == a.by[1] - 1, z == a.by[2] - 1};

          if (x >= a.by[0] || from[0] >= f.grid.n[0] || from[1] >= f.grid.n[1] || from[2] >= f.grid.n[2]) continue;
          const PetscInt k = from[0] + f.grid.n[0] * (from[1] + f.grid.n[1] * from[2]);

          linesigma += CoarsenSum<marked>(f, k, from);
#pragma unroll
          for (int d = 0; d < 3; d++) {
            /* edges within an aggregate vanish */
            if (!f.up[d] || !last[d]) continue;
            lineup[d] += CoarsenFace<marked>(f, f.up[d], d, k, from);
            if (!f.symmetric) linedown[d] += CoarsenFace<marked>(f, f.down[d], d, k, from);
          }
        }
        planesigma += linesigma;
#pragma unroll
        for (int d = 0; d < 3; d++) {
          planeup[d] += lineup[d];
          planedown[d] += linedown[d];
        }
      }
      sigma += planesigma;
#pragma unroll
      for (int d = 0; d < 3; d++) {
        up[d] += planeup[d];
        down[d] += planedown[d];
      }
    }
    a.coarse.sigma[c] = sigma;
#pragma unroll
    for (int d = 0; d < 3; d++) {
      if (!a.coarse.up[d]) continue;
      a.coarse.up[d][c] = up[d];
      if (!f.symmetric) a.coarse.down[d][c] = down[d];
    }
  }
}

/* ------------------------------------------------------------ codes */

struct EncodeArguments {
  GridMGFaces    f;
  GridMGOperator op;
  LitheLogScale  s;
};

/* The code of a face, and the value of the code */
template <class Code>
static __device__ __forceinline__ double EncodeFace(const LitheLogScale &s, const double (*table)[2], const PetscReal *value, double t, Code *code)
{
  *code = static_cast<Code>(LitheLogScaleEncodeQuick(&s, table, static_cast<double>(static_cast<PetscReal>(t))));
  return static_cast<double>(sizeof(Code) == 1 ? value[*code] : value[*code >> 8] * value[256 + (*code & 255)]);
}

template <>
__device__ __forceinline__ double EncodeFace<float>(const LitheLogScale &, const double (*)[2], const PetscReal *, double t, float *code)
{
  *code = static_cast<float>(t);
  return static_cast<double>(*code);
}

template <class Number>
static __device__ __forceinline__ void EncodeAdd(double value, Number *sum)
{
  if (value > 0) *sum += static_cast<Number>(value);
}

/* At the beginning, dinv has the list's part of each row sum */
template <class Number, class Code>
static __global__ void __launch_bounds__(SETUP_THREADS) EncodeKernel(const __grid_constant__ EncodeArguments a)
{
  const GridMGFaces   &f = a.f;
  __shared__ double    table[sizeof(Code) < 4 ? LITHE_LOG_TABLE : 1][2];
  __shared__ PetscReal value[sizeof(Code) < 4 ? 512 : 1];
  Number *const sigma = static_cast<Number *>(const_cast<void *>(a.op.sigma)), *const dinv = static_cast<Number *>(const_cast<void *>(a.op.dinv));

  if (sizeof(Code) < 4) {
    for (int k = static_cast<int>(threadIdx.x); k < LITHE_LOG_TABLE; k += SETUP_THREADS) {
      table[k][0] = a.s.table[k][0];
      table[k][1] = a.s.table[k][1];
      value[k]    = k < 256 ? a.s.coarse[k] : a.s.fine[k - 256];
      if (blockIdx.x == 0) static_cast<Number *>(const_cast<void *>(a.op.table))[k] = static_cast<Number>(value[k]);
    }
    __syncthreads();
  }
  SETUP_FOR_ALL(c, f.grid.cells + f.grid.wells)
  {
    Number diagonal = f.list.n ? dinv[c] : 0;
    double exact    = f.sigma[c];

    if (c < f.grid.cells) {
      PetscInt at[3];

      SetupAt(f.grid, c, at);
#pragma unroll
      for (int d = 0; d < 3; d++) {
        const PetscInt stride = GridMGStride(&f.grid, d);
        double         high, low = 0;
        Code           code;

        if (!f.up[d]) continue;
        if (at[d] > 0) low = EncodeFace(a.s, table, value, f.down[d][c - stride], &code);
        if (!f.symmetric && at[d] > 0) static_cast<Code *>(const_cast<void *>(a.op.down[d]))[c - stride] = code;
        high                                                   = EncodeFace(a.s, table, value, f.up[d][c], &code);
        static_cast<Code *>(const_cast<void *>(a.op.up[d]))[c] = code;

        /* in the same order as on the host */
        EncodeAdd(f.symmetric ? low : high, &diagonal);
        EncodeAdd(f.symmetric ? high : low, &diagonal);
      }
    }
    const double whole = exact + static_cast<double>(diagonal);

    sigma[c] = static_cast<Number>(exact);
    dinv[c]  = whole > 0 ? static_cast<Number>(1 / whole) : 0;
  }
}
