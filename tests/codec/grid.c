/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Rounding to grids: every fixed point code, ties, subnormal numbers, the ends of the range.\n\n";

#include <lithe/private/codec/grid.h>
#include <lithe/private/codec/bits.h>
#include <petscsys.h>

static PetscInt failures = 0, grids = 0, values = 0;

#define TEST(condition, ...)                                                                           \
  do {                                                                                                 \
    values++;                                                                                          \
    if (!(condition) && failures++ < 20) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL " __VA_ARGS__)); \
  } while (0)

/* Powers of two and logarithms, against the library */
static PetscErrorCode TestPowers(void)
{
  PetscFunctionBegin;
  for (int e = -1074; e <= 1023; e++) {
    const double h = ldexp(1.0, e);

    TEST(LithePow2(e) == h, "2^%d is %g\n", e, LithePow2(e));
    TEST(LitheFloorLog2(h) == e && LitheFloorLog2(-h) == e, "floor(log2(2^%d)) is %d\n", e, LitheFloorLog2(h));
    TEST(LitheLowestBit(h) == e && LitheLowestBit(-h) == e, "the lowest bit of 2^%d is %d\n", e, LitheLowestBit(h));
    if (e > -1074) TEST(LitheFloorLog2(nextafter(h, 0.0)) == e - 1, "floor(log2(below 2^%d)) is %d\n", e, LitheFloorLog2(nextafter(h, 0.0)));
    if (e > -1022)
      TEST(LitheLowestBit(nextafter(h, 0.0)) == PetscMax(e - 53, -1074), "the lowest bit below 2^%d is %d\n", e, LitheLowestBit(nextafter(h, 0.0)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid { q 2^e }: every code is a fixed point; between two codes the nearer code wins, half way the even code */
static PetscErrorCode TestGrid(int e)
{
  const double h = ldexp(1.0, e), real = (double)PETSC_MAX_REAL;

  PetscFunctionBegin;
  grids++;
  for (int q = -32768; q <= 32767; q++) {
    const double v = q * h;

    if (fabs(v) > real) continue;
    TEST(LitheRoundToGrid(v, e) == v, "%d 2^%d becomes %g steps\n", q, e, LitheRoundToGrid(v, e) / h);
    TEST(!signbit(LitheRoundToGrid(v, e)) || q < 0, "%d 2^%d becomes negative\n", q, e);
    if (q) {
      int low = 0;

      while (!((q >> low) & 1)) low++;
      TEST(LitheLowestBit(v) == e + low, "the lowest bit of %d 2^%d is %d\n", q, e, LitheLowestBit(v));
      for (int bits = 8; bits <= 16; bits += 8) {
        const double limit = bits == 8 ? 127.0 : 32767.0;
        const int    x     = LitheFixedExponent(v, bits);

        /* the grid holds v, and the next finer grid would not */
        TEST(fabs(v) <= limit * ldexp(1.0, x), "%d bit: 2^%d is too small for %d 2^%d\n", bits, x, q, e);
        TEST(x == LITHE_MIN_EXPONENT || fabs(v) > limit * ldexp(1.0, x - 1), "%d bit: 2^%d is too large for %d 2^%d\n", bits, x, q, e);
      }
    }
    /* quarters need two more bits beneath the step */
    if (e < -1072 || q == 32767 || fabs(v) + h > real) continue;
    TEST(LitheRoundToGrid(v + 0.25 * h, e) == v, "%d.25 steps of 2^%d become %g\n", q, e, LitheRoundToGrid(v + 0.25 * h, e) / h);
    TEST(LitheRoundToGrid(v + 0.75 * h, e) == v + h, "%d.75 steps of 2^%d become %g\n", q, e, LitheRoundToGrid(v + 0.75 * h, e) / h);
    TEST(LitheRoundToGrid(v + 0.5 * h, e) == (q % 2 ? v + h : v), "%d.5 steps of 2^%d become %g\n", q, e, LitheRoundToGrid(v + 0.5 * h, e) / h);
    /* a number next to a tie is no tie; subnormal numbers have no closer neighbour */
    if (e >= -1000) {
      TEST(LitheRoundToGrid(nextafter(v + 0.5 * h, -INFINITY), e) == v, "just under %d.5 steps of 2^%d\n", q, e);
      TEST(LitheRoundToGrid(nextafter(v + 0.5 * h, INFINITY), e) == v + h, "just over %d.5 steps of 2^%d\n", q, e);
    }
  }

  /* far beyond 2^52 steps rounding changes nothing; nothing overflows */
  TEST(LitheRoundToGrid(real, e) <= real && LitheRoundToGrid(-real, e) >= -real, "the largest number overflows on the grid 2^%d\n", e);
  if (e < LITHE_MAX_EXPONENT - 60)
    TEST(LitheRoundToGrid(ldexp(1.2345, e + 60), e) == ldexp(1.2345, e + 60), "a number of 60 bits changes on the grid 2^%d\n", e);
  TEST(LitheRoundToGrid(0.0, e) == 0.0 && !signbit(LitheRoundToGrid(-0.0, e)), "zero on the grid 2^%d\n", e);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single precision against the processor's conversion: the same results with and without optimisation */
static PetscErrorCode TestSingle(void)
{
  uint64_t state = 88172645463325252ULL;

  PetscFunctionBegin;
  for (int k = 0; k < 200000; k++) {
    volatile float f;
    double         v, r;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    v = ldexp(1.0 + (double)(state >> 12) / 4503599627370496.0, (int)(state % 270) - 145) * (state & 2048 ? 1.0 : -1.0);
    /* ties: 25 bits, the last bit set */
    if (k % 3 == 0) v = ldexp((double)(2 * (state >> 40) + 1), (int)(state % 200) - 149);
    f = (float)v;
    r = LitheRoundToSingle(v);
    TEST(r == (double)f, "%.17g becomes %.17g, in single precision it is %.17g\n", v, r, (double)f);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bit patterns */
static PetscErrorCode TestBits(void)
{
  PetscReal nan1, nan2;
  uint64_t  bits = sizeof(PetscReal) == 4 ? 0x7fc00001 : 0x7ff8000000000001ULL;

  PetscFunctionBegin;
  memcpy(&nan1, &bits, sizeof(nan1));
  bits++;
  memcpy(&nan2, &bits, sizeof(nan2));
  TEST(LitheSameBitsReal(nan1, nan1) && !LitheSameBitsReal(nan1, nan2), "NaNs with payloads\n");
  TEST(!LitheSameBitsReal(0.0, -0.0) && LitheSameBitsReal(-0.0, -0.0), "zeros of two signs\n");
  TEST(LitheHashFinish(LitheHashReal(0, 0.0)) != LitheHashFinish(LitheHashReal(0, -0.0)), "the hash of zeros of two signs\n");
  TEST(LitheHashFinish(LitheHashScalar(0, 1.5)) == LitheHashFinish(LitheHashScalar(0, 1.5)), "the hash of a number with itself\n");

  /* small integers, the commonest keys, fill the slots of a table evenly: 4 numbers a slot, never more than 32 */
  {
    static unsigned char slot[16384];

    PetscCall(PetscArrayzero(slot, 16384));
    for (int k = 0; k < 65536; k++) {
      const uint64_t h = LitheHashFinish(LitheHashReal(0, (PetscReal)k)) & 16383;

      slot[h]++;
      TEST(slot[h] <= 32, "hashes of integers meet in slot %d\n", (int)h);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const int exponents[] = {-1074, -1073, -1060, -1023, -1022, -1021, -600, -149, -52,  -10,  -1,   0,
                                  1,     7,     100,   110,   126,   127,   900,  1007, 1008, 1020, 1022, 1023};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestPowers());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(exponents); k++) {
    if (exponents[k] >= LITHE_MIN_EXPONENT && exponents[k] <= LITHE_MAX_EXPONENT) PetscCall(TestGrid(exponents[k]));
  }
  PetscCall(TestSingle());
  PetscCall(TestBits());
  if (!failures) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s are right\n", grids > 6 && values > 1000000 ? "All grids" : "Too few grids"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/
