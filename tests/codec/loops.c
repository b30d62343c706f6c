/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The vector loops of a compression give the same bits as the scalar functions.\n\n";

#include <lithe/private/vcrs/round.h>
#include <lithe/private/vcrs/fit.h>
#include "codectest.h"

#define MANY 61

static double Uniform(void)
{
  return (double)(Random() >> 11) / 9007199254740992.0;
}

/* Between 2^low and 2^high, of either sign; some are zeros of either sign, and some have few bits, so ties occur */
static double Number(int low, int high)
{
  const double sign = Random() & 1 ? 1.0 : -1.0, v = ldexp(1.0 + Uniform(), low + (int)(Random() % (uint64_t)(high - low)));

  if (Random() % 16 == 0) return 0.0 * sign;
  if (Random() % 4 == 0) return sign * ldexp(1.0 + (double)(Random() % 64) / 64.0, LitheFloorLog2(v));
  return sign * v;
}

/* Codes of a logarithmic scale: numbers of the scale, midpoints of two codes and their neighbours, numbers beyond the
   ends */
static PetscErrorCode TestLog(int bits, double min, double max, int positive, int negative)
{
  LitheLogScale scale;
  PetscReal     v[MANY];
  uint16_t      code[MANY];

  PetscFunctionBegin;
  LitheLogScaleSetUp(&scale, bits, min, max, positive, negative);
  for (int round = 0; round < 300; round++) {
    for (int k = 0; k < MANY; k++) {
      const double sign   = positive && (!negative || Random() & 1) ? 1.0 : -1.0,
                   border = exp(scale.logmin + ((double)(Random() % (uint64_t)scale.count) + 0.5) * scale.logstep);
      double x            = min * exp(Uniform() * (log(max) - log(min)));

      if (k % 4 == 1) x = nextafter(border, k % 8 == 1 ? 0.0 : (double)PETSC_MAX_REAL);
      if (k % 16 == 3) x = k % 32 == 3 ? min : max;
      if (k % 16 == 7) x = k % 32 == 7 ? min / 3.0 : PetscMin(3.0 * max, (double)PETSC_MAX_REAL);
      if (k % 16 == 11) x = 0.0;
      v[k] = (PetscReal)(sign * PetscMin(x, (double)PETSC_MAX_REAL));
    }
    LitheLogScaleEncodeMany(&scale, MANY, v, code);
    for (int k = 0; k < MANY; k++)
      TEST(code[k] == LitheLogScaleEncode(&scale, (double)v[k]), "%d bit over [%g, %g]: %.17g has code %d, not %d\n", bits, min, max, (double)v[k], code[k],
           LitheLogScaleEncode(&scale, (double)v[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_USE_REAL_DOUBLE)
/* Grids with one step, and mantissas with fewer bits, whose step doubles at each power of two */
static PetscErrorCode TestRounding(void)
{
  double v[MANY], r[MANY];

  PetscFunctionBegin;
  for (int e = -1000; e <= 950; e += 13) {
    for (int k = 0; k < MANY; k++) v[k] = Number(PetscMax(e - 20, -1050), PetscMin(e + 51, 1000));
    LitheRoundManyToGrid(MANY, v, e, r);
    for (int k = 0; k < MANY; k++) {
      const double one = LitheRoundToGrid(v[k], e);

      TEST(LitheBits(r[k]) == LitheBits(one), "%.17g on the grid 2^%d becomes %.17g, not %.17g\n", v[k], e, r[k], one);
    }
  }
  for (int drop = 1; drop < 52; drop++) {
    for (int k = 0; k < MANY; k++) v[k] = Number(drop % 2 ? -900 : -4, drop % 2 ? 900 : 4);
    LitheRoundManyMantissas(MANY, v, drop, r);
    for (int k = 0; k < MANY; k++) {
      const double one = v[k] == 0.0 ? 0.0 : LitheRoundToGrid(v[k], LitheFloorLog2(v[k]) + drop - 52);

      TEST(LitheBits(r[k]) == LitheBits(one), "%.17g without %d bits becomes %.17g, not %.17g\n", v[k], drop, r[k], one);
    }
  }
  for (int round = 0; round < 1000; round++) {
    for (int k = 0; k < MANY; k++) v[k] = Number(-126, 126);
    LitheRoundManyMantissas(MANY, v, 29, r);
    for (int k = 0; k < MANY; k++)
      TEST(LitheBits(r[k]) == LitheBits(LitheRoundToSingle(v[k])), "%.17g in single precision becomes %.17g, not %.17g\n", v[k], r[k],
           LitheRoundToSingle(v[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Which containers hold a row: rows which fit, and rows which exceed the container by one entry */
static PetscErrorCode TestFit(void)
{
  const int most = sizeof(PetscReal) == 4 ? 100 : 960;

  PetscFunctionBegin;
  for (int round = 0; round < 40000; round++) {
    const int   unit = (int)(Random() % (uint64_t)(2 * most)) - most, near = unit + (int)(Random() % 60) - 30, limit = Random() % 2 ? 127 : 32767;
    PetscScalar a[8];
    PetscReal  *v = (PetscReal *)a;
    int         one, many, exponent1 = 0, exponent2 = 0;

    for (int k = 0; k < 8 * VCRS_COMPONENTS; k++) v[k] = (PetscReal)ldexp((double)((int)(Random() % (uint64_t)(2 * limit + 1)) - limit), unit);
    switch (round % 7) {
    case 0:
      v[5] = (PetscReal)ldexp((double)limit + 1.0, unit);
      break;
    case 1:
      v[2] = (PetscReal)ldexp(0.5, unit);
      break;
    case 2:
      v[7] = (PetscReal)-0.0;
      break;
    case 3:
      v[0] = (PetscReal)Number(-most, most);
      break;
    case 4:
      if (round % 5 == 0) v[1] = (PetscReal)(round % 3 ? NAN : INFINITY);
      break;
    default:
      break;
    }
    one  = VCRSRowFixedPointBits(8, a, &exponent1);
    many = VCRSRowFixedPointBitsNear(8, a, near, &exponent2);
    TEST(one == many && (one > 16 || exponent1 == exponent2), "round %d, unit 2^%d: %d bits and exponent %d, not %d and %d\n", round, unit, many, exponent2,
         one, exponent1);
    if (round % 2) {
      for (int k = 0; k < 8 * VCRS_COMPONENTS; k++) v[k] = (PetscReal)(float)Number(-160, 128);
      if (round % 11 == 1) v[3] = (PetscReal)Number(-200, 120);
      if (round % 13 == 1) v[4] = (PetscReal)(round % 3 ? NAN : INFINITY);
      TEST(VCRSRowIsSingle(8, a) == VCRSRowIsSingleFast(8, a), "round %d: single precision or not?\n", round);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moduli, and sums over rows, of numbers of all sizes */
static PetscErrorCode TestSums(void)
{
  const int most = sizeof(PetscReal) == 4 ? 100 : 1000;

  PetscFunctionBegin;
  for (int round = 0; round < 5000; round++) {
    const int    low = round % 3 ? -most : -30, high = round % 3 == 1 ? most : 30;
    PetscScalar  a[MANY], w[MANY], rest = 0.0, rest1 = 0.0;
    double       modulus[VCRS_MODULI], error[VCRS_MODULI];
    VCRSExactSum sum, sum1;

    for (int k = 0; k < MANY; k++) {
      for (int c = 0; c < VCRS_COMPONENTS; c++) {
        ((PetscReal *)&a[k])[c] = (PetscReal)Number(low, high);
        ((PetscReal *)&w[k])[c] = Random() % 4 ? ((PetscReal *)&a[k])[c] : (PetscReal)Number(low, high);
      }
    }
    VCRSModuli(VCRS_MODULI, a, w, modulus, error);
    for (int k = 0; k < VCRS_MODULI; k++) {
      TEST(modulus[k] == VCRSModulus(a[k]), "round %d: a modulus is %.17g, not %.17g\n", round, modulus[k], VCRSModulus(a[k]));
      TEST(error[k] == VCRSModulus(w[k] - a[k]), "round %d: a distance is %.17g, not %.17g\n", round, error[k], VCRSModulus(w[k] - a[k]));
    }
    memset(&sum, 0, sizeof(sum));
    memset(&sum1, 0, sizeof(sum1));
    VCRSExactSumAddMany(&sum, &rest, MANY, a, w);
    for (int k = 0; k < MANY; k++) {
      VCRSExactSumAdd(&sum1, a[k]);
      rest1 += w[k];
    }
    TEST(!memcmp(&sum, &sum1, sizeof(PetscReal) * (size_t)VCRS_COMPONENTS) && VCRSExactSumGet(&sum) == VCRSExactSumGet(&sum1) && rest == rest1,
         "round %d: sums of %d numbers\n", round, MANY);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const double tiny  = sizeof(PetscReal) == 4 ? 1.4012984643248171e-45 : 4.9406564584124654e-324,
               least = sizeof(PetscReal) == 4 ? 1.17549435e-38 : 2.2250738585072014e-308, huge = (double)PETSC_MAX_REAL;
  const double ranges[][2] = {{1.0, 1.0},      {1.0, 1.0 + 64.0 * PETSC_MACHINE_EPSILON},
                              {0.9, 1.1},      {1e-7, 3.0},
                              {1e-30, 1e30},   {least, 1.0},
                              {least, huge},   {3 * least, 4 * least},
                              {5 * tiny, 1.0}, {tiny, huge},
                              {huge / 2, huge}};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int bits = 8; bits <= 16; bits += 8) {
    for (int signs = 1; signs < 4; signs++) {
      for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(ranges); r++)
        PetscCall(TestLog(bits, (double)(PetscReal)ranges[r][0], (double)(PetscReal)ranges[r][1], signs & 1, signs & 2));
    }
  }
#if defined(PETSC_USE_REAL_DOUBLE)
  PetscCall(TestRounding());
#endif
  PetscCall(TestFit());
  PetscCall(TestSums());
  if (!failures)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "All vector loops are right in %s\n", values > 1000000 ? "more than a million values" : "too few values"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
