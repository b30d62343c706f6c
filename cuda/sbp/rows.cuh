/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Operators that a warp applies row by row. Push() takes the next row of u and the coefficients of the same row, and
   returns A u of the previous row. The operator keeps the needed data of earlier rows. Rows come in rising order (turn
   = 1), or in falling order (turn = -1).

   The first two rows of a march only fill the kept data, and give no results.
*/

#include "sbp.cuh"
#include <lithe/private/sbp/sbpsat.h>

/* Parameters of an operator: factors of the differences along r and s, h_s / (2 h_r) and h_r / (2 h_s), and the scale
   of SBP_SHIFTED */
template <class K>
struct SBPFactors {
  K r, s, scale;
};

/* The interior of SBP_SAT of second order. Coefficients: c_rr, c_ss, c_rs */
template <class V, class L>
struct SBPSecond {
  using K                           = typename SBPReal<V>::type;
  static constexpr int coefficients = 3, C = L::C;

  V before[C], u[C], right[C]; /* rows j - 1, j of u, row j of u from the right */
  K a[C], b[C], c[C];          /* coefficients of row j */
  V flux[C];                   /* along s, from row j - 1 to row j */
  V cross[C], crossbefore[C];  /* c (u_(i+1) - u_(i-1)) of rows j, j - 1 */

  __device__ __forceinline__ void Begin()
  {
#pragma unroll
    for (int k = 0; k < C; k++) {
      before[k] = u[k] = right[k] = flux[k] = cross[k] = crossbefore[k] = SBPZero<V>();
      a[k] = b[k] = c[k] = 0;
    }
  }

  /* Coefficient q of the latest row, in column k */
  __device__ __forceinline__ K Held(int q, int k) const
  {
    return q == 0 ? a[k] : (q == 1 ? b[k] : c[k]);
  }

  /* sums = A u of the previous row; quarter = turn / 4 */
  __device__ __forceinline__ void Push(const SBPFactors<K> &factor, K quarter, const V next[C], const K coefficient[coefficients][C], V sums[C])
  {
    const K *an = coefficient[0], *bn = coefficient[1], *cn = coefficient[2];
    K        aright[C];
    V        nextleft[C], nextright[C], along[C], alongleft[C], turned[C], turnedleft[C], turnedright[C];

    L::Right(a, aright);
    L::Left(next, nextleft);
    L::Right(next, nextright);
#pragma unroll
    for (int k = 0; k < C; k++) {
      along[k]  = (a[k] + aright[k]) * (u[k] - right[k]);
      turned[k] = c[k] * (next[k] - before[k]);
    }
    L::Left(along, alongleft);
    L::Left(turned, turnedleft);
    L::Right(turned, turnedright);
#pragma unroll
    for (int k = 0; k < C; k++) {
      const V fluxnext  = (b[k] + bn[k]) * (u[k] - next[k]);
      const V crossnext = cn[k] * (nextright[k] - nextleft[k]);

      sums[k] = factor.r * (along[k] - alongleft[k]) + factor.s * (fluxnext + flux[k]) -
                quarter * ((turnedright[k] - turnedleft[k]) + (crossnext - crossbefore[k]));
      flux[k]        = -fluxnext;
      crossbefore[k] = cross[k];
      cross[k]       = crossnext;
      before[k]      = u[k];
      u[k]           = next[k];
      right[k]       = nextright[k];
      a[k]           = an[k];
      b[k]           = bn[k];
      c[k]           = cn[k];
    }
  }
};

/* The interior of SBP_SHIFTED of second order: d is the last coefficient */
template <class V, class L>
struct SBPSecondShifted : SBPSecond<V, L> {
  using Base = SBPSecond<V, L>;
  using typename Base::K;
  static constexpr int coefficients = Base::coefficients + 1, C = L::C;

  K d[C]; /* of row j */

  __device__ __forceinline__ void Begin()
  {
    Base::Begin();
#pragma unroll
    for (int k = 0; k < C; k++) d[k] = 0;
  }

  __device__ __forceinline__ K Held(int q, int k) const
  {
    return q == SBP_DIAGONAL ? d[k] : Base::Held(q, k);
  }

