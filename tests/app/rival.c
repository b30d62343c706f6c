/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A rival for tests: conjugate gradients without PETSc. Keys: wrong=1 spoils the solution, crash=1 the process, slow=1 its time */

#include <bench/rivals/rival.h>

static double Dot(int n, const double x[], const double y[])
{
  double sum = 0;

  for (int k = 0; k < n; k++) sum += x[k] * y[k];
  return sum;
}

static RivalResult RivalMeasure(const RivalSystem *s, const RivalOptions *opt, const char setting[])
{
  const size_t bytes = (size_t)s->n * sizeof(double);
  const double start = RivalDone(), goal = opt->rtol * sqrt(Dot(s->n, s->b, s->b));
  double      *r = (double *)RivalAllocate(bytes), *p = (double *)RivalAllocate(bytes), *q = (double *)RivalAllocate(bytes), rr;
  RivalResult  result = {0};

  if (RivalNumber(setting, "crash", 0) > 0) abort();
  while (RivalNumber(setting, "slow", 0) > 0) (void)sleep(1);
  result.x = (double *)RivalAllocate(bytes);
  for (int k = 0; k < s->n; k++) {
    result.x[k] = 0;
    r[k] = p[k] = s->b[k];
  }
  rr = Dot(s->n, r, r);
  for (; sqrt(rr) > goal && result.iterations < opt->iterations; result.iterations++) {
    double alpha, last = rr;

    for (int row = 0; row < s->n; row++) {
      q[row] = 0;
      for (int k = s->i[row]; k < s->i[row + 1]; k++) q[row] += s->a[k] * p[s->j[k]];
    }
    alpha = rr / Dot(s->n, p, q);
    for (int k = 0; k < s->n; k++) {
      result.x[k] += alpha * p[k];
      r[k] -= alpha * q[k];
    }
    rr = Dot(s->n, r, r);
    for (int k = 0; k < s->n; k++) p[k] = r[k] + rr / last * p[k];
  }
  if (RivalNumber(setting, "wrong", 0) > 0) result.x[0] += 1;
  result.solve = result.solveagain = RivalDone() - start;
  free(r);
  free(p);
  free(q);
  return result;
}

int main(int argc, char **argv)
{
  return RivalMain(argc, argv, "test");
}
