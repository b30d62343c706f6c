/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The small algebra of a pass of Gram-Schmidt, described in cb/basis.h. One source serves the host (one thread) and
   devices (the threads of a block together).
*/

#include <lithe/private/cb/basis.h>
#include <lithe/private/hostdevice.h>

/* Each of the threads has every threads-th item; sums of products are cut into parts, added in order */
typedef struct {
  PetscInt thread, threads, parts;
} CBTeam;

#if defined(__CUDA_ARCH__)
  #define CB_TEAM_WAIT() __syncthreads()
#else
  #define CB_TEAM_WAIT() ((void)0)
#endif

/* r = b - G c, to the first k of work; work has parts rows of ld */
LITHE_HD static inline void CBTeamResidual(const CBTeam *t, const CBScalars *s, PetscInt k, const PetscScalar b[])
{
  for (PetscInt q = t->thread; q < k * t->parts; q += t->threads) {
    const PetscInt i = q % k, part = q / k;
    PetscScalar    sum = 0.0;

    for (PetscInt l = part; l < k; l += t->parts) sum += s->gram[(size_t)l * (size_t)s->ld + (size_t)i] * s->c[l];
    s->work[(size_t)part * (size_t)s->ld + (size_t)i] = sum;
  }
  CB_TEAM_WAIT();
  for (PetscInt i = t->thread; i < k; i += t->threads) {
    PetscScalar r = b[i];

    for (PetscInt part = 0; part < t->parts; part++) r -= s->work[(size_t)part * (size_t)s->ld + (size_t)i];
    s->work[i] = r;
  }
}

/* The products of the newest column with all others */
LITHE_HD static inline void CBTeamGram(const CBTeam *t, const CBScalars *s, size_t j, PetscReal image)
{
  const size_t ld = (size_t)s->ld;

  for (size_t i = (size_t)t->thread; i < j; i += (size_t)t->threads) {
    s->gram[j * ld + i] = s->sums[i];
    s->gram[i * ld + j] = PetscConj(s->sums[i]);
  }
  if (t->thread == 0) {
    s->step[j].norm     = PetscRealPart(s->sums[j]);
    s->step[j].image    = image;
    s->gram[j * ld + j] = s->step[j].norm;
  }
}

/* Called by all threads of the team; after a CB_TEAM_WAIT() all threads see the written numbers */
LITHE_HD static inline void CBTeamCoefficients(const CBTeam *t, const CBScalars *s, PetscInt k, PetscInt pass)
{
  const size_t       ld = (size_t)s->ld, j = (size_t)(k - 1);
  const PetscScalar *b      = s->sums + k;
  const PetscReal    before = PetscRealPart(b[k]);
  PetscScalar       *h = s->hessenberg + j * ld, *partial = s->work + (t->parts > 1 ? ld : (size_t)k);

  if (pass == 0) CBTeamGram(t, s, j, before);
  for (PetscInt i = t->thread; i < k; i += t->threads) s->c[i] = 0.0;
  CB_TEAM_WAIT();

  /* the coefficients; work gets the part of w that each coefficient removes */
  for (int sweep = 0; sweep < CB_SWEEPS; sweep++) {
    CBTeamResidual(t, s, k, b);
    for (PetscInt i = t->thread; i < k; i += t->threads) {
      const PetscReal   d = PetscRealPart(s->gram[(size_t)i * ld + (size_t)i]);
      const PetscScalar r = s->work[i], c = s->c[i];
      PetscScalar       e = 0.0;

      if (d > 0.0) e = r / d;
      s->work[i] = PetscRealPart(PetscConj(c) * (b[i] + r)) + PetscRealPart(PetscConj(e) * r);
      s->c[i]    = c + e;
    }
    CB_TEAM_WAIT();
  }

  /* the remainder of w; the second row of work is free, and so is the first row behind its first k numbers */
  for (PetscInt i = t->thread; i < k; i += t->threads) {
    if (pass == 0) h[i] = s->c[i];
    else h[i] += s->c[i];
  }
  for (PetscInt q = t->thread; q < 2 * t->parts; q += t->threads) {
    const PetscInt part = q % t->parts;
    PetscReal      sum  = 0.0;

    if (q < t->parts) {
      for (PetscInt i = part; i < k; i += t->parts) sum += PetscRealPart(s->work[i]);
    } else {
      for (PetscInt i = part; i < k - 1; i += t->parts) sum += PetscSqr(PetscRealPart(s->sums[i])) + PetscSqr(PetscImaginaryPart(s->sums[i]));
    }
    partial[q] = sum;
  }
  CB_TEAM_WAIT();
  if (t->thread == 0) {
    PetscReal after = before, skew = 0.0;

    for (PetscInt part = 0; part < t->parts; part++) after -= PetscRealPart(partial[part]);
    for (PetscInt part = 0; part < t->parts; part++) skew += PetscRealPart(partial[t->parts + part]);
    if (pass == 0) s->step[j].skew = skew;
    s->step[j].before = before;
    s->step[j].after  = after;
    s->step[j].passes = pass + 1;
    h[k]              = after > 0.0 ? PetscSqrtReal(after) : (PetscReal)0.0;
  }
}