  __device__ __forceinline__ void Push(const SBPFactors<K> &factor, K quarter, const V next[C], const K coefficient[coefficients][C], V sums[C])
  {
    Base::Push(factor, quarter, next, coefficient, sums);
#pragma unroll
    for (int k = 0; k < C; k++) {
      sums[k] = factor.scale * sums[k] + d[k] * Base::before[k];
      d[k]    = coefficient[SBP_DIAGONAL][k];
    }
  }
};

/* SBP_NINE, also at the ends of the grid, where missing values are 0. Coefficients: centre, east, north, north-east,
   north-west */
template <class V, class L>
struct SBPNine {
  using K                           = typename SBPReal<V>::type;
  static constexpr int coefficients = 5, C = L::C;

  V before[C], u[C], left[C], right[C]; /* rows j - 1, j of u */
  K held[coefficients][C];              /* coefficients of row j */
  V carried[C];                         /* contribution of row j - 1 to row j */

  __device__ __forceinline__ void Begin()
  {
#pragma unroll
    for (int k = 0; k < C; k++) {
      before[k] = u[k] = left[k] = right[k] = carried[k] = SBPZero<V>();
#pragma unroll
      for (int q = 0; q < coefficients; q++) held[q][k] = 0;
    }
  }

  __device__ __forceinline__ K Held(int q, int k) const
  {
    return held[q][k];
  }

  __device__ __forceinline__ void Push(const SBPFactors<K> &, K quarter, const V next[C], const K coefficient[coefficients][C], V sums[C])
  {
    V nextleft[C], nextright[C], east[C], eastleft[C];

    L::Left(next, nextleft);
    L::Right(next, nextright);
#pragma unroll
    for (int k = 0; k < C; k++) east[k] = held[1][k] * u[k];
    L::Left(east, eastleft);
#pragma unroll
    for (int k = 0; k < C; k++) sums[k] = held[0][k] * u[k] + held[1][k] * right[k] + eastleft[k] + carried[k];
    if (quarter > 0) {
      V diagonal[C], diagonalleft[C], opposite[C], oppositeright[C];

#pragma unroll
      for (int k = 0; k < C; k++) {
        sums[k]     = sums[k] + held[2][k] * next[k] + held[3][k] * nextright[k] + held[4][k] * nextleft[k];
        diagonal[k] = held[3][k] * u[k];
        opposite[k] = held[4][k] * u[k];
      }
      L::Left(diagonal, diagonalleft);
      L::Right(opposite, oppositeright);
#pragma unroll
      for (int k = 0; k < C; k++) carried[k] = held[2][k] * u[k] + diagonalleft[k] + oppositeright[k];
    } else {
      V diagonal[C], diagonalleft[C], opposite[C], oppositeright[C];

#pragma unroll
      for (int k = 0; k < C; k++) {
        diagonal[k] = coefficient[3][k] * next[k];
        opposite[k] = coefficient[4][k] * next[k];
      }
      L::Left(diagonal, diagonalleft);
      L::Right(opposite, oppositeright);
#pragma unroll
      for (int k = 0; k < C; k++) {
        sums[k]    = sums[k] + coefficient[2][k] * next[k] + diagonalleft[k] + oppositeright[k];
        carried[k] = coefficient[2][k] * u[k] + coefficient[3][k] * right[k] + coefficient[4][k] * left[k];
      }
    }
#pragma unroll
    for (int k = 0; k < C; k++) {
      before[k] = u[k];
      u[k]      = next[k];
      left[k]   = nextleft[k];
      right[k]  = nextright[k];
#pragma unroll
      for (int q = 0; q < coefficients; q++) held[q][k] = coefficient[q][k];
    }
  }
};

template <class V, SBPKind kind, class L>
struct SBPOperatorOf;
template <class V, class L>
struct SBPOperatorOf<V, SBP_SAT, L> {
  using type = SBPSecond<V, L>;
};
template <class V, class L>
struct SBPOperatorOf<V, SBP_SHIFTED, L> {
  using type = SBPSecondShifted<V, L>;
};
template <class V, class L>
struct SBPOperatorOf<V, SBP_NINE, L> {
  using type = SBPNine<V, L>;
};
