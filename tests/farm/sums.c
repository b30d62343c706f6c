/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheSums: the same bits in any order and any grouping, near the exact sum, for numbers of all sizes.\n\n";

#include <lithe.h>
#include <lithe/private/sums.h>
#include <tests/failures.h>

#define N     37
#define TERMS 60

/* A number of any size between, of either sign; also zeros */
static PetscReal Number(uint32_t *seed, int smallest, int largest)
{
  int exponent;

  *seed = *seed * 1664525u + 1013904223u;
  if (*seed >> 28 == 0) return 0;
  exponent = smallest + (int)((*seed >> 4) % (uint32_t)(largest - smallest + 1));
  *seed    = *seed * 1664525u + 1013904223u;
  return (PetscReal)ldexp(((double)*seed / 4294967296. + .5) * (*seed & 64 ? -1 : 1), exponent);
}

/* y: terms order[0..TERMS), split over several parts, whose bins are added */
static PetscErrorCode Sum(const PetscReal *x, const int order[], int parts, PetscSF sf, PetscReal *y)
{
  LitheSums sums[TERMS];

  PetscFunctionBeginUser;
  for (int p = 0; p < parts; p++) {
    PetscCall(LitheSumsCreate(PETSC_MEMTYPE_HOST, N, &sums[p]));
    for (int t = p; t < TERMS; t += parts) {
      const PetscReal *term = x + order[t] * N;
      PetscReal        largest;

      PetscCall(LitheSumsLargest(PETSC_MEMTYPE_HOST, N, term, &largest));
      PetscCall(LitheSumsAdd(sums[p], largest, term));
    }
  }
  for (int p = 1; p < parts; p++) {
    PetscInt64 **bin;
    int          place;

    PetscCall(LitheSumsGetBins(sums[p], &place, &bin));
    PetscCall(LitheSumsAddBins(sums[0], place, bin));
  }
  PetscCall(LitheSumsReduce(sums[0], sf, y));
  for (int p = 0; p < parts; p++) PetscCall(LitheSumsDestroy(&sums[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(const char name[], int smallest, int largest, PetscSF sf)
{
  PetscReal x[TERMS * N], first[N], y[N], most = 0;
  int       order[TERMS];
  uint32_t  seed = 4711;

  PetscFunctionBeginUser;
  for (int t = 0; t < TERMS; t++) {
    const int centre = smallest + (largest - smallest) * ((t * 7) % TERMS) / TERMS; /* terms differ in size, too */

    order[t] = t;
    for (int i = 0; i < N; i++) {
      x[t * N + i] = Number(&seed, centre, PetscMin(largest, centre + 60));
      most         = PetscMax(most, PetscAbsReal(x[t * N + i]));
    }
  }
  for (int round = 0; round < 12; round++) {
    PetscCall(Sum(x, order, 1 + round % 5, sf, round ? y : first));
    for (int t = TERMS - 1; t > 0; t--) {
      int other, kept = order[t];

      seed         = seed * 1664525u + 1013904223u;
      other        = (int)(seed >> 8) % (t + 1);
      order[t]     = order[other];
      order[other] = kept;
    }
    if (round && WRONG(memcmp(first, y, sizeof(y)))) FAIL("%s: other bits in round %d", name, round);
  }
  for (int i = 0; i < N; i++) {
    long double sum = 0;

    for (int t = 0; t < TERMS; t++) sum += (long double)x[t * N + i];
    if (WRONG(!(fabsl(sum - (long double)first[i]) <= (long double)(2 * PETSC_MACHINE_EPSILON) * fabsl(sum) + 1e-17L * (long double)most * TERMS)))
      FAIL("%s: %g, not %g", name, (double)first[i], (double)sum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscBool small  = PetscDefined(USE_REAL_SINGLE);
  PetscReal       bad[N] = {1, -2}, largest;
  PetscSFNode     from[N];
  PetscSF         sf;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  /* each process holds terms of all numbers, and sums go to all processes in turn and back: a root of a process has a
     leaf on the next process */
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &sf));
  for (int i = 0; i < N; i++) from[i] = (PetscSFNode){(rank + 1) % size, i};
  PetscCall(PetscSFSetGraph(sf, N, N, NULL, PETSC_COPY_VALUES, from, PETSC_COPY_VALUES));
  PetscCall(Test("near one", -3, 3, sf));
  PetscCall(Test("one side of a place", 28, 36, sf));
  PetscCall(Test("small", small ? -120 : -1000, small ? -80 : -900, sf));
  PetscCall(Test("large", small ? 40 : 700, small ? 110 : 1000, sf));
  PetscCall(Test("all sizes", small ? -120 : -1050, small ? 110 : 1000, sf));
  PetscCall(PetscSFDestroy(&sf));
  for (int k = 0; k < 2; k++) {
    bad[3] = k ? (PetscReal)NAN : -(PetscReal)INFINITY;
    PetscCall(LitheSumsLargest(PETSC_MEMTYPE_HOST, N, bad, &largest));
    if (WRONG(!PetscIsInfReal(largest))) FAIL("%g is not seen", (double)bad[3]);
  }
  return TestEnd(5 * (11 + N) + 2, "all sums have the same bits\n");
}

/*TEST

  test:
    nsize: {{1 2}}
    output_file: output/sums.out

TEST*/
